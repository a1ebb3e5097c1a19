//! Compiling takes time and stack in proportion to the source, whatever it says: these sources are so large that
//! anything worse would not end.

use std::thread;

use wheelwright_expr::{CompileError, Expression, MAX_CHARACTERS, MAX_DEPTH, Shapes, Type, Variable};

/// How many levels there can be, and something around them.
const LEVELS: usize = MAX_DEPTH as usize - 5;

fn compile(source: &str) -> Result<Expression, CompileError> {
    let variable = |name: &str, r#type| Variable { name: name.into(), r#type, shape: None };
    let variables = [variable("s", Type::String), variable("d", Type::Dyn)];
    Expression::compile(source, &Shapes::default(), &variables, &Type::Bool)
}

fn compiled(source: &str) -> Expression {
    compile(source).unwrap_or_else(|error| panic!("{}: {error}", source.chars().take(80).collect::<String>()))
}

/// The first thing that is wrong, and the text it is about.
fn mistake(source: &str) -> (String, &str) {
    let error = compile(source).expect_err("a mistake");
    let mistake = &error.mistakes()[0];
    (mistake.message.clone(), &source[mistake.at.start as usize..mistake.at.end as usize])
}

/// As often as the source may be long, with a little around it.
fn repeated(part: &str, between: &str) -> String {
    vec![part; (MAX_CHARACTERS - 200) / (part.len() + between.len())].join(between)
}

#[test]
fn nested_memberships_are_typed_once() {
    for count in [40, LEVELS / 2] {
        let source = format!("{}s{}", "dyn(".repeat(count), ") in ['a']".repeat(count));
        let expression = compiled(&source);
        let names: Vec<_> = expression.functions().map(|function| function.name).collect();
        assert_eq!(names.iter().filter(|name| **name == "in").count(), count);
        assert_eq!(names.len(), 2 * count);
    }
    let signatures = |source| compiled(source).functions().map(|function| function.signature).collect::<Vec<_>>();
    assert_eq!(signatures("s in ['a']"), ["A in list(A) -> bool"], "of a text among texts as well");
}

#[test]
fn long_chains_are_typed_in_one_go() {
    for (part, between) in [
        ("1u<2u", "&&"),
        ("d<d", "||"),
        ("d==d", "&&"),
        ("s in['a']", "&&"),
        ("dyn(s)in['a']", "&&"),
        ("size(s)>1", "&&"),
        ("d.f.g[0]==s.trim()", "&&"),
        ("[1].all(x,[x].exists(y,y<x))", "&&"),
        ("{d:d}==d", "&&"),
        ("[]==[]", "||"),
        ("{}=={}", "||"),
    ] {
        compiled(&repeated(part, between));
    }
}

#[test]
fn long_lists_and_maps_are_typed_in_one_go() {
    for item in ["[]", "1u", "{}", "[[]]", "d", "?optional.none()", "[{}]"] {
        compiled(&format!("[{}]==[]", repeated(item, ",")));
    }
    for entry in ["1:[]", "d:{}", "[]:[]", "?s:optional.none()"] {
        compiled(&format!("{{{}}}=={{}}", repeated(entry, ",")));
    }
}

#[test]
fn chains_that_make_high_trees_are_typed_in_one_go() {
    for (first, link) in
        [("1", "+1"), ("s", "+s"), ("[]", "+[]"), ("d", "-d"), ("d", ".trim()"), ("d", "[0]"), ("d", ".a")]
    {
        let chain = format!("{first}{}=={first}", link.repeat(LEVELS));
        compiled(&repeated(&chain, "&&"));
    }
}

#[test]
fn nested_values_are_typed_up_to_the_deepest() {
    let compile_all = || {
        for (before, after) in [("[", "]"), ("{1:", "}"), ("{s:[", "]}"), ("[?optional.of(", ")]")] {
            let levels = LEVELS / before.matches(['[', '{', '(']).count();
            let nested = format!("{}1{}", before.repeat(levels), after.repeat(levels));
            compiled(&format!("{nested}=={nested}"));
            let source = format!("{nested}=='a'");
            let (message, at) = mistake(&source);
            assert!(message.starts_with("`==` compares values of one type"), "{message}");
            assert_eq!(at, source);
        }
    };
    thread::Builder::new().stack_size(2 << 20).spawn(compile_all).unwrap().join().unwrap();
}

#[test]
fn nested_comprehensions_are_typed_once() {
    for (before, after) in [
        ("[1].all(x,", ")"),
        ("[1].map(x,[x]).exists(x,", ")"),
        ("[{1:1}].map(x,{1:x}).exists(x,", ")"),
        ("cel.bind(x,[d],", ")"),
    ] {
        let levels = LEVELS / before.matches('(').count();
        compiled(&format!("{}true{}", before.repeat(levels), after.repeat(levels)));
    }
}

#[test]
fn types_that_repeat_types_are_refused_once_they_are_too_large() {
    let too_large = "the type of this is too large; use `dyn(…)` for parts of it";
    for (first, link) in [
        ("[{1:1}]", ".map(a,{a:a})"),
        ("[{1:1}]", ".map(a,[{a:a}])"),
        ("[[]]", ".map(a,{a:[a]})"),
        ("[optional.of(1)]", ".map(a,{a:a})"),
        ("[{}]", ".map(a,{a:{a:a}})"),
    ] {
        for count in [20, 60] {
            let source = format!("{first}{}==[]", link.repeat(count));
            let (message, at) = mistake(&source);
            assert_eq!(message, too_large, "{source}");
            assert!(source.contains(at) && at.starts_with(['{', '[', 'a']), "{source}: {at}");
        }
        compiled(&format!("{first}{}==[]", link.repeat(4)));
        // What is not known until it is there has no type that grows.
        compiled(&format!("{first}{}==[]", link.replacen("{a:", "{dyn(a):", 1).replace(":a}", ":dyn(a)}").repeat(60)));
    }
}

#[test]
fn mistakes_are_described_until_there_are_enough() {
    let large = format!("[{{1:1}}]{}", ".map(a,{a:a})".repeat(8));
    for mistake in ["a==1", "a==a", "a+1==1", "b", "f(a)", "a.b==1"] {
        let error = compile(&format!("cel.bind(a,{large},{})", repeated(mistake, "&&"))).expect_err("mistakes");
        assert_eq!(error.mistakes().len(), 20, "{mistake}");
    }
}

/// The same with variables: a type is small when it is made, and grows when they are found.
#[test]
fn types_that_grow_later_are_refused_once_they_are_too_large() {
    let maps = 60;
    let binds: String = (0..maps).map(|map| format!("cel.bind(m{map},{{}},")).collect();
    let uses: Vec<_> = (1..maps).map(|map| format!("m{map}[m{0}]==m{0}", map - 1)).collect();
    let (message, _) = mistake(&format!("{binds}{}{}", uses.join("&&"), ")".repeat(maps)));
    assert!(message.starts_with("the type of this is too large"), "{message}");

    // Each list holds the next at the bottom of many: as high as all of them together.
    let (lists, levels) = (100, 200);
    let binds: String = (0..lists).map(|list| format!("cel.bind(l{list},[],")).collect();
    let uses: Vec<_> = (1..lists)
        .map(|list| format!("l{}=={}l{list}{}", list - 1, "[".repeat(levels - lists), "]".repeat(levels - lists)))
        .collect();
    let (message, _) = mistake(&format!("{binds}{}&&l0==l0{}", uses.join("&&"), ")".repeat(lists)));
    assert!(message.starts_with("the type of this is too large"), "{message}");
}

#[test]
fn functions_of_others_are_those_that_kubernetes_has_no_overload_for() {
    let foreign = |source: &str| {
        let expression = compiled(source);
        expression.foreign_functions().iter().map(|(name, at)| (*name, at.start as usize)).collect::<Vec<_>>()
    };
    assert_eq!(foreign("s.reverse() == s"), [("reverse", 2)]);
    assert_eq!(foreign("[s].reverse() == [s]"), []);
    assert_eq!(foreign("d.reverse() == d"), [], "it may be a list");
    assert_eq!(foreign("d.sign() == 1"), [("sign", 2)]);
    assert_eq!(foreign("dyn(s.reverse()) in ['a']"), [("reverse", 6)], "once");
    assert_eq!(foreign("s.reverse() in ['a']"), [("reverse", 2)], "once");
}
