//! A JSON patch through a version that hides fields of list items: each item keeps exactly its own hidden fields.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod support;

use proptest::{collection::vec, prelude::*};
use serde_json::{Value as Json, json};
use wheelwright_document::{Arena, JsonPatch, Span, Value, decode, encode};
use wheelwright_evolve::{Kind, Located, Part, VersionName};

use self::support::told;

/// Items `{image}` with lists of `{name}` in them; the newer version has a `key` and a `mark` besides, which the older hides.
fn kind(hub: &str) -> Kind {
    let items = |hidden: [&str; 2]| {
        let parts = format!("{{type: object, properties: {{name: {{type: string}}{}}}}}", hidden[1]);
        let parts = format!("parts: {{type: array, items: {parts}}}");
        format!(
            "images: {{type: array, items: {{type: object, properties: {{image: {{type: string}}, {parts}{}}}}}}}",
            hidden[0]
        )
    };
    let (old, new) = (items(["", ""]), items([", key: {type: integer}", ", mark: {type: integer}"]));
    let mut declaration = support::declaration(&old, &new, "");
    declaration.hub = Some(Located { item: VersionName::new(hub), span: Span::default() });
    let (kind, problems) = Kind::compile(&declaration, None);
    assert!(problems.is_empty(), "{problems:?}");
    kind.unwrap()
}

fn read<'a>(value: &Json, arena: &'a Arena) -> Value<'a> {
    decode(arena.text(&value.to_string()).as_bytes(), arena).unwrap()
}

/// The images that the newer version shows once a patch was applied through the older one.
fn patched(kind: &Kind, images: &Json, patch: &Json) -> Json {
    let arena = Arena::new();
    let [old, new] = ["v1", "v2"].map(|name| kind.version(name).unwrap());
    let document = support::document(kind, new, "{}", &json!({"images": images}).to_string(), &arena);
    let stored = kind.put(new, document, None, Part::Whole, &arena).unwrap();
    let shown = kind.get(old, stored, &arena);
    let (patched, origins) = JsonPatch::parse(read(patch, &arena)).unwrap().apply_tracked(shown, &arena).unwrap();
    let lenses = kind.lenses();
    let (stored, _) = lenses.put_patched(old, patched, Some(stored), Part::Whole, origins.as_ref(), &arena).unwrap();
    assert_eq!(told(kind.get(old, stored, &arena)), told(patched), "the writer reads what it wrote: {patch}");
    let shown: Json = serde_json::from_slice(&encode(kind.get(new, stored, &arena))).unwrap();
    shown["spec"]["images"].clone()
}

#[test]
fn every_operation_keeps_what_items_hide() {
    for hub in ["v1", "v2"] {
        let kind = kind(hub);
        let images = json!([{"image": "x", "key": 1}, {"image": "x", "key": 2}, {"image": "x", "key": 3}]);
        for (patch, expected) in [
            (
                json!([{"op": "remove", "path": "/spec/images/1"}]),
                json!([{"image": "x", "key": 1}, {"image": "x", "key": 3}]),
            ),
            (
                json!([{"op": "move", "from": "/spec/images/0", "path": "/spec/images/2"}]),
                json!([{"image": "x", "key": 2}, {"image": "x", "key": 3}, {"image": "x", "key": 1}]),
            ),
            (
                json!([{"op": "copy", "from": "/spec/images/0", "path": "/spec/images/0"}]),
                json!([{"image": "x"}, {"image": "x", "key": 1}, {"image": "x", "key": 2}, {"image": "x", "key": 3}]),
            ),
            (
                json!([
                    {"op": "remove", "path": "/spec/images/0"},
                    {"op": "add", "path": "/spec/images/-", "value": {"image": "x"}},
                ]),
                json!([{"image": "x", "key": 2}, {"image": "x", "key": 3}, {"image": "x"}]),
            ),
            (
                json!([{"op": "replace", "path": "/spec/images/2", "value": {"image": "y"}}]),
                json!([{"image": "x", "key": 1}, {"image": "x", "key": 2}, {"image": "y", "key": 3}]),
            ),
        ] {
            assert_eq!(patched(&kind, &images, &patch), expected, "{patch}");
        }
    }
}

/// One random operation, and what it does to items that the test can tell apart.
fn apply(images: &mut Vec<Json>, step: (u8, usize, usize, bool)) -> Option<Json> {
    let (op, first, second, edits) = step;
    let image = if edits { "y" } else { "x" };
    let count = images.len();
    let parts = |images: &[Json], at: usize| images[at]["parts"].as_array().map_or(0, Vec::len);
    if count == 0 || op == 0 {
        let at = first % (count + 1);
        images.insert(at, json!({"image": image, "parts": []}));
        let value = json!({"image": image, "parts": []});
        return Some(json!({"op": "add", "path": format!("/spec/images/{at}"), "value": value}));
    }
    let (from, to) = (first % count, second % count);
    let here = format!("/spec/images/{from}");
    let inside = parts(images, from);
    Some(match op {
        1 => {
            images.remove(from);
            json!({"op": "remove", "path": here})
        }
        2 => {
            let item = images.remove(from);
            images.insert(to, item);
            json!({"op": "move", "from": here, "path": format!("/spec/images/{to}")})
        }
        3 => {
            images[from]["image"] = json!(image);
            json!({"op": "replace", "path": format!("{here}/image"), "value": image})
        }
        4 => {
            // A copy is of what the older version shows.
            let mut item = images[from].clone();
            item.as_object_mut()?.remove("key");
            for part in item["parts"].as_array_mut()? {
                part.as_object_mut()?.remove("mark");
            }
            images.insert(to, item);
            json!({"op": "copy", "from": here, "path": format!("/spec/images/{to}")})
        }
        5 if inside > 0 => {
            let at = second % inside;
            images[from]["parts"].as_array_mut()?.remove(at);
            json!({"op": "remove", "path": format!("{here}/parts/{at}")})
        }
        6 if inside > 0 => {
            let at = second % inside;
            let part = images[from]["parts"].as_array_mut()?.remove(at);
            images[from]["parts"].as_array_mut()?.insert(0, part);
            json!({"op": "move", "from": format!("{here}/parts/{at}"), "path": format!("{here}/parts/0")})
        }
        7 if inside > 0 => {
            let at = second % inside;
            images[from]["parts"][at]["name"] = json!(image);
            json!({"op": "replace", "path": format!("{here}/parts/{at}/name"), "value": image})
        }
        _ => {
            images[from]["parts"].as_array_mut()?.push(json!({"name": image}));
            json!({"op": "add", "path": format!("{here}/parts/-"), "value": {"name": image}})
        }
    })
}

proptest! {
    #[test]
    fn hidden_fields_stay_with_the_item_that_the_patch_names(
        hub in prop_oneof![Just("v1"), Just("v2")],
        sizes in vec(0..4_usize, 1..6),
        steps in vec((0..9_u8, any::<usize>(), any::<usize>(), any::<bool>()), 1..6),
    ) {
        let kind = kind(hub);
        let item = |(at, size): (usize, usize)| {
            let parts: Vec<Json> = (0..size).map(|part| json!({"name": "x", "mark": 10 * at + part})).collect();
            json!({"image": "x", "key": at, "parts": parts})
        };
        let images: Vec<Json> = sizes.into_iter().enumerate().map(item).collect();
        let mut expected = images.clone();
        let patch: Vec<Json> = steps.into_iter().filter_map(|step| apply(&mut expected, step)).collect();
        let patch = Json::Array(patch);
        prop_assert_eq!(patched(&kind, &Json::Array(images), &patch), Json::Array(expected), "{}", patch);
    }
}
