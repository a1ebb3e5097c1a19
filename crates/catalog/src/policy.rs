//! Policies in a catalog: for everything, for versions and for fields.

use wheelwright_document::{Path, Spanned};
use wheelwright_evolve::{Located, OLDER_WRITE, OlderWrite, Policies, Reader, Selector, VersionName};
use wheelwright_findings::rules;

/// What `null` does to a field in a patch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NullPolicy {
    /// The field goes back to its default.
    Reset,
    /// The patch is refused.
    Reject,
    /// The field becomes absent; refused where a storage default would fill it again.
    Clear,
    /// The field gets the zero value of its type.
    Zero,
}

const NULL: &[(&str, NullPolicy)] = &[
    ("reset", NullPolicy::Reset),
    ("reject", NullPolicy::Reject),
    ("clear", NullPolicy::Clear),
    ("zero", NullPolicy::Zero),
];

impl NullPolicy {
    /// The word that a catalog has for it.
    pub fn word(self) -> &'static str {
        NULL.iter().find(|(_, policy)| *policy == self).map_or("reset", |(word, _)| word)
    }
}

/// The policies of a catalog, or of a kind in it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PolicySet {
    /// `olderWrite`: what a write does to fields that its version cannot say.
    pub older_write: Scoped<OlderWrite>,
    /// `null`: what null does to a field in a patch.
    pub null: Scoped<NullPolicy>,
}

/// A policy with what else holds for single versions and fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Scoped<T> {
    /// For everything that is not named.
    pub default: Option<T>,
    /// For single versions.
    pub versions: Vec<(Located<VersionName>, T)>,
    /// For single fields, which win over versions.
    pub fields: Vec<(Located<Selector>, T)>,
}

impl<T> Default for Scoped<T> {
    fn default() -> Self {
        Self { default: None, versions: Vec::new(), fields: Vec::new() }
    }
}

impl<T: Clone> Scoped<T> {
    /// What holds for a kind: its own policies, and those of the catalog where it says nothing itself. Of the catalog's
    /// versions only those count that the kind has.
    fn over(&self, catalog: &Self, has: &dyn Fn(&VersionName) -> bool) -> Self {
        let is_own = |name: &VersionName| self.versions.iter().any(|(own, _)| own.item == *name);
        let inherited = catalog.versions.iter().filter(|(name, _)| has(&name.item) && !is_own(&name.item));
        Self {
            default: self.default.clone().or_else(|| catalog.default.clone()),
            versions: self.versions.iter().chain(inherited).cloned().collect(),
            fields: self.fields.clone(),
        }
    }
}

impl PolicySet {
    /// What holds for a kind.
    pub(crate) fn over(&self, catalog: &Self, has: &dyn Fn(&VersionName) -> bool) -> Self {
        Self { older_write: self.older_write.over(&catalog.older_write, has), null: self.null.over(&catalog.null, has) }
    }

    /// The part that lenses follow.
    pub(crate) fn of_lenses(&self) -> Policies {
        let Scoped { default, versions, fields } = self.older_write.clone();
        let mut policies = Policies::default();
        policies.older_write = default.unwrap_or_default();
        policies.older_write_through = versions.into_iter().map(|(name, policy)| (name.item, policy)).collect();
        policies.older_write_of = fields;
        policies
    }

    /// Every version that a policy is for.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &Located<VersionName>> {
        let older_write = self.older_write.versions.iter().map(|(name, _)| name);
        older_write.chain(self.null.versions.iter().map(|(name, _)| name))
    }
}

/// Reads `policies`; fields are named only in those of a kind.
pub(crate) fn read(reader: &mut Reader, source: &Spanned<'_>, path: &Path<'_>, of_kind: bool) -> PolicySet {
    let mut policies = PolicySet::default();
    for entry in reader.entries(source, path, "an object with olderWrite or null") {
        let path = &Path::Child(path, entry.key);
        match entry.key {
            "olderWrite" => policies.older_write = scoped(reader, &entry.value, path, OLDER_WRITE, of_kind),
            "null" => policies.null = scoped(reader, &entry.value, path, NULL, of_kind),
            _ => reader.unknown_key(entry, path, &["olderWrite", "null"]),
        }
    }
    policies
}

fn scoped<T: Copy>(
    reader: &mut Reader,
    source: &Spanned<'_>,
    path: &Path<'_>,
    words: &[(&str, T)],
    of_kind: bool,
) -> Scoped<T> {
    let mut scoped = Scoped::default();
    let Some(entries) = source.as_object() else {
        scoped.default = reader.choice(source, path, words).map(|chosen| chosen.item);
        return scoped;
    };
    for entry in entries {
        let path = &Path::Child(path, entry.key);
        match entry.key {
            "default" => scoped.default = reader.choice(&entry.value, path, words).map(|chosen| chosen.item),
            "versions" => {
                for entry in reader.entries(&entry.value, path, "an object with versions as keys") {
                    let path = &Path::Key(path, entry.key);
                    let name = reader.version_in(entry.key, entry.key_span, path);
                    let chosen = reader.choice(&entry.value, path, words).map(|chosen| chosen.item);
                    scoped.versions.extend(name.zip(chosen));
                }
            }
            "fields" if !of_kind => {
                let message = "fields belong to a kind, and these are policies of all kinds";
                if let Some(problem) = reader.report(&rules::MALFORMED_CATALOG, path, entry.key_span, message) {
                    problem.mend = Some("move them to the policies of the kind".to_owned());
                }
            }
            "fields" => {
                for entry in reader.entries(&entry.value, path, "an object with paths to fields as keys") {
                    let path = &Path::Key(path, entry.key);
                    let at = reader.selector_in(entry.key, entry.key_span, path);
                    let chosen = reader.choice(&entry.value, path, words).map(|chosen| chosen.item);
                    scoped.fields.extend(at.zip(chosen));
                }
            }
            _ if of_kind => reader.unknown_key(entry, path, &["default", "versions", "fields"]),
            _ => reader.unknown_key(entry, path, &["default", "versions"]),
        }
    }
    scoped
}
