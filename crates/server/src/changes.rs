//! Files that change while the server runs.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Tells whether files have changed since it was last asked. Looking now and then is enough, and works on every file system.
#[derive(Debug)]
pub(crate) struct Changes(Vec<(PathBuf, Option<Stamp>)>);

/// What tells one state of a file from another: links that lead elsewhere, as in mounted secrets, do so too.
type Stamp = (Option<SystemTime>, u64, PathBuf);

impl Changes {
    pub(crate) fn of<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Self {
        Self(paths.into_iter().map(|path| (path.into(), stamp(path))).collect())
    }

    pub(crate) fn happened(&mut self) -> bool {
        let mut happened = false;
        for (path, known) in &mut self.0 {
            let now = stamp(path);
            happened |= now != *known;
            *known = now;
        }
        happened
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let target = fs::canonicalize(path).ok()?;
    let metadata = fs::metadata(&target).ok()?;
    Some((metadata.modified().ok(), metadata.len(), target))
}
