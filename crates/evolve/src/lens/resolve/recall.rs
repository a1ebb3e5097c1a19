//! What was there before a client changed a document, as far as that is told: for where only what was changed is at hand.

use wheelwright_document::{Entry, Value};

use super::Resolve;
use crate::{
    Direction, VersionIndex,
    lens::{
        computed::{FieldPlan, Onward, Way},
        plan::{Content, View},
        state::{BAG, Slot, Slots},
    },
};

/// What was there before a write.
#[derive(Clone, Copy)]
pub(crate) struct Before<'s, 'a> {
    pub(crate) slots: &'s Slots<'a>,
    pub(crate) metadata: Option<Value<'a>>,
    /// What is known of it otherwise, if that is not all.
    pub(crate) told: Option<&'s Told<'a>>,
}

/// What is known of fields as they were before they were changed.
pub(crate) struct Told<'a> {
    /// The values of near sides, by their links.
    sources: Vec<(usize, Vec<Option<Value<'a>>>)>,
    /// The derivations of fields that a client wrote, and which were as they would be derived.
    pub(super) following: Vec<usize>,
}

impl<'a> Before<'_, 'a> {
    pub(super) fn told_sources(&self, link: usize) -> Option<&[Option<Value<'a>>]> {
        let mut sources = self.told?.sources.iter();
        sources.find(|(told, _)| *told == link).map(|(_, sources)| &sources[..])
    }
}

impl<'a> Resolve<'a> {
    /// As [`expand`](Self::expand), where a client may have changed what the hub says: other spellings become what they
    /// were before that, as far as that is told.
    pub(crate) fn recall(&mut self, following: Vec<usize>, slots: &mut Slots<'a>) -> Told<'a> {
        let mut told = Vec::new();
        for way in &self.scope.computed.all.links {
            let plan = &self.scope.computed.links[way.link];
            let (near, far) = plan.sides(way.direction);
            let sources = match slots.guard(&plan.key) {
                Some(guard) => Some(self.guarded(near, guard)),
                None => self.is_new(way, slots).then(|| vec![None; near.fields.len()]),
            };
            let (sources, is_told) = match sources {
                Some(sources) => (sources, true),
                None => (self.read(near, slots), false),
            };
            self.restore_list(way, slots);
            let (results, ..) = self.convert(plan, way.direction, &sources, None, slots);
            for (field, result) in far.fields.iter().zip(results) {
                self.fill(far.version, way, field, result, slots);
            }
            if is_told {
                told.push((way.link, sources));
            }
        }
        slots.gone.clear();
        Told { sources: told, following }
    }

    /// Replaces a digest by the guard itself. `all` has all spellings: where the guard did not hold, they replace the original.
    pub(crate) fn restore_guard(&mut self, way: &'a Way, slots: &mut Slots<'a>, all: &mut Slots<'a>) {
        let plan = &self.scope.computed.links[way.link];
        let near = plan.sides(way.direction).0;
        let sources = self.read(near, all);
        let guard = self.guard(near, &sources);
        self.pool.push(sources);
        slots.set_guard(&plan.key, guard);
        all.set_guard(&plan.key, guard);
        for slot in &way.slots {
            if !matches!(slots.values[*slot], Slot::Absent) {
                slots.copy(*slot, all);
            }
            if !all.values[*slot].is_absent() {
                slots.gone.retain(|gone| gone != slot);
            }
        }
    }

    /// Whether nothing is known of a fact that is always told if there is anything.
    fn is_new(&self, way: &Way, slots: &Slots<'a>) -> bool {
        let is_known = |slot: &usize| !matches!(slots.values[*slot], Slot::Absent) || slots.gone.contains(slot);
        self.looks_back(way) && !way.slots.iter().any(is_known)
    }

    /// Whether what was there before counts when a fact, or one in its items or values, is converted.
    fn looks_back(&self, way: &Way) -> bool {
        let link = self.scope.computed.links[way.link].link;
        self.lenses.computations.links[link].converter.looks_back(way.direction)
            || way.slots.iter().any(|slot| self.looks_back_inside(&self.scope.slots[*slot].content))
    }

    fn looks_back_inside(&self, content: &Content) -> bool {
        match content {
            Content::List(element) | Content::Map(element) => self.looks_back_inside(element),
            Content::Scope(scope) => {
                let scope = &self.lenses.scopes[*scope];
                let mut links = scope.computed.links.iter().map(|plan| &self.lenses.computations.links[plan.link]);
                links.any(|link| [Direction::Up, Direction::Down].iter().any(|way| link.converter.looks_back(*way)))
                    || scope.slots.iter().any(|slot| self.looks_back_inside(&slot.content))
            }
            _ => false,
        }
    }

    /// What has to be told besides what is stored for [`recall`](Self::recall): guards of facts that have none, since their
    /// other spelling can be computed. All spellings are known; some are told although they can be computed.
    pub(crate) fn further_guards(
        &mut self,
        slots: &Slots<'a>,
        is_told_anyway: &dyn Fn(usize) -> bool,
    ) -> Vec<Entry<'a>> {
        let (mut guards, mut guarded) = (Vec::new(), Vec::new());
        for (position, way) in self.scope.computed.all.links.iter().enumerate() {
            let plan = &self.scope.computed.links[way.link];
            let (near, far) = plan.sides(way.direction);
            let holds_bag = |slot: &usize| matches!(slots.values[*slot], Slot::Value(value) if has_bag(value));
            let has_hidden = || {
                far.fields.iter().any(|field| field.slots.iter().any(|slot| self.hides_any(*slot, field, slots)))
                    || way.slots.iter().any(holds_bag)
            };
            let is_known = |slot: &usize| match slots.values[*slot] {
                Slot::Absent => false,
                Slot::Tombstone => true,
                _ => is_told_anyway(*slot),
            };
            let is_told = has_hidden() || way.slots.iter().any(is_known);
            if slots.guard(&plan.key).is_none() && (is_told || self.looks_back(way)) {
                let sources = self.read(near, slots);
                if is_told || sources.iter().any(Option::is_some) {
                    guards.push(Entry { key: &plan.key, value: self.guard(near, &sources) });
                    guarded.push(position);
                }
            }
        }
        self.guard_the_way(guarded, slots, &mut guards);
        guards.retain(|entry| slots.guard(entry.key).is_none());
        guards
    }

    /// Whether something is there below an object that the version of the field cannot say, so that it goes with it. What
    /// the version can say need not be stored below the object that the version has it in, and is looked at by itself.
    fn hides_any(&self, slot: usize, field: &FieldPlan, slots: &Slots<'a>) -> bool {
        let layout = &self.scope.layout;
        let Some(object) = layout.object_of[slot].map(|object| &layout.objects[object]) else { return false };
        let mut hidden = object.stored().map(|below| below.slot).filter(|below| !field.slots.contains(below));
        hidden.any(|below| !matches!(slots.values[below], Slot::Absent) || self.hides_any(below, field, slots))
    }

    /// The derivations of fields that a version cannot say, a client wrote, and which are as they would be derived.
    /// `placed` is what of it all is merely shown.
    pub(crate) fn following(
        &mut self,
        version: VersionIndex,
        view: &View,
        slots: &Slots<'a>,
        placed: &[(usize, Slot<'a>)],
    ) -> Vec<usize> {
        let seen = self.seen(version, view, slots, placed);
        let mut found = Vec::new();
        for onward in &self.scope.computed.onward[version.position()] {
            let Onward::Derive(derivation) = onward else { continue };
            let plan = &self.scope.computed.derivations[*derivation];
            let slot = plan.field.slot;
            let is_stored = matches!(slots.values[slot], Slot::Value(_)) && !view.says[slot];
            if is_stored && self.follows(plan, &seen) {
                found.push(*derivation);
            }
        }
        found
    }
}

/// Whether something is hidden in items or values.
fn has_bag(value: Value<'_>) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| has_bag(*item)),
        Value::Object(entries) => entries.iter().any(|entry| entry.key == BAG || has_bag(entry.value)),
        _ => false,
    }
}
