//! Facts in several spellings and fields that follow from others, as changes declare them: told from the history alone, so
//! that those who convert nothing know them, too.

use std::collections::{HashMap, HashSet};

use crate::{
    Conversion, Derived, Direction, FieldId, History, Located, Respelled, Selector, Trouble, VersionHistory,
    VersionIndex, link::Computations,
};

/// What the changes of a kind say of its fields.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) changes: Vec<SpellingChange>,
    /// The changes that a field is a spelling in, by field.
    by_field: HashMap<FieldId, Vec<usize>>,
    derived: HashMap<(FieldId, Direction), Box<str>>,
    /// The versions that changes are relative to, by version.
    before: Vec<Option<VersionIndex>>,
}

/// A fact that has another spelling from a version on.
#[derive(Debug)]
pub(crate) struct SpellingChange {
    /// The version that has the new spelling.
    pub(crate) version: VersionIndex,
    pub(crate) from: Vec<FieldId>,
    pub(crate) to: Vec<FieldId>,
    pub(crate) respelled: Respelled,
}

impl SpellingChange {
    fn fields(&self) -> impl Iterator<Item = FieldId> {
        self.from.iter().chain(&self.to).copied()
    }
}

impl Facts {
    /// What the changes declare.
    pub(crate) fn of(history: &History) -> Self {
        Self::that(history, |_, _| true)
    }

    /// What the changes declare and lenses compute: not what is left to a hook that nobody registered.
    pub(crate) fn computed(history: &History, computations: &Computations) -> Self {
        Self::that(history, |version, respelled| {
            computations.links.iter().any(|link| link.version == version && link.respelled == *respelled)
        })
    }

    fn that(history: &History, is_meant: impl Fn(VersionIndex, &Respelled) -> bool) -> Self {
        let before = history.versions.iter().map(|version| version.from).collect();
        let mut facts = Self { before, ..Self::default() };
        for version in history.indexes() {
            let Some(before) = history.version(version).from else { continue };
            let (old, new) = (history.version(before), history.version(version));
            for respelled in new.respelled.iter().filter(|respelled| is_meant(version, respelled)) {
                let (Some(from), Some(to)) = (ids(old, &respelled.from), ids(new, &respelled.to)) else { continue };
                let change = SpellingChange { version, from, to, respelled: respelled.clone() };
                for id in change.fields() {
                    facts.by_field.entry(id).or_default().push(facts.changes.len());
                }
                facts.changes.push(change);
            }
            for Derived { direction, at, expression } in &new.derived {
                let target = if *direction == Direction::Up { new } else { old };
                let id = target.structure.find(&at.item).and_then(|node| target.id(node));
                facts.derived.extend(id.map(|id| ((id, *direction), expression.item.clone())));
            }
        }
        facts
    }

    /// The expression that a field is derived by on a way, if it is.
    pub(crate) fn derivation(&self, id: FieldId, direction: Direction) -> Option<&str> {
        self.derived.get(&(id, direction)).map(|expression| &**expression)
    }

    /// The fields that a version does not have, and of which it has another spelling: all of it.
    pub(crate) fn said_otherwise(&self, version: &VersionHistory) -> HashSet<FieldId> {
        let mut said = HashSet::new();
        loop {
            let known = said.len();
            for SpellingChange { from, to, .. } in &self.changes {
                for (one, other) in [(from, to), (to, from)] {
                    if one.iter().all(|id| version.node_of(*id).is_some() || said.contains(id)) {
                        said.extend(other.iter().filter(|id| version.node_of(**id).is_none()));
                    }
                }
            }
            if said.len() == known {
                return said;
            }
        }
    }

    /// Whether the step into a version is on the way from one version to another.
    pub(crate) fn is_between(&self, one: VersionIndex, other: VersionIndex, step: VersionIndex) -> bool {
        let is_below = |version| {
            let mut steps =
                std::iter::successors(Some(version), |version: &VersionIndex| self.before[version.position()]);
            steps.any(|version| version == step)
        };
        is_below(one) != is_below(other)
    }

    /// The facts of which two versions have different spellings.
    pub(crate) fn between<'f>(
        &'f self,
        (from, before): (VersionIndex, &VersionHistory),
        (to, after): (VersionIndex, &VersionHistory),
    ) -> Vec<Spellings<'f>> {
        let mut found = Vec::new();
        let mut is_seen = vec![false; self.changes.len()];
        for start in 0..self.changes.len() {
            let (mut fact, mut waiting) = (Spellings::default(), vec![start]);
            while let Some(change) = waiting.pop() {
                if std::mem::replace(&mut is_seen[change], true) {
                    continue;
                }
                if self.is_between(from, to, self.changes[change].version) {
                    fact.changes.push(&self.changes[change]);
                }
                for id in self.changes[change].fields() {
                    waiting.extend(self.changes_of(id));
                    let side = match (before.node_of(id), after.node_of(id)) {
                        (Some(_), None) => &mut fact.before,
                        (None, Some(_)) => &mut fact.after,
                        _ => continue,
                    };
                    if !side.contains(&id) {
                        side.push(id);
                    }
                }
            }
            if !fact.before.is_empty() && !fact.after.is_empty() {
                fact.changes.sort_by_key(|change| change.version);
                found.push(fact);
            }
        }
        found
    }

    /// The fields of facts of which a spelling could not be computed.
    pub(crate) fn uncomputed(&self, troubles: &[Trouble]) -> HashSet<FieldId> {
        let mut found = HashSet::new();
        let failed =
            |change: &&SpellingChange| troubles.iter().any(|trouble| trouble.is_of(change.version, &change.respelled));
        let mut waiting: Vec<FieldId> = self.changes.iter().filter(failed).flat_map(SpellingChange::fields).collect();
        while let Some(id) = waiting.pop() {
            if found.insert(id) {
                let changes = self.changes_of(id).iter().map(|change| &self.changes[*change]);
                waiting.extend(changes.flat_map(SpellingChange::fields));
            }
        }
        found
    }

    /// Whether a field has another representation in some version.
    pub(crate) fn is_converted(&self, id: FieldId) -> bool {
        self.by_field.contains_key(&id)
    }

    /// The conversions between a field and its other representations.
    pub(crate) fn conversions_of(&self, id: FieldId) -> impl Iterator<Item = &Conversion> {
        self.changes_of(id).iter().map(|change| &self.changes[*change].respelled.with.item)
    }

    fn changes_of(&self, id: FieldId) -> &[usize] {
        self.by_field.get(&id).map_or(&[], |changes| changes)
    }
}

/// A fact that two versions spell differently.
#[derive(Default)]
pub(crate) struct Spellings<'f> {
    /// The fields that only the one has.
    pub(crate) before: Vec<FieldId>,
    /// The fields that only the other has.
    pub(crate) after: Vec<FieldId>,
    /// What changes say of the fact on the way between them, from the oldest on.
    pub(crate) changes: Vec<&'f SpellingChange>,
}

fn ids(version: &VersionHistory, paths: &[Located<Selector>]) -> Option<Vec<FieldId>> {
    paths.iter().map(|at| version.id(version.structure.find_field(&at.item)?)).collect()
}
