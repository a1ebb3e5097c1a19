//! Laws of the parser: what is printed is read again as it was, places hold what they claim, and nothing panics.

use std::fmt::Write as _;

use proptest::{collection::vec, option, prelude::*, sample::select};
use regex::Regex;
use wheelwright_expr::{
    ast::{Binary, Comprehension, Expr, Literal, Macro, Node, Unary},
    parse,
};

proptest! {
    #[test]
    fn what_is_printed_is_read_again(expr in any_expr()) {
        for is_sparing in [true, false] {
            let printed = print(&expr, is_sparing);
            let read = parse(&printed).unwrap_or_else(|error| panic!("{error} in {printed}"));
            prop_assert_eq!(without_places(&read), without_places(&expr), "{}", printed);
        }
    }

    #[test]
    fn the_place_of_an_expression_holds_it(expr in any_expr()) {
        let source = print(&expr, true);
        let mut waiting = vec![parse(&source).expect("what is printed is read again")];
        while let Some(expr) = waiting.pop() {
            let text = &source[expr.at.start as usize..expr.at.end as usize];
            let read = parse(text).unwrap_or_else(|error| panic!("{error} in {text}"));
            prop_assert_eq!(without_places(&read), without_places(&expr), "{}", text);
            waiting.extend(below(expr));
        }
    }

    #[test]
    fn whatever_is_written_ends_well(source in any_source()) {
        if let Err(error) = parse(&source) {
            let at = error.at();
            prop_assert!(source.get(at.start as usize..at.end as usize).is_some(), "{error} in {source}");
            prop_assert!(!error.message().is_empty());
        }
    }
}

fn any_source() -> impl Strategy<Value = String> {
    let tokens = select(vec![
        "a",
        "b",
        "1",
        "-",
        "1.5",
        "2u",
        "0x",
        "'",
        "\"",
        "'''",
        "\\",
        "\\x4",
        "r'",
        "b'",
        "\n",
        " ",
        "//",
        "`",
        ".",
        "?",
        ":",
        ",",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "!",
        "&&",
        "||",
        "==",
        "<",
        "in",
        "+",
        "*",
        "has(",
        "all(x,",
        ".map(x,",
        "true",
        "null",
        "for",
        "é",
        "A{",
        "cel.bind(x,",
    ]);
    prop_oneof![any::<String>(), vec(tokens, 0..40).prop_map(|tokens| tokens.concat())]
}

fn any_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        any_literal().prop_map(Node::Literal),
        select(vec!["a", "b", "self", ".x", "_", "cel"]).prop_map(|name| Node::Name(name.into())),
    ];
    leaf.prop_map(expr).prop_recursive(5, 40, 4, |inner| any_node(inner).prop_map(expr))
}

fn expr(node: Node) -> Expr {
    Expr { at: 0..0, node }
}

fn any_literal() -> impl Strategy<Value = Literal> {
    prop_oneof![
        Just(Literal::Null),
        any::<bool>().prop_map(Literal::Bool),
        prop_oneof![any::<i64>(), Just(i64::MIN), -2..3_i64].prop_map(Literal::Int),
        any::<u64>().prop_map(Literal::Uint),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Literal::Double),
        any::<String>().prop_map(|text| Literal::String(text.into())),
        any::<Vec<u8>>().prop_map(|bytes| Literal::Bytes(bytes.into())),
    ]
}

fn any_field() -> impl Strategy<Value = Box<str>> {
    select(vec!["a", "b_1", "for", "in", "a-b", "x.y/z w"]).prop_map(Box::from)
}

fn any_variable() -> impl Strategy<Value = Box<str>> {
    select(vec!["x", "y", "_i"]).prop_map(Box::from)
}

fn any_binary() -> impl Strategy<Value = Binary> {
    use Binary::*;
    select(vec![
        Add,
        Subtract,
        Multiply,
        Divide,
        Remainder,
        Equal,
        NotEqual,
        Less,
        LessOrEqual,
        Greater,
        GreaterOrEqual,
        In,
    ])
}

fn any_node(inner: impl Strategy<Value = Expr> + Clone + 'static) -> impl Strategy<Value = Node> {
    let boxed = inner.clone().prop_map(Box::new);
    let operands = vec(inner.clone(), 2..4);
    let functions = select(vec!["f", "size", "has", "all", "x_1"]);
    prop_oneof![
        (boxed.clone(), any_field(), any::<bool>()).prop_map(|(operand, field, is_optional)| Node::Select {
            operand,
            field,
            is_optional
        }),
        (boxed.clone(), any_field()).prop_map(|(operand, field)| Node::Has { operand, field }),
        (boxed.clone(), boxed.clone(), any::<bool>()).prop_map(|(operand, index, is_optional)| Node::Index {
            operand,
            index,
            is_optional
        }),
        (select(vec![Unary::Not, Unary::Negate]), boxed.clone())
            .prop_map(|(operator, operand)| Node::Unary { operator, operand }),
        (any_binary(), boxed.clone(), boxed.clone()).prop_map(|(operator, left, right)| Node::Binary {
            operator,
            left,
            right
        }),
        operands.clone().prop_map(Node::And),
        operands.prop_map(Node::Or),
        (boxed.clone(), boxed.clone(), boxed.clone()).prop_map(|(condition, then, otherwise)| Node::Conditional {
            condition,
            then,
            otherwise
        }),
        // One argument makes no macro of a member, and none or three make no `has`.
        (functions.clone(), boxed.clone(), vec(inner.clone(), 0..2)).prop_map(|(function, target, arguments)| {
            Node::Call { function: function.into(), name_at: 0..0, target: Some(target), arguments }
        }),
        (functions, select(vec![0, 3]), vec(inner.clone(), 3)).prop_map(|(function, count, mut arguments)| {
            arguments.truncate(count);
            Node::Call { function: function.into(), name_at: 0..0, target: None, arguments }
        }),
        vec((inner.clone(), any::<bool>()), 0..3).prop_map(Node::List),
        vec((inner.clone(), inner.clone(), any::<bool>()), 0..3).prop_map(Node::Map),
        (select(vec!["A", "a.b.C", ".a.B", "for.B"]), vec((any_field(), inner.clone(), any::<bool>()), 0..3))
            .prop_map(|(name, fields)| Node::Message { name: name.into(), fields }),
        any_comprehension(inner.clone()).prop_map(|comprehension| Node::Comprehension(Box::new(comprehension))),
        (any_variable(), boxed.clone(), boxed.clone()).prop_map(|(name, value, body)| Node::Bind { name, value, body }),
        (boxed.clone(), any_variable(), boxed, any::<bool>())
            .prop_map(|(operand, name, body, is_flat)| Node::OptionalMap { operand, name, body, is_flat }),
    ]
}

fn any_comprehension(inner: impl Strategy<Value = Expr> + Clone) -> impl Strategy<Value = Comprehension> {
    use Macro::*;
    let kinds =
        select(vec![All, Exists, ExistsOne, Filter, Map, TransformList, TransformMap, TransformMapEntry, SortBy]);
    let parts = (inner.clone(), inner.clone(), option::of(inner), any_variable(), any::<bool>());
    (kinds, parts).prop_map(|(kind, (range, last, condition, variable, has_second))| {
        let has_second = match kind {
            All | Exists | ExistsOne => has_second,
            Filter | Map | SortBy => false,
            TransformList | TransformMap | TransformMapEntry => true,
        };
        let (condition, transform) = match kind {
            All | Exists | ExistsOne | Filter => (Some(last), None),
            Map | TransformList | TransformMap | TransformMapEntry => (condition, Some(last)),
            SortBy => (None, Some(last)),
        };
        Comprehension { kind, range, variable, second: has_second.then(|| "second".into()), condition, transform }
    })
}

fn without_places(expr: &Expr) -> String {
    Regex::new(r"at: \d+\.\.\d+").expect("a pattern").replace_all(&format!("{expr:?}"), "").into_owned()
}

/// The expressions right below one.
fn below(expr: Expr) -> Vec<Expr> {
    match expr.node {
        Node::Literal(_) | Node::Name(_) => vec![],
        Node::Select { operand, .. } | Node::Has { operand, .. } | Node::Unary { operand, .. } => vec![*operand],
        Node::Index { operand: first, index: second, .. }
        | Node::Binary { left: first, right: second, .. }
        | Node::Bind { value: first, body: second, .. }
        | Node::OptionalMap { operand: first, body: second, .. } => vec![*first, *second],
        Node::Conditional { condition, then, otherwise } => vec![*condition, *then, *otherwise],
        Node::And(operands) | Node::Or(operands) => operands,
        Node::Call { target, arguments, .. } => target.map(|target| *target).into_iter().chain(arguments).collect(),
        Node::List(items) => items.into_iter().map(|(item, _)| item).collect(),
        Node::Map(entries) => entries.into_iter().flat_map(|(key, value, _)| [key, value]).collect(),
        Node::Message { fields, .. } => fields.into_iter().map(|(_, value, _)| value).collect(),
        Node::Comprehension(comprehension) => {
            let Comprehension { range, condition, transform, .. } = *comprehension;
            [Some(range), condition, transform].into_iter().flatten().collect()
        }
    }
}

/// The source of an expression, with only the parentheses that it needs, or with all that it may have.
fn print(expr: &Expr, is_sparing: bool) -> String {
    Printer { is_sparing }.expr(expr, 0)
}

struct Printer {
    is_sparing: bool,
}

impl Printer {
    /// Within something that needs operators of at least this level: 0 for `? :`, 6 for `!` and `-`, 7 for the rest.
    fn expr(&self, expr: &Expr, level: u8) -> String {
        let text = self.bare(expr);
        if self.is_sparing && self.level(expr) >= level { text } else { format!("({text})") }
    }

    fn level(&self, expr: &Expr) -> u8 {
        match &expr.node {
            Node::Conditional { .. } => 0,
            Node::Or(_) => 1,
            Node::And(_) => 2,
            Node::Binary { operator, .. } => binary_level(*operator),
            Node::Unary { .. } => 6,
            _ => 7,
        }
    }

    fn bare(&self, expr: &Expr) -> String {
        match &expr.node {
            Node::Literal(literal) => print_literal(literal),
            Node::Name(name) => name.to_string(),
            Node::Select { operand, field, is_optional } => {
                format!("{}.{}{}", self.expr(operand, 7), mark(*is_optional), print_field(field))
            }
            Node::Has { operand, field } => format!("has({}.{})", self.expr(operand, 7), print_field(field)),
            Node::Index { operand, index, is_optional } => {
                format!("{}[{}{}]", self.expr(operand, 7), mark(*is_optional), self.expr(index, 0))
            }
            Node::Unary { operator, operand } => {
                let operand = self.expr(operand, 7);
                match operator {
                    Unary::Not => format!("!{operand}"),
                    // Otherwise the minus would be part of the number.
                    Unary::Negate if operand.starts_with(|letter: char| letter == '-' || letter.is_ascii_digit()) => {
                        format!("-({operand})")
                    }
                    Unary::Negate => format!("-{operand}"),
                }
            }
            Node::Binary { operator, left, right } => {
                let level = binary_level(*operator);
                format!("{} {operator} {}", self.expr(left, level), self.expr(right, level + 1))
            }
            Node::And(operands) => self.all(operands, 3, " && "),
            Node::Or(operands) => self.all(operands, 2, " || "),
            Node::Conditional { condition, then, otherwise } => {
                format!("{} ? {} : {}", self.expr(condition, 1), self.expr(then, 1), self.expr(otherwise, 0))
            }
            Node::Call { function, target, arguments, .. } => {
                let target = target.as_ref().map(|target| self.expr(target, 7) + ".").unwrap_or_default();
                format!("{target}{function}({})", self.all(arguments, 0, ", "))
            }
            Node::List(items) => {
                let items = items.iter().map(|(item, is_optional)| mark(*is_optional).to_owned() + &self.expr(item, 0));
                format!("[{}]", items.collect::<Vec<_>>().join(", "))
            }
            Node::Map(entries) => {
                let entries = entries.iter().map(|(key, value, is_optional)| {
                    format!("{}{}: {}", mark(*is_optional), self.expr(key, 0), self.expr(value, 0))
                });
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            Node::Message { name, fields } => {
                let fields = fields.iter().map(|(field, value, is_optional)| {
                    format!("{}{}: {}", mark(*is_optional), print_field(field), self.expr(value, 0))
                });
                format!("{name}{{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
            Node::Comprehension(comprehension) => self.comprehension(comprehension),
            Node::Bind { name, value, body } => {
                format!("cel.bind({name}, {}, {})", self.expr(value, 0), self.expr(body, 0))
            }
            Node::OptionalMap { operand, name, body, is_flat } => {
                let function = if *is_flat { "optFlatMap" } else { "optMap" };
                format!("{}.{function}({name}, {})", self.expr(operand, 7), self.expr(body, 0))
            }
        }
    }

    fn comprehension(&self, comprehension: &Comprehension) -> String {
        let Comprehension { kind, range, variable, second, condition, transform } = comprehension;
        let function = match kind {
            Macro::All => "all",
            Macro::Exists => "exists",
            Macro::ExistsOne => "exists_one",
            Macro::Filter => "filter",
            Macro::Map => "map",
            Macro::TransformList => "transformList",
            Macro::TransformMap => "transformMap",
            Macro::TransformMapEntry => "transformMapEntry",
            Macro::SortBy => "sortBy",
        };
        let mut arguments = variable.to_string();
        for argument in second
            .iter()
            .map(|name| name.to_string())
            .chain([condition, transform].into_iter().flatten().map(|expr| self.expr(expr, 0)))
        {
            write!(arguments, ", {argument}").expect("strings take everything");
        }
        format!("{}.{function}({arguments})", self.expr(range, 7))
    }

    fn all(&self, exprs: &[Expr], level: u8, separator: &str) -> String {
        exprs.iter().map(|expr| self.expr(expr, level)).collect::<Vec<_>>().join(separator)
    }
}

fn binary_level(operator: Binary) -> u8 {
    match operator {
        Binary::Add | Binary::Subtract => 4,
        Binary::Multiply | Binary::Divide | Binary::Remainder => 5,
        _ => 3,
    }
}

fn mark(is_optional: bool) -> &'static str {
    if is_optional { "?" } else { "" }
}

fn print_field(field: &str) -> String {
    let is_plain = field != "in" && field.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if is_plain { field.to_owned() } else { format!("`{field}`") }
}

fn print_literal(literal: &Literal) -> String {
    match literal {
        Literal::Null => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Int(value) => value.to_string(),
        Literal::Uint(value) => format!("{value}u"),
        Literal::Double(value) => format!("{value:?}"),
        Literal::String(value) => {
            let letters = value.chars().map(|letter| match letter {
                '"' | '\\' => format!("\\{letter}"),
                _ if letter.is_control() => format!("\\u{:04x}", u32::from(letter)),
                _ => letter.to_string(),
            });
            format!("\"{}\"", letters.collect::<String>())
        }
        Literal::Bytes(value) => {
            format!("b'{}'", value.iter().map(|byte| format!("\\x{byte:02x}")).collect::<String>())
        }
    }
}
