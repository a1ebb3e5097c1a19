//! Strings; positions are counted in characters.

use super::{Answer, Cost, Kind, Overload, TEXTS, global, member, tenth};
use crate::{Failure, evaluate::Evaluator, value::Val};

const TRAVERSAL: Cost = Cost::Traversal(1);
/// The function takes what it costs from the budget itself, before it makes anything large.
const PAID: Cost = Cost::Fixed(0);

pub(super) const OVERLOADS: &[Overload] = &[
    member("startsWith", &[Kind::String, Kind::String], Kind::Bool, TRAVERSAL, |_, arguments| {
        Ok(Val::Bool(text_at(arguments, 0)?.starts_with(text_at(arguments, 1)?)))
    }),
    member("endsWith", &[Kind::String, Kind::String], Kind::Bool, TRAVERSAL, |_, arguments| {
        Ok(Val::Bool(text_at(arguments, 0)?.ends_with(text_at(arguments, 1)?)))
    }),
    member("contains", &[Kind::String, Kind::String], Kind::Bool, Cost::Search, |_, arguments| {
        Ok(Val::Bool(text_at(arguments, 0)?.contains(text_at(arguments, 1)?)))
    }),
    member("charAt", &[Kind::String, Kind::Int], Kind::String, Cost::Fixed(1), char_at),
    member("indexOf", &[Kind::String, Kind::String], Kind::Int, Cost::Items, index_of),
    member("indexOf", &[Kind::String, Kind::String, Kind::Int], Kind::Int, Cost::Items, index_of),
    member("lastIndexOf", &[Kind::String, Kind::String], Kind::Int, Cost::Items, last_index_of),
    member("lastIndexOf", &[Kind::String, Kind::String, Kind::Int], Kind::Int, Cost::Items, last_index_of),
    member("lowerAscii", &[Kind::String], Kind::String, TRAVERSAL, |evaluator, arguments| {
        Ok(Val::String(evaluator.arena.text(&text_at(arguments, 0)?.to_ascii_lowercase())))
    }),
    member("upperAscii", &[Kind::String], Kind::String, TRAVERSAL, |evaluator, arguments| {
        Ok(Val::String(evaluator.arena.text(&text_at(arguments, 0)?.to_ascii_uppercase())))
    }),
    member("trim", &[Kind::String], Kind::String, TRAVERSAL, |_, arguments| {
        Ok(Val::String(text_at(arguments, 0)?.trim_matches(is_space)))
    }),
    member("substring", &[Kind::String, Kind::Int], Kind::String, TRAVERSAL, substring),
    member("substring", &[Kind::String, Kind::Int, Kind::Int], Kind::String, TRAVERSAL, substring),
    member("replace", &[Kind::String, Kind::String, Kind::String], Kind::String, PAID, replace),
    member("replace", &[Kind::String, Kind::String, Kind::String, Kind::Int], Kind::String, PAID, replace),
    member("split", &[Kind::String, Kind::String], TEXTS, Cost::Traversal(2), split),
    member("split", &[Kind::String, Kind::String, Kind::Int], TEXTS, Cost::Traversal(2), split),
    member("join", &[TEXTS], Kind::String, PAID, join),
    member("join", &[TEXTS, Kind::String], Kind::String, PAID, join),
    member("reverse", &[Kind::String], Kind::String, TRAVERSAL, |evaluator, arguments| {
        Ok(Val::String(evaluator.arena.text(&text_at(arguments, 0)?.chars().rev().collect::<String>())))
    })
    .elsewhere(),
    global("strings.quote", &[Kind::String], Kind::String, TRAVERSAL, |evaluator, arguments| {
        Ok(Val::String(evaluator.arena.text(&quote(text_at(arguments, 0)?))))
    }),
];

pub(super) fn text_at<'a>(arguments: &[Val<'a>], at: usize) -> Result<&'a str, Failure> {
    match arguments.get(at) {
        Some(Val::String(text)) => Ok(text),
        _ => Err(Failure::no_such_overload("string")),
    }
}

pub(super) fn int(arguments: &[Val<'_>], at: usize) -> Result<i64, Failure> {
    match arguments.get(at) {
        Some(Val::Int(value)) => Ok(*value),
        _ => Err(Failure::no_such_overload("int")),
    }
}

/// What Unicode calls white space, as Go does.
fn is_space(letter: char) -> bool {
    letter.is_whitespace()
}

fn out_of_range(position: i64) -> Failure {
    Failure::other(format!("index out of range: {position}"))
}

/// The byte that the character at a position begins with; the end of the text counts as a position.
fn byte_at(text: &str, position: i64) -> Result<usize, Failure> {
    let wanted = usize::try_from(position).map_err(|_| out_of_range(position))?;
    let mut starts = text.char_indices().map(|(start, _)| start).chain([text.len()]);
    starts.nth(wanted).ok_or_else(|| out_of_range(position))
}

/// The byte that a search begins at; none beyond the text, where newer versions of CEL find nothing and do not fail.
fn start_of_search(text: &str, position: i64) -> Result<Option<usize>, Failure> {
    let wanted = usize::try_from(position).map_err(|_| out_of_range(position))?;
    Ok(text.char_indices().nth(wanted).map(|(start, _)| start))
}

fn characters_before(text: &str, byte: usize) -> Val<'static> {
    Val::Int(text[..byte].chars().count() as i64)
}

fn char_at<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let text = text_at(arguments, 0)?;
    // Characters before it are counted, if there are as many.
    let before = u64::try_from(int(arguments, 1)?).unwrap_or(0).min(text.len() as u64);
    evaluator.work(before / 10)?;
    let start = byte_at(text, int(arguments, 1)?)?;
    let length = text[start..].chars().next().map_or(0, char::len_utf8);
    Ok(Val::String(&text[start..start + length]))
}

fn index_of<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let (text, wanted) = (text_at(arguments, 0)?, text_at(arguments, 1)?);
    let from = arguments.get(2).map_or(Ok(0), |_| int(arguments, 2))?;
    if wanted.is_empty() {
        return Ok(Val::Int(from));
    }
    let Some(from) = start_of_search(text, from)? else { return Ok(Val::Int(-1)) };
    Ok(text[from..].find(wanted).map_or(Val::Int(-1), |found| characters_before(text, from + found)))
}

fn last_index_of<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let (text, wanted) = (text_at(arguments, 0)?, text_at(arguments, 1)?);
    let last = arguments.get(2).map(|_| int(arguments, 2)).transpose()?;
    if wanted.is_empty() {
        return Ok(last.map_or_else(|| characters_before(text, text.len()), Val::Int));
    }
    // A match may begin at the last position, and end after it.
    let start = match last {
        None => Some(text.len()),
        Some(last) => start_of_search(text, last)?,
    };
    let Some(start) = start else { return Ok(Val::Int(-1)) };
    let end = text.floor_char_boundary(start.saturating_add(wanted.len()));
    Ok(text[..end].rfind(wanted).map_or(Val::Int(-1), |found| characters_before(text, found)))
}

fn substring<'a>(_: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let text = text_at(arguments, 0)?;
    let from = int(arguments, 1)?;
    let start = byte_at(text, from)?;
    let end = match arguments.get(2) {
        None => text.len(),
        Some(_) => {
            let to = int(arguments, 2)?;
            if to < from {
                return Err(Failure::other(format!("invalid substring range: from {from} to {to}")));
            }
            byte_at(text, to)?
        }
    };
    Ok(Val::String(&text[start..end]))
}

fn replace<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let (text, old, new) = (text_at(arguments, 0)?, text_at(arguments, 1)?, text_at(arguments, 2)?);
    let most = match arguments.get(3) {
        None => usize::MAX,
        Some(_) => usize::try_from(int(arguments, 3)?).unwrap_or(usize::MAX),
    };
    evaluator.charge(tenth(2 * arguments[0].size_up_to(u64::MAX)))?;
    let count = text.matches(old).take(most).count();
    evaluator.work((count as u64).saturating_mul(new.len() as u64) / 2)?;
    Ok(Val::String(evaluator.arena.text(&text.replacen(old, new, count))))
}

fn split<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let (text, separator) = (text_at(arguments, 0)?, text_at(arguments, 1)?);
    let most = match arguments.get(2) {
        None => usize::MAX,
        Some(_) => usize::try_from(int(arguments, 2)?).unwrap_or(usize::MAX),
    };
    let parts: Vec<Val<'a>> = if most == 0 {
        Vec::new()
    } else if separator.is_empty() {
        // Every character is a part; the last takes the rest.
        let mut parts: Vec<_> =
            text.char_indices().map(|(start, letter)| &text[start..start + letter.len_utf8()]).collect();
        if parts.len() > most {
            let rest: usize = parts[..most - 1].iter().map(|part| part.len()).sum();
            parts.truncate(most - 1);
            parts.push(&text[rest..]);
        }
        parts.into_iter().map(Val::String).collect()
    } else {
        text.splitn(most, separator).map(Val::String).collect()
    };
    evaluator.made(parts.len())?;
    Ok(Val::List(evaluator.arena.slice(&parts)))
}

fn join<'a>(evaluator: &mut Evaluator<'a>, arguments: &[Val<'a>]) -> Answer<'a> {
    let separator = if arguments.len() > 1 { text_at(arguments, 1)? } else { "" };
    let mut joined = String::new();
    let mut characters = 0;
    for at in 0..arguments[0].cost_size() as usize {
        let part = evaluator.item(arguments[0], at);
        let part = text_at(&[part], 0)?;
        let before = characters;
        if at > 0 {
            characters += separator.chars().count() as u64;
            joined += separator;
        }
        characters += part.chars().count() as u64;
        match characters == before {
            true => evaluator.work(1)?,
            false => evaluator.charge(tenth(2 * characters) - tenth(2 * before))?,
        }
        joined += part;
    }
    Ok(Val::String(evaluator.arena.text(&joined)))
}

/// A text in double quotes, with escapes for what cannot be seen.
fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '\u{07}' => quoted.push_str("\\a"),
            '\u{08}' => quoted.push_str("\\b"),
            '\u{0c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{0b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
