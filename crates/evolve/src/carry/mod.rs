//! The carry: the bag as annotations, for where the converter never sees what is stored.
//!
//! Under a Kubernetes API server a document is stored as some version, and what that version cannot say would be pruned.
//! So it rides on the document: one annotation for every field, item by item, that the version cannot say.
//! [`Carry::unload`] makes such a document of what is stored at a hub, [`Carry::load`] reads it, and
//! [`Carry::convert`] leads from any version to any other. Entries go with the object or item that they belong to: a
//! client that removes it removes them, and none is ever given to another one.

mod computed;
mod entry;
mod items;
mod load;
mod size;
#[cfg(test)]
mod tests;
mod unload;
mod writing;

use std::{
    collections::{HashMap, HashSet},
    error::Error,
    fmt,
};

use wheelwright_document::{Arena, Entry, Value};
use wheelwright_findings::{Rule, rules};

pub use self::size::{ANNOTATION_LIMIT, CarrySize, CarryTooLarge, carry_size};
use self::{
    entry::Carried,
    load::{Load, Tree},
    unload::Unload,
};
use crate::{
    Envelope, Lenses,
    lens::{
        metadata_of,
        plan::{Scope, View, ViewField},
    },
};

/// What the names of the annotations begin with.
pub const CARRY_PREFIX: &str = "carry.wheelwright.dev/";

/// The documents of one version of a kind, with what they carry. Make one for every version that is served.
#[derive(Debug)]
pub struct Carry<'l> {
    lenses: &'l Lenses,
    places: Vec<Places>,
}

/// A document that was read, as it is stored at the hub.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded<'a> {
    /// What is stored.
    pub stored: Value<'a>,
    /// The annotations that did not become part of it.
    pub notes: Vec<CarryNote<'a>>,
}

/// An annotation that did not become part of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CarryNote<'a> {
    /// Its name.
    pub annotation: &'a str,
    /// What became of it.
    pub fate: CarryFate,
}

/// What became of an annotation that did not become part of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CarryFate {
    /// It cannot be decoded. It stays an annotation.
    Undecodable,
    /// It is about a field that no version has. It stays an annotation: a newer release may have written it.
    UnknownField,
    /// The object or item that it belongs to is gone, and it is gone, too.
    Gone,
    /// The document says something else in its place, and it is gone.
    Superseded,
}

impl CarryFate {
    /// Whether the annotation stays as it is.
    pub fn is_kept(self) -> bool {
        matches!(self, Self::Undecodable | Self::UnknownField)
    }
}

impl CarryNote<'_> {
    /// The rule that is broken; none if entries just went the way of what they belong to.
    pub fn rule(&self) -> Option<&'static Rule> {
        self.fate.is_kept().then_some(&rules::UNDECODABLE_CARRY)
    }
}

impl fmt::Display for CarryNote<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fate = match self.fate {
            CarryFate::Undecodable => "cannot be decoded, and is kept as it is; remove it if no release wrote it",
            CarryFate::UnknownField => "is about a field that no version has, and is kept as it is",
            CarryFate::Gone => "went with the object or item that it belonged to",
            CarryFate::Superseded => "was replaced by what the document says",
        };
        write!(f, "metadata.annotations[{}] {fate}", self.annotation)
    }
}

/// A document has no place for annotations: its metadata or annotations are no object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoAnnotations;

impl fmt::Display for NoAnnotations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata or metadata.annotations is no object, so that nothing can be carried there")
    }
}

impl Error for NoAnnotations {}

impl<'l> Carry<'l> {
    /// The carry of the hub's version. There is none for documents without metadata.
    pub fn new(lenses: &'l Lenses) -> Option<Self> {
        let Envelope::Resource(_) = lenses.envelope else { return None };
        let places = lenses.scopes.iter().map(|scope| Places::of(scope, lenses.hub().position())).collect();
        Some(Self { lenses, places })
    }

    /// What is stored at the hub as a document of its version, with what that cannot say in annotations. Frozen defaults
    /// are not filled in.
    ///
    /// # Errors
    /// There is something to carry, and metadata or its annotations are no object.
    pub fn unload<'a>(&'a self, stored: Value<'a>, arena: &'a Arena) -> Result<Value<'a>, NoAnnotations> {
        let Value::Object(entries) = stored else { return Ok(stored) };
        let (outside, inside) = self.lenses.split(entries, arena);
        let mut unload = Unload::new(self.lenses, &self.places, metadata_of(outside), arena);
        let shown = unload.scope(0, inside);
        let outside = with_annotations(outside, &unload.found, arena)?;
        Ok(self.lenses.joined(self.lenses.hub(), outside, shown, arena))
    }

    /// A document of the hub's version and what it carries, as they are stored at the hub.
    pub fn load<'a>(&'a self, document: Value<'a>, arena: &'a Arena) -> Loaded<'a> {
        let Value::Object(entries) = document else { return Loaded { stored: document, notes: Vec::new() } };
        let (outside, inside) = self.lenses.split(entries, arena);
        let mut notes = Vec::new();
        let mut names = Vec::new();
        let mut carried = Vec::new();
        for annotation in annotations(outside).iter().filter(|annotation| annotation.key.starts_with(CARRY_PREFIX)) {
            match annotation.value.as_str().and_then(|text| Carried::decode(text, arena)) {
                Some(entry) => {
                    names.push(annotation.key);
                    carried.push(entry);
                }
                None => notes.push(CarryNote { annotation: annotation.key, fate: CarryFate::Undecodable }),
            }
        }
        let tree = (!carried.is_empty()).then(|| Tree::of(&carried, arena));
        let undecodable: HashSet<&str> = notes.iter().map(|note| note.annotation).collect();
        let metadata = metadata_of(without_annotations(outside, &undecodable, arena));
        let mut load = Load::new(self.lenses, &self.places, &carried, metadata, arena);
        let stored = load.scope(0, inside, tree.as_ref());
        let told = names.iter().zip(&load.fates);
        notes.extend(told.filter_map(|(annotation, fate)| Some(CarryNote { annotation, fate: (*fate)? })));
        let kept: HashSet<&str> = notes.iter().filter(|note| note.fate.is_kept()).map(|note| note.annotation).collect();
        let outside = without_annotations(outside, &kept, arena);
        Loaded { stored: self.lenses.joined(self.lenses.hub(), outside, stored, arena), notes }
    }

    /// A document of this version as one of another version of the same kind, both with what they carry.
    ///
    /// # Errors
    /// There is something to carry, and metadata or its annotations are no object.
    pub fn convert<'a>(
        &'a self,
        document: Value<'a>,
        to: &'a Carry<'_>,
        arena: &'a Arena,
    ) -> Result<(Value<'a>, Vec<CarryNote<'a>>), NoAnnotations> {
        let Loaded { stored, notes } = self.load(document, arena);
        Ok((to.unload(self.lenses.rehub(stored, to.lenses, arena), arena)?, notes))
    }
}

/// What a scope's layout and view at the hub do not say by themselves.
#[derive(Debug)]
pub(crate) struct Places {
    /// The object that each field is stored in; none for those of the scope's own.
    pub(crate) parents: Vec<Option<usize>>,
    /// Where the version shows each field: the object, and the position in it.
    shown_at: Vec<Option<(usize, usize)>>,
    /// Of members of unions that the version cannot say: the unions.
    unions: Vec<Vec<UnionPlace>>,
    /// Whether a field is computed in an object that the version can say, and which is computed for those that cannot:
    /// it goes with the object, whatever it is computed from.
    is_in_known: Vec<bool>,
    /// The fields that tell the items of a list apart in some version, by the slot of the list and the level in it.
    keys: HashMap<(usize, usize), Vec<Vec<Box<str>>>>,
}

/// An object of the version that is a union.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnionPlace {
    /// Its slot; none for the scope's own.
    pub(crate) slot: Option<usize>,
    /// Its position among the objects of the view.
    pub(crate) object: usize,
}

impl Places {
    fn of(scope: &Scope, version: usize) -> Self {
        let mut shown_at = vec![None; scope.slots.len()];
        let mut unions = vec![Vec::new(); scope.slots.len()];
        let objects = scope.views[version].as_ref().map_or(&[][..], |view| &view.objects);
        let mut slots = vec![None; objects.len()];
        for (object, shown) in objects.iter().enumerate() {
            for (position, (_, field)) in shown.fields.list.iter().enumerate() {
                shown_at[field.slot] = Some((object, position));
                if let Some(below) = field.object {
                    slots[below] = Some(field.slot);
                }
            }
        }
        for ((object, shown), slot) in objects.iter().enumerate().zip(slots) {
            for hidden in shown.union.iter().flat_map(|union| &union.hidden) {
                unions[*hidden].push(UnionPlace { slot, object });
            }
        }
        let is_in_known = vec![false; scope.slots.len()];
        let mut places =
            Self { parents: Self::parents_of(scope), shown_at, unions, is_in_known, keys: Self::keys_of(scope) };
        for way in &scope.computed.all.links {
            for field in &scope.computed.links[way.link].sides(way.direction).1.fields {
                for slot in way.computed(field) {
                    let holder = places.upwards(*slot).skip(1).find(|above| places.shown_at[*above].is_some());
                    places.is_in_known[*slot] |= holder.is_some_and(|holder| field.slots.contains(&holder));
                }
            }
        }
        places
    }

    fn keys_of(scope: &Scope) -> HashMap<(usize, usize), Vec<Vec<Box<str>>>> {
        let mut keys: HashMap<_, Vec<Vec<Box<str>>>> = HashMap::new();
        let objects = scope.views.iter().flatten().flat_map(|view| &view.objects);
        for (_, field) in objects.flat_map(|object| &object.fields.list) {
            for (level, said) in field.levels.iter().enumerate().filter(|(_, said)| !said.keys.is_empty()) {
                let all = keys.entry((field.slot, level)).or_default();
                if !all.contains(&said.keys) {
                    all.push(said.keys.clone());
                }
            }
        }
        keys
    }

    /// Whether these fields tell the items of a list apart in some version.
    pub(crate) fn are_keys(&self, slot: usize, level: usize, names: &[&str]) -> bool {
        let is_same = |keys: &Vec<Box<str>>| keys.iter().map(|key| &**key).eq(names.iter().copied());
        self.keys.get(&(slot, level)).is_some_and(|keys| keys.iter().any(is_same))
    }

    /// The object that each field of a scope is stored in; none for those of the scope's own.
    pub(crate) fn parents_of(scope: &Scope) -> Vec<Option<usize>> {
        let layout = &scope.layout;
        let mut parents = vec![None; scope.slots.len()];
        for (slot, object) in layout.object_of.iter().enumerate() {
            if let Some(object) = object {
                layout.objects[*object].stored().for_each(|field| parents[field.slot] = Some(slot));
            }
        }
        parents
    }

    /// A field, the object that it is stored in, and so on.
    pub(crate) fn upwards(&self, slot: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(slot), |slot| self.parents[*slot])
    }

    /// A field and the objects above it, as far as they are objects that the version can say; the lowest comes first.
    pub(crate) fn path(&self, scope: &Scope, slot: usize) -> impl Iterator<Item = usize> {
        self.upwards(slot).filter(|slot| self.shown_at[*slot].is_some() && scope.layout.object_of[*slot].is_some())
    }

    /// How the version shows a field.
    pub(crate) fn field<'v>(&self, view: &'v View, slot: usize) -> Option<&'v ViewField> {
        self.shown_at[slot].map(|(object, position)| &view.objects[object].fields.list[position].1)
    }

    /// Whether an object that is there is not shown: the version does not have it, or refuses `{}` and sees nothing in it.
    pub(crate) fn is_hidden(&self, view: &View, slot: usize, is_shown: impl Fn(usize) -> bool) -> bool {
        self.field(view, slot).is_none_or(|field| field.refuses_empty && !is_shown(slot))
    }

    /// A field that the version cannot say and the objects above it that it cannot say either, up to one that some version
    /// has elsewhere: with the last of them, all go.
    fn bound(&self, scope: &Scope, slot: usize) -> impl Iterator<Item = usize> {
        let next = |slot: &usize| self.parents[*slot].filter(|_| !scope.moved[*slot]);
        std::iter::successors(Some(slot), next).take_while(|slot| self.shown_at[*slot].is_none())
    }

    /// Whether some version has a field that this one cannot say outside of the object that this one would have it in, so
    /// that it stays when the object goes.
    pub(crate) fn is_moved(&self, scope: &Scope, slot: usize) -> bool {
        self.bound(scope, slot).any(|slot| scope.moved[slot])
    }

    /// Whether a client can take a field away that the version cannot say, and leave what it is computed from.
    pub(crate) fn may_go_alone(&self, scope: &Scope, slot: usize) -> bool {
        self.is_in_known[slot] || self.unions_of(scope, slot).next().is_some()
    }

    /// The unions that take a field along when another member is set.
    pub(crate) fn unions_of(&self, scope: &Scope, slot: usize) -> impl Iterator<Item = UnionPlace> {
        self.bound(scope, slot).flat_map(|slot| &self.unions[slot]).copied()
    }
}

/// The annotations of a document.
pub(crate) fn annotations<'a>(outside: &[Entry<'a>]) -> &'a [Entry<'a>] {
    let metadata = outside.iter().find(|entry| entry.key == "metadata");
    let annotations = metadata.and_then(|metadata| metadata.value.get("annotations"));
    annotations.and_then(Value::as_object).unwrap_or_default()
}

/// The parts of a document that no lens looks at, without annotations that carry something. If none are left, there is
/// no `annotations`, as an API server has it.
fn without_annotations<'a>(outside: &'a [Entry<'a>], kept: &HashSet<&str>, arena: &'a Arena) -> &'a [Entry<'a>] {
    let stays = |entry: &&Entry<'a>| !entry.key.starts_with(CARRY_PREFIX) || kept.contains(entry.key);
    let before = annotations(outside);
    let left: Vec<_> = before.iter().filter(stays).copied().collect();
    if left.len() == before.len() {
        return outside;
    }
    set_annotations(outside, Some(&left).filter(|left| !left.is_empty()), arena)
}

/// The parts of a document that no lens looks at, with annotations that carry something.
fn with_annotations<'a>(
    outside: &'a [Entry<'a>],
    carried: &[Carried<'a>],
    arena: &'a Arena,
) -> Result<&'a [Entry<'a>], NoAnnotations> {
    if carried.is_empty() {
        return Ok(outside);
    }
    let metadata = outside.iter().find(|entry| entry.key == "metadata").map(|entry| entry.value);
    let present = metadata.and_then(|metadata| metadata.get("annotations"));
    if !matches!(metadata, None | Some(Value::Object(_)))
        || !matches!(present, None | Some(Value::Null | Value::Object(_)))
    {
        return Err(NoAnnotations);
    }
    let mut all = annotations(outside).to_vec();
    let mut taken: HashSet<String> = all.iter().map(|entry| entry.key.to_owned()).collect();
    let mut added = Vec::with_capacity(carried.len());
    for entry in carried {
        let names = (0..).map(|salt| format!("{CARRY_PREFIX}{}", entry.name(salt, arena)));
        if let Some(name) = names.into_iter().find(|name| !taken.contains(name)) {
            added.push(Entry { key: arena.text(&name), value: Value::string(entry.encode(arena)) });
            taken.insert(name);
        }
    }
    added.sort_unstable_by_key(|entry| entry.key);
    all.extend(added);
    Ok(set_annotations(outside, Some(&all), arena))
}

fn set_annotations<'a>(
    outside: &[Entry<'a>],
    annotations: Option<&Vec<Entry<'a>>>,
    arena: &'a Arena,
) -> &'a [Entry<'a>] {
    let annotations =
        annotations.map(|entries| Entry { key: "annotations", value: Value::Object(arena.slice(entries)) });
    let mut result = outside.to_vec();
    let place = result.iter().position(|entry| entry.key == "metadata").unwrap_or_else(|| {
        result.push(Entry { key: "metadata", value: Value::Object(&[]) });
        result.len() - 1
    });
    let metadata = result[place].value.as_object().unwrap_or_default();
    let others = metadata.iter().filter(|entry| entry.key != "annotations").copied();
    let metadata: Vec<_> = others.chain(annotations).collect();
    result[place].value = Value::Object(arena.slice(&metadata));
    arena.slice(&result)
}
