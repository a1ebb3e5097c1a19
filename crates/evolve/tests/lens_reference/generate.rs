//! Random kinds, read off tapes of numbers, so that shrinking the numbers shrinks the case.
//!
//! Zero is the simplest choice everywhere, and what a tape that has ended gives.

#[path = "generate/computing.rs"]
mod computing;
#[path = "generate/editor.rs"]
mod editor;

use std::{collections::HashMap, fmt};

use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value as Json, json};
use wheelwright_document::{Arena, Decode, DuplicateKeys, Yaml, decode_yaml};
use wheelwright_evolve::{
    Conversion, Declaration, DeclaredUnion, DeclaredVersion, Derived, Direction, Located, Renamed, Respelled, Selector,
    Step, VersionName, VersionStep,
};
use wheelwright_schema::{Root, lower_schema};

use self::editor::Editor;
use crate::expression::Expression;

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
    /// Lists of few fields, most items of which look equal to some version.
    AlikeItems,
    Unions,
    /// Objects that keep what they do not declare.
    Unknown,
    /// A spec and a status, written apart.
    Parts,
    /// Facts in several spellings, and derived fields.
    Computed,
    /// The same in lists and maps.
    ComputedInLists,
    /// The same in a spec and a status, written apart.
    ComputedInParts,
    /// Objects that are items of lists or values of maps in other versions, with parts that only one spelling has.
    ComputedObjects,
}

impl Focus {
    pub(crate) fn computes(self) -> bool {
        matches!(self, Self::Computed | Self::ComputedInLists | Self::ComputedInParts | Self::ComputedObjects)
    }

    pub(crate) fn has_parts(self) -> bool {
        matches!(self, Self::Parts | Self::ComputedInParts)
    }
}

impl fmt::Debug for Numbers {
    /// On one line: what is read off the numbers says more than the numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} {:?} {:?}", self.focus, self.base, self.steps, self.writes)
    }
}

pub(crate) fn numbers(focus: Focus) -> impl Strategy<Value = Numbers> {
    let (base, edits, steps, written, writes) = match focus {
        Focus::AlikeItems => (10..20, 4..12, 1..3, 100..250, 6..16),
        Focus::ComputedObjects => (0..40, 6..30, 1..4, 0..30, 1..7),
        _ => (0..40, 0..12, 1..4, 0..30, 1..7),
    };
    let edits = vec(vec(any::<u16>(), edits), 1..5);
    (vec(any::<u16>(), base), vec(edits, steps), vec((any::<u8>(), any::<u8>(), vec(any::<u16>(), written)), writes))
        .prop_map(move |(base, steps, writes)| Numbers { focus, base, steps, writes })
}

/// A kind, as its versions are generated.
pub(crate) struct Generated {
    pub(crate) versions: Vec<Object>,
    /// The renames of every step but the first, paths of the version before to those of the version.
    pub(crate) renamed: Vec<Vec<(Selector, Selector)>>,
    /// The computed changes of every step.
    pub(crate) changes: Vec<Vec<Change>>,
    /// The version that every version was made of, where it is not the one before.
    pub(crate) from: Vec<Option<usize>>,
}

/// A computed change, in the paths of both versions.
pub(crate) enum Change {
    Respelled {
        from: Vec<Selector>,
        to: Vec<Selector>,
        /// How many levels of items and values the paths end in.
        levels: usize,
        with: Conversion,
        /// What the expressions mean, if it is one: on the way up, and on the way down.
        expressions: [Vec<Expression>; 2],
        /// The bounds that the schemas of both sides have.
        bounds: [Option<[i64; 2]>; 2],
    },
    /// A field that is alone in one version and under a key of an object in the other.
    Keyed {
        alone: Selector,
        object: Selector,
        key: Box<str>,
        is_wrapped: bool,
    },
    Derived {
        direction: Direction,
        at: Selector,
        expression: Expression,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// Stays when the object moves.
    pub(crate) identity: usize,
    pub(crate) fields: Vec<Field>,
    pub(crate) keeps_unknown: bool,
    /// `{}` is invalid.
    pub(crate) refuses_empty: bool,
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
    /// An integer with a minimum and a maximum, which documents need not respect.
    Within([i64; 2]),
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

    /// Whether only zeros follow.
    pub(crate) fn has_ended(&self) -> bool {
        self.numbers.len() == 0
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.pick(100) >= 100 - percent
    }
}

pub(crate) const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

impl Generated {
    pub(crate) fn of(numbers: &Numbers) -> Self {
        let mut editor = Editor { focus: numbers.focus, next: 0, graveyard: Vec::new(), planned: Vec::new() };
        let mut tape = Tape::new(&numbers.base);
        let mut versions = vec![editor.root(&mut tape)];
        let (mut renamed, mut changes, mut from) = (Vec::new(), vec![Vec::new()], vec![None]);
        for step in &numbers.steps {
            let is_branch = numbers.focus.computes() && versions.len() > 1 && tape.chance(15);
            from.push(is_branch.then(|| tape.pick(versions.len() - 1)));
            let before = versions[from[from.len() - 1].unwrap_or(versions.len() - 1)].clone();
            let mut after = before.clone();
            for edit in step {
                editor.edit(&mut after, &mut Tape::new(edit));
            }
            let computed = computing::changes(std::mem::take(&mut editor.planned), &before, &after);
            let mut moved = renames(&before, &after);
            for change in &computed {
                if let Change::Keyed { alone, object, key, is_wrapped } = change {
                    let inner = object.then(Step::Field(key.clone()));
                    let (from, to) = if *is_wrapped { (alone, &inner) } else { (&inner, alone) };
                    moved.retain(|(old, new)| (old, new) != (from, to));
                }
            }
            renamed.push(moved);
            changes.push(computed);
            versions.push(after);
        }
        Self { versions, renamed, changes, from }
    }

    /// Whether a field is moved into or out of something that is computed as a whole, or computed itself in it. A changes file
    /// that says so is refused (WW113), and so are random kinds.
    pub(crate) fn contradicts(&self) -> bool {
        let field_of = |at: &Selector, levels: usize| at.steps()[..at.steps().len() - levels].to_vec();
        self.renamed.iter().zip(&self.changes[1..]).any(|(renamed, changes)| {
            [Direction::Down, Direction::Up].into_iter().any(|side| {
                let is_up = side == Direction::Up;
                let respelled = changes.iter().flat_map(|change| match change {
                    Change::Respelled { from, to, levels, .. } => {
                        let fields = if is_up { to } else { from };
                        fields.iter().map(|at| field_of(at, *levels)).collect()
                    }
                    _ => Vec::new(),
                });
                let wholes: Vec<_> = respelled.collect();
                let renamed = renamed.iter().map(|(old, new)| if is_up { new } else { old });
                let others = changes.iter().filter_map(|change| match change {
                    Change::Derived { direction, at, .. } => (*direction == side).then_some(at),
                    Change::Keyed { alone, object, is_wrapped, .. } => {
                        Some(if is_up == *is_wrapped { object } else { alone })
                    }
                    Change::Respelled { .. } => None,
                });
                let others = renamed.chain(others).map(|at| at.steps().to_vec());
                let fields: Vec<_> = others.chain(wholes.iter().cloned()).collect();
                let is_within = |field: &Vec<_>, whole: &Vec<_>| field.len() > whole.len() && field.starts_with(whole);
                fields.iter().any(|field| wholes.iter().any(|whole| is_within(field, whole)))
            })
        })
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
            let from = self.from[position].map(|from| VersionName::new(format!("v{}", from + 1)));
            step.from = from.map(|item| Located { item, span: Default::default() });
            for change in &self.changes[position] {
                match change {
                    Change::Respelled { from, to, with, .. } => step.respelled.push(Respelled {
                        from: from.iter().map(located).collect(),
                        to: to.iter().map(located).collect(),
                        with: Located { item: with.clone(), span: Default::default() },
                    }),
                    Change::Keyed { alone, object, key, is_wrapped } => {
                        let (from, to) = if *is_wrapped { (alone, object) } else { (object, alone) };
                        let (from, to) = (vec![located(from)], vec![located(to)]);
                        let item = Conversion::ObjectWithKey(key.clone());
                        let with = Located { item, span: Default::default() };
                        step.respelled.push(Respelled { from, to, with });
                    }
                    Change::Derived { direction, at, expression } => step.derived.push(Derived {
                        direction: *direction,
                        at: located(at),
                        expression: Located { item: expression.to_string().into(), span: Default::default() },
                    }),
                }
            }
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
            if let Some(from) = self.from[position] {
                text += &format!("  from v{}\n", from + 1);
            }
            for change in &self.changes[position] {
                text += &format!("  {change}\n");
            }
        }
        text
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths = |paths: &[Selector]| paths.iter().map(Selector::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Self::Respelled { from, to, with, expressions: [up, down], .. } if !up.is_empty() => {
                let texts = |them: &[Expression]| them.iter().map(Expression::to_string).collect::<Vec<_>>();
                write!(f, "{} -> {} up {:?} down {:?}", paths(from), paths(to), texts(up), texts(down))?;
                matches!(with, Conversion::Hook(_)).then(|| write!(f, " {with:?}")).unwrap_or(Ok(()))
            }
            Self::Respelled { from, to, with, .. } => write!(f, "{} -> {} {with:?}", paths(from), paths(to)),
            Self::Keyed { alone, object, key, is_wrapped: true } => write!(f, "{alone} -> {object} under {key}"),
            Self::Keyed { alone, object, key, is_wrapped: false } => write!(f, "{object} -> {alone} from {key}"),
            Self::Derived { direction, at, expression } => write!(f, "derived {direction:?} {at}: {expression}"),
        }
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
        if self.refuses_empty {
            schema["minProperties"] = json!(1 + self.fields.iter().filter(|field| field.default.is_some()).count());
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

    /// The number of fields in it, at any depth.
    pub(crate) fn size(&self) -> usize {
        self.fields.iter().map(|field| 1 + field.shape.object().map_or(0, Self::size)).sum()
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
            Self::Within([least, most]) => json!({"type": "integer", "minimum": least, "maximum": most}),
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

    /// The bounds of an integer, or of the integers in it.
    pub(crate) fn bounds(&self) -> Option<[i64; 2]> {
        match self {
            Self::Within(bounds) => Some(*bounds),
            Self::List(element, _) | Self::Map(element) | Self::Nullable(element) => element.bounds(),
            _ => None,
        }
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
