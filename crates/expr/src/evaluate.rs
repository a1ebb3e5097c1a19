//! Runs checked expressions within a budget.

mod access;
mod comprehension;

use std::collections::HashMap;

use wheelwright_document::{Arena, Value};

use crate::{
    Failure,
    code::{Call, Code},
    library::Answer,
    shape::{ShapeId, Shapes},
    value::{Val, read},
};

/// Evaluates the expressions of one schema over one document, and keeps count of what they cost.
pub struct Evaluator<'a> {
    pub(crate) shapes: &'a Shapes,
    pub(crate) arena: &'a Arena,
    /// What may still be spent.
    budget: u64,
    stack: Vec<Val<'a>>,
    /// Where the keys of large objects and maps are, by the address of their first entry.
    pub(crate) indexes: HashMap<usize, MapIndex<'a>>,
    /// Patterns that are not constants.
    pub(crate) patterns: HashMap<&'a str, Result<wheelwright_text::Pattern, Failure>>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator without a budget: see [`Evaluator::set_budget`].
    pub fn new(shapes: &'a Shapes, arena: &'a Arena) -> Self {
        Self {
            shapes,
            arena,
            budget: 0,
            stack: Vec::with_capacity(16),
            indexes: HashMap::new(),
            patterns: HashMap::new(),
        }
    }

    /// Says what the next evaluation may cost.
    pub fn set_budget(&mut self, budget: u64) {
        self.budget = budget;
    }

    /// What is left of the budget.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// A value of a document as its shape says.
    #[inline]
    pub fn read(&self, value: &'a Value<'a>, shape: ShapeId) -> Val<'a> {
        read(value, shape, self.shapes, self.arena)
    }

    /// Runs an expression with its variables.
    pub(crate) fn run(&mut self, code: &'a Code, variables: &[Val<'a>]) -> Answer<'a> {
        self.stack.clear();
        self.stack.extend_from_slice(variables);
        self.value(code)
    }

    /// Takes something from the budget.
    #[inline]
    pub(crate) fn charge(&mut self, cost: u64) -> Result<(), Failure> {
        match self.budget.checked_sub(cost) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => {
                self.budget = 0;
                Err(Failure::budget())
            }
        }
    }

    pub(crate) fn value(&mut self, code: &'a Code) -> Answer<'a> {
        match code {
            Code::Constant(constant) => Ok(constant.value()),
            Code::Variable(slot) => {
                self.charge(1)?;
                valid(self.stack[*slot as usize])
            }
            Code::Field { operand, name, shape } => {
                let operand = self.value(operand)?;
                self.charge(1)?;
                self.field(operand, name, *shape)
            }
            Code::Key { operand, name } => {
                let operand = self.value(operand)?;
                self.charge(1)?;
                match self.find(operand, name)? {
                    Some(value) => valid(value),
                    None => Err(Failure::absent(name)),
                }
            }
            Code::OptionalKey { operand, name, shape } => self.optional_key(operand, name, *shape),
            Code::HasField { operand, name, shape } => {
                let operand = self.value(operand)?;
                self.has_field(operand, name, *shape)
            }
            Code::HasKey { operand, name } => {
                let operand = self.value(operand)?;
                self.has_key(operand, name)
            }
            Code::OneOf { operand, texts } => {
                let operand = self.value(operand)?;
                self.charge(10 + texts.len() as u64)?;
                match operand {
                    Val::String(text) => Ok(Val::Bool(texts.iter().any(|one| **one == *text))),
                    _ => Err(Failure::no_such_overload("in")),
                }
            }
            Code::And(operands) => self.junction(operands, false),
            Code::Or(operands) => self.junction(operands, true),
            Code::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                match self.value(condition)? {
                    Val::Bool(true) => self.value(then),
                    Val::Bool(false) => self.value(otherwise),
                    _ => Err(Failure::no_such_overload("_?_:_")),
                }
            }
            Code::Call(call) => self.call(call),
            Code::List(items) => self.list(items),
            Code::Map(entries) => self.map(entries),
            Code::Comprehension(comprehension) => self.comprehension(comprehension),
            Code::Bind(parts) => {
                let [value, body] = &**parts;
                let value = self.value(value)?;
                self.with(value, |evaluator| evaluator.value(body))
            }
            Code::OptionalMap { operand, body, is_flat } => self.optional_map(operand, body, *is_flat),
        }
    }

    /// Runs something with one more variable.
    fn with<T>(&mut self, variable: Val<'a>, run: impl FnOnce(&mut Self) -> T) -> T {
        self.stack.push(variable);
        let result = run(self);
        self.stack.pop();
        result
    }

    /// `&&` stops at the first false, `||` at the first true; a failure counts only if nothing stops.
    fn junction(&mut self, operands: &'a [Code], stop: bool) -> Answer<'a> {
        let mut failure = None;
        for operand in operands {
            match self.value(operand) {
                Ok(Val::Bool(value)) if value == stop => return Ok(Val::Bool(stop)),
                Ok(Val::Bool(_)) => {}
                Ok(_) => failure = failure.or(Some(Failure::no_such_overload(if stop { "_||_" } else { "_&&_" }))),
                Err(error) if error.is_final() => return Err(error),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(Val::Bool(!stop)), Err)
    }

    #[inline(never)]
    fn call(&mut self, call: &'a Call) -> Answer<'a> {
        let mut room = [Val::Null; MOST_ARGUMENTS];
        let arguments = &mut room[..call.arguments.len()];
        for (argument, code) in arguments.iter_mut().zip(&call.arguments) {
            *argument = self.value(code)?;
        }
        let arguments = &*arguments;
        if let Some(pattern) = &call.pattern {
            return self.call_with_pattern(call, pattern, arguments);
        }
        let overload = match &*call.overloads {
            [only] => only,
            several => several
                .iter()
                .find(|overload| overload.accepts(arguments))
                .ok_or_else(|| Failure::no_such_overload(&call.name))?,
        };
        let result = (overload.run)(self, arguments)?;
        self.charge(overload.cost.of(arguments))?;
        Ok(result)
    }

    #[inline(never)]
    fn list(&mut self, items: &'a [(Code, bool)]) -> Answer<'a> {
        self.charge(10)?;
        let mut list = Vec::with_capacity(items.len());
        for (item, is_optional) in items {
            match (self.value(item)?, is_optional) {
                (value, false) => list.push(value),
                (Val::Optional(value), true) => list.extend(value.copied()),
                _ => return Err(Failure::no_such_overload("[?_]")),
            }
        }
        Ok(Val::List(self.arena.slice(&list)))
    }

    #[inline(never)]
    fn map(&mut self, entries: &'a [(Code, Code, bool)]) -> Answer<'a> {
        self.charge(30)?;
        let mut map = MapBuilder::default();
        for (key, value, is_optional) in entries {
            let key = self.value(key)?;
            match (self.value(value)?, is_optional) {
                (value, false) => map.insert(key, value)?,
                (Val::Optional(value), true) => value.map_or(Ok(()), |value| map.insert(key, *value))?,
                _ => return Err(Failure::no_such_overload("{?_: _}")),
            }
        }
        Ok(map.finish(self.arena))
    }
}

/// No function has more.
pub(crate) const MOST_ARGUMENTS: usize = 4;

/// What is not what its schema says fails as soon as it is looked at.
#[inline]
pub(crate) fn valid(value: Val<'_>) -> Answer<'_> {
    match value {
        Val::Invalid(why) => Err(Failure::other(format!("invalid data: {why}"))),
        value => Ok(value),
    }
}

pub(crate) use access::{MapBuilder, MapIndex};
