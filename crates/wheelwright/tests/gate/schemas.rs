//! The schema of one version, in the forms that the generator, the oracle and the classes of change need.

use serde_json::Value as Json;
use wheelwright_document::{Arena, Decode, decode_json_spanned};
use wheelwright_evolve::{Selector, Step, laws::Generator};
use wheelwright_schema::{Program, Root, lower_schema};

/// One version of a definition, compiled.
pub(crate) struct Version {
    /// Admits documents.
    pub(crate) program: Program,
    /// Generates documents.
    pub(crate) generator: Generator,
}

impl Version {
    /// Compiles `openAPIV3Schema`; `None` if it is malformed.
    pub(crate) fn compile(schema: &Json, api_version: &str, kind: &str) -> Option<Self> {
        let text = schema.to_string();
        let arena = Arena::new();
        let spanned = decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).ok()?;
        let lowered = lower_schema(&spanned);
        if !lowered.problems.is_empty() {
            return None;
        }
        let program = Program::compile(&lowered.item, Root::Resource);
        let generator = Generator::new(&lowered.item, Root::Resource).of_kind(api_version, kind);
        Some(Self { program, generator })
    }
}

/// The part of a schema that describes what a selector names.
pub(crate) fn at<'s>(schema: &'s mut Json, selector: &Selector) -> Option<&'s mut Json> {
    selector.steps().iter().try_fold(schema, |schema, step| match step {
        Step::Field(name) => schema.get_mut("properties")?.get_mut(&**name),
        Step::Items => schema.get_mut("items"),
        Step::Values => schema.get_mut("additionalProperties"),
    })
}

/// Replaces the values that a selector names in a document, and what is around them where that is missing; whether
/// there was a place for them.
pub(crate) fn place(document: &mut Json, steps: &[Step], value: &Json) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        *document = value.clone();
        return true;
    };
    match (step, document) {
        (Step::Field(name), Json::Object(fields)) => match fields.get_mut(&**name) {
            Some(field) => place(field, rest, value),
            None if rest.is_empty() => {
                fields.insert(name.to_string(), value.clone());
                true
            }
            None => false,
        },
        (Step::Items, Json::Array(items)) => items.first_mut().is_some_and(|item| place(item, rest, value)),
        (Step::Values, Json::Object(fields)) => {
            fields.values_mut().next().is_some_and(|field| place(field, rest, value))
        }
        _ => false,
    }
}

/// A value that is put in the place of a whole document, with the type and the name of the document.
pub(crate) fn typed(value: &Json, document: &Json, steps: &[Step]) -> Json {
    let mut typed = value.clone();
    if let (true, Some(fields)) = (steps.is_empty(), typed.as_object_mut()) {
        for name in ["apiVersion", "kind", "metadata"] {
            fields.extend(document.get(name).map(|value| (name.to_owned(), value.clone())));
        }
    }
    typed
}

/// Removes the first value that a selector names.
pub(crate) fn remove(document: &mut Json, steps: &[Step]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return false };
    match (step, document) {
        (Step::Field(name), Json::Object(fields)) if rest.is_empty() => fields.remove(&**name).is_some(),
        (Step::Field(name), Json::Object(fields)) => fields.get_mut(&**name).is_some_and(|field| remove(field, rest)),
        (Step::Items, Json::Array(items)) => items.first_mut().is_some_and(|item| remove(item, rest)),
        (Step::Values, Json::Object(fields)) => fields.values_mut().next().is_some_and(|field| remove(field, rest)),
        _ => false,
    }
}
