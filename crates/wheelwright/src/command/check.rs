//! `check`: what is wrong with definitions and schemas.

use std::{
    cell::LazyCell,
    cmp::Reverse,
    collections::{BTreeSet, HashMap, HashSet},
    io,
};

use wheelwright_catalog::declared::{self, Declared, Reading};
use wheelwright_document::{Arena, FieldPath, Span};
use wheelwright_findings::{ALLOWANCE_KEYWORD, Finding, Holds, Level, Place, rules};
use wheelwright_schema::{Lowered, Problem, Root, check};

use crate::{
    Console, Exit, Format, Input, Origin, Unreadable,
    openapi::{self, Checked},
    place::names_of_blocks,
    report::{Found, Manner, Report, plural},
    scalar_place::place_of_part,
    words,
};

/// What is checked and how it is shown.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions {
    /// How findings are written; they are data either way.
    pub format: Format,
    /// The least level that is shown.
    pub level: Level,
    /// Whether people are shown what is let pass; programs are always told.
    pub show_suppressed: bool,
    /// What a schema that stands alone describes.
    pub root: Root,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { format: Format::Text, level: Level::Note, show_suppressed: false, root: Root::Value }
    }
}

/// Checks every definition and schema, and sums up on the conversation. An input that holds none is passed over if it
/// was found in a folder, and an error if it was named.
///
/// Of a definition that is in `previous` too, by its name, what Kubernetes forgives in an update is only noted.
///
/// # Errors
/// The console cannot be written to.
pub fn check(
    inputs: impl IntoIterator<Item = Result<Input, Unreadable>>,
    previous: impl IntoIterator<Item = Result<Input, Unreadable>>,
    options: &CheckOptions,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let report = Report::new(Holds::Schemas);
    let mut run = Run {
        options,
        previous: HashMap::new(),
        previous_findings: HashSet::new(),
        report,
        declared: 0,
        files: 0,
        said: BTreeSet::new(),
    };
    let mut exit = Exit::Clean;
    for input in previous {
        exit = exit.max(run.remember(input, console)?);
    }
    for (number, input) in inputs.into_iter().enumerate() {
        if number > 0 && number % FILES_BETWEEN_PROGRESS == 0 {
            console.progress(format_args!("looked at {number} files, {} to check", run.files))?;
        }
        exit = exit.max(run.check(input, console)?);
    }
    console.end_progress()?;
    let Run { report, declared, files, .. } = run;
    if files == 0 && exit == Exit::Clean {
        // A gate that looked at nothing must not open.
        console.complain("nothing to check: no CustomResourceDefinition and no schema was found")?;
        exit = Exit::Usage;
    }
    let found = report.finish(console.today, exit);
    let manner = Manner {
        format: options.format,
        least: options.level,
        show_suppressed: options.show_suppressed,
        colour: console.colour_data,
    };
    found.write(manner, console.data)?;
    if files > 0 {
        console.say(summary(declared, files, &found, manner))?;
    }
    if let Some(hint) = hint(&found, manner) {
        console.say(hint)?;
    }
    Ok(found.exit())
}

/// Short work is not talked about.
const FILES_BETWEEN_PROGRESS: usize = 50;

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
}

impl Run<'_> {
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

fn summary(declared: usize, files: usize, found: &Found, manner: Manner) -> String {
    let checked = format!("{} in {}", plural(declared, "definition"), plural(files, "file"));
    match found.below(manner.least) {
        0 => format!("checked {checked}: {}", found.tally()),
        hidden => format!("checked {checked}: {} ({hidden} not shown)", found.tally()),
    }
}

/// What to do next, for somebody who has just read findings.
fn hint(found: &Found, manner: Manner) -> Option<String> {
    let counted = found.shown(manner).filter(|finding| manner.format == Format::Text && finding.suppressed.is_none());
    let gravest = counted.min_by_key(|finding| Reverse(finding.level))?;
    let id = gravest.rule.id;
    let has_comments = gravest.place.as_ref().is_some_and(|place| !place.file.ends_with(".json"));
    Some(match gravest.rule.may_be_allowed() && has_comments {
        true => format!(
            "help: wheelwright explain {id} says more; a comment above it lets it pass: # wheelwright: allow {id} -- reason"
        ),
        false => format!("help: wheelwright explain {id} says more"),
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
        check((0..120).map(input), [], &CheckOptions::default(), &mut console).unwrap();
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
