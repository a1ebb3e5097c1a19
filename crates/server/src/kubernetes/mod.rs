//! The dialect of a Kubernetes API server.

mod resource;

use http::StatusCode;
use wheelwright_repository::Repository;

use crate::{
    access::Access,
    answer::Answer,
    refusal::Refusal,
    request::{Head, Request},
};

/// The kinds of a repository, as custom resources of a Kubernetes API server.
#[derive(Debug)]
pub(crate) struct Kubernetes {
    #[expect(dead_code, reason = "the dialect is being built")]
    repository: Repository,
}

/// What a request is about.
#[derive(Debug)]
pub(crate) struct Route {
    access: Access,
}

impl Kubernetes {
    pub(crate) fn new(repository: Repository) -> Self {
        Self { repository }
    }

    /// What a request is about; else, the answer.
    pub(crate) fn route(&self, _: &Head) -> Result<Route, Answer> {
        Err(Answer::text(StatusCode::NOT_FOUND, "404 page not found\n"))
    }

    /// Answers a request that was routed, and that its sender may make.
    pub(crate) async fn answer(&self, _: Route, _: Request) -> Answer {
        Answer::text(StatusCode::NOT_FOUND, "404 page not found\n")
    }

    /// The answer to a request that is not done.
    pub(crate) fn refuse(&self, refusal: &Refusal) -> Answer {
        Answer::text(refusal.status(), refusal.message())
    }
}

impl Route {
    /// What is wanted.
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }
}
