//! A reader of SQLite's file format that takes what is readable of a damaged file.
//!
//! SQLite itself finds rows through interior pages, and gives up at the first page that is damaged. This reader looks at each
//! page alone (<https://www.sqlite.org/fileformat.html>). It does not judge what it finds: see [`facts`](super::facts).

use std::{
    borrow::Cow,
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
};

use super::wal::Wal;

/// The size of a page where a header does not contain one. All stores have this size.
pub(super) const DEFAULT_PAGE_SIZE: usize = 4096;

/// Records of a store have at most this many columns.
const MOST_COLUMNS: usize = 6;

/// The pages of a file, as of the last commit of its write-ahead log.
#[derive(Debug)]
pub(super) struct Pages {
    file: fs::File,
    wal: Option<Wal>,
    size: usize,
    count: u32,
}

/// A page that is read as one of a B-tree.
pub(super) struct Page {
    pub(super) number: u32,
    pub(super) bytes: Vec<u8>,
}

/// The types of B-tree pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    IndexInterior = 2,
    TableInterior = 5,
    IndexLeaf = 10,
    TableLeaf = 13,
}

/// A cell with a payload: a row, or an index entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cell {
    /// Of a row.
    pub(super) rowid: u64,
    /// The page below and before the entry, in an interior page.
    pub(super) child: u32,
    length: usize,
    start: usize,
    local: usize,
    overflow: u32,
    /// Where the cell ends in its page.
    pub(super) end: usize,
}

/// A column of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field<'r> {
    Null,
    Integer(i64),
    Text(&'r [u8]),
    Blob(&'r [u8]),
    /// It is in the part of a record that could not be read.
    Lost,
}

impl Pages {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // Closing it gives up the locks of other connections of this process. Nothing is written to a damaged file.
        let file = fs::File::open(path)?;
        let wal = Wal::open(&wal_path(path))?;
        let size = wal.as_ref().map_or_else(|| page_bytes(&file), |wal| wal.page_bytes);
        let in_file = file.metadata()?.len().div_ceil(size as u64);
        let in_wal = wal.as_ref().map_or(0, |wal| wal.page_count);
        let count = u32::try_from(in_file).unwrap_or(u32::MAX).max(in_wal);
        Ok(Self { file, wal, size, count })
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        1..=self.count
    }

    /// A page; what is behind the end of the file is zero.
    pub(super) fn read(&self, number: u32) -> Option<Page> {
        if number == 0 || number > self.count {
            return None;
        }
        let mut bytes = vec![0; self.size];
        // If the newest copy of a page cannot be read, the older one in the file is not the page.
        if self.wal.as_ref().is_some_and(|wal| wal.has(number)) {
            return self.wal.as_ref()?.read(number, &mut bytes).ok().map(|()| Page { number, bytes });
        }
        let start = u64::from(number - 1) * self.size as u64;
        let mut filled = 0;
        while filled < bytes.len() {
            match read_some_at(&self.file, &mut bytes[filled..], start + filled as u64) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A sector that the disk cannot read.
                Err(_) => return None,
            }
        }
        Some(Page { number, bytes })
    }

    /// The payload of a cell, and whether all of it could be read.
    pub(super) fn payload<'p>(&self, page: &'p Page, cell: &Cell) -> (Cow<'p, [u8]>, bool) {
        let local = page.local(cell);
        if cell.local == cell.length {
            return (Cow::Borrowed(local), true);
        }
        let mut payload = local.to_vec();
        let mut next = cell.overflow;
        // Damaged pages can lead to each other in circles.
        let mut left = self.count;
        while payload.len() < cell.length {
            let page = left.checked_sub(1).and_then(|less| {
                left = less;
                self.read(next)
            });
            let Some(page) = page else { return (Cow::Owned(payload), false) };
            let more = (cell.length - payload.len()).min(self.size - 4);
            payload.extend_from_slice(&page.bytes[4..4 + more]);
            next = u32_at(&page.bytes, 0);
        }
        (Cow::Owned(payload), true)
    }

    /// The pages that are free; none if the list of them is damaged.
    pub(super) fn free(&self) -> Option<Vec<u32>> {
        let first = self.read(1)?;
        let (mut trunk, count) = (u32_at(&first.bytes, 32), u32_at(&first.bytes, 36) as usize);
        let mut free = Vec::new();
        if count > self.count as usize {
            return None;
        }
        while trunk != 0 {
            let page = self.read(trunk)?;
            free.push(trunk);
            let leaves = u32_at(&page.bytes, 4) as usize;
            if leaves > self.size / 4 - 2 || free.len() + leaves > count {
                return None;
            }
            free.extend((0..leaves).map(|leaf| u32_at(&page.bytes, 8 + 4 * leaf)));
            trunk = u32_at(&page.bytes, 0);
        }
        (free.len() == count).then_some(free)
    }
}

impl Page {
    /// Where the header of a B-tree page begins: behind the header of the file on the first page.
    fn start(&self) -> usize {
        if self.number == 1 { 100 } else { 0 }
    }

    pub(super) fn kind(&self) -> Option<Kind> {
        let kinds = [Kind::IndexInterior, Kind::TableInterior, Kind::IndexLeaf, Kind::TableLeaf];
        kinds.into_iter().find(|kind| *kind as u8 == self.bytes[self.start()])
    }

    fn header_bytes(&self) -> usize {
        if matches!(self.kind(), Some(Kind::IndexInterior | Kind::TableInterior)) { 12 } else { 8 }
    }

    /// Where the cells are, in their order.
    pub(super) fn cells(&self) -> impl Iterator<Item = usize> {
        let first = self.start() + self.header_bytes();
        let most = (self.bytes.len() - first) / 2;
        let count = u16_at(&self.bytes, self.start() + 3).min(most);
        (0..count).map(move |cell| u16_at(&self.bytes, first + 2 * cell))
    }

    /// The last child of an interior page.
    pub(super) fn last_child(&self) -> u32 {
        u32_at(&self.bytes, self.start() + 8)
    }

    /// The child and the last rowid below it, of a cell of an interior page of a table.
    pub(super) fn child(&self, at: usize) -> Option<(u32, u64)> {
        let (rowid, _) = varint(&self.bytes, at + 4)?;
        Some((u32_at(&self.bytes, at), rowid))
    }

    /// The row at an offset.
    pub(super) fn row(&self, at: usize) -> Option<Cell> {
        let (length, after) = varint(&self.bytes, at)?;
        let (rowid, start) = varint(&self.bytes, after)?;
        let most = self.bytes.len() - 35;
        self.cell(
            Cell { rowid, child: 0, length: usize::try_from(length).ok()?, start, local: 0, overflow: 0, end: 0 },
            most,
        )
    }

    /// The index entry at an offset.
    pub(super) fn entry(&self, at: usize, kind: Kind) -> Option<Cell> {
        let is_interior = kind == Kind::IndexInterior;
        let (child, at) = if is_interior { (checked_u32_at(&self.bytes, at)?, at + 4) } else { (0, at) };
        let (length, start) = varint(&self.bytes, at)?;
        let most = (self.bytes.len() - 12) * 64 / 255 - 23;
        self.cell(
            Cell { rowid: 0, child, length: usize::try_from(length).ok()?, start, local: 0, overflow: 0, end: 0 },
            most,
        )
    }

    /// The part of a payload that is in the cell.
    pub(super) fn local(&self, cell: &Cell) -> &[u8] {
        &self.bytes[cell.start..cell.start + cell.local]
    }

    /// Divides a payload into the part in its page and the rest.
    fn cell(&self, mut cell: Cell, most: usize) -> Option<Cell> {
        // SQLite's own limit.
        if cell.length == 0 || cell.length > 1_000_000_000 {
            return None;
        }
        cell.local = cell.length;
        if cell.length > most {
            let least = (self.bytes.len() - 12) * 32 / 255 - 23;
            let fitting = least + (cell.length - least) % (self.bytes.len() - 4);
            cell.local = if fitting <= most { fitting } else { least };
            cell.overflow = checked_u32_at(&self.bytes, cell.start + cell.local)?;
        }
        cell.end = cell.start + cell.local + if cell.overflow == 0 { 0 } else { 4 };
        (cell.end <= self.bytes.len()).then_some(cell)
    }

    /// Whether the cells, the free blocks and the fragments between them are all that is in the page.
    pub(super) fn is_accounted_for(&self, cells: &[Range<usize>]) -> bool {
        let start = self.start();
        let pointers_end = start + self.header_bytes() + 2 * cells.len();
        let content = match u16_at(&self.bytes, start + 5) {
            0 => 65536,
            content => content,
        };
        let mut parts: Vec<Range<usize>> = cells.to_vec();
        let mut block = u16_at(&self.bytes, start + 1);
        while block != 0 {
            if block + 4 > self.bytes.len() || parts.len() > self.bytes.len() {
                return false;
            }
            parts.push(block..block + u16_at(&self.bytes, block + 2));
            block = u16_at(&self.bytes, block);
        }
        parts.sort_by_key(|part| part.start);
        let is_apart = parts.windows(2).all(|pair| pair[0].end <= pair[1].start);
        let ends = parts.first().map_or(content, |part| part.start)..parts.last().map_or(content, |part| part.end);
        let used: usize = parts.iter().map(Range::len).sum();
        let fragments = usize::from(self.bytes[start + 7]);
        is_apart
            && content >= pointers_end
            && ends.start >= content
            && ends.end <= self.bytes.len()
            && used + fragments + content == self.bytes.len()
    }
}

/// The columns of a record, of which only the beginning may have been read.
pub(super) fn fields(payload: &[u8], is_whole: bool) -> Option<Vec<Field<'_>>> {
    let (header, mut at) = varint(payload, 0)?;
    let header = usize::try_from(header).ok().filter(|header| *header <= payload.len() && *header >= at)?;
    let mut fields = Vec::with_capacity(MOST_COLUMNS);
    let mut value = header;
    while at < header {
        let (kind, after) = varint(&payload[..header], at)?;
        at = after;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            12.. => usize::try_from((kind - 12) / 2).ok()?,
            _ => return None,
        };
        if fields.len() == MOST_COLUMNS {
            return None;
        }
        let end = value.checked_add(length)?;
        let Some(bytes) = payload.get(value..end) else {
            if is_whole {
                return None;
            }
            value = end;
            fields.push(Field::Lost);
            continue;
        };
        value = end;
        fields.push(match kind {
            0 => Field::Null,
            8 => Field::Integer(0),
            9 => Field::Integer(1),
            1..=6 => Field::Integer(integer(bytes)),
            7 => Field::Lost,
            kind if kind % 2 == 1 => Field::Text(bytes),
            _ => Field::Blob(bytes),
        });
    }
    (!is_whole || value == payload.len()).then_some(fields)
}

fn integer(bytes: &[u8]) -> i64 {
    let first = if bytes.first().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(first, |number, byte| number << 8 | i64::from(*byte))
}

/// The size of the pages of a database.
fn page_bytes(file: &fs::File) -> usize {
    let mut header = [0; 18];
    let has_header = read_exact_at(file, &mut header, 0).is_ok() && header.starts_with(b"SQLite format 3\0");
    match (has_header, u16::from_be_bytes([header[16], header[17]])) {
        (true, 1) => 65536,
        (true, size) if size >= 512 && size.is_power_of_two() => usize::from(size),
        _ => DEFAULT_PAGE_SIZE,
    }
}

/// The write-ahead log of a database.
pub(super) fn wal_path(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push("-wal");
    path.into()
}

/// A number of variable length, and where it ends.
fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for count in 0..8 {
        let byte = *bytes.get(at + count)?;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + count + 1));
        }
    }
    Some((value << 8 | u64::from(*bytes.get(at + 8)?), at + 9))
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..at + 2) {
        Some(two) => usize::from(two[0]) << 8 | usize::from(two[1]),
        None => 0,
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    checked_u32_at(bytes, at).unwrap_or_default()
}

fn checked_u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

#[cfg(unix)]
fn read_some_at(file: &fs::File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, at)
}

#[cfg(windows)]
fn read_some_at(file: &fs::File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, at)
}

pub(super) fn read_exact_at(file: &fs::File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    match read_some_at(file, bytes, at)? == bytes.len() {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
