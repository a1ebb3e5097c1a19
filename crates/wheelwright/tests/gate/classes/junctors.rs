//! `allOf`, `anyOf`, `oneOf` and `not`.

use serde_json::{Value as Json, json};
use wheelwright_evolve::laws::Random;

use super::{SchemaSeed, Seeded, field_names, push, set, trying, type_of};

pub(super) const CLASSES: &[(&str, SchemaSeed)] = &[
    ("not added", not),
    ("not of a field added", not_field),
    ("allOf added", all_of),
    ("anyOf added", any_of),
    ("oneOf added", one_of),
    ("oneOf member dropped", member_dropped),
    ("anyOf member added", member_added),
];

fn not(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if type_of(node) != "string" || node.get("not").is_some() || node.get("enum").is_some() {
        return None;
    }
    set(node, "not", json!({"pattern": "^a"}));
    trying([json!("a"), json!("abc")])
}

fn not_field(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let field = random.pick(&field_names(node))?.clone();
    if node.get("not").is_some() {
        return None;
    }
    set(node, "not", json!({"required": [field]}));
    Some(Seeded { field: Some(field), ..Seeded::default() })
}

fn all_of(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let part = match type_of(node) {
        "string" if node.get("enum").is_none() => json!({"maxLength": 2}),
        "integer" => json!({"maximum": 3}),
        "array" => json!({"maxItems": 1}),
        _ => return None,
    };
    push(node, "allOf", part);
    trying([json!("abcd"), json!(10), json!(["a", "b"])])
}

fn any_of(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    if node.get("anyOf").is_some() {
        return None;
    }
    let field = random.pick(&field_names(node))?.clone();
    set(node, "anyOf", json!([{"required": [field]}]));
    Some(Seeded { without: vec![field], ..Seeded::default() })
}

fn one_of(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let mut names = field_names(node);
    if node.get("oneOf").is_some() || names.len() < 2 {
        return None;
    }
    random.shuffle(&mut names);
    set(node, "oneOf", json!([{"required": [names[0]]}, {"required": [names[1]]}]));
    Some(Seeded { without: names, ..Seeded::default() })
}

fn member_dropped(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let members = node.get_mut("oneOf")?.as_array_mut().filter(|members| members.len() > 1)?;
    let gone = members.remove(random.below(members.len()));
    let field = gone.get("required").and_then(|names| names.get(0)?.as_str());
    Some(Seeded { field: field.map(str::to_owned), ..Seeded::default() })
}

fn member_added(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    node.get_mut("anyOf")?.as_array_mut()?.push(json!({"maxProperties": 1000}));
    trying([])
}
