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
