//! Files, folders and standard input, read one after the other as they are asked for.

use std::{
    ffi::OsStr,
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
    rc::Rc,
};

use crate::{Disk, Input, MAX_BYTES, Origin, Unreadable};

/// What a name stands for that is no file.
const STANDARD_INPUT: &str = "-";

/// Reads files; `-` is standard input, which is also read if there are none.
pub fn files(paths: Vec<PathBuf>, tree: Option<Disk>) -> impl Iterator<Item = Result<Input, Unreadable>> {
    or_standard_input(paths).into_iter().map(move |path| read(&path, Origin::Named, None, tree.as_ref()))
}

/// The paths, or standard input if there are none.
pub fn or_standard_input(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    if paths.is_empty() { vec![STANDARD_INPUT.into()] } else { paths }
}

/// Whether standard input is asked for more than once; it can be read only once.
pub fn standard_input_repeats<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> bool {
    paths.into_iter().filter(|path| is_standard_input(path)).count() > 1
}

/// Reads files, and those in folders, at any depth and in the order of their names, that may hold definitions. Hidden
/// folders are left alone, and so are folders behind links, which may lead in circles.
pub fn files_and_folders(paths: Vec<PathBuf>, tree: Option<Disk>) -> impl Iterator<Item = Result<Input, Unreadable>> {
    // What comes next is at the end; each with the folder that was named, if it lay in one.
    let mut ahead: Vec<(PathBuf, Option<Rc<Path>>)> = paths.into_iter().rev().map(|path| (path, None)).collect();
    std::iter::from_fn(move || {
        loop {
            let (path, folder) = ahead.pop()?;
            if !path.is_dir() {
                let origin = if folder.is_some() { Origin::Found } else { Origin::Named };
                return Some(read(&path, origin, folder.as_deref(), tree.as_ref()));
            }
            match children(&path) {
                Ok(children) => {
                    let folder = folder.unwrap_or_else(|| path.into());
                    ahead.extend(children.into_iter().rev().map(|child| (child, Some(Rc::clone(&folder)))));
                }
                Err(error) => return Some(Err(Unreadable { name: display(&path), error })),
            }
        }
    })
}

/// The files in a folder, at any depth and in the order of their names, that may hold definitions.
///
/// # Errors
/// A folder cannot be read.
pub fn below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut ahead = children(folder)?;
    ahead.reverse();
    while let Some(path) = ahead.pop() {
        if path.is_dir() {
            ahead.extend(children(&path)?.into_iter().rev());
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

/// Opens a file or standard input as a stream.
///
/// # Errors
/// It is not there, is a folder, or cannot be read.
pub fn open(path: &Path) -> Result<Box<dyn io::Read>, Unreadable> {
    if is_standard_input(path) {
        return Ok(Box::new(io::stdin()));
    }
    let is_folder = || io::Error::new(io::ErrorKind::IsADirectory, "it is a folder");
    let opened = if path.is_dir() { Err(is_folder()) } else { fs::File::open(path) };
    match opened {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(Unreadable { name: display(path), error }),
    }
}

/// What to call a file in messages.
pub fn display(path: &Path) -> String {
    if is_standard_input(path) {
        return "standard input".to_owned();
    }
    let path = path.strip_prefix(".").ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(path);
    path.display().to_string()
}

fn read(path: &Path, origin: Origin, folder: Option<&Path>, tree: Option<&Disk>) -> Result<Input, Unreadable> {
    let mut bytes = Vec::new();
    // One byte more than is looked at, so that decoding says what is wrong.
    match open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes) {
        Ok(_) => {
            let tree = tree.cloned().unwrap_or_else(|| Disk::around(path, folder));
            Ok(Input { name: display(path), bytes, origin, tree: Some(tree) })
        }
        Err(error) => Err(Unreadable { name: display(path), error }),
    }
}

fn children(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut children = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let path = entry.path();
        let is_wanted = if path.is_dir() { !entry.file_type()?.is_symlink() } else { may_hold_definitions(&path) };
        if !is_hidden && is_wanted {
            children.push(path);
        }
    }
    children.sort_unstable();
    Ok(children)
}

/// Whether a file is of a sort that may hold definitions, by its name.
pub fn may_hold_definitions(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    ["yaml", "yml", "json"].iter().any(|wanted| extension.eq_ignore_ascii_case(wanted))
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}
