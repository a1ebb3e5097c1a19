//! Files that are replaced as a whole, or not at all.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// Replaces a file, or makes it: readers see all of the old text or all of the new one, also if the machine stops in
/// between. A file that was there keeps its permissions, and a link keeps leading to it.
///
/// # Errors
/// The file cannot be written; the old one is as it was.
pub fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let path = match path.canonicalize() {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = Temporary::new(folder, &path)?;
    temporary.file.write_all(text.as_bytes())?;
    if let Ok(metadata) = fs::metadata(&path) {
        temporary.file.set_permissions(metadata.permissions())?;
    }
    temporary.file.sync_all()?;
    temporary.rename(&path)?;
    // The name is on disk only when the folder is. Some systems cannot open folders, and need not.
    match fs::File::open(folder) {
        Ok(folder) => folder.sync_all(),
        Err(_) => Ok(()),
    }
}

/// A file that is removed again unless it was given its name.
struct Temporary {
    path: PathBuf,
    file: fs::File,
    is_named: bool,
}

impl Temporary {
    fn new(folder: &Path, target: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!(".{name}.{}-{number}.tmp", process::id()));
            match fs::OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { path, file, is_named: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn rename(&mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.is_named = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_named {
            // Nothing can be done about it, and why it was not finished is reported already.
            let _ = fs::remove_file(&self.path);
        }
    }
}
