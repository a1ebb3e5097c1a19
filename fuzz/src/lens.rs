//! Lenses: the input is `{"versions": [schemas], "changes": {…}, "stored": …, "writes": [[version, document], …]}`, with
//! any stored document, damaged bags and all. Nothing panics, and the laws hold that hold for any stored document.

use wheelwright_document::{Arena, Decode, Span, Spanned, Value, canonical, decode_json_spanned};
use wheelwright_evolve::{
    Declaration, DeclaredVersion, Kind, OlderWrite, Part, VersionIndex, VersionName, parse_changes,
};
use wheelwright_schema::{Root, is_convertible, lower_schema};

/// Reads and writes a stored document through every version, and moves it to every hub.
pub fn lens(input: &[u8]) {
    let arena = Arena::new();
    let Ok(request) = decode_json_spanned(input, &arena, &Decode::default()) else { return };
    let Some(declaration) = declaration(&request) else { return };
    let (Some(kind), _) = Kind::compile(&declaration, None) else { return };
    let Some(stored) = request.get("stored").map(|stored| stored.to_value(&arena)) else { return };
    if stored.as_object().is_none() {
        return;
    }
    let mut stored = stored;
    reads(&kind, stored, &arena);
    for write in request.get("writes").and_then(Spanned::as_array).unwrap_or_default().iter().take(8) {
        let Some([version, document]) = write.as_array() else { continue };
        let position = version.as_scalar().and_then(|number| number.as_number()?.as_i64()).unwrap_or_default();
        let Some(version) = kind.history().indexes().nth(usize::try_from(position).unwrap_or_default()) else {
            continue;
        };
        let document = document.to_value(&arena);
        let shown = kind.get(version, stored, &arena);
        let Ok(normal) = kind.normal_update(version, document, shown, &arena) else { continue };
        if normal.as_object().is_none() {
            continue;
        }
        stored = kind.put(version, normal, Some(stored), Part::Whole, &arena).expect("nothing is refused");
        assert_eq!(told(kind.get(version, stored, &arena)), told(normal), "what is written is read");
        reads(&kind, stored, &arena);
    }
}

/// Writes back what every version shows, and moves what is stored to every hub.
pub(crate) fn reads(kind: &Kind, stored: Value<'_>, arena: &Arena) {
    let arena = &Arena::for_input(arena.allocated_bytes().min(1 << 16));
    let stored = copy(stored, arena);
    for version in kind.history().indexes() {
        let shown = kind.get(version, stored, arena);
        let back = kind.put(version, shown, Some(stored), Part::Whole, arena).expect("nothing is refused");
        assert_eq!(told(back), told(stored), "writing back what was read");
        moves(kind, version, stored, arena);
    }
}

/// What was moved once is as we store it, and then the way there and back is the identity.
fn moves(kind: &Kind, hub: VersionIndex, stored: Value<'_>, arena: &Arena) {
    let arena = &Arena::for_input(arena.allocated_bytes().min(1 << 16));
    let other = kind.lenses_for(hub);
    let stored = copy(stored, arena);
    let there = kind.lenses().rehub(stored, &other, arena);
    let back = other.rehub(there, kind.lenses(), arena);
    let again = kind.lenses().rehub(back, &other, arena);
    assert_eq!(told(again), told(there), "there and back");
    for version in kind.history().indexes() {
        assert_eq!(
            told(other.get(version, there, arena)),
            told(kind.get(version, stored, arena)),
            "another hub shows the same"
        );
    }
}

fn declaration(request: &Spanned<'_>) -> Option<Declaration> {
    let mut declaration = Declaration::new("", "Fuzzed");
    for (position, schema) in request.get("versions")?.as_array()?.iter().take(4).enumerate() {
        let schema = lower_schema(schema).item;
        if !is_convertible(&schema) {
            return None;
        }
        let name = VersionName::new(format!("v{}", position + 1));
        declaration.versions.push(DeclaredVersion::new(name, schema, Root::Value, Span::default()));
    }
    if let Some(changes) = request.get("changes") {
        declaration.steps = parse_changes(changes).0;
        declaration.steps.iter_mut().for_each(|step| step.older_write = None);
    }
    declaration.policies.older_write = OlderWrite::Preserve;
    Some(declaration)
}

/// The document whatever the order of its keys.
pub(crate) fn told(value: Value<'_>) -> String {
    String::from_utf8_lossy(&canonical(value)).into_owned()
}

fn copy<'a>(value: Value<'_>, arena: &'a Arena) -> Value<'a> {
    let bytes = arena.slice(&wheelwright_document::encode(value));
    wheelwright_document::decode(bytes, arena).expect("what was encoded is decoded")
}
