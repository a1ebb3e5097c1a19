//! Classes of items that look alike.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// How many different items under one hash are compared: a client could send a list of nothing but collisions.
const MAX_COLLISIONS: usize = 16;

/// The items of two lists, grouped into classes of equal ones.
pub(super) struct Classes {
    /// The class of each written item.
    pub(super) new: Vec<usize>,
    /// The class of each stored item.
    pub(super) old: Vec<usize>,
    /// How many items each class has.
    pub(super) counts: Vec<Counts>,
}

/// How many items of a class are written and stored.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) new: usize,
    pub(super) old: usize,
}

impl Counts {
    /// Whether several pairings of equal items are possible.
    pub(super) fn is_ambiguous(&self) -> bool {
        self.new > 0 && self.old > 0 && self.is_repeated()
    }

    pub(super) fn is_repeated(&self) -> bool {
        self.new > 1 || self.old > 1
    }

    /// Whether some, but not all, of the stored items are missing in what is written.
    pub(super) fn is_some_removed(&self) -> bool {
        self.old > self.new && self.new > 0
    }
}

impl Classes {
    /// Groups items by an equivalence; equivalent items have the same hash.
    pub(super) fn new<T: Copy>(new: &[T], old: &[T], hash: impl Fn(T) -> u64, equal: impl Fn(T, T) -> bool) -> Self {
        // The first class of each hash, and after each class the next one of its hash.
        let mut first_of: HashMap<u64, usize, RandomState> =
            HashMap::with_capacity_and_hasher(old.len(), <_>::default());
        let mut next_of: Vec<(T, Option<usize>)> = Vec::with_capacity(old.len());
        let mut class_of = |item: T| -> usize {
            let class = next_of.len();
            let mut found = *first_of.entry(hash(item)).or_insert(class);
            for _ in 0..MAX_COLLISIONS {
                let Some((other, next)) = next_of.get_mut(found) else { break };
                if equal(item, *other) {
                    return found;
                }
                found = *next.get_or_insert(class);
            }
            next_of.push((item, None));
            class
        };
        let old: Vec<usize> = old.iter().map(|item| class_of(*item)).collect();
        let new: Vec<usize> = new.iter().map(|item| class_of(*item)).collect();
        Self::counted(new, old, next_of.len())
    }

    fn counted(new: Vec<usize>, old: Vec<usize>, classes: usize) -> Self {
        let mut counts = vec![Counts::default(); classes];
        old.iter().for_each(|class| counts[*class].old += 1);
        new.iter().for_each(|class| counts[*class].new += 1);
        Self { new, old, counts }
    }

    /// The classes of some of the items.
    pub(super) fn part(&self, new: &[usize], old: &[usize]) -> Self {
        let mut numbers = HashMap::new();
        let mut number_of = |class: usize| {
            let next = numbers.len();
            *numbers.entry(class).or_insert(next)
        };
        let old: Vec<usize> = old.iter().map(|stored| number_of(self.old[*stored])).collect();
        let new: Vec<usize> = new.iter().map(|item| number_of(self.new[*item])).collect();
        Self::counted(new, old, numbers.len())
    }

    /// The positions of the items of each class that are not matched: written ones, and stored ones.
    pub(super) fn open(&self, matched: &[Option<usize>]) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut open = vec![(Vec::new(), Vec::new()); self.counts.len()];
        for (item, _) in matched.iter().enumerate().filter(|(_, stored)| stored.is_none()) {
            open[self.new[item]].0.push(item);
        }
        for (class, stored) in self.leftovers(matched).into_iter().enumerate() {
            open[class].1 = stored.into();
        }
        open
    }

    pub(super) fn is_equal(&self, item: usize, stored: usize) -> bool {
        self.new[item] == self.old[stored]
    }

    /// Matches the leftover items of each class, the n-th with the n-th among those that `fits` accepts.
    pub(super) fn match_in_order(&self, matched: &mut [Option<usize>], fits: impl Fn(usize, usize) -> bool) {
        let mut waiting = self.leftovers(matched);
        for (item, slot) in matched.iter_mut().enumerate().filter(|(_, slot)| slot.is_none()) {
            let stored = &mut waiting[self.new[item]];
            let found = stored.iter().take(MAX_COLLISIONS).position(|stored| fits(item, *stored));
            *slot = found.and_then(|found| stored.remove(found));
        }
    }

    /// Matches the leftover items of each class in order, and of more stored ones than written ones those of most weight.
    pub(super) fn match_moved(&self, weights: &[u32], matched: &mut [Option<usize>]) {
        let mut waiting = self.leftovers(matched);
        let mut wanted = vec![0; self.counts.len()];
        for (item, _) in matched.iter().enumerate().filter(|(_, slot)| slot.is_none()) {
            wanted[self.new[item]] += 1;
        }
        for (stored, wanted) in waiting.iter_mut().zip(wanted) {
            if stored.len() > wanted {
                let all = stored.make_contiguous();
                all.sort_by_key(|stored| std::cmp::Reverse(weights[*stored]));
                all[..wanted].sort_unstable();
                stored.truncate(wanted);
            }
        }
        for (item, slot) in matched.iter_mut().enumerate().filter(|(_, slot)| slot.is_none()) {
            *slot = waiting[self.new[item]].pop_front();
        }
    }

    /// The stored items of each class that no item continues yet.
    fn leftovers(&self, matched: &[Option<usize>]) -> Vec<std::collections::VecDeque<usize>> {
        let mut is_taken = vec![false; self.old.len()];
        matched.iter().flatten().for_each(|stored| is_taken[*stored] = true);
        let mut waiting = vec![std::collections::VecDeque::new(); self.counts.len()];
        for (stored, class) in self.old.iter().enumerate().filter(|(stored, _)| !is_taken[*stored]) {
            waiting[*class].push_back(stored);
        }
        waiting
    }
}
