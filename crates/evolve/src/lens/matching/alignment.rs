//! The order-preserving alignment of equal items.
//!
//! Items that look equal may hide different fields, so it matters which of them a written item continues. Between two
//! aligned equal items there is a *gap*; a gap of the same length on both sides pairs its items, which are then taken as
//! edited. Of all alignments this module takes the one with
//! 1. the most equal pairs, so that as few items as possible have moved;
//! 2. then the most edited pairs: `[y, x, x]` in place of `[x, x, x]` edits the first item and removes none;
//! 3. then the most pairs whose numbers are written alike;
//! 4. then the most hidden data in the stored items it keeps;
//! 5. then the first one in reading order, which prefers an equal pair to an edited pair, an edited pair to a skipped
//!    stored item, and that to a skipped written one.
//!
//! The search takes a table of the product of both lengths. In lists too long for one, equal heads and tails stay where
//! they are, and what is between them is searched in a band around the diagonal: items that moved further are left to
//! the steps that follow.

use super::classes::Classes;

/// The largest full table.
const MAX_CELLS: usize = 1 << 14;
/// How many cells of a band there are for each item of both lists: the cost stays linear in their length.
const CELLS_PER_ITEM: usize = 128;
/// The narrowest band that is worth a search, and the widest: two rows of it are held.
const MIN_BAND: usize = 8;
const MAX_BAND: usize = 1 << 14;

/// What an alignment achieves, in order of importance: equal pairs, edited pairs, pairs of the same text, hidden data.
type Score = [u32; 4];

/// What the previous step of an alignment was.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// An equal pair, or the start.
    Aligned,
    /// An edited pair; only another one, an equal pair or the end may follow.
    Editing,
    /// A skipped item.
    Skipping,
}

#[derive(Clone, Copy, PartialEq)]
enum Step {
    Equal,
    Edit,
    SkipOld,
    SkipNew,
}

/// Two lists, and what distinguishes equal items.
pub(super) struct Aligned<'c> {
    pub(super) classes: &'c Classes,
    /// The classes of items whose numbers are written alike, too, where that is known.
    pub(super) letters: Option<&'c Classes>,
    /// How much each stored item hides.
    pub(super) weights: &'c [u32],
}

impl Aligned<'_> {
    /// Matches equal items in order.
    pub(super) fn match_equal(&self, matched: &mut [Option<usize>]) {
        let (new, old) = (self.classes.new.len(), self.classes.old.len());
        if new.saturating_mul(old) <= MAX_CELLS {
            let band = Band { low: -(new as isize), width: new + old + 1 };
            return self.search(0, (new, old), &band, matched);
        }
        let (head, tail) = self.match_ends(matched);
        let lengths = (new - head - tail, old - head - tail);
        if let Some(band) = Band::of(lengths) {
            self.search(head, lengths, &band, matched);
        }
    }

    /// Matches equal items at both ends; how many there are.
    fn match_ends(&self, matched: &mut [Option<usize>]) -> (usize, usize) {
        let (new, old) = (self.classes.new.len(), self.classes.old.len());
        let shorter = new.min(old);
        let head = (0..shorter).take_while(|position| self.classes.is_equal(*position, *position)).count();
        let is_equal_tail = |back: &usize| self.classes.is_equal(new - 1 - back, old - 1 - back);
        let tail = (0..shorter - head).take_while(is_equal_tail).count();
        for (position, slot) in matched[..head].iter_mut().enumerate() {
            *slot = Some(position);
        }
        for back in 0..tail {
            matched[new - 1 - back] = Some(old - 1 - back);
        }
        (head, tail)
    }

    /// Matches the items of the best alignment within a band. Both lists begin behind the equal head.
    fn search(&self, head: usize, lengths: (usize, usize), band: &Band, matched: &mut [Option<usize>]) {
        let steps = self.steps(head, lengths, band);
        let (mut item, mut stored, mut state) = (0, 0, State::Aligned);
        while let Some(at) = band.cell(item, stored)
            && let Some(step) = steps[item * band.width + at][state as usize]
        {
            match step {
                Step::Equal => {
                    matched[head + item] = Some(head + stored);
                    (item, stored, state) = (item + 1, stored + 1, State::Aligned);
                }
                Step::Edit => (item, stored, state) = (item + 1, stored + 1, State::Editing),
                Step::SkipOld => (stored, state) = (stored + 1, State::Skipping),
                Step::SkipNew => (item, state) = (item + 1, State::Skipping),
            }
        }
    }

    /// The first of the best steps of every cell, by the state it is reached in; none at the end of both lists, and where
    /// the end cannot be reached.
    fn steps(&self, head: usize, (new, old): (usize, usize), band: &Band) -> Vec<[Option<Step>; 3]> {
        let mut steps = vec![[None; 3]; (new + 1) * band.width];
        // The scores from the cells of a row to the end, by state; and those of the row behind it.
        let mut row: Vec<[Option<Score>; 3]> = vec![[None; 3]; band.width];
        let mut below = row.clone();
        for item in (0..=new).rev() {
            row.fill([None; 3]);
            for at in (0..band.width).rev() {
                let Some(stored) = band.stored(item, at).filter(|stored| *stored <= old) else { continue };
                if (item, stored) == (new, old) {
                    row[at] = [Some(Score::default()); 3];
                    continue;
                }
                let (mut equal, mut edit) = (None, None);
                if item < new && stored < old {
                    let (item, stored) = (head + item, head + stored);
                    if self.classes.is_equal(item, stored) {
                        let is_exact = self.letters.is_some_and(|letters| letters.is_equal(item, stored));
                        let gain = [1, 0, u32::from(is_exact), self.weights[stored]];
                        equal = plus(below[at][State::Aligned as usize], gain);
                    } else if self.may_be_edited(item, stored) {
                        edit = plus(below[at][State::Editing as usize], [0, 1, 0, self.weights[stored]]);
                    }
                }
                let skip_old = row.get(at + 1).and_then(|cell| cell[State::Skipping as usize]);
                let skip_new = at.checked_sub(1).and_then(|at| below[at][State::Skipping as usize]);
                for state in [State::Aligned, State::Editing, State::Skipping] {
                    let mut best: Option<(Score, Step)> = None;
                    for (step, score) in [
                        (Step::Equal, equal),
                        (Step::Edit, edit.filter(|_| state != State::Skipping)),
                        (Step::SkipOld, skip_old.filter(|_| state != State::Editing)),
                        (Step::SkipNew, skip_new.filter(|_| state != State::Editing)),
                    ] {
                        if let Some(score) = score
                            && best.is_none_or(|(found, _)| score > found)
                        {
                            best = Some((score, step));
                        }
                    }
                    row[at][state as usize] = best.map(|(score, _)| score);
                    steps[item * band.width + at][state as usize] = best.map(|(_, step)| step);
                }
            }
            std::mem::swap(&mut row, &mut below);
        }
        steps
    }

    /// Whether the written item has no equal left to continue, and the stored one none that continues it.
    fn may_be_edited(&self, item: usize, stored: usize) -> bool {
        let counts = &self.classes.counts;
        let (written, kept) = (counts[self.classes.new[item]], counts[self.classes.old[stored]]);
        written.new > written.old && kept.old > kept.new
    }
}

fn plus(rest: Option<Score>, gain: Score) -> Option<Score> {
    rest.map(|rest| std::array::from_fn(|part| gain[part].saturating_add(rest[part])))
}

/// The part of a table that is searched: how far the position of a stored item may be from that of the written one.
struct Band {
    low: isize,
    width: usize,
}

impl Band {
    /// A band around the diagonals from the start to the end of two lists of these lengths.
    fn of((new, old): (usize, usize)) -> Option<Self> {
        if new == 0 || old == 0 {
            return None;
        }
        let most = CELLS_PER_ITEM * (new + old) / (new + 1);
        let width = most.clamp(MIN_BAND, MAX_BAND).min(new + old + 1);
        if width == new + old + 1 {
            return Some(Self { low: -(new as isize), width });
        }
        let ahead = old as isize - new as isize;
        let room = width as isize - ahead.abs() - 1;
        (room >= 2).then_some(Self { low: ahead.min(0) - room / 2, width })
    }

    /// The stored position of a cell.
    fn stored(&self, item: usize, at: usize) -> Option<usize> {
        usize::try_from(item as isize + self.low + at as isize).ok()
    }

    /// The cell of a written and a stored position.
    fn cell(&self, item: usize, stored: usize) -> Option<usize> {
        let at = usize::try_from(stored as isize - item as isize - self.low).ok()?;
        (at < self.width).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_linear_in_the_lists_and_never_wider_than_they_are() {
        let lengths = [0, 1, 2, 7, 64, 129, 200, 1_000, 20_000, 1_000_000];
        for (new, old) in lengths.into_iter().flat_map(|new| lengths.map(|old| (new, old))) {
            let Some(band) = Band::of((new, old)) else { continue };
            assert!(band.width <= new + old + 1 && band.width <= MAX_BAND, "{new} and {old}: {}", band.width);
            assert!(band.width * (new + 1) <= CELLS_PER_ITEM * (new + old) + MIN_BAND * (new + 1), "{new} and {old}");
            // The start and the end of both lists are in it.
            assert!(band.cell(0, 0).is_some() && band.cell(new, old).is_some(), "{new} and {old}");
        }
        assert!(Band::of((1, 1)).is_some_and(|band| band.width == 3));
        assert!(Band::of((0, 5)).is_none() && Band::of((5, 0)).is_none());
    }
}
