//! Computed fields: conversions between the spellings of a fact, and derived values, compiled once and run often.
//!
//! Nothing here knows of slots or bags: a [`Converter`] gets the values of the fields on one side, as the version of
//! that side shows them, and gives those of the other side. What it gives fits the schema of the other side, or it fails.

mod decimal;
mod document;
mod expression;
mod fill_in;
mod fit;
mod folded;
mod hook;
mod keyed;
mod parts;
mod scalar;
mod single;
mod template;
#[cfg(test)]
mod tests;

use expression::{Computed, Scope};
use single::{Context, Single};
use template::Template;
use wheelwright_document::{Arena, Value};
use wheelwright_findings::{rules, shortened};
use wheelwright_schema::Problem;

pub(crate) use self::expression::{mentions_self, reads};
pub use self::fill_in::FillIn;
pub(crate) use self::folded::is_folded_into;
pub use self::hook::{Hook, HookCall, HookError, Hooks};
use crate::{Conversion, Derived, Direction, NodeIndex, Respelled, Structure, problem::problem_at};

/// Some fields of one version: its structure, and the fields in it. Where a path ends in `[]` or `{}`, the field is the
/// list or map.
#[derive(Clone, Copy)]
pub(crate) struct Side<'s> {
    pub(crate) structure: &'s Structure,
    pub(crate) fields: &'s [NodeIndex],
}

/// The values of the fields on one side; `None` for what is absent.
pub(crate) type FieldValues<'e, 'a> = &'e [Option<Value<'a>>];

/// What a conversion works on.
pub(crate) struct Exchange<'e, 'a> {
    /// The values of the side that is left.
    pub(crate) sources: FieldValues<'e, 'a>,
    /// What the values of that side and of the other were before, if there is a before: what did not change keeps its
    /// spelling, its order and its place.
    pub(crate) old: Option<(FieldValues<'e, 'a>, FieldValues<'e, 'a>)>,
    /// The metadata of the document.
    pub(crate) metadata: Option<Value<'a>>,
    /// What a hook keeps in the bag; it may replace it.
    pub(crate) entry: Option<Value<'a>>,
    pub(crate) arena: &'a Arena,
}

/// Why there is no value: what is said about it.
#[derive(Debug)]
pub(crate) struct Failed(pub(crate) String);

impl Failed {
    /// A number that the other side cannot have.
    #[cold]
    pub(crate) fn out_of_range(number: &str) -> Self {
        Self(format!("out of range: {}", shortened(number)))
    }

    /// The same of a value under a name.
    fn under(self, name: &str) -> Self {
        Self(format!("{}: {}", shortened(name), self.0))
    }
}

/// A respelled fact, ready to be converted either way.
#[derive(Debug)]
pub(crate) struct Converter {
    work: Work,
    /// How many fields either side has.
    counts: (usize, usize),
}

#[derive(Debug)]
enum Work {
    Single(Box<Single>),
    Template(Box<Template>),
    Entries(keyed::Entries),
    Folded(Box<folded::Folded>),
    Expressions { up: Box<(Scope, Computed)>, down: Box<(Scope, Computed)> },
    Hook(hook::Declared),
}

impl Converter {
    /// Compiles what a step says of a fact, for the fields on both sides.
    pub(crate) fn compile(
        respelled: &Respelled,
        from: Side<'_>,
        to: Side<'_>,
        hooks: &Hooks,
    ) -> Result<Self, Vec<Problem>> {
        let work = match &respelled.with.item {
            Conversion::Template { template, pattern } => {
                Work::Template(Box::new(Template::compile(respelled, template, pattern.as_ref(), from, to)?))
            }
            Conversion::Entries(keys) => Work::Entries(keyed::Entries::compile(respelled, keys, from, to)?),
            Conversion::Folded(key) => {
                Work::Folded(Box::new(folded::Folded::compile(respelled, key.as_deref(), from, to)?))
            }
            Conversion::Expressions { up, down } => {
                let old = Scope::of(respelled, &respelled.from)?;
                let new = Scope::of(respelled, &respelled.to)?;
                let computed = (Computed::of_scope(&old, up, from, to), Computed::of_scope(&new, down, to, from));
                match computed {
                    (Ok(up), Ok(down)) => Work::Expressions { up: Box::new((old, up)), down: Box::new((new, down)) },
                    (up, down) => return Err([up.err(), down.err()].into_iter().flatten().flatten().collect()),
                }
            }
            Conversion::Hook(name) => Work::Hook(hook::Declared::compile(respelled, name, hooks, from, to)?),
            _ => Work::Single(Box::new(Single::compile(respelled, from, to)?)),
        };
        Ok(Self { work, counts: (from.fields.len(), to.fields.len()) })
    }

    /// Whether what it gives depends on what was there before even where that could be computed: hooks may look at it, and
    /// what is added to a list comes after what was there.
    pub(crate) fn looks_back(&self, direction: Direction) -> bool {
        match &self.work {
            Work::Hook(_) => true,
            Work::Single(single) => single.orders(direction),
            _ => false,
        }
    }

    /// Whether what it gives may depend on what was there before where that could not be computed.
    pub(crate) fn needs_past(&self) -> bool {
        match &self.work {
            Work::Hook(_) | Work::Entries(_) | Work::Folded(_) => true,
            Work::Single(single) => single.needs_past(),
            Work::Template(_) | Work::Expressions { .. } => false,
        }
    }

    /// The keys of the items of a list, in their order, if the fact is a list and a map; `None` for lists with other items.
    pub(crate) fn order_of<'a>(&self, list: Value<'a>, arena: &'a Arena) -> Option<Vec<Value<'a>>> {
        match &self.work {
            Work::Single(single) => single.order_of(list, arena),
            _ => None,
        }
    }

    /// A list that was made of a map, with its items in the order of some keys; the items of other keys follow.
    pub(crate) fn ordered<'a>(&self, list: Value<'a>, order: &[Value<'_>], arena: &'a Arena) -> Value<'a> {
        match &self.work {
            Work::Single(single) => single.ordered(list, order, arena),
            _ => list,
        }
    }

    /// Whether one field becomes one other, so that [`convert_one`](Self::convert_one) does.
    pub(crate) fn is_single(&self) -> bool {
        matches!(self.work, Work::Single(_))
    }

    /// Whether it makes a list of one object, whose fields are as they were.
    pub(crate) fn makes_one_item(&self, direction: Direction) -> bool {
        matches!(&self.work, Work::Single(single) if single.makes_one_item(direction))
    }

    /// Whether what it gives may depend on metadata.
    pub(crate) fn reads_metadata(&self) -> bool {
        match &self.work {
            Work::Single(single) => single.reads_metadata(),
            Work::Expressions { up, down } => up.1.reads_metadata() || down.1.reads_metadata(),
            Work::Hook(_) => true,
            Work::Template(_) | Work::Entries(_) | Work::Folded(_) => false,
        }
    }

    /// Whether what it gives is up to somebody's code, which may be another tomorrow.
    pub(crate) fn is_hook(&self) -> bool {
        matches!(self.work, Work::Hook(_))
    }

    /// One field to one other, without a past.
    #[inline]
    pub(crate) fn convert_one<'a>(
        &'a self,
        direction: Direction,
        value: Value<'a>,
        metadata: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> Result<Option<Value<'a>>, Failed> {
        match &self.work {
            Work::Single(single) => single.convert(direction, value, None, Context { metadata, arena }),
            _ => Ok(None),
        }
    }

    /// What a field of the other side was, with something else wherever it is the same as now although what it was made of has
    /// changed.
    pub(crate) fn told_apart<'a>(
        &self,
        (old_sources, old): (FieldValues<'_, 'a>, Value<'a>),
        (sources, new): (FieldValues<'_, 'a>, Value<'a>),
        arena: &'a Arena,
    ) -> Value<'a> {
        match (&self.work, old_sources, sources) {
            (Work::Single(single), [Some(was)], [Some(is)]) => single.told_apart((*was, old), (*is, new), arena),
            _ => single::replaced(old, new),
        }
    }

    /// Which item of a list that was made is which one of the list before, where one side of the fact is an item of the other:
    /// then that is known, whatever the items look like.
    pub(crate) fn aligned<'a>(
        &self,
        direction: Direction,
        (old_sources, old_results): (FieldValues<'_, 'a>, FieldValues<'_, 'a>),
        new: Value<'a>,
    ) -> Option<Vec<Option<usize>>> {
        match (&self.work, old_sources, old_results) {
            (Work::Single(single), [was], [Some(list)]) => single.aligned(direction, (*was, *list), new),
            _ => None,
        }
    }

    /// Adds the value of every field on the other side to `results`, in their order. Where it fails, nothing is added.
    pub(crate) fn convert<'a>(
        &'a self,
        direction: Direction,
        exchange: &mut Exchange<'_, 'a>,
        results: &mut Vec<Option<Value<'a>>>,
    ) -> Result<(), Failed> {
        let Exchange { sources, old, metadata, arena, .. } = *exchange;
        let (from, to) = self.counts;
        let count = if direction == Direction::Up { to } else { from };
        let start = results.len();
        let is_absent = sources.iter().all(Option::is_none);
        let context = Context { metadata, arena };
        let old_results = old.map(|(_, results)| results);
        let done = match &self.work {
            Work::Entries(entries) => entries.convert(direction, sources, old_results, arena, results),
            Work::Single(single) if is_absent => {
                results.push(old.and_then(|(values, results)| single.left(direction, (values[0], results[0]?))));
                Ok(())
            }
            _ if is_absent => {
                results.resize(start + count, None);
                Ok(())
            }
            Work::Single(single) => {
                let old = old.and_then(|(values, results)| Some((values[0], results[0]?)));
                let result = sources[0].map(|value| single.convert(direction, value, old, context)).transpose();
                result.map(|result| results.push(result.flatten()))
            }
            Work::Template(template) => template.convert(direction, sources, arena, results),
            Work::Expressions { up, down } => {
                let (scope, computed) = if direction == Direction::Up { &**up } else { &**down };
                computed.evaluate(scope.object(sources, arena), context, results)
            }
            Work::Folded(folded) => folded.convert(direction, sources, old, arena, results),
            Work::Hook(hook) => hook.convert(direction, exchange, results),
        };
        if done.is_err() {
            results.truncate(start);
        }
        done
    }
}

/// A derived field, ready to be computed.
#[derive(Debug)]
pub(crate) struct Deriver {
    computed: Computed,
    reads: Option<Vec<Vec<Box<str>>>>,
    is_strict: bool,
}

impl Deriver {
    /// Compiles a derived field. `source` is the version that is read, `own` the node in it that `self` is: the
    /// document, or the items or values of a list or map; `target` is the derived field in the other version.
    pub(crate) fn compile(
        derived: &Derived,
        source: &Structure,
        own: NodeIndex,
        target: (&Structure, NodeIndex),
    ) -> Result<Self, Vec<Problem>> {
        let reads = reads(&derived.expression.item, (source, own));
        let is_strict = expression::is_strict(&derived.expression.item);
        let names = reads.as_ref().map(|paths| paths.iter().map(|path| path[0].clone()).collect::<Vec<_>>());
        let computed = Computed::of_object(&derived.expression, (source, own), names.as_deref(), target)?;
        Ok(Self { computed, reads, is_strict })
    }

    /// The paths below `self` that the expression reads, none of which is empty; `None` if it may read anything.
    pub(crate) fn reads(&self) -> Option<&[Vec<Box<str>>]> {
        self.reads.as_deref()
    }

    /// Whether the expression reads metadata.
    pub(crate) fn reads_metadata(&self) -> bool {
        self.computed.reads_metadata()
    }

    /// Whether there is no value if anything is absent that the expression reads.
    pub(crate) fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// The value; `None` if an input is absent, or if it gives null.
    pub(crate) fn derive<'a>(
        &'a self,
        own: Value<'a>,
        metadata: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> Result<Option<Value<'a>>, Failed> {
        self.computed.evaluate_one(own, Context { metadata, arena })
    }
}

/// A conversion that is not made for its fields.
fn unfit(respelled: &Respelled, message: &str) -> Vec<Problem> {
    let names = |paths: &[crate::Located<crate::Selector>]| {
        paths.iter().map(|path| path.item.to_string()).collect::<Vec<_>>().join(", ")
    };
    let message = format!("{} cannot become {} this way: {message}", names(&respelled.from), names(&respelled.to));
    vec![problem_at(&rules::CONVERSION_UNFIT, respelled.with.span, message)]
}
