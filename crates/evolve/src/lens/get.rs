//! `get`: what a version shows of a stored document.

use wheelwright_document::{Arena, Entry, Value};

use super::{
    Lenses,
    plan::{Content, Level, Scope, View, ViewField, ViewObject},
    record::{Recorder, Source, computed_sources},
    resolve::Resolve,
    state::{Slot, Slots},
    trouble::Troubles,
};
use crate::{VersionIndex, shared::Shared};

/// Makes what one version shows.
pub(crate) struct Get<'a, R> {
    pub(crate) lenses: &'a Lenses,
    pub(crate) version: VersionIndex,
    pub(crate) arena: &'a Arena,
    pub(crate) recorder: R,
    /// The metadata of the document, which expressions may read.
    pub(crate) metadata: Option<Value<'a>>,
    /// Who wants to know what could not be computed.
    pub(crate) troubles: Troubles,
    /// Entries of the objects that are open; each takes its own from the end when it closes.
    entries: Vec<Entry<'a>>,
    /// Slots that are not in use.
    #[expect(clippy::vec_box, reason = "every scope takes one and puts it back, and slots are large to move")]
    pool: Vec<Box<Slots<'a>>>,
}

impl<'a, R: Recorder> Get<'a, R> {
    pub(crate) fn new(lenses: &'a Lenses, version: VersionIndex, arena: &'a Arena, recorder: R) -> Self {
        Self {
            lenses,
            version,
            arena,
            recorder,
            metadata: None,
            troubles: Troubles::default(),
            entries: Vec::new(),
            pool: Vec::new(),
        }
    }

    /// Makes room for a whole document, so that it need not be made little by little.
    pub(crate) fn with_room(mut self) -> Self {
        self.entries.reserve(64);
        self
    }

    /// The fields of a scope's own object. What the version does not have at all it shows as it is stored.
    pub(crate) fn scope(&mut self, scope_index: usize, stored: &'a [Entry<'a>]) -> &'a [Entry<'a>] {
        let scope = &self.lenses.scopes[scope_index];
        let Some(view) = &scope.views[self.version.position()] else { return stored };
        if !R::LISTENS
            && view.alike.as_ref().is_some_and(|alike| !alike.fills)
            && let Some(shown) =
                view.passed(scope, stored, self.arena, |content, levels, value| self.content(content, levels, value))
        {
            return shown;
        }
        let mut slots = self.pool.pop().unwrap_or_default();
        self.lenses.load(scope_index, stored, &mut slots, self.arena);
        if !scope.computed.is_empty() {
            let needed = &scope.computed.shown[self.version.position()];
            let (lenses, arena, metadata) = (self.lenses, self.arena, self.metadata);
            let mut resolve = Resolve::new(lenses, scope, metadata, self.troubles.clone(), arena);
            let stored = R::LISTENS.then(|| slots.values.clone());
            resolve.expand(needed, &mut slots);
            let derived = resolve.derive(needed, &mut slots);
            if let Some(stored) = stored {
                let derived = derived.iter().map(|(slot, _)| *slot);
                slots.sources = computed_sources(scope, needed, &stored, derived, &slots);
            }
        }
        let shown = self.object(scope, view, None, &view.objects[0], &slots);
        self.pool.push(slots);
        shown
    }

    pub(crate) fn object(
        &mut self,
        scope: &'a Scope,
        view: &'a View,
        slot: Option<usize>,
        object: &'a ViewObject,
        slots: &Slots<'a>,
    ) -> &'a [Entry<'a>] {
        let mark = self.entries.len();
        for (name, field) in &object.fields.list {
            self.recorder.enter(name);
            let value = self.field(scope, view, field, slots);
            self.recorder.leave();
            if let Some(value) = value {
                self.entries.push(Entry { key: name, value });
            }
        }
        if object.keeps_unknown {
            for entry in slots.unknown(slot).iter().filter(|entry| !object.fields.contains(entry.key)) {
                self.recorder.unknown(entry.key);
                self.entries.push(*entry);
            }
        }
        let shown = self.arena.slice(&self.entries[mark..]);
        self.entries.truncate(mark);
        shown
    }

    /// What a version shows of a field: its value as far as the version can say it, else its frozen default.
    pub(crate) fn field(
        &mut self,
        scope: &'a Scope,
        view: &'a View,
        field: &'a ViewField,
        slots: &Slots<'a>,
    ) -> Option<Value<'a>> {
        if shows(field, slots) {
            return Some(self.shown_field(scope, view, field, slots));
        }
        let frozen = field.frozen.as_ref()?;
        self.recorder.source(scope.slots[field.slot].id, Source::Frozen);
        Some(frozen.share(self.arena))
    }

    /// What a version shows of a field that it shows.
    #[inline]
    pub(crate) fn shown_field(
        &mut self,
        scope: &'a Scope,
        view: &'a View,
        field: &'a ViewField,
        slots: &Slots<'a>,
    ) -> Value<'a> {
        let plan = &scope.slots[field.slot];
        let said = says(field, slots);
        if R::LISTENS {
            let source = slots.source(field.slot);
            self.recorder.source(plan.id, if said.is_absent() { Source::Implied } else { source });
        }
        match (said, field.object) {
            (Slot::Value(value), _) if has_no_parts(value) => value,
            (Slot::Value(value), _) if field.may_be_anything => {
                let value = sayable(&plan.content, &field.levels, value, self.arena);
                self.content(&plan.content, &field.levels, value)
            }
            (Slot::Value(value), None) => self.content(&plan.content, &field.levels, value),
            (Slot::Value(value), Some(object)) => self.no_object(&view.objects[object], value),
            (_, object) => {
                let object = &view.objects[object.unwrap_or_default()];
                Value::Object(self.object(scope, view, Some(field.slot), object, slots))
            }
        }
    }

    /// A stored value of some content, as the version shows it.
    fn content(&mut self, content: &'a Content, levels: &'a [Level], value: Value<'a>) -> Value<'a> {
        match (content, value) {
            (Content::List(element), Value::Array(items)) => {
                let mut shown = Shared::new(items);
                for (index, item) in items.iter().enumerate() {
                    self.recorder.enter_index(index);
                    shown.push(self.content(element, levels.get(1..).unwrap_or_default(), *item));
                    self.recorder.leave();
                }
                Value::Array(shown.finish(self.arena))
            }
            (Content::Map(element), Value::Object(values)) => {
                let mut shown = Shared::new(values);
                for Entry { key, value } in values {
                    if value.is_null() && !may_be_null(levels) {
                        shown.leave_out();
                        continue;
                    }
                    self.recorder.enter_key(key);
                    shown.push(self.content(element, levels.get(1..).unwrap_or_default(), *value));
                    self.recorder.leave();
                }
                Value::Object(shown.finish(self.arena))
            }
            (Content::Scope(scope), Value::Object(stored)) => Value::Object(self.scope(*scope, stored)),
            (Content::Scope(scope), value) => match &self.lenses.scopes[*scope].views[self.version.position()] {
                Some(view) => self.no_object(&view.objects[0], value),
                None => value,
            },
            (_, value) => value,
        }
    }

    /// Something else in the place of an object: as pruning leaves it. What a version kept may hold more.
    fn no_object(&self, object: &ViewObject, value: Value<'a>) -> Value<'a> {
        match value {
            Value::Array(_) if !object.keeps_unknown => sayable(&Content::Opaque, &[], value, self.arena),
            value => value,
        }
    }
}

/// Whether a version shows a stored field. It shows null only where the field is nullable. It shows an object that no client
/// wrote, or in whose place `{}` is invalid, only if it shows a field in it; or if a client wrote the object empty.
#[inline(always)]
pub(crate) fn shows(field: &ViewField, slots: &Slots<'_>) -> bool {
    match &slots.values[field.slot] {
        Slot::Value(Value::Null) if !field.nullable => field.may_be_implied && shows_part(field, slots),
        Slot::Value(_) => true,
        Slot::Object(_) => !field.refuses_empty || slots.is_written_empty(field.slot) || shows_part(field, slots),
        Slot::Absent | Slot::Tombstone => field.may_be_implied && shows_part(field, slots),
    }
}

/// Whether a version shows a field in an object.
fn shows_part(field: &ViewField, slots: &Slots<'_>) -> bool {
    field.implied_by.iter().any(|below| match said(slots.values[below.slot], below.nullable) {
        Slot::Absent | Slot::Tombstone => false,
        Slot::Object(_) => !below.refuses_empty || slots.is_written_empty(below.slot),
        Slot::Value(_) => true,
    })
}

/// What a slot holds, as far as a version can say it: null is as good as nothing to one that cannot.
#[inline]
pub(crate) fn says<'a>(field: &ViewField, slots: &Slots<'a>) -> Slot<'a> {
    said(slots.values[field.slot], field.nullable)
}

/// As [`says`], of what a slot holds and whether null can be said of it.
#[inline]
pub(crate) fn said(slot: Slot<'_>, nullable: bool) -> Slot<'_> {
    match slot {
        Slot::Value(Value::Null) if !nullable => Slot::Absent,
        Slot::Tombstone => Slot::Absent,
        said => said,
    }
}

/// Whether a value is what it is in every version: most are, and need not be looked into.
#[inline]
fn has_no_parts(value: Value<'_>) -> bool {
    !matches!(value, Value::Object(_) | Value::Array(_))
}

/// Whether the values of a map may be null.
pub(crate) fn may_be_null(levels: &[Level]) -> bool {
    levels.first().is_some_and(|level| level.nullable)
}

/// A value with nothing in it that pruning would take away: no fields where no object belongs.
pub(crate) fn sayable<'a>(content: &Content, levels: &[Level], value: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let below = levels.get(1..).unwrap_or_default();
    let element = match content {
        Content::List(element) | Content::Map(element) => element,
        other => other,
    };
    match (value, levels.first()) {
        (Value::Object(_), None) if matches!(content, Content::Scope(_) | Content::Fields) => value,
        (Value::Object(entries), Some(level)) if level.is_map => Value::Object(arena.slice_from(
            entries.iter().map(|entry| Entry { key: entry.key, value: sayable(element, below, entry.value, arena) }),
        )),
        (Value::Object(_), _) => Value::Object(&[]),
        (Value::Array(items), Some(level)) if !level.is_map => {
            Value::Array(arena.slice_from(items.iter().map(|item| sayable(element, below, *item, arena))))
        }
        (Value::Array(items), _) => {
            Value::Array(arena.slice_from(items.iter().map(|item| sayable(&Content::Opaque, &[], *item, arena))))
        }
        (scalar, _) => scalar,
    }
}
