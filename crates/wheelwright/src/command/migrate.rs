//! `migrate`: records brought to the hub of today, and what is said about it.

use std::{
    io,
    time::{Duration, Instant},
};

use tokio::{pin, select, sync::watch, time::interval};
use wheelwright_repository::{
    Collection, Problems, Repository, RepositoryError, SweepOptions, SweepPlan, SweepProgress, SweepStatus, Verified,
};
use wheelwright_store::{ErrorKind, Prefix};

use super::stored::{Line, chosen, count, records, report_structural_damage, write_problems};
use crate::{Console, Exit, ResultFormat};

/// Which records are meant, and how results are written.
#[derive(Clone, Debug, Default)]
pub struct MigrateOptions {
    /// The kind, if only one is meant: `Order`, or with its group, `Order.shop.example.com`.
    pub kind: Option<String>,
    /// How records are rewritten.
    pub sweep: SweepOptions,
    /// How results are written.
    pub format: ResultFormat,
    /// Kinds that only a lock remembers, by name, with what the keys of their records begin with.
    pub remembered: Vec<(String, Prefix)>,
}

/// What is done with records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Migrate {
    /// Say what there is to do.
    Plan,
    /// Do it.
    Run,
    /// Say how far the newest run is.
    Status,
    /// Hold every record against what a run promises.
    Verify,
}

/// Does something with the records of some kinds, and says what came of it: findings if a record cannot be converted, is
/// not as it should be, or was left by a run that is not done.
///
/// # Errors
/// The console cannot be written to.
pub async fn migrate(
    what: Migrate,
    repository: &Repository,
    options: &MigrateOptions,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let collections = match chosen(repository, options.kind.as_deref()) {
        Ok(collections) => collections,
        Err(error) => {
            console.complain(error)?;
            return Ok(Exit::Usage);
        }
    };
    let mut exit = Exit::Clean;
    let mut is_damaged = false;
    if what == Migrate::Verify {
        match report_structural_damage(repository, options.format, console).await? {
            Ok(found) => is_damaged = found,
            Err(error) => {
                console.complain(error)?;
                return Ok(Exit::Usage);
            }
        }
        exit = if is_damaged { Exit::Findings } else { Exit::Clean };
    }
    for collection in collections {
        let report = match what {
            Migrate::Plan => collection.sweep_plan().await.map(Report::Plan),
            Migrate::Run => run(&collection, &options.sweep, console).await?.map(|status| Report::Status(Some(status))),
            Migrate::Status => collection.sweep_status().await.map(Report::Status),
            Migrate::Verify => collection.verify().await.map(Report::Verified),
        };
        let name = collection.kind().kind().name();
        exit = exit.max(match report {
            Ok(report) => {
                let is_of_another = matches!(&report, Report::Status(Some(status)) if status.hub != *collection.hub());
                match options.format {
                    ResultFormat::Text => report.write_text(name, console.data)?,
                    ResultFormat::Json => report.write_line(name, console.data)?,
                }
                console.data.flush()?;
                if is_of_another {
                    let hub = collection.hub();
                    console.say(format_args!("{name}: the hub is {hub} now, and no run to it has begun"))?;
                }
                report.exit().max(if is_of_another { Exit::Findings } else { Exit::Clean })
            }
            Err(error) => {
                console.complain(format_args!("{name}: {error}"))?;
                let is_reported = is_damaged && error.store() == Some(&ErrorKind::Corrupt);
                if is_reported { Exit::Findings } else { Exit::Usage }
            }
        });
    }
    if matches!(what, Migrate::Plan | Migrate::Status) && options.kind.is_none() {
        for (name, prefix) in &options.remembered {
            match left_of(prefix, repository).await {
                Ok(0) => {}
                Ok(left) => match options.format {
                    ResultFormat::Text => {
                        writeln!(console.data, "{name}: {}, of a kind that only the lock remembers", records(left))?
                    }
                    ResultFormat::Json => {
                        let mut line = Line::of_kind(name);
                        line.is("remembered", true);
                        line.number("total", left);
                        line.write(console.data)?;
                    }
                },
                Err(error) => {
                    console.complain(format_args!("{name}: {error}"))?;
                    exit = exit.max(Exit::Usage);
                }
            }
        }
    }
    Ok(exit)
}

/// Says that a run was interrupted, and how the command ends.
///
/// # Errors
/// The console cannot be written to.
pub fn migrate_interrupted(console: &mut Console<'_>) -> io::Result<Exit> {
    console.say("interrupted; the next wheelwright migrate run goes on where this one stopped")?;
    Ok(Exit::Interrupted)
}

/// How many records there are of a kind that nobody declares any more; none that may be those of another one.
async fn left_of(prefix: &Prefix, repository: &Repository) -> Result<u64, RepositoryError> {
    let is_shared = |collection: Collection| {
        let (own, other) = (prefix.as_str(), collection.kind().prefix().as_str());
        own.starts_with(other) || other.starts_with(own)
    };
    if repository.kinds().any(is_shared) { Ok(0) } else { repository.count_records(prefix).await }
}

const OFTEN: Duration = Duration::from_millis(200);
const NOW_AND_THEN: Duration = Duration::from_secs(10);

/// Sweeps, and says how far it is.
async fn run(
    collection: &Collection,
    options: &SweepOptions,
    console: &mut Console<'_>,
) -> io::Result<Result<SweepStatus, RepositoryError>> {
    let name = collection.kind().kind().name();
    let (tell, told) = watch::channel(None);
    let sweep = collection.sweep(options, move |progress| {
        tell.send_replace(Some(progress));
    });
    pin!(sweep);
    let mut ticks = interval(if console.is_watched { OFTEN } else { NOW_AND_THEN });
    let began = Instant::now();
    loop {
        select! {
            swept = &mut sweep => {
                console.end_progress()?;
                return Ok(swept);
            }
            _ = ticks.tick() => {
                let progress: Option<SweepProgress> = *told.borrow();
                match progress {
                    Some(progress) if console.is_watched => {
                        let (told, done) = (Told { name, progress }.to_string(), (progress.done, progress.of));
                        let bar = with_bar(&told, done, console.width);
                        console.progress(bar)?;
                    }
                    Some(progress) if began.elapsed() >= NOW_AND_THEN => console.say(Told { name, progress })?,
                    _ => {}
                }
            }
        }
    }
}

/// How far a run is, in words.
struct Told<'n> {
    name: &'n str,
    progress: SweepProgress,
}

impl std::fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, progress: SweepProgress { done, of, problems, per_second, .. } } = self;
        write!(f, "{name}: {} of {}, {per_second:.0}/s", count(*done), count((*of).max(*done)))?;
        if *per_second > 0.0 && of > done {
            write!(f, ", {} left", Left((of - done) as f64 / per_second))?;
        }
        match problems {
            0 => Ok(()),
            problems => write!(f, "; {} cannot be converted", count(*problems)),
        }
    }
}

/// What is told of how many are done, with a bar before it, as far as a line has room for one.
fn with_bar(told: &str, (done, of): (u64, u64), width: Option<usize>) -> String {
    const MOST: usize = 24;
    const LEAST: usize = 8;
    let around = told.chars().count() + "[] ".len();
    let room = width.map_or(MOST, |width| width.saturating_sub(around).min(MOST));
    if room < LEAST {
        return told.to_owned();
    }
    let full = ((done.min(of) as usize) * room).checked_div(of as usize).unwrap_or(room);
    format!("[{}{}] {told}", "=".repeat(full), " ".repeat(room - full))
}

/// A time in seconds, as people say it.
struct Left(f64);

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.0.ceil() as u64;
        match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
            (0, 0, seconds) => write!(f, "{seconds} s"),
            (0, minutes, seconds) => write!(f, "{minutes} min {seconds} s"),
            (hours, minutes, _) => write!(f, "{hours} h {minutes} min"),
        }
    }
}

/// What is said about the records of a kind.
enum Report {
    Plan(SweepPlan),
    Status(Option<SweepStatus>),
    Verified(Verified),
}

impl Report {
    fn exit(&self) -> Exit {
        let is_clean = match self {
            Self::Plan(plan) => plan.problems.is_empty(),
            Self::Status(status) => {
                status.as_ref().is_none_or(|status| status.problems.is_empty() && status.finished_at.is_some())
            }
            Self::Verified(verified) => verified.problems.is_empty(),
        };
        if is_clean { Exit::Clean } else { Exit::Findings }
    }

    fn problems(&self) -> Option<&Problems> {
        match self {
            Self::Plan(plan) => Some(&plan.problems),
            Self::Status(status) => status.as_ref().map(|status| &status.problems),
            Self::Verified(verified) => Some(&verified.problems),
        }
    }

    fn write_text(&self, name: &str, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Plan(plan) => {
                let to_do: u64 = plan.at_others.iter().chain(&plan.adopted).map(|(_, count)| count).sum();
                let to_do = to_do + plan.unchecked;
                let (to_do, total, hub) = (count(to_do), records(plan.total), &plan.hub);
                writeln!(out, "{name}: {to_do} of {total} to be brought to {hub}")?;
                for (version, number) in &plan.at_others {
                    writeln!(out, "  {:>9}  stored as {version}", count(*number))?;
                }
                for (version, number) in &plan.adopted {
                    writeln!(out, "  {:>9}  documents of {version} without a record", count(*number))?;
                }
                if plan.unchecked > 0 {
                    writeln!(out, "  {:>9}  stored as {hub} without a checksum", count(plan.unchecked))?;
                }
                writeln!(out, "  {:>9}  at {hub} already", count(plan.at_hub))?;
            }
            Self::Status(None) => writeln!(out, "{name}: never migrated")?,
            Self::Status(Some(status)) => {
                let SweepStatus { hub, run, counts, .. } = status;
                let total = records(status.total.max(counts.done));
                match status.finished_at {
                    Some(_) => writeln!(out, "{name}: run {run} to {hub} is done: {}", records(counts.done))?,
                    None => writeln!(out, "{name}: run {run} to {hub} is not done: {} of {total}", count(counts.done))?,
                }
                writeln!(out, "  {:>9}  converted", count(counts.converted))?;
                writeln!(out, "  {:>9}  at {hub} already", count(counts.unchanged))?;
                if counts.gone > 0 {
                    writeln!(out, "  {:>9}  deleted in the meantime", count(counts.gone))?;
                }
            }
            Self::Verified(Verified { hub, total, problems, .. }) => {
                let good = count(total - problems.count);
                writeln!(out, "{name}: {good} of {} as it should be at {hub}", records(*total))?;
            }
        }
        match (self, self.problems()) {
            (Self::Verified(_), Some(problems)) => write_problems(problems, "not as they should be", out),
            (_, Some(problems)) => write_problems(problems, "cannot be converted", out),
            (_, None) => Ok(()),
        }
    }

    fn write_line(&self, name: &str, out: &mut dyn io::Write) -> io::Result<()> {
        let mut line = Line::of_kind(name);
        match self {
            Self::Plan(plan) => {
                line.text("hub", plan.hub.as_str());
                line.number("total", plan.total);
                line.number("atHub", plan.at_hub);
                line.number("unchecked", plan.unchecked);
                line.numbers("atOthers", &plan.at_others);
                line.numbers("adopted", &plan.adopted);
            }
            Self::Status(None) => line.null("run"),
            Self::Status(Some(status)) => {
                line.number("run", status.run);
                line.text("hub", status.hub.as_str());
                line.text("startedAt", &status.started_at.to_string());
                line.text("updatedAt", &status.updated_at.to_string());
                match status.finished_at {
                    Some(finished_at) => line.text("finishedAt", &finished_at.to_string()),
                    None => line.null("finishedAt"),
                }
                line.number("total", status.total);
                line.number("done", status.counts.done);
                line.number("converted", status.counts.converted);
                line.number("unchanged", status.counts.unchanged);
                line.number("gone", status.counts.gone);
                line.number("openPortions", status.open_portions as u64);
            }
            Self::Verified(verified) => {
                line.text("hub", verified.hub.as_str());
                line.number("total", verified.total);
            }
        }
        if let Some(problems) = self.problems() {
            line.problems("problems", problems);
        }
        line.write(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fits_its_line() {
        let told = "Order: 500 of 1,000, 100/s, 5 s left";
        let bar = |width| with_bar(told, (500, 1000), width);
        assert_eq!(bar(None), format!("[{}{}] {told}", "=".repeat(12), " ".repeat(12)));
        assert_eq!(bar(Some(told.len() + 13)), format!("[=====     ] {told}"));
        assert_eq!(bar(Some(told.len() + 10)), told, "a bar that is too small shows nothing");
        let (mut data, mut said) = (Vec::new(), Vec::new());
        let mut console = Console { is_watched: true, width: Some(9), ..Console::plain(&mut data, &mut said) };
        console.progress(bar(Some(9))).unwrap();
        assert!(String::from_utf8(said).unwrap().ends_with("Order: 50"));
    }

    #[test]
    fn time_that_is_left_is_said_as_people_say_it() {
        for (seconds, said) in [(0.2, "1 s"), (59.0, "59 s"), (61.0, "1 min 1 s"), (7265.0, "2 h 1 min")] {
            assert_eq!(Left(seconds).to_string(), said);
        }
    }
}
