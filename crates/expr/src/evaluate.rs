//! Runs checked expressions within a budget.

mod access;
mod comprehension;

use std::{
    cell::RefCell,
    collections::{HashMap, VecDeque},
};

use smallvec::SmallVec;
use wheelwright_document::{Arena, Value};

use crate::{
    Failure,
    code::{Call, Code},
    library::{Answer, Dynamic, Overload, contains},
    shape::{ShapeId, ShapeKind, Shapes},
    value::{Val, read},
};

/// Evaluates the expressions of one schema over one document, and keeps count of what they cost.
pub struct Evaluator<'a> {
    pub(crate) shapes: &'a Shapes,
    pub(crate) arena: &'a Arena,
    /// What may still be spent.
    budget: u64,
    /// Steps of work that have not been paid for; see [`Evaluator::work`].
    unpaid: u64,
    stack: SmallVec<[Val<'a>; 8]>,
    /// The variables that are bound to code which has not given a value: their places on the stack, and why there is
    /// none or else the code.
    bindings: Vec<(usize, Result<Failure, &'a Code>)>,
    /// What is found out once. Most expressions need nothing of it, and many are so short that making it would count.
    memory: RefCell<Option<Box<Memory<'a>>>>,
}

/// What an evaluator remembers.
#[derive(Default)]
pub(crate) struct Memory<'a> {
    /// Where the keys of large objects and maps are, by the address of their first entry.
    indexes: HashMap<usize, MapIndex<'a>>,
    /// What folded code gives, by its address.
    folded: HashMap<usize, Answer<'a>>,
    /// What is in base 64 in the document, by its address and length: decoded once, however often it is looked at.
    decoded: HashMap<(usize, usize), Val<'a>>,
    /// The patterns that are not constants and were used last.
    pub(crate) patterns: VecDeque<Dynamic<'a>>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator without a budget: see [`Evaluator::set_budget`].
    pub fn new(shapes: &'a Shapes, arena: &'a Arena) -> Self {
        Self {
            shapes,
            arena,
            budget: 0,
            unpaid: 0,
            stack: SmallVec::new(),
            bindings: Vec::new(),
            memory: RefCell::default(),
        }
    }

    pub(crate) fn memory(&mut self) -> &mut Memory<'a> {
        self.memory.get_mut().get_or_insert_default()
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
        read(*value, shape, self.shapes, || value, |text| self.decode(text))
    }

    #[cold]
    fn decode(&self, text: &'a str) -> Val<'a> {
        let mut memory = self.memory.borrow_mut();
        *memory.get_or_insert_default().decoded.entry((text.as_ptr() as usize, text.len())).or_insert_with(|| {
            match wheelwright_text::base64::decode_field(text.as_bytes()) {
                Some(bytes) => Val::Bytes(self.arena.slice(&bytes)),
                None => Val::Invalid("not base 64"),
            }
        })
    }

    /// Runs an expression with its variables.
    #[inline]
    pub(crate) fn run(&mut self, code: &'a Code, variables: &[Val<'a>]) -> Answer<'a> {
        self.start();
        self.stack.extend_from_slice(variables);
        self.value(code)
    }

    /// Runs an expression with variables that are read right where they are needed: in short expressions, moving them counts.
    #[inline]
    pub(crate) fn run_over<const N: usize>(
        &mut self,
        code: &'a Code,
        variables: [(Value<'a>, ShapeId); N],
        declared: usize,
    ) -> Answer<'a> {
        self.start();
        for (value, shape) in variables {
            match (&self.shapes.get(shape).kind, value) {
                (ShapeKind::String, Value::String(text)) => self.stack.push(Val::String(text.as_str())),
                (ShapeKind::Int, Value::Number(number)) if let Some(integer) = number.as_i64() => {
                    self.stack.push(Val::Int(integer));
                }
                _ => {
                    let place = || &self.arena.slice(&[value])[0];
                    let variable = read(value, shape, self.shapes, place, |text| self.decode(text));
                    self.stack.push(variable);
                }
            }
        }
        // Those of macros come after all that are declared.
        while self.stack.len() < declared {
            self.stack.push(Val::Null);
        }
        self.value(code)
    }

    fn start(&mut self) {
        self.stack.clear();
        self.bindings.clear();
        self.unpaid = 0;
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

    /// Takes something from the budget for work that Kubernetes does for nothing: one for ten steps, so that what is
    /// small costs the same, and nothing large is free.
    #[inline]
    pub(crate) fn work(&mut self, steps: u64) -> Result<(), Failure> {
        let steps = self.unpaid.saturating_add(steps);
        self.unpaid = steps % 10;
        self.charge(steps / 10)
    }

    /// Takes something from the budget for items of a list that Kubernetes makes for nothing, or does not make: as work,
    /// and beyond the first hundred one for each, so that the budget bounds memory, too.
    pub(crate) fn made(&mut self, items: usize) -> Result<(), Failure> {
        const FEW: u64 = 100;
        let items = items as u64;
        self.work(items.min(FEW))?;
        self.charge(items.saturating_sub(FEW))
    }

    /// Takes something from the budget for bytes that are looked at where Kubernetes asks nothing: one for a hundred.
    #[inline]
    pub(crate) fn scanned(&mut self, bytes: usize) -> Result<(), Failure> {
        self.work(bytes as u64 / 10)
    }

    /// The same for a value that is looked at whole if it is a text.
    #[inline]
    pub(crate) fn scanned_text(&mut self, value: Val<'a>) -> Result<(), Failure> {
        match value {
            Val::String(text) => self.scanned(text.len()),
            _ => Ok(()),
        }
    }

    pub(crate) fn value(&mut self, code: &'a Code) -> Answer<'a> {
        match code {
            Code::Constant(constant) => Ok(constant.value()),
            Code::Variable(slot) => {
                self.charge(1)?;
                match self.stack[*slot as usize] {
                    Val::Invalid(why) => self.bound(*slot as usize, why),
                    value => Ok(value),
                }
            }
            Code::Field { operand, name, shape } => {
                let cost = step_cost(operand);
                let operand = self.value(operand)?;
                self.charge(cost)?;
                self.field(operand, name, *shape)
            }
            Code::Key { operand, name } => {
                let cost = step_cost(operand);
                let operand = self.value(operand)?;
                self.charge(cost)?;
                match self.find(operand, name)? {
                    Some(value) => valid(value),
                    None => Err(Failure::lacking(operand, name)),
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
                match operand {
                    Val::String(text) => Ok(Val::Bool(texts.binary_search_by(|one| (**one).cmp(text)).is_ok())),
                    _ => Err(Failure::no_such_overload("in")),
                }
            }
            Code::And(operands) => self.junction(operands, false),
            Code::Or(operands) => self.junction(operands, true),
            Code::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                match self.value(condition)? {
                    Val::Bool(true) => self.nested_path(then),
                    Val::Bool(false) => self.nested_path(otherwise),
                    _ => Err(Failure::no_such_overload("_?_:_")),
                }
            }
            Code::Call(call) => self.call(call),
            Code::OrElse { parts, is_value } => self.or_else(parts, *is_value),
            Code::Folded(code) => self.folded(code),
            Code::Among(parts) => {
                let [operand, list] = &**parts;
                let (operand, list) = (self.value(operand)?, self.value(list)?);
                self.work(list.cost_size())?;
                Ok(Val::Bool(contains(self, list, operand)?))
            }
            Code::List(items) => self.list(items),
            Code::Map(entries) => self.map(entries),
            Code::Comprehension(comprehension) => self.comprehension(comprehension),
            Code::Bind(parts) => {
                let [value, body] = &**parts;
                self.bind(value, body)
            }
            Code::OptionalMap { operand, body, is_flat } => self.optional_map(operand, body, *is_flat),
        }
    }

    /// The value of a branch or an index; if it is a path, the variable that it begins in costs nothing there.
    fn nested_path(&mut self, code: &'a Code) -> Answer<'a> {
        let value = self.value(code)?;
        if code.is_path() {
            self.budget += 1;
        }
        Ok(value)
    }

    /// Nothing, where a step of a path was paid for: one that leads nowhere costs nothing.
    fn no_step(&mut self) -> Val<'a> {
        self.budget += 1;
        Val::Optional(None)
    }

    #[inline(never)]
    fn folded(&mut self, code: &'a Code) -> Answer<'a> {
        let address = std::ptr::from_ref(code) as usize;
        if let Some(value) = self.memory().folded.get(&address) {
            return value.clone();
        }
        let budget = std::mem::replace(&mut self.budget, u64::MAX);
        let value = self.value(code);
        self.budget = budget;
        self.memory().folded.insert(address, value.clone());
        value
    }

    #[inline(never)]
    fn or_else(&mut self, parts: &'a [Code; 2], is_value: bool) -> Answer<'a> {
        let [operand, other] = parts;
        match (self.value(operand)?, is_value) {
            (Val::Optional(None), _) => self.value(other),
            (Val::Optional(Some(value)), true) => Ok(*value),
            (operand @ Val::Optional(Some(_)), false) => Ok(operand),
            _ => Err(Failure::no_such_overload("or")),
        }
    }

    #[inline(never)]
    fn bind(&mut self, value: &'a Code, body: &'a Code) -> Answer<'a> {
        // Each that waits may need the one before it when it is needed itself, deeper and deeper in the stack.
        const MOST_WAITING: usize = 2;
        let binding = match self.bindings.len() < MOST_WAITING {
            true => Err(value),
            false => match self.value(value) {
                Ok(value) => return self.with(value, |evaluator| evaluator.value(body)),
                Err(failure) if failure.is_final() => return Err(failure),
                Err(failure) => Ok(failure),
            },
        };
        self.bindings.push((self.stack.len(), binding));
        let result = self.with(Val::Invalid("not evaluated yet"), |evaluator| evaluator.value(body));
        self.bindings.pop();
        result
    }

    /// The value of a variable that may be bound to code, which runs when the variable is first looked at.
    #[inline(never)]
    fn bound(&mut self, slot: usize, why: &'static str) -> Answer<'a> {
        let Some(at) = self.bindings.iter().rposition(|(bound, _)| *bound == slot) else {
            return valid(Val::Invalid(why));
        };
        let code = match &self.bindings[at].1 {
            Ok(failure) => return Err(failure.clone()),
            Err(code) => *code,
        };
        // The code was checked with the variables before it only, so others must not be in its way.
        let later: SmallVec<[Val<'a>; 8]> = self.stack.drain(slot..).collect();
        let later_bindings = self.bindings.split_off(at);
        let result = self.value(code);
        self.stack.extend(later);
        self.bindings.extend(later_bindings);
        match &result {
            Ok(value) => self.stack[slot] = *value,
            Err(failure) => self.bindings[at].1 = Ok(failure.clone()),
        }
        result
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
        // Most calls have one argument or two, and room for more would have to be cleared every time.
        match &*call.arguments {
            [only] => match self.argument(call, 0, only) {
                Ok(argument) => self.apply(call, &[argument]),
                failed => failed,
            },
            // Constants are taken as they are: moving a value takes longer than to make it.
            [Code::Constant(first), second] => match self.argument(call, 1, second) {
                Ok(second) => self.apply(call, &[first.value(), second]),
                failed => failed,
            },
            [first, Code::Constant(second)] => match self.argument(call, 0, first) {
                Ok(first) => self.apply(call, &[first, second.value()]),
                failed => failed,
            },
            [first, second] => {
                let first = self.argument(call, 0, first)?;
                let second = self.argument(call, 1, second)?;
                self.apply(call, &[first, second])
            }
            arguments => {
                let mut room = [Val::Null; MOST_ARGUMENTS];
                for (at, code) in arguments.iter().enumerate() {
                    room[at] = self.argument(call, at, code)?;
                }
                self.apply(call, &room[..arguments.len()])
            }
        }
    }

    #[inline]
    fn argument(&mut self, call: &Call, at: usize, code: &'a Code) -> Answer<'a> {
        let value = if call.is_index && at == 1 { self.nested_path(code) } else { self.value(code) };
        if value.is_err() {
            // A call that gets a failure is still one.
            self.charge(1)?;
        }
        value
    }

    fn apply(&mut self, call: &'a Call, arguments: &[Val<'a>]) -> Answer<'a> {
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
        if call.is_index {
            return self.apply_index(call, overload, arguments);
        }
        overload.cost.charge(self, arguments, 0)?;
        (overload.run)(self, arguments)
    }

    fn apply_index(&mut self, call: &'a Call, overload: &Overload, arguments: &[Val<'a>]) -> Answer<'a> {
        overload.cost.charge(self, arguments, step_cost(&call.arguments[0]) - 1)?;
        let result = (overload.run)(self, arguments)?;
        Ok(if matches!(result, Val::Optional(None)) { self.no_step() } else { result })
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
            self.scanned_text(key)?;
            match (self.value(value)?, is_optional) {
                (value, false) => map.insert(key, value)?,
                (Val::Optional(value), true) => value.map_or(Ok(()), |value| map.insert(key, *value))?,
                _ => return Err(Failure::no_such_overload("{?_: _}")),
            }
        }
        Ok(map.finish(self.arena))
    }
}

/// What a step of a path costs; one that begins in something made costs one more, as the path is looked at as a whole.
#[inline]
fn step_cost(operand: &Code) -> u64 {
    if operand.is_step() { 1 } else { 2 }
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
