//! What is wrong between two versions, and how to mend it.

use std::fmt::Write as _;

use wheelwright_findings::shortened;

use super::{changes_text, excluding, listing, or_none, quoted, told_apart, value_or_none};
use crate::{
    Direction, Maturity, Selector, VersionName,
    check::{
        AccessHarm, Addition, Became, Evidence, Example, Incompatibility, Likeness, Limit, Narrower, Proposal, What,
        diff::spelled, example::essence, lines_of,
    },
};

/// Characters of a document that a message shows.
const MOST_OF_DOCUMENT: usize = 240;

impl Incompatibility {
    /// The problem as a lower-case fragment, followed by a document that shows it, if there is one.
    pub fn message(&self) -> String {
        let mut message = self.what_is_wrong();
        if let Some(Example { version, document, refusal: Some(refusal) }) = &self.example
            && !matches!(self.what, What::DefaultRejected { .. })
        {
            let document = essence(document);
            let document = match document.char_indices().nth(MOST_OF_DOCUMENT) {
                Some((end, _)) => format!("{}…", &document[..end]),
                None => document,
            };
            let refusing =
                [Some(&self.version), self.other.as_ref()].into_iter().flatten().find(|name| *name != version);
            let refusing = refusing.map_or("another version", VersionName::as_str);
            let _ = write!(message, "; {version} accepts {document}, and {refusing} refuses it: {refusal}");
        }
        message
    }

    fn what_is_wrong(&self) -> String {
        let (version, field) = (&self.version, &self.field);
        let other = self.other.as_ref().map_or("the version before", VersionName::as_str);
        match &self.what {
            What::Removed { shape } => format!("{field} ({shape}) disappeared in {version}, and no change says why"),
            What::NameTaken { from } => format!(
                "{from} is renamed to {field} in {version}, and {other} has another field of that name: its values would have \
                 no place in {version}"
            ),
            What::RequiredRemoved { document, reason } => format!(
                "{field} is removed in {version}, and {other} requires it: clients of {other} read the document {} of \
                 {version} without it, which is invalid there: {reason}",
                shortened(document)
            ),
            What::InputNotRead { direction, document } => {
                let way = if *direction == Direction::Up { "up" } else { "down" };
                let shown = document
                    .as_ref()
                    .map_or_else(String::new, |document| format!(", as in the document {}", shortened(document)));
                format!("{field} is converted, but `{way}` never reads it, so that its value is lost on the way{shown}")
            }
            What::UnknownFieldsDropped => format!("{field} keeps unknown fields in {other}, and {version} drops them"),
            What::OlderRefuses { fields } => {
                let named: Vec<String> = fields.iter().take(3).map(ToString::to_string).collect();
                let more = match fields.len() - named.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!("{other} refuses values of {}{more} that {version} accepts", named.join(", "))
            }
            What::MayRefuseMore { keywords } => {
                let keywords = keywords.join(", ");
                let at = if field.steps().is_empty() { String::new() } else { format!(" of {field}") };
                match self.is_proven() {
                    true => format!("{keywords}{at} refuses more in {version} than in {other}"),
                    false => format!(
                        "{keywords}{at} may refuse more in {version} than in {other}: it changed, and no document was found \
                         that shows it"
                    ),
                }
            }
            What::PartRefused { from } => {
                format!(
                    "{from} of {other} is in {field} in {version}, which refuses what documents of {other} make of it"
                )
            }
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
            What::Refused { from, value, becomes: Some(becomes), reason, .. } => format!(
                "{value}, valid for {} in {other}, becomes {becomes} as {field} in {version}, which refuses it: {reason}",
                names(from)
            ),
            What::Refused { from, value, becomes: None, reason, .. } => {
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
            What::AccessChanged(harm) => match harm {
                AccessHarm::Dropped => format!(
                    "clients can write {field} in {other}, and only the service can in {version}: what clients send is dropped"
                ),
                AccessHarm::Fixed => format!(
                    "clients can change {field} in {other}, and in {version} only set it on create: a later write with \
                     another value is refused"
                ),
                AccessHarm::NotOnCreate => format!(
                    "clients can set {field} on create in {other}, and not in {version}: a create with it is refused"
                ),
                AccessHarm::Hidden => {
                    format!("{field} is shown in {other}, and hidden in {version}: no client can read it")
                }
                AccessHarm::Shown => format!(
                    "{field} is hidden in {other}, and shown in {version}: every reader gets values that were written as \
                     secrets"
                ),
            },
            What::HubMoves { locked, pinned: true } => {
                format!("documents are stored as {locked}, and the catalog pins {version}")
            }
            What::ItemsNotIdentified { hidden, from } => {
                let from: Vec<_> = from.iter().map(VersionName::as_str).collect();
                let does = if from.len() == 1 { "does" } else { "do" };
                format!("nothing identifies the items of {field}, and {} {does} not show {hidden}", from.join(", "))
            }
            What::EmptyObjectsHide { objects } => {
                let shown: Vec<_> = objects.iter().take(3).map(ToString::to_string).collect();
                let more = match objects.len().saturating_sub(shown.len()) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!("{version} may show {}{more} as {{}} where other versions have fields in it", shown.join(", "))
            }
            What::HubMoves { locked, pinned: false } => {
                let newest = match version.maturity() {
                    Maturity::Stable => "the newest stable version",
                    Maturity::Alpha | Maturity::Preview => "the newest version, and no version is stable",
                };
                format!("documents are stored as {locked}; {version} is {newest}")
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
                format!("{conversion}{gone}:\n{}{}", lines(), self.other_readings())
            }
            What::ProbablyRenamed { .. } => {
                let removed = [Addition::Removed(self.field.clone())];
                format!("if so, add:\n{}if not:\n{}", lines(), changes_text(&self.version, &removed))
            }
            What::NameTaken { from } => format!(
                "rename {from} to another name, or declare that the {} of {other} is gone:\n{}",
                self.field,
                lines()
            ),
            What::SpellingTaken { .. } => {
                format!("give the new spelling another name, or say that the old field is gone:\n{}", lines())
            }
            What::Replaced { .. } => {
                let conversion = self.conversion();
                format!("{conversion}give the new field another name, or say that the old one is gone:\n{}", lines())
            }
            What::PartRefused { .. } => {
                let field = &self.field;
                format!("accept it in {field}, or fill in what {field} requires, with `derived` or `storageDefault`")
            }
            What::NewlyRequired { .. } if let [Addition::StorageDefault { version, .. }] = &self.additions[..] => {
                format!(
                    "make it optional in {}, or let readers fill it in where it is absent:\n{}",
                    self.version,
                    changes_text(version, &self.additions)
                )
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
            What::RequiredRemoved { .. } if !self.additions.is_empty() => {
                format!("keep the field, or say what clients of {other} read instead, for instance:\n{}", lines())
            }
            What::RequiredRemoved { .. } => "keep the field".to_owned(),
            What::KeysChanged { .. } | What::UnionChanged { .. } if !self.additions.is_empty() => {
                format!("if that has not changed, add:\n{}", lines())
            }
            What::ItemsNotIdentified { .. } if !self.additions.is_empty() => {
                format!("if no two items share it, declare the key:\n{}", lines())
            }
            What::InputNotRead { direction: Direction::Down, .. } => {
                format!("read the field in `down`; if {other} cannot express it, ignore this note")
            }
            What::AccessChanged(AccessHarm::Shown) => "hide it in every version that has the field".to_owned(),
            What::AccessChanged(AccessHarm::Hidden) => {
                "if it is a secret, hide it in every version; otherwise show it".to_owned()
            }
            What::ZeroLost { zero, .. } => {
                format!("make {} the default, or let writers say it", spelled(zero))
            }
            What::Refused { can_be_clamped: true, .. } => format!(
                "add `clamped: true` to the change, so that {} shows the nearest number that it can hold and the original is \
                 kept; or {}",
                self.version,
                self.rule().mend
            ),
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

    /// What else may have become of a field that seems to be removed.
    fn other_readings(&self) -> String {
        match &self.proposal {
            Some(Proposal { became: Became::Open, because, otherwise, .. }) => {
                let otherwise = otherwise.as_ref().map_or_else(String::new, |otherwise| format!("; or {otherwise}"));
                format!("but {because}{otherwise}")
            }
            Some(Proposal { became: Became::Removed, otherwise: Some(otherwise), .. }) => format!("or {otherwise}"),
            _ => String::new(),
        }
    }

    /// How to say that the field has another spelling, if it probably has.
    fn conversion(&self) -> String {
        let Some(proposal @ Proposal { became: Became::Respelled(..), .. }) = &self.proposal else {
            return String::new();
        };
        let lines: Vec<String> = lines_of(&self.version, std::slice::from_ref(proposal)).collect();
        format!("if it is the same in another form, add:\n{}\nif not, ", lines.join("\n"))
    }
}

/// More reasons than this are not listed.
const MOST_REASONS: usize = 3;

impl Likeness {
    /// Why two fields are probably the same, as a lower-case fragment.
    pub(crate) fn reason(&self) -> String {
        let reasons: Vec<&str> =
            self.evidence.iter().filter_map(|evidence| evidence.reason()).take(MOST_REASONS).collect();
        let rivals = if self.is_ambiguous { "; another field fits as well" } else { "" };
        match &reasons[..] {
            [] => "both have the same shape".to_owned(),
            reasons => format!("{}{rivals}", reasons.join(", ")),
        }
    }
}

impl Evidence {
    fn reason(self) -> Option<&'static str> {
        Some(match self {
            Self::SameName => "they have the same name and shape",
            Self::Case => "the names differ in letter case only",
            Self::Plural => "one name is the plural of the other",
            Self::Letters => "the names differ in a few letters",
            Self::Contained => "one name is part of the other, or short for it",
            Self::PathWords => "the new path has all words of the name",
            Self::CommonWords => "the names have words in common",
            Self::Mentioned => "the description names the other field",
            Self::Description => "they have the same description",
            Self::SimilarDescription => "the descriptions are similar",
            Self::Default => "the default is the same",
            Self::Bounds => "the limits are the same",
            Self::Enum => "they take the same values",
            Self::Fields => "they have the same fields",
            Self::OnlyPair => "they are the only ones of their object",
            Self::Neighbours => "they stand between the same fields",
            Self::SameObject => return None,
        })
    }
}

fn names(fields: &[Selector]) -> String {
    fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
