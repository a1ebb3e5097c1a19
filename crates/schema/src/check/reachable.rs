//! Defaults that do not apply because their parent is absent: the most frequent surprise with defaulting.

use std::collections::HashSet;

use wheelwright_document::{Arena, Path, Value};
use wheelwright_findings::rules;

use crate::{
    Problem, Program, Root, Schema,
    admit::{Stages, Walk},
    model::Type,
    problem::Problems,
    program::NodeId,
};

/// Notes every optional object that has defaults below it and no default itself, where `default: {}` would be right.
/// Kubernetes does not create an object for the sake of the defaults in it.
pub fn check_reachable_defaults(schema: &Schema) -> Vec<Problem> {
    check(schema, &Program::compile_for_defaults(schema, Root::Value))
}

/// The same with the program at hand.
pub(super) fn check(schema: &Schema, program: &Program) -> Vec<Problem> {
    let mut finder = Finder { program, problems: Problems::default() };
    finder.fields(schema, program.root, &Path::Root);
    finder.problems.into_list()
}

struct Finder<'p> {
    program: &'p Program,
    problems: Problems,
}

impl Finder<'_> {
    /// Looks at the fields of an object that is there.
    fn fields(&mut self, schema: &Schema, id: NodeId, path: &Path<'_>) {
        let node = self.program.node(id);
        let properties = Path::Child(path, "properties");
        let required: HashSet<&str> = schema.checks.required.iter().map(|name| &**name).collect();
        for (property, field) in schema.properties.iter().zip(&node.fields.list) {
            if self.problems.is_full() {
                return;
            }
            let path = Path::Key(&properties, &property.name);
            let required = required.contains(&*property.name);
            let below = &property.schema;
            if required || below.default.is_some() || !self.stops_defaults(below, field.node) {
                self.value(below, field.node, &path);
                continue;
            }
            let count = count_defaults(below);
            let fields = if count == 1 { "default does".to_owned() } else { format!("{count} defaults do") };
            self.problems.push(
                Problem::ours(
                    &rules::UNREACHABLE_DEFAULT,
                    &path,
                    below.span,
                    format!("{fields} not apply below {} where it is absent, since it has none itself", property.name),
                )
                .mend(format!("add default: {{}} to {}", property.name)),
            );
            // What is below is reported when this has been mended.
        }
    }

    fn value(&mut self, schema: &Schema, id: NodeId, path: &Path<'_>) {
        let node = self.program.node(id);
        self.fields(schema, id, path);
        if let (Some(items), Some(item_node)) = (&schema.items, node.items) {
            self.value(items, item_node, &Path::Child(path, "items"));
        }
        if let (Some(additional), Some(below)) = (schema.additional_schema(), node.additional) {
            self.value(additional, below, &Path::Child(path, "additionalProperties"));
        }
    }

    /// Whether a field is an object whose absence keeps defaults from applying although `{}` would be valid there. A
    /// nullable object may be left out on purpose.
    fn stops_defaults(&self, schema: &Schema, id: NodeId) -> bool {
        if schema.r#type != Some(Type::Object) || schema.nullable || count_defaults(schema) == 0 {
            return false;
        }
        let arena = Arena::new();
        let mut walk = Walk::new(self.program, &arena, Stages::VALIDATE);
        walk.from(id, Value::Object(&[]));
        walk.is_clean()
    }
}

/// How many defaults would apply if the object were there: those of its fields, and of objects in turn.
fn count_defaults(schema: &Schema) -> usize {
    let fields = schema.properties.iter().map(|property| &property.schema);
    fields.map(|field| if field.default.is_some() { 1 } else { count_defaults(field) }).sum()
}
