//! One field to one field: a value at a time, through lists and maps where the paths end in `[]` or `{}`.

use smallvec::SmallVec;
use wheelwright_document::{Arena, Entry, Value};
use wheelwright_schema::Problem;

use super::{
    Failed, Side, document,
    expression::Computed,
    fit::{Clamp, Fit, wrong_type},
    keyed::{KeyedList, RenamedKeys},
    parts::{pruned, with_unsaid},
    scalar::{self, Scale, Values},
    unfit,
};
use crate::{
    Conversion, Direction, DocumentFormat, NodeIndex, Respelled, Scalar, Shape, Step, Structure,
    lens::{by_key, equal, equal_option, find, match_items},
};

/// What a conversion may look at besides the value.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) metadata: Option<Value<'a>>,
    pub(super) arena: &'a Arena,
}

/// What a value was before, and what the other side was then.
type Past<'a> = (Option<Value<'a>>, Value<'a>);

/// A conversion of one field.
#[derive(Debug)]
pub(super) struct Single {
    how: How,
    /// The lists and maps of which every item or value is converted on its own, from the outermost.
    within: Box<[Step]>,
    from: Fit,
    to: Fit,
    /// What it gives needs no further look.
    fits: bool,
}

#[derive(Debug)]
enum How {
    Duration,
    Quantity,
    Scale(Scale),
    Text,
    /// The same number on both sides.
    Number,
    Values(Values),
    Joined(Box<str>),
    /// Which way the list is.
    OneItem(Direction),
    /// Which way the text is.
    Document(DocumentFormat, Direction),
    /// And which way the list is.
    KeyedList(KeyedList, Direction),
    RenamedKeys(RenamedKeys),
    Expression {
        up: Computed,
        down: Computed,
    },
}

impl Single {
    pub(super) fn compile(respelled: &Respelled, from: Side<'_>, to: Side<'_>) -> Result<Self, Vec<Problem>> {
        let (&[from_field], &[to_field]) = (from.fields, to.fields) else {
            return Err(unfit(respelled, "it is for one field and one other"));
        };
        let within: Box<[Step]> = respelled.from.first().map_or(&[][..], |path| path.item.elements()).into();
        let [Some(from_value), Some(to_value)] =
            [(from, from_field), (to, to_field)].map(|(side, field)| descend(side.structure, field, &within))
        else {
            return Err(unfit(respelled, "`[]` is for lists and `{}` for maps, and both paths must end alike"));
        };
        let how = How::compile(respelled, (from.structure, from_value), (to.structure, to_value))?;
        let mut fits = how.fits();
        let shapes = [(from.structure, from_value), (to.structure, to_value)].map(|(side, node)| side.shape_name(node));
        let (mut from, mut to) = (Fit::of(from.structure, from_field), Fit::of(to.structure, to_field));
        if let Conversion::Clamped(clamped) = &respelled.with.item {
            let sides = [(&mut from, &clamped.from), (&mut to, &clamped.to)];
            let done = sides.map(|(fit, bounds)| fit.clamp(within.len(), bounds));
            if done.contains(&Clamp::Empty) {
                return Err(unfit(respelled, "no number is within the bounds of the field that is to hold it"));
            }
            if !done.contains(&Clamp::Done) {
                let message = format!("only numbers can be clamped, and these are {} and {}", shapes[0], shapes[1]);
                return Err(unfit(respelled, &message));
            }
            fits = false;
        }
        Ok(Self { how, within, from, to, fits })
    }

    /// Whether an expression converts it that reads metadata.
    pub(super) fn reads_metadata(&self) -> bool {
        matches!(&self.how, How::Expression { up, down } if up.reads_metadata() || down.reads_metadata())
    }

    /// Whether it makes lists of what has no order.
    pub(super) fn orders(&self, direction: Direction) -> bool {
        matches!(self.how, How::KeyedList(_, list) if list == direction)
    }

    /// Whether it keeps parts of what was there before.
    pub(super) fn needs_past(&self) -> bool {
        !self.within.is_empty() || matches!(self.how, How::OneItem(_) | How::KeyedList(..) | How::RenamedKeys(_))
    }

    /// The keys of the items of a list that is a map on the other side, in their order.
    pub(super) fn order_of<'a>(&self, list: Value<'a>, arena: &'a Arena) -> Option<Vec<Value<'a>>> {
        match &self.how {
            How::KeyedList(keyed, _) if self.within.is_empty() => keyed.order_of(list, arena),
            _ => None,
        }
    }

    /// A list that was made of a map, in the order of some keys.
    pub(super) fn ordered<'a>(&self, list: Value<'a>, order: &[Value<'_>], arena: &'a Arena) -> Value<'a> {
        match (&self.how, list) {
            (How::KeyedList(keyed, _), Value::Array(items)) => keyed.ordered(items, order, arena),
            _ => list,
        }
    }

    /// Whether it makes a list of one object.
    pub(super) fn makes_one_item(&self, direction: Direction) -> bool {
        matches!(self.how, How::OneItem(list_is) if list_is == direction) && self.within.is_empty()
    }

    /// What the other side was, with something else wherever it is the same as now although this side has changed.
    pub(super) fn told_apart<'a>(
        &self,
        old: (Value<'a>, Value<'a>),
        new: (Value<'a>, Value<'a>),
        arena: &'a Arena,
    ) -> Value<'a> {
        told_apart(&self.within, old, new, arena)
    }

    /// What stays of the other side once nothing is there on this one any more.
    pub(super) fn left<'a>(&self, direction: Direction, old: Past<'a>) -> Option<Value<'a>> {
        if self.within.is_empty() { self.how.left(direction, old) } else { None }
    }

    /// Which item of the list that the one item was made part of is which one of the list before.
    pub(super) fn aligned(
        &self,
        direction: Direction,
        (was, list): Past<'_>,
        new: Value<'_>,
    ) -> Option<Vec<Option<usize>>> {
        let (old, new) = list.as_array().zip(new.as_array()).filter(|_| self.makes_one_item(direction))?;
        let others = not_shown(was, list).len();
        let own = new.len().checked_sub(others)?;
        let was_there = (others < old.len()).then_some(0);
        let before = |position: usize| match position.checked_sub(own) {
            Some(other) => Some(old.len() - others + other),
            None => was_there,
        };
        Some((0..new.len()).map(before).collect())
    }

    #[inline]
    pub(super) fn convert<'a>(
        &'a self,
        direction: Direction,
        value: Value<'a>,
        old: Option<Past<'a>>,
        context: Context<'a>,
    ) -> Result<Option<Value<'a>>, Failed> {
        let (source, target) = match direction {
            Direction::Up => (&self.from, &self.to),
            Direction::Down => (&self.to, &self.from),
        };
        // Most common: the shortest way.
        if self.within.is_empty() && old.is_none() && !value.is_null() {
            return match self.fits {
                true => self.how.convert(direction, value, None, (source, target), context),
                false => self.converted(direction, value, None, (source, target), context),
            };
        }
        self.value(direction, &self.within, value, old, (source, target), context)
    }

    fn converted<'a>(
        &'a self,
        direction: Direction,
        value: Value<'a>,
        old: Option<Past<'a>>,
        (source, target): (&'a Fit, &'a Fit),
        context: Context<'a>,
    ) -> Result<Option<Value<'a>>, Failed> {
        match self.how.convert(direction, value, old, (source, target), context)? {
            Some(result) if !self.fits => self.fitted(result, target, context.arena).map(Some),
            result => Ok(result),
        }
    }

    fn value<'a>(
        &'a self,
        direction: Direction,
        within: &'a [Step],
        value: Value<'a>,
        old: Option<Past<'a>>,
        (source, target): (&'a Fit, &'a Fit),
        context: Context<'a>,
    ) -> Result<Option<Value<'a>>, Failed> {
        if let Some((old_value, old_result)) = old
            && equal_option(Some(value), old_value)
        {
            return Ok(Some(old_result));
        }
        if value.is_null() {
            let left = old.filter(|_| within.is_empty()).and_then(|old| self.how.left(direction, old));
            return Ok(left.or(target.is_nullable().then_some(Value::Null)));
        }
        let below = source.element().zip(target.element());
        match (within, value, below) {
            ([], value, _) => self.converted(direction, value, old, (source, target), context),
            ([Step::Items, within @ ..], Value::Array(items), Some(below)) => {
                let before = old.and_then(|(values, results)| values?.as_array().zip(results.as_array()));
                // Where an item has no counterpart, it cannot be said which one it is.
                let before = before.filter(|(values, results)| values.len() == results.len());
                let matched = before.map(|(values, _)| match_items(items, values, &[])).unwrap_or_default();
                let mut results = Vec::with_capacity(items.len());
                for (position, item) in items.iter().enumerate() {
                    let counterpart = matched.get(position).copied().flatten();
                    let old = before.zip(counterpart).map(|((values, results), at)| (Some(values[at]), results[at]));
                    results.extend(self.value(direction, within, *item, old, below, context)?);
                }
                Ok(Some(Value::Array(context.arena.slice(&results))))
            }
            ([Step::Values, within @ ..], Value::Object(entries), Some(below)) => {
                let before = old.and_then(|(values, results)| values?.as_object().zip(results.as_object()));
                let before = before.map(|(values, results)| (by_key(values), by_key(results)));
                let mut results = Vec::with_capacity(entries.len());
                for Entry { key, value } in entries {
                    let old = before.as_ref().and_then(|(values, results)| {
                        let was = find(values, key)?;
                        Some((Some(was), find(results, key)?))
                    });
                    let result = self.value(direction, within, *value, old, below, context);
                    let result = result.map_err(|failed| failed.under(key))?;
                    results.extend(result.map(|value| Entry { key, value }));
                }
                Ok(Some(Value::Object(context.arena.slice(&results))))
            }
            ([step, ..], value, _) => Err(wrong_type(if *step == Step::Items { "list" } else { "map" }, value)),
        }
    }
}

impl How {
    fn compile(
        respelled: &Respelled,
        (from, from_value): (&Structure, NodeIndex),
        (to, to_value): (&Structure, NodeIndex),
    ) -> Result<Self, Vec<Problem>> {
        let shapes = (from.node(from_value).shape, to.node(to_value).shape);
        let scalars = match shapes {
            (Shape::Scalar(from), Shape::Scalar(to)) => Some((from, to)),
            _ => None,
        };
        let is_either_way = |is: fn(Scalar, Scalar) -> bool| scalars.is_some_and(|(a, b)| is(a, b) || is(b, a));
        let refused = |wanted: &str| {
            let (from, to) = (from.shape_name(from_value), to.shape_name(to_value));
            Err(unfit(respelled, &format!("it is for {wanted}, and these are {from} and {to}")))
        };
        Ok(match respelled.with.item.unclamped() {
            Conversion::DurationSeconds if is_either_way(is_text_and_number) => Self::Duration,
            Conversion::DurationSeconds => return refused("a string and a number of seconds"),
            Conversion::Quantity if is_either_way(is_text_and_number) => Self::Quantity,
            Conversion::Quantity => return refused("a string and a number"),
            Conversion::Scale(_) if !is_either_way(|a, b| is_number(a) && is_number(b)) => {
                return refused("two numbers");
            }
            Conversion::Scale(factor) => match Scale::parse(factor) {
                Some(scale) => Self::Scale(scale),
                None => {
                    let message = format!("{factor} is no factor: it must be a number of at most 18 digits, and not 0");
                    return Err(unfit(respelled, &message));
                }
            },
            Conversion::Text if is_either_way(is_text_and_typed) => Self::Text,
            Conversion::Text => return refused("a string and an integer, number or boolean"),
            Conversion::Clamped(_) => match scalars {
                Some((Scalar::Integer, Scalar::Integer) | (Scalar::Number, Scalar::Number)) => Self::Number,
                _ => return refused("two integers or two numbers"),
            },
            Conversion::Values(pairs) => match scalars {
                Some((from, to)) if from != Scalar::Any && to != Scalar::Any => {
                    let values = Values::new(pairs, from, to).map_err(|value| {
                        unfit(respelled, &format!("{value:?} is no value of the field that is to have it"))
                    })?;
                    Self::Values(values)
                }
                _ => return refused("strings, numbers and booleans"),
            },
            Conversion::Joined(delimiter) => {
                let is_list_and_text = |(list, item, text): (Shape, Option<Shape>, Shape)| {
                    let is_typed = matches!(item, Some(Shape::Scalar(item)) if item != Scalar::Any);
                    list == Shape::List && is_typed && text == Shape::Scalar(Scalar::String)
                };
                let item = |structure: &Structure, list| structure.element(list).map(|item| structure.node(item).shape);
                let ways = [(shapes.0, item(from, from_value), shapes.1), (shapes.1, item(to, to_value), shapes.0)];
                if !ways.into_iter().any(is_list_and_text) {
                    return refused("a list of strings, numbers or booleans and a string");
                }
                if delimiter.is_empty() {
                    return Err(unfit(respelled, "an empty text is no delimiter"));
                }
                Self::Joined(delimiter.clone())
            }
            Conversion::OneItem => {
                let is_item_of = |list: (&Structure, NodeIndex), (structure, value): (&Structure, NodeIndex)| {
                    let item = list.0.element(list.1).filter(|_| list.0.node(list.1).shape == Shape::List);
                    item.is_some_and(|item| {
                        let shapes = (list.0.node(item).shape, structure.node(value).shape);
                        let is_any = [shapes.0, shapes.1].contains(&Shape::Scalar(Scalar::Any));
                        is_any || shapes.0 == shapes.1 && has_common_fields((list.0, item), (structure, value))
                    })
                };
                let (old, new) = ((from, from_value), (to, to_value));
                match (is_item_of(old, new), is_item_of(new, old)) {
                    (true, false) => Self::OneItem(Direction::Down),
                    (false, true) => Self::OneItem(Direction::Up),
                    _ => {
                        return refused("a list and what is its one item, with a field in common if that is an object");
                    }
                }
            }
            Conversion::Document(format) => {
                let is_text = |shape| shape == Shape::Scalar(Scalar::String);
                let is_document = |shape| !matches!(shape, Shape::Scalar(scalar) if scalar != Scalar::Any);
                match shapes {
                    (text, document) if is_text(text) && is_document(document) => {
                        Self::Document(*format, Direction::Down)
                    }
                    (document, text) if is_text(text) && is_document(document) => {
                        Self::Document(*format, Direction::Up)
                    }
                    _ => return refused("a string and the object, map or list that it contains"),
                }
            }
            Conversion::KeyedList { key, value } => {
                let (list, map, list_is) = match shapes {
                    (Shape::List, Shape::Map) => ((from, from_value), (to, to_value), Direction::Down),
                    (Shape::Map, Shape::List) => ((to, to_value), (from, from_value), Direction::Up),
                    _ => return refused("a list of objects and a map"),
                };
                let keyed = KeyedList::new(key, value.as_deref(), list, map);
                Self::KeyedList(keyed.map_err(|message| unfit(respelled, &message))?, list_is)
            }
            Conversion::RenamedKeys(pairs) => {
                let has_keys = |shape| matches!(shape, Shape::Map | Shape::Object | Shape::Scalar(Scalar::Any));
                if !has_keys(shapes.0) || !has_keys(shapes.1) {
                    return refused("two maps");
                }
                Self::RenamedKeys(RenamedKeys::new(pairs))
            }
            Conversion::Expression { up, down } => {
                let [up, down] = [(up, (from, from_value), (to, to_value)), (down, (to, to_value), (from, from_value))]
                    .map(|(source, own, target)| Computed::of_value(source, own, target));
                match (up, down) {
                    (Ok(up), Ok(down)) => Self::Expression { up, down },
                    (up, down) => return Err([up.err(), down.err()].into_iter().flatten().flatten().collect()),
                }
            }
            _ => return Err(unfit(respelled, "it is not a conversion of one field to another")),
        })
    }

    #[inline]
    fn convert<'a>(
        &'a self,
        direction: Direction,
        value: Value<'a>,
        old: Option<Past<'a>>,
        (source, target): (&'a Fit, &'a Fit),
        context: Context<'a>,
    ) -> Result<Option<Value<'a>>, Failed> {
        let arena = context.arena;
        match self {
            Self::Duration => scalar::duration(value, target, arena).map(Some),
            Self::Quantity => scalar::quantity(value, target, arena).map(Some),
            Self::Scale(scale) => scale.convert(direction, value, target, arena).map(Some),
            Self::Text => scalar::text(value, target, arena).map(Some),
            Self::Number => Ok(Some(value)),
            Self::Values(values) => values.convert(direction, value, target, arena).map(Some),
            Self::Joined(delimiter) => joined(delimiter, value, target, arena).map(Some),
            Self::OneItem(list_is) if *list_is == direction => Ok(Some(one_item(value, old, source, arena))),
            Self::OneItem(_) => match value {
                Value::Array(items) => Ok(items.first().map(|item| only_item(*item, old, source, arena))),
                value => Err(wrong_type("list", value)),
            },
            Self::Document(format, text_is) if *text_is == direction => {
                document::write(*format, value, seen(old), source, arena).map(Some)
            }
            Self::Document(format, _) => match value {
                Value::String(text) => document::read(*format, text.as_str(), arena).map(Some),
                value => Err(wrong_type("string", value)),
            },
            Self::KeyedList(keyed, _) => keyed.convert(value, seen(old), source, arena).map(Some),
            Self::RenamedKeys(renamed) => renamed.convert(direction, value, seen(old), arena).map(Some),
            Self::Expression { up, down } => {
                let computed = if direction == Direction::Up { up } else { down };
                computed.evaluate_one(value, context)
            }
        }
    }
}

impl Single {
    /// What was converted, as far as the other side can say it, if it is a value of it.
    fn fitted<'a>(&self, result: Value<'a>, target: &Fit, arena: &'a Arena) -> Result<Value<'a>, Failed> {
        let result = target.nearest(result, arena);
        // Mostly it can say all of it.
        if target.holds(result) {
            return Ok(result);
        }
        let result = if self.how.has_parts() { pruned(result, target, arena) } else { result };
        target.check(result).map(|()| result)
    }
}

impl How {
    /// What stays of the other side once nothing is there on this one any more.
    fn left<'a>(&self, direction: Direction, (was, result): Past<'a>) -> Option<Value<'a>> {
        let is_list = matches!(self, Self::OneItem(list_is) if *list_is == direction);
        let items = if is_list { not_shown(was, result) } else { &[] };
        (!items.is_empty()).then_some(Value::Array(items))
    }

    /// Whether what it gives is always a value of the field that it is for.
    fn fits(&self) -> bool {
        match self {
            Self::Duration | Self::Quantity | Self::Scale(_) | Self::Text | Self::Values(_) | Self::Joined(_) => true,
            // It looks for itself.
            Self::Expression { .. } => true,
            Self::OneItem(_) | Self::Document(..) | Self::KeyedList(..) | Self::RenamedKeys(_) => false,
            Self::Number => false,
        }
    }

    /// Whether it passes objects on as they are, some fields of which the other side may not have.
    fn has_parts(&self) -> bool {
        matches!(self, Self::OneItem(_) | Self::Document(..) | Self::KeyedList(..))
    }
}

/// The list of texts and the one text.
fn joined<'a>(delimiter: &str, value: Value<'a>, target: &Fit, arena: &'a Arena) -> Result<Value<'a>, Failed> {
    match (value, target.element()) {
        (Value::String(text), Some(_)) if text.as_str().is_empty() => Ok(Value::Array(&[])),
        (Value::String(text), Some(item)) => {
            let (text, item) = (text.as_str(), item.scalar());
            let mut characters = delimiter.chars();
            // A single character is found without the machinery that texts need.
            let items = match (characters.next(), characters.next()) {
                (Some(only), None) => read_all(text.split(only), item, arena),
                _ => read_all(text.split(delimiter), item, arena),
            };
            items.map(Value::Array)
        }
        (Value::Array(items), None) => {
            let mut texts = SmallVec::<[&str; 16]>::new();
            for item in items {
                if !texts.is_empty() {
                    texts.push(delimiter);
                }
                texts.push(scalar::spelled(*item)?);
            }
            Ok(Value::string(arena.concat(&texts)))
        }
        (value, element) => Err(wrong_type(if element.is_some() { "string" } else { "list" }, value)),
    }
}

/// What each of some texts spells.
fn read_all<'a>(
    texts: impl Iterator<Item = &'a str>,
    scalar: Scalar,
    arena: &'a Arena,
) -> Result<&'a [Value<'a>], Failed> {
    let mut values = SmallVec::<[Value<'a>; 8]>::new();
    for text in texts {
        values.push(scalar::read(text, scalar, arena)?);
    }
    Ok(arena.slice(&values))
}

/// No value that a document has.
const OTHER: Value<'static> = Value::Object(&[Entry { key: "$other", value: Value::Null }]);

/// Something else than a value without parts, if it is what it was.
pub(super) fn replaced<'a>(old: Value<'a>, new: Value<'a>) -> Value<'a> {
    let has_parts = matches!(new, Value::Array(_) | Value::Object(_));
    if !has_parts && equal(old, new) { OTHER } else { old }
}

/// A value and what was made of it, before and now: what was made of it before, with something else where that is the same
/// as now although the value has changed.
fn told_apart<'a>(
    within: &[Step],
    (was, old): (Value<'a>, Value<'a>),
    (is, new): (Value<'a>, Value<'a>),
    arena: &'a Arena,
) -> Value<'a> {
    if equal(was, is) {
        return old;
    }
    let Some((step, below)) = within.split_first() else { return replaced(old, new) };
    match (step, was, old, is, new) {
        (Step::Items, Value::Array(was), Value::Array(old), Value::Array(is), Value::Array(new))
            if was.len() == old.len() && is.len() == new.len() =>
        {
            let mut told = old.to_vec();
            for (position, matched) in match_items(is, was, &[]).into_iter().enumerate() {
                if let Some(at) = matched {
                    told[at] = told_apart(below, (was[at], old[at]), (is[position], new[position]), arena);
                }
            }
            Value::Array(arena.slice(&told))
        }
        (Step::Values, Value::Object(was), Value::Object(old), Value::Object(is), Value::Object(new)) => {
            let (was, is, new) = (by_key(was), by_key(is), by_key(new));
            Value::Object(arena.slice_from(old.iter().map(|entry| {
                let now = find(&is, entry.key).zip(find(&new, entry.key));
                let told = find(&was, entry.key).zip(now);
                let told = told.map(|(was, now)| told_apart(below, (was, entry.value), now, arena));
                Entry { key: entry.key, value: told.unwrap_or(entry.value) }
            })))
        }
        _ => old,
    }
}

/// The past, if there was anything.
fn seen<'a>(old: Option<Past<'a>>) -> Option<(Value<'a>, Value<'a>)> {
    old.and_then(|(was, result)| Some((was.filter(|was| !was.is_null())?, result)))
}

/// The list of an item. Of a longer one only the first item is shown, and the others stay where they are.
fn one_item<'a>(value: Value<'a>, old: Option<Past<'a>>, said: &Fit, arena: &'a Arena) -> Value<'a> {
    let item = match seen(old) {
        Some((was, Value::Array([first, ..]))) => with_unsaid(value, Some(was), *first, said, arena),
        _ => value,
    };
    match old.map(|(was, list)| not_shown(was, list)).unwrap_or_default() {
        [] => Value::Array(arena.slice(&[item])),
        others => Value::Array(arena.slice(&[&[item], others].concat())),
    }
}

/// The first item of a list, which is all that the other side shows of it.
fn only_item<'a>(item: Value<'a>, old: Option<Past<'a>>, list: &Fit, arena: &'a Arena) -> Value<'a> {
    let (Some((was, old)), Some(said)) = (seen(old), list.element()) else { return item };
    with_unsaid(item, was.as_array().and_then(|was| was.first().copied()), old, said, arena)
}

/// The items of a list that the side of the one item did not show. If it showed none, its writers took it away before, and
/// all that is in the list now came after.
fn not_shown<'a>(was: Option<Value<'a>>, list: Value<'a>) -> &'a [Value<'a>] {
    match list.as_array().unwrap_or_default() {
        [first, others @ ..] if first.is_null() || was.is_some_and(|was| !was.is_null()) => others,
        items => items,
    }
}

fn descend(structure: &Structure, field: NodeIndex, within: &[Step]) -> Option<NodeIndex> {
    within.iter().try_fold(field, |node, step| {
        let shape = if *step == Step::Items { Shape::List } else { Shape::Map };
        structure.element(node).filter(|_| structure.node(node).shape == shape)
    })
}

/// Whether two objects have a field in common, or one of them has none that are declared; of other values there is nothing
/// to compare.
fn has_common_fields((one, object): (&Structure, NodeIndex), (other, another): (&Structure, NodeIndex)) -> bool {
    let (fields, others) = (&one.node(object).children, &other.node(another).children);
    let mut names = fields.iter().filter_map(|field| one.node(*field).name());
    fields.is_empty()
        || others.is_empty()
        || names.clone().next().is_none()
        || names.any(|name| other.child(another, name).is_some())
}

fn is_number(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::Integer | Scalar::Number | Scalar::IntOrString | Scalar::Any)
}

fn is_text_and_number(text: Scalar, number: Scalar) -> bool {
    matches!(text, Scalar::String | Scalar::IntOrString | Scalar::Any)
        && matches!(number, Scalar::Integer | Scalar::Number | Scalar::Any)
}

fn is_text_and_typed(text: Scalar, typed: Scalar) -> bool {
    text != typed
        && matches!(text, Scalar::String | Scalar::IntOrString)
        && matches!(typed, Scalar::Integer | Scalar::Number | Scalar::Boolean | Scalar::IntOrString)
}
