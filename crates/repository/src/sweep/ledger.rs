//! The ledger of a sweep: how far it is, what is being worked on, and what was found. There is one a kind, in the store, and
//! every instance takes its portions from it.
//!
//! The *frontier* is the last key that somebody has taken; what is taken and not yet done is a *claim*. A claim has no owner
//! and no end: whoever finds nothing else to do takes one again, so that nothing waits for a process that may be gone, and
//! clocks need not agree. Two may do the same portion then, which is harmless: a record is replaced only if it is as it was
//! read, so that one of them converts it and the other finds it converted; and a portion is counted once, by whoever takes
//! its claim off the ledger.

use std::{error::Error, fmt};

use jiff::Timestamp;
use wheelwright_document::{Arena, Entry, Number, Value, decode_trusted, encode};
use wheelwright_evolve::VersionName;
use wheelwright_store::{ErrorKind, Key, Revision, Store, StoreError};

use super::{
    patience::patiently,
    problems::{Problem, Problems},
};
use crate::{RepositoryError, ServedKind};

/// How far a sweep is.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SweepStatus {
    /// The hub that records are brought to.
    pub hub: VersionName,
    /// Which sweep of the kind it is, counted from 1 on.
    pub run: u64,
    /// When it began.
    pub started_at: Timestamp,
    /// When its ledger was last written.
    pub updated_at: Timestamp,
    /// When it was done; none while it is not.
    pub finished_at: Option<Timestamp>,
    /// How many records there were when it began.
    pub total: u64,
    /// What became of the records so far.
    pub counts: SweepCounts,
    /// What could not be converted.
    pub problems: Problems,
    /// Portions that somebody has taken and not finished.
    pub open_portions: usize,
}

/// What became of records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SweepCounts {
    /// How many were looked at.
    pub done: u64,
    /// How many were rewritten. What an instance rewrote in a portion that it did not finish is found unchanged by the one
    /// that does.
    pub converted: u64,
    /// How many needed nothing.
    pub unchanged: u64,
    /// How many were deleted while they were looked at.
    pub gone: u64,
}

/// Why a sweep cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SweepError {
    /// Somebody has begun a sweep with another hub or catalog; this is its hub.
    TakenOver(VersionName),
    /// The newest sweep was to a newer hub than this one is, and nobody said that going back is meant.
    GoesBack {
        /// The hub of the newest sweep.
        newest: VersionName,
        /// The hub of this one.
        hub: VersionName,
    },
    /// Keys of this other kind may be those of the kind, too, so that its records would be taken for those of the kind.
    SharedKeys(Box<str>),
    /// Somebody has removed the ledger.
    NoLedger,
    /// A newer release wrote the ledger, in a format of this number.
    NewerFormat(u64),
}

/// A portion that somebody has taken: the keys after one, up to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Claim {
    pub(super) after: Option<Key>,
    pub(super) upto: Key,
}

/// What came of a portion.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) counts: SweepCounts,
    pub(super) problems: Problems,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ledger {
    pub(super) status: SweepStatus,
    /// Of the catalog: with another one, other records can be converted.
    pub(super) fingerprint: Box<str>,
    /// The last key that was taken.
    pub(super) frontier: Option<Key>,
    /// Nothing comes after the frontier.
    pub(super) is_at_end: bool,
    pub(super) claims: Vec<Claim>,
}

/// Where the ledger of a kind is.
#[derive(Clone, Debug)]
pub(super) struct Book<'s> {
    store: &'s dyn Store,
    key: Key,
}

/// The first segments of the keys of ledgers. No kind has such a name.
const LEDGERS: &str = "$wheelwright/sweeps";

const FORMAT_NUMBER: u64 = 1;
const FORMAT: &str = "$sweep";
const HUB: &str = "hub";
const FINGERPRINT: &str = "fingerprint";
const RUN: &str = "run";
const STARTED_AT: &str = "startedAt";
const UPDATED_AT: &str = "updatedAt";
const FINISHED_AT: &str = "finishedAt";
const TOTAL: &str = "total";
const DONE: &str = "done";
const CONVERTED: &str = "converted";
const UNCHANGED: &str = "unchanged";
const GONE: &str = "gone";
const PROBLEM_COUNT: &str = "problemCount";
const PROBLEMS: &str = "problems";
const NAME: &str = "name";
const WHY: &str = "why";
const FRONTIER: &str = "frontier";
const IS_AT_END: &str = "isAtEnd";
const CLAIMS: &str = "claims";
const AFTER: &str = "after";
const UPTO: &str = "upto";

impl Ledger {
    /// A sweep that begins.
    pub(super) fn begin(hub: VersionName, fingerprint: Box<str>, run: u64, total: u64, now: Timestamp) -> Self {
        let status = SweepStatus {
            hub,
            run,
            started_at: now,
            updated_at: now,
            finished_at: None,
            total,
            counts: SweepCounts::default(),
            problems: Problems::default(),
            open_portions: 0,
        };
        Self { status, fingerprint, frontier: None, is_at_end: false, claims: Vec::new() }
    }

    /// Takes a claim off, and counts what came of it unless somebody else has done so.
    pub(super) fn finish(&mut self, claim: &Claim, outcome: &Outcome) {
        let Some(position) = self.claims.iter().position(|open| open == claim) else { return };
        self.claims.remove(position);
        let (counts, added) = (&mut self.status.counts, &outcome.counts);
        counts.done += added.done;
        counts.converted += added.converted;
        counts.unchanged += added.unchanged;
        counts.gone += added.gone;
        self.status.problems.extend(&outcome.problems);
    }

    /// Takes the keys after the frontier, up to another.
    pub(super) fn claim(&mut self, upto: Key) -> Claim {
        let claim = Claim { after: self.frontier.replace(upto.clone()), upto };
        self.claims.push(claim.clone());
        claim
    }

    fn to_bytes(&self) -> Vec<u8> {
        let arena = Arena::new();
        let text = |text: &str| Value::string(arena.text(text));
        let number = |number: u64| Number::new(arena.text(&number.to_string())).map_or(Value::Null, Value::Number);
        let time = |time: Timestamp| text(&time.to_string());
        let Self { status, fingerprint, frontier, is_at_end, claims } = self;
        let problems = status.problems.listed.iter();
        let problems: Vec<Value<'_>> = problems
            .map(|Problem { name, why }| object(&[(NAME, Some(text(name))), (WHY, Some(text(why)))], &arena))
            .collect();
        let claims: Vec<Value<'_>> = claims
            .iter()
            .map(|Claim { after, upto }| {
                let after = after.as_ref().map(|key| text(key.as_str()));
                object(&[(AFTER, after), (UPTO, Some(text(upto.as_str())))], &arena)
            })
            .collect();
        let fields = [
            (FORMAT, Some(number(FORMAT_NUMBER))),
            (HUB, Some(text(status.hub.as_str()))),
            (FINGERPRINT, Some(text(fingerprint))),
            (RUN, Some(number(status.run))),
            (STARTED_AT, Some(time(status.started_at))),
            (UPDATED_AT, Some(time(status.updated_at))),
            (FINISHED_AT, status.finished_at.map(time)),
            (TOTAL, Some(number(status.total))),
            (DONE, Some(number(status.counts.done))),
            (CONVERTED, Some(number(status.counts.converted))),
            (UNCHANGED, Some(number(status.counts.unchanged))),
            (GONE, Some(number(status.counts.gone))),
            (PROBLEM_COUNT, Some(number(status.problems.count))),
            (PROBLEMS, Some(Value::Array(arena.slice(&problems)))),
            (FRONTIER, frontier.as_ref().map(|key| text(key.as_str()))),
            (IS_AT_END, Some(Value::Bool(*is_at_end))),
            (CLAIMS, Some(Value::Array(arena.slice(&claims)))),
        ];
        encode(object(&fields, &arena))
    }

    /// Reads a ledger; none if it is damaged: whatever it said, a sweep can begin anew.
    fn from_bytes(bytes: &[u8]) -> Result<Option<Self>, SweepError> {
        let arena = Arena::new();
        let Ok(ledger) = decode_trusted(bytes, &arena) else { return Ok(None) };
        match number_of(ledger, FORMAT) {
            Some(format) if format > FORMAT_NUMBER => Err(SweepError::NewerFormat(format)),
            _ => Ok(Self::from_value(ledger)),
        }
    }

    fn from_value(ledger: Value<'_>) -> Option<Self> {
        let number = |key: &str| number_of(ledger, key);
        let time = |key: &str| text_of(ledger, key)?.parse::<Timestamp>().ok();
        let key_of = |value: Value<'_>, key: &str| Key::new(text_of(value, key)?).ok();
        let problems = ledger.get(PROBLEMS)?.as_array()?.iter().map(|problem| {
            Some(Problem { name: text_of(*problem, NAME)?.into(), why: text_of(*problem, WHY)?.into() })
        });
        let claims = ledger.get(CLAIMS)?.as_array()?.iter();
        let claims = claims.map(|claim| Some(Claim { after: key_of(*claim, AFTER), upto: key_of(*claim, UPTO)? }));
        let claims: Vec<Claim> = claims.collect::<Option<_>>()?;
        let status = SweepStatus {
            hub: VersionName::new(text_of(ledger, HUB)?),
            run: number(RUN)?,
            started_at: time(STARTED_AT)?,
            updated_at: time(UPDATED_AT)?,
            finished_at: time(FINISHED_AT),
            total: number(TOTAL)?,
            counts: SweepCounts {
                done: number(DONE)?,
                converted: number(CONVERTED)?,
                unchanged: number(UNCHANGED)?,
                gone: number(GONE)?,
            },
            problems: Problems { count: number(PROBLEM_COUNT)?, listed: problems.collect::<Option<_>>()? },
            open_portions: claims.len(),
        };
        Some(Self {
            status,
            fingerprint: text_of(ledger, FINGERPRINT)?.into(),
            frontier: key_of(ledger, FRONTIER),
            is_at_end: ledger.get(IS_AT_END)?.as_bool()?,
            claims,
        })
    }
}

impl<'s> Book<'s> {
    pub(super) fn new(store: &'s dyn Store, kind: &ServedKind) -> Result<Self, RepositoryError> {
        let of_kind = kind.prefix().as_str().trim_end_matches('/');
        Ok(Self { store, key: Key::new(format!("{LEDGERS}/{of_kind}"))? })
    }

    /// What is in it, and the revision to write it at; of a damaged one, only the revision.
    pub(super) async fn read(&self) -> Result<Option<(Option<Ledger>, Revision)>, RepositoryError> {
        let Some(stored) = patiently(|| self.store.get(&self.key)).await? else { return Ok(None) };
        let ledger = Ledger::from_bytes(&stored.value).map_err(RepositoryError::Sweep)?;
        Ok(Some((ledger, stored.revision)))
    }

    /// Writes it in the place of what was read; says whether that was still there.
    pub(super) async fn write(&self, ledger: &Ledger, expected: Option<&Revision>) -> Result<bool, StoreError> {
        let bytes = ledger.to_bytes();
        let written = match expected {
            Some(expected) => patiently(|| self.store.replace(&self.key, expected, bytes.clone())).await,
            None => patiently(|| self.store.create(&self.key, bytes.clone())).await,
        };
        match written {
            Ok(_) => Ok(true),
            Err(error) => match error.kind() {
                ErrorKind::Conflict(_) | ErrorKind::Missing | ErrorKind::Exists => Ok(false),
                _ => Err(error),
            },
        }
    }
}

fn object<'a>(fields: &[(&'static str, Option<Value<'a>>)], arena: &'a Arena) -> Value<'a> {
    let entries = fields.iter().filter_map(|(key, value)| Some(Entry { key, value: (*value)? }));
    Value::Object(arena.slice(&entries.collect::<Vec<_>>()))
}

fn text_of<'a>(object: Value<'a>, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

fn number_of(object: Value<'_>, key: &str) -> Option<u64> {
    u64::try_from(object.get(key)?.as_number()?.as_i64()?).ok()
}

impl fmt::Display for SweepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TakenOver(hub) => write!(
                f,
                "somebody has begun a sweep to {hub} with another catalog, so this one has stopped; what it converted stays: \
                 see that all programs have one catalog"
            ),
            Self::GoesBack { newest, hub } => write!(
                f,
                "the newest sweep was to {newest}, and {hub} is older; sweep with the catalog of that one, or, if going back \
                 is meant, say so: migrate run --back"
            ),
            Self::SharedKeys(other) => write!(
                f,
                "the keys of {other} begin alike, and its records would be taken for those of this kind; give one of them an \
                 adopt.prefix of its own"
            ),
            Self::NoLedger => f.write_str("somebody has removed the ledger of the sweep; run it again"),
            Self::NewerFormat(format) => write!(
                f,
                "a newer release is sweeping, in format {format}; this one knows formats up to {FORMAT_NUMBER}: update it"
            ),
        }
    }
}

impl Error for SweepError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        Key::new(text).unwrap()
    }

    fn ledger() -> Ledger {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        Ledger::begin(VersionName::new("v3"), "f00".into(), 7, 1000, now)
    }

    #[test]
    fn what_is_written_is_read() {
        let mut ledger = ledger();
        ledger.claim(key("k/b"));
        ledger.claim(key("k/d"));
        ledger.status.problems.add("k/a", "it is no JSON");
        ledger.status.open_portions = 2;
        assert_eq!(Ledger::from_bytes(&ledger.to_bytes()), Ok(Some(ledger)));
        assert_eq!(Ledger::from_bytes(b"{}"), Ok(None));
        assert_eq!(Ledger::from_bytes(b"\xff"), Ok(None));
        assert_eq!(Ledger::from_bytes(br#"{"$sweep":2}"#), Err(SweepError::NewerFormat(2)));
    }

    #[test]
    fn a_portion_is_counted_once() {
        let mut ledger = ledger();
        let first = ledger.claim(key("k/b"));
        let second = ledger.claim(key("k/d"));
        assert_eq!((&first.after, &second.after), (&None, &Some(key("k/b"))));
        let mut outcome = Outcome::default();
        outcome.counts.done = 2;
        outcome.problems.add("k/a", "it is no JSON");
        ledger.finish(&first, &outcome);
        ledger.finish(&first, &outcome);
        assert_eq!((ledger.status.counts.done, ledger.status.problems.count), (2, 1));
        assert_eq!(ledger.claims, [second]);
    }
}
