//! Computed changes at random, of every sort that there is.

use std::collections::HashSet;

use wheelwright_evolve::{
    Bounds, Clamped, Conversion, Derived, Direction, DocumentFormat, Located, Respelled, Selector,
};

use crate::located;

/// What is computed between the fields of a version and those of the next one.
pub(super) fn between(
    before: &[Selector],
    after: &[Selector],
    choices: &[(u8, usize, usize)],
) -> (Vec<Respelled>, Vec<Derived>) {
    let (mut respelled, mut derived) = (Vec::new(), Vec::new());
    let (mut gone, mut arrived) = (HashSet::new(), HashSet::new());
    if before.is_empty() || after.is_empty() {
        return (respelled, derived);
    }
    for (sort, a, b) in choices {
        let (from, to) = (&before[a % before.len()], &after[b % after.len()]);
        let is_free = !gone.contains(from) && !arrived.contains(to);
        match sort % 4 {
            0 | 1 if is_free => respelled.push(Respelled {
                from: vec![located(from.clone())],
                to: vec![located(to.clone())],
                with: located(conversion(a / 7 + b)),
            }),
            2 if is_free => {
                let (direction, at) = if a.is_multiple_of(2) { (Direction::Up, to) } else { (Direction::Down, from) };
                derived.push(Derived { direction, at: located(at.clone()), expression: text(*b) });
            }
            _ => continue,
        }
        gone.insert(from);
        arrived.insert(to);
    }
    (respelled, derived)
}

fn conversion(choice: usize) -> Conversion {
    let words = || vec![(word(choice), word(choice + 1)), (word(choice + 1), word(choice))];
    match choice % 22 {
        0 => Conversion::DurationSeconds,
        1 => Conversion::Quantity,
        2 => Conversion::Scale("0.001".into()),
        3 => Conversion::Text,
        4 => Conversion::Values(words()),
        5 => Conversion::Joined(word(choice)),
        6 => Conversion::OneItem,
        7 => Conversion::Template { template: word(choice), pattern: None },
        8 => Conversion::Template { template: word(choice), pattern: Some(text(choice + 1)) },
        9 => Conversion::KeyedList { key: word(choice), value: None },
        10 => Conversion::KeyedList { key: word(choice), value: Some(word(choice + 1)) },
        11 => Conversion::Entries(vec![word(choice), word(choice + 1)]),
        12 => Conversion::RenamedKeys(words()),
        13 => Conversion::Expression { up: text(choice), down: text(choice + 1) },
        14 => Conversion::Expressions { up: vec![text(choice), text(choice + 1)], down: vec![text(choice)] },
        15 => Conversion::Document(if choice.is_multiple_of(2) { DocumentFormat::Json } else { DocumentFormat::Yaml }),
        19 => Conversion::Folded(None),
        20 => Conversion::Folded(Some(word(choice))),
        16 => clamped(None, ["", "-2147483648..2147483647"]),
        17 => clamped(Some(Conversion::DurationSeconds), ["0..", ""]),
        18 => clamped(Some(Conversion::Scale("1e3".into())), ["..0.5", "-7..1e30"]),
        _ => Conversion::Hook(word(choice)),
    }
}

/// Clamped to bounds that are written as in a lock.
fn clamped(with: Option<Conversion>, bounds: [&str; 2]) -> Conversion {
    let [from, to] = bounds.map(|text| {
        let bound = |text: &str| Some(text.into()).filter(|_| !text.is_empty());
        text.split_once("..").map_or(Bounds::NONE, |(least, most)| Bounds { least: bound(least), most: bound(most) })
    });
    let mut clamped = Clamped::new(with);
    (clamped.from, clamped.to) = (from, to);
    Conversion::Clamped(clamped)
}

fn word(choice: usize) -> Box<str> {
    ["", "a", "with space", "\"quoted\",\n", "=", ",", "->", "\\", "down"][choice % 9].into()
}

fn text(choice: usize) -> Located<Box<str>> {
    located(word(choice))
}
