//! Reading what is stored into slots.

use wheelwright_document::{Entry, Value};

use super::{
    ABSENT, BAG, BLOCKED, DAMAGED, DIGEST, Extras, FOREIGN, GONE, GUARD, HOOK, IMPLICIT, ORDER, Slot, Slots, UNKNOWN,
    is_digest, is_like_bag,
};
use crate::lens::plan::{Layout, Scope, StoredField, StoredObject};

/// How the fields of a stored object are spelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// As the layout says: by the names of the hub, or by ids where the hub does not have the object.
    Stored,
    /// By ids: it was put into a bag, whatever the hub has gained since.
    Ids,
}

impl<'a> Slots<'a> {
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
                (GUARD, Value::Object(guards)) if is_own => {
                    // They take precedence over digests, which releases that do not know them leave behind.
                    self.guards.splice(..0, guards.iter().filter(|guard| !is_digest(guard.value)).copied());
                }
                (DIGEST, Value::Object(digests)) if is_own => {
                    self.guards.extend(digests.iter().filter(|digest| is_digest(digest.value)));
                }
                (ORDER, Value::Object(orders)) if is_own => self.orders.extend_from_slice(orders),
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
        DIGEST if is_own => Some("$damaged.digest"),
        ORDER if is_own => Some("$damaged.order"),
        HOOK if is_own => Some("$damaged.hook"),
        _ => None,
    }
}

/// A stored key as the customer wrote it.
fn unescaped(key: &str) -> &str {
    if is_like_bag(key) { &key[1..] } else { key }
}
