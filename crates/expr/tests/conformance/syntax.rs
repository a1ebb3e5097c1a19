//! Which parts of the language itself an expression uses, by their signatures.

use std::collections::BTreeSet;

use wheelwright_expr::ast::{Comprehension, Expr, Macro, Node};

/// Adds the signatures of the operators without overloads and of the macros that an expression uses.
pub(crate) fn signatures(expr: &Expr, source: &str, seen: &mut BTreeSet<String>) {
    let mut add = |signature: &str| {
        seen.insert(signature.to_owned());
    };
    let text = &source[expr.at.start as usize..expr.at.end as usize];
    match &expr.node {
        Node::And(_) => add("bool && bool -> bool"),
        Node::Or(_) => add("bool || bool -> bool"),
        Node::Conditional { .. } => add("bool ? A : A -> A"),
        Node::Select { is_optional: true, .. } => add("object.?field -> optional(A)"),
        Node::Select { .. } if text.ends_with('`') => add("object.`field` -> A"),
        Node::Select { .. } => add("object.field -> A"),
        Node::Has { .. } => add("has(object.field) -> bool"),
        Node::List(items) => items.iter().for_each(|(_, is_optional)| match is_optional {
            true => add("[?optional(A), …] -> list(A)"),
            false => add("[A, …] -> list(A)"),
        }),
        Node::Map(entries) => entries.iter().for_each(|(.., is_optional)| match is_optional {
            true => add("{?A: optional(B), …} -> map(A, B)"),
            false => add("{A: B, …} -> map(A, B)"),
        }),
        Node::Comprehension(comprehension) => add(macro_signature(comprehension, text)),
        Node::Bind { .. } => add("cel.bind(a, A, B) -> B"),
        Node::OptionalMap { is_flat: false, .. } => add("optional(A).optMap(a, B) -> optional(B)"),
        Node::OptionalMap { is_flat: true, .. } => add("optional(A).optFlatMap(a, optional(B)) -> optional(B)"),
        _ => {}
    }
    expr.parts().into_iter().for_each(|child| signatures(child, source, seen));
}

fn macro_signature(comprehension: &Comprehension, text: &str) -> &'static str {
    let is_spelled = |name: &str| text[comprehension.range.at.len()..].trim_start_matches(')').starts_with(name);
    let has_condition = comprehension.condition.is_some();
    match (comprehension.kind, comprehension.second.is_some()) {
        (Macro::All, false) => "list(A).all(a, bool) -> bool",
        (Macro::All, true) => "list(A).all(index, a, bool) -> bool",
        (Macro::Exists, false) => "list(A).exists(a, bool) -> bool",
        (Macro::Exists, true) => "list(A).exists(index, a, bool) -> bool",
        (Macro::ExistsOne, false) if is_spelled(".exists_one(") => "list(A).exists_one(a, bool) -> bool",
        (Macro::ExistsOne, false) => "list(A).existsOne(a, bool) -> bool",
        (Macro::ExistsOne, true) => "list(A).existsOne(index, a, bool) -> bool",
        (Macro::Filter, _) => "list(A).filter(a, bool) -> list(A)",
        (Macro::Map, _) if has_condition => "list(A).map(a, bool, B) -> list(B)",
        (Macro::Map, _) => "list(A).map(a, B) -> list(B)",
        (Macro::TransformList, _) if has_condition => "list(A).transformList(index, a, bool, B) -> list(B)",
        (Macro::TransformList, _) => "list(A).transformList(index, a, B) -> list(B)",
        (Macro::TransformMap, _) if has_condition => "map(A, B).transformMap(a, b, bool, C) -> map(A, C)",
        (Macro::TransformMap, _) => "map(A, B).transformMap(a, b, C) -> map(A, C)",
        (Macro::TransformMapEntry, _) if has_condition => {
            "map(A, B).transformMapEntry(a, b, bool, map(C, D)) -> map(C, D)"
        }
        (Macro::TransformMapEntry, _) => "map(A, B).transformMapEntry(a, b, map(C, D)) -> map(C, D)",
        (Macro::SortBy, _) => "list(A).sortBy(a, B) -> list(A)",
    }
}
