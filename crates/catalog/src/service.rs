//! What an entry of a catalog says of serving a kind: versions that are to go, what the service fills in, and whether its
//! writes take long.

use wheelwright_document::{Path, Spanned, Value};
use wheelwright_evolve::{FillIn, Located, Reader, Selector, Step, Structure, VersionName};
use wheelwright_findings::rules;
use wheelwright_schema::Problem;

use crate::{Kind, stored::is_of_resource_manager};

/// An entry of `deprecated`: a version that is to go.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Deprecation {
    /// The version.
    pub version: Located<VersionName>,
    /// Since when nobody should use it, as `2026-09-01`.
    pub on: Option<Box<str>>,
    /// When it will be gone, as `2027-09-01`.
    pub sunset: Option<Box<str>>,
}

/// An entry of `computed`: what the service fills in where whoever creates a document leaves a field out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ComputedField {
    /// The field, in the names of the hub, or else of the newest version that has it.
    pub at: Located<Selector>,
    /// An expression over `self`, the document as it was sent, and `parent`, the resource that it belongs to.
    pub expression: Located<Box<str>>,
}

/// Reads `deprecated`.
pub(crate) fn deprecated(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Vec<Deprecation> {
    let mut deprecated = Vec::new();
    for entry in reader.entries(value, path, "an object with an entry for each version that is to go") {
        let path = &Path::Key(path, entry.key);
        let Some(version) = reader.version_in(entry.key, entry.key_span, path) else { continue };
        let mut deprecation = Deprecation { version, on: None, sunset: None };
        if entry.value.as_scalar() != Some(Value::Bool(true)) {
            for date in reader.entries(&entry.value, path, "true, or an object with on and sunset") {
                let path = &Path::Child(path, date.key);
                match date.key {
                    "on" => deprecation.on = day(reader, &date.value, path),
                    "sunset" => deprecation.sunset = day(reader, &date.value, path),
                    _ => reader.unknown_key(date, path, &["on", "sunset"]),
                }
            }
        }
        deprecated.push(deprecation);
    }
    deprecated
}

fn day(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<Box<str>> {
    const EXPECTED: &str = "a day, such as 2026-09-01";
    let text = reader.text(value, path, EXPECTED)?;
    if !is_day(text.item) {
        let message = format!("expected {EXPECTED}, found {}", wheelwright_evolve::quoted(text.item));
        reader.report(&rules::MALFORMED_CATALOG, path, text.span, message);
        return None;
    }
    Some(text.item.into())
}

/// Whether a text is a day of the calendar.
fn is_day(text: &str) -> bool {
    let numbers: Vec<Option<u32>> = text.split('-').map(|part| part.parse().ok()).collect();
    let [Some(year), Some(month), Some(day)] = numbers[..] else { return false };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    text.len() == 10 && text.bytes().filter(u8::is_ascii_digit).count() == 8 && (1..=days).contains(&day)
}

/// Reads `computed`.
pub(crate) fn computed(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Vec<ComputedField> {
    let mut computed = Vec::new();
    for entry in reader.entries(value, path, "an object from fields to expressions") {
        let path = &Path::Key(path, entry.key);
        let at = reader.selector_in(entry.key, entry.key_span, path);
        let expression = reader.text(&entry.value, path, "an expression");
        let expression = expression.map(|text| Located { item: text.item.into(), span: text.span });
        computed.extend(at.zip(expression).map(|(at, expression)| ComputedField { at, expression }));
    }
    computed
}

/// Reads `longRunning`.
pub(crate) fn long_running(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<bool> {
    match value.as_scalar() {
        Some(Value::Bool(is_long)) => Some(is_long),
        _ => {
            reader.wrong_sort(value, path, "true or false");
            None
        }
    }
}

/// What is wrong with the fields that the service is said to fill in.
pub(crate) fn problems(kind: &Kind) -> Vec<Problem> {
    let declaration = &kind.declaration;
    let hub = declaration.hub.as_ref().and_then(|hub| declaration.version(hub.item.as_str()));
    // The lock may say which version is stored; without it, the newest one that has the field is as good a place to look.
    let versions = hub.into_iter().chain(declaration.versions.iter().rev());
    let structures: Vec<Structure> = versions.map(|version| Structure::of(&version.schema, version.root)).collect();
    let mut problems = Vec::new();
    for ComputedField { at, expression } in &kind.computed {
        let wrong = |message: String, mend: &str| {
            Problem::ours(&rules::COMPUTED_FIELD, &Path::Root, at.span, message).mend(mend)
        };
        let path = &at.item;
        if path.steps().iter().any(|step| !matches!(step, Step::Field(_))) {
            let message = format!("{path} is in a list or map, and nobody knows which item is meant");
            problems.push(wrong(message, "name the list or map, or a field that is in none"));
            continue;
        }
        if kind.is_of_resource_manager() && is_of_resource_manager(path) {
            problems.push(wrong(format!("{path} is kept beside the document, and not computed"), "remove it"));
            continue;
        }
        match structures.iter().find_map(|structure| Some((structure, structure.find(path)?))) {
            None => {
                let message = format!("{path} is no field of {}", declaration.kind);
                problems.push(wrong(message, "name the field as the hub does"));
            }
            Some(field) => problems.extend(FillIn::compile(expression, Some(field)).err().unwrap_or_default()),
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_one_of_the_calendar() {
        for day in ["2026-09-01", "2024-02-29", "2000-02-29"] {
            assert!(is_day(day), "{day}");
        }
        for text in
            ["2026-9-1", "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-01", "2026-09-31", "soon", "+026-09-01"]
        {
            assert!(!is_day(text), "{text}");
        }
    }
}
