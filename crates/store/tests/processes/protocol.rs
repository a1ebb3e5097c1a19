//! What a process of a test tells the test, line by line, and the values that it writes.

use wheelwright_store::{
    Change, Event, Key, Revision,
    conformance::linearizable::{Call, Outcome},
};

/// A line. One that is not complete, because its process was killed, is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// The store is open.
    Ready,
    /// A call is about to be made.
    Begin { id: u64, began: u64, key: Key, call: Call },
    /// It was answered.
    End { id: u64, ended: u64, outcome: Outcome },
    /// It was answered that nothing was done, and that this will pass.
    Nothing { id: u64 },
    /// A watch told a change.
    Told(Told),
    /// Something that must not be.
    Failed(String),
}

/// A change, with the number of its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Told {
    pub(crate) key: Key,
    pub(crate) revision: Revision,
    pub(crate) kind: Kind,
    pub(crate) value: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Created,
    Replaced,
    Deleted,
}

impl Told {
    pub(crate) fn new(event: &Event) -> Result<Self, String> {
        let (kind, value) = match &event.change {
            Change::Created(value) => (Kind::Created, value),
            Change::Replaced(value) => (Kind::Replaced, value),
            Change::Deleted(value) => (Kind::Deleted, value),
        };
        let value = number(value).map_err(|problem| format!("{} at {}: {problem}", event.key, event.revision))?;
        Ok(Self { key: event.key.clone(), revision: event.revision.clone(), kind, value })
    }
}

/// A value that is told apart from all others, with more bytes that follow from the number: half a record is none.
pub(crate) fn value(number: u64) -> Vec<u8> {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let length = [10, 100, 1000, 9000][(mixed >> 62) as usize];
    let rest = (0..length).map(|index: u64| (mixed.rotate_left((index % 61) as u32) >> 32) as u8 ^ index as u8);
    number.to_be_bytes().into_iter().chain(rest).collect()
}

/// The number of a value that is whole.
pub(crate) fn number(bytes: &[u8]) -> Result<u64, String> {
    let number = bytes.first_chunk().map(|first| u64::from_be_bytes(*first));
    number.filter(|number| value(*number) == bytes).ok_or_else(|| format!("half a value: {} bytes", bytes.len()))
}

impl Line {
    pub(crate) fn to_text(&self) -> String {
        let fields = match self {
            Self::Ready => vec!["ready".to_owned()],
            Self::Begin { id, began, key, call } => {
                let (call, expected, value) = match call {
                    Call::Get => ("get", "", 0),
                    Call::Create { value } => ("create", "", *value),
                    Call::Replace { expected, value } => ("replace", expected.as_str(), *value),
                    Call::Delete { expected } => ("delete", expected.as_str(), 0),
                };
                vec![
                    "begin".to_owned(),
                    id.to_string(),
                    began.to_string(),
                    key.to_string(),
                    call.to_owned(),
                    expected.to_owned(),
                    value.to_string(),
                ]
            }
            Self::End { id, ended, outcome } => {
                let (outcome, revision, value) = match outcome {
                    Outcome::Found(None) => ("nothing", "", 0),
                    Outcome::Found(Some((revision, value))) => ("found", revision.as_str(), *value),
                    Outcome::Written(revision) => ("written", revision.as_str(), 0),
                    Outcome::Removed => ("removed", "", 0),
                    Outcome::Exists => ("exists", "", 0),
                    Outcome::Missing => ("missing", "", 0),
                    Outcome::Conflict(revision) => ("conflict", revision.as_str(), 0),
                    Outcome::Unknown => ("unknown", "", 0),
                };
                vec![
                    "end".to_owned(),
                    id.to_string(),
                    ended.to_string(),
                    outcome.to_owned(),
                    revision.to_owned(),
                    value.to_string(),
                ]
            }
            Self::Nothing { id } => vec!["nothing".to_owned(), id.to_string()],
            Self::Told(told) => vec![
                "told".to_owned(),
                told.key.to_string(),
                told.revision.to_string(),
                format!("{:?}", told.kind),
                told.value.to_string(),
            ],
            Self::Failed(message) => vec!["failed".to_owned(), message.replace(['\t', '\n'], " ")],
        };
        format!("@{}\n", fields.join("\t"))
    }

    /// None for what the test harness itself says.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let (_, text) = text.split_once('@')?;
        let fields: Vec<&str> = text.split('\t').collect();
        let number = |text: &str| text.parse().expect("a number");
        let line = match fields.as_slice() {
            ["ready"] => Self::Ready,
            ["begin", id, began, key, call, expected, value] => {
                let (expected, value) = (Revision::new(*expected), number(value));
                let call = match *call {
                    "get" => Call::Get,
                    "create" => Call::Create { value },
                    "replace" => Call::Replace { expected, value },
                    _ => Call::Delete { expected },
                };
                Self::Begin { id: number(id), began: number(began), key: Key::new(*key).expect("a key"), call }
            }
            ["end", id, ended, outcome, revision, value] => {
                let revision = Revision::new(*revision);
                let outcome = match *outcome {
                    "nothing" => Outcome::Found(None),
                    "found" => Outcome::Found(Some((revision, number(value)))),
                    "written" => Outcome::Written(revision),
                    "removed" => Outcome::Removed,
                    "exists" => Outcome::Exists,
                    "missing" => Outcome::Missing,
                    "conflict" => Outcome::Conflict(revision),
                    _ => Outcome::Unknown,
                };
                Self::End { id: number(id), ended: number(ended), outcome }
            }
            ["nothing", id] => Self::Nothing { id: number(id) },
            ["told", key, revision, kind, value] => Self::Told(Told {
                key: Key::new(*key).expect("a key"),
                revision: Revision::new(*revision),
                kind: match *kind {
                    "Created" => Kind::Created,
                    "Replaced" => Kind::Replaced,
                    _ => Kind::Deleted,
                },
                value: number(value),
            }),
            ["failed", message] => Self::Failed((*message).to_owned()),
            _ => panic!("a line that no process writes: {text:?}"),
        };
        Some(line)
    }
}

#[test]
fn lines_are_read_as_they_were_written() {
    let (key, revision) = (Key::new("kind/one").unwrap(), Revision::new("7"));
    let calls = [
        Call::Get,
        Call::Create { value: 1 },
        Call::Replace { expected: revision.clone(), value: 2 },
        Call::Delete { expected: revision.clone() },
    ];
    let outcomes = [
        Outcome::Found(None),
        Outcome::Found(Some((revision.clone(), 3))),
        Outcome::Written(revision.clone()),
        Outcome::Removed,
        Outcome::Exists,
        Outcome::Missing,
        Outcome::Conflict(revision.clone()),
        Outcome::Unknown,
    ];
    let kinds = [Kind::Created, Kind::Replaced, Kind::Deleted];
    let lines = calls
        .map(|call| Line::Begin { id: 1, began: 2, key: key.clone(), call })
        .into_iter()
        .chain(outcomes.map(|outcome| Line::End { id: 3, ended: 4, outcome }))
        .chain(kinds.map(|kind| Line::Told(Told { key: key.clone(), revision: revision.clone(), kind, value: 5 })))
        .chain([Line::Ready, Line::Nothing { id: 6 }, Line::Failed("why".to_owned())]);
    for line in lines {
        assert_eq!(Line::from_text(line.to_text().trim_end()).as_ref(), Some(&line));
    }
}

#[test]
fn half_a_value_is_none() {
    for written in [0, 1, 7, 1 << 40, u64::MAX] {
        let bytes = value(written);
        assert_eq!(number(&bytes), Ok(written));
        assert!(number(&bytes[..bytes.len() - 1]).is_err());
        let mut damaged = bytes.clone();
        damaged[9] ^= 1;
        assert!(number(&damaged).is_err());
    }
}
