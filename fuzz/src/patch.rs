//! Patches: the input is `{"target": …, "merge": …, "json": …}`, and another implementation agrees with the results.

use wheelwright_document::{Arena, Decode, JsonPatch, PatchErrorKind, Value, decode, encode, merge_patch};

/// Applies both patches to the target.
pub fn patch(input: &[u8]) {
    let arena = Arena::new();
    let Ok(request) = decode(input, &arena) else { return };
    let Some(target) = request.get("target") else { return };
    if let Some(changes) = request.get("merge") {
        merge(target, changes, &arena);
    }
    if let Some(operations) = request.get("json") {
        apply(target, operations, &arena);
    }
}

fn merge<'a>(target: Value<'a>, changes: Value<'a>, arena: &'a Arena) {
    let merged = merge_patch(target, changes, arena);
    assert_eq!(merge_patch(merged, changes, arena), merged, "merging twice");
    if let (Some(mut theirs), Some(changes), Some(ours)) = (theirs(target), theirs(changes), theirs(merged)) {
        json_patch::merge(&mut theirs, &changes);
        assert_eq!(ours, theirs);
    }
}

fn apply<'a>(target: Value<'a>, operations: Value<'a>, arena: &'a Arena) {
    let ours = JsonPatch::parse(operations).and_then(|patch| patch.apply(target, arena));
    match &ours {
        Ok(patched) => {
            let encoded = encode(*patched);
            let limits = Decode { max_bytes: usize::MAX, ..Decode::default() };
            assert_eq!(limits.decode(&encoded, arena).expect("what is patched is a document").value, *patched);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if is_disputed(operations) {
        return;
    }
    let (Some(mut document), Some(operations)) = (theirs(target), theirs(operations)) else { return };
    let patched = serde_json::from_value::<json_patch::Patch>(operations)
        .ok()
        .and_then(|patch| json_patch::patch_unsafe(&mut document, &patch).ok());
    match (ours, patched) {
        (Ok(ours), Some(())) => assert_eq!(theirs(ours), Some(document)),
        (Err(_), None) => {}
        (Err(error), Some(())) => assert_eq!(error.kind(), PatchErrorKind::LimitExceeded, "{error}"),
        (Ok(ours), None) => panic!("only we made {ours:?} of it"),
    }
}

/// Where the other implementation does not do what RFC 6902 says: numbers are equal only if they are written alike, and
/// the whole document cannot be moved to where it is.
fn is_disputed(operations: Value<'_>) -> bool {
    operations.as_array().unwrap_or_default().iter().any(|operation| {
        let is = |name| operation.get("op").and_then(Value::as_str) == Some(name);
        is("test") || is("move") && operation.get("from").and_then(Value::as_str) == Some("")
    })
}

/// The value as the other implementation has it; `None` if it cannot hold its numbers or nesting.
fn theirs(value: Value<'_>) -> Option<serde_json::Value> {
    serde_json::from_slice(&encode(value)).ok()
}
