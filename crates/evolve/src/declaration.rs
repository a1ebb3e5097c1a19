//! What is declared about a kind: its versions as they are published, and what changed between them.

use wheelwright_document::Span;
use wheelwright_schema::{Root, Schema};

use crate::{KindName, Located, Policies, Selector, VersionName, change::Steps};

/// A kind, as a catalog declares it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Declaration {
    /// The group of the kind; empty if it has none.
    pub group: Box<str>,
    /// The name of the kind.
    pub kind: Box<str>,
    /// The names that it had before.
    pub was: Vec<Located<KindName>>,
    /// Its versions; [`History`](crate::History) orders them.
    pub versions: Vec<DeclaredVersion>,
    /// The order of the versions, oldest first, where their names do not tell.
    pub order: Option<Vec<VersionName>>,
    /// The changes on the steps between versions.
    pub steps: Steps,
    /// The version whose shape is stored, if it is pinned.
    pub hub: Option<Located<VersionName>>,
    /// Versions that are gone, and those that speak for them.
    pub successors: Vec<(VersionName, VersionName)>,
    /// What a write does to fields that its version cannot say.
    pub policies: Policies,
}

/// A version, as it is published.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeclaredVersion {
    /// Its name.
    pub name: VersionName,
    /// The name of the kind that it is published under, if that is a former one.
    pub kind: Option<KindName>,
    /// Its schema.
    pub schema: Schema,
    /// What the schema describes.
    pub root: Root,
    /// Where the version was declared.
    pub span: Span,
    /// Clients can use it.
    pub served: bool,
}

impl Declaration {
    /// A kind without versions.
    pub fn new(group: impl Into<Box<str>>, kind: impl Into<Box<str>>) -> Self {
        Self {
            group: group.into(),
            kind: kind.into(),
            was: Vec::new(),
            versions: Vec::new(),
            order: None,
            steps: Vec::new(),
            hub: None,
            successors: Vec::new(),
            policies: Policies::default(),
        }
    }

    /// The version of a name.
    pub fn version(&self, name: &str) -> Option<&DeclaredVersion> {
        self.versions.iter().find(|version| version.name.as_str() == name)
    }

    /// The name of the kind, with its group.
    pub fn name(&self) -> KindName {
        KindName::new(self.group.clone(), self.kind.clone())
    }

    /// The name of the kind, and those that it had before.
    pub fn names(&self) -> impl Iterator<Item = KindName> {
        std::iter::once(self.name()).chain(self.was.iter().map(|was| was.item.clone()))
    }

    /// Whether people mean this kind by a text: by its name or one that it had, with or without the group.
    pub fn is_meant_by(&self, text: &str) -> bool {
        self.names().any(|name| name.is_meant_by(text))
    }

    /// Whether another declaration is about the same kind, now or under a name that one of them had.
    pub fn is_same_kind(&self, other: &Self) -> bool {
        self.names().any(|name| other.names().any(|other| other == name))
    }

    /// The name of the kind that a version is published under.
    pub fn name_in(&self, version: &VersionName) -> KindName {
        self.version(version.as_str()).and_then(|version| version.kind.clone()).unwrap_or_else(|| self.name())
    }

    /// How the apiVersion of a document names a version of this kind.
    pub fn api_version(&self, version: &VersionName) -> String {
        self.name_in(version).api_version(version)
    }
}

impl DeclaredVersion {
    /// A version with its schema, which is served.
    pub fn new(name: VersionName, schema: Schema, root: Root, span: Span) -> Self {
        Self { name, kind: None, schema, root, span, served: true }
    }

    /// The same version, published under another name of the kind.
    pub fn published_as(mut self, kind: KindName) -> Self {
        self.kind = Some(kind);
        self
    }
}

/// The parts of a document that are written on their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Part {
    /// Everything.
    #[default]
    Whole,
    /// Everything but the status.
    Spec,
    /// The status alone.
    Status,
}

impl Part {
    /// Whether a field at the root belongs to the part.
    pub fn includes(self, field: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::Spec => field != "status",
            Self::Status => field == "status",
        }
    }
}

/// Whether two fields are on the same side: a change never crosses between spec and status.
pub(crate) fn is_on_one_side(a: &Selector, b: &Selector) -> bool {
    let is_status = |selector: &Selector| matches!(selector.steps().first(), Some(crate::selector::Step::Field(name)) if **name == *"status");
    is_status(a) == is_status(b)
}
