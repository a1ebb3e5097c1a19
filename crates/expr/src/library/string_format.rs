//! `"…%s…".format([…])`, as version 2 of CEL's strings library does it, American separators included.

use std::fmt::Write;

use super::{Answer, Cost, Kind, Overload, member, strings::text_at};
use crate::{
    Failure, Type,
    evaluate::{Evaluator, valid},
    shape::ShapeKind,
    value::Val,
};

pub(super) const OVERLOADS: &[Overload] =
    &[member("format", &[Kind::String, Kind::List(&Kind::Dyn)], Kind::String, Cost::Traversal(1), format)];

/// A part of a text to format.
enum Piece<'a> {
    Text(&'a str),
    /// A verb, and the number of digits after the point if the clause has one.
    Clause(char, Option<usize>),
}

/// The next part of a text, and what follows it.
fn next_piece(text: &str) -> Result<(Piece<'_>, &str), String> {
    let Some(clause) = text.strip_prefix('%') else {
        let (before, after) = text.split_at(text.find('%').unwrap_or(text.len()));
        return Ok((Piece::Text(before), after));
    };
    if clause.starts_with('%') {
        let (sign, after) = clause.split_at(1);
        return Ok((Piece::Text(sign), after));
    }
    let (precision, after) = precision(clause)?;
    let mut letters = after.chars();
    match letters.next() {
        Some(verb @ ('s' | 'd' | 'f' | 'e' | 'b' | 'o' | 'x' | 'X')) => {
            Ok((Piece::Clause(verb, precision), letters.as_str()))
        }
        Some(other) => Err(format!("could not parse formatting clause: unrecognized formatting clause `%{other}`")),
        None => Err("could not parse formatting clause: it ends before its verb".to_owned()),
    }
}

/// The number of digits after the point that a clause asks for, and the rest of the clause.
fn precision(clause: &str) -> Result<(Option<usize>, &str), String> {
    let Some(digits) = clause.strip_prefix('.') else { return Ok((None, clause)) };
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    const MOST: usize = 100;
    match digits[..end].parse() {
        Ok(count) if count <= MOST => Ok((Some(count), &digits[end..])),
        _ => Err(format!("could not parse formatting clause: the precision must be a number up to {MOST}")),
    }
}

/// Whether a constant text can be formatted with values of some types, which Kubernetes asks when it compiles.
///
/// # Errors
/// What is wrong, and which of the values it is about, if any.
pub(crate) fn check_format(mut text: &str, types: &[Type]) -> Result<(), (String, Option<usize>)> {
    let mut used = 0;
    while !text.is_empty() {
        let (piece, after) = next_piece(text).map_err(|message| (message, None))?;
        text = after;
        let Piece::Clause(verb, _) = piece else { continue };
        let Some(r#type) = types.get(used) else {
            return Err((format!("there are too few values to format: {}", types.len()), None));
        };
        if !takes(verb, r#type) {
            return Err((misused(verb, &r#type.to_string()), Some(used)));
        }
        used += 1;
    }
    if used < types.len() {
        return Err((format!("there are too many values to format: {} of {} are used", used, types.len()), None));
    }
    Ok(())
}

fn takes(verb: char, r#type: &Type) -> bool {
    matches!(
        (verb, r#type),
        (_, Type::Dyn | Type::Variable(_))
            | ('d' | 'b' | 'o' | 'x' | 'X', Type::Int | Type::Uint)
            | ('b', Type::Bool)
            | ('x' | 'X', Type::String | Type::Bytes)
            | ('f' | 'e', Type::Double | Type::String)
            | ('s', Type::List(_) | Type::Map(..) | Type::Int | Type::Uint | Type::Double | Type::Bool)
            | ('s', Type::String | Type::Bytes | Type::Timestamp | Type::Duration | Type::Type | Type::Null)
    )
}

fn misused(verb: char, found: &str) -> String {
    let (clause, wanted) = match verb {
        'd' => ("decimal", "integers"),
        'f' => ("fixed-point", "doubles"),
        'e' => ("scientific", "doubles"),
        'b' => ("binary", "integers and bools"),
        'o' => ("octal", "integers"),
        'x' | 'X' => ("hexadecimal", "integers, strings and bytes"),
        _ => ("string", "plain values, lists and maps"),
    };
    format!("the {clause} clause can only be used on {wanted}, not on {found}")
}

fn format<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let mut rest = text_at(arguments, 0)?;
    let mut out = Output::default();
    let mut values = 0..arguments[1].cost_size() as usize;
    while !rest.is_empty() {
        let (piece, after) = next_piece(rest).map_err(Failure::other)?;
        rest = after;
        let (verb, precision) = match piece {
            Piece::Text(text) => {
                out.text += text;
                out.paid = out.text.len();
                continue;
            }
            Piece::Clause(verb, precision) => (verb, precision),
        };
        let at = values.next().ok_or_else(|| Failure::other("index out of range: too few values to format"))?;
        let value = valid(evaluator.item(arguments[1], at))?;
        write_clause(evaluator, verb, precision, value, &mut out)?;
        out.pay(evaluator)?;
    }
    Ok(Val::String(evaluator.arena.text(&out.text)))
}

/// What has been written, and how much of it has been paid for.
#[derive(Default)]
struct Output {
    text: String,
    paid: usize,
}

impl Output {
    fn pay(&mut self, evaluator: &mut Evaluator<'_>) -> Result<(), Failure> {
        let unpaid = self.text.len() - self.paid;
        self.paid = self.text.len();
        evaluator.work(unpaid as u64)
    }
}

fn write_clause<'a>(
    evaluator: &mut Evaluator<'a>,
    verb: char,
    precision: Option<usize>,
    value: Val<'a>,
    out: &mut Output,
) -> Result<(), Failure> {
    let failed = || Failure::other(misused(verb, value.type_name()));
    match verb {
        's' => write_text(evaluator, value, out, 0)?,
        'd' => match value {
            Val::Int(value) => out.text.push_str(&value.to_string()),
            Val::Uint(value) => out.text.push_str(&value.to_string()),
            _ => return Err(failed()),
        },
        'f' => write_fixed(double(value).ok_or_else(failed)?, precision.unwrap_or(DIGITS), &mut out.text),
        // The precision becomes a width that is never reached.
        'e' => write_scientific(double(value).ok_or_else(failed)?, &mut out.text),
        _ => out.text.push_str(&radix(verb, value).ok_or_else(failed)?),
    }
    Ok(())
}

/// The digits after the point, unless a clause says how many.
const DIGITS: usize = 6;

/// A value by itself, or in a list or map, where it looks like a literal.
fn write_text<'a>(
    evaluator: &mut Evaluator<'a>,
    value: Val<'a>,
    out: &mut Output,
    depth: usize,
) -> Result<(), Failure> {
    // Documents nest at most this deep, and expressions less.
    const MOST: usize = 600;
    if depth > MOST {
        return Err(Failure::other("the value nests too deeply to be formatted"));
    }
    evaluator.work(value.cost_size())?;
    match value {
        Val::Items(..) | Val::List(_) => {
            out.text.push('[');
            for at in 0..value.cost_size() as usize {
                if at > 0 {
                    out.text.push_str(", ");
                }
                let item = valid(evaluator.item(value, at))?;
                write_text(evaluator, item, out, depth + 1)?;
            }
            out.text.push(']');
        }
        Val::Map(entries) => write_entries(evaluator, entries, out, depth)?,
        Val::Fields(entries, id) if !matches!(evaluator.shapes.get(id).kind, ShapeKind::Object(_)) => {
            let parts = entries.iter().filter_map(|entry| {
                let value = evaluator.declared(value, entry.key)?;
                Some((Val::String(entry.key), value))
            });
            let parts: Vec<_> = parts.collect();
            write_entries(evaluator, &parts, out, depth)?;
        }
        scalar => {
            write_scalar(scalar, &mut out.text, depth > 0)?;
            out.pay(evaluator)?;
        }
    }
    Ok(())
}

/// What has no parts, by itself or inside of something else.
fn write_scalar(value: Val<'_>, out: &mut String, is_inside: bool) -> Result<(), Failure> {
    match value {
        Val::String(text) if is_inside => write_quoted(text, out),
        Val::String(text) => out.push_str(text),
        Val::Bytes(bytes) => {
            let text = std::str::from_utf8(bytes)
                .map_err(|_| Failure::other("invalid UTF-8 in bytes, cannot convert to string"))?;
            if is_inside {
                out.push('b');
                write_quoted(text, out);
            } else {
                out.push_str(text);
            }
        }
        Val::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Val::Int(value) => out.push_str(&value.to_string()),
        Val::Uint(value) => out.push_str(&value.to_string()),
        Val::Double(value) if is_inside && value.is_finite() => out.push_str(&format!("{value:.DIGITS$}")),
        Val::Double(value) if is_inside => write_quoted(&shortest(value), out),
        Val::Double(value) => out.push_str(&shortest(value)),
        Val::Null => out.push_str("null"),
        Val::Type(name) => out.push_str(name),
        Val::Timestamp(moment) if is_inside => out.push_str(&format!("timestamp(\"{moment}\")")),
        Val::Timestamp(moment) => out.push_str(&moment.to_string()),
        Val::Duration(span) if is_inside => out.push_str(&format!("duration(\"{span}\")")),
        Val::Duration(span) => out.push_str(&span.to_string()),
        Val::Fields(..) => return Err(Failure::other(misused('s', "object"))),
        other => return Err(Failure::other(misused('s', other.type_name()))),
    }
    Ok(())
}

/// Entries in the order of their keys.
fn write_entries<'a>(
    evaluator: &mut Evaluator<'a>,
    entries: &[(Val<'a>, Val<'a>)],
    out: &mut Output,
    depth: usize,
) -> Result<(), Failure> {
    let mut texts: Vec<(String, Val<'a>)> = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        evaluator.work(key.cost_size())?;
        let mut text = String::new();
        write_scalar(*key, &mut text, true)?;
        texts.push((text, *value));
    }
    texts.sort_by(|(a, _), (b, _)| a.cmp(b));
    out.text.push('{');
    for (at, (key, value)) in texts.into_iter().enumerate() {
        if at > 0 {
            out.text.push_str(", ");
        }
        out.text.push_str(&key);
        out.text.push(':');
        write_text(evaluator, valid(value)?, out, depth + 1)?;
    }
    out.text.push('}');
    Ok(())
}

/// A text in quotes, in Go's way.
fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\u{07}' => out.push_str("\\a"),
            '\u{08}' => out.push_str("\\b"),
            '\u{0c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{0b}' => out.push_str("\\v"),
            '\0'..='\x1f' | '\x7f' => out.push_str(&format!("\\x{:02x}", letter as u32)),
            '\u{80}'..='\u{a0}' | '\u{ad}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{feff}' => {
                out.push_str(&format!("\\u{:04x}", letter as u32));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

fn double(value: Val<'_>) -> Option<f64> {
    match value {
        Val::Double(value) => Some(value),
        // The values that no literal spells may be given as texts.
        Val::String("NaN") => Some(f64::NAN),
        Val::String("Infinity") => Some(f64::INFINITY),
        Val::String("-Infinity") => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// What is not a finite number, as Americans write it.
fn special(value: f64) -> Option<&'static str> {
    match value {
        value if value.is_nan() => Some("NaN"),
        f64::INFINITY => Some("∞"),
        f64::NEG_INFINITY => Some("-∞"),
        _ => None,
    }
}

fn write_fixed(value: f64, precision: usize, out: &mut String) {
    if let Some(name) = special(value) {
        out.push_str(name);
        return;
    }
    let written = format!("{value:.precision$}");
    let whole = written.find('.').unwrap_or(written.len());
    let first = usize::from(written.starts_with('-'));
    for (at, letter) in written.char_indices() {
        if at > first && at < whole && (whole - at) % 3 == 0 {
            out.push(',');
        }
        out.push(letter);
    }
}

fn write_scientific(value: f64, out: &mut String) {
    if let Some(name) = special(value) {
        out.push_str(name);
        return;
    }
    let (mantissa, is_negative, exponent) = scientific(&format!("{value:.DIGITS$e}"));
    out.push_str(&mantissa);
    out.push_str("\u{202f}×\u{202f}10");
    if is_negative {
        out.push('⁻');
    }
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    out.extend(exponent.bytes().map(|digit| RAISED[usize::from(digit - b'0')]));
}

/// The mantissa of a number in scientific notation, whether its exponent is negative, and at least two of its digits.
fn scientific(written: &str) -> (String, bool, String) {
    let (mantissa, exponent) = written.split_once('e').unwrap_or((written, "0"));
    let digits = exponent.trim_start_matches('-');
    (mantissa.to_owned(), exponent.starts_with('-'), format!("{digits:0>2}"))
}

fn radix(verb: char, value: Val<'_>) -> Option<String> {
    let (sign, magnitude) = match value {
        Val::Int(value) => (if value < 0 { "-" } else { "" }, value.unsigned_abs()),
        Val::Uint(value) => ("", value),
        Val::Bool(value) if verb == 'b' => ("", u64::from(value)),
        Val::String(text) if verb != 'b' && verb != 'o' => return Some(hexadecimal(text.as_bytes(), verb)),
        Val::Bytes(bytes) if verb != 'b' && verb != 'o' => return Some(hexadecimal(bytes, verb)),
        _ => return None,
    };
    Some(match verb {
        'b' => format!("{sign}{magnitude:b}"),
        'o' => format!("{sign}{magnitude:o}"),
        'x' => format!("{sign}{magnitude:x}"),
        _ => format!("{sign}{magnitude:X}"),
    })
}

fn hexadecimal(bytes: &[u8], verb: char) -> String {
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a text cannot fail.
        _ = if verb == 'x' { write!(out, "{byte:02x}") } else { write!(out, "{byte:02X}") };
    }
    out
}

/// The shortest text that reads back as the same double, in Go's way.
pub(super) fn shortest(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let written = format!("{value:e}");
    let exponent: i32 = written.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return format!("{value}");
    }
    let (mantissa, is_negative, digits) = scientific(&written);
    format!("{mantissa}e{}{digits}", if is_negative { '-' } else { '+' })
}
