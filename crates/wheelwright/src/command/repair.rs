//! `store repair`: damaged records, the good copies of each, and putting them back.

use std::{
    fmt,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use wheelwright_repository::{
    Collection, CopySource, Damaged, ErrorKind, GoodCopy, Problem, Repository, RepositoryError,
};
use wheelwright_store::Store;

use super::stored::{count, records};
use crate::{Console, Exit};

/// The longest name of a file with damaged bytes, without its revision and extension.
const MOST_OF_NAME: usize = 150;

/// What `store repair` does with damaged records.
#[derive(Clone, Debug)]
pub struct RepairOptions {
    /// Put good copies in the places of damaged records; otherwise they are only listed.
    pub write: bool,
    /// The folder that damaged bytes are saved in before they are replaced.
    pub keep: PathBuf,
}

/// Lists the damaged records of a store with their good copies, and puts those in their places if asked to. There is a
/// finding if a damaged record is left.
///
/// # Errors
/// The console cannot be written to.
pub async fn store_repair(
    repository: &Repository,
    backup: Option<&dyn Store>,
    options: &RepairOptions,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let mut totals = Totals::default();
    for collection in repository.kinds() {
        let kind = collection.kind().kind().name();
        let report = match collection.find_damage(backup).await {
            Ok(report) => report,
            Err(error) => return fail(kind, &error, console),
        };
        totals.records += report.total;
        totals.damaged += report.damaged.len() as u64;
        totals.unopened += report.unopened.count;
        for Problem { name, why, .. } in &report.unopened.listed {
            writeln!(console.data, "{kind} {name} is not damaged, but cannot be opened: {why}")?;
        }
        for damaged in &report.damaged {
            let Damaged { name, revision, why, copies, .. } = damaged;
            writeln!(console.data, "{kind} {name} is damaged at revision {revision}: {why}")?;
            for copy in copies {
                writeln!(console.data, "  {}", Shown { copy, damaged })?;
            }
            if copies.is_empty() {
                let advice = if backup.is_none() { "; name a backup with --from" } else { "" };
                writeln!(console.data, "  no good copy{advice}")?;
                continue;
            }
            totals.repairable += 1;
            if !options.write {
                continue;
            }
            match restore(&collection, damaged, backup, &options.keep).await {
                Ok(done) => {
                    writeln!(console.data, "  {done}")?;
                    totals.repaired += 1;
                }
                Err(Failure::Left(why)) => writeln!(console.data, "  left unchanged: {why}")?,
                Err(Failure::Store(error)) => return fail(kind, &error, console),
            }
        }
    }
    totals.write(options.write, console.data)?;
    let left = totals.damaged - totals.repaired + totals.unopened;
    Ok(if left == 0 { Exit::Clean } else { Exit::Findings })
}

fn fail(kind: &str, error: &RepositoryError, console: &mut Console<'_>) -> io::Result<Exit> {
    console.complain(format_args!("{kind}: {error}"))?;
    if error.store() == Some(&ErrorKind::Corrupt) {
        console.say("help: a file with a damaged structure cannot be repaired: restore a backup, or save the rest with --to FILE")?;
    }
    Ok(Exit::Usage)
}

/// Why a record was not repaired.
enum Failure {
    /// The reason is in this record alone.
    Left(String),
    Store(RepositoryError),
}

/// Saves the damaged bytes of a record, and puts its best copy in its place.
async fn restore(
    collection: &Collection,
    damaged: &Damaged,
    backup: Option<&dyn Store>,
    keep: &Path,
) -> Result<String, Failure> {
    let overtaken = || Failure::Left("another process wrote it in the meantime; run this again".to_owned());
    let stored =
        collection.repository().store().get(&damaged.key).await.map_err(|error| Failure::Store(error.into()))?;
    let stored = stored.filter(|stored| stored.revision == damaged.revision).ok_or_else(overtaken)?;
    let saved = match stored.value.is_empty() {
        true => "the store cannot read the damaged bytes, and none were saved".to_owned(),
        false => {
            let file = keep.join(file_name(damaged));
            save(&file, &stored.value).map_err(|error| Failure::Left(format!("{}: {error}", file.display())))?;
            format!("the damaged bytes are in {}", file.display())
        }
    };
    match collection.repair(damaged, backup).await {
        Ok(Some(repaired)) => {
            let source = place(repaired.copy.source);
            let (from, now) = (&repaired.copy.revision, &repaired.revision);
            Ok(format!("repaired from revision {from} in {source}, which is now revision {now}; {saved}"))
        }
        Ok(None) => Err(Failure::Left("its good copy has been removed from the log".to_owned())),
        Err(error) => Err(match error.store() {
            Some(ErrorKind::Conflict(_) | ErrorKind::Missing) => overtaken(),
            Some(ErrorKind::TooLarge) => Failure::Left(error.to_string()),
            _ => Failure::Store(error),
        }),
    }
}

/// The name of the file with the damaged bytes: `NAME.REVISION.damaged`.
fn file_name(damaged: &Damaged) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || matches!(character, '.' | '-' | '_');
    let plain = |text: &str| text.chars().map(|one| if is_plain(one) { one } else { '_' }).collect::<String>();
    let mut name = plain(&damaged.name);
    name.truncate(name.floor_char_boundary(MOST_OF_NAME));
    format!("{name}.{}.damaged", plain(damaged.revision.as_str()))
}

/// Writes a new file, for its owner alone. One that has the same bytes already is left.
fn save(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Ok(mut created) => {
            let written = created.write_all(bytes).and_then(|()| created.sync_all());
            // Half a file would be in the way of the next attempt.
            written.inspect_err(|_| drop(fs::remove_file(file)))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match fs::read(file)? == bytes {
            true => Ok(()),
            false => Err(io::Error::new(error.kind(), "exists with other content; name another folder with --keep")),
        },
        Err(error) => Err(error),
    }
}

fn place(source: CopySource) -> &'static str {
    match source {
        CopySource::Log => "the log",
        CopySource::Backup => "the backup",
    }
}

/// A good copy, as it is listed.
struct Shown<'c> {
    copy: &'c GoodCopy,
    damaged: &'c Damaged,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GoodCopy { source, revision, modified_at, .. } = self.copy;
        write!(f, "in {}: revision {revision}, ", place(*source))?;
        f.write_str(match source {
            _ if *revision == self.damaged.revision => "the same one",
            CopySource::Log => "an older one",
            CopySource::Backup => "another one",
        })?;
        match modified_at {
            Some(time) => write!(f, ", modified at {time}"),
            None => Ok(()),
        }
    }
}

#[derive(Default)]
struct Totals {
    records: u64,
    damaged: u64,
    repairable: u64,
    repaired: u64,
    unopened: u64,
}

impl Totals {
    fn write(&self, is_written: bool, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}: ", records(self.records))?;
        match (self.damaged, is_written) {
            (0, _) => write!(out, "none is damaged")?,
            (damaged, true) => write!(
                out,
                "{} damaged, {} repaired, {} left",
                count(damaged),
                count(self.repaired),
                count(damaged - self.repaired)
            )?,
            (damaged, false) => write!(
                out,
                "{} damaged, {} with a good copy, which --write puts in its place",
                count(damaged),
                count(self.repairable)
            )?,
        }
        match self.unopened {
            0 => writeln!(out),
            unopened => writeln!(out, "; {} cannot be opened for another reason", count(unopened)),
        }
    }
}
