//! Expressions over a value or over the fields of a scope, and the values that they give.

use wheelwright_document::{Arena, Entry, Number, Value, canonical};
use wheelwright_expr::{
    EXPRESSION_LIMIT, Evaluator, Expression, FailureKind, Identity, ObjectShape, REQUEST_BYTES, ShapeId, ShapeKind,
    Shapes, Type, Val, Variable,
    ast::{Expr, Node},
    parse, selected_name,
};
use wheelwright_findings::rules;
use wheelwright_schema::Problem;

use super::{
    Failed, Side,
    decimal::{integer, written},
    fit::Fit,
    single::Context,
    unfit,
};
use crate::{Located, NodeIndex, Respelled, Scalar, Selector, Shape, Step, Structure, problem::problem_at};

/// Expressions over one `self`, each with the field that it is for.
#[derive(Debug)]
pub(super) struct Computed {
    shapes: Shapes,
    own: ShapeId,
    any: ShapeId,
    expressions: Box<[(Expression, Fit)]>,
    /// What is read may be absent, and then there is nothing to compute. A value alone is there: what it has no counterpart
    /// for is a failure.
    may_lack: bool,
    /// They read metadata.
    reads_metadata: bool,
    /// They do so once for the whole document.
    reads_metadata_once: bool,
}

/// The position of `metadata` among the variables.
const METADATA: usize = 1;

/// A field of a version.
pub(super) type Place<'s> = (&'s Structure, NodeIndex);

impl Computed {
    /// An expression over a value of one field that gives one of another.
    pub(super) fn of_value(
        source: &Located<Box<str>>,
        (structure, own): Place<'_>,
        target: Place<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let mut shapes = Shapes::default();
        let is_once = structure.scope_of(own) == structure.root();
        let own = add(&mut shapes, structure, own, None);
        Ok(Self { may_lack: false, ..Self::compile(shapes, own, is_once, &[(source, target)])? })
    }

    /// An expression over some of the fields of an object.
    pub(super) fn of_object(
        source: &Located<Box<str>>,
        (structure, own): Place<'_>,
        read: Option<&[Box<str>]>,
        target: Place<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let mut shapes = Shapes::default();
        let is_once = own == structure.root();
        let own = add(&mut shapes, structure, own, read);
        Self::compile(shapes, own, is_once, &[(source, target)])
    }

    /// Expressions over the fields of a scope, one for each field on the other side.
    pub(super) fn of_scope(
        scope: &Scope,
        sources: &[Located<Box<str>>],
        from: Side<'_>,
        to: Side<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let mut shapes = Shapes::default();
        let own = scope.root.add(&mut shapes, from);
        let is_once = from.fields.iter().all(|field| from.structure.scope_of(*field) == from.structure.root());
        let targets = to.fields.iter().map(|field| (to.structure, *field));
        Self::compile(shapes, own, is_once, &sources.iter().zip(targets).collect::<Vec<_>>())
    }

    fn compile(
        mut shapes: Shapes,
        own: ShapeId,
        is_once: bool,
        wanted: &[(&Located<Box<str>>, Place<'_>)],
    ) -> Result<Self, Vec<Problem>> {
        let any = shapes.add(ShapeKind::Any, true, REQUEST_BYTES);
        let variables = [
            Variable { name: "self".into(), r#type: Type::of_shape(&shapes, own), shape: Some(own) },
            Variable { name: "metadata".into(), r#type: Type::Dyn, shape: Some(any) },
        ];
        let mut problems = Vec::new();
        let mut expressions = Vec::new();
        for (source, (structure, field)) in wanted {
            match Expression::compile_any(&source.item, &shapes, &variables) {
                Err(error) => problems.extend(error.mistakes().iter().map(|mistake| {
                    let message = format!("`{}`: {}", source.item, mistake.message);
                    let mut problem = problem_at(&rules::COMPUTED_EXPRESSION, source.span, message);
                    problem.part = Some((source.item.clone(), mistake.at.clone()));
                    problem.mend = mistake.remedy.map(str::to_owned).or_else(|| meant_as_text(&source.item));
                    problem
                })),
                Ok((_, r#type)) if !can_fit(&r#type, structure, *field) => {
                    let wanted = structure.shape_name(*field);
                    let path = structure.selector(*field);
                    let message =
                        format!("`{}` gives a value of type {type}, and {path} is of type {wanted}", source.item);
                    problems.push(problem_at(&rules::COMPUTED_EXPRESSION, source.span, message));
                }
                Ok((expression, _)) => expressions.push((expression, Fit::of(structure, *field))),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let reads_metadata = expressions.iter().any(|(expression, _)| expression.uses(METADATA));
        let reads_metadata_once = is_once && reads_metadata;
        let expressions = expressions.into();
        Ok(Self { shapes, own, any, expressions, may_lack: true, reads_metadata, reads_metadata_once })
    }

    /// What each expression gives: values of the fields that they are for.
    pub(super) fn evaluate<'a>(
        &'a self,
        own: Value<'a>,
        context: Context<'a>,
        results: &mut Vec<Option<Value<'a>>>,
    ) -> Result<(), Failed> {
        let mut evaluator = Evaluator::new(&self.shapes, context.arena);
        let budget = self.budget(own);
        for expression in &self.expressions {
            results.push(self.value(expression, &mut evaluator, budget, own, context)?);
        }
        Ok(())
    }

    /// What the one expression gives.
    pub(super) fn evaluate_one<'a>(
        &'a self,
        own: Value<'a>,
        context: Context<'a>,
    ) -> Result<Option<Value<'a>>, Failed> {
        let mut evaluator = Evaluator::new(&self.shapes, context.arena);
        self.value(&self.expressions[0], &mut evaluator, self.budget(own), own, context)
    }

    /// Whether one of them reads metadata.
    pub(super) fn reads_metadata(&self) -> bool {
        self.reads_metadata
    }

    fn budget(&self, own: Value<'_>) -> u64 {
        if self.reads_metadata_once { EXPRESSION_LIMIT } else { budget(own) }
    }

    /// What one of the expressions gives.
    #[inline]
    fn value<'a>(
        &'a self,
        (expression, fit): &'a (Expression, Fit),
        evaluator: &mut Evaluator<'a>,
        budget: u64,
        own: Value<'a>,
        context: Context<'a>,
    ) -> Result<Option<Value<'a>>, Failed> {
        evaluator.set_budget(budget);
        // Most expressions are about the value alone, and what is not read need not be there.
        let value = match self.reads_metadata {
            false => expression.evaluate_over(evaluator, [(own, self.own)]),
            true => {
                // No metadata is metadata without fields: what is asked of it is absent.
                let metadata = context.metadata.filter(|metadata| !metadata.is_null());
                let metadata = metadata.unwrap_or(Value::Object(&[]));
                expression.evaluate_over(evaluator, [(own, self.own), (metadata, self.any)])
            }
        };
        let value = match value {
            // What the type of the expression promises is not enough: where something is known only when it is there, it
            // may be anything.
            Ok(Val::Int(value)) if fit.takes_integers() => return Ok(Some(integer(value, context.arena))),
            Ok(Val::String(text)) if fit.takes_texts() => return Ok(Some(Value::string(text))),
            Ok(value) => document(value, context.arena)?,
            Err(failure) if self.may_lack && failure.kind() == FailureKind::Absent => None,
            Err(failure) => return Err(Failed(failure.message().to_owned())),
        };
        if let Some(value) = value {
            fit.check(value)?;
        }
        Ok(value)
    }
}

/// How to write a name that nothing has, if it is meant as a text.
pub(super) fn meant_as_text(source: &str) -> Option<String> {
    let is_name = parse(source).is_ok_and(|expression| matches!(expression.node, Node::Name(_)));
    is_name.then(|| format!("if it is a text, put quotes within quotes: \"'{source}'\"; else correct the name"))
}

/// What an expression may cost that reads a value: as much as Kubernetes allows a rule, and for small values less, so that
/// all the items of a long list together cost no more than its length allows. It must not depend on anything but the value:
/// what can be computed when it is stored can be computed when it is read. The length of metadata is no measure, then,
/// since servers add to it in between; what reads it once for a document may cost all.
fn budget(own: Value<'_>) -> u64 {
    const OF_ANY_VALUE: u64 = 20_000;
    const OF_A_BYTE: u64 = 100;
    /// What a value has of bytes itself.
    fn own_bytes(value: Value<'_>) -> u64 {
        match value {
            Value::String(text) => text.as_str().len() as u64,
            Value::Number(number) => number.as_str().len() as u64,
            _ => 1,
        }
    }
    /// Takes what a value has of bytes, or of parts, from what is left to be counted.
    fn count(value: Value<'_>, left: &mut u64) {
        *left = left.saturating_sub(own_bytes(value));
        match value {
            Value::Array(items) if *left > 0 => items.iter().for_each(|item| count(*item, left)),
            Value::Object(entries) if *left > 0 => entries.iter().for_each(|entry| {
                *left = left.saturating_sub(entry.key.len() as u64);
                count(entry.value, left);
            }),
            _ => {}
        }
    }
    let most = (EXPRESSION_LIMIT - OF_ANY_VALUE) / OF_A_BYTE;
    let counted = match own {
        Value::Array(_) | Value::Object(_) => {
            let mut left = most;
            count(own, &mut left);
            most - left
        }
        scalar => own_bytes(scalar).min(most),
    };
    OF_ANY_VALUE + counted * OF_A_BYTE
}

/// Fields by their paths in the object that all of them are in.
#[derive(Debug)]
pub(super) struct Scope {
    root: Branch,
}

#[derive(Debug)]
enum Branch {
    /// A field, by its position.
    Field(usize),
    Object(Vec<(Box<str>, Branch)>),
}

impl Scope {
    /// The scope of fields with these paths.
    pub(super) fn of(respelled: &Respelled, paths: &[Located<Selector>]) -> Result<Self, Vec<Problem>> {
        let mut root = Branch::Object(Vec::new());
        for (position, path) in paths.iter().enumerate() {
            let steps = path.item.steps();
            let start = steps.iter().rposition(|step| !matches!(step, Step::Field(_))).map_or(0, |last| last + 1);
            let names: Vec<_> = steps[start..]
                .iter()
                .filter_map(|step| match step {
                    Step::Field(name) => Some(&**name),
                    _ => None,
                })
                .collect();
            if !root.insert(&names, position) {
                let message = format!("{} is not a field beside the others: expressions read whole fields", path.item);
                return Err(unfit(respelled, &message));
            }
        }
        Ok(Self { root })
    }

    /// An object with those fields that are there.
    pub(super) fn object<'a>(&'a self, values: &[Option<Value<'a>>], arena: &'a Arena) -> Value<'a> {
        self.root.value(values, arena).unwrap_or(Value::Object(&[]))
    }
}

impl Branch {
    fn insert(&mut self, names: &[&str], position: usize) -> bool {
        let (Self::Object(branches), [name, rest @ ..]) = (self, names) else { return false };
        let found = branches.iter().position(|(branch, _)| **branch == **name);
        match (found, rest) {
            (Some(_), []) => false,
            (None, []) => {
                branches.push(((*name).into(), Self::Field(position)));
                true
            }
            (found, rest) => {
                let at = found.unwrap_or_else(|| {
                    branches.push(((*name).into(), Self::Object(Vec::new())));
                    branches.len() - 1
                });
                branches[at].1.insert(rest, position)
            }
        }
    }

    fn add(&self, shapes: &mut Shapes, side: Side<'_>) -> ShapeId {
        match self {
            Self::Field(position) => add(shapes, side.structure, side.fields[*position], None),
            Self::Object(branches) => {
                let mut object = ObjectShape::default();
                for (name, branch) in branches {
                    let shape = branch.add(shapes, side);
                    object.add(name, selected_name(name).as_deref(), shape);
                }
                shapes.add(ShapeKind::Object(object), false, 0)
            }
        }
    }

    fn value<'a>(&'a self, values: &[Option<Value<'a>>], arena: &'a Arena) -> Option<Value<'a>> {
        match self {
            Self::Field(position) => values.get(*position).copied().flatten(),
            Self::Object(branches) => {
                let entries: Vec<_> = branches
                    .iter()
                    .filter_map(|(key, branch)| branch.value(values, arena).map(|value| Entry { key, value }))
                    .collect();
                (!entries.is_empty()).then(|| Value::Object(arena.slice(&entries)))
            }
        }
    }
}

/// Adds the shape of a node; of an object, with some of its fields only.
fn add(shapes: &mut Shapes, structure: &Structure, index: NodeIndex, read: Option<&[Box<str>]>) -> ShapeId {
    let node = structure.node(index);
    let kind = match node.shape {
        Shape::Scalar(Scalar::String) => ShapeKind::String,
        Shape::Scalar(Scalar::Integer) => ShapeKind::Int,
        Shape::Scalar(Scalar::Number) => ShapeKind::Double,
        Shape::Scalar(Scalar::Boolean) => ShapeKind::Bool,
        Shape::Scalar(Scalar::IntOrString) => ShapeKind::IntOrString,
        Shape::Scalar(Scalar::Any) => ShapeKind::Any,
        Shape::List | Shape::Map => match structure.element(index) {
            Some(element) => {
                let below = add(shapes, structure, element, None);
                match node.shape {
                    Shape::List => ShapeKind::List { items: below, identity: Identity::Position },
                    _ => ShapeKind::Map { values: below },
                }
            }
            None => ShapeKind::Any,
        },
        Shape::Object => {
            let mut object = ObjectShape::default();
            for child in &node.children {
                let Some(name) = structure.node(*child).name() else { continue };
                if read.is_none_or(|read| read.iter().any(|read| **read == *name)) {
                    let shape = add(shapes, structure, *child, None);
                    object.add(name, selected_name(name).as_deref(), shape);
                }
            }
            ShapeKind::Object(object)
        }
    };
    shapes.add(kind, node.nullable, REQUEST_BYTES)
}

/// Whether a value of a type can be one of a field, as far as that is known before there is one.
pub(super) fn can_fit(r#type: &Type, structure: &Structure, field: NodeIndex) -> bool {
    let shape = structure.node(field).shape;
    let below = |r#type: &Type| structure.element(field).is_none_or(|element| can_fit(r#type, structure, element));
    let is_any = shape == Shape::Scalar(Scalar::Any);
    let is = |scalars: &[Scalar]| matches!(shape, Shape::Scalar(scalar) if is_any || scalars.contains(&scalar));
    match r#type {
        Type::Dyn | Type::Null | Type::Variable(_) => true,
        Type::Optional(value) => can_fit(value, structure, field),
        Type::Bool => is(&[Scalar::Boolean]),
        Type::Int | Type::Uint => is(&[Scalar::Integer, Scalar::Number, Scalar::IntOrString]),
        Type::Double => is(&[Scalar::Number]),
        Type::String | Type::Bytes | Type::Timestamp | Type::Duration => is(&[Scalar::String, Scalar::IntOrString]),
        Type::List(item) => is_any || shape == Shape::List && below(item),
        Type::Map(key, value) => {
            let is_text = matches!(&**key, Type::String | Type::Dyn | Type::Variable(_));
            is_text && (is_any || shape == Shape::Object || shape == Shape::Map && below(value))
        }
        Type::Object(_) => is_any || matches!(shape, Shape::Object | Shape::Map),
        _ => false,
    }
}

/// A value of an expression as one of a document; `None` for null and for what is optional and absent.
pub(super) fn document<'a>(value: Val<'a>, arena: &'a Arena) -> Result<Option<Value<'a>>, Failed> {
    Ok(Some(match value {
        Val::Null | Val::Optional(None) => return Ok(None),
        Val::Optional(Some(value)) => return document(*value, arena),
        Val::Bool(value) => Value::Bool(value),
        Val::Int(value) => integer(value, arena),
        Val::Uint(value) => number(written(format_args!("{value}"), arena))?,
        Val::Double(value) if value.is_finite() => {
            let text = format!("{value:e}");
            let canonical = Number::new(&text).map(|number| canonical(Value::Number(number))).unwrap_or_default();
            number(arena.text(str::from_utf8(&canonical).unwrap_or_default()))?
        }
        Val::Double(_) => return Err(Failed("out of range: the result is not a finite number".to_owned())),
        Val::String(text) => Value::string(text),
        Val::Bytes(bytes) => Value::string(arena.text(&wheelwright_text::base64::encode(bytes))),
        Val::Timestamp(moment) => Value::string(written(format_args!("{moment}"), arena)),
        Val::Duration(span) => Value::string(written(format_args!("{span}"), arena)),
        Val::Items(items, _) => Value::Array(items),
        Val::Fields(entries, _) => Value::Object(entries),
        Val::Opaque(value) => *value,
        Val::List(items) => {
            let items: Result<Vec<_>, Failed> =
                items.iter().map(|item| Ok(document(*item, arena)?.unwrap_or(Value::Null))).collect();
            Value::Array(arena.slice(&items?))
        }
        Val::Map(entries) => {
            let entries: Result<Vec<_>, Failed> = entries
                .iter()
                .map(|(key, value)| match key {
                    Val::String(key) => Ok(Entry { key, value: document(*value, arena)?.unwrap_or(Value::Null) }),
                    other => Err(Failed(format!("wrong type: a key must be a string, not {}", other.type_name()))),
                })
                .collect();
            Value::Object(arena.slice(&entries?))
        }
        other => return Err(Failed(format!("wrong type: the result is of type {}", other.type_name()))),
    }))
}

fn number(text: &str) -> Result<Value<'_>, Failed> {
    Number::new(text).map(Value::Number).ok_or_else(|| Failed::out_of_range(text))
}

/// The paths below `self` that an expression reads, as far as they lead through objects; `None` if it may read anything,
/// or cannot be read itself.
pub(crate) fn reads(source: &str, (structure, own): Place<'_>) -> Option<Vec<Vec<Box<str>>>> {
    let expression = parse(source).ok()?;
    let mut selected = Vec::new();
    if !read_by(&expression, &mut selected) {
        return None;
    }
    let mut paths: Vec<Vec<Box<str>>> = selected.iter().map(|names| path(structure, own, names)).collect();
    // What is inside of something that is read as a whole is read already.
    paths.sort_unstable();
    paths.dedup_by(|longer, shorter| longer.starts_with(shorter));
    (!paths.iter().any(Vec::is_empty)).then_some(paths)
}

/// Whether an expression uses `self` at all; true for one that cannot be read.
pub(crate) fn mentions_self(source: &str) -> bool {
    fn mentions(expr: &Expr) -> bool {
        matches!(&expr.node, Node::Name(name) if matches!(&**name, "self" | ".self"))
            || expr.parts().into_iter().any(mentions)
    }
    parse(source).map_or(true, |expression| mentions(&expression))
}

/// Whether an expression has no value if anything is absent that it selects: nothing in it is asked for under a condition.
pub(super) fn is_strict(source: &str) -> bool {
    fn all_is_asked_for(expr: &Expr) -> bool {
        let is_asked_for = match &expr.node {
            Node::Name(_) | Node::Literal(_) | Node::Unary { .. } | Node::Binary { .. } | Node::Call { .. } => true,
            Node::Select { is_optional, .. } => !is_optional,
            _ => false,
        };
        is_asked_for && expr.parts().into_iter().all(all_is_asked_for)
    }
    parse(source).is_ok_and(|expression| all_is_asked_for(&expression))
}

/// The path that selected names lead along; where the structure knows no more, all below is meant.
fn path(structure: &Structure, own: NodeIndex, selected: &[&str]) -> Vec<Box<str>> {
    let mut path = Vec::new();
    let mut at = own;
    for selected in selected.iter() {
        let children = structure.node(at).children.iter();
        let named = children.filter_map(|child| Some((*child, structure.node(*child).name()?)));
        let mut found = named.filter(|(_, name)| name == selected || selected_name(name).as_deref() == Some(*selected));
        let Some((child, name)) = found.next() else { break };
        path.push(name.into());
        at = child;
    }
    path
}

/// Adds what is selected from `self`; false if `self` is used in any other way.
fn read_by<'e>(expr: &'e Expr, selected: &mut Vec<Vec<&'e str>>) -> bool {
    if let Some(names) = names_below_self(expr) {
        let is_below = !names.is_empty();
        selected.push(names);
        return is_below;
    }
    expr.parts().into_iter().all(|part| read_by(part, selected))
}

/// The names that are selected from `self`, one from the other.
fn names_below_self(expr: &Expr) -> Option<Vec<&str>> {
    match &expr.node {
        Node::Name(name) if matches!(&**name, "self" | ".self") => Some(Vec::new()),
        Node::Select { operand, field, .. } | Node::Has { operand, field } => {
            let mut names = names_below_self(operand)?;
            names.push(field);
            Some(names)
        }
        _ => None,
    }
}
