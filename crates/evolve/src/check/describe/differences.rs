//! How two versions differ, one difference a line.

use std::fmt::Write as _;

use wheelwright_document::Owned;

use super::{excluding, listing, or_none, quoted, told_apart, value_or_none};
use crate::{
    Conversion, Selector, Step,
    check::{Access, Change, Difference, Limit, diff::spelled},
};

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
        Change::Access { before, after } => {
            let allowed = |access: &Access| {
                if access.words().is_empty() { "none".to_owned() } else { access.words().join(", ") }
            };
            format!("~ {name}: access {}", from_to(&allowed(before), &allowed(after)))
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
