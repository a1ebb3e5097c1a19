//! Rules for default values: a default must pass the schema it stands in, as it is written.

use wheelwright_document::{Arena, Entry, FieldPath, Path, Span, Value};
use wheelwright_findings::{Rule, rules};

use crate::{
    ErrorType, Problem, Program, Root, Schema, ValidationError,
    admit::{Stages, Walk},
    error::Source,
    model::{Additional, is_implied},
    problem::Problems,
    program::{Meta, NodeId},
    rules::evaluate_default_rules,
    validate::{coerce_metadata, validate_metadata},
};

/// Checks every default of a schema, with Kubernetes' error types and paths, and closes two gaps that Kubernetes leaves:
/// defaults under `additionalProperties`, and uniqueness in default lists.
pub fn check_defaults(schema: &Schema, root: Root) -> Vec<Problem> {
    check(schema, &Program::compile_for_defaults(schema, root))
}

/// The same with the program at hand.
pub(super) fn check(schema: &Schema, program: &Program) -> Vec<Problem> {
    let mut checker = Checker { program, problems: Problems::default() };
    checker.node(schema, program.root, &Path::Root, Place { unchecked: false, preserved: false, inside: None });
    checker.problems.into_list()
}

struct Checker<'p> {
    program: &'p Program,
    problems: Problems,
}

/// The default that is looked at: the node that has it, its path, and where in the schema that is.
#[derive(Clone, Copy)]
struct Subject<'d> {
    schema: &'d Schema,
    id: NodeId,
    arena: &'d Arena,
    path: &'d Path<'d>,
    place: Place<'d>,
}

#[derive(Clone, Copy)]
struct Place<'p> {
    /// Kubernetes does not look here.
    unchecked: bool,
    /// A list around this preserves unknown fields. The reference, which looks at a default on its own, does not see it.
    preserved: bool,
    inside: Option<Inside<'p>>,
}

/// Where in a resource with implied fields a node is.
#[derive(Clone, Copy)]
enum Inside<'p> {
    /// The resource itself.
    Resource,
    /// Its apiVersion, kind or metadata, or something in it.
    Field(&'p Inside<'p>, &'p str),
    Item(&'p Inside<'p>),
}

impl<'p> Checker<'p> {
    fn node(&mut self, schema: &Schema, id: NodeId, path: &Path<'_>, place: Place<'_>) {
        if self.problems.is_full() {
            return;
        }
        let node = self.program.node(id);
        let place = match node.meta {
            Meta::Embedded => Place { inside: Some(Inside::Resource), ..place },
            _ => place,
        };
        if let Some(default) = &schema.default {
            let arena = Arena::new();
            let path = Path::Child(path, "default");
            self.default(Subject { schema, id, arena: &arena, path: &path, place }, default.share(&arena));
        }
        if let (Some(items), Some(item_node)) = (&schema.items, node.items) {
            let inside = place.inside.as_ref().filter(|inside| inside.is_metadata()).map(Inside::Item);
            let preserved = place.preserved || schema.preserves_unknown_fields();
            self.node(items, item_node, &Path::Child(path, "items"), Place { inside, preserved, ..place });
        }
        let properties = Path::Child(path, "properties");
        for (property, field) in schema.properties.iter().zip(&node.fields.list) {
            let implied = is_implied(&property.name);
            let inside = place
                .inside
                .as_ref()
                .filter(|inside| inside.is_metadata() || implied)
                .map(|inside| Inside::Field(inside, &property.name));
            let path = Path::Key(&properties, &property.name);
            self.node(&property.schema, field.node, &path, Place { inside, preserved: false, ..place });
        }
        if let (Some(Additional::Schema(below)), Some(below_node)) = (&schema.additional_properties, node.additional) {
            let place = Place { unchecked: true, preserved: false, inside: None };
            self.node(below, below_node, &Path::Child(path, "additionalProperties"), place);
        }
    }

    fn default(&mut self, subject: Subject<'_>, value: Value<'_>) {
        let Subject { schema, id, arena, path, place } = subject;
        let metadata_error = match place.inside {
            Some(inside) if inside.is_metadata() => inside.metadata_error(value, arena),
            _ => {
                let unknown = self.run(id, value, arena, Stages::PRUNE).unknown;
                if !unknown.is_empty() || place.preserved && has_strangers(Some(schema), value) {
                    self.unknown_fields(subject, &unknown);
                }
                None
            }
        };
        let rule = &rules::DEFAULT_METADATA_INVALID;
        if let Some(message) = metadata_error {
            self.report(rule, ErrorType::Invalid, schema, path.to_field_path(), message, place);
            return;
        }
        match self.coerce(id, value, arena, path) {
            Ok(coerced) => self.violations(subject, coerced),
            Err((path, message)) => {
                self.report(rule, ErrorType::Invalid, schema, path, message, place);
            }
        }
    }

    /// The metadata of embedded resources as Kubernetes reads it, or the first that it cannot read. Unlike in documents,
    /// nulls are not removed before.
    fn coerce<'a>(
        &self,
        id: NodeId,
        value: Value<'a>,
        arena: &'a Arena,
        path: &Path<'_>,
    ) -> Result<Value<'a>, (FieldPath, String)> {
        let node = self.program.node(id);
        match value {
            Value::Array(items) => {
                let Some(item) = node.items else { return Ok(value) };
                let coerced = items.iter().enumerate();
                let coerced = coerced.map(|(index, value)| self.coerce(item, *value, arena, &Path::Index(path, index)));
                Ok(Value::Array(arena.slice(&coerced.collect::<Result<Vec<_>, _>>()?)))
            }
            Value::Object(entries) => {
                let mut coerced = Vec::with_capacity(entries.len());
                for Entry { key, value } in entries.iter().copied() {
                    let (child, path) = match (node.fields.get(key), node.additional) {
                        (None, Some(additional)) if node.meta == Meta::None || !is_implied(key) => {
                            (Some(additional), &Path::Key(path, key))
                        }
                        (declared, _) => (declared, &Path::Child(path, key)),
                    };
                    let value = match key {
                        "metadata" if node.meta != Meta::None => {
                            coerce_metadata(value, arena).map_err(|error| (path.to_field_path(), error.to_string()))?
                        }
                        "apiVersion" | "kind" if node.meta != Meta::None && value.as_str().is_none() => {
                            let message = format!("expected a string, found {}", value.kind_name());
                            return Err((path.to_field_path(), message));
                        }
                        _ => match child {
                            Some(child) => self.coerce(child, value, arena, path)?,
                            None => value,
                        },
                    };
                    coerced.push(Entry { key, value });
                }
                Ok(Value::Object(arena.slice(&coerced)))
            }
            scalar => Ok(scalar),
        }
    }

    fn run<'a>(&self, id: NodeId, value: Value<'a>, arena: &'a Arena, stages: Stages) -> Walked
    where
        'p: 'a,
    {
        let mut walk = Walk::new(self.program, arena, stages);
        walk.from(id, value);
        let (unknown, errors) = walk.finish();
        Walked { unknown, errors }
    }

    fn unknown_fields(&mut self, subject: Subject<'_>, unknown: &[FieldPath]) {
        let Subject { schema, path, place, .. } = subject;
        let names: Vec<&str> = unknown.iter().map(FieldPath::as_str).collect();
        let message = match &names[..] {
            [] => "the default has fields that its own schema does not know, only the list around it keeps".to_owned(),
            names => format!("the default has fields that the schema does not know: {}", names.join(", ")),
        };
        let rule = &rules::DEFAULT_HAS_UNKNOWN_FIELDS;
        self.report(rule, ErrorType::Invalid, schema, path.to_field_path(), message, place).ratchets = true;
    }

    fn violations(&mut self, subject: Subject<'_>, value: Value<'_>) {
        let Subject { schema, id, arena, path, place } = subject;
        let mut errors = self.run(id, value, arena, Stages::VALIDATE).errors;
        if errors.is_empty() {
            errors = evaluate_default_rules(self.program, id, &arena.slice(&[value])[0], arena);
        }
        let base = path.to_field_path();
        // Kubernetes looks at the values only where the metadata is right.
        let metadata_is_wrong = errors.iter().any(|error| error.source == Source::Metadata);
        for error in errors {
            if self.problems.is_full() {
                return;
            }
            let path = match error.source {
                Source::SchemaAtRoot => base.clone(),
                Source::Schema => error.path.under(&base),
                Source::List | Source::Metadata | Source::Rule | Source::SkippedRules | Source::BrokenRule => {
                    under(path, &error.path)
                }
            };
            let message = describe(&error);
            match error.source {
                Source::List => {
                    let place = Place { unchecked: true, ..place };
                    self.report(&rules::DEFAULT_NOT_UNIQUE, error.kind, schema, path, message, place);
                }
                Source::Metadata => {
                    self.report(&rules::DEFAULT_METADATA_INVALID, error.kind, schema, path, message, place);
                }
                Source::Rule | Source::SkippedRules | Source::BrokenRule => {
                    self.report(&rules::INVALID_DEFAULT, error.kind, schema, path, message, place);
                }
                Source::Schema | Source::SchemaAtRoot if !metadata_is_wrong => {
                    let related = if error.path.is_root() { asked_for(schema, error.kind) } else { Vec::new() };
                    self.report(&rules::INVALID_DEFAULT, error.kind, schema, path, message, place).related = related;
                }
                Source::Schema | Source::SchemaAtRoot => {}
            }
        }
    }

    fn report(
        &mut self,
        rule: &'static Rule,
        kind: ErrorType,
        schema: &Schema,
        path: FieldPath,
        message: String,
        place: Place<'_>,
    ) -> &mut Problem {
        let span = schema.place_of("default");
        let unchecked = place.unchecked && !std::ptr::eq(rule, &rules::DEFAULT_NOT_UNIQUE);
        let mut problem = match place.unchecked {
            true => Problem::ours(if unchecked { &rules::UNCHECKED_DEFAULT } else { rule }, &Path::Root, span, message),
            false => Problem::new(rule, kind, &Path::Root, span, message),
        };
        problem.path = path;
        self.problems.push(problem)
    }
}

/// What a walk found.
struct Walked {
    unknown: Vec<FieldPath>,
    errors: Vec<ValidationError>,
}

/// Whether a value has unknown fields that nothing but a list around its schema preserves.
fn has_strangers(schema: Option<&Schema>, value: Value<'_>) -> bool {
    match (schema, value) {
        (Some(schema), _) if schema.preserves_unknown_fields() => false,
        (None, Value::Object(entries)) => !entries.is_empty(),
        (Some(schema), Value::Object(entries)) => {
            let embedded = schema.extensions.embedded_resource;
            let known = |key| schema.property(key).is_some() || embedded && is_implied(key);
            schema.additional_properties.is_none() && entries.iter().any(|entry| !known(entry.key))
        }
        (_, Value::Array(items)) => {
            let below = schema.and_then(|schema| schema.items.as_deref());
            items.iter().any(|item| has_strangers(below, *item))
        }
        _ => false,
    }
}

/// The path of a part of a default, without the dot that [`FieldPath::under`] puts before a position.
fn under(default: &Path<'_>, part: &FieldPath) -> FieldPath {
    match default {
        Path::Child(parent, name) if part.as_str().starts_with('[') => {
            Path::Child(parent, &format!("{name}{part}")).to_field_path()
        }
        default => part.under(&default.to_field_path()),
    }
}

/// The keywords of a schema that an error of some sort can come from.
fn asked_for(schema: &Schema, kind: ErrorType) -> Vec<(Span, String)> {
    let keywords: &[&str] = match kind {
        ErrorType::TypeInvalid => &["type"],
        ErrorType::NotSupported => &["enum"],
        ErrorType::Required => &["required"],
        _ => &[
            "maximum",
            "minimum",
            "multipleOf",
            "maxLength",
            "minLength",
            "pattern",
            "format",
            "maxItems",
            "minItems",
            "maxProperties",
            "minProperties",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
        ],
    };
    let written = schema.keywords.iter().filter(|(keyword, _)| keywords.contains(&&**keyword));
    written.map(|(_, span)| (*span, "asked for here".to_owned())).collect()
}

fn describe(error: &ValidationError) -> String {
    if error.is_from_rule() {
        format!("the default breaks a rule: {}", error.message)
    } else if error.path.is_root() {
        format!("the default {}", error.message)
    } else {
        format!("{} of the default {}", error.path, error.message)
    }
}

impl Inside<'_> {
    fn is_metadata(&self) -> bool {
        !matches!(self, Self::Resource)
    }

    /// A default inside of metadata is tried out in a resource that has nothing else.
    fn metadata_error(self, default: Value<'_>, arena: &Arena) -> Option<String> {
        fn surround<'a>(inside: Inside<'a>, value: Value<'a>, arena: &'a Arena) -> (&'a str, Value<'a>) {
            match inside {
                Inside::Resource => ("", value),
                Inside::Field(Inside::Resource, name) => (name, value),
                Inside::Field(parent, name) => {
                    let key = arena.text(name);
                    surround(*parent, Value::Object(arena.slice(&[Entry { key, value }])), arena)
                }
                Inside::Item(parent) => surround(*parent, Value::Array(arena.slice(&[value])), arena),
            }
        }
        // A default of apiVersion or kind is not tried out: the resource that Kubernetes makes up has its own.
        let ("metadata", value) = surround(self, default, arena) else { return None };
        let mut messages = Vec::new();
        let mut report = |_, path: FieldPath, message: String| messages.push(format!("{path} {message}"));
        match coerce_metadata(value, arena) {
            Err(error) => return Some(error.to_string()),
            Ok(metadata) => validate_metadata(metadata, &Path::Child(&Path::Root, "metadata"), &mut report),
        }
        (!messages.is_empty()).then(|| format!("the default makes metadata invalid: {}", messages.join("; ")))
    }
}
