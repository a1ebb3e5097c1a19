//! What several tests need: schemas from JSON.

use wheelwright_document::{Arena, Decode, decode_json_spanned};
use wheelwright_schema::{Schema, lower_schema};

/// Lowers a schema that is well formed.
pub(crate) fn lower(json: &[u8]) -> Schema {
    let arena = Arena::new();
    let limits = Decode { max_bytes: usize::MAX, ..Decode::default() };
    let source = decode_json_spanned(json, &arena, &limits).expect("the schema is JSON");
    let lowered = lower_schema(&source);
    assert!(lowered.problems.is_empty(), "{:?}", lowered.problems);
    lowered.item
}
