//! Listening to `get`: where each field of its result comes from.

use crate::FieldId;

/// Where the value of a field comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// It is stored, in the shape of the hub or in a bag.
    Stored,
    /// It is absent, and readers fill it in.
    Frozen,
    /// Nobody wrote the object; it holds fields that another version has elsewhere.
    Implied,
}

/// Someone who wants to know where values come from. `()` does not, and costs nothing.
pub(crate) trait Recorder {
    /// What follows is about a field, until [`leave`](Self::leave).
    fn enter(&mut self, name: &str);
    /// What follows is about an item.
    fn enter_index(&mut self, index: usize);
    /// What follows is about a value of a map.
    fn enter_key(&mut self, key: &str);
    /// The field, item or value is done.
    fn leave(&mut self);
    /// The field that was entered last has a value.
    fn source(&mut self, id: FieldId, source: Source);
    /// A field that nobody declares has a value.
    fn unknown(&mut self, name: &str);
}

impl Recorder for () {
    #[inline]
    fn enter(&mut self, _: &str) {}
    #[inline]
    fn enter_index(&mut self, _: usize) {}
    #[inline]
    fn enter_key(&mut self, _: &str) {}
    #[inline]
    fn leave(&mut self) {}
    #[inline]
    fn source(&mut self, _: FieldId, _: Source) {}
    #[inline]
    fn unknown(&mut self, _: &str) {}
}

/// Where one field of a result comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Provenance {
    /// The path of the field in the result: `spec.ports[0].name`, and `spec.labels[a.b]` in maps.
    pub path: String,
    /// The field; `None` for one that nobody declares.
    pub id: Option<FieldId>,
    /// Where it comes from.
    pub source: Source,
}

/// Writes down every field.
#[derive(Default)]
pub(crate) struct Notes {
    path: String,
    marks: Vec<usize>,
    pub(crate) found: Vec<Provenance>,
}

impl Notes {
    fn push(&mut self, write: impl FnOnce(&mut String)) {
        self.marks.push(self.path.len());
        write(&mut self.path);
    }
}

impl Recorder for Notes {
    fn enter(&mut self, name: &str) {
        self.push(|path| {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
        });
    }

    fn enter_index(&mut self, index: usize) {
        self.push(|path| path.push_str(&format!("[{index}]")));
    }

    fn enter_key(&mut self, key: &str) {
        self.push(|path| path.push_str(&format!("[{key}]")));
    }

    fn leave(&mut self) {
        self.path.truncate(self.marks.pop().unwrap_or_default());
    }

    fn source(&mut self, id: FieldId, source: Source) {
        self.found.push(Provenance { path: self.path.clone(), id: Some(id), source });
    }

    fn unknown(&mut self, name: &str) {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        self.found.push(Provenance { path, id: None, source: Source::Stored });
    }
}
