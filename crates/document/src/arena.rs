//! Where the parts of a document live that could not be borrowed from its input.

use bumpalo::{Bump, collections};

/// Memory for documents: values are allocated one by one and freed all at once, when the arena is dropped.
#[derive(Debug, Default)]
pub struct Arena(Bump);

impl Arena {
    /// An empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// An arena with room for what decoding and admitting an input of `bytes` bytes usually takes, so that it is
    /// allocated at once.
    pub fn for_input(bytes: usize) -> Self {
        Self(Bump::with_capacity(bytes.saturating_mul(8).min(16 << 20)))
    }

    /// Forgets all values, and keeps memory for the next ones.
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// Copies a string into the arena.
    pub fn text(&self, text: &str) -> &str {
        self.0.alloc_str(text)
    }

    /// Copies strings into the arena, one after the other.
    pub fn concat(&self, texts: &[&str]) -> &str {
        let length = texts.iter().map(|text| text.len()).sum();
        let mut whole = collections::String::with_capacity_in(length, &self.0);
        texts.iter().for_each(|text| whole.push_str(text));
        whole.into_bump_str()
    }

    /// Copies a slice into the arena.
    #[inline]
    pub fn slice<T: Copy>(&self, items: &[T]) -> &[T] {
        self.0.alloc_slice_copy(items)
    }

    /// Fills a new slice from an iterator that knows its length.
    #[inline]
    pub fn slice_from<T, I>(&self, items: I) -> &[T]
    where
        T: Copy,
        I: IntoIterator<Item = T>,
        I::IntoIter: ExactSizeIterator,
    {
        self.0.alloc_slice_fill_iter(items)
    }

    /// How many bytes the arena holds from the allocator.
    pub fn allocated_bytes(&self) -> usize {
        self.0.allocated_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_put_one_after_the_other() {
        let arena = Arena::new();
        assert_eq!(arena.concat(&[]), "");
        assert_eq!(arena.concat(&["", ""]), "");
        assert_eq!(arena.concat(&["ä", "", "b"]), "äb");
    }
}
