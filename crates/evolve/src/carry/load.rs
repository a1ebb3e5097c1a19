//! `load`: a document of the hub's version and what it carries, to what is stored at the hub.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use wheelwright_document::{Arena, Entry, Value, encode};

use super::{
    CarryFate, Places,
    computed::settle,
    entry::{Body, Carried, ExtraSort, Leg},
    items::{Items, Recognized},
    unload::{filled_items, hash_of_keys, hashes_of_items},
    writing::Writing,
};
use crate::{
    Lenses,
    lens::{
        computed::DerivationPlan,
        matching::Looks,
        plan::{Content, Level, Scope, ViewObject},
        state::{BAG, Slot, Slots, store},
    },
};

/// Entries by the way to where they belong.
#[derive(Clone, Default)]
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
            let at = entry.way.iter().fold(&mut root, |at, leg| at.step(leg, arena));
            at.here.push(position);
        }
        root
    }

    fn step(&mut self, leg: &Leg<'a>, arena: &'a Arena) -> &mut Self {
        let next = self.below.len();
        let found = *self.by_leg.entry(encode(leg.to_value(arena))).or_insert(next);
        if found == next {
            self.below.push((leg.clone(), Self::default()));
        }
        &mut self.below[found].1
    }

    /// Adds the entries of another way to the same place.
    fn join(&mut self, other: &Self, arena: &'a Arena) {
        self.here.extend_from_slice(&other.here);
        for (leg, below) in &other.below {
            self.step(leg, arena).join(below, arena);
        }
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
    /// How the version of the document declares the list and its items.
    levels: &'a [Level],
}

impl List<'_> {
    fn below(self) -> Self {
        Self { level: self.level + 1, levels: self.levels.get(1..).unwrap_or_default(), ..self }
    }
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
            writing.mark_empty(&view.objects[0]);
            // Only once everything is in its place is it known which objects nobody wrote.
            here().for_each(|(_, body)| writing.take_back(body));
            for (position, body) in here() {
                if let Body::Absent { id, place } = body {
                    self.fates[position] = writing.say_absent(id, place);
                }
            }
        }
        if tree.is_none() {
            writing.mark_empty(&view.objects[0]);
        }
        if !scope.computed.is_empty() {
            let (mut shown, mut following) = (Vec::new(), Vec::new());
            let mut is_known = vec![false; scope.slots.len()];
            for position in tree.iter().flat_map(|tree| &tree.here) {
                if let Body::Derived { shown: looks, following: keys } = &self.entries[*position].body {
                    for (id, look) in looks {
                        let Some(slot) = scope.layout.by_id.get(*id).map(|field| field.slot) else { continue };
                        let is_new = !std::mem::replace(&mut is_known[slot], true);
                        if is_new && writing.is_merely_shown(self.lenses, slot, *look, self.arena) {
                            shown.push(slot);
                        }
                    }
                    let plans = scope.computed.derivations.iter().enumerate();
                    let follows = |plan: &DerivationPlan| keys.iter().any(|key| **key == *plan.key);
                    following.extend(plans.filter(|(_, plan)| follows(plan)).map(|(at, _)| at));
                }
            }
            let slots = &mut writing.slots;
            let carried = &writing.before;
            settle(self.lenses, scope, view, slots, carried, &shown, following, self.metadata, self.arena);
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
                            let levels = &field.levels[..];
                            let list = List { places: writing.places, slot: field.slot, level: 0, levels };
                            self.content(content, list, value, inside.get(&field.slot).copied())
                        }
                        Some(_) => value,
                    };
                    writing.slots.values[field.slot] = Slot::Value(value);
                }
            }
        }
        // What the version would have pruned is nobody's, also if another version has a field of that name. A bag's name is
        // never left to others.
        let is_foreign = |entry: &mut Entry<'a>| !object.keeps_unknown && entry.key != BAG;
        let foreign: Vec<_> = unknown.extract_if(.., is_foreign).collect();
        for (sort, entries) in [(ExtraSort::Unknown, unknown), (ExtraSort::Foreign, foreign)] {
            if !entries.is_empty() {
                writing.extras.extend(entries.iter().map(|entry| (slot, sort, entry.key)));
                *sort.of(writing.slots.extras_mut(slot)) = entries;
            }
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
                let recognized = tree.map(|tree| self.find_items(element, list, items, tree, &mut trees));
                let below = list.below();
                let items = items.iter().zip(trees);
                let items = items.map(|(item, tree)| self.content(element, below, *item, tree.as_deref()));
                let items: Vec<_> = items.collect();
                if let (Some(tree), Some(recognized)) = (tree, recognized) {
                    self.keep_looks(tree, &recognized);
                }
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

    /// What items looked like stays known for as long as an entry stays an annotation that is about one of them.
    fn keep_looks(&mut self, tree: &Tree<'a>, recognized: &ByKeys<'e, 'a>) {
        for (leg, below) in &tree.below {
            let entry = match leg {
                Leg::Item { position, hash, .. } => {
                    recognized.get(&[][..]).and_then(|items| items.entry_of_item(*position, *hash))
                }
                Leg::Keys { fields, nth } => {
                    let items = recognized.get(&names_of(fields));
                    items.and_then(|items| items.entry_of_keys(hash_of_keys(fields), *nth))
                }
                Leg::Field(_) | Leg::Name(_) => None,
            };
            let Some(entry) = entry else { continue };
            let mut stays = false;
            below.each(&mut |position| stays |= self.fates[position].is_some_and(CarryFate::is_kept));
            if stays {
                self.fates[entry] = Some(CarryFate::UnknownField);
            }
        }
    }

    /// Finds the items that entries are about.
    fn find_items<'t>(
        &mut self,
        element: &'a Content,
        list: List<'a>,
        items: &'a [Value<'a>],
        tree: &'t Tree<'a>,
        trees: &mut [Option<Cow<'t, Tree<'a>>>],
    ) -> ByKeys<'e, 'a> {
        let filled = filled_items(self.lenses, element, items, self.arena);
        let mut before: HashMap<&'e [&'a str], Vec<(&'e Looks, usize)>> = HashMap::new();
        let entries = self.entries;
        for position in &tree.here {
            if let Body::Items(Items { keys, looks }) = &entries[*position].body {
                self.fates[*position] = None;
                before.entry(keys).or_default().push((looks, *position));
            }
        }
        let mut recognized = ByKeys::new();
        for (leg, below) in &tree.below {
            let names = match leg {
                Leg::Item { .. } => Vec::new(),
                Leg::Keys { fields, .. } => names_of(fields),
                Leg::Field(_) | Leg::Name(_) => continue,
            };
            // Every set of names costs as much as all items, so clients cannot be free to make them up.
            let has_keys_of_list =
                || recognized.contains_key(&names) || list.places.are_keys(list.slot, list.level, &names);
            if matches!(leg, Leg::Keys { .. }) && (names.is_empty() || !has_keys_of_list()) {
                below.each(&mut |position| self.fates[position] = Some(CarryFate::Undecodable));
                continue;
            }
            let recognized = recognized.entry(names).or_insert_with_key(|names| {
                let hashes = hashes_of_items(&filled, names);
                let before = before.remove(&**names).unwrap_or_default();
                Recognized::of(&filled, &hashes, !names.is_empty(), Level::identify(list.levels).1, before)
            });
            let found = match leg {
                Leg::Item { position, hash, nth } => recognized.find(*position, *hash, *nth),
                Leg::Keys { fields, nth } => {
                    let found = recognized.find_by_keys(hash_of_keys(fields), *nth);
                    found.filter(|found| has_keys(filled[*found], fields))
                }
                Leg::Field(_) | Leg::Name(_) => None,
            };
            // There are two ways to an item that looked otherwise when what nobody understands was written.
            match found.and_then(|found| trees.get_mut(found)) {
                Some(Some(tree)) => tree.to_mut().join(below, self.arena),
                Some(tree) => *tree = Some(Cow::Borrowed(below)),
                None => {}
            }
        }
        recognized
    }
}

/// The items of a list, to be found by what they looked like, by the names of their keys.
type ByKeys<'e, 'a> = HashMap<Vec<&'a str>, Recognized<'e>>;

fn names_of<'a>(fields: &[(&'a str, Option<Value<'a>>)]) -> Vec<&'a str> {
    fields.iter().map(|(name, _)| *name).collect()
}

fn has_keys(item: Value<'_>, fields: &[(&str, Option<Value<'_>>)]) -> bool {
    fields.iter().all(|(name, value)| match (item.get(name), value) {
        (Some(a), Some(b)) => a.equivalent(*b),
        (a, b) => a.is_none() && b.is_none(),
    })
}
