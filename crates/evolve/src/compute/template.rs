//! A text and fields that are parts of it.

use std::{collections::HashSet, fmt::Write};

use regex::{Regex, RegexBuilder};
use wheelwright_document::{Arena, Value};
use wheelwright_findings::{rules, shortened};
use wheelwright_schema::Problem;

use super::{
    Failed, Side,
    fit::{Fit, wrong_type},
    scalar::{read, spelled},
    unfit,
};
use crate::{Direction, Located, Respelled, Scalar, Shape, problem::problem_at};

/// A template with its parts, and how a text is taken apart.
#[derive(Debug)]
pub(super) struct Template {
    /// The texts before each part, with the part.
    parts: Box<[Part]>,
    /// What follows the last part.
    end: Box<str>,
    pattern: Option<Regex>,
    fields: Box<[Fit]>,
    text: Fit,
    /// Which way the text is.
    text_is: Direction,
}

#[derive(Debug)]
struct Part {
    before: Box<str>,
    name: Box<str>,
    field: usize,
}

/// A pattern that needs more memory than this is a mistake.
const LARGEST_PATTERN: usize = 4 << 20;

impl Template {
    pub(super) fn compile(
        respelled: &Respelled,
        template: &str,
        pattern: Option<&Located<Box<str>>>,
        from: Side<'_>,
        to: Side<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let refused = |message: String| vec![problem_at(&rules::TEMPLATE_UNFIT, respelled.with.span, message)];
        let (texts, end) = split(template).map_err(|message| refused(format!("`{template}`: {message}")))?;
        let [from_names, to_names] = [from, to].map(names);
        let all_in = |names: &[&str]| texts.iter().all(|(_, name)| names.contains(&&**name));
        let (fields, field_names, text, text_is) = match (is_text(from), is_text(to)) {
            (true, true) if all_in(&from_names) && !all_in(&to_names) => (from, from_names, to, Direction::Up),
            (true, _) => (to, to_names, from, Direction::Down),
            (false, true) => (from, from_names, to, Direction::Up),
            (false, false) => return Err(unfit(respelled, "it is for a string and fields that are parts of it")),
        };
        let is_part = |shape| matches!(shape, Shape::Scalar(scalar) if scalar != Scalar::Any);
        if !fields.fields.iter().all(|field| is_part(fields.structure.node(*field).shape)) {
            return Err(unfit(respelled, "parts of a text are strings, numbers or booleans"));
        }
        let mut parts = Vec::new();
        for (before, name) in texts {
            let found = field_names.iter().position(|field| **field == *name);
            let Some(field) = found else {
                let known = field_names.join(", ");
                return Err(refused(format!("`{template}` names {name}, which is no field here; there is {known}")));
            };
            if parts.iter().any(|part: &Part| part.field == field) {
                return Err(refused(format!("`{template}` names {name} twice")));
            }
            parts.push(Part { before, name, field });
        }
        if let Some(missing) = (0..field_names.len()).find(|field| !parts.iter().any(|part| part.field == *field)) {
            return Err(refused(format!("`{template}` does not name {}, which would be lost", field_names[missing])));
        }
        let touching = parts.iter().skip(1).find(|part| part.before.is_empty());
        if let (Some(part), None) = (touching, pattern) {
            let problem = format!("`{template}` does not say where {} begins", part.name);
            return Err(refused(problem).into_iter().map(|problem| problem.mend("give a `pattern`")).collect());
        }
        let pattern = pattern.map(|pattern| compiled(pattern, &parts)).transpose()?;
        let fit = |side: Side<'_>| side.fields.iter().map(|field| Fit::of(side.structure, *field)).collect::<Vec<_>>();
        let text = Fit::of(text.structure, text.fields[0]);
        Ok(Self { parts: parts.into(), end, pattern, fields: fit(fields).into(), text, text_is })
    }

    pub(super) fn convert<'a>(
        &'a self,
        direction: Direction,
        sources: &[Option<Value<'a>>],
        arena: &'a Arena,
        results: &mut Vec<Option<Value<'a>>>,
    ) -> Result<(), Failed> {
        if direction == self.text_is {
            let text = self.text_of(sources, arena)?;
            if let Some(text) = text {
                self.text.check(text)?;
            }
            results.push(text);
            return Ok(());
        }
        let start = results.len();
        results.resize(start + self.fields.len(), None);
        match sources.first().copied().flatten() {
            None | Some(Value::Null) => Ok(()),
            Some(Value::String(text)) => self.take_apart(text.as_str(), arena, &mut results[start..]),
            Some(value) => Err(wrong_type("string", value)),
        }
    }

    /// The text of the parts. One that is absent is left out, with what is written before it.
    fn text_of<'a>(&self, sources: &[Option<Value<'a>>], arena: &'a Arena) -> Result<Option<Value<'a>>, Failed> {
        let mut text = String::new();
        let mut is_absent = true;
        for part in &self.parts {
            let Some(value) = sources[part.field].filter(|value| !value.is_null()) else { continue };
            let value = spelled(value).map_err(|failed| failed.under(&part.name))?;
            is_absent = false;
            // Writing to a string does not fail.
            let _ = write!(text, "{}{value}", part.before);
        }
        text.push_str(&self.end);
        Ok((!is_absent).then(|| Value::string(arena.text(&text))))
    }

    fn take_apart<'a>(&self, text: &'a str, arena: &'a Arena, results: &mut [Option<Value<'a>>]) -> Result<(), Failed> {
        let mut set = |part: &Part, text: &'a str| {
            let value =
                read(text, self.fields[part.field].scalar(), arena).map_err(|failed| failed.under(&part.name))?;
            results[part.field] = Some(value);
            Ok(())
        };
        let mismatch = || Failed(format!("{:?} does not match", shortened(text)));
        if let Some(pattern) = &self.pattern {
            let captures = pattern.captures(text).ok_or_else(mismatch)?;
            return self.parts.iter().try_for_each(|part| match captures.name(&part.name) {
                Some(found) => set(part, found.as_str()),
                None => Ok(()),
            });
        }
        let mut rest = text.strip_suffix(&*self.end).ok_or_else(mismatch)?;
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            rest = rest.strip_prefix(&*part.before).ok_or_else(mismatch)?;
            let following = parts.clone().map(|next| rest.find(&*next.before)).position(|found| found.is_some());
            for _ in 0..following.unwrap_or(0) {
                parts.next();
            }
            let end = parts.peek().and_then(|next| rest.find(&*next.before)).unwrap_or(rest.len());
            set(part, &rest[..end])?;
            rest = &rest[end..];
            if following.is_none() {
                break;
            }
        }
        Ok(())
    }
}

/// The texts of a template, each with the name that follows it, and the text at the end. Braces are doubled.
type Texts = (Vec<(Box<str>, Box<str>)>, Box<str>);

fn split(template: &str) -> Result<Texts, &'static str> {
    let (mut texts, mut text) = (Vec::new(), String::new());
    let mut letters = template.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '{' | '}' if letters.next_if(|(_, next)| *next == letter).is_some() => text.push(letter),
            '{' => {
                let end = template[at..].find('}').ok_or("a name ends with `}`")?;
                let name = &template[at + 1..at + end];
                while letters.next_if(|(next, _)| *next <= at + end).is_some() {}
                texts.push((std::mem::take(&mut text).into(), name.into()));
            }
            '}' => return Err("write `}}` for a brace"),
            letter => text.push(letter),
        }
    }
    Ok((texts, text.into()))
}

/// A pattern for the whole of a text, with a group for each part.
fn compiled(pattern: &Located<Box<str>>, parts: &[Part]) -> Result<Regex, Vec<Problem>> {
    let refused =
        |message: String| vec![problem_at(&rules::TEMPLATE_UNFIT, pattern.span, message).mend("correct the pattern")];
    let pattern = &pattern.item;
    // Alone first: with what we put around it, another pattern might be one.
    Regex::new(pattern).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim().trim_start_matches("error: ");
        refused(format!("the pattern `{pattern}` cannot be used: {reason}"))
    })?;
    let build = |end| RegexBuilder::new(&format!(r"\A(?:{pattern}{end})\z")).size_limit(LARGEST_PATTERN).build();
    // A comment at the end of a verbose pattern takes in all that follows on its line.
    let regex = build("").or_else(|error| match error {
        regex::Error::Syntax(_) => build("\n"),
        error => Err(error),
    });
    let regex = regex.map_err(|_| {
        let reason = "it needs too much memory; repeat less, or smaller things";
        refused(format!("the pattern `{pattern}` cannot be used: {reason}"))
    })?;
    let groups: HashSet<&str> = regex.capture_names().flatten().collect();
    match parts.iter().find(|part| !groups.contains(&*part.name)) {
        Some(part) => Err(refused(format!("the pattern `{pattern}` has no group (?P<{}>…)", part.name))),
        None => Ok(regex),
    }
}

fn is_text(side: Side<'_>) -> bool {
    matches!(side.fields, [field] if side.structure.node(*field).shape == Shape::Scalar(Scalar::String))
}

fn names<'s>(side: Side<'s>) -> Vec<&'s str> {
    side.fields.iter().map(|field| side.structure.node(*field).name().unwrap_or_default()).collect()
}
