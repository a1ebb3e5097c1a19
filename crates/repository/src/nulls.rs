//! What null does to a field in a merge patch, as the policies say.

use wheelwright_catalog::{NullPolicy, Scoped};
use wheelwright_document::{Arena, Entry, FieldPath, Number, Path, Value};
use wheelwright_evolve::{FieldId, History, NodeIndex, Scalar, Shape, Structure, VersionIndex};

/// The policies of a kind.
#[derive(Debug)]
pub(crate) struct NullPolicies {
    default: NullPolicy,
    versions: Vec<Option<NullPolicy>>,
    fields: Vec<(FieldId, NullPolicy)>,
}

/// A patch in which the policies were followed.
#[derive(Debug)]
pub(crate) struct Followed<'a> {
    pub(crate) patch: Value<'a>,
    /// Fields that must be absent in the end, by their names from the root on.
    pub(crate) cleared: Vec<Cleared<'a>>,
    /// Objects and maps that must be empty after the merge, by their names from the root on: no merge patch can say so.
    pub(crate) emptied: Vec<Vec<&'a str>>,
    /// Fields for which null is refused.
    pub(crate) refused: Vec<FieldPath>,
}

/// A field that null makes absent.
#[derive(Debug)]
pub(crate) struct Cleared<'a> {
    pub(crate) names: Vec<&'a str>,
    pub(crate) path: FieldPath,
    pub(crate) field: FieldId,
}

impl NullPolicies {
    pub(crate) fn of(policies: &Scoped<NullPolicy>, history: &History) -> Self {
        let of_version = |name: &str| policies.versions.iter().find(|(of, _)| of.item.as_str() == name);
        let versions = history.versions.iter().map(|version| Some(of_version(version.name.as_str())?.1));
        let fields = policies.fields.iter().filter_map(|(at, policy)| {
            let mut newest = history.versions.iter().rev();
            Some((newest.find_map(|version| version.id(version.structure.find(&at.item)?))?, *policy))
        });
        Self {
            default: policies.default.unwrap_or(NullPolicy::Reset),
            versions: versions.collect(),
            fields: fields.collect(),
        }
    }

    fn for_field(&self, version: VersionIndex, field: FieldId) -> NullPolicy {
        let of_field = self.fields.iter().find(|(id, _)| *id == field).map(|(_, policy)| *policy);
        of_field.or(self.versions[version.position()]).unwrap_or(self.default)
    }

    /// Follows the policies in a merge patch of a version. Nulls of fields that the version does not declare, and of keys
    /// of maps, remove them, as ever.
    pub(crate) fn follow<'a>(
        &self,
        history: &History,
        version: VersionIndex,
        patch: Value<'a>,
        arena: &'a Arena,
    ) -> Followed<'a> {
        let structure = &history.version(version).structure;
        let followed = Followed { patch, cleared: Vec::new(), emptied: Vec::new(), refused: Vec::new() };
        let mut walk = Walk { policies: self, history, version, structure, arena, names: Vec::new(), followed };
        let patch = walk.object(structure.root(), patch, &Path::Root);
        Followed { patch, ..walk.followed }
    }
}

struct Walk<'a, 'p> {
    policies: &'p NullPolicies,
    history: &'p History,
    version: VersionIndex,
    structure: &'p Structure,
    arena: &'a Arena,
    names: Vec<&'a str>,
    followed: Followed<'a>,
}

impl<'a> Walk<'a, '_> {
    fn object(&mut self, node: NodeIndex, patch: Value<'a>, path: &Path<'_>) -> Value<'a> {
        let Value::Object(entries) = patch else { return patch };
        let mut kept = Vec::with_capacity(entries.len());
        for entry in entries {
            let (below, path) = match self.structure.child(node, entry.key) {
                Some(below) => (below, Path::Child(path, entry.key)),
                None => match self.structure.element(node).filter(|_| self.is_map(node)) {
                    Some(below) => (below, Path::Key(path, entry.key)),
                    None => {
                        kept.push(*entry);
                        continue;
                    }
                },
            };
            self.names.push(entry.key);
            if entry.value.is_null() && self.structure.is_field(below) {
                kept.extend(self.null(below, *entry, &path));
            } else {
                kept.push(Entry { key: entry.key, value: self.object(below, entry.value, &path) });
            }
            self.names.pop();
        }
        Value::Object(self.arena.slice(&kept))
    }

    fn is_map(&self, node: NodeIndex) -> bool {
        self.structure.node(node).shape == Shape::Map
    }

    fn null(&mut self, node: NodeIndex, entry: Entry<'a>, path: &Path<'_>) -> Option<Entry<'a>> {
        let Some(field) = self.history.version(self.version).id(node) else { return Some(entry) };
        match self.policies.for_field(self.version, field) {
            NullPolicy::Reset => Some(entry),
            NullPolicy::Reject => {
                self.followed.refused.push(path.to_field_path());
                None
            }
            NullPolicy::Clear => {
                let (names, path) = (self.names.clone(), path.to_field_path());
                self.followed.cleared.push(Cleared { names, path, field });
                Some(entry)
            }
            NullPolicy::Zero => match self.structure.node(node).shape {
                Shape::Object | Shape::Map => {
                    self.followed.emptied.push(self.names.clone());
                    Some(entry)
                }
                shape => Some(Entry { key: entry.key, value: zero(shape) }),
            },
        }
    }
}

/// The zero value of a shape.
fn zero(shape: Shape) -> Value<'static> {
    match shape {
        Shape::Object | Shape::Map => Value::Object(&[]),
        Shape::List => Value::Array(&[]),
        Shape::Scalar(Scalar::Boolean) => Value::Bool(false),
        Shape::Scalar(Scalar::Integer | Scalar::Number | Scalar::IntOrString) => {
            Number::new("0").map_or(Value::Null, Value::Number)
        }
        Shape::Scalar(Scalar::String) => Value::string(""),
        Shape::Scalar(Scalar::Any) => Value::Null,
    }
}
