//! The body of a write, on its way to the document that is stored.

use std::collections::HashSet;

use wheelwright_document::{Arena, Entry, FieldPath, ItemOrigins, JsonPatch, Path, Value, decode_trusted, merge_patch};
use wheelwright_evolve::{Part, VersionIndex};
use wheelwright_schema::{ErrorType, Stages, ValidationError};
use wheelwright_store::Revision;

use super::{Before, Details, Notes, Sent, document_of, is_written};
use crate::{
    Name, ServedKind,
    absence::absent_in_both,
    computed::{Given, computed, filled},
    dress::{TAGS, Taken},
    error::{FieldError, FieldProblem, WriteError},
    external::field_path,
    fields::{placed, with},
    hidden::{Removals, Unsaid},
    metadata::keep_shown,
    nulls::Cleared,
    open::Opened,
    request::{Body, UnknownFields, Write, Writer},
};

impl ServedKind {
    /// The document that a client wants to be stored, and what its body contains besides.
    pub(super) fn body<'a>(
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
    pub(super) fn forget_replaced(
        &self,
        origins: &mut Option<ItemOrigins<'_>>,
        version: VersionIndex,
        write: &Write<'_>,
    ) {
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
    pub(super) fn stored<'a>(
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
        // Fields that only the service writes get no defaults of the version, and null does not clear them.
        let normal = pass_over(access.map_or(normal, |access| access.enforce(normal, shown, origins, arena).0));
        let normal = filled(normal, &given, arena);
        let normal = self.dress.undress(normal, arena).0;
        // Fields that were put back may be in objects that readers complete with defaults.
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

    /// The fields that the service computes for a new document.
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
