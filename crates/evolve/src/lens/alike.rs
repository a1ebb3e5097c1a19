//! What is stored as a version shows it: a document, an item or a value of a map that is, as most are, is passed on as it is.
//!
//! Otherwise a scope is read into slots and written from them, which costs several times as much.

#[cfg(test)]
mod tests;

use wheelwright_document::{Arena, Entry, Value};

use super::{
    computed::SidePlan,
    plan::{Alike, Content, Layout, Level, Scope, StoredObject, View, ViewObject},
};
use crate::{Direction, link::Computations, shared::Shared};

/// Finds out for every view which of its fields are stored under the names by which it shows them.
pub(super) fn find_alike(scopes: &mut [Scope]) {
    for scope in scopes.iter_mut().filter(|scope| scope.computed.is_empty()) {
        for view in scope.views.iter_mut().flatten() {
            let is_alike = mark(&mut view.objects, 0, &scope.layout, &scope.layout.objects[0]);
            let fields = || view.objects.iter().flat_map(|object| &object.fields.list).map(|(_, field)| field);
            let is_flat = |slot: usize| matches!(scope.slots[slot].content, Content::Opaque | Content::Fields);
            view.alike = is_alike.then(|| Alike {
                fills: fields().any(|field| field.frozen.is_some()),
                is_flat: fields().all(|field| is_flat(field.slot)),
            });
        }
    }
}

/// Finds the lists of one object that are stored as they are computed, without another look: all that the object can hold has
/// the same place and the same order in the stored item.
pub(super) fn find_passing(scopes: &mut [Scope], computations: &Computations) {
    for scope in 0..scopes.len() {
        let mut links = std::mem::take(&mut scopes[scope].computed.links);
        for link in &mut links {
            let converter = &computations.links[link.link].converter;
            for direction in [Direction::Up, Direction::Down] {
                let (near, far) = link.sides(direction);
                let is_passed =
                    converter.makes_one_item(direction) && passes(scopes, scope, near, far).unwrap_or(false);
                let far = if direction == Direction::Up { &mut link.to } else { &mut link.from };
                far.fields[0].passes = is_passed;
            }
        }
        scopes[scope].computed.links = links;
    }
}

fn passes(scopes: &[Scope], scope: usize, near: &SidePlan, far: &SidePlan) -> Option<bool> {
    let view = scopes[scope].views[near.version.position()].as_ref()?;
    let (at, position) = near.fields[0].at;
    let object = view.objects[at].fields.list[position].1.object?;
    let item = &scopes[scopes[scope].slots[far.fields[0].slot].content.scope()?];
    let item = item.views[far.version.position()].as_ref()?;
    let is_flat = item.alike.as_ref().is_some_and(|alike| alike.is_flat);
    Some(is_flat && are_in_order((view, object), (item, 0)))
}

/// Whether the fields of an object that another one has, too, are in the same order there, and stored as they are shown.
fn are_in_order((view, object): (&View, usize), (other, another): (&View, usize)) -> bool {
    let (mut cursor, mut next) = (0, 0);
    let others = &other.objects[another].fields;
    view.objects[object].fields.list.iter().all(|(name, field)| {
        let Some(at) = others.position(name, &mut cursor) else { return true };
        let counterpart = &others.list[at].1;
        let is_next = at >= next && counterpart.is_alike;
        next = at + 1;
        is_next
            && match (field.object, counterpart.object) {
                (Some(below), Some(another)) => are_in_order((view, below), (other, another)),
                (below, another) => below.is_none() && another.is_none(),
            }
    })
}

/// Marks the fields of an object; whether it can be passed on at all.
fn mark(objects: &mut [ViewObject], object: usize, layout: &Layout, stored: &StoredObject) -> bool {
    let (mut cursor, mut next) = (0, 0);
    for position in 0..objects[object].fields.list.len() {
        let (name, field) = &objects[object].fields.list[position];
        let (slot, below, is_typed) = (field.slot, field.object, !field.may_be_anything);
        // The same name may be another field's.
        let at = stored.fields.position(name, &mut cursor).filter(|at| stored.fields.list[*at].1.slot == slot);
        let Some(at) = at else { continue };
        // What is passed on is in the order of both.
        if at < next {
            return false;
        }
        next = at + 1;
        let is_alike = match (below, layout.object_of[slot]) {
            (Some(below), Some(stored)) => mark(objects, below, layout, &layout.objects[stored]),
            (below, _) => below.is_none(),
        };
        objects[object].fields.list[position].1.is_alike = is_alike && is_typed;
    }
    let keeps_unknown = objects[object].keeps_unknown || stored.keeps_unknown;
    !keeps_unknown && !stored.is_hidden && stored.adopted.list.is_empty()
}

impl View {
    /// A scope as it is on the other side, if it is stored as it is shown; what is in lists and maps is up to `content`. Nothing
    /// is filled in: a reader may have to look at [`Alike::fills`] first.
    pub(crate) fn passed<'a>(
        &'a self,
        scope: &'a Scope,
        entries: &'a [Entry<'a>],
        arena: &'a Arena,
        content: impl FnMut(&'a Content, &'a [Level], Value<'a>) -> Value<'a>,
    ) -> Option<&'a [Entry<'a>]> {
        let (alike, own) = (self.alike.as_ref()?, &self.objects[0]);
        if !self.has_alike(own, entries) {
            return None;
        }
        Some(if alike.is_flat { entries } else { self.pass(scope, own, entries, arena, &mut { content }) })
    }

    /// Whether all that an object holds is stored as it is shown. Lists and maps are not looked into, so that every value is
    /// looked at once.
    fn has_alike(&self, object: &ViewObject, entries: &[Entry<'_>]) -> bool {
        let mut next = 0;
        entries.iter().all(|entry| {
            let after = next;
            let Some(position) = object.fields.position(entry.key, &mut next) else { return false };
            let field = &object.fields.list[position].1;
            position >= after
                && field.is_alike
                && (field.nullable || !entry.value.is_null())
                && match (field.object, entry.value) {
                    (Some(_), Value::Object([])) if field.refuses_empty => false,
                    (Some(below), Value::Object(entries)) => self.has_alike(&self.objects[below], entries),
                    // In the place of an object it may hold what pruning takes away.
                    (Some(_), Value::Array(_)) => false,
                    _ => true,
                }
        })
    }

    fn pass<'a>(
        &'a self,
        scope: &'a Scope,
        object: &'a ViewObject,
        entries: &'a [Entry<'a>],
        arena: &'a Arena,
        content: &mut dyn FnMut(&'a Content, &'a [Level], Value<'a>) -> Value<'a>,
    ) -> &'a [Entry<'a>] {
        let mut shared = Shared::new(entries);
        let mut cursor = 0;
        for entry in entries {
            let field = object.fields.find(entry.key, &mut cursor);
            shared.push(match (field, field.and_then(|field| field.object), entry.value) {
                (_, Some(below), Value::Object(entries)) => {
                    Value::Object(self.pass(scope, &self.objects[below], entries, arena, content))
                }
                (Some(field), None, value) => content(&scope.slots[field.slot].content, &field.levels, value),
                (_, _, value) => value,
            });
        }
        shared.finish(arena)
    }
}
