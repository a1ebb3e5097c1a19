//! What a write costs, beside what parsing and serializing the same document costs with `serde_json::Value`.
//!
//! Everything is measured in one run, interleaved, with the same allocator and a fresh arena per document; the ratios
//! are what counts, since machines differ. The run fails if a ratio falls below its goal.
//!
//! Documents come from the folder that `WHEELWRIGHT_SHARED` names, or `shared` beside the repository; without it, from
//! `data/`, multiplied to the same sizes.

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

mod measure;
mod samples;

use std::{hint::black_box, process::ExitCode};

use measure::{Candidate, Measured, measure};
use samples::Sample;
use wheelwright_document::{Arena, decode, encode_into};
use wheelwright_schema::Stages;

fn main() -> ExitCode {
    // `cargo test` builds and runs benchmarks too, with `--test`: there, one round shows that they work.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { 60 } else { 1 };
    let mut misses = Vec::new();
    for sample in samples::all() {
        println!("{} ({} bytes in, {} out)", sample.name, sample.input.len(), sample.output.len());
        let report = run(&sample, rounds);
        for line in &report.lines {
            println!("  {line}");
        }
        misses.extend(report.misses.into_iter().map(|miss| format!("{}: {miss}", sample.name)));
        println!();
    }
    for miss in &misses {
        println!("missed: {miss}");
    }
    if misses.is_empty() || rounds == 1 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Report {
    lines: Vec<String>,
    misses: Vec<String>,
}

fn run(sample: &Sample, rounds: usize) -> Report {
    let input = &sample.input[..];
    let defaulted: serde_json::Value = serde_json::from_slice(&sample.output).expect("the output is JSON");
    let arena = Arena::new();
    let document = decode(input, &arena).expect("the input is JSON");
    let admitted = sample.program.admit(document, &arena).expect("metadata is well-formed").value;
    let without_rules = Stages::ADMIT.without_rules();
    let stage = |stages: Stages| {
        move || {
            let arena = Arena::for_input(input.len());
            black_box(sample.program.run(document, &arena, stages).map(|admitted| admitted.errors.len()).ok());
        }
    };
    let measured = measure(
        rounds,
        input.len(),
        vec![
            Candidate::new("serde_json: parse input, serialize output", || {
                black_box(serde_json::from_slice::<serde_json::Value>(black_box(input)).ok());
                black_box(serde_json::to_vec(black_box(&defaulted)).ok());
            }),
            Candidate::new("serde_json: deep clone of the output", || {
                black_box(black_box(&defaulted).clone());
            }),
            Candidate::new("whole pipeline: decode, admit without rules, encode", || {
                let arena = Arena::for_input(input.len());
                let document = decode(black_box(input), &arena).expect("the input is JSON");
                let admitted = sample.program.run(document, &arena, without_rules).expect("metadata is well-formed");
                let mut out = Vec::with_capacity(input.len() * 4);
                encode_into(admitted.value, &mut out);
                black_box((out.len(), admitted.errors.len()));
            }),
            Candidate::new("  decode", || {
                let arena = Arena::for_input(input.len());
                black_box(decode(black_box(input), &arena).is_ok());
            }),
            Candidate::new("  admit (all stages in one walk)", stage(without_rules)),
            Candidate::new("  encode", || {
                let mut out = Vec::with_capacity(input.len() * 4);
                encode_into(black_box(admitted), &mut out);
                black_box(out.len());
            }),
            Candidate::new("prune alone", stage(Stages::PRUNE)),
            Candidate::new("default alone (prune, nulls, defaults)", stage(Stages::DEFAULT)),
            Candidate::new("validate alone", stage(Stages::VALIDATE.without_rules())),
            Candidate::new("rules alone, of the defaulted document", || {
                let arena = Arena::new();
                let rules = sample.program.run(black_box(admitted), &arena, Stages::RULES);
                black_box(rules.map(|admitted| admitted.errors.len()).ok());
            }),
        ],
    );
    report(sample, &measured)
}

fn report(sample: &Sample, measured: &[Measured]) -> Report {
    let [serde, clone, pipeline, .., default, _, rules] = measured else { unreachable!("as listed above") };
    let mut misses = Vec::new();
    let mut lines: Vec<String> = measured.iter().map(Measured::to_string).collect();
    let whole = serde.best / pipeline.best;
    let whole_median = serde.median / pipeline.median;
    let defaulting = clone.best / default.best;
    lines.push(format!(
        "ratio: the pipeline is {whole:.2} × as fast as serde_json (medians {whole_median:.2}); goal {:.1}",
        sample.goal
    ));
    lines.push(format!("ratio: defaulting is {defaulting:.2} × as fast as a deep clone; goal 1.0"));
    if sample.has_rules {
        let share = rules.best / pipeline.best;
        lines.push(format!("ratio: the rules take {share:.2} × as long as the rest of the pipeline; at most 4.0"));
        if share > 4.0 {
            misses.push(format!("rules {share:.2} × the pipeline instead of 4.0 ×"));
        }
    }
    let nanoseconds_per_byte = pipeline.best / sample.input.len() as f64;
    lines.push(format!("the pipeline takes {nanoseconds_per_byte:.2} ns per byte of input"));
    if whole < sample.goal {
        misses.push(format!("pipeline {whole:.2} × instead of {:.1} ×", sample.goal));
    }
    if defaulting < 1.0 {
        misses.push(format!("defaulting {defaulting:.2} × instead of 1.0 ×"));
    }
    Report { lines, misses }
}
