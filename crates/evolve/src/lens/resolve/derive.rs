//! Derived fields: shown where nothing is stored, and never stored themselves.

use wheelwright_document::{Entry, Value};

use super::{Placed, Resolve};
use crate::{
    Direction,
    lens::{
        computed::{Action, DerivationPlan, FieldPlan, InputPlan, Needed},
        get::{Get, says, shows},
        plan::View,
        same::equal_option,
        state::{Slot, Slots},
    },
};

impl<'a> Resolve<'a> {
    /// Whether a derived field that is there is as it would be derived.
    pub(super) fn follows(&mut self, plan: &'a DerivationPlan, slots: &Slots<'a>) -> bool {
        let mut seen = slots.clone();
        self.derive(&plan.needed, &mut seen);
        equal_option(self.derived(plan, &seen), self.shown(plan.target, &plan.field, slots))
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

    pub(super) fn derived(&mut self, plan: &'a DerivationPlan, slots: &Slots<'a>) -> Option<Value<'a>> {
        let derivation = &self.lenses.computations.derivations[plan.derivation];
        if let Some((object, position)) = plan.only_in {
            let view = self.scope.views[plan.target.position()].as_ref()?;
            let object = &view.objects[object].fields.list[position].1;
            if matches!(says(object, slots), Slot::Value(_)) || !shows(object, slots) {
                return None;
            }
        }
        let view = self.scope.views[plan.source.position()].as_ref()?;
        let own = &view.objects[0];
        let mut get = Get::new(self.lenses, plan.source, self.arena, ());
        get.metadata = self.metadata;
        let own = match &plan.inputs {
            None => get.object(self.scope, view, None, own, slots),
            Some(inputs) => self.inputs(inputs, derivation.deriver.is_strict(), view, &mut get, slots)?,
        };
        match derivation.deriver.derive(Value::Object(own), self.metadata, self.arena) {
            Ok(value) => value,
            Err(failed) => {
                self.troubles.derived(derivation, failed);
                None
            }
        }
    }

    /// What an expression reads of an object, and no more: all of it may be large. `None` if something is absent that it
    /// cannot do without.
    fn inputs(
        &self,
        inputs: &'a [InputPlan],
        is_strict: bool,
        view: &'a View,
        get: &mut Get<'a, ()>,
        slots: &Slots<'a>,
    ) -> Option<&'a [Entry<'a>]> {
        let mut entries = Vec::with_capacity(inputs.len());
        for input in inputs {
            let (key, field) = &view.objects[input.at.0].fields.list[input.at.1];
            let is_object = !matches!(says(field, slots), Slot::Value(_)) && shows(field, slots);
            let value = match is_object && !input.below.is_empty() {
                true => Some(Value::Object(self.inputs(&input.below, is_strict, view, get, slots)?)),
                false => get.field(self.scope, view, field, slots),
            };
            if is_strict && value.is_none() {
                return None;
            }
            entries.extend(value.map(|value| Entry { key, value }));
        }
        Some(self.arena.slice(&entries))
    }
}
