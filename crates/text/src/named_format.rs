//! The formats that rules name, such as `format.dns1123Label()`, and everything that is wrong with a text.

use std::borrow::Cow;

use crate::{
    Format,
    names::{LONGEST_LABEL, LONGEST_SUBDOMAIN, is_label, is_subdomain, is_word_of_any_length},
};

/// A format that rules can name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NamedFormat {
    /// A lower-case DNS label as in RFC 1123.
    Dns1123Label,
    /// Such labels joined by dots.
    Dns1123Subdomain,
    /// A lower-case DNS label as in RFC 1035, which starts with a letter.
    Dns1035Label,
    /// A name with an optional prefix, such as `example.com/name`.
    QualifiedName,
    /// The start of a label, which may end in a dash.
    Dns1123LabelPrefix,
    /// The start of a subdomain, which may end in a dash.
    Dns1123SubdomainPrefix,
    /// The start of a label as in RFC 1035, which may end in a dash.
    Dns1035LabelPrefix,
    /// The value of a label.
    LabelValue,
    /// An absolute URI or an absolute path.
    Uri,
    /// A UUID, with or without dashes.
    Uuid,
    /// Base64 with padding.
    Byte,
    /// A date such as `2006-01-02`.
    Date,
    /// A date and a time with a zone.
    DateTime,
}

/// Every format with its name and the length of the regular expression that Kubernetes checks it with, or would.
const FORMATS: [(&str, NamedFormat, u64); 13] = [
    ("dns1123Label", NamedFormat::Dns1123Label, 30),
    ("dns1123Subdomain", NamedFormat::Dns1123Subdomain, 60),
    ("dns1035Label", NamedFormat::Dns1035Label, 30),
    ("qualifiedName", NamedFormat::QualifiedName, 60),
    ("dns1123LabelPrefix", NamedFormat::Dns1123LabelPrefix, 30),
    ("dns1123SubdomainPrefix", NamedFormat::Dns1123SubdomainPrefix, 60),
    ("dns1035LabelPrefix", NamedFormat::Dns1035LabelPrefix, 30),
    ("labelValue", NamedFormat::LabelValue, 40),
    ("uri", NamedFormat::Uri, 1_120),
    ("uuid", NamedFormat::Uuid, 70),
    ("byte", NamedFormat::Byte, 84),
    ("date", NamedFormat::Date, 71),
    ("datetime", NamedFormat::DateTime, 71),
];

impl NamedFormat {
    /// The format of this name.
    pub fn named(name: &str) -> Option<Self> {
        FORMATS.into_iter().find(|(known, ..)| *known == name).map(|(_, format, _)| format)
    }

    /// Every format with its name.
    pub fn all() -> impl Iterator<Item = (&'static str, Self)> {
        FORMATS.into_iter().map(|(name, format, _)| (name, format))
    }

    /// The length of the regular expression that Kubernetes counts as the cost of a check.
    pub fn regex_size(self) -> u64 {
        FORMATS.into_iter().find(|(_, format, _)| *format == self).map_or(0, |(.., size)| size)
    }

    /// Everything that is wrong with a text, one sentence each; as many as Kubernetes finds.
    pub fn validate(self, text: &str) -> Vec<Cow<'static, str>> {
        match self {
            Self::Dns1123Label => label(text),
            Self::Dns1123LabelPrefix => label(&without_trailing_dash(text)),
            Self::Dns1123Subdomain => subdomain(text),
            Self::Dns1123SubdomainPrefix => subdomain(&without_trailing_dash(text)),
            Self::Dns1035Label => letter_label(text),
            Self::Dns1035LabelPrefix => letter_label(&without_trailing_dash(text)),
            Self::QualifiedName => qualified_name(text),
            Self::LabelValue => {
                let is_good = text.is_empty() || is_word_of_any_length(text);
                errors([too_long(text, LONGEST_LABEL), unless(is_good, LABEL_VALUE)])
            }
            Self::Uri => one(Format::Uri.accepts(text), "must be an absolute URI or an absolute path"),
            Self::Uuid => one(Format::Uuid.accepts(text), "must be a UUID: 32 hexadecimal digits"),
            Self::Byte => one(Format::Byte.accepts(text), "must be base64 with padding"),
            Self::Date => one(Format::Date.accepts(text), "must be a date such as 2006-01-02"),
            Self::DateTime => one(Format::DateTime.accepts(text), "must be a time such as 2006-01-02T15:04:05Z"),
        }
    }
}

const LABEL: &str = "must be lower-case letters, digits and '-', and start and end with a letter or digit";
const LETTER_LABEL: &str =
    "must be lower-case letters, digits and '-', start with a letter, and end with a letter or digit";
const SUBDOMAIN: &str =
    "must be lower-case letters, digits, '-' and '.', and each part must start and end with a letter or digit";
const WORD: &str = "must be letters, digits, '-', '_' and '.', and start and end with a letter or digit";
const LABEL_VALUE: &str =
    "must be empty, or letters, digits, '-', '_' and '.', and start and end with a letter or digit";

fn label(text: &str) -> Vec<Cow<'static, str>> {
    let shape = match is_label(text) {
        true => None,
        false if is_subdomain(text) => Some("must not contain dots".into()),
        false => Some(LABEL.into()),
    };
    errors([too_long(text, LONGEST_LABEL), shape])
}

fn letter_label(text: &str) -> Vec<Cow<'static, str>> {
    let is_good = is_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase());
    errors([too_long(text, LONGEST_LABEL), unless(is_good, LETTER_LABEL)])
}

fn subdomain(text: &str) -> Vec<Cow<'static, str>> {
    errors([too_long(text, LONGEST_SUBDOMAIN), unless(is_subdomain(text), SUBDOMAIN)])
}

fn qualified_name(text: &str) -> Vec<Cow<'static, str>> {
    let (prefix, name) = match text.split_once('/') {
        Some((_, name)) if name.contains('/') => return vec!["must have one '/' at most, after a prefix".into()],
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let mut found = match prefix {
        Some("") => vec!["the prefix must not be empty".into()],
        Some(prefix) => subdomain(prefix).into_iter().map(|error| format!("the prefix {error}").into()).collect(),
        None => Vec::new(),
    };
    let length = if name.is_empty() { Some("must not be empty".into()) } else { too_long(name, LONGEST_LABEL) };
    let of_name = errors([length, unless(is_word_of_any_length(name), WORD)]);
    found.extend(of_name.into_iter().map(|error| format!("the name {error}").into()));
    found
}

/// What will be appended makes a dash at the end good, which is why the reference puts a letter in place of the last
/// two characters.
fn without_trailing_dash(text: &str) -> Cow<'_, str> {
    let Some(rest) = text.strip_suffix('-').filter(|rest| !rest.is_empty()) else {
        return text.into();
    };
    let mut characters = rest.chars();
    match characters.next_back() {
        Some(last) if !last.is_ascii() => text.into(),
        _ => format!("{}a", characters.as_str()).into(),
    }
}

fn too_long(text: &str, most: usize) -> Option<Cow<'static, str>> {
    (text.len() > most).then(|| format!("must be no longer than {most} bytes").into())
}

fn unless(is_good: bool, error: &'static str) -> Option<Cow<'static, str>> {
    (!is_good).then_some(error.into())
}

fn one(is_good: bool, error: &'static str) -> Vec<Cow<'static, str>> {
    errors([unless(is_good, error), None])
}

fn errors(found: [Option<Cow<'static, str>>; 2]) -> Vec<Cow<'static, str>> {
    found.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_name() {
        for (name, format) in NamedFormat::all() {
            assert_eq!(NamedFormat::named(name), Some(format));
            assert!(format.regex_size() > 0);
        }
        assert_eq!(NamedFormat::all().count(), 13);
        for unknown in ["", "unknown", "DNS1123Label", "date-time", "email"] {
            assert_eq!(NamedFormat::named(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn errors_are_counted_as_in_kubernetes() {
        let long = "a".repeat(64);
        let long_and_odd = format!("{}-", "A".repeat(300));
        let cases: [(&str, &[(&str, usize)]); 13] = [
            ("dns1123Label", &[("my-label", 0), ("a b", 1), ("a.b", 1), (&long, 1), (&long_and_odd, 2), ("", 1)]),
            ("dns1123Subdomain", &[("example.com", 0), (&long, 0), ("a..b", 1), (&long_and_odd, 2)]),
            ("dns1035Label", &[("my-label", 0), ("0a", 1), (&long, 1), (&long_and_odd, 2)]),
            (
                "qualifiedName",
                &[("a", 0), ("e.com/N", 0), ("a b", 1), ("", 2), ("/", 3), ("a/b/c", 1), ("A/b", 1), (&long, 1)],
            ),
            (
                "dns1123LabelPrefix",
                &[("a-", 0), ("my-label-", 0), ("a -", 0), ("a b-", 1), ("a bc-", 1), ("-", 1), ("a--", 0)],
            ),
            ("dns1123SubdomainPrefix", &[("a.b-", 0), ("a.-", 0), ("A.b-", 1), ("é-", 1)]),
            ("dns1035LabelPrefix", &[("a-", 0), ("0-", 0), ("00-", 1)]),
            ("labelValue", &[("", 0), ("A_b.c", 0), ("a!", 1), (&long, 1), (&long_and_odd, 2)]),
            ("uri", &[("https://example.com", 0), ("/a", 0), ("a", 1)]),
            ("uuid", &[("123e4567-e89b-12d3-a456-426614174000", 0), ("123", 1)]),
            ("byte", &[("aGVsbG8=", 0), ("aGVsbG8", 1)]),
            ("date", &[("2021-01-01", 0), ("2020-01-32", 1)]),
            ("datetime", &[("2021-01-01T00:00:00Z", 0), ("2020-01-32T00:00:00Z", 1)]),
        ];
        for (name, texts) in cases {
            let format = NamedFormat::named(name).unwrap();
            for (text, count) in texts {
                let found = format.validate(text);
                assert_eq!(found.len(), *count, "{name} of {text:?}: {found:?}");
                assert!(found.iter().all(|error| error.contains("must")), "{found:?}");
            }
        }
    }
}
