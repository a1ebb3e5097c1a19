//! Locked versions that are declared differently now, as far as the lock remembers them.

use wheelwright_findings::Level;
use wheelwright_schema::{Schema, model::Additional};

use super::{Incompatibility, What, side::Schemas};
use crate::{Declaration, DeclaredVersion, Fingerprint, History, LockedKind, NodeIndex, Structure, VersionName};

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

/// The locked versions whose schema changed in a way that the lock does not remember, such as an enum or a rule.
///
/// What the lock remembers is undone: fields that came, defaults, nulls, keys and objects that keep unknown fields. If nothing else
/// changed, the schema has the locked fingerprint then.
pub fn changed_beyond_lock<'d>(
    declaration: &'d Declaration,
    history: &History,
    locked: &LockedKind,
) -> Vec<&'d VersionName> {
    let is_changed = |declared: &&DeclaredVersion| {
        let structure = |history: &History| {
            let index = history.find(declared.name.as_str())?;
            Some(history.version(index).structure.clone())
        };
        let (Some(fingerprint), Some(before), Some(now)) =
            (locked.fingerprint(&declared.name), structure(locked.history()), structure(history))
        else {
            return false;
        };
        if Fingerprint::of(&declared.schema, declared.root) == fingerprint {
            return false;
        }
        let mut schema = declared.schema.clone();
        undo(&mut schema, (&before, before.root()), (&now, now.root()));
        Fingerprint::of(&schema, declared.root) != fingerprint
    };
    declaration.versions.iter().filter(is_changed).map(|declared| &declared.name).collect()
}

/// Undoes in a schema what changed between two nodes and below them.
fn undo(schema: &mut Schema, (before, old): (&Structure, NodeIndex), (now, new): (&Structure, NodeIndex)) {
    let (was, is) = (before.node(old), now.node(new));
    if was.nullable != is.nullable {
        schema.nullable = was.nullable;
    }
    if was.default != is.default {
        schema.default.clone_from(&was.default);
    }
    if is.keeps_unknown != was.keeps_unknown {
        schema.extensions.preserve_unknown_fields = was.keeps_unknown.then_some(true);
    }
    // Changes may declare other keys than the schema.
    if was.keys != is.keys && schema.extensions.list_map_keys == is.keys {
        schema.extensions.list_map_keys.clone_from(&was.keys);
    }
    let came = |name: &str| now.child(new, name).is_some() && before.child(old, name).is_none();
    let properties = std::mem::take(&mut schema.properties).into_iter();
    schema.properties = properties.filter(|property| !came(&property.name)).collect();
    for field in &is.children {
        let Some(name) = now.node(*field).name() else { continue };
        if let Some((schema, old)) = schema.properties.get_mut(name).zip(before.child(old, name)) {
            undo(schema, (before, old), (now, *field));
        }
    }
    let element = match (&mut schema.items, &mut schema.additional_properties) {
        (Some(items), _) => Some(&mut **items),
        (None, Some(Additional::Schema(values))) => Some(&mut **values),
        _ => None,
    };
    if let (Some(schema), Some(old), Some(new)) = (element, before.element(old), now.element(new)) {
        undo(schema, (before, old), (now, new));
    }
}
