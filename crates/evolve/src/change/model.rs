//! What a changes file says, once it is read.

use std::fmt;

use wheelwright_document::{Owned, Span};

use super::Clamped;
use crate::{Selector, VersionName};

/// Something that a file says, and where it says it. Two are equal if they say the same, wherever.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// What is said.
    pub item: T,
    /// Where.
    pub span: Span,
}

impl<T: PartialEq> PartialEq for Located<T> {
    fn eq(&self, other: &Self) -> bool {
        self.item == other.item
    }
}

impl<T: Eq> Eq for Located<T> {}

/// The steps of a kind, in the order they were written.
pub type Steps = Vec<VersionStep>;

/// What happened on the step into a version. A set, not a script: paths on the left are in the names of the version
/// before, those on the right in the names of the new one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VersionStep {
    /// The version that was stepped into.
    pub version: Located<VersionName>,
    /// The version before, if it is not the one that precedes in the order of versions.
    pub from: Option<Located<VersionName>>,
    /// Fields that have another path now.
    pub renamed: Vec<Renamed>,
    /// Fields that are gone, and were not renamed.
    pub removed: Vec<Located<Selector>>,
    /// Fields that are new although a field of the same path and shape was published before.
    pub new: Vec<Located<Selector>>,
    /// The fields that tell the items of a list apart.
    pub keys: Vec<(Located<Selector>, Vec<Box<str>>)>,
    /// Objects of which only one member is set at a time.
    pub unions: Vec<DeclaredUnion>,
    /// Facts that have another spelling now: what is `converted`, `reshaped` or left to a `hook`. Hooks come last, since
    /// they run after what is declared.
    pub respelled: Vec<Respelled>,
    /// Fields that are computed from others where nobody wrote them.
    pub derived: Vec<Derived>,
    /// Defaults that the published schema lacks.
    pub defaults: Vec<FieldValue>,
    /// Defaults that readers fill in, instead of those of the schema.
    pub storage_defaults: Vec<FieldValue>,
    /// How those who wrote documents of this version spelled zero values.
    pub writers: Option<Located<Writers>>,
    /// What becomes of fields that this version cannot say when it is written through.
    pub older_write: Option<Located<OlderWrite>>,
}

impl VersionStep {
    /// A step that says nothing yet.
    pub fn new(version: Located<VersionName>) -> Self {
        Self {
            version,
            from: None,
            renamed: Vec::new(),
            removed: Vec::new(),
            new: Vec::new(),
            keys: Vec::new(),
            unions: Vec::new(),
            respelled: Vec::new(),
            derived: Vec::new(),
            defaults: Vec::new(),
            storage_defaults: Vec::new(),
            writers: None,
            older_write: None,
        }
    }
}

/// A field that moved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Renamed {
    /// Its path in the version before.
    pub from: Located<Selector>,
    /// Its path now.
    pub to: Located<Selector>,
}

/// One fact in two spellings: some fields of the version before, and some of the new one. Whatever a client writes in one
/// spelling is kept as it was written, and shown in the other by way of the conversion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Respelled {
    /// The fields of the version before; never empty. A path may end in `[]` or `{}`: then every item or value of the
    /// field is converted on its own, and the one path on the other side ends alike.
    pub from: Vec<Located<Selector>>,
    /// The fields of the new version; never empty.
    pub to: Vec<Located<Selector>>,
    /// How one becomes the other.
    pub with: Located<Conversion>,
}

/// How a fact in one spelling becomes the same fact in the other. Where types matter, the schemas of both sides tell them:
/// which side is the text and which the number need not be said.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Conversion {
    /// A duration as Go writes it (`1h30m`) and a number of seconds.
    DurationSeconds,
    /// A quantity as Kubernetes writes it (`100Mi`) and a number.
    Quantity,
    /// A number and its multiple by a decimal number: `up` multiplies.
    Scale(Box<str>),
    /// A text and what it spells: an integer, a number or a boolean.
    Text,
    /// Values and what they are called now. Other values stay; of several old ones for one new one, the first is meant on
    /// the way down.
    Values(Vec<(Box<str>, Box<str>)>),
    /// A list of texts and one text with a delimiter between them.
    Joined(Box<str>),
    /// A scalar, and an object with it under a key. It is the same field in another place, so that the history takes it for
    /// a rename to or from that key.
    ObjectWithKey(Box<str>),
    /// An object and a list with that object as its one item.
    OneItem,
    /// A text that contains a document, and the object (or list, map or other value) that it contains.
    Document(DocumentFormat),
    /// A conversion of numbers, clamped to what the field that shows them can hold.
    Clamped(Clamped),
    /// A text, and fields that are parts of it: a template with the names of the fields, `{host}:{port}`, and, where that
    /// is ambiguous, a pattern that takes the text apart, with groups of these names.
    Template {
        /// How the text is put together.
        template: Box<str>,
        /// How it is taken apart.
        pattern: Option<Located<Box<str>>>,
    },
    /// A list of objects and a map: a field of the item is the key, and either the rest of the item or one other field of
    /// it the value.
    KeyedList {
        /// The field that is the key.
        key: Box<str>,
        /// The field that is the value; without it, the value is an object of all other fields.
        value: Option<Box<str>>,
    },
    /// Several fields and a map of them: the key for each field, in the order of the fields.
    Entries(Vec<Box<str>>),
    /// A shorthand beside a field that can say more, and that field alone. The shorthand is under a key of an item or map, or a
    /// value of its own.
    Folded(Option<Box<str>>),
    /// A map and the same map with other keys: old and new ones.
    RenamedKeys(Vec<(Box<str>, Box<str>)>),
    /// Two expressions over `self`, the value of the one field on each side.
    Expression {
        /// From old to new.
        up: Located<Box<str>>,
        /// From new to old.
        down: Located<Box<str>>,
    },
    /// Expressions over `self`, the document or the list item or map value that the fields are in, with the fields of the
    /// side that is left: one for each field of the other side, in their order.
    Expressions {
        /// From old to new: one for each field of `to`.
        up: Vec<Located<Box<str>>>,
        /// From new to old: one for each field of `from`.
        down: Vec<Located<Box<str>>>,
    },
    /// Rust that is registered under a name.
    Hook(Box<str>),
}

/// The format of a document that is kept as a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DocumentFormat {
    /// JSON; written without spaces.
    Json,
    /// YAML, as kubectl reads it; written in block style.
    Yaml,
}

impl DocumentFormat {
    /// Every format.
    pub(crate) const ALL: [Self; 2] = [Self::Json, Self::Yaml];

    /// The name in changes files.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Yaml => "yaml",
        }
    }

    /// The format with a name.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.word() == word)
    }
}

/// The converter, as it is called in a changes file.
impl fmt::Display for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DurationSeconds => f.write_str("durationSeconds"),
            Self::Quantity => f.write_str("quantity"),
            Self::Scale(factor) => write!(f, "scale {factor}"),
            Self::Text => f.write_str("text"),
            Self::Values(_) => f.write_str("values"),
            Self::Joined(delimiter) => write!(f, "joined {delimiter:?}"),
            Self::ObjectWithKey(key) => write!(f, "key {key}"),
            Self::OneItem => f.write_str("oneItem"),
            Self::Document(format) => write!(f, "document {}", format.word()),
            Self::Clamped(Clamped { with: Some(with), .. }) => write!(f, "{with} clamped"),
            Self::Clamped(_) => f.write_str("clamped"),
            Self::Template { template, .. } => write!(f, "template {template:?}"),
            Self::KeyedList { key, .. } => write!(f, "key {key}"),
            Self::Entries(_) => f.write_str("entries"),
            Self::Folded(_) => f.write_str("folded"),
            Self::RenamedKeys(_) => f.write_str("renamedKeys"),
            Self::Expression { .. } | Self::Expressions { .. } => f.write_str("expressions"),
            Self::Hook(name) => write!(f, "hook {name}"),
        }
    }
}

impl Conversion {
    /// The conversion whose numbers are clamped, or the conversion itself.
    pub(crate) fn unclamped(&self) -> &Self {
        match self {
            Self::Clamped(Clamped { with: Some(with), .. }) => with,
            other => other,
        }
    }

    /// The key of a step that it is written under.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::DurationSeconds | Self::Quantity | Self::Scale(_) | Self::Text | Self::Values(_) => "converted",
            Self::Joined(_) | Self::ObjectWithKey(_) | Self::OneItem => "converted",
            Self::Document(_) | Self::Clamped(_) | Self::Expression { .. } => "converted",
            Self::Template { .. } | Self::KeyedList { .. } | Self::Entries(_) | Self::RenamedKeys(_) => "reshaped",
            Self::Folded(_) | Self::Expressions { .. } => "reshaped",
            Self::Hook(_) => "hook",
        }
    }
}

/// A field that is computed from others where nobody wrote it. Unlike a respelled fact it is a fact of its own: a value that
/// a client wrote is stored, one that is merely shown never is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Derived {
    /// `Up`: the field is one of the new version, computed from the version before. `Down`: the other way round.
    pub direction: Direction,
    /// The field.
    pub at: Located<Selector>,
    /// An expression over `self`: the document, or the list item or map value that the field is in.
    pub expression: Located<Box<str>>,
}

/// Which way a step is taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From the version before to the new one.
    Up,
    /// From the new version to the one before.
    Down,
}

impl Direction {
    /// The other way.
    pub(crate) fn back(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// An object of which only one member is set at a time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclaredUnion {
    /// The object.
    pub at: Located<Selector>,
    /// The names of its members.
    pub members: Vec<Box<str>>,
    /// The field that says which one is set.
    pub discriminator: Option<Box<str>>,
}

/// A field and a value for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldValue {
    /// The field, in the names of the step's version.
    pub at: Located<Selector>,
    /// The value.
    pub value: Owned,
}

/// How the writers of documents spell zero values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Writers {
    /// As they are: an absent field was not set.
    #[default]
    Exact,
    /// Go's `omitempty`: `false`, `0` and `""` are left out.
    Omitempty,
}

/// What becomes of fields that a version cannot say when it is written through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OlderWrite {
    /// They stay as they are.
    #[default]
    Preserve,
    /// They go back to their storage default, else they are absent.
    Reset,
    /// The write is refused if `Reset` would change something.
    Reject,
}

/// Policies of a kind.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Policies {
    /// For all versions that say nothing else.
    pub older_write: OlderWrite,
    /// For single versions.
    pub older_write_through: Vec<(VersionName, OlderWrite)>,
    /// For single fields, in the names of the newest version that has them; they win over those of versions.
    pub older_write_of: Vec<(Located<Selector>, OlderWrite)>,
}
