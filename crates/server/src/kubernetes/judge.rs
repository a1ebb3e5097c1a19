//! What a Kubernetes API server demands of objects beside what their schemas say.

use std::{
    error::Error,
    sync::{Mutex, PoisonError},
};

use wheelwright_document::{FieldPath, Number, Value};
use wheelwright_repository::{FieldError, FieldProblem, Judge, Part};
use wheelwright_schema::{ErrorType, validate_resource_metadata};

use super::{
    field_path::value_at,
    resource::Resource,
    route::Target,
    status::{Cause, Status},
};

/// What an object that is written must be like.
#[derive(Debug)]
pub(crate) struct ObjectJudge<'r> {
    resource: &'r Resource,
    namespace: Option<&'r str>,
    name: &'r str,
    part: Part,
    /// It was made by a patch, and not sent as a whole.
    is_patched: bool,
    /// What is to be said of it.
    warnings: Mutex<Vec<String>>,
}

impl<'r> ObjectJudge<'r> {
    /// What is demanded of an object of a target.
    pub(super) fn new(target: &'r Target, name: &'r str, part: Part, is_patched: bool) -> Self {
        Self { is_patched, ..Self::of(&target.resource, target.namespace.as_deref(), name, part) }
    }

    /// What is demanded of an object that is written as a whole.
    pub(crate) fn of(resource: &'r Resource, namespace: Option<&'r str>, name: &'r str, part: Part) -> Self {
        Self { resource, namespace, name, part, is_patched: false, warnings: Mutex::default() }
    }

    pub(super) fn into_warnings(self) -> Vec<String> {
        self.warnings.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an object is of the kind and version that it is sent to.
    pub(super) fn check_type(&self, object: Value<'_>) -> Result<(), Status> {
        let definition = self.resource.definition();
        let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let (kind, api_version) = (text("kind"), text("apiVersion"));
        let expected = self.resource.api_version();
        let name = object.get("metadata").and_then(|metadata| metadata.get("name")?.as_str()).unwrap_or_default();
        let wrong = |field: &str, value: &str, must: &str| {
            let cause = Cause::new("FieldValueInvalid", field, format!("Invalid value: {value:?}: must be {must}"));
            Status::invalid(kind, &definition.group, name, vec![cause])
        };
        if kind.is_empty() {
            return Err(match self.is_patched {
                true => Status::invalid_patch("Object 'Kind' is missing".into()),
                false => self.unrecognized("Object 'Kind' is missing"),
            });
        }
        if api_version != expected {
            return Err(match self.is_patched {
                true => wrong("apiVersion", api_version, &expected),
                false if api_version.split('/').count() > 2 => {
                    self.unrecognized(&format!("unexpected GroupVersion string: {api_version}"))
                }
                false => Status::bad_request(format!(
                    "the API version in the data ({api_version}) does not match the expected API version ({expected})"
                )),
            });
        }
        match kind == &*definition.kind {
            true => Ok(()),
            false => Err(wrong("kind", kind, &definition.kind)),
        }
    }

    /// What is no object of the kind.
    pub(super) fn unrecognized(&self, why: &str) -> Status {
        let kind = &self.resource.definition().kind;
        Status::bad_request(format!("the object provided is unrecognized (must be of type {kind}): {why}"))
    }

    /// Whether an object is called what its path says.
    pub(super) fn check_name(&self, object: Value<'_>) -> Result<(), Status> {
        check_name(object, self.name)?;
        check_namespace(object, self.namespace)
    }

    /// Whether an object is still the one that it was read as.
    fn check_identity(&self, object: Value<'_>, before: Value<'_>) -> Result<(), Status> {
        let [new, old] = [object, before].map(|object| object.get("metadata").unwrap_or(Value::Null));
        let text = |metadata: Value<'_>, key| metadata.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let changed = |key| Some((text(new, key), text(old, key))).filter(|(new, old)| !new.is_empty() && new != old);
        if changed("resourceVersion").is_some() {
            return Err(Status::modified(self.resource, self.name));
        }
        let mut causes = Vec::new();
        let immutable = |key: &str, value: &str| {
            let message = format!("Invalid value: {value}: field is immutable");
            Cause::new("FieldValueInvalid", &format!("metadata.{key}"), message)
        };
        if let Some((sent, stored)) = changed("uid") {
            if !self.is_patched {
                let why = format!("Precondition failed: UID in precondition: {sent}, UID in object meta: {stored}");
                return Err(Status::conflict(self.resource, self.name, &why));
            }
            causes.push(immutable("uid", &format!("{sent:?}")));
        }
        if let Some((sent, _)) = changed("namespace").filter(|_| self.namespace.is_none()) {
            causes.push(immutable("namespace", &format!("{sent:?}")));
        }
        if self.part != Part::Status {
            if let Some((sent, _)) = changed("deletionTimestamp") {
                causes.push(immutable("deletionTimestamp", &format!("{sent:?}")));
            }
            let [grace, old_grace] = [new, old].map(|metadata| metadata.get("deletionGracePeriodSeconds"));
            if let Some(seconds @ Value::Number(_)) = grace.filter(|grace| Some(*grace) != old_grace) {
                causes.push(immutable("deletionGracePeriodSeconds", &format!("{seconds:?}")));
            }
            let added = new_finalizers(new, old);
            if old.get("deletionTimestamp").is_some() && !added.is_empty() {
                let message = format!(
                    "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers {added:?}"
                );
                causes.push(Cause::new("FieldValueForbidden", "metadata.finalizers", message));
            }
        }
        match causes.is_empty() {
            true => Ok(()),
            false => {
                let definition = self.resource.definition();
                Err(Status::invalid(&definition.kind, &definition.group, self.name, causes))
            }
        }
    }

    /// What is wrong with the number of replicas, which scaling reads.
    fn wrong_replicas(&self, document: Value<'_>) -> Option<FieldError> {
        let path = &self.resource.version().scale.as_ref()?.spec_path;
        let message = match value_at(document, path) {
            Err(found) => format!("cannot be read, since there is {found} on the way to it"),
            Ok(None) => return None,
            Ok(Some(value)) => match value.as_number().filter(|number| is_plain_integer(*number)) {
                None => "must be an integer without a fraction or an exponent".to_owned(),
                Some(number) => match number.as_i64() {
                    Some(..0) => "should be a non-negative integer".to_owned(),
                    Some(count) if count <= i64::from(i32::MAX) => return None,
                    _ => format!("should be less than or equal to {}", i32::MAX),
                },
            },
        };
        let path = FieldPath::root().child(path);
        Some(FieldError::new(path, FieldProblem::Demanded(ErrorType::Invalid, message)))
    }

    fn warn(&self, warning: String) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
    }
}

impl Judge for ObjectJudge<'_> {
    fn object(&self, object: Value<'_>, before: Option<Value<'_>>) -> Result<(), Box<dyn Error + Send + Sync>> {
        if self.is_patched {
            self.check_type(object)?;
            self.check_name(object)?;
        }
        if let Some(number) = unreadable_number(object) {
            let why = format!("the number {number} is too large for most clients to read; write it as a text");
            return Err(cannot_be_handled(self.resource, &why).into());
        }
        for key in ["creationTimestamp", "deletionTimestamp"] {
            check_time(object, key).map_err(|why| cannot_be_handled(self.resource, &why))?;
        }
        if let Some(before) = before {
            self.check_identity(object, before)?;
        }
        if self.part != Part::Status {
            let metadata = object.get("metadata").unwrap_or(Value::Null);
            for finalizer in finalizers(metadata).filter(|name| !name.contains('/') && !is_of_kubernetes(name)) {
                let advice = "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers";
                self.warn(format!("metadata.finalizers: {finalizer:?}: {advice}"));
            }
        }
        Ok(())
    }

    fn wrong_fields(&self, object: Value<'_>, normal: Value<'_>) -> Vec<FieldError> {
        let metadata = match self.part {
            Part::Status => Vec::new(),
            Part::Whole | Part::Spec => validate_resource_metadata(object),
        };
        let metadata =
            metadata.into_iter().map(|error| FieldError::new(error.path().clone(), FieldProblem::Invalid(error)));
        metadata.chain(self.wrong_replicas(normal)).collect()
    }
}

/// What cannot be read as an object of the kind, and why not.
pub(super) fn cannot_be_handled(resource: &Resource, why: &str) -> Status {
    let (kind, version) = (&resource.definition().kind, &resource.version().name);
    Status::bad_request(format!("{kind} in version {version:?} cannot be handled as a {kind}: {why}"))
}

/// Whether an object is called as its path says.
pub(super) fn check_name(object: Value<'_>, name: &str) -> Result<(), Status> {
    let own = object.get("metadata").and_then(|metadata| metadata.get("name")?.as_str()).unwrap_or_default();
    if own.is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )));
    }
    match own == name {
        true => Ok(()),
        false => Err(Status::bad_request(format!(
            "the name of the object ({own}) does not match the name on the URL ({name})"
        ))),
    }
}

/// Whether an object is where its path says, if it says where it is.
pub(super) fn check_namespace(object: Value<'_>, namespace: Option<&str>) -> Result<(), Status> {
    let own = object.get("metadata").and_then(|metadata| metadata.get("namespace")?.as_str());
    match (own.filter(|own| !own.is_empty()), namespace) {
        (Some(own), Some(namespace)) if own != namespace => Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        )),
        _ => Ok(()),
    }
}

fn check_time(object: Value<'_>, key: &str) -> Result<(), String> {
    match object.get("metadata").and_then(|metadata| metadata.get(key)) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(text)) if text.as_str().parse::<jiff::Timestamp>().is_ok() => Ok(()),
        Some(other) => Err(format!("metadata.{key}: {other:?} is no time; it looks like \"2026-01-31T12:00:00Z\"")),
    }
}

fn finalizers(metadata: Value<'_>) -> impl Iterator<Item = &str> {
    let items = metadata.get("finalizers").and_then(Value::as_array).unwrap_or_default();
    items.iter().filter_map(|item| item.as_str())
}

fn new_finalizers(new: Value<'_>, old: Value<'_>) -> Vec<String> {
    finalizers(new).filter(|name| !finalizers(old).any(|known| known == *name)).map(str::to_owned).collect()
}

/// Whether a finalizer is one that Kubernetes itself uses.
fn is_of_kubernetes(finalizer: &str) -> bool {
    matches!(finalizer, "orphan" | "foregroundDeletion" | "kubernetes")
}

/// A number that no client can read whose numbers are those of floating point, and so the lists that it is in.
fn unreadable_number(value: Value<'_>) -> Option<&str> {
    match value {
        Value::Object(entries) => entries.iter().find_map(|entry| unreadable_number(entry.value)),
        Value::Array(items) => items.iter().find_map(|item| unreadable_number(*item)),
        Value::Number(number) => {
            let text = number.as_str();
            let may_be = text.len() > 300 || text.contains(['e', 'E']);
            (may_be && number.as_f64().is_infinite()).then_some(text)
        }
        _ => None,
    }
}

fn is_plain_integer(number: Number<'_>) -> bool {
    number.as_str().strip_prefix('-').unwrap_or(number.as_str()).bytes().all(|byte| byte.is_ascii_digit())
}
