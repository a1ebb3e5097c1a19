//! Which parts of a damaged table or index are whole.
//!
//! A damaged page leaves a hole: rows of a range of revisions, or entries of a range of keys, may have been in it. What is
//! between two cells that follow each other in a sound page is known: nothing.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::{Bound, Range},
};

use super::{
    pages::{Kind, Page, Pages},
    rows::{IndexCell, IndexEntry, Proof, Row, index_cells},
};

/// No B-tree is deeper.
const MOST_LEVELS: usize = 20;

/// The pages that a walk has come to. A page is part of a B-tree once: damaged pages can lead to each other in circles.
type Visited = HashSet<u32>;

/// The table, as far as its root leads to it.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The leaf pages, each with the revision before its first and that of its last possible row.
    pub(super) leaves: HashMap<u32, (u64, u64)>,
    /// Revisions whose rows may be lost: after the first, up to the second.
    pub(super) holes: Vec<(u64, u64)>,
    /// The last revision that is known to have been removed: a sound page has rows right before and after it. Only revisions up to
    /// `compacted` are removed.
    pub(super) last_removed: u64,
}

impl Table {
    pub(super) fn walk(pages: &Pages, root: u32) -> Self {
        let mut table = Self::default();
        table.visit(pages, root, (0, u64::MAX), (&mut Visited::new(), MOST_LEVELS));
        table
    }

    fn visit(
        &mut self,
        pages: &Pages,
        number: u32,
        (after, until): (u64, u64),
        (visited, levels): (&mut Visited, usize),
    ) {
        let page = if levels > 0 && visited.insert(number) { pages.read(number) } else { None };
        match page.as_ref().and_then(|page| Some((page, page.kind()?))) {
            Some((page, Kind::TableInterior)) => {
                let mut from = after;
                for offset in page.cells() {
                    let Some((child, last)) = page.child(offset).filter(|(_, last)| *last > from && *last <= until)
                    else {
                        // The rows of this child are before those of the next one that is known.
                        continue;
                    };
                    self.visit(pages, child, (from, last), (visited, levels - 1));
                    from = last;
                }
                self.visit(pages, page.last_child(), (from, until), (visited, levels - 1));
            }
            Some((page, Kind::TableLeaf)) => {
                let rows: Option<Vec<_>> = page
                    .cells()
                    .map(|offset| Row::read(pages, page, offset).map(|(row, cell)| (row, offset..cell.end)))
                    .collect();
                let is_sound = rows.as_ref().is_some_and(|rows| {
                    let revisions = rows.iter().map(|(row, _)| row.revision);
                    let cells: Vec<Range<usize>> = rows.iter().map(|(_, cell)| cell.clone()).collect();
                    revisions.clone().is_sorted_by(|one, next| one < next)
                        && revisions.clone().all(|revision| revision > after && revision <= until)
                        && page.is_accounted_for(&cells)
                });
                if !is_sound {
                    self.holes.push((after, until));
                } else if let Some(rows) = rows {
                    let last = rows.windows(2).filter_map(last_between).max();
                    self.last_removed = self.last_removed.max(last.unwrap_or_default());
                }
                self.leaves.insert(number, (after, until));
            }
            _ => self.holes.push((after, until)),
        }
    }

    /// Whether rows of some revisions, of one page, could be of the table: the page is a leaf of it, or may be one that the
    /// damage cut off.
    pub(super) fn has(&self, page: u32, revisions: (u64, u64), is_free: bool) -> bool {
        let is_within = |(after, until): &(u64, u64)| revisions.0 > *after && revisions.1 <= *until;
        match self.leaves.get(&page) {
            Some(_) => true,
            None => !is_free && self.holes.iter().any(is_within),
        }
    }
}

/// The last revision between two rows that follow each other in a page, if there is one and checksums prove both.
fn last_between(rows: &[(Row, Range<usize>)]) -> Option<u64> {
    let [(row, _), (next, _)] = rows else { return None };
    let is_proven = row.proof.min(next.proof) >= Proof::Place;
    (is_proven && row.revision + 1 < next.revision).then(|| next.revision - 1)
}

/// A place in the index.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Position {
    Start,
    At(Box<str>, u64),
    End,
}

impl From<&IndexEntry> for Position {
    fn from((key, revision): &IndexEntry) -> Self {
        Self::At(key.as_str().into(), *revision)
    }
}

/// The index, as far as its root leads to it.
#[derive(Debug, Default)]
pub(super) struct Covered {
    /// The parts that are known, without a gap: from one position to another, in their order.
    parts: Vec<(Position, Position)>,
    /// The same parts, by the leaf pages that they are known from.
    leaves: Vec<(Position, Position, u32)>,
    /// Parts that the table contradicts, without their ends.
    refuted: Vec<(Position, Position)>,
    /// The pages, and whether the entries of each can be relied on.
    pub(super) pages: HashMap<u32, bool>,
}

/// What refutes entries of the index.
pub(super) struct Known<'k> {
    /// Whether an entry is known to be wrong.
    pub(super) is_refuted: &'k dyn Fn(&IndexEntry) -> bool,
    /// Entries that the index must have.
    pub(super) required: &'k BTreeSet<IndexEntry>,
}

impl Covered {
    /// Walks the index from its root.
    pub(super) fn walk(pages: &Pages, root: u32, known: &Known<'_>) -> Self {
        let mut covered = Self::default();
        covered.visit(
            pages,
            root,
            (Some(Position::Start), Some(Position::End)),
            known,
            (&mut Visited::new(), MOST_LEVELS),
        );
        covered.leaves.sort();
        covered.merge();
        covered
    }

    fn merge(&mut self) {
        self.parts.clear();
        for (from, to, _) in &self.leaves {
            match self.parts.last_mut() {
                Some(last) if *from <= last.1 => last.1 = last.1.clone().max(to.clone()),
                _ => self.parts.push((from.clone(), to.clone())),
            }
        }
    }

    /// Treats the leaf pages that cover some positions as unknown.
    pub(super) fn drop_leaves_at(&mut self, positions: &[Position]) {
        let has = |from: &Position, to: &Position| positions.iter().any(|at| from <= at && at <= to);
        let leaves = self.leaves.iter().filter(|(from, to, _)| has(from, to));
        let dropped: HashSet<u32> = leaves.map(|(.., page)| *page).collect();
        self.leaves.retain(|(.., page)| !dropped.contains(page));
        self.merge();
    }

    /// Whether everything between two positions is known.
    pub(super) fn has(&self, from: &Position, to: &Position) -> bool {
        let after = self.parts.partition_point(|(start, _)| start <= from);
        after.checked_sub(1).is_some_and(|at| self.parts[at].1 >= *to)
    }

    /// Whether the table contradicts the index at a position, so that either may be an older copy there.
    pub(super) fn is_refuted(&self, at: &Position) -> bool {
        self.refuted.iter().any(|(from, to)| from <= at && at < to)
    }

    /// Treats a leaf page without some entries as an older copy, of which nothing is right, if one of them is newer than its
    /// own `newest`. Otherwise it was written after the rows of these entries, and only they are in doubt.
    fn refute(&mut self, missing: &[&IndexEntry], newest: u64, whole: (Position, Position)) {
        match missing.iter().any(|(_, revision)| *revision > newest) {
            true => self.refuted.push(whole),
            false => self.refuted.extend(missing.iter().map(|(key, revision)| {
                let at = |revision| Position::At(key.as_str().into(), revision);
                (at(*revision), at(revision + 1))
            })),
        }
    }

    fn visit(
        &mut self,
        pages: &Pages,
        number: u32,
        (from, to): (Option<Position>, Option<Position>),
        known: &Known<'_>,
        (visited, levels): (&mut Visited, usize),
    ) {
        if levels == 0 || !visited.insert(number) {
            return;
        }
        let Some(page) = pages.read(number) else { return };
        let Some(cells) = index_cells(pages, &page) else { return };
        let good = good_entries(&cells, known.is_refuted);
        let is_within = |position: &Position| {
            from.as_ref().is_none_or(|from| from < position) && to.as_ref().is_none_or(|to| position < to)
        };
        let entries = cells.iter().zip(good).map(|(cell, is_good)| {
            let entry = cell.as_ref()?.entry.as_ref()?;
            Some(Position::from(entry)).filter(|position| is_good && is_within(position))
        });
        let entries: Vec<Option<Position>> = entries.collect();
        let is_accounted_for = is_accounted_for(&page, &cells);
        if entries.iter().all(Option::is_some) {
            self.pages.insert(number, is_accounted_for);
        }
        let revisions = entries.iter().map(|entry| match entry {
            Some(Position::At(_, revision)) => *revision,
            _ => 0,
        });
        let newest = revisions.max().unwrap_or_default();
        let whole = (from.clone().unwrap_or(Position::Start), to.clone().unwrap_or(Position::End));
        let positions: Vec<Option<Position>> = [from].into_iter().chain(entries).chain([to]).collect();
        if page.kind() == Some(Kind::IndexInterior) {
            let children = cells.iter().map(|cell| cell.as_ref().map_or(0, |cell| cell.cell.child));
            for (child, between) in children.chain([page.last_child()]).zip(positions.windows(2)) {
                self.visit(pages, child, (between[0].clone(), between[1].clone()), known, (visited, levels - 1));
            }
            return;
        }
        if !is_accounted_for {
            return;
        }
        let known_parts =
            || positions.windows(2).filter_map(|between| Some((between[0].as_ref()?, between[1].as_ref()?)));
        let missing: Vec<&IndexEntry> =
            known_parts().flat_map(|(from, to)| missing(known.required, from, to)).collect();
        if !missing.is_empty() {
            // It is not the page that was written last, or a row is of an older copy of its page.
            self.pages.remove(&number);
            self.refute(&missing, newest, whole);
            return;
        }
        let mut parts: Vec<(Position, Position, u32)> = Vec::new();
        for (from, to) in known_parts() {
            match parts.last_mut() {
                Some(last) if last.1 == *from => last.1 = to.clone(),
                _ => parts.push((from.clone(), to.clone(), number)),
            }
        }
        if !parts.is_empty() {
            self.pages.insert(number, true);
        }
        self.leaves.extend(parts);
    }
}

/// The entries that must be between two positions.
fn missing<'k>(
    required: &'k BTreeSet<IndexEntry>,
    from: &Position,
    to: &Position,
) -> impl Iterator<Item = &'k IndexEntry> + use<'k> {
    let first = match from {
        Position::At(key, revision) => {
            crate::Key::new(key.clone()).map_or(Bound::Unbounded, |key| Bound::Excluded((key, *revision)))
        }
        _ => Bound::Unbounded,
    };
    let to = to.clone();
    required.range((first, Bound::Unbounded)).take_while(move |entry| Position::from(*entry) < to)
}

fn is_accounted_for(page: &Page, cells: &[Option<IndexCell>]) -> bool {
    let ends = page.cells().zip(cells).map(|(offset, cell)| cell.as_ref().map(|cell| offset..cell.cell.end));
    ends.collect::<Option<Vec<_>>>().is_some_and(|ends| page.is_accounted_for(&ends))
}

/// Which entries of a page may be believed: those that are not refuted, and are in order.
pub(super) fn good_entries(cells: &[Option<IndexCell>], is_refuted: impl Fn(&IndexEntry) -> bool) -> Vec<bool> {
    let entries: Vec<Option<&IndexEntry>> = cells
        .iter()
        .map(|cell| cell.as_ref().and_then(|cell| cell.entry.as_ref()).filter(|entry| !is_refuted(entry)))
        .collect();
    let known: Vec<&IndexEntry> = entries.iter().copied().flatten().collect();
    if known.is_sorted_by(|one, next| one < next) {
        return entries.iter().map(Option::is_some).collect();
    }
    // Those without which no longest ascending sequence can be had.
    let length = |entries: &[&IndexEntry], is_before: fn(&IndexEntry, &IndexEntry) -> bool| {
        let mut lengths: Vec<usize> = Vec::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            let before = entries[..at].iter().zip(&lengths).filter(|(other, _)| is_before(other, entry));
            lengths.push(1 + before.map(|(_, length)| *length).max().unwrap_or_default());
        }
        lengths
    };
    let upwards = length(&known, |one, other| one < other);
    let reversed: Vec<&IndexEntry> = known.iter().rev().copied().collect();
    let mut downwards = length(&reversed, |one, other| one > other);
    downwards.reverse();
    let longest = upwards.iter().copied().max().unwrap_or_default();
    let mut at_place: HashMap<usize, usize> = HashMap::new();
    let is_on_one = |at: usize| upwards[at] + downwards[at] == longest + 1;
    for at in (0..known.len()).filter(|at| is_on_one(*at)) {
        *at_place.entry(upwards[at]).or_default() += 1;
    }
    let mut is_good = (0..known.len()).map(|at| is_on_one(at) && at_place[&upwards[at]] == 1);
    entries.iter().map(|entry| entry.is_some() && is_good.next().unwrap_or_default()).collect()
}
