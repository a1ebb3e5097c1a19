//! The lock file on a real disk.

use std::fs;

use wheelwright_catalog::{LOCK_FILE, OnDisk, read_lock, remove_leftovers, write_lock};

use crate::support::Folder;

#[test]
fn what_was_written_is_read() {
    let folder = Folder::new();
    let path = folder.0.join(LOCK_FILE);
    assert!(read_lock(&OnDisk::default(), &folder.0).unwrap().is_none());
    for text in ["first\n", "second, which is longer\n", ""] {
        write_lock(&path, text).unwrap();
        assert_eq!(read_lock(&OnDisk::default(), &folder.0).unwrap().unwrap().text(), text);
    }
    let files: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, [LOCK_FILE], "nothing else is left behind");
}

#[test]
fn a_lock_that_cannot_be_written_stays_as_it_was() {
    let folder = Folder::new();
    // A folder in the way of the last step: the rename.
    fs::create_dir(folder.0.join(LOCK_FILE)).unwrap();
    assert!(write_lock(&folder.0.join(LOCK_FILE), "text").is_err());
    assert!(write_lock(&folder.0.join("none").join(LOCK_FILE), "text").is_err());
    let files: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, [LOCK_FILE], "no temporary file is left behind");
    assert!(read_lock(&OnDisk::default(), &folder.0).is_err(), "a folder is no lock");
}

#[test]
fn leftovers_of_killed_processes_are_removed() {
    let folder = Folder::new();
    let left = folder.write(".wheelwright.lock.4242-0.tmp", "left");
    let in_use = folder.write(".wheelwright.lock.1-7.tmp", "in use");
    let of_others = [".wheelwright.lock.old.tmp", ".other.lock.4242-0.tmp", "wheelwright.lock.4242-0.tmp"];
    of_others.iter().for_each(|name| drop(folder.write(name, "of the user")));
    let writer = fs::File::open(&in_use).unwrap();
    writer.lock().unwrap();
    write_lock(&folder.0.join(LOCK_FILE), "text").unwrap();
    assert!(!left.exists());
    assert!(in_use.exists(), "its process lives");
    drop(writer);
    remove_leftovers(&folder.0.join(LOCK_FILE));
    assert!(!in_use.exists());
    assert!(of_others.iter().all(|name| folder.0.join(name).exists()));
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = Folder::new();
    let real = folder.write("real.lock", "old");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.0.join(LOCK_FILE);
    symlink(&real, &link).unwrap();
    write_lock(&link, "new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}
