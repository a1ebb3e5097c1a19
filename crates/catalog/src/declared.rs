//! What a file declares: definitions and schemas, among whatever else it holds.

use wheelwright_document::{Spanned, Value};
use wheelwright_schema::{
    Definition, Dialect, Lowered, Problem, Root, Schema, check, is_definition, lower_definition, lower_schema,
    model::Type,
};

/// A kind with its versions, or a schema that stands alone.
#[derive(Debug)]
pub enum Declared {
    /// A kind with its versions.
    Definition(Box<Definition>),
    /// A schema that stands alone.
    Schema(Box<Schema>),
}

/// A declaration with what is wrong with how it is written, or only that if it could not be read.
pub type Reading = Result<Lowered<Declared>, Box<Problem>>;

/// Reads every definition and schema in a document; lists of definitions are looked into, anything else gives none.
pub fn read(document: &Spanned<'_>) -> Vec<Reading> {
    if is_definition(document) {
        let lowered = lower_definition(document);
        return vec![lowered.map(|lowered| Lowered {
            item: Declared::Definition(Box::new(lowered.item)),
            problems: lowered.problems,
        })];
    }
    // These have a module of their own.
    if Dialect::of(document).is_some() {
        return Vec::new();
    }
    if is_list(document) {
        let items = document.get("items").and_then(Spanned::as_array).unwrap_or_default();
        return items.iter().filter(|item| is_definition(item)).flat_map(read).collect();
    }
    let wrapped = document.get("openAPIV3Schema");
    match wrapped.or_else(|| is_schema(document).then_some(document)) {
        Some(schema) => {
            let lowered = lower_schema(schema);
            vec![Ok(Lowered { item: Declared::Schema(Box::new(lowered.item)), problems: lowered.problems })]
        }
        None => Vec::new(),
    }
}

/// Everything that is wrong with a declaration.
pub fn problems(reading: &Reading, root: Root) -> Vec<Problem> {
    let lowered = match reading {
        Ok(lowered) => lowered,
        Err(problem) => return vec![Problem::clone(problem)],
    };
    let mut problems = lowered.problems.clone();
    problems.extend(match &lowered.item {
        Declared::Definition(definition) => check::check_definition(definition),
        Declared::Schema(schema) => check::check_schema(schema, root),
    });
    problems
}

fn is_list(document: &Spanned<'_>) -> bool {
    matches!(document.get("kind").and_then(Spanned::as_str), Some("List" | "CustomResourceDefinitionList"))
}

/// Whether a document can be taken for an `openAPIV3Schema`. Files of many sorts have a `type` or `properties`; resources
/// and the documents of other schema languages say what they are.
fn is_schema(document: &Spanned<'_>) -> bool {
    let other = ["apiVersion", "$schema", "openapi", "swagger"];
    let is_type =
        |value: &Spanned<'_>| value.as_str().is_some_and(|text| !matches!(Type::from_name(text), Type::Unknown(_)));
    let has_properties = document.get("properties").is_some_and(|properties| {
        properties.as_object().is_some_and(|entries| entries.iter().all(|entry| entry.value.as_object().is_some()))
    });
    // Resources of other systems have both, but no schema has a type like `Shop.Example/carts`; a typo is a word.
    let is_no_word = |text: &str| !text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let has_properties = has_properties && !document.get("type").and_then(Spanned::as_str).is_some_and(is_no_word);
    let preserves = document.get("x-kubernetes-preserve-unknown-fields").and_then(Spanned::as_scalar);
    other.iter().all(|key| document.get(key).is_none())
        && (document.get("type").is_some_and(is_type) || has_properties || preserves == Some(Value::Bool(true)))
}
