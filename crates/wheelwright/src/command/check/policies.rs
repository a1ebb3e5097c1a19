//! Policies that are others than at a revision, so that a request or a record means something else.

use std::collections::BTreeSet;

use wheelwright_catalog::{Kind, NullPolicy};
use wheelwright_evolve::{History, OlderWrite, Selector};

/// Where writes of older versions reset fields, and did not.
pub(super) fn introduced_resets(then: &Kind, now: &Kind) -> Vec<String> {
    introduced(OlderWrite::Reset, "reset", then, now)
}

/// Where writes of older versions are refused and were not, where null does something else, and stored documents without a
/// version that are read otherwise.
pub(super) fn other_policies(then: &Kind, now: &Kind) -> Vec<String> {
    let mut found = introduced(OlderWrite::Reject, "reject", then, now);
    let other_nulls = changed(&Policy::of_null(then), &Policy::of_null(now), then).into_iter();
    found.extend(
        other_nulls.map(|Changed { scope, was, is }| {
            format!("null in a patch is `{}` {scope}, not `{}`", is.word(), was.word())
        }),
    );
    if let Some(was) = then.adopt.version.as_ref().map(|version| &version.item) {
        let is = now.adopt.version.as_ref().map(|version| &version.item);
        if is != Some(was) {
            let is = is.map_or_else(|| "refused, not read".to_owned(), |is| format!("read as {is}, not"));
            found.push(format!("stored documents without a version are {is} as {was}"));
        }
    }
    found
}

fn introduced(policy: OlderWrite, word: &str, then: &Kind, now: &Kind) -> Vec<String> {
    let changed = changed(&Policy::of_older_writes(then), &Policy::of_older_writes(now), then).into_iter();
    changed
        .filter(|changed| changed.is == policy)
        .map(|changed| format!("olderWrite is {word} {}", changed.scope))
        .collect()
}

/// What a policy says for all versions, for single ones, and for fields, which win over versions.
struct Policy<T> {
    all: T,
    versions: Vec<(String, T)>,
    fields: Vec<(Selector, T)>,
}

/// A policy that is another one.
struct Changed<T> {
    scope: String,
    was: T,
    is: T,
}

impl Policy<OlderWrite> {
    fn of_older_writes(kind: &Kind) -> Self {
        let policies = &kind.declaration.policies;
        let steps = kind.declaration.steps.iter();
        let of_steps = steps.filter_map(|step| Some((step.version.item.to_string(), step.older_write.as_ref()?.item)));
        let of_versions = policies.older_write_through.iter().map(|(version, policy)| (version.to_string(), *policy));
        let fields = policies.older_write_of.iter().map(|(field, policy)| (field.item.clone(), *policy));
        Self { all: policies.older_write, versions: of_versions.chain(of_steps).collect(), fields: fields.collect() }
    }
}

impl Policy<NullPolicy> {
    fn of_null(kind: &Kind) -> Self {
        let null = &kind.policies.null;
        let versions = null.versions.iter().map(|(version, policy)| (version.item.to_string(), *policy));
        let fields = null.fields.iter().map(|(field, policy)| (field.item.clone(), *policy));
        let all = null.default.unwrap_or(NullPolicy::Reset);
        Self { all, versions: versions.collect(), fields: fields.collect() }
    }
}

impl<T: Copy> Policy<T> {
    fn of_version(&self, version: &str) -> T {
        self.versions.iter().find(|(other, _)| other == version).map_or(self.all, |(_, policy)| *policy)
    }

    fn of_field(&self, field: &Selector) -> T {
        self.fields.iter().find(|(other, _)| other == field).map_or(self.all, |(_, policy)| *policy)
    }
}

/// Where a policy is another one for what was published then: no client depends on what came since.
fn changed<T: Copy + PartialEq>(was: &Policy<T>, is: &Policy<T>, then: &Kind) -> Vec<Changed<T>> {
    let published = then.declaration.versions.iter().map(|version| version.name.as_str());
    let of_versions = published.map(|version| (version, was.of_version(version), is.of_version(version)));
    let of_versions: Vec<(&str, T, T)> = of_versions.collect();
    let is_changed_for_all = was.all != is.all && of_versions.iter().all(|(_, a, b)| (*a, *b) == (was.all, is.all));
    let mut found: Vec<Changed<T>> = match is_changed_for_all {
        true => vec![Changed { scope: "for all versions".to_owned(), was: was.all, is: is.all }],
        false => {
            let changed = of_versions.into_iter().filter(|(_, was, is)| was != is);
            changed.map(|(version, was, is)| Changed { scope: format!("for {version}"), was, is }).collect()
        }
    };
    let fields: BTreeSet<&Selector> = was.fields.iter().chain(&is.fields).map(|(field, _)| field).collect();
    if !fields.is_empty() {
        let history = History::derive(&then.declaration, None).0;
        let is_published = |field: &Selector| {
            history.indexes().any(|version| history.version(version).structure.find(field).is_some())
        };
        let of_fields = fields.into_iter().filter(|field| is_published(field));
        let of_fields = of_fields.map(|field| (field, was.of_field(field), is.of_field(field)));
        let changed = of_fields.filter(|(_, was, is)| was != is);
        found.extend(changed.map(|(field, was, is)| Changed { scope: format!("for {field}"), was, is }));
    }
    found
}
