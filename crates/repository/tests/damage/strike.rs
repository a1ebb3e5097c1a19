//! Random damage to a SQLite file.

use std::{fs, path::Path};

use rusqlite::{Connection, params};
use wheelwright_evolve::laws::Random;

/// A sort of damage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Damage {
    Bits,
    PagesOverwritten,
    PagesZeroed,
    PagesDuplicated,
    PagesSwapped,
    PagesTorn,
    Truncated,
    StalePages,
    /// And in half of the files one more page of the index is overwritten.
    StalePairs,
    SectorsShifted,
    ValuesSwapped,
    ValuesOfOneKeySwapped,
    RevisionsSwapped,
}

impl Damage {
    pub(crate) const ALL: [Self; 13] = [
        Self::Bits,
        Self::PagesOverwritten,
        Self::PagesZeroed,
        Self::PagesDuplicated,
        Self::PagesSwapped,
        Self::PagesTorn,
        Self::Truncated,
        Self::StalePages,
        Self::StalePairs,
        Self::SectorsShifted,
        Self::ValuesSwapped,
        Self::ValuesOfOneKeySwapped,
        Self::RevisionsSwapped,
    ];

    /// Damages a file, of which there is an earlier copy, with pages that belong together. Returns the revisions whose rows have other
    /// values now.
    pub(crate) fn strike(
        self,
        path: &Path,
        (earlier, pairs): (&[u8], &[[usize; 2]]),
        page: usize,
        random: &mut Random,
    ) -> Vec<i64> {
        let mut file = fs::read(path).unwrap();
        let pages = file.len() / page;
        let some = |random: &mut Random, most: usize| 1 + random.below(most);
        match self {
            Self::Bits => {
                for _ in 0..some(random, 64) {
                    let bit = random.below(file.len() * 8);
                    file[bit / 8] ^= 1 << (bit % 8);
                }
            }
            Self::PagesOverwritten | Self::PagesZeroed => {
                for _ in 0..some(random, 8) {
                    let start = random.below(pages) * page;
                    for byte in &mut file[start..start + page] {
                        *byte = if self == Self::PagesZeroed { 0 } else { random.below(256) as u8 };
                    }
                }
            }
            Self::PagesDuplicated => {
                for _ in 0..some(random, 8) {
                    let (from, to) = (random.below(pages) * page, random.below(pages) * page);
                    file.copy_within(from..from + page, to);
                }
            }
            Self::PagesSwapped => {
                for _ in 0..some(random, 4) {
                    let (one, other) = (random.below(pages) * page, random.below(pages) * page);
                    for byte in 0..page {
                        file.swap(one + byte, other + byte);
                    }
                }
            }
            Self::PagesTorn | Self::StalePages => {
                let length = if self == Self::PagesTorn { page / 2 } else { page };
                for _ in 0..some(random, 8) {
                    let start = random.below(earlier.len() / page) * page;
                    let start = start + random.below(2) * (page - length);
                    file[start..start + length].copy_from_slice(&earlier[start..start + length]);
                }
            }
            Self::StalePairs => {
                for _ in 0..some(random, 4) {
                    for start in pairs[random.below(pairs.len())] {
                        file[start..start + page].copy_from_slice(&earlier[start..start + page]);
                    }
                }
                if random.below(2) == 0 {
                    let [_, start] = pairs[random.below(pairs.len())];
                    file[start..start + page].fill_with(|| random.below(256) as u8);
                }
            }
            Self::Truncated => file.truncate(file.len() - some(random, file.len() / 2)),
            Self::SectorsShifted => {
                for _ in 0..some(random, 8) {
                    let (from, to) = (random.below(file.len() / 512) * 512, random.below(file.len() / 512) * 512);
                    file.copy_within(from..from + 512, to);
                }
            }
            Self::ValuesSwapped | Self::ValuesOfOneKeySwapped | Self::RevisionsSwapped => {
                return self.strike_rows(path, random);
            }
        }
        fs::write(path, file).unwrap();
        Vec::new()
    }

    fn strike_rows(self, path: &Path, random: &mut Random) -> Vec<i64> {
        let mut changed = Vec::new();
        let connection = Connection::open(path).unwrap();
        let mut statement = connection.prepare("SELECT revision, key FROM log ORDER BY revision").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let rows: Vec<(i64, String)> = rows.map(Result::unwrap).collect();
        for _ in 0..1 + random.below(4) {
            let one = &rows[random.below(rows.len())];
            let others: Vec<_> = rows.iter().filter(|other| other.0 != one.0).collect();
            let others: Vec<_> = match self {
                Self::ValuesOfOneKeySwapped => others.into_iter().filter(|other| other.1 == one.1).collect(),
                _ => others,
            };
            if others.is_empty() {
                continue;
            }
            let other = others[random.below(others.len())];
            changed.extend([one.0, other.0]);
            let swap = match self {
                Self::RevisionsSwapped => {
                    "UPDATE log SET revision = -1 WHERE revision = ?1; UPDATE log SET revision = ?1 WHERE revision = ?2;
                     UPDATE log SET revision = ?2 WHERE revision = -1"
                }
                _ => {
                    "CREATE TEMP TABLE kept AS SELECT value FROM log WHERE revision = ?1;
                     UPDATE log SET value = (SELECT value FROM log WHERE revision = ?2) WHERE revision = ?1;
                     UPDATE log SET value = (SELECT value FROM kept) WHERE revision = ?2; DROP TABLE kept"
                }
            };
            for sql in swap.split(';') {
                let mut statement = connection.prepare(sql).unwrap();
                let parameters = params![one.0, other.0];
                match statement.parameter_count() {
                    2 => drop(statement.execute(parameters).unwrap()),
                    1 if sql.contains("?2") => unreachable!("numbered parameters count up"),
                    1 => drop(statement.execute([one.0]).unwrap()),
                    _ => drop(statement.execute([]).unwrap()),
                }
            }
        }
        drop(statement);
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        connection.query_row("PRAGMA journal_mode = delete", [], |_| Ok(())).unwrap();
        changed
    }
}
