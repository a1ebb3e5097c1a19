//! The schemas that documents are held against, and which of them a document asks for.

use std::{
    cell::{OnceCell, RefCell},
    collections::HashSet,
    fmt, io,
};

use wheelwright_catalog::declared::{self, Declared};
use wheelwright_document::{Arena, Span, Spanned, encode};
use wheelwright_evolve::{KindName, overlaid_schema};
use wheelwright_findings::{Holds, Level};
use wheelwright_schema::{Dialect, Program, Root, Schema};

use crate::{
    Console, Exit, Input, Kinds, Unreadable,
    openapi::Definitions,
    report::{Manner, Report, plural},
};

/// Schemas by group, version and kind, and at most one that stands alone.
#[derive(Debug)]
pub struct Schemas {
    kinds: Vec<Compiled<Names>>,
    alone: Vec<Compiled<()>>,
    /// OpenAPI and JSON Schema documents.
    specifications: Vec<Definitions>,
    /// What their definitions describe.
    root: Root,
    /// What has to be said of definitions that were read when they were asked for.
    warnings: RefCell<Vec<String>>,
    /// Every document that was read: what is given twice counts once.
    read: HashSet<Vec<u8>>,
}

/// What to hold a document against if it does not say, or whatever it says.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The kind, instead of the document's own.
    pub kind: Option<String>,
    /// The version, instead of the one in the document's own apiVersion.
    pub version: Option<String>,
}

/// Why there is no schema for a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NoSchema {
    pub(crate) message: String,
    pub(crate) span: Span,
}

#[derive(Debug)]
struct Names {
    version: Box<str>,
    /// The names of the kind that documents of the version have, the one of today last.
    published_as: Vec<KindName>,
    /// The names that the kind has in other versions.
    elsewhere: Vec<KindName>,
}

impl Names {
    fn has_group(&self, group: &str) -> bool {
        self.published_as.iter().any(|name| *name.group == *group)
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.published_as.last() {
            Some(name) => write!(f, "{}/{} {}", name.group, self.version, name.kind),
            None => f.write_str(&self.version),
        }
    }
}

/// A schema that is compiled when it is first asked for.
#[derive(Debug)]
struct Compiled<N> {
    names: N,
    schema: Schema,
    root: Root,
    program: OnceCell<Program>,
}

impl<N> Compiled<N> {
    fn new(names: N, schema: Schema, root: Root) -> Self {
        Self { names, schema, root, program: OnceCell::new() }
    }

    fn program(&self) -> &Program {
        self.program.get_or_init(|| Program::compile(&self.schema, self.root))
    }
}

impl Schemas {
    /// Reads definitions and schemas. Definitions describe whole resources and schemas that stand alone any value, unless
    /// `root` says otherwise. What Kubernetes would refuse is warned about and used all the same.
    ///
    /// Gives `None` if something could not be read, which has been said on the console by then.
    ///
    /// # Errors
    /// The console cannot be written to.
    pub fn read(
        inputs: impl IntoIterator<Item = Result<Input, Unreadable>>,
        root: Option<Root>,
        console: &mut Console<'_>,
    ) -> io::Result<Option<Self>> {
        let mut schemas = Self {
            kinds: Vec::new(),
            alone: Vec::new(),
            specifications: Vec::new(),
            root: root.unwrap_or(Root::Value),
            warnings: RefCell::default(),
            read: HashSet::new(),
        };
        let mut report = Report::new(Holds::Schemas);
        let mut all_read = true;
        for input in inputs {
            match input {
                Ok(input) => all_read &= schemas.read_one(&input, root, &mut report, console)?,
                Err(unreadable) => {
                    console.complain(unreadable)?;
                    all_read = false;
                }
            }
        }
        report
            .finish(console.today, Exit::Clean)
            .write(Manner::text(console.colour_conversation), console.conversation)?;
        if schemas.alone.len() > 1 {
            console.complain("only one schema can stand alone; write the others as CustomResourceDefinitions")?;
            all_read = false;
        }
        Ok(all_read.then_some(schemas))
    }

    /// Adds every version of the kinds of a catalog, with the defaults that its changes declare.
    pub fn add_kinds(&mut self, kinds: &Kinds, root: Option<Root>) {
        for (kind, declaration) in kinds.iter().zip(kinds.declarations()) {
            for version in &declaration.versions {
                let Some(index) = kind.version(version.name.as_str()) else { continue };
                let names = Names {
                    version: version.name.as_str().into(),
                    published_as: kind.history().version(index).published_as.clone(),
                    elsewhere: kind.names().to_vec(),
                };
                let step = declaration.steps.iter().find(|step| step.version.item == version.name);
                let schema = match step {
                    Some(step) => overlaid_schema(&version.schema, step).into_owned(),
                    None => version.schema.clone(),
                };
                self.kinds.push(Compiled::new(names, schema, root.unwrap_or(version.root)));
            }
        }
    }

    fn read_one(
        &mut self,
        input: &Input,
        root: Option<Root>,
        report: &mut Report,
        console: &mut Console<'_>,
    ) -> io::Result<bool> {
        let arena = Arena::new();
        let documents = match input.documents(&arena) {
            Ok((_, documents)) => documents,
            Err(finding) => {
                report.add(input, vec![*finding]);
                return Ok(false);
            }
        };
        let mut is_new = |document: &Spanned<'_>| self.read.insert(encode(document.to_value(&arena)));
        let new: Vec<_> = documents.iter().enumerate().filter(|(_, document)| is_new(document)).collect();
        let specifications = new.iter().filter_map(|(position, document)| Definitions::of(input, *position, document));
        self.specifications.extend(specifications);
        let readings: Vec<_> = new.iter().flat_map(|(_, document)| declared::read(document)).collect();
        let declares = |document: &Spanned<'_>| Dialect::of(document).is_some() || !declared::read(document).is_empty();
        if !documents.iter().any(declares) {
            let name = &input.name;
            console.complain(format_args!(
                "{name}: holds no CustomResourceDefinition, no schema and no OpenAPI document"
            ))?;
            return Ok(false);
        }
        let root_alone = root.unwrap_or(Root::Value);
        let problems = readings.iter().flat_map(|reading| declared::problems(reading, root_alone));
        let errors = problems.filter(|problem| problem.rule.level == Level::Error).count();
        if errors > 0 {
            let (name, errors) = (&input.name, plural(errors, "error"));
            console.say(format_args!("warning: {name} has {errors}; see wheelwright check {name}"))?;
        }
        for reading in readings {
            match reading {
                Ok(lowered) => self.add(lowered.item, root),
                Err(problem) => {
                    let Span { line, column, .. } = problem.span;
                    console.complain(format_args!("{}:{line}:{column}: {}", input.name, problem.message))?;
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn add(&mut self, declared: Declared, root: Option<Root>) {
        match declared {
            Declared::Schema(schema) => {
                self.alone.push(Compiled::new((), *schema, root.unwrap_or(Root::Value)));
            }
            Declared::Definition(definition) => {
                for version in definition.versions {
                    let name = KindName::new(definition.group.text.clone(), definition.kind.text.clone());
                    let names = Names { version: version.name.text, published_as: vec![name], elsewhere: Vec::new() };
                    if let Some(schema) = version.schema {
                        self.kinds.push(Compiled::new(names, schema, root.unwrap_or(Root::Resource)));
                    }
                }
            }
        }
    }

    /// The program for a document: by its apiVersion and kind, or by what was chosen instead.
    pub(crate) fn program(&self, document: &Spanned<'_>, choice: &Choice) -> Result<&Program, NoSchema> {
        let text = |key| document.get(key).and_then(Spanned::as_str);
        let api_version = text("apiVersion");
        let is_all = self.kinds.is_empty() && self.alone.is_empty();
        if !self.specifications.is_empty() && (is_all || api_version.is_none()) {
            match self.specified(choice.kind.as_deref().or(text("kind")), choice.version.as_deref()) {
                Err(message) if is_all => {
                    let span = document.get("kind").map_or(document.span, |value| value.span);
                    return Err(NoSchema { message, span });
                }
                Err(_) => {}
                Ok(program) => return Ok(program),
            }
        }
        if let [alone] = &self.alone[..]
            && (self.kinds.is_empty() || (api_version.is_none() && choice.version.is_none()))
        {
            return Ok(alone.program());
        }
        let refuse = |key: &str, message: String| {
            let span = document.get(key).map_or(document.span, |value| value.span);
            Err(NoSchema { message: format!("{message}; there is {}", self.what_is_there()), span })
        };
        let Some(kind) = choice.kind.as_deref().or(text("kind")) else {
            return refuse("kind", "the document has no kind and --kind is not given".to_owned());
        };
        let (group, own_version) = match api_version {
            Some(text) => (Some(text.split_once('/').map_or("", |(group, _)| group)), text.rsplit('/').next()),
            None => (None, None),
        };
        let Some(version) = choice.version.as_deref().or(own_version) else {
            return refuse("apiVersion", "the document has no apiVersion and --version is not given".to_owned());
        };
        let fits_but_for_kind =
            |names: &Names| *names.version == *version && group.is_none_or(|group| names.has_group(group));
        let fits = |names: &Names| {
            let elsewhere = names.elsewhere.iter().filter(|_| choice.kind.is_some());
            fits_but_for_kind(names) && names.published_as.iter().chain(elsewhere).any(|name| *name.kind == *kind)
        };
        let fitting: Vec<_> = self.kinds.iter().filter(|compiled| fits(&compiled.names)).collect();
        match &fitting[..] {
            [compiled] => Ok(compiled.program()),
            [] => {
                let group = group.filter(|group| !group.is_empty()).map(|group| format!("{group}/"));
                let is_kind = self.kinds.iter().any(|compiled| fits_but_for_kind(&compiled.names));
                let key = if is_kind { "kind" } else { "apiVersion" };
                refuse(key, format!("no schema for {}{version} {kind}", group.unwrap_or_default()))
            }
            _ => refuse("apiVersion", format!("more than one schema for {version} {kind}")),
        }
    }

    /// The program of a definition in an OpenAPI or JSON Schema document, or why there is none.
    fn specified(&self, kind: Option<&str>, version: Option<&str>) -> Result<&Program, String> {
        let warn = &mut |warning| self.warnings.borrow_mut().push(warning);
        let names = |files: &[&Definitions]| files.iter().map(|file| file.name()).collect::<Vec<_>>().join(", ");
        let fits = |file: &&Definitions| file.version.as_deref().is_none_or(|own| version.is_none_or(|it| it == own));
        let files: Vec<&Definitions> = self.specifications.iter().filter(fits).collect();
        if files.is_empty() {
            let there = names(&self.specifications.iter().collect::<Vec<_>>());
            return Err(format!("no schema of version {}; there is {there}", version.unwrap_or_default()));
        }
        if let ([file], None) = (&files[..], kind)
            && let Some(program) = file.program_alone(self.root, warn)
        {
            return Ok(program);
        }
        let few = |names: &mut dyn Iterator<Item = &str>| {
            let mut shown: Vec<String> = (&mut *names).take(10).map(str::to_owned).collect();
            shown.extend(Some(names.count()).filter(|more| *more > 0).map(|more| format!("{more} more")));
            shown.join(", ")
        };
        let Some(kind) = kind else {
            let there = few(&mut files.iter().flat_map(|file| file.kinds()));
            return Err(format!("the document has no kind and --kind is not given; there is {there}"));
        };
        let having: Vec<_> = files.iter().copied().filter(|file| file.kinds().any(|known| known == kind)).collect();
        match &having[..] {
            [] => {
                let mut alike: Vec<_> = files.iter().flat_map(|file| file.kinds_like(kind)).collect();
                alike.sort_unstable();
                alike.dedup();
                let mend = match &alike[..] {
                    [] => format!("there is {}", few(&mut files.iter().flat_map(|file| file.kinds()))),
                    alike => format!("--kind can be {}", alike.join(" or ")),
                };
                Err(format!("no definition {kind} in {}; {mend}", names(&files)))
            }
            [file] => match file.program(kind, self.root, warn) {
                Some(program) => Ok(program),
                None => Err(format!("no definition {kind} in {}", file.name())),
            },
            several => Err(format!("{kind} is in more than one file; choose with --version: {}", names(several))),
        }
    }

    /// What has to be said since it was last asked.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    /// The items of a list of resources, such as `kubectl get` writes. A declared kind is no list, whatever its name.
    pub(crate) fn items<'a>(&self, document: &Spanned<'a>) -> Option<&'a [Spanned<'a>]> {
        let kind = document.get("kind")?.as_str()?;
        document.get("apiVersion")?.as_str()?;
        let is_list = kind.ends_with("List")
            && !self.kinds.iter().any(|compiled| compiled.names.published_as.iter().any(|name| *name.kind == *kind));
        document.get("items")?.as_array().filter(|_| is_list)
    }

    fn what_is_there(&self) -> String {
        const MOST: usize = 10;
        let mut names: Vec<_> = self.kinds.iter().take(MOST).map(|compiled| compiled.names.to_string()).collect();
        match self.kinds.len().saturating_sub(MOST) {
            0 if names.is_empty() => names.push("none that has a kind".to_owned()),
            0 => {}
            more => names.push(format!("{more} more")),
        }
        names.join(", ")
    }
}
