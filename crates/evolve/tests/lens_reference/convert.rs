//! What becomes of the values of one side of a respelled fact on the other, as slowly as the rules say it.
//!
//! - Nothing becomes nothing, and null is null where the other side can say it, else nothing.
//! - What does not fit the fields of the other side is no result: then all of them are absent.
//! - Where there was a value before, what did not change keeps its spelling and its place: items of lists, extra keys of
//!   maps, items beside the one that is an object.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use wheelwright_evolve::{Conversion, Direction, Scalar, Shape};

use crate::{expression::Expression, matching::by_likeness, tree::Tree};

/// A respelled fact, with the nodes of both sides in the trees of their versions.
pub(crate) struct Converter {
    pub(crate) with: Conversion,
    /// Of expressions: what they mean, on the way up and on the way down.
    pub(crate) expressions: [Vec<Expression>; 2],
    /// How many levels of items and values are converted on their own.
    pub(crate) levels: usize,
}

/// A side of a fact: its version, and its fields in it.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) nodes: &'t [usize],
}

/// Values before: those of the side that is left, and those of the other.
pub(crate) type Before<'v> = Option<(&'v [Option<Json>], &'v [Option<Json>])>;

impl Converter {
    /// The values of the fields on the other side.
    pub(crate) fn convert(
        &self,
        direction: Direction,
        sources: &[Option<Json>],
        before: Before<'_>,
        (source, target): (Fields<'_>, Fields<'_>),
    ) -> Vec<Option<Json>> {
        let nothing = vec![None; target.nodes.len()];
        if sources.iter().all(Option::is_none) {
            return nothing;
        }
        let converted = self.converted(direction, sources, before, source, target);
        let fitting = converted.filter(|results| {
            let mut results = results.iter().zip(target.nodes);
            results.all(|(result, node)| result.as_ref().is_none_or(|result| fits(target.tree, *node, result)))
        });
        fitting.unwrap_or(nothing)
    }

    fn converted(
        &self,
        direction: Direction,
        sources: &[Option<Json>],
        before: Before<'_>,
        source: Fields<'_>,
        target: Fields<'_>,
    ) -> Option<Vec<Option<Json>>> {
        let is_up = direction == Direction::Up;
        match (&self.with, sources, target.nodes) {
            (Conversion::Template { template, pattern }, [Some(text)], parts) if is_text(source) && parts.len() > 1 => {
                taken_apart(template, pattern.as_deref(), text.as_str()?, target)
            }
            (Conversion::Template { template, .. }, parts, [_]) => {
                Some(vec![Some(put_together(template, parts, source)?)])
            }
            (Conversion::Entries(keys), [Some(map)], _) if shape_of(source, 0) == Shape::Map => {
                let map = map.as_object()?;
                Some(keys.iter().map(|key| map.get(&**key).cloned()).collect())
            }
            (Conversion::Entries(keys), fields, _) => {
                let old = before.and_then(|(_, old)| old[0].as_ref()?.as_object().cloned()).unwrap_or_default();
                let is_extra = |key: &String| keys.iter().all(|other| **other != **key);
                let mut map: Map<String, Json> = old.into_iter().filter(|(key, _)| is_extra(key)).collect();
                let there = keys.iter().zip(fields).filter_map(|(key, value)| Some((key.to_string(), value.clone()?)));
                map.extend(there);
                Some(vec![Some(Json::Object(map))])
            }
            (Conversion::Expressions { .. }, sources, _) => {
                let own = own_of(source, sources);
                let expressions = &self.expressions[usize::from(!is_up)];
                Some(expressions.iter().map(|expression| expression.value(&own)).collect())
            }
            (_, [Some(value)], [node]) => {
                let old = before.and_then(|(sources, results)| Some((sources[0].as_ref()?, results[0].as_ref()?)));
                let own = (source.tree, source.nodes[0]);
                let result = self.at_level(self.levels, direction, value, old, own, (target.tree, *node))?;
                Some(vec![Some(result).filter(|result| !result.is_null() || target.tree.node(*node).nullable)])
            }
            _ => None,
        }
    }

    /// A value, or every item or value in it.
    fn at_level(
        &self,
        level: usize,
        direction: Direction,
        value: &Json,
        old: Option<(&Json, &Json)>,
        source: (&Tree, usize),
        target: (&Tree, usize),
    ) -> Option<Json> {
        if value.is_null() {
            return Some(Json::Null);
        }
        if level == 0 {
            return self.one(direction, value, old, source, target);
        }
        let inner = ((source.0, source.0.element(source.1)?), (target.0, target.0.element(target.1)?));
        match value {
            Json::Array(items) => {
                let old = old.and_then(|(source, result)| Some((source.as_array()?, result.as_array()?)));
                let (old_items, old_results) = old.map_or((&[][..], &[][..]), |(a, b)| (&a[..], &b[..]));
                let kept = match old_items.len() == old_results.len() {
                    true => by_likeness(items, old_items),
                    false => vec![None; items.len()],
                };
                let converted = items.iter().zip(kept).map(|(item, kept)| match kept {
                    Some(at) if old_items[at] == *item => Some(old_results[at].clone()),
                    _ => self.at_level(level - 1, direction, item, None, inner.0, inner.1),
                });
                converted.collect::<Option<Vec<Json>>>().map(Json::Array)
            }
            Json::Object(values) => {
                let old = old.and_then(|(source, result)| Some((source.as_object()?, result.as_object()?)));
                let converted = values.iter().map(|(key, value)| {
                    let old = old.and_then(|(source, result)| Some((source.get(key)?, result.get(key)?)));
                    let result = match old {
                        Some((source, result)) if source == value => result.clone(),
                        old => self.at_level(level - 1, direction, value, old, inner.0, inner.1)?,
                    };
                    Some((key.clone(), result))
                });
                converted.collect::<Option<Map<String, Json>>>().map(Json::Object)
            }
            _ => None,
        }
    }

    fn one(
        &self,
        direction: Direction,
        value: &Json,
        old: Option<(&Json, &Json)>,
        (source, own): (&Tree, usize),
        (target, to): (&Tree, usize),
    ) -> Option<Json> {
        let is_up = direction == Direction::Up;
        let (own, to) = (source.node(own), target.node(to));
        match &self.with {
            Conversion::DurationSeconds => match value {
                Json::String(text) => Some(json!(seconds(text)?)),
                value => Some(json!(go_duration(value.as_i64()?))),
            },
            Conversion::Quantity => match value {
                Json::String(text) => Some(json!(quantity(text)?)),
                value => Some(json!(value.as_i64()?.to_string())),
            },
            // Factors are halves and wholes here, which are exact in binary.
            Conversion::Scale(factor) => {
                let (factor, value): (f64, i64) = (factor.parse().ok()?, value.as_i64()?);
                let scaled = if is_up { value as f64 * factor } else { value as f64 / factor };
                (scaled.fract() == 0.0).then(|| json!(scaled as i64))
            }
            Conversion::Text => match (value, to.shape) {
                (Json::String(text), Shape::Scalar(Scalar::Integer)) => Some(json!(text.parse::<i64>().ok()?)),
                (Json::String(text), Shape::Scalar(Scalar::Boolean)) => Some(json!(text.parse::<bool>().ok()?)),
                (Json::Number(number), _) => Some(json!(number.to_string())),
                (Json::Bool(value), _) => Some(json!(value.to_string())),
                _ => None,
            },
            Conversion::Values(pairs) => {
                let text = value.as_str()?;
                let found = pairs.iter().map(|(old, new)| if is_up { (old, new) } else { (new, old) });
                let found = found.into_iter().find(|(from, _)| ***from == *text);
                Some(json!(found.map_or(text, |(_, to)| &**to)))
            }
            Conversion::Joined(delimiter) => match value {
                Json::String(text) if text.is_empty() => Some(json!([])),
                Json::String(text) => Some(text.split(&**delimiter).map(Json::from).collect()),
                Json::Array(items) => {
                    let texts: Option<Vec<&str>> = items.iter().map(Json::as_str).collect();
                    Some(json!(texts?.join(delimiter)))
                }
                _ => None,
            },
            Conversion::OneItem => match (value, own.shape) {
                (Json::Object(_), Shape::Object) => {
                    let others = old.and_then(|(_, list)| list.as_array()).map_or(&[][..], |list| &list[..]);
                    Some([value].into_iter().chain(others.iter().skip(1)).cloned().collect())
                }
                (Json::Array(items), Shape::List) => Some(items.first().cloned().unwrap_or(Json::Null)),
                _ => None,
            },
            Conversion::KeyedList { key, value: part } => match (value, own.shape) {
                (Json::Array(items), Shape::List) => to_map(items, key, part.as_deref()),
                (Json::Object(map), Shape::Map) => {
                    to_list(map, key, part.as_deref(), old.and_then(|(_, list)| list.as_array()))
                }
                _ => None,
            },
            Conversion::RenamedKeys(pairs) => {
                let map = value.as_object()?;
                let renamed = |key: &str| {
                    let found = pairs.iter().map(|(old, new)| if is_up { (old, new) } else { (new, old) });
                    found.into_iter().find(|(from, _)| ***from == *key).map(|(_, to)| to.to_string())
                };
                let (moved, stay): (Vec<_>, Vec<_>) = map.iter().partition(|(key, _)| renamed(key).is_some());
                let mut result: Map<String, Json> = stay.into_iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                result.extend(moved.into_iter().filter_map(|(key, value)| Some((renamed(key)?, value.clone()))));
                Some(Json::Object(result))
            }
            Conversion::Expression { .. } => self.expressions[usize::from(!is_up)][0].value(value),
            _ => None,
        }
    }
}

/// Whether a value is of the shape of a field.
pub(crate) fn fits(tree: &Tree, node: usize, value: &Json) -> bool {
    let field = tree.node(node);
    match (field.shape, value) {
        (_, Json::Null) => field.nullable,
        (Shape::Object, Json::Object(entries)) => entries.iter().all(|(name, value)| match tree.child(node, name) {
            Some(child) => fits(tree, child, value),
            None => field.keeps_unknown,
        }),
        (Shape::Map, Json::Object(entries)) => {
            tree.element(node).is_none_or(|element| entries.values().all(|value| fits(tree, element, value)))
        }
        (Shape::List, Json::Array(items)) => {
            tree.element(node).is_none_or(|element| items.iter().all(|item| fits(tree, element, item)))
        }
        (Shape::Scalar(scalar), value) => match (scalar, value) {
            (Scalar::Any, _) => true,
            (Scalar::String | Scalar::IntOrString, Json::String(_)) | (Scalar::Boolean, Json::Bool(_)) => true,
            (Scalar::Integer | Scalar::IntOrString, value) => value.is_i64(),
            (Scalar::Number, value) => value.is_number(),
            _ => false,
        },
        _ => false,
    }
}

fn shape_of(fields: Fields<'_>, at: usize) -> Shape {
    fields.tree.node(fields.nodes[at]).shape
}

fn is_text(fields: Fields<'_>) -> bool {
    fields.nodes.len() == 1 && shape_of(fields, 0) == Shape::Scalar(Scalar::String)
}

/// An object with fields at their places.
fn own_of(fields: Fields<'_>, values: &[Option<Json>]) -> Json {
    let mut own = json!({});
    for (node, value) in fields.nodes.iter().zip(values).filter_map(|(node, value)| Some((node, value.as_ref()?))) {
        let mut at = &mut own;
        for name in fields.tree.names_from_scope(*node) {
            at = at.as_object_mut().expect("objects above fields").entry(name).or_insert_with(|| json!({}));
        }
        *at = value.clone();
    }
    own
}

/// A template as literals and names, one after the other: the names are at odd places.
fn pieces(template: &str) -> Vec<&str> {
    template.split(['{', '}']).collect()
}

fn put_together(template: &str, parts: &[Option<Json>], source: Fields<'_>) -> Option<Json> {
    let mut text = String::new();
    let mut literal = "";
    for (position, piece) in pieces(template).into_iter().enumerate() {
        if position % 2 == 0 {
            literal = piece;
            continue;
        }
        let at = source.nodes.iter().position(|node| source.tree.node(*node).name == piece)?;
        match &parts[at] {
            None | Some(Json::Null) => {}
            Some(Json::String(part)) => text += &format!("{literal}{part}"),
            Some(Json::Array(_) | Json::Object(_)) => return None,
            Some(part) => text += &format!("{literal}{part}"),
        }
        literal = "";
    }
    Some(json!(text + literal))
}

fn taken_apart(template: &str, pattern: Option<&str>, text: &str, target: Fields<'_>) -> Option<Vec<Option<Json>>> {
    assert!(pattern.is_none(), "no patterns are generated");
    let pieces = pieces(template);
    let mut found = BTreeMap::new();
    let mut rest = text.strip_prefix(pieces[0])?;
    for pair in pieces[1..].chunks(2) {
        let (name, literal) = (pair[0], pair[1]);
        let (part, after) = if literal.is_empty() { (rest, "") } else { rest.split_once(literal)? };
        found.insert(name, part);
        rest = after;
    }
    let parts = target.nodes.iter().map(|node| {
        let field = target.tree.node(*node);
        let part = *found.get(field.name.as_str())?;
        Some(Some(match field.shape {
            Shape::Scalar(Scalar::Integer) => json!(part.parse::<i64>().ok()?),
            Shape::Scalar(Scalar::Boolean) => json!(part.parse::<bool>().ok()?),
            _ => json!(part),
        }))
    });
    parts.collect()
}

fn to_map(items: &[Json], key: &str, part: Option<&str>) -> Option<Json> {
    let mut map = Map::new();
    for item in items {
        let mut item = item.as_object()?.clone();
        let Some(Json::String(name)) = item.remove(key) else { continue };
        match part {
            Some(part) => drop(map.insert(name, item.remove(part).unwrap_or(Json::Null))),
            None => drop(map.insert(name, Json::Object(item))),
        }
    }
    Some(Json::Object(map))
}

fn to_list(map: &Map<String, Json>, key: &str, part: Option<&str>, old: Option<&Vec<Json>>) -> Option<Json> {
    let item_of = |name: &str, value: &Json| {
        let mut item = Map::new();
        match (part, value) {
            (Some(part), value) => drop(item.insert(part.to_owned(), value.clone())),
            (None, Json::Object(fields)) => item.extend(fields.clone()),
            _ => return None,
        }
        item.insert(key.to_owned(), json!(name));
        Some(Json::Object(item))
    };
    let name_of = |item: &Json| item.get(key).and_then(Json::as_str).map(str::to_owned);
    let mut list: Vec<Json> = Vec::new();
    let old = old.map_or(&[][..], |old| &old[..]);
    for (position, item) in old.iter().enumerate() {
        let Some(name) = name_of(item) else { continue };
        let Some(value) = map.get(&name) else { continue };
        let is_last = old[position + 1..].iter().all(|later| name_of(later).as_ref() != Some(&name));
        list.push(if is_last { item_of(&name, value)? } else { item.clone() });
    }
    let mut new: Vec<&String> =
        map.keys().filter(|key| old.iter().all(|item| name_of(item).as_ref() != Some(*key))).collect();
    new.sort();
    for name in new {
        list.push(item_of(name, &map[name])?);
    }
    Some(Json::Array(list))
}

/// Whole seconds of a duration as Go writes it.
fn seconds(text: &str) -> Option<i64> {
    let (sign, mut rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    if rest == "0" {
        return Some(0);
    }
    let mut milliseconds = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = &rest[end..];
        let unit_end = rest.find(|letter: char| letter.is_ascii_digit() || letter == '.').unwrap_or(rest.len());
        milliseconds += number
            * match &rest[..unit_end] {
                "ms" => 1.0,
                "s" => 1_000.0,
                "m" => 60_000.0,
                "h" => 3_600_000.0,
                _ => return None,
            };
        rest = &rest[unit_end..];
    }
    (!text.is_empty()).then_some(sign * (milliseconds / 1_000.0) as i64)
}

fn go_duration(seconds: i64) -> String {
    let (sign, rest) = if seconds < 0 { ("-", -seconds) } else { ("", seconds) };
    let (hours, minutes, seconds) = (rest / 3_600, rest / 60 % 60, rest % 60);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, _) => format!("{sign}{minutes}m{seconds}s"),
        _ => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// A quantity that is a whole number.
fn quantity(text: &str) -> Option<i64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '-').unwrap_or(text.len());
    let number: i64 = text[..end].parse().ok()?;
    match &text[end..] {
        "" => Some(number),
        "m" if number % 1_000 == 0 => Some(number / 1_000),
        "k" => Some(number * 1_000),
        "Ki" => Some(number * 1_024),
        _ => None,
    }
}
