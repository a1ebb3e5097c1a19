//! Other systems, and asking them.

use std::{
    error::Error,
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    Divergence, Name, ServedKind,
    external::{SourceError, SourceProblem},
};

/// What another system answers, in its own time; or why it cannot.
pub type SourceAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Box<dyn Error + Send + Sync>>> + Send + 'a>>;

/// A system that owns fields of documents.
///
/// It answers JSON in the shape of the version that the catalog names for it. Of an answer, only the fields count that it
/// owns; a document that it does not have is one of which it has no field. How long to wait for it is its own affair: an
/// answer that does not come keeps its reader waiting, and an error fails the read.
pub trait ExternalSource: fmt::Debug + Send + Sync {
    /// What it has of a document of a kind; none if it does not have it.
    fn get<'a>(&'a self, kind: &'a str, name: &'a Name) -> SourceAnswer<'a, Option<Vec<u8>>>;

    /// What it has of several documents of a kind, in their order: lists ask for a page at once. Asks for one after the
    /// other, unless a system can do better.
    fn get_all<'a>(&'a self, kind: &'a str, names: &'a [Name]) -> SourceAnswer<'a, Vec<Option<Vec<u8>>>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(names.len());
            for name in names {
                answers.push(self.get(kind, name).await?);
            }
            Ok(answers)
        })
    }
}

/// What happened with a source so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SourceCounts {
    /// Documents that it was asked for.
    pub asked: u64,
    /// Documents that could not be read because of it.
    pub failed: u64,
    /// Fields that were something else than in the store when they were read.
    pub diverged: u64,
}

/// What the sources of a kind answered for one document, in their order in the catalog.
pub(crate) type Answers = Vec<Option<Vec<u8>>>;

/// The sources of a repository.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources(Arc<[Registered]>);

#[derive(Debug)]
struct Registered {
    name: Box<str>,
    source: Arc<dyn ExternalSource>,
    asked: AtomicU64,
    failed: AtomicU64,
    diverged: AtomicU64,
}

impl Sources {
    pub(crate) fn new(sources: impl IntoIterator<Item = (Box<str>, Arc<dyn ExternalSource>)>) -> Self {
        let registered = sources.into_iter().map(|(name, source)| Registered {
            name,
            source,
            asked: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            diverged: AtomicU64::new(0),
        });
        Self(registered.collect())
    }

    /// Everything is registered that kinds name, and nothing else.
    pub(crate) fn check<'k>(&self, kinds: impl Iterator<Item = &'k ServedKind> + Clone) -> Result<(), SourceError> {
        let declared = || kinds.clone().flat_map(|kind| &kind.external).map(|owned| &*owned.source);
        if let Some(name) = declared().find(|name| self.find(name).is_err()) {
            return Err(SourceError::new(name, SourceProblem::Unregistered));
        }
        match self.0.iter().find(|registered| !declared().any(|name| *name == *registered.name)) {
            Some(registered) => Err(SourceError::new(&registered.name, SourceProblem::Undeclared)),
            None => Ok(()),
        }
    }

    /// What the sources of a kind have of some documents.
    pub(crate) async fn ask(&self, kind: &ServedKind, names: &[Name]) -> Result<Vec<Answers>, SourceError> {
        let mut all = vec![Answers::new(); names.len()];
        if names.is_empty() {
            return Ok(all);
        }
        for owned in &kind.external {
            let registered = self.find(&owned.source)?;
            let count = names.len() as u64;
            registered.asked.fetch_add(count, Ordering::Relaxed);
            let kind_name = kind.kind().name();
            let answered = match names {
                [name] => registered.source.get(kind_name, name).await.map(|answer| vec![answer]),
                names => registered.source.get_all(kind_name, names).await,
            };
            let answered = answered.map_err(SourceProblem::Unreachable).and_then(|answered| match answered.len() {
                length if length == names.len() => Ok(answered),
                length => Err(SourceProblem::Incomplete(names.len(), length)),
            });
            match answered {
                Ok(answered) => all.iter_mut().zip(answered).for_each(|(answers, answer)| answers.push(answer)),
                Err(problem) => {
                    registered.failed.fetch_add(count, Ordering::Relaxed);
                    return Err(SourceError::new(&owned.source, problem));
                }
            }
        }
        Ok(all)
    }

    /// Counts what was found in a document.
    pub(crate) fn count(&self, divergence: &[Divergence]) {
        for found in divergence {
            if let Ok(registered) = self.find(&found.source) {
                registered.diverged.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Counts an answer that could not be used.
    pub(crate) fn count_failed(&self, error: &SourceError) {
        if let Ok(registered) = self.find(error.name()) {
            registered.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn counts(&self) -> impl Iterator<Item = (&str, SourceCounts)> {
        self.0.iter().map(|registered| {
            let [asked, failed, diverged] = [&registered.asked, &registered.failed, &registered.diverged]
                .map(|count| count.load(Ordering::Relaxed));
            (&*registered.name, SourceCounts { asked, failed, diverged })
        })
    }

    fn find(&self, name: &str) -> Result<&Registered, SourceError> {
        let found = self.0.iter().find(|registered| *registered.name == *name);
        found.ok_or_else(|| SourceError::new(name, SourceProblem::Unregistered))
    }
}
