//! Digests of a set of keys with their revisions, in buckets that show what is missing from the set.
//!
//! A store keeps the buckets beside its rows. If rows are damaged, the buckets of the rows that can still be read are compared
//! with the stored ones: a bucket without a difference proves all of its keys, and a bucket that differs by one key shows the
//! hash of that key and its revision. Each key is in one bucket of each of three tables, so that a difference that is hidden by
//! another one in one bucket is found in a second one, and a key is still proven after two of its buckets are lost (an
//! invertible Bloom lookup table).

use std::collections::HashSet;

use twox_hash::XxHash3_64;

use crate::Key;

const TABLES: usize = 3;
const BUCKET_BYTES: usize = 24;

/// The number of parts that [`Buckets`] are stored in.
#[cfg(any(feature = "postgres", test))]
pub(crate) const PARTS: usize = 24;

/// Buckets in parts of 64, which show about 1,200 differences.
#[cfg(any(feature = "postgres", test))]
pub(crate) type Buckets = BucketsOf<512, PARTS>;

/// The comparison of [`Buckets`] with a set that was read.
#[cfg(feature = "postgres")]
pub(crate) type Difference = DifferenceOf<512, PARTS>;

/// Buckets in one part that fits a page of a SQLite file, which show about 100 differences.
#[cfg(feature = "sqlite")]
pub(crate) type PageBuckets = BucketsOf<52, 1>;

/// The comparison of [`PageBuckets`] with a set that was read.
#[cfg(feature = "sqlite")]
pub(crate) type PageDifference = DifferenceOf<52, 1>;

/// The bytes of a part.
#[cfg(feature = "postgres")]
pub(crate) const PART_BYTES: usize = 8 + Buckets::PART_BUCKETS * BUCKET_BYTES + 8;

/// The hash of a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct KeyHash(u64);

/// A key, by its hash, with its revision.
pub(crate) type Element = (KeyHash, u64);

/// The buckets of a set of keys with their revisions: `WIDTH` in each table, stored in `PARTS` parts. Some may be unknown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BucketsOf<const WIDTH: usize, const PARTS: usize>(Vec<Option<Bucket>>);

/// XORs over the keys of a bucket.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Bucket {
    keys: u64,
    revisions: u64,
    /// Of hashes of both.
    both: u64,
}

/// The comparison of stored buckets with a set that was read.
#[derive(Debug)]
pub(crate) struct DifferenceOf<const WIDTH: usize, const PARTS: usize> {
    /// What is in one of the two sets alone, as far as the buckets show it.
    elements: HashSet<Element>,
    /// What these elements do not explain. None of a bucket that is unknown.
    rest: BucketsOf<WIDTH, PARTS>,
}

impl KeyHash {
    pub(crate) fn of(key: &Key) -> Self {
        Self::of_bytes(key.as_str().as_bytes())
    }

    pub(crate) fn of_bytes(key: &[u8]) -> Self {
        Self(XxHash3_64::oneshot(key))
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    /// The buckets of the key, one of each table.
    fn buckets<const WIDTH: usize>(self) -> [usize; TABLES] {
        std::array::from_fn(|table| table * WIDTH + (self.0 >> (table * 16)) as usize % WIDTH)
    }
}

impl<const WIDTH: usize, const PARTS: usize> BucketsOf<WIDTH, PARTS> {
    const PART_BUCKETS: usize = TABLES * WIDTH / PARTS;

    /// The buckets of a set without keys.
    pub(crate) fn of_none() -> Self {
        Self(vec![Some(Bucket::default()); TABLES * WIDTH])
    }

    /// Buckets of which nothing is known yet.
    pub(crate) fn unknown() -> Self {
        Self(vec![None; TABLES * WIDTH])
    }

    /// Whether all buckets are known.
    #[cfg(feature = "postgres")]
    pub(crate) fn are_known(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }

    /// Whether any bucket is known.
    #[cfg(feature = "postgres")]
    pub(crate) fn are_any_known(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }

    /// Adds an element that is not in the set, or removes one that is.
    pub(crate) fn toggle(&mut self, (key, revision): Element) {
        for place in key.buckets::<WIDTH>() {
            if let Some(bucket) = &mut self.0[place] {
                bucket.toggle(key, revision);
            }
        }
    }

    /// The bytes of a part, with the revision up to which the set has all changes, and a checksum.
    pub(crate) fn part(&self, number: usize, revision: u64) -> Vec<u8> {
        let mut bytes = revision.to_le_bytes().to_vec();
        for bucket in &self.0[number * Self::PART_BUCKETS..(number + 1) * Self::PART_BUCKETS] {
            let Bucket { keys, revisions, both } = bucket.unwrap_or_default();
            [keys, revisions, both].into_iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        }
        bytes.extend(checksum(number, &bytes).to_le_bytes());
        bytes
    }

    /// Takes the buckets of a part if the part is intact and has all changes up to a revision.
    pub(crate) fn set_part(&mut self, number: usize, revision: u64, bytes: &[u8]) -> bool {
        let is_right = number < PARTS && Self::part_revision(number, bytes) == Some(revision);
        if is_right {
            let buckets = bytes[8..].chunks_exact(BUCKET_BYTES).map(|bytes| {
                let [keys, revisions, both] = [0, 8, 16].map(|start| number_at(bytes, start));
                Some(Bucket { keys, revisions, both })
            });
            self.0[number * Self::PART_BUCKETS..].iter_mut().zip(buckets).for_each(|(known, bucket)| *known = bucket);
        }
        is_right
    }

    /// The revision up to which a part has all changes; none if the part is damaged.
    pub(crate) fn part_revision(number: usize, bytes: &[u8]) -> Option<u64> {
        let length = 8 + Self::PART_BUCKETS * BUCKET_BYTES;
        let content = bytes.len().checked_sub(8).filter(|content| *content == length)?;
        (number_at(bytes, content) == checksum(number, &bytes[..content])).then(|| number_at(bytes, 0))
    }

    /// Compares stored buckets with a set that was read. Other elements that may be in the set help to explain a difference.
    pub(crate) fn compare(&self, read: &[Element], others: &[Element]) -> DifferenceOf<WIDTH, PARTS> {
        let mut rest = self.clone();
        read.iter().for_each(|element| rest.toggle(*element));
        let mut difference = DifferenceOf { elements: HashSet::new(), rest };
        difference.solve((0..TABLES * WIDTH).collect());
        // Elements of one bucket hide each other, as two revisions of one key do in all of its buckets.
        let mut pass = || read.iter().chain(others).filter(|element| difference.explains(**element)).count();
        while pass() > 0 {}
        difference
    }
}

/// The revision up to which a part of [`Buckets`] has all changes; none if the part is damaged.
#[cfg(any(feature = "postgres", test))]
pub(crate) fn part_revision(number: usize, bytes: &[u8]) -> Option<u64> {
    Buckets::part_revision(number, bytes)
}

impl<const WIDTH: usize, const PARTS: usize> DifferenceOf<WIDTH, PARTS> {
    /// What is in one of the two sets alone, as far as the buckets show it.
    pub(crate) fn elements(&self) -> &HashSet<Element> {
        &self.elements
    }

    /// Whether the set that was read, with the elements of the difference added or removed, is right about a key.
    pub(crate) fn proves(&self, key: KeyHash) -> bool {
        key.buckets::<WIDTH>().into_iter().any(|place| self.rest.0[place] == Some(Bucket::default()))
    }

    /// Whether it is right about all keys, even such as were never read.
    pub(crate) fn proves_all(&self) -> bool {
        self.rest.0.chunks(WIDTH).any(|table| table.iter().all(|rest| *rest == Some(Bucket::default())))
    }

    /// Adds an element if one of its buckets then differs by nothing or by one other element.
    fn explains(&mut self, element: Element) -> bool {
        let is_explained = element.0.buckets::<WIDTH>().into_iter().any(|place| match self.rest.0[place] {
            Some(mut rest) if rest != Bucket::default() => {
                rest.toggle(element.0, element.1);
                rest == Bucket::default() || rest.single::<WIDTH>(place).is_some()
            }
            _ => false,
        });
        if is_explained {
            self.add(element);
            self.solve(element.0.buckets::<WIDTH>().to_vec());
        }
        is_explained
    }

    /// Adds the elements of buckets that differ by one alone, until there are none.
    fn solve(&mut self, mut places: Vec<usize>) {
        while let Some(place) = places.pop() {
            if let Some(element) = self.rest.0[place].and_then(|rest| rest.single::<WIDTH>(place)) {
                self.add(element);
                places.extend(element.0.buckets::<WIDTH>());
            }
        }
    }

    fn add(&mut self, element: Element) {
        self.rest.toggle(element);
        if !self.elements.insert(element) {
            // Buckets that contradict each other prove nothing.
            self.rest = BucketsOf::unknown();
        }
    }
}

impl Bucket {
    fn toggle(&mut self, key: KeyHash, revision: u64) {
        self.keys ^= key.0;
        self.revisions ^= revision;
        self.both ^= both(key.0, revision);
    }

    /// The only element of the bucket at a place.
    fn single<const WIDTH: usize>(self, place: usize) -> Option<Element> {
        let key = KeyHash(self.keys);
        let is_single = self.both == both(self.keys, self.revisions) && key.buckets::<WIDTH>().contains(&place);
        is_single.then_some((key, self.revisions))
    }
}

fn both(key: u64, revision: u64) -> u64 {
    XxHash3_64::oneshot_with_seed(revision, &key.to_le_bytes())
}

fn checksum(part: usize, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(part as u64, bytes)
}

/// The number at a place of bytes that are long enough.
fn number_at(bytes: &[u8], start: usize) -> u64 {
    bytes[start..start + 8].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hash of a number, which looks random.
    fn random(seed: u64) -> u64 {
        XxHash3_64::oneshot(&seed.to_le_bytes())
    }

    fn element(number: u64) -> Element {
        (KeyHash(random(number)), number)
    }

    fn of(elements: impl IntoIterator<Item = Element>) -> Buckets {
        let mut buckets = Buckets::of_none();
        elements.into_iter().for_each(|element| buckets.toggle(element));
        buckets
    }

    fn elements(numbers: std::ops::Range<u64>) -> Vec<Element> {
        numbers.map(element).collect()
    }

    #[test]
    fn equal_sets_have_no_difference() {
        let mut read = elements(0..10_000);
        read.reverse();
        let difference = of(elements(0..10_000)).compare(&read, &[]);
        assert!(difference.proves_all() && difference.elements().is_empty());
        assert_eq!(of([elements(0..100), elements(0..100)].concat()), Buckets::of_none());
    }

    #[test]
    fn a_difference_shows_what_is_lost_what_is_back_and_what_is_older() {
        for seed in 0..100 {
            let base = seed << 32;
            let [lost, back, older] = [1, 2, 3].map(|step| random(base + step) % 80);
            let stored = elements(base..base + 3000);
            let earlier = |element: &Element| (element.0, element.1 ^ 1 << 60);
            let split = 3000 - older as usize;
            let mut read = stored[lost as usize..split].to_vec();
            read.extend(stored[split..].iter().map(earlier));
            read.extend(elements(base + 3000..base + 3000 + back));
            let difference = of(stored.clone()).compare(&read, &[]);
            let expected: HashSet<Element> = stored[..lost as usize]
                .iter()
                .copied()
                .chain(elements(base + 3000..base + 3000 + back))
                .chain(stored[split..].iter().flat_map(|element| [*element, earlier(element)]))
                .collect();
            assert_eq!(*difference.elements(), expected, "{seed}");
            assert!(difference.proves_all());
        }
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn a_page_of_buckets_shows_eighty_differences() {
        let mut incomplete = 0;
        for seed in 0..500 {
            let base = seed << 32;
            let stored = elements(base..base + 3000);
            let mut buckets = PageBuckets::of_none();
            stored.iter().for_each(|element| buckets.toggle(*element));
            let part = buckets.part(0, 7);
            let mut read = PageBuckets::unknown();
            assert!(part.len() < 3800 && read.set_part(0, 7, &part) && read == buckets);
            let difference = read.compare(&stored[80..], &[]);
            // Two keys that have all three buckets in common hide each other.
            let is_proven = |element: &&Element| difference.proves(element.0);
            let proven = stored.iter().filter(is_proven).count();
            let shown = difference.elements();
            assert!(
                proven >= 2980
                    && shown.len() >= 70
                    && stored[..80].iter().filter(|one| shown.contains(one)).count() == shown.len(),
                "{seed}: {proven}"
            );
            incomplete += usize::from(!difference.proves_all());
            // Many more are not shown, and nothing wrong is proven.
            let difference = read.compare(&stored[2000..], &[]);
            assert!(!difference.proves_all() && difference.elements().is_empty(), "{seed}");
        }
        assert!(incomplete < 25, "{incomplete} of 500");
    }

    #[test]
    fn too_many_losses_prove_nothing_that_is_wrong() {
        for lost in [900, 1400, 1600, 5000] {
            let stored = elements(0..8000);
            let difference = of(stored.clone()).compare(&stored[lost..], &[]);
            let shown: HashSet<Element> = stored[..lost].iter().copied().collect();
            assert!(difference.elements().is_subset(&shown), "{lost}");
            let proven = stored.iter().filter(|(key, _)| difference.proves(*key));
            assert!(
                proven.into_iter().all(|element| !shown.contains(element) || difference.elements().contains(element))
            );
            assert_eq!(difference.proves_all(), lost == 900, "{lost}");
        }
    }

    #[test]
    fn elements_that_are_known_from_elsewhere_explain_more() {
        let stored = elements(0..8000);
        let buckets = of(stored.clone());
        assert!(!buckets.compare(&stored[1600..], &[]).proves_all());
        let difference = buckets.compare(&stored[1600..], &stored[..1000]);
        assert!(difference.proves_all());
        assert_eq!(difference.elements().len(), 1600);
    }

    #[test]
    fn parts_that_are_damaged_out_of_date_or_of_another_place_are_not_taken() {
        let stored = elements(0..500);
        let buckets = of(stored.clone());
        let parts: Vec<Vec<u8>> = (0..PARTS).map(|number| buckets.part(number, 9)).collect();
        let read = |parts: &[Vec<u8>], revision| {
            let mut read = Buckets::unknown();
            for (number, part) in parts.iter().enumerate() {
                read.set_part(number, revision, part);
            }
            read
        };
        assert_eq!(read(&parts, 9), buckets);
        assert_eq!(part_revision(3, &parts[3]), Some(9));
        assert_eq!(read(&parts, 8), Buckets::unknown());
        // Every byte counts, and so does the place.
        let known = |parts: &[Vec<u8>]| read(parts, 9).0.iter().flatten().count() / 64;
        for at in (0..parts[0].len()).step_by(7) {
            let mut damaged = parts.clone();
            damaged[0][at] ^= 16;
            assert_eq!(known(&damaged), PARTS - 1);
        }
        let mut swapped = parts.clone();
        swapped.swap(1, 2);
        swapped[5].pop();
        swapped[6].clear();
        assert_eq!(known(&swapped), PARTS - 4);
        // What is left proves almost all keys, and shows what is lost.
        let difference = read(&swapped, 9).compare(&stored[10..], &[]);
        assert!(stored.iter().all(|(key, _)| difference.proves(*key)));
        assert_eq!(difference.elements().len(), 10);
    }

    #[test]
    fn tables_that_are_lost_in_part_do_not_prove_that_no_key_is_lost() {
        let stored = elements(0..300);
        let mut buckets = of(stored.clone());
        let difference = buckets.compare(&stored, &[]);
        assert!(difference.proves_all());
        (0..TABLES).for_each(|table| buckets.0[table * 512 + 7] = None);
        let difference = buckets.compare(&stored, &[]);
        assert!(!difference.proves_all() && stored.iter().all(|(key, _)| difference.proves(*key)));
    }

    #[test]
    fn buckets_that_contradict_each_other_prove_nothing() {
        let stored = elements(0..300);
        let mut buckets = of(stored.clone());
        let (key, revision) = element(300);
        buckets.0[key.buckets::<512>()[1]].as_mut().unwrap().toggle(key, revision);
        let difference = buckets.compare(&stored, &[]);
        assert!(stored.iter().all(|(key, _)| !difference.proves(*key)) && !difference.proves(key));
    }
}
