//! Lists that the hub has as maps: the order of their keys is stored in the place of the list.

use wheelwright_document::Value;

use super::{Resolve, same_slot};
use crate::lens::{
    computed::{FieldPlan, Way},
    state::{Slot, Slots},
};

impl<'a> Resolve<'a> {
    /// The keys of a list in the order of its items, if they and the computed list (`result`) are all that it takes to
    /// rebuild it: no item hides anything, and no two share a key.
    pub(super) fn order(
        &mut self,
        way: &Way,
        field: &'a FieldPlan,
        result: Option<Value<'a>>,
        slots: &Slots<'a>,
    ) -> Option<Value<'a>> {
        let plan = &self.scope.computed.links[way.link];
        let far = plan.sides(way.direction).1;
        let converter = &self.lenses.computations.links[plan.link].converter;
        if !converter.looks_back(way.direction) || field.slots[..] != [field.slot] {
            return None;
        }
        let order = converter.order_of(self.shown(far.version, field, slots)?, self.arena)?;
        let ordered = converter.ordered(result?, &order, self.arena);
        let is_same = match field.is_plain {
            true => same_slot(slots.values[field.slot], Slot::Value(ordered)),
            false => {
                let alone = self.alone(far.version, field, Some(ordered));
                let is_same = slots.is_same(field.slot, &alone);
                self.give_back(alone, field);
                is_same
            }
        };
        is_same.then(|| Value::Array(self.arena.slice(&order)))
    }

    /// Rebuilds a list whose order is stored, from the map as it is or as a guard has it; whether there is one.
    pub(super) fn restore_list(&mut self, way: &Way, slots: &mut Slots<'a>) -> bool {
        let plan = &self.scope.computed.links[way.link];
        let (near, far) = plan.sides(way.direction);
        let Some(order) = slots.order(&plan.key) else { return false };
        let [field] = &far.fields[..] else { return false };
        // An original that is stored whole takes precedence: an older release may have stored it later.
        if !matches!(slots.values[field.slot], Slot::Absent) || slots.gone.contains(&field.slot) {
            return false;
        }
        let map = match slots.guard(&plan.key) {
            Some(guard) => self.guarded(near, guard).first().copied().flatten(),
            None => self.shown(near.version, &near.fields[0], slots),
        };
        let converter = &self.lenses.computations.links[plan.link].converter;
        let list = map.map(|map| converter.convert_one(way.direction, map, self.metadata, self.arena));
        // A failure is reported where the fact is converted.
        let Some(Ok(Some(list))) = list else { return false };
        let list = converter.ordered(list, order, self.arena);
        let alone = self.alone(far.version, field, Some(list));
        slots.copy(field.slot, &alone);
        self.give_back(alone, field);
        true
    }
}
