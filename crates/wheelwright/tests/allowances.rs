//! The pages about allowances: what is shown as bad breaks its rule, and what is shown as good breaks none.

use wheelwright::{
    Console, Exit, Format, Input,
    command::{CheckOptions, Versions, check},
    findings::{Date, rules},
};

#[test]
fn bad_examples_break_their_rule_and_good_ones_none() {
    for id in ["WW060", "WW061", "WW062"] {
        let page = rules::find(id).unwrap().page;
        let (bad, exit) = checked(example(page, "## Bad"));
        assert!(bad.lines().any(|line| line.contains(&format!("\"rule\":\"{id}\""))), "{id}: {bad}");
        assert_eq!(exit, if id == "WW061" { Exit::Findings } else { Exit::Clean }, "{id}: {bad}");
        let (good, exit) = checked(example(page, "## Good"));
        assert!(good.lines().all(|line| !line.contains("\"suppressed\":null")), "{id}: {good}");
        assert_eq!(exit, Exit::Clean);
    }
}

#[test]
fn fingerprints_stay_when_lines_and_versions_move() {
    let version = |name: &str| {
        format!(
            "    - name: {name}\n      served: true\n      storage: {}\n      schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{}}}}}}}}\n",
            name == "v1"
        )
    };
    let definition = |versions: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: shops.apps.example.com}}\nspec:\n  group: apps.example.com\n  scope: Namespaced\n  names: {{plural: shops, singular: shop, kind: Shop, listKind: ShopList}}\n  versions:\n{versions}"
        )
    };
    let fingerprints = |text: &str| -> Vec<String> {
        let (found, _) = checked(text);
        let of = |line: &str| Some(line.split_once("\"fingerprint\":\"")?.1.split('"').next()?.to_owned());
        found.lines().filter_map(of).collect()
    };
    let one = fingerprints(&definition(&version("v1")));
    assert_eq!(one.len(), 1);
    let two = fingerprints(&definition(&format!("    # a comment\n{}{}", version("v2"), version("v1"))));
    assert_eq!(two.len(), 2);
    assert_eq!(two[1], one[0]);
    assert_ne!(two[0], one[0]);
}

fn checked(text: &str) -> (String, Exit) {
    let (mut data, mut conversation) = (Vec::new(), Vec::new());
    let mut console = Console::plain(&mut data, &mut conversation);
    console.today = Date::parse("2026-12-31");
    let options = CheckOptions { format: Format::Json, ..CheckOptions::default() };
    let exit = check([Ok(Input::named("a.yaml", text))], [], Versions::default(), &options, &mut console)
        .expect("memory can be written to");
    (String::from_utf8(data).expect("JSON is UTF-8"), exit)
}

/// The YAML below a heading.
fn example<'p>(page: &'p str, heading: &str) -> &'p str {
    let section = page.split_once(heading).expect("a page has both examples").1;
    section.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example is YAML")
}
