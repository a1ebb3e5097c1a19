//! The carry: the input is `{"versions": [schemas], "changes": {…}, "served": …}`, with any annotations that clients could
//! have made up. Nothing panics, and what was read once is carried and read again as it is.

use wheelwright_document::{Arena, Decode, Span, Value, canonical, decode_json_spanned};
use wheelwright_evolve::{Carry, Declaration, DeclaredVersion, Kind, VersionName, parse_changes};
use wheelwright_schema::{Root, is_convertible, lower_schema};

/// Loads a served document, serves it, loads it again, and leads it to every version.
pub fn carry(input: &[u8]) {
    let arena = Arena::new();
    let Ok(request) = decode_json_spanned(input, &arena, &Decode::default()) else { return };
    let mut declaration = Declaration::new("", "Fuzzed");
    let Some(versions) = request.get("versions").and_then(|versions| versions.as_array()) else { return };
    for (position, schema) in versions.iter().take(4).enumerate() {
        let schema = lower_schema(schema).item;
        if !is_convertible(&schema) {
            return;
        }
        let name = VersionName::new(format!("v{}", position + 1));
        declaration.versions.push(DeclaredVersion::new(name, schema, Root::Resource, Span::default()));
    }
    if let Some(changes) = request.get("changes") {
        declaration.steps = parse_changes(changes).0;
    }
    let (Some(kind), _) = Kind::compile(&declaration, None) else { return };
    let Some(served) = request.get("served").map(|served| served.to_value(&arena)) else { return };
    // Every resource has metadata; without it, there is nowhere to carry anything.
    if served.get("metadata").is_none_or(|metadata| metadata.as_object().is_none()) {
        return;
    }
    let lenses: Vec<_> = kind.history().indexes().map(|hub| kind.lenses_for(hub)).collect();
    let carries: Vec<_> = lenses.iter().filter_map(Carry::new).collect();
    for carry in &carries {
        let loaded = carry.load(served, &arena);
        for note in &loaded.notes {
            assert!(!note.to_string().is_empty());
        }
        let Ok(unloaded) = carry.unload(loaded.stored, &arena) else { continue };
        let again = carry.load(unloaded, &arena);
        assert_eq!(told(again.stored), told(loaded.stored), "what was read is carried");
        for other in &carries {
            // That nothing that was served is lost on the way there and back, the laws of the carry say for what it wrote.
            let _converted = carry.convert(served, other, &arena);
        }
    }
}

/// The document whatever the order of its keys.
fn told(value: Value<'_>) -> String {
    String::from_utf8_lossy(&canonical(value)).into_owned()
}
