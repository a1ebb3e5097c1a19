//! Values that a declared change drops: removed fields that an older version requires, and inputs that no expression reads.

use std::collections::HashMap;

use wheelwright_document::{Arena, Owned, Span, encode};
use wheelwright_findings::Level;

use super::{
    Addition, Example, Incompatibility, What,
    constraints::{acceptable, as_seen_by},
    example::{Wanted, document, essence},
    refusals::{Between, Refusals, placed},
    side::Side,
};
use crate::{
    Conversion, Direction, FieldId, History, Lenses, Located, NodeIndex, OlderWrite, Part, Respelled, Selector,
    Structure,
    compute::{mentions_self, reads},
    kind::envelope_of,
};

/// Fields that a step removes although older versions require them.
pub(crate) fn required_elsewhere(history: &History, sides: &[Side<'_>], after: &Side<'_>) -> Vec<Incompatibility> {
    let (Some(step), Some(from)) = (after.step, after.version.from) else { return Vec::new() };
    let before = sides[from.position()].version;
    let mut findings = Vec::new();
    for removed in &step.removed {
        let Some(id) = before.structure.find_field(&removed.item).and_then(|node| before.id(node)) else { continue };
        let is_older = |side: &&Side<'_>| side.version.declared && side.index < after.index;
        // One version is enough to show it: the newest that requires the field.
        let refused = sides.iter().filter(is_older).rev().find_map(|older| {
            let (document, reason) =
                refused_view(history, after, older, id).or_else(|| generated_view(history, after, older, id))?;
            Some((older, document, reason))
        });
        let Some((older, document, reason)) = refused else { continue };
        let field = older.version.node_of(id).map(|node| older.version.structure.selector(node));
        let (field, other) = (field.unwrap_or_else(|| removed.item.clone()), &older.version.name);
        let what = What::RequiredRemoved { document: essence(&document), reason };
        let related = older.version.node_of(id).map_or_else(Span::default, |node| older.place(node, ""));
        let mut found = Incompatibility::new(&after.version.name, Some(other), field, what).at(removed.span, related);
        if let Some(expression) = older.version.node_of(id).and_then(|node| expression_for(older, node)) {
            found = found.add(Addition::DerivedDown(removed.item.clone(), expression));
        }
        // Clients of the older version are those who are refused.
        let level = found.level.min(other.maturity().gravest());
        findings.push(Incompatibility { level, ..found });
    }
    findings
}

/// An expression for a value that a field accepts, if the field can be derived: objects, lists and maps are kept.
fn expression_for(side: &Side<'_>, node: NodeIndex) -> Option<Box<str>> {
    match acceptable(side, node)? {
        Owned::String(text) if !text.as_str().contains(['\'', '\\']) && !text.as_str().contains(char::is_control) => {
            Some(format!("'{}'", text.as_str()).into())
        }
        value @ (Owned::Bool(_) | Owned::Number(_) | Owned::String(_)) => {
            let arena = Arena::new();
            Some(String::from_utf8_lossy(&encode(value.share(&arena))).into())
        }
        _ => None,
    }
}

/// A document of one version that an older one refuses for the lack of a field, and the error.
fn refused_view(history: &History, after: &Side<'_>, older: &Side<'_>, id: FieldId) -> Option<(Owned, String)> {
    let node = older.version.node_of(id).filter(|node| older.is_required(*node))?;
    let parent = older.parent(node)?;
    let object = after.version.counterpart(older.version, parent)?;
    let is_root = object == after.version.structure.root();
    let wanted = if is_root { HashMap::new() } else { HashMap::from([(object, Wanted::Present)]) };
    let document = document(after, &wanted)?;
    if after.refusal(&document).is_some() {
        return None;
    }
    let reason = older.refusal_at(node, &shown_by(history, after, older, &document))?;
    Some((document, reason))
}

/// A document as another version shows it.
fn shown_by(history: &History, from: &Side<'_>, to: &Side<'_>, document: &Owned) -> Owned {
    let envelope = envelope_of(history, from.type_meta.is_some());
    let lenses = Lenses::compile(history, from.index, envelope, &|_, _| OlderWrite::Preserve);
    let arena = Arena::new();
    let document = document.share(&arena);
    let stored = lenses.put(from.index, document, None, Part::Whole, &arena).unwrap_or(document);
    as_seen_by(to, &Owned::from(lenses.get(to.index, stored, &arena)))
}

/// The same, found among generated documents: an object may be shown only if something else is in it, and a rule may demand
/// the field although it is not required.
fn generated_view(history: &History, after: &Side<'_>, older: &Side<'_>, id: FieldId) -> Option<(Owned, String)> {
    let node = older.version.node_of(id).filter(|node| older.is_required(*node) || is_in_rules(older, *node))?;
    let mut refusals = Refusals::new(history, (after, older), Between::Versions, [node].into());
    let Example { document, refusal, .. } = refusals.find((None, node), &[])?;
    let is_for_its_lack = older.is_required(node) || {
        let arena = Arena::new();
        let (shown, value) = (shown_by(history, after, older, &document), acceptable(older, node)?);
        let path = older.version.structure.selector(node);
        let with_it = placed(shown.share(&arena), path.steps(), &value, &arena)?;
        older.refusal(&with_it.into()).is_none()
    };
    refusal.filter(|_| is_for_its_lack).map(|reason| (document, reason))
}

/// Whether a rule of an object around a field names it.
fn is_in_rules(side: &Side<'_>, node: NodeIndex) -> bool {
    let Some(name) = side.version.structure.node(node).name() else { return false };
    let is_word = |word: &str| word == name;
    let names_it = |rule: &str| rule.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(is_word);
    let above = std::iter::successors(side.parent(node), |node| side.parent(*node));
    above
        .filter_map(|node| side.schema(node))
        .any(|schema| schema.extensions.validations.iter().any(|rule| names_it(&rule.rule.text)))
}

/// Fields that a conversion of the step into a version replaces, and that its expressions never read.
pub(crate) fn unread_inputs(before: &Side<'_>, after: &Side<'_>) -> Vec<Incompatibility> {
    let mut findings = Vec::new();
    for respelled in &after.version.respelled {
        for direction in [Direction::Up, Direction::Down] {
            let (source, target, fields) = match direction {
                Direction::Up => (before, after, &respelled.from),
                Direction::Down => (after, before, &respelled.to),
            };
            for at in
                fields.iter().filter(|at| is_never_read(respelled, direction, &source.version.structure, &at.item))
            {
                let Some(node) = source.version.structure.find(&at.item) else { continue };
                let shown = document(source, &HashMap::from([(node, Wanted::Present)]));
                let what = What::InputNotRead { direction, document: shown.map(|document| essence(&document)) };
                let (version, other) = (&after.version.name, &target.version.name);
                let other = if direction == Direction::Up { &before.version.name } else { other };
                let found = Incompatibility::new(version, Some(other), at.item.clone(), what)
                    .at(respelled.with.span, source.place(node, ""));
                // An older version need not express all that a newer one has.
                let level = if direction == Direction::Up { found.level } else { found.level.min(Level::Note) };
                findings.push(Incompatibility { level, ..found });
            }
        }
    }
    findings
}

/// Whether no expression of a direction reads a field.
fn is_never_read(respelled: &Respelled, direction: Direction, structure: &Structure, field: &Selector) -> bool {
    let sources: Vec<&Located<Box<str>>> = match (respelled.with.item.unclamped(), direction) {
        (Conversion::Expression { up, .. }, Direction::Up) => return !mentions_self(&up.item),
        (Conversion::Expression { down, .. }, Direction::Down) => return !mentions_self(&down.item),
        (Conversion::Expressions { up, .. }, Direction::Up) => up.iter().collect(),
        (Conversion::Expressions { down, .. }, Direction::Down) => down.iter().collect(),
        _ => return false,
    };
    let Some(node) = structure.find(field) else { return false };
    let own = structure.scope_of(node);
    let Some(names) = names_below(structure, own, node) else { return false };
    sources.iter().all(|source| {
        let read = reads(&source.item, (structure, own));
        read.is_some_and(|paths| paths.iter().all(|path| !names.starts_with(path) && !path.starts_with(&names)))
    })
}

/// The names that lead from an object to a field, none of them through a list or map.
fn names_below(structure: &Structure, own: NodeIndex, field: NodeIndex) -> Option<Vec<Box<str>>> {
    let mut names = Vec::new();
    let mut at = field;
    while at != own {
        names.push(structure.node(at).name()?.into());
        at = structure.node(at).parent?;
    }
    names.reverse();
    Some(names)
}
