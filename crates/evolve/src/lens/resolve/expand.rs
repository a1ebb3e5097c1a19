//! Reading: spellings that are not stored are computed.

use wheelwright_document::Value;

use super::{Resolve, is_clear, is_nothing};
use crate::{
    VersionIndex,
    digest::digest,
    lens::{
        computed::{FieldPlan, Needed, SidePlan, Way},
        matching::Alignment,
        plan::{View, ViewField},
        state::{Slot, Slots, is_digest},
    },
};

impl<'a> Resolve<'a> {
    /// Computes the spellings that are not stored.
    pub(crate) fn expand(&mut self, needed: &'a Needed, slots: &mut Slots<'a>) {
        self.changed.clear();
        for way in &needed.links {
            let plan = &self.scope.computed.links[way.link];
            let guard = slots.guard(&plan.key);
            if slots.has_orders() && self.restore_list(way, slots) && guard.is_none() {
                continue;
            }
            if guard.is_none() && is_clear(way, slots) && self.compute_new(way, slots) {
                continue;
            }
            let (near, far) = plan.sides(way.direction);
            let sources = self.read(near, slots);
            if is_nothing(way, &sources, slots) {
                self.pool.push(sources);
                continue;
            }
            let is_held = |guard: Value<'a>| !self.has_changed(near) && self.holds(guard, near, &sources);
            let is_guarded = guard.is_none_or(is_held);
            // What the guard says was there is what the other spelling was written beside. Where that does not matter, it is
            // a digest.
            let was = guard.filter(|guard| !is_guarded && !is_digest(*guard)).map(|guard| self.guarded(near, guard));
            let old = was.as_ref().map(|was| (self.told_apart(near, was), self.read(far, slots)));
            let old = old.as_ref().map(|(sources, results)| (&sources[..], &results[..]));
            let (results, _, has_failed) = self.convert(plan, way.direction, &sources, old, slots);
            let was_computed = was.as_ref().filter(|_| way.leads_on);
            let computed = was_computed.map(|was| self.convert(plan, way.direction, was, None, slots).0);
            let stays = self.stays(way, was.as_deref().filter(|_| has_failed), slots);
            for (position, (field, result)) in far.fields.iter().zip(results.iter().copied()).enumerate() {
                let is_stored =
                    |slot: &usize| !matches!(slots.values[*slot], Slot::Absent) || slots.gone.contains(slot);
                let is_stored = way.computed(field).any(is_stored);
                if let (Some((told, stored)), Some(computed)) = (old, &computed) {
                    let old = if is_stored { stored[position] } else { computed[position] };
                    self.note(way, field, (told, old), (&sources, result), has_failed);
                }
                if stays[position] {
                    continue;
                }
                if !is_guarded && is_stored {
                    // Somebody changed the other spelling behind our back: it counts, and what is hidden stays.
                    let aligned = self.aligned(plan, way.direction, old, result);
                    self.rewrite(far.version, way, field, (result, aligned), slots);
                } else {
                    self.fill(far.version, way, field, result, slots);
                }
            }
            self.pool.extend([sources, results]);
        }
        slots.gone.clear();
    }

    /// Gives a field that is not stored what is computed of it.
    pub(super) fn fill(
        &mut self,
        version: VersionIndex,
        way: &'a Way,
        field: &'a FieldPlan,
        result: Option<Value<'a>>,
        slots: &mut Slots<'a>,
    ) {
        let Some(value) = result else { return };
        let is_empty =
            |slots: &Slots<'a>, slot: &usize| matches!(slots.values[*slot], Slot::Absent) && !slots.gone.contains(slot);
        if field.is_plain {
            if way.slots.contains(&field.slot) && is_empty(slots, &field.slot) {
                slots.values[field.slot] = Slot::Value(value);
            }
            return;
        }
        let computed = self.alone(version, field, result);
        for slot in way.computed(field) {
            if is_empty(slots, slot) {
                slots.copy(*slot, &computed);
            }
        }
        self.give_back(computed, field);
    }

    /// Writes what is computed of a field in the place of what its version shows.
    pub(super) fn rewrite(
        &mut self,
        version: VersionIndex,
        way: &'a Way,
        field: &'a FieldPlan,
        (new, aligned): (Option<Value<'a>>, Option<Alignment>),
        slots: &mut Slots<'a>,
    ) {
        if field.is_plain {
            if way.slots.contains(&field.slot) {
                slots.values[field.slot] = new.map_or(Slot::Absent, Slot::Value);
            }
            return;
        }
        // Of an object that is known in part, nothing changes but what is computed, hidden fields neither: the rest stays.
        if field.slots.iter().any(|slot| !way.slots.contains(slot)) {
            let mut computed = slots.clone();
            self.rewrite_whole(version, field, (new, aligned), &mut computed);
            way.computed(field).for_each(|slot| slots.copy(*slot, &computed));
        } else {
            self.rewrite_whole(version, field, (new, aligned), slots);
        }
    }

    fn rewrite_whole(
        &mut self,
        version: VersionIndex,
        field: &'a FieldPlan,
        (new, aligned): (Option<Value<'a>>, Option<Alignment>),
        slots: &mut Slots<'a>,
    ) {
        let shown = self.shown(version, field, slots);
        // Null that the version cannot say is no less out of date than what it shows.
        if let (None, Slot::Value(Value::Null)) = (shown, slots.values[field.slot]) {
            slots.values[field.slot] = Slot::Absent;
        }
        self.write_aligned(version, field, (new, aligned), shown, slots);
        // Objects that were there only for what is in them are there now.
        if let (Some(new), Some((view, field))) = (new, self.view_field(version, field)) {
            set_objects(view, field, new, slots);
        }
    }

    /// Whether the values of a side are what they were when the guard was stored.
    fn holds(&self, guard: Value<'a>, side: &SidePlan, values: &[Option<Value<'a>>]) -> bool {
        let now = self.guard(side, values);
        if is_digest(guard) { guard == digest(now, self.arena) } else { guard.equivalent(now) }
    }

    /// The values of a side that a guard tells.
    pub(super) fn guarded(&self, side: &SidePlan, guard: Value<'a>) -> Vec<Option<Value<'a>>> {
        let texts = &self.scope.layout.texts;
        side.fields.iter().map(|field| guard.get(&texts[field.slot])).collect()
    }
}

/// Says that a field is there if it is an object, and so are the objects in it.
fn set_objects(view: &View, field: &ViewField, value: Value<'_>, slots: &mut Slots<'_>) {
    if let (Some(object), Value::Object(_)) = (field.object, value) {
        slots.set_object(field.slot);
        for (name, below) in view.objects[object].fields.list.iter().filter(|(_, below)| below.object.is_some()) {
            if let Some(value) = value.get(name) {
                set_objects(view, below, value, slots);
            }
        }
    }
}
