//! Random choices that a seed decides, today and on every machine.

/// A source of choices: the generator known as SplitMix64, which is small, fast and good enough for tests.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The choices of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 bits, each as likely set as not.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; zero if there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        // The high half of a product is as even as anyone can tell, and takes no division.
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included; `low` if they are the wrong way round.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = (i128::from(high) - i128::from(low) + 1).max(1) as u128;
        low.wrapping_add(((u128::from(self.bits()) * span) >> 64) as i64)
    }

    /// True once in `times`, on average.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of the items, unless there are none.
    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        items.get(self.below(items.len()))
    }

    /// Puts the items in any order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_every_choice() {
        let choices =
            |seed| -> Vec<u64> { std::iter::repeat_with(|| 0).take(8).scan(Random::new(seed), next).collect() };
        fn next(random: &mut Random, _: u64) -> Option<u64> {
            Some(random.bits())
        }
        assert_eq!(choices(7), choices(7));
        assert_ne!(choices(7), choices(8));
        // The published first output for seed 0: a change here would silently change every recorded seed.
        assert_eq!(choices(0)[0], 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn every_number_in_range_is_reached_and_no_other() {
        let mut random = Random::new(1);
        let mut seen = [0; 5];
        for _ in 0..1_000 {
            seen[random.below(5)] += 1;
            assert!((-2..=2).contains(&random.between(-2, 2)));
            random.between(i64::MIN, i64::MAX);
        }
        assert!(seen.iter().all(|times| *times > 100), "{seen:?}");
        assert_eq!((random.below(0), random.between(3, 1), random.pick::<u8>(&[])), (0, 3, None));
    }
}
