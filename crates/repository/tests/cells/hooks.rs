//! The hook of `examples/hooks`, and what it must make of an address; by hand again, for what versions show is held against it.

use serde_json::Value as Json;
use wheelwright_document::Value;
use wheelwright_evolve::{Hook, HookCall, HookError, Hooks, VersionIndex};

use crate::{run::Counts, subject::Subject};

/// The hooks that catalogs name.
pub(crate) fn hooks() -> Hooks {
    Hooks::new().register("postal", Postal)
}

/// The last character of an address is its country: sample texts have one, and what is empty has none.
struct Postal;

impl Hook for Postal {
    fn up(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let Some(address) = call.get("spec.address").and_then(Value::as_str) else { return Ok(()) };
        let mut location = address.chars();
        let country = location.next_back().ok_or("an address ends with its country")?;
        let country = call.arena().text(&country.to_string());
        call.set("spec.location", Value::string(location.as_str()))?;
        call.set("spec.country", Value::string(country))
    }

    fn down(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let part = |path| call.get(path).and_then(Value::as_str);
        let (Some(location), Some(country)) = (part("spec.location"), part("spec.country")) else {
            return Err("an address is a location and a country".into());
        };
        let address = call.arena().text(&format!("{location}{country}"));
        call.set("spec.address", Value::string(address))
    }
}

/// The fields of both spellings.
const SPELLINGS: [&[&str]; 2] = [&["address"], &["location", "country"]];

impl Subject {
    /// Holds what the other version shows after a write against what the hook makes of it, where the write changed the fact,
    /// and counts what it made.
    pub(crate) fn count_hooked(
        &self,
        (before, after): (&[Json], &[Json]),
        through: VersionIndex,
        told: &str,
        counts: &mut Counts,
    ) {
        if self.kind().name() != "Person" {
            return;
        }
        let spelled = |documents: &[Json], position: usize| -> Vec<Option<String>> {
            let text = |name: &&str| documents[position]["spec"][*name].as_str().map(str::to_owned);
            SPELLINGS[position].iter().map(text).collect()
        };
        let written = spelled(after, through.position());
        if written == spelled(before, through.position()) {
            return;
        }
        let expected = match &written[..] {
            [Some(address)] if !address.is_empty() => {
                let (location, country) = address.split_at(address.len() - 1);
                vec![Some(location.to_owned()), Some(country.to_owned())]
            }
            [_] => vec![None, None],
            [Some(location), Some(country)] => vec![Some(format!("{location}{country}"))],
            _ => vec![None],
        };
        assert_eq!(spelled(after, 1 - through.position()), expected, "{told}");
        let sort = if expected[0].is_some() { "hook: both spellings" } else { "hook: no counterpart" };
        *counts.of.entry(sort.to_owned()).or_default() += 1;
    }
}
