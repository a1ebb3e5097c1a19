//! What catalogs and documents say of how kinds are served.

use wheelwright_catalog::{LongRunning, Operations};

use crate::support::{Memory, broken, shown};

const PATHS: &str = r##"{"swagger": "2.0", "info": {"title": "Shop", "version": "2026-01-01"},
    "paths": {
        "/subscriptions/{s}/resourceGroups/{g}/providers/Example.Shop/carts": {"get": {"responses": {}}},
        "/subscriptions/{s}/resourceGroups/{g}/providers/Example.Shop/carts/{c}": {
            "put": {"x-ms-long-running-operation": true, "responses": {},
                    "parameters": [{"name": "c", "in": "body", "schema": {"$ref": "#/definitions/Cart"}}]},
            "delete": {"responses": {}}}},
    "definitions": {"Cart": {"type": "object", "properties": {"size": {"type": "integer"}}}}}"##;

#[test]
fn the_paths_of_documents_tell_the_type_and_which_writes_take_long() {
    let entry = "kinds: [{openapi: {2026-01-01: a.json}, definition: Cart}]";
    let files = Memory::new([("wheelwright.yaml", entry), ("a.json", PATHS)]);
    for path in ["wheelwright.yaml", "a.json"] {
        let catalog = files.load(path);
        assert_eq!(broken(&catalog), [""; 0], "{}", shown(&catalog));
        let kind = &catalog.kinds()[0];
        assert_eq!(kind.arm.as_deref(), Some("Example.Shop/carts"), "{path}");
        let operations = kind.operations("2026-01-01");
        let LongRunning { put, patch, delete, .. } = operations.long_running;
        assert_eq!((put, patch, delete), (true, false, false));
        assert!(operations.listed.collection && !operations.listed.subscription);
    }
}

#[test]
fn what_a_catalog_says_goes_before_what_documents_tell() {
    let entry =
        "kinds: [{openapi: {2026-01-01: a.json}, definition: Cart, arm: Other.Shop/baskets, longRunning: false}]";
    let catalog = Memory::new([("wheelwright.yaml", entry), ("a.json", PATHS)]).load("wheelwright.yaml");
    let kind = &catalog.kinds()[0];
    assert_eq!(kind.arm.as_deref(), Some("Other.Shop/baskets"));
    assert_eq!(kind.operations("2026-01-01").long_running, LongRunning::default());
    let usual = Operations::usual("Other.Shop/baskets/lines");
    assert_eq!(kind.operations("2020-01-01").listed, Operations::usual("Other.Shop/baskets").listed);
    assert!(usual.listed.collection && !usual.listed.subscription);
}

#[test]
fn a_kind_of_a_definition_is_in_one_subscription_and_in_namespaces() {
    let with = |arm: &str, definition: &str| {
        let entry = format!("kinds: [{{crd: crds/carts.yaml, changes: changes/carts.yaml, arm: {arm}}}]");
        let files = [("wheelwright.yaml", &*entry), ("crds/carts.yaml", definition)];
        let catalog = Memory::shop(files).load("wheelwright.yaml");
        let told: Vec<String> = catalog.findings().iter().map(|finding| finding.message.to_string()).collect();
        let kind = &catalog.kinds()[0];
        (told, kind.arm_subscription.clone(), kind.declared_prefix().is_some())
    };
    let carts = crate::support::CARTS;
    let good = "{type: Example.Shop/carts, subscription: 5A2f}";
    assert_eq!(with(good, carts), (Vec::new(), Some("5A2f".into()), false), "its records are where they were");
    let wrong = [
        ("Example.Shop/carts", "it is not said which"),
        ("{type: Example.Shop/carts}", "it is not said which"),
        ("{subscription: s}", "arm needs a type"),
        ("{type: Example.Shop/carts, subscription: a/b}", "the id of a subscription"),
        ("{type: Example.Shop/carts, group: s}", "nobody knows the key"),
        ("{type: Example.Shop/carts/lines, subscription: s}", "belong to no others"),
        ("{type: Example.Shop/carts, subscription: s}, longRunning: true", "once they are answered"),
    ];
    for (arm, expected) in wrong {
        let (told, ..) = with(arm, carts);
        assert!(told.iter().any(|told| told.contains(expected)), "{arm}: {told:?}");
    }
    let (told, ..) = with(good, &carts.replace("scope: Namespaced", "scope: Cluster"));
    assert!(told.len() == 1 && told[0].contains("is in no namespace"), "{told:?}");
    let (told, ..) =
        with(good, &carts.replacen("            spec:", "            tags: {type: string}\n            spec:", 1));
    assert!(told.len() == 1 && told[0].contains("a field tags of its own"), "{told:?}");
}

#[test]
fn nothing_belongs_to_an_object_and_documents_are_in_any_subscription() {
    let told = |documents: &str| {
        let entry = format!(
            "kinds: [{{crd: crds/carts.yaml, changes: changes/carts.yaml, arm: {{type: A.B/carts, subscription: s}}}}, \
             {{openapi: {{2026-01-01: a.json}}, definition: Cart, arm: {documents}}}]"
        );
        let catalog = Memory::shop([("wheelwright.yaml", &*entry), ("a.json", PATHS)]).load("wheelwright.yaml");
        catalog.findings().iter().map(|finding| finding.message.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(told("{type: A.B/others}"), [""; 0]);
    assert_eq!(told("a.b/Carts/lines").len(), 1);
    assert_eq!(told("a.b/Carts"), ["a.b/Carts is the type of Cart already, and types are the same in any case"]);
    for word in ["locations", "operationstatuses", "operationResults"] {
        let expected = format!("A.B/{word} is no type of resources: operations are at paths with {word}");
        assert_eq!(told(&format!("A.B/{word}")), [expected]);
    }
    assert_eq!(told("A.B/others/locations"), [""; 0]);
    assert_eq!(told("{type: A.B/others, subscription: s}").len(), 1);
}

#[test]
fn versions_are_to_go_by_the_catalog_and_by_definitions() {
    let entry = "kinds: [{crd: crds/carts.yaml, changes: changes/carts.yaml, deprecated: {v2: {sunset: 2027-01-31}}}]";
    let definition = crate::support::CARTS.replacen("served: true", "served: true\n      deprecated: true", 1);
    let files = [("wheelwright.yaml", entry), ("crds/carts.yaml", &*definition)];
    let catalog = Memory::shop(files).load("wheelwright.yaml");
    assert_eq!(broken(&catalog), [""; 0], "{}", shown(&catalog));
    let kind = &catalog.kinds()[0];
    let first = kind.declaration.versions[0].name.as_str();
    assert!(kind.deprecation(first).is_some_and(|told| told.sunset.is_none()), "{first}");
    assert_eq!(kind.deprecation("v2").unwrap().sunset.as_deref(), Some("2027-01-31"));
    let unknown = entry.replace("v2:", "v9:");
    assert_eq!(broken(&Memory::shop([("wheelwright.yaml", &*unknown)]).load("wheelwright.yaml")), ["WW115"]);
}

#[test]
fn what_is_computed_is_a_field_and_an_expression_for_it() {
    let with = |computed: &str| {
        let entry = format!(
            "kinds: [{{openapi: {{2024-06-10: specs/2024-06-10.json, 2025-01-01: specs/2025-01-01.json}}, definition: Cart, \
             arm: Example.Shop/carts, computed: {{{computed}}}}}]"
        );
        let catalog = Memory::shop([("wheelwright.yaml", &*entry)]).load("wheelwright.yaml");
        broken(&catalog)
    };
    assert_eq!(with("properties.quantity: parent.properties.count"), [""; 0]);
    assert_eq!(with("properties.quantity: '\"one\"'"), ["WW191"], "a text for a number");
    assert_eq!(with("properties.quantity: parent.("), ["WW191"], "no expression");
    assert_eq!(with("properties.colour: '1'"), ["WW194"], "no field");
    assert_eq!(with("tags: '1'"), ["WW194"], "kept beside the document");
}
