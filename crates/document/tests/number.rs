//! Numbers are exact, whatever their length and exponent.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

use std::{cmp::Ordering, time::Instant};

use proptest::prelude::*;
use wheelwright_document::{Arena, Number, Value, canonical, decode};

fn number(text: &str) -> Number<'_> {
    Number::new(text).unwrap_or_else(|| panic!("{text} is a number"))
}

fn normal(text: &str) -> String {
    String::from_utf8(canonical(Value::Number(number(text)))).unwrap()
}

#[test]
fn only_the_grammar_of_json_is_a_number() {
    for text in ["0", "-0", "10", "1.5", "-1.50", "1e5", "1E+5", "1e-05", "0.0", "0e0"] {
        assert!(Number::new(text).is_some(), "{text}");
    }
    for text in ["", "-", "+1", "01", "-01", ".5", "1.", "1.e5", "1e", "1e+", "1 ", " 1", "0x1", "NaN", "1_0", "1e5.5"]
    {
        assert!(Number::new(text).is_none(), "{text}");
    }
}

#[test]
fn every_spelling_of_a_value_has_the_same_normal_form() {
    let cases: [(&str, &[&str]); 13] = [
        ("0", &["0", "-0", "0.000", "0e99999999999999999999", "-0.0E-7"]),
        ("1", &["1", "1.0", "10e-1", "1E0", "0.1e1", "1e-0", "1e+000"]),
        ("-1.5", &["-1.5", "-15e-1", "-0.15e1", "-1.50"]),
        ("120", &["120", "12e1", "1.2e2", "120.0"]),
        ("0.000001", &["0.000001", "1e-6", "10e-7"]),
        ("1e-7", &["0.0000001", "1e-7"]),
        ("100000000000000000000", &["100000000000000000000", "1e20"]),
        ("1e21", &["1000000000000000000000", "1e21"]),
        ("1.000000000000000000001e21", &["1000000000000000000001"]),
        ("9007199254740993", &["9007199254740993", "9007199254740993.0"]),
        ("1e1000000000", &["1e1000000000", "0.01e1000000002", "100e999999998"]),
        ("-1.2e-99999999999999999999", &["-12e-100000000000000000000", "-0.12e-99999999999999999998"]),
        ("1e100000000000000000000", &["10e99999999999999999999", "0.1e00100000000000000000001"]),
    ];
    for (expected, spellings) in cases {
        for spelling in spellings {
            assert_eq!(normal(spelling), expected, "{spelling}");
            assert!(number(spelling).compare(number(expected)).is_eq(), "{spelling}");
        }
    }
}

#[test]
fn order_is_exact() {
    let ascending = [
        "-1e100000000000000000000",
        "-1e99999999999999999999",
        "-9223372036854775809",
        "-9223372036854775808",
        "-1",
        "-0.1",
        "-1e-99999999999999999999",
        "0",
        "1e-100000000000000000000",
        "1e-99999999999999999999",
        "1e-400",
        "0.1",
        "0.10000000000000000000001",
        "1",
        "9007199254740992",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "1e308",
        "1e309",
        "1e9223372036854775807",
        "1e9223372036854775808",
        "9.99e9223372036854775808",
        "1e9223372036854775809",
    ];
    for (i, a) in ascending.iter().enumerate() {
        for (j, b) in ascending.iter().enumerate() {
            assert_eq!(number(a).compare(number(b)), i.cmp(&j), "{a} and {b}");
            assert_eq!(normal(a) == normal(b), i == j, "{a} and {b}");
        }
    }
}

#[test]
fn conversions() {
    assert_eq!(number("9223372036854775807").as_i64(), Some(i64::MAX));
    assert_eq!(number("-0").as_i64(), Some(0));
    for text in ["9223372036854775808", "1.0", "1e3"] {
        assert_eq!(number(text).as_i64(), None, "{text}");
    }
    assert_eq!(number("0.1").as_f64(), 0.1);
    assert_eq!(number("1e400").as_f64(), f64::INFINITY);
    assert_eq!(number("-1e99999999999999999999").as_f64(), f64::NEG_INFINITY);
    assert_eq!(number("1e-99999999999999999999").as_f64(), 0.0);
    for (text, integral) in [
        ("3", true),
        ("3.0", true),
        ("30e-1", true),
        ("-0.0", true),
        ("0e-99999999999999999999", true),
        ("1e99999999999999999999", true),
        ("1.5e99999999999999999999", true),
        ("1.5e1", true),
        ("1.5", false),
        ("1.55e1", false),
        ("3e-1", false),
        ("1e-99999999999999999999", false),
        ("100000000000000000000.00000000000000000001", false),
    ] {
        assert_eq!(number(text).is_integral(), integral, "{text}");
    }
}

#[test]
fn multiples_are_exact_where_doubles_are_not() {
    for (value, factor, expected) in [
        ("0.3", "0.1", true),
        ("4.35", "0.01", true),
        ("19.99", "0.01", true),
        ("9007199254740993", "2", false),
        ("100000000000000000000000000000000000000000000001", "3", false),
        ("100000000000000000000000000000000000000000000002", "3", true),
        ("1e1000000000", "7", false),
        ("7e1000000000", "7", true),
        ("1e1000000000", "1024", true),
        ("1e1000000000", "1e-1000000000", true),
        ("1e-1000000000", "1e1000000000", false),
        ("6e99999999999999999999", "2e99999999999999999999", true),
        ("6e99999999999999999999", "4e99999999999999999999", false),
        ("6e99999999999999999999", "4e99999999999999999998", true),
        ("1e63", "9223372036854775808", true),
        ("1e62", "9223372036854775808", false),
        ("-6", "3", true),
        ("6", "-3", true),
        ("0", "0", true),
        ("0.0", "5", true),
        ("1", "0", false),
        ("1.5", "1", false),
        ("246913578024691357802", "123456789012345678901", true),
    ] {
        assert_eq!(number(value).is_multiple_of(number(factor)), expected, "{value} of {factor}");
    }
}

#[test]
fn long_numbers_and_huge_exponents_end_quickly() {
    let long = "9".repeat(1_000_000);
    let huge = format!("1e{long}");
    let tiny = format!("0.{}1e-{long}", "0".repeat(1_000_000));
    let start = Instant::now();
    for a in [&long, &huge, &tiny] {
        for b in [&long, &huge, &tiny, "1e-1000000000", "3"] {
            number(a).compare(number(b));
            number(a).is_multiple_of(number(b));
            number(b).is_multiple_of(number(a));
        }
        assert!(normal(a).len() <= a.len() + 20);
        number(a).is_integral();
        number(a).as_f64();
    }
    assert!(number(&huge).is_multiple_of(number(&tiny)));
    assert_eq!(number(&huge).compare(number(&long)), Ordering::Greater);
    // Generous, because builds for tests are slow; anything quadratic would take hours.
    assert!(start.elapsed().as_secs() < 60);
}

const SCALE: i32 = 12;

/// A number in one of its spellings, and its value times ten to the [`SCALE`].
fn spelled() -> impl Strategy<Value = (String, i128)> {
    let parts = (any::<bool>(), 0u32..100_000, -6i32..6, 0usize..5, 0usize..4);
    parts.prop_map(|(negative, digits, exponent, spelling, zeros)| {
        let digits_text = digits.to_string();
        let (first, rest) = digits_text.split_at(1);
        let padding = "0".repeat(zeros);
        let text = match spelling {
            0 => format!("{digits}e{exponent}"),
            1 => format!("{digits}.{padding}0E{exponent:+}"),
            2 => format!("{first}.{rest}0{padding}e{}", exponent + rest.len() as i32),
            3 => format!("{digits}{padding}e{}", exponent - zeros as i32),
            _ => format!("0.{padding}{digits}e{}", exponent + (zeros + digits_text.len()) as i32),
        };
        let value = i128::from(digits) * 10i128.pow((exponent + SCALE) as u32);
        if negative { (format!("-{text}"), -value) } else { (text, value) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn arithmetic_on_text_agrees_with_integers((a, a_value) in spelled(), (b, b_value) in spelled()) {
        let one = 10i128.pow(SCALE as u32);
        prop_assert_eq!(number(&a).compare(number(&b)), a_value.cmp(&b_value));
        prop_assert_eq!(normal(&a) == normal(&b), a_value == b_value);
        prop_assert_eq!(number(&a).is_integral(), a_value % one == 0);
        let multiple = a_value.checked_rem(b_value).map_or(a_value == 0, |rest| rest == 0);
        prop_assert_eq!(number(&a).is_multiple_of(number(&b)), multiple);
    }

    #[test]
    fn the_normal_form_is_a_number_and_normal((text, _) in spelled()) {
        let once = normal(&text);
        prop_assert!(number(&once).compare(number(&text)).is_eq());
        prop_assert_eq!(normal(&once), once.clone());
        let arena = Arena::new();
        prop_assert!(decode(once.as_bytes(), &arena).is_ok());
    }
}
