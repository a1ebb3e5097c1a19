//! Catalogs as they were at a revision, from real repositories.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use wheelwright_catalog::{Catalog, GitError, LOCK_FILE, Revision, Source, read_lock};

use crate::support::{CARTS, Folder, SPECS, shown};

/// Runs git in a folder, apart from whatever is configured on the machine.
fn git(folder: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.unwrap().success(), "git {arguments:?}");
}

fn commit(folder: &Folder, message: &str) {
    git(&folder.0, &["add", "--all"]);
    git(&folder.0, &["commit", "--quiet", "--message", message]);
}

/// A repository whose first commit has a catalog, and whose second has lost everything but a folder.
fn repository() -> Folder {
    let folder = Folder::new();
    git(&folder.0, &["init", "--quiet"]);
    let catalog =
        "kinds:\n- crd: ../crds/carts.yaml\n- {openapi: {2025-01-01: specs/2025-01-01.json}, definition: Cart}\n";
    folder.write("shop/wheelwright.yaml", catalog);
    folder.write("shop/wheelwright.lock", "the lock\n");
    folder.write("shop/specs/2025-01-01.json", SPECS[1].1);
    folder.write("shop/specs/common.json", SPECS[2].1);
    folder.write("crds/carts.yaml", CARTS);
    folder.write("crds/.hidden/carts.yaml", CARTS);
    folder.write("crds/readme.md", "CustomResourceDefinition");
    commit(&folder, "first");
    git(&folder.0, &["rm", "--quiet", "-r", "shop", "crds"]);
    folder.write("shop/other.txt", "");
    commit(&folder, "second");
    folder
}

/// A folder with a clone that has only the blobs of the files that are checked out.
fn partial_clone(folder: &Folder) -> Folder {
    git(&folder.0, &["config", "uploadpack.allowFilter", "true"]);
    let partial = Folder::new();
    let source = format!("file://{}", folder.0.display());
    git(&partial.0, &["clone", "--quiet", "--filter=blob:none", &source, "clone"]);
    partial
}

#[test]
fn a_catalog_is_loaded_from_a_revision() {
    let folder = repository();
    let revision = Revision::open(&folder.0, "HEAD~1").unwrap();
    let catalog = Catalog::load_from(&revision, &["shop"]).unwrap();
    assert_eq!(shown(&catalog), "");
    assert_eq!(catalog.kinds().len(), 2);
    assert_eq!(catalog.place(catalog.kinds()[0].span).unwrap().file, "HEAD~1:crds/carts.yaml");
    assert_eq!(read_lock(&revision, Path::new("shop")).unwrap().unwrap().text(), "the lock\n");
    // Users may stand in a folder of the repository.
    let below = Revision::open(&folder.0.join("shop"), "HEAD~1").unwrap();
    assert_eq!(below.read(Path::new(LOCK_FILE)).unwrap(), b"the lock\n");
    assert_eq!(Catalog::load_from(&below, &["."]).unwrap().kinds().len(), 2);
    assert_eq!(Catalog::load_from(&below, &["../crds"]).unwrap().kinds().len(), 1);
}

#[test]
fn folders_are_listed_as_on_disk() {
    let folder = repository();
    let revision = Revision::open(&folder.0, "HEAD~1").unwrap();
    assert_eq!(revision.files(Path::new("crds")).unwrap(), [Path::new("crds/carts.yaml")]);
    assert!(revision.is_folder(Path::new("crds")) && !revision.is_folder(Path::new("crds/carts.yaml")));
    assert!(revision.files(Path::new("none")).is_err());
    let gone = revision.read(Path::new("none.yaml")).unwrap_err();
    assert_eq!(gone.to_string(), "there is no such file at HEAD~1");
    assert_eq!(revision.read(Path::new("crds")).unwrap_err().to_string(), "it is a folder");
    for outside in ["/etc/hostname", "../outside.yaml"] {
        assert!(revision.read(Path::new(outside)).is_err(), "{outside}");
    }
}

#[test]
fn why_a_revision_cannot_be_read_is_said() {
    let folder = repository();
    let why = |folder: &Path, revision: &str| Revision::open(folder, revision).unwrap_err().to_string();
    let unknown = "in this repository; git log lists those that are there";
    assert_eq!(why(&folder.0, "nowhere"), format!("there is no revision \"nowhere\" {unknown}"));
    let absent = "0123456789012345678901234567890123456789";
    assert_eq!(why(&folder.0, absent), format!("there is no revision {absent:?} {unknown}"));
    assert!(why(&folder.0, "--help").starts_with("there is no revision"));

    let shallow = Folder::new();
    let source = format!("file://{}", folder.0.display());
    git(&shallow.0, &["clone", "--quiet", "--depth", "1", &source, "clone"]);
    let said = why(&shallow.0.join("clone"), "HEAD~1");
    assert!(said.contains("shallow; fetch it") && said.ends_with("or rely on the committed lock"), "{said}");
    assert!(Revision::open(&shallow.0.join("clone"), "HEAD").is_ok());

    let alone = Folder::new();
    assert!(matches!(Revision::open(&alone.0, "HEAD"), Err(GitError::NoRepository { .. })));
}

#[test]
fn objects_that_a_clone_left_out_are_not_fetched() {
    let folder = repository();
    let partial = partial_clone(&folder);
    let revision = Revision::open(&partial.0.join("clone"), "HEAD~1").unwrap();
    assert!(revision.read(Path::new("crds/carts.yaml")).is_err());
}

#[test]
fn git_may_report_more_than_a_pipe_holds() {
    let folder = Folder::new();
    git(&folder.0, &["init", "--quiet"]);
    for file in 0..1000 {
        folder.write(&format!("files/{file}.yaml"), &format!("text: {file}\n"));
    }
    commit(&folder, "first");
    git(&folder.0, &["rm", "--quiet", "-r", "files"]);
    commit(&folder, "second");
    let partial = partial_clone(&folder);
    let revision = Revision::open(&partial.0.join("clone"), "HEAD~1").unwrap();
    // git reports each file on a line of its own, about 90 bytes long.
    let error = revision.files_with_any(&["text"]).unwrap_err().to_string();
    assert!(error.contains(".yaml': unable to read"), "{error}");
}

#[test]
fn files_with_any_of_many_texts_are_found_in_the_whole_commit() {
    let folder = repository();
    let revision = Revision::open(&folder.0.join("shop"), "HEAD~1").unwrap();
    let mut texts: Vec<String> = (0..500).map(|number| format!("not there {number}")).collect();
    texts.push("CustomResourceDefinition".to_owned());
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found: Vec<_> = revision.files_with_any(&texts).unwrap().into_iter().collect();
    assert_eq!(found, [Path::new("../crds/carts.yaml")]);
    assert!(revision.files_with_any(&[]).unwrap().is_empty());
}
