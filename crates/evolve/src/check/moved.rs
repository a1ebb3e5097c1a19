//! Fields that become a part of another object, or of another value: an object that requires more than it gets, or whose
//! rules refuse it, makes documents of the version before invalid.

use std::collections::HashMap;

use wheelwright_findings::Level;

use super::{Incompatibility, What, refusals::Refusals, side::Side};
use crate::{Located, NodeIndex, Selector};

/// Fields of one object that are tried.
const TRIED: usize = 3;

/// Objects and values of `after` that refuse what fields of `before` make of them; `found` is what is known already.
pub(crate) fn moved(
    before: &Side<'_>,
    after: &Side<'_>,
    found: &[Incompatibility],
    refusals: &mut Refusals<'_>,
) -> Vec<Incompatibility> {
    let mut receivers: HashMap<NodeIndex, Vec<NodeIndex>> = HashMap::new();
    for (old, new) in moves(before, after) {
        let is_shared = |node: &NodeIndex| {
            let counterpart = before.version.counterpart(after.version, *node);
            let mut above = std::iter::successors(before.parent(old), |node| before.parent(*node));
            counterpart.is_some_and(|counterpart| above.any(|above| above == counterpart))
        };
        let receiving =
            std::iter::successors(Some(new), |node| after.parent(*node)).take_while(|node| !is_shared(node));
        // A field with its own counterpart is compared elsewhere; one that is converted is made anew.
        let is_itself = |node: &NodeIndex| before.version.counterpart(after.version, *node) == Some(old);
        for object in receiving.filter(|node| !is_itself(node)) {
            receivers.entry(object).or_default().push(old);
        }
    }
    let mut receivers: Vec<(NodeIndex, Vec<NodeIndex>)> = receivers.into_iter().collect();
    receivers.sort();
    let is_known = |node: NodeIndex| {
        let field = after.version.structure.selector(node);
        // A warning is about values that may be such as nobody has; a note is about empty ones, which is enough for these.
        let is_judged = |known: &Incompatibility| known.in_stable.unwrap_or(known.level) != Level::Warning;
        let is_shown = |known: &&Incompatibility| {
            known.is_proven() || matches!(known.what, What::Refused { .. }) && is_judged(known)
        };
        found.iter().filter(is_shown).any(|known| known.field == field && known.version == after.version.name)
    };
    let open = receivers.into_iter().filter(|(object, _)| !is_known(*object));
    let finding = |(object, fields): (NodeIndex, Vec<NodeIndex>)| {
        let (old, example) =
            fields.into_iter().take(TRIED).find_map(|old| Some((old, refusals.received(old, object)?)))?;
        let what = What::PartRefused { from: before.version.structure.selector(old) };
        let field = after.version.structure.selector(object);
        let found = Incompatibility::new(&after.version.name, Some(&before.version.name), field, what);
        Some(found.at(after.place(object, ""), before.place(old, "")).proven_by(Some(example)))
    };
    open.filter_map(finding).collect()
}

/// Fields of `before` and what they are in `after`, where that is in another object or is converted.
fn moves(before: &Side<'_>, after: &Side<'_>) -> Vec<(NodeIndex, NodeIndex)> {
    let fields = after.version.structure.fields();
    let renamed = fields.filter_map(|new| {
        let old = before.version.counterpart(after.version, new)?;
        let parent = before.version.counterpart(after.version, after.parent(new)?);
        (parent != before.parent(old)).then_some((old, new))
    });
    let converted = after.version.respelled.iter().flat_map(|respelled| {
        let nodes = |side: &Side<'_>, paths: &[Located<Selector>]| -> Vec<NodeIndex> {
            paths.iter().filter_map(|path| side.version.structure.find_field(&path.item)).collect()
        };
        let (from, to) = (nodes(before, &respelled.from), nodes(after, &respelled.to));
        from.into_iter().flat_map(move |old| to.clone().into_iter().map(move |new| (old, new)))
    });
    renamed.chain(converted).collect()
}
