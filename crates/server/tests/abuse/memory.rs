//! Attacks on the memory of a server.

use std::time::Duration;

use tokio::{io::AsyncWriteExt, time::timeout};

use crate::{
    process::{Process, plain},
    support::orders,
};

/// A note that makes an order about as long as it may be.
fn long_note() -> String {
    "n".repeat((3 << 20) - 4096)
}

#[test]
fn bodies_that_do_not_end() {
    let body = vec![b' '; (3 << 20) - 1];
    Process::withstands(
        plain,
        async |_| {},
        async |process| {
            let head =
                format!("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n", orders("a"));
            let head = format!("{head}Content-Length: {}\r\n\r\n", 3 << 20);
            let mut held = Vec::new();
            for _ in 0..512 {
                let mut stream = process.connect().await;
                // One that is refused is not listened to any more.
                let _ = stream.write_all(head.as_bytes()).await;
                let _ = timeout(Duration::from_secs(2), stream.write_all(&body)).await;
                held.push(stream);
            }
            held
        },
    );
}

#[test]
fn objects_that_are_not_read() {
    let get = format!("GET {}/o HTTP/1.1\r\nHost: localhost\r\n\r\n", orders("attacked"));
    let prepare = async |process: &Process| assert_eq!(process.create("o", &long_note()).await, 201);
    Process::withstands(plain, prepare, async |process| {
        let mut held = Vec::new();
        for _ in 0..300 {
            held.push(process.connect_deaf(&get).await);
        }
        held
    });
}
