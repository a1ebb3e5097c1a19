//! Lists as sets: `sets.contains`, `sets.equivalent`, `sets.intersects`.

use std::collections::HashSet;

use super::{
    Cost, Kind, LIST, Overload,
    compare::{contains, map_key},
    global,
};
use crate::{Failure, evaluate::Evaluator, value::Val};

pub(super) const OVERLOADS: &[Overload] = &[
    global("sets.contains", &[LIST, LIST], Kind::Bool, Cost::Product(1), |evaluator, arguments| {
        Ok(Val::Bool(is_subset(evaluator, arguments[1], arguments[0])?))
    }),
    global("sets.equivalent", &[LIST, LIST], Kind::Bool, Cost::Product(2), |evaluator, arguments| {
        let (a, b) = (arguments[0], arguments[1]);
        Ok(Val::Bool(is_subset(evaluator, a, b)? && is_subset(evaluator, b, a)?))
    }),
    global("sets.intersects", &[LIST, LIST], Kind::Bool, Cost::Product(1), |evaluator, arguments| {
        let mut lookup = Lookup::new(evaluator, arguments[1])?;
        for at in 0..arguments[0].cost_size() as usize {
            let item = evaluator.item(arguments[0], at);
            if lookup.has(evaluator, item)? {
                return Ok(Val::Bool(true));
            }
        }
        Ok(Val::Bool(false))
    }),
];

fn is_subset<'a>(evaluator: &mut Evaluator<'a>, part: Val<'a>, whole: Val<'a>) -> Result<bool, Failure> {
    let mut lookup = Lookup::new(evaluator, whole)?;
    for at in 0..part.cost_size() as usize {
        let item = evaluator.item(part, at);
        if !lookup.has(evaluator, item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Finds items in a list: scalars by a hash, others by looking.
struct Lookup<'a> {
    list: Val<'a>,
    scalars: HashSet<super::MapKey<'a>>,
    /// Whether all items are in `scalars`.
    is_complete: bool,
}

impl<'a> Lookup<'a> {
    fn new(evaluator: &mut Evaluator<'a>, list: Val<'a>) -> Result<Self, Failure> {
        let mut lookup = Self { list, scalars: HashSet::new(), is_complete: true };
        for at in 0..list.cost_size() as usize {
            let item = evaluator.item(list, at);
            evaluator.scanned_text(item)?;
            match map_key(item) {
                Some(key) => _ = lookup.scalars.insert(key),
                None => lookup.is_complete = false,
            }
        }
        Ok(lookup)
    }

    fn has(&mut self, evaluator: &mut Evaluator<'a>, item: Val<'a>) -> Result<bool, Failure> {
        evaluator.scanned_text(item)?;
        match map_key(item) {
            Some(key) if self.scalars.contains(&key) => Ok(true),
            Some(_) if self.is_complete => Ok(false),
            _ => {
                evaluator.charge(self.list.cost_size())?;
                contains(evaluator, self.list, item)
            }
        }
    }
}
