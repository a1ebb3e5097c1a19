//! OpenAPI and JSON Schema: what each keyword becomes, and where what is wrong is said to be.

use wheelwright_document::{Arena, Decode, Owned, decode_yaml};
use wheelwright_schema::{Dialect, Schema};

use crate::support::{accepts, admit, findings, lower, with};

fn swagger(definitions: &str) -> String {
    format!("swagger: '2.0'\ninfo: {{version: v7}}\ndefinitions:\n{definitions}")
}

fn openapi(version: &str, definitions: &str) -> String {
    format!("openapi: {version}\ncomponents:\n schemas:\n{definitions}")
}

/// The definition `A` of a JSON Schema; nothing may be wrong with it.
fn json_schema(definitions: &str) -> Schema {
    let lowered = lower(&format!("$defs:\n{definitions}"), "A");
    assert!(lowered.problems.is_empty(), "{:?}", lowered.problems);
    lowered.item
}

#[test]
fn what_a_discriminator_chooses_must_be_there() {
    let text = |mapping: &str| {
        let discriminator = format!("{{propertyName: kind, mapping: {mapping}}}");
        let base = format!(
            "  Base:\n    type: object\n    discriminator: {discriminator}\n    oneOf: [{{$ref: '#/components/schemas/Cat'}}]\n"
        );
        openapi("3.0.3", &format!("{base}  Cat: {{type: object}}\n"))
    };
    let found = |mapping: &str| findings(&[("a.yaml", &text(mapping)), ("b.yaml", "Dog: {type: object}")]);
    assert_eq!(found("{a: Cat, b: '#/components/schemas/Cat', c: 'b.yaml#/Dog'}"), [""; 0]);
    let dangling = found("{a: '#/components/schemas/Nope', b: Cta, c: 'b.yaml#/Cat', d: /x.yaml, e: 5}");
    let rules: Vec<_> = dangling.iter().map(|finding| &finding[..5]).collect();
    assert_eq!(rules, ["WW040", "WW040", "WW040", "WW043", "WW002"]);
    let line = text("").lines().position(|line| line.contains("mapping")).unwrap() + 1;
    assert!(dangling.iter().all(|finding| finding.contains(&format!("a.yaml:{line}:"))), "{dangling:?}");
    let mend = with(&[("a.yaml", &text("{b: Cta}"))], |specification| specification.check().1[0].mend.clone());
    assert_eq!(mend.as_deref(), Some("write Cat, if that is what is meant"));
}

#[test]
fn words_are_texts_in_every_file() {
    let main = "
openapi: 3.0.3
components:
  schemas:
    N: {type: string, enum: [DE, NO]}
    A:
      type: object
      properties:
        y: {$ref: '#/components/schemas/N'}
        on: {$ref: 'other.yaml#/off'}
        yes: {type: integer, default: 010}
";
    let files = [("main.yaml", main), ("other.yaml", "off: {type: string, enum: [y, n]}\nno: {}\n")];
    assert_eq!(findings(&files), [""; 0]);
    let schema = with(&files, |specification| specification.lower("A").unwrap().item);
    assert_eq!(admit(&schema, r#"{"y":"NO","on":"y"}"#).0, r#"{"y":"NO","on":"y","yes":10}"#);
    assert!(accepts(&schema, r#"{"y":"NO","on":"n"}"#));
    assert!(!accepts(&schema, r#"{"y":"SE"}"#));
    assert!(!accepts(&schema, r#"{"on":true}"#));
}

#[test]
fn dialects_are_told_apart() {
    let dialect = |text: &str| {
        let arena = Arena::new();
        let documents = decode_yaml(text.as_bytes(), &arena, &Decode::default()).unwrap();
        Dialect::of(&documents[0])
    };
    assert_eq!(dialect("swagger: '2.0'"), Some(Dialect::Swagger2));
    assert_eq!(dialect("swagger: 2.0"), Some(Dialect::Swagger2));
    assert_eq!(dialect("openapi: 3.0.3"), Some(Dialect::OpenApi30));
    assert_eq!(dialect("openapi: 3.1.0"), Some(Dialect::OpenApi31));
    assert_eq!(dialect("$schema: http://json-schema.org/draft-07/schema#"), Some(Dialect::JsonSchemaDraft7));
    assert_eq!(dialect("$schema: https://json-schema.org/draft/2020-12/schema"), Some(Dialect::JsonSchema2020));
    assert_eq!(dialect("$defs: {A: {}}"), Some(Dialect::JsonSchema2020));
    assert_eq!(dialect("definitions: {A: {}}"), Some(Dialect::JsonSchemaDraft7));
    assert_eq!(dialect("definitions: {A: 1}"), None);
    assert_eq!(dialect("type: object"), None);
    assert_eq!(dialect("openapi: 1.2"), None);
    assert_eq!(dialect("{apiVersion: v1, kind: Api, openapi: 3.0.0}"), None);
}

#[test]
fn a_document_says_what_it_has() {
    let text = swagger(" A: {type: string}\n B: {type: string}\n");
    with(&[("a.yaml", &text)], |specification| {
        assert_eq!(specification.definitions().collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!(specification.version(), Some("v7"));
        assert!(!specification.is_schema() && specification.lower_root().is_none());
        assert!(specification.lower("C").is_none());
    });
    with(
        &[("a.yaml", "{$defs: {A: {type: string}}, type: object, additionalProperties: {$ref: '#/$defs/A'}}")],
        |it| {
            assert!(accepts(&it.lower_root().unwrap().item, r#"{"a": "b"}"#));
            assert!(!accepts(&it.lower_root().unwrap().item, r#"{"a": 1}"#));
        },
    );
}

#[test]
fn references_lead_to_definitions_and_files() {
    let main = swagger(
        " A:\n  type: object\n  properties:\n   near: {$ref: '#/definitions/B'}\n   odd: {$ref: '#/definitions/x~1y~0%20z'}\n   \
         far: {$ref: 'sub/types.json#/definitions/C'}\n   plain: {$ref: ./sub/plain%2eyaml}\n \
         B: {type: integer}\n x/y~ z: {type: boolean}\n",
    );
    let types = r##"{"swagger": "2.0", "definitions": {"C": {"$ref": "../a.yaml#/definitions/B"}}}"##;
    let files = [("a.yaml", main.as_str()), ("sub/types.json", types), ("sub/plain.yaml", "type: string\n")];
    let schema = with(&files, |specification| {
        let lowered = specification.lower("A").unwrap();
        assert!(lowered.problems.is_empty(), "{:?}", lowered.problems);
        lowered.item
    });
    assert!(accepts(&schema, r#"{"near": 1, "odd": true, "far": 2, "plain": "x"}"#));
    let (_, errors, _) = admit(&schema, r#"{"near": "a", "odd": "b", "far": "c", "plain": 4}"#);
    assert_eq!(errors, ["near", "odd", "far", "plain"]);
}

#[test]
fn what_is_wrong_in_another_file_is_found_there() {
    let main = "swagger: '2.0'\ndefinitions:\n  A: {$ref: 't.yaml#/X'}\n  B: {$ref: 't.yaml#/Other'}\n  C: {$ref: broken.json}\n";
    let types = "X:\n  type: object\n  properties:\n    num: {type: integer, default: ten}\nOther:\n  $ref: '#/Z'\n";
    let broken = "{\"a\": 1,\n \"a\": 2}";
    let files = [("a.yaml", main), ("t.yaml", types), ("broken.json", broken)];
    assert_eq!(findings(&files), ["WW030 t.yaml:4:26", "WW040 t.yaml:6:9", "WW001 broken.json:2:2"]);
}

#[test]
fn references_that_lead_nowhere_are_errors_with_their_places() {
    let of = |definition: &str| {
        let text = swagger(&format!(" A: {definition}\n B: {{type: object, properties: {{x: {{type: string}}}}}}\n"));
        findings(&[("a.yaml", &format!("{text}parameters: {{P: {{name: x}}}}\n"))])
    };
    for (definition, expected) in [
        ("{$ref: '#/definitions/None'}", "WW040 a.yaml:4:12"),
        ("{$ref: '#anchor'}", "WW040 a.yaml:4:12"),
        ("{$ref: none.json}", "WW040 a.yaml:4:12"),
        ("{$ref: '#/definitions/B/properties/x/type'}", "WW041 a.yaml:4:12"),
        ("{$ref: '#/parameters/P'}", "WW041 a.yaml:4:12"),
        ("{$ref: '#'}", "WW041 a.yaml:4:12"),
        ("{$ref: '#/definitions/A'}", "WW042 a.yaml:4:12"),
        ("{allOf: [{$ref: '#/definitions/A'}]}", "WW042 a.yaml:4:21"),
        ("{anyOf: [{$ref: '#/definitions/A'}]}", "WW042 a.yaml:4:21"),
        ("{$ref: /etc/types.json}", "WW043 a.yaml:4:12"),
        ("{$ref: 7}", "WW002 a.yaml:4:12"),
        ("{type: array, items: {$ref: '#/definitions/A'}}", "WW044 a.yaml:4:33"),
    ] {
        assert_eq!(of(definition), [expected], "{definition}");
    }
}

#[test]
fn circles_and_recursion_are_shown_with_both_places() {
    let text =
        "$defs:\n  A: {$ref: '#/$defs/B'}\n  B: {$ref: '#/$defs/A'}\n  C: {properties: {c: {$ref: '#/$defs/C'}}}\n";
    with(&[("a.yaml", text)], |specification| {
        let (_, problems) = specification.check();
        let lines: Vec<_> = problems
            .iter()
            .map(|problem| {
                (problem.rule.id, problem.span.line, problem.related.iter().map(|(span, _)| span.line).collect())
            })
            .collect::<Vec<(_, _, Vec<_>)>>();
        assert_eq!(lines, [("WW042", 3, vec![2]), ("WW042", 2, vec![3]), ("WW044", 4, vec![4])]);
    });
}

#[test]
fn recursive_values_are_kept_and_checked_on_their_first_level() {
    let text = "$defs:\n  A:\n    type: object\n    properties:\n      code: {type: string}\n      \
                below: {type: array, items: {$ref: '#/$defs/A'}}\n";
    let lowered = lower(text, "A");
    assert_eq!(lowered.problems.iter().map(|problem| problem.rule.id).collect::<Vec<_>>(), ["WW044"]);
    let deep = r#"{"code":"a","below":[{"code":1,"what":{"ever":null},"below":[2]}]}"#;
    assert_eq!(admit(&lowered.item, deep), (deep.to_owned(), vec![], vec![]));
    assert_eq!(admit(&lowered.item, r#"{"code":1,"x":2}"#).1, ["code"]);
}

#[test]
fn what_is_beside_a_reference_counts_only_where_it_should() {
    let definitions = "  Name: {type: string}\n  A: {$ref: '#/components/schemas/Name', maxLength: 3, description: d, readOnly: true}\n";
    let old = lower(&openapi("3.0.0", definitions), "A");
    assert_eq!(old.problems[0].message, "maxLength beside $ref does not count in OpenAPI 3.0");
    let both = lower(&openapi("3.0.0", &definitions.replace("maxLength: 3", "maxLength: 3, pattern: a")), "A");
    assert_eq!(both.problems[0].message, "maxLength, pattern beside $ref do not count in OpenAPI 3.0");
    assert_eq!(old.problems.iter().map(|problem| problem.rule.id).collect::<Vec<_>>(), ["WW046"]);
    assert_eq!(old.item.checks.max_length, None);
    assert_eq!(old.item.description.as_deref(), Some("d"));
    assert!(old.item.annotations.unwrap().read_only);
    let new = lower(&openapi("3.1.0", definitions), "A");
    assert!(new.problems.is_empty(), "{:?}", new.problems);
    assert_eq!(new.item.checks.max_length, Some(3));
    assert!(accepts(&new.item, "\"abc\"") && !accepts(&new.item, "\"abcd\"") && !accepts(&new.item, "1"));
}

#[test]
fn all_of_is_inherited() {
    let schema = json_schema(
        "  Base: {type: object, required: [id], properties: {id: {type: string, readOnly: true}, num: {type: number, maximum: 9}}}\n  \
         Middle: {allOf: [{$ref: '#/$defs/Base'}], properties: {m: {type: integer, default: 5}}}\n  \
         A:\n    type: object\n    required: [own]\n    properties: {own: {type: string}, num: {minimum: 1}}\n    \
         allOf: [{$ref: '#/$defs/Middle'}, {minProperties: 2}, {not: {required: [bad]}}]\n",
    );
    let (value, errors, unknown) = admit(&schema, r#"{"id":"a","own":"b","num":3,"other":1}"#);
    assert_eq!(value, r#"{"id":"a","own":"b","num":3,"m":5}"#);
    assert_eq!((errors.len(), unknown), (0, vec!["other".to_owned()]));
    let (_, errors, _) = admit(&schema, r#"{"num":10}"#);
    assert_eq!(errors, ["num", "own", "id"]);
    assert!(schema.property("id").unwrap().annotations.as_ref().unwrap().read_only);
    assert_eq!(schema.property("num").unwrap().checks.minimum, Some(1.0));
    assert_eq!(schema.property("num").unwrap().checks.maximum, Some(9.0));
}

#[test]
fn checks_that_do_not_combine_all_count() {
    let schema = json_schema(
        "  A: {type: string, pattern: '^a', enum: [ab, ac, b], allOf: [{pattern: 'b$', enum: [ab, b]}, {maxLength: 5}, {maxLength: 2}]}\n",
    );
    assert!(accepts(&schema, "\"ab\""));
    assert!(!accepts(&schema, "\"ac\"") && !accepts(&schema, "\"b\"") && !accepts(&schema, "\"aab\""));
}

#[test]
fn parts_that_contradict_each_other_are_shown() {
    let of = |definition: &str| findings(&[("a.yaml", &format!("$defs:\n  A: {definition}\n"))]);
    assert_eq!(of("{type: string, allOf: [{type: integer}]}"), ["WW047 a.yaml:2:7"]);
    assert_eq!(of("{type: string, default: a, allOf: [{default: b}]}"), ["WW047 a.yaml:2:21"]);
    assert_eq!(
        of("{allOf: [{additionalProperties: false, properties: {a: {}}}, {properties: {b: {}}}]}"),
        ["WW047 a.yaml:2:16"]
    );
    assert_eq!(
        of("{properties: {x: {type: boolean}}, allOf: [{properties: {x: {type: array}}}]}"),
        ["WW047 a.yaml:2:24"]
    );
    assert!(of("{type: number, default: 1, allOf: [{type: integer, default: 1}]}").is_empty());
}

#[test]
fn null_is_allowed_where_it_is_said() {
    let old =
        |definition: &str| lower(&openapi("3.0.0", &format!("  S: {{type: string}}\n  A: {definition}\n")), "A").item;
    assert!(accepts(&old("{type: string, nullable: true}"), "null"));
    assert!(!accepts(&old("{type: string}"), "null"));
    assert!(accepts(&old("{nullable: true, allOf: [{$ref: '#/components/schemas/S'}]}"), "null"));
    assert!(!accepts(&old("{allOf: [{$ref: '#/components/schemas/S'}]}"), "null"));
    let swagger2 = lower(&swagger("  S: {type: string}\n  A: {$ref: '#/definitions/S', x-nullable: true}\n"), "A");
    assert!(swagger2.problems.is_empty() && accepts(&swagger2.item, "null"));
    let new = |definition: &str| json_schema(&format!("  S: {{type: string}}\n  A: {definition}\n"));
    assert!(accepts(&new("{type: [string, 'null']}"), "null"));
    assert!(accepts(&new("{type: [string, 'null'], enum: [a, null]}"), "null"));
    assert!(!accepts(&new("{type: [string, 'null'], enum: [a]}"), "null"));
    for junctor in ["anyOf", "oneOf"] {
        let schema = new(&format!("{{{junctor}: [{{$ref: '#/$defs/S'}}, {{type: 'null'}}]}}"));
        assert!(accepts(&schema, "null") && accepts(&schema, "\"a\"") && !accepts(&schema, "1"));
    }
    assert!(accepts(&new("{type: 'null'}"), "null") && !accepts(&new("{type: 'null'}"), "1"));
    assert!(accepts(&new("{}"), "null"));
}

#[test]
fn lists_of_types_allow_each_of_them() {
    let schema = json_schema("  A: {type: [integer, string]}\n");
    assert!(schema.extensions.int_or_string);
    assert!(
        accepts(&schema, "1") && accepts(&schema, "\"a\"") && !accepts(&schema, "true") && !accepts(&schema, "null")
    );
    let schema = json_schema("  A: {type: [boolean, array, 'null'], items: {type: string}}\n");
    assert!(accepts(&schema, "true") && accepts(&schema, "[\"a\"]") && accepts(&schema, "null"));
    assert!(!accepts(&schema, "1") && !accepts(&schema, "[1]"));
    let schema = json_schema("  A: {type: [integer, number]}\n");
    assert!(accepts(&schema, "1.5") && !accepts(&schema, "\"a\""));
}

#[test]
fn bounds_and_constants_mean_what_they_mean_in_their_language() {
    let schema = json_schema("  A: {type: number, minimum: 1, exclusiveMinimum: 2, exclusiveMaximum: 9, maximum: 8}\n");
    assert!(!accepts(&schema, "2") && accepts(&schema, "2.1") && accepts(&schema, "8") && !accepts(&schema, "8.1"));
    let old = lower(&openapi("3.0.0", "  A: {type: number, minimum: 1, exclusiveMinimum: true}\n"), "A").item;
    assert!(!accepts(&old, "1") && accepts(&old, "1.1"));
    let wrong = findings(&[("a.yaml", &openapi("3.0.0", "  A: {type: number, exclusiveMinimum: 1}\n"))]);
    assert_eq!(wrong, ["WW002 a.yaml:4:39"]);
    let schema = json_schema("  A: {const: 5}\n");
    assert!(accepts(&schema, "5") && !accepts(&schema, "6"));
    let schema = json_schema("  A: {const: null}\n");
    assert!(accepts(&schema, "null") && !accepts(&schema, "6"));
    let schema = json_schema("  A: {type: object, properties: {x: true, z: false}}\n");
    assert!(accepts(&schema, r#"{"x": [1]}"#) && !accepts(&schema, r#"{"z": 1}"#));
}

#[test]
fn azures_extensions_are_kept_and_open_enums_stay_open() {
    let text = swagger(
        "  A:\n    type: array\n    items: {type: string}\n    x-ms-identifiers: [name, size]\n    \
         x-ms-mutability: [read, create]\n    x-ms-secret: true\n    x-ms-client-flatten: true\n    x-other: 5\n  \
         Open: {type: string, enum: [a, b], x-ms-enum: {name: E, modelAsString: true}}\n  \
         Closed: {type: string, enum: [a, b], x-ms-enum: {name: E, modelAsString: false}}\n  \
         Base: {type: object, discriminator: kind, properties: {kind: {type: string}}}\n  \
         Sub: {allOf: [{$ref: '#/definitions/Base'}], x-ms-discriminator-value: the-sub, properties: {s: {type: string}}}\n",
    );
    let lowered = lower(&text, "A");
    assert!(lowered.problems.is_empty());
    let annotations = lowered.item.annotations.as_ref().unwrap();
    let mutability = annotations.mutability.unwrap();
    assert!(mutability.read && mutability.create && !mutability.update && annotations.secret);
    assert_eq!(annotations.identifiers.as_deref().unwrap(), ["name".into(), "size".into()]);
    assert!(accepts(&lowered.item, r#"["x", "x"]"#), "identity is not uniqueness");

    let open = lower(&text, "Open").item;
    assert!(accepts(&open, "\"c\"") && open.annotations.unwrap().known_values.len() == 2);
    let closed = lower(&text, "Closed").item;
    assert!(!accepts(&closed, "\"c\"") && closed.annotations.is_none());

    let base = lower(&text, "Base");
    assert_eq!(base.problems.iter().map(|problem| problem.rule.id).collect::<Vec<_>>(), ["WW050"]);
    assert_eq!(&*base.item.annotations.as_ref().unwrap().discriminator.as_ref().unwrap().property, "kind");
    assert!(accepts(&base.item, r#"{"kind": "the-sub", "s": "kept"}"#));
    let sub = lower(&text, "Sub").item;
    assert_eq!(sub.annotations.as_ref().unwrap().discriminator_value.as_deref(), Some("the-sub"));
    assert_eq!(admit(&sub, r#"{"kind":"x","s":"y","t":1}"#).2, ["t"]);
}

#[test]
fn what_only_the_server_writes_is_required_of_nobody_else() {
    let fields =
        "{type: object, required: [id, size], properties: {id: {type: string, readOnly: true}, size: {type: integer}}}";
    let schema = lower(&openapi("3.0.0", &format!("  A: {fields}\n")), "A").item;
    assert!(accepts(&schema, r#"{"size": 1}"#) && !accepts(&schema, r#"{"id": "a"}"#));
    assert_eq!(schema.annotations.unwrap().required_in_responses, ["id".into()]);
    // In JSON Schema, readOnly checks nothing and changes nothing.
    assert!(!accepts(&json_schema(&format!("  A: {fields}\n")), r#"{"size": 1}"#));
}

#[test]
fn a_discriminator_with_its_alternatives_is_checked_by_them() {
    let text = openapi(
        "3.0.0",
        "  A:\n    discriminator: {propertyName: kind, mapping: {feline: '#/components/schemas/Cat'}}\n    \
         oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]\n  \
         Cat: {type: object, required: [kind, lives], properties: {kind: {type: string}, lives: {type: integer}}}\n  \
         Dog: {type: object, required: [kind, barks], properties: {kind: {type: string}, barks: {type: boolean}}}\n",
    );
    let lowered = lower(&text, "A");
    assert!(lowered.problems.is_empty(), "{:?}", lowered.problems);
    let discriminator = lowered.item.annotations.as_ref().unwrap().discriminator.clone().unwrap();
    assert_eq!(discriminator.mapping, [("feline".into(), "#/components/schemas/Cat".into())]);
    assert!(accepts(&lowered.item, r#"{"kind": "cat", "lives": 9}"#));
    assert!(!accepts(&lowered.item, r#"{"kind": "cat", "lives": "many"}"#));
    assert_eq!(admit(&lowered.item, r#"{"kind":"cat","lives":9,"wings":2}"#).2, ["wings"]);
}

#[test]
fn what_is_open_is_kept_whole() {
    let free = r#"{"a":{"b":[{"c":null}]}}"#;
    for definition in
        ["{type: object}", "{}", "{type: object, additionalProperties: true}", "{additionalProperties: {}}"]
    {
        let schema = json_schema(&format!("  A: {definition}\n"));
        assert_eq!(admit(&schema, free), (free.to_owned(), vec![], vec![]), "{definition}");
    }
    let schema = json_schema("  A: {type: array}\n");
    assert_eq!(admit(&schema, r#"[{"a":1}]"#).0, r#"[{"a":1}]"#);
    let schema = json_schema("  A: {type: object, additionalProperties: false}\n");
    assert_eq!(admit(&schema, r#"{"a":1}"#).1.len(), 1);
}

#[test]
fn what_cannot_be_expressed_is_named_and_nothing_is_lost_for_it() {
    for (keyword, value) in [
        ("patternProperties", "{'^x': {type: string}}, additionalProperties: false"),
        ("if", "{properties: {a: {const: 1}}}"),
        ("then", "{required: [b]}"),
        ("else", "{required: [c]}"),
        ("dependentRequired", "{a: [b]}"),
        ("dependentSchemas", "{a: {required: [b]}}"),
        ("dependencies", "{a: [b]}"),
        ("prefixItems", "[{type: string}], items: false"),
        ("contains", "{type: string}"),
        ("minContains", "1"),
        ("propertyNames", "{pattern: '^x'}"),
        ("unevaluatedProperties", "false"),
        ("unevaluatedItems", "false"),
        ("$dynamicRef", "'#node'"),
        ("items", "[{type: string}]"),
        ("$id", "other"),
    ] {
        let text = format!("$defs:\n  A: {{{keyword}: {value}}}\n");
        assert_eq!(findings(&[("a.yaml", &text)]), ["WW048 a.yaml:2:7"], "{keyword}");
        let schema = lower(&text, "A").item;
        for kept in [r#"{"x":{"y":1}}"#, r#"[{"x":1},2]"#] {
            assert_eq!(admit(&schema, kept), (kept.to_owned(), vec![], vec![]), "{keyword}");
        }
    }
}

#[test]
fn keywords_are_harmless_unknown_or_malformed() {
    let harmless =
        "{type: string, title: t, example: 1, examples: [2], externalDocs: {}, xml: {}, deprecated: true, x-any: {}}";
    assert!(findings(&[("a.yaml", &openapi("3.1.0", &format!("  A: {harmless}\n")))]).is_empty());
    let of = |definition: &str| findings(&[("a.yaml", &openapi("3.0.0", &format!("  A: {definition}\n")))]);
    assert_eq!(of("{type: string, defualt: a}"), ["WW003 a.yaml:4:21"]);
    assert_eq!(of("{type: text}"), ["WW006 a.yaml:4:13"]);
    assert_eq!(of("{type: string, pattern: '(?=a)'}"), ["WW049 a.yaml:4:30"]);
    assert_eq!(of("{properties: []}"), ["WW002 a.yaml:4:19"]);
    assert_eq!(of("[]"), ["WW002 a.yaml:4:6"]);
    assert_eq!(of("{type: [string]}"), ["WW002 a.yaml:4:13"]);
    assert_eq!(of("{anyOf: [{type: string, default: a}]}"), ["WW051 a.yaml:4:30"]);
}

#[test]
fn defaults_are_checked_by_what_they_are_referred_to() {
    let text = "$defs:\n  Size: {type: object, properties: {num: {type: integer, maximum: 9}}}\n  A:\n    type: object\n    \
                properties:\n      size:\n        $ref: '#/$defs/Size'\n        default: {num: 10}\n";
    assert_eq!(findings(&[("a.yaml", text)]), ["WW030 a.yaml:8:9"]);
    let fine = text.replace("10", "9");
    assert!(findings(&[("a.yaml", &fine)]).is_empty());
    assert_eq!(admit(&lower(&fine, "A").item, "{}").0, r#"{"size":{"num":9}}"#);
    assert!(matches!(lower(&fine, "A").item.property("size").unwrap().default, Some(Owned::Object(_))));
}

#[test]
fn schemas_in_operations_are_checked_too() {
    let text = "openapi: 3.0.0\npaths:\n  /a:\n    get:\n      responses:\n        '200':\n          content:\n            \
                application/json:\n              schema: {$ref: '#/components/schemas/None'}\n              \
                example: {schema: {type: nothing}}\n";
    assert_eq!(findings(&[("a.yaml", text)]), ["WW040 a.yaml:9:30"]);
    let file = "swagger: '2.0'\npaths: {/a: {get: {responses: {'200': {schema: {type: file}}}}}}\n";
    assert!(findings(&[("a.yaml", file)]).is_empty());
}

/// Kubernetes' validator lets lists and strings with a format pass for one another; that is no part of OpenAPI.
#[test]
fn a_list_is_no_string_with_a_format() {
    let schema = lower(&swagger(" A: {type: string, format: date}\n"), "A").item;
    assert!(accepts(&schema, r#""2024-02-29""#));
    assert!(!accepts(&schema, r#""2024-02-30""#));
    assert!(!accepts(&schema, r#"["2024-02-29"]"#));
}
