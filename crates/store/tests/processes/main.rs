//! Several processes on one store: what they were answered, what they were told, and what is left when they are killed.

mod histories;
mod postgres;
mod protocol;
mod proxy;
mod scenarios;
mod sqlite;
mod worker;

/// How often each process is killed.
fn kills() -> usize {
    let kills = std::env::var("WHEELWRIGHT_KILLS").ok();
    kills.map_or(50, |kills| kills.parse().expect("WHEELWRIGHT_KILLS is a number"))
}

/// The process that the other tests start; it is no test of its own.
#[test]
fn worker() {
    worker::run_if_asked();
}
