//! A kind as it is served: compiled, with its policies and with all that reading and writing its records needs.

use std::sync::{OnceLock, atomic::AtomicUsize};

use smallvec::SmallVec;
use wheelwright_catalog as catalog;
use wheelwright_evolve::{
    Declaration, Fingerprint, Kind, Lenses, OutsideSpec, VersionIndex, VersionName, Zeros, overlaid_schema,
};
use wheelwright_store::{BadKey, Key, Prefix};

use crate::{
    LIGHT_BYTES, Name, RepositoryError,
    access::Access,
    computed::Computed,
    dress::{Dress, STATE_PATH},
    external::OwnedFields,
    hidden::Hidden,
    nulls::NullPolicies,
    record::Place,
    size::default_bytes,
};

/// The highest cost of rules, in Kubernetes' units, in a light step: about a millisecond.
const LIGHT_RULES: u64 = 20_000;

/// A kind with all that reading and writing its records needs. Use it from any number of threads.
#[derive(Debug)]
pub struct ServedKind {
    pub(crate) kind: Kind,
    pub(crate) zeros: Zeros,
    pub(crate) nulls: NullPolicies,
    /// Who may write which fields, by version; none where only the lock remembers the version.
    pub(crate) access: Vec<Option<Access>>,
    /// What customers do not see, by version; none where they see everything.
    pub(crate) hidden: Vec<Option<Hidden>>,
    pub(crate) dress: Dress,
    pub(crate) successors: Vec<(VersionName, VersionName)>,
    /// The version of documents that were in the store before us and do not say it.
    pub(crate) adopted_version: Option<VersionName>,
    pub(crate) oldest_writer: Option<VersionName>,
    /// The fields that other systems own.
    pub(crate) external: Vec<OwnedFields>,
    /// The names of these fields, by version, where it has them as they are.
    pub(crate) owned_names: Vec<Vec<Vec<Box<str>>>>,
    /// How a Kubernetes API server serves it.
    kubernetes: Vec<catalog::KubernetesResource>,
    /// What the service fills in.
    pub(crate) computed: Vec<Computed>,
    arm: Option<ArmResource>,
    prefix: Prefix,
    /// Whether the rules of a version can take a long time for a short document.
    has_costly_rules: bool,
    /// The most bytes that the defaults of a version can add to one object.
    pub(crate) default_bytes: usize,
    /// Of all that is declared.
    declared: Fingerprint,
    /// The lenses for other hubs than the one of today, by version, made when a record needs them.
    other_lenses: Vec<OnceLock<Lenses>>,
    /// The length of the page of records that was read last.
    pub(crate) last_page: AtomicUsize,
}

/// A kind as a resource of Azure's resource manager.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArmResource {
    /// Its type, such as `Microsoft.Shop/carts/lines`, as the catalog spells it.
    pub resource_type: Box<str>,
    /// The subscription whose resource groups are its namespaces, if its documents are objects of Kubernetes.
    pub subscription: Option<Box<str>>,
    /// Whether a version of it says how far the service is with what customers asked for.
    pub has_state: bool,
    /// Its versions that can be served, oldest first.
    pub versions: Vec<ArmVersion>,
}

/// A version of a resource of Azure's resource manager.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArmVersion {
    /// Its name.
    pub name: VersionName,
    /// The requests about it.
    pub operations: catalog::Operations,
    /// What is said of it if it is to go.
    pub deprecation: Option<catalog::Deprecation>,
}

impl ServedKind {
    /// A kind of a catalog, compiled.
    ///
    /// # Errors
    /// Its name, or the prefix that the catalog gives it, cannot be the beginning of a key.
    pub fn new(kind: Kind, declared: &catalog::Kind) -> Result<Self, BadKey> {
        let declaration = &declared.declaration;
        let dress = match (kind.is_resource(), &declared.arm) {
            (true, _) => Dress::Kubernetes,
            (false, Some(resource_type)) => Dress::Arm(resource_type.clone()),
            (false, None) => Dress::Plain,
        };
        let access = kind.history().versions.iter().map(|version| {
            let declared = declaration.version(version.name.as_str())?;
            Some(Access::of(&declared.schema))
        });
        let hidden = kind.history().versions.iter().map(|version| {
            let declared = declaration.version(version.name.as_str())?;
            Hidden::of(&declared.schema)
        });
        let prefix = match declared.declared_prefix() {
            Some(prefix) if prefix.starts_with('$') => return Err(BadKey::Forbidden('$')),
            Some(prefix) => Prefix::new(&prefix)?,
            None => Self::usual_prefix(&kind)?,
        };
        let history = kind.history();
        let external: Vec<OwnedFields> =
            declared.external.iter().filter_map(|external| OwnedFields::of(external, history)).collect();
        let owned_names = history.indexes().map(|version| {
            let names = external.iter().flat_map(|owned| owned.in_version(version, history));
            names.collect()
        });
        let hub = kind.lenses().hub();
        let computed = declared.computed.iter().filter_map(|computed| Computed::of(computed, history, hub)).collect();
        let arm = declared.arm.as_ref().filter(|_| is_served_by_arm(declared)).map(|resource_type| {
            let versions = history.versions.iter().filter(|version| is_served(declared, version.name.as_str()));
            let version = |name: &VersionName| ArmVersion {
                name: name.clone(),
                operations: declared.operations(name.as_str()),
                deprecation: declared.deprecation(name.as_str()).cloned(),
            };
            let versions = versions.map(|of_history| version(&of_history.name)).collect();
            let has_state = !kind.is_resource()
                && history.versions.iter().any(|version| {
                    let structure = &version.structure;
                    STATE_PATH.split('.').try_fold(structure.root(), |node, name| structure.child(node, name)).is_some()
                });
            let subscription = declared.arm_subscription.clone();
            ArmResource { resource_type: resource_type.clone(), subscription, has_state, versions }
        });
        Ok(Self {
            last_page: AtomicUsize::new(0),
            computed,
            arm,
            zeros: Zeros::new(declaration, kind.history()),
            nulls: NullPolicies::of(&declared.policies.null, kind.history()),
            access: access.collect(),
            hidden: hidden.collect(),
            dress,
            successors: declaration.successors.clone(),
            adopted_version: declared.adopt.version.as_ref().map(|version| version.item.clone()),
            oldest_writer: declared.oldest_writer.clone(),
            owned_names: owned_names.collect(),
            external,
            kubernetes: declared.kubernetes.clone(),
            prefix,
            has_costly_rules: history
                .indexes()
                .any(|version| kind.program(version).is_some_and(|program| program.most_rule_cost() > LIGHT_RULES)),
            default_bytes: declaration.versions.iter().map(|version| default_bytes(&version.schema)).max().unwrap_or(0),
            declared: fingerprint_of(&kind, declaration),
            other_lenses: kind.history().versions.iter().map(|_| OnceLock::new()).collect(),
            kind,
        })
    }

    /// The bytes of the step that validates a write: a costly one is no light step, however short the document is.
    pub(crate) fn write_bytes(&self, bytes: usize) -> usize {
        if self.has_costly_rules { bytes.max(LIGHT_BYTES) } else { bytes }
    }

    /// The kind.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// How a Kubernetes API server serves it: a resource for every name that versions are published under, the one of
    /// today last.
    pub fn kubernetes(&self) -> &[catalog::KubernetesResource] {
        &self.kubernetes
    }

    /// What it is to Azure's resource manager, if it is a resource of that.
    pub fn arm(&self) -> Option<&ArmResource> {
        self.arm.as_ref()
    }

    /// What the keys of its records begin with.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// What the keys of a kind's records begin with where no catalog says otherwise: also of a kind that only a lock
    /// remembers.
    ///
    /// # Errors
    /// Its name cannot be the beginning of a key.
    pub fn usual_prefix(kind: &Kind) -> Result<Prefix, BadKey> {
        // The first name that the kind had: what is stored is not moved because the kind is called something else now. What
        // begins with `$` is our own.
        let (group, name) = kind.names().first().map_or(("", ""), |name| (&name.group, &name.kind));
        if [group, name].into_iter().find(|text| !text.is_empty()).is_some_and(|first| first.starts_with('$')) {
            return Err(BadKey::Forbidden('$'));
        }
        match group {
            "" => Prefix::new(name),
            group => Prefix::new(&format!("{group}/{name}")),
        }
    }

    /// Makes sure that no kind would take records of another for its own.
    ///
    /// # Errors
    /// Two of them have keys that begin alike.
    pub fn check_keys<'k>(kinds: impl IntoIterator<Item = &'k Self>) -> Result<(), RepositoryError> {
        let kinds: Vec<&Self> = kinds.into_iter().collect();
        let pairs = kinds.iter().enumerate().flat_map(|(at, kind)| kinds[..at].iter().map(move |other| (kind, other)));
        match pairs.into_iter().find(|(kind, other)| kind.shares_keys_with(other)) {
            Some((kind, other)) => {
                let (kind, other) = (kind.kind.name().into(), other.kind.name().into());
                Err(RepositoryError::SharedKeys { kind, other })
            }
            None => Ok(()),
        }
    }

    /// Whether the keys of another kind may be those of this one.
    pub(crate) fn shares_keys_with(&self, other: &Self) -> bool {
        let (own, other) = (self.prefix.as_str(), other.prefix.as_str());
        own.starts_with(other) || other.starts_with(own)
    }

    /// Whether all that documents show is in their records: no other system owns fields of them.
    pub fn is_ours(&self) -> bool {
        self.external.is_empty()
    }

    /// The key of a record.
    ///
    /// # Errors
    /// The name is too long.
    pub fn key(&self, name: &Name) -> Result<Key, BadKey> {
        self.prefix.key(&name.0)
    }

    /// Where a document is stored, as the checksum of its record covers it.
    pub(crate) fn place(&self, name: &Name) -> Place {
        let (prefix, name) = (self.prefix.as_str(), name.as_str());
        let mut key = SmallVec::<[u8; 128]>::with_capacity(prefix.len() + name.len());
        key.extend_from_slice(prefix.as_bytes());
        key.extend_from_slice(name.as_bytes());
        Place::of_bytes(&key)
    }

    /// The name that is in a key; none if the key is not of this kind.
    pub fn name(&self, key: &Key) -> Option<Name> {
        Name::new(key.as_str().strip_prefix(self.prefix.as_str())?).ok()
    }

    /// The lenses for a hub.
    pub(crate) fn lenses(&self, hub: VersionIndex) -> &Lenses {
        match self.kind.lenses() {
            lenses if lenses.hub() == hub => lenses,
            _ => self.other_lenses[hub.position()].get_or_init(|| self.kind.lenses_for(hub)),
        }
    }

    /// What tells the catalog of this kind apart from another, as far as it decides what is stored.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let Self { declared, adopted_version, oldest_writer, dress, .. } = self;
        let hub = self.version_name(self.kind.lenses().hub());
        Fingerprint::of_text(&format!("{declared} {hub} {adopted_version:?} {oldest_writer:?} {dress:?}"))
    }

    /// The name of a version.
    pub(crate) fn version_name(&self, version: VersionIndex) -> &VersionName {
        &self.kind.history().version(version).name
    }

    /// What is not part of the spec of a document.
    pub(crate) fn outside_spec(&self) -> OutsideSpec {
        match self.dress {
            Dress::Arm(_) => OutsideSpec::Arm,
            Dress::Kubernetes | Dress::Plain => OutsideSpec::Kubernetes,
        }
    }
}

/// Whether Azure's resource manager has a place for the resources of a kind.
fn is_served_by_arm(declared: &catalog::Kind) -> bool {
    let is_namespaced = declared.kubernetes.iter().all(|resource| resource.is_namespaced);
    declared.is_of_resource_manager() || declared.arm_subscription.is_some() && is_namespaced
}

/// Whether a version is declared and, if a definition declares it, served.
fn is_served(declared: &catalog::Kind, version: &str) -> bool {
    let mut of_definitions = declared.kubernetes.iter().flat_map(|resource| &resource.versions);
    let is_served =
        |of_definition: &catalog::KubernetesVersion| of_definition.is_served && *of_definition.name == *version;
    declared.declaration.version(version).is_some() && (declared.kubernetes.is_empty() || of_definitions.any(is_served))
}

/// What is declared and locked. Another release may come to another one, and begins a sweep anew then, which is harmless.
fn fingerprint_of(kind: &Kind, declaration: &Declaration) -> Fingerprint {
    let history = kind.history();
    // What is valid decides what a zero that was left out may mean.
    let schemas = history.versions.iter().map(|version| {
        let declared = declaration.version(version.name.as_str());
        let step = declaration.steps.iter().find(|step| step.version.item == version.name);
        declared.map_or_else(String::new, |declared| match step {
            Some(step) => Fingerprint::of(&overlaid_schema(&declared.schema, step), declared.root).to_string(),
            None => Fingerprint::of(&declared.schema, declared.root).to_string(),
        })
    });
    Fingerprint::of_text(&format!("{} {}", history.fingerprint(), schemas.collect::<Vec<_>>().join(" ")))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use wheelwright_catalog::Catalog;

    use super::*;

    /// The fingerprint of the last kind of some folders.
    fn fingerprint(folders: &[&Path]) -> Fingerprint {
        let catalog = Catalog::load(folders).unwrap();
        let declared = catalog.kinds().last().unwrap();
        ServedKind::new(Kind::compile(&declared.declaration, None).0.unwrap(), declared).unwrap().fingerprint()
    }

    #[test]
    fn a_fingerprint_is_of_what_is_declared_and_not_of_where() {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (things, other) = (tests.join("tests/catalogs/things"), tests.join("../../examples/orders"));
        let alone = fingerprint(&[&things]);
        assert_eq!(fingerprint(&[&other, &things]), alone);
        let changed = |old: &str, new: &str| {
            let folder = tempfile::tempdir().unwrap();
            for entry in fs::read_dir(&things).unwrap().map(Result::unwrap) {
                let text = fs::read_to_string(entry.path()).unwrap();
                fs::write(folder.path().join(entry.file_name()), text.replace(old, new)).unwrap();
            }
            fingerprint(&[folder.path()])
        };
        assert_eq!(changed("  derived:", "# a comment\n  derived:"), alone);
        for (old, new) in [
            ("spec.flag: spec.enabled", "spec.old: spec.enabled"),
            ("with: durationSeconds", "with: text"),
            ("substring(0, 1)", "substring(0, 2)"),
            ("default: 0.5", "default: 0.75"),
            ("enum: [low, normal, high]", "enum: [low, normal]"),
        ] {
            assert_ne!(changed(old, new), alone, "{new}");
        }
    }
}
