//! A server that is killed while clients write: what it has acknowledged is there when it is back.

use std::{
    env, io,
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::server::{Client, Server, app, apps, connect};

/// The last image of every application that a client was told of.
type Acknowledged = Vec<(String, String)>;

/// Whether something was acknowledged in this round.
static FIRST: AtomicBool = AtomicBool::new(false);

/// Creates applications and changes them, until the server is gone.
fn write(address: SocketAddr, round: usize, writer: usize) -> Acknowledged {
    let mut acknowledged = Acknowledged::new();
    let Ok(mut client) = connect(address) else { return acknowledged };
    for number in 0.. {
        let name = format!("r{round}-w{writer}-{number}");
        let Ok(()) = create(&mut client, &name, &mut acknowledged) else { break };
        if number % 3 == 0 && change(&mut client, &name, &mut acknowledged).is_err() {
            break;
        }
    }
    acknowledged
}

fn create(client: &mut Client, name: &str, acknowledged: &mut Acknowledged) -> io::Result<()> {
    let (status, body) = client.request("POST", apps(), &app(name, "first"))?;
    assert_eq!(status, 201, "{body}");
    acknowledged.push((name.to_owned(), "first".to_owned()));
    FIRST.store(true, Ordering::Relaxed);
    Ok(())
}

fn change(client: &mut Client, name: &str, acknowledged: &mut Acknowledged) -> io::Result<()> {
    // Whether it is stored is not known until it is acknowledged: neither image is held against what is there then.
    let before = acknowledged.pop();
    let (status, body) = client.request("PATCH", &format!("{}/{name}", apps()), r#"{"spec":{"image":"second"}}"#)?;
    assert_eq!(status, 200, "{body}");
    acknowledged.extend(before.map(|(name, _)| (name, "second".to_owned())));
    Ok(())
}

#[test]
fn every_write_that_was_acknowledged_is_there_after_a_kill() {
    let kills = env::var("WHEELWRIGHT_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("killed.db");
    let mut all = Acknowledged::new();
    for round in 0..kills {
        let mut server = Server::start(&store, &[]);
        let address = server.address;
        FIRST.store(false, Ordering::Relaxed);
        let writers: Vec<_> = (0..4).map(|writer| thread::spawn(move || write(address, round, writer))).collect();
        // Sooner or later after the first write, which may take its time where many tests run.
        let began = Instant::now();
        while !FIRST.load(Ordering::Relaxed) && began.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(150 + 37 * (round as u64 % 10)));
        server.kill();
        let written: Acknowledged = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        assert!(!written.is_empty(), "nothing was written in round {round}");
        let server = Server::start(&store, &[]);
        let mut client = server.connect().unwrap();
        for (name, image) in &written {
            assert_there(&mut client, name, image);
        }
        all.extend(written);
    }
    let server = Server::start(&store, &[]);
    let mut client = server.connect().unwrap();
    for (name, image) in &all {
        assert_there(&mut client, name, image);
    }
}

fn assert_there(client: &mut Client, name: &str, image: &str) {
    let (status, body) = client.request("GET", &format!("{}/{name}", apps()), "").unwrap();
    assert_eq!(status, 200, "{name} was acknowledged: {body}");
    assert!(body.contains(&format!(r#""image":"{image}""#)), "{name} had {image}: {body}");
}
