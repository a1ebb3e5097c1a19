//! A loaded catalog: every kind that is declared, with everything that is wrong with how it was declared.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use wheelwright_document::Span;
use wheelwright_evolve::{Declaration, KindName, Located, VersionName};
use wheelwright_findings::{Finding, Place, Sources, rules};
use wheelwright_schema::{KubernetesResource, Problem, closest_of};

use crate::{
    Adopt, ComputedField, Deprecation, External, Gate, Input, LongRunning, OnDisk, Operations, PolicySet, Source,
    Unreadable, load, table::FileTable,
};

/// The kinds of a catalog, and the files that declare them.
///
/// A span in a [`Declaration`] says which of the files it is in: [`Catalog::place`] finds it again.
#[derive(Debug, Default)]
pub struct Catalog {
    pub(crate) kinds: Vec<Kind>,
    pub(crate) gate: Gate,
    pub(crate) findings: Vec<Finding>,
    pub(crate) schema_findings: Vec<Finding>,
    pub(crate) without_kinds: Vec<String>,
    pub(crate) table: FileTable,
}

/// A kind of a catalog.
#[derive(Debug)]
#[non_exhaustive]
pub struct Kind {
    /// Its versions and what is said about them.
    pub declaration: Declaration,
    /// The folder that its lock belongs into.
    pub folder: PathBuf,
    /// The type of the resource in the Azure Resource Manager: as the catalog says, or as the paths of its documents tell.
    pub arm: Option<Box<str>>,
    /// The subscription whose resource groups are its namespaces, if it is of CustomResourceDefinitions and served by both
    /// dialects.
    pub arm_subscription: Option<Box<str>>,
    /// How a Kubernetes API server serves it: by the name of today, and by former names that versions are published under.
    /// None for kinds that are in OpenAPI documents.
    pub kubernetes: Vec<KubernetesResource>,
    /// What its documents say of the requests about it, by version.
    pub told: Vec<(VersionName, Operations)>,
    /// Whether its writes are done some time after they were answered, whatever its documents say.
    pub long_running: Option<bool>,
    /// Versions that are to go.
    pub deprecated: Vec<Deprecation>,
    /// What the service fills in.
    pub computed: Vec<ComputedField>,
    /// The policies of the catalog and of the kind, those for lenses and the others.
    pub policies: PolicySet,
    /// The levels of findings about it, as the catalog sets them.
    pub gate: Gate,
    /// What programs must know that write its records from now on.
    pub oldest_writer: Option<VersionName>,
    /// Its documents that were in the store before us.
    pub adopt: Adopt,
    /// Systems that own some of its fields.
    pub external: Vec<External>,
    /// Where its name was declared.
    pub span: Span,
    /// Where a catalog names it, or its file; the same as `span` if none does.
    pub named: Span,
    /// Versions that are named somewhere, and must be declared or locked.
    pub(crate) mentioned: Vec<Located<VersionName>>,
}

impl Catalog {
    /// Loads what is at some paths on disk: catalogs (`wheelwright.yaml`), folders that have one, files with
    /// CustomResourceDefinitions and folders of them, and OpenAPI documents, each of which is a version.
    ///
    /// What is wrong with the files is found and not refused: see [`findings`](Self::findings).
    ///
    /// # Errors
    /// A path cannot be read, or nothing at any of them declares a kind.
    pub fn load<P: AsRef<Path>>(paths: &[P]) -> Result<Self, Unreadable> {
        Self::load_from(&OnDisk::default(), paths)
    }

    /// As [`load`](Self::load), from the disk or from a [`Revision`](crate::Revision).
    ///
    /// # Errors
    /// A path cannot be read, or nothing at any of them declares a kind.
    pub fn load_from<P: AsRef<Path>>(source: &dyn Source, paths: &[P]) -> Result<Self, Unreadable> {
        load::load(source, paths.iter().map(AsRef::as_ref))
    }

    /// The kinds, in the order they were declared.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The levels of findings that the catalog sets for all kinds.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// What is wrong with the catalog and its changes files, but for versions that nobody knows.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What is wrong with how schemas are written; they are used all the same, and checking the files says more.
    pub fn schema_findings(&self) -> &[Finding] {
        &self.schema_findings
    }

    /// The paths at which nothing declares a kind; schemas that stand alone are such, for they have no versions.
    pub fn without_kinds(&self) -> &[String] {
        &self.without_kinds
    }

    /// The versions that are named somewhere and neither declared nor locked.
    pub fn unknown_versions(&self, is_locked: impl Fn(&Declaration, &VersionName) -> bool) -> Vec<Finding> {
        let unknown = |kind: &Kind| {
            let is_known = |name: &VersionName| {
                kind.declaration.version(name.as_str()).is_some() || is_locked(&kind.declaration, name)
            };
            let unknown = kind.mentioned.iter().filter(|mentioned| !is_known(&mentioned.item));
            unknown.map(|mentioned| self.finding(kind.unknown_version(mentioned))).collect::<Vec<_>>()
        };
        self.kinds.iter().flat_map(unknown).collect()
    }

    /// The names that kinds are said to have had, and that neither their files nor a lock know.
    pub fn unknown_names(&self, is_locked: impl Fn(&Declaration, &KindName) -> bool) -> Vec<Finding> {
        let unknown = |kind: &Kind| {
            let declaration = &kind.declaration;
            let is_known = |name: &KindName| {
                let mut versions = declaration.versions.iter();
                versions.any(|version| version.kind.as_ref() == Some(name)) || is_locked(declaration, name)
            };
            // A kind whose files cannot be read has no versions, and that has been said.
            let was = declaration.was.iter().filter(|was| !declaration.versions.is_empty() && !is_known(&was.item));
            was.map(|was| self.finding(kind.unknown_name(was))).collect::<Vec<_>>()
        };
        self.kinds.iter().flat_map(unknown).collect()
    }

    /// The place in a file of a span in a declaration; `None` if it is nowhere.
    pub fn place(&self, span: Span) -> Option<Place> {
        self.table.place(span)
    }

    /// A problem with a declaration, as a finding at its place.
    pub fn finding(&self, problem: Problem) -> Finding {
        self.table.finding(problem)
    }

    /// The files that were read.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.table.inputs()
    }

    /// The texts of the files that were read, for pictures of them.
    pub fn sources(&self) -> Sources {
        self.inputs().map(|input| (input.name.as_str(), input.text())).collect()
    }
}

impl Kind {
    /// The requests about a resource in one of its versions.
    pub fn operations(&self, version: &str) -> Operations {
        let told = self.told.iter().find(|(name, _)| name.as_str() == version).map(|(_, told)| told.clone());
        let mut operations = told.unwrap_or_else(|| Operations::usual(self.arm.as_deref().unwrap_or_default()));
        if let Some(is_long) = self.long_running {
            operations.long_running = LongRunning::all(is_long);
        }
        operations
    }

    /// Whether its documents are those of Azure's resource manager, and not objects of Kubernetes.
    pub fn is_of_resource_manager(&self) -> bool {
        self.arm.is_some() && self.kubernetes.is_empty()
    }

    /// What the keys of its records begin with, if something else decides that than the first name it had.
    pub fn declared_prefix(&self) -> Option<Cow<'_, str>> {
        match (&self.adopt.prefix, &self.arm) {
            (Some(prefix), _) => Some(Cow::Borrowed(&prefix.item)),
            // In one segment: what belongs to a resource is of another type, and not among the records of this one.
            (None, Some(of_type)) if self.is_of_resource_manager() => {
                Some(Cow::Owned(of_type.to_ascii_lowercase().replace('/', ":")))
            }
            _ => None,
        }
    }

    /// What is said of a version that is to go.
    pub fn deprecation(&self, version: &str) -> Option<&Deprecation> {
        self.deprecated.iter().find(|deprecation| deprecation.version.item.as_str() == version)
    }

    /// What is said of a version that the kind does not have.
    pub(crate) fn unknown_version(&self, named: &Located<VersionName>) -> Problem {
        let Declaration { kind, versions, .. } = &self.declaration;
        let path = wheelwright_document::Path::Root;
        let there = || versions.iter().map(|version| version.name.as_str());
        let message = format!("{kind} has no version {}", wheelwright_evolve::quoted(named.item.as_str()));
        let mut problem = Problem::ours(&rules::UNKNOWN_VERSION, &path, named.span, message);
        problem.mend = Some(match closest_of(there(), named.item.as_str()) {
            Some(meant) => format!("write {meant}, if that is what is meant"),
            None => format!("correct the name, or declare the version; there is {}", few(there())),
        });
        problem
    }

    /// What is said of a name that nobody knows.
    fn unknown_name(&self, was: &Located<KindName>) -> Problem {
        let path = wheelwright_document::Path::Root;
        let (is, was, span) = (self.declaration.name(), &was.item, was.span);
        let message = format!("{is} is said to have been {was}, which neither its files nor the lock know");
        Problem::ours(&rules::UNKNOWN_FORMER_KIND, &path, span, message)
    }
}

/// Some names for a message, and how many more there are.
pub(crate) fn few<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let mut shown: Vec<String> = names.by_ref().take(10).map(str::to_owned).collect();
    shown.extend(Some(names.count()).filter(|more| *more > 0).map(|more| format!("{more} more")));
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}
