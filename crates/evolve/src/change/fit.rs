//! Whether the defaults that changes declare are values of the fields that they are for.

use wheelwright_document::{Arena, Owned};
use wheelwright_findings::rules;
use wheelwright_schema::{Problem, Program, Root, Schema, Stages};

use super::{FieldValue, VersionStep};
use crate::{Step, check::spelled, problem::problem_at};

/// The defaults and storage defaults of a step that the schema of its version, with these defaults in it, does not accept.
/// What names no field is not looked at.
pub(crate) fn unfit_defaults(step: &VersionStep, schema: &Schema, root: Root) -> Vec<Problem> {
    let defaults = step.defaults.iter().map(|declared| ("default", declared));
    let storage_defaults = step.storage_defaults.iter().map(|declared| ("storageDefault", declared));
    let declared = defaults.chain(storage_defaults).filter(|(_, declared)| declared.value != Owned::Null);
    declared
        .filter_map(|(word, FieldValue { at, value })| {
            let schema = at.item.steps().iter().try_fold(schema, below)?;
            let reason = refusal(schema, root, value)?;
            let (version, value) = (&step.version.item, spelled(value));
            let message = format!("`{word}` of {} is {value}, which {version} does not accept: {reason}", at.item);
            Some(problem_at(&rules::DECLARED_DEFAULT_UNFIT, at.span, message))
        })
        .collect()
}

pub(super) fn below<'s>(schema: &'s Schema, step: &Step) -> Option<&'s Schema> {
    match step {
        Step::Field(name) => schema.property(name),
        Step::Items => schema.items.as_deref(),
        Step::Values => schema.additional_schema(),
    }
}

/// Why a schema does not accept a value, completed with the defaults below it, if it does not.
fn refusal(schema: &Schema, root: Root, value: &Owned) -> Option<String> {
    let root = if root == Root::Definition { Root::Definition } else { Root::Value };
    let arena = Arena::new();
    match Program::compile(schema, root).run(value.share(&arena), &arena, Stages::ADMIT) {
        Err(error) => Some(error.to_string()),
        Ok(admitted) => match (admitted.unknown.first(), admitted.errors.first()) {
            (Some(unknown), _) => Some(format!("it has no field {unknown}")),
            (None, Some(error)) if error.path().is_root() => Some(error.message().to_owned()),
            (None, error) => error.map(ToString::to_string),
        },
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::problems_of;

    const V1: &str = "{type: object, properties: {size: {type: integer, maximum: 9}, tier: {type: string, enum: [a, b]}, \
        lines: {type: array, items: {type: object, required: [key], properties: {key: {type: string}}}}, \
        labels: {type: object, additionalProperties: {type: string, maxLength: 3}}, \
        disk: {type: object, required: [type], properties: {type: {type: string, default: x}}}}}";

    #[test]
    fn a_declared_default_that_its_field_does_not_accept_is_refused_at_its_line() {
        for declared in [
            "size: text",
            "size: 10",
            "tier: c",
            "lines: {}",
            "lines: [{}]",
            "\"lines[].key\": 1",
            "\"labels{}\": long",
            "labels: {a: long}",
            "disk: {other: 1}",
            "disk: {type: 1}",
        ] {
            for word in ["default", "storageDefault"] {
                if word == "storageDefault" && declared.contains("{}\"") {
                    continue;
                }
                let problems = problems_of(&[("v1", V1)], &format!("v1:\n  {word}:\n    {declared}"));
                let found: Vec<_> = problems.iter().map(|problem| (problem.rule.id, problem.span.line)).collect();
                assert_eq!(found, [("WW122", 3)], "{word} {declared}: {problems:?}");
            }
        }
    }

    #[test]
    fn a_declared_default_that_its_field_accepts_is_not() {
        for declared in ["size: 9", "tier: b", "lines: []", "labels: {a: b}", "disk: {}", "size: null"] {
            let problems = problems_of(&[("v1", V1)], &format!("v1: {{default: {{{declared}}}}}"));
            assert!(problems.is_empty(), "{declared}: {problems:?}");
        }
    }
}
