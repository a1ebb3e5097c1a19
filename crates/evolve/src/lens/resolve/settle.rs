//! Writing: what follows from what a client wrote.

use std::{borrow::Cow, cell::OnceCell};

use super::{Before, Placed, Resolve, Values, is_clear, same_slot};
use crate::{
    VersionIndex,
    lens::{
        computed::{Length, Onward, SidePlan, Way},
        plan::View,
        same::{equal_option, same_option},
        state::{Slot, Slots},
    },
};

/// A write that is settled.
struct Written<'w, 'a> {
    version: VersionIndex,
    view: &'w View,
    /// What was there.
    before: Option<Before<'w, 'a>>,
    /// What of it was merely shown.
    placed: &'w [(usize, Slot<'a>)],
    /// What the version must show of what could be derived.
    wanted: Vec<(usize, Slot<'a>)>,
    /// What was there as the writer saw it, once somebody wants to know.
    seen: OnceCell<Slots<'a>>,
}

impl<'a> Resolve<'a> {
    /// What follows from a write through a version: other spellings of what was written, and derived fields that followed
    /// what was written so far. `before` is what was there, `placed` what of it was merely shown.
    pub(crate) fn settle(
        &mut self,
        version: VersionIndex,
        view: &View,
        before: Option<Before<'_, 'a>>,
        placed: &[(usize, Slot<'a>)],
        slots: &mut Slots<'a>,
    ) {
        // Of what the version could not show, its client said nothing; and what it was not shown, it wrote.
        let (mut wanted, mut new) = (Vec::new(), Vec::new());
        for derivable in &self.scope.computed.derivable_said[version.position()] {
            if derivable.is_open(view, slots) {
                wanted.push((derivable.slot, slots.values[derivable.slot]));
                if before.is_some_and(|before| !derivable.is_open(view, before.slots)) {
                    new.push(derivable.slot);
                }
            }
        }
        for (slot, shown) in placed {
            if !new.contains(slot) && same_slot(slots.values[*slot], *shown) {
                slots.values[*slot] = Slot::Absent;
            }
        }
        let written = Written { version, view, before, placed, wanted, seen: OnceCell::new() };
        let mut start = (!written.wanted.is_empty()).then(|| slots.clone());
        self.propagate(&written, slots);
        let Some(start) = &mut start else { return };
        // What the version shows must be what was written, whatever is derived now. Every turn settles at least one slot.
        loop {
            let differing = self.differing(version, &written.wanted, slots);
            if differing.is_empty() {
                return;
            }
            for (slot, wanted) in differing {
                start.values[slot] = if wanted.is_absent() { Slot::Tombstone } else { wanted };
            }
            // From the beginning: what follows is said of what was there before, and not of what followed so far.
            slots.clone_from(start);
            self.propagate(&written, slots);
        }
    }

    /// What was there before a write as its writer saw it: what was merely shown is as good as stored, and so is its absence.
    pub(super) fn seen(
        &self,
        version: VersionIndex,
        view: &View,
        before: &Slots<'a>,
        placed: &[(usize, Slot<'a>)],
    ) -> Slots<'a> {
        let mut seen = before.clone();
        for derivable in &self.scope.computed.derivable_said[version.position()] {
            let slot = &mut seen.values[derivable.slot];
            if slot.is_absent() && derivable.is_open(view, before) {
                let shown = placed.iter().find(|(placed, _)| *placed == derivable.slot).map(|(_, shown)| *shown);
                *slot = match shown {
                    None => Slot::Tombstone,
                    // What it holds besides fields is not at hand here, and no expression reads it.
                    Some(Slot::Object(_)) => Slot::Object(None),
                    Some(shown) => shown,
                };
            }
        }
        seen
    }

    /// What a version would not show as it was written.
    fn differing(&mut self, version: VersionIndex, wanted: &[(usize, Slot<'a>)], slots: &mut Slots<'a>) -> Placed<'a> {
        let needed = &self.scope.computed.shown[version.position()];
        let differing = |slots: &Slots<'a>| -> Placed<'a> {
            wanted.iter().filter(|(slot, wanted)| !same_slot(slots.values[*slot], *wanted)).copied().collect()
        };
        if !self.scope.computed.derives_plainly {
            let mut trial = slots.clone();
            self.derive(needed, &mut trial);
            return differing(&trial);
        }
        let placed = self.derive(needed, slots);
        let found = differing(slots);
        placed.iter().for_each(|(slot, _)| slots.values[*slot] = Slot::Absent);
        found
    }

    fn propagate(&mut self, written: &Written<'_, 'a>, slots: &mut Slots<'a>) {
        self.changed.clear();
        self.back.clear();
        for onward in &self.scope.computed.onward[written.version.position()] {
            match onward {
                Onward::Link(way) => self.respell(way, written.before, slots),
                Onward::Derive(derivation) => {
                    let slot = self.scope.computed.derivations[*derivation].field.slot;
                    if let Some(before) = written.before.filter(|_| !written.view.says[slot]) {
                        self.follow(*derivation, before, written, slots);
                    }
                }
            }
        }
    }

    /// The other spelling of what changed.
    fn respell(&mut self, way: &'a Way, before: Option<Before<'_, 'a>>, slots: &mut Slots<'a>) {
        let plan = &self.scope.computed.links[way.link];
        let (source, target) = plan.sides(way.direction);
        // Who writes a member of a union takes away others, which the short way does not: it is for reading, too.
        let has_union = || way.length == Length::Single && target.fields[0].has_union;
        if before.is_none() && is_clear(way, slots) && !has_union() && self.compute_new(way, slots) {
            return;
        }
        let sources = self.read(source, slots);
        let old = before.map(|before| {
            let told = before.told_sources(way.link).map(<[_]>::to_vec);
            let was = with_known(way, target, before.slots, slots);
            self.beside(before, |it| (told.unwrap_or_else(|| it.read(source, before.slots)), it.read(target, &was)))
        });
        let has_changed = self.has_changed(source);
        let is_unchanged = match &old {
            // A number that is written otherwise is the same, unless nothing could be made of it so.
            Some((old, results)) => {
                let is_same = if results.iter().any(Option::is_some) { equal_option } else { same_option };
                let is_same = sources.iter().zip(old).all(|(new, old)| is_same(*new, *old));
                is_same && !has_changed && !self.came_back(source)
            }
            None => sources.iter().all(Option::is_none),
        };
        if !is_unchanged {
            let told = old.as_ref().filter(|_| has_changed).map(|(sources, _)| self.told_apart(source, sources));
            let past = old.as_ref().map(|(sources, results)| (&told.as_ref().unwrap_or(sources)[..], &results[..]));
            // What went with its object is not there to leave anything.
            let is_gone = sources.iter().all(Option::is_none) && self.read(target, slots).iter().all(Option::is_none);
            let is_lost = self.is_lost(source, &sources);
            let (results, entry, has_failed) = match is_lost {
                true => (vec![None; target.fields.len()], None, true),
                false => self.convert(plan, way.direction, &sources, past.filter(|_| !is_gone), slots),
            };
            let stays = match (before, &old) {
                (Some(before), Some((sources, _))) if has_failed => {
                    self.beside(before, |it| it.stays(way, Some(sources), before.slots))
                }
                _ => self.stays(way, None, slots),
            };
            // What a hook keeps of a fact goes with it.
            if !is_lost || !stays.contains(&true) {
                slots.set_entry(&plan.key, entry.filter(|_| sources.iter().any(Option::is_some)));
            }
            let written = target.fields.iter().zip(results.iter().copied()).enumerate();
            for (position, (field, result)) in written.filter(|(position, _)| !stays[*position]) {
                let aligned = self.aligned(plan, way.direction, past, result);
                let missing: Vec<usize> =
                    way.computed(field).filter(|slot| slots.values[**slot].is_absent()).copied().collect();
                self.rewrite(target.version, way, field, (result, aligned), slots);
                if before.is_some() && way.leads_on {
                    let is_there = |slot: &usize| !slots.values[*slot].is_absent();
                    self.back.extend(missing.into_iter().filter(is_there));
                }
                if let Some((told, old)) = past {
                    self.note(way, field, (told, old[position]), (&sources, result), has_failed);
                }
            }
            self.pool.push(results);
        }
        self.pool.push(sources);
        if let Some((sources, results)) = old {
            self.pool.extend([sources, results]);
        }
    }

    /// Whether a side went with what a client took away, and is back all the same with a fact that it is a part of.
    fn came_back(&self, side: &SidePlan) -> bool {
        side.fields.iter().flat_map(|field| &field.slots).any(|slot| self.back.contains(slot))
    }

    /// Computes something of what was there before, when the document had the metadata of then.
    fn beside<T>(&mut self, before: Before<'_, 'a>, compute: impl FnOnce(&mut Self) -> T) -> T {
        let metadata = std::mem::replace(&mut self.metadata, before.metadata);
        let computed = compute(self);
        self.metadata = metadata;
        computed
    }

    /// Which fields on the far side of a way stay as they were, although what they were computed from cannot be converted any
    /// more: else what somebody has hidden in their parts would be lost for good. `sources` is what they were computed from;
    /// nothing if that can be converted.
    pub(super) fn stays(&mut self, way: &'a Way, sources: Option<Values<'_, 'a>>, slots: &Slots<'a>) -> Vec<bool> {
        let target = self.scope.computed.links[way.link].sides(way.direction).1;
        let stays = target.fields.iter().enumerate().map(|(position, field)| {
            field.has_parts && sources.is_some_and(|sources| self.hides(way, position, sources, slots))
        });
        stays.collect()
    }

    /// Whether a field on the far side of a way holds more than can be computed.
    fn hides(&mut self, way: &'a Way, position: usize, sources: Values<'_, 'a>, slots: &Slots<'a>) -> bool {
        let plan = &self.scope.computed.links[way.link];
        let target = plan.sides(way.direction).1;
        let field = &target.fields[position];
        let (results, ..) = self.convert(plan, way.direction, sources, None, slots);
        let computed = self.alone(target.version, field, results[position]);
        let hides = way.computed(field).any(|slot| !slots.is_same(*slot, &computed));
        self.give_back(computed, field);
        self.pool.push(results);
        hides
    }

    /// A derived field that a client wrote and the writer cannot see follows its inputs, if it did so far. It is never
    /// removed by that. Its inputs are what the writer saw and wrote, whether that is stored or not.
    fn follow(&mut self, derivation: usize, before: Before<'_, 'a>, written: &Written<'_, 'a>, slots: &mut Slots<'a>) {
        let plan = &self.scope.computed.derivations[derivation];
        let slot = plan.field.slot;
        let is_stored = matches!(before.slots.values[slot], Slot::Value(_));
        if !is_stored || !same_slot(slots.values[slot], before.slots.values[slot]) {
            return;
        }
        let follows = match before.told {
            Some(told) => told.following.contains(&derivation),
            None => {
                let Written { version, view, placed, .. } = *written;
                let seen = written.seen.get_or_init(|| self.seen(version, view, before.slots, placed));
                self.beside(before, |it| it.follows(plan, seen))
            }
        };
        if !follows {
            return;
        }
        let mut now = slots.clone();
        for (slot, wanted) in &written.wanted {
            now.values[*slot] = if wanted.is_absent() { Slot::Tombstone } else { *wanted };
        }
        self.derive(&plan.needed, &mut now);
        let new = self.derived(plan, &now);
        let shown = self.shown(plan.target, &plan.field, slots);
        if new.is_some() && !equal_option(shown, new) {
            self.write(plan.target, &plan.field, new, shown, slots);
        }
    }
}

/// What was there before, with what is there now of a side that is known in part: what is known is not for the others to keep.
fn with_known<'s, 'a>(way: &Way, side: &SidePlan, before: &'s Slots<'a>, slots: &Slots<'a>) -> Cow<'s, Slots<'a>> {
    let known = || side.fields.iter().flat_map(|field| &field.slots).filter(|slot| !way.slots.contains(slot));
    if known().all(|slot| before.is_same(*slot, slots)) {
        return Cow::Borrowed(before);
    }
    let mut was = before.clone();
    known().for_each(|slot| was.copy(*slot, slots));
    Cow::Owned(was)
}
