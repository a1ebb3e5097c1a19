//! What a client asks to be written, and who has a say in it.

use std::{error::Error, fmt};

use jiff::Timestamp;
use wheelwright_document::{JsonPatch, Value};
use wheelwright_evolve::Part;

use crate::{Metadata, error::FieldError, open::View};

/// Who writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// A customer, who cannot write what only the service writes.
    Customer,
    /// The service itself.
    Service,
}

/// What to do with fields that the version does not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnknownFields {
    /// They are left out, and named in the answer.
    #[default]
    Drop,
    /// The write is refused.
    Refuse,
}

/// What a client sends.
#[derive(Clone, Copy, Debug)]
pub enum Body<'b> {
    /// The whole document, as JSON.
    Document(&'b [u8]),
    /// A merge patch (RFC 7396) of what the version shows.
    MergePatch(&'b [u8]),
    /// A JSON patch (RFC 6902) of what the version shows.
    JsonPatch(&'b [u8]),
}

/// A write that somebody asks for.
#[derive(Clone, Copy, Debug)]
pub struct Write<'w> {
    /// The version that the body is of.
    pub version: &'w str,
    /// What is sent.
    pub body: Body<'w>,
    /// Which part of the document is written.
    pub part: Part,
    /// Who writes.
    pub writer: Writer,
    /// What to do with fields that the version does not know.
    pub unknown: UnknownFields,
    /// Everything is done but for storing it.
    pub is_dry_run: bool,
    /// Who has a say in it beside the schema.
    pub judge: Option<&'w dyn Judge>,
    /// The resource that a new document belongs to, as JSON, for what the service computes of it.
    pub parent: Option<&'w [u8]>,
    /// What the service keeps of the document because of this write, if it changes anything.
    pub keeping: Option<Keeping<'w>>,
}

/// What a protocol demands of documents beside what their schemas say: of their metadata, mostly.
pub trait Judge: fmt::Debug + Sync {
    /// Looks at the document that a client wants to be there, as it was sent or patched, and at the one that is there, as
    /// clients see it.
    ///
    /// # Errors
    /// Why the write is refused, in the words of the protocol.
    fn object(&self, document: Value<'_>, before: Option<Value<'_>>) -> Result<(), Box<dyn Error + Send + Sync>> {
        let _ = (document, before);
        Ok(())
    }

    /// What is wrong with fields, beside what the schema says: of the document as a client wants it, and as the version has
    /// it in normal form.
    fn wrong_fields(&self, document: Value<'_>, normal: Value<'_>) -> Vec<FieldError> {
        let _ = (document, normal);
        Vec::new()
    }
}

/// A change of what the service keeps, done together with a write that changes something; it is told when that is.
#[derive(Clone, Copy)]
pub struct Keeping<'w>(pub &'w (dyn Fn(&mut Metadata, Timestamp) + Send + Sync));

impl<'w> Write<'w> {
    /// A customer's write of a whole document.
    pub fn document(version: &'w str, json: &'w [u8]) -> Self {
        Self::new(version, Body::Document(json))
    }

    /// A customer's merge patch.
    pub fn merge_patch(version: &'w str, json: &'w [u8]) -> Self {
        Self::new(version, Body::MergePatch(json))
    }

    /// A customer's JSON patch.
    pub fn json_patch(version: &'w str, json: &'w [u8]) -> Self {
        Self::new(version, Body::JsonPatch(json))
    }

    /// The same, by the service itself.
    #[must_use]
    pub fn by_service(self) -> Self {
        Self { writer: Writer::Service, ..self }
    }

    /// The length of what is sent.
    pub(crate) fn bytes(&self) -> usize {
        let (Body::Document(json) | Body::MergePatch(json) | Body::JsonPatch(json)) = self.body;
        json.len()
    }

    /// The bytes of a document that this changes, together with those of what is sent, or those that a JSON patch can make of
    /// them.
    pub(crate) fn bytes_with(&self, document: usize) -> usize {
        match self.body {
            Body::JsonPatch(json) => JsonPatch::most_bytes(json, document),
            Body::Document(json) | Body::MergePatch(json) => document + json.len(),
        }
    }

    /// What whoever asks for it sees of what it has led to.
    pub(crate) fn view(&self) -> View<'w> {
        match self.writer {
            Writer::Customer => View::Version(self.version),
            Writer::Service => View::Whole(self.version),
        }
    }

    /// The same, of a part alone.
    #[must_use]
    pub fn of(self, part: Part) -> Self {
        Self { part, ..self }
    }

    /// The same, of which nothing is stored.
    #[must_use]
    pub fn dry_run(self) -> Self {
        Self { is_dry_run: true, ..self }
    }

    /// The same, with somebody who has a say in it.
    #[must_use]
    pub fn judged_by(self, judge: &'w dyn Judge) -> Self {
        Self { judge: Some(judge), ..self }
    }

    /// The same, of a document that belongs to a resource: what the service computes of it may be read from that.
    #[must_use]
    pub fn below(self, parent: &'w [u8]) -> Self {
        Self { parent: Some(parent), ..self }
    }

    /// The same, with a change of what the service keeps, in the same write, and only if that changes something.
    #[must_use]
    pub fn keeping(self, change: &'w (dyn Fn(&mut Metadata, Timestamp) + Send + Sync)) -> Self {
        Self { keeping: Some(Keeping(change)), ..self }
    }

    /// The same, that is refused if the version does not know a field.
    #[must_use]
    pub fn refusing_unknown(self) -> Self {
        Self { unknown: UnknownFields::Refuse, ..self }
    }

    fn new(version: &'w str, body: Body<'w>) -> Self {
        let (part, writer, unknown) = (Part::Whole, Writer::Customer, UnknownFields::Drop);
        let (is_dry_run, judge, parent, keeping) = (false, None, None, None);
        Self { version, body, part, writer, unknown, is_dry_run, judge, parent, keeping }
    }
}

impl fmt::Debug for Keeping<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keeping(..)")
    }
}
