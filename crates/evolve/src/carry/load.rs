//! `load`: a document of the hub's version and what it carries, to what is stored at the hub.

use std::collections::{HashMap, HashSet};

use wheelwright_document::{Arena, Entry, Value, encode};

use super::{
    CarryFate, Places,
    computed::{look, settle},
    entry::{Beside, Body, Carried, ExtraSort, Leg, LinkEntry, Place, Within, stable_hash},
    unload::{filled_items, hash_of_keys},
};
use crate::{
    Lenses,
    lens::{
        get::shows,
        lists::match_items,
        plan::{Content, Scope, View, ViewObject},
        state::{Slot, Slots, store},
    },
};

/// Entries by the way to where they belong.
#[derive(Default)]
pub(crate) struct Tree<'a> {
    /// Positions among the entries.
    here: Vec<usize>,
    below: Vec<(Leg<'a>, Tree<'a>)>,
    by_leg: HashMap<Vec<u8>, usize>,
}

impl<'a> Tree<'a> {
    pub(crate) fn of(entries: &[Carried<'a>], arena: &'a Arena) -> Self {
        let mut root = Self::default();
        for (position, entry) in entries.iter().enumerate() {
            let mut at = &mut root;
            for leg in &entry.way {
                let next = at.below.len();
                let found = *at.by_leg.entry(encode(leg.to_value(arena))).or_insert(next);
                if found == next {
                    at.below.push((leg.clone(), Self::default()));
                }
                at = &mut at.below[found].1;
            }
            at.here.push(position);
        }
        root
    }

    /// Every entry here and below.
    fn each(&self, visit: &mut impl FnMut(usize)) {
        self.here.iter().for_each(|position| visit(*position));
        self.below.iter().for_each(|(_, below)| below.each(visit));
    }
}

/// Makes what is stored.
pub(crate) struct Load<'e, 'a> {
    lenses: &'a Lenses,
    places: &'a [Places],
    arena: &'a Arena,
    metadata: Option<Value<'a>>,
    entries: &'e [Carried<'a>],
    /// What became of each entry: nothing to tell, or something. What no one came by is gone.
    pub(crate) fates: Vec<Option<CarryFate>>,
}

/// A list or map, right in a field or right inside of other lists and maps of it.
#[derive(Clone, Copy)]
struct List<'a> {
    places: &'a Places,
    slot: usize,
    level: usize,
}

impl List<'_> {
    fn below(self) -> Self {
        Self { level: self.level + 1, ..self }
    }
}

/// A scope while it is written.
struct Writing<'a> {
    scope: &'a Scope,
    places: &'a Places,
    view: &'a View,
    slots: Slots<'a>,
    document: &'a [Entry<'a>],
    /// What the document shows of each field.
    shown: Vec<Option<Value<'a>>>,
    /// What is known of the fields before a client changed the document: those that are carried.
    before: Slots<'a>,
    /// The links of which something is told.
    links: HashSet<&'a str>,
    /// What objects hold besides fields, by its name.
    extras: HashSet<(Option<usize>, ExtraSort, &'a str)>,
}

impl<'e, 'a> Load<'e, 'a> {
    pub(crate) fn new(
        lenses: &'a Lenses,
        places: &'a [Places],
        entries: &'e [Carried<'a>],
        metadata: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> Self {
        Self { lenses, places, arena, metadata, entries, fates: vec![Some(CarryFate::Gone); entries.len()] }
    }

    pub(crate) fn scope(
        &mut self,
        scope_index: usize,
        document: &'a [Entry<'a>],
        tree: Option<&Tree<'a>>,
    ) -> &'a [Entry<'a>] {
        let scope = &self.lenses.scopes[scope_index];
        let Some(view) = &scope.views[self.lenses.hub().position()] else { return document };
        let mut slots = Slots::default();
        slots.clear(scope);
        let mut writing = Writing {
            scope,
            places: &self.places[scope_index],
            view,
            before: tree.map(|_| slots.clone()).unwrap_or_default(),
            slots,
            document,
            shown: vec![None; scope.slots.len()],
            links: HashSet::new(),
            extras: HashSet::new(),
        };
        let inside = tree.map(|tree| self.inside(scope, tree)).unwrap_or_default();
        self.object(&mut writing, None, &view.objects[0], document, &inside);
        if let Some(tree) = tree {
            let entries = self.entries;
            let here = || tree.here.iter().map(|position| (*position, &entries[*position].body));
            here().for_each(|(_, body)| writing.remember(body));
            for (position, body) in here() {
                self.fates[position] = writing.apply(body);
            }
            // Only once everything is in its place is it known which objects nobody wrote.
            here().for_each(|(_, body)| writing.take_back(body));
            for (position, body) in here() {
                if let Body::Absent { id, place } = body {
                    self.fates[position] = writing.say_absent(id, place);
                }
            }
        }
        if !scope.computed.is_empty() {
            let (mut shown, mut following) = (Vec::new(), Vec::new());
            let mut is_known = vec![false; scope.slots.len()];
            for position in tree.iter().flat_map(|tree| &tree.here) {
                if let Body::Derived { shown: looks, following: ids } = &self.entries[*position].body {
                    for (id, look) in looks {
                        let Some(slot) = scope.layout.by_id.get(*id).map(|field| field.slot) else { continue };
                        let is_new = !std::mem::replace(&mut is_known[slot], true);
                        if is_new && writing.is_merely_shown(self.lenses, slot, *look, self.arena) {
                            shown.push(slot);
                        }
                    }
                    following.extend(ids.iter().filter_map(|id| Some(scope.layout.by_id.get(*id)?.slot)));
                }
            }
            let slots = &mut writing.slots;
            settle(self.lenses, scope, view, slots, &shown, following, self.metadata, self.arena);
        }
        store(scope, &writing.slots, self.arena)
    }

    /// The entries inside the lists and maps of a scope, by slot; those of lists and maps that nobody knows are kept.
    fn inside<'t>(&mut self, scope: &Scope, tree: &'t Tree<'a>) -> HashMap<usize, &'t Tree<'a>> {
        let mut inside = HashMap::new();
        for (leg, below) in &tree.below {
            let Leg::Field(id) = leg else { continue };
            match scope.layout.by_id.get(*id) {
                Some(field) => {
                    inside.insert(field.slot, below);
                }
                None => below.each(&mut |position| self.fates[position] = Some(CarryFate::UnknownField)),
            }
        }
        inside
    }

    fn object(
        &mut self,
        writing: &mut Writing<'a>,
        slot: Option<usize>,
        object: &'a ViewObject,
        entries: &'a [Entry<'a>],
        inside: &HashMap<usize, &Tree<'a>>,
    ) {
        let mut unknown = Vec::new();
        let mut cursor = 0;
        for entry in entries {
            let Some(position) = object.fields.position(entry.key, &mut cursor) else {
                unknown.push(*entry);
                continue;
            };
            let field = &object.fields.list[position].1;
            writing.shown[field.slot] = Some(entry.value);
            match (field.object, entry.value) {
                (Some(below), Value::Object(entries)) => {
                    writing.slots.set_object(field.slot);
                    self.object(writing, Some(field.slot), &writing.view.objects[below], entries, inside);
                }
                (_, value) => {
                    let content = &writing.scope.slots[field.slot].content;
                    let value = match field.object {
                        None => {
                            let list = List { places: writing.places, slot: field.slot, level: 0 };
                            self.content(content, list, value, inside.get(&field.slot).copied())
                        }
                        Some(_) => value,
                    };
                    writing.slots.values[field.slot] = Slot::Value(value);
                }
            }
        }
        if !unknown.is_empty() {
            writing.extras.extend(unknown.iter().map(|entry| (slot, ExtraSort::Unknown, entry.key)));
            writing.slots.set_unknown(slot, unknown);
        }
    }

    fn content(
        &mut self,
        content: &'a Content,
        list: List<'a>,
        value: Value<'a>,
        tree: Option<&Tree<'a>>,
    ) -> Value<'a> {
        match (content, value) {
            (Content::List(element), Value::Array(items)) => {
                let mut trees = vec![None; items.len()];
                if let Some(tree) = tree {
                    self.find_items(element, list, items, tree, &mut trees);
                }
                let below = list.below();
                let items = items.iter().zip(trees).map(|(item, tree)| self.content(element, below, *item, tree));
                let items: Vec<_> = items.collect();
                Value::Array(self.arena.slice(&items))
            }
            (Content::Map(element), Value::Object(values)) => Value::Object(self.map(element, list, values, tree)),
            (Content::Scope(scope), Value::Object(document)) => Value::Object(self.scope(*scope, document, tree)),
            (_, value) => value,
        }
    }

    fn map(
        &mut self,
        element: &'a Content,
        list: List<'a>,
        values: &'a [Entry<'a>],
        tree: Option<&Tree<'a>>,
    ) -> &'a [Entry<'a>] {
        let below = tree.map_or(&[][..], |tree| &tree.below);
        let mut trees: HashMap<&str, &Tree<'a>> = HashMap::new();
        for (leg, below) in below {
            if let Leg::Name(name) = leg {
                trees.insert(name, below);
            }
        }
        let mut written: Vec<_> = values
            .iter()
            .map(|entry| {
                let value = self.content(element, list.below(), entry.value, trees.remove(entry.key));
                Entry { key: entry.key, value }
            })
            .collect();
        for (leg, below) in below {
            let Leg::Name(name) = leg else { continue };
            for position in &below.here {
                if matches!(self.entries[*position].body, Body::Null) {
                    let is_left = trees.contains_key(name);
                    self.fates[*position] = (!is_left).then_some(CarryFate::Superseded);
                    if is_left {
                        written.push(Entry { key: name, value: Value::Null });
                        break;
                    }
                }
            }
        }
        self.arena.slice(&written)
    }

    /// Finds the items that entries are about.
    fn find_items<'t>(
        &mut self,
        element: &'a Content,
        list: List<'a>,
        items: &'a [Value<'a>],
        tree: &'t Tree<'a>,
        trees: &mut [Option<&'t Tree<'a>>],
    ) {
        let filled = filled_items(self.lenses, element, items, self.arena);
        let mut before: &[u64] = &[];
        for position in &tree.here {
            if let Body::Items(hashes) = &self.entries[*position].body {
                self.fates[*position] = None;
                before = hashes;
            }
        }
        let by_look = Looks::of(&filled, before, self.arena);
        let mut by_keys: HashMap<Vec<&str>, HashMap<u64, Vec<usize>>> = HashMap::new();
        for (leg, below) in &tree.below {
            let found = match leg {
                Leg::Item { position, hash, nth } => by_look.find(*position, *hash, *nth),
                Leg::Keys { fields, nth } => {
                    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
                    // Every set of names costs as much as all items, so clients cannot be free to make them up.
                    if !by_keys.contains_key(&names) && !list.places.are_keys(list.slot, list.level, &names) {
                        below.each(&mut |position| self.fates[position] = Some(CarryFate::Undecodable));
                        continue;
                    }
                    let items = by_keys.entry(names.clone()).or_insert_with(|| items_by_keys(&filled, &names));
                    let found = items.get(&hash_of_keys(fields)).and_then(|found| found.get(*nth)).copied();
                    found.filter(|found| has_keys(filled[*found], fields))
                }
                Leg::Field(_) | Leg::Name(_) => None,
            };
            // Two ways to one item, which only a client can have made: the first counts.
            if let Some(tree) = found.and_then(|found| trees.get_mut(found)) {
                tree.get_or_insert(below);
            }
        }
    }
}

/// Items without keys, to be found by what they look like.
struct Looks<'b> {
    before: &'b [u64],
    /// Which item now is which one before.
    now: HashMap<usize, usize>,
    by_hash: HashMap<u64, Vec<usize>>,
}

impl<'b> Looks<'b> {
    fn of<'a>(items: &[Value<'a>], before: &'b [u64], arena: &'a Arena) -> Self {
        let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
        let hashes: Vec<u64> = items.iter().map(|item| stable_hash(*item)).collect();
        for (position, hash) in hashes.iter().enumerate() {
            by_hash.entry(*hash).or_default().push(position);
        }
        let value = |hash: &u64| Value::string(arena.text(&format!("{hash:016x}")));
        let (new, old): (Vec<_>, Vec<_>) = (hashes.iter().map(value).collect(), before.iter().map(value).collect());
        let matched = match_items(&new, &old, &[]).into_iter().enumerate();
        let now = matched.filter_map(|(now, before)| Some((before?, now))).collect();
        Self { before, now, by_hash }
    }

    /// The item that was at a position and looked like this. If what all items looked like is not known, or is not about
    /// the same list, only items that still look the same are found.
    fn find(&self, position: usize, hash: u64, nth: usize) -> Option<usize> {
        match self.before.get(position) {
            Some(before) if *before == hash => self.now.get(&position).copied(),
            _ => self.by_hash.get(&hash)?.get(nth).copied(),
        }
    }
}

fn items_by_keys(items: &[Value<'_>], names: &[&str]) -> HashMap<u64, Vec<usize>> {
    let mut found: HashMap<u64, Vec<usize>> = HashMap::new();
    for (position, item) in items.iter().enumerate() {
        let fields: Vec<_> = names.iter().map(|name| (*name, item.get(name))).collect();
        found.entry(hash_of_keys(&fields)).or_default().push(position);
    }
    found
}

fn has_keys(item: Value<'_>, fields: &[(&str, Option<Value<'_>>)]) -> bool {
    fields.iter().all(|(name, value)| match (item.get(name), value) {
        (Some(a), Some(b)) => a.equivalent(*b),
        (a, b) => a.is_none() && b.is_none(),
    })
}

impl<'a> Writing<'a> {
    /// Takes note of what was there before.
    fn remember(&mut self, body: &Body<'a>) {
        if let Body::Field { id, value, .. } = body
            && let Some(field) = self.scope.layout.by_id.get(*id)
        {
            self.before.values[field.slot] = self.slot_for(field.slot, *value);
        }
    }

    /// Puts an entry of the scope where it belongs.
    fn apply(&mut self, body: &Body<'a>) -> Option<CarryFate> {
        let by_id = &self.scope.layout.by_id;
        match body {
            Body::Field { id, value, place } => match by_id.get(*id) {
                Some(field) => {
                    let fate = self.set(field.slot, *value, place);
                    // What a client took away is not computed again of what it left.
                    let is_computed = !self.scope.computed.is_empty();
                    if is_computed && fate.is_some() && matches!(self.slots.values[field.slot], Slot::Absent) {
                        self.slots.gone.push(field.slot);
                    }
                    fate
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
                    Some(Some(field)) => self.add_extra(Some(field.slot), *sort, Entry { key, value: *value }, place),
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
        let slots = &mut self.slots;
        if !self.links.insert(key) {
            return Some(CarryFate::Superseded);
        }
        slots.guards.extend(guard.map(|value| Entry { key, value }));
        slots.entries.extend(kept.map(|value| Entry { key, value }));
        slots.gone.extend(gone.iter().filter_map(|id| Some(self.scope.layout.by_id.get(*id)?.slot)));
        None
    }

    /// Says that a field is absent although it could be derived, if nothing else was said meanwhile.
    fn say_absent(&mut self, id: &str, place: &Place<'a>) -> Option<CarryFate> {
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

    /// Whether the document still shows a derived field as it was shown, or what is in the way of showing it.
    fn is_merely_shown(&self, lenses: &'a Lenses, slot: usize, before: Option<u64>, arena: &'a Arena) -> bool {
        let Some(field) = self.places.field(self.view, slot) else { return false };
        let is_same = match (self.slots.values[slot], self.shown[slot], before) {
            (Slot::Object(_), _, None) => true,
            (Slot::Value(_), Some(shown), Some(before)) => look(lenses, self.scope, field, shown, arena) == before,
            (Slot::Absent, None, Some(before)) => {
                let in_the_way = self.places.in_the_way(self.scope, slot, &self.shown);
                in_the_way.is_some_and(|value| stable_hash(value) == before)
            }
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
        if !self.extras.insert((slot, sort, entry.key)) {
            return Some(CarryFate::Superseded);
        }
        let extras = self.slots.extras_mut(slot);
        let entries = match sort {
            ExtraSort::Unknown => &mut extras.unknown,
            ExtraSort::Stray => &mut extras.strays,
            ExtraSort::Foreign => &mut extras.foreign,
        };
        entries.push(entry);
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
                !field.is_some_and(|field| shows(self.view, field, &self.before))
            }
            (None, _) => true,
        }
    }

    /// Whether a document would have said something about a field, if it held this.
    fn could_be_said(&self, slot: usize, value: Slot<'a>) -> bool {
        let Some(field) = self.places.field(self.view, slot) else { return false };
        let is_null = matches!(value, Slot::Value(Value::Null));
        let is_other = |slot: usize| self.shown[slot].is_some_and(|value| value.as_object().is_none());
        (field.nullable || !is_null) && !self.places.path(self.scope, slot).any(is_other)
    }

    /// Says that the objects are there which the version cannot say and a field is in.
    fn set_hidden_above(&mut self, slot: usize, place: &Place<'a>) {
        let above = self.places.upwards(slot).skip(1).take_while(|above| !self.view.says[*above]);
        for above in above.filter(|_| !place.alone) {
            if self.slots.values[above].is_absent() {
                self.slots.set_object(above);
            }
        }
    }

    /// Takes back that an object is there which nobody wrote, if it is shown all the same.
    fn take_back(&mut self, body: &Body<'a>) {
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
            if field.nullable && !instead.is_absent() || !shows(self.view, field, &self.slots) {
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
