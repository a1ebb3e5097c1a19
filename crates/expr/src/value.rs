//! Values, as expressions see them: scalars at hand, lists and objects of a document where they are.

use wheelwright_document::{Entry, Number, Value};
use wheelwright_text::{Cidr, GoDuration, Ip, NamedFormat, Quantity, SemanticVersion, Timestamp};

use crate::shape::{ShapeId, ShapeKind, Shapes};

/// A value. Lists and objects of a document are not copied: they come with the shape that says how to read them.
///
/// The tag is as wide as a word, although that makes it larger: with a byte, copying a value would move the padding beside it
/// in odd pieces, which stalls the processor, and evaluating is mostly that.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[repr(u64)]
pub enum Val<'a> {
    /// `null`.
    Null,
    /// `bool`.
    Bool(bool),
    /// `int`.
    Int(i64),
    /// `uint`.
    Uint(u64),
    /// `double`.
    Double(f64),
    /// `string`.
    String(&'a str),
    /// `bytes`.
    Bytes(&'a [u8]),
    /// A moment.
    Timestamp(Timestamp),
    /// A span of time.
    Duration(GoDuration),
    /// A list of a document; the shape is the list's.
    Items(&'a [Value<'a>], ShapeId),
    /// An object of a document, with declared fields or any.
    Fields(&'a [Entry<'a>], ShapeId),
    /// A list that an expression made.
    List(&'a [Val<'a>]),
    /// A map that an expression made; keys are unique.
    Map(&'a [(Val<'a>, Val<'a>)]),
    /// A value that may be absent.
    Optional(Option<&'a Val<'a>>),
    /// A type, by its name.
    Type(&'static str),
    /// `url()`, as the text that was found to be one.
    Url(&'a str),
    /// `ip()`.
    Ip(&'a Ip),
    /// `cidr()`.
    Cidr(&'a Cidr),
    /// `quantity()`.
    Quantity(&'a Quantity),
    /// `semver()`.
    Semver(&'a SemanticVersion<'a>),
    /// `format.named()`.
    Format(NamedFormat),
    /// Something in the document that no schema describes; it can only be compared.
    Opaque(&'a Value<'a>),
    /// Something in the document that is not what its schema says; whoever looks at it fails.
    Invalid(&'static str),
}

const _: () = assert!(size_of::<Val<'static>>() == 32);

impl<'a> Val<'a> {
    /// The name of the type of a value.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Items(..) | Self::List(_) => "list",
            Self::Fields(..) | Self::Map(_) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Url(_) => "kubernetes.URL",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Opaque(_) | Self::Invalid(_) => "unknown",
        }
    }

    /// How many characters, bytes, items or entries a value has, as far as costs go; counts no more than asked for.
    #[inline]
    pub(crate) fn size_up_to(self, most: u64) -> u64 {
        match self {
            // A character has four bytes at most: what is far too long need not be counted.
            Self::String(text) if text.len() as u64 / 4 >= most => most,
            Self::String(text) => most.min(text.chars().count() as u64),
            other => most.min(other.cost_size()),
        }
    }

    /// How many bytes, items or entries a value has.
    #[inline]
    pub(crate) fn cost_size(self) -> u64 {
        match self {
            Self::String(text) => text.len() as u64,
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Items(items, _) => items.len() as u64,
            Self::List(items) => items.len() as u64,
            Self::Fields(entries, _) => entries.len() as u64,
            Self::Map(entries) => entries.len() as u64,
            _ => 1,
        }
    }
}

/// A value of a document as its shape says. `place` is where the value is.
#[inline]
pub(crate) fn read<'a>(
    value: Value<'a>,
    id: ShapeId,
    shapes: &'a Shapes,
    place: impl FnOnce() -> &'a Value<'a>,
    decode: impl FnOnce(&'a str) -> Val<'a>,
) -> Val<'a> {
    let shape = shapes.get(id);
    match (&shape.kind, value) {
        (ShapeKind::Any, value) => any(value, id),
        (_, Value::Null) if shape.nullable => Val::Null,
        (_, Value::Null) => Val::Invalid("null where null is not allowed"),
        (ShapeKind::String, Value::String(text)) => Val::String(text.as_str()),
        (ShapeKind::Object(_) | ShapeKind::Map { .. }, Value::Object(entries)) => Val::Fields(entries, id),
        (ShapeKind::List { .. }, Value::Array(items)) => Val::Items(items, id),
        (ShapeKind::Bool, Value::Bool(value)) => Val::Bool(value),
        (ShapeKind::Int, Value::Number(number)) => int(number),
        (ShapeKind::Double, Value::Number(number)) => Val::Double(number.as_f64()),
        (ShapeKind::IntOrString, Value::Number(number)) => int(number),
        (ShapeKind::IntOrString, Value::String(text)) => Val::String(text.as_str()),
        (ShapeKind::Bytes, Value::String(text)) => decode(text.as_str()),
        (ShapeKind::Duration, Value::String(text)) => {
            GoDuration::parse_words(text.as_str()).map_or(Val::Invalid("not a duration"), Val::Duration)
        }
        (ShapeKind::Date, Value::String(text)) => {
            Timestamp::parse_date(text.as_str()).map_or(Val::Invalid("not a date"), Val::Timestamp)
        }
        (ShapeKind::DateTime, Value::String(text)) => {
            Timestamp::parse_date_time(text.as_str()).map_or(Val::Invalid("not a date and time"), Val::Timestamp)
        }
        (ShapeKind::Opaque, _) => Val::Opaque(place()),
        _ => Val::Invalid("not of the type that the schema says"),
    }
}

/// An integer must be written as one: Kubernetes reads `1.0` as a floating-point number.
fn int<'a>(number: Number<'_>) -> Val<'a> {
    number.as_i64().map_or(Val::Invalid("not an integer of 64 bits, written without a point"), Val::Int)
}

/// A value that no schema describes is what it looks like.
fn any<'a>(value: Value<'a>, id: ShapeId) -> Val<'a> {
    match value {
        Value::Null => Val::Null,
        Value::Bool(value) => Val::Bool(value),
        Value::Number(number) => number.as_i64().map_or_else(|| Val::Double(number.as_f64()), Val::Int),
        Value::String(text) => Val::String(text.as_str()),
        Value::Array(items) => Val::Items(items, id),
        Value::Object(entries) => Val::Fields(entries, id),
    }
}
