//! Facts that have several spellings.

use std::collections::{HashMap, HashSet};

use crate::{Conversion, FieldId, History, link::Computations};

/// Which fields are spellings of one fact.
pub(crate) struct Spellings {
    /// The fact that a field is a spelling of, by field.
    fact: Vec<usize>,
    /// The fields that are spellings of a fact, by fact.
    fields: Vec<Vec<FieldId>>,
    /// The spellings that a field is a part of where they are converted, by field; each is a part of itself.
    wholes: HashMap<FieldId, Vec<FieldId>>,
    /// Fields that may be there although nobody wrote the objects that they are in, or are such objects.
    pub(crate) may_imply: HashSet<FieldId>,
    /// Lists that are maps in another spelling, and the fields that are their keys there.
    keys: HashMap<FieldId, FieldId>,
}

impl Spellings {
    pub(crate) fn of(history: &History, computations: &Computations) -> Self {
        let mut fact: Vec<usize> = (0..history.fields.len()).collect();
        let mut fields: Vec<Vec<FieldId>> = history.ids().map(|id| vec![id]).collect();
        let mut wholes: HashMap<FieldId, Vec<FieldId>> = HashMap::new();
        let mut keys = HashMap::new();
        for link in &computations.links {
            let (before, after) = (history.version(link.before), history.version(link.version));
            let sides = link.from.iter().map(|node| (before, node)).chain(link.to.iter().map(|node| (after, node)));
            for (version, node) in sides.clone() {
                let Some(whole) = version.id(*node) else { continue };
                for part in version.structure.below(*node).into_iter().filter_map(|node| version.id(node)) {
                    wholes.entry(part).or_default().push(whole);
                }
            }
            if let Conversion::KeyedList { key, .. } = &link.respelled.with.item {
                let keyed = sides.clone().filter_map(|(version, node)| {
                    let item = version.structure.element(*node)?;
                    Some((version.id(*node)?, version.id(version.structure.child(item, key)?)?))
                });
                // The key of the oldest step stays: a version that was published may count on it.
                for (list, key) in keyed {
                    keys.entry(list).or_insert(key);
                }
            }
            let ids: Vec<FieldId> = sides.filter_map(|(version, node)| version.id(*node)).collect();
            for pair in ids.windows(2) {
                let (kept, joined) = (fact[pair[0].position()], fact[pair[1].position()]);
                if kept != joined {
                    let moved = std::mem::take(&mut fields[joined]);
                    moved.iter().for_each(|id| fact[id.position()] = kept);
                    fields[kept].extend(moved);
                }
            }
        }
        let mut may_imply: HashSet<FieldId> = wholes.keys().copied().collect();
        for derivation in
            computations.derivations.iter().filter(|it| it.deriver.reads().is_none_or(|it| !it.is_empty()))
        {
            may_imply.extend(history.version(derivation.target).id(derivation.field));
        }
        Self { fact, fields, wholes, may_imply, keys }
    }

    /// The field that tells the items of a list apart which is a map in another spelling.
    pub(crate) fn key_of(&self, list: FieldId) -> Option<FieldId> {
        self.keys.get(&list).copied()
    }

    /// The spellings that a field is a part of where they are converted.
    pub(crate) fn wholes_of(&self, part: FieldId) -> &[FieldId] {
        self.wholes.get(&part).map_or(&[], Vec::as_slice)
    }

    /// A field and all other spellings of the same fact.
    pub(crate) fn of_one_fact(&self, id: FieldId) -> &[FieldId] {
        &self.fields[self.fact[id.position()]]
    }
}
