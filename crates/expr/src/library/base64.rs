//! Bytes as text in base 64. Kubernetes does not have these in rules.

use wheelwright_text::base64;

use super::{Cost, Kind, Overload, global, strings::text_at};
use crate::{Failure, value::Val};

pub(super) const OVERLOADS: &[Overload] = &[
    global("base64.encode", &[Kind::Bytes], Kind::String, Cost::Traversal(2), |evaluator, arguments| {
        match arguments[0] {
            Val::Bytes(bytes) => Ok(Val::String(evaluator.arena.text(&base64::encode(bytes)))),
            _ => Err(Failure::no_such_overload("base64.encode")),
        }
    })
    .elsewhere(),
    global("base64.decode", &[Kind::String], Kind::Bytes, Cost::Traversal(2), |evaluator, arguments| {
        let text = text_at(arguments, 0)?;
        let bytes = base64::decode(text.as_bytes()).ok_or_else(|| Failure::other("illegal base64 data"))?;
        Ok(Val::Bytes(evaluator.arena.slice(&bytes)))
    })
    .elsewhere(),
];
