//! Texts of scalars, durations and quantities, and what they spell.

use serde_json::{Value as Json, json};
use wheelwright_evolve::{Scalar, Shape};

/// How a scalar is written as a text.
pub(super) fn spelled(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(_) | Json::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// What a text spells.
pub(super) fn read(text: &str, shape: Shape) -> Option<Json> {
    match shape {
        Shape::Scalar(Scalar::Integer) => Some(json!(text.parse::<i64>().ok()?)),
        Shape::Scalar(Scalar::Boolean) => Some(json!(text.parse::<bool>().ok()?)),
        Shape::Scalar(Scalar::IntOrString) => {
            let is_number = text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
            if is_number { read(text, Shape::Scalar(Scalar::Integer)) } else { Some(json!(text)) }
        }
        _ => Some(json!(text)),
    }
}

/// Whole seconds of a duration as Go writes it.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let (sign, mut rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    if rest == "0" {
        return Some(0);
    }
    let mut milliseconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let unit_end = rest.find(|letter: char| letter.is_ascii_digit() || letter == '.').unwrap_or(rest.len());
        milliseconds += number
            * match &rest[..unit_end] {
                "ms" => 1.0,
                "s" => 1_000.0,
                "m" => 60_000.0,
                "h" => 3_600_000.0,
                _ => return None,
            };
        rest = &rest[unit_end..];
    }
    (!matches!(text, "" | "-")).then_some(sign * (milliseconds / 1_000.0) as i64)
}

pub(super) fn go_duration(seconds: i64) -> String {
    let (sign, rest) = if seconds < 0 { ("-", -seconds) } else { ("", seconds) };
    let (hours, minutes, seconds) = (rest / 3_600, rest / 60 % 60, rest % 60);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, _) => format!("{sign}{minutes}m{seconds}s"),
        _ => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// A quantity, rounded away from zero.
pub(super) fn quantity(text: &str) -> Option<i64> {
    // Kubernetes takes a sign alone for zero.
    if text == "-" {
        return Some(0);
    }
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '-').unwrap_or(text.len());
    let number: i64 = text[..end].parse().ok()?;
    match &text[end..] {
        "" => Some(number),
        "m" => Some(number.signum() * number.unsigned_abs().div_ceil(1_000) as i64),
        "Ki" => Some(number * 1_024),
        _ => None,
    }
}
