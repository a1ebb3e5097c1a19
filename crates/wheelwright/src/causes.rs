//! Findings that have a common cause and are rarely news: people are shown one line for each cause.

use std::collections::HashMap;

use wheelwright_findings::{Finding, Findings, Level, rules};

/// A cause that many findings of real histories have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Cause {
    /// Limits, enums, patterns and required fields of conditions, which controllers write.
    Conditions,
    /// A limit that refuses nothing but empty values, such as `minLength: 1` of a name.
    RefusesOnlyEmpty,
    /// `spec` or another field at the top is required, which hardly any document lacks.
    RequiredAtTop,
}

impl Cause {
    fn of(finding: &Finding) -> Option<Self> {
        // An error is always shown where it is.
        if finding.level == Level::Error || finding.suppressed.is_some() || finding.kind.is_none() {
            return None;
        }
        let is_any =
            |of: &[&'static wheelwright_findings::Rule]| of.iter().any(|rule| std::ptr::eq(*rule, finding.rule));
        let field = finding.field.as_str();
        let constrains = [
            &rules::NEWLY_REQUIRED,
            &rules::ENUM_MEMBER_REMOVED,
            &rules::LIMIT_TIGHTENED,
            &rules::PATTERN_CHANGED,
            &rules::NULL_TAKEN_AWAY,
        ];
        if is_any(&constrains) && (field == "status.conditions" || field.starts_with("status.conditions[]")) {
            return Some(Self::Conditions);
        }
        if finding.is_minor {
            return Some(Self::RefusesOnlyEmpty);
        }
        let is_at_top = !field.is_empty() && !field.contains(['.', '[', '{']);
        (is_any(&[&rules::NEWLY_REQUIRED]) && is_at_top).then_some(Self::RequiredAtTop)
    }

    fn text(self) -> &'static str {
        match self {
            Self::Conditions => "limits, enums or required fields of status.conditions changed",
            Self::RefusesOnlyEmpty => "limits refuse empty values",
            Self::RequiredAtTop => "fields at the top are required",
        }
    }
}

/// Takes findings with a common cause out of others, and returns a line for each cause.
pub(crate) fn fold(findings: &Findings) -> (Findings, Vec<String>) {
    let mut causes: Vec<((Level, Cause), Vec<&Finding>)> = Vec::new();
    let mut rest = Vec::new();
    for finding in findings.sorted() {
        let Some(cause) = Cause::of(finding) else {
            rest.push(finding.clone());
            continue;
        };
        let key = (finding.level, cause);
        match causes.iter_mut().find(|(other, _)| *other == key) {
            Some((_, found)) => found.push(finding),
            None => causes.push((key, vec![finding])),
        }
    }
    causes.sort_by_key(|((level, cause), _)| (std::cmp::Reverse(*level), *cause));
    let lines = causes.iter().filter_map(|((level, cause), found)| {
        let first = found.first()?;
        let place = first.place.as_ref().map_or_else(String::new, |place| {
            let (file, line, column) = (&place.file, place.span.line, place.span.column);
            let which = if found.len() > 1 { "first at " } else { "" };
            format!(" ({which}{file}:{line}:{column})")
        });
        let (count, message) = (found.len(), &first.message);
        let mut ids: Vec<&str> = found.iter().map(|finding| finding.rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        Some(match count {
            1 => format!("{level}[{}]: {message}{place}", ids.join(", ")),
            _ => format!("{level}[{}]: {count} times: {}; {message}{place}", ids.join(", "), cause.text()),
        })
    });
    (in_one_version(rest), lines.collect())
}

/// Findings of one rule about one field in several versions of a kind, as one that names the versions.
fn in_one_version(findings: Vec<Finding>) -> Findings {
    type Key = (&'static str, Level, bool, String, String, String);
    let mut positions: HashMap<Key, usize> = HashMap::new();
    let mut kept: Vec<(Finding, Vec<String>)> = Vec::new();
    for finding in findings {
        let (Some(kind), Some(version)) = (&finding.kind, &finding.version) else {
            kept.push((finding, Vec::new()));
            continue;
        };
        let is_limit = [&rules::LIMIT_TIGHTENED, &rules::ENUM_MEMBER_REMOVED, &rules::PATTERN_CHANGED]
            .iter()
            .any(|rule| std::ptr::eq(*rule, finding.rule));
        if !is_limit || finding.level == Level::Error {
            kept.push((finding, Vec::new()));
            continue;
        }
        let field = finding.field.as_str().to_owned();
        let file = finding.place.as_ref().map_or_else(String::new, |place| place.file.clone());
        let is_suppressed = finding.suppressed.is_some();
        let key = (finding.rule.id, finding.level, is_suppressed, kind.clone(), field, file);
        match positions.get(&key) {
            Some(position) => kept[*position].1.push(version.clone()),
            None => {
                positions.insert(key, kept.len());
                kept.push((finding, Vec::new()));
            }
        }
    }
    let named = kept.into_iter().map(|(mut finding, versions)| {
        if !versions.is_empty() {
            finding.message += &format!("; also in {}", versions.join(", "));
        }
        finding
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelwright_document::FieldPath;
    use wheelwright_findings::Rule;

    fn finding(rule: &'static Rule, level: Level, field: &str, version: &str) -> Finding {
        let finding = Finding::new(rule, format!("Order: {field} in {version}"), FieldPath::root().child(field));
        Finding { level, ..finding.about("Order.example.com", version) }
    }

    fn folded(findings: Vec<Finding>) -> (Vec<String>, Vec<String>) {
        let (rest, lines) = fold(&findings.into_iter().collect());
        (rest.into_iter().map(|finding| finding.message).collect(), lines)
    }

    #[test]
    fn a_cause_is_one_line_and_errors_are_never_folded() {
        let (rest, lines) = folded(vec![
            finding(&rules::LIMIT_TIGHTENED, Level::Warning, "status.conditions[].reason", "v1beta1"),
            finding(&rules::ENUM_MEMBER_REMOVED, Level::Warning, "status.conditions[].status", "v1beta1"),
            Finding { is_minor: true, ..finding(&rules::LIMIT_TIGHTENED, Level::Warning, "spec.name", "v1beta1") },
            Finding { is_minor: true, ..finding(&rules::LIMIT_TIGHTENED, Level::Error, "spec.name", "v1") },
            finding(&rules::NEWLY_REQUIRED, Level::Warning, "spec", "v1beta1"),
            finding(&rules::NEWLY_REQUIRED, Level::Error, "spec", "v1"),
            finding(&rules::LIMIT_TIGHTENED, Level::Warning, "spec.size", "v1beta1"),
            finding(&rules::LIMIT_TIGHTENED, Level::Warning, "spec.size", "v1beta2"),
        ]);
        let errors = ["Order: spec in v1", "Order: spec.name in v1"];
        assert_eq!(rest, [&errors[..], &["Order: spec.size in v1beta1; also in v1beta2"]].concat());
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].starts_with("warning[WW155, WW156]: 2 times: limits, enums"), "{lines:?}");
        assert_eq!(
            lines[1..],
            ["warning[WW156]: Order: spec.name in v1beta1", "warning[WW154]: Order: spec in v1beta1"]
        );
    }
}
