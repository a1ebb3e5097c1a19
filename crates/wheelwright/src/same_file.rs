//! Whether two paths lead to the same file.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Whether two paths lead to the same file, which need not exist.
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    resolved(a) == resolved(b) || is_same_inode(a, b)
}

#[cfg(unix)]
fn is_same_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(a).ok().zip(fs::metadata(b).ok()).is_some_and(|(a, b)| (a.dev(), a.ino()) == (b.dev(), b.ino()))
}

#[cfg(not(unix))]
fn is_same_inode(_: &Path, _: &Path) -> bool {
    false
}

/// The path without links. That of a file that does not exist, too, and at the end of links that lead nowhere.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let beside = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        path = beside(&path).join(target);
    }
    let folder = Path::new(".").join(beside(&path));
    match (fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_are_the_same_through_links_whether_they_exist_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        symlink(folder.path(), path("folder")).unwrap();
        symlink("file", path("link")).unwrap();
        symlink(path("folder/link"), path("link-to-link")).unwrap();
        symlink("loop", path("loop")).unwrap();
        for exists in [false, true] {
            for name in ["file", "folder/file", "link", "folder/link", "link-to-link", "../{}/file"] {
                let name = name.replace("{}", folder.path().file_name().unwrap().to_str().unwrap());
                assert!(is_same(&path("file"), &path(&name)), "{name}, {exists}");
            }
            for name in ["other", "folder/other", "loop", "nowhere/file"] {
                assert!(!is_same(&path("file"), &path(name)), "{name}, {exists}");
            }
            fs::write(path("file"), "").unwrap();
        }
        fs::hard_link(path("file"), path("hard")).unwrap();
        assert!(is_same(&path("file"), &path("hard")));
    }
}
