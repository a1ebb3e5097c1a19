//! What a catalog could declare: the CustomResourceDefinitions and OpenAPI documents among some files.

use std::{
    io,
    path::{Path, PathBuf},
};

use wheelwright_document::{Arena, Spanned, encode};
use wheelwright_evolve::VersionName;
use wheelwright_schema::Dialect;

use crate::{
    Input, Origin, Source, Unreadable,
    declared::{self, Declared},
    operations::arm_type,
    resources::{definitions, resources, written},
};

/// The kinds that are declared somewhere among some files.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Survey {
    /// The kinds, in the order they were found.
    pub kinds: Vec<SurveyedKind>,
    /// What was passed over although it declares something, and why.
    pub notes: Vec<String>,
}

/// A kind, and the files that declare it.
#[derive(Debug)]
#[non_exhaustive]
pub struct SurveyedKind {
    /// Its group; empty if it has none.
    pub group: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// What declares it.
    pub found: Surveyed,
}

/// What declares a kind.
#[derive(Debug)]
pub enum Surveyed {
    /// A CustomResourceDefinition.
    Definition {
        /// The file.
        file: PathBuf,
        /// No other kind is declared in it.
        is_alone: bool,
    },
    /// A definition in OpenAPI documents.
    Documents {
        /// A file for each version, oldest first.
        files: Vec<(VersionName, PathBuf)>,
        /// The type of the resource in the Azure Resource Manager, if the paths of the documents tell.
        arm: Option<String>,
    },
}

/// Looks through files and folders. Of OpenAPI documents, those that are named declare their resources, or the wanted
/// definitions; those in folders only what clients put, since most are parts of others.
///
/// # Errors
/// A path cannot be read.
pub fn survey(source: &dyn Source, paths: &[PathBuf], wanted: &[String]) -> Result<Survey, Unreadable> {
    let mut surveyor = Surveyor { source, wanted, survey: Survey::default(), read: Vec::new(), documents: Vec::new() };
    for path in paths {
        if !source.is_folder(path) {
            surveyor.file(path, Origin::Named)?;
            continue;
        }
        let unreadable = |error| Unreadable { name: source.display(path), error };
        for file in source.files(path).map_err(unreadable)? {
            surveyor.file(&file, Origin::Found)?;
        }
    }
    let Surveyor { mut survey, documents, .. } = surveyor;
    for document in documents {
        survey.take(document);
    }
    for kind in &mut survey.kinds {
        if let Surveyed::Documents { files, .. } = &mut kind.found {
            sort_by_age(files);
        }
    }
    Ok(survey)
}

struct Surveyor<'s> {
    source: &'s dyn Source,
    wanted: &'s [String],
    survey: Survey,
    /// The definitions that were read, by group and kind, with what they say.
    read: Vec<(Box<str>, Box<str>, Vec<u8>)>,
    documents: Vec<Document>,
}

/// A definition in an OpenAPI document.
struct Document {
    file: PathBuf,
    /// What to call the file.
    shown: String,
    version: VersionName,
    definition: String,
    arm: Option<String>,
}

impl Surveyor<'_> {
    fn file(&mut self, path: &Path, origin: Origin) -> Result<(), Unreadable> {
        let unreadable = |error| Unreadable { name: self.source.display(path), error };
        let bytes = self.source.read(path).map_err(unreadable)?;
        let input = Input { name: self.source.display(path), bytes, origin, tree: None };
        if origin == Origin::Found && !may_declare(&input.bytes) {
            return Ok(());
        }
        let arena = Arena::for_input(input.bytes.len());
        match input.documents(&arena) {
            Ok((_, documents)) => match documents.first().and_then(Dialect::of) {
                Some(dialect) => self.document(path, &input, &documents[0], dialect),
                None => self.definitions(path, &input, &documents, &arena),
            },
            Err(finding) if origin == Origin::Named => {
                return Err(unreadable(io::Error::new(io::ErrorKind::InvalidData, finding.message.clone())));
            }
            Err(finding) => self.survey.notes.push(format!("{} is passed over: {}", input.name, finding.message)),
        }
        Ok(())
    }

    fn definitions(&mut self, path: &Path, input: &Input, documents: &[Spanned<'_>], arena: &Arena) {
        let mut found = Vec::new();
        for document in documents {
            let text = encode(document.to_value(arena));
            for reading in declared::read(document) {
                match reading.map(|lowered| lowered.item) {
                    Ok(Declared::Definition(definition)) => {
                        found.push((definition.group.text.clone(), definition.kind.text.clone(), text.clone()));
                    }
                    Ok(Declared::Schema(_)) => {}
                    Err(problem) => {
                        self.survey.notes.push(format!("{} is passed over: {}", input.name, problem.message))
                    }
                }
            }
        }
        let is_alone = found.len() == 1;
        for (group, name, text) in found {
            match self.read.iter().find(|(known, kind, _)| (known, kind) == (&group, &name)) {
                Some((.., known)) if *known == text => {}
                Some(_) => {
                    let note = format!("{} declares {name} once more, and otherwise; it is passed over", input.name);
                    self.survey.notes.push(note);
                }
                None => {
                    self.read.push((group.clone(), name.clone(), text));
                    let found = Surveyed::Definition { file: path.to_owned(), is_alone };
                    self.survey.kinds.push(SurveyedKind { group, name, found });
                }
            }
        }
    }

    fn document(&mut self, path: &Path, input: &Input, document: &Spanned<'_>, dialect: Dialect) {
        if !matches!(dialect, Dialect::Swagger2 | Dialect::OpenApi30 | Dialect::OpenApi31) {
            return;
        }
        let written = written(document, dialect);
        let names: Vec<String> = match (self.wanted, input.origin) {
            ([], Origin::Named) => resources(document, dialect),
            ([], _) => resources(document, dialect).into_iter().filter(|_| !written.is_empty()).collect(),
            (wanted, _) => {
                let there = definitions(document, dialect);
                wanted.iter().filter(|name| there.iter().any(|entry| entry.key == name.as_str())).cloned().collect()
            }
        };
        let Some(version) = version(document, path).filter(|_| !names.is_empty()) else {
            if !names.is_empty() {
                let note = format!("{} is passed over: it has no info.version, nor a date for its folder", input.name);
                self.survey.notes.push(note);
            }
            return;
        };
        for definition in names {
            let arm = written.iter().find(|(name, _)| *name == definition).and_then(|(_, path)| arm_type(path));
            let (file, shown, version) = (path.to_owned(), input.name.clone(), version.clone());
            self.documents.push(Document { file, shown, version, definition, arm });
        }
    }
}

impl Survey {
    /// A version of a kind, which may have others already.
    fn take(&mut self, document: Document) {
        let Document { file, shown, version, definition, arm } = document;
        let is_same = |kind: &&mut SurveyedKind| *kind.name == *definition && kind.group.is_empty();
        match self.kinds.iter_mut().find(is_same).map(|kind| &mut kind.found) {
            Some(Surveyed::Documents { files, .. }) => match files.iter().find(|(known, _)| *known == version) {
                None => files.push((version, file)),
                Some(_) => {
                    self.notes.push(format!("{shown} declares {version} of {definition} once more; it is passed over"));
                }
            },
            Some(Surveyed::Definition { .. }) => {
                self.notes.push(format!("{shown} declares {definition} once more; it is passed over"));
            }
            None => {
                let found = Surveyed::Documents { files: vec![(version, file)], arm };
                self.kinds.push(SurveyedKind { group: "".into(), name: definition.into(), found });
            }
        }
    }
}

/// Folders hold files of many sorts, and reading all of them takes long.
fn may_declare(bytes: &[u8]) -> bool {
    let mentions = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    mentions(b"CustomResourceDefinition") || mentions(b"swagger") || mentions(b"openapi")
}

/// What a document calls its version, or the date that its folder is named by.
fn version(document: &Spanned<'_>, path: &Path) -> Option<VersionName> {
    let told = document.get("info").and_then(|info| info.get("version")).and_then(Spanned::as_str);
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let is_date = |name: &&str| VersionName::new(*name).compare_age(&VersionName::new("2000-01-01")).is_some();
    told.or_else(|| folder.filter(is_date)).map(VersionName::new)
}

/// Oldest first, where the names of versions tell; else as they were found.
fn sort_by_age(files: &mut [(VersionName, PathBuf)]) {
    let first = files.first().map(|(version, _)| version.clone());
    if first.is_some_and(|first| files.iter().all(|(version, _)| first.compare_age(version).is_some())) {
        files.sort_by(|(a, _), (b, _)| a.compare_age(b).unwrap_or(std::cmp::Ordering::Equal));
    } else if files.iter().all(|(version, _)| numbers(version).is_some()) {
        files.sort_by_key(|(version, _)| numbers(version));
    }
}

/// The numbers of a version such as `1.10.2`.
fn numbers(version: &VersionName) -> Option<Vec<u64>> {
    version.as_str().split('.').map(|part| part.parse().ok()).collect()
}
