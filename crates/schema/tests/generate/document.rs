//! Documents led by a schema, which now and then lose their way.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::NAMES;

/// A document that mostly has the shape of `schema`, and violates it in places.
pub(crate) fn document_for(schema: &Value) -> BoxedStrategy<Value> {
    if !schema.is_object() {
        return anything();
    }
    prop_oneof![
        16 => fitting(schema),
        1 => Just(Value::Null),
        1 => anything(),
    ]
    .boxed()
}

fn fitting(schema: &Value) -> BoxedStrategy<Value> {
    let members = schema["enum"].as_array().filter(|members| !members.is_empty());
    let by_type = match schema["type"].as_str() {
        Some("object") => object(schema),
        Some("array") => array(schema),
        Some("string") => text().boxed(),
        Some("integer" | "number") => number_near(schema),
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        _ if schema["x-kubernetes-int-or-string"] == true => prop_oneof![number(), text()].boxed(),
        _ => prop_oneof![2 => object(schema), 2 => array(schema), 1 => anything()].boxed(),
    };
    match members {
        Some(members) => prop_oneof![2 => select(members.clone()), 1 => by_type].boxed(),
        None => by_type,
    }
}

fn object(schema: &Value) -> BoxedStrategy<Value> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let named = schema["properties"].as_object().into_iter().flatten().map(|(name, field)| {
        let probability = if required.contains(&name.as_str()) { 0.9 } else { 0.6 };
        prop::option::weighted(probability, (Just(name.clone()), document_for(field))).boxed()
    });
    let mut fields: Vec<BoxedStrategy<Option<(String, Value)>>> = named.collect();
    let others = match &schema["additionalProperties"] {
        Value::Null => prop::option::weighted(0.15, (other_name(), anything())).boxed(),
        values => prop::option::weighted(0.6, (other_name(), document_for(values))).boxed(),
    };
    fields.extend([others.clone(), others]);
    if schema["x-kubernetes-embedded-resource"] == true {
        fields.extend(resource_fields());
    }
    fields.prop_map(|fields| fields.into_iter().flatten().collect::<Map<_, _>>()).prop_map(Value::Object).boxed()
}

fn other_name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(NAMES.to_vec()).prop_map(str::to_owned),
        1 => select(vec!["unknown", "x.y", "with space"]).prop_map(str::to_owned),
    ]
}

/// The fields that every resource has, right and wrong.
fn resource_fields() -> Vec<BoxedStrategy<Option<(String, Value)>>> {
    let values = [
        ("apiVersion", vec![json!("v1"), json!("g/v1"), json!("a/b/c"), json!(""), json!(1)]),
        ("kind", vec![json!("Pod"), json!("1pod"), json!("not a kind"), json!(""), json!(null)]),
        (
            "metadata",
            vec![
                json!({"name": "abcd", "bogus": 1, "creationTimestamp": null}),
                json!({"name": "a/b", "labels": {"ok": "yes", "not ok": "no"}, "annotations": {}}),
                json!({"namespace": "Upper", "generateName": "x-", "generation": -1}),
                json!({"creationTimestamp": "2026-02-23T10:00:00.5+02:00", "finalizers": ["a b"]}),
                json!({"ownerReferences": [{"kind": "Event", "apiVersion": "v1"}, null]}),
                json!({"labels": "wrong"}),
                json!({"name": 5}),
                json!(null),
                json!("wrong"),
            ],
        ),
    ];
    let fields = values.map(|(name, values)| {
        // The first one is right: it comes half of the time.
        let first = values[0].clone();
        let value = prop_oneof![1 => Just(first), 1 => select(values)];
        prop::option::weighted(0.8, value.prop_map(move |value| (name.to_owned(), value))).boxed()
    });
    fields.into()
}

fn array(schema: &Value) -> BoxedStrategy<Value> {
    let items = prop::collection::vec(document_for(&schema["items"]), 0..=3);
    (items, any::<prop::sample::Index>(), 0_usize..3)
        .prop_map(|(mut items, which, copies)| {
            if !items.is_empty() {
                let repeated = which.get(&items).clone();
                items.extend(std::iter::repeat_n(repeated, copies));
            }
            Value::Array(items)
        })
        .boxed()
}

/// Numbers at the bounds of the schema and around them.
fn number_near(schema: &Value) -> BoxedStrategy<Value> {
    let bounds = ["minimum", "maximum"].into_iter().filter_map(|bound| schema[bound].as_f64());
    let around: Vec<Value> = bounds
        .flat_map(|bound| [json!(bound), json!(bound as i64), json!(bound as i64 + 1), json!(bound - 1.0)])
        .collect();
    if around.is_empty() { number().boxed() } else { prop_oneof![1 => number(), 1 => select(around)].boxed() }
}

/// Numbers where something changes: zero, integers and floats of equal value, the ends of types, the code of `a`.
pub(crate) fn number() -> impl Strategy<Value = Value> + Clone {
    select(vec![
        json!(0),
        json!(1),
        json!(1.0),
        json!(-1),
        json!(1.5),
        json!(5),
        json!(97),
        json!(2_147_483_647),
        json!(2_147_483_648_u64),
        json!(9_007_199_254_740_993_u64),
        json!(9_007_199_254_740_994.0),
        json!(i64::MAX),
        json!(9_223_372_036_854_775_808_u64),
        json!(1e3),
        json!(1e21),
        json!(1e300),
    ])
}

/// Texts around the lengths, patterns and formats of the schemas.
pub(crate) fn text() -> impl Strategy<Value = Value> + Clone {
    let texts = [
        "",
        "a",
        "b",
        "abc",
        "UPPER",
        "é",
        "日本語",
        "👩‍🚀",
        "with space",
        "1",
        "25%",
        "1h",
        "10.0.0.1",
        "10.0.0.0/8",
        "2026-02-23T10:00:00Z",
        "2f1e8f3a-5c1b-4a52-8f6e-0c7e2f1e8f3a",
    ];
    select(texts.map(Value::from).to_vec())
}

/// Any scalar, null included.
pub(crate) fn scalar() -> impl Strategy<Value = Value> + Clone {
    prop_oneof![
        4 => text(),
        3 => number(),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

fn anything() -> BoxedStrategy<Value> {
    scalar()
        .prop_recursive(2, 6, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                prop::collection::btree_map(other_name(), inner, 0..3)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
        .boxed()
}
