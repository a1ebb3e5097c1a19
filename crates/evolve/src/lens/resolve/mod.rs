//! Computed slots: those that are not stored are computed when a scope is read, what follows from a write is computed
//! when it is written, and what can be computed again is not stored.
//!
//! In between, every spelling of a fact has its value in its slot, so that views need not know how it came there.

mod change;
mod compress;
mod derive;
mod expand;
mod order;
mod recall;
mod settle;

use wheelwright_document::{Arena, Value};

use self::change::Changed;
pub(crate) use self::recall::Before;
use super::{
    Lenses,
    computed::{FieldPlan, Length, LinkPlan, SidePlan, Way},
    get::{Get, said, says, shows},
    matching::Alignment,
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
    /// Room for values that is not in use.
    pool: Vec<Vec<Option<Value<'a>>>>,
    /// Slots with nothing in them.
    empty: Option<Slots<'a>>,
    /// What shows fields that have parts, with its room.
    get: Option<Get<'a, ()>>,
    /// What writes them, for the metadata that counts now.
    put: Option<Put<'a>>,
    /// The spellings so far that were computed anew.
    changed: Vec<Changed<'a>>,
    /// The slots so far that were empty and are computed again.
    back: Vec<usize>,
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
        Self {
            lenses,
            scope,
            arena,
            metadata,
            troubles,
            pool: Vec::new(),
            empty: None,
            get: None,
            put: None,
            changed: Vec::new(),
            back: Vec::new(),
        }
    }

    /// What the fields of a side are, as its version shows them. Where none of them is there, what readers fill in is not
    /// there either.
    pub(super) fn read(&mut self, side: &'a SidePlan, slots: &Slots<'a>) -> Vec<Option<Value<'a>>> {
        let mut values = self.room();
        for field in &side.fields {
            let value = self.shown(side.version, field, slots);
            values.push(value);
        }
        if values.len() > 1 && values.iter().any(Option::is_some) {
            for (field, value) in side.fields.iter().zip(&mut values).filter(|(_, value)| value.is_none()) {
                *value = self.filled_in(side.version, field.at, &field.above, slots);
            }
        }
        values
    }

    /// What readers see of a field that is absent: its frozen default where its object is shown, else what the frozen default
    /// of that says of it.
    fn filled_in(
        &self,
        version: VersionIndex,
        at: (usize, usize),
        above: &[(usize, usize)],
        slots: &Slots<'a>,
    ) -> Option<Value<'a>> {
        let view = self.scope.views[version.position()].as_ref()?;
        let field_at = |(object, position): (usize, usize)| &view.objects[object].fields.list[position];
        let (name, field) = field_at(at);
        let frozen = || field.frozen.as_ref().map(|frozen| frozen.share(self.arena));
        let Some((parent, above)) = above.split_first() else { return frozen() };
        let object = &field_at(*parent).1;
        match (shows(object, slots), says(object, slots)) {
            (true, Slot::Value(_)) => None,
            (true, _) => frozen(),
            (false, _) => self.filled_in(version, *parent, above, slots)?.get(name),
        }
    }

    fn room(&mut self) -> Vec<Option<Value<'a>>> {
        let mut room = self.pool.pop().unwrap_or_default();
        room.clear();
        room
    }

    #[inline]
    fn shown(&mut self, version: VersionIndex, field: &'a FieldPlan, slots: &Slots<'a>) -> Option<Value<'a>> {
        if !field.is_plain {
            return self.shown_with_parts(version, field, slots);
        }
        match said(slots.values[field.slot], field.is_nullable) {
            Slot::Value(value) => Some(value),
            _ => None,
        }
    }

    fn shown_with_parts(
        &mut self,
        version: VersionIndex,
        field: &'a FieldPlan,
        slots: &Slots<'a>,
    ) -> Option<Value<'a>> {
        let (view, shown) = self.view_field(version, field)?;
        if !shows(shown, slots) {
            return None;
        }
        let get = self.get.get_or_insert_with(|| Get::new(self.lenses, version, self.arena, ()));
        (get.version, get.metadata) = (version, self.metadata);
        Some(get.shown_field(self.scope, view, shown, slots))
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
        self.write_aligned(version, field, (new, None), shown, slots);
    }

    /// The same; of the items of a list it may be known which ones they were.
    fn write_aligned(
        &mut self,
        version: VersionIndex,
        field: &'a FieldPlan,
        (new, aligned): (Option<Value<'a>>, Option<Alignment>),
        shown: Option<Value<'a>>,
        slots: &mut Slots<'a>,
    ) {
        if field.is_plain {
            slots.values[field.slot] = new.map_or(Slot::Absent, Slot::Value);
            return;
        }
        let Some((view, at)) = self.view_field(version, field) else { return };
        let mut put = Put::computing(self.lenses, version, self.arena, self.metadata);
        put.aligned = aligned;
        put.write_field(self.scope, view, at, slots, new, shown);
    }

    /// Computes one field of one other, where nothing is there yet; whether that is all that there is to do.
    #[inline(always)]
    fn compute_new(&mut self, way: &Way, slots: &mut Slots<'a>) -> bool {
        match way.length {
            Length::Plain { from, is_nullable, to, link } => {
                if let Slot::Value(value) = said(slots.values[from], is_nullable) {
                    slots.values[to] = self.convert_one(link, way.direction, value);
                }
            }
            Length::Single => self.compute_new_parts(&self.scope.computed.links[way.link], way.direction, slots),
            Length::Full => return false,
        }
        true
    }

    /// The same of fields that have parts.
    #[inline(never)]
    fn compute_new_parts(&mut self, plan: &'a LinkPlan, direction: Direction, slots: &mut Slots<'a>) {
        let (near, far) = plan.sides(direction);
        let Some(value) = self.shown(near.version, &near.fields[0], slots) else { return };
        let link = &self.lenses.computations.links[plan.link];
        let result = match link.converter.convert_one(direction, value, self.metadata, self.arena) {
            Ok(Some(result)) => result,
            Ok(None) => return,
            Err(failed) => return self.troubles.respelled(link, direction, failed),
        };
        let field = &far.fields[0];
        if field.is_plain || field.passes {
            slots.values[field.slot] = Slot::Value(result);
        } else if let Some((view, at)) = self.view_field(far.version, field) {
            let put = || Put::computing(self.lenses, far.version, self.arena, self.metadata);
            let put = self.put.get_or_insert_with(put);
            (put.version, put.metadata) = (far.version, (self.metadata, self.metadata));
            put.new_field(self.scope, view, at, slots, result);
        }
    }

    /// The other side of a fact of one plain field. Most facts are, and a call that hands a value on copies it once more.
    #[inline(always)]
    fn convert_one(&mut self, link: usize, direction: Direction, value: Value<'a>) -> Slot<'a> {
        let link = &self.lenses.computations.links[link];
        match link.converter.convert_one(direction, value, self.metadata, self.arena) {
            Ok(Some(result)) => Slot::Value(result),
            Ok(None) => Slot::Absent,
            Err(failed) => {
                self.troubles.respelled(link, direction, failed);
                Slot::Absent
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

    /// Which item of what was converted is which one that was there before, if it is a list of which that is known.
    pub(super) fn aligned(
        &self,
        plan: &LinkPlan,
        direction: Direction,
        old: Option<(Values<'_, 'a>, Values<'_, 'a>)>,
        result: Option<Value<'a>>,
    ) -> Option<Alignment> {
        self.lenses.computations.links[plan.link].converter.aligned(direction, old?, result?)
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

/// Whether nothing is there of what a way leads to, and nobody has said so.
#[inline]
fn is_clear(way: &Way, slots: &Slots<'_>) -> bool {
    let is_empty = |slot: &usize| matches!(slots.values[*slot], Slot::Absent);
    match &way.length {
        Length::Plain { to, .. } => is_empty(to),
        _ => way.slots.iter().all(is_empty) && !way.slots.iter().any(|slot| slots.gone.contains(slot)),
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
