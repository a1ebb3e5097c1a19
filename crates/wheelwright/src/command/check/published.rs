//! What a revision published besides schemas and the lock: endpoints, keys of records, policies and levels.

use wheelwright_catalog::Kind;
use wheelwright_document::{FieldPath, Owned, Span};
use wheelwright_evolve::{Maturity, VersionName};
use wheelwright_findings::{Finding, Level, Rule, rules};
use wheelwright_schema::KubernetesResource;

use super::{
    conversion,
    policies::{introduced_resets, other_policies},
    versions::{Before, Loaded},
};
use crate::subject::full_name;

/// What clients and the store relied on at a revision, and is different now.
pub(super) fn changed_promises(before: &Before, loaded: &Loaded, kind: &Kind) -> Vec<Finding> {
    let Some((loaded_before, then)) = before.kinds.find(&kind.declaration) else { return Vec::new() };
    let name = full_name(&kind.declaration);
    let served = then.declaration.versions.iter().filter(|version| version.served);
    let ripest = served.map(|version| version.name.maturity()).max().unwrap_or(Maturity::Alpha);
    let level = kind.gate.level_of(&rules::ENDPOINT_CHANGED, ripest);
    let finding = |rule: &'static Rule, what: String, level: Level, span: Span| {
        let message = format!("{name}: {what}, unlike at {}", before.revision);
        let identity = format!("{name} {what}");
        let mut finding = Finding::new(rule, message, FieldPath::root()).with_identity(identity).lowered_to(level);
        finding.place = loaded.catalog.place(span).or_else(|| loaded.catalog.place(kind.named));
        finding.kind = Some(name.clone());
        finding
    };
    let mut findings = Vec::new();
    for old in &then.kubernetes {
        let is_same = |new: &&KubernetesResource| new.kind == old.kind && new.group == old.group;
        let Some(new) = kind.kubernetes.iter().find(is_same) else { continue };
        let of_kind = of_kind(old, new).into_iter();
        findings.extend(of_kind.map(|what| finding(&rules::ENDPOINT_CHANGED, what, level, kind.span)));
        // The store of a catalog keeps every field: the kind loses one only if a cluster serves it, too.
        let level_of_loss = if loaded.is_bare { level } else { level.min(Level::Warning) };
        let webhook = conversion::lost_webhook(old, new, kind);
        findings.extend(webhook.map(|what| finding(&rules::ENDPOINT_CHANGED, what, level_of_loss, kind.span)));
        if let Some((version, what)) = conversion::narrower_storage(old, new, kind) {
            let span = kind.declaration.version(version).map_or(kind.span, |version| version.span);
            findings.push(finding(&rules::ENDPOINT_CHANGED, what, level_of_loss, span));
        }
        for (version, what) in of_versions(old, new) {
            let declared = kind.declaration.version(version);
            let level = kind.gate.level_of(&rules::ENDPOINT_CHANGED, VersionName::new(version).maturity());
            let span = declared.map_or(kind.span, |version| version.span);
            findings.push(finding(&rules::ENDPOINT_CHANGED, what, level, span));
        }
    }
    let (old, new) = (then.declared_prefix(), kind.declared_prefix());
    if old != new {
        let prefix = |prefix: &Option<std::borrow::Cow<'_, str>>| {
            prefix.as_ref().map_or_else(|| "the name of the kind".to_owned(), |prefix| format!("`{prefix}`"))
        };
        let what = format!("the keys of its records begin with {}, not {}", prefix(&new), prefix(&old));
        findings.push(finding(&rules::STORAGE_PREFIX_CHANGED, what, Level::Error, kind.named));
    }
    // Without a catalog, no policy was in force.
    if !loaded_before.is_bare {
        let introduced = introduced_resets(then, kind).into_iter();
        findings.extend(introduced.map(|what| finding(&rules::RESET_INTRODUCED, what, level, kind.named)));
        let others = other_policies(then, kind).into_iter();
        findings.extend(others.map(|what| finding(&rules::POLICY_CHANGED, what, level, kind.named)));
    }
    findings.extend(
        lowered_levels(then, kind)
            .into_iter()
            .map(|what| finding(&rules::LEVELS_LOWERED, what, rules::LEVELS_LOWERED.level, kind.named)),
    );
    findings
}

/// The levels that the catalog lowers for a kind: those of rules, and of versions by their maturity.
fn lowered_levels(then: &Kind, now: &Kind) -> Vec<String> {
    let word = |level: Option<Level>| level.map_or("off", Level::as_str);
    let usual = |rule: &Rule, kind: &Kind| kind.gate.rule(rule).unwrap_or(Some(rule.level));
    let mut set: Vec<&'static Rule> = now.gate.rules.iter().chain(&then.gate.rules).map(|(rule, _)| *rule).collect();
    set.sort_unstable_by_key(|rule| rule.id);
    set.dedup_by_key(|rule| rule.id);
    let of_rules = set.into_iter().filter_map(|rule| {
        let (before, level) = (usual(rule, then), usual(rule, now));
        (level < before).then(|| format!("the level of {} is {}, not {}", rule.id, word(level), word(before)))
    });
    let maturities = [(Maturity::Stable, "stable"), (Maturity::Preview, "beta"), (Maturity::Alpha, "alpha")];
    let of_maturities = maturities.into_iter().filter_map(|(maturity, name)| {
        let gravest = |kind: &Kind| kind.gate.level(maturity.gravest(), Level::Error, maturity);
        let (before, level) = (gravest(then), gravest(now));
        (level < before).then(|| format!("findings about {name} versions are at most {level}, not {before}"))
    });
    of_rules.chain(of_maturities).collect()
}

/// What changed about the endpoint of all versions.
fn of_kind(old: &KubernetesResource, new: &KubernetesResource) -> Vec<String> {
    let mut found = Vec::new();
    let scope = |resource: &KubernetesResource| if resource.is_namespaced { "Namespaced" } else { "Cluster" };
    if scope(old) != scope(new) {
        found.push(format!("its scope is {}, not {}", scope(new), scope(old)));
    }
    if old.plural != new.plural {
        found.push(format!("its plural is {}, not {}", new.plural, old.plural));
    }
    found
}

/// Whether documents could have a status: their schema declares it, or keeps what it does not declare.
fn has_status(schema: &Owned) -> bool {
    fn get<'s>(node: &'s Owned, wanted: &str) -> Option<&'s Owned> {
        let Owned::Object(members) = node else { return None };
        members.iter().find(|(key, _)| **key == *wanted).map(|(_, value)| value)
    }
    let keeps_unknown = get(schema, "x-kubernetes-preserve-unknown-fields") == Some(&Owned::Bool(true));
    keeps_unknown || get(schema, "properties").is_some_and(|properties| get(properties, "status").is_some())
}

/// What changed about subresources and selectable fields, by version.
fn of_versions<'r>(old: &KubernetesResource, new: &'r KubernetesResource) -> Vec<(&'r str, String)> {
    let mut found = Vec::new();
    for version in &new.versions {
        let name = &*version.name;
        let Some(then) = old.versions.iter().find(|then| then.name == version.name) else { continue };
        match (then.has_status, version.has_status) {
            (true, false) => found.push((name, format!("{name} has no status subresource"))),
            // Without a status before, nothing is dropped that clients write.
            (false, true) if has_status(&then.schema) => {
                found.push((name, format!("{name} has a status subresource")));
            }
            _ => {}
        }
        match (&then.scale, &version.scale) {
            (Some(_), None) => found.push((name, format!("{name} has no scale subresource"))),
            (Some(a), Some(b)) => {
                let paths = [
                    ("specReplicasPath", Some(&*a.spec_path), Some(&*b.spec_path)),
                    ("statusReplicasPath", Some(&*a.status_path), Some(&*b.status_path)),
                    ("labelSelectorPath", a.label_selector_path.as_deref(), b.label_selector_path.as_deref()),
                ];
                // A path that is new takes nothing away.
                let other = paths.into_iter().filter(|(_, then, now)| then.is_some() && then != now);
                found.extend(other.map(|(path, ..)| (name, format!("{name} has another {path} of /scale"))));
            }
            _ => {}
        }
        let gone = then.selectable_fields.iter().filter(|field| !version.selectable_fields.contains(field));
        found.extend(gone.map(|field| (name, format!("{name} has no selectable field {field}"))));
    }
    found
}
