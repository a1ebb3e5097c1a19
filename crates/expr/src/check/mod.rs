//! Types an expression against a schema, and turns it into code.

mod call;
mod comprehension;
mod select;
mod unify;

use std::{mem, ops::Range};

use unify::Unifier;

use crate::{
    Type,
    ast::{Expr, Literal, Node, Unary},
    code::{Code, Constant},
    library,
    shape::{ShapeId, Shapes},
};

/// Something in an expression that cannot be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The bytes of the source that it is about.
    pub at: Range<u32>,
    /// What is wrong.
    pub message: String,
    /// A way to fix it, where one is known.
    pub remedy: Option<&'static str>,
}

/// How to mix values of several types in one list, map or conditional.
const DYN_AROUND_THIS: &str = "if values of several types are meant, write `dyn(…)` around this one";
/// How to compare values of two types.
const DYN_AROUND_ONE: &str = "if values of two types are meant, write `dyn(…)` around one of them";

/// What an expression can name, besides functions.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Box<str>,
    /// Its type.
    pub r#type: Type,
    /// The shape of its values, if they come from a document.
    pub shape: Option<ShapeId>,
}

/// How many mistakes are reported; what follows the last is not looked at.
const MOST_MISTAKES: usize = 20;

/// An expression that has been checked.
pub(crate) struct Checked {
    pub(crate) code: Code,
    pub(crate) r#type: Type,
    /// Which of the given variables it uses.
    pub(crate) uses: Vec<bool>,
    /// The functions it uses that Kubernetes does not have, with their places.
    pub(crate) foreign: Vec<(&'static str, Range<u32>)>,
    /// The overloads it calls, where types tell which.
    pub(crate) called: Vec<&'static library::Overload>,
}

/// Checks an expression.
pub(crate) fn check(expr: &Expr, shapes: &Shapes, variables: &[Variable]) -> Result<Checked, Vec<Mistake>> {
    let mut checker = Checker {
        shapes,
        scope: variables.iter().map(|variable| (variable.name.clone(), variable.r#type.clone())).collect(),
        given: variables.len(),
        uses: vec![false; variables.len()],
        types: Unifier::default(),
        mistakes: Vec::new(),
        foreign: Vec::new(),
        called: Vec::new(),
    };
    let Typed { code, r#type } = checker.expr(expr);
    if !checker.mistakes.is_empty() {
        return Err(checker.mistakes);
    }
    let r#type = checker.types.resolved(&r#type);
    Ok(Checked { code, r#type, uses: checker.uses, foreign: checker.foreign, called: checker.called })
}

struct Checker<'s> {
    shapes: &'s Shapes,
    /// Variables from the outermost to the innermost; their positions are their slots.
    scope: Vec<(Box<str>, Type)>,
    given: usize,
    uses: Vec<bool>,
    types: Unifier,
    mistakes: Vec<Mistake>,
    foreign: Vec<(&'static str, Range<u32>)>,
    called: Vec<&'static library::Overload>,
}

/// Code and the type of what it gives.
struct Typed {
    code: Code,
    r#type: Type,
}

impl Typed {
    fn new(code: Code, r#type: Type) -> Self {
        Self { code, r#type }
    }

    /// What stands for a part that is not right.
    fn unknown() -> Self {
        Self::new(Code::Constant(Constant::Literal(Literal::Null)), Type::Dyn)
    }
}

impl Checker<'_> {
    fn expr(&mut self, expr: &Expr) -> Typed {
        // To describe what is wrong takes longer than to find out.
        if self.mistakes.len() == MOST_MISTAKES {
            return Typed::unknown();
        }
        match &expr.node {
            Node::Literal(literal) => self.literal(literal),
            Node::Name(name) => self.name(name, expr),
            Node::Select { operand, field, is_optional } => self.select(expr, operand, field, *is_optional),
            Node::Has { operand, field } => self.has(expr, operand, field),
            Node::Index { operand, index, is_optional } => {
                let function = if *is_optional { "_[?_]" } else { "_[_]" };
                self.operator(function, expr, &[operand, index])
            }
            Node::Unary { operator: Unary::Not, operand } => self.operator("!_", expr, &[operand]),
            Node::Unary { operator: Unary::Negate, operand } => self.operator("-_", expr, &[operand]),
            Node::Binary { operator, left, right } => self.operator(operator.symbol(), expr, &[left, right]),
            Node::And(operands) => {
                let operands = operands.iter().map(|operand| self.condition(operand)).collect();
                Typed::new(Code::And(operands), Type::Bool)
            }
            Node::Or(operands) => {
                let operands = operands.iter().map(|operand| self.condition(operand)).collect();
                Typed::new(Code::Or(operands), Type::Bool)
            }
            Node::Conditional { condition, then, otherwise } => self.conditional(condition, then, otherwise),
            Node::Call { function, name_at, target, arguments } => {
                self.call(expr, function, name_at, target.as_deref(), arguments)
            }
            Node::List(items) => self.list(items),
            Node::Map(entries) => self.map(entries),
            Node::Message { name, .. } => {
                self.mistake(&expr.at, format!("there is no message type `{name}` in a schema"))
            }
            Node::Comprehension(comprehension) => self.comprehension(comprehension),
            Node::Bind { name, value, body } => {
                self.foreign.push(("cel.bind", expr.at.clone()));
                let value = self.expr(value);
                let body = self.with(name, value.r#type, |checker| checker.expr(body));
                Typed::new(Code::Bind(Box::new([value.code, body.code])), body.r#type)
            }
            Node::OptionalMap { operand, name, body, is_flat } => self.optional_map(operand, name, body, *is_flat),
        }
    }

    /// Writes a mistake down and goes on as if the part could be anything, so that one mistake is reported once.
    fn mistake(&mut self, at: &Range<u32>, message: impl Into<String>) -> Typed {
        let message = match mem::take(&mut self.types.is_too_large) {
            true => "the type of this is too large; use `dyn(…)` for parts of it".to_owned(),
            false => message.into(),
        };
        if self.mistakes.len() < MOST_MISTAKES {
            self.mistakes.push(Mistake { at: at.clone(), message, remedy: None });
        }
        Typed::unknown()
    }

    /// Values of several types where one type is required, with the remedy.
    fn mixed_types(&mut self, at: &Range<u32>, message: String, remedy: &'static str) -> Typed {
        let (earlier, is_too_large) = (self.mistakes.len(), self.types.is_too_large);
        let typed = self.mistake(at, message);
        if let (Some(mistake), false) = (self.mistakes.get_mut(earlier), is_too_large) {
            mistake.remedy = Some(remedy);
        }
        typed
    }

    fn literal(&mut self, literal: &Literal) -> Typed {
        Typed::new(Code::Constant(Constant::Literal(literal.clone())), Type::of_literal(literal))
    }

    fn name(&mut self, name: &str, expr: &Expr) -> Typed {
        if let Some(found) = self.variable(name) {
            return found;
        }
        if let Some(found) = library::type_named(name.strip_prefix('.').unwrap_or(name)) {
            return Typed::new(Code::Constant(Constant::Type(found)), Type::Type);
        }
        let known: Vec<_> = self.scope.iter().map(|(name, _)| format!("`{name}`")).collect();
        self.mistake(&expr.at, format!("nothing is called `{name}` here; there is {}", known.join(", ")))
    }

    fn variable(&mut self, name: &str) -> Option<Typed> {
        let is_global = name.starts_with('.');
        let name = name.strip_prefix('.').unwrap_or(name);
        let scope = if is_global { &self.scope[..self.given] } else { &self.scope[..] };
        let slot = scope.iter().rposition(|(candidate, _)| **candidate == *name)?;
        if let Some(uses) = self.uses.get_mut(slot) {
            *uses = true;
        }
        Some(Typed::new(Code::Variable(slot as u32), self.scope[slot].1.clone()))
    }

    /// Checks something with one more variable.
    fn with<T>(&mut self, name: &str, r#type: Type, check: impl FnOnce(&mut Self) -> T) -> T {
        self.scope.push((name.into(), r#type));
        let result = check(self);
        self.scope.pop();
        result
    }

    /// Something that must be true or false.
    fn condition(&mut self, expr: &Expr) -> Code {
        let Typed { code, r#type } = self.expr(expr);
        if !self.types.assign(&Type::Bool, &r#type) {
            let r#type = self.types.resolved(&r#type);
            self.mistake(&expr.at, format!("this must be a bool, not {}", describe(&r#type)));
        }
        code
    }

    fn conditional(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Typed {
        let condition = self.condition(condition);
        let then_typed = self.expr(then);
        let otherwise_typed = self.expr(otherwise);
        let r#type = self.join(&then_typed.r#type, &otherwise_typed.r#type);
        let Some(r#type) = r#type else {
            let [a, b] = [&then_typed, &otherwise_typed].map(|typed| self.types.resolved(&typed.r#type));
            let message = format!(
                "both branches must have one type, but this is {} and the other {}",
                describe(&b),
                describe(&a)
            );
            return self.mixed_types(&otherwise.at, message, DYN_AROUND_THIS);
        };
        Typed::new(Code::Conditional(Box::new([condition, then_typed.code, otherwise_typed.code])), r#type)
    }

    /// The type that covers two types, if they go together.
    fn join(&mut self, a: &Type, b: &Type) -> Option<Type> {
        self.types.assign(a, b).then(|| match (self.types.shallow(a), self.types.shallow(b)) {
            (Type::Dyn, _) | (_, Type::Dyn) => Type::Dyn,
            (Type::Null, other) => other,
            (other, _) => other,
        })
    }

    fn list(&mut self, items: &[(Expr, bool)]) -> Typed {
        let mut item_type = self.types.fresh();
        let mut codes = Vec::with_capacity(items.len());
        for (item, is_optional) in items {
            let Typed { code, r#type } = self.element(item, *is_optional);
            match self.join(&item_type, &r#type) {
                Some(joined) => item_type = joined,
                None => {
                    let [known, found] = [&item_type, &r#type].map(|r#type| self.types.resolved(r#type));
                    let message = format!(
                        "all items must have one type, but this is {} and those before it {}",
                        describe(&found),
                        describe(&known)
                    );
                    self.mixed_types(&item.at, message, DYN_AROUND_THIS);
                }
            }
            codes.push((code, *is_optional));
        }
        Typed::new(Code::List(codes.into()).folded(), Type::list(item_type))
    }

    fn map(&mut self, entries: &[(Expr, Expr, bool)]) -> Typed {
        let (mut key_type, mut value_type) = (self.types.fresh(), self.types.fresh());
        let mut codes = Vec::with_capacity(entries.len());
        for (key, value, is_optional) in entries {
            let key_typed = self.expr(key);
            let value_typed = self.element(value, *is_optional);
            for (expr, known, typed) in [(key, &mut key_type, &key_typed), (value, &mut value_type, &value_typed)] {
                match self.join(known, &typed.r#type) {
                    Some(joined) => *known = joined,
                    None => {
                        let [known, found] = [&*known, &typed.r#type].map(|r#type| self.types.resolved(r#type));
                        let message = format!(
                            "all keys and all values must have one type each, but this is {} and those before it {}",
                            describe(&found),
                            describe(&known)
                        );
                        self.mixed_types(&expr.at, message, DYN_AROUND_THIS);
                    }
                }
            }
            codes.push((key_typed.code, value_typed.code, *is_optional));
        }
        Typed::new(Code::Map(codes.into()).folded(), Type::map(key_type, value_type))
    }

    /// An item or a value; what is optional is there only if it has a value.
    fn element(&mut self, expr: &Expr, is_optional: bool) -> Typed {
        let typed = self.expr(expr);
        if !is_optional {
            return typed;
        }
        let value = self.types.fresh();
        if !self.types.assign(&Type::optional(value.clone()), &typed.r#type) {
            let found = self.types.resolved(&typed.r#type);
            return self.mistake(&expr.at, format!("what follows `?` must be optional, not {}", describe(&found)));
        }
        Typed::new(typed.code, value)
    }

    fn optional_map(&mut self, operand: &Expr, name: &str, body: &Expr, is_flat: bool) -> Typed {
        let operand_typed = self.expr(operand);
        let value = self.types.fresh();
        if !self.types.assign(&Type::optional(value.clone()), &operand_typed.r#type) {
            let found = self.types.resolved(&operand_typed.r#type);
            return self.mistake(&operand.at, format!("this must be optional, not {}", describe(&found)));
        }
        let body_typed = self.with(name, value, |checker| checker.expr(body));
        let r#type = if is_flat {
            let inner = Type::optional(self.types.fresh());
            if !self.types.assign(&inner, &body_typed.r#type) {
                let found = self.types.resolved(&body_typed.r#type);
                return self.mistake(&body.at, format!("this must be optional, not {}", describe(&found)));
            }
            inner
        } else {
            Type::optional(body_typed.r#type)
        };
        let code =
            Code::OptionalMap { operand: Box::new(operand_typed.code), body: Box::new(body_typed.code), is_flat };
        Typed::new(code, r#type)
    }
}

/// A type in words: `a string`, `an int`.
pub(crate) fn describe(r#type: &Type) -> String {
    let text = r#type.to_string();
    let article = if text.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    match r#type {
        Type::Null => "null".to_owned(),
        Type::Dyn | Type::Variable(_) => "of any type".to_owned(),
        _ => format!("{article} {text}"),
    }
}
