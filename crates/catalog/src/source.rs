//! Where the files of a catalog are read from: the disk as it is, or a revision in git.

use std::{
    fmt, fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use wheelwright_schema::Tree;

use crate::{Disk, MAX_BYTES, files};

/// A place that files are read from. Paths are as users write them, relative to where they stand.
pub trait Source: fmt::Debug {
    /// What a file holds, up to one byte more than [`MAX_BYTES`].
    ///
    /// # Errors
    /// It is not there, is a folder, or cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Whether there is a folder of the name.
    fn is_folder(&self, path: &Path) -> bool;

    /// The files in a folder, at any depth and in the order of their names, that may hold definitions.
    ///
    /// # Errors
    /// The folder is not there or cannot be read.
    fn files(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// The tree around a file, in which it may refer to others.
    fn tree(&self, file: &Path) -> Box<dyn Tree + '_>;

    /// What to call a file in messages.
    fn display(&self, path: &Path) -> String {
        files::display(path)
    }
}

/// The disk as it is.
#[derive(Clone, Debug, Default)]
pub struct OnDisk {
    /// The tree of all files, instead of the one around each.
    pub tree: Option<Disk>,
}

impl Source for OnDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        let mut bytes = Vec::new();
        fs::File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn files(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        files::below(folder)
    }

    fn tree(&self, file: &Path) -> Box<dyn Tree + '_> {
        Box::new(self.tree.clone().unwrap_or_else(|| Disk::around(file, None)))
    }
}
