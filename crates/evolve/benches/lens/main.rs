//! What reading and writing through a version costs, beside what parsing the same document costs with
//! `serde_json::Value`.
//!
//! Everything is measured in one run, interleaved; the ratios are what counts. The run fails if `get` takes longer than
//! one parse, `put` longer than two, or ten versions much longer than two.
//!
//! Documents come from the folder that `WHEELWRIGHT_SHARED` names, or `shared` beside the repository; without it, from
//! the benchmark of `wheelwright-schema`.

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

#[path = "../../../schema/benches/pipeline/measure.rs"]
mod measure;
mod samples;

use std::{hint::black_box, process::ExitCode, time::Instant};

use measure::{Candidate, Measured, measure};
use samples::{Sample, edited};
use wheelwright_document::{Arena, Value, decode};
use wheelwright_evolve::{Kind, Part, laws::Laws};

fn main() -> ExitCode {
    // `cargo test` builds and runs benchmarks too, with `--test`: there, one round shows that they work.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { 60 } else { 1 };
    let mut misses = Vec::new();
    for sample in samples::all() {
        println!("{} ({} bytes)", sample.name, sample.document.len());
        run(&sample, rounds, &mut misses);
        println!();
    }
    for sample in samples::all().iter().filter(|sample| sample.name.ends_with("small")) {
        let cases = if rounds == 1 { 20 } else { 20_000 };
        let start = Instant::now();
        let report = Laws { cases, seed: 1 }.run(&sample.two, &sample.declaration, &mut |_| {});
        let per_second = cases as f64 / start.elapsed().as_secs_f64();
        println!("{}: laws: {per_second:.0} cases a second", sample.name);
        if report.laws.iter().any(|law| law.broken > 0) {
            misses.push(format!("{}: a law is broken", sample.name));
        }
    }
    for miss in &misses {
        println!("missed: {miss}");
    }
    if misses.is_empty() || rounds == 1 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(sample: &Sample, rounds: usize, misses: &mut Vec<String>) {
    let input = &sample.document[..];
    let arena = Arena::new();
    let document = decode(input, &arena).expect("the document is JSON");
    let two = Prepared::new(&sample.two, document, &arena);
    let ten = Prepared::new(&sample.ten, document, &arena);
    let measured = measure(
        rounds,
        input.len(),
        vec![
            Candidate::new("serde_json: parse", || {
                black_box(serde_json::from_slice::<serde_json::Value>(black_box(input)).ok());
            }),
            Candidate::new("get, the other version of two", || two.get()),
            Candidate::new("put, edited, through the other version", || two.put(two.edited)),
            Candidate::new("put, unchanged, through the other version", || two.put(two.shown)),
            Candidate::new("get, the first version of ten", || ten.get()),
            Candidate::new("put, edited, through the first of ten", || ten.put(ten.edited)),
        ],
    );
    for line in &measured {
        println!("  {line}");
    }
    let [parse, get, put, unchanged, get_ten, put_ten] = &measured[..] else { unreachable!("as listed above") };
    let mut gate = |what: &str, candidate: &Measured, base: &Measured, goal: f64| {
        let (ratio, median) = (candidate.best / base.best, candidate.median / base.median);
        println!("  ratio: {what} {ratio:.2} (medians {median:.2}); at most {goal}");
        if ratio > goal {
            misses.push(format!("{}: {what} {ratio:.2} instead of {goal}", sample.name));
        }
    };
    gate("get to parse", get, parse, 1.0);
    gate("put to parse", put, parse, 2.0);
    gate("put unchanged to parse", unchanged, parse, 2.0);
    gate("get of ten versions to get of two", get_ten, get, 1.5);
    gate("put of ten versions to put of two", put_ten, put, 1.5);
}

/// A document that is stored in the shape of the newest version, and what the oldest shows of it.
struct Prepared<'a> {
    kind: &'a Kind,
    stored: Value<'a>,
    shown: Value<'a>,
    edited: Value<'a>,
    bytes: usize,
}

impl<'a> Prepared<'a> {
    fn new(kind: &'a Kind, document: Value<'a>, arena: &'a Arena) -> Self {
        let oldest = kind.history().indexes().next().expect("there are versions");
        let normal = kind.normal(oldest, document, arena).expect("metadata is well-formed");
        let stored = kind.put(oldest, normal, None, Part::Whole, arena).expect("nothing is hidden yet");
        let shown = kind.get(oldest, stored, arena);
        Self { kind, stored, shown, edited: edited(shown, arena), bytes: wheelwright_document::encode(stored).len() }
    }

    fn get(&self) {
        let arena = Arena::for_input(self.bytes);
        let oldest = self.kind.history().indexes().next().expect("there are versions");
        black_box(self.kind.get(oldest, black_box(self.stored), &arena));
    }

    fn put(&self, document: Value<'_>) {
        let arena = Arena::for_input(self.bytes);
        let oldest = self.kind.history().indexes().next().expect("there are versions");
        black_box(self.kind.put(oldest, black_box(document), Some(self.stored), Part::Whole, &arena).is_ok());
    }
}
