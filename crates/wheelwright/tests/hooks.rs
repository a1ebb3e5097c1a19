//! A program of a user's own, with a hook and the commands of the library.

use std::path::Path;

use wheelwright::{
    Console, Exit, Kinds,
    catalog::{Catalog, OnDisk, files},
    command::{ConvertOptions, convert},
    document::Value,
    evolve::{Hook, HookCall, HookError, Hooks},
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
