//! Findings, collected in any order and shown in one.

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

    /// Whether nothing was found that must be mended: warnings and notes may be there.
    pub fn is_clean(&self) -> bool {
        self.count(Level::Error) == 0
    }

    /// How many there are of a level.
    pub fn count(&self, level: Level) -> usize {
        self.0.iter().filter(|finding| finding.level == level).count()
    }

    /// All of them, in the order they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.0.iter()
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
