//! Filling documents of a version: the frozen defaults that every reader sees, and which API defaults an update gets.

use wheelwright_document::{Arena, Entry, ItemOrigins, Value};

use super::{
    Lenses,
    matching::{match_items_keeping, match_known},
    plan::{Content, Level, Scope, View, ViewObject},
    same::{by_key, find},
};
use crate::VersionIndex;

impl Lenses {
    /// A document of a version with the frozen defaults of what is absent, wherever the object is there that it belongs to.
    /// Every reader does this: of what is stored, and of what other systems answer.
    pub fn fill<'a>(&'a self, version: VersionIndex, document: Value<'a>, arena: &'a Arena) -> Value<'a> {
        let Value::Object(entries) = document else { return document };
        if !self.fills[version.position()] {
            return document;
        }
        Value::Object(Fill { lenses: self, version, arena }.scope(0, entries))
    }

    /// The same for a part of a document, which is of some content.
    pub(crate) fn fill_content<'a>(
        &'a self,
        version: VersionIndex,
        content: &'a Content,
        value: Value<'a>,
        arena: &'a Arena,
    ) -> Value<'a> {
        Fill { lenses: self, version, arena }.content(content, value)
    }

    /// A document that was filled with API defaults, without those that reading and writing back would add: an update gets
    /// them only for fields that the version showed, and in objects that are new. `written` is the document as it was sent,
    /// `shown` what the version showed before, and `origins` the item provenance of `written`, where a JSON patch gives it.
    pub fn withdraw<'a>(
        &'a self,
        version: VersionIndex,
        defaulted: Value<'a>,
        written: Value<'a>,
        shown: Value<'a>,
        origins: Option<&ItemOrigins<'_>>,
        arena: &'a Arena,
    ) -> Value<'a> {
        match (defaulted, written) {
            (Value::Object(defaulted), Value::Object(written)) => {
                let withdraw = Withdraw { lenses: self, version, arena };
                Value::Object(withdraw.scope(0, defaulted, written, shown.as_object(), origins))
            }
            (defaulted, _) => defaulted,
        }
    }
}

/// Finds out in which fields of a version something may be filled in; whether there are any.
pub(super) fn find_filled(scopes: &mut [Scope], version: VersionIndex) -> bool {
    fn scope_fills(scopes: &[Scope], version: usize, scope: usize, found: &mut Vec<[usize; 3]>) -> bool {
        scopes[scope].views[version].is_some() && object_fills(scopes, version, scope, 0, found)
    }
    fn object_fills(
        scopes: &[Scope],
        version: usize,
        scope: usize,
        object: usize,
        found: &mut Vec<[usize; 3]>,
    ) -> bool {
        let Some(view) = &scopes[scope].views[version] else { return false };
        let mut fills = false;
        for (position, (_, field)) in view.objects[object].fields.list.iter().enumerate() {
            let inside = match (field.object, scopes[scope].slots[field.slot].content.scope()) {
                (Some(below), _) => object_fills(scopes, version, scope, below, found),
                (None, Some(below)) => scope_fills(scopes, version, below, found),
                (None, None) => false,
            };
            if inside {
                found.push([scope, object, position]);
            }
            fills |= inside || field.frozen.is_some();
        }
        fills
    }
    let mut found = Vec::new();
    let fills = scope_fills(scopes, version.position(), 0, &mut found);
    for [scope, object, position] in found {
        if let Some(view) = &mut scopes[scope].views[version.position()] {
            view.objects[object].fields.list[position].1.fills_inside = true;
        }
    }
    fills
}

struct Fill<'a> {
    lenses: &'a Lenses,
    version: VersionIndex,
    arena: &'a Arena,
}

impl<'a> Fill<'a> {
    fn scope(&self, scope: usize, entries: &'a [Entry<'a>]) -> &'a [Entry<'a>] {
        let scope = &self.lenses.scopes[scope];
        match &scope.views[self.version.position()] {
            Some(view) => self.object(scope, view, &view.objects[0], entries),
            None => entries,
        }
    }

    fn object(
        &self,
        scope: &'a Scope,
        view: &'a View,
        object: &'a ViewObject,
        entries: &'a [Entry<'a>],
    ) -> &'a [Entry<'a>] {
        let mut seen = vec![false; object.fields.list.len()];
        let mut cursor = 0;
        let mut filled: Vec<Entry<'a>> = Vec::with_capacity(entries.len());
        for Entry { key, value } in entries.iter().copied() {
            let Some(position) = object.fields.position(key, &mut cursor) else {
                filled.push(Entry { key, value });
                continue;
            };
            seen[position] = true;
            let field = &object.fields.list[position].1;
            let value = match (field.object, value) {
                _ if !field.fills_inside => value,
                (Some(object), Value::Object(entries)) => {
                    Value::Object(self.object(scope, view, &view.objects[object], entries))
                }
                (None, value) => self.content(&scope.slots[field.slot].content, value),
                (_, value) => value,
            };
            filled.push(Entry { key, value });
        }
        for ((name, field), _) in object.fields.list.iter().zip(seen).filter(|(_, seen)| !seen) {
            if let Some(frozen) = &field.frozen {
                filled.push(Entry { key: name, value: frozen.share(self.arena) });
            }
        }
        self.arena.slice(&filled)
    }

    fn content(&self, content: &'a Content, value: Value<'a>) -> Value<'a> {
        match (content, value) {
            (Content::Scope(scope), Value::Object(entries)) => Value::Object(self.scope(*scope, entries)),
            (Content::List(element), Value::Array(items)) => {
                Value::Array(self.arena.slice_from(items.iter().map(|item| self.content(element, *item))))
            }
            (Content::Map(element), Value::Object(entries)) => Value::Object(self.arena.slice_from(
                entries.iter().map(|entry| Entry { key: entry.key, value: self.content(element, entry.value) }),
            )),
            (_, value) => value,
        }
    }
}

struct Withdraw<'a> {
    lenses: &'a Lenses,
    version: VersionIndex,
    arena: &'a Arena,
}

impl<'a> Withdraw<'a> {
    fn scope(
        &self,
        scope: usize,
        defaulted: &'a [Entry<'a>],
        written: &'a [Entry<'a>],
        shown: Option<&'a [Entry<'a>]>,
        origins: Option<&ItemOrigins<'_>>,
    ) -> &'a [Entry<'a>] {
        let scope = &self.lenses.scopes[scope];
        match (&scope.views[self.version.position()], shown) {
            (Some(view), Some(shown)) => self.object(scope, view, &view.objects[0], defaulted, written, shown, origins),
            _ => defaulted,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "an object is these, and a struct for them would be made once")]
    fn object(
        &self,
        scope: &'a Scope,
        view: &'a View,
        object: &'a ViewObject,
        defaulted: &'a [Entry<'a>],
        written: &'a [Entry<'a>],
        shown: &'a [Entry<'a>],
        origins: Option<&ItemOrigins<'_>>,
    ) -> &'a [Entry<'a>] {
        let (written, shown) = (by_key(written), by_key(shown));
        let mut cursor = 0;
        let mut kept: Vec<Entry<'a>> = Vec::with_capacity(defaulted.len());
        for Entry { key, value } in defaulted.iter().copied() {
            let position = object.fields.position(key, &mut cursor);
            let (written, shown) = (find(&written, key), find(&shown, key));
            // Only what the version declares can have been filled in.
            let value = match (position, written, shown) {
                (Some(_), None, None) => continue,
                (Some(position), Some(written), Some(shown)) => {
                    let field = &object.fields.list[position].1;
                    let origins = origins.and_then(|origins| origins.field(key));
                    match (field.object, value, written, shown) {
                        (Some(object), Value::Object(value), Value::Object(written), Value::Object(shown)) => {
                            let object = &view.objects[object];
                            Value::Object(self.object(scope, view, object, value, written, shown, origins))
                        }
                        (None, value, written, shown) => self.content(
                            &scope.slots[field.slot].content,
                            &field.levels,
                            value,
                            written,
                            shown,
                            origins,
                        ),
                        (_, value, _, _) => value,
                    }
                }
                (_, _, _) => value,
            };
            kept.push(Entry { key, value });
        }
        self.arena.slice(&kept)
    }

    fn content(
        &self,
        content: &'a Content,
        levels: &'a [Level],
        defaulted: Value<'a>,
        written: Value<'a>,
        shown: Value<'a>,
        origins: Option<&ItemOrigins<'_>>,
    ) -> Value<'a> {
        let below = levels.get(1..).unwrap_or_default();
        match (content, defaulted, written, shown) {
            (Content::Scope(scope), Value::Object(defaulted), Value::Object(written), Value::Object(shown)) => {
                Value::Object(self.scope(*scope, defaulted, written, Some(shown), origins))
            }
            (Content::List(element), Value::Array(defaulted), Value::Array(written), Value::Array(shown))
                if defaulted.len() == written.len() =>
            {
                let (keys, defaults) = Level::identify(levels);
                let known = || match_known(defaulted, shown, keys, origins?.items()?);
                let matched = known().unwrap_or_else(|| match_either(written, defaulted, shown, (keys, defaults)));
                let items = defaulted.iter().zip(written).zip(matched).enumerate();
                let items = items.map(|(position, ((defaulted, written), old))| match old {
                    Some(old) => {
                        let origins = origins.and_then(|origins| origins.item_of(position, Some(old)));
                        self.content(element, below, *defaulted, *written, shown[old], origins)
                    }
                    None => *defaulted,
                });
                Value::Array(self.arena.slice(&items.collect::<Vec<_>>()))
            }
            (Content::Map(element), Value::Object(defaulted), Value::Object(written), Value::Object(shown)) => {
                let (written, shown) = (by_key(written), by_key(shown));
                Value::Object(self.arena.slice_from(defaulted.iter().map(|entry| {
                    let value = match (find(&written, entry.key), find(&shown, entry.key)) {
                        (Some(written), Some(shown)) => {
                            let origins = origins.and_then(|origins| origins.field(entry.key));
                            self.content(element, below, entry.value, written, shown, origins)
                        }
                        _ => entry.value,
                    };
                    Entry { key: entry.key, value }
                })))
            }
            (_, defaulted, _, _) => defaulted,
        }
    }
}

/// Which old item is which of those that were written: by what was sent, else, since keys may have defaults, by what
/// became of it.
fn match_either(
    written: &[Value<'_>],
    defaulted: &[Value<'_>],
    shown: &[Value<'_>],
    (keys, defaults): (&[Box<str>], &[u32]),
) -> Vec<Option<usize>> {
    let matched_by = |items| match_items_keeping(items, shown, (keys, defaults), |_| 0);
    let mut matched = matched_by(written);
    if !keys.is_empty() && matched.contains(&None) {
        let mut is_taken = vec![false; shown.len()];
        matched.iter().flatten().for_each(|position| is_taken[*position] = true);
        for (position, by_default) in matched_by(defaulted).into_iter().enumerate() {
            if matched[position].is_none() {
                matched[position] = by_default.filter(|old| !is_taken[*old]);
            }
        }
    }
    matched
}
