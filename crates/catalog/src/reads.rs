//! Files that loading a catalog reads, or would read if they existed.

use std::{ffi::OsStr, path::Path};

use crate::{LOCK_FILE, files::may_hold_definitions, load::CATALOG_FILES};

/// Whether loading the catalog at `path`, a folder or a file, reads `file` because of its name and place, or would if it
/// existed. Both paths must be free of links.
///
/// Files that a catalog names are among [`Catalog::inputs`](crate::Catalog::inputs).
pub fn reads_by_name(path: &Path, file: &Path) -> bool {
    if !path.is_dir() {
        return file == path || file.file_name() == Some(OsStr::new(LOCK_FILE)) && file.parent() == path.parent();
    }
    let Ok(below) = file.strip_prefix(path) else { return false };
    if CATALOG_FILES.iter().chain([&LOCK_FILE]).any(|name| below == Path::new(name)) {
        return true;
    }
    let has_catalog = CATALOG_FILES.iter().any(|name| path.join(name).exists());
    let is_hidden = |part: &OsStr| part.as_encoded_bytes().starts_with(b".");
    !has_catalog && may_hold_definitions(below) && !below.iter().any(is_hidden)
}
