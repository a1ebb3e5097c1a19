//! Conversion of documents that are stored nowhere: from one version to another, and there and back.

use std::{error::Error, fmt};

use wheelwright_document::{Arena, Value};
use wheelwright_schema::AdmitError;

use crate::{Kind, Part, PutError, Trouble, VersionIndex};

/// Why a document cannot be converted.
#[derive(Clone, Debug)]
pub enum ConvertError {
    /// It is no object, but what this says.
    NoObject(&'static str),
    /// Its version cannot decode it, or its defaults make it too large.
    Refused(AdmitError),
    /// A policy refuses the write, because of the field with this path in the newest version that has it.
    WouldReset(Box<str>),
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject(kind_name) => write!(f, "a document must be an object, not {kind_name}"),
            Self::Refused(error) => error.fmt(f),
            Self::WouldReset(field) => write!(f, "the write would reset {field}, which its version cannot say"),
        }
    }
}

impl Error for ConvertError {}

impl From<AdmitError> for ConvertError {
    fn from(error: AdmitError) -> Self {
        Self::Refused(error)
    }
}

impl From<PutError> for ConvertError {
    fn from(error: PutError) -> Self {
        match error {
            PutError::NoObject(kind_name) => Self::NoObject(kind_name),
            PutError::WouldReset(field) => Self::WouldReset(field),
        }
    }
}

impl Kind {
    /// What a version shows of a new document that was written through another. To its own version, this is the normal
    /// form of the document.
    ///
    /// # Errors
    /// The document cannot be written through its version.
    pub fn convert<'a>(
        &'a self,
        from: VersionIndex,
        to: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Result<Value<'a>, ConvertError> {
        Ok(self.lenses().convert(from, to, self.normal_object(from, document, arena)?, arena)?)
    }

    /// As [`convert`](Self::convert), and what could not be computed on the way.
    ///
    /// # Errors
    /// As for [`convert`](Self::convert).
    pub fn convert_telling<'a>(
        &'a self,
        from: VersionIndex,
        to: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Result<(Value<'a>, Vec<Trouble>), ConvertError> {
        let written = self.normal_object(from, document, arena)?;
        let (shown, troubles) = self.lenses().convert_telling(from, to, written, arena)?;
        Ok((shown, self.on_the_way(from, to, troubles.into_iter())))
    }

    /// What is left of a new document once a client of another version has read it and written it back unchanged: all
    /// of its normal form.
    ///
    /// # Errors
    /// The document cannot be written through its version, or a policy refuses the client's write.
    pub fn round_trip<'a>(
        &'a self,
        from: VersionIndex,
        via: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Result<Value<'a>, ConvertError> {
        Ok(self.round_trip_telling(from, via, document, arena)?.0)
    }

    /// As [`round_trip`](Self::round_trip), and what could not be computed on the way.
    ///
    /// # Errors
    /// As for [`round_trip`](Self::round_trip).
    pub fn round_trip_telling<'a>(
        &'a self,
        from: VersionIndex,
        via: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Result<(Value<'a>, Vec<Trouble>), ConvertError> {
        let written = self.normal_object(from, document, arena)?;
        let (stored, mut troubles) = self.lenses().put_telling(from, written, None, Part::Whole, arena)?;
        let (shown, others) = self.lenses().get_telling(via, stored, arena);
        troubles.extend(others);
        let written = self.normal_update(via, shown, shown, arena)?;
        let (stored, others) = self.lenses().put_telling(via, written, Some(stored), Part::Whole, arena)?;
        troubles.extend(others);
        let (back, others) = self.lenses().get_telling(from, stored, arena);
        Ok((back, self.on_the_way(from, via, troubles.into_iter().chain(others))))
    }

    /// The normal form of a new document, which must be an object.
    fn normal_object<'a>(
        &'a self,
        version: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Result<Value<'a>, ConvertError> {
        if document.as_object().is_none() {
            return Err(ConvertError::NoObject(document.kind_name()));
        }
        Ok(self.normal(version, document, arena)?)
    }

    /// The troubles of the steps between two versions, each once: what other versions would lack is theirs to hear.
    fn on_the_way(
        &self,
        from: VersionIndex,
        to: VersionIndex,
        troubles: impl Iterator<Item = Trouble>,
    ) -> Vec<Trouble> {
        let mut told = Vec::new();
        for trouble in troubles.filter(|trouble| self.facts().is_between(from, to, trouble.step)) {
            if !told.contains(&trouble) {
                told.push(trouble);
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::encode;

    use super::*;
    use crate::testing::{document, kind};

    const V1: &str = "{type: object, properties: {qty: {type: integer, default: 1}, note: {type: string}}}";
    const V2: &str =
        "{type: object, properties: {quantity: {type: integer}, tags: {type: array, items: {type: string}}}}";

    fn text(value: Value<'_>) -> String {
        String::from_utf8(encode(value)).unwrap()
    }

    #[test]
    fn a_document_is_written_with_its_defaults_and_shown_with_its_other_names() {
        let kind = kind(&[("v1", V1), ("v2", V2)], "v2: {renamed: {qty: quantity}, removed: [note]}", "v2");
        let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).unwrap());
        let arena = Arena::new();
        let convert = |from, to, json| text(kind.convert(from, to, document(json, &arena), &arena).unwrap());
        assert_eq!(convert(v1, v2, r#"{"note": "a", "unknown": 1}"#), r#"{"quantity":1}"#);
        assert_eq!(convert(v1, v1, r#"{"note": "a", "unknown": 1}"#), r#"{"qty":1,"note":"a"}"#);
        // Readers of v1 see the default of a field that v1 always had, as whoever wrote through v2 does.
        assert_eq!(convert(v2, v1, r#"{"tags": []}"#), r#"{"qty":1}"#);
    }

    #[test]
    fn a_client_of_another_version_takes_nothing_away() {
        let kind = kind(&[("v1", V1), ("v2", V2)], "v2: {renamed: {qty: quantity}, removed: [note]}", "v2");
        let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).unwrap());
        let arena = Arena::new();
        for (from, via, json) in [(v1, v2, r#"{"qty": 0, "note": "a"}"#), (v2, v1, r#"{"tags": ["x", "x"]}"#)] {
            let document = document(json, &arena);
            let normal = kind.convert(from, from, document, &arena).unwrap();
            let back = kind.round_trip(from, via, document, &arena).unwrap();
            assert_eq!(text(back), text(normal));
        }
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let kind = kind(&[("v1", V1)], "", "v1");
        let v1 = kind.version("v1").unwrap();
        let arena = Arena::new();
        for json in ["[]", "null", "3"] {
            let error = kind.convert(v1, v1, document(json, &arena), &arena).unwrap_err();
            assert!(matches!(error, ConvertError::NoObject(_)), "{error}");
        }
    }

    const SPELLED: [(&str, &str); 3] = [
        (
            "v1",
            "{type: object, properties: {timeout: {type: string}, endpoint: {type: string}, disk: {type: object, \
                properties: {size: {type: integer}}}}}",
        ),
        (
            "v2",
            "{type: object, properties: {timeoutSeconds: {type: integer}, host: {type: string}, port: {type: integer}, \
                disks: {type: array, items: {type: object, properties: {size: {type: integer}}}}}}",
        ),
        ("v3", "{type: object, properties: {timeoutSeconds: {type: integer}, host: {type: string}}}"),
    ];
    const RESPELLED: &str = "{v2: {converted: {timeout: {to: timeoutSeconds, with: durationSeconds}, \
        disk: {to: disks, with: oneItem}}, reshaped: [{from: endpoint, to: [host, port], template: '{host}:{port}'}]}, \
        v3: {removed: [port, disks]}}";

    #[test]
    fn what_could_not_be_computed_is_told_to_those_who_would_have_read_it() {
        for hub in ["v1", "v2", "v3"] {
            let kind = kind(&SPELLED, RESPELLED, hub);
            let arena = Arena::new();
            let json = document(r#"{"timeout": "soon", "endpoint": "a:1"}"#, &arena);
            let told = |to: &str| -> Vec<(String, usize)> {
                let [v1, to] = ["v1", to].map(|name| kind.version(name).unwrap());
                let (shown, troubles) = kind.convert_telling(v1, to, json, &arena).unwrap();
                assert_eq!(text(shown), text(kind.convert(v1, to, json, &arena).unwrap()));
                troubles.into_iter().map(|trouble| (trouble.field, trouble.step.position())).collect()
            };
            for to in ["v2", "v3"] {
                assert_eq!(told(to), [("timeoutSeconds".to_owned(), 1)], "{hub} {to}");
            }
            assert_eq!(told("v1"), [], "{hub}");
            let [v1, v3] = ["v1", "v3"].map(|name| kind.version(name).unwrap());
            let (back, troubles) = kind.round_trip_telling(v1, v3, json, &arena).unwrap();
            assert_eq!((text(back), troubles.len()), (text(json), 1), "{hub}");
        }
    }
}
