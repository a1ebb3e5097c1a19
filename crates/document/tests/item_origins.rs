//! The item provenance of JSON patches agrees with a naive reference, in which every list and list item carries the
//! pointer it had in the old document.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::{Value as Json, json};
use wheelwright_document::{Arena, ItemOrigins, JsonPatch, Value, decode};

/// A value whose lists and items know their pointers in the old document.
#[derive(Clone, Debug)]
enum Tagged {
    Scalar(Json),
    Object(BTreeMap<String, Tagged>),
    List(Option<String>, Vec<(Option<String>, Tagged)>),
}

impl Tagged {
    fn of(value: &Json, pointer: Option<String>) -> Self {
        let below = |token: &str| pointer.as_ref().map(|pointer| format!("{pointer}/{token}"));
        match value {
            Json::Object(fields) => {
                Self::Object(fields.iter().map(|(key, value)| (key.clone(), Self::of(value, below(key)))).collect())
            }
            Json::Array(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(at, item)| (below(&at.to_string()), Self::of(item, below(&at.to_string()))));
                Self::List(pointer.clone(), items.collect())
            }
            scalar => Self::Scalar(scalar.clone()),
        }
    }

    fn plain(&self) -> Json {
        match self {
            Self::Scalar(scalar) => scalar.clone(),
            Self::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), value.plain())).collect(),
            Self::List(_, items) => items.iter().map(|(_, item)| item.plain()).collect(),
        }
    }

    fn find(&mut self, tokens: &[&str]) -> &mut Self {
        let Some((first, rest)) = tokens.split_first() else { return self };
        match self {
            Self::Object(fields) => fields.get_mut(*first).unwrap().find(rest),
            Self::List(_, items) => items[first.parse::<usize>().unwrap()].1.find(rest),
            Self::Scalar(_) => unreachable!("the patch applies"),
        }
    }

    fn add(&mut self, token: &str, value: Self, tag: Option<String>) {
        match self {
            Self::Object(fields) => drop(fields.insert(token.to_owned(), value)),
            Self::List(_, items) => {
                let place = if token == "-" { items.len() } else { token.parse().unwrap() };
                items.insert(place, (tag, value));
            }
            Self::Scalar(_) => unreachable!("the patch applies"),
        }
    }

    fn remove(&mut self, token: &str) -> (Option<String>, Self) {
        match self {
            Self::Object(fields) => (None, fields.remove(token).unwrap()),
            Self::List(_, items) => items.remove(token.parse().unwrap()),
            Self::Scalar(_) => unreachable!("the patch applies"),
        }
    }

    fn apply(&mut self, operation: &Json) {
        fn tokens<'o>(operation: &'o Json, member: &str) -> Vec<&'o str> {
            operation[member].as_str().unwrap().split('/').skip(1).collect()
        }
        let path = tokens(operation, "path");
        let new = |value: &Json| Self::of(value, None);
        let Some((last, parent)) = path.split_last() else {
            let from = || tokens(operation, "from");
            match operation["op"].as_str().unwrap() {
                "add" | "replace" => *self = new(&operation["value"]),
                "copy" => *self = new(&self.find(&from()).plain()),
                "move" if !from().is_empty() => *self = new(&self.find(&from()).plain()),
                _ => {}
            }
            return;
        };
        match operation["op"].as_str().unwrap() {
            "add" => self.find(parent).add(last, new(&operation["value"]), None),
            "remove" => drop(self.find(parent).remove(last)),
            "replace" => *self.find(&path) = new(&operation["value"]),
            "copy" => {
                let value = new(&self.find(&tokens(operation, "from")).plain());
                self.find(parent).add(last, value, None);
            }
            "move" if operation["path"] != operation["from"] => {
                let from = tokens(operation, "from");
                let (from_last, from_parent) = from.split_last().unwrap();
                let stays = from_parent == parent && matches!(self.find(parent), Self::List(..));
                let (tag, value) = self.find(from_parent).remove(from_last);
                match stays {
                    true => self.find(parent).add(last, value, tag),
                    false => {
                        let value = new(&value.plain());
                        self.find(parent).add(last, value, None);
                    }
                }
            }
            _ => {}
        }
    }

    /// Compares the tags with the provenance of the same value.
    fn check(&self, origins: Option<&ItemOrigins<'_>>) -> Result<(), TestCaseError> {
        match self {
            Self::Scalar(_) => prop_assert!(origins.is_none()),
            Self::Object(fields) => {
                for (key, value) in fields {
                    value.check(origins.and_then(|origins| origins.field(key)))?;
                }
            }
            Self::List(None, items) => {
                prop_assert!(origins.is_none(), "a list from elsewhere has no origins");
                for (_, item) in items {
                    item.check(None)?;
                }
            }
            Self::List(Some(list), items) => {
                let old = |tag: &Option<String>| -> Option<usize> {
                    tag.as_ref().map(|tag| tag.strip_prefix(&format!("{list}/")).unwrap().parse().unwrap())
                };
                let expected: Vec<Option<usize>> = items.iter().map(|(tag, _)| old(tag)).collect();
                match origins {
                    Some(origins) => prop_assert_eq!(origins.items(), Some(&expected[..])),
                    None => prop_assert_eq!(expected, (0..items.len()).map(Some).collect::<Vec<_>>(), "{:?}", list),
                }
                for (at, (_, item)) in items.iter().enumerate() {
                    item.check(origins.and_then(|origins| origins.item(at)))?;
                }
            }
        }
        Ok(())
    }
}

fn read<'a>(value: &Json, arena: &'a Arena) -> Value<'a> {
    decode(arena.text(&value.to_string()).as_bytes(), arena).unwrap()
}

/// Lists of few different values, nested through objects and lists.
fn value() -> impl Strategy<Value = Json> {
    (0..2).prop_map(|number| json!(number)).prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            3 => vec(inner.clone(), 0..5).prop_map(Json::Array),
            1 => vec(("[ab]", inner), 0..3).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

fn pointers(document: &Json, here: String, found: &mut Vec<String>) {
    match document {
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| pointers(item, format!("{here}/{at}"), found));
            found.push(format!("{here}/-"));
        }
        Json::Object(fields) => fields.iter().for_each(|(key, item)| pointers(item, format!("{here}/{key}"), found)),
        _ => {}
    }
    found.push(here);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(2_000), ..ProptestConfig::default() })]

    #[test]
    fn items_are_traced_as_a_naive_reference_traces_them(
        list in vec(value(), 1..5),
        steps in vec((0..8_usize, any::<Index>(), any::<Index>(), value()), 1..8),
    ) {
        let mut document = json!({"l": list, "m": [0, 0]});
        let arena = Arena::new();
        let old = read(&document, &arena);
        let (mut tagged, mut operations) = (Tagged::of(&document, Some(String::new())), Vec::new());
        for (op, path, from, value) in steps {
            let mut known = Vec::new();
            pointers(&document, String::new(), &mut known);
            let op = ["add", "remove", "replace", "move", "move", "copy", "test", "move"][op];
            let (path, mut from) = (path.get(&known), from.get(&known).clone());
            // Moves within one list are rare among random pointers.
            if let ("move", Some((parent, _))) = (op, path.rsplit_once('/')) {
                let siblings: Vec<_> = known.iter().filter(|other| other.rsplit_once('/').is_some_and(|(other, _)| other == parent)).collect();
                from = siblings[from.len() % siblings.len()].clone();
            }
            let value = if op == "test" { document.pointer(path).cloned().unwrap_or(value) } else { value };
            operations.push(json!({"op": op, "path": path, "from": from, "value": value}));
            let patch = read(&Json::Array(operations.clone()), &arena);
            match JsonPatch::parse(patch).unwrap().apply_tracked(old, &arena) {
                Ok((patched, origins)) => {
                    tagged.apply(operations.last().unwrap());
                    document = tagged.plain();
                    prop_assert_eq!(patched, read(&document, &arena));
                    tagged.check(origins.as_ref()).map_err(|error| TestCaseError::fail(format!("{operations:?}: {error}")))?;
                }
                Err(_) => drop(operations.pop()),
            }
        }
    }
}

/// The origins of the list `l` of a document once a patch was applied.
fn origins_of_l(document: Json, patch: Json) -> Option<Vec<Option<usize>>> {
    let arena = Arena::new();
    let patch = JsonPatch::parse(read(&patch, &arena)).unwrap();
    let (_, origins) = patch.apply_tracked(read(&document, &arena), &arena).unwrap();
    origins?.field("l")?.items().map(<[_]>::to_vec)
}

#[test]
fn every_operation_says_which_item_it_touched() {
    let equal = || json!({"l": [{}, {}, {}], "m": [{}]});
    for (patch, expected) in [
        (json!([{"op": "remove", "path": "/l/1"}]), Some(vec![Some(0), Some(2)])),
        (json!([{"op": "add", "path": "/l/1", "value": {}}]), Some(vec![Some(0), None, Some(1), Some(2)])),
        (json!([{"op": "replace", "path": "/l/1", "value": 1}]), Some(vec![Some(0), Some(1), Some(2)])),
        (json!([{"op": "add", "path": "/l/1/x", "value": 1}]), Some(vec![Some(0), Some(1), Some(2)])),
        (json!([{"op": "move", "from": "/l/0", "path": "/l/2"}]), Some(vec![Some(1), Some(2), Some(0)])),
        (json!([{"op": "copy", "from": "/l/0", "path": "/l/-"}]), Some(vec![Some(0), Some(1), Some(2), None])),
        (json!([{"op": "move", "from": "/m/0", "path": "/l/0"}]), Some(vec![None, Some(0), Some(1), Some(2)])),
        (json!([{"op": "replace", "path": "/l", "value": [{}]}]), None),
        (json!([{"op": "replace", "path": "/l", "value": [{}]}, {"op": "add", "path": "/l/0", "value": 1}]), None),
        (json!([{"op": "remove", "path": "/m/0"}]), None),
        (
            json!([{"op": "remove", "path": "/l/0"}, {"op": "move", "from": "/l/1", "path": "/l/0"}]),
            Some(vec![Some(2), Some(1)]),
        ),
    ] {
        assert_eq!(origins_of_l(equal(), patch.clone()), expected, "{patch}");
    }
}

#[test]
fn a_moved_item_takes_the_origins_of_its_own_lists_along() {
    let arena = Arena::new();
    let document = read(&json!({"l": [{"n": [0, 0]}, {"n": [0]}]}), &arena);
    let patch = json!([{"op": "remove", "path": "/l/0/n/0"}, {"op": "move", "from": "/l/0", "path": "/l/1"}]);
    let patch = JsonPatch::parse(read(&patch, &arena)).unwrap();
    let origins = patch.apply_tracked(document, &arena).unwrap().1.unwrap();
    let list = origins.field("l").unwrap();
    assert_eq!(list.items(), Some(&[Some(1), Some(0)][..]));
    assert_eq!(list.item(1).unwrap().field("n").unwrap().items(), Some(&[Some(1)][..]));
    assert_eq!(list.item(0), None);
}
