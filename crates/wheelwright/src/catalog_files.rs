//! Files that a server writes must not be files that it reads as its catalog.

use std::{
    fs,
    path::{Path, PathBuf},
};

use wheelwright::{Kinds, catalog, store};

use crate::{
    arguments::Place,
    same_file::{is_same, resolved},
};

/// Refuses a store or an audit log at the path of a file that the catalog reads, or would read at the next start.
///
/// # Errors
/// The option with the path, and why it is refused.
pub(crate) fn check_written(kinds: &Kinds, place: &Place, audit_log: Option<&Path>) -> Result<(), String> {
    let store = store::files_of(&place.store);
    let written = store.iter().map(|file| ("--store", &**file)).chain(audit_log.map(|file| ("--audit-log", file)));
    let named: Vec<PathBuf> = place.catalog.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    for (option, file) in written.filter(|(_, file)| *file != Path::new("-")) {
        let is_read = kinds.files().any(|read| is_same(Path::new(read), file));
        if is_read || named.iter().any(|path| catalog::reads_by_name(path, &resolved(file))) {
            let file = file.display();
            return Err(format!("{option}: {file} is read as a file of the catalog; name another file"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_catalog_reads_all_that_may_hold_definitions() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let reads = |name: &str| catalog::reads_by_name(root, &root.join(name));
        let all = ["wheelwright.yaml", "wheelwright.lock", "a.json", "b/c.yml"];
        assert_eq!(all.map(reads), [true; 4]);
        assert_eq!(["audit.jsonl", "store.db", ".git/a.json", "../a.json"].map(reads), [false; 4]);
        fs::write(root.join("wheelwright.yaml"), "kinds: []").unwrap();
        assert_eq!(all.map(reads), [true, true, false, false]);
    }

    #[test]
    fn a_file_has_its_lock_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let path = root.join("crd.yaml");
        fs::write(&path, "").unwrap();
        let reads = |name: &str| catalog::reads_by_name(&path, &root.join(name));
        assert_eq!(["crd.yaml", "wheelwright.lock", "other.yaml"].map(reads), [true, true, false]);
    }
}
