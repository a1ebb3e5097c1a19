//! What is stored as a version shows it: an item or a value of a map that is, as most are, is passed on as it is.
//!
//! Otherwise every scope is read into slots and written from them, which costs several times as much.

use wheelwright_document::{Arena, Entry, Value};

use super::plan::{Alike, Content, Layout, Level, Scope, StoredField, StoredObject, View, ViewObject};
use crate::shared::Shared;

/// Finds out for every view which of its fields are stored under the names by which it shows them, and which fields that are
/// computed need not be looked into when they are written.
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
    for scope in 0..scopes.len() {
        let mut links = std::mem::take(&mut scopes[scope].computed.links);
        for side in links.iter_mut().flat_map(|link| [&mut link.from, &mut link.to]) {
            let version = side.version.position();
            for field in &mut side.fields {
                field.passes = passes(scopes, version, &scopes[scope].slots[field.slot].content);
            }
        }
        scopes[scope].computed.links = links;
    }
}

/// Whether all that a version can say of a list or map, or of its items and values, is stored as it is shown.
fn passes(scopes: &[Scope], version: usize, content: &Content) -> bool {
    let scope = match content {
        Content::Opaque => return true,
        Content::Fields => return false,
        Content::List(element) | Content::Map(element) => return passes(scopes, version, element),
        Content::Scope(scope) => &scopes[*scope],
    };
    let Some(view) = scope.views[version].as_ref().filter(|view| view.alike.is_some()) else { return false };
    let mut fields = view.objects.iter().flat_map(|object| &object.fields.list).map(|(_, field)| field);
    let passes = |slot: usize| match &scope.slots[slot].content {
        Content::Fields => true,
        content => passes(scopes, version, content),
    };
    fields.all(|field| field.is_alike && passes(field.slot))
}

/// Marks the fields of an object; whether it can be passed on at all.
fn mark(objects: &mut [ViewObject], object: usize, layout: &Layout, stored: &StoredObject) -> bool {
    let mut last = None;
    for position in 0..objects[object].fields.list.len() {
        let (name, field) = &objects[object].fields.list[position];
        let (slot, below, is_typed) = (field.slot, field.object, !field.may_be_anything);
        let is_stored = |(stored, field): &(Box<str>, StoredField)| stored == name && field.slot == slot;
        let Some(at) = stored.fields.list.iter().position(is_stored) else { continue };
        // What is passed on is in the order of both.
        if last.is_some_and(|last| at < last) {
            return false;
        }
        last = Some(at);
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
    /// A scope as it is on the other side, if it is stored as it is shown; what is in lists and maps is up to `content`. Of
    /// those that are shown, none have to be filled in.
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
                    (Some(below), Value::Object(entries)) => self.has_alike(&self.objects[below], entries),
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
