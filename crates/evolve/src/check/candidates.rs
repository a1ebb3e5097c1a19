//! Values that converters are made for: most of those that a schema allows are none of their sort.

use wheelwright_document::Owned;
use wheelwright_schema::Schema;

use super::{
    example::{number, string},
    side::Side,
};
use crate::{Conversion, Direction, NodeIndex, Respelled, Scalar, Shape, Step};

/// A value to try, valid or not.
pub(crate) struct Candidate {
    pub(crate) value: Owned,
    /// Not one that hardly anybody writes, such as a duration of a hundred years.
    pub(crate) is_ordinary: bool,
}

/// Some fields of a version.
pub(crate) type Fields<'s> = (&'s Side<'s>, &'s [NodeIndex]);

/// Values of one scalar that is converted to other fields. None of what has parts, and none where only documents tell what
/// it may be.
pub(crate) fn candidates(
    source: Fields<'_>,
    target: Fields<'_>,
    respelled: &Respelled,
    direction: Direction,
) -> Option<Vec<Candidate>> {
    let (side, [field]) = source else { return None };
    let within = respelled.from[0].item.elements();
    let node = descend(side, *field, within)?;
    let Shape::Scalar(scalar) = side.version.structure.node(node).shape else { return None };
    let schema = side.schema(node)?;
    let is_part = || {
        let name = side.version.structure.node(node).name().unwrap_or_default();
        matches!(&respelled.with.item, Conversion::Template { template, .. } if template.contains(&format!("{{{name}}}")))
    };
    let (ordinary, others) = match (scalar, respelled.with.item.unclamped()) {
        _ if !schema.checks.r#enum.is_empty() => (schema.checks.r#enum.clone(), Vec::new()),
        (Scalar::Boolean, _) => (vec![Owned::Bool(true), Owned::Bool(false)], Vec::new()),
        (Scalar::Integer, _) => numbers(schema, None),
        (Scalar::Number, _) => numbers(schema, Some(0.5)),
        (_, Conversion::Expression { .. } | Conversion::Expressions { .. }) => return None,
        (Scalar::String, Conversion::Template { .. }) if is_part() => return None,
        (Scalar::String, with) => texts(with, direction, target, within),
        _ => (Vec::new(), Vec::new()),
    };
    let wrapped = |value: Owned| {
        within.iter().rev().fold(value, |value, step| match step {
            Step::Values => Owned::Object([("example".into(), value)].into()),
            _ => Owned::Array([value].into()),
        })
    };
    let all = ordinary.into_iter().map(|value| (value, true)).chain(others.into_iter().map(|value| (value, false)));
    Some(all.map(|(value, is_ordinary)| Candidate { value: wrapped(value), is_ordinary }).collect())
}

/// The items or values of a field that are converted on their own, or the field.
fn descend(side: &Side<'_>, field: NodeIndex, within: &[Step]) -> Option<NodeIndex> {
    within.iter().try_fold(field, |node, _| side.version.structure.element(node))
}

/// Values, and those that hardly anybody writes.
type Values = (Vec<Owned>, Vec<Owned>);

/// Beyond what 32 bits hold.
const LARGE: &str = "3000000000";

fn numbers(schema: &Schema, fraction: Option<f64>) -> Values {
    let bounds = [schema.checks.minimum, schema.checks.maximum].into_iter().flatten();
    let ordinary = [1.0, 0.0, 60.0, 1000.0].into_iter().chain(fraction).chain(bounds);
    (ordinary.map(number).collect(), vec![number(-1), number(LARGE)])
}

/// Texts that a converter reads.
fn texts(with: &Conversion, direction: Direction, (side, fields): Fields<'_>, within: &[Step]) -> Values {
    let all = |texts: Vec<&str>| texts.into_iter().map(string).collect();
    let structure = &side.version.structure;
    let shape = |node: NodeIndex| structure.node(node).shape;
    match with {
        Conversion::DurationSeconds => (all(vec!["30s", "0s", "1h30m0s"]), all(vec!["-1s", "876000h0m0s"])),
        Conversion::Quantity => (all(vec!["1", "0", "5Gi"]), all(vec!["-1", "7Ei"])),
        Conversion::Text => {
            let (ordinary, others) =
                descend(side, fields[0], within).map(|node| spellings(shape(node))).unwrap_or_default();
            (all(ordinary), all(others))
        }
        Conversion::Values(pairs) => {
            let named = |(old, new): &(Box<str>, Box<str>)| string(if direction == Direction::Up { old } else { new });
            (pairs.iter().map(named).chain([string("something-else")]).collect(), Vec::new())
        }
        Conversion::Joined(delimiter) => {
            let items = descend(side, fields[0], within).and_then(|list| structure.element(list));
            let item = items.and_then(|item| spellings(shape(item)).0.first().copied()).unwrap_or("a");
            (vec![string(&format!("{item}{delimiter}{item}"))], Vec::new())
        }
        Conversion::Document(_) => {
            let is_list = descend(side, fields[0], within).is_some_and(|node| shape(node) == Shape::List);
            (all(vec![if is_list { "[]" } else { "{}" }]), Vec::new())
        }
        Conversion::Template { template, .. } => {
            let filled = |part: fn(Shape) -> Option<&'static str>| {
                fields.iter().fold(template.to_string(), |text, field| {
                    let name = structure.node(*field).name().unwrap_or_default();
                    text.replace(&format!("{{{name}}}"), part(shape(*field)).unwrap_or("a"))
                })
            };
            let ordinary = filled(|shape| spellings(shape).0.first().copied());
            let large = filled(|shape| spellings(shape).1.last().copied());
            (vec![string(&ordinary)], vec![string(&large)])
        }
        _ => (Vec::new(), Vec::new()),
    }
}

/// How values of a shape are spelled, and those that hardly anybody writes.
fn spellings(shape: Shape) -> (Vec<&'static str>, Vec<&'static str>) {
    match shape {
        Shape::Scalar(Scalar::Integer) => (vec!["1", "0"], vec!["-1", LARGE]),
        Shape::Scalar(Scalar::Number) => (vec!["1", "0.5", "0"], vec!["-1", LARGE]),
        Shape::Scalar(Scalar::Boolean) => (vec!["true", "false"], Vec::new()),
        _ => (vec!["a"], Vec::new()),
    }
}
