//! What commands that look into a store have in common.

use std::{error::Error, io};

use wheelwright_document::{Arena, Entry, Number, Owned, Value, encode};
use wheelwright_evolve::VersionName;
use wheelwright_repository::{Collection, Problem, Problems, Repository, RepositoryError};

use crate::{Console, ResultFormat};

/// The kinds that are meant.
pub(super) fn chosen(repository: &Repository, kind: Option<&str>) -> Result<Vec<Collection>, RepositoryError> {
    match kind {
        Some(name) => Ok(vec![repository.kind(name)?]),
        None => Ok(repository.kinds().collect()),
    }
}

/// Reports damage of the structure of a store, with what to do about it. Returns whether there is any.
pub(super) async fn report_structural_damage(
    repository: &Repository,
    format: ResultFormat,
    console: &mut Console<'_>,
) -> io::Result<Result<bool, RepositoryError>> {
    let damage = match repository.find_structural_damage().await {
        Ok(Some(damage)) => damage,
        Ok(None) => return Ok(Ok(false)),
        Err(error) => return Ok(Err(error)),
    };
    let what = damage.source().map_or_else(|| damage.to_string(), ToString::to_string);
    match format {
        ResultFormat::Text => writeln!(console.data, "the structure of the store is damaged: {what}")?,
        ResultFormat::Json => {
            let mut line = Line(Vec::new());
            line.text("structuralDamage", &what);
            line.text("help", &damage.to_string());
            line.write(console.data)?;
        }
    }
    console.data.flush()?;
    console.say(format_args!("help: {damage}"))?;
    Ok(Ok(true))
}

/// A number as people read it: 12,345.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many records.
pub(super) fn records(number: u64) -> String {
    format!("{} record{}", count(number), if number == 1 { "" } else { "s" })
}

/// Writes what is the matter with records, if something is, and how many more there are.
pub(super) fn write_problems(problems: &Problems, what: &str, out: &mut dyn io::Write) -> io::Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {:>9}  {what}:", count(problems.count))?;
    for Problem { name, why, .. } in &problems.listed {
        writeln!(out, "             {name}: {why}")?;
    }
    match problems.count - problems.listed.len() as u64 {
        0 => Ok(()),
        more => writeln!(out, "             … and {} more; migrate verify lists them all", count(more)),
    }
}

/// A line of JSON while it is made.
pub(super) struct Line(Vec<(&'static str, Owned)>);

impl Line {
    /// A line about a kind.
    pub(super) fn of_kind(name: &str) -> Self {
        Self(vec![("kind", Owned::from(Value::string(name)))])
    }

    pub(super) fn text(&mut self, key: &'static str, text: &str) {
        self.0.push((key, Value::string(text).into()));
    }

    pub(super) fn null(&mut self, key: &'static str) {
        self.0.push((key, Value::Null.into()));
    }

    pub(super) fn is(&mut self, key: &'static str, value: bool) {
        self.0.push((key, Value::Bool(value).into()));
    }

    pub(super) fn number(&mut self, key: &'static str, number: u64) {
        self.0.push((key, number_of(&number.to_string()).into()));
    }

    pub(super) fn value(&mut self, key: &'static str, value: Value<'_>) {
        self.0.push((key, value.into()));
    }

    /// Numbers by version.
    pub(super) fn numbers(&mut self, key: &'static str, numbers: &[(VersionName, u64)]) {
        let texts: Vec<String> = numbers.iter().map(|(_, number)| number.to_string()).collect();
        let entries = numbers.iter().zip(&texts);
        let entries: Vec<Entry<'_>> =
            entries.map(|((version, _), text)| Entry { key: version.as_str(), value: number_of(text) }).collect();
        self.0.push((key, Value::Object(&entries).into()));
    }

    /// How many problems there are, and those that are listed.
    pub(super) fn problems(&mut self, key: &'static str, problems: &Problems) {
        self.number("problemCount", problems.count);
        let arena = Arena::new();
        let listed = problems.listed.iter().map(|Problem { name, why, .. }| {
            let fields = [("name", name), ("why", why)];
            let entries = fields.map(|(key, text)| Entry { key, value: Value::string(text) });
            Value::Object(arena.slice(&entries))
        });
        self.0.push((key, Value::Array(arena.slice_from(listed.collect::<Vec<_>>())).into()));
    }

    pub(super) fn write(self, out: &mut dyn io::Write) -> io::Result<()> {
        let arena = Arena::new();
        let entries = self.0.iter().map(|(key, value)| Entry { key, value: value.share(&arena) });
        let mut line = encode(Value::Object(&entries.collect::<Vec<_>>()));
        line.push(b'\n');
        out.write_all(&line)
    }
}

fn number_of(text: &str) -> Value<'_> {
    Number::new(text).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), text);
        }
    }
}
