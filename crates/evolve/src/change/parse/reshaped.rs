//! `reshaped`: how several fields become several others.

use std::collections::{HashMap, HashSet};

use wheelwright_document::{Path, Spanned, Value};

use super::{
    by_field,
    computed::{checked, expression, known_keys, malformed, one_way, pairs, side},
    names,
};
use crate::{
    Conversion, Located, Respelled, Selector,
    reader::{Reader, quoted},
};

/// Several fields at once.
pub(super) fn reshaped(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Vec<Respelled> {
    const KEYS: &[&str] =
        &["from", "to", "template", "pattern", "key", "value", "entries", "folded", "renamedKeys", "up", "down"];
    let mut reshaped = Vec::new();
    for (index, item) in reader.list(value, path, "a list of changes, each with from and to").iter().enumerate() {
        let path = &Path::Index(path, index);
        if !known_keys(reader, item, path, "an object with from and to", KEYS) {
            continue;
        }
        let (from, to) = (side(reader, item, path, "from"), side(reader, item, path, "to"));
        let (Some(from), Some(to)) = (from, to) else { continue };
        let with = several(reader, item, path, &from, &to);
        reshaped.extend(with.and_then(|with| checked(reader, path, Respelled { from, to, with })));
    }
    reshaped
}

/// How several fields become several others: one of the ways that there are, told by its key.
fn several(
    reader: &mut Reader,
    item: &Spanned<'_>,
    path: &Path<'_>,
    from: &[Located<Selector>],
    to: &[Located<Selector>],
) -> Option<Located<Conversion>> {
    let ways: Vec<&str> = ["template", "key", "entries", "folded", "renamedKeys"]
        .into_iter()
        .filter(|way| item.get(way).is_some())
        .chain(["up"].into_iter().filter(|_| item.get("up").or(item.get("down")).is_some()))
        .collect();
    for (part, whole) in [("pattern", "template"), ("value", "key")] {
        if let Some(entry) = item.entry(part).filter(|_| item.get(whole).is_none()) {
            let message = format!("{part} says something of {whole}, which is not there");
            malformed(reader, path, entry.key_span, message, format!("add {whole}:, or remove {part}"));
            return None;
        }
    }
    if let [first, second, ..] = ways[..] {
        let message = format!("{first} and {second} are two ways to convert, and only one can be followed");
        malformed(reader, path, item.span, message, format!("remove {first} or {second}"));
        return None;
    }
    let way = ways.first().copied();
    let value = way.and_then(|way| item.get(way));
    // What is wrong with a key and a value may be either.
    let place = value.filter(|_| item.get("value").is_none());
    let span = place.map_or(item.span, |value| value.span);
    let below = &Path::Child(path, way.unwrap_or("entries"));
    let conversion = match (way, value) {
        (Some("template"), Some(value)) => template(reader, item, value, path, from, to)?,
        (Some("key"), Some(value)) => keyed_list(reader, item, value, path)?,
        (Some("folded"), Some(value)) => folded(reader, value, below)?,
        (Some("renamedKeys"), Some(value)) => renamed_keys(reader, value, below)?,
        (Some("up"), _) => expressions(reader, item, path, from, to)?,
        (_, value) => entries(reader, item, value, below, from, to)?,
    };
    if matches!(conversion, Conversion::KeyedList { .. } | Conversion::RenamedKeys(_))
        && (from.len(), to.len()) != (1, 1)
    {
        let message = format!("{} is of one field that becomes one field", way.unwrap_or_default());
        malformed(reader, path, span, message, "name one path in from, and one in to");
        return None;
    }
    Some(Located { item: conversion, span })
}

fn template(
    reader: &mut Reader,
    item: &Spanned<'_>,
    value: &Spanned<'_>,
    path: &Path<'_>,
    from: &[Located<Selector>],
    to: &[Located<Selector>],
) -> Option<Conversion> {
    let pattern = item.get("pattern").map(|pattern| {
        let expected = "a pattern with groups, such as \"^(?P<host>.*):(?P<port>[0-9]+)$\"";
        reader.text(pattern, &Path::Child(path, "pattern"), expected)
    });
    let expected = "a text with the names of fields, such as \"{host}:{port}\"";
    let text = reader.text(value, &Path::Child(path, "template"), expected);
    if from.len() > 1 && to.len() > 1 {
        let message = "a template is for one text, and both sides have several fields";
        malformed(reader, path, value.span, message, "let one side be the text, or write up and down");
        return None;
    }
    let pattern = match pattern {
        Some(pattern) => pattern.map(|pattern| Located { item: pattern.item.into(), span: pattern.span })?.into(),
        None => None,
    };
    Some(Conversion::Template { template: text?.item.into(), pattern })
}

fn keyed_list(reader: &mut Reader, item: &Spanned<'_>, key: &Spanned<'_>, path: &Path<'_>) -> Option<Conversion> {
    let mut name = |value: &Spanned<'_>, key: &str| {
        let text = reader.text(value, &Path::Child(path, key), "the name of a field of the items")?;
        Some(Box::<str>::from(text.item))
    };
    let (key, value) = (name(key, "key"), item.get("value").map(|value| (name(value, "value"), value.span)));
    let (key, value) = match value {
        None => (key?, None),
        Some((value, span)) => {
            let (key, value) = (key?, value?);
            if key == value {
                let message = format!("{} cannot be the key of an item and its value", quoted(&key));
                malformed(reader, path, span, message, "name another field, or leave value out for all other fields");
                return None;
            }
            (key, Some(value))
        }
    };
    Some(Conversion::KeyedList { key, value })
}

/// The key that a shorthand is folded under, or `true` if it needs none.
fn folded(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<Conversion> {
    if let Some(Value::Bool(true)) = value.as_scalar() {
        return Some(Conversion::Folded(None));
    }
    let key = reader.text(value, path, "the name of a field of the items or the key of the map, or true")?;
    Some(Conversion::Folded(Some(key.item.into())))
}

/// Old keys and new ones, of which a map can have each once.
fn renamed_keys(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<Conversion> {
    let renamed = pairs(reader, value, path, "an object from old keys to new ones")?;
    let mut old_keys: HashMap<&str, &str> = HashMap::new();
    for ((old, new), entry) in renamed.iter().zip(value.as_object().unwrap_or_default()) {
        if let Some(other) = old_keys.insert(new, old) {
            let [other, old, new] = [other, old, new].map(quoted);
            let message = format!("{other} and {old} would both be {new}, and a map has a key once");
            malformed(reader, path, entry.value.span, message, "give each old key a new one of its own");
            return None;
        }
    }
    Some(Conversion::RenamedKeys(renamed))
}

/// The keys of a map for several fields: those that are written, else the last names of the fields.
fn entries(
    reader: &mut Reader,
    item: &Spanned<'_>,
    value: Option<&Spanned<'_>>,
    path: &Path<'_>,
    from: &[Located<Selector>],
    to: &[Located<Selector>],
) -> Option<Conversion> {
    let fields = match (from.len(), to.len(), value) {
        (1, 1, None) => {
            let message = "nothing says how the field is reshaped";
            let mend = "add template, key, entries, folded, renamedKeys, or up and down; a field that merely has another path is \
                        renamed";
            malformed(reader, path, item.span, message, mend);
            return None;
        }
        (1, ..) => to,
        (_, 1, _) => from,
        _ => {
            let message = "several fields become several others, and nothing says how";
            malformed(reader, path, item.span, message, "add up and down, or let one side be a map");
            return None;
        }
    };
    let Some(value) = value else {
        let named: Vec<Box<str>> = fields.iter().filter_map(|field| Some(field.item.last_name()?.into())).collect();
        if named.iter().collect::<HashSet<_>>().len() != fields.len() {
            let message = "two of the fields have the same last name, which cannot be the key of both";
            malformed(reader, path, item.span, message, "add entries: with a key for each field");
            return None;
        }
        return Some(Conversion::Entries(named));
    };
    let keys = names(reader, value, path, "a list with a key for each field")?;
    if keys.len() != fields.len() {
        let message = format!("{} keys for {} fields", keys.len(), fields.len());
        malformed(reader, path, value.span, message, "write one key for each field, in their order");
        return None;
    }
    Some(Conversion::Entries(keys))
}

fn expressions(
    reader: &mut Reader,
    item: &Spanned<'_>,
    path: &Path<'_>,
    from: &[Located<Selector>],
    to: &[Located<Selector>],
) -> Option<Conversion> {
    let (Some(up), Some(down)) = (item.get("up"), item.get("down")) else {
        one_way(reader, path, item.span, item.get("up").is_some());
        return None;
    };
    let up = for_each(reader, up, &Path::Child(path, "up"), to, "to");
    let down = for_each(reader, down, &Path::Child(path, "down"), from, "from");
    Some(Conversion::Expressions { up: up?, down: down? })
}

/// An expression for each field, in the order of the fields.
fn for_each(
    reader: &mut Reader,
    value: &Spanned<'_>,
    path: &Path<'_>,
    fields: &[Located<Selector>],
    side: &str,
) -> Option<Vec<Located<Box<str>>>> {
    if value.as_object().is_none() {
        reader.wrong_sort(value, path, "an object with an expression for each field");
        return None;
    }
    let known: HashSet<&Selector> = fields.iter().map(|field| &field.item).collect();
    let written = by_field(reader, value, path, expression);
    let is_whole = value.as_object().is_some_and(|entries| entries.len() == written.len());
    let mut by_path: HashMap<Selector, Located<Box<str>>> = HashMap::new();
    for (at, expression) in written {
        if !known.contains(&at.item) {
            let message = format!("{} is not among the fields of {side}", quoted(&at.item.to_string()));
            malformed(reader, path, at.span, message, format!("add it to {side}, or remove the expression"));
            return None;
        }
        by_path.insert(at.item, expression);
    }
    let mut found = Vec::new();
    for field in fields {
        match by_path.remove(&field.item) {
            Some(expression) => found.push(expression),
            None if is_whole => {
                let message = format!("{} has no expression", quoted(&field.item.to_string()));
                let mend = format!("add an expression, or `{}: \"null\"` if the field is to be absent", field.item);
                malformed(reader, path, value.span, message, mend);
                return None;
            }
            None => return None,
        }
    }
    Some(found)
}
