//! Clamped numbers: the bounds that the schemas of both sides set, and which a lock remembers.

use std::cmp::Ordering;

use wheelwright_document::{Number, Value, canonical};
use wheelwright_schema::{Schema, model::Type};

use super::{Conversion, Located, Respelled, VersionStep, fit::below};
use crate::{Selector, VersionHistory};

/// A conversion whose numbers are clamped to the bounds of the field that shows them.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Clamped {
    /// The conversion; none if the same number is on both sides.
    pub with: Option<Box<Conversion>>,
    /// The bounds of the field in the version before.
    pub from: Bounds,
    /// The bounds of the field in the new version.
    pub to: Bounds,
}

impl Clamped {
    /// A number that keeps its representation. [`History::derive`](crate::History::derive) reads the bounds from the schemas.
    pub const ALONE: Self = Self { with: None, from: Bounds::NONE, to: Bounds::NONE };

    /// A conversion whose numbers are clamped, with bounds that are found likewise.
    pub fn new(with: Option<Conversion>) -> Self {
        Self { with: with.map(Box::new), ..Self::ALONE }
    }
}

/// The least and the greatest number of a field, inclusive, where these are not those of its type.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// The least number, as JSON.
    pub least: Option<Box<str>>,
    /// The greatest number, as JSON.
    pub most: Option<Box<str>>,
}

impl Bounds {
    /// No bounds but those of the type.
    pub const NONE: Self = Self { least: None, most: None };

    /// Reads `0..100`, `0..` or `..100`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (least, most) = text.split_once("..")?;
        let bound = |text: &str| match text {
            "" => Some(None),
            text => Number::new(text).map(|number| Some(number.as_str().into())),
        };
        let bounds = Self { least: bound(least)?, most: bound(most)? };
        (bounds != Self::NONE).then_some(bounds)
    }

    /// Numbers at the bounds and beyond them, as JSON.
    pub(crate) fn beyond(&self) -> impl Iterator<Item = String> {
        let step = |bound: &Option<Box<str>>, step: i64| {
            let bound = bound.as_deref().map(ToOwned::to_owned);
            let whole = bound.as_deref().and_then(|bound| bound.parse::<i64>().ok());
            let next = whole.and_then(|whole| whole.checked_add(step)).map(|next| next.to_string());
            [bound, next].into_iter().flatten()
        };
        step(&self.least, -1).chain(step(&self.most, 1))
    }

    /// The bounds that a schema sets for its own value; none for what is not a number.
    pub(crate) fn of(schema: &Schema) -> Self {
        let mut bounds = match (&schema.r#type, schema.checks.format.as_deref()) {
            (Some(Type::Integer), Some("int32")) => Self::within(i32::MIN, i32::MAX),
            (Some(Type::Number), Some("float")) => Self::within("-3.4028234663852886e38", "3.4028234663852886e38"),
            (Some(Type::Integer | Type::Number), _) => Self::NONE,
            _ => return Self::NONE,
        };
        bounds.narrow(schema, matches!(schema.r#type, Some(Type::Integer)));
        bounds
    }

    fn within(least: impl ToString, most: impl ToString) -> Self {
        let number = |number: String| Some(number.into());
        Self { least: number(least.to_string()), most: number(most.to_string()) }
    }

    /// Applies the bounds of a schema and of all that it requires besides.
    fn narrow(&mut self, schema: &Schema, is_whole: bool) {
        let checks = &schema.checks;
        let least = checks.minimum.map(|bound| match (is_whole, checks.exclusive_minimum) {
            (true, false) => bound.ceil(),
            // Kubernetes cuts the fraction off a bound before it compares it with an integer.
            (true, true) => bound.trunc() + 1.0,
            (false, false) => bound,
            (false, true) => bound.next_up(),
        });
        let most = checks.maximum.map(|bound| match (is_whole, checks.exclusive_maximum) {
            (true, false) => bound.floor(),
            (true, true) => bound.trunc() - 1.0,
            (false, false) => bound,
            (false, true) => bound.next_down(),
        });
        for (bound, value, tighter) in
            [(&mut self.least, least, Ordering::Greater), (&mut self.most, most, Ordering::Less)]
        {
            let Some(text) = value.and_then(|value| written(value, is_whole)) else { continue };
            let is_tighter = |old: &str| {
                Number::new(&text).zip(Number::new(old)).is_some_and(|(new, old)| new.compare(old) == tighter)
            };
            if bound.as_deref().is_none_or(is_tighter) {
                *bound = Some(text);
            }
        }
        schema.all_of.iter().for_each(|schema| self.narrow(schema, is_whole));
    }
}

/// A bound as it is written in a lock; none if every number of the type is within it.
fn written(bound: f64, is_whole: bool) -> Option<Box<str>> {
    // Doubles beyond 64 bits become the ends of their range, which are no bounds.
    let whole = bound as i64;
    if is_whole && (whole == i64::MIN || whole == i64::MAX) {
        return None;
    }
    let text = if is_whole { whole.to_string() } else { bound.to_string() };
    let text = canonical(Value::Number(Number::new(&text)?));
    String::from_utf8(text).ok().map(Into::into)
}

/// Finds the bounds of the clamped fields of a step: those that the lock remembers, else those of the schemas of both
/// versions.
pub(crate) fn find_bounds(step: &mut VersionStep, locked: Option<&VersionHistory>, schemas: [Option<&Schema>; 2]) {
    for respelled in &mut step.respelled {
        if let Conversion::Clamped(clamped) = &mut respelled.with.item {
            let remembered = locked.map(|locked| bounds_in(locked, &respelled.from));
            (clamped.from, clamped.to) = remembered.unwrap_or_else(|| bounds(&respelled.from, &respelled.to, schemas));
        }
    }
}

/// The change with its numbers clamped to the bounds of both schemas; `None` if it is clamped already.
pub(crate) fn clamped_by(respelled: &Respelled, schemas: [Option<&Schema>; 2]) -> Option<Respelled> {
    let with = &respelled.with;
    if matches!(with.item, Conversion::Clamped(_)) {
        return None;
    }
    let (from, to) = bounds(&respelled.from, &respelled.to, schemas);
    let clamped = Conversion::Clamped(Clamped { with: Some(Box::new(with.item.clone())), from, to });
    Some(Respelled { with: Located { item: clamped, span: with.span }, ..respelled.clone() })
}

/// The bounds with which a version is locked; none of a field that it is not locked with.
fn bounds_in(locked: &VersionHistory, from: &[Located<Selector>]) -> (Bounds, Bounds) {
    let found = locked.respelled.iter().find_map(|respelled| match &respelled.with.item {
        Conversion::Clamped(clamped) if respelled.from == from => Some((clamped.from.clone(), clamped.to.clone())),
        _ => None,
    });
    found.unwrap_or_default()
}

fn bounds(
    from: &[Located<Selector>],
    to: &[Located<Selector>],
    [before, after]: [Option<&Schema>; 2],
) -> (Bounds, Bounds) {
    let of = |schema: Option<&Schema>, paths: &[Located<Selector>]| {
        let path = paths.first()?;
        path.item.steps().iter().try_fold(schema?, below).map(Bounds::of)
    };
    (of(before, from).unwrap_or_default(), of(after, to).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::schema;

    #[test]
    fn bounds_are_those_of_the_format_and_of_every_part_of_the_schema() {
        for (text, least, most) in [
            ("type: integer, format: int32", "-2147483648", "2147483647"),
            ("type: integer, format: int64", "", ""),
            ("type: integer, format: int32, minimum: 0", "0", "2147483647"),
            ("type: integer, minimum: 1.5, maximum: 7.5", "2", "7"),
            ("type: integer, minimum: -1.5, maximum: -0.5", "-1", "-1"),
            ("type: integer, minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: true", "2", "8"),
            ("type: integer, minimum: -1.5, exclusiveMinimum: true, maximum: 1.5, exclusiveMaximum: true", "0", "0"),
            ("type: integer, allOf: [{minimum: 0}, {minimum: 3, maximum: 5}], maximum: 9", "3", "5"),
            ("type: integer, maximum: 9223372036854775807", "", ""),
            ("type: integer, maximum: 1e300", "", ""),
            ("type: number, minimum: 0.5, maximum: 1e30", "0.5", "1e30"),
            (
                "type: number, minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true",
                "5e-324",
                "0.9999999999999999",
            ),
            ("type: number, format: float", "-3.4028234663852886e38", "3.4028234663852886e38"),
            ("type: string, maximum: 3", "", ""),
            ("x-kubernetes-int-or-string: true", "", ""),
        ] {
            let Bounds { least: low, most: high } = Bounds::of(&schema(&format!("{{{text}}}")));
            assert_eq!([low.as_deref().unwrap_or(""), high.as_deref().unwrap_or("")], [least, most], "{text}");
        }
    }

    #[test]
    fn bounds_are_read_as_they_are_written() {
        let bounds = |least: &str, most: &str| {
            let bound = |text: &str| (!text.is_empty()).then(|| text.into());
            Some(Bounds { least: bound(least), most: bound(most) })
        };
        assert_eq!(Bounds::parse("0..100"), bounds("0", "100"));
        assert_eq!(Bounds::parse("-0.5..1e30"), bounds("-0.5", "1e30"));
        assert_eq!(Bounds::parse("0.."), bounds("0", ""));
        assert_eq!(Bounds::parse("..0.5"), bounds("", "0.5"));
        for text in ["", "..", "0", "a..b", "0...1", "01..2", "0..1..2"] {
            assert_eq!(Bounds::parse(text), None, "{text}");
        }
    }
}
