//! Computed slots: those that are not stored are computed when a scope is read, what follows from a write is computed
//! when it is written, and what can be computed again is not stored.
//!
//! In between, every spelling of a fact has its value in its slot, so that views need not know how it came there.

use wheelwright_document::{Arena, Entry, Value};

use super::{
    Lenses,
    computed::{Action, DerivationPlan, FieldPlan, LinkPlan, Needed, Onward, SidePlan, Way},
    get::{Get, says, shows},
    plan::{Scope, View, ViewField},
    put::Put,
    same::same,
    state::{Slot, Slots},
    trouble::Troubles,
};
use crate::{Direction, VersionIndex, compute::Exchange};

/// Computes slots of one scope.
pub(crate) struct Resolve<'a> {
    pub(crate) lenses: &'a Lenses,
    pub(crate) scope: &'a Scope,
    pub(crate) arena: &'a Arena,
    /// The metadata of the document.
    pub(crate) metadata: Option<Value<'a>>,
    /// Who wants to know what could not be computed.
    pub(crate) troubles: Troubles,
}

/// The values of the fields of a side.
type Values<'v, 'a> = &'v [Option<Value<'a>>];

/// Slots that have a derived value, which is shown and not stored.
type Placed<'a> = Vec<(usize, Slot<'a>)>;

impl<'a> Resolve<'a> {
    /// Computes the spellings that are not stored.
    pub(crate) fn expand(&mut self, needed: &'a Needed, slots: &mut Slots<'a>) {
        for way in &needed.links {
            let plan = &self.scope.computed.links[way.link];
            let (near, far) = plan.sides(way.direction);
            let sources = self.read(near, slots);
            let guard = slots.guard(&plan.key);
            let is_guarded = guard.is_none_or(|guard| same(guard, self.guard(near, &sources)));
            // What the guard says was there is what the other spelling was written beside.
            let old = guard.filter(|_| !is_guarded).map(|guard| (self.guarded(near, guard), self.read(far, slots)));
            let old = old.as_ref().map(|(sources, results)| (&sources[..], &results[..]));
            let (results, _) = self.convert(plan, way.direction, &sources, old, slots);
            for (field, result) in far.fields.iter().zip(results) {
                let is_stored =
                    |slot: &usize| !matches!(slots.values[*slot], Slot::Absent) || slots.gone.contains(slot);
                if !is_guarded && way.computed(field).any(is_stored) {
                    // Somebody changed the other spelling behind our back: it counts, and what is hidden stays.
                    self.rewrite(far.version, way, field, result, slots);
                } else if field.is_plain {
                    if way.slots.contains(&field.slot)
                        && !is_stored(&field.slot)
                        && let Some(result) = result
                    {
                        slots.values[field.slot] = Slot::Value(result);
                    }
                } else if result.is_some() {
                    let computed = self.alone(far.version, field, result);
                    for slot in way.computed(field) {
                        if matches!(slots.values[*slot], Slot::Absent) && !slots.gone.contains(slot) {
                            slots.copy(*slot, &computed);
                        }
                    }
                }
            }
        }
        slots.gone.clear();
    }

    /// Shows derived values where nothing is stored and nobody said that nothing is there.
    pub(crate) fn derive(&mut self, needed: &'a Needed, slots: &mut Slots<'a>) -> Placed<'a> {
        let mut up = self.phase(&needed.up, Direction::Up, slots);
        if needed.down.is_empty() {
            return up;
        }
        // What is derived on one way is not read on the other: nothing follows from itself.
        for (slot, _) in &up {
            slots.values[*slot] = Slot::Absent;
        }
        let mut down = self.phase(&needed.down, Direction::Down, slots);
        for (slot, value) in &up {
            slots.values[*slot] = *value;
        }
        down.retain(|(slot, _)| up.iter().all(|(other, _)| other != slot));
        up.append(&mut down);
        up
    }

    fn phase(&mut self, actions: &'a [Action], direction: Direction, slots: &mut Slots<'a>) -> Placed<'a> {
        let mut placed = Vec::new();
        for action in actions {
            match action {
                Action::Derive(derivation) => {
                    let plan = &self.scope.computed.derivations[*derivation];
                    if matches!(slots.values[plan.field.slot], Slot::Absent)
                        && let Some(value) = self.derived(plan, slots)
                    {
                        self.write(plan.target, &plan.field, Some(value), None, slots);
                        placed.push((plan.field.slot, slots.values[plan.field.slot]));
                    }
                }
                Action::Link(link) => {
                    let plan = &self.scope.computed.links[*link];
                    let (source, target) = plan.sides(direction);
                    let is_placed = |field: &FieldPlan| placed.iter().any(|(slot, _): &(usize, _)| *slot == field.slot);
                    let mut slots_of_target = target.fields.iter().flat_map(|field| &field.slots);
                    if !source.fields.iter().any(is_placed)
                        || slots_of_target.any(|slot| !matches!(slots.values[*slot], Slot::Absent))
                    {
                        continue;
                    }
                    let sources = self.read(source, slots);
                    let (results, _) = self.convert(plan, direction, &sources, None, slots);
                    for (field, result) in target.fields.iter().zip(results).filter(|(_, result)| result.is_some()) {
                        self.write(target.version, field, result, None, slots);
                        let there = field.slots.iter().filter(|slot| !matches!(slots.values[**slot], Slot::Absent));
                        placed.extend(there.map(|slot| (*slot, slots.values[*slot])));
                    }
                }
            }
        }
        placed
    }

    /// What follows from a write through a version: other spellings of what was written, and derived fields that followed
    /// what was written so far. `before` is what was there, `placed` what of it was merely shown.
    pub(crate) fn settle(
        &mut self,
        version: VersionIndex,
        view: &View,
        before: Option<&Slots<'a>>,
        placed: &[(usize, Slot<'a>)],
        slots: &mut Slots<'a>,
    ) {
        let derivable = self.scope.computed.derivable.iter().filter(|slot| view.says[**slot]);
        let wanted: Placed<'a> = derivable.map(|slot| (*slot, slots.values[*slot])).collect();
        for (slot, shown) in placed {
            if same_slot(slots.values[*slot], *shown) {
                slots.values[*slot] = Slot::Absent;
            }
        }
        self.propagate(version, view, before, &wanted, slots);
        // What the version shows must be what was written, whatever is derived now. Every turn settles at least one slot.
        loop {
            let mut trial = slots.clone();
            self.derive(&self.scope.computed.all, &mut trial);
            let differing = wanted.iter().filter(|(slot, wanted)| !same_slot(trial.values[*slot], *wanted));
            let differing: Placed<'a> = differing.copied().collect();
            if differing.is_empty() {
                return;
            }
            for (slot, wanted) in differing {
                slots.values[slot] = if wanted.is_absent() { Slot::Tombstone } else { wanted };
            }
            self.propagate(version, view, before, &wanted, slots);
        }
    }

    fn propagate(
        &mut self,
        version: VersionIndex,
        view: &View,
        before: Option<&Slots<'a>>,
        wanted: &[(usize, Slot<'a>)],
        slots: &mut Slots<'a>,
    ) {
        for onward in &self.scope.computed.onward[version.position()] {
            match onward {
                Onward::Link(way) => self.respell(way, before, slots),
                Onward::Derive(derivation) => {
                    let plan = &self.scope.computed.derivations[*derivation];
                    if let Some(before) = before.filter(|_| !view.says[plan.field.slot]) {
                        self.follow(plan, before, wanted, slots);
                    }
                }
            }
        }
    }

    /// The other spelling of what changed.
    fn respell(&mut self, way: &'a Way, before: Option<&Slots<'a>>, slots: &mut Slots<'a>) {
        let plan = &self.scope.computed.links[way.link];
        let (source, target) = plan.sides(way.direction);
        let sources = self.read(source, slots);
        let old = before.map(|before| (self.read(source, before), self.read(target, before)));
        let is_unchanged = match &old {
            Some((old, _)) => sources.iter().zip(old).all(|(new, old)| same_option(*new, *old)),
            None => sources.iter().all(Option::is_none),
        };
        if is_unchanged {
            return;
        }
        let old = old.as_ref().map(|(sources, results)| (&sources[..], &results[..]));
        let (results, entry) = self.convert(plan, way.direction, &sources, old, slots);
        slots.set_entry(&plan.key, entry);
        for (field, result) in target.fields.iter().zip(results) {
            self.rewrite(target.version, way, field, result, slots);
        }
    }

    /// A derived field that a client wrote and the writer cannot see follows its inputs, if it did so far. It is never
    /// removed by that. Its inputs are what the writer saw and wrote, whether that is stored or not.
    fn follow(
        &mut self,
        plan: &'a DerivationPlan,
        before: &Slots<'a>,
        wanted: &[(usize, Slot<'a>)],
        slots: &mut Slots<'a>,
    ) {
        let slot = plan.field.slot;
        let is_stored = matches!(before.values[slot], Slot::Value(_));
        if !is_stored || !same_slot(slots.values[slot], before.values[slot]) {
            return;
        }
        let all = &self.scope.computed.all;
        let mut seen = before.clone();
        self.derive(all, &mut seen);
        let mut written = slots.clone();
        for (slot, wanted) in wanted {
            written.values[*slot] = if wanted.is_absent() { Slot::Tombstone } else { *wanted };
        }
        self.derive(all, &mut written);
        let (old, new) = (self.derived(plan, &seen), self.derived(plan, &written));
        let shown = self.shown(plan.target, &plan.field, slots);
        if new.is_some() && same_option(old, shown) && !same_option(old, new) {
            self.write(plan.target, &plan.field, new, shown, slots);
        }
    }

    /// Empties the slots that can be computed again, and guards those that cannot.
    pub(crate) fn compress(&mut self, slots: &mut Slots<'a>) {
        // Whoever reads the other spelling will hear of what cannot be computed.
        self.troubles = Troubles::default();
        let (mut omitted, mut gone) = (Vec::new(), Vec::new());
        let mut guards: Vec<Entry<'a>> = Vec::new();
        for way in &self.scope.computed.all.links {
            let plan = &self.scope.computed.links[way.link];
            let (near, far) = plan.sides(way.direction);
            let sources = self.read(near, slots);
            let (results, _) = self.convert(plan, way.direction, &sources, None, slots);
            let mut has_original = false;
            for (field, result) in far.fields.iter().zip(results) {
                let computed = match field.is_plain {
                    true => None,
                    false => Some(self.alone(far.version, field, result)),
                };
                for slot in way.computed(field) {
                    let is_same = match &computed {
                        None => same_slot(slots.values[*slot], result.map_or(Slot::Absent, Slot::Value)),
                        Some(computed) => slots.is_same(*slot, computed),
                    };
                    match (is_same, slots.values[*slot].is_absent()) {
                        (true, false) => omitted.push(*slot),
                        (false, true) => gone.push(*slot),
                        _ => {}
                    }
                    has_original |= !is_same;
                }
            }
            if has_original {
                guards.push(Entry { key: &plan.key, value: self.guard(near, &sources) });
            }
        }
        for slot in omitted {
            slots.values[slot] = Slot::Absent;
        }
        slots.gone = gone;
        let links = &self.scope.computed.links;
        slots.set_guards(guards, |key| links.iter().any(|link| *link.key == *key));
    }

    /// What the fields of a side are, as its version shows them. What readers only fill in is not there.
    fn read(&mut self, side: &'a SidePlan, slots: &Slots<'a>) -> Vec<Option<Value<'a>>> {
        side.fields.iter().map(|field| self.shown(side.version, field, slots)).collect()
    }

    fn shown(&mut self, version: VersionIndex, field: &'a FieldPlan, slots: &Slots<'a>) -> Option<Value<'a>> {
        let (view, shown) = self.view_field(version, field)?;
        if field.is_plain {
            return match says(shown, slots) {
                Slot::Value(value) => Some(value),
                _ => None,
            };
        }
        if !shows(view, shown, slots) {
            return None;
        }
        let mut get = Get::new(self.lenses, version, self.arena, ());
        get.metadata = self.metadata;
        get.field(self.scope, view, shown, slots)
    }

    /// Writes what is computed of a field in the place of what its version shows.
    fn rewrite(
        &mut self,
        version: VersionIndex,
        way: &'a Way,
        field: &'a FieldPlan,
        new: Option<Value<'a>>,
        slots: &mut Slots<'a>,
    ) {
        // Of an object that is known in part, nothing goes but what is computed, hidden fields neither: it stays.
        let is_known = |slot: &usize| !way.slots.contains(slot);
        let known: Placed<'a> = match field.slots.iter().any(is_known) {
            true => slots.values.iter().copied().enumerate().filter(|(slot, _)| is_known(slot)).collect(),
            false => Vec::new(),
        };
        let shown = self.shown(version, field, slots);
        // Null that the version cannot say is no less out of date than what it shows.
        if let (None, Slot::Value(Value::Null)) = (shown, slots.values[field.slot]) {
            slots.values[field.slot] = Slot::Absent;
        }
        self.write(version, field, new, shown, slots);
        for (slot, value) in known {
            slots.values[slot] = value;
        }
    }

    /// Writes a field as its version does, in the place of what it showed.
    fn write(
        &mut self,
        version: VersionIndex,
        field: &'a FieldPlan,
        new: Option<Value<'a>>,
        shown: Option<Value<'a>>,
        slots: &mut Slots<'a>,
    ) {
        if field.is_plain {
            slots.values[field.slot] = new.map_or(Slot::Absent, Slot::Value);
            return;
        }
        let Some((view, at)) = self.view_field(version, field) else { return };
        let mut put = Put::computing(self.lenses, version, self.arena, self.metadata);
        put.respell_field(self.scope, view, at, slots, new, shown);
    }

    /// Slots with nothing in them but a field.
    fn alone(&mut self, version: VersionIndex, field: &'a FieldPlan, value: Option<Value<'a>>) -> Slots<'a> {
        let mut slots = Slots::default();
        slots.clear(self.scope);
        if value.is_some() {
            self.write(version, field, value, None, &mut slots);
        }
        slots
    }

    /// The other side of a fact, and what a hook keeps of it.
    fn convert(
        &mut self,
        plan: &'a LinkPlan,
        direction: Direction,
        sources: &[Option<Value<'a>>],
        old: Option<(Values<'_, 'a>, Values<'_, 'a>)>,
        slots: &Slots<'a>,
    ) -> (Vec<Option<Value<'a>>>, Option<Value<'a>>) {
        let link = &self.lenses.computations.links[plan.link];
        let entry = slots.entry(&plan.key);
        let mut exchange = Exchange { sources, old, metadata: self.metadata, entry, arena: self.arena };
        let mut results = Vec::with_capacity(2);
        if let Err(failed) = link.converter.convert(direction, &mut exchange, &mut results) {
            self.troubles.respelled(link, direction, failed);
            results.clear();
        }
        results.resize(plan.sides(direction).1.fields.len(), None);
        (results, exchange.entry)
    }

    fn derived(&mut self, plan: &'a DerivationPlan, slots: &Slots<'a>) -> Option<Value<'a>> {
        let derivation = &self.lenses.computations.derivations[plan.derivation];
        if let Some((object, position)) = plan.only_in {
            let view = self.scope.views[plan.target.position()].as_ref()?;
            if !shows(view, &view.objects[object].fields.list[position].1, slots) {
                return None;
            }
        }
        let view = self.scope.views[plan.source.position()].as_ref()?;
        let own = &view.objects[0];
        let mut get = Get::new(self.lenses, plan.source, self.arena, ());
        get.metadata = self.metadata;
        let own = match derivation.deriver.reads() {
            None => get.object(self.scope, view, None, own, slots),
            Some(names) => {
                let fields = own.fields.list.iter().filter(|(name, _)| names.contains(name));
                let entries = fields.filter_map(|(key, field)| {
                    get.field(self.scope, view, field, slots).map(|value| Entry { key, value })
                });
                let entries: Vec<_> = entries.collect();
                self.arena.slice(&entries)
            }
        };
        match derivation.deriver.derive(Value::Object(own), self.metadata, self.arena) {
            Ok(value) => value,
            Err(failed) => {
                self.troubles.derived(derivation, failed);
                None
            }
        }
    }

    /// What the values of a side were when the other spelling was written, by the ids of its fields.
    fn guard(&self, side: &SidePlan, values: &[Option<Value<'a>>]) -> Value<'a> {
        let texts = &self.scope.layout.texts;
        let entries = side
            .fields
            .iter()
            .zip(values)
            .filter_map(|(field, value)| value.map(|value| Entry { key: &texts[field.slot], value }));
        let entries: Vec<_> = entries.collect();
        Value::Object(self.arena.slice(&entries))
    }

    /// The values of a side that a guard tells.
    fn guarded(&self, side: &SidePlan, guard: Value<'a>) -> Vec<Option<Value<'a>>> {
        let texts = &self.scope.layout.texts;
        side.fields.iter().map(|field| guard.get(&texts[field.slot])).collect()
    }

    fn view_field(&self, version: VersionIndex, field: &FieldPlan) -> Option<(&'a View, &'a ViewField)> {
        let view = self.scope.views[version.position()].as_ref()?;
        let (object, position) = field.at;
        Some((view, &view.objects[object].fields.list[position].1))
    }
}

fn same_option(a: Option<Value<'_>>, b: Option<Value<'_>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Whether two slots hold the same, as far as no object's extras are concerned.
pub(crate) fn same_slot(a: Slot<'_>, b: Slot<'_>) -> bool {
    match (a, b) {
        (Slot::Value(a), Slot::Value(b)) => same(a, b),
        (Slot::Object(a), Slot::Object(b)) => a == b,
        (a, b) => a.is_absent() && b.is_absent(),
    }
}
