//! Patterns, with Go's syntax and meaning.

use wheelwright_text::{Pattern, Translated};

use super::{Answer, Cost, Kind, Overload, TEXTS, global, member};
use crate::{Failure, code::Call, evaluate::Evaluator, failure::excerpt, value::Val};

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
    Ok(Val::Bool(pattern_of(evaluator, pattern, text)?.is_match(text)))
}

fn find<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let (text, pattern) = texts(arguments)?;
    Ok(first(pattern_of(evaluator, pattern, text)?, text))
}

fn find_all<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let (text, pattern) = texts(arguments)?;
    let limit = limit(arguments)?;
    let found: Vec<_> = all(pattern_of(evaluator, pattern, text)?, text, limit);
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

/// A pattern that is not a constant, in a program that was made for it.
pub(crate) struct Dynamic<'a> {
    go: &'a str,
    /// How many states the program has.
    size: usize,
    compiled: Result<Pattern, Failure>,
}

/// A pattern that is not a constant, compiled unless it is one of the last few, to be run over a text.
fn pattern_of<'e, 'a>(evaluator: &'e mut Evaluator<'a>, go: &'a str, text: &str) -> Result<&'e Pattern, Failure> {
    const KEPT: usize = 8;
    let at = match evaluator.memory().patterns.iter().position(|known| known.go == go) {
        Some(at) => at,
        None => {
            let pattern = compile(evaluator, go)?;
            let patterns = &mut evaluator.memory().patterns;
            patterns.truncate(KEPT - 1);
            patterns.push_front(pattern);
            0
        }
    };
    // Kubernetes goes by the length of a pattern, but a short one may have a large program.
    let states = evaluator.memory().patterns[at].size as u64 / 10;
    evaluator.charge(states.saturating_mul(text.len() as u64 / 100))?;
    evaluator.memory().patterns[at].compiled.as_ref().map_err(Clone::clone)
}

/// Compiling costs far more than matching, and more the larger the program gets.
fn compile<'a>(evaluator: &mut Evaluator<'a>, go: &'a str) -> Result<Dynamic<'a>, Failure> {
    evaluator.charge(1_000 + 10 * go.len() as u64)?;
    let translated = Translated::from_go(go);
    let size = translated.as_ref().map_or(0, Translated::size);
    evaluator.charge(size as u64)?;
    let compiled = translated.and_then(|translated| translated.compile_small(go)).map_err(|error| {
        Failure::other(format!("the pattern `{}` cannot be used: {}", excerpt(go), excerpt(error.reason())))
    });
    Ok(Dynamic { go, size, compiled })
}

impl<'a> Evaluator<'a> {
    /// A call whose pattern is a constant.
    pub(crate) fn call_with_pattern(&mut self, call: &Call, pattern: &Pattern, arguments: &[Val<'a>]) -> Answer<'a> {
        let Val::String(text) = arguments[0] else { return Err(Failure::no_such_overload(&call.name)) };
        Cost::Pattern.charge(self, arguments, 0)?;
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
