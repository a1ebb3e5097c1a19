//! Findings for code scanning: one SARIF 2.1.0 document.

use std::io;

use wheelwright_document::{Arena, Entry, Number, Value, encode_into};

use super::ends::Ends;
use crate::{Finding, Findings, Place, Related, Rule, Sources, Suppression};

/// What the partial fingerprint is called; the number counts up if it is ever made of something else.
const FINGERPRINT: &str = "wheelwright/v1";

/// Writes one SARIF 2.1.0 document on one line: the rules that are broken with their pages, and every finding, those
/// that are let pass with their suppressions. Columns count Unicode code points.
///
/// `is_complete` says whether everything was looked at: what is missing then is mended, and may be forgotten.
pub fn render_sarif(
    findings: &Findings,
    sources: &Sources,
    is_complete: bool,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let arena = Arena::new();
    let mut rules: Vec<&Rule> = findings.iter().map(|finding| finding.rule).collect();
    rules.sort_unstable_by_key(|rule| rule.id);
    rules.dedup_by_key(|rule| rule.id);
    let mut sarif = Sarif { arena: &arena, ends: Ends::new(sources) };
    let identified = findings.identified();
    let mut results = Vec::with_capacity(identified.len());
    for (finding, fingerprint) in &identified {
        let index = rules.partition_point(|rule| rule.id < finding.rule.id);
        results.push(sarif.result(finding, index, fingerprint));
    }
    let driver = sarif.object(&[
        ("name", Value::string("wheelwright")),
        ("version", Value::string(env!("CARGO_PKG_VERSION"))),
        ("semanticVersion", Value::string(env!("CARGO_PKG_VERSION"))),
        ("rules", sarif.list(rules.iter().map(|rule| sarif.rule(rule)))),
    ]);
    let run = sarif.object(&[
        ("tool", sarif.object(&[("driver", driver)])),
        ("invocations", sarif.list([sarif.object(&[("executionSuccessful", Value::Bool(is_complete))])])),
        ("columnKind", Value::string("unicodeCodePoints")),
        ("results", sarif.list(results)),
    ]);
    let document = sarif.object(&[
        ("$schema", Value::string("https://json.schemastore.org/sarif-2.1.0.json")),
        ("version", Value::string("2.1.0")),
        ("runs", sarif.list([run])),
    ]);
    let mut text = Vec::new();
    encode_into(document, &mut text);
    text.push(b'\n');
    out.write_all(&text)
}

struct Sarif<'a> {
    arena: &'a Arena,
    ends: Ends<'a>,
}

impl<'a> Sarif<'a> {
    fn rule(&self, rule: &Rule) -> Value<'a> {
        self.object(&[
            ("id", Value::string(rule.id)),
            ("name", Value::string(rule.name)),
            ("shortDescription", self.message(rule.summary)),
            ("fullDescription", self.message(&format!("{}: {}", rule.summary, rule.why))),
            ("help", self.object(&[("text", Value::string(rule.page)), ("markdown", Value::string(rule.page))])),
            ("defaultConfiguration", self.object(&[("level", Value::string(rule.level.as_str()))])),
        ])
    }

    fn result(&mut self, finding: &'a Finding, rule_index: usize, fingerprint: &'a str) -> Value<'a> {
        let mend = finding.mend.as_deref().unwrap_or(finding.rule.mend);
        let mut location = Vec::new();
        if let Some(place) = &finding.place {
            location.push(("physicalLocation", self.physical(place)));
        }
        if !finding.field.is_root() {
            let logical = self.object(&[("fullyQualifiedName", Value::string(finding.field.as_str()))]);
            location.push(("logicalLocations", self.list([logical])));
        }
        let mut entries = vec![
            ("ruleId", Value::string(finding.rule.id)),
            ("ruleIndex", self.number(rule_index as u32)),
            ("level", Value::string(finding.level.as_str())),
            ("message", self.message(&format!("{}\n\nTo mend it: {mend}", finding.message))),
            ("locations", self.list([self.object(&location)])),
            ("partialFingerprints", self.object(&[(FINGERPRINT, Value::string(fingerprint))])),
        ];
        if !finding.related.is_empty() {
            let mut related = Vec::with_capacity(finding.related.len());
            for (index, Related { label, place }) in finding.related.iter().enumerate() {
                let location = [
                    ("id", self.number(index as u32)),
                    ("physicalLocation", self.physical(place)),
                    ("message", self.message(label)),
                ];
                related.push(self.object(&location));
            }
            entries.push(("relatedLocations", self.list(related)));
        }
        if let Some(suppression) = &finding.suppressed {
            let suppression = self.suppression(suppression);
            entries.push(("suppressions", self.list([suppression])));
        }
        self.object(&entries)
    }

    fn suppression(&mut self, suppression: &'a Suppression) -> Value<'a> {
        let reason = &suppression.reason;
        let justification = match suppression.until {
            Some(until) => self.arena.text(&format!("{reason} (until {until})")),
            None => reason,
        };
        let place = self.physical(&suppression.place);
        self.object(&[
            ("kind", Value::string("inSource")),
            ("status", Value::string("accepted")),
            ("justification", Value::string(justification)),
            ("location", self.object(&[("physicalLocation", place)])),
        ])
    }

    fn physical(&mut self, place: &'a Place) -> Value<'a> {
        let end = self.ends.of(place);
        let uri = Value::string(self.arena.text(&uri(&place.file)));
        self.object(&[
            ("artifactLocation", self.object(&[("uri", uri)])),
            (
                "region",
                self.object(&[
                    ("startLine", self.number(place.span.line)),
                    ("startColumn", self.number(place.span.column)),
                    ("endLine", self.number(end.line)),
                    ("endColumn", self.number(end.column)),
                ]),
            ),
        ])
    }

    fn message(&self, text: &str) -> Value<'a> {
        self.object(&[("text", Value::string(self.arena.text(text)))])
    }

    fn number(&self, number: u32) -> Value<'a> {
        Number::new(self.arena.text(&number.to_string())).map_or(Value::Null, Value::Number)
    }

    fn list(&self, items: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
        Value::Array(self.arena.slice(&items.into_iter().collect::<Vec<_>>()))
    }

    fn object(&self, entries: &[(&'static str, Value<'a>)]) -> Value<'a> {
        let entries: Vec<_> = entries.iter().map(|(key, value)| Entry { key, value: *value }).collect();
        Value::Object(self.arena.slice(&entries))
    }
}

/// The name of a file as a URI: relative as it is, with slashes, and what a URI may not hold in per cents.
fn uri(file: &str) -> String {
    let file = if std::path::MAIN_SEPARATOR == '\\' { file.replace('\\', "/") } else { file.to_owned() };
    let mut uri = String::with_capacity(file.len());
    if file.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in file.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(byte as char);
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_uris() {
        assert_eq!(uri("crds/a-b_c.yaml"), "crds/a-b_c.yaml");
        assert_eq!(uri("../größe 1#2?.yaml"), "../gr%C3%B6%C3%9Fe%201%232%3F.yaml");
        assert_eq!(uri("a:b/100%.yaml"), "a%3Ab/100%25.yaml");
        assert_eq!(uri("/tmp/a.yaml"), "file:///tmp/a.yaml");
    }
}
