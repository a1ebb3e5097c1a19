//! Ranges and bounds of numbers, in Go's arithmetic.

use serde_json::Value;

use super::{GoNumber, flag};

/// What is wrong with a number.
pub(crate) enum Complaint {
    /// It, or a bound that it is compared with, does not fit the type and format.
    Range,
    /// A bound is violated.
    Bound,
}

/// Checks a number against the range of its only type, and against its bounds.
pub(crate) fn check(schema: &Value, types: &[&str], format: &str, value: GoNumber) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let only_type = if let [only] = types { only } else { "" };
    let in_range = |number| is_in_range(number, only_type, format);
    if !in_range(value) {
        complaints.push(Complaint::Range);
    }
    let mut bound = |keyword: &str, violates: fn(GoNumber, f64, bool) -> bool, exclusive: &str| {
        let Some(bound) = schema[keyword].as_f64() else {
            return;
        };
        let mut value = value;
        if !in_range(GoNumber::Float(bound)) {
            complaints.push(Complaint::Range);
            value = GoNumber::Float(value.as_float());
        }
        if violates(value, bound, flag(schema, exclusive)) {
            complaints.push(Complaint::Bound);
        }
    };
    bound("multipleOf", is_not_multiple, "");
    bound("minimum", is_below, "exclusiveMinimum");
    bound("maximum", is_above, "exclusiveMaximum");
    complaints
}

/// Whether Go can parse the number's digits as the type; they are never written with an exponent.
fn is_in_range(number: GoNumber, only_type: &str, format: &str) -> bool {
    let digits = match number {
        GoNumber::Integer(integer) => integer.to_string(),
        GoNumber::Float(float) => float.to_string(),
    };
    match (only_type, format) {
        ("integer", "int32") => digits.parse::<i32>().is_ok(),
        ("integer", "uint32") => digits.parse::<u32>().is_ok(),
        ("integer", "uint64") => digits.parse::<u64>().is_ok(),
        ("integer", _) => digits.parse::<i64>().is_ok(),
        (_, "float" | "float32") => digits.parse::<f32>().is_ok_and(f32::is_finite),
        _ => true,
    }
}

/// An integer is compared with the truncated bound.
fn is_above(value: GoNumber, bound: f64, exclusive: bool) -> bool {
    match value {
        GoNumber::Integer(value) => value > truncate(bound) || (exclusive && value == truncate(bound)),
        GoNumber::Float(value) => value > bound || (exclusive && value == bound),
    }
}

fn is_below(value: GoNumber, bound: f64, exclusive: bool) -> bool {
    match value {
        GoNumber::Integer(value) => value < truncate(bound) || (exclusive && value == truncate(bound)),
        GoNumber::Float(value) => value < bound || (exclusive && value == bound),
    }
}

fn is_not_multiple(value: GoNumber, factor: f64, _: bool) -> bool {
    match value {
        _ if factor < 0.0 => true,
        // Where the factor truncates to 0 Kubernetes divides by zero; we ask the same of the float.
        GoNumber::Integer(value) if truncate(factor) != 0 => value.wrapping_rem(truncate(factor)) != 0,
        _ if factor < 1.0 => !is_integral(1.0 / factor * value.as_float()),
        _ => !is_integral(value.as_float() / factor),
    }
}

/// Whether a float is an integer that JSON can hold, give or take a billionth.
pub(crate) fn is_integral(float: f64) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    let rounded = float.round();
    float.abs() <= LARGEST && (float == rounded || (float - rounded).abs() < 1e-9 * rounded.abs())
}

/// Go's conversion to `int64` on amd64: what does not fit becomes the smallest integer.
pub(crate) fn truncate(float: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&float) { float as i64 } else { i64::MIN }
}
