//! Findings that a file allows, with a reason and perhaps until a day: they are kept, and fail nothing.

mod date;
mod parse;
mod read;

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

use wheelwright_document::FieldPath;

pub use date::Date;
pub use read::{ALLOWANCE_KEYWORD, Allowances, Holds};

use crate::{Finding, Findings, Place, Rule, rules};
use read::Allowance;

/// Why a finding is let pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suppression {
    /// The reason that was given.
    pub reason: String,
    /// The last day it is let pass.
    pub until: Option<Date>,
    /// Where it is allowed.
    pub place: Place,
}

/// Marks the findings that are allowed where they are, and adds what is wrong with the allowances: those that cannot be
/// understood, that have expired, and that no finding needs.
///
/// Without `today`, nothing expires. An allowance for a rule that is not `looked_for` may be needed another time.
pub fn suppress(
    findings: &mut Findings,
    allowances: &[Allowances],
    today: Option<Date>,
    looked_for: impl Fn(&Rule) -> bool,
) {
    let mut about_allowances = Vec::new();
    {
        let mut by_file_and_rule: HashMap<(&str, &str), Vec<&mut Finding>> = HashMap::new();
        let files: HashSet<&str> = allowances.iter().map(|allowances| allowances.file.as_str()).collect();
        for finding in findings.iter_mut() {
            let file = finding.place.as_ref().and_then(|place| files.get(place.file.as_str()));
            if let Some(file) = file.copied() {
                by_file_and_rule.entry((file, finding.rule.id)).or_default().push(finding);
            }
        }
        for Allowances { file, items, malformed } in allowances {
            about_allowances.extend(malformed.iter().cloned());
            let is_over = |item: &Allowance| item.until.zip(today).is_some_and(|(until, today)| until < today);
            let (over, valid): (Vec<_>, Vec<_>) = items.iter().partition(|item| is_over(item));
            about_allowances.extend(over.iter().filter_map(|item| expired(item, &looked_for)));
            let mut by_rule: HashMap<&str, Vec<&Allowance>> = HashMap::new();
            for item in valid {
                for rule in &item.rules {
                    by_rule.entry(rule.id).or_default().push(item);
                }
            }
            for (rule, items) in by_rule {
                let found = by_file_and_rule.remove(&(file.as_str(), rule)).unwrap_or_default();
                let unused = let_pass(found, items).into_iter();
                let rule = rules::find(rule).filter(|rule| looked_for(rule));
                about_allowances
                    .extend(rule.into_iter().flat_map(|rule| unused.clone().map(|item| needless(item, rule))));
            }
        }
    }
    findings.extend(about_allowances);
}

/// Marks the findings of one rule that an allowance reaches, the innermost if several do, and gives back the allowances
/// that reach none. One pass over both, in the order of the text.
fn let_pass<'i>(mut found: Vec<&mut Finding>, mut items: Vec<&'i Allowance>) -> Vec<&'i Allowance> {
    let start = |finding: &Finding| finding.place.as_ref().map_or(0, |place| place.span.start);
    found.sort_by_key(|finding| start(finding));
    items.sort_by_key(|item| (*item.range.start(), Reverse(*item.range.end())));
    let mut used = vec![false; items.len()];
    let mut ahead = 0;
    let mut open: Vec<usize> = Vec::new();
    for finding in found {
        let at = start(finding);
        while items.get(ahead).is_some_and(|item| *item.range.start() <= at) {
            open.push(ahead);
            ahead += 1;
        }
        while open.last().is_some_and(|last| *items[*last].range.end() < at) {
            open.pop();
        }
        if let Some(&last) = open.last() {
            used[last] = true;
            let Allowance { reason, until, place, .. } = items[last];
            finding.suppressed = Some(Suppression { reason: reason.clone(), until: *until, place: place.clone() });
        }
    }
    items.into_iter().zip(used).filter(|(_, used)| !used).map(|(item, _)| item).collect()
}

fn expired(item: &Allowance, looked_for: impl Fn(&Rule) -> bool) -> Option<Finding> {
    let rules: Vec<_> = item.rules.iter().filter(|rule| looked_for(rule)).map(|rule| rule.id).collect();
    let until = item.until.filter(|_| !rules.is_empty())?;
    let rules = rules.join(", ");
    let message = format!("{rules} was allowed here until {until}, and no longer is: {}", item.reason);
    Some(about(&rules::SUPPRESSION_EXPIRED, message, item, &rules))
}

fn needless(item: &Allowance, rule: &Rule) -> Finding {
    let message = format!("{} is allowed here, but nothing here breaks it", rule.id);
    about(&rules::SUPPRESSION_UNUSED, message, item, rule.id)
}

fn about(rule: &'static Rule, message: String, item: &Allowance, ids: &str) -> Finding {
    let identity = format!("{ids} {}", item.reason);
    Finding::new(rule, message, FieldPath::root()).at(item.place.clone()).with_identity(identity)
}
