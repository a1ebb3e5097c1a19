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

#[cfg(feature = "serde")]
#[test]
fn a_typed_hook_may_keep_something_beside_the_document() {
    type Fields = std::collections::BTreeMap<String, String>;
    let hooks = Hooks::new().register_typed_with_call::<Fields, Fields>(
        "address",
        |old, call| {
            let kept: Option<Vec<String>> = call.typed_entry()?;
            let address = old.get("address").ok_or("no address")?;
            call.set_typed_entry(Some(&vec![address]))?;
            Ok(Fields::from([("country".to_owned(), format!("{address}{kept:?}"))]))
        },
        |_, call| call.set_typed_entry::<()>(None).map(|()| Fields::new()),
    );
    let converter = converter(&hooks).unwrap();
    let arena = Arena::new();
    let convert = |direction, sources: &str, entry: &str| {
        let (sources, entry) = (values(sources, &arena), values(entry, &arena)[0]);
        let mut exchange = Exchange { sources: &sources, old: None, metadata: None, entry, arena: &arena };
        let mut results = Vec::new();
        let done = converter.convert(direction, &mut exchange, &mut results).map_err(|Failed(message)| message);
        done.map(|()| (text(&results), text(&[exchange.entry])))
    };
    let both = |fields: &str, entry: &str| Ok((fields.to_owned(), entry.to_owned()));
    assert_eq!(convert(Direction::Up, "\"a\"", "-"), both("- | \"aNone\"", r#"["a"]"#));
    assert_eq!(convert(Direction::Up, "\"b\"", r#"["a"]"#), both(r#"- | "bSome([\"a\"])""#, r#"["b"]"#));
    assert_eq!(convert(Direction::Down, "\"a\" | -", r#"["a"]"#), both("-", "-"));
    assert!(convert(Direction::Up, "\"a\"", "true").unwrap_err().starts_with("invalid type: boolean"));
}

#[cfg(feature = "serde")]
#[test]
fn a_typed_hook_is_refused_for_two_fields_of_one_name() {
    let object = |fields: &str| format!("{{type: object, properties: {{{fields}}}}}");
    let name = object("name: {type: string}");
    let two = format!("first: {name}, last: {name}");
    let hooks = Hooks::new().register_typed::<(), ()>("names", Ok, Ok);
    let with = || Conversion::Hook("names".into());
    let from = ["first.name", "last.name"];
    let problems = compiled(&two, "full: {type: string}", &from, &["full"], with(), &hooks).unwrap_err();
    assert_eq!(
        (problems[0].rule.id, &*problems[0].message),
        (
            "WW190",
            "first.name, last.name cannot become full this way: a typed hook has fields by their last names, and \
             first.name and last.name are both name; implement `Hook`, which has them by their paths"
        )
    );
    assert!(compiled("full: {type: string}", &two, &["full"], &from, with(), &hooks).is_err());
    assert!(compiled("name: {type: string}", &two, &["name"], &from[..1], with(), &hooks).is_ok());
}
