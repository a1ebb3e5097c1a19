//! Which language a document with schemas is written in, and where the languages differ.

use wheelwright_document::Spanned;

/// A language that schemas are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Dialect {
    /// Swagger 2.0.
    Swagger2,
    /// OpenAPI 3.0.
    OpenApi30,
    /// OpenAPI 3.1, whose schemas are JSON Schema 2020-12.
    OpenApi31,
    /// JSON Schema up to draft 7.
    JsonSchemaDraft7,
    /// JSON Schema 2019-09 and later.
    JsonSchema2020,
}

impl Dialect {
    /// The language of a document, by what it says of itself; none if it says nothing, or is something else.
    pub fn of(document: &Spanned<'_>) -> Option<Self> {
        // A resource may have any of these fields, and says what it is.
        if document.get("apiVersion").is_some() && document.get("kind").is_some() {
            return None;
        }
        let text = |key| document.get(key).and_then(Spanned::as_str);
        // YAML reads `swagger: 2.0` as a number.
        let number = |key: &str| document.get(key)?.as_scalar()?.as_number().map(|number| number.as_str());
        if let Some(version) = text("swagger").or_else(|| number("swagger")) {
            return version.starts_with("2").then_some(Self::Swagger2);
        }
        if let Some(version) = text("openapi").or_else(|| number("openapi")) {
            return match version {
                _ if version.starts_with("3.0") => Some(Self::OpenApi30),
                _ if version.starts_with("3.") => Some(Self::OpenApi31),
                _ => None,
            };
        }
        if let Some(schema) = text("$schema") {
            let is_json_schema = schema.contains("json-schema.org/");
            let is_old = ["draft-03", "draft-04", "draft-06", "draft-07"].iter().any(|old| schema.contains(old));
            return is_json_schema.then_some(if is_old { Self::JsonSchemaDraft7 } else { Self::JsonSchema2020 });
        }
        let holds_schemas = |key| {
            let entries = document.get(key).and_then(Spanned::as_object).unwrap_or_default();
            !entries.is_empty() && entries.iter().all(|entry| entry.value.as_object().is_some())
        };
        match (holds_schemas("$defs"), holds_schemas("definitions")) {
            (true, _) => Some(Self::JsonSchema2020),
            (_, true) => Some(Self::JsonSchemaDraft7),
            _ => None,
        }
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Swagger2 => "Swagger 2.0",
            Self::OpenApi30 => "OpenAPI 3.0",
            Self::OpenApi31 => "OpenAPI 3.1",
            Self::JsonSchemaDraft7 => "JSON Schema draft 7",
            Self::JsonSchema2020 => "JSON Schema 2020-12",
        }
    }

    /// Where the definitions of a document are, as steps from its root.
    pub(super) fn definitions(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Swagger2 => &[&["definitions"]],
            Self::OpenApi30 | Self::OpenApi31 => &[&["components", "schemas"]],
            Self::JsonSchemaDraft7 | Self::JsonSchema2020 => &[&["$defs"], &["definitions"]],
        }
    }

    /// Whether the document describes an API, and is no schema itself.
    pub(super) fn describes_api(self) -> bool {
        matches!(self, Self::Swagger2 | Self::OpenApi30 | Self::OpenApi31)
    }

    /// Whether what stands beside a `$ref` counts.
    pub(super) fn applies_siblings(self) -> bool {
        matches!(self, Self::OpenApi31 | Self::JsonSchema2020)
    }

    /// Whether it is JSON Schema as it is now: lists of types, booleans as schemas, numbers as exclusive bounds.
    pub(super) fn is_json_schema(self) -> bool {
        !matches!(self, Self::Swagger2 | Self::OpenApi30)
    }

    /// Whether a keyword says that null is a value.
    pub(super) fn is_nullable_keyword(self, keyword: &str) -> bool {
        match keyword {
            "nullable" => self == Self::OpenApi30,
            keyword => keyword == "x-nullable",
        }
    }
}
