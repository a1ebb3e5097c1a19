//! Whether a value is one that a field can have, and what is wrong if it is not.

use std::cmp::Ordering;

use wheelwright_document::{Arena, Entry, Number, Value};
use wheelwright_findings::shortened;

use super::Failed;
use crate::{Bounds, NodeIndex, Scalar, Shape, Structure, named::Named};

/// What came of clamping numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clamp {
    Done,
    NoNumber,
    /// No number is within the bounds.
    Empty,
}

/// The shape of a field and everything below it.
#[derive(Debug)]
pub(crate) struct Fit {
    kind: FitKind,
    nullable: bool,
    /// What numbers are clamped to.
    limits: Option<Box<Limits>>,
}

/// The least and the greatest number that a field can hold, as JSON.
#[derive(Debug)]
pub(crate) struct Limits {
    least: Box<str>,
    most: Box<str>,
}

impl Limits {
    /// The limits of a number, by its bounds and its type; none for what is not a number.
    fn of(scalar: Scalar, bounds: &Bounds) -> Option<Self> {
        let (least, most) = match scalar {
            Scalar::Integer => (i64::MIN.to_string(), i64::MAX.to_string()),
            Scalar::Number => (format!("{:e}", f64::MIN), format!("{:e}", f64::MAX)),
            _ => return None,
        };
        let bound = |bound: &Option<Box<str>>, own: String| bound.clone().unwrap_or_else(|| own.into());
        Some(Self { least: bound(&bounds.least, least), most: bound(&bounds.most, most) })
    }

    /// Whether no number is within the limits.
    fn is_empty(&self) -> bool {
        let [least, most] = [&self.least, &self.most].map(|text| Number::new(text));
        least.zip(most).is_some_and(|(least, most)| least.compare(most) == Ordering::Greater)
    }

    /// The limit that a number is beyond.
    fn exceeded(&self, number: Number<'_>) -> Option<&str> {
        let is = |limit: &str, order| Number::new(limit).is_some_and(|limit| number.compare(limit) == order);
        match () {
            () if is(&self.least, Ordering::Less) => Some(&self.least),
            () if is(&self.most, Ordering::Greater) => Some(&self.most),
            () => None,
        }
    }
}

#[derive(Debug)]
enum FitKind {
    Scalar(Scalar),
    /// With the keys of its items.
    List(Box<Fit>, Box<[Box<str>]>),
    Map(Box<Fit>),
    Object {
        fields: Named<Fit>,
        keeps_unknown: bool,
    },
}

impl Fit {
    /// The shape of a node.
    pub(crate) fn of(structure: &Structure, index: NodeIndex) -> Self {
        let node = structure.node(index);
        let below = || structure.element(index).map_or_else(Self::anything, |element| Self::of(structure, element));
        let kind = match node.shape {
            Shape::Scalar(scalar) => FitKind::Scalar(scalar),
            Shape::List => FitKind::List(Box::new(below()), node.keys.clone().into()),
            Shape::Map => FitKind::Map(Box::new(below())),
            Shape::Object => {
                let mut fields = Named::default();
                for child in &node.children {
                    if let Some(name) = structure.node(*child).name() {
                        fields.push(name.into(), Self::of(structure, *child));
                    }
                }
                FitKind::Object { fields, keeps_unknown: node.keeps_unknown }
            }
        };
        Self { kind, nullable: node.nullable, limits: None }
    }

    /// Clamps numbers at some depth of items and values. Whether that can be: what is there must be a number, and some
    /// number within the bounds.
    pub(crate) fn clamp(&mut self, depth: usize, bounds: &Bounds) -> Clamp {
        let mut at = self;
        for _ in 0..depth {
            match &mut at.kind {
                FitKind::List(element, _) | FitKind::Map(element) => at = element,
                _ => return Clamp::NoNumber,
            }
        }
        match Limits::of(at.scalar(), bounds) {
            None => Clamp::NoNumber,
            Some(limits) if limits.is_empty() => Clamp::Empty,
            Some(limits) => {
                at.limits = Some(Box::new(limits));
                Clamp::Done
            }
        }
    }

    /// The limit that a number is beyond.
    pub(crate) fn exceeded<'a>(&self, number: Number<'_>, arena: &'a Arena) -> Option<Value<'a>> {
        let limit = self.limits.as_deref()?.exceeded(number)?;
        Number::new(arena.text(limit)).map(Value::Number)
    }

    /// The nearest value within the limits.
    pub(crate) fn nearest<'a>(&self, value: Value<'a>, arena: &'a Arena) -> Value<'a> {
        match value {
            Value::Number(number) => self.exceeded(number, arena).unwrap_or(value),
            value => value,
        }
    }

    /// The limit that stands for numbers which are too small or too large for the type; none if numbers are not clamped.
    pub(crate) fn limit<'a>(&self, is_negative: bool, arena: &'a Arena) -> Option<Value<'a>> {
        let limits = self.limits.as_deref()?;
        let limit = if is_negative { &limits.least } else { &limits.most };
        Number::new(arena.text(limit)).map(Value::Number)
    }

    fn anything() -> Self {
        Self { kind: FitKind::Scalar(Scalar::Any), nullable: true, limits: None }
    }

    /// Null is a value of it.
    pub(crate) fn is_nullable(&self) -> bool {
        self.nullable
    }

    /// The type, of a scalar; any of what has parts.
    pub(crate) fn scalar(&self) -> Scalar {
        match &self.kind {
            FitKind::Scalar(scalar) => *scalar,
            _ => Scalar::Any,
        }
    }

    /// Every integer of 64 bits is a value of it.
    #[inline]
    pub(crate) fn takes_integers(&self) -> bool {
        use Scalar::{Any, IntOrString, Integer, Number};
        matches!(self.kind, FitKind::Scalar(Integer | Number | IntOrString | Any))
    }

    /// Every text is a value of it.
    #[inline]
    pub(crate) fn takes_texts(&self) -> bool {
        matches!(self.kind, FitKind::Scalar(Scalar::String | Scalar::IntOrString | Scalar::Any))
    }

    /// The shape of the items or values, of a list or map.
    pub(crate) fn element(&self) -> Option<&Self> {
        match &self.kind {
            FitKind::List(element, _) | FitKind::Map(element) => Some(element),
            _ => None,
        }
    }

    /// The keys by which items are told apart, of a list that declares any.
    pub(crate) fn keys(&self) -> &[Box<str>] {
        match &self.kind {
            FitKind::List(_, keys) => keys,
            _ => &[],
        }
    }

    /// Whether something has a place under its key: the field is declared or any is kept, and null is a value of it.
    pub(crate) fn says(&self, entry: &Entry<'_>) -> bool {
        self.has_place(self.under(entry.key), entry.value)
    }

    /// Whether a value has a place, by the shape under its key.
    pub(crate) fn has_place(&self, under: Option<&Self>, value: Value<'_>) -> bool {
        match under {
            Some(field) => field.nullable || !value.is_null(),
            None => !matches!(&self.kind, FitKind::Object { keeps_unknown: false, .. }),
        }
    }

    /// The shape under a key, of an object or map.
    pub(crate) fn under(&self, key: &str) -> Option<&Self> {
        self.next_under(key, &mut 0)
    }

    /// The same for one key after the other: those that come in the order of the schema are found at once.
    pub(crate) fn next_under(&self, key: &str, cursor: &mut usize) -> Option<&Self> {
        match &self.kind {
            FitKind::Map(values) => Some(values),
            FitKind::Object { fields, .. } => fields.find(key, cursor),
            _ => None,
        }
    }

    /// Says what is wrong with a value, if it is none of the field.
    pub(crate) fn check(&self, value: Value<'_>) -> Result<(), Failed> {
        if self.nullable && value.is_null() {
            return Ok(());
        }
        match (&self.kind, value) {
            (FitKind::Scalar(scalar), value) => check_scalar(*scalar, value),
            (FitKind::List(items, _), Value::Array(list)) => list.iter().try_for_each(|item| items.check(*item)),
            (FitKind::Map(values), Value::Object(entries)) => {
                entries.iter().try_for_each(|entry| values.check(entry.value).map_err(|failed| failed.under(entry.key)))
            }
            (FitKind::Object { fields, keeps_unknown }, Value::Object(entries)) => {
                let mut cursor = 0;
                entries.iter().try_for_each(|entry| match fields.find(entry.key, &mut cursor) {
                    Some(field) => field.check(entry.value).map_err(|failed| failed.under(entry.key)),
                    None if *keeps_unknown => Ok(()),
                    None => Err(Failed(format!("there is no field {}", shortened(entry.key)))),
                })
            }
            (kind, value) => Err(wrong_type(kind.name(), value)),
        }
    }
}

impl Fit {
    /// Whether there is nothing wrong with a value: what [`check`](Self::check) says, without the words.
    pub(crate) fn holds(&self, value: Value<'_>) -> bool {
        match (&self.kind, value) {
            (_, Value::Null) => self.nullable,
            (FitKind::Scalar(scalar), value) => holds_scalar(*scalar, value),
            (FitKind::List(item, _), Value::Array(items)) => items.iter().all(|value| item.holds(*value)),
            (FitKind::Map(values), Value::Object(entries)) => entries.iter().all(|entry| values.holds(entry.value)),
            (FitKind::Object { fields, keeps_unknown }, Value::Object(entries)) => {
                let mut cursor = 0;
                entries.iter().all(|entry| match fields.find(entry.key, &mut cursor) {
                    Some(field) => field.holds(entry.value),
                    None => *keeps_unknown,
                })
            }
            _ => false,
        }
    }
}

impl FitKind {
    fn name(&self) -> &'static str {
        match self {
            Self::Scalar(scalar) => scalar.name(),
            Self::List(..) => "list",
            Self::Map(_) => "map",
            Self::Object { .. } => "object",
        }
    }
}

/// An integer that the field can have: whole, and of 64 bits.
fn check_integer(number: Number<'_>) -> Result<(), Failed> {
    if number.as_i64().is_some() {
        return Ok(());
    }
    if !number.is_integral() {
        return Err(Failed(format!("{} is not a whole number", shortened(number.as_str()))));
    }
    let [least, most] = ["-9223372036854775808", "9223372036854775807"].map(Number::new);
    let is_within = |limit: Option<Number<'_>>, order| limit.is_some_and(|limit| number.compare(limit) != order);
    match is_within(least, Ordering::Less) && is_within(most, Ordering::Greater) {
        true => Ok(()),
        false => Err(Failed::out_of_range(number.as_str())),
    }
}

fn holds_scalar(scalar: Scalar, value: Value<'_>) -> bool {
    match (scalar, value) {
        (Scalar::Integer | Scalar::IntOrString, Value::Number(number)) => check_integer(number).is_ok(),
        (Scalar::String | Scalar::IntOrString, Value::String(_))
        | (Scalar::Number, Value::Number(_))
        | (Scalar::Boolean, Value::Bool(_)) => true,
        (Scalar::Any, value) => !value.is_null(),
        _ => false,
    }
}

fn check_scalar(scalar: Scalar, value: Value<'_>) -> Result<(), Failed> {
    match (scalar, value) {
        (Scalar::Integer | Scalar::IntOrString, Value::Number(number)) => check_integer(number),
        _ if holds_scalar(scalar, value) => Ok(()),
        _ => Err(wrong_type(scalar.name(), value)),
    }
}

#[cold]
pub(crate) fn wrong_type(wanted: &str, value: Value<'_>) -> Failed {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Failed(format!("wrong type: it must be of type {wanted}, not {found}"))
}

#[cfg(test)]
mod tests {
    use wheelwright_document::Arena;
    use wheelwright_schema::Root;

    use super::*;
    use crate::testing::{document, schema};

    #[test]
    fn a_value_fits_if_every_part_of_it_is_of_the_declared_type() {
        let text = "{type: object, properties: {s: {type: string}, i: {type: integer}, n: {type: number}, \
            b: {type: boolean, nullable: true}, x: {x-kubernetes-int-or-string: true}, \
            l: {type: array, items: {type: integer}}, m: {type: object, additionalProperties: {type: string}}, \
            o: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}}}";
        let structure = Structure::of(&schema(text), Root::Value);
        let fit = Fit::of(&structure, structure.root());
        let arena = Arena::new();
        for good in [
            "{}",
            r#"{"s":"","i":3,"n":1.5,"b":true,"x":"a","l":[1,2],"m":{"a":"b"},"o":{"a":"","z":[null]}}"#,
            r#"{"i":-9223372036854775808,"x":1,"b":null,"l":[],"m":{}}"#,
            r#"{"i":1e3,"n":1e400}"#,
        ] {
            assert!(fit.check(document(good, &arena)).is_ok() && fit.holds(document(good, &arena)), "{good}");
        }
        for (bad, message) in [
            (r#"{"s":1}"#, "s: wrong type: it must be of type string, not a number"),
            (r#"{"s":null}"#, "s: wrong type: it must be of type string, not null"),
            (r#"{"i":1.5}"#, "i: 1.5 is not a whole number"),
            (r#"{"i":9223372036854775808}"#, "i: out of range: 9223372036854775808"),
            (r#"{"x":1e99}"#, "x: out of range: 1e99"),
            (r#"{"l":[1,"a"]}"#, "l: wrong type: it must be of type integer, not a string"),
            (r#"{"l":{}}"#, "l: wrong type: it must be of type list, not an object"),
            (r#"{"m":{"k":1}}"#, "m: k: wrong type: it must be of type string, not a number"),
            (r#"{"m":[]}"#, "m: wrong type: it must be of type map, not a list"),
            (r#"{"o":{"a":1}}"#, "o: a: wrong type: it must be of type string, not a number"),
            (r#"{"z":1}"#, "there is no field z"),
            ("[]", "wrong type: it must be of type object, not a list"),
        ] {
            assert_eq!(fit.check(document(bad, &arena)).unwrap_err().0, message);
            assert!(!fit.holds(document(bad, &arena)), "{bad}");
        }
        let long = format!(r#"{{"{}":1}}"#, "z".repeat(1000));
        let message = fit.check(document(&long, &arena)).unwrap_err().0;
        assert_eq!(message, format!("there is no field {}…", "z".repeat(60)));
    }
}
