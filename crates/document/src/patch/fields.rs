//! The fields of an object while it changes.

use std::collections::HashMap;

/// Fields in their order, found in constant time. A removed field leaves a gap behind, so that the others keep their
/// places.
pub(super) struct Fields<'a, T> {
    slots: Vec<Option<(&'a str, T)>>,
    /// Where each key is; empty as long as there are few, because looking at those in turn is faster.
    places: HashMap<&'a str, usize>,
    count: usize,
}

const FEW: usize = 16;

impl<'a, T> FromIterator<(&'a str, T)> for Fields<'a, T> {
    fn from_iter<I: IntoIterator<Item = (&'a str, T)>>(fields: I) -> Self {
        let slots: Vec<_> = fields.into_iter().map(Some).collect();
        let mut fields = Self { count: slots.len(), slots, places: HashMap::new() };
        if fields.slots.len() > FEW {
            fields.index_all();
        }
        fields
    }
}

impl<'a, T> Fields<'a, T> {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn get(&self, key: &str) -> Option<&T> {
        self.slots[self.place(key)?].as_ref().map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut T> {
        let place = self.place(key)?;
        self.slots[place].as_mut().map(|(_, value)| value)
    }

    /// Appends a field whose key is not there yet.
    pub(super) fn push(&mut self, key: &'a str, value: T) {
        let place = self.slots.len();
        self.slots.push(Some((key, value)));
        self.count += 1;
        if place == FEW {
            self.index_all();
        } else if place > FEW {
            self.places.insert(key, place);
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<T> {
        let place = self.place(key)?;
        self.places.remove(key);
        self.count -= 1;
        self.slots[place].take().map(|(_, value)| value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, &T)> {
        self.slots.iter().flatten().map(|(key, value)| (*key, value))
    }

    fn place(&self, key: &str) -> Option<usize> {
        if self.slots.len() > FEW {
            return self.places.get(key).copied();
        }
        self.slots.iter().position(|slot| slot.as_ref().is_some_and(|(known, _)| *known == key))
    }

    fn index_all(&mut self) {
        let slots = self.slots.iter().enumerate();
        self.places = slots.filter_map(|(place, slot)| slot.as_ref().map(|(key, _)| (*key, place))).collect();
    }
}
