//! A connection that is cut at the worst moment: what a writer is told is what happened.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{TcpListener, TcpStream},
};
use wheelwright_store::{ErrorKind, Postgres, PostgresOptions, Store, testing::PostgresServer};

use crate::support::key;

/// Ends the statement; `READ COMMITTED` is another.
const COMMIT: &str = "COMMIT\0";

/// What to do with a connection when the client sends a word, once.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// The word does not arrive.
    Before,
    /// The word arrives, the answer does not.
    After,
    /// Nothing arrives any more, and nobody says so.
    Silence,
}

/// A word, and what to do when it is sent.
type Plan = (&'static [u8], Cut);

/// Stands between a store and the server.
#[derive(Clone, Debug)]
struct Proxy {
    port: u16,
    plan: Arc<Mutex<Option<Plan>>>,
    /// How often a notification was sent. None of them is understood, if any is counted.
    notifications: Option<Arc<AtomicUsize>>,
}

impl Proxy {
    async fn start(server: u16, notifications: Option<Arc<AtomicUsize>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let proxy = Self { port: listener.local_addr().unwrap().port(), plan: Arc::default(), notifications };
        let accepting = proxy.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await.unwrap();
                tokio::spawn(accepting.clone().forward(client, server));
            }
        });
        proxy
    }

    fn address(&self, schema: &str) -> String {
        let server = PostgresServer::shared();
        server.address(schema).replace(&server.port().to_string(), &self.port.to_string())
    }

    fn plan(&self, word: &'static str, cut: Cut) {
        *self.plan.lock().unwrap() = Some((word.as_bytes(), cut));
    }

    fn cut(&self, sent: &[u8]) -> Option<Cut> {
        let mut plan = self.plan.lock().unwrap();
        let (word, cut) = (*plan)?;
        let is_said = sent.windows(word.len()).any(|part| part == word);
        is_said.then(|| {
            *plan = None;
            cut
        })
    }

    /// Makes a database without notifications of the server.
    fn garble(&self, sent: &mut [u8]) {
        let Some(notifications) = &self.notifications else { return };
        let word = b"NOTIFY";
        while let Some(place) = sent.windows(word.len()).position(|part| part == word) {
            sent[place] = b'X';
            notifications.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn forward(self, client: TcpStream, server: TcpStream) {
        let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
            (client.into_split(), server.into_split());
        let answers = tokio::spawn(async move { copy(&mut from_server, &mut to_client).await });
        let mut sent = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from_client.read(&mut sent).await {
            self.garble(&mut sent[..count]);
            match self.cut(&sent[..count]) {
                None => to_server.write_all(&sent[..count]).await.unwrap(),
                Some(Cut::Before) => break,
                Some(Cut::After) => {
                    answers.abort();
                    to_server.write_all(&sent[..count]).await.unwrap();
                    // The server gets to know that nobody listens only after it is done.
                    tokio::time::sleep(Duration::from_millis(300)).await;
                    break;
                }
                Some(Cut::Silence) => {
                    tokio::time::sleep(Duration::from_secs(600)).await;
                }
            }
        }
        answers.abort();
    }
}

async fn store_behind_proxy(schema: &str) -> (Postgres, Proxy) {
    let server = PostgresServer::shared();
    let proxy = Proxy::start(server.port(), None).await;
    // Without hints, the only statements are those that the test knows of.
    let options = PostgresOptions { hints: false, patience: Duration::from_secs(1), ..PostgresOptions::default() };
    (Postgres::connect(&proxy.address(schema), options).await.unwrap(), proxy)
}

#[tokio::test]
async fn a_write_that_was_not_sent_as_a_whole_is_sent_again() {
    let (store, proxy) = store_behind_proxy("cut_early").await;
    for (number, cut) in [Cut::Before, Cut::After].into_iter().enumerate() {
        proxy.plan("FOR UPDATE", cut);
        store.create(&key(format!("k/{number}")), b"v".to_vec()).await.unwrap();
    }
}

#[tokio::test]
async fn a_read_is_asked_again() {
    let (store, proxy) = store_behind_proxy("cut_read").await;
    store.create(&key("k"), b"v".to_vec()).await.unwrap();
    for cut in [Cut::Before, Cut::After] {
        proxy.plan("WHERE key = $1", cut);
        assert_eq!(store.get(&key("k")).await.unwrap().unwrap().value, b"v");
    }
}

#[tokio::test]
async fn a_write_whose_answer_is_lost_is_not_known() {
    let (store, proxy) = store_behind_proxy("cut_late").await;
    for (name, cut, is_there) in [("before", Cut::Before, false), ("after", Cut::After, true)] {
        proxy.plan(COMMIT, cut);
        let error = store.create(&key(name), b"v".to_vec()).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Unknown, "{error}");
        // The next transaction waits for the end of the one that is lost.
        store.create(&key(format!("next/{name}")), vec![]).await.unwrap();
        assert_eq!(store.get(&key(name)).await.unwrap().is_some(), is_there, "{name}");
    }
}

/// A server that takes its time to commit, which is when a read does not see yet what it will have committed.
#[tokio::test]
async fn a_write_that_is_not_known_has_ended_when_that_is_said() {
    let server = PostgresServer::start().unwrap();
    let bare = crate::support::bare_of(&server).await;
    let options = PostgresOptions { hints: false, patience: Duration::from_secs(12), ..PostgresOptions::default() };
    let store = Postgres::connect(&server.address("slow"), options).await.unwrap();
    // Commits wait for a standby that never comes.
    bare.batch_execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'").await.unwrap();
    bare.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    let written = tokio::spawn({
        let store = store.clone();
        async move { store.create(&key("k"), b"v".to_vec()).await }
    });
    // The store has waited for the commit for three quarters of its patience, and waits for its end for the rest.
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(!written.is_finished());
    assert_eq!(store.get(&key("k")).await.unwrap(), None);
    bare.batch_execute("ALTER SYSTEM RESET synchronous_standby_names").await.unwrap();
    bare.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    assert_eq!(written.await.unwrap().unwrap_err().kind(), &ErrorKind::Unknown);
    assert_eq!(store.get(&key("k")).await.unwrap().unwrap().value, b"v");
}

#[tokio::test]
async fn silence_is_not_waited_for_forever() {
    let (store, proxy) = store_behind_proxy("silence").await;
    proxy.plan(COMMIT, Cut::Silence);
    assert_eq!(store.create(&key("a"), vec![]).await.unwrap_err().kind(), &ErrorKind::Unknown);
    proxy.plan("WHERE key = $1", Cut::Silence);
    assert_eq!(store.get(&key("a")).await.unwrap_err().kind(), &ErrorKind::Unavailable);
    assert_eq!(store.get(&key("a")).await.unwrap(), None);
}

/// Its machine is gone, say, and nobody told the server.
#[tokio::test]
async fn a_writer_that_stands_still_does_not_stop_the_others() {
    let (store, proxy) = store_behind_proxy("still").await;
    proxy.plan(COMMIT, Cut::Silence);
    assert_eq!(store.create(&key("a"), vec![]).await.unwrap_err().kind(), &ErrorKind::Unknown);
    let other = crate::support::store("still").await;
    other.create(&key("a"), vec![]).await.unwrap();
}

#[tokio::test]
async fn a_database_without_notifications_takes_every_write_and_is_asked_once() {
    let asked = Arc::new(AtomicUsize::new(0));
    let proxy = Proxy::start(PostgresServer::shared().port(), Some(asked.clone())).await;
    let store = Postgres::connect(&proxy.address("untold"), PostgresOptions::default()).await.unwrap();
    // More than one transaction takes, so that the next begins as soon as the first has ended.
    let writes: Vec<_> = (0..2000)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.create(&key(format!("k/{number}")), vec![]).await })
        })
        .collect();
    for write in writes {
        write.await.unwrap().unwrap();
    }
    let told = async {
        while asked.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), told).await.expect("a notification");
    tokio::time::sleep(Duration::from_millis(200)).await;
    store.create(&key("last"), vec![]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}
