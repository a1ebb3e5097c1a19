//! An expression as it was written, with the place of every part. Macros are recognised here, not expanded: each has a
//! node of its own, which makes it cheap to run and easy to explain.

use std::{fmt, ops::Range};

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// The bytes of the source that it was read from.
    pub at: Range<u32>,
    /// What it is.
    pub node: Node,
}

impl Expr {
    /// The expressions right below it.
    pub fn parts(&self) -> Vec<&Self> {
        match &self.node {
            Node::Name(_) | Node::Literal(_) => Vec::new(),
            Node::Select { operand, .. } | Node::Has { operand, .. } | Node::Unary { operand, .. } => vec![operand],
            Node::Index { operand, index, .. } => vec![operand, index],
            Node::Binary { left, right, .. } => vec![left, right],
            Node::And(operands) | Node::Or(operands) => operands.iter().collect(),
            Node::Conditional { condition, then, otherwise } => vec![condition, then, otherwise],
            Node::Call { target, arguments, .. } => target.as_deref().into_iter().chain(arguments).collect(),
            Node::List(items) => items.iter().map(|(item, _)| item).collect(),
            Node::Map(entries) => entries.iter().flat_map(|(key, value, _)| [key, value]).collect(),
            Node::Message { fields, .. } => fields.iter().map(|(_, value, _)| value).collect(),
            Node::Comprehension(comprehension) => {
                let Comprehension { range, condition, transform, .. } = &**comprehension;
                [range].into_iter().chain(condition).chain(transform).collect()
            }
            Node::Bind { value, body, .. } => vec![value, body],
            Node::OptionalMap { operand, body, .. } => vec![operand, body],
        }
    }
}

/// What an expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum Node {
    /// `null`, `true`, `1`, `2u`, `1.5`, `"text"`, `b"bytes"`.
    Literal(Literal),
    /// `name`; a leading dot, as in `.name`, is part of it.
    Name(Box<str>),
    /// `operand.field`, or `operand.?field`.
    Select { operand: Box<Expr>, field: Box<str>, is_optional: bool },
    /// `has(operand.field)`.
    Has { operand: Box<Expr>, field: Box<str> },
    /// `operand[index]`, or `operand[?index]`.
    Index { operand: Box<Expr>, index: Box<Expr>, is_optional: bool },
    /// `!operand` or `-operand`.
    Unary { operator: Unary, operand: Box<Expr> },
    /// `left operator right`.
    Binary { operator: Binary, left: Box<Expr>, right: Box<Expr> },
    /// `a && b && …`, two operands or more.
    And(Vec<Expr>),
    /// `a || b || …`, two operands or more.
    Or(Vec<Expr>),
    /// `condition ? then : otherwise`.
    Conditional { condition: Box<Expr>, then: Box<Expr>, otherwise: Box<Expr> },
    /// `function(arguments)` or `target.function(arguments)`. The place of the function's name is kept.
    Call { function: Box<str>, name_at: Range<u32>, target: Option<Box<Expr>>, arguments: Vec<Expr> },
    /// `[a, ?b]`; the flag says whether an item is optional.
    List(Vec<(Expr, bool)>),
    /// `{a: b, ?c: d}`; the flag says whether an entry is optional.
    Map(Vec<(Expr, Expr, bool)>),
    /// `name{field: value, ?field: value}`.
    Message { name: Box<str>, fields: Vec<(Box<str>, Expr, bool)> },
    /// A macro that goes through a list or a map.
    Comprehension(Box<Comprehension>),
    /// `cel.bind(name, value, body)`.
    Bind { name: Box<str>, value: Box<Expr>, body: Box<Expr> },
    /// `operand.optMap(name, body)`, or `optFlatMap`.
    OptionalMap { operand: Box<Expr>, name: Box<str>, body: Box<Expr>, is_flat: bool },
}

/// A constant.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// `1`.
    Int(i64),
    /// `1u`.
    Uint(u64),
    /// `1.5`.
    Double(f64),
    /// `"text"`.
    String(Box<str>),
    /// `b"bytes"`.
    Bytes(Box<[u8]>),
}

/// An operator before its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// `!`.
    Not,
    /// `-`.
    Negate,
}

/// An operator between its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Remainder,
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `in`.
    In,
}

/// A macro that goes through a list or a map: `range.macro(variables…, body…)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Comprehension {
    /// Which one.
    pub kind: Macro,
    /// What it goes through.
    pub range: Expr,
    /// The variable for an item, or for a key; in two-variable macros, for an index or a key.
    pub variable: Box<str>,
    /// The second variable of two-variable macros: the item, or the value of the key.
    pub second: Option<Box<str>>,
    /// The condition, of those that have one; `map`, `transformList`, `transformMap` and `transformMapEntry` may.
    pub condition: Option<Expr>,
    /// The result of a step, of `map`, `transformList`, `transformMap` and `transformMapEntry`; of `sortBy`, the key.
    pub transform: Option<Expr>,
}

/// The macros that go through a list or a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Macro {
    /// `all`.
    All,
    /// `exists`.
    Exists,
    /// `exists_one`, also spelled `existsOne`.
    ExistsOne,
    /// `filter`.
    Filter,
    /// `map`.
    Map,
    /// `transformList`.
    TransformList,
    /// `transformMap`.
    TransformMap,
    /// `transformMapEntry`.
    TransformMapEntry,
    /// `sortBy`.
    SortBy,
}

impl Binary {
    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
        }
    }
}

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}
