//! A scope of a document that is loaded: what was carried of it finds its place, or does not.

use std::collections::HashSet;

use wheelwright_document::{Arena, Entry, Value};

use super::{
    CarryFate, Places,
    computed::look,
    entry::{Beside, Body, ExtraSort, LinkEntry, Place, Within},
};
use crate::{
    Lenses,
    digest::stable_hash,
    lens::{
        get::shows,
        plan::{Scope, View, ViewObject},
        state::{Slot, Slots},
    },
};

/// A scope while it is written.
pub(crate) struct Writing<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) places: &'a Places,
    pub(crate) view: &'a View,
    pub(crate) slots: Slots<'a>,
    pub(crate) document: &'a [Entry<'a>],
    /// What the document shows of each field.
    pub(crate) shown: Vec<Option<Value<'a>>>,
    /// What is known of the fields before a client changed the document: those that are carried.
    pub(crate) before: Slots<'a>,
    /// The links of which something is told.
    pub(crate) links: HashSet<&'a str>,
    /// What objects hold besides fields, by its name.
    pub(crate) extras: HashSet<(Option<usize>, ExtraSort, &'a str)>,
}

impl<'a> Writing<'a> {
    /// Takes note of what was there before.
    pub(crate) fn remember(&mut self, body: &Body<'a>) {
        let (Body::Field { id, place, .. } | Body::Extra { object: Some(id), place, .. }) = body else { return };
        let Some(slot) = self.scope.layout.by_id.get(*id).map(|field| field.slot) else { return };
        if let Body::Field { value, .. } = body {
            self.before.values[slot] = self.slot_for(slot, *value);
        }
        let is_object = |slot: &usize| !self.view.says[*slot] && self.scope.layout.object_of[*slot].is_some();
        for object in self.spoken_for(slot, place).into_iter().filter(is_object) {
            if self.before.values[object].is_absent() {
                self.before.set_object(object);
            }
        }
    }

    /// Puts an entry of the scope where it belongs.
    pub(crate) fn apply(&mut self, body: &Body<'a>) -> Option<CarryFate> {
        let by_id = &self.scope.layout.by_id;
        match body {
            Body::Field { id, value, place } => match by_id.get(*id) {
                Some(field) => {
                    let fate = self.set(field.slot, *value, place);
                    self.let_go(field.slot, place, fate)
                }
                None => Some(CarryFate::UnknownField),
            },
            Body::Extra { object, sort, key, value, place } => {
                // What nobody understood when it was carried is understood now.
                if let (ExtraSort::Stray, Some(field)) = (sort, by_id.get(*key)) {
                    return self.set(field.slot, *value, place);
                }
                match object.map(|object| by_id.get(object)) {
                    Some(None) => Some(CarryFate::UnknownField),
                    Some(Some(field)) => {
                        let fate = self.add_extra(Some(field.slot), *sort, Entry { key, value: *value }, place);
                        self.let_go(field.slot, place, fate)
                    }
                    None => self.add_extra(None, *sort, Entry { key, value: *value }, place),
                }
            }
            Body::Whole { id, value, hash } => match by_id.get(*id) {
                Some(field) => match self.shown[field.slot] {
                    Some(shown) if stable_hash(shown) == *hash => {
                        self.slots.values[field.slot] = Slot::Value(*value);
                        None
                    }
                    Some(_) => Some(CarryFate::Superseded),
                    None => Some(CarryFate::Gone),
                },
                None => Some(CarryFate::UnknownField),
            },
            Body::Implicit { id } => (!by_id.contains_key(*id)).then_some(CarryFate::UnknownField),
            Body::Link(link) => self.set_link(link),
            Body::Derived { .. } => None,
            Body::Absent { .. } | Body::Null | Body::Items(_) => Some(CarryFate::Gone),
        }
    }

    fn set_link(&mut self, link: &LinkEntry<'a>) -> Option<CarryFate> {
        let LinkEntry { key, guard, gone, kept } = link;
        if !self.links.insert(key) {
            return Some(CarryFate::Superseded);
        }
        let gone = gone.iter().filter_map(|id| Some(self.scope.layout.by_id.get(*id)?.slot));
        let gone: Vec<usize> = gone.filter(|slot| self.is_computed(*slot)).collect();
        self.slots.guards.extend(guard.map(|value| Entry { key, value }));
        self.slots.entries.extend(kept.map(|value| Entry { key, value }));
        self.slots.gone.extend(gone);
        None
    }

    /// Says that a field is absent although it could be derived, if nothing else was said meanwhile.
    pub(crate) fn say_absent(&mut self, id: &str, place: &Place<'a>) -> Option<CarryFate> {
        let Some(field) = self.scope.layout.by_id.get(id) else { return Some(CarryFate::UnknownField) };
        let fate = self.fate(field.slot, place);
        let slot = &mut self.slots.values[field.slot];
        match (fate, &slot) {
            (Some(fate), _) => Some(fate),
            (None, Slot::Absent) => {
                *slot = Slot::Tombstone;
                None
            }
            (None, _) => Some(CarryFate::Superseded),
        }
    }

    /// Whether the document still shows a derived field as it was shown.
    pub(crate) fn is_merely_shown(
        &self,
        lenses: &'a Lenses,
        slot: usize,
        before: Option<u64>,
        arena: &'a Arena,
    ) -> bool {
        let Some(field) = self.places.field(self.view, slot) else { return false };
        let is_same = match (self.slots.values[slot], self.shown[slot], before) {
            (Slot::Object(_), _, None) => true,
            (Slot::Value(_), Some(shown), Some(before)) => look(lenses, self.scope, field, shown, arena) == before,
            _ => false,
        };
        is_same && self.scope.computed.derivable.contains(&slot)
    }

    fn set(&mut self, slot: usize, value: Value<'a>, place: &Place<'a>) -> Option<CarryFate> {
        if let Some(fate) = self.fate(slot, place) {
            return Some(fate);
        }
        let new = self.slot_for(slot, value);
        match (self.slots.values[slot], new) {
            (Slot::Absent, _) => {}
            (Slot::Object(_), Slot::Object(_)) => return None,
            // It was shown for what is in it, which may have changed: that is for the end.
            (Slot::Object(_), Slot::Value(Value::Null)) if place.within == Within::Nearest => return None,
            _ => return Some(CarryFate::Superseded),
        }
        if self.could_be_said(slot, new) {
            return Some(CarryFate::Superseded);
        }
        self.slots.values[slot] = new;
        self.set_hidden_above(slot, place);
        None
    }

    fn add_extra(
        &mut self,
        slot: Option<usize>,
        sort: ExtraSort,
        entry: Entry<'a>,
        place: &Place<'a>,
    ) -> Option<CarryFate> {
        let layout = &self.scope.layout;
        let object = slot.map_or(Some(0), |slot| layout.object_of[slot]).map(|object| &layout.objects[object]);
        if sort == ExtraSort::Foreign && object.is_none() {
            return Some(CarryFate::UnknownField);
        }
        if let Some(slot) = slot
            && !matches!(self.slots.values[slot], Slot::Object(_))
        {
            let is_gone = object.is_none() || !self.slots.values[slot].is_absent();
            if is_gone || self.could_be_said(slot, Slot::Object(None)) {
                return Some(CarryFate::Gone);
            }
            if let Some(fate) = self.fate(slot, place) {
                return Some(fate);
            }
            self.slots.set_object(slot);
            self.set_hidden_above(slot, place);
        }
        let could_be_said = sort == ExtraSort::Unknown && self.could_say_unknown(slot, entry.key);
        if could_be_said || !self.extras.insert((slot, sort, entry.key)) {
            return Some(CarryFate::Superseded);
        }
        sort.of(self.slots.extras_mut(slot)).push(entry);
        None
    }

    /// What became of something that was not shown by what a client did to what was shown around it; nothing if it stays.
    fn fate(&self, slot: usize, place: &Place<'a>) -> Option<CarryFate> {
        for union in self.places.unions_of(self.scope, slot) {
            let Some(shown) = self.object_shown(union.slot) else { continue };
            let now = union.beside(self.scope, self.view, shown);
            let before = place.beside.iter().find(|before| before.union == now.union);
            if !before.unwrap_or(&Beside::default()).is_kept_by(&now) {
                return Some(CarryFate::Superseded);
            }
        }
        let can_be_said = self.view.says[slot];
        let stays = !can_be_said && self.places.is_moved(self.scope, slot) || self.is_around(slot, place.within);
        (!stays).then_some(CarryFate::Gone)
    }

    /// Whether the objects that were shown above a field still are.
    fn is_around(&self, slot: usize, within: Within<'a>) -> bool {
        let mut path: Vec<usize> = self.places.path(self.scope, slot).collect();
        path.reverse();
        let is_object = |slot: &usize| matches!(self.shown[*slot], Some(Value::Object(_)));
        let Some(first) = path.iter().position(|slot| !is_object(slot)) else { return true };
        let count_to =
            |id: &str| path.iter().position(|slot| *self.scope.layout.texts[*slot] == *id).map_or(0, |at| at + 1);
        let were_shown = match within {
            Within::Nearest => path.len(),
            Within::Object(id) | Within::Behind(id, _) => count_to(id),
            Within::Nothing => 0,
        };
        let missing = path[first];
        match (self.shown[missing], within) {
            (Some(value), Within::Behind(id, _)) => first + 1 == were_shown && Within::behind(id, value) == within,
            (Some(_), _) => false,
            (None, _) if first < were_shown => false,
            // Something else was in the place of an object, which there is now. What the version can say and that object
            // does not hold is gone.
            (None, Within::Behind(..)) if self.view.says[slot] => {
                let field = self.places.field(self.view, missing);
                !field.is_some_and(|field| shows(field, &self.before))
            }
            (None, _) => true,
        }
    }

    /// Marks the objects below one that a client wrote empty, where the version would not show them otherwise. Those inside
    /// come first: an object is shown for them.
    pub(crate) fn mark_empty(&mut self, object: &ViewObject) {
        for (_, field) in &object.fields.list {
            let Some(below) = field.object.filter(|_| matches!(self.shown[field.slot], Some(Value::Object(_)))) else {
                continue;
            };
            self.mark_empty(&self.view.objects[below]);
            let is_object = matches!(self.slots.values[field.slot], Slot::Object(_));
            if field.refuses_empty && is_object && !shows(field, &self.slots) {
                self.slots.mark_written_empty(field.slot);
            }
        }
    }

    /// Whether a document would have said something about a field, if it held this.
    fn could_be_said(&self, slot: usize, value: Slot<'a>) -> bool {
        let Some(field) = self.places.field(self.view, slot) else { return false };
        if field.refuses_empty && matches!(value, Slot::Object(_)) {
            return false;
        }
        let is_null = matches!(value, Slot::Value(Value::Null));
        let is_other = |slot: usize| self.shown[slot].is_some_and(|value| value.as_object().is_none());
        (field.nullable || !is_null) && !self.places.path(self.scope, slot).any(is_other)
    }

    /// Whether a document would have said something about a field that nobody declares, if the object held it.
    fn could_say_unknown(&self, slot: Option<usize>, key: &str) -> bool {
        let object = match slot {
            None => Some(0),
            Some(slot) => self.places.field(self.view, slot).and_then(|field| field.object),
        };
        object.is_some_and(|object| self.object_shown(slot).is_some() && self.view.objects[object].shows_unknown(key))
    }

    /// Says that the objects are there which an entry speaks for.
    fn set_hidden_above(&mut self, slot: usize, place: &Place<'a>) {
        for above in self.spoken_for(slot, place).into_iter().skip(1) {
            if self.slots.values[above].is_absent() {
                self.slots.set_object(above);
            }
        }
    }

    /// What a client took away is not computed again of what it left, nor are the objects that its entry spoke for.
    fn let_go(&mut self, slot: usize, place: &Place<'a>, fate: Option<CarryFate>) -> Option<CarryFate> {
        if fate.is_some() {
            let is_absent = |slot: &usize| matches!(self.slots.values[*slot], Slot::Absent);
            let gone = self.spoken_for(slot, place).into_iter();
            let gone = gone.filter(|slot| is_absent(slot) && self.is_computed(*slot));
            let gone: Vec<usize> = gone.collect();
            self.slots.gone.extend(gone);
        }
        fate
    }

    /// Whether a field is computed, so that it means something to say that it is absent.
    fn is_computed(&self, slot: usize) -> bool {
        self.scope.computed.all.links.iter().any(|way| way.slots.contains(&slot))
    }

    /// A field that is carried, and the objects above it of which its entry tells what becomes of them: those that the
    /// version cannot say.
    fn spoken_for(&self, slot: usize, place: &Place<'a>) -> Vec<usize> {
        let is_shown = |above: usize| self.shown[above].is_some() || self.was_shown(slot, above, place.within);
        let above = self.places.upwards(slot).skip(1);
        let above = above.take_while(|above| self.places.is_hidden(self.view, *above, is_shown));
        std::iter::once(slot).chain(above.filter(|_| !place.alone)).collect()
    }

    /// Whether an object above a field was shown when an entry about the field was written.
    fn was_shown(&self, slot: usize, above: usize, within: Within<'a>) -> bool {
        let mut shown_from = self.places.path(self.scope, slot);
        match within {
            Within::Nearest => true,
            Within::Nothing => false,
            Within::Object(id) | Within::Behind(id, _) => {
                // The path leads upwards: the lowest object that was shown comes before all others that were.
                shown_from
                    .find(|at| *self.scope.layout.texts[*at] == *id || *at == above)
                    .is_some_and(|at| *self.scope.layout.texts[at] == *id)
            }
        }
    }

    /// Takes back that an object is there which nobody wrote, if it is shown all the same.
    pub(crate) fn take_back(&mut self, body: &Body<'a>) {
        let (id, instead) = match body {
            Body::Implicit { id } => (id, Slot::Absent),
            Body::Field { id, value: value @ Value::Null, place } if place.within == Within::Nearest => {
                (id, Slot::Value(*value))
            }
            _ => return,
        };
        let Some(slot) = self.scope.layout.by_id.get(*id).map(|field| field.slot) else { return };
        let Some(field) = self.places.field(self.view, slot) else { return };
        if let Slot::Object(None) = self.slots.values[slot] {
            self.slots.values[slot] = instead;
            if field.nullable && !instead.is_absent() || !shows(field, &self.slots) {
                self.slots.values[slot] = Slot::Object(None);
            }
        }
    }

    /// What the document shows of an object; no slot is the scope's own.
    fn object_shown(&self, slot: Option<usize>) -> Option<&'a [Entry<'a>]> {
        slot.map_or(Some(self.document), |slot| self.shown[slot]?.as_object())
    }

    /// What a slot holds for a value that is carried.
    fn slot_for(&self, slot: usize, value: Value<'a>) -> Slot<'a> {
        match (self.scope.layout.object_of[slot], value) {
            (Some(_), Value::Object(_)) => Slot::Object(None),
            (_, value) => Slot::Value(value),
        }
    }
}
