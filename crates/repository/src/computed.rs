//! What the service fills in where whoever creates a document leaves a field out.

use wheelwright_catalog::ComputedField;
use wheelwright_document::{Arena, Value};
use wheelwright_evolve::{FillIn, History, VersionIndex};

use crate::{
    external::{field_path, leads_through_objects, names, value_at},
    fields::placed,
};

/// A field that the service computes.
#[derive(Debug)]
pub(crate) struct Computed {
    /// Its names from the root on, by version, where a version has it.
    names: Vec<Option<Vec<Box<str>>>>,
    value: FillIn,
}

/// A value that was computed for a field, by its names from the root on.
pub(crate) type Given<'a> = (&'a [Box<str>], Value<'a>);

impl Computed {
    /// What an entry of a catalog means; what is wrong with one is a finding of the catalog.
    pub(crate) fn of(declared: &ComputedField, history: &History, hub: VersionIndex) -> Option<Self> {
        let mut versions = [hub].into_iter().chain(history.indexes().rev()).map(|version| history.version(version));
        let id = versions.find_map(|version| version.id(version.structure.find(&declared.at.item)?))?;
        let names = history.versions.iter().map(|version| names(&version.path_of(id)?)).collect();
        Some(Self { names, value: FillIn::compile(&declared.expression, None).ok()? })
    }
}

/// What is computed for a new document of a version, where it has nothing of its own; and of a field that cannot be computed,
/// which and why not. A document that is no valid one may be the reason.
pub(crate) fn computed<'a>(
    fields: &'a [Computed],
    version: VersionIndex,
    sent: Value<'a>,
    parent: Option<Value<'a>>,
    arena: &'a Arena,
) -> (Vec<Given<'a>>, Option<String>) {
    let (mut given, mut failure) = (Vec::new(), None);
    for Computed { names, value } in fields {
        let Some(names) = &names[version.position()] else { continue };
        match value.evaluate(sent, parent, arena) {
            Ok(value) => given.extend(value.map(|value| (&**names, value))),
            Err(why) => failure = failure.or_else(|| Some(format!("{} cannot be computed: {why}", field_path(names)))),
        }
    }
    (given, failure)
}

/// A document with what was computed for it, where it has nothing of its own.
pub(crate) fn filled<'a>(document: Value<'a>, given: &[Given<'a>], arena: &'a Arena) -> Value<'a> {
    given.iter().fold(document, |document, (names, value)| {
        let has_none = value_at(document, names).is_none_or(Value::is_null);
        match has_none && leads_through_objects(document, names) {
            true => placed(document, names.iter(), Some(*value), arena),
            false => document,
        }
    })
}
