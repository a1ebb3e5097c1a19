//! Which objects a list or a watch wants: by labels and by fields.

use std::collections::HashMap;

use wheelwright_document::Value;
use wheelwright_text::names::{is_label_value, is_qualified_name};

use super::{resource::Resource, status::Status};

/// More terms than these are looked up in an index of labels.
const FEW: usize = 16;

/// What objects must be like.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Selector {
    labels: Vec<Requirement>,
    fields: Vec<FieldRequirement>,
    /// The length of its texts.
    size: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
    Above(i64),
    Below(i64),
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct FieldRequirement {
    /// The names from the root on.
    path: Vec<String>,
    value: String,
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
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// The length of its texts.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Whether what it says of an object never changes.
    pub(super) fn is_about_names(&self) -> bool {
        let is_name = |field: &FieldRequirement| field.path.first().is_some_and(|first| first == "metadata");
        self.labels.is_empty() && self.fields.iter().all(is_name)
    }

    pub(super) fn matches(&self, document: Value<'_>) -> bool {
        let labels = document.get("metadata").and_then(|metadata| metadata.get("labels"));
        let labels = labels.and_then(Value::as_object).unwrap_or_default();
        // Many terms are not looked up one by one among many labels.
        let index: Option<HashMap<&str, Value<'_>>> =
            (self.labels.len() > FEW).then(|| labels.iter().map(|entry| (entry.key, entry.value)).collect());
        let find = |key: &str| labels.iter().find(|entry| entry.key == key).map(|entry| entry.value);
        let label = |key: &str| index.as_ref().map_or_else(|| find(key), |index| index.get(key).copied());
        let label = |key: &str| label(key).and_then(Value::as_str);
        self.labels.iter().all(|wanted| wanted.test.is_met_by(label(&wanted.key)))
            && self.fields.iter().all(|wanted| wanted.is_met_by(document))
    }
}

impl Test {
    fn is_met_by(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::In(values) => value.is_some_and(|value| values.iter().any(|wanted| wanted == value)),
            Self::NotIn(values) => !value.is_some_and(|value| values.iter().any(|unwanted| unwanted == value)),
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
            Self::Above(limit) => number().is_some_and(|number| number > *limit),
            Self::Below(limit) => number().is_some_and(|number| number < *limit),
        }
    }
}

impl FieldRequirement {
    fn is_met_by(&self, document: Value<'_>) -> bool {
        let value = self.path.iter().try_fold(document, |value, name| value.get(name));
        let text = match value {
            Some(Value::String(text)) => text.as_str().to_owned(),
            Some(Value::Bool(value)) => value.to_string(),
            Some(Value::Number(number)) => number.as_str().to_owned(),
            _ => String::new(),
        };
        (text == self.value) == self.is_equal
    }
}

/// The words and signs of a label selector.
struct Labels<'t> {
    tokens: Vec<&'t str>,
    at: usize,
}

/// What cannot be a part of a word.
const SIGNS: [char; 7] = ['(', ')', ',', '!', '=', '<', '>'];

impl<'t> Labels<'t> {
    fn parse(text: &'t str) -> Result<Vec<Requirement>, String> {
        let mut labels = Self { tokens: tokens(text), at: 0 };
        let mut found = Vec::new();
        if labels.peek().is_empty() {
            return Ok(found);
        }
        loop {
            let first = labels.peek();
            if first != "!" && !is_word(first) {
                return Err(format!("found '{first}', expected: !, identifier, or 'end of string'"));
            }
            found.push(labels.requirement().map_err(|why| format!("unable to parse requirement: {why}"))?);
            match labels.next() {
                "" => return Ok(found),
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

    fn requirement(&mut self) -> Result<Requirement, String> {
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
        let test = match self.peek() {
            "" | "," => {
                if is_negated {
                    Test::DoesNotExist
                } else {
                    Test::Exists
                }
            }
            _ if is_negated => Test::DoesNotExist,
            operator => {
                self.at += 1;
                self.test(key, operator)?
            }
        };
        Ok(Requirement { key: key.to_owned(), test })
    }

    fn test(&mut self, key: &str, operator: &str) -> Result<Test, String> {
        let checked = |value: &str| match is_label_value(value) {
            true => Ok(value.to_owned()),
            false => {
                Err(format!("{value:?} can be no value of the label {key}: up to 63 letters, digits, '-', '_' and '.'"))
            }
        };
        let number = |value: &str| {
            value.parse::<i64>().map_err(|_| format!("{value:?} must be an integer to be compared with '<' and '>'"))
        };
        match operator {
            "=" | "==" => Ok(Test::In(vec![checked(self.value())?])),
            "!=" => Ok(Test::NotIn(vec![checked(self.value())?])),
            ">" => number(self.value()).map(Test::Above),
            "<" => number(self.value()).map(Test::Below),
            "in" | "notin" => {
                let values = self.values()?.into_iter().map(checked).collect::<Result<_, _>>()?;
                Ok(if operator == "in" { Test::In(values) } else { Test::NotIn(values) })
            }
            other => Err(format!("found '{other}', expected: in, notin, =, ==, !=, gt, lt")),
        }
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
        let path = field.split('.').map(str::to_owned).collect();
        found.push(FieldRequirement { path, value, is_equal: sign != "!=" });
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
