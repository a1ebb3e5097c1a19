//! A schema as its rules see it: the shape and the greatest size of every value that an expression can get at.

use std::{collections::HashMap, marker::PhantomData};

use wheelwright_document::Owned;
use wheelwright_expr::{Identity, ObjectShape, REQUEST_BYTES, ShapeId, ShapeKind, Shapes, selected_name};

use crate::{
    Schema,
    model::{Additional, ListType, Type},
};

/// The shapes of a schema. What has none cannot be seen by rules: values without a type, and whatever holds them.
#[derive(Debug, Default)]
pub(super) struct SchemaShapes<'s> {
    pub(super) shapes: Shapes,
    /// By the addresses of schemas, which stay where they are as long as this is used.
    by_schema: HashMap<*const Schema, Shaped>,
    schema: PhantomData<&'s Schema>,
}

/// A shape and the least bytes that a value of it takes in a request.
#[derive(Clone, Copy, Debug)]
struct Shaped {
    id: ShapeId,
    min_bytes: u64,
}

impl<'s> SchemaShapes<'s> {
    /// The shapes of a schema and everything below it.
    pub(super) fn of(schema: &'s Schema, is_resource: bool) -> Self {
        let mut shapes = Self::default();
        shapes.add(schema, is_resource);
        shapes
    }

    /// The shape of a schema, which is the one these were made of or below it.
    pub(super) fn get(&self, schema: &Schema) -> Option<ShapeId> {
        self.by_schema.get(&std::ptr::from_ref(schema)).map(|shaped| shaped.id)
    }

    /// How many values of a schema fit into one request.
    pub(super) fn most(&self, schema: &Schema) -> u64 {
        let shaped = self.by_schema.get(&std::ptr::from_ref(schema));
        REQUEST_BYTES / (shaped.map_or(0, |shaped| shaped.min_bytes) + 1)
    }

    fn add(&mut self, schema: &Schema, is_resource: bool) -> Option<Shaped> {
        let shaped = self.shape(schema, is_resource)?;
        self.by_schema.insert(schema, shaped);
        Some(shaped)
    }

    fn shape(&mut self, schema: &Schema, is_resource: bool) -> Option<Shaped> {
        let max_length = schema.checks.max_length.map(|length| u64::try_from(length).unwrap_or(0));
        if schema.extensions.int_or_string {
            let max_size = max_length.map_or(REQUEST_BYTES - 2, |length| length.saturating_mul(4));
            return Some(self.scalar(schema, ShapeKind::IntOrString, max_size, 1));
        }
        Some(match schema.r#type.as_ref()? {
            Type::Object => match &schema.additional_properties {
                Some(Additional::Schema(values)) => self.map(schema, values)?,
                _ => self.object(schema, is_resource),
            },
            Type::Array => self.list(schema)?,
            Type::String => self.string(schema, max_length),
            Type::Boolean => self.scalar(schema, ShapeKind::Bool, 0, 4),
            Type::Number => self.scalar(schema, ShapeKind::Double, 0, 1),
            Type::Integer => self.scalar(schema, ShapeKind::Int, 0, 1),
            Type::Unknown(_) => return None,
        })
    }

    fn scalar(&mut self, schema: &Schema, kind: ShapeKind, max_size: u64, min_bytes: u64) -> Shaped {
        Shaped { id: self.shapes.add(kind, schema.nullable, max_size), min_bytes }
    }

    fn string(&mut self, schema: &Schema, max_length: Option<u64>) -> Shaped {
        let (kind, max_size, min_bytes) = match schema.checks.format.as_deref() {
            Some("byte") => (ShapeKind::Bytes, max_length.unwrap_or(REQUEST_BYTES - 2), 2),
            Some("duration") => (ShapeKind::Duration, 32, 3),
            Some("date") => (ShapeKind::Date, 12, 12),
            Some("date-time") => (ShapeKind::DateTime, 32, 21),
            _ => {
                // A character takes up to four bytes.
                let max_size = match max_length {
                    Some(length) => length.saturating_mul(4),
                    None if !schema.checks.r#enum.is_empty() => longest(&schema.checks.r#enum),
                    None => REQUEST_BYTES - 2,
                };
                (ShapeKind::String, max_size, 2)
            }
        };
        self.scalar(schema, kind, max_size, min_bytes)
    }

    fn list(&mut self, schema: &Schema) -> Option<Shaped> {
        let items_schema = schema.items.as_deref()?;
        let items = self.add(items_schema, items_schema.extensions.embedded_resource)?;
        let identity = match schema.extensions.list_type {
            Some(ListType::Set) => Identity::Value,
            // Kubernetes looks for the keys by the names that expressions use, and does not find those that differ.
            Some(ListType::Map) => {
                let keys = schema.extensions.list_map_keys.iter();
                Identity::Keys(keys.map(|key| selected_name(key).map_or_else(|| key.clone(), Into::into)).collect())
            }
            _ => Identity::Position,
        };
        let max_size = match schema.checks.max_items {
            Some(most) => u64::try_from(most).unwrap_or(0),
            None => (REQUEST_BYTES - 2) / (items.min_bytes + 1),
        };
        Some(self.scalar(schema, ShapeKind::List { items: items.id, identity }, max_size, 2))
    }

    fn map(&mut self, schema: &Schema, values_schema: &Schema) -> Option<Shaped> {
        let values = self.add(values_schema, values_schema.extensions.embedded_resource)?;
        let max_size = match schema.checks.max_properties {
            Some(most) => u64::try_from(most).unwrap_or(0),
            // A key, its quotes, a colon and a comma.
            None => (REQUEST_BYTES - 2) / (values.min_bytes + 6),
        };
        Some(self.scalar(schema, ShapeKind::Map { values: values.id }, max_size, 2))
    }

    fn object(&mut self, schema: &Schema, is_resource: bool) -> Shaped {
        let mut object = ObjectShape::default();
        let mut min_bytes = 2;
        for property in &schema.properties {
            let field = self.add(&property.schema, property.schema.extensions.embedded_resource);
            let Some(field) = field else {
                // Not to be looked at, but still compared.
                let opaque = self.shapes.add(ShapeKind::Opaque, true, 0);
                object.add(&property.name, None, opaque);
                continue;
            };
            object.add(&property.name, selected_name(&property.name).as_deref(), field.id);
            if property.schema.default.is_none() && schema.checks.required.contains(&property.name) {
                min_bytes += property.name.len() as u64 + field.min_bytes + 4;
            }
        }
        if is_resource && !describes_resource(schema) {
            self.add_resource_fields(&mut object);
        }
        Shaped { id: self.shapes.add(ShapeKind::Object(object), schema.nullable, 0), min_bytes }
    }

    /// What every resource has, whatever its schema says.
    fn add_resource_fields(&mut self, object: &mut ObjectShape) {
        let text = self.shapes.add(ShapeKind::String, false, REQUEST_BYTES - 2);
        let mut metadata = ObjectShape::default();
        metadata.add("name", Some("name"), text);
        metadata.add("generateName", Some("generateName"), text);
        let metadata = self.shapes.add(ShapeKind::Object(metadata), false, 0);
        object.add("apiVersion", Some("apiVersion"), text);
        object.add("kind", Some("kind"), text);
        object.add("metadata", Some("metadata"), metadata);
    }
}

/// Whether a schema itself says what rules may know of a resource.
fn describes_resource(schema: &Schema) -> bool {
    let is =
        |schema: Option<&Schema>, wanted: Type| schema.is_some_and(|schema| schema.r#type.as_ref() == Some(&wanted));
    let metadata = schema.property("metadata");
    is(schema.property("kind"), Type::String)
        && is(schema.property("apiVersion"), Type::String)
        && is(metadata, Type::Object)
        && ["name", "generateName"]
            .iter()
            .all(|name| is(metadata.and_then(|metadata| metadata.property(name)), Type::String))
}

fn longest(values: &[Owned]) -> u64 {
    let lengths = values.iter().map(|value| match value {
        Owned::String(text) => text.as_str().len() as u64,
        _ => 0,
    });
    lengths.max().unwrap_or(0)
}
