//! What two versions lose and lack, for somebody who sees this for the first time.

use std::fmt::Write as _;

use super::{changes_text, yaml};
use crate::{
    Selector, VersionName,
    check::{Addition, Lacking, Loss, Lost, diff::spelled, propose::lines_of},
};

/// What is lost between two versions, for somebody who sees this for the first time. Nothing if nothing is.
pub fn describe_loss(loss: &Loss) -> String {
    format!("{}{}", lost(&loss.there), lost(&loss.back))
}

/// All lines to add to the changes of a kind, as one file. None if it takes none.
pub fn describe_additions<'l>(losses: impl IntoIterator<Item = &'l Loss>) -> Option<String> {
    let lines: String = losses.into_iter().map(|loss| indented(&loss.lines())).collect();
    (!lines.is_empty()).then_some(lines)
}

impl Loss {
    /// Lines to add to the changes; possible changes are comments. Empty if no line is needed.
    pub fn lines(&self) -> String {
        if self.additions.is_empty() {
            return match self.proposals.is_empty() {
                true => String::new(),
                false => lines_of(&self.step, &self.proposals).map(|line| format!("# {line}\n")).collect(),
            };
        }
        let added = changes_text(&self.step, &self.additions);
        let (version, added) = added.split_once('\n').unwrap_or((&added, ""));
        let proposed = lines_of(&self.step, &self.proposals).skip(1);
        let proposed: String =
            proposed.map(|line| format!("  # {}\n", line.strip_prefix("  ").unwrap_or(&line))).collect();
        format!("{version}\n{proposed}{added}")
    }
}

/// Which fields clients of the other version will not see, although every value is kept: a sentence. None if clients of
/// each version see every field of the other.
pub fn describe_hidden<'l>(losses: impl IntoIterator<Item = &'l Loss>) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for loss in losses {
        for (hidden, viewer) in
            [(loss.hidden(&loss.there), &loss.there.through), (loss.hidden(&loss.back), &loss.back.through)]
        {
            let named: Vec<String> = hidden.iter().take(MOST_HIDDEN).map(ToString::to_string).collect();
            let more = hidden.len().saturating_sub(MOST_HIDDEN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            if !named.is_empty() {
                parts.push(format!("{viewer} clients will not see {}{more}", named.join(", ")));
            }
        }
    }
    let last = parts.pop()?;
    Some(if parts.is_empty() { last } else { format!("{}, and {last}", parts.join(", ")) })
}

/// Fields that are named as hidden, of each version.
const MOST_HIDDEN: usize = 3;

impl Loss {
    /// The fields of one version that the other will not show once the lines are added: no rename among them continues
    /// the field or a part of it.
    fn hidden<'l>(&self, lost: &'l Lost) -> Vec<&'l Selector> {
        let is_later = lost.version == self.step;
        let renamed: Vec<&Selector> = self
            .additions
            .iter()
            .filter_map(|addition| match addition {
                Addition::Renamed { from, to } => Some(if is_later { to } else { from }),
                _ => None,
            })
            .collect();
        let continues = |field: &Selector| {
            let is_within = |one: &Selector, other: &Selector| one.steps().starts_with(other.steps());
            renamed.iter().any(|renamed| is_within(renamed, field) || is_within(field, renamed))
        };
        lost.fields.iter().map(|lost| &lost.field).filter(|field| !continues(field)).collect()
    }
}

fn lost(lost: &Lost) -> String {
    let (version, through, count) = (&lost.version, &lost.through, lost.fields.len());
    if count == 0 {
        return String::new();
    }
    let fields = if count == 1 { "1 field is" } else { &format!("{count} fields are") };
    let mut out = format!("{version} → {through}: {fields} lost under `strategy: None`\n\n");
    for field in lost.fields.iter().take(MOST_FIELDS) {
        let _ = writeln!(out, "    {} ({})", field.field, field.shape);
    }
    out.push_str(&and_more(count, MOST_FIELDS));
    if let Some(shown) = &lost.shown {
        let _ = writeln!(out, "\nThis document of {version}:\n\n{}", indented(&yaml(&shown.before)));
        let _ = writeln!(out, "reads like this once a client of {through} has written it back:\n");
        out.push_str(&indented(&yaml(&shown.after)));
        if let Some(refusal) = &shown.refusal {
            let _ = writeln!(out, "\n{through} refuses what is written back until the client mends it: {refusal}");
        }
    } else {
        let _ = writeln!(out, "\nNo document shows it here: {version} refuses all that came to mind.");
    }
    out.push('\n');
    out
}

impl Lacking {
    /// The field, and what it reads as in the newer version, as a fragment.
    pub fn reads(&self, new: &VersionName) -> String {
        let Self { field, shape, reads_as, within, required, probably, derived, .. } = self;
        if let Some(expression) = derived {
            return format!("{field} ({shape}) is derived: {expression}");
        }
        let within = within.as_ref().map_or_else(String::new, |object| format!(" where {object} is there"));
        let mut text = match (reads_as, required) {
            (Some(value), _) => format!("{field} ({shape}) reads as {}{within}", spelled(value)),
            (None, false) => format!("{field} ({shape}) is absent"),
            (None, true) => format!("{field} ({shape}) is absent, although {new} requires it{within}"),
        };
        if let Some(before) = probably {
            let _ = write!(text, ", unless it is {before} under another name: then declare it as renamed");
        }
        text
    }
}

/// What records of an older version lack, for somebody who sees this for the first time. Nothing if they lack nothing.
pub fn describe_lacking(old: &VersionName, new: &VersionName, lacking: &[Lacking]) -> String {
    if lacking.is_empty() {
        return String::new();
    }
    let fields = if lacking.len() == 1 { "1 field" } else { &format!("{} fields", lacking.len()) };
    let mut out = format!("{old} → {new}: records of {old} lack {fields} of {new}\n\n");
    for field in lacking.iter().take(MOST_LACKING) {
        let _ = writeln!(out, "    {}", field.reads(new));
    }
    out.push_str(&and_more(lacking.len(), MOST_LACKING));
    out
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// Fields that are named to somebody who sees them for the first time; more would drown the document that shows them.
const MOST_FIELDS: usize = 6;

/// Fields of which it is said what they read as.
const MOST_LACKING: usize = 20;

/// A line that says how many are not shown.
fn and_more(count: usize, shown: usize) -> String {
    if count > shown { format!("    … and {} more\n", count - shown) } else { String::new() }
}
