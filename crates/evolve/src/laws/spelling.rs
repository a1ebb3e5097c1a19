//! Facts in several spellings: what two versions say of one, held against each other, and values that can be converted.

use wheelwright_document::{Arena, Entry, Number, Owned, Value, canonical};

use crate::{
    Bounds, Conversion, Direction, FieldId, Lenses, NodeIndex, Respelled, Scalar, Selector, Shape, Step,
    VersionHistory, VersionIndex,
    compute::Exchange,
    lens::equal_option,
    link::{Computations, Link},
};

/// What is said of a fact in two spellings of which neither is what the other is converted to.
pub(super) struct Contradiction<'a> {
    pub(super) field: FieldId,
    pub(super) expected: Option<Value<'a>>,
    pub(super) found: Option<Value<'a>>,
}

/// What two versions say of a fact that each spells in its own way: one of them says what the other is converted to.
/// Held against that are facts without parts, outside of lists and maps: where a fact has parts, some may be spelled as one
/// version wrote them and some as the other did.
pub(super) fn contradiction<'a>(
    lenses: &'a Lenses,
    history: &crate::History,
    one: (VersionIndex, Value<'a>),
    other: (VersionIndex, Value<'a>),
    arena: &'a Arena,
) -> Option<Contradiction<'a>> {
    lenses.computations.links.iter().find_map(|link| {
        let (before, after) = match (link.before, link.version) {
            pair if pair == (one.0, other.0) => (one.1, other.1),
            pair if pair == (other.0, one.0) => (other.1, one.1),
            _ => return None,
        };
        let (old, new) = (history.version(link.before), history.version(link.version));
        if !is_whole(&link.respelled) || !is_told_apart(lenses, history, link) {
            return None;
        }
        let (from, to) = (values(old, &link.from, before)?, values(new, &link.to, after)?);
        let converted = |direction, sources: &[Option<Value<'a>>], count: usize| {
            let metadata = before.get("metadata");
            let mut exchange = Exchange { sources, old: None, metadata, entry: None, arena };
            let mut results = Vec::new();
            if link.converter.convert(direction, &mut exchange, &mut results).is_err() {
                results.clear();
            }
            results.resize(count, None);
            results
        };
        let up = converted(Direction::Up, &from, to.len());
        // A fact that was written once more with its numbers spelled otherwise has not changed, even if nothing can be made
        // of them so.
        let plain = |values: &[Option<Value<'a>>]| -> Vec<_> {
            values.iter().map(|value| value.map(|value| plain(value, arena))).collect()
        };
        let agrees = are_same(&up, &to)
            || are_same(&converted(Direction::Down, &to, from.len()), &from)
            || are_same(&converted(Direction::Up, &plain(&from), to.len()), &to)
            || are_same(&converted(Direction::Down, &plain(&to), from.len()), &from);
        if agrees {
            return None;
        }
        let differing = (0..to.len()).find(|at| !are_same(&up[*at..=*at], &to[*at..=*at]))?;
        Some(Contradiction { field: new.id(link.to[differing])?, expected: up[differing], found: to[differing] })
    })
}

/// Whether a fact is converted as a whole.
fn is_whole(respelled: &Respelled) -> bool {
    let is_whole = match respelled.with.item.unclamped() {
        Conversion::DurationSeconds
        | Conversion::Quantity
        | Conversion::Scale(_)
        | Conversion::Text
        | Conversion::Clamped(_)
        | Conversion::Values(_)
        | Conversion::Joined(_)
        | Conversion::Template { .. }
        | Conversion::Expression { .. }
        | Conversion::Expressions { .. } => true,
        Conversion::ObjectWithKey(_)
        | Conversion::OneItem
        | Conversion::Document(_)
        | Conversion::KeyedList { .. }
        | Conversion::Entries(_)
        | Conversion::Folded(_)
        | Conversion::RenamedKeys(_)
        | Conversion::Hook(_) => false,
    };
    let is_field = |at: &Selector| at.steps().iter().all(|step| matches!(step, Step::Field(_)));
    is_whole && respelled.from.iter().chain(&respelled.to).all(|at| is_field(&at.item))
}

/// Whether no version says a fact in both spellings, and neither is filled in or derived.
fn is_told_apart(lenses: &Lenses, history: &crate::History, link: &Link) -> bool {
    let ids = |version: VersionIndex, nodes: &[NodeIndex]| -> Vec<FieldId> {
        nodes.iter().filter_map(|node| history.version(version).id(*node)).collect()
    };
    let (from, to) = (ids(link.before, &link.from), ids(link.version, &link.to));
    let says_any = |version: VersionIndex, ids: &[FieldId]| ids.iter().any(|id| lenses.says(version, *id));
    let mut all = from.iter().chain(&to);
    let is_plain = |id: &FieldId| history.field(*id).frozen.is_none() && !lenses.may_be_derived(*id);
    all.all(is_plain) && !history.indexes().any(|version| says_any(version, &from) && says_any(version, &to))
}

/// The values of fields outside of lists and maps; `None` if something that is no object is in the way of one.
fn values<'a>(version: &VersionHistory, nodes: &[NodeIndex], document: Value<'a>) -> Option<Vec<Option<Value<'a>>>> {
    let value = |node: &NodeIndex| {
        let mut at = Some(document);
        for step in version.structure.selector(*node).steps() {
            let Step::Field(name) = step else { return None };
            at = match at {
                Some(Value::Object(_)) => at.and_then(|at| at.get(name)),
                Some(_) => return None,
                None => None,
            };
        }
        Some(at)
    };
    nodes.iter().map(value).collect()
}

/// A number as all equal ones are written; other values as they are.
fn plain<'a>(value: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let Value::Number(_) = value else { return value };
    let text = String::from_utf8(canonical(value)).ok();
    text.and_then(|text| Number::new(arena.text(&text))).map_or(value, Value::Number)
}

fn are_same(a: &[Option<Value<'_>>], b: &[Option<Value<'_>>]) -> bool {
    a.iter().zip(b).all(|(a, b)| equal_option(*a, *b))
}

/// Values of fields of a version that conversions have something to do with: some canonical, some not, some that cannot be
/// converted.
pub(super) fn convertible(
    computations: &Computations,
    history: &crate::History,
    version: VersionIndex,
) -> Vec<(Selector, Vec<Owned>)> {
    let mut found = Vec::new();
    for link in &computations.links {
        let sides = [(link.before, &link.respelled.from), (link.version, &link.respelled.to)];
        for (_, paths) in sides.into_iter().filter(|(of, _)| *of == version) {
            let structure = &history.version(version).structure;
            for at in paths {
                let Some(node) = structure.find(&at.item) else { continue };
                let values = match (&link.respelled.with.item, structure.element(node)) {
                    (Conversion::RenamedKeys(pairs), Some(values)) => {
                        let is_text = structure.node(values).shape == Shape::Scalar(Scalar::String);
                        if is_text { maps(pairs) } else { Vec::new() }
                    }
                    (with, _) => examples(with, structure.node(node).shape),
                };
                if !values.is_empty() {
                    found.push((at.item.clone(), values));
                }
            }
        }
    }
    found
}

/// Maps with keys that are renamed, with those that they are renamed to, and with both.
fn maps(pairs: &[(Box<str>, Box<str>)]) -> Vec<Owned> {
    let map = |keys: &[&str]| {
        let entries: Vec<_> = keys.iter().map(|key| Entry { key, value: Value::string(keys[0]) }).collect();
        Owned::from(Value::Object(&entries))
    };
    let of_pair = |(old, new): &(Box<str>, Box<str>)| [map(&[old]), map(&[new]), map(&[old, new]), map(&[new, old])];
    pairs.iter().flat_map(of_pair).chain([map(&[])]).collect()
}

fn text(text: &str) -> Owned {
    Owned::from(Value::string(text))
}

fn numbers(numbers: &[impl AsRef<str>]) -> Vec<Owned> {
    let numbers = numbers.iter().filter_map(|text| Number::new(text.as_ref()));
    numbers.map(|number| Owned::from(Value::Number(number))).collect()
}

fn examples(with: &Conversion, shape: Shape) -> Vec<Owned> {
    if let Conversion::Clamped(clamped) = with {
        let beyond = [&clamped.from, &clamped.to].into_iter().flat_map(Bounds::beyond);
        let beyond: Vec<String> = beyond.collect();
        let mut found: Vec<Owned> = match (shape, clamped.with.as_deref()) {
            (Shape::Scalar(Scalar::Integer | Scalar::Number), _) => numbers(&beyond),
            (_, Some(Conversion::DurationSeconds)) => beyond.iter().map(|number| text(&format!("{number}s"))).collect(),
            _ => beyond.iter().map(|number| text(number)).collect(),
        };
        found.extend(clamped.with.iter().flat_map(|with| examples(with, shape)));
        return found;
    }
    let texts = |texts: &[&str]| texts.iter().copied().map(text).collect();
    let (is_text, is_number) = match shape {
        Shape::Scalar(Scalar::String | Scalar::IntOrString) => (true, false),
        Shape::Scalar(Scalar::Integer | Scalar::Number) => (false, true),
        _ => (false, false),
    };
    match with {
        Conversion::DurationSeconds if is_text => texts(&["10m0s", "10m", "600s", "1h30m", "1.5s", "-1m", "0", "soon"]),
        Conversion::Quantity if is_text => texts(&["1024", "1Ki", "100m", "2G", "1e3", "0.5", "some"]),
        Conversion::Text if is_text => texts(&["1", "01", "true", "0.5", "-7", "1e3", "False", "none"]),
        Conversion::Joined(delimiter) if is_text => {
            texts(&["a", &format!("a{delimiter}b"), delimiter, &format!("1{delimiter}2"), ""])
        }
        Conversion::Template { template, .. } if is_text => {
            let filled = |part: &str| {
                let pieces = template.split(['{', '}']).enumerate();
                pieces.map(|(at, piece)| if at % 2 == 0 { piece } else { part }).collect::<String>()
            };
            texts(&[&filled("1"), &filled("a"), "a", "1"])
        }
        Conversion::Document(_) if is_text => {
            texts(&["{}", r#"{"a": 1}"#, r#"{"a":{"b":[true,null]}}"#, "[]", "[{}]", "", "not: [closed"])
        }
        Conversion::Values(pairs) if is_text => {
            let values: Vec<&str> = pairs.iter().flat_map(|(old, new)| [&**old, &**new]).collect();
            texts(&values)
        }
        Conversion::Scale(_) | Conversion::Quantity | Conversion::DurationSeconds if is_number => {
            numbers(&["0", "1", "2", "600", "1000", "3600", "-60"])
        }
        Conversion::Expression { .. } | Conversion::Expressions { .. } if is_text => {
            texts(&["a", "1", "10m", "a b", "a:1", "true"])
        }
        _ => Vec::new(),
    }
}
