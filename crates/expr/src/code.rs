//! An expression that has been checked, ready to run: names are slots, fields are known, functions are chosen.

use wheelwright_text::Pattern;

use crate::{ast::Macro, library::Overload, shape::ShapeId, value::Val};

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

/// A constant, kept with the code.
#[derive(Debug)]
pub(crate) enum Constant {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Box<str>),
    Bytes(Box<[u8]>),
    Type(&'static str),
}

impl Constant {
    #[inline]
    pub(crate) fn value(&self) -> Val<'_> {
        match self {
            Self::Null => Val::Null,
            Self::Bool(value) => Val::Bool(*value),
            Self::Int(value) => Val::Int(*value),
            Self::Uint(value) => Val::Uint(*value),
            Self::Double(value) => Val::Double(*value),
            Self::String(text) => Val::String(text),
            Self::Bytes(bytes) => Val::Bytes(bytes),
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
