//! The words of a line of a lock.

use std::borrow::Cow;

use wheelwright_document::{Arena, Decode, Owned, Value};
use wheelwright_findings::shortened;

use crate::{
    KindName, Scalar, Selector, Shape, Union, VersionName, Writers,
    lock::{
        fingerprint::Fingerprint,
        model::{Attributes, Description, Edit, Entry, Origin},
        text::{DOCUMENT, writers_name},
    },
};

/// What should have been where something else is.
pub(super) struct Expected(pub(super) String);

pub(super) fn expected<T>(what: impl Into<String>) -> Result<T, Expected> {
    Err(Expected(what.into()))
}

/// What is left of a line.
pub(super) struct Words<'t> {
    rest: &'t str,
}

impl<'t> Words<'t> {
    pub(super) fn new(line: &'t str) -> Self {
        Self { rest: line.trim() }
    }

    /// The next word; empty at the end of the line.
    pub(super) fn word(&mut self) -> &'t str {
        self.take(self.rest.find(' ').unwrap_or(self.rest.len()))
    }

    /// The next word if it is this one.
    pub(super) fn takes(&mut self, word: &str) -> bool {
        let is_next = self.rest.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        if is_next {
            self.take(word.len());
        }
        is_next
    }

    /// A word that may be in quotes.
    pub(super) fn quotable(&mut self) -> Result<Cow<'t, str>, Expected> {
        let found = self.until_any(&[' '])?;
        self.rest = self.rest.trim_start();
        Ok(found)
    }

    pub(super) fn end(&self) -> Result<(), Expected> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            expected(format!("the end of the line before `{}`", shortened(self.rest)))
        }
    }

    pub(super) fn version(&mut self) -> Result<Entry, Expected> {
        let version = VersionName::new(self.quotable()?);
        let mut name_after = |word: &str| match self.takes(word) {
            true => self.quotable().map(|name| Some(VersionName::new(name))),
            false => Ok(None),
        };
        let origin = Origin::New { from: name_after("from")?, before: name_after("before")? };
        self.entry(version, origin)
    }

    pub(super) fn amended(&mut self) -> Result<Entry, Expected> {
        let version = VersionName::new(self.quotable()?);
        self.entry(version, Origin::Amended)
    }

    fn entry(&mut self, version: VersionName, origin: Origin) -> Result<Entry, Expected> {
        let published_as = if self.takes("kind") { Some(self.kind_name()?) } else { None };
        Ok(Entry { version, published_as, origin, fingerprint: self.fingerprint()?, edits: Vec::new() })
    }

    /// The name of a kind, and its group if it has one.
    pub(super) fn kind_name(&mut self) -> Result<KindName, Expected> {
        let kind = self.quotable()?;
        let group = if self.takes("group") { self.quotable()? } else { Cow::Borrowed("") };
        Ok(KindName::new(group, kind))
    }

    fn fingerprint(&mut self) -> Result<Fingerprint, Expected> {
        if !self.takes("fingerprint") {
            return expected("`fingerprint`");
        }
        Fingerprint::parse(self.word()).map_or_else(|| expected("32 hexadecimal digits"), Ok)
    }

    pub(super) fn edit(&mut self, sign: &str) -> Result<Edit, Expected> {
        Ok(match sign {
            "-" => Edit::Remove(self.path()?),
            "~" => {
                let from = self.path()?;
                if !self.takes("->") {
                    return expected("`->`");
                }
                Edit::Move { from, to: self.path()? }
            }
            "+" => {
                let (at, description) = (self.path()?, self.description()?);
                let frozen = if self.takes("frozen") { Some(self.json()?) } else { None };
                let id = if self.takes("id") { Some(self.quotable()?.into()) } else { None };
                Edit::Add { at, description, id, frozen }
            }
            "=" => Edit::Describe { at: self.path()?, description: self.description()? },
            "order" => Edit::Order { at: self.path()?, names: self.list()? },
            "writers" => {
                let name = self.word();
                let known = [Writers::Exact, Writers::Omitempty].into_iter().find(|known| writers_name(*known) == name);
                Edit::Writers(known.map_or_else(|| expected("`exact` or `omitempty`"), Ok)?)
            }
            "converted" | "reshaped" | "hook" => Edit::Respelled(self.respelled(sign)?),
            "derived" => Edit::Derived(self.derived()?),
            other => {
                let signs = "`+`, `-`, `~`, `=`, `order`, `writers`, `converted`, `reshaped`, `hook`, `derived`, \
                             `version`, `amend` or `sum`";
                return expected(format!("{signs} instead of `{}`", shortened(other)));
            }
        })
    }

    pub(super) fn path(&mut self) -> Result<Selector, Expected> {
        path_in(&self.quotable()?)
    }

    pub(super) fn paths(&mut self) -> Result<Vec<Selector>, Expected> {
        self.separated(|words| path_in(&words.until_any(&[' ', ','])?))
    }

    fn description(&mut self) -> Result<Description, Expected> {
        let mut shapes = Vec::new();
        loop {
            let name = self.word();
            let scalar = || Scalar::ALL.into_iter().find(|scalar| scalar.name() == name).map(Shape::Scalar);
            let containers = [Shape::Object, Shape::Map, Shape::List];
            let Some(shape) = containers.into_iter().find(|shape| shape.name() == name).or_else(scalar) else {
                return expected(format!("a shape instead of `{}`", shortened(name)));
            };
            shapes.push(shape);
            match (shape, self.takes("of")) {
                (Shape::List | Shape::Map, true) => {}
                (Shape::List | Shape::Map, false) => return expected(format!("`of` after `{name}`")),
                (_, true) => return expected(format!("no `of` after `{name}`")),
                (_, false) => break,
            }
        }
        let (nullable, keeps_unknown) = (self.takes("nullable"), self.takes("keeps-unknown"));
        let keys = if self.takes("keys") { self.list()? } else { Vec::new() };
        let union = if self.takes("union") { Some(self.union()?) } else { None };
        let default = if self.takes("default") { Some(self.json()?) } else { None };
        Ok(Description { shapes, attributes: Attributes { nullable, keeps_unknown, keys, union, default } })
    }

    fn union(&mut self) -> Result<Union, Expected> {
        let members = self.list()?;
        let discriminator = if self.takes("discriminator") { Some(self.quotable()?.into()) } else { None };
        Ok(Union { members, discriminator })
    }

    pub(super) fn list(&mut self) -> Result<Vec<Box<str>>, Expected> {
        self.separated(|words| Ok(words.until_any(&[' ', ','])?.into()))
    }

    /// Things with commas between them; a comma is none at all.
    pub(super) fn separated<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, Expected>,
    ) -> Result<Vec<T>, Expected> {
        if self.takes(",") {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        loop {
            found.push(read(self)?);
            if !self.skips(',') {
                break;
            }
        }
        self.rest = self.rest.trim_start();
        Ok(found)
    }

    /// Whether this letter is next; if so, it is taken.
    pub(super) fn skips(&mut self, letter: char) -> bool {
        let after = self.rest.strip_prefix(letter);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// A text that is in quotes in any case.
    pub(super) fn text(&mut self) -> Result<Box<str>, Expected> {
        let text = self.text_in_list()?;
        self.rest = self.rest.trim_start();
        Ok(text)
    }

    /// A text that is in quotes in any case, with a comma or `=` right behind it or not.
    pub(super) fn text_in_list(&mut self) -> Result<Box<str>, Expected> {
        if !self.rest.starts_with('"') {
            return expected("a text in quotes");
        }
        Ok(self.until_any(&[' ', ',', '='])?.into())
    }

    fn json(&mut self) -> Result<Owned, Expected> {
        let (mut in_text, mut is_escaped) = (false, false);
        let end = self.rest.bytes().position(|byte| {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = in_text,
                b'"' => in_text = !in_text,
                b' ' if !in_text => return true,
                _ => {}
            }
            false
        });
        let text = self.take(end.unwrap_or(self.rest.len()));
        let arena = Arena::new();
        match decode(text, &arena) {
            Some(value) => Ok(Owned::from(value)),
            None => expected(format!("JSON instead of `{}`", shortened(text))),
        }
    }

    /// A word that may be in quotes, and otherwise ends before one of these letters; what follows it is left.
    fn until_any(&mut self, ends: &[char]) -> Result<Cow<'t, str>, Expected> {
        if !self.rest.starts_with('"') {
            let (word, rest) = self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
            if word.is_empty() {
                return expected("a name");
            }
            self.rest = rest;
            return Ok(Cow::Borrowed(word));
        }
        let mut is_escaped = false;
        let end = self.rest.bytes().enumerate().skip(1).find_map(|(at, byte)| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end.then_some(at + 1)
        });
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let arena = Arena::new();
        match decode(word, &arena) {
            Some(Value::String(text)) if rest.is_empty() || rest.starts_with(ends) => {
                self.rest = rest;
                Ok(Cow::Owned(text.as_str().to_owned()))
            }
            _ => expected(format!("a name in quotes instead of `{}`", shortened(word))),
        }
    }

    fn take(&mut self, end: usize) -> &'t str {
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }
}

fn path_in(text: &str) -> Result<Selector, Expected> {
    if text == DOCUMENT {
        return Ok(Selector::root());
    }
    Selector::parse(text).or_else(|error| expected(format!("a path instead of `{}`: {error}", shortened(text))))
}

fn decode<'a>(text: &'a str, arena: &'a Arena) -> Option<Value<'a>> {
    let options = Decode { max_bytes: usize::MAX, ..Decode::default() };
    options.decode(text.as_bytes(), arena).ok().map(|decoded| decoded.value)
}
