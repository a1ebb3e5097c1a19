//! The CustomResourceDefinitions of real projects load, and check clean or with findings that are right.
//!
//! They are in the folder that `WHEELWRIGHT_SHARED` names, or in `shared` beside the repository.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use wheelwright_document::{Arena, Decode, decode_json_spanned};
use wheelwright_findings::Level;
use wheelwright_schema::{check, lower_definition};

/// Errors that these definitions really have: the file, the rule, and why it is right.
const RIGHT: &[(&str, &str, &str)] = &[
    // Kubernetes' own kinds, written as definitions: no definition may have their groups.
    ("pods.core", "WW023", "the core group has no name"),
    ("endpoints.core", "WW023", "the core group has no name"),
    ("services.core", "WW023", "the core group has no name"),
    ("persistentvolumes.core", "WW023", "the core group has no name"),
    ("deployments.apps", "WW023", "the group apps has no dot"),
];

#[test]
#[expect(clippy::print_stdout, reason = "says how many there were, or that they were skipped")]
fn real_definitions_check_clean() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = env::var_os("WHEELWRIGHT_SHARED").map_or(beside, PathBuf::from).join("conformance/crds");
    let Ok(entries) = fs::read_dir(&folder) else {
        println!("real definitions: SKIPPED");
        return;
    };
    let (mut count, mut notes) = (0, 0);
    let mut wrong = Vec::new();
    for entry in entries {
        let file = entry.expect("a readable folder").path();
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let bytes = fs::read(&file).expect("a readable file");
        let (arena, limits) = (Arena::new(), Decode::default());
        let source = decode_json_spanned(&bytes, &arena, &limits).unwrap_or_else(|error| panic!("{name}: {error}"));
        let lowered = lower_definition(&source).unwrap_or_else(|problem| panic!("{name}: {}", problem.message));
        assert!(!lowered.item.versions.is_empty(), "{name} has no versions");
        for problem in lowered.problems.into_iter().chain(check::check_definition(&lowered.item)) {
            let right = RIGHT.iter().any(|(file, rule, _)| name == *file && problem.rule.id == *rule);
            if problem.rule.level < Level::Error {
                notes += 1;
            } else if !right {
                wrong.push(format!("{name}: {} {}: {}", problem.rule.id, problem.path, problem.message));
            }
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{} errors:\n{}", wrong.len(), wrong.join("\n"));
    println!("real definitions: {count}, with {notes} warnings and notes");
}
