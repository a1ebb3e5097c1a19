//! Files as they were at a revision in git. Only objects that are there are read; nothing is ever fetched.

use std::{
    collections::BTreeSet,
    error::Error,
    fmt,
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use wheelwright_schema::{Refused, Tree};

use crate::{
    MAX_BYTES, Source,
    disk::{LEADS_OUT, has_scheme, normalized},
    files,
};

/// The files of a commit.
#[derive(Clone, Debug)]
pub struct Revision {
    /// Where users stand: paths are relative to it.
    folder: PathBuf,
    /// As the user wrote it.
    name: String,
    commit: String,
}

/// Why a revision cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum GitError {
    /// The program is not there, or cannot be started.
    NoGit(io::Error),
    /// The folder is in no repository, or git refuses to look at it.
    NoRepository {
        /// The folder.
        folder: PathBuf,
        /// What git says.
        reason: String,
    },
    /// There is no such commit.
    UnknownRevision {
        /// As the user wrote it.
        revision: String,
        /// The clone has only the newest commits, and the revision may be among the others.
        shallow: bool,
    },
}

impl fmt::Display for GitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGit(error) => {
                write!(f, "cannot run git: {error}; install it, or compare with the committed lock instead")
            }
            Self::NoRepository { folder, reason } => {
                write!(f, "{} is in no git repository that can be read: {reason}", files::display(folder))
            }
            Self::UnknownRevision { revision, shallow: false } => {
                write!(f, "there is no revision {revision:?} in this repository; git log lists those that are there")
            }
            Self::UnknownRevision { revision, shallow: true } => write!(
                f,
                "there is no revision {revision:?} in this clone, which is shallow; fetch it (git fetch --unshallow, \
                 or fetch-depth: 0 in a workflow), or rely on the committed lock"
            ),
        }
    }
}

impl Error for GitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NoGit(error) => Some(error),
            _ => None,
        }
    }
}

/// A command line has a limit.
const TEXTS_AT_ONCE: usize = 200;

impl Revision {
    /// Looks a revision up: a commit, a branch, a tag, `HEAD~1`. Paths will be relative to `folder`.
    ///
    /// # Errors
    /// There is no git, no repository, or no such revision in it.
    pub fn open(folder: &Path, name: &str) -> Result<Self, GitError> {
        let ask = |arguments: &[&str]| run(folder, arguments).map_err(GitError::NoGit);
        let repository = ask(&["rev-parse", "--is-shallow-repository"])?;
        if !repository.is_success {
            let reason = repository.complaint();
            return Err(GitError::NoRepository { folder: folder.to_owned(), reason });
        }
        let commit = ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])?;
        // A name of forty digits passes for a commit until its object is asked for.
        let is_there = |commit: &str| ask(&["cat-file", "-e", &format!("{commit}^{{tree}}")]).map(|run| run.is_success);
        let id = commit.text();
        if !commit.is_success || id.is_empty() || !is_there(&id)? {
            let shallow = repository.text() == "true";
            return Err(GitError::UnknownRevision { revision: name.to_owned(), shallow });
        }
        Ok(Self { folder: folder.to_owned(), name: name.to_owned(), commit: id })
    }

    /// The files of the whole commit, not only of the folder, that may hold definitions and contain any of some texts.
    ///
    /// # Errors
    /// git cannot be run or cannot search some of the files, or too many files match.
    pub fn files_with_any(&self, texts: &[&str]) -> io::Result<BTreeSet<PathBuf>> {
        let mut files = BTreeSet::new();
        for texts in texts.chunks(TEXTS_AT_ONCE) {
            files.extend(self.search(texts)?);
        }
        Ok(files)
    }

    fn search(&self, texts: &[&str]) -> io::Result<Vec<PathBuf>> {
        // Generated definitions are often marked as binary: `--text` searches them too.
        let options = ["-c", "grep.fullName=false", "grep", "--text", "--no-color", "--no-recurse-submodules"];
        let mut arguments = [&options[..], &["--files-with-matches", "-z", "--fixed-strings"]].concat();
        texts.iter().for_each(|text| arguments.extend(["-e", text]));
        // Other files cannot match, and a clone may lack them.
        arguments.extend([&*self.commit, "--", ":(top,icase)*.yaml", ":(top,icase)*.yml", ":(top,icase)*.json"]);
        let run = run(&self.folder, &arguments)?;
        if run.output.len() > MAX_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too many files match"));
        }
        // Without a match git ends with 1. A file that it cannot read is passed over, even if others match.
        if let Some(error) = run.error() {
            return Err(io::Error::other(error));
        }
        if !run.is_success && run.code != Some(1) {
            return Err(io::Error::other(run.complaint()));
        }
        let entries = run.output.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok());
        let files = entries.filter_map(|entry| entry.strip_prefix(&*self.commit)?.strip_prefix(':'));
        Ok(files.filter(|file| is_listed(file)).map(PathBuf::from).collect())
    }

    /// How git names a file of the commit, and the folder that it is relative to.
    fn object(&self, path: &Path) -> io::Result<String> {
        let path = slashed(&normalized(path)).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "only files of the repository are in a revision")
        })?;
        Ok(format!("{}:{}", self.commit, if path.starts_with("../") { path } else { format!("./{path}") }))
    }

    fn sort_of(&self, path: &Path) -> Option<String> {
        let run = run(&self.folder, &["cat-file", "-t", &self.object(path).ok()?]).ok()?;
        run.is_success.then(|| run.text())
    }
}

impl Source for Revision {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let run = run(&self.folder, &["cat-file", "blob", &self.object(path)?])?;
        if run.is_success || run.output.len() > MAX_BYTES {
            return Ok(run.output);
        }
        Err(match self.sort_of(path).as_deref() {
            Some("tree") => io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"),
            None => io::Error::new(io::ErrorKind::NotFound, format!("there is no such file at {}", self.name)),
            Some(_) => io::Error::other(run.complaint()),
        })
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.sort_of(path).as_deref() == Some("tree")
    }

    fn files(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let run = run(&self.folder, &["ls-tree", "-r", "-z", "--full-tree", &self.object(folder)?])?;
        if !run.is_success {
            let message = format!("there is no such folder at {}", self.name);
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        if run.output.len() > MAX_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the folder has too many files"));
        }
        let entries = run.output.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok());
        // Links and submodules are left alone.
        let files = entries.filter_map(|entry| entry.strip_prefix("100")?.split_once('\t')).map(|(_, path)| path);
        let mut found: Vec<_> = files.filter(|path| is_listed(path)).map(|path| folder.join(path)).collect();
        found.sort_unstable();
        Ok(found)
    }

    fn tree(&self, _file: &Path) -> Box<dyn Tree + '_> {
        Box::new(RevisionTree(self))
    }

    fn display(&self, path: &Path) -> String {
        format!("{}:{}", self.name, files::display(path))
    }
}

/// The whole of a commit is the tree that its files may refer to each other in.
struct RevisionTree<'r>(&'r Revision);

impl Tree for RevisionTree<'_> {
    fn locate(&self, from: &str, reference: &str) -> Result<String, Refused> {
        let refuse = |message: &str| Refused {
            message: message.to_owned(),
            mend: "refer to a file of the repository by a relative path".to_owned(),
        };
        if has_scheme(reference) {
            return Err(refuse("it is a URL, and only files in the tree are read"));
        }
        let parent = Path::new(from).parent().unwrap_or(Path::new(""));
        let path = normalized(&parent.join(reference));
        slashed(&path).ok_or_else(|| refuse(LEADS_OUT))
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let bytes = Source::read(self.0, Path::new(name)).map_err(|error| error.to_string())?;
        if bytes.len() > MAX_BYTES {
            return Err(format!("it has more than {} MiB", MAX_BYTES >> 20));
        }
        Ok(bytes)
    }
}

/// Whether a file may hold definitions, and is not hidden.
fn is_listed(path: &str) -> bool {
    let is_hidden = |part: &str| part.starts_with('.') && part != "..";
    !path.split('/').any(is_hidden) && files::may_hold_definitions(Path::new(path))
}

/// A relative path as git writes it.
fn slashed(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path
        .components()
        .map(|component| match component {
            Component::Normal(name) => name.to_str(),
            Component::ParentDir => Some(".."),
            _ => None,
        })
        .collect();
    parts.map(|parts| parts.join("/"))
}

/// What git did.
struct Run {
    is_success: bool,
    /// None if a signal ended it.
    code: Option<i32>,
    /// What it wrote, up to one byte more than a file may have.
    output: Vec<u8>,
    said: Vec<u8>,
}

impl Run {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).trim().to_owned()
    }

    /// The first error that it reported: it may still end with success, or as if nothing were there.
    fn error(&self) -> Option<String> {
        let said = String::from_utf8_lossy(&self.said);
        let errors = ["fatal: ", "error: "];
        said.lines().find_map(|line| errors.iter().find_map(|prefix| line.strip_prefix(prefix)).map(str::to_owned))
    }

    /// The first line of what it said.
    fn complaint(&self) -> String {
        let said = String::from_utf8_lossy(&self.said);
        let line = said.lines().next().unwrap_or("git says nothing about why");
        line.strip_prefix("fatal: ").unwrap_or(line).to_owned()
    }
}

fn run(folder: &Path, arguments: &[&str]) -> io::Result<Run> {
    let mut child = Command::new("git")
        // A clone that leaves objects out would fetch them now; no way there is allowed.
        .args(["--no-pager", "-c", "protocol.allow=never", "-C"])
        .arg(folder)
        .args(arguments)
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // git blocks when either pipe is full, and it may report every object that a clone left out.
    let (output, said) = thread::scope(|scope| {
        let said = scope.spawn(|| stderr.map_or_else(|| Ok(Vec::new()), first_of));
        let mut output = Vec::new();
        let is_read = stdout.map_or(Ok(0), |stdout| stdout.take(MAX_BYTES as u64 + 1).read_to_end(&mut output));
        // Of a file that is too large the rest is not read: git cannot write it any more, and ends.
        let said = said.join().unwrap_or_else(|_| Err(io::Error::other("cannot read the messages of git")));
        is_read.and(said).map(|said| (output, said))
    })?;
    let status = child.wait()?;
    Ok(Run { is_success: status.success(), code: status.code(), output, said })
}

/// Reads to the end, but keeps only the first bytes.
fn first_of(mut messages: impl io::Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    messages.by_ref().take(MAX_MESSAGE_BYTES).read_to_end(&mut first)?;
    io::copy(&mut messages, &mut io::sink())?;
    Ok(first)
}

/// Only the first line is shown.
const MAX_MESSAGE_BYTES: u64 = 16 << 10;
