//! Documents of a version that the version before refuses: how an API grows, and what clients of the older version meet.

use std::collections::HashSet;

use super::{
    Change, Difference, Incompatibility, What, keywords,
    refusals::{Between, Refusals},
    side::Side,
};
use crate::{History, NodeIndex};

/// Fields that are searched for documents.
const SEARCHED: usize = 48;

/// One finding for all fields that the version before refuses values of.
pub(crate) fn refusing(
    history: &History,
    (before, after): (&Side<'_>, &Side<'_>),
    between: Between,
    differences: &[Difference],
) -> Option<Incompatibility> {
    let is_validated = |difference: &&Difference| !matches!(difference.change, Change::Access { .. });
    let differing = differences
        .iter()
        .filter(is_validated)
        .filter_map(|difference| Some((difference.nodes.0?, difference.nodes.1?)));
    let is_pair = |pair: &(NodeIndex, NodeIndex)| before.version.counterpart(after.version, pair.1) == Some(pair.0);
    let mut pairs: Vec<(NodeIndex, NodeIndex)> = differing.filter(is_pair).collect();
    // The keywords that the later version has loosened.
    let loosened = keywords::changed(after, before).into_iter().map(|changed| changed.nodes());
    pairs.extend(loosened.map(|(new, old)| (old, new)));
    let mut seen = HashSet::new();
    pairs.retain(|pair| seen.insert(*pair));
    let targets = pairs.iter().map(|(old, _)| *old).collect();
    let mut refusals = Refusals::new(history, (after, before), between, targets);
    let mut fields = Vec::new();
    let mut first = None;
    for (old, new) in pairs.into_iter().take(SEARCHED) {
        if let Some(example) = refusals.find((Some(new), old), &[]) {
            fields.push(after.version.structure.selector(new));
            first.get_or_insert((old, new, example));
        }
    }
    let (old, new, example) = first?;
    let field = fields.first()?.clone();
    let what = What::OlderRefuses { fields };
    let found = Incompatibility::new(&after.version.name, Some(&before.version.name), field, what)
        .at(after.place(new, ""), before.place(old, ""));
    Some(found.proven_by(Some(example)))
}
