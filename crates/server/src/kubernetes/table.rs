//! Documents as rows of tables, and their metadata alone: what commands ask for that print many documents.

use jiff::Timestamp;
use wheelwright_document::{Arena, DecodeError, Value, decode_trusted, encode, encode_into};

use super::{accept::MetaVersion, columns::Columns, json::Json};

/// How a table is made of documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'c> {
    pub(crate) columns: &'c Columns,
    pub(crate) version: MetaVersion,
    pub(crate) include: IncludeObject,
    /// What ages are counted from.
    pub(crate) now: Timestamp,
}

/// What a row has of its document besides the cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IncludeObject {
    Nothing,
    Metadata,
    Whole,
}

impl IncludeObject {
    /// What `includeObject` asks for.
    ///
    /// # Errors
    /// It is nothing that can be asked for: what to say.
    pub(crate) fn of(asked: Option<&str>) -> Result<Self, String> {
        match asked.unwrap_or_default() {
            "None" => Ok(Self::Nothing),
            "" | "Metadata" => Ok(Self::Metadata),
            "Object" => Ok(Self::Whole),
            other => Err(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', \
                 'Object', 'None', or empty"
            )),
        }
    }
}

impl Table<'_> {
    /// The row of a document, in JSON.
    pub(crate) fn row(&self, document: &[u8]) -> Result<Vec<u8>, DecodeError> {
        let arena = Arena::for_input(document.len());
        let document = decode_trusted(document, &arena)?;
        Ok(encode(self.row_of(document, Json(&arena))))
    }

    /// A table of one document, in JSON, as answers and watches have it. Only the first event of a watch says which columns
    /// there are.
    pub(crate) fn of_one(&self, document: &[u8], has_definitions: bool) -> Result<Vec<u8>, DecodeError> {
        let arena = Arena::for_input(document.len());
        let json = Json(&arena);
        let document = decode_trusted(document, &arena)?;
        let revision = document.get("metadata").and_then(|metadata| metadata.get("resourceVersion"));
        let metadata = json.some([("resourceVersion", revision)]);
        let mut table = self.begin(metadata, has_definitions);
        encode_into(self.row_of(document, json), &mut table);
        table.extend_from_slice(b"]}");
        Ok(table)
    }

    /// All of a table up to its first row: rows with commas between them, `]` and `}` follow.
    pub(crate) fn begin(&self, metadata: Value<'_>, has_definitions: bool) -> Vec<u8> {
        let mut table =
            format!(r#"{{"kind":"Table","apiVersion":"{}","metadata":"#, self.version.api_version()).into_bytes();
        encode_into(metadata, &mut table);
        table.extend_from_slice(br#","columnDefinitions":"#);
        table.extend_from_slice(if has_definitions { self.columns.definitions() } else { b"null" });
        table.extend_from_slice(br#","rows":["#);
        table
    }

    fn row_of<'a>(&'a self, document: Value<'a>, json: Json<'a>) -> Value<'a> {
        let object = match self.include {
            IncludeObject::Nothing => Value::Null,
            IncludeObject::Metadata => partial_of(document, self.version, json),
            IncludeObject::Whole => document,
        };
        json.object([("cells", self.columns.cells(document, self.now, json)), ("object", object)])
    }
}

/// The metadata of a document alone, in JSON.
pub(crate) fn partial(document: &[u8], version: MetaVersion) -> Result<Vec<u8>, DecodeError> {
    let arena = Arena::for_input(document.len());
    let document = decode_trusted(document, &arena)?;
    Ok(encode(partial_of(document, version, Json(&arena))))
}

fn partial_of<'a>(document: Value<'a>, version: MetaVersion, json: Json<'a>) -> Value<'a> {
    json.object([
        ("kind", json.text("PartialObjectMetadata")),
        ("apiVersion", json.text(version.api_version())),
        ("metadata", document.get("metadata").unwrap_or(Value::Object(&[]))),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_what_is_asked_for() {
        let columns = Columns::of_namespaces();
        let table = |include| Table { columns: &columns, version: MetaVersion::V1, include, now: Timestamp::default() };
        let document =
            br#"{"kind":"Namespace","metadata":{"name":"n","resourceVersion":"7"},"status":{"phase":"Active"}}"#;
        let row = |include| String::from_utf8(table(include).row(document).unwrap()).unwrap();
        assert_eq!(row(IncludeObject::Nothing), r#"{"cells":["n","Active"],"object":null}"#);
        let metadata = r#""metadata":{"name":"n","resourceVersion":"7"}"#;
        assert_eq!(
            row(IncludeObject::Metadata),
            format!(
                r#"{{"cells":["n","Active"],"object":{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",{metadata}}}}}"#
            )
        );
        assert!(row(IncludeObject::Whole).ends_with(r#""object":{"kind":"Namespace","metadata":{"name":"n","resourceVersion":"7"},"status":{"phase":"Active"}}}"#));
        let event = String::from_utf8(table(IncludeObject::Nothing).of_one(document, false).unwrap()).unwrap();
        assert_eq!(
            event,
            r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"columnDefinitions":null,"rows":[{"cells":["n","Active"],"object":null}]}"#
        );
    }
}
