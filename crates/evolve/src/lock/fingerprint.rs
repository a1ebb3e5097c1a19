//! A short sum of what a schema accepts, and of lines of text: stable for good, and not meant against forgery.

use std::fmt;

use wheelwright_document::{Arena, Owned, canonical};
use wheelwright_schema::{Root, Schema, model::Additional};

/// A sum of 128 bits: that of a schema covers everything that it accepts, refuses or fills in, and nothing of how it is
/// described or in which order its fields are written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// The fingerprint of a version.
    pub fn of(schema: &Schema, root: Root) -> Self {
        let mut sum = Sum::default();
        sum.word(if root == Root::Resource { "resource" } else { "value" });
        sum.schema(schema);
        sum.finish()
    }

    /// The fingerprint of a text.
    pub fn of_text(text: &str) -> Self {
        let mut sum = Sum::default();
        sum.word(text);
        sum.finish()
    }

    /// Reads 32 hexadecimal digits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_sum = text.len() == 32 && text.bytes().all(is_digit);
        is_sum.then(|| u128::from_str_radix(text, 16).ok().map(Self)).flatten()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// FNV-1a with 128 bits.
#[derive(Clone)]
pub(super) struct Sum(u128);

impl Default for Sum {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Sum {
    /// Adds a line of text.
    pub(super) fn line(&mut self, line: &str) {
        self.bytes(line.as_bytes());
        self.bytes(b"\n");
    }

    pub(super) fn finish(&self) -> Fingerprint {
        Fingerprint(self.0)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul((1 << 88) + 0x13b);
        }
    }

    /// A text with its length, so that no two sequences of words are written alike.
    fn word(&mut self, word: &str) {
        self.bytes(&(word.len() as u64).to_le_bytes());
        self.bytes(word.as_bytes());
    }

    fn value(&mut self, value: &Owned) {
        let arena = Arena::new();
        let bytes = canonical(value.share(&arena));
        self.bytes(&(bytes.len() as u64).to_le_bytes());
        self.bytes(&bytes);
    }

    fn texts<'t>(&mut self, name: &str, texts: impl Iterator<Item = &'t str>) {
        let texts: Vec<&str> = texts.collect();
        if !texts.is_empty() {
            self.word(name);
            self.word(&texts.len().to_string());
            texts.into_iter().for_each(|text| self.word(text));
        }
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        self.texts(name, is_set.then_some("").into_iter());
    }

    fn number(&mut self, name: &str, number: Option<impl ToString>) {
        self.texts(name, number.map(|number| number.to_string()).as_deref().into_iter());
    }

    /// Every keyword that is there, by its name; what is not there adds nothing, so that keywords that are understood
    /// in a later release change no fingerprint of a schema without them.
    fn schema(&mut self, schema: &Schema) {
        self.word("{");
        self.texts("type", schema.r#type.iter().map(|name| name.name()));
        self.flag("nullable", schema.nullable);
        if let Some(default) = &schema.default {
            self.word("default");
            self.value(default);
        }
        let mut properties: Vec<_> = schema.properties.iter().collect();
        properties.sort_by_key(|property| &*property.name);
        for property in properties {
            self.texts("property", [&*property.name].into_iter());
            self.schema(&property.schema);
        }
        match &schema.additional_properties {
            None => {}
            Some(Additional::Allowed(allowed)) => self.number("additionalProperties", Some(allowed)),
            Some(Additional::Schema(values)) => self.below("additionalProperties", values),
        }
        if let Some(items) = &schema.items {
            self.below("items", items);
        }
        self.extensions(schema);
        self.checks(schema);
        let branches = [("allOf", &schema.all_of), ("anyOf", &schema.any_of), ("oneOf", &schema.one_of)];
        for (name, branch) in branches.into_iter().flat_map(|(name, list)| list.iter().map(move |item| (name, item))) {
            self.below(name, branch);
        }
        if let Some(not) = &schema.not {
            self.below("not", not);
        }
        self.word("}");
    }

    fn below(&mut self, name: &str, schema: &Schema) {
        self.word(name);
        self.schema(schema);
    }

    fn extensions(&mut self, schema: &Schema) {
        let extensions = &schema.extensions;
        self.flag("int-or-string", extensions.int_or_string);
        self.flag("embedded-resource", extensions.embedded_resource);
        self.flag("preserve-unknown-fields", extensions.preserve_unknown_fields == Some(true));
        self.texts("list-type", extensions.list_type.iter().map(|name| name.name()));
        self.texts("list-map-keys", extensions.list_map_keys.iter().map(|key| &**key));
        self.texts("map-type", extensions.map_type.as_deref().into_iter());
        for rule in &extensions.validations {
            self.texts("rule", [&*rule.rule.text, &*rule.field_path.text].into_iter());
            self.flag("optional-old-self", rule.optional_old_self == Some(true));
        }
        if let Some(identifiers) = schema.annotations.as_ref().and_then(|found| found.identifiers.as_ref()) {
            self.texts("identifiers", identifiers.iter().map(|key| &**key));
        }
    }

    fn checks(&mut self, schema: &Schema) {
        let checks = &schema.checks;
        self.texts("format", checks.format.as_deref().into_iter());
        self.texts("pattern", checks.pattern.as_deref().into_iter());
        for value in &checks.r#enum {
            self.word("enum");
            self.value(value);
        }
        self.number("minimum", checks.minimum);
        self.number("maximum", checks.maximum);
        self.flag("exclusive-minimum", checks.exclusive_minimum);
        self.flag("exclusive-maximum", checks.exclusive_maximum);
        self.number("multiple-of", checks.multiple_of);
        self.number("min-length", checks.min_length);
        self.number("max-length", checks.max_length);
        self.number("min-items", checks.min_items);
        self.number("max-items", checks.max_items);
        self.flag("unique-items", checks.unique_items);
        self.number("min-properties", checks.min_properties);
        self.number("max-properties", checks.max_properties);
        let mut required: Vec<&str> = checks.required.iter().map(|name| &**name).collect();
        required.sort_unstable();
        self.texts("required", required.into_iter());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::schema;

    fn of(text: &str) -> Fingerprint {
        Fingerprint::of(&schema(text), Root::Value)
    }

    #[test]
    fn a_fingerprint_is_of_what_is_accepted_and_not_of_how_it_is_written() {
        let base =
            of("{type: object, properties: {a: {type: string, maxLength: 3}, b: {type: string}}, required: [a, b]}");
        let same = "{required: [b, a], description: d, type: object, properties: {b: {type: string, title: t}, \
                    a: {maxLength: 3, type: string}}}";
        assert_eq!(base, of(same));
        for other in [
            "{type: object, properties: {a: {type: string, maxLength: 4}, b: {type: string}}, required: [a, b]}",
            "{type: object, properties: {a: {type: string, minLength: 3}, b: {type: string}}, required: [a, b]}",
            "{type: object, properties: {a: {type: string, maxLength: 3}, b: {type: string}}, required: [a]}",
            "{type: object, properties: {a: {type: string, maxLength: 3, default: x}, b: {type: string}}, required: [a, b]}",
            "{type: object, properties: {a: {type: string, maxLength: 3}, b: {type: string, enum: [x]}}, required: [a, b]}",
        ] {
            assert_ne!(base, of(other), "{other}");
        }
    }

    #[test]
    fn a_sum_is_the_published_one_and_is_read_as_it_is_written() {
        let mut sum = Sum::default();
        sum.bytes(b"a");
        assert_eq!(sum.finish().to_string(), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(Fingerprint::parse(&sum.finish().to_string()), Some(sum.finish()));
        for text in ["", "d228", "D228CB696F1A8CAF78912B704E4A8964", "+228cb696f1a8caf78912b704e4a8964"] {
            assert_eq!(Fingerprint::parse(text), None);
        }
    }
}
