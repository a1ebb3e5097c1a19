//! Fields of documents that can grow to the limit.

use serde_json::{Map, Value};
use wheelwright_document::{Arena, encode};
use wheelwright_evolve::laws::{Generator, Random};
use wheelwright_schema::{
    Schema,
    model::{ListType, Type},
};

/// A document with a value in a field.
pub(super) fn with(mut document: Value, path: &[String], value: Value) -> Value {
    let mut place = &mut document;
    for name in path {
        if !place.is_object() && !place.is_array() {
            *place = Value::Object(Map::new());
        }
        place = match name.parse::<usize>() {
            Ok(position) if place.is_array() => &mut place[position],
            _ => &mut place[name.as_str()],
        };
    }
    *place = value;
    document
}

pub(super) fn generated(schema: &Schema, root: wheelwright_schema::Root, random: &mut Random) -> Value {
    let arena = Arena::new();
    let generator = Generator::new(schema, root);
    serde_json::from_slice(&encode(generator.generate(random, &arena))).expect("JSON")
}

/// The texts that a document has.
pub(super) fn written_texts(value: &Value, path: &mut Vec<String>, texts: &mut Vec<Vec<String>>) {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        Value::String(_) => return texts.push(path.clone()),
        _ => Vec::new(),
    };
    for (name, value) in parts {
        path.push(name);
        written_texts(value, path, texts);
        path.pop();
    }
}

/// The fields that may take a long text, and those that may take a list of many items `{}` that defaults fill in.
pub(super) fn candidates(
    schema: &Schema,
    path: &mut Vec<String>,
    texts: &mut Vec<Vec<String>>,
    lists: &mut Vec<Vec<String>>,
) {
    for field in schema.properties.iter() {
        if path.is_empty() && matches!(&*field.name, "metadata" | "apiVersion" | "kind" | "status") {
            continue;
        }
        path.push(field.name.to_string());
        let (own, checks) = (&field.schema, &field.schema.checks);
        let is_free = checks.r#enum.is_empty() && checks.pattern.is_none() && checks.format.is_none();
        match own.r#type {
            Some(Type::String) if is_free && checks.max_length.is_none() => texts.push(path.clone()),
            Some(Type::Array) if checks.max_items.is_none() && !checks.unique_items => {
                let is_plain = !matches!(own.extensions.list_type, Some(ListType::Map | ListType::Set));
                let fills = |items: &Schema| items.properties.iter().any(|field| field.schema.default.is_some());
                if is_plain && own.items.as_deref().is_some_and(fills) {
                    lists.push(path.clone());
                }
            }
            _ => candidates(own, path, texts, lists),
        }
        path.pop();
    }
}
