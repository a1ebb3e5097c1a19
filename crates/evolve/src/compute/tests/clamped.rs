//! Numbers that the other side cannot hold.

use super::*;
use crate::{Bounds, Clamped};

const STRING: &str = "{type: string}";
const INTEGER: &str = "{type: integer}";
const INT32: &str = "{type: integer, format: int32}";
const NUMBER: &str = "{type: number}";

/// A conversion clamped to the bounds of both schemas.
pub(super) fn clamped(old: &str, new: &str, with: Option<Conversion>) -> Trial {
    single(old, new, conversion(old, new, with))
}

fn conversion(old: &str, new: &str, with: Option<Conversion>) -> Conversion {
    let [from, to] = [old, new].map(|text| Bounds::of(&schema(text)));
    Conversion::Clamped(Clamped { from, to, ..Clamped::new(with) })
}

#[test]
fn the_nearest_number_that_a_field_can_hold_is_shown() {
    let whole = clamped(INTEGER, "{type: integer, minimum: 1, maximum: 9}", None);
    whole.is_both_ways(&[("1", "1"), ("9", "9"), ("5", "5"), ("-", "-")]);
    whole.is_up(&[("0", "1"), ("10", "9"), ("-9223372036854775808", "1"), ("1e1", "9"), ("5.0", "5.0")]);
    // The other version has no such bounds.
    whole.is_down(&[("0", "0"), ("100", "100"), ("99999999999999999999", "9223372036854775807")]);

    let both = clamped("{type: number, minimum: 0.5}", "{type: number, maximum: -1.5}", None);
    both.is_up(&[("7", "-1.5"), ("0.5", "-1.5"), ("1e999", "-1.5"), ("-1e999", "-1.7976931348623157e308")]);
    both.is_down(&[("-7", "0.5"), ("0.75", "0.75")]);
}

#[test]
fn what_a_converter_gives_is_clamped() {
    let seconds = clamped(STRING, "{type: integer, format: int32, minimum: 0}", Some(Conversion::DurationSeconds));
    seconds.is_both_ways(&[("\"10m0s\"", "600")]);
    seconds.is_up(&[
        ("\"876000h\"", "2147483647"),
        ("\"-1s\"", "0"),
        ("\"-500ms\"", "0"),
        ("\"soon\"", "failed: \"soon\" is no duration"),
    ]);

    let bytes = clamped(STRING, INTEGER, Some(Conversion::Quantity));
    bytes.is_up(&[("\"1e30\"", "9223372036854775807"), ("\"-1e30\"", "-9223372036854775808"), ("\"500m\"", "1")]);
    let cores = clamped(STRING, "{type: number, maximum: 64}", Some(Conversion::Quantity));
    cores.is_up(&[("\"1e999999\"", "64"), ("\"-1e999999\"", "-1.7976931348623157e308"), ("\"500m\"", "0.5")]);

    let scaled = clamped("{type: integer, minimum: 0}", INT32, Some(Conversion::Scale("1000".into())));
    scaled.is_both_ways(&[("2", "2000")]);
    scaled.is_up(&[("9223372036854775807", "2147483647"), ("-9223372036854775807", "-2147483648")]);
    scaled.is_down(&[("-2000", "0"), ("1500", "failed: 1.5 is not a whole number")]);
    let negative = clamped(NUMBER, INTEGER, Some(Conversion::Scale("-100".into())));
    negative.is_up(&[("1e30", "-9223372036854775808"), ("-1e30", "9223372036854775807"), ("0.07", "-7")]);

    let port = clamped(STRING, "{type: integer, minimum: 1, maximum: 65535}", Some(Conversion::Text));
    port.is_both_ways(&[("\"8080\"", "8080")]);
    port.is_up(&[
        ("\"0\"", "1"),
        ("\"99999\"", "65535"),
        ("\"9999999999999999999999999999999999999999999999999\"", "65535"),
        ("\"1.5\"", "failed: 1.5 is not a whole number"),
        ("\"http\"", "failed: \"http\" is no integer"),
    ]);

    let expression = Conversion::Expression { up: located("self * 2".into()), down: located("self / 2".into()) };
    let doubled = clamped(INTEGER, "{type: integer, maximum: 9}", Some(expression));
    doubled.is_up(&[("4", "8"), ("5", "9")]);
}

#[test]
fn every_item_is_clamped_and_keeps_its_own_original() {
    let with = conversion(STRING, INT32, Some(Conversion::DurationSeconds));
    let list = |of: &str, name: &str| format!("{name}: {{type: array, items: {of}}}");
    let delays = trial(&list(STRING, "a"), &list(INT32, "b"), &["a[]"], &["b[]"], with);
    let (texts, numbers) = (r#"["1m","876000h"]"#, "[60,2147483647]");
    assert_eq!(delays.up(texts), numbers);
    let edited = delays.convert(Direction::Down, "[61,2147483647]", Some((numbers, texts)));
    assert_eq!(edited, r#"["1m1s","876000h"]"#);
}

#[test]
fn only_numbers_with_a_nearest_one_are_clamped() {
    let refused = |old: &str, new: &str, with: Option<Conversion>| {
        let with = conversion(old, new, with);
        let (old, new) = (format!("a: {old}"), format!("b: {new}"));
        let problems = compiled(&old, &new, &["a"], &["b"], with, &Hooks::default()).unwrap_err();
        problems[0].message.clone()
    };
    assert_eq!(
        refused(STRING, STRING, None),
        "a cannot become b this way: it is for two integers or two numbers, and these are string and string"
    );
    assert_eq!(
        refused(INTEGER, NUMBER, None),
        "a cannot become b this way: it is for two integers or two numbers, and these are integer and number"
    );
    assert_eq!(
        refused(STRING, "{type: boolean}", Some(Conversion::Text)),
        "a cannot become b this way: only numbers can be clamped, and these are string and boolean"
    );
    assert_eq!(
        refused(INTEGER, "{type: integer, minimum: 2, maximum: 1}", None),
        "a cannot become b this way: no number is within the bounds of the field that is to hold it"
    );
}
