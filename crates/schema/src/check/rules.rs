//! Rules about `x-kubernetes-validations`: that they can be typed, stand where they work, and cost no more than they may.

use std::collections::BTreeSet;

use wheelwright_document::Path;
use wheelwright_expr::{CompileError, ESTIMATED_RULE_LIMIT, ESTIMATED_SCHEMA_LIMIT, Expression, NOTABLE_RULE_COST};
use wheelwright_findings::{Rule, rules};

use crate::{
    ErrorType::{self, Forbidden, Invalid, NotSupported, Required},
    Problem, Root, Schema,
    lower::Named,
    model::{ListType, ValidationRule},
    problem::Problems,
    rules::{Compiler, OLD_SELF, multiplied, normalized},
};

/// Checks every rule of a schema, with Kubernetes' error types and paths.
pub fn check_rules(schema: &Schema, root: Root) -> Vec<Problem> {
    check(schema, root, &[], true)
}

/// Checks the rules of a schema in which other problems were found. Kubernetes reads no expressions at all unless the
/// schema is structural and its defaults are valid, which `reads_expressions` says.
pub(super) fn check(schema: &Schema, root: Root, found: &[Problem], reads_expressions: bool) -> Vec<Problem> {
    let mut problems = Problems::default();
    check_forms(schema, &Path::Root, &mut problems);
    let forms = problems.len();
    if let Some(compiler) = Compiler::new(schema, root == Root::Resource) {
        let mut checker = Checker { compiler, problems, total: 0, costs: Vec::new() };
        checker.node(schema, &Path::Root, Place { cardinality: Some(1), uncorrelatable: None });
        checker.check_total(schema);
        problems = checker.problems;
    }
    let mut problems = problems.into_list();
    let (forms, of_expressions) = problems.split_at_mut(forms);
    let others = found.iter().chain(&*forms).filter(|problem| problem.kind.is_some());
    let others: BTreeSet<&str> = others.map(|problem| problem.path.as_str()).collect();
    for problem in of_expressions {
        if !reads_expressions || is_wrong_at_or_below(node_of(problem), &others) {
            problem.kind = None;
        }
    }
    problems
}

/// The node that a problem of an expression is at.
fn node_of(problem: &Problem) -> &str {
    let path = problem.path.as_str();
    // What all rules cost together is a matter of the root.
    path.rfind("x-kubernetes-validations[").map_or("", |end| path[..end].trim_end_matches('.'))
}

/// Kubernetes leaves the expressions of a node alone if anything else is wrong with it or with what is in it. People
/// want to know all at once, so these are told all the same, as problems that only we find.
fn is_wrong_at_or_below(node: &str, wrong: &BTreeSet<&str>) -> bool {
    wrong.range(node..).next().is_some_and(|path| path.starts_with(node))
}

/// Checks what can be said of rules without reading their expressions, in junctors as well, whose rules are never read.
fn check_forms(schema: &Schema, path: &Path<'_>, problems: &mut Problems) {
    if problems.is_full() {
        return;
    }
    let properties = Path::Child(path, "properties");
    for property in &schema.properties {
        check_forms(&property.schema, &Path::Key(&properties, &property.name), problems);
    }
    let single = [
        ("additionalProperties", schema.additional_schema()),
        ("items", schema.items.as_deref()),
        ("not", schema.not.as_deref()),
    ];
    for (keyword, below) in single {
        below.into_iter().for_each(|below| check_forms(below, &Path::Child(path, keyword), problems));
    }
    for (keyword, branches) in [("allOf", &schema.all_of), ("oneOf", &schema.one_of), ("anyOf", &schema.any_of)] {
        let path = Path::Child(path, keyword);
        for (index, branch) in branches.iter().enumerate() {
            check_forms(branch, &Path::Index(&path, index), problems);
        }
    }
    let rules = Path::Child(path, "x-kubernetes-validations");
    for (index, rule) in schema.extensions.validations.iter().enumerate() {
        check_form(schema, rule, &Path::Index(&rules, index), problems);
    }
}

fn check_form(schema: &Schema, rule: &ValidationRule, path: &Path<'_>, problems: &mut Problems) {
    let has_break = |text: &str| text.trim().contains(['\n', '\r']);
    let (source, message) = (rule.rule.text.trim(), &rule.message.text);
    let mut report = |kind, part: &str, named: &Named, message: &str| {
        let span = if named.text.is_empty() { rule.span } else { named.span };
        problems.push(Problem::new(&rules::MALFORMED_RULE, kind, &Path::Child(path, part), span, message));
    };
    if source.is_empty() {
        report(Required, "rule", &rule.rule, "the rule is missing");
    } else if !message.is_empty() && message.trim().is_empty() {
        report(Invalid, "message", &rule.message, "the message is blank");
    } else if has_break(message) {
        report(Invalid, "message", &rule.message, "the message must be one line");
    } else if has_break(source) && message.is_empty() {
        report(Required, "message", &rule.message, "a rule of several lines needs a message");
    }
    let expression = &rule.message_expression;
    if !expression.text.is_empty() && expression.text.trim().is_empty() {
        report(Required, "messageExpression", expression, "the messageExpression is blank");
    }
    const REASONS: [&str; 4] =
        ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
    if !rule.reason.text.is_empty() && !REASONS.contains(&&*rule.reason.text) {
        let message = format!("{:?} is no reason; there are {}", rule.reason.text, REASONS.join(", "));
        report(NotSupported, "reason", &rule.reason, &message);
    }
    let field_path = &rule.field_path;
    if !field_path.text.is_empty() {
        if field_path.text.trim().is_empty() {
            report(Invalid, "fieldPath", field_path, "the fieldPath is blank");
        }
        if field_path.text.contains(['\n', '\r']) {
            report(Invalid, "fieldPath", field_path, "the fieldPath must be one line");
        }
        if let Err(why) = normalized(&field_path.text, schema) {
            report(Invalid, "fieldPath", field_path, &format!("the fieldPath leads nowhere: {why}"));
        }
    }
}
struct Checker<'s> {
    compiler: Compiler<'s>,
    problems: Problems,
    /// What all rules together may cost.
    total: u64,
    /// The costs of single rules, with what to report if their sum is too much.
    costs: Vec<(u64, Problem)>,
}

/// Where in a document the values of a node are.
#[derive(Clone, Copy)]
struct Place<'p> {
    /// How many of them there can be; none if nothing limits that but the size of a request.
    cardinality: Option<u64>,
    /// The outermost list above whose items have no old values.
    uncorrelatable: Option<&'p Path<'p>>,
}

impl Checker<'_> {
    fn node(&mut self, schema: &Schema, path: &Path<'_>, place: Place<'_>) {
        if self.problems.is_full() {
            return;
        }
        let below = Place { cardinality: multiplied(place.cardinality, schema), ..place };
        let properties = Path::Child(path, "properties");
        for property in &schema.properties {
            self.node(&property.schema, &Path::Key(&properties, &property.name), below);
        }
        if let Some(additional) = schema.additional_schema() {
            self.node(additional, &Path::Child(path, "additionalProperties"), below);
        }
        if let Some(items) = &schema.items {
            let is_keyed = schema.extensions.list_type == Some(ListType::Map);
            let uncorrelatable = below.uncorrelatable.or((!is_keyed).then_some(path));
            self.node(items, &Path::Child(path, "items"), Place { uncorrelatable, ..below });
        }
        let rules = Path::Child(path, "x-kubernetes-validations");
        for (index, rule) in schema.extensions.validations.iter().enumerate() {
            self.rule(schema, rule, &Path::Index(&rules, index), place);
        }
    }

    fn rule(&mut self, schema: &Schema, rule: &ValidationRule, path: &Path<'_>, place: Place<'_>) {
        if rule.rule.text.trim().is_empty() {
            return;
        }
        let Some(shape) = self.compiler.shape(schema) else {
            let message = "rules cannot see this value, because it, or something in it, has no type";
            let problem = Problem::ours(&rules::INVALID_RULE, path, rule.rule.span, message);
            self.problems.push(problem.mend("give it a type, or move the rule to a value that has one"));
            return;
        };
        let compiled = self.compiler.compile(rule, shape);
        let at_rule = Path::Child(path, "rule");
        let uses_old_self = match &compiled.rule {
            Ok(expression) => {
                let cost = expression.estimate(self.compiler.shapes(), &compiled.variables).max;
                let most = self.compiler.most(schema);
                self.cost(cost.saturating_mul(place.cardinality.unwrap_or(most)), &rule.rule, &at_rule);
                self.foreign(expression, &rule.rule, &at_rule);
                expression.uses(OLD_SELF)
            }
            Err(error) => {
                self.mistakes(error, &rule.rule, &at_rule);
                false
            }
        };
        if let (Ok(_), Some(message)) = (&compiled.rule, &compiled.message) {
            let at_message = Path::Child(path, "messageExpression");
            match message {
                Ok(expression) => {
                    let cost = expression.estimate(self.compiler.shapes(), &compiled.variables).max;
                    self.cost(cost, &rule.message_expression, &at_message);
                    self.foreign(expression, &rule.message_expression, &at_message);
                }
                Err(error) => self.mistakes(error, &rule.message_expression, &at_message),
            }
        }
        if let (true, Some(above)) = (uses_old_self, place.uncorrelatable) {
            let message =
                format!("oldSelf cannot be used here, since nothing tells which old value is meant within {above}");
            let mend = "make the list one of `x-kubernetes-list-type: map`, or move the rule to the list itself";
            self.push(&rules::MISPLACED_TRANSITION_RULE, Invalid, &rule.rule, &at_rule, message).mend =
                Some(mend.to_owned());
        } else if !uses_old_self && rule.optional_old_self.is_some() {
            let path = Path::Child(path, "optionalOldSelf");
            let message = "optionalOldSelf says nothing, because the rule does not use oldSelf";
            self.problems.push(Problem::new(&rules::MALFORMED_RULE, Invalid, &path, rule.span, message));
        }
    }

    fn mistakes(&mut self, error: &CompileError, source: &Named, path: &Path<'_>) {
        for mistake in error.mistakes() {
            let problem = self.push(&rules::INVALID_RULE, Invalid, source, path, mistake.message.clone());
            problem.part = Some((source.text.clone(), mistake.at.clone()));
            problem.mend = mistake.remedy.map(str::to_owned);
        }
    }

    fn foreign(&mut self, expression: &Expression, source: &Named, path: &Path<'_>) {
        for (function, at) in expression.foreign_functions() {
            let what = if *function == "`" { "names in backticks".into() } else { format!("function `{function}`") };
            let message = format!("Kubernetes has no {what} in rules and refuses this one");
            let mut problem = Problem::ours(&rules::FOREIGN_FUNCTION, path, source.span, message);
            problem.part = Some((source.text.clone(), at.clone()));
            self.problems.push(problem);
        }
    }

    /// Counts what a rule can cost at worst, for all values it applies to.
    fn cost(&mut self, cost: u64, source: &Named, path: &Path<'_>) {
        self.total = self.total.saturating_add(cost);
        if cost > ESTIMATED_RULE_LIMIT {
            let factor = factor(cost, ESTIMATED_RULE_LIMIT);
            let message = format!("at worst this costs {factor} of what a rule may; Kubernetes refuses it");
            self.push(&rules::COSTLY_RULE, Forbidden, source, path, message).ratchets = true;
        }
        if cost >= NOTABLE_RULE_COST {
            let message = "this is one of the rules that make the definition as a whole too costly";
            self.costs.push((cost, Problem::new(&rules::COSTLY_RULE, Forbidden, path, source.span, message)));
        }
    }

    /// The costs of all rules of a schema have a limit of their own.
    fn check_total(&mut self, schema: &Schema) {
        if self.total <= ESTIMATED_SCHEMA_LIMIT {
            return;
        }
        const MOST: usize = 4;
        let mut costs = std::mem::take(&mut self.costs);
        costs.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
        // Those that are too costly by themselves have been named.
        let dearest = costs.into_iter().take(MOST).filter(|(cost, _)| *cost <= ESTIMATED_RULE_LIMIT);
        dearest.for_each(|(_, problem)| {
            self.problems.push(problem);
        });
        let factor = factor(self.total, ESTIMATED_SCHEMA_LIMIT);
        let message =
            format!("at worst all rules together cost {factor} of what they may; Kubernetes refuses the schema");
        self.problems.push(Problem::new(&rules::COSTLY_RULE, Forbidden, &Path::Root, schema.span, message));
    }

    fn push(
        &mut self,
        rule: &'static Rule,
        kind: ErrorType,
        source: &Named,
        path: &Path<'_>,
        message: String,
    ) -> &mut Problem {
        self.problems.push(Problem::new(rule, kind, path, source.span, message))
    }
}

fn factor(cost: u64, limit: u64) -> String {
    match cost as f64 / limit as f64 {
        factor if factor > 100.0 => "more than 100 times".to_owned(),
        factor => format!("{factor:.1} times"),
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, Decode, decode_yaml};

    use crate::{Root, check::check_schema, lower_schema};

    /// What a schema in YAML is told: rule, Kubernetes' error if it has one, and path.
    fn told(schema: &str) -> Vec<String> {
        let arena = Arena::new();
        let documents = decode_yaml(schema.as_bytes(), &arena, &Decode::default()).unwrap();
        let schema = lower_schema(&documents[0]).item;
        let problems = check_schema(&schema, Root::Resource);
        let kind = |kind: Option<_>| kind.map_or("-".to_owned(), |kind| format!("{kind:?}"));
        problems.iter().map(|problem| format!("{} {} {}", problem.rule.id, kind(problem.kind), problem.path)).collect()
    }

    /// What is told of a rule of an object, without the path of the rule.
    fn told_of_rule(rule: &str) -> Vec<String> {
        let schema = format!(
            "{{type: object, properties: {{o: {{type: object, properties: {{count: {{type: integer}}, \
             s: {{type: string, maxLength: 5}}, m: {{type: object, additionalProperties: {{type: string}}}}, \
             l: {{type: array, items: {{type: string}}}}}}, x-kubernetes-validations: [{{{rule}}}]}}}}}}"
        );
        let of_rule = |told: &String| told.replace("properties[o].x-kubernetes-validations[0].", "");
        told(&schema).iter().map(of_rule).collect()
    }

    fn is_told(rule: &str, expected: &[&str]) {
        assert_eq!(told_of_rule(rule), expected, "{rule}");
    }

    #[test]
    fn a_rule_needs_an_expression() {
        for rule in ["", "rule: ''", "rule: ' '", "rule: \"\\n\"", "rule: null"] {
            is_told(rule, &["WW071 Required rule"]);
        }
        is_told("rule: self.count > 1", &[]);
        is_told("rule: ' self.count > 1 '", &[]);
    }

    #[test]
    fn a_message_is_one_line_and_a_rule_of_several_needs_one() {
        is_told("rule: 'true', message: ''", &[]);
        is_told("rule: 'true', message: ' '", &["WW071 Invalid message"]);
        is_told("rule: 'true', message: \" a\\n\"", &[]);
        for message in ["a\\nb", "a\\rb"] {
            is_told(&format!("rule: 'true', message: \"{message}\""), &["WW071 Invalid message"]);
        }
        for rule in ["true ||\\nfalse", "true ||\\rfalse"] {
            is_told(&format!("rule: \"{rule}\""), &["WW071 Required message"]);
            is_told(&format!("rule: \"{rule}\", messageExpression: \"'a'\""), &["WW071 Required message"]);
            is_told(&format!("rule: \"{rule}\", message: a"), &[]);
        }
        is_told("rule: \"\\ntrue\\n\"", &[]);
        let long = "a".repeat(10_000);
        is_told(&format!("rule: 'true', message: {long}"), &[]);
        is_told("message: ' '", &["WW071 Required rule"]);
    }

    #[test]
    fn message_expressions_are_texts() {
        let is = |expression: &str, expected: &[&str]| {
            is_told(&format!("rule: 'true', messageExpression: \"{expression}\""), expected);
        };
        is("", &[]);
        is("'s is ' + self.s", &[]);
        is(" ", &["WW071 Required messageExpression"]);
        is("self.count", &["WW070 Invalid messageExpression"]);
        is("self.absent", &["WW070 Invalid messageExpression"]);
        is("'a' +", &["WW070 Invalid messageExpression"]);
        is_told("rule: self.absent, messageExpression: self.count", &["WW070 Invalid rule"]);
        is("'count is %d'.format([self.count])", &[]);
        // Kubernetes' documentation writes it like this, but its estimate has no limit for the length of such a text.
        let too_costly = "WW073 Forbidden messageExpression";
        is("'count is ' + string(self.count)", &[too_costly, "WW073 Forbidden <nil>"]);
    }

    #[test]
    fn reasons_are_the_four_of_kubernetes() {
        let is = |reason: &str, expected: &[&str]| is_told(&format!("rule: 'true', reason: {reason}"), expected);
        for reason in ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired", "''"] {
            is(reason, &[]);
        }
        for reason in ["FieldValueNotFound", "fieldValueInvalid", "' '"] {
            is(reason, &["WW071 NotSupported reason"]);
        }
    }

    #[test]
    fn field_paths_lead_to_a_field() {
        let is = |path: &str, expected: &[&str]| is_told(&format!("rule: 'true', fieldPath: {path}"), expected);
        for path in ["''", ".count", "\"['count']\"", ".m.any", "\".m['any key']\"", ".l"] {
            is(path, &[]);
        }
        for path in ["count", ".absent", ".m.any.deeper", "'.l[0]'", ".count.deeper", "'.count '", "."] {
            is(path, &["WW071 Invalid fieldPath"]);
        }
        is("' '", &["WW071 Invalid fieldPath"; 2]);
        is("\".count\\n\"", &["WW071 Invalid fieldPath"; 2]);
        is("\"\\n\"", &["WW071 Invalid fieldPath"; 3]);
    }

    #[test]
    fn all_parts_of_a_rule_are_looked_at() {
        is_told(
            "message: ' ', messageExpression: ' ', reason: x, fieldPath: x",
            &[
                "WW071 Required rule",
                "WW071 Required messageExpression",
                "WW071 NotSupported reason",
                "WW071 Invalid fieldPath",
            ],
        );
    }

    #[test]
    fn expressions_are_typed() {
        for rule in ["self.absent == 1", "self.count", "self.count == 'a'", "self.count >", "absent", "self.count()"] {
            is_told(&format!("rule: \"{rule}\""), &["WW070 Invalid rule"]);
        }
        is_told("rule: self.a + self.b == 1", &["WW070 Invalid rule"; 2]);
        is_told("rule: self.s.reverse() == 'a'", &["WW074 - rule"]);
        is_told("rule: 'true', messageExpression: self.s.reverse()", &["WW074 - messageExpression"]);
    }

    #[test]
    fn optional_old_self_is_for_transition_rules() {
        is_told("rule: oldSelf.count == self.count", &[]);
        is_told("rule: oldSelf.count == self.count, optionalOldSelf: false", &[]);
        is_told("rule: oldSelf.hasValue(), optionalOldSelf: true", &[]);
        is_told("rule: oldSelf.hasValue()", &["WW070 Invalid rule"]);
        for given in [true, false] {
            is_told(&format!("rule: 'true', optionalOldSelf: {given}"), &["WW071 Invalid optionalOldSelf"]);
            is_told(
                &format!("rule: oldSelf.absent, optionalOldSelf: {given}"),
                &["WW070 Invalid rule", "WW071 Invalid optionalOldSelf"],
            );
        }
    }

    #[test]
    fn transition_rules_stand_where_old_values_can_be_found() {
        let rule = "x-kubernetes-validations: [{rule: oldSelf == self}]";
        let within = |around: &str, expected: &[&str]| {
            let field = around.replace("RULE", rule);
            assert_eq!(told(&format!("{{type: object, properties: {{o: {field}}}}}")), expected, "{around}");
        };
        let of_items = "WW072 Invalid properties[o].items.x-kubernetes-validations[0].rule";
        for list_type in ["", "x-kubernetes-list-type: atomic, ", "x-kubernetes-list-type: set, "] {
            let list = format!("{{type: array, maxItems: 3, {list_type}items: {{type: string, maxLength: 3, RULE}}}}");
            within(&list, &[of_items]);
        }
        within("{type: array, maxItems: 3, items: {type: integer}, RULE}", &[]);
        let keyed = "type: array, maxItems: 3, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: \
                     {type: object, required: [k], properties: {k: {type: string, maxLength: 3}, BELOW}, RULE}";
        within(&format!("{{{}}}", keyed.replace("BELOW", "a: {type: integer, RULE}")), &[]);
        within("{type: object, maxProperties: 3, additionalProperties: {type: integer, RULE}}", &[]);
        within("{type: object, x-kubernetes-map-type: atomic, properties: {a: {type: integer, RULE}}}", &[]);
        let below = "WW072 Invalid properties[o].items.properties[a].x-kubernetes-validations[0].rule";
        within("{type: array, maxItems: 3, items: {type: object, properties: {a: {type: integer, RULE}}}}", &[below]);
    }

    #[test]
    fn the_outermost_list_without_old_values_is_named() {
        let arena = Arena::new();
        let schema = "{type: array, maxItems: 2, items: {type: array, maxItems: 2, items: {type: integer, \
                      x-kubernetes-validations: [{rule: self == oldSelf}]}}}";
        let schema = format!("{{type: object, properties: {{o: {schema}}}}}");
        let documents = decode_yaml(schema.as_bytes(), &arena, &Decode::default()).unwrap();
        let problems = super::check_rules(&lower_schema(&documents[0]).item, Root::Resource);
        assert!(problems[0].message.ends_with("within properties[o]"), "{}", problems[0].message);
    }

    #[test]
    fn what_a_rule_may_cost_is_limited() {
        let quadratic = "x-kubernetes-validations: [{rule: 'self.all(x, self.all(y, x == y || x > y))'}]";
        let list = |limit: &str| {
            told(&format!(
                "{{type: object, properties: {{l: {{type: array, {limit} items: {{type: integer}}, {quadratic}}}}}}}"
            ))
        };
        let at_rule = "WW073 Forbidden properties[l].x-kubernetes-validations[0].rule";
        assert_eq!(list("maxItems: 100,"), [""; 0]);
        assert_eq!(list("maxItems: 2000,"), [at_rule]);
        assert_eq!(list(""), [at_rule, "WW073 Forbidden <nil>"]);
    }

    #[test]
    fn a_rule_costs_as_often_as_there_are_values() {
        let told_of = |around: &str| {
            let rule = "type: string, maxLength: 1000, x-kubernetes-validations: [{rule: \"self.contains('abc')\"}]";
            let field = around.replace("RULE", rule);
            let told = told(&format!("{{type: object, properties: {{o: {field}}}}}"));
            told.iter().filter(|told| told.ends_with(".rule")).count()
        };
        assert_eq!(told_of("{RULE}"), 0);
        assert_eq!(told_of("{type: array, maxItems: 10, items: {RULE}}"), 0);
        assert_eq!(told_of("{type: array, maxItems: 100000, items: {RULE}}"), 1);
        assert_eq!(told_of("{type: object, maxProperties: 10, additionalProperties: {RULE}}"), 0);
        assert_eq!(told_of("{type: object, maxProperties: 100000, additionalProperties: {RULE}}"), 1);
        let nested = "{type: array, maxItems: 300, items: {type: array, maxItems: 300, items: {RULE}}}";
        assert_eq!(told_of(nested), 1);
        assert!(told_of("{type: array, items: {RULE}}") >= 1);
    }

    #[test]
    fn what_all_rules_may_cost_is_limited() {
        let told_of = |count: usize| {
            let field = "type: array, maxItems: 2000, items: {type: integer}, x-kubernetes-validations: \
                         [{rule: 'self.all(x, self.exists(y, y == x))'}]";
            let fields: Vec<String> = (0..count).map(|number| format!("f{number}: {{{field}}}")).collect();
            told(&format!("{{type: object, properties: {{{}}}}}", fields.join(", ")))
        };
        let one = told_of(1).len();
        assert_eq!(one, 1);
        let many = told_of(20);
        let (rules, root): (Vec<_>, Vec<_>) = many.iter().partition(|told| told.ends_with(".rule"));
        assert_eq!(rules.len(), 20, "every rule for itself, and none again for the whole");
        assert_eq!(root, ["WW073 Forbidden <nil>"]);
    }

    #[test]
    fn kubernetes_reads_no_expressions_where_anything_else_is_wrong() {
        let wrong = "x-kubernetes-validations: [{rule: absent}]";
        let fields = |fields: &str| told(&format!("{{type: object, properties: {{{fields}}}}}"));
        assert_eq!(
            fields(&format!(
                "a: {{type: object, {wrong}, properties: {{b: {{type: string, x-kubernetes-validations: \
                 [{{rule: ''}}]}}}}}}, aa: {{type: string, {wrong}}}"
            )),
            [
                "WW071 Required properties[a].properties[b].x-kubernetes-validations[0].rule",
                "WW070 - properties[a].x-kubernetes-validations[0].rule",
                "WW070 Invalid properties[aa].x-kubernetes-validations[0].rule",
            ]
        );
        for (other, told) in [
            ("b: {}", "WW005 Required properties[b].type"),
            ("b: {type: integer, default: x}", "WW030 TypeInvalid properties[b].default"),
        ] {
            let rule = "WW070 - properties[a].x-kubernetes-validations[0].rule";
            assert_eq!(fields(&format!("a: {{type: string, {wrong}}}, {other}")), [told, rule], "{other}");
        }
    }

    #[test]
    fn rules_on_metadata_and_in_junctors_are_no_part_of_a_structural_schema() {
        let rule = "x-kubernetes-validations: [{rule: 'true'}]";
        let metadata = "WW012 Forbidden properties[metadata]";
        let of_metadata = |inner: &str| told(&format!("{{type: object, properties: {{metadata: {{{inner}}}}}}}"));
        assert_eq!(of_metadata(&format!("type: object, {rule}")), [metadata]);
        assert_eq!(
            of_metadata(&format!("type: object, properties: {{name: {{type: string, {rule}}}}}")),
            [""; 0],
            "names may have rules"
        );
        for (junctor, path) in [
            ("allOf: [{BRANCH}]", "allOf[0]"),
            ("anyOf: [{BRANCH}]", "anyOf[0]"),
            ("oneOf: [{BRANCH}]", "oneOf[0]"),
            ("not: {BRANCH}", "not"),
            ("allOf: [{properties: {a: {BRANCH}}}]", "allOf[0].properties[a]"),
        ] {
            let of_branch = |rule: &str| {
                let branch = format!("x-kubernetes-validations: [{{rule: {rule}}}]");
                let junctor = junctor.replace("BRANCH", &branch);
                told(&format!("{{type: object, properties: {{a: {{type: string}}}}, {junctor}}}"))
            };
            let misplaced = format!("WW010 Forbidden {path}.x-kubernetes-validations");
            assert_eq!(of_branch("absent"), [&*misplaced], "{junctor}");
            let missing = format!("WW071 Required {path}.x-kubernetes-validations[0].rule");
            assert_eq!(of_branch("''"), [misplaced, missing], "{junctor}");
        }
    }
}
