//! Random damage to the pages of files.

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
    StalePages,
    SectorsShifted,
    Truncated,
    // Those of rows are done by statements, not to files.
    ValuesSwapped,
    ValuesOfOneKeySwapped,
    RevisionsSwapped,
    NewestRemoved,
}

/// Files that are damaged, each with an earlier state.
pub(crate) struct Struck<'f> {
    pub(crate) files: Vec<(&'f mut Vec<u8>, Option<&'f [u8]>)>,
    pub(crate) page: usize,
    /// The most pages that are damaged.
    pub(crate) most: usize,
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

    pub(crate) fn is_of_rows(self) -> bool {
        self >= Self::ValuesSwapped
    }

    /// Damages files.
    pub(crate) fn strike_files(self, struck: Struck<'_>, random: &mut Random) {
        let Struck { mut files, page: size, most } = struck;
        // A file is struck as often as it is large.
        let sizes: Vec<usize> = files.iter().map(|(bytes, _)| bytes.len() / size).collect();
        let pick = |random: &mut Random| {
            let mut page = random.below(sizes.iter().sum());
            let mut file = 0;
            while page >= sizes[file] {
                page -= sizes[file];
                file += 1;
            }
            (file, page * size)
        };
        let some = |random: &mut Random, most: usize| 1 + random.below(most);
        match self {
            Self::Bits => {
                for _ in 0..some(random, 64) {
                    let (file, page) = pick(random);
                    files[file].0[page + random.below(size)] ^= 1 << random.below(8);
                }
            }
            Self::PagesOverwritten | Self::PagesZeroed => {
                for _ in 0..some(random, most) {
                    let (file, page) = pick(random);
                    for byte in &mut files[file].0[page..page + size] {
                        *byte = if self == Self::PagesZeroed { 0 } else { random.below(256) as u8 };
                    }
                }
            }
            Self::PagesDuplicated | Self::PagesSwapped => {
                for _ in 0..some(random, most) {
                    let ((one, from), (other, to)) = (pick(random), pick(random));
                    let first = files[one].0[from..from + size].to_vec();
                    let second = files[other].0[to..to + size].to_vec();
                    files[other].0[to..to + size].copy_from_slice(&first);
                    if self == Self::PagesSwapped {
                        files[one].0[from..from + size].copy_from_slice(&second);
                    }
                }
            }
            Self::PagesTorn | Self::StalePages => {
                let length = if self == Self::PagesTorn { size / 2 } else { size };
                for _ in 0..some(random, most) {
                    let (file, page) = pick(random);
                    let start = page + random.below(2) * (size - length);
                    let (bytes, earlier) = &mut files[file];
                    if let Some(stale) = earlier.and_then(|earlier| earlier.get(start..start + length)) {
                        bytes[start..start + length].copy_from_slice(stale);
                    }
                }
            }
            Self::SectorsShifted => {
                for _ in 0..some(random, 8) {
                    let ((one, from), (other, to)) = (pick(random), pick(random));
                    let sector = |random: &mut Random| random.below(size / 512) * 512;
                    let (from, to) = (from + sector(random), to + sector(random));
                    let moved = files[one].0[from..from + 512].to_vec();
                    files[other].0[to..to + 512].copy_from_slice(&moved);
                }
            }
            Self::Truncated => {
                let bytes = &mut files[pick(random).0].0;
                bytes.truncate(random.below(bytes.len() / size) * size + random.below(2) * random.below(size));
            }
            Self::ValuesSwapped | Self::ValuesOfOneKeySwapped | Self::RevisionsSwapped | Self::NewestRemoved => {
                unreachable!("statements do this")
            }
        }
    }
}
