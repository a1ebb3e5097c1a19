//! Kinds of the examples in a store in memory.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use wheelwright_catalog::{Catalog, LOCK_FILE, OnDisk, read_lock, write_lock};
use wheelwright_evolve::{History, Kind, Lock, VersionName};
use wheelwright_repository::{Collection, Name, Repository, ServedKind};
use wheelwright_store::Memory;

/// The kinds of an example, with its lock if it has one.
pub(crate) fn example(name: &str) -> Vec<ServedKind> {
    served(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name))
}

/// The kinds of a catalog.
pub(crate) fn served(folder: &Path) -> Vec<ServedKind> {
    let catalog = Catalog::load(&[folder]).expect("a catalog");
    let findings: Vec<_> = catalog.findings().iter().map(|finding| &finding.message).collect();
    assert!(findings.is_empty(), "{findings:?}");
    let lock = read_lock(&OnDisk::default(), folder)
        .expect("a lock that can be read")
        .map(|input| Lock::parse(&input.text()).0);
    let kinds = catalog.kinds().iter().map(|declared| {
        let locked = lock.as_ref().and_then(|lock| lock.locked(&declared.declaration));
        let locked = locked.map(|locked| (locked.history(), locked.hub()));
        let (kind, problems) = Kind::compile(&declared.declaration, locked);
        assert!(problems.is_empty(), "{problems:?}");
        ServedKind::new(kind.expect("there are versions"), declared).expect("a name for keys")
    });
    kinds.collect()
}

/// A catalog that is made of some files.
pub(crate) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// The kinds of a catalog that is made of some files.
pub(crate) fn served_from(files: &[(&str, &str)]) -> Vec<ServedKind> {
    served(folder(files).path())
}

/// Locks the only kind of a catalog, as `wheelwright lock` and `wheelwright lock --hub` do.
pub(crate) fn lock(folder: &Path, hub: Option<&str>) {
    let catalog = Catalog::load(&[folder]).unwrap();
    let [kind] = catalog.kinds() else { panic!("one kind") };
    let before = read_lock(&OnDisk::default(), folder).unwrap();
    let before = before.map(|input| Lock::parse(&input.text()).0).unwrap_or_default();
    let history = before.locked(&kind.declaration).map(|locked| locked.history());
    let (history, problems) = History::derive(&kind.declaration, history);
    assert!(problems.is_empty(), "{problems:?}");
    let hub = hub.map(VersionName::new);
    let grown = before.grow(&kind.declaration, &history, hub.as_ref()).unwrap();
    write_lock(&folder.join(LOCK_FILE), &grown.to_string()).unwrap();
}

/// The only kind of an example, in an empty store.
pub(crate) fn collection(example_name: &str) -> Collection {
    let repository = Repository::new(Arc::new(Memory::new()), example(example_name));
    repository.kinds().next().expect("a kind")
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}
