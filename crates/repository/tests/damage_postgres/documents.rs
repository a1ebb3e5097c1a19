//! The documents of an undamaged store, and the comparison of a damaged one with them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::timeout;
use wheelwright_evolve::laws::Random;
use wheelwright_repository::{Collection, DocumentChange, Name, Repository, RepositoryError, View};
use wheelwright_store::{Cursor, PageRequest, Store};

use crate::support::{example, name};

pub(crate) const DOCUMENTS: usize = 240;
pub(crate) const VERSIONS: [&str; 3] = ["v1", "v2", "v3"];

/// A document as each version displays it, and its revision.
type Shown = ([Vec<u8>; 3], u64);

/// All that an undamaged store acknowledged.
pub(crate) struct Documents {
    /// None if the document was deleted.
    documents: BTreeMap<Name, Option<Shown>>,
    /// The changes after `since`: name, kind of change, and the document as v3 displays it.
    events: Vec<(Name, DocumentChange, Vec<u8>)>,
    since: Cursor,
}

/// How the damage of a store concerns the newest row of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Harm {
    /// Not at all: the document must be displayed.
    None,
    /// Bytes of the row were touched.
    Touched,
    /// Nothing in the store shows that it is the newest one.
    Undecidable,
}

/// The results of one damaged store.
#[derive(Default, Debug)]
pub(crate) struct Found {
    /// Documents that were displayed other than they were acknowledged, or that are missing without an error.
    pub(crate) altered: Vec<String>,
    /// Undamaged documents that were not displayed.
    pub(crate) withheld: Vec<String>,
    /// Reads of documents that were touched, and reported as damaged.
    pub(crate) named: usize,
    /// Reads of documents that are undecidable, and were not displayed.
    pub(crate) undecidable: usize,
    pub(crate) served: usize,
    /// The store was not opened.
    pub(crate) is_refused: bool,
}

pub(crate) fn orders(store: Arc<dyn Store>) -> Collection {
    Repository::new(store, example("orders")).kind("Order").unwrap()
}

pub(crate) fn names() -> Vec<Name> {
    (0..DOCUMENTS).map(|number| name(&format!("shop/order-{number:04}"))).collect()
}

/// A document of a size that depends on the random numbers.
pub(crate) fn body(number: usize, random: &mut Random) -> Value {
    let length = match random.below(10) {
        0 => 5_000 + random.below(15_000),
        1..=3 => random.below(4_000),
        _ => random.below(600),
    };
    let text: String = (0..length).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
    let lines: Vec<_> = (0..random.below(4)).map(|line| json!({"sku": format!("B-{line}"), "gift": true})).collect();
    json!({"apiVersion": "shop.example.com/v1", "kind": "Order",
        "metadata": {"name": format!("order-{number}"), "annotations": {"note": text}},
        "spec": {"qty": random.below(9) + 1, "city": "Ulm", "coupon": "SPRING", "lines": lines}})
}

/// A merge patch that gives a document other annotations.
pub(crate) fn patch(number: usize, random: &mut Random) -> Vec<u8> {
    let annotations = &body(number, random)["metadata"]["annotations"];
    json!({"metadata": {"annotations": annotations}}).to_string().into_bytes()
}

impl Documents {
    /// Reads all documents of an undamaged store, and its changes after a cursor.
    pub(crate) async fn of(orders: &Collection, since: Cursor) -> Self {
        let mut documents = BTreeMap::new();
        for at in names() {
            let (mut shown, mut revision) = (Vec::new(), 0);
            for version in VERSIONS {
                let Some(read) = orders.get(&at, View::Version(version)).await.unwrap() else { continue };
                revision = read.revision.to_string().parse().unwrap();
                shown.push(read.json);
            }
            documents.insert(at, shown.try_into().ok().map(|shown| (shown, revision)));
        }
        let head: usize = orders.repository().cursor().await.unwrap().as_str().parse().unwrap();
        let count = head - since.as_str().parse::<usize>().unwrap();
        let mut watch = orders.watch(None, &since).await.unwrap();
        let mut events = Vec::new();
        for _ in 0..count {
            let event = watch.next(View::Version("v3")).await.unwrap();
            let document = event.document.unwrap();
            events.push((document.name, event.change, document.json));
        }
        Self { documents, events, since }
    }

    /// Reads everything from a damaged store.
    pub(crate) async fn compare(&self, orders: &Collection, harm: impl Fn(&Name, u64) -> Harm) -> Found {
        let mut found = Found::default();
        for (at, expected) in &self.documents {
            for (number, version) in VERSIONS.into_iter().enumerate() {
                match (orders.get(at, View::Version(version)).await, expected) {
                    (Ok(None), None) => {}
                    (Ok(None), Some((_, revision))) => found.altered.push(format!("{at}@{revision} is missing")),
                    (Ok(Some(read)), None) => found.altered.push(format!("{at} is back at {}", read.revision)),
                    (Ok(Some(read)), Some((shown, _))) if read.json == shown[number] => found.served += 1,
                    (Ok(Some(read)), Some((_, revision))) => {
                        found.altered.push(format!("{at}@{revision} at {} as {version}", read.revision));
                    }
                    (Err(error), Some((_, revision))) => match harm(at, *revision) {
                        Harm::Touched => found.named += 1,
                        Harm::Undecidable => found.undecidable += 1,
                        Harm::None => found.withheld.push(format!("{at}@{revision}: {}", whole(&error))),
                    },
                    (Err(_), None) => {}
                }
            }
        }
        self.list(orders, &mut found).await;
        self.watch(orders, &mut found).await;
        found
    }

    async fn list(&self, orders: &Collection, found: &mut Found) {
        let mut page = PageRequest::first(100);
        let mut seen = BTreeMap::new();
        loop {
            let Ok(listed) = orders.list(None, page.clone(), View::Version("v3")).await else { return };
            for item in listed.items {
                match item {
                    Ok(document) => drop(seen.insert(document.name, Some(document.json))),
                    Err(RepositoryError::Record(at, _)) => drop(seen.insert(at, None)),
                    Err(error) => panic!("{error}"),
                }
            }
            match listed.next {
                Some(next) => page.after = Some(next),
                None => break,
            }
        }
        for (at, expected) in &self.documents {
            match (seen.remove(at), expected) {
                (Some(None), _) | (None, None) => {}
                (Some(Some(json)), Some((shown, _))) if json == shown[2] => {}
                (Some(Some(_)), _) => found.altered.push(format!("{at} in a list")),
                (None, Some(_)) => found.altered.push(format!("{at} is missing in a list")),
            }
        }
        found.altered.extend(seen.into_iter().filter(|(_, json)| json.is_some()).map(|(at, _)| format!("{at} is new")));
    }

    async fn watch(&self, orders: &Collection, found: &mut Found) {
        let Ok(mut watch) = orders.watch(None, &self.since).await else { return };
        for (number, (at, change, json)) in self.events.iter().enumerate() {
            let Ok(event) = timeout(Duration::from_secs(10), watch.next(View::Version("v3"))).await else {
                return found.altered.push(format!("event {number} of {at} does not come"));
            };
            let Ok(event) = event else { return };
            match event.document {
                Ok(document) if document.name == *at && document.json == *json && event.change == *change => {}
                Ok(document) => {
                    let got = format!("event {number} of {at} is {:?} of {}", event.change, document.name);
                    return found.altered.push(got);
                }
                Err(_) => {}
            }
        }
    }
}

impl Found {
    /// The counts of the results, for one store.
    pub(crate) fn counts(&self) -> [usize; 7] {
        let (altered, withheld) = (self.altered.len(), self.withheld.len());
        [1, usize::from(self.is_refused), self.served, self.named, self.undecidable, altered, withheld]
    }

    /// The documents that were altered or withheld.
    pub(crate) fn problem(&self) -> Option<String> {
        let (altered, withheld) = (&self.altered, &self.withheld);
        let some = |all: &[String]| all[..all.len().min(3)].to_vec();
        (!altered.is_empty() || !withheld.is_empty()).then(|| {
            let (altered, withheld, counts) = (some(altered), some(withheld), [altered.len(), withheld.len()]);
            format!("altered {altered:?} of {}, withheld {withheld:?} of {}", counts[0], counts[1])
        })
    }
}

/// The columns of [`Found::counts`].
pub(crate) const COUNTS: &str = "[stores, refused, served, named, undecidable, altered, withheld]";

fn whole(error: &RepositoryError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
