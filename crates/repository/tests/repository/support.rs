//! Kinds of the examples in a store in memory.

use std::{path::PathBuf, sync::Arc};

use wheelwright_catalog::{Catalog, OnDisk, read_lock};
use wheelwright_evolve::{Kind, Lock};
use wheelwright_repository::{Collection, Name, Repository, ServedKind};
use wheelwright_store::Memory;

/// The kinds of an example, with its lock if it has one.
pub(crate) fn example(name: &str) -> Vec<ServedKind> {
    served(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name))
}

/// The kinds of a catalog.
pub(crate) fn served(folder: &std::path::Path) -> Vec<ServedKind> {
    let catalog = Catalog::load(&[folder]).expect("a catalog");
    assert!(catalog.findings().is_empty(), "{:?}", catalog.findings());
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

/// The only kind of an example, in an empty store.
pub(crate) fn collection(example_name: &str) -> Collection {
    let repository = Repository::new(Arc::new(Memory::new()), example(example_name));
    repository.kinds().next().expect("a kind")
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}
