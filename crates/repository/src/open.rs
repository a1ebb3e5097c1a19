//! Opening records: from the bytes in the store to a document that every version can be shown of.

use std::{error::Error, fmt};

use wheelwright_document::{Arena, Owned, Value, encode_into};
use wheelwright_evolve::{Lenses, NoActingVersion, Origin, VersionIndex, VersionName};
use wheelwright_store::Revision;

use crate::{
    Divergence, Metadata, Name, RecordError, ServedKind, SourceError,
    dress::{STATE_PATH, TAGS},
    external::Answers,
    record::{Envelope, Place, Record},
};

/// Which version of a document is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View<'v> {
    /// The version of this name, as its customers see it: without what they may write and never read.
    Version(&'v str),
    /// The version of this name, with everything: for the service itself.
    Whole(&'v str),
    /// The one whose shape is stored: what back ends read.
    Hub,
    /// The one that its owner speaks: as pinned, else the one that it was last written with.
    Origin,
}

/// A document as a version shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Document {
    /// What it is called.
    pub name: Name,
    /// Which value in the store it is.
    pub revision: Revision,
    /// The version that it is shown as.
    pub version: VersionName,
    /// The versions that it was created and written with.
    pub origin: Origin,
    /// What the service knows of it.
    pub metadata: Metadata,
    /// The document, as JSON.
    pub json: Vec<u8>,
    /// Fields that another system owns and has otherwise than the store; the document has them as that system does.
    pub divergence: Vec<Divergence>,
}

/// A record that was opened.
#[derive(Debug)]
pub(crate) struct Opened<'a> {
    pub(crate) envelope: Envelope,
    /// The document as it is stored, in the shape of `hub`.
    pub(crate) object: Value<'a>,
    pub(crate) hub: VersionIndex,
    /// There was no record, only a document.
    pub(crate) is_adopted: bool,
    /// The record has a checksum, and it matches.
    pub(crate) is_checked: bool,
}

/// What is known of a document that was shown.
#[derive(Debug)]
pub(crate) struct Shown {
    envelope: Envelope,
    version: VersionIndex,
    pub(crate) divergence: Vec<Divergence>,
}

/// A record that cannot be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// It cannot be read.
    Record(RecordError),
    /// It is stored in the shape of a version that the catalog does not know.
    UnknownHub(VersionName),
    /// It is a document without a record, and its version cannot be told.
    NoVersion(String),
    /// It is a document without a record, and what it says of itself cannot be kept: why not.
    Metadata(String),
    /// It was written by a program that leaves out zero values, and these defaults cannot be told from them: why not.
    AmbiguousZeros(Vec<String>),
    /// Nobody can speak the version that its owner spoke.
    Origin(NoActingVersion),
}

impl ServedKind {
    /// Opens the value that is stored under a key.
    pub(crate) fn open<'a>(&'a self, bytes: &'a [u8], place: Place, arena: &'a Arena) -> Result<Opened<'a>, OpenError> {
        let Record { envelope, object, is_checked } = Record::read(bytes, place, arena).map_err(OpenError::Record)?;
        let Some(envelope) = envelope else { return self.adopt(object, arena) };
        match self.kind.version(envelope.hub.as_str()) {
            Some(hub) => Ok(Opened { envelope, object, hub, is_adopted: false, is_checked }),
            None => Err(OpenError::UnknownHub(envelope.hub)),
        }
    }

    /// Makes of a document that was in the store before us what would have been stored.
    fn adopt<'a>(&'a self, document: Value<'a>, arena: &'a Arena) -> Result<Opened<'a>, OpenError> {
        let version = self.version_of_adopted(document)?;
        let lenses = self.lenses(version);
        let (undressed, taken) = self.dress.undress(document, arena);
        // A document is stored in its own version's shape already, with what no version declares, but for keys that look
        // like ours.
        let stored = lenses.escaped(undressed, arena);
        let restored = self.zeros.restore(lenses, stored, Some(version), arena);
        if !restored.refused.is_empty() {
            let history = self.kind.history();
            let reasons = restored.refused.iter().map(|refused| refused.message(history)).collect();
            return Err(OpenError::AmbiguousZeros(reasons));
        }
        let name = self.version_name(version).clone();
        let mut metadata = self.dress.metadata(document).map_err(OpenError::Metadata)?;
        // Tags of another sort are shown as they are; what finalizers are meant cannot be told.
        if let Some((path, why)) = taken.wrong.iter().find(|(path, _)| path.as_str() != TAGS) {
            return Err(OpenError::Metadata(format!("{path} {why}")));
        }
        metadata.finalizers = taken.finalizers.unwrap_or_default();
        metadata.tags = taken.tags.flatten();
        let origin = Origin::created(name.clone());
        let envelope = Envelope { hub: name, oldest_writer: None, origin, metadata, unknown: Vec::new() };
        Ok(Opened { envelope, object: restored.stored, hub: version, is_adopted: true, is_checked: false })
    }

    fn version_of_adopted(&self, document: Value<'_>) -> Result<VersionIndex, OpenError> {
        let no_version = |problem: String| Err(OpenError::NoVersion(problem));
        let text = |key: &str| document.get(key).and_then(Value::as_str);
        if self.kind.is_resource() {
            let Some(api_version) = text("apiVersion") else {
                return no_version("it has no apiVersion; write one into it".to_owned());
            };
            return match self.kind.version_of(api_version, text("kind")) {
                Some(version) => Ok(version),
                None => no_version(match text("kind") {
                    Some(kind) if self.is_called(kind) => format!("{api_version} is no version of {kind}"),
                    Some(kind) => format!("its kind is {kind}, and not {}", self.kind.name()),
                    None => "it has no kind; write one into it".to_owned(),
                }),
            };
        }
        let Some(name) = &self.adopted_version else {
            return no_version("say in the catalog which version such documents are of (adopt)".to_owned());
        };
        match self.kind.version(name.as_str()) {
            Some(version) => Ok(version),
            None => no_version(format!("{name} is no version of {}", self.kind.name())),
        }
    }

    /// Whether a version calls the kind so.
    fn is_called(&self, name: &str) -> bool {
        self.kind.history().indexes().any(|version| self.kind.name_in(version) == name)
    }

    /// The version that a view means.
    pub(crate) fn version_for(&self, view: View<'_>, origin: &Origin) -> Result<VersionIndex, ViewError> {
        match view {
            View::Hub => Ok(self.kind.lenses().hub()),
            View::Version(name) | View::Whole(name) => {
                self.kind.version(name).ok_or_else(|| ViewError::UnknownVersion(VersionName::new(name)))
            }
            View::Origin => {
                origin.resolve(&self.successors, self.kind.history()).map_err(|none| OpenError::Origin(none).into())
            }
        }
    }

    /// The lenses that an opened record is read by.
    pub(crate) fn lenses_of(&self, opened: &Opened<'_>) -> &Lenses {
        self.lenses(opened.hub)
    }

    /// An opened record as a version shows it, with what customers do not see.
    pub(crate) fn show<'a>(
        &'a self,
        opened: &'a Opened<'a>,
        version: VersionIndex,
        called: (&Name, &Revision),
        arena: &'a Arena,
    ) -> Value<'a> {
        self.displayed((opened.object, opened.hub), &opened.envelope.metadata, version, called, arena)
    }

    /// A document that is stored in the shape of a hub, as a version shows it with some metadata.
    pub(crate) fn displayed<'a>(
        &'a self,
        (object, hub): (Value<'a>, VersionIndex),
        metadata: &'a Metadata,
        version: VersionIndex,
        called: (&Name, &Revision),
        arena: &'a Arena,
    ) -> Value<'a> {
        let shown = self.lenses(hub).get(version, object, arena);
        // A state that no version speaks of was there before us, and is not hidden.
        let declares = |field: &str| {
            self.declares(version, field) || field == STATE_PATH && !self.arm().is_some_and(|arm| arm.has_state)
        };
        self.dress.dress(shown, metadata, called, declares, arena)
    }

    /// Whether a version has a field, by the names that lead to it.
    pub(crate) fn declares(&self, version: VersionIndex, field: &str) -> bool {
        let structure = &self.kind.history().version(version).structure;
        field.split('.').try_fold(structure.root(), |node, name| structure.child(node, name)).is_some()
    }

    /// What is under a key, as a version shows it with what other systems answered for it.
    pub(crate) fn document(
        &self,
        bytes: &[u8],
        name: &Name,
        revision: Revision,
        view: View<'_>,
        answers: &Answers,
    ) -> Result<Document, ViewError> {
        let arena = Arena::for_input(bytes.len());
        // Most documents are about as long as their records.
        let mut json = Vec::with_capacity(bytes.len());
        let shown = self.show_into(&mut json, bytes, (name, &revision), view, answers, &arena)?;
        let Envelope { origin, metadata, .. } = shown.envelope;
        let (name, version) = (name.clone(), self.version_name(shown.version).clone());
        Ok(Document { name, revision, version, origin, metadata, json, divergence: shown.divergence })
    }

    /// Appends what is under a key to JSON, as a version shows it.
    pub(crate) fn show_into(
        &self,
        json: &mut Vec<u8>,
        bytes: &[u8],
        called: (&Name, &Revision),
        view: View<'_>,
        answers: &Answers,
        arena: &Arena,
    ) -> Result<Shown, ViewError> {
        let opened = self.open(bytes, self.place(called.0), arena)?;
        let (opened, divergence) = self.merged(opened, answers, called.0, arena).map_err(ViewError::Source)?;
        let version = self.version_for(view, &opened.envelope.origin)?;
        let shown = self.show(&opened, version, called, arena);
        let hidden = self.hidden[version.position()].as_ref().filter(|_| matches!(view, View::Version(_)));
        encode_into(hidden.map_or(shown, |hidden| hidden.concealed(shown, arena)), json);
        Ok(Shown { envelope: opened.envelope, version, divergence })
    }
}

/// A document that cannot be shown.
#[derive(Debug)]
pub(crate) enum ViewError {
    Open(OpenError),
    UnknownVersion(VersionName),
    Source(SourceError),
}

impl From<OpenError> for ViewError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl crate::dress::Dress {
    /// What a document that was in the store before us says of itself; or what of it cannot be kept.
    fn metadata(&self, document: Value<'_>) -> Result<Metadata, String> {
        let mut metadata = Metadata::default();
        match self {
            Self::Plain => {}
            Self::Kubernetes => {
                let own = |key: &str| document.get("metadata").and_then(|metadata| metadata.get(key));
                // Go writes a time that is not there as null.
                let time = |key: &str| match own(key).filter(|time| !time.is_null()) {
                    Some(time) => match time.as_str().and_then(|text| text.parse().ok()) {
                        Some(time) => Ok(Some(time)),
                        None => Err(format!("metadata.{key} is no time")),
                    },
                    None => Ok(None),
                };
                metadata.uid = text(own("uid"), "metadata.uid")?;
                let generation = own("generation").filter(|generation| !generation.is_null()).map(|generation| {
                    let number = generation.as_number().and_then(|number| number.as_i64());
                    number.and_then(|number| u64::try_from(number).ok()).ok_or("metadata.generation is no count")
                });
                metadata.generation = generation.transpose()?.unwrap_or(0);
                metadata.created_at = time("creationTimestamp")?;
                metadata.deleted_at = time("deletionTimestamp")?;
            }
            Self::Arm(_) => {
                metadata.id = text(document.get("id"), "id")?;
                metadata.system_data = document.get("systemData").map(Owned::from);
                let state = document.get("properties").and_then(|properties| properties.get("provisioningState"));
                metadata.provisioning_state = text(state, STATE_PATH)?;
            }
        }
        Ok(metadata)
    }
}

/// A text that a document says of itself. What is something else cannot be kept, and is not dropped.
fn text(value: Option<Value<'_>>, path: &str) -> Result<Option<Box<str>>, String> {
    match value.filter(|value| !value.is_null()) {
        Some(value) => value.as_str().map(|text| Some(text.into())).ok_or_else(|| format!("{path} is no text")),
        None => Ok(None),
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(error) => error.fmt(f),
            Self::UnknownHub(hub) => write!(
                f,
                "the record is stored in the shape of {hub}, which this program's catalog does not know; bring its catalog \
                 and lock up to date"
            ),
            Self::NoVersion(problem) => {
                write!(f, "the document has no record, and its version cannot be told: {problem}")
            }
            Self::Metadata(problem) => write!(f, "the document has no record, and none can be made of it: {problem}"),
            Self::AmbiguousZeros(reasons) => f.write_str(&reasons.join("; ")),
            Self::Origin(none) => none.fmt(f),
        }
    }
}

impl Error for OpenError {}
