//! A value beside what comes back of it when it is converted to another version and from there.

use std::collections::{HashMap, VecDeque};

use wheelwright_document::{Arena, Entry, Value};

use crate::{
    Conversion, FieldId, Kind, NodeIndex, Only, VersionHistory,
    compute::is_folded_into,
    lens::{by_key, equal, find, hash},
};

/// Finds what of a converted field did not come back.
pub(crate) struct Comparison<'k> {
    kind: &'k Kind,
    version: &'k VersionHistory,
    /// The converted field.
    root: FieldId,
    /// Two texts that become one have different meanings, rather than different notations.
    texts_are_values: bool,
    found: Vec<Only>,
}

impl<'k> Comparison<'k> {
    /// For a field of a version.
    pub(crate) fn of(kind: &'k Kind, version: &'k VersionHistory, root: FieldId) -> Self {
        let texts_are_values = has_values(kind, root);
        Self { kind, version, root, texts_are_values, found: Vec::new() }
    }

    /// The parts of a value that are not in what came back, and the notations and orders that are others there.
    pub(crate) fn only(mut self, at: (FieldId, NodeIndex), value: Value<'_>, back: Value<'_>) -> Vec<Only> {
        self.value((at.0, Some(at.1)), value, back);
        self.found
    }

    /// A value of a node, if it is declared, and the innermost field that it is in.
    fn value(&mut self, (id, node): (FieldId, Option<NodeIndex>), value: Value<'_>, back: Value<'_>) {
        let structure = &self.version.structure;
        let element = node.and_then(|node| structure.element(node));
        match (value, back) {
            (Value::Object(entries), Value::Object(back)) => {
                let back = by_key(back);
                for Entry { key, value } in entries.iter().filter(|entry| !entry.value.is_null()) {
                    let child = node.and_then(|node| structure.child(node, key)).or(element);
                    let at = (child.and_then(|child| self.version.id(child)).unwrap_or(id), child);
                    match find(&back, key) {
                        Some(back) => self.value(at, *value, back),
                        None => self.found.push(Only::Fact(at.0)),
                    }
                }
            }
            (Value::Array(items), Value::Array(back)) => {
                let positions = counterparts(items, back);
                if !positions.iter().flatten().is_sorted() {
                    self.found.push(Only::Order(id));
                }
                for (item, position) in items.iter().zip(positions) {
                    match position {
                        Some(position) => self.value((id, element), *item, back[position]),
                        None => self.found.push(Only::Fact(id)),
                    }
                }
            }
            _ if equal(value, back) => {}
            _ if self.is_filled_in(id, back) => self.found.push(Only::Fact(id)),
            (Value::Null, _) => self.found.push(Only::Spelling(id)),
            _ if is_notation(value, back, || self.texts_are_values) => self.found.push(Only::Spelling(id)),
            _ => self.found.push(Only::Fact(id)),
        }
    }

    /// Whether what came back is the frozen default of a field in the converted one: it was not there, and is filled in.
    fn is_filled_in(&self, id: FieldId, back: Value<'_>) -> bool {
        let arena = Arena::new();
        let frozen = self.kind.history().field(id).frozen.as_ref();
        id != self.root && frozen.is_some_and(|frozen| equal(frozen.share(&arena), back))
    }
}

/// Whether a field is converted by a list of values, so that two texts that become one have different meanings.
pub(crate) fn has_values(kind: &Kind, id: FieldId) -> bool {
    kind.facts().conversions_of(id).any(|with| matches!(with, Conversion::Values(_)))
}

/// Whether a value that came back as another one is the same in another notation.
pub(crate) fn is_notation(value: Value<'_>, back: Value<'_>, texts_are_values: impl FnOnce() -> bool) -> bool {
    match (value, back) {
        (Value::String(_), Value::String(_)) => !texts_are_values(),
        (Value::String(_), Value::Number(_) | Value::Bool(_))
        | (Value::Number(_) | Value::Bool(_), Value::String(_)) => true,
        _ => false,
    }
}

/// Whether a value is in the field that it is a shorthand for. `own` is what came back of the document, item or map value that
/// both are in.
pub(crate) fn is_folded(
    kind: &Kind,
    version: &VersionHistory,
    (id, value): (FieldId, Value<'_>),
    own: Option<Value<'_>>,
) -> bool {
    let mut folded = kind.facts().changes.iter().filter_map(|change| match &change.respelled.with.item {
        Conversion::Folded(key) => [&change.from, &change.to].into_iter().find_map(|side| match side[..] {
            [shorthand, rich] if shorthand == id => Some((key.as_deref(), version.node_of(rich)?)),
            _ => None,
        }),
        _ => None,
    });
    let structure = &version.structure;
    folded.any(|(key, rich)| {
        let above = std::iter::successors(Some(rich), |node| structure.node(*node).parent);
        let mut names: Vec<_> = above.map_while(|node| structure.node(node).name()).collect();
        names.reverse();
        let rich = own.and_then(|own| names.iter().try_fold(own, |value, name| value.get(name)));
        rich.is_some_and(|rich| is_folded_into(rich, value, key))
    })
}

/// The entries of a value, to be found quickly.
pub(crate) fn parts<'a>(value: Value<'a>) -> Vec<&'a Entry<'a>> {
    by_key(value.as_object().unwrap_or_default())
}

/// What came back under a key: null if nothing did, none if that is not known.
pub(crate) fn part<'a>(back: &Option<Vec<&Entry<'a>>>, key: &str) -> Option<Value<'a>> {
    back.as_ref().map(|back| find(back, key).unwrap_or(Value::Null))
}

/// The position of every item among those that came back: of those whose scalars are the same, then of those that share
/// one, then in order. What is further down in an item is looked at once, when it is its turn.
pub(crate) fn counterparts(items: &[Value<'_>], back: &[Value<'_>]) -> Vec<Option<usize>> {
    let mut found = vec![None; items.len()];
    let mut is_left = vec![true; back.len()];
    let hashes_of: [fn(Value<'_>) -> Vec<u64>; 3] =
        [|item| vec![scalars(item).into_iter().fold(0, u64::wrapping_add)], scalars, |_| vec![0]];
    for hashes in hashes_of {
        let mut places: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for (place, item) in back.iter().enumerate().filter(|(place, _)| is_left[*place]) {
            for hash in hashes(*item) {
                places.entry(hash).or_default().push_back(place);
            }
        }
        for (item, found) in items.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            for hash in hashes(*item) {
                let Some(places) = places.get_mut(&hash) else { continue };
                while let Some(place) = places.pop_front() {
                    if std::mem::take(&mut is_left[place]) {
                        *found = Some(place);
                        break;
                    }
                }
                if found.is_some() {
                    break;
                }
            }
        }
    }
    found
}

/// Hashes of an item that is a scalar, or of the fields of an object that are.
fn scalars(item: Value<'_>) -> Vec<u64> {
    let is_scalar = |value: &Value<'_>| !matches!(value, Value::Array(_) | Value::Object(_));
    match item {
        Value::Object(entries) => {
            let entries = entries.iter().filter(|entry| is_scalar(&entry.value));
            entries.map(|entry| hash(Value::Object(&[*entry]))).collect()
        }
        item => is_scalar(&item).then(|| hash(item)).into_iter().collect(),
    }
}
