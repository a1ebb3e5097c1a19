//! The grammar, by recursive descent; operators by their precedence.

use std::ops::Range;

use super::{
    MAX_DEPTH, ParseError,
    lexer::{Kind, Token, tokens},
    literal::literal,
    macros,
};
use crate::ast::{Binary, Expr, Literal, Node, Unary};

pub(super) struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    /// The next token; the last one is never passed.
    position: usize,
    /// Why the last token is `Invalid`, if it is.
    lexical: Option<ParseError>,
    /// How many expressions and right operands are being read.
    depth: u32,
}

/// An expression with the length of the longest way down.
struct Tree {
    expr: Box<Expr>,
    height: u32,
}

/// Both are boxed, because results of the size of an expression would make for a deep stack.
type Parsed<T = Tree> = Result<T, Box<ParseError>>;

/// Words that are kept for later and cannot be names of variables or functions; nor can `true`, `false`, `null` and `in`.
pub const RESERVED_WORDS: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

enum Operator {
    Or,
    And,
    Binary(Binary),
}

/// An operator with how tightly it binds.
fn operator(kind: Kind) -> Option<(u8, Operator)> {
    let Kind::Symbol(symbol) = kind else { return None };
    let (level, binary) = match symbol {
        "||" => return Some((0, Operator::Or)),
        "&&" => return Some((1, Operator::And)),
        "==" => (2, Binary::Equal),
        "!=" => (2, Binary::NotEqual),
        "<" => (2, Binary::Less),
        "<=" => (2, Binary::LessOrEqual),
        ">" => (2, Binary::Greater),
        ">=" => (2, Binary::GreaterOrEqual),
        "in" => (2, Binary::In),
        "+" => (3, Binary::Add),
        "-" => (3, Binary::Subtract),
        "*" => (4, Binary::Multiply),
        "/" => (4, Binary::Divide),
        "%" => (4, Binary::Remainder),
        _ => return None,
    };
    Some((level, Operator::Binary(binary)))
}

impl<'s> Parser<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        let (tokens, lexical) = tokens(source);
        Self { source, tokens, position: 0, lexical, depth: 0 }
    }

    pub(super) fn parse(mut self) -> Result<Expr, ParseError> {
        let tree = self.expression().map_err(|error| *error)?;
        if self.kind() != Kind::End {
            return Err(*self.unexpected("an operator or the end"));
        }
        Ok(*tree.expr)
    }

    /// Operators, and perhaps `? :`, which needs parentheses only between these two.
    fn expression(&mut self) -> Parsed {
        self.descend()?;
        let start = self.start();
        let mut tree = self.operators(0)?;
        if self.eat("?") {
            let then = self.operators(0)?;
            self.expect(":")?;
            let otherwise = self.expression()?;
            tree = self.conditional(start, tree, then, otherwise)?;
        }
        self.depth -= 1;
        Ok(tree)
    }

    fn conditional(&self, start: u32, condition: Tree, then: Tree, otherwise: Tree) -> Parsed {
        let height = condition.height.max(then.height).max(otherwise.height);
        let (condition, then, otherwise) = (condition.expr, then.expr, otherwise.expr);
        self.tree(start, height, Node::Conditional { condition, then, otherwise })
    }

    /// Operators that bind at least as tightly as the level.
    fn operators(&mut self, lowest: u8) -> Parsed {
        let start = self.start();
        let mut left = self.unary()?;
        while let Some((level, operator)) = operator(self.kind()).filter(|(level, _)| *level >= lowest) {
            self.descend()?;
            left = match operator {
                Operator::Or => self.operands(start, left, level, "||", Node::Or)?,
                Operator::And => self.operands(start, left, level, "&&", Node::And)?,
                Operator::Binary(operator) => self.binary(start, left, level, operator)?,
            };
            self.depth -= 1;
        }
        Ok(left)
    }

    fn binary(&mut self, start: u32, left: Tree, level: u8, operator: Binary) -> Parsed {
        self.position += 1;
        let right = self.operators(level + 1)?;
        let height = left.height.max(right.height);
        self.tree(start, height, Node::Binary { operator, left: left.expr, right: right.expr })
    }

    fn operands(&mut self, start: u32, first: Tree, level: u8, symbol: &str, node: fn(Vec<Expr>) -> Node) -> Parsed {
        let mut height = first.height;
        let mut operands = vec![*first.expr];
        while self.eat(symbol) {
            let operand = self.operators(level + 1)?;
            height = height.max(operand.height);
            operands.push(*operand.expr);
        }
        self.tree(start, height, node(operands))
    }

    /// `!` and `-` cannot be mixed, and an even number of them is none.
    fn unary(&mut self) -> Parsed {
        let start = self.start();
        let operator = match self.kind() {
            Kind::Symbol("!") => Unary::Not,
            Kind::Symbol("-") if !self.is_negative_number() => Unary::Negate,
            _ => return self.member(),
        };
        let kind = self.kind();
        let first = self.position;
        while self.kind() == kind {
            self.position += 1;
        }
        let is_even = (self.position - first).is_multiple_of(2);
        let operand = self.member()?;
        if is_even {
            return Ok(operand);
        }
        self.tree(start, operand.height, Node::Unary { operator, operand: operand.expr })
    }

    fn is_negative_number(&self) -> bool {
        let next = self.tokens.get(self.position + 1).map(|token| token.kind);
        self.kind() == Kind::Symbol("-") && matches!(next, Some(Kind::Int | Kind::Double))
    }

    fn member(&mut self) -> Parsed {
        let start = self.start();
        let mut tree = self.primary()?;
        loop {
            tree = if self.eat(".") {
                self.selection(start, tree)?
            } else if self.eat("[") {
                self.index(start, tree)?
            } else {
                return Ok(tree);
            };
        }
    }

    fn selection(&mut self, start: u32, operand: Tree) -> Parsed {
        let is_optional = self.eat("?");
        let token = self.next();
        let Some(field) = self.field(token) else { return Err(self.unexpected("the name of a field")) };
        self.position += 1;
        if token.kind == Kind::Name && !is_optional && self.is("(") {
            return self.member_call(start, operand, field, token.at());
        }
        self.tree(start, operand.height, Node::Select { operand: operand.expr, field, is_optional })
    }

    fn index(&mut self, start: u32, operand: Tree) -> Parsed {
        let is_optional = self.eat("?");
        let index = self.expression()?;
        self.expect("]")?;
        let height = operand.height.max(index.height);
        self.tree(start, height, Node::Index { operand: operand.expr, index: index.expr, is_optional })
    }

    fn member_call(&mut self, start: u32, target: Tree, function: Box<str>, name_at: Range<u32>) -> Parsed {
        let (arguments, height) = self.arguments()?;
        let node = macros::member_call(*target.expr, function, name_at, arguments)?;
        self.tree(start, height.max(target.height), node)
    }

    fn primary(&mut self) -> Parsed {
        let token = self.next();
        match token.kind {
            Kind::Name | Kind::Symbol(".") => self.named(),
            Kind::Int | Kind::Uint | Kind::Double | Kind::String | Kind::Bytes => self.literal(),
            Kind::Symbol("-") if self.is_negative_number() => self.literal(),
            Kind::Symbol("true") => self.word(Literal::Bool(true)),
            Kind::Symbol("false") => self.word(Literal::Bool(false)),
            Kind::Symbol("null") => self.word(Literal::Null),
            Kind::Symbol("(") => self.parenthesised(),
            Kind::Symbol("[") => self.list(),
            Kind::Symbol("{") => self.map(),
            Kind::QuotedName => {
                Err(error(token.at(), "expected an expression; names in backticks are for fields, after a dot"))
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn parenthesised(&mut self) -> Parsed {
        self.position += 1;
        let tree = self.expression()?;
        self.expect(")")?;
        Ok(tree)
    }

    fn word(&mut self, literal: Literal) -> Parsed {
        let start = self.start();
        self.position += 1;
        self.tree(start, 0, Node::Literal(literal))
    }

    fn literal(&mut self) -> Parsed {
        let start = self.start();
        let is_negative = self.eat("-");
        let token = self.next();
        let literal = if is_negative {
            // Blanks and comments may stand between the two.
            literal(token.kind, &format!("-{}", self.text(token)), start..token.end)?
        } else {
            literal(token.kind, self.text(token), token.at())?
        };
        self.position += 1;
        self.tree(start, 0, Node::Literal(literal))
    }

    /// A variable, a call or a message, which all start with a name.
    fn named(&mut self) -> Parsed {
        let start = self.start();
        let dot = if self.eat(".") { "." } else { "" };
        let token = self.next();
        if token.kind != Kind::Name {
            return Err(self.unexpected("a name"));
        }
        if let Some(end) = self.message_name_end() {
            return self.message(start, dot, end);
        }
        let name = self.text(token);
        if RESERVED_WORDS.contains(&name) {
            return Err(error(token.at(), format!("`{name}` is a reserved word and cannot be a name here")));
        }
        self.position += 1;
        let name = [dot, name].concat().into_boxed_str();
        if self.is("(") {
            let (arguments, height) = self.arguments()?;
            let node = macros::call(name, start..token.end, arguments)?;
            return self.tree(start, height, node);
        }
        self.tree(start, 0, Node::Name(name))
    }

    /// The position of the `{` after `a.b.C`, if that is what follows.
    fn message_name_end(&self) -> Option<usize> {
        let is_step = |pair: &&[Token]| pair[0].kind == Kind::Symbol(".") && pair[1].kind == Kind::Name;
        let steps = self.tokens[self.position + 1..].chunks_exact(2).take_while(is_step).count();
        let end = self.position + 1 + 2 * steps;
        (self.tokens.get(end)?.kind == Kind::Symbol("{")).then_some(end)
    }

    fn message(&mut self, start: u32, dot: &str, name_end: usize) -> Parsed {
        let parts: String = self.tokens[self.position..name_end].iter().map(|token| self.text(*token)).collect();
        let name = [dot, &parts].concat().into_boxed_str();
        self.position = name_end + 1;
        let mut height = 0;
        let fields = self.items("}", |parser| {
            let is_optional = parser.eat("?");
            let token = parser.next();
            let Some(field) = parser.field(token) else { return Err(parser.unexpected("the name of a field or `}`")) };
            parser.position += 1;
            parser.expect(":")?;
            let value = parser.expression()?;
            height = height.max(value.height);
            Ok((field, *value.expr, is_optional))
        })?;
        self.tree(start, height, Node::Message { name, fields })
    }

    fn list(&mut self) -> Parsed {
        let start = self.start();
        self.position += 1;
        let mut height = 0;
        let items = self.items("]", |parser| {
            let is_optional = parser.eat("?");
            let item = parser.expression()?;
            height = height.max(item.height);
            Ok((*item.expr, is_optional))
        })?;
        self.tree(start, height, Node::List(items))
    }

    fn map(&mut self) -> Parsed {
        let start = self.start();
        self.position += 1;
        let mut height = 0;
        let entries = self.items("}", |parser| {
            let is_optional = parser.eat("?");
            let key = parser.expression()?;
            parser.expect(":")?;
            let value = parser.expression()?;
            height = height.max(key.height).max(value.height);
            Ok((*key.expr, *value.expr, is_optional))
        })?;
        self.tree(start, height, Node::Map(entries))
    }

    /// What stands between commas, up to the closing bracket. One more comma is allowed, even after nothing.
    fn items<T>(&mut self, close: &'static str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if self.is(",") {
            self.position += 1;
            self.expect(close)?;
            return Ok(items);
        }
        while !self.eat(close) {
            items.push(item(self)?);
            if !self.eat(",") && !self.is(close) {
                return Err(self.unexpected(&format!("`,` or `{close}`")));
            }
        }
        Ok(items)
    }

    fn arguments(&mut self) -> Parsed<(Vec<Expr>, u32)> {
        self.position += 1;
        let mut arguments = Vec::new();
        let mut height = 0;
        if self.eat(")") {
            return Ok((arguments, height));
        }
        loop {
            let argument = self.expression()?;
            height = height.max(argument.height);
            arguments.push(*argument.expr);
            if self.eat(")") {
                return Ok((arguments, height));
            }
            if !self.eat(",") {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
    }

    /// The name of a field: reserved words are allowed, and any in backticks.
    fn field(&self, token: Token) -> Option<Box<str>> {
        match token.kind {
            Kind::Name => Some(self.text(token).into()),
            Kind::QuotedName => Some(self.text(token).trim_matches('`').into()),
            _ => None,
        }
    }

    fn descend(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(too_deep(self.next().at())) } else { Ok(()) }
    }

    /// An expression that ends with the token before the next one, above others.
    fn tree(&self, start: u32, height_below: u32, node: Node) -> Parsed {
        let last = self.tokens[self.position - 1];
        let height = height_below + 1;
        if height > MAX_DEPTH {
            return Err(too_deep(last.at()));
        }
        Ok(Tree { expr: Box::new(Expr { at: start..last.end, node }), height })
    }

    fn next(&self) -> Token {
        self.tokens[self.position]
    }

    fn kind(&self) -> Kind {
        self.next().kind
    }

    fn start(&self) -> u32 {
        self.next().start
    }

    fn text(&self, token: Token) -> &'s str {
        &self.source[token.start as usize..token.end as usize]
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.kind(), Kind::Symbol(found) if found == symbol)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let is_next = self.is(symbol);
        self.position += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    /// The next token is not what was expected.
    fn unexpected(&mut self, expected: &str) -> Box<ParseError> {
        let token = self.next();
        let found = match (token.kind, self.lexical.take()) {
            (Kind::Invalid, Some(error)) => return Box::new(error),
            (Kind::End, _) => "the end".to_owned(),
            (Kind::String, _) => "a string".to_owned(),
            (Kind::Bytes, _) => "bytes".to_owned(),
            _ => format!("`{}`", self.text(token).trim_matches('`')),
        };
        error(token.at(), format!("expected {expected}, found {found}"))
    }
}

fn too_deep(at: Range<u32>) -> Box<ParseError> {
    error(at, format!("nested more than {MAX_DEPTH} deep"))
}

fn error(at: Range<u32>, message: impl Into<String>) -> Box<ParseError> {
    Box::new(ParseError::new(at, message))
}
