//! Edits as clients make them.

use wheelwright_document::{Entry, Value};

use super::{Shape, Values, document::Run, free, rule::Wish};

impl<'a> Run<'a, '_> {
    /// A document after an edit or a few.
    pub(super) fn mutated(mut self, mut document: Value<'a>) -> Value<'a> {
        if self.generator.varies_metadata && self.random.one_in(4) {
            document = self.with_other_metadata(document);
        }
        let before = document;
        let edits = [1, 1, 2, 3][self.random.below(4)];
        for attempt in 0..edits + 3 {
            if attempt >= edits && document != before {
                break;
            }
            // Most values are scalars, but what happens to lists and objects is more telling.
            let containers = self.random.one_in(2);
            let mut target = self.random.below(self.targets(document, containers, true));
            document = self.edited_at(document, Some(0), &mut target, containers).unwrap_or(document);
        }
        document
    }

    fn with_other_metadata(&mut self, document: Value<'a>) -> Value<'a> {
        let (Value::Object(entries), Some(resource)) = (document, &self.generator.resource) else { return document };
        let metadata = self.metadata(resource.name.as_ref());
        let is_metadata = |entry: &Entry<'a>| entry.key == "metadata";
        let entries = entries
            .iter()
            .map(|entry| Entry { value: if is_metadata(entry) { metadata } else { entry.value }, ..*entry });
        Value::Object(self.arena.slice_from(entries))
    }

    /// How many values could be edited.
    fn targets(&self, value: Value<'a>, containers: bool, is_root: bool) -> usize {
        let own = usize::from(is_target(value, containers));
        own + match value {
            Value::Array(items) => items.iter().map(|item| self.targets(*item, containers, false)).sum(),
            Value::Object(entries) => {
                let own = entries.iter().filter(|entry| !(is_root && self.generator.is_implied(0, entry.key)));
                own.map(|entry| self.targets(entry.value, containers, false)).sum()
            }
            _ => 0,
        }
    }

    /// Edits the value that `target` counts down to, unless it is not in here; values that no schema describes have no
    /// node.
    fn edited_at(
        &mut self,
        value: Value<'a>,
        at: Option<usize>,
        target: &mut usize,
        containers: bool,
    ) -> Option<Value<'a>> {
        if is_target(value, containers) {
            if *target == 0 {
                return Some(self.edited(value, at));
            }
            *target -= 1;
        }
        match value {
            Value::Array(items) => {
                let below = at.and_then(|at| self.generator.items(at));
                let mut found = items.iter().enumerate();
                let (position, item) = found
                    .find_map(|(position, item)| Some((position, self.edited_at(*item, below, target, containers)?)))?;
                let mut items = items.to_vec();
                items[position] = item;
                Some(Value::Array(self.arena.slice(&items)))
            }
            Value::Object(entries) => {
                let (position, value) = entries.iter().enumerate().find_map(|(position, entry)| {
                    if at.is_some_and(|at| self.generator.is_implied(at, entry.key)) {
                        return None;
                    }
                    let below = at.and_then(|at| self.generator.below(at, entry.key));
                    Some((position, self.edited_at(entry.value, below, target, containers)?))
                })?;
                let mut entries = entries.to_vec();
                entries[position].value = value;
                Some(Value::Object(self.arena.slice(&entries)))
            }
            _ => None,
        }
    }

    fn edited(&mut self, value: Value<'a>, at: Option<usize>) -> Value<'a> {
        let is_nullable = at.is_some_and(|at| at > 0 && self.generator.nodes[at].nullable);
        if is_nullable && self.random.one_in(5) {
            return Value::Null;
        }
        match value {
            Value::Object(entries) => self.edited_object(entries, at),
            Value::Array(items) => self.edited_list(items, at),
            _ => self.anew(at),
        }
    }

    /// Another value of the same node.
    fn anew(&mut self, at: Option<usize>) -> Value<'a> {
        match at {
            Some(at) => self.value(at, Wish::default(), 4),
            None => free::value(self.random, &self.generator.names, 3, self.arena),
        }
    }

    fn edited_object(&mut self, entries: &'a [Entry<'a>], at: Option<usize>) -> Value<'a> {
        let generator = self.generator;
        let is_implied = |entry: &&Entry<'_>| at.is_some_and(|at| generator.is_implied(at, entry.key));
        let implied: Vec<Entry<'a>> = entries.iter().filter(is_implied).copied().collect();
        let mut own: Vec<Entry<'a>> = entries.iter().filter(|entry| !is_implied(entry)).copied().collect();
        match self.random.below(9) {
            0..=2 if !own.is_empty() => {
                own.remove(self.random.below(own.len()));
            }
            3 | 4 => self.add_field(&mut own, at),
            5 => self.random.shuffle(&mut own),
            6 => own.clear(),
            7 if at.is_some_and(|at| at > 0) => return self.anew(at),
            _ => {
                // One member of a union gone and another there is a switch.
                if !own.is_empty() {
                    own.remove(self.random.below(own.len()));
                }
                self.add_field(&mut own, at);
            }
        }
        Value::Object(self.arena.slice(&[implied, own].concat()))
    }

    /// Adds a declared field, or a value to a map.
    fn add_field(&mut self, entries: &mut Vec<Entry<'a>>, at: Option<usize>) {
        let generator = self.generator;
        let is_new = |key: &str, entries: &[Entry<'a>]| entries.iter().all(|entry| entry.key != key);
        let shape = at.and_then(|at| match &generator.nodes[at].shape {
            Shape::Object(shape) => Some(shape),
            _ => None,
        });
        let absent: Vec<&(Box<str>, usize)> =
            shape.iter().flat_map(|shape| &shape.fields).filter(|(name, _)| is_new(name, entries)).collect();
        let position = self.random.below(entries.len() + 1);
        if let Some((name, below)) = self.random.pick(&absent) {
            let value = self.value(*below, Wish::default(), 6);
            return entries.insert(position, Entry { key: name, value });
        }
        let key = free::key(self.random, &generator.names);
        let below = match shape.map(|shape| &shape.values) {
            Some(Some(Values::Node(values))) => Some(*values),
            Some(None) if shape.is_some_and(|shape| !shape.keeps_unknown) => return,
            _ => None,
        };
        if is_new(key, entries) && at.is_none_or(|at| !generator.is_implied(at, key)) {
            let value = self.anew(below);
            entries.insert(position, Entry { key, value });
        }
    }

    fn edited_list(&mut self, items: &'a [Value<'a>], at: Option<usize>) -> Value<'a> {
        let below = at.and_then(|at| self.generator.items(at));
        let mut items = items.to_vec();
        match self.random.below(10) {
            // What follows the first item must not inherit from it.
            0..=3 if !items.is_empty() => {
                items.remove(0);
            }
            4 if !items.is_empty() => {
                items.remove(self.random.below(items.len()));
            }
            5 if !items.is_empty() => {
                let twin = items[self.random.below(items.len())];
                items.insert(self.random.below(items.len() + 1), twin);
            }
            6 | 7 if items.len() > 1 => {
                if self.random.one_in(2) {
                    items.reverse();
                } else {
                    self.random.shuffle(&mut items);
                }
            }
            8 => items.clear(),
            _ => {
                let item = self.anew(below);
                items.insert(self.random.below(items.len() + 1), item);
            }
        }
        Value::Array(self.arena.slice(&items))
    }
}

fn is_target(value: Value<'_>, containers: bool) -> bool {
    !containers || matches!(value, Value::Array(_) | Value::Object(_))
}
