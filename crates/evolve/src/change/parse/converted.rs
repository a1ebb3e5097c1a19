//! `converted`: how one field becomes another.

use wheelwright_document::{Number, Path, Span, Spanned, Value};
use wheelwright_schema::closest_of;

use super::computed::{checked, expression, known_keys, malformed, one_way, pairs};
use crate::{
    Clamped, Conversion, DocumentFormat, Located, Respelled,
    reader::{Reader, quoted},
};

/// One field to one field.
pub(super) fn converted(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Vec<Respelled> {
    let mut converted = Vec::new();
    for entry in reader.entries(value, path, "an object from old paths to what became of them") {
        let path = &Path::Key(path, entry.key);
        let from = reader.selector_in(entry.key, entry.key_span, path);
        let value = &entry.value;
        let expected = "an object with a converter, such as {with: text}";
        if !known_keys(reader, value, path, expected, &["to", "with", "up", "down", "clamped"]) {
            continue;
        }
        let to = match value.get("to") {
            Some(to) => reader.selector(to, &Path::Child(path, "to")),
            None => from.clone(),
        };
        let with = one_to_one(reader, value, path, entry.key_span).and_then(|with| clamped(reader, value, path, with));
        let (Some(from), Some(to), Some(with)) = (from, to, with) else { continue };
        converted.extend(checked(reader, path, Respelled { from: vec![from], to: vec![to], with }));
    }
    converted
}

/// Converters that are a word.
const WORDS: &[(&str, Conversion)] = &[
    ("durationSeconds", Conversion::DurationSeconds),
    ("quantity", Conversion::Quantity),
    ("text", Conversion::Text),
    ("oneItem", Conversion::OneItem),
    ("clamped", Conversion::Clamped(Clamped::ALONE)),
];

/// Converters that are an object with one key, and how they are written.
const KEYED: &[(&str, &str)] = &[
    ("scale", "{scale: 1000}"),
    ("values", "{values: {Old: New}}"),
    ("joined", "{joined: \",\"}"),
    ("key", "{key: name}"),
    ("document", "{document: yaml}"),
];

/// How one field becomes another: a converter, or two expressions.
fn one_to_one(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>, span: Span) -> Option<Located<Conversion>> {
    match (value.get("with"), value.get("up"), value.get("down")) {
        (Some(with), None, None) => converter(reader, with, &Path::Child(path, "with")),
        (None, Some(up), Some(down)) => {
            let up = expression(reader, up, &Path::Child(path, "up"));
            let down = expression(reader, down, &Path::Child(path, "down"));
            Some(Located { item: Conversion::Expression { up: up?, down: down? }, span })
        }
        (None, None, None) if value.get("clamped").is_some() => {
            let message = "clamped needs a conversion whose numbers are clamped";
            malformed(reader, path, span, message, "write with: clamped if the same number is on both sides");
            None
        }
        (None, None, None) => {
            let message = "nothing says how the field is converted";
            let mend = format!("add with: and one of {}, or up: and down: with expressions", converters());
            malformed(reader, path, span, message, mend);
            None
        }
        (Some(_), ..) => {
            let message = "the field has a converter and expressions, and only one of them can be followed";
            malformed(reader, path, span, message, "remove with, or up and down");
            None
        }
        (None, up, _) => {
            one_way(reader, path, span, up.is_some());
            None
        }
    }
}

/// The conversion with its numbers clamped, if the change asks for that.
fn clamped(
    reader: &mut Reader,
    value: &Spanned<'_>,
    path: &Path<'_>,
    with: Located<Conversion>,
) -> Option<Located<Conversion>> {
    let Some(asked) = value.get("clamped") else { return Some(with) };
    let path = &Path::Child(path, "clamped");
    match asked.as_scalar() {
        Some(Value::Bool(is_asked)) if !is_asked || matches!(with.item, Conversion::Clamped(_)) => Some(with),
        Some(Value::Bool(_)) => {
            Some(Located { item: Conversion::Clamped(Clamped::new(Some(with.item))), span: with.span })
        }
        _ => {
            reader.wrong_sort(asked, path, "true or false");
            None
        }
    }
}

fn converter(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<Located<Conversion>> {
    if let Some(text) = value.as_str() {
        let found = WORDS.iter().find(|(word, _)| *word == text).map(|(_, conversion)| conversion.clone());
        if found.is_none() {
            let known = WORDS.iter().map(|(word, _)| *word).chain(KEYED.iter().map(|(key, _)| *key));
            let meant = closest_of(known, text);
            let mend = match meant.map(|meant| KEYED.iter().find(|(key, _)| *key == meant).map_or(meant, |it| it.1)) {
                Some(meant) => format!("write {meant}, if that is what is meant"),
                None => format!("write one of {}, or up: and down: with expressions", converters()),
            };
            malformed(reader, path, value.span, format!("nobody knows the converter {}", quoted(text)), mend);
        }
        return found.map(|item| Located { item, span: value.span });
    }
    let Some(entries) = value.as_object() else {
        reader.wrong_sort(value, path, "a converter");
        return None;
    };
    let [entry] = entries else {
        let message = format!("expected one converter, found {}", entries.len());
        malformed(reader, path, value.span, message, format!("write one of {}", converters()));
        return None;
    };
    let (key, value_span, value, path) = (entry.key, value.span, &entry.value, &Path::Child(path, entry.key));
    let item = match key {
        "scale" => Conversion::Scale(factor(reader, value, path)?),
        "values" => Conversion::Values(pairs(reader, value, path, "an object from old values to new ones")?),
        "joined" => Conversion::Joined(reader.text(value, path, "the text between the items")?.item.into()),
        "key" => Conversion::ObjectWithKey(reader.text(value, path, "the name of a field")?.item.into()),
        "document" => Conversion::Document(format(reader, value, path)?),
        word if WORDS.iter().any(|(known, _)| *known == word) => {
            let message = format!("the converter {word} takes nothing");
            malformed(reader, path, entry.key_span, message, format!("write with: {word}"));
            return None;
        }
        _ => {
            let keys: Vec<&str> = KEYED.iter().map(|(key, _)| *key).collect();
            reader.unknown_key(entry, path, &keys);
            return None;
        }
    };
    Some(Located { item, span: value_span })
}

/// Every converter, as it is written.
fn converters() -> String {
    let words = WORDS.iter().map(|(word, _)| *word).chain(KEYED.iter().map(|(_, written)| *written));
    words.collect::<Vec<_>>().join(", ")
}

/// The format of a document that is kept as a text.
fn format(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<DocumentFormat> {
    let word = reader.text(value, path, "yaml or json")?;
    let format = DocumentFormat::named(word.item);
    if format.is_none() {
        let message = format!("{} is not a format of documents", quoted(word.item));
        malformed(reader, path, word.span, message, "write yaml or json");
    }
    format
}

/// A number to multiply by, which can be divided by again.
fn factor(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<Box<str>> {
    let Some(Value::Number(factor)) = value.as_scalar() else {
        reader.wrong_sort(value, path, "a number to multiply by");
        return None;
    };
    if Number::new("0").is_some_and(|zero| factor.compare(zero).is_eq()) {
        malformed(reader, path, value.span, "a multiple by 0 says nothing of the value", "write another number");
        return None;
    }
    Some(factor.as_str().into())
}
