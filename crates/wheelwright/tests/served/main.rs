//! `wheelwright serve` as a process: it is killed while it is written to, and crowds of clients want nothing of it.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod audit;
mod browsers;
mod crowd;
mod disk;
mod ended;
mod files;
mod full_disk;
mod killed;
mod limited;
mod moved;
mod said;
mod salvaged;
mod scrubbed;
mod server;
mod small_disk;
mod soak;
mod sources;
