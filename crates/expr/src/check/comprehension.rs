//! The macros that go through a list or a map.

use super::{Checker, Typed, describe};
use crate::{
    Type,
    ast::{Comprehension, Macro},
    code::{self, Code},
};

impl Checker<'_> {
    pub(super) fn comprehension(&mut self, comprehension: &Comprehension) -> Typed {
        let range = self.expr(&comprehension.range);
        let range_type = self.types.shallow(&range.r#type);
        if comprehension.kind == Macro::SortBy && matches!(range_type, Type::Map(..)) {
            let found = describe(&self.types.resolved(&range_type));
            return self.mistake(&comprehension.range.at, format!("this must be a list, not {found}"));
        }
        let (first, second) = match (&range_type, &comprehension.second) {
            (Type::List(item), None) => ((**item).clone(), None),
            (Type::List(item), Some(_)) => (Type::Int, Some((**item).clone())),
            (Type::Map(key, value), second) => ((**key).clone(), second.as_ref().map(|_| (**value).clone())),
            (Type::Dyn | Type::Variable(_), second) => (Type::Dyn, second.as_ref().map(|_| Type::Dyn)),
            (other, _) => {
                let found = describe(&self.types.resolved(other));
                return self.mistake(&comprehension.range.at, format!("this must be a list or a map, not {found}"));
            }
        };
        let depth = self.scope.len();
        self.scope.push((comprehension.variable.clone(), first.clone()));
        if let (Some(name), Some(r#type)) = (&comprehension.second, second) {
            self.scope.push((name.clone(), r#type));
        }
        let condition = comprehension.condition.as_ref().map(|condition| self.condition(condition));
        let transform = comprehension.transform.as_ref().map(|transform| self.expr(transform));
        self.scope.truncate(depth);

        if let (Macro::SortBy, Some(key), Some(expr)) = (comprehension.kind, &transform, &comprehension.transform) {
            let key = self.types.resolved(&key.r#type);
            if !has_order(&key) {
                return self
                    .mistake(&expr.at, format!("this must be of a type that has an order, not {}", describe(&key)));
            }
        }
        let transformed = transform.as_ref().map_or(Type::Dyn, |transform| transform.r#type.clone());
        let r#type = match comprehension.kind {
            Macro::All | Macro::Exists | Macro::ExistsOne => Type::Bool,
            Macro::Filter | Macro::SortBy => Type::list(first),
            Macro::Map | Macro::TransformList => Type::list(transformed),
            Macro::TransformMap => Type::map(first, transformed),
            Macro::TransformMapEntry => match self.types.shallow(&transformed) {
                Type::Dyn => Type::map(Type::Dyn, Type::Dyn),
                entry @ Type::Map(..) => entry,
                other => {
                    let found = describe(&self.types.resolved(&other));
                    let at = comprehension.transform.as_ref().map_or(&comprehension.range.at, |expr| &expr.at);
                    return self.mistake(&at.clone(), format!("this must be a map of one entry, not {found}"));
                }
            },
        };
        let code = Code::Comprehension(Box::new(code::Comprehension {
            kind: comprehension.kind,
            range: range.code,
            has_second: comprehension.second.is_some(),
            condition,
            transform: transform.map(|transform| transform.code),
        }));
        Typed::new(code, r#type)
    }
}

fn has_order(r#type: &Type) -> bool {
    matches!(
        r#type,
        Type::Dyn
            | Type::Int
            | Type::Uint
            | Type::Double
            | Type::Bool
            | Type::Duration
            | Type::Timestamp
            | Type::String
            | Type::Bytes
    )
}
