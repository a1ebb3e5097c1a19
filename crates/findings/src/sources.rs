//! The texts that findings point into.

use std::collections::BTreeMap;

/// The files that were looked at, by name.
#[derive(Clone, Debug, Default)]
pub struct Sources(BTreeMap<String, String>);

impl Sources {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file; one of the same name is replaced.
    pub fn insert(&mut self, file: impl Into<String>, text: impl Into<String>) {
        self.0.insert(file.into(), text.into());
    }

    /// The text of a file.
    pub fn get(&self, file: &str) -> Option<&str> {
        self.0.get(file).map(String::as_str)
    }

    /// Every file and its text, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(file, text)| (file.as_str(), text.as_str()))
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<F: Into<String>, T: Into<String>> FromIterator<(F, T)> for Sources {
    fn from_iter<I: IntoIterator<Item = (F, T)>>(files: I) -> Self {
        Self(files.into_iter().map(|(file, text)| (file.into(), text.into())).collect())
    }
}
