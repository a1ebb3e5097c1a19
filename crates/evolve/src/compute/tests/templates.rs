//! Texts and fields that are parts of them.

use super::*;

fn template(template: &str, pattern: Option<&str>) -> Conversion {
    Conversion::Template { template: template.into(), pattern: pattern.map(|pattern| located(pattern.into())) }
}

#[test]
fn a_text_is_put_together_and_taken_apart() {
    let new = "host: {type: string}, port: {type: integer}";
    let endpoint =
        trial("endpoint: {type: string}", new, &["endpoint"], &["host", "port"], template("{host}:{port}", None));
    endpoint.is_both_ways(&[
        ("\"example.com:80\"", "\"example.com\" | 80"),
        ("\"example.com\"", "\"example.com\" | -"),
        ("\"größe:1\"", "\"größe\" | 1"),
        ("\"\"", "\"\" | -"),
        ("-", "- | -"),
    ]);
    endpoint.is_up(&[
        ("\"a:b:80\"", "failed: port: \"b:80\" is no integer"),
        ("\"a:\"", "failed: port: \"\" is no integer"),
        ("null", "- | -"),
    ]);
    endpoint.is_down(&[("- | 80", "\":80\""), ("\"a\" | null", "\"a\"")]);
}

#[test]
fn a_pattern_says_where_parts_begin() {
    let pattern = "(?P<host>.*):(?P<port>[0-9]+)|(?P<path>/.*)";
    let new = "host: {type: string}, port: {type: integer}, path: {type: string}";
    let with = template("{host}:{port}{path}", Some(pattern));
    let endpoint = trial("endpoint: {type: string}", new, &["endpoint"], &["host", "port", "path"], with);
    endpoint.is_both_ways(&[("\"::1:80\"", "\"::1\" | 80 | -"), ("\"/run/it\"", "- | - | \"/run/it\"")]);
    endpoint.is_up(&[("\"a:80 \"", "failed: \"a:80 \" does not match"), ("\"x\"", "failed: \"x\" does not match")]);
}

#[test]
fn a_pattern_may_end_in_a_comment() {
    let pattern = "(?x) (?P<host> .* ) : (?P<port> [0-9]+ ) # the last colon (if any)";
    let with = template("{host}:{port}", Some(pattern));
    let new = "host: {type: string}, port: {type: integer}";
    let endpoint = trial("endpoint: {type: string}", new, &["endpoint"], &["host", "port"], with);
    endpoint.is_both_ways(&[("\"::1:80\"", "\"::1\" | 80")]);
    endpoint.is_up(&[("\"a:80 \"", "failed: \"a:80 \" does not match")]);
}

#[test]
fn either_side_may_be_the_text_and_braces_are_doubled() {
    let old = "first: {type: string}, isMain: {type: boolean}";
    let with = template("{{{first}}} ({isMain})!", None);
    let text = trial(old, "text: {type: string}", &["first", "isMain"], &["text"], with);
    text.is_both_ways(&[("\"a\" | true", "\"{a} (true)!\""), ("- | -", "-")]);
    text.is_down(&[
        ("\"{a} (true)\"", "failed: \"{a} (true)\" does not match"),
        ("\"a!\"", "failed: \"a!\" does not match"),
    ]);
    text.is_up(&[("- | false", "\"} (false)!\"")]);

    let one = trial("a: {type: string}", "tag: {type: string}", &["a"], &["tag"], template("v{tag}", None));
    one.is_both_ways(&[("\"v1\"", "\"1\"")]);
    one.is_up(&[("\"1\"", "failed: \"1\" does not match")]);
    trial("tag: {type: string}", "a: {type: string}", &["tag"], &["a"], template("v{tag}", None))
        .is_both_ways(&[("\"1\"", "\"v1\"")]);
}

#[test]
fn a_part_that_is_absent_is_left_out_with_the_text_before_it() {
    let new = "a: {type: string}, b: {type: string}, c: {type: string}";
    let text = trial("t: {type: string}", new, &["t"], &["a", "b", "c"], template("{a}/{b}@{c}", None));
    text.is_both_ways(&[
        ("\"x/y@z\"", "\"x\" | \"y\" | \"z\""),
        ("\"x/y\"", "\"x\" | \"y\" | -"),
        ("\"x@z\"", "\"x\" | - | \"z\""),
        ("\"x\"", "\"x\" | - | -"),
    ]);
}
