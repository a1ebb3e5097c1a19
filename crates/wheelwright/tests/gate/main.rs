//! The gate: changes of many classes are seeded into definitions and catalogs, documents decide which of them do harm, and
//! `check` has to find these.
//!
//! `WHEELWRIGHT_GATE_SEEDS=N` runs N seeds over all real definitions instead of a sample, and `WHEELWRIGHT_GATE_SHOW=N`
//! prints N changes of each definition that `check` judges differently than documents do. `WHEELWRIGHT_GATE_EVERY=N` takes
//! every Nth definition.

mod catalogs;
mod classes;
mod harm;
mod repository;
mod schemas;
mod seeded;
#[path = "../shared/mod.rs"]
#[expect(dead_code, reason = "used by other tests")]
mod shared;
mod subjects;
mod tally;

use std::{env, thread};

use subjects::Subject;
use tally::Tally;

/// The least share of harmful changes of stable versions that are errors.
const ERRORS_PER_MILLE: usize = 990;

/// How many seeds are run; a sample without the variable.
fn seeds() -> Option<u64> {
    env::var("WHEELWRIGHT_GATE_SEEDS").ok().and_then(|seeds| seeds.parse().ok())
}

fn every() -> usize {
    env::var("WHEELWRIGHT_GATE_EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(1)
}

/// How many changes of each definition are printed that `check` judges otherwise than documents.
fn shown() -> usize {
    env::var("WHEELWRIGHT_GATE_SHOW").ok().and_then(|shown| shown.parse().ok()).unwrap_or(0)
}

/// What is seeded into: definitions of our own, and real ones: a few small ones in a sample, all in the full run.
fn subjects() -> Vec<Subject> {
    let real = subjects::real();
    let is_small = |subject: &Subject| subject.definition.to_string().len() < 12_000;
    match seeds() {
        Some(_) => subjects::own().into_iter().chain(real.into_iter().step_by(every())).collect(),
        None => subjects::own().into_iter().chain(real.into_iter().filter(is_small).step_by(20)).collect(),
    }
}

/// Seeds changes into all subjects, and prints what was found of them.
#[expect(clippy::print_stdout, reason = "prints the table")]
fn tally(seeded: fn(&Subject, u64) -> Tally) -> Tally {
    let subjects = subjects();
    let threads = thread::available_parallelism().map_or(2, usize::from).min(4);
    let work: Vec<(u64, &Subject)> =
        (0..seeds().unwrap_or(1)).flat_map(|seed| subjects.iter().map(move |of| (seed, of))).collect();
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let part = |part: usize| {
            let work = &work;
            scope.spawn(move || {
                let mut tally = Tally::default();
                for (seed, subject) in work.iter().skip(part).step_by(threads) {
                    let of_subject = seeded(subject, *seed);
                    if seeds().is_some() {
                        println!("{}, seed {seed}: {}", subject.name, of_subject.summary());
                    }
                    of_subject.missed.iter().take(shown()).for_each(|missed| println!("{missed}"));
                    tally.add(of_subject);
                }
                tally
            })
        };
        let parts: Vec<_> = (0..threads).map(part).collect();
        for part in parts {
            tally.add(part.join().expect("no change makes the test panic"));
        }
    });
    println!("{tally}");
    tally
}

#[test]
fn harm_of_schemas_is_found() {
    let tally = tally(seeded::subject);
    assert!(tally.harmful_classes() >= 40, "changes of at least 40 classes do harm");
    assert_found(&tally);
}

#[test]
fn harm_of_catalogs_changes_and_locks_is_found() {
    let tally = tally(catalogs::subject);
    assert!(tally.harmful_classes() >= 10, "changes of at least 10 classes do harm");
    assert_found(&tally);
}

fn assert_found(tally: &Tally) {
    let (errors, harmful) = tally.stable();
    assert!(errors * 1000 >= harmful * ERRORS_PER_MILLE, "{errors} of {harmful} harmful changes are errors");
    assert_eq!(tally.silent(), 0, "no harmful change is silent");
}
