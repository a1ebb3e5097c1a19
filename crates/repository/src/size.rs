//! The size limit of documents: one for the largest form that any version displays, with defaults and metadata.
//!
//! Clients of one version decide how large a document is to clients of all others, so the limit is checked when a document
//! is written. Reading has no limit: what was accepted can be read by every client that may.

use wheelwright_document::{Arena, Extent, FieldPath, MAX_DOCUMENT_BYTES, Path, Value};
use wheelwright_evolve::VersionIndex;
use wheelwright_schema::{Schema, model::Additional};
use wheelwright_store::Revision;

use crate::{Metadata, Name, ServedKind, error::WriteError};

/// The largest record that a client may cause. It has the fields of all versions, so it may be larger than each form.
pub(crate) const MAX_RECORD_BYTES: usize = 8 << 20;
/// The deepest nesting of a displayed document: every walk over a document recurses.
const MAX_DEPTH: usize = 511;
/// A document that is stored less deep than this is not too deep in any version: no version moves fields that far down.
const SHALLOW: usize = 400;
/// Room for what only the server writes, now and later: revisions, `systemData`, states, the finalizers of a deletion.
pub(crate) const SERVER_BYTES: usize = 4 << 10;
/// The largest form that a version may display after a write.
const MAX_DISPLAYED_BYTES: usize = MAX_DOCUMENT_BYTES - SERVER_BYTES;
/// The growth of a document without defaults: longer names, parents of moved fields, computed fields, metadata.
const USUAL_GROWTH: usize = 64;

/// A record whose size is checked.
#[derive(Clone, Copy)]
pub(crate) struct SizedRecord<'a> {
    pub(crate) metadata: &'a Metadata,
    /// The document in the shape of the hub of today.
    pub(crate) object: Value<'a>,
    pub(crate) bytes: usize,
}

impl ServedKind {
    /// Refuses a document that some version would display larger or deeper than is allowed.
    ///
    /// A document that is too large already may be written if the write does not make it larger.
    pub(crate) fn check_size(
        &self,
        name: &Name,
        after: SizedRecord<'_>,
        before: Option<SizedRecord<'_>>,
    ) -> Result<(), WriteError> {
        // An object takes three bytes at least: `{},`.
        if self.is_small(after.bytes, after.bytes / 3) {
            return Ok(());
        }
        let Extent { objects, depth, .. } = Extent::of(after.object);
        if depth <= SHALLOW && self.is_small(after.bytes, objects) {
            return Ok(());
        }
        let mut versions = self.kind.history().indexes().filter(|version| self.kind.program(*version).is_some());
        versions.try_for_each(|version| self.check_form(version, name, after, before))?;
        match before.map_or(MAX_RECORD_BYTES, |before| before.bytes.max(MAX_RECORD_BYTES)) {
            most if after.bytes > most => {
                let (field, of_field) = largest_field(after.object, after.bytes);
                Err(WriteError::TooLarge(format!(
                    "it is stored in {} bytes, with the fields of all versions, more than the {most} allowed; {field} has \
                     {of_field} of them: shorten it, or divide the document",
                    after.bytes
                )))
            }
            _ => Ok(()),
        }
    }

    /// Whether no version can display a record too large or too deep: a bound that is cheap to compute.
    fn is_small(&self, record_bytes: usize, objects: usize) -> bool {
        let grown = record_bytes.saturating_mul(USUAL_GROWTH);
        grown.saturating_add(objects.saturating_mul(self.default_bytes)) <= MAX_DISPLAYED_BYTES
    }

    fn check_form(
        &self,
        version: VersionIndex,
        name: &Name,
        after: SizedRecord<'_>,
        before: Option<SizedRecord<'_>>,
    ) -> Result<(), WriteError> {
        let arena = Arena::new();
        // The length of its times varies.
        let metadata = Metadata { system_data: None, ..after.metadata.clone() };
        let shown = self.form(version, name, SizedRecord { metadata: &metadata, ..after }, &arena);
        let form = Extent::of(shown);
        if form.bytes <= MAX_DISPLAYED_BYTES && form.depth <= MAX_DEPTH {
            return Ok(());
        }
        if let Some(before) = before {
            // Times and counts that the server changes with every write do not make a document larger.
            let Metadata { finalizers, tags, .. } = before.metadata.clone();
            let metadata = Metadata { finalizers, tags, ..metadata.clone() };
            let arena = Arena::new();
            let before = Extent::of(self.form(version, name, SizedRecord { metadata: &metadata, ..before }, &arena));
            if form.bytes <= before.bytes.max(MAX_DISPLAYED_BYTES) && form.depth <= before.depth.max(MAX_DEPTH) {
                return Ok(());
            }
        }
        let version = self.version_name(version);
        Err(WriteError::TooLarge(match form.bytes > MAX_DISPLAYED_BYTES {
            true => {
                let (field, of_field) = largest_field(shown, form.bytes);
                format!(
                    "version {version} displays it in {} bytes, with defaults and metadata, more than the \
                     {MAX_DISPLAYED_BYTES} allowed; {field} has {of_field} of them: shorten it, or divide the document",
                    form.bytes
                )
            }
            false => {
                format!("version {version} displays it {} levels deep, more than the {MAX_DEPTH} allowed", form.depth)
            }
        }))
    }

    /// A record as a version displays it.
    fn form<'a>(&'a self, version: VersionIndex, name: &Name, record: SizedRecord<'a>, arena: &'a Arena) -> Value<'a> {
        let stored = (record.object, self.kind.lenses().hub());
        self.displayed(stored, record.metadata, version, (name, &Revision::new("")), arena)
    }
}

/// The deepest field that has more than half of a document, with its size; or the largest field at the root.
fn largest_field(document: Value<'_>, bytes: usize) -> (FieldPath, usize) {
    match heaviest(document, &Path::Root, bytes / 2) {
        (_, Some((field, of_field))) if !field.is_root() => (field, of_field),
        _ => {
            let fields = document.as_object().unwrap_or_default().iter();
            let sizes = fields.map(|field| (FieldPath::root().child(field.key), Extent::of(field.value).bytes));
            sizes.max_by_key(|(_, bytes)| *bytes).unwrap_or((FieldPath::root(), bytes))
        }
    }
}

/// The size of a value, and the deepest value in it that has more than so many bytes.
fn heaviest(value: Value<'_>, path: &Path<'_>, than: usize) -> (usize, Option<(FieldPath, usize)>) {
    let (mut bytes, mut found) = (1, None);
    let mut add = |(of_part, found_in_part), of_key| {
        bytes += of_part + of_key + 1;
        // Two parts cannot both have more than half.
        found = found.take().or(found_in_part);
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| add(heaviest(*item, &Path::Index(path, at), than), 0));
        }
        Value::Object(entries) => entries.iter().for_each(|entry| {
            let of_key = Extent::of(Value::string(entry.key)).bytes + 1;
            add(heaviest(entry.value, &Path::Child(path, entry.key), than), of_key);
        }),
        _ => bytes = Extent::of(value).bytes,
    }
    if let Value::Array([]) | Value::Object([]) = value {
        bytes = 2;
    }
    (bytes, found.or_else(|| (bytes > than).then(|| (path.to_field_path(), bytes))))
}

/// The most bytes that the defaults of a schema can add to one object.
pub(crate) fn default_bytes(schema: &Schema) -> usize {
    let fields = schema.properties.iter().map(|field| match default_bytes(&field.schema) {
        0 => 0,
        bytes => bytes + Extent::of(Value::string(&field.name)).bytes + 2,
    });
    let values = schema.additional_properties.as_ref().and_then(|additional| match additional {
        Additional::Schema(schema) => Some(&**schema),
        Additional::Allowed(_) => None,
    });
    let elements = schema.items.as_deref().into_iter().chain(values).map(default_bytes);
    let below = fields.sum::<usize>() + elements.sum::<usize>();
    let arena = Arena::new();
    let own = schema.default.as_ref().map_or_else(Extent::default, |default| Extent::of(default.share(&arena)));
    // The objects of a default get the defaults below.
    own.bytes.saturating_add(below.saturating_mul(own.objects.max(1)))
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Decode, decode, decode_json_spanned};
    use wheelwright_schema::{Program, Root, lower_schema};

    use super::*;

    #[test]
    fn the_largest_field_is_the_deepest_with_more_than_half() {
        for (text, field) in [
            (r#"{"a":1,"spec":{"text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","b":2}}"#, "spec.text"),
            (r#"{"a":1,"list":[1,{"b":["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]}]}"#, "list[1].b[0]"),
            (r#"{"a":1,"list":[{},{},{},{},{},{},{}]}"#, "list"),
            (r#"{"a":1,"spec":{"one":"xxxxxxxxxxxxxxxx","two":"xxxxxxxxxxxxxxxxxx"}}"#, "spec"),
            (r#"{"one":"xxxx","two":"xxxxx","three":"xxxx"}"#, "two"),
            ("{}", "<nil>"),
        ] {
            let arena = Arena::new();
            let value = decode(text.as_bytes(), &arena).unwrap();
            let (found, bytes) = largest_field(value, text.len());
            assert_eq!(found.as_str(), field, "{text}");
            assert!(bytes <= text.len(), "{text}");
            assert_eq!(heaviest(value, &Path::Root, usize::MAX).0, text.len());
        }
    }

    #[test]
    fn defaults_add_no_more_than_the_bound() {
        let schema = br#"{"type": "object", "properties": {
            "size": {"type": "integer", "default": 10},
            "items": {"type": "array", "default": [{}, {}, {}], "items": {"type": "object", "properties": {
                "mode": {"type": "string", "default": "usual"},
                "inner": {"type": "object", "default": {}, "properties": {"deep": {"type": "string", "default": "yes"}}}}}},
            "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {
                "text": {"type": "string", "default": "some text"}}}}}}"#;
        let arena = Arena::new();
        let schema = lower_schema(&decode_json_spanned(schema, &arena, &Decode::default()).unwrap()).item;
        let program = Program::compile(&schema, Root::Value);
        let most = default_bytes(&schema);
        for text in ["{}", r#"{"items":[{},{"mode":"a"}]}"#, r#"{"map":{"a":{},"b":{}}}"#] {
            let before = decode(text.as_bytes(), &arena).unwrap();
            let after = Extent::of(program.admit(before, &arena).unwrap().value).bytes;
            assert!(after > text.len() && after <= text.len() + Extent::of(before).objects * most, "{text}");
        }
    }
}
