//! Proposals as lines of a changes file, each behind a `#` until somebody takes it away.

use wheelwright_document::{Value, encode, write_yaml};

use super::{Became, Proposal, ProposedStep};
use crate::{Conversion, Selector, VersionName};

/// Lines of a changes file, all of them comments. Without the `# ` before them, any of those below a version say what was
/// proposed, if the line with the version and the one with the sort of change have lost theirs, too.
pub fn proposals_text(steps: &[ProposedStep]) -> String {
    let mut text = String::new();
    for step in steps {
        text.push('\n');
        lines_of(&step.version, &step.proposals).for_each(|line| text.extend(["# ", &line, "\n"]));
    }
    text
}

/// Lines of a changes file.
pub(crate) fn lines_of(version: &VersionName, proposals: &[Proposal]) -> impl Iterator<Item = String> {
    let sections = sections(proposals).flat_map(|(name, lines)| {
        std::iter::once(format!("  {name}:")).chain(lines.into_iter().map(|line| format!("    {line}")))
    });
    std::iter::once(format!("{}:", scalar(version.as_str()))).chain(sections)
}

fn sections(proposals: &[Proposal]) -> impl Iterator<Item = (&'static str, Vec<String>)> {
    let mut sections = ["renamed", "converted", "reshaped", "removed"].map(|name| (name, Vec::new()));
    for proposal in proposals {
        let Proposal { from, became, is_likely, because } = proposal;
        let (section, line) = match became {
            Became::Renamed(to) => (0, format!("{}: {}", scalar(&from.to_string()), scalar(&to.to_string()))),
            Became::Respelled(to, Conversion::KeyedList { key, value }) => {
                let value = value.as_ref().map_or_else(String::new, |value| format!(", value: {}", flow(value)));
                (2, format!("- {{from: {}, to: {}, key: {}{value}}}", path(from), path(to), flow(key)))
            }
            Became::Respelled(to, with) => {
                let to = if from == to { String::new() } else { format!("to: {}, ", path(to)) };
                (1, format!("{}: {{{to}with: {}}}", scalar(&from.to_string()), converter(with)))
            }
            Became::Removed => (3, format!("- {}", scalar(&from.to_string()))),
        };
        let because = because.replace(char::is_control, " ");
        let confidence = if *is_likely { "likely" } else { "possible" };
        sections[section].1.push(format!("{line}  # {confidence}: {because}"));
    }
    sections.into_iter().filter(|(_, lines)| !lines.is_empty())
}

/// What is proposed of converters.
fn converter(with: &Conversion) -> String {
    match with {
        Conversion::DurationSeconds => "durationSeconds".to_owned(),
        Conversion::Quantity => "quantity".to_owned(),
        Conversion::Scale(factor) => format!("{{scale: {factor}}}"),
        Conversion::Joined(delimiter) => format!("{{joined: {}}}", flow(delimiter)),
        Conversion::ObjectWithKey(key) => format!("{{key: {}}}", flow(key)),
        Conversion::OneItem => "oneItem".to_owned(),
        _ => "text".to_owned(),
    }
}

fn path(field: &Selector) -> String {
    flow(&field.to_string())
}

/// A text inside of `{ }`.
fn flow(text: &str) -> String {
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte));
    let is_plain = is_word && scalar(text) == text;
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// A text on a line of its own, or as a key.
fn scalar(text: &str) -> String {
    let written = write_yaml(Value::string(text));
    let written = written.trim_end();
    if written.contains('\n') { quoted(text) } else { written.to_owned() }
}

/// A text as JSON, which is YAML, too.
fn quoted(text: &str) -> String {
    String::from_utf8_lossy(&encode(Value::string(text))).into_owned()
}
