//! Lists without keys whose items hide fields from a version: which items a write continues.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use wheelwright_repository::{Collection, Repository, View, Write, Written};
use wheelwright_store::Memory;

use crate::support::{name, served_from};

/// Policies with a list of images, each with a list of attestors. Only `v2` shows the `key` of both.
fn policies() -> Collection {
    let schema = |hidden: &Json| {
        let object = |mut properties: Json| {
            let fields = properties.as_object_mut().unwrap();
            fields.extend(hidden.as_object().unwrap().clone());
            json!({"type": "object", "properties": properties})
        };
        let attestors = json!({"type": "array", "items": object(json!({"name": {"type": "string"}}))});
        let required = json!({"type": "boolean", "default": true});
        let image = object(json!({"required": required, "attestors": attestors}));
        let spec = json!({"type": "object", "properties": {"images": {"type": "array", "items": image}}});
        json!({"type": "object", "properties": {"spec": spec}})
    };
    let version = |name: &str, hidden: Json| {
        let schema = json!({"openAPIV3Schema": schema(&hidden)});
        json!({"name": name, "served": true, "storage": name == "v2", "schema": schema})
    };
    let names = json!({"plural": "policies", "singular": "policy", "kind": "Policy", "listKind": "PolicyList"});
    let versions = json!([version("v1", json!({})), version("v2", json!({"key": {"type": "string"}}))]);
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "policies.lab.example.com"},
        "spec": {"group": "lab.example.com", "scope": "Cluster", "names": names, "versions": versions},
    });
    let served = served_from(&[("policies.json", &definition.to_string())]);
    Repository::new(Arc::new(Memory::new()), served).kinds().next().unwrap()
}

/// A collection with a policy that has these images.
async fn policy(images: Json) -> Collection {
    let policies = policies();
    let document = json!({"apiVersion": "lab.example.com/v2", "kind": "Policy", "spec": {"images": images}});
    policies.create(&name("one"), Write::document("v2", document.to_string().as_bytes())).await.unwrap();
    policies
}

async fn json_patch(policies: &Collection, patch: Json) -> Written {
    policies.patch(&name("one"), Write::json_patch("v1", patch.to_string().as_bytes())).await.unwrap()
}

async fn images(policies: &Collection, version: &str) -> Json {
    let read = policies.get(&name("one"), View::Version(version)).await.unwrap().unwrap();
    serde_json::from_slice::<Json>(&read.json).unwrap()["spec"]["images"].clone()
}

/// The image with a key, as `v2` shows it.
fn image(key: &str) -> Json {
    json!({"required": true, "key": key})
}

#[tokio::test]
async fn a_removal_among_items_that_look_equal_is_reported() {
    let written =
        |images: Json| json!({"apiVersion": "lab.example.com/v1", "kind": "Policy", "spec": {"images": images}});
    let update = async |before: Json, images: Json| {
        let policies = policy(before).await;
        let there = policies.get(&name("one"), View::Version("v1")).await.unwrap().unwrap();
        let body = written(images).to_string();
        let write = Write::document("v1", body.as_bytes());
        let notes = policies.update(&name("one"), &there.revision, write).await.unwrap().notes;
        notes.removals.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let three = || json!([image("a"), image("b"), image("c")]);
    let plain = json!({"required": true});
    let expected = "spec.images: 3 items look equal in this version and hide different fields; of them, item 2 (counted \
                    from 0) and what is hidden there were removed; to choose the item, send a JSON patch that names its \
                    position, or identify items by `keys` (WW230)";
    assert_eq!(update(three(), json!([plain, plain])).await, [expected]);
    // In nested lists, the path says which one it is.
    let attestors = |keys: &[&str]| keys.iter().map(|key| json!({"name": "x", "key": key})).collect::<Vec<_>>();
    let nested = json!([image("a"), {"required": false, "key": "b", "attestors": attestors(&["1", "2"])}]);
    let found = update(nested, json!([plain, {"required": false, "attestors": [{"name": "x"}]}])).await;
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("spec.images[1].attestors: 2 items look equal"), "{found:?}");
    // Nothing is uncertain where all items go, where none does, or where they hide the same.
    assert_eq!(update(three(), json!([])).await, [""; 0]);
    assert_eq!(update(three(), json!([plain, plain, plain, plain])).await, [""; 0]);
    assert_eq!(update(three(), json!([{"required": false}, plain, plain])).await, [""; 0]);
    assert_eq!(update(json!([image("a"), image("a")]), json!([plain])).await, [""; 0]);
    // A JSON patch says which item it removes.
    let policies = policy(three()).await;
    let patched = json_patch(&policies, json!([{"op": "remove", "path": "/spec/images/0"}])).await;
    assert_eq!(patched.notes.removals, []);
}

/// Writes the images that `v1` shows, as a whole document and as a merge patch; the images of `v2` afterwards.
async fn replaced(before: &Json, images_of_v1: &Json) -> [Json; 2] {
    let document = json!({"apiVersion": "lab.example.com/v1", "kind": "Policy", "spec": {"images": images_of_v1}});
    let patch = json!({"spec": {"images": images_of_v1}}).to_string();
    let policies = policy(before.clone()).await;
    let there = policies.get(&name("one"), View::Version("v1")).await.unwrap().unwrap();
    let body = document.to_string();
    policies.update(&name("one"), &there.revision, Write::document("v1", body.as_bytes())).await.unwrap();
    let patched = policy(before.clone()).await;
    patched.patch(&name("one"), Write::merge_patch("v1", patch.as_bytes())).await.unwrap();
    [images(&policies, "v2").await, images(&patched, "v2").await]
}

#[tokio::test]
async fn an_edit_of_one_of_three_equal_items_keeps_what_all_hide() {
    for edited in 0..3 {
        let before = json!([image("a"), image("b"), image("c")]);
        let mut written = json!([{"required": true}, {"required": true}, {"required": true}]);
        let mut expected = before.clone();
        for list in [&mut written, &mut expected] {
            list[edited]["required"] = json!(false);
        }
        assert_eq!(replaced(&before, &written).await, [expected.clone(), expected], "item {edited}");
    }
}

#[tokio::test]
async fn items_that_were_edited_and_swapped_keep_what_they_hide() {
    let with = |key: &str, names: &[&str]| {
        let attestors: Vec<Json> = names.iter().map(|name| json!({"name": name})).collect();
        json!({"required": true, "key": key, "attestors": attestors})
    };
    let before = json!([with("a", &["x", "y"]), image("b"), with("c", &["z"])]);
    let written = json!([
        {"required": false, "attestors": [{"name": "z"}]},
        {"required": true},
        {"required": true, "attestors": [{"name": "y"}]},
    ]);
    let expected = json!([
        {"required": false, "key": "c", "attestors": [{"name": "z"}]},
        image("b"),
        {"required": true, "key": "a", "attestors": [{"name": "y"}]},
    ]);
    assert_eq!(replaced(&before, &written).await, [expected.clone(), expected]);
}

#[tokio::test]
async fn a_json_patch_acts_on_the_items_it_names() {
    for (patch, expected) in [
        (json!([{"op": "remove", "path": "/spec/images/1"}]), json!([image("a"), image("c")])),
        (
            json!([{"op": "move", "from": "/spec/images/2", "path": "/spec/images/0"}]),
            json!([image("c"), image("a"), image("b")]),
        ),
        (
            json!([{"op": "copy", "from": "/spec/images/0", "path": "/spec/images/1"}]),
            json!([image("a"), {"required": true}, image("b"), image("c")]),
        ),
        (
            json!([{"op": "add", "path": "/spec/images/0", "value": {}}]),
            json!([{"required": true}, image("a"), image("b"), image("c")]),
        ),
        (
            json!([{"op": "replace", "path": "/spec/images/0", "value": {"required": false}}]),
            json!([{"required": false, "key": "a"}, image("b"), image("c")]),
        ),
        (
            // Two items are edited and swapped.
            json!([
                {"op": "replace", "path": "/spec/images/0/required", "value": false},
                {"op": "add", "path": "/spec/images/2/attestors", "value": [{"name": "x"}]},
                {"op": "move", "from": "/spec/images/2", "path": "/spec/images/0"},
                {"op": "move", "from": "/spec/images/1", "path": "/spec/images/2"},
            ]),
            json!([
                {"required": true, "key": "c", "attestors": [{"name": "x"}]},
                image("b"),
                {"required": false, "key": "a"},
            ]),
        ),
    ] {
        let policies = policy(json!([image("a"), image("b"), image("c")])).await;
        json_patch(&policies, patch.clone()).await;
        assert_eq!(images(&policies, "v2").await, expected, "{patch}");
    }
}

#[tokio::test]
async fn a_json_patch_acts_on_the_items_it_names_in_nested_lists() {
    let attestors = |keys: &[&str]| keys.iter().map(|key| json!({"name": "x", "key": key})).collect::<Vec<_>>();
    let with = |key: &str, keys: &[&str]| json!({"required": true, "key": key, "attestors": attestors(keys)});
    let policies = policy(json!([with("a", &["1", "2", "3"]), with("b", &["4", "5", "6"])])).await;
    let patch = json!([
        {"op": "move", "from": "/spec/images/1", "path": "/spec/images/0"},
        {"op": "remove", "path": "/spec/images/0/attestors/1"},
        {"op": "move", "from": "/spec/images/1/attestors/0", "path": "/spec/images/1/attestors/2"},
    ]);
    json_patch(&policies, patch).await;
    assert_eq!(images(&policies, "v2").await, json!([with("b", &["4", "6"]), with("a", &["2", "3", "1"])]));
}
