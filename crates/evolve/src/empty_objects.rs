//! Objects whose schema refuses `{}`.

use std::collections::HashSet;

use wheelwright_document::Owned;
use wheelwright_schema::Schema;

use crate::{NodeIndex, Shape, Step, Structure};

/// The objects of a version in whose place `{}` is invalid: after defaulting, a required field is missing, or there are
/// fewer fields than `minProperties`.
pub(crate) fn refusing_empty(structure: &Structure, schema: &Schema) -> HashSet<NodeIndex> {
    let mut refusing = HashSet::new();
    collect(structure, structure.root(), schema, &mut refusing);
    refusing
}

fn collect(structure: &Structure, node: NodeIndex, schema: &Schema, refusing: &mut HashSet<NodeIndex>) {
    let found = structure.node(node);
    if found.shape == Shape::Object && !found.keeps_unknown && refuses_empty(schema, schema) {
        refusing.insert(node);
    }
    for child in &found.children {
        let below = match &structure.node(*child).step {
            Step::Field(name) => schema.property(name),
            Step::Items => schema.items.as_deref(),
            Step::Values => schema.additional_schema(),
        };
        if let Some(below) = below {
            collect(structure, *child, below, refusing);
        }
    }
}

/// Whether `{}`, with the defaults of `object`, breaks a rule of `schema`, which is `object` or one of its branches.
fn refuses_empty(schema: &Schema, object: &Schema) -> bool {
    let is_filled = |field: &Schema| field.default.as_ref().is_some_and(|default| *default != Owned::Null);
    let filled = object.properties.iter().filter(|property| is_filled(&property.schema)).count();
    let is_missing = |name: &str| !object.property(name).is_some_and(is_filled);
    let refuses = |branch: &Schema| refuses_empty(branch, object);
    schema.checks.required.iter().any(|name| is_missing(name))
        || schema.checks.min_properties.is_some_and(|least| usize::try_from(least).is_ok_and(|least| least > filled))
        || schema.all_of.iter().any(refuses)
        || !schema.any_of.is_empty() && schema.any_of.iter().all(refuses)
        || !schema.one_of.is_empty() && schema.one_of.iter().filter(|branch| !refuses(branch)).count() != 1
}

#[cfg(test)]
mod tests {
    use wheelwright_schema::Root;

    use super::*;
    use crate::{Selector, testing};

    fn refuses(object: &str) -> bool {
        let schema = testing::schema(&format!("{{type: object, properties: {{o: {object}}}}}"));
        let structure = Structure::of(&schema, Root::Value);
        let node = structure.find(&Selector::parse("o").unwrap()).unwrap();
        refusing_empty(&structure, &schema).contains(&node)
    }

    #[test]
    fn an_empty_object_is_refused_for_what_is_missing_after_defaulting() {
        let object = |rest: &str| format!("{{type: object, properties: {{a: {{type: string}}}}, {rest}}}");
        assert!(!refuses(&object("maxProperties: 1")));
        assert!(refuses(&object("required: [a]")));
        assert!(refuses(&object("minProperties: 1")));
        assert!(refuses(&object("allOf: [{required: [a]}]")));
        assert!(refuses(&object("oneOf: [{required: [a]}, {required: [b]}]")));
        assert!(!refuses(&object("anyOf: [{required: [a]}, {maxProperties: 0}]")));
        let filled = "{type: object, properties: {a: {type: string, default: x}}, required: [a], minProperties: 1}";
        assert!(!refuses(filled));
        assert!(!refuses("{type: object, x-kubernetes-preserve-unknown-fields: true, minProperties: 1}"));
    }
}
