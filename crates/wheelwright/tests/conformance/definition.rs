//! What Kubernetes says of a whole definition with a schema, and of one that replaces another.

use std::{collections::BTreeSet, fs, path::Path};

use wheelwright::{
    document::{Arena, Decode, Spanned, decode_json_spanned},
    schema::{
        Problem, Root,
        check::{check_schema, ratchet},
        lower_schema,
    },
};

/// Checks the records of a file that say something of definitions; answers how many did, and what is different.
pub(crate) fn check(file: &Path) -> (usize, Vec<String>) {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let lines = text.lines().filter(|line| line.contains("\"definition_errors\""));
    let mut count = 0;
    let mut different = Vec::new();
    for line in lines {
        let arena = Arena::new();
        let record = decode_json_spanned(line.as_bytes(), &arena, &Decode::default()).expect("a record");
        let problems = |key| record.get(key).map(problems_of).unwrap_or_default();
        let mut compare = |key, found: Vec<Problem>| {
            let Some(expected) = record.get(key) else { return };
            let (expected, found) = (pairs(expected), found.into_iter().filter_map(pair).collect());
            count += 1;
            if expected != found {
                let id = record.get("id").and_then(Spanned::as_str).unwrap_or_default();
                different.push(format!("{id}: {key}:\n    expected {expected:?}\n    found    {found:?}"));
            }
        };
        compare("definition_errors", problems("schema"));
        compare("definition_update_errors", ratchet(problems("schema"), &problems("oldSchema")).refused);
    }
    (count, different)
}

type Pair = (String, String);

fn problems_of(schema: &Spanned<'_>) -> Vec<Problem> {
    check_schema(&lower_schema(schema).item, Root::Resource)
}

fn pair(problem: Problem) -> Option<Pair> {
    Some((problem.kind?.to_string(), format!("spec.validation.openAPIV3Schema.{}", problem.path)))
}

fn pairs(list: &Spanned<'_>) -> BTreeSet<Pair> {
    let text = |item: &Spanned<'_>| item.as_str().expect("a text").to_owned();
    let items = list.as_array().expect("a list of pairs").iter();
    items.map(|item| item.as_array().expect("a pair")).map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
}
