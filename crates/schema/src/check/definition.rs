//! Rules about a CustomResourceDefinition as a whole.

use std::collections::HashSet;

use wheelwright_document::{Path, Span};
use wheelwright_findings::{Rule, rules};
use wheelwright_text::names;

use super::{check_schema, ratchet::demands_structure};
use crate::{
    Definition, DefinitionVersion,
    ErrorType::{self, Invalid, NotSupported, Required},
    Problem, Root, Schema,
    lower::Named,
    problem::Problems,
};

/// Checks a definition and the schema of every version in it.
pub fn check_definition(definition: &Definition) -> Vec<Problem> {
    let mut own = Problems::default();
    check_names(definition, &mut own);
    check_versions(definition, &mut own);
    let mut problems = own.into_list();
    let spec = Path::Child(&Path::Root, "spec");
    let versions = Path::Child(&spec, "versions");
    for (index, version) in definition.versions.iter().enumerate() {
        let path = Path::Index(&versions, index);
        let schema_path = Path::Child(&Path::Child(&path, "schema"), "openAPIV3Schema").to_field_path();
        let Some(schema) = &version.schema else { continue };
        problems.extend(check_status_root(version, schema));
        let found = problems.len();
        problems.extend(check_schema(schema, Root::Resource));
        for problem in &mut problems[found..] {
            problem.path = problem.path.under(&schema_path);
        }
    }
    if definition.versions.iter().filter_map(|version| version.schema.as_ref()).any(demands_structure) {
        problems.iter_mut().filter(|problem| problem.structural).for_each(|problem| problem.ratchets = false);
    }
    problems
}

fn problem(rule: &'static Rule, kind: ErrorType, path: &[&str], span: Span, message: impl Into<String>) -> Problem {
    fn extend(rule: &'static Rule, kind: ErrorType, at: &Path<'_>, rest: &[&str], span: Span, text: String) -> Problem {
        match rest.split_first() {
            Some((step, rest)) => extend(rule, kind, &Path::Child(at, step), rest, span, text),
            None => Problem::new(rule, kind, at, span, text),
        }
    }
    extend(rule, kind, &Path::Root, path, span, message.into())
}

fn check_names(definition: &Definition, problems: &mut Problems) {
    let rule = &rules::DEFINITION_NAMES;
    let needed: [(&Named, &[&str]); 4] = [
        (&definition.group, &["spec", "group"]),
        (&definition.plural, &["spec", "names", "plural"]),
        (&definition.kind, &["spec", "names", "kind"]),
        (&definition.scope, &["spec", "scope"]),
    ];
    for (named, path) in needed {
        if named.text.is_empty() {
            let field = path.join(".");
            let message = format!("{field} is required");
            problems.push(problem(rule, Required, path, named.span, message).mend(format!("add {field}")));
        }
    }
    if !matches!(&*definition.scope.text, "" | "Cluster" | "Namespaced") {
        let span = definition.scope.span;
        let message = format!("{:?} is not one of Cluster, Namespaced", definition.scope.text);
        problems.push(problem(rule, NotSupported, &["spec", "scope"], span, message).mend("write scope: Namespaced"));
    }
    if !definition.group.text.is_empty() && !names::is_dns1123_subdomain(&definition.group.text) {
        let message = format!("{:?} is not a domain name in lower case", definition.group.text);
        let mend = "write a domain that you own, for instance group: apps.example.com";
        problems.push(problem(rule, Invalid, &["spec", "group"], definition.group.span, message).mend(mend));
    } else if !definition.group.text.is_empty() && !definition.group.text.contains('.') {
        let message = "the group should be a domain with at least one dot";
        let mend = "write a domain that you own, for instance group: apps.example.com";
        problems.push(problem(rule, Invalid, &["spec", "group"], definition.group.span, message).mend(mend));
    }
    for (named, path) in &needed[1..3] {
        if !named.text.is_empty() && !names::is_dns1035_label(&named.text.to_lowercase()) {
            let message =
                format!("{:?} may only have letters, digits and dashes, and starts with a letter", named.text);
            problems
                .push(problem(rule, Invalid, path, named.span, message).mend("write it with letters and digits only"));
        }
    }
    let expected = format!("{}.{}", definition.plural.text, definition.group.text);
    if *definition.name.text != *expected && !definition.plural.text.is_empty() && !definition.group.text.is_empty() {
        let message = format!("the name must be the plural and the group, {expected}");
        problems.push(
            problem(rule, Invalid, &["metadata", "name"], definition.name.span, message)
                .mend(format!("write name: {expected}"))
                .related(definition.plural.span, "the plural")
                .related(definition.group.span, "the group"),
        );
    }
}

fn check_versions(definition: &Definition, problems: &mut Problems) {
    let rule = &rules::DEFINITION_VERSIONS;
    let spec = Path::Child(&Path::Root, "spec");
    let versions = Path::Child(&spec, "versions");
    let mut seen = HashSet::new();
    for (index, version) in definition.versions.iter().enumerate() {
        if problems.is_full() {
            return;
        }
        let path = Path::Index(&versions, index);
        let name = &version.name;
        if !names::is_dns1035_label(&name.text) {
            let message = format!("{:?} is not a version: letters, digits and dashes in lower case", name.text);
            problems.push(Problem::new(rule, Invalid, &Path::Child(&path, "name"), name.span, message));
        }
        if !seen.insert(&*name.text) {
            let message = format!("the version {:?} is listed twice", name.text);
            problems.push(Problem::new(rule, Invalid, &versions, name.span, message));
        }
        if version.schema.is_none() {
            let message = format!("the version {:?} has no schema", name.text);
            let schema = Path::Child(&path, "schema");
            let problem = Problem::new(rule, Required, &Path::Child(&schema, "openAPIV3Schema"), name.span, message)
                .mend("add schema: {openAPIV3Schema: {type: object}}");
            // What is served needs one to be pruned by.
            problems.push(problem).ratchets = !version.served;
        }
    }
    let stored = definition.versions.iter().filter(|version| version.storage).count();
    if stored != 1 {
        let message = format!("exactly one version must have storage: true, found {stored}");
        problems.push(Problem::new(rule, Invalid, &versions, definition.versions_span, message));
    }
}

/// With the status subresource, status is taken out of the schema by itself, so the root may only say what is not lost
/// by that.
fn check_status_root(version: &DefinitionVersion, schema: &Schema) -> Option<Problem> {
    const ALLOWED: &[&str] = &[
        "description",
        "type",
        "format",
        "title",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "multipleOf",
        "required",
        "items",
        "properties",
        "externalDocs",
        "example",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ];
    if !version.status_subresource {
        return None;
    }
    let keywords = schema.keywords.iter();
    let (keyword, span) = keywords
        .filter(|(keyword, _)| crate::lower::is_keyword(keyword))
        .find(|(keyword, _)| !ALLOWED.contains(&&**keyword))?;
    Some(problem(
        &rules::STATUS_ROOT_KEYWORDS,
        Invalid,
        &["spec", "validation", "openAPIV3Schema"],
        *span,
        format!("{keyword} cannot stand at the root of a schema with the status subresource"),
    ))
}
