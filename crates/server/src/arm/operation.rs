//! Operations: what a request asked for and a back end takes time over. They are kept in the record of the resource, so
//! that they are as safe as that; an id says which record it is.

use jiff::Timestamp;
use wheelwright_repository::{Metadata, Name, Operation};

/// The state of what was just asked for. A back end moves it on.
pub(crate) const ACCEPTED: &str = "Accepted";
/// The state of a resource that is to go. A back end removes it.
pub(crate) const DELETING: &str = "Deleting";
/// The state of a resource with which the service is done.
pub(crate) const SUCCEEDED: &str = "Succeeded";
/// The state of what was given up.
pub(crate) const CANCELED: &str = "Canceled";
const FAILED: &str = "Failed";

/// So many operations of a resource are remembered.
const REMEMBERED: usize = 10;

/// How many seconds to wait before asking again.
pub(crate) const RETRY_AFTER: u32 = 5;

/// What an operation does to its resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Does {
    Write,
    Delete,
}

/// What is asked about an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Polled {
    /// How far it is.
    Status,
    /// What it came to.
    Result,
}

/// An id that says which operation of which resource is meant. The subscription is not in it: it is in the path, so that
/// nobody reaches another one's operations by an id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OperationId {
    /// What tells it apart from all others.
    pub(crate) unique: Box<str>,
    pub(crate) does: Does,
    /// In lower case.
    pub(crate) resource_type: Box<str>,
    /// What the record is called.
    pub(crate) name: Name,
}

impl Polled {
    /// By the segment of a path, in any case.
    pub(crate) fn of(segment: &str) -> Option<Self> {
        let is = |polled: &Self| segment.eq_ignore_ascii_case(polled.segment());
        [Self::Status, Self::Result].into_iter().find(is)
    }

    pub(crate) fn segment(self) -> &'static str {
        match self {
            Self::Status => "operationStatuses",
            Self::Result => "operationResults",
        }
    }
}

impl OperationId {
    /// A new one, of a record.
    pub(crate) fn new(does: Does, resource_type: &str, name: Name) -> Self {
        let unique = uuid::Uuid::new_v4().simple().to_string().into();
        Self { unique, does, resource_type: resource_type.to_lowercase().into(), name }
    }

    /// The id of an operation that a record remembers.
    pub(crate) fn known(unique: &str, does: Does, resource_type: &str, name: Name) -> Self {
        Self { unique: unique.into(), does, resource_type: resource_type.to_lowercase().into(), name }
    }

    /// What was written, in a subscription.
    pub(crate) fn parse(text: &str, subscription: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let (unique, rest) = text.split_once('-')?;
        let does = match rest.get(..1)? {
            "w" => Does::Write,
            "d" => Does::Delete,
            _ => return None,
        };
        let resource = unhex(&rest[1..])?;
        let (resource_type, name) = resource.split_once(' ')?;
        let name = Name::new(&format!("{}/{name}", subscription.to_lowercase())).ok()?;
        Some(Self { unique: unique.into(), does, resource_type: resource_type.into(), name })
    }

    /// How it is written in paths.
    pub(crate) fn text(&self) -> String {
        let does = match self.does {
            Does::Write => 'w',
            Does::Delete => 'd',
        };
        let name = self.name.as_str().split_once('/').map_or("", |(_, name)| name);
        let resource = format!("{} {name}", self.resource_type);
        let hex: String = resource.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{does}{hex}", self.unique)
    }
}

/// What is written as two digits a byte.
fn unhex(text: &str) -> Option<String> {
    let pairs = text.as_bytes().chunks(2);
    let byte =
        |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?, 16).ok();
    String::from_utf8(pairs.map(byte).collect::<Option<Vec<u8>>>()?).ok()
}

/// Whether nothing more happens in a state.
pub(crate) fn is_over(state: &str) -> bool {
    [SUCCEEDED, FAILED, CANCELED].iter().any(|over| over.eq_ignore_ascii_case(state))
}

/// Begins an operation: the one before is over with what it came to by now, or is given up for this one.
pub(crate) fn begin(metadata: &mut Metadata, id: &OperationId, state: &str, now: Timestamp) {
    let before = metadata.provisioning_state.as_deref().filter(|state| is_over(state)).unwrap_or(CANCELED);
    if let Some(last) = metadata.operations.last_mut() {
        last.outcome.get_or_insert_with(|| before.into());
    }
    let surplus = (metadata.operations.len() + 1).saturating_sub(REMEMBERED);
    metadata.operations.drain(..surplus);
    metadata.operations.push(Operation::new(id.unique.clone(), now));
    metadata.provisioning_state = Some(state.into());
}

/// How far an operation of a record is; none if the record does not remember it.
pub(crate) fn state_of<'m>(metadata: &'m Metadata, id: &OperationId) -> Option<(&'m Operation, &'m str)> {
    let operation = metadata.operations.iter().find(|operation| operation.id == id.unique)?;
    let now = metadata.provisioning_state.as_deref().unwrap_or(SUCCEEDED);
    Some((operation, operation.outcome.as_deref().unwrap_or(now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(does: Does) -> OperationId {
        OperationId::new(does, "Example.Shop/carts/lines", Name::new("s/group-1/my cart/ünd").unwrap())
    }

    #[test]
    fn an_id_says_which_record_is_meant_in_any_case_and_only_in_its_subscription() {
        let id = id(Does::Delete);
        let text = id.text();
        assert_eq!(OperationId::parse(&text.to_uppercase(), "S").unwrap(), id);
        assert_eq!(OperationId::parse(&text, "t").unwrap().name.as_str(), "t/group-1/my cart/ünd");
        for broken in ["", "a", "a-", "a-w", "a-x00", "a-wf", "a-wzz", "a-wff", "a-w20", "ä-wä"] {
            assert_eq!(OperationId::parse(broken, "s"), None, "{broken}");
        }
    }

    #[test]
    fn the_newest_operation_is_as_far_as_the_resource_and_others_are_over() {
        let mut metadata = Metadata::default();
        let (first, second, third) = (id(Does::Write), id(Does::Write), id(Does::Delete));
        begin(&mut metadata, &first, ACCEPTED, Timestamp::UNIX_EPOCH);
        assert_eq!(state_of(&metadata, &first).unwrap().1, ACCEPTED);
        metadata.provisioning_state = Some("Failed".into());
        assert_eq!(state_of(&metadata, &first).unwrap().1, "Failed");
        begin(&mut metadata, &second, ACCEPTED, Timestamp::UNIX_EPOCH);
        begin(&mut metadata, &third, DELETING, Timestamp::UNIX_EPOCH);
        let states = [&first, &second, &third].map(|id| state_of(&metadata, id).unwrap().1);
        assert_eq!(states, ["Failed", "Canceled", DELETING]);
        for _ in 0..REMEMBERED {
            begin(&mut metadata, &id(Does::Write), ACCEPTED, Timestamp::UNIX_EPOCH);
        }
        assert_eq!((metadata.operations.len(), state_of(&metadata, &third)), (REMEMBERED, None));
    }
}
