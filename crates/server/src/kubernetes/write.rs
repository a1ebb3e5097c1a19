//! Creating, replacing and patching objects.

use http::StatusCode;
use jiff::Timestamp;
use wheelwright_document::{Arena, Entry, FieldPath, Value, decode_trusted, encode};
use wheelwright_repository::Revision;
use wheelwright_repository::{
    Body as Sent, Document, Metadata, Name, Part, RepositoryError, UnknownFields, View, Write, Written,
};
use wheelwright_text::names::is_dns1123_subdomain;

use super::{
    body::{Body, is_yaml},
    judge::{ObjectJudge, check_namespace},
    namespaces,
    options::{FieldValidation, WriteOptions},
    refusal_status,
    refused::{About, unknown_field},
    route::{Subresource, Target},
    status::{Cause, Status},
};
use crate::{audit::NotRecorded, refusal::Refusal, request::Request};

/// What patches are read here.
const PATCH_TYPES: &str = "application/json-patch+json, application/merge-patch+json";
/// How often a name is made up before we give up.
const NAME_ATTEMPTS: usize = 8;
/// What names that are made up end with: letters and digits that make no words.
const NAME_LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
const NAME_ENDING: usize = 5;
/// The longest beginning of a name that is made up.
const LONGEST_NAME_BASE: usize = 58;

/// What a write came to.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) code: StatusCode,
    pub(super) document: Document,
    pub(super) warnings: Vec<String>,
}

/// How an object is written.
#[derive(Clone, Debug)]
enum Operation {
    Create,
    Replace(Revision),
    Patch,
}

/// An object that is about to be created.
struct NewObject {
    name: String,
    /// The object, with its name and its namespace.
    json: Vec<u8>,
    /// What its name is to begin with.
    base: String,
    /// Whether its name was made up.
    is_made_up: bool,
}

impl Target {
    /// Creates an object.
    pub(super) async fn create(&self, request: &Request) -> Result<Outcome, Status> {
        let options = WriteOptions::of(&request.head.query, "CreateOptions")?;
        let body = self.body(request)?;
        if let Some(namespace) = self.namespace.as_deref().filter(|namespace| !namespaces::is_name(namespace)) {
            return Err(Status::no_namespace(namespace));
        }
        let mut attempts = NAME_ATTEMPTS;
        loop {
            let new = self.new_object(&body.json)?;
            self.trail.named(&new.name);
            self.trail.intend().await.map_err(|NotRecorded| refusal_status(&Refusal::NotRecorded))?;
            let created = self
                .written(&Operation::Create, &new.name, Sent::Document(&new.json), &options, &body.duplicates)
                .await;
            let status = match created {
                Ok(outcome) => return Ok(Outcome { code: StatusCode::CREATED, ..outcome }),
                Err(status) if status.reason != "AlreadyExists" => return Err(status),
                Err(status) => status,
            };
            attempts -= 1;
            if new.is_made_up && attempts > 0 {
                continue;
            }
            if !new.base.is_empty() {
                let message =
                    format!("{}, the server was not able to generate a unique name for the object", status.message);
                return Err(Status { message, ..status }.retry_after(1));
            }
            let name = self.object_name(&new.name)?;
            let there = self.resource.collection.get(&name, View::Hub).await.ok().flatten();
            let message = match there.is_some_and(|there| there.metadata.deleted_at.is_some()) {
                true => format!("object is being deleted: {}", status.message),
                false => status.message,
            };
            return Err(Status { message, ..status });
        }
    }

    /// Replaces an object.
    pub(super) async fn update(&self, request: &Request) -> Result<Outcome, Status> {
        let options = WriteOptions::of(&request.head.query, "UpdateOptions")?;
        let body = self.body(request)?;
        let (json, version) = self.replacement(&body.json)?;
        let Some(version) = version else {
            let name = self.object_name(self.name())?;
            let there = self.resource.collection.get(&name, View::Hub).await;
            let about = About::new(&self.resource, self.name());
            return Err(match there.map_err(|error| about.status(error))? {
                None => Status::not_found(&self.resource, self.name()),
                Some(_) => {
                    let message = "Invalid value: 0: must be specified for an update".to_owned();
                    let cause = Cause::new("FieldValueInvalid", "metadata.resourceVersion", message);
                    let definition = self.resource.definition();
                    Status::invalid(&definition.plural, &definition.group, self.name(), vec![cause])
                }
            });
        };
        let operation = Operation::Replace(Revision::new(version));
        self.written(&operation, self.name(), Sent::Document(&json), &options, &body.duplicates).await
    }

    /// Patches an object.
    pub(super) async fn patch(&self, request: &Request) -> Result<Outcome, Status> {
        let is_merge = is_merge_patch(request)?;
        let options = WriteOptions::of(&request.head.query, "PatchOptions")?;
        let body = Body::read(&request.body, false);
        let mut body = body.map_err(|why| Status::bad_request(format!("error decoding patch: {why}")))?;
        if !is_merge {
            body.duplicates.extend(unknown_in_operations(&body.json));
        }
        let sent = if is_merge { Sent::MergePatch(&body.json) } else { Sent::JsonPatch(&body.json) };
        self.written(&Operation::Patch, self.name(), sent, &options, &body.duplicates).await
    }

    /// Writes the spec of an object, whatever of it the path is about.
    pub(super) async fn write_spec(&self, sent: Sent<'_>, options: &WriteOptions) -> Result<Outcome, Status> {
        let whole = Self { subresource: None, ..self.clone() };
        whole.written(&Operation::Patch, self.name(), sent, options, &[]).await
    }

    /// What of an object is written here.
    fn part(&self) -> Part {
        match self.subresource {
            Some(Subresource::Status) => Part::Status,
            _ => self.resource.part(),
        }
    }

    async fn written(
        &self,
        operation: &Operation,
        object: &str,
        sent: Sent<'_>,
        options: &WriteOptions,
        duplicates: &[String],
    ) -> Result<Outcome, Status> {
        let is_patch = matches!(operation, Operation::Patch);
        let about = About { is_patch, ..About::new(&self.resource, object) };
        let name = match is_dns1123_subdomain(object) || !matches!(operation, Operation::Create) {
            true => self.object_name(object)?,
            // The judge refuses it, with all else that is wrong.
            false => self.object_name("-")?,
        };
        let part = self.part();
        let judge = ObjectJudge::new(self, object, part, is_patch);
        let keep = |metadata: &mut Metadata, now: Timestamp| {
            if let Some(author) = &self.author {
                author.sign(metadata, now);
            }
        };
        let write = Write {
            body: sent,
            is_dry_run: options.is_dry_run,
            unknown: match options.validation {
                FieldValidation::Strict => UnknownFields::Refuse,
                FieldValidation::Ignore | FieldValidation::Warn => UnknownFields::Drop,
            },
            ..Write::document(&self.resource.version().name, &[]).of(part).judged_by(&judge).keeping(&keep)
        };
        if options.validation == FieldValidation::Strict && !duplicates.is_empty() {
            // All that is wrong is told at once.
            let tried = Write { unknown: UnknownFields::Drop, ..write.dry_run() };
            let unknown = self.perform(operation, &name, tried).await.map(|written| written.notes.unknown);
            let unknown = unknown_fields(&unknown.unwrap_or_default());
            return Err(about.strict(&[duplicates, &unknown].concat()));
        }
        let written = self.perform(operation, &name, write).await.map_err(|error| about.status(error))?;
        self.trail.wrote(&written, options.is_dry_run);
        let mut warnings = Vec::new();
        if options.validation == FieldValidation::Warn {
            warnings.extend_from_slice(duplicates);
            warnings.extend(unknown_fields(&written.notes.unknown));
        }
        warnings.extend(judge.into_warnings());
        let history = self.resource.collection.kind().kind().history();
        warnings.extend(written.notes.troubles.iter().map(|trouble| {
            let version = &history.version(trouble.version).name;
            format!("{} cannot be shown by {version}: {}", trouble.field, trouble.message)
        }));
        warnings.extend(written.notes.removals.iter().map(ToString::to_string));
        Ok(Outcome { code: StatusCode::OK, document: written.document, warnings })
    }

    async fn perform(&self, operation: &Operation, name: &Name, write: Write<'_>) -> Result<Written, RepositoryError> {
        let collection = &self.resource.collection;
        match operation {
            Operation::Create => collection.create(name, write).await,
            Operation::Replace(revision) => collection.update(name, revision, write).await,
            Operation::Patch => collection.patch(name, write).await,
        }
    }

    /// The name of an object of the resource in the repository.
    pub(super) fn object_name(&self, name: &str) -> Result<Name, Status> {
        let full = match &self.namespace {
            Some(namespace) => Name::new(&[namespace, "/", name].concat()),
            None => Name::new(name),
        };
        // What cannot be a name is the name of nothing.
        full.map_err(|_| Status::not_found(&self.resource, name))
    }

    fn body<'b>(&self, request: &'b Request) -> Result<Body<'b>, Status> {
        let judge = ObjectJudge::new(self, "", Part::Whole, false);
        Body::read(&request.body, is_yaml(request)?)
            .map_err(|why| judge.unrecognized(&format!("couldn't get version/kind; parse error: {why}")))
    }

    /// The object of a body that is to be created.
    fn new_object(&self, json: &[u8]) -> Result<NewObject, Status> {
        let arena = Arena::for_input(json.len());
        let object = self.object(json, &arena)?;
        let metadata = object.get("metadata").filter(|metadata| !metadata.is_null());
        let text = |key| metadata.and_then(|metadata| metadata.get(key)?.as_str()).unwrap_or_default();
        if !matches!(text("resourceVersion"), "" | "0") {
            return Err(Status::bad_request("resourceVersion should not be set on objects to be created"));
        }
        let (name, base) = (text("name"), text("generateName"));
        let is_made_up = name.is_empty() && !base.is_empty();
        let name = if is_made_up { made_up(base) } else { name.to_owned() };
        let named = is_made_up.then(|| arena.text(&name));
        let json = encode(self.placed(object, named, &arena));
        Ok(NewObject { name, json, base: base.to_owned(), is_made_up })
    }

    /// The object of a body that is to be there instead of another, and the version that it replaces.
    fn replacement(&self, json: &[u8]) -> Result<(Vec<u8>, Option<String>), Status> {
        let arena = Arena::for_input(json.len());
        let object = self.object(json, &arena)?;
        super::judge::check_name(object, self.name())?;
        let version = object.get("metadata").and_then(|metadata| metadata.get("resourceVersion")?.as_str());
        let version = version.filter(|version| !matches!(*version, "" | "0")).map(str::to_owned);
        Ok((encode(self.placed(object, None, &arena)), version))
    }

    /// The object of a body, if it is one that may be sent here.
    fn object<'a>(&self, json: &'a [u8], arena: &'a Arena) -> Result<Value<'a>, Status> {
        let judge = ObjectJudge::new(self, "", Part::Whole, false);
        let object = decode_trusted(json, arena).map_err(|error| judge.unrecognized(&error.to_string()))?;
        if object.as_object().is_none() {
            return Err(judge.unrecognized(&format!("it is {}, not an object", object.kind_name())));
        }
        judge.check_type(object)?;
        check_namespace(object, self.namespace.as_deref())?;
        Ok(object)
    }

    /// An object that says in which namespace it is, and what it is called if that was made up.
    fn placed<'a>(&'a self, object: Value<'a>, name: Option<&'a str>, arena: &'a Arena) -> Value<'a> {
        let metadata = match object.get("metadata") {
            None | Some(Value::Null) => &[],
            Some(Value::Object(entries)) => entries,
            Some(_) => return object,
        };
        // Who manages which field is not kept here, so nobody can say it.
        let is_set = |key: &str| matches!(key, "namespace" | "managedFields") || key == "name" && name.is_some();
        let kept = metadata.iter().filter(|entry| !is_set(entry.key)).copied();
        let namespace = self.namespace.as_deref().map(|value| Entry { key: "namespace", value: Value::string(value) });
        let name = name.map(|value| Entry { key: "name", value: Value::string(value) });
        let metadata: Vec<Entry<'a>> = kept.chain(name).chain(namespace).collect();
        let metadata = Entry { key: "metadata", value: Value::Object(arena.slice(&metadata)) };
        let entries = object.as_object().unwrap_or_default().iter().filter(|entry| entry.key != "metadata");
        let entries: Vec<Entry<'a>> = entries.copied().chain([metadata]).collect();
        Value::Object(arena.slice(&entries))
    }
}

/// Whether a patch is a merge patch, or a JSON patch; or that it is neither.
pub(super) fn is_merge_patch(request: &Request) -> Result<bool, Status> {
    match request.head.content_type().as_deref() {
        Some("application/merge-patch+json") => Ok(true),
        Some("application/json-patch+json") => Ok(false),
        _ => Err(Status::unsupported_media_type(PATCH_TYPES)),
    }
}

/// What operations of a JSON patch say that means nothing.
fn unknown_in_operations(patch: &[u8]) -> Vec<String> {
    let arena = Arena::for_input(patch.len());
    let operations = decode_trusted(patch, &arena).ok().and_then(Value::as_array).unwrap_or_default();
    let unknown = operations.iter().enumerate().flat_map(|(index, operation)| {
        let fields = operation.as_object().unwrap_or_default().iter();
        let unknown = fields.filter(|field| !matches!(field.key, "op" | "path" | "from" | "value"));
        unknown.map(move |field| format!("json patch unknown field \"[{index}].{}\"", field.key))
    });
    // As many as are told of other fields.
    unknown.take(100).collect()
}

fn unknown_fields(paths: &[FieldPath]) -> Vec<String> {
    let mut fields: Vec<String> = paths.iter().map(unknown_field).collect();
    fields.sort_unstable();
    fields
}

/// A name with a beginning.
fn made_up(base: &str) -> String {
    let end = (0..=base.len().min(LONGEST_NAME_BASE)).rev().find(|end| base.is_char_boundary(*end)).unwrap_or(0);
    let random = uuid::Uuid::new_v4().as_u128();
    let letters =
        (0..NAME_ENDING).map(|index| NAME_LETTERS[(random >> (16 * index)) as u16 as usize % NAME_LETTERS.len()]);
    base[..end].chars().chain(letters.map(char::from)).collect()
}
