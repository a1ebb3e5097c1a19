//! How large a server is: its memory, its descriptors, and the files of its store.

use std::{fmt, fs, path::Path};

use crate::server::Server;

/// What was measured of one server process, in order.
#[derive(Default)]
pub(super) struct Samples {
    kilobytes: Vec<usize>,
    descriptors: Vec<usize>,
    files: Vec<usize>,
    /// The size of all files.
    file_kilobytes: Vec<usize>,
}

impl Samples {
    pub(super) fn take(&mut self, server: &Server, folder: &Path) {
        self.kilobytes.extend(server.of_process("status", "VmRSS:"));
        self.descriptors.extend(server.descriptors());
        let files: Vec<u64> =
            fs::read_dir(folder).unwrap().filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len())).collect();
        self.files.push(files.len());
        self.file_kilobytes.push(files.iter().sum::<u64>() as usize / 1024);
    }
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |values: &[usize]| format!("{} to {}", early(values), late(values));
        write!(
            f,
            "{} KiB of memory, {} descriptors, {} files of {} KiB",
            of(&self.kilobytes),
            of(&self.descriptors),
            of(&self.files),
            of(&self.file_kilobytes)
        )
    }
}

/// The median of the second fifth: the first is the warm-up.
fn early(values: &[usize]) -> usize {
    median(&values[values.len() / 5..(values.len() * 2 / 5).max(values.len() / 5)])
}

/// The median of the last fifth.
fn late(values: &[usize]) -> usize {
    median(&values[values.len() * 4 / 5..])
}

fn median(values: &[usize]) -> usize {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Nothing grows: neither while a process runs nor from one to the next.
pub(super) fn check_flat(lives: &[Samples]) {
    let is_flat = |early: usize, late: usize, slack: usize| late <= early + early / 4 + slack;
    for (life, samples) in lives.iter().enumerate().filter(|(_, samples)| samples.kilobytes.len() >= 60) {
        let of = |values: &[usize]| (early(values), late(values));
        let ((memory, memory_late), (open, open_late)) = (of(&samples.kilobytes), of(&samples.descriptors));
        assert!(is_flat(memory, memory_late, 32 << 10), "life {life}: memory grows from {memory} to {memory_late} KiB");
        assert!(is_flat(open, open_late, 16), "life {life}: descriptors grow from {open} to {open_late}");
        let files = samples.files.iter().max().copied().unwrap_or_default();
        // The store, its write-ahead log with the index, and the reserve.
        assert!(files <= 4, "life {life}: {files} files");
    }
    // The history of the store has its full length after five minutes.
    let settled: Vec<&Samples> = lives.iter().skip(lives.len() / 3).collect();
    let (Some(first), Some(last)) = (settled.first(), settled.last()) else { return };
    for (what, slack, of) in [
        ("memory", 32 << 10, (|samples| &samples.kilobytes) as fn(&Samples) -> &Vec<usize>),
        ("the files", 32 << 10, |samples| &samples.file_kilobytes),
    ] {
        let (early, late) = (late(of(first)), late(of(last)));
        assert!(is_flat(early, late, slack), "{what}: from {early} to {late} KiB");
    }
}
