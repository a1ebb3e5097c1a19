//! `derived` and `hook`, and what these share with `converted` and `reshaped`.

use wheelwright_document::{Path, Span, Spanned};
use wheelwright_findings::rules;

use super::by_field;
use crate::{
    Conversion, Derived, Direction, Located, Respelled, Selector, Step,
    reader::{Reader, is_null, quoted},
};

/// What is left to Rust.
pub(super) fn hooks(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Vec<Respelled> {
    let mut hooks = Vec::new();
    for (index, item) in reader.list(value, path, "a list of hooks, each with name, from and to").iter().enumerate() {
        let path = &Path::Index(path, index);
        if !known_keys(reader, item, path, "an object with name, from and to", &["name", "from", "to"]) {
            continue;
        }
        let name = needed(reader, item, path, "name")
            .and_then(|name| reader.text(name, &Path::Child(path, "name"), "the name of a hook"));
        let (from, to) = (side(reader, item, path, "from"), side(reader, item, path, "to"));
        let (Some(name), Some(from), Some(to)) = (name, from, to) else { continue };
        let with = Located { item: Conversion::Hook(name.item.into()), span: name.span };
        hooks.extend(checked(reader, path, Respelled { from, to, with }));
    }
    hooks
}

/// Fields that are computed where nobody wrote them.
pub(super) fn derived(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Vec<Derived> {
    let mut derived = Vec::new();
    for entry in reader.entries(value, path, "an object with up or down") {
        let path = &Path::Child(path, entry.key);
        let direction = match entry.key {
            "up" => Direction::Up,
            "down" => Direction::Down,
            _ => {
                reader.unknown_key(entry, path, &["up", "down"]);
                continue;
            }
        };
        for (at, expression) in by_field(reader, &entry.value, path, expression) {
            if !at.item.elements().is_empty() {
                let message = format!("{} is no field, but the items or values of one", quoted(&at.item.to_string()));
                let mend = "derive the list or map as a whole";
                malformed(reader, path, at.span, message, mend);
                continue;
            }
            derived.push(Derived { direction, at, expression });
        }
    }
    derived
}

/// The path of the field itself, where every item or value of it is converted on its own.
pub(super) fn field_of(selector: &Selector) -> &[Step] {
    let steps = selector.steps();
    &steps[..steps.len() - selector.elements().len()]
}

const EXPRESSION: &str = "an expression in quotes, such as \"self * 2\"";

pub(super) fn expression(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<Located<Box<str>>> {
    if is_null(value) {
        let message = format!("expected {EXPRESSION}, found nothing");
        if let Some(problem) = reader.report(&rules::MALFORMED_CATALOG, path, value.span, message) {
            problem.mend = Some("write an expression, or \"null\" in quotes if the field is to be absent".to_owned());
        }
        return None;
    }
    let text = reader.text(value, path, EXPRESSION)?;
    Some(Located { item: text.item.into(), span: text.span })
}

/// A path, or a list of them.
pub(super) fn side(
    reader: &mut Reader,
    item: &Spanned<'_>,
    path: &Path<'_>,
    key: &str,
) -> Option<Vec<Located<Selector>>> {
    let value = needed(reader, item, path, key)?;
    let path = &Path::Child(path, key);
    let Some(items) = value.as_array() else {
        return reader.selector(value, path).map(|field| vec![field]);
    };
    if items.is_empty() {
        none_of(reader, value, path, "a path to a field, or a list of them", true);
        return None;
    }
    let read = items.iter().enumerate().map(|(index, item)| reader.selector(item, &Path::Index(path, index)));
    read.collect::<Vec<_>>().into_iter().collect()
}

pub(super) fn needed<'a>(
    reader: &mut Reader,
    item: &Spanned<'a>,
    path: &Path<'_>,
    key: &str,
) -> Option<&'a Spanned<'a>> {
    let value = item.get(key);
    if value.is_none()
        && let Some(problem) = reader.report(&rules::MALFORMED_CATALOG, path, item.span, format!("{key} is missing"))
    {
        problem.mend = Some(format!("add {key}:"));
    }
    value
}

/// Where every item or value is converted on its own, there is one field on either side, and both are such lists or maps.
pub(super) fn checked(reader: &mut Reader, path: &Path<'_>, respelled: Respelled) -> Option<Respelled> {
    let mut fields = respelled.from.iter().chain(&respelled.to);
    let Some(at) = fields.find(|field| !field.item.elements().is_empty()) else { return Some(respelled) };
    let is_alike = match (&respelled.from[..], &respelled.to[..]) {
        ([from], [to]) => from.item.elements() == to.item.elements(),
        _ => false,
    };
    if !is_alike {
        let message =
            format!("{} stands for items or values, and the other side does not", quoted(&at.item.to_string()));
        let mend = "let the one path on either side end in the same [] or {}, or remove them to convert the whole";
        malformed(reader, path, at.span, message, mend);
        return None;
    }
    Some(respelled)
}

/// Old texts and new ones, at least one pair of them.
pub(super) fn pairs(
    reader: &mut Reader,
    value: &Spanned<'_>,
    path: &Path<'_>,
    expected: &str,
) -> Option<Vec<(Box<str>, Box<str>)>> {
    let Some(entries) = value.as_object().filter(|entries| !entries.is_empty()) else {
        none_of(reader, value, path, expected, value.as_object().is_some());
        return None;
    };
    let mut pairs = Vec::new();
    for entry in entries {
        match entry.value.as_str() {
            Some(new) => pairs.push((entry.key.into(), new.into())),
            None => reader.wrong_sort(&entry.value, &Path::Key(path, entry.key), "a text"),
        }
    }
    (pairs.len() == entries.len()).then_some(pairs)
}

pub(super) fn none_of(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>, expected: &str, is_empty: bool) {
    if is_empty {
        let message = format!("expected {expected}, found an empty one");
        reader.report(&rules::MALFORMED_CATALOG, path, value.span, message);
    } else {
        reader.wrong_sort(value, path, expected);
    }
}

pub(super) fn one_way(reader: &mut Reader, path: &Path<'_>, span: Span, is_up: bool) {
    let (has, lacks) = if is_up { ("up", "down") } else { ("down", "up") };
    let message = format!("{has} without {lacks}: what is written in one spelling could not be shown in the other");
    malformed(reader, path, span, message, format!("add {lacks}:, or make it a derived field"));
}

/// Whether it is an object at all. Keys that nobody knows are told.
pub(super) fn known_keys(
    reader: &mut Reader,
    value: &Spanned<'_>,
    path: &Path<'_>,
    expected: &str,
    known: &[&str],
) -> bool {
    let Some(entries) = value.as_object() else {
        reader.wrong_sort(value, path, expected);
        return false;
    };
    for entry in entries.iter().filter(|entry| !known.contains(&entry.key)) {
        reader.unknown_key(entry, &Path::Child(path, entry.key), known);
    }
    true
}

pub(super) fn malformed(
    reader: &mut Reader,
    path: &Path<'_>,
    span: Span,
    message: impl Into<String>,
    mend: impl Into<String>,
) {
    if let Some(problem) = reader.report(&rules::MALFORMED_CHANGE, path, span, message) {
        problem.mend = Some(mend.into());
    }
}
