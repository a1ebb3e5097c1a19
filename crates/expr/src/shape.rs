//! What an expression may know about a document: how its values are typed, and how large they can get.

use std::collections::HashMap;

use crate::parse::RESERVED_WORDS;

/// The shapes that one schema declares.
#[derive(Debug, Default)]
pub struct Shapes {
    shapes: Vec<Shape>,
}

/// The position of a shape in [`Shapes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShapeId(u32);

/// How a value of a document looks to an expression.
#[derive(Debug)]
pub struct Shape {
    /// What sort of value it is.
    pub kind: ShapeKind,
    /// Whether it can be null.
    pub nullable: bool,
    /// How many characters, bytes, items or entries it can have; the estimate of a cost rests on it. Of what has no
    /// size, as numbers and objects with declared fields, it is zero.
    pub max_size: u64,
}

/// What sort of value a shape describes.
#[derive(Debug)]
pub enum ShapeKind {
    /// `true` or `false`.
    Bool,
    /// An integer.
    Int,
    /// A number.
    Double,
    /// A string.
    String,
    /// A string in base 64.
    Bytes,
    /// A string that holds a duration.
    Duration,
    /// A string that holds a date.
    Date,
    /// A string that holds a date and a time.
    DateTime,
    /// An integer or a string.
    IntOrString,
    /// A list.
    List {
        /// What it holds.
        items: ShapeId,
        /// When two such lists are equal, and what adding one to another does.
        identity: Identity,
    },
    /// An object with any keys.
    Map {
        /// What it holds.
        values: ShapeId,
    },
    /// An object with declared fields.
    Object(ObjectShape),
    /// Something that can be kept and compared, but not looked into.
    Opaque,
    /// Anything, typed by what it is.
    Any,
}

/// What makes two items of a list the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Identity {
    /// Their position.
    Position,
    /// Their value: the list is a set.
    Value,
    /// The values of some fields: the list is a map.
    Keys(Box<[Box<str>]>),
}

/// An object with declared fields.
#[derive(Debug, Default)]
pub struct ObjectShape {
    /// The fields by the names that expressions use.
    fields: HashMap<Box<str>, FieldShape>,
    /// The shapes of all declared fields by the names that documents use.
    declared: HashMap<Box<str>, ShapeId>,
}

/// A field that an expression can select.
#[derive(Clone, Debug)]
pub struct FieldShape {
    /// Its name in documents.
    pub name: Box<str>,
    /// Its shape.
    pub shape: ShapeId,
}

impl Shapes {
    /// Adds a shape; those that it refers to come first.
    pub fn add(&mut self, kind: ShapeKind, nullable: bool, max_size: u64) -> ShapeId {
        self.shapes.push(Shape { kind, nullable, max_size });
        ShapeId(self.shapes.len() as u32 - 1)
    }

    /// A shape.
    #[inline]
    pub fn get(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.0 as usize]
    }
}

impl ObjectShape {
    /// Adds a field that expressions know by a name, or not at all.
    pub fn add(&mut self, name: &str, selected_as: Option<&str>, shape: ShapeId) {
        self.declared.insert(name.into(), shape);
        if let Some(selected_as) = selected_as {
            self.fields.insert(selected_as.into(), FieldShape { name: name.into(), shape });
        }
    }

    /// The field that an expression selects by a name.
    pub fn selected(&self, name: &str) -> Option<&FieldShape> {
        self.fields.get(name)
    }

    /// The shape of the field that a document calls by a name.
    pub fn declared(&self, name: &str) -> Option<ShapeId> {
        self.declared.get(name).copied()
    }

    /// The names that expressions can select.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(|name| &**name)
    }
}

/// The name by which an expression selects a field; none if it cannot.
pub fn selected_name(name: &str) -> Option<String> {
    if RESERVED_WORDS.contains(&name) || matches!(name, "true" | "false" | "null" | "in") {
        return Some(format!("__{name}__"));
    }
    if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let mut escaped = String::with_capacity(name.len());
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '_' if letters.next_if_eq(&'_').is_some() => escaped.push_str("__underscores__"),
            '.' => escaped.push_str("__dot__"),
            '-' => escaped.push_str("__dash__"),
            '/' => escaped.push_str("__slash__"),
            letter if letter == '_' || letter.is_ascii_alphanumeric() => escaped.push(letter),
            _ => return None,
        }
    }
    Some(escaped)
}

#[cfg(test)]
mod tests {
    use super::selected_name;

    #[test]
    fn names_are_escaped() {
        let is = |name: &str, escaped: Option<&str>| assert_eq!(selected_name(name).as_deref(), escaped, "{name}");
        is("plain", Some("plain"));
        is("a.b-c/d", Some("a__dot__b__dash__c__slash__d"));
        is("a__b", Some("a__underscores__b"));
        is("a___b", Some("a__underscores___b"));
        is("namespace", Some("__namespace__"));
        is("int", Some("int"));
        is("1st", None);
        is("größe", None);
        is("", None);
        is("$ref", None);
    }
}
