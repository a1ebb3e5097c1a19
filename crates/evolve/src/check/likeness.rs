//! Which of the fields that came is probably one of those that went.

use std::collections::{HashMap, HashSet};

use super::{Change, Difference, Likeness, propose::units::differ_in_unit, side::Side};
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
    after: HashSet<NodeIndex>,
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

/// More fields of one object than this are not held against each other.
const MOST_PAIRS: usize = 10_000;

/// The probable renames of fields that went (`tops`, the uppermost ones), each field in one of them at most. Where an
/// object has no counterpart, those are looked for that its fields may have.
pub(crate) fn probable_renames(
    before: &Side<'_>,
    after: &Side<'_>,
    tops: Vec<NodeIndex>,
    computed: &Computed,
) -> Vec<Candidate> {
    let is_computed = |node: NodeIndex| {
        std::iter::successors(Some(node), |node| after.parent(*node)).any(|node| computed.after.contains(&node))
    };
    let came: Vec<NodeIndex> = after
        .version
        .structure
        .fields()
        .filter(|node| before.version.counterpart(after.version, *node).is_none() && !is_computed(*node))
        // A field that is locked as one of its own cannot become another.
        .filter(|node| after.version.id(*node).is_none_or(|id| !after.version.is_locked_with(id)))
        .collect();
    let mut offer = Offer { before, after, came, taken: HashSet::new(), above_taken: HashSet::new(), list: Vec::new() };
    let mut level = tops;
    while !level.is_empty() {
        let found = offer.found_for(&level);
        let children = |node: &NodeIndex| before.version.structure.node(*node).children.clone();
        let unmatched = level.iter().filter(|node| !found.contains(node));
        let is_object = |node: &&NodeIndex| before.version.structure.node(**node).shape == Shape::Object;
        let below = unmatched.filter(is_object).flat_map(children);
        // What has moved away already is not looked for, and what is gone from it is among the uppermost.
        let is_gone = |node: &NodeIndex| after.version.counterpart(before.version, *node).is_none();
        level = below.filter(|node| !computed.before.contains(node) && is_gone(node)).collect();
    }
    offer.list
}

struct Offer<'o> {
    before: &'o Side<'o>,
    after: &'o Side<'o>,
    came: Vec<NodeIndex>,
    /// Fields that came and are offered already.
    taken: HashSet<NodeIndex>,
    /// What they are parts of.
    above_taken: HashSet<NodeIndex>,
    list: Vec<Candidate>,
}

impl Offer<'_> {
    /// Offers what is most alike first; says for which fields something was found.
    fn found_for(&mut self, gone: &[NodeIndex]) -> HashSet<NodeIndex> {
        let mut candidates = self.siblings(gone);
        candidates.extend(self.elsewhere(gone));
        candidates.sort_by_key(|candidate| (std::cmp::Reverse(candidate.likeness), candidate.gone, candidate.came));
        let mut found = HashSet::new();
        for candidate in candidates {
            if found.contains(&candidate.gone) || self.is_taken(candidate.came) {
                continue;
            }
            found.insert(candidate.gone);
            self.taken.insert(candidate.came);
            let above: Vec<NodeIndex> = self.upwards(candidate.came).skip(1).collect();
            self.above_taken.extend(above);
            self.list.push(candidate);
        }
        found
    }

    /// Whether a field, something above it or something below it is offered already.
    fn is_taken(&self, came: NodeIndex) -> bool {
        self.above_taken.contains(&came) || self.upwards(came).any(|node| self.taken.contains(&node))
    }

    fn upwards(&self, came: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        std::iter::successors(Some(came), |node| self.after.parent(*node))
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
        let small = families.into_values().filter(|(gone, came)| gone.len() * came.len() <= MOST_PAIRS);
        small.flat_map(|(gone, came)| self.pairs(&gone, &came)).collect()
    }

    fn pairs(&self, gone: &[NodeIndex], came: &[NodeIndex]) -> Vec<Candidate> {
        let mut pairs = Vec::new();
        for gone in gone {
            let fitting: Vec<NodeIndex> = came.iter().copied().filter(|came| self.fits(*gone, *came)).collect();
            let alike = |came: &NodeIndex| {
                let names = names_alike(self.name(self.before, *gone), self.name(self.after, *came));
                names.or_else(|| self.same_description(*gone, *came).then_some(Likeness::Description))
            };
            pairs.extend(
                fitting
                    .iter()
                    .filter_map(|came| alike(came).map(|likeness| Candidate { gone: *gone, came: *came, likeness })),
            );
        }
        if let ([gone], [came]) = (gone, came)
            && pairs.is_empty()
            && self.fits(*gone, *came)
        {
            pairs.push(Candidate { gone: *gone, came: *came, likeness: Likeness::OnlyPair });
        }
        pairs
    }

    /// Fields of the same name and shape, or of the same description, at another depth: only where there is no choice.
    fn elsewhere(&self, gone: &[NodeIndex]) -> Vec<Candidate> {
        let named = self.with_same(|side, node| side.version.structure.node(node).name(), gone, Likeness::SameName);
        let described = self.with_same(description, gone, Likeness::Description);
        named.into_iter().chain(described).collect()
    }

    fn with_same(
        &self,
        key: for<'s> fn(&'s Side<'_>, NodeIndex) -> Option<&'s str>,
        gone: &[NodeIndex],
        likeness: Likeness,
    ) -> Vec<Candidate> {
        let mut groups: HashMap<&str, (Vec<NodeIndex>, Vec<NodeIndex>)> = HashMap::new();
        for node in gone {
            if let Some(key) = key(self.before, *node) {
                groups.entry(key).or_default().0.push(*node);
            }
        }
        for node in &self.came {
            if let Some(group) = key(self.after, *node).and_then(|key| groups.get_mut(key)) {
                group.1.push(*node);
            }
        }
        let mut candidates = Vec::new();
        for (gone, came) in groups.into_values().filter(|(gone, came)| gone.len() * came.len() <= MOST_PAIRS) {
            let is_match = |gone: NodeIndex, came: NodeIndex| self.is_near(gone, came) && self.fits(gone, came);
            for node in &gone {
                let mut fitting = came.iter().filter(|came| is_match(*node, **came));
                let (Some(only), None) = (fitting.next(), fitting.next()) else { continue };
                let rivals = gone.iter().filter(|rival| is_match(**rival, *only)).count();
                if rivals == 1 {
                    candidates.push(Candidate { gone: *node, came: *only, likeness });
                }
            }
        }
        candidates
    }

    /// Whether both are in parts of one object: names such as `namespace` mean little at places that are far apart. Where
    /// that object has a field of that name in both versions, the three may have changed places, and who became whom
    /// cannot be told.
    fn is_near(&self, gone: NodeIndex, came: NodeIndex) -> bool {
        let above: HashSet<NodeIndex> = self.upwards(came).skip(1).collect();
        let mut near = std::iter::successors(self.before.parent(gone), |node| self.before.parent(*node)).take(3);
        let counterparts = near.find_map(|node| {
            let counterpart = self.after.version.counterpart(self.before.version, node)?;
            above.contains(&counterpart).then_some(counterpart)
        });
        let namesake = |object| self.after.version.structure.child(object, self.name(self.before, gone));
        counterparts.is_some_and(|object| {
            namesake(object).is_none_or(|field| self.before.version.counterpart(self.after.version, field).is_none())
        })
    }

    /// Whether a rename from one to the other could be declared. Objects must have fields in common, and a number that is
    /// one of another unit is another number.
    fn fits(&self, gone: NodeIndex, came: NodeIndex) -> bool {
        let (old, new) = (self.before.version, self.after.version);
        old.structure.keeps_shape(gone, &new.structure, came)
            && old.element_of(gone) == new.element_of(came)
            && is_on_one_side(&old.structure.selector(gone), &new.structure.selector(came))
            && self.have_common_fields(gone, came)
            && !differ_in_unit(self.name(self.before, gone), self.name(self.after, came))
    }

    /// Whether half of the fields of the smaller object are in the other one; lists and maps, by their items or values.
    fn have_common_fields(&self, gone: NodeIndex, came: NodeIndex) -> bool {
        let (old, new) = (&self.before.version.structure, &self.after.version.structure);
        if let (Some(gone), Some(came)) = (old.element(gone), new.element(came)) {
            return self.have_common_fields(gone, came);
        }
        let names = |side: &'_ Side<'_>, node: NodeIndex| -> HashSet<String> {
            let children = &side.version.structure.node(node).children;
            children.iter().map(|child| self.name(side, *child).to_owned()).collect()
        };
        if old.node(gone).shape != Shape::Object {
            return true;
        }
        let (gone, came) = (names(self.before, gone), names(self.after, came));
        let common = gone.intersection(&came).count();
        gone.len().min(came.len()) <= 2 * common
    }

    fn name<'n>(&self, side: &'n Side<'_>, node: NodeIndex) -> &'n str {
        side.version.structure.node(node).name().unwrap_or_default()
    }

    fn same_description(&self, gone: NodeIndex, came: NodeIndex) -> bool {
        description(self.before, gone).is_some_and(|text| description(self.after, came) == Some(text))
    }
}

/// The description of a field, if it says enough to tell fields apart.
fn description<'s>(side: &'s Side<'_>, node: NodeIndex) -> Option<&'s str> {
    side.schema(node)?.description.as_deref().map(str::trim).filter(|text| text.len() >= 20)
}

/// How two names are alike.
pub(crate) fn names_alike(a: &str, b: &str) -> Option<Likeness> {
    if a.len() > 64 || b.len() > 64 || a == b {
        return None;
    }
    let plain = |name: &str| name.replace(['-', '_'], "").to_lowercase();
    let (a, b) = (plain(a), plain(b));
    let (short, long) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    if a == b {
        Some(Likeness::Case)
    } else if is_opposite(short, long) {
        None
    } else if is_plural(short, long) {
        Some(Likeness::Plural)
    } else if wheelwright_schema::closest_of([b.as_str()].into_iter(), &a).is_some() {
        Some(Likeness::Letters)
    } else if short.len() >= 3
        && (long.contains(short.as_str()) && long.len() <= 3 * short.len() || is_short_for(short, long))
    {
        Some(Likeness::Contained)
    } else {
        None
    }
}

/// Whether one word says the contrary of the other: `unavailable` and `available`.
fn is_opposite(short: &str, long: &str) -> bool {
    let negated = |prefix: &str| long.strip_prefix(prefix) == Some(short);
    ["un", "in", "im", "dis", "de", "non", "not", "no"].iter().any(|prefix| negated(prefix))
        || long.strip_prefix("dis").zip(short.strip_prefix("en")).is_some_and(|(long, short)| long == short)
}

fn is_plural(singular: &str, plural: &str) -> bool {
    let with = |ending: &str| plural.strip_suffix(ending) == Some(singular);
    let ies =
        plural.strip_suffix("ies").zip(singular.strip_suffix('y')).is_some_and(|(plural, singular)| plural == singular);
    with("s") || with("es") || with("list") || ies
}

/// Whether a word is made of letters of a longer one, from its first to its last: `qty` and `quantity`.
fn is_short_for(short: &str, long: &str) -> bool {
    let mut letters = long.chars();
    let in_order = short.chars().all(|letter| letters.any(|candidate| candidate == letter));
    in_order && short.chars().next() == long.chars().next() && short.chars().last() == long.chars().last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_alike_by_case_number_letters_or_abbreviation() {
        for (a, b, likeness) in [
            ("podCIDR", "podCidr", Likeness::Case),
            ("max_surge", "maxSurge", Likeness::Case),
            ("zone", "zones", Likeness::Plural),
            ("policies", "policy", Likeness::Plural),
            ("recieved", "received", Likeness::Letters),
            ("qty", "quantity", Likeness::Contained),
            ("healthCheck", "machineHealthCheck", Likeness::Contained),
        ] {
            assert_eq!(names_alike(a, b), Some(likeness), "{a} {b}");
            assert_eq!(names_alike(b, a), Some(likeness), "{b} {a}");
        }
        for (a, b) in [
            ("name", "type"),
            ("id", "identity"),
            ("class", "reference"),
            ("a", "b"),
            ("availableReplicas", "unavailableReplicas"),
            ("enabled", "disabled"),
        ] {
            assert_eq!(names_alike(a, b), None, "{a} {b}");
        }
    }
}
