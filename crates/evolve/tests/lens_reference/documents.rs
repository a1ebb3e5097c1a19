//! Random documents, and random edits of what a version shows, read off tapes of numbers as kinds are.

use serde_json::{Map, Value as Json, json};

use crate::generate::{Field, NAMES, Object, Tape, Type};

/// Names of unknown fields. No version declares them: what an unknown field is where another version declares its name,
/// the rules leave open.
const UNKNOWN: [&str; 2] = ["u", "$bag"];

/// A document of a version.
pub(crate) fn document(version: &Object, tape: &mut Tape<'_>) -> Json {
    object_value(version, tape)
}

/// A document that someone made of one that a version showed.
pub(crate) fn edited(version: &Object, document: &Json, tape: &mut Tape<'_>) -> Json {
    let mut document = document.clone();
    for _ in 0..1 + tape.pick(3) {
        edit_object(version, &mut document, tape);
    }
    document
}

fn edit_object(object: &Object, value: &mut Json, tape: &mut Tape<'_>) {
    let Json::Object(entries) = value else { return *value = object_value(object, tape) };
    if object.keeps_unknown && tape.chance(30) {
        let name = UNKNOWN[tape.pick(UNKNOWN.len())];
        if entries.remove(name).is_none() {
            entries.insert(name.to_owned(), json!(tape.pick(3)));
        }
        return;
    }
    if object.fields.is_empty() {
        return;
    }
    let field = &object.fields[tape.pick(object.fields.len())];
    match (tape.pick(6), entries.get_mut(&field.name)) {
        (0, Some(_)) => {
            entries.remove(&field.name);
        }
        (1, Some(value)) => *value = field_value(field, tape),
        (_, Some(value)) => edit_value(&field.shape, value, tape),
        (_, None) => {
            entries.insert(field.name.clone(), field_value(field, tape));
        }
    }
}

fn edit_value(shape: &Type, value: &mut Json, tape: &mut Tape<'_>) {
    match (shape, value) {
        (Type::Object(object), value) => edit_object(object, value, tape),
        (Type::List(element, _), Json::Array(items)) => {
            let at = tape.pick(items.len());
            match tape.pick(5) {
                0 if !items.is_empty() => {
                    items.remove(at);
                }
                1 => items.insert(at, value_of(element, tape)),
                2 => items.reverse(),
                3 if !items.is_empty() => items.rotate_left(1),
                _ if !items.is_empty() => edit_value(element, &mut items[at], tape),
                _ => items.push(value_of(element, tape)),
            }
        }
        (Type::Map(element), Json::Object(entries)) => {
            let key = NAMES[tape.pick(3)];
            match (tape.pick(3), entries.get_mut(key)) {
                (0, Some(_)) => {
                    entries.remove(key);
                }
                (_, Some(value)) => edit_value(element, value, tape),
                (_, None) => {
                    entries.insert(key.to_owned(), value_of(element, tape));
                }
            }
        }
        (shape, value) => *value = value_of(shape, tape),
    }
}

fn field_value(field: &Field, tape: &mut Tape<'_>) -> Json {
    if field.nullable && tape.chance(30) { Json::Null } else { value_of(&field.shape, tape) }
}

fn object_value(object: &Object, tape: &mut Tape<'_>) -> Json {
    let mut entries = Map::new();
    let only = (object.union && !object.fields.is_empty()).then(|| tape.pick(object.fields.len()));
    for (position, field) in object.fields.iter().enumerate() {
        if only.map_or_else(|| tape.chance(75), |only| only == position || Some(field.identity) == object.discriminator)
        {
            entries.insert(field.name.clone(), field_value(field, tape));
        }
    }
    if object.keeps_unknown && tape.chance(40) {
        entries.insert(UNKNOWN[tape.pick(UNKNOWN.len())].to_owned(), json!(tape.pick(3)));
    }
    Json::Object(entries)
}

fn value_of(shape: &Type, tape: &mut Tape<'_>) -> Json {
    if tape.chance(3) {
        return [json!("wrong"), json!(7), json!([]), json!({})][tape.pick(4)].clone();
    }
    match shape {
        Type::String => json!(["a", "b", "c"][tape.pick(3)]),
        Type::Integer => json!(tape.pick(3)),
        Type::Boolean => json!(tape.pick(2) == 1),
        Type::IntOrString => [json!(0), json!("a")][tape.pick(2)].clone(),
        Type::Object(object) => object_value(object, tape),
        Type::List(element, _) => (0..[0, 1, 2, 2, 3, 3][tape.pick(6)]).map(|_| value_of(element, tape)).collect(),
        Type::Map(element) => {
            let mut entries = Map::new();
            for _ in 0..tape.pick(3) {
                entries.insert(NAMES[tape.pick(3)].to_owned(), value_of(element, tape));
            }
            Json::Object(entries)
        }
    }
}
