//! `x-kubernetes-validations`: rules in CEL that documents must satisfy.

mod compile;
mod evaluate;
mod field_path;
mod shape;

pub(crate) use compile::{Compiler, OLD_SELF};
pub(crate) use evaluate::{evaluate_default_rules, evaluate_rules};
pub(crate) use field_path::normalized;
use wheelwright_expr::{Expression, ShapeId, Shapes};

use crate::{ErrorType, Schema, model::Type, program::NodeId};

/// The rules of a schema, by the node of the program that they are declared at.
#[derive(Debug)]
pub(crate) struct Rules {
    shapes: Shapes,
    /// One for each node of the program; none where there are no rules, at the node or below.
    by_node: Box<[Option<NodeRules>]>,
}

impl Rules {
    fn at(&self, id: NodeId) -> Option<&NodeRules> {
        self.by_node[id.0 as usize].as_ref()
    }

    /// The most that all rules together can cost for one document, by their estimates.
    pub(crate) fn most_cost(&self) -> u64 {
        let rules = self.by_node.iter().flatten().flat_map(|node| &node.rules);
        rules.fold(0, |total, rule| total.saturating_add(rule.most_cost))
    }
}

/// What the walk over a document needs to know of a node that has rules, at itself or below.
#[derive(Debug)]
struct NodeRules {
    shape: ShapeId,
    rules: Vec<Rule>,
}

/// A rule that is ready to run.
#[derive(Debug)]
struct Rule {
    /// What must hold; `Err` says why it cannot be evaluated, and fails every document.
    expression: Result<Expression, String>,
    message_expression: Option<Expression>,
    /// The most that it can cost for all values of a document, by its estimate.
    most_cost: u64,
    optional_old_self: bool,
    kind: ErrorType,
    /// What follows the path of the node in the path of an error.
    field_path: Box<str>,
    /// What an error says, if no expression says something better.
    message: Box<str>,
    /// The rule in words, for errors while it is evaluated.
    name: Box<str>,
}

impl Rule {
    /// Whether it is a rule about a change.
    fn uses_old_self(&self) -> bool {
        self.expression.as_ref().is_ok_and(|expression| expression.uses(OLD_SELF))
    }

    fn message_uses_old_self(&self) -> bool {
        self.message_expression.as_ref().is_some_and(|expression| expression.uses(OLD_SELF))
    }
}

/// How many values there can be below a node of which there are some; none if only the size of a request limits that.
pub(crate) fn multiplied(cardinality: Option<u64>, schema: &Schema) -> Option<u64> {
    let most = match schema.r#type {
        Some(Type::Object) if schema.additional_properties.is_some() => schema.checks.max_properties,
        Some(Type::Array) => schema.checks.max_items,
        _ => Some(1),
    };
    Some(cardinality?.saturating_mul(u64::try_from(most?).unwrap_or(0)))
}
