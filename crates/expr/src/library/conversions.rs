//! From one type to another.

use wheelwright_text::{GoDuration, Timestamp};

use super::{Answer, Cost, Kind, Overload, global, strings::text_at};
use crate::{Failure, evaluate::Evaluator, value::Val};

const ONE: Cost = Cost::Fixed(1);

pub(super) const OVERLOADS: &[Overload] = &[
    global("dyn", &[Kind::A], Kind::Dyn, ONE, |_, arguments| Ok(arguments[0])),
    global("type", &[Kind::A], Kind::Type, ONE, |_, arguments| Ok(Val::Type(arguments[0].type_name()))),
    global("bool", &[Kind::Bool], Kind::Bool, ONE, to_bool),
    global("bool", &[Kind::String], Kind::Bool, ONE, to_bool),
    global("bytes", &[Kind::Bytes], Kind::Bytes, ONE, to_bytes),
    global("bytes", &[Kind::String], Kind::Bytes, Cost::Traversal(1), to_bytes),
    global("double", &[Kind::Double], Kind::Double, ONE, to_double),
    global("double", &[Kind::Int], Kind::Double, ONE, to_double),
    global("double", &[Kind::Uint], Kind::Double, ONE, to_double),
    global("double", &[Kind::String], Kind::Double, ONE, to_double),
    global("int", &[Kind::Int], Kind::Int, ONE, to_int),
    global("int", &[Kind::Uint], Kind::Int, ONE, to_int),
    global("int", &[Kind::Double], Kind::Int, ONE, to_int),
    global("int", &[Kind::String], Kind::Int, ONE, to_int),
    global("int", &[Kind::Timestamp], Kind::Int, ONE, to_int),
    global("int", &[Kind::Duration], Kind::Int, ONE, to_int),
    global("uint", &[Kind::Uint], Kind::Uint, ONE, to_uint),
    global("uint", &[Kind::Int], Kind::Uint, ONE, to_uint),
    global("uint", &[Kind::Double], Kind::Uint, ONE, to_uint),
    global("uint", &[Kind::String], Kind::Uint, ONE, to_uint),
    global("string", &[Kind::String], Kind::String, ONE, to_string),
    global("string", &[Kind::Bool], Kind::String, ONE, to_string),
    global("string", &[Kind::Int], Kind::String, ONE, to_string),
    global("string", &[Kind::Uint], Kind::String, ONE, to_string),
    global("string", &[Kind::Double], Kind::String, ONE, to_string),
    global("string", &[Kind::Bytes], Kind::String, Cost::Traversal(1), to_string),
    global("string", &[Kind::Timestamp], Kind::String, ONE, to_string),
    global("string", &[Kind::Duration], Kind::String, ONE, to_string),
    global("string", &[Kind::Ip], Kind::String, ONE, to_string),
    global("string", &[Kind::Cidr], Kind::String, ONE, to_string),
    global("timestamp", &[Kind::Timestamp], Kind::Timestamp, ONE, to_timestamp),
    global("timestamp", &[Kind::String], Kind::Timestamp, ONE, to_timestamp),
    global("timestamp", &[Kind::Int], Kind::Timestamp, ONE, to_timestamp),
    global("duration", &[Kind::Duration], Kind::Duration, ONE, to_duration),
    global("duration", &[Kind::String], Kind::Duration, ONE, to_duration),
    global("duration", &[Kind::Int], Kind::Duration, ONE, to_duration),
];

/// The type that a name stands for.
pub(crate) fn type_named(name: &str) -> Option<&'static str> {
    const NAMES: [&str; 19] = [
        "bool",
        "bytes",
        "double",
        "google.protobuf.Duration",
        "google.protobuf.Timestamp",
        "int",
        "kubernetes.NamedFormat",
        "kubernetes.Quantity",
        "kubernetes.Semver",
        "kubernetes.URL",
        "list",
        "map",
        "net.CIDR",
        "net.IP",
        "null_type",
        "optional_type",
        "string",
        "type",
        "uint",
    ];
    NAMES.binary_search(&name).ok().map(|at| NAMES[at])
}

fn cannot(value: Val<'_>, r#type: &str) -> Failure {
    match value {
        Val::String(text) => Failure::unreadable(text, r#type),
        Val::Int(_) | Val::Uint(_) | Val::Double(_) => Failure::other("integer overflow"),
        _ => Failure::no_such_overload(r#type),
    }
}

fn to_bool<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    match arguments[0] {
        Val::Bool(value) => Ok(Val::Bool(value)),
        Val::String("1" | "t" | "T" | "TRUE" | "true" | "True") => Ok(Val::Bool(true)),
        Val::String("0" | "f" | "F" | "FALSE" | "false" | "False") => Ok(Val::Bool(false)),
        other => Err(cannot(other, "bool")),
    }
}

fn to_bytes<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    match arguments[0] {
        Val::Bytes(bytes) => Ok(Val::Bytes(bytes)),
        Val::String(text) => Ok(Val::Bytes(text.as_bytes())),
        other => Err(cannot(other, "bytes")),
    }
}

fn to_double<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    match arguments[0] {
        Val::Double(value) => Ok(Val::Double(value)),
        Val::Int(value) => Ok(Val::Double(value as f64)),
        Val::Uint(value) => Ok(Val::Double(value as f64)),
        Val::String(text) => {
            evaluator.scanned(text.len())?;
            let is_written = |value: &f64| value.is_finite() || !text.contains(|letter: char| letter.is_ascii_digit());
            // A number that is too large is none, as in Go; infinity must be spelled.
            let value = text.parse().ok().filter(is_written);
            value.map(Val::Double).ok_or_else(|| cannot(arguments[0], "double"))
        }
        other => Err(cannot(other, "double")),
    }
}

fn to_int<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    evaluator.scanned_text(arguments[0])?;
    let failed = || cannot(arguments[0], "int");
    match arguments[0] {
        Val::Int(value) => Ok(Val::Int(value)),
        Val::Uint(value) => i64::try_from(value).map(Val::Int).map_err(|_| failed()),
        // Both ends are outside, because doubles near them are not exact.
        Val::Double(value) if value > -(2f64.powi(63)) && value < 2f64.powi(63) => Ok(Val::Int(value as i64)),
        Val::String(text) => text.parse().map(Val::Int).map_err(|_| failed()),
        Val::Timestamp(moment) => Ok(Val::Int(moment.unix())),
        Val::Duration(span) => Ok(Val::Int(span.nanoseconds())),
        _ => Err(failed()),
    }
}

fn to_uint<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    evaluator.scanned_text(arguments[0])?;
    let failed = || cannot(arguments[0], "uint");
    match arguments[0] {
        Val::Uint(value) => Ok(Val::Uint(value)),
        Val::Int(value) => u64::try_from(value).map(Val::Uint).map_err(|_| failed()),
        Val::Double(value) if value >= 0.0 && value < 2f64.powi(64) => Ok(Val::Uint(value as u64)),
        Val::String(text) if !text.starts_with('+') => text.parse().map(Val::Uint).map_err(|_| failed()),
        _ => Err(failed()),
    }
}

fn to_string<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let made = match arguments[0] {
        Val::String(text) => return Ok(Val::String(text)),
        Val::Bytes(bytes) => {
            return std::str::from_utf8(bytes)
                .map(Val::String)
                .map_err(|_| Failure::other("invalid UTF-8 in bytes, cannot convert to string"));
        }
        Val::Bool(value) => return Ok(Val::String(if value { "true" } else { "false" })),
        Val::Int(value) => value.to_string(),
        Val::Uint(value) => value.to_string(),
        Val::Double(value) => super::string_format::shortest(value),
        Val::Timestamp(moment) => moment.to_string(),
        Val::Duration(span) => span.to_string(),
        Val::Ip(address) => address.to_string(),
        Val::Cidr(network) => network.to_string(),
        other => return Err(cannot(other, "string")),
    };
    Ok(Val::String(evaluator.arena.text(&made)))
}

fn to_timestamp<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    match arguments[0] {
        Val::Timestamp(moment) => Ok(Val::Timestamp(moment)),
        Val::Int(seconds) => {
            Timestamp::from_unix(seconds).map(Val::Timestamp).ok_or_else(|| Failure::other("timestamp out of range"))
        }
        _ => {
            let text = text_at(arguments, 0)?;
            evaluator.scanned(text.len())?;
            Timestamp::parse_in_range(text).map(Val::Timestamp).ok_or_else(|| cannot(arguments[0], "timestamp"))
        }
    }
}

fn to_duration<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    match arguments[0] {
        Val::Duration(span) => Ok(Val::Duration(span)),
        Val::Int(nanoseconds) => Ok(Val::Duration(GoDuration::from_nanoseconds(nanoseconds))),
        _ => {
            let text = text_at(arguments, 0)?;
            evaluator.scanned(text.len())?;
            GoDuration::parse(text).map(Val::Duration).ok_or_else(|| cannot(arguments[0], "duration"))
        }
    }
}
