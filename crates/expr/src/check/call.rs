//! Calls: which overloads of a function fit.

use std::ops::Range;

use wheelwright_document::Arena;
use wheelwright_text::Pattern;

use super::{Checker, DYN_AROUND_ONE, Typed, describe};
use crate::{
    Failure, Type,
    ast::{Expr, Literal, Node},
    code::{Call, Code, Constant},
    evaluate::{Evaluator, MOST_ARGUMENTS},
    library::{self, Origin, Overload},
};

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        expr: &Expr,
        function: &str,
        name_at: &Range<u32>,
        target: Option<&Expr>,
        arguments: &[Expr],
    ) -> Typed {
        let Some(target) = target else {
            let name = function.strip_prefix('.').unwrap_or(function);
            return self.resolve(name, name_at, expr, &arguments.iter().collect::<Vec<_>>(), false);
        };
        if let Some(namespace) = self.qualified(target) {
            let name = format!("{namespace}.{function}");
            if library::overloads(&name).iter().any(|overload| !overload.is_member) {
                return self.resolve(&name, name_at, expr, &arguments.iter().collect::<Vec<_>>(), false);
            }
        }
        let all: Vec<_> = std::iter::once(target).chain(arguments).collect();
        self.resolve(function, name_at, expr, &all, true)
    }

    pub(super) fn operator(&mut self, name: &str, expr: &Expr, operands: &[&Expr]) -> Typed {
        self.resolve(name, &expr.at, expr, operands, false)
    }

    fn resolve(
        &mut self,
        name: &str,
        name_at: &Range<u32>,
        expr: &Expr,
        arguments: &[&Expr],
        is_member: bool,
    ) -> Typed {
        let overloads = library::overloads(name);
        if overloads.is_empty() {
            return self.mistake(name_at, format!("there is no function `{name}`{}", suggestion(name)));
        }
        let typed: Vec<_> = arguments.iter().map(|argument| self.expr(argument)).collect();
        if typed.len() > MOST_ARGUMENTS {
            return self.mistake(&expr.at, format!("`{name}` takes fewer arguments"));
        }
        let types: Vec<_> = typed.iter().map(|typed| self.types.shallow(&typed.r#type)).collect();
        let mut fitting: Vec<&'static Overload> = Vec::new();
        let mut result: Option<Type> = None;
        for overload in overloads.iter().copied() {
            if overload.is_member != is_member || overload.parameters.len() != types.len() {
                continue;
            }
            let mark = self.types.mark();
            let (a, b) = (self.types.fresh(), self.types.fresh());
            let mut parameters = overload.parameters.iter().zip(&types);
            let fits = parameters.all(|(parameter, given)| self.types.assign(&parameter.to_type(&a, &b), given));
            // What the first that fits says about types is kept.
            if !fits || result.is_some() {
                self.types.rollback(mark);
            }
            if !fits {
                continue;
            }
            let gives = overload.result.to_type(&a, &b);
            result = Some(match result {
                None => gives,
                Some(known) if known == gives => known,
                Some(_) => Type::Dyn,
            });
            fitting.push(overload);
        }
        let Some(result) = result.filter(|_| !self.types.is_too_large) else {
            return self.no_overload(name, name_at, &types, is_member);
        };
        // Kubernetes takes the call if any function that it has may turn out to fit.
        if fitting.iter().all(|overload| overload.origin == Origin::Elsewhere) {
            self.foreign.push((fitting[0].name, name_at.clone()));
        }
        if let [only] = *fitting {
            self.called.push(only);
        }
        let pattern = match self.constant_pattern(name, arguments) {
            Ok(pattern) => pattern,
            Err(typed) => return typed,
        };
        if let ("format", true, [text, values]) = (name, is_member, arguments)
            && let Err(typed) = self.constant_format(text, values, &types[1])
        {
            return typed;
        }
        // What is known of the arguments decides, unless some may turn out to be something else.
        let overloads = fitting.into();
        let arguments: Box<[Code]> = typed.into_iter().map(|typed| typed.code).collect();
        let arguments = match (name, <Box<[Code; 2]>>::try_from(arguments)) {
            ("or" | "orValue", Ok(parts)) if is_member => {
                return Typed::new(Code::OrElse { parts, is_value: name == "orValue" }, result);
            }
            ("in", Ok(parts)) if parts[1].is_set() => return Typed::new(among(parts, &types[0]), result),
            (_, Ok(parts)) => parts as Box<[Code]>,
            (_, Err(arguments)) => arguments,
        };
        let is_index = matches!(name, "_[_]" | "_[?_]");
        let call = Call { name: name.into(), overloads, arguments, is_index, pattern };
        let code = Code::Call(Box::new(call)).folded();
        match self.constant_failure(&code) {
            Some(failure) => self.mistake(&expr.at, format!("this always fails: {failure}")),
            None => Typed::new(code, result),
        }
    }

    /// Why the conversion of a constant fails, if it does; Kubernetes converts it when it compiles, too.
    fn constant_failure(&self, code: &Code) -> Option<Failure> {
        let Code::Folded(conversion) = code else { return None };
        let arena = Arena::new();
        let mut evaluator = Evaluator::new(self.shapes, &arena);
        evaluator.set_budget(u64::MAX);
        evaluator.run(conversion, &[]).err()
    }

    fn no_overload(&mut self, name: &str, at: &Range<u32>, types: &[Type], is_member: bool) -> Typed {
        let resolved: Vec<_> = types.iter().map(|r#type| self.types.resolved(r#type)).collect();
        if let ("==" | "!=", [left, right]) = (name, &resolved[..]) {
            let (left, right) = (describe(left), describe(right));
            let message = format!("`{name}` compares values of one type, but these are {left} and {right}");
            return self.mixed_types(at, message, DYN_AROUND_ONE);
        }
        let given: Vec<_> = resolved.iter().map(ToString::to_string).collect();
        let signatures = library::overloads(name).iter().map(|overload| {
            let parameters: Vec<_> = overload
                .parameters
                .iter()
                .map(|kind| kind.to_type(&Type::Variable(0), &Type::Variable(1)).to_string())
                .collect();
            match overload.is_member {
                true => format!("{}.{name}({})", parameters[0], parameters[1..].join(", ")),
                false => format!("({})", parameters.join(", ")),
            }
        });
        const MOST: usize = 6;
        let mut known: Vec<_> = signatures.collect();
        known.dedup();
        if known.len() > MOST {
            known.truncate(MOST);
            known.push("…".to_owned());
        }
        let given = match is_member {
            true => format!("{}.{name}({})", given[0], given[1..].join(", ")),
            false => format!("({})", given.join(", ")),
        };
        self.mistake(at, format!("`{name}` does not take {given}; it takes {}", known.join(" or ")))
    }

    /// The pattern of `matches`, `find` and `findAll`, if it is a constant; one that is no pattern is a mistake.
    fn constant_pattern(&mut self, name: &str, arguments: &[&Expr]) -> Result<Option<Pattern>, Typed> {
        let (true, Some(argument)) = (matches!(name, "matches" | "find" | "findAll"), arguments.get(1)) else {
            return Ok(None);
        };
        let Node::Literal(Literal::String(text)) = &argument.node else { return Ok(None) };
        Pattern::from_go(text).map(Some).map_err(|error| self.mistake(&argument.at, error.to_string()))
    }

    /// A constant text that cannot be formatted with the values listed after it is a mistake.
    fn constant_format(&mut self, text: &Expr, values: &Expr, r#type: &Type) -> Result<(), Typed> {
        let (Node::Literal(Literal::String(text)), Node::List(items)) = (&text.node, &values.node) else {
            return Ok(());
        };
        let item_type = match r#type {
            Type::List(item) => self.types.resolved(item),
            _ => Type::Dyn,
        };
        let types: Vec<_> = items
            .iter()
            .map(|(item, _)| match &item.node {
                Node::Literal(literal) => self.literal(literal).r#type,
                _ => item_type.clone(),
            })
            .collect();
        library::check_format(text, &types).map_err(|(message, item)| {
            let at = item.map_or(&values.at, |item| &items[item].0.at);
            self.mistake(at, message)
        })
    }
}

/// `operand in list` for a folded list, which is not made anew every time if all are texts.
fn among(parts: Box<[Code; 2]>, operand: &Type) -> Code {
    match constant_texts(&parts[1]) {
        Some(texts) if *operand == Type::String => {
            let [operand, _] = *parts;
            Code::OneOf { operand: Box::new(operand), texts }
        }
        _ => Code::Among(parts),
    }
}

/// The texts of a folded list that holds nothing else, in their order.
fn constant_texts(list: &Code) -> Option<Box<[Box<str>]>> {
    let Code::Folded(list) = list else { return None };
    let Code::List(items) = &**list else { return None };
    let texts = items.iter().map(|(item, _)| match item {
        Code::Constant(Constant::Literal(Literal::String(text))) => Some(text.clone()),
        _ => None,
    });
    let mut texts = texts.collect::<Option<Box<[_]>>>().filter(|texts| !texts.is_empty())?;
    texts.sort_unstable();
    Some(texts)
}

/// A function that is called almost like a name.
fn suggestion(name: &str) -> String {
    let alike = |candidate: &&str| candidate.eq_ignore_ascii_case(name) || is_one_edit_away(candidate, name);
    match library::names().filter(alike).min() {
        Some(found) => format!("; did you mean `{found}`?"),
        None => String::new(),
    }
}

/// Whether one letter more, less or another turns a name into another.
fn is_one_edit_away(a: &str, b: &str) -> bool {
    let (a, b) = if a.len() <= b.len() { (a.as_bytes(), b.as_bytes()) } else { (b.as_bytes(), a.as_bytes()) };
    if b.len() - a.len() > 1 || a.len() < 3 {
        return false;
    }
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let skip = usize::from(a.len() == b.len());
    a.get(same + skip..) == b.get(same + 1..)
}
