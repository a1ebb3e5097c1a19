//! Findings, collected in any order and shown in one.

use std::collections::HashMap;

use crate::{Finding, Level};

/// What was found, all in all.
#[derive(Clone, Debug, Default)]
pub struct Findings(Vec<Finding>);

impl Findings {
    /// Nothing found yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, finding: Finding) {
        self.0.push(finding);
    }

    /// Whether nothing at all was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether nothing was found that must be mended: warnings and notes may be there, and errors that are let pass.
    pub fn is_clean(&self) -> bool {
        self.count(Level::Error) == 0
    }

    /// How many there are of a level that are not let pass.
    pub fn count(&self, level: Level) -> usize {
        self.0.iter().filter(|finding| finding.level == level && finding.suppressed.is_none()).count()
    }

    /// All of them, in the order they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.0.iter()
    }

    /// All of them, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Finding> {
        self.0.iter_mut()
    }

    /// All of them as [`Findings::sorted`], each with a fingerprint that stays the same when lines move.
    ///
    /// It is made of the rule and of what the finding is about: its identity, or the name of the file, without folders,
    /// and the field. Findings that agree in these are numbered in the order of the text.
    pub fn identified(&self) -> Vec<(&Finding, String)> {
        let mut seen: HashMap<(&str, &str, &str), u32> = HashMap::new();
        let identify = |finding| {
            let (rule, subject, field) = subject(finding);
            let number = seen.entry((rule, subject, field)).or_default();
            *number += 1;
            let parts = [rule, subject, field, &number.to_string()];
            (finding, format!("{:016x}", fnv1a(parts.join("\0").as_bytes())))
        };
        self.sorted().into_iter().map(identify).collect()
    }

    /// All of them by file, place, rule and field, so that the same findings are always shown in the same order.
    pub fn sorted(&self) -> Vec<&Finding> {
        fn key(finding: &Finding) -> impl Ord + '_ {
            (&finding.place, finding.rule.id, &finding.field, &finding.message)
        }
        let mut sorted: Vec<_> = self.0.iter().collect();
        sorted.sort_by(|a, b| key(a).cmp(&key(b)));
        sorted
    }
}

fn subject(finding: &Finding) -> (&'static str, &str, &str) {
    match (&finding.identity, &finding.place) {
        (Some(identity), _) => (finding.rule.id, identity, ""),
        (None, Some(place)) => {
            let name = place.file.rsplit(['/', '\\']).next().unwrap_or_default();
            (finding.rule.id, name, finding.field.as_str())
        }
        (None, None) => (finding.rule.id, "", finding.field.as_str()),
    }
}

/// The 64-bit hash of Fowler, Noll and Vo, which is the same everywhere and for ever.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Extend<Finding> for Findings {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        self.0.extend(findings);
    }
}

impl FromIterator<Finding> for Findings {
    fn from_iter<I: IntoIterator<Item = Finding>>(findings: I) -> Self {
        Self(findings.into_iter().collect())
    }
}

impl IntoIterator for Findings {
    type Item = Finding;
    type IntoIter = std::vec::IntoIter<Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'f> IntoIterator for &'f Findings {
    type Item = &'f Finding;
    type IntoIter = std::slice::Iter<'f, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{FieldPath, Path, Span};

    use super::*;
    use crate::{Place, rules};

    #[test]
    fn the_order_is_the_same_however_they_were_found() {
        let field = |name: &str| Path::Child(&Path::Root, name).to_field_path();
        let at = |file: &str, start| Place::new(file, Span { start, end: start + 1, line: 1, column: start + 1 });
        let expected = [
            Finding::new(&rules::UNREADABLE, "nowhere", FieldPath::root()),
            Finding::new(&rules::TYPE_REQUIRED, "first file", field("b")).at(at("a.yaml", 7)),
            Finding::new(&rules::TYPE_REQUIRED, "first place", field("b")).at(at("b.yaml", 1)),
            Finding::new(&rules::TYPE_REQUIRED, "rule", field("b")).at(at("b.yaml", 2)),
            Finding::new(&rules::TYPE_UNKNOWN, "field a", field("a")).at(at("b.yaml", 2)),
            Finding::new(&rules::TYPE_UNKNOWN, "field b", field("b")).at(at("b.yaml", 2)),
            Finding::new(&rules::TYPE_UNKNOWN, "message", field("b")).at(at("b.yaml", 2)),
        ];
        let messages = |findings: &Findings| {
            findings.sorted().into_iter().map(|finding| finding.message.clone()).collect::<Vec<_>>()
        };
        let forwards: Findings = expected.iter().cloned().collect();
        let backwards: Findings = expected.iter().rev().cloned().collect();
        assert_eq!(messages(&forwards), expected.map(|finding| finding.message));
        assert_eq!(messages(&forwards), messages(&backwards));
    }

    #[test]
    fn fingerprints_do_not_depend_on_lines_and_folders() {
        let field = Path::Child(&Path::Root, "a").to_field_path();
        let at = |file: &str, line| {
            let place = Place::new(file, Span { start: line * 10, end: line * 10 + 1, line, column: 1 });
            Finding::new(&rules::TYPE_REQUIRED, "type is required", field.clone()).at(place)
        };
        let fingerprints = |findings: Vec<Finding>| {
            let findings = Findings::from_iter(findings);
            findings.identified().into_iter().map(|(_, fingerprint)| fingerprint).collect::<Vec<_>>()
        };
        let one = fingerprints(vec![at("a.yaml", 1)]);
        assert_eq!(one, fingerprints(vec![at("b/a.yaml", 7)]));
        assert_ne!(one, fingerprints(vec![at("b.yaml", 1)]));
        let two = fingerprints(vec![at("a.yaml", 3), at("a.yaml", 2)]);
        assert_eq!(two[0], one[0]);
        assert_ne!(two[1], one[0]);
        let named = fingerprints(vec![at("a.yaml", 1).with_identity("kinds.example.com spec.versions[v1]")]);
        assert_eq!(named, fingerprints(vec![at("c.yaml", 9).with_identity("kinds.example.com spec.versions[v1]")]));
        assert_ne!(named, one);
        assert_eq!(one, ["b598cfce9ac1cafa"]);
    }

    #[test]
    fn only_errors_fail() {
        let mut findings = Findings::new();
        assert!(findings.is_clean() && findings.is_empty());
        findings.push(Finding::new(&rules::UNKNOWN_KEYWORD, "defualt", FieldPath::root()));
        assert!(findings.is_clean() && !findings.is_empty());
        findings.push(Finding::new(&rules::TYPE_REQUIRED, "type is required", FieldPath::root()));
        assert!(!findings.is_clean());
        assert_eq!((findings.count(Level::Error), findings.count(Level::Warning)), (1, 1));
    }
}
