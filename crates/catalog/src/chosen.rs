//! Which of the definitions in files an entry of a catalog is about.

use std::path::{Path, PathBuf};

use wheelwright_document::Path as FieldSteps;
use wheelwright_evolve::{DeclaredVersion, KindName, Located, quoted};
use wheelwright_findings::rules;
use wheelwright_schema::{Definition, Problem, closest_of};

use crate::{
    catalog::few,
    disk::normalized,
    load::Loader,
    parse::{FormerName, KindEntry},
};

/// The definitions that an entry is about.
#[derive(Default)]
pub(crate) struct Chosen {
    /// Those of kinds: one, unless the entry says nothing that only one can mean.
    pub(crate) kinds: Vec<Definition>,
    /// Those that declare versions of the one kind under names that it had.
    pub(crate) former: Vec<Definition>,
}

impl Chosen {
    /// The versions that are published under former names.
    pub(crate) fn former_versions(&self, loader: &Loader<'_>) -> Vec<DeclaredVersion> {
        let versions = |definition: &Definition| {
            let (declaration, _) = loader.declaration(definition);
            let name = declaration.name();
            declaration.versions.into_iter().map(move |version| version.published_as(name.clone()))
        };
        self.former.iter().flat_map(versions).collect()
    }
}

/// The names that a kind of a group had.
pub(crate) fn former_names(was: &[FormerName], group: &str) -> Vec<Located<KindName>> {
    let name = |was: &FormerName| KindName::new(was.group.as_deref().unwrap_or(group), was.kind.clone());
    was.iter().map(|was| Located { item: name(was), span: was.span }).collect()
}

/// The definitions in files that an entry is about; none if something is wrong, which is reported.
pub(crate) fn chosen(loader: &mut Loader<'_>, entry: &KindEntry, files: &[Located<Box<str>>], folder: &Path) -> Chosen {
    let paths: Vec<PathBuf> = files.iter().map(|file| normalized(&folder.join(&*file.item))).collect();
    let read = paths.iter().zip(files).map(|(path, file)| loader.definitions_in(path, file.span));
    let Some(definitions) = read.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>() else {
        return Chosen::default();
    };
    let is_former = |definition: &Definition| {
        let is_group = |was: &FormerName| was.group.as_ref().is_none_or(|group| *group == definition.group.text);
        entry.was.iter().any(|was| was.kind == definition.kind.text && is_group(was))
    };
    let (mut former, candidates): (Vec<_>, Vec<_>) = definitions.into_iter().flatten().partition(is_former);
    let kinds = match &entry.kind {
        Some(kind) => of_name(loader, kind, &candidates, &paths),
        None => unnamed(loader, entry, files, candidates),
    };
    if let [kind] = &kinds[..] {
        let names = former_names(&entry.was, &kind.group.text);
        former.retain(|definition| {
            let name = KindName::new(definition.group.text.clone(), definition.kind.text.clone());
            names.iter().any(|was| was.item == name)
        });
    }
    Chosen { kinds, former }
}

/// The definitions of an entry that does not say of which kind it is.
fn unnamed(
    loader: &mut Loader<'_>,
    entry: &KindEntry,
    files: &[Located<Box<str>>],
    candidates: Vec<Definition>,
) -> Vec<Definition> {
    let span = files.first().map_or(entry.span, |file| file.span);
    let says_more = entry.changes.is_some() || entry.hub.is_some() || entry.order.is_some() || entry.arm.is_some();
    let says_of_stored = entry.oldest_writer.is_some() || entry.adopt.is_some() || !entry.external.is_empty();
    let is_about_one = says_more || says_of_stored || !entry.successors.is_empty() || !entry.was.is_empty();
    if candidates.len() > 1 && is_about_one {
        let mend = format!("add kind: with one of {}", few(names(&candidates)));
        let message = match files.len() {
            1 => "the file has several definitions, and the entry is about one",
            _ => "the files have several definitions, and the entry is about one",
        };
        loader.complain(&rules::UNKNOWN_DEFINITION, span, message, &mend);
        return Vec::new();
    }
    if candidates.is_empty() {
        let message = "every kind in the files is one that the kind was, and none what it is";
        loader.complain(&rules::UNKNOWN_DEFINITION, span, message, "name the file that declares the kind, too");
    }
    candidates
}

/// The definition of a kind.
fn of_name(
    loader: &mut Loader<'_>,
    kind: &Located<Box<str>>,
    candidates: &[Definition],
    paths: &[PathBuf],
) -> Vec<Definition> {
    let chosen: Vec<_> = candidates.iter().filter(|definition| definition.kind.text == kind.item).cloned().collect();
    let files: Vec<String> = paths.iter().map(|path| loader.source.display(path)).collect();
    let (files, declare) =
        (few(files.iter().map(String::as_str)), if paths.len() == 1 { "declares" } else { "declare" });
    match &chosen[..] {
        [_] => return chosen,
        [] => {
            let message = format!("{files} {declare} no kind {}", quoted(&kind.item));
            let mend = match closest_of(names(candidates), &kind.item) {
                Some(meant) => format!("write {meant}, if that is what is meant"),
                None => format!("write one of {}", few(names(candidates))),
            };
            loader.complain(&rules::UNKNOWN_DEFINITION, kind.span, &message, &mend);
        }
        [first, second, ..] => {
            let message = format!("{files} {declare} the kind {} twice", quoted(&kind.item));
            let problem = Problem::ours(&rules::DUPLICATE_KIND, &FieldSteps::Root, kind.span, message);
            let problem = problem.related(first.kind.span, "here").related(second.kind.span, "and here");
            loader.report(vec![problem]);
        }
    }
    Vec::new()
}

fn names(definitions: &[Definition]) -> impl Iterator<Item = &str> + Clone {
    definitions.iter().map(|definition| &*definition.kind.text)
}
