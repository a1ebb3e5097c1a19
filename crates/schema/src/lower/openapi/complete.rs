//! What schemas of OpenAPI leave unsaid, said in the words of the model, which otherwise removes what it does not know.

use std::collections::HashSet;

use wheelwright_document::{Owned, Span};

use super::node::free;
use crate::{
    Schema,
    model::{Additional, Property, Type},
};

/// Says it of a schema and of all below. Of an API, documents are what clients send, which need not have what only the
/// server writes.
pub(super) fn complete(schema: &mut Schema, is_api: bool) {
    if is_api {
        require_in_responses_only(schema);
    }
    declare_fields_of_alternatives(schema);
    let has_alternatives = !schema.any_of.is_empty() || !schema.one_of.is_empty() || !schema.all_of.is_empty();
    let is_untyped = schema.r#type.is_none() && !schema.extensions.int_or_string;
    if is_untyped {
        schema.nullable = schema.checks.r#enum.is_empty() || schema.checks.r#enum.contains(&Owned::Null);
        // The model would take anything but strings for wrong.
        schema.checks.format = None;
    }
    allow_listed_null(schema);
    if let Some(Additional::Allowed(true)) = schema.additional_properties {
        let mut anything = Box::<Schema>::default();
        free(&mut anything);
        schema.additional_properties = Some(Additional::Schema(anything));
    }
    let may_be = |wanted| is_untyped || schema.r#type == Some(wanted);
    // Nothing is said of its fields or items, so all of them belong to it.
    let is_open_object = may_be(Type::Object) && schema.properties.is_empty() && schema.additional_properties.is_none();
    let is_open_array = may_be(Type::Array) && schema.items.is_none();
    let is_base = schema.annotations.as_ref().is_some_and(|annotations| annotations.discriminator.is_some());
    if (if is_untyped { is_open_object && is_open_array } else { is_open_object || is_open_array })
        || is_base && !has_alternatives
    {
        schema.extensions.preserve_unknown_fields = Some(true);
    }
    schema.properties.schemas_mut().for_each(|below| complete(below, is_api));
    schema.items.iter_mut().for_each(|items| complete(items, is_api));
    if let Some(Additional::Schema(below)) = &mut schema.additional_properties {
        complete(below, is_api);
    }
    let branches = [&mut schema.all_of, &mut schema.any_of, &mut schema.one_of].into_iter().flatten();
    branches.for_each(|branch| complete(branch, is_api));
    schema.not.iter_mut().for_each(|not| complete(not, is_api));
}

/// `required` counts for fields with `readOnly` in responses alone.
fn require_in_responses_only(schema: &mut Schema) {
    let required = std::mem::take(&mut schema.checks.required);
    let is_read_only = |name: &str| {
        let annotations = schema.property(name).and_then(|field| field.annotations.as_ref());
        annotations.is_some_and(|annotations| annotations.read_only)
    };
    let (responses, always): (Vec<_>, Vec<_>) = required.into_iter().partition(|name| is_read_only(name));
    schema.checks.required = always;
    if !responses.is_empty() {
        schema.annotate().required_in_responses = responses;
    }
}

/// Null is a value like others in an enum, but not to Kubernetes, which only leaves junctors alone for its sake.
fn allow_listed_null(schema: &mut Schema) {
    let values = &mut schema.checks.r#enum;
    if !schema.nullable || !values.contains(&Owned::Null) {
        return;
    }
    let values: Vec<_> = std::mem::take(values).into_iter().filter(|value| *value != Owned::Null).collect();
    if values.is_empty() {
        schema.r#type = Some(Type::Unknown("null".into()));
    } else {
        let mut others = Schema { span: schema.span, keywords: schema.keywords.clone(), ..Schema::default() };
        others.checks.r#enum = values;
        schema.all_of.push(others);
    }
}

/// Unknown fields are told from known ones by the schema itself, never by its alternatives. So it gets to know their
/// fields; what these look like is left to the alternatives.
fn declare_fields_of_alternatives(schema: &mut Schema) {
    let mut found = Found::default();
    for branch in [&schema.all_of, &schema.any_of, &schema.one_of].into_iter().flatten() {
        found.look_at(branch);
    }
    let mut known = HashSet::new();
    found.names.retain(|name| schema.property(name).is_none() && known.insert(name.clone()));
    let declared = found.names.into_iter().map(|name| {
        let mut anything = Schema::default();
        free(&mut anything);
        Property { name, schema: anything }
    });
    schema.properties.append(declared.collect());
    if found.is_open && schema.properties.is_empty() && schema.additional_properties.is_none() {
        schema.extensions.preserve_unknown_fields = Some(true);
    }
    if found.has_items && schema.items.is_none() {
        let items = schema.items.insert(Box::default());
        free(items);
    }
}

#[derive(Default)]
struct Found {
    names: Vec<Box<str>>,
    /// An alternative takes any fields.
    is_open: bool,
    has_items: bool,
}

impl Found {
    fn look_at(&mut self, branch: &Schema) {
        self.names.extend(branch.properties.iter().map(|property| property.name.clone()));
        let is_map = matches!(branch.additional_properties, Some(Additional::Schema(_) | Additional::Allowed(true)));
        let is_object = branch.r#type == Some(Type::Object);
        self.is_open |= is_map
            || branch.preserves_unknown_fields()
            || is_object && branch.properties.is_empty() && branch.additional_properties.is_none();
        self.has_items |= branch.items.is_some() || branch.r#type == Some(Type::Array);
        for below in [&branch.all_of, &branch.any_of, &branch.one_of].into_iter().flatten() {
            self.look_at(below);
        }
    }
}

/// Whether a schema allows null and nothing else.
pub(super) fn is_null(schema: &Schema) -> bool {
    schema.nullable && matches!(&schema.r#type, Some(Type::Unknown(name)) if **name == *"null")
}

/// Where the first default in a schema is.
pub(super) fn first_default(schema: &Schema) -> Option<Span> {
    if schema.default.is_some() {
        return Some(schema.place_of("default"));
    }
    schema.below().find_map(first_default)
}
