//! Requests: the input is the head of one in the lines of HTTP, an empty line, and its body. Whatever it asks for, it is
//! answered, and never with a fault of the server.

use std::{cell::RefCell, path::Path, sync::Arc, time::Duration};

use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};
use wheelwright_catalog::Catalog;
use wheelwright_document::{Arena, Decode};
use wheelwright_evolve::Kind;
use wheelwright_repository::{Repository, ServedKind};
use wheelwright_server::fuzzing::{Unbound, read_access};
use wheelwright_store::{Memory, Store};

/// The cause that is told with a revision that is yet to come.
const EARLY: &[u8] = b"ResourceVersionTooLarge";

/// A server whose store remembers all that was ever in it, so that it is replaced now and then.
struct Answering {
    runtime: Runtime,
    server: Unbound,
    inputs: usize,
}

thread_local! {
    static ANSWERING: RefCell<Option<Answering>> = const { RefCell::new(None) };
}

/// Makes a request of a server in both dialects.
pub fn serve(input: &[u8]) {
    let Some(request) = request(input) else { return };
    ANSWERING.with_borrow_mut(|answering| {
        if answering.as_ref().is_none_or(|answering| answering.inputs >= 500) {
            *answering = None;
        }
        let answering = answering.get_or_insert_with(|| Answering {
            // Nobody waits for watches to end: the time that they take is over at once.
            runtime: Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime"),
            server: Unbound::new(repository()),
            inputs: 0,
        });
        answering.inputs += 1;
        let line = format!("{} {}", request.method(), request.uri());
        let answer = answering.runtime.block_on(async {
            timeout(Duration::from_secs(24 * 60 * 60), answering.server.answer(request)).await.expect("an answer")
        });
        // Kubernetes calls it a timeout if somebody knows a revision that is yet to come.
        let is_early = answer.status() == 504 && answer.body().windows(EARLY.len()).any(|words| words == EARLY);
        let is_fault = answer.status().is_server_error() && !is_early;
        assert!(!is_fault, "{line}: {} {:?}", answer.status(), answer.body());
        let is_json = answer.headers().get("content-type").is_some_and(|sort| sort == "application/json");
        let is_stream = line.contains("watch");
        if is_json && !is_stream && !answer.body().is_empty() {
            let limits = Decode { max_bytes: usize::MAX, ..Decode::default() };
            let read = limits.decode(answer.body(), &Arena::new()).is_ok();
            assert!(read, "{line}: {:?}", answer.body());
        }
    });
}

/// Reads an access file.
pub fn access(input: &[u8]) {
    if let Err(error) = read_access(input) {
        assert!(!error.to_string().is_empty());
    }
}

/// What a server would be given; none if HTTP itself is broken.
fn request(input: &[u8]) -> Option<http::Request<Vec<u8>>> {
    let end = input.windows(2).position(|pair| pair == b"\n\n")?;
    let mut lines = input[..end].split(|byte| *byte == b'\n');
    let mut words = lines.next()?.split(|byte| *byte == b' ');
    let mut builder = http::Request::builder().method(words.next()?).uri(words.next()?);
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        builder = builder.header(&line[..colon], line[colon + 1..].trim_ascii());
    }
    builder.body(input[end + 2..].to_vec()).ok()
}

fn repository() -> Repository {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/server/tests/abuse/shop");
    let catalog = Catalog::load(&[folder]).expect("a catalog");
    let kinds = catalog.kinds().iter().map(|declared| {
        let (kind, _) = Kind::compile(&declared.declaration, None);
        ServedKind::new(kind.expect("there are versions"), declared).expect("a name for keys")
    });
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    Repository::new(store, kinds.collect::<Vec<_>>())
}
