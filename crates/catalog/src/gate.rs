//! How grave findings are: `gate`, by the maturity of versions, and `rules`, by rule.

use wheelwright_document::{Path, Spanned};
use wheelwright_evolve::{Maturity, Reader, quoted};
use wheelwright_findings::{Level, Rule, rules};
use wheelwright_schema::closest_of;

const LEVELS: &[(&str, Level)] = &[("error", Level::Error), ("warning", Level::Warning), ("note", Level::Note)];

const RULE_LEVELS: &[(&str, Option<Level>)] =
    &[("error", Some(Level::Error)), ("warning", Some(Level::Warning)), ("note", Some(Level::Note)), ("off", None)];

/// The levels of findings that a catalog, or an entry of its kinds, sets.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Gate {
    /// `gate`: the gravest level of findings about versions of a maturity.
    pub maturities: Vec<(Maturity, Level)>,
    /// `rules`: the level of every finding of a rule; none if the rule is off.
    pub rules: Vec<(&'static Rule, Option<Level>)>,
}

impl Gate {
    /// The levels of a kind: its own, and those of the catalog where it sets none itself.
    pub(crate) fn over(&self, catalog: &Self) -> Self {
        let mut both = self.clone();
        both.maturities.extend(&catalog.maturities);
        both.rules.extend(&catalog.rules);
        both
    }

    /// The level of a finding about a version. `usual` is its level without a catalog, `gravest` the one that it has in
    /// stable versions.
    pub fn level(&self, usual: Level, gravest: Level, maturity: Maturity) -> Level {
        let Some((_, most)) = self.maturities.iter().find(|(of, _)| *of == maturity) else { return usual };
        let is_lowered_for_its_version = usual == gravest.min(maturity.gravest());
        if is_lowered_for_its_version { gravest.min(*most) } else { usual.min(*most) }
    }

    /// The level of a rule in versions of a maturity.
    pub fn level_of(&self, rule: &Rule, maturity: Maturity) -> Level {
        self.level(rule.level.min(maturity.gravest()), rule.level, maturity)
    }

    /// The level that the catalog sets for a rule, if it does: none if the rule is off.
    pub fn rule(&self, rule: &Rule) -> Option<Option<Level>> {
        self.rules.iter().find(|(set, _)| std::ptr::eq(*set, rule)).map(|(_, level)| *level)
    }
}

/// Reads `gate`.
pub(crate) fn maturities(reader: &mut Reader, source: &Spanned<'_>, path: &Path<'_>) -> Vec<(Maturity, Level)> {
    let mut found = Vec::new();
    for entry in reader.entries(source, path, "an object with stable, beta or alpha") {
        let path = &Path::Child(path, entry.key);
        let maturity = match entry.key {
            "stable" => Maturity::Stable,
            "beta" => Maturity::Preview,
            "alpha" => Maturity::Alpha,
            _ => {
                reader.unknown_key(entry, path, &["stable", "beta", "alpha"]);
                continue;
            }
        };
        let level = reader.choice(&entry.value, path, LEVELS);
        found.extend(level.map(|level| (maturity, level.item)));
    }
    found
}

/// Reads `rules`.
pub(crate) fn rules(reader: &mut Reader, source: &Spanned<'_>, path: &Path<'_>) -> Vec<(&'static Rule, Option<Level>)> {
    let mut found: Vec<(&'static Rule, Option<Level>)> = Vec::new();
    for entry in reader.entries(source, path, "an object with the ids of rules as keys") {
        let path = &Path::Key(path, entry.key);
        let Some(rule) = rules::find(entry.key) else {
            unknown_rule(reader, entry.key, entry.key_span, path);
            continue;
        };
        if found.iter().any(|(other, _)| std::ptr::eq(*other, rule)) {
            let message = format!("the level of {} is set twice", rule.id);
            reader.report(&rules::MALFORMED_CATALOG, path, entry.key_span, message);
            continue;
        }
        let Some(level) = reader.choice(&entry.value, path, RULE_LEVELS) else { continue };
        // Nothing is compared behind a mistake of this sort, so that a lower level would open the gate.
        if level.item < Some(rule.level) && !rule.may_be_allowed() {
            let to = level.item.map_or("off".to_owned(), |level| format!("a {level}"));
            let message = format!("{} cannot be {to}: {}", rule.id, rule.why);
            if let Some(problem) = reader.report(&rules::MALFORMED_CATALOG, path, level.span, message) {
                problem.mend = Some(format!("leave it out, which makes it {}", article(rule.level)));
            }
            continue;
        }
        found.push((rule, level.item));
    }
    found
}

fn article(level: Level) -> String {
    if level == Level::Error { format!("an {level}") } else { format!("a {level}") }
}

fn unknown_rule(reader: &mut Reader, key: &str, span: wheelwright_document::Span, path: &Path<'_>) {
    let message = format!("there is no rule {}", quoted(key));
    let Some(problem) = reader.report(&rules::UNKNOWN_CATALOG_KEY, path, span, message) else { return };
    let known = rules::all().iter().flat_map(|rule| [rule.id, rule.name]);
    problem.mend = Some(match closest_of(known, key) {
        Some(meant) => format!("write {meant}, if that is meant; `wheelwright explain` lists all rules"),
        None => "write the id or the name of a rule; `wheelwright explain` lists all of them".to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_lowered_for_its_version_is_raised() {
        let gate = Gate { maturities: vec![(Maturity::Preview, Level::Error)], rules: Vec::new() };
        let usual = Level::Error.min(Maturity::Preview.gravest());
        assert_eq!(gate.level(usual, Level::Error, Maturity::Preview), Level::Error);
        assert_eq!(gate.level(Level::Note, Level::Error, Maturity::Preview), Level::Note);
        assert_eq!(gate.level(Level::Warning, Level::Warning, Maturity::Preview), Level::Warning);
        let usual = Level::Error.min(Maturity::Alpha.gravest());
        assert_eq!(gate.level(usual, Level::Error, Maturity::Alpha), usual);
        let gate = Gate { maturities: vec![(Maturity::Stable, Level::Warning)], rules: Vec::new() };
        assert_eq!(gate.level_of(&rules::LOCK_REWRITTEN, Maturity::Stable), Level::Warning);
    }
}
