//! Records: what is stored for a document, and how it is spelled.
//!
//! A record is one JSON object. Its envelope says in which shape the document is stored, where it comes from and what the
//! service knows of it; the document is under `object`, with its bags. A checksum comes last. `docs/records.md` has the
//! format.

mod checksum;
mod metadata;
mod operation;

use std::{error::Error, fmt};

use wheelwright_document::{Arena, Decode, DecodeError, Entry, Number, Value, encode};
use wheelwright_evolve::{Origin, OriginError, VersionName};
use wheelwright_store::Unreadable;

use self::checksum::CHECKSUM;
pub(crate) use self::checksum::Place;
pub use self::{metadata::Metadata, operation::Operation};
use crate::error::WriteError;

/// The format of the records that this release writes. It changes only when older releases would misread what is written.
pub const EPOCH: u32 = 1;

/// The most bytes of a record: twice what clients may cause, so that metadata can be added to every record.
const MOST_BYTES: usize = 16 << 20;
/// How deep a stored document may nest, so that the record around it can be read.
const MOST_DEPTH: usize = 511;

const FORMAT: &str = "$wheelwright";
const HUB: &str = "hub";
const OLDEST_WRITER: &str = "oldestWriter";
const ORIGIN: &str = "origin";
const METADATA: &str = "metadata";
const OBJECT: &str = "object";

/// What a record says beside its document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Envelope {
    /// The version in whose shape the document is stored.
    pub(crate) hub: VersionName,
    /// Programs that do not know this version may read the record and must not write it.
    pub(crate) oldest_writer: Option<VersionName>,
    /// The versions that it was created and written with.
    pub(crate) origin: Origin,
    /// What the service knows of the document.
    pub(crate) metadata: Metadata,
    /// Members of newer releases, stored again unchanged.
    pub(crate) unknown: Vec<(Box<str>, wheelwright_document::Owned)>,
}

/// What is under a key of the store.
#[derive(Clone, Debug)]
pub(crate) struct Record<'a> {
    /// None for a document that nobody made a record of yet.
    pub(crate) envelope: Option<Envelope>,
    /// The document: as it is stored, or as it was before us.
    pub(crate) object: Value<'a>,
    /// The record has a checksum, and it matches.
    pub(crate) is_checked: bool,
}

/// A record that cannot be read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// It is no JSON.
    Decode(DecodeError),
    /// It is no object, or a part of its envelope is not what it must be: which, and what is wrong.
    Malformed(&'static str, String),
    /// A newer release wrote it, in a format of this number.
    NewerFormat(u64),
    /// The checksum does not match the record and its key.
    Checksum,
    /// The store knows of it and cannot read it.
    Lost,
    /// The store is damaged, and a newer revision of it may be lost.
    Uncertain,
}

/// Whether something is a record, and no document: no document has the key that every record begins with.
pub fn is_record(value: Value<'_>) -> bool {
    value.get(FORMAT).is_some()
}

impl<'a> Record<'a> {
    /// Reads the value that is stored under a key.
    pub(crate) fn read(bytes: &'a [u8], place: Place, arena: &'a Arena) -> Result<Self, RecordError> {
        match Unreadable::of(bytes) {
            Some(Unreadable::Damaged) => return Err(RecordError::Lost),
            Some(Unreadable::Uncertain) => return Err(RecordError::Uncertain),
            None => {}
        }
        let is_checked = checksum::verify(bytes, place)?;
        let limits = Decode { max_bytes: MOST_BYTES, ..Decode::default() };
        let record = limits.decode(bytes, arena).map_err(RecordError::Decode)?.value;
        let Value::Object(entries) = record else {
            return Err(malformed("record", format!("is {}, not an object", record.kind_name())));
        };
        let Some(format) = record.get(FORMAT) else {
            return Ok(Self { envelope: None, object: record, is_checked });
        };
        let format = format.as_number().and_then(|number| u64::try_from(number.as_i64()?).ok());
        match format.ok_or_else(|| malformed(FORMAT, "is not the number of a format"))? {
            format if format > u64::from(EPOCH) => return Err(RecordError::NewerFormat(format)),
            0 => return Err(malformed(FORMAT, "is not the number of a format")),
            _ => {}
        }
        let version = |key: &'static str| match record.get(key).map(Value::as_str) {
            None => Ok(None),
            Some(Some(name)) if !name.is_empty() => Ok(Some(VersionName::new(name))),
            Some(_) => Err(malformed(key, "is not the name of a version")),
        };
        let needed = |key: &'static str| record.get(key).ok_or_else(|| malformed(key, "is missing"));
        let object = needed(OBJECT)?;
        if object.as_object().is_none() {
            return Err(malformed(OBJECT, format!("is {}, not an object", object.kind_name())));
        }
        // A damaged checksum must not pass for a member of a newer release.
        let is_known = |key: &str| [FORMAT, HUB, OLDEST_WRITER, ORIGIN, METADATA, OBJECT].contains(&key);
        if !is_checked && entries.last().is_some_and(|last| !is_known(last.key)) {
            return Err(RecordError::Checksum);
        }
        let unknown = entries.iter().filter(|entry| !is_known(entry.key) && entry.key != CHECKSUM);
        let envelope = Envelope {
            hub: version(HUB)?.ok_or_else(|| malformed(HUB, "is missing"))?,
            oldest_writer: version(OLDEST_WRITER)?,
            origin: Origin::from_value(needed(ORIGIN)?).map_err(origin_error)?,
            metadata: Metadata::from_value(needed(METADATA)?)
                .map_err(|(field, problem)| malformed(METADATA, format!("{field}: {problem}")))?,
            unknown: unknown.map(|entry| (entry.key.into(), entry.value.into())).collect(),
        };
        Ok(Self { envelope: Some(envelope), object, is_checked })
    }
}

impl Envelope {
    /// The bytes of a record with a document, for a key. The same record always has the same bytes. What could not be read
    /// again is refused.
    pub(crate) fn seal(&self, object: Value<'_>, place: Place) -> Result<Vec<u8>, WriteError> {
        let bytes = self.seal_of_any_size(object, place)?;
        match bytes.len() {
            length if length > MOST_BYTES => Err(WriteError::TooLarge(format!(
                "its record would have {length} bytes, more than the {MOST_BYTES} allowed"
            ))),
            _ => Ok(bytes),
        }
    }

    /// The bytes of a record whose size is yet to be checked.
    pub(crate) fn seal_of_any_size(&self, object: Value<'_>, place: Place) -> Result<Vec<u8>, WriteError> {
        if is_deeper_than(object, MOST_DEPTH) {
            return Err(WriteError::TooLarge(format!("it nests more than {MOST_DEPTH} deep as it would be stored")));
        }
        let mut bytes = self.bytes(object);
        checksum::append(&mut bytes, place);
        Ok(bytes)
    }

    fn bytes(&self, object: Value<'_>) -> Vec<u8> {
        let arena = Arena::new();
        let text = |name: &'_ VersionName| Value::string(arena.text(name.as_str()));
        let format = arena.text(&EPOCH.to_string());
        let mut entries = vec![
            Entry { key: FORMAT, value: Value::Number(Number::new(format).expect("a number")) },
            Entry { key: HUB, value: text(&self.hub) },
        ];
        if let Some(oldest) = &self.oldest_writer {
            entries.push(Entry { key: OLDEST_WRITER, value: text(oldest) });
        }
        entries.push(Entry { key: ORIGIN, value: self.origin.to_value(&arena) });
        entries.push(Entry { key: METADATA, value: self.metadata.to_value(&arena) });
        for (key, value) in &self.unknown {
            entries.push(Entry { key, value: value.share(&arena) });
        }
        entries.push(Entry { key: OBJECT, value: object });
        encode(Value::Object(&entries))
    }
}

fn is_deeper_than(value: Value<'_>, depth: usize) -> bool {
    match value {
        Value::Object(entries) => depth == 0 || entries.iter().any(|entry| is_deeper_than(entry.value, depth - 1)),
        Value::Array(items) => depth == 0 || items.iter().any(|item| is_deeper_than(*item, depth - 1)),
        _ => false,
    }
}

fn malformed(part: &'static str, problem: impl Into<String>) -> RecordError {
    RecordError::Malformed(part, problem.into())
}

fn origin_error(error: OriginError) -> RecordError {
    malformed(ORIGIN, error.to_string())
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(error) => write!(f, "the record is no JSON: {error}"),
            Self::Malformed(part, problem) => write!(f, "the record is damaged: {part} {problem}"),
            Self::Checksum => f.write_str(
                "its checksum does not match: the record was changed outside of Wheelwright, or the disk is damaged; \
                 wheelwright store repair shows which good copies there are",
            ),
            Self::Lost => f.write_str(
                "the store cannot read it: the record is damaged; wheelwright store repair shows which good copies there \
                 are",
            ),
            Self::Uncertain => f.write_str(
                "the store is damaged and may have lost a newer revision; the last known one may be intact: wheelwright \
                 store repair shows the damage and what to do",
            ),
            Self::NewerFormat(format) => write!(
                f,
                "a newer release wrote the record, in format {format}; this one knows formats up to {EPOCH}: update it"
            ),
        }
    }
}

impl RecordError {
    /// Whether the record or its store is damaged. A record of a newer release is not.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Decode(_) | Self::Malformed(..) | Self::Checksum | Self::Lost | Self::Uncertain => true,
            Self::NewerFormat(_) => false,
        }
    }
}

impl Error for RecordError {}
