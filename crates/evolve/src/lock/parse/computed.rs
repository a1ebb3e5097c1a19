//! Lines of a lock that say what is computed.

use wheelwright_document::Span;
use wheelwright_findings::shortened;

use super::words::{Expected, Words, expected};
use crate::{Bounds, Clamped, Conversion, Derived, Direction, DocumentFormat, Located, Respelled};

/// An old text and a new one.
type Pair = (Box<str>, Box<str>);

impl Words<'_> {
    /// What follows `converted`, `reshaped` or `hook`.
    pub(super) fn respelled(&mut self, sign: &str) -> Result<Respelled, Expected> {
        let from = self.paths()?;
        if !self.takes("->") {
            return expected("`->`");
        }
        let to = self.paths()?;
        if from.is_empty() || to.is_empty() {
            return expected("a path on either side of `->`");
        }
        let with = self.conversion(sign)?;
        let with = located(if sign == "converted" { self.clamped(with)? } else { with });
        let located_all = |paths: Vec<_>| paths.into_iter().map(located).collect();
        Ok(Respelled { from: located_all(from), to: located_all(to), with })
    }

    /// What follows `derived`.
    pub(super) fn derived(&mut self) -> Result<Derived, Expected> {
        let direction = match self.word() {
            "up" => Direction::Up,
            "down" => Direction::Down,
            other => return expected(format!("`up` or `down` instead of `{}`", shortened(other))),
        };
        let at = located(self.path()?);
        Ok(Derived { direction, at, expression: located(self.text()?) })
    }

    /// What follows a converter of numbers that is clamped.
    fn clamped(&mut self, with: Conversion) -> Result<Conversion, Expected> {
        let with = match with {
            Conversion::Clamped(_) => None,
            with if self.takes("clamped") => Some(with),
            with => return Ok(with),
        };
        let mut clamped = Clamped::new(with);
        for (word, bounds) in [("from", &mut clamped.from), ("to", &mut clamped.to)] {
            if self.takes(word) {
                *bounds = Bounds::parse(self.word()).map_or_else(|| expected("bounds such as `0..100`"), Ok)?;
            }
        }
        Ok(Conversion::Clamped(clamped))
    }

    fn conversion(&mut self, sign: &str) -> Result<Conversion, Expected> {
        Ok(match (sign, self.word()) {
            ("converted", "durationSeconds") => Conversion::DurationSeconds,
            ("converted", "quantity") => Conversion::Quantity,
            ("converted", "scale") => Conversion::Scale(self.quotable()?.into()),
            ("converted", "text") => Conversion::Text,
            ("converted", "values") => Conversion::Values(self.pairs()?),
            ("converted", "joined") => Conversion::Joined(self.text()?),
            ("converted", "key") => Conversion::ObjectWithKey(self.quotable()?.into()),
            ("converted", "oneItem") => Conversion::OneItem,
            ("converted", "clamped") => Conversion::Clamped(Clamped::ALONE),
            ("converted", "document") => match DocumentFormat::named(self.word()) {
                Some(format) => Conversion::Document(format),
                None => return expected("`yaml` or `json`"),
            },
            ("converted", "up") => {
                let up = self.text()?;
                let [up, down] = [up, self.after("down", Self::text)?].map(located);
                Conversion::Expression { up, down }
            }
            ("reshaped", "template") => {
                let template = self.text()?;
                let pattern = if self.takes("pattern") { Some(located(self.text()?)) } else { None };
                Conversion::Template { template, pattern }
            }
            ("reshaped", "key") => {
                let key = self.quotable()?.into();
                let value = if self.takes("value") { Some(self.quotable()?.into()) } else { None };
                Conversion::KeyedList { key, value }
            }
            ("reshaped", "entries") => Conversion::Entries(self.list()?),
            ("reshaped", "folded") => {
                Conversion::Folded(if self.takes("key") { Some(self.quotable()?.into()) } else { None })
            }
            ("reshaped", "renamedKeys") => Conversion::RenamedKeys(self.pairs()?),
            ("reshaped", "up") => {
                let up = self.expressions()?;
                Conversion::Expressions { up, down: self.after("down", Self::expressions)? }
            }
            ("hook", "name") => Conversion::Hook(self.quotable()?.into()),
            (sign, other) => return expected(format!("how it is {sign} instead of `{}`", shortened(other))),
        })
    }

    fn after<T>(&mut self, word: &str, read: impl FnOnce(&mut Self) -> Result<T, Expected>) -> Result<T, Expected> {
        if !self.takes(word) {
            return expected(format!("`{word}`"));
        }
        read(self)
    }

    fn pairs(&mut self) -> Result<Vec<Pair>, Expected> {
        self.separated(|words| {
            let old = words.text_in_list()?;
            if !words.skips('=') {
                return expected("`=` and a text in quotes");
            }
            Ok((old, words.text_in_list()?))
        })
    }

    fn expressions(&mut self) -> Result<Vec<Located<Box<str>>>, Expected> {
        self.separated(|words| words.text_in_list().map(located))
    }
}

/// What a lock says has no place that anybody would look at.
fn located<T>(item: T) -> Located<T> {
    Located { item, span: Span::default() }
}
