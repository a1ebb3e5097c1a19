//! The number of replicas of an object, as a `Scale` of its own.

use wheelwright_catalog::Scale as Paths;
use wheelwright_document::{Arena, JsonPatch, Value, decode, decode_trusted, encode, merge_patch};
use wheelwright_repository::{Body as Sent, Document, RepositoryError, WriteError};

use super::{
    body::{Body, is_yaml},
    field_path::{around, value_at},
    json::Json,
    judge::{check_name, check_namespace},
    options::{FieldValidation, WriteOptions},
    refused::About,
    route::Target,
    status::{Status, number},
    write::is_merge_patch,
};
use crate::{request::Request, work};

/// How often somebody else may write an object whose scale is being patched before we give up.
const ATTEMPTS: usize = 100;
const FIELDS: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];

impl Target {
    /// The scale of an object.
    pub(super) async fn scale(&self) -> Result<Vec<u8>, Status> {
        let document = self.found().await?;
        self.scale_of(&document)
    }

    /// Sets the number of replicas, by a whole scale or a patch of one.
    pub(super) async fn rescale(&self, request: &Request, is_patch: bool) -> Result<(Vec<u8>, Vec<String>), Status> {
        let kind = if is_patch { "PatchOptions" } else { "UpdateOptions" };
        let is_merge = if is_patch { is_merge_patch(request)? } else { false };
        let options = WriteOptions::of(&request.head.query, kind)?;
        // client-go sends a scale without a type. No web page can: a browser asks before it sends a PUT to another origin.
        let has_type = request.head.content_type().is_some();
        let body = Body::read(&request.body, !is_patch && has_type && is_yaml(request)?)
            .map_err(|why| Status::bad_request(format!("the scale cannot be read: {why}")))?;
        if !is_patch {
            let wanted = self.sent(&body.json)?;
            if let Some(version) = &wanted.version
                && self.found().await?.revision.as_str() != version
            {
                return Err(Status::modified(&self.resource, self.name()));
            }
            return self.set_replicas(&wanted, &options).await;
        }
        for _ in 0..ATTEMPTS {
            let found = self.found().await?;
            let scale = self.scale_of(&found)?;
            if !is_merge {
                work::step(JsonPatch::most_bytes(&body.json, scale.len())).await;
            }
            let wanted = self.patched(&scale, &body.json, is_merge, options.validation)?;
            // It has the version that was just found, unless the patch names another: then trying again does not help.
            if wanted.version.as_deref().is_some_and(|version| version != found.revision.as_str()) {
                break;
            }
            match self.set_replicas(&wanted, &options).await {
                Err(status) if status.reason == "Conflict" => {}
                outcome => return outcome,
            }
        }
        Err(Status::modified(&self.resource, self.name()))
    }

    /// Writes what a client wants the scale to be.
    async fn set_replicas(&self, wanted: &Wanted, options: &WriteOptions) -> Result<(Vec<u8>, Vec<String>), Status> {
        let json = self.replicas_patch(wanted.replicas, wanted.version.as_deref());
        let outcome = self.write_spec(Sent::MergePatch(&json), options).await?;
        Ok((self.scale_of(&outcome.document)?, outcome.warnings))
    }

    /// The object that the path names.
    pub(super) async fn found(&self) -> Result<Document, Status> {
        let name = self.object_name(self.name())?;
        let found = self.resource.collection.get(&name, self.view()).await;
        let found = found.map_err(|error| About::new(&self.resource, self.name()).status(error))?;
        found.ok_or_else(|| Status::not_found(&self.resource, self.name()))
    }

    fn paths(&self) -> Result<&Paths, Status> {
        let paths = self.resource.version().scale.as_ref();
        paths.ok_or_else(|| Status::not_found(&self.resource, self.name()))
    }

    fn scale_of(&self, document: &Document) -> Result<Vec<u8>, Status> {
        let paths = self.paths()?;
        let arena = Arena::for_input(document.json.len());
        let json = Json(&arena);
        let found = decode_trusted(&document.json, &arena).map_err(|error| Status::internal(error.to_string()))?;
        let count = |path: &str| value_at(found, path).ok().flatten().and_then(|value| value.as_number()?.as_i64());
        let metadata = |key: &'static str| (key, found.get("metadata").and_then(|metadata| metadata.get(key)));
        let selector = paths.label_selector_path.as_deref();
        let selector = selector
            .and_then(|path| value_at(found, path).ok().flatten())
            .filter(|selector| selector.as_str().is_some());
        let fields = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"].map(metadata);
        // As Kubernetes writes it: what is wanted is left out if it is zero, what is there never is.
        let wanted = count(&paths.spec_path).filter(|count| *count != 0).map(|count| number(count, &arena));
        let there = number(count(&paths.status_path).unwrap_or(0), &arena);
        let scale = [
            ("kind", Some(Value::string("Scale"))),
            ("apiVersion", Some(Value::string("autoscaling/v1"))),
            ("metadata", Some(json.some(fields))),
            ("spec", Some(json.some([("replicas", wanted)]))),
            ("status", Some(json.some([("replicas", Some(there)), ("selector", selector)]))),
        ];
        Ok(encode(json.some(scale)))
    }

    /// What a whole scale asks for.
    fn sent(&self, json: &[u8]) -> Result<Wanted, Status> {
        let arena = Arena::for_input(json.len());
        let scale = decode(json, &arena).map_err(|error| Status::bad_request(error.to_string()))?;
        let text = |key| scale.get(key).and_then(Value::as_str).unwrap_or_default();
        if (text("kind"), text("apiVersion")) != ("Scale", "autoscaling/v1") {
            return Err(Status::bad_request("only a Scale of autoscaling/v1 can be written here"));
        }
        self.wanted(scale).unwrap_or_else(|why| Err(Status::bad_request(format!("the scale cannot be read: {why}"))))
    }

    /// What a patch of a scale asks for.
    fn patched(
        &self,
        scale: &[u8],
        patch: &[u8],
        is_merge: bool,
        validation: FieldValidation,
    ) -> Result<Wanted, Status> {
        let arena = Arena::for_input(scale.len() + patch.len());
        let internal = |error| Status::internal(format!("the scale cannot be read: {error}"));
        let scale = decode_trusted(scale, &arena).map_err(internal)?;
        let patch =
            decode(patch, &arena).map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?;
        let about = About { is_patch: true, ..About::new(&self.resource, self.name()) };
        let patched = match is_merge {
            true if patch.as_object().is_none() => {
                return Err(Status::bad_request("error decoding patch: it is no object"));
            }
            true => merge_patch(scale, patch, &arena),
            false => JsonPatch::parse(patch)
                .and_then(|patch| patch.apply(scale, &arena))
                .map_err(|error| about.status(RepositoryError::Write(WriteError::Patch(error))))?,
        };
        if validation == FieldValidation::Strict {
            let unknown = unknown_fields(patched);
            if !unknown.is_empty() {
                return Err(about.strict(&unknown));
            }
        }
        self.wanted(patched).unwrap_or_else(|why| Err(Status::invalid_patch(why)))
    }

    /// What a scale asks for; or why it cannot be read.
    fn wanted(&self, scale: Value<'_>) -> Result<Result<Wanted, Status>, String> {
        if let Err(status) =
            check_name(scale, self.name()).and_then(|()| check_namespace(scale, self.namespace.as_deref()))
        {
            return Ok(Err(status));
        }
        let replicas = match scale.get("spec").and_then(|spec| spec.get("replicas")) {
            None | Some(Value::Null) => 0,
            Some(value) => {
                let count = value.as_number().and_then(|number| i32::try_from(number.as_i64()?).ok());
                count.ok_or_else(|| format!("spec.replicas: expected a number of 32 bits, found {value:?}"))?
            }
        };
        let version = scale.get("metadata").and_then(|metadata| metadata.get("resourceVersion")?.as_str());
        let version = version.filter(|version| !version.is_empty()).map(str::to_owned);
        Ok(Ok(Wanted { replicas, version }))
    }

    /// A merge patch of the object that sets the number of replicas, if it has a version.
    fn replicas_patch(&self, replicas: i32, version: Option<&str>) -> Vec<u8> {
        let arena = Arena::new();
        let json = Json(&arena);
        let path = self.resource.version().scale.as_ref().map_or("", |paths| &paths.spec_path);
        let patch = around(path, number(replicas, &arena), &arena);
        let version = version.map(|version| json.object([("resourceVersion", Value::string(version))]));
        let patch = merge_patch(patch, json.some([("metadata", version)]), &arena);
        encode(patch)
    }
}

/// What a client wants the scale to be.
struct Wanted {
    replicas: i32,
    /// The version of the object that it has seen.
    version: Option<String>,
}

fn unknown_fields(scale: Value<'_>) -> Vec<String> {
    let below = |value: Value<'_>, prefix: &str, known: &[&str]| -> Vec<String> {
        let fields = value.as_object().unwrap_or_default().iter().filter(|entry| !known.contains(&entry.key));
        fields.map(|entry| format!("unknown field \"{prefix}{}\"", entry.key)).collect()
    };
    let spec = scale.get("spec").unwrap_or(Value::Null);
    [below(scale, "", &FIELDS), below(spec, "spec.", &["replicas"])].concat()
}
