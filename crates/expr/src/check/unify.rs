//! Which types go together, and what type variables stand for.

use crate::Type;

/// How many parts of types are looked at to tell whether two go together; the types of what can be written without
/// repeating types in each other have fewer. Types share parts, so that short sources can have types of any size.
const MOST_PARTS: usize = 1_000;

/// What is known about type variables.
#[derive(Debug, Default)]
pub(super) struct Unifier {
    bindings: Vec<Option<Type>>,
    /// The variables that are bound, in the order in which they were.
    bound: Vec<u32>,
    /// Whether types were too large to tell whether they go together.
    pub(super) is_too_large: bool,
}

/// What was known at some point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    variables: usize,
    bound: usize,
}

impl Unifier {
    /// A type that is yet to be found.
    pub(super) fn fresh(&mut self) -> Type {
        self.bindings.push(None);
        Type::Variable(self.bindings.len() as u32 - 1)
    }

    /// What is known now.
    pub(super) fn mark(&self) -> Mark {
        Mark { variables: self.bindings.len(), bound: self.bound.len() }
    }

    /// Forgets what was learned since a mark.
    pub(super) fn rollback(&mut self, mark: Mark) {
        for at in self.bound.drain(mark.bound..) {
            self.bindings[at as usize] = None;
        }
        self.bindings.truncate(mark.variables);
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

    /// A type with what is known about all its variables; those that nothing is known about can be anything, and so can
    /// what is left out of types that are too large.
    pub(super) fn resolved(&self, r#type: &Type) -> Type {
        self.resolved_within(r#type, &mut { MOST_PARTS })
    }

    fn resolved_within(&self, r#type: &Type, parts: &mut usize) -> Type {
        if !take_part(parts) {
            return Type::Dyn;
        }
        match self.shallow(r#type) {
            Type::Variable(_) => Type::Dyn,
            Type::List(item) => Type::list(self.resolved_within(&item, parts)),
            Type::Map(key, value) => Type::map(self.resolved_within(&key, parts), self.resolved_within(&value, parts)),
            Type::Optional(value) => Type::optional(self.resolved_within(&value, parts)),
            other => other,
        }
    }

    /// Whether a value of one type can stand where another is wanted; learns what variables stand for.
    pub(super) fn assign(&mut self, wanted: &Type, given: &Type) -> bool {
        let mut parts = MOST_PARTS;
        let fits = self.assign_within(wanted, given, &mut parts);
        self.is_too_large |= parts == 0;
        fits && parts > 0
    }

    fn assign_within(&mut self, wanted: &Type, given: &Type, parts: &mut usize) -> bool {
        if !take_part(parts) {
            return false;
        }
        let (wanted, given) = (self.shallow(wanted), self.shallow(given));
        match (&wanted, &given) {
            (Type::Variable(a), Type::Variable(b)) if a == b => true,
            // The younger one stands for the older, so that the items of a list make no chain.
            (Type::Variable(a), Type::Variable(b)) => self.bind(*a.max(b), Type::Variable(*a.min(b))),
            (Type::Variable(at), other) | (other, Type::Variable(at)) => {
                !self.occurs(*at, other, parts) && self.bind(*at, other.clone())
            }
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => self.assign_within(a, b, parts),
            (Type::Map(a, x), Type::Map(b, y)) => self.assign_within(a, b, parts) && self.assign_within(x, y, parts),
            (Type::Null, other) | (other, Type::Null) => is_nullable(other),
            (a, b) => a == b,
        }
    }

    fn bind(&mut self, at: u32, r#type: Type) -> bool {
        self.bindings[at as usize] = Some(r#type);
        self.bound.push(at);
        true
    }

    fn occurs(&self, at: u32, r#type: &Type, parts: &mut usize) -> bool {
        if !take_part(parts) {
            return true;
        }
        match self.shallow(r#type) {
            Type::Variable(other) => at == other,
            Type::List(item) | Type::Optional(item) => self.occurs(at, &item, parts),
            Type::Map(key, value) => self.occurs(at, &key, parts) || self.occurs(at, &value, parts),
            _ => false,
        }
    }
}

/// Counts a part that is to be looked at, and says whether it may be.
fn take_part(parts: &mut usize) -> bool {
    *parts = parts.saturating_sub(1);
    *parts > 0
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
