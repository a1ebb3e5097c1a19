//! What is carried is what is stored, for random kinds: a client's edit does the same to both.

use proptest::{
    prelude::*,
    test_runner::{RngSeed, TestCaseError, TestCaseResult},
};
use serde_json::{Value as Json, json};
use wheelwright_document::{Arena, Value, decode, encode};
use wheelwright_evolve::{Carry, Kind, Lenses, Loaded, Part};
use wheelwright_schema::Root;

use crate::{
    as_json,
    documents::Writer,
    generate::{self, Focus, Generated, Numbers, Object, Tape, Type},
    hook,
};

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_carried_is_what_is_stored(numbers in generate::numbers(Focus::Anything)) {
        agree(&numbers)?;
    }

    #[test]
    fn what_is_carried_is_what_is_stored_in_lists(numbers in generate::numbers(Focus::Lists)) {
        agree(&numbers)?;
    }

    #[test]
    fn what_is_carried_is_what_is_stored_of_items_that_look_equal(numbers in generate::numbers(Focus::AlikeItems)) {
        agree(&numbers)?;
    }

    #[test]
    fn what_is_carried_is_what_is_stored_in_unions(numbers in generate::numbers(Focus::Unions)) {
        agree(&numbers)?;
    }

    #[test]
    fn what_is_carried_is_what_is_stored_of_computed_fields(numbers in generate::numbers(Focus::Computed)) {
        agree(&numbers)?;
    }

    #[test]
    fn what_is_carried_is_what_is_stored_of_computed_fields_in_lists(
        numbers in generate::numbers(Focus::ComputedInLists),
    ) {
        agree(&numbers)?;
    }
}

/// A quarter of the usual cases for each test: a case is a kind with all its hubs. What is rare is looked for by whoever
/// asks for many cases, as `cargo xtask test --full` does; a run that is to tell whether a change is good says the same
/// every time.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    let is_search = std::env::var_os("PROPTEST_CASES").is_some();
    let rng_seed = if is_search { usual.rng_seed } else { RngSeed::Fixed(7) };
    let cases = usual.cases / 4;
    // Of many kinds, many have changes that cannot be followed.
    let max_global_rejects = usual.max_global_rejects.max(cases);
    let max_shrink_iters = 4_000;
    ProptestConfig { cases, max_global_rejects, max_shrink_iters, failure_persistence: None, rng_seed, ..usual }
}

fn agree(numbers: &Numbers) -> TestCaseResult {
    let mut generated = Generated::of(numbers);
    // Defaults make a document that was read another than the one that was stored.
    generated.versions.iter_mut().for_each(without_defaults);
    let mut declaration = generated.declaration();
    declaration.versions.iter_mut().for_each(|version| version.root = Root::Resource);
    let (kind, problems) = Kind::compile_with(&declaration, None, &hook::hooks(&generated));
    if !problems.is_empty() || generated.contradicts() {
        return Err(TestCaseError::reject("changes that cannot be followed"));
    }
    let kind = kind.expect("there are versions");
    let lenses: Vec<Lenses> = kind.history().indexes().map(|hub| kind.lenses_for(hub)).collect();
    let carries: Vec<Carry<'_>> = lenses.iter().filter_map(Carry::new).collect();
    for hub in 0..lenses.len() {
        let mut story = generated.describe();
        let (computes, is_alike) = (numbers.focus.computes(), numbers.focus == Focus::AlikeItems);
        let case = Case { generated: &generated, lenses: &lenses, carries: &carries, hub, computes, is_alike };
        case.check(numbers, &mut story)
            .map_err(|difference| TestCaseError::fail(format!("\n{story}hub v{}: {difference}", hub + 1)))?;
    }
    Ok(())
}

struct Case<'c> {
    generated: &'c Generated,
    lenses: &'c [Lenses],
    carries: &'c [Carry<'c>],
    hub: usize,
    computes: bool,
    is_alike: bool,
}

impl Case<'_> {
    /// Writes one document after the other, and changes what is served after each; what is wrong.
    fn check(&self, numbers: &Numbers, story: &mut String) -> Result<(), String> {
        let mut stored: Option<Vec<u8>> = None;
        for (position, (version, _, tape)) in numbers.writes.iter().enumerate() {
            let arena = Arena::new();
            let version = usize::from(*version) % self.lenses.len();
            let old = stored.as_deref().map(|stored| decode(stored, &arena).expect("what is stored is JSON"));
            let document = self.edited(version, old, tape, &arena);
            story.push_str(&format!("write v{}: {document}\n", version + 1));
            let now = self.put(version, &document, old, &arena);
            self.unload_and_load(now, &arena)?;
            for (_, _, tape) in numbers.writes.iter().skip(position) {
                self.edit(now, tape, &arena)?;
            }
            stored = Some(encode(now));
        }
        Ok(())
    }

    fn unload_and_load<'a>(&'a self, stored: Value<'a>, arena: &'a Arena) -> Result<(), String> {
        let carry = &self.carries[self.hub];
        let served = carry.unload(stored, arena).map_err(|error| error.to_string())?;
        let Loaded { stored: back, notes, .. } = carry.load(served, arena);
        same("unload, load", as_json(stored), back, served)?;
        let mut shown = as_json(self.lenses[self.hub].get(self.lenses[self.hub].hub(), stored, arena));
        shown["metadata"] = as_json(served)["metadata"].clone();
        same("what is served is what is shown", shown, served, stored)?;
        if !notes.is_empty() {
            return Err(format!("unload, load: {notes:?}\n  served: {}", as_json(served)));
        }
        for other in self.carries {
            let (there, _) = carry.convert(served, other, arena).map_err(|error| error.to_string())?;
            let (back, notes) = other.convert(there, carry, arena).map_err(|error| error.to_string())?;
            same("there and back", as_json(served), back, there)?;
            if !notes.is_empty() {
                return Err(format!("there and back: {notes:?}\n  there: {}", as_json(there)));
            }
        }
        Ok(())
    }

    /// A client of the hub's version changes what is served.
    fn edit<'a>(&'a self, stored: Value<'a>, tape: &[u16], arena: &'a Arena) -> Result<(), String> {
        let carry = &self.carries[self.hub];
        let served = carry.unload(stored, arena).map_err(|error| error.to_string())?;
        let document = self.edited(self.hub, Some(stored), tape, arena);
        let expected = as_json(self.put(self.hub, &document, Some(stored), arena));
        let mut sent = document;
        sent["metadata"] = as_json(served)["metadata"].clone();
        same("edit", expected, carry.load(parse(&sent, arena), arena).stored, parse(&sent, arena))
    }

    /// What a version shows, as someone changed it.
    fn edited<'a>(&'a self, version: usize, stored: Option<Value<'a>>, tape: &[u16], arena: &'a Arena) -> Json {
        let shape = &self.generated.versions[version];
        let mut tape = Tape::new(tape);
        let (versions, computes) = (&self.generated.versions, self.computes);
        let writer = Writer { versions, is_undeclared: false, computes, is_alike: self.is_alike };
        let mut document = match stored {
            Some(stored) => {
                let mut shown = as_json(self.lenses[self.hub].get(self.lenses[version].hub(), stored, arena));
                let outside = |name: &str| ["apiVersion", "kind", "metadata"].contains(&name);
                shown.as_object_mut().expect("documents are objects").retain(|name, _| !outside(name));
                writer.edited(shape, &shown, &mut tape)
            }
            None => writer.document(shape, &mut tape),
        };
        document["apiVersion"] = json!(format!("v{}", version + 1));
        document["kind"] = json!("Test");
        document["metadata"] = json!({"name": "t"});
        document
    }

    fn put<'a>(&'a self, version: usize, document: &Json, old: Option<Value<'a>>, arena: &'a Arena) -> Value<'a> {
        let document = parse(document, arena);
        self.lenses[self.hub]
            .put(self.lenses[version].hub(), document, old, Part::Whole, arena)
            .expect("no policy refuses")
    }
}

fn same(law: &str, expected: Json, found: Value<'_>, from: Value<'_>) -> Result<(), String> {
    match as_json(found) {
        found if opened(found.clone()) == opened(expected.clone()) => Ok(()),
        found => Err(format!("{law}\n  expected: {expected}\n  found:    {found}\n  from:     {}", as_json(from))),
    }
}

/// A document with what annotations say instead of the texts that say it: in which order the fields of an object are written
/// there is of no meaning, as in documents.
fn opened(mut document: Json) -> Json {
    if let Some(annotations) = document.pointer_mut("/metadata/annotations").and_then(Json::as_object_mut) {
        for (_, text) in annotations {
            if let Some(said) = text.as_str().and_then(|text| serde_json::from_str(text).ok()) {
                *text = said;
            }
        }
    }
    document
}

fn without_defaults(object: &mut Object) {
    for field in &mut object.fields {
        field.default = None;
        let mut at = &mut field.shape;
        while let Type::List(element, _) | Type::Map(element) | Type::Nullable(element) = at {
            at = element;
        }
        if let Type::Object(object) = at {
            without_defaults(object);
        }
    }
}

fn parse<'a>(value: &Json, arena: &'a Arena) -> Value<'a> {
    decode(arena.text(&value.to_string()).as_bytes(), arena).expect("documents are JSON")
}
