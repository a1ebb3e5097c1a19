//! JSON for people: a field a line, two spaces a level.

use wheelwright_document::{Value, encode_into};

/// Appends a document as indented JSON, without a line end. Keys keep their order and numbers their text.
pub(crate) fn write_pretty(value: Value<'_>, out: &mut Vec<u8>) {
    write(value, 0, out);
}

fn write(value: Value<'_>, level: usize, out: &mut Vec<u8>) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.push(b'[');
            for (position, item) in items.iter().enumerate() {
                start_line(position, level + 1, out);
                write(*item, level + 1, out);
            }
            start_line(0, level, out);
            out.push(b']');
        }
        Value::Object(entries) if !entries.is_empty() => {
            out.push(b'{');
            for (position, entry) in entries.iter().enumerate() {
                start_line(position, level + 1, out);
                encode_into(Value::string(entry.key), out);
                out.extend_from_slice(b": ");
                write(entry.value, level + 1, out);
            }
            start_line(0, level, out);
            out.push(b'}');
        }
        scalar_or_empty => encode_into(scalar_or_empty, out),
    }
}

fn start_line(position: usize, level: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(if position > 0 { b",\n" } else { b"\n" });
    out.resize(out.len() + 2 * level, b' ');
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, decode};

    use super::*;

    #[test]
    fn a_field_a_line() {
        let text = "{\n  \"a\": [\n    1.0,\n    {}\n  ],\n  \"b\": {\n    \"\\n\": null\n  },\n  \"c\": []\n}";
        let arena = Arena::new();
        let mut out = Vec::new();
        write_pretty(decode(text.as_bytes(), &arena).unwrap(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }
}
