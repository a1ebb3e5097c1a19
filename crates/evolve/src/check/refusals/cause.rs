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
