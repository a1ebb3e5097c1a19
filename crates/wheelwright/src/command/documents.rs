//! What `default`, `prune` and `validate` have in common: documents, each held against its schema.

use std::io;

use wheelwright_document::{Arena, Entry, FieldPath, Span, Spanned, Value, encode_into, write_yaml};
use wheelwright_findings::{Finding, Holds, Level, rules};
use wheelwright_schema::{
    AdmitErrorKind, Program, Stages, validate_resource_metadata, validate_resource_metadata_update,
};

use crate::{
    Choice, Console, Exit, Form, Input, Schemas, Unreadable,
    place::Places,
    pretty::write_pretty,
    report::{Manner, Report},
    schemas::NoSchema,
    words,
};

/// How documents are treated and written.
#[derive(Clone, Debug, Default)]
pub struct DocumentOptions {
    /// What to hold documents against.
    pub choice: Choice,
    /// Unknown fields are errors.
    pub strict: bool,
    /// JSON is written on one line.
    pub compact: bool,
}

/// Takes every document through some stages and writes it in the form it came in; findings are conversation.
pub(super) fn transform(
    inputs: impl IntoIterator<Item = Result<Input, Unreadable>>,
    schemas: &Schemas,
    stages: Stages,
    options: &DocumentOptions,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let mut report = Report::new(Holds::Documents);
    let mut writer = Writer::new(options.compact);
    let mut exit = Exit::Clean;
    let treatment = Treatment { stages, old: None };
    for input in inputs {
        let outcome = each_document(input, schemas, options, treatment, console, &mut |form, value, console| {
            writer.write(form, value, console.data)
        })?;
        exit = exit.max(outcome.exit);
        if let Some(input) = outcome.input {
            report.add(&input, outcome.findings);
        }
    }
    console.data.flush()?;
    let found = report.finish(console.today, exit);
    found.write(Manner::text(console.colour_conversation), console.conversation)?;
    Ok(found.exit())
}

/// What is said of an input.
pub(super) struct Outcome {
    /// The input, if it could be read.
    pub(super) input: Option<Input>,
    /// How many documents were looked at; every item of a list is one.
    pub(super) count: usize,
    pub(super) findings: Vec<Finding>,
    /// Worse than clean if something kept a document from being looked at.
    pub(super) exit: Exit,
}

/// What is done with documents.
#[derive(Clone, Copy)]
pub(super) struct Treatment<'t> {
    pub(super) stages: Stages,
    /// What they replace.
    pub(super) old: Option<&'t Old<'t>>,
}

/// A document that another one replaces.
pub(super) struct Old<'o> {
    /// The name of the file that it is from.
    pub(super) name: &'o str,
    pub(super) document: Spanned<'o>,
}

/// Who takes what came out of a document.
pub(super) type Taker<'t> = dyn FnMut(Form, Value<'_>, &mut Console<'_>) -> io::Result<()> + 't;

/// Treats every document of an input.
pub(super) fn each_document(
    input: Result<Input, Unreadable>,
    schemas: &Schemas,
    options: &DocumentOptions,
    treatment: Treatment<'_>,
    console: &mut Console<'_>,
    take: &mut Taker<'_>,
) -> io::Result<Outcome> {
    let input = match input {
        Ok(input) => input,
        Err(unreadable) => {
            console.complain(unreadable)?;
            return Ok(Outcome { input: None, count: 0, findings: Vec::new(), exit: Exit::Usage });
        }
    };
    let mut run = Run {
        input: &input,
        schemas,
        choice: &options.choice,
        treatment,
        count: 0,
        findings: Vec::new(),
        exit: Exit::Clean,
    };
    let arena = Arena::for_input(input.bytes.len());
    match input.documents(&arena) {
        Err(finding) => run.findings.push(*finding),
        Ok((_, documents)) if documents.is_empty() => {
            console.complain(format_args!("{}: holds no document", input.name))?;
            run.exit = Exit::Usage;
        }
        Ok((form, documents)) => {
            for document in &documents {
                run.findings.extend(words::findings(&input, document, &rules::DOCUMENT_WORD_READ_AS_BOOLEAN));
                let scratch = Arena::new();
                if let Some(value) = run.document(document, &scratch, console)? {
                    take(form, value, console)?;
                }
            }
        }
    }
    let Run { count, mut findings, exit, .. } = run;
    if options.strict {
        for finding in findings.iter_mut().filter(|finding| std::ptr::eq(finding.rule, &rules::UNKNOWN_FIELD)) {
            finding.level = Level::Error;
        }
    }
    Ok(Outcome { input: Some(input), count, findings, exit })
}

struct Run<'r> {
    input: &'r Input,
    schemas: &'r Schemas,
    choice: &'r Choice,
    treatment: Treatment<'r>,
    count: usize,
    findings: Vec<Finding>,
    exit: Exit,
}

impl<'r> Run<'r> {
    /// What comes out of a document; nothing does if it cannot be treated at all, which has been said or found by then.
    fn document<'a>(
        &mut self,
        document: &Spanned<'a>,
        arena: &'a Arena,
        console: &mut Console<'_>,
    ) -> io::Result<Option<Value<'a>>>
    where
        'r: 'a,
    {
        let program = self.schemas.program(document, self.choice);
        for warning in self.schemas.take_warnings() {
            console.say(warning)?;
        }
        let no_schema = match program {
            Ok(program) => {
                let old = match self.old(program, arena) {
                    Ok(old) => old,
                    Err(complaint) => {
                        console.complain(complaint)?;
                        self.exit = Exit::Usage;
                        return Ok(None);
                    }
                };
                let (value, found) = treat(self.input, document, program, self.treatment.stages, old, arena);
                self.count += 1;
                self.findings.extend(found);
                return Ok(value);
            }
            Err(no_schema) => no_schema,
        };
        if let Some(items) = self.schemas.items(document) {
            return self.list(document, items, arena, console);
        }
        let Span { line, column, .. } = no_schema.span;
        console.complain(format_args!("{}:{line}:{column}: {}", self.input.name, no_schema.message))?;
        self.exit = Exit::Usage;
        Ok(None)
    }

    /// What a document of this program replaces, or what to complain of.
    fn old<'a>(&self, program: &Program, arena: &'a Arena) -> Result<Option<Value<'a>>, String>
    where
        'r: 'a,
    {
        let Some(Old { name, document }) = self.treatment.old else { return Ok(None) };
        match self.schemas.program(document, self.choice) {
            Ok(found) if std::ptr::eq(found, program) => Ok(Some(document.to_value(arena))),
            Ok(_) => Err(format!("{name}: has another kind or version than {}; convert it first", self.input.name)),
            Err(NoSchema { message, span: Span { line, column, .. } }) => {
                Err(format!("{name}:{line}:{column}: {message}"))
            }
        }
    }

    /// A list with each of its items treated as a document of its own. Of a list with an item that cannot be treated,
    /// nothing comes out: without the item, it would be another list.
    fn list<'a>(
        &mut self,
        list: &Spanned<'a>,
        items: &[Spanned<'a>],
        arena: &'a Arena,
        console: &mut Console<'_>,
    ) -> io::Result<Option<Value<'a>>>
    where
        'r: 'a,
    {
        let mut treated = Vec::with_capacity(items.len());
        for item in items {
            treated.extend(self.document(item, arena, console)?);
        }
        if treated.len() < items.len() {
            return Ok(None);
        }
        let treated = Value::Array(arena.slice(&treated));
        let entries = list.as_object().unwrap_or_default().iter().map(|entry| {
            let value = if entry.key == "items" { treated } else { entry.value.to_value(arena) };
            Entry { key: entry.key, value }
        });
        Ok(Some(Value::Object(arena.slice_from(entries))))
    }
}

/// A document after some stages, unless it cannot be decoded, and what is found in it.
pub(super) fn treat<'a>(
    input: &Input,
    document: &Spanned<'a>,
    program: &'a Program,
    stages: Stages,
    old: Option<Value<'a>>,
    arena: &'a Arena,
) -> (Option<Value<'a>>, Vec<Finding>) {
    let mut places = Places::new(document);
    let mut invalid = |path: &FieldPath, message: &str| {
        let span = places.of_value(path);
        let names_field = path.is_root() || message.starts_with(path.as_str());
        let message = if names_field { message.to_owned() } else { format!("{path}: {message}") };
        Finding::new(&rules::INVALID_VALUE, message, path.clone()).at(input.place(span))
    };
    let value = document.to_value(arena);
    let treated = match old {
        Some(old) => program.admit_update(value, old, arena),
        None => program.run(value, arena, stages),
    };
    match treated {
        Err(error) => {
            let mut finding = invalid(error.path(), error.message());
            if error.kind() == AdmitErrorKind::TooLarge {
                finding.rule = &rules::UNREADABLE;
            }
            (None, vec![finding])
        }
        Ok(admitted) => {
            // The API server looks at the metadata of a resource apart from its schema.
            let metadata = match old {
                _ if stages != Stages::ADMIT || !program.describes_resource() => Vec::new(),
                Some(old) => validate_resource_metadata_update(admitted.value, old),
                None => validate_resource_metadata(admitted.value),
            };
            let errors = admitted.errors.iter().chain(&metadata);
            let mut findings: Vec<_> = errors
                .map(|error| {
                    let mut finding = invalid(error.path(), error.message()).with_error_type(error.kind().name());
                    if error.is_about_broken_rule() {
                        finding.mend = Some("mend the rule of the schema; wheelwright check shows where".to_owned());
                    }
                    if error.is_about_skipped_rules() {
                        finding.mend = Some("mend the other errors; the rules are evaluated then".to_owned());
                        // Kubernetes counts this as an error; it goes away with the others.
                        finding = finding.lowered_to(Level::Note);
                    }
                    finding
                })
                .collect();
            findings.extend(admitted.unknown.into_iter().chain(admitted.unknown_metadata).map(|path| {
                let place = input.place(places.of_name(&path));
                Finding::new(&rules::UNKNOWN_FIELD, format!("unknown field {:?}", path.as_str()), path).at(place)
            }));
            if admitted.truncated {
                let message = "more is wrong with this document than can be written down: mend what is shown first";
                let rule = if admitted.errors.is_empty() { &rules::UNKNOWN_FIELD } else { &rules::INVALID_VALUE };
                findings.push(Finding::new(rule, message, FieldPath::root()).at(input.place(document.span)));
            }
            (Some(admitted.value), findings)
        }
    }
}

/// Writes documents in the form they came in.
pub(super) struct Writer {
    compact: bool,
    /// The form of the last document that was written.
    last: Option<Form>,
}

impl Writer {
    /// Writes JSON on one line, or for people.
    pub(super) fn new(compact: bool) -> Self {
        Self { compact, last: None }
    }

    pub(super) fn write(&mut self, form: Form, value: Value<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        let mut text = Vec::new();
        // JSON documents follow each other without a separator, as programs expect them.
        if self.last.is_some_and(|last| last == Form::Yaml || form == Form::Yaml) {
            text.extend_from_slice(b"---\n");
        }
        self.last = Some(form);
        match form {
            Form::Yaml => text.extend_from_slice(write_yaml(value).as_bytes()),
            Form::Json if self.compact => encode_into(value, &mut text),
            Form::Json => write_pretty(value, &mut text),
        }
        if text.last() != Some(&b'\n') {
            text.push(b'\n');
        }
        out.write_all(&text)
    }
}
