//! The one text of every document that means the same.

use crate::{Text, Value, encode::write_text, value::sorted};

/// The bytes that all equivalent documents share, and no others: `canonical(a) == canonical(b)` exactly if
/// [`a.equivalent(b)`](Value::equivalent). Fit to be hashed, compared and stored.
///
/// It is compact JSON with the keys of objects in the order of their bytes, escapes only where JSON demands them, and
/// numbers in a normal form: `1`, `1.0` and `10e-1` are `1`. Numbers from `0.000001` to 21 digits before the point have
/// no exponent (`1.5`, `100000000000000000000`), others are written as `1.5e21` or `1e-7`. No digit is ever lost, and
/// none added beyond those zeros, however large the number.
pub fn canonical(value: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

fn write(value: Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => number.write_canonical(out),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                write(*item, out);
            }
            out.push(b']');
        }
        Value::Object(entries) => {
            out.push(b'{');
            for (position, entry) in sorted(entries).into_iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                write_text(Text::new(entry.key), out);
                out.push(b':');
                write(entry.value, out);
            }
            out.push(b'}');
        }
    }
}
