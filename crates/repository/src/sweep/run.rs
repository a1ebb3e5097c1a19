//! Running a sweep.

use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use futures_util::{StreamExt, future::try_join_all, stream::FuturesUnordered};
use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use uuid::Uuid;
use wheelwright_evolve::VersionName;
use wheelwright_store::{ErrorKind, Key, Page, Stored};

use super::{
    ledger::{Book, Claim, Ledger, Outcome, SweepError, SweepStatus},
    patience::{Pace, patiently},
    problems::Problem,
    tenure::{Tenure, wait_for_displaced},
    walk::Walk,
};
use crate::{Collection, RepositoryError, record::Place};

/// How a sweep is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SweepOptions {
    /// How many records may be written at the same time: stores share what makes writes durable between them.
    pub concurrency: usize,
    /// How many records this instance writes in a second at the most. Those that stay as they are do not count.
    pub rate: Option<NonZeroU32>,
    /// An older hub than that of the newest sweep is meant. Without it, an older program that starts again while a newer one
    /// sweeps would bring back what that has converted.
    pub back: bool,
}

/// How far a sweep is, all its instances together.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct SweepProgress {
    /// How many records were looked at.
    pub done: u64,
    /// How many there were when the sweep began.
    pub of: u64,
    /// How many could not be converted.
    pub problems: u64,
    /// How many were looked at in a second, since this instance runs.
    pub per_second: f64,
}

/// While one portion waits for its last records and the ledger, another one is worked on.
const PORTIONS_AT_ONCE: usize = 2;

/// With so many open claims, those whose instances have ended are done first, so that the ledger stays small.
const MOST_CLAIMS: usize = 200;

/// How often a record is read again that others keep writing.
const MOST_CONFLICTS: usize = 100;

impl Default for SweepOptions {
    fn default() -> Self {
        Self { concurrency: 64, rate: None, back: false }
    }
}

impl Collection {
    /// Brings every record to the hub of today, and says how it went. What cannot be converted is told in the status, and
    /// the sweep goes on.
    ///
    /// A sweep that somebody began with the same catalog and did not finish is gone on with, wherever it was left; several
    /// may run at once and share the work. One with another catalog takes the place of what is running; but to an older hub
    /// than that of the newest sweep, only [if that is meant](SweepOptions::back). Records that are written in the meantime keep what is written, and when and with which version a record
    /// was modified stays. Needs a tokio runtime with time. The future may be dropped at any time: nothing is lost, and the
    /// next sweep goes on.
    ///
    /// # Errors
    /// The store fails and does not recover within half a minute, a sweep with another catalog has taken over, the newest
    /// one was to a newer hub, or another kind of the repository has keys that begin alike.
    pub async fn sweep(
        &self,
        options: &SweepOptions,
        mut told: impl FnMut(SweepProgress) + Send,
    ) -> Result<SweepStatus, RepositoryError> {
        if let Some(other) = self.shares_keys_with() {
            return Err(RepositoryError::Sweep(SweepError::SharedKeys(other.kind().kind().name().into())));
        }
        let book = Book::new(self.store(), &self.kind)?;
        let target = Target::of(self);
        let ledger = self.join(&book, &target, options.back).await?;
        let run = Run {
            collection: self,
            book,
            target,
            number: ledger.status.run,
            walk: Walk::new(self.store(), self.kind.prefix()),
            tenure: Tenure::begin(),
            pace: options.rate.map(|rate| Pace::new(rate.get())),
            permits: Semaphore::new(options.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            mine: AsyncMutex::default(),
            seen: Mutex::default(),
            teller: Mutex::new(Teller::new(&ledger, &mut told)),
        };
        let statuses = try_join_all((0..PORTIONS_AT_ONCE).map(|_| run.lane())).await?;
        let mut status = statuses.into_iter().reduce(later).unwrap_or(ledger.status);
        status.problems.list_seen(run.seen.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(status)
    }

    /// How far the newest sweep is; none if there never was one.
    ///
    /// # Errors
    /// The store fails, or a newer release is sweeping.
    pub async fn sweep_status(&self) -> Result<Option<SweepStatus>, RepositoryError> {
        let found = Book::new(self.store(), &self.kind)?.read().await?;
        Ok(found.and_then(|(ledger, _)| ledger).map(|ledger| ledger.status))
    }

    /// The ledger of the sweep that is running, or of a new one.
    async fn join(&self, book: &Book<'_>, target: &Target, back: bool) -> Result<Ledger, RepositoryError> {
        let mut total = None;
        loop {
            let (before, revision) = book.read().await?.unzip();
            let before = before.flatten();
            if let Some(newer) =
                before.as_ref().map(|ledger| &ledger.status.hub).filter(|hub| !back && self.is_newer(hub))
            {
                let (newest, hub) = (newer.clone(), target.hub.clone());
                return Err(RepositoryError::Sweep(SweepError::GoesBack { newest, hub }));
            }
            let run = before.as_ref().map_or(1, |ledger| ledger.status.run + 1);
            let running = before.filter(|ledger| ledger.status.finished_at.is_none());
            let displaces = running.is_some();
            if let Some(ledger) = running.filter(|ledger| target.is_of(ledger)) {
                return Ok(ledger);
            }
            let total = match total {
                Some(total) => total,
                None => *total.insert(self.repository.count_records(self.kind.prefix()).await?),
            };
            let Target { hub, fingerprint } = target.clone();
            let ledger = Ledger::begin(hub, fingerprint, run, total, self.repository.stamp().now);
            if book.write(&ledger, revision.as_ref()).await? {
                if displaces {
                    wait_for_displaced().await;
                }
                return Ok(ledger);
            }
        }
    }

    /// A kind whose keys may be those of this one.
    fn shares_keys_with(&self) -> Option<Self> {
        let others = self.repository.kinds().filter(|other| !Arc::ptr_eq(&other.kind, &self.kind));
        others.into_iter().find(|other| self.kind.shares_keys_with(&other.kind))
    }

    /// Whether a hub comes after the one of today. A version that is not known does: a lock forgets none.
    fn is_newer(&self, hub: &VersionName) -> bool {
        let kind = self.kind.kind();
        kind.version(hub.as_str()).is_none_or(|hub| hub > kind.lenses().hub())
    }
}

/// What a sweep is for. Another one has another ledger.
#[derive(Clone, Debug)]
struct Target {
    hub: VersionName,
    fingerprint: Box<str>,
}

impl Target {
    fn of(collection: &Collection) -> Self {
        Self { hub: collection.hub().clone(), fingerprint: collection.kind().fingerprint().to_string().into() }
    }

    fn is_of(&self, ledger: &Ledger) -> bool {
        self.hub == ledger.status.hub && self.fingerprint == ledger.fingerprint
    }

    /// Fails if somebody has begun a sweep with another one.
    fn check(&self, ledger: &Ledger) -> Result<(), RepositoryError> {
        match self.is_of(ledger) {
            true => Ok(()),
            false => Err(RepositoryError::Sweep(SweepError::TakenOver(ledger.status.hub.clone()))),
        }
    }
}

/// One instance of a sweep.
struct Run<'r> {
    collection: &'r Collection,
    book: Book<'r>,
    target: Target,
    number: u64,
    walk: Walk<'r>,
    tenure: Tenure,
    pace: Option<Pace>,
    permits: Semaphore,
    /// The claims that this instance works on. Who writes the ledger holds it, so that an instance is not in its own way.
    mine: AsyncMutex<Vec<Claim>>,
    /// What this instance could not convert.
    seen: Mutex<Vec<Problem>>,
    teller: Mutex<Teller<'r>>,
}

/// A portion to work on.
struct Portion {
    claim: Claim,
    /// What is in it, if it was just read.
    page: Option<Page>,
}

/// What became of a record.
enum Fate {
    Converted,
    Unchanged,
    Gone,
    Problem(String),
}

impl Run<'_> {
    /// Works on one portion after the other, until there is none.
    async fn lane(&self) -> Result<SweepStatus, RepositoryError> {
        let mut done = None;
        loop {
            match self.next(done.take()).await? {
                Next::Portion(portion) => {
                    let outcome = self.work(&portion).await?;
                    let problems = outcome.problems.listed.iter().cloned();
                    self.seen.lock().unwrap_or_else(PoisonError::into_inner).extend(problems);
                    done = Some((portion.claim, outcome));
                }
                Next::End(status) => return Ok(*status),
            }
        }
    }

    /// Writes down what came of a portion, and takes the next one.
    async fn next(&self, done: Option<(Claim, Outcome)>) -> Result<Next, RepositoryError> {
        let mut mine = self.mine.lock().await;
        if let Some((claim, _)) = &done {
            mine.retain(|own| own != claim);
        }
        loop {
            let (ledger, revision) = self.book.read().await?.ok_or(RepositoryError::Sweep(SweepError::NoLedger))?;
            let mut ledger = ledger.ok_or(RepositoryError::Sweep(SweepError::NoLedger))?;
            self.target.check(&ledger)?;
            if ledger.status.run != self.number {
                // Somebody was done with this sweep, and has begun another one.
                return Ok(Next::End(ledger.status.into()));
            }
            let before = ledger.clone();
            if let Some((claim, outcome)) = &done {
                ledger.finish(claim, outcome);
            }
            let mut next = None;
            let has_room = ledger.claims.len() < MOST_CLAIMS;
            if !ledger.is_at_end && has_room {
                let page = self.walk.page(ledger.frontier.as_ref()).await?;
                ledger.is_at_end = page.next.is_none();
                let last = page.items.last().map(|(key, _)| key.clone());
                next = last.map(|last| Portion { claim: ledger.claim(last), page: Some(page) });
            }
            if next.is_none() {
                next = any(ledger.claims.iter().filter(|claim| !mine.contains(claim)))
                    .map(|claim| Portion { claim: claim.clone(), page: None });
            }
            let is_finished = ledger.is_at_end && ledger.claims.is_empty();
            if ledger != before || (is_finished && ledger.status.finished_at.is_none()) {
                let now = self.collection.repository.stamp().now;
                ledger.status.updated_at = now;
                ledger.status.open_portions = ledger.claims.len();
                if is_finished {
                    ledger.status.finished_at.get_or_insert(now);
                }
                if !self.book.write(&ledger, Some(&revision)).await? {
                    continue;
                }
            }
            self.tell(|teller| teller.wrote_down(&ledger, done.as_ref().map(|(_, outcome)| outcome)));
            return Ok(match next {
                Some(portion) => {
                    mine.push(portion.claim.clone());
                    Next::Portion(portion)
                }
                None => Next::End(ledger.status.into()),
            });
        }
    }

    async fn work(&self, portion: &Portion) -> Result<Outcome, RepositoryError> {
        let mut outcome = Outcome::default();
        if let Some(page) = &portion.page {
            self.records(&page.items, &mut outcome).await?;
            return Ok(outcome);
        }
        let Claim { after, upto } = &portion.claim;
        let mut after = after.clone();
        loop {
            let mut page = self.walk.page(after.as_ref()).await?;
            let was_last = page.next.is_none() || page.items.last().is_none_or(|(key, _)| key >= upto);
            page.items.retain(|(key, _)| key <= upto);
            self.records(&page.items, &mut outcome).await?;
            match page.items.into_iter().next_back() {
                Some((last, _)) if !was_last => after = Some(last),
                _ => return Ok(outcome),
            }
        }
    }

    async fn records(&self, records: &[(Key, Stored)], outcome: &mut Outcome) -> Result<(), RepositoryError> {
        let fates = records.iter().map(|(key, stored)| async move { (key, self.record(key, stored).await) });
        let mut fates: FuturesUnordered<_> = fates.collect();
        while let Some((key, fate)) = fates.next().await {
            outcome.counts.done += 1;
            let mut is_problem = false;
            match fate? {
                Fate::Converted => outcome.counts.converted += 1,
                Fate::Unchanged => outcome.counts.unchanged += 1,
                Fate::Gone => outcome.counts.gone += 1,
                Fate::Problem(why) => {
                    outcome.problems.add(self.collection.called(key), why);
                    is_problem = true;
                }
            }
            self.tell(|teller| teller.saw(is_problem));
        }
        // They come in any order.
        outcome.problems.listed.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(())
    }

    async fn record(&self, key: &Key, stored: &Stored) -> Result<Fate, RepositoryError> {
        // Nobody closes it.
        let _permit = self.permits.acquire().await;
        let (store, kind) = (self.collection.store(), self.collection.kind());
        let mut newer: Option<Stored> = None;
        for _ in 0..MOST_CONFLICTS {
            let stored = newer.as_ref().unwrap_or(stored);
            let swept = match kind.swept(&stored.value, Place::of(key)) {
                Ok(Some(swept)) => swept,
                Ok(None) => return Ok(Fate::Unchanged),
                Err(error) => return Ok(Fate::Problem(error.to_string())),
            };
            if let Some(pace) = &self.pace {
                pace.turn().await;
            }
            self.tenure.confirm(&self.book, |ledger| self.target.check(ledger)).await?;
            match patiently(|| store.replace(key, &stored.revision, swept.clone())).await {
                Ok(_) => return Ok(Fate::Converted),
                Err(error) => match error.kind() {
                    ErrorKind::Missing => return Ok(Fate::Gone),
                    ErrorKind::TooLarge => return Ok(Fate::Problem(error.to_string())),
                    ErrorKind::Conflict(_) => {}
                    _ => return Err(error.into()),
                },
            }
            newer = patiently(|| store.get(key)).await?;
            if newer.is_none() {
                return Ok(Fate::Gone);
            }
        }
        let why = format!("others kept writing it, {MOST_CONFLICTS} times in a row; sweep again");
        Ok(Fate::Problem(why))
    }

    fn tell(&self, change: impl FnOnce(&mut Teller<'_>)) {
        change(&mut self.teller.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

enum Next {
    Portion(Portion),
    End(Box<SweepStatus>),
}

/// Tells how far the sweep is.
struct Teller<'t> {
    told: &'t mut (dyn FnMut(SweepProgress) + Send),
    began: Instant,
    /// What the ledger says, and said when this instance began.
    written: Progress,
    done_before: u64,
    /// What this instance has seen of portions that it has not finished.
    open: Progress,
    of: u64,
}

#[derive(Clone, Copy, Default)]
struct Progress {
    done: u64,
    problems: u64,
}

impl<'t> Teller<'t> {
    fn new(ledger: &Ledger, told: &'t mut (dyn FnMut(SweepProgress) + Send)) -> Self {
        let written = Progress::of(&ledger.status);
        let (done_before, of) = (written.done, ledger.status.total);
        Self { told, began: Instant::now(), written, done_before, open: Progress::default(), of }
    }

    fn saw(&mut self, is_problem: bool) {
        self.open.done += 1;
        self.open.problems += u64::from(is_problem);
        self.tell();
    }

    fn wrote_down(&mut self, ledger: &Ledger, finished: Option<&Outcome>) {
        self.written = Progress::of(&ledger.status);
        if let Some(outcome) = finished {
            self.open.done -= outcome.counts.done;
            self.open.problems -= outcome.problems.count;
        }
        self.tell();
    }

    fn tell(&mut self) {
        let Progress { done, problems } = self.written;
        let (done, problems) = (done + self.open.done, problems + self.open.problems);
        let seconds = self.began.elapsed().as_secs_f64();
        let per_second = if seconds > 0.0 { done.saturating_sub(self.done_before) as f64 / seconds } else { 0.0 };
        (self.told)(SweepProgress { done, of: self.of, problems, per_second });
    }
}

impl Progress {
    fn of(status: &SweepStatus) -> Self {
        Self { done: status.counts.done, problems: status.problems.count }
    }
}

/// The status that was written last.
fn later(one: SweepStatus, other: SweepStatus) -> SweepStatus {
    let age = |status: &SweepStatus| (status.run, status.finished_at.is_some(), status.counts.done);
    if age(&one) < age(&other) { other } else { one }
}

/// One of several, so that those who come at the same time do not all take the same.
fn any<T>(items: impl Iterator<Item = T>) -> Option<T> {
    let mut items: Vec<T> = items.collect();
    let chosen = Uuid::new_v4().as_u128() % (items.len().max(1) as u128);
    (!items.is_empty()).then(|| items.swap_remove(chosen as usize))
}
