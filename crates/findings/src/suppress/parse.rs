//! The words of an allowance: which rules, until when, and why.

use super::Date;
use crate::{Rule, rules};

/// What an allowance says.
#[derive(Clone, Debug)]
pub(super) struct Words {
    pub(super) rules: Vec<&'static Rule>,
    pub(super) until: Option<Date>,
    pub(super) reason: String,
}

/// How much of a file a comment speaks of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    /// What the comment stands at.
    Here,
    /// All of it.
    File,
}

/// What a comment allows, or why it does not although it means to; nothing for all other comments.
pub(super) fn comment(text: &str) -> Option<Result<(Reach, Words), String>> {
    const NAME: &str = "wheelwright";
    let text = text.trim_start_matches('#').trim();
    let rest = text.get(NAME.len()..).filter(|_| text[..NAME.len()].eq_ignore_ascii_case(NAME))?;
    let Some(instruction) = rest.strip_prefix(':').filter(|_| text.starts_with(NAME)) else {
        let after = rest.trim_start();
        let is_meant = after.starts_with(':') || (after.len() < rest.len() && after.starts_with("allow"));
        return is_meant.then(|| Err("it does not begin with wheelwright: and a space".to_owned()));
    };
    let instruction = instruction.trim_start();
    let (verb, rest) = instruction.split_once(char::is_whitespace).unwrap_or((instruction, ""));
    let reach = match verb {
        "allow" => Reach::Here,
        "allow-file" => Reach::File,
        _ => return Some(Err(format!("it says {verb:?} where allow or allow-file is expected"))),
    };
    Some(words(rest).map(|words| (reach, words)))
}

/// Reads `WW005, type-unknown until 2027-03-01 -- reason`.
pub(super) fn words(text: &str) -> Result<Words, String> {
    let (head, reason) = text.split_once("--").map_or((text, ""), |(head, reason)| (head, reason.trim()));
    if reason.is_empty() {
        return Err("it gives no reason".to_owned());
    }
    let mut words = head.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|word| !word.is_empty());
    let rules = words.by_ref().take_while(|word| *word != "until").map(rule).collect::<Result<Vec<_>, _>>()?;
    if rules.is_empty() {
        return Err("it names no rule".to_owned());
    }
    let is_until = head.split_whitespace().any(|word| word == "until");
    let until = match (words.next(), words.next()) {
        (None, _) if !is_until => None,
        (Some(date), None) => {
            Some(Date::parse(date).ok_or_else(|| format!("{date:?} is no date of the form 2027-03-01"))?)
        }
        _ => return Err("a date, and nothing else, must follow until".to_owned()),
    };
    Ok(Words { rules, until, reason: reason.to_owned() })
}

fn rule(id_or_name: &str) -> Result<&'static Rule, String> {
    let rule = rules::find(id_or_name).ok_or_else(|| format!("there is no rule {id_or_name:?}"))?;
    if rule.may_be_allowed() { Ok(rule) } else { Err(format!("{} {} cannot be allowed", rule.id, rule.name)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Result<String, String>> {
        let said = comment(text)?;
        Some(said.map(|(reach, words)| {
            let ids: Vec<_> = words.rules.iter().map(|rule| rule.id).collect();
            let until = words.until.map_or("ever".to_owned(), |date| date.to_string());
            format!("{reach:?} {} {until}: {}", ids.join("+"), words.reason)
        }))
    }

    #[test]
    fn rules_dates_and_reasons_are_read() {
        let is = |text: &str, said: &str| assert_eq!(read(text), Some(Ok(said.to_owned())), "{text}");
        is(" wheelwright: allow WW005 -- since forever", "Here WW005 ever: since forever");
        is("# wheelwright:allow ww005,type-unknown -- a -- b", "Here WW005+WW006 ever: a -- b");
        is(" wheelwright: allow WW005 , WW006 until 2027-03-01 -- x", "Here WW005+WW006 2027-03-01: x");
        is(" wheelwright: allow-file WW036 until 2027-03-01 --x", "File WW036 2027-03-01: x");
    }

    #[test]
    fn what_is_meant_but_wrong_is_told() {
        let says = |text: &str, why: &str| assert_eq!(read(text), Some(Err(why.to_owned())), "{text}");
        says("wheelwright: allow WW005", "it gives no reason");
        says("wheelwright: allow WW005 --  ", "it gives no reason");
        says("wheelwright: allow -- x", "it names no rule");
        says("wheelwright: allow until 2027-03-01 -- x", "it names no rule");
        says("wheelwright: allow WW999 -- x", "there is no rule \"WW999\"");
        says("wheelwright: allow WW005 until -- x", "a date, and nothing else, must follow until");
        says("wheelwright: allow WW005 until 2027-03-01 WW006 -- x", "a date, and nothing else, must follow until");
        says("wheelwright: allow WW005 until soon -- x", "\"soon\" is no date of the form 2027-03-01");
        says("wheelwright: ignore WW005 -- x", "it says \"ignore\" where allow or allow-file is expected");
        says("wheelwright allow WW005 -- x", "it does not begin with wheelwright: and a space");
        says("Wheelwright: allow WW005 -- x", "it does not begin with wheelwright: and a space");
        says("wheelwright: allow WW001 -- x", "WW001 unreadable cannot be allowed");
        says("wheelwright: allow WW062 -- x", "WW062 suppression-unused cannot be allowed");
    }

    #[test]
    fn other_comments_are_left_alone() {
        for text in ["", " a comment", "wheelwrights: b", "wheelwright checks this", "wheelwright", "é", "wheelwrighü"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
