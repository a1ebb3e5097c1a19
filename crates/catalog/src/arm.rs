//! What an entry of a catalog says of a kind as a resource of Azure's resource manager.

use std::collections::{HashMap, hash_map::Entry};

use wheelwright_document::{Path, Span, Spanned};
use wheelwright_evolve::{Located, Reader, Structure, quoted};
use wheelwright_findings::rules;
use wheelwright_schema::Problem;

use crate::{Kind, parse::KindEntry};

/// `arm`: what a kind is to Azure's resource manager.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArmEntry {
    /// The type of its resources.
    pub resource_type: Located<Box<str>>,
    /// The subscription whose resource groups are its namespaces.
    pub subscription: Option<Located<Box<str>>>,
}

/// The fields at the root of a resource that are Azure's resource manager's, whatever the kind.
pub const ARM_FIELDS: [&str; 7] = ["id", "name", "type", "systemData", "tags", "etag", "eTag"];

/// What comes after the provider in paths of operations.
const OPERATIONS: [&str; 3] = ["locations", "operationStatuses", "operationResults"];

const TYPE: &str = "a type of resource, such as Microsoft.Shop/carts/items";
const SUBSCRIPTION: &str = "the id of a subscription, such as 00000000-0000-0000-0000-000000000000";

/// Reads `arm`: a type, or an object with that and more.
pub(crate) fn read(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<ArmEntry> {
    let is_type = |text: &str| text.contains('/') && text.split('/').all(is_name);
    let Some(entries) = value.as_object() else {
        let resource_type = named(reader, value, path, TYPE, is_type)?;
        return Some(ArmEntry { resource_type, subscription: None });
    };
    let (mut resource_type, mut subscription) = (None, None);
    for entry in entries {
        let path = &Path::Child(path, entry.key);
        match entry.key {
            "type" => resource_type = named(reader, &entry.value, path, TYPE, is_type),
            "subscription" => subscription = named(reader, &entry.value, path, SUBSCRIPTION, is_name),
            _ => reader.unknown_key(entry, path, &["type", "subscription"]),
        }
    }
    if value.get("type").is_none() {
        let first = entries.first().map_or(value.span, |entry| entry.key_span);
        if let Some(problem) = reader.report(&rules::MALFORMED_CATALOG, path, first, "arm needs a type") {
            problem.mend = Some(format!("add type: with {TYPE}"));
        }
    }
    // What is there and wrong has been said, and is not missing.
    let is_complete = subscription.is_some() || value.get("subscription").is_none();
    Some(ArmEntry { resource_type: resource_type?, subscription }).filter(|_| is_complete)
}

/// Holds that a kind of definitions says in which subscription it is, and no other kind does.
pub(crate) fn check_subscription(reader: &mut Reader, arm: &ArmEntry, path: &Path<'_>, is_of_definitions: bool) {
    let ArmEntry { resource_type, subscription } = arm;
    let (span, message, mend) = match (is_of_definitions, subscription) {
        (true, None) => (
            resource_type.span,
            "the namespaces of a kind are the resource groups of one subscription, and it is not said which",
            format!("write arm: {{type: {}, subscription: ID}}", resource_type.item),
        ),
        (false, Some(subscription)) => (
            subscription.span,
            "a kind of OpenAPI documents is in no namespaces, and its resources are in any subscription",
            "remove the subscription".to_owned(),
        ),
        _ => return,
    };
    if let Some(problem) = reader.report(&rules::MALFORMED_CATALOG, path, span, message) {
        problem.mend = Some(mend);
    }
}

/// What is wrong with what an entry says, for a kind with versions.
pub(crate) fn problems(kind: &Kind, entry: &KindEntry) -> Vec<Problem> {
    let Some(ArmEntry { resource_type, .. }) = &entry.arm else { return Vec::new() };
    let name = &kind.declaration.kind;
    let wrong = |span: Span, message: String, mend: &str| {
        Problem::ours(&rules::MALFORMED_CATALOG, &Path::Root, span, message).mend(mend)
    };
    if kind.kubernetes.is_empty() {
        return Vec::new();
    }
    let span = resource_type.span;
    let mut problems = Vec::new();
    if !kind.kubernetes.iter().all(|resource| resource.is_namespaced) {
        let message = format!("{name} is in no namespace, and a resource is in a resource group");
        problems.push(wrong(span, message, "remove arm, or make the kind one that is Namespaced"));
    }
    if resource_type.item.matches('/').count() > 1 {
        let message = format!("{name} is of a definition, and its resources belong to no others");
        problems.push(wrong(span, message, "write a type with one name after the provider"));
    }
    if kind.long_running == Some(true) {
        let message = format!("{name} is of a definition, and its writes are done once they are answered");
        problems.push(wrong(span, message, "remove longRunning"));
    }
    for version in &kind.declaration.versions {
        let structure = Structure::of(&version.schema, version.root);
        let taken = ARM_FIELDS.iter().find(|field| structure.child(structure.root(), field).is_some());
        problems.extend(taken.map(|field| {
            let message = format!(
                "{} has a field {field} of its own, where a resource has that of the resource manager",
                version.name
            );
            wrong(span, message, "remove arm: nobody could read and write the field through it")
        }));
    }
    problems
}

/// Kinds whose resources nobody could reach: of a type that is another's too, in any case, or where operations are.
pub(crate) fn out_of_reach(kinds: &[Kind]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut first: HashMap<String, &Kind> = HashMap::new();
    for kind in kinds {
        let Some(of_type) = &kind.arm else { continue };
        let wrong = |message: String| Problem::ours(&rules::MALFORMED_CATALOG, &Path::Root, kind.named, message);
        if let Some(word) = of_type.split('/').nth(1)
            && OPERATIONS.iter().any(|own| own.eq_ignore_ascii_case(word))
        {
            let problem = wrong(format!("{of_type} is no type of resources: operations are at paths with {word}"));
            problems.push(problem.mend("give it another type"));
        }
        match first.entry(of_type.to_ascii_lowercase()) {
            Entry::Vacant(free) => {
                free.insert(kind);
            }
            Entry::Occupied(taken) => {
                let other = &taken.get().declaration.kind;
                let message = format!("{of_type} is the type of {other} already, and types are the same in any case");
                problems.push(wrong(message).related(taken.get().named, "the other one").mend("give it another type"));
            }
        }
    }
    problems
}

/// Kinds whose resources would belong to those of a kind that is in namespaces: nothing belongs to such a resource.
pub(crate) fn nested(kinds: &[Kind]) -> Vec<Problem> {
    let lower = |kind: &Kind| kind.arm.as_ref().map(|of_type| of_type.to_ascii_lowercase());
    let outer = kinds.iter().filter(|kind| kind.arm_subscription.is_some());
    let pairs = outer.flat_map(|outer| {
        let prefix = format!("{}/", lower(outer).unwrap_or_default());
        let is_below = move |other: &&Kind| lower(other).is_some_and(|of_type| of_type.starts_with(&prefix));
        kinds.iter().filter(is_below).map(move |other| (outer, other))
    });
    let problem = |(outer, inner): (&Kind, &Kind)| {
        let (type_of_outer, own) = (outer.arm.as_deref().unwrap_or_default(), inner.arm.as_deref().unwrap_or_default());
        let message =
            format!("{own} would belong to {type_of_outer}, which is of a definition: nothing can belong to it");
        let problem = Problem::ours(&rules::MALFORMED_CATALOG, &Path::Root, inner.named, message);
        problem.related(outer.named, "the other one").mend("give it another type")
    };
    pairs.map(problem).collect()
}

fn is_name(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

fn named(
    reader: &mut Reader,
    value: &Spanned<'_>,
    path: &Path<'_>,
    expected: &str,
    is_one: impl Fn(&str) -> bool,
) -> Option<Located<Box<str>>> {
    let text = reader.text(value, path, expected)?;
    if !is_one(text.item) {
        let message = format!("expected {expected}, found {}", quoted(text.item));
        reader.report(&rules::MALFORMED_CATALOG, path, value.span, message);
        return None;
    }
    Some(Located { item: text.item.into(), span: text.span })
}
