//! A schema to a program.

use wheelwright_document::{Arena, Owned};
use wheelwright_text::Format;

use crate::{
    Schema,
    admit::{Stages, Walk},
    model::{Additional, ListType, Type, is_implied},
    patterns::Patterns,
    program::{CompiledDefault, Field, Fields, Junctors, ListRule, Meta, Node, NodeId, Program, Types},
    rules,
    validate::{Bound, Checks, Enumeration, NumberChecks, Range},
};

/// What a schema describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    /// A whole resource: apiVersion, kind and metadata are implied.
    Resource,
    /// Any value, such as a spec.
    Value,
    /// A definition of an OpenAPI or JSON Schema document: any value, held against the schema as it is written and not as
    /// Kubernetes' validator reads it.
    Definition,
}

impl Program {
    /// Compiles a schema. Works for schemas with structural errors too, since Kubernetes answers for those as well.
    pub fn compile(schema: &Schema, root: Root) -> Self {
        let purpose = if root == Root::Definition { Purpose::Definitions } else { Purpose::Documents };
        let mut program = Self::compile_for(schema, root, purpose);
        program.fill_defaults();
        program
    }

    /// A program to check default values as they are written.
    pub(crate) fn compile_for_defaults(schema: &Schema, root: Root) -> Self {
        let purpose = if root == Root::Definition { Purpose::Definitions } else { Purpose::Defaults };
        Self::compile_for(schema, root, purpose)
    }

    fn compile_for(schema: &Schema, root: Root, purpose: Purpose) -> Self {
        let mut nodes = vec![Node::default(), Node::default()];
        nodes[NodeId::UNSPECIFIED.0 as usize] =
            Node { nullable: true, items: Some(NodeId::UNSPECIFIED), ..Node::default() };
        nodes[NodeId::UNTOUCHED.0 as usize] = Node { nullable: true, untouched: true, ..Node::default() };
        let mut compiler = Compiler { nodes, purpose, patterns: Patterns::of(schema) };
        let is_resource = root == Root::Resource;
        let root = compiler.node(schema, Context { at_root: is_resource, ..Context::STRUCTURE });
        let rules = rules::Compiler::new(schema, is_resource).map(|rules| rules.rules(schema, &compiler.nodes, root));
        Self { nodes: compiler.nodes, root, rules: rules.map(Box::new) }
    }

    /// Frees every default of unknown fields, fills it with the defaults below it and checks it, once and for all.
    /// Nodes come before the nodes below them, so going backwards meets the inner defaults first.
    fn fill_defaults(&mut self) {
        // Nested defaults are stored once per level; what would be more than this is filled when it is used instead.
        let mut budget = 1 << 16;
        for position in (0..self.nodes.len()).rev() {
            let Some(default) = &self.nodes[position].default else { continue };
            let arena = Arena::new();
            let id = NodeId(position as u32);
            let pruned = Walk::new(self, &arena, Stages::PRUNE).from(id, default.value.share(&arena));
            let mut walk = Walk::new(self, &arena, Stages::FILL).with_default_budget(budget);
            let filled = walk.from(id, pruned);
            let (ready, left) = (walk.is_clean(), walk.default_budget());
            let complete = walk.added_all_defaults();
            // One that does not fit must not starve the others, but it has cost as much as fitted.
            budget = if complete { left } else { budget / 2 };
            let default = CompiledDefault::new(Owned::from(if complete { filled } else { pruned }), ready && complete);
            budget = budget.saturating_sub(default.size);
            self.nodes[position].default = Some(default);
        }
    }
}

struct Compiler<'s> {
    nodes: Vec<Node>,
    purpose: Purpose,
    patterns: Patterns<'s>,
}

/// Kubernetes makes its validators for documents and for default values in different places, and they differ; other
/// specifications have quirks of neither.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// `x-kubernetes-int-or-string` means the types integer and string; formats that nobody knows are as good as absent.
    Documents,
    /// `x-kubernetes-int-or-string` means no type at all; any format counts.
    Defaults,
    /// As [`Documents`](Self::Documents), but a list does not pass for a string that has a format.
    Definitions,
}

/// What a node inherits from above.
#[derive(Clone, Copy)]
struct Context {
    /// Unknown fields are removed here at all; under metadata they are not.
    prunes: bool,
    /// A list above preserves unknown fields, which carries into its items.
    preserved: bool,
    /// The node is the root of a resource.
    at_root: bool,
}

impl Context {
    const STRUCTURE: Self = Self { prunes: true, preserved: false, at_root: false };
    const METADATA: Self = Self { prunes: false, preserved: false, at_root: false };
}

impl<'s> Compiler<'s> {
    fn node(&mut self, schema: &'s Schema, context: Context) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node::default());
        let preserves = schema.preserves_unknown_fields() || context.preserved;
        let meta = match (context.at_root, schema.extensions.embedded_resource) {
            // A default of the root must be a whole resource.
            (true, _) if self.purpose == Purpose::Defaults => Meta::Embedded,
            (true, true) => Meta::EmbeddedRoot,
            (true, false) => Meta::Root,
            (false, true) => Meta::Embedded,
            (false, false) => Meta::None,
        };
        let below = Context { prunes: context.prunes, ..Context::STRUCTURE };
        let fields = schema
            .properties
            .iter()
            .map(|property| {
                let implied = meta != Meta::None && is_implied(&property.name);
                let context = if implied { Context::METADATA } else { below };
                Field::new(&property.name, self.node(&property.schema, context))
            })
            .collect();
        let unspecified = if context.prunes { NodeId::UNSPECIFIED } else { NodeId::UNTOUCHED };
        let additional = schema.additional_properties.as_ref().map(|additional| match additional {
            Additional::Schema(schema) => self.node(schema, below),
            Additional::Allowed(_) => unspecified,
        });
        let items = match &schema.items {
            Some(items) => self.node(items, Context { preserved: preserves, ..below }),
            None if preserves => NodeId::UNTOUCHED,
            None => unspecified,
        };
        let types = types_of(schema, self.purpose);
        self.nodes[id.0 as usize] = Node {
            types,
            nullable: schema.nullable,
            keeps_unknown: preserves || !context.prunes,
            untouched: false,
            meta,
            fields: Fields::new(fields, &schema.checks.required, |field| {
                self.nodes[field.0 as usize].default.is_some()
            }),
            additional,
            refuses_additional: matches!(schema.additional_properties, Some(Additional::Allowed(false))),
            items: Some(items),
            default: schema.default.clone().map(|value| CompiledDefault::new(value, false)),
            checks: self.checks(schema, types).map(Box::new),
            junctors: None,
            list: match schema.extensions.list_type {
                Some(ListType::Set) => Some(Box::new(ListRule::Set)),
                Some(ListType::Map) => Some(Box::new(ListRule::Map(schema.extensions.list_map_keys.clone().into()))),
                _ => None,
            },
        };
        let junctors = self.junctors(schema);
        self.nodes[id.0 as usize].junctors = junctors.map(Box::new);
        id
    }

    fn junctors(&mut self, schema: &'s Schema) -> Option<Junctors> {
        let junctors = Junctors {
            all_of: schema.all_of.iter().map(|branch| self.node(branch, Context::STRUCTURE)).collect(),
            any_of: schema.any_of.iter().map(|branch| self.node(branch, Context::STRUCTURE)).collect(),
            one_of: schema.one_of.iter().map(|branch| self.node(branch, Context::STRUCTURE)).collect(),
            not: schema.not.as_ref().map(|branch| self.node(branch, Context::STRUCTURE)),
            only_int_or_string: schema.is_int_or_string_any_of()
                && schema.all_of.is_empty()
                && schema.one_of.is_empty()
                && schema.not.is_none(),
        };
        let any = !junctors.all_of.is_empty()
            || !junctors.any_of.is_empty()
            || !junctors.one_of.is_empty()
            || junctors.not.is_some();
        any.then_some(junctors)
    }

    fn checks(&mut self, schema: &'s Schema, types: Types) -> Option<Checks> {
        let written = &schema.checks;
        let name = written.format.as_deref().unwrap_or_default();
        let format = match types {
            Types::STRING | Types::INT_OR_STRING => Format::for_string(name),
            types if types.is_any() || self.purpose == Purpose::Defaults => Format::for_string(name),
            _ => None,
        };
        let range = match (types, name) {
            (Types::INTEGER, "int32") => Range::Int32,
            (Types::INTEGER, _) => Range::Int64,
            (Types::NUMBER, "float") => Range::Float32,
            _ => Range::Any,
        };
        let number = NumberChecks {
            range,
            minimum: written.minimum.map(|value| Bound::new(value, written.exclusive_minimum, range)),
            maximum: written.maximum.map(|value| Bound::new(value, written.exclusive_maximum, range)),
            multiple_of: written.multiple_of.map(|value| Bound::new(value, false, range)),
        };
        let checks = Checks {
            format,
            has_format: match self.purpose {
                Purpose::Documents => format.is_some(),
                Purpose::Defaults => !name.is_empty(),
                Purpose::Definitions => false,
            },
            pattern: written.pattern.as_deref().and_then(|pattern| self.patterns.get(pattern)),
            min_length: written.min_length,
            max_length: written.max_length,
            number: number.matter().then_some(number),
            r#enum: (!written.r#enum.is_empty()).then(|| Enumeration::new(&written.r#enum)),
            min_items: written.min_items,
            max_items: written.max_items,
            unique_items: written.unique_items,
            min_properties: written.min_properties,
            max_properties: written.max_properties,
        };
        checks.matter().then_some(checks)
    }
}

fn types_of(schema: &Schema, purpose: Purpose) -> Types {
    if schema.extensions.int_or_string && purpose != Purpose::Defaults {
        return Types::INT_OR_STRING;
    }
    match &schema.r#type {
        None => Types::default(),
        Some(Type::Object) => Types::OBJECT,
        Some(Type::Array) => Types::ARRAY,
        Some(Type::String) => Types::STRING,
        Some(Type::Integer) => Types::INTEGER,
        Some(Type::Number) => Types::NUMBER,
        Some(Type::Boolean) => Types::BOOLEAN,
        Some(Type::Unknown(_)) => Types::UNKNOWN,
    }
}
