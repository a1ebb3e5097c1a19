//! The functions and operators of expressions: what they take, what they give, what they cost, and what they do.

mod arrange;
mod base64;
mod compare;
mod conversions;
mod format;
mod lists;
mod math;
mod network;
mod optional;
mod quantity;
mod regex;
mod semver;
mod sets;
mod string_format;
mod strings;
mod time;
mod url;

use std::{collections::HashMap, sync::LazyLock};

pub(crate) use arrange::sort_by;
pub(crate) use compare::{MapKey, contains, map_key};
pub(crate) use conversions::type_named;
pub(crate) use regex::Dynamic;
pub(crate) use string_format::check_format;

use wheelwright_document::{Entry, Value};

use crate::{Failure, Type, evaluate::Evaluator, value::Val};

/// A function or operator for arguments of certain types.
pub(crate) struct Overload {
    /// The name, of operators as they are written.
    pub(crate) name: &'static str,
    /// Whether it is called on its first parameter: `target.name(…)`.
    pub(crate) is_member: bool,
    pub(crate) parameters: &'static [Kind],
    pub(crate) result: Kind,
    pub(crate) cost: Cost,
    pub(crate) origin: Origin,
    pub(crate) run: Function,
}

impl std::fmt::Debug for Overload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Overload")
            .field("name", &self.name)
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

/// What a function does; the arguments are as many as its parameters.
pub(crate) type Function = for<'r, 'a> fn(&'r mut Evaluator<'a>, &'r [Val<'a>]) -> Answer<'a>;

pub(crate) type Answer<'a> = Result<Val<'a>, Failure>;

/// Who has a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// Kubernetes, in the rules of a schema.
    Kubernetes,
    /// Others; a rule that uses it is refused by Kubernetes.
    Elsewhere,
}

/// The type of a parameter or a result. `A` and `B` stand for any type, the same one wherever they are in an overload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    A,
    B,
    Dyn,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Timestamp,
    Duration,
    List(&'static Kind),
    Map(&'static Kind, &'static Kind),
    Optional(&'static Kind),
    Type,
    Url,
    Ip,
    Cidr,
    Quantity,
    Semver,
    Format,
}

/// What a call costs, besides its arguments. Kubernetes' figures, so that the same rules run into the same limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cost {
    /// The same for all arguments.
    Fixed(u64),
    /// A tenth of the size of the first argument, so many times.
    Traversal(u64),
    /// A tenth of the smaller of two sizes.
    Comparison,
    /// A tenth of two sizes together.
    Concatenation,
    /// The product of a tenth of two sizes.
    Search,
    /// The product of a tenth of a text and a quarter of a pattern.
    Pattern,
    /// The number of items of the second argument.
    Membership,
    /// Going through the first argument: one for everything in it, of texts a tenth.
    Items,
    /// One, and the product of the sizes of two lists, so many times.
    Product(u64),
}

pub(crate) const TEXTS: Kind = Kind::List(&Kind::String);
pub(crate) const LIST: Kind = Kind::List(&Kind::A);
pub(crate) const MAP: Kind = Kind::Map(&Kind::A, &Kind::B);

/// A function that is called by its name.
pub(crate) const fn global(
    name: &'static str,
    parameters: &'static [Kind],
    result: Kind,
    cost: Cost,
    run: Function,
) -> Overload {
    Overload { name, is_member: false, parameters, result, cost, origin: Origin::Kubernetes, run }
}

/// A function that is called on its first parameter.
pub(crate) const fn member(
    name: &'static str,
    parameters: &'static [Kind],
    result: Kind,
    cost: Cost,
    run: Function,
) -> Overload {
    Overload { is_member: true, ..global(name, parameters, result, cost, run) }
}

impl Overload {
    /// The same, but Kubernetes does not have it.
    pub(crate) const fn elsewhere(self) -> Self {
        Self { origin: Origin::Elsewhere, ..self }
    }

    /// Whether it takes some values, as far as their outermost types tell.
    pub(crate) fn accepts(&self, arguments: &[Val<'_>]) -> bool {
        self.parameters.iter().zip(arguments).all(|(parameter, argument)| parameter.accepts(*argument))
    }
}

impl Kind {
    fn accepts(self, value: Val<'_>) -> bool {
        match self {
            Self::A | Self::B | Self::Dyn => true,
            Self::Bool => matches!(value, Val::Bool(_)),
            Self::Int => matches!(value, Val::Int(_)),
            Self::Uint => matches!(value, Val::Uint(_)),
            Self::Double => matches!(value, Val::Double(_)),
            Self::String => matches!(value, Val::String(_)),
            Self::Bytes => matches!(value, Val::Bytes(_)),
            Self::Timestamp => matches!(value, Val::Timestamp(_)),
            Self::Duration => matches!(value, Val::Duration(_)),
            Self::List(_) => matches!(value, Val::List(_) | Val::Items(..)),
            Self::Map(..) => matches!(value, Val::Map(_) | Val::Fields(..)),
            Self::Optional(_) => matches!(value, Val::Optional(_)),
            Self::Type => matches!(value, Val::Type(_)),
            Self::Url => matches!(value, Val::Url(_)),
            Self::Ip => matches!(value, Val::Ip(_)),
            Self::Cidr => matches!(value, Val::Cidr(_)),
            Self::Quantity => matches!(value, Val::Quantity(_)),
            Self::Semver => matches!(value, Val::Semver(_)),
            Self::Format => matches!(value, Val::Format(_)),
        }
    }

    /// The type, with what `A` and `B` stand for.
    pub(crate) fn to_type(self, a: &Type, b: &Type) -> Type {
        match self {
            Self::A => a.clone(),
            Self::B => b.clone(),
            Self::Dyn => Type::Dyn,
            Self::Bool => Type::Bool,
            Self::Int => Type::Int,
            Self::Uint => Type::Uint,
            Self::Double => Type::Double,
            Self::String => Type::String,
            Self::Bytes => Type::Bytes,
            Self::Timestamp => Type::Timestamp,
            Self::Duration => Type::Duration,
            Self::List(item) => Type::list(item.to_type(a, b)),
            Self::Map(key, value) => Type::map(key.to_type(a, b), value.to_type(a, b)),
            Self::Optional(value) => Type::optional(value.to_type(a, b)),
            Self::Type => Type::Type,
            Self::Url => Type::Url,
            Self::Ip => Type::Ip,
            Self::Cidr => Type::Cidr,
            Self::Quantity => Type::Quantity,
            Self::Semver => Type::Semver,
            Self::Format => Type::Format,
        }
    }
}

impl Cost {
    /// Takes what a call costs for some arguments from the budget, and something more.
    #[inline]
    pub(crate) fn charge<'a>(
        self,
        evaluator: &mut Evaluator<'a>,
        arguments: &[Val<'a>],
        more: u64,
    ) -> Result<(), Failure> {
        if self == Self::Items
            && let Some(first) = arguments.first()
        {
            pay_for_going_through(evaluator, *first)?;
        }
        evaluator.charge(self.of(arguments).saturating_add(more))
    }

    /// What can be told of the cost without going through an argument.
    #[inline]
    fn of(self, arguments: &[Val<'_>]) -> u64 {
        let size = |at: usize| arguments.get(at).map_or(0, |value| value.size_up_to(u64::MAX));
        match self {
            Self::Fixed(cost) => cost,
            Self::Traversal(times) => tenth(size(0).saturating_mul(times)),
            Self::Comparison => tenth(smaller(arguments)),
            Self::Concatenation => tenth(size(0).saturating_add(size(1))),
            Self::Search => match tenth(size(1)) {
                0 => 0,
                wanted => wanted.saturating_mul(tenth(size(0))),
            },
            Self::Pattern => match size(1).div_ceil(4) {
                0 => 0,
                pattern => pattern.saturating_mul(tenth(size(0).saturating_add(1))),
            },
            Self::Membership => size(1),
            Self::Items => 0,
            Self::Product(times) => 1u64.saturating_add(times.saturating_mul(size(0)).saturating_mul(size(1))),
        }
    }
}

/// The smaller of the sizes of two arguments; never looks far beyond it.
fn smaller(arguments: &[Val<'_>]) -> u64 {
    let [a, b] = arguments else { return 1 };
    let a = a.size_up_to(a.cost_size().min(b.cost_size()));
    b.size_up_to(a)
}

/// Takes what going through a value costs from the budget; of many small texts, which Kubernetes goes through for
/// nothing, a tenth. It pays step by step, because a value that is in another twice is gone through twice.
fn pay_for_going_through<'a>(evaluator: &mut Evaluator<'a>, value: Val<'a>) -> Result<(), Failure> {
    let before = evaluator.budget();
    match value {
        Val::String(text) => return evaluator.charge(text.len() as u64 / 10),
        Val::Bytes(bytes) => return evaluator.charge(bytes.len() as u64 / 10),
        Val::Items(..) | Val::List(_) => {
            for at in 0..value.cost_size() as usize {
                pay_for_part(evaluator, evaluator.item(value, at))?;
            }
        }
        Val::Map(entries) => {
            for (key, value) in entries {
                pay_for_part(evaluator, *key)?;
                pay_for_part(evaluator, *value)?;
            }
        }
        Val::Fields(entries, _) => pay_for_entries(evaluator, entries)?,
        _ => return evaluator.charge(1),
    }
    let paid = before - evaluator.budget();
    evaluator.charge((value.cost_size() / 10).saturating_sub(paid))
}

/// Lists in lists may be many and hold nothing that costs anything.
fn pay_for_part<'a>(evaluator: &mut Evaluator<'a>, part: Val<'a>) -> Result<(), Failure> {
    if matches!(part, Val::Items(..) | Val::List(_) | Val::Fields(..) | Val::Map(_)) {
        evaluator.work(1)?;
    }
    pay_for_going_through(evaluator, part)
}

/// The same for the fields of an object of a document as it is.
fn pay_for_entries(evaluator: &mut Evaluator<'_>, entries: &[Entry<'_>]) -> Result<(), Failure> {
    for entry in entries {
        evaluator.charge(entry.key.len() as u64 / 10)?;
        pay_for_raw(evaluator, &entry.value)?;
    }
    Ok(())
}

/// The same for a value of a document as it is.
fn pay_for_raw(evaluator: &mut Evaluator<'_>, value: &Value<'_>) -> Result<(), Failure> {
    let before = evaluator.budget();
    let length = match value {
        Value::String(text) => return evaluator.charge(text.as_str().len() as u64 / 10),
        Value::Array(items) => {
            evaluator.work(1)?;
            items.iter().try_for_each(|item| pay_for_raw(evaluator, item))?;
            items.len()
        }
        Value::Object(entries) => {
            evaluator.work(1)?;
            pay_for_entries(evaluator, entries)?;
            entries.len()
        }
        _ => return evaluator.charge(1),
    };
    let paid = before - evaluator.budget();
    evaluator.charge((length as u64 / 10).saturating_sub(paid))
}

#[inline]
pub(crate) fn tenth(size: u64) -> u64 {
    size.div_ceil(10)
}

/// Every overload, in a fixed order.
pub(crate) fn all() -> impl Iterator<Item = &'static Overload> {
    let libraries: [&'static [Overload]; _] = [
        compare::EQUALITY,
        compare::LESS,
        compare::LESS_OR_EQUAL,
        compare::GREATER,
        compare::GREATER_OR_EQUAL,
        conversions::OVERLOADS,
        lists::OVERLOADS,
        lists::IS_SORTED,
        lists::MIN,
        lists::MAX,
        arrange::OVERLOADS,
        arrange::SORT,
        math::OVERLOADS,
        optional::OVERLOADS,
        regex::OVERLOADS,
        sets::OVERLOADS,
        string_format::OVERLOADS,
        strings::OVERLOADS,
        base64::OVERLOADS,
        format::CONSTANTS,
        format::OVERLOADS,
        network::OVERLOADS,
        quantity::OVERLOADS,
        semver::OVERLOADS,
        time::MOMENTS,
        time::SPANS,
        url::OVERLOADS,
    ];
    libraries.into_iter().flatten()
}

/// Every overload by the name of its function.
static FUNCTIONS: LazyLock<HashMap<&'static str, Vec<&'static Overload>>> = LazyLock::new(|| {
    let mut functions: HashMap<_, Vec<_>> = HashMap::new();
    for overload in all() {
        functions.entry(overload.name).or_default().push(overload);
    }
    functions
});

/// The overloads of a function; none if nobody knows it.
pub(crate) fn overloads(name: &str) -> &'static [&'static Overload] {
    FUNCTIONS.get(name).map_or(&[], Vec::as_slice)
}

/// The names of all functions and operators.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.keys().copied()
}
