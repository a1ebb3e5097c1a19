//! Equality, order and membership.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

use wheelwright_document::{Entry, Value};
use wheelwright_text::{SemanticVersion, Url};

use super::{Answer, Cost, Kind, LIST, MAP, Overload, global};
use crate::{
    Failure,
    evaluate::{Evaluator, valid},
    shape::{Identity, ShapeId, ShapeKind},
    value::Val,
};

/// A key of a map: numbers are the same if their values are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum MapKey<'a> {
    Bool(bool),
    Number(i128),
    Text(&'a str),
}

/// The key that a value can be.
#[inline]
pub(crate) fn map_key(value: Val<'_>) -> Option<MapKey<'_>> {
    match value {
        Val::String(text) => Some(MapKey::Text(text)),
        Val::Bool(value) => Some(MapKey::Bool(value)),
        Val::Int(value) => Some(MapKey::Number(value.into())),
        Val::Uint(value) => Some(MapKey::Number(value.into())),
        Val::Double(value) if value.fract() == 0.0 && value.abs() < 1e19 => Some(MapKey::Number(value as i128)),
        _ => None,
    }
}

macro_rules! ordered {
    ($name:literal, $run:ident) => {
        &[
            global($name, &[Kind::Bool, Kind::Bool], Kind::Bool, Cost::Fixed(1), $run),
            global($name, &[Kind::Int, Kind::Int], Kind::Bool, Cost::Fixed(1), $run),
            global($name, &[Kind::Int, Kind::Double], Kind::Bool, Cost::Fixed(1), $run),
            global($name, &[Kind::Int, Kind::Uint], Kind::Bool, Cost::Fixed(1), $run),
            global($name, &[Kind::Uint, Kind::Uint], Kind::Bool, Cost::Fixed(1), $run),
            global($name, &[Kind::Uint, Kind::Double], Kind::Bool, Cost::Fixed(1), $run),
            global($name, &[Kind::Uint, Kind::Int], Kind::Bool, Cost::Fixed(1), $run),
            global($name, &[Kind::Double, Kind::Double], Kind::Bool, Cost::Fixed(1), $run),
            global($name, &[Kind::Double, Kind::Int], Kind::Bool, Cost::Fixed(1), $run),
            global($name, &[Kind::Double, Kind::Uint], Kind::Bool, Cost::Fixed(1), $run),
            global($name, &[Kind::String, Kind::String], Kind::Bool, Cost::Comparison, $run),
            global($name, &[Kind::Bytes, Kind::Bytes], Kind::Bool, Cost::Comparison, $run),
            global($name, &[Kind::Timestamp, Kind::Timestamp], Kind::Bool, Cost::Fixed(1), $run),
            global($name, &[Kind::Duration, Kind::Duration], Kind::Bool, Cost::Fixed(1), $run),
        ]
    };
}

pub(super) const LESS: &[Overload] = ordered!("<", less);
pub(super) const LESS_OR_EQUAL: &[Overload] = ordered!("<=", less_or_equal);
pub(super) const GREATER: &[Overload] = ordered!(">", greater);
pub(super) const GREATER_OR_EQUAL: &[Overload] = ordered!(">=", greater_or_equal);

pub(super) const EQUALITY: &[Overload] = &[
    global("==", &[Kind::A, Kind::A], Kind::Bool, Cost::Comparison, |evaluator, arguments| {
        Ok(Val::Bool(equal(evaluator, arguments[0], arguments[1])?))
    }),
    global("!=", &[Kind::A, Kind::A], Kind::Bool, Cost::Comparison, |evaluator, arguments| {
        Ok(Val::Bool(!equal(evaluator, arguments[0], arguments[1])?))
    }),
    global("in", &[Kind::A, LIST], Kind::Bool, Cost::Membership, |evaluator, arguments| {
        Ok(Val::Bool(contains(evaluator, arguments[1], arguments[0])?))
    }),
    global("in", &[Kind::A, MAP], Kind::Bool, Cost::Fixed(1), |evaluator, arguments| match map_key(arguments[0]) {
        Some(_) => Ok(Val::Bool(evaluator.index(arguments[1], arguments[0])?.map(valid).transpose()?.is_some())),
        None => Err(Failure::no_such_overload("in")),
    }),
];

/// The order of two values of one type, or of two numbers; none for what has no order, as not-a-number.
pub(crate) fn compare(a: Val<'_>, b: Val<'_>) -> Result<Option<Ordering>, Failure> {
    let order = match (a, b) {
        (Val::Int(a), Val::Int(b)) => a.cmp(&b),
        (Val::String(a), Val::String(b)) => a.cmp(b),
        (Val::Bool(a), Val::Bool(b)) => a.cmp(&b),
        (Val::Bytes(a), Val::Bytes(b)) => a.cmp(b),
        (Val::Timestamp(a), Val::Timestamp(b)) => a.cmp(&b),
        (Val::Duration(a), Val::Duration(b)) => a.cmp(&b),
        _ => return compare_numbers(a, b).ok_or_else(|| Failure::no_such_overload("_<_")),
    };
    Ok(Some(order))
}

/// The order of two numbers of any types by their values; the inner option is empty if one is not a number.
fn compare_numbers(a: Val<'_>, b: Val<'_>) -> Option<Option<Ordering>> {
    Some(match (a, b) {
        (Val::Double(a), Val::Double(b)) => a.partial_cmp(&b),
        (Val::Double(a), b) => compare_double(a, integer(b)?),
        (a, Val::Double(b)) => compare_double(b, integer(a)?).map(Ordering::reverse),
        (a, b) => Some(integer(a)?.cmp(&integer(b)?)),
    })
}

fn integer(value: Val<'_>) -> Option<i128> {
    match value {
        Val::Int(value) => Some(value.into()),
        Val::Uint(value) => Some(value.into()),
        _ => None,
    }
}

/// A double against an integer, exactly: integers beyond 53 bits are not rounded.
fn compare_double(double: f64, integer: i128) -> Option<Ordering> {
    if !double.is_finite() {
        return double.partial_cmp(&0.0);
    }
    // Saturates far outside what a 64-bit integer can be.
    let whole = double.trunc() as i128;
    Some(whole.cmp(&integer).then(double.fract().partial_cmp(&0.0)?))
}

fn less<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(Val::Bool(compare(arguments[0], arguments[1])?.is_some_and(Ordering::is_lt)))
}

fn less_or_equal<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(Val::Bool(compare(arguments[0], arguments[1])?.is_some_and(Ordering::is_le)))
}

fn greater<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(Val::Bool(compare(arguments[0], arguments[1])?.is_some_and(Ordering::is_gt)))
}

fn greater_or_equal<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(Val::Bool(compare(arguments[0], arguments[1])?.is_some_and(Ordering::is_ge)))
}

/// Whether a list has an item.
pub(crate) fn contains<'a>(evaluator: &mut Evaluator<'a>, list: Val<'a>, wanted: Val<'a>) -> Result<bool, Failure> {
    let mut failure = None;
    for at in 0..list.cost_size() as usize {
        let item = evaluator.item(list, at);
        match valid(item).and_then(|item| equal_inside(evaluator, item, wanted)) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(error) if error.is_final() => return Err(error),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or(Ok(false), Err)
}

/// Whether two values inside others are equal; pays for texts and bytes, which no call has paid for.
pub(crate) fn equal_inside<'a>(evaluator: &mut Evaluator<'a>, a: Val<'a>, b: Val<'a>) -> Result<bool, Failure> {
    match (a, b) {
        (Val::String(a), Val::String(b)) if a.len() == b.len() => evaluator.work(a.len() as u64 / 10)?,
        (Val::Bytes(a), Val::Bytes(b)) if a.len() == b.len() => evaluator.work(a.len() as u64 / 10)?,
        _ => {}
    }
    equal(evaluator, a, b)
}

/// Whether two values are equal; values of different types are not, but numbers are compared by value.
#[inline]
pub(crate) fn equal<'a>(evaluator: &mut Evaluator<'a>, a: Val<'a>, b: Val<'a>) -> Result<bool, Failure> {
    Ok(match (a, b) {
        (Val::String(a), Val::String(b)) => a == b,
        (Val::Int(a), Val::Int(b)) => a == b,
        (Val::Bool(a), Val::Bool(b)) => a == b,
        _ => return equal_others(evaluator, a, b),
    })
}

#[inline(never)]
fn equal_others<'a>(evaluator: &mut Evaluator<'a>, a: Val<'a>, b: Val<'a>) -> Result<bool, Failure> {
    Ok(match (a, b) {
        (Val::Null, Val::Null) => true,
        (Val::Int(_) | Val::Uint(_) | Val::Double(_), Val::Int(_) | Val::Uint(_) | Val::Double(_)) => {
            compare_numbers(a, b).flatten() == Some(Ordering::Equal)
        }
        (Val::Bytes(a), Val::Bytes(b)) => a == b,
        (Val::Timestamp(a), Val::Timestamp(b)) => a == b,
        (Val::Duration(a), Val::Duration(b)) => a == b,
        (Val::Type(a), Val::Type(b)) => a == b,
        (Val::Url(a), Val::Url(b)) => {
            // Reading a URL takes long, but those of usual length cost what they do in Kubernetes.
            const USUAL: u64 = 1_000;
            let length = (a.len() + b.len()) as u64;
            evaluator.work(length / 10 + length.saturating_sub(USUAL) / 2)?;
            Url::parse(a) == Url::parse(b)
        }
        (Val::Ip(a), Val::Ip(b)) => a == b,
        (Val::Cidr(a), Val::Cidr(b)) => a == b,
        (Val::Quantity(a), Val::Quantity(b)) => a == b,
        (Val::Semver(a), Val::Semver(b)) => compare_versions(evaluator, a, b)?.is_eq(),
        (Val::Format(a), Val::Format(b)) => a == b,
        (Val::Optional(a), Val::Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => equal_inside(evaluator, *a, *b)?,
            (a, b) => a.is_none() && b.is_none(),
        },
        (Val::Items(..) | Val::List(_), Val::Items(..) | Val::List(_)) => equal_lists(evaluator, a, b)?,
        (Val::Fields(..) | Val::Map(_), Val::Fields(..) | Val::Map(_)) => equal_maps(evaluator, a, b)?,
        (Val::Opaque(a), Val::Opaque(b)) => {
            evaluator.work(nodes(a))?;
            a.equivalent(*b)
        }
        (Val::Invalid(_), _) | (_, Val::Invalid(_)) => {
            valid(a)?;
            valid(b)?;
            false
        }
        _ => false,
    })
}

/// The order of two versions, which are compared letter by letter.
pub(super) fn compare_versions<'a>(
    evaluator: &mut Evaluator<'a>,
    a: &SemanticVersion<'a>,
    b: &SemanticVersion<'a>,
) -> Result<Ordering, Failure> {
    evaluator.scanned(a.prerelease().len().min(b.prerelease().len()))?;
    Ok(a.cmp(b))
}

/// How many values a value has, itself included.
fn nodes(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => 1 + text.as_str().len() as u64 / 10,
        Value::Array(items) => 1 + items.iter().map(nodes).sum::<u64>(),
        Value::Object(entries) => 1 + entries.iter().map(|entry| nodes(&entry.value)).sum::<u64>(),
        _ => 1,
    }
}

fn equal_lists<'a>(evaluator: &mut Evaluator<'a>, a: Val<'a>, b: Val<'a>) -> Result<bool, Failure> {
    let length = a.cost_size();
    if length != b.cost_size() {
        return Ok(false);
    }
    // The call pays for the list itself; what is inside is paid for here, so that no rule compares for free.
    evaluator.work(length)?;
    if let Val::Items(items, id) = a
        && let ShapeKind::List { identity, .. } = &evaluator.shapes.get(id).kind
    {
        match identity {
            Identity::Position => {}
            Identity::Value => return equal_sets(evaluator, items, b),
            Identity::Keys(keys) => return equal_keyed(evaluator, items, id, b, keys),
        }
    }
    for at in 0..length as usize {
        let (a, b) = (evaluator.item(a, at), evaluator.item(b, at));
        if !equal_inside(evaluator, a, b)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Sets hold scalars; their order does not count.
fn equal_sets<'a>(evaluator: &mut Evaluator<'a>, ours: &'a [Value<'a>], theirs: Val<'a>) -> Result<bool, Failure> {
    let known = set_keys(evaluator, ours)?;
    for at in 0..ours.len() {
        let item = evaluator.item(theirs, at);
        evaluator.scanned_text(item)?;
        if SetKey::of(item).is_none_or(|key| !known.contains(&key)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What tells the items of a set apart. Kubernetes compares what an expression sees with what is written, so a number
/// without a point in a set of numbers is not in it, nor is a date or a duration.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum SetKey<'a> {
    Bool(bool),
    Int(i64),
    Double(u64),
    Text(&'a str),
}

impl<'a> SetKey<'a> {
    pub(super) fn of(value: Val<'a>) -> Option<Self> {
        match value {
            Val::Bool(value) => Some(Self::Bool(value)),
            Val::Int(value) => Some(Self::Int(value)),
            // Adding zero makes one of the two zeros.
            Val::Double(value) => Some(Self::Double((value + 0.0).to_bits())),
            Val::String(text) => Some(Self::Text(text)),
            _ => None,
        }
    }
}

/// The items of a set of a document.
pub(super) fn set_keys<'a>(
    evaluator: &mut Evaluator<'a>,
    items: &'a [Value<'a>],
) -> Result<HashSet<SetKey<'a>>, Failure> {
    let mut key = |item: &'a Value<'a>| match item {
        Value::Null => Ok(None),
        Value::Bool(value) => Ok(Some(SetKey::Bool(*value))),
        Value::Number(number) => Ok(SetKey::of(number.as_i64().map_or(Val::Double(number.as_f64()), Val::Int))),
        Value::String(text) => {
            evaluator.scanned(text.as_str().len())?;
            Ok(Some(SetKey::Text(text.as_str())))
        }
        Value::Array(_) | Value::Object(_) => Err(Failure::other("sets of lists and of objects cannot be compared")),
    };
    items.iter().filter_map(|item| key(item).transpose()).collect()
}

/// Lists with keys are equal if each item equals the one with the same key.
fn equal_keyed<'a>(
    evaluator: &mut Evaluator<'a>,
    items: &'a [Value<'a>],
    id: ShapeId,
    other: Val<'a>,
    keys: &[Box<str>],
) -> Result<bool, Failure> {
    let item_shape = evaluator.item_shape(id);
    let mut by_key: HashMap<Vec<u8>, &'a Value<'a>> = HashMap::with_capacity(items.len());
    for item in items {
        by_key.insert(key_of(evaluator, item, keys)?, item);
    }
    for at in 0..items.len() {
        let theirs = evaluator.item(other, at);
        let Val::Fields(entries, _) = theirs else { return Ok(false) };
        let Some(ours) = by_key.get(&key_of(evaluator, &Value::Object(entries), keys)?) else { return Ok(false) };
        let ours = evaluator.read(ours, item_shape);
        if !equal_inside(evaluator, ours, theirs)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The values of the key fields of an item, as one text.
pub(crate) fn key_of(evaluator: &mut Evaluator<'_>, item: &Value<'_>, keys: &[Box<str>]) -> Result<Vec<u8>, Failure> {
    let mut key = Vec::new();
    for name in keys {
        wheelwright_document::encode_into(item.get(name).unwrap_or(Value::Null), &mut key);
        key.push(b',');
        evaluator.scanned(key.len())?;
    }
    Ok(key)
}

fn equal_maps<'a>(evaluator: &mut Evaluator<'a>, a: Val<'a>, b: Val<'a>) -> Result<bool, Failure> {
    if a.cost_size() != b.cost_size() {
        return Ok(false);
    }
    evaluator.work(a.cost_size())?;
    match a {
        Val::Map(entries) => {
            for (key, value) in entries {
                match evaluator.index(b, *key)? {
                    Some(other) if equal_inside(evaluator, *value, other)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        Val::Fields(entries, id) => equal_fields(evaluator, entries, id, b),
        _ => Ok(false),
    }
}

fn equal_fields<'a>(
    evaluator: &mut Evaluator<'a>,
    entries: &'a [Entry<'a>],
    id: ShapeId,
    other: Val<'a>,
) -> Result<bool, Failure> {
    let shapes = evaluator.shapes;
    for entry in entries {
        evaluator.scanned(entry.key.len())?;
        let shape = match &shapes.get(id).kind {
            ShapeKind::Object(object) => object.declared(entry.key),
            ShapeKind::Map { values } => Some(*values),
            _ => Some(id),
        };
        let same = match (shape, other) {
            (Some(shape), _) => match evaluator.declared(other, entry.key) {
                Some(theirs) => {
                    let ours = evaluator.read(&entry.value, shape);
                    equal_inside(evaluator, ours, theirs)?
                }
                None => false,
            },
            // Fields that no schema describes are compared as they are, if both have them.
            (None, Val::Fields(theirs, _)) => {
                evaluator.work(nodes(&entry.value))?;
                evaluator.entry(theirs, entry.key).is_none_or(|their| entry.value.equivalent(their.value))
            }
            (None, _) => false,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}
