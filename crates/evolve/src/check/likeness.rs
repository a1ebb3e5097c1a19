//! Which of the fields that appeared is probably one of those that disappeared.
//!
//! Candidates are fields of one object, and fields elsewhere that share a word, a description or a signature of limits;
//! `weigh.rs` compares each pair, `names.rs` their names.

pub(crate) mod names;
mod weigh;

use std::collections::{HashMap, HashSet};

use self::weigh::{Place, Scales};
use super::{Change, Difference, Evidence, Likeness, propose::units::differ_in_unit, side::Side};
use crate::{NodeIndex, Selector, Shape, declaration::is_on_one_side};

/// A field that went and one that came, which are probably the same.
pub(crate) struct Candidate {
    pub(crate) gone: NodeIndex,
    pub(crate) came: NodeIndex,
    pub(crate) likeness: Likeness,
}

/// Fields of which changes say what became of them, or what they are computed from: they are nothing else under another
/// name.
pub(crate) struct Computed {
    pub(crate) before: HashSet<NodeIndex>,
    pub(crate) after: HashSet<NodeIndex>,
}

impl Computed {
    pub(crate) fn of(before: &Side<'_>, after: &Side<'_>, differences: &[Difference]) -> Self {
        let converted = differences.iter().filter_map(|difference| match &difference.change {
            Change::Converted { before, after, .. } => Some((before, after)),
            _ => None,
        });
        let nodes = |side: &Side<'_>, other: &Side<'_>, paths: Vec<&Selector>| -> HashSet<NodeIndex> {
            let structure = &side.version.structure;
            let converted = paths.into_iter().filter_map(|path| structure.find(path));
            let derived = structure.fields().filter(|node| side.derivation_from(other, *node).is_some());
            converted.chain(derived).collect()
        };
        Self {
            before: nodes(before, after, converted.clone().flat_map(|(before, _)| before).collect()),
            after: nodes(after, before, converted.flat_map(|(_, after)| after).collect()),
        }
    }
}

/// More fields of one object, or with one word in common, than this are not compared with each other.
const MOST_PAIRS: usize = 10_000;

/// Pairs of fields in different objects that are compared at most.
const MOST_ELSEWHERE: usize = 100_000;

/// The probable renames of fields that disappeared (`tops`, the uppermost ones), each field in one of them at most. Where
/// an object has no counterpart, its fields are searched for. Likely pairs are chosen at every depth before possible ones.
pub(crate) fn probable_renames(
    before: &Side<'_>,
    after: &Side<'_>,
    tops: Vec<NodeIndex>,
    computed: &Computed,
) -> Vec<Candidate> {
    let came = appeared(before, after, computed);
    let levels = levels(before, after, tops, computed);
    let gone: Vec<NodeIndex> = levels.iter().flatten().copied().collect();
    if gone.is_empty() || came.is_empty() {
        return Vec::new();
    }
    let scales = Scales::new(before, after, &gone, &came);
    let (gone, taken) = (Chosen::default(), Chosen::default());
    let mut offer = Offer { before, after, came, scales, gone, taken, list: Vec::new() };
    let candidates: Vec<Vec<Candidate>> = levels.iter().map(|level| offer.candidates(level)).collect();
    for is_likely in [true, false] {
        for level in &candidates {
            offer.choose(level, is_likely);
        }
    }
    offer.list
}

/// The fields of the later version that the earlier one lacks, and that are not computed from others.
pub(crate) fn appeared(before: &Side<'_>, after: &Side<'_>, computed: &Computed) -> Vec<NodeIndex> {
    let is_computed = |node: NodeIndex| {
        std::iter::successors(Some(node), |node| after.parent(*node)).any(|node| computed.after.contains(&node))
    };
    let fields = after.version.structure.fields();
    fields
        .filter(|node| before.version.counterpart(after.version, *node).is_none() && !is_computed(*node))
        // A field that is locked as one of its own cannot become another.
        .filter(|node| after.version.id(*node).is_none_or(|id| !after.version.is_locked_with(id)))
        .collect()
}

/// The fields that disappeared, by depth: the uppermost ones, then the fields of those that are objects, and so on.
fn levels(before: &Side<'_>, after: &Side<'_>, tops: Vec<NodeIndex>, computed: &Computed) -> Vec<Vec<NodeIndex>> {
    let mut levels = Vec::new();
    let mut level = tops;
    while !level.is_empty() {
        let structure = &before.version.structure;
        let objects = level.iter().filter(|node| structure.node(**node).shape == Shape::Object);
        // Fields that moved away already are not searched for, and fields that are gone from those are among the uppermost.
        let is_gone = |node: &NodeIndex| after.version.counterpart(before.version, *node).is_none();
        let below = objects.flat_map(|node| structure.node(*node).children.iter().copied());
        let below = below.filter(|node| !computed.before.contains(node) && is_gone(node)).collect();
        levels.push(std::mem::replace(&mut level, below));
    }
    levels
}

/// Fields of one version that a rename was found for.
#[derive(Default)]
struct Chosen {
    fields: HashSet<NodeIndex>,
    /// The objects that they are in.
    above: HashSet<NodeIndex>,
}

impl Chosen {
    /// Whether a field, an object above it or a field below it is chosen already.
    fn covers(&self, side: &Side<'_>, node: NodeIndex) -> bool {
        self.above.contains(&node)
            || std::iter::successors(Some(node), |node| side.parent(*node)).any(|node| self.fields.contains(&node))
    }

    fn insert(&mut self, side: &Side<'_>, node: NodeIndex) {
        self.fields.insert(node);
        self.above.extend(std::iter::successors(side.parent(node), |node| side.parent(*node)));
    }
}

struct Offer<'o> {
    before: &'o Side<'o>,
    after: &'o Side<'o>,
    came: Vec<NodeIndex>,
    scales: Scales<'o>,
    gone: Chosen,
    taken: Chosen,
    list: Vec<Candidate>,
}

impl Offer<'_> {
    /// Every pair of these fields with fields that appeared that is at least possible, the most alike first.
    fn candidates(&self, gone: &[NodeIndex]) -> Vec<Candidate> {
        let mut candidates = self.siblings(gone);
        let known: HashSet<(NodeIndex, NodeIndex)> = candidates.iter().map(|one| (one.gone, one.came)).collect();
        candidates.extend(self.elsewhere(gone, &known));
        // Where another pair is as alike, nothing says which one it is.
        let mut best: HashMap<(bool, NodeIndex), Vec<i32>> = HashMap::new();
        for Candidate { gone, came, likeness } in &candidates {
            best.entry((false, *gone)).or_default().push(likeness.points);
            best.entry((true, *came)).or_default().push(likeness.points);
        }
        for candidate in &mut candidates {
            let points = candidate.likeness.points;
            let rivals = |key| best[&key].iter().filter(|rival| **rival >= points).count() > 1;
            candidate.likeness.is_ambiguous = rivals((false, candidate.gone)) || rivals((true, candidate.came));
        }
        candidates.retain(|candidate| {
            let is_sibling = candidate.likeness.evidence.contains(&Evidence::SameObject);
            candidate.likeness.is_possible() && (is_sibling || !candidate.likeness.is_ambiguous)
        });
        candidates.sort_by_key(|one| (std::cmp::Reverse(one.likeness.points), one.gone, one.came));
        candidates
    }

    /// Offers the candidates that are still free, the most alike first.
    fn choose(&mut self, candidates: &[Candidate], is_likely: bool) {
        for candidate in candidates.iter().filter(|candidate| candidate.likeness.is_likely() || !is_likely) {
            let (gone, came) = (candidate.gone, candidate.came);
            if self.gone.covers(self.before, gone) || self.taken.covers(self.after, came) {
                continue;
            }
            self.gone.insert(self.before, gone);
            self.taken.insert(self.after, came);
            self.list.push(Candidate { gone, came, likeness: candidate.likeness.clone() });
        }
    }

    /// Pairs in the same object.
    fn siblings(&self, gone: &[NodeIndex]) -> Vec<Candidate> {
        let mut families: HashMap<NodeIndex, (Vec<NodeIndex>, Vec<NodeIndex>)> = HashMap::new();
        for node in gone {
            let parent = self.before.parent(*node);
            if let Some(parent) = parent.and_then(|parent| self.after.version.counterpart(self.before.version, parent))
            {
                families.entry(parent).or_default().0.push(*node);
            }
        }
        for node in &self.came {
            if let Some(family) = self.after.parent(*node).and_then(|parent| families.get_mut(&parent)) {
                family.1.push(*node);
            }
        }
        let mut pairs = Vec::new();
        for (gone, came) in families.into_values().filter(|(gone, came)| gone.len() * came.len() <= MOST_PAIRS) {
            let place = Place { siblings: true, is_only_pair: gone.len() == 1 && came.len() == 1, distance: 2 };
            for gone in gone {
                let fitting = came.iter().filter(|came| self.fits(gone, **came));
                pairs.extend(fitting.map(|came| self.candidate(gone, *came, place)));
            }
        }
        pairs
    }

    fn candidate(&self, gone: NodeIndex, came: NodeIndex, place: Place) -> Candidate {
        Candidate { gone, came, likeness: self.scales.weigh(gone, came, place) }
    }

    /// Pairs in different objects that have something in common: the name, words of it, the description, or limits and
    /// values.
    fn elsewhere(&self, gone: &[NodeIndex], known: &HashSet<(NodeIndex, NodeIndex)>) -> Vec<Candidate> {
        #[derive(PartialEq, Eq, Hash)]
        enum Key<'k> {
            Name(&'k str),
            Description(&'k str),
            Signature(String),
            Word(&'k str),
        }
        let mut groups: HashMap<Key<'_>, (Vec<NodeIndex>, Vec<NodeIndex>)> = HashMap::new();
        for node in gone {
            let Some(feature) = self.scales.gone(*node) else { continue };
            let is_told = feature.path_words.iter().any(|word| names::is_telling(word));
            let words = feature.path_words.iter().filter(|word| !is_told || names::is_telling(word));
            let words = words.map(|word| Key::Word(word));
            let keys = [Key::Name(feature.name)].into_iter().chain(feature.description.map(Key::Description));
            for key in keys.chain(feature.signature().map(Key::Signature)).chain(words) {
                groups.entry(key).or_default().0.push(*node);
            }
        }
        for node in &self.came {
            let Some(feature) = self.scales.came(*node) else { continue };
            let words = feature.path_words.iter().map(|word| Key::Word(word));
            let keys = [Key::Name(feature.name)].into_iter().chain(feature.description.map(Key::Description));
            for key in keys.chain(feature.signature().map(Key::Signature)).chain(words) {
                if let Some(group) = groups.get_mut(&key) {
                    group.1.push(*node);
                }
            }
        }
        let mut small: Vec<_> =
            groups.into_values().filter(|(gone, came)| (1..=MOST_PAIRS).contains(&(gone.len() * came.len()))).collect();
        small.sort_by_key(|(gone, came)| gone.len() * came.len());
        let mut compared = known.clone();
        let mut found = Vec::new();
        for (gone, came) in small {
            if compared.len() > MOST_ELSEWHERE {
                break;
            }
            for (gone, came) in gone.iter().flat_map(|gone| came.iter().map(|came| (*gone, *came))) {
                if !compared.insert((gone, came)) || !self.fits(gone, came) {
                    continue;
                }
                if let Some(distance) = self.distance(gone, came) {
                    let place = Place { siblings: false, is_only_pair: false, distance };
                    found.push(self.candidate(gone, came, place));
                }
            }
        }
        found
    }

    /// How many steps lead from one to the other, if both are in parts of one object not far above: names such as
    /// `namespace` mean little at places that are far apart. None where that object has a field of the name in both
    /// versions: the three may have changed places, and which became which cannot be known.
    fn distance(&self, gone: NodeIndex, came: NodeIndex) -> Option<usize> {
        let above: HashMap<NodeIndex, usize> = self.upwards(came).zip(0..).skip(1).collect();
        let mut near =
            std::iter::successors(self.before.parent(gone), |node| self.before.parent(*node)).zip(1..).take(3);
        let (object, distance) = near.find_map(|(node, up)| {
            let counterpart = self.after.version.counterpart(self.before.version, node)?;
            Some((counterpart, above.get(&counterpart)? + up))
        })?;
        let namesake = self.after.version.structure.child(object, self.name(self.before, gone));
        let is_new = |field| self.before.version.counterpart(self.after.version, field).is_none();
        namesake.is_none_or(is_new).then_some(distance)
    }

    fn upwards(&self, came: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        std::iter::successors(Some(came), |node| self.after.parent(*node))
    }

    /// Whether a rename from one to the other can be declared. Objects must have fields in common, and a number in another
    /// unit is another number.
    fn fits(&self, gone: NodeIndex, came: NodeIndex) -> bool {
        can_be_renamed(self.before, self.after, gone, came)
    }

    fn name<'n>(&self, side: &'n Side<'_>, node: NodeIndex) -> &'n str {
        name(side, node)
    }
}

fn name<'n>(side: &'n Side<'_>, node: NodeIndex) -> &'n str {
    side.version.structure.node(node).name().unwrap_or_default()
}

/// Whether a rename from one field to another can be declared, and makes sense.
pub(crate) fn can_be_renamed(before: &Side<'_>, after: &Side<'_>, gone: NodeIndex, came: NodeIndex) -> bool {
    let (old, new) = (before.version, after.version);
    old.structure.keeps_shape(gone, &new.structure, came)
        && old.element_of(gone) == new.element_of(came)
        && is_on_one_side(&old.structure.selector(gone), &new.structure.selector(came))
        && have_common_fields(before, after, gone, came)
        && !differ_in_unit(name(before, gone), name(after, came))
}

/// Whether half of the fields of the smaller object are in the other one; lists and maps, by their items or values.
fn have_common_fields(before: &Side<'_>, after: &Side<'_>, gone: NodeIndex, came: NodeIndex) -> bool {
    let (old, new) = (&before.version.structure, &after.version.structure);
    if let (Some(gone), Some(came)) = (old.element(gone), new.element(came)) {
        return have_common_fields(before, after, gone, came);
    }
    if old.node(gone).shape != Shape::Object {
        return true;
    }
    let (fields, others) = (&old.node(gone).children, &new.node(came).children);
    let is_common = |field: &&NodeIndex| old.node(**field).name().is_some_and(|name| new.child(came, name).is_some());
    let common = fields.iter().filter(is_common).count();
    fields.len().min(others.len()) <= 2 * common
}
