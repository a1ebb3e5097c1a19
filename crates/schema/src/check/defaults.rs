//! Rules for default values: a default must pass the schema it stands in, as it is written.

use wheelwright_document::{Arena, Entry, FieldPath, Path, Value};
use wheelwright_findings::{Rule, rules};

use crate::{
    ErrorType, Problem, Program, Root, Schema, ValidationError,
    admit::{Stages, Walk},
    error::Source,
    model::Additional,
    program::{Meta, NodeId},
    validate::{coerce_metadata, validate_metadata, validate_type_meta},
};

/// Checks every default of a schema, with Kubernetes' error types and paths, and closes two gaps that Kubernetes leaves:
/// defaults under `additionalProperties`, and uniqueness in default lists.
pub fn check_defaults(schema: &Schema, root: Root) -> Vec<Problem> {
    let program = Program::compile_for_defaults(schema, root);
    let mut checker = Checker { program: &program, problems: Vec::new() };
    let root_node = program.node(program.root);
    let place = Place { unchecked: false, inside: (root_node.meta == Meta::Root).then_some(Inside::Resource) };
    checker.node(schema, program.root, &Path::Root, place);
    checker.problems
}

struct Checker<'p> {
    program: &'p Program,
    problems: Vec<Problem>,
}

#[derive(Clone, Copy)]
struct Place<'p> {
    /// Kubernetes does not look here.
    unchecked: bool,
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
        let node = self.program.node(id);
        let place = match node.meta {
            Meta::Embedded => Place { inside: Some(Inside::Resource), ..place },
            _ => place,
        };
        if let Some(default) = &schema.default {
            let arena = Arena::new();
            self.default(schema, id, default.share(&arena), &arena, &Path::Child(path, "default"), place);
        }
        if let (Some(items), Some(item_node)) = (&schema.items, node.items) {
            let inside = place.inside.as_ref().filter(|inside| inside.is_metadata()).map(Inside::Item);
            self.node(items, item_node, &Path::Child(path, "items"), Place { inside, ..place });
        }
        let properties = Path::Child(path, "properties");
        for (property, field) in schema.properties.iter().zip(&node.fields.list) {
            let implied = matches!(&*property.name, "apiVersion" | "kind" | "metadata");
            let inside = place
                .inside
                .as_ref()
                .filter(|inside| inside.is_metadata() || implied)
                .map(|inside| Inside::Field(inside, &property.name));
            let path = Path::Key(&properties, &property.name);
            self.node(&property.schema, field.node, &path, Place { inside, ..place });
        }
        if let (Some(Additional::Schema(below)), Some(below_node)) = (&schema.additional_properties, node.additional) {
            let place = Place { unchecked: true, inside: None };
            self.node(below, below_node, &Path::Child(path, "additionalProperties"), place);
        }
    }

    fn default(
        &mut self,
        schema: &Schema,
        id: NodeId,
        value: Value<'_>,
        arena: &Arena,
        path: &Path<'_>,
        place: Place<'_>,
    ) {
        let metadata_error = match place.inside {
            Some(inside) if inside.is_metadata() => inside.metadata_error(value, arena),
            _ => {
                if !self.run(id, value, arena, Stages::PRUNE).unknown.is_empty() {
                    self.unknown_fields(schema, id, value, arena, path, place);
                }
                None
            }
        };
        if let Some(message) = metadata_error {
            let rule = &rules::DEFAULT_METADATA_INVALID;
            return self.report(rule, ErrorType::Invalid, schema, path.to_field_path(), message, place);
        }
        let coerced = self.run(id, value, arena, Stages::COERCE);
        if let Some(error) = coerced.coercion {
            let path = error.path().under(&path.to_field_path());
            let message = error.message().to_owned();
            let rule = &rules::DEFAULT_METADATA_INVALID;
            return self.report(rule, ErrorType::Invalid, schema, path, message, place);
        }
        self.violations(schema, id, value, arena, path, place);
    }

    fn run<'a>(&self, id: NodeId, value: Value<'a>, arena: &'a Arena, stages: Stages) -> Walked
    where
        'p: 'a,
    {
        let mut walk = Walk::new(self.program, arena, stages);
        walk.from(id, value);
        let (unknown, errors, coercion) = walk.finish();
        Walked { unknown, errors, coercion }
    }

    fn unknown_fields(
        &mut self,
        schema: &Schema,
        id: NodeId,
        value: Value<'_>,
        arena: &Arena,
        path: &Path<'_>,
        place: Place<'_>,
    ) {
        let unknown = self.run(id, value, arena, Stages::PRUNE).unknown;
        let names: Vec<&str> = unknown.iter().map(FieldPath::as_str).collect();
        let message = format!("the default has fields that the schema does not know: {}", names.join(", "));
        let before = self.problems.len();
        let rule = &rules::DEFAULT_HAS_UNKNOWN_FIELDS;
        self.report(rule, ErrorType::Invalid, schema, path.to_field_path(), message, place);
        self.problems[before].ratchets = true;
    }

    fn violations(
        &mut self,
        schema: &Schema,
        id: NodeId,
        value: Value<'_>,
        arena: &Arena,
        path: &Path<'_>,
        place: Place<'_>,
    ) {
        let errors = self.run(id, value, arena, Stages::VALIDATE).errors;
        let base = path.to_field_path();
        // Kubernetes looks at the values only where the metadata is right.
        let metadata_is_wrong = errors.iter().any(|error| error.source == Source::Metadata);
        for error in errors {
            let path = match error.source {
                Source::SchemaAtRoot => base.clone(),
                _ => error.path.under(&base),
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
                Source::Schema | Source::SchemaAtRoot if !metadata_is_wrong => {
                    self.report(&rules::INVALID_DEFAULT, error.kind, schema, path, message, place);
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
    ) {
        let span = schema.place_of("default");
        let unchecked = place.unchecked && !std::ptr::eq(rule, &rules::DEFAULT_NOT_UNIQUE);
        let mut problem = match place.unchecked {
            true => Problem::ours(if unchecked { &rules::UNCHECKED_DEFAULT } else { rule }, &Path::Root, span, message),
            false => Problem::new(rule, kind, &Path::Root, span, message),
        };
        problem.path = path;
        self.problems.push(problem);
    }
}

/// What a walk found.
struct Walked {
    unknown: Vec<FieldPath>,
    errors: Vec<ValidationError>,
    coercion: Option<crate::CoercionError>,
}

fn describe(error: &ValidationError) -> String {
    if error.path.is_root() {
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
        let (name, value) = surround(self, default, arena);
        let mut messages = Vec::new();
        let mut report = |_, path: FieldPath, message: String| messages.push(format!("{path} {message}"));
        let valid = Some(Value::string("Validation"));
        match name {
            "metadata" => match coerce_metadata(value, arena) {
                Err(error) => return Some(error.to_string()),
                Ok(metadata) => validate_metadata(metadata, &Path::Child(&Path::Root, "metadata"), &mut report),
            },
            "apiVersion" => validate_type_meta(Some(value), valid, &Path::Root, &mut report),
            _ => validate_type_meta(Some(Value::string("validation/v1")), Some(value), &Path::Root, &mut report),
        }
        (!messages.is_empty()).then(|| format!("the default makes metadata invalid: {}", messages.join("; ")))
    }
}
