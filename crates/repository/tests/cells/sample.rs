//! Valid documents that a schema directs: with everything in them, or with what is required alone.

use serde_json::{Value as Json, json};
use wheelwright_evolve::laws::{Random, TextOfPattern};
use wheelwright_schema::{
    Schema,
    model::{Additional, Type},
};

use crate::{
    json::{KEY, json_of},
    oracle::{Rule, rule_of},
};

/// How much of a document is there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Extent {
    Full,
    Sparse,
}

/// Whose document it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Author {
    Customer,
    Service,
}

/// What a document is made of.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) extent: Extent,
    pub(crate) author: Author,
    /// Values of different numbers differ, where the schema knows more than one.
    pub(crate) number: usize,
}

impl Sample {
    /// A value of a schema.
    pub(crate) fn value(self, schema: &Schema) -> Json {
        let default = schema.default.as_ref().map(json_of);
        if !schema.checks.r#enum.is_empty() {
            let members: Vec<Json> = schema.checks.r#enum.iter().map(json_of).collect();
            let others: Vec<&Json> = members.iter().filter(|member| Some(*member) != default.as_ref()).collect();
            return if others.is_empty() { members[0].clone() } else { others[self.number % others.len()].clone() };
        }
        if schema.extensions.int_or_string {
            return if self.number.is_multiple_of(2) {
                json!(70 + self.number)
            } else {
                json!(format!("{}%", self.number))
            };
        }
        match &schema.r#type {
            Some(Type::Object) => self.object(schema),
            None if !schema.properties.is_empty() => self.object(schema),
            Some(Type::Array) => self.list(schema),
            Some(Type::String) => Json::String(self.text(schema)),
            Some(Type::Integer) => json!(self.integer(schema, default.as_ref())),
            Some(Type::Number) => json!(self.integer(schema, default.as_ref()) as f64 + 0.25),
            Some(Type::Boolean) => {
                let other = default == Some(Json::Bool(false));
                Json::Bool(if default.is_some() { other } else { self.number.is_multiple_of(2) })
            }
            _ => json!({"free": self.number}),
        }
    }

    fn object(self, schema: &Schema) -> Json {
        let mut fields = serde_json::Map::new();
        for property in schema.properties.iter() {
            let is_required = schema.checks.required.contains(&property.name);
            let rule = rule_of(&property.schema);
            let is_allowed = self.author == Author::Service || !matches!(rule, Some(Rule::Service | Rule::UpdateOnly));
            if is_allowed && (is_required || self.extent == Extent::Full) {
                fields.insert(property.name.to_string(), self.value(&property.schema));
            }
        }
        if let (Some(Additional::Schema(values)), Extent::Full) = (&schema.additional_properties, self.extent) {
            fields.insert(KEY.to_owned(), self.value(values));
        }
        Json::Object(fields)
    }

    fn list(self, schema: &Schema) -> Json {
        let Some(items) = &schema.items else { return json!([]) };
        let least = usize::try_from(schema.checks.min_items.unwrap_or(0)).unwrap_or(0);
        let most = usize::try_from(schema.checks.max_items.unwrap_or(2)).unwrap_or(2);
        let wanted = if self.extent == Extent::Full { 2 } else { 0 };
        let count = wanted.max(least).min(most);
        (0..count).map(|position| Self { number: self.number * 10 + position, ..self }.value(items)).collect()
    }

    fn integer(self, schema: &Schema, default: Option<&Json>) -> i64 {
        let checks = &schema.checks;
        let least = checks.minimum.map_or(1, |least| least as i64 + i64::from(checks.exclusive_minimum));
        let most = checks.maximum.map_or(i64::MAX, |most| most as i64 - i64::from(checks.exclusive_maximum));
        let step = checks.multiple_of.map_or(1, |step| step as i64);
        let span = (most - least.max(1)) / step + 1;
        let nth = |number: usize| (least.max(1) + step - 1) / step * step + (number as i64 * 3) % span * step;
        let found = nth(self.number);
        let is_default = default.and_then(Json::as_f64) == Some(found as f64);
        if is_default { nth(self.number + 1) } else { found }
    }

    fn text(self, schema: &Schema) -> String {
        let checks = &schema.checks;
        let number = self.number;
        match checks.format.as_deref() {
            Some("date-time") => return format!("2026-01-01T00:00:{:02}Z", number % 60),
            Some("uuid") => return format!("00000000-0000-4000-8000-{number:012}"),
            Some("duration") => return format!("{}m", number + 1),
            _ => {}
        }
        let least = usize::try_from(checks.min_length.unwrap_or(1)).unwrap_or(1);
        let most = usize::try_from(checks.max_length.unwrap_or(24)).unwrap_or(24);
        let Some(pattern) = &checks.pattern else {
            let text = format!("text{number}");
            let text: String = text.chars().rev().take(most).collect::<Vec<_>>().into_iter().rev().collect();
            return format!("{text:x<least$}");
        };
        let pattern = TextOfPattern::new(pattern).expect("a pattern that is understood");
        let mut random = Random::new(number as u64);
        pattern.sample(&mut random, &(least..=most), |_| true).expect("a text of the pattern")
    }
}
