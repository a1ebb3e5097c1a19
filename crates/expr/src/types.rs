//! The types of expressions.

use std::{fmt, rc::Rc};

use crate::{
    ast::Literal,
    shape::{ShapeId, ShapeKind, Shapes},
};

/// A type.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Type {
    /// Known only when the expression runs.
    Dyn,
    /// `null`.
    Null,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `uint`.
    Uint,
    /// `double`.
    Double,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// A moment.
    Timestamp,
    /// A span of time.
    Duration,
    /// A list.
    List(Rc<Type>),
    /// A map.
    Map(Rc<Type>, Rc<Type>),
    /// An object with declared fields; two of them are the same only if they come from the same place of a schema.
    Object(ShapeId),
    /// A value that may be absent.
    Optional(Rc<Type>),
    /// A type as a value.
    Type,
    /// `url()`.
    Url,
    /// `ip()`.
    Ip,
    /// `cidr()`.
    Cidr,
    /// `quantity()`.
    Quantity,
    /// `semver()`.
    Semver,
    /// `format.named()`.
    Format,
    /// Stands for a type that is yet to be found.
    Variable(u32),
}

impl Type {
    /// The type of a list.
    pub fn list(item: Self) -> Self {
        Self::List(Rc::new(item))
    }

    /// The type of a map.
    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Rc::new(key), Rc::new(value))
    }

    /// The type of a value that may be absent.
    pub fn optional(value: Self) -> Self {
        Self::Optional(Rc::new(value))
    }

    /// The type of a constant.
    pub(crate) fn of_literal(literal: &Literal) -> Self {
        match literal {
            Literal::Null => Self::Null,
            Literal::Bool(_) => Self::Bool,
            Literal::Int(_) => Self::Int,
            Literal::Uint(_) => Self::Uint,
            Literal::Double(_) => Self::Double,
            Literal::String(_) => Self::String,
            Literal::Bytes(_) => Self::Bytes,
        }
    }

    /// The type of the values of a shape.
    pub fn of_shape(shapes: &Shapes, id: ShapeId) -> Self {
        match &shapes.get(id).kind {
            ShapeKind::Bool => Self::Bool,
            ShapeKind::Int => Self::Int,
            ShapeKind::Double => Self::Double,
            ShapeKind::String => Self::String,
            ShapeKind::Bytes => Self::Bytes,
            ShapeKind::Duration => Self::Duration,
            ShapeKind::Date | ShapeKind::DateTime => Self::Timestamp,
            ShapeKind::IntOrString | ShapeKind::Opaque | ShapeKind::Any => Self::Dyn,
            ShapeKind::List { items, .. } => Self::list(Self::of_shape(shapes, *items)),
            ShapeKind::Map { values } => Self::map(Self::String, Self::of_shape(shapes, *values)),
            ShapeKind::Object(_) => Self::Object(id),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dyn => "dyn",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Timestamp => "timestamp",
            Self::Duration => "duration",
            Self::List(item) => return write!(f, "list({item})"),
            Self::Map(key, value) => return write!(f, "map({key}, {value})"),
            Self::Object(_) => "object",
            Self::Optional(value) => return write!(f, "optional({value})"),
            Self::Type => "type",
            Self::Url => "url",
            Self::Ip => "ip",
            Self::Cidr => "cidr",
            Self::Quantity => "quantity",
            Self::Semver => "semver",
            Self::Format => "format",
            Self::Variable(_) => "any type",
        })
    }
}
