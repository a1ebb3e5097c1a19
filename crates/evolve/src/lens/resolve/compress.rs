//! Storing: what can be computed again is left out, and what cannot is guarded.

use wheelwright_document::{Entry, Value};

use super::{Resolve, is_nothing, same_slot};
use crate::{
    VersionIndex,
    digest::digest,
    lens::{
        computed::{FieldPlan, Length, SidePlan, Way},
        state::{Slot, Slots},
        trouble::Troubles,
    },
};

/// The most bytes of texts in a guard that is stored as a value: a digest with its key is about as long.
const LONGEST_GUARD: usize = 64;

impl<'a> Resolve<'a> {
    /// Empties the slots that can be computed again, and guards those that cannot.
    pub(crate) fn compress(&mut self, slots: &mut Slots<'a>) {
        // Whoever reads the other spelling will hear of what cannot be computed.
        self.troubles = Troubles::default();
        let (mut omitted, mut gone) = (Vec::with_capacity(self.scope.computed.all.links.len()), Vec::new());
        let mut guards: Vec<Entry<'a>> = Vec::new();
        let (mut guarded, mut orders): (Vec<usize>, Vec<Entry<'a>>) = (Vec::new(), Vec::new());
        let most = self.scope.computed.all.links.len();
        for (position, way) in self.scope.computed.all.links.iter().enumerate() {
            let plan = &self.scope.computed.links[way.link];
            let (near, far) = plan.sides(way.direction);
            if let Length::Plain { to: slot, link, .. } = way.length {
                let source = self.shown(near.version, &near.fields[0], slots);
                let result = source.map_or(Slot::Absent, |value| self.convert_one(link, way.direction, value));
                let is_same = same_slot(slots.values[slot], result);
                match (is_same, slots.values[slot].is_absent()) {
                    (true, false) => omitted.push(slot),
                    (false, true) => gone.push(slot),
                    _ => {}
                }
                if !is_same {
                    if guards.is_empty() {
                        guards.reserve(most);
                    }
                    guards.push(Entry { key: &plan.key, value: self.stored_guard(way, near, &[source]) });
                    guarded.push(position);
                }
                continue;
            }
            let sources = self.read(near, slots);
            if is_nothing(way, &sources, slots) {
                self.pool.push(sources);
                continue;
            }
            let (results, ..) = self.convert(plan, way.direction, &sources, None, slots);
            // Tomorrow's code may make something else of it.
            let is_kept = self.lenses.computations.links[plan.link].converter.is_hook();
            let mut has_original = is_kept;
            for (field, result) in far.fields.iter().zip(results.iter().copied()) {
                let computed = match field.is_plain {
                    true => None,
                    false => Some(self.alone(far.version, field, result)),
                };
                for slot in way.computed(field) {
                    let is_same = match &computed {
                        None => same_slot(slots.values[*slot], result.map_or(Slot::Absent, Slot::Value)),
                        Some(computed) => slots.is_same(*slot, computed),
                    };
                    if !is_same && let Some(order) = self.order(way, field, result, slots) {
                        orders.push(Entry { key: &plan.key, value: order });
                        omitted.push(*slot);
                        continue;
                    }
                    match (is_same, slots.values[*slot].is_absent()) {
                        (true, false) if is_kept => {}
                        (true, false) => omitted.push(*slot),
                        (false, true) => gone.push(*slot),
                        _ => {}
                    }
                    has_original |= !is_same;
                }
                if let Some(computed) = computed {
                    self.give_back(computed, field);
                }
            }
            if has_original {
                guards.push(Entry { key: &plan.key, value: self.stored_guard(way, near, &sources) });
                guarded.push(position);
            }
            self.pool.extend([sources, results]);
        }
        self.guard_the_way(guarded, slots, &mut guards);
        for slot in omitted {
            slots.values[slot] = Slot::Absent;
        }
        slots.gone = gone;
        let links = &self.scope.computed.links;
        let is_known = |key: &str| links.iter().any(|link| *link.key == *key);
        slots.set_guards(guards, is_known);
        slots.set_orders(orders, is_known);
    }

    /// Guards all that originals are computed by way of: it may come out as it was, although the hub's spelling has changed.
    pub(super) fn guard_the_way(&mut self, mut guarded: Vec<usize>, slots: &Slots<'a>, guards: &mut Vec<Entry<'a>>) {
        let ways = &self.scope.computed.all.links;
        let mut at = 0;
        while at < guarded.len() {
            for before in &ways[guarded[at]].after {
                if !guarded.contains(before) {
                    guarded.push(*before);
                    let plan = &self.scope.computed.links[ways[*before].link];
                    let near = plan.sides(ways[*before].direction).0;
                    let sources = self.read(near, slots);
                    guards.push(Entry { key: &plan.key, value: self.guard(near, &sources) });
                }
            }
            at += 1;
        }
    }

    /// A guard as it is stored: a digest if the value is long and converting anew does not need it.
    fn stored_guard(&self, way: &Way, side: &SidePlan, values: &[Option<Value<'a>>]) -> Value<'a> {
        let guard = self.guard(side, values);
        let plan = &self.scope.computed.links[way.link];
        let has_parts = plan.sides(way.direction).1.fields.iter().any(|field| field.has_parts);
        let needs_value = way.leads_on || has_parts || self.lenses.computations.links[plan.link].converter.needs_past();
        match needs_value || !is_longer(guard, LONGEST_GUARD) {
            true => guard,
            false => digest(guard, self.arena),
        }
    }

    /// What the values of a side were when the other spelling was written, by the ids of its fields.
    pub(super) fn guard(&self, side: &SidePlan, values: &[Option<Value<'a>>]) -> Value<'a> {
        let texts = &self.scope.layout.texts;
        if let ([field], [Some(value)]) = (&side.fields[..], values) {
            return Value::Object(self.arena.slice(&[Entry { key: &texts[field.slot], value: *value }]));
        }
        let entries = side
            .fields
            .iter()
            .zip(values)
            .filter_map(|(field, value)| value.map(|value| Entry { key: &texts[field.slot], value }));
        let entries: Vec<_> = entries.collect();
        Value::Object(self.arena.slice(&entries))
    }

    /// Slots with nothing in them but a field.
    pub(super) fn alone(&mut self, version: VersionIndex, field: &'a FieldPlan, value: Option<Value<'a>>) -> Slots<'a> {
        let mut slots = self.empty.take().unwrap_or_else(|| {
            let mut slots = Slots::default();
            slots.clear(self.scope);
            slots
        });
        if value.is_some() {
            self.write(version, field, value, None, &mut slots);
        }
        slots
    }

    /// Empties them again, for the next field: there may be many slots, of which few were used.
    pub(super) fn give_back(&mut self, mut slots: Slots<'a>, field: &FieldPlan) {
        field.slots.iter().for_each(|slot| slots.values[*slot] = Slot::Absent);
        self.empty = Some(slots);
    }
}

/// Whether the texts in a value have more bytes than some limit.
fn is_longer(value: Value<'_>, limit: usize) -> bool {
    fn left(value: Value<'_>, limit: usize) -> Option<usize> {
        match value {
            Value::Null | Value::Bool(_) => limit.checked_sub(4),
            Value::Number(number) => limit.checked_sub(number.as_str().len()),
            Value::String(text) => limit.checked_sub(text.as_str().len()),
            Value::Array(items) => items.iter().try_fold(limit, |limit, item| left(*item, limit.checked_sub(1)?)),
            Value::Object(entries) => {
                entries.iter().try_fold(limit, |limit, entry| left(entry.value, limit.checked_sub(entry.key.len())?))
            }
        }
    }
    left(value, limit).is_none()
}
