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
//! The search takes a table of the product of both lengths. Lists too long for one keep equal items at their
//! positions if both lists have the same length, and equal heads and tails otherwise.

use super::classes::Classes;

/// The largest table, and the most cells per item: the cost stays linear in the length of the lists.
const MAX_CELLS: usize = 1 << 14;
const MAX_CELLS_PER_ITEM: usize = 64;

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

/// Matches equal items in order.
pub(super) fn match_equal(
    classes: &Classes,
    weights: &[u32],
    is_exact: impl Fn(usize, usize) -> bool,
    matched: &mut [Option<usize>],
) {
    let (new, old) = (classes.new.len(), classes.old.len());
    if new.saturating_mul(old) > MAX_CELLS.min(MAX_CELLS_PER_ITEM * (new + old)) {
        return match_ends(classes, matched);
    }
    let table = Table::new(classes, weights, is_exact);
    let (mut item, mut stored, mut state) = (0, 0, State::Aligned);
    while let Some((step, _)) = table.best(item, stored, state) {
        match step {
            Step::Equal => {
                matched[item] = Some(stored);
                (item, stored, state) = (item + 1, stored + 1, State::Aligned);
            }
            Step::Edit => (item, stored, state) = (item + 1, stored + 1, State::Editing),
            Step::SkipOld => (stored, state) = (stored + 1, State::Skipping),
            Step::SkipNew => (item, state) = (item + 1, State::Skipping),
        }
    }
}

fn match_ends(classes: &Classes, matched: &mut [Option<usize>]) {
    let (new, old) = (classes.new.len(), classes.old.len());
    if new == old {
        for (position, slot) in matched.iter_mut().enumerate() {
            *slot = classes.is_equal(position, position).then_some(position);
        }
        return;
    }
    let shorter = new.min(old);
    let head = (0..shorter).take_while(|position| classes.is_equal(*position, *position)).count();
    let is_equal_tail = |back: &usize| classes.is_equal(new - 1 - back, old - 1 - back);
    let tail = (0..shorter - head).take_while(is_equal_tail).count();
    for (position, slot) in matched[..head].iter_mut().enumerate() {
        *slot = Some(position);
    }
    for back in 0..tail {
        matched[new - 1 - back] = Some(old - 1 - back);
    }
}

/// The best scores of all suffixes of both lists.
struct Table<'c, E> {
    classes: &'c Classes,
    weights: &'c [u32],
    is_exact: E,
    /// By written item, stored item and state; none where the state cannot reach the end.
    scores: Vec<[Option<Score>; 3]>,
}

impl<'c, E: Fn(usize, usize) -> bool> Table<'c, E> {
    fn new(classes: &'c Classes, weights: &'c [u32], is_exact: E) -> Self {
        let (new, old) = (classes.new.len(), classes.old.len());
        let scores = vec![[None; 3]; (new + 1) * (old + 1)];
        let mut table = Self { classes, weights, is_exact, scores };
        table.scores[(new + 1) * (old + 1) - 1] = [Some(Score::default()); 3];
        for item in (0..=new).rev() {
            for stored in (0..=old).rev().filter(|stored| (item, *stored) != (new, old)) {
                let best = [State::Aligned, State::Editing, State::Skipping]
                    .map(|state| table.best(item, stored, state).map(|(_, score)| score));
                table.scores[item * (old + 1) + stored] = best;
            }
        }
        table
    }

    /// The first of the best steps, and the score from here to the end.
    fn best(&self, item: usize, stored: usize, state: State) -> Option<(Step, Score)> {
        let (new, old) = (self.classes.new.len(), self.classes.old.len());
        let both = item < new && stored < old;
        let score = |item: usize, stored: usize, state: State| self.scores[item * (old + 1) + stored][state as usize];
        let mut best: Option<(Step, Score)> = None;
        let mut consider = |step: Step, gain: Score, rest: Option<Score>| {
            let Some(rest) = rest else { return };
            let total: Score = std::array::from_fn(|part| gain[part].saturating_add(rest[part]));
            if best.is_none_or(|(_, found)| total > found) {
                best = Some((step, total));
            }
        };
        if both && self.classes.is_equal(item, stored) {
            let gain = [1, 0, u32::from((self.is_exact)(item, stored)), self.weights[stored]];
            consider(Step::Equal, gain, score(item + 1, stored + 1, State::Aligned));
        }
        if both && state != State::Skipping && self.may_be_edited(item, stored) {
            let gain = [0, 1, 0, self.weights[stored]];
            consider(Step::Edit, gain, score(item + 1, stored + 1, State::Editing));
        }
        if state != State::Editing {
            if stored < old {
                consider(Step::SkipOld, Score::default(), score(item, stored + 1, State::Skipping));
            }
            if item < new {
                consider(Step::SkipNew, Score::default(), score(item + 1, stored, State::Skipping));
            }
        }
        best
    }

    /// Whether the written item has no equal left to continue, and the stored one none that continues it.
    fn may_be_edited(&self, item: usize, stored: usize) -> bool {
        let (written, kept) =
            (self.classes.counts[self.classes.new[item]], self.classes.counts[self.classes.old[stored]]);
        written.new > written.old && kept.old > kept.new
    }
}
