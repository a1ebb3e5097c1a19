//! A kind, ready for use: its history, its schemas and its lenses.

use std::sync::Arc;

use wheelwright_document::{Arena, Value};
use wheelwright_schema::{AdmitError, Problem, Program, Root, Stages};

use crate::{
    Declaration, Envelope, FieldId, History, Hooks, KindName, Lenses, LockedKind, NodeIndex, OlderWrite, Part,
    Policies, PutError, TypeMeta, VersionHistory, VersionIndex, VersionName, VersionStep, fact::Facts,
    kind_name::once_each, link::Computations, overlaid_schema,
};

/// A kind, compiled. Use it from any number of threads.
#[derive(Debug)]
pub struct Kind {
    /// All that it ever had, the one of today last.
    names: Vec<KindName>,
    history: History,
    lenses: Lenses,
    /// The schemas, by version; none for a version that only the lock remembers.
    programs: Vec<Option<Program>>,
    envelope: Envelope,
    policies: Policies,
    computations: Arc<Computations>,
    facts: Facts,
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
        let envelope = envelope_of(&history, is_resource);
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
        let published_as = history.versions.iter().flat_map(|version| version.published_as.iter().cloned());
        let names = once_each(declaration.names().chain(published_as).chain([declaration.name()]));
        let facts = Facts::computed(&history, &computations);
        (Some(Self { names, history, lenses, programs, envelope, policies, computations, facts }), problems)
    }

    /// A kind that only a lock remembers: its documents are converted as ever, and neither pruned nor given the API
    /// defaults of their version, since its schemas are gone. That its documents are resources is told by its group. There
    /// is none if it has no versions.
    pub fn remembered(locked: &LockedKind) -> Option<Self> {
        Self::remembered_with(locked, &Hooks::default())
    }

    /// As [`remembered`](Self::remembered), with the hooks that locked changes call by name.
    pub fn remembered_with(locked: &LockedKind, hooks: &Hooks) -> Option<Self> {
        let (history, names) = (locked.history().clone(), locked.names().to_vec());
        let hub = history.find(locked.hub().as_str())?;
        let envelope = envelope_of(&history, !locked.name().group.is_empty());
        let computations = Arc::new(Computations::of(&history, hooks).0);
        let preserve = |_, _| OlderWrite::Preserve;
        let lenses = Lenses::computing(&history, hub, envelope.clone(), &preserve, computations.clone());
        let programs = history.versions.iter().map(|_| None).collect();
        let (policies, facts) = (Policies::default(), Facts::computed(&history, &computations));
        Some(Self { names, history, lenses, programs, envelope, policies, computations, facts })
    }

    /// The group of the kind; empty if it has none.
    pub fn group(&self) -> &str {
        self.names.last().map_or("", |name| &name.group)
    }

    /// The name of the kind.
    pub fn name(&self) -> &str {
        self.names.last().map_or("", |name| &name.kind)
    }

    /// All names that the kind ever had, the one of today last.
    pub fn names(&self) -> &[KindName] {
        &self.names
    }

    /// Whether its documents are resources, with apiVersion, kind and metadata.
    pub fn is_resource(&self) -> bool {
        matches!(self.envelope, Envelope::Resource(_))
    }

    /// How documents of a version name it, if they are resources.
    pub fn api_version(&self, version: VersionIndex) -> Option<&str> {
        match &self.envelope {
            Envelope::Resource(versions) => versions.get(version.position()).map(|meta| &*meta.api_version),
            Envelope::None => None,
        }
    }

    /// The name of the kind as documents of a version have it: a former one, if the version is published under that.
    pub fn name_in(&self, version: VersionIndex) -> &str {
        self.history.version(version).published_as.last().map_or(self.name(), |name| &name.kind)
    }

    /// Its versions and fields.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What its changes say of its fields.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
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

    /// What is computed between the versions.
    pub(crate) fn computations(&self) -> &Computations {
        &self.computations
    }

    /// The schema of a version; none if only the lock remembers it.
    pub fn program(&self, version: VersionIndex) -> Option<&Program> {
        self.programs[version.position()].as_ref()
    }

    /// The version of a name.
    pub fn version(&self, name: &str) -> Option<VersionIndex> {
        self.history.find(name)
    }

    /// The version that the apiVersion of a document names, if it is of this kind. A document that also says its kind
    /// must name one that the version was published under.
    pub fn version_of(&self, api_version: &str, kind: Option<&str>) -> Option<VersionIndex> {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let fits = |name: &KindName| *name.group == *group && kind.is_none_or(|kind| *name.kind == *kind);
        self.version(version).filter(|version| self.history.version(*version).published_as.iter().any(fits))
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
        let defaulted = self.lenses.withdraw(version, defaulted, document, shown, None, arena);
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

/// What documents of every version say of themselves.
pub(crate) fn envelope_of(history: &History, is_resource: bool) -> Envelope {
    let type_meta = |version: &VersionHistory| {
        let name = version.published_as.last()?;
        Some(TypeMeta { api_version: name.api_version(&version.name).into(), kind: name.kind.clone() })
    };
    match history.versions.iter().map(type_meta).collect() {
        Some(versions) if is_resource => Envelope::Resource(versions),
        _ => Envelope::None,
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

/// What a write through a version does to a field that it cannot say: as the policy of the field or else of what it is in says,
/// else the version's, else the kind's.
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
    let of_field = move |id: FieldId| {
        let version = history.versions.iter().rev().find(|version| version.node_of(id).is_some())?;
        let parent = |node: &NodeIndex| version.structure.node(*node).parent;
        let mut own_and_above = std::iter::successors(version.node_of(id), parent).filter_map(|node| version.id(node));
        own_and_above.find_map(|id| of_fields.iter().find(|(field, _)| *field == id).map(|(_, policy)| *policy))
    };
    let of_field: Vec<Option<OlderWrite>> = match policies.older_write_of.is_empty() {
        true => vec![None; history.fields.len()],
        false => history.ids().map(of_field).collect(),
    };
    move |version, id| {
        let name = &history.version(version).name;
        let through = policies.older_write_through.iter().rev().find(|(through, _)| through == name);
        let of_field = of_field.get(id.position()).copied().flatten();
        of_field.or(through.map(|(_, policy)| *policy)).unwrap_or(policies.older_write)
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::encode;

    use super::*;
    use crate::{
        DeclaredVersion, Located, Lock,
        testing::{document, schema},
    };

    /// A Person up to v2, and a Party of another group from v3 on.
    fn party() -> Declaration {
        let mut party = Declaration::new("example.com", "Party");
        let person = KindName::new("crm.example.com", "Person");
        for (name, field) in [("v1", "{a: {type: string}}"), ("v2", "{b: {type: string, default: x}}"), ("v3", "{}")] {
            let schema =
                schema(&format!("{{type: object, properties: {{spec: {{type: object, properties: {field}}}}}}}"));
            let version = DeclaredVersion::new(VersionName::new(name), schema, Root::Resource, Default::default());
            party.versions.push(if name == "v3" { version } else { version.published_as(person.clone()) });
        }
        party.was.push(Located { item: person, span: Default::default() });
        party
    }

    fn compiled(declaration: &Declaration) -> Kind {
        let (kind, problems) = Kind::compile(declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        kind.expect("there are versions")
    }

    fn converted(kind: &Kind, from: &str, to: &str, json: &str) -> String {
        let arena = Arena::new();
        let [from, to] = [from, to].map(|name| kind.version(name).expect("a version"));
        String::from_utf8(encode(kind.convert(from, to, document(json, &arena), &arena).unwrap())).unwrap()
    }

    const PERSON: &str =
        r#"{"apiVersion":"crm.example.com/v1","kind":"Person","metadata":{"name":"n"},"spec":{"a":"1"}}"#;

    /// A field's policy is that of what is in it, and an object stays that holds something which does.
    #[test]
    fn policies_of_fields_count_for_all_that_is_in_them() {
        use OlderWrite::{Preserve, Reject, Reset};
        let object = |fields: &str| format!("{{type: object, properties: {{{fields}}}}}");
        let v1 = object("a: {type: string}");
        let inner = object("z: {type: string}");
        let v2 = object(&format!("a: {{type: string}}, o: {}", object(&format!("x: {{type: string}}, y: {inner}"))));
        let full = r#"{"a":"1","o":{"x":"2","y":{"z":"3"}}}"#;
        let written = |default: OlderWrite, fields: &[(&str, OlderWrite)], hub: &str| {
            let mut declaration = crate::testing::declaration(&[("v1", &v1), ("v2", &v2)], "");
            declaration.hub = Some(Located { item: VersionName::new(hub), span: Default::default() });
            declaration.policies.older_write = default;
            declaration.policies.older_write_of = fields
                .iter()
                .map(|(at, policy)| {
                    (Located { item: crate::Selector::parse(at).unwrap(), span: Default::default() }, *policy)
                })
                .collect();
            let kind = compiled(&declaration);
            let arena = Arena::new();
            let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).unwrap());
            let stored = kind.put(v2, document(full, &arena), None, Part::Whole, &arena).unwrap();
            let put = kind.put(v1, document(r#"{"a":"1"}"#, &arena), Some(stored), Part::Whole, &arena);
            match put {
                Ok(put) => String::from_utf8(encode(kind.get(v2, put, &arena))).unwrap(),
                Err(error) => error.to_string(),
            }
        };
        for hub in ["v1", "v2"] {
            assert_eq!(written(Reset, &[], hub), r#"{"a":"1"}"#);
            assert_eq!(written(Reset, &[("o", Preserve)], hub), full);
            assert_eq!(written(Preserve, &[("o", Reset)], hub), r#"{"a":"1"}"#);
            assert_eq!(written(Reset, &[("o.x", Preserve)], hub), r#"{"a":"1","o":{"x":"2"}}"#);
            assert_eq!(written(Reset, &[("o.y.z", Preserve)], hub), r#"{"a":"1","o":{"y":{"z":"3"}}}"#);
            assert_eq!(written(Preserve, &[("o.y", Reset)], hub), r#"{"a":"1","o":{"x":"2"}}"#);
            assert_eq!(written(Reset, &[("o.y", Preserve), ("o.y.z", Reset)], hub), r#"{"a":"1","o":{"y":{}}}"#);
            let refused = written(Reject, &[("o.x", Preserve)], hub);
            assert_eq!(refused, "the write would reset o.y, which its version cannot say");
        }
    }

    #[test]
    fn documents_of_a_kind_have_the_name_that_their_version_is_published_under() {
        let kind = compiled(&party());
        let party = converted(&kind, "v1", "v3", PERSON);
        assert_eq!(party, r#"{"apiVersion":"example.com/v3","kind":"Party","metadata":{"name":"n"},"spec":{}}"#);
        assert_eq!(converted(&kind, "v3", "v1", &party), PERSON.replace(r#""a":"1""#, ""));
        assert_eq!((kind.name(), kind.group()), ("Party", "example.com"));
        let names = ["v1", "v3"].map(|version| kind.name_in(kind.version(version).unwrap()));
        assert_eq!(names, ["Person", "Party"]);
        let arena = Arena::new();
        let [v1, v3] = ["v1", "v3"].map(|name| kind.version(name).unwrap());
        let back = kind.round_trip(v1, v3, document(PERSON, &arena), &arena).unwrap();
        assert_eq!(String::from_utf8(encode(back)).unwrap(), PERSON);
    }

    #[test]
    fn a_version_is_found_by_the_names_that_it_was_published_under_and_no_others() {
        let kind = compiled(&party());
        let found = |api_version: &str, name| kind.version_of(api_version, name).map(VersionIndex::position);
        assert_eq!(found("crm.example.com/v1", Some("Person")), Some(0));
        assert_eq!(found("crm.example.com/v1", None), Some(0));
        assert_eq!(found("example.com/v3", Some("Party")), Some(2));
        for (api_version, name) in [
            ("crm.example.com/v1", "Party"),
            ("example.com/v1", "Person"),
            ("crm.example.com/v3", "Person"),
            ("example.com/v3", "Person"),
            ("example.com/v4", "Party"),
        ] {
            assert_eq!(found(api_version, Some(name)), None, "{api_version} {name}");
        }
    }

    #[test]
    fn a_kind_that_only_a_lock_remembers_is_converted_without_its_schemas() {
        let declaration = party();
        let lock = Lock::default().grow(&declaration, &History::derive(&declaration, None).0, None).unwrap();
        let kind = Kind::remembered(&lock.kinds()[0]).unwrap();
        assert_eq!(kind.names(), compiled(&declaration).names());
        for version in kind.history().indexes() {
            assert!(kind.program(version).is_none());
        }
        for (from, to) in [("v1", "v3"), ("v1", "v2"), ("v1", "v1")] {
            let declared = converted(&compiled(&declaration), from, to, PERSON);
            assert_eq!(converted(&kind, from, to, PERSON), declared, "frozen defaults are filled in");
        }
        let arena = Arena::new();
        let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).unwrap());
        let unknown = document(&PERSON.replace(r#""a""#, r#""unknown""#), &arena);
        let left_out = kind.left_out(v1, v2, unknown, (unknown, &[]), &arena);
        let left_out: Vec<_> = left_out.iter().map(ToString::to_string).collect();
        assert_eq!(left_out, ["spec.unknown"], "no schema tells, so that it is told here");
    }
}
