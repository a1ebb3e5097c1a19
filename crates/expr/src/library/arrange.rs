//! Lists made from lists: parts of them, in other orders, and without what is there twice.

use std::{cmp::Ordering, collections::HashSet};

use super::{
    Answer, Cost, Kind, LIST, Overload,
    compare::{compare, equal_inside, map_key},
    global, member,
    strings::int,
};
use crate::{
    Failure,
    evaluate::{Evaluator, valid},
    value::Val,
};

/// The functions take what they cost from the budget themselves, before they make anything large.
const PAID: Cost = Cost::Fixed(0);

/// What Kubernetes asks for a call that makes a list, whatever is in it.
const NEW_LIST: u64 = 11;

macro_rules! sort_of {
    ($($item:ident),*) => {
        pub(super) const SORT: &[Overload] = &[
            $(member("sort", &[Kind::List(&Kind::$item)], Kind::List(&Kind::$item), PAID, sort)),*
        ];
    };
}

sort_of!(Int, Uint, Double, Bool, Duration, Timestamp, String, Bytes);

pub(super) const OVERLOADS: &[Overload] = &[
    member("slice", &[LIST, Kind::Int, Kind::Int], LIST, PAID, slice),
    member("flatten", &[Kind::List(&LIST)], LIST, PAID, flatten),
    member("flatten", &[Kind::List(&Kind::Dyn), Kind::Int], Kind::List(&Kind::Dyn), PAID, flatten),
    member("distinct", &[LIST], LIST, PAID, distinct),
    member("reverse", &[LIST], LIST, PAID, reverse),
    global("lists.range", &[Kind::Int], Kind::List(&Kind::Int), PAID, range),
];

fn length(list: Val<'_>) -> usize {
    list.cost_size() as usize
}

fn slice<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let (list, from, to) = (arguments[0], int(arguments, 1)?, int(arguments, 2)?);
    let (Ok(start), Ok(end)) = (usize::try_from(from), usize::try_from(to)) else {
        return Err(Failure::other(format!("cannot slice from {from} to {to}: negative positions are not supported")));
    };
    if start > end || end > length(list) {
        return Err(Failure::other(format!("cannot slice from {from} to {to}: the list has {} items", length(list))));
    }
    evaluator.charge(NEW_LIST + (end - start) as u64)?;
    let items: Vec<_> = (start..end).map(|at| valid(evaluator.item(list, at))).collect::<Result<_, _>>()?;
    Ok(Val::List(evaluator.arena.slice(&items)))
}

fn flatten<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let depth = if arguments.len() > 1 { int(arguments, 1)? } else { 1 };
    if depth < 0 {
        return Err(Failure::other("the level to flatten to must not be negative"));
    }
    evaluator.charge(NEW_LIST)?;
    let mut items = Vec::new();
    flatten_into(evaluator, arguments[0], depth, &mut items)?;
    Ok(Val::List(evaluator.arena.slice(&items)))
}

fn flatten_into<'a>(
    evaluator: &mut Evaluator<'a>,
    list: Val<'a>,
    depth: i64,
    items: &mut Vec<Val<'a>>,
) -> Result<(), Failure> {
    evaluator.charge(list.cost_size())?;
    for at in 0..length(list) {
        match valid(evaluator.item(list, at))? {
            inner @ (Val::Items(..) | Val::List(_)) if depth > 0 => flatten_into(evaluator, inner, depth - 1, items)?,
            item => items.push(item),
        }
    }
    Ok(())
}

fn distinct<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    charge_for_comparing(evaluator, length(arguments[0]))?;
    let mut scalars = HashSet::new();
    let mut others: Vec<Val<'a>> = Vec::new();
    let mut found: Vec<Val<'a>> = Vec::new();
    for at in 0..length(arguments[0]) {
        let item = valid(evaluator.item(arguments[0], at))?;
        evaluator.scanned_text(item)?;
        let is_new = match map_key(item) {
            Some(key) => scalars.insert(key),
            None => {
                let is_new = !has(evaluator, &others, item)?;
                others.push(item);
                is_new
            }
        };
        if is_new {
            found.push(item);
        }
    }
    Ok(Val::List(evaluator.arena.slice(&found)))
}

fn has<'a>(evaluator: &mut Evaluator<'a>, items: &[Val<'a>], wanted: Val<'a>) -> Result<bool, Failure> {
    for item in items {
        if equal_inside(evaluator, *item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn reverse<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    evaluator.charge(NEW_LIST + arguments[0].cost_size())?;
    let positions = (0..length(arguments[0])).rev();
    let items: Vec<_> = positions.map(|at| valid(evaluator.item(arguments[0], at))).collect::<Result<_, _>>()?;
    Ok(Val::List(evaluator.arena.slice(&items)))
}

fn range<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let count = int(arguments, 0)?;
    let Ok(size) = u64::try_from(count) else {
        return Err(Failure::other(format!("a list cannot have {count} items")));
    };
    evaluator.charge(size.saturating_add(NEW_LIST))?;
    let items: Vec<_> = (0..count).map(Val::Int).collect();
    Ok(Val::List(evaluator.arena.slice(&items)))
}

fn sort<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let items = (0..length(arguments[0])).map(|at| valid(evaluator.item(arguments[0], at)));
    let items: Vec<_> = items.collect::<Result<_, _>>()?;
    sort_by(evaluator, items.iter().map(|item| (*item, *item)).collect())
}

/// Items in the order of their keys, which must be of one type that has an order.
pub(crate) fn sort_by<'a>(evaluator: &mut Evaluator<'a>, mut items: Vec<(Val<'a>, Val<'a>)>) -> Answer<'a> {
    charge_for_comparing(evaluator, items.len())?;
    for (key, _) in &items {
        evaluator.scanned_text(*key)?;
    }
    if let Some((first, _)) = items.first().copied() {
        compare(first, first).map_err(|_| Failure::other("only items that have an order can be sorted"))?;
        if items.iter().any(|(key, _)| key.type_name() != first.type_name()) {
            return Err(Failure::other("only items of one type can be sorted"));
        }
    }
    items.sort_by(|(a, _), (b, _)| order(*a, *b));
    let items: Vec<_> = items.into_iter().map(|(_, item)| item).collect();
    Ok(Val::List(evaluator.arena.slice(&items)))
}

/// Not-a-number comes last, so that there is an order whatever is sorted.
fn order(a: Val<'_>, b: Val<'_>) -> Ordering {
    let is_number = |value: Val<'_>| !matches!(value, Val::Double(number) if number.is_nan());
    compare(a, b).ok().flatten().unwrap_or_else(|| is_number(b).cmp(&is_number(a)))
}

/// What Kubernetes asks for comparing all items with each other.
fn charge_for_comparing(evaluator: &mut Evaluator<'_>, length: usize) -> Result<(), Failure> {
    let length = length as u64;
    evaluator.charge(length.saturating_mul(length).saturating_mul(2).saturating_add(NEW_LIST))
}
