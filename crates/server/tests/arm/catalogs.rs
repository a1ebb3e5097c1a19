//! Kinds to serve: of examples, and of documents that are not ours where they are there.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use wheelwright_catalog::Catalog;
use wheelwright_evolve::{Declaration, Kind};
use wheelwright_repository::ServedKind;

/// The kinds of a catalog, with what was declared of them.
pub(crate) struct Kinds {
    pub(crate) served: Vec<ServedKind>,
    /// In the same order, with their types.
    pub(crate) declared: Vec<(Declaration, String)>,
}

/// The kinds of a folder.
pub(crate) fn kinds(folder: &Path) -> Kinds {
    let catalog = Catalog::load(&[folder]).expect("a catalog");
    let findings: Vec<_> = catalog.findings().iter().map(|finding| &finding.message).collect();
    assert!(findings.is_empty(), "{findings:?}");
    let (mut served, mut declared) = (Vec::new(), Vec::new());
    for kind in catalog.kinds() {
        let (compiled, problems) = Kind::compile(&kind.declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        let compiled = compiled.expect("there are versions");
        served.push(ServedKind::new(compiled, kind).expect("a name for keys"));
        declared.push((kind.declaration.clone(), kind.arm.as_deref().unwrap_or_default().to_owned()));
    }
    Kinds { served, declared }
}

/// The kinds of our own documents in this folder.
pub(crate) fn shop() -> Kinds {
    kinds(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arm/shop"))
}

/// The kinds of `examples/node-pools`.
pub(crate) fn node_pools() -> Kinds {
    kinds(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/node-pools"))
}

/// The kinds of `examples/openapi-defaults`, as resources.
pub(crate) fn openapi_defaults() -> Kinds {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/openapi-defaults");
    let folder = tempfile::tempdir().expect("a folder");
    copy(&example, folder.path()).expect("it can be copied");
    let catalog = folder.path().join("wheelwright.yaml");
    let text = fs::read_to_string(&catalog).expect("a catalog");
    fs::write(&catalog, text.replace("    definition:", "    arm: Example.Pools/nodePools\n    definition:"))
        .expect("it can be written");
    kinds(folder.path())
}

/// The kinds of `examples/aro-hcp` with the real documents, if they are there.
pub(crate) fn aro_hcp() -> Option<Kinds> {
    let api = shared()?.join("real-apis/aro-hcp/api");
    let folder = tempfile::tempdir().expect("a folder");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/aro-hcp");
    copy(&example, folder.path()).and_then(|()| copy(&api, &folder.path().join("api"))).expect("they can be copied");
    Some(kinds(folder.path()))
}

/// The folder of what is not ours to copy: the one that `WHEELWRIGHT_SHARED` names, or `shared` beside the repository.
pub(crate) fn shared() -> Option<PathBuf> {
    let named = env::var_os("WHEELWRIGHT_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    named.or(Some(beside)).filter(|shared| shared.join("real-apis/aro-hcp/api").exists())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() { copy(&path, &to)? } else { fs::write(to, fs::read(&path)?)? }
    }
    Ok(())
}
