//! Frozen defaults as each version spells them.

use wheelwright_document::{Arena, Owned};

use super::{Lenses, get::Get, put::Put, state::Slots};
use crate::{History, VersionIndex};

/// Spells every frozen default in the names of each version, and completes it with those below: deepest first, so that
/// those are there when they are needed.
pub(crate) fn freeze(lenses: &mut Lenses, history: &History) {
    for version in history.indexes() {
        let mut places = Vec::new();
        for (scope, plan) in lenses.scopes.iter().enumerate() {
            let Some(view) = &plan.views[version.position()] else { continue };
            for (object, shown) in view.objects.iter().enumerate() {
                for (position, (_, field)) in shown.fields.list.iter().enumerate() {
                    let id = plan.slots[field.slot].id;
                    let Some(node) = history.version(version).node_of(id) else { continue };
                    if history.field(id).frozen.is_some() {
                        let depth = history.version(version).structure.selector(node).steps().len();
                        places.push((depth, scope, object, position));
                    }
                }
            }
        }
        places.sort_unstable_by(|a, b| b.cmp(a));
        for (_, scope, object, position) in places {
            let frozen = frozen_value(lenses, history, version, scope, object, position);
            if let Some(view) = &mut lenses.scopes[scope].views[version.position()] {
                view.objects[object].fields.list[position].1.frozen = frozen;
            }
        }
    }
}

/// The frozen default of a field as a version spells it: written through the version that introduced it, and read through
/// this one.
fn frozen_value(
    lenses: &Lenses,
    history: &History,
    version: VersionIndex,
    scope: usize,
    object: usize,
    position: usize,
) -> Option<Owned> {
    let arena = Arena::new();
    let plan = &lenses.scopes[scope];
    let view = plan.views[version.position()].as_ref()?;
    let field = &view.objects[object].fields.list[position].1;
    let record = history.field(plan.slots[field.slot].id);
    let default = record.frozen.as_ref()?.share(&arena);
    let first = plan.views[record.first.position()].as_ref()?;
    let introduced = first
        .objects
        .iter()
        .flat_map(|object| &object.fields.list)
        .map(|(_, candidate)| candidate)
        .find(|candidate| candidate.slot == field.slot)?;
    let mut slots = Slots::default();
    slots.clear(plan);
    Put::new(lenses, record.first, &arena, None).write_field(plan, first, introduced, &mut slots, Some(default), None);
    let shown = Get::new(lenses, version, &arena, ()).field(plan, view, field, &slots)?;
    Some(shown.into())
}
