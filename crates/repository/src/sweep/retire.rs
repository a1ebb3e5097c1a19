//! What a version is still needed for.

use wheelwright_document::Arena;
use wheelwright_evolve::{Only, OnlyIn, Origin, VersionIndex, VersionName};

use super::problems::Problems;
use crate::{Collection, RepositoryError, ServedKind};

/// What a version is needed for.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Needs {
    /// The version.
    pub version: VersionName,
    /// It is the hub: whatever is written is stored in its shape.
    pub is_hub: bool,
    /// How many records there are.
    pub total: u64,
    /// How many are stored in its shape; a sweep to another hub changes that.
    pub stored: u64,
    /// How many have an owner who speaks it, and nobody who would speak for it: a successor in the catalog changes that.
    pub origins: u64,
    /// How many have fields that no other version shows.
    pub hidden: u64,
    /// How many have values that were spelled in it and are spelled otherwise everywhere else.
    pub spelled: u64,
    /// How many cannot be opened, so that nobody knows what they need.
    pub unreadable: u64,
    /// The records that need it, with what for.
    pub records: Problems,
}

impl Needs {
    /// Whether nothing needs the version.
    pub fn is_empty(&self) -> bool {
        !self.is_hub && self.records.is_empty()
    }
}

impl Collection {
    /// Says for which records a version is needed. If it is for none, it can be removed from the catalog, and nothing that is
    /// stored can be seen less of.
    ///
    /// # Errors
    /// The store fails, or there is no such version.
    pub async fn needs(&self, version: &str) -> Result<Needs, RepositoryError> {
        let kind = &self.kind;
        let unknown = || RepositoryError::UnknownVersion(VersionName::new(version));
        let version = kind.kind().version(version).ok_or_else(unknown)?;
        let history = kind.kind().history();
        let others: Vec<VersionIndex> =
            history.indexes().filter(|other| *other != version && history.version(*other).declared).collect();
        let today = kind.kind().lenses().hub();
        // The hub itself holds everything in its own spelling; what counts is what would be left for it with another one.
        let hub = others.last().copied().filter(|_| today == version).unwrap_or(today);
        let only = kind.lenses(hub).only_in(version, &others);
        let mut needs = Needs {
            version: kind.version_name(version).clone(),
            is_hub: today == version,
            total: 0,
            stored: 0,
            origins: 0,
            hidden: 0,
            spelled: 0,
            unreadable: 0,
            records: Problems::default(),
        };
        self.walk(|key, stored| {
            needs.total += 1;
            let found = kind.needs(&stored.value, version, (hub, &only));
            needs.stored += u64::from(found.is_stored);
            needs.origins += u64::from(found.origin.is_some());
            needs.hidden += u64::from(!found.hidden.is_empty());
            needs.spelled += u64::from(!found.spelled.is_empty());
            needs.unreadable += u64::from(found.unreadable.is_some());
            if let Some(why) = found.why(&needs.version) {
                needs.records.add(self.called(key), why);
            }
        })
        .await?;
        Ok(needs)
    }
}

/// What one record needs a version for.
#[derive(Default)]
struct NeedsOfRecord {
    is_stored: bool,
    origin: Option<VersionName>,
    hidden: Vec<String>,
    spelled: Vec<String>,
    unreadable: Option<String>,
}

impl ServedKind {
    fn needs(&self, bytes: &[u8], version: VersionIndex, (hub, only): (VersionIndex, &OnlyIn<'_>)) -> NeedsOfRecord {
        let arena = Arena::for_input(bytes.len());
        let opened = match self.open(bytes, &arena) {
            Ok(opened) => opened,
            Err(error) => return NeedsOfRecord { unreadable: Some(error.to_string()), ..NeedsOfRecord::default() },
        };
        let mut needs = NeedsOfRecord { is_stored: opened.hub == version, ..NeedsOfRecord::default() };
        let origin = &opened.envelope.origin;
        needs.origin = self.is_voice_of(version, origin).then(|| origin.acting().clone());
        let text = |id| self.kind.history().field(id).text.to_string();
        let stored = match opened.hub == hub {
            true => opened.object,
            false => self.lenses(opened.hub).rehub(opened.object, self.lenses(hub), &arena),
        };
        for only in only.found_in(stored) {
            match only {
                Only::Fact(id) => needs.hidden.push(text(id)),
                Only::Spelling(id) => needs.spelled.push(text(id)),
                _ => needs.hidden.push("fields that no version declares".to_owned()),
            }
        }
        needs
    }

    /// Whether a version speaks for an origin, and nobody would if it were gone.
    fn is_voice_of(&self, version: VersionIndex, origin: &Origin) -> bool {
        let (history, mut name) = (self.kind.history(), origin.acting());
        let mut is_spoken = false;
        for _ in 0..=self.successors.len() {
            is_spoken |= name == self.version_name(version);
            let other = history.find(name.as_str()).filter(|other| *other != version);
            if other.is_some_and(|other| history.version(other).declared) {
                return false;
            }
            match self.successors.iter().find(|(gone, _)| gone == name) {
                Some((_, successor)) => name = successor,
                None => break,
            }
        }
        is_spoken
    }
}

impl NeedsOfRecord {
    fn why(&self, version: &VersionName) -> Option<String> {
        let mut reasons = Vec::new();
        reasons.extend(self.unreadable.clone());
        if self.is_stored {
            reasons.push(format!("is stored in the shape of {version}"));
        }
        if let Some(acting) = &self.origin {
            reasons.push(format!("its owner speaks {acting}, and {version} has no successor"));
        }
        if !self.hidden.is_empty() {
            reasons.push(format!("only {version} shows {}", self.hidden.join(", ")));
        }
        if !self.spelled.is_empty() {
            reasons.push(format!("only {version} shows {} as written", self.spelled.join(", ")));
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}
