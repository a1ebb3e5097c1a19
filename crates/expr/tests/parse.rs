//! What every production of the grammar becomes.

use wheelwright_expr::{
    ast::{Comprehension, Expr, Literal, Node, Unary},
    parse,
};

#[test]
fn names_selections_and_calls() {
    check(&[
        ("a", "a"),
        (".a", ".a"),
        (" . a // it\n", ".a"),
        ("_a1", "_a1"),
        ("inside", "inside"),
        ("trueish", "trueish"),
        ("a.b.c", "(. (. a b) c)"),
        (".a.b", "(. .a b)"),
        ("a . b", "(. a b)"),
        ("a.for.while", "(. (. a for) while)"),
        ("a.`b-c`", "(. a b-c)"),
        ("a.`in`", "(. a in)"),
        ("a.`b c/d.e_1`", "(. a b c/d.e_1)"),
        ("a.?b", "(.? a b)"),
        ("a.?`b-c`.d", "(. (.? a b-c) d)"),
        ("a[0]", "([] a 0)"),
        ("a[?0]", "([?] a 0)"),
        ("a[b ? c : d]", "([] a (? b c d))"),
        ("a['b'][1].c", "(. ([] ([] a \"b\") 1) c)"),
        ("f()", "(f())"),
        (".f(a)", "(.f() a)"),
        ("f(a, b + 1)", "(f() a (+ b 1))"),
        ("a.f()", "(a .f())"),
        ("a.b.f(c).g(d)", "(((. a b) .f() c) .g() d)"),
        ("a.for()", "(a .for())"),
        ("(a)", "a"),
        ("((a)).b", "(. a b)"),
        ("'a'.size()", "(\"a\" .size())"),
        ("[1].b", "(. (list 1) b)"),
        ("1.b", "(. 1 b)"),
        ("1.e5", "(. 1 e5)"),
        ("-1.f()", "(-1 .f())"),
        ("-a.f()", "(- (a .f()))"),
    ]);
}

#[test]
fn operators_by_precedence() {
    check(&[
        ("a || b", "(|| a b)"),
        ("a || b || c", "(|| a b c)"),
        ("a && b && c", "(&& a b c)"),
        ("a || b && c || d", "(|| a (&& b c) d)"),
        ("a && b || c && d", "(|| (&& a b) (&& c d))"),
        ("(a && b) && c", "(&& (&& a b) c)"),
        ("a && (b && c)", "(&& a (&& b c))"),
        ("(a || b) && c", "(&& (|| a b) c)"),
        ("a == b && c != d", "(&& (== a b) (!= c d))"),
        ("a < b <= c", "(<= (< a b) c)"),
        ("a > b >= c", "(>= (> a b) c)"),
        ("a in b == c", "(== (in a b) c)"),
        ("a in [1]", "(in a (list 1))"),
        ("a + b - c", "(- (+ a b) c)"),
        ("a - (b + c)", "(- a (+ b c))"),
        ("a * b / c % d", "(% (/ (* a b) c) d)"),
        ("a + b * c < d - e", "(< (+ a (* b c)) (- d e))"),
        ("a * b + c", "(+ (* a b) c)"),
        ("a == b + c", "(== a (+ b c))"),
        ("a ? b : c", "(? a b c)"),
        ("a ? b : c ? d : e", "(? a b (? c d e))"),
        ("(a ? b : c) ? d : e", "(? (? a b c) d e)"),
        ("a ? (b ? c : d) : e", "(? a (? b c d) e)"),
        ("a || b ? c && d : e || f", "(? (|| a b) (&& c d) (|| e f))"),
        ("a?.5:.25", "(? a 0.5 0.25)"),
        ("!a", "(! a)"),
        ("!!a", "a"),
        ("!!!a", "(! a)"),
        ("! ! a", "a"),
        ("!a.b", "(! (. a b))"),
        ("!a == b", "(== (! a) b)"),
        ("!-1", "(! -1)"),
        ("!(-a)", "(! (- a))"),
        ("-a", "(- a)"),
        ("--a", "a"),
        ("---a", "(- a)"),
        ("--1", "1"),
        ("---1", "(- 1)"),
        ("-(1)", "(- 1)"),
        ("-(-1)", "(- -1)"),
        ("1-1", "(- 1 1)"),
        ("1 - -1", "(- 1 -1)"),
        ("1--1", "(- 1 -1)"),
        ("1 - - a", "(- 1 (- a))"),
        ("-a * -b", "(* (- a) (- b))"),
    ]);
}

#[test]
fn numbers() {
    check(&[
        ("0", "0"),
        ("007", "7"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("- // minus\n1", "-1"),
        ("0x1F", "31"),
        ("0xe", "14"),
        ("-0x8000000000000000", "-9223372036854775808"),
        ("0x7fffffffffffffff", "9223372036854775807"),
        ("0u", "0u"),
        ("18446744073709551615u", "18446744073709551615u"),
        ("0xFFu", "255u"),
        ("1U", "1u"),
        ("1.5", "1.5"),
        ("-1.5", "-1.5"),
        ("-0.0", "-0.0"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("1e3", "1000.0"),
        ("1E+3", "1000.0"),
        ("12.5e-1", "1.25"),
        (".5e1", "5.0"),
        ("1e-400", "0.0"),
        ("true", "true"),
        ("false", "false"),
        ("null", "null"),
    ]);
}

#[test]
fn strings_and_bytes() {
    check(&[
        ("''", r#""""#),
        (r#""""#, r#""""#),
        ("''''''", r#""""#),
        (r#""""""""#, r#""""#),
        ("'a\"b'", r#""a\"b""#),
        (r#""a'b""#, r#""a'b""#),
        ("'''a'b''c'''", r#""a'b''c""#),
        ("'''a\nb'''", r#""a\nb""#),
        ("'''a\r\nb\rc\n'''", r#""a\nb\nc\n""#),
        ("r'''\r\n'''", r#""\n""#),
        ("b'''\r\n'''", "b[10]"),
        (r"'''\r\n'''", r#""\r\n""#),
        (r"'\a\b\f\n\r\t\v'", r#""\u{7}\u{8}\u{c}\n\r\t\u{b}""#),
        (r#"'\\ \? \" \' \`'"#, r#""\\ ? \" ' `""#),
        (r"'\x41\X7a\xff'", r#""Azÿ""#),
        (r"'\u00e9\U0001F600'", r#""é😀""#),
        (r"'\101\000\377'", r#""A\0ÿ""#),
        (r"'\1012'", r#""A2""#),
        (r"r'\n'", r#""\\n""#),
        (r#"R"\""#, r#""\\""#),
        (r"r'''\'''", r#""\\""#),
        ("'é😀'", r#""é😀""#),
        ("b'abc'", "b[97, 98, 99]"),
        ("B\"é\"", "b[195, 169]"),
        (r"b'\xff\377\n'", "b[255, 255, 10]"),
        (r"br'\x'", "b[92, 120]"),
        (r#"bR"""\""""#, "b[92]"),
        ("'a // b'", r#""a // b""#),
    ]);
}

#[test]
fn lists_maps_and_messages() {
    check(&[
        ("[]", "(list)"),
        ("[,]", "(list)"),
        ("[a]", "(list a)"),
        ("[a, b,]", "(list a b)"),
        ("[?a, b, ?c.d]", "(list ?a b ?(. c d))"),
        ("[[1], [2]]", "(list (list 1) (list 2))"),
        ("{}", "(map)"),
        ("{,}", "(map)"),
        ("{a: b}", "(map a:b)"),
        ("{'a': 1, ?b: c,}", "(map \"a\":1 ?b:c)"),
        ("{a ? b : c : d}", "(map (? a b c):d)"),
        ("{a: b ? c : d}", "(map a:(? b c d))"),
        ("A{}", "(message A)"),
        ("A{,}", "(message A)"),
        ("a.b.C{d: 1}", "(message a.b.C d:1)"),
        (".a.C{d: 1, ?e: f,}", "(message .a.C d:1 ?e:f)"),
        ("a . b { c : d }", "(message a.b c:d)"),
        ("A{`b-c`: 1, for: 2}", "(message A b-c:1 for:2)"),
        ("package.A{}", "(message package.A)"),
        ("A{}.b", "(. (message A) b)"),
        ("A{a: B{}}", "(message A a:(message B))"),
    ]);
}

#[test]
fn macros() {
    check(&[
        ("has(a.b)", "(has a b)"),
        ("has(a.b.c)", "(has (. a b) c)"),
        ("has((a.b))", "(has a b)"),
        ("has(a.`b-c`)", "(has a b-c)"),
        ("has(a[0].b)", "(has ([] a 0) b)"),
        ("has(has(a.b))", "(has a b)"),
        ("a.all(x, x > 0)", "(All a x if:(> x 0))"),
        ("a.all((x), x)", "(All a x if:x)"),
        ("a.all(i, x, x > i)", "(All a i x if:(> x i))"),
        ("a.exists(x, x)", "(Exists a x if:x)"),
        ("a.exists(i, x, x)", "(Exists a i x if:x)"),
        ("a.exists_one(x, x)", "(ExistsOne a x if:x)"),
        ("a.existsOne(x, x)", "(ExistsOne a x if:x)"),
        ("a.exists_one(i, x, x)", "(ExistsOne a i x if:x)"),
        ("a.existsOne(i, x, x)", "(ExistsOne a i x if:x)"),
        ("a.filter(x, x)", "(Filter a x if:x)"),
        ("a.map(x, x + 1)", "(Map a x to:(+ x 1))"),
        ("a.map(x, x > 0, x + 1)", "(Map a x if:(> x 0) to:(+ x 1))"),
        ("a.transformList(i, x, x)", "(TransformList a i x to:x)"),
        ("a.transformList(i, x, i, x)", "(TransformList a i x if:i to:x)"),
        ("a.transformMap(k, v, v)", "(TransformMap a k v to:v)"),
        ("a.transformMap(k, v, k, v)", "(TransformMap a k v if:k to:v)"),
        ("a.transformMapEntry(k, v, {v: k})", "(TransformMapEntry a k v to:(map v:k))"),
        ("a.transformMapEntry(k, v, k, {v: k})", "(TransformMapEntry a k v if:k to:(map v:k))"),
        ("a.all(x, x.all(y, y))", "(All a x if:(All x y if:y))"),
        ("[1].map(x, x).filter(y, y)", "(Filter (Map (list 1) x to:x) y if:y)"),
        ("cel.bind(x, a, x + x)", "(bind x a (+ x x))"),
        ("a.optMap(x, x)", "(optMap a x x)"),
        ("a.?b.optFlatMap(x, x.?c)", "(optFlatMap (.? a b) x (.? x c))"),
    ]);
}

#[test]
fn calls_that_only_look_like_macros() {
    check(&[
        ("has(a, b)", "(has() a b)"),
        ("has()", "(has())"),
        (".has(a)", "(.has() a)"),
        ("a.has(b.c)", "(a .has() (. b c))"),
        ("all(a, x)", "(all() a x)"),
        ("map(a, x)", "(map() a x)"),
        ("a.all(x)", "(a .all() x)"),
        ("a.all(x, x, x, x)", "(a .all() x x x x)"),
        ("a.filter(i, x, x)", "(a .filter() i x x)"),
        ("a.map(x)", "(a .map() x)"),
        ("a.transformList(x, x)", "(a .transformList() x x)"),
        ("bind(x, a, x)", "(bind() x a x)"),
        ("a.bind(x, a, x)", "(a .bind() x a x)"),
        ("cel.bind(x, a)", "(cel .bind() x a)"),
        ("a.cel.bind(x, a, x)", "((. a cel) .bind() x a x)"),
        ("optMap(x, x)", "(optMap() x x)"),
        ("a.optMap(x)", "(a .optMap() x)"),
        ("a.optMap(x, x, x)", "(a .optMap() x x x)"),
    ]);
}

#[test]
fn blanks_and_comments_are_skipped() {
    check(&[
        ("\t\r\n\x0ca\t+\nb ", "(+ a b)"),
        ("// first\na // second\r\n+ b // third", "(+ a b)"),
        ("a //", "a"),
        ("a // + b", "a"),
        ("a /// b\n/ c", "(/ a c)"),
    ]);
}

#[test]
fn places_are_those_of_the_source() {
    let source = "(a) +\n  b.c[ 1 ].all(x, -1 < x)";
    let mut places = Vec::new();
    collect_places(&parse(source).unwrap(), source, &mut places);
    assert_eq!(
        places,
        [
            "(a) +\n  b.c[ 1 ].all(x, -1 < x)",
            "a",
            "b.c[ 1 ].all(x, -1 < x)",
            "b.c[ 1 ]",
            "b.c",
            "b",
            "1",
            "-1 < x",
            "-1",
            "x"
        ]
    );
    let source = "a ? !(b) : .f (c, {'d' : e})";
    let mut places = Vec::new();
    collect_places(&parse(source).unwrap(), source, &mut places);
    assert_eq!(places, [source, "a", "!(b)", "b", ".f (c, {'d' : e})", ".f", "c", "{'d' : e}", "'d'", "e"]);
}

fn collect_places<'s>(expr: &Expr, source: &'s str, places: &mut Vec<&'s str>) {
    let text = |at: &std::ops::Range<u32>| &source[at.start as usize..at.end as usize];
    places.push(text(&expr.at));
    let below: Vec<&Expr> = match &expr.node {
        Node::Select { operand, .. } | Node::Unary { operand, .. } => vec![operand],
        Node::Index { operand, index, .. } => vec![operand, index],
        Node::Binary { left, right, .. } => vec![left, right],
        Node::Conditional { condition, then, otherwise } => vec![condition, then, otherwise],
        Node::Call { name_at, arguments, .. } => {
            places.push(text(name_at));
            arguments.iter().collect()
        }
        Node::Map(entries) => entries.iter().flat_map(|(key, value, _)| [key, value]).collect(),
        Node::Comprehension(comprehension) => {
            [&comprehension.range].into_iter().chain(&comprehension.condition).collect()
        }
        _ => vec![],
    };
    below.into_iter().for_each(|expr| collect_places(expr, source, places));
}

fn check(table: &[(&str, &str)]) {
    for (source, expected) in table {
        let expr = parse(source).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(compact(&expr), *expected, "{source}");
    }
}

/// The tree as nested lists.
fn compact(expr: &Expr) -> String {
    let all = |exprs: &[Expr]| exprs.iter().map(|expr| format!(" {}", compact(expr))).collect::<String>();
    let mark = |is_optional: bool| if is_optional { "?" } else { "" };
    match &expr.node {
        Node::Literal(literal) => match literal {
            Literal::Null => "null".to_owned(),
            Literal::Bool(value) => value.to_string(),
            Literal::Int(value) => value.to_string(),
            Literal::Uint(value) => format!("{value}u"),
            Literal::Double(value) => format!("{value:?}"),
            Literal::String(value) => format!("{value:?}"),
            Literal::Bytes(value) => format!("b{value:?}"),
        },
        Node::Name(name) => name.to_string(),
        Node::Select { operand, field, is_optional } => {
            format!("(.{} {} {field})", mark(*is_optional), compact(operand))
        }
        Node::Has { operand, field } => format!("(has {} {field})", compact(operand)),
        Node::Index { operand, index, is_optional } => {
            format!("([{}] {} {})", mark(*is_optional), compact(operand), compact(index))
        }
        Node::Unary { operator: Unary::Not, operand } => format!("(! {})", compact(operand)),
        Node::Unary { operator: Unary::Negate, operand } => format!("(- {})", compact(operand)),
        Node::Binary { operator, left, right } => format!("({operator} {} {})", compact(left), compact(right)),
        Node::And(operands) => format!("(&&{})", all(operands)),
        Node::Or(operands) => format!("(||{})", all(operands)),
        Node::Conditional { condition, then, otherwise } => {
            format!("(? {} {} {})", compact(condition), compact(then), compact(otherwise))
        }
        Node::Call { function, target: None, arguments, .. } => format!("({function}(){})", all(arguments)),
        Node::Call { function, target: Some(target), arguments, .. } => {
            format!("({} .{function}(){})", compact(target), all(arguments))
        }
        Node::List(items) => {
            let items = items.iter().map(|(item, is_optional)| format!(" {}{}", mark(*is_optional), compact(item)));
            format!("(list{})", items.collect::<String>())
        }
        Node::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value, is_optional)| format!(" {}{}:{}", mark(*is_optional), compact(key), compact(value)));
            format!("(map{})", entries.collect::<String>())
        }
        Node::Message { name, fields } => {
            let fields = fields
                .iter()
                .map(|(field, value, is_optional)| format!(" {}{field}:{}", mark(*is_optional), compact(value)));
            format!("(message {name}{})", fields.collect::<String>())
        }
        Node::Comprehension(comprehension) => {
            let Comprehension { kind, range, variable, second, condition, transform } = &**comprehension;
            let second = second.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
            let condition = condition.as_ref().map(|expr| format!(" if:{}", compact(expr))).unwrap_or_default();
            let transform = transform.as_ref().map(|expr| format!(" to:{}", compact(expr))).unwrap_or_default();
            format!("({kind:?} {} {variable}{second}{condition}{transform})", compact(range))
        }
        Node::Bind { name, value, body } => format!("(bind {name} {} {})", compact(value), compact(body)),
        Node::OptionalMap { operand, name, body, is_flat } => {
            let function = if *is_flat { "optFlatMap" } else { "optMap" };
            format!("({function} {} {name} {})", compact(operand), compact(body))
        }
    }
}
