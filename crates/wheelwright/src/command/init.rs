//! `init`: a catalog for the definitions and documents that are there, with what probably changed between their versions
//! as comments to accept.

use std::{
    collections::HashSet,
    ffi::OsStr,
    fs, io,
    path::{Component, Path, PathBuf},
};

use wheelwright_catalog::{Catalog, OnDisk, Source, Survey, Surveyed, SurveyedKind, files, replace_file, survey};
use wheelwright_document::{Arena, Owned, Value, write_yaml};
use wheelwright_evolve::check::{ProposedStep, proposals_text, propose};
use wheelwright_schema::Tree;

use crate::{
    Console, Exit,
    report::{plural, say_errors},
};

/// What is looked through, and where the catalog goes.
#[derive(Clone, Debug, Default)]
pub struct InitOptions {
    /// The folder of the catalog.
    pub into: PathBuf,
    /// The definitions of OpenAPI documents that are kinds, instead of those that clients put.
    pub definitions: Vec<String>,
    /// Files that are there already are replaced.
    pub force: bool,
    /// Nothing is written; what would be is data.
    pub dry_run: bool,
}

/// Makes a catalog of the definitions and OpenAPI documents at some paths, and a changes file for every kind between whose
/// versions something is open. All that a changes file says is proposed in comments.
///
/// # Errors
/// The console cannot be written to.
pub fn init(paths: &[PathBuf], options: &InitOptions, console: &mut Console<'_>) -> io::Result<Exit> {
    let Survey { kinds, notes, .. } = match survey(&OnDisk::default(), paths, &options.definitions) {
        Ok(survey) => survey,
        Err(unreadable) => return console.complain(unreadable).map(|()| Exit::Usage),
    };
    notes.iter().try_for_each(|note| console.say(format_args!("warning: {note}")))?;
    if kinds.is_empty() {
        console.complain(
            "nothing there declares a kind: no CustomResourceDefinition, and no OpenAPI document with a PUT",
        )?;
        console.say("help: name the OpenAPI documents, and with --definition what is to be a kind")?;
        return Ok(Exit::Usage);
    }
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for kind in &kinds {
        match Entry::new(kind, &options.into) {
            Ok(entry) => entries.push(entry),
            Err(error) => {
                return console.complain(format_args!("cannot find {}: {error}", kind.name)).map(|()| Exit::Usage);
            }
        }
    }
    let catalog_path = options.into.join("wheelwright.yaml");
    let source = Overlay { disk: OnDisk::default(), path: catalog_path.clone(), text: catalog_text(&entries) };
    let catalog = match Catalog::load_from(&source, &[&catalog_path]) {
        Ok(catalog) => catalog,
        Err(unreadable) => return console.complain(unreadable).map(|()| Exit::Usage),
    };
    let inputs: Vec<_> = catalog.inputs().collect();
    if say_errors(&inputs, catalog.findings().to_vec(), console)? > 0 {
        return console.complain("nothing is written; mend that first").map(|()| Exit::Findings);
    }
    for entry in &mut entries {
        let declarations = catalog.kinds().iter().map(|kind| &kind.declaration);
        let mut own = declarations.filter(|own| own.group == entry.kind.group && own.kind == entry.kind.name);
        entry.steps = own.next().map(|declaration| propose(declaration, None)).unwrap_or_default();
    }
    name_changes(&mut entries);
    let mut written = vec![(catalog_path, catalog_text(&entries))];
    for entry in &entries {
        if let Some(changes) = &entry.changes {
            written.push((options.into.join(changes), changes_text(entry)));
        }
    }
    if options.dry_run {
        let text: String =
            written.iter().map(|(path, text)| format!("--- {}\n{text}\n", files::display(path))).collect();
        console.data.write_all(text.as_bytes())?;
        console.data.flush()?;
        return console.say("nothing is written (--dry-run)").map(|()| Exit::Clean);
    }
    if let Some(exit) = write(&written, options, console)? {
        return Ok(exit);
    }
    next_steps(&entries, options, console)?;
    Ok(Exit::Clean)
}

/// A kind as the catalog names it.
struct Entry<'k> {
    kind: &'k SurveyedKind,
    /// The files, as seen from the catalog.
    files: Vec<String>,
    steps: Vec<ProposedStep>,
    /// The changes file, as seen from the catalog, if there is something to propose.
    changes: Option<String>,
}

impl<'k> Entry<'k> {
    fn new(kind: &'k SurveyedKind, into: &Path) -> io::Result<Self> {
        let files: io::Result<Vec<String>> = match &kind.found {
            Surveyed::Definition { file, .. } => Ok(vec![relative(into, file)?]),
            Surveyed::Documents { files, .. } => files.iter().map(|(_, file)| relative(into, file)).collect(),
        };
        Ok(Self { kind, files: files?, steps: Vec::new(), changes: None })
    }

    fn proposals(&self) -> usize {
        self.steps.iter().map(|step| step.proposals.len()).sum()
    }

    /// How the entry is written.
    fn owned(&self) -> Owned {
        let mut keys: Vec<(&str, Owned)> = Vec::new();
        match &self.kind.found {
            Surveyed::Definition { is_alone, .. } => {
                keys.extend(self.files.first().map(|file| ("crd", text(file))));
                keys.extend((!is_alone).then(|| ("kind", text(&self.kind.name))));
            }
            Surveyed::Documents { files, arm } => {
                let versions = files.iter().zip(&self.files).map(|((version, _), file)| (version.as_str(), text(file)));
                keys.push(("openapi", object(versions)));
                keys.push(("definition", text(&self.kind.name)));
                keys.extend(arm.iter().map(|arm| ("arm", text(arm))));
            }
        }
        keys.extend(self.changes.iter().map(|changes| ("changes", text(changes))));
        object(keys)
    }
}

/// Files that are as if they were on disk.
#[derive(Debug)]
struct Overlay {
    disk: OnDisk,
    path: PathBuf,
    text: String,
}

impl Source for Overlay {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == self.path { Ok(self.text.clone().into_bytes()) } else { self.disk.read(path) }
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.disk.is_folder(path)
    }

    fn files(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.disk.files(folder)
    }

    fn tree(&self, file: &Path) -> Box<dyn Tree + '_> {
        self.disk.tree(file)
    }
}

/// A file for the changes of every kind between whose versions something is open; with the group where names repeat, and
/// with a number where that does not tell them apart.
fn name_changes(entries: &mut [Entry<'_>]) {
    let names: Vec<String> = entries.iter().map(|entry| file_name(&entry.kind.name)).collect();
    let mut taken: HashSet<String> = HashSet::new();
    for (entry, name) in entries.iter_mut().zip(&names).filter(|(entry, _)| entry.proposals() > 0) {
        let is_only = names.iter().filter(|other| *other == name).count() == 1;
        let name = match &*entry.kind.group {
            group if !is_only && !group.is_empty() => format!("{name}.{}", file_name(group)),
            _ => name.clone(),
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = [name.clone()].into_iter().chain(numbered).find(|name| taken.insert(name.clone()));
        entry.changes = free.map(|name| format!("changes/{name}.yaml"));
    }
}

/// A name that is one on every system.
fn file_name(name: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || ".-_".contains(letter) { letter } else { '-' };
    name.chars().map(|letter| plain(letter).to_ascii_lowercase()).collect()
}

fn catalog_text(entries: &[Entry<'_>]) -> String {
    let kinds = Owned::Array(entries.iter().map(Entry::owned).collect());
    let arena = Arena::new();
    let catalog = object([("kinds", kinds)]);
    format!(
        "# The kinds of this API, and the files that declare their versions.\n{}",
        write_yaml(catalog.share(&arena))
    )
}

fn changes_text(entry: &Entry<'_>) -> String {
    let name = &entry.kind.name;
    format!(
        "## What happened to {name} on the step into each version, as far as names and schemas tell: old paths on the left,\n\
         ## new ones on the right. Nothing of it holds yet. Take away the `# ` before a line that is right, and before the\n\
         ## lines that it is under; take away the lines that are wrong.\n{}",
        proposals_text(&entry.steps)
    )
}

/// Writes all files or, if one of them is there already, none; says how the command ends if it could not.
fn write(written: &[(PathBuf, String)], options: &InitOptions, console: &mut Console<'_>) -> io::Result<Option<Exit>> {
    let other_names = ["wheelwright.yml", "wheelwright.json"].map(|name| options.into.join(name));
    if let Some(there) = other_names.iter().find(|path| path.exists()) {
        let there = files::display(there);
        console.complain(format_args!(
            "{there} is there already, and a folder has one catalog; remove it, or name another folder with --into"
        ))?;
        return Ok(Some(Exit::Usage));
    }
    let there = written.iter().map(|(path, _)| path).find(|path| path.exists());
    if let Some(there) = there.filter(|_| !options.force) {
        let there = files::display(there);
        console.complain(format_args!(
            "{there} is there already; --force replaces what is there, --dry-run shows what would be written"
        ))?;
        return Ok(Some(Exit::Usage));
    }
    for (path, text) in written {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let done = folder.map_or(Ok(()), fs::create_dir_all).and_then(|()| replace_file(path, text));
        if let Err(error) = done {
            console.complain(format_args!("cannot write {}: {error}", files::display(path)))?;
            return Ok(Some(Exit::Usage));
        }
    }
    Ok(None)
}

fn next_steps(entries: &[Entry<'_>], options: &InitOptions, console: &mut Console<'_>) -> io::Result<()> {
    let catalog = files::display(&options.into.join("wheelwright.yaml"));
    console.say(format_args!("wrote {catalog}: {}", plural(entries.len(), "kind")))?;
    for entry in entries {
        let Some(changes) = &entry.changes else { continue };
        let likely = entry.steps.iter().flat_map(|step| &step.proposals).filter(|proposal| proposal.is_likely).count();
        let (path, count) = (files::display(&options.into.join(changes)), plural(entry.proposals(), "proposal"));
        console.say(format_args!("wrote {path}: {count}, {likely} likely"))?;
    }
    let there = options.into.components().all(|component| component == Component::CurDir);
    let at = if there { String::new() } else { format!(" --catalog {}", files::display(&options.into)) };
    let path = if there { String::new() } else { format!(" {}", files::display(&options.into)) };
    console.say("next:")?;
    if entries.iter().any(|entry| entry.changes.is_some()) {
        console.say("  read the proposals, and take away the # before those that are right")?;
    }
    console.say(format_args!("  wheelwright check{path}    what is still open, and what versions do to each other"))?;
    console.say(format_args!("  wheelwright lock{at}    write down for good which field is which"))
}

/// A file as seen from a folder, with `/` on every system.
fn relative(folder: &Path, file: &Path) -> io::Result<String> {
    // A folder that is not there yet has no place of its own, but the one above it has.
    let folder = std::path::absolute(folder)?;
    let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(&folder);
    let rest = folder.strip_prefix(existing).unwrap_or(Path::new(""));
    let folder = existing.canonicalize()?.join(rest);
    let file = file.canonicalize()?;
    let common = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| OsStr::new(".."));
    let steps = up.chain(file.components().skip(common).map(Component::as_os_str));
    Ok(steps.map(OsStr::to_string_lossy).collect::<Vec<_>>().join("/"))
}

fn text(text: &str) -> Owned {
    Owned::from(Value::string(text))
}

fn object<'n>(entries: impl IntoIterator<Item = (&'n str, Owned)>) -> Owned {
    Owned::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}
