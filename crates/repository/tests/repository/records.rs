//! A record is stored and read as docs/records.md shows.

use std::{fs, path::Path, sync::Arc};

use serde_json::Value;
use wheelwright_repository::{Repository, View, Write};
use wheelwright_store::{Key, Memory, Store};

use crate::support::{example, name};

const ORDER: &[u8] = br#"{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{"labels":{"a":"b"}},
    "spec":{"city":"Ulm","coupon":"SPRING","qty":3,"lines":[{"sku":"B-1"}]}}"#;

/// The blocks of JSON that the page shows.
fn documented() -> Vec<Value> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/records.md")).unwrap();
    let blocks = page.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.map(|block| serde_json::from_str(block).unwrap()).collect()
}

#[tokio::test]
async fn the_page_shows_a_record_and_what_versions_show_of_it() {
    let [record, v1, v3] = &documented()[..] else { panic!("a record, and what two versions show of it") };
    let store = Arc::new(Memory::new());
    let clock = || "2026-05-06T07:08:09.123Z".parse().unwrap();
    let orders = Repository::new(store.clone(), example("orders")).with_clock(clock).kind("Order").unwrap();
    let created = orders.create(&name("shop/books"), Write::document("v1", ORDER)).await.unwrap();
    let stored = store.get(&Key::new("shop.example.com/Order/shop/books").unwrap()).await.unwrap().unwrap();
    let mut stored: Value = serde_json::from_slice(&stored.value).unwrap();
    assert_eq!(stored["metadata"]["uid"].as_str(), created.document.metadata.uid.as_deref());
    // It covers the uid.
    assert!(stored["$checksum"].is_string());
    stored["$checksum"] = record["$checksum"].clone();
    stored["metadata"]["uid"] = record["metadata"]["uid"].clone();
    assert_eq!(stored, *record);
    for (version, expected) in [("v1", v1), ("v3", v3)] {
        let document = orders.get(&name("shop/books"), View::Version(version)).await.unwrap().unwrap();
        let mut shown: Value = serde_json::from_slice(&document.json).unwrap();
        shown["metadata"]["uid"] = record["metadata"]["uid"].clone();
        shown["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        assert_eq!(shown, *expected, "{version}");
    }
}

#[tokio::test]
async fn the_checksum_of_the_page_is_that_of_its_record() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/records.md")).unwrap();
    let block = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    // None of its texts has white space in it.
    let record: String = block.chars().filter(|character| !character.is_whitespace()).collect();
    let store = Arc::new(Memory::new());
    let orders = Repository::new(store.clone(), example("orders")).kind("Order").unwrap();
    for (at, is_good) in [("shop/books", true), ("shop/other", false)] {
        let key = orders.kind().key(&name(at)).unwrap();
        store.create(&key, record.clone().into_bytes()).await.unwrap();
        assert_eq!(orders.get(&name(at), View::Hub).await.is_ok(), is_good, "{at}");
    }
}
