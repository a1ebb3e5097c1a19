//! What a change does to documents, decided by documents alone: no rule of `check` is asked.

use std::fmt;

use serde_json::Value as Json;
use wheelwright_document::{Arena, Value, decode, encode};
use wheelwright_evolve::{Selector, laws::Random};

use super::schemas::{self, Version};

/// A document that a change harms, and how.
#[derive(Clone, Debug)]
pub(crate) enum Harm {
    /// It was valid, and is refused now; as an update, if there is one.
    Refused { document: String, update: Option<String>, because: String },
    /// A value that it had is gone or is another one.
    Lost { document: String, field: String },
    /// No document is needed: what Kubernetes or the store does not allow or cannot find any more.
    Fact(&'static str),
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { document, because, .. } => write!(f, "refused, {because}: {document}"),
            Self::Lost { document, field } => write!(f, "lost, {field}: {document}"),
            Self::Fact(fact) => f.write_str(fact),
        }
    }
}

/// Whether the documents of one version of a definition stay what they were.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Between {
    /// The same version, before and after it was edited: defaults have to stay, too.
    Edits,
    /// A version and the next: what documents say has to be there, under the same name.
    Versions,
}

/// Values to try where the change is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Witnesses {
    /// Values that may be valid before and refused after.
    pub(crate) values: Vec<Json>,
    /// Paths below the place, to be left out.
    pub(crate) without: Vec<Selector>,
}

/// Looks for a document that a change harms, with documents that reach the place of the change.
pub(crate) fn between(
    (old, new): (&Version, &Version),
    between: Between,
    (place, witnesses): (&Selector, &Witnesses),
    random: &mut Random,
    documents: usize,
) -> Option<Harm> {
    let at = old.generator.nodes().position(|node| node == place);
    for round in 0..documents {
        let arena = Arena::new();
        let document = match at {
            Some(at) if round % 4 != 3 => old.generator.generate_reaching(&[at], random, &arena),
            _ => old.generator.generate(random, &arena),
        };
        let document = encode(document);
        if let Some(harm) = of_document((old, new), between, &document, random) {
            return Some(harm);
        }
        let Ok(parsed) = serde_json::from_slice::<Json>(&document) else { continue };
        for value in &witnesses.values {
            let mut document = parsed.clone();
            // Every document has a type.
            let value = &schemas::typed(value, &parsed, place.steps());
            if schemas::place(&mut document, place.steps(), value)
                && let Some(harm) = of_document((old, new), between, document.to_string().as_bytes(), random)
            {
                return Some(harm);
            }
        }
        for field in &witnesses.without {
            let mut document = parsed.clone();
            if schemas::remove(&mut document, field.steps())
                && let Some(harm) = of_document((old, new), between, document.to_string().as_bytes(), random)
            {
                return Some(harm);
            }
        }
    }
    None
}

/// What becomes of a document that is valid before the change.
fn of_document(
    (old, new): (&Version, &Version),
    between: Between,
    document: &[u8],
    random: &mut Random,
) -> Option<Harm> {
    let arena = Arena::new();
    let written = decode(document, &arena).ok()?;
    let before = old.program.admit(written, &arena).ok().filter(|admitted| admitted.errors.is_empty())?;
    let text = || String::from_utf8_lossy(document).into_owned();
    let refused = |because: String| Some(Harm::Refused { document: text(), update: None, because });
    let after = match new.program.admit(written, &arena) {
        Ok(after) => after,
        Err(error) => return refused(error.to_string()),
    };
    if let Some(error) = after.errors.first() {
        return refused(error.to_string());
    }
    let lost = match between {
        Between::Edits => missing(before.value, after.value),
        Between::Versions => missing_of(written, before.value, after.value),
    };
    if let Some(field) = lost {
        return Some(Harm::Lost { document: text(), field });
    }
    // An update that was allowed: transition rules are about these.
    let edited = old.generator.mutate(written, random, &arena);
    let was_allowed = |admitted: wheelwright_schema::Admitted<'_>| admitted.errors.is_empty();
    if old.program.admit_update(edited, written, &arena).is_ok_and(was_allowed)
        && let Ok(after) = new.program.admit_update(edited, written, &arena)
        && let Some(error) = after.errors.first()
    {
        let update = Some(String::from_utf8_lossy(&encode(edited)).into_owned());
        return Some(Harm::Refused { document: text(), update, because: format!("as an update: {error}") });
    }
    None
}

/// Whether the document of a harm is harmed between two other versions, too.
pub(crate) fn repeats((old, new): (&Version, &Version), between: Between, harm: &Harm, random: &mut Random) -> bool {
    match harm {
        Harm::Refused { document, update: Some(update), .. } => {
            let arena = Arena::new();
            let (Ok(document), Ok(update)) = (decode(document.as_bytes(), &arena), decode(update.as_bytes(), &arena))
            else {
                return false;
            };
            new.program.admit_update(update, document, &arena).is_ok_and(|after| !after.errors.is_empty())
                && old.program.admit(document, &arena).is_ok_and(|before| before.errors.is_empty())
        }
        Harm::Refused { document, .. } | Harm::Lost { document, .. } => {
            of_document((old, new), between, document.as_bytes(), random).is_some()
        }
        Harm::Fact(_) => true,
    }
}

/// The first value that `new` lacks or has another value for.
pub(crate) fn missing(old: Value<'_>, new: Value<'_>) -> Option<String> {
    match (old, new) {
        (Value::Object(entries), Value::Object(_)) => entries.iter().find_map(|entry| match new.get(entry.key) {
            Some(value) => missing(entry.value, value).map(|below| format!("{}.{below}", entry.key)),
            None => Some(entry.key.to_owned()),
        }),
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            items.iter().zip(others).find_map(|(item, other)| missing(*item, *other).map(|below| format!("[].{below}")))
        }
        _ => (!old.equivalent(new)).then(String::new),
    }
}

/// The same, of values that were written: what defaults filled in may differ.
fn missing_of(written: Value<'_>, old: Value<'_>, new: Value<'_>) -> Option<String> {
    match (written, old, new) {
        (Value::Null, ..) => None,
        (Value::Object(written), Value::Object(_), Value::Object(_)) => written.iter().find_map(|entry| {
            let value = old.get(entry.key)?;
            match new.get(entry.key) {
                _ if entry.value.is_null() => None,
                Some(new) => missing_of(entry.value, value, new).map(|below| format!("{}.{below}", entry.key)),
                None => Some(entry.key.to_owned()),
            }
        }),
        (Value::Array(written), Value::Array(old), Value::Array(new))
            if written.len() == old.len() && old.len() == new.len() =>
        {
            let items = written.iter().zip(old).zip(new);
            let mut missing = items.filter_map(|((written, old), new)| missing_of(*written, *old, *new));
            missing.next().map(|below| format!("[].{below}"))
        }
        _ => (!old.equivalent(new)).then(String::new),
    }
}
