//! How much two fields have in common: name, description, default, limits, values, fields and position, weighed together.

use std::collections::{BTreeSet, HashMap, HashSet};

use wheelwright_document::Owned;
use wheelwright_schema::Schema;

use super::names::{are_opposites, have_common_words, is_telling, names_alike, words};
use crate::{
    NodeIndex, Shape,
    check::{Evidence, Likeness, diff::spelled, side::Side},
};

/// Two fields, and how they are placed to each other.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Both are fields of one object.
    pub(crate) siblings: bool,
    /// No other field of the object is gone or new.
    pub(crate) is_only_pair: bool,
    /// How many objects are between them.
    pub(crate) distance: usize,
}

/// Compares fields of one version with fields of the next.
pub(crate) struct Scales<'s> {
    before: Features<'s>,
    after: Features<'s>,
}

impl<'s> Scales<'s> {
    pub(crate) fn new(before: &'s Side<'s>, after: &'s Side<'s>, gone: &[NodeIndex], came: &[NodeIndex]) -> Self {
        Self { before: Features::of(before, gone), after: Features::of(after, came) }
    }

    /// The features of a field that disappeared and of one that appeared.
    pub(crate) fn features(&self, gone: NodeIndex, came: NodeIndex) -> Option<(&Feature<'s>, &Feature<'s>)> {
        Some((self.before.list.get(&gone)?, self.after.list.get(&came)?))
    }

    pub(crate) fn gone(&self, gone: NodeIndex) -> Option<&Feature<'s>> {
        self.before.list.get(&gone)
    }

    pub(crate) fn came(&self, came: NodeIndex) -> Option<&Feature<'s>> {
        self.after.list.get(&came)
    }

    /// Everything that two fields have in common, and what speaks against it.
    pub(crate) fn weigh(&self, gone: NodeIndex, came: NodeIndex, place: Place) -> Likeness {
        let mut weighed = Weighed { evidence: Vec::new(), against: 0 };
        let Some((old, new)) = self.features(gone, came) else {
            return weighed.likeness();
        };
        weighed.names(old, new);
        weighed.descriptions(old, new);
        weighed.values(old, new);
        let common = self.common_fields(gone, came);
        weighed.add(common.map_or(0, |common| common.weight()), Evidence::Fields);
        if place.siblings {
            weighed.add(1, Evidence::SameObject);
        }
        if place.is_only_pair {
            weighed.add(3, Evidence::OnlyPair);
        }
        if self.have_same_neighbours(gone, came) {
            weighed.add(2, Evidence::Neighbours);
        }
        if place.distance > 4 {
            weighed.against += 1;
        }
        weighed.likeness()
    }

    /// The fields that two objects, or the items or values of two containers, have in common.
    fn common_fields(&self, gone: NodeIndex, came: NodeIndex) -> Option<Common> {
        let (old, new) = (&self.before.side.version.structure, &self.after.side.version.structure);
        if let (Some(gone), Some(came)) = (old.element(gone), new.element(came)) {
            return self.common_fields(gone, came);
        }
        let (fields, others) = (&old.node(gone).children, &new.node(came).children);
        if old.node(gone).shape != Shape::Object || fields.is_empty() || others.is_empty() {
            return None;
        }
        let is_common = |field: &&NodeIndex| {
            let other = old.node(**field).name().and_then(|name| new.child(came, name));
            other.is_some_and(|other| old.keeps_shape(**field, new, other))
        };
        let common = fields.iter().filter(is_common).count();
        let smaller = fields.len().min(others.len());
        (common > 0 && 2 * common >= smaller).then_some(Common { common, smaller })
    }

    /// Whether the fields written before and after both of them correspond, where the order is not that of the alphabet.
    fn have_same_neighbours(&self, gone: NodeIndex, came: NodeIndex) -> bool {
        let (Some(old), Some(new)) = (self.before.neighbours.get(&gone), self.after.neighbours.get(&came)) else {
            return false;
        };
        let corresponds = |old: Option<NodeIndex>, new: Option<NodeIndex>| match (old, new) {
            (Some(old), Some(new)) => self.after.side.version.counterpart(self.before.side.version, old) == Some(new),
            _ => false,
        };
        corresponds(old.0, new.0) && corresponds(old.1, new.1)
    }
}

struct Common {
    common: usize,
    smaller: usize,
}

impl Common {
    /// Most where the smaller of both has no field but those of the larger one, and more than one.
    fn weight(&self) -> i32 {
        match self.common == self.smaller {
            true if self.common >= 2 => 3,
            true => 2,
            false => 1,
        }
    }
}

/// What is known of fields of one version.
struct Features<'s> {
    side: &'s Side<'s>,
    list: HashMap<NodeIndex, Feature<'s>>,
    /// The fields written before and after, of objects whose fields are not in the order of the alphabet.
    neighbours: HashMap<NodeIndex, (Option<NodeIndex>, Option<NodeIndex>)>,
}

/// What is known of one field.
pub(crate) struct Feature<'s> {
    pub(crate) name: &'s str,
    pub(crate) words: BTreeSet<String>,
    /// The words of the objects above it, as far as these are gone or new, too.
    pub(crate) path_words: BTreeSet<String>,
    /// The description, if it says enough to tell fields apart.
    pub(crate) description: Option<&'s str>,
    described: HashSet<&'s str>,
    default: Option<String>,
    bounds: Vec<(&'static str, String)>,
    values: BTreeSet<String>,
}

/// So much of a description is read.
const MOST_DESCRIBED: usize = 600;

impl<'s> Features<'s> {
    fn of(side: &'s Side<'s>, nodes: &[NodeIndex]) -> Self {
        let chosen: HashSet<NodeIndex> = nodes.iter().copied().collect();
        let structure = &side.version.structure;
        let mut neighbours = HashMap::new();
        for parent in nodes.iter().filter_map(|node| side.parent(*node)).collect::<BTreeSet<_>>() {
            let children = &structure.node(parent).children;
            if !children.is_sorted_by_key(|child| structure.node(*child).name()) {
                for (position, child) in children.iter().enumerate() {
                    let before = position.checked_sub(1).map(|before| children[before]);
                    neighbours.insert(*child, (before, children.get(position + 1).copied()));
                }
            }
        }
        let list = nodes.iter().map(|node| (*node, feature(side, *node, &chosen))).collect();
        Self { side, list, neighbours }
    }
}

fn feature<'s>(side: &'s Side<'s>, node: NodeIndex, chosen: &HashSet<NodeIndex>) -> Feature<'s> {
    let structure = &side.version.structure;
    let name = structure.node(node).name().unwrap_or_default();
    let schema = side.schema(node);
    let above = std::iter::successors(side.parent(node), |node| side.parent(*node));
    let above = above.take_while(|node| chosen.contains(node)).take(4);
    let mut path_words = words(name);
    above.for_each(|node| path_words.extend(words(structure.node(node).name().unwrap_or_default())));
    let text = schema.and_then(|schema| schema.description.as_deref()).map(str::trim);
    // The items of a list of texts have the values that it can have.
    let valued = schema.map(|schema| schema.items.as_deref().filter(|items| items.r#type.is_some()).unwrap_or(schema));
    Feature {
        name,
        words: words(name),
        path_words,
        description: text.filter(|text| text.len() >= 20),
        described: text.map(described).unwrap_or_default(),
        default: schema.and_then(|schema| schema.default.as_ref()).filter(|value| **value != Owned::Null).map(spelled),
        bounds: schema.map(bounds).unwrap_or_default(),
        values: valued.map(|schema| schema.checks.r#enum.iter().map(spelled).collect()).unwrap_or_default(),
    }
}

/// The longer words of a description.
fn described(text: &str) -> HashSet<&str> {
    let end = text.char_indices().nth(MOST_DESCRIBED).map_or(text.len(), |(end, _)| end);
    let words = text[..end].split(|letter: char| !letter.is_alphanumeric());
    words
        .filter(|word| word.len() >= 4 && !["that", "this", "with", "will", "when", "from", "which"].contains(word))
        .collect()
}

fn bounds(schema: &Schema) -> Vec<(&'static str, String)> {
    let checks = &schema.checks;
    let number = |number: Option<f64>| number.map(|number| number.to_string());
    let count = |count: Option<i64>| count.map(|count| count.to_string());
    let text = |text: &Option<Box<str>>| text.as_ref().map(ToString::to_string);
    // Widths of integers are everywhere.
    let format = text(&checks.format).filter(|format| !["int32", "int64"].contains(&&**format));
    let all = [
        ("format", format),
        ("pattern", text(&checks.pattern)),
        ("minimum", number(checks.minimum)),
        ("maximum", number(checks.maximum)),
        ("multipleOf", number(checks.multiple_of)),
        ("minLength", count(checks.min_length)),
        ("maxLength", count(checks.max_length)),
        ("minItems", count(checks.min_items)),
        ("maxItems", count(checks.max_items)),
        ("minProperties", count(checks.min_properties)),
        ("maxProperties", count(checks.max_properties)),
    ];
    all.into_iter().filter_map(|(keyword, bound)| Some((keyword, bound?))).collect()
}

impl Feature<'_> {
    /// What two fields without a word in common may have in common all the same: a text that is equal then.
    pub(crate) fn signature(&self) -> Option<String> {
        let known = [self.default.is_some(), !self.bounds.is_empty()].iter().filter(|known| **known).count();
        let is_telling = self.values.len() >= 2 || known == 2;
        is_telling.then(|| match self.values.is_empty() {
            true => format!("{:?} {:?}", self.default, self.bounds),
            false => format!("{:?}", self.values),
        })
    }
}

/// Evidence and counter-evidence, as it is gathered.
struct Weighed {
    evidence: Vec<(i32, Evidence)>,
    against: i32,
}

impl Weighed {
    fn add(&mut self, weight: i32, evidence: Evidence) {
        if weight > 0 {
            self.evidence.push((weight, evidence));
        }
    }

    fn names(&mut self, old: &Feature<'_>, new: &Feature<'_>) {
        let is_said_by_path = |name: &Feature<'_>, path: &Feature<'_>| {
            let is_deeper = path.path_words.len() > path.words.len();
            let tells = name.words.iter().any(|word| is_telling(word)) || name.words.len() >= 2;
            is_deeper && tells && name.words.is_subset(&path.path_words)
        };
        if old.name == new.name {
            let is_telling = old.words.iter().any(|word| is_telling(word));
            self.add(if is_telling { 6 } else { 4 }, Evidence::SameName);
        } else if are_opposites(old.name, new.name) {
            self.against += 4;
        } else if let Some(alike) = names_alike(old.name, new.name).filter(|alike| *alike != Evidence::Contained) {
            self.add(if alike == Evidence::Case { 6 } else { 5 }, alike);
        } else if is_said_by_path(old, new) || is_said_by_path(new, old) {
            self.add(5, Evidence::PathWords);
        } else if names_alike(old.name, new.name).is_some() {
            self.add(3, Evidence::Contained);
        } else if have_common_words(&old.words, &new.words) {
            self.add(2, Evidence::CommonWords);
        }
    }

    fn descriptions(&mut self, old: &Feature<'_>, new: &Feature<'_>) {
        if old.description.is_some() && old.description == new.description {
            return self.add(5, Evidence::Description);
        }
        if mentions(old, new.name, &["deprecated", "replaced", "renamed", "instead", "moved", "superseded"])
            || mentions(new, old.name, &["replaces", "formerly", "previously", "renamed", "successor", "supersedes"])
        {
            return self.add(5, Evidence::Mentioned);
        }
        let (common, all) =
            (old.described.intersection(&new.described).count(), old.described.len() + new.described.len());
        if old.described.len().min(new.described.len()) >= 3 {
            let weight = if 10 * common >= 3 * all { 3 } else { i32::from(5 * common >= all) * 2 };
            self.add(weight, Evidence::SimilarDescription);
        }
    }

    fn values(&mut self, old: &Feature<'_>, new: &Feature<'_>) {
        match (&old.default, &new.default) {
            (Some(old), Some(new)) if old == new => {
                let is_common = ["0", "1", "true", "false", "\"\"", "[]", "{}"].contains(&&**old);
                self.add(if is_common { 2 } else { 3 }, Evidence::Default);
            }
            (Some(_), Some(_)) => self.against += 2,
            _ => {}
        }
        if !old.bounds.is_empty() && !new.bounds.is_empty() {
            let is_text = |(keyword, _): &(&str, String)| ["format", "pattern"].contains(keyword);
            match old.bounds == new.bounds {
                true => self.add(if old.bounds.iter().any(is_text) { 3 } else { 2 }, Evidence::Bounds),
                false => self.against += 1,
            }
        }
        let (smaller, common) = (old.values.len().min(new.values.len()), old.values.intersection(&new.values).count());
        if smaller > 0 {
            match common {
                0 => self.against += 4,
                common if old.values.len() == common && new.values.len() == common => self.add(4, Evidence::Enum),
                common if 2 * common >= smaller => self.add(2, Evidence::Enum),
                _ => self.against += 2,
            }
        }
    }

    fn likeness(mut self) -> Likeness {
        self.evidence.sort_by_key(|(weight, evidence)| (std::cmp::Reverse(*weight), *evidence));
        let points = self.evidence.iter().map(|(weight, _)| weight).sum::<i32>() - self.against;
        let evidence = self.evidence.into_iter().map(|(_, evidence)| evidence).collect();
        Likeness { evidence, points, is_ambiguous: false }
    }
}

/// Whether a description names another field, and says that the one has to do with the other.
fn mentions(described: &Feature<'_>, name: &str, verbs: &[&str]) -> bool {
    if name.len() < 4 || described.name == name {
        return false;
    }
    let names = || described.described.iter().any(|word| *word == name);
    let says = || described.described.iter().any(|word| verbs.iter().any(|verb| word.eq_ignore_ascii_case(verb)));
    names() && says()
}
