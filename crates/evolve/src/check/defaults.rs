//! Defaults that change, that a later version rejects, or that a reader fills in over a value that was merely left out.

use std::collections::HashMap;

use wheelwright_document::Owned;
use wheelwright_findings::Level;

use super::{
    Addition, Change, Difference, Example, Incompatibility, What,
    constraints::MOST_EXAMPLES,
    example::{Wanted, document, number, string},
    first_contact::object_that_may_lack,
    side::Side,
};
use crate::{FieldId, History, NodeIndex, Scalar, Shape, VersionName, Writers, omitempty::is_unnamed};

/// Defaults that came to a field, left it or are others now.
pub(crate) fn changed_defaults(
    history: &History,
    before: &Side<'_>,
    after: &Side<'_>,
    differences: &[Difference],
) -> Vec<Incompatibility> {
    let changed = differences.iter().filter_map(|difference| match (&difference.change, difference.nodes) {
        (Change::Default { before: old, after: new }, (Some(was), Some(is))) => Some((difference, old, new, was, is)),
        _ => None,
    });
    changed
        .filter_map(|(difference, old, new, was, is)| {
            let frozen = after.version.id(is).and_then(|id| history.field(id).frozen.clone());
            let stays = before.parent(was).and_then(|parent| after.version.counterpart(before.version, parent));
            let within = object_that_may_lack(history, after, is).filter(|_| stays != after.parent(is));
            let what = What::DefaultChanged { before: old.clone(), after: new.clone(), frozen, within };
            let field = difference.after.clone()?;
            let mut finding =
                Incompatibility::new(&after.version.name, Some(&before.version.name), field.clone(), what)
                    .at(after.place_of_default(is), before.place_of_default(was));
            let repeated = old.as_ref().filter(|value| {
                new.is_none()
                    && is_spelled_alike((before, was), (after, is))
                    && after.refusal_of_value(is, value).is_none()
            });
            if let Some(value) = repeated {
                finding = finding.add(Addition::Default(field, value.clone()));
            }
            if finding.is_filled_alike() {
                finding.level = Level::Note;
            }
            Some(finding)
        })
        .collect()
}

/// Defaults that readers fill in for good, and that other versions than the first do not accept.
pub(crate) fn rejected_defaults(history: &History, sides: &[Side<'_>]) -> Vec<Incompatibility> {
    let frozen = history.ids().filter_map(|id| Some((id, history.field(id).frozen.as_ref()?)));
    let mut findings: Vec<(NodeIndex, &Side<'_>, Incompatibility)> =
        frozen.flat_map(|(id, value)| rejections(history, sides, id, value)).collect();
    for (node, side, finding) in findings.iter_mut().take(MOST_EXAMPLES) {
        if let What::DefaultRejected { value, reason } = &finding.what {
            let document = document(side, &HashMap::from([(*node, Wanted::Is(value.clone()))]));
            finding.example = document.map(|document| Example {
                version: side.version.name.clone(),
                refusal: side.refusal_at(*node, &document).or_else(|| Some(reason.clone())),
                document,
            });
        }
    }
    findings.into_iter().map(|(_, _, finding)| finding).collect()
}

fn rejections<'s>(
    history: &History,
    sides: &'s [Side<'s>],
    id: FieldId,
    value: &Owned,
) -> Vec<(NodeIndex, &'s Side<'s>, Incompatibility)> {
    let first = &sides[history.field(id).first.position()];
    let Some(origin) = first.version.node_of(id) else { return Vec::new() };
    if first.refusal_of_value(origin, value).is_some() {
        // That is wrong in the schema itself, and said where schemas are checked.
        return Vec::new();
    }
    let others = sides.iter().filter(|side| side.version.name != first.version.name);
    others
        .filter_map(|side| {
            let node = side.version.node_of(id).filter(|node| is_spelled_alike((first, origin), (side, *node)))?;
            let reason = side.refusal_of_value(node, value)?;
            let what = What::DefaultRejected { value: value.clone(), reason };
            let field = side.version.structure.selector(node);
            let finding = Incompatibility::new(&side.version.name, Some(&first.version.name), field, what)
                .at(side.place(node, ""), first.place_of_default(origin));
            Some((node, side, finding))
        })
        .collect()
}

/// Whether nothing below a field has another name in another version.
fn is_spelled_alike((a, at): (&Side<'_>, NodeIndex), (b, bt): (&Side<'_>, NodeIndex)) -> bool {
    a.version.structure.node(at).children.iter().all(|child| match b.version.counterpart(a.version, *child) {
        None => true,
        Some(counterpart) => {
            let same_step = a.version.structure.node(*child).step == b.version.structure.node(counterpart).step;
            b.parent(counterpart) == Some(bt) && same_step && is_spelled_alike((a, *child), (b, counterpart))
        }
    })
}

/// Fields that writers leave out when they are zero although readers fill in something else.
pub(crate) fn lost_zeros(history: &History, sides: &[Side<'_>]) -> Vec<Incompatibility> {
    let careless = sides.iter().filter(|side| side.version.writers == Writers::Omitempty);
    careless
        .flat_map(|side| side.version.structure.fields().filter_map(|node| lost_zero(history, sides, side, node)))
        .collect()
}

fn lost_zero(history: &History, sides: &[Side<'_>], side: &Side<'_>, node: NodeIndex) -> Option<Incompatibility> {
    let id = side.version.id(node)?;
    let frozen = history.field(id).frozen.clone()?;
    let zero = match side.version.structure.node(node).shape {
        Shape::Scalar(Scalar::Boolean) => Owned::Bool(false),
        Shape::Scalar(Scalar::Integer | Scalar::Number) => number(0),
        Shape::Scalar(Scalar::String) => string(""),
        _ => return None,
    };
    let is_unnamed = side.schema(node).is_some_and(|schema| is_unnamed(schema, |value| *value == zero));
    if frozen == zero || is_unnamed || side.refusal_of_value(node, &zero).is_some() {
        return None;
    }
    let lacks = |other: &&Side<'_>| other.version.node_of(id).is_none();
    let lacking: Vec<VersionName> = sides.iter().filter(lacks).map(|other| other.version.name.clone()).collect();
    let field = side.version.structure.selector(node);
    let what = What::ZeroLost { zero, frozen, lacking };
    Some(
        Incompatibility::new(&side.version.name, None, field, what).at(side.place(node, "default"), Default::default()),
    )
}
