//! Who may write what, and what a service keeps: rule by rule.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use serde_json::{Value as Json, json};
use wheelwright_evolve::Origin;
use wheelwright_repository::{
    Collection, Metadata, Part, Repository, RepositoryError, View, Write, WriteError, Written,
};
use wheelwright_store::{Memory, Store};

use crate::support::{name, served, served_from};

/// The kind of a catalog of the tests, in an empty store, with a clock that goes on a second with every look at it.
fn collection(catalog: &str) -> Collection {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogs").join(catalog);
    let seconds = AtomicI64::new(1_800_000_000);
    let clock = move || jiff::Timestamp::from_second(seconds.fetch_add(1, Ordering::Relaxed)).unwrap();
    Repository::new(Arc::new(Memory::new()), served(&folder)).with_clock(clock).kinds().next().unwrap()
}

fn json_of(written: &Written) -> Json {
    serde_json::from_slice(&written.document.json).unwrap()
}

async fn shown(documents: &Collection, version: &str) -> Json {
    let read = documents.get(&name("one"), View::Version(version)).await.unwrap().unwrap();
    serde_json::from_slice(&read.json).unwrap()
}

async fn create(documents: &Collection, version: &str, document: Json) -> Result<Written, RepositoryError> {
    let body = document.to_string();
    documents.create(&name("one"), Write::document(version, body.as_bytes())).await
}

async fn put(documents: &Collection, version: &str, document: Json) -> Result<Written, RepositoryError> {
    let body = document.to_string();
    let read = documents.get(&name("one"), View::Hub).await.unwrap().unwrap();
    documents.update(&name("one"), &read.revision, Write::document(version, body.as_bytes())).await
}

async fn patch(documents: &Collection, version: &str, patch: Json) -> Result<Written, RepositoryError> {
    let body = patch.to_string();
    documents.patch(&name("one"), Write::merge_patch(version, body.as_bytes())).await
}

async fn by_service(documents: &Collection, version: &str, patch: Json) -> Written {
    let body = patch.to_string();
    documents.patch(&name("one"), Write::merge_patch(version, body.as_bytes()).by_service()).await.unwrap()
}

async fn keep(documents: &Collection, change: impl FnOnce(&mut Metadata, &mut Origin)) {
    let read = documents.get(&name("one"), View::Hub).await.unwrap().unwrap();
    documents.update_metadata(&name("one"), &read.revision, change).await.unwrap();
}

/// The fields that a refused write names.
fn refused(outcome: Result<Written, RepositoryError>) -> Vec<String> {
    match outcome.unwrap_err() {
        RepositoryError::Write(WriteError::Fields(fields)) => fields.iter().map(ToString::to_string).collect(),
        other => panic!("{other}"),
    }
}

const OLD: &str = "2025-01-01";
const NEW: &str = "2026-01-01";

fn pool(properties: Json) -> Json {
    json!({"location": "north", "tags": {"team": "a"}, "properties": properties})
}

#[tokio::test]
async fn what_only_the_service_writes_customers_neither_set_nor_remove_nor_default() {
    let pools = collection("pools");
    let sent = pool(json!({"url": "mine", "provisioningState": "Mine", "network": {"address": "mine"},
        "disks": [{"name": "a", "lun": 7}]}));
    let created = json_of(&create(&pools, OLD, sent).await.unwrap());
    assert_eq!(created["properties"]["network"], json!({"mtu": 1500}));
    assert_eq!(created["properties"]["disks"], json!([{"name": "a", "tier": "Premium"}]));
    assert_eq!(created["properties"].get("provisioningState"), None);

    by_service(
        &pools,
        OLD,
        json!({"properties": {"url": "https", "network": {"address": "10"},
        "disks": [{"name": "a", "lun": 0}]}}),
    )
    .await;
    for sent in [
        json!({"properties": {"url": "mine", "network": {"address": "mine"}, "disks": [{"name": "a", "lun": 7}]}}),
        json!({"properties": {"url": null, "network": {"address": null}, "disks": [{"name": "a"}]}}),
        json!({"properties": {"network": null}}),
    ] {
        patch(&pools, OLD, sent.clone()).await.unwrap();
        let now = shown(&pools, NEW).await;
        assert_eq!(now["properties"]["url"], "https", "{sent}");
        assert_eq!(now["properties"]["network"]["address"], "10", "{sent}");
        assert_eq!(now["properties"]["disks"][0]["lun"], 0, "{sent}");
    }
    put(&pools, NEW, pool(json!({"disks": [{"name": "b", "lun": 1}, {"name": "a"}]}))).await.unwrap();
    let now = shown(&pools, NEW).await;
    assert_eq!(now["properties"]["url"], "https");
    assert_eq!(now["properties"]["network"]["address"], "10");
    // Items are told apart by name: another one has nothing of the service's yet.
    assert_eq!(
        now["properties"]["disks"],
        json!([{"name": "b", "tier": "Premium"}, {"name": "a", "lun": 0, "tier": "Premium"}])
    );
}

#[tokio::test]
async fn what_is_set_once_is_not_changed_later_nor_by_a_detour() {
    let pools = collection("pools");
    let first = pool(json!({"zone": "1", "network": {"subnet": "s"}, "disks": [{"name": "a", "kind": "Managed"}]}));
    create(&pools, OLD, first).await.unwrap();
    let only = "can be set only when the document is created";
    for (sent, fields) in [
        (json!({"location": "south"}), vec![format!("location: {only}")]),
        (json!({"properties": {"zone": "2"}}), vec![format!("properties.zone: {only}")]),
        (json!({"properties": {"network": {"subnet": "t"}}}), vec![format!("properties.network.subnet: {only}")]),
        (json!({"properties": {"channel": "fast"}}), vec![format!("properties.channel: {only}")]),
        (
            json!({"properties": {"disks": [{"name": "a", "kind": "Ephemeral"}]}}),
            vec![format!("properties.disks[0].kind: {only}")],
        ),
    ] {
        assert_eq!(refused(patch(&pools, OLD, sent).await), fields);
    }
    // Saying the same again is no change, and leaving it out is none either.
    assert!(!patch(&pools, OLD, json!({"properties": {"zone": "1", "channel": "stable"}})).await.unwrap().is_changed);
    put(&pools, OLD, json!({"properties": {}})).await.unwrap();
    let now = shown(&pools, OLD).await;
    assert_eq!((&now["location"], &now["properties"]["zone"]), (&json!("north"), &json!("1")));
    assert_eq!(now["properties"]["network"]["subnet"], "s");
    assert_eq!(refused(patch(&pools, OLD, json!({"properties": {"network": {"subnet": "t"}}})).await).len(), 1);
    // A new item is created.
    patch(&pools, OLD, json!({"properties": {"disks": [{"name": "z", "kind": "Ephemeral"}]}})).await.unwrap();
}

#[tokio::test]
async fn what_is_set_later_is_not_there_at_first() {
    let pools = collection("pools");
    let told = refused(create(&pools, OLD, pool(json!({"later": "x"}))).await);
    assert_eq!(told, ["properties.later: cannot be set when the document is created"]);
    create(&pools, OLD, pool(json!({}))).await.unwrap();
    let now = json_of(&patch(&pools, OLD, json!({"properties": {"later": "x"}})).await.unwrap());
    assert_eq!(now["properties"]["later"], "x");
}

#[tokio::test]
async fn what_the_resource_manager_knows_is_the_services() {
    let pools = collection("pools");
    let forged = json!({"id": "x", "name": "forged", "type": "Forged/type", "systemData": {"createdBy": "me"},
        "location": "north", "properties": {"provisioningState": "Succeeded"}});
    let created = json_of(&create(&pools, NEW, forged.clone()).await.unwrap());
    assert_eq!((&created["name"], &created["type"]), (&json!("one"), &json!("Example.Compute/pools")));
    for absent in ["systemData", "tags", "id"] {
        assert_eq!(created.get(absent), None, "{absent} is neither the customer's nor a default");
    }
    assert_eq!(created["properties"].get("provisioningState"), None);

    keep(&pools, |metadata, _| {
        metadata.provisioning_state = Some("Creating".into());
        metadata.system_data = Some(wheelwright_document::Owned::Object(Box::default()));
    })
    .await;
    for write in ["put", "patch"] {
        match write {
            "put" => put(&pools, OLD, forged.clone()).await.unwrap(),
            _ => patch(&pools, OLD, json!({"systemData": null, "properties": {"provisioningState": null}}))
                .await
                .unwrap(),
        };
        let now = shown(&pools, NEW).await;
        assert_eq!((&now["name"], &now["systemData"]), (&json!("one"), &json!({})), "{write}");
        assert_eq!(now["properties"]["provisioningState"], "Creating", "{write}");
    }
}

#[tokio::test]
async fn the_state_of_provisioning_is_shown_where_there_are_no_properties() {
    let pool = r#"{"swagger": "2.0", "info": {"title": "", "version": "v1"}, "paths": {}, "definitions": {"Pool": {"type":
        "object", "properties": {"location": {"type": "string"}, "properties": {"type": "object", "properties": {"count":
        {"type": "integer", "default": 3}}}}}}}"#;
    let catalog = "kinds: [{openapi: {v1: pool.json}, definition: Pool, arm: Example/pools}]";
    let served = served_from(&[("wheelwright.yaml", catalog), ("pool.json", pool)]);
    let pools = Repository::new(Arc::new(Memory::new()), served).kinds().next().unwrap();
    create(&pools, "v1", json!({"location": "north"})).await.unwrap();
    assert_eq!(shown(&pools, "v1").await, json!({"location": "north"}));
    keep(&pools, |metadata, _| metadata.provisioning_state = Some("Creating".into())).await;
    let read = shown(&pools, "v1").await;
    assert_eq!(read, json!({"location": "north", "properties": {"provisioningState": "Creating"}}));
    assert!(!put(&pools, "v1", read).await.unwrap().is_changed, "writing back what was read changes nothing");
    let emptied = put(&pools, "v1", json!({"location": "north", "properties": {}})).await.unwrap();
    assert_eq!(json_of(&emptied)["properties"], json!({"count": 3, "provisioningState": "Creating"}));
}

#[test]
fn the_keys_of_a_resource_begin_with_its_type() {
    let pool = r#"{"swagger": "2.0", "info": {"title": "", "version": "v1"}, "paths": {}, "definitions": {"Pool": {"type":
        "object"}, "Other": {"type": "object"}}}"#;
    let served = |types: [&str; 2]| {
        let entry =
            |(definition, of_type)| format!("{{openapi: {{v1: pool.json}}, definition: {definition}, arm: {of_type}}}");
        let entries = ["Pool", "Other"].into_iter().zip(types).map(entry).collect::<Vec<_>>().join(", ");
        served_from(&[("wheelwright.yaml", &*format!("kinds: [{entries}]")), ("pool.json", pool)])
    };
    let prefixes = |types| served(types).iter().map(|kind| kind.prefix().to_string()).collect::<Vec<_>>();
    let nested = ["Example.Fleet/Clusters", "example.fleet/clusters/nodePools"];
    assert_eq!(prefixes(nested), ["example.fleet:clusters/", "example.fleet:clusters:nodepools/"]);
    assert!(Repository::try_new(Arc::new(Memory::new()), served(nested)).is_ok(), "none has keys of the other");
    // Two providers that call a definition the same share nothing.
    assert_ne!(prefixes(["A.B/pools", "A.B/others"])[0], prefixes(["C.D/pools", "C.D/others"])[0]);
}

#[tokio::test]
async fn tags_are_written_as_a_whole() {
    let pools = collection("pools");
    create(&pools, NEW, pool(json!({"count": 3}))).await.unwrap();
    let patched = patch(&pools, OLD, json!({"tags": {"cost": "b"}})).await.unwrap();
    assert_eq!(json_of(&patched)["tags"], json!({"cost": "b"}), "a patch of tags replaces them");
    assert_eq!(patched.document.metadata.generation, 1);
    assert_eq!(patched.document.origin.written_with.as_str(), NEW);
    put(&pools, NEW, pool(json!({"count": 3}))).await.unwrap();
    assert_eq!(shown(&pools, OLD).await["tags"], json!({"team": "a"}));
    patch(&pools, NEW, json!({"tags": null})).await.unwrap();
    assert_eq!(shown(&pools, OLD).await.get("tags"), None);
}

fn thing(spec: Json) -> Json {
    json!({"apiVersion": "test.example.com/v2", "kind": "Thing", "metadata": {"name": "one"}, "spec": spec,
        "status": {"ready": true}})
}

#[tokio::test]
async fn what_the_api_server_knows_is_the_services() {
    let things = collection("things");
    let forged = json!({"name": "one", "uid": "forged", "resourceVersion": "99", "generation": 99, "selfLink": "x",
        "creationTimestamp": "2000-01-01T00:00:00Z", "deletionTimestamp": "2000-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 3, "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["f"]});
    let mut document = thing(json!({}));
    document["metadata"] = forged.clone();
    let created = create(&things, "v2", document.clone()).await.unwrap();
    let (uid, revision) = (created.document.metadata.uid.clone().unwrap(), created.document.revision.clone());
    let expected = json!({"name": "one", "uid": &*uid, "resourceVersion": revision.as_str(), "generation": 1,
        "creationTimestamp": "2027-01-15T08:00:00Z", "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["f"]});
    assert_eq!(json_of(&created)["metadata"], expected);
    assert!(!put(&things, "v2", document).await.unwrap().is_changed, "what is forged is passed over");
    for sent in
        [json!({"metadata": {"uid": null, "creationTimestamp": null, "generation": null}}), json!({"metadata": forged})]
    {
        assert!(!patch(&things, "v1", sent).await.unwrap().is_changed);
    }
    assert_eq!(shown(&things, "v2").await["metadata"], expected);
}

#[tokio::test]
async fn only_changes_of_the_spec_move_the_generation_and_the_version_written_with() {
    let things = collection("things");
    create(&things, "v2", thing(json!({"plainCount": 1}))).await.unwrap();
    let state = async || {
        let read = things.get(&name("one"), View::Hub).await.unwrap().unwrap();
        (
            read.metadata.generation,
            read.origin.written_with.as_str().to_owned(),
            read.metadata.modified_at,
            read.revision,
        )
    };
    let first = state().await;
    assert_eq!((first.0, &*first.1), (1, "v2"));
    for (sent, is_stored) in [
        (json!({}), false),
        (json!({"spec": {"plainCount": 1}}), false),
        (json!({"metadata": {"labels": {"a": "b"}}}), true),
        (json!({"metadata": {"finalizers": ["f"]}}), true),
        (json!({"status": {"seen": 5}}), true),
    ] {
        let before = state().await;
        patch(&things, "v1", sent.clone()).await.unwrap();
        let after = state().await;
        assert_eq!((after.0, &*after.1), (1, "v2"), "{sent}");
        assert_eq!(before.3 != after.3, is_stored, "{sent}: whether it is stored");
        assert_eq!(before.2 != after.2, is_stored, "{sent}: when it was modified");
    }
    let before = state().await;
    keep(&things, |metadata, _| metadata.provisioning_state = Some("Updating".into())).await;
    let after = state().await;
    assert_eq!((after.0, &*after.1, after.2), (1, "v2", before.2));
    assert_ne!(after.3, before.3);
    patch(&things, "v1", json!({"spec": {"plainCount": 2}})).await.unwrap();
    let last = state().await;
    assert_eq!((last.0, &*last.1), (2, "v1"));
}

#[tokio::test]
async fn whoever_writes_a_part_leaves_the_other_alone() {
    let things = collection("things");
    let created = create(&things, "v2", thing(json!({"plainCount": 1, "newText": "n"}))).await.unwrap();
    let other = thing(json!({"plainCount": 9}));
    let mut other = other;
    other["status"] = json!({"seen": 9});
    other["metadata"]["labels"] = json!({"a": "b"});
    let body = other.to_string();
    let status = Write::document("v1", body.as_bytes()).of(Part::Status);
    let written = things.update(&name("one"), &created.document.revision, status).await.unwrap();
    let now = shown(&things, "v2").await;
    assert_eq!((&now["spec"]["plainCount"], &now["spec"]["newText"]), (&json!(1), &json!("n")));
    assert_eq!(now["status"], json!({"seen": 9, "ready": false}));
    assert_eq!(now["metadata"].get("labels"), None);
    assert_eq!(written.document.metadata.generation, 1);

    other["status"] = json!({"seen": 10});
    let body = other.to_string();
    let spec = Write::document("v1", body.as_bytes()).of(Part::Spec);
    things.update(&name("one"), &written.document.revision, spec).await.unwrap();
    let now = shown(&things, "v2").await;
    assert_eq!((&now["spec"]["plainCount"], &now["status"]["seen"]), (&json!(9), &json!(9)));
    assert_eq!(now["spec"]["newText"], "n");
    assert_eq!(now["metadata"]["labels"], json!({"a": "b"}));
}

#[tokio::test]
async fn what_the_service_keeps_is_of_its_type() {
    let pools = collection("pools");
    for tags in [json!(5), json!({"a": 1}), json!(["a"])] {
        let mut sent = pool(json!({}));
        sent["tags"] = tags;
        assert_eq!(refused(create(&pools, NEW, sent).await), ["tags: must be an object of texts"]);
    }
    let things = collection("things");
    for finalizers in [json!("f"), json!(["f", 1])] {
        let mut sent = thing(json!({}));
        sent["metadata"]["finalizers"] = finalizers;
        assert_eq!(refused(create(&things, "v2", sent).await), ["metadata.finalizers: must be a list of texts"]);
    }
}

#[tokio::test]
async fn a_required_field_that_was_missing_fails_no_write() {
    let store = Memory::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogs/pools");
    let pools = Repository::new(Arc::new(store.clone()), served(&folder)).kinds().next().unwrap();
    let told = refused(create(&pools, OLD, json!({"properties": {"count": 1}})).await);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("location: "), "{told:?}");

    let record = json!({"$wheelwright": 1, "hub": NEW, "origin": {"createdWith": OLD, "writtenWith": OLD}, "metadata": {},
        "object": {"properties": {"count": 1, "disks": [{"tier": "Standard"}]}}});
    let key = pools.kind().key(&name("one")).unwrap();
    store.create(&key, record.to_string().into_bytes()).await.unwrap();
    patch(&pools, OLD, json!({"properties": {"count": 2}})).await.unwrap();
    put(&pools, NEW, json!({"properties": {"count": 3, "disks": [{"tier": "Standard"}]}})).await.unwrap();
    assert_eq!(shown(&pools, OLD).await["properties"]["count"], 3);
    // What is new has to be right.
    let told = refused(patch(&pools, OLD, json!({"properties": {"disks": [{"tier": "Standard"}, {"lun": 1}]}})).await);
    assert!(told[0].starts_with("properties.disks[1].name: "), "{told:?}");
}

#[tokio::test]
async fn a_rule_about_the_old_value_holds_through_every_version() {
    let things = collection("things");
    create(&things, "v2", thing(json!({"sealed": "a"}))).await.unwrap();
    for version in ["v1", "v2", "v3"] {
        let told = refused(patch(&things, version, json!({"spec": {"sealed": "b"}})).await);
        assert_eq!(told, ["spec.sealed: is sealed"], "{version}");
        patch(&things, version, json!({"spec": {"plainText": version}})).await.unwrap();
    }
}

#[tokio::test]
async fn null_clears_nothing_that_is_not_the_customers() {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogs/pools");
    for file in std::fs::read_dir(&from).unwrap().map(|file| file.unwrap().path()) {
        std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let catalog = std::fs::read_to_string(from.join("wheelwright.yaml")).unwrap() + "    policies: {null: clear}\n";
    std::fs::write(folder.path().join("wheelwright.yaml"), catalog).unwrap();
    let pools = Repository::new(Arc::new(Memory::new()), served(folder.path())).kinds().next().unwrap();
    create(&pools, "2026-01-01", pool(json!({"zone": "1"}))).await.unwrap();
    by_service(&pools, "2026-01-01", json!({"properties": {"network": {"address": "10"}}})).await;
    let nulls = json!({"properties": {"zone": null, "network": {"address": null}}});
    patch(&pools, "2026-01-01", nulls).await.unwrap();
    let shown = shown(&pools, "2026-01-01").await;
    assert_eq!((&shown["properties"]["zone"], &shown["properties"]["network"]["address"]), (&"1".into(), &"10".into()));
}

#[tokio::test]
async fn a_version_that_nobody_knows_is_refused_before_anything_is_looked_for() {
    let things = collection("things");
    let nope = View::Version("v9");
    assert!(matches!(things.get(&name("none"), nope).await, Err(RepositoryError::UnknownVersion(_))));
    let listed = things.list(None, Default::default(), nope).await;
    assert!(matches!(listed, Err(RepositoryError::UnknownVersion(_))));
}

#[tokio::test]
async fn what_customers_never_see_stays_when_they_write_back_what_they_see() {
    let pools = collection("pools");
    let with_secret = json!({"location": "here", "properties": {"secret": "hush", "count": 3}});
    let created = create(&pools, "2026-01-01", with_secret).await.unwrap();
    assert_eq!(json_of(&created)["properties"].get("secret"), None);
    for version in ["2025-01-01", "2026-01-01"] {
        let seen = shown(&pools, version).await;
        assert_eq!(seen["properties"].get("secret"), None, "{version}");
        put(&pools, version, seen).await.unwrap();
        patch(&pools, version, json!({"tags": {"a": version}})).await.unwrap();
        assert_eq!(stored(&pools).await["properties"]["secret"], "hush", "{version}");
    }
    // What is written anew is there, and what is said to be null is not.
    patch(&pools, "2026-01-01", json!({"properties": {"secret": "other"}})).await.unwrap();
    assert_eq!(stored(&pools).await["properties"]["secret"], "other");
    let mut seen = shown(&pools, "2026-01-01").await;
    seen["properties"]["secret"] = json!("third");
    put(&pools, "2026-01-01", seen.clone()).await.unwrap();
    assert_eq!(stored(&pools).await["properties"]["secret"], "third");
    patch(&pools, "2026-01-01", json!({"properties": {"secret": null}})).await.unwrap();
    assert_eq!(stored(&pools).await["properties"].get("secret"), None);
    put(&pools, "2026-01-01", seen.clone()).await.unwrap();
    seen["properties"]["secret"] = Json::Null;
    put(&pools, "2026-01-01", seen).await.unwrap();
    assert_eq!(stored(&pools).await["properties"].get("secret"), None);
}

#[tokio::test]
async fn nobody_learns_what_they_do_not_see_by_a_patch_and_the_service_sees_all() {
    let pools = collection("pools");
    let with_secret = json!({"location": "here", "properties": {"secret": "hush", "count": 3}});
    create(&pools, "2026-01-01", with_secret).await.unwrap();
    for operation in [
        json!({"op": "copy", "from": "/properties/secret", "path": "/tags/x"}),
        json!({"op": "move", "from": "/properties/secret", "path": "/tags/x"}),
        json!({"op": "test", "path": "/properties/secret", "value": "hush"}),
    ] {
        let body = json!([operation]).to_string();
        let refused = pools.patch(&name("one"), Write::json_patch("2026-01-01", body.as_bytes())).await;
        assert!(matches!(refused, Err(RepositoryError::Write(WriteError::Patch(_)))), "{operation}");
    }
    let body = json!([{"op": "add", "path": "/properties/count", "value": 4}]).to_string();
    pools.patch(&name("one"), Write::json_patch("2026-01-01", body.as_bytes())).await.unwrap();
    let written = by_service(&pools, "2026-01-01", json!({"properties": {"count": 5}})).await;
    assert_eq!(json_of(&written)["properties"]["secret"], "hush");
    let whole = pools.get(&name("one"), View::Whole("2025-01-01")).await.unwrap().unwrap();
    let whole: Json = serde_json::from_slice(&whole.json).unwrap();
    assert_eq!(whole["properties"]["secret"], "hush");
}

/// What back ends read.
async fn stored(documents: &Collection) -> Json {
    let read = documents.get(&name("one"), View::Hub).await.unwrap().unwrap();
    serde_json::from_slice(&read.json).unwrap()
}
