//! Rust of the user's, called for documents.

use super::*;

struct Address;

impl Hook for Address {
    fn up(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let address = call.get("spec.address").and_then(Value::as_str).ok_or("an address is a text")?;
        let (location, country) = address.split_once(", ").ok_or("an address has a country")?;
        call.set("spec.location", Value::string(location))?;
        call.set("spec.country", Value::string(country))?;
        call.set_entry(Some(Value::Bool(true)));
        Ok(())
    }

    fn down(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        match (call.get("spec.location"), call.entry()) {
            (Some(Value::Number(number)), _) => call.set("spec.address", Value::Number(number)),
            (Some(Value::Bool(_)), _) => call.set("nowhere", Value::Null),
            (location, entry) => {
                let parts = [location, call.get("spec.country"), entry].map(|part| text(&[part]));
                let joined = call.arena().text(&parts.join("+"));
                call.set("spec.address", Value::string(joined))
            }
        }
    }
}

fn converter(hooks: &Hooks) -> Result<Converter, Vec<Problem>> {
    let old = "spec: {type: object, properties: {address: {type: string}}}";
    let any = "{x-kubernetes-preserve-unknown-fields: true}";
    let new = format!("spec: {{type: object, properties: {{location: {any}, country: {{type: string}}}}}}");
    let to = ["spec.location", "spec.country"];
    compiled(old, &new, &["spec.address"], &to, Conversion::Hook("address".into()), hooks)
}

#[test]
fn a_hook_reads_and_writes_fields_and_its_entry() {
    let converter = converter(&Hooks::new().register("address", Address)).unwrap();
    let trial = Trial { converter, fits: Default::default() };
    trial.is_up(&[
        ("\"1 Way, NZ\"", "\"1 Way\" | \"NZ\""),
        ("\"1 Way\"", "failed: an address has a country"),
        ("-", "- | -"),
    ]);
    trial.is_down(&[
        ("\"a\" | \"b\"", r#""\"a\"+\"b\"+-""#),
        ("1 | -", "failed: spec.address: wrong type: it must be of type string, not a number"),
        ("true | -", "failed: nowhere is no field that this hook writes; there is spec.address"),
    ]);

    let arena = Arena::new();
    let sources = values("\"1 Way, NZ\"", &arena);
    let mut exchange = Exchange { sources: &sources, old: None, metadata: None, entry: None, arena: &arena };
    trial.converter.convert(Direction::Up, &mut exchange, &mut Vec::new()).unwrap();
    assert_eq!(exchange.entry, Some(Value::Bool(true)));
}

#[test]
fn a_hook_that_is_not_registered_is_a_problem() {
    let problems = converter(&Hooks::new().register("addresses", Address)).unwrap_err();
    assert_eq!((problems[0].rule.id, &*problems[0].message), ("WW193", "no hook is registered as address"));
}

#[cfg(feature = "serde")]
#[test]
fn a_typed_hook_has_the_fields_by_their_last_names() {
    type Fields = std::collections::BTreeMap<String, String>;
    let one = |name: &str, value: String| Fields::from([(name.to_owned(), value)]);
    let hooks = Hooks::new().register_typed::<Fields, Fields>(
        "address",
        move |old| Ok(one("country", old.get("address").ok_or("no address")?.to_uppercase())),
        move |new| Ok(one("street", new.len().to_string())),
    );
    let trial = Trial { converter: converter(&hooks).unwrap(), fits: Default::default() };
    trial.is_up(&[("\"nz\"", "- | \"NZ\"")]);
    trial.is_down(&[("\"a\" | \"b\"", "failed: street is no field that this hook writes")]);
    assert!(trial.down("1 | -").starts_with("failed: invalid type: integer `1`, expected a string"));
}
