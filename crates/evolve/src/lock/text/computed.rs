//! How a lock says what is computed: in the words of changes files.

use std::fmt;

use super::{Path, Quoted, Word, Words};
use crate::{Bounds, Clamped, Conversion, Derived, Direction, Located, Respelled, Selector};

pub(super) struct Respelling<'r>(pub(super) &'r Respelled);

impl fmt::Display for Respelling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Respelled { from, to, with } = self.0;
        write!(f, "{} {} -> {} ", with.item.word(), Paths(from), Paths(to))?;
        Converter(&with.item).fmt(f)
    }
}

/// How one side becomes the other.
struct Converter<'c>(&'c Conversion);

impl fmt::Display for Converter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Conversion::DurationSeconds => f.write_str("durationSeconds"),
            Conversion::Quantity => f.write_str("quantity"),
            Conversion::Scale(factor) => write!(f, "scale {}", Word(factor)),
            Conversion::Text => f.write_str("text"),
            Conversion::Values(values) => write!(f, "values {}", Pairs(values)),
            Conversion::Joined(delimiter) => write!(f, "joined {}", Quoted(delimiter)),
            Conversion::ObjectWithKey(key) => write!(f, "key {}", Word(key)),
            Conversion::OneItem => f.write_str("oneItem"),
            Conversion::Document(format) => write!(f, "document {}", format.word()),
            Conversion::Clamped(Clamped { with, from, to }) => {
                with.iter().try_for_each(|with| write!(f, "{} ", Converter(with)))?;
                f.write_str("clamped")?;
                for (word, bounds) in [("from", from), ("to", to)] {
                    if let (false, Bounds { least, most }) = (*bounds == Bounds::NONE, bounds) {
                        write!(f, " {word} {}..{}", least.as_deref().unwrap_or(""), most.as_deref().unwrap_or(""))?;
                    }
                }
                Ok(())
            }
            Conversion::Template { template, pattern } => {
                write!(f, "template {}", Quoted(template))?;
                pattern.iter().try_for_each(|pattern| write!(f, " pattern {}", Quoted(&pattern.item)))
            }
            Conversion::KeyedList { key, value } => {
                write!(f, "key {}", Word(key))?;
                value.iter().try_for_each(|value| write!(f, " value {}", Word(value)))
            }
            Conversion::Entries(keys) => write!(f, "entries {}", Words(keys)),
            Conversion::Folded(key) => {
                f.write_str("folded")?;
                key.iter().try_for_each(|key| write!(f, " key {}", Word(key)))
            }
            Conversion::RenamedKeys(keys) => write!(f, "renamedKeys {}", Pairs(keys)),
            Conversion::Expression { up, down } => write!(f, "up {} down {}", Quoted(&up.item), Quoted(&down.item)),
            Conversion::Expressions { up, down } => write!(f, "up {} down {}", Expressions(up), Expressions(down)),
            Conversion::Hook(name) => write!(f, "name {}", Word(name)),
        }
    }
}

pub(super) struct Derivation<'d>(pub(super) &'d Derived);

impl fmt::Display for Derivation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Derived { direction, at, expression } = self.0;
        let direction = match direction {
            Direction::Up => "up",
            Direction::Down => "down",
        };
        write!(f, "derived {direction} {} {}", Path(&at.item), Quoted(&expression.item))
    }
}

/// Paths with commas between them.
struct Paths<'p>(&'p [Located<Selector>]);

impl fmt::Display for Paths<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        separated(f, self.0, |f, at| Path(&at.item).fmt(f))
    }
}

/// Old texts and new ones: `"Fast"="Quick"`.
struct Pairs<'p>(&'p [(Box<str>, Box<str>)]);

impl fmt::Display for Pairs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        separated(f, self.0, |f, (old, new)| write!(f, "{}={}", Quoted(old), Quoted(new)))
    }
}

/// Expressions in quotes.
struct Expressions<'e>(&'e [Located<Box<str>>]);

impl fmt::Display for Expressions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        separated(f, self.0, |f, expression| Quoted(&expression.item).fmt(f))
    }
}

/// Things with commas between them; none at all are a comma.
fn separated<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    mut write: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    let Some((first, rest)) = items.split_first() else { return f.write_str(",") };
    write(f, first)?;
    rest.iter().try_for_each(|item| {
        f.write_str(",")?;
        write(f, item)
    })
}
