//! `lock`: what is declared is written down for good, so that no later edit can change what stored documents mean.

use std::{io, path::PathBuf};

use wheelwright_catalog::{Catalog, Kind, OnDisk, write_lock};
use wheelwright_evolve::{HubMove, Lock, VersionName, check::check};
use wheelwright_findings::{Finding, rules};

use crate::{
    Console, Exit, Input,
    locks::{LockFile, Locks, changed_lines},
    report::{say_errors, write_to_reader},
    subject::{Subject, chosen, full_name},
};

/// What is locked, and whether it is written.
#[derive(Clone, Debug, Default)]
pub struct LockOptions {
    /// The version whose shape is to be stored from now on.
    pub hub: Option<String>,
    /// The kind whose hub moves, if there are several.
    pub kind: Option<String>,
    /// Nothing is written; it is only said whether there is something to write.
    pub check: bool,
}

/// Grows the locks beside catalogs, definitions or documents at some paths, and writes the lines that came as data. What
/// is locked never changes, and a lock that lacks nothing is not written.
///
/// Ends with findings if something contradicts what is locked, if a stable version that is to be locked left open what
/// became of a field, and with `check` if something is not locked.
///
/// # Errors
/// The console cannot be written to.
pub fn lock(paths: &[PathBuf], options: &LockOptions, console: &mut Console<'_>) -> io::Result<Exit> {
    let loaded = Catalog::load(paths).and_then(|catalog| Ok((Locks::read(&OnDisk::default(), [&catalog])?, catalog)));
    let (locks, catalog) = match loaded {
        Ok(loaded) => loaded,
        Err(unreadable) => return console.complain(unreadable).map(|()| Exit::Usage),
    };
    let moved = match options.hub.as_ref().map(|_| chosen(catalog.kinds(), options.kind.as_deref())).transpose() {
        Ok(kinds) => match kinds.as_deref() {
            None => None,
            Some([kind]) => Some(*kind),
            Some(kinds) => {
                let names: Vec<_> = kinds.iter().map(|kind| full_name(&kind.declaration)).collect();
                let names = names.join(", ");
                console.complain(format_args!("there are several kinds; say whose hub moves with --kind: {names}"))?;
                return Ok(Exit::Usage);
            }
        },
        Err(unknown) => return console.complain(unknown).map(|()| Exit::Usage),
    };
    let hub = moved.zip(options.hub.as_deref().map(VersionName::new));
    let mut findings = faults(&catalog, &locks);
    let mut grown = Vec::new();
    for file in locks.iter() {
        let kinds = catalog.kinds().iter().filter(|kind| kind.folder == file.folder);
        grown.push(grow(&catalog, file, kinds, hub.as_ref(), &mut findings));
    }
    let inputs: Vec<&Input> = catalog.inputs().chain(locks.iter().filter_map(|file| file.input.as_ref())).collect();
    if say_errors(&inputs, findings, console)? > 0 {
        console.complain("nothing is locked")?;
        return Ok(Exit::Findings);
    }
    let mut exit = Exit::Clean;
    for (file, Grown { lock, moves }) in locks.iter().zip(grown) {
        exit = exit.max(write(file, &lock, &moves, options.check, console)?);
    }
    Ok(exit)
}

/// A lock as it is to be written.
struct Grown {
    lock: Lock,
    moves: Vec<HubMove>,
}

/// What is wrong with the catalog and with the locks themselves.
fn faults(catalog: &Catalog, locks: &Locks) -> Vec<Finding> {
    let mut findings = catalog.findings().to_vec();
    findings.extend(catalog.unknown_versions(|declaration, version| {
        let mut kinds = catalog.kinds().iter();
        let kind =
            kinds.find(|kind| kind.declaration.group == declaration.group && kind.declaration.kind == declaration.kind);
        let locked = kind.and_then(|kind| locks.locked(kind));
        locked.is_some_and(|locked| locked.history().find(version.as_str()).is_some())
    }));
    findings.extend(locks.iter().flat_map(LockFile::findings));
    findings
}

fn grow<'k>(
    catalog: &Catalog,
    file: &LockFile,
    kinds: impl Iterator<Item = &'k Kind>,
    hub: Option<&(&Kind, VersionName)>,
    findings: &mut Vec<Finding>,
) -> Grown {
    let mut grown = Grown { lock: file.lock.clone(), moves: Vec::new() };
    for kind in kinds.filter(|kind| !kind.declaration.versions.is_empty()) {
        let subject = Subject { catalog, kind };
        let declaration = &kind.declaration;
        let locked = file.lock.kind(&declaration.group, &declaration.kind);
        let (history, problems) =
            wheelwright_evolve::History::derive(declaration, locked.map(|locked| locked.history()));
        findings.extend(problems.into_iter().map(|problem| subject.problem(problem)));
        // Once its fields have ids, it is too late to say that a field is another one with a new name.
        let left_open = check(declaration, &history, None).into_iter().filter(|finding| {
            let is_locked = locked.is_some_and(|locked| locked.history().find(finding.version.as_str()).is_some());
            let asks = [&rules::REMOVAL_NOT_ASSESSED, &rules::PROBABLE_RENAME];
            !is_locked && asks.iter().any(|rule| std::ptr::eq(finding.rule(), *rule))
        });
        findings.extend(left_open.map(|finding| subject.incompatibility(&finding)));
        let asked = hub.filter(|(moved, _)| std::ptr::eq(*moved, kind)).map(|(_, hub)| hub);
        match grown.lock.grow(declaration, &history, asked) {
            Ok(lock) => grown.lock = lock,
            Err(problems) => findings.extend(problems.into_iter().map(|problem| subject.problem(problem))),
        }
        if let (Some(to), Some(from)) = (asked, locked.map(|locked| locked.hub()).filter(|from| Some(*from) != asked)) {
            let (group, name, mut lock) = (&*declaration.group, &*declaration.kind, grown.lock.clone());
            let there_and_back = lock.move_hub(group, name, from).and_then(|_| lock.move_hub(group, name, to));
            grown.moves.extend(there_and_back);
        }
    }
    grown
}

/// Writes a lock that lacks something, and what it lacked as data.
fn write(file: &LockFile, lock: &Lock, moves: &[HubMove], check: bool, console: &mut Console<'_>) -> io::Result<Exit> {
    let (name, before, after) = (file.name(), file.lock.to_string(), lock.to_string());
    let is_same = file.input.as_ref().is_some_and(|input| input.bytes == after.as_bytes());
    if is_same {
        return console.say(format_args!("{name} is up to date")).map(|()| Exit::Clean);
    }
    let changed = changed_lines(&before, &after);
    let mut text = String::new();
    for (kind, lines) in &changed {
        text.extend([kind, "\n"]);
        lines.iter().for_each(|(sign, line)| text.push_str(&format!("{sign}{line}\n")));
    }
    write_to_reader(text.as_bytes(), console.data)?;
    if check {
        console.complain(format_args!("{name} is not up to date; run wheelwright lock, and commit what it adds"))?;
        return Ok(Exit::Findings);
    }
    if let Err(error) = write_lock(&file.path(), &after) {
        return console.complain(format_args!("cannot write {name}: {error}")).map(|()| Exit::Usage);
    }
    console.say(format_args!("wrote {name}; review and commit it"))?;
    moves.iter().try_for_each(|moved| console.say(format_args!("\n{moved}")))?;
    Ok(Exit::Clean)
}
