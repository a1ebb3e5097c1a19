//! `put`: what is stored once a version has been written.

use wheelwright_document::{Arena, Entry, ItemOrigins, Value};

use super::{
    Lenses,
    census::Tally,
    get::{Get, may_be_null, shows},
    matching::{Alignment, match_items_keeping, match_known},
    plan::{Content, Level, Reset, Scope, View, ViewField, ViewObject},
    removals::{Removals, UncertainRemoval},
    resolve::{Before, Resolve},
    same::{by_key, equal_option, find, same, same_option},
    state::{Slot, Slots, store},
    trouble::Troubles,
};
use crate::{VersionIndex, shared::Shared};

/// Changes what is stored wherever a document differs from what the version showed.
pub(crate) struct Put<'a> {
    lenses: &'a Lenses,
    pub(crate) version: VersionIndex,
    pub(crate) arena: &'a Arena,
    /// Whether every scope is looked at, unchanged ones too: some fields go back to their defaults, or are computed of other
    /// metadata.
    pub(crate) looks_everywhere: bool,
    /// The path of a field that would have gone back, and refuses the write.
    pub(crate) refused: Option<&'a str>,
    /// What the version cannot say stays, whatever the policies: no client writes, a spelling follows another.
    preserves: bool,
    /// The metadata of the document, and of the one that it replaces.
    pub(crate) metadata: (Option<Value<'a>>, Option<Value<'a>>),
    /// Who wants to know what could not be computed.
    pub(crate) troubles: Troubles,
    /// Which old item is which of a list that is computed, where that is known.
    pub(crate) aligned: Option<Alignment>,
    /// The item provenance of the value that is being written, where a JSON patch named positions in it.
    pub(crate) origins: Option<&'a ItemOrigins<'a>>,
    /// Removed items that the client could not distinguish from others.
    pub(crate) removals: Removals<'a>,
    /// The same, once the write is done.
    pub(crate) removed: Vec<UncertainRemoval>,
    /// What the laws want to know about a write.
    pub(crate) tally: Option<Tally>,
    #[expect(clippy::vec_box, reason = "every scope takes one and puts it back, and slots are large to move")]
    pool: Vec<Box<Slots<'a>>>,
}

/// A value as it is stored, and what the version shows of it.
#[derive(Clone, Copy)]
struct Old<'a> {
    stored: Value<'a>,
    shown: Value<'a>,
}

impl<'a> Put<'a> {
    pub(crate) fn new(lenses: &'a Lenses, version: VersionIndex, arena: &'a Arena, tally: Option<Tally>) -> Self {
        Self {
            lenses,
            version,
            arena,
            looks_everywhere: lenses.resets[version.position()],
            refused: None,
            preserves: false,
            metadata: (None, None),
            troubles: Troubles::default(),
            aligned: None,
            origins: None,
            removals: Removals::default(),
            removed: Vec::new(),
            tally,
            pool: Vec::new(),
        }
    }

    /// A write of what was computed.
    pub(crate) fn computing(
        lenses: &'a Lenses,
        version: VersionIndex,
        arena: &'a Arena,
        metadata: Option<Value<'a>>,
    ) -> Self {
        let metadata = (metadata, metadata);
        Self { looks_everywhere: false, preserves: true, metadata, ..Self::new(lenses, version, arena, None) }
    }

    /// The stored form of a scope that a document of the version describes, with what it replaces: the stored form and
    /// what the version showed of it. Of the scope's own fields, only those are written that `writes` includes.
    pub(crate) fn scope(
        &mut self,
        scope_index: usize,
        new: &'a [Entry<'a>],
        old: Option<(&'a [Entry<'a>], &'a [Entry<'a>])>,
        writes: &dyn Fn(&str) -> bool,
    ) -> &'a [Entry<'a>] {
        let scope = &self.lenses.scopes[scope_index];
        let Some(view) = &scope.views[self.version.position()] else { return new };
        let mut slots = self.pool.pop().unwrap_or_default();
        if let Some((stored, _)) = old {
            self.lenses.load(scope_index, stored, &mut slots, self.arena);
        }
        let computes = !scope.computed.is_empty();
        let (before, placed) = if computes && old.is_some() {
            // What cannot be computed was told when it was read.
            let mut resolve = self.resolve(scope, self.metadata.1, Troubles::default());
            resolve.expand(&scope.computed.all, &mut slots);
            let before = slots.clone();
            (Some(before), resolve.derive(&scope.computed.all, &mut slots))
        } else {
            (None, Vec::new())
        };
        let mut changed = match old {
            Some((_, shown)) => self.object(scope, view, None, &view.objects[0], &mut slots, new, Some(shown), writes),
            None => {
                slots.clear(scope);
                self.new_object(scope, view, None, &view.objects[0], &mut slots, new, writes);
                true
            }
        };
        // What is computed of other metadata may be something else, although nobody wrote anything.
        changed |= computes && self.looks_everywhere;
        changed |= self.reset(scope_index, view, &mut slots, &placed, writes);
        let result = match old {
            Some((stored, _)) if !changed => stored,
            _ => {
                if computes && !(old.is_none() && self.says_all(scope)) {
                    let mut resolve = self.resolve(scope, self.metadata.0, self.troubles.clone());
                    let before = before.as_ref().map(|slots| Before { slots, metadata: self.metadata.1, told: None });
                    resolve.settle(self.version, view, before, &placed, &mut slots);
                    resolve.compress(&mut slots);
                }
                store(scope, &slots, self.arena)
            }
        };
        self.pool.push(slots);
        result
    }

    /// The stored form of an item or value that is new.
    fn new_scope(&mut self, scope_index: usize, new: &'a [Entry<'a>]) -> &'a [Entry<'a>] {
        let scope = &self.lenses.scopes[scope_index];
        let view = scope.views[self.version.position()].as_ref();
        let arena = self.arena;
        let passed = view.and_then(|view| {
            view.passed(scope, new, arena, |content, levels, value| self.content(content, levels, value, None))
        });
        passed.unwrap_or_else(|| self.scope(scope_index, new, None, &|_| true))
    }

    /// Writes a new document into the empty slots of its own scope; whether they tell all that storing them would.
    pub(crate) fn write_new(&mut self, view: &'a View, new: &'a [Entry<'a>], slots: &mut Slots<'a>) -> bool {
        let scope = &self.lenses.scopes[0];
        self.new_object(scope, view, None, &view.objects[0], slots, new, &|_| true);
        !slots.has_extras() && view.resets.is_empty()
    }

    /// A new document in the shape of the hub says all that is stored: the rest is computed when it is read, unless
    /// somebody wants to know now whether it can be.
    pub(crate) fn says_all(&self, scope: &Scope) -> bool {
        self.version == self.lenses.hub() && scope.computed.is_told_by_hub && !self.troubles.are_heard()
    }

    pub(crate) fn resolve(&self, scope: &'a Scope, metadata: Option<Value<'a>>, troubles: Troubles) -> Resolve<'a> {
        Resolve::new(self.lenses, scope, metadata, troubles, self.arena)
    }

    /// Writes one field in the place of what the version showed of it.
    pub(crate) fn write_field(
        &mut self,
        scope: &'a Scope,
        view: &'a View,
        field: &'a ViewField,
        slots: &mut Slots<'a>,
        new: Option<Value<'a>>,
        shown: Option<Value<'a>>,
    ) {
        self.field(scope, view, field, slots, new, shown, shown.is_none());
    }

    /// Writes the fields of an object of a scope in which nothing was there.
    #[expect(clippy::too_many_arguments, reason = "an object is these, and a struct for them would be made once")]
    fn new_object(
        &mut self,
        scope: &'a Scope,
        view: &'a View,
        slot: Option<usize>,
        object: &'a ViewObject,
        slots: &mut Slots<'a>,
        new: &'a [Entry<'a>],
        writes: &dyn Fn(&str) -> bool,
    ) {
        let mut unknown = Vec::new();
        let mut cursor = 0;
        for entry in new.iter().filter(|entry| writes(entry.key)) {
            let Some(position) = object.fields.position(entry.key, &mut cursor) else {
                unknown.push(*entry);
                continue;
            };
            self.new_field(scope, view, &object.fields.list[position].1, slots, entry.value);
        }
        if object.keeps_unknown {
            slots.set_unknown(slot, unknown);
        }
    }

    /// Writes one field of which nothing was there. Members of unions that the version cannot say stay.
    #[inline]
    pub(crate) fn new_field(
        &mut self,
        scope: &'a Scope,
        view: &'a View,
        field: &'a ViewField,
        slots: &mut Slots<'a>,
        new: Value<'a>,
    ) {
        slots.values[field.slot] = match (field.object, new) {
            (Some(object), Value::Object(new)) => {
                self.new_object(scope, view, Some(field.slot), &view.objects[object], slots, new, &|_| true);
                slots.set_object(field.slot);
                self.mark_if_empty(field, slots);
                return;
            }
            (Some(_), value) => Slot::Value(value),
            (None, value) => Slot::Value(self.content(&scope.slots[field.slot].content, &field.levels, value, None)),
        };
    }

    /// Writes the fields of an object; whether anything changed. Without `shown` the object is new, and every field that
    /// the version can say is written, absent ones too.
    #[expect(clippy::too_many_arguments, reason = "an object is these, and a struct for them would be made once")]
    fn object(
        &mut self,
        scope: &'a Scope,
        view: &'a View,
        slot: Option<usize>,
        object: &'a ViewObject,
        slots: &mut Slots<'a>,
        new: &'a [Entry<'a>],
        shown: Option<&'a [Entry<'a>]>,
        writes: &dyn Fn(&str) -> bool,
    ) -> bool {
        let (fields, unknown) = by_field(object, new);
        let old_fields = shown.map(|shown| by_field(object, shown).0).unwrap_or_default();
        let old_field = |position: usize| old_fields.get(position).copied().flatten();
        let mut changed = false;
        let origins = self.origins;
        for (position, (name, field)) in object.fields.list.iter().enumerate() {
            if writes(name) {
                let is_new = shown.is_none();
                self.origins = origins.and_then(|origins| origins.field(name));
                changed |= self.field(scope, view, field, slots, fields[position], old_field(position), is_new);
            }
        }
        self.origins = origins;
        // An object that is new to its writer may have members already, which other versions have elsewhere.
        if let Some(union) = &object.union {
            let is_written = |at: usize| writes(&object.fields.list[at].0);
            let appeared = |at: &usize| is_written(*at) && fields[*at].is_some() && old_field(*at).is_none();
            let told = |at: &usize| is_written(*at) && !equal_option(fields[*at], old_field(*at));
            if union.discriminators.iter().any(told) || union.members.iter().any(appeared) {
                let mut switched = false;
                for hidden in &union.hidden {
                    switched |= slots.remove(*hidden);
                    switched |= slots.remove_stored_below(scope, *hidden, &|slot| !view.says[slot]);
                }
                changed |= switched;
                if let Some(tally) = &mut self.tally {
                    tally.switches += usize::from(switched);
                }
            }
        }
        if object.keeps_unknown {
            changed |= set_unknown(object, slot, slots, unknown, writes);
        }
        changed
    }

    /// Writes a field; whether anything changed.
    #[expect(clippy::too_many_arguments, reason = "a field is these, and a struct for them would be made once")]
    fn field(
        &mut self,
        scope: &'a Scope,
        view: &'a View,
        field: &'a ViewField,
        slots: &mut Slots<'a>,
        new: Option<Value<'a>>,
        shown: Option<Value<'a>>,
        is_new: bool,
    ) -> bool {
        // What is only filled in is not there yet: if it differs, all of it is written.
        let stored = shown.filter(|_| shows(field, slots));
        let is_same = || !is_new && same_option(new, shown);
        let Some(object) = field.object else {
            // What nobody was shown and nobody wrote stays, such as a null that the version cannot say.
            let Some(new) = new else { return shows(field, slots) && slots.remove(field.slot) };
            let old = match (slots.values[field.slot], stored) {
                (Slot::Value(stored), Some(shown)) => Some(Old { stored, shown }),
                _ => None,
            };
            if is_same() && !((self.looks_everywhere || self.origins.is_some()) && old.is_some()) {
                return false;
            }
            let value = self.content(&scope.slots[field.slot].content, &field.levels, new, old);
            slots.values[field.slot] = Slot::Value(value);
            return old.is_none_or(|old| !same(old.stored, value));
        };
        match new {
            None => {
                // A representation goes with the fact, even where its version does not show it.
                let is_there = self.preserves && matches!(slots.values[field.slot], Slot::Object(_));
                (is_there || shows(field, slots)) && self.remove(scope, view, field, slots, !is_new)
            }
            Some(Value::Object(_)) if stored.is_none() && is_same() => false,
            Some(Value::Object(new)) => {
                let shown = stored.and_then(Value::as_object).filter(|_| !is_new);
                let changed =
                    self.object(scope, view, Some(field.slot), &view.objects[object], slots, new, shown, &|_| true);
                // Presence is written where it differs, and where the object would not be shown without it any more.
                if shown.is_none() || changed && !shows(field, slots) {
                    slots.set_object(field.slot);
                }
                let is_written = changed || shown.is_none();
                if is_written {
                    self.mark_if_empty(field, slots);
                }
                is_written
            }
            Some(_) if is_same() => false,
            Some(new) => {
                self.remove(scope, view, field, slots, true);
                slots.values[field.slot] = Slot::Value(new);
                true
            }
        }
    }

    /// Marks an object that a client just wrote empty, where the version would not show it otherwise. What is computed from
    /// another representation no client wrote here.
    #[inline]
    fn mark_if_empty(&self, field: &ViewField, slots: &mut Slots<'a>) {
        if field.refuses_empty && !self.preserves && !shows(field, slots) {
            slots.mark_written_empty(field.slot);
        }
    }

    /// Removes a field with all that the version has below it. What is hidden in it goes with it if the version saw it go.
    fn remove(&self, scope: &Scope, view: &View, field: &ViewField, slots: &mut Slots<'a>, hidden_too: bool) -> bool {
        let mut changed = slots.remove(field.slot);
        if let Some(object) = field.object {
            for (_, below) in &view.objects[object].fields.list {
                changed |= self.remove(scope, view, below, slots, hidden_too);
            }
            changed |= hidden_too && slots.remove_stored_below(scope, field.slot, &|slot| !view.says[slot]);
        }
        changed
    }

    /// The stored form of a value, with what it replaces.
    fn content(
        &mut self,
        content: &'a Content,
        levels: &'a [Level],
        new: Value<'a>,
        old: Option<Old<'a>>,
    ) -> Value<'a> {
        // It is about the field itself, and not about lists in it.
        let aligned = self.aligned.take();
        if let Some(old) = old
            && !self.looks_everywhere
            && self.origins.is_none()
            && same(new, old.shown)
        {
            return old.stored;
        }
        match (content, new) {
            (Content::List(element), Value::Array(items)) => {
                Value::Array(self.list(element, levels, items, old, aligned))
            }
            (Content::Map(element), Value::Object(entries)) => Value::Object(self.map(element, levels, entries, old)),
            (Content::Scope(scope), Value::Object(entries)) => {
                let old = old.and_then(|old| Some((old.stored.as_object()?, old.shown.as_object()?)));
                Value::Object(match old {
                    None => self.new_scope(*scope, entries),
                    old => self.scope(*scope, entries, old, &|_| true),
                })
            }
            (_, new) => new,
        }
    }

    fn list(
        &mut self,
        element: &'a Content,
        levels: &'a [Level],
        items: &'a [Value<'a>],
        old: Option<Old<'a>>,
        aligned: Option<Alignment>,
    ) -> &'a [Value<'a>] {
        let old = old.and_then(|old| Some((old.stored.as_array()?, old.shown.as_array()?)));
        let below = levels.get(1..).unwrap_or_default();
        let Some((stored, shown)) = old.filter(|(stored, shown)| stored.len() == shown.len()) else {
            return self.new_list(element, below, items);
        };
        let (keys, defaults) = Level::identify(levels);
        let aligned = aligned.filter(|aligned| aligned.iter().flatten().all(|position| *position < shown.len()));
        // Asked about items that look equal to the client, of which fewer are written.
        let mut alike = Vec::new();
        let hidden = |position: usize| {
            alike.push(position);
            self.lenses.size_in_other_versions(self.version, element, stored[position], self.metadata.1, self.arena)
        };
        let origins = self.origins;
        let known = || match_known(items, shown, keys, origins?.items()?);
        let matched =
            aligned.or_else(known).unwrap_or_else(|| match_items_keeping(items, shown, (keys, defaults), hidden));
        if !alike.is_empty() && self.troubles.are_heard() {
            let (lenses, version, metadata, arena) = (self.lenses, self.version, self.metadata.1, self.arena);
            let hidden = |at: usize| lenses.hidden_from(version, element, stored[at], metadata, arena);
            self.removals.note(shown, &alike, &matched, hidden);
        }
        if let Some(tally) = &mut self.tally {
            tally.reorders += usize::from(self.lenses.hides_in_moved(self.version, element, &matched, stored));
        }
        let written: Vec<_> = items
            .iter()
            .zip(matched)
            .enumerate()
            .map(|(position, (item, replaced))| {
                let old = replaced.map(|position| Old { stored: stored[position], shown: shown[position] });
                self.origins = origins.and_then(|origins| origins.item_of(position, replaced));
                self.content(element, below, *item, old)
            })
            .collect();
        self.origins = origins;
        self.arena.slice(&written)
    }

    /// The stored form of a list of which nothing was there; it is the list itself if its items are stored as they are.
    fn new_list(&mut self, element: &'a Content, below: &'a [Level], items: &'a [Value<'a>]) -> &'a [Value<'a>] {
        let mut stored = Shared::new(items);
        items.iter().for_each(|item| stored.push(self.content(element, below, *item, None)));
        stored.finish(self.arena)
    }

    fn map(
        &mut self,
        element: &'a Content,
        levels: &'a [Level],
        entries: &'a [Entry<'a>],
        old: Option<Old<'a>>,
    ) -> &'a [Entry<'a>] {
        let old = old.and_then(|old| Some((old.stored.as_object()?, old.shown.as_object()?)));
        let (stored, shown) = old.unwrap_or_default();
        let (stored_by_key, shown_by_key) = (by_key(stored), by_key(shown));
        let below = levels.get(1..).unwrap_or_default();
        let origins = self.origins;
        let mut written: Vec<_> = entries
            .iter()
            .map(|entry| {
                let old = find(&stored_by_key, entry.key)
                    .and_then(|stored| Some(Old { stored, shown: find(&shown_by_key, entry.key)? }));
                self.origins = origins.and_then(|origins| origins.field(entry.key));
                Entry { key: entry.key, value: self.content(element, below, entry.value, old) }
            })
            .collect();
        self.origins = origins;
        // Nulls that the version cannot say were not shown, and stay.
        if !may_be_null(levels) {
            let written_by_key = by_key(entries);
            let hidden = |entry: &&Entry<'a>| entry.value.is_null() && find(&written_by_key, entry.key).is_none();
            written.extend(stored.iter().filter(hidden));
        }
        self.arena.slice(&written)
    }

    /// Sets fields of newer versions back to their defaults, where a policy wants that. A write is refused if that would
    /// change what the version that introduced such a field reads.
    fn reset(
        &mut self,
        scope: usize,
        view: &'a View,
        slots: &mut Slots<'a>,
        placed: &[(usize, Slot<'a>)],
        writes: &dyn Fn(&str) -> bool,
    ) -> bool {
        // What is merely shown is not there to be reset.
        let is_placed = |reset: &Reset| placed.iter().any(|(slot, _)| *slot == reset.slot);
        let is_written = |reset: &&Reset| {
            reset.part.as_deref().is_none_or(writes) && !slots.values[reset.slot].is_absent() && !is_placed(reset)
        };
        let resets: Vec<&'a Reset> = view.resets.iter().filter(is_written).collect();
        if resets.is_empty() || self.preserves {
            return false;
        }
        let mut after = slots.clone();
        for reset in &resets {
            after.remove(reset.slot);
        }
        for reset in resets {
            if !reset.refuses {
                slots.remove(reset.slot);
            } else if self.would_change(scope, reset, slots, &after) {
                self.refused.get_or_insert(&reset.path);
            }
        }
        true
    }

    /// Whether the version that introduced a field reads something else of it afterwards. What is in an object is looked at by
    /// itself.
    fn would_change(&self, scope: usize, reset: &Reset, before: &Slots<'a>, after: &Slots<'a>) -> bool {
        let (before, after) = (self.reads(scope, reset, before), self.reads(scope, reset, after));
        match self.lenses.scopes[scope].slots[reset.slot].content {
            Content::Fields => before.is_some() != after.is_some(),
            _ => !equal_option(before, after),
        }
    }

    /// What the version that introduced a field reads of it, with the order of keys of that version.
    fn reads(&self, scope: usize, reset: &Reset, slots: &Slots<'a>) -> Option<Value<'a>> {
        let scope = &self.lenses.scopes[scope];
        let view = scope.views[reset.reader].as_ref()?;
        let mut fields = view.objects.iter().flat_map(|object| &object.fields.list);
        let (_, field) = fields.find(|(_, field)| field.slot == reset.slot)?;
        Get::new(self.lenses, VersionIndex(reset.reader as u32), self.arena, ()).field(scope, view, field, slots)
    }
}

/// The values of an object by the positions of its fields, and the entries that are no fields.
fn by_field<'a>(object: &ViewObject, entries: &[Entry<'a>]) -> (Vec<Option<Value<'a>>>, Vec<Entry<'a>>) {
    let mut fields = vec![None; object.fields.list.len()];
    let mut unknown = Vec::new();
    let mut cursor = 0;
    for entry in entries {
        match object.fields.position(entry.key, &mut cursor) {
            Some(position) => fields[position] = Some(entry.value),
            None => unknown.push(*entry),
        }
    }
    (fields, unknown)
}

/// Replaces the undeclared fields that a version shows, and keeps those that it does not: it declares their names itself.
fn set_unknown<'a>(
    object: &ViewObject,
    slot: Option<usize>,
    slots: &mut Slots<'a>,
    mut unknown: Vec<Entry<'a>>,
    writes: &dyn Fn(&str) -> bool,
) -> bool {
    let old = slots.unknown(slot);
    if unknown.is_empty() && old.is_empty() {
        return false;
    }
    unknown.retain(|entry| writes(entry.key));
    unknown.extend(old.iter().filter(|entry| object.fields.contains(entry.key) || !writes(entry.key)));
    if same(Value::Object(&unknown), Value::Object(old)) {
        return false;
    }
    slots.set_unknown(slot, unknown);
    true
}
