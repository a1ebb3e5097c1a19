//! Documents that were in the store before us are read and written like any other.

use std::{fs, path::Path, sync::Arc};

use serde_json::{Value, json};
use wheelwright_repository::{Collection, OpenError, Repository, RepositoryError, SweepOptions, View, Write};
use wheelwright_store::{Key, Memory, PageRequest, Store};

use crate::support::{example, folder, lock, name, served, served_from};

/// An order as an API server would have stored it.
const ORDER: &str = r#"{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{
    "name":"books","namespace":"shop","uid":"3c1f","resourceVersion":"812","generation":4,"labels":{"a":"b"},
    "creationTimestamp":"2024-05-06T07:08:09Z","finalizers":["shop/refund"],
    "managedFields":[{"manager":"kubectl","operation":"Update"}]},
    "spec":{"city":"Ulm","coupon":"SPRING","lines":[{"sku":"B-1"}]}}"#;

async fn planted(store: &dyn Store, key: &str, document: &str) {
    store.create(&Key::new(key).unwrap(), document.into()).await.unwrap();
}

async fn shown(collection: &Collection, called: &str, view: View<'_>) -> Value {
    serde_json::from_slice(&collection.get(&name(called), view).await.unwrap().unwrap().json).unwrap()
}

#[tokio::test]
async fn a_resource_says_its_version_and_keeps_what_the_server_knew_of_it() {
    let store = Arc::new(Memory::new());
    planted(&*store, "shop.example.com/Order/shop/books", ORDER).await;
    let orders = Repository::new(store, example("orders")).kind("Order").unwrap();
    let read = orders.get(&name("shop/books"), View::Origin).await.unwrap().unwrap();
    assert_eq!((read.version.as_str(), read.origin.created_with.as_str()), ("v1", "v1"));
    let v1: Value = serde_json::from_slice(&read.json).unwrap();
    let metadata = json!({
        "name": "books", "namespace": "shop", "uid": "3c1f", "resourceVersion": read.revision.as_str(), "generation": 4,
        "labels": {"a": "b"}, "creationTimestamp": "2024-05-06T07:08:09Z", "finalizers": ["shop/refund"],
        "managedFields": [{"manager": "kubectl", "operation": "Update"}],
    });
    assert_eq!(v1["metadata"], metadata);
    assert_eq!(v1["spec"]["qty"], 1);
    let v3 = shown(&orders, "shop/books", View::Version("v3")).await;
    assert_eq!(v3["spec"]["delivery"]["city"], "Ulm");
    assert_eq!(v3["spec"]["priority"], "normal");
    assert_eq!(v3["metadata"], metadata);
    assert_eq!(shown(&orders, "shop/books", View::Hub).await, v3);

    // Reading and writing back makes no record of it; a change does, and nothing is lost by it.
    let back = orders.update(&name("shop/books"), &read.revision, Write::document("v1", &read.json)).await.unwrap();
    assert!(!back.is_changed);
    let patch = Write::merge_patch("v3", br#"{"spec":{"quantity":2}}"#);
    let patched = orders.patch(&name("shop/books"), patch).await.unwrap().document;
    assert_eq!((patched.metadata.uid.as_deref(), patched.metadata.generation), (Some("3c1f"), 5));
    assert_eq!(patched.origin.created_with.as_str(), "v1");
    let mut v1 = shown(&orders, "shop/books", View::Version("v1")).await;
    assert_eq!((&v1["spec"]["qty"], &v1["spec"]["coupon"]), (&2.into(), &"SPRING".into()));
    let own = v1["metadata"].as_object_mut().unwrap();
    own.insert("resourceVersion".to_owned(), metadata["resourceVersion"].clone());
    own.insert("generation".to_owned(), 4.into());
    assert_eq!(v1["metadata"], metadata);
}

#[tokio::test]
async fn metadata_that_nobody_could_write_today_stays_until_somebody_writes_something_else() {
    let store = Arc::new(Memory::new());
    let order = ORDER.replace(r#""labels":{"a":"b"}"#, r#""clusterName":"c","labels":{"a":"b"},"annotations":{}"#);
    planted(&*store, "shop.example.com/Order/shop/books", &order).await;
    let orders = Repository::new(store, example("orders")).kind("Order").unwrap();
    let at = name("shop/books");
    for version in ["v1", "v2", "v3"] {
        let read = orders.get(&at, View::Version(version)).await.unwrap().unwrap();
        let back = Write::document(version, &read.json).refusing_unknown();
        assert!(!orders.update(&at, &read.revision, back).await.unwrap().is_changed, "{version}");
    }
    let relabelled = Write::merge_patch("v1", br#"{"metadata":{"labels":{"a":"c"}}}"#).refusing_unknown();
    orders.patch(&at, relabelled).await.unwrap();
    let metadata = &shown(&orders, "shop/books", View::Version("v3")).await["metadata"];
    assert_eq!((&metadata["clusterName"], &metadata["labels"]["a"]), (&"c".into(), &"c".into()));

    let other = Write::merge_patch("v1", br#"{"metadata":{"clusterName":"d"}}"#);
    assert!(orders.patch(&at, other.refusing_unknown()).await.is_err());
    let written = orders.patch(&at, other).await.unwrap();
    assert_eq!(written.notes.unknown.iter().map(ToString::to_string).collect::<Vec<_>>(), ["metadata.clusterName"]);
    assert_eq!(shown(&orders, "shop/books", View::Hub).await["metadata"].get("clusterName"), None);
}

/// Sweeps, and gives what is stored under a key then.
async fn swept(collection: &Collection, store: &dyn Store, key: &str) -> Value {
    collection.sweep(&SweepOptions::default(), |_| ()).await.unwrap();
    let stored = store.get(&Key::new(key).unwrap()).await.unwrap().unwrap();
    serde_json::from_slice(&stored.value).unwrap()
}

#[tokio::test]
async fn a_sweep_makes_records_of_them_and_nobody_sees_a_difference() {
    let store = Arc::new(Memory::new());
    let key = "shop.example.com/Order/shop/books";
    planted(&*store, key, ORDER).await;
    let orders = Repository::new(store.clone(), example("orders")).kind("Order").unwrap();
    let entry = "    adopt: {version: 2024-06-10-preview}\n";
    planted(&*store, "example.pools:pools/p", POOL).await;
    let pools = Repository::new(store.clone(), served_from(&as_texts(&pools(entry)))).kind("NodePool").unwrap();
    let views = || async {
        let mut views = Vec::new();
        for (collection, called, versions) in [
            (&orders, "shop/books", ["v1", "v2", "v3"]),
            (&pools, "p", ["2024-06-10-preview", "2025-12-23-preview", "2026-09-01"]),
        ] {
            for version in versions {
                let mut view = shown(collection, called, View::Version(version)).await;
                // Which revision it is, is another matter.
                view.as_object_mut().unwrap().entry("metadata").or_insert(json!({}))["resourceVersion"] = json!("");
                views.push(view);
            }
        }
        views
    };
    let before = views().await;
    let record = swept(&orders, &*store, key).await;
    assert_eq!(
        (&record["$wheelwright"], &record["hub"], &record["metadata"]["uid"]),
        (&1.into(), &"v3".into(), &"3c1f".into())
    );
    assert_eq!(record["metadata"].get("modifiedAt"), None, "a sweep is no change");
    let record = swept(&pools, &*store, "example.pools:pools/p").await;
    assert_eq!(record["object"]["properties"]["autoRepair"], false);
    assert_eq!(record["metadata"]["provisioningState"], "Succeeded");
    assert_eq!(views().await, before);
}

/// Node pools of an ARM provider that were stored by a program which leaves out false, 0 and "".
fn pools(entry: &str) -> Vec<(String, String)> {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/openapi-defaults");
    let read = |file: &str| (file.to_owned(), fs::read_to_string(example.join(file)).unwrap());
    let mut files: Vec<_> =
        ["2024-06-10-preview.json", "2025-12-23-preview.json", "2026-09-01.json", "changes.yaml"].map(read).into();
    let (name, catalog) = read("wheelwright.yaml");
    files.push((name, format!("{catalog}    arm: Example.Pools/pools\n{entry}")));
    files
}

fn as_texts(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files.iter().map(|(name, text)| (&**name, &**text)).collect()
}

const POOL: &str = r#"{"name":"p","tags":{"team":"a"},"systemData":{"createdBy":"ann"},"properties":{
    "provisioningState":"Succeeded","drainMinutes":9,"platform":{"vmSize":"small","osDisk":{}}}}"#;

#[tokio::test]
async fn of_documents_that_do_not_say_it_the_catalog_says_the_version_and_where_they_lie() {
    let store = Arc::new(Memory::new());
    planted(&*store, "legacy/pools/group/p", POOL).await;
    let entry = "    adopt: {version: 2024-06-10-preview, prefix: legacy/pools}\n";
    let pools = Repository::new(store.clone(), served_from(&as_texts(&pools(entry)))).kind("NodePool").unwrap();
    let document = pools.get(&name("group/p"), View::Version("2026-09-01")).await.unwrap().unwrap();
    let metadata = &document.metadata;
    assert_eq!(metadata.provisioning_state.as_deref(), Some("Succeeded"));
    assert!(metadata.tags.is_some() && metadata.system_data.is_some());
    let new: Value = serde_json::from_slice(&document.json).unwrap();
    assert_eq!(new["properties"]["drain"]["minutes"], 9);
    assert_eq!(new["properties"]["provisioningState"], "Succeeded");
    // False was left out by its writer, and stays false; no disk has 0 GiB, so that was left open.
    assert_eq!(new["properties"]["autoRepair"], false);
    assert_eq!(new["properties"]["platform"]["osDisk"]["sizeGiB"], 64);

    let patch = Write::merge_patch("2026-09-01", br#"{"properties":{"replicas":2}}"#);
    let patched = pools.patch(&name("group/p"), patch).await.unwrap().document;
    assert_eq!(patched.metadata.provisioning_state.as_deref(), Some("Succeeded"));
    assert_eq!(patched.origin.created_with.as_str(), "2024-06-10-preview");
    let old = shown(&pools, "group/p", View::Version("2024-06-10-preview")).await;
    assert_eq!((&old["properties"]["autoRepair"], &old["properties"]["replicas"]), (&false.into(), &2.into()));
    // New ones lie beside the old ones.
    let new = br#"{"properties":{"platform":{"vmSize":"big"}}}"#;
    pools.create(&name("group/q"), Write::document("2026-09-01", new)).await.unwrap();
    assert!(store.get(&Key::new("legacy/pools/group/q").unwrap()).await.unwrap().is_some());
    assert_eq!(pools.list(Some(&name("group")), PageRequest::default(), View::Hub).await.unwrap().items.len(), 2);
}

#[tokio::test]
async fn what_cannot_be_told_is_refused_with_the_reason() {
    let refused = |pools: Collection| async move {
        match pools.get(&name("p"), View::Hub).await {
            Err(RepositoryError::Record(_, error)) => error,
            other => panic!("{other:?}"),
        }
    };
    let store = Arc::new(Memory::new());
    planted(&*store, "example.pools:pools/p", POOL).await;
    let open = Repository::new(store.clone(), served_from(&as_texts(&pools("")))).kind("NodePool").unwrap();
    let error = refused(open).await;
    assert!(matches!(error, OpenError::NoVersion(_)) && error.to_string().contains("adopt"), "{error}");

    // Whether zero is valid, only the schema tells; without it, absent may mean either.
    let entry = "    adopt: {version: 2024-06-10-preview}\n";
    let mut files = pools(entry);
    let catalog = folder(&as_texts(&files));
    lock(catalog.path(), None);
    let catalog_file = &mut files.last_mut().unwrap().1;
    *catalog_file = catalog_file.replace("      2024-06-10-preview: 2024-06-10-preview.json\n", "");
    fs::write(catalog.path().join("wheelwright.yaml"), &*catalog_file).unwrap();
    let gone = Repository::new(store.clone(), served(catalog.path())).kind("NodePool").unwrap();
    let error = refused(gone.clone()).await;
    let OpenError::AmbiguousZeros(reasons) = &error else { panic!("{error}") };
    assert!(reasons.iter().any(|reason| reason.contains("properties.autoRepair")), "{reasons:?}");
    // A list goes on without it, and it is written by nobody.
    assert!(gone.list(None, PageRequest::default(), View::Hub).await.unwrap().items[0].is_err());
    let patch = Write::merge_patch("2026-09-01", br#"{"properties":{"replicas":2}}"#);
    assert!(matches!(gone.patch(&name("p"), patch).await, Err(RepositoryError::Record(..))));
    assert_eq!(swept(&gone, &*store, "example.pools:pools/p").await, serde_json::from_str::<Value>(POOL).unwrap());
    assert_eq!(store.get(&Key::new("example.pools:pools/p").unwrap()).await.unwrap().unwrap().value, POOL.as_bytes());
}

#[tokio::test]
async fn what_a_document_says_of_itself_is_kept_or_refused() {
    let store = Arc::new(Memory::new());
    let orders = Repository::new(store.clone(), example("orders")).kind("Order").unwrap();
    let broken = [
        (r#"["shop/refund"]"#, r#"["shop/refund",1]"#, "metadata.finalizers"),
        (r#""2024-05-06T07:08:09Z""#, r#""yesterday""#, "metadata.creationTimestamp"),
        (r#""uid":"3c1f""#, r#""uid":5"#, "metadata.uid"),
        (r#""generation":4"#, r#""generation":-1"#, "metadata.generation"),
        (r#""generation":4"#, r#""generation":"4""#, "metadata.generation"),
    ];
    for (number, (there, instead, field)) in broken.into_iter().enumerate() {
        let called = format!("shop/{number}");
        planted(&*store, &format!("shop.example.com/Order/{called}"), &ORDER.replace(there, instead)).await;
        let refused = orders.get(&name(&called), View::Hub).await.unwrap_err();
        assert!(matches!(refused, RepositoryError::Record(_, OpenError::Metadata(_))), "{refused}");
        assert!(refused.to_string().contains(field), "{refused}");
    }
}

#[tokio::test]
async fn what_no_version_declares_is_kept_by_a_sweep() {
    let store = Arc::new(Memory::new());
    let key = "shop.example.com/Order/shop/books";
    let odd = ORDER
        .replace(r#""city":"Ulm""#, r#""city":"Ulm","newer":5"#)
        .replace(r#""sku":"B-1""#, r#""sku":"B-1","weight":3"#);
    planted(&*store, key, &odd).await;
    let orders = Repository::new(store.clone(), example("orders")).kind("Order").unwrap();
    let record = swept(&orders, &*store, key).await.to_string();
    assert!(record.contains(r#""newer":5"#) && record.contains(r#""weight":3"#), "{record}");
}

#[tokio::test]
async fn a_key_that_looks_like_ours_costs_nothing_of_what_is_beside_it() {
    let store = Arc::new(Memory::new());
    let key = "shop.example.com/Order/shop/books";
    let odd = ORDER
        .replace(r#""city":"Ulm""#, r#""city":"Ulm","$bag":{"spec.coupon":"x"},"old":{"$bag":1,"$$bag":2}"#)
        .replace(r#""sku":"B-1""#, r#""sku":"B-1","$bag":"mine","weight":3"#);
    planted(&*store, key, &odd).await;
    let orders = Repository::new(store.clone(), example("orders")).kind("Order").unwrap();
    let before = shown(&orders, "shop/books", View::Version("v1")).await;
    assert_eq!(before["spec"]["coupon"], "SPRING", "nobody's key is taken for a bag");
    let spec = swept(&orders, &*store, key).await["object"]["spec"].clone();
    assert_eq!((&spec["$$bag"], &spec["old"]), (&json!({"spec.coupon": "x"}), &json!({"$bag": 1, "$$bag": 2})));
    assert_eq!((&spec["lines"][0]["$$bag"], &spec["lines"][0]["weight"]), (&json!("mine"), &json!(3)));
    let after = shown(&orders, "shop/books", View::Version("v1")).await;
    assert_eq!(after["spec"], before["spec"]);
}

#[tokio::test]
async fn the_key_says_what_a_document_is_called_and_it_can_be_written_back() {
    let store = Arc::new(Memory::new());
    planted(&*store, "shop.example.com/Order/shop/books", &ORDER.replace(r#""name":"books""#, r#""name":"other""#))
        .await;
    let orders = Repository::new(store.clone(), example("orders")).kind("Order").unwrap();
    let read = orders.get(&name("shop/books"), View::Version("v1")).await.unwrap().unwrap();
    let document: Value = serde_json::from_slice(&read.json).unwrap();
    assert_eq!(document["metadata"]["name"], "books");
    let back = orders.update(&name("shop/books"), &read.revision, Write::document("v1", &read.json)).await.unwrap();
    assert!(!back.is_changed);
    let patch = Write::merge_patch("v3", br#"{"spec":{"quantity":2}}"#);
    let patched = orders.patch(&name("shop/books"), patch).await.unwrap().document;
    assert_eq!(serde_json::from_slice::<Value>(&patched.json).unwrap()["metadata"]["name"], "books");
}
