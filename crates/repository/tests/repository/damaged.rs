//! Records that are damaged, or of a release that is not known yet: clear errors, and nothing is lost.

use std::{path::Path, sync::Arc};

use serde_json::{Value as Json, json};
use wheelwright_repository::{Collection, Name, OpenError, RecordError, Repository, RepositoryError, View, Write};
use wheelwright_store::{Memory, PageRequest, Revision, Store};

use crate::support::{example, name, served};

struct Planted {
    store: Memory,
    documents: Collection,
    count: usize,
}

fn planted() -> Planted {
    let store = Memory::new();
    let orders = Repository::new(Arc::new(store.clone()), example("orders")).kinds().next().unwrap();
    Planted { store, documents: orders, count: 0 }
}

/// A store of ARM resources.
fn planted_pools() -> Planted {
    let store = Memory::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogs/pools");
    let pools = Repository::new(Arc::new(store.clone()), served(&folder)).kinds().next().unwrap();
    Planted { store, documents: pools, count: 0 }
}

fn record() -> Json {
    json!({
        "$wheelwright": 1,
        "hub": "v3",
        "oldestWriter": "v3",
        "origin": {"createdWith": "v1", "writtenWith": "v3", "actAs": "v2"},
        "metadata": {
            "uid": "u", "generation": 2, "createdAt": "2026-01-01T00:00:00Z", "modifiedAt": "2026-01-02T00:00:00Z",
            "deletedAt": "2026-01-03T00:00:00Z", "finalizers": ["shop/refund"], "tags": {"a": "b"},
            "systemData": {"createdBy": "me"}, "provisioningState": "Succeeded", "future": {"x": [1, null]}
        },
        "future": {"y": 1.50},
        "object": {"apiVersion": "shop.example.com/v3", "kind": "Order", "metadata": {"name": "books"},
            "spec": {"quantity": 3, "$bag": {"spec.coupon": "SPRING", "spec.unheardOf": 1}}}
    })
}

impl Planted {
    async fn plant(&mut self, bytes: &[u8]) -> (Name, Revision) {
        self.count += 1;
        let at = name(&format!("shop/{}", self.count));
        let revision = self.store.create(&self.documents.kind().key(&at).unwrap(), bytes.to_vec()).await.unwrap();
        (at, revision)
    }

    async fn bytes(&self, at: &Name) -> Vec<u8> {
        self.store.get(&self.documents.kind().key(at).unwrap()).await.unwrap().unwrap().value
    }

    /// What everybody is told about a record that cannot be opened, which stays as it is whatever they try.
    async fn refused(&mut self, bytes: &[u8]) -> RepositoryError {
        let (at, revision) = self.plant(bytes).await;
        let read = self.documents.get(&at, View::Hub).await.unwrap_err();
        let patch = Write::merge_patch("v1", b"{}");
        let written = self.documents.update(&at, &revision, patch).await.unwrap_err();
        let patched = self.documents.patch(&at, patch).await.unwrap_err();
        let deleted = self.documents.delete(&at, &revision).await.unwrap_err();
        let kept =
            self.documents.update_metadata(&at, &revision, |metadata, _| metadata.generation = 1).await.unwrap_err();
        for other in [written, patched, deleted, kept] {
            assert_eq!(other.to_string(), read.to_string());
        }
        assert!(read.to_string().starts_with(&format!("{at}: ")), "{read}");
        assert_eq!(self.bytes(&at).await, bytes);
        read
    }
}

#[tokio::test]
async fn a_record_that_lacks_a_part_or_has_another_type_there_is_refused_and_the_part_named() {
    let mut planted = planted();
    let wrong = [json!(null), json!(true), json!(-1), json!(1.5), json!(""), json!("x"), json!([1]), json!({"x": 1})];
    for (part, fits) in [
        ("/hub", "text"),
        ("/oldestWriter", "text"),
        ("/origin", ""),
        ("/origin/createdWith", "text"),
        ("/origin/writtenWith", "text"),
        ("/origin/actAs", "text"),
        ("/metadata/uid", "any text"),
        ("/metadata/generation", ""),
        ("/metadata/createdAt", ""),
        ("/metadata/modifiedAt", ""),
        ("/metadata/deletedAt", ""),
        ("/metadata/finalizers", ""),
        ("/metadata/provisioningState", "any text"),
        ("/object", "object"),
        ("/$wheelwright", ""),
    ] {
        for value in &wrong {
            let is_fitting = match fits {
                "any text" => value.is_string(),
                "text" => value == "x",
                "object" => value.is_object(),
                _ => false,
            };
            let mut record = record();
            *record.pointer_mut(part).unwrap() = value.clone();
            let bytes = record.to_string().into_bytes();
            if is_fitting {
                continue;
            }
            let error = planted.refused(&bytes).await;
            let named = part.rsplit('/').next().unwrap();
            assert!(error.to_string().contains(named), "{part} is {value}: {error}");
            assert!(
                matches!(&error, RepositoryError::Record(_, OpenError::Record(RecordError::Malformed(..)))),
                "{part} is {value}: {error}"
            );
        }
    }
    for part in ["hub", "origin", "metadata", "object"] {
        let mut record = record();
        record.as_object_mut().unwrap().remove(part);
        let error = planted.refused(record.to_string().as_bytes()).await;
        assert!(error.to_string().ends_with(&format!("the record is damaged: {part} is missing")), "{error}");
    }
    for part in ["createdWith", "writtenWith"] {
        let mut record = record();
        record["origin"].as_object_mut().unwrap().remove(part);
        let error = planted.refused(record.to_string().as_bytes()).await;
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[tokio::test]
async fn what_may_be_missing_may_be_missing() {
    let mut planted = planted();
    let mut record = record();
    record.as_object_mut().unwrap().remove("oldestWriter");
    record["metadata"] = json!({});
    let (at, revision) = planted.plant(record.to_string().as_bytes()).await;
    let read = planted.documents.get(&at, View::Origin).await.unwrap().unwrap();
    assert_eq!((read.version.as_str(), read.metadata.generation), ("v2", 0));
    let patch = Write::merge_patch("v3", br#"{"spec":{"quantity":4}}"#);
    let written = planted.documents.update(&at, &revision, patch).await.unwrap();
    assert_eq!(written.document.metadata.generation, 1);
    assert!(written.document.metadata.uid.is_some());
}

#[tokio::test]
async fn a_record_of_a_newer_format_is_refused_with_what_to_do() {
    let mut planted = planted();
    for format in [json!(2), json!(u64::from(u32::MAX) + 1)] {
        let mut record = record();
        record["$wheelwright"] = format.clone();
        let error = planted.refused(record.to_string().as_bytes()).await.to_string();
        assert!(error.contains(&format!("in format {format}; this one knows formats up to 1: update it")), "{error}");
    }
    let mut record = record();
    record["hub"] = json!("v9");
    let error = planted.refused(record.to_string().as_bytes()).await.to_string();
    assert!(error.contains("stored in the shape of v9"), "{error}");
}

#[tokio::test]
async fn what_is_no_record_is_told_from_a_document() {
    let mut planted = planted();
    for (text, told) in [
        ("", "the store cannot read it"),
        ("{", "no JSON"),
        ("[1]", "not an object"),
        ("null", "not an object"),
        ("{}", "it has no apiVersion"),
        (r#"{"apiVersion":"shop.example.com/v9","kind":"Order"}"#, "shop.example.com/v9 is no version of Order"),
        (r#"{"apiVersion":"shop.example.com/v1","kind":"Other"}"#, "its kind is Other, and not Order"),
    ] {
        let error = planted.refused(text.as_bytes()).await.to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
}

#[tokio::test]
async fn half_a_record_is_never_read_as_a_whole_one() {
    let mut planted = planted();
    let whole = record().to_string();
    for end in 1..whole.len() {
        let error = planted.refused(&whole.as_bytes()[..end]).await;
        assert!(matches!(error, RepositoryError::Record(_, OpenError::Record(RecordError::Decode(_)))), "{error}");
    }
}

#[tokio::test]
async fn a_list_tells_the_good_and_the_bad() {
    let mut planted = planted();
    planted.plant(record().to_string().as_bytes()).await;
    planted.plant(b"{").await;
    planted.plant(record().to_string().as_bytes()).await;
    let listed = planted.documents.list(None, PageRequest::default(), View::Version("v1")).await.unwrap();
    let told: Vec<bool> = listed.items.iter().map(Result::is_ok).collect();
    assert_eq!(told, [true, false, true]);
}

#[tokio::test]
async fn what_a_newer_release_says_is_kept_by_every_sort_of_write() {
    let mut planted = planted();
    for version in ["v1", "v2", "v3"] {
        let before = record();
        let (at, revision) = planted.plant(before.to_string().replace("1.5", "1.50").as_bytes()).await;
        let coupon = if version == "v3" { json!("SPRING") } else { json!("FALL") };
        let patch = json!({"spec": {"coupon": coupon, "lines": [{"gift": true}]}}).to_string();
        let written =
            planted.documents.update(&at, &revision, Write::merge_patch(version, patch.as_bytes())).await.unwrap();
        let kept = planted.documents.update_metadata(&at, &written.document.revision, |metadata, _| {
            metadata.provisioning_state = Some("Updating".into());
        });
        kept.await.unwrap();
        let bytes = planted.bytes(&at).await;
        assert!(String::from_utf8_lossy(&bytes).contains(r#""future":{"y":1.50}"#), "as it was spelled");
        let after: Json = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(after["future"], before["future"]);
        assert_eq!(after["metadata"]["future"], before["metadata"]["future"]);
        assert_eq!(after["oldestWriter"], "v3");
        assert_eq!(after["origin"]["actAs"], "v2");
        assert_eq!(after["metadata"]["tags"], before["metadata"]["tags"], "not shown by this kind, and kept");
        assert_eq!(after["object"]["spec"]["$bag"]["spec.unheardOf"], 1);
        assert_eq!(after["object"]["spec"]["$bag"]["spec.coupon"], coupon);
    }
}

#[tokio::test]
async fn what_a_resource_says_of_its_type_follows_from_where_it_is() {
    let mut planted = planted();
    for (key, value) in [("kind", json!("")), ("kind", json!(null)), ("apiVersion", json!("other/v9"))] {
        let mut record = record();
        record["object"][key] = value;
        let before = record.to_string();
        let (at, revision) = planted.plant(before.as_bytes()).await;
        for version in ["v1", "v2", "v3"] {
            let read = planted.documents.get(&at, View::Version(version)).await.unwrap().unwrap();
            let shown: Json = serde_json::from_slice(&read.json).unwrap();
            let told = (&shown["apiVersion"], &shown["kind"]);
            assert_eq!(told, (&json!(format!("shop.example.com/{version}")), &json!("Order")));
            let back = planted.documents.update(&at, &revision, Write::document(version, &read.json)).await.unwrap();
            assert!(!back.is_changed, "{key} through {version}");
            assert_eq!(String::from_utf8(planted.bytes(&at).await).unwrap(), before);
        }
    }
}

#[tokio::test]
async fn the_highest_generation_is_not_passed() {
    let mut planted = planted();
    let mut record = record();
    record["metadata"]["generation"] = json!(i64::MAX);
    let (at, revision) = planted.plant(record.to_string().as_bytes()).await;
    let patch = Write::merge_patch("v3", br#"{"spec":{"quantity":4}}"#);
    planted.documents.update(&at, &revision, patch).await.unwrap();
    let read = planted.documents.get(&at, View::Hub).await.unwrap().unwrap();
    assert_eq!(read.metadata.generation, i64::MAX as u64);
}

#[tokio::test]
async fn what_an_object_says_where_the_service_speaks_nobody_sees_and_nothing_takes_away() {
    let pool = json!({
        "$wheelwright": 1, "hub": "2026-01-01",
        "origin": {"createdWith": "2025-01-01", "writtenWith": "2026-01-01"},
        "metadata": {},
        "object": {"name": "A b", "id": "i", "location": "north", "type": "t", "etag": "e", "eTag": "E", "$bag": {"x": 1},
            "properties": {"count": 1, "provisioningState": "Hidden", "quota": 3}, "tags": {"a": "b"}, "systemData": {"createdBy": "me"}}
    });
    let mut order = record();
    order["metadata"] = json!({});
    order["object"]["metadata"] = json!({"uid": "mine", "name": "books", "labels": {"a": "b"}, "generation": 7,
        "creationTimestamp": "x", "finalizers": ["f"], "resourceVersion": "9", "selfLink": "s"});
    for (mut planted, versions, record, patch, changed) in [
        (
            planted(),
            &["v1", "v2", "v3"][..],
            order,
            r#"{"metadata":{"labels":{"a":"c"}}}"#,
            ("/metadata/labels/a", json!("c")),
        ),
        (
            planted_pools(),
            &["2025-01-01", "2026-01-01"],
            pool,
            r#"{"properties":{"count":5}}"#,
            ("/properties/count", json!(5)),
        ),
    ] {
        for version in versions {
            let before = record.to_string();
            let (at, revision) = planted.plant(before.as_bytes()).await;
            let read = planted.documents.get(&at, View::Version(version)).await.unwrap().unwrap();
            let shown = String::from_utf8(read.json.clone()).unwrap();
            for hidden in ["A b", "Hidden", "createdBy", "mine", "selfLink", "finalizers", "creationTimestamp"] {
                assert!(!shown.contains(hidden), "{version} shows {hidden}: {shown}");
            }
            let back = planted.documents.update(&at, &revision, Write::document(version, &read.json)).await.unwrap();
            assert!(!back.is_changed, "{version}");
            assert_eq!(String::from_utf8(planted.bytes(&at).await).unwrap(), before);

            let patched = Write::merge_patch(version, patch.as_bytes());
            assert!(planted.documents.update(&at, &revision, patched).await.unwrap().is_changed);
            let after: Json = serde_json::from_slice(&planted.bytes(&at).await).unwrap();
            let mut expected = record["object"].clone();
            *expected.pointer_mut(changed.0).unwrap() = changed.1.clone();
            assert_eq!(after["object"], expected, "{version}");
        }
    }
}

#[tokio::test]
async fn a_record_that_was_changed_or_is_under_another_key_is_refused_by_everything_but_its_removal() {
    let mut planted = planted();
    let body = json!({"apiVersion": "shop.example.com/v1", "kind": "Order", "metadata": {"name": "books"}, "spec": {"qty": 3}});
    let at = name("shop/books");
    planted.documents.create(&at, Write::document("v1", body.to_string().as_bytes())).await.unwrap();
    let whole = planted.bytes(&at).await;
    let is_checksum =
        |error: &RepositoryError| matches!(error, RepositoryError::Record(_, OpenError::Record(RecordError::Checksum)));
    let moved = planted.refused(&whole).await;
    assert!(is_checksum(&moved), "{moved}");
    let changed = String::from_utf8(whole.clone()).unwrap().replacen(r#""quantity":3"#, r#""quantity":4"#, 1);
    let read = planted.store.get(&planted.documents.kind().key(&at).unwrap()).await.unwrap().unwrap();
    let key = planted.documents.kind().key(&at).unwrap();
    let mut revision = planted.store.replace(&key, &read.revision, changed.clone().into_bytes()).await.unwrap();
    assert!(is_checksum(&planted.documents.get(&at, View::Hub).await.unwrap_err()));
    // No flipped bit is shown, wherever it is.
    for bit in 0..whole.len() * 8 {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        revision = planted.store.replace(&key, &revision, damaged).await.unwrap();
        planted.documents.get(&at, View::Hub).await.unwrap_err();
    }
    planted.documents.delete_record(&at, &revision).await.unwrap();
}

#[tokio::test]
async fn a_record_that_an_older_release_wrote_again_is_read_and_gets_a_new_checksum() {
    let planted = planted();
    let body = json!({"apiVersion": "shop.example.com/v1", "kind": "Order", "metadata": {"name": "books"}, "spec": {"qty": 3}});
    let at = name("shop/books");
    let written = planted.documents.create(&at, Write::document("v1", body.to_string().as_bytes())).await.unwrap();
    // It keeps members that it does not know before the object, and changes the rest.
    let record = String::from_utf8(planted.bytes(&at).await).unwrap();
    let (rest, sum) = record.rsplit_once(",\"$checksum\":").unwrap();
    let rest = rest.replacen(r#""quantity":3"#, r#""quantity":4"#, 1);
    let (before, object) = rest.split_once(r#","object":"#).unwrap();
    let older = format!(r#"{before},"$checksum":{},"object":{object}}}"#, sum.trim_end_matches('}'));
    let key = planted.documents.kind().key(&at).unwrap();
    planted.store.replace(&key, &written.document.revision, older.into_bytes()).await.unwrap();
    let read = planted.documents.get(&at, View::Version("v3")).await.unwrap().unwrap();
    let shown: Json = serde_json::from_slice(&read.json).unwrap();
    assert_eq!(shown["spec"]["quantity"], 4);
    assert_eq!(planted.documents.sweep_plan().await.unwrap().unchecked, 1);
    assert_eq!(planted.documents.verify().await.unwrap().problems.count, 1);
    planted.documents.sweep(&wheelwright_repository::SweepOptions::default(), |_| ()).await.unwrap();
    assert_eq!(planted.documents.sweep_plan().await.unwrap().unchecked, 0);
    assert!(planted.documents.verify().await.unwrap().problems.is_empty());
    let record = String::from_utf8(planted.bytes(&at).await).unwrap();
    assert_eq!(record.matches("$checksum").count(), 1, "{record}");
    assert!(record.contains(r#""quantity":4"#), "{record}");
}

#[tokio::test]
async fn a_scrub_finds_every_damaged_record_and_no_other() {
    let mut planted = planted();
    let mut expected = Vec::new();
    for number in 0..1200 {
        let at = name(&format!("shop/{number:04}"));
        let body = json!({"apiVersion": "shop.example.com/v1", "kind": "Order", "metadata": {"name": "x"}, "spec": {"qty": 3}});
        let body = body.to_string();
        let written = planted.documents.create(&at, Write::document("v1", body.as_bytes())).await.unwrap();
        if number % 100 == 7 {
            let damaged = String::from_utf8(planted.bytes(&at).await).unwrap().replacen(":3", ":4", 1);
            let key = planted.documents.kind().key(&at).unwrap();
            planted.store.replace(&key, &written.document.revision, damaged.into_bytes()).await.unwrap();
            expected.push(at.to_string());
        }
    }
    let mut newer = record();
    newer["$wheelwright"] = json!(2);
    planted.plant(newer.to_string().as_bytes()).await;
    let (mut records, mut found) = (0, Vec::new());
    let scrub = planted.documents.scrub(0, |page| {
        records += page.records;
        found.extend(page.damaged.into_iter().map(|problem| problem.name.to_string()));
    });
    scrub.await.unwrap();
    assert_eq!((records, found), (1201, expected));
}
