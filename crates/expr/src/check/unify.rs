//! Which types go together, and what type variables stand for.

use crate::Type;

/// What is known about type variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Unifier {
    bindings: Vec<Option<Type>>,
}

impl Unifier {
    /// A type that is yet to be found.
    pub(super) fn fresh(&mut self) -> Type {
        self.bindings.push(None);
        Type::Variable(self.bindings.len() as u32 - 1)
    }

    /// A type with what is known so far about the variables at its outside.
    pub(super) fn shallow(&self, r#type: &Type) -> Type {
        let mut r#type = r#type;
        while let Type::Variable(at) = r#type
            && let Some(bound) = &self.bindings[*at as usize]
        {
            r#type = bound;
        }
        r#type.clone()
    }

    /// A type with what is known about all its variables; those that nothing is known about can be anything.
    pub(super) fn resolved(&self, r#type: &Type) -> Type {
        match self.shallow(r#type) {
            Type::Variable(_) => Type::Dyn,
            Type::List(item) => Type::list(self.resolved(&item)),
            Type::Map(key, value) => Type::map(self.resolved(&key), self.resolved(&value)),
            Type::Optional(value) => Type::optional(self.resolved(&value)),
            other => other,
        }
    }

    /// Whether a value of one type can stand where another is wanted; learns what variables stand for.
    pub(super) fn assign(&mut self, wanted: &Type, given: &Type) -> bool {
        let (wanted, given) = (self.shallow(wanted), self.shallow(given));
        match (&wanted, &given) {
            (Type::Variable(a), Type::Variable(b)) if a == b => true,
            (Type::Variable(at), other) | (other, Type::Variable(at)) => self.bind(*at, other),
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => self.assign(a, b),
            (Type::Map(a, x), Type::Map(b, y)) => self.assign(a, b) && self.assign(x, y),
            (Type::Null, other) | (other, Type::Null) => is_nullable(other),
            (a, b) => a == b,
        }
    }

    fn bind(&mut self, at: u32, r#type: &Type) -> bool {
        if self.occurs(at, r#type) {
            return false;
        }
        self.bindings[at as usize] = Some(r#type.clone());
        true
    }

    fn occurs(&self, at: u32, r#type: &Type) -> bool {
        match self.shallow(r#type) {
            Type::Variable(other) => at == other,
            Type::List(item) | Type::Optional(item) => self.occurs(at, &item),
            Type::Map(key, value) => self.occurs(at, &key) || self.occurs(at, &value),
            _ => false,
        }
    }
}

/// Scalars and collections are never null; a field that can be is absent instead.
fn is_nullable(r#type: &Type) -> bool {
    !matches!(
        r#type,
        Type::Bool
            | Type::Int
            | Type::Uint
            | Type::Double
            | Type::String
            | Type::Bytes
            | Type::List(_)
            | Type::Map(..)
            | Type::Type
    )
}
