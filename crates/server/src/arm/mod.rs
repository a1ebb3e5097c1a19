//! The dialect of Azure's resource manager: resources at paths that say of which subscription, group and type they are, in
//! the version that the query names.
//!
//! A path leads to a [`Target`](target::Target); [`read`] and [`write`] do what is asked of it, [`operation`] remembers what
//! takes time, and [`error`] tells what went wrong. [`objects`] is the door to kinds that Kubernetes serves, too. What a
//! document means is the repository's to say.

mod delete;
mod error;
mod headers;
mod kinds;
mod names;
mod objects;
mod operation;
mod parameters;
mod poll;
mod preconditions;
mod read;
mod system_data;
mod target;
mod write;

use std::sync::Arc;

use http::Method;
use wheelwright_repository::{ArmVersion, Repository};

use self::{
    error::ArmError,
    kinds::{Kind, Kinds},
    target::Target,
};
pub(crate) use self::{
    headers::{CORRELATION_ID, REQUEST_ID, ids, served},
    system_data::Author,
};
use crate::{
    Limits,
    access::{Access, Scope, Verb},
    answer::Answer,
    refusal::Refusal,
    request::{Head, Request},
    shelf::Shelf,
};

/// The kinds of a repository, as resources of Azure's resource manager.
#[derive(Debug)]
pub(crate) struct Arm {
    kinds: Kinds,
    /// The most resources of a page of a list.
    page: usize,
    /// What was shown before.
    shelf: Arc<Shelf>,
}

/// What a request is about, and in which version: what was asked of grants is what is done.
#[derive(Debug)]
pub(crate) struct Route<'k> {
    access: Access,
    target: Target<'k>,
    version: &'k ArmVersion,
}

impl Arm {
    /// Whether something is called so in grants, in any case: what is also an object of Kubernetes is granted by that name.
    pub(crate) fn grants(&self, resource_type: &str) -> bool {
        self.kinds.find(resource_type).is_some_and(|kind| kind.objects.is_none())
    }

    pub(crate) fn new(repository: &Repository, limits: &Limits, shelf: Arc<Shelf>) -> Self {
        Self { kinds: Kinds::of(repository, &shelf), page: limits.page, shelf }
    }

    /// What a request is about; else, the answer.
    pub(crate) fn route(&self, head: &Head) -> Result<Route<'_>, Box<Answer>> {
        self.routed(head).map_err(|error| Box::new(error.into_answer()))
    }

    /// Answers a request that was routed, and that its sender may make.
    pub(crate) async fn answer(&self, route: &Route<'_>, request: &Request) -> Answer {
        let Route { target, version, .. } = route;
        let answer = self.answered(target, version, request).await.unwrap_or_else(ArmError::into_answer);
        headers::announced(answer, version, &target.kind().versions())
    }

    /// The answer to a request that is not done.
    pub(crate) fn refuse(&self, refusal: &Refusal) -> Answer {
        ArmError::of_refusal(refusal).into_answer()
    }

    fn routed(&self, head: &Head) -> Result<Route<'_>, ArmError> {
        let target = Target::of(&head.path, &self.kinds)?;
        let kind = target.kind();
        let version = version(kind, head)?;
        parameters::check_known(&head.query)?;
        let verb = target.verb(&head.method, version)?;
        let access = kind.access(verb, version, target.scope());
        Ok(Route { access, target, version })
    }

    /// What is not the get of a resource is in boxes: a future is as large as the largest that it may wait for, and it is
    /// moved with every request.
    async fn answered(&self, target: &Target<'_>, version: &ArmVersion, request: &Request) -> Result<Answer, ArmError> {
        let head = &request.head;
        match target {
            Target::Resource(resource) => match head.method {
                Method::PUT => Box::pin(write::put(resource, version, request, &self.kinds)).await,
                Method::PATCH => Box::pin(write::patch(resource, version, request)).await,
                Method::DELETE => {
                    write::check_unread_body(request)?;
                    Box::pin(delete::delete(resource, version, head, &self.kinds)).await
                }
                _ => read::get(resource, version, request, &self.shelf).await,
            },
            Target::InSubscription(kind, subscription) => {
                let scope = read::ListScope::Subscription(subscription);
                Box::pin(read::list(kind, scope, version, request, self.page, &self.kinds)).await
            }
            Target::InCollection(kind, place) => {
                let scope = read::ListScope::Collection(place);
                Box::pin(read::list(kind, scope, version, request, self.page, &self.kinds)).await
            }
            Target::Operation(kind, id, polled) => Box::pin(poll::poll(kind, id, *polled, version, head)).await,
        }
    }
}

impl Route<'_> {
    /// What is wanted.
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    pub(crate) fn into_access(self) -> Access {
        self.access
    }

    /// The name of the resource, below that of the one that it belongs to.
    pub(crate) fn name(&self) -> Option<String> {
        match &self.target {
            Target::Resource(resource) => Some(resource.place.names.join("/")),
            _ => None,
        }
    }
}

impl<'k> Target<'k> {
    fn kind(&self) -> &'k Kind {
        match self {
            Self::Resource(resource) => resource.kind,
            Self::InSubscription(kind, _) | Self::InCollection(kind, _) | Self::Operation(kind, ..) => kind,
        }
    }

    fn verb(&self, method: &Method, version: &ArmVersion) -> Result<Verb, ArmError> {
        let is_read = [Method::GET, Method::HEAD].contains(method);
        let listed = version.operations.listed;
        let not_listed = |by: &str| {
            let message = format!("resources of type {} are not listed by {by}", self.kind().resource_type());
            Err(ArmError::not_found("InvalidResourceType", message))
        };
        match self {
            Self::InSubscription(..) if !listed.subscription => not_listed("subscription"),
            Self::InCollection(..) if !listed.collection => not_listed("group or parent"),
            Self::InSubscription(..) | Self::InCollection(..) if is_read => Ok(Verb::List),
            Self::Operation(..) if is_read => Ok(Verb::Get),
            Self::Resource(_) if is_read => Ok(Verb::Get),
            Self::Resource(_) => match *method {
                Method::PUT => Ok(Verb::Update),
                Method::PATCH => Ok(Verb::Patch),
                Method::DELETE => Ok(Verb::Delete),
                _ => Err(ArmError::method(method, "GET, HEAD, PUT, PATCH, DELETE")),
            },
            _ => Err(ArmError::method(method, "GET, HEAD")),
        }
    }

    fn scope(&self) -> Scope {
        match self {
            Self::Resource(target::Resource { place, .. }) | Self::InCollection(_, place) => place.scope(),
            Self::InSubscription(_, subscription) => Scope::Subscription(subscription.to_lowercase().into(), None),
            Self::Operation(_, id, _) => {
                let mut segments = id.name.as_str().split('/').map(|segment| segment.to_lowercase().into());
                Scope::Subscription(segments.next().unwrap_or_default(), segments.next())
            }
        }
    }
}

/// The version that a request speaks.
fn version<'k>(kind: &'k Kind, head: &Head) -> Result<&'k ArmVersion, ArmError> {
    const PARAMETER: &str = "api-version";
    let supported = kind.versions();
    let of_type = kind.resource_type();
    let Some(asked) = parameters::parameter(&head.query, PARAMETER)?.filter(|asked| !asked.is_empty()) else {
        let message = format!("the query has no api-version; for {of_type} these are supported: {supported}");
        return Err(ArmError::bad_request("MissingApiVersionParameter", message).about(PARAMETER));
    };
    kind.version(asked).ok_or_else(|| {
        let shown: String = asked.chars().take(100).collect();
        let message = format!("'{shown}' is no api-version of {of_type}; these are supported: {supported}");
        let code = match is_dated(asked) {
            true => "UnsupportedApiVersionValue",
            false => "InvalidApiVersionParameter",
        };
        ArmError::bad_request(code, message).about(PARAMETER)
    })
}

/// Whether a text is a date, with or without a word after it.
fn is_dated(text: &str) -> bool {
    let is_date = |date: &str| date.parse::<jiff::civil::Date>().is_ok();
    let is_word =
        |word: &str| word.strip_prefix('-').is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    text.get(..10).is_some_and(is_date) && (text.len() == 10 || is_word(&text[10..]))
}
