//! The walk that evaluates the rules of a schema over a document.

use wheelwright_document::{Arena, FieldPath, Path, Value};
use wheelwright_expr::{EXPRESSION_LIMIT, Evaluator, Failure, FailureKind, MESSAGE_BYTES, OBJECT_BUDGET, Val};

use super::{NodeRules, Rule, Rules};
use crate::{
    ErrorType, ValidationError,
    correlate::Correlated,
    error::{ErrorLog, Source},
    program::{NodeId, Program},
};

/// Evaluates the rules of a program over a document that is pruned and defaulted, and over what it replaces if there is
/// something. If other errors make that pointless, a single error says so.
pub(crate) fn evaluate_rules<'a>(
    program: &'a Program,
    document: &'a Value<'a>,
    old: Option<&'a Correlated<'a>>,
    arena: &'a Arena,
    errors: &mut ErrorLog,
) {
    let Some(rules) = &program.rules else { return };
    if errors.errors.iter().any(is_blocking) {
        errors.push(|| ValidationError {
            kind: ErrorType::Invalid,
            path: FieldPath::root(),
            message: "some rules were not evaluated because of the other errors; mend these first".to_owned(),
            source: Source::SkippedRules,
        });
        return;
    }
    let before = Before { old, current: old, nearest: None };
    RuleWalk::new(program, rules, arena, errors).run(program.root, document, before);
}

/// What the rules of a node say of its default, as if it replaced itself.
pub(crate) fn evaluate_default_rules<'a>(
    program: &'a Program,
    id: NodeId,
    default: &'a Value<'a>,
    arena: &'a Arena,
) -> Vec<ValidationError> {
    let mut errors = ErrorLog::default();
    if let Some(rules) = &program.rules {
        let old = Correlated::new(program, id, *default, *default, arena);
        let before = Before { old: arena.slice(&[old]).first(), current: None, nearest: None };
        RuleWalk::new(program, rules, arena, &mut errors).run(id, default, before);
    }
    errors.errors
}

/// Whether values are so wrong that rules cannot be expected to make sense of them.
fn is_blocking(error: &ValidationError) -> bool {
    matches!(
        error.kind,
        ErrorType::Required
            | ErrorType::TypeInvalid
            | ErrorType::NotSupported
            | ErrorType::TooLong
            | ErrorType::TooMany
    )
}

/// What a value replaces.
#[derive(Clone, Copy)]
struct Before<'a> {
    /// Where the old value is that rules call `oldSelf`.
    old: Option<&'a Correlated<'a>>,
    /// The old value by which an error is forgiven; none where values have no counterpart.
    current: Option<&'a Correlated<'a>>,
    /// The nearest one above.
    nearest: Option<&'a Correlated<'a>>,
}

impl<'a> Before<'a> {
    /// The same for a field or an item.
    fn below(self, position: usize, name: Option<&str>) -> Self {
        let old = self.old.and_then(|old| old.below(position));
        match self.current {
            None => Self { old, ..self },
            // Both documents were converted to one version, so these do not show a change.
            Some(_) if self.nearest.is_none() && matches!(name, Some("apiVersion" | "kind")) => {
                Self { old, current: None, nearest: None }
            }
            Some(current) => Self { old, current: current.below(position), nearest: Some(current) },
        }
    }

    /// The old value, unless it was null.
    fn value(self) -> Option<&'a Value<'a>> {
        self.old.map(|old| &old.old).filter(|old| !old.is_null())
    }

    /// Whether what is wrong was wrong before and has not changed.
    fn forgives(self) -> bool {
        self.current.or(self.nearest).is_some_and(|correlated| correlated.unchanged)
    }
}

struct RuleWalk<'a, 'e> {
    program: &'a Program,
    rules: &'a Rules,
    evaluator: Evaluator<'a>,
    /// What is left of the budget of the document.
    left: u64,
    errors: &'e mut ErrorLog,
}

/// Nothing more is evaluated: the budget is spent.
struct Spent;

impl<'a, 'e> RuleWalk<'a, 'e> {
    fn new(program: &'a Program, rules: &'a Rules, arena: &'a Arena, errors: &'e mut ErrorLog) -> Self {
        Self { program, rules, evaluator: Evaluator::new(&rules.shapes, arena), left: OBJECT_BUDGET, errors }
    }

    fn run(mut self, id: NodeId, value: &'a Value<'a>, before: Before<'a>) {
        // It ends early only when the budget is spent, which it has reported by then.
        let _ = self.value(id, value, before, &Path::Root);
    }

    fn value(&mut self, id: NodeId, value: &'a Value<'a>, before: Before<'a>, path: &Path<'_>) -> Result<(), Spent> {
        let Some(node_rules) = self.rules.at(id) else { return Ok(()) };
        if value.is_null() {
            return Ok(());
        }
        if !node_rules.rules.is_empty() {
            self.node(node_rules, value, before, path)?;
        }
        let node = self.program.node(id);
        match value {
            Value::Object(entries) => {
                for (position, entry) in entries.iter().enumerate() {
                    let (child, path) = match node.fields.get(entry.key) {
                        Some(field) => (field, Path::Child(path, entry.key)),
                        None => match node.additional {
                            Some(additional) => (additional, Path::Key(path, entry.key)),
                            None => continue,
                        },
                    };
                    let before = before.below(position, Some(entry.key));
                    self.value(child, &entry.value, before, &path)?;
                }
                Ok(())
            }
            Value::Array(items) => {
                let Some(item_node) = node.items else { return Ok(()) };
                for (index, item) in items.iter().enumerate() {
                    self.value(item_node, item, before.below(index, None), &Path::Index(path, index))?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn node(
        &mut self,
        node: &'a NodeRules,
        value: &'a Value<'a>,
        before: Before<'a>,
        path: &Path<'_>,
    ) -> Result<(), Spent> {
        let own = self.evaluator.read(value, node.shape);
        for rule in &node.rules {
            let old = match before.value() {
                Some(old) if rule.uses_old_self() || rule.message_uses_old_self() => {
                    Some(self.evaluator.read(old, node.shape))
                }
                None if rule.uses_old_self() && !rule.optional_old_self => continue,
                _ => None,
            };
            let old = match rule.optional_old_self {
                true => old.map_or(Val::Optional(None), |old| self.evaluator.some(old)),
                false => old.unwrap_or(Val::Null),
            };
            self.rule(rule, [own, old], before, path)?;
        }
        Ok(())
    }

    /// Evaluates one rule; what it says of a value that breaks it becomes an error.
    fn rule(
        &mut self,
        rule: &'a Rule,
        variables: [Val<'a>; 2],
        before: Before<'a>,
        path: &Path<'_>,
    ) -> Result<(), Spent> {
        let expression = match &rule.expression {
            Ok(expression) => expression,
            Err(why) => {
                self.errors.push(|| ValidationError {
                    kind: ErrorType::Invalid,
                    path: path.to_field_path(),
                    message: why.clone(),
                    source: Source::BrokenRule,
                });
                return Ok(());
            }
        };
        let outcome = self.spend(|evaluator| expression.evaluate(evaluator, &variables));
        match outcome {
            Ok(Val::Bool(true)) => Ok(()),
            Ok(_) if !rule.uses_old_self() && before.forgives() => Ok(()),
            Ok(_) => {
                let message = self.message(rule, variables, path)?;
                self.fail(rule.kind, path, &rule.field_path, &message);
                Ok(())
            }
            Err(failure) if failure.kind() == FailureKind::Budget => {
                let name = &rule.name;
                let message = format!("a rule was stopped and none after it evaluated, because {failure}: {name}");
                self.fail(ErrorType::Invalid, path, "", &message);
                Err(Spent)
            }
            Err(failure) => {
                self.fail(ErrorType::Invalid, path, "", &format!("{failure}, evaluating the rule: {}", rule.name));
                Ok(())
            }
        }
    }

    /// What to say about a value that breaks a rule.
    fn message(&mut self, rule: &'a Rule, variables: [Val<'a>; 2], path: &Path<'_>) -> Result<String, Spent> {
        let Some(expression) = &rule.message_expression else { return Ok(rule.message.to_string()) };
        match self.spend(|evaluator| expression.evaluate(evaluator, &variables)) {
            Ok(Val::String(text)) => {
                let text = text.trim();
                let is_usable = !text.is_empty() && text.len() <= MESSAGE_BYTES && !text.contains('\n');
                Ok(if is_usable { text.to_owned() } else { rule.message.to_string() })
            }
            Err(failure) if failure.kind() == FailureKind::Budget => {
                let message = format!(
                    "no rule after this one was evaluated, because its message costs more than it may: {}",
                    rule.name
                );
                self.fail(ErrorType::Invalid, path, &rule.field_path, &message);
                Err(Spent)
            }
            _ => Ok(rule.message.to_string()),
        }
    }

    /// Evaluates something within both budgets.
    fn spend<T>(&mut self, evaluate: impl FnOnce(&mut Evaluator<'a>) -> Result<T, Failure>) -> Result<T, Failure> {
        let budget = self.left.min(EXPRESSION_LIMIT);
        self.evaluator.set_budget(budget);
        let result = evaluate(&mut self.evaluator);
        self.left = self.left.saturating_sub(budget.saturating_sub(self.evaluator.budget()));
        result
    }

    #[cold]
    fn fail(&mut self, kind: ErrorType, path: &Path<'_>, below: &str, message: &str) {
        self.errors.push(|| {
            let path = path.to_field_path();
            let path = if below.is_empty() { path } else { path.child(below) };
            ValidationError { kind, path, message: message.to_owned(), source: Source::Rule }
        });
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, Decode, decode, decode_json_spanned};

    use crate::{Program, Root, Stages, lower_schema};

    /// What a rule of a schema with an integer `a` and a string `s` says of a document.
    fn said(rule: &str, document: &str) -> Vec<String> {
        let arena = Arena::new();
        let schema = format!(
            r#"{{"type": "object", "x-kubernetes-validations": [{rule}],
                "properties": {{"a": {{"type": "integer"}}, "s": {{"type": "string"}}}}}}"#
        );
        let source = decode_json_spanned(schema.as_bytes(), &arena, &Decode::default()).unwrap();
        let program = Program::compile(&lower_schema(&source).item, Root::Value);
        let admitted = program.run(decode(document.as_bytes(), &arena).unwrap(), &arena, Stages::ADMIT).unwrap();
        admitted.errors.iter().map(|error| error.message().to_owned()).collect()
    }

    #[test]
    fn messages_are_those_of_the_rule() {
        let is = |rule: &str, expected: &str| assert_eq!(said(rule, r#"{"a": 1}"#), [expected], "{rule}");
        is(r#"{"rule": " self.a > 1 "}"#, "failed rule: self.a > 1");
        is(r#"{"rule": "self.a > 1", "message": " too small "}"#, "too small");
        is(r#"{"rule": "self.a > 1", "messageExpression": "' %d is too small '.format([self.a])"}"#, "1 is too small");
        is(r#"{"rule": "self.a > 1", "message": "no", "messageExpression": "string(self.a)"}"#, "1");
    }

    #[test]
    fn messages_know_the_old_value_even_if_the_rule_does_not_ask_for_it() {
        let arena = Arena::new();
        let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": [
            {"rule": "self.a < 5", "message": "no", "messageExpression": "'was %d'.format([oldSelf.a])"}]}"#;
        let source = decode_json_spanned(schema.as_bytes(), &arena, &Decode::default()).unwrap();
        let program = Program::compile(&lower_schema(&source).item, Root::Value);
        let [old, new] = [r#"{"a": 1}"#, r#"{"a": 9}"#].map(|text| decode(text.as_bytes(), &arena).unwrap());
        assert_eq!(program.validate_update(new, old, &arena).errors[0].message(), "was 1");
        assert_eq!(program.admit(new, &arena).unwrap().errors[0].message(), "no");
    }

    #[test]
    fn expressions_that_give_no_usable_message_are_passed_over() {
        let long = format!(r#"{{"a": 1, "s": "{}"}}"#, "x".repeat(6_000));
        for expression in ["''", "'  '", "'a\\\\nb'", "string(1 / 0)", "self.s", "self.absent", "1", "self.s + "] {
            let rule = format!(r#"{{"rule": "self.a > 1", "message": "no", "messageExpression": "{expression}"}}"#);
            assert_eq!(said(&rule, &long), ["no"], "{expression}");
        }
    }

    #[test]
    fn what_cannot_be_evaluated_names_the_rule() {
        let is = |rule: &str, expected: &str| assert_eq!(said(rule, r#"{"a": 0}"#), [expected], "{rule}");
        is(r#"{"rule": "1 / self.a > 1", "message": "no"}"#, "division by zero, evaluating the rule: no");
        is(r#"{"rule": "self.s == ''"}"#, "no such key: s, evaluating the rule: self.s == ''");
    }

    #[test]
    fn a_message_that_costs_too_much_ends_the_evaluation() {
        let costly = r#"{"rule": "false", "message": "no",
            "messageExpression": "string(lists.range(1000000000).size())"}, {"rule": "false"}"#;
        assert_eq!(
            said(costly, "{}"),
            ["no rule after this one was evaluated, because its message costs more than it may: no"]
        );
    }
}
