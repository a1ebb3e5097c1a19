//! Reading resources, and lists of them.

use std::fmt::Write as _;

use http::{Method, StatusCode, header};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use wheelwright_document::{Value, encode};
use wheelwright_repository::{ArmVersion, Document, Name, View};
use wheelwright_repository::{Continuation, PageRequest};

use super::{
    error::ArmError,
    kinds::{Kind, Kinds},
    parameters::parameter,
    preconditions::{Preconditions, etag},
    target::{Place, Resource},
};
use crate::{
    answer::Answer,
    budget::PATIENCE,
    page::{ReadError, read_page},
    refusal::Refusal,
    request::{Head, Request},
    shelf::{Shelf, ShownObject, section},
    work,
};

/// What a list is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ListScope<'p> {
    Subscription(&'p str),
    Collection(&'p Place),
}

/// What stands for itself in a query.
const QUERY: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'&').add(b'+').add(b'<').add(b'>').add(b'=');

/// Answers with a resource.
pub(crate) async fn get(
    resource: &Resource<'_>,
    version: &ArmVersion,
    Request { head, allowance, .. }: &Request,
    shelf: &Shelf,
) -> Result<Answer, ArmError> {
    let name = resource.place.name(resource.kind)?;
    let preconditions = Preconditions::of(head)?;
    let view = View::Version(version.name.as_str());
    let (section, collection, caller) = (section(version), &resource.kind.collection, &*allowance.shares);
    let is_head = head.method == Method::HEAD;
    let mut found = None;
    if resource.kind.objects.is_none() && (is_head || preconditions.has_known()) {
        // Most of those who know a revision know the right one.
        let seen =
            shelf.revision(section, (collection, &name, view), caller).await?.ok_or_else(|| missing(resource))?;
        preconditions.check_read(&seen.revision)?;
        if preconditions.is_known(&seen.revision) {
            return Ok(Answer::empty(StatusCode::NOT_MODIFIED).with(header::ETAG, etag(&seen.revision)));
        }
        if is_head {
            return Ok(Answer::json(StatusCode::OK, Vec::new()).with(header::ETAG, etag(&seen.revision)));
        }
        found = seen.json.map(|json| ShownObject { revision: seen.revision, json });
    }
    let found = match (found, &resource.kind.objects) {
        (Some(found), _) => Some(found),
        (None, None) => shelf.object(section, (collection, &name, view), caller).await?,
        // What is kept of an object would not say all that a resource says.
        (None, Some(_)) => {
            let document = Box::pin(collection.get(&name, view)).await?;
            let document = document.map(|document| resource.kind.told(document)).transpose()?;
            document.map(|Document { revision, json, .. }| ShownObject { revision, json: json.into() })
        }
    };
    let found = found.ok_or_else(|| missing(resource))?;
    preconditions.check_read(&found.revision)?;
    let tag = etag(&found.revision);
    Ok(match preconditions.is_known(&found.revision) {
        true => Answer::empty(StatusCode::NOT_MODIFIED),
        false => Answer::json(StatusCode::OK, found.json),
    }
    .with(header::ETAG, tag))
}

/// An answer with a resource in it.
pub(crate) fn shown(status: StatusCode, document: Document) -> Answer {
    let tag = etag(&document.revision);
    Answer::json(status, document.json).with(header::ETAG, tag)
}

/// That a resource is not there.
pub(crate) fn missing(resource: &Resource<'_>) -> ArmError {
    let message = format!("the resource {} is not there", resource.id());
    ArmError::not_found("ResourceNotFound", message)
}

/// Answers with a page of resources.
pub(crate) async fn list(
    kind: &Kind,
    scope: ListScope<'_>,
    version: &ArmVersion,
    Request { head, allowance, .. }: &Request,
    most: usize,
    kinds: &Kinds,
) -> Result<Answer, ArmError> {
    let top = parameter(&head.query, "$top")?.map(|text| {
        let count = text.parse().ok().filter(|count| *count > 0);
        count.ok_or_else(|| ArmError::bad_request("InvalidQueryParameter", "$top is a number from 1 on").about("$top"))
    });
    let top: Option<usize> = top.transpose()?;
    let name = match scope {
        // The namespaces of objects are all in this one.
        ListScope::Subscription(_) if kind.objects.is_some() => None,
        ListScope::Subscription(subscription) => {
            let name = Name::new(&subscription.to_lowercase());
            Some(name.map_err(|bad| ArmError::bad_request("InvalidSubscriptionId", bad.to_string()))?)
        }
        ListScope::Collection(place) => {
            check_parent(kind, place, kinds).await?;
            Some(place.name(kind)?)
        }
    };
    let after = parameter(&head.query, "$skiptoken")?.map(Continuation::new);
    let request = PageRequest { limit: Some(top.unwrap_or(most).min(most)), after };
    let read = read_page(&kind.collection, name.as_ref(), request, (allowance, PATIENCE)).await;
    let (unopened, _charge) = read.map_err(|error| match error {
        ReadError::Repository(error) => error.into(),
        ReadError::OutOfMemory(exceeded) => ArmError::of_refusal(&Refusal::OutOfMemory(exceeded)),
    })?;
    work::step(unopened.bytes()).await;
    let (mut documents, mut next, moment) = (Vec::new(), unopened.next.clone(), unopened.cursor.clone());
    for document in unopened.open(View::Version(version.name.as_str())) {
        let error = match document {
            Ok(document) => {
                documents.push(kind.told(document)?);
                continue;
            }
            Err(error) => error,
        };
        // It must not be missing without a word. A page that has begun ends before it, and the next one reports it.
        let before = documents.last().map(|document: &Document| &document.name);
        let Some(after) = before.or(error.document()) else { return Err(error.into()) };
        let mut behind = kind.collection.position(name.as_ref(), Some(&moment), Some(after)).await?;
        if behind.is_none() {
            behind = kind.collection.position(name.as_ref(), None, Some(after)).await?;
        }
        match (before, behind) {
            (Some(_), Some(behind)) => next = Some(behind),
            (None, Some(behind)) => {
                return Err(ArmError::from(error).going_on(link(head, version, behind.as_str(), top)));
            }
            (_, None) => return Err(error.into()),
        }
        break;
    }
    let next = next.map(|next| link(head, version, next.as_str(), top));
    Ok(Answer::json(StatusCode::OK, page(&documents, next.as_deref())))
}

/// Refuses to list what belongs to a resource that is not there.
async fn check_parent(kind: &Kind, place: &Place, kinds: &Kinds) -> Result<(), ArmError> {
    let Some(parent) = kinds.parent_of(kind).filter(|_| !place.names.is_empty()) else { return Ok(()) };
    match parent.collection.get(&place.name(parent)?, View::Hub).await? {
        Some(_) => Ok(()),
        None => Err(no_parent(&Resource { kind: parent, place: place.clone() })),
    }
}

/// That the resource is not there which another one belongs to.
pub(crate) fn no_parent(parent: &Resource<'_>) -> ArmError {
    let message = format!("the resource {} is not there, to which this would belong", parent.id());
    ArmError::not_found("ParentResourceNotFound", message)
}

/// The body of a page. Documents are JSON already.
fn page(documents: &[Document], next: Option<&str>) -> Vec<u8> {
    let length = documents.iter().map(|document| document.json.len() + 1).sum::<usize>();
    let mut body = Vec::with_capacity(length + 256);
    body.extend_from_slice(b"{\"value\":[");
    for (position, document) in documents.iter().enumerate() {
        if position > 0 {
            body.push(b',');
        }
        body.extend_from_slice(&document.json);
    }
    body.push(b']');
    if let Some(next) = next {
        body.extend_from_slice(b",\"nextLink\":");
        body.extend_from_slice(&encode(Value::string(next)));
    }
    body.push(b'}');
    body
}

/// Where a list goes on: in the same version, with pages of the same size.
fn link(head: &Head, version: &ArmVersion, token: &str, top: Option<usize>) -> String {
    let (base, path) = (&head.base(), head.raw_path());
    let token = utf8_percent_encode(token, QUERY);
    let mut link = format!("{base}{path}?api-version={}&$skiptoken={token}", version.name);
    if let Some(top) = top {
        let _ = write!(link, "&$top={top}");
    }
    link
}
