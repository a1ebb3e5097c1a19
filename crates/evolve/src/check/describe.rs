//! What `check`, `diff` and the first contact with two versions say, in words: all of their wording is here.

use std::fmt::Write as _;

use wheelwright_document::{Arena, Owned, write_yaml};

use super::{
    Addition, Change, Difference, Incompatibility, Lacking, Likeness, Limit, Loss, Lost, Narrower, What, diff::spelled,
    example::string, lines_of,
};
use crate::{Conversion, Selector, Step, Union, VersionName};

impl Incompatibility {
    /// What is wrong, as a lower-case fragment.
    pub fn message(&self) -> String {
        let (version, field) = (&self.version, &self.field);
        let other = self.other.as_ref().map_or("the version before", VersionName::as_str);
        match &self.what {
            What::Removed { shape } => format!("{field} ({shape}) disappeared in {version}, and no change says why"),
            What::ProbablyRenamed { to, likeness } => {
                format!("`{field}` disappeared and `{to}` appeared in {version}: renamed? {}", likeness.reason())
            }
            What::Replaced { before, after } => {
                format!("{field} is {before} in {other} and {after} in {version}: two fields of one name")
            }
            What::Widened { before, after, narrower } => {
                let reader = match narrower {
                    Narrower::Before => format!("{other} cannot read every value"),
                    Narrower::After => format!("{version} cannot read every value"),
                    Narrower::Both => "neither can read every value of the other".to_owned(),
                };
                format!("{field} is {before} in {other} and {after} in {version}: {reader}")
            }
            What::NewlyRequired { derived: Some(expression), .. } => format!(
                "{field} is required in {version}, and `{expression}` derives it only from some documents of {other}"
            ),
            What::NewlyRequired { existed, .. } => {
                let lack = if *existed { "may lack it" } else { "do not have it" };
                format!("{field} is required in {version}, and documents of {other} {lack}")
            }
            What::Drifts { value, up, down, again } => {
                format!(
                    "{value} becomes {up} as {field} in {version}, which {other} reads as {down}, and that becomes {again}"
                )
            }
            What::Refused { from, value, becomes: Some(becomes), reason } => format!(
                "{value}, valid for {} in {other}, becomes {becomes} as {field} in {version}, which refuses it: {reason}",
                names(from)
            ),
            What::Refused { from, value, becomes: None, reason } => {
                format!("{value}, valid for {} in {other}, cannot become {field} of {version}: {reason}", names(from))
            }
            What::ValueNotListed { value, listed } => {
                format!(
                    "the changes name {value:?}, which is no value of {field} in {version}: it takes {}",
                    listing(listed)
                )
            }
            What::SpellingStays { to } => format!(
                "{field} is converted into {} in {version}, and {version} still has a {field}, which is another field",
                names(to)
            ),
            What::SpellingTaken { from } => {
                format!("{} is converted into {field} in {version}, which {other} has already", names(from))
            }
            What::ValuesRefused { removed, listed } if removed.is_empty() => {
                format!("{field} takes any value in {other}, and in {version} only {}", listing(listed))
            }
            What::ValuesRefused { removed, .. } => {
                format!("{field} does not take {} any more in {version}", listing(removed))
            }
            What::ValuesUnlisted { removed } => {
                format!("{field} does not list {} any more in {version}, an open enum", listing(removed))
            }
            What::Tightened(limits) => {
                let was = |limit: &Limit| match &limit.before {
                    Some(before) => format!("{} {before}", limit.keyword),
                    None => format!("no {}", limit.keyword),
                };
                let is = |limit: &Limit| format!("{} {}", limit.keyword, or_none(&limit.after));
                let all = |spell: &dyn Fn(&Limit) -> String| limits.iter().map(spell).collect::<Vec<_>>().join(", ");
                format!("{field} has {} in {version}, and {} in {other}", all(&is), all(&was))
            }
            What::TextChanged { keyword, before, after } => {
                let (before, after) = (quoted(before), quoted(after));
                format!("{keyword} of {field} is {before} in {other} and {after} in {version}")
            }
            What::NullRefused => format!("{field} can be null in {other}, and not in {version}"),
            What::DefaultChanged { before, after, frozen: Some(frozen), within } if self.is_filled_alike() => {
                let (was, is, frozen) = (value_or_none(before), value_or_none(after), spelled(frozen));
                let where_there = within.as_ref().map_or_else(String::new, |object| {
                    format!(", in {version} only where the object that it is in, {object}, is there")
                });
                format!(
                    "the default of {field} is {was} in {other} and {is} in {version}; where it is left out, {frozen} is \
                     filled in for both{where_there}"
                )
            }
            What::DefaultChanged { before, after, frozen, .. } => {
                let (was, is) = (value_or_none(before), value_or_none(after));
                let kept = match frozen {
                    Some(value) => format!("keep filling in {}", spelled(value)),
                    None => "keep leaving it absent".to_owned(),
                };
                format!(
                    "the default of {field} is {was} in {other} and {is} in {version}; readers of old records {kept}"
                )
            }
            What::SpelledDefaultChanged { from, default, frozen } => {
                let (from, default) = (names(from), spelled(default));
                let kept = match frozen {
                    Some(value) => format!("it is {} for readers", spelled(value)),
                    None => "readers find nothing".to_owned(),
                };
                format!(
                    "the default of {field} is {default} in {version}, and where {from} was left out in {other}, {kept}"
                )
            }
            What::DefaultRejected { value, reason } => {
                let value = spelled(value);
                format!("readers fill in {value} where {field} is absent, which {version} refuses: {reason}")
            }
            What::ZeroLost { zero, frozen, lacking } => {
                let (zero, frozen) = (spelled(zero), spelled(frozen));
                let mut text = format!(
                    "writers of {version} leave {field} out where it is {zero}, and readers fill in {frozen} where it is absent"
                );
                if !lacking.is_empty() {
                    let lacking: Vec<_> = lacking.iter().map(VersionName::as_str).collect();
                    let _ = write!(
                        text,
                        ": a reader that does not know who wrote a record cannot tell it from one of {}, which lacks the field",
                        lacking.join(" or ")
                    );
                }
                text
            }
            What::KeysChanged { before, after } => {
                let (before, after) = (told_apart(before), told_apart(after));
                format!("the items of {field} are told apart by {before} in {other}, and by {after} in {version}")
            }
            What::KeyUnsaid { key, by } => {
                format!("the items of {field} are told apart by {key}, which {by} does not have")
            }
            What::UnionChanged { before, after } => {
                let (before, after) = (excluding(before.as_ref()), excluding(after.as_ref()));
                format!("only one of {field} is set at a time: {before} in {other}, {after} in {version}")
            }
            What::HubMoves { locked, pinned: true } => {
                format!("documents are stored as {locked}, and the catalog pins {version}")
            }
            What::HubMoves { locked, pinned: false } => {
                format!("documents are stored as {locked}; {version} is the newest stable version")
            }
            What::NoSlot { reason } => {
                format!("{field} of {version} has no single place in stored documents: {reason}")
            }
        }
    }

    /// How to mend it here: with the lines to add to the changes, where lines mend it.
    pub fn mend(&self) -> String {
        let lines = || changes_text(&self.version, &self.additions);
        let other = self.other.as_ref().map_or("the version before", VersionName::as_str);
        match &self.what {
            What::Removed { .. } => {
                let conversion = self.conversion();
                let gone = if conversion.is_empty() { "if it is gone for good, say so" } else { "say that it is gone" };
                format!("{conversion}{gone}:\n{}", lines())
            }
            What::ProbablyRenamed { .. } => {
                let removed = [Addition::Removed(self.field.clone())];
                format!("if so, add:\n{}if not:\n{}", lines(), changes_text(&self.version, &removed))
            }
            What::SpellingTaken { .. } => {
                format!("give the new spelling another name, or say that the old field is gone:\n{}", lines())
            }
            What::Replaced { .. } => {
                let conversion = self.conversion();
                format!("{conversion}give the new field another name, or say that the old one is gone:\n{}", lines())
            }
            What::NewlyRequired { derived: None, .. } if !self.additions.is_empty() => {
                format!("make it optional, or say what it is where it is left out, for instance:\n{}", lines())
            }
            What::NewlyRequired { derived: Some(_), .. } => format!(
                "make it optional in {}, or derive it so that there is always a value, as with has(self.a) ? self.a : 'none'",
                self.version
            ),
            What::NewlyRequired { settled: true, .. } => format!(
                "make it optional in {}: it was published without a default, so that a default now is for new documents only",
                self.version
            ),
            What::SpelledDefaultChanged { frozen, .. } => {
                let kept = match frozen {
                    Some(value) => format!("make it {}", spelled(value)),
                    None => "leave it out".to_owned(),
                };
                format!("leave it, if it is for new documents of {} only; else {kept}", self.version)
            }
            What::DefaultChanged { .. } if self.is_filled_alike() && self.additions.is_empty() => {
                "leave it: nothing has to be done".to_owned()
            }
            What::DefaultChanged { .. } if self.is_filled_alike() => {
                format!("leave it, or say the default for {}, too:\n{}", self.version, lines())
            }
            What::DefaultChanged { before: None, .. } => format!(
                "leave it, if it is for new documents of {} only; else leave out the default, or add a field of its own",
                self.version
            ),
            What::DefaultChanged { after: None, .. } if !self.additions.is_empty() => {
                format!(
                    "a default holds for its own version; if it is meant for {}, too, add:\n{}",
                    self.version,
                    lines()
                )
            }
            What::KeysChanged { .. } | What::UnionChanged { .. } if !self.additions.is_empty() => {
                format!("if that has not changed, add:\n{}", lines())
            }
            What::ZeroLost { zero, .. } => {
                format!("make {} the default, or let writers say it", spelled(zero))
            }
            What::HubMoves { .. } => format!(
                "deploy a release that reads both everywhere, then run `wheelwright lock --hub {}`{}",
                self.version,
                if matches!(self.what, What::HubMoves { pinned: true, .. }) {
                    format!("; or pin {other}")
                } else {
                    String::new()
                }
            ),
            _ => self.rule().mend.to_owned(),
        }
    }

    /// How to say that the field has another spelling, if it probably has.
    fn conversion(&self) -> String {
        let Some(proposal) = &self.proposal else { return String::new() };
        let lines: Vec<String> = lines_of(&self.version, std::slice::from_ref(proposal)).collect();
        format!("if it is the same in another form, add:\n{}\nif not, ", lines.join("\n"))
    }
}

impl Likeness {
    /// Why two fields are probably the same.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Case => "the names differ in letter case only",
            Self::Plural => "one name is the plural of the other",
            Self::Letters => "the names differ in a few letters",
            Self::Contained => "one name is part of the other, or short for it",
            Self::SameName => "they have the same name and shape",
            Self::Description => "they have the same description",
            Self::OnlyPair => "they are the only ones of their object",
        }
    }
}

/// Lines of a changes file.
pub fn changes_text(version: &VersionName, additions: &[Addition]) -> String {
    let mut renamed = Vec::new();
    let mut removed = Vec::new();
    let [mut defaults, mut keys, mut unions] = [const { Vec::new() }; 3];
    let texts = |names: &[Box<str>]| Owned::Array(names.iter().map(|name| string(name)).collect());
    for addition in additions {
        match addition {
            Addition::Renamed { from, to } => renamed.push((path(from), string(&to.to_string()))),
            Addition::Removed(field) => removed.push(string(&field.to_string())),
            Addition::Default(field, value) => defaults.push((path(field), value.clone())),
            Addition::Keys(field, keyed) => keys.push((path(field), texts(keyed))),
            Addition::Union(field, members) => unions.push((path(field), texts(members))),
        }
    }
    let mut step: Vec<(Box<str>, Owned)> = Vec::new();
    let removed = (!removed.is_empty()).then(|| ("removed".into(), Owned::Array(removed.into())));
    let maps = [("renamed", renamed), ("default", defaults), ("keys", keys), ("union", unions)];
    for (name, entries) in maps {
        if !entries.is_empty() {
            step.push((name.into(), Owned::Object(entries.into())));
        }
    }
    step.extend(removed);
    yaml(&Owned::Object([(version.as_str().into(), Owned::Object(step.into()))].into()))
}

/// What is lost between two versions, for somebody who sees this for the first time. Nothing if nothing is.
pub fn describe_loss(loss: &Loss) -> String {
    format!("{}{}", lost(&loss.there), lost(&loss.back))
}

/// All lines to add to the changes of a kind so that nothing is lost, as one file. None if it takes none.
pub fn describe_additions<'l>(losses: impl IntoIterator<Item = &'l Loss>) -> Option<String> {
    let lines: String = losses.into_iter().map(|loss| indented(&loss.lines())).collect();
    (!lines.is_empty()).then_some(lines)
}

impl Loss {
    /// Lines to add to the changes, so that nothing is lost: what is merely proposed is a comment. Nothing if it takes none.
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

/// Differences for people: one a line, below the object that they are in.
pub fn describe_differences(differences: &[Difference]) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    let mut positions: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    for difference in differences {
        let Some(at) = difference.after.as_ref().or(difference.before.as_ref()) else { continue };
        let parent = parent(at);
        let position = *positions.entry(parent.clone()).or_insert_with(|| {
            groups.push((parent, Vec::new()));
            groups.len() - 1
        });
        groups[position].1.push(line(difference, &last(at)));
    }
    let mut out = String::new();
    for (parent, lines) in groups {
        let _ = writeln!(out, "{}", if parent.is_empty() { "(the document)" } else { &parent });
        for line in lines {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}

fn line(difference: &Difference, name: &str) -> String {
    let from_to = |before: &str, after: &str| format!("{before} → {after}");
    match &difference.change {
        Change::Added { shape, required, default, derived } => {
            let required = if *required { ", required" } else { "" };
            let default = default.as_ref().map_or_else(String::new, |value| format!(", default {}", spelled(value)));
            format!("+ {name}: {shape}{required}{default}{}", derived_as(derived))
        }
        Change::Removed { shape, derived } => format!("- {name}: {shape}{}", derived_as(derived)),
        Change::Converted { before, after, with } => converted(before, after, with),
        Change::Moved => {
            let before = difference.before.as_ref();
            let was = before.map_or_else(String::new, |before| match difference.after.as_ref().map(parent) {
                Some(now) if now == parent(before) => last(before),
                _ => before.to_string(),
            });
            format!("> {name}: was {was}")
        }
        Change::Replaced { before, after } => format!("! {name}: {}, another field", from_to(before, after)),
        Change::Widened { before, after, .. } => format!("~ {name}: {}", from_to(before, after)),
        Change::Required(true) => format!("~ {name}: required"),
        Change::Required(false) => format!("~ {name}: no longer required"),
        Change::Default { before, after } => {
            format!("~ {name}: default {}", from_to(&value_or_none(before), &value_or_none(after)))
        }
        Change::Enum { before, after } => {
            let any = |members: &[Owned]| if members.is_empty() { "any".to_owned() } else { listing(members) };
            format!("~ {name}: values {}", from_to(&any(before), &any(after)))
        }
        Change::Known { before, after } => {
            format!("~ {name}: known values {}", from_to(&listing(before), &listing(after)))
        }
        Change::Limits(limits) => {
            let spell =
                |limit: &Limit| format!("{} {}", limit.keyword, from_to(or_none(&limit.before), or_none(&limit.after)));
            format!("~ {name}: {}", limits.iter().map(spell).collect::<Vec<_>>().join(", "))
        }
        Change::Text { keyword, before, after } => {
            format!("~ {name}: {keyword} {}", from_to(&quoted(before), &quoted(after)))
        }
        Change::Nullable(true) => format!("~ {name}: can be null"),
        Change::Nullable(false) => format!("~ {name}: can no longer be null"),
        Change::Keys { before, after } => {
            format!("~ {name}: items told apart by {}", from_to(&told_apart(before), &told_apart(after)))
        }
        Change::Union { before, after } => {
            format!("~ {name}: one at a time of {}", from_to(&excluding(before.as_ref()), &excluding(after.as_ref())))
        }
    }
}

fn derived_as(expression: &Option<Box<str>>) -> String {
    expression.as_ref().map_or_else(String::new, |expression| format!(", derived: {expression}"))
}

/// The two spellings of a fact, and how one becomes the other: `timeout → timeoutSeconds (durationSeconds)`.
fn converted(before: &[Selector], after: &[Selector], with: &[Conversion]) -> String {
    let home = after.first().map(parent);
    let short = |field: &Selector| if Some(parent(field)) == home { last(field) } else { field.to_string() };
    let all = |fields: &[Selector]| fields.iter().map(short).collect::<Vec<_>>().join(", ");
    let with: Vec<String> = with.iter().map(ToString::to_string).collect();
    format!("> {} → {} ({})", all(before), all(after), with.join(", "))
}

fn parent(field: &Selector) -> String {
    let steps = field.steps();
    Selector::from_steps(steps[..steps.len().saturating_sub(1)].to_vec()).to_string()
}

fn last(field: &Selector) -> String {
    match field.steps().last() {
        None => "(the document)".to_owned(),
        Some(step @ Step::Field(_)) => Selector::from_steps(vec![step.clone()]).to_string(),
        Some(Step::Items) => "its items".to_owned(),
        Some(Step::Values) => "its values".to_owned(),
    }
}

fn names(fields: &[Selector]) -> String {
    fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn path(field: &Selector) -> Box<str> {
    field.to_string().into()
}

fn yaml(value: &Owned) -> String {
    let arena = Arena::new();
    let mut text = write_yaml(value.share(&arena));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
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

/// More values than this say no more.
const MOST_LISTED: usize = 8;

fn listing(values: &[Owned]) -> String {
    let shown: Vec<String> = values.iter().take(MOST_LISTED).map(spelled).collect();
    let more = values.len().saturating_sub(MOST_LISTED);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

fn or_none(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("none")
}

fn value_or_none(value: &Option<Owned>) -> String {
    value.as_ref().map_or_else(|| "nothing".to_owned(), spelled)
}

fn quoted(text: &Option<Box<str>>) -> String {
    text.as_ref().map_or_else(|| "none".to_owned(), |text| format!("`{text}`"))
}

fn told_apart(keys: &[Box<str>]) -> String {
    if keys.is_empty() { "nothing".to_owned() } else { keys.join(" and ") }
}

fn excluding(union: Option<&Union>) -> String {
    union.map_or_else(|| "nothing".to_owned(), |union| union.members.join(", "))
}
