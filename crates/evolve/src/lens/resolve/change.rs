//! Changes that go on from spelling to spelling, also where one in between comes out as it was.

use wheelwright_document::Value;

use super::{Resolve, Values};
use crate::lens::{
    computed::{FieldPlan, SidePlan, Way},
    equal,
};

/// A spelling that was computed anew.
pub(crate) struct Changed<'a> {
    slot: usize,
    /// What it was, with something else in the place of what changed and came out the same; nothing if that is plain to see.
    was: Option<Value<'a>>,
    /// There is nothing, since it could not be computed, or there was nothing before.
    is_lost: bool,
}

impl<'a> Resolve<'a> {
    /// Remembers that a spelling is computed anew, if others are computed from it.
    pub(super) fn note(
        &mut self,
        way: &Way,
        field: &FieldPlan,
        (old_sources, old): (Values<'_, 'a>, Option<Value<'a>>),
        (sources, new): (Values<'_, 'a>, Option<Value<'a>>),
        has_failed: bool,
    ) {
        if !way.leads_on || !way.slots.contains(&field.slot) {
            return;
        }
        let converter = &self.lenses.computations.links[self.scope.computed.links[way.link].link].converter;
        let was = old.zip(new).map(|(old, new)| converter.told_apart((old_sources, old), (sources, new), self.arena));
        // What has parts, all of which are what they were, is what it was.
        if was.zip(new).is_some_and(|(was, new)| equal(was, new)) {
            return;
        }
        let is_lost = new.is_none() && (has_failed || old.is_none());
        self.changed.push(Changed { slot: field.slot, was, is_lost });
    }

    /// Whether any field of a side was computed anew.
    pub(super) fn has_changed(&self, side: &SidePlan) -> bool {
        self.changes(side).next().is_some()
    }

    /// Whether a side is absent for no better reason than that it could not be computed, or already was.
    pub(super) fn is_lost(&self, side: &SidePlan, values: Values<'_, 'a>) -> bool {
        values.iter().all(Option::is_none) && self.changes(side).any(|(_, changed)| changed.is_lost)
    }

    /// What the fields of a side were, such that nothing that changed is taken for what it was.
    pub(super) fn told_apart(&self, side: &SidePlan, old: Values<'_, 'a>) -> Vec<Option<Value<'a>>> {
        let mut told = old.to_vec();
        for (position, changed) in self.changes(side) {
            told[position] = changed.was.or(told[position]);
        }
        told
    }

    fn changes(&self, side: &SidePlan) -> impl Iterator<Item = (usize, &Changed<'a>)> {
        let changed = |field: &FieldPlan| self.changed.iter().find(|changed| changed.slot == field.slot);
        side.fields.iter().enumerate().filter_map(move |(position, field)| Some((position, changed(field)?)))
    }
}
