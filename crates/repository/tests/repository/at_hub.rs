//! An example whose documents are stored in the shape of any version.

use std::path::PathBuf;

use wheelwright_catalog::{Catalog, OnDisk, read_lock};
use wheelwright_evolve::{Kind, Lock, VersionName};
use wheelwright_repository::ServedKind;

/// The kinds of an example that has a lock, stored in the shape of a version.
pub(crate) fn example_at(name: &str, hub: &str) -> Vec<ServedKind> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let catalog = Catalog::load(&[&folder]).unwrap();
    let lock = Lock::parse(&read_lock(&OnDisk::default(), &folder).unwrap().expect("it has a lock").text()).0;
    let kinds = catalog.kinds().iter().map(|declared| {
        let locked = lock.locked(&declared.declaration).unwrap();
        let (kind, problems) = Kind::compile(&declared.declaration, Some((locked.history(), &VersionName::new(hub))));
        assert!(problems.is_empty(), "{problems:?}");
        ServedKind::new(kind.unwrap(), declared).unwrap()
    });
    kinds.collect()
}
