//! Values to YAML for people.

use std::fmt::Write as _;

use crate::{
    Value, Yaml,
    yaml::scalar::{Resolved, resolve},
};

/// The document as YAML in block style, with lists at the indentation of their key as kubectl writes them.
///
/// Blocks that would be indented by more than 32 spaces are in flow style, so that the text is never much longer than the
/// document as JSON. Strings stand without quotes where nobody can take them for something else, and as blocks where they have lines.
/// [`decode_yaml`](crate::decode_yaml) gives back the same value, to the order of keys and the text of numbers.
pub fn write_yaml(value: Value<'_>) -> String {
    let mut out = String::new();
    if is_block(value) {
        write_block(value, 0, &mut out);
    } else {
        write_scalar(value, INDENT, &mut out);
    }
    out
}

const INDENT: usize = 2;

/// Blocks are indented no further; indentation would outgrow what it indents.
const DEEPEST: usize = 32;

/// Readers give up on finding the colon after a key of more than 1024 characters.
const LONGEST_KEY: usize = 1000;

/// Whether the value takes lines of its own.
fn is_block(value: Value<'_>) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        _ => false,
    }
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
                if is_block(*item) && indent < DEEPEST {
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
                if is_block(entry.value) && indent < DEEPEST {
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
        Value::String(text) if can_be_lines(text.as_str()) => {
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

/// Whether a string can be a block without an indicator for its indentation, and without spaces that editors remove.
fn can_be_lines(text: &str) -> bool {
    text.contains('\n')
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
