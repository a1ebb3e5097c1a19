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

/// Lines of a changes file. Other readings and open questions are comments, even once the lines are accepted.
pub(crate) fn lines_of(version: &VersionName, proposals: &[Proposal]) -> impl Iterator<Item = String> {
    let (open, proposed): (Vec<&Proposal>, Vec<&Proposal>) =
        proposals.iter().partition(|proposal| proposal.became == Became::Open);
    let nothing = if proposed.is_empty() { " {}" } else { "" };
    let sections = sections(&proposed).flat_map(|(name, lines)| {
        std::iter::once(format!("  {name}:")).chain(lines.into_iter().map(|line| format!("    {line}")))
    });
    let questions = open.into_iter().flat_map(|Proposal { from, because, otherwise, .. }| {
        let question = format!("  # {from} is open: {}", plain(because));
        std::iter::once(question).chain(otherwise.as_ref().map(|otherwise| format!("  # or {}", plain(otherwise))))
    });
    let questions: Vec<String> = questions.collect();
    std::iter::once(format!("{}:{nothing}", scalar(version.as_str()))).chain(sections).chain(questions)
}

/// A text on one line.
fn plain(text: &str) -> String {
    text.replace(char::is_control, " ")
}

fn sections(proposals: &[&Proposal]) -> impl Iterator<Item = (&'static str, Vec<String>)> + use<> {
    let mut sections = ["renamed", "converted", "reshaped", "removed"].map(|name| (name, Vec::new()));
    for proposal in proposals {
        let Proposal { from, became, is_likely, because, otherwise } = proposal;
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
            Became::Removed | Became::Open => (3, format!("- {}", scalar(&from.to_string()))),
        };
        let confidence = if *is_likely { "likely" } else { "possible" };
        sections[section].1.push(format!("{line}  # {confidence}: {}", plain(because)));
        sections[section].1.extend(otherwise.iter().map(|otherwise| format!("# or {}", plain(otherwise))));
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
        Conversion::Clamped(clamped) => {
            let with = clamped.with.as_deref().map_or_else(|| "text".to_owned(), converter);
            format!("{with}, clamped: true")
        }
        Conversion::Document(format) => format!("{{document: {}}}", format.word()),
        _ => "text".to_owned(),
    }
}

pub(super) fn path(field: &Selector) -> String {
    flow(&field.to_string())
}

/// A text inside of `{ }`.
pub(super) fn flow(text: &str) -> String {
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
