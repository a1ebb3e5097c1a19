//! What the repository costs beside its store: reading as a version, and writing.
//!
//! Everything is measured in one run, interleaved; the ratios are what counts. The run fails if `get` as a version takes
//! longer than a bare get from the store with a parse and serialize of the same bytes by `serde_json`. What writes cost
//! beside bare replaces is only told.
//!
//! Documents are those of the examples, made larger, and those of the folder that `WHEELWRIGHT_SHARED` names, or `shared`
//! beside the repository, where it is there.

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

#[path = "../../schema/benches/pipeline/measure.rs"]
mod measure;

use std::{
    cell::{Cell, RefCell},
    env, fs,
    hint::black_box,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use measure::{Candidate, Measured, measure};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;
use wheelwright_catalog::{Catalog, OnDisk, read_lock};
use wheelwright_evolve::{Kind, Lock};
use wheelwright_repository::{Collection, Name, Repository, ServedKind, View, Write};
use wheelwright_store::{Memory, Sqlite, SqliteOptions, Store};

/// A document of a kind that is read.
struct Subject {
    told: &'static str,
    catalog: PathBuf,
    /// The version that it is written through, and others that it is read as.
    version: &'static str,
    others: &'static [&'static str],
    document: Json,
}

fn main() -> ExitCode {
    // `cargo test` builds and runs benchmarks too, with `--test`: there, one round shows that they work.
    let rounds = if env::args().any(|argument| argument == "--bench") { 60 } else { 1 };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let mut misses = Vec::new();
    for (number, subject) in subjects().into_iter().enumerate() {
        let file = folder.path().join(format!("{number}.db"));
        let sqlite = Sqlite::open(&file, SqliteOptions::default()).expect("a new store");
        read(&subject, "SQLite", Arc::new(sqlite), &runtime, rounds, Some(&mut misses));
        // A store that takes no time leaves the repository alone: stricter than what is asked for, and only told.
        read(&subject, "memory", Arc::new(Memory::new()), &runtime, rounds, None);
    }
    for (number, subject) in subjects().into_iter().take(2).enumerate() {
        let file = folder.path().join(format!("written-{number}.db"));
        let sqlite = Sqlite::open(&file, SqliteOptions::default()).expect("a new store");
        write(&subject, Arc::new(sqlite), &runtime, rounds.min(10));
    }
    for miss in &misses {
        println!("missed: {miss}");
    }
    if misses.is_empty() || rounds == 1 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reading a record as versions, beside reading and parsing its bytes.
fn read(
    subject: &Subject,
    driver: &str,
    store: Arc<dyn Store>,
    runtime: &Runtime,
    rounds: usize,
    misses: Option<&mut Vec<String>>,
) {
    let documents = collection(&subject.catalog, store.clone());
    let name = Name::new("group/document").expect("a name");
    let body = subject.document.to_string();
    let created = Write::document(subject.version, body.as_bytes()).by_service();
    runtime.block_on(documents.create(&name, created)).expect("a valid document");
    let key = documents.kind().key(&name).expect("a key");
    let stored = runtime.block_on(store.get(&key)).expect("a store").expect("it was created").value;

    let get = |view: View<'_>| black_box(runtime.block_on(documents.get(black_box(&name), view)).expect("a document"));
    let bare = || runtime.block_on(store.get(black_box(&key))).expect("a store").expect("a record").value;
    let candidates = || {
        let mut candidates = vec![
            Candidate::new("bare get", || drop(black_box(bare()))),
            Candidate::new("bare get, serde_json: parse and serialize", || {
                let value: Json = serde_json::from_slice(&bare()).expect("it is JSON");
                black_box(serde_json::to_vec(&value).ok());
            }),
            Candidate::new("get as the hub", || drop(get(View::Hub))),
        ];
        for other in subject.others {
            candidates.push(Candidate::new(other, move || drop(get(View::Version(other)))));
        }
        candidates
    };
    println!("{} in {driver} ({} bytes)", subject.told, stored.len());
    let mut measured = measure(rounds, stored.len(), candidates());
    if worst_of(&measured) > 1.0 {
        // On a busy machine one candidate may have been interrupted in every round.
        measured = measure(rounds, stored.len(), candidates());
    }
    for line in &measured {
        println!("  {line}");
    }
    let worst = worst_of(&measured);
    let bound = if misses.is_some() { "; at most 1" } else { "" };
    println!("  ratio: the slowest view to parsing and serializing {worst:.2}{bound}\n");
    if let Some(misses) = misses.filter(|_| worst > 1.0) {
        misses.push(format!("{} in {driver}: {worst:.2} instead of 1", subject.told));
    }
}

/// How the slowest view compares to a bare get with a parse and serialize.
fn worst_of(measured: &[Measured]) -> f64 {
    let [_, base, views @ ..] = measured else { unreachable!("as listed above") };
    views.iter().map(|view| view.best / base.best).fold(0.0, f64::max)
}

/// Writing through a version, beside replacing bytes.
fn write(subject: &Subject, store: Arc<dyn Store>, runtime: &Runtime, rounds: usize) {
    let documents = collection(&subject.catalog, store.clone());
    let number = Cell::new(0);
    let fresh = |what: &str| {
        number.set(number.get() + 1);
        Name::new(&format!("{what}/{}", number.get())).expect("a name")
    };
    let body = subject.document.to_string();
    let create = |name: &Name| {
        let created = Write::document(subject.version, body.as_bytes()).by_service();
        runtime.block_on(documents.create(name, created)).expect("a valid document").document.revision
    };
    let (bare, patched) = (fresh("bare"), fresh("patched"));
    let (bare_key, bare_revision) = (documents.kind().key(&bare).expect("a key"), RefCell::new(create(&bare)));
    let stored = runtime.block_on(store.get(&bare_key)).expect("a store").expect("it was created").value;
    let revision = RefCell::new(create(&patched));
    let patches = [
        r#"{"metadata":{"labels":{"turn":"a"}},"tags":{"turn":"a"}}"#,
        r#"{"metadata":{"labels":{"turn":"b"}},"tags":{"turn":"b"}}"#,
    ];
    let candidates = vec![
        Candidate::new("bare replace", || {
            let expected = bare_revision.borrow().clone();
            let replaced = store.replace(&bare_key, &expected, stored.clone());
            let replaced = runtime.block_on(replaced).expect("nobody else writes");
            bare_revision.replace(replaced);
        }),
        Candidate::new("create", || drop(create(&fresh("created")))),
        Candidate::new("merge patch", || {
            number.set(number.get() + 1);
            let write = Write::merge_patch(subject.version, patches[number.get() % 2].as_bytes());
            let expected = revision.borrow().clone();
            let written = runtime.block_on(documents.update(&patched, &expected, write)).expect("nobody else writes");
            revision.replace(written.document.revision);
        }),
    ];
    println!("writing {} ({} bytes)", subject.told, stored.len());
    for line in &measure(rounds, stored.len() * 20, candidates) {
        println!("  {line}");
    }
    println!();
}

fn collection(folder: &Path, store: Arc<dyn Store>) -> Collection {
    let catalog = Catalog::load(&[folder]).expect("a catalog");
    let lock = read_lock(&OnDisk::default(), folder).ok().flatten().map(|input| Lock::parse(&input.text()).0);
    let declared = catalog.kinds().first().expect("a kind");
    let locked = lock.as_ref().and_then(|lock| lock.locked(&declared.declaration));
    let kind = Kind::compile(&declared.declaration, locked.map(|locked| (locked.history(), locked.hub()))).0;
    let served = ServedKind::new(kind.expect("versions"), declared).expect("a kind that can be served");
    Repository::new(store, [served]).kinds().next().expect("the kind")
}

fn subjects() -> Vec<Subject> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    let order = |lines: usize| {
        let lines: Vec<Json> =
            (0..lines).map(|line| json!({"sku": format!("B-{line}"), "gift": line % 2 == 0})).collect();
        json!({"apiVersion": "shop.example.com/v1", "kind": "Order",
            "metadata": {"name": "document", "labels": {"app": "shop", "team": "books"}},
            "spec": {"city": "Ulm", "street": "Hafengasse", "coupon": "SPRING", "qty": 3, "lines": lines}})
    };
    let pool = |disks: usize| {
        let disk = |disk| json!({"name": format!("disk-{disk}"), "tier": "Standard", "kind": "Managed", "lun": disk});
        let disks: Vec<Json> = (0..disks).map(disk).collect();
        json!({"location": "north", "tags": {"team": "a", "cost": "b"}, "properties": {"size": "large",
            "autoRepair": false, "zone": "1", "network": {"subnet": "s", "mtu": 9000}, "labels": {"a": "b"}, "disks": disks}})
    };
    let orders = |told, lines| Subject {
        told,
        catalog: crates.join("../../examples/orders"),
        version: "v1",
        others: &["v1", "v2"],
        document: order(lines),
    };
    let pools = |told, disks| Subject {
        told,
        catalog: crates.join("tests/catalogs/pools"),
        version: "2025-01-01",
        others: &["2025-01-01"],
        document: pool(disks),
    };
    let mut subjects = vec![
        orders("Kubernetes, about 1 KB", 16),
        pools("ARM, about 1 KB", 8),
        orders("Kubernetes, about 10 KB", 270),
        pools("ARM, about 10 KB", 150),
    ];
    let beside = || crates.join("../../../shared");
    let bench = env::var_os("WHEELWRIGHT_SHARED").map_or_else(beside, PathBuf::from).join("bench");
    for (told, file) in [("app, 1 KB", "app_small.json"), ("app, 10 KB", "app_medium.json")] {
        let Ok(text) = fs::read(bench.join(file)) else { continue };
        let document = serde_json::from_slice(&text).expect("it is JSON");
        subjects.push(Subject { told, catalog: bench.join("crd_app.json"), version: "v1", others: &[], document });
    }
    subjects
}
