//! The gate: changes of many classes are seeded into definitions and catalogs, documents decide which of them do harm, and
//! `check` has to find these.
//!
//! `WHEELWRIGHT_GATE_SEEDS=N` runs N seeds over all real definitions instead of a sample, and `WHEELWRIGHT_GATE_SHOW=N`
//! prints the first N changes that `check` judges differently than documents do.

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

/// The least share of harmful changes of stable versions that are errors. It only rises, to 990.
const ERRORS_PER_MILLE: usize = 300;
/// The greatest share of harmful changes of which nothing is said. It only falls, to 0.
const SILENT_PER_MILLE: usize = 350;

/// How many seeds are run; a sample without the variable.
fn seeds() -> Option<u64> {
    env::var("WHEELWRIGHT_GATE_SEEDS").ok().and_then(|seeds| seeds.parse().ok())
}

/// What is seeded into: definitions of our own, and real ones: a few small ones in a sample, all in the full run.
fn subjects() -> Vec<Subject> {
    let real = subjects::real();
    let is_small = |subject: &Subject| subject.definition.to_string().len() < 12_000;
    match seeds() {
        Some(_) => subjects::own().into_iter().chain(real).collect(),
        None => subjects::own().into_iter().chain(real.into_iter().filter(is_small).step_by(20)).collect(),
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "prints the table")]
fn harm_is_found() {
    let subjects = subjects();
    let seeds = seeds().unwrap_or(1);
    let threads = thread::available_parallelism().map_or(2, usize::from).min(4);
    let work: Vec<(u64, &Subject)> = (0..seeds).flat_map(|seed| subjects.iter().map(move |of| (seed, of))).collect();
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let part = |part: usize| {
            let work = &work;
            scope.spawn(move || {
                let mut tally = Tally::default();
                for (seed, subject) in work.iter().skip(part).step_by(threads) {
                    tally.add(seeded::subject(subject, *seed));
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
    let shown = env::var("WHEELWRIGHT_GATE_SHOW").ok().and_then(|shown| shown.parse().ok()).unwrap_or(0);
    for missed in tally.missed.iter().take(shown) {
        println!("{missed}");
    }
    assert!(tally.harmful_classes() >= 40, "changes of at least 40 classes do harm");
    let (errors, harmful) = tally.stable();
    assert!(errors * 1000 >= harmful * ERRORS_PER_MILLE, "{errors} of {harmful} harmful changes are errors");
    assert!(tally.silent() * 1000 <= harmful * SILENT_PER_MILLE, "{} harmful changes are silent", tally.silent());
}
