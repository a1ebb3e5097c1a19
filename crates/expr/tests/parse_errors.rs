//! What is refused, where and why; and that deep and long sources do no harm.

use std::thread;

use wheelwright_expr::{MAX_CHARACTERS, MAX_DEPTH, ast::Node, parse};

/// Sources with the refused bytes between `«` and `»`, and the message.
const REFUSED: &[(&str, &str)] = &[
    // Something is missing or too much.
    ("«»", "expected an expression, found the end"),
    (" // nothing\n«»", "expected an expression, found the end"),
    ("a «b»", "expected an operator or the end, found `b`"),
    ("a +«»", "expected an expression, found the end"),
    ("a +\n  b +\n  «*» c", "expected an expression, found `*`"),
    ("a «'é'»", "expected an operator or the end, found a string"),
    ("a «b'é'»", "expected an operator or the end, found bytes"),
    ("'é' + «)»", "expected an expression, found `)`"),
    ("(a«»", "expected `)`, found the end"),
    ("(a«]»", "expected `)`, found `]`"),
    ("a«)»", "expected an operator or the end, found `)`"),
    ("(«)»", "expected an expression, found `)`"),
    ("a ? b«»", "expected `:`, found the end"),
    ("a ? b «?» c : d : e", "expected `:`, found `?`"),
    ("a ? b : «»", "expected an expression, found the end"),
    ("!«»", "expected an expression, found the end"),
    ("!«-»a", "expected an expression, found `-`"),
    ("-«!»a", "expected an expression, found `!`"),
    ("a «!» b", "expected an operator or the end, found `!`"),
    ("«in» a", "expected an expression, found `in`"),
    // Selections, calls and names.
    ("a.«»", "expected the name of a field, found the end"),
    ("a.«in»", "expected the name of a field, found `in`"),
    ("a.«true»", "expected the name of a field, found `true`"),
    ("a.«(»b)", "expected the name of a field, found `(`"),
    ("a«.5»", "expected an operator or the end, found `.5`"),
    ("a.?b«(»c)", "expected an operator or the end, found `(`"),
    ("a.`b`«(»c)", "expected an operator or the end, found `(`"),
    ("a[«]»", "expected an expression, found `]`"),
    ("a[0«»", "expected `]`, found the end"),
    ("f(a«»", "expected `,` or `)`, found the end"),
    ("f(a «b»)", "expected `,` or `)`, found `b`"),
    ("f(a, «)»", "expected an expression, found `)`"),
    ("f(«?»a)", "expected an expression, found `?`"),
    (".«»", "expected a name, found the end"),
    (".«'a'»", "expected a name, found a string"),
    ("«for» + 1", "`for` is a reserved word and cannot be a name here"),
    ("«as»", "`as` is a reserved word and cannot be a name here"),
    (".«namespace».a", "`namespace` is a reserved word and cannot be a name here"),
    ("«package»()", "`package` is a reserved word and cannot be a name here"),
    ("«`a`»", "expected an expression; names in backticks are for fields, after a dot"),
    ("a.«``»", "expected a name between the backticks"),
    ("a.`b«@»`", "expected letters, digits, spaces, `_`, `.`, `-` or `/` between backticks, found `@`"),
    ("a.«`b»", "expected a closing backtick, found the end"),
    // Lists, maps and messages.
    ("[a«»", "expected `,` or `]`, found the end"),
    ("[a, «,»]", "expected an expression, found `,`"),
    ("[,«a»]", "expected `]`, found `a`"),
    ("[a«}»", "expected `,` or `]`, found `}`"),
    ("{a«}»", "expected `:`, found `}`"),
    ("{a: «}»", "expected an expression, found `}`"),
    ("{a: b«:» c}", "expected `,` or `}`, found `:`"),
    ("A{«'a'»: 1}", "expected the name of a field or `}`, found a string"),
    ("A{«in»: 1}", "expected the name of a field or `}`, found `in`"),
    ("A{a «1»}", "expected `:`, found `1`"),
    ("(a.B)«{»}", "expected an operator or the end, found `{`"),
    ("a.?B«{»}", "expected an operator or the end, found `{`"),
    ("a.`B`«{»}", "expected an operator or the end, found `{`"),
    ("a()«{»}", "expected an operator or the end, found `{`"),
    // Numbers.
    ("«9223372036854775808»", "`9223372036854775808` is out of the range of an int"),
    ("«-9223372036854775809»", "`-9223372036854775809` is out of the range of an int"),
    ("-(«9223372036854775808»)", "`9223372036854775808` is out of the range of an int"),
    ("a + «0x8000000000000000»", "`0x8000000000000000` is out of the range of an int"),
    ("«18446744073709551616u»", "`18446744073709551616u` is out of the range of a uint"),
    ("«1e400»", "`1e400` is out of the range of a double"),
    ("1.«»", "expected the name of a field, found the end"),
    ("1«a»", "expected an operator or the end, found `a`"),
    ("0«x»", "expected an operator or the end, found `x`"),
    ("0«X1»", "expected an operator or the end, found `X1`"),
    ("1«e»", "expected an operator or the end, found `e`"),
    ("0x1«.5»", "expected an operator or the end, found `.5`"),
    ("1.5«u»", "expected an operator or the end, found `u`"),
    ("1u«u»", "expected an operator or the end, found `u`"),
    // Texts.
    ("«'é»", "expected a closing `'`, found the end"),
    ("a + «\"b»\n\"", "expected a closing `\"`, found the end of the line"),
    ("«r'b»\r'", "expected a closing `'`, found the end of the line"),
    ("«'b\\»\n'", "expected a closing `'`, found the end of the line"),
    ("«'''a'»", "expected a closing `'''`, found the end"),
    ("«\"a\\\"»", "expected a closing `\"`, found the end"),
    ("«'\\»", "expected a closing `'`, found the end"),
    ("rb«'a'»", "expected an operator or the end, found a string"),
    ("'''a'''«'»", "expected a closing `'`, found the end"),
    ("'é«\\q»'", "`\\q` is no escape sequence; a backslash is `\\\\`"),
    ("'«\\é»'", "`\\é` is no escape sequence; a backslash is `\\\\`"),
    ("'«\\8»'", "`\\8` is no escape sequence; a backslash is `\\\\`"),
    ("'''a\r\n«\\\n»'''", "`\\\\n` is no escape sequence; a backslash is `\\\\`"),
    ("'«\\4»00'", "`\\4` is no escape sequence; a backslash is `\\\\`"),
    ("'«\\07»'", "expected 3 octal digits after `\\`, found 2"),
    ("'«\\07»8'", "expected 3 octal digits after `\\`, found 2"),
    ("'«\\x4»'", "expected 2 hexadecimal digits after `\\x`, found 1"),
    ("'«\\u00e»é'", "expected 4 hexadecimal digits after `\\u`, found 3"),
    ("'«\\U0001F60»'", "expected 8 hexadecimal digits after `\\U`, found 7"),
    ("'«\\ud800»'", "`\\ud800` is no character"),
    ("'«\\U00110000»'", "`\\U00110000` is no character"),
    ("b'«\\u»0041'", "`\\u` is for texts; bytes have `\\x` and two digits"),
    ("b'«\\U»00000041'", "`\\U` is for texts; bytes have `\\x` and two digits"),
    // What belongs to no token; the first mistake is the one that is told.
    ("a «@» b", "expected an expression or an operator, found `@`"),
    ("a «=» b", "expected an expression or an operator, found `=`; equality is `==`"),
    ("a «&» b", "expected an expression or an operator, found `&`; \"and\" is `&&`"),
    ("a «|» b", "expected an expression or an operator, found `|`; \"or\" is `||`"),
    ("«é»", "expected an expression or an operator, found `é`"),
    ("a«\u{a0}»", "expected an expression or an operator, found `\\u{a0}`"),
    ("a «b» @", "expected an operator or the end, found `b`"),
    ("f(«@»", "expected an expression or an operator, found `@`"),
    // Macros.
    ("has(«a»)", "argument of has() must be a field selection, as in `has(a.b)`"),
    ("has(«a[0]»)", "argument of has() must be a field selection, as in `has(a.b)`"),
    ("has(«a.?b»)", "argument of has() must be a field selection, as in `has(a.b)`"),
    ("has(«a.b()»)", "argument of has() must be a field selection, as in `has(a.b)`"),
    ("a.all(«x.y», x)", "argument must be a simple name"),
    ("a.exists(«1», x)", "argument must be a simple name"),
    ("a.exists_one(«.x», x)", "argument must be a simple name"),
    ("a.map(«'x'», x)", "argument must be a simple name"),
    ("a.filter(«x + y», x)", "argument must be a simple name"),
    ("a.all(x,\n«y()», x)", "argument must be a simple name"),
    ("a.transformMap(«[]», x, x)", "argument must be a simple name"),
    ("cel.bind(«a.b», 1, a)", "argument must be a simple name"),
    ("a.optMap(«x.y», x)", "argument must be a simple name"),
    ("a.optFlatMap(«x()», x)", "argument must be a simple name"),
    ("a.all(«__result__», x)", "`__result__` is reserved for the result of the macro"),
    ("a.transformList(x, «__result__», x)", "`__result__` is reserved for the result of the macro"),
    ("a.all(x, «x», x)", "`x` is the name of both variables"),
];

#[test]
fn errors_name_the_place_and_what_was_expected() {
    for (marked, message) in REFUSED {
        let start = marked.find('«').unwrap() as u32;
        let end = marked.find('»').unwrap() as u32 - '«'.len_utf8() as u32;
        let error = parse(&marked.replace(['«', '»'], "")).expect_err(marked);
        assert_eq!((error.message(), error.at()), (*message, start..end), "{marked}");
    }
}

#[test]
fn an_error_says_where_it_is() {
    assert_eq!(parse("a +\n)").unwrap_err().to_string(), "expected an expression, found `)` at byte 4");
}

/// What can be nested: what comes before and after the inner expression.
const NESTED: &[(&str, &str)] = &[
    ("(", ")"),
    ("[", "]"),
    ("[?", "]"),
    ("{a:", "}"),
    ("{", ":a}"),
    ("A{a:", "}"),
    ("f(", ")"),
    ("a.f(", ")"),
    ("a[", "]"),
    ("a.all(x,", ")"),
    ("a.map(x,y,", ")"),
    ("cel.bind(x,a,", ")"),
    ("a.optMap(x,", ")"),
    ("a?b:", ""),
    ("!(", ")"),
    ("-(", ")"),
    ("a||b&&c<d+e*(", ")"),
    ("a?(", "):b"),
];

#[test]
fn deep_nesting_is_refused() {
    for (before, after) in NESTED {
        let count = 5_000;
        for source in [before.repeat(count), format!("{}a{}", before.repeat(count), after.repeat(count))] {
            let error = parse(&source).unwrap_err();
            assert_eq!(error.message(), "nested more than 250 deep", "{before}a{after}");
            assert!((error.at().start as usize) < (MAX_DEPTH as usize + 1) * before.len(), "{before}a{after}");
        }
    }
}

/// Half of what a test's thread has, and unoptimised at that.
#[test]
fn nesting_up_to_the_limit_needs_little_stack() {
    let parse_all = || {
        for (before, after) in NESTED {
            // A pair of brackets or an operator is a level each, and so is the expression within.
            let levels = before.matches(['(', '[', '{', '?', '|', '&', '<', '+', '*']).count().max(1);
            let count = (MAX_DEPTH as usize - 2) / levels;
            let source = format!("{}a{}", before.repeat(count), after.repeat(count));
            parse(&source).unwrap_or_else(|error| panic!("{before}a{after}: {error}"));
        }
    };
    thread::Builder::new().stack_size(1 << 20).spawn(parse_all).unwrap().join().unwrap();
}

#[test]
fn chains_that_make_high_trees_are_refused() {
    for (first, link) in [("a", "+a"), ("a", "*a"), ("a", "<a"), ("a", ".b"), ("a", ".?b"), ("a", "[0]"), ("a", ".f()")]
    {
        let chain = |count: usize| format!("{first}{}", link.repeat(count));
        assert!(parse(&chain(MAX_DEPTH as usize - 1)).is_ok(), "{link}");
        let error = parse(&chain(20_000)).unwrap_err();
        assert_eq!(error.message(), "nested more than 250 deep", "{link}");
        let at = error.at().start as usize;
        assert!((MAX_DEPTH as usize * link.len()).abs_diff(at) <= link.len(), "{link}: {at}");
    }
}

#[test]
fn what_makes_no_high_trees_may_be_long() {
    for operator in ["&&", "||"] {
        let source = vec!["a"; 30_000].join(operator);
        match parse(&source).unwrap().node {
            Node::And(operands) | Node::Or(operands) => assert_eq!(operands.len(), 30_000),
            node => panic!("{node:?}"),
        }
    }
    for source in ["!".repeat(90_000) + "a", "-".repeat(90_000) + "a"] {
        assert!(matches!(parse(&source).unwrap().node, Node::Name(_)));
    }
    assert!(
        matches!(parse(&format!("[{}]", "1,".repeat(40_000))).unwrap().node, Node::List(items) if items.len() == 40_000)
    );
    assert!(parse(&format!("a{} + b", " ".repeat(90_000))).is_ok());
    assert!(parse(&format!("'{}'", "\\n".repeat(40_000))).is_ok());
}

#[test]
fn long_sources_are_refused_by_their_characters() {
    let longest = format!("'{}'", "é".repeat(MAX_CHARACTERS - 2));
    assert!(parse(&longest).is_ok());
    let error = parse(&format!("{longest} ")).unwrap_err();
    assert_eq!((error.message(), error.at()), ("longer than 100000 characters", 199_998..199_999));
}
