//! `test`: a user's own example documents, version against version.

mod case;
mod difference;
mod report;

use std::{io, path::PathBuf};

use case::{Case, Example};
use difference::{Difference, differences};
use report::{Reporter, Shown, Verdict};
use wheelwright_catalog::{files, replace_file};
use wheelwright_document::{Arena, Spanned, Value};
use wheelwright_evolve::{Kind, Trouble, VersionIndex};
use wheelwright_schema::Stages;

use super::{
    documents::Writer,
    troubles::{Troubles, Whence},
};
use crate::{
    Console, Exit, Form, Input, Kinds, ResultFormat,
    kinds::{Names, version},
};

/// Which examples are held against what, and whether they are written.
#[derive(Clone, Debug, Default)]
pub struct TestOptions {
    /// The kind of documents that do not say it.
    pub kind: Option<String>,
    /// What versions show is written into the files that have something else.
    pub update: bool,
    /// With `update`, also for versions that have no file yet.
    pub all_versions: bool,
    /// How results are written.
    pub format: ResultFormat,
}

/// Converts the input of every example at some paths to all versions that have a file beside it, and compares; and takes
/// every document of an example through every other version and back, which must leave its normal form. What could not be
/// computed is said on the conversation, also where it is as expected.
///
/// # Errors
/// The console cannot be written to.
pub fn test(paths: &[PathBuf], kinds: &Kinds, options: &TestOptions, console: &mut Console<'_>) -> io::Result<Exit> {
    let (cases, mut complaints) = case::find(paths);
    if cases.is_empty() && complaints.is_empty() {
        complaints
            .push("there is no example: put a document into a folder of its own, as input.VERSION.yaml".to_owned());
    }
    let mut exit = Exit::Clean;
    let mut reporter = Reporter::new(options.format);
    let mut troubles = Troubles::default();
    for case in &cases {
        match Run::prepare(case, kinds, options) {
            Ok(run) => {
                exit = exit.max(run.all(&mut reporter, console)?);
                run.add_troubles(kinds, &mut troubles);
            }
            Err(complaint) => complaints.push(complaint),
        }
    }
    console.data.flush()?;
    troubles.say(kinds, console)?;
    reporter.finish(console)?;
    for complaint in &complaints {
        console.complain(complaint)?;
        exit = Exit::Usage;
    }
    Ok(exit)
}

/// An example with its kind.
struct Run<'r> {
    case: &'r Case,
    kind: &'r Kind,
    options: &'r TestOptions,
    from: VersionIndex,
    input: Input,
    /// Every other document, with its version.
    expected: Vec<(VersionIndex, &'r Example, Input)>,
}

impl<'r> Run<'r> {
    fn prepare(case: &'r Case, kinds: &'r Kinds, options: &'r TestOptions) -> Result<Self, String> {
        let input = case.input.read()?;
        let arena = Arena::for_input(input.bytes.len());
        let document = only_document(&input, &arena)?;
        let chosen = options.kind.as_deref().or_else(|| kind_of_folders(case, kinds, &document));
        let told = |text: String| format!("{}: {text}", input.name);
        let names = Names { chosen_kind: chosen, ..Names::of(|key| document.get(key).and_then(Spanned::as_str)) };
        let from = Some(case.input.version.as_str());
        let (kind, found) = kinds.of(names).or_else(|_| kinds.of(Names { from, ..names })).map_err(told)?;
        let from = version(kind, &case.input.version).map_err(told)?;
        if from != found {
            let own = &kind.history().version(found).name;
            return Err(told(format!("the document is of {own}, and the file is named by {}", case.input.version)));
        }
        let mut expected = Vec::new();
        for example in &case.expected {
            let input = example.read()?;
            let to = version(kind, &example.version).map_err(|text| format!("{}: {text}", input.name))?;
            only_document(&input, &Arena::new())?;
            expected.push((to, example, input));
        }
        Ok(Self { case, kind, options, from, input, expected })
    }

    fn all(&self, reporter: &mut Reporter, console: &mut Console<'_>) -> io::Result<Exit> {
        let arena = Arena::new();
        let mut shown = Vec::new();
        let mut failed = Vec::new();
        match only_document(&self.input, &arena) {
            Err(complaint) => failed.push(complaint),
            Ok(document) => {
                let document = document.to_value(&arena);
                shown.extend(self.unknown_fields(document, &arena));
                for (to, example, input) in &self.expected {
                    shown.push(self.shows(document, *to, Some((example, input)), &arena, &mut failed));
                }
                let missing = self.kind.history().indexes().filter(|to| self.is_missing(*to));
                for to in missing.filter(|_| self.options.update && self.options.all_versions) {
                    shown.push(self.shows(document, to, None, &arena, &mut failed));
                }
            }
        }
        let expected = self.expected.iter().map(|(version, _, input)| (*version, input));
        let was_written =
            |input: &Input| shown.iter().any(|one| one.verdict == Verdict::Written && one.file == input.name);
        // What has been replaced is no example any more.
        let documents: Vec<_> =
            [(self.from, &self.input)].into_iter().chain(expected.filter(|(_, input)| !was_written(input))).collect();
        for (version, input) in documents {
            let arena = Arena::new();
            match only_document(input, &arena) {
                Ok(document) => shown.extend(self.returns(version, input, document.to_value(&arena), &arena)),
                Err(complaint) => failed.push(complaint),
            }
        }
        reporter.case(&self.case.name(), self.kind.name(), &shown, console)?;
        failed.iter().try_for_each(|complaint| console.complain(complaint))?;
        let is_different = shown.iter().any(|shown| shown.verdict == Verdict::Different);
        Ok(match (failed.is_empty(), is_different) {
            (false, _) => Exit::Usage,
            (true, true) => Exit::Findings,
            (true, false) => Exit::Clean,
        })
    }

    /// Adds what other versions cannot compute of the input.
    fn add_troubles(&self, kinds: &Kinds, troubles: &mut Troubles) {
        let arena = Arena::new();
        let Ok(document) = only_document(&self.input, &arena) else { return };
        let value = document.to_value(&arena);
        let mut found: Vec<Trouble> = Vec::new();
        for to in self.kind.history().indexes() {
            let told = self.kind.convert_telling(self.from, to, value, &arena);
            for trouble in told.map(|(_, told)| told).unwrap_or_default() {
                // The way to one version may lead over another one.
                if !found.contains(&trouble) {
                    found.push(trouble);
                }
            }
        }
        troubles.add(kinds, self.kind, found, Whence::Place(self.input.place(document.span)));
    }

    fn name(&self, version: VersionIndex) -> String {
        self.kind.history().version(version).name.to_string()
    }

    /// Whether a version could have a file and has none.
    fn is_missing(&self, version: VersionIndex) -> bool {
        let is_file_name = !self.name(version).contains(std::path::is_separator);
        let has_file = version == self.from || self.expected.iter().any(|(to, ..)| *to == version);
        is_file_name && !has_file
    }

    /// What the input has that its version does not know: nothing becomes of it.
    fn unknown_fields<'a>(&'a self, document: Value<'a>, arena: &'a Arena) -> Option<Shown> {
        let pruned = self.kind.program(self.from)?.run(document, arena, Stages::PRUNE).ok()?;
        let unknown = pruned.unknown.iter().chain(&pruned.unknown_metadata);
        let differences: Vec<Difference> = unknown.map(|path| Difference::unknown(path.to_string())).collect();
        (!differences.is_empty()).then(|| Shown {
            file: self.input.name.clone(),
            from: self.name(self.from),
            to: None,
            via: None,
            verdict: Verdict::Different,
            differences,
        })
    }

    /// The input as a version shows it, held against its file, or written there.
    fn shows<'a>(
        &'a self,
        document: Value<'a>,
        to: VersionIndex,
        expected: Option<(&Example, &'a Input)>,
        arena: &'a Arena,
        failed: &mut Vec<String>,
    ) -> Shown {
        let beside = || self.case.folder.join(format!("{}.{}", self.name(to), self.case.input.extension()));
        let path = expected.map_or_else(beside, |(example, _)| example.path.clone());
        let mut shown = Shown {
            file: files::display(&path),
            from: self.name(self.from),
            to: Some(self.name(to)),
            via: None,
            verdict: Verdict::Same,
            differences: Vec::new(),
        };
        let converted = match self.kind.convert(self.from, to, document, arena) {
            Ok(converted) => converted,
            Err(error) => {
                shown.verdict = Verdict::Different;
                shown.differences.push(Difference::refused(error.to_string()));
                return shown;
            }
        };
        if let Some((_, input)) = expected {
            let file = only_document(input, arena).map(|document| document.to_value(arena));
            shown.differences = differences(file.unwrap_or(Value::Null), converted);
        }
        let is_same = expected.is_some() && shown.differences.is_empty();
        if !is_same && self.options.update {
            let form =
                if path.extension().is_some_and(|extension| extension == "json") { Form::Json } else { Form::Yaml };
            let mut text = Vec::new();
            let written = Writer::new(false).write(form, converted, &mut text);
            let text = String::from_utf8_lossy(&text);
            match written.and_then(|()| replace_file(&path, &text)) {
                Ok(()) => shown.verdict = Verdict::Written,
                Err(error) => failed.push(format!("cannot write {}: {error}", shown.file)),
            }
        } else if !is_same {
            shown.verdict = Verdict::Different;
        }
        shown
    }

    /// A document through every other version and back: what it must leave is the normal form.
    fn returns<'a>(
        &'a self,
        version: VersionIndex,
        input: &Input,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Vec<Shown> {
        let others = self.kind.history().indexes().filter(|via| *via != version);
        let of = |via: VersionIndex| {
            let normal = self.kind.convert(version, version, document, arena);
            let back = self.kind.round_trip(version, via, document, arena);
            let differences = match normal.and_then(|normal| Ok((normal, back?))) {
                Ok((normal, back)) => differences(normal, back),
                Err(error) => vec![Difference::refused(error.to_string())],
            };
            let verdict = if differences.is_empty() { Verdict::Same } else { Verdict::Different };
            let (from, via) = (self.name(version), Some(self.name(via)));
            Shown { file: input.name.clone(), from, to: None, via, verdict, differences }
        };
        others.map(of).collect()
    }
}

/// The kind that a folder on the way to an example is named by, of documents that do not say what they are.
fn kind_of_folders<'k>(case: &Case, kinds: &'k Kinds, document: &Spanned<'_>) -> Option<&'k str> {
    if document.get("apiVersion").is_some() && document.get("kind").is_some() {
        return None;
    }
    let folders: Vec<&str> = case.folder.iter().rev().filter_map(|folder| folder.to_str()).collect();
    let named = |folder: &&str| kinds.iter().map(Kind::name).find(|name| name.eq_ignore_ascii_case(folder));
    folders.iter().find_map(named)
}

fn only_document<'a>(input: &'a Input, arena: &'a Arena) -> Result<Spanned<'a>, String> {
    let (_, documents) = input.documents(arena).map_err(|finding| format!("{}: {}", input.name, finding.message))?;
    match &documents[..] {
        [document] if document.as_object().is_some() => Ok(*document),
        [document] => Err(format!("{}: a document must be an object, not {}", input.name, document.kind_name())),
        _ => Err(format!("{}: an example is one document, and here are {}", input.name, documents.len())),
    }
}
