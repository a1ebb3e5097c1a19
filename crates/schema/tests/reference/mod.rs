//! A plain interpreter of structural schemas, written for reading: the other side of the differential test.
//!
//! It walks the raw `openAPIV3Schema` afresh for every question and follows Kubernetes' own order of steps, so that
//! each rule can be compared with a recorded answer. Rules of `x-kubernetes-validations` are not evaluated.

use std::collections::BTreeSet;

use serde_json::{Number, Value};

mod default;
mod defaults_check;
mod lists;
mod metadata;
mod numbers;
mod object_meta;
mod prune;
mod structural;
mod time;
mod update;
mod validate;
mod verdict;

/// Where an error was found, and which `FieldValue…` it is.
pub(crate) type Errors = BTreeSet<(String, String)>;

/// What the interpreter borrows from its caller: the regular expressions and the string formats.
#[derive(Clone, Copy)]
pub(crate) struct Environment {
    /// Whether a text has a string format; `None` for a format that nobody knows, the empty one among them.
    pub(crate) format_accepts: fn(format: &str, text: &str) -> Option<bool>,
    /// Whether an unanchored pattern matches; an invalid pattern matches nothing.
    pub(crate) pattern_matches: fn(pattern: &str, text: &str) -> bool,
    /// Whether a pattern is a valid RE2 expression.
    pub(crate) pattern_is_valid: fn(pattern: &str) -> bool,
}

/// All that happens to one document.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The document without its unknown fields.
    pub(crate) pruned: Value,
    /// The paths of the unknown fields.
    pub(crate) unknown: BTreeSet<String>,
    /// The document after null handling, metadata coercion and defaulting.
    pub(crate) defaulted: Value,
    /// The errors of the defaulted document.
    pub(crate) errors: Errors,
    /// Why metadata could not be read; then nothing was defaulted or validated.
    pub(crate) coerce_error: Option<String>,
}

/// Prunes, defaults and validates `object`; `root` says that it is a whole resource with metadata of its own.
pub(crate) fn evaluate(environment: Environment, schema: &Value, root: bool, object: &Value) -> Outcome {
    let mut pruned = object.clone();
    let mut unknown = BTreeSet::new();
    prune::prune(&mut pruned, Some(schema), root, "", &mut unknown);

    let mut defaulted = pruned.clone();
    let coerced = coerce(&mut defaulted, schema, root);
    let mut errors = Errors::new();
    if coerced.is_ok() {
        default::default(&mut defaulted, Some(&prune::prune_defaults(schema, root)));
        errors = validate::document(environment, schema, &defaulted);
        errors.extend(metadata::validate(&Path::root(), &defaulted, Some(schema), false));
        errors.extend(lists::validate(schema, &defaulted));
    }
    Outcome { pruned, unknown, defaulted, errors, coerce_error: coerced.err() }
}

/// The errors of a document that replaces an old one; both are pruned and defaulted.
pub(crate) fn update_errors(environment: Environment, schema: &Value, new: &Value, old: &Value) -> Errors {
    let mut errors = validate::update(environment, schema, new, old);
    errors.extend(metadata::validate(&Path::root(), new, Some(schema), false));
    if lists::validate(schema, old).is_empty() {
        errors.extend(lists::validate(schema, new));
    }
    errors
}

/// The ways in which `schema` is not structural.
pub(crate) fn structural_errors(environment: Environment, schema: &Value) -> Errors {
    structural::errors(environment, schema)
}

/// The default values in `schema` that do not fit it.
pub(crate) fn default_errors(environment: Environment, schema: &Value, root: bool) -> Errors {
    defaults_check::errors(environment, schema, root)
}

/// Drops nulls and normalises metadata. The root's own metadata is read before nulls are dropped, and put back
/// afterwards, so null handling never reaches into it.
fn coerce(object: &mut Value, schema: &Value, root: bool) -> Result<(), String> {
    let own_metadata = if root { metadata::read_root(object)? } else { None };
    default::drop_nulls(object, Some(schema));
    metadata::coerce(&Path::root(), object, Some(schema), false).map_err(|path| format!("{path}: invalid metadata"))?;
    if let (Some(own), Value::Object(fields)) = (own_metadata, object) {
        fields.insert("metadata".to_owned(), own);
    }
    Ok(())
}

/// A field path as Kubernetes' `field.Path` prints it: map keys and indexes in brackets.
#[derive(Clone, Debug)]
pub(crate) struct Path(Option<String>);

impl Path {
    pub(crate) fn root() -> Self {
        Self(None)
    }

    pub(crate) fn child(&self, name: &str) -> Self {
        match &self.0 {
            // An empty name prints as an empty index.
            _ if name.is_empty() => self.key(name),
            Some(parent) => Self(Some(format!("{parent}.{name}"))),
            None => Self(Some(name.to_owned())),
        }
    }

    pub(crate) fn key(&self, key: &str) -> Self {
        Self(Some(format!("{}[{key}]", self.0.as_deref().unwrap_or_default())))
    }

    pub(crate) fn index(&self, index: usize) -> Self {
        self.key(&index.to_string())
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.0.as_deref().unwrap_or("<nil>"))
    }
}

fn error(kind: &str, path: &Path) -> (String, String) {
    (format!("FieldValue{kind}"), path.to_string())
}

/// A number as Go holds it: written without fraction and exponent, and small enough, it is an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum GoNumber {
    Integer(i64),
    Float(f64),
}

impl GoNumber {
    fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(integer) => Self::Integer(integer),
            None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    fn as_float(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }
}

/// Equality as Go's `reflect.DeepEqual` has it: `1` and `1.0` differ.
fn deep_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => GoNumber::of(left) == GoNumber::of(right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| deep_equal(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len() && left.iter().all(|(name, l)| right.get(name).is_some_and(|r| deep_equal(l, r)))
        }
        _ => left == right,
    }
}

fn flag(schema: &Value, keyword: &str) -> bool {
    schema[keyword] == true
}

fn text<'s>(schema: &'s Value, keyword: &str) -> &'s str {
    schema[keyword].as_str().unwrap_or_default()
}

fn list<'s>(schema: &'s Value, keyword: &str) -> &'s [Value] {
    schema[keyword].as_array().map_or(&[], Vec::as_slice)
}

/// The schema under `keyword`, where there is one.
fn subschema<'s>(schema: &'s Value, keyword: &str) -> Option<&'s Value> {
    schema.get(keyword).filter(|found| found.is_object())
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn property<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema["properties"].get(name)
}

fn has_additional_properties(schema: &Value) -> bool {
    !schema["additionalProperties"].is_null()
}

/// The schema of a field: what is listed by name wins over what is said of additional properties.
fn field_schema<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    property(schema, name).or_else(|| subschema(schema, "additionalProperties"))
}

/// The default of a schema; `default: null` is none.
fn default_of(schema: &Value) -> Option<&Value> {
    schema.get("default").filter(|value| !value.is_null())
}

fn is_embedded_resource(schema: &Value) -> bool {
    flag(schema, "x-kubernetes-embedded-resource")
}
