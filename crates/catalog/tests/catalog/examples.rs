//! The examples on the pages about rules of catalogs: what is shown as bad breaks that rule and no other, and what is
//! shown as good breaks none.

use wheelwright_findings::rules;

use crate::support::{Memory, broken};

#[test]
fn bad_examples_break_their_rule_and_good_ones_none() {
    // For others from WW122 on it takes the history of a kind, which `wheelwright-evolve` has, to tell.
    let about_catalogs = |id: &str| ("WW110".."WW122").contains(&id) || ["WW148", "WW149", "WW194"].contains(&id);
    let mut pages = 0;
    for rule in rules::all().iter().filter(|rule| about_catalogs(rule.id)) {
        assert_eq!(broken_by(example(rule.page, "## Bad")), [rule.id], "the bad example of {}", rule.id);
        assert!(broken_by(example(rule.page, "## Good")).is_empty(), "the good example of {}", rule.id);
        pages += 1;
    }
    assert!(pages >= 12, "only {pages} pages");
}

/// Examples are a catalog, a definition, or changes of the cart.
fn broken_by(example: &str) -> Vec<&'static str> {
    let catalog = "kinds: [{crd: crds/carts.yaml, changes: changes/carts.yaml}]";
    if example.contains("kinds:") {
        broken(&Memory::shop([("wheelwright.yaml", example)]).load("wheelwright.yaml"))
    } else if example.contains("CustomResourceDefinition") {
        broken(&Memory::new([("carts.yaml", example)]).load("carts.yaml"))
    } else {
        let files = [("wheelwright.yaml", catalog), ("changes/carts.yaml", example)];
        broken(&Memory::shop(files).load("wheelwright.yaml"))
    }
}

fn example<'p>(page: &'p str, heading: &str) -> &'p str {
    let section = page.split_once(heading).unwrap().1;
    section.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap()
}
