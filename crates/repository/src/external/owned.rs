//! The fields that a system owns, in every version.

use wheelwright_catalog::{External, Missing};
use wheelwright_document::{Arena, Entry, FieldPath, Path, Value};
use wheelwright_evolve::{FieldId, History, NodeIndex, Selector, Shape, Step, Structure, VersionIndex};

/// The fields of a kind that one system owns.
#[derive(Debug)]
pub(crate) struct OwnedFields {
    /// What the system is called.
    pub(crate) source: Box<str>,
    /// The version in whose shape it answers.
    pub(crate) version: VersionIndex,
    /// The fields, in the names of that version.
    pub(crate) fields: Vec<OwnedField>,
    /// The fields themselves and all in them that no list or map is around, with their names from the root on.
    pub(crate) within: Vec<(FieldId, Vec<Box<str>>)>,
    missing: Missing,
}

/// A field that a system owns.
#[derive(Debug)]
pub(crate) struct OwnedField {
    id: FieldId,
    node: NodeIndex,
    /// Its names in the version of the system, from the root on.
    pub(crate) names: Vec<Box<str>>,
}

impl OwnedFields {
    /// What an entry of a catalog means; fields and versions that are not there are findings of the catalog.
    pub(crate) fn of(external: &External, history: &History) -> Option<Self> {
        let version = history.find(external.version.item.as_str())?;
        let of_version = history.version(version);
        let fields = external.fields.iter().filter_map(|at| {
            let node = of_version.structure.find(&at.item)?;
            Some(OwnedField { id: of_version.id(node)?, node, names: names(&at.item)? })
        });
        let fields: Vec<OwnedField> = fields.collect();
        let within = of_version.structure.fields().filter_map(|node| {
            let names = names(&of_version.structure.selector(node))?;
            let is_owned = fields.iter().any(|field| names.starts_with(&field.names));
            Some((of_version.id(node)?, names)).filter(|_| is_owned)
        });
        let (source, within, missing) = (external.source.item.clone(), within.collect(), external.missing);
        Some(Self { source, version, fields, within, missing })
    }

    /// The names of the owned fields in a version, where it has them as they are.
    pub(crate) fn in_version(&self, version: VersionIndex, history: &History) -> Vec<Vec<Box<str>>> {
        let of_version = history.version(version);
        self.fields.iter().filter_map(|field| names(&of_version.path_of(field.id)?)).collect()
    }

    /// The value of a field in an answer, without what counts as missing; none if it is missing itself.
    pub(crate) fn present<'a>(
        &self,
        field: &OwnedField,
        answer: Value<'a>,
        structure: &Structure,
        arena: &'a Arena,
    ) -> Option<Value<'a>> {
        let value = value_at(answer, &field.names).filter(|value| !self.is_missing(*value))?;
        Some(self.without_missing(structure, field.node, value, arena))
    }

    /// Something in an answer that is no object, and stands in the place of one that a field is in: its path, and what it is.
    /// What counts as missing is not there.
    pub(super) fn in_the_way<'a>(&self, field: &OwnedField, answer: Value<'a>) -> Option<(FieldPath, Value<'a>)> {
        let around = field.names.len().saturating_sub(1);
        for depth in 1..=around {
            let value = value_at(answer, &field.names[..depth])?;
            if value.as_object().is_none() {
                let found = (field_path(&field.names[..depth]), value);
                return (!value.is_null() && !self.is_missing(value)).then_some(found);
            }
        }
        None
    }

    fn is_missing(&self, value: Value<'_>) -> bool {
        (self.missing.null && value.is_null()) || (self.missing.empty_text && value.as_str() == Some(""))
    }

    /// A value without the fields in it that count as missing. Items of lists and entries of maps are no fields: what is
    /// there is there.
    fn without_missing<'a>(
        &self,
        structure: &Structure,
        node: NodeIndex,
        value: Value<'a>,
        arena: &'a Arena,
    ) -> Value<'a> {
        let element = structure.element(node);
        match (value, structure.node(node).shape) {
            (Value::Object(entries), Shape::Object) => {
                let present = entries.iter().filter_map(|entry| match structure.child(node, entry.key) {
                    Some(_) if self.is_missing(entry.value) => None,
                    Some(below) => Some(Entry {
                        key: entry.key,
                        value: self.without_missing(structure, below, entry.value, arena),
                    }),
                    None => Some(*entry),
                });
                Value::Object(arena.slice(&present.collect::<Vec<_>>()))
            }
            (Value::Object(entries), Shape::Map) => {
                let Some(below) = element else { return value };
                let entries = entries.iter().map(|entry| Entry {
                    key: entry.key,
                    value: self.without_missing(structure, below, entry.value, arena),
                });
                Value::Object(arena.slice(&entries.collect::<Vec<_>>()))
            }
            (Value::Array(items), Shape::List) => {
                let Some(below) = element else { return value };
                let items = items.iter().map(|item| self.without_missing(structure, below, *item, arena));
                Value::Array(arena.slice(&items.collect::<Vec<_>>()))
            }
            _ => value,
        }
    }
}

/// The names of a path that leads through objects only.
pub(crate) fn names(at: &Selector) -> Option<Vec<Box<str>>> {
    let name = |step: &Step| match step {
        Step::Field(name) => Some(name.clone()),
        Step::Items | Step::Values => None,
    };
    at.steps().iter().map(name).collect()
}

/// The value of a field, by its names from the root on.
pub(crate) fn value_at<'a>(document: Value<'a>, names: &[Box<str>]) -> Option<Value<'a>> {
    names.iter().try_fold(document, |value, name| value.get(name))
}

/// Whether nothing but objects, or nothing at all, is where the objects around a field belong.
pub(crate) fn leads_through_objects(document: Value<'_>, names: &[Box<str>]) -> bool {
    match names {
        [] | [_] => document.as_object().is_some(),
        [name, below @ ..] => {
            document.as_object().is_some() && document.get(name).is_none_or(|inner| leads_through_objects(inner, below))
        }
    }
}

/// The names of a field as a path.
pub(crate) fn field_path(names: &[Box<str>]) -> FieldPath {
    fn path(names: &[Box<str>], above: &Path<'_>) -> FieldPath {
        match names {
            [] => above.to_field_path(),
            [name, below @ ..] => path(below, &Path::Child(above, name)),
        }
    }
    path(names, &Path::Root)
}
