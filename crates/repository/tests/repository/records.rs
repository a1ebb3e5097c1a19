//! Records are stored as docs/records.md says, and those of every epoch are read; `UPDATE_GOLDEN=1` writes that of today's
//! anew.

use std::{env, fs, path::PathBuf, sync::Arc};

use serde_json::Value;
use wheelwright_repository::{EPOCH, Repository, View, Write};
use wheelwright_store::{Key, Memory, Store};

use crate::support::{example, name};

const ORDER: &[u8] = br#"{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{"labels":{"a":"b"}},
    "spec":{"city":"Ulm","coupon":"SPRING","qty":3,"lines":[{"sku":"B-1"}]}}"#;
const UID: &str = "7f9c24e5-2c31-4b1d-9a55-0f2c5f6a1c3e";

fn golden(epoch: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/repository/golden/epoch-{epoch}.json"))
}

/// The blocks of JSON that the page shows.
fn documented() -> Vec<Value> {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/records.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = page.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.map(|block| serde_json::from_str(block).unwrap()).collect()
}

#[tokio::test]
async fn a_record_is_stored_as_it_always_was_in_its_epoch() {
    let store = Arc::new(Memory::new());
    let clock = || "2026-05-06T07:08:09.123Z".parse().unwrap();
    let orders = Repository::new(store.clone(), example("orders")).with_clock(clock).kind("Order").unwrap();
    let created = orders.create(&name("shop/books"), Write::document("v1", ORDER)).await.unwrap();
    let record = store.get(&Key::new("shop.example.com/Order/shop/books").unwrap()).await.unwrap().unwrap().value;
    let uid = created.document.metadata.uid.unwrap();
    let record = String::from_utf8(record).unwrap().replace(&*uid, UID) + "\n";
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(golden(EPOCH), &record).unwrap();
    }
    assert_eq!(record, fs::read_to_string(golden(EPOCH)).unwrap_or_default(), "UPDATE_GOLDEN=1 writes it anew");
}

#[tokio::test]
async fn records_of_every_epoch_are_read_as_the_page_shows() {
    let [record, v1, v3] = &documented()[..] else { panic!("a record, and what two versions show of it") };
    for epoch in 1..=EPOCH {
        let bytes = fs::read(golden(epoch)).unwrap();
        if epoch == EPOCH {
            assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), *record);
        }
        let store = Arc::new(Memory::new());
        store.create(&Key::new("shop.example.com/Order/shop/books").unwrap(), bytes).await.unwrap();
        let orders = Repository::new(store, example("orders")).kind("Order").unwrap();
        for (version, expected) in [("v1", v1), ("v3", v3)] {
            let document = orders.get(&name("shop/books"), View::Version(version)).await.unwrap().unwrap();
            let mut shown: Value = serde_json::from_slice(&document.json).unwrap();
            // Which revision it is, only the store knows.
            shown["metadata"].as_object_mut().unwrap().remove("resourceVersion");
            assert_eq!(shown, *expected, "epoch {epoch}, {version}");
        }
    }
}
