//! What a value must satisfy besides its shape, with the choices that junctors leave made for one document.

use std::{collections::HashMap, ops::RangeInclusive, sync::Arc};

use wheelwright_document::{Owned, Value};
use wheelwright_schema::{
    Schema,
    model::{Additional, Type},
};
use wheelwright_text::Format;

use super::super::{Random, TextOfPattern};

/// The checks of a schema node or of a branch of a junctor.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) r#type: Option<Type>,
    pub(super) pattern: Option<Arc<TextOfPattern>>,
    pub(super) format: Option<Format>,
    pub(super) int32: bool,
    pub(super) r#enum: Vec<Owned>,
    /// The values of an open enum: others are valid too.
    pub(super) known: Vec<Owned>,
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) exclusive_minimum: bool,
    pub(super) exclusive_maximum: bool,
    pub(super) multiple_of: Option<f64>,
    pub(super) length: Option<RangeInclusive<usize>>,
    pub(super) items: RangeInclusive<usize>,
    pub(super) properties: RangeInclusive<usize>,
    pub(super) unique_items: bool,
    pub(super) required: Vec<Box<str>>,
    /// What a branch says of the values below, fields in the order of their names; the nodes of the structure have
    /// rules of their own.
    fields: Vec<(Box<str>, Rule)>,
    each_item: Option<Box<Rule>>,
    each_value: Option<Box<Rule>>,
    all_of: Vec<Rule>,
    any_of: Vec<Rule>,
    one_of: Vec<Rule>,
    not: Option<Box<Rule>>,
}

/// The rules that a value is made to follow, and those that it is made to break.
#[derive(Clone, Debug, Default)]
pub(super) struct Wish<'r> {
    pub(super) wanted: Vec<&'r Rule>,
    pub(super) avoided: Vec<&'r Rule>,
}

/// Patterns that were read already, since real schemas repeat a few all over.
#[derive(Debug, Default)]
pub(super) struct Patterns(HashMap<Box<str>, Option<Arc<TextOfPattern>>>);

impl Rule {
    /// The rule of a node of the structure.
    pub(super) fn of_node(schema: &Schema, patterns: &mut Patterns) -> Self {
        let checks = &schema.checks;
        let branches = |schemas: &[Schema], patterns: &mut Patterns| -> Vec<Self> {
            schemas.iter().map(|schema| Self::of_branch(schema, patterns)).collect()
        };
        Self {
            r#type: schema.r#type.clone(),
            pattern: checks.pattern.as_deref().and_then(|go| patterns.get(go)),
            format: checks.format.as_deref().and_then(Format::for_string),
            int32: checks.format.as_deref() == Some("int32"),
            r#enum: checks.r#enum.clone(),
            known: schema.annotations.as_ref().map(|annotations| annotations.known_values.clone()).unwrap_or_default(),
            minimum: checks.minimum,
            maximum: checks.maximum,
            exclusive_minimum: checks.exclusive_minimum,
            exclusive_maximum: checks.exclusive_maximum,
            multiple_of: checks.multiple_of,
            length: (checks.min_length.is_some() || checks.max_length.is_some())
                .then(|| range(checks.min_length, checks.max_length)),
            items: range(checks.min_items, checks.max_items),
            properties: range(checks.min_properties, checks.max_properties),
            unique_items: checks.unique_items,
            required: checks.required.clone(),
            all_of: branches(&schema.all_of, patterns),
            any_of: branches(&schema.any_of, patterns),
            one_of: branches(&schema.one_of, patterns),
            not: schema.not.as_ref().map(|not| Box::new(Self::of_branch(not, patterns))),
            fields: Vec::new(),
            each_item: None,
            each_value: None,
        }
    }

    fn of_branch(schema: &Schema, patterns: &mut Patterns) -> Self {
        let mut rule = Self::of_node(schema, patterns);
        let fields = schema.properties.iter();
        rule.fields = fields.map(|field| (field.name.clone(), Self::of_branch(&field.schema, patterns))).collect();
        rule.fields.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        rule.each_item = schema.items.as_ref().map(|items| Box::new(Self::of_branch(items, patterns)));
        if let Some(Additional::Schema(values)) = &schema.additional_properties {
            rule.each_value = Some(Box::new(Self::of_branch(values, patterns)));
        }
        rule
    }

    /// Adds this rule to a wish, with a branch chosen of every junctor: one that asks for the `favourite` field, if
    /// there is one.
    pub(super) fn expand<'r>(&'r self, wish: &mut Wish<'r>, favourite: Option<&str>, random: &mut Random) {
        wish.wanted.push(self);
        for rule in &self.all_of {
            rule.expand(wish, favourite, random);
        }
        if let Some(rule) = choose(&self.any_of, favourite, random) {
            rule.expand(wish, favourite, random);
        }
        if let Some(chosen) = choose(&self.one_of, favourite, random) {
            chosen.expand(wish, favourite, random);
            wish.avoided.extend(self.one_of.iter().filter(|rule| !std::ptr::eq(*rule, chosen)));
        }
        if let Some(not) = &self.not {
            not.avoid(wish);
        }
    }

    /// Breaking `anyOf` takes breaking all of it.
    fn avoid<'r>(&'r self, wish: &mut Wish<'r>) {
        if self.any_of.is_empty() {
            wish.avoided.push(self);
        } else {
            self.any_of.iter().for_each(|rule| rule.avoid(wish));
        }
    }

    /// What a branch says of a field.
    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        let found = self.fields.binary_search_by(|(field, _)| (**field).cmp(name)).ok()?;
        Some(&self.fields[found].1)
    }

    /// The fields that a branch says something of.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.fields.iter().map(|(name, rule)| (&**name, rule))
    }

    /// Whether a scalar satisfies what the rule itself says of scalars.
    pub(super) fn accepts(&self, value: Value<'_>) -> bool {
        if !self.r#enum.is_empty() && !self.r#enum.iter().any(|member| is(member, value)) {
            return false;
        }
        match value {
            Value::String(text) => self.accepts_text(text.as_str()),
            Value::Number(number) => {
                let number = number.as_f64();
                self.minimum.is_none_or(|least| number > least || (number == least && !self.exclusive_minimum))
                    && self.maximum.is_none_or(|most| number < most || (number == most && !self.exclusive_maximum))
            }
            _ => true,
        }
    }

    fn accepts_text(&self, text: &str) -> bool {
        self.length.as_ref().is_none_or(|length| length.contains(&text.chars().count()))
            && self.format.is_none_or(|format| format.accepts(text))
            && self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
    }

    /// Whether the rule says anything of scalars beyond their type.
    pub(super) fn limits_scalars(&self) -> bool {
        !self.r#enum.is_empty()
            || self.pattern.is_some()
            || self.format.is_some()
            || self.length.is_some()
            || self.minimum.is_some()
            || self.maximum.is_some()
    }
}

impl<'r> Wish<'r> {
    /// What is wished of a field.
    pub(super) fn field(&self, name: &str) -> Self {
        self.below(|rule| rule.field(name))
    }

    /// What is wished of every item of a list.
    pub(super) fn item(&self) -> Self {
        self.below(|rule| rule.each_item.as_deref())
    }

    /// What is wished of every value of a map.
    pub(super) fn value(&self) -> Self {
        self.below(|rule| rule.each_value.as_deref())
    }

    /// What breaks a `not` is what satisfies the rule under it.
    pub(super) fn settle_negations(&mut self, favourite: Option<&str>, random: &mut Random) {
        let negations: Vec<&'r Rule> = self.avoided.iter().filter_map(|rule| rule.not.as_deref()).collect();
        for rule in negations {
            rule.expand(self, favourite, random);
        }
    }

    fn below(&self, part: impl Fn(&'r Rule) -> Option<&'r Rule>) -> Self {
        Self { wanted: self.wanted.iter().filter_map(|rule| part(rule)).collect(), avoided: Vec::new() }
    }

    /// Whether a scalar is as wished.
    pub(super) fn accepts(&self, value: Value<'_>) -> bool {
        self.wanted.iter().all(|rule| rule.accepts(value))
            && !self.avoided.iter().any(|rule| rule.limits_scalars() && rule.accepts(value))
    }

    /// The members of the enums, if there are any, that all other rules accept; all members if there are none such.
    pub(super) fn members(&self) -> Vec<&'r Owned> {
        let Some(members) = self.wanted.iter().map(|rule| &rule.r#enum).find(|members| !members.is_empty()) else {
            return Vec::new();
        };
        let wished = |member: &&Owned| {
            let others = self.wanted.iter().filter(|rule| !rule.r#enum.is_empty());
            others.clone().all(|rule| rule.r#enum.contains(member))
                && !self.avoided.iter().any(|rule| rule.r#enum.contains(member))
        };
        let chosen: Vec<&Owned> = members.iter().filter(wished).collect();
        if chosen.is_empty() { members.iter().collect() } else { chosen }
    }

    /// The range that all wished ranges have in common; the lower bound wins where there is none.
    pub(super) fn range(&self, of: impl Fn(&Rule) -> RangeInclusive<usize>) -> RangeInclusive<usize> {
        let ranges = self.wanted.iter().map(|rule| of(rule));
        let (least, most) =
            ranges.fold((0, usize::MAX), |(least, most), range| (least.max(*range.start()), most.min(*range.end())));
        least..=most.max(least)
    }
}

impl Patterns {
    pub(super) fn get(&mut self, go: &str) -> Option<Arc<TextOfPattern>> {
        if let Some(known) = self.0.get(go) {
            return known.clone();
        }
        let pattern = TextOfPattern::new(go).map(Arc::new);
        self.0.insert(go.into(), pattern.clone());
        pattern
    }
}

fn choose<'r>(branches: &'r [Rule], favourite: Option<&str>, random: &mut Random) -> Option<&'r Rule> {
    let asks = |rule: &&Rule| favourite.is_some_and(|field| rule.required.iter().any(|name| **name == *field));
    let fitting: Vec<&Rule> = branches.iter().filter(asks).collect();
    random.pick(&fitting).copied().or_else(|| random.pick(branches))
}

/// Whether an owned scalar has a value.
fn is(member: &Owned, value: Value<'_>) -> bool {
    match (member, value) {
        (Owned::Null, Value::Null) => true,
        (Owned::Bool(member), Value::Bool(value)) => *member == value,
        (Owned::Number(member), Value::Number(value)) => **member == *value.as_str(),
        (Owned::String(member), Value::String(value)) => member.as_str() == value.as_str(),
        _ => false,
    }
}

fn range(least: Option<i64>, most: Option<i64>) -> RangeInclusive<usize> {
    let bound = |bound: i64| usize::try_from(bound).unwrap_or(0);
    least.map_or(0, bound)..=most.map_or(usize::MAX, bound)
}
