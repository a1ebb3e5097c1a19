//! What the pages of a damaged file contain, and what it claims about keys and their revisions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, hash_map};

use super::{
    pages::{Kind, Page, Pages},
    read::Head,
    rows::{IndexEntry, Proof, Row, index_cells},
    tree::{Covered, Known, Position, Table, good_entries},
};
use crate::Key;

/// Lost revisions that are tried as those of a row whose checksum is for another revision.
const MOST_TRIED: usize = 10_000;

/// What pages contain, before it is compared.
#[derive(Default)]
pub(super) struct Found {
    /// Rows whose checksum proves their revision and key, the best of each.
    pub(super) proven: HashMap<u64, Row>,
    /// Other rows.
    loose: Vec<Row>,
    /// Revisions that were found to be of rows that belong elsewhere, with their keys.
    moved: HashSet<IndexEntry>,
    /// Revisions with rows that contradict each other.
    disputed: BTreeMap<u64, BTreeSet<Key>>,
    /// Rows that the table has.
    in_table: HashSet<IndexEntry>,
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

/// What is claimed about keys and their revisions.
#[derive(Default)]
pub(super) struct Claims {
    /// The key of each revision, with its row if that was found.
    pub(super) revisions: HashMap<u64, (Key, Option<Row>)>,
    /// The newest revision that a key may have beside those.
    pub(super) suspects: HashMap<Key, u64>,
}

/// What is known of a revision up to `compacted`, which may have been deleted since.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    /// The log has it.
    Live,
    /// A page of the table has it, and a sound page of the index does not: one of the two is an older copy.
    Disputed,
    /// Only pages that are not in use have it.
    Dead,
}

impl Claims {
    /// Adds a revision that a key may have.
    pub(super) fn suspect(&mut self, key: &Key, revision: u64) {
        let newest = self.suspects.entry(key.clone()).or_default();
        *newest = revision.max(*newest);
    }
}

impl Found {
    /// Reads the rows of a page: those that it leads to, and others with a good checksum.
    pub(super) fn read_rows(&mut self, pages: &Pages, page: &Page, table: &Table, is_free: bool) {
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
            let is_within = |row: &IndexEntry| match table.leaves.get(&page.number) {
                Some((after, until)) => row.1 > *after && row.1 <= *until,
                None => true,
            };
            self.in_table.extend(listed.into_iter().filter(is_within));
        }
    }

    /// Adds a row that its checksum proves.
    fn prove(&mut self, row: Row) {
        match self.proven.entry(row.revision) {
            hash_map::Entry::Vacant(place) => drop(place.insert(row)),
            hash_map::Entry::Occupied(mut other) => {
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
    pub(super) fn move_rows(&mut self, pages: &Pages, head: Option<Head>) {
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
    pub(super) fn read_index(
        &mut self,
        pages: &Pages,
        root: u32,
        head: Option<Head>,
        is_free: &dyn Fn(u32) -> bool,
    ) -> Covered {
        let is_refuted = |entry: &IndexEntry| {
            self.moved.contains(entry) || self.proven.get(&entry.1).is_some_and(|row| row.key != entry.0)
        };
        let proven = self.proven.values().map(|row| (row.key.clone(), row.revision));
        // A row up to `compacted` may have been deleted since: a page of the table may be an older copy.
        let is_required = |entry: &IndexEntry| match head {
            Some(head) => entry.1 > head.compacted,
            None => self.in_table.contains(entry),
        };
        let required: BTreeSet<IndexEntry> = proven.filter(is_required).collect();
        let covered = Covered::walk(pages, root, &Known { is_refuted: &is_refuted, required: &required });
        let mut in_index: HashMap<u64, BTreeMap<Key, Listed>> = HashMap::new();
        for page in pages.numbers().filter_map(|number| pages.read(number)) {
            let Some(cells) = index_cells(pages, &page) else { continue };
            let good = good_entries(&cells, is_refuted);
            let is_live = covered.pages.contains_key(&page.number) || !is_free(page.number);
            let is_sound = covered.pages.get(&page.number).copied().unwrap_or_default();
            for cell in cells.into_iter().zip(good).filter_map(|(cell, is_good)| cell.filter(|_| is_good)) {
                // Where the index is known, it has its entries in sound pages.
                let is_possible = |entry: &IndexEntry| {
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

    /// What the rows and the index entries claim together. Rows are taken, and not there any more.
    pub(super) fn claims(&mut self) -> Claims {
        let mut claims = Claims::default();
        for (revision, keys) in &self.disputed {
            self.proven.remove(revision);
            keys.iter().for_each(|key| claims.suspect(key, *revision));
        }
        for (revision, row) in std::mem::take(&mut self.proven) {
            claims.revisions.insert(revision, (row.key.clone(), Some(row)));
        }
        self.claim_loose_rows(&mut claims);
        self.claim_index_entries(&mut claims);
        claims
    }

    fn claim_loose_rows(&mut self, claims: &mut Claims) {
        for row in std::mem::take(&mut self.loose) {
            let entry = (row.key.clone(), row.revision);
            if claims.revisions.contains_key(&row.revision) || self.moved.contains(&entry) {
                continue;
            }
            let is_indexed = self.in_index.get(&row.revision).is_some_and(|keys| keys.contains_key(&row.key));
            let is_row = row.proof == Proof::Unsummed && self.in_table.contains(&entry);
            match is_indexed || is_row {
                true => drop(claims.revisions.insert(row.revision, (row.key.clone(), Some(row)))),
                false => claims.suspect(&row.key, row.revision),
            }
        }
    }

    fn claim_index_entries(&self, claims: &mut Claims) {
        for (revision, keys) in &self.in_index {
            if claims.revisions.contains_key(revision) || self.disputed.contains_key(revision) {
                continue;
            }
            let sound: Vec<&Key> = keys.iter().filter(|(_, listed)| listed.is_sound).map(|(key, _)| key).collect();
            let key = match (&*sound, keys.len()) {
                ([key], _) => Some(*key),
                ([], 1) => keys.keys().next(),
                _ => None,
            };
            match key {
                Some(key) => drop(claims.revisions.insert(*revision, (key.clone(), None))),
                None => keys.keys().for_each(|key| claims.suspect(key, *revision)),
            }
        }
    }

    /// Whether the index has the entry of a revision; none where it is not known.
    pub(super) fn is_indexed(&self, key: &Key, revision: u64, covered: &Covered) -> Option<bool> {
        let listed = self.in_index.get(&revision).and_then(|keys| keys.get(key));
        let position = Position::At(key.as_str().into(), revision);
        covered.has(&position, &position).then(|| listed.is_some_and(|listed| listed.is_sound))
    }

    /// What the table and the index have of a revision up to `compacted`.
    pub(super) fn standing(&self, key: &Key, revision: u64, covered: &Covered) -> Standing {
        let listed = self.in_index.get(&revision).and_then(|keys| keys.get(key));
        let is_row = self.in_table.contains(&(key.clone(), revision));
        let position = Position::At(key.as_str().into(), revision);
        match listed {
            None if is_row && covered.has(&position, &position) => Standing::Disputed,
            None if is_row => Standing::Live,
            Some(listed) if is_row || listed.is_live => Standing::Live,
            _ => Standing::Dead,
        }
    }
}
