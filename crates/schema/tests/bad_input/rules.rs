//! Rules that do not compile, and rules built to explode.

use wheelwright_document::{Arena, Decode, decode, decode_json_spanned};
use wheelwright_schema::{Program, Root, Stages, check::check_schema, lower_schema};

/// What a rule over a long list and a long text says of it: the findings of the schema, and the errors of the document.
fn outcome(rule: &str) -> (usize, Vec<String>) {
    let arena = Arena::new();
    let rule = rule.replace('\\', "\\\\").replace('"', "\\\"");
    let schema = format!(
        r#"{{"type": "object", "x-kubernetes-validations": [{{"rule": "{rule}"}}], "properties": {{
            "l": {{"type": "array", "items": {{"type": "integer"}}}}, "s": {{"type": "string"}}}}}}"#
    );
    let source = decode_json_spanned(schema.as_bytes(), &arena, &Decode::default()).expect("a schema");
    let schema = lower_schema(&source).item;
    let findings = check_schema(&schema, Root::Value).len();
    let program = Program::compile(&schema, Root::Value);
    let document = format!(r#"{{"l": [{}1], "s": "{}"}}"#, "1,".repeat(999), "x".repeat(1000));
    let document = decode(document.as_bytes(), &arena).expect("a document");
    let admitted = program.run(document, &arena, Stages::ADMIT).expect("no metadata");
    (findings, admitted.errors.iter().map(|error| error.message().to_owned()).collect())
}

#[test]
fn rules_that_do_not_compile_are_findings_and_fail_documents() {
    let deep = format!("{}true{}", "(".repeat(50_000), ")".repeat(50_000));
    for rule in ["self.", "1 +", "self.absent", "self.l == 1", "self.s", "self.s.matches(')')", "🙂", &deep] {
        let (findings, errors) = outcome(rule);
        let shown: String = rule.chars().take(20).collect();
        assert!(findings > 0, "{shown}");
        assert_eq!(errors.len(), 1, "{shown}: {errors:?}");
        assert!(errors[0].contains("cannot be evaluated"), "{shown}: {errors:?}");
    }
}

#[test]
fn rules_built_to_explode_end_at_their_budget() {
    let doubled = |value: &str| {
        let start = format!("cel.bind(v0, {value}, ");
        let binds: String = (1..40).map(|at| format!("cel.bind(v{at}, v{0} + v{0}, ", at - 1)).collect();
        format!("{start}{binds}v39.size() > 0{}", ")".repeat(40))
    };
    for rule in [
        "self.l.all(a, self.l.all(b, self.l.all(c, true)))",
        "self.s.replace('', self.s).replace('', self.s).replace('', self.s).size() > 0",
        &doubled("self.s"),
        &doubled("self.l"),
        &doubled("[self.l]"),
        "lists.range(1000000000).size() > 0",
        "lists.range(9223372036854775807).size() > 0",
        "self.l.map(a, lists.range(100000)).size() > 0",
        "self.l.map(a, self.l.map(b, self.s)).map(x, x.join('')).join('').size() > 0",
        "self.l.map(a, '%s%s'.format([dyn(self.l), self.s])).map(x, x + x + x + x).join('').size() > 0",
        "self.l.all(a, self.s.split('').size() > 0)",
        "self.l.all(a, self.l.all(b, !self.s.matches('(x+x+)+y')))",
        "self.l.all(a, self.l.all(b, self.l == self.l))",
        "self.l.all(a, self.l.all(b, self.l.sort().size() > 0))",
        "self.l.all(a, self.l.all(b, self.l.distinct().size() > 0))",
        "self.l.all(a, self.l.all(b, [self.l, self.l].flatten().size() > 0))",
        "self.l.all(a, self.l.all(b, self.l.transformMap(i, v, v).size() > 0))",
        "self.l.all(a, cel.bind(m, self.l.transformMap(i, v, v), m.all(k, m[k] == 1)))",
    ] {
        // Not all of them are found out by the estimate, which does not know that lists grow.
        let (_, errors) = outcome(rule);
        assert_eq!(errors.len(), 1, "{rule}: {errors:?}");
        assert!(errors[0].contains("none after it evaluated"), "{rule}: {errors:?}");
    }
}

/// What a schema whose only property is a list of integers says of as many zeros.
fn errors_of_zeros(item_rules: &[&str], zeros: usize) -> Vec<String> {
    let arena = Arena::new();
    let rules: Vec<String> = item_rules.iter().map(|rule| format!(r#"{{"rule": "{rule}"}}"#)).collect();
    let schema = format!(
        r#"{{"type": "object", "properties": {{"l": {{"type": "array", "items": {{
            "type": "integer", "x-kubernetes-validations": [{}]}}}}}}}}"#,
        rules.join(",")
    );
    let source = decode_json_spanned(schema.as_bytes(), &arena, &Decode::default()).expect("a schema");
    let program = Program::compile(&lower_schema(&source).item, Root::Value);
    let document = format!(r#"{{"l": [{}0]}}"#, "0,".repeat(zeros - 1));
    let document = decode(document.as_bytes(), &arena).expect("a document");
    let admitted = program.run(document, &arena, Stages::ADMIT).expect("no metadata");
    admitted.errors.iter().map(ToString::to_string).collect()
}

#[test]
fn many_rules_for_many_items_end_with_one_error_when_the_budget_is_spent() {
    // Each costs more than a hundred, so that the budget is spent after less than half of the items.
    let rules = vec!["lists.range(100).all(x, x >= self)"; 10];
    assert_eq!(errors_of_zeros(&rules, 1_000), Vec::<String>::new());
    let errors = errors_of_zeros(&rules, 20_000);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains("none after it evaluated"), "{errors:?}");
}

#[test]
fn what_was_found_before_the_budget_was_spent_is_kept() {
    let rules = ["self != 0", "lists.range(2000).all(x, x >= self)"];
    let errors = errors_of_zeros(&rules, 100_000);
    let (last, before) = errors.split_last().expect("they fail");
    assert!(!before.is_empty() && before.iter().all(|error| error.contains("self != 0")), "{before:?}");
    assert!(last.contains("none after it evaluated"), "{last}");
}

#[test]
fn thousands_of_rules_are_each_checked_once() {
    for count in [1_000, 4_000] {
        let arena = Arena::new();
        let rules = vec![r#"{"rule": "self.absent"}"#; count].join(",");
        let schema = format!(r#"{{"type": "object", "x-kubernetes-validations": [{rules}]}}"#);
        let source = decode_json_spanned(schema.as_bytes(), &arena, &Decode::default()).expect("a schema");
        assert_eq!(check_schema(&lower_schema(&source).item, Root::Value).len(), count);
    }
}
