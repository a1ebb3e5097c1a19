//! Kinds without a catalog: CustomResourceDefinitions as they are, and OpenAPI documents, each of which is a version.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use wheelwright_document::{Arena, Span, Spanned, encode};
use wheelwright_evolve::{Declaration, DeclaredVersion, VersionName};
use wheelwright_findings::rules;
use wheelwright_schema::{Dialect, Root};

use crate::{
    Input, Origin, PolicySet,
    documents::with_specification,
    load::{Loader, Told, deprecated_in, is_ordered_by_names},
    operations,
    resources::resources,
};

/// What was named on its own so far.
#[derive(Debug, Default)]
pub(crate) struct Bare {
    /// Every definition that was read: what is given twice counts once.
    read: HashSet<Vec<u8>>,
    /// OpenAPI documents that were named.
    documents: Vec<BareDocument>,
}

#[derive(Debug)]
struct BareDocument {
    path: PathBuf,
    folder: PathBuf,
    input: Input,
    dialect: Dialect,
    /// The definitions of resources.
    resources: Vec<String>,
}

impl Bare {
    /// Takes a file, and says whether it declares kinds, or would if nothing were wrong with it. A file that was found in a folder may be anything.
    pub(crate) fn add(&mut self, loader: &mut Loader<'_>, path: &Path, folder: &Path, input: Input) -> bool {
        let arena = Arena::for_input(input.bytes.len());
        if input.origin == Origin::Found && !mentions_definitions(&input) {
            return false;
        }
        // Files are many in a folder, and only those are kept that declare something.
        let Ok((_, documents)) = input.documents(&arena) else {
            loader.decode(&input, &arena);
            return true;
        };
        if let Some(dialect) = documents.first().and_then(Dialect::of) {
            let describes_api = matches!(dialect, Dialect::Swagger2 | Dialect::OpenApi30 | Dialect::OpenApi31);
            if input.origin == Origin::Found || !describes_api {
                return false;
            }
            let resources = resources(&documents[0], dialect);
            let (path, folder) = (path.to_owned(), folder.to_owned());
            drop(documents);
            drop(arena);
            self.documents.push(BareDocument { path, folder, input, dialect, resources });
            return true;
        }
        let Some((_, documents)) = loader.decode(&input, &arena) else { return true };
        let is_new = |document: &&Spanned<'_>| self.read.insert(encode(document.to_value(&arena)));
        let new: Vec<Spanned<'_>> = documents.iter().filter(is_new).copied().collect();
        let findings = loader.catalog.findings.len();
        let definitions = loader.definitions(&new);
        let is_broken = loader.catalog.findings.len() > findings;
        for definition in &definitions {
            let (declaration, span) = loader.declaration(definition);
            let mut kind = loader.kind(declaration, folder, PolicySet::default(), span);
            kind.kubernetes.push(definition.resource.clone());
            kind.deprecated = deprecated_in(definition);
            loader.catalog.kinds.push(kind);
        }
        is_broken || !definitions.is_empty() || new.len() < documents.len()
    }
}

/// Makes kinds of the OpenAPI documents: those in one language are versions of one API.
pub(crate) fn finish(loader: &mut Loader<'_>, bare: Bare) {
    let mut groups: Vec<Vec<BareDocument>> = Vec::new();
    for document in bare.documents {
        match groups.iter_mut().find(|group| group[0].dialect == document.dialect) {
            Some(group) => group.push(document),
            None => groups.push(vec![document]),
        }
    }
    groups.iter().for_each(|documents| group(loader, documents));
}

fn group(loader: &mut Loader<'_>, documents: &[BareDocument]) {
    let mut seen = HashSet::new();
    let names: Vec<&str> = documents.iter().flat_map(|document| &document.resources).map(String::as_str).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| seen.insert(*name)).collect();
    let mut kinds: Vec<(Vec<DeclaredVersion>, Span)> = names.iter().map(|_| (Vec::new(), Span::default())).collect();
    let mut told: Vec<Told> = names.iter().map(|_| Told::default()).collect();
    for document in documents {
        let arena = Arena::for_input(document.input.bytes.len());
        let Some((base, decoded)) = loader.decode(&document.input, &arena) else { continue };
        let Some(root) = decoded.first() else { continue };
        let version = root.get("info").and_then(|info| info.get("version"));
        let Some((version, span)) = version.and_then(|version| Some((version.as_str()?, version.span))) else {
            let span = root.as_object().and_then(<[_]>::first).map_or(root.span, |entry| entry.key_span);
            let mend = "add info.version, or name the version in a catalog";
            loader.complain(&rules::MALFORMED_CATALOG, span, "the document does not say which version it is", mend);
            continue;
        };
        with_specification(loader, base, &document.path, root, &arena, |_, specification, problems| {
            for ((name, (versions, place)), told) in names.iter().zip(&mut kinds).zip(&mut told) {
                let Some(lowered) = specification.lower(name) else { continue };
                problems.extend(lowered.problems);
                let version = VersionName::new(version);
                told.take(&version, operations::of_definition(root, document.dialect, name));
                if versions.is_empty() {
                    *place = span;
                }
                versions.push(DeclaredVersion::new(version, lowered.item, Root::Definition, span));
            }
        });
    }
    // A kind of which no document could be read has been complained about already.
    for ((name, (mut versions, mut span)), told) in
        names.into_iter().zip(kinds).zip(told).filter(|((_, (versions, _)), _)| !versions.is_empty())
    {
        let mut declaration = Declaration::new("", name);
        // The order in which documents are named counts for nothing where their versions are numbers.
        if versions.iter().all(|version| numbers(version.name.as_str()).is_some()) {
            versions.sort_by_key(|version| numbers(version.name.as_str()));
            span = versions.first().map_or(span, |first| first.span);
        }
        if !is_ordered_by_names(&versions) {
            let mut seen = HashSet::new();
            let names = versions.iter().map(|version| version.name.clone());
            declaration.order = Some(names.filter(|name| seen.insert(name.clone())).collect());
        }
        declaration.versions = versions;
        let mut kind = loader.kind(declaration, &documents[0].folder, PolicySet::default(), span);
        (kind.arm, kind.told) = (told.resource_type, told.operations);
        loader.catalog.kinds.push(kind);
    }
}

/// The numbers of a version such as `1.10.2`.
fn numbers(version: &str) -> Option<Vec<u64>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

/// Folders also hold templates and files of other programs.
fn mentions_definitions(input: &Input) -> bool {
    const WORD: &[u8] = b"CustomResourceDefinition";
    input.bytes.windows(WORD.len()).any(|window| window == WORD)
}
