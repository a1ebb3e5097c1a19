//! Texts that match a pattern of Go.

use std::ops::RangeInclusive;

use regex_syntax::{
    Parser,
    hir::{Class, Hir, HirKind, Repetition},
};
use wheelwright_text::{Pattern, Translated};

use super::Random;

/// How often a text is made anew before the pattern is given up.
const TRIES: usize = 16;
/// The longest text that is made for the sake of a bound.
const LONGEST: usize = 4_096;

/// A pattern that texts can be made for.
#[derive(Debug)]
pub struct TextOfPattern {
    pattern: Pattern,
    syntax: Hir,
}

impl TextOfPattern {
    /// Reads a pattern of Go's `regexp`; `None` if it is none, or too large.
    pub fn new(go: &str) -> Option<Self> {
        let translated = Translated::from_go(go).ok()?;
        let syntax = Parser::new().parse(translated.as_rust()).ok()?;
        Some(Self { pattern: translated.compile(go).ok()?, syntax })
    }

    /// Whether a text matches.
    pub fn is_match(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }

    /// A text that matches, has so many characters, and is accepted by the caller as well. `None` if none was found
    /// soon, although there may be one.
    pub fn sample(
        &self,
        random: &mut Random,
        length: &RangeInclusive<usize>,
        mut accepts: impl FnMut(&str) -> bool,
    ) -> Option<String> {
        let (least, most) = (*length.start(), *length.end());
        if least > LONGEST {
            return None;
        }
        let mut text = String::new();
        for attempt in 0..TRIES {
            text.clear();
            let appetite = least + [2, 0, 5, 16][(random.below(4) + attempt) % 4];
            let room = if random.one_in(12) { most.min(LONGEST) } else { most.min(least + 24) };
            Writer { random, room, out: &mut text }.write(&self.syntax, appetite);
            // Whatever follows the match of a pattern with an open end is free.
            let missing = least.saturating_sub(text.chars().count());
            text.extend(std::iter::repeat_n('a', missing));
            if length.contains(&text.chars().count()) && self.is_match(&text) && accepts(&text) {
                return Some(text);
            }
        }
        None
    }
}

struct Writer<'w> {
    random: &'w mut Random,
    /// Bytes from which on nothing is repeated more often than it must be.
    room: usize,
    out: &'w mut String,
}

impl Writer<'_> {
    /// Writes some text of a pattern, repeating things up to `appetite` times more often than they must be. Anchors are
    /// taken to hold; the caller looks whether they do. The parser limits how deep a pattern nests.
    fn write(&mut self, syntax: &Hir, appetite: usize) {
        match syntax.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.out.push_str(&String::from_utf8_lossy(&literal.0)),
            HirKind::Class(class) => {
                let letter = self.letter(class);
                self.out.extend(letter);
            }
            HirKind::Repetition(repetition) => self.repeat(repetition, appetite),
            HirKind::Capture(capture) => self.write(&capture.sub, appetite),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.write(part, appetite)),
            HirKind::Alternation(parts) => {
                if let Some(part) = self.random.pick(parts) {
                    self.write(part, appetite);
                }
            }
        }
    }

    fn repeat(&mut self, repetition: &Repetition, appetite: usize) {
        let least = repetition.min as usize;
        let most = repetition.max.map_or(usize::MAX, |most| most as usize).min(LONGEST);
        let times = if most <= 64 && self.random.one_in(16) {
            most
        } else {
            least + self.random.below(most.saturating_sub(least).min(appetite) + 1)
        };
        for time in 0..times {
            if time >= least && self.out.len() >= self.room {
                break;
            }
            // What is repeated shares the appetite, or texts would grow with the power of the nesting.
            self.write(&repetition.sub, appetite / (times + 1));
        }
    }

    /// A character of a class, mostly one that people type.
    fn letter(&mut self, class: &Class) -> Option<char> {
        let ranges: Vec<(u32, u32)> = match class {
            Class::Unicode(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
            Class::Bytes(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
        };
        let usual: Vec<(u32, u32)> = if self.random.one_in(16) {
            Vec::new()
        } else {
            let clipped = ranges.iter().map(|(first, last)| ((*first).max(0x20), (*last).min(0x7e)));
            clipped.filter(|(first, last)| first <= last).collect()
        };
        let (first, last) = *self.random.pick(if usual.is_empty() { &ranges } else { &usual })?;
        let code = self.random.between(first.into(), last.into());
        char::from_u32(u32::try_from(code).ok()?).or_else(|| char::from_u32(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_match_their_pattern_and_have_the_length_asked_for() {
        let mut random = Random::new(3);
        for (go, length) in [
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 0..=63),
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 63..=63),
            (r"^([a-z]+\.)*[a-z]+/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$", 1..=253),
            (r"^(\d{1,3}\.){3}\d{1,3}$", 7..=15),
            ("^$|^a+$", 0..=3),
            ("b", 10..=10),
            (r"\bfoo\b", 0..=20),
            ("^[^/]+$", 1..=4),
            (r"^\pL{2,5}$", 0..=5),
            ("(?i)^abc$", 3..=3),
            ("^(?:a{30}b{30}){3}$", 0..=1_000),
        ] {
            let pattern = TextOfPattern::new(go).unwrap();
            for _ in 0..50 {
                let text = pattern.sample(&mut random, &length, |_| true);
                let text = text.unwrap_or_else(|| panic!("{go} with {length:?}"));
                assert!(pattern.is_match(&text) && length.contains(&text.chars().count()), "{go}: {text:?}");
            }
        }
    }

    #[test]
    fn several_patterns_hold_at_once_where_one_leads() {
        let (first, second) = (TextOfPattern::new("^[a-c]{1,4}$").unwrap(), TextOfPattern::new("b").unwrap());
        let text = first.sample(&mut Random::new(4), &(0..=9), |text| second.is_match(text)).unwrap();
        assert!(first.is_match(&text) && second.is_match(&text));
    }

    #[test]
    fn what_nothing_matches_is_given_up() {
        let mut random = Random::new(5);
        for (go, length) in [("a^b", 0..=9), ("^abc$", 0..=2), ("^a$", 1_000_000..=2_000_000)] {
            assert_eq!(TextOfPattern::new(go).unwrap().sample(&mut random, &length, |_| true), None, "{go}");
        }
        assert!(TextOfPattern::new("(").is_none());
    }

    #[test]
    fn texts_vary() {
        let pattern = TextOfPattern::new("^[a-z]{1,3}$").unwrap();
        let mut random = Random::new(6);
        let texts: std::collections::BTreeSet<_> =
            (0..100).filter_map(|_| pattern.sample(&mut random, &(0..=9), |_| true)).collect();
        assert!(texts.len() > 20, "{texts:?}");
    }
}
