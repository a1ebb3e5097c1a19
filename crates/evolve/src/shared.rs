//! Slices of which mostly nothing changes: they are shared until something does.

use wheelwright_document::{Arena, Entry, Value};

/// A slice that is gone through once, and copied only if something in it changes.
pub(crate) struct Shared<'a, T> {
    all: &'a [T],
    /// How many were gone through.
    seen: usize,
    changed: Option<Vec<T>>,
}

impl<'a, T: Copy> Shared<'a, T> {
    pub(crate) fn new(all: &'a [T]) -> Self {
        Self { all, seen: 0, changed: None }
    }

    /// The next one is what it was.
    #[inline]
    pub(crate) fn keep(&mut self) {
        if let Some(changed) = &mut self.changed {
            changed.push(self.all[self.seen]);
        }
        self.seen += 1;
    }

    /// The next one is something else.
    pub(crate) fn replace(&mut self, item: T) {
        self.copied().push(item);
        self.seen += 1;
    }

    /// There is nothing in the place of the next one.
    pub(crate) fn leave_out(&mut self) {
        self.copied();
        self.seen += 1;
    }

    /// What became of it.
    #[inline]
    pub(crate) fn finish(self, arena: &'a Arena) -> &'a [T] {
        self.changed.map_or(self.all, |changed| arena.slice(&changed))
    }

    fn copied(&mut self) -> &mut Vec<T> {
        self.changed.get_or_insert_with(|| self.all[..self.seen].to_vec())
    }
}

impl<'a> Shared<'a, Value<'a>> {
    /// What the next item became.
    #[inline]
    pub(crate) fn push(&mut self, item: Value<'a>) {
        if is_itself(item, self.all[self.seen]) { self.keep() } else { self.replace(item) }
    }
}

impl<'a> Shared<'a, Entry<'a>> {
    /// What the value of the next entry became.
    #[inline]
    pub(crate) fn push(&mut self, value: Value<'a>) {
        let entry = self.all[self.seen];
        match is_itself(value, entry.value) {
            true => self.keep(),
            false => self.replace(Entry { key: entry.key, value }),
        }
    }
}

/// Whether a list or an object is the one that it was, and not only like it. Those who go through slices make no other values
/// of others.
#[inline]
fn is_itself(one: Value<'_>, other: Value<'_>) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => std::ptr::eq(one, other),
        (Value::Object(one), Value::Object(other)) => std::ptr::eq(one, other),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_copied_once_something_changes() {
        let arena = Arena::new();
        let all = arena.slice(&[1, 2, 3]);
        let run = |steps: &str| {
            let mut shared = Shared::new(all);
            steps.chars().for_each(|step| match step {
                '=' => shared.keep(),
                '-' => shared.leave_out(),
                _ => shared.replace(7),
            });
            shared.finish(&arena)
        };
        assert!(std::ptr::eq(run("==="), all));
        assert_eq!(run("=x="), [1, 7, 3]);
        assert_eq!(run("-=x"), [2, 7]);
        assert!(run("---").is_empty());
    }
}
