//! `lock`: what is declared is written down for good, so that no later edit can change what stored documents mean.

use std::{io, path::PathBuf};

use wheelwright_catalog::{Catalog, Kind, OnDisk, remove_leftovers, write_lock};
use wheelwright_evolve::{
    self as evolve, History, HubMove, Lock, VersionHistory, VersionName,
    check::{Incompatibility, changed_beyond_lock, check},
};
use wheelwright_findings::{Finding, Level, rules};

use crate::{
    Console, Exit, Input,
    locks::{LockFile, Locks, changed_lines},
    report::{plural, say_errors},
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
    /// What `check` finds wrong with what is to be locked is locked all the same.
    pub accept: bool,
}

/// Grows the locks beside catalogs, definitions or documents at some paths, and writes the lines that came as data. What
/// is locked never changes, and a lock that lacks nothing is not written.
///
/// Ends with findings if something contradicts what is locked, if something that is to be locked leaves open what became
/// of a field or is an error for `check`, or a part of a schema cannot be read, unless that is accepted, and with `check` if
/// something is not locked.
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
            // A catalog that cannot be read declares none, and it is said why.
            Some([]) if !catalog.findings().is_empty() => None,
            Some([]) => return console.complain("there is no kind whose hub could move").map(|()| Exit::Usage),
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
    let inputs: Vec<&Input> = catalog.inputs().chain(locks.iter().filter_map(|file| file.input.as_ref())).collect();
    // Whatever is held against a lock that cannot be read would be found wrong.
    if say_errors(&inputs, locks.iter().flat_map(LockFile::findings).collect(), console)? > 0 {
        return console.complain("nothing is locked").map(|()| Exit::Findings);
    }
    let mut findings = faults(&catalog, &locks);
    let mut grown = Vec::new();
    for file in locks.iter() {
        let kinds = catalog.kinds().iter().filter(|kind| kind.folder == file.folder);
        grown.push(grow(&catalog, file, kinds, hub.as_ref(), &mut findings));
    }
    let refused = say_errors(&inputs, findings, console)?;
    let mut doubts: Vec<Finding> = grown.iter().flat_map(|grown| grown.doubts.clone()).collect();
    let growing: Vec<&Kind> = grown.iter().flat_map(|grown| grown.kinds.iter().copied()).collect();
    doubts.extend(unread(&catalog, &growing));
    let doubts = say_errors(&inputs, doubts, console)?;
    if refused > 0 || doubts > 0 && !options.accept {
        console.complain("nothing is locked")?;
        if doubts > 0 {
            console.say(
                "help: what is locked stays as it is for good: declare `renamed`, `removed` or `new` in the changes, and mend \
                 the rest;\n      wheelwright lock --accept locks all the same, every field as one of its own",
            )?;
        }
        return Ok(Exit::Findings);
    }
    let mut exit = Exit::Clean;
    for (file, Grown { lock, moves, changed, .. }) in locks.iter().zip(grown) {
        exit = exit.max(write(file, &lock, &moves, options.check, console)?);
        if !changed.is_empty() {
            console.say(format_args!(
                "{}: the schema changed since it was locked, and no line of the lock shows how; \
                 `wheelwright check --against git:REV` compares the schemas",
                changed.join(", ")
            ))?;
        }
    }
    if doubts > 0 && !options.check {
        console.say(format_args!("locked in spite of {}", plural(doubts, "error")))?;
    }
    Ok(exit)
}

/// A lock as it is to be written.
struct Grown<'k> {
    lock: Lock,
    /// The kinds whose lines change.
    kinds: Vec<&'k Kind>,
    moves: Vec<HubMove>,
    /// What `check` finds wrong with what it has and the lock before had not.
    doubts: Vec<Finding>,
    /// Locked versions that changed in a way that no line of the lock shows, each with its kind.
    changed: Vec<String>,
}

/// What is wrong with the catalog.
fn faults(catalog: &Catalog, locks: &Locks) -> Vec<Finding> {
    let mut findings = catalog.findings().to_vec();
    findings.extend(catalog.unknown_versions(|declaration, version| {
        let mut kinds = catalog.kinds().iter();
        let kind =
            kinds.find(|kind| kind.declaration.group == declaration.group && kind.declaration.kind == declaration.kind);
        let locked = kind.and_then(|kind| locks.locked(kind));
        locked.is_some_and(|locked| locked.history().find(version.as_str()).is_some())
    }));
    findings.extend(locks.unknown_names(catalog));
    findings
}

/// What could not be read of the schemas of kinds whose lines change: it would be locked as if it were not there. The level is
/// the gravest that one of these kinds sets.
fn unread(catalog: &Catalog, growing: &[&Kind]) -> Vec<Finding> {
    let file_of = |span| catalog.place(span).map(|place| place.file);
    let declares = |kind: &Kind, file: &str| {
        let mut versions = kind.declaration.versions.iter();
        versions.any(|version| file_of(version.schema.place_of("")).is_some_and(|declaring| declaring == file))
    };
    let is_unread = |finding: &&Finding| {
        let rules = [&rules::MALFORMED_SCHEMA, &rules::REFERENCE_NOT_FOUND];
        rules.iter().any(|rule| std::ptr::eq(finding.rule, *rule))
    };
    let is_error = |finding: &&Finding| {
        let file = finding.place.as_ref().map_or("", |place| &*place.file);
        // A file that declares no kind is referred to, perhaps by any of them.
        let is_shared = !catalog.kinds().iter().any(|kind| declares(kind, file));
        let mut kinds = growing.iter().filter(|kind| is_shared || declares(kind, file));
        kinds.any(|kind| kind.gate.rule(finding.rule).unwrap_or(Some(finding.level)) == Some(Level::Error))
    };
    catalog.schema_findings().iter().filter(is_unread).filter(is_error).cloned().collect()
}

fn grow<'k>(
    catalog: &Catalog,
    file: &LockFile,
    kinds: impl Iterator<Item = &'k Kind>,
    hub: Option<&(&Kind, VersionName)>,
    findings: &mut Vec<Finding>,
) -> Grown<'k> {
    let mut grown = Grown {
        lock: file.lock.clone(),
        kinds: Vec::new(),
        moves: Vec::new(),
        doubts: Vec::new(),
        changed: Vec::new(),
    };
    for kind in kinds.filter(|kind| !kind.declaration.versions.is_empty()) {
        let subject = Subject { catalog, kind };
        let declaration = &kind.declaration;
        let locked = file.lock.locked(declaration);
        // What is computed is locked, too, and has to fit its fields.
        let (compiled, problems) =
            evolve::Kind::compile(declaration, locked.map(|locked| (locked.history(), locked.hub())));
        let problems: Vec<Finding> = problems.into_iter().map(|problem| subject.problem(problem)).collect();
        let is_refused = problems.iter().any(|problem| problem.level == Level::Error);
        findings.extend(problems);
        let Some(compiled) = compiled.filter(|_| !is_refused) else { continue };
        let history = compiled.history();
        let doubts = check(declaration, history, None).into_iter().filter(|found| {
            let locked = locked.map(|locked| locked.history());
            locked.is_none_or(|locked| !is_settled(locked, history, found))
        });
        grown.doubts.extend(doubts.filter_map(|found| doubt(&subject, &found)));
        if let Some(locked) = locked {
            let changed = changed_beyond_lock(declaration, history, locked).into_iter();
            grown.changed.extend(changed.map(|version| format!("{version} of {}", full_name(declaration))));
        }
        let asked = hub.filter(|(moved, _)| std::ptr::eq(*moved, kind)).map(|(_, hub)| hub);
        match grown.lock.grow(declaration, history, asked) {
            Ok(lock) => {
                if lock != grown.lock {
                    grown.kinds.push(kind);
                }
                grown.lock = lock;
            }
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

/// Whether all that something is about was locked before.
fn is_settled(locked: &History, history: &History, found: &Incompatibility) -> bool {
    let version = |name: &VersionName| history.find(name.as_str()).map(|index| history.version(index));
    let (Some(later), earlier) = (version(&found.version), found.other.as_ref().and_then(version)) else { return true };
    let before = locked.find(found.version.as_str()).map(|index| locked.version(index));
    let is_locked = |version: &VersionHistory| {
        let node = version.structure.find(&found.field);
        // Items and values belong to the field that they are in; only the document itself is in none.
        let mut upwards = std::iter::successors(node, |node| version.structure.node(*node).parent);
        let id = upwards.find_map(|node| version.id(node));
        node.is_some() && id.is_none_or(|id| version.is_locked_with(id))
    };
    before.is_some_and(|before| before.writers == later.writers) && (is_locked(later) || earlier.is_some_and(is_locked))
}

/// A reason not to lock: an error, or a question that nobody can answer any more once it is locked, however immature the
/// version is.
fn doubt(subject: &Subject<'_>, found: &Incompatibility) -> Option<Finding> {
    let asks = [&rules::REMOVAL_NOT_ASSESSED, &rules::PROBABLE_RENAME];
    let is_question = asks.iter().any(|rule| std::ptr::eq(found.rule(), *rule));
    let mut finding = subject.incompatibility(found);
    if let Some(level) = subject.kind.gate.rule(found.rule()) {
        finding.level = level?;
    } else if is_question {
        finding.level = Level::Error;
    }
    (finding.level == Level::Error).then_some(finding)
}

/// Writes a lock that lacks something, and what it lacked as data.
fn write(file: &LockFile, lock: &Lock, moves: &[HubMove], check: bool, console: &mut Console<'_>) -> io::Result<Exit> {
    let (name, before, after) = (file.name(), file.lock.to_string(), lock.to_string());
    // Version control may have given the file the ends of lines of Windows.
    let is_windows = file.input.as_ref().is_some_and(|input| input.bytes.contains(&b'\r'));
    let after = if is_windows { after.replace('\n', "\r\n") } else { after };
    let is_same = file.input.as_ref().is_some_and(|input| input.text().lines().eq(after.lines()));
    if is_same {
        if !check {
            // A run that was killed after it replaced the lock may have left its temporary file.
            remove_leftovers(&file.path());
        }
        return console.say(format_args!("{name} is up to date")).map(|()| Exit::Clean);
    }
    let changed = changed_lines(&before, &after);
    let mut text = String::new();
    for (kind, lines) in &changed {
        text.extend([kind, "\n"]);
        lines.iter().for_each(|(sign, line)| text.push_str(&format!("{sign}{line}\n")));
    }
    console.data.write_all(text.as_bytes())?;
    console.data.flush()?;
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
