//! OpenAPI and JSON Schema documents that a catalog names: each is read once, for all kinds that are in it.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use wheelwright_document::{Arena, Path as Steps, Span, Spanned};
use wheelwright_evolve::{DeclaredVersion, Located, VersionName, quoted};
use wheelwright_findings::rules;
use wheelwright_schema::{Dialect, Lowered, Problem, Root, Specification, closest_of};

use crate::{Input, Operations, Origin, catalog::few, load::Loader, operations};

/// A version that an entry of a catalog has in a file.
pub(crate) struct Wanted {
    /// The position of the entry.
    pub(crate) entry: usize,
    pub(crate) version: Located<VersionName>,
    pub(crate) path: PathBuf,
    /// Where the file is named.
    pub(crate) named: Span,
    /// The definition in it; without, the document is one schema.
    pub(crate) definition: Option<Located<Box<str>>>,
}

/// A version that was found in a document.
pub(crate) struct Found {
    pub(crate) version: DeclaredVersion,
    /// The type of its resource and the requests about it, if the document tells.
    pub(crate) told: Option<(String, Operations)>,
}

/// The versions of every entry, in the order they are wanted.
pub(crate) fn lower(loader: &mut Loader<'_>, wanted: &[Wanted]) -> HashMap<usize, Vec<Found>> {
    let mut by_file: BTreeMap<&PathBuf, Vec<usize>> = BTreeMap::new();
    for (position, want) in wanted.iter().enumerate() {
        by_file.entry(&want.path).or_default().push(position);
    }
    let mut lowered = Vec::new();
    for (path, positions) in by_file {
        let wants: Vec<&Wanted> = positions.iter().map(|position| &wanted[*position]).collect();
        let Some(input) = loader.named(path, wants[0].named, Origin::Referred) else { continue };
        let found = lower_file(loader, path, &input, &wants);
        lowered.extend(positions.into_iter().zip(found));
    }
    lowered.sort_unstable_by_key(|(position, _)| *position);
    let mut versions: HashMap<usize, Vec<Found>> = HashMap::new();
    for (position, version) in lowered {
        versions.entry(wanted[position].entry).or_default().extend(version);
    }
    versions
}

fn lower_file(loader: &mut Loader<'_>, path: &Path, input: &Input, wants: &[&Wanted]) -> Vec<Option<Found>> {
    let arena = Arena::for_input(input.bytes.len());
    let Some((base, documents)) = loader.decode(input, &arena) else { return Vec::new() };
    let lowered = documents.first().and_then(|document| {
        with_specification(loader, base, path, document, &arena, |loader, specification, problems| {
            let found = wants.iter().map(|want| {
                let version = lower_one(loader, input, specification, want, problems)?;
                let told = Dialect::of(document)
                    .zip(want.definition.as_ref())
                    .and_then(|(dialect, definition)| operations::of_definition(document, dialect, &definition.item));
                Some(Found { version, told })
            });
            found.collect()
        })
    });
    if lowered.is_none() {
        let message = format!("{} is no OpenAPI and no JSON Schema document", input.name);
        loader.complain(&rules::UNKNOWN_DEFINITION, wants[0].named, &message, "name a document that is");
    }
    lowered.unwrap_or_default()
}

/// Works with a document that declares schemas, if it is one. Problems are found at their places, in other files too.
pub(crate) fn with_specification<'a, T>(
    loader: &mut Loader<'_>,
    base: u32,
    path: &Path,
    document: &'a Spanned<'a>,
    arena: &'a Arena,
    work: impl FnOnce(&mut Loader<'_>, &mut Specification<'_, 'a>, &mut Vec<Problem>) -> T,
) -> Option<T> {
    let source = loader.source;
    let tree = source.tree(path);
    let mut specification = Specification::open_at(base, &path.to_string_lossy(), document, &*tree, arena)?;
    let mut problems = Vec::new();
    let done = work(loader, &mut specification, &mut problems);
    let bytes = specification.other_files().map(|(_, bytes)| bytes);
    let mut others: Vec<_> = specification.other_bases().zip(bytes).collect();
    others.sort_unstable_by_key(|((base, _), _)| *base);
    for ((base, name), bytes) in others {
        let other = loader.input(Path::new(name), bytes.to_vec(), Origin::Referred);
        loader.catalog.table.add_at(base, other);
    }
    let findings = problems.into_iter().map(|problem| loader.catalog.table.finding(problem));
    loader.catalog.schema_findings.extend(findings);
    Some(done)
}

fn lower_one(
    loader: &mut Loader<'_>,
    input: &Input,
    specification: &mut Specification<'_, '_>,
    want: &Wanted,
    problems: &mut Vec<Problem>,
) -> Option<DeclaredVersion> {
    let lowered = match &want.definition {
        Some(definition) => specification.lower(&definition.item),
        None => specification.lower_root(),
    };
    let Some(Lowered { item, problems: found }) = lowered else {
        let names = || specification.definitions();
        let (message, mend) = match &want.definition {
            Some(definition) => (
                format!("{} declares no definition {}", input.name, quoted(&definition.item)),
                match closest_of(names(), &definition.item) {
                    Some(meant) => format!("write definition: {meant}, if that is what is meant"),
                    None => format!("write one of {}", few(names())),
                },
            ),
            None => (
                format!("{} is not one schema but holds definitions", input.name),
                format!("add definition: with one of {}", few(names())),
            ),
        };
        let problem = Problem::ours(&rules::UNKNOWN_DEFINITION, &Steps::Root, want.named, message).mend(mend);
        loader.report(vec![match &want.definition {
            Some(definition) => problem.related(definition.span, "named here"),
            None => problem,
        }]);
        return None;
    };
    problems.extend(found);
    Some(DeclaredVersion::new(want.version.item.clone(), item, Root::Definition, want.version.span))
}
