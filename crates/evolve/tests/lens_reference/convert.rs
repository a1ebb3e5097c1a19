//! What becomes of the values of one side of a respelled fact on the other, as slowly as the rules say it.
//!
//! - Nothing becomes nothing, and null is null where the other side can say it, else nothing.
//! - What does not fit the fields of the other side is no result: then all of them are absent.
//! - Where there was a value before, what did not change keeps its spelling and its place: items of lists, extra keys of
//!   maps, items beside the one that is an object. What the side that is left did not show, and whose holder its writer did
//!   not remove, is still there.

mod documents;
mod folded;
mod hidden;
mod maps;
mod scalars;

use serde_json::{Map, Value as Json, json};
use wheelwright_evolve::{Conversion, Direction, Scalar, Shape};

use self::{
    documents::{contained, contains},
    folded::fold,
    hidden::{kept, shown},
    maps::{Keyed, renamed_keys},
    scalars::{go_duration, quantity, read, seconds, spelled},
};
use crate::{expression::Expression, matching::by_likeness, tree::Tree};

/// A respelled fact, with the nodes of both sides in the trees of their versions.
pub(crate) struct Converter {
    pub(crate) with: Conversion,
    /// Of expressions: what they mean, on the way up and on the way down.
    pub(crate) expressions: [Vec<Expression>; 2],
    /// How many levels of items and values are converted on their own.
    pub(crate) levels: usize,
    /// What integers of the older and the newer side are clamped to.
    pub(crate) bounds: [Option<[i64; 2]>; 2],
}

/// A side of a fact: its version, and its fields in it.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) nodes: &'t [usize],
}

/// Values before: those of the side that is left, and those of the other.
pub(crate) type Before<'v> = Option<(&'v [Option<Json>], &'v [Option<Json>])>;

/// What a value was before, and what the other side was then.
type Past<'v> = (Option<&'v Json>, &'v Json);

/// The past, if there was anything.
fn seen(old: Option<Past<'_>>) -> Option<(&Json, &Json)> {
    old.and_then(|(was, result)| Some((was.filter(|was| !was.is_null())?, result)))
}

impl Converter {
    /// The values of the fields on the other side; nothing if it fails.
    pub(crate) fn convert(
        &self,
        direction: Direction,
        sources: &[Option<Json>],
        before: Before<'_>,
        (source, target): (Fields<'_>, Fields<'_>),
        kept: &mut Option<Json>,
    ) -> Option<Vec<Option<Json>>> {
        // What is left is not converted, and stays whatever it is.
        let left = || {
            let old = before.and_then(|(sources, results)| Some((sources[0].as_ref(), results[0].as_ref()?)));
            Some(vec![Some(self.left(self.levels, old, (source.tree, source.nodes[0]))?)])
        };
        let is_null = |values: &[Option<Json>]| matches!(values, [Some(Json::Null)]);
        if sources.iter().all(Option::is_none) && !matches!(self.with, Conversion::Entries(_)) {
            return Some(left().unwrap_or_else(|| vec![None; target.nodes.len()]));
        }
        if is_null(sources)
            && !before.is_some_and(|(sources, _)| is_null(sources))
            && let Some(left) = left()
        {
            return Some(left);
        }
        let converted = match (&self.with, sources) {
            (Conversion::Hook(_), [Some(value)]) => hooked(direction, value, kept).map(|result| vec![Some(result)]),
            _ => self.converted(direction, sources, before, source, target),
        };
        converted.filter(|results| {
            let mut results = results.iter().zip(target.nodes);
            results.all(|(result, node)| match (result, &self.with) {
                (None, _) => true,
                // Extra keys of the map stay as they are, whatever they are.
                (Some(Json::Object(map)), Conversion::Entries(keys)) if target.tree.node(*node).shape == Shape::Map => {
                    let parts: Map<String, Json> =
                        map.clone().into_iter().filter(|(key, _)| keys.iter().any(|it| **it == **key)).collect();
                    fits(target.tree, *node, &Json::Object(parts))
                }
                // What is in lists and maps was looked at on its own, and what did not change stays, whatever it is.
                _ if self.levels > 0 => true,
                (Some(result), _) => fits(target.tree, *node, result),
            })
        })
    }

    /// What a field of the other side was, with something else where that is the same as now although what it was made of has
    /// changed. What has parts is what its parts are.
    pub(crate) fn told_apart(&self, (was, old): (&[Option<Json>], &Json), (is, new): (&[Option<Json>], &Json)) -> Json {
        match (was, is) {
            ([Some(was)], [Some(is)]) => told_apart(self.levels, (was, old), (is, new)),
            _ => told_apart(0, (&json!(0), old), (&json!(1), new)),
        }
    }

    /// Of what is the first item of a list on the other side: which old item every item of the list continues. The item is
    /// the one that was shown, if one was, and the others are the others.
    pub(crate) fn aligned(
        &self,
        (sources, old): (&[Option<Json>], &[Option<Json>]),
        results: &[Option<Json>],
    ) -> Option<Vec<Option<usize>>> {
        let ([was], [Some(Json::Array(old))], [Some(Json::Array(new))]) = (sources, old, results) else { return None };
        if self.with != Conversion::OneItem || self.levels > 0 {
            return None;
        }
        let others = others(Some((was.as_ref(), &Json::Array(old.clone())))).count();
        let (added, hidden) = (new.len() - others, old.len() - others);
        Some(
            (0..new.len())
                .map(|at| if at < added { (hidden > 0).then_some(0) } else { Some(at - added + hidden) })
                .collect(),
        )
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
                assert!(pattern.is_none(), "no patterns are generated");
                match text {
                    Json::Null => Some(vec![None; parts.len()]),
                    text => taken_apart(template, text.as_str()?, target),
                }
            }
            (Conversion::Template { template, .. }, parts, [_]) => Some(vec![put_together(template, parts, source)?]),
            (Conversion::Entries(keys), [map], _) if shape_of(source, 0) == Shape::Map => {
                let map = match map.as_ref()? {
                    Json::Null => &Map::new(),
                    map => map.as_object()?,
                };
                Some(keys.iter().zip(target.nodes).map(|(key, node)| sayable(map.get(&**key), target, *node)).collect())
            }
            (Conversion::Entries(keys), fields, _) => {
                let old = before.and_then(|(_, old)| old[0].as_ref()?.as_object().cloned()).unwrap_or_default();
                let is_extra = |key: &String| keys.iter().all(|other| **other != **key);
                let mut map: Map<String, Json> = old.into_iter().filter(|(key, _)| is_extra(key)).collect();
                let element = target.tree.element(target.nodes[0])?;
                let there = keys.iter().zip(fields);
                let there = there.filter_map(|(key, value)| Some((key, sayable(value.as_ref(), target, element)?)));
                map.extend(there.map(|(key, value)| (key.to_string(), value)));
                Some(vec![Some(Json::Object(map)).filter(|map| *map != json!({}))])
            }
            (Conversion::Folded(key), [shorthand, rich], [node]) => {
                let is_list = target.tree.node(*node).shape == Shape::List;
                let folded = |shorthand: &Option<Json>, rich: &Option<Json>| {
                    fold(key.as_deref(), shorthand.as_ref(), rich.as_ref(), is_list)
                };
                let new = sayable(folded(shorthand, rich).as_ref(), target, *node);
                let old = before.and_then(|(was, old)| Some((folded(&was[0], &was[1]), old[0].as_ref()?)));
                Some(vec![new.map(|new| rewritten(new, old, (source.tree, source.nodes[1]), (target.tree, *node)))])
            }
            (Conversion::Folded(_), [alone], [_, node]) => {
                let new = sayable(alone.as_ref(), target, *node);
                let old = before.and_then(|(was, old)| Some((was[0].clone(), old[1].as_ref()?)));
                let rich = new.map(|new| rewritten(new, old, (source.tree, source.nodes[0]), (target.tree, *node)));
                Some(vec![None, rich])
            }
            (Conversion::Expressions { .. }, sources, _) => {
                let own = own_of(source, sources);
                let expressions = &self.expressions[usize::from(!is_up)];
                expressions.iter().map(|expression| expression.value(&own)).collect::<Result<_, _>>().ok()
            }
            (_, [Some(value)], [node]) => {
                let old = before.and_then(|(sources, results)| Some((sources[0].as_ref(), results[0].as_ref()?)));
                let own = (source.tree, source.nodes[0]);
                Some(vec![self.at_level(self.levels, direction, value, old, own, (target.tree, *node))?])
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
        old: Option<Past<'_>>,
        source: (&Tree, usize),
        target: (&Tree, usize),
    ) -> Option<Option<Json>> {
        if let Some((was, result)) = old
            && was == Some(value)
        {
            return Some(Some(result.clone()));
        }
        if value.is_null() {
            let left = self.left(level, old, source);
            return Some(left.or(Some(Json::Null).filter(|_| target.0.node(target.1).nullable)));
        }
        if level == 0 {
            let mut result = self.one(direction, value, old, source, target)?;
            if let Conversion::OneItem | Conversion::Document(_) | Conversion::KeyedList { .. } = &self.with {
                result = result.map(|whole| shown(target, &whole));
            }
            let bounds = self.bounds[usize::from(direction == Direction::Up)];
            if let (Some([least, most]), Some(number)) = (bounds, result.as_ref().and_then(Json::as_i64)) {
                result = Some(json!(number.clamp(least, most)));
            }
            let is_fit = result.as_ref().is_none_or(|result| fits(target.0, target.1, result));
            return is_fit.then_some(result);
        }
        let inner = ((source.0, source.0.element(source.1)?), (target.0, target.0.element(target.1)?));
        match (value, source.0.node(source.1).shape) {
            (Json::Array(items), Shape::List) => {
                let old = old.and_then(|(source, result)| Some((source?.as_array()?, result.as_array()?)));
                let old = old.filter(|(source, result)| source.len() == result.len());
                let matched = old.map_or_else(
                    || vec![None; items.len()],
                    |(source, _)| by_likeness(items, source, &Default::default(), &|_| 0),
                );
                let converted = items.iter().zip(matched).map(|(item, matched)| {
                    let old = old.and_then(|(source, result)| Some((Some(&source[matched?]), &result[matched?])));
                    self.at_level(level - 1, direction, item, old, inner.0, inner.1)
                });
                let converted = converted.collect::<Option<Vec<Option<Json>>>>()?;
                Some(Some(converted.into_iter().flatten().collect()))
            }
            (Json::Object(values), Shape::Map) => {
                let old = old.and_then(|(source, result)| Some((source?.as_object()?, result.as_object()?)));
                let mut converted = Map::new();
                for (key, value) in values {
                    let old = old.and_then(|(source, result)| Some((Some(source.get(key)?), result.get(key)?)));
                    let result = self.at_level(level - 1, direction, value, old, inner.0, inner.1)?;
                    converted.extend(result.map(|result| (key.clone(), result)));
                }
                Some(Some(Json::Object(converted)))
            }
            _ => None,
        }
    }

    fn one(
        &self,
        direction: Direction,
        value: &Json,
        old: Option<Past<'_>>,
        said: (&Tree, usize),
        (target, to): (&Tree, usize),
    ) -> Option<Option<Json>> {
        let is_up = direction == Direction::Up;
        let (source, own) = said;
        let (own, to, element) = (source.node(own), target.node(to), target.element(to));
        let is_text = to.shape == Shape::Scalar(Scalar::String);
        let may_be_text = is_text || to.shape == Shape::Scalar(Scalar::IntOrString);
        let result = match &self.with {
            Conversion::DurationSeconds => match value {
                Json::String(text) if !is_text => json!(seconds(text)?),
                Json::Number(number) if may_be_text => json!(go_duration(number.as_i64()?)),
                alike => alike.clone(),
            },
            Conversion::Quantity => match value {
                Json::String(text) if !is_text => json!(quantity(text)?),
                Json::Number(number) if may_be_text => json!(number.to_string()),
                alike => alike.clone(),
            },
            // Factors are halves and wholes here, which are exact in binary.
            Conversion::Scale(factor) => {
                let (factor, value): (f64, i64) = (factor.parse().ok()?, value.as_i64()?);
                let scaled = if is_up { value as f64 * factor } else { value as f64 / factor };
                if scaled.fract() != 0.0 {
                    return None;
                }
                json!(scaled as i64)
            }
            Conversion::Clamped(_) => value.clone(),
            Conversion::Text => read(&spelled(value)?, to.shape)?,
            Conversion::Values(pairs) => {
                let text = spelled(value)?;
                let found = pairs.iter().map(|(old, new)| if is_up { (old, new) } else { (new, old) });
                let found = found.into_iter().find(|(from, _)| ***from == *text);
                read(found.map_or(&text, |(_, to)| &**to), to.shape)?
            }
            Conversion::Joined(delimiter) => match (value, to.shape) {
                (Json::String(text), Shape::List) if text.is_empty() => json!([]),
                (Json::String(text), Shape::List) => text.split(&**delimiter).map(Json::from).collect(),
                (Json::Array(items), Shape::Scalar(_)) => {
                    json!(items.iter().map(spelled).collect::<Option<Vec<String>>>()?.join(delimiter))
                }
                _ => return None,
            },
            Conversion::OneItem => match (value, own.shape) {
                (value, Shape::Object) => {
                    let first = seen(old).and_then(|(was, list)| Some((was, list.as_array()?.first()?)));
                    let item = first.map_or(value.clone(), |(was, old)| kept(value.clone(), Some(was), old, said));
                    [item].into_iter().chain(others(old).cloned()).collect()
                }
                (Json::Array(items), _) => {
                    let said = (source, source.element(said.1)?);
                    return Some(items.first().map(|item| match seen(old) {
                        Some((was, old)) => kept(item.clone(), was.get(0), old, said),
                        None => item.clone(),
                    }));
                }
                _ => return None,
            },
            Conversion::Document(format) if is_text => {
                let before = seen(old).and_then(|(was, text)| Some((was, contained(*format, text.as_str()?)?)));
                let whole = before.map_or(value.clone(), |(was, before)| kept(value.clone(), Some(was), &before, said));
                json!(contains(*format, &whole))
            }
            Conversion::Document(format) => contained(*format, value.as_str()?)?,
            Conversion::KeyedList { key, value: part } => {
                let keyed = Keyed { key, part: part.as_deref() };
                match value {
                    Json::Array(items) => keyed.map(items, seen(old), said),
                    Json::Object(map) => {
                        let field = element.and_then(|item| target.child(item, key));
                        let shape = field.map_or(Shape::Scalar(Scalar::String), |field| target.node(field).shape);
                        keyed.list(map, shape, seen(old), (source, source.element(said.1)?))?
                    }
                    _ => return None,
                }
            }
            Conversion::RenamedKeys(pairs) => renamed_keys(pairs, is_up, value.as_object()?, seen(old)),
            Conversion::Expression { .. } => return self.expressions[usize::from(!is_up)][0].value(value).ok(),
            _ => return None,
        };
        Some(Some(result))
    }
}

/// The items of a list that the side of the one item did not show: it showed the first, if it showed anything. Null in the
/// first place is as good as nothing.
fn others<'v>(old: Option<Past<'v>>) -> impl Iterator<Item = &'v Json> {
    let items = old.and_then(|(_, list)| list.as_array()).into_iter().flatten();
    let shows_first = seen(old).is_some() || items.clone().next().is_some_and(Json::is_null);
    items.skip(usize::from(shows_first))
}

impl Converter {
    /// What stays of the other side where there is nothing any more: items that nobody could see.
    fn left(&self, level: usize, old: Option<Past<'_>>, source: (&Tree, usize)) -> Option<Json> {
        let is_one = matches!(self.with, Conversion::OneItem) && level == 0;
        let is_one = is_one && source.0.node(source.1).shape == Shape::Object;
        let items: Vec<Json> = others(old.filter(|_| is_one)).cloned().collect();
        (!items.is_empty()).then_some(Json::Array(items))
    }
}

fn told_apart(level: usize, (was, old): (&Json, &Json), (is, new): (&Json, &Json)) -> Json {
    match (was, old, is, new) {
        _ if was == is => old.clone(),
        (Json::Array(was), Json::Array(old), Json::Array(is), Json::Array(new))
            if level > 0 && was.len() == old.len() && is.len() == new.len() =>
        {
            let mut told = old.clone();
            for (at, matched) in by_likeness(is, was, &Default::default(), &|_| 0).into_iter().enumerate() {
                if let Some(matched) = matched {
                    told[matched] = told_apart(level - 1, (&was[matched], &old[matched]), (&is[at], &new[at]));
                }
            }
            Json::Array(told)
        }
        (Json::Object(was), Json::Object(old), Json::Object(is), Json::Object(new)) if level > 0 => {
            let told =
                |key: &str| Some(told_apart(level - 1, (was.get(key)?, &old[key]), (is.get(key)?, new.get(key)?)));
            old.iter().map(|(key, old)| (key.clone(), told(key).unwrap_or_else(|| old.clone()))).collect()
        }
        (_, Json::Array(_) | Json::Object(_), ..) => old.clone(),
        _ if level == 0 && old == new => json!({"something": "else"}),
        _ => old.clone(),
    }
}

/// What the hooks of random kinds do.
fn hooked(direction: Direction, value: &Json, kept: &mut Option<Json>) -> Option<Json> {
    let text = value.as_str()?;
    match direction {
        Direction::Up => {
            let (at, last) = text.char_indices().last()?;
            *kept = Some(json!(last.to_string()));
            Some(json!(text[..at]))
        }
        Direction::Down => Some(json!(format!("{text}{}", kept.as_ref().and_then(Json::as_str).unwrap_or_default()))),
    }
}

/// A value that moves as it is, with what its writer was not shown of the old one, as far as the other side can say it.
fn rewritten(new: Json, old: Option<(Option<Json>, &Json)>, said: (&Tree, usize), target: (&Tree, usize)) -> Json {
    let whole = match old {
        Some((was, old)) => kept(new, was.as_ref(), old, said),
        None => new,
    };
    shown(target, &whole)
}

/// A value that moves as it is; null only where that can be said.
fn sayable(value: Option<&Json>, target: Fields<'_>, node: usize) -> Option<Json> {
    value.filter(|value| !value.is_null() || target.tree.node(node).nullable).cloned()
}

/// Whether a value is of the shape of a field.
pub(crate) fn fits(tree: &Tree, node: usize, value: &Json) -> bool {
    let field = tree.node(node);
    match (field.shape, value) {
        (_, Json::Null) => field.nullable,
        (Shape::Object, Json::Object(entries)) => entries.iter().all(|(name, value)| match tree.child(node, name) {
            Some(child) if tree.node(child).is_declared => fits(tree, child, value),
            _ => field.keeps_unknown,
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

fn put_together(template: &str, parts: &[Option<Json>], source: Fields<'_>) -> Option<Option<Json>> {
    let (mut text, mut literal, mut is_absent) = (String::new(), "", true);
    for (position, piece) in pieces(template).into_iter().enumerate() {
        if position % 2 == 0 {
            literal = piece;
            continue;
        }
        let at = source.nodes.iter().position(|node| source.tree.node(*node).name == piece)?;
        if let Some(part) = parts[at].as_ref().filter(|part| !part.is_null()) {
            text += &format!("{literal}{}", spelled(part)?);
            is_absent = false;
        }
        literal = "";
    }
    Some((!is_absent).then(|| json!(text + literal)))
}

/// Templates here are `{a}:{b}`: what is before the first colon, and what is after it, if there is one.
fn taken_apart(template: &str, text: &str, target: Fields<'_>) -> Option<Vec<Option<Json>>> {
    let names: Vec<&str> = pieces(template).into_iter().skip(1).step_by(2).collect();
    let (first, second) = text.split_once(':').map_or((text, None), |(first, second)| (first, Some(second)));
    let parts = target.nodes.iter().map(|node| {
        let field = target.tree.node(*node);
        let part = if field.name == names[0] { Some(first) } else { second };
        part.map_or(Some(None), |part| read(part, field.shape).map(Some))
    });
    parts.collect()
}
