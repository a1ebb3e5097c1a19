//! The lens agrees with a slow and obvious model of its rules, for random kinds, whatever the hub, and keeps its laws.

mod carry;
mod computed;
mod convert;
mod documents;
mod expression;
mod generate;
mod hook;
mod matching;
mod model;
mod patching;
mod seen;
mod tree;

use std::cell::{Cell, RefCell};

use proptest::{
    prelude::*,
    test_runner::{TestCaseError, TestRunner},
};
use serde_json::{Value as Json, json};
use wheelwright_document::{Arena, JsonPatch, Value, decode, encode};
use wheelwright_evolve::{Kind, Lenses, Part, VersionIndex};

use crate::{
    documents::Writer,
    generate::{Focus, Generated, Numbers, Tape},
    model::{Model, Scope},
    patching::patched,
    seen::Seen,
};

#[test]
fn the_lens_is_what_its_rules_say() {
    hold(Focus::Anything);
}

#[test]
fn the_lens_is_what_its_rules_say_about_lists() {
    hold(Focus::Lists);
}

#[test]
fn the_lens_is_what_its_rules_say_about_items_that_look_equal() {
    hold(Focus::AlikeItems);
}

#[test]
fn the_lens_is_what_its_rules_say_about_unions() {
    hold(Focus::Unions);
}

#[test]
fn the_lens_is_what_its_rules_say_about_undeclared_fields() {
    hold(Focus::Unknown);
}

#[test]
fn the_lens_is_what_its_rules_say_about_spec_and_status() {
    hold(Focus::Parts);
}

#[test]
fn the_lens_is_what_its_rules_say_about_computed_fields() {
    hold(Focus::Computed);
}

#[test]
fn the_lens_is_what_its_rules_say_about_computed_fields_in_lists() {
    hold(Focus::ComputedInLists);
}

#[test]
fn the_lens_is_what_its_rules_say_about_computed_fields_of_spec_and_status() {
    hold(Focus::ComputedInParts);
}

#[test]
fn the_lens_is_what_its_rules_say_about_computed_objects() {
    hold(Focus::ComputedObjects);
}

/// Holds random kinds against the model and the laws: a third of the usual cases, which are still seconds, since a case is
/// a kind with all its hubs and several writes.
#[expect(clippy::print_stdout, reason = "says how many cases there were")]
fn hold(focus: Focus) {
    let usual = ProptestConfig::default();
    let cases = usual.cases / 3;
    // Seeds would not outlive a change of the generator.
    let (max_shrink_iters, max_global_rejects) = (20_000, usual.max_global_rejects.max(cases));
    let config = ProptestConfig { cases, max_shrink_iters, max_global_rejects, failure_persistence: None, ..usual };
    let (writes, seen) = (Cell::new(0), RefCell::new(Seen::default()));
    let held = TestRunner::new(config).run(&generate::numbers(focus), |numbers| {
        writes.set(writes.get() + agree(&numbers, &mut seen.borrow_mut())?);
        Ok(())
    });
    if let Err(error) = held {
        panic!("{error}");
    }
    println!("{focus:?}: {cases} kinds, and {} writes with some hub, of them {}", writes.get(), seen.borrow());
}

/// One write, in the words of a version, and the model after it.
struct Write {
    version: VersionIndex,
    part: Part,
    document: Json,
    /// The JSON patch that the document was made by.
    patch: Option<Json>,
    /// What the version shows then.
    shown: Json,
    after: Scope,
    seen: Seen,
}

/// How many writes to a document in the shape of some hub were held against the model and the laws.
fn agree(numbers: &Numbers, seen: &mut Seen) -> Result<usize, TestCaseError> {
    let generated = Generated::of(numbers);
    let (kind, problems) = Kind::compile_with(&generated.declaration(), None, &hook::hooks(&generated));
    if !problems.is_empty() || generated.contradicts() {
        return Err(TestCaseError::reject("changes that cannot be followed"));
    }
    let kind = kind.expect("there are versions");
    let model = Model::new(kind.history(), &generated);
    let lenses: Vec<Lenses> = kind.history().indexes().map(|hub| kind.lenses_for(hub)).collect();
    let writes = writes(numbers, &generated, &kind, &model);
    if numbers.focus == Focus::AlikeItems && !writes.iter().any(|write| write.seen.is_any()) {
        return Err(TestCaseError::reject("no items that look equal hide anything"));
    }
    writes.iter().for_each(|write| seen.add(&write.seen, lenses.len()));
    let mut stored: Vec<Option<String>> = vec![None; lenses.len()];
    for (position, write) in writes.iter().enumerate() {
        let mut differences = Vec::new();
        for (hub, stored) in lenses.iter().zip(&mut stored) {
            let case = Case { model: &model, lenses: &lenses, hub, write };
            match case.check(stored.as_deref()) {
                Ok(now) => *stored = Some(now),
                Err(difference) => differences.push(format!("hub v{}: {difference}\n", hub.hub().position() + 1)),
            }
        }
        if !differences.is_empty() {
            return Err(TestCaseError::fail(describe(&generated, &writes[..=position], &differences.concat())));
        }
    }
    Ok(writes.len() * lenses.len())
}

/// How often a write is made anew that is not to items that look equal, where the focus is on them.
const ATTEMPTS: usize = 5;

/// The writes of a case: what someone made of what their version showed.
fn writes(numbers: &Numbers, generated: &Generated, kind: &Kind, model: &Model<'_>) -> Vec<Write> {
    let indexes: Vec<VersionIndex> = kind.history().indexes().collect();
    let looks_equal = |after: &Scope| indexes.iter().any(|index| has_equal_items(&model.get(*index, after)));
    let mut writes: Vec<Write> = Vec::new();
    for (version, part, tape) in &numbers.writes {
        let mut tape = Tape::new(tape);
        let old = writes.last().map(|write| &write.after);
        let parts = if numbers.focus.has_parts() { 3 } else { 1 };
        let part = [Part::Whole, Part::Spec, Part::Status][usize::from(*part) % parts];
        let position = usize::from(*version) % indexes.len();
        let turns = (position..indexes.len()).chain(0..position);
        if numbers.focus != Focus::AlikeItems {
            writes.push(write(numbers, generated, model, old, (indexes[position], part), &mut tape));
            continue;
        }
        // Mostly, what is stored first says much, and later writes are of versions that show items that look equal.
        let best = match old {
            None => turns.max_by_key(|at| generated.versions[*at].size()),
            Some(old) => turns.into_iter().find(|at| has_equal_items(&model.get(indexes[*at], old))),
        };
        let could = old.is_some_and(looks_equal);
        for attempt in 1..=ATTEMPTS {
            let position = best.filter(|_| tape.chance(90)).unwrap_or(position);
            let write = write(numbers, generated, model, old, (indexes[position], part), &mut tape);
            if write.seen.is_any() || !could && looks_equal(&write.after) || tape.has_ended() || attempt == ATTEMPTS {
                writes.push(write);
                break;
            }
        }
    }
    writes
}

/// A write of a version to what is stored.
fn write(
    numbers: &Numbers,
    generated: &Generated,
    model: &Model<'_>,
    old: Option<&Scope>,
    (version, part): (VersionIndex, Part),
    tape: &mut Tape<'_>,
) -> Write {
    let shape = &generated.versions[version.position()];
    let writer = Writer {
        versions: &generated.versions,
        is_undeclared: false,
        computes: numbers.focus.computes(),
        is_alike: numbers.focus == Focus::AlikeItems,
    };
    let before = old.map(|old| model.get(version, old));
    // Computed lists are matched by what they look like, whatever a patch named.
    let may_be_patched = part == Part::Whole && !numbers.focus.computes() && tape.chance(40);
    let patched = before.as_ref().filter(|_| may_be_patched).and_then(|before| patched(before, tape));
    let document = match (&before, &patched) {
        (_, Some(patched)) => patched.document.clone(),
        (Some(before), None) => writer.edited(shape, before, tape),
        (None, None) => writer.document(shape, tape),
    };
    let document = model.fill(version, &document);
    seen::begin();
    let after = match &patched {
        Some(patched) => model.put_patched(version, &document, old, part, Some(&patched.origins)),
        None => model.put(version, &document, old, part),
    };
    let seen = seen::end();
    let mut shown = before.unwrap_or_else(|| json!({}));
    overwrite(&mut shown, &document, part);
    let shown = model.fill(version, &model.without_nulls(version, &shown));
    let patch = patched.map(|patched| patched.patch);
    Write { version, part, document, patch, shown, after, seen }
}

/// Whether some list has items that look equal.
fn has_equal_items(value: &Json) -> bool {
    match value {
        Json::Array(items) => {
            let is_repeated = |at: usize| items[..at].contains(&items[at]);
            (0..items.len()).any(is_repeated) || items.iter().any(has_equal_items)
        }
        Json::Object(fields) => fields.values().any(has_equal_items),
        _ => false,
    }
}

/// Takes over a part of a document.
fn overwrite(shown: &mut Json, document: &Json, part: Part) {
    let (Json::Object(shown), Json::Object(document)) = (shown, document) else { return };
    shown.retain(|name, _| !part.includes(name));
    shown.extend(
        document.iter().filter(|(name, _)| part.includes(name)).map(|(name, value)| (name.clone(), value.clone())),
    );
}

/// A write to a document that is stored in the shape of a hub.
struct Case<'c> {
    model: &'c Model<'c>,
    lenses: &'c [Lenses],
    hub: &'c Lenses,
    write: &'c Write,
}

impl Case<'_> {
    /// Writes, compares and checks the laws. What is stored then, or what is wrong.
    fn check(&self, old: Option<&str>) -> Result<String, String> {
        let arena = Arena::new();
        let Write { version, part, document, patch, shown, after, .. } = self.write;
        let document_text = document.to_string();
        let document = parse(&document_text, &arena);
        let old = old.map(|old| parse(old, &arena));
        let origins = match (patch, old) {
            (Some(patch), Some(old)) => {
                let patch = JsonPatch::parse(parse(&patch.to_string(), &arena)).map_err(|error| error.to_string())?;
                let patched = patch.apply_tracked(self.hub.get(*version, old, &arena), &arena);
                let (patched, origins) = patched.map_err(|error| error.to_string())?;
                if self.model.fill(*version, &as_json(patched)) != as_json(document) {
                    return Err(format!("the patch makes another document: {}", as_json(patched)));
                }
                origins
            }
            _ => None,
        };
        let put = self.hub.put_patched(*version, document, old, *part, origins.as_ref(), &arena);
        let stored = put.map_err(|error| error.to_string())?.0;
        let law = |name: &str, expected: Json, found: Value<'_>| match as_json(found) {
            found if found == expected => Ok(()),
            found => {
                Err(format!("{name}\n  expected: {expected}\n  found:    {found}\n  stored:   {}", as_json(stored)))
            }
        };
        let of = |version: VersionIndex| format!("v{}", version.position() + 1);
        law("put-get of the model", shown.clone(), parse(&self.model.get(*version, after).to_string(), &arena))?;
        law("put-get", shown.clone(), self.hub.get(*version, stored, &arena))?;
        for index in self.model.history.indexes() {
            let shown = self.hub.get(index, stored, &arena);
            law(&format!("get {} is not the model's", of(index)), self.model.get(index, after), shown)?;
            // Whoever asks where everything comes from is passed on nothing, and sees the same to the letter.
            let explained = self.hub.explain(index, stored, &arena).0;
            if encode(explained) != encode(shown) {
                return Err(format!("get {}: {}\n  explained: {}", of(index), as_json(shown), as_json(explained)));
            }
            let again =
                self.hub.put(index, shown, Some(stored), Part::Whole, &arena).map_err(|error| error.to_string())?;
            law(&format!("get-put {}", of(index)), as_json(stored), again)?;
        }
        if old.is_none() && *part == Part::Whole {
            for index in self.model.history.indexes() {
                let converted =
                    self.hub.convert(*version, index, document, &arena).map_err(|error| error.to_string())?;
                law(&format!("convert to {}", of(index)), self.model.get(index, after), converted)?;
            }
        }
        for other in self.lenses {
            let moved = self.hub.rehub(stored, other, &arena);
            for index in self.model.history.indexes() {
                let name = format!("re-hub to {}, get {}", of(other.hub()), of(index));
                law(&name, as_json(self.hub.get(index, stored, &arena)), other.get(index, moved, &arena))?;
            }
            let back = other.rehub(moved, self.hub, &arena);
            law(&format!("re-hub to {} and back", of(other.hub())), as_json(stored), back)?;
        }
        let (mut at, mut chained) = (self.hub, stored);
        for next in self.lenses {
            chained = at.rehub(chained, next, &arena);
            at = next;
            let own = at.get(at.hub(), chained, &arena);
            law(&format!("chain, get {}", of(at.hub())), as_json(self.hub.get(at.hub(), stored, &arena)), own)?;
        }
        Ok(as_json(stored).to_string())
    }
}

fn parse<'a>(text: &str, arena: &'a Arena) -> Value<'a> {
    decode(arena.text(text).as_bytes(), arena).expect("documents are JSON")
}

fn as_json(value: Value<'_>) -> Json {
    serde_json::from_slice(&encode(value)).expect("what is encoded is JSON")
}

fn describe(generated: &Generated, writes: &[Write], difference: &str) -> String {
    let mut text = format!("\n{}", generated.describe());
    for write in writes {
        text += &format!("write v{} ({:?}): {}\n", write.version.position() + 1, write.part, write.document);
        if let Some(patch) = &write.patch {
            text += &format!("  by {patch}\n");
        }
    }
    text + difference
}
