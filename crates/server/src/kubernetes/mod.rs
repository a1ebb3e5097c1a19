//! The dialect of a Kubernetes API server.

mod accept;
mod audit;
mod body;
mod columns;
mod delete;
mod discovery;
mod field_path;
mod json;
mod json_path;
mod judge;
mod list;
mod namespaces;
mod openapi;
mod options;
mod refused;
mod resource;
mod route;
mod scale;
mod selector;
mod shape;
mod show;
mod status;
mod table;
mod token;
mod watch;
mod whole;
mod write;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use wheelwright_repository::Repository;

pub(crate) use self::audit::{AUDIT_ID, ids};
use self::{
    discovery::Discovery,
    namespaces::Namespaces,
    resource::Resources,
    route::{Action, Subresource, Target},
    shape::{Count, Shape},
    status::Status,
};
pub(crate) use self::{
    judge::ObjectJudge,
    namespaces::is_name as is_namespace,
    resource::{Resource, served},
};
use crate::{
    access::Access,
    answer::{Answer, AnswerBody},
    refusal::Refusal,
    request::{Head, Request},
    shelf::{Shelf, section},
    work,
};

/// The kinds of a repository, as custom resources of a Kubernetes API server.
#[derive(Debug)]
pub(crate) struct Kubernetes {
    resources: Arc<Resources>,
    discovery: Discovery,
    namespaces: Namespaces,
}

/// What a request is about.
#[derive(Debug)]
pub(crate) struct Route {
    access: Access,
    subject: Subject,
}

/// What a request is about.
#[derive(Debug)]
enum Subject {
    /// Which kinds there are.
    Kinds,
    /// A namespace, or all of them.
    Namespaces(Option<Box<str>>),
    /// Objects.
    Objects(Target),
}

impl Kubernetes {
    pub(crate) fn new(repository: Repository, shelf: &Arc<Shelf>) -> Self {
        let resources = Arc::new(Resources::of(&repository, shelf));
        Self { discovery: Discovery::of(&resources), namespaces: Namespaces::new(repository), resources }
    }

    /// Whether something is called so in grants, in any case.
    pub(crate) fn grants(&self, kind: &str) -> bool {
        let versions = self.resources.groups().iter().flat_map(|group| &group.versions);
        let names = versions.flat_map(|version| &version.resources).map(|resource| &resource.names);
        let mut names = names.flat_map(|names| [&*names.kind, &*names.status, &*names.scale]);
        namespaces::KIND.eq_ignore_ascii_case(kind) || names.any(|name| name.eq_ignore_ascii_case(kind))
    }

    /// What a request is about; else, the answer.
    pub(crate) fn route(&self, head: &Head) -> Result<Route, Box<Answer>> {
        let path = head.path.texts();
        if self.discovery.is_about(&path) {
            check_read(head)?;
            return Ok(Route { access: Access::discover(), subject: Subject::Kinds });
        }
        match &path[..] {
            ["apis", group, version, below @ ..] if !below.is_empty() => {
                let target = Target::of(&self.resources, (group, version), below, head)
                    .map_err(|answer| Box::new(uncached(*answer)))?;
                Ok(Route { access: target.access(), subject: Subject::Objects(target) })
            }
            ["api", "v1", "namespaces", name @ ..] if name.len() < 2 => {
                check_read(head)?;
                let name: Option<Box<str>> = name.first().map(|name| Box::from(*name));
                Ok(Route { access: namespaces::access(name.as_deref()), subject: Subject::Namespaces(name) })
            }
            _ => Err(Box::new(uncached(Answer::text(StatusCode::NOT_FOUND, "404 page not found\n")))),
        }
    }

    /// Answers a request that was routed, and that its sender may make.
    pub(crate) async fn answer(&self, route: &Route, request: &Request) -> Answer {
        uncached(match &route.subject {
            Subject::Kinds => self.discovery.answer(&request.head),
            Subject::Namespaces(Some(name)) => self.namespaces.get(name, &request.head),
            Subject::Namespaces(None) => Box::pin(self.namespaces.list(&request.head)).await,
            Subject::Objects(target) => {
                let (answer, warnings) = match target.answer(request).await {
                    Ok(answered) => answered,
                    Err(status) => (status.answer(), Vec::new()),
                };
                if let AnswerBody::Whole(Some(json)) = &answer.body
                    && target.accepted.is_yaml
                {
                    work::step(json.len()).await;
                }
                let warnings = show::deprecation(&target.resource).into_iter().chain(warnings);
                show::in_language(answer.warned(warnings), target.accepted.is_yaml)
            }
        })
    }

    /// The answer to a request that is not done.
    pub(crate) fn refuse(&self, refusal: &Refusal) -> Answer {
        uncached(refusal_status(refusal).answer())
    }

    /// The last event of a watch that is ended.
    pub(crate) fn watch_error(&self, refusal: &Refusal) -> Bytes {
        watch::line("ERROR", &refusal_status(refusal).json()).into()
    }
}

impl Target {
    /// The answer, and what is said beside it.
    ///
    /// What is not the get of an object is in boxes: a future is as large as the largest that it may wait for, and it is
    /// moved with every request.
    async fn answer(&self, request: &Request) -> Result<(Answer, Vec<String>), Status> {
        let plain = |answer| (answer, Vec::new());
        let is_scale = self.subresource == Some(Subresource::Scale);
        if !matches!(self.action, Action::List | Action::Watch | Action::DeleteAll) {
            // Nothing is done whose outcome cannot be told.
            Shape::of(self, request, Count::One)?;
        }
        let outcome = match self.action {
            Action::List => return Box::pin(self.list(request)).await.map(plain),
            Action::Watch => return Box::pin(self.watch(request)).await.map(plain),
            Action::Delete => return Box::pin(self.delete(request)).await.map(plain),
            Action::DeleteAll => return Box::pin(self.delete_all(request)).await.map(plain),
            Action::Get if is_scale => {
                return Ok(plain(self.shown(StatusCode::OK, self.scale().await?, request)?));
            }
            Action::Update | Action::Patch if is_scale => {
                let (scale, warnings) = Box::pin(self.rescale(request, self.action == Action::Patch)).await?;
                return Ok((self.shown(StatusCode::OK, scale, request)?, warnings));
            }
            Action::Get => return self.get(request).await.map(plain),
            Action::Create => Box::pin(self.create(request)).await?,
            Action::Update => Box::pin(self.update(request)).await?,
            Action::Patch => Box::pin(self.patch(request)).await?,
        };
        Ok((self.shown(outcome.code, outcome.document.json, request)?, outcome.warnings))
    }

    /// An object.
    async fn get(&self, request: &Request) -> Result<Answer, Status> {
        if let Some(version) = request.head.query.get("resourceVersion").filter(|version| !version.is_empty()) {
            let wanted = options::resource_version(version)?;
            let now = self.resource.collection.repository().cursor().await;
            let now = now.map_err(|error| refused::About::new(&self.resource, self.name()).status(error))?;
            if now.as_str().parse().is_ok_and(|now: u64| now < wanted) {
                return Err(Status::too_large_version(version, now.as_str()));
            }
        }
        let Shape::Objects = Shape::of(self, request, Count::One)? else {
            return self.shown(StatusCode::OK, self.found().await?.json, request);
        };
        let resource = &*self.resource;
        let name = self.object_name(self.name())?;
        let object = (&resource.collection, &name, self.view());
        let (shelf, caller) = (&resource.shelf, &*request.allowance.shares);
        let failed = |error| refused::About::new(resource, self.name()).status(error);
        let not_found = || Status::not_found(resource, self.name());
        if request.head.method == Method::HEAD {
            let seen = shelf.revision(section(resource), object, caller).await;
            seen.map_err(failed)?.ok_or_else(not_found)?;
            return Ok(Answer::json(StatusCode::OK, Vec::new()));
        }
        let found = shelf.object(section(resource), object, caller).await;
        let found = found.map_err(failed)?.ok_or_else(not_found)?;
        Ok(Answer::json(StatusCode::OK, found.json))
    }

    /// An answer with an object, in the form that is wanted.
    fn shown(&self, code: StatusCode, json: Vec<u8>, request: &Request) -> Result<Answer, Status> {
        Ok(Answer::json(code, Shape::of(self, request, Count::One)?.one(json, true)?))
    }
}

impl Route {
    /// What is wanted.
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    pub(crate) fn into_access(self) -> Access {
        self.access
    }

    /// The name of the object.
    pub(crate) fn name(&self) -> Option<String> {
        match &self.subject {
            Subject::Objects(target) => target.name.as_deref().map(str::to_owned),
            Subject::Namespaces(name) => name.as_deref().map(str::to_owned),
            Subject::Kinds => None,
        }
    }
}

/// The status of a request that is not done.
fn refusal_status(refusal: &Refusal) -> Status {
    let reason = match refusal {
        Refusal::Path(_) | Refusal::Host | Refusal::CutShort => "BadRequest",
        Refusal::TooLarge(_) => "RequestEntityTooLarge",
        Refusal::Packed => "UnsupportedMediaType",
        Refusal::TooSlow(_) | Refusal::OutOfTime(_) | Refusal::OutcomeNotRecorded => "Timeout",
        Refusal::NotRecorded => "ServiceUnavailable",
        Refusal::Unknown(_) => "Unauthorized",
        Refusal::Forbidden(_) => "Forbidden",
        Refusal::TooMany(_) | Refusal::TooManyOfOne(_) | Refusal::OutOfMemory(_) => "TooManyRequests",
    };
    let message = match refusal {
        Refusal::TooLarge(most) => format!("Request entity too large: limit is {most}"),
        refusal => refusal.message(),
    };
    Status::new(refusal.status(), reason, message)
}

/// Refuses all methods but those that read, where nothing can be written.
fn check_read(head: &Head) -> Result<(), Box<Answer>> {
    match head.method {
        Method::GET | Method::HEAD => Ok(()),
        _ => {
            let refused = Status::method_not_allowed().answer();
            Err(Box::new(uncached(refused.with(header::ALLOW, HeaderValue::from_static("GET, HEAD")))))
        }
    }
}

/// The same, unless it says otherwise, not to be kept by anybody on the way.
fn uncached(mut answer: Answer) -> Answer {
    let control = answer.headers.entry(header::CACHE_CONTROL);
    control.or_insert(HeaderValue::from_static("no-cache, private"));
    answer
}
