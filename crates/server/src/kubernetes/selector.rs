//! Which objects a list or a watch wants: by labels and by fields.

use std::collections::HashMap;

use wheelwright_document::Value;
use wheelwright_text::names::{is_label_value, is_qualified_name};

use super::{resource::Resource, status::Status};

/// The keys of requirements that take more bytes are looked up in an index of labels.
const SHORT: usize = 256;

/// What objects must be like.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Selector {
    labels: Packed,
    fields: Vec<FieldRequirement>,
    /// The length of its texts.
    size: usize,
}

/// Requirements for labels in one text, which takes about as much memory as the text that they were written in: a watch
/// keeps them for as long as it lasts. Each has the sign of its operator, its key, and its values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Packed(Box<str>);

/// Ends a requirement. No key or value has control characters.
const END: char = '\x1e';
/// Stands before each value.
const VALUE: char = '\x1f';

/// Signs of operators in packed requirements.
mod sign {
    pub(super) const IN: char = '=';
    pub(super) const NOT_IN: char = '#';
    pub(super) const EXISTS: char = '+';
    pub(super) const DOES_NOT_EXIST: char = '-';
    pub(super) const ABOVE: char = '>';
    pub(super) const BELOW: char = '<';
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct FieldRequirement {
    /// The names from the root on, with dots between them.
    path: Box<str>,
    value: Box<str>,
    is_equal: bool,
}

impl Selector {
    /// Reads the selectors of a request.
    pub(super) fn parse(labels: Option<&str>, fields: Option<&str>, resource: &Resource) -> Result<Self, Status> {
        let (labels, fields) = (labels.unwrap_or_default(), fields.unwrap_or_default());
        let size = labels.len() + fields.len();
        let labels = Labels::parse(labels).map_err(Status::bad_request)?;
        Ok(Self { labels, fields: parse_fields(fields, resource)?, size })
    }

    /// Whether it is content with everything.
    pub(super) fn is_empty(&self) -> bool {
        self.labels.0.is_empty() && self.fields.is_empty()
    }

    /// The length of its texts.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Whether what it says of an object never changes.
    pub(super) fn is_about_names(&self) -> bool {
        self.labels.0.is_empty() && self.fields.iter().all(|field| field.path.starts_with("metadata."))
    }

    pub(super) fn matches(&self, document: Value<'_>) -> bool {
        let labels = document.get("metadata").and_then(|metadata| metadata.get("labels"));
        let labels = labels.and_then(Value::as_object).unwrap_or_default();
        // Many terms are not looked up one by one among many labels.
        let index: Option<HashMap<&str, Value<'_>>> =
            (self.labels.0.len() > SHORT).then(|| labels.iter().map(|entry| (entry.key, entry.value)).collect());
        let find = |key: &str| labels.iter().find(|entry| entry.key == key).map(|entry| entry.value);
        let label = |key: &str| index.as_ref().map_or_else(|| find(key), |index| index.get(key).copied());
        let label = |key: &str| label(key).and_then(Value::as_str);
        self.labels.are_met_by(label) && self.fields.iter().all(|wanted| wanted.is_met_by(document))
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        const AROUND_TEXT: usize = 16;
        let of_field = |field: &FieldRequirement| {
            size_of::<FieldRequirement>() + field.path.len() + field.value.len() + 2 * AROUND_TEXT
        };
        self.labels.0.len() + self.fields.iter().map(of_field).sum::<usize>()
    }
}

impl Packed {
    /// Whether the labels that a function returns by their keys meet all requirements.
    fn are_met_by<'v>(&self, label: impl Fn(&str) -> Option<&'v str>) -> bool {
        self.0.split_terminator(END).all(|requirement| {
            let mut signs = requirement.chars();
            let sign = signs.next();
            let mut values = signs.as_str().split(VALUE);
            let value = label(values.next().unwrap_or_default());
            let is_any = |value: &str| values.clone().any(|one| one == value);
            let number = |text: Option<&str>| text.and_then(|text| text.parse::<i64>().ok());
            let compared = || number(value).zip(number(values.clone().next()));
            match sign {
                Some(sign::IN) => value.is_some_and(is_any),
                Some(sign::NOT_IN) => !value.is_some_and(is_any),
                Some(sign::EXISTS) => value.is_some(),
                Some(sign::DOES_NOT_EXIST) => value.is_none(),
                Some(sign::ABOVE) => compared().is_some_and(|(value, limit)| value > limit),
                _ => compared().is_some_and(|(value, limit)| value < limit),
            }
        })
    }
}

impl FieldRequirement {
    fn is_met_by(&self, document: Value<'_>) -> bool {
        let value = self.path.split('.').try_fold(document, |value, name| value.get(name));
        let text = match value {
            Some(Value::String(text)) => text.as_str().to_owned(),
            Some(Value::Bool(value)) => value.to_string(),
            Some(Value::Number(number)) => number.as_str().to_owned(),
            _ => String::new(),
        };
        (text == *self.value) == self.is_equal
    }
}

/// The words and signs of a label selector.
struct Labels<'t> {
    tokens: Vec<&'t str>,
    at: usize,
    /// The requirements that were read.
    packed: String,
}

/// What cannot be a part of a word.
const SIGNS: [char; 7] = ['(', ')', ',', '!', '=', '<', '>'];

impl<'t> Labels<'t> {
    fn parse(text: &'t str) -> Result<Packed, String> {
        let mut labels = Self { tokens: tokens(text), at: 0, packed: String::new() };
        if labels.peek().is_empty() {
            return Ok(Packed::default());
        }
        loop {
            let first = labels.peek();
            if first != "!" && !is_word(first) {
                return Err(format!("found '{first}', expected: !, identifier, or 'end of string'"));
            }
            labels.requirement().map_err(|why| format!("unable to parse requirement: {why}"))?;
            match labels.next() {
                "" => return Ok(Packed(labels.packed.into())),
                "," if labels.peek() == "!" || is_word(labels.peek()) => {}
                "," => return Err(format!("found '{}', expected: identifier after ','", labels.peek())),
                other => return Err(format!("found '{other}', expected: ',' or 'end of string'")),
            }
        }
    }

    fn peek(&self) -> &'t str {
        self.tokens.get(self.at).copied().unwrap_or_default()
    }

    fn next(&mut self) -> &'t str {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn requirement(&mut self) -> Result<(), String> {
        let is_negated = self.peek() == "!";
        if is_negated {
            self.at += 1;
        }
        let key = self.next();
        if !is_word(key) {
            return Err(format!("found '{key}', expected: identifier"));
        }
        if !is_qualified_name(key) {
            return Err(format!(
                "{key:?} is no key of a label: up to 63 letters, digits, '-', '_' and '.', with an optional domain and '/' before them"
            ));
        }
        match self.peek() {
            "" | "," => self.pack(if is_negated { sign::DOES_NOT_EXIST } else { sign::EXISTS }, key, &[]),
            _ if is_negated => self.pack(sign::DOES_NOT_EXIST, key, &[]),
            operator => {
                self.at += 1;
                self.test(key, operator)?;
            }
        }
        Ok(())
    }

    fn test(&mut self, key: &str, operator: &str) -> Result<(), String> {
        let checked = |value: &str| match is_label_value(value) {
            true => Ok(()),
            false => {
                Err(format!("{value:?} can be no value of the label {key}: up to 63 letters, digits, '-', '_' and '.'"))
            }
        };
        let number = |value: &str| match value.parse::<i64>() {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("{value:?} must be an integer to be compared with '<' and '>'")),
        };
        let (sign, values) = match operator {
            "=" | "==" => (sign::IN, vec![self.value()]),
            "!=" => (sign::NOT_IN, vec![self.value()]),
            ">" => (sign::ABOVE, vec![self.value()]),
            "<" => (sign::BELOW, vec![self.value()]),
            "in" => (sign::IN, self.values()?),
            "notin" => (sign::NOT_IN, self.values()?),
            other => return Err(format!("found '{other}', expected: in, notin, =, ==, !=, gt, lt")),
        };
        match sign {
            sign::ABOVE | sign::BELOW => values.iter().try_for_each(|value| number(value))?,
            _ => values.iter().try_for_each(|value| checked(value))?,
        }
        self.pack(sign, key, &values);
        Ok(())
    }

    fn pack(&mut self, sign: char, key: &str, values: &[&str]) {
        self.packed.push(sign);
        self.packed.push_str(key);
        for value in values {
            self.packed.push(VALUE);
            self.packed.push_str(value);
        }
        self.packed.push(END);
    }

    /// A value, which may be empty.
    fn value(&mut self) -> &'t str {
        if is_word(self.peek()) { self.next() } else { "" }
    }

    fn values(&mut self) -> Result<Vec<&'t str>, String> {
        match self.next() {
            "(" => {}
            other => return Err(format!("found '{other}' expected: '('")),
        }
        let mut values = vec![self.value()];
        loop {
            match self.next() {
                ")" => return Ok(values),
                "," => values.push(self.value()),
                other => return Err(format!("found '{other}', expected: ',' or ')'")),
            }
        }
    }
}

fn is_word(token: &str) -> bool {
    !token.is_empty() && !token.starts_with(SIGNS)
}

fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let length = match ["==", "!=", "="].iter().find(|sign| rest.starts_with(**sign)) {
            Some(sign) => sign.len(),
            None if rest.starts_with(SIGNS) => 1,
            None => rest.find(|c: char| c.is_whitespace() || SIGNS.contains(&c)).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

fn parse_fields(text: &str, resource: &Resource) -> Result<Vec<FieldRequirement>, Status> {
    let mut found = Vec::new();
    for term in split_terms(text).into_iter().filter(|term| !term.is_empty()) {
        let operator = ["!=", "==", "="]
            .into_iter()
            .filter_map(|sign| Some((term.find(sign)?, sign)))
            .min_by_key(|(at, sign)| (*at, std::cmp::Reverse(sign.len())));
        let Some((at, sign)) = operator else {
            return Err(Status::bad_request(format!("invalid selector: '{text}'; can't understand '{term}'")));
        };
        let (field, value) = (&term[..at], unescaped(&term[at + sign.len()..]));
        let definition = resource.definition();
        let selectable = resource.version().selectable_fields.iter().map(|path| path.trim_start_matches('.'));
        let is_known = field == "metadata.name"
            || field == "metadata.namespace" && definition.is_namespaced
            || selectable.into_iter().any(|known| known == field);
        if !is_known {
            return Err(Status::bad_request(format!("field label not supported: {field}")));
        }
        found.push(FieldRequirement { path: field.into(), value: value.into(), is_equal: sign != "!=" });
    }
    Ok(found)
}

/// The terms between commas that are not escaped.
fn split_terms(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut begin, mut is_escaped) = (0, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            ',' => {
                terms.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[begin..]);
    terms
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_requirements_are_as_long_as_their_text_and_mean_the_same() {
        let labels = [("tier", "web"), ("cores", "8"), ("empty", "")];
        let label = |key: &str| labels.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
        for (text, is_met) in [
            ("", true),
            ("tier", true),
            ("!tier", false),
            ("none", false),
            ("!none", true),
            ("tier=web,cores==8", true),
            ("tier=web,cores!=8", false),
            ("none!=a", true),
            ("tier in (db, web)", true),
            ("tier notin (db,web)", false),
            ("none notin (db)", true),
            ("none in (db,)", false),
            ("empty in (db,)", true),
            ("empty=", true),
            ("cores > 7, cores < 9", true),
            ("cores > 8", false),
            ("tier > 1", false),
        ] {
            let packed = Labels::parse(text).unwrap();
            assert_eq!(packed.are_met_by(label), is_met, "{text}: {packed:?}");
            assert!(packed.0.len() <= text.len() + 2 * text.split(',').count(), "{text}: {packed:?}");
        }
    }
}
