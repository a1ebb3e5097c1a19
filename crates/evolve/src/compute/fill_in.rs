//! What a service fills in where whoever creates a document leaves a field out: an expression over the document that was
//! sent, and over the resource that it belongs to.

use wheelwright_document::{Arena, Value};
use wheelwright_expr::{
    EXPRESSION_LIMIT, Evaluator, Expression, FailureKind, REQUEST_BYTES, ShapeId, ShapeKind, Shapes, Type, Variable,
};
use wheelwright_findings::rules;
use wheelwright_schema::Problem;

use super::expression::{can_fit, document, meant_as_text};
use crate::{Located, NodeIndex, Structure, problem::problem_at};

/// An expression over `self`, a document as it was sent, and `parent`, the resource that it belongs to. Whatever their
/// version: what is not there is absent.
#[derive(Debug)]
pub struct FillIn {
    shapes: Shapes,
    any: ShapeId,
    expression: Expression,
}

impl FillIn {
    /// Compiles an expression; for a field, if it is known which.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn compile(source: &Located<Box<str>>, field: Option<(&Structure, NodeIndex)>) -> Result<Self, Vec<Problem>> {
        let mut shapes = Shapes::default();
        let any = shapes.add(ShapeKind::Any, true, REQUEST_BYTES);
        let variables =
            ["self", "parent"].map(|name| Variable { name: name.into(), r#type: Type::Dyn, shape: Some(any) });
        let problem = |message: String| problem_at(&rules::COMPUTED_EXPRESSION, source.span, message);
        match Expression::compile_any(&source.item, &shapes, &variables) {
            Err(error) => Err(error
                .mistakes()
                .iter()
                .map(|mistake| {
                    let mut problem = problem(format!("`{}`: {}", source.item, mistake.message));
                    problem.part = Some((source.item.clone(), mistake.at.clone()));
                    problem.mend = mistake.remedy.map(str::to_owned).or_else(|| meant_as_text(&source.item));
                    problem
                })
                .collect()),
            Ok((expression, r#type)) => match field {
                Some((structure, field)) if !can_fit(&r#type, structure, field) => {
                    let (path, wanted) = (structure.selector(field), structure.shape_name(field));
                    let source = &source.item;
                    Err(vec![problem(format!(
                        "`{source}` gives a value of type {type}, and {path} is of type {wanted}"
                    ))])
                }
                _ => Ok(Self { shapes, any, expression }),
            },
        }
    }

    /// What it gives for a document and the resource that it belongs to, if it belongs to one; nothing if it reads what is
    /// not there.
    ///
    /// # Errors
    /// Why it has no value otherwise.
    pub fn evaluate<'a>(
        &'a self,
        own: Value<'a>,
        parent: Option<Value<'a>>,
        arena: &'a Arena,
    ) -> Result<Option<Value<'a>>, String> {
        let mut evaluator = Evaluator::new(&self.shapes, arena);
        let variables = [own, parent.unwrap_or(Value::Object(&[]))].map(|value| (value, self.any));
        evaluator.set_budget(EXPRESSION_LIMIT);
        match self.expression.evaluate_over(&mut evaluator, variables) {
            Ok(value) => document(value, arena).map_err(|failed| failed.0),
            Err(failure) if failure.kind() == FailureKind::Absent => Ok(None),
            Err(failure) => Err(failure.message().to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Span, decode, encode};

    use super::*;

    fn compiled(source: &str) -> Result<FillIn, Vec<Problem>> {
        FillIn::compile(&Located { item: source.into(), span: Span::default() }, None)
    }

    fn given(source: &str) -> Result<Option<String>, String> {
        let (fill_in, arena) = (compiled(source).unwrap(), Arena::new());
        let own = decode(br#"{"properties": {"size": 3}}"#, &arena).unwrap();
        let parent = decode(br#"{"location": "here", "properties": {"subnets": ["a", "b"]}}"#, &arena).unwrap();
        let value = fill_in.evaluate(own, Some(parent), &arena)?;
        Ok(value.map(|value| String::from_utf8(encode(value)).unwrap()))
    }

    #[test]
    fn a_value_is_made_of_the_document_and_of_its_parent() {
        assert_eq!(given("parent.location").unwrap().unwrap(), r#""here""#);
        assert_eq!(given("'of ' + parent.location").unwrap().unwrap(), r#""of here""#);
        assert_eq!(given("parent.properties.subnets").unwrap().unwrap(), r#"["a","b"]"#);
        assert_eq!(given("self.properties.size + 1").unwrap().unwrap(), "4");
        assert_eq!(given("'westus3'").unwrap().unwrap(), r#""westus3""#);
    }

    #[test]
    fn what_is_not_there_gives_nothing_and_what_cannot_be_is_an_error() {
        assert_eq!(given("parent.properties.version.id").unwrap(), None);
        assert_eq!(given("self.?location").unwrap(), None);
        assert!(given("self.properties.size / 0").is_err());
        assert!(compiled("westus3").unwrap_err()[0].mend.as_ref().unwrap().contains("quotes"));
    }
}
