//! Schemas, documents and expressions for tables of costs, in few letters.

use wheelwright_document::{Arena, decode};
use wheelwright_expr::{
    CostEstimate, EXPRESSION_LIMIT, Evaluator, Expression, Failure, Identity, ObjectShape, REQUEST_BYTES, ShapeId,
    ShapeKind, Shapes, Type, Variable,
};

/// Shapes as a schema of this notation declares them: `s` string, `y` bytes, `i` integer, `n` number, `b` boolean, `x` integer or
/// string, `d` duration, `t` date and time, `[T]` list, `<T>` set, `K[T]` list with the key `k`, `{T}` map,
/// `(name:T,…)` object. A number after strings, lists, sets and maps is their limit.
pub(crate) struct Schema {
    shapes: Shapes,
    variables: Vec<Variable>,
}

impl Schema {
    pub(crate) fn new(text: &str) -> Self {
        let mut parser = Parser { rest: text, shapes: Shapes::default() };
        let (root, _) = parser.shape();
        assert_eq!(parser.rest, "", "{text}");
        let shapes = parser.shapes;
        let variable =
            |name: &str| Variable { name: name.into(), r#type: Type::of_shape(&shapes, root), shape: Some(root) };
        let variables = vec![variable("self"), variable("oldSelf")];
        Self { shapes, variables }
    }

    pub(crate) fn compile(&self, source: &str) -> Expression {
        let results = [Type::Bool, Type::String, Type::Int, Type::list(Type::String)];
        let mut compiled =
            results.iter().map(|r#type| Expression::compile(source, &self.shapes, &self.variables, r#type));
        compiled.find_map(Result::ok).unwrap_or_else(|| {
            let error = Expression::compile(source, &self.shapes, &self.variables, &Type::Bool).map(|_| ());
            panic!("{source}: {error:?}")
        })
    }

    #[allow(dead_code, reason = "not every table has estimates")]
    pub(crate) fn estimate(&self, source: &str) -> CostEstimate {
        self.compile(source).estimate(&self.shapes, &self.variables)
    }

    /// What an evaluation costs; it must succeed.
    pub(crate) fn cost(&self, document: &str, source: &str) -> u64 {
        let (cost, failure) = self.evaluate(document, source, EXPRESSION_LIMIT);
        assert!(failure.is_none(), "{source}: {failure:?}");
        cost
    }

    /// What an evaluation takes from a budget, and why it fails if it does.
    pub(crate) fn evaluate(&self, document: &str, source: &str, budget: u64) -> (u64, Option<Failure>) {
        let arena = Arena::new();
        let expression = self.compile(source);
        let document = decode(document.as_bytes(), &arena).expect("JSON");
        let mut evaluator = Evaluator::new(&self.shapes, &arena);
        let shape = self.variables[0].shape.expect("a shape");
        let document = arena.slice(&[document]);
        let value = evaluator.read(&document[0], shape);
        evaluator.set_budget(budget);
        let failure = expression.evaluate(&mut evaluator, &[value, value]).err();
        (budget - evaluator.budget(), failure)
    }
}

struct Parser<'a> {
    rest: &'a str,
    shapes: Shapes,
}

impl Parser<'_> {
    /// A shape, and how many bytes it has at least in JSON.
    fn shape(&mut self) -> (ShapeId, u64) {
        if let Some((key, _)) = self.rest.split_once('[')
            && !key.is_empty()
            && key.bytes().all(|byte| byte.is_ascii_uppercase())
        {
            let key = key.to_lowercase();
            self.rest = &self.rest[key.len() + 1..];
            return self.items(Identity::Keys(Box::new([key.into()])), ']');
        }
        let text = REQUEST_BYTES - 2;
        let (kind, max_size, min_bytes) = match self.next() {
            's' => (ShapeKind::String, self.limit().map_or(text, |limit| 4 * limit), 2),
            'y' => (ShapeKind::Bytes, self.limit().unwrap_or(text), 2),
            'i' => (ShapeKind::Int, 0, 1),
            'n' => (ShapeKind::Double, 0, 1),
            'b' => (ShapeKind::Bool, 0, 4),
            'x' => (ShapeKind::IntOrString, text, 1),
            'd' => (ShapeKind::Duration, 32, 3),
            't' => (ShapeKind::DateTime, 32, 21),
            '[' => return self.items(Identity::Position, ']'),
            '<' => return self.items(Identity::Value, '>'),
            '{' => {
                let (values, min_bytes) = self.shape();
                assert_eq!(self.next(), '}');
                (ShapeKind::Map { values }, self.limit().unwrap_or((REQUEST_BYTES - 2) / (min_bytes + 6)), 2)
            }
            '(' => (self.object(), 0, 2),
            other => panic!("{other}"),
        };
        (self.shapes.add(kind, false, max_size), min_bytes)
    }

    fn items(&mut self, identity: Identity, end: char) -> (ShapeId, u64) {
        let (items, min_bytes) = self.shape();
        assert_eq!(self.next(), end);
        let max_size = self.limit().unwrap_or((REQUEST_BYTES - 2) / (min_bytes + 1));
        (self.shapes.add(ShapeKind::List { items, identity }, false, max_size), 2)
    }

    fn object(&mut self) -> ShapeKind {
        let mut object = ObjectShape::default();
        loop {
            let (name, rest) = self.rest.split_once(':').expect("a name");
            self.rest = rest;
            let (shape, _) = self.shape();
            object.add(name, Some(name), shape);
            if self.next() == ')' {
                return ShapeKind::Object(object);
            }
        }
    }

    fn limit(&mut self) -> Option<u64> {
        let digits = self.rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(self.rest.len());
        let (limit, rest) = self.rest.split_at(digits);
        self.rest = rest;
        limit.parse().ok()
    }

    fn next(&mut self) -> char {
        let letter = self.rest.chars().next().expect("more");
        self.rest = &self.rest[letter.len_utf8()..];
        letter
    }
}
