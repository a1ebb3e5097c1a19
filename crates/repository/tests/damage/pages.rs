//! Where the rows and index entries of an undamaged SQLite file are, so that it is known which documents a damage has touched.

use std::collections::HashMap;

/// The bytes that a row depends on.
#[derive(Clone, Default, Debug)]
pub(crate) struct Place {
    /// Ranges of the file.
    pub(crate) ranges: Vec<(usize, usize)>,
}

const TABLE_INTERIOR: u8 = 5;
const TABLE_LEAF: u8 = 13;
const INDEX_INTERIOR: u8 = 2;

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

    /// The rows of the table at a root page, by rowid: the cell and the overflow pages of each.
    pub(crate) fn rows(&self, root: usize) -> HashMap<i64, Place> {
        let mut rows = HashMap::new();
        self.walk(root, &mut |cell, kind, _| {
            if kind != TABLE_LEAF {
                return;
            }
            let (payload, after) = self.varint(cell);
            let (rowid, after) = self.varint(after);
            let (local, mut overflow) = self.local(payload as usize, after);
            // A cell with overflow pages ends with the number of the first.
            let pointer = if overflow == 0 { 0 } else { 4 };
            let mut ranges = vec![(cell, after + local + pointer)];
            while overflow != 0 {
                let start = (overflow - 1) * self.size;
                ranges.push((start, start + self.size));
                overflow = self.number(start);
            }
            rows.insert(rowid, Place { ranges });
        });
        rows
    }

    /// The entries of the index of keys and revisions at a root page, by revision: the pages from the root to
    /// each, and to where a later entry of its key would be, which is in a leaf page.
    pub(crate) fn entries(&self, root: usize) -> HashMap<i64, Place> {
        let mut entries: Vec<(i64, u8, Place)> = Vec::new();
        self.walk(root, &mut |cell, kind, path| {
            let payload = if kind == INDEX_INTERIOR { cell + 4 } else { cell };
            let (length, record) = self.varint(payload);
            // The revision is the last column.
            let (_, kinds) = self.varint(record);
            let (_, revision) = self.varint(kinds);
            let (revision, _) = self.varint(revision);
            let bytes = [0, 1, 2, 3, 4, 6, 8][revision as usize];
            let end = record + length as usize;
            let revision = self.file[end - bytes..end].iter().fold(0, |number, byte| number << 8 | i64::from(*byte));
            let ranges: Vec<_> = path.iter().map(|page| ((page - 1) * self.size, page * self.size)).collect();
            if let Some((_, INDEX_INTERIOR, before)) = entries.last_mut() {
                before.ranges.extend_from_slice(&ranges);
            }
            entries.push((revision, kind, Place { ranges }));
        });
        entries.into_iter().map(|(revision, _, place)| (revision, place)).collect()
    }

    fn walk(&self, root: usize, visit: &mut dyn FnMut(usize, u8, &[usize])) {
        self.walk_below(&mut vec![root], visit);
    }

    /// Visits the cells of a page and those below it in their order: where each is, in which kind of page, and the pages above it.
    fn walk_below(&self, path: &mut Vec<usize>, visit: &mut dyn FnMut(usize, u8, &[usize])) {
        let start = (path[path.len() - 1] - 1) * self.size;
        let kind = self.file[start];
        let at =
            |offset: usize| usize::from(u16::from_be_bytes([self.file[start + offset], self.file[start + offset + 1]]));
        let is_interior = matches!(kind, TABLE_INTERIOR | INDEX_INTERIOR);
        let header = if is_interior { 12 } else { 8 };
        let descend = |path: &mut Vec<usize>, child: usize, visit: &mut dyn FnMut(usize, u8, &[usize])| {
            path.push(self.number(child));
            self.walk_below(path, visit);
            path.pop();
        };
        for cell in (0..at(3)).map(|cell| start + at(header + 2 * cell)) {
            if is_interior {
                descend(path, cell, visit);
            }
            visit(cell, kind, path);
        }
        if is_interior {
            descend(path, start + 8, visit);
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
    pub(crate) fn of(range: (usize, usize)) -> Self {
        Self { ranges: vec![range] }
    }

    /// Whether any of its bytes differ between two states of the file.
    pub(crate) fn is_touched(&self, before: &[u8], after: &[u8]) -> bool {
        self.ranges.iter().any(|(start, end)| before.get(*start..*end) != after.get(*start..*end))
    }
}
