//! Version 2 of OpenAPI in protobuf: kubectl before 1.28 reads no other language there, and checks nothing without it.
//!
//! The messages are those that the `gnostic` library defines; what is not in our documents is left out of the tables.

use wheelwright_document::{Value, encode};

/// A document in protobuf.
pub(super) fn written(document: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    DOCUMENT.write(document, &mut out);
    out
}

/// How a JSON object becomes a message.
struct Message {
    fields: &'static [(&'static str, u32, Form)],
    /// The number of the field for keys that begin with `x-`.
    extensions: Option<u32>,
}

/// How a value becomes a field.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Texts,
    Flag,
    Double,
    Integer,
    /// Values as text in YAML.
    Anys,
    Message(&'static Message),
    Messages(&'static Message),
    /// A message whose field 1 is the value.
    Only(&'static Form),
    /// A message that has a field with this number for every key: name and value.
    Map(u32, &'static Form),
    /// A schema, or whether there may be anything.
    SchemaOrFlag,
    /// A parameter, which is one of several messages.
    Parameters,
}

static DOCUMENT: Message = Message {
    fields: &[
        ("swagger", 1, Form::Text),
        ("info", 2, Form::Message(&INFO)),
        ("paths", 8, Form::Map(2, &Form::Message(&PATH))),
        ("definitions", 9, Form::Map(1, &Form::Message(&SCHEMA))),
    ],
    extensions: None,
};
static INFO: Message = Message { fields: &[("title", 1, Form::Text), ("version", 2, Form::Text)], extensions: None };
static PATH: Message = Message {
    fields: &[
        ("get", 2, Form::Message(&OPERATION)),
        ("put", 3, Form::Message(&OPERATION)),
        ("post", 4, Form::Message(&OPERATION)),
        ("delete", 5, Form::Message(&OPERATION)),
        ("patch", 8, Form::Message(&OPERATION)),
        ("parameters", 9, Form::Parameters),
    ],
    extensions: None,
};
static OPERATION: Message = Message {
    fields: &[
        ("tags", 1, Form::Texts),
        ("description", 3, Form::Text),
        ("operationId", 5, Form::Text),
        ("produces", 6, Form::Texts),
        ("consumes", 7, Form::Texts),
        ("parameters", 8, Form::Parameters),
        ("responses", 9, Form::Map(1, &Form::Only(&Form::Message(&RESPONSE)))),
    ],
    extensions: Some(13),
};
static RESPONSE: Message = Message {
    fields: &[("description", 1, Form::Text), ("schema", 2, Form::Only(&Form::Message(&SCHEMA)))],
    extensions: None,
};
static BODY: Message = Message {
    fields: &[
        ("name", 2, Form::Text),
        ("in", 3, Form::Text),
        ("required", 4, Form::Flag),
        ("schema", 5, Form::Message(&SCHEMA)),
    ],
    extensions: None,
};
static IN_QUERY: Message = Message {
    fields: &[
        ("required", 1, Form::Flag),
        ("in", 2, Form::Text),
        ("description", 3, Form::Text),
        ("name", 4, Form::Text),
        ("type", 6, Form::Text),
    ],
    extensions: None,
};
static IN_PATH: Message = Message {
    fields: &[
        ("required", 1, Form::Flag),
        ("in", 2, Form::Text),
        ("name", 4, Form::Text),
        ("type", 5, Form::Text),
        ("maxLength", 14, Form::Integer),
        ("pattern", 16, Form::Text),
    ],
    extensions: None,
};
static SCHEMA: Message = Message {
    fields: &[
        ("$ref", 1, Form::Text),
        ("format", 2, Form::Text),
        ("title", 3, Form::Text),
        ("description", 4, Form::Text),
        ("multipleOf", 6, Form::Double),
        ("maximum", 7, Form::Double),
        ("exclusiveMaximum", 8, Form::Flag),
        ("minimum", 9, Form::Double),
        ("exclusiveMinimum", 10, Form::Flag),
        ("maxLength", 11, Form::Integer),
        ("minLength", 12, Form::Integer),
        ("pattern", 13, Form::Text),
        ("maxItems", 14, Form::Integer),
        ("minItems", 15, Form::Integer),
        ("uniqueItems", 16, Form::Flag),
        ("maxProperties", 17, Form::Integer),
        ("minProperties", 18, Form::Integer),
        ("required", 19, Form::Texts),
        ("enum", 20, Form::Anys),
        ("additionalProperties", 21, Form::SchemaOrFlag),
        ("type", 22, Form::Only(&Form::Text)),
        ("items", 23, Form::Only(&Form::Message(&SCHEMA))),
        ("allOf", 24, Form::Messages(&SCHEMA)),
        ("properties", 25, Form::Map(1, &Form::Message(&SCHEMA))),
    ],
    extensions: Some(31),
};

impl Message {
    fn write(&self, object: Value<'_>, out: &mut Vec<u8>) {
        for entry in object.as_object().unwrap_or_default() {
            match self.fields.iter().find(|(key, ..)| *key == entry.key) {
                Some((_, number, form)) => form.write(*number, entry.value, out),
                None if entry.key.starts_with("x-") => {
                    if let Some(number) = self.extensions {
                        part(number, &named(entry.key, |out| part(2, &any(entry.value), out)), out);
                    }
                }
                None => {}
            }
        }
    }
}

impl Form {
    /// Writes a value as the field with a number; what is of another type is left out.
    fn write(self, number: u32, value: Value<'_>, out: &mut Vec<u8>) {
        let items = value.as_array().unwrap_or_default();
        match (self, value) {
            (Self::Text, Value::String(text)) => part(number, text.as_str().as_bytes(), out),
            (Self::Texts, _) => items.iter().for_each(|item| Self::Text.write(number, *item, out)),
            (Self::Flag, Value::Bool(flag)) => {
                tag(number, VARINT, out);
                out.push(flag.into());
            }
            (Self::Double, Value::Number(decimal)) => {
                tag(number, FIXED, out);
                out.extend_from_slice(&decimal.as_str().parse().unwrap_or(0.0_f64).to_le_bytes());
            }
            (Self::Integer, Value::Number(integer)) => {
                tag(number, VARINT, out);
                varint(integer.as_str().parse().unwrap_or_default(), out);
            }
            (Self::Anys, _) => items.iter().for_each(|item| part(number, &any(*item), out)),
            (Self::Message(message), Value::Object(_)) => part(number, &inner(|out| message.write(value, out)), out),
            (Self::Messages(message), _) => {
                items.iter().for_each(|item| Self::Message(message).write(number, *item, out));
            }
            (Self::Only(form), _) => part(number, &inner(|out| form.write(1, value, out)), out),
            (Self::Map(entries, form), Value::Object(fields)) => {
                let map = inner(|out| {
                    for field in fields {
                        part(entries, &named(field.key, |out| form.write(2, field.value, out)), out);
                    }
                });
                part(number, &map, out);
            }
            (Self::SchemaOrFlag, _) => {
                let (form, inside) = match value {
                    Value::Bool(_) => (Self::Flag, 2),
                    _ => (Self::Message(&SCHEMA), 1),
                };
                part(number, &inner(|out| form.write(inside, value, out)), out);
            }
            (Self::Parameters, _) => items.iter().for_each(|item| part(number, &parameter(*item), out)),
            _ => {}
        }
    }
}

/// A parameter: in the body, in the path or in the query.
fn parameter(value: Value<'_>) -> Vec<u8> {
    let place = value.get("in").and_then(Value::as_str);
    let parameter = match place {
        Some("body") => inner(|out| Form::Message(&BODY).write(1, value, out)),
        place => {
            let (number, message) = if place == Some("path") { (4, &IN_PATH) } else { (3, &IN_QUERY) };
            let other = inner(|out| Form::Message(message).write(number, value, out));
            inner(|out| part(2, &other, out))
        }
    };
    inner(|out| part(1, &parameter, out))
}

/// A value as text: JSON is YAML.
fn any(value: Value<'_>) -> Vec<u8> {
    inner(|out| part(2, &encode(value), out))
}

/// A name, and a value that is written as field 2.
fn named(name: &str, write_value: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    inner(|out| {
        part(1, name.as_bytes(), out);
        write_value(out);
    })
}

fn inner(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

const VARINT: u32 = 0;
const FIXED: u32 = 1;
const LENGTH: u32 = 2;

/// A field of bytes, with their length before them.
fn part(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    tag(number, LENGTH, out);
    varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn tag(number: u32, wire_type: u32, out: &mut Vec<u8>) {
    varint((number << 3 | wire_type).into(), out);
}

/// Seven bits at a time, the lowest first.
fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, decode};

    use super::*;

    #[test]
    fn schemas_become_messages() {
        let arena = Arena::new();
        let document = r#"{"swagger":"2.0","definitions":{"A":{"type":"string","maxLength":300,"enum":["b"],"x-c":1,"additionalProperties":true}}}"#;
        let schema = [
            &[0xb2, 0x01, 8, 0x0a, 6][..],
            b"string",
            &[0x58, 0xac, 0x02],
            &[0xa2, 0x01, 5, 0x12, 3],
            b"\"b\"",
            &[0xfa, 0x01, 10, 0x0a, 3],
            b"x-c",
            &[0x12, 3, 0x12, 1],
            b"1",
            &[0xaa, 0x01, 2, 0x10, 1],
        ]
        .concat();
        let entry = [&[0x0a, 1][..], b"A", &[0x12, schema.len() as u8], &schema].concat();
        let definitions = [&[0x0a, entry.len() as u8][..], &entry].concat();
        let expected = [&[0x0a, 3][..], b"2.0", &[0x4a, definitions.len() as u8], &definitions].concat();
        assert_eq!(written(decode(document.as_bytes(), &arena).unwrap()), expected);
    }
}
