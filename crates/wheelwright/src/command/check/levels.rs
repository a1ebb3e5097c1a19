//! The levels of rules that catalogs set, for findings about their kinds and in their files.

use std::collections::HashMap;

use wheelwright_catalog::Gate;
use wheelwright_findings::{Finding, Level};

use super::versions::State;
use crate::subject::full_name;

/// The levels that catalogs set, by kind and by file.
pub(super) struct Levels<'s> {
    kinds: HashMap<String, &'s Gate>,
    files: HashMap<&'s str, &'s Gate>,
}

impl<'s> Levels<'s> {
    /// The levels of the kinds and files of some catalogs.
    pub(super) fn of(state: &'s State) -> Self {
        let kinds = state.each().map(|(_, kind)| (full_name(&kind.declaration), &kind.gate)).collect();
        let mut files = HashMap::new();
        for loaded in state.catalogs.iter().filter(|loaded| !loaded.is_bare) {
            let gate = loaded.catalog.gate();
            files.extend(loaded.catalog.inputs().map(|input| (&*input.name, gate)));
            let locks = state.locks.iter().filter(|lock| {
                let mut kinds = loaded.catalog.kinds().iter();
                kinds.any(|kind| kind.folder == lock.folder)
            });
            files.extend(locks.filter_map(|lock| Some((&*lock.input.as_ref()?.name, gate))));
        }
        Self { kinds, files }
    }

    /// The level that a catalog sets for a finding, if it does: none if its rule is off. The kind wins over the catalog.
    pub(super) fn level(&self, finding: &Finding) -> Option<Option<Level>> {
        let of_kind = finding.kind.as_ref().and_then(|kind| self.kinds.get(kind));
        let of_file = || self.files.get(&*finding.place.as_ref()?.file);
        of_kind.or_else(of_file)?.rule(finding.rule)
    }
}
