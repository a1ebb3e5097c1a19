//! What scripts do with `convert --lines`: documents of every version, through every other and back, are what they were.

mod shared;

use std::{
    fs,
    path::{Path, PathBuf},
};

use shared::{aro_hcp, shared};
use wheelwright::{
    Console, Exit, Kinds,
    catalog::OnDisk,
    command::{LineOptions, Way, convert_lines},
    document::{Arena, encode_into},
    evolve::{
        Declaration, Kind, VersionIndex,
        laws::{Generator, Random},
        overlaid_schema,
    },
};

/// How many documents a pair of versions.
const DOCUMENTS: usize = 20;

#[test]
fn a_round_trip_through_any_version_gives_the_normal_form() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut paths = ["crm", "openapi-defaults", "orders", "queues"].map(|name| examples.join(name)).to_vec();
    paths.extend(aro_hcp("round-trips"));
    paths.extend(real_definitions());
    let mut differences = Vec::new();
    for path in paths {
        let kinds = load(&path);
        for (kind, declaration) in kinds.iter().zip(kinds.declarations()) {
            let is_declared = |version: &VersionIndex| kind.history().version(*version).declared;
            for from in kind.history().indexes().filter(is_declared) {
                let lines = documents(kind, declaration, from);
                let normal = converted(&kinds, kind, from, Way::To(name(kind, from)), &lines);
                let refused = normal.lines().filter(|line| line.starts_with("{\"error\":")).count();
                assert!(refused * 2 < DOCUMENTS, "{}: {normal}", kind.name());
                for via in kind.history().indexes() {
                    let back = converted(&kinds, kind, from, Way::Via(name(kind, via)), &lines);
                    let lines = lines.lines().zip(normal.lines().zip(back.lines()));
                    assert_eq!(lines.clone().count(), DOCUMENTS);
                    let different = lines.filter(|(_, (normal, back))| normal != back);
                    differences.extend(different.map(|(document, (normal, back))| {
                        let versions = format!("{} of {} via {}", kind.name(), name(kind, from), name(kind, via));
                        format!("{versions}\n  document {document}\n  normal   {normal}\n  back     {back}")
                    }));
                }
            }
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

/// The folders and files of real kinds with several versions; those with one have no way to go.
fn real_definitions() -> Vec<PathBuf> {
    let folder = shared().map(|shared| fs::read_dir(shared.join("conformance/crds")));
    let Some(Ok(entries)) = folder else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    files.retain(|file| load(file).iter().any(|kind| kind.history().versions.len() > 1));
    assert!(!files.is_empty());
    files
}

fn load(path: &Path) -> Kinds {
    let (mut data, mut conversation) = (Vec::new(), Vec::new());
    let loaded = Kinds::load(&OnDisk::default(), &[path.to_owned()], &mut Console::plain(&mut data, &mut conversation));
    loaded.expect("a console of our own").unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&conversation)))
}

/// A few documents of a version, one a line.
fn documents(kind: &Kind, declaration: &Declaration, version: VersionIndex) -> String {
    let declared = declaration.version(&name(kind, version)).expect("it is declared");
    let step = declaration.steps.iter().find(|step| step.version.item == declared.name);
    let generator = match step {
        Some(step) => Generator::new(&overlaid_schema(&declared.schema, step), declared.root),
        None => Generator::new(&declared.schema, declared.root),
    };
    let generator = generator.of_kind(kind.api_version(version).unwrap_or_default(), kind.name());
    let mut random = Random::new(7);
    let mut lines = Vec::new();
    for _ in 0..DOCUMENTS {
        let arena = Arena::new();
        encode_into(generator.generate(&mut random, &arena), &mut lines);
        lines.push(b'\n');
    }
    String::from_utf8(lines).expect("JSON is text")
}

fn converted(kinds: &Kinds, kind: &Kind, from: VersionIndex, way: Way, lines: &str) -> String {
    let options = LineOptions { way, kind: Some(kind.name().to_owned()), from: Some(name(kind, from)) };
    let (mut data, mut conversation) = (Vec::new(), Vec::new());
    let mut console = Console::plain(&mut data, &mut conversation);
    let exit = convert_lines(lines.as_bytes(), kinds, &options, &mut console).expect("a console of our own");
    assert_ne!(exit, Exit::Usage, "{}", String::from_utf8_lossy(&conversation));
    String::from_utf8(data).expect("JSON is text")
}

fn name(kind: &Kind, version: VersionIndex) -> String {
    kind.history().version(version).name.to_string()
}
