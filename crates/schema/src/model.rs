//! A schema as it was written, with the place of every part: what all sources are lowered to.

use wheelwright_document::{Owned, Span};

use crate::lower::Named;

/// One node of a schema. Nodes inside `allOf`, `anyOf`, `oneOf` and `not` are of the same type; the structural check
/// says what they may not contain.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Schema {
    /// Where the node was written.
    pub span: Span,
    /// Where each keyword of the node was written.
    pub keywords: Vec<(Box<str>, Span)>,

    /// `type`.
    pub r#type: Option<Type>,
    /// `nullable`.
    pub nullable: bool,
    /// `default`; `null` means none.
    pub default: Option<Owned>,
    /// `title`.
    pub title: Option<Box<str>>,
    /// `description`.
    pub description: Option<Box<str>>,
    /// `externalDocs` is there.
    pub external_docs: bool,

    /// `properties`, in the order they were written.
    pub properties: Properties,
    /// `additionalProperties`.
    pub additional_properties: Option<Additional>,
    /// `items`.
    pub items: Option<Box<Schema>>,

    /// The `x-kubernetes-…` extensions.
    pub extensions: Extensions,
    /// What OpenAPI says of a value that neither shapes nor validates it; boxed, since CRDs have none.
    pub annotations: Option<Box<Annotations>>,
    /// What a value must satisfy besides its type.
    pub checks: Checks,

    /// `allOf`.
    pub all_of: Vec<Schema>,
    /// `anyOf`.
    pub any_of: Vec<Schema>,
    /// `oneOf`.
    pub one_of: Vec<Schema>,
    /// `not`.
    pub not: Option<Box<Schema>>,

    /// Keywords that no structural schema may have, as written.
    pub unsupported: Vec<Box<str>>,
}

/// The declared fields, in the order they were written, and findable by name.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    list: Vec<Property>,
    /// Positions in `list` in the order of the names.
    by_name: Vec<u32>,
}

/// A field that a schema declares.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Property {
    /// Its name.
    pub name: Box<str>,
    /// Its schema.
    pub schema: Schema,
}

/// Whether a field is one of those that every resource has, whatever its schema says.
pub(crate) fn is_implied(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata")
}

/// `additionalProperties`.
#[derive(Clone, Debug)]
pub enum Additional {
    /// A boolean, which says whether other fields are allowed but not what they look like.
    Allowed(bool),
    /// The schema of other fields.
    Schema(Box<Schema>),
}

/// `type`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// `object`.
    Object,
    /// `array`.
    Array,
    /// `string`.
    String,
    /// `integer`.
    Integer,
    /// `number`.
    Number,
    /// `boolean`.
    Boolean,
    /// None of the six; no value has this type.
    Unknown(Box<str>),
}

/// The `x-kubernetes-…` extensions.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Extensions {
    /// `x-kubernetes-int-or-string`.
    pub int_or_string: bool,
    /// `x-kubernetes-embedded-resource`.
    pub embedded_resource: bool,
    /// `x-kubernetes-preserve-unknown-fields`; `false` is not allowed, and told apart from absence for that reason.
    pub preserve_unknown_fields: Option<bool>,
    /// `x-kubernetes-list-type`.
    pub list_type: Option<ListType>,
    /// `x-kubernetes-list-map-keys`.
    pub list_map_keys: Vec<Box<str>>,
    /// `x-kubernetes-map-type`.
    pub map_type: Option<Box<str>>,
    /// `x-kubernetes-validations`.
    pub validations: Vec<ValidationRule>,
}

/// One of the `x-kubernetes-validations`. Empty texts are as good as absent.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ValidationRule {
    /// Where it was written.
    pub span: Span,
    /// `rule`, which must hold.
    pub rule: Named,
    /// `message`, said if it does not.
    pub message: Named,
    /// `messageExpression`, which makes the message.
    pub message_expression: Named,
    /// `reason`, the sort of the error.
    pub reason: Named,
    /// `fieldPath`, the field below that the error is about.
    pub field_path: Named,
    /// `optionalOldSelf`: the rule also holds for what is new.
    pub optional_old_self: Option<bool>,
}

/// `x-kubernetes-list-type`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListType {
    /// `atomic`: the list is one value.
    Atomic,
    /// `set`: items are unique.
    Set,
    /// `map`: the key fields of items are unique.
    Map,
    /// None of the three.
    Unknown(Box<str>),
}

/// What OpenAPI says of a value that neither shapes nor validates it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Annotations {
    /// `readOnly`: only the server writes it.
    pub read_only: bool,
    /// `writeOnly`: the server never shows it.
    pub write_only: bool,
    /// `x-ms-secret`: customers never see it.
    pub secret: bool,
    /// `x-ms-mutability`, if it is there.
    pub mutability: Option<Mutability>,
    /// `x-ms-identifiers`: the fields that tell the items of a list apart. Identity, and not uniqueness: nothing is
    /// validated by it. An empty list says that nothing does.
    pub identifiers: Option<Vec<Box<str>>>,
    /// The values of an open enum (`x-ms-enum` with `modelAsString`): they are known, and others are valid too.
    pub known_values: Vec<Owned>,
    /// Fields that are `required` and `readOnly`: the server always shows them, and clients need not send them.
    pub required_in_responses: Vec<Box<str>>,
    /// `discriminator`.
    pub discriminator: Option<Discriminator>,
    /// `x-ms-discriminator-value`: the value of the discriminator that stands for this schema.
    pub discriminator_value: Option<Box<str>>,
}

/// `x-ms-mutability`: which requests may have a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Mutability {
    /// It is in responses.
    pub read: bool,
    /// It can be set when the resource is created.
    pub create: bool,
    /// It can be changed afterwards.
    pub update: bool,
}

/// `discriminator`: the field that says which of several schemas an object follows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Discriminator {
    /// The name of the field.
    pub property: Box<str>,
    /// Values that do not name their schema, and the references that they stand for.
    pub mapping: Vec<(Box<str>, Box<str>)>,
}

/// What a value must satisfy besides its type.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Checks {
    /// `format`.
    pub format: Option<Box<str>>,
    /// `pattern`, in Go's syntax.
    pub pattern: Option<Box<str>>,
    /// `enum`.
    pub r#enum: Vec<Owned>,
    /// `minimum`.
    pub minimum: Option<f64>,
    /// `maximum`.
    pub maximum: Option<f64>,
    /// `exclusiveMinimum`.
    pub exclusive_minimum: bool,
    /// `exclusiveMaximum`.
    pub exclusive_maximum: bool,
    /// `multipleOf`.
    pub multiple_of: Option<f64>,
    /// `minLength`, in characters.
    pub min_length: Option<i64>,
    /// `maxLength`, in characters.
    pub max_length: Option<i64>,
    /// `minItems`.
    pub min_items: Option<i64>,
    /// `maxItems`.
    pub max_items: Option<i64>,
    /// `uniqueItems`.
    pub unique_items: bool,
    /// `minProperties`.
    pub min_properties: Option<i64>,
    /// `maxProperties`.
    pub max_properties: Option<i64>,
    /// `required`.
    pub required: Vec<Box<str>>,
}

impl Schema {
    /// The schema of a declared field.
    pub fn property(&self, name: &str) -> Option<&Schema> {
        self.properties.get(name)
    }

    /// Where a keyword was written, or the node if it does not have it.
    pub fn place_of(&self, keyword: &str) -> Span {
        self.keywords.iter().find(|(name, _)| **name == *keyword).map_or(self.span, |(_, span)| *span)
    }

    /// The schemas right below this one, in the order of their sorts.
    pub(crate) fn below(&self) -> impl Iterator<Item = &Schema> {
        let fields = self.properties.iter().map(|property| &property.schema);
        let branches = [&self.all_of, &self.any_of, &self.one_of].into_iter().flatten();
        let single = [self.items.as_deref(), self.additional_schema(), self.not.as_deref()];
        fields.chain(single.into_iter().flatten()).chain(branches)
    }

    /// Whether a keyword was written.
    pub fn has(&self, keyword: &str) -> bool {
        self.keywords.iter().any(|(name, _)| **name == *keyword)
    }

    /// The schema of other fields than the declared ones, if there is one.
    pub fn additional_schema(&self) -> Option<&Schema> {
        match &self.additional_properties {
            Some(Additional::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// Whether `anyOf` does nothing but spell out that the value is an integer or a string.
    pub(crate) fn is_int_or_string_any_of(&self) -> bool {
        let is_only = |schema: &Schema, wanted: Type| {
            schema.r#type.as_ref() == Some(&wanted) && schema.keywords.iter().all(|(keyword, _)| **keyword == *"type")
        };
        matches!(&self.any_of[..], [integer, string]
            if is_only(integer, Type::Integer) && is_only(string, Type::String))
    }

    /// What OpenAPI says of it, to be changed.
    pub(crate) fn annotate(&mut self) -> &mut Annotations {
        self.annotations.get_or_insert_default()
    }

    pub(crate) fn preserves_unknown_fields(&self) -> bool {
        self.extensions.preserve_unknown_fields == Some(true)
    }
}

impl Properties {
    /// The schema of a field.
    pub fn get(&self, name: &str) -> Option<&Schema> {
        let found = self.by_name.binary_search_by(|at| (*self.list[*at as usize].name).cmp(name)).ok()?;
        Some(&self.list[self.by_name[found] as usize].schema)
    }

    /// The fields in the order they were written.
    pub fn iter(&self) -> std::slice::Iter<'_, Property> {
        self.list.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The fields, to be changed without renaming them.
    pub(crate) fn schemas_mut(&mut self) -> impl Iterator<Item = &mut Schema> {
        self.list.iter_mut().map(|property| &mut property.schema)
    }

    /// The schema of a field, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Schema> {
        let found = self.by_name.binary_search_by(|at| (*self.list[*at as usize].name).cmp(name)).ok()?;
        Some(&mut self.list[self.by_name[found] as usize].schema)
    }

    /// Adds fields whose names are new.
    pub(crate) fn append(&mut self, more: Vec<Property>) {
        if !more.is_empty() {
            *self = std::mem::take(&mut self.list).into_iter().chain(more).collect();
        }
    }
}

impl IntoIterator for Properties {
    type Item = Property;
    type IntoIter = std::vec::IntoIter<Property>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl FromIterator<Property> for Properties {
    fn from_iter<I: IntoIterator<Item = Property>>(properties: I) -> Self {
        let list: Vec<Property> = properties.into_iter().collect();
        let mut by_name: Vec<u32> = (0..list.len() as u32).collect();
        by_name.sort_unstable_by_key(|at| &*list[*at as usize].name);
        Self { list, by_name }
    }
}

impl<'s> IntoIterator for &'s Properties {
    type Item = &'s Property;
    type IntoIter = std::slice::Iter<'s, Property>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Type {
    /// The type that a word names.
    pub fn from_name(name: &str) -> Self {
        match name {
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            other => Self::Unknown(other.into()),
        }
    }

    /// The word for it.
    pub fn name(&self) -> &str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Unknown(name) => name,
        }
    }
}

impl ListType {
    /// The list type that a word names.
    pub fn from_name(name: &str) -> Self {
        match name {
            "atomic" => Self::Atomic,
            "set" => Self::Set,
            "map" => Self::Map,
            other => Self::Unknown(other.into()),
        }
    }

    /// The word for it.
    pub fn name(&self) -> &str {
        match self {
            Self::Atomic => "atomic",
            Self::Set => "set",
            Self::Map => "map",
            Self::Unknown(name) => name,
        }
    }
}
