//! Hooks, as someone writes them who uses the library.

mod support;

use wheelwright_document::{Arena, Value};
use wheelwright_evolve::{Hook, HookCall, HookError, Hooks, Kind, Part};

use crate::support::{declaration, document, told};

const OLD: &str = "address: {type: string}";
const NEW: &str = "location: {type: string}, country: {type: string}";
const CHANGES: &str = "hook:\n    - {name: postal, from: spec.address, to: [spec.location, spec.country]}";

/// Addresses with the country at the end. How it was spelled is kept beside the document, since country codes do not tell.
struct Postal;

impl Hook for Postal {
    fn up(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let Some(address) = call.get("spec.address").and_then(Value::as_str) else { return Ok(()) };
        let (location, country) = address.rsplit_once(", ").ok_or("an address ends with a comma and its country")?;
        let code = match country {
            "Germany" | "Deutschland" | "DE" => "DE",
            "Latvia" | "LV" => "LV",
            other => return Err(format!("no country is called {other}").into()),
        };
        call.set("spec.location", Value::string(location))?;
        call.set("spec.country", Value::string(code))?;
        call.set_entry((country != code).then_some(Value::string(country)));
        Ok(())
    }

    fn down(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let arena = call.arena();
        let [location, code] = ["spec.location", "spec.country"].map(|path| call.get(path).and_then(Value::as_str));
        let code = code.ok_or("an address has a country")?;
        let country = match (call.entry().and_then(Value::as_str), code) {
            (Some("Germany" | "Deutschland"), "DE") | (Some("Latvia"), "LV") => call.entry().and_then(Value::as_str),
            _ => None,
        };
        let address = format!("{}, {}", location.unwrap_or_default(), country.unwrap_or(code));
        call.set("spec.address", Value::string(arena.text(&address)))
    }
}

fn kind(hooks: &Hooks) -> Kind {
    let (kind, problems) = Kind::compile_with(&declaration(OLD, NEW, CHANGES), None, hooks);
    assert!(problems.is_empty(), "{problems:?}");
    kind.expect("there are versions")
}

#[test]
fn a_hook_goes_both_ways_at_every_hub_and_nothing_is_lost() {
    let kind = kind(&Hooks::new().register("postal", Postal));
    let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).expect("declared"));
    for hub in [v1, v2] {
        let (lenses, arena) = (kind.lenses_for(hub), &Arena::new());
        let document = |version, spec| document(&kind, version, "{name: x}", spec, arena);
        let put = |version, spec, old| lenses.put(version, document(version, spec), old, Part::Whole, arena).unwrap();
        let reads = |version, stored, spec| {
            assert_eq!(told(lenses.get(version, stored, arena)), told(document(version, spec)));
        };

        let stored = put(v1, "{address: \"1 Way, Ulm, Deutschland\"}", None);
        reads(v2, stored, "{location: \"1 Way, Ulm\", country: DE}");
        reads(v1, stored, "{address: \"1 Way, Ulm, Deutschland\"}");

        // A client of the new version moves to another street: what the hook kept tells how the country is spelled.
        let moved = put(v2, "{location: \"2 Way, Ulm\", country: DE}", Some(stored));
        reads(v1, moved, "{address: \"2 Way, Ulm, Deutschland\"}");
        let emigrated = put(v2, "{location: Riga, country: LV}", Some(moved));
        reads(v1, emigrated, "{address: \"Riga, LV\"}");

        // What has no counterpart is not shown, and not lost.
        let lost = put(v1, "{address: somewhere}", Some(emigrated));
        reads(v2, lost, "{}");
        reads(v1, lost, "{address: somewhere}");
        let noted = put(v2, "{note: x}", Some(lost));
        reads(v1, noted, "{note: x, address: somewhere}");
        let (_, troubles) =
            lenses.put_telling(v1, document(v1, "{address: x}"), Some(noted), Part::Whole, arena).unwrap();
        assert!(troubles.iter().any(|trouble| trouble.message == "an address ends with a comma and its country"));
    }
}

#[test]
fn what_a_hook_keeps_is_stored_in_the_bag_and_moves_with_the_hub() {
    let kind = kind(&Hooks::new().register("postal", Postal));
    let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).expect("declared"));
    let (arena, [old, new]) = (&Arena::new(), [v1, v2].map(|hub| kind.lenses_for(hub)));
    let written = document(&kind, v1, "{name: x}", "{address: \"Ulm, Germany\"}", arena);
    let stored = old.put(v1, written, None, Part::Whole, arena).unwrap();
    assert!(told(stored).contains("\"$hook\":{"), "{}", told(stored));
    let moved = old.rehub(stored, &new, arena);
    assert!(told(moved).contains("Germany"), "{}", told(moved));
    assert_eq!(told(new.rehub(moved, &old, arena)), told(stored));
    let edit = document(&kind, v2, "{name: x}", "{location: Bonn, country: DE}", arena);
    let edited = new.put(v2, edit, Some(moved), Part::Whole, arena).unwrap();
    assert!(told(new.get(v1, edited, arena)).contains("Bonn, Germany"));
}

#[test]
fn a_hook_that_is_not_registered_is_an_error_with_a_place_and_its_fields_are_kept_as_they_are() {
    let declaration = declaration(OLD, NEW, CHANGES);
    for hooks in [Hooks::new(), Hooks::new().register("Postal", Postal)] {
        let (kind, problems) = Kind::compile_with(&declaration, None, &hooks);
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        assert_eq!((problem.rule.id, &*problem.message), ("WW193", "no hook is registered as postal"));
        assert_eq!((problem.span.line, problem.span.column), (3, 14));

        let (kind, arena) = (kind.expect("there are versions"), &Arena::new());
        let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).expect("declared"));
        let written = document(&kind, v1, "{name: x}", "{address: \"Ulm, DE\"}", arena);
        let stored = kind.put(v1, written, None, Part::Whole, arena).unwrap();
        let edit = document(&kind, v2, "{name: x}", "{note: x}", arena);
        let stored = kind.put(v2, edit, Some(stored), Part::Whole, arena).unwrap();
        assert!(told(kind.get(v1, stored, arena)).contains("Ulm, DE"));
    }
}

#[cfg(feature = "serde")]
#[test]
fn a_hook_over_types_of_one_s_own() {
    use std::collections::BTreeMap;

    type Fields = BTreeMap<String, String>;
    let hooks = Hooks::new().register_typed(
        "postal",
        |old: Fields| {
            let (location, country) = old["address"].rsplit_once(", ").ok_or("no country")?;
            Ok(Fields::from([("location".into(), location.into()), ("country".into(), country.into())]))
        },
        |new: Fields| {
            let country = new.get("country").ok_or("no country")?;
            Ok(Fields::from([("address".into(), format!("{}, {country}", new["location"]))]))
        },
    );
    let (kind, arena) = (kind(&hooks), &Arena::new());
    let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).expect("declared"));
    for (old, new) in
        [("{address: \"Ulm, DE\"}", "{location: Ulm, country: DE}"), ("{address: Ulm}", "{}"), ("{}", "{}")]
    {
        let [old, new] =
            [(v1, old), (v2, new)].map(|(version, spec)| document(&kind, version, "{name: x}", spec, arena));
        let stored = kind.put(v1, old, None, Part::Whole, arena).unwrap();
        assert_eq!(told(kind.get(v2, stored, arena)), told(new));
        assert_eq!(told(kind.get(v1, stored, arena)), told(old));
    }
}
