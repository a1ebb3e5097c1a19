//! Random damage to the tables of a PostgreSQL store.

use tokio_postgres::Client;
use wheelwright_evolve::laws::Random;

use crate::files::{Contents, PAGE};

/// A sort of damage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Damage {
    Bits,
    PagesOverwritten,
    PagesZeroed,
    PagesDuplicated,
    PagesSwapped,
    PagesTorn,
    StalePages,
    SectorsShifted,
    Truncated,
    ValuesSwapped,
    ValuesOfOneKeySwapped,
    RevisionsSwapped,
    NewestRemoved,
}

impl Damage {
    pub(crate) const ALL: [Self; 13] = [
        Self::Bits,
        Self::PagesOverwritten,
        Self::PagesZeroed,
        Self::PagesDuplicated,
        Self::PagesSwapped,
        Self::PagesTorn,
        Self::StalePages,
        Self::SectorsShifted,
        Self::Truncated,
        Self::ValuesSwapped,
        Self::ValuesOfOneKeySwapped,
        Self::RevisionsSwapped,
        Self::NewestRemoved,
    ];

    /// Whether the damage is done by a client, not to the files.
    pub(crate) fn is_of_rows(self) -> bool {
        self >= Self::ValuesSwapped
    }

    /// Damages files, of which there is an earlier state.
    pub(crate) fn strike_files(self, files: &mut Contents, earlier: &Contents, random: &mut Random) {
        // A file is struck as often as it is large.
        let sizes: Vec<usize> = files.iter().map(|(_, bytes)| bytes.len() / PAGE).collect();
        let pick = |random: &mut Random| {
            let mut page = random.below(sizes.iter().sum());
            let file = sizes
                .iter()
                .position(|size| {
                    page < *size || {
                        page -= size;
                        false
                    }
                })
                .unwrap();
            (file, page * PAGE)
        };
        let some = |random: &mut Random, most: usize| 1 + random.below(most);
        match self {
            Self::Bits => {
                for _ in 0..some(random, 64) {
                    let (file, page) = pick(random);
                    files[file].1[page + random.below(PAGE)] ^= 1 << random.below(8);
                }
            }
            Self::PagesOverwritten | Self::PagesZeroed => {
                for _ in 0..some(random, 4) {
                    let (file, page) = pick(random);
                    for byte in &mut files[file].1[page..page + PAGE] {
                        *byte = if self == Self::PagesZeroed { 0 } else { random.below(256) as u8 };
                    }
                }
            }
            Self::PagesDuplicated | Self::PagesSwapped => {
                for _ in 0..some(random, 4) {
                    let ((one, from), (other, to)) = (pick(random), pick(random));
                    let first = files[one].1[from..from + PAGE].to_vec();
                    let second = files[other].1[to..to + PAGE].to_vec();
                    files[other].1[to..to + PAGE].copy_from_slice(&first);
                    if self == Self::PagesSwapped {
                        files[one].1[from..from + PAGE].copy_from_slice(&second);
                    }
                }
            }
            Self::PagesTorn | Self::StalePages => {
                let length = if self == Self::PagesTorn { PAGE / 2 } else { PAGE };
                for _ in 0..some(random, 4) {
                    let (file, page) = pick(random);
                    let start = page + random.below(2) * (PAGE - length);
                    let (path, bytes) = &mut files[file];
                    let stale = earlier.iter().find(|(known, _)| known == path);
                    if let Some(stale) = stale.and_then(|(_, bytes)| bytes.get(start..start + length)) {
                        bytes[start..start + length].copy_from_slice(stale);
                    }
                }
            }
            Self::SectorsShifted => {
                for _ in 0..some(random, 8) {
                    let ((one, from), (other, to)) = (pick(random), pick(random));
                    let sector = |random: &mut Random| random.below(PAGE / 512) * 512;
                    let (from, to) = (from + sector(random), to + sector(random));
                    let moved = files[one].1[from..from + 512].to_vec();
                    files[other].1[to..to + 512].copy_from_slice(&moved);
                }
            }
            Self::Truncated => {
                let bytes = &mut files[pick(random).0].1;
                bytes.truncate(random.below(bytes.len() / PAGE) * PAGE + random.below(2) * random.below(PAGE));
            }
            Self::ValuesSwapped | Self::ValuesOfOneKeySwapped | Self::RevisionsSwapped | Self::NewestRemoved => {
                unreachable!("a client does this")
            }
        }
    }

    /// Damages rows, and returns the revisions of the rows that were damaged.
    pub(crate) async fn strike_rows(self, client: &Client, schema: &str, random: &mut Random) -> Vec<u64> {
        let sql = format!("SELECT revision, key FROM {schema}.log ORDER BY revision");
        let rows = client.query(&sql, &[]).await.unwrap();
        let mut rows: Vec<(i64, Vec<u8>)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let mut struck = Vec::new();
        for _ in 0..1 + random.below(4) {
            let one = rows[random.below(rows.len())].clone();
            if self == Self::NewestRemoved {
                let newest = rows.iter().rposition(|row| row.1 == one.1).unwrap();
                let revision = rows.remove(newest).0;
                client.batch_execute(&format!("DELETE FROM {schema}.log WHERE revision = {revision}")).await.unwrap();
                struck.push(revision as u64);
                continue;
            }
            let is_other =
                |other: &&(i64, Vec<u8>)| other.0 != one.0 && (self != Self::ValuesOfOneKeySwapped || other.1 == one.1);
            let others: Vec<_> = rows.iter().filter(is_other).collect();
            if others.is_empty() {
                continue;
            }
            let (one, other) = (one.0, others[random.below(others.len())].0);
            let sql = match self {
                Self::RevisionsSwapped => format!(
                    "UPDATE {schema}.log SET revision = -1 WHERE revision = {one};
                     UPDATE {schema}.log SET revision = {one} WHERE revision = {other};
                     UPDATE {schema}.log SET revision = {other} WHERE revision = -1"
                ),
                _ => format!(
                    "UPDATE {schema}.log l SET value = o.value FROM {schema}.log o
                     WHERE (l.revision, o.revision) IN (({one}, {other}), ({other}, {one}))"
                ),
            };
            client.batch_execute(&sql).await.unwrap();
            struck.extend([one as u64, other as u64]);
        }
        struck
    }
}
