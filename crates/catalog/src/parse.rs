//! Catalog files: what a `wheelwright.yaml` says, read with the place of every part.

use wheelwright_document::{Path, Span, Spanned, SpannedEntry};
use wheelwright_evolve::{Located, Reader, VersionName};
use wheelwright_findings::rules;
use wheelwright_schema::Problem;

use crate::{
    arm::{self, ArmEntry},
    gate::{self, Gate},
    policy::{self, PolicySet},
    service::{self, ComputedField, Deprecation},
    stored::{self, Adopt, External},
};

/// What a catalog file says, before any of the files that it names is read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CatalogFile {
    /// The entries of `kinds`.
    pub kinds: Vec<KindEntry>,
    /// The policies of all kinds.
    pub policies: PolicySet,
    /// `gate` and `rules`: the levels of findings about all kinds.
    pub gate: Gate,
}

/// An entry of `kinds`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KindEntry {
    /// Where the entry was written.
    pub span: Span,
    /// Where its schemas are.
    pub schemas: Schemas,
    /// `kind`: which of the kinds in a file, or what to call a definition.
    pub kind: Option<Located<Box<str>>>,
    /// `was`: the names that the kind had before.
    pub was: Vec<FormerName>,
    /// `arm`: what it is to Azure's resource manager.
    pub arm: Option<ArmEntry>,
    /// `changes`: the changes file.
    pub changes: Option<Located<Box<str>>>,
    /// `hub`: the version whose shape is stored.
    pub hub: Option<Located<VersionName>>,
    /// `order`: the versions, oldest first.
    pub order: Option<Located<Vec<Located<VersionName>>>>,
    /// `successors`: versions that are gone, and those that speak for them.
    pub successors: Vec<(Located<VersionName>, Located<VersionName>)>,
    /// `policies`.
    pub policies: PolicySet,
    /// `gate` and `rules`: the levels of findings about the kind.
    pub gate: Gate,
    /// `oldestWriter`: what programs must know that write records from now on.
    pub oldest_writer: Option<Located<VersionName>>,
    /// `adopt`: documents that were in the store before us.
    pub adopt: Option<Adopt>,
    /// `external`: systems that own fields.
    pub external: Vec<External>,
    /// `longRunning`: whether its writes are done some time after they were answered, whatever its documents say.
    pub long_running: Option<bool>,
    /// `deprecated`: versions that are to go.
    pub deprecated: Vec<Deprecation>,
    /// `computed`: what the service fills in.
    pub computed: Vec<ComputedField>,
}

/// Where the schemas of a kind are.
#[derive(Clone, Debug)]
pub enum Schemas {
    /// `crd`: files with CustomResourceDefinitions.
    Definitions(Vec<Located<Box<str>>>),
    /// `openapi`: a document for each version.
    Documents {
        /// The versions and their files.
        files: Vec<(Located<VersionName>, DocumentEntry)>,
        /// `definition`: which of the definitions in them.
        definition: Option<Located<Box<str>>>,
    },
}

/// Where the schema of a version is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DocumentEntry {
    /// The document.
    pub file: Located<Box<str>>,
    /// The definition in it, if it is not the one of the kind.
    pub definition: Option<Located<Box<str>>>,
}

/// A name that a kind had.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FormerName {
    /// The group, if it is not that of the kind.
    pub group: Option<Box<str>>,
    /// The name.
    pub kind: Box<str>,
    /// Where it was written.
    pub span: Span,
}

const KEYS: &[&str] = &[
    "crd",
    "openapi",
    "definition",
    "kind",
    "was",
    "arm",
    "changes",
    "hub",
    "order",
    "successors",
    "policies",
    "gate",
    "rules",
    "oldestWriter",
    "adopt",
    "external",
    "longRunning",
    "deprecated",
    "computed",
];

/// Reads a catalog file. What is wrong is reported and left out; the rest is read all the same.
pub fn parse_catalog(file: &Spanned<'_>) -> (CatalogFile, Vec<Problem>) {
    let mut reader = Reader::new();
    let mut catalog = CatalogFile::default();
    let root = &Path::Root;
    for entry in reader.entries(file, root, "an object with kinds") {
        let path = &Path::Child(root, entry.key);
        match entry.key {
            "kinds" => {
                let items = reader.list(&entry.value, path, "a list of kinds").iter().enumerate();
                let read = items.map_while(|(index, item)| {
                    (!reader.is_full()).then(|| kind(&mut reader, item, &Path::Index(path, index)))
                });
                catalog.kinds = read.collect::<Vec<_>>().into_iter().flatten().collect();
            }
            "policies" => catalog.policies = policy::read(&mut reader, &entry.value, path, false),
            "gate" => catalog.gate.maturities = gate::maturities(&mut reader, &entry.value, path),
            "rules" => catalog.gate.rules = gate::rules(&mut reader, &entry.value, path),
            _ => reader.unknown_key(entry, path, &["kinds", "policies", "gate", "rules"]),
        }
    }
    if file.as_object().is_some() && file.get("kinds").is_none() {
        lacks(&mut reader, file, root, "a catalog needs kinds", "add kinds: with an entry for each kind");
    }
    if let Some(none) = file.get("kinds").filter(|kinds| kinds.as_array().is_some_and(<[_]>::is_empty)) {
        lacks(&mut reader, none, root, "a catalog needs kinds", "add an entry for each kind");
    }
    (catalog, reader.finish())
}

fn kind(reader: &mut Reader, source: &Spanned<'_>, path: &Path<'_>) -> Option<KindEntry> {
    let Some(entries) = source.as_object() else {
        reader.wrong_sort(source, path, "an object with crd or openapi");
        return None;
    };
    let (mut definitions, mut documents, mut definition) = (None, None, None);
    let mut kind = KindEntry {
        span: source.span,
        schemas: Schemas::Documents { files: Vec::new(), definition: None },
        kind: None,
        was: Vec::new(),
        arm: None,
        changes: None,
        hub: None,
        order: None,
        successors: Vec::new(),
        policies: PolicySet::default(),
        gate: Gate::default(),
        oldest_writer: None,
        adopt: None,
        external: Vec::new(),
        long_running: None,
        deprecated: Vec::new(),
        computed: Vec::new(),
    };
    for entry in entries {
        let path = &Path::Child(path, entry.key);
        let value = &entry.value;
        match entry.key {
            "crd" => definitions = Some((entry, files_of(reader, value, path))),
            "openapi" => documents = Some((entry, documents_of(reader, value, path))),
            "definition" => definition = Some((entry, text(reader, value, path, "the name of a definition"))),
            "kind" => kind.kind = text(reader, value, path, "the name of a kind"),
            "was" => kind.was = former_names(reader, value, path),
            "arm" => kind.arm = arm::read(reader, value, path),
            "changes" => kind.changes = text(reader, value, path, "the path of a file"),
            "hub" => kind.hub = reader.version(value, path),
            "order" => kind.order = order(reader, value, path),
            "successors" => kind.successors = successors(reader, value, path),
            "policies" => kind.policies = policy::read(reader, value, path, true),
            "gate" => kind.gate.maturities = gate::maturities(reader, value, path),
            "rules" => kind.gate.rules = gate::rules(reader, value, path),
            "oldestWriter" => kind.oldest_writer = reader.version(value, path),
            "adopt" => kind.adopt = stored::adopt(reader, value, path),
            "external" => kind.external = stored::external(reader, value, path),
            "longRunning" => kind.long_running = service::long_running(reader, value, path),
            "deprecated" => kind.deprecated = service::deprecated(reader, value, path),
            "computed" => kind.computed = service::computed(reader, value, path),
            _ => reader.unknown_key(entry, path, KEYS),
        }
    }
    match (&definitions, &documents, &definition) {
        (None, None, _) => {
            let mend = "add crd: with the path of a definition, or openapi: with a file for each version";
            lacks(reader, source, path, "a kind needs its schemas", mend);
        }
        (Some(_), Some((entry, _)), _) => superfluous(reader, entry, path, "a kind has crd or openapi, not both"),
        (Some(_), None, Some((entry, _))) => {
            superfluous(
                reader,
                entry,
                path,
                "definition belongs to openapi; a kind in a file of crd is chosen by kind",
            );
        }
        _ => {}
    }
    if let Some(arm) = &kind.arm {
        arm::check_subscription(reader, arm, &Path::Child(path, "arm"), definitions.is_some());
    }
    kind.schemas = match (definitions, documents) {
        (Some((_, files)), _) => Schemas::Definitions(files?),
        (None, documents) => Schemas::Documents {
            files: documents?.1,
            definition: match definition {
                Some((_, named)) => Some(named?),
                None => None,
            },
        },
    };
    Some(kind)
}

/// A file, or a list of them; none if nothing of it can be read.
fn files_of(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<Vec<Located<Box<str>>>> {
    let Some(items) = value.as_array() else {
        return text(reader, value, path, "the path of a file, or a list of them").map(|file| vec![file]);
    };
    if items.is_empty() {
        lacks(reader, value, path, "crd needs a file", "add the path of a definition");
    }
    let items = items.iter().enumerate();
    let read = items.map(|(index, item)| text(reader, item, &Path::Index(path, index), "the path of a file"));
    read.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>().filter(|files| !files.is_empty())
}

fn former_names(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Vec<FormerName> {
    const EXPECTED: &str = "the name of a kind, or an object with group and kind";
    let items = reader.list(value, path, "a list of the names that the kind had").iter().enumerate();
    let mut names = Vec::new();
    for (index, item) in items {
        let path = &Path::Index(path, index);
        let Some(entries) = item.as_object() else {
            let name = text(reader, item, path, EXPECTED);
            names.extend(name.map(|name| FormerName { group: None, kind: name.item, span: name.span }));
            continue;
        };
        let (mut group, mut kind) = (None, None);
        for entry in entries {
            let path = &Path::Child(path, entry.key);
            match entry.key {
                "group" => group = text(reader, &entry.value, path, "a group"),
                "kind" => kind = text(reader, &entry.value, path, "the name of a kind"),
                _ => reader.unknown_key(entry, path, &["group", "kind"]),
            }
        }
        if item.get("kind").is_none() {
            lacks(reader, item, path, "a name that a kind had needs kind", "add kind: with the name");
        }
        let group = group.map(|group| group.item);
        names.extend(kind.map(|Located { item: kind, span }| FormerName { group, kind, span }));
    }
    names
}

fn documents_of(
    reader: &mut Reader,
    value: &Spanned<'_>,
    path: &Path<'_>,
) -> Vec<(Located<VersionName>, DocumentEntry)> {
    let mut files = Vec::new();
    let entries = reader.entries(value, path, "an object with a file for each version");
    for SpannedEntry { key, key_span, value } in entries {
        let path = &Path::Key(path, key);
        let name = reader.version_in(key, *key_span, path);
        files.extend(name.zip(document_entry(reader, value, path)));
    }
    if entries.is_empty() && (value.as_object().is_some() || value.as_scalar().is_some_and(|value| value.is_null())) {
        lacks(
            reader,
            value,
            path,
            "openapi needs a file",
            "add a line for each version, with the path of its document",
        );
    }
    files
}

/// The path of a file, or an object with it and the definition in it.
fn document_entry(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<DocumentEntry> {
    let Some(entries) = value.as_object() else {
        let file = text(reader, value, path, "the path of a file, or an object with file and definition")?;
        return Some(DocumentEntry { file, definition: None });
    };
    let (mut file, mut definition) = (None, None);
    for entry in entries {
        let path = &Path::Child(path, entry.key);
        match entry.key {
            "file" => file = text(reader, &entry.value, path, "the path of a file"),
            "definition" => definition = text(reader, &entry.value, path, "the name of a definition"),
            _ => reader.unknown_key(entry, path, &["file", "definition"]),
        }
    }
    if value.get("file").is_none() {
        lacks(reader, value, path, "a version needs its document", "add file: with the path of a document");
    }
    file.map(|file| DocumentEntry { file, definition })
}

fn order(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>) -> Option<Located<Vec<Located<VersionName>>>> {
    let items = reader.list(value, path, "a list of versions, oldest first").iter().enumerate();
    let read = items.map(|(index, item)| reader.version(item, &Path::Index(path, index)));
    let item: Vec<_> = read.collect::<Vec<_>>().into_iter().flatten().collect();
    value.as_array().map(|_| Located { item, span: value.span })
}

fn successors(
    reader: &mut Reader,
    value: &Spanned<'_>,
    path: &Path<'_>,
) -> Vec<(Located<VersionName>, Located<VersionName>)> {
    let mut successors = Vec::new();
    for SpannedEntry { key, key_span, value } in
        reader.entries(value, path, "an object from versions to their successors")
    {
        let path = &Path::Key(path, key);
        let gone = reader.version_in(key, *key_span, path);
        successors.extend(gone.zip(reader.version(value, path)));
    }
    successors
}

fn text(reader: &mut Reader, value: &Spanned<'_>, path: &Path<'_>, expected: &str) -> Option<Located<Box<str>>> {
    reader.text(value, path, expected).map(|text| Located { item: text.item.into(), span: text.span })
}

fn lacks(reader: &mut Reader, source: &Spanned<'_>, path: &Path<'_>, message: &str, mend: &str) {
    // Of what is long, the beginning is where to look.
    let first = source.as_object().and_then(<[_]>::first).map_or(source.span, |entry| entry.key_span);
    if let Some(problem) = reader.report(&rules::MALFORMED_CATALOG, path, first, message) {
        problem.mend = Some(mend.to_owned());
    }
}

fn superfluous(reader: &mut Reader, entry: &SpannedEntry<'_>, path: &Path<'_>, message: &str) {
    if let Some(problem) = reader.report(&rules::MALFORMED_CATALOG, path, entry.key_span, message) {
        problem.mend = Some("remove the line".to_owned());
    }
}
