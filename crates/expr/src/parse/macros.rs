//! Calls that are macros. One with another number of arguments, or without the receiver, is a call like any other.

use std::ops::Range;

use super::ParseError;
use crate::ast::{Comprehension, Expr, Macro, Node};

/// `function(arguments)`.
pub(super) fn call(function: Box<str>, name_at: Range<u32>, mut arguments: Vec<Expr>) -> Result<Node, ParseError> {
    if &*function != "has" || arguments.len() != 1 {
        return Ok(Node::Call { function, name_at, target: None, arguments });
    }
    let argument = arguments.remove(0);
    match argument.node {
        // `has(has(a.b))` is `has(a.b)` in Kubernetes, where both are selections.
        Node::Select { operand, field, is_optional: false } | Node::Has { operand, field } => {
            Ok(Node::Has { operand, field })
        }
        _ => Err(ParseError::new(argument.at, "argument of has() must be a field selection, as in `has(a.b)`")),
    }
}

/// `target.function(arguments)`.
pub(super) fn member_call(
    target: Expr,
    function: Box<str>,
    name_at: Range<u32>,
    arguments: Vec<Expr>,
) -> Result<Node, ParseError> {
    let kind = match (&*function, arguments.len()) {
        ("all", 2 | 3) => Macro::All,
        ("exists", 2 | 3) => Macro::Exists,
        ("exists_one" | "existsOne", 2 | 3) => Macro::ExistsOne,
        ("filter", 2) => Macro::Filter,
        ("map", 2 | 3) => Macro::Map,
        ("transformList", 3 | 4) => Macro::TransformList,
        ("transformMap", 3 | 4) => Macro::TransformMap,
        ("transformMapEntry", 3 | 4) => Macro::TransformMapEntry,
        ("sortBy", 2) => Macro::SortBy,
        _ => return other_member_call(target, function, name_at, arguments),
    };
    comprehension(kind, target, arguments).map(|comprehension| Node::Comprehension(Box::new(comprehension)))
}

fn other_member_call(
    target: Expr,
    function: Box<str>,
    name_at: Range<u32>,
    arguments: Vec<Expr>,
) -> Result<Node, ParseError> {
    let is_cel = matches!(&target.node, Node::Name(name) if &**name == "cel");
    match (&*function, <[Expr; 3]>::try_from(arguments)) {
        ("bind", Ok([name, value, body])) if is_cel => {
            Ok(Node::Bind { name: simple_name(&name)?, value: Box::new(value), body: Box::new(body) })
        }
        (_, Ok(arguments)) => {
            Ok(Node::Call { function, name_at, target: Some(Box::new(target)), arguments: arguments.into() })
        }
        ("optMap" | "optFlatMap", Err(mut arguments)) if arguments.len() == 2 => {
            let body = Box::new(arguments.remove(1));
            let name = simple_name(&arguments[0])?;
            Ok(Node::OptionalMap { operand: Box::new(target), name, body, is_flat: &*function == "optFlatMap" })
        }
        (_, Err(arguments)) => Ok(Node::Call { function, name_at, target: Some(Box::new(target)), arguments }),
    }
}

fn comprehension(kind: Macro, range: Expr, mut arguments: Vec<Expr>) -> Result<Comprehension, ParseError> {
    let variables = match kind {
        Macro::Filter | Macro::Map | Macro::SortBy => 1,
        Macro::All | Macro::Exists | Macro::ExistsOne => arguments.len() - 1,
        Macro::TransformList | Macro::TransformMap | Macro::TransformMapEntry => 2,
    };
    let has_transform = !matches!(kind, Macro::All | Macro::Exists | Macro::ExistsOne | Macro::Filter);
    let transform = if has_transform { arguments.pop() } else { None };
    let condition = if arguments.len() > variables { arguments.pop() } else { None };
    let variable = iteration_variable(&arguments[0])?;
    let second = arguments.get(1).map(iteration_variable).transpose()?;
    if second.as_ref() == Some(&variable) {
        return Err(ParseError::new(arguments[1].at.clone(), format!("`{variable}` is the name of both variables")));
    }
    Ok(Comprehension { kind, range, variable, second, condition, transform })
}

fn iteration_variable(argument: &Expr) -> Result<Box<str>, ParseError> {
    let name = simple_name(argument)?;
    if &*name == "__result__" {
        return Err(ParseError::new(argument.at.clone(), "`__result__` is reserved for the result of the macro"));
    }
    Ok(name)
}

fn simple_name(argument: &Expr) -> Result<Box<str>, ParseError> {
    match &argument.node {
        Node::Name(name) if !name.starts_with('.') => Ok(name.clone()),
        _ => Err(ParseError::new(argument.at.clone(), "argument must be a simple name")),
    }
}
