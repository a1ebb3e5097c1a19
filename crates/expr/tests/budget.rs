//! Expressions that would take unbounded time or memory are stopped by the budget, before they do.

mod costs;

use costs::Schema;
use wheelwright_expr::FailureKind;

/// A document with much to multiply: a text of 100 kB, and lists of 2,000 items.
fn document() -> String {
    let list = |item: &str| format!("[{}]", vec![item; 2_000].join(","));
    let text = "abcdefghi ".repeat(10_000);
    format!(
        r#"{{"text": "{text}", "list": {}, "texts": {}, "nested": [{}]}}"#,
        list("1"),
        list(r#""x""#),
        list("[[1]]")
    )
}

#[test]
fn nothing_grows_without_end() {
    let schema = Schema::new("(text:s,list:[i],texts:[s],nested:[[[[i]]]])");
    let document = document();
    for source in [
        "self.text.replace('', self.text) == ''",
        "self.list.map(x, self.text).join(self.text) == ''",
        "self.list.map(x, '%s%s%s'.format([dyn(self.text), self.list, self.text])).size() == 0",
        "self.list.map(x, self.text + self.text).size() == 0",
        "self.list.map(x, self.list + self.list).size() == 0",
        "self.list.map(x, self.text.split('')).size() == 0",
        "self.list.map(x, self.text.findAll('')).size() == 0",
        "self.list.map(x, self.text.lowerAscii()).size() == 0",
        "self.list.all(x, self.nested == self.nested)",
        "self.list.all(x, [self.text] == [self.text])",
        "self.list.all(x, self.list.filter(y, false).size() == 0 && self.list.filter(y, false).size() == 0)",
        "self.list.all(x, self.texts.isSorted() && self.texts.isSorted() && self.texts.isSorted())",
        "self.list.all(x, size(self.text) == 100000)",
        "self.list.all(x, self.text.charAt(99999) == ' ')",
        "self.list.all(x, self.list.transformMap(i, v, v).size() > 0)",
        "self.list.all(x, self.list.all(y, self.list.all(z, true)))",
    ] {
        let failure = schema.evaluate(&document, source, wheelwright_expr::EXPRESSION_LIMIT / 4).1;
        assert_eq!(failure.map(|failure| failure.kind()), Some(FailureKind::Budget), "{source}");
    }
}

/// What Kubernetes looks at for nothing, or for the price of one step.
#[test]
fn nothing_is_looked_at_for_nothing() {
    let schema = Schema::new("(text:s,list:[i],texts:[s],set:<s>,keyed:K[(k:s)],map:{s},some:(a:i))");
    let many = |count: usize, item: fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(",");
    let long = "a".repeat(100_000);
    let list = many(2_000, |number| number.to_string());
    let fields = many(5_000, |number| format!(r#""undeclared{number}": 1"#));
    let document = format!(
        r#"{{"text": "{long}", "list": [{list}], "texts": ["{long}"], "set": ["{long}"], "keyed": [{{"k": "{long}"}}],
            "map": {{"{long}": "", {}}}, "some": {{{fields}}}}}"#,
        many(20, |number| format!(r#""{number}": """#)),
    );
    let doubled = |first: &str| format!("{first}{}", ".map(a, [a, a])".repeat(60));
    for source in [
        // A value that is in another twice, over and over, is as large as it looks.
        format!("{}.indexOf([]) == -1", doubled("[[1]]")),
        format!("{}.lastIndexOf([]) == -1", doubled("[['']]")),
        format!("{0} == {0}", doubled("[[]]")),
        // Patterns that no cache can know.
        r"self.list.all(x, !'a'.matches('^[\\p{L}\\p{N}]{1,250}' + string(x)))".to_owned(),
        r"[self.text.substring(0, 100)].all(t, self.list.all(x, !t.matches('(a|b){1,900}' + string(x % 2))))"
            .to_owned(),
        "[semver('1.0.0-' + self.text)].all(v, self.list.all(x, v == v))".to_owned(),
        "[semver('1.0.0-' + self.text)].all(v, self.list.all(x, v.compareTo(v) == 0))".to_owned(),
        "[semver('1.0.0-' + self.text)].all(v, self.list.all(x, !v.isLessThan(v) && !v.isGreaterThan(v)))".to_owned(),
        "[url('/' + self.text)].all(u, self.list.all(x, u == u))".to_owned(),
        "self.list.all(x, self.set == oldSelf.set)".to_owned(),
        "self.list.all(x, (self.set + oldSelf.set).size() == 1)".to_owned(),
        "self.list.all(x, self.keyed == oldSelf.keyed)".to_owned(),
        "self.list.all(x, (self.keyed + oldSelf.keyed).size() == 1)".to_owned(),
        "self.list.all(x, sets.contains(self.texts, self.texts))".to_owned(),
        "self.list.all(x, self.texts.distinct().size() == 1)".to_owned(),
        "self.list.all(x, [self.text, self.text].sort().size() == 2)".to_owned(),
        "self.list.all(x, self.text in self.map)".to_owned(),
        "self.list.all(x, self.map[self.text] == '')".to_owned(),
        "self.list.all(x, self.map == oldSelf.map)".to_owned(),
        "self.list.all(x, {self.text: 1}.size() == 1)".to_owned(),
        "self.list.all(x, self.some == oldSelf.some)".to_owned(),
        "self.list.all(x, dyn(self.some).all(k, false))".to_owned(),
        format!("'%s'.format([{}]) == ''", doubled("[[1e308]]")),
        "[self.text.replace('a', '0')].all(t, self.list.all(x, int(t) == 0 && double(t) == 0.0))".to_owned(),
    ] {
        let failure = schema.evaluate(&document, &source, wheelwright_expr::EXPRESSION_LIMIT / 4).1;
        assert_eq!(failure.map(|failure| failure.kind()), Some(FailureKind::Budget), "{source}");
    }
}

/// Constants are made for nothing, so what fails must not be made again in every step.
#[test]
fn what_fails_once_is_not_tried_again() {
    let schema = Schema::new("(list:[i])");
    let list = (0..20_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let long = "x".repeat(50_000);
    let source = format!("self.list.all(x, {{1.5: '{long}'}}.size() == 0)");
    let failure = schema.evaluate(&format!(r#"{{"list": [{list}]}}"#), &source, 1_000_000).1.expect("a failure");
    assert_eq!(failure.kind(), FailureKind::Other);
    assert!(failure.message().len() < 200, "{failure}");
}

/// A failure says which text it is about, not all of it.
#[test]
fn failures_are_short() {
    let schema = Schema::new("(text:s,map:{s})");
    let document = format!(r#"{{"text": "é{}", "map": {{}}}}"#, "é".repeat(100_000));
    for source in [
        "int(self.text) == 1",
        "duration(self.text) == duration('1s')",
        "ip(self.text).isLoopback()",
        "cidr(self.text).prefixLength() == 1",
        "quantity(self.text).isInteger()",
        "semver(self.text).major() == 1",
        "url(self.text).getHost() == ''",
        "timestamp('2024-01-01T00:00:00Z').getHours(self.text) == 1",
        "self.map[self.text] == ''",
        "'a'.matches('(' + self.text.substring(0, 1000))",
    ] {
        let failure = schema.evaluate(&document, source, wheelwright_expr::EXPRESSION_LIMIT).1.expect(source);
        assert!(failure.message().contains('…'), "{failure}");
        assert!(failure.message().len() < 500, "{failure}");
    }
}

#[test]
fn a_rule_over_a_list_is_linear() {
    let schema = Schema::new("(a:[i],m:{i})");
    for source in [
        "self.a.all(x, x > 0)",
        "self.a.map(x, x + 1).size() > 0",
        "self.a.exists_one(x, x == 2)",
        "self.a.filter(x, x > 1).size() == 0",
        "self.a == self.a",
        "self.m.all(k, self.m[k] == 1)",
        "self.m.transformMap(k, v, v + 1).size() > 0",
    ] {
        let cost = |size: usize| {
            let fields: Vec<String> = (0..size).map(|at| format!(r#""k{at}": 1"#)).collect();
            let document = format!(r#"{{"a": [{}], "m": {{{}}}}}"#, vec!["1"; size].join(","), fields.join(","));
            schema.cost(&document, source)
        };
        let [small, middle, large] = [1_000, 2_000, 3_000].map(cost);
        assert_eq!(large - middle, middle - small, "{source}");
        assert!(middle > small, "{source}");
    }
}

#[test]
fn a_budget_is_enough_or_it_is_not() {
    let schema = Schema::new("(a:[i])");
    let document = r#"{"a": [1, 2, 3]}"#;
    let source = "self.a.all(x, x > 0) && self.a.map(x, x + 1).size() == 3";
    let cost = schema.cost(document, source);
    assert!(schema.evaluate(document, source, cost).1.is_none());
    for budget in 0..cost {
        let failure = schema.evaluate(document, source, budget).1;
        assert_eq!(failure.map(|failure| failure.kind()), Some(FailureKind::Budget), "{budget}");
    }
}

/// Names that are bound inside each other, over a list with an item that is not what its schema says.
#[test]
fn bindings_do_not_get_in_each_others_way() {
    let schema = Schema::new("(a:[i])");
    for source in [
        "cel.bind(x, self.a.transformList(i, v, v + i), cel.bind(w, x, self.a.all(y, w[0] == y)))",
        "cel.bind(x, self.a.transformList(i, v, v), cel.bind(w, x[0], cel.bind(u, w, u == w)))",
    ] {
        let failure = schema.evaluate(r#"{"a": ["no number"]}"#, source, 1_000).1;
        assert_eq!(failure.map(|failure| failure.kind()), Some(FailureKind::Other), "{source}");
    }
}

#[test]
fn bindings_do_not_use_up_the_stack() {
    let schema = Schema::new("(a:i)");
    let negations = "-(".repeat(100);
    let source = (0..40_usize).fold("x39 == self.a".to_owned(), |body, at| {
        let name = 39 - at;
        let before = name.checked_sub(1).map_or("self.a".to_owned(), |before| format!("x{before}"));
        format!("cel.bind(x{name}, {negations}{before}{}, {body})", ")".repeat(100))
    });
    assert!(schema.evaluate(r#"{"a": 5}"#, &source, 1_000_000).1.is_none());
}
