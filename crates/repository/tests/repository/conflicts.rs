//! What becomes of writes when somebody else writes in between.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use wheelwright_repository::{Collection, Repository, RepositoryError, View, Write, WriteError};
use wheelwright_store::{
    Answer, Cursor, ErrorKind, Guarantees, Health, Key, Memory, Page, PageRequest, Prefix, Revision, Store, Stored,
    Watch,
};

use crate::{
    support::{example, name},
    unchecked::without_checksum,
};

/// A store in which somebody else is faster, for a number of times.
#[derive(Debug)]
struct Meddled {
    store: Memory,
    times: AtomicUsize,
}

impl Store for Meddled {
    fn get<'a>(&'a self, key: &'a Key) -> Answer<'a, Option<Stored>> {
        self.store.get(key)
    }

    fn list<'a>(&'a self, prefix: &'a Prefix, page: PageRequest) -> Answer<'a, Page> {
        self.store.list(prefix, page)
    }

    fn create<'a>(&'a self, key: &'a Key, value: Vec<u8>) -> Answer<'a, Revision> {
        self.store.create(key, value)
    }

    fn replace<'a>(&'a self, key: &'a Key, expected: &'a Revision, value: Vec<u8>) -> Answer<'a, Revision> {
        Box::pin(async move {
            let is_slow = |times: usize| times.checked_sub(1);
            if let Ok(times) = self.times.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_slow) {
                let stored = self.store.get(key).await?.expect("it is there");
                let record = String::from_utf8(without_checksum(stored.value)).expect("a record");
                let other = format!(r#""labels":{{"other":"{times}""#);
                let changed = match record.split_once(r#""labels":{"other":""#) {
                    Some((before, after)) => {
                        format!("{before}{other}{}", &after[after.find('"').expect("a text") + 1..])
                    }
                    None => record.replacen(r#""name":"a""#, &format!(r#""name":"a",{other}}}"#), 1),
                };
                self.store.replace(key, &stored.revision, changed.into_bytes()).await?;
            }
            self.store.replace(key, expected, value).await
        })
    }

    fn delete<'a>(&'a self, key: &'a Key, expected: &'a Revision) -> Answer<'a, ()> {
        self.store.delete(key, expected)
    }

    fn watch<'a>(&'a self, prefix: &'a Prefix, from: &'a Cursor) -> Answer<'a, Box<dyn Watch>> {
        self.store.watch(prefix, from)
    }

    fn now(&self) -> Answer<'_, Cursor> {
        self.store.now()
    }

    fn health(&self) -> Answer<'_, Health> {
        self.store.health()
    }

    fn guarantees(&self) -> Guarantees {
        self.store.guarantees()
    }
}

async fn meddled(times: usize) -> Collection {
    let store = Arc::new(Meddled { store: Memory::new(), times: AtomicUsize::new(times) });
    let orders = Repository::new(store, example("orders")).kinds().next().unwrap();
    let body = br#"{"apiVersion":"shop.example.com/v2","kind":"Order","metadata":{"name":"a"},"spec":{"quantity":1}}"#;
    orders.create(&name("a"), Write::document("v2", body)).await.unwrap();
    orders
}

const PATCH: &[u8] = br#"{"spec":{"qty":7}}"#;

#[tokio::test]
async fn a_patch_is_applied_to_what_others_leave() {
    let orders = meddled(3).await;
    let patched = orders.patch(&name("a"), Write::merge_patch("v1", PATCH)).await.unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&patched.document.json).unwrap();
    assert_eq!((&shown["spec"]["qty"], &shown["metadata"]["labels"]["other"]), (&7.into(), &"1".into()));
}

#[tokio::test]
async fn a_patch_that_always_comes_too_late_says_so_in_the_end() {
    let orders = meddled(usize::MAX).await;
    let late = orders.patch(&name("a"), Write::merge_patch("v1", PATCH)).await.unwrap_err();
    assert!(matches!(late.store(), Some(ErrorKind::Conflict(_))), "{late}");
}

#[tokio::test]
async fn a_write_to_a_revision_is_tried_once() {
    let orders = meddled(1).await;
    let read = orders.get(&name("a"), View::Hub).await.unwrap().unwrap();
    let late = orders.update(&name("a"), &read.revision, Write::merge_patch("v1", PATCH)).await.unwrap_err();
    let now = orders.get(&name("a"), View::Hub).await.unwrap().unwrap();
    assert_eq!(late.store(), Some(&ErrorKind::Conflict(now.revision)));
}

#[tokio::test]
async fn a_whole_document_is_written_in_the_place_of_a_revision_only() {
    let orders = meddled(0).await;
    let unseen = orders.patch(&name("a"), Write::document("v1", b"{}")).await.unwrap_err();
    assert!(matches!(unseen, RepositoryError::Write(WriteError::Unconditional)));
    let nothing = orders.create(&name("b"), Write::merge_patch("v1", PATCH)).await.unwrap_err();
    assert!(matches!(nothing, RepositoryError::Write(WriteError::NothingToPatch)));
}
