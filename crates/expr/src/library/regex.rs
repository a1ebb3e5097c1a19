//! Patterns, with Go's syntax and meaning.

use wheelwright_text::Pattern;

use super::{Answer, Cost, Kind, Overload, TEXTS, global, member};
use crate::{Failure, code::Call, evaluate::Evaluator, value::Val};

pub(super) const OVERLOADS: &[Overload] = &[
    member("matches", &[Kind::String, Kind::String], Kind::Bool, Cost::Pattern, matches),
    global("matches", &[Kind::String, Kind::String], Kind::Bool, Cost::Pattern, matches),
    member("find", &[Kind::String, Kind::String], Kind::String, Cost::Pattern, find),
    member("findAll", &[Kind::String, Kind::String], TEXTS, Cost::Pattern, find_all),
    member("findAll", &[Kind::String, Kind::String, Kind::Int], TEXTS, Cost::Pattern, find_all),
];

fn texts<'a>(arguments: &[Val<'a>]) -> Result<(&'a str, &'a str), Failure> {
    match (arguments[0], arguments[1]) {
        (Val::String(text), Val::String(pattern)) => Ok((text, pattern)),
        _ => Err(Failure::no_such_overload("matches")),
    }
}

fn matches<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let (text, pattern) = texts(arguments)?;
    Ok(Val::Bool(pattern_of(evaluator, pattern)?.is_match(text)))
}

fn find<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let (text, pattern) = texts(arguments)?;
    Ok(first(pattern_of(evaluator, pattern)?, text))
}

fn find_all<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let (text, pattern) = texts(arguments)?;
    let limit = limit(arguments)?;
    let found: Vec<_> = all(pattern_of(evaluator, pattern)?, text, limit);
    evaluator.made(found.len())?;
    Ok(Val::List(evaluator.arena.slice(&found)))
}

fn first<'a>(pattern: &Pattern, text: &'a str) -> Val<'a> {
    Val::String(pattern.find(text).unwrap_or_default())
}

fn all<'a>(pattern: &Pattern, text: &'a str, limit: usize) -> Vec<Val<'a>> {
    pattern.find_all(text).take(limit).map(Val::String).collect()
}

/// How many matches are wanted; all, if the number is below zero.
fn limit(arguments: &[Val<'_>]) -> Result<usize, Failure> {
    match arguments.get(2) {
        None => Ok(usize::MAX),
        Some(Val::Int(limit)) => Ok(usize::try_from(*limit).unwrap_or(usize::MAX)),
        Some(_) => Err(Failure::no_such_overload("findAll")),
    }
}

/// A pattern that is not a constant, compiled when it is first used.
fn pattern_of<'e, 'a>(evaluator: &'e mut Evaluator<'a>, pattern: &'a str) -> Result<&'e Pattern, Failure> {
    if !evaluator.patterns.contains_key(pattern) {
        // Compiling costs far more than matching.
        evaluator.charge(1_000 + 10 * pattern.len() as u64)?;
        let compiled = Pattern::from_go(pattern).map_err(|error| Failure::other(error.to_string()));
        evaluator.patterns.insert(pattern, compiled);
    }
    evaluator.patterns[pattern].as_ref().map_err(Clone::clone)
}

impl<'a> Evaluator<'a> {
    /// A call whose pattern is a constant.
    pub(crate) fn call_with_pattern(&mut self, call: &Call, pattern: &Pattern, arguments: &[Val<'a>]) -> Answer<'a> {
        let Val::String(text) = arguments[0] else { return Err(Failure::no_such_overload(&call.name)) };
        self.charge(Cost::Pattern.of(self, arguments))?;
        Ok(match &*call.name {
            "matches" => Val::Bool(pattern.is_match(text)),
            "find" => first(pattern, text),
            _ => {
                let found = all(pattern, text, limit(arguments)?);
                self.made(found.len())?;
                Val::List(self.arena.slice(&found))
            }
        })
    }
}
