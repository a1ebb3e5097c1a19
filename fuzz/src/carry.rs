//! The carry: the input is `{"versions": [schemas], "changes": {…}, "served": …}`, with any annotations that clients could
//! have made up. Nothing panics, and what was read once is carried and read again as it is.

use wheelwright_document::{Arena, Decode, Entry, Span, Value, canonical, decode_json_spanned};
use wheelwright_evolve::{CARRY_PREFIX, Carry, Declaration, DeclaredVersion, Kind, VersionName, parse_changes};
use wheelwright_schema::{Root, Stages, is_convertible, lower_schema};

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
    // Every resource has metadata; without it, there is nowhere to carry anything. An API server leaves out annotations
    // that are null or empty.
    let Some(metadata) = served.get("metadata").filter(|metadata| metadata.as_object().is_some()) else { return };
    if metadata.get("annotations").is_some_and(|annotations| annotations.as_object().is_none_or(<[_]>::is_empty)) {
        return;
    }
    let lenses: Vec<_> = kind.history().indexes().map(|hub| kind.lenses_for(hub)).collect();
    let carries: Vec<_> = lenses.iter().filter_map(Carry::new).collect();
    for (carry, lenses) in carries.iter().zip(&lenses) {
        reload(carry, served, false, &arena);
        let program = kind.program(lenses.hub());
        if let Some(Ok(pruned)) = program.map(|program| program.run(served, &arena, Stages::DEFAULT)) {
            reload(carry, pruned.value, true, &arena);
        }
        for other in &carries {
            // That nothing that was served is lost on the way there and back, the laws of the carry say for what it wrote.
            let _converted = carry.convert(served, other, &arena);
        }
    }
}

/// Loads a document, serves it and loads it again. API servers prune what they serve: of a document that nobody pruned, items
/// may have lost the keys by which annotations find them.
fn reload<'a>(carry: &'a Carry<'_>, served: Value<'a>, is_pruned: bool, arena: &'a Arena) {
    let loaded = carry.load(served, arena);
    for note in &loaded.notes {
        assert!(!note.to_string().is_empty());
    }
    let Ok(unloaded) = carry.unload(loaded.stored, arena) else { return };
    let again = carry.load(unloaded, arena);
    let [again, loaded] = [again.stored, loaded.stored].map(|stored| told(stored, is_pruned, arena));
    assert_eq!(again, loaded, "what was read is carried");
}

/// The document whatever the order of its keys, without what says nothing by itself: what the items of lists looked like.
fn told<'a>(stored: Value<'a>, with_others: bool, arena: &'a Arena) -> String {
    let is_told = |entry: &&Entry<'a>| {
        let is_look = entry.value.as_str().unwrap_or_default().contains(r#""items":"#);
        !entry.key.starts_with(CARRY_PREFIX) || with_others && !is_look
    };
    let of_others = |annotations: Value<'a>| match annotations {
        Value::Object(all) => Value::Object(arena.slice(&all.iter().filter(is_told).copied().collect::<Vec<_>>())),
        other => other,
    };
    let metadata = |metadata: Value<'a>| {
        let Value::Object(entries) = changed(metadata, "annotations", of_others, arena) else { return metadata };
        let is_left = |entry: &&Entry<'a>| entry.value.as_object().is_none_or(|all| !all.is_empty());
        Value::Object(arena.slice(&entries.iter().filter(is_left).copied().collect::<Vec<_>>()))
    };
    let stored = changed(stored, "metadata", metadata, arena);
    String::from_utf8_lossy(&canonical(stored)).into_owned()
}

/// An object with another value of a field, if it has that.
fn changed<'a>(object: Value<'a>, field: &str, change: impl Fn(Value<'a>) -> Value<'a>, arena: &'a Arena) -> Value<'a> {
    let Value::Object(entries) = object else { return object };
    let value = |entry: &Entry<'a>| if entry.key == field { change(entry.value) } else { entry.value };
    let entries: Vec<_> = entries.iter().map(|entry| Entry { key: entry.key, value: value(entry) }).collect();
    Value::Object(arena.slice(&entries))
}
