//! What a version is still needed for.

use std::collections::BTreeMap;

use wheelwright_document::Arena;
use wheelwright_evolve::{Only, OnlyIn, Origin, VersionIndex, VersionName};
use wheelwright_schema::closest_of;

use super::problems::Problems;
use crate::{Collection, RepositoryError, ServedKind, record::Place};

/// A part of records that is hidden once a version is removed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Loss {
    /// Values that no other version shows in any representation.
    Values,
    /// The notation of values that other versions show in another representation: `90m` beside 5400.
    Notation,
    /// The order of list items that other versions show in another order, or without one.
    Order,
}

/// A loss that a user accepts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Accepted {
    /// All losses of one sort.
    Loss(Loss),
    /// Every loss in a field, named as in [`Needs::fields`].
    Field(Box<str>),
}

impl Accepted {
    /// Reads the name of a sort of loss, or else of a field.
    pub fn named(name: &str) -> Self {
        let loss = Loss::ALL.into_iter().find(|loss| loss.name() == name);
        loss.map_or_else(|| Self::Field(name.into()), Self::Loss)
    }

    /// The name that it is read from.
    pub fn name(&self) -> &str {
        match self {
            Self::Loss(loss) => loss.name(),
            Self::Field(field) => field,
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::Loss(_) => None,
            Self::Field(field) => Some(field),
        }
    }

    fn is_of(&self, (loss, field): &(Loss, String)) -> bool {
        match self {
            Self::Loss(accepted) => accepted == loss,
            Self::Field(accepted) => **accepted == **field,
        }
    }
}

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
    /// How many have values that no other version shows in any representation.
    pub hidden: u64,
    /// How many have values in a notation that no other version keeps.
    pub spelled: u64,
    /// How many have lists in an order that no other version keeps.
    pub ordered: u64,
    /// The fields that these have, with the number of records each.
    pub fields: BTreeMap<(Loss, String), u64>,
    /// What was accepted: no record needs the version for it.
    pub accepted: Vec<Accepted>,
    /// How many cannot be opened, so that nobody knows what they need.
    pub unreadable: u64,
    /// The records that need it, with what for.
    pub records: Problems,
}

impl Loss {
    /// Every loss.
    pub const ALL: [Self; 3] = [Self::Values, Self::Notation, Self::Order];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Notation => "notation",
            Self::Order => "order",
        }
    }
}

impl Needs {
    /// Whether nothing needs the version.
    pub fn is_empty(&self) -> bool {
        !self.is_hub && self.records.is_empty()
    }

    /// How many records lose something.
    pub fn count(&self, loss: Loss) -> u64 {
        match loss {
            Loss::Values => self.hidden,
            Loss::Notation => self.spelled,
            Loss::Order => self.ordered,
        }
    }

    /// Whether the loss of a field was accepted.
    pub fn is_accepted(&self, lost: &(Loss, String)) -> bool {
        self.accepted.iter().any(|accepted| accepted.is_of(lost))
    }

    fn count_mut(&mut self, loss: Loss) -> &mut u64 {
        match loss {
            Loss::Values => &mut self.hidden,
            Loss::Notation => &mut self.spelled,
            Loss::Order => &mut self.ordered,
        }
    }
}

impl Collection {
    /// Says for which records a version is needed. If it is for none, it can be removed from the catalog, and nothing that is
    /// stored can be seen less of.
    ///
    /// # Errors
    /// The store fails, or there is no such version.
    pub async fn needs(&self, version: &str) -> Result<Needs, RepositoryError> {
        self.needs_accepting(version, &[]).await
    }

    /// As [`needs`](Self::needs), where no record needs the version for losses that are accepted. They are counted, too.
    ///
    /// # Errors
    /// As for [`needs`](Self::needs), or no version has a field that is accepted.
    pub async fn needs_accepting(&self, version: &str, accepted: &[Accepted]) -> Result<Needs, RepositoryError> {
        let kind = &self.kind;
        let unknown = || RepositoryError::UnknownVersion(VersionName::new(version));
        let version = kind.kind().version(version).ok_or_else(unknown)?;
        let history = kind.kind().history();
        let fields = || history.ids().map(|id| &*history.field(id).text).chain([UNDECLARED]);
        let is_unknown = |name: &&str| fields().all(|field| field != *name);
        if let Some(name) = accepted.iter().filter_map(Accepted::field).find(is_unknown) {
            let closest = closest_of(fields(), name).map(Into::into);
            return Err(RepositoryError::UnknownLoss { name: name.into(), closest });
        }
        let others: Vec<VersionIndex> =
            history.indexes().filter(|other| *other != version && history.version(*other).declared).collect();
        let today = kind.kind().lenses().hub();
        // The hub itself holds everything in its own spelling; what counts is what would be left for it with another one.
        let hub = others.last().copied().filter(|_| today == version).unwrap_or(today);
        let only = kind.kind().only_in(kind.lenses(hub), version, &others);
        let mut needs = Needs {
            version: kind.version_name(version).clone(),
            is_hub: today == version,
            total: 0,
            stored: 0,
            origins: 0,
            hidden: 0,
            spelled: 0,
            ordered: 0,
            fields: BTreeMap::new(),
            accepted: accepted.to_vec(),
            unreadable: 0,
            records: Problems::default(),
        };
        self.walk(|key, stored| {
            needs.total += 1;
            let found = kind.needs(&stored.value, Place::of(key), version, (hub, &only));
            needs.stored += u64::from(found.is_stored);
            needs.origins += u64::from(found.origin.is_some());
            for loss in Loss::ALL {
                *needs.count_mut(loss) += u64::from(found.lost.iter().any(|(other, _)| *other == loss));
            }
            for lost in &found.lost {
                *needs.fields.entry(lost.clone()).or_default() += 1;
            }
            needs.unreadable += u64::from(found.unreadable.is_some());
            if let Some(why) = found.why(&needs.version, accepted) {
                needs.records.add(self.called(key), why);
            }
        })
        .await?;
        Ok(needs)
    }
}

/// What stands for a field in the name of a loss that is of none.
const UNDECLARED: &str = "fields that no version declares";

/// What one record needs a version for.
#[derive(Default)]
struct NeedsOfRecord {
    is_stored: bool,
    origin: Option<VersionName>,
    lost: Vec<(Loss, String)>,
    unreadable: Option<String>,
}

impl ServedKind {
    fn needs(
        &self,
        bytes: &[u8],
        place: Place,
        version: VersionIndex,
        (hub, only): (VersionIndex, &OnlyIn<'_>),
    ) -> NeedsOfRecord {
        let arena = Arena::for_input(bytes.len());
        let opened = match self.open(bytes, place, &arena) {
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
        let lost = only.found_in(stored).into_iter().map(|only| match only {
            Only::Fact(id) => (Loss::Values, text(id)),
            Only::Spelling(id) => (Loss::Notation, text(id)),
            Only::Order(id) => (Loss::Order, text(id)),
            _ => (Loss::Values, UNDECLARED.to_owned()),
        });
        needs.lost = lost.collect();
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
    fn why(&self, version: &VersionName, accepted: &[Accepted]) -> Option<String> {
        let mut reasons = Vec::new();
        reasons.extend(self.unreadable.clone());
        if self.is_stored {
            reasons.push(format!("is stored in the shape of {version}"));
        }
        if let Some(acting) = &self.origin {
            reasons.push(format!("its owner speaks {acting}, and {version} has no successor"));
        }
        let open = self.lost.iter().filter(|lost| !accepted.iter().any(|accepted| accepted.is_of(lost)));
        let open: Vec<&(Loss, String)> = open.collect();
        for loss in Loss::ALL {
            let fields: Vec<&str> =
                open.iter().filter(|(other, _)| *other == loss).map(|(_, field)| &**field).collect();
            if !fields.is_empty() {
                let fields = fields.join(", ");
                reasons.push(match loss {
                    Loss::Values => format!("only {version} shows {fields}"),
                    Loss::Notation => format!("only {version} shows {fields} as written"),
                    Loss::Order => format!("only {version} shows {fields} in this order"),
                });
            }
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}
