//! What schemas and rules name: limits, values, patterns, and the fields that rules read.

use std::{
    collections::{BTreeSet, HashSet},
    sync::LazyLock,
};

use regex::Regex;
use wheelwright_document::{Entry, Owned, Value};
use wheelwright_schema::{Root, Schema};

use super::{
    super::example::{number, string, value_for},
    texts::{LONGEST, LONGEST_TEXT},
};
use crate::{Selector, laws::Random};

/// More texts, numbers and comparisons of rules than this are not tried: rules may be as long as a schema.
const MOST: usize = 32;
/// Fields that are deeper are not set.
const DEEPEST: usize = 16;

/// What schemas name: their limits, values and patterns, those of alternatives, and what stands in rules.
#[derive(Default)]
pub(super) struct Named {
    pub(super) values: Vec<Owned>,
    pub(super) texts: Vec<String>,
    pub(super) patterns: Vec<String>,
    pub(super) numbers: Vec<f64>,
    counts: Vec<i64>,
    /// Fields of `self`, and what rules compare them with.
    compared: Vec<(Vec<String>, Owned)>,
    /// The words of rules, names of fields among them.
    words: HashSet<String>,
}

impl Named {
    /// What expressions name.
    pub(super) fn of_expressions(expressions: &str) -> Self {
        let mut named = Self::default();
        named.add_rule(expressions);
        named
    }

    /// Whether an expression names a field.
    pub(super) fn reads(&self, field: &Selector) -> bool {
        field.last_name().is_some_and(|name| self.words.contains(name))
    }

    /// Lengths and counts at the limits, and next to them.
    pub(super) fn counts(&self) -> BTreeSet<usize> {
        self.around_counts().filter(|count| (0..=LONGEST).contains(count)).map(|count| count as usize).collect()
    }

    /// The same of long texts.
    pub(super) fn long_counts(&self) -> impl Iterator<Item = usize> {
        let is_long = |count: &i64| (LONGEST + 1..=LONGEST_TEXT).contains(count);
        self.around_counts().filter(is_long).collect::<BTreeSet<_>>().into_iter().map(|count| count as usize)
    }

    fn around_counts(&self) -> impl Iterator<Item = i64> {
        self.counts.iter().flat_map(|count| [count.saturating_sub(1), *count, count.saturating_add(1)])
    }

    /// A value in which some texts and numbers are those that expressions compare with, or next to them.
    pub(super) fn seasoned(&self, value: Value<'_>, random: &mut Random) -> Owned {
        match value {
            Value::String(_) if random.one_in(2) => match random.below(3) {
                0 if !self.counts.is_empty() => {
                    let count =
                        random.pick(&self.counts).map_or(0, |count| count.saturating_add(random.between(-1, 1)));
                    string(&"a".repeat(count.clamp(0, LONGEST) as usize))
                }
                _ => random.pick(&self.texts).map_or_else(|| Owned::from(value), |text| string(text)),
            },
            Value::Number(_) if random.one_in(2) => match random.pick(&self.numbers) {
                Some(near) if random.one_in(2) => number(near + random.between(-1, 1) as f64),
                _ => number(random.between(-1, 1_000)),
            },
            Value::Array(items) => Owned::Array(items.iter().map(|item| self.seasoned(*item, random)).collect()),
            Value::Object(entries) => {
                let is_envelope = |key: &str| matches!(key, "apiVersion" | "kind" | "metadata");
                let field = |entry: &Entry<'_>| match is_envelope(entry.key) {
                    true => (entry.key.into(), Owned::from(entry.value)),
                    false => (entry.key.into(), self.seasoned(entry.value, random)),
                };
                Owned::Object(entries.iter().map(field).collect())
            }
            other => other.into(),
        }
    }

    /// A value in which fields of `self` are what rules compare them with: all of them, and each alone. Maps that rules look
    /// into have the texts of the rules as keys.
    pub(super) fn compared(&self, value: &Owned, schema: &Schema, root: Root) -> Vec<Owned> {
        let mut found: Vec<Owned> = Vec::new();
        if !self.compared.is_empty() {
            let all = self.compared.iter().fold(value.clone(), |value, (path, is)| with(&value, path, is));
            found.push(all);
            found.extend(self.compared.iter().map(|(path, is)| with(value, path, is)));
        }
        for property in schema.properties.iter().filter(|property| self.words.contains(&*property.name)) {
            let Some(values) = property.schema.additional_schema().and_then(|values| value_for(values, root)) else {
                continue;
            };
            let path = [property.name.to_string()];
            let map = |key: &String| Owned::Object([(key.as_str().into(), values.clone())].into());
            found.extend(self.texts.iter().map(|key| with(value, &path, &map(key))));
        }
        found
    }

    pub(super) fn add(&mut self, schema: &Schema) {
        let checks = &schema.checks;
        self.values.extend(checks.r#enum.iter().cloned());
        self.patterns.extend(checks.pattern.iter().map(ToString::to_string));
        self.numbers.extend([checks.minimum, checks.maximum, checks.multiple_of].into_iter().flatten());
        let counts = [checks.min_length, checks.max_length, checks.min_items, checks.max_items];
        self.counts.extend(counts.into_iter().flatten());
        self.counts.extend([checks.min_properties, checks.max_properties].into_iter().flatten());
        for rule in &schema.extensions.validations {
            self.add_rule(&rule.rule.text);
        }
        let alternatives =
            schema.all_of.iter().chain(&schema.any_of).chain(&schema.one_of).chain(schema.not.as_deref());
        alternatives.for_each(|alternative| self.add(alternative));
    }

    /// The texts and numbers that a rule compares with.
    fn add_rule(&mut self, rule: &str) {
        let room = |taken: usize| MOST.saturating_sub(taken);
        self.compared.extend(comparisons(rule).take(room(self.compared.len())));
        let words = rule.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        self.words.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        for quote in ['\'', '"'] {
            let quoted = rule.split(quote).skip(1).step_by(2);
            let texts = quoted.flat_map(|text| [text.to_owned(), format!("{text}a"), format!("a{text}")]);
            self.texts.extend(texts.take(room(self.texts.len())));
        }
        self.texts.extend((!rule.is_empty() && room(self.texts.len()) > 0).then(|| "A".to_owned()));
        let numbers = rule.split(|letter: char| !letter.is_ascii_digit()).filter_map(|text| text.parse::<f64>().ok());
        for number in numbers.filter(|number| number.abs() < 1e15).take(room(self.numbers.len())) {
            self.numbers.push(number);
            self.counts.push(number as i64);
        }
    }
}

/// What a rule compares fields of `self` with, in either order: `self.mode == 'Fast'`, `3 < self.size`.
fn comparisons(rule: &str) -> impl Iterator<Item = (Vec<String>, Owned)> {
    const LITERAL: &str = r#"'[^']*'|"[^"]*"|-?\d+(?:\.\d+)?|true|false"#;
    const FIELD: &str = r"self((?:\.\w+)+)";
    static COMPARISON: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(&format!("{FIELD}\\s*[=!<>]=?\\s*({LITERAL})|({LITERAL})\\s*[=!<>]=?\\s*{FIELD}")).ok()
    });
    let literal = |text: &str| match text {
        "true" => Owned::Bool(true),
        "false" => Owned::Bool(false),
        text if text.starts_with(['\'', '"']) => string(&text[1..text.len() - 1]),
        text => number(text),
    };
    let path = |text: &str| text.split('.').skip(1).map(str::to_owned).collect();
    let found = COMPARISON.iter().flat_map(|comparison| comparison.captures_iter(rule));
    found.filter_map(move |found| {
        let part = |at: usize| found.get(at).map(|part| part.as_str());
        let path: Vec<String> = path(part(1).or(part(4))?);
        (path.len() <= DEEPEST).then_some((path, literal(part(2).or(part(3))?)))
    })
}

/// A value with something at a path below it; objects on the way are made.
fn with(value: &Owned, path: &[String], is: &Owned) -> Owned {
    let Some((name, rest)) = path.split_first() else { return is.clone() };
    let fields: &[(Box<str>, Owned)] = match value {
        Owned::Object(fields) => fields,
        _ => &[],
    };
    let below = fields.iter().find(|(other, _)| **other == **name).map_or(&Owned::Null, |(_, below)| below);
    let changed = (name.as_str().into(), with(below, rest, is));
    let others = fields.iter().filter(|(other, _)| **other != **name).cloned();
    Owned::Object(others.chain([changed]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::diff::spelled;

    #[test]
    fn fields_are_what_rules_compare_them_with() {
        let named = Named::of_expressions("!(self.mode == 'x' && 7 <= self.size.least) || self.on != true");
        let schema = crate::testing::schema("{type: object}");
        let found: Vec<String> =
            named.compared(&Owned::Object([].into()), &schema, Root::Value).iter().map(spelled).collect();
        assert_eq!(
            found,
            [
                r#"{"mode":"x","size":{"least":7},"on":true}"#,
                r#"{"mode":"x"}"#,
                r#"{"size":{"least":7}}"#,
                r#"{"on":true}"#
            ]
        );
    }
}
