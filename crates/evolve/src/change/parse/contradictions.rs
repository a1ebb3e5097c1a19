//! What a step says twice, and what cannot both be true of one field.

use std::collections::HashMap;

use wheelwright_document::{Path, Span};
use wheelwright_findings::rules;

use super::computed::field_of;
use crate::{
    Conversion, Direction, Located, Respelled, Selector, Step, VersionStep,
    reader::{Reader, quoted},
};

/// A step is a set: nothing is said twice in it, and nothing of one field that cannot both be true. A path may be
/// spelled in several ways, so that keys that differ can still be the same.
pub(super) fn find_contradictions(reader: &mut Reader, step: &VersionStep, path: &Path<'_>) {
    find_computed_twice(reader, step, path, Direction::Down);
    find_computed_twice(reader, step, path, Direction::Up);
    let unions = step.unions.iter().map(|union| &union.at);
    let defaults = step.defaults.iter().map(|default| &default.at);
    let storage_defaults = step.storage_defaults.iter().map(|default| &default.at);
    find_repeated(reader, &Path::Child(path, "keys"), step.keys.iter().map(|(at, _)| Field::of(at)));
    find_repeated(reader, &Path::Child(path, "union"), unions.map(Field::of));
    find_repeated(reader, &Path::Child(path, "default"), defaults.map(Field::of));
    find_repeated(reader, &Path::Child(path, "storageDefault"), storage_defaults.map(Field::of));
}

/// Writes down that something is named twice.
pub(super) fn said_twice(reader: &mut Reader, path: &Path<'_>, what: &str, span: Span, first: Span) {
    let message = format!("{what} is named twice, and only one can be meant");
    if let Some(problem) = reader.report(&rules::CONTRADICTION, path, span, message) {
        problem.related.push((first, "first here".to_owned()));
    }
}

/// A field that a step names.
#[derive(Clone, Copy)]
struct Field<'s> {
    steps: &'s [Step],
    span: Span,
    /// Everything in it is computed with it.
    is_whole: bool,
}

impl<'s> Field<'s> {
    fn of(at: &'s Located<Selector>) -> Self {
        Self { steps: at.item.steps(), span: at.span, is_whole: false }
    }

    fn respelled(at: &'s Located<Selector>, with: &Conversion) -> Self {
        // A scalar that moves into an object, or out of it, is no more than a rename of one field in there.
        let is_whole = !matches!(with, Conversion::ObjectWithKey(_));
        Self { steps: field_of(&at.item), span: at.span, is_whole }
    }

    fn shown(&self) -> String {
        quoted(&Selector::from_steps(self.steps.to_vec()).to_string())
    }
}

/// What several changes say of fields of the new version (`Up`) or the one before (`Down`).
fn find_computed_twice(reader: &mut Reader, step: &VersionStep, path: &Path<'_>, direction: Direction) {
    let is_up = direction == Direction::Up;
    let renamed = step.renamed.iter().map(|renamed| Field::of(if is_up { &renamed.to } else { &renamed.from }));
    let renamed: Vec<Field<'_>> = renamed.collect();
    let respelled = step.respelled.iter().flat_map(|Respelled { from, to, with }| {
        let fields = if is_up { to } else { from };
        fields.iter().map(|at| Field::respelled(at, &with.item))
    });
    let carried: Vec<Field<'_>> = renamed.iter().copied().chain(respelled).collect();
    let assessed = if is_up { &step.new } else { &step.removed };
    let derived = step.derived.iter().filter(|derived| derived.direction == direction);
    let derived: Vec<Field<'_>> = derived.map(|derived| Field::of(&derived.at)).collect();
    find_repeated(reader, path, carried.iter().copied().chain(assessed.iter().map(Field::of)));
    find_also_derived(reader, path, &renamed, &derived);
    find_computed_within(reader, path, carried.into_iter().chain(derived).collect());
}

fn find_repeated<'s>(reader: &mut Reader, path: &Path<'_>, said: impl Iterator<Item = Field<'s>>) {
    let mut seen: HashMap<&[Step], Span> = HashMap::new();
    for field in said {
        match seen.get(field.steps) {
            None => {
                seen.insert(field.steps, field.span);
            }
            Some(first) if !reader.is_full() => said_twice(reader, path, &field.shown(), field.span, *first),
            Some(_) => return,
        }
    }
}

/// A field that is new or gone can be derived, and one that has another spelling where that is absent; one that is the
/// same field under another name cannot.
fn find_also_derived(reader: &mut Reader, path: &Path<'_>, renamed: &[Field<'_>], derived: &[Field<'_>]) {
    let path = &Path::Child(path, "derived");
    find_repeated(reader, path, derived.iter().copied());
    let renamed: HashMap<&[Step], Span> = renamed.iter().map(|field| (field.steps, field.span)).collect();
    for field in derived {
        if let Some(first) = renamed.get(field.steps).filter(|_| !reader.is_full()) {
            said_twice(reader, path, &field.shown(), field.span, *first);
        }
    }
}

/// What is in a field that is computed as a whole cannot be carried over on its own.
fn find_computed_within(reader: &mut Reader, path: &Path<'_>, mut fields: Vec<Field<'_>>) {
    fields.sort_by_key(|field| field.steps);
    let mut whole: Option<Field<'_>> = None;
    for field in fields {
        match whole {
            Some(above) if field.steps.starts_with(above.steps) => {
                if field.steps.len() > above.steps.len() && !reader.is_full() {
                    let message = format!("{} is computed as a whole, with {} in it", above.shown(), field.shown());
                    if let Some(problem) = reader.report(&rules::CONTRADICTION, path, field.span, message) {
                        problem.related.push((above.span, "the whole".to_owned()));
                    }
                }
            }
            _ => whole = field.is_whole.then_some(field),
        }
    }
}
