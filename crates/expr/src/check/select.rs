//! Fields: which ones there are, and what type they have.

use super::{Checker, Typed, describe};
use crate::{
    Type,
    ast::{Expr, Node},
    code::{Code, Constant},
    library,
    shape::{ShapeId, ShapeKind},
};

/// The name of a declared field in documents, and its shape.
type Declared = Option<(Box<str>, ShapeId)>;

impl Checker<'_> {
    pub(super) fn select(&mut self, expr: &Expr, operand: &Expr, field: &str, is_optional: bool) -> Typed {
        if !is_optional
            && let Some(name) = self.qualified(expr)
            && let Some(found) = library::type_named(&name)
        {
            return Typed::new(Code::Constant(Constant::Type(found)), Type::Type);
        }
        let operand_typed = self.expr(operand);
        let operand_type = self.types.shallow(&operand_typed.r#type);
        let operand_code = Box::new(operand_typed.code);
        let (inner, was_optional) = match &operand_type {
            Type::Optional(inner) => (self.types.shallow(inner), true),
            _ => (operand_type, false),
        };
        let Some((r#type, declared)) = self.field(expr, &inner, field) else {
            return Typed::unknown();
        };
        if is_optional || was_optional {
            let (name, shape) = declared.map_or((field.into(), None), |(name, shape)| (name, Some(shape)));
            let code = Code::OptionalKey { operand: operand_code, name, shape };
            return Typed::new(code, if matches!(r#type, Type::Optional(_)) { r#type } else { Type::optional(r#type) });
        }
        let code = match declared {
            Some((name, shape)) => Code::Field { operand: operand_code, name, shape },
            None => Code::Key { operand: operand_code, name: field.into() },
        };
        Typed::new(code, r#type)
    }

    pub(super) fn has(&mut self, expr: &Expr, operand: &Expr, field: &str) -> Typed {
        let operand_typed = self.expr(operand);
        let operand_type = self.types.shallow(&operand_typed.r#type);
        let inner = match &operand_type {
            Type::Optional(inner) => self.types.shallow(inner),
            _ => operand_type,
        };
        let operand = Box::new(operand_typed.code);
        let code = match self.field(expr, &inner, field) {
            Some((_, Some((name, shape)))) => Code::HasField { operand, name, shape },
            _ => Code::HasKey { operand, name: field.into() },
        };
        Typed::new(code, Type::Bool)
    }

    /// The type of a field; of a declared one, also its name in documents and its shape.
    fn field(&mut self, expr: &Expr, operand: &Type, field: &str) -> Option<(Type, Declared)> {
        match operand {
            Type::Object(id) => {
                let ShapeKind::Object(object) = &self.shapes.get(*id).kind else { return None };
                match object.selected(field) {
                    Some(found) => {
                        let r#type = Type::of_shape(self.shapes, found.shape);
                        Some((r#type, Some((found.name.clone(), found.shape))))
                    }
                    None => {
                        let mut names: Vec<_> = object.names().map(|name| format!("`{name}`")).collect();
                        names.sort_unstable();
                        const MOST: usize = 12;
                        if names.len() > MOST {
                            names.truncate(MOST);
                            names.push("…".to_owned());
                        }
                        let known = if names.is_empty() { "no field".to_owned() } else { names.join(", ") };
                        self.mistake(&expr.at, format!("the schema has no field `{field}` here; it has {known}"));
                        None
                    }
                }
            }
            Type::Map(key, value) => {
                if !self.types.assign(&Type::String, key) {
                    self.mistake(&expr.at, "only maps with string keys have fields; use `[…]`");
                }
                Some((self.types.shallow(value), None))
            }
            Type::Dyn | Type::Variable(_) => Some((Type::Dyn, None)),
            other => {
                let found = describe(&self.types.resolved(other));
                self.mistake(&expr.at, format!("`.{field}` needs an object or a map, but this is {found}"));
                None
            }
        }
    }

    /// The dotted name that an expression spells, unless its first part is a variable.
    pub(super) fn qualified(&self, expr: &Expr) -> Option<String> {
        match &expr.node {
            Node::Name(name) => {
                let is_variable = self.scope.iter().any(|(variable, _)| variable == name);
                (!is_variable).then(|| name.strip_prefix('.').unwrap_or(name).to_owned())
            }
            Node::Select { operand, field, is_optional: false } => {
                Some(format!("{}.{field}", self.qualified(operand)?))
            }
            _ => None,
        }
    }
}
