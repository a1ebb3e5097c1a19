//! A kind as it is served: compiled, with its policies and with all that reading and writing its records needs.

use std::sync::OnceLock;

use wheelwright_catalog as catalog;
use wheelwright_evolve::{Declaration, Fingerprint, Kind, Lenses, OutsideSpec, VersionIndex, VersionName, Zeros};
use wheelwright_store::{BadKey, Key, Prefix};

use crate::{Name, access::Access, dress::Dress, external::OwnedFields, nulls::NullPolicies};

/// A kind with all that reading and writing its records needs. Use it from any number of threads.
#[derive(Debug)]
pub struct ServedKind {
    pub(crate) kind: Kind,
    pub(crate) zeros: Zeros,
    pub(crate) nulls: NullPolicies,
    /// Who may write which fields, by version; none where only the lock remembers the version.
    pub(crate) access: Vec<Option<Access>>,
    pub(crate) dress: Dress,
    pub(crate) successors: Vec<(VersionName, VersionName)>,
    /// The version of documents that were in the store before us and do not say it.
    pub(crate) adopted_version: Option<VersionName>,
    pub(crate) oldest_writer: Option<VersionName>,
    /// The fields that other systems own.
    pub(crate) external: Vec<OwnedFields>,
    /// The names of these fields, by version, where it has them as they are.
    pub(crate) owned_names: Vec<Vec<Vec<Box<str>>>>,
    prefix: Prefix,
    /// Of all that is declared.
    declared: Fingerprint,
    /// The lenses for other hubs than the one of today, by version, made when a record needs them.
    other_lenses: Vec<OnceLock<Lenses>>,
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
        let prefix = match &declared.adopt.prefix {
            Some(prefix) => Prefix::new(&prefix.item)?,
            None => prefix_of(&kind)?,
        };
        let history = kind.history();
        let external: Vec<OwnedFields> =
            declared.external.iter().filter_map(|external| OwnedFields::of(external, history)).collect();
        let owned_names = history.indexes().map(|version| {
            let names = external.iter().flat_map(|owned| owned.in_version(version, history));
            names.collect()
        });
        Ok(Self {
            zeros: Zeros::new(declaration, kind.history()),
            nulls: NullPolicies::of(&declared.policies.null, kind.history()),
            access: access.collect(),
            dress,
            successors: declaration.successors.clone(),
            adopted_version: declared.adopt.version.as_ref().map(|version| version.item.clone()),
            oldest_writer: declared.oldest_writer.clone(),
            owned_names: owned_names.collect(),
            external,
            prefix,
            declared: fingerprint_of(&kind, declaration),
            other_lenses: kind.history().versions.iter().map(|_| OnceLock::new()).collect(),
            kind,
        })
    }

    /// The kind.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// What the keys of its records begin with.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The key of a record.
    ///
    /// # Errors
    /// The name is too long, or has characters in it that keys do not have.
    pub fn key(&self, name: &Name) -> Result<Key, BadKey> {
        Key::new(format!("{}{}", self.prefix, name.as_str()))
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
        let Self { declared, adopted_version, oldest_writer, .. } = self;
        let hub = self.version_name(self.kind.lenses().hub());
        Fingerprint::of_text(&format!("{declared} {hub} {adopted_version:?} {oldest_writer:?}"))
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

/// The first name that the kind had: what is stored is not moved because the kind is called something else now. What begins
/// with `$` is our own.
fn prefix_of(kind: &Kind) -> Result<Prefix, BadKey> {
    let (group, name) = kind.names().first().map_or(("", ""), |name| (&name.group, &name.kind));
    if [group, name].into_iter().find(|text| !text.is_empty()).is_some_and(|first| first.starts_with('$')) {
        return Err(BadKey::Forbidden('$'));
    }
    match group {
        "" => Prefix::new(name),
        group => Prefix::new(&format!("{group}/{name}")),
    }
}

/// What is declared and locked. Another release may come to another one, and begins a sweep anew then, which is harmless.
fn fingerprint_of(kind: &Kind, declaration: &Declaration) -> Fingerprint {
    let history = kind.history();
    let versions: Vec<String> = history
        .versions
        .iter()
        .map(|version| {
            let declared = declaration.version(version.name.as_str());
            let schema = declared.map(|declared| Fingerprint::of(&declared.schema, declared.root).to_string());
            format!("{} {schema:?}", version.name)
        })
        .collect();
    Fingerprint::of_text(&format!("{versions:?} {:?} {:?}", declaration.steps, history.fields))
}
