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

/// It fails: not for want of an input, but because of one.
#[derive(Debug)]
pub(crate) struct Failed;

impl Expression {
    /// Its value; `None` if an input is absent, or if it is null.
    pub(crate) fn value(&self, own: &Json) -> Result<Option<Json>, Failed> {
        let read = |path: &[String]| {
            let mut at = Some(own);
            for name in path {
                let Some(value) = at else { return Ok(None) };
                at = value.as_object().ok_or(Failed)?.get(name);
            }
            Ok(at.cloned())
        };
        let given = |value: Option<Json>| Ok(value.filter(|value| !value.is_null()));
        match self {
            Self::Constant(value) => Ok(Some(value.clone())),
            Self::Field(path) => given(read(path)?),
            Self::Both(first, second) => {
                let (Some(first), Some(second)) = (read(first)?, read(second)?) else { return Ok(None) };
                Ok(Some(json!(format!("{} {}", text(&first)?, text(&second)?))))
            }
            Self::Or(path, other) => {
                let (name, way) = path.split_last().ok_or(Failed)?;
                let Some(object) = read(way)? else { return Ok(None) };
                let found = object.as_object().ok_or(Failed)?.get(name).filter(|value| !value.is_null()).cloned();
                Ok(Some(found.unwrap_or_else(|| json!(other))))
            }
            Self::Double(path) => of(read(path)?, |value| Some(json!(value.as_i64()?.checked_mul(2)?))),
            Self::Half(path) => of(read(path)?, |value| Some(json!(value.as_i64()? / 2))),
            Self::Length(path) => of(read(path)?, |value| Some(json!(value.as_str()?.chars().count()))),
            Self::Parsed(path) => of(read(path)?, |value| Some(json!(value.as_str()?.parse::<i64>().ok()?))),
            Self::Spelled(path) => of(read(path)?, |value| Some(json!(value.as_i64()?.to_string()))),
            Self::Not(path) => of(read(path)?, |value| Some(json!(!value.as_bool()?))),
        }
    }
}

fn text(value: &Json) -> Result<&str, Failed> {
    value.as_str().ok_or(Failed)
}

/// What a function makes of a value that is there.
fn of(value: Option<Json>, function: impl Fn(&Json) -> Option<Json>) -> Result<Option<Json>, Failed> {
    value.map(|value| function(&value).ok_or(Failed)).transpose()
}
