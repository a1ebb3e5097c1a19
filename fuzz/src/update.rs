//! Updates: the input is a line of `schema eval`, `{"schema": …, "old": …, "object": …, "root": …}`, and the laws of
//! ratcheting hold.

use wheelwright_document::{Arena, Decode, Value, decode_json_spanned};
use wheelwright_schema::{ErrorType, Program, Root, Stages, ValidationError, is_convertible, lower_schema};

use crate::admit::reversed;

/// Validates the object as an update of the old one.
pub fn update(input: &[u8]) {
    let arena = Arena::new();
    let Ok(request) = decode_json_spanned(input, &arena, &Decode::default()) else { return };
    let Some(lowered) = request.get("schema").map(lower_schema) else { return };
    let (Some(object), Some(old)) = (request.get("object"), request.get("old")) else { return };
    if !is_convertible(&lowered.item) {
        return;
    }
    let is_resource = request.get("root").and_then(|root| root.as_scalar()?.as_bool()).unwrap_or_default();
    let program = Program::compile(&lowered.item, if is_resource { Root::Resource } else { Root::Value });
    let [object, old] = [object, old].map(|document| document.to_value(&arena));
    let _ = program.admit_update(object, old, &arena);

    let alone = program.run(object, &arena, Stages::VALIDATE).expect("validation alone refuses nothing");
    let update = program.validate_update(object, old, &arena);
    if alone.truncated || update.truncated {
        return;
    }
    let (alone, errors) = (sorted(&alone.errors), sorted(&update.errors));
    assert!(errors.iter().all(|error| alone.binary_search(error).is_ok()), "{errors:?} are not among {alone:?}");
    let turned = program.validate_update(object, reversed(old, &arena), &arena);
    assert_eq!(sorted(&turned.errors), errors, "the order of keys");
    let unrelated = if object.is_null() { Value::Bool(true) } else { Value::Null };
    assert_eq!(sorted(&program.validate_update(object, unrelated, &arena).errors), alone, "an unrelated document");
}

fn sorted(errors: &[ValidationError]) -> Vec<(ErrorType, String)> {
    let mut errors: Vec<_> = errors.iter().map(|error| (error.kind(), error.path().to_string())).collect();
    errors.sort();
    errors
}
