//! Computed fields in the carry: what of them is shown and not stored, and what has to be known to tell what a client
//! changed.

use std::collections::BTreeMap;

use wheelwright_document::{Arena, Entry, Value};

use super::entry::LinkEntry;
use crate::{
    Lenses,
    digest::stable_hash,
    lens::{
        plan::{Scope, View, ViewField},
        resolve::{Before, Resolve},
        state::{Slot, Slots, is_digest},
        trouble::Troubles,
    },
};

/// What is computed in a scope that is served.
#[derive(Default)]
pub(crate) struct Computing<'a> {
    /// The slots that the version shows although nothing is stored there.
    pub(crate) derived: Vec<usize>,
    /// The derivations of fields that are stored as they would be derived, and which the version cannot say.
    pub(crate) following: Vec<usize>,
    /// Guards that are not stored.
    guards: Vec<Entry<'a>>,
}

impl<'a> Computing<'a> {
    /// Puts what the version shows of derived fields into their slots, and what is computed of fields that it cannot say
    /// and that may go whatever they are computed from: with an object that it can say, or when a client sets another
    /// member of a union.
    pub(crate) fn of(
        lenses: &'a Lenses,
        scope: &'a Scope,
        view: &View,
        slots: &mut Slots<'a>,
        may_go_alone: &dyn Fn(usize) -> bool,
        metadata: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> Self {
        if scope.computed.is_empty() {
            return Self::default();
        }
        let mut resolve = Resolve::new(lenses, scope, metadata, Troubles::default(), arena);
        let mut all = slots.clone();
        resolve.expand(&scope.computed.all, &mut all);
        // A list of which the order is stored is carried as a whole, and a guard as the value that it is a digest of: clients
        // change what both are about.
        for way in &scope.computed.all.links {
            let plan = &scope.computed.links[way.link];
            if slots.order(&plan.key).is_some() {
                way.slots.iter().for_each(|slot| slots.copy(*slot, &all));
            }
            if slots.guard(&plan.key).is_some_and(is_digest) {
                resolve.restore_guard(way, slots, &mut all);
            }
        }
        for slot in scope.computed.all.links.iter().flat_map(|way| &way.slots).filter(|slot| may_go_alone(**slot)) {
            if matches!(slots.values[*slot], Slot::Absent) {
                slots.copy(*slot, &all);
            }
        }
        let mut shown = all.clone();
        let placed = resolve.derive(&scope.computed.all, &mut shown);
        let following = resolve.following(lenses.hub(), view, &all, &placed);
        // What follows does so as long as nobody changed another spelling of it.
        let follows = |slot: usize| following.iter().any(|at| scope.computed.derivations[*at].field.slot == slot);
        let guards = resolve.further_guards(&all, &|slot| may_go_alone(slot) || follows(slot));
        let derived: Vec<usize> = placed.iter().map(|(slot, _)| *slot).filter(|slot| view.says[*slot]).collect();
        derived.iter().for_each(|slot| slots.copy(*slot, &shown));
        Self { derived, following, guards }
    }

    pub(crate) fn is_derived(&self, slot: usize) -> bool {
        self.derived.contains(&slot)
    }

    /// What is known of facts in several spellings besides their values.
    pub(crate) fn links(&self, scope: &'a Scope, slots: &Slots<'a>) -> impl Iterator<Item = LinkEntry<'a>> + use<'a> {
        let mut links = BTreeMap::new();
        for Entry { key, value } in slots.guards.iter().chain(&self.guards) {
            entry_of(&mut links, key).guard = Some(*value);
        }
        for Entry { key, value } in &slots.entries {
            entry_of(&mut links, key).kept = Some(*value);
        }
        for slot in &slots.gone {
            let computed_by = scope.computed.all.links.iter().find(|way| way.slots.contains(slot));
            if let Some(way) = computed_by {
                entry_of(&mut links, &scope.computed.links[way.link].key).gone.push(&scope.layout.texts[*slot]);
            }
        }
        links.into_values()
    }
}

/// Makes what is stored of what a client sent: what was merely shown is not stored, other spellings and derived fields
/// follow what was changed, and what can be computed is left out. `carried` are the slots that the client could not see, as
/// they were before.
#[expect(clippy::too_many_arguments, reason = "a scope is these, and a struct for them would be made once")]
pub(crate) fn settle<'a>(
    lenses: &'a Lenses,
    scope: &'a Scope,
    view: &View,
    slots: &mut Slots<'a>,
    carried: &Slots<'a>,
    merely_shown: &[usize],
    following: Vec<usize>,
    metadata: Option<Value<'a>>,
    arena: &'a Arena,
) {
    let mut resolve = Resolve::new(lenses, scope, metadata, Troubles::default(), arena);
    let take = |slot: &usize| (*slot, std::mem::take(&mut slots.values[*slot]));
    let placed: Vec<(usize, Slot<'a>)> = merely_shown.iter().map(take).collect();
    let mut before = slots.clone();
    for (slot, value) in carried.values.iter().enumerate() {
        if matches!(value, Slot::Value(_)) || matches!(before.values[slot], Slot::Absent) {
            before.values[slot] = *value;
        }
    }
    let told = resolve.recall(following, &mut before);
    for slot in scope.computed.all.links.iter().flat_map(|way| &way.slots) {
        if matches!(slots.values[*slot], Slot::Absent) && !slots.gone.contains(slot) {
            slots.copy(*slot, &before);
        }
    }
    slots.gone.clear();
    for (slot, value) in &placed {
        slots.values[*slot] = *value;
    }
    let before = Before { slots: &before, metadata, told: Some(&told) };
    resolve.settle(lenses.hub(), view, Some(before), &placed, slots);
    resolve.compress(slots);
}

/// A hash of what a field looks like, whoever fills in its frozen defaults.
pub(crate) fn look<'a>(
    lenses: &'a Lenses,
    scope: &'a Scope,
    field: &ViewField,
    value: Value<'a>,
    arena: &'a Arena,
) -> u64 {
    stable_hash(lenses.fill_content(lenses.hub(), &scope.slots[field.slot].content, value, arena))
}

fn entry_of<'l, 'a>(links: &'l mut BTreeMap<&'a str, LinkEntry<'a>>, key: &'a str) -> &'l mut LinkEntry<'a> {
    links.entry(key).or_insert_with(|| LinkEntry { key, ..LinkEntry::default() })
}
