//! Paths to fields of a version, as changes and ids spell them: `a.b`, `list[].c`, `map{}.d`, `a["x.y"]`.

use std::fmt;

/// A path to a field in the shape of a version; it stands for that field in every document.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Selector(Vec<Step>);

/// A step of a [`Selector`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// A field by its name.
    Field(Box<str>),
    /// The items of a list: `[]`.
    Items,
    /// The values of a map: `{}`.
    Values,
}

impl Selector {
    /// The whole document.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path of these steps.
    pub fn from_steps(steps: Vec<Step>) -> Self {
        Self(steps)
    }

    /// The steps from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The path of something right below.
    #[must_use]
    pub fn then(&self, step: Step) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    /// The `[]` and `{}` that it ends in.
    pub(crate) fn elements(&self) -> &[Step] {
        let fields = self.0.iter().rposition(|step| matches!(step, Step::Field(_))).map_or(0, |last| last + 1);
        &self.0[fields..]
    }

    /// The name of the last field.
    pub(crate) fn last_name(&self) -> Option<&str> {
        self.0.iter().rev().find_map(|step| match step {
            Step::Field(name) => Some(&**name),
            _ => None,
        })
    }

    /// Reads a path.
    ///
    /// # Errors
    /// What is wrong with it, and at which byte.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut steps = Vec::new();
        let mut rest = text;
        let fail = |rest: &str, message| Err(SelectorError { at: text.len() - rest.len(), message });
        loop {
            if let Some(after) = rest.strip_prefix("[\"") {
                let Some((name, after)) = quoted(after) else {
                    return fail(rest, "a name in quotes ends with \"]");
                };
                steps.push(Step::Field(name.into()));
                rest = after;
            } else {
                let end = rest.find(['.', '[', ']', '{', '}', '"']).unwrap_or(rest.len());
                if end == 0 {
                    return fail(rest, "expected the name of a field");
                }
                steps.push(Step::Field(rest[..end].into()));
                rest = &rest[end..];
            }
            loop {
                if let Some(after) = rest.strip_prefix("[]") {
                    steps.push(Step::Items);
                    rest = after;
                } else if let Some(after) = rest.strip_prefix("{}") {
                    steps.push(Step::Values);
                    rest = after;
                } else {
                    break;
                }
            }
            if rest.is_empty() {
                return Ok(Self(steps));
            }
            if rest.starts_with("[\"") {
                continue;
            }
            match rest.strip_prefix('.') {
                Some(after) => rest = after,
                None => return fail(rest, "expected . or [] or {} or [\"name\"]"),
            }
        }
    }
}

/// A text that is not a [`Selector`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SelectorError {
    /// The byte at which it went wrong.
    pub at: usize,
    /// What was expected there.
    pub message: &'static str,
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {}", self.message, self.at + 1)
    }
}

impl std::error::Error for SelectorError {}

/// A name up to `"]`, with `\"` and `\\` for a quote and a backslash in it; and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return text[at + 1..].strip_prefix(']').map(|rest| (name, rest)),
            '\\' => name.push(letters.next()?.1),
            other => name.push(other),
        }
    }
    None
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Items => f.write_str("[]")?,
                Step::Values => f.write_str("{}")?,
                Step::Field(name) if is_plain(name) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    f.write_str(name)?;
                }
                Step::Field(name) => {
                    let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
                    write!(f, "[\"{escaped}\"]")?;
                }
            }
        }
        Ok(())
    }
}

/// Whether a name is written without quotes. Words with `$` are, so that what begins with `$` in a bag is ours alone.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_as_they_are_read() {
        for text in
            ["spec", "spec.ports[].name", "spec.labels{}", "a[\"x.y\"].b", "[\"$bag\"]", "a[][]{}.b", "a[\"\\\"\"]"]
        {
            assert_eq!(Selector::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Selector::parse("$a").unwrap().to_string(), "[\"$a\"]");
    }

    #[test]
    fn what_is_no_path_is_refused_with_the_place() {
        for (text, at) in [("", 0), ("a.", 2), ("a..b", 2), ("a[0]", 1), ("[]", 0), ("a[\"x", 1), ("a]", 1)] {
            assert_eq!(Selector::parse(text).unwrap_err().at, at, "{text}");
        }
    }
}
