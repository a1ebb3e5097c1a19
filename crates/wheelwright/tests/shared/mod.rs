//! What is not ours to copy, where it is there: the folder that `WHEELWRIGHT_SHARED` names, or `shared` beside the
//! repository.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// The folder, if it is there.
pub(crate) fn shared() -> Option<PathBuf> {
    let named = env::var_os("WHEELWRIGHT_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    named.or_else(|| beside.exists().then_some(beside))
}

/// The catalog of `examples/aro-hcp` with the real documents beside it, in a folder for the test of this name: references
/// do not lead out of the tree of a catalog.
#[expect(clippy::print_stdout, reason = "says that they were skipped")]
pub(crate) fn aro_hcp(name: &str) -> Option<PathBuf> {
    let Some(api) = shared().map(|shared| shared.join("real-apis/aro-hcp/api")).filter(|api| api.exists()) else {
        println!("ARO-HCP: SKIPPED");
        return None;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("aro-hcp").join(name);
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/aro-hcp");
    copy(&example, &folder).and_then(|()| copy(&api, &folder.join("api"))).expect("the documents can be copied");
    Some(folder)
}

/// Copies a folder with all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() { copy(&path, &to)? } else { fs::write(to, fs::read(&path)?)? }
    }
    Ok(())
}
