//! The invariants of ARCHITECTURE.md that are about the code itself.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Crates that do no IO.
const PURE: [&str; 6] = ["document", "findings", "text", "expr", "schema", "evolve"];
/// Modules and types that IO would need. Addresses are in `std::net` too, and pure.
const IO: [&str; 11] =
    ["fs", "env", "process", "thread", "time", "stdin", "stdout", "stderr", "TcpStream", "UdpSocket", "ToSocketAddrs"];

#[test]
fn pure_crates_do_no_io() {
    for name in PURE {
        for file in sources(&crates().join(name).join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            let found = io_in(&text);
            assert!(found.is_empty(), "{} uses {found:?}, but {name} is pure", file.display());
        }
    }
}

#[test]
fn io_is_found_however_it_is_imported() {
    assert_eq!(io_in("use std::{\n    borrow::Cow,\n    fs,\n};"), BTreeSet::from(["fs"]));
    assert_eq!(io_in("fn now() { std::time::Instant::now(); }"), BTreeSet::from(["time"]));
    assert_eq!(io_in("use std::io::{self, Write, stdout};"), BTreeSet::from(["stdout"]));
    assert!(io_in("use std::net::Ipv6Addr; mod time; use time::Timestamp;").is_empty());
}

/// What of the standard library's IO a source names: in its imports from `std`, or in full.
fn io_in(text: &str) -> BTreeSet<&str> {
    let statements = text.split("std::").skip(1).map(|rest| rest.split([';', '(', ' ']).next().unwrap_or(rest));
    let imports = text.split("use std::").skip(1).map(|rest| rest.split(';').next().unwrap_or(rest));
    let words = statements.chain(imports).flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric()));
    words.filter(|word| IO.contains(word)).collect()
}

/// Each crate with those above it in the code map, which are all that it may depend on.
#[test]
fn dependencies_point_up_the_code_map() {
    let order = [
        "document",
        "findings",
        "text",
        "expr",
        "schema",
        "evolve",
        "catalog",
        "store",
        "repository",
        "server",
        "wheelwright",
    ];
    for (position, name) in order.iter().enumerate() {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dev-dependencies]").next().unwrap();
        for below in &order[position + 1..] {
            assert!(!dependencies.contains(&format!("wheelwright-{below}")), "{name} depends on {below}");
        }
    }
}

/// The server has documents from the repository, and nothing from a store.
#[test]
fn the_server_never_touches_a_store() {
    let manifest = fs::read_to_string(crates().join("server/Cargo.toml")).unwrap();
    assert!(!manifest.split("[dev-dependencies]").next().unwrap().contains("wheelwright-store"));
    for file in sources(&crates().join("server/src")) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains(".store()."), "{} asks a store", file.display());
    }
}

/// A store is given bytes, so that whoever has only a store has no document.
#[test]
fn the_store_knows_of_no_other_crate() {
    let manifest = fs::read_to_string(crates().join("store/Cargo.toml")).unwrap();
    let dependencies = manifest.split("[dev-dependencies]").next().unwrap();
    assert!(!dependencies.split("[dependencies]").nth(1).unwrap().contains("wheelwright-"), "{dependencies}");
}

/// The key that tells a record from a document is named in one module, which nobody outside of the crate can reach; so there
/// is no other way to a document than the repository, and no reader that misses a default.
#[test]
fn nobody_but_the_repository_opens_a_record() {
    let root = fs::read_to_string(crates().join("repository/src/lib.rs")).unwrap();
    assert!(root.contains("\nmod record;\n"), "the module of records is private");
    let exported = root.split("pub use record::").nth(1).unwrap().split(';').next().unwrap();
    assert_eq!(exported, "{EPOCH, Metadata, Operation, RecordError, is_record}", "none of these opens a record");
    let opens = |file: &PathBuf| fs::read_to_string(file).unwrap().contains("\"$wheelwright\"");
    for folder in fs::read_dir(crates()).unwrap().map(|entry| entry.unwrap().path()) {
        let found: Vec<PathBuf> = sources(&folder.join("src")).into_iter().filter(opens).collect();
        let expected: &[PathBuf] =
            if folder.ends_with("repository") { &[folder.join("src/record/mod.rs")] } else { &[] };
        assert_eq!(found, expected);
    }
}

#[test]
fn every_test_that_an_invariant_names_exists() {
    let root = crates().parent().unwrap().to_owned();
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let table = text.split("## Invariants").nth(1).unwrap().split("## ").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let mut named = 0;
    for row in rows {
        let last = row.rsplit('|').nth(1).unwrap();
        for path in last.split('`').skip(1).step_by(2) {
            assert!(root.join(path).exists(), "ARCHITECTURE.md names {path}");
            named += 1;
        }
    }
    assert!(named >= 9, "only {named} tests are named");
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates are in a folder").to_owned()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("crates have sources").map(|entry| entry.expect("readable").path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}
