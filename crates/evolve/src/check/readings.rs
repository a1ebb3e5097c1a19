//! What else may have become of a field that seems to be removed, and what its removal would hide.

use std::collections::{HashMap, HashSet};

use super::{
    likeness::{
        Computed, appeared, can_be_renamed,
        names::{have_common_words, words},
    },
    propose::Fold,
    side::Side,
};
use crate::{NodeIndex, Shape};

/// Where the value of a removed field may be found in the later version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Reading {
    /// A field that both versions have, of a name like it.
    Existing(NodeIndex),
    /// A new field of the same shape in the same object.
    Renamed(NodeIndex),
    /// A new field of another shape in the same object.
    Beside(NodeIndex),
}

/// More new fields than this are not named.
const MOST_READINGS: usize = 3;

/// More fields of one object than this are not compared with each other.
const MOST_PAIRS: usize = 10_000;

/// The new fields of a step that no change explains, and the fields that both versions have.
pub(crate) struct Readings<'r> {
    before: &'r Side<'r>,
    after: &'r Side<'r>,
    /// The new fields of each object.
    new: HashMap<NodeIndex, Vec<NodeIndex>>,
    /// New fields that are possibly renamed ones.
    doubtful: HashSet<NodeIndex>,
    /// Fields of the later version by their names.
    named: HashMap<&'r str, Vec<NodeIndex>>,
    computed: &'r Computed,
}

impl<'r> Readings<'r> {
    /// `explained` are new fields that continue others.
    pub(crate) fn new(
        before: &'r Side<'r>,
        after: &'r Side<'r>,
        computed: &'r Computed,
        explained: &HashSet<NodeIndex>,
    ) -> Self {
        let known = after.new_spellings();
        let is_open = |node: &NodeIndex| !explained.contains(node) && !known.contains(node);
        let mut new: HashMap<NodeIndex, Vec<NodeIndex>> = HashMap::new();
        for node in appeared(before, after, computed).into_iter().filter(is_open) {
            if let Some(parent) = after.parent(node) {
                new.entry(parent).or_default().push(node);
            }
        }
        let structure = &after.version.structure;
        let mut named: HashMap<&str, Vec<NodeIndex>> = HashMap::new();
        for node in structure.fields() {
            named.entry(structure.node(node).name().unwrap_or_default()).or_default().push(node);
        }
        Self { before, after, new, doubtful: HashSet::new(), named, computed }
    }

    /// Counts a field as new for others of its shape, although a rename that is merely possible explains it.
    pub(crate) fn doubt(&mut self, node: NodeIndex) {
        if let Some(parent) = self.after.parent(node) {
            self.new.entry(parent).or_default().push(node);
            self.doubtful.insert(node);
        }
    }

    /// What else may have become of a field, the most probable first.
    pub(crate) fn of(&self, gone: NodeIndex) -> Vec<Reading> {
        let mut found: Vec<Reading> = self.existing(gone).into_iter().collect();
        let name_words = words(self.name(gone));
        let structure = &self.after.version.structure;
        let mut beside: Vec<(bool, Reading)> = Vec::new();
        for node in self.objects(gone).iter().filter_map(|object| self.new.get(object)).flatten() {
            let has_words = have_common_words(&name_words, &words(structure.node(*node).name().unwrap_or_default()));
            let reading = match can_be_renamed(self.before, self.after, gone, *node) {
                true => Reading::Renamed(*node),
                false if self.doubtful.contains(node) => continue,
                false => Reading::Beside(*node),
            };
            beside.push((!has_words, reading));
        }
        beside.sort();
        found.extend(beside.into_iter().map(|(_, reading)| reading));
        found.truncate(MOST_READINGS);
        found
    }

    fn name(&self, gone: NodeIndex) -> &str {
        self.before.version.structure.node(gone).name().unwrap_or_default()
    }

    /// The objects of the later version that a field may be in: the one that it was in or, if that is gone, those that its
    /// siblings are in.
    fn objects(&self, gone: NodeIndex) -> Vec<NodeIndex> {
        let Some(parent) = self.before.parent(gone) else { return Vec::new() };
        let counterpart = |node: NodeIndex| self.after.version.counterpart(self.before.version, node);
        if let Some(object) = counterpart(parent) {
            return vec![object];
        }
        let siblings = self.before.version.structure.node(parent).children.iter().take(MOST_PAIRS / 100);
        let mut objects: Vec<NodeIndex> =
            siblings.filter_map(|node| counterpart(*node)).filter_map(|node| self.after.parent(node)).collect();
        objects.sort();
        objects.dedup();
        objects
    }

    /// A field that both versions have and that may hold the value now: one into which it can be folded, one of the same
    /// name and shape deeper in the object, or one beside it whose name continues the name.
    fn existing(&self, gone: NodeIndex) -> Option<Reading> {
        let (old, new) = (self.before.version, self.after.version);
        let object = *self.objects(gone).first()?;
        let is_shared = |node: &NodeIndex| old.counterpart(new, *node).is_some();
        let name = self.name(gone);
        let namesakes = self.named.get(name).filter(|nodes| nodes.len() <= 64).into_iter().flatten();
        let is_below = |node: &&NodeIndex| {
            std::iter::successors(self.after.parent(**node), |node| self.after.parent(*node))
                .take(3)
                .any(|above| above == object)
        };
        let same_shape = |node: &&NodeIndex| old.structure.keeps_shape(gone, &new.structure, **node);
        let deeper = namesakes.copied().filter(is_shared).find(|node| is_below(&node) && same_shape(&node));
        let children = &new.structure.node(object).children;
        let siblings = children.iter().take(MOST_PAIRS / 100).copied().filter(is_shared);
        let continues = |node: &NodeIndex| {
            let other = new.structure.node(*node).name().unwrap_or_default();
            let (short, long) = (words(name), words(other));
            short.len() >= 2 && short.is_subset(&long) && other != name
        };
        let fold = Fold::of(self.before, self.after, gone, object).map(|fold| fold.came);
        fold.or(deeper).or_else(|| siblings.filter(continues).min()).map(Reading::Existing)
    }

    /// Whether a removal leaves documents of the earlier version without a field that it requires.
    pub(crate) fn hides_required(&self, gone: NodeIndex, settled: &HashSet<NodeIndex>) -> bool {
        self.before.is_required(gone) && !self.is_continued(gone, settled)
    }

    /// Whether changes already explain a field or a part of it.
    fn is_continued(&self, gone: NodeIndex, settled: &HashSet<NodeIndex>) -> bool {
        let structure = &self.before.version.structure;
        let is_known = |node: &NodeIndex| {
            settled.contains(node)
                || self.computed.before.contains(node)
                || self.after.version.counterpart(self.before.version, *node).is_some()
        };
        let mut ahead = vec![gone];
        while let Some(node) = ahead.pop() {
            if is_known(&node) {
                return true;
            }
            if structure.node(node).shape == Shape::Object {
                ahead.extend(&structure.node(node).children);
            }
        }
        false
    }

    /// The fields to declare as removed where an object disappeared: the object, or, where a part of it continues
    /// elsewhere, the parts that do not.
    pub(crate) fn parts(&self, gone: NodeIndex, settled: &HashSet<NodeIndex>) -> Vec<NodeIndex> {
        let structure = &self.before.version.structure;
        let mut parts = Vec::new();
        let mut ahead = vec![gone];
        while let Some(node) = ahead.pop() {
            let object = structure.node(node);
            if node != gone && self.is_explained(node, settled) {
                continue;
            }
            match object.shape {
                Shape::Object if !object.keeps_unknown && self.is_continued(node, settled) => {
                    ahead.extend(object.children.iter().rev());
                }
                _ => parts.push(node),
            }
        }
        parts
    }

    fn is_explained(&self, node: NodeIndex, settled: &HashSet<NodeIndex>) -> bool {
        settled.contains(&node)
            || self.computed.before.contains(&node)
            || self.after.version.counterpart(self.before.version, node).is_some()
    }
}
