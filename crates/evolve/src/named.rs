//! Things that are looked for by name, mostly one after the other.

use std::collections::HashMap;

/// Things with names, in an order, and findable by name.
#[derive(Debug)]
pub(crate) struct Named<T> {
    pub(crate) list: Vec<(Box<str>, T)>,
    by_name: HashMap<Box<str>, usize>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self { list: Vec::new(), by_name: HashMap::new() }
    }
}

impl<T> Named<T> {
    pub(crate) fn push(&mut self, name: Box<str>, item: T) {
        self.by_name.insert(name.clone(), self.list.len());
        self.list.push((name, item));
    }

    /// The position of a name. Documents mostly come in the order of the list, so that those after the last that was
    /// found are looked at first.
    #[inline]
    pub(crate) fn position(&self, name: &str, cursor: &mut usize) -> Option<usize> {
        let found = match self.list.get(*cursor) {
            Some((next, _)) if **next == *name => *cursor,
            _ => self.position_after(name, *cursor + 1)?,
        };
        *cursor = found + 1;
        Some(found)
    }

    fn position_after(&self, name: &str, cursor: usize) -> Option<usize> {
        /// How many are compared before the name is looked up: documents skip some, and lookups cost more than that.
        const NEXT: usize = 8;
        let mut next = self.list.iter().skip(cursor).take(NEXT);
        match next.position(|(candidate, _)| **candidate == *name) {
            Some(skipped) => Some(cursor + skipped),
            None => self.by_name.get(name).copied(),
        }
    }

    /// The thing with a name, looked for in the same way.
    #[inline]
    pub(crate) fn find(&self, name: &str, cursor: &mut usize) -> Option<&T> {
        self.position(name, cursor).map(|position| &self.list[position].1)
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }
}
