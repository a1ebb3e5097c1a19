//! Strategies for structural schemas, and for documents that fit them or just miss.
//!
//! Names and values come from small sets, so that fields meet their schemas, bounds are hit exactly and lists repeat.
//! Left out on purpose: floats within a billionth of an integer and `multipleOf` below 1, where Kubernetes' answer
//! depends on its version or is a crash.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Map, Value, json};

mod blend;
mod document;
mod flawed;
mod shrink;

use blend::blend;
use document::document_for;
use flawed::flawed;

/// Tries a law on a case; if it does not hold, the test fails with the smallest case that breaks it.
pub(crate) fn hold(case: Case, law: impl Fn(&Case) -> Result<(), TestCaseError>) -> Result<(), TestCaseError> {
    let Err(failure) = law(&case) else { return Ok(()) };
    let (smallest, failure) = shrink::shrink(case, |case| law(case).err(), failure);
    Err(TestCaseError::fail(format!("{smallest:?}: {failure}")))
}

/// How property tests run here: `PROPTEST_CASES` sets the number of cases, and seeds are kept beside the test.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = wanted.unwrap_or(cases);
    ProptestConfig {
        cases,
        // Laws that hold for some schemas only reject the others; the default is made for few cases.
        max_global_rejects: cases.saturating_mul(8).max(1024),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        // Cases are shrunk by `hold`.
        max_shrink_iters: 0,
        ..ProptestConfig::default()
    }
}

/// Property names, in schemas and documents alike.
const NAMES: [&str; 5] = ["a", "b", "c", "key", "é"];
const PATTERNS: [&str; 4] = ["^[a-z]+$", "^(a|b).*", "b+", "^$"];
const STRING_FORMATS: [&str; 7] = ["duration", "cidr", "ipv4", "uuid", "date-time", "made-up", "int32"];
const DEEPEST: usize = 4;

/// A keyword with its value, or its absence.
type Keyword = BoxedStrategy<Option<(&'static str, Value)>>;

/// A schema, what it describes, and documents for it.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) schema: Value,
    /// The schema is that of a whole resource.
    pub(crate) root: bool,
    pub(crate) documents: Vec<Value>,
}

impl Case {
    /// Each document with one that it might replace.
    pub(crate) fn updates(&self) -> impl Iterator<Item = (&Value, Value)> {
        let others = self.documents.iter().cycle().skip(1);
        self.documents.iter().zip(others).map(|(new, other)| (new, blend(new, other)))
    }
}

/// In the form of JSON, which can be copied elsewhere.
impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { schema, root, documents } = self;
        write!(f, "{}", json!({"schema": schema, "root": root, "documents": documents}))
    }
}

/// A structural schema with documents, or, one time in three, one with flaws.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    let schema = prop_oneof![2 => object(DEEPEST), 1 => object(DEEPEST).prop_flat_map(flawed)];
    (schema, any::<bool>(), implied_fields()).prop_flat_map(|(mut schema, root, implied)| {
        let mut described = schema.clone();
        if root {
            add_fields(&mut schema, implied);
            described = schema.clone();
            described["x-kubernetes-embedded-resource"] = json!(true);
        }
        let documents = prop::collection::vec(document_for(&described), 1..=3);
        (Just(schema), Just(root), documents).prop_map(|(schema, root, documents)| Case { schema, root, documents })
    })
}

fn node(depth: usize) -> BoxedStrategy<Value> {
    type Make = fn(usize) -> BoxedStrategy<Value>;
    let scalars: [(usize, Make); 5] = [
        (1, |_| keywords(vec![always("type", json!("boolean"))])),
        (3, |_| string()),
        (3, |_| number("integer")),
        (2, |_| number("number")),
        (2, |_| integer_or_string()),
    ];
    let compounds: [(usize, Make); 5] = [(8, object), (4, map), (6, array), (2, untyped), (2, embedded_resource)];
    let compounds = if depth == 0 { &[][..] } else { &compounds };
    let weighted = scalars.iter().chain(compounds);
    let makers = weighted.flat_map(|&(weight, make)| std::iter::repeat_n(make, weight)).collect::<Vec<_>>();
    // Only what was chosen is built: strategies for all kinds at every depth would be far too many.
    select(makers).prop_flat_map(move |make| decorated(make(depth))).boxed()
}

/// Adds `nullable` and a default, which is a document of the schema and so as good or bad as any.
fn decorated(schema: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
    let with_nullable = (schema, prop::bool::weighted(0.25)).prop_map(|(mut schema, nullable)| {
        if nullable {
            schema["nullable"] = json!(true);
        }
        schema
    });
    with_nullable
        .prop_flat_map(|schema| {
            let default = prop::option::weighted(0.3, document_for(&schema));
            (Just(schema), default).prop_map(|(mut schema, default)| {
                if let Some(default) = default {
                    schema["default"] = default;
                }
                schema
            })
        })
        .boxed()
}

fn string() -> BoxedStrategy<Value> {
    keywords(vec![
        always("type", json!("string")),
        sometimes("minLength", 0.2, small_count()),
        sometimes("maxLength", 0.2, small_count()),
        sometimes("pattern", 0.2, one_of(&PATTERNS)),
        sometimes("format", 0.2, one_of(&STRING_FORMATS)),
        sometimes("enum", 0.2, enumeration(document::text().boxed())),
    ])
}

fn number(kind: &'static str) -> BoxedStrategy<Value> {
    let formats: &[&str] = match kind {
        "integer" => &["int32", "int64", "made-up"],
        _ => &["float", "double", "int32"],
    };
    let mut said = bounds();
    said.extend([
        always("type", json!(kind)),
        sometimes("multipleOf", 0.15, select(vec![json!(1), json!(2), json!(5), json!(2.5)])),
        sometimes("format", 0.25, one_of(formats)),
        sometimes("enum", 0.15, enumeration(document::number().boxed())),
    ]);
    keywords(said)
}

/// Bounds, some of which no integer can meet.
fn bounds() -> Vec<Keyword> {
    let bound = || select(vec![json!(-1), json!(0), json!(1), json!(1.5), json!(2), json!(2_147_483_648_u64)]);
    vec![
        sometimes("minimum", 0.2, bound()),
        sometimes("maximum", 0.2, bound()),
        sometimes("exclusiveMinimum", 0.2, any::<bool>().prop_map(Value::from)),
        sometimes("exclusiveMaximum", 0.2, any::<bool>().prop_map(Value::from)),
    ]
}

/// The three spellings of integer-or-string.
fn integer_or_string() -> BoxedStrategy<Value> {
    let types = json!([{"type": "integer"}, {"type": "string"}]);
    let spelling =
        select(vec![json!({}), json!({"anyOf": types}), json!({"allOf": [{"anyOf": types}, {"pattern": "^[a-z]+$"}]})]);
    let more = keywords(vec![
        always("x-kubernetes-int-or-string", json!(true)),
        sometimes("maximum", 0.2, Just(json!(1.5))),
        sometimes("pattern", 0.2, one_of(&PATTERNS)),
        sometimes("format", 0.1, one_of(&STRING_FORMATS)),
        sometimes("enum", 0.2, enumeration(document::scalar().boxed())),
    ]);
    (spelling, more).prop_map(|(spelling, more)| merged(vec![spelling, more])).boxed()
}

fn object(depth: usize) -> BoxedStrategy<Value> {
    (properties(depth), additional_truth(depth), sizes(), keeps_unknown(0.15))
        .prop_flat_map(|(properties, additional, sizes, keeps)| {
            let names: Vec<String> = names_of(&properties);
            let parts = vec![json!({"type": "object"}), properties, additional, sizes, keeps];
            (Just(merged(parts)), required(&names), junctors(&names))
        })
        .prop_map(|(object, required, junctors)| merged(vec![object, required, junctors]))
        .boxed()
}

fn properties(depth: usize) -> BoxedStrategy<Value> {
    let chosen = subsequence(NAMES.to_vec(), 0..=NAMES.len() - 1);
    chosen
        .prop_flat_map(move |names| {
            let fields: Vec<_> = names.into_iter().map(|name| (Just(name), node(depth - 1))).collect();
            fields.prop_map(|fields| {
                let fields: Map<_, _> = fields.into_iter().map(|(name, field)| (name.to_owned(), field)).collect();
                if fields.is_empty() { json!({}) } else { json!({"properties": fields}) }
            })
        })
        .boxed()
}

/// `additionalProperties: true` may stand beside properties, except at the root; anything else may not.
fn additional_truth(depth: usize) -> BoxedStrategy<Value> {
    if depth == DEEPEST {
        return Just(json!({})).boxed();
    }
    keywords(vec![sometimes("additionalProperties", 0.1, Just(json!(true)))])
}

fn map(depth: usize) -> BoxedStrategy<Value> {
    let values = prop_oneof![
        4 => node(depth - 1),
        1 => any::<bool>().prop_map(Value::from),
    ];
    let map = keywords(vec![
        always("type", json!("object")),
        values.prop_map(|values| Some(("additionalProperties", values))).boxed(),
        sometimes("x-kubernetes-map-type", 0.2, one_of(&["granular", "atomic"])),
    ]);
    (map, sizes(), keeps_unknown(0.1)).prop_map(|(map, sizes, keeps)| merged(vec![map, sizes, keeps])).boxed()
}

fn array(depth: usize) -> BoxedStrategy<Value> {
    let list = (node(depth - 1), select(vec!["", "", "atomic", "set"])).prop_map(|(items, kind)| match kind {
        "" => json!({"items": items}),
        kind => json!({"items": items, "x-kubernetes-list-type": kind}),
    });
    let sizes = keywords(vec![
        always("type", json!("array")),
        sometimes("minItems", 0.15, small_count()),
        sometimes("maxItems", 0.15, small_count()),
    ]);
    (prop_oneof![3 => list, 1 => keyed_list(depth)], sizes, keeps_unknown(0.15))
        .prop_map(|(list, sizes, keeps)| merged(vec![list, sizes, keeps]))
        .boxed()
}

/// A list of type `map`; its keys are scalars that exist and are required.
fn keyed_list(depth: usize) -> BoxedStrategy<Value> {
    let keys = prop_oneof![Just(vec!["key"]), Just(vec!["key", "a"])];
    let kind = select(vec!["string", "integer", "number", "boolean"]);
    (object(depth), keys, kind)
        .prop_map(|(mut items, keys, kind)| {
            for &key in &keys {
                items["properties"][key] = json!({"type": kind});
            }
            items["required"] = json!(keys);
            json!({
                "items": items,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": keys,
            })
        })
        .boxed()
}

/// A schema without a type, which only one that keeps unknown fields may be.
fn untyped(depth: usize) -> BoxedStrategy<Value> {
    let more = keywords(vec![
        always("x-kubernetes-preserve-unknown-fields", json!(true)),
        sometimes("format", 0.2, one_of(&STRING_FORMATS)),
        sometimes("enum", 0.2, enumeration(document::scalar().boxed())),
        sometimes("items", 0.2, node(depth - 1)),
    ]);
    (more, properties(depth)).prop_map(|(more, fields)| merged(vec![more, fields])).boxed()
}

fn embedded_resource(depth: usize) -> BoxedStrategy<Value> {
    (properties(depth), implied_fields(), any::<bool>())
        .prop_map(|(fields, implied, keeps)| {
            let mut resource = merged(vec![json!({"type": "object", "x-kubernetes-embedded-resource": true}), fields]);
            add_fields(&mut resource, implied);
            if keeps || resource.get("properties").is_none() {
                resource["x-kubernetes-preserve-unknown-fields"] = json!(true);
            }
            resource
        })
        .boxed()
}

/// What a schema may say of `apiVersion`, `kind` and `metadata`.
fn implied_fields() -> impl Strategy<Value = Value> {
    let metadata = json!({"type": "object", "properties": {
        "name": {"type": "string", "maxLength": 3},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}, "default": {"a": "b"}},
    }});
    select(vec![
        json!({}),
        json!({"apiVersion": {"type": "string", "default": "v1"}}),
        json!({"kind": {"type": "string"}, "metadata": {"type": "object"}}),
        json!({"metadata": metadata}),
    ])
}

fn add_fields(schema: &mut Value, fields: Value) {
    for (name, field) in fields.as_object().into_iter().flatten() {
        schema["properties"][name] = field.clone();
    }
}

fn sizes() -> BoxedStrategy<Value> {
    keywords(vec![sometimes("minProperties", 0.1, small_count()), sometimes("maxProperties", 0.1, small_count())])
}

fn keeps_unknown(probability: f64) -> BoxedStrategy<Value> {
    let keyword = "x-kubernetes-preserve-unknown-fields";
    keywords(vec![sometimes(keyword, probability, Just(json!(true)))])
}

/// Mostly existing names, and now and then one that no document can have after pruning.
fn required(names: &[String]) -> BoxedStrategy<Value> {
    keywords(vec![sometimes("required", 0.4, some_of(names))])
}

fn some_of(names: &[String]) -> BoxedStrategy<Value> {
    if names.is_empty() {
        return Just(json!(["absent"])).boxed();
    }
    subsequence(names.to_vec(), 1..=names.len()).prop_map(|names| json!(names)).boxed()
}

fn junctors(names: &[String]) -> BoxedStrategy<Value> {
    let names = names.to_vec();
    subsequence(vec!["anyOf", "oneOf", "allOf", "not", "", ""], 0..=2)
        .prop_flat_map(move |keywords| {
            keywords.into_iter().map(|keyword| junctor(keyword, &names, 2)).collect::<Vec<_>>()
        })
        .prop_map(merged)
        .boxed()
}

fn junctor(keyword: &'static str, names: &[String], depth: usize) -> BoxedStrategy<Value> {
    let branch = branch(names, depth);
    match keyword {
        "" => Just(json!({})).boxed(),
        "not" => branch.prop_map(|branch| json!({"not": branch})).boxed(),
        _ => prop::collection::vec(branch, 1..=3).prop_map(move |branches| json!({ keyword: branches })).boxed(),
    }
}

/// One branch of a junctor over an object with these properties: value validation only.
fn branch(names: &[String], depth: usize) -> BoxedStrategy<Value> {
    let flat = keywords(vec![
        sometimes("required", 0.5, some_of(names)),
        sometimes("properties", 0.5, restricted_fields(names)),
        sometimes("minProperties", 0.15, small_count()),
        sometimes("maxProperties", 0.15, small_count()),
        sometimes("enum", 0.05, Just(json!([{}, {"a": 1}]))),
    ]);
    if depth == 0 {
        return flat;
    }
    let names = names.to_vec();
    let nested = select(vec!["", "", "", "not", "anyOf", "oneOf", "allOf"])
        .prop_flat_map(move |keyword| junctor(keyword, &names, depth - 1));
    (flat, nested).prop_map(|(flat, nested)| merged(vec![flat, nested])).boxed()
}

fn restricted_fields(names: &[String]) -> BoxedStrategy<Value> {
    if names.is_empty() {
        return Just(json!({})).boxed();
    }
    let mut said = bounds();
    said.extend([
        sometimes("enum", 0.3, enumeration(document::scalar().boxed())),
        sometimes("pattern", 0.2, one_of(&PATTERNS)),
        sometimes("minLength", 0.2, small_count()),
        sometimes("format", 0.1, one_of(&STRING_FORMATS)),
        sometimes("required", 0.1, one_of(&NAMES).prop_map(|name| json!([name]))),
        sometimes("not", 0.2, enumeration(document::scalar().boxed()).prop_map(|values| json!({"enum": values}))),
    ]);
    let field = keywords(said);
    prop::collection::btree_map(select(names.to_vec()), field, 1..=2).prop_map(|fields| json!(fields)).boxed()
}

fn small_count() -> BoxedStrategy<Value> {
    (0_u64..4).prop_map(Value::from).boxed()
}

fn one_of(texts: &[&'static str]) -> BoxedStrategy<Value> {
    select(texts.to_vec()).prop_map(Value::from).boxed()
}

fn enumeration(members: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop::collection::vec(members, 1..=3).prop_map(Value::Array).boxed()
}

fn always(keyword: &'static str, value: Value) -> Keyword {
    Just(Some((keyword, value))).boxed()
}

fn sometimes(keyword: &'static str, probability: f64, value: impl Strategy<Value = Value> + 'static) -> Keyword {
    prop::option::weighted(probability, value.prop_map(move |value| (keyword, value))).boxed()
}

fn keywords(said: Vec<Keyword>) -> BoxedStrategy<Value> {
    let assemble = |said: Vec<Option<(&str, Value)>>| {
        said.into_iter().flatten().map(|(keyword, value)| (keyword.to_owned(), value)).collect()
    };
    said.prop_map(move |said| Value::Object(assemble(said))).boxed()
}

fn names_of(schema: &Value) -> Vec<String> {
    schema["properties"].as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect()
}

/// All keywords of several schemas in one.
fn merged(parts: Vec<Value>) -> Value {
    parts.into_iter().filter_map(|part| part.as_object().cloned()).flatten().collect()
}
