//! Values that may be absent.

use super::{Cost, Kind, LIST, Overload, global, member};
use crate::{
    Failure,
    evaluate::{Evaluator, valid},
    value::Val,
};

const ONE: Cost = Cost::Fixed(1);
const OPTIONAL: Kind = Kind::Optional(&Kind::A);

pub(super) const OVERLOADS: &[Overload] = &[
    global("optional.of", &[Kind::A], OPTIONAL, ONE, |evaluator, arguments| Ok(evaluator.some(arguments[0]))),
    global("optional.none", &[], OPTIONAL, ONE, |_, _| Ok(Val::Optional(None))),
    global("optional.ofNonZeroValue", &[Kind::A], OPTIONAL, ONE, |evaluator, arguments| {
        Ok(if is_zero(arguments[0]) { Val::Optional(None) } else { evaluator.some(arguments[0]) })
    }),
    member("hasValue", &[OPTIONAL], Kind::Bool, ONE, |_, arguments| Ok(Val::Bool(inner(arguments[0])?.is_some()))),
    member("value", &[OPTIONAL], Kind::A, ONE, |_, arguments| match inner(arguments[0])? {
        Some(value) => Ok(value),
        None => Err(Failure::other("optional.none() dereference")),
    }),
    member("or", &[OPTIONAL, OPTIONAL], OPTIONAL, ONE, |_, arguments| {
        Ok(if inner(arguments[0])?.is_some() { arguments[0] } else { arguments[1] })
    }),
    member("orValue", &[OPTIONAL, Kind::A], Kind::A, ONE, |_, arguments| {
        Ok(inner(arguments[0])?.unwrap_or(arguments[1]))
    }),
    global("optional.unwrap", &[Kind::List(&OPTIONAL)], LIST, Cost::Fixed(1), |evaluator, arguments| {
        unwrap(evaluator, arguments[0])
    }),
    member("unwrapOpt", &[Kind::List(&OPTIONAL)], LIST, Cost::Fixed(1), |evaluator, arguments| {
        unwrap(evaluator, arguments[0])
    }),
    member("first", &[LIST], OPTIONAL, ONE, |evaluator, arguments| match arguments[0].cost_size() {
        0 => Ok(Val::Optional(None)),
        _ => Ok(evaluator.some(valid(evaluator.item(arguments[0], 0))?)),
    }),
    member("last", &[LIST], OPTIONAL, ONE, |evaluator, arguments| match arguments[0].cost_size() {
        0 => Ok(Val::Optional(None)),
        length => Ok(evaluator.some(valid(evaluator.item(arguments[0], length as usize - 1))?)),
    }),
];

fn inner(value: Val<'_>) -> Result<Option<Val<'_>>, Failure> {
    match value {
        Val::Optional(value) => Ok(value.copied()),
        _ => Err(Failure::no_such_overload("optional")),
    }
}

fn unwrap<'a>(evaluator: &mut Evaluator<'a>, list: Val<'a>) -> super::Answer<'a> {
    evaluator.made(list.cost_size() as usize)?;
    let mut values = Vec::new();
    for at in 0..list.cost_size() as usize {
        values.extend(inner(evaluator.item(list, at))?);
    }
    Ok(Val::List(evaluator.arena.slice(&values)))
}

fn is_zero(value: Val<'_>) -> bool {
    match value {
        Val::Null => true,
        Val::Bool(value) => !value,
        Val::Int(value) => value == 0,
        Val::Uint(value) => value == 0,
        Val::Double(value) => value == 0.0,
        Val::Duration(value) => value == wheelwright_text::GoDuration::from_nanoseconds(0),
        Val::String(_) | Val::Bytes(_) | Val::Items(..) | Val::List(_) | Val::Fields(..) | Val::Map(_) => {
            value.cost_size() == 0
        }
        _ => false,
    }
}
