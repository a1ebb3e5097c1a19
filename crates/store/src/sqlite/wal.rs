//! The write-ahead log of a file, read without SQLite.
//!
//! SQLite takes the first frame whose checksum does not match for the end of the log, and writes over what follows. After a
//! crash that is right: a commit is only acknowledged when all of it is on disk. But if a whole commit follows, and a frame that
//! was written after that commit, then the commit had been acknowledged, and the frame before it was damaged since.
//! (<https://www.sqlite.org/fileformat.html#the_write_ahead_log>)

use std::{collections::HashMap, fs, io, io::Read, path::Path};

use super::pages::{DEFAULT_PAGE_SIZE, read_exact_at};

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;

/// The first number of a log, but for its last bit: which is 1 if its checksums are of big-endian numbers.
const MAGIC: u32 = 0x377f_0682;

/// The committed pages of a write-ahead log.
#[derive(Debug)]
pub(super) struct Wal {
    file: fs::File,
    pub(super) page_bytes: usize,
    /// Where the newest copy of each page is.
    pages: HashMap<u32, u64>,
    /// How many pages the database has after the last commit; 0 without one.
    pub(super) page_count: u32,
    /// The first damaged frame, from 1, if commits follow it; 0 is the header.
    pub(super) damaged_at: Option<usize>,
}

/// A frame: a page, and whether it is the last one of a commit.
#[derive(Clone, Copy)]
struct Frame {
    page: u32,
    /// How many pages the database has after the commit that ends here; 0 if none does.
    page_count: u32,
    /// Its checksum matches, that of the frame before it being right.
    is_good: bool,
}

type Checksum = (u32, u32);

impl Wal {
    /// Reads the log at a path; none if there is none or an empty one.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match fs::File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut header = [0; HEADER_BYTES];
        let mut reader = io::BufReader::with_capacity(1 << 20, &file);
        if !is_filled(&mut reader, &mut header)? {
            return Ok(None);
        }
        let number = |at: usize| u32_at(&header, at);
        let magic = number(0);
        let is_big = if magic & !1 == MAGIC { magic & 1 == 1 } else { cfg!(target_endian = "big") };
        let stored = (number(24), number(28));
        let is_header_good = magic & !1 == MAGIC && sum((0, 0), &header[..24], is_big) == stored;
        let page_bytes = if is_header_good { number(8) as usize } else { DEFAULT_PAGE_SIZE };
        let mut salts = is_header_good.then(|| (number(16), number(20)));
        let mut frames = Vec::new();
        let (mut before, mut frame) = (stored, vec![0; FRAME_HEADER_BYTES + page_bytes]);
        while is_filled(&mut reader, &mut frame)? {
            let own = (u32_at(&frame, 8), u32_at(&frame, 12));
            let checksum = (u32_at(&frame, 16), u32_at(&frame, 20));
            let expected = sum(sum(before, &frame[..8], is_big), &frame[FRAME_HEADER_BYTES..], is_big);
            let is_good = expected == checksum && salts.is_none_or(|salts| salts == own);
            if is_good {
                // Without a header, those of the first frame that follows from the one before it.
                salts = Some(own);
            }
            frames.push(Frame { page: u32_at(&frame, 0), page_count: u32_at(&frame, 4), is_good });
            before = checksum;
        }
        drop(reader);
        let until_damage = if is_header_good { frames.iter().take_while(|frame| frame.is_good).count() } else { 0 };
        let acknowledged = frames.windows(2).rposition(|pair| pair[0].page_count != 0 && pair[1].is_good);
        let is_damaged = acknowledged.is_some_and(|last| last >= until_damage || !is_header_good);
        let readable = if is_damaged { frames.len() } else { until_damage };
        let is_commit = |frame: &Frame| frame.page_count != 0 && frame.is_good;
        let committed = frames[..readable].iter().rposition(is_commit).map_or(0, |last| last + 1);
        let frame_bytes = frame.len() as u64;
        let place = |at: usize| HEADER_BYTES as u64 + at as u64 * frame_bytes + FRAME_HEADER_BYTES as u64;
        let good = frames[..committed].iter().enumerate().filter(|(_, frame)| frame.is_good);
        Ok(Some(Self {
            page_bytes,
            pages: good.map(|(at, frame)| (frame.page, place(at))).collect(),
            page_count: committed.checked_sub(1).map_or(0, |last| frames[last].page_count),
            damaged_at: is_damaged.then(|| if is_header_good { until_damage + 1 } else { 0 }),
            file,
        }))
    }

    /// Whether the log has a copy of a page.
    pub(super) fn has(&self, page: u32) -> bool {
        self.pages.contains_key(&page)
    }

    /// Reads the newest copy of a page.
    pub(super) fn read(&self, page: u32, bytes: &mut [u8]) -> io::Result<()> {
        let place = self.pages.get(&page).ok_or(io::ErrorKind::NotFound)?;
        read_exact_at(&self.file, bytes, *place)
    }
}

/// The first damaged frame of a log, if acknowledged writes follow it.
pub(super) fn damage(path: &Path) -> Option<usize> {
    let find = || Wal::open(path).ok().flatten()?.damaged_at;
    // Another process may write to it meanwhile: then the damage is not found again.
    find().filter(|found| find() == Some(*found))
}

/// The checksum of a log up to the end of some bytes.
fn sum((mut one, mut other): Checksum, bytes: &[u8], is_big: bool) -> Checksum {
    for pair in bytes.chunks_exact(8) {
        let [first, second] = [&pair[..4], &pair[4..]].map(|word| {
            let number = u32_at(word, 0);
            if is_big { number } else { number.swap_bytes() }
        });
        one = one.wrapping_add(first).wrapping_add(other);
        other = other.wrapping_add(second).wrapping_add(one);
    }
    (one, other)
}

/// Fills a buffer; false at the end.
fn is_filled(reader: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}
