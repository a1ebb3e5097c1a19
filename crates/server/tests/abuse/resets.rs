//! Clients of HTTP/2 that begin requests and take them back at once, or never read, or next to nothing.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use crate::support::{LONG, Running, orders, short};

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RESET: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const CONTINUATION: u8 = 9;
const GO_AWAY: u8 = 7;
const WINDOW: u8 = 8;

pub(crate) fn frame(sort: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[sort, flags], &stream.to_be_bytes(), payload].concat()
}

/// `GET /` at localhost, as the table that every connection begins with spells it.
fn get_root() -> Vec<u8> {
    [&[0x82, 0x86, 0x84, 0x41, 9][..], b"localhost"].concat()
}

/// `GET` of a path at localhost.
pub(crate) fn get(path: &str) -> Vec<u8> {
    let length = u8::try_from(path.len()).unwrap();
    assert!(length < 127, "a length of one byte");
    [&[0x82, 0x86, 0x44, length][..], path.as_bytes(), &[0x41, 9], b"localhost"].concat()
}

/// `POST` to a path at a host.
fn post(path: &str, host: &str) -> Vec<u8> {
    let [path_length, host_length] = [path, host].map(|text| u8::try_from(text.len()).unwrap());
    assert!(path_length < 127 && host_length < 127, "lengths of one byte");
    [&[0x83, 0x86, 0x44, path_length][..], path.as_bytes(), &[0x41, host_length], host.as_bytes()].concat()
}

/// Settings by which nothing of an answer may be sent until the client says so.
pub(crate) fn no_window() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0])
}

/// Reads frames until one of a sort comes, or the end.
async fn until(stream: &mut (impl AsyncReadExt + Unpin), sort: u8) -> bool {
    let reading = async {
        loop {
            let mut head = [0; 9];
            if stream.read_exact(&mut head).await.is_err() {
                return false;
            }
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            if stream.read_exact(&mut vec![0; length]).await.is_err() || head[3] == sort {
                return head[3] == sort;
            }
        }
    };
    timeout(LONG, reading).await.expect("frames or an end")
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_taken_back_at_once_end_the_connection() {
    let running = Running::with_limits(short()).await;
    let stream = running.connect().await;
    let (mut reading, mut writing) = stream.into_split();
    writing.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()).await.unwrap();
    let sending = tokio::spawn(async move {
        for number in 0..20_000u32 {
            let stream = 1 + 2 * number;
            let taken_back =
                [frame(HEADERS, 5, stream, &get_root()), frame(RESET, 0, stream, &8u32.to_be_bytes())].concat();
            if writing.write_all(&taken_back).await.is_err() {
                break;
            }
        }
    });
    assert!(until(&mut reading, GO_AWAY).await, "the server says that it is enough");
    sending.abort();
    running.assert_serves_on().await;
    running.until_metric("wheelwright_connections", |open| open <= 1).await;
    running.until_metric("wheelwright_requests_in_flight", |open| open == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_that_go_on_for_ever_and_answers_that_nobody_reads_end_the_connection() {
    let running = Running::with_limits(short()).await;
    let mut endless = running.connect().await;
    endless
        .write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[]), &frame(HEADERS, 0, 1, &get_root())].concat())
        .await
        .unwrap();
    let more = frame(CONTINUATION, 0, 1, &[&[0, 1, b'x', 127, 128, 31][..], &[b'y'; 4000]].concat());
    let mut sent = 0;
    while sent < 50 << 20 && endless.write_all(&more).await.is_ok() {
        sent += more.len();
    }
    assert!(sent < 50 << 20, "nobody takes fifty megabytes of a head");

    let mut deaf = running.connect().await;
    deaf.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()).await.unwrap();
    let pings = frame(PING, 0, 0, &[7; 8]).repeat(1_000);
    let mut sent = 0;
    while sent < 100 << 20 {
        match timeout(Duration::from_secs(5), deaf.write_all(&pings)).await {
            Ok(Ok(())) => sent += pings.len(),
            // It is cut off, or nobody listens to it any more.
            Ok(Err(_)) | Err(_) => break,
        }
    }
    assert!(sent < 100 << 20, "nobody answers for ever into the void");
    running.assert_serves_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_opens_no_window_or_takes_next_to_nothing_has_to_leave() {
    let running = Running::with_limits(short()).await;
    let note = "n".repeat(200_000);
    for number in 0..10 {
        assert_eq!(running.create("a", &format!("o{number}"), "", &note).await.status, 201);
    }
    let path = orders("a");
    let one = format!("{path}/o1");
    let began = std::time::Instant::now();
    for (asked, step) in [(&*path, 0u32), (&one, 0), (&one, 1), (&path, 100)] {
        let (mut reading, mut writing) = running.connect().await.into_split();
        let request = [PREFACE, &no_window(), &frame(HEADERS, 5, 1, &get(asked))].concat();
        writing.write_all(&request).await.unwrap();
        let trickling = tokio::spawn(async move {
            // A window that is opened a little at a time, so that something is always taken.
            while step > 0 && writing.write_all(&frame(WINDOW, 0, 1, &step.to_be_bytes())).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            std::future::pending::<()>().await;
        });
        assert!(until(&mut reading, GO_AWAY).await, "{asked} by {step}");
        running.until_metric("wheelwright_requests_in_flight", |open| open == 0).await;
        running.until_metric("wheelwright_connections", |open| open <= 1).await;
        trickling.abort();
    }
    assert!(began.elapsed() < Duration::from_secs(60), "long before an answer must have been taken");
    running.assert_serves_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_takes_an_answer_of_http_2_as_it_comes_is_given_all_of_it() {
    let running = Running::with_limits(short()).await;
    let note = "n".repeat(200_000);
    assert_eq!(running.create("a", "o", "", &note).await.status, 201);
    let (mut reading, mut writing) = running.connect().await.into_split();
    let head = frame(HEADERS, 5, 1, &get(&format!("{}/o", orders("a"))));
    writing.write_all(&[PREFACE, &no_window(), &head].concat()).await.unwrap();
    let mut taken = 0;
    let taking = async {
        // More than a stall may last, in steps that are large enough.
        for _ in 0..11 {
            tokio::time::sleep(Duration::from_millis(300)).await;
            writing.write_all(&frame(WINDOW, 0, 1, &20_000u32.to_be_bytes())).await.unwrap();
            writing.write_all(&frame(WINDOW, 0, 0, &20_000u32.to_be_bytes())).await.unwrap();
        }
    };
    let reading = async {
        loop {
            let mut head = [0; 9];
            reading.read_exact(&mut head).await.unwrap();
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            reading.read_exact(&mut vec![0; length]).await.unwrap();
            taken += if head[3] == DATA { length } else { 0 };
            if head[3] == DATA && head[4] & 1 == 1 {
                return;
            }
        }
    };
    timeout(LONG, async { tokio::join!(taking, reading) }).await.expect("all of it");
    assert!(taken > 200_000, "{taken}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_http_2_that_is_refused_before_its_body_has_come_is_answered_without_a_reset() {
    let open = Running::with_limits(short()).await;
    let guarded = Running::with_access("roles: {}\nusers: []\n").await;
    let missing = "/apis/none.example/v1/things";
    for (running, path, host, expected) in [
        (&guarded, &*orders("a"), "localhost", "401"),
        (&open, &orders("a"), "evil.example", "403"),
        (&open, missing, "localhost", "404"),
        (&open, "/livez", "localhost", "only GET"),
    ] {
        for length in [90, 60_000] {
            let (mut reading, mut writing) = running.connect().await.into_split();
            let begin = [PREFACE, &frame(SETTINGS, 0, 0, &[]), &frame(HEADERS, 4, 1, &post(path, host))].concat();
            writing.write_all(&begin).await.unwrap();
            // A server that does not wait for the body has refused the request by then.
            tokio::time::sleep(Duration::from_millis(100)).await;
            let parts = vec![b'x'; length];
            let parts = parts.chunks(10_000).map(|part| frame(DATA, 0, 1, part)).collect::<Vec<_>>();
            let rest = [parts.concat(), frame(DATA, 1, 1, &[]), frame(PING, 0, 0, &[7; 8])];
            writing.write_all(&rest.concat()).await.unwrap();
            let (mut answer, mut is_whole, mut is_pinged) = (Vec::new(), false, false);
            while !(is_whole && is_pinged) {
                let mut head = [0; 9];
                timeout(LONG, reading.read_exact(&mut head)).await.expect("an answer").unwrap();
                let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
                reading.read_exact(&mut payload).await.unwrap();
                assert_ne!(head[3], RESET, "{expected}, {length} bytes: {payload:?}");
                is_pinged |= head[3] == PING && head[4] & 1 == 1;
                is_whole |= head[3] == DATA && head[4] & 1 == 1;
                answer.extend(if head[3] == DATA { payload } else { Vec::new() });
            }
            let answer = String::from_utf8(answer).unwrap();
            assert!(answer.contains(expected), "{expected}, {length} bytes: {answer}");
        }
        running.assert_serves_on().await;
    }
}
