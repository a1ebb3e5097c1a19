//! Documents that others stored: keys that look like ours are their writer's.

use wheelwright_document::{Arena, Entry, Value};

use super::{
    Lenses,
    plan::{Content, Layout, StoredObject},
    state::{escaped, is_like_bag},
};

impl Lenses {
    /// A document of the hub's version that was stored as it is, as it would be stored here: every key stays, and what could
    /// be taken for a bag is escaped.
    pub fn escaped<'a>(&'a self, document: Value<'a>, arena: &'a Arena) -> Value<'a> {
        let Value::Object(entries) = document else { return document };
        if !has_key_like_bag(document) {
            return document;
        }
        let (outside, inside) = self.split(entries, arena);
        let inside = self.escaped_scope(0, inside, arena);
        let entries: Vec<_> = outside.iter().chain(inside).copied().collect();
        Value::Object(arena.slice(&entries))
    }

    fn escaped_scope<'a>(&'a self, scope: usize, entries: &'a [Entry<'a>], arena: &'a Arena) -> &'a [Entry<'a>] {
        let layout = &self.scopes[scope].layout;
        self.escaped_object(scope, layout, &layout.objects[0], entries, arena)
    }

    fn escaped_object<'a>(
        &'a self,
        scope: usize,
        layout: &'a Layout,
        object: &'a StoredObject,
        entries: &'a [Entry<'a>],
        arena: &'a Arena,
    ) -> &'a [Entry<'a>] {
        let mut cursor = 0;
        arena.slice_from(entries.iter().map(|entry| {
            let key = escaped(entry.key, arena);
            let field = object.fields.position(key, &mut cursor).map(|position| &object.fields.list[position].1);
            let value = match (field, entry.value) {
                (Some(field), value) => match (field.object, value) {
                    (Some(below), Value::Object(entries)) => {
                        let below = &layout.objects[below];
                        Value::Object(self.escaped_object(scope, layout, below, entries, arena))
                    }
                    (_, value) => self.escaped_content(&self.scopes[scope].slots[field.slot].content, value, arena),
                },
                // Nobody looks into it for a bag.
                (None, value) => value,
            };
            Entry { key, value }
        }))
    }

    fn escaped_content<'a>(&'a self, content: &'a Content, value: Value<'a>, arena: &'a Arena) -> Value<'a> {
        content.map(value, arena, &mut |scope, entries| self.escaped_scope(scope, entries, arena))
    }
}

/// Whether there is anything to escape; mostly there is not, and a look is all that it takes.
fn has_key_like_bag(value: Value<'_>) -> bool {
    match value {
        Value::Object(entries) => entries.iter().any(|entry| is_like_bag(entry.key) || has_key_like_bag(entry.value)),
        Value::Array(items) => items.iter().any(|item| has_key_like_bag(*item)),
        _ => false,
    }
}
