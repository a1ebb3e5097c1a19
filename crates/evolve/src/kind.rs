//! A kind, ready for use: its history, its schemas and its lenses.

use std::sync::Arc;

use wheelwright_document::{Arena, Value};
use wheelwright_schema::{AdmitError, Problem, Program, Root, Stages};

use crate::{
    Declaration, Envelope, FieldId, History, Hooks, Lenses, OlderWrite, Part, Policies, PutError, VersionIndex,
    VersionName, VersionStep, link::Computations, overlaid_schema,
};

/// A kind, compiled. Use it from any number of threads.
#[derive(Debug)]
pub struct Kind {
    group: Box<str>,
    name: Box<str>,
    history: History,
    lenses: Lenses,
    /// The schemas, by version; none for a version that only the lock remembers.
    programs: Vec<Option<Program>>,
    envelope: Envelope,
    policies: Policies,
    computations: Arc<Computations>,
}

impl Kind {
    /// Compiles a declared kind, continuing what a lock remembers of it: its history, and its hub. There is none if it has
    /// no versions.
    pub fn compile(
        declaration: &Declaration,
        locked: Option<(&History, &VersionName)>,
    ) -> (Option<Self>, Vec<Problem>) {
        Self::compile_with(declaration, locked, &Hooks::default())
    }

    /// As [`compile`](Self::compile), with the hooks that changes call by name.
    pub fn compile_with(
        declaration: &Declaration,
        locked: Option<(&History, &VersionName)>,
        hooks: &Hooks,
    ) -> (Option<Self>, Vec<Problem>) {
        let (history, mut problems) = History::derive(declaration, locked.map(|(history, _)| history));
        let (computations, found) = Computations::of(&history, hooks);
        problems.extend(found);
        let Some(hub) = hub_of(declaration, &history, locked.map(|(_, hub)| hub)) else {
            return (None, problems);
        };
        let programs = history.versions.iter().map(|version| {
            let declared = declaration.version(version.name.as_str())?;
            let step = declaration.steps.iter().find(|step| step.version.item == version.name);
            let schema = step.map_or_else(
                || std::borrow::Cow::Borrowed(&declared.schema),
                |step: &VersionStep| overlaid_schema(&declared.schema, step),
            );
            Some(Program::compile(&schema, declared.root))
        });
        let programs = programs.collect();
        let is_resource = declaration.versions.iter().any(|version| version.root == Root::Resource);
        let envelope = match is_resource {
            true => Envelope::Resource(
                history.versions.iter().map(|version| declaration.api_version(&version.name).into()).collect(),
            ),
            false => Envelope::None,
        };
        let mut policies = declaration.policies.clone();
        for step in &declaration.steps {
            if let Some(policy) = &step.older_write {
                policies.older_write_through.push((step.version.item.clone(), policy.item));
            }
        }
        let computations = Arc::new(computations);
        let policy = policy_of(&policies, &history);
        let lenses = Lenses::computing(&history, hub, envelope.clone(), &policy, computations.clone());
        drop(policy);
        let (group, name) = (declaration.group.clone(), declaration.kind.clone());
        (Some(Self { group, name, history, lenses, programs, envelope, policies, computations }), problems)
    }

    /// The group of the kind; empty if it has none.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The name of the kind.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its documents are resources, with apiVersion, kind and metadata.
    pub fn is_resource(&self) -> bool {
        matches!(self.envelope, Envelope::Resource(_))
    }

    /// How documents of a version name it, if they are resources.
    pub fn api_version(&self, version: VersionIndex) -> Option<&str> {
        match &self.envelope {
            Envelope::Resource(api_versions) => api_versions.get(version.position()).map(|text| &**text),
            Envelope::None => None,
        }
    }

    /// Its versions and fields.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The lenses for its hub.
    pub fn lenses(&self) -> &Lenses {
        &self.lenses
    }

    /// The lenses for another hub.
    pub fn lenses_for(&self, hub: VersionIndex) -> Lenses {
        let policy = policy_of(&self.policies, &self.history);
        Lenses::computing(&self.history, hub, self.envelope.clone(), &policy, self.computations.clone())
    }

    /// The lenses for another hub, whose writes keep what their version cannot say, whatever the policies: laws are about
    /// these.
    pub(crate) fn lenses_preserving(&self, hub: VersionIndex) -> Lenses {
        let (envelope, computations) = (self.envelope.clone(), self.computations.clone());
        Lenses::computing(&self.history, hub, envelope, &|_, _| OlderWrite::Preserve, computations)
    }

    /// The schema of a version; none if only the lock remembers it.
    pub fn program(&self, version: VersionIndex) -> Option<&Program> {
        self.programs[version.position()].as_ref()
    }

    /// The version of a name.
    pub fn version(&self, name: &str) -> Option<VersionIndex> {
        self.history.find(name)
    }

    /// The version that the apiVersion of a document names, if it is of this kind.
    pub fn version_of(&self, api_version: &str) -> Option<VersionIndex> {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        (*group == *self.group).then(|| self.version(version)).flatten()
    }

    /// The normal form of a new document: pruned, freed of nulls, with the API defaults of its version, and with the frozen
    /// defaults of everything that the version can say.
    ///
    /// # Errors
    /// The document cannot be decoded as its version, or its defaults would make it too large.
    pub fn normal<'a>(
        &'a self,
        version: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Result<Value<'a>, AdmitError> {
        let defaulted = self.defaulted(version, document, arena)?;
        Ok(self.lenses.fill(version, defaulted, arena))
    }

    /// The normal form of a document that replaces what its version showed so far. As [`normal`](Self::normal), but
    /// reading and writing back adds nothing: API defaults are filled in only for fields that were shown, and in objects
    /// that are new.
    ///
    /// # Errors
    /// As for [`normal`](Self::normal).
    pub fn normal_update<'a>(
        &'a self,
        version: VersionIndex,
        document: Value<'a>,
        shown: Value<'a>,
        arena: &'a Arena,
    ) -> Result<Value<'a>, AdmitError> {
        let defaulted = self.defaulted(version, document, arena)?;
        let defaulted = self.lenses.withdraw(version, defaulted, document, shown, arena);
        Ok(self.lenses.fill(version, defaulted, arena))
    }

    /// A stored document as a version shows it.
    pub fn get<'a>(&'a self, version: VersionIndex, stored: Value<'a>, arena: &'a Arena) -> Value<'a> {
        self.lenses.get(version, stored, arena)
    }

    /// What is stored once a document in normal form was written; see [`Lenses::put`].
    ///
    /// # Errors
    /// The document is no object, or a policy refuses writes that would reset what the version cannot say.
    pub fn put<'a>(
        &'a self,
        version: VersionIndex,
        document: Value<'a>,
        old: Option<Value<'a>>,
        part: Part,
        arena: &'a Arena,
    ) -> Result<Value<'a>, PutError> {
        self.lenses.put(version, document, old, part, arena)
    }

    /// A document with the API defaults of its version, pruned and freed of nulls.
    pub(crate) fn defaulted<'a>(
        &'a self,
        version: VersionIndex,
        document: Value<'a>,
        arena: &'a Arena,
    ) -> Result<Value<'a>, AdmitError> {
        match self.program(version) {
            Some(program) => Ok(program.run(document, arena, Stages::DEFAULT)?.value),
            None => Ok(document),
        }
    }
}

/// The version whose shape is stored: as the lock says, since documents are stored so already, else as pinned, else the
/// newest stable one. What is pinned and no version is the catalog's to tell.
pub(crate) fn hub_of(
    declaration: &Declaration,
    history: &History,
    locked: Option<&VersionName>,
) -> Option<VersionIndex> {
    let pinned = declaration.hub.as_ref().map(|hub| &hub.item);
    let known = [locked, pinned].into_iter().flatten().find_map(|hub| history.find(hub.as_str()));
    known.or_else(|| history.natural_hub())
}

/// What a write through a version does to a field that it cannot say: as the field's policy says, else the version's, else
/// the kind's.
fn policy_of<'p>(policies: &'p Policies, history: &'p History) -> impl Fn(VersionIndex, FieldId) -> OlderWrite + 'p {
    let of_fields: Vec<(FieldId, OlderWrite)> = policies
        .older_write_of
        .iter()
        .filter_map(|(at, policy)| {
            let newest = history.versions.iter().rev();
            let id = newest.filter_map(|version| version.id(version.structure.find(&at.item)?)).next()?;
            Some((id, *policy))
        })
        .collect();
    move |version, id| {
        let of_field = of_fields.iter().find(|(field, _)| *field == id).map(|(_, policy)| *policy);
        let name = &history.version(version).name;
        let through = policies.older_write_through.iter().rev().find(|(through, _)| through == name);
        of_field.or(through.map(|(_, policy)| *policy)).unwrap_or(policies.older_write)
    }
}
