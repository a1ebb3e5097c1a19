//! `explain`: the page of a rule, or the list of them all.

use std::io;

use wheelwright_findings::{Rule, rules};
use wheelwright_schema::closest_of;

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
            let meant = if near.is_empty() { String::new() } else { format!("; is it {}?", near.join(" or ")) };
            console.complain(format_args!("there is no rule {wanted:?}{meant}"))?;
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

/// The rules that may be meant by a word that is none, three at most: the one that is nearly written so, and those whose
/// names have the word in them.
fn nearest(word: &str) -> Vec<&'static Rule> {
    /// Shorter words are in too many names.
    const SHORTEST: usize = 4;
    let word = word.to_lowercase();
    let meant = closest_of(rules::all().iter().flat_map(|rule| [rule.id, rule.name]), &word).and_then(rules::find);
    let longer = rules::all().iter().copied().filter(|rule| word.len() >= SHORTEST && rule.name.contains(&*word));
    let longer = longer.filter(|rule| meant.is_none_or(|meant| meant.id != rule.id));
    meant.into_iter().chain(longer).take(3).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_that_may_be_meant_are_offered() {
        let ids = |word: &str| -> Vec<_> { nearest(word).iter().map(|rule| rule.id).collect() };
        assert_eq!(ids("type-requried"), ["WW005"]);
        assert_eq!(ids("WW05"), ["WW005"]);
        assert_eq!(ids("Type-Unknow"), ["WW006"]);
        assert_eq!(ids("pattern"), ["WW020", "WW024", "WW049"]);
        for nothing in ["", "a", "WW9", "WW999", "colour"] {
            assert_eq!(ids(nothing), [""; 0], "{nothing:?}");
        }
    }
}
