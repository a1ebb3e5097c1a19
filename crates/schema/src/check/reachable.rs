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

/// Notes every optional object that has no default but fields with defaults, where `default: {}` would be valid and so
/// let them apply. Kubernetes does not create an object for the sake of the defaults in it.
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
            // Controllers write the status, and nobody wants it there before.
            if matches!(path, Path::Root) && *property.name == *"status" {
                continue;
            }
            let path = Path::Key(&properties, &property.name);
            let may_be_absent = !required.contains(&*property.name) && property.schema.default.is_none();
            if may_be_absent && self.would_be_valid_empty(&property.schema, field.node) {
                self.note(&property.name, &property.schema, &path);
            }
            self.value(&property.schema, field.node, &path);
        }
    }

    fn note(&mut self, name: &str, schema: &Schema, path: &Path<'_>) {
        const SHOWN: usize = 3;
        let defaulted = || schema.properties.iter().filter(|field| field.schema.default.is_some());
        let names: Vec<&str> = defaulted().map(|field| &*field.name).collect();
        let defaults = match &names[..] {
            [] => return,
            [one] => format!("the default of {one} does"),
            few if few.len() <= SHOWN => format!("the defaults of {} do", few.join(", ")),
            many => format!("the defaults of {} and {} more do", many[..SHOWN].join(", "), many.len() - SHOWN),
        };
        let message = format!("{defaults} not apply where {name} is absent, since {name} has no default itself");
        let problem = Problem::ours(&rules::UNREACHABLE_DEFAULT, path, schema.span, message);
        let problem = defaulted().take(SHOWN).fold(problem, |problem, field| {
            problem.related(field.schema.place_of("default"), format!("the default of {}", field.name))
        });
        self.problems.push(problem.mend(format!("if {name} should always be there, add default: {{}} to it")));
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

    /// Whether `default: {}` could be written. A nullable object may be left out on purpose.
    fn would_be_valid_empty(&self, schema: &Schema, id: NodeId) -> bool {
        if schema.r#type != Some(Type::Object) || schema.nullable {
            return false;
        }
        let arena = Arena::new();
        let mut walk = Walk::new(self.program, &arena, Stages::VALIDATE);
        walk.from(id, Value::Object(&[]));
        walk.is_clean()
    }
}
