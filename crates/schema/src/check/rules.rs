//! Rules about `x-kubernetes-validations`: that they can be typed, stand where they work, and cost no more than they may.

use wheelwright_document::Path;
use wheelwright_expr::{CompileError, ESTIMATED_RULE_LIMIT, ESTIMATED_SCHEMA_LIMIT, Expression, NOTABLE_RULE_COST};
use wheelwright_findings::{Rule, rules};

use crate::{
    ErrorType::{self, Forbidden, Invalid, NotSupported, Required},
    Problem, Root, Schema,
    lower::Named,
    model::{ListType, Type, ValidationRule},
    problem::Problems,
    rules::{Compiler, OLD_SELF, normalized},
};

/// Checks every rule of a schema, with Kubernetes' error types and paths.
pub fn check_rules(schema: &Schema, root: Root) -> Vec<Problem> {
    let Some(compiler) = Compiler::new(schema, root == Root::Resource) else { return Vec::new() };
    let mut checker = Checker { compiler, problems: Problems::default(), total: 0, costs: Vec::new() };
    checker.node(schema, &Path::Root, Place { cardinality: Some(1), uncorrelatable: None });
    checker.check_total(schema);
    checker.problems.into_list()
}

struct Checker {
    compiler: Compiler,
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

impl Checker {
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
        self.form(schema, rule, path);
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
        } else if !uses_old_self && rule.optional_old_self.is_some() && compiled.rule.is_ok() {
            let path = Path::Child(path, "optionalOldSelf");
            let message = "optionalOldSelf says nothing, because the rule does not use oldSelf";
            self.problems.push(Problem::new(&rules::MALFORMED_RULE, Invalid, &path, rule.span, message));
        }
    }

    /// What can be said of a rule without reading its expressions.
    fn form(&mut self, schema: &Schema, rule: &ValidationRule, path: &Path<'_>) {
        let has_break = |text: &str| text.trim().contains(['\n', '\r']);
        let (source, message) = (rule.rule.text.trim(), &rule.message.text);
        let mut report = |kind, part: &str, named: &Named, message: &str| {
            let span = if named.text.is_empty() { rule.span } else { named.span };
            self.problems.push(Problem::new(&rules::MALFORMED_RULE, kind, &Path::Child(path, part), span, message));
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

    fn mistakes(&mut self, error: &CompileError, source: &Named, path: &Path<'_>) {
        for mistake in error.mistakes() {
            let problem = self.push(&rules::INVALID_RULE, Invalid, source, path, mistake.message.clone());
            problem.part = Some((source.text.clone(), mistake.at.clone()));
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
        for (_, problem) in costs.into_iter().take(MOST) {
            self.problems.push(problem);
        }
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

/// How many values there can be below a node of which there are some.
fn multiplied(cardinality: Option<u64>, schema: &Schema) -> Option<u64> {
    let most = match schema.r#type {
        Some(Type::Object) if schema.additional_properties.is_some() => schema.checks.max_properties,
        Some(Type::Array) => schema.checks.max_items,
        _ => Some(1),
    };
    Some(cardinality?.saturating_mul(u64::try_from(most?).unwrap_or(0)))
}

fn factor(cost: u64, limit: u64) -> String {
    match cost as f64 / limit as f64 {
        factor if factor > 100.0 => "more than 100 times".to_owned(),
        factor => format!("{factor:.1} times"),
    }
}
