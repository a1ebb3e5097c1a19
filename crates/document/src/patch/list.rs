//! The items of a list while it changes.

use std::iter;

use super::tree::Node;
use crate::Value;

/// A list in chunks: inserting or removing an item moves the items of one chunk, not all that follow. Chunks that no
/// operation has touched borrow from the old list.
pub(super) struct List<'a> {
    chunks: Vec<Chunk<'a>>,
    len: usize,
}

/// A run of items.
pub(super) enum Chunk<'a> {
    /// Consecutive items of the old list; the first was at position `first`.
    Untouched { items: &'a [Value<'a>], first: usize },
    /// Items, some of which have changed.
    Opened(Vec<Item<'a>>),
}

/// An item and the position of the old item that it continues; `None` for a new item.
pub(super) struct Item<'a> {
    pub(super) node: Node<'a>,
    pub(super) origin: Option<usize>,
}

/// The length of a new chunk; one that has grown to twice as many items is split. The largest lists have some thousand
/// chunks then, so that finding one costs about as much as moving its items.
const CHUNK: usize = 512;

impl<'a> List<'a> {
    pub(super) fn open(items: &'a [Value<'a>]) -> Self {
        let chunk = |(number, items)| Chunk::Untouched { items, first: number * CHUNK };
        Self { chunks: items.chunks(CHUNK).enumerate().map(chunk).collect(), len: items.len() }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn chunks(&self) -> &[Chunk<'a>] {
        &self.chunks
    }

    pub(super) fn get_mut(&mut self, position: usize) -> Option<&mut Node<'a>> {
        let (chunk, place) = self.find(position)?;
        Some(&mut self.chunks[chunk].opened()[place].node)
    }

    /// Inserts an item at a position up to the length of the list.
    pub(super) fn insert(&mut self, position: usize, item: Item<'a>) {
        // An item that is appended belongs to the last chunk.
        let Some((chunk, place)) = self.find(position.saturating_sub(1)) else {
            self.chunks.push(Chunk::Opened(vec![item]));
            self.len = 1;
            return;
        };
        let items = self.chunks[chunk].opened();
        items.insert(place + usize::from(position > 0), item);
        self.len += 1;
        if items.len() == 2 * CHUNK {
            let rest = items.split_off(CHUNK);
            self.chunks.insert(chunk + 1, Chunk::Opened(rest));
        }
    }

    pub(super) fn remove(&mut self, position: usize) -> Option<Item<'a>> {
        let (chunk, place) = self.find(position)?;
        let items = self.chunks[chunk].opened();
        let item = items.remove(place);
        if items.is_empty() {
            self.chunks.remove(chunk);
        }
        self.len -= 1;
        Some(item)
    }

    /// The old position that each item continues.
    pub(super) fn origins(&self) -> Vec<Option<usize>> {
        let mut origins = Vec::with_capacity(self.len);
        for chunk in &self.chunks {
            match chunk {
                Chunk::Untouched { items, first } => origins.extend((*first..first + items.len()).map(Some)),
                Chunk::Opened(items) => origins.extend(items.iter().map(|item| item.origin)),
            }
        }
        origins
    }

    /// The chunk of the item at a position, and its place there.
    fn find(&self, position: usize) -> Option<(usize, usize)> {
        let mut place = position;
        for (number, chunk) in self.chunks.iter().enumerate() {
            match place.checked_sub(chunk.len()) {
                Some(rest) => place = rest,
                None => return Some((number, place)),
            }
        }
        None
    }
}

impl<'a> Chunk<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Untouched { items, .. } => items.len(),
            Self::Opened(items) => items.len(),
        }
    }

    fn opened(&mut self) -> &mut Vec<Item<'a>> {
        if let Self::Untouched { items, first } = self {
            let item = |(value, position)| Item { node: Node::shared(value), origin: Some(position) };
            *self = Self::Opened(iter::zip(items.iter().copied(), *first..).map(item).collect());
        }
        match self {
            Self::Opened(items) => items,
            Self::Untouched { .. } => unreachable!("an untouched chunk was opened above"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// The items as numbers, with their origins.
    fn content(list: &List<'_>) -> Vec<(bool, Option<usize>)> {
        let origins = list.origins();
        let mut is_new = Vec::new();
        for chunk in list.chunks() {
            match chunk {
                Chunk::Untouched { items, .. } => is_new.extend(items.iter().map(|item| !item.is_null())),
                Chunk::Opened(items) => is_new.extend(items.iter().map(|item| item.origin.is_none())),
            }
        }
        assert_eq!(is_new.len(), list.len());
        iter::zip(is_new, origins).collect()
    }

    #[test]
    fn insertions_at_the_head_of_a_long_list_move_few_items() {
        const INSERTIONS: usize = 10_000;
        let old = vec![Value::Null; 400_000];
        let mut list = List::open(&old);
        let mut moved = 0;
        for _ in 0..INSERTIONS {
            let chunks = list.chunks.len();
            // All items of the first chunk follow the new one.
            moved += list.chunks[0].len();
            list.insert(0, Item { node: Node::shared(Value::Bool(true)), origin: None });
            if list.chunks.len() > chunks {
                // A split moves the second half of the chunk, and the chunks that follow.
                moved += list.chunks[1].len() + chunks - 1;
            }
        }
        assert_eq!(list.len(), old.len() + INSERTIONS);
        assert!(moved <= INSERTIONS * 2 * CHUNK, "{moved} items were moved");
    }

    proptest! {
        /// A list behaves as a vector does, whatever its chunks are.
        #[test]
        fn lists_agree_with_vectors(
            length in 0..3 * CHUNK,
            operations in vec((any::<bool>(), 0..4 * CHUNK, 1..CHUNK), 0..12),
        ) {
            let old = vec![Value::Null; length];
            let mut list = List::open(&old);
            let mut vector: Vec<_> = (0..length).map(|position| (false, Some(position))).collect();
            for (is_insertion, position, times) in operations {
                for _ in 0..times {
                    if is_insertion {
                        let position = position.min(vector.len());
                        list.insert(position, Item { node: Node::shared(Value::Bool(true)), origin: None });
                        vector.insert(position, (true, None));
                    } else {
                        let removed = list.remove(position).map(|item| item.origin);
                        let expected = (position < vector.len()).then(|| vector.remove(position).1);
                        prop_assert_eq!(removed, expected);
                    }
                }
            }
            prop_assert_eq!(content(&list), vector);
        }
    }
}
