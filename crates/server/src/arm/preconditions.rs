//! Conditions that a request is done under: `If-Match` and `If-None-Match`.

use wheelwright_repository::Revision;

use super::error::ArmError;
use crate::request::Head;

const IF_MATCH: &str = "If-Match";
const IF_NONE_MATCH: &str = "If-None-Match";

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
    pub(crate) fn of(head: &Head) -> Result<Self, ArmError> {
        Ok(Self { matches: tags(head, IF_MATCH)?, none_matches: tags(head, IF_NONE_MATCH)? })
    }

    /// Whether only one state of the resource will do: then nobody tries again after somebody else was faster.
    pub(crate) fn are_there(&self) -> bool {
        self.matches.is_some() || self.none_matches.is_some()
    }

    /// Whether a reader has read the resource before.
    pub(crate) fn has_known(&self) -> bool {
        self.none_matches.is_some()
    }

    /// Whether a reader has what there is already.
    pub(crate) fn is_known(&self, revision: &Revision) -> bool {
        self.none_matches.as_ref().is_some_and(|tags| tags.include(Some(revision)))
    }

    /// Refuses to show another state of the resource than a reader wants.
    pub(crate) fn check_read(&self, revision: &Revision) -> Result<(), ArmError> {
        Self { none_matches: None, ..self.clone() }.check(Some(revision))
    }

    /// Refuses what is asked of another state of the resource than it is in; `None` if it is not there.
    pub(crate) fn check(&self, revision: Option<&Revision>) -> Result<(), ArmError> {
        if self.matches.as_ref().is_some_and(|tags| !tags.include(revision)) {
            return Err(ArmError::precondition(match revision {
                Some(_) => "the resource is not the one that If-Match names: somebody changed it; read it again",
                None => "the resource that If-Match names is not there",
            })
            .about(IF_MATCH));
        }
        if self.none_matches.as_ref().is_some_and(|tags| tags.include(revision)) {
            return Err(ArmError::precondition("the resource is there, and If-None-Match wants that it is not")
                .about(IF_NONE_MATCH));
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

/// The tags of a header; none if it is not there. Nobody who names a state may be served as if they named none, so a
/// header without a tag that can be read is refused.
fn tags(head: &Head, name: &'static str) -> Result<Option<Tags>, ArmError> {
    let wrong = |why: &str| ArmError::bad_request("InvalidRequestHeader", format!("{name} {why}")).about(name);
    let texts = head.headers.get_all(name).iter().map(|text| text.to_str());
    let texts = texts.collect::<Result<Vec<&str>, _>>().map_err(|_| wrong("is not ASCII"))?;
    let tags: Vec<&str> =
        texts.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|tag| !tag.is_empty()).collect();
    match &tags[..] {
        [] if texts.is_empty() => Ok(None),
        [] => Err(wrong("is empty; name a tag, or *")),
        tags if tags.contains(&"*") => Ok(Some(Tags::Any)),
        tags => {
            // Ours are strong ones; one that a proxy made weak is still one of ours.
            let bare = |tag: &&str| tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"').into();
            Ok(Some(Tags::These(tags.iter().map(bare).collect())))
        }
    }
}
