//! Compatibility of the versions of a kind: what documents, clients and readers of one version lose by another.
//!
//! Facts are found by comparing versions ([`diff`]), judged by one file a family of rules ([`check`]), and put into words
//! in one place ([`Incompatibility::message`], [`describe_loss`] and the like).

mod access;
mod candidates;
mod constraints;
mod converted;
mod defaults;
mod describe;
mod diff;
mod dropped;
mod example;
mod finding;
mod first_contact;
mod hidden;
mod hub;
mod keywords;
mod likeness;
mod limits;
mod lists;
mod locked;
mod moved;
mod older;
mod propose;
mod readings;
mod refusals;
mod refused;
mod removals;
mod sample;
mod side;
mod slots;
#[cfg(test)]
mod tests;

pub use access::{Access, AccessHarm, has_same_access};
pub use describe::{
    changes_text, describe_additions, describe_differences, describe_hidden, describe_lacking, describe_loss,
};
pub(crate) use diff::spelled;
pub use diff::{Change, Difference, Limit, Narrower, diff};
pub use finding::{Addition, Evidence, Example, Incompatibility, Likeness, What};
pub use first_contact::{Lacking, Loss, Lost, LostField, RoundTrip, lacking_in_old_records, lost_under_none};
pub use locked::{changed_beyond_lock, changed_since_lock};
pub(crate) use propose::lines_of;
pub use propose::{Became, Proposal, ProposedStep, proposals_text, propose};
pub use slots::every_id_has_one_slot;

use refusals::{Between, Refusals};
use sample::Samples;
use side::Schemas;

use crate::{Declaration, History, VersionName, kind::hub_of};

/// Everything that the versions of a kind do to each other. `locked_hub` is the version whose shape is stored, as the
/// lock says.
pub fn check(declaration: &Declaration, history: &History, locked_hub: Option<&VersionName>) -> Vec<Incompatibility> {
    check_between(declaration, history, locked_hub, Between::Versions)
}

/// The same of versions that nothing converts yet, as Kubernetes serves them with `strategy: None`.
pub fn check_unconverted(declaration: &Declaration, history: &History) -> Vec<Incompatibility> {
    check_between(declaration, history, None, Between::Unconverted)
}

/// What an edit does to a version: `declaration` has it before and after the edit, as two versions.
pub fn check_edited(declaration: &Declaration, history: &History) -> Vec<Incompatibility> {
    check_between(declaration, history, None, Between::Edits)
}

fn check_between(
    declaration: &Declaration,
    history: &History,
    locked_hub: Option<&VersionName>,
    between: Between,
) -> Vec<Incompatibility> {
    let schemas = Schemas::of(declaration, history);
    let sides = schemas.sides();
    let samples = Samples::of(history);
    let mut findings = Vec::new();
    for after in sides.iter().filter(|side| side.version.declared) {
        let Some(from) = after.version.from else { continue };
        let before = &sides[from.position()];
        let differences = diff::compare(before, after);
        let changed = keywords::changed(before, after);
        let is_found = |difference: &&Difference| match difference.nodes {
            // What clients may write or read refuses no document.
            _ if matches!(difference.change, Change::Access { .. }) => false,
            (old, Some(new)) => old.is_some() || after.is_required(new),
            _ => false,
        };
        let differing = differences.iter().filter(is_found).filter_map(|difference| difference.nodes.1);
        let targets = differing.chain(changed.iter().map(|changed| changed.nodes().1)).collect();
        let mut refusals = Refusals::new(history, (before, after), between, targets);
        findings.extend(removals::removals(before, after, &differences));
        findings.extend(constraints::constraints(history, (before, after), &differences, &samples, &mut refusals));
        findings.extend(keywords::refusing(before, after, &changed, &mut refusals));
        findings.extend(keywords::undeclared(before, after, &mut refusals));
        findings.extend(keywords::computed(before, after, &mut refusals));
        findings.extend(converted::converted(history, before, after, &differences, &mut refusals));
        findings.extend(dropped::required_elsewhere(history, &sides, after));
        findings.extend(dropped::unread_inputs(before, after));
        findings.extend(samples.drifts(before, after));
        findings.extend(samples.refusals(before, after));
        findings.extend(moved::moved(before, after, &findings, &mut refusals));
        findings.extend(defaults::changed_defaults(history, before, after, &differences));
        findings.extend(access::lost_access(before, after, between, &differences));
        findings.extend(lists::keys(before, after, &differences, &mut refusals));
        findings.extend(lists::unions(before, after, &differences, &mut refusals));
        if between != Between::Edits {
            findings.extend(older::refusing(history, (before, after), between, &differences));
        }
    }
    findings.extend(defaults::rejected_defaults(history, &sides));
    findings.extend(defaults::lost_zeros(history, &sides));
    findings.extend(locked_hub.and_then(|locked| hub::hub(declaration, history, locked)));
    let stored = hub_of(declaration, history, locked_hub);
    findings.extend(stored.into_iter().flat_map(|hub| every_id_has_one_slot(history, hub)));
    if between != Between::Edits {
        findings.extend(stored.into_iter().flat_map(|hub| hidden::hidden(history, hub, &sides)));
    }
    findings
}
