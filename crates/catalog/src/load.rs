//! Loading: from paths to kinds, through the files that catalogs name.

use std::{
    collections::HashMap,
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use wheelwright_document::{Arena, FieldPath, Path as FieldSteps, Span, Spanned};
use wheelwright_evolve::{Declaration, DeclaredVersion, Located, Steps, VersionName, parse_changes};
use wheelwright_findings::{Finding, Rule, rules};
use wheelwright_schema::{Definition, Named, Problem, Root};

use crate::{
    Adopt, Catalog, Deprecation, Gate, Input, Kind, KubernetesResource, Operations, Origin, PolicySet, Source,
    Unreadable,
    bare::{self, Bare},
    chosen::{chosen, former_names},
    declared::{self, Declared},
    disk::normalized,
    documents::{self, Found, Wanted},
    overlay::overlay,
    parse::{CatalogFile, KindEntry, Schemas, parse_catalog},
    table, verify,
};

/// What a catalog is called.
pub(crate) const CATALOG_FILES: [&str; 3] = ["wheelwright.yaml", "wheelwright.yml", "wheelwright.json"];

pub(crate) fn load<'p>(source: &dyn Source, paths: impl Iterator<Item = &'p Path>) -> Result<Catalog, Unreadable> {
    let mut loader =
        Loader { source, catalog: Catalog::default(), definitions: HashMap::new(), changes: HashMap::new() };
    let mut bare = Bare::default();
    let mut declares_any = false;
    for path in paths {
        if loader.path(path, &mut bare)? {
            declares_any = true;
        } else {
            loader.catalog.without_kinds.push(source.display(path));
        }
    }
    if let (false, Some(name)) = (declares_any, loader.catalog.without_kinds.first()) {
        let why = "it declares no kind: there is no catalog, no CustomResourceDefinition and no OpenAPI document";
        return Err(Unreadable { name: name.clone(), error: io::Error::new(io::ErrorKind::InvalidData, why) });
    }
    bare::finish(&mut loader, bare);
    verify::verify(&mut loader.catalog);
    Ok(loader.catalog)
}

/// What was read so far. Files that several entries of a catalog name are read once.
pub(crate) struct Loader<'s> {
    pub(crate) source: &'s dyn Source,
    pub(crate) catalog: Catalog,
    definitions: HashMap<PathBuf, Option<Vec<Definition>>>,
    changes: HashMap<PathBuf, Steps>,
}

impl<'s> Loader<'s> {
    /// Loads what is at a path, and says whether it declares kinds, or would if nothing were wrong with it.
    fn path(&mut self, path: &Path, bare: &mut Bare) -> Result<bool, Unreadable> {
        let unreadable = |error| Unreadable { name: self.source.display(path), error };
        if !self.source.is_folder(path) {
            let bytes = self.source.read(path).map_err(unreadable)?;
            return Ok(self.file(path, bytes, bare));
        }
        for name in CATALOG_FILES {
            let file = path.join(name);
            match self.source.read(&file) {
                Ok(bytes) => {
                    self.catalog_file(&file, bytes);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Unreadable { name: self.source.display(&file), error }),
            }
        }
        let files = self.source.files(path).map_err(unreadable)?;
        let mut declares = false;
        for file in files {
            let read = self.source.read(&file);
            let bytes = read.map_err(|error| Unreadable { name: self.source.display(&file), error })?;
            let input = self.input(&file, bytes, Origin::Found);
            declares |= bare.add(self, &file, path, input);
        }
        Ok(declares)
    }

    /// A file that the user named: a catalog, or something that declares kinds itself.
    fn file(&mut self, path: &Path, bytes: Vec<u8>, bare: &mut Bare) -> bool {
        let is_named_so = CATALOG_FILES.iter().any(|name| path.file_name() == Some(OsStr::new(name)));
        let input = self.input(path, bytes, Origin::Named);
        let is_catalog = is_named_so || {
            let arena = Arena::new();
            let documents = input.documents(&arena).map(|(_, documents)| documents).unwrap_or_default();
            documents.iter().any(looks_like_catalog)
        };
        if is_catalog {
            self.catalog_file(path, input.bytes);
            return true;
        }
        bare.add(self, path, folder_of(path), input)
    }

    fn catalog_file(&mut self, path: &Path, bytes: Vec<u8>) {
        let input = self.input(path, bytes, Origin::Ours);
        let arena = Arena::new();
        let Some((_, documents)) = self.decode(&input, &arena) else { return };
        let Some(document) = self.only_document(&input, &documents, "a catalog") else { return };
        let (file, problems) = parse_catalog(document);
        self.report(problems);
        self.catalog.gate = self.catalog.gate.over(&file.gate);
        self.kinds_of(&file, folder_of(path));
    }

    fn kinds_of(&mut self, file: &CatalogFile, folder: &Path) {
        let mut wanted: Vec<Wanted> = Vec::new();
        for (position, entry) in file.kinds.iter().enumerate() {
            if let Schemas::Documents { files, definition } = &entry.schemas {
                wanted.extend(files.iter().map(|(version, document)| Wanted {
                    entry: position,
                    version: version.clone(),
                    path: normalized(&folder.join(&*document.file.item)),
                    named: document.file.span,
                    definition: document.definition.as_ref().or(definition.as_ref()).cloned(),
                }));
            }
        }
        let mut found = documents::lower(self, &wanted);
        for (position, entry) in file.kinds.iter().enumerate() {
            match &entry.schemas {
                Schemas::Definitions(named) => {
                    let chosen = chosen(self, entry, named, folder);
                    for definition in &chosen.kinds {
                        let (mut declaration, span) = self.declaration(definition);
                        declaration.versions.splice(0..0, chosen.former_versions(self));
                        let served =
                            chosen.former.iter().chain([definition]).map(|definition| definition.resource.clone());
                        let kubernetes = served.collect();
                        let told = Told { deprecated: deprecated_in(definition), kubernetes, ..Told::default() };
                        self.add(file, entry, folder, declaration, told, span);
                    }
                }
                Schemas::Documents { files, definition } => {
                    let Some(name) = entry.kind.as_ref().or(definition.as_ref()) else {
                        let message = "a kind in OpenAPI documents needs the name of its definition";
                        let span = files.first().map_or(entry.span, |(version, _)| version.span);
                        self.complain(
                            &rules::MALFORMED_CATALOG,
                            span,
                            message,
                            "add definition:, or kind: for a file that is one schema",
                        );
                        continue;
                    };
                    let mut declaration = Declaration::new("", name.item.clone());
                    let mut told = Told::default();
                    for Found { version, told: of_version } in found.remove(&position).unwrap_or_default() {
                        told.take(&version.name, of_version);
                        declaration.versions.push(version);
                    }
                    for version in &mut declaration.versions {
                        let document = files.iter().find(|(name, _)| name.item == version.name);
                        let own = document.and_then(|(_, document)| document.definition.as_ref());
                        let former = former_names(&entry.was, "").into_iter().map(|was| was.item);
                        version.kind = own.and_then(|own| former.into_iter().find(|was| was.kind == own.item));
                    }
                    if !is_ordered_by_names(&declaration.versions) {
                        declaration.order =
                            Some(declaration.versions.iter().map(|version| version.name.clone()).collect());
                    }
                    self.add(file, entry, folder, declaration, told, name.span);
                }
            }
        }
    }

    /// Completes a kind with what its entry says of it.
    fn add(
        &mut self,
        file: &CatalogFile,
        entry: &KindEntry,
        folder: &Path,
        mut declaration: Declaration,
        told: Told,
        span: Span,
    ) {
        if let Some(changes) = &entry.changes {
            declaration.steps = self.steps(&normalized(&folder.join(&*changes.item)), changes.span);
        }
        declaration.hub.clone_from(&entry.hub);
        declaration.was = former_names(&entry.was, &declaration.group);
        if let Some(order) = &entry.order {
            declaration.order = Some(order.item.iter().map(|name| name.item.clone()).collect());
        }
        let successors = entry.successors.iter().map(|(gone, next)| (gone.item.clone(), next.item.clone()));
        declaration.successors = successors.collect();
        let policies = entry.policies.over(&file.policies, &|name| declaration.version(name.as_str()).is_some());
        declaration.policies = policies.of_lenses();
        let mut kind = self.kind(declaration, folder, policies, span);
        kind.named = match (&entry.kind, &entry.schemas) {
            (Some(kind), _) => kind.span,
            (None, Schemas::Definitions(files)) => files.first().map_or(span, |file| file.span),
            (None, Schemas::Documents { .. }) => span,
        };
        kind.arm = entry.arm.as_ref().map(|arm| arm.resource_type.item.clone()).or(told.resource_type);
        kind.kubernetes = told.kubernetes;
        let subscription = entry.arm.as_ref().and_then(|arm| arm.subscription.as_ref());
        kind.arm_subscription =
            subscription.filter(|_| !kind.kubernetes.is_empty()).map(|subscription| subscription.item.clone());
        kind.told = told.operations;
        kind.gate = entry.gate.over(&file.gate);
        kind.long_running = entry.long_running;
        kind.deprecated.clone_from(&entry.deprecated);
        kind.deprecated.extend(told.deprecated);
        for resource in &mut kind.kubernetes {
            overlay(resource, &kind.declaration.steps, &kind.deprecated);
        }
        kind.computed.clone_from(&entry.computed);
        kind.oldest_writer = entry.oldest_writer.as_ref().map(|version| version.item.clone());
        kind.adopt = entry.adopt.clone().unwrap_or_default();
        kind.external.clone_from(&entry.external);
        let is_chained = |name: &VersionName| entry.successors.iter().any(|(gone, _)| gone.item == *name);
        let successors = entry.successors.iter().map(|(_, next)| next).filter(|next| !is_chained(&next.item));
        let order = entry.order.iter().flat_map(|order| &order.item);
        kind.mentioned.extend(order.chain(entry.policies.versions()).chain(successors).cloned());
        let stored = kind.adopt.version.iter().chain(kind.external.iter().map(|external| &external.version));
        kind.mentioned.extend(stored.chain(&entry.oldest_writer).cloned());
        kind.mentioned.extend(entry.deprecated.iter().map(|deprecation| deprecation.version.clone()));
        verify::verify_entry(&mut self.catalog, &kind, entry);
        self.catalog.kinds.push(kind);
    }

    /// A kind about which nothing is said but by its declaration.
    pub(crate) fn kind(&self, declaration: Declaration, folder: &Path, policies: PolicySet, span: Span) -> Kind {
        let steps = declaration.steps.iter();
        let mentioned = steps.flat_map(|step| step.from.iter().chain([&step.version])).cloned().collect();
        Kind {
            declaration,
            folder: folder.to_owned(),
            arm: None,
            arm_subscription: None,
            kubernetes: Vec::new(),
            told: Vec::new(),
            long_running: None,
            deprecated: Vec::new(),
            computed: Vec::new(),
            policies,
            gate: Gate::default(),
            oldest_writer: None,
            adopt: Adopt::default(),
            external: Vec::new(),
            span,
            named: span,
            mentioned,
        }
    }

    /// Every definition in a file that a catalog names.
    pub(crate) fn definitions_in(&mut self, path: &Path, named: Span) -> Option<Vec<Definition>> {
        if let Some(known) = self.definitions.get(path) {
            return known.clone();
        }
        let definitions = self.named(path, named, Origin::Named).and_then(|input| {
            let arena = Arena::new();
            let (_, documents) = self.decode(&input, &arena)?;
            let definitions = self.definitions(&documents);
            if definitions.is_empty() {
                let message = format!("{} holds no CustomResourceDefinition", input.name);
                self.complain(&rules::UNKNOWN_DEFINITION, named, &message, "name a file that holds one");
            }
            Some(definitions).filter(|definitions| !definitions.is_empty())
        });
        self.definitions.insert(path.to_owned(), definitions.clone());
        definitions
    }

    /// The definitions in decoded documents.
    pub(crate) fn definitions(&mut self, documents: &[Spanned<'_>]) -> Vec<Definition> {
        let mut definitions = Vec::new();
        for reading in documents.iter().flat_map(declared::read) {
            match reading {
                Ok(lowered) => {
                    if let Declared::Definition(definition) = lowered.item {
                        let problems = lowered.problems.into_iter().map(|problem| self.catalog.table.finding(problem));
                        self.catalog.schema_findings.extend(problems);
                        definitions.push(*definition);
                    }
                }
                Err(problem) => self.report(vec![*problem]),
            }
        }
        definitions
    }

    /// What a definition declares, and where its name is.
    pub(crate) fn declaration(&self, definition: &Definition) -> (Declaration, Span) {
        let mut declaration = Declaration::new(definition.group.text.clone(), definition.kind.text.clone());
        let versions = definition.versions.iter().filter_map(|version| {
            let (name, schema) = (&version.name, version.schema.clone()?);
            let mut declared =
                DeclaredVersion::new(VersionName::new(name.text.clone()), schema, Root::Resource, name.span);
            declared.served = version.served;
            Some(declared)
        });
        declaration.versions = versions.collect();
        (declaration, definition.kind.span)
    }

    /// The steps in a changes file that a catalog names.
    fn steps(&mut self, path: &Path, named: Span) -> Steps {
        if let Some(known) = self.changes.get(path) {
            return known.clone();
        }
        let steps = self.named(path, named, Origin::Ours).and_then(|input| {
            let arena = Arena::new();
            let (_, documents) = self.decode(&input, &arena)?;
            if documents.is_empty() {
                return None;
            }
            let (steps, problems) = parse_changes(self.only_document(&input, &documents, "a changes file")?);
            self.report(problems);
            Some(steps)
        });
        let steps = steps.unwrap_or_default();
        self.changes.insert(path.to_owned(), steps.clone());
        steps
    }

    /// A file that a catalog names; what cannot be read is a finding at the name.
    pub(crate) fn named(&mut self, path: &Path, named: Span, origin: Origin) -> Option<Input> {
        // What is left of the folder of the catalog itself is nothing.
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        match self.source.read(path) {
            Ok(bytes) => Some(self.input(path, bytes, origin)),
            Err(error) => {
                let reason = match error.kind() {
                    io::ErrorKind::NotFound => "there is no such file".to_owned(),
                    _ => error.to_string(),
                };
                let message = format!("cannot read {}: {reason}", self.source.display(path));
                let mend = "correct the path, which is relative to the folder of the catalog";
                self.complain(&rules::MISSING_FILE, named, &message, mend);
                None
            }
        }
    }

    pub(crate) fn input(&self, path: &Path, bytes: Vec<u8>, origin: Origin) -> Input {
        Input { name: self.source.display(path), bytes, origin, tree: None }
    }

    /// The documents of a file with spans that say which file it is, and where these begin.
    pub(crate) fn decode<'a>(&mut self, input: &'a Input, arena: &'a Arena) -> Option<(u32, Vec<Spanned<'a>>)> {
        let Some(base) = self.catalog.table.add(input.clone()) else {
            let finding = Finding::new(&rules::UNREADABLE, "all files together are too large", FieldPath::root());
            self.catalog.findings.push(finding.at(input.place(Span { line: 1, column: 1, ..Span::default() })));
            return None;
        };
        match input.documents(arena) {
            Ok((_, documents)) => {
                let moved = documents.iter().map(|document| table::moved(document, base, input.bytes.len(), arena));
                Some((base, moved.collect()))
            }
            Err(mut finding) => {
                if input.origin == Origin::Ours && std::ptr::eq(finding.rule, &rules::UNREADABLE) {
                    let mend =
                        "correct the text at the place shown; paths with [] or {} need quotes inside of { } and [ ]";
                    finding.mend = Some(mend.to_owned());
                }
                self.catalog.findings.push(*finding);
                None
            }
        }
    }

    fn only_document<'d, 'a>(
        &mut self,
        input: &Input,
        documents: &'d [Spanned<'a>],
        what: &str,
    ) -> Option<&'d Spanned<'a>> {
        match documents {
            [document] => Some(document),
            [] => {
                let finding = Finding::new(
                    &rules::MALFORMED_CATALOG,
                    format!("{what} needs kinds, and this file is empty"),
                    FieldPath::root(),
                );
                self.catalog.findings.push(finding.at(input.place(Span { line: 1, column: 1, ..Span::default() })));
                None
            }
            [_, second, ..] => {
                let message = format!("{what} is one document, and here begins another");
                let start = Span { end: second.span.start, ..second.span };
                self.complain(&rules::MALFORMED_CATALOG, start, &message, "write both in one, or in two files");
                None
            }
        }
    }

    pub(crate) fn report(&mut self, problems: Vec<Problem>) {
        let findings = problems.into_iter().map(|problem| self.catalog.table.finding(problem));
        self.catalog.findings.extend(findings);
    }

    pub(crate) fn complain(&mut self, rule: &'static Rule, span: Span, message: &str, mend: &str) {
        self.report(vec![Problem::ours(rule, &FieldSteps::Root, span, message).mend(mend)]);
    }
}

/// What the files of a kind say beside its schemas.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) resource_type: Option<Box<str>>,
    pub(crate) operations: Vec<(VersionName, Operations)>,
    deprecated: Vec<Deprecation>,
    kubernetes: Vec<KubernetesResource>,
}

impl Told {
    /// Takes what the document of a version tells of the requests about it.
    pub(crate) fn take(&mut self, version: &VersionName, told: Option<(String, Operations)>) {
        if let Some((resource_type, operations)) = told {
            self.resource_type = Some(resource_type.into());
            self.operations.push((version.clone(), operations));
        }
    }
}

/// The versions that a definition says are to go.
pub(crate) fn deprecated_in(definition: &Definition) -> Vec<Deprecation> {
    let deprecated = definition.versions.iter().filter(|version| version.deprecated);
    let version = |name: &Named| Located { item: VersionName::new(name.text.clone()), span: name.span };
    deprecated.map(|deprecated| Deprecation { version: version(&deprecated.name), on: None, sunset: None }).collect()
}

/// Whether the order of versions is known from their names alone.
pub(crate) fn is_ordered_by_names(versions: &[DeclaredVersion]) -> bool {
    versions.first().is_none_or(|first| versions.iter().all(|version| first.name.compare_age(&version.name).is_some()))
}

/// Whether a document can be taken for a catalog, whatever the name of its file.
fn looks_like_catalog(document: &Spanned<'_>) -> bool {
    let is_something_else = ["apiVersion", "kind", "swagger", "openapi", "$schema"];
    document.get("kinds").is_some_and(|kinds| kinds.as_array().is_some())
        && is_something_else.iter().all(|key| document.get(key).is_none())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}
