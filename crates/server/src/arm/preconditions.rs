//! Conditions that a request is done under: `If-Match` and `If-None-Match`.

use http::{HeaderName, header};
use wheelwright_repository::Revision;

use super::error::ArmError;
use crate::request::Head;

/// What a client wants to be there, or not to be there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Preconditions {
    matches: Option<Tags>,
    none_matches: Option<Tags>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Tags {
    Any,
    These(Vec<Box<str>>),
}

impl Preconditions {
    pub(crate) fn of(head: &Head) -> Self {
        Self { matches: tags(head, header::IF_MATCH), none_matches: tags(head, header::IF_NONE_MATCH) }
    }

    /// Whether only one state of the resource will do: then nobody tries again after somebody else was faster.
    pub(crate) fn are_there(&self) -> bool {
        self.matches.is_some() || self.none_matches.is_some()
    }

    /// Whether a reader has what there is already.
    pub(crate) fn is_known(&self, revision: &Revision) -> bool {
        self.none_matches.as_ref().is_some_and(|tags| tags.include(Some(revision)))
    }

    /// Refuses what is asked of another state of the resource than it is in; `None` if it is not there.
    pub(crate) fn check(&self, revision: Option<&Revision>) -> Result<(), ArmError> {
        if self.matches.as_ref().is_some_and(|tags| !tags.include(revision)) {
            return Err(ArmError::precondition(match revision {
                Some(_) => "the resource is not the one that If-Match names: somebody changed it; read it again",
                None => "the resource that If-Match names is not there",
            })
            .about("If-Match"));
        }
        if self.none_matches.as_ref().is_some_and(|tags| tags.include(revision)) {
            return Err(ArmError::precondition("the resource is there, and If-None-Match wants that it is not")
                .about("If-None-Match"));
        }
        Ok(())
    }
}

impl Tags {
    fn include(&self, revision: Option<&Revision>) -> bool {
        match (self, revision) {
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::These(tags), Some(revision)) => tags.iter().any(|tag| **tag == *revision.as_str()),
        }
    }
}

/// The tag of a revision, as headers have it.
pub(crate) fn etag(revision: &Revision) -> String {
    format!("\"{revision}\"")
}

fn tags(head: &Head, name: HeaderName) -> Option<Tags> {
    let texts = head.headers.get_all(name).iter().filter_map(|text| text.to_str().ok());
    let tags: Vec<&str> = texts.flat_map(|text| text.split(',')).map(str::trim).filter(|tag| !tag.is_empty()).collect();
    match &tags[..] {
        [] => None,
        tags if tags.contains(&"*") => Some(Tags::Any),
        tags => {
            // Ours are strong ones; one that a proxy made weak is still one of ours.
            let bare = |tag: &&str| tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"').into();
            Some(Tags::These(tags.iter().map(bare).collect()))
        }
    }
}
