//! A network that swallows everything and ends nothing: each call fails after the patience, and all goes on afterwards.

use std::{
    net::Ipv4Addr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    time::timeout,
};
use wheelwright_store::{ErrorKind, PageRequest, Postgres, PostgresOptions, Prefix, Store, testing::PostgresServer};

use crate::support::{key, store};

const PATIENCE: Duration = Duration::from_secs(2);

/// Stands between a store and the server. Connections that it has swallowed stay open, and nothing comes through them again.
struct Proxy {
    port: u16,
    /// How often it fell silent, and whether it is now.
    silence: Arc<watch::Sender<(usize, bool)>>,
}

impl Proxy {
    async fn start(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let silence = Arc::new(watch::Sender::new((0, false)));
        let silenced = silence.clone();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut silenced = silenced.subscribe();
                tokio::spawn(async move {
                    let (times, is_silent) = *silenced.borrow_and_update();
                    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await.unwrap();
                    if !is_silent {
                        tokio::select! {
                            _ = copy_bidirectional(&mut client, &mut server) => return,
                            _ = silenced.wait_for(|(now, _)| *now > times) => {}
                        }
                    }
                    // Both ends stay open until the test is over.
                    std::future::pending::<()>().await;
                });
            }
        });
        Self { port, silence }
    }

    fn address(&self, schema: &str) -> String {
        let server = PostgresServer::shared();
        server.address(schema).replace(&format!(":{}/", server.port()), &format!(":{}/", self.port))
    }

    fn fall_silent(&self) {
        self.silence.send_modify(|(times, is_silent)| (*times, *is_silent) = (*times + 1, true));
    }

    fn speak(&self) {
        self.silence.send_modify(|(_, is_silent)| *is_silent = false);
    }
}

#[tokio::test]
async fn a_network_that_swallows_everything_costs_each_call_its_patience() {
    let beside = store("silence").await;
    let proxy = Proxy::start(PostgresServer::shared().port()).await;
    let options = PostgresOptions { patience: PATIENCE, ..PostgresOptions::default() };
    let store = Postgres::connect(&proxy.address("silence"), options.clone()).await.unwrap();
    let mut watch = store.watch(&Prefix::all(), &store.now().await.unwrap()).await.unwrap();
    store.create(&key("before"), vec![]).await.unwrap();
    store.get(&key("before")).await.unwrap();
    let mut expected = vec![key("before")];
    proxy.fall_silent();
    let began = Instant::now();
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..20 {
        let (writer, reader, lister) = (store.clone(), store.clone(), store.clone());
        calls.spawn(async move { writer.create(&key(format!("lost/{number}")), vec![]).await.err() });
        calls.spawn(async move { reader.get(&key("before")).await.err() });
        calls.spawn(async move { lister.list(&Prefix::all(), PageRequest::default()).await.err() });
    }
    let (prober, address) = (store.clone(), proxy.address("silence"));
    calls.spawn(async move { prober.health().await.err() });
    calls.spawn(async move { Postgres::connect(&address, options).await.err() });
    let mut slowest = Duration::ZERO;
    while let Some(error) = timeout(10 * PATIENCE, calls.join_next()).await.expect("every call ends") {
        let error = error.unwrap().expect("nothing comes through");
        assert!(matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Unknown), "{error}");
        slowest = slowest.max(began.elapsed());
    }
    // One after the other, they would take twenty times as long.
    assert!(slowest < 5 * PATIENCE, "{slowest:?}");
    beside.create(&key("meanwhile"), vec![]).await.unwrap();
    expected.push(key("meanwhile"));
    proxy.speak();
    let written = async {
        let mut number = 0;
        loop {
            number += 1;
            let name = key(format!("after/{number}"));
            match store.create(&name, vec![]).await {
                Ok(_) => return name,
                Err(error) => assert!(error.is_passing(), "{error}"),
            }
        }
    };
    expected.push(timeout(10 * PATIENCE, written).await.expect("a write succeeds"));
    for expected in expected {
        let event = timeout(10 * PATIENCE, watch.next()).await.expect("the watch goes on").unwrap();
        assert_eq!(event.key, expected);
    }
}
