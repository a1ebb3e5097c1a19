//! What a lock holds.

use wheelwright_document::{Owned, Span};

use super::fingerprint::Fingerprint;
use crate::{
    Derived, History, Respelled, Selector, Shape, Structure, StructureNode, Union, VersionName, Writers,
    problem::problem_at,
};
use wheelwright_schema::Problem;

/// What is settled about every kind, for good.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lock {
    /// In the order of groups and names, so that branches that add different kinds rarely meet in one place.
    pub(super) kinds: Vec<LockedKind>,
}

/// What is settled about a kind.
#[derive(Clone, PartialEq, Debug)]
pub struct LockedKind {
    pub(super) group: Box<str>,
    pub(super) kind: Box<str>,
    pub(super) hub: VersionName,
    pub(super) entries: Vec<Entry>,
    /// What the entries amount to.
    pub(super) history: History,
}

impl Lock {
    /// Reads a lock, and says what is wrong with it. A kind that cannot be read is left out, so a lock with problems
    /// must not be grown or written.
    pub fn parse(text: &str) -> (Self, Vec<Problem>) {
        super::parse::parse(text)
    }

    /// The kinds, in the order of their groups and names.
    pub fn kinds(&self) -> &[LockedKind] {
        &self.kinds
    }

    /// A kind, if it is locked.
    pub fn kind(&self, group: &str, kind: &str) -> Option<&LockedKind> {
        self.position(group, kind).ok().map(|position| &self.kinds[position])
    }

    /// The versions and fields of a kind, as [`History::derive`] continues them.
    pub fn history(&self, group: &str, kind: &str) -> Option<History> {
        self.kind(group, kind).map(|kind| kind.history.clone())
    }

    /// Where a kind is, or belongs.
    pub(super) fn position(&self, group: &str, kind: &str) -> Result<usize, usize> {
        self.kinds.binary_search_by(|locked| (&*locked.group, &*locked.kind).cmp(&(group, kind)))
    }
}

impl LockedKind {
    /// The group of the kind; empty if it has none.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The name of the kind.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The version whose shape is stored.
    pub fn hub(&self) -> &VersionName {
        &self.hub
    }

    /// The versions and fields.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The fingerprint of a version's schema when it was locked, or amended last.
    pub fn fingerprint(&self, version: &VersionName) -> Option<Fingerprint> {
        self.entries.iter().rev().find(|entry| entry.version == *version).map(|entry| entry.fingerprint)
    }
}

/// A group and the name of a kind, for messages.
pub(super) fn full_name(group: &str, kind: &str) -> String {
    if group.is_empty() { kind.to_owned() } else { format!("{group}/{kind}") }
}

/// A version that was locked, or what it gained afterwards.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Entry {
    pub(super) version: VersionName,
    pub(super) origin: Origin,
    pub(super) fingerprint: Fingerprint,
    pub(super) edits: Vec<Edit>,
}

/// What the edits of an entry are relative to.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Origin {
    /// A new version: another one, or nothing.
    New {
        from: Option<VersionName>,
        /// The version that it precedes, if it is not the newest.
        before: Option<VersionName>,
    },
    /// A version that gained something: what it was.
    Amended,
}

/// One line of an entry. Paths of what was removed or moved away are those of the version that the entry is relative
/// to; all others are those of its own version.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Edit {
    /// A field is gone, with all below it that did not move away.
    Remove(Selector),
    /// A field has another path, with all below it.
    Move { from: Selector, to: Selector },
    /// A field is there.
    Add {
        at: Selector,
        description: Description,
        /// Its id, if that is not its path.
        id: Option<Box<str>>,
        /// What readers fill in, if that is not the default of the version that brings the field; null for nothing.
        frozen: Option<Owned>,
    },
    /// A field, items, values or the document are different now.
    Describe { at: Selector, description: Description },
    /// The fields of an object come in another order than is usual.
    Order { at: Selector, names: Vec<Box<str>> },
    /// How documents of the version were written.
    Writers(Writers),
    /// A fact has another spelling than in the version before.
    Respelled(Respelled),
    /// A field is computed where nobody wrote it.
    Derived(Derived),
}

/// Everything about a node but where it is and what is below it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Description {
    /// Its shape, and that of its items or values, and so on.
    pub(super) shapes: Vec<Shape>,
    pub(super) attributes: Attributes,
}

/// What lenses know about a node besides its shape.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Attributes {
    pub(super) nullable: bool,
    pub(super) keeps_unknown: bool,
    pub(super) keys: Vec<Box<str>>,
    pub(super) union: Option<Union>,
    pub(super) default: Option<Owned>,
}

impl Description {
    pub(super) fn of(structure: &Structure, index: crate::NodeIndex) -> Self {
        let chain = std::iter::successors(Some(index), |at| structure.element(*at));
        let shapes = chain.map(|at| structure.node(at).shape).collect();
        Self { shapes, attributes: Attributes::of(structure.node(index)) }
    }
}

impl Attributes {
    pub(super) fn of(node: &StructureNode) -> Self {
        let StructureNode { nullable, keeps_unknown, keys, union, default, .. } = node;
        Self {
            nullable: *nullable,
            keeps_unknown: *keeps_unknown,
            keys: keys.clone(),
            union: union.clone(),
            default: default.clone(),
        }
    }

    pub(super) fn give_to(self, node: &mut StructureNode) {
        let Self { nullable, keeps_unknown, keys, union, default } = self;
        *node = StructureNode { nullable, keeps_unknown, keys, union, default, ..node.clone() };
    }
}

/// An entry that contradicts those before it.
#[derive(Debug)]
pub(super) struct Fault {
    /// The edit that does; the entry as a whole if there is none.
    pub(super) edit: Option<usize>,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(edit: Option<usize>, message: impl Into<String>) -> Self {
        Self { edit, message: message.into() }
    }

    /// The problem that it is, where the entry and its edits were written.
    pub(super) fn problem(self, entry: Span, edits: &[Span]) -> Problem {
        let span = self.edit.and_then(|edit| edits.get(edit)).copied().unwrap_or(entry);
        problem_at(&wheelwright_findings::rules::LOCK_INCONSISTENT, span, self.message)
            .mend("restore the file from version control, and run `wheelwright lock` again")
    }
}
