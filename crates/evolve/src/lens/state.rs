//! What a scope holds: the slots, read from the stored form and written to it.

use wheelwright_document::{Arena, Entry, Value};

use super::{
    plan::{Layout, Scope, StoredField, StoredObject},
    record::Source,
    same::same,
};

/// The key of an object's bag.
pub(crate) const BAG: &str = "$bag";
/// In a bag: the object is there only to hold fields that another version has elsewhere.
const IMPLICIT: &str = "$implicit";
/// In a bag: fields that no version declares.
const UNKNOWN: &str = "$unknown";
/// In a bag: fields of the hub below something that is no object, so that they cannot stand in their places.
const BLOCKED: &str = "$blocked";
/// In a bag: stored fields that nobody understands and whose names the hub has for others.
const FOREIGN: &str = "$foreign";
/// In the bag of a scope: fields that are absent although they could be derived.
const ABSENT: &str = "$absent";
/// In the bag of a scope: fields that are absent although they could be converted.
const GONE: &str = "$gone";
/// In the bag of a scope: for facts that are stored in another spelling than the hub's, what the hub's was then.
const GUARD: &str = "$guard";
/// In the bag of a scope: what hooks keep.
const HOOK: &str = "$hook";
/// In a bag: what was in its place and is none.
const DAMAGED: &str = "$damaged";

/// What the slots of a scope hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots<'a> {
    pub(crate) values: Vec<Slot<'a>>,
    /// What objects hold besides fields.
    extras: Vec<Extras<'a>>,
    /// The extras of the scope's own object.
    root: Option<usize>,
    /// Fields were found where they are not stored: they may be there although nobody has their objects.
    has_misplaced: bool,
    /// What other spellings were when originals were written, by the keys of links.
    pub(crate) guards: Vec<Entry<'a>>,
    /// Of what is stored: slots that are empty, although converting another spelling gives something.
    pub(crate) gone: Vec<usize>,
    /// Of what is stored: ids that nobody knows among those, and in which of the two lists they are.
    unknown_ids: Vec<(&'static str, Value<'a>)>,
    /// While it is read: the slots that are said to be empty, although something could be derived.
    absent: Vec<usize>,
    /// What hooks keep, by the keys of links.
    pub(crate) entries: Vec<Entry<'a>>,
    /// Slots of lists and maps whose parts are spelled by ids, although the hub has names for them.
    spelled_by_ids: Vec<usize>,
    /// Where computed slots come from, for those who listen.
    pub(crate) sources: Vec<(usize, Source)>,
}

/// How the fields of a stored object are spelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// As the layout says: by the names of the hub, or by ids where the hub does not have the object.
    Stored,
    /// By ids: it was put into a bag, whatever the hub has gained since.
    Ids,
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Slot<'a> {
    /// Nothing.
    #[default]
    Absent,
    /// A value, in stored form; of an object field, one that is no object.
    Value(Value<'a>),
    /// Of an object field: the object is there. Its extras, if it has any.
    Object(Option<usize>),
    /// Nothing, although something could be derived: somebody said so.
    Tombstone,
}

/// What an object holds besides the fields that some version declares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extras<'a> {
    /// Fields that no version declares, kept for versions that keep such fields.
    pub(crate) unknown: Vec<Entry<'a>>,
    /// Entries of the bag that nobody understands, kept as they are.
    pub(crate) strays: Vec<Entry<'a>>,
    /// Stored fields that nobody understands, kept as they are: a newer release may have written them.
    pub(crate) foreign: Vec<Entry<'a>>,
}

impl Slot<'_> {
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent | Self::Tombstone)
    }
}

impl<'a> Slots<'a> {
    /// Where the value of a slot comes from, as far as it is known.
    pub(crate) fn source(&self, slot: usize) -> Source {
        self.sources.iter().find(|(known, _)| *known == slot).map_or(Source::Stored, |(_, source)| *source)
    }

    /// Makes room for a scope in which nothing is there.
    pub(crate) fn clear(&mut self, scope: &Scope) {
        self.values.clear();
        self.values.resize(scope.slots.len(), Slot::Absent);
        self.extras.clear();
        self.root = None;
        self.has_misplaced = false;
        self.spelled_by_ids.clear();
        self.guards.clear();
        self.entries.clear();
        self.sources.clear();
        self.gone.clear();
        self.unknown_ids.clear();
        self.absent.clear();
    }

    /// Reads the stored form of a scope.
    pub(crate) fn load(&mut self, scope: &Scope, stored: &'a [Entry<'a>]) {
        self.load_spelled(scope, stored, Spelling::Stored);
    }

    /// Reads what was a scope in a bag, and is none there any more: the hub has gained the list or map since.
    pub(crate) fn load_by_ids(&mut self, scope: &Scope, stored: &'a [Entry<'a>]) {
        self.load_spelled(scope, stored, Spelling::Ids);
    }

    /// The lists and maps that were read from a bag although the hub has them now; what is in them is spelled by ids.
    pub(crate) fn take_spelled_by_ids(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.spelled_by_ids)
    }

    fn load_spelled(&mut self, scope: &Scope, stored: &'a [Entry<'a>], spelling: Spelling) {
        self.clear(scope);
        let (extras, _) = self.load_object(&scope.layout, &scope.layout.objects[0], stored, spelling);
        self.root = extras;
        // A stored value counts more than somebody's word that there is none.
        for slot in std::mem::take(&mut self.absent) {
            if matches!(self.values[slot], Slot::Absent) {
                self.values[slot] = Slot::Tombstone;
            }
        }
    }

    /// Whether anything is there besides fields.
    pub(crate) fn has_extras(&self) -> bool {
        !self.extras.is_empty()
    }

    /// Fields of the scope's own object (no slot) or of another that nobody declares.
    pub(crate) fn unknown(&self, slot: Option<usize>) -> &[Entry<'a>] {
        self.extras_of(slot).map_or(&[], |extras| &self.extras[extras].unknown)
    }

    /// Replaces them; what the object is stays.
    pub(crate) fn set_unknown(&mut self, slot: Option<usize>, unknown: Vec<Entry<'a>>) {
        if self.extras_of(slot).is_some() || !unknown.is_empty() {
            self.extras_mut(slot).unknown = unknown;
        }
    }

    /// What the scope's own object (no slot) or another holds besides fields.
    pub(crate) fn extras(&self, slot: Option<usize>) -> Option<&Extras<'a>> {
        self.extras_of(slot).map(|extras| &self.extras[extras])
    }

    /// The same, to be changed; an object that was not there is there then.
    pub(crate) fn extras_mut(&mut self, slot: Option<usize>) -> &mut Extras<'a> {
        let extras = self.extras_of(slot).unwrap_or_else(|| {
            self.extras.push(Extras::default());
            let extras = self.extras.len() - 1;
            match slot {
                None => self.root = Some(extras),
                Some(slot) => self.values[slot] = Slot::Object(Some(extras)),
            }
            extras
        });
        &mut self.extras[extras]
    }

    /// What the other spelling of a fact was when the original was written.
    pub(crate) fn guard(&self, key: &str) -> Option<Value<'a>> {
        value_of(&self.guards, key)
    }

    pub(crate) fn guard_count(&self) -> usize {
        self.guards.len()
    }

    /// Replaces all guards but those that nobody knows.
    pub(crate) fn set_guards(&mut self, guards: Vec<Entry<'a>>, is_known: impl Fn(&str) -> bool) {
        self.guards.retain(|entry| !is_known(entry.key));
        match self.guards.is_empty() {
            true => self.guards = guards,
            false => self.guards.extend(guards),
        }
    }

    /// What a hook keeps.
    pub(crate) fn entry(&self, key: &str) -> Option<Value<'a>> {
        value_of(&self.entries, key)
    }

    /// Replaces what a hook keeps.
    pub(crate) fn set_entry(&mut self, key: &'a str, value: Option<Value<'a>>) {
        self.entries.retain(|entry| entry.key != key);
        self.entries.extend(value.map(|value| Entry { key, value }));
    }

    /// Whether a slot of others holds the same.
    pub(crate) fn is_same(&self, slot: usize, others: &Slots<'a>) -> bool {
        fn unknown<'s>(slots: &'s Slots<'_>, slot: usize) -> Value<'s> {
            Value::Object(slots.unknown(Some(slot)))
        }
        match (self.values[slot], others.values[slot]) {
            (Slot::Value(a), Slot::Value(b)) => same(a, b),
            (Slot::Object(a), Slot::Object(b)) => {
                let is_plain = |slots: &Slots<'a>, extras: Option<usize>| {
                    extras.is_none_or(|at| slots.extras[at].strays.is_empty() && slots.extras[at].foreign.is_empty())
                };
                is_plain(self, a) && is_plain(others, b) && same(unknown(self, slot), unknown(others, slot))
            }
            (a, b) => a.is_absent() && b.is_absent(),
        }
    }

    /// Takes over what a slot of others holds.
    pub(crate) fn copy(&mut self, slot: usize, others: &Slots<'a>) {
        self.values[slot] = others.values[slot];
        if let Slot::Object(Some(extras)) = self.values[slot] {
            self.extras.push(others.extras[extras].clone());
            self.values[slot] = Slot::Object(Some(self.extras.len() - 1));
        }
    }

    /// Says that an object is there.
    pub(crate) fn set_object(&mut self, slot: usize) {
        if !matches!(self.values[slot], Slot::Object(_)) {
            self.values[slot] = Slot::Object(None);
        }
    }

    /// Empties a slot; whether there was anything.
    pub(crate) fn remove(&mut self, slot: usize) -> bool {
        !std::mem::take(&mut self.values[slot]).is_absent()
    }

    /// Empties the slots of what is stored below an object, as far as `goes` says so. Only what every version has in that
    /// object belongs to it, whatever the hub: a field that some version has elsewhere stays.
    pub(crate) fn remove_stored_below(&mut self, scope: &Scope, slot: usize, goes: &impl Fn(usize) -> bool) -> bool {
        let layout = &scope.layout;
        let Some(object) = layout.object_of[slot].map(|object| &layout.objects[object]) else { return false };
        let mut changed = false;
        for field in object.stored().filter(|field| !scope.moved[field.slot]) {
            changed |= goes(field.slot) && self.remove(field.slot);
            changed |= self.remove_stored_below(scope, field.slot, goes);
        }
        changed
    }

    fn extras_of(&self, slot: Option<usize>) -> Option<usize> {
        match slot {
            None => self.root,
            Some(slot) => match self.values[slot] {
                Slot::Object(extras) => extras,
                _ => None,
            },
        }
    }

    /// Reads an object; its extras, and whether it is there only to hold others.
    fn load_object(
        &mut self,
        layout: &Layout,
        object: &StoredObject,
        stored: &'a [Entry<'a>],
        spelling: Spelling,
    ) -> (Option<usize>, bool) {
        let mut extras = Extras::default();
        let mut implicit = false;
        let mut cursor = 0;
        for entry in stored {
            let field = match spelling {
                Spelling::Stored => {
                    object.fields.position(entry.key, &mut cursor).map(|position| &object.fields.list[position].1)
                }
                Spelling::Ids => layout.by_id.get(entry.key),
            };
            if let Some(field) = field {
                self.load_field(layout, field, entry.value, spelling);
            } else if entry.key == BAG {
                implicit = self.load_bag(layout, object, entry.value, &mut extras);
            } else if object.keeps_unknown && spelling == Spelling::Stored {
                extras.unknown.push(Entry { key: unescaped(entry.key), value: entry.value });
            } else {
                extras.foreign.push(*entry);
            }
        }
        if !object.adopted.list.is_empty() {
            let foreign = &mut extras.foreign;
            extras.unknown.retain(|entry| {
                let adopted = object.adopted.position(entry.key, &mut cursor).map(|at| &object.adopted.list[at].1);
                match adopted {
                    Some(field) if self.values[field.slot].is_absent() => {
                        self.load_field(layout, field, entry.value, Spelling::Stored);
                    }
                    // The field itself is there, too: this one is not shown, and must not be once the field is gone.
                    Some(_) => foreign.push(*entry),
                    None => return true,
                }
                false
            });
        }
        let has_any = !(extras.unknown.is_empty() && extras.strays.is_empty() && extras.foreign.is_empty());
        let extras = has_any.then(|| {
            self.extras.push(extras);
            self.extras.len() - 1
        });
        (extras, implicit)
    }

    fn load_bag(&mut self, layout: &Layout, object: &StoredObject, bag: Value<'a>, extras: &mut Extras<'a>) -> bool {
        let Value::Object(entries) = bag else {
            extras.strays.push(Entry { key: DAMAGED, value: bag });
            return false;
        };
        let mut implicit = false;
        let is_own = std::ptr::eq(object, &layout.objects[0]);
        let mut next = 0;
        for entry in entries {
            // Mostly it is a field that is stored here.
            if !entry.key.starts_with('$')
                && let Some(field) = next_hidden(layout, object, entry.key, &mut next)
            {
                self.load_field(layout, field, entry.value, Spelling::Ids);
                continue;
            }
            match (entry.key, entry.value) {
                (GUARD, Value::Object(guards)) if is_own => self.guards.extend_from_slice(guards),
                (HOOK, Value::Object(kept)) if is_own => self.entries.extend_from_slice(kept),
                (ABSENT | GONE, Value::Array(ids)) if is_own => {
                    let key = if entry.key == GONE { GONE } else { ABSENT };
                    for id in ids {
                        match id.as_str().and_then(|id| layout.by_id.get(id)) {
                            Some(field) if key == GONE => self.gone.push(field.slot),
                            Some(field) => self.absent.push(field.slot),
                            // A newer release may have written it.
                            None => self.unknown_ids.push((key, *id)),
                        }
                    }
                }
                (IMPLICIT, Value::Bool(true)) => implicit = true,
                (UNKNOWN, Value::Object(unknown)) => extras.unknown.extend_from_slice(unknown),
                (BLOCKED, Value::Object(blocked)) => {
                    for entry in blocked {
                        match layout.by_id.get(entry.key) {
                            Some(field) => self.load_field(layout, field, entry.value, Spelling::Stored),
                            None => extras.strays.push(*entry),
                        }
                    }
                }
                (FOREIGN, Value::Object(foreign)) => extras.foreign.extend_from_slice(foreign),
                (id, value) => match layout.by_id.get(id) {
                    Some(field) => {
                        self.has_misplaced |= !std::ptr::eq(&layout.objects[layout.home[field.slot]], object);
                        self.load_field(layout, field, value, Spelling::Ids);
                    }
                    None => {
                        let key = kept_as(id, is_own).unwrap_or(id);
                        // Damage that comes on top of the same damage is not kept: a bag has a key once.
                        if key == id || !entries.iter().any(|other| other.key == key) {
                            extras.strays.push(Entry { key, value });
                        }
                    }
                },
            }
        }
        implicit
    }

    fn load_field(&mut self, layout: &Layout, field: &StoredField, value: Value<'a>, spelling: Spelling) {
        if spelling == Spelling::Ids && layout.is_shown[field.slot] {
            self.spelled_by_ids.push(field.slot);
        }
        self.values[field.slot] = match (field.object, value) {
            (Some(object), Value::Object(stored)) => {
                let object = &layout.objects[object];
                match self.load_object(layout, object, stored, spelling) {
                    (None, true) => {
                        self.has_misplaced |= !object.may_be_implied;
                        Slot::Absent
                    }
                    (extras, _) => Slot::Object(extras),
                }
            }
            (_, value) => Slot::Value(value),
        };
    }
}

/// Writes the stored form of a scope.
pub(crate) fn store<'a>(scope: &'a Scope, slots: &Slots<'a>, arena: &'a Arena) -> &'a [Entry<'a>] {
    let room = scope.slots.len().min(64);
    let mut store =
        Store { layout: &scope.layout, slots, arena, entries: Vec::with_capacity(room), blocked: Vec::new() };
    store.object(&scope.layout.objects[0], slots.root, false)
}

struct Store<'s, 'a> {
    layout: &'a Layout,
    slots: &'s Slots<'a>,
    arena: &'a Arena,
    /// Entries of the objects that are open; each takes its own from the end when it closes.
    entries: Vec<Entry<'a>>,
    /// Fields whose object has a value that is none, and which therefore go into the bag of the object above.
    blocked: Vec<StoredField>,
}

impl<'a> Store<'_, 'a> {
    fn object(&mut self, object: &'a StoredObject, extras: Option<usize>, implicit: bool) -> &'a [Entry<'a>] {
        let mark = self.entries.len();
        let blocked = self.blocked.len();
        for (key, field) in &object.fields.list {
            self.field(key, field);
        }
        let slots = self.slots;
        let extras = extras.map(|extras| &slots.extras[extras]);
        if let Some(extras) = extras {
            self.entries.extend(extras.foreign.iter().filter(|entry| object.leaves_to_others(entry.key)));
            for entry in extras.unknown.iter().filter(|entry| object.keeps(entry.key, self.arena)) {
                self.entries.push(Entry { key: escaped(entry.key, self.arena), value: entry.value });
            }
        }
        let bag = self.entries.len();
        for field in &object.hidden {
            self.field(&self.layout.texts[field.slot], field);
        }
        let in_the_way = self.entries.len();
        while self.blocked.len() > blocked {
            if let Some(field) = self.blocked.pop() {
                self.field(&self.layout.texts[field.slot], &field);
            }
        }
        if self.entries.len() > in_the_way {
            let value = Value::Object(self.arena.slice(&self.entries[in_the_way..]));
            self.entries.truncate(in_the_way);
            self.entries.push(Entry { key: BLOCKED, value });
        }
        if let Some(extras) = extras {
            self.entries.extend_from_slice(&extras.strays);
            let foreign: Vec<_> =
                extras.foreign.iter().filter(|entry| !object.leaves_to_others(entry.key)).copied().collect();
            if !foreign.is_empty() {
                self.entries.push(Entry { key: FOREIGN, value: Value::Object(self.arena.slice(&foreign)) });
            }
            let hidden = extras.unknown.iter().filter(|entry| !object.keeps(entry.key, self.arena));
            let hidden: Vec<_> = hidden.copied().collect();
            if !hidden.is_empty() {
                self.entries.push(Entry { key: UNKNOWN, value: Value::Object(self.arena.slice(&hidden)) });
            }
        }
        if std::ptr::eq(object, &self.layout.objects[0]) {
            self.computed();
        }
        if implicit {
            self.entries.push(Entry { key: IMPLICIT, value: Value::Bool(true) });
        }
        if self.entries.len() > bag {
            let value = Value::Object(self.arena.slice(&self.entries[bag..]));
            self.entries.truncate(bag);
            self.entries.push(Entry { key: BAG, value });
        }
        let result = self.arena.slice(&self.entries[mark..]);
        self.entries.truncate(mark);
        result
    }

    /// What is known of computed fields besides their values.
    fn computed(&mut self) {
        for (key, entries) in [(GUARD, &self.slots.guards), (HOOK, &self.slots.entries)] {
            if !entries.is_empty() {
                self.entries.push(Entry { key, value: Value::Object(self.arena.slice(entries)) });
            }
        }
        let slots = self.slots.values.iter().enumerate();
        let absent = slots.filter(|(_, value)| matches!(value, Slot::Tombstone)).map(|(slot, _)| slot);
        let absent: Vec<usize> = absent.collect();
        for (key, slots) in [(ABSENT, &absent), (GONE, &self.slots.gone)] {
            let unknown = self.slots.unknown_ids.iter().filter(|(of, _)| *of == key).map(|(_, id)| *id);
            let ids = slots.iter().map(|slot| Value::string(&self.layout.texts[*slot])).chain(unknown);
            let ids: Vec<_> = ids.collect();
            if !ids.is_empty() {
                self.entries.push(Entry { key, value: Value::Array(self.arena.slice(&ids)) });
            }
        }
    }

    fn field(&mut self, key: &'a str, field: &StoredField) {
        let object = field.object.map(|object| &self.layout.objects[object]);
        let value = match (self.slots.values[field.slot], object) {
            (Slot::Value(value), object) => {
                if let Some(object) = object.filter(|object| object.may_be_implied) {
                    self.block(object);
                }
                value
            }
            (Slot::Object(extras), Some(object)) => Value::Object(self.object(object, extras, false)),
            (Slot::Absent | Slot::Tombstone, Some(object))
                if (object.may_be_implied || self.slots.has_misplaced) && self.holds_any(object) =>
            {
                Value::Object(self.object(object, None, true))
            }
            _ => return,
        };
        self.entries.push(Entry { key, value });
    }

    /// Whether anything below an object that nobody wrote is there.
    fn holds_any(&self, object: &StoredObject) -> bool {
        object.stored().any(|field| {
            !self.slots.values[field.slot].is_absent()
                || field.object.is_some_and(|object| self.holds_any(&self.layout.objects[object]))
        })
    }

    /// Remembers what is there below an object in whose place there is something else.
    fn block(&mut self, object: &StoredObject) {
        for field in object.stored() {
            match (self.slots.values[field.slot], field.object) {
                (Slot::Absent | Slot::Tombstone, Some(object)) => self.block(&self.layout.objects[object]),
                (Slot::Absent | Slot::Tombstone, None) => {}
                _ => self.blocked.push(field.clone()),
            }
        }
    }
}

/// The hidden field of an id, if it is one of those that are stored next: mostly they come in the order of the layout.
fn next_hidden<'l>(layout: &Layout, object: &'l StoredObject, id: &str, next: &mut usize) -> Option<&'l StoredField> {
    const AHEAD: usize = 4;
    let ahead = object.hidden.get(*next..)?.iter().take(AHEAD);
    let (skipped, field) = ahead.enumerate().find(|(_, field)| *layout.texts[field.slot] == *id)?;
    *next += skipped + 1;
    Some(field)
}

/// How an entry of a bag is kept that is not what its key says: under one that means nothing, since what the key is for may
/// have to be stored, too. The keys of computed fields mean something only in the bag of a scope.
fn kept_as(key: &str, is_own: bool) -> Option<&'static str> {
    match key {
        IMPLICIT => Some("$damaged.implicit"),
        UNKNOWN => Some("$damaged.unknown"),
        BLOCKED => Some("$damaged.blocked"),
        FOREIGN => Some("$damaged.foreign"),
        ABSENT if is_own => Some("$damaged.absent"),
        GONE if is_own => Some("$damaged.gone"),
        GUARD if is_own => Some("$damaged.guard"),
        HOOK if is_own => Some("$damaged.hook"),
        _ => None,
    }
}

fn value_of<'a>(entries: &[Entry<'a>], key: &str) -> Option<Value<'a>> {
    entries.iter().find(|entry| entry.key == key).map(|entry| entry.value)
}

impl StoredObject {
    /// Whether a field that no version declared is stored among the others: not where the hub declares its name.
    fn keeps(&self, key: &str, arena: &Arena) -> bool {
        self.keeps_unknown && !self.fields.contains(escaped(key, arena))
    }

    /// Whether a name among the fields means nothing here, so that what nobody understands can stand there.
    fn leaves_to_others(&self, key: &str) -> bool {
        !self.is_hidden && !self.keeps_unknown && !self.fields.contains(key)
    }

    /// All fields that are stored in it.
    pub(crate) fn stored(&self) -> impl Iterator<Item = &StoredField> {
        self.fields.list.iter().map(|(_, field)| field).chain(&self.hidden)
    }
}

/// A customer's key as it is stored: what could be taken for a bag has one `$` more.
pub(crate) fn escaped<'a>(key: &'a str, arena: &'a Arena) -> &'a str {
    match is_like_bag(key) {
        true => arena.text(&format!("${key}")),
        false => key,
    }
}

/// A stored key as the customer wrote it.
fn unescaped(key: &str) -> &str {
    if is_like_bag(key) { &key[1..] } else { key }
}

/// `$bag`, `$$bag` and so on.
pub(crate) fn is_like_bag(key: &str) -> bool {
    key.starts_with('$') && key.trim_start_matches('$') == "bag"
}
