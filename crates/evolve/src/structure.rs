//! The shape of a version: its fields, and of each of them what the lens has to know.

use std::collections::HashMap;

use wheelwright_document::Owned;
use wheelwright_schema::{
    Root, Schema,
    model::{Additional, ListType, Type},
};

use crate::{Selector, Step};

/// The fields of a version as a tree. Nodes come before the nodes below them; the first is the document itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Structure {
    nodes: Vec<StructureNode>,
    /// The fields of every node by their names.
    by_name: Vec<HashMap<Box<str>, NodeIndex>>,
}

/// The position of a node in a [`Structure`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeIndex(u32);

/// A field, the items of a list, the values of a map, or the document itself.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct StructureNode {
    /// What it is a part of; `None` for the document itself.
    pub parent: Option<NodeIndex>,
    /// How it is reached from there.
    pub step: Step,
    /// What sort of value it has.
    pub shape: Shape,
    /// Null is a value of it.
    pub nullable: bool,
    /// Fields that it does not declare are kept.
    pub keeps_unknown: bool,
    /// Of a list: the fields that tell its items apart.
    pub keys: Vec<Box<str>>,
    /// Of an object: only one of its members is set at a time.
    pub union: Option<Union>,
    /// The default that the version's schema has.
    pub default: Option<Owned>,
    /// The version does not declare it, and keeps it for another that does.
    pub(crate) is_adopted: bool,
    /// The fields of an object; the items of a list or values of a map, which are one node.
    pub children: Vec<NodeIndex>,
}

/// What sort of value a field has. Nullability, bounds, enums, defaults and keys are not part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// An object with fixed properties.
    Object,
    /// An object with any keys, and values of one shape.
    Map,
    /// A list of items of one shape.
    List,
    /// A value without parts, or one whose parts no schema describes.
    Scalar(Scalar),
}

/// The type of a value without parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scalar {
    /// `string`.
    String,
    /// `integer`.
    Integer,
    /// `number`.
    Number,
    /// `boolean`.
    Boolean,
    /// `x-kubernetes-int-or-string`.
    IntOrString,
    /// Any value: nothing describes it.
    Any,
}

/// An object of which only one member is set at a time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Union {
    /// The names of its members.
    pub members: Vec<Box<str>>,
    /// The field that says which one is set.
    pub discriminator: Option<Box<str>>,
}

impl Structure {
    /// The shape of a version with this schema. Of a resource, apiVersion, kind and metadata are outside.
    pub fn of(schema: &Schema, root: Root) -> Self {
        let mut builder = Self { nodes: Vec::new(), by_name: Vec::new() };
        let is_resource = root == Root::Resource;
        builder.add(schema, None, Step::Items, Context { implied: is_resource, preserved: false });
        // The document is an object whatever its schema says.
        builder.nodes[0].shape = match builder.nodes[0].shape {
            Shape::Object => Shape::Object,
            _ => {
                builder.nodes.truncate(1);
                builder.by_name.truncate(1);
                builder.nodes[0].children.clear();
                builder.by_name[0].clear();
                builder.nodes[0].keeps_unknown = true;
                Shape::Object
            }
        };
        builder
    }

    /// A document without fields.
    pub fn empty() -> Self {
        let root = StructureNode::new(None, Step::Items, Shape::Object);
        Self { nodes: vec![root], by_name: vec![HashMap::new()] }
    }

    /// The document itself.
    pub fn root(&self) -> NodeIndex {
        NodeIndex(0)
    }

    /// A node.
    pub fn node(&self, index: NodeIndex) -> &StructureNode {
        &self.nodes[index.0 as usize]
    }

    /// A node, to be changed.
    pub(crate) fn node_mut(&mut self, index: NodeIndex) -> &mut StructureNode {
        &mut self.nodes[index.0 as usize]
    }

    /// Every node, those above before those below.
    pub fn indexes(&self) -> impl ExactSizeIterator<Item = NodeIndex> + use<> {
        (0..self.nodes.len() as u32).map(NodeIndex)
    }

    /// The node after another.
    pub(crate) fn after(&self, index: NodeIndex) -> Option<NodeIndex> {
        ((index.0 as usize) + 1 < self.nodes.len()).then_some(NodeIndex(index.0 + 1))
    }

    /// Every field, those above before those below.
    pub fn fields(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        self.indexes().filter(|index| self.is_field(*index))
    }

    /// Whether a node is a field, and not the document, items or values.
    pub fn is_field(&self, index: NodeIndex) -> bool {
        index.0 > 0 && matches!(self.node(index).step, Step::Field(_))
    }

    /// A field of an object by its name.
    pub fn child(&self, parent: NodeIndex, name: &str) -> Option<NodeIndex> {
        self.by_name[parent.position()].get(name).copied()
    }

    /// The items of a list or values of a map.
    pub fn element(&self, container: NodeIndex) -> Option<NodeIndex> {
        let node = self.node(container);
        matches!(node.shape, Shape::List | Shape::Map).then(|| node.children.first().copied()).flatten()
    }

    /// The node at a path.
    pub fn find(&self, selector: &Selector) -> Option<NodeIndex> {
        selector.steps().iter().try_fold(self.root(), |node, step| match step {
            Step::Field(name) => self.child(node, name),
            Step::Items => self.element(node).filter(|_| self.node(node).shape == Shape::List),
            Step::Values => self.element(node).filter(|_| self.node(node).shape == Shape::Map),
        })
    }

    /// The field at a path, whatever items or values of it the path goes on to.
    pub(crate) fn find_field(&self, selector: &Selector) -> Option<NodeIndex> {
        let mut node = self.find(selector)?;
        while !self.is_field(node) {
            node = self.node(node).parent?;
        }
        Some(node)
    }

    /// A field and all fields of the objects in it, but not those of items and values.
    pub(crate) fn below(&self, field: NodeIndex) -> Vec<NodeIndex> {
        let mut found = vec![field];
        if self.node(field).shape == Shape::Object {
            found.extend(self.node(field).children.iter().flat_map(|child| self.below(*child)));
        }
        found
    }

    /// The path of a node.
    pub fn selector(&self, index: NodeIndex) -> Selector {
        let mut steps = Vec::new();
        let mut at = index;
        while let Some(parent) = self.node(at).parent {
            steps.push(self.node(at).step.clone());
            at = parent;
        }
        steps.reverse();
        Selector::from_steps(steps)
    }

    /// Adds a node below another.
    pub(crate) fn push(&mut self, node: StructureNode) -> NodeIndex {
        let index = NodeIndex(self.nodes.len() as u32);
        if let Some(parent) = node.parent {
            self.nodes[parent.position()].children.push(index);
            if let Step::Field(name) = &node.step {
                self.by_name[parent.position()].insert(name.clone(), index);
            }
        }
        self.nodes.push(node);
        self.by_name.push(HashMap::new());
        index
    }

    /// The shape of a node in words: `list of map of string`.
    pub fn shape_name(&self, index: NodeIndex) -> String {
        let node = self.node(index);
        match (node.shape, self.element(index)) {
            (Shape::List, Some(element)) => format!("list of {}", self.shape_name(element)),
            (Shape::Map, Some(element)) => format!("map of {}", self.shape_name(element)),
            (shape, _) => shape.name().to_owned(),
        }
    }

    /// Whether a field that had the shape of `earlier` can be the same field with the shape of `later`: shapes are
    /// equal, but for numbers that may have become wider. Items and values are part of the shape of what holds them,
    /// since hidden data of items could not be matched if they were of another sort.
    pub fn keeps_shape(&self, earlier: NodeIndex, later_structure: &Structure, later: NodeIndex) -> bool {
        let (before, after) = (self.node(earlier).shape, later_structure.node(later).shape);
        match (before, after) {
            (Shape::Object, Shape::Object) => true,
            (Shape::List, Shape::List) | (Shape::Map, Shape::Map) => {
                match (self.element(earlier), later_structure.element(later)) {
                    (Some(earlier), Some(later)) => self.keeps_shape(earlier, later_structure, later),
                    _ => false,
                }
            }
            (Shape::Scalar(before), Shape::Scalar(after)) => before == after || before.widens_to(after),
            _ => false,
        }
    }

    fn add(&mut self, schema: &Schema, parent: Option<NodeIndex>, step: Step, context: Context) -> NodeIndex {
        let preserves = schema.extensions.preserve_unknown_fields == Some(true) || context.preserved;
        let shape = shape_of(schema);
        let keeps_unknown = preserves
            || !schema.properties.is_empty()
                && matches!(schema.additional_properties, Some(Additional::Allowed(true) | Additional::Schema(_)));
        let identifiers = schema.annotations.as_ref().and_then(|annotations| annotations.identifiers.clone());
        let keys = match schema.extensions.list_type {
            Some(ListType::Map) => schema.extensions.list_map_keys.clone(),
            _ => identifiers.unwrap_or_default(),
        };
        let index = self.push(StructureNode {
            nullable: schema.nullable,
            keeps_unknown: keeps_unknown && shape == Shape::Object,
            keys: if shape == Shape::List { keys } else { Vec::new() },
            union: union_of(schema).filter(|_| shape == Shape::Object),
            default: schema.default.clone().filter(|default| *default != Owned::Null),
            ..StructureNode::new(parent, step, shape)
        });
        match shape {
            Shape::Object => self.add_fields(schema, index, context.implied),
            Shape::List => match &schema.items {
                Some(items) => {
                    self.add(items, Some(index), Step::Items, Context { implied: false, preserved: preserves });
                }
                None => {
                    self.push(StructureNode::new(Some(index), Step::Items, Shape::Scalar(Scalar::Any)));
                }
            },
            Shape::Map => match &schema.additional_properties {
                Some(Additional::Schema(values)) => {
                    self.add(values, Some(index), Step::Values, Context::default());
                }
                _ => {
                    let values = StructureNode::new(Some(index), Step::Values, Shape::Scalar(Scalar::Any));
                    self.push(StructureNode { nullable: true, ..values });
                }
            },
            Shape::Scalar(_) => {}
        }
        index
    }

    /// The fields of an object. An embedded resource has apiVersion, kind and metadata, too, declared or not.
    fn add_fields(&mut self, schema: &Schema, index: NodeIndex, is_resource: bool) {
        let embedded = schema.extensions.embedded_resource && !is_resource;
        for property in &schema.properties {
            let implied = matches!(&*property.name, "apiVersion" | "kind" | "metadata");
            if implied && (embedded || is_resource) {
                continue;
            }
            self.add(&property.schema, Some(index), Step::Field(property.name.clone()), Context::default());
        }
        if embedded {
            for (name, scalar) in [("apiVersion", Scalar::String), ("kind", Scalar::String), ("metadata", Scalar::Any)]
            {
                self.push(StructureNode::new(Some(index), Step::Field(name.into()), Shape::Scalar(scalar)));
            }
        }
    }
}

impl StructureNode {
    pub(crate) fn new(parent: Option<NodeIndex>, step: Step, shape: Shape) -> Self {
        Self {
            parent,
            step,
            shape,
            nullable: false,
            keeps_unknown: false,
            keys: Vec::new(),
            union: None,
            default: None,
            is_adopted: false,
            children: Vec::new(),
        }
    }

    /// The name, of a field.
    pub fn name(&self) -> Option<&str> {
        match &self.step {
            Step::Field(name) => Some(name),
            _ => None,
        }
    }
}

impl NodeIndex {
    pub(crate) fn position(self) -> usize {
        self.0 as usize
    }
}

impl Shape {
    /// The word for it, without its parts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Map => "map",
            Self::List => "list",
            Self::Scalar(scalar) => scalar.name(),
        }
    }
}

impl Scalar {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::String, Self::Integer, Self::Number, Self::Boolean, Self::IntOrString, Self::Any];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::IntOrString => "int-or-string",
            Self::Any => "any",
        }
    }

    /// Whether every value of this type is a value of the other.
    pub(crate) fn widens_to(self, other: Self) -> bool {
        matches!((self, other), (Self::Integer, Self::Number | Self::IntOrString) | (Self::String, Self::IntOrString))
    }
}

/// What a node inherits from above.
#[derive(Clone, Copy, Default)]
struct Context {
    /// apiVersion, kind and metadata are implied, and outside.
    implied: bool,
    /// A list above preserves unknown fields, which carries into its items.
    preserved: bool,
}

fn shape_of(schema: &Schema) -> Shape {
    if schema.extensions.int_or_string {
        return Shape::Scalar(Scalar::IntOrString);
    }
    // A schema that says of a text what is in it describes nothing that anybody could rely on.
    let has_parts = !schema.properties.is_empty() || schema.additional_properties.is_some() || schema.items.is_some();
    let scalar = |scalar| Shape::Scalar(if has_parts { Scalar::Any } else { scalar });
    let is_map = schema.properties.is_empty()
        && matches!(schema.additional_properties, Some(Additional::Schema(_) | Additional::Allowed(true)));
    match &schema.r#type {
        Some(Type::Object) if is_map => Shape::Map,
        Some(Type::Object) => Shape::Object,
        Some(Type::Array) => Shape::List,
        Some(Type::String) => scalar(Scalar::String),
        Some(Type::Integer) => scalar(Scalar::Integer),
        Some(Type::Number) => scalar(Scalar::Number),
        Some(Type::Boolean) => scalar(Scalar::Boolean),
        // Definitions of OpenAPI need not say what they are.
        _ if !schema.properties.is_empty() => Shape::Object,
        _ if matches!(schema.additional_properties, Some(Additional::Schema(_))) => Shape::Map,
        _ if schema.items.is_some() => Shape::List,
        _ => Shape::Scalar(Scalar::Any),
    }
}

/// The union that a schema says an object is: by a discriminator whose values are names of its other fields, by `oneOf` of
/// single required fields, or by allowing one field only. A discriminator that chooses among definitions makes none: what
/// they have in common is not a member of one of them.
fn union_of(schema: &Schema) -> Option<Union> {
    if let Some(union) = discriminated(schema) {
        return Some(union);
    }
    let single_required = |branch: &Schema| match &branch.checks.required[..] {
        [name] if schema.property(name).is_some() => Some(name.clone()),
        _ => None,
    };
    let by_one_of: Option<Vec<Box<str>>> =
        (schema.one_of.len() > 1).then(|| schema.one_of.iter().map(single_required).collect()).flatten();
    if let Some(members) = by_one_of {
        return Some(Union { members, discriminator: None });
    }
    if schema.checks.max_properties == Some(1) && schema.properties.len() > 1 {
        let members = schema.properties.iter().map(|property| property.name.clone()).collect();
        return Some(Union { members, discriminator: None });
    }
    None
}

fn discriminated(schema: &Schema) -> Option<Union> {
    let discriminator = &schema.annotations.as_ref()?.discriminator.as_ref()?.property;
    let values = &schema.property(discriminator)?.checks.r#enum;
    let member = |value: &Owned| {
        let Owned::String(name) = value else { return None };
        let name = name.as_str();
        (*name != **discriminator && schema.property(name).is_some()).then(|| name.into())
    };
    let members: Vec<Box<str>> = values.iter().map(member).collect::<Option<_>>()?;
    (members.len() > 1).then(|| Union { members, discriminator: Some(discriminator.clone()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::schema;

    #[test]
    fn a_structure_has_a_node_for_every_field_item_and_value() {
        let structure = Structure::of(
            &schema(
                "{type: object, properties: {metadata: {type: object}, spec: {type: object, properties: {ports: {type: array, \
                 items: {type: object, properties: {name: {type: string}}}}, labels: {type: object, \
                 additionalProperties: {type: string, nullable: true}}}}}}",
            ),
            Root::Resource,
        );
        let paths: Vec<_> = structure.indexes().map(|node| structure.selector(node).to_string()).collect();
        assert_eq!(
            paths,
            ["", "spec", "spec.ports", "spec.ports[]", "spec.ports[].name", "spec.labels", "spec.labels{}"]
        );
        for node in structure.indexes() {
            assert_eq!(structure.find(&structure.selector(node)), Some(node));
        }
        let ports = structure.find(&Selector::parse("spec.ports").unwrap()).unwrap();
        assert_eq!(structure.shape_name(ports), "list of object");
    }

    #[test]
    fn a_field_keeps_its_shape_only_if_every_old_value_is_one_of_the_new_shape() {
        let of =
            |text: &str| Structure::of(&schema(&format!("{{type: object, properties: {{f: {text}}}}}")), Root::Value);
        let keeps = |before: &str, after: &str| {
            let (before, after) = (of(before), of(after));
            let field = |structure: &Structure| structure.child(structure.root(), "f").unwrap();
            before.keeps_shape(field(&before), &after, field(&after))
        };
        assert!(keeps("{type: integer}", "{type: number}"));
        assert!(keeps("{type: string}", "{x-kubernetes-int-or-string: true}"));
        assert!(keeps("{type: array, items: {type: integer}}", "{type: array, items: {type: number}}"));
        assert!(!keeps("{type: number}", "{type: integer}"));
        assert!(!keeps("{type: integer}", "{type: string}"));
        assert!(!keeps("{type: array, items: {type: string}}", "{type: array, items: {type: object}}"));
        assert!(!keeps("{type: object}", "{type: object, additionalProperties: {type: string}}"));
    }

    #[test]
    fn a_discriminator_makes_a_union_of_the_fields_that_its_values_name() {
        let union = |values: &str| {
            let mut schema = schema(&format!(
                "{{type: object, properties: {{t: {{type: string, enum: {values}}}, a: {{type: string}}, b: {{type: string}}}}}}"
            ));
            let mut discriminator = wheelwright_schema::model::Discriminator::default();
            discriminator.property = "t".into();
            let mut annotations = wheelwright_schema::model::Annotations::default();
            annotations.discriminator = Some(discriminator);
            schema.annotations = Some(annotations.into());
            Structure::of(&schema, Root::Value).node(NodeIndex(0)).union.clone()
        };
        let members = ["a", "b"].map(Into::into).to_vec();
        assert_eq!(union("[a, b]"), Some(Union { members, discriminator: Some("t".into()) }));
        for no_fields in ["[a, c]", "[Cat, Dog]", "[a]", "[a, t]", "[]"] {
            assert_eq!(union(no_fields), None, "{no_fields}");
        }
    }

    #[test]
    fn unions_are_told_by_one_of_and_by_a_single_property() {
        let union = |text: &str| Structure::of(&schema(text), Root::Value).node(NodeIndex(0)).union.clone();
        let properties = "properties: {a: {type: string}, b: {type: string}}";
        let one_of = format!("{{type: object, {properties}, oneOf: [{{required: [a]}}, {{required: [b]}}]}}");
        assert_eq!(union(&one_of).unwrap().members, ["a".into(), "b".into()] as [Box<str>; 2]);
        assert!(union(&format!("{{type: object, {properties}, maxProperties: 1}}")).is_some());
        assert!(union(&format!("{{type: object, {properties}}}")).is_none());
    }
}
