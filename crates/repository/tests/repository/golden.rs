//! Records of every format that ever was, as they are stored and as they read: today's code reads them forever.
//!
//! A file is written once, by `WHEELWRIGHT_WRITE_GOLDEN=1 cargo test -p wheelwright-repository golden`, and never again.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value as Json, json};
use wheelwright_repository::{Collection, Repository, View, Write};
use wheelwright_store::{Memory, Store};

use crate::support::{example, name, served};

const EPOCHS: [&str; 1] = ["epoch-1"];

fn folder(epoch: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(epoch)
}

/// The kinds that golden records are of, by the catalog that a file names.
fn collection(catalog: &str) -> (Collection, Memory) {
    let store = Memory::new();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogs").join(catalog);
    let kinds = if own.exists() { served(&own) } else { example(catalog) };
    let repository = Repository::new(Arc::new(store.clone()), kinds);
    (repository.kinds().next().unwrap(), store)
}

#[tokio::test]
async fn golden_records_read_as_ever() {
    for epoch in EPOCHS {
        let files = fs::read_dir(folder(epoch)).unwrap().map(|entry| entry.unwrap().path());
        let mut count = 0;
        for path in files {
            let golden: Json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let (documents, store) = collection(golden["catalog"].as_str().unwrap());
            let at = name(golden["name"].as_str().unwrap());
            let bytes = golden["record"].as_str().unwrap().as_bytes();
            let key = documents.kind().key(&at).unwrap();
            store.create(&key, bytes.to_vec()).await.unwrap();
            for (version, expected) in golden["reads"].as_object().unwrap() {
                let read = documents.get(&at, View::Version(version)).await.unwrap().unwrap();
                let shown: Json = serde_json::from_slice(&read.json).unwrap();
                let mut expected = expected.clone();
                // That is the store's to choose.
                if let Some(revision) = expected.pointer_mut("/metadata/resourceVersion") {
                    *revision = read.revision.as_str().into();
                }
                assert_eq!(shown, expected, "{} as {version}", path.display());
                assert_eq!(read.origin.created_with.as_str(), golden["createdWith"], "{}", path.display());

                let back = Write::document(version, &read.json);
                let back = documents.update(&at, &read.revision, back).await.unwrap();
                assert!(!back.is_changed, "{} written back as {version}", path.display());
            }
            // What is written next differs from the record by what was changed, and by nothing else.
            let read = documents.get(&at, View::Hub).await.unwrap().unwrap();
            let kept = |metadata: &mut wheelwright_repository::Metadata, _: &mut wheelwright_evolve::Origin| {
                metadata.provisioning_state = Some("Golden".into());
            };
            documents.update_metadata(&at, &read.revision, kept).await.unwrap();
            let written = store.get(&key).await.unwrap().unwrap().value;
            let mut written: Json = serde_json::from_slice(&written).unwrap();
            let mut before: Json = serde_json::from_slice(bytes).unwrap();
            assert_eq!(written["metadata"]["provisioningState"], "Golden");
            match before["metadata"].get("provisioningState") {
                Some(state) => written["metadata"]["provisioningState"] = state.clone(),
                None => drop(written["metadata"].as_object_mut().unwrap().remove("provisioningState")),
            }
            drop(written.as_object_mut().unwrap().remove("$checksum"));
            drop(before.as_object_mut().unwrap().remove("$checksum"));
            assert_eq!(written, before, "{}", path.display());
            count += 1;
        }
        assert!(count >= 3, "{epoch} has {count}");
    }
}

/// Writes the files of the newest format that are not there.
#[tokio::test]
async fn golden_files_that_are_missing_are_written_when_asked_for() {
    if env::var_os("WHEELWRIGHT_WRITE_GOLDEN").is_none() {
        return;
    }
    let epoch = folder(EPOCHS[EPOCHS.len() - 1]);
    fs::create_dir_all(&epoch).unwrap();
    for (file, catalog, at, writes) in stories() {
        let path = epoch.join(file);
        if path.exists() {
            continue;
        }
        let (documents, store) = collection(catalog);
        let at = name(at);
        let mut created_with = None;
        for (version, body) in writes {
            let body = body.to_string();
            match documents.get(&at, View::Hub).await.unwrap() {
                None => {
                    created_with = Some(version);
                    let write = Write::document(version, body.as_bytes()).by_service();
                    documents.create(&at, write).await.unwrap();
                }
                Some(read) => {
                    let write = Write::merge_patch(version, body.as_bytes()).by_service();
                    documents.update(&at, &read.revision, write).await.unwrap();
                }
            }
        }
        let read = documents.get(&at, View::Hub).await.unwrap().unwrap();
        let keep = |metadata: &mut wheelwright_repository::Metadata, origin: &mut wheelwright_evolve::Origin| {
            metadata.uid = Some("3b0e6a4c-0000-4000-8000-000000000001".into());
            metadata.provisioning_state = Some("Succeeded".into());
            metadata.created_at = "2026-11-16T12:00:00.123Z".parse().ok();
            metadata.modified_at = "2026-11-16T12:01:00Z".parse().ok();
            origin.act_as = Some(origin.created_with.clone());
        };
        documents.update_metadata(&at, &read.revision, keep).await.unwrap();
        let key = documents.kind().key(&at).unwrap();
        let stored = store.get(&key).await.unwrap().unwrap();
        let mut record = String::from_utf8(stored.value.clone()).unwrap();
        // As a newer release of the same format would have written it.
        if file == "from-a-newer-release.json" {
            record = record.replacen(r#""metadata":{"#, r#""metadata":{"region":{"name":"north"},"#, 1);
            record = record.replacen(r#","object":{"#, r#","checksum":"0badcafe","object":{"#, 1);
        }
        let (fresh, store) = collection(catalog);
        store.create(&key, record.clone().into_bytes()).await.unwrap();
        let mut reads = serde_json::Map::new();
        for version in &documents.kind().kind().history().versions {
            let read = fresh.get(&at, View::Version(version.name.as_str())).await.unwrap().unwrap();
            reads.insert(version.name.as_str().to_owned(), serde_json::from_slice(&read.json).unwrap());
        }
        let golden = json!({"catalog": catalog, "name": at.as_str(), "createdWith": created_with, "record": record,
            "reads": reads});
        fs::write(path, format!("{golden:#}\n")).unwrap();
    }
}

/// What is written for a golden file: the file, the catalog, the name, and the versions with what they write.
type Story = (&'static str, &'static str, &'static str, Vec<(&'static str, Json)>);

fn stories() -> Vec<Story> {
    let order = |spec: Json| {
        json!({"apiVersion": "shop.example.com/v1", "kind": "Order", "spec": spec,
        "metadata": {"name": "books", "labels": {"a": "b"}, "finalizers": ["shop/refund"]}})
    };
    let thing = |spec: Json| {
        json!({"apiVersion": "test.example.com/v1", "kind": "Thing", "metadata": {"name": "one"},
        "spec": spec, "status": {"ready": true}})
    };
    vec![
        (
            "order.json",
            "orders",
            "shop/books",
            vec![
                (
                    "v1",
                    order(
                        json!({"city": "Ulm", "coupon": "SPRING", "qty": 0, "lines": [{"sku": "B-1", "gift": true}]}),
                    ),
                ),
                ("v3", json!({"spec": {"delivery": {"country": "de"}}})),
            ],
        ),
        (
            "pool.json",
            "pools",
            "group/pool",
            vec![
                (
                    "2025-01-01",
                    json!({"location": "north", "tags": {"team": "a"}, "properties": {"size": "s", "autoRepair": false,
                        "zone": "1", "disks": [{"name": "a", "lun": 0}], "url": "https://127.0.0.1"}}),
                ),
                ("2026-01-01", json!({"properties": {"quota": 0, "endpoint": "e"}})),
            ],
        ),
        (
            "thing.json",
            "things",
            "ns/one",
            vec![
                (
                    "v1",
                    thing(
                        json!({"old": 3, "timeout": "90m", "box": {"depth": 2.50}, "maybe": null, "free": {"$bag": 1},
                        "parts": {"a": {"weight": 1}}, "rows": [{"name": "r", "size": 2}], "plainText": "text"}),
                    ),
                ),
                ("v3", json!({"spec": {"newest": "now", "shortText": null, "newBox": {}, "lines": [{"added": "x"}]}})),
            ],
        ),
        ("from-a-newer-release.json", "orders", "shop/later", vec![("v2", order(json!({"priority": "high"})))]),
    ]
}
