//! Where the rows of an undamaged SQLite file are, so that it is known which documents a damage has touched.

use std::collections::HashMap;

/// The bytes that a row depends on.
#[derive(Clone, Default, Debug)]
pub(crate) struct Place {
    /// Its cell, its overflow pages, and what leads to it: ranges of the file.
    pub(crate) ranges: Vec<(usize, usize)>,
}

/// A file, page by page.
pub(crate) struct Pages<'f> {
    file: &'f [u8],
    size: usize,
}

impl<'f> Pages<'f> {
    pub(crate) fn of(file: &'f [u8]) -> Self {
        let size = usize::from(u16::from_be_bytes([file[16], file[17]]));
        Self { file, size }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The rows of the table at a root page, by rowid.
    pub(crate) fn rows(&self, root: usize) -> HashMap<i64, Place> {
        let mut rows = HashMap::new();
        // The first page leads to everything.
        self.walk(root, &[(0, self.size)], &mut rows);
        rows
    }

    fn walk(&self, page: usize, path: &[(usize, usize)], rows: &mut HashMap<i64, Place>) {
        let start = (page - 1) * self.size;
        let at =
            |offset: usize| usize::from(u16::from_be_bytes([self.file[start + offset], self.file[start + offset + 1]]));
        let cells = at(3);
        let header = if self.file[start] == 0x05 { 12 } else { 8 };
        let mut path = path.to_vec();
        path.push((start, start + header + 2 * cells));
        for cell in 0..cells {
            let cell = start + at(header + 2 * cell);
            if self.file[start] == 0x05 {
                let mut path = path.clone();
                path.push((cell, cell + 12));
                self.walk(self.number(cell), &path, rows);
                continue;
            }
            let (payload, after) = self.varint(cell);
            let (rowid, after) = self.varint(after);
            let (local, mut overflow) = self.local(payload as usize, after);
            let mut ranges = path.clone();
            ranges.push((cell, after + local));
            while overflow != 0 {
                let start = (overflow - 1) * self.size;
                ranges.push((start, start + self.size));
                overflow = self.number(start);
            }
            rows.insert(rowid, Place { ranges });
        }
        if self.file[start] == 0x05 {
            self.walk(self.number(start + 8), &path, rows);
        }
    }

    /// How much of a payload is in its cell, and the first overflow page.
    fn local(&self, payload: usize, at: usize) -> (usize, usize) {
        let most = self.size - 35;
        if payload <= most {
            return (payload, 0);
        }
        let least = (self.size - 12) * 32 / 255 - 23;
        let fitting = least + (payload - least) % (self.size - 4);
        let local = if fitting <= most { fitting } else { least };
        (local, self.number(at + local))
    }

    fn number(&self, at: usize) -> usize {
        u32::from_be_bytes(self.file[at..at + 4].try_into().unwrap()) as usize
    }

    fn varint(&self, at: usize) -> (i64, usize) {
        let mut value = 0;
        for (count, byte) in self.file[at..at + 9].iter().enumerate() {
            if count == 8 {
                return (value << 8 | i64::from(*byte), at + 9);
            }
            value = value << 7 | i64::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                return (value, at + count + 1);
            }
        }
        unreachable!("a varint ends")
    }
}

impl Place {
    /// Whether any of its bytes differ between two states of the file.
    pub(crate) fn is_touched(&self, before: &[u8], after: &[u8]) -> bool {
        self.ranges.iter().any(|(start, end)| before.get(*start..*end) != after.get(*start..*end))
    }
}
