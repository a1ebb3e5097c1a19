//! Computed fields: conversions between the spellings of a fact, and derived values, compiled once and run often.
//!
//! Nothing here knows of slots or bags: a [`Converter`] gets the values of the fields on one side, as the version of that
//! side shows them, and gives those of the other side. What it gives fits the schema of the other side, or it fails.

use wheelwright_document::{Arena, Value};
use wheelwright_schema::Problem;

use crate::{Derived, Direction, NodeIndex, Respelled, Structure};

/// Some fields of one version: its structure, and the fields in it. Where a path ends in `[]` or `{}`, the field is the
/// list or map.
#[derive(Clone, Copy)]
pub(crate) struct Side<'s> {
    pub(crate) structure: &'s Structure,
    pub(crate) fields: &'s [NodeIndex],
}

/// What a conversion works on.
pub(crate) struct Exchange<'e, 'a> {
    /// The values of the fields on the side that is left; `None` for what is absent.
    pub(crate) sources: &'e [Option<Value<'a>>],
    /// What the values of that side and of the other were before, if there is a before: what did not change keeps its
    /// spelling, its order and its place.
    pub(crate) old: Option<(&'e [Option<Value<'a>>], &'e [Option<Value<'a>>])>,
    /// The metadata of the document.
    pub(crate) metadata: Option<Value<'a>>,
    /// What a hook keeps in the bag; it may replace it.
    pub(crate) entry: Option<Value<'a>>,
    pub(crate) arena: &'a Arena,
}

/// Why there is no value: what is said about it.
#[derive(Debug)]
pub(crate) struct Failed(pub(crate) String);

/// A respelled fact, ready to be converted either way.
#[derive(Debug)]
pub(crate) struct Converter {}

impl Converter {
    /// Compiles what a step says of a fact, for the fields on both sides.
    pub(crate) fn compile(
        _respelled: &Respelled,
        _from: Side<'_>,
        _to: Side<'_>,
        _hooks: &Hooks,
    ) -> Result<Self, Vec<Problem>> {
        Ok(Self {})
    }

    /// Adds the value of every field on the other side to `results`, in their order. Where it fails, nothing is added.
    pub(crate) fn convert<'a>(
        &'a self,
        _direction: Direction,
        _exchange: &mut Exchange<'_, 'a>,
        _results: &mut Vec<Option<Value<'a>>>,
    ) -> Result<(), Failed> {
        Err(Failed(String::new()))
    }
}

/// A derived field, ready to be computed.
#[derive(Debug)]
pub(crate) struct Deriver {}

impl Deriver {
    /// Compiles a derived field. `source` is the version that is read, `own` the node in it that `self` is: the document,
    /// or the items or values of a list or map; `target` is the derived field in the other version.
    pub(crate) fn compile(
        _derived: &Derived,
        _source: &Structure,
        _own: NodeIndex,
        _target: (&Structure, NodeIndex),
    ) -> Result<Self, Vec<Problem>> {
        Ok(Self {})
    }

    /// The fields right below `self` that the expression reads; `None` if it may read any.
    pub(crate) fn reads(&self) -> Option<&[Box<str>]> {
        None
    }

    /// The value; `None` if an input is absent, or if it gives null.
    pub(crate) fn derive<'a>(
        &'a self,
        _own: Value<'a>,
        _metadata: Option<Value<'a>>,
        _arena: &'a Arena,
    ) -> Result<Option<Value<'a>>, Failed> {
        Ok(None)
    }
}

/// Rust for what expressions cannot say, by name.
#[derive(Debug, Default)]
pub struct Hooks {}
