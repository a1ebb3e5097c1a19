//! Texts that patterns, formats and limits may tell apart.

use wheelwright_document::Owned;

use super::{
    super::example::{COMMON_TEXTS, string},
    named::Named,
};
use crate::laws::{Random, TextOfPattern};

/// Longer lists, and longer texts but for a few, are not made for the sake of a limit.
pub(super) const LONGEST: i64 = 4_096;
/// The few are at most so long, since messages of conditions have up to 32,768 characters.
pub(super) const LONGEST_TEXT: i64 = 65_537;
/// How many these are.
const LONG_TEXTS: usize = 8;
/// Texts that are made for a pattern.
const SAMPLES: usize = 12;
/// Patterns that are tried together with another one.
const PATTERNS: usize = 4;
/// Lengths about which names and their patterns have limits.
const LENGTHS: [usize; 12] = [2, 3, 16, 17, 32, 33, 62, 63, 64, 65, 254, 257];

/// Texts that are likely to be accepted by one schema and refused by another one.
pub(super) fn texts(named: &Named, random: &mut Random) -> Vec<Owned> {
    let common = COMMON_TEXTS.iter().chain(&["", "a", "example", "A b", "a/b"]).copied();
    let mut found: Vec<String> = common.map(str::to_owned).chain(named.texts.iter().cloned()).collect();
    // Every letter alone, at the beginning, at the end, and twice in the middle.
    for letter in (' '..='~').chain(['\u{e9}', '\n']) {
        found.extend([format!("{letter}"), format!("{letter}a"), format!("a{letter}"), format!("a{letter}{letter}a")]);
    }
    for count in named.counts().into_iter().chain(LENGTHS) {
        found.extend(["a", "A", "0", "-"].map(|letter| letter.repeat(count)));
    }
    found.extend(named.long_counts().take(LONG_TEXTS).map(|count| "a".repeat(count)));
    let patterns: Vec<TextOfPattern> =
        named.patterns.iter().filter_map(|pattern| TextOfPattern::new(pattern)).collect();
    for (position, pattern) in patterns.iter().enumerate() {
        let mut sample = |length, accepts: &dyn Fn(&str) -> bool| {
            found.extend((0..SAMPLES).filter_map(|_| pattern.sample(random, &length, accepts)));
        };
        for length in [0..=LONGEST as usize, 60..=70, 250..=260] {
            sample(length, &|_| true);
        }
        // What one pattern allows and another one excludes matches both.
        for (_, other) in patterns.iter().enumerate().filter(|(other, _)| *other != position).take(PATTERNS) {
            sample(0..=LONGEST as usize, &|text| other.is_match(text));
        }
    }
    found.iter().map(|text| string(text)).collect()
}
