//! The keywords that need nothing but their value.

use wheelwright_document::{Arena, Owned, Spanned};

use super::Dialect;
use crate::{Schema, lower::keyword::Reader, model::Mutability};

/// What can be judged only when all keywords are read.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) is_open_enum: bool,
    pub(super) allows_null: Option<bool>,
    pub(super) exclusive_minimum: Option<f64>,
    pub(super) exclusive_maximum: Option<f64>,
    pub(super) has_prefix_items: bool,
    pub(super) has_pattern_properties: bool,
}

/// Reads a keyword that says the same everywhere; answers whether it is one.
pub(super) fn simple_keyword(
    out: &mut Schema,
    pending: &mut Pending,
    reader: &mut Reader<'_, '_>,
    dialect: Dialect,
) -> bool {
    let checks = &mut out.checks;
    let extensions = &mut out.extensions;
    match reader.keyword {
        keyword if dialect.is_nullable_keyword(keyword) => pending.allows_null = Some(reader.flag()),
        "default" => out.default = Some(owned(reader.value)),
        "title" => out.title = reader.text().filter(|text| !text.is_empty()),
        "description" => out.description = reader.text().filter(|text| !text.is_empty()),
        "format" => match reader.text().as_deref() {
            Some("int-or-string") => extensions.int_or_string = true,
            // Go's durations are not those of ISO 8601, and no others are known here.
            Some("" | "duration") | None => {}
            Some(format) => checks.format = Some(format.into()),
        },
        "enum" => checks.r#enum = reader.list().iter().map(owned).collect(),
        "const" if dialect.is_json_schema() => checks.r#enum = vec![owned(reader.value)],
        "exclusiveMinimum" if dialect.is_json_schema() && !is_flag(reader) => {
            pending.exclusive_minimum = reader.number();
        }
        "exclusiveMaximum" if dialect.is_json_schema() && !is_flag(reader) => {
            pending.exclusive_maximum = reader.number();
        }
        "readOnly" => out.annotate().read_only = reader.flag(),
        "writeOnly" => out.annotate().write_only = reader.flag(),
        "x-ms-secret" => out.annotate().secret = reader.flag(),
        "x-ms-identifiers" => out.annotate().identifiers = Some(reader.texts()),
        "x-ms-discriminator-value" => out.annotate().discriminator_value = reader.text(),
        "x-ms-mutability" => {
            let texts = reader.texts();
            let has = |wanted: &str| texts.iter().any(|text| **text == *wanted);
            let mutability = Mutability { read: has("read"), create: has("create"), update: has("update") };
            out.annotate().mutability = Some(mutability);
        }
        "x-ms-enum" => {
            let flag = reader.value.get("modelAsString").and_then(Spanned::as_scalar);
            pending.is_open_enum = flag.and_then(|value| value.as_bool()) == Some(true);
        }
        "x-kubernetes-preserve-unknown-fields" => extensions.preserve_unknown_fields = reader.flag().then_some(true),
        other => return reader.limit(checks) || reader.extension(extensions) || other.starts_with("x-"),
    }
    true
}

fn is_flag(reader: &Reader<'_, '_>) -> bool {
    reader.value.as_scalar().is_some_and(|value| value.as_bool().is_some())
}

fn owned(source: &Spanned<'_>) -> Owned {
    Owned::from(source.to_value(&Arena::new()))
}
