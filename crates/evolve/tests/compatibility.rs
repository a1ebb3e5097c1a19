//! Compatibility rules over the real kinds with several versions, where the folder with them is there, and over schemas
//! that are as deep or as wide as they get.

#![expect(clippy::print_stdout, reason = "what was not compared is said")]

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use wheelwright_document::{Arena, Decode, Owned, Span, decode_json_spanned};
use wheelwright_evolve::{
    Declaration, DeclaredVersion, History, Kind, Located, Renamed, VersionIndex, VersionName, VersionStep,
    check::{
        Addition, Incompatibility, check, describe_differences, describe_lacking, describe_loss, diff,
        every_id_has_one_slot, lacking_in_old_records, lost_under_none,
    },
};
use wheelwright_schema::{Program, Refused, Root, Specification, Stages, Tree, lower_definition, lower_schema};

#[test]
fn real_kinds_are_told_what_their_versions_do_to_each_other() {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let declarations = declarations();
    for declaration in &declarations {
        let history = derive(declaration);
        for hub in history.indexes() {
            assert_eq!(every_id_has_one_slot(&history, hub), [], "{}", declaration.kind);
        }
        let findings = check(declaration, &history, None);
        for finding in &findings {
            *counts.entry((finding.rule().id, finding.level.as_str())).or_default() += 1;
            assert!(!finding.message().is_empty() && !finding.mend().is_empty());
            assert!(finding.span != Span::default(), "{} {}", declaration.kind, finding.message());
            if finding.rule().id != "WW161" {
                finding
                    .example
                    .iter()
                    .for_each(|example| assert_accepted(declaration, &example.version, &example.document));
            }
        }
        for pair in history.indexes().collect::<Vec<VersionIndex>>().windows(2) {
            let loss = lost_under_none(declaration, &history, pair[0], pair[1]);
            for lost in [&loss.there, &loss.back] {
                assert_eq!(lost.fields.is_empty(), lost.shown.is_none(), "{} {}", declaration.kind, lost.version);
                if let Some(shown) = &lost.shown {
                    assert_accepted(declaration, &lost.version, &shown.before);
                    assert_ne!(shown.before, shown.after);
                }
            }
            describe_loss(&loss);
            describe_differences(&diff(declaration, &history, pair[0], pair[1]));
        }
    }
    match declarations.len() {
        0 => println!("compatibility: SKIPPED the real kinds"),
        kinds => println!("compatibility: {kinds} kinds, {counts:?}"),
    }
}

#[test]
fn adding_the_lines_that_are_offered_accounts_for_every_field() {
    for mut declaration in declarations() {
        let unassessed = |declaration: &Declaration| -> Vec<Incompatibility> {
            let findings = check(declaration, &derive(declaration), None);
            findings.into_iter().filter(|finding| ("WW150"..="WW152").contains(&finding.rule().id)).collect()
        };
        // What is in a renamed object is compared only once the rename is declared.
        for _ in 0..4 {
            for finding in unassessed(&declaration) {
                add(&mut declaration, &finding);
            }
        }
        assert_eq!(unassessed(&declaration), [], "{}", declaration.kind);
        let (kind, problems) = Kind::compile(&declaration, None);
        assert!(problems.is_empty(), "{}: {problems:?}", declaration.kind);
        let consistency = kind.unwrap().consistency().unwrap();
        assert!(consistency.broken.is_empty(), "{}: {:?}", declaration.kind, consistency.broken);
    }
}

#[test]
fn old_records_of_a_real_service_read_as_they_were_meant() {
    let Some(declaration) = node_pools() else { return };
    let history = derive(&declaration);
    let indexes: Vec<VersionIndex> = history.indexes().collect();
    let [old, new] = [indexes[0], indexes[3]].map(|index| &history.version(index).name);
    let lacking = lacking_in_old_records(&declaration, &history, indexes[0], indexes[3]);
    assert_eq!(
        describe_lacking(old, new, &lacking),
        "2024-06-10-preview → 2026-09-01-preview: records of 2024-06-10-preview lack 2 fields of 2026-09-01-preview\n\n    \
         properties.platform.osDisk.diskType (string) reads as \"Managed\" where properties.platform.osDisk is there\n    \
         properties.status (object) is absent\n"
    );
    let findings = check(&declaration, &history, None);
    let fields: Vec<String> =
        findings.iter().map(|finding| format!("{} {}", finding.rule().id, finding.field)).collect();
    let expected = ["WW154 properties.version.id", "WW156 properties.platform.osDisk.sizeGiB"];
    assert_eq!(fields[..2], expected);
    assert_eq!(fields[2..], ["WW231 properties.platform.osDisk"]);
}

#[test]
fn deep_and_wide_schemas_are_compared_without_trouble() {
    let deep = |leaf: &str| {
        let (open, close) = (r#"{"type":"object","required":["a"],"properties":{"a":"#, "}}");
        format!("{}{leaf}{}", open.repeat(200), close.repeat(200))
    };
    let wide = |prefix: &str| {
        let fields: Vec<String> = (0..3000).map(|at| format!(r#""{prefix}{at}":{{"type":"string"}}"#)).collect();
        format!(r#"{{"type":"object","properties":{{{}}}}}"#, fields.join(","))
    };
    for [before, after] in
        [[deep(r#"{"type":"string"}"#), deep(r#"{"type":"integer"}"#)], [wide("x"), wide("y")], [wide("x"), deep("{}")]]
    {
        let mut declaration = Declaration::new("example.com", "Example");
        for (name, text) in [("v1", before), ("v2", after)] {
            let arena = Arena::new();
            let schema = lower_schema(&decode_json_spanned(text.as_bytes(), &arena, &Decode::default()).unwrap()).item;
            declaration.versions.push(DeclaredVersion::new(
                VersionName::new(name),
                schema,
                Root::Resource,
                Span::default(),
            ));
        }
        let history = derive(&declaration);
        let indexes: Vec<VersionIndex> = history.indexes().collect();
        assert!(!check(&declaration, &history, None).is_empty());
        lost_under_none(&declaration, &history, indexes[0], indexes[1]);
    }
}

fn derive(declaration: &Declaration) -> History {
    let (history, problems) = History::derive(declaration, None);
    assert!(problems.is_empty(), "{}: {problems:?}", declaration.kind);
    history
}

fn assert_accepted(declaration: &Declaration, version: &VersionName, document: &Owned) {
    let declared = declaration.version(version.as_str()).expect("a declared version");
    let program = Program::compile(&declared.schema, declared.root);
    let arena = Arena::new();
    let admitted = program.run(document.share(&arena), &arena, Stages::ADMIT).expect("a document that can be walked");
    assert!(admitted.errors.is_empty(), "{} {version}: {:?}", declaration.kind, admitted.errors);
    assert!(admitted.unknown.is_empty(), "{} {version}: {:?}", declaration.kind, admitted.unknown);
}

/// Adds to the changes what a finding offers.
fn add(declaration: &mut Declaration, finding: &Incompatibility) {
    let step = match declaration.steps.iter().position(|step| step.version.item == finding.version) {
        Some(position) => &mut declaration.steps[position],
        None => {
            declaration.steps.push(VersionStep::new(located(finding.version.clone())));
            declaration.steps.last_mut().expect("the step just added")
        }
    };
    for addition in finding.additions.clone() {
        match addition {
            Addition::Renamed { from, to } => step.renamed.push(Renamed { from: located(from), to: located(to) }),
            Addition::Removed(field) => step.removed.push(located(field)),
            other => panic!("{other:?}"),
        }
    }
}

fn located<T>(item: T) -> Located<T> {
    Located { item, span: Span::default() }
}

/// NodePool of the real service, from its four documents.
fn node_pools() -> Option<Declaration> {
    let api = shared().join("real-apis/aro-hcp/api");
    let folder = "redhatopenshift/resource-manager/Microsoft.RedHatOpenShift/hcpopenshiftclusters/preview";
    let mut versions: Vec<_> =
        fs::read_dir(api.join(folder)).ok()?.map(|entry| entry.expect("a readable folder").file_name()).collect();
    versions.sort();
    let mut declaration = Declaration::new("", "NodePool");
    for version in versions {
        let version = version.to_string_lossy();
        let name = format!("{folder}/{version}/openapi.json");
        let tree = Folder(api.clone());
        let bytes = tree.read(&name).expect("a readable file");
        let arena = Arena::new();
        let document = decode_json_spanned(&bytes, &arena, &Decode::default()).expect("JSON");
        let schema = Specification::open(&name, &document, &tree, &arena)?.lower("NodePool")?.item;
        let name = VersionName::new(&*version);
        declaration.versions.push(DeclaredVersion::new(name, schema, Root::Definition, Span::default()));
    }
    Some(declaration)
}

/// The files of a folder.
struct Folder(PathBuf);

impl Tree for Folder {
    fn locate(&self, from: &str, reference: &str) -> Result<String, Refused> {
        let mut parts: Vec<&str> = from.split('/').collect();
        parts.pop();
        for part in reference.split('/') {
            match part {
                "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        Ok(parts.join("/"))
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        fs::read(self.0.join(name)).map_err(|error| error.to_string())
    }
}

fn shared() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    env::var_os("WHEELWRIGHT_SHARED").map_or_else(beside, Into::into)
}

/// The kinds with several versions among the recorded definitions.
fn declarations() -> Vec<Declaration> {
    let Ok(folder) = fs::read_dir(shared().join("conformance/crds")) else { return Vec::new() };
    let mut files: Vec<_> = folder.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    files.iter().filter_map(|file| declaration(&fs::read(file).expect("a readable file"))).collect()
}

fn declaration(text: &[u8]) -> Option<Declaration> {
    let arena = Arena::new();
    let document = decode_json_spanned(text, &arena, &Decode::default()).expect("JSON");
    let definition = lower_definition(&document).ok()?.item;
    let mut declaration = Declaration::new(definition.group.text.clone(), definition.kind.text.clone());
    for version in definition.versions {
        let name = VersionName::new(version.name.text.clone());
        declaration.versions.push(DeclaredVersion::new(name, version.schema?, Root::Resource, Span::default()));
    }
    (declaration.versions.len() > 1).then_some(declaration)
}
