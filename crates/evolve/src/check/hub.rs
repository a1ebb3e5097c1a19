//! Hubs that move: documents are stored in a shape that every running release has to know.

use super::{Incompatibility, What};
use crate::{Declaration, History, Selector, VersionName};

/// Whether the version whose shape is stored is the one that is wanted.
pub(crate) fn hub(declaration: &Declaration, history: &History, locked: &VersionName) -> Option<Incompatibility> {
    let pinned = declaration.hub.as_ref().map(|hub| &hub.item);
    let natural = history.natural_hub().map(|hub| &history.version(hub).name);
    let wanted = pinned.or(natural).filter(|wanted| *wanted != locked)?;
    let what = What::HubMoves { locked: locked.clone(), pinned: pinned.is_some() };
    let mut finding = Incompatibility::new(wanted, Some(locked), Selector::root(), what);
    finding.level = if pinned.is_some() { finding.rule().level } else { wheelwright_findings::Level::Note };
    Some(finding)
}
