//! `"…%s…".format([…])`.

use super::{Answer, Cost, Kind, Overload, member, strings::text_at, tenth};
use crate::{
    Failure,
    evaluate::{Evaluator, valid},
    value::Val,
};

pub(super) const OVERLOADS: &[Overload] =
    &[member("format", &[Kind::String, Kind::List(&Kind::Dyn)], Kind::String, Cost::Fixed(1), format)];

fn format<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let mut rest = text_at(arguments, 0)?;
    let mut out = String::new();
    let mut values = 0..arguments[1].cost_size() as usize;
    while let Some(at) = rest.find('%') {
        out += &rest[..at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let (precision, after) = precision(rest)?;
        let mut letters = after.chars();
        let verb = letters.next().ok_or_else(|| Failure::other("could not parse formatting clause: it has no verb"))?;
        rest = letters.as_str();
        let at = values.next().ok_or_else(|| Failure::other("index out of range: too few values to format"))?;
        let value = valid(evaluator.item(arguments[1], at))?;
        let before = out.len();
        match verb {
            's' => write_text(evaluator, value, &mut out, 0)?,
            'd' => write_decimal(value, &mut out)?,
            'f' => write_fixed(value, precision.unwrap_or(6), &mut out)?,
            'e' => write_scientific(value, precision.unwrap_or(6), &mut out)?,
            'b' => write_radix(value, 2, false, &mut out)?,
            'o' => write_radix(value, 8, false, &mut out)?,
            'x' => write_radix(value, 16, false, &mut out)?,
            'X' => write_radix(value, 16, true, &mut out)?,
            other => return Err(Failure::other(format!("unrecognized formatting clause %{other}"))),
        }
        evaluator.charge(tenth((out.len() - before) as u64))?;
    }
    out += rest;
    evaluator.charge(tenth(out.len() as u64))?;
    Ok(Val::String(evaluator.arena.text(&out)))
}

/// The number of digits after the point that a clause asks for, and the rest of the clause.
fn precision(clause: &str) -> Result<(Option<usize>, &str), Failure> {
    let Some(digits) = clause.strip_prefix('.') else { return Ok((None, clause)) };
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    const MOST: usize = 100;
    match digits[..end].parse() {
        Ok(count) if count <= MOST => Ok((Some(count), &digits[end..])),
        _ => Err(Failure::other("could not parse formatting clause: the precision must be a number up to 100")),
    }
}

fn write_text<'a>(
    evaluator: &mut Evaluator<'a>,
    value: Val<'a>,
    out: &mut String,
    depth: usize,
) -> Result<(), Failure> {
    // Documents nest at most this deep, and expressions less.
    const MOST: usize = 600;
    if depth > MOST {
        return Err(Failure::other("the value nests too deeply to be formatted"));
    }
    evaluator.charge(1 + tenth(value.cost_size()))?;
    match value {
        Val::String(text) => out.push_str(text),
        Val::Bytes(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
        Val::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Val::Int(value) => out.push_str(&value.to_string()),
        Val::Uint(value) => out.push_str(&value.to_string()),
        Val::Double(value) => out.push_str(&shortest(value)),
        Val::Null => out.push_str("null"),
        Val::Type(name) => out.push_str(name),
        Val::Timestamp(moment) => out.push_str(&moment.to_string()),
        Val::Duration(span) => out.push_str(&span.to_string()),
        Val::Items(..) | Val::List(_) => {
            out.push('[');
            for at in 0..value.cost_size() as usize {
                if at > 0 {
                    out.push_str(", ");
                }
                let item = valid(evaluator.item(value, at))?;
                write_text(evaluator, item, out, depth + 1)?;
            }
            out.push(']');
        }
        Val::Map(entries) => {
            let mut parts: Vec<(String, Val<'a>)> = Vec::new();
            for (key, value) in entries {
                let mut text = String::new();
                write_text(evaluator, *key, &mut text, depth + 1)?;
                parts.push((text, *value));
            }
            write_entries(evaluator, parts, out, depth)?;
        }
        Val::Fields(entries, _) => {
            let parts = entries.iter().filter_map(|entry| {
                let value = evaluator.declared(value, entry.key)?;
                Some((entry.key.to_owned(), value))
            });
            let parts = parts.collect();
            write_entries(evaluator, parts, out, depth)?;
        }
        other => {
            return Err(Failure::other(format!(
                "string clause can only be used on plain values, not {}",
                other.type_name()
            )));
        }
    }
    Ok(())
}

/// Entries in the order of their keys.
fn write_entries<'a>(
    evaluator: &mut Evaluator<'a>,
    mut entries: Vec<(String, Val<'a>)>,
    out: &mut String,
    depth: usize,
) -> Result<(), Failure> {
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    out.push('{');
    for (at, (key, value)) in entries.into_iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(&key);
        out.push_str(": ");
        write_text(evaluator, valid(value)?, out, depth + 1)?;
    }
    out.push('}');
    Ok(())
}

fn write_decimal(value: Val<'_>, out: &mut String) -> Result<(), Failure> {
    match value {
        Val::Int(value) => out.push_str(&value.to_string()),
        Val::Uint(value) => out.push_str(&value.to_string()),
        other => return Err(misused("decimal", "integers", other)),
    }
    Ok(())
}

fn write_fixed(value: Val<'_>, precision: usize, out: &mut String) -> Result<(), Failure> {
    let value = double(value, "fixed-point")?;
    match special(value) {
        Some(name) => out.push_str(name),
        None => out.push_str(&format!("{value:.precision$}")),
    }
    Ok(())
}

fn write_scientific(value: Val<'_>, precision: usize, out: &mut String) -> Result<(), Failure> {
    let value = double(value, "scientific notation")?;
    if let Some(name) = special(value) {
        out.push_str(name);
        return Ok(());
    }
    let written = format!("{value:.precision$e}");
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    out.push_str(&format!("{mantissa}e{sign}{digits:0>2}"));
    Ok(())
}

fn double(value: Val<'_>, clause: &str) -> Result<f64, Failure> {
    match value {
        Val::Double(value) => Ok(value),
        Val::Int(value) => Ok(value as f64),
        Val::Uint(value) => Ok(value as f64),
        // The values that no literal spells may be given as texts.
        Val::String("NaN") => Ok(f64::NAN),
        Val::String("Infinity") => Ok(f64::INFINITY),
        Val::String("-Infinity") => Ok(f64::NEG_INFINITY),
        other => Err(misused(clause, "doubles", other)),
    }
}

fn special(value: f64) -> Option<&'static str> {
    match value {
        value if value.is_nan() => Some("NaN"),
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        _ => None,
    }
}

fn write_radix(value: Val<'_>, radix: u32, upper: bool, out: &mut String) -> Result<(), Failure> {
    let (sign, magnitude) = match value {
        Val::Int(value) => (if value < 0 { "-" } else { "" }, value.unsigned_abs()),
        Val::Uint(value) => ("", value),
        Val::Bool(value) if radix == 2 => ("", u64::from(value)),
        Val::String(text) if radix == 16 => return write_hex(text.as_bytes(), upper, out),
        Val::Bytes(bytes) if radix == 16 => return write_hex(bytes, upper, out),
        other => return Err(misused("number", "integers", other)),
    };
    out.push_str(sign);
    out.push_str(&match (radix, upper) {
        (2, _) => format!("{magnitude:b}"),
        (8, _) => format!("{magnitude:o}"),
        (_, false) => format!("{magnitude:x}"),
        (_, true) => format!("{magnitude:X}"),
    });
    Ok(())
}

fn write_hex(bytes: &[u8], upper: bool, out: &mut String) -> Result<(), Failure> {
    for byte in bytes {
        out.push_str(&if upper { format!("{byte:02X}") } else { format!("{byte:02x}") });
    }
    Ok(())
}

fn misused(clause: &str, wanted: &str, found: Val<'_>) -> Failure {
    Failure::other(format!("{clause} clause can only be used on {wanted}, not on {}", found.type_name()))
}

/// The shortest text that reads back as the same double, in Go's way.
pub(super) fn shortest(value: f64) -> String {
    match special(value) {
        Some("Infinity") => "+Inf".to_owned(),
        Some("-Infinity") => "-Inf".to_owned(),
        Some(name) => name.to_owned(),
        None if value != 0.0 && (value.abs() < 1e-4 || value.abs() >= 1e6) => {
            let written = format!("{value:e}");
            let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
            let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
            format!("{mantissa}e{sign}{digits:0>2}")
        }
        None => format!("{value}"),
    }
}
