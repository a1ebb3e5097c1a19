//! Policies that are others than at a revision, so that a request or a record means something else.

use std::collections::BTreeSet;

use wheelwright_catalog::{Kind, NullPolicy, Scoped};
use wheelwright_evolve::OlderWrite;

/// Scopes in which writes of older versions reset fields, and did not.
pub(super) fn introduced_resets(then: &Kind, now: &Kind) -> Vec<String> {
    introduced(OlderWrite::Reset, "reset", then, now)
}

/// Everything else: what is refused now, what null does now, and how documents are read that say no version.
pub(super) fn other_policies(then: &Kind, now: &Kind) -> Vec<String> {
    let mut found = introduced(OlderWrite::Reject, "reject", then, now);
    found.extend(other_nulls(&then.policies.null, &now.policies.null));
    if let Some(was) = then.adopt.version.as_ref().map(|version| &version.item) {
        let is = now.adopt.version.as_ref().map(|version| &version.item);
        if is != Some(was) {
            let is = is.map_or_else(|| "not read".to_owned(), |is| format!("read as {is}"));
            found.push(format!("stored documents that say no version are {is}, not read as {was}"));
        }
    }
    found
}

fn introduced(policy: OlderWrite, word: &str, then: &Kind, now: &Kind) -> Vec<String> {
    let before = scopes_of(policy, then);
    let added = scopes_of(policy, now).into_iter().filter(|scope| !before.contains(scope));
    added.map(|scope| format!("olderWrite is {word} {scope}")).collect()
}

/// The scopes in which older writes follow a policy.
fn scopes_of(policy: OlderWrite, kind: &Kind) -> Vec<String> {
    let policies = &kind.declaration.policies;
    let mut found = Vec::new();
    if policies.older_write == policy {
        found.push("for all versions".to_owned());
    }
    let versions = policies.older_write_through.iter().filter(|(_, other)| *other == policy);
    found.extend(versions.map(|(version, _)| format!("for {version}")));
    let of_steps =
        kind.declaration.steps.iter().filter_map(|step| Some((&step.version.item, step.older_write.as_ref()?)));
    let of_steps = of_steps.filter(|(_, other)| other.item == policy);
    found.extend(of_steps.map(|(version, _)| format!("for {version}")));
    let fields = policies.older_write_of.iter().filter(|(_, other)| *other == policy);
    found.extend(fields.map(|(field, _)| format!("for {}", field.item)));
    found
}

/// The scopes in which null in a patch does something else.
fn other_nulls(then: &Scoped<NullPolicy>, now: &Scoped<NullPolicy>) -> Vec<String> {
    let mut found = Vec::new();
    let of_all = |nulls: &Scoped<NullPolicy>| nulls.default.unwrap_or(NullPolicy::Reset);
    let mut compare = |scope: &str, was: NullPolicy, is: NullPolicy| {
        if was != is {
            found.push(format!("null in a patch is `{}` {scope}, not `{}`", is.word(), was.word()));
        }
    };
    compare("for all versions", of_all(then), of_all(now));
    // What a version or a field has of its own; if nothing, what holds for all.
    let own = |policies: &[(String, NullPolicy)], name: &str, rest: NullPolicy| {
        policies.iter().find(|(other, _)| other == name).map_or(rest, |(_, policy)| *policy)
    };
    for scopes in [versions_of, fields_of] {
        let (was, is) = (scopes(then), scopes(now));
        for name in was.iter().chain(&is).map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>() {
            compare(&format!("for {name}"), own(&was, name, of_all(then)), own(&is, name, of_all(now)));
        }
    }
    found
}

fn versions_of(nulls: &Scoped<NullPolicy>) -> Vec<(String, NullPolicy)> {
    nulls.versions.iter().map(|(version, policy)| (version.item.to_string(), *policy)).collect()
}

fn fields_of(nulls: &Scoped<NullPolicy>) -> Vec<(String, NullPolicy)> {
    nulls.fields.iter().map(|(field, policy)| (field.item.to_string(), *policy)).collect()
}
