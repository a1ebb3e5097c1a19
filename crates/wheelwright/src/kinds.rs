//! The kinds of a catalog, compiled for commands, and which of them a document is of.

use std::{collections::BTreeMap, io, path::PathBuf};

use wheelwright_catalog::{Catalog, Source};
use wheelwright_document::Spanned;
use wheelwright_evolve::{Declaration, Hooks, Kind, LockedKind, VersionIndex};
use wheelwright_findings::{Finding, Level, rules};
use wheelwright_repository::{RepositoryError, ServedKind};
use wheelwright_schema::check;
use wheelwright_store::Prefix;

use crate::{
    Console, Exit, Input,
    locks::{LockFile, Locks},
    report::{plural, say_errors},
    subject::{Subject, full_name},
};

/// Kinds that are ready for use, and without anything wrong in what declares them.
#[derive(Debug)]
pub struct Kinds {
    catalog: Catalog,
    /// Each with its position in the catalog.
    kinds: Vec<(usize, Kind)>,
    /// Those that only a lock remembers.
    remembered: Vec<Kind>,
    locks: Locks,
}

/// What becomes of a command while something that its catalog declares is not locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unlocked {
    /// It ends: it would write what could mean something else once it is locked.
    Refuse,
    /// It warns: it only reads, or whoever started it has said that nothing is locked.
    Warn,
}

/// What a document says of itself, and what is said of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Names<'n> {
    /// The kind in the document.
    pub(crate) kind: Option<&'n str>,
    /// The apiVersion in the document.
    pub(crate) api_version: Option<&'n str>,
    /// What the apiVersion in the document is, if it is no text.
    pub(crate) other_api_version: Option<&'static str>,
    /// The kind that it is to be taken for.
    pub(crate) chosen_kind: Option<&'n str>,
    /// The version that it is of if it does not say.
    pub(crate) from: Option<&'n str>,
}

impl<'n> Names<'n> {
    /// What a document says of itself.
    pub(crate) fn of(text: impl Fn(&str) -> Option<&'n str>) -> Self {
        Self { kind: text("kind"), api_version: text("apiVersion"), ..Self::default() }
    }
}

impl Kinds {
    /// The files that declare the kinds, as they were named.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.catalog.inputs().map(|input| input.name.as_str())
    }

    /// Compiles the kinds of a catalog that was loaded from a source, with what their locks remember.
    ///
    /// Gives how the command ends if something is wrong with the catalog, which has been said on the console by then.
    ///
    /// # Errors
    /// The console cannot be written to.
    pub fn compile(catalog: Catalog, source: &dyn Source, console: &mut Console<'_>) -> io::Result<Result<Self, Exit>> {
        Self::compile_hooked(catalog, source, None, console)
    }

    /// As [`compile`](Self::compile), with the hooks that changes call by name: one that is not registered is an error.
    ///
    /// # Errors
    /// The console cannot be written to.
    pub fn compile_with(
        catalog: Catalog,
        source: &dyn Source,
        hooks: &Hooks,
        console: &mut Console<'_>,
    ) -> io::Result<Result<Self, Exit>> {
        Self::compile_hooked(catalog, source, Some(hooks), console)
    }

    /// Without hooks, those that are declared are left to the programs that register them.
    fn compile_hooked(
        catalog: Catalog,
        source: &dyn Source,
        hooks: Option<&Hooks>,
        console: &mut Console<'_>,
    ) -> io::Result<Result<Self, Exit>> {
        let registered = &hooks.cloned().unwrap_or_default();
        let locks = match Locks::read(source, [&catalog]) {
            Ok(locks) => locks,
            Err(unreadable) => {
                console.complain(unreadable)?;
                return Ok(Err(Exit::Usage));
            }
        };
        let mut findings = catalog.findings().to_vec();
        findings.extend(locks.iter().flat_map(LockFile::findings));
        let mut kinds = Vec::new();
        for (position, kind) in catalog.kinds().iter().enumerate() {
            let locked = locks.locked(kind).map(|locked| (locked.history(), locked.hub()));
            let (compiled, mut problems) = Kind::compile_with(&kind.declaration, locked, registered);
            problems.extend(locks.of(kind).and_then(|lock| lock.lock.taken_name(&kind.declaration)));
            let subject = Subject { catalog: &catalog, kind };
            findings.extend(problems.into_iter().map(|problem| match hooks {
                Some(_) => subject.problem_of_a_program(problem),
                None => subject.problem(problem),
            }));
            kinds.extend(compiled.map(|compiled| (position, compiled)));
        }
        findings.extend(catalog.unknown_versions(|declaration, version| {
            let mut kinds = kinds.iter().map(|(_, kind)| kind).filter(|kind| *kind.group() == *declaration.group);
            kinds.any(|kind| *kind.name() == *declaration.kind && kind.version(version.as_str()).is_some())
        }));
        findings.extend(locks.unknown_names(&catalog));
        let inputs: Vec<&Input> = catalog.inputs().chain(locks.iter().filter_map(|lock| lock.input.as_ref())).collect();
        let is_unregistered = |finding: &&Finding| std::ptr::eq(finding.rule, &rules::HOOK_NOT_REGISTERED);
        let unregistered: Vec<Finding> = findings.iter().filter(is_unregistered).cloned().collect();
        match say_errors(&inputs, findings, console)? {
            0 => {
                warn_of_schemas(&catalog, console)?;
                warn_of_hooks(&unregistered, console)?;
                let remembered = locks.iter().flat_map(|file| remembered(file, &catalog, registered)).collect();
                Ok(Ok(Self { catalog, kinds, remembered, locks }))
            }
            errors => {
                console.complain(format_args!("the catalog has {}; mend it first", plural(errors, "error")))?;
                Ok(Err(Exit::Findings))
            }
        }
    }

    /// As [`compile`](Self::compile), from what is at some paths of the source.
    ///
    /// # Errors
    /// The console cannot be written to.
    pub fn load(source: &dyn Source, paths: &[PathBuf], console: &mut Console<'_>) -> io::Result<Result<Self, Exit>> {
        match Catalog::load_from(source, paths) {
            Ok(catalog) => Self::compile(catalog, source, console),
            Err(unreadable) => {
                console.complain(unreadable)?;
                Ok(Err(Exit::Usage))
            }
        }
    }

    /// Warns of what is wrong with schemas and was not said yet: whoever writes documents will be refused for it, and can do
    /// nothing about it.
    ///
    /// # Errors
    /// The console cannot be written to.
    pub fn warn_of_what_clients_meet(&self, console: &mut Console<'_>) -> io::Result<()> {
        const MOST: usize = 3;
        let said: Vec<&str> = errors_by_file(self.catalog.schema_findings()).into_keys().collect();
        let versions = self.catalog.kinds().iter().flat_map(|kind| &kind.declaration.versions);
        let problems = versions.flat_map(|version| check::check_schema(&version.schema, version.root));
        let findings: Vec<Finding> = problems.map(|problem| self.catalog.finding(problem)).collect();
        for (file, errors) in errors_by_file(&findings) {
            if said.contains(&file) {
                continue;
            }
            for error in errors.iter().take(MOST) {
                let place = error.place.as_ref().map(|place| format!("{}:{}: ", place.span.line, place.span.column));
                let (place, field) = (place.unwrap_or_default(), &error.field);
                console.say(format_args!("warning: {file}:{place}{field}: {}", error.message))?;
            }
            let more = match errors.len().saturating_sub(MOST) {
                0 => String::new(),
                more => format!(" of these, and of {more} more"),
            };
            console
                .say(format_args!("help: documents are refused for it; wheelwright check {file} says more{more}"))?;
        }
        Ok(())
    }

    /// The catalog that declares them.
    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The kinds, in the order they were declared.
    pub fn iter(&self) -> impl Iterator<Item = &Kind> {
        self.kinds.iter().map(|(_, kind)| kind)
    }

    /// The kinds as they were declared, in the same order.
    pub fn declarations(&self) -> impl Iterator<Item = &Declaration> {
        self.kinds.iter().map(|(position, _)| &self.catalog.kinds()[*position].declaration)
    }

    /// The kinds, ready for a repository.
    ///
    /// # Errors
    /// The name of a kind cannot be the beginning of a key, or two of them have keys that begin alike.
    pub fn into_served(self) -> Result<Vec<ServedKind>, RepositoryError> {
        let Self { catalog, kinds, .. } = self;
        let served = kinds.into_iter().map(|(position, kind)| ServedKind::new(kind, &catalog.kinds()[position]));
        let served = served.collect::<Result<Vec<_>, _>>()?;
        ServedKind::check_keys(&served)?;
        Ok(served)
    }

    /// Says what of the catalog is not locked, which may mean something else once it is, and how the command ends then.
    ///
    /// # Errors
    /// The console cannot be written to.
    pub fn check_locked(&self, unlocked: Unlocked, console: &mut Console<'_>) -> io::Result<Result<(), Exit>> {
        let lacking = self.kinds.iter().filter_map(|(position, kind)| {
            let declared = &self.catalog.kinds()[*position];
            let is_locked =
                self.locks.of(declared).is_some_and(|lock| lock.has_all_of(&declared.declaration, kind.history()));
            (!is_locked).then(|| full_name(&declared.declaration))
        });
        let mut lacking = lacking.peekable();
        if lacking.peek().is_none() {
            return Ok(Ok(()));
        }
        let lacking = format!("the lock does not have all of {}", few(lacking));
        let ended = match unlocked {
            Unlocked::Refuse => {
                let why = "what is written now could mean something else once it is locked";
                console.complain(format_args!("{lacking}: {why}"))?;
                Err(Exit::Findings)
            }
            Unlocked::Warn => {
                let why = "what is stored could mean something else once it is locked";
                console.say(format_args!("warning: {lacking}: {why}"))?;
                Ok(())
            }
        };
        console.say("help: run wheelwright lock, and commit what it adds")?;
        Ok(ended)
    }

    /// The kinds that are not declared any more, and that a lock remembers.
    pub fn remembered(&self) -> &[Kind] {
        &self.remembered
    }

    /// The same by name, with what the keys of their records begin with.
    pub fn remembered_prefixes(&self) -> Vec<(String, Prefix)> {
        let prefix = |kind: &Kind| Some((kind.name().to_owned(), ServedKind::usual_prefix(kind).ok()?));
        self.remembered.iter().filter_map(prefix).collect()
    }

    /// Whether the documents of a kind are those of Azure's resource manager.
    pub(crate) fn is_arm(&self, kind: &Kind) -> bool {
        self.declared(kind).is_some_and(wheelwright_catalog::Kind::is_of_resource_manager)
    }

    /// Whether the objects of a kind are in namespaces; none if it is no kind of a CustomResourceDefinition.
    pub(crate) fn is_namespaced(&self, kind: &Kind) -> Option<bool> {
        self.declared(kind)?.kubernetes.last().map(|resource| resource.is_namespaced)
    }

    /// What the catalog says of a kind; none if only a lock remembers it.
    fn declared(&self, kind: &Kind) -> Option<&wheelwright_catalog::Kind> {
        let position = self.kinds.iter().find(|(_, own)| std::ptr::eq(own, kind)).map(|(position, _)| *position);
        position.map(|position| &self.catalog.kinds()[position])
    }

    /// The kinds of a name, which may have its group behind it and be one that they had: `Order`,
    /// `Order.shop.example.com`. What only a lock remembers is meant where nothing else is.
    ///
    /// # Errors
    /// There is none, and what there is.
    pub(crate) fn named(&self, name: &str) -> Result<Vec<&Kind>, String> {
        let fits = |kind: &&Kind| kind.names().iter().any(|own| own.is_meant_by(name));
        let found = self.first_that(fits);
        if found.is_empty() {
            Err(format!("no kind {name} in the catalog; there is {}", self.what_is_there()))
        } else {
            Ok(found)
        }
    }

    /// The kind and version of a document.
    ///
    /// # Errors
    /// Which of them cannot be told, and what there is.
    pub(crate) fn of(&self, names: Names<'_>) -> Result<(&Kind, VersionIndex), String> {
        let kind = self.kind_of(names)?;
        let own = names.api_version.filter(|_| kind.is_resource());
        let version = match own {
            Some(api_version) => {
                let name = api_version.rsplit_once('/').map_or(api_version, |(_, name)| name);
                let own_kind = names.kind.filter(|_| names.chosen_kind.is_none());
                kind.version_of(api_version, own_kind).ok_or_else(|| no_version_of(kind, name, own_kind))?
            }
            None => {
                let from = names.from.ok_or_else(|| match names.other_api_version.filter(|_| kind.is_resource()) {
                    Some(sort) => {
                        format!("the apiVersion of the document is of type {sort}, not string; {}", versions(kind))
                    }
                    None => format!("the document has no apiVersion and --from is not given; {}", versions(kind)),
                })?;
                return Ok((kind, version(kind, from)?));
            }
        };
        let own = kind.history().version(version).name.as_str();
        match names.from.filter(|from| *from != own) {
            Some(from) => Err(format!("the document is of {own}, and --from says {from}")),
            None => Ok((kind, version)),
        }
    }

    fn kind_of(&self, names: Names<'_>) -> Result<&Kind, String> {
        let group = names.api_version.map(|text| text.rsplit_once('/').map_or("", |(group, _)| group));
        let is_of_group = |kind: &Kind| {
            let has = |group: &str| kind.names().iter().any(|name| *name.group == *group);
            !kind.is_resource() || group.is_none_or(has)
        };
        let candidates: Vec<&Kind> = match names.chosen_kind {
            Some(name) => self.named(name)?,
            // What is no resource has its kind nowhere, and a field of that name is only a field.
            None => {
                let has_both = names.kind.is_some() && names.api_version.is_some();
                let is_resource = has_both && self.iter().any(Kind::is_resource);
                let fits = |kind: &&Kind| match kind.is_resource() {
                    true => names.kind.is_none_or(|name| kind.names().iter().any(|own| *own.kind == *name)),
                    false => !is_resource,
                };
                match self.first_that(|kind| fits(kind) && is_of_group(kind)) {
                    none if none.is_empty() => self.iter().filter(fits).collect(),
                    found => found,
                }
            }
        };
        let fitting: Vec<&Kind> = candidates.iter().copied().filter(|kind| is_of_group(kind)).collect();
        let there = || self.what_is_there();
        match (&fitting[..], names.chosen_kind.or(names.kind)) {
            ([kind], _) => Ok(kind),
            ([], Some(name)) if candidates.is_empty() => {
                Err(format!("no kind {name} in the catalog; there is {}", there()))
            }
            ([], Some(name)) => Err(format!(
                "no kind {name} of group {:?} in the catalog; there is {}",
                group.unwrap_or_default(),
                there()
            )),
            (_, Some(name)) if names.chosen_kind.is_some() => {
                Err(format!("more than one kind {name}; choose with --kind {name}.GROUP: there is {}", there()))
            }
            _ => Err(format!(
                "the document does not say of which kind it is and --kind is not given; there is {}",
                there()
            )),
        }
    }

    /// The declared kinds that fit; if none does, those that only a lock remembers.
    fn first_that(&self, fits: impl Fn(&&Kind) -> bool) -> Vec<&Kind> {
        let found: Vec<&Kind> = self.iter().filter(&fits).collect();
        if found.is_empty() { self.remembered.iter().filter(&fits).collect() } else { found }
    }

    /// The items of a list of resources, such as `kubectl get` writes. A declared kind is no list, whatever its name.
    pub(crate) fn items<'a>(&self, document: &Spanned<'a>) -> Option<&'a [Spanned<'a>]> {
        let kind = document.get("kind")?.as_str()?;
        document.get("apiVersion")?.as_str()?;
        let is_list = kind.ends_with("List")
            && self.iter().all(|declared| declared.names().iter().all(|name| *name.kind != *kind));
        document.get("items")?.as_array().filter(|_| is_list)
    }

    fn what_is_there(&self) -> String {
        let name = |kind: &Kind| match kind.group() {
            "" => kind.name().to_owned(),
            group => format!("{}.{group}", kind.name()),
        };
        few(self.iter().map(name))
    }
}

/// A version of a kind.
///
/// # Errors
/// There is none of the name, and what there is.
pub(crate) fn version(kind: &Kind, name: &str) -> Result<VersionIndex, String> {
    kind.version(name).ok_or_else(|| no_version(kind, name))
}

fn no_version(kind: &Kind, name: &str) -> String {
    format!("{} has no version {name}; {}", kind.name(), versions(kind))
}

fn versions(kind: &Kind) -> String {
    format!("there is {}", few(kind.history().versions.iter().map(|version| version.name.to_string())))
}

/// Why a document that says its kind is of no version: there is none of the name, or it has another name for the kind.
fn no_version_of(kind: &Kind, name: &str, own_kind: Option<&str>) -> String {
    match (kind.version(name), own_kind) {
        (Some(version), Some(own_kind)) if kind.name_in(version) != own_kind => {
            format!("{name} has no kind {own_kind}: it is {} there", kind.name_in(version))
        }
        _ => no_version(kind, name),
    }
}

/// The kinds of a lock that no catalog declares any more.
fn remembered(file: &LockFile, catalog: &Catalog, hooks: &Hooks) -> Vec<Kind> {
    let declared: Vec<_> =
        catalog.kinds().iter().filter_map(|kind| file.lock.locked(&kind.declaration)).map(LockedKind::name).collect();
    let others = file.lock.kinds().iter().filter(|locked| !declared.contains(&locked.name()));
    others.filter_map(|locked| Kind::remembered_with(locked, hooks)).collect()
}

/// Some names for a message, and how many more there are.
pub(crate) fn few(mut names: impl Iterator<Item = String>) -> String {
    const MOST: usize = 10;
    let mut shown: Vec<String> = names.by_ref().take(MOST).collect();
    shown.extend(Some(names.count()).filter(|more| *more > 0).map(|more| format!("{more} more")));
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}

/// Schemas that are written wrongly are used all the same.
fn warn_of_schemas(catalog: &Catalog, console: &mut Console<'_>) -> io::Result<()> {
    for (file, errors) in errors_by_file(catalog.schema_findings()) {
        let errors = plural(errors.len(), "error");
        console.say(format_args!("warning: {file} has {errors}; see wheelwright check {file}"))?;
    }
    Ok(())
}

/// What is wrong, by the file that it is in.
fn errors_by_file(findings: &[Finding]) -> BTreeMap<&str, Vec<&Finding>> {
    let mut errors: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.level == Level::Error) {
        errors.entry(finding.place.as_ref().map_or("", |place| &place.file)).or_default().push(finding);
    }
    errors
}

/// Hooks that only programs register are done without.
fn warn_of_hooks(unregistered: &[Finding], console: &mut Console<'_>) -> io::Result<()> {
    for finding in unregistered {
        let place = finding.place.as_ref();
        let place = place.map(|place| format!("{}:{}:{}: ", place.file, place.span.line, place.span.column));
        let place = place.unwrap_or_default();
        console.say(format_args!("warning: {place}{}: its fields are not converted", finding.message))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use wheelwright_evolve::{History, Lock, VersionName};
    use wheelwright_schema::{NoTree, Tree};

    use super::*;

    /// Files that are nowhere.
    #[derive(Debug)]
    struct InMemory(Vec<(&'static str, String)>);

    impl Source for InMemory {
        fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
            let found = self.0.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| text.clone().into_bytes()).ok_or_else(|| io::ErrorKind::NotFound.into())
        }

        fn is_folder(&self, path: &Path) -> bool {
            path == Path::new("folder")
        }

        fn files(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
            Ok(self.0.iter().map(|(name, _)| name.into()).filter(|path: &PathBuf| path.ends_with("crd.yaml")).collect())
        }

        fn tree(&self, _: &Path) -> Box<dyn Tree + '_> {
            Box::new(NoTree)
        }
    }

    fn definition(versions: &[&str]) -> String {
        let version = |name: &&str| {
            let spec = format!("{{type: object, properties: {{in{name}: {{type: string}}}}}}");
            let schema = format!("{{openAPIV3Schema: {{type: object, properties: {{spec: {spec}}}}}}}");
            format!("  - {{name: {name}, served: true, storage: true, schema: {schema}}}\n")
        };
        let versions: String = versions.iter().map(version).collect();
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: carts.a.example.com}}\n\
             spec:\n  group: a.example.com\n  names: {{kind: Cart, plural: carts}}\n  scope: Cluster\n  \
             versions:\n{versions}"
        )
    }

    fn compile(source: &InMemory) -> (Result<Kinds, Exit>, String) {
        let (mut data, mut conversation) = (Vec::new(), Vec::new());
        let mut console = Console::plain(&mut data, &mut conversation);
        let catalog = Catalog::load_from(source, &["folder"]).unwrap();
        let kinds = Kinds::compile(catalog, source, &mut console).unwrap();
        assert!(data.is_empty());
        (kinds, String::from_utf8(conversation).unwrap())
    }

    #[test]
    fn a_version_that_only_the_lock_remembers_is_still_one() {
        let both = InMemory(vec![("folder/crd.yaml", definition(&["v1", "v2"]))]);
        let catalog = Catalog::load_from(&both, &["folder"]).unwrap();
        let declaration = &catalog.kinds()[0].declaration;
        let (history, _) = History::derive(declaration, None);
        let lock = Lock::default().grow(declaration, &history, Some(&VersionName::new("v1"))).unwrap();
        let dropped = definition(&["v2"]);
        let of = |kinds: &Kinds| {
            let (kind, version) = kinds.of(Names { api_version: Some("a.example.com/v1"), ..Names::default() })?;
            Ok((version, kind.history().version(kind.lenses().hub()).name.to_string()))
        };
        let (kinds, _) = compile(&InMemory(vec![("folder/crd.yaml", dropped.clone())]));
        assert_eq!(of(&kinds.unwrap()), Err("Cart has no version v1; there is v2".to_owned()));
        let locked = InMemory(vec![("folder/crd.yaml", dropped), ("folder/wheelwright.lock", lock.to_string())]);
        let (kinds, said) = compile(&locked);
        let (version, hub) = of(&kinds.unwrap()).unwrap();
        assert_eq!((version.position(), hub.as_str()), (0, "v1"), "{said}");
    }

    #[test]
    fn what_is_not_locked_is_refused_or_warned_of() {
        let catalog =
            Catalog::load_from(&InMemory(vec![("folder/crd.yaml", definition(&["v1"]))]), &["folder"]).unwrap();
        let declaration = &catalog.kinds()[0].declaration;
        let lock = Lock::default().grow(declaration, &History::derive(declaration, None).0, None).unwrap().to_string();
        let locked = |versions: &[&str], lock: &str, unlocked| {
            let files = vec![("folder/crd.yaml", definition(versions)), ("folder/wheelwright.lock", lock.to_owned())];
            let (mut data, mut said) = (Vec::new(), Vec::new());
            let kinds = compile(&InMemory(files)).0.unwrap();
            let checked = kinds.check_locked(unlocked, &mut Console::plain(&mut data, &mut said)).unwrap();
            (checked, String::from_utf8(said).unwrap())
        };
        for unlocked in [Unlocked::Refuse, Unlocked::Warn] {
            assert_eq!(locked(&["v1"], &lock, unlocked), (Ok(()), String::new()));
        }
        let empty = Lock::default().to_string();
        for (versions, lock) in [(&["v1"][..], &empty), (&["v1", "v2"], &lock)] {
            let (checked, said) = locked(versions, lock, Unlocked::Refuse);
            assert_eq!(checked, Err(Exit::Findings));
            assert!(said.starts_with("error: the lock does not have all of Cart.a.example.com: "), "{said}");
            assert!(said.contains("wheelwright lock"), "{said}");
            let (checked, said) = locked(versions, lock, Unlocked::Warn);
            assert_eq!(checked, Ok(()));
            assert!(said.starts_with("warning: the lock does not have all of Cart.a.example.com: "), "{said}");
        }
    }

    #[test]
    fn with_a_lock_that_cannot_be_read_nothing_is_done() {
        let source = InMemory(vec![
            ("folder/crd.yaml", definition(&["v1"])),
            ("folder/wheelwright.lock", "no lock at all\n".to_owned()),
        ]);
        let (kinds, said) = compile(&source);
        assert_eq!(kinds.unwrap_err(), Exit::Findings);
        assert!(said.contains("folder/wheelwright.lock:1:1"), "{said}");
    }

    #[test]
    fn a_document_is_of_the_kind_that_it_names_or_of_the_only_one() {
        let catalog = "kinds: [{crd: crd.yaml}, {openapi: {v1: pool.yaml}, definition: Pool}]";
        let pool = "{swagger: '2.0', info: {title: a, version: v1}, paths: {}, definitions: {Pool: {type: object}}}";
        let source = InMemory(vec![
            ("folder/wheelwright.yaml", catalog.to_owned()),
            ("folder/crd.yaml", definition(&["v1"])),
            ("folder/pool.yaml", pool.to_owned()),
        ]);
        let kinds = compile(&source).0.unwrap();
        let of = |kind, api_version, chosen_kind| {
            let found = kinds.of(Names { kind, api_version, chosen_kind, from: Some("v1"), ..Names::default() });
            found.map_or_else(|_| "none", |(kind, _)| kind.name()).to_owned()
        };
        assert_eq!(of(Some("Cart"), Some("a.example.com/v1"), None), "Cart");
        assert_eq!(of(Some("Pool"), Some("a.example.com/v1"), None), "none", "it says that it is a resource");
        assert_eq!(of(Some("Cart"), Some("b.example.com/v1"), None), "none", "another group has other kinds");
        assert_eq!(of(None, None, None), "none", "it could be both");
        assert_eq!(of(None, None, Some("Pool")), "Pool");
        assert_eq!(of(Some("spot"), Some("v7"), Some("Pool")), "Pool", "these are fields like others there");
        assert_eq!(of(None, None, Some("Cart")), "Cart");
        assert_eq!(of(None, Some("a.example.com/v2"), Some("Cart")), "none", "there is no such version");
    }
}
