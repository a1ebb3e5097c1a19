//! Files that are replaced as a whole, or not at all.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// Replaces or creates a file: readers see all of the old text or all of the new text, even if the machine stops in between.
/// An existing file keeps its permissions, and a link keeps pointing to it.
///
/// The text is written to a temporary file first. On Linux that file has no name until all of it is on disk, so a process that
/// is killed before then leaves nothing behind. Elsewhere, on file systems that do not support this, and in the instant
/// between naming the file and renaming it, a kill leaves `.NAME.PID-N.tmp`; [`remove_leftovers`], with which every
/// replacement begins, removes it.
///
/// # Errors
/// The file cannot be written; the old one is unchanged.
pub fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let path = follow(path)?;
    remove_leftovers_of(&path);
    let mut temporary = Temporary::new(&path)?;
    temporary.file.write_all(text.as_bytes())?;
    if let Ok(metadata) = fs::metadata(&path) {
        temporary.file.set_permissions(metadata.permissions())?;
    }
    temporary.file.sync_all()?;
    temporary.rename(&path)?;
    // The name is on disk only when the folder is. Some systems cannot open folders, and need not.
    match fs::File::open(folder_of(&path)) {
        Ok(folder) => folder.sync_all(),
        Err(_) => Ok(()),
    }
}

/// Removes temporary files of [`replace_file`] for the same path whose process was killed. Failures are ignored.
pub fn remove_leftovers(path: &Path) {
    if let Ok(path) = follow(path) {
        remove_leftovers_of(&path);
    }
}

fn follow(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        result => result,
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn remove_leftovers_of(target: &Path) {
    let Ok(entries) = fs::read_dir(folder_of(target)) else { return };
    for entry in entries.flatten() {
        let is_temporary = is_temporary_name(&entry.file_name(), target);
        if !is_temporary || !entry.file_type().is_ok_and(|file_type| file_type.is_file()) {
            continue;
        }
        // A living process holds the lock of its file. Process ids would not do: in a container, they mean something else.
        let Ok(file) = fs::File::open(entry.path()) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A name in the folder of the target that this process has not used before.
fn temporary_name(target: &Path) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    target.with_file_name(format!(".{name}.{}-{number}.tmp", process::id()))
}

fn is_temporary_name(name: &OsStr, target: &Path) -> bool {
    let (name, target) = (name.to_string_lossy(), target.file_name().unwrap_or_default().to_string_lossy());
    let rest = name.strip_prefix('.').and_then(|rest| rest.strip_prefix(&*target)?.strip_prefix('.'));
    let numbers = rest.and_then(|rest| rest.strip_suffix(".tmp")?.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// Calls a function with temporary names until it finds one that is not taken.
fn with_free_name<T>(target: &Path, mut create: impl FnMut(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    loop {
        let path = temporary_name(target);
        match create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => return result.map(|created| (path, created)),
        }
    }
}

/// A file that is removed when dropped, unless it was renamed.
struct Temporary {
    file: fs::File,
    /// `None` if the file has no name, or no longer this one.
    path: Option<PathBuf>,
}

impl Temporary {
    fn new(target: &Path) -> io::Result<Self> {
        let temporary = match unnamed(folder_of(target)) {
            Some(file) => Self { file, path: None },
            None => {
                let create = |path: &Path| fs::OpenOptions::new().write(true).create_new(true).open(path);
                let (path, file) = with_free_name(target, create)?;
                Self { file, path: Some(path) }
            }
        };
        // Where files cannot be locked, no process takes this one for a leftover.
        let _ = temporary.file.try_lock();
        Ok(temporary)
    }

    /// Gives the file the name of the target, in place of the file that has it.
    fn rename(&mut self, target: &Path) -> io::Result<()> {
        if self.path.is_none() {
            // Linking does not replace a file, and renaming needs a name.
            let (path, ()) = with_free_name(target, |path| link(&self.file, path))?;
            self.path = Some(path);
        }
        if let Some(path) = &self.path {
            fs::rename(path, target)?;
        }
        self.path = None;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // The failure that led here is already reported.
            let _ = fs::remove_file(path);
        }
    }
}

/// A file without a name, where the system has such files and can name them later.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<fs::File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = fs::File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
    descriptor(&file).exists().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<fs::File> {
    None
}

/// Gives a name to a file that has none.
#[cfg(target_os = "linux")]
fn link(file: &fs::File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, descriptor(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &fs::File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The path of an open file without a name. Linking it needs no privilege, unlike linking a descriptor.
#[cfg(target_os = "linux")]
fn descriptor(file: &fs::File) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}
