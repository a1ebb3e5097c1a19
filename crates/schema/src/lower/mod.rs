//! Files to schemas: what was written, lowered to the one model, with the place of every part.

mod definition;
mod keyword;
mod openapi;
mod resource;

use wheelwright_document::{Arena, Owned, Path, Span, Spanned};
use wheelwright_findings::rules;

pub use definition::{Definition, DefinitionVersion, Named, is_definition, lower_definition};
use keyword::Reader;
pub use openapi::{Dialect, NoTree, Refused, Specification, Tree};
pub use resource::{Column, KubernetesResource, KubernetesVersion, Scale};

use crate::{
    ErrorType, Problem, Schema,
    model::{Additional, Properties, Property, Type},
    problem::Problems,
};

/// A schema and what is wrong with how it was written.
#[derive(Debug)]
pub struct Lowered<T> {
    /// What could be read.
    pub item: T,
    /// What could not.
    pub problems: Vec<Problem>,
}

/// Reads an `openAPIV3Schema`. Keywords of the wrong sort are reported and left out; the rest is read all the same.
pub fn lower_schema(source: &Spanned<'_>) -> Lowered<Schema> {
    let mut problems = Problems::default();
    let item = schema(source, &Path::Root, &mut problems);
    Lowered { item, problems: problems.into_list() }
}

/// Whether Kubernetes can make a structural schema of this at all: it has none of the keywords that are refused
/// outright, at any depth.
pub fn is_convertible(schema: &Schema) -> bool {
    let here = schema.unsupported.is_empty() && schema.extensions.preserve_unknown_fields != Some(false);
    here && schema.below().all(is_convertible)
}

/// Every keyword that Kubernetes' `JSONSchemaProps` has; it drops others silently.
const KEYWORDS: &[&str] = &[
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "definitions",
    "dependencies",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// Whether Kubernetes knows a keyword.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

pub(crate) fn schema(source: &Spanned<'_>, path: &Path<'_>, problems: &mut Problems) -> Schema {
    let mut lowered = Schema::default();
    fill(&mut lowered, source, path, problems);
    lowered
}

/// Reads a schema to where it will stay: schemas are large, and on the stack those of all levels would add up.
fn fill(lowered: &mut Schema, source: &Spanned<'_>, path: &Path<'_>, problems: &mut Problems) {
    lowered.span = source.span;
    let Some(entries) = source.as_object() else {
        if !problems.is_full() {
            let message = format!("expected a schema, which is an object, found {}", source.kind_name());
            let rule = &rules::MALFORMED_SCHEMA;
            problems.push(Problem::new(rule, ErrorType::TypeInvalid, path, source.span, message));
        }
        return;
    };
    for entry in entries {
        if entry.value.as_scalar().is_some_and(|value| value.is_null()) {
            // As good as absent to the reference.
            continue;
        }
        lowered.keywords.push((entry.key.into(), entry.key_span));
        let place = Path::Child(path, entry.key);
        let mut reader = Reader { keyword: entry.key, value: &entry.value, path: &place, problems };
        read_keyword(lowered, &mut reader, entry.key_span);
    }
}

fn read_keyword(schema: &mut Schema, reader: &mut Reader<'_, '_>, key_span: Span) {
    let checks = &mut schema.checks;
    let extensions = &mut schema.extensions;
    match reader.keyword {
        "type" => schema.r#type = reader.text().filter(|name| !name.is_empty()).map(|name| Type::from_name(&name)),
        "nullable" => schema.nullable = reader.flag(),
        "default" => schema.default = Some(owned(reader.value)),
        "title" => schema.title = reader.text().filter(|text| !text.is_empty()),
        "description" => schema.description = reader.text().filter(|text| !text.is_empty()),
        "externalDocs" => schema.external_docs = true,
        "example" => {}
        "properties" => schema.properties = properties(reader),
        "additionalProperties" => schema.additional_properties = additional(reader),
        "items" => match reader.value.as_array() {
            // One schema per position: not supported, and reported by the check.
            Some(_) => schema.unsupported.push("items".into()),
            None => schema.items = Some(reader.schema()),
        },
        "allOf" => schema.all_of = reader.schemas(),
        "anyOf" => schema.any_of = reader.schemas(),
        "oneOf" => schema.one_of = reader.schemas(),
        "not" => schema.not = Some(reader.schema()),
        "format" => checks.format = reader.text().filter(|text| !text.is_empty()),
        "pattern" => checks.pattern = reader.text().filter(|text| !text.is_empty()),
        "enum" => checks.r#enum = reader.list().iter().map(owned).collect(),
        "x-kubernetes-preserve-unknown-fields" => extensions.preserve_unknown_fields = Some(reader.flag()),
        "id" | "$schema" | "$ref" => {
            if reader.text().is_some_and(|text| !text.is_empty()) {
                schema.unsupported.push(reader.keyword.into());
            }
        }
        "patternProperties" | "dependencies" | "definitions" => {
            if reader.value.as_object().is_none_or(|entries| !entries.is_empty()) {
                schema.unsupported.push(reader.keyword.into());
            }
        }
        "additionalItems" => schema.unsupported.push("additionalItems".into()),
        other => {
            if !reader.limit(checks) && !reader.extension(extensions) {
                report_unknown(other, reader, key_span);
            }
        }
    }
}

fn report_unknown(keyword: &str, reader: &mut Reader<'_, '_>, key_span: Span) {
    if reader.problems.is_full() {
        return;
    }
    let message = format!("{keyword:?} is no keyword of a schema; Kubernetes drops it silently");
    let mut problem = Problem::ours(&rules::UNKNOWN_KEYWORD, reader.path, key_span, message);
    // So many typos are none, and looking for what was meant is slow.
    if reader.problems.len() < 100 {
        problem.mend = closest(keyword).map(|keyword| format!("write {keyword}, if that is what is meant"));
    }
    reader.problems.push(problem);
}

fn properties(reader: &mut Reader<'_, '_>) -> Properties {
    let Some(entries) = reader.object() else {
        return Properties::default();
    };
    let empty = entries.iter().map(|entry| Property { name: entry.key.into(), schema: Schema::default() });
    let mut properties: Vec<Property> = empty.collect();
    for (property, entry) in properties.iter_mut().zip(entries) {
        fill(&mut property.schema, &entry.value, &Path::Key(reader.path, entry.key), reader.problems);
    }
    properties.into_iter().collect()
}

fn additional(reader: &mut Reader<'_, '_>) -> Option<Additional> {
    match reader.value.as_scalar().and_then(|value| value.as_bool()) {
        Some(allowed) => Some(Additional::Allowed(allowed)),
        None => Some(Additional::Schema(reader.schema())),
    }
}

fn owned(source: &Spanned<'_>) -> Owned {
    let arena = Arena::new();
    Owned::from(source.to_value(&arena))
}

/// The keyword that an unknown one was probably meant to be.
fn closest(unknown: &str) -> Option<&'static str> {
    closest_of(KEYWORDS.iter().copied(), unknown)
}

/// The word that an unknown one was probably meant to be: at most two letters off, and at most a third of them.
pub fn closest_of<'w>(words: impl Iterator<Item = &'w str>, unknown: &str) -> Option<&'w str> {
    // Words that are so long are no typo, and would make the comparison expensive.
    if unknown.len() > 64 {
        return None;
    }
    let length = |word: &str| word.chars().count();
    let alike = words.filter(|word| length(word).abs_diff(length(unknown)) <= 2);
    let distances = alike.map(|word| (distance(unknown, word), word));
    let is_meant = |(distance, word): &(usize, &str)| *distance <= 2.min(length(word).max(length(unknown)) / 3);
    distances.filter(is_meant).min().map(|(_, word)| word)
}

/// How many letters must be added, removed, changed or swapped with their neighbour to get from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let mut least = changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least = least.min(rows[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_are_recognised() {
        assert_eq!(closest("defualt"), Some("default"));
        assert_eq!(closest("minlength"), Some("minLength"));
        assert_eq!(closest("x-kubernetes-preserve-unknown-field"), Some("x-kubernetes-preserve-unknown-fields"));
        assert_eq!(closest("colour"), None);
        assert_eq!(closest("typ"), Some("type"));
        assert_eq!(closest("tpe"), Some("type"));
    }

    #[test]
    fn short_words_are_no_typos_of_others() {
        assert_eq!(closest("b"), None);
        assert_eq!(closest("ia"), None);
        assert_eq!(closest("tips"), None);
        assert_eq!(closest_of(["I", "É"].into_iter(), "x"), None);
        assert_eq!(closest_of(["I", "É"].into_iter(), "é"), Some("É"));
    }
}
