//! Failures made small: the simplest document near a failing one that still fails.

use wheelwright_document::{Arena, Number, Value};

/// How many documents are tried, at most.
const TRIES: usize = 4_000;

/// The simplest document that `still_fails` was found to hold for, by dropping fields and items, shortening strings and
/// simplifying numbers one at a time. Unless tries run out, no single such step leads any further.
pub fn shrink<'a>(document: Value<'a>, still_fails: impl FnMut(Value<'a>) -> bool, arena: &'a Arena) -> Value<'a> {
    shrink_within_tries(document, TRIES, still_fails, arena)
}

/// [`shrink`] with a limit of its own on the documents that are tried.
pub(crate) fn shrink_within_tries<'a>(
    document: Value<'a>,
    mut tries: usize,
    mut still_fails: impl FnMut(Value<'a>) -> bool,
    arena: &'a Arena,
) -> Value<'a> {
    shrink_within(document, &mut still_fails, arena, &mut tries)
}

/// The same for several documents, such as writes that follow one another: fewer of them, and each as simple as can be.
pub fn shrink_all<'a>(
    documents: &[Value<'a>],
    mut still_fails: impl FnMut(&[Value<'a>]) -> bool,
    arena: &'a Arena,
) -> Vec<Value<'a>> {
    let mut tries = TRIES;
    let mut documents = documents.to_vec();
    loop {
        let before = documents.clone();
        let mut position = 0;
        while position < documents.len() && tries > 0 {
            tries -= 1;
            let mut fewer = documents.clone();
            fewer.remove(position);
            if still_fails(&fewer) {
                documents = fewer;
            } else {
                position += 1;
            }
        }
        for position in 0..documents.len() {
            let mut candidate = documents.clone();
            let mut fails = |simpler| {
                candidate[position] = simpler;
                still_fails(&candidate)
            };
            documents[position] = shrink_within(documents[position], &mut fails, arena, &mut tries);
        }
        if documents == before || tries == 0 {
            return documents;
        }
    }
}

/// Goes over all values of the document, outer ones first, until nothing gets simpler any more.
fn shrink_within<'a>(
    mut document: Value<'a>,
    still_fails: &mut impl FnMut(Value<'a>) -> bool,
    arena: &'a Arena,
    tries: &mut usize,
) -> Value<'a> {
    loop {
        let before = document;
        let mut position = 0;
        while let Some(value) = at(document, &mut position.clone()) {
            let simpler = simpler(value, arena).find_map(|candidate| {
                *tries = tries.checked_sub(1)?;
                let changed = replaced(document, &mut position.clone(), candidate, arena)?;
                still_fails(changed).then_some(changed)
            });
            match simpler {
                Some(simpler) => document = simpler,
                None => position += 1,
            }
            if *tries == 0 {
                return document;
            }
        }
        if document == before {
            return document;
        }
    }
}

/// The value at a position, counted from the root with outer values before inner ones.
fn at<'a>(value: Value<'a>, position: &mut usize) -> Option<Value<'a>> {
    if *position == 0 {
        return Some(value);
    }
    *position -= 1;
    match value {
        Value::Array(items) => items.iter().find_map(|item| at(*item, position)),
        Value::Object(entries) => entries.iter().find_map(|entry| at(entry.value, position)),
        _ => None,
    }
}

/// The document with another value at a position; all that is not above it is shared.
fn replaced<'a>(value: Value<'a>, position: &mut usize, with: Value<'a>, arena: &'a Arena) -> Option<Value<'a>> {
    if *position == 0 {
        return Some(with);
    }
    *position -= 1;
    match value {
        Value::Array(items) => {
            let mut found = items.iter().enumerate();
            let (at, item) = found.find_map(|(at, item)| Some((at, replaced(*item, position, with, arena)?)))?;
            let mut items = items.to_vec();
            items[at] = item;
            Some(Value::Array(arena.slice(&items)))
        }
        Value::Object(entries) => {
            let mut found = entries.iter().enumerate();
            let (at, value) =
                found.find_map(|(at, entry)| Some((at, replaced(entry.value, position, with, arena)?)))?;
            let mut entries = entries.to_vec();
            entries[at].value = value;
            Some(Value::Object(arena.slice(&entries)))
        }
        _ => None,
    }
}

/// Values that are simpler than this one, the simplest first and each made when it is asked for. Every step is to
/// something smaller, so steps come to an end.
fn simpler<'a>(value: Value<'a>, arena: &'a Arena) -> Box<dyn Iterator<Item = Value<'a>> + 'a> {
    match value {
        Value::Null | Value::Bool(false) => Box::new(std::iter::empty()),
        Value::Bool(true) => Box::new(std::iter::once(Value::Bool(false))),
        Value::Number(number) => Box::new(simpler_numbers(number).into_iter()),
        Value::String(text) => {
            Box::new(simpler_texts(text.as_str()).into_iter().map(|text| Value::string(arena.text(&text))))
        }
        Value::Array(items) => Box::new(fewer(items, arena).map(Value::Array)),
        Value::Object(entries) => Box::new(fewer(entries, arena).map(Value::Object)),
    }
}

fn simpler_numbers(number: Number<'_>) -> Vec<Value<'_>> {
    let text = number.as_str();
    let whole = text.split(['.', 'e', 'E']).next().unwrap_or(text);
    let shorter = |text: &&str| text.len() < number.as_str().len() || (*text == "0" && number.as_str() != "0");
    let candidates = ["0", "1", whole, whole.trim_start_matches('-'), &text[..text.len() / 2], &text[..text.len() - 1]];
    candidates.into_iter().filter(shorter).filter_map(Number::new).map(Value::Number).collect()
}

fn simpler_texts(text: &str) -> Vec<String> {
    let length = text.chars().count();
    if length == 0 {
        return Vec::new();
    }
    let plain: String = text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { 'a' }).collect();
    let all_a = "a".repeat(length);
    let mut candidates = vec![String::new()];
    candidates.push(text.chars().take(length / 2).collect());
    candidates.push(text.chars().skip(length - length / 2).collect());
    candidates.push(text.chars().take(length - 1).collect());
    candidates.push(text.chars().skip(1).collect());
    candidates.extend([all_a.clone(), plain]);
    // As many letters, but plain ones, are a step only while some are not.
    let is_simpler = |candidate: &String| {
        let odd = |text: &str| text.chars().filter(|letter| !letter.is_ascii_alphanumeric()).count();
        candidate.chars().count() < length || odd(candidate) < odd(text) || (*candidate == all_a && text != all_a)
    };
    candidates.retain(is_simpler);
    candidates
}

/// None of the items, either half, all but one.
fn fewer<'a, T: Copy>(items: &'a [T], arena: &'a Arena) -> impl Iterator<Item = &'a [T]> {
    let count = items.len();
    let parts = [&items[..0], &items[..count / 2], &items[count / 2..]];
    let without = move |position: usize| arena.slice(&[&items[..position], &items[position + 1..]].concat());
    parts.into_iter().filter(move |part| part.len() < count).chain((0..count).map(without))
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{decode, encode};

    use super::*;

    fn shrunk(document: &str, still_fails: impl Fn(&str) -> bool) -> String {
        let arena = Arena::new();
        let text = |value| String::from_utf8(encode(value)).unwrap();
        let document = decode(document.as_bytes(), &arena).unwrap();
        assert!(still_fails(&text(document)));
        text(shrink(document, |candidate| still_fails(&text(candidate)), &arena))
    }

    #[test]
    fn only_what_the_failure_needs_is_left() {
        let document = r#"{"a": [1, {"b": "xyz", "secret": 17.5}, 3], "c": {"d": null}, "e": "needle in hay"}"#;
        assert_eq!(shrunk(document, |text| text.contains("secret")), r#"{"a":[{"secret":0}]}"#);
        assert_eq!(shrunk(document, |text| text.contains("needle")), r#"{"e":"needle"}"#);
        assert_eq!(shrunk(document, |text| text.contains("null")), r#"{"c":{"d":null}}"#);
        assert_eq!(shrunk(document, |_| true), "{}");
    }

    #[test]
    fn shrinking_ends_where_no_single_step_leads_on() {
        let document = r#"{"a": [[1, 22, 333], [4444]], "b": {"c": "ü\"", "d": [true, true]}, "e": -12.5e3}"#;
        for least in 2..40 {
            let end = shrunk(document, |text| text.len() >= least);
            let arena = Arena::new();
            let value = decode(end.as_bytes(), &arena).unwrap();
            for position in 0.. {
                let Some(found) = at(value, &mut position.clone()) else { break };
                for candidate in simpler(found, &arena) {
                    let changed = encode(replaced(value, &mut position.clone(), candidate, &arena).unwrap());
                    assert!(changed.len() < least, "{end} could be {}", String::from_utf8_lossy(&changed));
                }
            }
        }
    }

    #[test]
    fn hostile_predicates_come_to_an_end() {
        let arena = Arena::new();
        let document = decode(br#"{"a": "some text", "b": [1, 2, 3, 4, 5, 6, 7, 8]}"#, &arena).unwrap();
        let mut calls = 0;
        shrink(
            document,
            |_| {
                calls += 1;
                calls % 3 == 0
            },
            &arena,
        );
        assert!(calls <= TRIES);
    }

    #[test]
    fn a_sequence_loses_writes_before_they_are_simplified() {
        let arena = Arena::new();
        let write = |text: &str| decode(arena.text(text).as_bytes(), &arena).unwrap();
        let writes =
            [write(r#"{"a": 1}"#), write(r#"{"x": {"set": true, "b": 2}}"#), write("[]"), write(r#"{"read": 7}"#)];
        let fails = |writes: &[Value<'_>]| {
            let set = writes.iter().position(|write| format!("{write:?}").contains("set"));
            let read = writes.iter().position(|write| format!("{write:?}").contains("read"));
            set.is_some() && set < read
        };
        let end = shrink_all(&writes, fails, &arena);
        assert_eq!(format!("{end:?}"), r#"[{"x":{"set":false}}, {"read":0}]"#);
    }
}
