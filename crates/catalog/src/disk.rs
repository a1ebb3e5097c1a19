//! The tree around a file: references are followed inside of it and never out of it.

use std::{
    cell::OnceCell,
    fs,
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
};

use wheelwright_schema::{Refused, Tree};

/// Why a reference is refused that leads to a file outside of the tree.
pub const LEADS_OUT: &str = "it leads out of the tree";

/// The largest file that is read.
const MAX_BYTES: u64 = 64 << 20;

/// The files around one file, which are found when they are first asked for.
#[derive(Clone, Debug)]
pub struct Disk {
    file: PathBuf,
    folder: Option<PathBuf>,
    root: OnceCell<PathBuf>,
}

impl Disk {
    /// The tree around a file: the outermost of the folder that was looked through to find it, if so, the nearest folder
    /// above with a `.git`, the nearest folder above that holds a `common-types` folder, and the file's own folder.
    pub fn around(file: impl Into<PathBuf>, folder: Option<&Path>) -> Self {
        Self { file: file.into(), folder: folder.map(Path::to_owned), root: OnceCell::new() }
    }

    /// A tree whose root is given.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn below(root: &Path) -> io::Result<Self> {
        let canonical = root.canonicalize()?;
        if !canonical.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is no folder"));
        }
        Ok(Self { file: root.to_owned(), folder: None, root: OnceCell::from(canonical) })
    }

    /// The root of the tree.
    pub fn root(&self) -> &Path {
        self.root.get_or_init(|| self.find_root())
    }

    /// Whether a file is in the tree, as references from it see it: by the folder that its name says.
    pub fn holds(&self, file: &str) -> bool {
        let folder = Path::new(".").join(Path::new(file).parent().unwrap_or(Path::new("")));
        folder.canonicalize().is_ok_and(|folder| folder.starts_with(self.root()))
    }

    fn find_root(&self) -> PathBuf {
        let own = self.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Of a folder that is not there, no file can be read.
        let Ok(own) = own.canonicalize() else { return own.to_owned() };
        let nearest = |name: &str| own.ancestors().find(|folder| folder.join(name).exists()).map(Path::to_owned);
        let named = self.folder.as_ref().and_then(|folder| folder.canonicalize().ok());
        let candidates = [named, nearest(".git"), nearest("common-types")].into_iter().flatten();
        let around = candidates.filter(|candidate| own.starts_with(candidate));
        around.min_by_key(|candidate| candidate.components().count()).unwrap_or(own)
    }

    fn refuse(&self, message: impl Into<String>) -> Refused {
        let mend = "copy the file into the tree and refer to it by a relative path, or name a larger tree with --tree";
        Refused { message: message.into(), mend: mend.to_owned() }
    }
}

impl Tree for Disk {
    fn locate(&self, from: &str, reference: &str) -> Result<String, Refused> {
        if has_scheme(reference) {
            return Err(self.refuse("it is a URL, and only files in the tree are read"));
        }
        if reference.starts_with(['/', '\\']) || Path::new(reference).is_absolute() {
            return Err(self.refuse("it is an absolute path"));
        }
        let parent = Path::new(from).parent().unwrap_or(Path::new(""));
        let path = normalized(&parent.join(reference));
        // What is not there is judged by the nearest folder that is, so that nobody learns what is outside.
        let relative = Path::new(".").join(&path);
        let there = relative.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
        if there.is_none_or(|there| !there.starts_with(self.root())) {
            return Err(self.refuse(LEADS_OUT));
        }
        Ok(path.to_string_lossy().into_owned())
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => error.to_string(),
        };
        let metadata = fs::metadata(name).map_err(failed)?;
        if !metadata.is_file() {
            return Err("it is no file".to_owned());
        }
        let mut bytes = Vec::new();
        fs::File::open(name).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(failed)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(format!("it has more than {} MiB", MAX_BYTES >> 20));
        }
        Ok(bytes)
    }
}

/// Whether a reference starts like a URL: `http:`, `file:`, and also a drive, which is no relative path either.
pub(crate) fn has_scheme(reference: &str) -> bool {
    let scheme = reference.split_once(':').map_or("", |(scheme, _)| scheme);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.'))
}

/// The path without `.` and with `..` taken back, so that a file has one name however it is referred to.
pub(crate) fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(normalized.components().next_back(), Some(Component::Normal(_))) => {
                normalized.pop();
            }
            component => normalized.push(component),
        }
    }
    normalized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_name() {
        assert_eq!(normalized(Path::new("./a/./b/../c.json")), Path::new("a/c.json"));
        assert_eq!(normalized(Path::new("../../x/../y.json")), Path::new("../../y.json"));
    }

    #[test]
    fn urls_are_told_from_paths() {
        for url in ["http://localhost/a.json", "file:///a", "C:\\a.json", "urn:x:y"] {
            assert!(has_scheme(url), "{url}");
        }
        for path in ["a.json", "./a:b.json", "../x/y.json", "1:2", ""] {
            assert!(!has_scheme(path), "{path}");
        }
    }
}
