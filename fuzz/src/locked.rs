//! Locks with sums that are right, as whoever edits one by hand can make them: what can be read can be compiled, for every
//! hub, and every field has its place there.

use std::fmt::Write as _;

use wheelwright_evolve::{Envelope, Lenses, Lock, OlderWrite, check::every_id_has_one_slot};

/// Makes the sums of a lock right, reads it, and compiles what is in it.
pub fn locked(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (lock, _) = Lock::parse(&summed(text));
    for kind in lock.kinds() {
        let history = kind.history();
        for hub in history.indexes().take(4) {
            Lenses::compile(history, hub, Envelope::None, &|_, _| OlderWrite::Preserve);
            let broken = every_id_has_one_slot(history, hub);
            assert!(broken.is_empty(), "{broken:?}");
        }
    }
}

/// A lock whose kinds all end with their sum.
fn summed(text: &str) -> String {
    let mut out = String::new();
    let mut kind: Option<Sum> = None;
    for line in text.lines().map(str::trim_end) {
        let word = line.split_whitespace().next().unwrap_or_default();
        match word {
            "sum" => continue,
            "kind" => {
                end(&mut out, kind.take());
                kind = Some(Sum::default());
            }
            _ => {}
        }
        if let Some(sum) = &mut kind
            && !line.is_empty()
        {
            sum.line(line);
        }
        out.push_str(line);
        out.push('\n');
    }
    end(&mut out, kind);
    out
}

fn end(out: &mut String, sum: Option<Sum>) {
    if let Some(Sum(sum)) = sum {
        let _infallible = writeln!(out, "  sum {sum:032x}");
    }
}

/// FNV-1a with 128 bits, as docs/lock.md has it.
struct Sum(u128);

impl Default for Sum {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Sum {
    fn line(&mut self, line: &str) {
        for byte in line.bytes().chain(*b"\n") {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul((1 << 88) + 0x13b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_locks() {
        let lock = include_str!("../seeds/locked/person.lock");
        let (read, problems) = Lock::parse(&summed(&lock.replace("default 3", "default 4")));
        assert!(problems.is_empty() && !read.kinds().is_empty(), "{problems:?}");
    }
}
