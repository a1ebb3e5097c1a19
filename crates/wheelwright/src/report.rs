//! What a command found, collected over all its inputs and shown once at the end.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    io,
};

use wheelwright_document::{Arena, yaml_comments};
use wheelwright_findings::{
    Allowances, Date, Finding, Findings, Holds, Level, Rule, Sources, render_github, render_json, render_sarif,
    render_text, rules, suppress,
};

use crate::{Console, Exit, Form, Input, causes, place::at_names};

/// How findings are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// Pictures of the source with reasons and remedies, for people.
    #[default]
    Text,
    /// A JSON object a line, for programs; see [`render_json`] for its keys.
    Json,
    /// One SARIF 2.1.0 document, for code scanning.
    Sarif,
    /// Workflow commands, for GitHub's logs.
    Github,
}

/// How results are written that are no findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ResultFormat {
    /// Tables, for people.
    #[default]
    Text,
    /// A JSON object a line, for programs.
    Json,
}

/// Which findings are written, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) format: Format,
    /// The least level that is written.
    pub(crate) least: Level,
    /// Whether people are shown what is let pass; programs are always told.
    pub(crate) show_suppressed: bool,
    /// Whether people are shown the first of many findings of one sort, with how many more there are.
    pub(crate) sums_up: bool,
    pub(crate) colour: bool,
}

impl Manner {
    /// Everything, for people.
    pub(crate) fn text(colour: bool) -> Self {
        Self { format: Format::Text, least: Level::Note, show_suppressed: false, sums_up: true, colour }
    }
}

/// As many as anybody reads; a program reads them all.
const MOST_PICTURES: usize = 1000;

/// Findings while they are collected, with the texts they point into and what these allow.
#[derive(Debug)]
pub(crate) struct Report {
    holds: Holds,
    findings: Findings,
    sources: Sources,
    allowances: Vec<Allowances>,
    /// The inputs whose allowances are known.
    read: HashSet<String>,
}

impl Report {
    /// Nothing found yet in inputs that hold schemas or documents.
    pub(crate) fn new(holds: Holds) -> Self {
        Self { holds, findings: Findings::new(), sources: Sources::new(), allowances: Vec::new(), read: HashSet::new() }
    }

    /// Takes what was found in an input, and what the input allows.
    pub(crate) fn add(&mut self, input: &Input, findings: Vec<Finding>) {
        let allowances = allowances(input, self.holds);
        if findings.is_empty() && allowances.is_empty() {
            return;
        }
        self.sources.insert(&input.name, input.text());
        self.findings.extend(findings);
        if self.read.insert(input.name.clone()) {
            self.allowances.push(allowances);
        }
    }

    /// Takes an input that another one refers to; findings may point into it, and it may allow some.
    pub(crate) fn add_other(&mut self, input: &Input) {
        self.sources.insert(&input.name, input.text());
        if self.read.insert(input.name.clone()) {
            self.allowances.push(allowances(input, self.holds));
        }
    }

    /// Takes a finding in an input that is known already, or in none.
    pub(crate) fn add_finding(&mut self, finding: Finding) {
        self.findings.extend([finding]);
    }

    /// Whether there is a finding of the same rule about the same subject.
    pub(crate) fn has(&self, finding: &Finding) -> bool {
        let is_same = |other: &Finding| std::ptr::eq(other.rule, finding.rule) && other.identity == finding.identity;
        finding.identity.is_some() && self.findings.iter().any(is_same)
    }

    /// Sets the levels that catalogs declare, and drops the findings of rules that are off.
    pub(crate) fn set_levels(&mut self, level_of: impl Fn(&Finding) -> Option<Option<Level>>) {
        let findings = std::mem::take(&mut self.findings);
        let set = |mut finding: Finding| match level_of(&finding) {
            None => Some(finding),
            Some(level) => {
                finding.level = level?;
                Some(finding)
            }
        };
        self.findings = findings.into_iter().filter_map(set).collect();
    }

    /// Lets pass what is allowed today. `exit` is worse than clean if something could not be looked at.
    pub(crate) fn finish(self, today: Option<Date>, exit: Exit) -> Found {
        let Self { holds, mut findings, sources, allowances, .. } = self;
        let is_of_documents = |rule: &Rule| ("WW100".."WW110").contains(&rule.id);
        suppress(&mut findings, &allowances, today, |rule| is_of_documents(rule) == (holds == Holds::Documents));
        Found { findings, sources, exit }
    }
}

/// Findings when all of them are known.
#[derive(Debug)]
pub(crate) struct Found {
    findings: Findings,
    sources: Sources,
    /// How the command would end if nothing had been found.
    exit: Exit,
}

impl Found {
    /// How the command ends.
    pub(crate) fn exit(&self) -> Exit {
        self.exit.max(if self.findings.is_clean() { Exit::Clean } else { Exit::Findings })
    }

    /// Leaves out what was found before, by fingerprints, and says how many that are.
    pub(crate) fn forget(&mut self, fingerprints: &HashSet<String>) -> usize {
        let identified = self.findings.identified().into_iter();
        let new: Findings = identified
            .filter(|(_, fingerprint)| !fingerprints.contains(fingerprint))
            .map(|(finding, _)| finding.clone())
            .collect();
        let forgotten = self.findings.iter().count() - new.iter().count();
        self.findings = new;
        forgotten
    }

    /// The fingerprints of all findings, once each of them was changed.
    pub(crate) fn fingerprints(self, change: impl FnMut(Finding) -> Finding) -> HashSet<String> {
        let findings: Findings = self.findings.into_iter().map(change).collect();
        findings.identified().into_iter().map(|(_, fingerprint)| fingerprint).collect()
    }

    /// Writes findings.
    pub(crate) fn write(&self, manner: Manner, out: &mut dyn io::Write) -> io::Result<()> {
        let mut shown: Findings = self.shown(manner).cloned().collect();
        let mut text = Vec::new();
        match manner.format {
            Format::Json => render_json(&shown, &mut text)?,
            Format::Sarif => render_sarif(&shown, &self.sources, self.exit < Exit::Usage, &mut text)?,
            Format::Github => render_github(&shown, &self.sources, &mut text)?,
            Format::Text => {
                let mut lines = Vec::new();
                if manner.sums_up {
                    (shown, lines) = causes::fold(&shown);
                    shown = for_people(&shown);
                } else {
                    shown = drawn(&shown).cloned().collect();
                }
                let count = shown.iter().count();
                if count > MOST_PICTURES {
                    shown = shown.sorted().into_iter().take(MOST_PICTURES).cloned().collect();
                }
                render_text(&shown, &self.sources, manner.colour, &mut text)?;
                if count > MOST_PICTURES {
                    let more = count - MOST_PICTURES;
                    text.extend_from_slice(format!("… and {more} more; --format json writes them all\n").as_bytes());
                }
                if !lines.is_empty() {
                    text.extend_from_slice(
                        format!("{}\n--all shows each of these findings where it is\n\n", lines.join("\n")).as_bytes(),
                    );
                }
            }
        }
        out.write_all(&text)?;
        out.flush()
    }

    /// The findings that are written.
    pub(crate) fn shown(&self, manner: Manner) -> impl Iterator<Item = &Finding> {
        let with_suppressed = manner.show_suppressed || manner.format != Format::Text;
        let is_shown = move |finding: &&Finding| {
            finding.level >= manner.least && (with_suppressed || finding.suppressed.is_none())
        };
        self.findings.iter().filter(is_shown)
    }

    /// A line for each rule with findings below a level that are neither told nor let pass: how many there are, and where
    /// the first is. The gravest rules come first.
    pub(crate) fn by_rule(&self, below: Level) -> String {
        let mut rules: Vec<(&Finding, usize)> = Vec::new();
        let is_counted =
            |finding: &&Finding| finding.level < below && finding.suppressed.is_none() && !is_told(finding);
        for finding in self.findings.sorted().into_iter().filter(is_counted) {
            let is_same =
                |(first, _): &&mut (&Finding, usize)| (first.rule.id, first.level) == (finding.rule.id, finding.level);
            match rules.iter_mut().find(is_same) {
                Some((_, count)) => *count += 1,
                None => rules.push((finding, 1)),
            }
        }
        rules.sort_by_key(|(first, _)| (Reverse(first.level), first.rule.id));
        let line = |(first, count): &(&Finding, usize)| {
            let place = first.place.as_ref().map_or_else(String::new, |place| {
                let which = if *count > 1 { "first at " } else { "" };
                format!(" ({which}{}:{}:{})", place.file, place.span.line, place.span.column)
            });
            let times = if *count > 1 { format!("{count} times: ") } else { String::new() };
            format!("{}[{}]: {times}{}{place}\n", first.level, first.rule.id, first.rule.summary)
        };
        let lines: String = rules.iter().map(line).collect();
        if lines.is_empty() { lines } else { format!("{lines}\n") }
    }

    /// The findings of each file.
    pub(crate) fn by_file(&self) -> HashMap<&str, Vec<&Finding>> {
        let mut by_file: HashMap<&str, Vec<&Finding>> = HashMap::new();
        for finding in &self.findings {
            let file = finding.place.as_ref().map_or("", |place| &place.file);
            by_file.entry(file).or_default().push(finding);
        }
        by_file
    }

    /// How many findings there are of each level, and how many are let pass.
    pub(crate) fn tally(&self) -> String {
        tally(self.findings.iter())
    }

    /// How many findings are below a level, and not let pass.
    pub(crate) fn below(&self, least: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level < least && finding.suppressed.is_none()).count()
    }
}

/// Says what keeps a command from its work, on the conversation, and how many errors that are; lesser findings are for
/// `check` to say.
pub(crate) fn say_errors(inputs: &[&Input], findings: Vec<Finding>, console: &mut Console<'_>) -> io::Result<usize> {
    let mut report = Report::new(Holds::Schemas);
    inputs.iter().for_each(|input| report.sources.insert(&input.name, input.text()));
    let is_in = |finding: &Finding, input: &Input| finding.place.as_ref().is_some_and(|place| place.file == input.name);
    for input in inputs {
        let own = findings.iter().filter(|finding| is_in(finding, input)).cloned();
        report.add(input, at_names(input, own.collect()));
    }
    let is_nowhere = |finding: &&Finding| !inputs.iter().any(|input| is_in(finding, input));
    report.findings.extend(findings.iter().filter(is_nowhere).cloned());
    let found = report.finish(console.today, Exit::Clean);
    let manner = Manner { least: Level::Error, ..Manner::text(console.colour_conversation) };
    found.write(manner, console.conversation)?;
    Ok(found.shown(manner).count())
}

/// Whether a finding is told as a story rather than drawn.
pub(crate) fn is_told(finding: &Finding) -> bool {
    [&rules::LOST_UNDER_NONE, &rules::OLD_RECORDS_LACK].iter().any(|rule| std::ptr::eq(finding.rule, *rule))
}

/// Findings in their order, without what is told as a story.
fn drawn(findings: &Findings) -> impl Iterator<Item = &Finding> {
    findings.sorted().into_iter().filter(|finding| !is_told(finding))
}

/// Findings as people are shown them: of many of one sort in one version, the first and the names of some more, and of
/// very many only one of each sort, but for errors.
fn for_people(findings: &Findings) -> Findings {
    const MOST: usize = 12;
    let compares = |finding: &Finding| {
        let of_versions = [
            rules::REMOVAL_NOT_ASSESSED.id..=rules::NO_SLOT.id,
            rules::LOCKED_SCHEMA_CHANGED.id..=rules::OLDER_VERSION_REFUSES.id,
        ];
        finding.identity.is_some() && of_versions.iter().any(|ids| ids.contains(&finding.rule.id))
    };
    let (compared, others): (Vec<_>, Vec<_>) = drawn(findings).partition(|finding| compares(finding));
    let of_version = |finding: &Finding| {
        let identity = finding.identity.as_deref().unwrap_or_default();
        let subject = identity.rsplit_once(finding.field.as_str()).map_or(identity, |(subject, _)| subject);
        (subject.to_owned(), finding.field.as_str().to_owned())
    };
    let mut summed_up = sum_up(&compared, of_version);
    if summed_up.len() > MOST {
        let of_all = |finding: &Finding| match finding.level {
            Level::Error => of_version(finding),
            _ => (String::new(), finding.identity.clone().unwrap_or_default()),
        };
        summed_up = sum_up(&compared, of_all);
    }
    others.into_iter().cloned().chain(summed_up).collect()
}

/// The first finding of each rule and subject, with how many more there are, and the names of some of them.
fn sum_up(findings: &[&Finding], subject_and_name: impl Fn(&Finding) -> (String, String)) -> Vec<Finding> {
    const MOST_NAMES: usize = 3;
    let mut groups: Vec<(Finding, Vec<String>)> = Vec::new();
    let mut positions: HashMap<(&str, Level, bool, String), usize> = HashMap::new();
    for finding in findings {
        let (subject, name) = subject_and_name(finding);
        let key = (finding.rule.id, finding.level, finding.suppressed.is_some(), subject);
        match positions.get(&key) {
            Some(position) => groups[*position].1.push(name),
            None => {
                positions.insert(key, groups.len());
                groups.push(((*finding).clone(), Vec::new()));
            }
        }
    }
    let summed_up = groups.into_iter().map(|(mut finding, others)| {
        if !others.is_empty() {
            let names = others.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
            let dots = if others.len() > MOST_NAMES { ", …" } else { "" };
            finding.message += &format!("; {} more like it: {names}{dots}", others.len());
        }
        finding
    });
    summed_up.collect()
}

/// What an input allows. Few do, so that only those are decoded once more that have the word in them.
fn allowances(input: &Input, holds: Holds) -> Allowances {
    const WORD: &[u8] = b"wheelwright";
    let arena = Arena::new();
    let mentions_us = input.bytes.windows(WORD.len()).any(|window| window.eq_ignore_ascii_case(WORD));
    let documents = mentions_us.then(|| input.documents(&arena).ok()).flatten();
    match (documents, std::str::from_utf8(&input.bytes)) {
        (Some((Form::Yaml, documents)), Ok(text)) => {
            Allowances::read(&input.name, &yaml_comments(text), &documents, holds)
        }
        (Some((_, documents)), _) => Allowances::read(&input.name, &[], &documents, holds),
        (None, _) => Allowances::read(&input.name, &[], &[], holds),
    }
}

/// How many findings there are of each level, and how many are let pass: `2 errors, 1 note, 1 suppressed`, or `clean`.
pub(crate) fn tally<'f>(findings: impl Iterator<Item = &'f Finding> + Clone) -> String {
    let count = |level: Option<Level>| {
        let is_counted = |finding: &&Finding| level == finding.suppressed.is_none().then_some(finding.level);
        findings.clone().filter(is_counted).count()
    };
    let levels = [Level::Error, Level::Warning, Level::Note].into_iter();
    let counts = levels.map(|level| (count(Some(level)), level));
    let mut words: Vec<_> =
        counts.filter(|(count, _)| *count > 0).map(|(n, level)| plural(n, level.as_str())).collect();
    let clean = words.is_empty().then(|| "clean".to_owned());
    words.extend(clean);
    let suppressed = count(None);
    words.extend((suppressed > 0).then(|| format!("{suppressed} suppressed")));
    words.join(", ")
}

/// `1 file`, `2 files`.
pub(crate) fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use wheelwright_document::FieldPath;

    use super::*;

    fn finding(kind: &str, field: &str, level: Level) -> Finding {
        let path = FieldPath::root().child(field);
        let message = format!("{field} is required");
        Finding {
            level,
            ..Finding::new(&rules::NEWLY_REQUIRED, message, path).with_identity(format!("{kind} v2 {field}"))
        }
    }

    fn shown(findings: impl IntoIterator<Item = Finding>) -> Vec<String> {
        let findings: Findings = findings.into_iter().collect();
        for_people(&findings).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn findings_of_one_sort_in_one_version_are_one_picture() {
        let fields = ["a", "b", "c", "d", "e"];
        let of_order = fields.map(|field| finding("Order", field, Level::Warning));
        let of_parcel = finding("Parcel", "a", Level::Warning);
        let all = of_order.into_iter().chain([of_parcel]);
        assert_eq!(shown(all), ["a is required; 4 more like it: b, c, d, …", "a is required"]);
    }

    #[test]
    fn of_very_many_versions_only_errors_have_pictures_of_their_own() {
        let of_kind = |number| {
            let kind = format!("Kind{number}");
            [finding(&kind, "a", Level::Warning), finding(&kind, "b", Level::Error)]
        };
        let shown = shown((0..20).flat_map(of_kind));
        let warnings: Vec<_> = shown.iter().filter(|message| message.starts_with('a')).collect();
        assert_eq!(warnings, ["a is required; 19 more like it: Kind1 v2 a, Kind2 v2 a, Kind3 v2 a, …"]);
        assert_eq!(shown.iter().filter(|message| **message == "b is required").count(), 20);
    }

    #[test]
    fn what_was_found_before_is_forgotten_wherever_it_is_now() {
        let found = |fields: &[&str]| Found {
            findings: fields.iter().map(|field| finding("Order", field, Level::Error)).collect(),
            sources: Sources::new(),
            exit: Exit::Clean,
        };
        let known = found(&["a", "b"]).fingerprints(|finding| finding);
        let mut now = found(&["b", "c"]);
        assert_eq!(now.forget(&known), 1);
        assert_eq!(now.tally(), "1 error");
        assert_eq!(now.forget(&found(&["c"]).fingerprints(|finding| finding)), 1);
        assert_eq!(now.exit(), Exit::Clean);
    }
}
