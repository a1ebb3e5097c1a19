//! Item provenance: which list items of a patched document continue which items of the document before.

use std::collections::HashMap;

/// Which old item each list item continues, for the lists that a JSON patch went through.
///
/// A JSON patch names positions, so the item that an operation touched is known and need not be guessed from values.
/// Parts without a node here were either left alone or replaced as a whole.
///
/// ```
/// use wheelwright_document::{Arena, JsonPatch, decode};
///
/// let arena = Arena::new();
/// let document = decode(br#"{"ports":[80,80,80]}"#, &arena)?;
/// let patch = JsonPatch::parse(decode(br#"[{"op":"remove","path":"/ports/1"}]"#, &arena)?)?;
/// let (_, origins) = patch.apply_tracked(document, &arena)?;
/// let ports = origins.as_ref().and_then(|origins| origins.field("ports"));
/// assert_eq!(ports.and_then(|ports| ports.items()), Some(&[Some(0), Some(2)][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ItemOrigins<'a>(Origins<'a>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Origins<'a> {
    Object(HashMap<&'a str, ItemOrigins<'a>>),
    List {
        items: Vec<Option<usize>>,
        /// What is known within items, by their new positions, in ascending order.
        below: Vec<(usize, ItemOrigins<'a>)>,
    },
}

impl<'a> ItemOrigins<'a> {
    pub(super) fn of_object(fields: HashMap<&'a str, Self>) -> Option<Self> {
        (!fields.is_empty()).then_some(Self(Origins::Object(fields)))
    }

    pub(super) fn of_list(items: Vec<Option<usize>>, below: Vec<(usize, Self)>) -> Self {
        Self(Origins::List { items, below })
    }

    /// The node of an object's field.
    pub fn field(&self, name: &str) -> Option<&Self> {
        match &self.0 {
            Origins::Object(fields) => fields.get(name),
            Origins::List { .. } => None,
        }
    }

    /// The old position that each item of this list continues; `None` for a new item.
    pub fn items(&self) -> Option<&[Option<usize>]> {
        match &self.0 {
            Origins::List { items, .. } => Some(items),
            Origins::Object(_) => None,
        }
    }

    /// The node of a list item, by its new position.
    pub fn item(&self, position: usize) -> Option<&Self> {
        let Origins::List { below, .. } = &self.0 else { return None };
        let found = below.binary_search_by_key(&position, |(position, _)| *position).ok()?;
        Some(&below[found].1)
    }

    /// As [`item`](Self::item), if the item was taken to continue the old one at `old`: the node is about no other one.
    pub fn item_of(&self, position: usize, old: Option<usize>) -> Option<&Self> {
        self.items()?.get(position).filter(|origin| **origin == old)?;
        self.item(position)
    }

    /// Drops the nodes of fields that `keep` rejects. It may change the nodes it keeps.
    pub fn retain_fields(&mut self, mut keep: impl FnMut(&str, &mut Self) -> bool) {
        if let Origins::Object(fields) = &mut self.0 {
            fields.retain(|name, below| keep(name, below));
        }
    }

    /// The nodes of list items.
    pub fn items_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        let below = match &mut self.0 {
            Origins::List { below, .. } => &mut below[..],
            Origins::Object(_) => &mut [],
        };
        below.iter_mut().map(|(_, node)| node)
    }
}
