//! Hostile schemas and documents: the right outcome, no panic, no stack overflow, and nothing that costs more than
//! linear time. Sizes are such that a quadratic or exponential algorithm would run for minutes.

#[path = "bad_input/rules.rs"]
mod rules;
mod support;
#[path = "bad_input/updates.rs"]
mod updates;

use std::{fmt::Write, thread};

use support::lower;
use wheelwright_document::{Arena, Decode, Value, decode_json_spanned};
use wheelwright_schema::{AdmitErrorKind, ErrorType, Problem, Program, Root, check, lower_schema};

/// What admitting a document has come to: its size as JSON, unknown fields, and errors of each type.
struct Outcome {
    json: String,
    unknown: usize,
    errors: Vec<(ErrorType, String)>,
    truncated: bool,
}

impl Outcome {
    fn count(&self, kind: ErrorType) -> usize {
        self.errors.iter().filter(|(found, _)| *found == kind).count()
    }
}

/// Takes a schema through everything there is: lowering, every check, compilation and a document.
fn admit(schema: &str, document: &str) -> Outcome {
    let schema = lower(schema.as_bytes());
    check::check_schema(&schema, Root::Value);
    run(&Program::compile(&schema, Root::Value), document)
}

fn run(program: &Program, document: &str) -> Outcome {
    let arena = Arena::new();
    let limits = Decode { max_bytes: usize::MAX, ..Decode::default() };
    let document = limits.decode(document.as_bytes(), &arena).expect("the document is JSON").value;
    let admitted = program.admit(document, &arena).expect("there is no metadata");
    Outcome {
        json: format!("{:?}", admitted.value),
        unknown: admitted.unknown.len(),
        errors: admitted.errors.iter().map(|error| (error.kind(), error.path().to_string())).collect(),
        truncated: admitted.truncated,
    }
}

/// The stack of a thread that nobody has given a larger one.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(2 << 20).spawn(test).expect("a thread");
    thread.join().expect("the test passes");
}

/// The middle in as many layers as asked for.
fn nested(depth: usize, open: &str, middle: &str, close: &str) -> String {
    format!("{}{middle}{}", open.repeat(depth), close.repeat(depth))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

#[test]
fn schema_nested_as_deep_as_documents_may_be() {
    on_a_small_stack(|| {
        let leaf = r#"{"type":"string"}"#;
        let lists = nested(500, r#"{"type":"array","items":"#, leaf, "}");
        let document = nested(500, "[", r#""x""#, "]");
        let outcome = admit(&lists, &document);
        assert_eq!((outcome.json, outcome.errors.len()), (document, 0));

        let maps = nested(500, r#"{"type":"object","additionalProperties":"#, leaf, "}");
        let document = nested(500, r#"{"a":"#, "1", "}");
        assert_eq!(admit(&maps, &document).errors[0].0, ErrorType::TypeInvalid);

        let objects = nested(250, r#"{"type":"object","properties":{"a":"#, leaf, "}}");
        let document = nested(250, r#"{"a":"#, r#"{"b":1}"#, "}");
        let outcome = admit(&objects, &document);
        assert_eq!((outcome.unknown, outcome.count(ErrorType::TypeInvalid)), (1, 1));

        let nots = nested(500, r#"{"type":"object","not":"#, "{}", "}");
        admit(&nots, "{}");
    });
}

#[test]
fn document_nested_to_the_limit() {
    on_a_small_stack(|| {
        let keeps = r#"{"type":"object","x-kubernetes-preserve-unknown-fields":true}"#;
        let document = nested(511, r#"{"a":"#, "[null]", "}");
        let outcome = admit(keeps, &document);
        assert_eq!((outcome.json, outcome.errors.len()), (document, 0));

        let loses = r#"{"type":"object","properties":{"a":{"type":"object"}}}"#;
        let document = nested(512, r#"{"a":"#, "1", "}");
        assert_eq!((admit(loses, &document).json.as_str(), admit(loses, &document).unknown), (r#"{"a":{}}"#, 1));

        let empties = r#"{"type":"object","additionalProperties":true}"#;
        let document = format!(r#"{{"a":{}}}"#, nested(510, "[", r#"{"b":1}"#, "]"));
        assert_eq!(admit(empties, &document).unknown, 1);
    });
}

#[test]
fn very_many_properties() {
    let names = 0..100_000;
    let properties: Vec<String> = names.map(|n| format!(r#""field{n}":{{"type":"integer","default":{n}}}"#)).collect();
    let schema = format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
    let fields: Vec<String> = (50_000..150_000).map(|n| format!(r#""field{n}":"x""#)).collect();
    let outcome = admit(&schema, &format!("{{{}}}", fields.join(",")));
    assert_eq!((outcome.unknown, outcome.count(ErrorType::TypeInvalid)), (50_000, 50_000));
    assert!(outcome.json.contains(r#""field49999":49999"#));
}

#[test]
fn very_many_required_names() {
    let required = list((0..50_000).map(|n| format!(r#""absent{n}""#)));
    let schema = format!(r#"{{"type":"object","x-kubernetes-preserve-unknown-fields":true,"required":{required}}}"#);
    let fields: Vec<String> = (0..50_000).map(|n| format!(r#""present{n}":1"#)).collect();
    let outcome = admit(&schema, &format!("{{{}}}", fields.join(",")));
    assert_eq!(outcome.count(ErrorType::Required), 50_000);

    // The same where a junctor asks for them.
    let schema = format!(
        r#"{{"type":"object","x-kubernetes-preserve-unknown-fields":true,"allOf":[{{"required":{required}}}]}}"#
    );
    let outcome = admit(&schema, &format!("{{{}}}", fields.join(",")));
    assert_eq!(outcome.count(ErrorType::Required), 50_000);
}

#[test]
fn names_that_collide_in_the_hash() {
    // The ends and the length of all names are the same; only the middle differs, which the hash does not look at.
    let name = |n: u32| format!("prefix##{n:08}##suffix");
    let properties: Vec<String> = (0..15_000).map(|n| format!(r#""{}":{{"type":"string"}}"#, name(n))).collect();
    let schema = format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
    let fields: Vec<String> = (0..100_000).map(|n| format!(r#""{}":1"#, name(n))).collect();
    let outcome = admit(&schema, &format!("{{{}}}", fields.join(",")));
    assert_eq!((outcome.count(ErrorType::TypeInvalid), outcome.unknown), (15_000, 85_000));
}

#[test]
fn junctors_nested_deep_that_all_fail() {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let open = format!(r#"{{"{keyword}":[{{"required":["a"]}},"#);
        let schema = nested(100, &open, r#"{"required":["b"]}"#, "]}");
        let schema = format!(r#"{{"type":"object","allOf":[{schema}]}}"#);
        let outcome = admit(&schema, "{}");
        assert!(outcome.count(ErrorType::Required) > 0, "{keyword}");
    }
    let mixed = nested(60, r#"{"anyOf":[{"oneOf":["#, r#"{"required":["b"]}"#, r#"]},{"required":["a"]}]}"#);
    let schema = format!(r#"{{"type":"object","allOf":[{mixed}]}}"#);
    assert!(admit(&schema, "{}").count(ErrorType::Required) > 0);
}

#[test]
fn enumeration_of_very_many_strings_for_very_many_values() {
    let allowed = list((0..100_000).map(|n| format!(r#""allowed{n}""#)));
    let schema = format!(
        r#"{{"type":"object","properties":{{"l":{{"type":"array","items":{{"type":"string","enum":{allowed}}}}}}}}}"#
    );
    let items = list((0..100_000).map(|n| format!(r#""{}{n}""#, if n % 100 == 0 { "refused" } else { "allowed" })));
    let outcome = admit(&schema, &format!(r#"{{"l":{items}}}"#));
    assert_eq!(outcome.count(ErrorType::NotSupported), 1_000);
}

#[test]
fn enumeration_of_very_many_numbers_for_very_many_values() {
    let allowed = list((0..100_000).map(|n| n.to_string()));
    let schema = format!(
        r#"{{"type":"object","properties":{{"l":{{"type":"array","items":{{"type":"integer","enum":{allowed}}}}}}}}}"#
    );
    let items = list((0..100_000).map(|n| format!("{}", if n % 100 == 0 { n + 100_000 } else { n })));
    let outcome = admit(&schema, &format!(r#"{{"l":{items}}}"#));
    assert_eq!(outcome.count(ErrorType::NotSupported), 1_000);
}

/// Every level multiplies the one below: a few hundred bytes of schema ask for a hundred million values.
#[test]
fn defaults_that_multiply_are_refused() {
    let empty = list((0..100).map(|_| "{}".to_owned()));
    let schema = (0..4).fold(r#"{"type":"string","default":"x"}"#.to_owned(), |below, _| {
        let item = format!(r#"{{"type":"object","properties":{{"f":{below}}}}}"#);
        format!(r#"{{"type":"array","default":{empty},"items":{item}}}"#)
    });
    let schema = lower(format!(r#"{{"type":"object","properties":{{"f":{schema}}}}}"#).as_bytes());
    check::check_schema(&schema, Root::Value);
    let (program, arena) = (Program::compile(&schema, Root::Value), Arena::new());
    let error = program.admit(Value::Object(&[]), &arena).expect_err("a hundred million values are too many");
    assert_eq!(error.kind(), AdmitErrorKind::TooLarge);
}

/// Each of these would take tenths of a second and megabytes to compile.
#[test]
fn patterns_that_are_large_together_are_refused() {
    let properties: Vec<String> =
        (0..200).map(|n| format!(r#""f{n}":{{"type":"string","pattern":"\\pL{{{}}}"}}"#, 200 + n)).collect();
    let schema = format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","));
    let refused = check::check_structural(&lower(schema.as_bytes())).len();
    assert!((150..200).contains(&refused), "{refused}");
    let outcome = admit(&schema, r#"{"f0":"a","f199":"a"}"#);
    assert_eq!(outcome.count(ErrorType::Invalid), 2);
}

/// Two thousand million missing fields need not be counted one by one.
#[test]
fn very_many_required_fields_are_missing_very_often() {
    let names = list((0..20_000).map(|n| format!(r#""r{n}""#)));
    let item = format!(r#"{{"type":"object","required":{names},"not":{{"required":{names}}}}}"#);
    let schema = format!(r#"{{"type":"object","properties":{{"l":{{"type":"array","items":{item}}}}}}}"#);
    let items = list((0..100_000).map(|_| "{}".to_owned()));
    let outcome = admit(&schema, &format!(r#"{{"l":{items}}}"#));
    assert!(outcome.truncated);
}

/// The same for a schema: forty thousand unknown keywords below a name of a megabyte, and as many wrong defaults.
#[test]
fn very_many_problems_with_long_paths_are_not_all_written_down() {
    let name = "n".repeat(1 << 20);
    let unknown: Vec<String> = (0..40_000).map(|n| format!(r#""k{n}":1"#)).collect();
    let wrong: Vec<String> = (0..40_000).map(|n| format!(r#""p{n}":{{"type":"string","default":1}}"#)).collect();
    let (unknown, wrong) = (unknown.join(","), wrong.join(","));
    let below = format!(r#"{{"type":"object","properties":{{{wrong}}},{unknown}}}"#);
    let schema = format!(r#"{{"type":"object","properties":{{"{name}":{below}}}}}"#);
    let arena = Arena::new();
    let limits = Decode { max_bytes: usize::MAX, ..Decode::default() };
    let source = decode_json_spanned(schema.as_bytes(), &arena, &limits).expect("the schema is JSON");
    let lowered = lower_schema(&source);
    assert!((1..20).contains(&lowered.problems.len()), "{}", lowered.problems.len());
    let problems = check::check_schema(&lowered.item, Root::Value);
    assert!((1..20).contains(&problems.len()), "{}", problems.len());
}

/// Twenty thousand paths of a megabyte each would be twenty gigabytes.
#[test]
fn very_many_long_paths_are_not_all_written_down() {
    let name = "n".repeat(1 << 20);
    let schema = format!(
        r#"{{"type":"object","properties":{{"{name}":{{"type":"object","properties":{{"l":{{"type":"array","items":{{"type":"string"}}}}}}}}}}}}"#
    );
    let unknown: Vec<String> = (0..20_000).map(|n| format!(r#""u{n}":1"#)).collect();
    let wrong = list((0..20_000).map(|n| n.to_string()));
    let outcome = admit(&schema, &format!(r#"{{"{name}":{{"l":{wrong},{}}}}}"#, unknown.join(",")));
    assert!(outcome.truncated);
    assert!((1..10).contains(&outcome.unknown), "{}", outcome.unknown);
    assert!((1..10).contains(&outcome.errors.len()), "{}", outcome.errors.len());
}

#[test]
fn enumeration_of_an_object_with_very_many_fields() {
    let fields = |last: &str| {
        let fields: Vec<String> = (0..50_000).map(|n| format!(r#""f{n}":{n}"#)).collect();
        format!(r#"{{{},"last":{last}}}"#, fields.join(","))
    };
    let keeps = r#""x-kubernetes-preserve-unknown-fields":true"#;
    let schema =
        format!(r#"{{"type":"object","properties":{{"o":{{"type":"object",{keeps},"enum":[{}]}}}}}}"#, fields("1"));
    assert_eq!(admit(&schema, &format!(r#"{{"o":{}}}"#, fields("1"))).errors, []);
    assert_eq!(admit(&schema, &format!(r#"{{"o":{}}}"#, fields("2"))).count(ErrorType::NotSupported), 1);
}

#[test]
fn sets_and_maps_with_very_many_items() {
    let schema = r#"{"type":"object","properties":{
        "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
        "objects":{"type":"array","x-kubernetes-list-type":"set",
            "items":{"type":"object","x-kubernetes-map-type":"atomic","additionalProperties":{"type":"integer"}}},
        "map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
            "items":{"type":"object","required":["k"],"properties":{"k":{"type":"integer"}}}},
        "pairs":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k","l"],
            "items":{"type":"object","required":["k","l"],
                "properties":{"k":{"type":"integer"},"l":{"type":"string"}}}}}}"#;
    let document = |number: fn(usize) -> usize| {
        let mut document = String::from("{");
        type Item = fn(usize) -> String;
        let lists: [(&str, Item); 4] = [
            ("set", |n| format!(r#""{n}""#)),
            ("objects", |n| format!(r#"{{"n":{n}}}"#)),
            ("map", |n| format!(r#"{{"k":{n}}}"#)),
            ("pairs", |n| format!(r#"{{"k":{n},"l":"{n}"}}"#)),
        ];
        for (name, item) in lists {
            let items = list((0..100_000).map(|n| item(number(n))));
            write!(document, r#""{name}":{items},"#).expect("strings grow");
        }
        document + r#""end":0}"#
    };
    assert_eq!(admit(schema, &document(|n| n)).errors, []);
    // Of the same item, the first repetition is reported and no other.
    let outcome = admit(schema, &document(|_| 7));
    assert_eq!((outcome.count(ErrorType::Duplicate), outcome.errors.len()), (4, 4));
    let outcome = admit(schema, &document(|n| n / 2));
    // Very many errors may be cut off, since all of them could take far more memory than the document.
    assert!(outcome.count(ErrorType::Duplicate) > 10_000);
}

#[test]
fn unique_items_of_very_many() {
    let schema =
        r#"{"type":"object","properties":{"l":{"type":"array","uniqueItems":true,"items":{"type":"integer"}}}}"#;
    let different = list((0..200_000).map(|n| n.to_string()));
    assert_eq!(admit(schema, &format!(r#"{{"l":{different}}}"#)).errors, []);
}

#[test]
fn patterns_that_explode_in_backtracking_engines() {
    for pattern in ["^(a+)+$", "^(a|aa)*$", "^(a|a?)+$", "^(.*a){20}$", "(x+x+)+y"] {
        let schema = format!(r#"{{"type":"object","properties":{{"s":{{"type":"string","pattern":"{pattern}"}}}}}}"#);
        let text = format!("{}!", "a".repeat(200_000));
        let outcome = admit(&schema, &format!(r#"{{"s":"{text}"}}"#));
        assert_eq!(outcome.count(ErrorType::Invalid), 1, "{pattern}");
    }
}

#[test]
fn patterns_that_are_very_large() {
    let long = "ab?".repeat(33_000);
    let alternatives: Vec<String> = (0..10_000).map(|n| format!("word{n}")).collect();
    for pattern in [long, format!("^({})$", alternatives.join("|"))] {
        let schema = format!(r#"{{"type":"object","properties":{{"s":{{"type":"string","pattern":"{pattern}"}}}}}}"#);
        assert_eq!(admit(&schema, r#"{"s":"no"}"#).count(ErrorType::Invalid), 1);
    }
    // Go refuses repetitions beyond a thousand, nested ones included; such a pattern never matches.
    for pattern in ["(a{1000}){1000}", "((a{100}){100}){100}", "a{1001}", "(((((", "[[:nothing:]]"] {
        let schema = format!(r#"{{"type":"object","properties":{{"s":{{"type":"string","pattern":"{pattern}"}}}}}}"#);
        let lowered = lower(schema.as_bytes());
        let problems = check::check_structural(&lowered);
        assert_eq!(problems.iter().map(|problem| problem.rule.id).collect::<Vec<_>>(), ["WW020"], "{pattern}");
        assert_eq!(admit(&schema, r#"{"s":"a"}"#).count(ErrorType::Invalid), 1, "{pattern}");
    }
}

#[test]
fn defaults_nested_at_every_level() {
    on_a_small_stack(|| {
        let open = r#"{"type":"object","default":{},"properties":{"a":"#;
        let schema = nested(250, open, r#"{"type":"string","default":"x"}"#, "}}");
        let outcome = admit(&schema, "{}");
        assert_eq!(outcome.json, nested(250, r#"{"a":"#, r#""x""#, "}"));

        // Two at every level would be a default of 2^20 parts if each level wrote out what is below it.
        let open = r#"{"type":"object","default":{},"properties":{"b":{"type":"string","default":"y"},"a":"#;
        let schema = nested(200, open, r#"{"type":"string","default":"x"}"#, "}}");
        assert_eq!(admit(&schema, "{}").json.matches('y').count(), 200);
    });
}

#[test]
fn very_many_items_with_defaults() {
    let fields: Vec<String> = (0..10)
        .map(|n| {
            format!(r#""f{n}":{{"type":"object","default":{{"x":{n}}},"properties":{{"x":{{"type":"integer"}}}}}}"#)
        })
        .collect();
    let schema = format!(
        r#"{{"type":"object","properties":{{"l":{{"type":"array","items":{{"type":"object","properties":{{{}}}}}}}}}}}"#,
        fields.join(",")
    );
    let outcome = admit(&schema, &format!(r#"{{"l":{}}}"#, list((0..100_000).map(|_| "{}".to_owned()))));
    assert_eq!((outcome.json.matches(r#"{"x":9}"#).count(), outcome.errors.len()), (100_000, 0));
}

#[test]
fn numbers_of_very_many_digits() {
    let digits = "9".repeat(10_000);
    let numbers = [
        digits.clone(),
        format!("-{digits}"),
        format!("0.{digits}"),
        format!("{digits}.{digits}e-{}", 10_000),
        format!("1e{digits}"),
        format!("1e-{digits}"),
        format!("{}1.0", "0.".repeat(0)),
    ];
    let keywords = [
        r#""minimum":5"#,
        r#""maximum":5"#,
        r#""multipleOf":3"#,
        r#""enum":[1,2.5]"#,
        r#""minimum":1e308,"exclusiveMinimum":true"#,
        r#""format":"int32""#,
        r#""format":"float""#,
    ];
    for number in &numbers {
        for kind in ["integer", "number"] {
            for keyword in keywords {
                let schema = format!(r#"{{"type":"object","properties":{{"n":{{"type":"{kind}",{keyword}}}}}}}"#);
                let outcome = admit(&schema, &format!(r#"{{"n":{number}}}"#));
                assert_eq!(outcome.json, format!(r#"{{"n":{number}}}"#), "the text of numbers is kept");
            }
        }
    }
    let integer = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    assert_eq!(admit(integer, &format!(r#"{{"n":{digits}}}"#)).count(ErrorType::TypeInvalid), 1);
    let at_most = r#"{"type":"object","properties":{"n":{"type":"number","maximum":5}}}"#;
    assert_eq!(admit(at_most, &format!(r#"{{"n":{digits}}}"#)).count(ErrorType::Invalid), 1);
    // Numbers of this size in the schema itself.
    for keyword in ["minimum", "maximum", "multipleOf", "default", "enum", "minLength"] {
        let value = if keyword == "enum" { format!("[{digits}]") } else { digits.clone() };
        let schema = format!(r#"{{"type":"object","properties":{{"n":{{"type":"integer","{keyword}":{value}}}}}}}"#);
        problems_of(&schema);
    }
}

#[test]
fn keywords_of_the_wrong_sort() {
    let wrong = ["1", "1.5", "\"x\"", "true", "[]", "{}", "[1]", "[[]]", "{\"a\":1}", "[{\"a\":[1]}]"];
    // The sorts that each keyword takes: what is not listed must be reported.
    let right: &[(&str, &[&str])] = &[
        ("type", &["\"x\""]),
        ("nullable", &["true"]),
        ("title", &["\"x\""]),
        ("description", &["\"x\""]),
        ("properties", &["{}"]),
        ("additionalProperties", &["true", "{}", "{\"a\":1}"]),
        ("items", &["{}", "{\"a\":1}", "[]", "[1]", "[[]]", "[{\"a\":[1]}]"]),
        ("allOf", &["[]", "[{\"a\":[1]}]"]),
        ("anyOf", &["[]", "[{\"a\":[1]}]"]),
        ("oneOf", &["[]", "[{\"a\":[1]}]"]),
        ("not", &["{}", "{\"a\":1}"]),
        ("format", &["\"x\""]),
        ("pattern", &["\"x\""]),
        ("enum", &["[]", "[1]", "[[]]", "[{\"a\":[1]}]"]),
        ("minimum", &["1", "1.5"]),
        ("maximum", &["1", "1.5"]),
        ("exclusiveMinimum", &["true"]),
        ("exclusiveMaximum", &["true"]),
        ("multipleOf", &["1", "1.5"]),
        ("minLength", &["1"]),
        ("maxLength", &["1"]),
        ("minItems", &["1"]),
        ("maxItems", &["1"]),
        ("uniqueItems", &["true"]),
        ("minProperties", &["1"]),
        ("maxProperties", &["1"]),
        ("required", &["[]"]),
        ("x-kubernetes-int-or-string", &["true"]),
        ("x-kubernetes-embedded-resource", &["true"]),
        ("x-kubernetes-preserve-unknown-fields", &["true"]),
        ("x-kubernetes-list-type", &["\"x\""]),
        ("x-kubernetes-list-map-keys", &["[]"]),
        ("x-kubernetes-map-type", &["\"x\""]),
        ("$ref", &["\"x\""]),
        ("$schema", &["\"x\""]),
        ("id", &["\"x\""]),
    ];
    for (keyword, right) in right {
        for value in wrong {
            let malformed = |schema: &str| problems_of(schema).iter().any(|problem| problem.rule.id == "WW002");
            for (open, close) in
                [("", ""), (r#"{"properties":{"a":"#, "}}"), (r#"{"allOf":[{"items":"#, "}]}"), (r#"{"not":"#, "}")]
            {
                let schema = format!(r#"{open}{{"{keyword}":{value}}}{close}"#);
                assert_eq!(malformed(&schema), !right.contains(&value), "{schema}");
            }
        }
    }
    for schema in wrong.iter().filter(|value| !value.starts_with('{')) {
        assert_eq!(problems_of(schema)[0].rule.id, "WW002", "{schema}");
    }
}

/// Takes a schema that may be malformed through everything, and says what is wrong with how it is written.
fn problems_of(schema: &str) -> Vec<Problem> {
    let arena = Arena::new();
    let source = decode_json_spanned(schema.as_bytes(), &arena, &Decode::default()).expect("the schema is JSON");
    let lowered = lower_schema(&source);
    for root in [Root::Value, Root::Resource] {
        check::check_schema(&lowered.item, root);
        let program = Program::compile(&lowered.item, root);
        for document in [Value::Null, Value::Object(&[]), Value::Array(&[Value::Null]), Value::string("x")] {
            program.admit(document, &arena).expect("there is no metadata");
        }
    }
    lowered.problems
}
