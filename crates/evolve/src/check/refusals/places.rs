//! Places in documents: the field that an error is about, and values that are put where a field is.

use wheelwright_document::{Arena, Entry, FieldPath, Owned, Value};

use crate::{NodeIndex, Shape, Step, Structure};

/// The field of an error's path, or the nearest object around it that the structure has.
pub(super) fn node_at(structure: &Structure, path: &FieldPath) -> NodeIndex {
    let root = structure.root();
    if path.is_root() { root } else { descend(structure, root, path.as_str()).0 }
}

/// The node that the most of a path leads to, and how many bytes are left. Keys of maps may have dots in them, so that
/// every end of a key is tried.
fn descend(structure: &Structure, at: NodeIndex, rest: &str) -> (NodeIndex, usize) {
    let below = |child: NodeIndex, rest: &str| descend(structure, child, rest.strip_prefix('.').unwrap_or(rest));
    let ends_name = |rest: &&str| rest.is_empty() || rest.starts_with(['.', '[']);
    let nearest = |found: Vec<(NodeIndex, usize)>| {
        let here = (at, rest.len());
        found.into_iter().min_by_key(|(_, left)| *left).filter(|(_, left)| *left < here.1).unwrap_or(here)
    };
    match structure.node(at).shape {
        Shape::Object => {
            let children = structure.node(at).children.iter();
            let found = children.filter_map(|child| {
                let rest = rest.strip_prefix(structure.node(*child).name()?).filter(ends_name)?;
                Some(below(*child, rest))
            });
            nearest(found.collect())
        }
        Shape::List => {
            let item = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let found = item.zip(structure.element(at)).map(|((_, rest), item)| below(item, rest));
            nearest(found.into_iter().collect())
        }
        Shape::Map => {
            let Some(value) = structure.element(at) else { return (at, rest.len()) };
            let ends = rest.match_indices(['.', '[']).map(|(end, _)| end).chain([rest.len()]);
            nearest(ends.filter(|end| *end > 0).take(8).map(|end| below(value, &rest[end..])).collect())
        }
        Shape::Scalar(_) => (at, rest.len()),
    }
}

/// Whether a document has a value where a field is: in any item of lists and any value of maps.
pub(super) fn has(document: Value<'_>, steps: &[Step]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return !document.is_null() };
    match (step, document) {
        (Step::Items, Value::Array(items)) => items.iter().any(|item| has(*item, rest)),
        (Step::Values, Value::Object(entries)) => entries.iter().any(|entry| has(entry.value, rest)),
        (Step::Field(name), document) => document.get(name).is_some_and(|value| has(value, rest)),
        _ => false,
    }
}

/// A document with another value where a field is: in the first item of lists and the first value of maps. `None` where
/// the document lacks the object around it.
pub(in crate::check) fn placed<'a>(
    document: Value<'a>,
    steps: &'a [Step],
    value: &'a Owned,
    arena: &'a Arena,
) -> Option<Value<'a>> {
    let Some((step, rest)) = steps.split_first() else { return Some(value.share(arena)) };
    match (step, document) {
        (Step::Items, Value::Array(items)) => {
            let mut items = items.to_vec();
            let first = items.first_mut()?;
            *first = placed(*first, rest, value, arena)?;
            Some(Value::Array(arena.slice(&items)))
        }
        (Step::Field(_) | Step::Values, Value::Object(entries)) => {
            let mut entries = entries.to_vec();
            let at = match step {
                Step::Field(name) => entries.iter().position(|entry| entry.key == &**name),
                _ => (!entries.is_empty()).then_some(0),
            };
            match (at, step) {
                (Some(at), _) => entries[at].value = placed(entries[at].value, rest, value, arena)?,
                (None, Step::Field(name)) if rest.is_empty() => {
                    entries.push(Entry { key: name, value: value.share(arena) });
                }
                (None, _) => return None,
            }
            Some(Value::Object(arena.slice(&entries)))
        }
        _ => None,
    }
}

/// A document without what is where a field is: in all items of lists and all values of maps.
pub(super) fn without<'a>(document: Value<'a>, steps: &[Step], arena: &'a Arena) -> Value<'a> {
    let Some((step, rest)) = steps.split_first() else { return document };
    match (step, document) {
        (Step::Items, Value::Array(items)) => {
            let items: Vec<Value<'a>> = items.iter().map(|item| without(*item, rest, arena)).collect();
            Value::Array(arena.slice(&items))
        }
        (Step::Field(_) | Step::Values, Value::Object(entries)) => {
            let is_meant = |entry: &Entry<'_>| match step {
                Step::Field(name) => entry.key == &**name,
                _ => true,
            };
            let kept = entries.iter().filter(|entry| !(rest.is_empty() && is_meant(entry)));
            let changed = |entry: &Entry<'a>| match is_meant(entry) {
                true => Entry { key: entry.key, value: without(entry.value, rest, arena) },
                false => *entry,
            };
            let entries: Vec<Entry<'a>> = kept.map(changed).collect();
            Value::Object(arena.slice(&entries))
        }
        _ => document,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Selector,
        check::{diff::spelled, refusals::bases::laid_over},
        testing::document,
    };

    #[test]
    fn values_are_placed_where_there_is_room_and_taken_out_everywhere() {
        let arena = Arena::new();
        let one = Owned::Number("1".into());
        for (json, path, with, left) in [
            (r#"{"a":{"b":2}}"#, "a.b", Some(r#"{"a":{"b":1}}"#), r#"{"a":{}}"#),
            (r#"{"a":{}}"#, "a.b", Some(r#"{"a":{"b":1}}"#), r#"{"a":{}}"#),
            (r#"{"a":[]}"#, "a[]", None, r#"{"a":[]}"#),
            (r#"{"a":[]}"#, "a[].b", None, r#"{"a":[]}"#),
            (r#"{"a":[{"b":2},{"b":3}]}"#, "a[].b", Some(r#"{"a":[{"b":1},{"b":3}]}"#), r#"{"a":[{},{}]}"#),
            (r#"{"a":{}}"#, "a{}.b", None, r#"{"a":{}}"#),
            (
                r#"{"a":{"k":{},"l":{"b":2}}}"#,
                "a{}.b",
                Some(r#"{"a":{"k":{"b":1},"l":{"b":2}}}"#),
                r#"{"a":{"k":{},"l":{}}}"#,
            ),
            (r#"{}"#, "a.b", None, "{}"),
        ] {
            let steps = Selector::parse(path).unwrap();
            let value = document(json, &arena);
            let found = placed(value, steps.steps(), &one, &arena).map(|value| spelled(&Owned::from(value)));
            assert_eq!(found.as_deref(), with, "{json} {path}");
            assert_eq!(spelled(&Owned::from(without(value, steps.steps(), &arena))), left, "{json} {path}");
        }
    }

    #[test]
    fn what_is_laid_over_a_document_has_its_first_items_and_values() {
        let arena = Arena::new();
        let laid = |base: &str, upper: &str| {
            spelled(&laid_over(&document(base, &arena).into(), &document(upper, &arena).into()))
        };
        assert_eq!(laid(r#"{"a":1,"b":2}"#, r#"{"b":3,"c":4}"#), r#"{"b":3,"c":4,"a":1}"#);
        assert_eq!(laid(r#"[{"a":1},{"b":2}]"#, r#"[{"c":3}]"#), r#"[{"c":3,"a":1},{"b":2}]"#);
        assert_eq!((laid("[]", "[1]"), laid("[1]", "[]"), laid("[1]", "2")), ("[1]".into(), "[]".into(), "2".into()));
    }
}
