//! Random kinds, read off tapes of numbers, so that shrinking the numbers shrinks the case.
//!
//! Zero is the simplest choice everywhere, and what a tape that has ended gives.

use std::{collections::HashMap, fmt};

use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value as Json, json};
use wheelwright_document::{Arena, Decode, DuplicateKeys, Yaml, decode_yaml};
use wheelwright_evolve::{
    Declaration, DeclaredUnion, DeclaredVersion, Located, Renamed, Selector, Step, VersionName, VersionStep,
};
use wheelwright_schema::{Root, lower_schema};

/// The numbers of a case.
#[derive(Clone)]
pub(crate) struct Numbers {
    pub(crate) focus: Focus,
    base: Vec<u16>,
    /// For every version but the first: its edits.
    steps: Vec<Vec<Vec<u16>>>,
    /// Versions, parts, and edits.
    pub(crate) writes: Vec<(u8, u8, Vec<u16>)>,
}

/// What most of a kind consists of. Without it, lists and unions with hidden data would be too rare to be tested.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Focus {
    Anything,
    Lists,
    Unions,
    /// Objects that keep what they do not declare.
    Unknown,
    /// A spec and a status, written apart.
    Parts,
}

impl fmt::Debug for Numbers {
    /// On one line: what is read off the numbers says more than the numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} {:?} {:?}", self.focus, self.base, self.steps, self.writes)
    }
}

pub(crate) fn numbers(focus: Focus) -> impl Strategy<Value = Numbers> {
    let edits = vec(vec(any::<u16>(), 0..12), 1..5);
    (vec(any::<u16>(), 0..40), vec(edits, 1..4), vec((any::<u8>(), any::<u8>(), vec(any::<u16>(), 0..30)), 1..7))
        .prop_map(move |(base, steps, writes)| Numbers { focus, base, steps, writes })
}

/// A kind, as its versions are generated.
pub(crate) struct Generated {
    pub(crate) versions: Vec<Object>,
    /// The renames of every step, paths of the version before to those of the version.
    pub(crate) renamed: Vec<Vec<(Selector, Selector)>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// Stays when the object moves.
    pub(crate) identity: usize,
    pub(crate) fields: Vec<Field>,
    pub(crate) keeps_unknown: bool,
    pub(crate) union: bool,
    /// The field that says which member of the union is set.
    pub(crate) discriminator: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) identity: usize,
    pub(crate) name: String,
    pub(crate) shape: Type,
    pub(crate) nullable: bool,
    pub(crate) default: Option<Json>,
}

#[derive(Clone, Debug)]
pub(crate) enum Type {
    String,
    Integer,
    Boolean,
    IntOrString,
    Object(Object),
    /// With the identities of the fields that are the keys.
    List(Box<Type>, Vec<usize>),
    Map(Box<Type>),
    /// Of items and values: they may be null.
    Nullable(Box<Type>),
}

/// A sequence of choices.
pub(crate) struct Tape<'n> {
    numbers: std::slice::Iter<'n, u16>,
}

impl<'n> Tape<'n> {
    pub(crate) fn new(numbers: &'n [u16]) -> Self {
        Self { numbers: numbers.iter() }
    }

    pub(crate) fn pick(&mut self, count: usize) -> usize {
        usize::from(self.numbers.next().copied().unwrap_or(0)) % count.max(1)
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.pick(100) >= 100 - percent
    }
}

pub(crate) const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

impl Generated {
    pub(crate) fn of(numbers: &Numbers) -> Self {
        let mut editor = Editor { focus: numbers.focus, next: 0, graveyard: Vec::new() };
        let mut tape = Tape::new(&numbers.base);
        let mut versions = vec![editor.root(&mut tape)];
        let mut renamed = Vec::new();
        for step in &numbers.steps {
            let before = versions[versions.len() - 1].clone();
            let mut after = before.clone();
            for edit in step {
                editor.edit(&mut after, &mut Tape::new(edit));
            }
            renamed.push(renames(&before, &after));
            versions.push(after);
        }
        Self { versions, renamed }
    }

    pub(crate) fn declaration(&self) -> Declaration {
        let mut declaration = Declaration::new("", "Test");
        for (position, version) in self.versions.iter().enumerate() {
            let name = VersionName::new(format!("v{}", position + 1));
            let arena = Arena::new();
            let text = version.schema().to_string();
            let decode =
                Decode { max_bytes: 1 << 20, max_depth: 512, duplicate_keys: DuplicateKeys::Refuse, yaml: Yaml::Core };
            let documents = decode_yaml(text.as_bytes(), &arena, &decode).expect("generated schemas are YAML");
            let schema = lower_schema(&documents[0]).item;
            declaration.versions.push(DeclaredVersion::new(name, schema, Root::Value, Default::default()));
        }
        for (position, version) in self.versions.iter().enumerate() {
            let located = |item: &Selector| Located { item: item.clone(), span: Default::default() };
            let name = VersionName::new(format!("v{}", position + 1));
            let mut step = VersionStep::new(Located { item: name, span: Default::default() });
            let renamed = position.checked_sub(1).map(|before| &self.renamed[before]);
            let renamed = renamed.into_iter().flatten();
            step.renamed = renamed.map(|(from, to)| Renamed { from: located(from), to: located(to) }).collect();
            version.declared_unions(&Selector::root(), &mut step.unions);
            declaration.steps.push(step);
        }
        declaration
    }

    /// The kind for people.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::new();
        for (position, version) in self.versions.iter().enumerate() {
            text += &format!("v{}: {}\n", position + 1, version.schema());
            let mut unions = Vec::new();
            version.declared_unions(&Selector::root(), &mut unions);
            for union in unions {
                let DeclaredUnion { at, members, discriminator } = union;
                text += &format!("  union at {}: {members:?}, discriminator {discriminator:?}\n", at.item);
            }
            let Some(renamed) = position.checked_sub(1).map(|before| &self.renamed[before]) else { continue };
            let renamed: Vec<String> = renamed.iter().map(|(from, to)| format!("{from}: {to}")).collect();
            if !renamed.is_empty() {
                text += &format!("  renamed into v{}: {{{}}}\n", position + 1, renamed.join(", "));
            }
        }
        text
    }
}

impl Object {
    fn schema(&self) -> Json {
        let properties: Map<String, Json> =
            self.fields.iter().map(|field| (field.name.clone(), field.schema())).collect();
        let mut schema = json!({"type": "object", "properties": properties});
        if self.keeps_unknown {
            schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
        }
        if self.union && self.discriminator.is_none() && self.fields.len() > 1 {
            schema["oneOf"] = self.fields.iter().map(|field| json!({"required": [field.name]})).collect();
        }
        schema
    }

    /// The unions that schemas cannot say, at a path and below.
    fn declared_unions(&self, at: &Selector, found: &mut Vec<DeclaredUnion>) {
        if self.union && self.discriminator.is_some() {
            let (discriminator, members): (Vec<&Field>, Vec<&Field>) =
                self.fields.iter().partition(|field| Some(field.identity) == self.discriminator);
            found.push(DeclaredUnion {
                at: Located { item: at.clone(), span: Default::default() },
                members: members.iter().map(|field| field.name.as_str().into()).collect(),
                discriminator: discriminator.first().map(|field| field.name.as_str().into()),
            });
        }
        for field in &self.fields {
            if let Some(inner) = field.shape.object() {
                inner.declared_unions(&field.path_of_object(at), found);
            }
        }
    }

    /// The object of an identity, here or below.
    pub(crate) fn find(&self, identity: usize) -> Option<&Object> {
        if self.identity == identity {
            return Some(self);
        }
        self.fields.iter().filter_map(|field| field.shape.object()).find_map(|inner| inner.find(identity))
    }

    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    fn free_name(&self, tape: &mut Tape<'_>) -> Option<String> {
        let free: Vec<&str> = NAMES.into_iter().filter(|name| self.field(name).is_none()).collect();
        (!free.is_empty()).then(|| free[tape.pick(free.len())].to_owned())
    }
}

impl Field {
    /// The path of the object in this field, below any number of lists and maps.
    fn path_of_object(&self, parent: &Selector) -> Selector {
        let path = parent.then(Step::Field(self.name.as_str().into()));
        self.shape.steps().into_iter().fold(path, |path, step| path.then(step))
    }

    fn schema(&self) -> Json {
        let mut schema = self.shape.schema();
        if self.nullable {
            schema["nullable"] = json!(true);
        }
        if let Some(default) = &self.default {
            schema["default"] = default.clone();
        }
        schema
    }
}

impl Type {
    fn schema(&self) -> Json {
        match self {
            Self::String => json!({"type": "string"}),
            Self::Integer => json!({"type": "integer"}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::IntOrString => json!({"x-kubernetes-int-or-string": true}),
            Self::Object(object) => object.schema(),
            Self::List(items, keys) => {
                let mut schema = json!({"type": "array", "items": items.schema()});
                let fields = items.item_fields().iter().filter(|field| keys.contains(&field.identity));
                let names: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
                if !names.is_empty() {
                    schema["x-kubernetes-list-type"] = json!("map");
                    schema["x-kubernetes-list-map-keys"] = json!(names);
                }
                schema
            }
            Self::Nullable(shape) => {
                let mut schema = shape.schema();
                schema["nullable"] = json!(true);
                schema
            }
            Self::Map(values) => json!({"type": "object", "additionalProperties": values.schema()}),
        }
    }

    /// The object in a field, below any number of lists and maps.
    fn object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            Self::List(element, _) | Self::Map(element) | Self::Nullable(element) => element.object(),
            _ => None,
        }
    }

    fn object_mut(&mut self) -> Option<&mut Object> {
        match self {
            Self::Object(object) => Some(object),
            Self::List(element, _) | Self::Map(element) | Self::Nullable(element) => element.object_mut(),
            _ => None,
        }
    }

    /// The fields of items that are objects.
    fn item_fields(&self) -> &[Field] {
        match self {
            Self::Object(object) => &object.fields,
            Self::Nullable(shape) => shape.item_fields(),
            _ => &[],
        }
    }

    /// Lets items or values be null, or not any more.
    fn toggle_nullable(&mut self) {
        *self = match std::mem::replace(self, Self::String) {
            Self::Nullable(shape) => *shape,
            shape => Self::Nullable(Box::new(shape)),
        };
    }

    /// The steps from a field to its [`object`](Self::object).
    fn steps(&self) -> Vec<Step> {
        match self {
            Self::List(element, _) => [Step::Items].into_iter().chain(element.steps()).collect(),
            Self::Map(element) => [Step::Values].into_iter().chain(element.steps()).collect(),
            Self::Nullable(shape) => shape.steps(),
            _ => Vec::new(),
        }
    }
}

/// Makes and changes versions.
struct Editor {
    focus: Focus,
    next: usize,
    /// Fields that are gone, and the objects they were in.
    graveyard: Vec<(usize, Field)>,
}

impl Editor {
    fn identity(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    fn root(&mut self, tape: &mut Tape<'_>) -> Object {
        if matches!(self.focus, Focus::Anything | Focus::Unknown) {
            return self.object(tape, 0);
        }
        if self.focus == Focus::Parts {
            let mut root = self.empty();
            for name in ["spec", "status"] {
                let shape = Type::Object(self.object(tape, 1));
                let name = name.to_owned();
                root.fields.push(Field { identity: self.identity(), name, shape, nullable: false, default: None });
            }
            return root;
        }
        let mut inner = self.object(tape, 2);
        let shape = if self.focus == Focus::Unions {
            inner.union = true;
            inner.discriminator = inner.fields.first().map(|field| field.identity).filter(|_| tape.chance(40));
            Type::Object(inner)
        } else {
            let key = inner.fields.iter().find(|field| matches!(field.shape, Type::String));
            let keys = key.filter(|_| tape.chance(40)).map(|field| field.identity).into_iter().collect();
            let items = Type::Object(inner);
            match tape.pick(6) {
                4 => Type::Map(Box::new(items)),
                5 => Type::List(Box::new(Type::List(Box::new(items), keys)), Vec::new()),
                _ => Type::List(Box::new(items), keys),
            }
        };
        let name = NAMES[0].to_owned();
        let field = Field { identity: self.identity(), name, shape, nullable: false, default: None };
        Object { fields: vec![field], ..self.empty() }
    }

    fn empty(&mut self) -> Object {
        let identity = self.identity();
        Object { identity, fields: Vec::new(), keeps_unknown: false, union: false, discriminator: None }
    }

    fn object(&mut self, tape: &mut Tape<'_>, depth: usize) -> Object {
        let mut object = self.empty();
        for _ in 0..1 + tape.pick(if depth == 0 { 5 } else { 3 }) {
            self.add(&mut object, tape, depth);
        }
        object.keeps_unknown = tape.chance(if self.focus == Focus::Unknown { 60 } else { 15 });
        object.union = depth > 0 && tape.chance(15);
        object
    }

    fn add(&mut self, object: &mut Object, tape: &mut Tape<'_>, depth: usize) {
        let Some(name) = object.free_name(tape) else { return };
        let shape = self.shape(tape, depth);
        let nullable = tape.chance(15);
        let default = tape.chance(20).then(|| default(&shape, tape)).flatten();
        object.fields.push(Field { identity: self.identity(), name, shape, nullable, default });
    }

    fn shape(&mut self, tape: &mut Tape<'_>, depth: usize) -> Type {
        let depth = depth + 1;
        match tape.pick(if depth > 3 { 4 } else { 12 }) {
            0 | 3 => Type::String,
            1 => Type::Integer,
            2 => Type::Boolean,
            4..7 => Type::Object(self.object(tape, depth)),
            7 | 8 => {
                let object = self.object(tape, depth);
                let key = object.fields.first().filter(|field| matches!(field.shape, Type::String));
                let keys = key.filter(|_| tape.chance(60)).map(|field| field.identity).into_iter().collect();
                Type::List(Box::new(Type::Object(object)), keys)
            }
            9 => Type::Map(Box::new(Type::Object(self.object(tape, depth)))),
            10 => {
                let inner = Type::List(Box::new(Type::Object(self.object(tape, depth))), Vec::new());
                Type::List(Box::new(inner), Vec::new())
            }
            _ if tape.chance(50) => Type::Map(Box::new(Type::String)),
            _ => Type::List(Box::new(Type::String), Vec::new()),
        }
    }

    fn edit(&mut self, root: &mut Object, tape: &mut Tape<'_>) {
        let is_narrow = !matches!(self.focus, Focus::Anything | Focus::Unknown);
        let kind = if is_narrow && tape.chance(40) { tape.pick(2) } else { tape.pick(14) };
        if self.focus == Focus::Lists && kind == 10 {
            return toggle_key(root, tape);
        }
        let mut objects = Vec::new();
        objects_of(root, root.identity, 0, &mut objects);
        if is_narrow && objects.len() > 1 && (self.focus == Focus::Parts || !tape.chance(10)) {
            objects.remove(0);
        }
        let (identity, scope, depth) = objects[tape.pick(objects.len())];
        let place = tape.pick(64);
        let Some(object) = find_mut(root, identity) else { return };
        let count = object.fields.len();
        let at = place % count.max(1);
        if kind > 0 && count == 0 {
            return;
        }
        match kind {
            0 => self.add(object, tape, depth),
            1 => {
                let field = object.fields.remove(at);
                self.graveyard.push((identity, field));
            }
            2 => {
                if let Some(name) = object.free_name(tape) {
                    object.fields[at].name = name;
                }
            }
            3 => {
                let other = tape.pick(count);
                let name = object.fields[at].name.clone();
                object.fields[at].name = std::mem::replace(&mut object.fields[other].name, name);
            }
            4 | 5 => {
                let targets: Vec<usize> =
                    objects.iter().filter(|(_, other, _)| *other == scope).map(|(target, ..)| *target).collect();
                let target = targets[tape.pick(targets.len())];
                let field = object.fields.remove(at);
                self.move_to(root, target, identity, field, tape);
            }
            6 => {
                let shape = self.shape(tape, depth);
                let identity = self.identity();
                let field = &mut object.fields[at];
                (field.shape, field.identity, field.default) = (shape, identity, None);
            }
            7 => {
                let dead: Vec<Field> = self
                    .graveyard
                    .iter()
                    .filter(|(home, field)| *home == identity && object.field(&field.name).is_none())
                    .map(|(_, field)| field.clone())
                    .collect();
                if !dead.is_empty() {
                    let field = dead[tape.pick(dead.len())].clone();
                    let alive = self.identity();
                    let Some(object) = find_mut(root, identity) else { return };
                    object.fields.push(Field { identity: alive, ..field });
                }
            }
            8 => match &mut object.fields[at].shape {
                Type::List(element, _) | Type::Map(element) if tape.chance(60) => element.toggle_nullable(),
                _ => object.fields[at].nullable ^= true,
            },
            9 => object.fields[at].default = default(&object.fields[at].shape, tape),
            10 => object.keeps_unknown ^= true,
            11 => {
                if let Type::List(items, keys) = &mut object.fields[at].shape
                    && !items.item_fields().is_empty()
                {
                    let found = items.item_fields().iter().find(|field| matches!(field.shape, Type::String));
                    *keys = found.filter(|_| keys.is_empty()).map(|field| field.identity).into_iter().collect();
                } else if matches!(object.fields[at].shape, Type::Integer | Type::String) {
                    object.fields[at].shape = Type::IntOrString;
                } else {
                    object.union ^= true;
                }
            }
            12 => {
                object.union = true;
                object.discriminator = Some(object.fields[at].identity).filter(|_| !tape.chance(30));
            }
            _ => {
                let mut field = object.fields.remove(at);
                let mut wrapper = self.empty();
                let name = field.name.clone();
                field.name = wrapper.free_name(tape).unwrap_or(name.clone());
                wrapper.fields.push(field);
                let shape = Type::Object(wrapper);
                object.fields.push(Field { identity: self.identity(), name, shape, nullable: false, default: None });
            }
        }
    }

    /// Moves a field into another object, under a free name; it stays where it was if it cannot.
    fn move_to(&mut self, root: &mut Object, target: usize, home: usize, mut field: Field, tape: &mut Tape<'_>) {
        let target = if find_mut(root, target).is_some() { target } else { home };
        let Some(object) = find_mut(root, target) else { return };
        if object.field(&field.name).is_some() {
            match object.free_name(tape) {
                Some(name) => field.name = name,
                None => return self.graveyard.push((home, field)),
            }
        }
        object.fields.push(field);
    }
}

/// Makes a field a key of the first list of an object, or one of its keys none.
fn toggle_key(object: &mut Object, tape: &mut Tape<'_>) {
    let mut lists = object.fields.iter_mut().filter_map(|field| match &mut field.shape {
        Type::List(items, keys) => Some((items, keys)),
        _ => None,
    });
    if let Some((items, keys)) = lists.next()
        && !items.item_fields().is_empty()
    {
        let field = items.item_fields()[tape.pick(items.item_fields().len())].identity;
        if tape.chance(40) {
            keys.clear();
        }
        match keys.iter().position(|key| *key == field) {
            Some(position) => drop(keys.remove(position)),
            None => keys.push(field),
        }
    }
}

fn default(shape: &Type, tape: &mut Tape<'_>) -> Option<Json> {
    Some(match shape {
        Type::String | Type::IntOrString => json!(["a", "b"][tape.pick(2)]),
        Type::Integer => json!(tape.pick(2)),
        Type::Boolean => json!(tape.pick(2) == 1),
        Type::Object(object) => {
            let mut value = Map::new();
            for field in &object.fields {
                if tape.chance(30)
                    && let Some(default) = default(&field.shape, tape)
                {
                    value.insert(field.name.clone(), default);
                }
            }
            Json::Object(value)
        }
        Type::Nullable(shape) => return default(shape, tape),
        Type::List(element, _) => (0..tape.pick(3)).filter_map(|_| default(element, tape)).collect(),
        Type::Map(element) => {
            let mut value = Map::new();
            for name in &NAMES[..tape.pick(3)] {
                if let Some(default) = default(element, tape) {
                    value.insert((*name).to_owned(), default);
                }
            }
            Json::Object(value)
        }
    })
}

/// Every object with the scope that it is in and its depth.
fn objects_of(object: &Object, scope: usize, depth: usize, found: &mut Vec<(usize, usize, usize)>) {
    found.push((object.identity, scope, depth));
    for field in &object.fields {
        if let Some(inner) = field.shape.object() {
            // Nothing moves between spec and status.
            let is_field = matches!(field.shape, Type::Object(_)) && field.name != "status";
            objects_of(inner, if is_field { scope } else { inner.identity }, depth + 1, found);
        }
    }
}

fn find_mut(object: &mut Object, identity: usize) -> Option<&mut Object> {
    if object.identity == identity {
        return Some(object);
    }
    object.fields.iter_mut().filter_map(|field| field.shape.object_mut()).find_map(|inner| find_mut(inner, identity))
}

/// What the changes of a step say: the fields whose path is not the one that they would be found at.
fn renames(before: &Object, after: &Object) -> Vec<(Selector, Selector)> {
    let (mut old, mut new) = (HashMap::new(), Vec::new());
    collect_paths(before, &Selector::root(), &mut |identity, path| {
        old.insert(identity, path);
    });
    collect_paths(after, &Selector::root(), &mut |identity, path| new.push((identity, path)));
    let renamed = new.into_iter().filter_map(|(identity, to)| {
        let from = old.get(&identity)?.clone();
        (from != to).then_some((from, to))
    });
    renamed.collect()
}

fn collect_paths(object: &Object, at: &Selector, collect: &mut dyn FnMut(usize, Selector)) {
    for field in &object.fields {
        collect(field.identity, at.then(Step::Field(field.name.as_str().into())));
        if let Some(inner) = field.shape.object() {
            collect_paths(inner, &field.path_of_object(at), collect);
        }
    }
}
