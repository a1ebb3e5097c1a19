//! Whether a value satisfies a node, in the way and in the order in which Kubernetes looks.

mod enumeration;
mod junctor;
mod list;
mod metadata;
mod number;

use std::sync::Arc;

use wheelwright_document::{Entry, FieldPath, Path, Value};
use wheelwright_text::{Format, Pattern, PatternError};

pub(crate) use enumeration::Enumeration;
pub(crate) use junctor::check_junctors;
pub(crate) use list::check_unique;
use metadata::validate_type_meta;
pub(crate) use metadata::{
    MetadataError, coerce_metadata, coerce_metadata_dropping, is_object_meta_field, validate_metadata,
};
pub use metadata::{validate_resource_metadata, validate_resource_metadata_update};
pub(crate) use number::{Bound, GoNumber, NumberChecks, Range};

use crate::{
    ErrorType, ValidationError,
    error::{ErrorLog, Source},
    program::{FieldSet, Node, NodeId, Program, Types},
};

/// The checks of a node besides its type.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// A `format` that Kubernetes enforces.
    pub(crate) format: Option<Format>,
    /// There is a `format` that counts, enforced or not: it changes what the type check lets pass.
    pub(crate) has_format: bool,
    /// `Err` never matches, which is what Kubernetes makes of a pattern that does not compile.
    pub(crate) pattern: Option<Arc<Result<Pattern, PatternError>>>,
    pub(crate) min_length: Option<i64>,
    pub(crate) max_length: Option<i64>,
    pub(crate) number: Option<NumberChecks>,
    pub(crate) r#enum: Option<Enumeration>,
    pub(crate) min_items: Option<i64>,
    pub(crate) max_items: Option<i64>,
    pub(crate) unique_items: bool,
    pub(crate) min_properties: Option<i64>,
    pub(crate) max_properties: Option<i64>,
}

/// Counts what fails, and writes it down if somebody wants to read it.
pub(crate) struct Tally<'s> {
    pub(crate) failures: usize,
    sink: Option<&'s mut ErrorLog>,
}

impl<'s> Tally<'s> {
    pub(crate) fn quiet() -> Self {
        Self { failures: 0, sink: None }
    }

    pub(crate) fn into(sink: &'s mut ErrorLog) -> Self {
        Self { failures: 0, sink: Some(sink) }
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.sink.is_none()
    }

    /// Whether anybody reads what fails; otherwise it is enough to count.
    fn is_heard(&self) -> bool {
        self.sink.as_ref().is_some_and(|log| !log.is_full())
    }

    #[cold]
    pub(crate) fn fail(&mut self, kind: ErrorType, path: &Path<'_>, message: impl FnOnce() -> String) {
        self.fail_with(Source::Schema, kind, || path.to_dotted_field_path(), message);
    }

    /// What Kubernetes reports without its path.
    #[cold]
    pub(crate) fn fail_at_root(&mut self, path: &Path<'_>, message: impl FnOnce() -> String) {
        self.fail_with(Source::SchemaAtRoot, ErrorType::Invalid, || path.to_dotted_field_path(), message);
    }

    #[cold]
    pub(crate) fn fail_with(
        &mut self,
        source: Source,
        kind: ErrorType,
        path: impl FnOnce() -> FieldPath,
        message: impl FnOnce() -> String,
    ) {
        self.failures += 1;
        if let Some(log) = &mut self.sink {
            log.push(|| ValidationError { kind, path: path(), message: message(), source });
        }
    }
}

/// Whether the type of a value is one that the node wants.
#[inline]
pub(crate) fn type_fits(node: &Node, value: Value<'_>) -> bool {
    let wanted = match value {
        Value::Null => return node.types.is_any() || node.nullable,
        Value::Object(_) => Types::OBJECT,
        Value::Array(_) => Types::ARRAY,
        Value::String(_) => Types::STRING,
        Value::Bool(_) => Types::BOOLEAN,
        Value::Number(_) => Types::NUMBER,
    };
    node.types.includes(wanted) || fits_all_the_same(node, value)
}

/// What passes although it is not of the type: whole numbers for integers, anything where there is no type, and what
/// the reference lets through by accident.
fn fits_all_the_same(node: &Node, value: Value<'_>) -> bool {
    let types = node.types;
    let numeric = types.includes(Types::NUMBER) || types.includes(Types::INTEGER);
    match value {
        Value::Number(number) if types.includes(Types::INTEGER) => GoNumber::from(number).is_integer(),
        // With a format, lists and strings pass for one another, and nothing else passes for no type.
        Value::String(_) | Value::Array(_) if has_format(node) && !numeric => true,
        _ => types.is_any() && !has_format(node),
    }
}

fn has_format(node: &Node) -> bool {
    node.checks.as_ref().is_some_and(|checks| checks.has_format)
}

fn enforces_format(node: &Node) -> bool {
    node.checks.as_ref().is_some_and(|checks| checks.format.is_some())
}

/// Everything that can be said of a value without looking at its fields and items: type, bounds, lengths, patterns,
/// formats, enums and the number of items. The number of fields comes with [`check_field_count`].
#[inline]
pub(crate) fn check_shallow(node: &Node, value: Value<'_>, path: &Path<'_>, tally: &mut Tally<'_>) {
    if !type_fits(node, value) {
        tally.fail(ErrorType::TypeInvalid, path, || format!("must be {}, not {}", node.types.describe(), found(value)));
    }
    if let Some(checks) = &node.checks {
        checks.check(value, path, tally);
    }
}

impl Checks {
    /// Whether there is anything to check.
    pub(crate) fn matter(&self) -> bool {
        self.has_format
            || self.format.is_some()
            || self.pattern.is_some()
            || self.number.is_some()
            || self.r#enum.is_some()
            || self.unique_items
            || [self.min_length, self.max_length, self.min_items, self.max_items].iter().any(Option::is_some)
            || [self.min_properties, self.max_properties].iter().any(Option::is_some)
    }

    fn check(&self, value: Value<'_>, path: &Path<'_>, tally: &mut Tally<'_>) {
        match value {
            Value::String(text) => self.check_string(text.as_str(), path, tally),
            Value::Number(number) => {
                if let Some(checks) = &self.number {
                    checks.check(GoNumber::from(number), path, tally);
                }
            }
            Value::Array(items) => self.check_items(items, path, tally),
            Value::Null | Value::Bool(_) | Value::Object(_) => {}
        }
        if let Some(allowed) = &self.r#enum
            && !allowed.contains(value)
        {
            tally.fail(ErrorType::NotSupported, path, || format!("must be one of {}", allowed.describe()));
        }
    }

    /// The reference stops at the first of length and pattern that fails.
    fn check_string(&self, text: &str, path: &Path<'_>, tally: &mut Tally<'_>) {
        if let Some(format) = self.format
            && !format.accepts(text)
        {
            tally.fail(ErrorType::TypeInvalid, path, || format!("is not a valid {}", format.name()));
        }
        if self.max_length.is_some() || self.min_length.is_some() {
            let length = self.length_that_matters(text);
            if let Some(most) = self.max_length
                && length > most
            {
                return tally.fail(ErrorType::TooLong, path, || format!("may have at most {most} characters"));
            }
            if let Some(least) = self.min_length
                && length < least
            {
                return tally.fail(ErrorType::Invalid, path, || format!("must have at least {least} characters"));
            }
        }
        match self.pattern.as_deref() {
            Some(Ok(pattern)) if !pattern.is_match(text) => {
                tally.fail(ErrorType::Invalid, path, || format!("must match the pattern {}", pattern.as_str()));
            }
            Some(Err(error)) => {
                tally.fail(ErrorType::Invalid, path, || format!("cannot match a pattern that is invalid: {error}"));
            }
            _ => {}
        }
    }

    /// The length in characters, or in bytes where that decides the same: it has at most as many characters as bytes
    /// and at least a quarter of them.
    fn length_that_matters(&self, text: &str) -> i64 {
        let bytes = text.len() as i64;
        let short = self.max_length.is_none_or(|most| bytes <= most);
        let long = self.min_length.is_none_or(|least| bytes >= least.saturating_mul(4));
        if short && long { bytes } else { text.chars().count() as i64 }
    }

    fn check_items(&self, items: &[Value<'_>], path: &Path<'_>, tally: &mut Tally<'_>) {
        let count = items.len() as i64;
        if let Some(least) = self.min_items
            && count < least
        {
            tally.fail(ErrorType::Invalid, path, || format!("must have at least {least} items, has {count}"));
        }
        if let Some(most) = self.max_items
            && count > most
        {
            tally.fail(ErrorType::TooMany, path, || format!("may have at most {most} items, has {count}"));
        }
        if self.unique_items && !list::all_different(items) {
            tally.fail(ErrorType::Invalid, path, || "must not have the same item twice".to_owned());
        }
    }
}

/// Whether an object has too few or too many fields.
#[inline]
pub(crate) fn check_field_count(node: &Node, count: usize, path: &Path<'_>, tally: &mut Tally<'_>) {
    let Some(checks) = &node.checks else { return };
    let count = count as i64;
    if let Some(least) = checks.min_properties
        && count < least
    {
        tally.fail(ErrorType::Invalid, path, || format!("must have at least {least} fields, has {count}"));
    }
    if let Some(most) = checks.max_properties
        && count > most
    {
        tally.fail(ErrorType::TooMany, path, || format!("may have at most {most} fields, has {count}"));
    }
}

/// Checks a value against a node and everything below it, changing nothing. Answers how much of the schema fits, which
/// is how the reference chooses the alternative of a failed `anyOf` or `oneOf` whose errors it reports.
pub(crate) fn evaluate(
    program: &Program,
    id: NodeId,
    value: Value<'_>,
    path: &Path<'_>,
    tally: &mut Tally<'_>,
) -> usize {
    if !id.is_specified() {
        return 0;
    }
    let node = program.node(id);
    check_shallow(node, value, path, tally);
    if value.is_null() {
        return usize::from(type_fits(node, value));
    }
    // One for the node, one for its enum, two for its junctors, whether they fit or not.
    let mut matches = 4;
    if !node.types.is_any() || has_format(node) {
        matches += 1 + usize::from(type_fits(node, value));
    }
    if let Some(junctors) = &node.junctors {
        matches += check_junctors(program, junctors, value, path, tally);
    }
    matches
        + match value {
            Value::String(_) => 1 + usize::from(enforces_format(node)),
            Value::Number(_) => 2,
            Value::Array(items) => {
                let below: usize = match node.items {
                    Some(item) => items
                        .iter()
                        .enumerate()
                        .map(|(index, value)| evaluate(program, item, *value, &Path::Index(path, index), tally))
                        .sum(),
                    None => 0,
                };
                2 + below
            }
            Value::Object(entries) => 1 + evaluate_fields(program, node, entries, path, tally),
            Value::Null | Value::Bool(_) => 0,
        }
}

fn evaluate_fields(
    program: &Program,
    node: &Node,
    entries: &[Entry<'_>],
    path: &Path<'_>,
    tally: &mut Tally<'_>,
) -> usize {
    check_field_count(node, entries.len(), path, tally);
    let mut matches = 0;
    for entry in entries {
        let child = match (node.fields.get(entry.key), node.additional) {
            (Some(child), _) => child,
            (None, _) if node.refuses_additional => {
                refuse_additional(entry.key, path, tally);
                continue;
            }
            (None, Some(child)) => child,
            (None, None) => continue,
        };
        matches += evaluate(program, child, entry.value, &Path::Key(path, entry.key), tally);
    }
    check_required(node, entries, path, tally);
    matches
}

#[cold]
pub(crate) fn refuse_additional(key: &str, path: &Path<'_>, tally: &mut Tally<'_>) {
    tally.fail(ErrorType::Invalid, path, || format!("the field {key:?} is not allowed"));
}

#[cold]
fn lack_required(name: &str, path: &Path<'_>, tally: &mut Tally<'_>) {
    tally.fail(ErrorType::Required, &Path::Child(path, name), || "is required".to_owned());
}

pub(crate) fn check_required(node: &Node, entries: &[Entry<'_>], path: &Path<'_>, tally: &mut Tally<'_>) {
    let fields = &node.fields;
    if !fields.required.is_empty() {
        let mut seen = FieldSet::new(fields.list.len());
        entries.iter().filter_map(|entry| fields.position(entry.key)).for_each(|position| seen.insert(position));
        check_required_declared(node, &seen, path, tally);
    }
    check_required_undeclared(node, entries, path, tally);
}

/// Required fields that the schema declares; those that are there are `seen`.
#[inline]
pub(crate) fn check_required_declared(node: &Node, seen: &FieldSet, path: &Path<'_>, tally: &mut Tally<'_>) {
    let fields = &node.fields;
    let missing = fields.required.count_missing(seen);
    if missing > 0 && tally.is_heard() {
        fields.required.each_missing(seen, |position| lack_required(&fields.list[position].name, path, tally));
    } else {
        tally.failures += missing;
    }
}

/// Required fields that the schema does not declare have no bit and are looked for by name.
pub(crate) fn check_required_undeclared(node: &Node, entries: &[Entry<'_>], path: &Path<'_>, tally: &mut Tally<'_>) {
    let required = &node.fields.required_undeclared;
    if required.is_empty() {
        return;
    }
    // Both sides can be long; the names are sorted.
    let place = |entry: &Entry<'_>| required.binary_search_by(|name| (**name).cmp(entry.key)).ok();
    let found: Vec<usize> = entries.iter().filter_map(place).collect();
    if found.len() == required.len() {
        return;
    }
    if !tally.is_heard() {
        tally.failures += required.len() - found.len();
        return;
    }
    let mut missing = vec![true; required.len()];
    found.iter().for_each(|place| missing[*place] = false);
    for (name, _) in required.iter().zip(missing).filter(|(_, missing)| *missing) {
        lack_required(name, path, tally);
    }
}

/// Checks apiVersion, kind and metadata of an embedded resource.
#[cold]
pub(crate) fn check_embedded(entries: &[Entry<'_>], path: &Path<'_>, tally: &mut Tally<'_>) {
    let object = Value::Object(entries);
    let mut report = |kind, path, message| tally.fail_with(Source::Metadata, kind, || path, || message);
    validate_type_meta(object.get("apiVersion"), object.get("kind"), path, &mut report);
    if let Some(metadata) = object.get("metadata") {
        validate_metadata(metadata, &Path::Child(path, "metadata"), &mut report);
    }
}

/// What a value is, for a message.
fn found(value: Value<'_>) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if GoNumber::from(number).is_integer() => "an integer",
        Value::Number(_) => "a number that is no 64-bit integer",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
