//! `allOf`: a schema and a part that values must satisfy as well, joined to one.

use std::collections::HashSet;

use wheelwright_document::Path;
use wheelwright_findings::rules;

use super::Said;
use crate::{
    Problem, Schema,
    model::{Additional, Annotations, Checks, Property, Type},
};

/// Where two schemas are joined, and who is told what does not go together.
pub(super) struct Joint<'j> {
    pub(super) said: &'j mut Said,
    pub(super) path: &'j Path<'j>,
}

/// Joins a part to a schema. What both say of the structure becomes one; checks that cannot be told as one stay apart,
/// under `allOf`.
pub(super) fn join(out: &mut Schema, mut part: Schema, joint: &mut Joint<'_>) {
    // A part that allows anything adds nothing, but that nothing is removed.
    if part.preserves_unknown_fields() {
        out.extensions.preserve_unknown_fields = Some(true);
    }
    let mut apart = Schema { span: part.span, ..Schema::default() };
    join_types(out, &part, joint);
    join_defaults(out, &mut part, joint);
    join_fields(out, &mut part, joint);
    match (&mut out.items, part.items.take()) {
        (Some(items), Some(more)) => {
            join(items, *more, &mut Joint { said: joint.said, path: &Path::Child(joint.path, "items") })
        }
        (items @ None, more) => *items = more,
        _ => {}
    }
    join_checks(&mut out.checks, std::mem::take(&mut part.checks), &mut apart.checks);
    for (own, more, left) in
        [(&mut out.any_of, &mut part.any_of, &mut apart.any_of), (&mut out.one_of, &mut part.one_of, &mut apart.one_of)]
    {
        *(if own.is_empty() { own } else { left }) = std::mem::take(more);
    }
    *(if out.not.is_none() { &mut out.not } else { &mut apart.not }) = part.not.take();
    out.all_of.append(&mut part.all_of);
    if let Some(annotations) = part.annotations.take() {
        join_annotations(out, *annotations);
    }
    out.title = out.title.take().or(part.title);
    out.description = out.description.take().or(part.description);
    out.extensions.embedded_resource |= part.extensions.embedded_resource;
    out.extensions.list_type = out.extensions.list_type.take().or(part.extensions.list_type);
    out.extensions.map_type = out.extensions.map_type.take().or(part.extensions.map_type);
    out.extensions.validations.extend(part.extensions.validations);
    if out.extensions.list_map_keys.is_empty() {
        out.extensions.list_map_keys = part.extensions.list_map_keys;
    }
    if has_checks(&apart) {
        apart.keywords = part.keywords.clone();
        out.all_of.push(apart);
    }
    let known: HashSet<Box<str>> = out.keywords.iter().map(|(keyword, _)| keyword.clone()).collect();
    out.keywords.extend(part.keywords.into_iter().filter(|(keyword, _)| !known.contains(keyword)));
}

fn join_types(out: &mut Schema, part: &Schema, joint: &mut Joint<'_>) {
    let is_typed = |schema: &Schema| schema.r#type.is_some() || schema.extensions.int_or_string;
    out.nullable = match (is_typed(out), is_typed(part)) {
        (true, true) => out.nullable && part.nullable,
        (true, false) => out.nullable,
        (false, _) => out.nullable || part.nullable,
    };
    let narrows = |kind: &Type| matches!(kind, Type::Integer | Type::String);
    let conflict = match (&out.r#type, &part.r#type) {
        (None, Some(kind)) if out.extensions.int_or_string && !narrows(kind) => true,
        (Some(kind), None) if part.extensions.int_or_string => !narrows(kind),
        (None, Some(kind)) => {
            out.r#type = Some(kind.clone());
            out.extensions.int_or_string = part.extensions.int_or_string;
            false
        }
        (_, None) => {
            out.extensions.int_or_string |= part.extensions.int_or_string;
            false
        }
        (Some(Type::Number), Some(Type::Integer)) => {
            out.r#type = Some(Type::Integer);
            false
        }
        (Some(Type::Integer), Some(Type::Number)) => false,
        (Some(own), Some(kind)) => own != kind,
    };
    if conflict {
        let name = |schema: &Schema| schema.r#type.as_ref().map_or("integer or string", Type::name).to_owned();
        let message = format!("the parts of allOf want different types: {} and {}", name(out), name(part));
        let problem = Problem::ours(&rules::CONFLICTING_PARTS, joint.path, out.place_of("type"), message);
        joint.said.push(problem.related(part.place_of("type"), "the other type"));
    }
}

fn join_defaults(out: &mut Schema, part: &mut Schema, joint: &mut Joint<'_>) {
    match (&out.default, part.default.take()) {
        (None, default) => out.default = default,
        (Some(own), Some(default)) if *own != default => {
            let message = "the parts of allOf have different defaults; the first counts";
            let problem = Problem::ours(&rules::CONFLICTING_PARTS, joint.path, out.place_of("default"), message);
            joint.said.push(problem.related(part.place_of("default"), "the other default"));
        }
        _ => {}
    }
}

fn join_fields(out: &mut Schema, part: &mut Schema, joint: &mut Joint<'_>) {
    let properties = Path::Child(joint.path, "properties");
    refused_fields(out, part, joint);
    refused_fields(part, out, joint);
    let mut new: Vec<Property> = Vec::new();
    for property in std::mem::take(&mut part.properties) {
        match out.properties.get_mut(&property.name) {
            Some(own) => {
                let path = Path::Key(&properties, &property.name);
                join(own, property.schema, &mut Joint { said: joint.said, path: &path });
            }
            None => new.push(property),
        }
    }
    out.properties.append(new);
    out.additional_properties = match (out.additional_properties.take(), part.additional_properties.take()) {
        (None | Some(Additional::Allowed(true)), other) | (other, None | Some(Additional::Allowed(true))) => other,
        (Some(Additional::Schema(mut own)), Some(Additional::Schema(more))) => {
            let path = Path::Child(joint.path, "additionalProperties");
            join(&mut own, *more, &mut Joint { said: joint.said, path: &path });
            Some(Additional::Schema(own))
        }
        _ => Some(Additional::Allowed(false)),
    };
}

/// `additionalProperties: false` knows only the fields beside it, so it refuses those of the other part.
fn refused_fields(closed: &Schema, other: &Schema, joint: &mut Joint<'_>) {
    if !matches!(closed.additional_properties, Some(Additional::Allowed(false))) {
        return;
    }
    let mut refused = other.properties.iter().filter(|property| closed.property(&property.name).is_none());
    if let Some(first) = refused.next() {
        let message =
            format!("additionalProperties: false refuses {}, which another part of allOf declares", first.name);
        let place = closed.place_of("additionalProperties");
        let problem = Problem::ours(&rules::CONFLICTING_PARTS, joint.path, place, message);
        joint.said.push(
            problem
                .related(first.schema.span, "declared here")
                .mend("say additionalProperties: false in none of the parts"),
        );
    }
}

/// The tighter of two bounds; what does not combine is left in `apart`.
fn join_checks(own: &mut Checks, part: Checks, apart: &mut Checks) {
    fn either<T: PartialEq>(own: &mut Option<T>, part: Option<T>, apart: &mut Option<T>) {
        match own {
            None => *own = part,
            Some(value) if part.as_ref().is_some_and(|part| part != value) => *apart = part,
            Some(_) => {}
        }
    }
    either(&mut own.format, part.format, &mut apart.format);
    either(&mut own.pattern, part.pattern, &mut apart.pattern);
    either(&mut own.multiple_of, part.multiple_of, &mut apart.multiple_of);
    if own.r#enum.is_empty() {
        own.r#enum = part.r#enum;
    } else if own.r#enum != part.r#enum {
        apart.r#enum = part.r#enum;
    }
    if let Some(bound) = part.minimum {
        raise_minimum(own, bound, part.exclusive_minimum);
    }
    if let Some(bound) = part.maximum {
        lower_maximum(own, bound, part.exclusive_maximum);
    }
    own.min_length = own.min_length.max(part.min_length);
    own.min_items = own.min_items.max(part.min_items);
    own.min_properties = own.min_properties.max(part.min_properties);
    own.max_length = least(own.max_length, part.max_length);
    own.max_items = least(own.max_items, part.max_items);
    own.max_properties = least(own.max_properties, part.max_properties);
    own.unique_items |= part.unique_items;
    if own.required.is_empty() {
        own.required = part.required;
    } else {
        let known: HashSet<&str> = own.required.iter().map(|name| &**name).collect();
        let new: Vec<_> = part.required.into_iter().filter(|name| !known.contains(&**name)).collect();
        own.required.extend(new);
    }
}

fn least(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    [a, b].into_iter().flatten().min()
}

/// Makes sure that values are at least, or above, a bound.
pub(super) fn raise_minimum(checks: &mut Checks, bound: f64, exclusive: bool) {
    match checks.minimum {
        Some(own) if own > bound => {}
        Some(own) if own == bound => checks.exclusive_minimum |= exclusive,
        _ => (checks.minimum, checks.exclusive_minimum) = (Some(bound), exclusive),
    }
}

/// Makes sure that values are at most, or below, a bound.
pub(super) fn lower_maximum(checks: &mut Checks, bound: f64, exclusive: bool) {
    match checks.maximum {
        Some(own) if own < bound => {}
        Some(own) if own == bound => checks.exclusive_maximum |= exclusive,
        _ => (checks.maximum, checks.exclusive_maximum) = (Some(bound), exclusive),
    }
}

fn join_annotations(out: &mut Schema, part: Annotations) {
    let own = out.annotate();
    own.read_only |= part.read_only;
    own.write_only |= part.write_only;
    own.secret |= part.secret;
    own.mutability = own.mutability.or(part.mutability);
    own.identifiers = own.identifiers.take().or(part.identifiers);
    if own.known_values.is_empty() {
        own.known_values = part.known_values;
    }
    own.discriminator = own.discriminator.take().or(part.discriminator);
    own.discriminator_value = own.discriminator_value.take().or(part.discriminator_value);
}

fn has_checks(schema: &Schema) -> bool {
    let checks = &schema.checks;
    checks.format.is_some()
        || checks.pattern.is_some()
        || checks.multiple_of.is_some()
        || !checks.r#enum.is_empty()
        || !schema.any_of.is_empty()
        || !schema.one_of.is_empty()
        || schema.not.is_some()
}
