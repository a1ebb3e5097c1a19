//! Objects of Kubernetes as resources: what of an object a resource says, and in which words. Behind this door everything
//! is as if Kubernetes had asked.

use std::{borrow::Cow, collections::HashSet, error::Error, sync::Arc};

use wheelwright_catalog::ARM_FIELDS;
use wheelwright_document::{Arena, Entry, FieldPath, Value, decode_trusted, encode};
use wheelwright_repository::{
    ArmVersion, Collection, Document, FieldError, FieldProblem, Judge, Part, RepositoryError, Write, WriteError,
};
use wheelwright_text::names::is_dns1123_subdomain;

use super::{
    error::ArmError,
    kinds::Kind,
    preconditions::etag,
    target::{Place, Resource},
};
use crate::{
    access::{Access, Scope, Verb},
    kubernetes::{self, ObjectJudge},
    request::Head,
    shelf::Shelf,
};

/// What a kind is to Kubernetes, whose namespaces are the resource groups of a subscription.
#[derive(Debug)]
pub(crate) struct Objects {
    subscription: Box<str>,
    /// What Kubernetes calls them, in every version that is served.
    versions: Vec<kubernetes::Resource>,
}

/// What a client sends, as the repository takes it.
#[derive(Debug)]
pub(crate) struct Sent<'r> {
    json: Cow<'r, [u8]>,
    is_patch: bool,
    part: Part,
    judge: Option<TagJudge<'r>>,
}

const TAGS: &str = "tags";
const METADATA: &str = "metadata";
const LABELS: &str = "labels";
/// The fields at the root of an object that are no part of what a resource says.
const OF_KUBERNETES: [&str; 3] = ["apiVersion", "kind", METADATA];

impl Objects {
    pub(crate) fn of(collection: &Collection, subscription: &str, shelf: &Arc<Shelf>) -> Self {
        Self { subscription: subscription.into(), versions: kubernetes::served(collection.clone(), shelf) }
    }

    /// The kind in a version: the one of today where a version has several names.
    fn version(&self, version: &ArmVersion) -> Option<&kubernetes::Resource> {
        self.versions.iter().rev().find(|resource| *resource.version().name == *version.name.as_str())
    }
}

impl Kind {
    /// Whether resources of the type may be in a subscription.
    pub(crate) fn is_in(&self, subscription: &str) -> bool {
        self.objects.as_ref().is_none_or(|objects| objects.subscription.eq_ignore_ascii_case(subscription))
    }

    /// What is asked of grants. Of objects it is what Kubernetes would ask, so that nobody gets around a grant in other
    /// words.
    pub(crate) fn access(&self, verb: Verb, version: &ArmVersion, scope: Scope) -> Access {
        let Some(resource) = self.objects.as_ref().and_then(|objects| objects.version(version)) else {
            let (kind, version) = (self.resource_type().into(), version.name.as_str().into());
            return Access { verb, kind: Some(kind), version: Some(version), scope };
        };
        let scope = match scope {
            Scope::Subscription(_, Some(group)) => Scope::Namespace(group),
            _ => Scope::All,
        };
        let (kind, version) = (resource.names.kind.clone(), resource.names.version.clone());
        Access { verb, kind: Some(kind), version: Some(version), scope }
    }

    /// A document as a resource.
    pub(crate) fn told(&self, mut document: Document) -> Result<Document, ArmError> {
        let Some(objects) = &self.objects else { return Ok(document) };
        let arena = Arena::for_input(document.json.len());
        let object = decode_trusted(&document.json, &arena).map_err(|error| ArmError::internal(error.to_string()))?;
        let (group, name) = document.name.as_str().split_once('/').unwrap_or(("", document.name.as_str()));
        let (subscription, of_type) = (&objects.subscription, self.resource_type());
        let id = format!("/subscriptions/{subscription}/resourceGroups/{group}/providers/{of_type}/{name}");
        let etag = etag(&document.revision);
        let system_data = document.metadata.system_data.as_ref().map(|data| data.share(&arena));
        let own = [
            ("id", Some(Value::string(&id))),
            ("name", Some(Value::string(name))),
            ("type", Some(Value::string(of_type))),
            ("systemData", system_data),
            (TAGS, labels(object)),
            ("etag", Some(Value::string(&etag))),
        ];
        let own = own.into_iter().filter_map(|(key, value)| Some(Entry { key, value: value? }));
        let others = fields(object).iter().filter(|entry| !is_outside(entry.key)).copied();
        document.json = encode(Value::Object(&own.chain(others).collect::<Vec<_>>()));
        Ok(document)
    }
}

impl Resource<'_> {
    /// Refuses to create an object that Kubernetes would not create under that name, or not for that caller: a PUT changes
    /// what is there, and creates what is not.
    pub(crate) fn check_new(&self, version: &ArmVersion, head: &Head) -> Result<(), ArmError> {
        if self.kind.objects.is_none() {
            return Ok(());
        }
        let access = self.kind.access(Verb::Create, version, self.place.scope());
        head.caller.check(&access).map_err(|refusal| ArmError::of_refusal(&refusal))?;
        let (group, name) = namespace_and_name(&self.place);
        let wrong = |what: &str, found: &str, demand: &str| {
            Err(ArmError::bad_request("InvalidResourceName", format!("the {what} {found:?} must be {demand}")))
        };
        if !kubernetes::is_namespace(&group) {
            return wrong("resource group", &group, "up to 63 letters, digits and `-`, with no `-` at its ends");
        }
        if !is_dns1123_subdomain(&name) {
            return wrong(
                "name",
                &name,
                "up to 253 letters, digits, `-` and `.`, that begin and end with a letter or digit",
            );
        }
        Ok(())
    }
}

impl<'r> Sent<'r> {
    /// A whole resource, in the place of the one that is there.
    pub(crate) fn document(
        resource: &'r Resource<'_>,
        version: &ArmVersion,
        body: &'r [u8],
        there: Option<&Document>,
    ) -> Result<Self, ArmError> {
        Self::of(resource, version, body, there, false)
    }

    /// A patch of the resource that is there.
    pub(crate) fn patch(
        resource: &'r Resource<'_>,
        version: &ArmVersion,
        body: &'r [u8],
        there: &Document,
    ) -> Result<Self, ArmError> {
        Self::of(resource, version, body, Some(there), true)
    }

    /// As a write that the repository can do.
    pub(crate) fn write(&'r self, version: &'r ArmVersion) -> Write<'r> {
        let version = version.name.as_str();
        let write = match self.is_patch {
            true => Write::merge_patch(version, &self.json),
            false => Write::document(version, &self.json),
        };
        match &self.judge {
            Some(judge) => write.of(self.part).judged_by(judge),
            None => write,
        }
    }

    fn of(
        resource: &'r Resource<'_>,
        version: &ArmVersion,
        body: &'r [u8],
        there: Option<&Document>,
        is_patch: bool,
    ) -> Result<Self, ArmError> {
        let Some(objects) = &resource.kind.objects else {
            return Ok(Self { json: Cow::Borrowed(body), is_patch, part: Part::Whole, judge: None });
        };
        let missing = || ArmError::internal(format!("{} is no version of an object", version.name));
        let of_kubernetes = objects.version(version).ok_or_else(missing)?;
        let part = of_kubernetes.part();
        let (group, name) = (&*resource.place.group, resource.place.names.last().map_or("", |name| name));
        let judge = Some(TagJudge(ObjectJudge::of(of_kubernetes, Some(group), name, part)));
        let arena = Arena::for_input(body.len());
        let Ok(sent @ Value::Object(_)) = decode_trusted(body, &arena) else {
            // The repository refuses it.
            return Ok(Self { json: Cow::Borrowed(body), is_patch, part, judge });
        };
        check(sent, is_patch)?;
        let there = there.map(|there| decode_trusted(&there.json, &arena)).transpose();
        let object = match there.map_err(|error| ArmError::internal(error.to_string()))? {
            Some(there) if is_patch => patched(there, sent, &arena),
            Some(there) => replacement(there, sent, &arena),
            None => new(of_kubernetes, &resource.place, sent, &arena),
        };
        Ok(Self { json: Cow::Owned(encode(object)), is_patch, part, judge })
    }
}

/// What Kubernetes demands of an object, with its labels as the tags that they are here.
#[derive(Debug)]
struct TagJudge<'r>(ObjectJudge<'r>);

impl Judge for TagJudge<'_> {
    fn object(&self, document: Value<'_>, before: Option<Value<'_>>) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.0.object(document, before)
    }

    fn wrong_fields(&self, document: Value<'_>, normal: Value<'_>) -> Vec<FieldError> {
        let is_of_labels = |error: &FieldError| error.path.as_str().starts_with("metadata.labels");
        let wrong = self.0.wrong_fields(document, normal).into_iter();
        let told = |error: FieldError| match is_of_labels(&error) {
            true => FieldError::new(tags_path(), error.problem),
            false => error,
        };
        wrong.map(told).collect()
    }
}

/// Refuses what is no part of a resource, and tags that cannot be labels.
fn check(sent: Value<'_>, is_patch: bool) -> Result<(), ArmError> {
    let unknown = fields(sent).iter().filter(|entry| OF_KUBERNETES.contains(&entry.key));
    let mut wrong: Vec<FieldError> =
        unknown.map(|entry| FieldError::new(FieldPath::root().child(entry.key), FieldProblem::Unknown)).collect();
    let is_text = |tag: &Entry<'_>| tag.value.as_str().is_some() || is_patch && tag.value.is_null();
    let are_tags = |tags: Value<'_>| tags.as_object().is_some_and(|tags| tags.iter().all(is_text));
    if sent.get(TAGS).is_some_and(|tags| !tags.is_null() && !are_tags(tags)) {
        wrong.push(FieldError::new(tags_path(), FieldProblem::NotWritable("must be an object of texts")));
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(RepositoryError::Write(WriteError::Fields(wrong)).into()),
    }
}

/// The object of a resource that is not there yet.
fn new<'a>(of_kubernetes: &kubernetes::Resource, place: &Place, sent: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let (namespace, name) = namespace_and_name(place);
    let text = |key, text: &str| Entry { key, value: Value::string(arena.text(text)) };
    let tags = sent.get(TAGS).filter(|tags| !tags.is_null()).map(|value| Entry { key: LABELS, value });
    let metadata: Vec<_> = [text("name", &name), text("namespace", &namespace)].into_iter().chain(tags).collect();
    let metadata = Entry { key: METADATA, value: Value::Object(arena.slice(&metadata)) };
    let api_version = text("apiVersion", &of_kubernetes.api_version());
    let kind = text("kind", &of_kubernetes.definition().kind);
    joined([api_version, kind, metadata], sent, arena)
}

/// The object of a resource in the place of another one: what a resource cannot say stays.
fn replacement<'a>(there: Value<'a>, sent: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let tags = sent.get(TAGS).filter(|tags| !tags.is_null());
    let is_same = match (labels(there), tags) {
        (None, None) => true,
        (Some(old), Some(new)) => old.equivalent(new),
        _ => false,
    };
    let kept = fields(there).iter().filter(|entry| is_outside(entry.key)).map(|entry| match entry.value {
        Value::Object(metadata) if entry.key == METADATA && !is_same => {
            let others = metadata.iter().filter(|field| field.key != LABELS).copied();
            let labels = tags.map(|value| Entry { key: LABELS, value });
            Entry { value: Value::Object(arena.slice(&others.chain(labels).collect::<Vec<_>>())), ..*entry }
        }
        _ => *entry,
    });
    joined(kept, sent, arena)
}

/// A patch of an object that does what a patch of the resource says. Tags are written as a whole.
fn patched<'a>(there: Value<'a>, patch: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let new_labels = patch.get(TAGS).map(|tags| match tags {
        Value::Object(tags) => {
            // A tag that is null is none, also if it was there.
            let named: HashSet<&str> = tags.iter().map(|tag| tag.key).collect();
            let old = labels(there).map(fields).unwrap_or_default().iter();
            let dropped =
                old.filter(|label| !named.contains(label.key)).map(|label| Entry { value: Value::Null, ..*label });
            Value::Object(arena.slice(&dropped.chain(tags.iter().copied()).collect::<Vec<_>>()))
        }
        other => other,
    });
    let metadata = new_labels.map(|value| {
        let labels = arena.slice(&[Entry { key: LABELS, value }]);
        Entry { key: METADATA, value: Value::Object(labels) }
    });
    joined(metadata, patch, arena)
}

/// Some fields, and what of a resource is also said of its object.
fn joined<'a>(first: impl IntoIterator<Item = Entry<'a>>, sent: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let sent = fields(sent).iter().filter(|entry| !is_outside(entry.key)).copied();
    Value::Object(arena.slice(&first.into_iter().chain(sent).collect::<Vec<_>>()))
}

/// Whether a field at the root is that of only one of the two dialects.
fn is_outside(key: &str) -> bool {
    OF_KUBERNETES.contains(&key) || ARM_FIELDS.contains(&key)
}

fn labels(object: Value<'_>) -> Option<Value<'_>> {
    object.get(METADATA).and_then(|metadata| metadata.get(LABELS)).filter(|labels| !labels.is_null())
}

fn fields(object: Value<'_>) -> &[Entry<'_>] {
    object.as_object().unwrap_or_default()
}

fn tags_path() -> FieldPath {
    FieldPath::root().child(TAGS)
}

/// Kubernetes' names are in lower case, and nobody cares for case here.
fn namespace_and_name(place: &Place) -> (String, String) {
    (place.group.to_lowercase(), place.names.last().map_or_else(String::new, |name| name.to_lowercase()))
}
