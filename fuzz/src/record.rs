//! Records: whatever bytes are under a key, every version shows them or says why not, writing back what was shown changes
//! nothing, and what is written keeps all that is not understood.

use std::{cell::RefCell, collections::BTreeSet, path::Path, sync::Arc};

use tokio::runtime::{Builder, Runtime};
use wheelwright_catalog::Catalog;
use wheelwright_document::{Arena, decode};
use wheelwright_evolve::Kind;
use wheelwright_repository::{Collection, Name, Repository, ServedKind, View, Write};
use wheelwright_store::{Memory, Store};

const FOLDERS: [&str; 3] = ["examples/orders", "examples/openapi-defaults", "crates/repository/tests/catalogs/pools"];

/// Kinds in a store that remembers all that was ever in it, so that it is replaced now and then.
struct Opener {
    runtime: Runtime,
    kinds: Vec<(Collection, Memory)>,
    inputs: usize,
}

thread_local! {
    static OPENER: RefCell<Option<Opener>> = const { RefCell::new(None) };
}

/// Opens bytes as a record of several kinds, reads it as every version, and writes it.
pub fn record(input: &[u8]) {
    OPENER.with_borrow_mut(|opener| {
        if opener.as_ref().is_none_or(|opener| opener.inputs >= 2_000) {
            *opener = None;
        }
        let opener = opener.get_or_insert_with(|| Opener {
            runtime: Builder::new_current_thread().enable_all().build().expect("a runtime"),
            kinds: FOLDERS.iter().map(|folder| collection(folder)).collect(),
            inputs: 0,
        });
        opener.inputs += 1;
        for (documents, store) in &opener.kinds {
            opener.runtime.block_on(opened(documents, store, opener.inputs, input));
        }
    });
}

async fn opened(documents: &Collection, store: &Memory, number: usize, input: &[u8]) {
    let name = Name::new(&format!("fuzz/{number}")).expect("a name");
    let key = documents.kind().key(&name).expect("a key");
    let revision = store.create(&key, input.to_vec()).await.expect("a new key");
    let _ = documents.get(&name, View::Origin).await;
    let Ok(Some(read)) = documents.get(&name, View::Hub).await else {
        // What cannot be opened stays as it is, whatever anybody tries.
        assert!(documents.update(&name, &revision, Write::merge_patch("v1", b"{}")).await.is_err());
        assert!(documents.delete(&name, &revision).await.is_err());
        return;
    };
    let versions: Vec<String> =
        documents.kind().kind().history().versions.iter().map(|version| version.name.as_str().to_owned()).collect();
    for version in &versions {
        let shown =
            documents.get(&name, View::Version(version)).await.expect("what opens is shown").expect("it is there");
        let write = Write::document(version, &shown.json).by_service();
        if let Ok(back) = documents.update(&name, &revision, write).await {
            assert!(!back.is_changed, "reading and writing back through {version}");
        }
    }
    let marked =
        documents.update_metadata(&name, &read.revision, |metadata, _| metadata.uid = Some("fuzz".into())).await;
    if marked.is_ok() {
        let stored = store.get(&key).await.expect("a store");
        // A record that was to be removed, and that nobody holds, is gone.
        let Some(stored) = stored else { return };
        let (before, after) = (keys(input), keys(&stored.value));
        let is_record = before.contains("$wheelwright");
        assert!(!is_record || before.is_subset(&after), "{before:?} became {after:?}");
        let shown = documents.get(&name, View::Hub).await.expect("what is written opens").expect("it is there");
        assert_eq!(shown.metadata.uid.as_deref(), Some("fuzz"));
    }
}

fn keys(record: &[u8]) -> BTreeSet<String> {
    let arena = Arena::new();
    let record = decode(record, &arena).expect("what opens is JSON");
    record.as_object().unwrap_or_default().iter().map(|entry| entry.key.to_owned()).collect()
}

fn collection(folder: &str) -> (Collection, Memory) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let catalog = Catalog::load(&[folder]).expect("a catalog");
    let declared = catalog.kinds().first().expect("a kind");
    let kind = Kind::compile(&declared.declaration, None).0.expect("versions");
    let served = ServedKind::new(kind, declared).expect("a kind that can be served");
    let store = Memory::new();
    (Repository::new(Arc::new(store.clone()), [served]).kinds().next().expect("the kind"), store)
}
