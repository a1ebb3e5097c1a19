//! Which dialect a request is in, and what it is about there.

use http::HeaderMap;

use crate::{access::Access, arm, kubernetes, request_id::Ids};

/// The API dialect of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    Arm,
    Kubernetes,
}

/// The target of a request, in its dialect.
pub(super) enum Route<'k> {
    Arm(arm::Route<'k>),
    Kubernetes(kubernetes::Route),
}

impl Dialect {
    pub(super) fn of(path: &str) -> Self {
        let first = path.as_bytes().split(|byte| *byte == b'/').find(|segment| !segment.is_empty()).unwrap_or_default();
        match ["subscriptions", "providers"].iter().any(|own| first.eq_ignore_ascii_case(own.as_bytes())) {
            true => Self::Arm,
            false => Self::Kubernetes,
        }
    }

    /// The ids of a request, for its answer and the log.
    pub(super) fn ids(self, request: &HeaderMap) -> Ids {
        match self {
            Self::Arm => arm::ids(request),
            Self::Kubernetes => kubernetes::ids(request),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Arm => "arm",
            Self::Kubernetes => "kubernetes",
        }
    }
}

impl Route<'_> {
    pub(super) fn access(&self) -> &Access {
        match self {
            Self::Arm(route) => route.access(),
            Self::Kubernetes(route) => route.access(),
        }
    }

    pub(super) fn into_access(self) -> Access {
        match self {
            Self::Arm(route) => route.into_access(),
            Self::Kubernetes(route) => route.into_access(),
        }
    }

    /// The name of the object that the path names.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            Self::Arm(route) => route.name(),
            Self::Kubernetes(route) => route.name(),
        }
    }
}
