//! Admitting: the input is a line of `schema eval`, `{"schema": …, "object": …, "root": …}`, and the laws of the walk hold.

use wheelwright_document::{Arena, Decode, Entry, Value, canonical, decode_json_spanned};
use wheelwright_schema::{Admitted, ErrorType, Program, Root, Stages, check, is_convertible, lower_schema};

/// Takes the object through the stages, together and one by one.
pub fn admit(input: &[u8]) {
    let arena = Arena::new();
    let Ok(request) = decode_json_spanned(input, &arena, &Decode::default()) else { return };
    let (Some(schema), Some(object)) = (request.get("schema"), request.get("object")) else { return };
    let lowered = lower_schema(schema);
    if !is_convertible(&lowered.item) {
        return;
    }
    let is_resource = request.get("root").and_then(|root| root.as_scalar()?.as_bool()).unwrap_or_default();
    let root = if is_resource { Root::Resource } else { Root::Value };
    let program = Program::compile(&lowered.item, root);
    let object = object.to_value(&arena);
    for stages in [Stages::PRUNE, Stages::DEFAULT, Stages::VALIDATE, Stages::ADMIT] {
        let _ = program.run(object, &arena, stages);
        let _ = program.run(object, &arena, stages.dropping_invalid_metadata());
    }
    // Nothing is promised of schemas that Kubernetes refuses, except that they do no harm.
    let problems = check::check_schema(&lowered.item, root);
    if !lowered.problems.iter().chain(&problems).any(|problem| problem.kind.is_some()) {
        check_laws(&program, object, &arena);
    }
}

fn check_laws<'a>(program: &'a Program, object: Value<'a>, arena: &'a Arena) {
    let Some((pruned, admitted)) = one_walk_does_what_three_do(program, object, arena) else { return };
    let again = program.run(pruned, arena, Stages::PRUNE).expect("pruning refuses nothing");
    assert_eq!((again.value, again.unknown.len()), (pruned, 0), "pruning twice");
    let again = program.run(admitted.value, arena, Stages::DEFAULT).expect("what was admitted is not refused");
    assert_eq!((again.value, again.unknown.len()), (admitted.value, 0), "defaulting twice");
    let other = program.admit(reversed(object, arena), arena).expect("the order of keys does not count");
    assert_eq!(canonical(other.value), canonical(admitted.value), "the order of keys");
    assert_eq!(errors(&other), errors(&admitted), "the order of keys");
}

/// The object pruned, and the object admitted; `None` if it is refused, or too
/// wrong to list all of it.
fn one_walk_does_what_three_do<'a>(
    program: &'a Program,
    object: Value<'a>,
    arena: &'a Arena,
) -> Option<(Value<'a>, Admitted<'a>)> {
    let pruned = program.run(object, arena, Stages::PRUNE).expect("pruning refuses nothing");
    let defaulted = program.run(pruned.value, arena, Stages::DEFAULT);
    let admitted = program.admit(object, arena);
    assert_eq!(defaulted.is_err(), admitted.is_err());
    let (Ok(defaulted), Ok(admitted)) = (defaulted, admitted) else { return None };
    if admitted.truncated {
        return None;
    }
    let validated = program.run(defaulted.value, arena, Stages::VALIDATE).expect("validation alone refuses nothing");
    assert_eq!(admitted.unknown, pruned.unknown);
    assert_eq!(admitted.value, defaulted.value);
    assert_eq!(validated.value, defaulted.value);
    assert_eq!(errors(&admitted), errors(&validated));
    Some((pruned.value, admitted))
}

fn errors(admitted: &Admitted<'_>) -> Vec<(ErrorType, String)> {
    let mut errors: Vec<_> =
        admitted.errors.iter().map(|error| (error.kind(), error.kubernetes_path().to_string())).collect();
    errors.sort();
    errors
}

/// The same with the keys of all objects the other way round.
pub(crate) fn reversed<'a>(value: Value<'a>, arena: &'a Arena) -> Value<'a> {
    match value {
        Value::Array(items) => Value::Array(arena.slice_from(items.iter().map(|item| reversed(*item, arena)))),
        Value::Object(entries) => {
            let entry = |entry: &Entry<'a>| Entry { key: entry.key, value: reversed(entry.value, arena) };
            Value::Object(arena.slice_from(entries.iter().rev().map(entry)))
        }
        other => other,
    }
}
