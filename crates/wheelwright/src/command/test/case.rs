//! Where examples are: folders that have an `input.VERSION.yaml`.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use wheelwright_catalog::files;

use crate::Input;

/// A folder with a document of one version, and what other versions show of it.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) folder: PathBuf,
    /// What somebody wrote.
    pub(super) input: Example,
    /// What others read.
    pub(super) expected: Vec<Example>,
}

/// A file with a document of a version.
#[derive(Debug)]
pub(super) struct Example {
    pub(super) path: PathBuf,
    pub(super) version: String,
}

impl Case {
    /// What to call it.
    pub(super) fn name(&self) -> String {
        files::display(&self.folder)
    }
}

impl Example {
    pub(super) fn read(&self) -> Result<Input, String> {
        let mut read = files::files(vec![self.path.clone()], None);
        read.next().transpose().map_err(|unreadable| unreadable.to_string())?.ok_or_else(String::new)
    }

    pub(super) fn extension(&self) -> &str {
        self.path.extension().and_then(OsStr::to_str).unwrap_or("yaml")
    }
}

/// The examples at some paths, at any depth and in the order of their names, and what is wrong with them.
pub(super) fn find(paths: &[PathBuf]) -> (Vec<Case>, Vec<String>) {
    let mut folders: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let mut complaints = Vec::new();
    for path in paths {
        let is_input = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"input."));
        if path.is_file() && !is_input {
            let name = files::display(path);
            complaints.push(format!("{name} is no example; name an input.VERSION.yaml, or a folder that has one"));
            continue;
        }
        let folder = path.parent().filter(|_| path.is_file()).unwrap_or(path);
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        match files::below(folder) {
            Ok(found) => {
                for file in found {
                    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
                    let files = folders.entry(folder).or_default();
                    if !files.contains(&file) {
                        files.push(file);
                    }
                }
            }
            Err(error) => complaints.push(format!("cannot read {}: {error}", files::display(path))),
        }
    }
    let mut cases = Vec::new();
    for (folder, files) in folders {
        let named = files.into_iter().map(|path| {
            let version = path.file_stem().and_then(OsStr::to_str).unwrap_or_default().to_owned();
            Example { path, version }
        });
        let (inputs, expected): (Vec<Example>, Vec<Example>) =
            named.partition(|example| example.version.starts_with("input."));
        let mut inputs = inputs.into_iter();
        match (inputs.next(), inputs.next()) {
            (None, _) => {}
            (Some(Example { path, version }), None) => {
                let version = version.trim_start_matches("input.").to_owned();
                cases.push(Case { folder, input: Example { path, version }, expected });
            }
            (Some(one), Some(two)) => complaints.push(format!(
                "{} and {} are in one folder: an example has one input, so put the other into a folder of its own",
                files::display(&one.path),
                files::display(&two.path)
            )),
        }
    }
    (cases, complaints)
}
