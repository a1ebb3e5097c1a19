//! What must hold of the kinds of a catalog, once all of them are known.

use std::collections::{HashMap, HashSet};

use wheelwright_document::{Path, Span};
use wheelwright_evolve::{KindName, Located, Structure, VersionName, quoted, unknown_policy_field};
use wheelwright_findings::rules;
use wheelwright_schema::Problem;

use crate::{Catalog, Kind, arm, catalog::few, parse::KindEntry, service, stored};

/// Kinds and versions are there once each; of those that are there twice, the first is kept.
pub(crate) fn verify(catalog: &mut Catalog) {
    let mut problems = Vec::new();
    let mut kinds: HashMap<(Box<str>, Box<str>), (Span, Span)> = HashMap::new();
    catalog.kinds.retain_mut(|kind| {
        let declaration = &kind.declaration;
        if declaration.kind.is_empty() {
            let problem =
                Problem::ours(&rules::UNKNOWN_DEFINITION, &Path::Root, kind.span, "the definition names no kind");
            problems.push(problem.mend("write spec.names.kind"));
            return false;
        }
        let key = (declaration.group.clone(), declaration.kind.clone());
        if let Some((first_span, first_named)) = kinds.get(&key) {
            let message = format!("the kind {} is declared twice", named(kind));
            // One line of a catalog can name both.
            let (first, second) = match *first_named == kind.named {
                true => (*first_span, kind.span),
                false => (*first_named, kind.named),
            };
            let problem = Problem::ours(&rules::DUPLICATE_KIND, &Path::Root, second, message);
            problems.push(problem.related(first, "first here"));
            return false;
        }
        kinds.insert(key, (kind.span, kind.named));
        keep_first_versions(kind, &mut problems);
        true
    });
    keep_first_names(&mut catalog.kinds, &mut problems);
    problems.extend(stored::overlaps(&catalog.kinds));
    problems.extend(arm::out_of_reach(&catalog.kinds));
    problems.extend(arm::nested(&catalog.kinds));
    let findings: Vec<_> = problems.into_iter().map(|problem| catalog.table.finding(problem)).collect();
    catalog.findings.extend(findings);
}

/// A name that a kind says it had is that of no other, and no other says so, too; what is claimed twice, the first keeps.
fn keep_first_names(kinds: &mut [Kind], problems: &mut Vec<Problem>) {
    let name = |kind: &Kind| (kind.declaration.name(), (kind.declaration.name(), kind.named));
    let mut claims: HashMap<KindName, (KindName, Span)> = kinds.iter().map(name).collect();
    for kind in kinds {
        let own = kind.declaration.name();
        kind.declaration.was.retain(|was| {
            let Some((other, first)) = claims.get(&was.item) else {
                claims.insert(was.item.clone(), (own.clone(), was.span));
                return true;
            };
            let name = &was.item;
            let message = match *other {
                _ if *other == own => format!("{own} is said twice to be or have been {name}"),
                _ if *other == *name => format!("{own} is said to have been {name}, which is a kind of its own"),
                _ => format!("{own} and {other} are both said to have been {name}"),
            };
            let problem = Problem::ours(&rules::KIND_NAME_TAKEN, &Path::Root, was.span, message);
            problems.push(problem.related(*first, "first here"));
            false
        });
    }
}

/// What an entry says of a kind fits its versions.
pub(crate) fn verify_entry(catalog: &mut Catalog, kind: &Kind, entry: &KindEntry) {
    let mut problems = Vec::new();
    // A kind whose files cannot be read has none, and that has been said.
    if !kind.declaration.versions.is_empty() {
        let is_declared = |name: &VersionName| kind.declaration.version(name.as_str()).is_some();
        problems.extend(entry.hub.iter().filter(|hub| !is_declared(&hub.item)).map(|hub| kind.unknown_version(hub)));
        // Patches come in the declared versions only; what the lock alone remembers, none of them names.
        let structures: Vec<Structure> =
            kind.declaration.versions.iter().map(|version| Structure::of(&version.schema, version.root)).collect();
        let fields = entry.policies.null.fields.iter();
        problems.extend(fields.filter_map(|(at, _)| unknown_policy_field(at, structures.iter())));
        problems.extend(stored::problems(kind));
        problems.extend(service::problems(kind));
        problems.extend(arm::problems(kind, entry));
        problems.extend(entry.order.iter().flat_map(|order| order_problems(kind, order)));
    }
    problems.extend(successor_problems(&entry.successors));
    let findings: Vec<_> = problems.into_iter().map(|problem| catalog.table.finding(problem)).collect();
    catalog.findings.extend(findings);
}

fn named(kind: &Kind) -> String {
    let declaration = &kind.declaration;
    match &*declaration.group {
        "" => declaration.kind.to_string(),
        group => format!("{} of {group}", declaration.kind),
    }
}

fn keep_first_versions(kind: &mut Kind, problems: &mut Vec<Problem>) {
    let mut seen: HashMap<VersionName, Span> = HashMap::new();
    let name = kind.declaration.kind.clone();
    kind.declaration.versions.retain(|version| {
        // What has no name is a problem of its definition.
        if version.name.as_str().is_empty() {
            return false;
        }
        let Some(first) = seen.get(&version.name) else {
            seen.insert(version.name.clone(), version.span);
            return true;
        };
        let message = format!("the version {} of {name} is declared twice", version.name);
        let problem = Problem::ours(&rules::DUPLICATE_VERSION, &Path::Root, version.span, message);
        problems.push(problem.related(*first, "first here"));
        false
    });
}

fn order_problems(kind: &Kind, order: &Located<Vec<Located<VersionName>>>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut seen: HashMap<&VersionName, Span> = HashMap::new();
    for version in &order.item {
        if let Some(first) = seen.insert(&version.item, version.span) {
            let message = format!("the order names {} twice", quoted(version.item.as_str()));
            let problem = Problem::ours(&rules::INCOMPLETE_ORDER, &Path::Root, version.span, message);
            problems.push(problem.related(first, "first here"));
        }
    }
    let lacking = kind.declaration.versions.iter().map(|version| &version.name).filter(|name| !seen.contains_key(name));
    let lacking: Vec<&str> = lacking.map(VersionName::as_str).collect();
    if !lacking.is_empty() {
        let message = format!("the order lacks {}", few(lacking.into_iter()));
        let problem = Problem::ours(&rules::INCOMPLETE_ORDER, &Path::Root, order.span, message);
        problems.push(problem.mend("name every version of the kind once, the oldest first"));
    }
    problems
}

/// A problem for each circle of successors, at its first version in the order of the file.
fn successor_problems(successors: &[(Located<VersionName>, Located<VersionName>)]) -> Vec<Problem> {
    let next: HashMap<&VersionName, &VersionName> =
        successors.iter().map(|(gone, next)| (&gone.item, &next.item)).collect();
    let mut done: HashSet<&VersionName> = HashSet::new();
    let mut problems = Vec::new();
    for (start, _) in successors {
        let mut way: Vec<&VersionName> = Vec::new();
        let mut on_way: HashSet<&VersionName> = HashSet::new();
        let mut at = &start.item;
        while !done.contains(at) && on_way.insert(at) {
            way.push(at);
            match next.get(at) {
                Some(next) => at = next,
                None => break,
            }
        }
        if on_way.contains(at) && next.contains_key(at) && !done.contains(at) {
            let circle = way.iter().skip_while(|name| **name != at).chain([&at]).map(|name| name.as_str());
            let circle = circle.collect::<Vec<_>>();
            let shown = match circle.len() {
                ..=10 => circle.join(" → "),
                more => format!("{} → … ({} versions)", circle[..5].join(" → "), more - 1),
            };
            let message = format!("these versions succeed each other in a circle: {shown}");
            problems.push(Problem::ours(&rules::SUCCESSOR_CYCLE, &Path::Root, start.span, message));
        }
        done.extend(way);
    }
    problems
}
