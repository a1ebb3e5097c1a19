//! An expression that has been checked, ready to run: names are slots, fields are known, functions are chosen.

use wheelwright_text::Pattern;

use crate::{
    ast::{Literal, Macro},
    library::Overload,
    shape::ShapeId,
    value::Val,
};

/// A checked expression.
#[derive(Debug)]
pub(crate) enum Code {
    Constant(Constant),
    /// A variable by its position on the stack.
    Variable(u32),
    /// A declared field of an object, by the name it has in documents.
    Field {
        operand: Box<Code>,
        name: Box<str>,
        shape: ShapeId,
    },
    /// An entry of a map, or a field of something that is known only when it is there.
    Key {
        operand: Box<Code>,
        name: Box<str>,
    },
    /// `operand.?name`.
    OptionalKey {
        operand: Box<Code>,
        name: Box<str>,
        shape: Option<ShapeId>,
    },
    /// `has(operand.name)` of a declared field, by the name it has in documents.
    HasField {
        operand: Box<Code>,
        name: Box<str>,
        shape: ShapeId,
    },
    /// `has(operand.name)` of anything else.
    HasKey {
        operand: Box<Code>,
        name: Box<str>,
    },
    /// `operand in [texts]`.
    OneOf {
        operand: Box<Code>,
        texts: Box<[Box<str>]>,
    },
    And(Box<[Code]>),
    Or(Box<[Code]>),
    Conditional(Box<[Code; 3]>),
    Call(Box<Call>),
    /// `operand.or(other)` or `operand.orValue(other)`; the other is looked at only if the operand has no value.
    OrElse {
        parts: Box<[Code; 2]>,
        is_value: bool,
    },
    /// A list, a map or a conversion that is the same in every evaluation; Kubernetes makes it once, for nothing.
    Folded(Box<Code>),
    /// `operand in list`, where the list is folded and holds scalars.
    Among(Box<[Code; 2]>),
    /// Items and whether they are optional.
    List(Box<[(Code, bool)]>),
    /// Keys and values, and whether they are optional.
    Map(Box<[(Code, Code, bool)]>),
    Comprehension(Box<Comprehension>),
    /// A value that a variable stands for in a body.
    Bind(Box<[Code; 2]>),
    /// What becomes of the value in an optional.
    OptionalMap {
        operand: Box<Code>,
        body: Box<Code>,
        is_flat: bool,
    },
}

impl Code {
    /// The same code, folded if it is made of constants only.
    pub(crate) fn folded(self) -> Self {
        let is_constant = match &self {
            Self::List(items) => items.iter().all(|(item, _)| item.is_constant()),
            Self::Map(entries) => entries.iter().all(|(key, value, _)| key.is_constant() && value.is_constant()),
            Self::Call(call) => {
                let is_conversion = matches!(
                    &*call.name,
                    "bool" | "bytes" | "double" | "duration" | "dyn" | "int" | "string" | "timestamp" | "type" | "uint"
                );
                is_conversion && call.arguments.iter().all(Self::is_constant)
            }
            _ => false,
        };
        if is_constant { Self::Folded(Box::new(self)) } else { self }
    }

    fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_) | Self::Folded(_))
    }

    /// Whether this is a folded list of scalars, which Kubernetes looks items up in for nothing.
    pub(crate) fn is_set(&self) -> bool {
        let Self::Folded(code) = self else { return false };
        let Self::List(items) = &**code else { return false };
        items.iter().all(|(item, _)| {
            matches!(item, Self::Constant(Constant::Literal(literal)) if !matches!(literal, Literal::Null | Literal::Bytes(_)))
        })
    }

    /// Whether this is a variable, or a step of a path from somewhere.
    pub(crate) fn is_step(&self) -> bool {
        match self {
            Self::Variable(_) | Self::Field { .. } | Self::Key { .. } | Self::OptionalKey { .. } => true,
            Self::Call(call) => call.is_index,
            _ => false,
        }
    }

    /// Whether this is a path that begins in a variable.
    pub(crate) fn is_path(&self) -> bool {
        let mut code = self;
        loop {
            code = match code {
                Self::Variable(_) => return true,
                Self::Field { operand, .. } | Self::Key { operand, .. } | Self::OptionalKey { operand, .. } => operand,
                Self::Call(call) if call.is_index => &call.arguments[0],
                _ => return false,
            };
        }
    }
}

/// A constant, kept with the code.
#[derive(Debug)]
pub(crate) enum Constant {
    Literal(Literal),
    /// A type, by its name.
    Type(&'static str),
}

impl Constant {
    #[inline]
    pub(crate) fn value(&self) -> Val<'_> {
        match self {
            Self::Literal(Literal::Null) => Val::Null,
            Self::Literal(Literal::Bool(value)) => Val::Bool(*value),
            Self::Literal(Literal::Int(value)) => Val::Int(*value),
            Self::Literal(Literal::Uint(value)) => Val::Uint(*value),
            Self::Literal(Literal::Double(value)) => Val::Double(*value),
            Self::Literal(Literal::String(text)) => Val::String(text),
            Self::Literal(Literal::Bytes(bytes)) => Val::Bytes(bytes),
            Self::Type(name) => Val::Type(name),
        }
    }
}

/// A call of a function or an operator.
pub(crate) struct Call {
    pub(crate) name: Box<str>,
    /// Those that fit what is known of the arguments; the first that fits their values runs.
    pub(crate) overloads: Box<[&'static Overload]>,
    pub(crate) arguments: Box<[Code]>,
    /// Whether it is `[…]` or `[?…]`, a step of a path.
    pub(crate) is_index: bool,
    /// The pattern, where it is a constant.
    pub(crate) pattern: Option<Pattern>,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("name", &self.name).field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

/// A macro that goes through a list or a map.
#[derive(Debug)]
pub(crate) struct Comprehension {
    pub(crate) kind: Macro,
    pub(crate) range: Code,
    /// Whether a second variable follows the first on the stack.
    pub(crate) has_second: bool,
    pub(crate) condition: Option<Code>,
    pub(crate) transform: Option<Code>,
}
