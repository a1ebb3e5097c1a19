//! Kinds that grow at random: versions that differ by additions, removals, renames, moves, returns, new shapes and computed
//! fields, some of which gain fields after they were locked.

mod computed;

use proptest::prelude::*;
use wheelwright_document::{Owned, Span};
use wheelwright_evolve::{Declaration, DeclaredVersion, FieldValue, Renamed, Selector, Step, VersionName, Writers};
use wheelwright_schema::Root;

use super::{located, schema, step};

/// What happens before a kind is locked again.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    /// The version that appears, unless it is there already: then it gains something.
    version: &'static str,
    edits: Vec<(u8, usize, usize)>,
    /// Its changes say what writers do, and what new fields are filled in with.
    declares: bool,
    dropped: Option<usize>,
    /// The kind gets another name, and the versions that are there with it if this says so.
    renamed: Option<bool>,
}

pub(super) fn stages() -> impl Strategy<Value = Vec<Stage>> {
    let versions = prop::sample::select(vec!["v2", "v3", "v1beta1", "v1", "v4", "v5alpha1"]);
    let edits = prop::collection::vec((0..12_u8, 0..1000_usize, 0..1000_usize), 1..12);
    let dropped = prop::option::weighted(0.1, 0..6_usize);
    let renamed = prop::option::weighted(0.1, any::<bool>());
    let stage = (versions, edits, prop::bool::weighted(0.3), dropped, renamed);
    let stage = stage.prop_map(|(version, edits, declares, dropped, renamed)| Stage {
        version,
        edits,
        declares,
        dropped,
        renamed,
    });
    prop::collection::vec(stage, 1..8)
}

/// A kind, and the fields of its versions.
#[derive(Clone)]
pub(super) struct Kind {
    pub(super) declaration: Declaration,
    versions: Vec<(&'static str, Vec<Field>)>,
}

#[derive(Clone)]
struct Field {
    name: String,
    kind: Sort,
    nullable: bool,
    default: bool,
    /// Its path in the version before.
    origin: Option<Selector>,
}

#[derive(Clone)]
enum Sort {
    Object(Vec<Field>),
    List(Box<Sort>),
    Map(Box<Sort>),
    Scalar(&'static str),
}

const NAMES: [&str; 9] = ["a", "b", "c", "status", "x.y", "with space", "\"quoted\",\n", "$d", ""];

impl Kind {
    pub(super) fn new() -> Self {
        Self { declaration: Declaration::new("", "Generated"), versions: Vec::new() }
    }

    /// The kind after a stage.
    pub(super) fn after(&self, stage: &Stage) -> Self {
        let mut kind = self.clone();
        if let Some(in_place) = stage.renamed {
            kind.rename(in_place);
        }
        let existing = kind.versions.iter().position(|(name, _)| *name == stage.version);
        let position = existing.unwrap_or_else(|| {
            let name = VersionName::new(stage.version);
            let age = |other: &str| VersionName::new(other).compare_age(&name);
            let older = kind.versions.iter().filter(|(other, _)| age(other).is_some_and(std::cmp::Ordering::is_lt));
            let nearest = older.max_by(|(a, _), (b, _)| {
                VersionName::new(*a).compare_age(&VersionName::new(*b)).unwrap_or(std::cmp::Ordering::Equal)
            });
            let mut fields = nearest.map(|(_, fields)| fields.clone()).unwrap_or_default();
            remember_origins(&mut fields, &Selector::root());
            kind.versions.push((stage.version, fields));
            kind.versions.len() - 1
        });
        let before = existing.is_none().then(|| kind.versions[position].1.clone());
        let mut into = step(stage.version);
        let fields = &mut kind.versions[position].1;
        for (sort, a, b) in &stage.edits {
            edit(fields, *sort, *a, *b, existing.is_none());
        }
        if let Some(before) = before {
            renames(fields, &Some(Selector::root()), &Selector::root(), &mut into.renamed);
            if stage.declares {
                into.writers = Some(located(Writers::Omitempty));
                into.storage_defaults =
                    fields.iter().filter(|field| field.origin.is_none()).map(storage_default).collect();
                (into.respelled, into.derived) =
                    computed::between(&field_paths(&before), &field_paths(fields), &stage.edits);
            }
            kind.declaration.steps.push(into);
        }
        let text = format!("{{{}}}", written(&Sort::Object(fields.clone())));
        let name = VersionName::new(stage.version);
        kind.declaration.versions.retain(|other| other.name != name);
        if let Some(dropped) = stage.dropped.filter(|dropped| *dropped < kind.declaration.versions.len()) {
            kind.declaration.versions.remove(dropped);
        }
        kind.declaration.versions.push(DeclaredVersion::new(name, schema(&text), Root::Value, Span::default()));
        kind
    }

    fn rename(&mut self, in_place: bool) {
        let before = self.declaration.name();
        for version in self.declaration.versions.iter_mut().filter(|_| !in_place) {
            version.kind.get_or_insert_with(|| before.clone());
        }
        self.declaration.kind = format!("{} too", before.kind).into();
        self.declaration.was.push(located(before));
    }
}

fn storage_default(field: &Field) -> FieldValue {
    let at = located(Selector::root().then(Step::Field(field.name.as_str().into())));
    FieldValue { at, value: if field.default { Owned::Null } else { Owned::Bool(true) } }
}

fn edit(fields: &mut Vec<Field>, sort: u8, a: usize, b: usize, is_new: bool) {
    let mut objects = Vec::new();
    object_paths(fields, &Selector::root(), &mut objects);
    let at = objects[a % objects.len()].clone();
    let object = object(fields, at.steps());
    let chosen = b % object.len().max(1);
    let name = NAMES[(a + b) % NAMES.len()];
    let is_free = object.iter().all(|field| field.name != name);
    let retyped = |b: usize| [Sort::Scalar("integer"), Sort::Scalar("string"), Sort::Object(Vec::new())][b % 3].clone();
    match sort {
        _ if object.is_empty() || sort < 5 => {
            let kind = match b % 7 {
                0 | 1 => retyped(a),
                2 | 3 => Sort::Object(Vec::new()),
                4 => Sort::List(Box::new(retyped(a / 7))),
                5 => Sort::Map(Box::new(Sort::List(Box::new(retyped(a / 7))))),
                _ => Sort::List(Box::new(Sort::Object(Vec::new()))),
            };
            let place = if b.is_multiple_of(2) { object.len() } else { (a / 3) % (object.len() + 1) };
            let field = Field {
                name: name.into(),
                kind,
                nullable: a.is_multiple_of(5),
                default: a.is_multiple_of(3),
                origin: None,
            };
            if is_free {
                object.insert(place, field);
            }
        }
        5 if is_new => {
            object.remove(chosen);
        }
        6 if is_new && is_free => object[chosen].name = name.into(),
        7 if is_new => {
            let field = object.remove(chosen);
            let within = |selector: &Selector| {
                let is_element = |step: &Step| !matches!(step, Step::Field(_));
                let end = selector.steps().iter().rposition(is_element).map_or(0, |last| last + 1);
                selector.steps()[..end].to_vec()
            };
            let mut others = Vec::new();
            object_paths(fields, &Selector::root(), &mut others);
            others.retain(|other| within(other) == within(&at));
            let target = self::object(fields, others[(a / 3) % others.len()].steps());
            let is_free = target.iter().all(|other| other.name != field.name);
            match is_free {
                true => target.push(field),
                false => self::object(fields, at.steps()).push(field),
            }
        }
        8 => object[chosen].default ^= true,
        9 => object[chosen].nullable ^= true,
        10 => match &mut object[chosen].kind {
            Sort::Scalar(name) if *name == "integer" => *name = "number",
            kind if is_new => *kind = retyped(a),
            _ => {}
        },
        _ => object.rotate_left(1),
    }
}

fn object_paths(fields: &[Field], at: &Selector, out: &mut Vec<Selector>) {
    fn below(kind: &Sort, at: &Selector, out: &mut Vec<Selector>) {
        match kind {
            Sort::Object(fields) => object_paths(fields, at, out),
            Sort::List(items) => below(items, &at.then(Step::Items), out),
            Sort::Map(values) => below(values, &at.then(Step::Values), out),
            Sort::Scalar(_) => {}
        }
    }
    out.push(at.clone());
    for field in fields {
        below(&field.kind, &at.then(Step::Field(field.name.as_str().into())), out);
    }
}

fn field_paths(fields: &[Field]) -> Vec<Selector> {
    let mut objects = Vec::new();
    object_paths(fields, &Selector::root(), &mut objects);
    let mut fields = fields.to_vec();
    let below = |at: &Selector| {
        let names = object(&mut fields, at.steps()).iter().map(|field| Step::Field(field.name.as_str().into()));
        names.map(|name| at.then(name)).collect::<Vec<_>>()
    };
    objects.iter().flat_map(below).collect()
}

fn object<'f>(fields: &'f mut Vec<Field>, steps: &[Step]) -> &'f mut Vec<Field> {
    fn below<'f>(kind: &'f mut Sort, steps: &[Step]) -> &'f mut Vec<Field> {
        match kind {
            Sort::Object(fields) => object(fields, steps),
            Sort::List(inner) | Sort::Map(inner) => below(inner, &steps[1..]),
            Sort::Scalar(_) => panic!("a path leads to an object"),
        }
    }
    let Some((Step::Field(name), rest)) = steps.split_first() else { return fields };
    let field = fields.iter_mut().find(|field| *field.name == **name).expect("the path is there");
    below(&mut field.kind, rest)
}

fn remember_origins(fields: &mut [Field], at: &Selector) {
    for field in fields {
        let mut path = at.then(Step::Field(field.name.as_str().into()));
        field.origin = Some(path.clone());
        let mut kind = &mut field.kind;
        loop {
            (path, kind) = match kind {
                Sort::List(items) => (path.then(Step::Items), items),
                Sort::Map(values) => (path.then(Step::Values), values),
                Sort::Object(fields) => break remember_origins(fields, &path),
                Sort::Scalar(_) => break,
            };
        }
    }
}

/// What was renamed: fields that are not where what they are in has brought them.
fn renames(fields: &[Field], origin: &Option<Selector>, at: &Selector, out: &mut Vec<Renamed>) {
    for field in fields {
        let name = Step::Field(field.name.as_str().into());
        let mut path = at.then(name.clone());
        if let Some(from) =
            field.origin.as_ref().filter(|from| origin.as_ref().map(|at| at.then(name)).as_ref() != Some(from))
        {
            out.push(Renamed { from: located(from.clone()), to: located(path.clone()) });
        }
        let mut origin = field.origin.clone();
        let mut kind = &field.kind;
        loop {
            let (step, inner) = match kind {
                Sort::List(items) => (Step::Items, items),
                Sort::Map(values) => (Step::Values, values),
                Sort::Object(fields) => break renames(fields, &origin, &path, out),
                Sort::Scalar(_) => break,
            };
            (path, origin, kind) = (path.then(step.clone()), origin.map(|origin| origin.then(step)), inner);
        }
    }
}

fn properties(fields: &[Field]) -> String {
    let written: Vec<String> = fields
        .iter()
        .map(|field| {
            let name = serde_json::to_string(&field.name).expect("a text can be written");
            let nullable = if field.nullable { ",\"nullable\":true" } else { "" };
            let default = match (&field.kind, field.default) {
                (Sort::Scalar("string"), true) => ",\"default\":\"two words\\n\"",
                (Sort::Scalar(_), true) => ",\"default\":3",
                (Sort::Object(_), true) => ",\"default\":{\"a b\":[1, {}]}",
                _ => "",
            };
            format!("{name}:{{{}{nullable}{default}}}", written(&field.kind))
        })
        .collect();
    format!("\"properties\":{{{}}}", written.join(","))
}

fn written(kind: &Sort) -> String {
    match kind {
        Sort::Scalar(name) => format!("\"type\":\"{name}\""),
        Sort::List(items) => format!("\"type\":\"array\",\"items\":{{{},\"nullable\":true}}", written(items)),
        Sort::Map(values) => format!("\"type\":\"object\",\"additionalProperties\":{{{}}}", written(values)),
        Sort::Object(fields) if fields.len() == 3 => {
            format!("\"type\":\"object\",\"maxProperties\":1,{}", properties(fields))
        }
        Sort::Object(fields) => format!("\"type\":\"object\",{}", properties(fields)),
    }
}
