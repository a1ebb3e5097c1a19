//! `check`: what is wrong with definitions and schemas, and what the versions of a kind do to each other.

mod compatibility;
mod conversion;
mod first_contact;
mod gone;
mod levels;
mod misread;
mod policies;
mod published;
mod rewritten;
mod versions;

use std::{
    cell::LazyCell,
    cmp::Reverse,
    collections::{BTreeSet, HashMap, HashSet},
    io,
    path::Path,
};

use wheelwright_catalog::{
    declared::{self, Declared, Reading},
    files,
};
use wheelwright_document::{Arena, FieldPath, Span};
use wheelwright_evolve::KindName;
use wheelwright_findings::{ALLOWANCE_KEYWORD, Finding, Holds, Level, Place, rules};
use wheelwright_schema::{Lowered, Problem, Root, check};

use crate::{
    Console, Exit, Format, Input, Origin, Unreadable,
    openapi::{self, Checked},
    place::{at_names, names_of_blocks},
    report::{Found, Manner, Report, is_told, plural},
    scalar_place::place_of_part,
    words,
};

use compatibility::{changed_in_place, check_kind};
use first_contact::Contact;
use levels::Levels;
use misread::{follows_from_changes, leaves_something_unread, where_it_is};
use versions::{Before, Loaded, State};
pub use versions::{Versions, VersionsError};

/// What is checked and how it is shown.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions {
    /// How findings are written; they are data either way.
    pub format: Format,
    /// The least level that is shown. Without it everything is, and where a story is told only errors have pictures.
    pub level: Option<Level>,
    /// Whether people are shown what is let pass; programs are always told.
    pub show_suppressed: bool,
    /// What a schema that stands alone describes.
    pub root: Root,
    /// Whether every finding is shown with its picture, and also those of the revision that is compared with.
    pub all: bool,
    /// Whether a sample of the laws is run over kinds with changes or a lock.
    pub laws: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { format: Format::Text, level: None, show_suppressed: false, root: Root::Value, all: false, laws: true }
    }
}

/// Checks every definition and schema, and the versions of kinds, and sums up on the conversation. An input that holds
/// none is passed over if it was found in a folder, and an error if it was named.
///
/// Of a definition that is in `previous` too, by its name, what Kubernetes forgives in an update is only noted. Of
/// versions that are compared with a revision, only what is new is shown.
///
/// # Errors
/// The console cannot be written to.
pub fn check(
    inputs: impl IntoIterator<Item = Result<Input, Unreadable>>,
    previous: impl IntoIterator<Item = Result<Input, Unreadable>>,
    mut versions: Versions,
    options: &CheckOptions,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let is_anywhere = versions.has_named_files();
    let mut run = Run::new(options, &versions.now);
    let mut exit = Exit::Clean;
    let mut standard_input = None;
    if let Some(reason) = &versions.cannot_compare {
        console.say(format_args!("warning: {reason}"))?;
        console.say("every finding is shown, and what is published is held against the lock alone")?;
    }
    for input in previous {
        exit = exit.max(run.remember(input, console)?);
    }
    for (number, input) in inputs.into_iter().enumerate() {
        if number > 0 && number % FILES_BETWEEN_PROGRESS == 0 {
            console.progress(format_args!("looked at {number} files, {} to check", run.files))?;
        }
        if let Ok(input) = &input
            && input.name == files::display(Path::new("-"))
        {
            standard_input = Some(input.clone());
        }
        exit = exit.max(run.check(input, console)?);
    }
    let elsewhere: Vec<Input> = versions.now.inputs_elsewhere(&run.seen).collect();
    for input in elsewhere {
        exit = exit.max(run.check(Ok(input), console)?);
    }
    let is_gate = versions.before.is_some() || versions.cannot_compare.is_some();
    let mut contacts = run.check_versions(&versions.now, is_gate, console)?;
    let mut states = vec![&versions.now];
    let from_standard_input = match standard_input.as_ref().map(State::of_standard_input).transpose() {
        Ok(state) => state,
        Err(unreadable) => {
            console.complain(unreadable)?;
            exit = Exit::Usage;
            None
        }
    };
    if let Some(state) = &from_standard_input {
        contacts.extend(run.check_versions(state, is_gate, console)?);
        states.push(state);
    }
    if let Some(before) = &mut versions.before {
        match before.look_elsewhere(&states, is_anywhere) {
            Ok(unknown) => say_uncompared(&unknown, &before.revision, console)?,
            Err(unreadable) => {
                console.complain(unreadable)?;
                exit = Exit::Usage;
            }
        }
        for state in &states {
            let findings = state.each().flat_map(|(loaded, kind)| changed_in_place(before, state, loaded, kind));
            let promises = state.each().flat_map(|(loaded, kind)| published::changed_promises(before, loaded, kind));
            let findings = findings.chain(promises).chain(gone::versions_since(before, state));
            // The lock remembers some of it.
            let findings: Vec<_> = findings.filter(|finding| !run.report.has(finding)).collect();
            related(&findings, before.kinds.inputs()).for_each(|input| run.report.add_other(input));
            run.add(state, findings);
        }
        run.add(&versions.now, rewritten::rewritten_locks(before, &versions.now));
        run.add(&before.kinds, gone::kinds_since(before, &states));
    }
    console.end_progress()?;
    let Run { mut report, declared, files, .. } = run;
    if files == 0 && exit == Exit::Clean {
        // A gate that looked at nothing must not open.
        console.complain("nothing to check: no CustomResourceDefinition and no schema was found")?;
        exit = Exit::Usage;
    }
    let levels = Levels::of(&versions.now);
    report.set_levels(|finding| levels.level(finding));
    let mut found = report.finish(console.today, exit);
    let mut known = 0;
    if let Some(before) = versions.before.as_ref().filter(|_| !options.all) {
        known = found.forget(&fingerprints(before, options, console)?);
    }
    let manner = Manner {
        format: options.format,
        least: options.level.unwrap_or(Level::Note),
        show_suppressed: options.show_suppressed,
        sums_up: !options.all,
        colour: console.colour_data,
    };
    let tells = options.format == Format::Text && manner.least < Level::Error && !contacts.is_empty();
    let is_brief = tells && options.level.is_none() && !options.all && !options.show_suppressed;
    if tells {
        console.data.write_all(first_contact::text(&contacts).as_bytes())?;
        console.data.flush()?;
    }
    let pictured = if is_brief { Manner { least: Level::Error, ..manner } } else { manner };
    found.write(pictured, console.data)?;
    if is_brief {
        console.data.write_all(found.by_rule(Level::Error).as_bytes())?;
        console.data.flush()?;
    }
    if files > 0 {
        console.say(summary(declared, files, &found, manner))?;
    }
    if let (Some(before), true) = (&versions.before, known > 0) {
        let known = plural(known, "finding");
        console.say(format_args!("not shown: {known} of {}; --all shows everything", before.revision))?;
    }
    if let Some(hint) = hint(&found, manner, is_brief) {
        console.say(hint)?;
    }
    Ok(found.exit())
}

/// Says which kinds are compared with nothing, for a path with a typing error in it looks like a new kind.
fn say_uncompared(kinds: &[KindName], revision: &str, console: &mut Console<'_>) -> io::Result<()> {
    let found_none = "note: found no definition of";
    match kinds {
        [] => Ok(()),
        [kind] => console.say(format_args!("{found_none} {kind} at {revision}: nothing is compared for it")),
        kinds => {
            let mut names: Vec<String> = kinds.iter().take(MOST_NAMES).map(ToString::to_string).collect();
            let last = match kinds.len().saturating_sub(MOST_NAMES) {
                0 => names.pop().unwrap_or_default(),
                more => format!("{more} more"),
            };
            let (count, names) = (kinds.len(), names.join(", "));
            console.say(format_args!(
                "{found_none} {count} kinds at {revision}: nothing is compared for them: {names} and {last}"
            ))
        }
    }
}

/// A new OpenAPI document may have many kinds.
const MOST_NAMES: usize = 3;

/// The fingerprints of what was found at a revision.
fn fingerprints(before: &Before, options: &CheckOptions, console: &Console<'_>) -> io::Result<HashSet<String>> {
    let mut run = Run::new(options, &before.kinds);
    let (mut data, mut conversation) = (io::sink(), io::sink());
    let mut nowhere = Console::plain(&mut data, &mut conversation);
    for input in &before.inputs {
        run.check(Ok(input.clone()), &mut nowhere)?;
    }
    run.check_versions(&before.kinds, true, &mut nowhere)?;
    let found = run.report.finish(console.today, Exit::Clean);
    Ok(found.fingerprints(|finding| before.renamed(finding)))
}

/// Short work is not talked about.
const FILES_BETWEEN_PROGRESS: usize = 50;
const KINDS_BETWEEN_PROGRESS: usize = 10;

struct Run<'r> {
    options: &'r CheckOptions,
    /// What was wrong with the previous definitions, by name; a schema that stands alone has none.
    previous: HashMap<Option<Box<str>>, Vec<Problem>>,
    /// What was wrong with the previous OpenAPI documents: rules, fields, and the names of files without folders.
    previous_findings: HashSet<(&'static str, FieldPath, String)>,
    report: Report,
    declared: usize,
    /// How many inputs had something to check, or could not be read.
    files: usize,
    /// What was said of OpenAPI documents, which share files that they refer to.
    said: BTreeSet<(&'static str, Option<Place>, String)>,
    /// The names of all inputs.
    seen: HashSet<String>,
    /// The names of files of our own, which are checked with the kinds that they declare.
    ours: HashSet<String>,
}

impl<'r> Run<'r> {
    fn new(options: &'r CheckOptions, state: &State) -> Self {
        let ours = state.inputs().filter(|input| input.origin == Origin::Ours);
        Self {
            ours: ours.map(|input| input.name.clone()).collect(),
            options,
            previous: HashMap::new(),
            previous_findings: HashSet::new(),
            report: Report::new(Holds::Schemas),
            declared: 0,
            files: 0,
            said: BTreeSet::new(),
            seen: HashSet::new(),
        }
    }

    /// Checks kinds version against version, and gives what there is to tell about those that nobody told anything of.
    fn check_versions(&mut self, state: &State, is_gate: bool, console: &mut Console<'_>) -> io::Result<Vec<Contact>> {
        let mut findings = Vec::new();
        // The catalogs of which something could not be read, with the first such place.
        let mut misread: Vec<(&Loaded, String)> = Vec::new();
        for loaded in &state.catalogs {
            let found = loaded.findings(&state.locks);
            let cause = found.iter().find(|finding| leaves_something_unread(finding));
            misread.extend(cause.map(|cause| (loaded, where_it_is(cause))));
            findings.extend(found);
        }
        for lock in state.locks.iter() {
            let found = rewritten::named_edits(lock);
            if let Some(cause) = found.iter().find(|finding| leaves_something_unread(finding)) {
                let has_kinds = |loaded: &&Loaded| loaded.kinds().any(|kind| kind.folder == lock.folder);
                misread.extend(state.catalogs.iter().filter(has_kinds).map(|loaded| (loaded, where_it_is(cause))));
            }
            findings.extend(found);
            findings.extend(gone::kinds_since_lock(state, lock));
        }
        let mut contacts = Vec::new();
        let total = state.each().count();
        for (number, (loaded, kind)) in state.each().enumerate() {
            if number > 0 && number % KINDS_BETWEEN_PROGRESS == 0 {
                console.progress(format_args!("compared the versions of {number} of {total} kinds"))?;
            }
            let is_misread = misread.iter().any(|(other, _)| std::ptr::eq(*other, loaded));
            let checked = check_kind(state, loaded, kind, is_gate, self.options.laws && !is_misread);
            let is_shown = |finding: &Finding| !is_misread || !follows_from_changes(finding);
            findings.extend(checked.findings.into_iter().filter(is_shown));
            contacts.extend(checked.contact.filter(|_| !is_misread));
        }
        let mut said = HashSet::new();
        misread.retain(|(loaded, _)| said.insert(std::ptr::from_ref(*loaded)));
        for (loaded, cause) in misread.iter().filter(|(loaded, _)| loaded.kinds().next().is_some()) {
            let names: Vec<&str> = loaded.kinds().map(|kind| &*kind.declaration.kind).collect();
            console.say(format_args!(
                "the versions of {} are not compared: {cause} could not be read as it is meant; fix that first",
                names.join(", ")
            ))?;
        }
        self.add(state, findings);
        Ok(contacts)
    }

    /// Takes findings in the files of kinds, with what these allow.
    fn add(&mut self, state: &State, findings: Vec<Finding>) {
        let mut by_file: HashMap<String, Vec<Finding>> = HashMap::new();
        for finding in findings {
            let file = finding.place.as_ref().map(|place| place.file.clone()).unwrap_or_default();
            by_file.entry(file).or_default().push(finding);
        }
        for input in state.inputs() {
            if let Some(found) = by_file.remove(&input.name) {
                related(&found, state.inputs()).for_each(|input| self.report.add_other(input));
                self.report.add(input, at_names(input, found));
            }
        }
        for (file, findings) in by_file {
            self.report.add(&Input::named(file, ""), findings);
        }
    }

    fn remember(&mut self, input: Result<Input, Unreadable>, console: &mut Console<'_>) -> io::Result<Exit> {
        let input = match input {
            Ok(input) => input,
            Err(unreadable) => return console.complain(unreadable).map(|()| Exit::Usage),
        };
        let arena = Arena::new();
        let documents = match input.documents(&arena) {
            Ok((_, documents)) => documents,
            Err(finding) => {
                self.report.add(&input, vec![*finding]);
                return Ok(Exit::Findings);
            }
        };
        let readings: Vec<_> = documents.iter().flat_map(declared::read).collect();
        let mut specifications =
            documents.iter().filter_map(|document| openapi::check(&input, document, &arena)).peekable();
        if readings.is_empty() && specifications.peek().is_none() {
            return holds_nothing(&input, console);
        }
        let before = specifications.flat_map(|specification| specification.findings);
        self.previous_findings.extend(before.map(|finding| sort_of(&finding)));
        for reading in readings {
            if let Err(problem) = &reading {
                let Span { line, column, .. } = problem.span;
                console.complain(format_args!("{}:{line}:{column}: {}", input.name, problem.message))?;
                return Ok(Exit::Usage);
            }
            let problems = declared::problems(&reading, self.options.root);
            self.previous.entry(name_of(&reading)).or_default().extend(problems);
        }
        Ok(Exit::Clean)
    }

    fn check(&mut self, input: Result<Input, Unreadable>, console: &mut Console<'_>) -> io::Result<Exit> {
        let input = match input {
            Ok(input) => input,
            Err(unreadable) => return console.complain(unreadable).map(|()| Exit::Usage),
        };
        self.seen.insert(input.name.clone());
        if self.ours.contains(&input.name) {
            self.files += 1;
            return Ok(Exit::Clean);
        }
        let arena = Arena::for_input(input.bytes.len());
        let documents = match input.documents(&arena) {
            Ok((_, documents)) => documents,
            Err(finding) if input.origin == Origin::Found && !mentions_schemas(&input) => {
                let place = finding.place.map(|place| place.span).unwrap_or_default();
                let (name, line, column) = (&input.name, place.line, place.column);
                console.say(format_args!("skipped: {name}:{line}:{column}: {}", finding.message))?;
                return Ok(Exit::Clean);
            }
            Err(finding) => {
                self.files += 1;
                self.report.add(&input, vec![*finding]);
                return Ok(Exit::Findings);
            }
        };
        let mut findings = Vec::new();
        let mut readings = Vec::new();
        for document in &documents {
            let declared = declared::read(document);
            if !declared.is_empty() {
                findings.extend(words::findings(&input, document, &rules::WORD_READ_AS_BOOLEAN));
            }
            readings.extend(declared);
        }
        let specifications: Vec<_> =
            documents.iter().filter_map(|document| openapi::check(&input, document, &arena)).collect();
        if readings.is_empty() && specifications.is_empty() && input.origin == Origin::Named {
            return holds_nothing(&input, console);
        }
        if !self.previous.is_empty() {
            let new = readings.iter().filter(|reading| reading.is_ok()).map(name_of);
            for name in new.filter(|name| !self.previous.contains_key(name)) {
                let name = name.as_deref().unwrap_or("the schema");
                let file = &input.name;
                console.say(format_args!("warning: {file}: {name} is not in --previous, so it is checked as new"))?;
            }
        }
        self.declared += readings.len();
        if readings.is_empty() && specifications.is_empty() {
            return Ok(Exit::Clean);
        }
        self.files += 1;
        let names = LazyCell::new(|| names_of_blocks(&documents));
        let block_name = |value: Span| names.get(&value).copied();
        findings.extend(readings.iter().flat_map(|reading| self.findings(&input, reading, &block_name)));
        for Checked { count, findings: found, others } in specifications {
            self.declared += count;
            others.iter().for_each(|other| self.report.add_other(other));
            let is_new =
                |finding: &Finding| self.said.insert((finding.rule.id, finding.place.clone(), finding.message.clone()));
            let found: Vec<_> = found.into_iter().filter(is_new).collect();
            findings.extend(found.into_iter().map(|finding| self.ratcheted(finding)));
        }
        self.report.add(&input, findings);
        Ok(Exit::Clean)
    }

    /// A finding in an OpenAPI document, only noted if the previous document has it.
    fn ratcheted(&self, mut finding: Finding) -> Finding {
        if !self.previous_findings.is_empty() && self.previous_findings.contains(&sort_of(&finding)) {
            finding.message += "; forgiven in an update, because the previous document has the like";
            finding = finding.lowered_to(Level::Note);
        }
        finding
    }

    fn findings(&self, input: &Input, reading: &Reading, block_name: &dyn Fn(Span) -> Option<Span>) -> Vec<Finding> {
        let mut problems = declared::problems(reading, self.options.root);
        problems.retain(|problem| !is_allowance(reading, problem));
        let previous = self.previous.get(&name_of(reading)).map_or(&[][..], Vec::as_slice);
        let check::Ratcheted { refused, forgiven } = check::ratchet(problems, previous);
        let of = |problem| finding(input, reading, block_name, problem);
        let refused = refused.into_iter().map(of);
        let forgiven = forgiven.into_iter().map(|problem| {
            let mut finding = of(problem).lowered_to(Level::Note);
            finding.message += "; forgiven in an update, because the previous definition has the like";
            finding
        });
        refused.chain(forgiven).collect()
    }
}

/// The inputs that findings point into besides their own places.
fn related<'i>(findings: &[Finding], inputs: impl Iterator<Item = &'i Input>) -> impl Iterator<Item = &'i Input> {
    let names = findings.iter().flat_map(|finding| &finding.related).map(|related| related.place.file.clone());
    let names: HashSet<String> = names.collect();
    inputs.filter(move |input| names.contains(&input.name))
}

fn summary(declared: usize, files: usize, found: &Found, manner: Manner) -> String {
    let checked = format!("{} in {}", plural(declared, "definition"), plural(files, "file"));
    match found.below(manner.least) {
        0 => format!("checked {checked}: {}", found.tally()),
        hidden => format!("checked {checked}: {} ({hidden} not shown)", found.tally()),
    }
}

/// What to do next, for somebody who has just read findings; `is_brief` if not all of them had pictures.
fn hint(found: &Found, manner: Manner, is_brief: bool) -> Option<String> {
    let counted = found
        .shown(manner)
        .filter(|finding| manner.format == Format::Text && finding.suppressed.is_none() && !is_told(finding));
    let gravest = counted.min_by_key(|finding| Reverse(finding.level))?;
    let id = gravest.rule.id;
    let has_comments =
        gravest.place.as_ref().is_some_and(|place| ![".json", ".lock"].iter().any(|end| place.file.ends_with(end)));
    // Mistakes of the tool may be allowed, for instance until the next release, but are better reported.
    let is_ours = matches!(id, "WW171" | "WW174" | "WW183");
    let more = format!("help: wheelwright explain {id} says more");
    Some(match gravest.rule.may_be_allowed() && has_comments && !is_ours {
        _ if is_brief && gravest.level < Level::Error => format!("{more}; --all shows every finding where it is"),
        true => format!("{more}; a comment above it lets it pass: # wheelwright: allow {id} -- reason"),
        false => more,
    })
}

/// What makes two findings in versions of an OpenAPI document the same.
fn sort_of(finding: &Finding) -> (&'static str, FieldPath, String) {
    let file = finding.place.as_ref().map_or("", |place| place.file.rsplit('/').next().unwrap_or_default());
    (finding.rule.id, finding.field.clone(), file.to_owned())
}

/// Says that there is nothing to check where there should be.
fn holds_nothing(input: &Input, console: &mut Console<'_>) -> io::Result<Exit> {
    console.complain(format_args!(
        "{}: holds no CustomResourceDefinition, no schema and no OpenAPI document",
        input.name
    ))?;
    Ok(Exit::Usage)
}

fn name_of(reading: &Reading) -> Option<Box<str>> {
    match &reading.as_ref().ok()?.item {
        Declared::Definition(definition) => Some(definition.name.text.clone()),
        Declared::Schema(_) => None,
    }
}

/// A problem as a finding: at the part of a text that it is about, or at the name of a block, or at the value.
fn finding(input: &Input, reading: &Reading, block_name: &dyn Fn(Span) -> Option<Span>, problem: Problem) -> Finding {
    let identity = identity(reading, problem.path.as_str());
    let part = problem.part.as_ref().and_then(|part| place_of_part(&input.bytes, problem.span, part));
    let span = part.or_else(|| block_name(problem.span)).unwrap_or(problem.span);
    let mut finding = Finding::new(problem.rule, problem.message, problem.path).at(input.place(span));
    finding.error_type = problem.kind.map(|kind| kind.name());
    finding.mend = problem.mend;
    finding.identity = identity;
    problem.related.into_iter().fold(finding, |finding, (span, label)| finding.with_related(label, input.place(span)))
}

/// Whether a keyword that Kubernetes does not know is one that we read. It stays unknown in a definition, from which
/// Kubernetes would drop it.
fn is_allowance(reading: &Reading, problem: &Problem) -> bool {
    let stands_alone = matches!(reading, Ok(Lowered { item: Declared::Schema(_), .. }));
    let is_unknown_keyword = std::ptr::eq(problem.rule, &rules::UNKNOWN_KEYWORD);
    stands_alone && is_unknown_keyword && problem.path.as_str().ends_with(ALLOWANCE_KEYWORD)
}

/// What a problem of a definition is about: the definition and the field, with the names of versions, which are less
/// likely to change than their numbers.
fn identity(reading: &Reading, field: &str) -> Option<String> {
    const VERSIONS: &str = "spec.versions[";
    let Declared::Definition(definition) = &reading.as_ref().ok()?.item else { return None };
    let named = || {
        let (index, rest) = field.strip_prefix(VERSIONS)?.split_once(']')?;
        let version = definition.versions.get(index.parse::<usize>().ok()?)?;
        Some(format!("{VERSIONS}{}]{rest}", version.name.text))
    };
    Some(format!("{} {}", definition.name.text, named().unwrap_or_else(|| field.to_owned())))
}

/// Whether a file that cannot be decoded was probably meant to hold a definition or a schema. Folders also hold
/// templates, and files of other programs that only end in `.json`.
fn mentions_schemas(input: &Input) -> bool {
    let text = String::from_utf8_lossy(&input.bytes);
    text.contains("CustomResourceDefinition") || text.contains("openAPIV3Schema") || openapi::mentions(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(is_watched: bool) -> String {
        let input = |number| Ok(Input::named(format!("{number}.yaml"), "type: object\n"));
        let (mut data, mut conversation) = (Vec::new(), Vec::new());
        let mut console = Console { is_watched, ..Console::plain(&mut data, &mut conversation) };
        check((0..120).map(input), [], Versions::default(), &CheckOptions::default(), &mut console).unwrap();
        assert!(data.is_empty());
        String::from_utf8(conversation).unwrap()
    }

    #[test]
    fn only_who_watches_is_told_of_progress() {
        assert_eq!(said(false), "checked 120 definitions in 120 files: clean\n");
        let told = said(true);
        assert!(told.contains("looked at 50 files, 50 to check"), "{told:?}");
        assert!(told.ends_with("\r\u{1b}[2Kchecked 120 definitions in 120 files: clean\n"), "{told:?}");
    }
}
