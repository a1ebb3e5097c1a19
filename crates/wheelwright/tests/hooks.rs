//! A program of a user's own, with a hook and the commands of the library; and the hooks of docs/hooks.md.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};
use wheelwright::{
    Console, Exit, Kinds,
    catalog::{Catalog, OnDisk, files},
    command::{ConvertOptions, convert},
    document::{Arena, Value, decode},
    evolve::{Hook, HookCall, HookError, Hooks, Kind, Part},
};

struct Postal;

impl Hook for Postal {
    fn up(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let Some(address) = call.get("spec.address").and_then(Value::as_str) else { return Ok(()) };
        let (location, country) = address.rsplit_once(", ").ok_or("an address ends with its country")?;
        call.set("spec.location", Value::string(location))?;
        call.set("spec.country", Value::string(country))
    }

    fn down(&self, _: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        Err("nobody asks for it here".into())
    }
}

/// What a program with these hooks says of the example: data, conversation and how it ends.
fn run(hooks: &Hooks) -> (String, String, Exit) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hooks");
    let (mut data, mut conversation) = (Vec::new(), Vec::new());
    let mut console = Console::plain(&mut data, &mut conversation);
    let catalog = Catalog::load(&[folder.join("wheelwright.yaml")]).expect("the example can be read");
    let exit = match Kinds::compile_with(catalog, &OnDisk::default(), hooks, &mut console)
        .expect("memory can be written to")
    {
        Ok(kinds) => {
            let options = ConvertOptions { to: "v2".to_owned(), ..ConvertOptions::default() };
            convert(files::files(vec![folder.join("persons.yaml")], None), &kinds, &options, &mut console)
                .expect("memory can be written to")
        }
        Err(exit) => exit,
    };
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    (text(data), text(conversation), exit)
}

#[test]
fn a_program_converts_with_its_hook_and_tells_what_it_could_not() {
    let (data, conversation, exit) = run(&Hooks::new().register("postal", Postal));
    assert_eq!(exit, Exit::Clean);
    assert!(data.contains("  location: 1 Way, Ulm\n  country: DE\n"), "{data}");
    assert!(conversation.contains("changes.yaml:3:12"), "{conversation}");
    assert!(conversation.contains("an address ends with its country"), "{conversation}");
}

#[test]
fn a_program_without_the_hook_is_told_where_it_is_declared() {
    let (data, conversation, exit) = run(&Hooks::new());
    assert_eq!((&*data, exit), ("", Exit::Findings));
    assert!(conversation.contains("WW193") && conversation.contains("changes.yaml:3:12"), "{conversation}");
}

/// Countries are in capitals from v2 on; how an address spells its country is kept for the way back.
struct Spelled;

impl Hook for Spelled {
    fn up(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let Some(address) = call.get("spec.address").and_then(Value::as_str) else { return Ok(()) };
        let (location, country) = address.rsplit_once(", ").ok_or("an address ends with its country")?;
        call.set_entry(Some(Value::string(country)));
        let capitals = call.arena().text(&country.to_uppercase());
        call.set("spec.location", Value::string(location))?;
        call.set("spec.country", Value::string(capitals))
    }

    fn down(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let part = |path| call.get(path).and_then(Value::as_str).unwrap_or_default();
        let (location, country) = (part("spec.location"), part("spec.country"));
        let kept = call.entry().and_then(Value::as_str).filter(|kept| kept.to_uppercase() == country);
        let address = call.arena().text(&format!("{location}, {}", kept.unwrap_or(country)));
        call.set("spec.address", Value::string(address))
    }
}

#[derive(Serialize, Deserialize)]
struct Address {
    address: String,
}

#[derive(Serialize, Deserialize)]
struct Place {
    location: String,
    country: String,
}

fn typed() -> Hooks {
    Hooks::new().register_typed(
        "postal",
        |Address { address }| {
            let (location, country) = address.rsplit_once(", ").ok_or("an address ends with its country")?;
            Ok(Place { location: location.to_owned(), country: country.to_owned() })
        },
        |Place { location, country }| Ok(Address { address: format!("{location}, {country}") }),
    )
}

fn typed_with_call() -> Hooks {
    Hooks::new().register_typed_with_call(
        "postal",
        |Address { address }, call: &mut HookCall<'_, '_>| {
            let (location, country) = address.rsplit_once(", ").ok_or("an address ends with its country")?;
            call.set_typed_entry(Some(&country))?;
            Ok(Place { location: location.to_owned(), country: country.to_uppercase() })
        },
        |Place { location, country }, call: &mut HookCall<'_, '_>| {
            let kept: Option<String> = call.typed_entry()?;
            let country = kept.filter(|kept| kept.to_uppercase() == country).unwrap_or(country);
            Ok(Address { address: format!("{location}, {country}") })
        },
    )
}

/// What a client of v1 reads once it wrote an address and a client of v2 wrote another location.
fn moved(hooks: &Hooks, address: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hooks");
    let catalog = Catalog::load(&[folder.join("wheelwright.yaml")]).expect("the example can be read");
    let (kind, problems) = Kind::compile_with(&catalog.kinds()[0].declaration, None, hooks);
    assert!(problems.is_empty(), "{problems:?}");
    let (kind, arena) = (kind.expect("there are versions"), Arena::new());
    let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).expect("declared"));
    let document = |version: &str, spec: &str| {
        let text = format!(r#"{{"apiVersion":"people.example.com/{version}","kind":"Person","spec":{spec}}}"#);
        decode(arena.text(&text).as_bytes(), &arena).expect("it is JSON")
    };
    let written = document("v1", &format!(r#"{{"address":"{address}"}}"#));
    let stored = kind.put(v1, written, None, Part::Whole, &arena).expect("it can be written");
    let shown = kind.get(v2, stored, &arena).get("spec").expect("it has a spec");
    let country = shown.get("country").and_then(Value::as_str).expect("it has a country");
    let edited = document("v2", &format!(r#"{{"location":"2 Way, Ulm","country":"{country}"}}"#));
    let stored = kind.put(v2, edited, Some(stored), Part::Whole, &arena).expect("it can be written");
    let back = kind.get(v1, stored, &arena).get("spec").and_then(|spec| spec.get("address")?.as_str());
    back.expect("it has an address").to_owned()
}

#[test]
fn a_hook_finds_again_what_it_kept() {
    for hooks in [Hooks::new().register("postal", Spelled), typed_with_call()] {
        assert_eq!(moved(&hooks, "1 Way, Ulm, Germany"), "2 Way, Ulm, Germany");
    }
    assert_eq!(moved(&typed(), "1 Way, Ulm, DE"), "2 Way, Ulm, DE");
}

#[test]
fn the_hooks_of_the_page_are_those_of_this_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(folder.join("../../docs/hooks.md")).expect("the page is there");
    let own = include_str!("hooks.rs").replace(char::is_whitespace, "");
    let blocks: Vec<&str> =
        page.split("```rust,no_run\n").skip(2).filter_map(|block| block.split("```").next()).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let code: String = block.lines().filter(|line| !line.starts_with("use ")).collect();
        assert!(own.contains(&code.replace(char::is_whitespace, "")), "{block}");
    }
}
