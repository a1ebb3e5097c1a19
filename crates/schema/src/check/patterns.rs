//! Whether every pattern is a regular expression that Go accepts, and that we can use.

use wheelwright_document::Path;
use wheelwright_findings::rules;

use crate::{ErrorType::Invalid, Problem, Schema, patterns::Patterns, problem::Problems};

/// Checks every pattern of a schema, also those in junctors.
pub(super) fn check_patterns(schema: &Schema) -> Vec<Problem> {
    let mut checker = Checker { patterns: Patterns::of(schema), problems: Problems::default() };
    checker.node(schema, false, &Path::Root);
    checker.problems.into_list()
}

struct Checker<'s> {
    patterns: Patterns<'s>,
    problems: Problems,
}

impl Checker<'_> {
    /// The reference refuses `additionalProperties` in a junctor, and does not look below it.
    fn node(&mut self, schema: &Schema, in_junctor: bool, path: &Path<'_>) {
        if self.problems.is_full() {
            return;
        }
        if let Some(error) = schema.checks.pattern.as_ref().and_then(|pattern| self.patterns.error(pattern)) {
            let (path, span) = (Path::Child(path, "pattern"), schema.place_of("pattern"));
            self.problems.push(match error.is_too_large() {
                true => Problem::ours(&rules::PATTERN_TOO_LARGE, &path, span, error.to_string()),
                false => Problem::new(&rules::INVALID_PATTERN, Invalid, &path, span, error.to_string()),
            });
        }
        let properties = Path::Child(path, "properties");
        for property in &schema.properties {
            self.node(&property.schema, in_junctor, &Path::Key(&properties, &property.name));
        }
        if let Some(items) = &schema.items {
            self.node(items, in_junctor, &Path::Child(path, "items"));
        }
        if let Some(additional) = schema.additional_schema().filter(|_| !in_junctor) {
            self.node(additional, in_junctor, &Path::Child(path, "additionalProperties"));
        }
        for (name, branches) in [("allOf", &schema.all_of), ("anyOf", &schema.any_of), ("oneOf", &schema.one_of)] {
            let junctor = Path::Child(path, name);
            for (index, branch) in branches.iter().enumerate() {
                self.node(branch, true, &Path::Index(&junctor, index));
            }
        }
        if let Some(not) = &schema.not {
            self.node(not, true, &Path::Child(path, "not"));
        }
    }
}
