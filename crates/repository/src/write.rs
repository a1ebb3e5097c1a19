//! Writing: from what a client sends, and what is stored, to the record that is stored next. Nothing here waits for
//! anything, so that a write can be tried, and tried again, without a store.

use std::collections::HashSet;

use jiff::Timestamp;
use wheelwright_document::{
    Arena, Decode, Entry, FieldPath, ItemOrigins, JsonPatch, Owned, Path, Value, decode_trusted, merge_patch,
};
use wheelwright_evolve::{Part, Trouble, UncertainRemoval, VersionIndex, VersionName};
use wheelwright_schema::{ErrorType, Stages, ValidationError};
use wheelwright_store::Revision;

use crate::{
    Metadata, Name, ServedKind,
    absence::absent_in_both,
    computed::{Given, computed, filled},
    dress::{TAGS, Taken},
    error::{FieldError, FieldProblem, WriteError},
    external::{Answers, field_path},
    fields::{placed, with},
    hidden::{Removals, Unsaid},
    metadata::keep_shown,
    nulls::Cleared,
    open::Opened,
    record::{Envelope, Place},
    request::{Body, Keeping, UnknownFields, Write, Writer},
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

    /// The document that a client wants to be stored, and what its body contains besides.
    fn body<'a>(
        &'a self,
        write: &Write<'a>,
        version: VersionIndex,
        opened: &'a Opened<'a>,
        called: (&Name, &Revision),
        arena: &'a Arena,
    ) -> Result<Sent<'a>, WriteError> {
        let json = match write.body {
            Body::Document(json) | Body::MergePatch(json) | Body::JsonPatch(json) => json,
        };
        let sent = document_of(json, arena)?;
        let shown = || self.show(opened, version, called, arena);
        let hidden = self.hidden[version.position()].as_ref().filter(|_| write.writer == Writer::Customer);
        let with_hidden = |document, origins, unsaid| match hidden {
            Some(hidden) => hidden.kept(document, shown(), origins, unsaid, arena),
            None => (document, Removals::default()),
        };
        match write.body {
            Body::Document(_) => {
                let (document, removals) = with_hidden(sent, None, Unsaid::Stays);
                Ok(Sent { document, cleared: Vec::new(), origins: None, removals })
            }
            Body::JsonPatch(_) => {
                // It may look at values and copy them, and so is of what its sender sees.
                let seen = hidden.map_or_else(shown, |hidden| hidden.concealed(shown(), arena));
                let patched = JsonPatch::parse(sent).and_then(|patch| patch.apply_tracked(seen, arena));
                let (patched, origins) = patched.map_err(WriteError::Patch)?;
                let (document, removals) = with_hidden(patched, origins.as_ref(), Unsaid::Stays);
                Ok(Sent { document, cleared: Vec::new(), origins, removals })
            }
            Body::MergePatch(_) => {
                if sent.as_object().is_none() {
                    return Err(WriteError::NoObject(sent.kind_name()));
                }
                let followed = self.nulls.follow(self.kind.history(), version, sent, arena);
                let refused = followed.refused.into_iter().map(|path| FieldError::new(path, FieldProblem::NullRefused));
                WriteError::fields(refused.collect())?;
                let merged = merge_patch(shown(), followed.patch, arena);
                let empty = |document, names| placed(document, names, Some(Value::Object(&[])), arena);
                let merged = followed.emptied.into_iter().fold(merged, empty);
                let (merged, removals) = with_hidden(merged, None, Unsaid::IsGone);
                let document = self.dress.retagged(merged, sent, arena);
                Ok(Sent { document, cleared: followed.cleared, origins: None, removals })
            }
        }
    }

    /// Drops the item provenance of fields that this write takes from the old document, whatever the patch did to them.
    fn forget_replaced(&self, origins: &mut Option<ItemOrigins<'_>>, version: VersionIndex, write: &Write<'_>) {
        let Some(origins) = origins else { return };
        origins.retain_fields(|name, _| is_written(write.part, name));
        if write.writer == Writer::Customer {
            self.owned_names[version.position()].iter().for_each(|names| forget(origins, names));
            if let Some(access) = &self.access[version.position()] {
                access.forget_fixed(origins);
            }
        }
    }

    /// What is stored once a document was written, without its envelope.
    fn stored<'a>(
        &'a self,
        write: &Write<'a>,
        version: VersionIndex,
        document: Value<'a>,
        before: Option<Before<'a>>,
        details: Details<'a, '_>,
        arena: &'a Arena,
    ) -> Result<(Value<'a>, Taken, Notes), WriteError> {
        let Details { cleared, origins } = details;
        let Value::Object(_) = document else { return Err(WriteError::NoObject(document.kind_name())) };
        let wanted = document;
        let shown = before.map(|before| before.shown);
        let (given, not_computed) = match before {
            Some(_) => (Vec::new(), None),
            None => self.given(write, version, document, arena)?,
        };
        let document = self.typed(version, document, arena);
        let (document, mut taken) = self.dress.undress(document, arena);
        // Tags that were adopted as they were may stay so.
        if before.is_some_and(|before| taken.tags.as_ref().is_some_and(|tags| tags.as_ref() == before.tags)) {
            taken.wrong.retain(|(path, _)| path.as_str() != TAGS);
        }
        WriteError::fields(
            taken.wrong.drain(..).map(|(path, why)| FieldError::new(path, FieldProblem::NotWritable(why))).collect(),
        )?;
        let mut has_unknown_tags = false;
        if !self.declares(version, TAGS) {
            has_unknown_tags = taken.tags.take().flatten().is_some();
        }
        let document = match before {
            Some(Before { name, shown, .. }) => {
                let document = self.dress.stripped(document, &taken, shown, name, arena);
                composed(document, shown, write.part, arena)
            }
            None => document,
        };
        let is_customer = write.writer == Writer::Customer;
        let pass_over = |document| match is_customer {
            true => self.passed_over(version, document, shown, arena),
            false => document,
        };
        let document = pass_over(document);
        let access = self.access[version.position()].as_ref().filter(|_| is_customer);
        let sent = match access {
            Some(access) => {
                let (document, refused) = access.enforce(document, shown, origins, arena);
                WriteError::fields(refused)?;
                document
            }
            None => document,
        };
        let (normal, mut unknown) = self.normal(version, filled(sent, &given, arena), shown, origins, arena)?;
        if has_unknown_tags {
            unknown.push(Path::Child(&Path::Root, TAGS).to_field_path());
        }
        if write.unknown == UnknownFields::Refuse {
            let unknown = unknown.iter().map(|path| FieldError::new(path.clone(), FieldProblem::Unknown));
            WriteError::fields(unknown.collect())?;
        }
        let normal = self.cleared(normal, cleared, arena)?;
        // What only the service writes gets no defaults of the version either, and null clears none of it.
        let normal = pass_over(access.map_or(normal, |access| access.enforce(normal, shown, origins, arena).0));
        let normal = filled(normal, &given, arena);
        let normal = self.dress.undress(normal, arena).0;
        // What was put back may have brought objects along in which readers fill something in.
        let normal = match cleared {
            [] => normal,
            _ => self.kind.lenses().fill(version, normal, arena),
        };
        let normal = match before {
            None if write.part == Part::Spec => with(normal, [("status", None)], arena),
            _ => normal,
        };
        let mut wrong = self.validate(version, normal, shown, origins, arena)?;
        wrong.extend(write.judge.into_iter().flat_map(|judge| judge.wrong_fields(wanted, normal)));
        WriteError::fields(wrong)?;
        if let Some(why) = not_computed {
            return Err(WriteError::NotComputed(why));
        }
        let normal = match before {
            Some(Before { read, .. }) => {
                self.dress.reordered(self.dress.with_covered(normal, read, arena), read, arena)
            }
            None => normal,
        };
        let old = before.map(|before| before.stored);
        let (stored, report) = self
            .kind
            .lenses()
            .put_patched(version, normal, old, write.part, origins, arena)
            .map_err(WriteError::Put)?;
        Ok((stored, taken, Notes { unknown, troubles: report.troubles, removals: report.removals }))
    }

    /// What the service computes for a new document.
    fn given<'a>(
        &'a self,
        write: &Write<'a>,
        version: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Result<(Vec<Given<'a>>, Option<String>), WriteError> {
        if self.computed.is_empty() {
            return Ok((Vec::new(), None));
        }
        let parent = write.parent.map(|json| decode_trusted(json, arena)).transpose().map_err(WriteError::Decode)?;
        Ok(computed(&self.computed, version, document, parent, arena))
    }

    /// A resource that says of what version and kind it is, whatever its writer says.
    fn typed<'a>(&'a self, version: VersionIndex, document: Value<'a>, arena: &'a Arena) -> Value<'a> {
        let Some(api_version) = self.kind.api_version(version) else { return document };
        let kind = Value::string(self.kind.name_in(version));
        with(document, [("apiVersion", Some(Value::string(api_version))), ("kind", Some(kind))], arena)
    }

    /// The normal form of what a client sends, and the fields that the version does not know.
    fn normal<'a>(
        &'a self,
        version: VersionIndex,
        sent: Value<'a>,
        shown: Option<Value<'a>>,
        origins: Option<&ItemOrigins<'_>>,
        arena: &'a Arena,
    ) -> Result<(Value<'a>, Vec<FieldPath>), WriteError> {
        let Some(program) = self.kind.program(version) else { return Ok((sent, Vec::new())) };
        let mut admitted = program.run(sent, arena, Stages::DEFAULT).map_err(WriteError::admit)?;
        if let Some(shown) = shown.filter(|_| self.kind.is_resource()) {
            keep_shown(&mut admitted, sent, shown, arena);
        }
        let lenses = self.kind.lenses();
        let defaulted = match shown {
            Some(shown) => lenses.withdraw(version, admitted.value, sent, shown, origins, arena),
            None => admitted.value,
        };
        let unknown = admitted.unknown.into_iter().chain(admitted.unknown_metadata).collect();
        Ok((lenses.fill(version, defaulted, arena), unknown))
    }

    /// A document without the fields that null clears.
    fn cleared<'a>(
        &self,
        document: Value<'a>,
        cleared: &[Cleared<'a>],
        arena: &'a Arena,
    ) -> Result<Value<'a>, WriteError> {
        let history = self.kind.history();
        let refilled = cleared.iter().filter(|field| history.field(field.field).frozen.is_some());
        let refilled = refilled.map(|field| FieldError::new(field.path.clone(), FieldProblem::WouldRefill));
        WriteError::fields(refilled.collect())?;
        Ok(cleared.iter().fold(document, |document, field| placed(document, field.names.iter().copied(), None, arena)))
    }

    /// What is wrong with a document at its version; what was wrong before does not count, nor what another system has yet to say.
    fn validate<'a>(
        &'a self,
        version: VersionIndex,
        document: Value<'a>,
        shown: Option<Value<'a>>,
        origins: Option<&ItemOrigins<'_>>,
        arena: &'a Arena,
    ) -> Result<Vec<FieldError>, WriteError> {
        let Some(program) = self.kind.program(version) else { return Ok(Vec::new()) };
        let errors = match shown {
            None => program.run(document, arena, Stages::VALIDATE).map_err(WriteError::admit)?.errors,
            Some(shown) => program.validate_update(document, shown, arena).errors,
        };
        let is_about_absence = |kind| kind == ErrorType::Required;
        let structure = &self.kind.history().version(version).structure;
        let mut may_miss = match shown {
            Some(shown) if errors.iter().any(|error| is_about_absence(error.kind())) => {
                absent_in_both(structure, document, shown, origins)
            }
            _ => HashSet::new(),
        };
        may_miss.extend(self.owned_names[version.position()].iter().map(|names| field_path(names)));
        let is_forgiven = |error: &ValidationError| is_about_absence(error.kind()) && may_miss.contains(error.path());
        let count = errors.len();
        let mut errors: Vec<_> = errors.into_iter().filter(|error| !is_forgiven(error)).collect();
        // Rules wait for all else to be mended, and not for what is forgiven.
        if errors.len() < count && errors.iter().all(ValidationError::is_about_skipped_rules) {
            errors = program.validate_rules(document, shown, arena);
        }
        Ok(errors
            .into_iter()
            .map(|error| FieldError::new(error.path().clone(), FieldProblem::Invalid(error)))
            .collect())
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

/// A document of which only a part is written.
fn composed<'a>(document: Value<'a>, shown: Value<'a>, part: Part, arena: &'a Arena) -> Value<'a> {
    let (Value::Object(written), Value::Object(shown)) = (document, shown) else { return document };
    let others = shown.iter().filter(|entry| !is_written(part, entry.key));
    let entries: Vec<Entry<'a>> =
        written.iter().filter(|entry| is_written(part, entry.key)).chain(others).copied().collect();
    match part {
        Part::Whole => document,
        Part::Spec | Part::Status => Value::Object(arena.slice(&entries)),
    }
}

/// Whether a write of a part takes a field of the document from what its client sent.
fn is_written(part: Part, field: &str) -> bool {
    part.includes(field) && (part != Part::Status || field == "status")
}

/// Drops the item provenance of a field, named from the root on.
fn forget(origins: &mut ItemOrigins<'_>, names: &[Box<str>]) {
    let Some((first, rest)) = names.split_first() else { return };
    origins.retain_fields(|name, below| {
        let is_named = *name == **first;
        if is_named {
            forget(below, rest);
        }
        !(is_named && rest.is_empty())
    });
}
