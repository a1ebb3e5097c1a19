//! Fields that are gone without a word, and those that are probably there under another name.

use std::collections::{HashMap, HashSet};

use wheelwright_findings::Level;

use super::{
    Addition, Change, Difference, Incompatibility, Likeness, Proposal, What,
    likeness::{Candidate, Computed, probable_renames},
    propose::{self, conversions},
    readings::Readings,
    side::Side,
};
use crate::{NodeIndex, Selector, Shape};

/// What is gone from one version to the next, and not assessed.
pub(crate) fn removals(before: &Side<'_>, after: &Side<'_>, differences: &[Difference]) -> Vec<Incompatibility> {
    let gone = unassessed(before, after, differences);
    let removed = gone.iter().filter(|(_, difference)| matches!(difference.change, Change::Removed { .. }));
    let tops = removed.map(|(node, _)| *node).collect();
    let computed = Computed::of(before, after, differences);
    let renames = probable_renames(before, after, tops, &computed);
    let mut findings = Vec::new();
    for Candidate { gone, came, likeness } in &renames {
        findings.push(rename(before, after, *gone, *came, likeness));
    }
    let offered: HashSet<NodeIndex> = renames.iter().map(|candidate| candidate.gone).collect();
    let is_open = |node: NodeIndex| !offered.contains(&node) && !is_emptied(before, after, node, &computed);
    let open: Vec<(NodeIndex, &Difference)> = gone.into_iter().filter(|(node, _)| is_open(*node)).collect();
    let pairs = conversions(before, after, &open);
    let explained = renames.iter().map(|candidate| candidate.came).chain(pairs.iter().map(|pair| pair.came)).collect();
    let mut readings = Readings::new(before, after, &computed, &explained);
    let doubtful = renames.iter().filter(|candidate| !candidate.likeness.is_likely());
    doubtful.for_each(|candidate| readings.doubt(candidate.came));
    let mut conversions: HashMap<NodeIndex, Proposal> =
        pairs.into_iter().map(|pair| (pair.gone, pair.proposal)).collect();
    for (node, difference) in open {
        let found = removal(before, after, node, difference, differences);
        // A likely removal is the line to add; what is merely possible is proposed with its other readings.
        let removed = || propose::removal(before, after, node, difference, (&readings, &offered));
        let proposal = conversions.remove(&node).or_else(|| Some(removed()).filter(|removed| !removed.is_likely));
        findings.push(Incompatibility { proposal, ..found });
    }
    findings.sort_by(|a, b| a.field.cmp(&b.field));
    findings
}

/// The fields that are gone, or replaced by others of the same path, with no change that says why.
pub(crate) fn unassessed<'d>(
    before: &Side<'_>,
    after: &Side<'_>,
    differences: &'d [Difference],
) -> Vec<(NodeIndex, &'d Difference)> {
    let assessed = assessed(after);
    let is_assessed = |field: &Selector| {
        (1..=field.steps().len())
            .any(|length| assessed.contains(&Selector::from_steps(field.steps()[..length].to_vec())))
    };
    let is_new = |difference: &Difference| {
        let mut new = after.step.iter().flat_map(|step| &step.new);
        new.any(|new| Some(&new.item) == difference.after.as_ref())
    };
    differences
        .iter()
        .filter(|difference| matches!(difference.change, Change::Removed { .. } | Change::Replaced { .. }))
        .filter(|difference| difference.before.as_ref().is_some_and(|field| !is_assessed(field)) && !is_new(difference))
        .filter_map(|difference| Some((difference.nodes.0?, difference)))
        // Whoever says how the version before derives a field knows that it is gone.
        .filter(|(node, _)| before.derivation_from(after, *node).is_none())
        .collect()
}

/// The fields that are said to be gone.
fn assessed<'s>(after: &'s Side<'_>) -> HashSet<&'s Selector> {
    after.step.iter().flat_map(|step| &step.removed).map(|removed| &removed.item).collect()
}

/// Whether changes say of everything in an object what became of it, so that they say of the object, too: there is nothing
/// left to hold.
fn is_emptied(before: &Side<'_>, after: &Side<'_>, object: NodeIndex, computed: &Computed) -> bool {
    let structure = &before.version.structure;
    let assessed = assessed(after);
    let mut ahead = vec![object];
    while let Some(object) = ahead.pop() {
        let node = structure.node(object);
        if node.shape != Shape::Object || node.keeps_unknown || node.children.is_empty() {
            return false;
        }
        let is_open = |field: &NodeIndex| {
            after.version.counterpart(before.version, *field).is_none()
                && !computed.before.contains(field)
                && !assessed.contains(&structure.selector(*field))
        };
        ahead.extend(node.children.iter().copied().filter(is_open));
    }
    true
}

fn rename(
    before: &Side<'_>,
    after: &Side<'_>,
    gone: NodeIndex,
    came: NodeIndex,
    likeness: &Likeness,
) -> Incompatibility {
    let (from, to) = (before.version.structure.selector(gone), after.version.structure.selector(came));
    let what = What::ProbablyRenamed { to: to.clone(), likeness: likeness.clone() };
    let proposal = (!likeness.is_likely()).then(|| propose::rename(&from, &to, likeness));
    let found = Incompatibility::new(&after.version.name, Some(&before.version.name), from.clone(), what)
        .at(after.place(came, ""), before.place(gone, ""))
        .add(Addition::Renamed { from, to });
    Incompatibility { proposal, ..found }
}

fn removal(
    before: &Side<'_>,
    after: &Side<'_>,
    gone: NodeIndex,
    difference: &Difference,
    differences: &[Difference],
) -> Incompatibility {
    let field = before.version.structure.selector(gone);
    // What is locked stays two fields, whatever is said about them: there is nothing left to decide.
    let is_settled = matches!(difference.change, Change::Removed { .. })
        && after.version.continues_lock()
        && before.version.id(gone).is_some_and(|id| before.version.is_locked_with(id));
    let taken_by = differences.iter().find_map(|other| match &other.change {
        Change::Converted { before, after, .. } if after.contains(&field) => Some(before.clone()),
        _ => None,
    });
    let renamed = after.step.iter().flat_map(|step| &step.renamed).find(|renamed| renamed.to.item == field);
    let what = match (taken_by, &difference.change) {
        (Some(from), _) => What::SpellingTaken { from },
        (None, _) if let Some(renamed) = renamed => What::NameTaken { from: renamed.from.item.clone() },
        (None, Change::Replaced { before, after }) => What::Replaced { before: before.clone(), after: after.clone() },
        (None, _) => What::Removed { shape: before.shape_name(gone) },
    };
    let parent = || before.parent(gone).and_then(|parent| after.version.counterpart(before.version, parent));
    let taken = after
        .version
        .structure
        .find(&field)
        .filter(|_| matches!(what, What::SpellingTaken { .. } | What::NameTaken { .. }));
    let span = match difference.nodes.1.or(taken) {
        Some(replacement) => after.place(replacement, "type"),
        None => parent().map_or_else(Default::default, |parent| after.place(parent, "properties")),
    };
    let found = Incompatibility::new(&after.version.name, Some(&before.version.name), field.clone(), what)
        .at(span, before.place(gone, "type"))
        .add(Addition::Removed(field));
    let level = if is_settled { Level::Note } else { found.level };
    Incompatibility { level, ..found }
}
