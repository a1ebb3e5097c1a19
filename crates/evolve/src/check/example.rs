//! Small documents: the way to some fields, what must be there besides, and nothing else.

use std::collections::{HashMap, HashSet};

use wheelwright_document::{Owned, Value};
use wheelwright_schema::{
    Program, Root, Schema,
    model::{Additional, Type},
};

use super::{diff::spelled, side::Side};
use crate::{NodeIndex, Shape};

/// What a field is in a small document.
pub(crate) enum Wanted {
    /// It has this value.
    Is(Owned),
    /// It has some value that shows that it is there.
    Present,
    /// It is left out.
    Absent,
}

/// A small document of a version in which fields are what is wanted of them; none if that takes too much.
pub(crate) fn document(side: &Side<'_>, wanted: &HashMap<NodeIndex, Wanted>) -> Option<Owned> {
    let mut on_way = HashSet::new();
    for node in wanted.keys() {
        let above = std::iter::successors(side.parent(*node), |node| side.parent(*node));
        on_way.extend(above.take_while(|node| !wanted.contains_key(node)));
    }
    let mut build = Build { side, wanted, on_way, maker: Maker { root: side.value_root(), budget: 10_000 } };
    let Owned::Object(fields) = build.node(side.version.structure.root())? else { return None };
    let Some((api_version, kind)) = &side.type_meta else { return Some(Owned::Object(fields)) };
    let name = Owned::Object([("name".into(), string("example"))].into());
    let own = [("apiVersion".into(), string(api_version)), ("kind".into(), string(kind)), ("metadata".into(), name)];
    Some(Owned::Object(own.into_iter().chain(fields).collect()))
}

/// A value that a schema accepts, as far as can be told without trying everything.
pub(crate) fn value_for(schema: &Schema, root: Root) -> Option<Owned> {
    Maker { root, budget: 10_000 }.accepted(schema)
}

/// A document as it is shown in a message: without its type and its name.
pub(crate) fn essence(document: &Owned) -> String {
    match document {
        Owned::Object(fields) => {
            let is_content = |name: &str| !matches!(name, "apiVersion" | "kind" | "metadata");
            let content = fields.iter().filter(|(name, _)| is_content(name)).cloned();
            spelled(&Owned::Object(content.collect()))
        }
        other => spelled(other),
    }
}

/// A string of its own.
pub(crate) fn string(text: &str) -> Owned {
    Owned::from(Value::string(text))
}

/// The number 1 and others.
pub(crate) fn number(number: impl ToString) -> Owned {
    Owned::Number(number.to_string().into())
}

struct Build<'b> {
    side: &'b Side<'b>,
    wanted: &'b HashMap<NodeIndex, Wanted>,
    on_way: HashSet<NodeIndex>,
    maker: Maker,
}

impl Build<'_> {
    fn node(&mut self, node: NodeIndex) -> Option<Owned> {
        let structure = &self.side.version.structure;
        match self.wanted.get(&node) {
            Some(Wanted::Is(value)) => return Some(value.clone()),
            Some(Wanted::Present) => return self.maker.telling(self.side.schema(node)?),
            Some(Wanted::Absent) => return None,
            None => {}
        }
        let is_root = node == structure.root();
        if !is_root && !self.on_way.contains(&node) {
            return self.maker.accepted(self.side.schema(node)?);
        }
        match structure.node(node).shape {
            Shape::Object => {
                let mut fields = Vec::new();
                for child in &structure.node(node).children {
                    let wanted = self.wanted.get(child);
                    let is_there = wanted.is_some() || self.on_way.contains(child) || self.side.is_required(*child);
                    let name = structure.node(*child).name();
                    if let Some(name) = name.filter(|_| is_there && !matches!(wanted, Some(Wanted::Absent))) {
                        fields.push((name.into(), self.node(*child)?));
                    }
                }
                if let Some(schema) = self.side.schema(node).filter(|_| !is_root) {
                    self.maker.fill(schema, &mut fields)?;
                }
                Some(Owned::Object(fields.into()))
            }
            Shape::List => Some(Owned::Array([self.node(structure.element(node)?)?].into())),
            Shape::Map => Some(Owned::Object([("example".into(), self.node(structure.element(node)?)?)].into())),
            Shape::Scalar(_) => None,
        }
    }
}

struct Maker {
    root: Root,
    /// How many values may still be made.
    budget: usize,
}

impl Maker {
    /// A value that is there to be seen: objects and lists are not empty, and nothing is what it would be by default.
    fn telling(&mut self, schema: &Schema) -> Option<Owned> {
        let value = match &schema.default {
            Some(default) => self.other_than(schema, default)?,
            None => self.accepted(schema)?,
        };
        match &value {
            Owned::Object(fields) if fields.is_empty() => {
                if let Some(property) = schema.properties.iter().next() {
                    return Some(Owned::Object([(property.name.clone(), self.telling(&property.schema)?)].into()));
                }
                let values = match &schema.additional_properties {
                    Some(Additional::Schema(values)) => self.telling(values)?,
                    _ if schema.extensions.preserve_unknown_fields == Some(true) => string("value"),
                    Some(Additional::Allowed(true)) => string("value"),
                    _ => return Some(value),
                };
                Some(Owned::Object([("example".into(), values)].into()))
            }
            Owned::Array(items) if items.is_empty() => match &schema.items {
                Some(items) => Some(Owned::Array([self.telling(items)?].into())),
                None => Some(value),
            },
            _ => Some(value),
        }
    }

    /// A value that is not the default, if one comes to mind.
    fn other_than(&mut self, schema: &Schema, default: &Owned) -> Option<Owned> {
        let mut others = schema.checks.r#enum.clone();
        others.extend(self.made(schema));
        match default {
            Owned::Bool(value) => others.push(Owned::Bool(!value)),
            Owned::Number(text) => {
                others.extend(text.parse::<f64>().iter().flat_map(|value| [number(value + 1.0), number(value - 1.0)]));
            }
            _ => {}
        }
        others.retain(|other| other != default);
        others.push(default.clone());
        Some(self.first_fitting(schema, others))
    }

    /// The smallest value that comes to mind.
    fn accepted(&mut self, schema: &Schema) -> Option<Owned> {
        match &schema.default {
            Some(default) => Some(default.clone()),
            None => self.made(schema),
        }
    }

    fn made(&mut self, schema: &Schema) -> Option<Owned> {
        self.budget = self.budget.checked_sub(1)?;
        if let Some(member) = schema.checks.r#enum.first() {
            return Some(member.clone());
        }
        if schema.extensions.int_or_string {
            return Some(self.first_fitting(schema, [number(1), string("50%")]));
        }
        match &schema.r#type {
            Some(Type::Object) => self.object(schema),
            Some(Type::Array) => {
                let count = usize::try_from(schema.checks.min_items.unwrap_or_default()).ok()?;
                let items = (0..count)
                    .map(|_| schema.items.as_deref().map_or(Some(string("example")), |items| self.accepted(items)));
                Some(Owned::Array(items.collect::<Option<_>>()?))
            }
            Some(Type::String) => Some(self.text(schema)),
            Some(Type::Integer | Type::Number) => Some(self.number(schema)),
            Some(Type::Boolean) => Some(Owned::Bool(true)),
            Some(Type::Unknown(_)) => None,
            None if !schema.properties.is_empty() => self.object(schema),
            None => Some(Owned::Object([].into())),
        }
    }

    fn object(&mut self, schema: &Schema) -> Option<Owned> {
        let one_of = schema.one_of.first().or(schema.any_of.first());
        let required = schema.checks.required.iter().chain(one_of.iter().flat_map(|branch| &branch.checks.required));
        let mut fields: Vec<(Box<str>, Owned)> = Vec::new();
        for name in required {
            if !fields.iter().any(|(known, _)| known == name) {
                let value = schema.property(name).map_or(Some(string("example")), |schema| self.accepted(schema))?;
                fields.push((name.clone(), value));
            }
        }
        self.fill(schema, &mut fields)?;
        Some(Owned::Object(fields.into()))
    }

    /// Adds fields until there are as many as there must be.
    fn fill(&mut self, schema: &Schema, fields: &mut Vec<(Box<str>, Owned)>) -> Option<()> {
        let least = usize::try_from(schema.checks.min_properties.unwrap_or_default()).ok()?;
        for property in schema.properties.iter().take(least) {
            if fields.len() < least && !fields.iter().any(|(known, _)| *known == property.name) {
                fields.push((property.name.clone(), self.accepted(&property.schema)?));
            }
        }
        Some(())
    }

    fn number(&self, schema: &Schema) -> Owned {
        let checks = &schema.checks;
        let least = checks.minimum.map(|least| if checks.exclusive_minimum { least + 1.0 } else { least });
        let most = checks.maximum.map(|most| if checks.exclusive_maximum { most - 1.0 } else { most });
        let in_bounds = 1.0_f64.max(least.unwrap_or(f64::MIN)).min(most.unwrap_or(f64::MAX));
        number(checks.multiple_of.filter(|step| *step > in_bounds).unwrap_or(in_bounds))
    }

    fn text(&self, schema: &Schema) -> Owned {
        let least = usize::try_from(schema.checks.min_length.unwrap_or_default()).unwrap_or_default();
        let most = usize::try_from(schema.checks.max_length.unwrap_or(i64::MAX)).unwrap_or_default();
        let plain = if most < "example".len() { "a" } else { "example" };
        let padded = format!("{plain}{}", "a".repeat(least.min(4096).saturating_sub(plain.len())));
        if schema.checks.pattern.is_none() && schema.checks.format.is_none() {
            return string(&padded);
        }
        self.first_fitting(schema, [padded.as_str()].into_iter().chain(COMMON_TEXTS.iter().copied()).map(string))
    }

    /// The first value that a schema accepts, or else the first one.
    fn first_fitting(&self, schema: &Schema, values: impl IntoIterator<Item = Owned>) -> Owned {
        let program = Program::compile(schema, self.root);
        let mut values = values.into_iter().peekable();
        let first = values.peek().cloned().unwrap_or(Owned::Null);
        values.find(|value| super::side::refusal(&program, value).is_none()).unwrap_or(first)
    }
}

/// Texts that the formats and patterns of real schemas are about.
pub(crate) const COMMON_TEXTS: &[&str] = &[
    "Example",
    "EXAMPLE",
    "1",
    "10m",
    "10m0s",
    "2024-01-01T00:00:00Z",
    "2024-01-01",
    "1.2.3",
    "v1.2.3",
    "example.com",
    "example.com/example",
    "https://example.com",
    "/example",
    "a@example.com",
    "192.0.2.1",
    "192.0.2.0/24",
    "2001:db8::1",
    "2001:db8::/32",
    "YQ==",
    "00000000-0000-4000-8000-000000000000",
    "1Gi",
    "100m",
    "50%",
    "[1-3]",
    "0644",
    "sha256:0000000000000000000000000000000000000000000000000000000000000000",
    "example.com/v1",
    "Example/v1",
    "example:example",
];
