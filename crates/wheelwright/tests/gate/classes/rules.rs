//! CEL rules.

use serde_json::{Value as Json, json};
use wheelwright_evolve::laws::Random;

use super::{SchemaSeed, Seeded, a_field, push, set, trying, type_of};

pub(super) const CLASSES: &[(&str, SchemaSeed)] = &[
    ("rule added to a scalar", on_scalar),
    ("rule added to an object", on_object),
    ("rule added to a list", on_list),
    ("rule tightened", tightened),
    ("rule dropped", dropped),
    ("rule message changed", reworded),
    ("rule about updates added", transition),
];

const KEYWORD: &str = "x-kubernetes-validations";

fn on_scalar(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let rule = match type_of(node) {
        "string" if node.get("format").is_none() => "self.startsWith('x')",
        "integer" => "self % 7 == 3",
        "boolean" => "self",
        _ => return None,
    };
    push(node, KEYWORD, json!({"rule": rule}));
    trying([json!("abc"), json!(1), json!(false)])
}

fn on_object(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let field = a_field(node, random)?;
    if !field.chars().all(|letter| letter.is_ascii_alphanumeric()) {
        return None;
    }
    push(node, KEYWORD, json!({"rule": format!("!has(self.{field})")}));
    Some(Seeded { field: Some(field), ..Seeded::default() })
}

fn on_list(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if type_of(node) != "array" {
        return None;
    }
    push(node, KEYWORD, json!({"rule": "self.size() != 1"}));
    trying([json!(["a"]), json!([1]), json!([{}])])
}

fn rules(node: &mut Json) -> Option<&mut Vec<Json>> {
    node.get_mut(KEYWORD)?.as_array_mut()
}

fn tightened(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let is_text = type_of(node) == "string";
    let field = a_field(node, random);
    let more = match field {
        _ if is_text => "self == 'only'".to_owned(),
        Some(field) if field.chars().all(|letter| letter.is_ascii_alphanumeric()) => format!("!has(self.{field})"),
        _ => return None,
    };
    let rule = rules(node)?.first_mut()?;
    let text = rule.get("rule")?.as_str()?.to_owned();
    set(rule, "rule", format!("({text}) && {more}"));
    trying([])
}

fn dropped(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    rules(node)?.pop()?;
    trying([])
}

fn reworded(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    set(rules(node)?.first_mut()?, "message", "in other words");
    trying([])
}

fn transition(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !["string", "integer", "boolean"].contains(&type_of(node)) {
        return None;
    }
    push(node, KEYWORD, json!({"rule": "self == oldSelf", "message": "is immutable"}));
    trying([])
}
