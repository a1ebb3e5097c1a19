//! Kinds that had other names: where their versions come from, and what cannot be.

use wheelwright_evolve::Declaration;

use crate::support::{Memory, broken, definition, shown};

fn published(declaration: &Declaration) -> Vec<String> {
    let name = |name| (declaration.api_version(name), declaration.name_in(name).kind);
    declaration.versions.iter().map(|version| name(&version.name)).map(|(at, kind)| format!("{at} {kind}")).collect()
}

#[test]
fn versions_are_published_under_the_names_of_their_definitions() {
    let entry = "{crd: [crds/parties.yaml, crds/persons.yaml], was: [Person], hub: v1}";
    let catalog = Memory::shop([("wheelwright.yaml", &*format!("kinds: [{entry}]"))]).load("");
    assert_eq!(shown(&catalog), "");
    let [party] = catalog.kinds() else { panic!("one kind") };
    assert_eq!(party.declaration.name().to_string(), "Party.crm.example.com");
    assert_eq!(published(&party.declaration), ["crm.example.com/v1 Person", "crm.example.com/v2 Party"]);
    assert!(["Person", "Party", "Person.crm.example.com"].iter().all(|name| party.declaration.is_meant_by(name)));
}

#[test]
fn a_former_name_may_be_of_another_group() {
    let old = definition("Party", "v1").replace("crm.example.com", "old.example.com");
    let entry = "{crd: [crds/parties.yaml, crds/old.yaml], was: [{group: old.example.com, kind: Party}]}";
    let files = [("wheelwright.yaml", &*format!("kinds: [{entry}]")), ("crds/old.yaml", &*old)];
    let catalog = Memory::shop(files).load("");
    assert_eq!(shown(&catalog), "");
    let [party] = catalog.kinds() else { panic!("one kind") };
    assert_eq!(published(&party.declaration), ["old.example.com/v1 Party", "crm.example.com/v2 Party"]);
}

#[test]
fn a_version_of_a_document_may_have_a_definition_of_its_own() {
    let files = "{a: {file: specs/2024-06-10.json, definition: Cart}, b: specs/2025-01-01.json}";
    let specs = |was: &str| format!("kinds: [{{openapi: {files}, definition: Cart, kind: Basket{was}}}]");
    let catalog = Memory::shop([("wheelwright.yaml", &*specs(", was: [Cart]"))]).load("");
    assert_eq!(shown(&catalog), "");
    assert_eq!(published(&catalog.kinds()[0].declaration), ["a Cart", "b Basket"]);
    let catalog = Memory::shop([("wheelwright.yaml", &*specs(""))]).load("");
    assert_eq!(shown(&catalog), "");
    assert_eq!(published(&catalog.kinds()[0].declaration), ["a Basket", "b Basket"]);
}

#[test]
fn several_files_are_several_kinds_unless_one_was_the_other() {
    let load = |entries: &str| Memory::shop([("wheelwright.yaml", &*format!("kinds: [{entries}]"))]).load("");
    let catalog = load("{crd: [crds/parties.yaml, crds/persons.yaml]}");
    assert_eq!((catalog.kinds().len(), shown(&catalog)), (2, String::new()));
    for (entries, rules) in [
        ("{crd: [crds/parties.yaml, crds/persons.yaml], hub: v1}", &["WW121"][..]),
        ("{crd: crds/parties.yaml, was: Person}", &["WW110"]),
        ("{crd: crds/parties.yaml, was: [3]}", &["WW110"]),
        ("{crd: crds/parties.yaml, was: [{group: g}]}", &["WW110"]),
        ("{crd: crds/parties.yaml, was: [{kind: Person, version: v1}]}", &["WW111", "WW149"]),
        ("{crd: []}", &["WW110"]),
        ("{openapi: {v1: {definition: Cart}}, kind: Cart}", &["WW110"]),
        ("{crd: crds/persons.yaml, was: [Person]}", &["WW121"]),
        ("{crd: [crds/parties.yaml, crds/persons.yaml], kind: Partie, was: [Person]}", &["WW121"]),
        ("{crd: [crds/parties.yaml, crds/nothing.yaml], was: [Person]}", &["WW116"]),
        ("{crd: crds/parties.yaml, was: [Person]}, {crd: crds/persons.yaml}", &["WW148"]),
        ("{crd: crds/parties.yaml, was: [Nobody]}, {crd: crds/persons.yaml, was: [Nobody]}", &["WW148", "WW149"]),
        ("{crd: [crds/parties.yaml, crds/persons.yaml], was: [Person, {group: g, kind: Person}]}", &["WW149"]),
        ("{crd: [crds/parties.yaml, crds/persons.yaml], kind: Party, was: [Person, Person]}", &["WW148"]),
    ] {
        let catalog = load(entries);
        assert_eq!(broken(&catalog), rules, "{entries}: {}", shown(&catalog));
    }
}

#[test]
fn versions_of_both_names_cannot_be_called_the_same() {
    let persons = definition("Person", "v2");
    let catalog = "kinds: [{crd: [crds/parties.yaml, crds/persons.yaml], was: [Person]}]";
    let files = [("wheelwright.yaml", catalog), ("crds/persons.yaml", &*persons)];
    assert_eq!(broken(&Memory::shop(files).load("")), ["WW118"]);
}
