//! The value of one keyword, read as what it has to be.

use wheelwright_document::{Path, Spanned, SpannedEntry};
use wheelwright_findings::rules;

use super::Named;
use crate::{
    ErrorType, Problem, Schema,
    model::{Checks, Extensions, ListType, ValidationRule},
    problem::Problems,
};

/// A keyword with its value and its path.
pub(super) struct Reader<'r, 'a> {
    pub(super) keyword: &'a str,
    pub(super) value: &'r Spanned<'a>,
    pub(super) path: &'r Path<'r>,
    pub(super) problems: &'r mut Problems,
}

impl<'a> Reader<'_, 'a> {
    fn malformed(&mut self, expected: &str) {
        self.malformed_value(self.value, expected);
    }

    fn malformed_value(&mut self, value: &Spanned<'_>, expected: &str) {
        if !self.problems.is_full() {
            let message = format!("{} must be {expected}, found {}", self.keyword, value.kind_name());
            let rule = &rules::MALFORMED_SCHEMA;
            self.problems.push(Problem::new(rule, ErrorType::TypeInvalid, self.path, value.span, message));
        }
    }

    fn expect<T>(&mut self, found: Option<T>, expected: &str) -> Option<T> {
        if found.is_none() {
            self.malformed(expected);
        }
        found
    }

    pub(super) fn text(&mut self) -> Option<Box<str>> {
        self.expect(self.value.as_str().map(Box::from), "a string")
    }

    pub(super) fn flag(&mut self) -> bool {
        let flag = self.value.as_scalar().and_then(|value| value.as_bool());
        self.expect(flag, "true or false").unwrap_or_default()
    }

    pub(super) fn number(&mut self) -> Option<f64> {
        let number = self.value.as_scalar().and_then(|value| value.as_number());
        self.expect(number.map(|number| number.as_f64()), "a number")
    }

    pub(super) fn integer(&mut self) -> Option<i64> {
        let number = self.value.as_scalar().and_then(|value| value.as_number());
        self.expect(number.and_then(|number| number.as_i64()), "a 64-bit integer")
    }

    pub(super) fn object(&mut self) -> Option<&'a [SpannedEntry<'a>]> {
        self.expect(self.value.as_object(), "an object")
    }

    pub(super) fn list(&mut self) -> &'a [Spanned<'a>] {
        self.expect(self.value.as_array(), "a list").unwrap_or_default()
    }

    pub(super) fn texts(&mut self) -> Vec<Box<str>> {
        let items = self.list();
        let texts = items.iter().filter_map(|item| {
            let text = item.as_str().map(Box::from);
            if text.is_none() {
                self.malformed_value(item, "a list of strings");
            }
            text
        });
        texts.collect()
    }

    /// Reads a keyword that limits values the same way in every dialect; says whether it is one.
    pub(super) fn limit(&mut self, checks: &mut Checks) -> bool {
        match self.keyword {
            "minimum" => checks.minimum = self.number(),
            "maximum" => checks.maximum = self.number(),
            "exclusiveMinimum" => checks.exclusive_minimum = self.flag(),
            "exclusiveMaximum" => checks.exclusive_maximum = self.flag(),
            "multipleOf" => checks.multiple_of = self.number(),
            "minLength" => checks.min_length = self.integer(),
            "maxLength" => checks.max_length = self.integer(),
            "minItems" => checks.min_items = self.integer(),
            "maxItems" => checks.max_items = self.integer(),
            "uniqueItems" => checks.unique_items = self.flag(),
            "minProperties" => checks.min_properties = self.integer(),
            "maxProperties" => checks.max_properties = self.integer(),
            "required" => checks.required = self.texts(),
            _ => return false,
        }
        true
    }

    /// Reads a keyword of Kubernetes that means the same in every dialect; says whether it is one.
    pub(super) fn extension(&mut self, extensions: &mut Extensions) -> bool {
        match self.keyword {
            "x-kubernetes-int-or-string" => extensions.int_or_string = self.flag(),
            "x-kubernetes-embedded-resource" => extensions.embedded_resource = self.flag(),
            "x-kubernetes-list-type" => extensions.list_type = self.text().map(|name| ListType::from_name(&name)),
            "x-kubernetes-list-map-keys" => extensions.list_map_keys = self.texts(),
            "x-kubernetes-map-type" => extensions.map_type = self.text(),
            "x-kubernetes-validations" => extensions.validations = self.rules(),
            _ => return false,
        }
        true
    }

    /// The rules of `x-kubernetes-validations`.
    pub(super) fn rules(&mut self) -> Vec<ValidationRule> {
        let items = self.list();
        items.iter().enumerate().map(|(index, item)| self.rule(index, item)).collect()
    }

    fn rule(&mut self, index: usize, source: &Spanned<'_>) -> ValidationRule {
        let mut rule = ValidationRule { span: source.span, ..ValidationRule::default() };
        let Some(entries) = source.as_object() else {
            self.malformed_value(source, "a list of rules, which are objects");
            return rule;
        };
        let place = Path::Index(self.path, index);
        for entry in entries.iter().filter(|entry| !entry.value.as_scalar().is_some_and(|value| value.is_null())) {
            let path = Path::Child(&place, entry.key);
            let mut reader = Reader { keyword: entry.key, value: &entry.value, path: &path, problems: self.problems };
            match entry.key {
                "rule" => rule.rule = reader.named(),
                "message" => rule.message = reader.named(),
                "messageExpression" => rule.message_expression = reader.named(),
                "reason" => rule.reason = reader.named(),
                "fieldPath" => rule.field_path = reader.named(),
                "optionalOldSelf" => rule.optional_old_self = Some(reader.flag()),
                unknown => super::report_unknown(unknown, &mut reader, entry.key_span),
            }
        }
        rule
    }

    fn named(&mut self) -> Named {
        Named { text: self.text().unwrap_or_default(), span: self.value.span }
    }

    pub(super) fn schema(&mut self) -> Box<Schema> {
        let mut schema = empty();
        super::fill(&mut schema, self.value, self.path, self.problems);
        schema
    }

    pub(super) fn schemas(&mut self) -> Vec<Schema> {
        let items = self.list();
        let mut schemas: Vec<Schema> = items.iter().map(|_| Schema::default()).collect();
        for (index, (schema, item)) in schemas.iter_mut().zip(items).enumerate() {
            super::fill(schema, item, &Path::Index(self.path, index), self.problems);
        }
        schemas
    }
}

/// On its own, so that what passes over the stack on its way to the heap is gone before anything below is read.
#[inline(never)]
fn empty() -> Box<Schema> {
    Box::default()
}
