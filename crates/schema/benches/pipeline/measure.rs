//! Measuring several things side by side, so that they suffer the same noise.

use std::{fmt, time::Instant};

/// Something to measure.
pub(crate) struct Candidate<'c> {
    name: &'static str,
    run: Box<dyn Fn() + 'c>,
}

/// What it took, in nanoseconds.
pub(crate) struct Measured {
    name: &'static str,
    pub(crate) best: f64,
    pub(crate) median: f64,
}

impl<'c> Candidate<'c> {
    pub(crate) fn new(name: &'static str, run: impl Fn() + 'c) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// Runs every candidate in turn, `rounds` times; a round repeats it until it has taken about a millisecond.
pub(crate) fn measure(rounds: usize, bytes: usize, candidates: Vec<Candidate<'_>>) -> Vec<Measured> {
    let repetitions = (100_000 / bytes.max(1)).clamp(1, 200);
    let mut times = vec![Vec::with_capacity(rounds); candidates.len()];
    for _ in 0..rounds {
        for (candidate, times) in candidates.iter().zip(&mut times) {
            let start = Instant::now();
            for _ in 0..repetitions {
                (candidate.run)();
            }
            times.push(start.elapsed().as_nanos() as f64 / repetitions as f64);
        }
    }
    let measured = candidates.iter().zip(times).map(|(candidate, mut times)| {
        times.sort_unstable_by(f64::total_cmp);
        Measured { name: candidate.name, best: times[0], median: times[times.len() / 2] }
    });
    measured.collect()
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (best, median) = (self.best / 1e3, self.median / 1e3);
        write!(f, "{:<44} best {best:>9.2} µs   median {median:>9.2} µs", self.name)
    }
}
