//! Lists: Kubernetes' functions on them, and what adding one to another does.

use std::collections::HashMap;

use wheelwright_document::{Number, Value};

use super::{
    Answer, Cost, Kind, LIST, Overload,
    compare::{SetKey, compare, equal_inside, key_of, set_keys},
    math, member,
};
use crate::{
    Failure,
    evaluate::{Evaluator, valid},
    shape::{Identity, ShapeId, ShapeKind},
    value::Val,
};

macro_rules! of_comparable {
    ($name:literal, $result:expr, $run:ident) => {
        &[
            member($name, &[Kind::List(&Kind::Int)], $result(Kind::Int), Cost::Items, $run),
            member($name, &[Kind::List(&Kind::Uint)], $result(Kind::Uint), Cost::Items, $run),
            member($name, &[Kind::List(&Kind::Double)], $result(Kind::Double), Cost::Items, $run),
            member($name, &[Kind::List(&Kind::Bool)], $result(Kind::Bool), Cost::Items, $run),
            member($name, &[Kind::List(&Kind::Duration)], $result(Kind::Duration), Cost::Items, $run),
            member($name, &[Kind::List(&Kind::Timestamp)], $result(Kind::Timestamp), Cost::Items, $run),
            member($name, &[Kind::List(&Kind::String)], $result(Kind::String), Cost::Items, $run),
            member($name, &[Kind::List(&Kind::Bytes)], $result(Kind::Bytes), Cost::Items, $run),
        ]
    };
}

const fn bool_of(_: Kind) -> Kind {
    Kind::Bool
}

const fn itself(kind: Kind) -> Kind {
    kind
}

pub(super) const IS_SORTED: &[Overload] = of_comparable!("isSorted", bool_of, is_sorted);
pub(super) const MIN: &[Overload] = of_comparable!("min", itself, min);
pub(super) const MAX: &[Overload] = of_comparable!("max", itself, max);

pub(super) const OVERLOADS: &[Overload] = &[
    member("sum", &[Kind::List(&Kind::Int)], Kind::Int, Cost::Items, |evaluator, arguments| {
        sum(evaluator, arguments, Val::Int(0))
    }),
    member("sum", &[Kind::List(&Kind::Uint)], Kind::Uint, Cost::Items, |evaluator, arguments| {
        sum(evaluator, arguments, Val::Uint(0))
    }),
    member("sum", &[Kind::List(&Kind::Double)], Kind::Double, Cost::Items, |evaluator, arguments| {
        sum(evaluator, arguments, Val::Double(0.0))
    }),
    member("sum", &[Kind::List(&Kind::Duration)], Kind::Duration, Cost::Items, |evaluator, arguments| {
        sum(evaluator, arguments, Val::Duration(wheelwright_text::GoDuration::from_nanoseconds(0)))
    }),
    member("indexOf", &[LIST, Kind::A], Kind::Int, Cost::Items, |evaluator, arguments| {
        let length = arguments[0].cost_size() as usize;
        position(evaluator, arguments, 0..length)
    }),
    member("lastIndexOf", &[LIST, Kind::A], Kind::Int, Cost::Items, |evaluator, arguments| {
        let length = arguments[0].cost_size() as usize;
        position(evaluator, arguments, (0..length).rev())
    }),
];

fn items<'a>(evaluator: &Evaluator<'a>, list: Val<'a>) -> impl Iterator<Item = Answer<'a>> {
    (0..list.cost_size() as usize).map(move |at| valid(evaluator.item(list, at)))
}

fn is_sorted<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let mut last: Option<Val<'a>> = None;
    for item in items(evaluator, arguments[0]) {
        let item = item?;
        if let Some(last) = last
            && compare(last, item)?.is_none_or(|order| order.is_gt())
        {
            return Ok(Val::Bool(false));
        }
        last = Some(item);
    }
    Ok(Val::Bool(true))
}

fn sum<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>], zero: Val<'a>) -> Answer<'a> {
    // The type of a dynamic list is that of its items; the zero counts for an empty one.
    let mut sum = match arguments[0].cost_size() {
        0 => return Ok(zero),
        _ => valid(evaluator.item(arguments[0], 0))?,
    };
    for at in 1..arguments[0].cost_size() as usize {
        let item = valid(evaluator.item(arguments[0], at))?;
        sum = math::add(evaluator, &[sum, item])?;
    }
    Ok(sum)
}

fn min<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    extreme(evaluator, arguments[0], "min", std::cmp::Ordering::Less)
}

fn max<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    extreme(evaluator, arguments[0], "max", std::cmp::Ordering::Greater)
}

fn extreme<'a>(evaluator: &Evaluator<'a>, list: Val<'a>, name: &str, wanted: std::cmp::Ordering) -> Answer<'a> {
    let mut found: Option<Val<'a>> = None;
    for item in items(evaluator, list) {
        let item = item?;
        if found.is_none() || compare(item, found.unwrap_or(item))? == Some(wanted) {
            found = Some(item);
        }
    }
    found.ok_or_else(|| Failure::other(format!("{name} called on an empty list")))
}

fn position<'a>(
    evaluator: &mut Evaluator<'a>,
    arguments: &[Val<'a>],
    positions: impl Iterator<Item = usize>,
) -> Answer<'a> {
    for at in positions {
        let item = evaluator.item(arguments[0], at);
        if equal_inside(evaluator, item, arguments[1])? {
            return Ok(Val::Int(at as i64));
        }
    }
    Ok(Val::Int(-1))
}

/// One list after another; sets and lists with keys are merged.
pub(super) fn concatenate<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let (a, b) = (arguments[0], arguments[1]);
    evaluator.made((a.cost_size() + b.cost_size()) as usize)?;
    if let (Val::Items(ours, id), ShapeKind::List { identity, .. }) = (a, shape_kind(evaluator, a)) {
        match identity {
            Identity::Position => {}
            Identity::Value => return union(evaluator, ours, id, b),
            Identity::Keys(keys) => return merge(evaluator, ours, id, b, keys),
        }
    }
    let all: Vec<_> = items(evaluator, a).chain(items(evaluator, b)).collect::<Result<_, _>>()?;
    Ok(Val::List(evaluator.arena.slice(&all)))
}

fn shape_kind<'a>(evaluator: &Evaluator<'a>, list: Val<'a>) -> &'a ShapeKind {
    match list {
        Val::Items(_, id) => &evaluator.shapes.get(id).kind,
        _ => &ShapeKind::Any,
    }
}

/// The items of one set, then those of the other that are new: a set, too.
fn union<'a>(evaluator: &mut Evaluator<'a>, ours: &'a [Value<'a>], id: ShapeId, theirs: Val<'a>) -> Answer<'a> {
    let mut known = set_keys(evaluator, ours)?;
    let mut all = ours.to_vec();
    for at in 0..theirs.cost_size() as usize {
        let item = valid(evaluator.item(theirs, at))?;
        evaluator.scanned_text(item)?;
        if SetKey::of(item).is_none_or(|key| known.insert(key)) {
            all.push(written(evaluator, item)?);
        }
    }
    Ok(Val::Items(evaluator.arena.slice(&all), id))
}

/// A scalar as a document has it.
fn written<'a>(evaluator: &Evaluator<'a>, item: Val<'a>) -> Result<Value<'a>, Failure> {
    let number = |text: String| Number::new(evaluator.arena.text(&text)).map(Value::Number);
    let value = match item {
        Val::Null => Some(Value::Null),
        Val::Bool(value) => Some(Value::Bool(value)),
        Val::String(text) => Some(Value::string(text)),
        Val::Int(value) => number(value.to_string()),
        Val::Double(value) => number(format!("{value:?}")),
        _ => None,
    };
    value.ok_or_else(|| Failure::other(format!("a {} cannot be added to a set", item.type_name())))
}

/// The items of one list, replaced by those of the other with the same key, then the others: a list with keys, too.
fn merge<'a>(
    evaluator: &mut Evaluator<'a>,
    ours: &'a [Value<'a>],
    id: ShapeId,
    theirs: Val<'a>,
    keys: &[Box<str>],
) -> Answer<'a> {
    let mut all = ours.to_vec();
    let mut places = HashMap::with_capacity(ours.len());
    for (at, item) in ours.iter().enumerate() {
        places.insert(key_of(evaluator, item, keys)?, at);
    }
    for at in 0..theirs.cost_size() as usize {
        let item = match valid(evaluator.item(theirs, at))? {
            Val::Fields(entries, _) => Value::Object(entries),
            item => return Err(Failure::other(format!("a {} cannot be added to a list of objects", item.type_name()))),
        };
        match places.get(&key_of(evaluator, &item, keys)?) {
            Some(at) => all[*at] = item,
            None => all.push(item),
        }
    }
    Ok(Val::Items(evaluator.arena.slice(&all), id))
}
