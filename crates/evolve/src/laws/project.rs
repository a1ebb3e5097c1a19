//! What a document of a version says, field by field: the same for every version, so that two can be compared.

use std::collections::HashMap;

use wheelwright_document::{Arena, Value, encode};

use crate::{
    FieldId, History, Lenses, NodeIndex, Shape, Step, VersionHistory, VersionIndex,
    lens::{equal, equal_option},
};

/// Every value without parts that a document has: in which items and values of lists and maps, of which field.
pub(super) type Said<'a> = HashMap<(Vec<Element<'a>>, FieldId), Value<'a>>;

/// An item of a list or a value of a map.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Element<'a> {
    Item(FieldId, usize),
    Value(FieldId, &'a str),
}

/// What a document of a version says. Null says nothing: another version may not be able to say it.
pub(super) fn said<'a>(version: &VersionHistory, document: Value<'a>) -> Said<'a> {
    let mut said = Said::new();
    let mut elements = Vec::new();
    Project { version, said: &mut said }.object(version.structure.root(), document, &mut elements);
    said
}

struct Project<'p, 'a> {
    version: &'p VersionHistory,
    said: &'p mut Said<'a>,
}

impl<'a> Project<'_, 'a> {
    fn object(&mut self, node: NodeIndex, value: Value<'a>, elements: &mut Vec<Element<'a>>) {
        for entry in value.as_object().unwrap_or_default() {
            if let Some(child) = self.version.structure.child(node, entry.key)
                && let Some(id) = self.version.id(child)
            {
                self.value(child, id, entry.value, elements);
            }
        }
    }

    fn value(&mut self, node: NodeIndex, id: FieldId, value: Value<'a>, elements: &mut Vec<Element<'a>>) {
        let structure = &self.version.structure;
        match (structure.node(node).shape, structure.element(node), value) {
            (Shape::Object, _, value) => self.object(node, value, elements),
            (Shape::List, Some(element), Value::Array(items)) => {
                for (position, item) in items.iter().enumerate() {
                    elements.push(Element::Item(id, position));
                    self.value(element, id, *item, elements);
                    elements.pop();
                }
            }
            (Shape::Map, Some(element), Value::Object(entries)) => {
                for entry in entries {
                    elements.push(Element::Value(id, entry.key));
                    self.value(element, id, entry.value, elements);
                    elements.pop();
                }
            }
            (Shape::Scalar(_), _, value) if !value.is_null() => {
                self.said.insert((elements.clone(), id), value);
            }
            _ => {}
        }
    }
}

/// What one version says that another could say as well, and does not: the field, what it says, and what the other says.
pub(super) fn disagreement<'a>(
    lenses: &Lenses,
    history: &History,
    one: (VersionIndex, Value<'a>),
    other: (VersionIndex, Value<'a>),
) -> Option<(FieldId, Value<'a>, Option<Value<'a>>)> {
    let (version, other_version) = (history.version(one.0), history.version(other.0));
    let others = said(other_version, other.1);
    let mut said = said(version, one.1).into_iter();
    said.find_map(|((elements, id), value)| {
        let field = other_version.node_of(id)?;
        let found = others.get(&(elements.clone(), id)).copied();
        let differs = found.is_none_or(|found| !equal(found, value));
        // What is only filled in is so where its object is shown, and another version may show another object.
        let hidden = || found.is_none() && is_behind_a_value(other_version, field, &elements, other.1);
        // A constant is derived where its object is shown.
        let elsewhere = || found.is_none() && lenses.may_be_constant(id);
        (differs && !may_be_filled_in(history, id, value) && !hidden() && !elsewhere()).then_some((id, value, found))
    })
}

/// Whether a value may be one that is only filled in: as the field's own default, or as a part of that of an object, list or
/// map that it is in.
pub(super) fn may_be_filled_in(history: &History, id: FieldId, value: Value<'_>) -> bool {
    let arena = Arena::new();
    history.versions.iter().any(|version| {
        let mut way: Vec<&Step> = Vec::new();
        let above = std::iter::successors(version.node_of(id), |node| version.structure.node(*node).parent);
        above.into_iter().any(|node| {
            let frozen = version.id(node).and_then(|field| history.field(field).frozen.as_ref());
            let is_filled_in = frozen.is_some_and(|frozen| has_at(frozen.share(&arena), &way, value));
            way.insert(0, &version.structure.node(node).step);
            is_filled_in
        })
    })
}

/// Whether a value has another at the end of a way, in any of the items and values that it leads through.
fn has_at(value: Value<'_>, way: &[&Step], wanted: Value<'_>) -> bool {
    match (way, value) {
        // Items and values without parts are said of the list or map that they are in.
        ([] | [Step::Items, ..], Value::Array(items)) => {
            items.iter().any(|item| has_at(*item, way.get(1..).unwrap_or_default(), wanted))
        }
        ([] | [Step::Values, ..], Value::Object(entries)) => {
            entries.iter().any(|entry| has_at(entry.value, way.get(1..).unwrap_or_default(), wanted))
        }
        ([], value) => equal(value, wanted),
        ([Step::Field(name), way @ ..], value) => value.get(name).is_some_and(|value| has_at(value, way, wanted)),
        _ => false,
    }
}

/// Whether something that is no object, list or map stands on the way to a field.
fn is_behind_a_value(
    version: &VersionHistory,
    field: NodeIndex,
    elements: &[Element<'_>],
    document: Value<'_>,
) -> bool {
    let mut elements = elements.iter();
    let selector = version.structure.selector(field);
    let (_, way) = selector.steps().split_last().unwrap_or((&Step::Items, &[]));
    let mut at = document;
    for step in way {
        let next = match (step, at) {
            (Step::Field(name), Value::Object(_)) => at.get(name),
            (Step::Items, Value::Array(items)) => match elements.next() {
                Some(Element::Item(_, position)) => items.get(*position).copied(),
                _ => None,
            },
            (Step::Values, Value::Object(_)) => match elements.next() {
                Some(Element::Value(_, key)) => at.get(key),
                _ => None,
            },
            _ => return true,
        };
        match next {
            Some(next) => at = next,
            None => return false,
        }
    }
    at.as_object().is_none()
}

/// Whether an object that a version has outside of lists and maps was shown and is not any more, or was replaced by something
/// that is not an object: also if it was not shown, since the version sees nothing in it.
pub(super) fn is_gone(version: &VersionHistory, object: FieldId, before: Value<'_>, after: Value<'_>) -> bool {
    let Some(path) = version.path_of(object) else { return false };
    let find = |document: Value<'_>| {
        let found = path.steps().iter().try_fold(document, |at, step| match step {
            Step::Field(name) => at.get(name),
            _ => None,
        });
        found.map(|value| value.as_object().is_some())
    };
    match find(after) {
        Some(is_object) => !is_object,
        None => find(before).is_some(),
    }
}

/// Where an item or value of the outermost list or map is after a write, if its writer left it as it was and it can be told from
/// all others, or if the writer cannot say the list or map at all; `None` if that cannot be said.
pub(super) fn continued<'a>(
    lenses: &Lenses,
    (writer, version, before, after): (VersionIndex, &VersionHistory, Value<'a>, Value<'a>),
    mut elements: Vec<Element<'a>>,
) -> Option<Vec<Element<'a>>> {
    let Some((outermost, _)) = elements.split_first_mut() else { return Some(elements) };
    let (Element::Item(container, _) | Element::Value(container, _)) = *outermost;
    let Some(path) = version.path_of(container) else {
        return (!lenses.says_in_any_spelling(writer, container)).then_some(elements);
    };
    let find = |document: Value<'a>| {
        path.steps().iter().try_fold(document, |at, step| match step {
            Step::Field(name) => at.get(name),
            _ => None,
        })
    };
    let (before, after) = (find(before)?, find(after)?);
    match outermost {
        Element::Value(_, key) => equal(before.get(key)?, after.get(key)?).then_some(elements),
        Element::Item(_, position) => {
            let (before, after) = (before.as_array()?, after.as_array()?);
            let item = before.get(*position)?;
            let keys = lenses.keys(writer, container);
            let is_like = |other: &&Value<'a>| match keys {
                [] => equal(**other, *item),
                keys => keys.iter().all(|key| equal_option(other.get(key), item.get(key))),
            };
            let is_alone = [before, after].into_iter().all(|list| list.iter().filter(is_like).count() == 1);
            *position = after.iter().position(|other| is_alone && equal(*other, *item))?;
            Some(elements)
        }
    }
}

/// A value as JSON, or that there is none.
pub(super) fn told(value: Option<Value<'_>>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| String::from_utf8_lossy(&encode(value)).into_owned())
}
