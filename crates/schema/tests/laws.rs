//! Laws of pruning, defaulting and validation, over generated schemas and documents.
//!
//! `PROPTEST_CASES` sets the number of cases; 300 for each law unless set.
//!
//! **Defaulting twice.** Kubernetes does not remove nulls from default values and does not normalise the metadata of
//! embedded resources in them, but does both to documents. So a default such as `{"a": null}` goes in as it is written,
//! and loses its null when the document is defaulted again. Defaulting is idempotent for all schemas whose defaults
//! hold neither nulls nor metadata (nor an apiVersion or kind that is no string), and the two exceptions are examples
//! below. Everything else holds for all schemas.

mod generate;
mod support;

use generate::{Case, case, config, hold};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use support::lower;
use wheelwright_document::{Arena, Value, decode};
use wheelwright_schema::{Admitted, Program, Root, Stages, ValidationError};

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn pruning_is_idempotent(case in case()) {
        hold(case, |case| each_document(case, |program, document, arena| {
            let once = program.run(document, arena, Stages::PRUNE).expect("pruning refuses nothing");
            let twice = program.run(once.value, arena, Stages::PRUNE).expect("pruning refuses nothing");
            prop_assert_eq!(twice.value, once.value);
            prop_assert!(twice.unknown.is_empty(), "still unknown: {:?}", twice.unknown);
            Ok(())
        }))?;
    }

    #[test]
    fn defaulting_is_idempotent(case in case()) {
        prop_assume!(defaults_are_plain(&case.schema));
        hold(case, |case| each_document(case, |program, document, arena| {
            for stages in [Stages::DEFAULT, Stages::ADMIT] {
                let Ok(once) = program.run(document, arena, stages) else { return Ok(()) };
                let Ok(twice) = program.run(once.value, arena, stages) else {
                    return Err(TestCaseError::fail("what was accepted is refused"));
                };
                prop_assert_eq!(twice.value, once.value);
                prop_assert!(twice.unknown.is_empty(), "still unknown: {:?}", twice.unknown);
                prop_assert_eq!(errors(&twice), errors(&once));
            }
            Ok(())
        }))?;
    }

    #[test]
    fn defaulting_changes_no_value_that_is_there(case in case()) {
        hold(case, |case| each_document(case, |program, document, arena| {
            let pruned = program.run(document, arena, Stages::PRUNE).expect("pruning refuses nothing");
            if let Ok(defaulted) = program.run(document, arena, Stages::DEFAULT) {
                let found = lost(pruned.value, defaulted.value, "");
                prop_assert!(found.is_none(), "{found:?} of {:?} is not in {:?}", pruned.value, defaulted.value);
            }
            Ok(())
        }))?;
    }

    #[test]
    fn the_order_of_keys_does_not_matter(case in case(), seed in any::<u64>()) {
        hold(case, |case| {
            let mut seed = seed;
            let shuffled = compile(&shuffle(&case.schema, &mut seed), case.root);
            let straight = compile(&case.schema.to_string(), case.root);
            for document in &case.documents {
                let (first, second) = (document.to_string(), shuffle(document, &mut seed));
                let arena = Arena::new();
                let first = straight.admit(decode(first.as_bytes(), &arena).expect("a document"), &arena);
                let second = shuffled.admit(decode(second.as_bytes(), &arena).expect("a document"), &arena);
                let (Ok(first), Ok(second)) = (&first, &second) else {
                    // Which of several reasons is given may depend on the order.
                    prop_assert_eq!(first.is_err(), second.is_err());
                    continue;
                };
                prop_assert!(first.value.equivalent(second.value), "{:?} and {:?}", first.value, second.value);
                prop_assert_eq!(errors(first), errors(second));
                prop_assert_eq!(unknown(first), unknown(second));
            }
            Ok(())
        })?;
    }

    /// However a number is written, and whether or not a schema describes it.
    #[test]
    fn numbers_keep_their_text(number in number(), type_name in prop::sample::select(vec!["number", "integer", ""])) {
        let schema = match type_name {
            "" => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            name => json!({"type": "object", "properties": {"n": {"type": name, "minimum": -5, "enum": [1, 2.5]}}}),
        };
        let program = compile(&schema.to_string(), false);
        let (arena, text) = (Arena::new(), format!(r#"{{"n":{number},"l":[{number}]}}"#));
        let document = decode(text.as_bytes(), &arena).expect("a document");
        let admitted = program.admit(document, &arena).expect("there is no metadata").value;
        prop_assert_eq!(format!("{:?}", admitted.get("n").expect("it is known")), number);
    }

    #[test]
    fn an_update_has_no_errors_that_the_document_has_not(case in case()) {
        hold(case, |case| each_update(case, |program, new, old, arena| {
            let (update, alone) = (program.validate_update(new, old, arena).errors, validated(program, new, arena));
            for error in sorted(&update) {
                prop_assert!(alone.contains(&error), "{error} comes from replacing {old:?}");
            }
            Ok(())
        }))?;
    }

    #[test]
    fn an_update_of_something_unrelated_is_validated_like_a_new_document(case in case()) {
        hold(case, |case| each_update(case, |program, new, _, arena| {
            for old in [Value::Null, Value::Bool(true)].into_iter().filter(|old| *old != new) {
                prop_assert_eq!(sorted(&program.validate_update(new, old, arena).errors), validated(program, new, arena));
            }
            Ok(())
        }))?;
    }

    /// What Kubernetes cannot correlate counts as changed, and embedded metadata never ratchets.
    #[test]
    fn an_update_that_changes_nothing_has_no_errors(case in case()) {
        let case = Case { schema: describing_everything(&case.schema), root: false, ..case };
        hold(case, |case| each_update(case, |program, new, _, arena| {
            prop_assert_eq!(sorted(&program.validate_update(new, new, arena).errors), Vec::<String>::new());
            Ok(())
        }))?;
    }

    #[test]
    fn rules_that_always_hold_say_nothing(case in case()) {
        hold(case, |case| {
            let plain = compile(&case.schema.to_string(), case.root);
            let ruled = compile(&with_rule_everywhere(&case.schema, "true").to_string(), case.root);
            for document in &case.documents {
                let (arena, document) = (Arena::new(), document.to_string());
                let document = decode(document.as_bytes(), &arena).expect("a document");
                let (Ok(plain), Ok(ruled)) = (plain.admit(document, &arena), ruled.admit(document, &arena)) else {
                    continue;
                };
                let errors = sorted(&ruled.errors).into_iter().filter(|error| !error.contains("were not evaluated"));
                prop_assert_eq!(errors.collect::<Vec<_>>(), sorted(&plain.errors));
            }
            Ok(())
        })?;
    }

    /// Except where values have no counterpart, as with everything else, and in apiVersion and kind at the root, which do
    /// not show a change; and rules are evaluated again all the same.
    #[test]
    fn an_update_that_changes_nothing_breaks_no_rule_that_does_not_look_at_the_old_value(case in case()) {
        let schema = with_rule_everywhere(&describing_everything(&case.schema), "false");
        hold(Case { schema, root: false, ..case }, |case| each_update(case, |program, new, _, arena| {
            let mut errors = program.validate_update(new, new, arena).errors;
            errors.retain(|error| {
                let path = error.path().as_str().trim_start_matches('[');
                !path.starts_with("apiVersion") && !path.starts_with("kind")
            });
            prop_assert_eq!(sorted(&errors), Vec::<String>::new());
            Ok(())
        }))?;
    }

    #[test]
    fn rules_say_the_same_twice(case in case()) {
        let schema = with_rule_everywhere(&case.schema, "self != self || oldSelf == oldSelf && false");
        hold(Case { schema, ..case }, |case| each_update(case, |program, new, old, arena| {
            prop_assert_eq!(validated(program, new, arena), validated(program, new, arena));
            let [first, second] = [0, 1].map(|_| sorted(&program.validate_update(new, old, arena).errors));
            prop_assert_eq!(first, second);
            Ok(())
        }))?;
    }

    #[test]
    fn admitting_an_update_is_defaulting_and_validating_it(case in case()) {
        hold(case, |case| {
            let program = compile(&case.schema.to_string(), case.root);
            for (new, old) in case.updates() {
                let (arena, texts) = (Arena::new(), [new.to_string(), old.to_string()]);
                let [new, old] = [0, 1].map(|at| decode(texts[at].as_bytes(), &arena).expect("a document"));
                let (one, stored) = (program.admit(new, &arena), Stages::DEFAULT.dropping_invalid_metadata());
                let old_read = program.run(old, &arena, stored).expect("defaults are few").value;
                let update = program.admit_update(new, old, &arena);
                let (Ok(one), Ok(update)) = (&one, &update) else {
                    prop_assert_eq!(one.is_err(), update.is_err());
                    continue;
                };
                prop_assert_eq!(update.value, one.value);
                prop_assert_eq!(unknown(update), unknown(one));
                let errors = program.validate_update(one.value, old_read, &arena).errors;
                prop_assert_eq!(sorted(&update.errors), sorted(&errors));
            }
            Ok(())
        })?;
    }

    #[test]
    fn one_walk_does_what_three_do(case in case()) {
        hold(case, |case| each_document(case, |program, document, arena| {
            let pruned = program.run(document, arena, Stages::PRUNE).expect("pruning refuses nothing");
            let defaulted = program.run(pruned.value, arena, Stages::DEFAULT);
            let admitted = program.admit(document, arena);
            let (Ok(defaulted), Ok(admitted)) = (&defaulted, &admitted) else {
                prop_assert_eq!(defaulted.is_err(), admitted.is_err());
                return Ok(());
            };
            let validated = program.run(defaulted.value, arena, Stages::VALIDATE).expect("validation refuses nothing");
            prop_assert_eq!(admitted.value, defaulted.value);
            prop_assert_eq!(validated.value, defaulted.value);
            prop_assert_eq!(unknown(admitted), unknown(&pruned));
            prop_assert_eq!(errors(admitted), errors(&validated));
            Ok(())
        }))?;
    }
}

/// JSON's numbers in all their spellings: signs, zeros, fractions, exponents, and far more digits than a double has.
fn number() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,3}|[1-9][0-9]{17,40})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?"
}

#[test]
fn exception_nulls_in_a_default_go_when_it_is_defaulted_again() {
    let schema = json!({"type": "object", "properties": {"o": {
        "type": "object", "default": {"a": null}, "properties": {"a": {"x-kubernetes-preserve-unknown-fields": true}},
    }}});
    assert_twice(&schema, r#"{"o":{"a":null}}"#, r#"{"o":{}}"#);
}

#[test]
fn exception_metadata_in_a_default_is_normalised_when_it_is_defaulted_again() {
    let schema = json!({"type": "object", "properties": {"o": {
        "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
        "default": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {}}},
    }}});
    assert_twice(
        &schema,
        r#"{"o":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{}}}}"#,
        r#"{"o":{"apiVersion":"v1","kind":"Pod","metadata":{}}}"#,
    );
}

fn assert_twice(schema: &Json, first: &str, second: &str) {
    let program = compile(&schema.to_string(), false);
    let arena = Arena::new();
    let once = program.admit(Value::Object(&[]), &arena).expect("there is no metadata of its own").value;
    assert_eq!(format!("{once:?}"), first);
    assert_eq!(format!("{:?}", program.admit(once, &arena).expect("there is no metadata of its own").value), second);
}

fn compile(schema: &str, root: bool) -> Program {
    Program::compile(&lower(schema.as_bytes()), if root { Root::Resource } else { Root::Value })
}

type Law = for<'a> fn(&'a Program, Value<'a>, &'a Arena) -> Result<(), TestCaseError>;

fn each_document(case: &Case, law: Law) -> Result<(), TestCaseError> {
    let program = compile(&case.schema.to_string(), case.root);
    for document in &case.documents {
        let (arena, document) = (Arena::new(), document.to_string());
        law(&program, decode(document.as_bytes(), &arena).expect("a document"), &arena)?;
    }
    Ok(())
}

type UpdateLaw = for<'a> fn(&'a Program, Value<'a>, Value<'a>, &'a Arena) -> Result<(), TestCaseError>;

/// Tries a law on updates of documents that are pruned and defaulted.
fn each_update(case: &Case, law: UpdateLaw) -> Result<(), TestCaseError> {
    let program = compile(&case.schema.to_string(), case.root);
    for (new, old) in case.updates() {
        let (arena, texts) = (Arena::new(), [new.to_string(), old.to_string()]);
        let read = |text: &'_ str| {
            let document = decode(arena.text(text).as_bytes(), &arena).expect("a document");
            let stages = Stages::DEFAULT.dropping_invalid_metadata();
            program.run(document, &arena, stages).expect("defaults are few").value
        };
        law(&program, read(&texts[0]), read(&texts[1]), &arena)?;
    }
    Ok(())
}

fn validated<'a>(program: &'a Program, document: Value<'a>, arena: &'a Arena) -> Vec<String> {
    errors(&program.run(document, arena, Stages::VALIDATE).expect("validation refuses nothing"))
}

/// The schema without what keeps Kubernetes from finding a value again: fields that nothing describes, and map lists,
/// whose items may lack a key.
fn describing_everything(schema: &Json) -> Json {
    match schema {
        Json::Object(keywords) => {
            let kept = keywords.iter().filter(|(keyword, value)| match keyword.as_str() {
                "x-kubernetes-preserve-unknown-fields" | "x-kubernetes-embedded-resource" => false,
                "x-kubernetes-list-type" => *value != "map",
                "additionalProperties" => value.is_object(),
                _ => true,
            });
            kept.map(|(keyword, value)| (keyword.clone(), describing_everything(value))).collect()
        }
        Json::Array(items) => items.iter().map(describing_everything).collect(),
        scalar => scalar.clone(),
    }
}

/// The schema with a rule at every node that rules can see, except what an update never forgives.
fn with_rule_everywhere(schema: &Json, rule: &str) -> Json {
    let mut schema = schema.clone();
    let Some(keywords) = schema.as_object_mut() else { return schema };
    if keywords.contains_key("type") {
        keywords.insert("x-kubernetes-validations".to_owned(), json!([{"rule": rule}]));
    }
    if let Some(Json::Object(properties)) = keywords.get_mut("properties") {
        for (_, property) in properties.iter_mut().filter(|(name, _)| *name != "apiVersion" && *name != "kind") {
            *property = with_rule_everywhere(property, rule);
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(below) = keywords.get_mut(keyword) {
            *below = with_rule_everywhere(below, rule);
        }
    }
    schema
}

fn errors(admitted: &Admitted<'_>) -> Vec<String> {
    sorted(&admitted.errors)
}

fn sorted(errors: &[ValidationError]) -> Vec<String> {
    let errors = errors.iter();
    let mut errors: Vec<String> =
        errors.map(|error| format!("{} at {} and {}", error.kind(), error, error.kubernetes_path())).collect();
    errors.sort_unstable();
    errors
}

fn unknown(admitted: &Admitted<'_>) -> Vec<String> {
    let mut unknown: Vec<String> = admitted.unknown.iter().map(ToString::to_string).collect();
    unknown.sort_unstable();
    unknown
}

/// Whether no default of the schema holds a null, and none has to do with metadata.
fn defaults_are_plain(schema: &Json) -> bool {
    fn is_plain(default: &Json) -> bool {
        match default {
            Json::Null => false,
            Json::Array(items) => items.iter().all(is_plain),
            Json::Object(fields) => fields.iter().all(|(name, field)| match name.as_str() {
                "metadata" => false,
                // Of the wrong type, it is accepted in a default and refused in a document.
                "apiVersion" | "kind" => field.is_string(),
                _ => is_plain(field),
            }),
            _ => true,
        }
    }
    match schema {
        Json::Object(keywords) => keywords.iter().all(|(keyword, value)| match keyword.as_str() {
            "default" => is_plain(value),
            "metadata" => !value.to_string().contains("\"default\""),
            _ => defaults_are_plain(value),
        }),
        Json::Array(items) => items.iter().all(defaults_are_plain),
        _ => true,
    }
}

/// The path of a value of `before` that is not the same in `after`. Nulls and metadata are allowed to change.
fn lost(before: Value<'_>, after: Value<'_>, path: &str) -> Option<String> {
    match (before, after) {
        (Value::Null, _) => None,
        (Value::Object(before), Value::Object(_)) => {
            before.iter().filter(|entry| entry.key != "metadata" && !entry.value.is_null()).find_map(|entry| {
                let path = format!("{path}.{}", entry.key);
                match after.get(entry.key) {
                    Some(after) => lost(entry.value, after, &path),
                    None => Some(path),
                }
            })
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => before
            .iter()
            .zip(after)
            .enumerate()
            .find_map(|(index, (before, after))| lost(*before, *after, &format!("{path}[{index}]"))),
        _ => (before != after).then(|| path.to_owned()),
    }
}

/// The JSON of a value with the keys of its objects in some other order.
fn shuffle(value: &Json, seed: &mut u64) -> String {
    match value {
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| shuffle(item, seed)).collect();
            format!("[{}]", items.join(","))
        }
        Json::Object(fields) => {
            let mut written: Vec<String> = Vec::new();
            for (name, field) in fields {
                // A linear congruential generator is random enough for this.
                *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let place = (*seed >> 33) as usize % (written.len() + 1);
                let entry = format!("{}:{}", Json::from(name.as_str()), shuffle(field, seed));
                written.insert(place, entry);
            }
            format!("{{{}}}", written.join(","))
        }
        scalar => scalar.to_string(),
    }
}
