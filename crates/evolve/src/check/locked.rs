//! Locked versions that are declared differently now, as far as the lock remembers them.

use wheelwright_findings::Level;

use super::{Incompatibility, What, side::Schemas};
use crate::{Declaration, History, VersionName};

/// What changed about published versions since they were locked: defaults, nulls, keys and unknown fields. Fields that are
/// missing or have another shape are problems of the history already.
pub fn changed_since_lock(declaration: &Declaration, history: &History, locked: &History) -> Vec<Incompatibility> {
    let schemas = Schemas::of(declaration, history);
    let mut findings = Vec::new();
    for version in &locked.versions {
        let Some(index) = history.find(version.name.as_str()).filter(|index| history.version(*index).declared) else {
            continue;
        };
        let side = schemas.side(index);
        let as_locked = VersionName::new(format!("{} as locked", version.name));
        for old in version.structure.indexes() {
            let field = version.structure.selector(old);
            let Some(new) = side.version.structure.find(&field) else { continue };
            let (was, is) = (version.structure.node(old), side.version.structure.node(new));
            if was.shape != is.shape {
                continue;
            }
            let frozen = || side.version.id(new).and_then(|id| history.field(id).frozen.clone());
            let mut found = Vec::new();
            if was.default != is.default {
                let what = What::DefaultChanged {
                    before: was.default.clone(),
                    after: is.default.clone(),
                    frozen: frozen(),
                    within: None,
                };
                found.push((what, "default"));
            }
            if was.nullable && !is.nullable {
                found.push((What::NullRefused, "nullable"));
            }
            if was.keys != is.keys {
                let what = What::KeysChanged { before: was.keys.clone(), after: is.keys.clone() };
                found.push((what, "x-kubernetes-list-map-keys"));
            }
            if was.keeps_unknown && !is.keeps_unknown {
                found.push((What::UnknownFieldsDropped, "properties"));
            }
            findings.extend(found.into_iter().map(|(what, keyword)| {
                let span = if keyword == "default" { side.place_of_default(new) } else { side.place(new, keyword) };
                let found = Incompatibility::new(&version.name, Some(&as_locked), field.clone(), what);
                let found = match &found.what {
                    // Clients that left the field out wrote the default.
                    What::DefaultChanged { before: Some(_), .. } => found.with_level(Level::Error),
                    // No two items of a stored list share the new keys.
                    What::KeysChanged { before, after }
                        if after.is_empty() || before.iter().all(|key| after.contains(key)) =>
                    {
                        found.with_level(Level::Warning)
                    }
                    What::KeysChanged { .. } => found.with_level(Level::Error),
                    _ => found,
                };
                found.at(span, Default::default())
            }));
        }
    }
    findings
}
