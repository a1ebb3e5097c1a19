//! What a changes file says, once it is read.

use wheelwright_document::{Owned, Span};

use crate::{Selector, VersionName};

/// Something that a file says, and where it says it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Located<T> {
    /// What is said.
    pub item: T,
    /// Where.
    pub span: Span,
}

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
