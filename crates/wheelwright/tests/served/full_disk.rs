//! A server that is killed while clients write, on a disk that is filled and emptied in between: no acknowledged write is lost.

use std::{
    env, fs,
    net::SocketAddr,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{
    disk::{fill, on_a_disk_of_its_own},
    server::{Client, Server, app, apps, connect},
};

const TEST: &str = "full_disk::every_write_that_was_acknowledged_is_there_after_kills_on_a_disk_that_was_full";

/// The longest wait for a server to notice that its disk is full.
pub(crate) const FULL: Duration = Duration::from_secs(20);

/// What became of the writes of one client: each name with what was acknowledged last, and whether its next write was not.
type Outcomes = Vec<(String, Acknowledged)>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Acknowledged {
    /// The creation was not: it is there or it is not.
    Nothing,
    Created,
    /// The deletion was not.
    CreatedAndMaybeDeleted,
    Deleted,
    Refused,
}

impl Acknowledged {
    fn writes(self) -> usize {
        match self {
            Self::Nothing | Self::Refused => 0,
            Self::Created | Self::CreatedAndMaybeDeleted => 1,
            Self::Deleted => 2,
        }
    }
}

/// Creates applications and deletes two of three, one of them with a finalizer, until the server is killed. A creation that is refused for lack of room stores
/// nothing.
fn write(address: SocketAddr, round: usize, writer: usize, refused: &AtomicUsize) -> Outcomes {
    let mut outcomes = Outcomes::new();
    let Ok(mut client) = connect(address) else { return outcomes };
    for number in 0.. {
        let name = format!("r{round}-w{writer}-{number}");
        let mut body = app(&name, &"x".repeat(20_000));
        let has_finalizer = number % 3 == 1;
        if has_finalizer {
            body = body.replacen(r#""metadata":{"#, r#""metadata":{"finalizers":["example.com/a"],"#, 1);
        }
        match client.request("POST", apps(), &body) {
            Ok((201, _)) => outcomes.push((name, Acknowledged::Created)),
            Ok((507, _)) => {
                refused.fetch_add(1, Ordering::Relaxed);
                outcomes.push((name, Acknowledged::Refused));
                thread::sleep(Duration::from_millis(5));
                continue;
            }
            Ok((status, body)) => panic!("{status} {body}"),
            Err(_) => {
                outcomes.push((name, Acknowledged::Nothing));
                break;
            }
        }
        if number % 3 != 0 {
            let name = outcomes.last().unwrap().0.clone();
            let path = format!("{}/{name}", apps());
            let mut deleted = client.request("DELETE", &path, "");
            if has_finalizer && matches!(deleted, Ok((200, _))) {
                deleted = client.request("PATCH", &path, r#"{"metadata":{"finalizers":null}}"#);
            }
            outcomes.last_mut().unwrap().1 = match deleted {
                Ok((200, _)) => Acknowledged::Deleted,
                Ok((status, body)) => panic!("a delete must succeed on a full disk: {status} {body}"),
                Err(_) => Acknowledged::CreatedAndMaybeDeleted,
            };
            if outcomes.last().unwrap().1 == Acknowledged::CreatedAndMaybeDeleted {
                break;
            }
        }
    }
    outcomes
}

fn assert_kept(client: &mut Client, outcomes: &Outcomes) {
    for (name, acknowledged) in outcomes {
        let (status, body) = client.request("GET", &format!("{}/{name}", apps()), "").unwrap();
        let allowed: &[u16] = match acknowledged {
            Acknowledged::Nothing | Acknowledged::CreatedAndMaybeDeleted => &[200, 404],
            Acknowledged::Created => &[200],
            Acknowledged::Deleted | Acknowledged::Refused => &[404],
        };
        assert!(allowed.contains(&status), "{name}: {acknowledged:?}, and {status}");
        // What is there is whole.
        assert!(status == 404 || body.contains(&"x".repeat(20_000)), "{name}");
    }
}

/// Waits for a condition; returns whether it held in time.
pub(crate) fn within(time: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + time;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "counts what was tried")]
fn every_write_that_was_acknowledged_is_there_after_kills_on_a_disk_that_was_full() {
    let Some(folder) = on_a_disk_of_its_own("64m", TEST) else { return };
    let kills = env::var("WHEELWRIGHT_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let [store, ballast] = ["killed.db", "ballast"].map(|name| folder.join(name));
    let (refused, mut all) = (AtomicUsize::new(0), Outcomes::new());
    let (mut acknowledged, mut full, mut refusing, mut unready) = (0, 0, 0, 0);
    for round in 0..kills {
        let written: Outcomes = thread::scope(|scope| {
            // Started here so that a failed assertion ends it, and with it the writers that the scope waits for.
            let mut server = Server::start(&store, &[]);
            let address = server.address;
            let before = refused.load(Ordering::Relaxed);
            let refused = &refused;
            let writers: Vec<_> =
                (0..4).map(|writer| scope.spawn(move || write(address, round, writer, refused))).collect();
            thread::sleep(Duration::from_millis(50 + 37 * (round as u64 % 10)));
            // In every second round the disk is full when the server is killed, and in every fourth when it starts, too.
            if round % 2 == 1 {
                fill(&ballast).unwrap();
                let is_refusing = || refused.load(Ordering::Relaxed) > before;
                let is_ready = || connect(address).unwrap().request("GET", "/readyz", "").unwrap().0 == 200;
                full += 1;
                // The file may have enough free pages for all that the clients write.
                refusing += usize::from(within(FULL, is_refusing));
                unready += usize::from(is_refusing() && within(FULL, || !is_ready()));
                thread::sleep(Duration::from_millis(23 * (round as u64 % 8)));
            }
            server.kill();
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
        });
        acknowledged += written.iter().map(|(_, outcome)| outcome.writes()).sum::<usize>();
        if round % 4 == 1 {
            let _ = fs::remove_file(&ballast);
        }
        let server = Server::start(&store, &[]);
        let mut client = server.connect().unwrap();
        assert_kept(&mut client, &written);
        let _ = fs::remove_file(&ballast);
        // The disk is small: what was written goes, but for what will be looked for in the end.
        let (kept, gone): (Vec<_>, Vec<_>) =
            written.into_iter().enumerate().partition(|(number, _)| *number % 50 == 0 && round % 5 == 0);
        for (_, (name, _)) in gone {
            let path = format!("{}/{name}", apps());
            for (method, body) in [("DELETE", ""), ("PATCH", r#"{"metadata":{"finalizers":null}}"#)] {
                let status = client.request(method, &path, body).unwrap().0;
                assert!(matches!(status, 200 | 404), "{method} {name}: {status}");
            }
        }
        all.extend(kept.into_iter().map(|(_, outcome)| outcome));
    }
    let mut server = Server::start(&store, &[]);
    assert_kept(&mut server.connect().unwrap(), &all);
    println!(
        "{kills} kills: {acknowledged} acknowledged writes, 0 lost; {} refused, in {refusing} of {full} rounds with a full disk; \
         not ready in {unready}",
        refused.load(Ordering::Relaxed)
    );
    assert!(2 * refusing >= full, "writes were refused in {refusing} of {full} rounds with a full disk");
    assert!(2 * unready >= full, "the server was not ready in {unready} of {full} rounds with a full disk");
    server.kill();
    // On another disk.
    let backup = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_wheelwright"))
        .args(["store", "backup"])
        .arg(backup.path().join("copy.db"))
        .arg("--store")
        .arg(format!("sqlite:{}", store.display()))
        .output()
        .unwrap();
    // It looks at every page.
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
