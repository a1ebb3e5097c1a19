//! A shorthand beside a richer field, and the richer field alone.

use std::collections::HashSet;

use wheelwright_document::{Arena, Entry, Value, canonical};
use wheelwright_schema::Problem;

use super::{
    Failed, FieldValues, Side,
    fit::Fit,
    parts::{pruned, with_unsaid},
    unfit,
};
use crate::{Direction, NodeIndex, Respelled, Scalar, Shape, Structure, lens::equal};

/// A shorthand that is folded into a richer field.
#[derive(Debug)]
pub(super) struct Folded {
    into: Place,
    /// The richer field beside the shorthand.
    beside: Fit,
    /// The richer field alone.
    alone: Fit,
    /// The direction in which the shorthand is folded.
    folds: Direction,
}

/// What a shorthand becomes part of.
#[derive(Debug)]
enum Place {
    /// A scalar: the shorthand is its value if it has none.
    Scalar,
    /// A list: each value of the shorthand is an item, or the field of an item under a key.
    List(Option<Box<str>>),
    /// A map: the shorthand is the value under a key.
    Map(Box<str>),
}

impl Folded {
    pub(super) fn compile(
        respelled: &Respelled,
        key: Option<&str>,
        from: Side<'_>,
        to: Side<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let (pair, alone, folds) = match (from.fields, to.fields) {
            ([shorthand, rich], [alone]) => ((from, *shorthand, *rich), (to, *alone), Direction::Up),
            ([alone], [shorthand, rich]) => ((to, *shorthand, *rich), (from, *alone), Direction::Down),
            _ => return Err(unfit(respelled, "it is for a shorthand and a field, and that field alone")),
        };
        let (side, shorthand, rich) = pair;
        let values = match side.structure.node(shorthand).shape {
            Shape::List => side.structure.element(shorthand),
            _ => Some(shorthand),
        };
        let value = match values.map(|values| side.structure.node(values).shape) {
            Some(Shape::Scalar(value)) if value != Scalar::Any => value,
            _ => {
                let shape = side.structure.shape_name(shorthand);
                let message = format!("the shorthand must be a scalar or a list of scalars, and is {shape}");
                return Err(unfit(respelled, &message));
            }
        };
        let ends = [(side.structure, rich), (alone.0.structure, alone.1)];
        let into = match ends.map(|(structure, field)| Place::of(structure, field, key, value)) {
            [Ok(into), Ok(other)] if into.is_list() == other.is_list() => into,
            [Ok(_), Ok(_)] => return Err(unfit(respelled, "the field is a list in one version only")),
            [Err(message), _] | [_, Err(message)] => return Err(unfit(respelled, &message)),
        };
        if values != Some(shorthand) && !into.is_list() {
            let names = [(side.structure, shorthand), ends[0]];
            let [shorthand, rich] = names.map(|(structure, field)| structure.shape_name(field));
            return Err(unfit(respelled, &format!("{shorthand} cannot be folded into {rich}")));
        }
        Ok(Self { into, beside: Fit::of(side.structure, rich), alone: Fit::of(alone.0.structure, alone.1), folds })
    }

    pub(super) fn convert<'a>(
        &'a self,
        direction: Direction,
        sources: FieldValues<'_, 'a>,
        old: Option<(FieldValues<'_, 'a>, FieldValues<'_, 'a>)>,
        arena: &'a Arena,
        results: &mut Vec<Option<Value<'a>>>,
    ) -> Result<(), Failed> {
        if direction == self.folds {
            let old = old.and_then(|(was, old)| Some((self.fold(was, arena), old[0]?)));
            let new = self.fold(sources, arena);
            results.push(fitting(new, old, &self.beside, &self.alone, arena)?);
        } else {
            let old = old.and_then(|(was, old)| Some((was[0], old[1]?)));
            let rich = fitting(sources[0], old, &self.alone, &self.beside, arena)?;
            results.extend([None, rich]);
        }
        Ok(())
    }

    /// The richer field with what the shorthand adds to it.
    fn fold<'a>(&'a self, sources: FieldValues<'_, 'a>, arena: &'a Arena) -> Option<Value<'a>> {
        let is_there = |value: &Value<'_>| !value.is_null();
        let (shorthand, rich) = (sources[0].filter(is_there), sources[1]);
        let Some(shorthand) = shorthand else { return rich };
        let rich = rich.filter(is_there);
        match (&self.into, rich) {
            (Place::Scalar, rich) => Some(rich.unwrap_or(shorthand)),
            (Place::Map(key), rich) => {
                let entries = rich.and_then(Value::as_object).unwrap_or_default();
                if rich.is_some_and(|rich| rich.as_object().is_none() || rich.get(key).is_some_and(|it| is_there(&it)))
                {
                    return rich;
                }
                let others = entries.iter().filter(|entry| *entry.key != **key).copied();
                let entries: Vec<_> = others.chain([Entry { key, value: shorthand }]).collect();
                Some(Value::Object(arena.slice(&entries)))
            }
            (Place::List(_), Some(rich)) if rich.as_array().is_none() => Some(rich),
            (Place::List(key), rich) => {
                let items = rich.and_then(Value::as_array).unwrap_or_default();
                let known = items.iter().filter_map(|item| shown(*item, key.as_deref()));
                let mut known: HashSet<Vec<u8>> = known.collect();
                let shorthands = match shorthand {
                    Value::Array(values) => values,
                    value => arena.slice(&[value]),
                };
                let new = shorthands.iter().filter(|value| known.insert(canonical(**value)));
                let new = new.map(|value| match key {
                    Some(key) => Value::Object(arena.slice(&[Entry { key, value: *value }])),
                    None => *value,
                });
                Some(Value::Array(arena.slice(&items.iter().copied().chain(new).collect::<Vec<_>>())))
            }
        }
    }
}

impl Place {
    /// What takes in a value, under a key or as it is; or why nothing does.
    fn of(structure: &Structure, field: NodeIndex, key: Option<&str>, value: Scalar) -> Result<Self, String> {
        let takes = |node: NodeIndex| match structure.node(node).shape {
            Shape::Scalar(scalar) if scalar == value || value.widens_to(scalar) => Ok(()),
            _ => Err(format!(
                "{} cannot hold a value of the shorthand, which is {}",
                structure.shape_name(node),
                value.name()
            )),
        };
        let Some(element) = structure.element(field) else {
            return match (structure.node(field).shape, key) {
                (Shape::Object, _) => Err("the field is an object: write the path to the field in it".to_owned()),
                (_, Some(_)) => Err(format!("{} has no keys: write `folded: true`", structure.shape_name(field))),
                (_, None) => takes(field).map(|()| Self::Scalar),
            };
        };
        match (structure.node(field).shape, structure.node(element).shape, key) {
            (Shape::List, Shape::Object, Some(key)) => match structure.child(element, key) {
                Some(child) => takes(child).map(|()| Self::List(Some(key.into()))),
                None if structure.node(element).keeps_unknown => Ok(Self::List(Some(key.into()))),
                None => Err(format!("the items of the list have no field {key}")),
            },
            (Shape::List, Shape::Object, None) => {
                Err("the items of the list are objects: name the field of them that the shorthand is".to_owned())
            }
            (Shape::List, _, None) => takes(element).map(|()| Self::List(None)),
            (Shape::List, ..) => Err("the items of the list have no keys: write `folded: true`".to_owned()),
            (_, _, Some(key)) => takes(element).map(|()| Self::Map(key.into())),
            (_, _, None) => Err("the field is a map: name the key that the shorthand is".to_owned()),
        }
    }

    fn is_list(&self) -> bool {
        matches!(self, Self::List(_))
    }
}

/// Whether a field has all that a shorthand adds to it.
pub(crate) fn is_folded_into(rich: Value<'_>, shorthand: Value<'_>, key: Option<&str>) -> bool {
    match (rich, shorthand) {
        (Value::Array(items), shorthand) => {
            let known: HashSet<Vec<u8>> = items.iter().filter_map(|item| shown(*item, key)).collect();
            shorthand.as_array().unwrap_or(&[shorthand]).iter().all(|value| known.contains(&canonical(*value)))
        }
        (Value::Object(_), shorthand) => key.and_then(|key| rich.get(key)).is_some_and(|value| equal(value, shorthand)),
        (rich, shorthand) => equal(rich, shorthand),
    }
}

/// What the shorthand of an item would be.
fn shown(item: Value<'_>, key: Option<&str>) -> Option<Vec<u8>> {
    let value = match key {
        Some(key) => item.get(key)?,
        None => item,
    };
    Some(canonical(value))
}

/// A value as the other side can say it, with the parts of the old one that only the other side can.
fn fitting<'a>(
    new: Option<Value<'a>>,
    old: Option<(Option<Value<'a>>, Value<'a>)>,
    said: &Fit,
    target: &Fit,
    arena: &'a Arena,
) -> Result<Option<Value<'a>>, Failed> {
    let Some(new) = new.filter(|new| !new.is_null() || target.is_nullable()) else { return Ok(None) };
    let new = match old {
        Some((was, old)) => with_unsaid(new, was, old, said, arena),
        None => new,
    };
    let new = pruned(new, target, arena);
    target.check(new).map(|()| Some(new))
}
