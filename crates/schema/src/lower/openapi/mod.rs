//! Swagger 2.0, OpenAPI 3 and JSON Schema documents: their definitions, lowered to the one model when they are asked
//! for, with everything that they refer to put in.

mod complete;
mod dialect;
mod files;
mod graph;
mod merge;
mod node;
mod reference;
mod simple;
mod words;

use std::collections::HashSet;

use wheelwright_document::{Arena, Path, Span, Spanned};

pub use dialect::Dialect;
use files::Files;
pub use files::{NoTree, Refused, Tree};
use node::{Extent, Lowering};
use reference::{Resolver, Target};

use super::Lowered;
use crate::{Problem, Root, Schema, check, problem::Problems};

/// A document that declares schemas in one of the [`Dialect`]s, and the files that it refers to.
pub struct Specification<'t, 'a> {
    files: Files<'t, 'a>,
    resolver: Resolver<'a>,
    definitions: Vec<(&'a str, Target<'a>)>,
}

impl<'t, 'a> Specification<'t, 'a> {
    /// Looks at a document of some name; `None` if it is none that declares schemas. Files that it refers to come from
    /// `tree`, and are read when they are needed. All of them are YAML 1.2: decode the document with [`Yaml::Core`].
    ///
    /// [`Yaml::Core`]: wheelwright_document::Yaml::Core
    pub fn open(name: &str, document: &'a Spanned<'a>, tree: &'t dyn Tree, arena: &'a Arena) -> Option<Self> {
        Self::open_at(0, name, document, tree, arena)
    }

    /// As [`open`](Self::open), for a document whose spans were moved: those of its file begin at `base`, and those of
    /// other files behind the end of the document.
    pub fn open_at(
        base: u32,
        name: &str,
        document: &'a Spanned<'a>,
        tree: &'t dyn Tree,
        arena: &'a Arena,
    ) -> Option<Self> {
        let dialect = Dialect::of(document)?;
        let mut definitions = Vec::new();
        for steps in dialect.definitions() {
            let container = steps.iter().try_fold(document, |node, step| node.get(step));
            let entries = container.and_then(Spanned::as_object).unwrap_or_default();
            definitions.extend(entries.iter().map(|entry| {
                let path = format!("{}.{}", steps.join("."), entry.key).into();
                (entry.key, Target { file: 0, source: &entry.value, path })
            }));
        }
        let files = Files::new(name, document, base, dialect, tree, arena);
        Some(Self { files, resolver: Resolver::default(), definitions })
    }

    /// The language of the document.
    pub fn dialect(&self) -> Dialect {
        self.files.get(0).dialect
    }

    /// `info.version`.
    pub fn version(&self) -> Option<&'a str> {
        self.files.get(0).document.get("info")?.get("version")?.as_str()
    }

    /// The names of the definitions, in the order they were written.
    pub fn definitions(&self) -> impl Iterator<Item = &'a str> {
        self.definitions.iter().map(|(name, _)| *name)
    }

    /// Whether the document is a schema itself, and not only a place for definitions.
    pub fn is_schema(&self) -> bool {
        let file = self.files.get(0);
        let is_only_container = |key: &str| matches!(key, "$schema" | "$id" | "$defs" | "definitions" | "$comment");
        let entries = file.document.as_object().unwrap_or_default();
        !file.dialect.describes_api() && !entries.iter().all(|entry| is_only_container(entry.key))
    }

    /// A definition with everything that it refers to, to hold documents against.
    pub fn lower(&mut self, name: &str) -> Option<Lowered<Schema>> {
        let target = self.definitions.iter().find(|(known, _)| *known == name)?.1.clone();
        Some(self.lower_target(&target))
    }

    /// The document as a schema, if it is one.
    pub fn lower_root(&mut self) -> Option<Lowered<Schema>> {
        let target = self.root()?;
        Some(self.lower_target(&target))
    }

    /// Everything that is wrong with the definitions and with what they refer to, each looked at once, and how many
    /// definitions that were.
    pub fn check(&mut self) -> (usize, Vec<Problem>) {
        let mut roots: Vec<Target<'a>> = self.definitions.iter().map(|(_, target)| target.clone()).collect();
        let count = roots.len() + usize::from(self.is_schema());
        roots.extend(self.root());
        roots.extend(self.schemas_of_operations());
        (count, graph::check(&mut self.files, &mut self.resolver, roots))
    }

    /// The file that the span of a schema or problem is in, and the span in that file.
    pub fn place(&self, span: Span) -> (&str, Span) {
        self.files.place(span)
    }

    /// The files that were read besides the document: names and bytes.
    pub fn other_files(&self) -> impl Iterator<Item = (&str, &'a [u8])> {
        self.files.others().map(|(_, name, bytes)| (name, bytes))
    }

    /// Where the spans of the other files begin: offsets and names.
    pub fn other_bases(&self) -> impl Iterator<Item = (u32, &str)> {
        self.files.others().map(|(base, name, _)| (base, name))
    }

    fn root(&self) -> Option<Target<'a>> {
        let file = self.files.get(0);
        self.is_schema().then(|| Target { file: 0, source: file.document, path: "".into() })
    }

    fn lower_target(&mut self, target: &Target<'a>) -> Lowered<Schema> {
        let mut lowering = Lowering::new(&mut self.files, &mut self.resolver, Extent::Whole);
        let item = lowering.definition(target);
        let problems = lowering.finish();
        Lowered { item, problems }
    }

    /// The schemas that stand in operations instead of among the definitions.
    fn schemas_of_operations(&self) -> Vec<Target<'a>> {
        let file = self.files.get(0);
        let mut found = Vec::new();
        if file.dialect.describes_api() {
            for key in ["paths", "parameters", "responses", "components"] {
                if let Some(value) = file.document.get(key) {
                    schemas_below(value, &Path::Child(&Path::Root, key), &mut found);
                }
            }
        }
        found
    }
}

/// Checks the defaults of a lowered schema against the schema itself; Kubernetes' other rules are its own.
fn check_defaults(schema: &Schema, path: &str) -> Vec<Problem> {
    let mut problems = check::check_defaults(schema, Root::Definition);
    let base = Path::Child(&Path::Root, path).to_field_path();
    for problem in &mut problems {
        problem.path = if path.is_empty() { problem.path.clone() } else { problem.path.under(&base) };
    }
    problems
}

fn schemas_below<'a>(value: &'a Spanned<'a>, path: &Path<'_>, found: &mut Vec<Target<'a>>) {
    for entry in value.as_object().unwrap_or_default() {
        let below = Path::Child(path, entry.key);
        match entry.key {
            "schema" if entry.value.as_object().is_some() => {
                found.push(Target { file: 0, source: &entry.value, path: below.to_string().into() });
            }
            "schemas" | "example" | "examples" => {}
            extension if extension.starts_with("x-") => {}
            _ => schemas_below(&entry.value, &below, found),
        }
    }
    for (index, item) in value.as_array().unwrap_or_default().iter().enumerate() {
        schemas_below(item, &Path::Index(path, index), found);
    }
}

/// Problems without those that are said twice because a definition is reached on two ways.
#[derive(Default)]
struct Said {
    problems: Problems,
    known: HashSet<(&'static str, Span, String)>,
}

impl Said {
    fn push(&mut self, problem: Problem) {
        if !self.problems.is_full() && self.known.insert((problem.rule.id, problem.span, problem.message.clone())) {
            self.problems.push(problem);
        }
    }

    fn is_full(&self) -> bool {
        self.problems.is_full()
    }

    fn into_list(self) -> Vec<Problem> {
        self.problems.into_list()
    }
}
