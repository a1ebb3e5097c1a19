//! Whether every pattern is a regular expression that Go accepts.

use std::collections::HashMap;

use wheelwright_document::Path;
use wheelwright_findings::rules;

use crate::{
    ErrorType::Invalid,
    Problem, Schema,
    validate::{PatternBudget, PatternError},
};

/// Checks every pattern of a schema once, also those in junctors.
pub(super) fn check_patterns(schema: &Schema) -> Vec<Problem> {
    let mut checker = Checker::default();
    checker.node(schema, &Path::Root);
    checker.problems
}

#[derive(Default)]
struct Checker<'s> {
    verdicts: HashMap<&'s str, Result<(), PatternError>>,
    budget: PatternBudget,
    problems: Vec<Problem>,
}

impl<'s> Checker<'s> {
    fn node(&mut self, schema: &'s Schema, path: &Path<'_>) {
        if let Some(pattern) = &schema.checks.pattern {
            let budget = &mut self.budget;
            if let Err(error) = self.verdicts.entry(pattern).or_insert_with(|| budget.check(pattern)) {
                self.problems.push(Problem::new(
                    &rules::INVALID_PATTERN,
                    Invalid,
                    &Path::Child(path, "pattern"),
                    schema.place_of("pattern"),
                    format!("not a regular expression that Go accepts: {error}"),
                ));
            }
        }
        let properties = Path::Child(path, "properties");
        for property in &schema.properties {
            self.node(&property.schema, &Path::Key(&properties, &property.name));
        }
        if let Some(items) = &schema.items {
            self.node(items, &Path::Child(path, "items"));
        }
        if let Some(additional) = schema.additional_schema() {
            self.node(additional, &Path::Child(path, "additionalProperties"));
        }
        for (name, branches) in [("allOf", &schema.all_of), ("anyOf", &schema.any_of), ("oneOf", &schema.one_of)] {
            let junctor = Path::Child(path, name);
            for (index, branch) in branches.iter().enumerate() {
                self.node(branch, &Path::Index(&junctor, index));
            }
        }
        if let Some(not) = &schema.not {
            self.node(not, &Path::Child(path, "not"));
        }
    }
}
