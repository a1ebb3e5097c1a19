//! Resources as they are published: with what changes and catalogs say of them that their definitions do not.

use wheelwright_document::Owned;
use wheelwright_evolve::{Selector, Step, VersionStep};
use wheelwright_schema::KubernetesResource;

use crate::Deprecation;

/// Puts into the schemas of a resource the defaults that the steps into its versions add, and tells which versions are to
/// go. Where a step names nothing, that is found where histories are derived.
pub(crate) fn overlay(resource: &mut KubernetesResource, steps: &[VersionStep], deprecated: &[Deprecation]) {
    let KubernetesResource { group, kind, versions, .. } = resource;
    for version in versions {
        for deprecation in deprecated.iter().filter(|deprecation| deprecation.version.item.as_str() == &*version.name) {
            version.is_deprecated = true;
            let since = deprecation.on.as_ref().map(|day| format!(" since {day}"));
            let until = deprecation.sunset.as_ref().map(|day| format!(", and will be gone on {day}"));
            if since.is_some() || until.is_some() {
                let [since, until] = [since, until].map(Option::unwrap_or_default);
                let warning = format!("{group}/{} {kind} is deprecated{since}{until}", version.name);
                version.deprecation_warning.get_or_insert(warning.into());
            }
        }
        for step in steps.iter().filter(|step| step.version.item.as_str() == &*version.name) {
            for default in &step.defaults {
                if let Some(schema) = below(&mut version.schema, &default.at.item) {
                    set_default(schema, &default.value);
                }
            }
        }
    }
}

/// The schema of a field.
fn below<'s>(schema: &'s mut Owned, at: &Selector) -> Option<&'s mut Owned> {
    at.steps().iter().try_fold(schema, |schema, step| match step {
        Step::Field(name) => field(field(schema, "properties")?, name),
        Step::Items => field(schema, "items"),
        Step::Values => field(schema, "additionalProperties"),
    })
}

fn field<'s>(object: &'s mut Owned, name: &str) -> Option<&'s mut Owned> {
    match object {
        Owned::Object(entries) => entries.iter_mut().find(|(key, _)| **key == *name).map(|(_, value)| value),
        _ => None,
    }
}

/// Null is no default.
fn set_default(schema: &mut Owned, value: &Owned) {
    let Owned::Object(entries) = schema else { return };
    let others = std::mem::take(entries).into_iter().filter(|(key, _)| **key != *"default");
    let default = Some(("default".into(), value.clone())).filter(|(_, value)| *value != Owned::Null);
    *entries = others.chain(default).collect();
}
