//! Semantic versions.

use std::cmp::Ordering;

use wheelwright_text::SemanticVersion;

use super::{Answer, Cost, Kind, Overload, compare::compare_versions, global, member, strings::text_at};
use crate::{Failure, evaluate::Evaluator, value::Val};

const ONE: Cost = Cost::Fixed(1);
const TRAVERSAL: Cost = Cost::Traversal(1);

pub(super) const OVERLOADS: &[Overload] = &[
    global("semver", &[Kind::String], Kind::Semver, TRAVERSAL, semver),
    global("semver", &[Kind::String, Kind::Bool], Kind::Semver, TRAVERSAL, semver),
    global("isSemver", &[Kind::String], Kind::Bool, TRAVERSAL, is_semver),
    global("isSemver", &[Kind::String, Kind::Bool], Kind::Bool, TRAVERSAL, is_semver),
    member("major", &[Kind::Semver], Kind::Int, ONE, |_, arguments| Ok(Val::Int(version_at(arguments, 0)?.major()))),
    member("minor", &[Kind::Semver], Kind::Int, ONE, |_, arguments| Ok(Val::Int(version_at(arguments, 0)?.minor()))),
    member("patch", &[Kind::Semver], Kind::Int, ONE, |_, arguments| Ok(Val::Int(version_at(arguments, 0)?.patch()))),
    member("isGreaterThan", &[Kind::Semver, Kind::Semver], Kind::Bool, ONE, |evaluator, arguments| {
        Ok(Val::Bool(order(evaluator, arguments)?.is_gt()))
    }),
    member("isLessThan", &[Kind::Semver, Kind::Semver], Kind::Bool, ONE, |evaluator, arguments| {
        Ok(Val::Bool(order(evaluator, arguments)?.is_lt()))
    }),
    member("compareTo", &[Kind::Semver, Kind::Semver], Kind::Int, ONE, |evaluator, arguments| {
        Ok(Val::Int(order(evaluator, arguments)? as i64))
    }),
];

fn read<'a>(arguments: &[Val<'a>]) -> Result<Option<SemanticVersion<'a>>, Failure> {
    let text = text_at(arguments, 0)?;
    Ok(match arguments.get(1) {
        Some(Val::Bool(true)) => SemanticVersion::parse_normalized(text),
        _ => SemanticVersion::parse(text),
    })
}

fn semver<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    match read(arguments)? {
        Some(version) => Ok(Val::Semver(&evaluator.arena.slice(&[version])[0])),
        None => Err(Failure::unreadable(text_at(arguments, 0)?, "semantic version")),
    }
}

fn is_semver<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    Ok(Val::Bool(read(arguments)?.is_some()))
}

fn order<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Result<Ordering, Failure> {
    compare_versions(evaluator, version_at(arguments, 0)?, version_at(arguments, 1)?)
}

fn version_at<'a>(arguments: &[Val<'a>], at: usize) -> Result<&'a SemanticVersion<'a>, Failure> {
    match arguments[at] {
        Val::Semver(version) => Ok(version),
        _ => Err(Failure::no_such_overload("semver")),
    }
}
