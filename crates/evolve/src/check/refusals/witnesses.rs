//! Witnesses of a change: values that a field's old schema accepts and its new schema refuses.

use std::collections::{BTreeSet, HashSet};

use wheelwright_document::{Arena, Owned};
use wheelwright_schema::{
    Program, Root, Schema,
    model::{Additional, Type},
};

use super::{
    super::{
        diff::spelled,
        example::{number, string, value_for},
        side::refusal,
    },
    named::Named,
    texts::{LONGEST, texts},
};
use crate::laws::{Generator, Random, TextOfPattern};

/// Values that are generated for a field.
const GENERATED: usize = 64;

/// Values that `before` accepts and `after` refuses, the shortest first.
pub(super) fn witnesses(before: &Schema, after: &Schema, root: Root, most: usize, random: &mut Random) -> Vec<Owned> {
    let (old, new) = (Program::compile(before, root), Program::compile(after, root));
    let mut seen = HashSet::new();
    let mut found: Vec<(usize, Owned)> = Vec::new();
    if after.nullable && !before.nullable {
        // It was removed, and is a value now, which rules above may refuse.
        found.push((0, Owned::Null));
    }
    let keeps_unknown = |schema: &Schema| schema.extensions.preserve_unknown_fields == Some(true);
    if keeps_unknown(after) && !keeps_unknown(before) {
        // The same of a field that is not declared.
        found.push((0, Owned::Object([("undeclared".into(), string("a"))].into())));
    }
    for value in candidates(before, after, root, random) {
        let text = spelled(&value);
        let is_new = seen.insert(text.clone());
        if is_new && refusal(&old, &value).is_none() && refusal(&new, &value).is_some() {
            found.push((text.len(), value));
        }
    }
    found.sort_by_key(|(length, _)| *length);
    found.truncate(most);
    found.into_iter().map(|(_, value)| value).collect()
}

/// Some different values that a schema accepts.
pub(super) fn valid_values(schema: &Schema, root: Root, most: usize, random: &mut Random) -> Vec<Owned> {
    let program = Program::compile(schema, root);
    let generator = Generator::new(schema, root);
    let arena = Arena::new();
    let generated = (0..GENERATED).map(|_| Owned::from(generator.generate_reaching(&[], random, &arena)));
    let mut seen = HashSet::new();
    let is_new_and_valid = |value: &Owned| refusal(&program, value).is_none() && seen.insert(spelled(value));
    value_for(schema, root).into_iter().chain(generated).filter(is_new_and_valid).take(most).collect()
}

/// Values that are likely to be witnesses: at the limits of both schemas, named by them, or generated.
fn candidates(before: &Schema, after: &Schema, root: Root, random: &mut Random) -> Vec<Owned> {
    let mut values = vec![Owned::Null, Owned::Bool(true), Owned::Bool(false)];
    let mut named = Named::default();
    named.add(before);
    named.add(after);
    values.append(&mut named.values);
    let may_be_text = matches!(before.r#type, None | Some(Type::String)) || before.extensions.int_or_string;
    if may_be_text {
        values.append(&mut texts(&named, random));
    }
    let around = |limit: &f64| [limit - 1.0, *limit, limit + 1.0];
    values.extend(named.numbers.iter().flat_map(around).map(number));
    let others = ["0", "1", "-1", "2", "3", "7", "10", "0.5", "1000", "2147483648", "-2147483649"];
    values.extend(others.into_iter().map(number));
    let counts = named.counts();
    if let Some(Type::Array) = before.r#type {
        values.extend(lists(before, root, &counts, random));
    }
    if let Some(Additional::Schema(_)) = &before.additional_properties {
        values.extend(counts.iter().filter_map(|count| map(before, root, *count)));
    }
    values.push(Owned::Object([].into()));
    let generator = Generator::new(before, root);
    let nodes = generator.nodes().len();
    let read: Vec<usize> =
        (0..nodes).zip(generator.nodes()).filter(|(_, node)| named.reads(node)).map(|(at, _)| at).collect();
    let arena = Arena::new();
    for round in 0..GENERATED.max(2 * nodes.min(GENERATED)) {
        let mut focus: Vec<usize> = (0..round % 3).map(|_| random.below(nodes)).collect();
        if !read.is_empty() {
            focus.extend((0..3).filter_map(|_| random.pick(&read)));
        }
        let generated = generator.generate_reaching(&focus, random, &arena);
        values.push(generated.into());
        values.append(&mut named.compared(&generated.into(), before, root));
        values.extend((0..if read.is_empty() { 0 } else { 4 }).map(|_| named.seasoned(generated, random)));
    }
    values
}

/// Lists with as many items as limits allow, with equal items, and with different ones.
fn lists(schema: &Schema, root: Root, counts: &BTreeSet<usize>, random: &mut Random) -> Vec<Owned> {
    let Some(items) = schema.items.as_deref() else { return Vec::new() };
    let mut pool: Vec<Owned> = value_for(items, root).into_iter().collect();
    let generator = Generator::new(items, root);
    let arena = Arena::new();
    let all: Vec<usize> = (0..generator.nodes().len().min(16)).collect();
    pool.extend((0..24).map(|_| Owned::from(generator.generate_reaching(&[], random, &arena))));
    pool.extend((0..8).map(|_| Owned::from(generator.generate_reaching(&all, random, &arena))));
    let program = Program::compile(items, root);
    pool.retain(|item| refusal(&program, item).is_none());
    let mut seen = HashSet::new();
    pool.retain(|item| seen.insert(spelled(item)));
    let list = |items: &[&Owned]| Owned::Array(items.iter().map(|item| (*item).clone()).collect());
    let mut found = vec![Owned::Array([].into())];
    for (position, item) in pool.iter().enumerate() {
        found.extend([list(&[item]), list(&[item, item])]);
        found.extend(pool[..position].iter().take(8).map(|other| list(&[item, other])));
    }
    for count in counts.iter().copied() {
        let distinct = numbered(items, count, random).or_else(|| (pool.len() >= count).then(|| pool[..count].to_vec()));
        found.extend(distinct.map(|items| Owned::Array(items.into())));
        found.extend(pool.first().map(|item| Owned::Array(vec![item.clone(); count].into())));
    }
    found
}

/// So many different items, where a text or a number in them can tell them apart.
fn numbered(items: &Schema, count: usize, random: &mut Random) -> Option<Vec<Owned>> {
    let Owned::Object(fields) = value_for(items, Root::Value)? else { return different(items, count, random) };
    let mut values_of = |name: &str| items.property(name).and_then(|schema| different(schema, count, random));
    let columns: Vec<Option<Vec<Owned>>> = fields.iter().map(|(name, _)| values_of(name)).collect();
    let item = |at: usize| {
        let fields = fields.iter().zip(&columns);
        let field = fields.map(|((name, value), column)| {
            let value = column.as_ref().map_or(value, |column| &column[at]);
            (name.clone(), value.clone())
        });
        Owned::Object(field.collect())
    };
    Some((0..count).map(item).collect())
}

/// So many different texts or numbers, if that is what a schema is for.
fn different(schema: &Schema, count: usize, random: &mut Random) -> Option<Vec<Owned>> {
    let checks = &schema.checks;
    match (&schema.r#type, &checks.pattern) {
        _ if !checks.r#enum.is_empty() => None,
        (Some(Type::Integer | Type::Number), _) => Some((1..=count).map(number).collect()),
        (Some(Type::String), None) => Some((0..count).map(|at| string(&format!("a{at}"))).collect()),
        (Some(Type::String), Some(pattern)) => {
            let pattern = TextOfPattern::new(pattern)?;
            let bound = |limit: Option<i64>, other| limit.map_or(other, |limit| limit.clamp(0, LONGEST) as usize);
            let length = bound(checks.min_length, 0)..=bound(checks.max_length, LONGEST as usize);
            let mut seen = HashSet::new();
            let samples = (0..4 * count).filter_map(|_| pattern.sample(random, &length, |_| true));
            let new = samples.filter(|text| seen.insert(text.clone())).take(count);
            let texts: Vec<Owned> = new.map(|text| string(&text)).collect();
            (texts.len() == count).then_some(texts)
        }
        _ => None,
    }
}

/// A map with so many entries.
fn map(schema: &Schema, root: Root, count: usize) -> Option<Owned> {
    let value = value_for(schema.additional_schema()?, root)?;
    Some(Owned::Object((0..count).map(|at| (format!("key{at}").into(), value.clone())).collect()))
}
