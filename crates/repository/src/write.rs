//! Writing: from what a client sends, and what is stored, to the record that is stored next. Nothing here waits for
//! anything, so that a write can be tried, and tried again, without a store.

mod body;

use jiff::Timestamp;
use wheelwright_document::{Arena, Decode, FieldPath, ItemOrigins, Owned, Value};
use wheelwright_evolve::{Part, Trouble, UncertainRemoval, VersionIndex, VersionName};
use wheelwright_store::Revision;

use crate::{
    Metadata, Name, ServedKind,
    dress::Taken,
    error::WriteError,
    external::Answers,
    fields::with,
    hidden::Removals,
    nulls::Cleared,
    open::Opened,
    record::{Envelope, Place},
    request::{Body, Keeping, Write},
    size::{MAX_RECORD_BYTES, SERVER_BYTES, SizedRecord},
};

/// What a write makes of a record.
#[derive(Debug)]
pub(crate) struct Sealed {
    /// The bytes of the record.
    pub(crate) bytes: Vec<u8>,
    /// Nothing has changed, so that nothing needs to be stored.
    pub(crate) is_same: bool,
    /// Its removal was asked for, and nobody has to agree any more.
    pub(crate) is_released: bool,
    /// It is a step to its removal that makes it hardly larger: there is room for it on a full disk.
    pub(crate) advances_deletion: bool,
    pub(crate) notes: Notes,
}

/// What a client should hear although the write was done.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Notes {
    /// Fields that the version does not know; they were left out.
    pub unknown: Vec<FieldPath>,
    /// What could not be computed for other versions.
    pub troubles: Vec<Trouble>,
    /// Removed list items that the client could not distinguish from others that hide something else.
    pub removals: Vec<UncertainRemoval>,
}

/// When a write happens, and what new documents are told apart by.
#[derive(Clone, Debug)]
pub(crate) struct Stamp {
    pub(crate) now: Timestamp,
    pub(crate) uid: Box<str>,
}

/// What was there before a write.
#[derive(Clone, Copy)]
struct Before<'a> {
    name: &'a Name,
    /// The tags that it had.
    tags: Option<&'a Owned>,
    /// As it is stored, in the shape of the hub.
    stored: Value<'a>,
    /// As the version reads it from there, whatever the service keeps.
    read: Value<'a>,
    /// The same without what it says where the service speaks.
    shown: Value<'a>,
}

/// The body of an update.
struct Sent<'a> {
    /// The document that the client wants to be stored, with what is hidden from it.
    document: Value<'a>,
    /// The fields that null clears.
    cleared: Vec<Cleared<'a>>,
    /// Which list items continue which.
    origins: Option<ItemOrigins<'a>>,
    /// Removals among items with different secrets.
    removals: Removals<'a>,
}

/// What a patch adds to the document it results in.
#[derive(Clone, Copy, Default)]
struct Details<'a, 'd> {
    /// The fields that null clears.
    cleared: &'d [Cleared<'a>],
    /// Which list items continue which.
    origins: Option<&'a ItemOrigins<'a>>,
}

impl ServedKind {
    /// The record of a new document.
    pub(crate) fn create(&self, name: &Name, write: &Write<'_>, stamp: &Stamp) -> Result<Sealed, WriteError> {
        let version = self.writable(write.version)?;
        let arena = Arena::new();
        let Body::Document(json) = write.body else { return Err(WriteError::NothingToPatch) };
        let document = document_of(json, &arena)?;
        judge_object(write, document, None)?;
        let (stored, taken, notes) = self.stored(write, version, document, None, Details::default(), &arena)?;
        let stored = self.kept(stored, (None, None), write.writer, &arena);
        let created_with = self.version_name(version).clone();
        let mut metadata = Metadata {
            uid: Some(stamp.uid.clone()),
            generation: 1,
            created_at: Some(stamp.now),
            modified_at: Some(stamp.now),
            ..Metadata::default()
        };
        take(&mut metadata, taken, Part::Whole);
        if let Some(Keeping(change)) = write.keeping {
            change(&mut metadata, stamp.now);
        }
        let envelope = Envelope {
            hub: self.version_name(self.kind.lenses().hub()).clone(),
            oldest_writer: self.oldest_writer.clone(),
            origin: wheelwright_evolve::Origin::created(created_with),
            metadata,
            unknown: Vec::new(),
        };
        let bytes = envelope.seal_of_any_size(stored, self.place(name))?;
        let after = SizedRecord { metadata: &envelope.metadata, object: stored, bytes: bytes.len() };
        self.check_size(name, after, None)?;
        Ok(Sealed { bytes, is_same: false, is_released: false, advances_deletion: false, notes })
    }

    /// The record after a write to one that is there.
    pub(crate) fn update(
        &self,
        old: &[u8],
        called: (&Name, &Revision),
        write: &Write<'_>,
        answers: &Answers,
        stamp: &Stamp,
    ) -> Result<Sealed, WriteError> {
        let version = self.writable(write.version)?;
        let arena = Arena::for_input(old.len());
        let place = self.place(called.0);
        let opened = self.open_to_write(old, place, &arena)?;
        let stored = self.at_hub(&opened, &arena);
        let (opened, _) = self.merged(opened, answers, called.0, &arena).map_err(WriteError::Source)?;
        let merged = if self.external.is_empty() { stored } else { self.at_hub(&opened, &arena) };
        let read = self.kind.get(version, merged, &arena);
        let (shown, _) = self.dress.undress(read, &arena);
        let Sent { document, cleared, mut origins, removals } = self.body(write, version, &opened, called, &arena)?;
        self.forget_replaced(&mut origins, version, write);
        if write.judge.is_some() {
            judge_object(write, document, Some(self.show(&opened, version, called, &arena)))?;
        }
        let tags = opened.envelope.metadata.tags.as_ref();
        let before = Before { name: called.0, tags, stored: merged, read, shown };
        let details = Details { cleared: &cleared, origins: origins.as_ref() };
        let (written, taken, mut notes) = self.stored(write, version, document, Some(before), details, &arena)?;
        notes.removals = removals.joined(notes.removals, |field| is_written(write.part, field));
        let written = match self.external.is_empty() {
            true => written,
            false if written == merged => stored,
            false => self.kept(written, (Some(stored), Some(merged)), write.writer, &arena),
        };

        let mut envelope = opened.envelope.clone();
        take(&mut envelope.metadata, taken, write.part);
        let untyped = |document| with(document, [("apiVersion", None), ("kind", None)], &arena);
        // What a resource says of its type follows from where it is, whatever somebody wrote there.
        let is_same_object = written == stored || self.kind.is_resource() && untyped(written) == untyped(stored);
        let is_same = is_same_object && envelope.metadata == opened.envelope.metadata;
        let is_released = envelope.metadata.deleted_at.is_some() && envelope.metadata.finalizers.is_empty();
        if !is_same {
            self.stamp(&mut envelope, (version, stored, written), stamp);
            if let Some(Keeping(change)) = write.keeping {
                change(&mut envelope.metadata, stamp.now);
            }
        }
        let bytes = envelope.seal_of_any_size(written, place)?;
        if !is_same {
            let before = SizedRecord { metadata: &opened.envelope.metadata, object: stored, bytes: old.len() };
            let after = SizedRecord { metadata: &envelope.metadata, object: written, bytes: bytes.len() };
            self.check_size(called.0, after, Some(before))?;
        }
        let advances_deletion =
            envelope.metadata.advances_deletion(&opened.envelope.metadata) && bytes.len() <= old.len() + SERVER_BYTES;
        Ok(Sealed { bytes, is_same: is_same && !is_released, is_released, advances_deletion, notes })
    }

    /// A record that this program may write.
    pub(crate) fn open_to_write<'a>(
        &'a self,
        bytes: &'a [u8],
        place: Place,
        arena: &'a Arena,
    ) -> Result<Opened<'a>, WriteError> {
        let opened = self.open(bytes, place, arena).map_err(WriteError::Open)?;
        self.check_writer(&opened)?;
        Ok(opened)
    }

    /// Refuses to write a record whose writers must know a version that this program does not.
    pub(crate) fn check_writer(&self, opened: &Opened<'_>) -> Result<(), WriteError> {
        let unknown = opened.envelope.oldest_writer.as_ref().filter(|name| self.kind.version(name.as_str()).is_none());
        match unknown {
            Some(oldest) => Err(WriteError::TooOld { oldest_writer: oldest.clone() }),
            None => Ok(()),
        }
    }

    /// The document of an opened record, as it is stored today.
    pub(crate) fn at_hub<'a>(&'a self, opened: &Opened<'a>, arena: &'a Arena) -> Value<'a> {
        let (lenses, today) = (self.lenses(opened.hub), self.kind.lenses());
        match opened.hub == today.hub() {
            true => opened.object,
            false => lenses.rehub(opened.object, today, arena),
        }
    }

    /// What an envelope says after a write by a client.
    fn stamp(&self, envelope: &mut Envelope, (version, old, new): (VersionIndex, Value<'_>, Value<'_>), stamp: &Stamp) {
        let outside = self.outside_spec();
        envelope.hub = self.version_name(self.kind.lenses().hub()).clone();
        envelope.oldest_writer = self.oldest_writer_after(envelope.oldest_writer.take());
        envelope.origin = envelope.origin.clone().written(self.version_name(version), old, new, outside);
        let metadata = &mut envelope.metadata;
        metadata.uid.get_or_insert_with(|| stamp.uid.clone());
        metadata.modified_at = Some(stamp.now);
        if !outside.is_same_spec(old, new) {
            metadata.generation = metadata.generation.saturating_add(1);
        }
    }

    /// The version that writers must know from now on: whoever writes a record does not forget who must not.
    pub(crate) fn oldest_writer_after(&self, recorded: Option<VersionName>) -> Option<VersionName> {
        let own = self.oldest_writer.clone();
        own.into_iter().chain(recorded).max_by_key(|name| self.kind.version(name.as_str()))
    }

    /// The version that a client writes.
    fn writable(&self, name: &str) -> Result<VersionIndex, WriteError> {
        let known = self.kind.version(name).filter(|version| self.kind.program(*version).is_some());
        known.ok_or_else(|| WriteError::UnknownVersion(VersionName::new(name)))
    }
}

/// Asks whoever has a say in it whether a document may be there.
fn judge_object(write: &Write<'_>, document: Value<'_>, before: Option<Value<'_>>) -> Result<(), WriteError> {
    match write.judge {
        Some(judge) => judge.object(document, before).map_err(WriteError::Judged),
        None => Ok(()),
    }
}

/// The document or patch of a body. Its size is checked in the form that versions display.
fn document_of<'a>(json: &'a [u8], arena: &'a Arena) -> Result<Value<'a>, WriteError> {
    let limits = Decode { max_bytes: MAX_RECORD_BYTES, ..Decode::default() };
    Ok(limits.decode(json, arena).map_err(WriteError::decode)?.value)
}

/// Takes over what a client says of what the service keeps; whoever writes the status says nothing of it.
fn take(metadata: &mut Metadata, taken: Taken, part: Part) {
    if part == Part::Status {
        return;
    }
    if let Some(finalizers) = taken.finalizers {
        metadata.finalizers = finalizers;
    }
    if let Some(tags) = taken.tags {
        metadata.tags = tags;
    }
}

/// Whether a write of a part takes a field of the document from what its client sent.
fn is_written(part: Part, field: &str) -> bool {
    part.includes(field) && (part != Part::Status || field == "status")
}
