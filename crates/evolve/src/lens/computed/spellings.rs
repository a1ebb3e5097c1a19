//! Facts that have several spellings.

use std::collections::{HashMap, HashSet};

use crate::{Conversion, FieldId, History, link::Computations};

/// Which fields are spellings of one fact.
pub(crate) struct Spellings {
    /// The fact that a field is a spelling of, by field.
    fact: Vec<usize>,
    /// The fields that are spellings of a fact, by fact.
    fields: Vec<Vec<FieldId>>,
    /// The other side of every conversion that a field takes part in, itself or as a part of what is converted, by field.
    others: HashMap<FieldId, Vec<OtherSide>>,
    /// Fields that may be there although nobody wrote the objects that they are in, or are such objects.
    pub(crate) may_imply: HashSet<FieldId>,
    /// Lists that are maps in another spelling, and the fields that are their keys there.
    keys: HashMap<FieldId, FieldId>,
}

/// A conversion, and the fields on one side of it.
type OtherSide = (usize, Box<[FieldId]>);

impl Spellings {
    pub(crate) fn of(history: &History, computations: &Computations) -> Self {
        let mut fact: Vec<usize> = (0..history.fields.len()).collect();
        let mut fields: Vec<Vec<FieldId>> = history.ids().map(|id| vec![id]).collect();
        let mut others: HashMap<FieldId, Vec<OtherSide>> = HashMap::new();
        let mut keys = HashMap::new();
        for (position, link) in computations.links.iter().enumerate() {
            let (before, after) = (history.version(link.before), history.version(link.version));
            let sides = link.from.iter().map(|node| (before, node)).chain(link.to.iter().map(|node| (after, node)));
            for ((version, side), (other_version, other_side)) in
                [((before, &link.from), (after, &link.to)), ((after, &link.to), (before, &link.from))]
            {
                let parts = side.iter().flat_map(|node| version.structure.below(*node));
                for part in parts.filter_map(|node| version.id(node)) {
                    let other = other_side.iter().filter_map(|node| other_version.id(*node)).collect();
                    others.entry(part).or_default().push((position, other));
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
        let mut may_imply: HashSet<FieldId> = others.keys().copied().collect();
        for derivation in
            computations.derivations.iter().filter(|it| it.deriver.reads().is_none_or(|it| !it.is_empty()))
        {
            may_imply.extend(history.version(derivation.target).id(derivation.field));
        }
        Self { fact, fields, others, may_imply, keys }
    }

    /// The field that tells the items of a list apart which is a map in another spelling.
    pub(crate) fn key_of(&self, list: FieldId) -> Option<FieldId> {
        self.keys.get(&list).copied()
    }

    /// Whether somebody who has some fields says another one by them: what it becomes by a conversion, itself or as a part of
    /// what is converted, or what that becomes by others.
    pub(crate) fn is_said_by(&self, has: &impl Fn(FieldId) -> bool, field: FieldId) -> bool {
        // Every conversion is taken once: it leads to the same fields, whichever of those on its near side is asked for.
        let (mut taken, mut waiting) = (HashSet::new(), vec![field]);
        while let Some(field) = waiting.pop() {
            for (conversion, others) in self.others.get(&field).into_iter().flatten() {
                if taken.insert(*conversion) {
                    if others.iter().any(|other| has(*other)) {
                        return true;
                    }
                    waiting.extend(others);
                }
            }
        }
        false
    }

    /// A field and all other spellings of the same fact.
    pub(crate) fn of_one_fact(&self, id: FieldId) -> &[FieldId] {
        &self.fields[self.fact[id.position()]]
    }
}
