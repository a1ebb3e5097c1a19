//! Lenses: every version as a view of one stored document.
//!
//! Stored is the shape of the hub. What it cannot hold is kept in the *bag* of the object that it belongs to, by field
//! id. [`Lenses::get`] shows a stored document as a version; [`Lenses::put`] changes what is stored where a document of a
//! version differs from what that version showed, and nowhere else; [`Lenses::rehub`] stores the same in the shape of
//! another hub.

mod adopt;
mod alike;
mod census;
mod compile;
pub(crate) mod computed;
mod convert;
#[cfg(test)]
mod counterexamples;
mod escape;
mod fill;
mod freeze;
pub(crate) mod get;
pub(crate) mod matching;
pub(crate) mod plan;
mod put;
pub(crate) mod record;
mod removals;
mod resets;
pub(crate) mod resolve;
mod same;
mod size;
pub(crate) mod state;
pub(crate) mod trouble;

use std::{error::Error, fmt, sync::Arc};

use wheelwright_document::{Arena, Entry, ItemOrigins, Value};

pub(crate) use self::{
    census::Tally,
    same::{by_key, equal, equal_option, find, hash, same, same_option},
};
use self::{
    get::Get,
    plan::{Content, Scope},
    put::Put,
    record::Notes,
    resolve::Resolve,
    state::{Slots, store},
    trouble::Troubles,
};
pub use self::{
    matching::{match_items, match_known},
    record::{Provenance, Source, Trail},
    removals::{UncertainRemoval, match_concealed},
    trouble::Trouble,
};
use crate::{FieldId, History, Hooks, OlderWrite, Part, VersionIndex, link::Computations};

/// The lenses of a kind for one hub. Compile once, use from any number of threads.
#[derive(Debug)]
pub struct Lenses {
    hub: VersionIndex,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) envelope: Envelope,
    pub(crate) computations: Arc<Computations>,
    /// Whether a version has anything that is filled in, by version.
    fills: Vec<bool>,
    /// Whether writes through a version reset what it cannot say, by version.
    resets: Vec<bool>,
    /// Whether something may be computed of metadata.
    reads_metadata: bool,
}

/// The parts of a document that no lens looks at.
#[derive(Clone, Debug)]
pub enum Envelope {
    /// Documents have none.
    None,
    /// Documents have apiVersion, kind and metadata; what the first two are, by version.
    Resource(Vec<TypeMeta>),
}

/// What documents of a version say of themselves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeMeta {
    /// Their apiVersion.
    pub api_version: Box<str>,
    /// Their kind.
    pub kind: Box<str>,
}

impl Envelope {
    fn is_outside(&self, key: &str) -> bool {
        matches!(self, Self::Resource(_)) && matches!(key, "apiVersion" | "kind" | "metadata")
    }
}

/// What a client should know of a write that was done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PutReport {
    /// What could not be computed for other versions.
    pub troubles: Vec<Trouble>,
    /// Removed list items that the client could not distinguish from others.
    pub removals: Vec<UncertainRemoval>,
}

/// A write that is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PutError {
    /// The document is no object, but what this says.
    NoObject(&'static str),
    /// A policy refuses it: the field with this path, in the newest version that has it, would go back to its default.
    WouldReset(Box<str>),
}

impl fmt::Display for PutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject(kind_name) => write!(f, "a document must be an object, not {kind_name}"),
            Self::WouldReset(field) => write!(f, "the write would reset {field}, which its version cannot say"),
        }
    }
}

impl Error for PutError {}

/// The metadata among the entries that no lens looks at.
pub(crate) fn metadata_of<'a>(outside: &[Entry<'a>]) -> Option<Value<'a>> {
    outside.iter().find(|entry| entry.key == "metadata").map(|entry| entry.value)
}

impl Lenses {
    /// The lenses of a history for a hub. What a write through a version does to a field that it cannot say is up to
    /// `policy`. Changes that call a hook are left out: see [`Kind::compile_with`](crate::Kind::compile_with).
    pub fn compile(
        history: &History,
        hub: VersionIndex,
        envelope: Envelope,
        policy: &dyn Fn(VersionIndex, FieldId) -> OlderWrite,
    ) -> Self {
        Self::computing(history, hub, envelope, policy, Computations::of(history, &Hooks::default()).0.into())
    }

    /// The same, with what is computed between the versions.
    pub(crate) fn computing(
        history: &History,
        hub: VersionIndex,
        envelope: Envelope,
        policy: &dyn Fn(VersionIndex, FieldId) -> OlderWrite,
        computations: Arc<Computations>,
    ) -> Self {
        let scopes = compile::compile(&adopt::adopt(history, &computations), hub, policy, &computations);
        let resets = |version: VersionIndex| {
            let mut views = scopes.iter().filter_map(|scope| scope.views[version.position()].as_ref());
            views.any(|view| !view.resets.is_empty())
        };
        let resets = history.indexes().map(resets).collect();
        let reads_metadata = computations.read_metadata();
        let mut lenses = Self { hub, scopes, envelope, computations, fills: Vec::new(), resets, reads_metadata };
        // What is adopted is not filled in, so that the history as it is decides here.
        freeze::freeze(&mut lenses, history);
        lenses.fills = history.indexes().map(|version| fill::find_filled(&mut lenses.scopes, version)).collect();
        alike::find_alike(&mut lenses.scopes);
        alike::find_passing(&mut lenses.scopes, &lenses.computations);
        lenses
    }

    /// The version whose shape is stored.
    pub fn hub(&self) -> VersionIndex {
        self.hub
    }

    /// A stored document as a version shows it, with the frozen defaults of what is absent.
    pub fn get<'a>(&'a self, version: VersionIndex, stored: Value<'a>, arena: &'a Arena) -> Value<'a> {
        self.get_with(Get::new(self, version, arena, ()), stored).0
    }

    /// As [`get`](Self::get), and where every field of the result comes from.
    pub fn explain<'a>(
        &'a self,
        version: VersionIndex,
        stored: Value<'a>,
        arena: &'a Arena,
    ) -> (Value<'a>, Vec<Provenance>) {
        let (shown, notes) = self.get_with(Get::new(self, version, arena, Notes::default()), stored);
        (shown, notes.found)
    }

    /// As [`get`](Self::get), and what could not be computed.
    pub fn get_telling<'a>(
        &'a self,
        version: VersionIndex,
        stored: Value<'a>,
        arena: &'a Arena,
    ) -> (Value<'a>, Vec<Trouble>) {
        let troubles = Troubles::listening();
        let mut get = Get::new(self, version, arena, ());
        get.troubles = troubles.clone();
        (self.get_with(get, stored).0, troubles.found())
    }

    /// What is stored once a document of a version was written, in the place of an old one. Only the part is written; the
    /// rest is taken from the old one. apiVersion, kind and metadata are those of the document.
    ///
    /// # Errors
    /// The document is no object, or a policy refuses writes that would reset what the version cannot say.
    pub fn put<'a>(
        &'a self,
        version: VersionIndex,
        document: Value<'a>,
        old: Option<Value<'a>>,
        part: Part,
        arena: &'a Arena,
    ) -> Result<Value<'a>, PutError> {
        Ok(self.put_heard(version, document, old, part, arena, Troubles::default(), None)?.0)
    }

    /// As [`put`](Self::put), with a report, and for a JSON patch whose item provenance is known.
    ///
    /// `origins` are those of `document` against what [`get`](Self::get) shows of `old`. In the lists that they cover, each
    /// item keeps exactly the hidden fields of the item it continues, and a new item has none. In lists with keys, an item
    /// whose key changed is another item, as in every write.
    ///
    /// # Errors
    /// As for [`put`](Self::put).
    pub fn put_patched<'a>(
        &'a self,
        version: VersionIndex,
        document: Value<'a>,
        old: Option<Value<'a>>,
        part: Part,
        origins: Option<&'a ItemOrigins<'a>>,
        arena: &'a Arena,
    ) -> Result<(Value<'a>, PutReport), PutError> {
        let troubles = Troubles::listening();
        let (stored, removals) = self.put_heard(version, document, old, part, arena, troubles.clone(), origins)?;
        Ok((stored, PutReport { troubles: troubles.found(), removals }))
    }

    /// As [`put`](Self::put), and what could not be computed.
    ///
    /// # Errors
    /// As for [`put`](Self::put).
    pub fn put_telling<'a>(
        &'a self,
        version: VersionIndex,
        document: Value<'a>,
        old: Option<Value<'a>>,
        part: Part,
        arena: &'a Arena,
    ) -> Result<(Value<'a>, Vec<Trouble>), PutError> {
        let (stored, report) = self.put_patched(version, document, old, part, None, arena)?;
        Ok((stored, report.troubles))
    }

    #[expect(clippy::too_many_arguments, reason = "a write is these, and only this crate spells them out")]
    fn put_heard<'a>(
        &'a self,
        version: VersionIndex,
        document: Value<'a>,
        old: Option<Value<'a>>,
        part: Part,
        arena: &'a Arena,
        troubles: Troubles,
        origins: Option<&'a ItemOrigins<'a>>,
    ) -> Result<(Value<'a>, Vec<UncertainRemoval>), PutError> {
        if document.as_object().is_none() {
            return Err(PutError::NoObject(document.kind_name()));
        }
        let mut put = Put::new(self, version, arena, None);
        (put.troubles, put.origins) = (troubles, origins);
        let stored = self.put_with(&mut put, document, old, part);
        match put.refused {
            Some(path) => Err(PutError::WouldReset(path.into())),
            None => Ok((stored, put.removed)),
        }
    }

    /// What is stored once a document is as a version is to show it, without a client that writes it: as for
    /// [`put`](Self::put), but what the version cannot say stays, whatever the policies.
    pub fn replaced<'a>(
        &'a self,
        version: VersionIndex,
        document: Value<'a>,
        old: Value<'a>,
        arena: &'a Arena,
    ) -> Value<'a> {
        let mut put = Put::computing(self, version, arena, None);
        self.put_with(&mut put, document, Some(old), Part::Whole)
    }

    /// The same document, stored in the shape of another hub of the same history.
    pub fn rehub<'a>(&'a self, stored: Value<'a>, to: &'a Lenses, arena: &'a Arena) -> Value<'a> {
        let Value::Object(entries) = stored else { return stored };
        let (outside, inside) = self.split(entries, arena);
        let moved = self.rehub_scope(0, inside, to, metadata_of(outside), arena);
        to.joined(to.hub, outside, moved, arena)
    }

    fn get_with<'a, R: record::Recorder>(&'a self, get: Get<'a, R>, stored: Value<'a>) -> (Value<'a>, R) {
        let mut get = get.with_room();
        let Value::Object(entries) = stored else { return (stored, get.recorder) };
        let (outside, inside) = self.split(entries, get.arena);
        get.metadata = metadata_of(outside);
        let shown = get.scope(0, inside);
        (self.joined(get.version, outside, shown, get.arena), get.recorder)
    }

    fn put_with<'a>(&'a self, put: &mut Put<'a>, document: Value<'a>, old: Option<Value<'a>>, part: Part) -> Value<'a> {
        let Value::Object(document) = document else { return document };
        let (outside, inside) = self.split(document, put.arena);
        put.metadata.0 = metadata_of(outside);
        let replaced = old.and_then(Value::as_object).map(|old| {
            let (outside, stored) = self.split(old, put.arena);
            put.metadata.1 = metadata_of(outside);
            put.looks_everywhere |= self.reads_metadata && !same_option(put.metadata.0, put.metadata.1);
            let mut get = Get::new(self, put.version, put.arena, ()).with_room();
            get.metadata = put.metadata.1;
            (stored, get.scope(0, stored))
        });
        let stored = put.scope(0, inside, replaced, &|field| part.includes(field));
        if let Some((_, shown)) = replaced {
            put.removed = std::mem::take(&mut put.removals).found(Value::Object(shown));
        }
        self.joined(self.hub, outside, stored, put.arena)
    }

    fn rehub_scope<'a>(
        &'a self,
        scope: usize,
        stored: &'a [Entry<'a>],
        to: &'a Lenses,
        metadata: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> &'a [Entry<'a>] {
        let plan = &self.scopes[scope];
        let mut slots = Slots::default();
        self.load(scope, stored, &mut slots, arena);
        let resolve =
            |lenses: &'a Lenses| Resolve::new(lenses, &lenses.scopes[scope], metadata, Troubles::default(), arena);
        if !plan.computed.is_empty() {
            resolve(self).expand(&plan.computed.all, &mut slots);
        }
        for (slot, value) in slots.values.iter_mut().enumerate() {
            if let state::Slot::Value(stored) = value {
                let content = &plan.slots[slot].content;
                *stored = content
                    .map(*stored, arena, &mut |scope, stored| self.rehub_scope(scope, stored, to, metadata, arena));
            }
        }
        if !plan.computed.is_empty() {
            resolve(to).compress(&mut slots);
        }
        store(&to.scopes[scope], &slots, arena)
    }

    /// Reads the stored form of a scope, as it is stored now or as it was before the hub gained fields.
    pub(crate) fn load<'a>(&'a self, scope: usize, stored: &'a [Entry<'a>], slots: &mut Slots<'a>, arena: &'a Arena) {
        slots.load(&self.scopes[scope], stored);
        self.respell(scope, slots, arena);
    }

    /// Spells what is in lists and maps that were in a bag as they are stored now.
    fn respell<'a>(&'a self, scope: usize, slots: &mut Slots<'a>, arena: &'a Arena) {
        for slot in slots.take_spelled_by_ids() {
            if let state::Slot::Value(value) = slots.values[slot] {
                let content = &self.scopes[scope].slots[slot].content;
                slots.values[slot] = state::Slot::Value(self.respelled(content, value, arena));
            }
        }
    }

    fn respelled<'a>(&'a self, content: &'a Content, value: Value<'a>, arena: &'a Arena) -> Value<'a> {
        content.map(value, arena, &mut |scope, stored| {
            let mut slots = Slots::default();
            slots.load_by_ids(&self.scopes[scope], stored);
            self.respell(scope, &mut slots, arena);
            store(&self.scopes[scope], &slots, arena)
        })
    }

    /// The entries that no lens looks at, and the others.
    pub(crate) fn split<'a>(&self, entries: &'a [Entry<'a>], arena: &'a Arena) -> (&'a [Entry<'a>], &'a [Entry<'a>]) {
        let outside = |entry: &&Entry<'a>| self.envelope.is_outside(entry.key);
        let count = entries.iter().filter(outside).count();
        // Mostly they come first.
        if entries[..count].iter().all(|entry| self.envelope.is_outside(entry.key)) {
            return entries.split_at(count);
        }
        let inside: Vec<_> = entries.iter().filter(|entry| !outside(entry)).copied().collect();
        let outside: Vec<_> = entries.iter().filter(outside).copied().collect();
        (arena.slice(&outside), arena.slice(&inside))
    }

    /// A document of a version, of the entries that no lens looks at and the others.
    pub(crate) fn joined<'a>(
        &'a self,
        version: VersionIndex,
        outside: &'a [Entry<'a>],
        inside: &'a [Entry<'a>],
        arena: &'a Arena,
    ) -> Value<'a> {
        let Envelope::Resource(versions) = &self.envelope else { return Value::Object(inside) };
        let TypeMeta { api_version, kind } = &versions[version.position()];
        let spoken = |entry: &Entry<'a>| match entry.key {
            "apiVersion" => Entry { key: entry.key, value: Value::string(api_version) },
            "kind" => Entry { key: entry.key, value: Value::string(kind) },
            _ => *entry,
        };
        let entries: Vec<_> = outside.iter().map(spoken).chain(inside.iter().copied()).collect();
        Value::Object(arena.slice(&entries))
    }
}
