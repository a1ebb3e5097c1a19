//! Writes as a server makes them, and what must have become of the tags.

use std::{
    collections::{BTreeMap, HashSet},
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
};

use serde_json::{Value as Json, json};
use wheelwright_document::{Arena, ItemOrigins, JsonPatch, Value, decode, encode, merge_patch};
use wheelwright_evolve::{Part, laws::Random};
use wheelwright_schema::Stages;

use crate::{
    documents::{Maker, instances},
    edits::{SORTS, edit, patch},
    oracle::{Case, size},
    subjects::Subject,
    tags,
};

/// What was tried, and what did not hold.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) lists: usize,
    pub(crate) writes: usize,
    /// How often each edit was made.
    pub(crate) edits: BTreeMap<String, usize>,
    /// Writes to lists with items that look equal to the client.
    pub(crate) alike: usize,
    /// Values that were hidden from clients.
    pub(crate) hidden: usize,
    pub(crate) broken: Vec<String>,
}

impl Counts {
    pub(crate) fn add(mut self, other: Self) -> Self {
        self.lists += other.lists;
        self.writes += other.writes;
        self.alike += other.alike;
        self.hidden += other.hidden;
        self.broken.extend(other.broken);
        for (edit, count) in other.edits {
            *self.edits.entry(edit).or_default() += count;
        }
        self
    }
}

/// Writes to one list of a kind, each to a document of its own.
pub(crate) fn try_list(subject: &Subject, list: usize, writes: usize, counts: &mut Counts) {
    counts.lists += 1;
    for number in 0..writes {
        let seed = BuildHasherDefault::<DefaultHasher>::default().hash_one((&subject.name, list, number));
        if let Err(why) = try_write(subject, list, &mut Random::new(seed), counts) {
            counts.broken.push(format!("{}, list {list}, write {number}: {why}", subject.name));
        }
    }
}

/// A stored document, what the client sees of it and what the other version does.
struct Stored<'a> {
    subject: &'a Subject,
    stored: Value<'a>,
    shown: Value<'a>,
    rich: Json,
    poor: Json,
    arena: &'a Arena,
}

/// A document after a write.
struct After {
    /// What the client wrote, in normal form.
    written: Json,
    rich: Json,
}

fn try_write(subject: &Subject, list: usize, random: &mut Random, counts: &mut Counts) -> Result<(), String> {
    let arena = Arena::new();
    let mut maker = Maker::new(subject, random);
    let document = maker.document(&subject.lists[list]);
    let kind = &subject.kind;
    let normal = kind.normal(subject.rich, read(&document, &arena), &arena).map_err(|error| error.to_string())?;
    let stored = kind.put(subject.rich, normal, None, Part::Whole, &arena).map_err(|error| error.to_string())?;
    let shown = kind.get(subject.poor, stored, &arena);
    let (rich, poor) = (json(kind.get(subject.rich, stored, &arena)), json(shown));
    let before = Stored { subject, stored, shown, rich, poor, arena: &arena };
    if !tags::of(&before.poor).is_empty() {
        return Err(format!("the client sees what is hidden from it: {}", before.poor));
    }
    counts.hidden += tags::of(&before.rich).len();
    match maker.random.below(5) {
        0 | 1 => try_patch(&before, &mut maker, list, counts),
        channel => try_edit(&before, &mut maker, list, ["PUT", "PUT", "merge patch"][channel - 2], counts),
    }
}

/// A JSON patch: every hidden value is where its operations put it.
fn try_patch(before: &Stored<'_>, maker: &mut Maker<'_>, list: usize, counts: &mut Counts) -> Result<(), String> {
    let (mut expected_poor, mut expected) = (before.poor.clone(), before.rich.clone());
    let patch = patch(maker, before.subject, list, &mut expected_poor, &mut expected);
    counts.writes += 1;
    for name in &patch.names {
        *counts.edits.entry(format!("JSON patch: {name}")).or_default() += 1;
    }
    counts.alike += usize::from(have_alike(before, list));
    let sent = Json::Array(patch.operations);
    let (patched, origins) = JsonPatch::parse(read(&sent, before.arena))
        .and_then(|patch| patch.apply_tracked(before.shown, before.arena))
        .map_err(|error| error.to_string())?;
    let after = before.write(patched, origins.as_ref())?;
    same_places(&expected, &after.rich)
        .map_err(|why| format!("{why}\n{before}\n  patch  {sent}\n  after  {}", after.rich))
}

/// An edit of one list, which the client sends as a whole.
fn try_edit(
    before: &Stored<'_>,
    maker: &mut Maker<'_>,
    list: usize,
    channel: &str,
    counts: &mut Counts,
) -> Result<(), String> {
    // Mostly the list itself, at times one that it is in.
    let lists = &before.subject.lists;
    let outer: Vec<usize> = (0..lists.len()).filter(|at| lists[list].path.starts_with(&lists[*at].path)).collect();
    let list = if maker.random.one_in(3) { outer[maker.random.below(outer.len())] } else { list };
    let instances = instances(&before.poor, &lists[list].path);
    let Some(at) = maker.random.pick(&instances).cloned() else { return Ok(()) };
    let items_at =
        |document: &Json| -> Vec<Json> { document.pointer(&at).and_then(Json::as_array).cloned().unwrap_or_default() };
    let old = items_at(&before.poor);
    let (sort, name) = SORTS[maker.random.below(SORTS.len())];
    let Some(edit) = edit(sort, maker, list, &old) else { return Ok(()) };
    counts.writes += 1;
    *counts.edits.entry(format!("{channel}: {name}")).or_default() += 1;
    counts.alike += usize::from(has_alike(&old));
    let mut sent = before.poor.clone();
    *sent.pointer_mut(&at).expect("it is there") = Json::Array(edit.items);
    let sent = match channel {
        "PUT" => read(&sent, before.arena),
        _ => merge_patch(before.shown, read(&difference(&before.poor, &sent), before.arena), before.arena),
    };
    let after = before.write(sent, None)?;
    let new = items_at(&after.written);
    let hidden: Vec<Vec<u64>> = items_at(&before.rich).iter().map(tags::of).collect();
    let (origins, keys) = (&edit.origins[..], &lists[list].keys[..]);
    let weights: Vec<usize> = items_at(&before.rich).iter().map(size).collect();
    let defaults = &before.subject.defaults_of_items(list);
    let case = Case { sort, old: &old, new: &new, origins, keys, defaults, hidden: &hidden, weights: &weights };
    let told = |why: String| {
        format!("{why}\n{before}\n  {channel}, {name} of {at}: {}\n  after  {}", Json::Array(new.clone()), after.rich)
    };
    let rich_items = items_at(&before.rich);
    let mut expected = before.rich.clone();
    match case.expected() {
        Some(origins) => {
            let item = |origin: Option<usize>| origin.map_or(Json::Null, |origin| rich_items[origin].clone());
            *expected.pointer_mut(&at).expect("both have it") = origins.into_iter().map(item).collect();
            same_places(&expected, &after.rich).map_err(told)
        }
        None => {
            let now: Vec<Vec<u64>> = items_at(&after.rich).iter().map(tags::of).collect();
            case.check_looks(&now).map_err(told)?;
            let mut rest = after.rich.clone();
            for document in [&mut expected, &mut rest] {
                *document.pointer_mut(&at).expect("both have it") = Json::Null;
            }
            same_places(&expected, &rest).map_err(told)
        }
    }
}

impl Stored<'_> {
    /// A write by the client, as a server makes it.
    fn write<'a>(&'a self, sent: Value<'a>, origins: Option<&'a ItemOrigins<'a>>) -> Result<After, String> {
        let Subject { kind, rich, poor, .. } = self.subject;
        let (lenses, arena) = (kind.lenses(), self.arena);
        let program = kind.program(*poor).expect("the version is declared");
        let defaulted = program.run(sent, arena, Stages::DEFAULT).map_err(|error| error.to_string())?.value;
        let defaulted = lenses.withdraw(*poor, defaulted, sent, self.shown, origins, arena);
        let normal = lenses.fill(*poor, defaulted, arena);
        let put = lenses.put_patched(*poor, normal, Some(self.stored), Part::Whole, origins, arena);
        let (stored, _) = put.map_err(|error| error.to_string())?;
        let (written, found) = (json(normal), json(lenses.get(*poor, stored, arena)));
        if written != found {
            return Err(format!("the client does not read what it wrote\n  written {written}\n  read    {found}"));
        }
        Ok(After { written, rich: json(lenses.get(*rich, stored, arena)) })
    }
}

impl std::fmt::Display for Stored<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "  before {}\n  shown  {}", self.rich, self.poor)
    }
}

/// Whether every tag is where it is expected.
fn same_places(expected: &Json, found: &Json) -> Result<(), String> {
    let (expected, found) = (tags::places(expected), tags::places(found));
    match expected == found {
        true => Ok(()),
        false => Err(format!("what is hidden is elsewhere\n  expected {expected:?}\n  found    {found:?}")),
    }
}

/// The merge patch that makes one document of another.
fn difference(old: &Json, new: &Json) -> Json {
    let (Json::Object(old_fields), Json::Object(new_fields)) = (old, new) else { return new.clone() };
    let removed =
        old_fields.keys().filter(|name| !new_fields.contains_key(*name)).map(|name| (name.clone(), json!(null)));
    let changed = new_fields.iter().filter(|(name, value)| old_fields.get(*name) != Some(*value));
    let changed = changed.map(|(name, value)| (name.clone(), difference(&old[name], value)));
    Json::Object(removed.chain(changed).collect())
}

fn have_alike(before: &Stored<'_>, list: usize) -> bool {
    let lists = instances(&before.poor, &before.subject.lists[list].path);
    lists.iter().any(|at| before.poor.pointer(at).and_then(Json::as_array).is_some_and(|items| has_alike(items)))
}

fn has_alike(items: &[Json]) -> bool {
    let mut seen = HashSet::new();
    !items.iter().all(|item| seen.insert(item.to_string()))
}

fn read<'a>(value: &Json, arena: &'a Arena) -> Value<'a> {
    decode(arena.text(&value.to_string()).as_bytes(), arena).unwrap()
}

fn json(value: Value<'_>) -> Json {
    serde_json::from_slice(&encode(value)).unwrap()
}
