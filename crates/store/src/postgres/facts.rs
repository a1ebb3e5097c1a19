//! What damaged tables prove: the newest revision of each key, determined from all that can still be read. Pure.
//!
//! Four things show it. Rows with a checksum are what was written. The trail shows whose each revision after `compacted` is,
//! where a row is lost. The digest and the buckets show which rows there were up to `compacted`. Entries of the index name keys
//! and revisions of lost rows.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    check,
    known::Known,
    rows::Head,
    scan::Entry,
    trail::{Stem, Trail},
};
use crate::{
    Key,
    buckets::{Difference, Element, KeyHash},
    sum,
};

/// The most revisions without a row that an altered row is compared with, and that a sound head can be ahead of all rows.
const MOST_MISSING: u64 = 1 << 20;

/// What is known of the keys of damaged tables.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) head: Head,
    newest: BTreeMap<Key, Newest>,
    /// Revisions that are lost with the names of their keys.
    nameless: HashMap<Stem, u64>,
    kept: Kept,
    /// The last revision of which nothing shows the key; any key may have had it.
    lost: Option<u64>,
}

/// The newest revision of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Newest {
    /// Its revision and the place of its row.
    Row(u64, (u32, u16)),
    /// A revision whose row is lost.
    Lost(u64),
    /// A removal whose row is lost.
    Removed(u64),
    /// It cannot be determined.
    Unknown,
}

/// What is known of the rows up to `compacted`.
#[derive(Debug)]
enum Kept {
    /// Which they are.
    All,
    /// Those of keys that the buckets prove.
    Proven(Box<Difference>),
    Unknown,
}

/// Keys and revisions.
type Claims = HashSet<(Key, u64)>;

impl Newest {
    fn revision(self) -> Option<u64> {
        match self {
            Self::Row(revision, _) | Self::Lost(revision) | Self::Removed(revision) => Some(revision),
            Self::Unknown => None,
        }
    }
}

impl Facts {
    pub(super) fn new(known: &Known, table: &[Entry], index: &[Entry], are_whole: bool) -> Self {
        let rows = Rows::new(known, table, index, are_whole);
        let head = rows.head;
        let (kept_rows, kept) = rows.kept(known, are_whole);
        let mut facts = Self { head, newest: BTreeMap::new(), nameless: HashMap::new(), kept, lost: None };
        facts.add_kept(&rows, &kept_rows);
        facts.add_recent(&rows, &known.trail);
        facts
    }

    /// The newest revision of a key: none if the key has no value. An error if that is not proven.
    pub(super) fn newest(&self, key: &Key) -> Result<Option<Newest>, Unproven> {
        let hash = KeyHash::of(key);
        let newest = match self.nameless.get(&Stem::of(hash)) {
            Some(revision) => Some(Newest::Lost(*revision)),
            None => self.newest.get(key).copied(),
        };
        match newest {
            Some(newest) if newest.revision() >= self.lost => Ok(Some(newest)),
            None if self.lost.is_none() && self.kept.proves(hash) => Ok(None),
            _ => Err(Unproven),
        }
    }

    /// The newest revisions of all keys. An error if there may be others.
    pub(super) fn all(&self) -> Result<&BTreeMap<Key, Newest>, Unproven> {
        let is_all = self.lost.is_none() && self.nameless.is_empty() && self.kept.proves_all();
        is_all.then_some(&self.newest).ok_or(Unproven)
    }

    fn add_kept(&mut self, rows: &Rows<'_>, kept: &[(Key, u64)]) {
        for (key, revision) in kept {
            let newest = match self.kept.proves(KeyHash::of(key)) {
                true => rows.newest(key, *revision),
                // A row may be back after it was deleted.
                false => Newest::Unknown,
            };
            self.newest.insert(key.clone(), newest);
        }
        let Kept::Proven(difference) = &self.kept else { return };
        let known: HashSet<Element> = kept.iter().map(|(key, revision)| (KeyHash::of(key), *revision)).collect();
        let back: HashSet<Element> = rows.kept_claims().map(|(key, revision)| (KeyHash::of(key), *revision)).collect();
        for (hash, revision) in difference.elements() {
            if known.contains(&(*hash, *revision)) || back.contains(&(*hash, *revision)) {
                continue;
            }
            match rows.names.get(&Stem::of(*hash)) {
                Some(key) => drop(self.newest.insert((*key).clone(), Newest::Lost(*revision))),
                None => drop(self.nameless.insert(Stem::of(*hash), *revision)),
            }
        }
    }

    /// Adds the revisions after `compacted`, in their order.
    fn add_recent(&mut self, rows: &Rows<'_>, trail: &Trail) {
        let Head { revision: head, compacted } = self.head;
        let mut revisions: Vec<u64> = rows.owners.keys().copied().chain(trail.revisions()).collect();
        revisions.retain(|revision| *revision > compacted);
        revisions.sort_unstable();
        revisions.dedup();
        for revision in &revisions {
            let trace = trail.trace(*revision).filter(|_| !rows.confirmed.contains(revision));
            let claims = rows.owners.get(revision);
            let Some(trace) = trace else {
                // A row that its checksum confirms, or claims alone.
                let claims = claims.into_iter().flatten();
                for key in claims.clone() {
                    let is_known = claims.clone().count() == 1 && *revision <= head;
                    let newest = if is_known { rows.newest(key, *revision) } else { Newest::Unknown };
                    self.set(key, newest);
                }
                continue;
            };
            match rows.names.get(&trace.stem()) {
                Some(key) => self.set(
                    key,
                    match rows.newest(key, *revision) {
                        Newest::Lost(_) if trace.is_deletion() => Newest::Removed(*revision),
                        newest => newest,
                    },
                ),
                None if trace.is_deletion() => drop(self.nameless.remove(&trace.stem())),
                None => drop(self.nameless.insert(trace.stem(), *revision)),
            }
        }
        self.lost = match revisions.last().is_some_and(|last| *last > head) {
            // The head is damaged, and does not show how many more there were.
            true => Some(u64::MAX),
            false => {
                let owned: HashSet<u64> = revisions.into_iter().collect();
                (compacted + 1..=head).rfind(|revision| !owned.contains(revision))
            }
        };
    }

    fn set(&mut self, key: &Key, newest: Newest) {
        self.nameless.remove(&Stem::of(KeyHash::of(key)));
        self.newest.insert(key.clone(), newest);
    }
}

/// Nothing proves it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unproven;

impl Kept {
    fn proves(&self, key: KeyHash) -> bool {
        match self {
            Self::All => true,
            Self::Proven(difference) => difference.proves(key),
            Self::Unknown => false,
        }
    }

    fn proves_all(&self) -> bool {
        match self {
            Self::All => true,
            Self::Proven(difference) => difference.proves_all(),
            Self::Unknown => false,
        }
    }
}

/// The rows and the entries of the index, compared with each other.
struct Rows<'e> {
    head: Head,
    /// Rows that are what was written, as far as they have a checksum.
    in_table: Claims,
    in_index: Claims,
    /// Where altered rows were moved from.
    moved: Claims,
    places: HashMap<(&'e Key, u64), (u32, u16)>,
    /// Every key that is named anywhere.
    names: HashMap<Stem, &'e Key>,
    /// The keys that each revision after `compacted` may be of.
    owners: HashMap<u64, HashSet<Key>>,
    /// Those of rows with a checksum.
    confirmed: HashSet<u64>,
}

impl<'e> Rows<'e> {
    fn new(known: &Known, table: &'e [Entry], index: &'e [Entry], are_whole: bool) -> Self {
        let (altered, sound): (Vec<&Entry>, Vec<&Entry>) = table.iter().partition(|entry| check::is_altered(entry));
        let in_table = claims(sound.iter().copied());
        // An altered row may have been moved here from a revision that is missing now, or that another one was moved to.
        let refuted = claims(altered.iter().copied());
        let in_index: Claims = claims(index.iter()).difference(&refuted).cloned().collect();
        let head = match known.trail.end().filter(|_| are_whole && does_trail_prove_end(known, table, index)) {
            Some(end) => Head { revision: end.revision, ..known.head },
            None => corrected(known, &in_table, &in_index),
        };
        let compacted = head.compacted;
        let moved = moved(&altered, head, &in_table, &in_index);
        // Beyond a head that the trail confirms, there is what a checksum confirms, or garbage.
        let is_head_right = known.trail.end().is_some_and(|end| end.revision == head.revision);
        let may_be = |claim: &&(Key, u64)| claim.1 > compacted && (!is_head_right || claim.1 <= head.revision);

        // A row that its checksum confirms refutes all other claims of its revision.
        let recent = |entry: &&&Entry| entry.revision > compacted && entry.sum.is_some();
        let confirmed: HashSet<u64> = sound.iter().filter(recent).map(|entry| entry.revision).collect();
        let mut owners = HashMap::<u64, HashSet<Key>>::new();
        for entry in sound.iter().filter(recent) {
            owners.entry(entry.revision).or_default().insert(entry.key.clone());
        }
        for (key, revision) in in_table.union(&in_index).chain(&moved).filter(may_be) {
            if !confirmed.contains(revision) {
                owners.entry(*revision).or_default().insert(key.clone());
            }
        }
        let names = table.iter().chain(index).map(|entry| (Stem::of(KeyHash::of(&entry.key)), &entry.key)).collect();
        // Rows of a release that leaves a trail have a checksum.
        let is_whole = |entry: &&&Entry| entry.sum.is_some() || known.trail.trace(entry.revision).is_none();
        let places = sound.iter().filter(is_whole).map(|entry| ((&entry.key, entry.revision), entry.place)).collect();
        Self { head, in_table, in_index, moved, places, names, owners, confirmed }
    }

    fn newest(&self, key: &Key, revision: u64) -> Newest {
        self.places.get(&(key, revision)).map_or(Newest::Lost(revision), |place| Newest::Row(revision, *place))
    }

    /// The rows up to `compacted` that the table has.
    fn kept_claims(&self) -> impl Iterator<Item = &(Key, u64)> {
        self.in_table.iter().filter(|claim| claim.1 <= self.head.compacted)
    }

    /// The rows that there were up to `compacted`, as far as they are known, and how far that is.
    fn kept(&self, known: &Known, are_whole: bool) -> (Vec<(Key, u64)>, Kept) {
        let is_kept = |claim: &&(Key, u64)| claim.1 <= self.head.compacted;
        let of_table: Claims = self.kept_claims().cloned().collect();
        let of_index: Claims = self.in_index.iter().filter(is_kept).cloned().collect();
        let put_back: Claims = of_table.iter().chain(self.moved.iter().filter(is_kept)).cloned().collect();
        let union: Claims = of_table.union(&of_index).cloned().collect();
        let both: Claims = of_table.intersection(&of_index).cloned().collect();
        let is_of_earlier_release =
            known.seen.is_some() && known.trail.end().is_none() && !known.buckets.are_any_known();
        let all = match known.digest {
            Some(digest) => {
                [&of_table, &of_index, &union, &both, &put_back].into_iter().find(|claims| digest_of(*claims) == digest)
            }
            None => (is_of_earlier_release && are_whole && of_table == of_index).then_some(&of_table),
        };
        if let Some(all) = all {
            return (all.iter().cloned().collect(), Kept::All);
        }
        if !known.buckets.are_any_known() {
            return (union.into_iter().collect(), Kept::Unknown);
        }
        let elements = |claims: &Claims| -> Vec<Element> {
            claims.iter().map(|(key, revision)| (KeyHash::of(key), *revision)).collect()
        };
        let others: Claims = of_index.union(&put_back).cloned().collect();
        let difference = known.buckets.compare(&elements(&of_table), &elements(&others));
        // Rows that are back after they were deleted are left out; keys of others may be known from the index alone.
        let is_right = |(key, revision): &(Key, u64)| {
            let element = (KeyHash::of(key), *revision);
            of_table.contains(&(key.clone(), *revision)) != difference.elements().contains(&element)
                || !difference.proves(element.0)
        };
        let kept: Vec<(Key, u64)> = others.union(&of_table).filter(|claim| is_right(claim)).cloned().collect();
        let is_all = known.digest.is_some_and(|digest| digest == digest_of(&kept));
        (kept, if is_all { Kept::All } else { Kept::Proven(Box::new(difference)) })
    }
}

/// Whether the log ends where the trail does, although the head is further ahead: both trails could be read, they have every
/// revision after `compacted`, and nothing is beyond them.
///
/// A row that an earlier release has written leaves no trail. If there is one, others may be lost, so the trail proves nothing.
fn does_trail_prove_end(known: &Known, table: &[Entry], index: &[Entry]) -> bool {
    let Some(end) = known.trail.end().filter(|_| known.seen.is_some() && !known.trail.damaged.contains(&true)) else {
        return false;
    };
    let compacted = known.head.compacted;
    let is_traced = |entry: &Entry| {
        entry.revision <= compacted || entry.revision <= end.revision && known.trail.trace(entry.revision).is_some()
    };
    known.head.revision > end.revision
        && end.revision >= compacted
        && (compacted + 1..=end.revision).all(|revision| known.trail.trace(revision).is_some())
        && table.iter().chain(index).all(is_traced)
}

/// The head, unless it is further ahead of all rows than rows can be missing, which only a damaged number can be.
fn corrected(known: &Known, in_table: &Claims, in_index: &Claims) -> Head {
    let last =
        in_table.iter().chain(in_index).map(|claim| claim.1).chain(known.trail.end().map(|end| end.revision)).max();
    let revision = match last.filter(|_| known.trail.end().is_some()) {
        Some(last) if known.seen.is_none() => last.max(known.head.revision),
        Some(last) if known.head.revision.saturating_sub(last) > MOST_MISSING => last,
        _ => known.head.revision,
    };
    Head { revision, ..known.head }
}

/// Where altered rows were moved from, by their checksums.
fn moved(altered: &[&Entry], head: Head, in_table: &Claims, in_index: &Claims) -> Claims {
    if altered.is_empty() {
        return Claims::new();
    }
    let taken: HashSet<u64> = in_table.union(in_index).map(|claim| claim.1).collect();
    let first = head.revision.saturating_sub(2 * MOST_MISSING).max(head.compacted);
    let missing = (first + 1..=head.revision).rev().filter(|revision| !taken.contains(revision));
    let free: HashSet<u64> = altered.iter().map(|entry| entry.revision).chain(missing).collect();
    let moved = altered.iter().flat_map(|entry| {
        let is_from = |revision: &&u64| entry.sum.is_some_and(|sum| sum::is_of(sum, **revision, entry.key.as_str()));
        free.iter().filter(is_from).map(|revision| (entry.key.clone(), *revision))
    });
    moved.collect()
}

fn claims<'e>(entries: impl Iterator<Item = &'e Entry>) -> Claims {
    entries.map(|entry| (entry.key.clone(), entry.revision)).collect()
}

fn digest_of<'c>(claims: impl IntoIterator<Item = &'c (Key, u64)>) -> i64 {
    claims
        .into_iter()
        .fold(0, |digest, (key, revision)| digest ^ sum::digest(*revision as i64, key.as_str().as_bytes()))
}
