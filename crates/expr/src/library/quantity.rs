//! Quantities such as `500m` and `1Gi`.

use wheelwright_text::Quantity;

use super::{Answer, Cost, Kind, Overload, global, member, strings::text_at};
use crate::{Failure, evaluate::Evaluator, value::Val};

const ONE: Cost = Cost::Fixed(1);

pub(super) const OVERLOADS: &[Overload] = &[
    global("quantity", &[Kind::String], Kind::Quantity, Cost::Traversal(1), |evaluator, arguments| {
        let text = text_at(arguments, 0)?;
        let quantity = Quantity::parse(text).ok_or_else(|| Failure::unreadable(text, "quantity"))?;
        Ok(evaluator.quantity(quantity))
    }),
    global("isQuantity", &[Kind::String], Kind::Bool, Cost::Traversal(1), |_, arguments| {
        Ok(Val::Bool(Quantity::parse(text_at(arguments, 0)?).is_some()))
    }),
    // Kubernetes documents it as a member, but declares it as a function.
    global("sign", &[Kind::Quantity], Kind::Int, ONE, sign),
    member("sign", &[Kind::Quantity], Kind::Int, ONE, sign).elsewhere(),
    member("isInteger", &[Kind::Quantity], Kind::Bool, ONE, |_, arguments| {
        Ok(Val::Bool(quantity_at(arguments, 0)?.is_integer()))
    }),
    member("asInteger", &[Kind::Quantity], Kind::Int, ONE, |_, arguments| {
        let integer = quantity_at(arguments, 0)?.as_integer();
        integer.map(Val::Int).ok_or_else(|| Failure::other("cannot convert value to integer"))
    }),
    member("asApproximateFloat", &[Kind::Quantity], Kind::Double, ONE, |_, arguments| {
        Ok(Val::Double(quantity_at(arguments, 0)?.as_float()))
    }),
    member("add", &[Kind::Quantity, Kind::Quantity], Kind::Quantity, ONE, add),
    member("add", &[Kind::Quantity, Kind::Int], Kind::Quantity, ONE, add),
    member("sub", &[Kind::Quantity, Kind::Quantity], Kind::Quantity, ONE, subtract),
    member("sub", &[Kind::Quantity, Kind::Int], Kind::Quantity, ONE, subtract),
    member("isGreaterThan", &[Kind::Quantity, Kind::Quantity], Kind::Bool, ONE, |_, arguments| {
        Ok(Val::Bool(quantity_at(arguments, 0)? > quantity_at(arguments, 1)?))
    }),
    member("isLessThan", &[Kind::Quantity, Kind::Quantity], Kind::Bool, ONE, |_, arguments| {
        Ok(Val::Bool(quantity_at(arguments, 0)? < quantity_at(arguments, 1)?))
    }),
    member("compareTo", &[Kind::Quantity, Kind::Quantity], Kind::Int, ONE, |_, arguments| {
        Ok(Val::Int(quantity_at(arguments, 0)?.cmp(&quantity_at(arguments, 1)?) as i64))
    }),
];

impl<'a> Evaluator<'a> {
    fn quantity(&self, quantity: Quantity) -> Val<'a> {
        Val::Quantity(&self.arena.slice(&[quantity])[0])
    }
}

fn quantity_at(arguments: &[Val<'_>], at: usize) -> Result<Quantity, Failure> {
    match arguments[at] {
        Val::Quantity(quantity) => Ok(*quantity),
        Val::Int(value) => Quantity::parse(&value.to_string()).ok_or_else(|| Failure::other("integer overflow")),
        _ => Err(Failure::no_such_overload("quantity")),
    }
}

fn sign<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(Val::Int(quantity_at(arguments, 0)?.sign()))
}

fn add<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(evaluator.quantity(quantity_at(arguments, 0)?.add(quantity_at(arguments, 1)?)))
}

fn subtract<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(evaluator.quantity(quantity_at(arguments, 0)?.sub(quantity_at(arguments, 1)?)))
}
