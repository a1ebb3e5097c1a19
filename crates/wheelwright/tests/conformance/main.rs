//! Agreement with Kubernetes: every recorded case goes through `schema eval` and must come out as recorded.
//!
//! The repository's own cases are in `own/`. Those recorded from Kubernetes' code are in the folder that
//! `WHEELWRIGHT_SHARED` names, or in `shared` beside the repository; without it they are skipped, and that is said.

#![expect(clippy::print_stdout, reason = "what a test runner of its own has to say")]

mod case;
mod definition;
mod deliberate;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use case::{Case, Mismatch};

fn main() -> ExitCode {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/own");
    let mut cases = Vec::new();
    let mut files = files_in(&own);
    for file in &files {
        cases.extend(Case::read(file, None));
    }
    let ours = cases.len();
    match recorded() {
        Some(folder) => {
            let definitions = folder.join("crds");
            for name in ["schemas.jsonl", "crds.jsonl", "probes.jsonl", "updates.jsonl"] {
                cases.extend(Case::read(&folder.join(name), Some(&definitions)));
            }
            files.push(folder.join("probes.jsonl"));
            println!("conformance: {} cases, {ours} of our own and {} recorded", cases.len(), cases.len() - ours);
        }
        None => println!("conformance: SKIPPED the recorded cases; {ours} cases of our own"),
    }
    let definitions = report_definitions(&files);
    if report(&cases) && definitions { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn report_definitions(files: &[PathBuf]) -> bool {
    let (mut count, mut different) = (0, Vec::new());
    for (checked, found) in files.iter().map(|file| definition::check(file)) {
        count += checked;
        different.extend(found);
    }
    different.iter().for_each(|difference| println!("{difference}"));
    println!("conformance: {count} verdicts on definitions, {} of them different", different.len());
    different.is_empty()
}

fn report(cases: &[Case]) -> bool {
    let mut failed = 0;
    let mut different = 0;
    for case in cases {
        let mismatches = case.mismatches();
        let (known, unknown): (Vec<Mismatch>, Vec<Mismatch>) =
            mismatches.into_iter().partition(|mismatch| deliberate::reason(case, mismatch).is_some());
        different += usize::from(!known.is_empty());
        for mismatch in &unknown {
            println!("{}: {mismatch}", case.id);
        }
        failed += usize::from(!unknown.is_empty());
    }
    println!("conformance: {different} cases differ deliberately");
    println!("test result: {}. {} passed; {failed} failed", verdict(failed), cases.len() - failed);
    failed == 0
}

fn verdict(failed: usize) -> &'static str {
    if failed == 0 { "ok" } else { "FAILED" }
}

fn recorded() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = env::var_os("WHEELWRIGHT_SHARED").map_or(beside, PathBuf::from);
    let folder = shared.join("conformance");
    folder.join("schemas.jsonl").exists().then_some(folder)
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the repository has cases of its own");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    files
}
