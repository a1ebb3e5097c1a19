//! The examples on the pages about rules: what is shown as bad breaks that rule and no other, and what is shown as good
//! breaks none.

use std::collections::BTreeSet;

use wheelwright_document::{Arena, Decode, Spanned, decode_yaml};
use wheelwright_findings::rules;
use wheelwright_schema::{Refused, Root, Specification, Tree, check, is_definition, lower_definition, lower_schema};

#[test]
fn bad_examples_break_their_rule_and_good_ones_none() {
    let mut wrong = Vec::new();
    // The pages of rules about whole definitions and about documents show fragments that are no schemas.
    let about_schemas = |id: &str| ("WW002"..="WW020").contains(&id) || ("WW030"..="WW059").contains(&id);
    let mut pages = 0;
    for rule in rules::all().iter().filter(|rule| about_schemas(rule.id)) {
        let (bad, good) = (examples(rule.page, "## Bad"), examples(rule.page, "## Good"));
        assert!(!bad.is_empty() && !good.is_empty(), "{} shows no example", rule.id);
        for (example, expected) in
            bad.iter().map(|bad| (bad, vec![rule.id])).chain(good.iter().map(|good| (good, vec![])))
        {
            let found = broken_rules(example);
            if found != expected.into_iter().collect() {
                wrong.push(format!("{}: found {found:?} in\n{example}", rule.id));
            }
        }
        pages += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(pages >= 38, "only {pages} pages");
}

/// The blocks of YAML below a heading, up to the next one.
fn examples(page: &str, heading: &str) -> Vec<String> {
    let Some((_, section)) = page.split_once(&format!("{heading}\n")) else { return Vec::new() };
    let section = section.split("\n## ").next().unwrap_or_default();
    let blocks = section.split("```yaml\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned()).collect()
}

fn broken_rules(example: &str) -> BTreeSet<&'static str> {
    let arena = Arena::new();
    let documents = decode_yaml(example.as_bytes(), &arena, &Decode::default()).expect("an example is YAML");
    documents
        .iter()
        .flat_map(|document| match Specification::open("example.yaml", document, &Empty, &arena) {
            Some(mut specification) => specification.check().1.iter().map(|problem| problem.rule.id).collect(),
            None => rules_broken_by(document),
        })
        .collect()
}

/// A tree with no other file than the example.
struct Empty;

impl Tree for Empty {
    fn locate(&self, _from: &str, reference: &str) -> Result<String, Refused> {
        match reference.starts_with('/') {
            true => Err(Refused { message: "it is an absolute path".into(), mend: "copy it".into() }),
            false => Ok(reference.to_owned()),
        }
    }

    fn read(&self, _name: &str) -> Result<Vec<u8>, String> {
        Err("there is no such file".to_owned())
    }
}

fn rules_broken_by(document: &Spanned<'_>) -> Vec<&'static str> {
    let problems = if is_definition(document) {
        let lowered = lower_definition(document).expect("a definition");
        lowered.problems.into_iter().chain(check::check_definition(&lowered.item)).collect::<Vec<_>>()
    } else {
        let lowered = lower_schema(document.get("openAPIV3Schema").unwrap_or(document));
        lowered.problems.into_iter().chain(check::check_schema(&lowered.item, Root::Resource)).collect()
    };
    problems.iter().map(|problem| problem.rule.id).collect()
}
