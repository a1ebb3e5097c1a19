//! Whether a change is what refuses a document: the version as it would be without the change accepts it.
//!
//! Versions differ in many places, and a document that is to show one change may be refused for the sake of another one, in
//! the same field even.

use std::cell::OnceCell;

use wheelwright_document::{Arena, Value};
use wheelwright_schema::{Program, Schema, Stages, ValidationError, model::Additional};

use super::super::side::Side;
use crate::{NodeIndex, Step};

/// A change of some keywords of a field.
pub(crate) struct Cause<'c> {
    after: &'c Side<'c>,
    /// The field, as it was and as it is.
    was: Option<&'c Schema>,
    node: NodeIndex,
    keywords: Vec<&'static str>,
    /// What validates documents as if these had not changed; made when it is needed first.
    unchanged: OnceCell<Option<Program>>,
}

impl<'c> Cause<'c> {
    /// Keywords of a field that changed; if there are none, any error shows what is looked for.
    pub(super) fn new(
        (before, after): (&'c Side<'c>, &'c Side<'c>),
        (old, node): (Option<NodeIndex>, NodeIndex),
        keywords: &[&'static str],
    ) -> Self {
        let was = old.and_then(|old| before.schema(old));
        Self { after, was, node, keywords: keywords.to_vec(), unchanged: OnceCell::new() }
    }

    /// Whether this is the change of these keywords of a field.
    pub(super) fn is_about(&self, node: NodeIndex, keywords: &[&'static str]) -> bool {
        self.node == node && self.keywords == keywords
    }

    /// Whether an error about a document, or about an update of another one, is there for the sake of the change.
    pub(super) fn is_of(
        &self,
        error: &ValidationError,
        view: Value<'_>,
        replaced: Option<Value<'_>>,
        arena: &Arena,
    ) -> bool {
        if self.keywords.is_empty() {
            return true;
        }
        let Some(unchanged) = self.unchanged.get_or_init(|| self.unchanged()) else { return true };
        let admitted = match replaced {
            Some(replaced) => unchanged.admit_update(view, replaced, arena),
            None => unchanged.run(view, arena, Stages::ADMIT),
        };
        let is_same = |other: &ValidationError| other.path() == error.path() && other.message() == error.message();
        admitted.is_ok_and(|admitted| !admitted.errors.iter().any(is_same))
    }

    fn unchanged(&self) -> Option<Program> {
        let mut whole = self.after.whole()?.clone();
        let path = self.after.version.structure.selector(self.node);
        // What cannot be undone is not judged.
        let are_known = self.keywords.iter().all(|keyword| *keyword == "required" || KEYWORDS.contains(keyword));
        if !are_known {
            return None;
        }
        if self.keywords.contains(&"required")
            && let Some((Step::Field(name), above)) = path.steps().split_last()
        {
            schema_at(&mut whole, above)?.checks.required.retain(|required| required != name);
        }
        let (none, is) = (Schema::default(), schema_at(&mut whole, path.steps())?);
        self.keywords.iter().for_each(|keyword| revert(is, self.was.unwrap_or(&none), keyword));
        Some(self.after.compile(&whole))
    }
}

fn schema_at<'s>(schema: &'s mut Schema, steps: &[Step]) -> Option<&'s mut Schema> {
    let Some((step, rest)) = steps.split_first() else { return Some(schema) };
    let below = match step {
        Step::Field(name) => schema.properties.get_mut(name)?,
        Step::Items => schema.items.as_deref_mut()?,
        Step::Values => match &mut schema.additional_properties {
            Some(Additional::Schema(values)) => values,
            _ => return None,
        },
    };
    schema_at(below, rest)
}

/// The keywords that can be undone.
const KEYWORDS: [&str; 28] = [
    "enum",
    "format",
    "pattern",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "x-kubernetes-validations",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-preserve-unknown-fields",
    "nullable",
    "default",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "type",
    "additionalProperties",
];

/// Gives one keyword the value that it had. What is in the field stays.
fn revert(is: &mut Schema, was: &Schema, keyword: &str) {
    macro_rules! checks {
        ($($field:ident),*) => {{ $( is.checks.$field = was.checks.$field.clone(); )* }};
    }
    macro_rules! extensions {
        ($($field:ident),*) => {{ $( is.extensions.$field = was.extensions.$field.clone(); )* }};
    }
    match keyword {
        "enum" => checks!(r#enum),
        "format" => checks!(format),
        "pattern" => checks!(pattern),
        "minimum" | "exclusiveMinimum" => checks!(minimum, exclusive_minimum),
        "maximum" | "exclusiveMaximum" => checks!(maximum, exclusive_maximum),
        "multipleOf" => checks!(multiple_of),
        "minLength" => checks!(min_length),
        "maxLength" => checks!(max_length),
        "minItems" => checks!(min_items),
        "maxItems" => checks!(max_items),
        "uniqueItems" => checks!(unique_items),
        "minProperties" => checks!(min_properties),
        "maxProperties" => checks!(max_properties),
        "x-kubernetes-validations" => extensions!(validations),
        "x-kubernetes-list-type" | "x-kubernetes-list-map-keys" => extensions!(list_type, list_map_keys),
        "x-kubernetes-embedded-resource" => extensions!(embedded_resource),
        "x-kubernetes-preserve-unknown-fields" => extensions!(preserve_unknown_fields),
        "nullable" => is.nullable = was.nullable,
        "default" => is.default.clone_from(&was.default),
        "allOf" => is.all_of.clone_from(&was.all_of),
        "anyOf" => is.any_of.clone_from(&was.any_of),
        "oneOf" => is.one_of.clone_from(&was.one_of),
        "not" => is.not.clone_from(&was.not),
        "type" => {
            is.r#type.clone_from(&was.r#type);
            extensions!(int_or_string);
        }
        "additionalProperties" if !matches!(is.additional_properties, Some(Additional::Schema(_))) => {
            is.additional_properties.clone_from(&was.additional_properties);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::schema;

    #[test]
    fn every_keyword_can_be_undone() {
        let was = Schema::default();
        for (keyword, text) in [
            ("enum", "enum: [a]"),
            ("format", "format: date"),
            ("pattern", "pattern: a"),
            ("minimum", "minimum: 1"),
            ("exclusiveMinimum", "minimum: 1, exclusiveMinimum: true"),
            ("maximum", "maximum: 1"),
            ("exclusiveMaximum", "maximum: 1, exclusiveMaximum: true"),
            ("multipleOf", "multipleOf: 2"),
            ("minLength", "minLength: 1"),
            ("maxLength", "maxLength: 1"),
            ("minItems", "minItems: 1"),
            ("maxItems", "maxItems: 1"),
            ("uniqueItems", "uniqueItems: true"),
            ("minProperties", "minProperties: 1"),
            ("maxProperties", "maxProperties: 1"),
            ("x-kubernetes-validations", "x-kubernetes-validations: [{rule: 'true'}]"),
            ("x-kubernetes-list-type", "x-kubernetes-list-type: set"),
            ("x-kubernetes-list-map-keys", "x-kubernetes-list-map-keys: [a]"),
            ("x-kubernetes-embedded-resource", "x-kubernetes-embedded-resource: true"),
            ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-preserve-unknown-fields: true"),
            ("nullable", "nullable: true"),
            ("default", "default: a"),
            ("allOf", "allOf: [{maxLength: 1}]"),
            ("anyOf", "anyOf: [{maxLength: 1}]"),
            ("oneOf", "oneOf: [{maxLength: 1}]"),
            ("not", "not: {maxLength: 1}"),
            ("type", "type: string"),
            ("additionalProperties", "additionalProperties: false"),
        ] {
            let said = schema(&format!("{{{text}}}"));
            let mut is = said.clone();
            revert(&mut is, &was, keyword);
            // Where keywords were written says nothing.
            let facts = |schema: &Schema| {
                let mut schema = schema.clone();
                (schema.span, schema.keywords) = (was.span, Vec::new());
                format!("{schema:?}")
            };
            assert_eq!(facts(&is), facts(&was), "{keyword}");
            assert_ne!(facts(&said), facts(&was), "{keyword}");
            assert!(KEYWORDS.contains(&keyword), "{keyword}");
        }
    }
}
