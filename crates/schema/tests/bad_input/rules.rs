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
    ] {
        // Not all of them are found out by the estimate, which does not know that lists grow.
        let (_, errors) = outcome(rule);
        assert_eq!(errors.len(), 1, "{rule}: {errors:?}");
        assert!(errors[0].contains("none after it evaluated"), "{rule}: {errors:?}");
    }
}
