//! Expressions of changes, each as its text and as what it means.

use std::fmt;

use serde_json::{Value as Json, json};

/// The names that lead from `self` to what is read; none for `self` itself.
pub(crate) type Path = Vec<String>;

/// An expression over `self`.
#[derive(Clone, Debug)]
pub(crate) enum Expression {
    /// A literal: a text, an integer, a boolean, or a list of texts.
    Constant(Json),
    Field(Path),
    /// Two texts with a space between them.
    Both(Path, Path),
    /// A text, or another where it is absent.
    Or(Path, String),
    Double(Path),
    Half(Path),
    Length(Path),
    /// The integer that a text spells.
    Parsed(Path),
    /// The text that spells an integer.
    Spelled(Path),
    Not(Path),
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |path: &Path| [&["self".to_owned()], &path[..]].concat().join(".");
        match self {
            Self::Constant(value) => write!(f, "{value}"),
            Self::Field(path) => write!(f, "{}", at(path)),
            Self::Both(first, second) => write!(f, "{} + ' ' + {}", at(first), at(second)),
            Self::Or(path, other) => write!(f, "has({0}) ? {0} : '{other}'", at(path)),
            Self::Double(path) => write!(f, "{} * 2", at(path)),
            Self::Half(path) => write!(f, "{} / 2", at(path)),
            Self::Length(path) => write!(f, "size({})", at(path)),
            Self::Parsed(path) => write!(f, "int({})", at(path)),
            Self::Spelled(path) => write!(f, "string({})", at(path)),
            Self::Not(path) => write!(f, "!{}", at(path)),
        }
    }
}

impl Expression {
    /// Its value; `None` if it has none, whatever the reason: an input is absent, it fails, or it is null.
    pub(crate) fn value(&self, own: &Json) -> Option<Json> {
        let read = |path: &Path| path.iter().try_fold(own, |at, name| at.as_object()?.get(name));
        let text = |path: &Path| read(path)?.as_str().map(str::to_owned);
        let integer = |path: &Path| read(path)?.as_i64();
        match self {
            Self::Constant(value) => Some(value.clone()),
            Self::Field(path) => read(path).filter(|value| !value.is_null()).cloned(),
            Self::Both(first, second) => Some(json!(format!("{} {}", text(first)?, text(second)?))),
            Self::Or(path, other) => {
                let (name, way) = path.split_last()?;
                match read(&way.to_vec())?.as_object()?.get(name) {
                    Some(value) => Some(value.clone()).filter(|value| !value.is_null()),
                    None => Some(json!(other)),
                }
            }
            Self::Double(path) => Some(json!(integer(path)?.checked_mul(2)?)),
            Self::Half(path) => Some(json!(integer(path)? / 2)),
            Self::Length(path) => Some(json!(text(path)?.chars().count())),
            Self::Parsed(path) => Some(json!(text(path)?.parse::<i64>().ok()?)),
            Self::Spelled(path) => Some(json!(integer(path)?.to_string())),
            Self::Not(path) => Some(json!(!read(path)?.as_bool()?)),
        }
    }
}
