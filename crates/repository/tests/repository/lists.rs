//! Lists without keys whose items hide fields from a version: which items a write continues.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use wheelwright_evolve::Part;
use wheelwright_repository::{Body, Collection, Repository, View, Write, Written};
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

/// A safe with guards. Only `v2` shows the `key` of a guard, and no version its `pin`.
async fn safe(guards: &Json) -> Collection {
    let secret = json!({"type": "string", "x-ms-secret": true});
    let api = |guard: Json| {
        let guard = json!({"type": "object", "properties": guard});
        let properties = json!({"size": {"type": "integer"}, "guards": {"type": "array", "items": guard}});
        let spec = json!({"type": "object", "properties": properties});
        let safe = json!({"type": "object", "properties": {"spec": spec, "status": {"type": "object"}}});
        let info = json!({"title": "Safes", "version": "1"});
        json!({"swagger": "2.0", "info": info, "paths": {}, "definitions": {"Safe": safe}}).to_string()
    };
    let text = json!({"type": "string"});
    let served = served_from(&[
        ("wheelwright.yaml", "kinds: [{openapi: {v1: v1.json, v2: v2.json}, definition: Safe}]"),
        ("v1.json", &api(json!({"name": text, "pin": secret}))),
        ("v2.json", &api(json!({"name": text, "pin": secret, "key": text}))),
    ]);
    let safes = Repository::new(Arc::new(Memory::new()), served).kinds().next().unwrap();
    let document = json!({"spec": {"guards": guards}}).to_string();
    safes.create(&name("one"), Write::document("v2", document.as_bytes())).await.unwrap();
    safes
}

#[tokio::test]
async fn a_removal_among_items_that_differ_in_secrets_is_reported() {
    let guard = |key: &str, pin: &str| json!({"name": "x", "key": key, "pin": pin});
    let pin = |pin: &str| json!({"name": "x", "pin": pin});
    let none = json!({"name": "x"});
    // The guards of the safe, how many of them the client sends back, which ones stay, and which are reported as removed.
    for (before, count, expected, removed) in [
        // Those stay that hide most; of those that hide as much, the first ones.
        (json!([none, pin("1"), pin("2")]), 2, json!([pin("1"), pin("2")]), Some("item 0")),
        (json!([pin("1"), pin("2"), pin("3")]), 2, json!([pin("1"), pin("2")]), Some("item 2")),
        // Of those with the same secret, the one stays that hides most from the version.
        (json!([pin("1"), guard("a", "1"), pin("2")]), 1, json!([guard("a", "1")]), Some("items 0, 2")),
        (
            json!([guard("a", "1"), guard("b", "1"), pin("2")]),
            2,
            json!([guard("a", "1"), guard("b", "1")]),
            Some("item 2"),
        ),
        // Nothing is uncertain where secrets are equal, where no item is removed, or where all are.
        (json!([pin("1"), pin("1")]), 1, json!([pin("1")]), None),
        (json!([pin("1"), pin("2")]), 2, json!([pin("1"), pin("2")]), None),
        (json!([pin("1"), pin("2")]), 0, json!([]), None),
    ] {
        let guards = vec![json!({"name": "x"}); count];
        let body = json!({"spec": {"guards": guards}}).to_string();
        for write in [Write::document("v1", body.as_bytes()), Write::merge_patch("v1", body.as_bytes())] {
            let safes = safe(&before).await;
            let is_patch = matches!(write.body, Body::MergePatch(_));
            let written = if is_patch {
                safes.patch(&name("one"), write).await.unwrap()
            } else {
                let there = safes.get(&name("one"), View::Version("v1")).await.unwrap().unwrap();
                safes.update(&name("one"), &there.revision, write).await.unwrap()
            };
            let stored = safes.get(&name("one"), View::Whole("v2")).await.unwrap().unwrap();
            let stored: Json = serde_json::from_slice(&stored.json).unwrap();
            assert_eq!(stored["spec"]["guards"], expected, "{before}");
            let found: Vec<_> = written.notes.removals.iter().map(ToString::to_string).collect();
            let all = before.as_array().unwrap().len();
            let start = |items| {
                format!(
                    "spec.guards: {all} items look equal in this version and hide different fields; of them, {items} ("
                )
            };
            assert_eq!(found.len(), removed.iter().len(), "{before}: {found:?}");
            assert!(removed.is_none_or(|items| found[0].starts_with(&start(items))), "{before}: {found:?}");
        }
    }
}

#[tokio::test]
async fn only_fields_that_are_written_report_removals() {
    let safes = safe(&json!([{"name": "x", "pin": "1"}, {"name": "x", "pin": "2"}])).await;
    let there = safes.get(&name("one"), View::Version("v1")).await.unwrap().unwrap();
    let status = Write::document("v1", br#"{"spec":{"guards":[{"name":"x"}]}}"#).of(Part::Status);
    assert_eq!(safes.update(&name("one"), &there.revision, status).await.unwrap().notes.removals, []);
    // A JSON patch says which item it removes.
    let patch = br#"[{"op":"remove","path":"/spec/guards/0"}]"#;
    let patched = safes.patch(&name("one"), Write::json_patch("v1", patch)).await.unwrap();
    assert_eq!(patched.notes.removals, []);
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
