//! Values without parts, alone and in lists and maps.

use super::*;

const STRING: &str = "{type: string}";
const INTEGER: &str = "{type: integer}";
const NUMBER: &str = "{type: number}";
const BOOLEAN: &str = "{type: boolean}";
const INT_OR_STRING: &str = "{x-kubernetes-int-or-string: true}";

#[test]
fn durations_are_seconds() {
    let seconds = single(STRING, INTEGER, Conversion::DurationSeconds);
    seconds.is_both_ways(&[
        ("\"10m0s\"", "600"),
        ("\"1h0m0s\"", "3600"),
        ("\"0s\"", "0"),
        ("\"-1m30s\"", "-90"),
        ("\"2562047h47m16s\"", "9223372036"),
        ("-", "-"),
    ]);
    seconds.is_up(&[
        ("\"10m\"", "600"),
        ("\"1.9s\"", "1"),
        ("\"-1.9s\"", "-1"),
        ("\"500ms\"", "0"),
        ("null", "-"),
        ("\"soon\"", "failed: \"soon\" is no duration"),
        ("\"\"", "failed: \"\" is no duration"),
        ("\"9999999h\"", "failed: \"9999999h\" is no duration"),
    ]);
    seconds.is_down(&[
        ("1e2", "\"1m40s\""),
        ("9223372037", "failed: out of range: 9223372037"),
        ("1e999999999999", "failed: out of range: 1e999999999999"),
    ]);

    let exact = single(NUMBER, STRING, Conversion::DurationSeconds);
    exact.is_both_ways(&[("1.5", "\"1.5s\""), ("0.02", "\"20ms\""), ("-90.25", "\"-1m30.25s\""), ("1e-9", "\"1ns\"")]);
    exact.is_up(&[("0.0000000019", "\"1ns\"")]);

    let whole = single(INT_OR_STRING, "{x-kubernetes-preserve-unknown-fields: true}", Conversion::DurationSeconds);
    whole.is_down(&[("\"1500ms\"", "failed: 1.5 is not a whole number")]);
}

#[test]
fn quantities_are_numbers() {
    let bytes = single(STRING, INTEGER, Conversion::Quantity);
    bytes.is_both_ways(&[("\"0\"", "0"), ("\"512\"", "512"), ("\"-5\"", "-5")]);
    bytes.is_up(&[
        ("\"100Mi\"", "104857600"),
        ("\"1.5Gi\"", "1610612736"),
        ("\"2k\"", "2000"),
        ("\"500m\"", "1"),
        ("\"-500m\"", "-1"),
        ("\"10500m\"", "11"),
        ("\"-100.1\"", "-101"),
        ("\"784.571Mi\"", "822682321"),
        ("\"1024E-2\"", "11"),
        ("\"1e3\"", "1000"),
        ("\"100Ei\"", "9223372036854775807"),
        ("\"1e2000000000\"", "failed: out of range: 1e2000000000"),
        ("\"1e30\"", "failed: out of range: 1e30"),
        ("\"much\"", "failed: \"much\" is no quantity"),
    ]);
    let anything = single(STRING, "{x-kubernetes-preserve-unknown-fields: true}", Conversion::Quantity);
    anything.is_up(&[("\"500m\"", "0.5"), ("\"1Ki\"", "1024")]);
    let cores = single(INT_OR_STRING, NUMBER, Conversion::Quantity);
    cores.is_both_ways(&[("\"0.5\"", "0.5"), ("\"2\"", "2")]);
    cores.is_up(&[("\"500m\"", "0.5"), ("2", "2"), ("\"1n\"", "1e-9")]);
    cores.is_up(&[("\"1e400\"", "failed: out of range: 1e400")]);
    cores.is_down(&[("1e30", "\"1e30\""), ("1.50", "\"1.5\"")]);
}

#[test]
fn numbers_scale_exactly() {
    let grams = single(NUMBER, INTEGER, Conversion::Scale("1000".into()));
    grams.is_both_ways(&[
        ("1.5", "1500"),
        ("0", "0"),
        ("-0.001", "-1"),
        ("9223372036854775.807", "9223372036854775807"),
    ]);
    grams.is_up(&[
        ("1.0005", "failed: 1000.5 is not a whole number"),
        ("1e18", "failed: out of range: 1e21"),
        ("1e999999", "failed: out of range: 1e999999"),
    ]);
    let thirds = single(NUMBER, NUMBER, Conversion::Scale("3".into()));
    thirds.is_both_ways(&[("0.1", "0.3"), ("1e30", "3e30")]);
    thirds.is_down(&[("1", "0.333333333333333333"), ("-1e3", "-333.333333333333333")]);
    let negated = single(INTEGER, INTEGER, Conversion::Scale("-1".into()));
    negated.is_both_ways(&[("7", "-7"), ("9223372036854775807", "-9223372036854775807")]);
    negated.is_up(&[("-9223372036854775808", "failed: out of range: 9223372036854775808")]);
    negated.is_down(&[("-9223372036854775808", "failed: out of range: 9223372036854775808")]);
    let twice = single(INTEGER, INTEGER, Conversion::Scale("2".into()));
    twice.is_up(&[("9223372036854775807", "failed: out of range: 18446744073709551614")]);
    twice.is_down(&[("7", "failed: 3.5 is not a whole number"), ("-8", "-4")]);
    let thrice = single(INTEGER, INTEGER, Conversion::Scale("3".into()));
    thrice.is_down(&[
        ("9223372036854775807", "failed: 9223372036854775807 is no multiple of the factor"),
        ("9223372036854775806", "3074457345618258602"),
        ("10", "failed: 3.33333333333333333 is not a whole number"),
    ]);
    let fractions = single(INTEGER, INTEGER, Conversion::Scale("0.25".into()));
    fractions.is_both_ways(&[("8", "2"), ("-4", "-1")]);
    fractions.is_up(&[("7", "failed: 1.75 is not a whole number")]);
}

#[test]
fn texts_spell_values() {
    let integer = single(STRING, INTEGER, Conversion::Text);
    integer.is_both_ways(&[("\"8080\"", "8080"), ("\"-1\"", "-1"), ("\"9223372036854775807\"", "9223372036854775807")]);
    integer.is_up(&[
        ("\"+5\"", "5"),
        ("\"007\"", "7"),
        ("\"8080.0\"", "8080"),
        ("\"1e3\"", "1000"),
        ("\"-0\"", "0"),
        ("\"\"", "failed: \"\" is no integer"),
        ("\"٣\"", "failed: \"٣\" is no integer"),
        ("\"1.5\"", "failed: 1.5 is not a whole number"),
        ("\"9223372036854775808\"", "failed: out of range: 9223372036854775808"),
    ]);
    let number = single(NUMBER, STRING, Conversion::Text);
    number.is_both_ways(&[("1.5", "\"1.5\""), ("1e308", "\"1e308\"")]);
    number.is_up(&[("1.50", "\"1.50\"")]);
    number.is_down(&[
        ("\"1.50\"", "1.5"),
        ("\"1e3\"", "1000"),
        ("\"-0\"", "0"),
        ("\"1e400\"", "failed: out of range: 1e400"),
    ]);
    let digits = format!("3.{}", "14159".repeat(12));
    assert_eq!(number.down(&format!("\"{digits}\"")), digits);
    let googol = format!("\"1{}\"", "0".repeat(400));
    assert!(number.down(&googol).starts_with("failed: out of range: 1000"));
    let boolean = single(BOOLEAN, STRING, Conversion::Text);
    boolean.is_both_ways(&[("true", "\"true\""), ("false", "\"false\"")]);
    boolean.is_down(&[("\"yes\"", "failed: \"yes\" is no boolean")]);
    single(STRING, INT_OR_STRING, Conversion::Text).is_both_ways(&[
        ("\"80\"", "80"),
        ("\"http\"", "\"http\""),
        ("\"080\"", "\"080\""),
    ]);
}

#[test]
fn values_have_other_names_and_the_first_of_several_is_meant() {
    let pairs = |pairs: &[(&str, &str)]| {
        Conversion::Values(pairs.iter().map(|(old, new)| ((*old).into(), (*new).into())).collect())
    };
    let modes = single(STRING, STRING, pairs(&[("Fast", "Quick"), ("Slow", "Careful"), ("Rapid", "Quick")]));
    modes.is_both_ways(&[("\"Fast\"", "\"Quick\""), ("\"Slow\"", "\"Careful\""), ("\"Other\"", "\"Other\"")]);
    modes.is_up(&[("\"Rapid\"", "\"Quick\"")]);
    let levels = single(INTEGER, STRING, pairs(&[("0", "off"), ("1", "on")]));
    levels.is_both_ways(&[("0", "\"off\""), ("1", "\"on\""), ("7", "\"7\"")]);
    levels.is_down(&[("\"dim\"", "failed: \"dim\" is no integer")]);
    levels.is_up(&[("1.0", "\"on\""), ("0e5", "\"off\""), ("7.0", "\"7.0\"")]);
    let numbers = single(INTEGER, INTEGER, pairs(&[("1", "10"), ("1000", "2")]));
    numbers.is_up(&[("1.0", "10"), ("1e3", "2"), ("2.0", "2")]);
    numbers.is_down(&[("10.0", "1"), ("20e-1", "1000")]);
    single(BOOLEAN, STRING, pairs(&[("true", "Enabled"), ("false", "")]))
        .is_both_ways(&[("true", "\"Enabled\""), ("false", "\"\"")]);
}

#[test]
fn null_stays_null_where_it_can() {
    let nullable = single("{type: string, nullable: true}", "{type: integer, nullable: true}", Conversion::Text);
    nullable.is_both_ways(&[("null", "null"), ("-", "-")]);
    single(STRING, INTEGER, Conversion::Text).is_up(&[("null", "-")]);
}

#[test]
fn every_item_and_every_value_is_converted_on_its_own() {
    let list = |of: &str| format!("{{type: array, items: {of}}}");
    let map = |of: &str| format!("{{type: object, additionalProperties: {of}}}");
    let old = format!("a: {}", list(&map(STRING)));
    let new = format!("b: {}", list(&map(INTEGER)));
    let seconds = trial(&old, &new, &["a[]{}"], &["b[]{}"], Conversion::DurationSeconds);
    seconds.is_both_ways(&[(r#"[{"x":"1m0s","y":"2s"},{}]"#, r#"[{"x":60,"y":2},{}]"#), ("[]", "[]")]);
    seconds.is_up(&[
        (r#"[{"x":"1m","y":"?"}]"#, "failed: y: \"?\" is no duration"),
        (r#"[{"x":null,"y":"1s"}]"#, r#"[{"y":1}]"#),
        (r#"{"x":"1m"}"#, "failed: wrong type: it must be of type list, not an object"),
    ]);
}

#[test]
fn editing_one_item_never_spells_the_others_anew() {
    let list = |of: &str| format!("{{type: array, items: {of}}}");
    let old = format!("a: {}", list(STRING));
    let seconds = trial(&old, &format!("b: {}", list(INTEGER)), &["a[]"], &["b[]"], Conversion::DurationSeconds);
    let before = Some(("[60,120,180]", r#"["60s","2m","3m"]"#));
    let down = |items: &str| seconds.convert(Direction::Down, items, before);
    assert_eq!(down("[60,120,180]"), r#"["60s","2m","3m"]"#);
    assert_eq!(down("[60,7,180]"), r#"["60s","7s","3m"]"#);
    assert_eq!(down("[180,120,60]"), r#"["3m","2m","60s"]"#);
    assert_eq!(down("[120,180]"), r#"["2m","3m"]"#);
    assert_eq!(down("[60,60]"), r#"["60s","1m0s"]"#);

    let map = |of: &str| format!("{{type: object, additionalProperties: {of}}}");
    let new = format!("b: {}", map(INTEGER));
    let seconds = trial(&format!("a: {}", map(STRING)), &new, &["a{}"], &["b{}"], Conversion::DurationSeconds);
    let before = Some((r#"{"x":60,"y":60}"#, r#"{"x":"60s","y":"1m"}"#));
    assert_eq!(
        seconds.convert(Direction::Down, r#"{"y":60,"x":61,"z":60}"#, before),
        r#"{"y":"1m","x":"1m1s","z":"1m0s"}"#
    );
}
