//! What a plain scalar means: in YAML 1.1 as kubectl reads it, and in the core schema of YAML 1.2.

use std::borrow::Cow;

use crate::{Number, Value, Yaml};

/// The meaning of a scalar that is not quoted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Resolved<'t> {
    Null,
    Bool(bool),
    /// A number written without fraction and exponent, as JSON writes it.
    Integer(Cow<'t, str>),
    /// A number written with one of them, as JSON writes it.
    Float(Cow<'t, str>),
    /// An infinity or not-a-number.
    NotFinite,
    String,
}

/// The meaning of `text` as a plain scalar.
pub(crate) fn resolve(text: &str, yaml: Yaml) -> Resolved<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Resolved::Null,
        "true" | "True" | "TRUE" => Resolved::Bool(true),
        "false" | "False" | "FALSE" => Resolved::Bool(false),
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf"
        | "-.INF" => Resolved::NotFinite,
        _ if yaml == Yaml::Core => core_number(text),
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Resolved::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Resolved::Bool(false),
        _ => match text.as_bytes()[0] {
            b'.' if underscores_separate_digits(text) => decimal(false, &without_underscores(text)),
            b'+' | b'-' | b'0'..=b'9' => number(text),
            _ => Resolved::String,
        },
    }
}

/// A scalar key as text, the way kubectl turns it into one; `None` if the value is no key.
pub(crate) fn key_text(value: Value<'_>) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.as_str().into()),
        Value::Bool(value) => Some(if value { "true" } else { "false" }.into()),
        Value::Number(number) => Some(match number.as_i64() {
            Some(integer) => integer.to_string().into(),
            None if number.as_str().contains(['.', 'e', 'E']) => single_precision(number.as_f64()).into(),
            None => number.as_str().into(),
        }),
        _ => None,
    }
}

/// The shortest text that means the same single-precision number, with an exponent where it is large or small.
fn single_precision(value: f64) -> String {
    let value = value as f32;
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    match scientific.split_once('e') {
        Some((digits, exponent)) => match exponent.parse::<i32>() {
            Ok(exponent) if !(-4..6).contains(&exponent) => format!("{digits}e{exponent:+03}"),
            _ => value.to_string(),
        },
        None => scientific,
    }
}

/// A text that is a number in YAML 1.2, or none.
fn core_number(text: &str) -> Resolved<'_> {
    let prefixed = match text.as_bytes() {
        [b'0', b'x', ..] => Some(16),
        [b'0', b'o', ..] => Some(8),
        _ => None,
    };
    if let Some(radix) = prefixed {
        // The standard library takes a sign here.
        let digits = Some(&text[2..]).filter(|digits| !digits.starts_with('+'));
        let value = digits.and_then(|digits| u64::from_str_radix(digits, radix).ok());
        return value.map_or(Resolved::String, |value| Resolved::Integer(value.to_string().into()));
    }
    match text.strip_prefix('-') {
        Some(digits) => decimal(true, digits),
        None => decimal(false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// A text that starts with a sign or a digit.
fn number(text: &str) -> Resolved<'_> {
    if Number::new(text).is_some() {
        let is_float = text.contains(['.', 'e', 'E']);
        return if is_float { Resolved::Float(text.into()) } else { Resolved::Integer(text.into()) };
    }
    let plain = without_underscores(text);
    let (sign, digits) = match plain.as_bytes()[0] {
        sign @ (b'+' | b'-') => (Some(sign), &plain[1..]),
        _ => (None, &plain[..]),
    };
    let negative = sign == Some(b'-');
    let with_radix = |digits: &str, radix| {
        // The standard library takes a sign here, and this is the place after it.
        let value = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let value = value.then(|| u64::from_str_radix(digits, radix).ok()).flatten()?;
        match sign {
            None => Some(value.to_string()),
            Some(b'-') => 0i64.checked_sub_unsigned(value).map(|value| value.to_string()),
            Some(_) => i64::try_from(value).ok().map(|value| value.to_string()),
        }
    };
    let prefixed = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => Some(16),
        [b'0', b'o' | b'O', ..] => Some(8),
        [b'0', b'b' | b'B', ..] => Some(2),
        _ => None,
    };
    if let Some(radix) = prefixed {
        // Integers of more than 64 bits are no integers to kubectl, and nobody else agrees on what they are.
        return with_radix(&digits[2..], radix).map_or(Resolved::String, |value| Resolved::Integer(value.into()));
    }
    if digits.starts_with('0')
        && let Some(value) = with_radix(digits, 8)
    {
        return Resolved::Integer(value.into());
    }
    decimal(negative, digits)
}

/// A decimal number without its sign and without underscores, brought into JSON's grammar.
fn decimal(negative: bool, text: &str) -> Resolved<'static> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_digits = exponent.get(1..).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
    let is_number = are_digits(whole)
        && fraction.is_none_or(are_digits)
        && (!whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty()))
        && exponent_digits.is_none_or(|digits| !digits.is_empty() && are_digits(digits));
    if !is_number {
        return Resolved::String;
    }
    let mut json = if negative { "-" } else { "" }.to_owned();
    match whole.trim_start_matches('0') {
        "" => json.push('0'),
        digits => json.push_str(digits),
    }
    if let Some(fraction) = fraction {
        json.push('.');
        json.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    json.push_str(exponent);
    debug_assert!(Number::new(&json).is_some());
    if fraction.is_none() && exponent.is_empty() {
        Resolved::Integer(json.into())
    } else {
        Resolved::Float(json.into())
    }
}

fn without_underscores(text: &str) -> Cow<'_, str> {
    if text.contains('_') { text.replace('_', "").into() } else { text.into() }
}

/// Whether every underscore has a digit on either side, which numbers that start with a point insist on.
fn underscores_separate_digits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    (1..bytes.len()).all(|at| bytes[at] != b'_' || (is_digit(at - 1) && is_digit(at + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, yaml: Yaml) -> String {
        match resolve(text, yaml) {
            Resolved::Null => "null".to_owned(),
            Resolved::Bool(value) => value.to_string(),
            Resolved::Integer(text) => format!("int {text}"),
            Resolved::Float(text) => format!("float {text}"),
            Resolved::NotFinite => "not finite".to_owned(),
            Resolved::String => "string".to_owned(),
        }
    }

    #[test]
    fn scalars_mean_what_they_mean_to_kubectl() {
        let long = "9".repeat(10_000);
        let table = [
            ("", "null"),
            ("~", "null"),
            ("Null", "null"),
            ("nULL", "string"),
            ("yes", "true"),
            ("Y", "true"),
            ("oN", "string"),
            ("ON", "true"),
            ("off", "false"),
            ("n", "false"),
            ("FALSE", "false"),
            ("fALSE", "string"),
            ("0", "int 0"),
            ("-0", "int -0"),
            ("+5", "int 5"),
            ("1_000", "int 1000"),
            ("_1", "string"),
            ("0755", "int 493"),
            ("-0755", "int -493"),
            ("+00", "int 0"),
            ("0o17", "int 15"),
            ("0b101", "int 5"),
            ("-0b101", "int -5"),
            ("0x1F", "int 31"),
            ("-0x1f", "int -31"),
            ("+0x1f", "int 31"),
            ("0x_1_f", "int 31"),
            ("-0x0", "int 0"),
            ("0x", "string"),
            ("0x+1", "string"),
            ("0xfg", "string"),
            ("0xffffffffffffffff", "int 18446744073709551615"),
            ("+0xffffffffffffffff", "string"),
            ("-0x8000000000000000", "int -9223372036854775808"),
            ("-0x8000000000000001", "string"),
            ("0x10000000000000000", "string"),
            ("089", "int 89"),
            ("07777777777777777777777777", "int 7777777777777777777777777"),
            ("123456789012345678901234567890", "int 123456789012345678901234567890"),
            ("1.0", "float 1.0"),
            ("1e3", "float 1e3"),
            ("1E+3", "float 1E+3"),
            ("+1e3", "float 1e3"),
            ("5.", "float 5.0"),
            ("5.e3", "float 5.0e3"),
            (".5", "float 0.5"),
            ("-.5", "float -0.5"),
            (".5_0", "float 0.50"),
            ("._5", "string"),
            (".", "string"),
            (".e3", "string"),
            ("-", "string"),
            ("+", "string"),
            ("1e", "string"),
            ("1e+", "string"),
            ("00.5", "float 0.5"),
            ("1.2.3", "string"),
            ("1:20", "string"),
            ("2001-01-01", "string"),
            ("2001-12-14T21:59:43Z", "string"),
            (".inf", "not finite"),
            ("-.INF", "not finite"),
            (".NaN", "not finite"),
            (".iNF", "string"),
            ("<<", "string"),
            ("é", "string"),
        ];
        for (text, meaning) in table {
            assert_eq!(written(text, Yaml::AsKubectl), meaning, "{text:?}");
        }
        assert_eq!(written(&long, Yaml::AsKubectl), format!("int {long}"));
    }

    #[test]
    fn scalars_mean_what_the_core_schema_says_where_it_is_asked_for() {
        let table = [
            ("", "null"),
            ("~", "null"),
            ("NULL", "null"),
            ("nULL", "string"),
            ("true", "true"),
            ("FALSE", "false"),
            ("y", "string"),
            ("NO", "string"),
            ("off", "string"),
            ("0", "int 0"),
            ("-0", "int -0"),
            ("+12", "int 12"),
            ("0755", "int 755"),
            ("0o17", "int 15"),
            ("0O17", "string"),
            ("0x1F", "int 31"),
            ("0x", "string"),
            ("0x+1", "string"),
            ("-0x1F", "string"),
            ("0x10000000000000000", "string"),
            ("0b11", "string"),
            ("1_000", "string"),
            ("1:20", "string"),
            ("1.", "float 1.0"),
            ("-.5e3", "float -0.5e3"),
            ("1.50", "float 1.50"),
            (".", "string"),
            ("+", "string"),
            ("-", "string"),
            ("+-1", "string"),
            (".inf", "not finite"),
            ("2001-01-01", "string"),
            ("é", "string"),
        ];
        for (text, meaning) in table {
            assert_eq!(written(text, Yaml::Core), meaning, "{text:?}");
        }
    }

    #[test]
    fn keys_become_the_text_that_kubectl_makes_of_them() {
        let table = [
            ("1", "1"),
            ("-0", "0"),
            ("1.0", "1"),
            ("1.50", "1.5"),
            ("1e3", "1000"),
            ("123456.0", "123456"),
            ("1234567.0", "1.234567e+06"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("1e300", ".inf"),
        ];
        for (number, key) in table {
            let number = Value::Number(Number::new(number).unwrap());
            assert_eq!(key_text(number).unwrap(), key);
        }
        assert_eq!(key_text(Value::Bool(true)).unwrap(), "true");
        assert!(key_text(Value::Null).is_none());
    }
}
