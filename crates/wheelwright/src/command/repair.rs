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

use super::stored::{count, records, report_structural_damage};
use crate::{Console, Exit, ResultFormat};

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
    let is_damaged = match report_structural_damage(repository, ResultFormat::Text, console).await? {
        Ok(is_damaged) => is_damaged,
        Err(error) => {
            console.complain(error)?;
            return Ok(Exit::Usage);
        }
    };
    // Nothing is written to a store with a damaged structure.
    let is_written = options.write && !is_damaged;
    let mut totals = Totals { is_structure_damaged: is_damaged, ..Totals::default() };
    for collection in repository.kinds() {
        let kind = collection.kind().kind().name();
        let report = match collection.find_damage(backup).await {
            Ok(report) => report,
            Err(error) if is_damaged && error.store() == Some(&ErrorKind::Corrupt) => {
                writeln!(console.data, "{kind}: records may be missing, and cannot be listed")?;
                continue;
            }
            Err(error) => return fail(kind, &error, console),
        };
        totals.records += report.total;
        let uncertain = report.damaged.iter().filter(|damaged| damaged.is_uncertain).count();
        totals.uncertain += uncertain as u64;
        totals.damaged += (report.damaged.len() - uncertain) as u64;
        totals.unopened += report.unopened.count;
        for Problem { name, why, .. } in &report.unopened.listed {
            writeln!(console.data, "{kind} {name} is not damaged, but cannot be opened: {why}")?;
        }
        for damaged in &report.damaged {
            let Damaged { name, revision, why, copies, .. } = damaged;
            if damaged.is_uncertain {
                writeln!(
                    console.data,
                    "{kind} {name} is uncertain: revision {revision} is the last known one, and {why}"
                )?;
                continue;
            }
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
            if !is_written {
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
    totals.write(is_written, console.data)?;
    if options.write && is_damaged {
        console
            .say("nothing was written: records of a store with a damaged structure cannot be repaired one by one")?;
    }
    let left = totals.damaged - totals.repaired + totals.uncertain + totals.unopened;
    Ok(if left == 0 && !is_damaged { Exit::Clean } else { Exit::Findings })
}

fn fail(kind: &str, error: &RepositoryError, console: &mut Console<'_>) -> io::Result<Exit> {
    console.complain(format_args!("{kind}: {error}"))?;
    Ok(Exit::Usage)
}

/// Why a record was not repaired.
enum Failure {
    /// The reason is in this record alone.
    Left(String),
    Store(RepositoryError),
}

/// Saves the damaged bytes of a record, and puts its best copy in its place. A record whose bytes cannot be saved is left.
async fn restore(
    collection: &Collection,
    damaged: &Damaged,
    backup: Option<&dyn Store>,
    keep: &Path,
) -> Result<String, Failure> {
    let overtaken = || Failure::Left("another process wrote it in the meantime; run this again".to_owned());
    let stored = collection.repository().store().get_unverified(&damaged.key).await;
    let stored = stored.map_err(|error| Failure::Left(format!("its bytes cannot be read to save them: {error}")))?;
    let stored = stored.filter(|stored| stored.revision == damaged.revision).ok_or_else(overtaken)?;
    let saved = match stored.value.is_empty() {
        true => "the store has no bytes of it that could be saved".to_owned(),
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
    is_structure_damaged: bool,
    records: u64,
    damaged: u64,
    uncertain: u64,
    repairable: u64,
    repaired: u64,
    unopened: u64,
}

impl Totals {
    fn write(&self, is_written: bool, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}: ", records(self.records))?;
        match (self.damaged, is_written) {
            (0, _) if self.is_structure_damaged => write!(out, "none of those that can be read is damaged itself")?,
            (0, _) => write!(out, "none is damaged")?,
            (damaged, true) => write!(
                out,
                "{} damaged, {} repaired, {} left",
                count(damaged),
                count(self.repaired),
                count(damaged - self.repaired)
            )?,
            (damaged, false) => {
                write!(out, "{} damaged, {} with a good copy", count(damaged), count(self.repairable))?;
                if !self.is_structure_damaged {
                    out.write_all(b", which --write puts in its place")?;
                }
            }
        }
        if self.uncertain > 0 {
            write!(out, "; {} uncertain", count(self.uncertain))?;
        }
        match self.unopened {
            0 => writeln!(out),
            unopened => writeln!(out, "; {} cannot be opened for another reason", count(unopened)),
        }
    }
}
