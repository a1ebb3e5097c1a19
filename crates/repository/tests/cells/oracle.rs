//! What a write must lead to, told from the schemas and the declared history alone: no lens is asked.

use serde_json::Value as Json;
use wheelwright_document::{Arena, decode};
use wheelwright_evolve::{FieldId, NodeIndex, Scalar, Shape, Step, VersionIndex};
use wheelwright_schema::{
    ErrorType, Schema, Stages,
    model::{Additional, Mutability},
};

use crate::{
    json::{Segment, at, json_of, merged, nested, remove, set},
    subject::Subject,
};

/// How something is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Method {
    Put,
    Merge,
    JsonPatch,
}

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Input {
    Value,
    /// Zero, false, or what is empty.
    Zero,
    Null,
    Absent,
}

pub(crate) const METHODS: [Method; 3] = [Method::Put, Method::Merge, Method::JsonPatch];

pub(crate) const INPUTS: [Input; 4] = [Input::Value, Input::Zero, Input::Null, Input::Absent];

/// Who may write a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    Service,
    CreateOnly,
    UpdateOnly,
}

/// What must come of a write.
#[derive(Debug)]
pub(crate) enum Expected {
    /// The version shows this.
    Shown(Json),
    Refused(Because),
}

/// Why a write must be refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Because {
    NotWritable,
    NullRefused,
    WouldRefill,
    Invalid,
}

/// A field of a version in sample documents.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) id: FieldId,
    pub(crate) node: NodeIndex,
    pub(crate) place: Vec<Segment>,
    pub(crate) shape: Shape,
    /// It is compared as a whole.
    pub(crate) is_leaf: bool,
}

impl Field {
    /// Whether it is in a list.
    pub(crate) fn is_in_list(&self) -> bool {
        self.place.contains(&Segment::First)
    }
}

pub(crate) fn rule_of(schema: &Schema) -> Option<Rule> {
    let annotations = schema.annotations.as_deref()?;
    match annotations.mutability {
        _ if annotations.read_only => Some(Rule::Service),
        Some(Mutability { create: false, update: false, .. }) => Some(Rule::Service),
        Some(Mutability { create: true, update: false, .. }) => Some(Rule::CreateOnly),
        Some(Mutability { create: false, update: true, .. }) => Some(Rule::UpdateOnly),
        _ => None,
    }
}

/// Whether customers never see a value.
fn is_hidden(schema: &Schema) -> bool {
    let annotations = schema.annotations.as_deref();
    annotations.and_then(|annotations| annotations.mutability).is_some_and(|mutability| !mutability.read)
}

/// Takes out of a value what customers never see.
pub(crate) fn conceal(schema: &Schema, value: &mut Json) {
    match value {
        Json::Object(fields) => {
            fields.retain(|key, _| !field_schema(schema, key).is_some_and(is_hidden));
            for (key, value) in fields {
                if let Some(below) = field_schema(schema, key) {
                    conceal(below, value);
                }
            }
        }
        Json::Array(items) => {
            for item in items {
                if let Some(below) = &schema.items {
                    conceal(below, item);
                }
            }
        }
        _ => {}
    }
}

pub(crate) fn zero(shape: Shape) -> Json {
    match shape {
        Shape::Object | Shape::Map => Json::Object(Default::default()),
        Shape::List => Json::Array(Vec::new()),
        Shape::Scalar(Scalar::Boolean) => Json::Bool(false),
        Shape::Scalar(Scalar::String) => Json::String(String::new()),
        Shape::Scalar(_) => 0.into(),
    }
}

/// A write to a field: the body, and what the document is before it is made normal; none if there is no such write.
pub(crate) struct Attempt {
    pub(crate) body: Json,
    /// What is asked for, if a policy does not refuse it.
    asked: Result<Json, Because>,
    /// The field is to be absent whatever its default is.
    clears: bool,
}

impl Subject {
    /// How a field is written into what a version shows. `dressed` is what clients read, with all that the service keeps.
    ///
    /// Null policies are about merge patches, which have no other word for absence. A JSON patch says both: `remove` makes a
    /// field absent and `add` with null makes it null, as if the whole document were written so, whatever the policy is.
    pub(crate) fn attempt(
        &self,
        field: &Field,
        (method, input): (Method, Input),
        value: &Json,
        dressed: &Json,
    ) -> Option<Attempt> {
        let mut put = dressed.clone();
        let written = match input {
            Input::Value => Some(value.clone()),
            Input::Zero => Some(zero(field.shape)),
            Input::Null => Some(Json::Null),
            Input::Absent => None,
        };
        match &written {
            Some(written) => {
                if !set(&mut put, &field.place, written.clone()) {
                    return None;
                }
            }
            None => drop(remove(&mut put, &field.place)),
        }
        let (body, asked, clears) = match method {
            Method::Put => (put.clone(), Ok(put), false),
            Method::JsonPatch => {
                let (_, parent) = field.place.split_last()?;
                let is_there = at(dressed, &field.place).is_some();
                at(dressed, parent)?;
                let path = crate::json::pointer(&field.place);
                let operation = match written {
                    Some(written) => serde_json::json!({"op": "add", "path": path, "value": written}),
                    None if is_there => serde_json::json!({"op": "remove", "path": path}),
                    None => return None,
                };
                (Json::Array(vec![operation]), Ok(put), false)
            }
            Method::Merge if field.is_in_list() => {
                // A merge patch replaces lists as a whole.
                let list = field.place.iter().position(|segment| *segment == Segment::First)?;
                let list = &field.place[..list];
                (nested(list, at(&put, list)?.clone()), Ok(put), false)
            }
            Method::Merge => {
                let patch = written.map_or(Json::Object(Default::default()), |written| nested(&field.place, written));
                let is_null = input == Input::Null;
                let mut asked = merged(dressed.clone(), &patch);
                let refused = match self.policies.null {
                    "reject" if is_null => Some(Because::NullRefused),
                    "zero" if is_null => {
                        let zero = match field.shape {
                            // There is no zero of anything.
                            Shape::Scalar(Scalar::Any) => None,
                            shape => Some(zero(shape)),
                        };
                        zero.map(|zero| set(&mut asked, &field.place, zero));
                        None
                    }
                    _ => None,
                };
                (patch, refused.map_or(Ok(asked), Err), is_null && self.policies.null == "clear")
            }
        };
        Some(Attempt { body, asked, clears })
    }

    /// What must come of a write by a customer to what a version shows; both without what the service keeps.
    pub(crate) fn expected(
        &self,
        version: VersionIndex,
        field: &Field,
        attempt: &Attempt,
        shown: Option<&Json>,
    ) -> Expected {
        let mut asked = match &attempt.asked {
            Ok(asked) => self.undressed(asked.clone()),
            Err(because) => return Expected::Refused(*because),
        };
        let schema = self.schema(version);
        if !is_writable(schema, &asked, shown, shown.is_none()) {
            return Expected::Refused(Because::NotWritable);
        }
        if attempt.clears && self.frozen(field.id).is_some() {
            return Expected::Refused(Because::WouldRefill);
        }
        protect(schema, &mut asked, shown);
        let root = self.version(version).structure.root();
        self.normalize(version, root, &mut asked, shown, true);
        protect(schema, &mut asked, shown);
        self.normalize(version, root, &mut asked, shown, false);
        if attempt.clears {
            remove(&mut asked, &field.place);
            protect(schema, &mut asked, shown);
            self.normalize(version, root, &mut asked, shown, false);
        }
        match self.is_valid(version, &asked, shown) {
            true => Expected::Shown(asked),
            false => Expected::Refused(Because::Invalid),
        }
    }

    /// A document without what the service keeps, and without what says its version.
    pub(crate) fn undressed(&self, mut document: Json) -> Json {
        let Json::Object(fields) = &mut document else { return document };
        if self.kind().is_resource() {
            fields.retain(|key, _| !matches!(&**key, "apiVersion" | "kind" | "metadata"));
        } else if self.is_arm {
            fields.retain(|key, _| !matches!(&**key, "id" | "name" | "type" | "systemData" | "tags"));
            if let Some(Json::Object(properties)) = fields.get_mut("properties") {
                properties.remove("provisioningState");
            }
        }
        document
    }

    /// Whether only the service keeps a field, outside of the document.
    pub(crate) fn is_kept_outside(&self, place: &[Segment]) -> bool {
        let first = |name: &str| place.first() == Some(&Segment::Key(name.into()));
        let in_properties = |name: &str| first("properties") && place.get(1) == Some(&Segment::Key(name.into()));
        let kept = ["id", "name", "type", "systemData", "tags"];
        self.is_arm && (kept.into_iter().any(first) || in_properties("provisioningState"))
    }

    /// Nulls that a version cannot say, and defaults: of the version where the field was shown or its object is new, and
    /// frozen ones.
    fn normalize(&self, version: VersionIndex, node: NodeIndex, value: &mut Json, shown: Option<&Json>, api: bool) {
        let structure = &self.version(version).structure;
        match (structure.node(node).shape, value) {
            (Shape::Object, Json::Object(fields)) => {
                let shown = shown.filter(|shown| shown.is_object());
                for child in &structure.node(node).children {
                    let Step::Field(name) = &structure.node(*child).step else { continue };
                    let was = shown.and_then(|shown| shown.get(&**name));
                    if fields.get(&**name).is_some_and(Json::is_null) && !structure.node(*child).nullable {
                        fields.remove(&**name);
                    }
                    if let Some(value) = fields.get_mut(&**name) {
                        self.normalize(version, *child, value, was, api);
                        continue;
                    }
                    let own =
                        structure.node(*child).default.as_ref().filter(|_| api && (shown.is_none() || was.is_some()));
                    let id = self.version(version).id(*child);
                    let frozen = id.and_then(|id| self.frozen(id));
                    let is_outside = self.is_kept_outside(&crate::json::place_of(&structure.selector(*child)));
                    let own = own.map(json_of);
                    let has_own = own.is_some();
                    if let Some(mut default) = own.or_else(|| frozen.cloned()).filter(|_| !is_outside) {
                        self.normalize(version, *child, &mut default, None, has_own);
                        fields.insert(name.to_string(), default);
                    }
                }
            }
            (Shape::Map, Json::Object(fields)) => {
                let Some(element) = structure.element(node) else { return };
                for (key, value) in fields.iter_mut() {
                    let was = shown.and_then(|shown| shown.get(key));
                    self.normalize(version, element, value, was, api);
                }
            }
            (Shape::List, Json::Array(items)) => {
                let Some(element) = structure.element(node) else { return };
                let keys = &structure.node(node).keys;
                for (position, value) in items.iter_mut().enumerate() {
                    // Items are matched by key, or else stay in their places: no sample write inserts or removes one.
                    let has_key = |other: &&Json| keys.iter().all(|key| other.get(&**key) == value.get(&**key));
                    let was = match keys.is_empty() {
                        true => shown.and_then(|shown| shown.get(position)),
                        false => shown.and_then(Json::as_array).and_then(|items| items.iter().find(has_key)),
                    };
                    self.normalize(version, element, value, was, api);
                }
            }
            _ => {}
        }
    }

    /// Whether a document is valid in its version, not counting what was missing before.
    fn is_valid(&self, version: VersionIndex, document: &Json, shown: Option<&Json>) -> bool {
        let arena = Arena::new();
        let typed = |document: &Json| {
            let mut document = document.clone();
            if let (Some(api_version), Json::Object(fields)) = (self.kind().api_version(version), &mut document) {
                fields.insert("apiVersion".to_owned(), api_version.into());
                fields.insert("kind".to_owned(), self.kind().name_in(version).into());
            }
            document.to_string()
        };
        let (new, old) = (typed(document), shown.map(typed));
        let new = decode(new.as_bytes(), &arena).expect("JSON");
        let program = self.kind().program(version).expect("a version that can be written");
        let Some(old) = &old else {
            return program.run(new, &arena, Stages::VALIDATE).expect("a document").errors.is_empty();
        };
        let old = decode(old.as_bytes(), &arena).expect("JSON");
        let missing = program.run(old, &arena, Stages::VALIDATE).expect("a document").errors;
        let was_missing = |error: &wheelwright_schema::ValidationError| {
            error.kind() == ErrorType::Required && missing.iter().any(|known| known.path() == error.path())
        };
        program.validate_update(new, old, &arena).errors.iter().all(was_missing)
    }
}

/// Whether a customer changes nothing that is fixed.
fn is_writable(schema: &Schema, asked: &Json, shown: Option<&Json>, creates: bool) -> bool {
    match asked {
        Json::Object(fields) => fields.iter().all(|(key, value)| {
            let Some(below) = field_schema(schema, key) else { return true };
            let was = shown.and_then(|shown| shown.get(key));
            match rule_of(below) {
                Some(Rule::Service) => true,
                Some(Rule::CreateOnly) if shown.is_some_and(Json::is_object) => {
                    was.is_some_and(|was| says_the_same(value, was))
                }
                Some(Rule::UpdateOnly) if creates => false,
                _ => is_writable(below, value, was, creates),
            }
        }),
        Json::Array(items) => match &schema.items {
            Some(below) => items
                .iter()
                .enumerate()
                .all(|(position, item)| is_writable(below, item, matching(schema, item, position, shown), creates)),
            None => true,
        },
        _ => true,
    }
}

/// Whether a value says nothing but what was shown; of objects, a part is enough.
fn says_the_same(asked: &Json, shown: &Json) -> bool {
    match (asked, shown) {
        (Json::Object(asked), Json::Object(shown)) => asked.iter().all(|(key, value)| match shown.get(key) {
            Some(was) => says_the_same(value, was),
            None => value.is_null(),
        }),
        _ => asked == shown,
    }
}

/// Puts back what a customer cannot change or remove.
fn protect(schema: &Schema, asked: &mut Json, shown: Option<&Json>) {
    match asked {
        Json::Object(fields) => {
            for property in schema.properties.iter() {
                let name = &*property.name;
                let was = shown.and_then(|shown| shown.get(name));
                match (rule_of(&property.schema), was) {
                    (Some(Rule::Service), None) => drop(fields.remove(name)),
                    (Some(Rule::Service), Some(was)) => drop(fields.insert(name.to_owned(), was.clone())),
                    (Some(Rule::CreateOnly), Some(was)) => {
                        fields.insert(name.to_owned(), was.clone());
                    }
                    _ => match fields.get_mut(name) {
                        Some(value) if !value.is_null() => protect(&property.schema, value, was),
                        _ => {
                            let kept = was.and_then(|was| protected_part(&property.schema, was));
                            kept.map(|kept| fields.insert(name.to_owned(), kept));
                        }
                    },
                }
            }
            let Some(Additional::Schema(values)) = &schema.additional_properties else { return };
            for (key, value) in fields.iter_mut().filter(|(key, _)| schema.property(key).is_none()) {
                protect(values, value, shown.and_then(|shown| shown.get(key)));
            }
        }
        Json::Array(items) => {
            let Some(below) = &schema.items else { return };
            for (position, item) in items.iter_mut().enumerate() {
                let was = matching(schema, item, position, shown);
                protect(below, item, was);
            }
        }
        _ => {}
    }
}

/// What of an object a customer cannot remove.
fn protected_part(schema: &Schema, shown: &Json) -> Option<Json> {
    let fields = shown.as_object()?.iter().filter_map(|(key, value)| {
        let below = schema.property(key)?;
        let kept = match rule_of(below) {
            Some(Rule::Service | Rule::CreateOnly) => value.clone(),
            _ => protected_part(below, value)?,
        };
        Some((key.clone(), kept))
    });
    let fields: serde_json::Map<String, Json> = fields.collect();
    (!fields.is_empty()).then_some(Json::Object(fields))
}

fn field_schema<'s>(schema: &'s Schema, name: &str) -> Option<&'s Schema> {
    schema.property(name).or(match &schema.additional_properties {
        Some(Additional::Schema(values)) => Some(values),
        _ => None,
    })
}

/// The item that another one is in the place of.
fn matching<'j>(schema: &Schema, item: &Json, position: usize, shown: Option<&'j Json>) -> Option<&'j Json> {
    let items = shown?.as_array()?;
    let identifiers = schema.annotations.as_deref().and_then(|annotations| annotations.identifiers.as_ref());
    match &identifiers.unwrap_or(&schema.extensions.list_map_keys)[..] {
        [] => items.get(position),
        keys => items.iter().find(|other| keys.iter().all(|key| other.get(&**key) == item.get(&**key))),
    }
}
