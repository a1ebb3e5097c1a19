//! Versions and kinds that were published, and are not any more.

use wheelwright_catalog::Kind;
use wheelwright_document::FieldPath;
use wheelwright_evolve::{History, LockedKind, Maturity, VersionName};
use wheelwright_findings::{Finding, Level, Place, rules};

use super::versions::{Before, State};
use crate::{
    locks::LockFile,
    subject::{Subject, full_name},
};

/// The versions of a kind that its lock remembers, and that are not declared any more.
pub(super) fn since_lock(subject: &Subject<'_>, history: &History) -> Vec<Finding> {
    let gone =
        history.versions.iter().filter(|version| !version.declared && !is_succeeded(subject.kind, &version.name));
    let place = subject.catalog.place(subject.kind.named);
    gone.map(|version| version_finding(subject.kind, &version.name, "is locked, and is gone", true, place.clone()))
        .collect()
}

/// The kinds that a lock remembers, and that its catalog does not declare any more. Their documents stay readable.
pub(super) fn kinds_since_lock(state: &State, lock: &LockFile) -> Vec<Finding> {
    let is_whole = |kind: &Kind| kind.folder == lock.folder;
    let mut whole = state.catalogs.iter().filter(|loaded| !loaded.is_bare && loaded.named.is_none());
    let Some(loaded) = whole.find(|loaded| loaded.catalog.kinds().iter().any(is_whole)) else { return Vec::new() };
    // Something that cannot be read is not gone.
    if loaded.catalog.findings().iter().any(|finding| finding.level == Level::Error) {
        return Vec::new();
    }
    let is_there = |locked: &LockedKind| {
        let mut there = state.each().filter_map(|(_, kind)| lock.lock.locked(&kind.declaration));
        there.any(|there| there.name() == locked.name())
    };
    let gone = lock.lock.kinds().iter().filter(|locked| !is_there(locked));
    let place = loaded.catalog.kinds().first().and_then(|kind| loaded.catalog.place(kind.named));
    let what = format!("is in {}, and is gone: its documents can be read, and its schemas are not known", lock.name());
    let finding = |locked: &LockedKind| {
        kind_finding(&locked.name().to_string(), &what, false, place.clone()).lowered_to(Level::Note)
    };
    gone.map(finding).collect()
}

/// The versions that were published at a revision, and are not any more.
pub(super) fn versions_since(before: &Before, now: &State) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (loaded, kind) in now.each() {
        let Some((loaded_then, then)) = before.kinds.find(&kind.declaration) else {
            continue;
        };
        // What the lock remembers is found without a revision.
        let is_locked = |name: &VersionName| {
            now.locks.locked(kind).is_some_and(|locked| locked.history().find(name.as_str()).is_some())
        };
        for version in then.declaration.versions.iter().filter(|version| !is_succeeded(kind, &version.name)) {
            let (what, span) = match kind.declaration.version(version.name.as_str()) {
                Some(now) if version.served && !now.served => ("is not served any more, and was", now.span),
                None if !is_locked(&version.name) => ("is gone, and was there", kind.named),
                _ => continue,
            };
            let what = format!("{what} at {}", before.revision);
            let finding = version_finding(kind, &version.name, &what, version.served, loaded.catalog.place(span));
            findings.push(match loaded_then.catalog.place(version.span) {
                Some(there) => finding.with_related(format!("at {}", before.revision), there),
                None => finding,
            });
        }
    }
    findings
}

/// The kinds that were published at a revision, and are not any more, where they were.
pub(super) fn kinds_since(before: &Before, now: &[&State]) -> Vec<Finding> {
    let is_gone = |kind: &Kind| now.iter().all(|state| state.find(&kind.declaration).is_none());
    let gone = before.kinds.each().filter(|(_, kind)| is_gone(kind));
    let finding = |(loaded, kind): (&super::versions::Loaded, &Kind)| {
        let mut versions = kind.declaration.versions.iter();
        let is_relied_on = versions.any(|version| version.served && version.name.maturity() == Maturity::Stable);
        let what = format!("is gone, and was there at {}", before.revision);
        kind_finding(&full_name(&kind.declaration), &what, is_relied_on, loaded.catalog.place(kind.span))
    };
    gone.map(finding).collect()
}

/// Whether the catalog says that a version is gone on purpose.
fn is_succeeded(kind: &Kind, version: &VersionName) -> bool {
    kind.declaration.successors.iter().any(|(gone, _)| gone == version)
}

fn version_finding(kind: &Kind, version: &VersionName, what: &str, served: bool, place: Option<Place>) -> Finding {
    let name = full_name(&kind.declaration);
    let newest = kind.declaration.versions.last().map_or("v2", |version| version.name.as_str());
    let mend = format!(
        "put it back; once nobody uses it any more, say in the catalog who speaks for it: `successors: {{{version}: {newest}}}`"
    );
    let mut finding = Finding::new(&rules::VERSION_GONE, format!("{version} of {name} {what}"), FieldPath::root())
        .with_mend(mend)
        .with_identity(format!("{name} {version}"));
    finding.place = place;
    finding.level = match served {
        true => kind.gate.level_of(finding.rule, version.maturity()),
        false => Level::Warning,
    };
    finding
}

fn kind_finding(name: &str, what: &str, is_relied_on: bool, place: Option<Place>) -> Finding {
    let mut finding =
        Finding::new(&rules::KIND_GONE, format!("the kind {name} {what}"), FieldPath::root()).with_identity(name);
    finding.place = place;
    if is_relied_on { finding } else { finding.lowered_to(Level::Warning) }
}
