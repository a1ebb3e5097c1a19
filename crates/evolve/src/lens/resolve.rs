//! Computed slots: those that are not stored are computed when a scope is read, what follows from a write is computed
//! when it is written, and what can be computed again is not stored.
//!
//! In between, every spelling of a fact has its value in its slot, so that views need not know how it came there.

use wheelwright_document::{Arena, Entry, Value};

use super::{
    Lenses,
    computed::{Action, DerivationPlan, FieldPlan, InputPlan, LinkPlan, Needed, Onward, SidePlan, Way},
    get::{Get, says, shows},
    plan::{Scope, View, ViewField},
    put::Put,
    recall::Before,
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
    /// Room for values that is not in use.
    pool: Vec<Vec<Option<Value<'a>>>>,
    /// Slots with nothing in them.
    empty: Option<Slots<'a>>,
}

/// The values of the fields of a side.
type Values<'v, 'a> = &'v [Option<Value<'a>>];

/// Slots that have a derived value, which is shown and not stored.
type Placed<'a> = Vec<(usize, Slot<'a>)>;

impl<'a> Resolve<'a> {
    pub(crate) fn new(
        lenses: &'a Lenses,
        scope: &'a Scope,
        metadata: Option<Value<'a>>,
        troubles: Troubles,
        arena: &'a Arena,
    ) -> Self {
        Self { lenses, scope, arena, metadata, troubles, pool: Vec::new(), empty: None }
    }

    /// Computes the spellings that are not stored.
    pub(crate) fn expand(&mut self, needed: &'a Needed, slots: &mut Slots<'a>) {
        for way in &needed.links {
            let plan = &self.scope.computed.links[way.link];
            let (near, far) = plan.sides(way.direction);
            let guard = slots.guard(&plan.key);
            if plan.is_simple && guard.is_none() && matches!(slots.values[far.fields[0].slot], Slot::Absent) {
                if let Some(value) = self.shown(near.version, &near.fields[0], slots) {
                    let result = self.convert_one(plan, way.direction, value);
                    slots.values[far.fields[0].slot] = result.map_or(Slot::Absent, Slot::Value);
                }
                continue;
            }
            let sources = self.read(near, slots);
            if is_nothing(way, &sources, slots) {
                self.pool.push(sources);
                continue;
            }
            let is_guarded = guard.is_none_or(|guard| guard.equivalent(self.guard(near, &sources)));
            // What the guard says was there is what the other spelling was written beside.
            let old = guard.filter(|_| !is_guarded).map(|guard| (self.guarded(near, guard), self.read(far, slots)));
            let old = old.as_ref().map(|(sources, results)| (&sources[..], &results[..]));
            let (results, ..) = self.convert(plan, way.direction, &sources, old, slots);
            for (field, result) in far.fields.iter().zip(results.iter().copied()) {
                let is_stored =
                    |slot: &usize| !matches!(slots.values[*slot], Slot::Absent) || slots.gone.contains(slot);
                if !is_guarded && way.computed(field).any(is_stored) {
                    // Somebody changed the other spelling behind our back: it counts, and what is hidden stays.
                    self.rewrite(far.version, way, field, result, slots);
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

    /// Whether a derived field that is there is as it would be derived.
    pub(super) fn follows(&mut self, plan: &'a DerivationPlan, slots: &Slots<'a>) -> bool {
        let mut seen = slots.clone();
        self.derive(&self.scope.computed.all, &mut seen);
        same_option(self.derived(plan, &seen), self.shown(plan.target, &plan.field, slots))
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
                    let (results, ..) = self.convert(plan, direction, &sources, None, slots);
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
        before: Option<Before<'_, 'a>>,
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
        if wanted.is_empty() {
            return;
        }
        // What the version shows must be what was written, whatever is derived now. Every turn settles at least one slot.
        loop {
            let mut trial = slots.clone();
            self.derive(&self.scope.computed.shown[version.position()], &mut trial);
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
        before: Option<Before<'_, 'a>>,
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
    fn respell(&mut self, way: &'a Way, before: Option<Before<'_, 'a>>, slots: &mut Slots<'a>) {
        let plan = &self.scope.computed.links[way.link];
        let (source, target) = plan.sides(way.direction);
        if plan.is_simple && before.is_none() {
            if let Some(value) = self.shown(source.version, &source.fields[0], slots) {
                let result = self.convert_one(plan, way.direction, value);
                slots.values[target.fields[0].slot] = result.map_or(Slot::Absent, Slot::Value);
            }
            return;
        }
        let sources = self.read(source, slots);
        let old = before.map(|before| {
            let told = before.told_sources(way.link).map(<[_]>::to_vec);
            (told.unwrap_or_else(|| self.read(source, before.slots)), self.read(target, before.slots))
        });
        let is_unchanged = match &old {
            Some((old, _)) => sources.iter().zip(old).all(|(new, old)| same_option(*new, *old)),
            None => sources.iter().all(Option::is_none),
        };
        if !is_unchanged {
            let old = old.as_ref().map(|(sources, results)| (&sources[..], &results[..]));
            let (results, entry, has_failed) = self.convert(plan, way.direction, &sources, old, slots);
            // What a hook keeps of a fact goes with it.
            slots.set_entry(&plan.key, entry.filter(|_| sources.iter().any(Option::is_some)));
            for (position, (field, result)) in target.fields.iter().zip(results.iter().copied()).enumerate() {
                // What cannot be converted is absent on the other side. But what somebody has hidden in its parts would be
                // lost for good by that: then it stays as it was.
                if has_failed
                    && field.has_parts
                    && let (Some(before), Some((sources, _))) = (before, old)
                    && self.hides(way, position, sources, before.slots)
                {
                    continue;
                }
                self.rewrite(target.version, way, field, result, slots);
            }
            self.pool.push(results);
        }
        self.pool.push(sources);
        if let Some((sources, results)) = old {
            self.pool.extend([sources, results]);
        }
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
    fn follow(
        &mut self,
        plan: &'a DerivationPlan,
        before: Before<'_, 'a>,
        wanted: &[(usize, Slot<'a>)],
        slots: &mut Slots<'a>,
    ) {
        let slot = plan.field.slot;
        let is_stored = matches!(before.slots.values[slot], Slot::Value(_));
        if !is_stored || !same_slot(slots.values[slot], before.slots.values[slot]) {
            return;
        }
        let follows = match before.told {
            Some(told) => told.following.contains(&slot),
            None => self.follows(plan, before.slots),
        };
        if !follows {
            return;
        }
        let mut written = slots.clone();
        for (slot, wanted) in wanted {
            written.values[*slot] = if wanted.is_absent() { Slot::Tombstone } else { *wanted };
        }
        self.derive(&self.scope.computed.all, &mut written);
        let new = self.derived(plan, &written);
        let shown = self.shown(plan.target, &plan.field, slots);
        if new.is_some() && !same_option(shown, new) {
            self.write(plan.target, &plan.field, new, shown, slots);
        }
    }

    /// Empties the slots that can be computed again, and guards those that cannot.
    pub(crate) fn compress(&mut self, slots: &mut Slots<'a>) {
        // Whoever reads the other spelling will hear of what cannot be computed.
        self.troubles = Troubles::default();
        let (mut omitted, mut gone) = (Vec::with_capacity(self.scope.computed.all.links.len()), Vec::new());
        let mut guards: Vec<Entry<'a>> = Vec::new();
        let most = self.scope.computed.all.links.len();
        for way in &self.scope.computed.all.links {
            let plan = &self.scope.computed.links[way.link];
            let (near, far) = plan.sides(way.direction);
            if plan.is_simple {
                let source = self.shown(near.version, &near.fields[0], slots);
                let result = source.and_then(|value| self.convert_one(plan, way.direction, value));
                let slot = far.fields[0].slot;
                let is_same = same_slot(slots.values[slot], result.map_or(Slot::Absent, Slot::Value));
                match (is_same, slots.values[slot].is_absent()) {
                    (true, false) => omitted.push(slot),
                    (false, true) => gone.push(slot),
                    _ => {}
                }
                if !is_same {
                    if guards.is_empty() {
                        guards.reserve(most);
                    }
                    guards.push(Entry { key: &plan.key, value: self.guard(near, &[source]) });
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
                guards.push(Entry { key: &plan.key, value: self.guard(near, &sources) });
            }
            self.pool.extend([sources, results]);
        }
        for slot in omitted {
            slots.values[slot] = Slot::Absent;
        }
        slots.gone = gone;
        let links = &self.scope.computed.links;
        slots.set_guards(guards, |key| links.iter().any(|link| *link.key == *key));
    }

    /// What the fields of a side are, as its version shows them. What readers only fill in is not there.
    pub(super) fn read(&mut self, side: &'a SidePlan, slots: &Slots<'a>) -> Vec<Option<Value<'a>>> {
        let mut values = self.room();
        for field in &side.fields {
            let value = self.shown(side.version, field, slots);
            values.push(value);
        }
        values
    }

    fn room(&mut self) -> Vec<Option<Value<'a>>> {
        let mut room = self.pool.pop().unwrap_or_default();
        room.clear();
        room
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
        if field.is_plain {
            if way.slots.contains(&field.slot) {
                slots.values[field.slot] = new.map_or(Slot::Absent, Slot::Value);
            }
            return;
        }
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
    fn give_back(&mut self, mut slots: Slots<'a>, field: &FieldPlan) {
        field.slots.iter().for_each(|slot| slots.values[*slot] = Slot::Absent);
        self.empty = Some(slots);
    }

    /// The other side of a fact of one plain field.
    fn convert_one(&mut self, plan: &'a LinkPlan, direction: Direction, value: Value<'a>) -> Option<Value<'a>> {
        let link = &self.lenses.computations.links[plan.link];
        match link.converter.convert_one(direction, value, self.metadata, self.arena) {
            Ok(result) => result,
            Err(failed) => {
                self.troubles.respelled(link, direction, failed);
                None
            }
        }
    }

    /// The other side of a fact, what a hook keeps of it, and whether that failed.
    pub(super) fn convert(
        &mut self,
        plan: &'a LinkPlan,
        direction: Direction,
        sources: &[Option<Value<'a>>],
        old: Option<(Values<'_, 'a>, Values<'_, 'a>)>,
        slots: &Slots<'a>,
    ) -> (Vec<Option<Value<'a>>>, Option<Value<'a>>, bool) {
        let link = &self.lenses.computations.links[plan.link];
        let entry = slots.entry(&plan.key);
        let mut exchange = Exchange { sources, old, metadata: self.metadata, entry, arena: self.arena };
        let mut results = self.room();
        let done = link.converter.convert(direction, &mut exchange, &mut results);
        let has_failed = done.is_err();
        if let Err(failed) = done {
            self.troubles.respelled(link, direction, failed);
            results.clear();
        }
        results.resize(plan.sides(direction).1.fields.len(), None);
        (results, exchange.entry, has_failed)
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
        let own = match &plan.inputs {
            None => get.object(self.scope, view, None, own, slots),
            Some(inputs) => self.inputs(inputs, view, &mut get, slots),
        };
        match derivation.deriver.derive(Value::Object(own), self.metadata, self.arena) {
            Ok(value) => value,
            Err(failed) => {
                self.troubles.derived(derivation, failed);
                None
            }
        }
    }

    /// What an expression reads of an object, and no more: all of it may be large.
    fn inputs(
        &self,
        inputs: &'a [InputPlan],
        view: &'a View,
        get: &mut Get<'a, ()>,
        slots: &Slots<'a>,
    ) -> &'a [Entry<'a>] {
        let mut entries = Vec::with_capacity(inputs.len());
        for input in inputs {
            let (key, field) = &view.objects[input.at.0].fields.list[input.at.1];
            let is_object = !matches!(says(field, slots), Slot::Value(_)) && shows(view, field, slots);
            let value = match is_object && !input.below.is_empty() {
                true => Some(Value::Object(self.inputs(&input.below, view, get, slots))),
                false => get.field(self.scope, view, field, slots),
            };
            entries.extend(value.map(|value| Entry { key, value }));
        }
        self.arena.slice(&entries)
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

    /// The values of a side that a guard tells.
    pub(super) fn guarded(&self, side: &SidePlan, guard: Value<'a>) -> Vec<Option<Value<'a>>> {
        let texts = &self.scope.layout.texts;
        side.fields.iter().map(|field| guard.get(&texts[field.slot])).collect()
    }

    fn view_field(&self, version: VersionIndex, field: &FieldPlan) -> Option<(&'a View, &'a ViewField)> {
        let view = self.scope.views[version.position()].as_ref()?;
        let (object, position) = field.at;
        Some((view, &view.objects[object].fields.list[position].1))
    }
}

/// Whether there is neither anything to convert nor anything that was converted before.
fn is_nothing(way: &Way, sources: &[Option<Value<'_>>], slots: &Slots<'_>) -> bool {
    let is_empty = |slot: &usize| matches!(slots.values[*slot], Slot::Absent);
    sources.iter().all(Option::is_none) && way.slots.iter().all(is_empty)
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
