//! What is certain about a file with damaged pages.
//!
//! A revision never changes its key, and a checksum proves both. So a row that is found anywhere in the file is a fact if its
//! checksum matches, whether or not a page still leads to it. A row that is lost may be named by its entry in the index. What
//! remains are lost revisions whose key is not known: each of them can be the newest of a key only where the index has a hole
//! too, because its entries are in the order of the keys. The newest revision of every other key is certain.
//!
//! Revisions after the head's `compacted` are all in the log. Of the earlier ones only the newest of each key is. Which they are
//! is proven by the [digest](super::kept) of the head. Without it, an earlier row is used only if the table or the index still
//! has it: a free page may contain one that was deleted.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::RangeInclusive,
};

use super::{
    found::{Claims, Found, Standing},
    pages::{Kind, Pages},
    read::Head,
    rows::{self, IndexEntry, Proof, Row, index_cell},
    tree::{Covered, Position, Table},
};
use crate::{
    Key,
    buckets::{Element, KeyHash, PageBuckets, PageDifference},
    log::Action,
};

/// What is known of a file.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) pages: Pages,
    /// Where the log ends; none if that is lost.
    pub(super) head: Option<Head>,
    /// The last revision that is known.
    pub(super) last: u64,
    /// At least one row has a good checksum.
    pub(super) has_proof: bool,
    pub(super) newest: BTreeMap<Key, NewestRow>,
    /// The parts of the index that are known and up to date.
    covered: Covered,
    /// The key of every revision after `compacted` is known.
    has_all_recent: bool,
    /// None without a digest.
    kept: Option<Kept>,
}

/// The newest revision of a key.
#[derive(Debug)]
pub(super) struct NewestRow {
    pub(super) revision: u64,
    /// None if it is lost.
    pub(super) row: Option<Row>,
    /// There is no newer one.
    pub(super) is_certain: bool,
}

/// A revision whose key is known.
struct KnownRevision {
    key: Key,
    revision: u64,
    row: Option<Row>,
    standing: Standing,
    /// Whether the index has its entry, where the index is known.
    is_indexed: Option<bool>,
}

/// What the digest of the head shows of the revisions up to `compacted`.
#[derive(Debug)]
struct Kept {
    difference: PageDifference,
    /// Keys that are lost with their names.
    lost_keys: HashSet<KeyHash>,
    /// Where the index is known, and has no entry of a key that is kept, or one of a key that is not.
    contradicted: Vec<Position>,
}

impl Facts {
    /// Reads the whole file.
    pub(super) fn of(pages: Pages) -> Self {
        let [log, index, head_root] = rows::roots(&pages);
        let free: Option<HashSet<u32>> = pages.free().map(HashSet::from_iter);
        let is_free = |page: u32| free.as_ref().is_none_or(|free| free.contains(&page));
        let table = Table::walk(&pages, log);
        let mut found = Found::default();
        let mut heads: Vec<(Head, Option<PageBuckets>)> = Vec::new();
        for page in pages.numbers().filter_map(|number| pages.read(number)) {
            found.read_rows(&pages, &page, &table, is_free(page.number));
            heads.extend(rows::head(&pages, &page).filter(|_| !is_free(page.number) || page.number == head_root));
        }
        let last = found.proven.values().map(|row| row.revision).max().unwrap_or_default();
        let at_root = pages.read(head_root).and_then(|page| rows::head(&pages, &page));
        let (head, digest) = match (at_root, &*heads) {
            (None, [head]) => Some(head.clone()),
            (at_root, _) => at_root,
        }
        .filter(|(head, _)| head.revision >= last)
        .unzip();
        found.move_rows(&pages, head);
        let covered = found.read_index(&pages, index, head, &is_free);
        let has_proof = !found.proven.is_empty();
        let newest = BTreeMap::new();
        let mut facts = Self { pages, head, last, has_proof, newest, covered, has_all_recent: false, kept: None };
        facts.conclude(found, &table, digest.flatten().as_ref());
        facts
    }

    /// Whether a key is certain not to exist.
    pub(super) fn has_not(&self, key: &Key) -> bool {
        let (at, hash) = (|revision| Position::At(key.as_str().into(), revision), KeyHash::of(key));
        let is_covered = self.covered.has(&at(0), &at(u64::MAX));
        let has_all_kept = match &self.kept {
            // A part of the index that is covered may be an older copy.
            Some(kept) => kept.difference.proves(hash) && !kept.lost_keys.contains(&hash),
            None => is_covered,
        };
        !self.newest.contains_key(key) && has_all_kept && (is_covered || self.has_all_recent)
    }

    /// Whether all keys between two texts are known. None as the end: up to the last key.
    pub(super) fn has_all(&self, after: &str, end: Option<&str>) -> bool {
        let from = if after.is_empty() { Position::Start } else { Position::At(after.into(), 0) };
        let to = end.map_or(Position::End, |end| Position::At(end.into(), 0));
        let is_covered = self.covered.has(&from, &to);
        let has_all_kept = self.kept.as_ref().map_or(is_covered, Kept::is_whole);
        has_all_kept && (is_covered || self.has_all_recent)
    }

    fn conclude(&mut self, mut found: Found, table: &Table, digest: Option<&PageBuckets>) {
        let mut claims = found.claims();
        let last = || claims.revisions.keys().copied().max().unwrap_or_default();
        self.last = self.head.map_or_else(last, |head| head.revision);
        let lost = lost(self.head, table, &claims.revisions);
        for (key, revision) in carved_entries(&self.pages, &lost) {
            claims.suspect(&key, revision);
        }
        self.has_all_recent = self.head.is_some() && lost.is_empty();
        let is_index_whole = self.covered.has(&Position::Start, &Position::End);
        let newest_lost = lost.last().map_or(0, |range| *range.end());
        if is_index_whole && newest_lost > self.head.map_or(table.last_removed, |head| head.compacted) {
            // The index has no entry of a revision that was not removed, and so is not the one that was written last.
            self.covered = Covered::default();
        }
        let mut known = self.known(&mut claims, &found);
        let compacted = self.compacted();
        self.kept = digest.map(|digest| Kept::of(digest, compacted, &mut known, &claims.suspects));
        let mut is_stale = false;
        if let Some(kept) = &self.kept {
            is_stale = !kept.contradicted.is_empty() || is_index_whole && !kept.is_whole();
            // Pages of the index are older copies: which ones is known, unless keys are lost with their names.
            match is_index_whole && !kept.is_whole() {
                true => self.covered = Covered::default(),
                false => self.covered.drop_leaves_at(&kept.contradicted),
            }
        }
        self.find_newest(known, claims.suspects, newest_lost, is_stale);
    }

    /// The revision up to which only the newest row of each key is in the log.
    fn compacted(&self) -> u64 {
        self.head.map_or(u64::MAX, |head| head.compacted)
    }

    fn known(&self, claims: &mut Claims, found: &Found) -> Vec<KnownRevision> {
        let revisions = std::mem::take(&mut claims.revisions).into_iter();
        let known = revisions.map(|(revision, (key, row))| {
            let standing = match revision > self.compacted() {
                true => Standing::Live,
                false => found.standing(&key, revision, &self.covered),
            };
            let is_indexed = found.is_indexed(&key, revision, &self.covered);
            KnownRevision { key, revision, row, standing, is_indexed }
        });
        known.collect()
    }

    /// Determines the newest revision of each key. Any key may have a lost one up to `newest_lost`, unless the index covers it.
    fn find_newest(
        &mut self,
        known: Vec<KnownRevision>,
        mut suspects: HashMap<Key, u64>,
        newest_lost: u64,
        is_stale: bool,
    ) {
        let mut by_key = BTreeMap::<Key, BTreeMap<u64, KnownRevision>>::new();
        let mut dead = Vec::new();
        for one in known {
            match one.standing {
                Standing::Dead => dead.push((one.key, one.revision)),
                _ => drop(by_key.entry(one.key.clone()).or_default().insert(one.revision, one)),
            }
        }
        for (key, rows) in by_key {
            let is_in_turn = is_in_turn(&rows);
            let Some((revision, newest)) = rows.into_iter().next_back() else { continue };
            let at = |revision| Position::At(key.as_str().into(), revision);
            let can_be_newer = newest_lost > revision && !self.covered.has(&at(revision + 1), &at(newest_lost));
            let is_proven = self.kept.as_ref().is_some_and(|kept| kept.difference.proves(KeyHash::of(&key)));
            let is_covered = || self.covered.has(&at(revision), &at(revision));
            // Without the digest, nothing shows whether the page of the index is the older copy, or that of a row, or both.
            let is_contradicted = is_stale || self.kept.is_none() && self.covered.is_refuted(&at(revision));
            let can_be_forgotten = revision <= self.compacted() && is_contradicted && !is_proven && !is_covered();
            let is_suspected = suspects.remove(&key).is_some_and(|suspect| {
                // A damaged number may be greater than that of any revision. If the index does not have it either, it is not one.
                let is_beyond = self.head.is_some_and(|head| suspect > head.revision)
                    && self.covered.has(&at(revision + 1), &at(suspect));
                // What is kept up to `compacted` is known of a proven key.
                suspect > revision && !is_beyond && (suspect > self.compacted() || !is_proven)
            });
            let is_undisputed = newest.standing != Standing::Disputed;
            let is_certain = !can_be_newer && !can_be_forgotten && !is_suspected && is_in_turn && is_undisputed;
            self.newest.insert(key, NewestRow { revision, row: newest.row, is_certain });
        }
        for (key, revision) in dead.into_iter().chain(suspects) {
            if !self.has_not(&key) {
                let unknown = || NewestRow { revision, row: None, is_certain: false };
                self.newest.entry(key).or_insert_with(unknown);
            }
        }
    }
}

impl Kept {
    /// Compares the digest with what is known, and corrects that where the digest proves it.
    fn of(digest: &PageBuckets, compacted: u64, known: &mut Vec<KnownRevision>, suspects: &HashMap<Key, u64>) -> Self {
        let element = |key: &Key, revision: u64| -> Element { (KeyHash::of(key), revision) };
        let (mut live, mut others) = (Vec::new(), Vec::new());
        for one in known.iter().filter(|one| one.revision <= compacted) {
            let list = if one.standing == Standing::Live { &mut live } else { &mut others };
            list.push(element(&one.key, one.revision));
        }
        others.extend(suspects.iter().map(|(key, revision)| element(key, *revision)));
        let difference = digest.compare(&live, &others);
        let mut missing = difference.elements().clone();
        let mut contradicted = Vec::new();
        known.retain_mut(|one| {
            if one.revision > compacted {
                return true;
            }
            let element = element(&one.key, one.revision);
            let is_different = missing.remove(&element);
            if !difference.proves(element.0) {
                return true;
            }
            let is_kept = (one.standing == Standing::Live) != is_different;
            if one.is_indexed.is_some_and(|is_indexed| is_indexed != is_kept) {
                contradicted.push(Position::At(one.key.as_str().into(), one.revision));
            }
            one.standing = Standing::Live;
            is_kept
        });
        // Rows that are lost of keys whose names are known.
        let mut lost_keys: HashMap<KeyHash, u64> = missing.into_iter().collect();
        let mut lost = Vec::new();
        for key in known.iter().map(|one| &one.key).chain(suspects.keys()) {
            if let Some(revision) = lost_keys.remove(&KeyHash::of(key)) {
                let (key, standing) = (key.clone(), Standing::Live);
                lost.push(KnownRevision { key, revision, row: None, standing, is_indexed: None });
            }
        }
        known.extend(lost);
        Self { difference, lost_keys: lost_keys.into_keys().collect(), contradicted }
    }

    /// Whether all keys are known.
    fn is_whole(&self) -> bool {
        self.difference.proves_all() && self.lost_keys.is_empty()
    }
}

/// Revisions that must be in the log and whose key is not known, in their order.
fn lost(head: Option<Head>, table: &Table, known: &HashMap<u64, (Key, Option<Row>)>) -> Vec<RangeInclusive<u64>> {
    let mut known: Vec<u64> = known.keys().copied().collect();
    known.sort_unstable();
    let mut holes = match head {
        Some(head) => vec![(head.compacted, head.revision)],
        // Any number that is missing may be that of a revision which is not needed any more, but in a hole.
        None => table.holes.clone(),
    };
    holes.sort_unstable();
    let mut lost = Vec::new();
    for (after, until) in holes {
        let mut next = after.saturating_add(1);
        let first = known.partition_point(|revision| *revision <= after);
        for revision in known[first..].iter().copied().take_while(|revision| *revision <= until) {
            if revision > next {
                lost.push(next..=revision - 1);
            }
            next = revision.saturating_add(1);
        }
        if next <= until {
            lost.push(next..=until);
        }
    }
    lost
}

/// Whether the newest row of a key follows from the one before it. A row that its checksum proves is right in any case.
fn is_in_turn(rows: &BTreeMap<u64, KnownRevision>) -> bool {
    let mut newest = rows.values().rev().map(|known| known.row.as_ref());
    let (Some(Some(row)), before) = (newest.next(), newest.next()) else { return true };
    match (row.proof, before) {
        (Proof::Unsummed, Some(Some(before))) => (row.action == Action::Created) == (before.action == Action::Deleted),
        _ => true,
    }
}

/// Entries of the index for lost revisions, in any part of the file.
fn carved_entries(pages: &Pages, lost: &[RangeInclusive<u64>]) -> Vec<IndexEntry> {
    if lost.is_empty() {
        return Vec::new();
    }
    let is_lost = |revision: &u64| {
        let after = lost.partition_point(|range| range.start() <= revision);
        after > 0 && lost[after - 1].contains(revision)
    };
    let mut entries = Vec::new();
    for page in pages.numbers().filter_map(|number| pages.read(number)) {
        let cells = (0..page.bytes.len()).filter_map(|at| index_cell(pages, &page, at, Kind::IndexLeaf)?.entry);
        entries.extend(cells.filter(|(_, revision)| is_lost(revision)));
    }
    entries
}
