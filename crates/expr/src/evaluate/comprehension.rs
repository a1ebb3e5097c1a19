//! The macros that go through a list or a map.

use super::{Evaluator, MapBuilder};
use crate::{
    Failure,
    ast::Macro,
    code::{Code, Comprehension},
    library::{Answer, sort_by},
    shape::ShapeKind,
    value::Val,
};

/// What asking whether to go on costs, before every step: `@not_strictly_false(result)`.
const ALL_CONDITION: u64 = 2;
/// The same: `@not_strictly_false(!result)`.
const EXISTS_CONDITION: u64 = 3;

/// What a comprehension has come to; its macro says which part is used.
#[derive(Default)]
struct Progress<'a> {
    failure: Option<Failure>,
    count: usize,
    list: Vec<Val<'a>>,
    map: MapBuilder<'a>,
    /// Keys, and the items that they belong to.
    keyed: Vec<(Val<'a>, Val<'a>)>,
}

impl<'a> Evaluator<'a> {
    #[inline(never)]
    pub(super) fn comprehension(&mut self, comprehension: &'a Comprehension) -> Answer<'a> {
        let range = self.value(&comprehension.range)?;
        let mut progress = Progress::default();
        let length = match range {
            Val::Items(items, _) => items.len(),
            Val::List(items) => items.len(),
            Val::Fields(entries, _) => entries.len(),
            Val::Map(entries) => entries.len(),
            _ => return Err(Failure::no_such_overload("comprehension")),
        };
        for at in 0..length {
            let (first, second) = self.variables(range, at, comprehension.has_second);
            let Some(first) = first else {
                self.work(1)?;
                continue;
            };
            let depth = self.stack.len();
            self.stack.push(first);
            self.stack.extend(second);
            let before = self.budget;
            let finished = self.step(comprehension, first, &mut progress);
            self.stack.truncate(depth);
            if before == self.budget {
                // Constants cost nothing, but going on does.
                self.work(1)?;
            }
            if let Some(result) = finished? {
                // The next step finds that the result is known, and that is the result.
                let is_last = at + 1 == length;
                let found = if comprehension.kind == Macro::All { ALL_CONDITION } else { EXISTS_CONDITION };
                self.charge(if is_last { 1 } else { found + 1 })?;
                return Ok(result);
            }
        }
        self.charge(if comprehension.kind == Macro::ExistsOne { 2 } else { 1 })?;
        self.finish(comprehension.kind, progress)
    }

    /// The variables of one step; none for a field that expressions do not know.
    #[inline]
    fn variables(&self, range: Val<'a>, at: usize, has_second: bool) -> (Option<Val<'a>>, Option<Val<'a>>) {
        match range {
            Val::Items(..) | Val::List(_) if has_second => (Some(Val::Int(at as i64)), Some(self.item(range, at))),
            Val::Items(..) | Val::List(_) => (Some(self.item(range, at)), None),
            Val::Map(entries) => (Some(entries[at].0), has_second.then_some(entries[at].1)),
            Val::Fields(entries, id) => {
                let entry = &entries[at];
                let shape = match &self.shapes.get(id).kind {
                    ShapeKind::Map { values } => *values,
                    ShapeKind::Object(object) => match object.declared(entry.key) {
                        Some(shape) => shape,
                        None => return (None, None),
                    },
                    _ => id,
                };
                (Some(Val::String(entry.key)), has_second.then(|| self.read(&entry.value, shape)))
            }
            _ => (None, None),
        }
    }

    /// One step; gives the result if the rest does not matter.
    #[inline]
    fn step(
        &mut self,
        comprehension: &'a Comprehension,
        first: Val<'a>,
        progress: &mut Progress<'a>,
    ) -> Result<Option<Val<'a>>, Failure> {
        let Comprehension { kind, condition, transform, .. } = comprehension;
        // What the expansion of the macro does in a step besides the parts that were written.
        self.charge(match kind {
            Macro::All => ALL_CONDITION + 1,
            Macro::Exists => EXISTS_CONDITION + 1,
            _ => 0,
        })?;
        let holds = match condition {
            None => true,
            Some(condition) => match (self.value(condition), kind) {
                (Ok(Val::Bool(holds)), _) => holds,
                (Ok(_), Macro::All | Macro::Exists) => {
                    progress.failure.get_or_insert_with(|| Failure::no_such_overload("condition"));
                    return Ok(None);
                }
                (Err(error), Macro::All | Macro::Exists) if !error.is_final() => {
                    progress.failure.get_or_insert(error);
                    return Ok(None);
                }
                (Ok(_), _) => return Err(Failure::no_such_overload("condition")),
                (Err(error), _) => return Err(error),
            },
        };
        match (kind, transform) {
            (Macro::All, _) if !holds => return Ok(Some(Val::Bool(false))),
            (Macro::Exists, _) if holds => return Ok(Some(Val::Bool(true))),
            (_, _) if !holds => {}
            (Macro::ExistsOne, _) => {
                self.charge(2)?;
                progress.count += 1;
            }
            (Macro::Filter, _) => {
                self.charge(13)?;
                progress.list.push(super::valid(first)?);
            }
            (Macro::Map | Macro::TransformList, Some(transform)) => {
                self.charge(12)?;
                let value = self.value(transform)?;
                progress.list.push(value);
            }
            (Macro::TransformMap, Some(transform)) => {
                self.charge(3)?;
                self.scanned_text(first)?;
                let value = self.value(transform)?;
                progress.map.insert(first, value)?;
            }
            (Macro::TransformMapEntry, Some(transform)) => {
                self.charge(2)?;
                self.insert_entries(transform, progress)?;
            }
            (Macro::SortBy, Some(key)) => {
                let key = self.value(key)?;
                progress.keyed.push((key, super::valid(first)?));
            }
            _ => {}
        }
        Ok(None)
    }

    fn insert_entries(&mut self, transform: &'a Code, progress: &mut Progress<'a>) -> Result<(), Failure> {
        let Val::Map(entries) = self.value(transform)? else {
            return Err(Failure::no_such_overload("transformMapEntry"));
        };
        self.work(entries.len() as u64)?;
        for (key, value) in entries {
            self.scanned_text(*key)?;
            if progress.map.has(*key) {
                return Err(Failure::other("insert failed: the key is in the map already"));
            }
            progress.map.insert(*key, *value)?;
        }
        Ok(())
    }

    fn finish(&mut self, kind: Macro, progress: Progress<'a>) -> Answer<'a> {
        if let Some(failure) = progress.failure {
            return Err(failure);
        }
        Ok(match kind {
            Macro::All => Val::Bool(true),
            Macro::Exists => Val::Bool(false),
            Macro::ExistsOne => Val::Bool(progress.count == 1),
            Macro::Filter | Macro::Map | Macro::TransformList => Val::List(self.arena.slice(&progress.list)),
            Macro::TransformMap | Macro::TransformMapEntry => progress.map.finish(self.arena),
            Macro::SortBy => return sort_by(self, progress.keyed),
        })
    }
}
