//! What an expression can cost for any document that fits its schema, as Kubernetes estimates it before it accepts a
//! rule. Macros cost what their expansions cost there, and known oddities of the estimate are kept: they decide which
//! definitions are accepted.

mod call;
mod range;

pub use range::CostEstimate;
use range::Size;

use crate::{
    Type, Variable,
    ast::{Literal, Macro},
    code::{Code, Comprehension, Constant},
    shape::{ShapeId, ShapeKind, Shapes},
};

const FREE: CostEstimate = CostEstimate::exactly(0);
const ONE: CostEstimate = CostEstimate::exactly(1);
const NEW_LIST: CostEstimate = CostEstimate::exactly(10);
const NEW_MAP: CostEstimate = CostEstimate::exactly(30);

/// Estimates the cost of checked code.
pub(crate) fn estimate(code: &Code, shapes: &Shapes, variables: &[Variable]) -> CostEstimate {
    let root = variables.iter().find_map(|variable| variable.shape);
    let mut estimator = Estimator { shapes, root, scope: Vec::new() };
    for variable in variables {
        let place = variable.shape.or(root).map_or(Place::Lost, Place::At);
        estimator.scope.push(Local { r#type: variable.r#type.clone(), place, size: None, entries: None });
    }
    estimator.part(code).cost
}

struct Estimator<'s> {
    shapes: &'s Shapes,
    /// What Kubernetes takes for the shape of anything it finds by a path that begins in no variable.
    root: Option<ShapeId>,
    scope: Vec<Local>,
}

/// A part of an expression: what it costs, and what is known of the value it gives.
#[derive(Clone)]
struct Part {
    cost: CostEstimate,
    r#type: Type,
    place: Place,
    size: Option<Size>,
    entries: Option<Entries>,
}

/// What is known of the value of a variable.
#[derive(Clone)]
struct Local {
    r#type: Type,
    place: Place,
    size: Option<Size>,
    entries: Option<Entries>,
}

/// Where in a document a value comes from.
#[derive(Clone, Copy)]
enum Place {
    /// It does not come from a document.
    Nowhere,
    At(ShapeId),
    /// A key of a map, whose size counts as nothing.
    Key,
    /// From somewhere that no shape describes.
    Lost,
}

/// How large the keys and values, or the items, of a value are.
#[derive(Clone, Copy)]
struct Entries {
    is_list: bool,
    key: Size,
    value: Size,
}

impl Entries {
    fn or(self, other: Self) -> Self {
        Self { key: self.key.or(other.key), value: self.value.or(other.value), ..self }
    }
}

impl Part {
    fn size_or_unknown(&self) -> Size {
        self.size.unwrap_or(Size::UNKNOWN)
    }

    fn local(&self) -> Local {
        Local { r#type: self.r#type.clone(), place: self.place, size: self.size, entries: self.entries }
    }
}

impl Estimator<'_> {
    /// Expressions nest, so each level must be small on the stack: whatever has more than a name to look at has a
    /// function of its own.
    fn part(&mut self, code: &Code) -> Part {
        match code {
            Code::Constant(constant) => self.constant(constant),
            Code::And(operands) | Code::Or(operands) => self.junction(operands),
            Code::Conditional(parts) => self.conditional(parts),
            Code::Call(call) => self.call(call),
            Code::Folded(code) => self.part(code),
            Code::List(items) => self.list(items),
            Code::Map(entries) => self.map(entries),
            Code::Comprehension(comprehension) => self.comprehension(comprehension),
            Code::Bind(parts) => self.bind(parts),
            Code::OptionalMap { operand, body, is_flat } => self.optional_map(operand, body, *is_flat),
            access @ (Code::Variable(_)
            | Code::Field { .. }
            | Code::Key { .. }
            | Code::OptionalKey { .. }
            | Code::HasField { .. }
            | Code::HasKey { .. }
            | Code::OneOf { .. }
            | Code::OrElse { .. }
            | Code::Among(_)) => self.access(access),
        }
    }

    fn junction(&mut self, operands: &[Code]) -> Part {
        let costs: Vec<_> = operands.iter().map(|operand| self.part(operand).cost).collect();
        // The first may decide.
        let min = costs.first().map_or(0, |cost| cost.min);
        let max = costs.iter().fold(0, |sum: u64, cost| sum.saturating_add(cost.max));
        self.new_part(CostEstimate { min, max }, Type::Bool, Place::Nowhere)
    }

    fn conditional(&mut self, parts: &[Code; 3]) -> Part {
        let [condition, then, otherwise] = parts.each_ref().map(|part| self.part(part));
        Part {
            cost: condition.cost.plus(then.cost.or(otherwise.cost)),
            size: Some(then.size_or_unknown().or(otherwise.size_or_unknown())),
            entries: then.entries.zip(otherwise.entries).map(|(a, b)| a.or(b)),
            r#type: joined(then.r#type, otherwise.r#type),
            place: Place::Nowhere,
        }
    }

    fn bind(&mut self, parts: &[Code; 2]) -> Part {
        let [value, body] = parts;
        let value = self.part(value);
        let body = self.with(&[value.local()], |estimator| estimator.part(body));
        // The expansion goes through an empty list.
        Part { cost: NEW_LIST.plus(value.cost).plus(body.cost), place: Place::Nowhere, ..body }
    }

    /// Names, fields and keys, and what looks them up.
    fn access(&mut self, code: &Code) -> Part {
        match code {
            Code::Variable(slot) => {
                let Local { r#type, place, size, entries } = self.scope[*slot as usize].clone();
                let part = self.new_part(ONE, r#type, place);
                Part { size: part.size.or(size), entries, ..part }
            }
            Code::Field { operand, name, shape } => {
                let operand = self.part(operand);
                let place = self.field(operand.place, name);
                self.new_part(operand.cost.plus(ONE), Type::of_shape(self.shapes, *shape), place)
            }
            Code::Key { operand, name } => {
                let operand = self.part(operand);
                let place = self.field(operand.place, name);
                // Looking into what has no type costs nothing.
                let (cost, r#type) = match operand.r#type {
                    Type::Map(_, value) => (ONE, (*value).clone()),
                    _ => (FREE, Type::Dyn),
                };
                self.new_part(operand.cost.plus(cost), r#type, place)
            }
            Code::OptionalKey { operand, shape, .. } => {
                let operand = self.part(operand);
                let r#type = match (shape, unwrapped(&operand.r#type)) {
                    (Some(shape), _) => Type::of_shape(self.shapes, *shape),
                    (None, Type::Map(_, value)) => (**value).clone(),
                    _ => Type::Dyn,
                };
                let r#type = if matches!(r#type, Type::Optional(_)) { r#type } else { Type::optional(r#type) };
                self.new_part(operand.cost.plus(ONE), r#type, Place::Nowhere)
            }
            Code::HasField { operand, .. } | Code::HasKey { operand, .. } => {
                let operand = self.part(operand);
                self.new_part(operand.cost, Type::Bool, Place::Nowhere)
            }
            Code::OneOf { operand, texts } => {
                let cost = self.part(operand).cost.plus(NEW_LIST).plus(Size::exactly(texts.len() as u64));
                self.new_part(cost, Type::Bool, Place::Nowhere)
            }
            Code::OrElse { parts, is_value } => {
                let [operand, other] = parts.each_ref().map(|part| self.part(part));
                let r#type = if *is_value { unwrapped(&operand.r#type).clone() } else { operand.r#type };
                self.new_part(operand.cost.plus(other.cost).plus(ONE), r#type, Place::Nowhere)
            }
            Code::Among(parts) => {
                let [operand, list] = parts.each_ref().map(|part| self.part(part));
                let cost = operand.cost.plus(list.cost).plus(list.size_or_unknown());
                self.new_part(cost, Type::Bool, Place::Nowhere)
            }
            _ => self.new_part(FREE, Type::Dyn, Place::Lost),
        }
    }

    /// A part whose size follows from where it comes from, or from its type.
    fn new_part(&self, cost: CostEstimate, r#type: Type, place: Place) -> Part {
        let size = self.declared_size(place).or_else(|| is_scalar(&r#type).then_some(ONE));
        Part { cost, r#type, place, size, entries: None }
    }

    fn declared_size(&self, place: Place) -> Option<Size> {
        match place {
            Place::At(shape) => Some(Size { min: 0, max: self.shapes.get(shape).max_size }),
            Place::Key => Some(Size::exactly(0)),
            Place::Nowhere | Place::Lost => None,
        }
    }

    /// The place of a value in another; what is in no document counts as if it were the document.
    fn step(&self, from: Place, to: impl FnOnce(&ShapeKind) -> Option<Place>) -> Place {
        match from {
            Place::Nowhere => self.root.map_or(Place::Lost, Place::At),
            Place::At(shape) => to(&self.shapes.get(shape).kind).unwrap_or(Place::Lost),
            Place::Key | Place::Lost => Place::Lost,
        }
    }

    fn field(&self, from: Place, name: &str) -> Place {
        self.step(from, |kind| match kind {
            ShapeKind::Object(object) => object.declared(name).map(Place::At),
            _ => None,
        })
    }

    /// An item of a list, or a value of a map.
    fn element(&self, from: Place) -> Place {
        self.step(from, |kind| match kind {
            ShapeKind::List { items: element, .. } | ShapeKind::Map { values: element } => Some(Place::At(*element)),
            _ => None,
        })
    }

    fn constant(&self, constant: &Constant) -> Part {
        // The name of a type is a name like any other.
        let Constant::Literal(literal) = constant else {
            return self.new_part(ONE, Type::Type, self.step(Place::Nowhere, |_| None));
        };
        let size = match literal {
            Literal::String(text) => text.chars().count() as u64,
            Literal::Bytes(bytes) => bytes.len() as u64,
            _ => 1,
        };
        Part { size: Some(Size::exactly(size)), ..self.new_part(FREE, Type::of_literal(literal), Place::Nowhere) }
    }

    fn list(&mut self, items: &[(Code, bool)]) -> Part {
        let parts: Vec<_> = items.iter().map(|(item, _)| self.part(item)).collect();
        let r#type = Type::list(joined_all(&parts));
        let cost = total(&parts).plus(NEW_LIST);
        let entries = Entries { is_list: true, key: ONE, value: covering(&parts) };
        let size = Some(Size::exactly(items.len() as u64));
        Part { cost, r#type, place: Place::Nowhere, size, entries: Some(entries) }
    }

    fn map(&mut self, entries: &[(Code, Code, bool)]) -> Part {
        let keys: Vec<_> = entries.iter().map(|(key, ..)| self.part(key)).collect();
        let values: Vec<_> = entries.iter().map(|(_, value, _)| self.part(value)).collect();
        let r#type = Type::map(joined_all(&keys), joined_all(&values));
        let cost = total(&keys).plus(total(&values)).plus(NEW_MAP);
        let size = Some(Size::exactly(entries.len() as u64));
        let entries = Entries { is_list: false, key: covering(&keys), value: covering(&values) };
        Part { cost, r#type, place: Place::Nowhere, size, entries: Some(entries) }
    }

    /// `operand.hasValue() ? optional.of(cel.bind(name, operand.value(), body)) : optional.none()`.
    fn optional_map(&mut self, operand: &Code, body: &Code, is_flat: bool) -> Part {
        let operand = self.part(operand);
        let value = self.new_part(operand.cost.plus(ONE), unwrapped(&operand.r#type).clone(), Place::Nowhere);
        let body = self.with(&[value.local()], |estimator| estimator.part(body));
        let bound = NEW_LIST.plus(value.cost).plus(body.cost);
        let (mapped, r#type) =
            if is_flat { (bound, body.r#type) } else { (bound.plus(ONE), Type::optional(body.r#type)) };
        let part = self.new_part(operand.cost.plus(ONE).plus(mapped.or(ONE)), r#type, Place::Nowhere);
        Part { size: Some(part.size_or_unknown()), ..part }
    }

    fn comprehension(&mut self, comprehension: &Comprehension) -> Part {
        let range = self.part(&comprehension.range);
        let locals = self.iteration_variables(&range, comprehension.has_second);
        let first = Part { size: locals[0].size, ..self.new_part(ONE, locals[0].r#type.clone(), locals[0].place) };
        let (condition, transform) = self.with(&locals, |estimator| {
            let condition = comprehension.condition.as_ref().map(|condition| estimator.part(condition));
            (condition, comprehension.transform.as_ref().map(|transform| estimator.part(transform)))
        });
        let transform = transform.unwrap_or(first.clone());

        // The accumulator costs one wherever it is named.
        let (start, result) = match comprehension.kind {
            Macro::All | Macro::Exists => (FREE, ONE),
            Macro::ExistsOne => (FREE, CostEstimate::exactly(2)),
            Macro::Filter | Macro::Map | Macro::TransformList | Macro::SortBy => (NEW_LIST, ONE),
            Macro::TransformMap | Macro::TransformMapEntry => (NEW_MAP, ONE),
        };
        let taken = match comprehension.kind {
            Macro::All | Macro::Exists => FREE,
            Macro::ExistsOne => CostEstimate::exactly(2),
            Macro::Filter | Macro::Map | Macro::TransformList | Macro::SortBy => {
                transform.cost.plus(CostEstimate::exactly(12))
            }
            Macro::TransformMap => transform.cost.plus(CostEstimate::exactly(3)),
            Macro::TransformMapEntry => transform.cost.plus(CostEstimate::exactly(2)),
        };
        let step = match (comprehension.kind, &condition) {
            (Macro::All, Some(condition)) => CostEstimate { min: 3, max: condition.cost.max.saturating_add(3) },
            (Macro::Exists, Some(condition)) => CostEstimate { min: 4, max: condition.cost.max.saturating_add(4) },
            (_, Some(condition)) => condition.cost.plus(taken.or(ONE)),
            (_, None) => taken,
        };
        let count = range.size_or_unknown();
        let mut cost = range.cost.plus(start).plus(result).plus(count.times(step));
        if comprehension.kind == Macro::SortBy {
            cost = cost.plus(NEW_LIST).plus(ONE).plus(count.times(count).scaled(2.0));
        }

        let made = Some(count);
        let entries = Entries { is_list: true, key: ONE, value: transform.size_or_unknown().or(Size::exactly(0)) };
        let (r#type, size, entries) = match comprehension.kind {
            Macro::All | Macro::Exists | Macro::ExistsOne => (Type::Bool, Some(ONE), None),
            Macro::Filter | Macro::Map | Macro::TransformList => (Type::list(transform.r#type), made, Some(entries)),
            Macro::SortBy => (Type::list(first.r#type), made, None),
            Macro::TransformMap => (Type::map(first.r#type, transform.r#type), made, None),
            Macro::TransformMapEntry => (transform.r#type, made, None),
        };
        Part { cost, r#type, place: Place::Nowhere, size, entries }
    }

    fn iteration_variables(&self, range: &Part, has_second: bool) -> Vec<Local> {
        let is_list = range.entries.map_or(matches!(range.r#type, Type::List(_)), |entries| entries.is_list);
        let (key_type, value_type) = match &range.r#type {
            Type::List(item) => (Type::Int, (**item).clone()),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            _ => (Type::Dyn, Type::Dyn),
        };
        let key_place = self.step(range.place, |kind| match kind {
            ShapeKind::Map { .. } if !is_list => Some(Place::Key),
            _ => None,
        });
        let local = |r#type, place, size: Option<Size>| {
            let part = self.new_part(ONE, r#type, place);
            Local { size: part.size.or(size), ..part.local() }
        };
        let key = local(key_type, key_place, range.entries.map(|entries| entries.key));
        let value = local(value_type, self.element(range.place), range.entries.map(|entries| entries.value));
        match (has_second, is_list) {
            (true, _) => vec![key, value],
            (false, true) => vec![value],
            (false, false) => vec![key],
        }
    }

    fn with<T>(&mut self, locals: &[Local], run: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.scope.len();
        self.scope.extend_from_slice(locals);
        let result = run(self);
        self.scope.truncate(depth);
        result
    }
}

fn total(parts: &[Part]) -> CostEstimate {
    parts.iter().fold(FREE, |sum, part| sum.plus(part.cost))
}

/// The range that covers the sizes of all parts.
fn covering(parts: &[Part]) -> Size {
    parts.iter().map(Part::size_or_unknown).reduce(Size::or).unwrap_or(Size::exactly(0))
}

fn joined(a: Type, b: Type) -> Type {
    match (a, b) {
        (Type::Null, other) | (other, Type::Null) => other,
        (a, b) if a == b => a,
        _ => Type::Dyn,
    }
}

fn joined_all(parts: &[Part]) -> Type {
    parts.iter().map(|part| part.r#type.clone()).reduce(joined).unwrap_or(Type::Dyn)
}

fn unwrapped(r#type: &Type) -> &Type {
    match r#type {
        Type::Optional(value) => value,
        other => other,
    }
}

fn is_scalar(r#type: &Type) -> bool {
    match r#type {
        Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Timestamp | Type::Duration => true,
        Type::Optional(value) => is_scalar(value),
        _ => false,
    }
}
