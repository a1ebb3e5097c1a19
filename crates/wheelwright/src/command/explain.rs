//! `explain`: the page of a rule, or the list of them all.

use std::{cmp::Reverse, io};

use wheelwright_findings::{Rule, rules};

use crate::{Console, Exit};

/// Writes the page of a rule, by its id or name in any letter case; without one, a line for every rule there is.
///
/// # Errors
/// The console cannot be written to.
pub fn explain(rule: Option<&str>, console: &mut Console<'_>) -> io::Result<Exit> {
    let Some(wanted) = rule else {
        return list(console).map(|()| Exit::Clean);
    };
    match rules::find(wanted) {
        Some(rule) => {
            console.data.write_all(rule.page.as_bytes())?;
            console.data.flush()?;
            Ok(Exit::Clean)
        }
        None => {
            let near: Vec<_> = nearest(wanted).iter().map(|rule| format!("{} {}", rule.id, rule.name)).collect();
            console.complain(format_args!("there is no rule {wanted:?}; the nearest are {}", near.join(", ")))?;
            console.say("wheelwright explain lists all of them")?;
            Ok(Exit::Usage)
        }
    }
}

fn list(console: &mut Console<'_>) -> io::Result<()> {
    let width = rules::all().iter().map(|rule| rule.name.len()).max().unwrap_or_default();
    for rule in rules::all() {
        let (id, level, name, summary) = (rule.id, rule.level.as_str(), rule.name, rule.summary);
        writeln!(console.data, "{id}  {level:<7}  {name:<width$}  {summary}")?;
    }
    console.data.flush()
}

/// The three rules whose id or name shares the most with a word.
fn nearest(word: &str) -> Vec<&'static Rule> {
    let word = word.to_lowercase();
    let mut rules = rules::all().to_vec();
    rules.sort_by_key(|rule| Reverse(likeness(&word, &rule.id.to_lowercase()).max(likeness(&word, rule.name))));
    rules.truncate(3);
    rules
}

/// In thousandths, how many pairs of neighbouring characters two words share.
fn likeness(one: &str, other: &str) -> usize {
    const LONGEST: usize = 64;
    let pairs = |word: &str| -> Vec<(char, char)> { word.chars().zip(word.chars().skip(1)).take(LONGEST).collect() };
    let (one, mut other) = (pairs(one), pairs(other));
    let all = one.len() + other.len();
    let shared = one.iter().filter(|pair| {
        let position = other.iter().position(|candidate| candidate == *pair);
        position.map(|position| other.swap_remove(position)).is_some()
    });
    2000 * shared.count() / all.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rules_are_offered() {
        assert_eq!(nearest("type-requried")[0].id, "WW005");
        assert!(nearest("WW9").iter().all(|rule| rule.id.starts_with("WW")));
        assert_eq!(nearest("").len(), 3);
    }
}
