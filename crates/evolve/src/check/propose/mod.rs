//! What probably happened on the steps between the versions of a kind, for somebody to accept.
//!
//! Renames are found first and taken for granted, so that what is inside of renamed objects is compared, too. Of what is
//! left, pairs of another shape are conversions (`respelled.rs` finds pairs, and `spelling.rs` says how one becomes the other),
//! and the rest is probably gone.

mod folds;
mod respelled;
mod spelling;
mod text;
pub(crate) mod units;

use std::collections::HashSet;

pub(crate) use folds::Fold;
pub(crate) use respelled::Pair;
pub(crate) use text::lines_of;
pub use text::proposals_text;

use super::{
    Change, Difference, Likeness,
    diff::compare,
    likeness::{Candidate, Computed, probable_renames},
    readings::{Reading, Readings},
    removals::unassessed,
    side::{Schemas, Side},
};
use crate::{Conversion, Declaration, History, Located, NodeIndex, Renamed, Selector, VersionName, VersionStep};

/// What probably happened on the step into a version.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ProposedStep {
    /// The version that was stepped into.
    pub version: VersionName,
    /// The version before.
    pub from: VersionName,
    /// All of it, each field in one proposal at most, so that all of them can be accepted together.
    pub proposals: Vec<Proposal>,
}

/// A change that nobody has declared.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Proposal {
    /// The field in the version before.
    pub from: Selector,
    /// What became of it.
    pub became: Became,
    /// Little speaks against it; else it is merely possible.
    pub is_likely: bool,
    /// Why it is proposed, as a lower-case fragment.
    pub because: String,
    /// What else may have become of the field, as a lower-case fragment; none where nothing else comes to mind.
    pub otherwise: Option<String>,
}

/// What became of a field.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Became {
    /// The same field has another path.
    Renamed(Selector),
    /// The same fact has another spelling, at this path.
    Respelled(Selector, Conversion),
    /// It is gone. Its value is kept, and clients of the later version do not see it.
    Removed,
    /// Not known: a removal would leave clients of the earlier version without a field that it requires.
    Open,
}

/// Objects that were renamed have fields that were renamed, and so on; deeper than this is not looked.
const MOST_ROUNDS: usize = 8;

/// What probably happened on every step of a kind, but for what its changes say already.
pub fn propose(declaration: &Declaration, locked: Option<&History>) -> Vec<ProposedStep> {
    let mut accepted = declaration.clone();
    let mut steps: Vec<ProposedStep> = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let found = renames(&accepted, locked);
        if found.is_empty() {
            break;
        }
        for (version, from, proposal) in found {
            accept(&mut accepted, &version, &proposal);
            step_into(&mut steps, version, from).proposals.push(proposal);
        }
    }
    let (history, _) = History::derive(&accepted, locked);
    for_each_step(&accepted, &history, |before, after| {
        let own = steps.iter().filter(|step| step.version == after.version.name).flat_map(|step| &step.proposals);
        let doubtful: Vec<Selector> = own
            .filter(|proposal| !proposal.is_likely)
            .filter_map(|proposal| match &proposal.became {
                Became::Renamed(to) => Some(to.clone()),
                _ => None,
            })
            .collect();
        let proposals = what_is_left(before, after, &doubtful);
        if !proposals.is_empty() {
            let names = (after.version.name.clone(), before.version.name.clone());
            step_into(&mut steps, names.0, names.1).proposals.extend(proposals);
        }
    });
    let position = |name: &VersionName| history.find(name.as_str());
    steps.sort_by_key(|step| position(&step.version));
    steps.iter_mut().for_each(|step| step.proposals.sort_by(|a, b| a.from.cmp(&b.from)));
    steps
}

fn for_each_step(declaration: &Declaration, history: &History, mut work: impl FnMut(&Side<'_>, &Side<'_>)) {
    let schemas = Schemas::of(declaration, history);
    let sides = schemas.sides();
    for after in sides.iter().filter(|side| side.version.declared) {
        if let Some(from) = after.version.from {
            work(&sides[from.position()], after);
        }
    }
}

fn step_into(steps: &mut Vec<ProposedStep>, version: VersionName, from: VersionName) -> &mut ProposedStep {
    let position = steps.iter().position(|step| step.version == version).unwrap_or_else(|| {
        steps.push(ProposedStep { version, from, proposals: Vec::new() });
        steps.len() - 1
    });
    &mut steps[position]
}

fn renames(declaration: &Declaration, locked: Option<&History>) -> Vec<(VersionName, VersionName, Proposal)> {
    let (history, _) = History::derive(declaration, locked);
    let mut found = Vec::new();
    for_each_step(declaration, &history, |before, after| {
        let differences = compare(before, after);
        let gone = unassessed(before, after, &differences).into_iter();
        let removed = gone.filter(|(_, difference)| matches!(difference.change, Change::Removed { .. }));
        let tops = removed.map(|(node, _)| node).collect();
        let computed = Computed::of(before, after, &differences);
        for Candidate { gone, came, likeness } in probable_renames(before, after, tops, &computed) {
            let (from, to) = (before.version.structure.selector(gone), after.version.structure.selector(came));
            let proposal = rename(&from, &to, &likeness);
            found.push((after.version.name.clone(), before.version.name.clone(), proposal));
        }
    });
    found
}

/// Declares a rename.
fn accept(declaration: &mut Declaration, version: &VersionName, proposal: &Proposal) {
    let Became::Renamed(to) = &proposal.became else { return };
    let [from, to] = [&proposal.from, to].map(|item| Located { item: item.clone(), span: Default::default() });
    let position = declaration.steps.iter().position(|step| step.version.item == *version).unwrap_or_else(|| {
        let version = Located { item: version.clone(), span: Default::default() };
        declaration.steps.push(VersionStep::new(version));
        declaration.steps.len() - 1
    });
    declaration.steps[position].renamed.push(Renamed { from, to });
}

/// Conversions between fields that went and fields that came.
pub(crate) fn conversions(before: &Side<'_>, after: &Side<'_>, gone: &[(NodeIndex, &Difference)]) -> Vec<Pair> {
    let mut found = respelled::at_the_same_place(before, after, gone);
    found.extend(respelled::elsewhere(before, after, gone, &found));
    respelled::apart(before, after, found)
}

/// The proposal that a field is renamed; with the other reading, where it is merely possible.
pub(crate) fn rename(from: &Selector, to: &Selector, likeness: &Likeness) -> Proposal {
    Proposal {
        from: from.clone(),
        became: Became::Renamed(to.clone()),
        is_likely: likeness.is_likely(),
        because: likeness.reason(),
        otherwise: (!likeness.is_likely()).then(|| otherwise_removed(from)),
    }
}

/// The other reading of a pair that is merely possible.
fn otherwise_removed(from: &Selector) -> String {
    format!("removed, if the fields have nothing to do with each other: `removed: [{}]`", text::path(from))
}

/// Conversions between fields that disappeared and fields that appeared, and what is probably removed.
/// `doubtful` are new fields that are possibly renamed ones.
fn what_is_left(before: &Side<'_>, after: &Side<'_>, doubtful: &[Selector]) -> Vec<Proposal> {
    let differences = compare(before, after);
    let gone = unassessed(before, after, &differences);
    let found = conversions(before, after, &gone);
    let settled: HashSet<NodeIndex> = found.iter().map(|pair| pair.gone).collect();
    let explained: HashSet<NodeIndex> = found.iter().map(|pair| pair.came).collect();
    let computed = Computed::of(before, after, &differences);
    let mut readings = Readings::new(before, after, &computed, &explained);
    doubtful.iter().filter_map(|field| after.version.structure.find(field)).for_each(|node| readings.doubt(node));
    let mut proposals: Vec<Proposal> = found.into_iter().map(|pair| pair.proposal).collect();
    for (node, difference) in gone.into_iter().filter(|(node, _)| !settled.contains(node)) {
        for part in readings.parts(node, &settled) {
            proposals.push(removal(before, after, part, difference, (&readings, &settled)));
        }
    }
    proposals
}

/// The proposal that a field is removed; an open question where the earlier version requires it.
pub(crate) fn removal(
    before: &Side<'_>,
    after: &Side<'_>,
    gone: NodeIndex,
    difference: &Difference,
    (readings, settled): (&Readings<'_>, &HashSet<NodeIndex>),
) -> Proposal {
    let (old, new) = (&before.version.name, &after.version.name);
    let from = before.version.structure.selector(gone);
    let others = readings.of(gone);
    let what = match &difference.change {
        Change::Replaced { before: was, after: is } => format!("{was} in {old}, {is} in {new}: two fields of one name"),
        _ if others.is_empty() => format!("{new} has nothing like it"),
        _ => format!("{new} has no field of its name and place"),
    };
    let is_replaced = matches!(difference.change, Change::Replaced { .. });
    let otherwise = otherwise_elsewhere((before, after), (gone, &from), &others);
    if readings.hides_required(gone, settled) {
        return Proposal {
            because: format!("{old} requires it, and {what}"),
            otherwise: Some(match otherwise {
                Some(otherwise) => otherwise,
                None => format!("removed, with a value for {old} clients below `derived: {{down: …}}`"),
            }),
            from,
            became: Became::Open,
            is_likely: false,
        };
    }
    let because = format!("{what}; kept, but {new} clients will not see it");
    Proposal { from, became: Became::Removed, is_likely: !is_replaced && others.is_empty(), because, otherwise }
}

/// Where else the value of a field may be.
fn otherwise_elsewhere(
    (before, after): (&Side<'_>, &Side<'_>),
    (gone, from): (NodeIndex, &Selector),
    readings: &[Reading],
) -> Option<String> {
    let (old, new) = (&before.version.name, &after.version.name);
    let path = |node: NodeIndex| after.version.structure.selector(node);
    let renamed = readings.iter().filter_map(|reading| match reading {
        Reading::Renamed(to) => {
            Some(format!("renamed: `renamed: {{{}: {}}}`", text::path(from), text::path(&path(*to))))
        }
        _ => None,
    });
    let existing = readings.iter().filter_map(|reading| match reading {
        Reading::Existing(to) => {
            let fold = Fold::between(before, after, gone, *to).and_then(|fold| fold.line(before, after, from));
            let line = fold.map_or_else(String::new, |line| format!(": `{line}`"));
            Some(format!("folded into {}, which {old} has, too{line}", path(*to)))
        }
        _ => None,
    });
    let beside: Vec<String> = readings
        .iter()
        .filter_map(|reading| match reading {
            Reading::Beside(to) => Some(path(*to).to_string()),
            _ => None,
        })
        .collect();
    let beside = (!beside.is_empty())
        .then(|| format!("carried on by {}, new in {new}: `converted` or `reshaped`", beside.join(" or ")));
    let all: Vec<String> = existing.chain(renamed).chain(beside).collect();
    (!all.is_empty()).then(|| all.join("; or "))
}

#[cfg(test)]
mod tests;
