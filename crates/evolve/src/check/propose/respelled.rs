//! Which of the fields that came probably says in another shape what one that went said.

use std::collections::{HashMap, HashSet};

use super::{Proposal, spelling, units};
use crate::{
    NodeIndex, Shape,
    check::{Difference, side::Side},
};

/// A field that went and one that came, which says the same otherwise.
pub(crate) struct Pair {
    pub(crate) gone: NodeIndex,
    pub(crate) came: NodeIndex,
    pub(crate) proposal: Proposal,
}

/// More fields of one name than this are not held against each other.
const MOST_PAIRS: usize = 10_000;

/// Pairs of one path, and those in one object whose names are alike.
pub(crate) fn at_the_same_place(before: &Side<'_>, after: &Side<'_>, gone: &[(NodeIndex, &Difference)]) -> Vec<Pair> {
    let mut came: HashMap<NodeIndex, Vec<NodeIndex>> = HashMap::new();
    for node in came_of(before, after) {
        if let Some(parent) = after.parent(node) {
            came.entry(parent).or_default().push(node);
        }
    }
    let parent =
        |node: NodeIndex| before.parent(node).and_then(|parent| after.version.counterpart(before.version, parent));
    let mut families: HashMap<Option<NodeIndex>, usize> = HashMap::new();
    gone.iter().for_each(|(node, _)| *families.entry(parent(*node)).or_default() += 1);
    let mut pairs: Vec<Pair> = Vec::new();
    // Who has the path of a field is no candidate for any other.
    let mut taken: HashSet<NodeIndex> = gone.iter().filter_map(|(_, difference)| difference.nodes.1).collect();
    for (node, difference) in gone {
        let family = parent(*node);
        let siblings = || family.and_then(|parent| came.get(&parent)).map_or(&[][..], |siblings| &siblings[..]);
        let is_small = || siblings().len() * families[&family] <= MOST_PAIRS;
        let candidates: Vec<NodeIndex> = match difference.nodes.1 {
            Some(replacement) => vec![replacement],
            None if is_small() => siblings().iter().copied().filter(|came| !taken.contains(came)).collect(),
            None => Vec::new(),
        };
        let respelled = |came| Some((came, spelling::between(before, after, *node, came)?));
        let found = candidates.into_iter().filter_map(respelled);
        if let Some((came, proposal)) = found.max_by_key(|(came, found)| (found.is_likely, std::cmp::Reverse(*came))) {
            taken.insert(came);
            pairs.push(Pair { gone: *node, came, proposal });
        }
    }
    pairs
}

/// Pairs at other depths of one object whose names are the same, but for units: only where there is no choice.
pub(crate) fn elsewhere(
    before: &Side<'_>,
    after: &Side<'_>,
    gone: &[(NodeIndex, &Difference)],
    known: &[Pair],
) -> Vec<Pair> {
    let known_gone: HashSet<NodeIndex> = known.iter().map(|pair| pair.gone).collect();
    let replaced = gone.iter().filter_map(|(_, difference)| difference.nodes.1);
    let known_came: HashSet<NodeIndex> = known.iter().map(|pair| pair.came).chain(replaced).collect();
    let mut groups: HashMap<&str, (Vec<NodeIndex>, Vec<NodeIndex>)> = HashMap::new();
    let tops = gone.iter().filter(|(node, _)| !known_gone.contains(node));
    let mut ahead: Vec<NodeIndex> = tops.map(|(node, _)| *node).collect();
    while let Some(node) = ahead.pop() {
        let structure = &before.version.structure;
        groups.entry(stem(before, node)).or_default().0.push(node);
        if structure.node(node).shape == Shape::Object {
            let is_gone = |node: &NodeIndex| after.version.counterpart(before.version, *node).is_none();
            ahead.extend(structure.node(node).children.iter().copied().filter(is_gone));
        }
    }
    for node in came_of(before, after).filter(|node| !is_within(after, *node, &known_came)) {
        if let Some(group) = groups.get_mut(stem(after, node)) {
            group.1.push(node);
        }
    }
    let mut pairs = Vec::new();
    for (gone, came) in groups.into_values().filter(|(gone, came)| gone.len() * came.len() <= MOST_PAIRS) {
        let between = |gone: NodeIndex, came: NodeIndex| {
            let proposal = spelling::between(before, after, gone, came);
            proposal.filter(|_| is_near(before, after, gone, came))
        };
        let mut found: Vec<Pair> = Vec::new();
        for gone in gone {
            found.extend(
                came.iter().filter_map(|came| Some(Pair { gone, came: *came, proposal: between(gone, *came)? })),
            );
        }
        let mut choices: HashMap<(Option<NodeIndex>, Option<NodeIndex>), usize> = HashMap::new();
        for pair in &found {
            *choices.entry((Some(pair.gone), None)).or_default() += 1;
            *choices.entry((None, Some(pair.came))).or_default() += 1;
        }
        let is_only = |pair: &Pair| choices[&(Some(pair.gone), None)] == 1 && choices[&(None, Some(pair.came))] == 1;
        pairs.extend(found.into_iter().filter(is_only));
    }
    let whole: HashSet<NodeIndex> = pairs.iter().map(|pair| pair.gone).collect();
    let above = |pair: &Pair| before.parent(pair.gone);
    pairs.retain(|pair| above(pair).is_none_or(|above| !is_within(before, above, &whole)));
    pairs.sort_by_key(|pair| pair.gone);
    pairs
}

/// Pairs that can be declared together, the likely ones before others: a field is converted as a whole, so that none is within
/// another one, and nothing in it has another place in the other version.
pub(crate) fn apart(before: &Side<'_>, after: &Side<'_>, mut pairs: Vec<Pair>) -> Vec<Pair> {
    let mut taken = [Taken::of(before, after), Taken::of(after, before)];
    pairs.sort_by_key(|pair| !pair.proposal.is_likely);
    pairs.retain(|pair| {
        let is_free = taken[0].is_free(before, pair.gone) && taken[1].is_free(after, pair.came);
        if is_free {
            taken[0].take(before, pair.gone);
            taken[1].take(after, pair.came);
        }
        is_free
    });
    pairs
}

/// Fields of one version of which something is said.
#[derive(Default)]
struct Taken {
    fields: HashSet<NodeIndex>,
    /// What they are in.
    above: HashSet<NodeIndex>,
}

impl Taken {
    /// Those that the other version has.
    fn of(side: &Side<'_>, other: &Side<'_>) -> Self {
        let mut taken = Self::default();
        let fields = side.version.structure.fields();
        fields.filter(|node| other.version.counterpart(side.version, *node).is_some()).for_each(|node| {
            taken.mark_above(side, node);
        });
        taken
    }

    fn is_free(&self, side: &Side<'_>, node: NodeIndex) -> bool {
        !self.above.contains(&node) && !is_within(side, node, &self.fields)
    }

    fn take(&mut self, side: &Side<'_>, node: NodeIndex) {
        self.fields.insert(node);
        self.mark_above(side, node);
    }

    fn mark_above(&mut self, side: &Side<'_>, node: NodeIndex) {
        let mut above = std::iter::successors(side.parent(node), |node| side.parent(*node));
        // Whatever is above a field that is marked is marked, too.
        while above.next().is_some_and(|node| self.above.insert(node)) {}
    }
}

/// Whether a node or something above it is one of some.
fn is_within(side: &Side<'_>, node: NodeIndex, nodes: &HashSet<NodeIndex>) -> bool {
    std::iter::successors(Some(node), |node| side.parent(*node)).any(|node| nodes.contains(&node))
}

/// The fields of the later version that the earlier one has nowhere.
fn came_of<'s>(before: &'s Side<'_>, after: &'s Side<'_>) -> impl Iterator<Item = NodeIndex> + 's {
    let known = after.new_spellings();
    let fields = after.version.structure.fields().filter(move |node| !known.contains(node));
    fields.filter(|node| before.version.counterpart(after.version, *node).is_none())
}

/// The name of a field without the unit that it ends with.
fn stem<'s>(side: &'s Side<'_>, node: NodeIndex) -> &'s str {
    let name = side.version.structure.node(node).name().unwrap_or_default();
    units::measured(name).map_or(name, |measured| measured.stem)
}

/// Whether both are in parts of one object, not far above the earlier one.
fn is_near(before: &Side<'_>, after: &Side<'_>, gone: NodeIndex, came: NodeIndex) -> bool {
    let above: HashSet<NodeIndex> = std::iter::successors(after.parent(came), |node| after.parent(*node)).collect();
    let mut near = std::iter::successors(before.parent(gone), |node| before.parent(*node)).take(3);
    near.any(|node| after.version.counterpart(before.version, node).is_some_and(|object| above.contains(&object)))
}
