//! Documents that a schema directs: most of them valid, all of them small, and every node of the schema reached.

mod document;
mod free;
mod mutate;
mod rule;
mod scalar;

use std::collections::{HashMap, HashSet};

use wheelwright_document::{Arena, Owned, Value};
use wheelwright_schema::{
    Root, Schema,
    model::{Additional, ListType, Type},
};

use self::{
    document::{Mood, Run},
    rule::{Patterns, Rule},
};
use super::Random;
use crate::{Selector, Step};

/// One document in so many is spoiled on purpose: wrong types, bounds overstepped, nulls, duplicate keys.
const FLAWED: usize = 8;
/// One document in so many lacks what it should have: everything but metadata, or some required fields.
const INCOMPLETE: usize = 12;

/// Makes documents of one version of a kind. Compile once, generate thousands.
///
/// A document picks a few nodes of the schema at random and has what leads to them; the rest of it is sparse. So
/// documents stay small, and deep nodes are reached as often as others.
#[derive(Debug)]
pub struct Generator {
    nodes: Vec<Node>,
    /// Nodes with nothing below: reaching these reaches all.
    leaves: Vec<usize>,
    /// The names of all declared fields, for places where they mean nothing.
    names: Vec<Box<str>>,
    resource: Option<Resource>,
    /// Edits may change metadata, too.
    varies_metadata: bool,
}

/// What every document of a kind begins with.
#[derive(Debug)]
struct Resource {
    api_version: Box<str>,
    kind: Box<str>,
    /// What the schema says of `metadata.name`.
    name: Option<Rule>,
}

/// A node of the structure.
#[derive(Debug)]
struct Node {
    selector: Selector,
    parent: Option<usize>,
    nullable: bool,
    has_default: bool,
    rule: Rule,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    Object(ObjectShape),
    List {
        /// Nothing describes the items if there is no node.
        items: Option<usize>,
        unique: Unique,
    },
    Scalar(Type),
    IntOrString,
    /// Whatever the junctors say, or anything.
    Any,
}

#[derive(Debug, Default)]
struct ObjectShape {
    /// In the order of their names.
    fields: Vec<(Box<str>, usize)>,
    values: Option<Values>,
    keeps_unknown: bool,
    embedded: bool,
    union: Option<Union>,
    /// Fields that rules speak of. What rules demand is not understood; tossing for these fields helps where a rule
    /// wants them, at some cost where a rule wants them gone, so that no kind is left with next to nothing that passes.
    in_rules: Vec<usize>,
}

/// What the values of a map are.
#[derive(Debug)]
enum Values {
    Node(usize),
    Free,
}

/// What tells the items of a list apart.
#[derive(Debug)]
enum Unique {
    Nothing,
    Whole,
    Keys(Vec<Box<str>>),
}

/// A field that says by its value which other field is set.
#[derive(Debug)]
struct Union {
    discriminator: usize,
    /// Every value, and the field that goes with it.
    cases: Vec<(Box<str>, Option<usize>)>,
}

impl Generator {
    /// Compiles a schema. Documents of a [`Root::Resource`] are of a kind `Example` until they are
    /// [told](Generator::of_kind) otherwise.
    pub fn new(schema: &Schema, root: Root) -> Self {
        let resource = (root == Root::Resource).then(|| {
            let name = schema.property("metadata").and_then(|metadata| metadata.property("name"));
            let name = name.map(|name| Rule::of_node(name, &mut Patterns::default()));
            Resource { api_version: "example.com/v1".into(), kind: "Example".into(), name }
        });
        let mut generator =
            Self { nodes: Vec::new(), leaves: Vec::new(), names: Vec::new(), resource, varies_metadata: false };
        generator.add(schema, Selector::root(), None, &mut Patterns::default());
        generator.leaves = (0..generator.nodes.len()).filter(|at| generator.nodes[*at].is_leaf()).collect();
        generator.names.sort_unstable();
        generator.names.dedup();
        generator
    }

    /// The same, with these values of `apiVersion` and `kind` in documents of a [`Root::Resource`].
    #[must_use]
    pub fn of_kind(mut self, api_version: &str, kind: &str) -> Self {
        if let Some(resource) = &mut self.resource {
            resource.api_version = api_version.into();
            resource.kind = kind.into();
        }
        self
    }

    /// The same, with values that a field is given more often than others.
    pub(super) fn knowing(mut self, values: Vec<(Selector, Vec<Owned>)>) -> Self {
        for (selector, values) in values {
            if let Some(node) = self.nodes.iter_mut().find(|node| node.selector == selector) {
                node.rule.known.extend(values);
            }
        }
        self
    }

    /// The same, with edits that may change metadata, too: where something is computed of it.
    pub(super) fn varying_metadata(mut self, varies: bool) -> Self {
        self.varies_metadata = varies;
        self
    }

    /// The nodes of the schema that documents can reach, the root first. Those that every resource has, `apiVersion`,
    /// `kind` and `metadata` of the root, are not among them.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &Selector> {
        self.nodes.iter().map(|node| &node.selector)
    }

    /// Tells which nodes a document reaches: the positions in [`nodes`](Generator::nodes) of all that has a value, nodes
    /// in lists and maps once for every value.
    pub fn visit(&self, document: Value<'_>, mut reached: impl FnMut(usize)) {
        self.visit_from(0, document, &mut reached);
    }

    /// A document: mostly valid but for the rules of `x-kubernetes-validations`, one in eight spoiled on purpose, one in
    /// twelve incomplete.
    pub fn generate<'a>(&'a self, random: &mut Random, arena: &'a Arena) -> Value<'a> {
        let mood = if random.one_in(FLAWED) {
            Mood::Flawed
        } else if random.one_in(INCOMPLETE) {
            Mood::Incomplete
        } else {
            Mood::Sound
        };
        let ways = 1 + random.below(3);
        let focus: Vec<usize> = (0..ways).filter_map(|_| random.pick(&self.leaves).copied()).collect();
        Run::new(self, mood, random, arena).document(&focus)
    }

    /// A document that is not spoiled, and reaches the given nodes unless they exclude one another: positions in
    /// [`nodes`](Generator::nodes), such as those that no document has reached yet.
    pub fn generate_reaching<'a>(&'a self, nodes: &[usize], random: &mut Random, arena: &'a Arena) -> Value<'a> {
        Run::new(self, Mood::Sound, random, arena).document(nodes)
    }

    /// A document after an edit, or a few, as a client would make them: something changed, added, removed, reordered,
    /// emptied, switched. Nothing is left of what was required only because the client thought of it.
    pub fn mutate<'a>(&'a self, document: Value<'a>, random: &mut Random, arena: &'a Arena) -> Value<'a> {
        Run::new(self, Mood::Sound, random, arena).mutated(document)
    }

    /// The node of a field of an object, or of a value of a map.
    fn below(&self, at: usize, name: &str) -> Option<usize> {
        match &self.nodes[at].shape {
            Shape::Object(shape) => match (shape.position(name), &shape.values) {
                (Some(position), _) => Some(shape.fields[position].1),
                (None, Some(Values::Node(values))) if !self.is_implied(at, name) => Some(*values),
                _ => None,
            },
            _ => None,
        }
    }

    /// The node of the items of a list.
    fn items(&self, at: usize) -> Option<usize> {
        match self.nodes[at].shape {
            Shape::List { items, .. } => items,
            _ => None,
        }
    }

    /// Whether a field is one that the root of every resource has.
    fn is_implied(&self, at: usize, name: &str) -> bool {
        at == 0 && self.resource.is_some() && matches!(name, "apiVersion" | "kind" | "metadata")
    }

    fn visit_from(&self, at: usize, value: Value<'_>, reached: &mut impl FnMut(usize)) {
        reached(at);
        match value {
            Value::Object(entries) => {
                for entry in entries {
                    if let Some(below) = self.below(at, entry.key) {
                        self.visit_from(below, entry.value, reached);
                    }
                }
            }
            Value::Array(items) => {
                if let Some(below) = self.items(at) {
                    items.iter().for_each(|item| self.visit_from(below, *item, reached));
                }
            }
            _ => {}
        }
    }

    /// Adds a node and all below it; nodes come before those below them.
    fn add(&mut self, schema: &Schema, selector: Selector, parent: Option<usize>, patterns: &mut Patterns) -> usize {
        let at = self.nodes.len();
        self.nodes.push(Node {
            selector: selector.clone(),
            parent,
            nullable: schema.nullable,
            has_default: schema.default.is_some(),
            rule: Rule::of_node(schema, patterns),
            shape: Shape::Any,
        });
        let shape = match &schema.r#type {
            _ if schema.extensions.int_or_string => Shape::IntOrString,
            Some(Type::Object) => self.object_shape(schema, &selector, at, patterns),
            Some(Type::Array) => self.list_shape(schema, &selector, at, patterns),
            Some(Type::Unknown(_)) => Shape::Any,
            Some(scalar) => Shape::Scalar(scalar.clone()),
            None if !schema.properties.is_empty() || schema.additional_properties.is_some() => {
                self.object_shape(schema, &selector, at, patterns)
            }
            None if schema.items.is_some() => self.list_shape(schema, &selector, at, patterns),
            None => Shape::Any,
        };
        self.nodes[at].shape = shape;
        at
    }

    fn object_shape(&mut self, schema: &Schema, selector: &Selector, at: usize, patterns: &mut Patterns) -> Shape {
        let mut fields = Vec::with_capacity(schema.properties.len());
        for field in &schema.properties {
            if !self.is_implied(at, &field.name) {
                let selector = selector.then(Step::Field(field.name.clone()));
                fields.push((field.name.clone(), self.add(&field.schema, selector, Some(at), patterns)));
                self.names.push(field.name.clone());
            }
        }
        fields.sort_unstable();
        let values = match &schema.additional_properties {
            Some(Additional::Schema(values)) => {
                Some(Values::Node(self.add(values, selector.then(Step::Values), Some(at), patterns)))
            }
            Some(Additional::Allowed(true)) => Some(Values::Free),
            _ => None,
        };
        Shape::Object(ObjectShape {
            union: self.union_of(&fields),
            in_rules: named_by_rules(schema, &fields),
            fields,
            values,
            keeps_unknown: schema.extensions.preserve_unknown_fields == Some(true),
            embedded: schema.extensions.embedded_resource,
        })
    }

    fn list_shape(&mut self, schema: &Schema, selector: &Selector, at: usize, patterns: &mut Patterns) -> Shape {
        let items = schema.items.as_ref();
        let items = items.map(|items| self.add(items, selector.then(Step::Items), Some(at), patterns));
        let unique = match &schema.extensions.list_type {
            Some(ListType::Map) => Unique::Keys(schema.extensions.list_map_keys.clone()),
            Some(ListType::Set) => Unique::Whole,
            _ if schema.checks.unique_items => Unique::Whole,
            _ => Unique::Nothing,
        };
        Shape::List { items, unique }
    }

    /// Finds a field whose enum names at least two of the fields beside it, as in `type: RollingUpdate` with
    /// `rollingUpdate`: schemas seldom say that the two go together, but their rules do.
    fn union_of(&self, fields: &[(Box<str>, usize)]) -> Option<Union> {
        let positions = fields.iter().enumerate();
        let by_name: HashMap<String, usize> =
            positions.map(|(position, (name, _))| (name.to_ascii_lowercase(), position)).collect();
        fields.iter().enumerate().find_map(|(discriminator, (_, at))| {
            let members = self.nodes[*at].rule.r#enum.iter();
            let texts = members.filter_map(|member| match member {
                Owned::String(text) => Some(text.as_str()),
                _ => None,
            });
            let case = |text: &str| (text.into(), by_name.get(&text.to_ascii_lowercase()).copied());
            let cases: Vec<(Box<str>, Option<usize>)> = texts.map(case).collect();
            let named = cases.iter().filter(|(_, field)| field.is_some()).count();
            (named >= 2).then_some(Union { discriminator, cases })
        })
    }
}

/// The positions of the fields that rules name right after `self.`.
fn named_by_rules(schema: &Schema, fields: &[(Box<str>, usize)]) -> Vec<usize> {
    let rules = schema.extensions.validations.iter().map(|validation| &*validation.rule.text);
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let names: HashSet<&str> = rules
        .flat_map(|rule| rule.split("self.").skip(1))
        .map(|rest| &rest[..rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())])
        .collect();
    (0..fields.len()).filter(|position| names.contains(&*fields[*position].0)).collect()
}

impl Node {
    fn is_leaf(&self) -> bool {
        match &self.shape {
            Shape::Object(shape) => shape.fields.is_empty() && !matches!(shape.values, Some(Values::Node(_))),
            Shape::List { items, .. } => items.is_none(),
            _ => true,
        }
    }
}

impl ObjectShape {
    fn position(&self, name: &str) -> Option<usize> {
        self.fields.binary_search_by(|(field, _)| (**field).cmp(name)).ok()
    }
}
