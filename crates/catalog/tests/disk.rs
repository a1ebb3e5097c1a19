//! Trees on a real disk: what belongs to one, and what is outside.

use std::{
    fs,
    path::{Path, PathBuf},
};

use wheelwright_catalog::Disk;
use wheelwright_schema::Tree;

/// A folder of its own that is gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[&str]) -> Self {
        let path = std::env::temp_dir().join(format!("wheelwright-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        for file in files {
            let file = path.join(file);
            fs::create_dir_all(file.parent().expect("files are in folders")).expect("a folder");
            fs::write(file, "{}").expect("a file");
        }
        Self(path.canonicalize().expect("the folder is there"))
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_tree_is_the_outermost_of_what_is_around() {
    let folder =
        Folder::new("around", &["top/common-types/a.json", "top/api/v1/a.json", "other/.git/x", "other/x/y/a.json"]);
    let root = |file: &str, named: Option<&Path>| Disk::around(folder.0.join(file), named).root().to_owned();
    assert_eq!(root("top/api/v1/a.json", None), folder.0.join("top"));
    assert_eq!(root("top/api/v1/a.json", Some(&folder.0)), folder.0);
    assert_eq!(root("top/api/v1/a.json", Some(&folder.0.join("top/api"))), folder.0.join("top"));
    assert_eq!(root("other/x/y/a.json", None), folder.0.join("other"));
    assert_eq!(root("top/api/v1/a.json", Some(&folder.0.join("other"))), folder.0.join("top"), "it is not in there");
}

#[test]
fn what_is_named_is_the_tree_and_must_be_a_folder() {
    let folder = Folder::new("named", &["a/b.json"]);
    assert_eq!(Disk::below(&folder.0.join("a")).expect("a folder").root(), folder.0.join("a"));
    assert!(Disk::below(&folder.0.join("none")).is_err());
    assert!(Disk::below(&folder.0.join("a/b.json")).is_err());
}

#[test]
fn a_tree_holds_what_is_below_its_root() {
    let folder = Folder::new("holds", &["tree/a/main.json", "outside.json"]);
    let tree = Disk::below(&folder.0.join("tree")).expect("a folder");
    assert!(tree.holds(&folder.file("tree/a/main.json")));
    assert!(!tree.holds(&folder.file("outside.json")));
    assert!(!tree.holds(&folder.file("tree/../outside.json")));
    assert!(!tree.holds(&folder.file("none/main.json")));
}

#[test]
fn references_stay_in_the_tree() {
    let folder = Folder::new("inside", &["tree/a/main.json", "tree/b/types.json", "outside.json"]);
    let tree = Disk::below(&folder.0.join("tree")).expect("a folder");
    let from = folder.file("tree/a/main.json");
    assert_eq!(tree.locate(&from, "../b/./types.json").expect("inside"), folder.file("tree/b/types.json"));
    assert_eq!(tree.locate(&from, "../b/types.json").expect("inside"), folder.file("tree/b/types.json"));
    assert!(tree.locate(&from, "none.json").is_ok(), "what is not there is inside all the same");
    let refused =
        ["../../outside.json", "../../none.json", "../../../../etc/none", "file:///etc/hosts", "http://localhost/a"];
    for reference in refused.into_iter().chain(["/etc/hosts", "//host/a", "\\a"]) {
        let refused = tree.locate(&from, reference).expect_err(reference);
        assert!(refused.mend.contains("--tree"), "{refused:?}");
    }
    assert_eq!(tree.read(&folder.file("tree/a/main.json")), Ok(b"{}".to_vec()));
    assert_eq!(tree.read(&folder.file("tree/none.json")), Err("there is no such file".to_owned()));
    assert_eq!(tree.read(&folder.file("tree/a")), Err("it is no file".to_owned()));
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_tree() {
    let folder = Folder::new("links", &["tree/main.json", "tree/inner.json", "outside/a.json"]);
    std::os::unix::fs::symlink(folder.0.join("outside"), folder.0.join("tree/out")).expect("a link");
    std::os::unix::fs::symlink(folder.0.join("tree/inner.json"), folder.0.join("tree/link.json")).expect("a link");
    let tree = Disk::below(&folder.0.join("tree")).expect("a folder");
    let from = folder.file("tree/main.json");
    assert!(tree.locate(&from, "out/a.json").is_err());
    assert!(tree.locate(&from, "out/none.json").is_err());
    assert!(tree.locate(&from, "link.json").is_ok());
}
