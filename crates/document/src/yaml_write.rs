//! Values to YAML for people.

use std::fmt::Write as _;

use crate::{
    Value, Yaml,
    yaml::scalar::{Resolved, resolve},
};

/// The document as YAML in block style, with lists at the indentation of their key as kubectl writes them.
///
/// Lists and objects that would be indented by more than 32 spaces are in flow style, and so are short items from 8 spaces
/// on: the text is at most about eight times as long as the document as JSON. Strings stand without quotes where no reader
/// can take them for another type, and as blocks where they have lines. [`decode_yaml`](crate::decode_yaml) gives back the
/// same value, to the order of keys and the text of numbers.
pub fn write_yaml(value: Value<'_>) -> String {
    let mut out = String::new();
    if is_block(value, 0) {
        write_block(value, 0, &mut out);
    } else {
        write_scalar(value, INDENT, &mut out);
    }
    out
}

const INDENT: usize = 2;

/// Blocks are indented no further.
const DEEPEST: usize = 32;

/// Blocks are indented so far whatever their length.
const SHALLOW: usize = 8;

/// Bytes of indentation that each byte of a deeper block may cost.
const INDENTATION_PER_BYTE: usize = 4;

/// Readers give up on finding the colon after a key of more than 1024 characters.
const LONGEST_KEY: usize = 1000;

/// Whether the value takes lines of its own below a line with an indentation.
fn is_block(value: Value<'_>, indent: usize) -> bool {
    let lines = match value {
        Value::Array(items) => items.len(),
        Value::Object(entries) => entries.len(),
        _ => 0,
    };
    let mut needed = needed_length(lines, indent + INDENT);
    lines > 0 && indent < DEEPEST && (indent < SHALLOW || takes_up(value, &mut needed))
}

/// How long a block must be as JSON for its indentation not to outgrow it.
fn needed_length(lines: usize, indent: usize) -> usize {
    lines.saturating_mul(indent) / INDENTATION_PER_BYTE
}

/// Takes the length of a value as JSON from `needed`, and returns whether nothing of it is left. Looks no further than that.
fn takes_up(value: Value<'_>, needed: &mut usize) -> bool {
    let own = match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(number) => number.as_str().len(),
        Value::String(text) => text.as_str().len() + 2,
        Value::Array(_) | Value::Object(_) => 1,
    };
    *needed = needed.saturating_sub(own);
    match value {
        Value::Array(items) => *needed == 0 || items.iter().any(|item| takes_up_item(*item, 1, needed)),
        Value::Object(entries) => {
            *needed == 0 || entries.iter().any(|entry| takes_up_item(entry.value, entry.key.len() + 4, needed))
        }
        _ => *needed == 0,
    }
}

/// As [`takes_up`], with the bytes around an item.
fn takes_up_item(item: Value<'_>, around: usize, needed: &mut usize) -> bool {
    *needed = needed.saturating_sub(around);
    takes_up(item, needed)
}

/// Writes a list or object that is not empty; the first line is already indented.
fn write_block(value: Value<'_>, indent: usize, out: &mut String) {
    match value {
        Value::Array(items) => {
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    pad(indent, out);
                }
                out.push_str("- ");
                if is_block(*item, indent) {
                    write_block(*item, indent + INDENT, out);
                } else {
                    write_scalar(*item, indent + INDENT, out);
                }
            }
        }
        Value::Object(entries) => {
            for (position, entry) in entries.iter().enumerate() {
                if position > 0 {
                    pad(indent, out);
                }
                write_key(entry.key, indent, out);
                if is_block(entry.value, indent) {
                    let is_list = matches!(entry.value, Value::Array(_));
                    let indent = if is_list { indent } else { indent + INDENT };
                    out.push('\n');
                    pad(indent, out);
                    write_block(entry.value, indent, out);
                } else {
                    out.push(' ');
                    write_scalar(entry.value, indent + INDENT, out);
                }
            }
        }
        _ => {}
    }
}

/// Writes a key with its colon.
fn write_key(key: &str, indent: usize, out: &mut String) {
    let mut written = String::new();
    write_line(key, &mut written);
    if written.len() > LONGEST_KEY {
        out.push_str("? ");
        out.push_str(&written);
        out.push('\n');
        pad(indent, out);
    } else {
        out.push_str(&written);
    }
    out.push(':');
}

/// Writes a scalar, or a list or object in flow style, and ends the line. `indent` is for further lines.
fn write_scalar(value: Value<'_>, indent: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(number.as_str()),
        Value::String(text) if can_be_lines(text.as_str(), indent) => {
            return write_lines(text.as_str(), indent, out);
        }
        Value::String(text) => write_line(text.as_str(), out),
        list_or_object => write_flow(list_or_object, out),
    }
    out.push('\n');
}

/// Writes a value on the same line.
fn write_flow(value: Value<'_>, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(number.as_str()),
        Value::String(text) => write_quoted(text.as_str(), out),
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                out.push_str(if position > 0 { ", " } else { "" });
                write_flow(*item, out);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            out.push('{');
            for (position, entry) in entries.iter().enumerate() {
                out.push_str(if position > 0 { ", " } else { "" });
                let start = out.len();
                write_quoted(entry.key, out);
                if out.len() - start > LONGEST_KEY {
                    out.insert_str(start, "? ");
                }
                out.push_str(": ");
                write_flow(entry.value, out);
            }
            out.push('}');
        }
    }
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Whether a string can be a block without an indicator for its indentation, without spaces that editors remove, and
/// without indentation that outgrows it.
fn can_be_lines(text: &str, indent: usize) -> bool {
    let lines = text.matches('\n').count();
    lines > 0
        && (indent <= SHALLOW || text.len() >= needed_length(lines, indent))
        && !text.starts_with([' ', '\t', '\n'])
        && text.split('\n').all(|line| !line.ends_with([' ', '\t']))
        && !text.contains(|character| needs_escape(character) && !matches!(character, '\n' | '\t'))
}

fn write_lines(text: &str, indent: usize, out: &mut String) {
    let (header, body) = match text.strip_suffix('\n') {
        None => ("|-\n", text),
        Some(body) if body.ends_with('\n') => ("|+\n", body),
        Some(body) => ("|\n", body),
    };
    out.push_str(header);
    for line in body.split('\n') {
        if !line.is_empty() {
            pad(indent, out);
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// Writes a string on one line: plain, in single quotes if that saves escapes, or in double quotes.
fn write_line(text: &str, out: &mut String) {
    if can_be_plain(text) {
        out.push_str(text);
    } else if text.contains(['"', '\\']) && !text.contains(needs_escape) {
        out.push('\'');
        out.push_str(&text.replace('\'', "''"));
        out.push('\'');
    } else {
        write_quoted(text, out);
    }
}

/// Writes a string in double quotes.
fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if needs_escape(character) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// Whether a string without quotes is that string, to us and to other readers of YAML.
fn can_be_plain(text: &str) -> bool {
    let starts_well = match text.as_bytes() {
        [] | [b' ', ..] | [b'-'] | [b'-', b' ', ..] => false,
        [first, ..] => !b"?:,[]{}#&*!|>'\"%@`=".contains(first),
    };
    starts_well
        && resolve(text, Yaml::AsKubectl) == Resolved::String
        && text != "<<"
        && !text.starts_with("---")
        && !text.starts_with("...")
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.contains(needs_escape)
        && !is_number_elsewhere(text)
}

/// Whether a reader with other rules than ours would see a date, a number to the base of 60 or a very long number.
fn is_number_elsewhere(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_date = matches!(bytes, [a, b, c, d, b'-', ..] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()));
    let is_sexagesimal = text.contains(':') && bytes.iter().all(|byte| b"0123456789+-.:_".contains(byte));
    let hexadecimal = text.trim_start_matches(['+', '-']).strip_prefix("0x");
    is_date || is_sexagesimal || hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Characters that cannot be seen for what they are, or that some readers of YAML take for line breaks.
fn needs_escape(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}
