//! Arithmetic, sizes and the operators that get at items.

use super::{Answer, Cost, Kind, LIST, MAP, Overload, global, member};
use crate::{
    Failure,
    evaluate::{Evaluator, valid},
    failure::excerpt,
    value::Val,
};

const ONE: Cost = Cost::Fixed(1);

pub(super) const OVERLOADS: &[Overload] = &[
    global("+", &[Kind::Int, Kind::Int], Kind::Int, ONE, add),
    global("+", &[Kind::Uint, Kind::Uint], Kind::Uint, ONE, add),
    global("+", &[Kind::Double, Kind::Double], Kind::Double, ONE, add),
    global("+", &[Kind::String, Kind::String], Kind::String, Cost::Concatenation, add),
    global("+", &[Kind::Bytes, Kind::Bytes], Kind::Bytes, Cost::Concatenation, add),
    // Kubernetes copies nothing here; we do, and the function asks for that besides.
    global("+", &[LIST, LIST], LIST, ONE, super::lists::concatenate),
    global("+", &[Kind::Duration, Kind::Duration], Kind::Duration, ONE, add),
    global("+", &[Kind::Timestamp, Kind::Duration], Kind::Timestamp, ONE, add),
    global("+", &[Kind::Duration, Kind::Timestamp], Kind::Timestamp, ONE, add),
    global("-", &[Kind::Int, Kind::Int], Kind::Int, ONE, subtract),
    global("-", &[Kind::Uint, Kind::Uint], Kind::Uint, ONE, subtract),
    global("-", &[Kind::Double, Kind::Double], Kind::Double, ONE, subtract),
    global("-", &[Kind::Duration, Kind::Duration], Kind::Duration, ONE, subtract),
    global("-", &[Kind::Timestamp, Kind::Timestamp], Kind::Duration, ONE, subtract),
    global("-", &[Kind::Timestamp, Kind::Duration], Kind::Timestamp, ONE, subtract),
    global("*", &[Kind::Int, Kind::Int], Kind::Int, ONE, multiply),
    global("*", &[Kind::Uint, Kind::Uint], Kind::Uint, ONE, multiply),
    global("*", &[Kind::Double, Kind::Double], Kind::Double, ONE, multiply),
    global("/", &[Kind::Int, Kind::Int], Kind::Int, ONE, divide),
    global("/", &[Kind::Uint, Kind::Uint], Kind::Uint, ONE, divide),
    global("/", &[Kind::Double, Kind::Double], Kind::Double, ONE, divide),
    global("%", &[Kind::Int, Kind::Int], Kind::Int, ONE, remainder),
    global("%", &[Kind::Uint, Kind::Uint], Kind::Uint, ONE, remainder),
    global("!_", &[Kind::Bool], Kind::Bool, ONE, |_, arguments| match arguments[0] {
        Val::Bool(value) => Ok(Val::Bool(!value)),
        _ => Err(Failure::no_such_overload("!_")),
    }),
    global("-_", &[Kind::Int], Kind::Int, ONE, negate),
    global("-_", &[Kind::Double], Kind::Double, ONE, negate),
    global("_[_]", &[LIST, Kind::Int], Kind::A, ONE, index),
    global("_[_]", &[MAP, Kind::A], Kind::B, ONE, index),
    global("_[_]", &[Kind::Optional(&LIST), Kind::Int], Kind::Optional(&Kind::A), ONE, optional_index),
    global("_[_]", &[Kind::Optional(&MAP), Kind::A], Kind::Optional(&Kind::B), ONE, optional_index),
    global("_[?_]", &[LIST, Kind::Int], Kind::Optional(&Kind::A), ONE, optional_index),
    global("_[?_]", &[MAP, Kind::A], Kind::Optional(&Kind::B), ONE, optional_index),
    global("_[?_]", &[Kind::Optional(&LIST), Kind::Int], Kind::Optional(&Kind::A), ONE, optional_index),
    global("_[?_]", &[Kind::Optional(&MAP), Kind::A], Kind::Optional(&Kind::B), ONE, optional_index),
    global("size", &[Kind::String], Kind::Int, ONE, size),
    global("size", &[Kind::Bytes], Kind::Int, ONE, size),
    global("size", &[LIST], Kind::Int, ONE, size),
    global("size", &[MAP], Kind::Int, ONE, size),
    member("size", &[Kind::String], Kind::Int, ONE, size),
    member("size", &[Kind::Bytes], Kind::Int, ONE, size),
    member("size", &[LIST], Kind::Int, ONE, size),
    member("size", &[MAP], Kind::Int, ONE, size),
];

fn overflow() -> Failure {
    Failure::other("integer overflow")
}

pub(super) fn add<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(match (arguments[0], arguments[1]) {
        (Val::Int(a), Val::Int(b)) => Val::Int(a.checked_add(b).ok_or_else(overflow)?),
        (Val::Uint(a), Val::Uint(b)) => Val::Uint(a.checked_add(b).ok_or_else(overflow)?),
        (Val::Double(a), Val::Double(b)) => Val::Double(a + b),
        (Val::String(a), Val::String(b)) => Val::String(evaluator.arena.concat(&[a, b])),
        (Val::Bytes(a), Val::Bytes(b)) => Val::Bytes(evaluator.arena.slice(&[a, b].concat())),
        (Val::Duration(a), Val::Duration(b)) => Val::Duration(a.checked_add(b).ok_or_else(overflow)?),
        (Val::Timestamp(moment), Val::Duration(span)) | (Val::Duration(span), Val::Timestamp(moment)) => {
            Val::Timestamp(moment.checked_add(span).ok_or_else(overflow)?)
        }
        _ => return Err(Failure::no_such_overload("_+_")),
    })
}

fn subtract<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(match (arguments[0], arguments[1]) {
        (Val::Int(a), Val::Int(b)) => Val::Int(a.checked_sub(b).ok_or_else(overflow)?),
        (Val::Uint(a), Val::Uint(b)) => Val::Uint(a.checked_sub(b).ok_or_else(overflow)?),
        (Val::Double(a), Val::Double(b)) => Val::Double(a - b),
        (Val::Duration(a), Val::Duration(b)) => Val::Duration(a.checked_sub(b).ok_or_else(overflow)?),
        (Val::Timestamp(a), Val::Timestamp(b)) => Val::Duration(a.checked_since(b).ok_or_else(overflow)?),
        (Val::Timestamp(a), Val::Duration(b)) => Val::Timestamp(a.checked_sub(b).ok_or_else(overflow)?),
        _ => return Err(Failure::no_such_overload("_-_")),
    })
}

fn multiply<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(match (arguments[0], arguments[1]) {
        (Val::Int(a), Val::Int(b)) => Val::Int(a.checked_mul(b).ok_or_else(overflow)?),
        (Val::Uint(a), Val::Uint(b)) => Val::Uint(a.checked_mul(b).ok_or_else(overflow)?),
        (Val::Double(a), Val::Double(b)) => Val::Double(a * b),
        _ => return Err(Failure::no_such_overload("_*_")),
    })
}

fn divide<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    match (arguments[0], arguments[1]) {
        (Val::Int(_), Val::Int(0)) | (Val::Uint(_), Val::Uint(0)) => Err(Failure::other("division by zero")),
        (Val::Int(a), Val::Int(b)) => a.checked_div(b).map(Val::Int).ok_or_else(overflow),
        (Val::Uint(a), Val::Uint(b)) => Ok(Val::Uint(a / b)),
        (Val::Double(a), Val::Double(b)) => Ok(Val::Double(a / b)),
        _ => Err(Failure::no_such_overload("_/_")),
    }
}

fn remainder<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    match (arguments[0], arguments[1]) {
        (Val::Int(_), Val::Int(0)) | (Val::Uint(_), Val::Uint(0)) => Err(Failure::other("modulus by zero")),
        (Val::Int(a), Val::Int(b)) => a.checked_rem(b).map(Val::Int).ok_or_else(overflow),
        (Val::Uint(a), Val::Uint(b)) => Ok(Val::Uint(a % b)),
        _ => Err(Failure::no_such_overload("_%_")),
    }
}

fn negate<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    match arguments[0] {
        Val::Int(value) => value.checked_neg().map(Val::Int).ok_or_else(overflow),
        Val::Double(value) => Ok(Val::Double(-value)),
        _ => Err(Failure::no_such_overload("-_")),
    }
}

fn index<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    match (evaluator.index(arguments[0], arguments[1])?, arguments[1]) {
        (Some(value), _) => valid(value),
        (None, Val::Int(at)) => Err(Failure::lacking(arguments[0], at)),
        (None, Val::String(name)) => Err(Failure::lacking(arguments[0], excerpt(name))),
        (None, _) => Err(Failure::lacking(arguments[0], "the index")),
    }
}

fn optional_index<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    match evaluator.index(arguments[0], arguments[1])? {
        Some(value) => Ok(evaluator.some(valid(value)?)),
        None => Ok(Val::Optional(None)),
    }
}

/// Texts are counted in characters.
pub(super) fn size<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(Val::Int(match arguments[0] {
        Val::String(text) => {
            // Counting is fast, but not for nothing.
            evaluator.work(text.len() as u64 / 64)?;
            text.chars().count() as i64
        }
        Val::Bytes(bytes) => bytes.len() as i64,
        other @ (Val::Items(..) | Val::List(_) | Val::Fields(..) | Val::Map(_)) => other.cost_size() as i64,
        _ => return Err(Failure::no_such_overload("size")),
    }))
}
