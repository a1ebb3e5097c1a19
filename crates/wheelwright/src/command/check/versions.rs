//! The kinds that are checked version against version: those at the paths of the command, now and at a revision.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt, io,
    path::{Component, Path, PathBuf},
};

use wheelwright_catalog::{
    Catalog, Disk, GitError, Input, Kind, OnDisk, Origin, Revision, Source, Unreadable, files, read_lock,
};
use wheelwright_evolve::{Declaration, KindName};
use wheelwright_findings::{Finding, Level, rules};
use wheelwright_schema::Tree;

use crate::locks::Locks;

/// The kinds at some paths with their locks, and what they were at a revision.
#[derive(Debug, Default)]
pub struct Versions {
    pub(super) now: State,
    pub(super) before: Option<Before>,
    /// Why there is nothing to compare with, although it was asked for.
    pub(super) cannot_compare: Option<String>,
    /// The files and folders whose schemas are checked.
    paths: Vec<PathBuf>,
}

/// Kinds with their locks.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) catalogs: Vec<Loaded>,
    pub(super) locks: Locks,
}

/// A catalog, and how it came to be.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) catalog: Catalog,
    /// No file of ours says anything about its kinds.
    pub(super) is_bare: bool,
    /// The files that were named, if not all of the catalog was.
    pub(super) named: Option<HashSet<String>>,
    /// The kinds that were looked for, if the others are not compared.
    wanted: Option<Vec<KindName>>,
}

/// What there was at a revision.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) kinds: State,
    /// The files at the paths, and those of kinds that moved there, without the revision in their names.
    pub(super) inputs: Vec<Input>,
    /// How the revision was named.
    pub(super) revision: String,
    /// The locks beside catalogs outside the paths, by their folders: a catalog may have moved from there.
    pub(super) other_locks: Vec<(PathBuf, String)>,
    source: Revision,
}

/// Why the versions at some paths cannot be compared with others.
#[derive(Debug)]
#[non_exhaustive]
pub enum VersionsError {
    /// Something cannot be read.
    Unreadable(Unreadable),
    /// There is no such revision, or no repository.
    Git(GitError),
    /// What to compare with is not written as `git:REV`.
    UnknownReference(String),
    /// A path is to be checked with catalogs that do not declare it, or any file in it.
    NotDeclared(PathBuf),
}

impl fmt::Display for VersionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(unreadable) => unreadable.fmt(f),
            Self::Git(error) => error.fmt(f),
            Self::UnknownReference(reference) => {
                write!(
                    f,
                    "cannot compare with {reference:?}; write git: and a revision, such as git:main or git:HEAD~1"
                )
            }
            Self::NotDeclared(path) => write!(
                f,
                "--catalog declares nothing of {}; name files that it declares, or leave one of the two out",
                files::display(path)
            ),
        }
    }
}

impl std::error::Error for VersionsError {}

impl Versions {
    /// Loads the kinds at some paths, and those at `against`, such as `git:main`. A path that declares no kind is passed over:
    /// its schemas are checked all the same. If `catalogs` are named, they alone declare kinds, and the paths narrow down
    /// which of them are meant; without any paths, all are.
    ///
    /// # Errors
    /// A lock or a named catalog cannot be read, the catalogs do not declare a path, or what to compare with is not there. A
    /// shallow clone may lack it: then there is nothing to compare with, and `check` says so.
    pub fn load(
        disk: &OnDisk,
        paths: &[PathBuf],
        catalogs: &[PathBuf],
        against: Option<&str>,
    ) -> Result<Self, VersionsError> {
        let (now, paths) = match (paths, catalogs) {
            (paths, []) => (State::load(disk, paths).map_err(VersionsError::Unreadable)?, paths.to_vec()),
            ([], catalogs) => {
                // A folder that cannot be read as a catalog is one without kinds, but a named catalog must be there.
                for catalog in catalogs {
                    Catalog::load_from(disk, &[catalog]).map_err(VersionsError::Unreadable)?;
                }
                (State::load(disk, catalogs).map_err(VersionsError::Unreadable)?, catalogs.to_vec())
            }
            (paths, catalogs) => {
                let (now, declared) = State::narrowed(disk, "", catalogs, paths).map_err(VersionsError::Unreadable)?;
                if let Some(path) = paths.iter().find(|path| !declared.iter().any(|file| is_in(file, path))) {
                    return Err(VersionsError::NotDeclared(path.clone()));
                }
                (now, declared)
            }
        };
        let Some(against) = against else { return Ok(Self { now, before: None, cannot_compare: None, paths }) };
        let unknown = || VersionsError::UnknownReference(against.to_owned());
        let revision = against.strip_prefix("git:").filter(|name| !name.is_empty()).ok_or_else(unknown)?;
        match Revision::open(Path::new("."), revision) {
            Ok(opened) => {
                let before = Before::load(opened, revision, &paths, catalogs).map_err(VersionsError::Unreadable)?;
                Ok(Self { now, before: Some(before), cannot_compare: None, paths })
            }
            Err(error @ GitError::UnknownRevision { shallow: true, .. }) => {
                Ok(Self { now, before: None, cannot_compare: Some(error.to_string()), paths })
            }
            Err(error) => Err(VersionsError::Git(error)),
        }
    }

    /// The files and folders whose schemas are to be checked.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Whether a file is named, or standard input, and not only folders.
    pub(super) fn has_named_files(&self) -> bool {
        self.paths.iter().any(|path| !path.is_dir())
    }
}

impl State {
    fn load(source: &dyn Source, paths: &[PathBuf]) -> Result<Self, Unreadable> {
        let mut catalogs = Vec::new();
        let (folders, named): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(|path| source.is_folder(path));
        for folder in folders {
            if let Some(file) = CATALOG_FILES.map(|name| folder.join(name)).iter().find(|file| source.is_folder(file)) {
                let error = io::Error::new(io::ErrorKind::IsADirectory, "it is a folder");
                return Err(Unreadable { name: source.display(file), error });
            }
            // Catalogs further down know more than the definitions that they name.
            let below = source.files(folder).unwrap_or_default();
            let below: Vec<_> = below.into_iter().filter(|path| is_catalog(path)).collect();
            let is_bare = !below.iter().any(|path| path.parent() == Some(folder));
            if is_bare {
                catalogs.extend(below.iter().filter_map(|path| load(source, &[path])));
            }
            catalogs.extend(load(source, &[folder]));
        }
        let (ours, named): (Vec<&PathBuf>, Vec<&PathBuf>) = named.into_iter().partition(|path| is_catalog(path));
        catalogs.extend(ours.into_iter().filter_map(|path| load(source, &[path])));
        let mut bare = Vec::new();
        let mut around: BTreeMap<PathBuf, (Catalog, HashSet<String>)> = BTreeMap::new();
        for path in named.into_iter().filter(|path| path.as_os_str() != "-") {
            match catalog_around(source, path) {
                Some((file, catalog)) => {
                    around.entry(file).or_insert((catalog, HashSet::new())).1.insert(source.display(path));
                }
                None => bare.push(path),
            }
        }
        let partly = |(catalog, named)| Loaded { catalog, is_bare: false, named: Some(named), wanted: None };
        catalogs.extend(around.into_values().map(partly));
        // Documents that are named together are versions of one another.
        catalogs.extend((!bare.is_empty()).then(|| load(source, &bare)).flatten());
        let locks = Locks::read(source, catalogs.iter().map(|loaded| &loaded.catalog))?;
        Ok(Self { catalogs, locks })
    }

    /// The kinds of some catalogs that are declared in files at some paths, and these files. The names of files begin with
    /// `prefix` where the source is not the disk.
    fn narrowed(
        source: &dyn Source,
        prefix: &str,
        catalogs: &[PathBuf],
        paths: &[PathBuf],
    ) -> Result<(Self, Vec<PathBuf>), Unreadable> {
        let (mut state, mut declared) = (Self::default(), Vec::new());
        for path in catalogs {
            let catalog = Catalog::load_from(source, &[path])?;
            let is_bare = catalog.inputs().all(|input| input.origin != Origin::Ours);
            let mut named = HashSet::new();
            for input in catalog.inputs() {
                let file = Path::new(input.name.strip_prefix(prefix).unwrap_or(&input.name));
                if paths.iter().any(|path| is_in(file, path)) && named.insert(input.name.clone()) {
                    declared.push(file.to_owned());
                }
            }
            state.catalogs.push(Loaded { catalog, is_bare, named: Some(named), wanted: None });
        }
        state.locks = Locks::read(source, state.catalogs.iter().map(|loaded| &loaded.catalog))?;
        declared.sort();
        declared.dedup();
        Ok((state, declared))
    }

    /// The kinds that came from standard input, which no path leads to again.
    pub(super) fn of_standard_input(input: &Input) -> Result<Self, Unreadable> {
        let source = StandardInput { bytes: &input.bytes, disk: OnDisk::default() };
        let catalogs: Vec<_> = load(&source, &[&PathBuf::from("-")]).into_iter().collect();
        let locks = Locks::read(&source, catalogs.iter().map(|loaded| &loaded.catalog))?;
        Ok(Self { catalogs, locks })
    }

    /// Every kind once, with the catalog that it is in.
    pub(super) fn each(&self) -> impl Iterator<Item = (&Loaded, &Kind)> {
        let mut seen = HashSet::new();
        let all = self.catalogs.iter().flat_map(|loaded| loaded.kinds().map(move |kind| (loaded, kind)));
        all.filter(move |(_, kind)| seen.insert((&*kind.declaration.group, &*kind.declaration.kind)))
    }

    /// The kind that a declaration is about, under any name that it has or had.
    pub(super) fn find(&self, declaration: &Declaration) -> Option<(&Loaded, &Kind)> {
        let is_called_so = |(_, kind): &(&Loaded, &Kind)| kind.declaration.name() == declaration.name();
        let is_same = |(_, kind): &(&Loaded, &Kind)| kind.declaration.is_same_kind(declaration);
        self.each().find(is_called_so).or_else(|| self.each().find(is_same))
    }

    /// The files that were read.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Input> {
        let locks = self.locks.iter().filter_map(|lock| lock.input.as_ref());
        self.catalogs.iter().flat_map(|loaded| loaded.catalog.inputs()).chain(locks)
    }

    /// The files that declare kinds, and are not among those that were looked at: catalogs name files anywhere.
    pub(super) fn inputs_elsewhere<'s>(&'s self, seen: &'s HashSet<String>) -> impl Iterator<Item = Input> + 's {
        let mut own = HashSet::new();
        let of_ours = self.catalogs.iter().filter(|loaded| !loaded.is_bare && loaded.named.is_none());
        let inputs = of_ours.flat_map(|loaded| loaded.catalog.inputs());
        let elsewhere = inputs.filter(move |input| {
            let is_named = matches!(input.origin, Origin::Named | Origin::Referred);
            is_named && !seen.contains(&input.name) && own.insert(&*input.name)
        });
        elsewhere.map(|input| {
            let tree = Disk::around(Path::new(&input.name), None);
            Input { origin: Origin::Found, tree: Some(tree), ..input.clone() }
        })
    }
}

impl Loaded {
    /// The kinds that were asked for.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.catalog.kinds().iter().filter(|kind| {
            let is_wanted = self.wanted.as_ref().is_none_or(|wanted| wanted.contains(&kind.declaration.name()));
            is_wanted && self.named.as_ref().is_none_or(|named| self.files_of(kind).any(|file| named.contains(&file)))
        })
    }

    /// The files with the schemas of a kind.
    fn files_of(&self, kind: &Kind) -> impl Iterator<Item = String> {
        let versions = kind.declaration.versions.iter();
        versions.filter_map(|version| self.catalog.place(version.schema.place_of("")).map(|place| place.file))
    }

    /// What is wrong with the catalog and its changes files.
    pub(super) fn findings(&self, locks: &Locks) -> Vec<Finding> {
        let ours: HashSet<&str> =
            self.catalog.inputs().filter(|input| input.origin == Origin::Ours).map(|input| &*input.name).collect();
        // What is wrong with schemas is found when these are checked.
        let is_about_kinds = |finding: &&Finding| {
            let is_ours = finding.place.as_ref().is_none_or(|place| ours.contains(&*place.file));
            is_ours || finding.rule.id >= rules::MALFORMED_CATALOG.id
        };
        let mut findings: Vec<Finding> = self.catalog.findings().iter().filter(is_about_kinds).cloned().collect();
        findings.extend(self.catalog.unknown_versions(|declaration, version| {
            let locked = locks.iter().find_map(|lock| lock.lock.locked(declaration));
            locked.is_some_and(|locked| locked.history().find(version.as_str()).is_some())
        }));
        findings.extend(locks.unknown_names(&self.catalog));
        if self.is_bare {
            // Charts and kustomizations hold copies of definitions.
            let is_copy = |finding: &Finding| std::ptr::eq(finding.rule, &rules::DUPLICATE_KIND);
            findings = findings
                .into_iter()
                .map(|finding| if is_copy(&finding) { finding.lowered_to(Level::Note) } else { finding })
                .collect();
        }
        findings
    }
}

impl Before {
    fn load(opened: Revision, revision: &str, paths: &[PathBuf], catalogs: &[PathBuf]) -> Result<Self, Unreadable> {
        let source = &opened;
        let is_there = |path: &PathBuf| source.is_folder(path) || source.read(path).is_ok();
        let here = std::env::current_dir().ok();
        let relative = |path: &PathBuf| match here.as_ref().and_then(|here| path.strip_prefix(here).ok()) {
            Some(below) if below.as_os_str().is_empty() => PathBuf::from("."),
            Some(below) => below.to_owned(),
            None => path.clone(),
        };
        let there = |paths: &[PathBuf]| -> Vec<PathBuf> { paths.iter().map(relative).filter(is_there).collect() };
        let (paths, catalogs) = (there(paths), there(catalogs));
        let mut inputs = Vec::new();
        for path in &paths {
            let (files, origin) = match source.is_folder(path) {
                true => (source.files(path).unwrap_or_default(), Origin::Found),
                false => (vec![path.clone()], Origin::Named),
            };
            for file in files {
                let unreadable = |error: io::Error| Unreadable { name: source.display(&file), error };
                let bytes = source.read(&file).map_err(unreadable)?;
                let tree = Some(Disk::around(&file, None));
                inputs.push(Input { name: files::display(&file), bytes, origin, tree });
            }
        }
        let kinds = match catalogs.is_empty() || catalogs == paths {
            true => State::load(source, &paths)?,
            false => State::narrowed(source, &format!("{revision}:"), &catalogs, &paths)?.0,
        };
        let known = |folder: &Path| kinds.locks.iter().any(|lock| lock.folder == folder);
        let mut other_locks = Vec::new();
        for catalog in source.files(Path::new(".")).unwrap_or_default().iter().filter(|path| is_catalog(path)) {
            let folder = catalog.parent().unwrap_or(Path::new(""));
            if let Some(lock) = read_lock(source, folder)?.filter(|_| !known(folder)) {
                other_locks.push((folder.to_owned(), lock.text()));
            }
        }
        Ok(Self { kinds, inputs, revision: revision.to_owned(), other_locks, source: opened })
    }

    /// Looks for kinds that were not at the paths in other files of the revision: in those that were deleted or renamed
    /// since, in those that declare the kind now, and if `is_anywhere`, in all others. Kinds of OpenAPI documents are looked
    /// for only in files that were deleted or renamed. Returns the kinds that are in none, each once.
    pub(super) fn look_elsewhere(&mut self, now: &[&State], is_anywhere: bool) -> Result<Vec<KindName>, Unreadable> {
        let mut missing: Vec<&Kind> = now.iter().flat_map(|state| state.each()).map(|(_, kind)| kind).collect();
        self.retain_missing(&mut missing);
        let (mut gone, mut others) = (BTreeSet::new(), BTreeSet::new());
        for file in self.files_with_kubernetes_kinds(&missing)? {
            if file.exists() {
                others.insert(file)
            } else {
                gone.insert(file)
            };
        }
        gone.extend(self.files_with_openapi_kinds(&missing)?.into_iter().filter(|file| !file.exists()));
        self.add_kinds(&missing, gone)?;
        self.retain_missing(&mut missing);
        let declaring: HashSet<&str> =
            now.iter().flat_map(|state| state.inputs()).map(|input| input.name.as_str()).collect();
        others.retain(|file| is_anywhere || declaring.contains(&*files::display(file)));
        // Without a group, a kind of the same name in a file that is still there is another service's.
        let kubernetes: Vec<&Kind> = missing.iter().copied().filter(|kind| !kind.kubernetes.is_empty()).collect();
        self.add_kinds(&kubernetes, others)?;
        self.retain_missing(&mut missing);
        let mut seen = HashSet::new();
        let names = missing.iter().map(|kind| kind.declaration.name());
        Ok(names.filter(|name| seen.insert(name.clone())).collect())
    }

    /// Keeps the kinds that were not found at the revision under any of their names.
    fn retain_missing(&self, kinds: &mut Vec<&Kind>) {
        let known: HashSet<KindName> = self.kinds.each().flat_map(|(_, kind)| kind.declaration.names()).collect();
        kinds.retain(|kind| !kind.declaration.names().any(|name| known.contains(&name)));
    }

    /// The files of the revision that may have a CustomResourceDefinition of one of some kinds.
    fn files_with_kubernetes_kinds(&self, kinds: &[&Kind]) -> Result<BTreeSet<PathBuf>, Unreadable> {
        let kinds = kinds.iter().filter(|kind| !kind.kubernetes.is_empty());
        let of_groups = self.files_with_any(kinds.flat_map(|kind| kind.declaration.names()).map(|name| name.group))?;
        // Most files that contain a group are manifests.
        let definitions = match of_groups.is_empty() {
            true => BTreeSet::new(),
            false => self.files_with_any(["CustomResourceDefinition".into()].into_iter())?,
        };
        Ok(of_groups.intersection(&definitions).cloned().collect())
    }

    /// The files of the revision that may have one of some kinds that are not Kubernetes kinds. They need not contain its group.
    fn files_with_openapi_kinds(&self, kinds: &[&Kind]) -> Result<BTreeSet<PathBuf>, Unreadable> {
        let kinds = kinds.iter().filter(|kind| kind.kubernetes.is_empty());
        self.files_with_any(kinds.flat_map(|kind| kind.declaration.names()).map(|name| name.kind))
    }

    fn files_with_any(&self, texts: impl Iterator<Item = Box<str>>) -> Result<BTreeSet<PathBuf>, Unreadable> {
        // An empty text is in every file.
        let texts: BTreeSet<Box<str>> = texts.filter(|text| !text.is_empty()).collect();
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        self.source.files_with_any(&texts).map_err(|error| Unreadable { name: self.revision.clone(), error })
    }

    /// Adds those of some kinds that are in files of the revision.
    fn add_kinds(&mut self, missing: &[&Kind], files: BTreeSet<PathBuf>) -> Result<(), Unreadable> {
        let files: Vec<PathBuf> = files.into_iter().collect();
        let State { mut catalogs, locks } = State::load(&self.source, &files)?;
        let missing: HashSet<KindName> = missing.iter().flat_map(|kind| kind.declaration.names()).collect();
        for loaded in &mut catalogs {
            let is_missing = |kind: &&Kind| kind.declaration.names().any(|name| missing.contains(&name));
            loaded.wanted = Some(loaded.kinds().filter(is_missing).map(|kind| kind.declaration.name()).collect());
            let declaring: HashSet<String> = loaded.kinds().flat_map(|kind| loaded.files_of(kind)).collect();
            for input in loaded.catalog.inputs().filter(|input| declaring.contains(&input.name)) {
                let name = self.without_revision(&input.name).to_owned();
                let tree = Some(Disk::around(Path::new(&name), None));
                self.inputs.push(Input { name, tree, ..input.clone() });
            }
        }
        catalogs.retain(|loaded| loaded.kinds().next().is_some());
        self.kinds.catalogs.extend(catalogs);
        self.kinds.locks.extend(locks);
        Ok(())
    }

    /// The name of a file without the revision before it.
    fn without_revision<'n>(&self, name: &'n str) -> &'n str {
        name.strip_prefix(&*self.revision).and_then(|rest| rest.strip_prefix(':')).unwrap_or(name)
    }

    /// A finding of then, in the file as it is named now.
    pub(super) fn renamed(&self, mut finding: Finding) -> Finding {
        if let Some(place) = &mut finding.place {
            place.file = self.without_revision(&place.file).to_owned();
        }
        finding
    }
}

/// The disk, with what came from standard input as the file `-`.
#[derive(Debug)]
struct StandardInput<'i> {
    bytes: &'i [u8],
    disk: OnDisk,
}

impl Source for StandardInput<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path.as_os_str() == "-" { Ok(self.bytes.to_vec()) } else { self.disk.read(path) }
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.as_os_str() != "-" && self.disk.is_folder(path)
    }

    fn files(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.disk.files(folder)
    }

    fn tree(&self, file: &Path) -> Box<dyn Tree + '_> {
        self.disk.tree(file)
    }
}

/// Loads what declares kinds; what does not is checked as schemas, and what cannot be read is reported there.
fn load(source: &dyn Source, paths: &[&PathBuf]) -> Option<Loaded> {
    let catalog = Catalog::load_from(source, paths).ok()?;
    let is_bare = catalog.inputs().all(|input| input.origin != Origin::Ours);
    Some(Loaded { catalog, is_bare, named: None, wanted: None })
}

/// The nearest catalog in the folders around a file that names it: it knows more about the kinds in it than the file.
fn catalog_around(source: &dyn Source, path: &Path) -> Option<(PathBuf, Catalog)> {
    let name = source.display(path);
    for folder in path.ancestors().skip(1) {
        for file in CATALOG_FILES.map(|name| folder.join(name)).into_iter().filter(|file| file != path) {
            let catalog = source.read(&file).ok().and_then(|_| Catalog::load_from(source, &[&file]).ok());
            let names = |catalog: &Catalog| catalog.inputs().any(|input| input.name == name);
            if let Some(catalog) = catalog.filter(names) {
                return Some((file, catalog));
            }
        }
        if source.is_folder(&folder.join(".git")) {
            break;
        }
    }
    None
}

/// Whether a file is the one that is named, or in the folder that is, however both are written.
fn is_in(file: &Path, named: &Path) -> bool {
    let plain = |path: &Path| {
        let mut plain = PathBuf::new();
        for part in std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).components() {
            match part {
                Component::ParentDir => _ = plain.pop(),
                part => plain.push(part),
            }
        }
        plain
    };
    named != Path::new("-") && plain(file).starts_with(plain(named))
}

const CATALOG_FILES: [&str; 3] = ["wheelwright.yaml", "wheelwright.yml", "wheelwright.json"];

fn is_catalog(path: &Path) -> bool {
    CATALOG_FILES.iter().any(|name| path.ends_with(name))
}
