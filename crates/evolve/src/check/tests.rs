//! Cases of the rules, and the pages about them: what is shown as bad breaks that rule, and what is shown as good does not.

use std::collections::BTreeSet;

use wheelwright_document::{Arena, Decode, Owned, Span, Spanned, Yaml, decode_yaml};
use wheelwright_findings::{Level, rules};
use wheelwright_schema::{Root, lower_schema};

use super::*;
use crate::{
    Declaration, DeclaredUnion, DeclaredVersion, FieldValue, History, Located, Renamed, Selector, VersionName,
    VersionStep, Writers,
};

/// A kind as the pages show it: schemas by version, `changes`, `hub` and what is `locked` as the hub.
struct Case {
    declaration: Declaration,
    history: History,
    locked: Option<VersionName>,
}

impl Case {
    fn new(text: &str) -> Self {
        let arena = Arena::new();
        let decode = Decode { yaml: Yaml::Core, ..Decode::default() };
        let document = decode_yaml(text.as_bytes(), &arena, &decode).unwrap()[0];
        let mut declaration = Declaration::new("example.com", "Example");
        let mut locked = None;
        for entry in document.as_object().unwrap() {
            match entry.key {
                "changes" => declaration.steps = entry.value.as_object().unwrap().iter().map(step).collect(),
                "hub" => declaration.hub = entry.value.as_str().map(|name| located(VersionName::new(name))),
                "locked" => locked = entry.value.as_str().map(VersionName::new),
                name => declaration.versions.push(DeclaredVersion::new(
                    VersionName::new(name),
                    lower_schema(&entry.value).item,
                    Root::Resource,
                    entry.key_span,
                )),
            }
        }
        let (history, problems) = History::derive(&declaration, None);
        assert!(problems.is_empty(), "{problems:?}");
        Self { declaration, history, locked }
    }

    fn findings(&self) -> Vec<Incompatibility> {
        check(&self.declaration, &self.history, self.locked.as_ref())
    }

    fn versions(&self) -> (crate::VersionIndex, crate::VersionIndex) {
        let mut indexes = self.history.indexes();
        (indexes.next().unwrap(), indexes.next().unwrap())
    }
}

fn located<T>(item: T) -> Located<T> {
    Located { item, span: Span::default() }
}

fn selector(text: &str) -> Selector {
    Selector::parse(text).unwrap()
}

fn step(entry: &wheelwright_document::SpannedEntry<'_>) -> VersionStep {
    let mut step = VersionStep::new(located(VersionName::new(entry.key)));
    let texts = |value: &Spanned<'_>| -> Vec<Box<str>> {
        value.as_array().unwrap().iter().map(|item| item.as_str().unwrap().into()).collect()
    };
    for change in entry.value.as_object().unwrap() {
        let fields = change.value.as_object().unwrap_or_default();
        match change.key {
            "removed" => {
                step.removed = texts(&change.value).iter().map(|path| located(selector(path))).collect();
            }
            "writers" => step.writers = Some(located(Writers::Omitempty)),
            "renamed" => {
                let renamed = |field: &wheelwright_document::SpannedEntry<'_>| Renamed {
                    from: located(selector(field.key)),
                    to: located(selector(field.value.as_str().unwrap())),
                };
                step.renamed = fields.iter().map(renamed).collect();
            }
            "keys" => {
                step.keys = fields.iter().map(|field| (located(selector(field.key)), texts(&field.value))).collect();
            }
            "union" => {
                let union = |field: &wheelwright_document::SpannedEntry<'_>| DeclaredUnion {
                    at: located(selector(field.key)),
                    members: texts(&field.value),
                    discriminator: None,
                };
                step.unions = fields.iter().map(union).collect();
            }
            "default" => {
                let arena = Arena::new();
                let value = |field: &wheelwright_document::SpannedEntry<'_>| FieldValue {
                    at: located(selector(field.key)),
                    value: Owned::from(field.value.to_value(&arena)),
                };
                step.defaults = fields.iter().map(value).collect();
            }
            other => panic!("{other}"),
        }
    }
    step
}

/// Findings as `WW150 note: message`, with the mend below it.
fn told(findings: &[Incompatibility]) -> Vec<String> {
    findings.iter().map(|finding| format!("{} {}", finding.rule().id, finding.message())).collect()
}

#[test]
fn bad_examples_break_their_rule_and_good_ones_do_not() {
    let mut pages = 0;
    for rule in rules::all().iter().filter(|rule| ("WW150"..="WW170").contains(&rule.id)) {
        for (heading, expected) in [("## Bad", true), ("## Good", false)] {
            let section = rule.page.split_once(&format!("{heading}\n")).unwrap().1.split("\n## ").next().unwrap();
            let example = section.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
            let findings = Case::new(example).findings();
            let broken: BTreeSet<_> = findings.iter().map(|finding| finding.rule().id).collect();
            assert_eq!(broken.contains(rule.id), expected, "{} {heading}: {:?}", rule.id, told(&findings));
        }
        pages += 1;
    }
    assert_eq!(pages, 16);
}
