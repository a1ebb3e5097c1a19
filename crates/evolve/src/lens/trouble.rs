//! What could not be computed: never an error, since nothing is lost by it, but somebody may want to know.

use std::{cell::RefCell, rc::Rc};

use wheelwright_document::Span;

use crate::{
    Conversion, Direction, Located, Respelled, Selector, VersionIndex,
    compute::Failed,
    link::{Derivation, Link},
};

/// A field that a version does not show, although it is there in another spelling or could have been derived: computing it
/// failed. What it would have been computed from is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Trouble {
    /// The field, as the version that lacks it calls it.
    pub field: String,
    /// The version that lacks it.
    pub version: VersionIndex,
    /// The version whose changes say how it is computed.
    pub step: VersionIndex,
    /// Where they say so; nowhere in particular if only the lock remembers it.
    pub span: Span,
    /// Why it failed.
    pub message: String,
}

impl Trouble {
    /// Whether it is about what a step says of a fact.
    pub(crate) fn is_of(&self, step: VersionIndex, respelled: &Respelled) -> bool {
        let fields = if self.version == step { &respelled.to } else { &respelled.from };
        self.step == step && self.field == names(fields)
    }
}

/// How many are told of: those that follow mostly say the same.
const LIMIT: usize = 100;

/// Whether there may have been others, of which nothing was told.
pub(crate) fn may_be_more(told: &[Trouble]) -> bool {
    told.len() >= LIMIT
}

/// Someone who wants to know what could not be computed. By default nobody does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Troubles(Option<Rc<RefCell<Vec<Trouble>>>>);

impl Troubles {
    pub(crate) fn listening() -> Self {
        Self(Some(Rc::default()))
    }

    pub(crate) fn are_heard(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn found(&self) -> Vec<Trouble> {
        self.0.as_ref().map(|found| found.take()).unwrap_or_default()
    }

    #[cold]
    pub(crate) fn respelled(&self, link: &Link, direction: Direction, failed: Failed) {
        let (fields, version) = match direction {
            Direction::Up => (&link.respelled.to, link.version),
            Direction::Down => (&link.respelled.from, link.before),
        };
        let (field, step, span) = (names(fields), link.version, said_at(&link.respelled.with, direction));
        self.push(Trouble { field, version, step, span, message: failed.0 });
    }

    #[cold]
    pub(crate) fn derived(&self, derivation: &Derivation, failed: Failed) {
        let field = derivation.derived.at.item.to_string();
        let (version, step, span) = (derivation.target, derivation.version, derivation.derived.expression.span);
        self.push(Trouble { field, version, step, span, message: failed.0 });
    }

    fn push(&self, trouble: Trouble) {
        let Some(found) = &self.0 else { return };
        let mut found = found.borrow_mut();
        if found.len() < LIMIT && !found.contains(&trouble) {
            found.push(trouble);
        }
    }
}

fn names(fields: &[Located<Selector>]) -> String {
    fields.iter().map(|at| at.item.to_string()).collect::<Vec<_>>().join(", ")
}

/// Where a change says how it goes one way: of several expressions, where they begin.
fn said_at(with: &Located<Conversion>, direction: Direction) -> Span {
    let expression = match (with.item.unclamped(), direction) {
        (Conversion::Expression { up, .. }, Direction::Up) => Some(up),
        (Conversion::Expression { down, .. }, Direction::Down) => Some(down),
        (Conversion::Expressions { up, .. }, Direction::Up) => up.first(),
        (Conversion::Expressions { down, .. }, Direction::Down) => down.first(),
        _ => None,
    };
    expression.map_or(with.span, |expression| expression.span)
}
