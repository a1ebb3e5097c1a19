//! What calls of functions and operators cost, and how large their results are.

use super::{
    CostEstimate, Estimator, FREE, ONE, Part, Place,
    range::{CHARACTER, PATTERN_CHARACTER, Size},
    total,
};
use crate::{
    Type,
    ast::Literal,
    code::{Call, Code, Constant},
    library::{Kind, Overload},
};

/// How many characters the pattern of a named format is taken to have.
const FORMAT_PATTERN: f64 = 128.0;
/// How many characters a named format is taken to have.
const FORMAT: Size = Size { min: 1, max: 64 };
/// A call that makes a list.
const NEW_LIST: CostEstimate = CostEstimate { min: 11, max: 11 };
/// How many bytes an address has.
const ADDRESS: Size = Size { min: 4, max: 16 };

impl Estimator<'_> {
    pub(super) fn call(&mut self, call: &Call) -> Part {
        let arguments: Vec<_> = call.arguments.iter().map(|argument| self.part(argument)).collect();
        let mut costs: Option<CostEstimate> = None;
        let mut size: Option<Size> = None;
        let mut r#type: Option<Type> = None;
        for overload in &call.overloads {
            let (cost, result) = self.overload(call, overload, &arguments);
            costs = Some(costs.map_or(cost, |known| known.or(cost)));
            size = match (size, result) {
                (Some(known), Some(other)) => Some(known.or(other)),
                (known, other) => known.or(other),
            };
            let gives = result_type(overload, &arguments);
            r#type = Some(match r#type {
                Some(known) if known != gives => Type::Dyn,
                _ => gives,
            });
        }
        let cost = total(&arguments).plus(costs.unwrap_or(FREE));
        let r#type = r#type.unwrap_or(Type::Dyn);
        match (&*call.name, &*arguments) {
            ("_[_]", [container, _]) if !matches!(container.r#type, Type::Optional(_)) => {
                let part = self.new_part(cost, r#type, self.element(container.place));
                Part { size: container.entries.map(|entries| entries.value).or(part.size), ..part }
            }
            ("dyn", [argument]) => {
                let part = self.new_part(cost, Type::Dyn, Place::Nowhere);
                Part { size: argument.size, entries: argument.entries, ..part }
            }
            _ => {
                let part = self.new_part(cost, r#type, Place::Nowhere);
                Part { size: size.or(part.size), entries: concatenated(call, &arguments), ..part }
            }
        }
    }

    /// What one overload costs besides its arguments, and how large its result is, if that is known.
    fn overload(&self, call: &Call, overload: &Overload, arguments: &[Part]) -> (CostEstimate, Option<Size>) {
        let size = |at: usize| arguments.get(at).map_or(Size::exactly(0), Part::size_or_unknown);
        let text = |at: usize| size(at).scaled(CHARACTER);
        let takes = |at: usize, kind: Kind| overload.parameters.get(at) == Some(&kind);
        match (&*call.name, overload.is_member) {
            ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", true) => {
                (self.traversal(&arguments[0]), None)
            }
            ("slice" | "flatten" | "reverse", true) if matches!(overload.parameters[0], Kind::List(_)) => {
                (NEW_LIST.plus(size(0)), Some(size(0)))
            }
            ("lists.range", _) => {
                let length = match call.arguments.first() {
                    Some(Code::Constant(Constant::Literal(Literal::Int(length)))) => {
                        Size::exactly(u64::try_from(*length).unwrap_or(0))
                    }
                    _ => Size { min: 0, max: u64::MAX },
                };
                (NEW_LIST.plus(length), Some(length))
            }
            ("distinct" | "sort", true) => (NEW_LIST.plus(size(0).times(size(0)).scaled(2.0)), Some(size(0))),
            ("url", _) | ("lowerAscii" | "upperAscii" | "substring" | "trim", true) => (text(0), Some(size(0))),
            ("replace", true) => (size(0).scaled(2.0 * CHARACTER), Some(replaced(size(0), size(1), size(2)))),
            ("split", true) => {
                let max = match call.arguments.get(2) {
                    Some(Code::Constant(Constant::Literal(Literal::Int(limit)))) => *limit as u64,
                    _ => size(0).max,
                };
                (size(0).scaled(2.0 * CHARACTER), Some(Size { min: 0, max }))
            }
            ("join", true) => {
                let result = self.joined_size(&arguments[0], size(0), arguments.get(1).map(Part::size_or_unknown));
                (result.scaled(CHARACTER), Some(result))
            }
            ("find" | "findAll", true) => (pattern(size(0), size(1)), Some(Size { min: 0, max: size(0).max })),
            ("matches", true) => (pattern(size(0), size(1)), None),
            ("ip", false) | ("cidr" | "isIP" | "isCIDR" | "quantity" | "isQuantity" | "semver" | "isSemver", _) => {
                (text(0), None)
            }
            ("ip.isCanonical", _) => (size(0).scaled(2.0 * CHARACTER), None),
            ("containsIP" | "containsCIDR", true) => {
                let mut cost = ADDRESS.plus(ADDRESS).scaled(CHARACTER);
                if &*call.name == "containsCIDR" {
                    cost = cost.plus(ADDRESS.scaled(CHARACTER)).plus(ONE);
                }
                (if takes(1, Kind::String) { cost.plus(text(1)) } else { cost }, None)
            }
            ("validate", true) => (text(1).scaled(FORMAT_PATTERN * PATTERN_CHARACTER), None),
            ("sets.contains" | "sets.intersects", _) => (size(0).times(size(1)).plus(ONE), None),
            ("sets.equivalent", _) => (size(0).times(size(1)).scaled(2.0).plus(ONE), None),
            ("format", true) => (text(0), None),
            ("bytes", _) if takes(0, Kind::String) => {
                (text(0), Some(Size { min: size(0).min, max: size(0).max.wrapping_mul(4) }))
            }
            ("string", _) if takes(0, Kind::Bytes) => (text(0), Some(Size { min: size(0).min / 4, max: size(0).max })),
            ("strings.quote", _) => {
                let Size { min, max } = size(0);
                (text(0), Some(Size { min: min.wrapping_add(2), max: max.wrapping_mul(2).wrapping_add(2) }))
            }
            ("startsWith" | "endsWith", true) => (text(1), None),
            ("contains", true) => (text(0).times(text(1)), None),
            ("in", _) if matches!(overload.parameters[1], Kind::List(_)) => (size(1), None),
            ("+", _) if matches!(overload.parameters[0], Kind::List(_)) => (ONE, Some(size(0).plus(size(1)))),
            ("+", _) if takes(0, Kind::String) || takes(0, Kind::Bytes) => {
                let result = size(0).plus(size(1));
                (result.scaled(CHARACTER), Some(result))
            }
            ("==", _) => (equality(arguments), None),
            ("!=", _) => (size(0).comparison(size(1)), None),
            ("<" | "<=" | ">" | ">=", _) if takes(0, Kind::String) || takes(0, Kind::Bytes) => {
                (size(0).comparison(size(1)), None)
            }
            _ => (ONE, None),
        }
    }

    /// Going through a list, and through each of its texts; or through a text.
    fn traversal(&self, target: &Part) -> CostEstimate {
        let size = target.size_or_unknown();
        match item_type(&target.r#type) {
            Some(Type::String | Type::Bytes) => size.times(ONE.plus(self.item_size(target).scaled(CHARACTER))),
            Some(_) => size,
            None => size.scaled(CHARACTER),
        }
    }

    fn joined_size(&self, list: &Part, count: Size, separator: Option<Size>) -> Size {
        let texts = if item_type(&list.r#type).is_some() { count.times(self.item_size(list)) } else { FREE };
        let gaps = Size { min: count.min.saturating_sub(1), max: count.max.saturating_sub(1) };
        separator.map_or(texts, |separator| texts.plus(separator.times(gaps)))
    }

    /// How large the items of a list are; known only of lists in documents.
    fn item_size(&self, list: &Part) -> Size {
        let place = match list.place {
            Place::Nowhere => Place::Lost,
            place => self.element(place),
        };
        self.declared_size(place).unwrap_or(Size::UNKNOWN)
    }
}

fn pattern(text: Size, pattern: Size) -> CostEstimate {
    // An empty text still has to be matched.
    text.plus(ONE).scaled(CHARACTER).times(pattern.scaled(PATTERN_CHARACTER))
}

fn equality(arguments: &[Part]) -> CostEstimate {
    let [a, b] = arguments else { return ONE };
    match (&a.r#type, &b.r#type) {
        (Type::Ip, Type::Ip) | (Type::Cidr, Type::Cidr) => ONE,
        (Type::Quantity, Type::Quantity) | (Type::Semver, Type::Semver) => ONE,
        (Type::Format, Type::Format) => FORMAT.scaled(CHARACTER),
        (Type::Url, Type::Url) => Size { min: 1, max: b.size.map_or(1, |size| size.max) }.scaled(CHARACTER),
        _ => a.size_or_unknown().comparison(b.size_or_unknown()),
    }
}

/// How large a text can be after a replacement.
fn replaced(text: Size, old: Size, new: Size) -> Size {
    let ceil = |whole: u64, part: u64| (whole as f64 / part as f64).ceil() as u64;
    let longest = if old.min == 0 {
        // Nothing is replaced before, between and after all characters.
        text.max.saturating_add(1).saturating_mul(new.max).saturating_add(text.max)
    } else if new.max <= old.min {
        text.max
    } else {
        ceil(text.max, old.min).saturating_mul(new.max)
    };
    let shortest = if old.max == 0 {
        text.min.saturating_add(1).saturating_mul(new.min).saturating_add(text.min)
    } else if old.max <= new.min {
        text.min
    } else {
        ceil(text.min, old.max).saturating_mul(new.min)
    };
    Size { min: shortest, max: longest }
}

/// What lists that were added hold.
fn concatenated(call: &Call, arguments: &[Part]) -> Option<super::Entries> {
    match (&*call.name, arguments) {
        ("+", [a, b]) => Some(a.entries?.or(b.entries?)),
        _ => None,
    }
}

/// The type of what a value holds; of maps, of their keys.
fn item_type(r#type: &Type) -> Option<&Type> {
    match r#type {
        Type::List(item) | Type::Map(item, _) | Type::Optional(item) => Some(item),
        _ => None,
    }
}

/// The type of a result, with what the arguments tell about the types that an overload leaves open.
fn result_type(overload: &Overload, arguments: &[Part]) -> Type {
    let mut open = [None, None];
    for (parameter, argument) in overload.parameters.iter().zip(arguments) {
        bind(*parameter, &argument.r#type, &mut open);
    }
    let [a, b] = open.map(|found| found.unwrap_or(Type::Dyn));
    overload.result.to_type(&a, &b)
}

fn bind(kind: Kind, r#type: &Type, open: &mut [Option<Type>; 2]) {
    match (kind, r#type) {
        (Kind::A, found) => {
            let known = open[0].take();
            open[0] = Some(known.map_or_else(|| found.clone(), |known| super::joined(known, found.clone())));
        }
        (Kind::B, found) => open[1] = Some(found.clone()),
        (Kind::List(item), Type::List(found)) | (Kind::Optional(item), Type::Optional(found)) => {
            bind(*item, found, open)
        }
        (Kind::Map(key, value), Type::Map(found_key, found_value)) => {
            bind(*key, found_key, open);
            bind(*value, found_value, open);
        }
        _ => {}
    }
}
