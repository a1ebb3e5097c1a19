//! `$ref`: from what is written to what it leads to.

use std::{borrow::Cow, collections::HashMap, rc::Rc};

use wheelwright_document::{Path, Span, Spanned, SpannedEntry, SpannedNode};
use wheelwright_findings::{Rule, rules};

use super::files::{Files, Unusable};
use crate::{Problem, lower::closest_of};

/// What a reference leads to.
#[derive(Clone, Debug)]
pub(super) struct Target<'a> {
    pub(super) file: usize,
    pub(super) source: &'a Spanned<'a>,
    /// The way to it from the root of its file, as it is shown: `definitions.Pet`.
    pub(super) path: Rc<str>,
}

/// Why a reference leads nowhere.
#[derive(Clone, Debug)]
struct Unresolved {
    rule: &'static Rule,
    message: String,
    mend: Option<String>,
    /// The place in another file that it fails at, instead of the reference itself.
    elsewhere: Option<Span>,
}

/// Follows references, each text once.
#[derive(Debug, Default)]
pub(super) struct Resolver<'a> {
    known: HashMap<(usize, &'a str), Result<Target<'a>, Rc<Unresolved>>>,
    /// The entries of large objects by name, so that many references into one do not take a search each.
    large: HashMap<*const SpannedEntry<'a>, HashMap<&'a str, &'a Spanned<'a>>>,
    /// How often it was guessed what is meant.
    guesses: usize,
}

impl<'a> Resolver<'a> {
    /// What a reference leads to, or what is wrong with it.
    pub(super) fn resolve(
        &mut self,
        files: &mut Files<'_, 'a>,
        file: usize,
        reference: &'a Spanned<'a>,
        path: &Path<'_>,
    ) -> Result<Target<'a>, Box<Problem>> {
        let text = reference.as_str().unwrap_or_default();
        let found = match self.known.get(&(file, text)) {
            Some(found) => found.clone(),
            None => {
                let found = self.look_up(files, file, text).map_err(Rc::new);
                self.known.insert((file, text), found.clone());
                found
            }
        };
        found.map_err(|unresolved| {
            let Unresolved { rule, message, mend, elsewhere } = &*unresolved;
            let mut problem = Problem::ours(rule, path, elsewhere.unwrap_or(reference.span), message.clone());
            problem.mend = mend.clone();
            let problem =
                if elsewhere.is_some() { problem.related(reference.span, "referred to here") } else { problem };
            Box::new(problem)
        })
    }

    /// What is wrong with what a discriminator chooses: the name of a definition, or a reference.
    pub(super) fn check_choice(
        &mut self,
        files: &mut Files<'_, 'a>,
        file: usize,
        choice: &'a Spanned<'a>,
        path: &Path<'_>,
    ) -> Result<(), Box<Problem>> {
        let text = choice.as_str().unwrap_or_default();
        let (document, dialect) = (files.get(file).document, files.get(file).dialect);
        let below = |steps: &&[&str]| steps.iter().try_fold(document, |node, step| node.get(step));
        let containers: Vec<_> = dialect.definitions().iter().filter_map(below).collect();
        if containers.iter().any(|container| self.step(container, text).is_some()) {
            return Ok(());
        }
        if text.contains(['#', '/', '.']) {
            return self.resolve(files, file, choice, path).map(drop);
        }
        let message = format!("{text:?} leads nowhere: {} has no such definition", files.get(file).name);
        let mut problem = Problem::ours(&rules::REFERENCE_NOT_FOUND, path, choice.span, message);
        problem.mend = containers.iter().find_map(|container| self.guess(container, text));
        Err(Box::new(problem))
    }

    fn look_up(&mut self, files: &mut Files<'_, 'a>, from: usize, text: &str) -> Result<Target<'a>, Unresolved> {
        let (file_part, fragment) = text.split_once('#').unwrap_or((text, ""));
        let file = if file_part.is_empty() { from } else { open(files, from, text, file_part)? };
        let fragment = percent_decoded(fragment);
        let name = &files.get(file).name;
        let Some(tokens) = tokens(&fragment) else {
            let message = format!("{text:?} leads to an anchor, and only JSON pointers are followed");
            return Err(not_found(message, Some("write the way from the root: #/definitions/Name".to_owned())));
        };
        let mut source = files.get(file).document;
        for (position, token) in tokens.iter().enumerate() {
            let Some(below) = self.step(source, token) else {
                let mut message = format!("{text:?} leads nowhere: {name} has no {}", shown(&tokens[..=position]));
                if position == 0 && fragment.is_empty() {
                    message = format!("{text:?} leads nowhere");
                }
                return Err(not_found(message, self.guess(source, token)));
            };
            source = below;
        }
        let file_of = files.get(file);
        let is_boolean =
            file_of.dialect.is_json_schema() && source.as_scalar().is_some_and(|value| value.as_bool().is_some());
        let stands_right = !file_of.is_declared || !file_of.dialect.describes_api() || is_schema_position(&tokens);
        if (source.as_object().is_none() && !is_boolean) || !stands_right {
            return Err(Unresolved {
                rule: &rules::REFERENCE_NOT_A_SCHEMA,
                message: format!("{text:?} leads to {}, which is no schema", what_is(source, &tokens)),
                mend: None,
                elsewhere: None,
            });
        }
        Ok(Target { file, source, path: shown(&tokens).into() })
    }

    /// What to write instead of a name that an object does not have. So many typos are none, and guessing is slow.
    fn guess(&mut self, source: &Spanned<'_>, wanted: &str) -> Option<String> {
        self.guesses += 1;
        let names = source.as_object().filter(|_| self.guesses <= 100)?.iter().take(1000).map(|entry| entry.key);
        closest_of(names, wanted).map(|name| format!("write {name}, if that is what is meant"))
    }

    fn step(&mut self, source: &'a Spanned<'a>, token: &str) -> Option<&'a Spanned<'a>> {
        const LARGE: usize = 32;
        match source.node {
            SpannedNode::Scalar(_) => None,
            SpannedNode::Array(items) => items.get(token.parse::<usize>().ok()?),
            SpannedNode::Object(entries) if entries.len() < LARGE => source.get(token),
            SpannedNode::Object(entries) => {
                let by_name = self.large.entry(entries.as_ptr());
                let by_name =
                    by_name.or_insert_with(|| entries.iter().map(|entry| (entry.key, &entry.value)).collect());
                by_name.get(token).copied()
            }
        }
    }
}

fn open(files: &mut Files<'_, '_>, from: usize, text: &str, file_part: &str) -> Result<usize, Unresolved> {
    let name = files.locate(from, &percent_decoded(file_part)).map_err(|refused| Unresolved {
        rule: &rules::REFERENCE_OUTSIDE_TREE,
        message: format!("{text:?} is not followed: {}", refused.message),
        mend: Some(refused.mend),
        elsewhere: None,
    })?;
    let dialect = files.get(from).dialect;
    match files.open(&name, dialect) {
        Ok(Some(file)) => Ok(file),
        Ok(None) => Err(not_found(format!("{text:?} leads to {name}, which cannot be read"), None)),
        Err(Unusable { message, span: None }) => Err(not_found(format!("{text:?} leads to {name}: {message}"), None)),
        Err(Unusable { message, span: elsewhere }) => {
            Err(Unresolved { rule: &rules::UNREADABLE, message, mend: None, elsewhere })
        }
    }
}

fn not_found(message: String, mend: Option<String>) -> Unresolved {
    Unresolved { rule: &rules::REFERENCE_NOT_FOUND, message, mend, elsewhere: None }
}

/// Whether schemas stand at a place of a document that describes an API.
fn is_schema_position(tokens: &[Cow<'_, str>]) -> bool {
    let step = |position: usize| tokens.get(position).map(Cow::as_ref);
    match step(0) {
        Some("definitions") => tokens.len() >= 2,
        Some("components") if step(1) == Some("schemas") => tokens.len() >= 3,
        _ => tokens.iter().any(|token| token == "schema"),
    }
}

fn what_is(source: &Spanned<'_>, tokens: &[Cow<'_, str>]) -> String {
    match source.as_object() {
        Some(_) if tokens.is_empty() => "a whole document".to_owned(),
        Some(_) => format!("the object {}", shown(tokens)),
        None => format!("the {} {}", source.kind_name(), shown(tokens)),
    }
}

fn shown(tokens: &[Cow<'_, str>]) -> String {
    tokens.join(".")
}

/// The steps of a JSON pointer (RFC 6901); none if it is no pointer.
fn tokens(pointer: &str) -> Option<Vec<Cow<'_, str>>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let steps = pointer.strip_prefix('/')?.split('/');
    Some(
        steps
            .map(
                |step| if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() },
            )
            .collect(),
    )
}

/// The text with `%41` read as `A`; what is no valid escape, or no UTF-8 afterwards, stays as it is.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return text.into();
    }
    let digit = |byte: Option<&u8>| byte.and_then(|byte| (*byte as char).to_digit(16));
    let (bytes, mut decoded, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).map_or(text.into(), Cow::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_read_as_rfc_6901_says() {
        assert_eq!(tokens(""), Some(vec![]));
        assert_eq!(tokens("/a~1b/m~0n/~01"), Some(vec!["a/b".into(), "m~n".into(), "~1".into()]));
        assert_eq!(tokens("/"), Some(vec!["".into()]));
        assert_eq!(tokens("anchor"), None);
    }

    #[test]
    fn escapes_of_bytes_are_read_and_others_stay() {
        assert_eq!(percent_decoded("a%20b%7Bc%7d"), "a b{c}");
        assert_eq!(percent_decoded("100%"), "100%");
        assert_eq!(percent_decoded("%zz%c3%bc"), "%zzü");
        assert_eq!(percent_decoded("%ff"), "%ff");
    }
}
