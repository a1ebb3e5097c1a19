//! What a lock holds.

use wheelwright_document::{Owned, Span};
use wheelwright_findings::rules;

use super::fingerprint::Fingerprint;
use crate::{
    Declaration, Derived, History, KindName, Respelled, Selector, Shape, Structure, StructureNode, Union, VersionName,
    Writers, kind_name::once_each, problem::problem_at,
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
    /// The name that it was locked under first, and by which its lines are found.
    pub(super) title: KindName,
    /// All that it had, the one of today last.
    names: Vec<KindName>,
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

    /// A kind, if it is locked, by any of the names that it had.
    pub fn kind(&self, group: &str, kind: &str) -> Option<&LockedKind> {
        self.kinds.iter().find(|locked| locked.is_named(group, kind))
    }

    /// What is locked of a declared kind: under its name, or under one that it had before.
    pub fn locked(&self, declaration: &Declaration) -> Option<&LockedKind> {
        self.position_of(declaration).map(|position| &self.kinds[position])
    }

    /// What is wrong with a declared kind if the lock has one of its names for another kind.
    pub fn taken_name(&self, declaration: &Declaration) -> Option<Problem> {
        let own = self.locked(declaration);
        let is_other = |locked: &&LockedKind| own.is_none_or(|own| own.title != locked.title);
        let mut others = self.kinds.iter().filter(is_other);
        let span_of = |name: &KindName| {
            let was = declaration.was.iter().find(|was| was.item == *name);
            was.map_or(Span::default(), |was| was.span)
        };
        let (name, other) = others.find_map(|other| {
            declaration.names().find(|name| other.names.contains(name)).map(|name| (name, other.name()))
        })?;
        let message = match name == *other {
            true => format!("{name} is locked as a kind of its own, and cannot become {}", declaration.name()),
            false => format!("{name} is locked as a name that {other} had"),
        };
        let problem = problem_at(&rules::KIND_NAME_TAKEN, span_of(&name), message);
        Some(match name == declaration.name() {
            true => {
                problem.mend(format!("add `was` with {} if it is that kind, else give it another name", other.kind))
            }
            false => problem,
        })
    }

    /// The versions and fields of a kind, as [`History::derive`] continues them.
    pub fn history(&self, group: &str, kind: &str) -> Option<History> {
        self.kind(group, kind).map(|kind| kind.history.clone())
    }

    /// Where a declared kind is.
    pub(super) fn position_of(&self, declaration: &Declaration) -> Option<usize> {
        let own = declaration.name();
        let today = self.kinds.iter().position(|locked| *locked.name() == own);
        let is_former = |locked: &LockedKind| declaration.was.iter().any(|was| locked.names.contains(&was.item));
        today.or_else(|| self.kinds.iter().position(is_former))
    }

    /// Puts a kind where it belongs.
    pub(super) fn insert(&mut self, kind: LockedKind) {
        let position = self.kinds.partition_point(|locked| locked.title < kind.title);
        self.kinds.insert(position, kind);
    }
}

impl LockedKind {
    pub(super) fn new(title: KindName, hub: VersionName, entries: Vec<Entry>, history: History) -> Self {
        let of_versions = history.versions.iter().flat_map(|version| version.published_as.iter().cloned());
        let names = once_each([title.clone()].into_iter().chain(of_versions));
        Self { title, names, hub, entries, history }
    }

    /// The name of the kind: that of its newest version.
    pub fn name(&self) -> &KindName {
        self.names.last().unwrap_or(&self.title)
    }

    pub(super) fn is_named(&self, group: &str, kind: &str) -> bool {
        self.names.iter().any(|name| *name.group == *group && *name.kind == *kind)
    }

    /// All names that the kind had, the one of today last.
    pub fn names(&self) -> &[KindName] {
        &self.names
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

/// The name of a kind, for messages.
pub(super) fn full_name(name: &KindName) -> String {
    if name.group.is_empty() { name.kind.to_string() } else { format!("{}/{}", name.group, name.kind) }
}

/// A version that was locked, or what it gained afterwards.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Entry {
    pub(super) version: VersionName,
    /// The name of the kind that the version is published under from now on; none if that is the first one, or for what a
    /// version gained, the one that it has.
    pub(super) published_as: Option<KindName>,
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
        problem_at(&rules::LOCK_INCONSISTENT, span, self.message)
            .mend("restore the file from version control, and run `wheelwright lock` again")
    }
}
