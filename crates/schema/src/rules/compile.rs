//! Rules from a schema to expressions that are ready to run.

use wheelwright_expr::{CompileError, Expression, ShapeId, Shapes, Type, Variable};

use super::{NodeRules, Rule, Rules, multiplied, normalized, shape::SchemaShapes};
use crate::{
    ErrorType, Schema,
    model::{Additional, ValidationRule},
    program::{Node, NodeId},
};

/// Compiles the rules of one schema.
pub(crate) struct Compiler<'s> {
    shapes: SchemaShapes<'s>,
}

/// A rule, typed; or what is wrong with it.
pub(crate) struct CompiledRule {
    pub(crate) rule: Result<Expression, CompileError>,
    pub(crate) message: Option<Result<Expression, CompileError>>,
    pub(crate) variables: [Variable; 2],
}

/// The position of `oldSelf` among the variables.
pub(crate) const OLD_SELF: usize = 1;

impl<'s> Compiler<'s> {
    /// A compiler for the rules of a schema; none if it has no rules.
    pub(crate) fn new(schema: &'s Schema, is_resource: bool) -> Option<Self> {
        has_rules(schema).then(|| Self { shapes: SchemaShapes::of(schema, is_resource) })
    }

    /// The shape of a node of the schema, if rules can see it.
    pub(crate) fn shape(&self, schema: &Schema) -> Option<ShapeId> {
        self.shapes.get(schema)
    }

    /// How many values of a node fit into one request.
    pub(crate) fn most(&self, schema: &Schema) -> u64 {
        self.shapes.most(schema)
    }

    /// Types a rule of a node with a shape.
    pub(crate) fn compile(&self, rule: &ValidationRule, shape: ShapeId) -> CompiledRule {
        let shapes = &self.shapes.shapes;
        let own = Type::of_shape(shapes, shape);
        let old = if rule.optional_old_self == Some(true) { Type::optional(own.clone()) } else { own.clone() };
        let variables = [
            Variable { name: "self".into(), r#type: own, shape: Some(shape) },
            Variable { name: "oldSelf".into(), r#type: old, shape: Some(shape) },
        ];
        let message = &rule.message_expression.text;
        CompiledRule {
            rule: Expression::compile(&rule.rule.text, shapes, &variables, &Type::Bool),
            message: (!message.trim().is_empty())
                .then(|| Expression::compile(message, shapes, &variables, &Type::String)),
            variables,
        }
    }

    /// The shapes that expressions are typed against.
    pub(crate) fn shapes(&self) -> &Shapes {
        &self.shapes.shapes
    }

    /// The rules for the nodes of a program of the same schema.
    pub(crate) fn rules(self, schema: &Schema, nodes: &[Node], root: NodeId) -> Rules {
        let mut by_node: Vec<_> = nodes.iter().map(|_| None).collect();
        self.add(schema, nodes, root, Some(1), &mut by_node);
        Rules { shapes: self.shapes.shapes, by_node: by_node.into() }
    }

    /// Adds the rules of a node and those below it; says whether there are any.
    fn add(
        &self,
        schema: &Schema,
        nodes: &[Node],
        id: NodeId,
        cardinality: Option<u64>,
        into: &mut [Option<NodeRules>],
    ) -> bool {
        // What rules cannot see has none, nor has anything in it.
        let Some(shape) = self.shapes.get(schema) else { return false };
        let node = &nodes[id.0 as usize];
        let mut found = !schema.extensions.validations.is_empty();
        let below = multiplied(cardinality, schema);
        for (property, field) in schema.properties.iter().zip(&node.fields.list) {
            found |= self.add(&property.schema, nodes, field.node, below, into);
        }
        if let (Some(items), Some(item_node)) = (&schema.items, node.items) {
            found |= self.add(items, nodes, item_node, below, into);
        }
        if let (Some(Additional::Schema(values)), Some(below_node)) = (&schema.additional_properties, node.additional) {
            found |= self.add(values, nodes, below_node, below, into);
        }
        if found {
            let rules = schema.extensions.validations.iter().filter(|rule| !rule.rule.text.trim().is_empty());
            let count = cardinality.unwrap_or_else(|| self.most(schema));
            let rules = rules.map(|rule| self.rule(schema, rule, shape, count)).collect();
            into[id.0 as usize] = Some(NodeRules { shape, rules });
        }
        found
    }

    fn rule(&self, schema: &Schema, rule: &ValidationRule, shape: ShapeId, count: u64) -> Rule {
        let compiled = self.compile(rule, shape);
        let estimate = |expression: &Result<Expression, CompileError>| {
            expression.as_ref().map_or(0, |expression| expression.estimate(self.shapes(), &compiled.variables).max)
        };
        let most_cost = estimate(&compiled.rule).saturating_mul(count);
        let most_cost = most_cost.saturating_add(compiled.message.as_ref().map_or(0, estimate));
        let [message, source] = [&rule.message, &rule.rule].map(|named| named.text.trim());
        let name = if message.is_empty() { source } else { message };
        Rule {
            expression: compiled.rule.map_err(|error| format!("the rule cannot be evaluated: {error}")),
            message_expression: compiled.message.and_then(Result::ok),
            most_cost,
            optional_old_self: rule.optional_old_self == Some(true),
            kind: match &*rule.reason.text {
                "FieldValueForbidden" => ErrorType::Forbidden,
                "FieldValueRequired" => ErrorType::Required,
                "FieldValueDuplicate" => ErrorType::Duplicate,
                _ => ErrorType::Invalid,
            },
            field_path: normalized(&rule.field_path.text, schema).unwrap_or_default().into(),
            message: if message.is_empty() { format!("failed rule: {source}").into() } else { message.into() },
            name: name.into(),
        }
    }
}

/// Whether a schema has rules, at any depth outside of junctors.
fn has_rules(schema: &Schema) -> bool {
    let additional = schema.additional_schema().into_iter();
    !schema.extensions.validations.is_empty()
        || schema.properties.iter().any(|property| has_rules(&property.schema))
        || schema.items.iter().map(|items| &**items).chain(additional).any(has_rules)
}
