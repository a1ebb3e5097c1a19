//! Random edits of a version that respell facts and derive fields.

use serde_json::json;
use wheelwright_evolve::{Clamped, Conversion, Direction, DocumentFormat, Located, Selector, Step};

use super::{Change, Editor, Field, Object, Tape, Type, collect_paths};
use crate::expression::{Expression, Path};

/// A computed change of the step that is being made, by the identities of fields.
pub(super) enum Planned {
    Respelled {
        from: Vec<usize>,
        to: Vec<usize>,
        elements: Vec<Step>,
        how: How,
    },
    /// A scalar became a field of a new object, or the other way round: it is the same field, under a key of the object.
    Keyed {
        field: usize,
        object: usize,
        is_wrapped: bool,
    },
    /// The expression is chosen once both versions are known.
    Derived {
        direction: Direction,
        field: usize,
        choices: Vec<u16>,
    },
}

/// How a fact is respelled.
pub(super) enum How {
    With(Conversion),
    /// Expressions over the one value, on the way up and on the way down.
    Over(Expression, Expression),
    /// The same, clamped.
    Clamped(Expression, Expression),
    /// Two texts and one: both, and what the parts become.
    Joint,
}

impl Editor {
    /// Gives a field, or two, of an object another spelling.
    pub(super) fn respell(&mut self, object: &mut Object, at: usize, tape: &mut Tape<'_>) {
        let is_text = |field: &&Field| matches!(field.shape, Type::String);
        let texts: Vec<Field> = object.fields.iter().filter(is_text).take(2).cloned().collect();
        if let ([first, second], true) = (&texts[..], tape.chance(25)) {
            let merged = [first.identity, second.identity];
            object.fields.retain(|field| !merged.contains(&field.identity));
            self.graveyard.extend([first, second].map(|field| (object.identity, field.clone())));
            let (how, shape) = match tape.pick(3) {
                0 => (template(&[&first.name, &second.name]), Type::String),
                1 => {
                    let keys = vec![first.name.as_str().into(), second.name.as_str().into()];
                    (How::With(Conversion::Entries(keys)), Type::Map(Box::new(Type::String)))
                }
                _ => (How::Joint, Type::String),
            };
            let name = if tape.chance(30) { Some(first.name.clone()) } else { object.free_name(tape) };
            let Some(name) = name else { return };
            let to = self.put(object, name, shape, tape);
            return self.planned.push(Planned::Respelled {
                from: merged.to_vec(),
                to: vec![to],
                elements: Vec::new(),
                how,
            });
        }
        if tape.chance(20) && self.fold(object, at, tape) {
            return;
        }
        let field = object.fields[at].clone();
        let Some((how, shapes, elements)) = self.spelling(&field.shape, tape) else { return };
        object.fields.remove(at);
        self.graveyard.push((object.identity, field.clone()));
        let mut to = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for shape in shapes {
            let name =
                if names.is_empty() && tape.chance(30) { Some(field.name.clone()) } else { object.free_name(tape) };
            let Some(name) = name else { return };
            names.push(name.clone());
            to.push(self.put(object, name, shape, tape));
        }
        let how = match how {
            How::With(Conversion::Template { .. }) => template(&[&names[0], &names[1]]),
            How::With(Conversion::Entries(_)) => {
                How::With(Conversion::Entries(vec![names[0].as_str().into(), "b".into()]))
            }
            how => how,
        };
        self.planned.push(Planned::Respelled { from: vec![field.identity], to, elements, how });
    }

    /// Folds a shorthand of a field into it, or gives it one. Whether that can be.
    fn fold(&mut self, object: &mut Object, at: usize, tape: &mut Tape<'_>) -> bool {
        let rich = object.fields[at].clone();
        let list = |element: &Type| Type::List(Box::new(element.clone()), Vec::new());
        let Some((key, value)) = foldable(&rich.shape, tape) else { return false };
        let is_list = matches!(rich.shape, Type::List(..));
        let shape = self.renewed_shape(&rich.shape, tape);
        // The other version may have lost the field that is the key.
        if !has_key(&shape, key.as_deref()) {
            return false;
        }
        let is_shorthand = |field: &Field| {
            let is_value =
                |shape: &Type| matches!((shape, &value), (Type::String, Type::String) | (Type::Integer, Type::Integer));
            let is_items = || is_list && matches!(&field.shape, Type::List(element, _) if is_value(element));
            field.identity != rich.identity && (is_value(&field.shape) || is_items())
        };
        let shorthand = object.fields.iter().find(|field| is_shorthand(field)).cloned();
        let how = How::With(Conversion::Folded(key.map(Into::into)));
        let gone: Vec<Field> = match &shorthand {
            Some(shorthand) if tape.chance(70) => vec![shorthand.clone(), rich.clone()],
            _ => vec![rich.clone()],
        };
        let from: Vec<usize> = gone.iter().map(|field| field.identity).collect();
        object.fields.retain(|field| !from.contains(&field.identity));
        self.graveyard.extend(gone.iter().map(|field| (object.identity, field.clone())));
        let mut to = Vec::new();
        if gone.len() == 1 {
            let Some(name) = object.free_name(tape) else { return true };
            let shape = if is_list && tape.chance(70) { list(&value) } else { value };
            to.push(self.put(object, name, shape, tape));
        }
        let is_free = object.field(&rich.name).is_none();
        let name = if is_free && tape.chance(60) { Some(rich.name) } else { object.free_name(tape) };
        let Some(name) = name else { return true };
        to.push(self.put(object, name, shape, tape));
        self.planned.push(Planned::Respelled { from, to, elements: Vec::new(), how });
        true
    }

    /// A version of one field: an object, a list or a map of objects, in which objects are once more.
    pub(super) fn object_to_respell(&mut self, tape: &mut Tape<'_>) -> Object {
        let mut object = self.empty();
        self.put(&mut object, "a".to_owned(), Type::String, tape);
        self.put(&mut object, "b".to_owned(), Type::Integer, tape);
        for name in ["a", "b"] {
            let keys = object.fields.first().filter(|_| tape.chance(30)).map(|field| field.identity);
            let inner = Box::new(Type::Object(object));
            let shape = match tape.pick(4) {
                0 => *inner,
                1 => Type::Map(inner),
                _ => Type::List(inner, keys.into_iter().collect()),
            };
            object = self.empty();
            if name == "a" {
                object.keeps_unknown = tape.chance(20);
                self.put(&mut object, "b".to_owned(), Type::String, tape);
            }
            self.put(&mut object, name.to_owned(), shape, tape);
        }
        object
    }

    /// Adds a derived field to an object, or takes one away that is derived from now on.
    pub(super) fn derive(&mut self, object: &mut Object, at: usize, tape: &mut Tape<'_>) {
        let (direction, field) = if object.fields.is_empty() || tape.chance(50) {
            let Some(name) = object.free_name(tape) else { return };
            let shape = [Type::String, Type::Integer, Type::Boolean, Type::List(Box::new(Type::String), Vec::new())]
                [[0, 0, 0, 1, 1, 2, 3][tape.pick(7)]]
            .clone();
            (Direction::Up, self.put(object, name, shape, tape))
        } else {
            let field = object.fields.remove(at);
            self.graveyard.push((object.identity, field.clone()));
            (Direction::Down, field.identity)
        };
        self.planned.push(Planned::Derived {
            direction,
            field,
            choices: (0..4).map(|_| tape.pick(64) as u16).collect(),
        });
    }

    /// Puts a scalar into an object of its own, or takes the one field of an object out of it.
    pub(super) fn wrap(&mut self, object: &mut Object, at: usize, tape: &mut Tape<'_>) {
        let field = object.fields.remove(at);
        let is_scalar = |shape: &Type| matches!(shape, Type::String | Type::Integer | Type::Boolean);
        let mut pushed = field.clone();
        match field.shape {
            Type::Object(inner) if inner.fields.len() == 1 && is_scalar(&inner.fields[0].shape) => {
                let (name, of) = (field.name, field.identity);
                pushed = Field { name, ..inner.fields[0].clone() };
                self.planned.push(Planned::Keyed { field: pushed.identity, object: of, is_wrapped: false });
            }
            shape if is_scalar(&shape) => {
                let mut wrapper = self.empty();
                let key = wrapper.free_name(tape).unwrap_or_default();
                wrapper.fields.push(Field { name: key, ..pushed.clone() });
                let identity = self.identity();
                let (shape, field) = (Type::Object(wrapper), pushed.identity);
                pushed = Field { identity, name: pushed.name, shape, nullable: false, default: None };
                self.planned.push(Planned::Keyed { field, object: identity, is_wrapped: true });
            }
            _ => {}
        }
        object.fields.push(pushed);
    }

    fn put(&mut self, object: &mut Object, name: String, shape: Type, tape: &mut Tape<'_>) -> usize {
        let identity = self.identity();
        object.fields.push(Field { identity, name, shape, nullable: tape.chance(15), default: None });
        identity
    }

    /// How values of a shape are spelled from now on, in which shapes, and in which items and values of the field.
    fn spelling(&mut self, shape: &Type, tape: &mut Tape<'_>) -> Option<(How, Vec<Type>, Vec<Step>)> {
        let list = |element: Type| Type::List(Box::new(element), Vec::new());
        let own = || Vec::new();
        let whole = |with: Conversion, shape: Type| Some((How::With(with), vec![shape], Vec::new()));
        let clamped = |with: Option<Conversion>, shape: Type| whole(Conversion::Clamped(Clamped::new(with)), shape);
        let over = |up: fn(Path) -> Expression, down: fn(Path) -> Expression, shape: Type| {
            Some((How::Over(up(own()), down(own())), vec![shape], Vec::new()))
        };
        match shape {
            Type::String => match tape.pick(20) {
                14 | 17 => clamped(Some(Conversion::DurationSeconds), within(tape)),
                15 | 18 => clamped(Some(Conversion::Quantity), within(tape)),
                16 | 19 => clamped(Some(Conversion::Text), within(tape)),
                12 => {
                    let mut object = self.empty();
                    for name in ["a", "b"] {
                        let shape = if tape.chance(50) { Type::String } else { list(Type::Integer) };
                        self.put(&mut object, name.to_owned(), shape, tape);
                    }
                    whole(Conversion::Document(format(tape)), Type::Object(object))
                }
                13 => whole(Conversion::Document(format(tape)), Type::Map(Box::new(Type::Integer))),
                10 | 11 => whole(Conversion::Hook("".into()), Type::String),
                0 => whole(Conversion::DurationSeconds, Type::Integer),
                1 => whole(Conversion::Quantity, Type::Integer),
                2 => whole(Conversion::Text, Type::Integer),
                3 => whole(Conversion::Text, Type::Boolean),
                4 => whole(values(), Type::String),
                5 => whole(Conversion::Joined(",".into()), list(Type::String)),
                6 => {
                    let shapes = vec![Type::String, if tape.chance(50) { Type::Integer } else { Type::String }];
                    Some((template(&["", ""]), shapes, own_steps()))
                }
                7 => over(Expression::Parsed, Expression::Spelled, Type::Integer),
                8 => over(Expression::Length, Expression::Spelled, Type::Integer),
                _ => over(Expression::Field, Expression::Field, Type::String),
            },
            Type::Within(_) => match tape.pick(6) {
                0 => clamped(Some(Conversion::DurationSeconds), Type::String),
                1 => clamped(Some(Conversion::Text), Type::String),
                2 => clamped(Some(Conversion::Scale("2".into())), Type::Integer),
                3 => whole(Conversion::Quantity, Type::String),
                4 => clamped(None, within(tape)),
                _ => clamped(None, Type::Integer),
            },
            Type::Integer => match tape.pick(9) {
                6 => clamped(None, within(tape)),
                7 => clamped(Some(Conversion::Scale("0.5".into())), within(tape)),
                8 => Some((
                    How::Clamped(Expression::Double(own()), Expression::Half(own())),
                    vec![within(tape)],
                    own_steps(),
                )),
                0 => whole(Conversion::DurationSeconds, Type::String),
                1 => whole(Conversion::Quantity, Type::String),
                2 => whole(Conversion::Scale("2".into()), Type::Integer),
                3 => whole(Conversion::Scale("0.5".into()), Type::Integer),
                4 => whole(Conversion::Text, Type::String),
                _ => over(Expression::Double, Expression::Half, Type::Integer),
            },
            Type::Boolean => match tape.pick(2) {
                0 => whole(Conversion::Text, Type::String),
                _ => over(Expression::Not, Expression::Not, Type::Boolean),
            },
            Type::Object(_) if tape.chance(30) => whole(Conversion::Document(format(tape)), Type::String),
            Type::Object(object) => whole(Conversion::OneItem, list(Type::Object(self.renewed(object, tape)))),
            Type::List(element, _) => match &**element {
                Type::String => match tape.pick(6) {
                    5 => Some((
                        How::With(Conversion::Clamped(Clamped::new(Some(Conversion::DurationSeconds)))),
                        vec![list(within(tape))],
                        vec![Step::Items],
                    )),
                    0 => whole(Conversion::Joined(",".into()), Type::String),
                    1 => Some((How::With(Conversion::Text), vec![list(Type::Integer)], vec![Step::Items])),
                    2 => Some((How::With(Conversion::DurationSeconds), vec![list(Type::Integer)], vec![Step::Items])),
                    3 => Some((
                        How::Over(Expression::Length(own()), Expression::Spelled(own())),
                        vec![list(Type::Integer)],
                        vec![Step::Items],
                    )),
                    _ => Some((How::With(values()), vec![list(Type::String)], vec![Step::Items])),
                },
                Type::Object(object) if tape.chance(40) => {
                    whole(Conversion::OneItem, Type::Object(self.renewed(object, tape)))
                }
                Type::Object(object) => {
                    let mut rest = self.renewed(object, tape);
                    let is_text = |field: &Field| matches!(field.shape, Type::String);
                    let key = rest.fields.iter().position(|field| object.field(&field.name).is_some_and(is_text))?;
                    let key = rest.fields.remove(key).name;
                    let part = rest.fields.first().filter(|part| object.field(&part.name).is_some());
                    let part = part.filter(|_| rest.fields.len() == 1 && tape.chance(60)).cloned();
                    let value = part.as_ref().map(|part| part.name.as_str().into());
                    let with = Conversion::KeyedList { key: key.as_str().into(), value };
                    let inner = part.map_or(Type::Object(rest), |part| part.shape);
                    whole(with, Type::Map(Box::new(inner)))
                }
                _ => None,
            },
            Type::Map(element) => match (&**element, tape.pick(5)) {
                (Type::Integer, _) => Some((
                    How::With(Conversion::Clamped(Clamped::ALONE)),
                    vec![Type::Map(Box::new(within(tape)))],
                    vec![Step::Values],
                )),
                (Type::String, 4) => Some((
                    How::With(Conversion::Clamped(Clamped::new(Some(Conversion::Quantity)))),
                    vec![Type::Map(Box::new(within(tape)))],
                    vec![Step::Values],
                )),
                (Type::String, 0) => {
                    let pairs = [[("a", "b"), ("c", "d")], [("a", "b"), ("b", "a")], [("a", "b"), ("b", "c")]];
                    let pairs = pairs[tape.pick(3)].iter().map(|(old, new)| ((*old).into(), (*new).into())).collect();
                    whole(Conversion::RenamedKeys(pairs), shape.clone())
                }
                (Type::String, 1) => {
                    let values = vec![Type::Map(Box::new(Type::Integer))];
                    Some((How::With(Conversion::Text), values, vec![Step::Values]))
                }
                (Type::String, 2) => {
                    Some((How::With(Conversion::Entries(Vec::new())), vec![Type::String, Type::String], own_steps()))
                }
                (Type::String, _) => {
                    let mut item = self.empty();
                    self.put(&mut item, "a".to_owned(), Type::String, tape);
                    self.put(&mut item, "b".to_owned(), Type::String, tape);
                    let with = Conversion::KeyedList { key: "a".into(), value: Some("b".into()) };
                    whole(with, list(Type::Object(item)))
                }
                (Type::Object(object), _) => {
                    let mut item = self.renewed(object, tape);
                    let key = item.free_name(tape).filter(|name| object.field(name).is_none())?;
                    self.put(&mut item, key.clone(), Type::String, tape);
                    whole(Conversion::KeyedList { key: key.as_str().into(), value: None }, list(Type::Object(item)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The same object with fields of their own, some of which only the one has, or only the other.
    fn renewed(&mut self, object: &Object, tape: &mut Tape<'_>) -> Object {
        let mut renewed = Object { union: false, discriminator: None, ..self.empty() };
        renewed.keeps_unknown = object.keeps_unknown != tape.chance(10);
        for field in &object.fields {
            // They must have one in common.
            if !renewed.fields.is_empty() && tape.chance(20) {
                continue;
            }
            let identity = self.identity();
            let shape = self.renewed_shape(&field.shape, tape);
            let nullable = field.nullable != tape.chance(10);
            renewed.fields.push(Field { identity, shape, nullable, default: None, ..field.clone() });
        }
        let name = renewed.free_name(tape).filter(|name| object.field(name).is_none() && tape.chance(50));
        if let Some(name) = name {
            self.put(&mut renewed, name, Type::Integer, tape);
        }
        renewed
    }

    fn renewed_shape(&mut self, shape: &Type, tape: &mut Tape<'_>) -> Type {
        match shape {
            Type::Object(object) => Type::Object(self.renewed(object, tape)),
            Type::List(element, _) => Type::List(Box::new(self.renewed_shape(element, tape)), Vec::new()),
            Type::Map(element) => Type::Map(Box::new(self.renewed_shape(element, tape))),
            Type::Nullable(shape) if tape.chance(20) => self.renewed_shape(shape, tape),
            Type::Nullable(shape) => Type::Nullable(Box::new(self.renewed_shape(shape, tape))),
            scalar => scalar.clone(),
        }
    }
}

/// The key under which a shorthand can be folded into a field, if it needs one, and the shape of its values.
fn foldable(rich: &Type, tape: &mut Tape<'_>) -> Option<(Option<String>, Type)> {
    match rich {
        Type::String | Type::Integer => Some((None, rich.clone())),
        Type::Map(element) if matches!(**element, Type::String | Type::Integer) => {
            Some((Some(["a", "b"][tape.pick(2)].to_owned()), (**element).clone()))
        }
        Type::List(element, _) => match &**element {
            Type::String | Type::Integer => Some((None, (**element).clone())),
            Type::Object(item) => {
                let is_scalar = |field: &&Field| matches!(field.shape, Type::String | Type::Integer);
                let key = item.fields.iter().find(is_scalar)?;
                Some((Some(key.name.clone()), key.shape.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

fn has_key(rich: &Type, key: Option<&str>) -> bool {
    match (rich, key) {
        (Type::List(element, _), Some(key)) => {
            let field = element.object().and_then(|item| item.field(key));
            field.is_some_and(|field| matches!(field.shape, Type::String | Type::Integer))
        }
        _ => true,
    }
}

/// An integer with bounds, which most integers that documents have exceed.
fn within(tape: &mut Tape<'_>) -> Type {
    Type::Within([[0, 3], [1, 600], [-5, 2], [90, 90]][tape.pick(4)])
}

fn own_steps() -> Vec<Step> {
    Vec::new()
}

fn template(names: &[&str; 2]) -> How {
    let template = format!("{{{}}}:{{{}}}", names[0], names[1]).into();
    How::With(Conversion::Template { template, pattern: None })
}

fn format(tape: &mut Tape<'_>) -> DocumentFormat {
    if tape.chance(50) { DocumentFormat::Json } else { DocumentFormat::Yaml }
}

fn values() -> Conversion {
    Conversion::Values(vec![("a".into(), "b".into()), ("b".into(), "c".into()), ("10m".into(), "600s".into())])
}

/// The computed changes of a step whose fields are still there, in the paths of both versions.
pub(super) fn changes(planned: Vec<Planned>, before: &Object, after: &Object) -> Vec<Change> {
    let paths = |version: &Object, wanted: &[usize]| -> Option<Vec<Selector>> {
        let find = |wanted: &usize| {
            let mut found = None;
            collect_paths(version, &Selector::root(), &mut |identity, path| {
                if identity == *wanted {
                    found = Some(path);
                }
            });
            found
        };
        wanted.iter().map(find).collect()
    };
    let changes = planned.into_iter().filter_map(|planned| match planned {
        Planned::Respelled { from, to, elements, how } => {
            // What may be of two types is of neither to an expression.
            let is_typed = |version: &Object, fields: &[usize]| {
                let shapes = fields.iter().filter_map(|field| field_of(version, *field)).map(|field| &field.shape);
                shapes.into_iter().all(|shape| !matches!(shape, Type::IntOrString))
            };
            let is_understood = is_typed(before, &from) && is_typed(after, &to);
            if !is_understood && !matches!(how, How::With(_)) {
                return None;
            }
            let bounds = [(before, from[0]), (after, to[0])]
                .map(|(version, field)| field_of(version, field).and_then(|field| field.shape.bounds()));
            let (from, to) = (paths(before, &from)?, paths(after, &to)?);
            let (with, expressions) = conversion(how, &from, &to);
            let levels = elements.len();
            let below = |paths: Vec<Selector>| -> Vec<Selector> {
                paths
                    .iter()
                    .map(|path| elements.iter().fold(path.clone(), |path, step| path.then(step.clone())))
                    .collect()
            };
            let (from, to) = (below(from), below(to));
            let with = match with {
                Conversion::Hook(_) => Conversion::Hook(format!("{} to {}", from[0], to[0]).into()),
                with => with,
            };
            is_one_scope(&from, &to).then_some(Change::Respelled { from, to, levels, with, expressions, bounds })
        }
        Planned::Keyed { field, object, is_wrapped } => {
            let (alone, with_key) = if is_wrapped { (before, after) } else { (after, before) };
            let (alone, object) = (paths(alone, &[field])?.remove(0), paths(with_key, &[object])?.remove(0));
            let inner = paths(with_key, &[field])?.remove(0);
            let (Step::Field(key), above) = inner.steps().split_last()? else { return None };
            let change = Change::Keyed { alone, object: object.clone(), key: key.clone(), is_wrapped };
            (above == object.steps()).then_some(change)
        }
        Planned::Derived { direction, field, choices } => {
            let (source, target) = if direction == Direction::Up { (before, after) } else { (after, before) };
            let at = paths(target, &[field])?.remove(0);
            let expression = expression(source, target, &at, field, &mut Tape::new(&choices))?;
            (!has(source, field)).then_some(Change::Derived { direction, at, expression })
        }
    });
    let mut changes: Vec<Change> = changes.collect();
    changes.sort_by_key(|change| matches!(change, Change::Respelled { with: Conversion::Hook(_), .. }));
    changes
}

fn has(version: &Object, wanted: usize) -> bool {
    let mut found = false;
    collect_paths(version, &Selector::root(), &mut |identity, _| found |= identity == wanted);
    found
}

/// The names of the fields from the item or value that a path is in.
fn names_in_scope(path: &Selector) -> Path {
    let names = path.steps().iter().rev().map_while(|step| match step {
        Step::Field(name) => Some(name.to_string()),
        _ => None,
    });
    let mut names: Path = names.collect();
    names.reverse();
    names
}

/// Whether all are in the spec or all in the status; that they are in the same items is seen when they are compiled.
fn is_one_scope(from: &[Selector], to: &[Selector]) -> bool {
    let part = |path: &Selector| matches!(path.steps().first(), Some(Step::Field(name)) if **name == *"status");
    from.iter().chain(to).all(|path| part(path) == part(&from[0]))
}

fn conversion(how: How, from: &[Selector], to: &[Selector]) -> (Conversion, [Vec<Expression>; 2]) {
    let text = |expression: &Expression| -> Located<Box<str>> {
        Located { item: expression.to_string().into(), span: Default::default() }
    };
    match how {
        How::With(with) => (with, [Vec::new(), Vec::new()]),
        How::Over(up, down) => {
            let with = Conversion::Expression { up: text(&up), down: text(&down) };
            (with, [vec![up], vec![down]])
        }
        How::Clamped(up, down) => {
            let (with, expressions) = conversion(How::Over(up, down), from, to);
            (Conversion::Clamped(Clamped::new(Some(with))), expressions)
        }
        How::Joint => {
            let (first, second, joint) = (names_in_scope(&from[0]), names_in_scope(&from[1]), names_in_scope(&to[0]));
            let up = vec![Expression::Both(first, second)];
            let down = vec![Expression::Field(joint.clone()), Expression::Or(joint, "x".to_owned())];
            let texts = |expressions: &[Expression]| expressions.iter().map(text).collect();
            (Conversion::Expressions { up: texts(&up), down: texts(&down) }, [up, down])
        }
    }
}

/// An expression over a version for a field of the other.
fn expression(
    source: &Object,
    target: &Object,
    at: &Selector,
    field: usize,
    tape: &mut Tape<'_>,
) -> Option<Expression> {
    let shape = field_of(target, field)?.shape.clone();
    let scope = scope_of(target, at)?;
    let scope = source.find(scope)?;
    let mut readable = Vec::new();
    scalars(scope, &mut Vec::new(), &mut readable);
    let of = |wanted: fn(&Type) -> bool| -> Vec<Path> {
        readable.iter().filter(|(_, shape)| wanted(shape)).map(|(path, _)| path.clone()).collect()
    };
    let texts = of(|shape| matches!(shape, Type::String));
    let integers = of(|shape| matches!(shape, Type::Integer));
    let booleans = of(|shape| matches!(shape, Type::Boolean));
    let choice = tape.pick(8);
    let mut any = |paths: &[Path]| (!paths.is_empty()).then(|| paths[tape.pick(paths.len())].clone());
    Some(match (shape, choice) {
        (Type::String, 0..=2) if !texts.is_empty() => Expression::Field(any(&texts)?),
        (Type::String, 3 | 4) if !texts.is_empty() => Expression::Both(any(&texts)?, any(&texts)?),
        (Type::String, 5) if !texts.is_empty() => Expression::Or(any(&texts)?, "x".to_owned()),
        (Type::String, 6) if !integers.is_empty() => Expression::Spelled(any(&integers)?),
        (Type::String, _) => Expression::Constant(json!("x")),
        (Type::Integer, 0..=2) if !integers.is_empty() => Expression::Field(any(&integers)?),
        (Type::Integer, 0..=4) if !texts.is_empty() => Expression::Length(any(&texts)?),
        (Type::Integer, 5 | 6) if !texts.is_empty() => Expression::Parsed(any(&texts)?),
        (Type::Integer, _) => Expression::Constant(json!(7)),
        (Type::Boolean, 0..=5) if !booleans.is_empty() => Expression::Not(any(&booleans)?),
        (Type::Boolean, _) => Expression::Constant(json!(true)),
        (Type::List(element, _), _) if matches!(*element, Type::String) => Expression::Constant(json!(["x"])),
        _ => return None,
    })
}

fn field_of(object: &Object, identity: usize) -> Option<&Field> {
    let inner = || object.fields.iter().filter_map(|field| field.shape.object());
    object
        .fields
        .iter()
        .find(|field| field.identity == identity)
        .or_else(|| inner().find_map(|it| field_of(it, identity)))
}

/// The identity of the document, item or value that a path is in.
fn scope_of(root: &Object, path: &Selector) -> Option<usize> {
    let (mut scope, mut object) = (root.identity, Some(root));
    let mut in_element = false;
    for step in path.steps() {
        match step {
            Step::Field(name) => {
                if in_element {
                    scope = object?.identity;
                    in_element = false;
                }
                object = object?.field(name).and_then(|field| field.shape.object());
            }
            _ => in_element = true,
        }
    }
    Some(scope)
}

/// The scalars of a scope, with the names that lead to them.
fn scalars(object: &Object, way: &mut Path, found: &mut Vec<(Path, Type)>) {
    for field in &object.fields {
        way.push(field.name.clone());
        match &field.shape {
            Type::Object(inner) => scalars(inner, way, found),
            Type::String | Type::Integer | Type::Boolean => found.push((way.clone(), field.shape.clone())),
            _ => {}
        }
        way.pop();
    }
}
