//! What is certain about a file with damaged pages.
//!
//! A revision never changes its key, and a checksum proves both. So a row that is found anywhere in the file is a fact if its
//! checksum matches, whether or not a page still leads to it. A row that is lost may be named by its entry in the index. What
//! remains are lost revisions whose key is not known: each of them can be the newest of a key only where the index has a hole
//! too, because its entries are in the order of the keys. The newest revision of every other key is certain.
//!
//! Revisions after the head's `compacted` are all in the log. Of the earlier ones only the newest of each key is, so an earlier
//! row is used only if the table or the index still has it: a free page may contain one that was deleted.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ops::RangeInclusive,
};

use super::{
    pages::{Kind, Page, Pages},
    read::Head,
    rows::{self, Entry, Proof, Row, index_cell, index_cells},
    tree::{Covered, Known, Position, Table, good_entries},
};
use crate::{Key, log::Action};

/// Lost revisions that are tried as those of a row whose checksum is for another revision.
const MOST_TRIED: usize = 10_000;

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
    pub(super) newest: BTreeMap<Key, Newest>,
    covered: Covered,
    /// No row is lost.
    is_whole: bool,
}

/// The newest revision of a key.
#[derive(Debug)]
pub(super) struct Newest {
    pub(super) revision: u64,
    /// None if it is lost.
    pub(super) row: Option<Row>,
    /// There is no newer one.
    pub(super) is_certain: bool,
}

/// What pages contain, before it is compared.
#[derive(Default)]
struct Found {
    /// Rows whose checksum proves their revision and key, the best of each.
    proven: HashMap<u64, Row>,
    /// Other rows.
    loose: Vec<Row>,
    /// Revisions that were found to be of rows that belong elsewhere, with their keys.
    moved: HashSet<Entry>,
    /// Revisions with rows that contradict each other.
    disputed: BTreeMap<u64, BTreeSet<Key>>,
    /// Rows that the table has.
    in_table: HashSet<Entry>,
    /// Entries that pages of the index have.
    in_index: HashMap<u64, BTreeMap<Key, Listed>>,
}

/// Which pages have an entry of the index.
#[derive(Clone, Copy, Default)]
struct Listed {
    /// One that is in use.
    is_live: bool,
    /// One that is sound.
    is_sound: bool,
}

impl Facts {
    /// Reads the whole file.
    pub(super) fn of(pages: Pages) -> Self {
        let [log, index, head_root] = rows::roots(&pages);
        let free: Option<HashSet<u32>> = pages.free().map(HashSet::from_iter);
        let is_free = |page: u32| free.as_ref().is_none_or(|free| free.contains(&page));
        let table = Table::walk(&pages, log);
        let mut found = Found::default();
        let mut heads: Vec<Head> = Vec::new();
        for page in pages.numbers().filter_map(|number| pages.read(number)) {
            found.read_rows(&pages, &page, &table, is_free(page.number));
            heads.extend(rows::head(&pages, &page).filter(|_| !is_free(page.number) || page.number == head_root));
        }
        let last = found.proven.values().map(|row| row.revision).max().unwrap_or_default();
        let at_root = pages.read(head_root).and_then(|page| rows::head(&pages, &page));
        let head = match (at_root, &*heads) {
            (None, [head]) => Some(*head),
            (at_root, _) => at_root,
        };
        let head = head.filter(|head| head.revision >= last);
        found.move_rows(&pages, head);
        let covered = found.read_index(&pages, index, head, &is_free);
        let has_proof = !found.proven.is_empty();
        let mut facts = Self { pages, head, last, has_proof, newest: BTreeMap::new(), covered, is_whole: false };
        facts.conclude(found, &table);
        facts
    }

    /// Whether a key is certain not to exist.
    pub(super) fn has_not(&self, key: &Key) -> bool {
        let at = |revision| Position::At(key.as_str().into(), revision);
        !self.newest.contains_key(key) && (self.is_whole || self.covered.has(&at(0), &at(u64::MAX)))
    }

    /// Whether all keys between two texts are known. None as the end: up to the last key.
    pub(super) fn has_all(&self, after: &str, end: Option<&str>) -> bool {
        let from = if after.is_empty() { Position::Start } else { Position::At(after.into(), 0) };
        let to = end.map_or(Position::End, |end| Position::At(end.into(), 0));
        self.is_whole || self.covered.has(&from, &to)
    }

    fn conclude(&mut self, mut found: Found, table: &Table) {
        let mut revisions = HashMap::<u64, (Key, Option<Row>)>::new();
        let mut candidates = HashMap::<Key, u64>::new();
        let mut suspect = |key: &Key, revision: u64| {
            let newest = candidates.entry(key.clone()).or_default();
            *newest = revision.max(*newest);
        };
        for (revision, keys) in &found.disputed {
            found.proven.remove(revision);
            keys.iter().for_each(|key| suspect(key, *revision));
        }
        for (revision, row) in std::mem::take(&mut found.proven) {
            revisions.insert(revision, (row.key.clone(), Some(row)));
        }
        for row in std::mem::take(&mut found.loose) {
            let entry = (row.key.clone(), row.revision);
            if revisions.contains_key(&row.revision) || found.moved.contains(&entry) {
                continue;
            }
            let is_indexed = found.in_index.get(&row.revision).is_some_and(|keys| keys.contains_key(&row.key));
            let is_row = row.proof == Proof::Unsummed && found.in_table.contains(&entry);
            match is_indexed || is_row {
                true => drop(revisions.insert(row.revision, (row.key.clone(), Some(row)))),
                false => suspect(&row.key, row.revision),
            }
        }
        for (revision, keys) in &found.in_index {
            if revisions.contains_key(revision) || found.disputed.contains_key(revision) {
                continue;
            }
            let sound: Vec<&Key> = keys.iter().filter(|(_, listed)| listed.is_sound).map(|(key, _)| key).collect();
            match (&*sound, keys.len()) {
                ([key], _) => drop(revisions.insert(*revision, ((*key).clone(), None))),
                ([], 1) => keys.keys().for_each(|key| drop(revisions.insert(*revision, (key.clone(), None)))),
                _ => keys.keys().for_each(|key| suspect(key, *revision)),
            }
        }
        self.last = self.head.map_or_else(|| revisions.keys().copied().max().unwrap_or_default(), |head| head.revision);
        let lost = lost(self.head, table, &revisions);
        if !lost.is_empty() {
            for (key, revision) in carved_entries(&self.pages, &lost) {
                suspect(&key, revision);
            }
            if self.covered.has(&Position::Start, &Position::End) {
                // The index has no entry of a lost revision, and so is not the one that was written last.
                self.covered = Covered::default();
            }
        }
        // Numbers of revisions up to `compacted` are missing where they are not needed any more, so only the index can show
        // that all keys with such rows are known.
        let has_index = self.covered.has(&Position::Start, &Position::End);
        self.is_whole = lost.is_empty() && table.holes.is_empty() && has_index;
        let compacted = self.head.map_or(u64::MAX, |head| head.compacted);
        let mut by_key = BTreeMap::<Key, BTreeMap<u64, Option<Row>>>::new();
        let (mut dead, mut disputed) = (BTreeMap::<Key, u64>::new(), HashSet::new());
        for (revision, (key, row)) in revisions {
            let entry = (key, revision);
            let is_indexed = found.in_index.get(&revision).and_then(|keys| keys.get(&entry.0));
            let (is_row, is_entry) = (found.in_table.contains(&entry), is_indexed.is_some_and(|listed| listed.is_live));
            let is_live = revision > compacted || is_row || is_entry;
            // A page that was not written may still have a row that was deleted: then a sound page of the index lacks it.
            let position = Position::At(entry.0.as_str().into(), revision);
            let is_disputed =
                revision <= compacted && is_row && is_indexed.is_none() && self.covered.has(&position, &position);
            if is_disputed {
                disputed.insert(revision);
            }
            match is_live {
                true => drop(by_key.entry(entry.0).or_default().insert(revision, row)),
                false => drop(dead.insert(entry.0, revision)),
            }
        }
        let newest_lost = lost.last().map_or(0, |range| *range.end());
        for (key, rows) in by_key {
            let is_in_turn = is_in_turn(&rows);
            let Some((revision, row)) = rows.into_iter().next_back() else { continue };
            let at = |revision| Position::At(key.as_str().into(), revision);
            let can_be_newer = newest_lost > revision && !self.covered.has(&at(revision + 1), &at(newest_lost));
            let suspected = candidates.remove(&key).is_some_and(|suspected| suspected > revision);
            let is_certain = !can_be_newer && !suspected && is_in_turn && !disputed.contains(&revision);
            self.newest.insert(key, Newest { revision, row, is_certain });
        }
        for (key, revision) in dead.into_iter().chain(candidates) {
            if !self.newest.contains_key(&key) && !self.has_not(&key) {
                self.newest.insert(key, Newest { revision, row: None, is_certain: false });
            }
        }
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
fn is_in_turn(rows: &BTreeMap<u64, Option<Row>>) -> bool {
    let mut newest = rows.values().rev().map(Option::as_ref);
    let (Some(Some(row)), before) = (newest.next(), newest.next()) else { return true };
    match (row.proof, before) {
        (Proof::Unsummed, Some(Some(before))) => (row.action == Action::Created) == (before.action == Action::Deleted),
        _ => true,
    }
}

/// Entries of the index for lost revisions, in any part of the file.
fn carved_entries(pages: &Pages, lost: &[RangeInclusive<u64>]) -> Vec<Entry> {
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

impl Found {
    /// Reads the rows of a page: those that it leads to, and others with a good checksum.
    fn read_rows(&mut self, pages: &Pages, page: &Page, table: &Table, is_free: bool) {
        let offsets: HashSet<usize> = match page.kind() {
            Some(Kind::TableLeaf) => page.cells().collect(),
            _ => HashSet::new(),
        };
        let mut listed = Vec::new();
        for offset in 0..page.bytes.len() {
            let Some((row, _)) = Row::read(pages, page, offset) else { continue };
            if offsets.contains(&offset) {
                listed.push((row.key.clone(), row.revision));
            }
            match row.proof {
                Proof::Place | Proof::Whole => self.prove(row),
                Proof::None | Proof::Unsummed if offsets.contains(&offset) => self.loose.push(row),
                _ => {}
            }
        }
        let (first, last) = (listed.iter().map(|row| row.1).min(), listed.iter().map(|row| row.1).max());
        let revisions = (first.unwrap_or_default(), last.unwrap_or_default());
        if table.has(page.number, revisions, is_free) {
            let is_within = |row: &Entry| match table.leaves.get(&page.number) {
                Some((after, until)) => row.1 > *after && row.1 <= *until,
                None => true,
            };
            self.in_table.extend(listed.into_iter().filter(is_within));
        }
    }

    /// Adds a row that its checksum proves.
    fn prove(&mut self, row: Row) {
        match self.proven.entry(row.revision) {
            std::collections::hash_map::Entry::Vacant(place) => drop(place.insert(row)),
            std::collections::hash_map::Entry::Occupied(mut other) => {
                let is_same = other.get().key == row.key && other.get().action == row.action;
                let is_same =
                    is_same && (other.get().proof.min(row.proof) < Proof::Whole || other.get().sum == row.sum);
                if !is_same {
                    let keys = [other.get().key.clone(), row.key.clone()];
                    self.disputed.entry(row.revision).or_default().extend(keys);
                }
                if row.proof > other.get().proof {
                    other.insert(row);
                }
            }
        }
    }

    /// Finds the revisions of rows that were moved to others.
    fn move_rows(&mut self, pages: &Pages, head: Option<Head>) {
        let (loose, mut left) = (std::mem::take(&mut self.loose), Vec::new());
        let open = head.map_or(0..=0, |head| head.compacted + 1..=head.revision);
        let open: Vec<u64> = open.filter(|revision| !self.proven.contains_key(revision)).take(MOST_TRIED).collect();
        let stored: BTreeSet<u64> = loose.iter().map(|row| row.revision).take(MOST_TRIED).chain(open).collect();
        for row in loose {
            match row.moved(pages, stored.iter().copied()) {
                Some(moved) => {
                    let stored = (row.key, row.revision);
                    if self.in_table.contains(&stored) {
                        self.in_table.insert((moved.key.clone(), moved.revision));
                    }
                    self.moved.insert(stored);
                    self.prove(moved);
                }
                None => left.push(row),
            }
        }
        self.loose = left;
    }

    /// Reads the index: its entries, and where it is whole.
    fn read_index(&mut self, pages: &Pages, root: u32, head: Option<Head>, is_free: &dyn Fn(u32) -> bool) -> Covered {
        let is_refuted = |entry: &Entry| {
            self.moved.contains(entry) || self.proven.get(&entry.1).is_some_and(|row| row.key != entry.0)
        };
        let proven = self.proven.values().map(|row| (row.key.clone(), row.revision));
        // A row up to `compacted` may have been deleted since: a page of the table may be an older copy.
        let is_required = |entry: &Entry| match head {
            Some(head) => entry.1 > head.compacted,
            None => self.in_table.contains(entry),
        };
        let required: BTreeSet<Entry> = proven.filter(is_required).collect();
        let covered = Covered::walk(pages, root, &Known { is_refuted: &is_refuted, required: &required });
        let mut in_index: HashMap<u64, BTreeMap<Key, Listed>> = HashMap::new();
        for page in pages.numbers().filter_map(|number| pages.read(number)) {
            let Some(cells) = index_cells(pages, &page) else { continue };
            let good = good_entries(&cells, is_refuted);
            let is_live = covered.pages.contains_key(&page.number) || !is_free(page.number);
            let is_sound = covered.pages.get(&page.number).copied().unwrap_or_default();
            for cell in cells.into_iter().zip(good).filter_map(|(cell, is_good)| cell.filter(|_| is_good)) {
                // Where the index is known, it has its entries in sound pages.
                let is_possible = |entry: &Entry| {
                    let position = Position::from(entry);
                    is_sound || !covered.has(&position, &position)
                };
                if let Some((key, revision)) = cell.entry.filter(is_possible) {
                    let listed = in_index.entry(revision).or_default().entry(key).or_default();
                    listed.is_live |= is_live;
                    listed.is_sound |= is_sound;
                }
            }
        }
        self.in_index = in_index;
        covered
    }
}
