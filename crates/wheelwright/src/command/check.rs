//! `check`: what is wrong with definitions and schemas.

use std::{
    collections::{BTreeSet, HashMap},
    io,
};

use wheelwright_document::{Arena, Span};
use wheelwright_findings::{Finding, Level, Place};
use wheelwright_schema::{Problem, Root, check};

use crate::{
    Console, Exit, Format, Input, Origin, Unreadable,
    declared::{self, Declared, Reading},
    openapi::{self, Checked},
    report::{Report, plural},
};

/// What is checked and how it is shown.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions {
    /// How findings are written; they are data either way.
    pub format: Format,
    /// The least level that is shown.
    pub level: Level,
    /// What a schema that stands alone describes.
    pub root: Root,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { format: Format::Text, level: Level::Note, root: Root::Value }
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
    let mut run = Run {
        options,
        previous: HashMap::new(),
        report: Report::default(),
        declared: 0,
        files: 0,
        said: BTreeSet::new(),
    };
    let mut exit = Exit::Clean;
    for input in previous {
        exit = exit.max(run.remember(input, console)?);
    }
    for input in inputs {
        exit = exit.max(run.check(input, console)?);
    }
    exit = exit.max(run.report.exit());
    run.report.write(options.format, options.level, console.colour_data, console.data)?;
    if run.files > 0 {
        console.say(run.summary())?;
    } else if exit == Exit::Clean {
        // A gate that looked at nothing must not open.
        console.complain("nothing to check: no CustomResourceDefinition and no schema was found")?;
        exit = Exit::Usage;
    }
    Ok(exit)
}

struct Run<'r> {
    options: &'r CheckOptions,
    /// What was wrong with the previous definitions, by name; a schema that stands alone has none.
    previous: HashMap<Option<Box<str>>, Vec<Problem>>,
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
        if readings.is_empty() {
            return holds_nothing(&input, console);
        }
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
        let readings: Vec<_> = documents.iter().flat_map(declared::read).collect();
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
        self.files += usize::from(!readings.is_empty() || !specifications.is_empty());
        let mut findings: Vec<_> = readings.iter().flat_map(|reading| self.findings(&input, reading)).collect();
        for Checked { count, findings: found, texts } in specifications {
            self.declared += count;
            texts.into_iter().for_each(|(name, text)| self.report.add_text(name, text));
            let is_new =
                |finding: &Finding| self.said.insert((finding.rule.id, finding.place.clone(), finding.message.clone()));
            findings.extend(found.into_iter().filter(is_new));
        }
        self.report.add(&input, findings);
        Ok(Exit::Clean)
    }

    fn findings(&self, input: &Input, reading: &Reading) -> Vec<Finding> {
        let problems = declared::problems(reading, self.options.root);
        let previous = self.previous.get(&name_of(reading)).map_or(&[][..], Vec::as_slice);
        let check::Ratcheted { refused, forgiven } = check::ratchet(problems, previous);
        let refused = refused.into_iter().map(|problem| finding(input, problem));
        let forgiven = forgiven.into_iter().map(|problem| {
            let mut finding = finding(input, problem).lowered_to(Level::Note);
            finding.message += "; forgiven in an update, because the previous definition has the like";
            finding
        });
        refused.chain(forgiven).collect()
    }

    fn summary(&self) -> String {
        let checked = format!("{} in {}", plural(self.declared, "definition"), plural(self.files, "file"));
        match self.report.below(self.options.level) {
            0 => format!("checked {checked}: {}", self.report.tally()),
            hidden => format!("checked {checked}: {} ({hidden} not shown)", self.report.tally()),
        }
    }
}

/// Says that there is nothing to check where there should be.
fn holds_nothing(input: &Input, console: &mut Console<'_>) -> io::Result<Exit> {
    console.complain(format_args!("{}: holds neither a CustomResourceDefinition nor a schema", input.name))?;
    Ok(Exit::Usage)
}

fn name_of(reading: &Reading) -> Option<Box<str>> {
    match &reading.as_ref().ok()?.item {
        Declared::Definition(definition) => Some(definition.name.text.clone()),
        Declared::Schema(_) => None,
    }
}

fn finding(input: &Input, problem: Problem) -> Finding {
    let mut finding = Finding::new(problem.rule, problem.message, problem.path).at(input.place(problem.span));
    finding.error_type = problem.kind.map(|kind| kind.name());
    finding.mend = problem.mend;
    problem.related.into_iter().fold(finding, |finding, (span, label)| finding.with_related(label, input.place(span)))
}

/// Whether a file that cannot be decoded was probably meant to hold a definition or a schema. Folders also hold
/// templates, and files of other programs that only end in `.json`.
fn mentions_schemas(input: &Input) -> bool {
    let text = String::from_utf8_lossy(&input.bytes);
    text.contains("CustomResourceDefinition") || text.contains("openAPIV3Schema") || openapi::mentions(&text)
}
