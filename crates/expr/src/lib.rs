//! CEL over documents: typed against a schema, evaluated within a budget.

#[expect(missing_docs, reason = "what the fields of a node are is shown by how it is written")]
pub mod ast;
mod check;
mod code;
mod estimate;
mod evaluate;
mod expression;
mod failure;
mod functions;
mod library;
mod limits;
mod parse;
mod shape;
mod types;
mod value;

pub use check::{Mistake, Variable};
pub use estimate::CostEstimate;
pub use evaluate::Evaluator;
pub use expression::{CompileError, Expression};
pub use failure::{Failure, FailureKind};
pub use functions::{Function, functions};
pub use limits::{
    ESTIMATED_RULE_LIMIT, ESTIMATED_SCHEMA_LIMIT, EXPRESSION_LIMIT, MESSAGE_BYTES, NOTABLE_RULE_COST, OBJECT_BUDGET,
    REQUEST_BYTES,
};
pub use parse::{MAX_CHARACTERS, MAX_DEPTH, ParseError, RESERVED_WORDS, parse};
pub use shape::{Identity, ObjectShape, Shape, ShapeId, ShapeKind, Shapes, selected_name};
pub use types::Type;
pub use value::Val;
