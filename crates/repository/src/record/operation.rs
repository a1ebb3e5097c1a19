//! Operations: what a customer asked for, and the service takes time over.

use jiff::Timestamp;
use wheelwright_document::{Arena, Entry, Owned, Value};

/// Something that a customer asked for, and that is done some time after the request was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Operation {
    /// What tells it apart from all others.
    pub id: Box<str>,
    /// When it was asked for.
    pub started_at: Timestamp,
    /// What it came to; none while it is the newest of its document: then it is as far as the provisioning state says.
    pub outcome: Option<Box<str>>,
    /// What a newer release keeps here; kept as it is.
    unknown: Vec<(Box<str>, Owned)>,
}

const ID: &str = "id";
const STARTED_AT: &str = "startedAt";
const OUTCOME: &str = "outcome";

impl Operation {
    /// An operation that was just asked for.
    pub fn new(id: impl Into<Box<str>>, started_at: Timestamp) -> Self {
        Self { id: id.into(), started_at, outcome: None, unknown: Vec::new() }
    }

    pub(crate) fn to_value<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        let text = |text: &str| Value::string(arena.text(text));
        let known = [
            (ID, Some(text(&self.id))),
            (STARTED_AT, Some(text(&self.started_at.to_string()))),
            (OUTCOME, self.outcome.as_deref().map(text)),
        ];
        let known = known.into_iter().filter_map(|(key, value)| Some(Entry { key, value: value? }));
        let unknown = self.unknown.iter().map(|(key, value)| Entry { key, value: value.share(arena) });
        Value::Object(arena.slice(&known.chain(unknown).collect::<Vec<_>>()))
    }

    pub(crate) fn from_value(value: Value<'_>) -> Option<Self> {
        let text = |key: &str| value.get(key).map(Value::as_str);
        let unknown = value.as_object()?.iter().filter(|entry| ![ID, STARTED_AT, OUTCOME].contains(&entry.key));
        Some(Self {
            id: text(ID)??.into(),
            started_at: text(STARTED_AT)??.parse().ok()?,
            outcome: match text(OUTCOME) {
                Some(outcome) => Some(outcome?.into()),
                None => None,
            },
            unknown: unknown.map(|entry| (entry.key.into(), entry.value.into())).collect(),
        })
    }
}
