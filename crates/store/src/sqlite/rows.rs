//! Rows of the log and entries of its index, as single pages of a damaged file contain them.

use super::{
    kept,
    pages::{Cell, Field, Kind, Page, Pages, fields},
    read::Head,
};
use crate::{Key, buckets::PageBuckets, log::Action, sum};

/// A row of the log.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The revision that it is stored at.
    pub(super) revision: u64,
    pub(super) key: Key,
    pub(super) action: Action,
    pub(super) at: i64,
    /// None if it has none, or if it is lost.
    pub(super) sum: Option<i64>,
    pub(super) proof: Proof,
    pub(super) page: u32,
    pub(super) offset: usize,
}

/// What of a row is certain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Proof {
    /// Its checksum does not match, or is lost.
    None,
    /// It has no checksum: an earlier release wrote it.
    Unsummed,
    /// Its checksum matches its revision, key and action, but not its value.
    Place,
    /// Its checksum matches.
    Whole,
}

/// An entry of the index.
pub(super) type IndexEntry = (Key, u64);

/// A cell of a page of the index.
pub(super) struct IndexCell {
    pub(super) cell: Cell,
    /// None if it cannot be one.
    pub(super) entry: Option<IndexEntry>,
}

impl Row {
    /// The row at an offset of a page, if it has the form of one.
    pub(super) fn read(pages: &Pages, page: &Page, offset: usize) -> Option<(Self, Cell)> {
        let cell = page.row(offset)?;
        // Most offsets are not those of rows: their columns are looked at before the rest is read.
        Self::of(page.local(&cell), false, page.number, offset, &cell)?;
        let (payload, is_whole) = pages.payload(page, &cell);
        Some((Self::of(&payload, is_whole, page.number, offset, &cell)?, cell))
    }

    fn of(payload: &[u8], is_whole: bool, page: u32, offset: usize, cell: &Cell) -> Option<Self> {
        // The header of a record is short, and its first column, the revision, is in the cell instead.
        if !(6..=16).contains(payload.first()?) || payload.get(1) != Some(&0) {
            return None;
        }
        let fields = fields(payload, is_whole)?;
        let [Field::Null, Field::Text(key), Field::Integer(action), at, value, rest @ ..] = &*fields else {
            return None;
        };
        let Field::Integer(at) = at else { return None };
        let revision = Some(cell.rowid).filter(|revision| (1..=i64::MAX as u64).contains(revision))?;
        let key = Key::new(str::from_utf8(key).ok()?).ok()?;
        let action = Action::from_number(*action)?;
        let (sum, has_sum) = match rest {
            [] | [Field::Null] => (None, false),
            [Field::Integer(sum)] => (Some(*sum), true),
            [Field::Lost] => (None, true),
            _ => return None,
        };
        let proof = match (sum, value) {
            (None, Field::Blob(_)) if is_whole && !has_sum => Proof::Unsummed,
            (Some(sum), Field::Blob(value)) if sum::matches(Some(sum), revision, key.as_str(), action, value) => {
                Proof::Whole
            }
            (Some(sum), _) if sum::is_at(sum, revision, key.as_str(), action) => Proof::Place,
            (_, Field::Blob(_) | Field::Lost) => Proof::None,
            _ => return None,
        };
        Some(Self { revision, key, action, at: *at, sum, proof, page, offset })
    }

    /// Whether it is certain that the row is a removal.
    pub(super) fn is_removal(&self) -> bool {
        self.action == Action::Deleted && self.proof > Proof::None
    }

    /// The value; none if it does not match its checksum.
    pub(super) fn value(&self, pages: &Pages) -> Option<Vec<u8>> {
        let is_good = |value: &Vec<u8>| sum::matches(self.sum, self.revision, self.key.as_str(), self.action, value);
        self.unverified_value(pages).filter(is_good)
    }

    /// The bytes of the value; none if the row is not as it was found.
    pub(super) fn unverified_value(&self, pages: &Pages) -> Option<Vec<u8>> {
        let page = pages.read(self.page)?;
        let cell = page.row(self.offset)?;
        let (payload, is_whole) = pages.payload(&page, &cell);
        let fields = fields(&payload, is_whole)?;
        let [_, Field::Text(key), Field::Integer(action), _, Field::Blob(value), ..] = &*fields else { return None };
        let is_same = *key == self.key.as_str().as_bytes() && Action::from_number(*action) == Some(self.action);
        is_same.then(|| value.to_vec())
    }

    /// The same row at the revision that its checksum is for, if that is one of these.
    pub(super) fn moved(&self, pages: &Pages, revisions: impl Iterator<Item = u64>) -> Option<Self> {
        let sum = self.sum?;
        let mut candidates = revisions.filter(|revision| sum::is_at(sum, *revision, self.key.as_str(), self.action));
        candidates.find_map(|revision| {
            let moved = Self { revision, proof: Proof::Whole, ..self.clone() };
            moved.value(pages).is_some().then_some(moved)
        })
    }
}

/// The cells of a page of the index, in their order; none if the page is not one.
pub(super) fn index_cells(pages: &Pages, page: &Page) -> Option<Vec<Option<IndexCell>>> {
    let kind = page.kind().filter(|kind| matches!(kind, Kind::IndexLeaf | Kind::IndexInterior))?;
    Some(page.cells().map(|offset| index_cell(pages, page, offset, kind)).collect())
}

/// The entry at an offset of a page.
pub(super) fn index_cell(pages: &Pages, page: &Page, offset: usize, kind: Kind) -> Option<IndexCell> {
    let cell = page.entry(offset, kind)?;
    // The header is short: the types of a key, and of a revision that is there twice, as a column and as the rowid.
    let is_record = page.local(&cell).first().is_some_and(|header| (4..=5).contains(header));
    let entry = is_record.then(|| pages.payload(page, &cell)).and_then(|(payload, is_whole)| {
        let fields = fields(&payload, is_whole)?;
        let [Field::Text(key), Field::Integer(revision), Field::Integer(rowid)] = &*fields else { return None };
        let revision = u64::try_from(*revision).ok().filter(|number| *number > 0 && revision == rowid)?;
        Some((Key::new(str::from_utf8(key).ok()?).ok()?, revision))
    });
    Some(IndexCell { cell, entry })
}

/// How far the log goes, and the digest of what is kept of it, if that is known; if a page is that of the head.
pub(super) fn head(pages: &Pages, page: &Page) -> Option<(Head, Option<PageBuckets>)> {
    let offsets: Vec<usize> = page.cells().take(2).collect();
    let ([offset], Some(Kind::TableLeaf)) = (&*offsets, page.kind()) else { return None };
    let cell = page.row(*offset)?;
    let (payload, is_whole) = pages.payload(page, &cell);
    let fields = fields(&payload, is_whole)?;
    let [Field::Integer(revision), Field::Integer(compacted), Field::Integer(_), digest @ ..] = &*fields else {
        return None;
    };
    let head = Head { revision: u64::try_from(*revision).ok()?, compacted: u64::try_from(*compacted).ok()? };
    let digest = match digest {
        [Field::Blob(bytes)] => kept::stored(Some(bytes), head.compacted),
        [] | [Field::Null | Field::Lost] => kept::Stored::Unknown,
        _ => return None,
    };
    let digest = match digest {
        kept::Stored::Known(digest) => Some(digest),
        kept::Stored::Unknown | kept::Stored::Damaged => None,
    };
    (head.compacted <= head.revision).then_some((head, digest))
}

/// The root pages of the log, its index and its head.
pub(super) fn roots(pages: &Pages) -> [u32; 3] {
    let mut roots = [2, 3, 4];
    let Some(page) = pages.read(1).filter(|page| page.kind() == Some(Kind::TableLeaf)) else { return roots };
    for offset in page.cells() {
        let Some(cell) = page.row(offset) else { continue };
        let (payload, is_whole) = pages.payload(&page, &cell);
        let Some(fields) = fields(&payload, is_whole) else { continue };
        let [_, Field::Text(name), _, Field::Integer(root), ..] = &*fields else { continue };
        let names: [&[u8]; 3] = [b"log", b"log_by_key", b"head"];
        if let (Some(at), Ok(root)) = (names.iter().position(|one| one == name), u32::try_from(*root)) {
            roots[at] = root;
        }
    }
    roots
}
