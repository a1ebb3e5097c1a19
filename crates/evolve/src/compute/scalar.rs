//! Conversions of one value without parts to another.

use wheelwright_document::{Arena, Number, Owned, Value};
use wheelwright_findings::shortened;
use wheelwright_text::{GoDuration, LONGEST_DURATION, Quantity};

use super::{
    Failed,
    decimal::{Decimal, integer},
    fit::{Fit, wrong_type},
};
use crate::{Direction, Scalar};

const NANOSECONDS: i64 = 1_000_000_000;
const NANOSECONDS_EXPONENT: i32 = -9;

/// A duration as Go writes it, and a number of seconds.
pub(super) fn duration<'a>(value: Value<'a>, target: &Fit, arena: &'a Arena) -> Result<Value<'a>, Failed> {
    match (value, target.scalar()) {
        (Value::String(text), scalar) if scalar != Scalar::String => {
            let duration = GoDuration::parse(text.as_str())
                .ok_or_else(|| Failed(format!("{:?} is no duration", shortened(text.as_str()))))?;
            let nanoseconds = duration.nanoseconds();
            let seconds = || Decimal::new(nanoseconds.into(), NANOSECONDS_EXPONENT);
            match scalar {
                Scalar::Integer => Ok(integer(nanoseconds / NANOSECONDS, arena)),
                _ if nanoseconds % NANOSECONDS == 0 => Ok(integer(nanoseconds / NANOSECONDS, arena)),
                Scalar::IntOrString => whole(seconds(), arena),
                _ => Ok(seconds().value(arena)),
            }
        }
        (Value::Number(number), Scalar::String | Scalar::IntOrString | Scalar::Any) => {
            let nanoseconds = match number.as_i64() {
                Some(seconds) => seconds.checked_mul(NANOSECONDS),
                None => {
                    let nanoseconds = decimal(number)?.times(Decimal::new(1, -NANOSECONDS_EXPONENT));
                    nanoseconds.map(Decimal::truncated).and_then(Decimal::whole)
                }
            };
            let nanoseconds = nanoseconds.ok_or_else(|| Failed::out_of_range(number.as_str()))?;
            let duration = GoDuration::from_nanoseconds(nanoseconds);
            Ok(Value::string(arena.text(duration.spell(&mut [0; LONGEST_DURATION]))))
        }
        (value, _) => as_is(value, target),
    }
}

/// A quantity as Kubernetes writes it, and a number. Where only integers fit, it is rounded as Kubernetes does: away
/// from zero.
pub(super) fn quantity<'a>(value: Value<'a>, target: &Fit, arena: &'a Arena) -> Result<Value<'a>, Failed> {
    match (value, target.scalar()) {
        (Value::String(text), scalar) if scalar != Scalar::String => {
            let quantity = Quantity::parse(text.as_str())
                .ok_or_else(|| Failed(format!("{:?} is no quantity", shortened(text.as_str()))))?;
            let (mantissa, exponent) = quantity.as_decimal();
            // Most are whole numbers, which need no arithmetic.
            if let (0, Ok(whole)) = (exponent, i64::try_from(mantissa)) {
                return Ok(integer(whole, arena));
            }
            if exponent > 1_000 {
                let limit = target.limit(mantissa < 0, arena);
                return limit.ok_or_else(|| Failed::out_of_range(text.as_str()));
            }
            let amount = Decimal::new(mantissa, exponent);
            let amount = if is_whole(scalar) { amount.away_from_zero() } else { amount };
            fitting(amount, target, arena)
        }
        (Value::Number(number), Scalar::String | Scalar::IntOrString | Scalar::Any) => {
            Ok(Value::string(decimal(number)?.text(arena)))
        }
        (value, _) => as_is(value, target),
    }
}

/// A number and its multiple.
#[derive(Debug)]
pub(super) struct Scale {
    factor: Decimal,
    /// The same, if it is whole and of 64 bits.
    whole_factor: Option<i64>,
}

impl Scale {
    /// A factor, unless it is zero, no number, or one of more than 18 digits.
    pub(super) fn parse(factor: &str) -> Option<Self> {
        let factor = Decimal::of(Number::new(factor)?)?;
        (!factor.is_zero() && factor.digits() <= 18).then_some(Self { factor, whole_factor: factor.whole() })
    }

    pub(super) fn convert<'a>(
        &self,
        direction: Direction,
        value: Value<'a>,
        target: &Fit,
        arena: &'a Arena,
    ) -> Result<Value<'a>, Failed> {
        let Value::Number(number) = value else { return Err(wrong_type("number", value)) };
        // Whole numbers need no decimals.
        let integers = number.as_i64().zip(self.whole_factor);
        if let Some(result) = integers.and_then(|(number, factor)| match direction {
            Direction::Up => number.checked_mul(factor),
            Direction::Down => number.checked_div(factor).filter(|quotient| quotient * factor == number),
        }) {
            return Ok(integer(result, arena));
        }
        let result = match direction {
            Direction::Up => {
                decimal(number)?.times(self.factor).ok_or_else(|| Failed::out_of_range(number.as_str()))?
            }
            Direction::Down => {
                let dividend = decimal(number)?;
                let (quotient, is_exact) = dividend.over(self.factor);
                // Beyond 18 digits, what is left of it may look like a whole number.
                if !is_exact && is_whole(target.scalar()) && quotient.whole().is_some() {
                    return Err(Failed(format!("{} is no multiple of the factor", dividend.text(arena))));
                }
                quotient
            }
        };
        fitting(result, target, arena)
    }
}

/// A text and what it spells.
pub(super) fn text<'a>(value: Value<'a>, target: &Fit, arena: &'a Arena) -> Result<Value<'a>, Failed> {
    let text = spelled(value)?;
    // What is beyond the limits may have more digits than can be computed with.
    match Number::new(text).and_then(|number| target.exceeded(number, arena)) {
        Some(limit) => Ok(limit),
        None => read(text, target.scalar(), arena),
    }
}

/// Values and what they are called on the other side.
#[derive(Debug)]
pub(super) struct Values {
    up: Named,
    down: Named,
}

/// Values by how they are written, in the order of that: there are few, and a hash costs more than to look for one.
#[derive(Debug)]
struct Named(Vec<(Box<str>, Owned)>);

impl Named {
    /// Of several that are written alike, the first.
    fn new(mut values: Vec<(Box<str>, Owned)>) -> Self {
        values.sort_by(|(one, _), (other, _)| one.cmp(other));
        values.dedup_by(|(later, _), (first, _)| later == first);
        Self(values)
    }

    fn find(&self, text: &str) -> Option<&Owned> {
        let found = self.0.binary_search_by(|(known, _)| (**known).cmp(text)).ok()?;
        Some(&self.0[found].1)
    }
}

impl Values {
    /// Pairs of old and new values, for fields of these types; or the first that is no value of its field.
    pub(super) fn new(pairs: &[(Box<str>, Box<str>)], from: Scalar, to: Scalar) -> Result<Self, Box<str>> {
        let (mut up, mut down) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
        let arena = Arena::new();
        let typed = |text: &str, scalar| read(text, scalar, &arena).map(Owned::from).map_err(|_| Box::from(text));
        for (old, new) in pairs {
            let (old_value, new_value) = (typed(old, from)?, typed(new, to)?);
            up.push((old.clone(), new_value));
            down.push((new.clone(), old_value));
        }
        Ok(Self { up: Named::new(up), down: Named::new(down) })
    }

    pub(super) fn convert<'a>(
        &'a self,
        direction: Direction,
        value: Value<'a>,
        target: &Fit,
        arena: &'a Arena,
    ) -> Result<Value<'a>, Failed> {
        let names = match direction {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        };
        let text = spelled(value)?;
        // A number is what it is worth, however it is written.
        let find = || match value {
            Value::Number(number) if !is_in_one_spelling(number) => names.find(Decimal::of(number)?.text(arena)),
            _ => None,
        };
        match names.find(text).or_else(find) {
            Some(named) => Ok(named.share(arena)),
            None => read(text, target.scalar(), arena),
        }
    }
}

/// How a scalar is written as a text.
pub(super) fn spelled(value: Value<'_>) -> Result<&str, Failed> {
    match value {
        Value::String(text) => Ok(text.as_str()),
        Value::Number(number) => Ok(number.as_str()),
        Value::Bool(true) => Ok("true"),
        Value::Bool(false) => Ok("false"),
        _ => Err(wrong_type("string, number or boolean", value)),
    }
}

/// What a text spells as a value of a type. An integer or string is an integer if it is written as one.
pub(super) fn read<'a>(text: &'a str, scalar: Scalar, arena: &'a Arena) -> Result<Value<'a>, Failed> {
    let unreadable = || Failed(format!("{:?} is no {}", shortened(text), scalar.name()));
    match scalar {
        Scalar::String | Scalar::Any => Ok(Value::string(text)),
        Scalar::Integer => match Number::new(text) {
            Some(number) if is_in_one_spelling(number) && number.as_i64().is_some() => Ok(Value::Number(number)),
            Some(number) => whole(decimal(number)?, arena),
            None => text.parse().map(|number| integer(number, arena)).map_err(|_| unreadable()),
        },
        Scalar::Number => match Number::new(text) {
            Some(number) => match Decimal::of(number).filter(|_| !is_in_one_spelling(number)) {
                Some(decimal) => real(decimal, arena),
                None => check_range(number.as_str()).map(|()| Value::Number(number)),
            },
            None => text.parse().map(|number| integer(number, arena)).map_err(|_| unreadable()),
        },
        Scalar::Boolean => match text {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(unreadable()),
        },
        Scalar::IntOrString => match Number::new(text) {
            Some(number) if number.as_i64().is_some() => Ok(Value::Number(number)),
            _ => Ok(Value::string(text)),
        },
    }
}

/// Servers and clients do not turn the number to another spelling: what is spelled otherwise is kept because of that.
fn is_in_one_spelling(number: Number<'_>) -> bool {
    !number.as_str().contains(['.', 'e', 'E']) && number.as_str() != "-0"
}

/// A value that is spelled alike on both sides.
fn as_is<'a>(value: Value<'a>, target: &Fit) -> Result<Value<'a>, Failed> {
    target.check(value).map(|()| value)
}

/// Whether a number of a type must be whole.
fn is_whole(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::Integer | Scalar::IntOrString)
}

/// A number as the field can hold it; where numbers are clamped, those beyond its type are the nearest that it can.
fn fitting<'a>(number: Decimal, target: &Fit, arena: &'a Arena) -> Result<Value<'a>, Failed> {
    let result = if is_whole(target.scalar()) { whole(number, arena) } else { real(number, arena) };
    let is_out_of_range = || target.scalar() != Scalar::Integer || number.truncated() == number;
    match result {
        Err(failed) if is_out_of_range() => target.limit(number.is_negative(), arena).ok_or(failed),
        result => result,
    }
}

fn whole(number: Decimal, arena: &Arena) -> Result<Value<'_>, Failed> {
    match number.whole() {
        Some(whole) => Ok(integer(whole, arena)),
        None if number.truncated() == number => Err(Failed::out_of_range(number.text(arena))),
        None => Err(Failed(format!("{} is not a whole number", number.text(arena)))),
    }
}

fn real(number: Decimal, arena: &Arena) -> Result<Value<'_>, Failed> {
    check_range(number.text(arena)).map(|()| number.value(arena))
}

/// Nobody can read what is beyond the range of floating-point numbers.
fn check_range(number: &str) -> Result<(), Failed> {
    match number.parse::<f64>() {
        Ok(real) if real.is_finite() => Ok(()),
        _ => Err(Failed::out_of_range(number)),
    }
}

fn decimal(number: Number<'_>) -> Result<Decimal, Failed> {
    Decimal::of(number).ok_or_else(|| Failed::out_of_range(number.as_str()))
}
