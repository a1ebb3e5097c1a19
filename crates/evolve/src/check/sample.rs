//! What computed fields come to for documents that schemas direct: found by computing them, since nothing else tells what an
//! expression does.

use wheelwright_document::{Arena, Owned, Value, encode};

use super::{Incompatibility, What, refused::refused, side::Side};
use crate::{
    Conversion, Direction, History, Lenses, NodeIndex, OlderWrite, Part, Selector, Step, Structure,
    compute::{Exchange, Hooks},
    kind::envelope_of,
    laws::Random,
    lens::same_option,
    link::{Computations, Link},
};

/// How many documents are a sample: enough to meet what is absent and what is not.
const SAMPLE: usize = 64;

/// What is computed between the versions of a kind, tried with documents.
pub(crate) struct Samples<'h> {
    history: &'h History,
    computations: Computations,
}

impl<'h> Samples<'h> {
    pub(crate) fn of(history: &'h History) -> Self {
        // What is wrong with computations is said where they are compiled for use.
        Self { history, computations: Computations::of(history, &Hooks::default()).0 }
    }

    /// A document of one version from which another one derives no value of a field.
    pub(crate) fn underived(&self, before: &Side<'_>, after: &Side<'_>, field: NodeIndex) -> Option<Owned> {
        let envelope = envelope_of(self.history, before.type_meta.is_some());
        let lenses = Lenses::compile(self.history, before.index, envelope, &|_, _| OlderWrite::Preserve);
        let path = after.version.structure.selector(field);
        let object = after.parent(field).and_then(|parent| before.version.counterpart(after.version, parent));
        let reached = object.map(|object| before.version.structure.selector(object)).unwrap_or_else(Selector::root);
        let lacks = |document: &Owned| {
            let arena = Arena::new();
            let document = document.share(&arena);
            let stored = lenses.put(before.index, document, None, Part::Whole, &arena).unwrap_or(document);
            let shown = lenses.get(after.index, stored, &arena);
            let (last, above) = path.steps().split_last()?;
            let Step::Field(name) = last else { return None };
            let mut objects = values_at(shown, above).into_iter().filter(|value| value.as_object().is_some());
            Some(objects.any(|object| object.get(name).is_none()))
        };
        let mut documents = documents(before, &reached).into_iter().chain(documents(before, &Selector::root()));
        documents.find(|document| before.refusal(document).is_none() && lacks(document) == Some(true))
    }

    /// Values of the step into a version that the other side of a change does not take.
    pub(crate) fn refusals(&self, before: &Side<'_>, after: &Side<'_>) -> Vec<Incompatibility> {
        let of_step = self.computations.links.iter().filter(|link| link.version == after.index);
        of_step.flat_map(|link| refused(link, before, after)).collect()
    }

    /// Expressions of the step into a version that do not undo each other.
    pub(crate) fn drifts(&self, before: &Side<'_>, after: &Side<'_>) -> Vec<Incompatibility> {
        let of_step = self.computations.links.iter().filter(|link| link.version == after.index);
        let is_expression = |link: &&Link| {
            let with = link.respelled.with.item.unclamped();
            matches!(with, Conversion::Expression { .. } | Conversion::Expressions { .. })
        };
        of_step.filter(is_expression).filter_map(|link| drift(link, before, after)).collect()
    }
}

/// A value that is another one once it was converted, back and again; what is lost on the way up alone is none.
fn drift(link: &Link, before: &Side<'_>, after: &Side<'_>) -> Option<Incompatibility> {
    let structure = &before.version.structure;
    let scope = structure.scope_of(link.from[0]);
    let above = structure.selector(scope);
    let below: Vec<Vec<Step>> = link.from.iter().map(|field| steps_below(structure, scope, *field)).collect();
    let reached = structure.selector(link.from[0]);
    for document in documents(before, &reached) {
        let arena = Arena::new();
        let document = document.share(&arena);
        let metadata = document.get("metadata").filter(|_| before.type_meta.is_some());
        for object in values_at(document, above.steps()) {
            let sources: Vec<Option<Value<'_>>> =
                below.iter().map(|steps| values_at(object, steps).first().copied()).collect();
            let trip = round(link, metadata, &sources, &arena);
            if let Some([up, down, again]) = trip.filter(|[up, _, again]| !are_same(up, again)) {
                let what = What::Drifts {
                    value: spelled_all(&sources),
                    up: spelled_all(&up),
                    down: spelled_all(&down),
                    again: spelled_all(&again),
                };
                let field = link.respelled.to[0].item.clone();
                let found = Incompatibility::new(&after.version.name, Some(&before.version.name), field, what);
                return Some(found.at(link.respelled.with.span, Default::default()));
            }
        }
    }
    None
}

/// Values of one side converted, back, and again; none if a conversion fails or gives nothing.
fn round<'a>(
    link: &'a Link,
    metadata: Option<Value<'a>>,
    sources: &[Option<Value<'a>>],
    arena: &'a Arena,
) -> Option<[Vec<Option<Value<'a>>>; 3]> {
    let convert = |direction: Direction, sources: &[Option<Value<'a>>]| {
        let mut exchange = Exchange { sources, old: None, metadata, entry: None, arena };
        let mut results = Vec::new();
        link.converter.convert(direction, &mut exchange, &mut results).ok()?;
        results.iter().any(Option::is_some).then_some(results)
    };
    let up = convert(Direction::Up, sources)?;
    let down = convert(Direction::Down, &up)?;
    let again = convert(Direction::Up, &down)?;
    Some([up, down, again])
}

fn are_same(a: &[Option<Value<'_>>], b: &[Option<Value<'_>>]) -> bool {
    a.iter().zip(b).all(|(a, b)| same_option(*a, *b))
}

pub(crate) fn spelled_all(values: &[Option<Value<'_>>]) -> String {
    let spell = |value: &Option<Value<'_>>| match value {
        Some(value) => String::from_utf8_lossy(&encode(*value)).into_owned(),
        None => "nothing".to_owned(),
    };
    values.iter().map(spell).collect::<Vec<_>>().join(", ")
}

/// Some documents of a version, the same every time; all of them have something at a path, where they can.
pub(crate) fn documents(side: &Side<'_>, reached: &Selector) -> Vec<Owned> {
    let Some(generator) = side.generator() else { return Vec::new() };
    let node: Vec<usize> = generator.nodes().position(|node| node == reached).into_iter().collect();
    let mut random = Random::new(0);
    let arena = Arena::new();
    (0..SAMPLE).map(|_| Owned::from(generator.generate_reaching(&node, &mut random, &arena))).collect()
}

pub(crate) fn steps_below(structure: &Structure, scope: NodeIndex, field: NodeIndex) -> Vec<Step> {
    let above = structure.selector(scope).steps().len();
    structure.selector(field).steps()[above..].to_vec()
}

/// All values at a path.
pub(crate) fn values_at<'a>(value: Value<'a>, steps: &[Step]) -> Vec<Value<'a>> {
    let Some((first, rest)) = steps.split_first() else { return vec![value] };
    let below: Vec<Value<'a>> = match (first, value) {
        (Step::Field(name), Value::Object(_)) => value.get(name).into_iter().collect(),
        (Step::Items, Value::Array(items)) => items.to_vec(),
        (Step::Values, Value::Object(entries)) => entries.iter().map(|entry| entry.value).collect(),
        _ => Vec::new(),
    };
    below.into_iter().flat_map(|value| values_at(value, rest)).collect()
}
