//! What the path and the method of a request mean: which objects of which resource, and what is to be done to them.

use std::sync::Arc;

use http::{HeaderValue, Method, StatusCode, header};

use super::{
    accept::{Accepted, MEDIA_TYPES},
    options,
    resource::{Resource, Resources},
    status::Status,
};
use crate::{
    access::{Access, Scope, Verb},
    answer::Answer,
    arm::Author,
    audit::Trail,
    request::Head,
};

/// What a request is about.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) resource: Arc<Resource>,
    /// Where the objects are; none for objects that are in no namespace, and for those of all namespaces.
    pub(super) namespace: Option<Box<str>>,
    /// The object; none for all of them.
    pub(super) name: Option<Box<str>>,
    pub(super) subresource: Option<Subresource>,
    pub(super) action: Action,
    pub(super) accepted: Accepted,
    /// Who asks, where it is kept who wrote an object: clients of Azure's resource manager see that.
    pub(super) author: Option<Author>,
    /// What the request leaves in the audit log.
    pub(super) trail: Trail,
}

/// A part of an object that is read and written by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Subresource {
    Status,
    Scale,
}

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteAll,
}

impl Target {
    /// What a request on objects is about: the segments are those after `/apis/GROUP/VERSION`.
    pub(super) fn of(
        resources: &Resources,
        (group, version): (&str, &str),
        segments: &[&str],
        head: &Head,
    ) -> Result<Self, Box<Answer>> {
        let nothing = || Box::new(Answer::text(StatusCode::NOT_FOUND, "404 page not found\n"));
        // An older way to ask for a watch.
        let (is_watch_path, segments) = match segments {
            ["watch", rest @ ..] if !rest.is_empty() => (true, rest),
            segments => (false, segments),
        };
        let (namespace, plural, below) = match segments {
            ["namespaces", namespace, plural, below @ ..] => (Some(*namespace), *plural, below),
            [plural, below @ ..] => (None, *plural, below),
            [] => return Err(nothing()),
        };
        let resource = resources.find(group, version, plural).ok_or_else(nothing)?.clone();
        let is_read = matches!(head.method, Method::GET | Method::HEAD);
        match (resource.definition().is_namespaced, namespace) {
            (true, Some(_)) | (false, None) => {}
            // All namespaces can be looked through, and no more.
            (true, None) if below.is_empty() && is_read => {}
            _ => return Err(nothing()),
        }
        let refused =
            |status: Status| Box::new(refusal(&status, &resource, Accepted::of_documents(head.header("accept"))));
        let (name, subresource) = match below {
            [] => (None, None),
            [name] => (Some(*name), None),
            [name, "status"] if resource.version().has_status => (Some(*name), Some(Subresource::Status)),
            [name, "scale"] if resource.version().scale.is_some() => (Some(*name), Some(Subresource::Scale)),
            [name, ..] => return Err(refused(Status::not_found(&resource, name))),
        };
        let not_supported = |action: &str| {
            let allowed = match (name, subresource) {
                (None, _) => "GET, HEAD, POST, DELETE",
                (Some(_), None) => "GET, HEAD, PUT, PATCH, DELETE",
                (Some(_), Some(_)) => "GET, HEAD, PUT, PATCH",
            };
            let answer = *refused(Status::not_supported(&resource, action));
            Box::new(answer.with(header::ALLOW, HeaderValue::from_static(allowed)))
        };
        let is_watch = is_watch_path || options::is_watch(&head.query);
        let action = match (&head.method, name, subresource) {
            (&Method::GET | &Method::HEAD, None, _) if is_watch => Action::Watch,
            (&Method::GET | &Method::HEAD, None, _) => Action::List,
            (&Method::GET | &Method::HEAD, Some(_), _) => Action::Get,
            (&Method::POST, _, None) => Action::Create,
            (&Method::POST, _, Some(_)) => return Err(not_supported("create")),
            (&Method::PUT | &Method::PATCH, None, _) => {
                return Err(refused(Status::bad_request("name must be provided")));
            }
            (&Method::PUT, Some(_), _) => Action::Update,
            (&Method::PATCH, Some(_), _) => Action::Patch,
            (&Method::DELETE, _, Some(_)) => return Err(not_supported("delete")),
            (&Method::DELETE, None, _) => Action::DeleteAll,
            (&Method::DELETE, Some(_), _) => Action::Delete,
            _ => return Err(not_supported(head.method.as_str())),
        };
        let Some(accepted) = Accepted::of_documents(head.header("accept")) else {
            return Err(refused(Status::not_acceptable(MEDIA_TYPES)));
        };
        if action == Action::Watch && accepted.is_yaml {
            return Err(refused(Status::not_acceptable("application/json;stream=watch")));
        }
        let namespace = namespace.map(Box::from);
        let author = resource.collection.kind().arm().map(|_| Author::of_caller(&head.caller));
        let (name, trail) = (name.map(Box::from), head.trail.clone());
        Ok(Self { resource, namespace, name, subresource, action, accepted, author, trail })
    }

    /// The name of the object; empty if it is about all of them.
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// What is asked of roles, and counted.
    pub(super) fn access(&self) -> Access {
        let verb = match self.action {
            Action::Get => Verb::Get,
            Action::List => Verb::List,
            Action::Watch => Verb::Watch,
            Action::Create => Verb::Create,
            Action::Update => Verb::Update,
            Action::Patch => Verb::Patch,
            Action::Delete => Verb::Delete,
            Action::DeleteAll => Verb::DeleteCollection,
        };
        let names = &self.resource.names;
        let kind = match self.subresource {
            None => &names.kind,
            Some(Subresource::Status) => &names.status,
            Some(Subresource::Scale) => &names.scale,
        };
        Access {
            verb,
            kind: Some(kind.clone()),
            version: Some(names.version.clone()),
            scope: self.namespace.clone().map_or(Scope::All, Scope::Namespace),
        }
    }
}

/// A status as an answer, in the language that is wanted and with what is said of the version.
fn refusal(status: &Status, resource: &Resource, accepted: Option<Accepted>) -> Answer {
    let answer = status.answer().warned(super::show::deprecation(resource).into_iter());
    super::show::in_language(answer, accepted.is_some_and(|accepted| accepted.is_yaml))
}
