//! Facts in another spelling: what documents with the old one lack in the new one, and what it is where nobody says.

use wheelwright_document::{Arena, Owned};

use super::{Change, Difference, Incompatibility, What, refusals::Refusals, side::Side};
use crate::{Conversion, History, NodeIndex, Respelled, Selector};

/// What documents of one version lack in the spelling of the next one, and defaults that are not those of the fact.
pub(crate) fn converted(
    history: &History,
    before: &Side<'_>,
    after: &Side<'_>,
    differences: &[Difference],
    refusals: &mut Refusals<'_>,
) -> Vec<Incompatibility> {
    let mut findings = staying(before, after);
    for difference in differences {
        let Change::Converted { before: paths, after: to, with } = &difference.change else { continue };
        let from: Vec<NodeIndex> = paths.iter().filter_map(|path| before.version.structure.find(path)).collect();
        let Some(first) = from.first() else { continue };
        for (field, node) in to.iter().filter_map(|path| Some((path, after.version.structure.find(path)?))) {
            let frozen = after.version.id(node).and_then(|id| history.field(id).frozen.clone());
            let find =
                |what: What| Incompatibility::new(&after.version.name, Some(&before.version.name), field.clone(), what);
            let names: String = paths.iter().map(|path| format!("{path} ")).collect();
            let is_lacking = after.is_required(node) && frozen.is_none();
            let is_sure = is_always_there((before, &from), (after, node), with);
            // A value that cannot be converted is absent in the new version.
            refusals.look_for((None, node), &["required"]);
            let example = is_lacking.then(|| refusals.find_reading(None, node, &names)).flatten();
            if is_lacking && (!is_sure || example.is_some()) {
                let place = after.parent(node).map_or_else(Default::default, |parent| after.place(parent, "required"));
                let what = What::NewlyRequired { existed: true, settled: true, derived: None };
                let found = find(what).at(place, before.place(*first, ""));
                findings.push(found.proven_by(example));
            }
            let arena = Arena::new();
            let is_other = |default: &Owned| {
                let default = default.share(&arena);
                frozen.as_ref().is_none_or(|frozen| !frozen.share(&arena).equivalent(default))
            };
            if let Some(default) = after.version.structure.node(node).default.clone().filter(is_other) {
                // In the new spelling, what readers fill in is what the old one was filled in with.
                let what = What::SpelledDefaultChanged { from: paths.clone(), default, frozen };
                findings.push(find(what).at(after.place_of_default(node), before.place_of_default(*first)));
            }
        }
    }
    findings
}

/// Fields that are converted into others, and of which the new version has one of the same name and shape.
fn staying(before: &Side<'_>, after: &Side<'_>) -> Vec<Incompatibility> {
    let (old, new) = (&before.version.structure, &after.version.structure);
    let respelled = &after.version.respelled;
    let is_said = |field: &Selector| {
        let is_new = after.step.is_some_and(|step| step.new.iter().any(|new| new.item == *field));
        is_new || respelled.iter().flat_map(|it| &it.to).any(|to| to.item == *field)
    };
    let mut findings = Vec::new();
    for Respelled { from, to, with } in respelled {
        for at in from.iter().filter(|at| !is_said(&at.item)) {
            let (Some(was), Some(is)) = (old.find_field(&at.item), new.find_field(&at.item)) else { continue };
            if before.version.counterpart(after.version, is).is_some() || !old.keeps_shape(was, new, is) {
                continue;
            }
            let what = What::SpellingStays { to: to.iter().map(|to| to.item.clone()).collect() };
            let found = Incompatibility::new(&after.version.name, Some(&before.version.name), at.item.clone(), what);
            findings.push(found.at(with.span, before.place(was, "")));
        }
    }
    findings
}

/// Whether every document that has the object of a field has what the field is converted from.
fn is_always_there(
    (before, from): (&Side<'_>, &[NodeIndex]),
    (after, node): (&Side<'_>, NodeIndex),
    with: &[Conversion],
) -> bool {
    let object = after.parent(node).and_then(|parent| before.version.counterpart(after.version, parent));
    let is_there = |source: &NodeIndex| {
        let mut above = std::iter::successors(Some(*source), |node| before.parent(*node));
        let mut inside = above.by_ref().take_while(|node| Some(*node) != object);
        inside.all(|node| !before.version.structure.is_field(node) || before.is_required(node))
    };
    // Expressions and hooks may need all that they read; of the parts of a text or map one is enough.
    let needs_all = |with: &Conversion| matches!(with, Conversion::Expressions { .. } | Conversion::Hook(_));
    if with.iter().any(needs_all) { from.iter().all(is_there) } else { from.iter().any(is_there) }
}
