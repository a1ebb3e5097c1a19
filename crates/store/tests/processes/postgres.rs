//! Processes on one PostgreSQL server, which has its own troubles.

use std::time::{Duration, Instant};

use wheelwright_store::{ErrorKind, Key, Prefix, testing::PostgresServer};

use crate::{kills, proxy::Proxy, scenarios, worker};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_on_one_server_agree() {
    scenarios::agree(&PostgresServer::shared().address("agree")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_survives_processes_that_are_killed() {
    scenarios::survive_kills(&PostgresServer::shared().address("client_kills"), kills()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_survive_a_server_that_is_killed() {
    let mut server = PostgresServer::start().unwrap();
    // One sync instead of one for each of a thousand files that were not touched, every time.
    server.set(&["recovery_init_sync_method=syncfs"]);
    // Nobody holds the port of a server that is not running, so it may come back on another one.
    let proxy = Proxy::start(server.port());
    let address = proxy.address(&server.address("server_kills"), server.port());
    scenarios::survive_trouble(&address, &address, kills(), || {
        server.kill();
        proxy.refuse();
        server.resume().unwrap();
        proxy.accept(server.port());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_survive_connections_that_are_cut() {
    let server = PostgresServer::shared();
    let proxy = Proxy::start(server.port());
    let safe = server.address("cut");
    scenarios::survive_trouble(&proxy.address(&safe, server.port()), &safe, kills(), || proxy.cut()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_cannot_be_reached_is_unavailable_until_it_can() {
    let server = PostgresServer::shared();
    let proxy = Proxy::start(server.port());
    let store = worker::open(&proxy.address(&server.address("refused"), server.port())).await.unwrap();
    let (one, two) = (Key::new("kind/one").unwrap(), Key::new("kind/two").unwrap());
    let revision = store.create(&one, b"value".to_vec()).await.unwrap();
    let mut watch = store.watch(&Prefix::all(), &store.now().await.unwrap()).await.unwrap();

    proxy.refuse();
    let began = Instant::now();
    for _ in 0..3 {
        let error = store.get(&one).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable, "a get: {error}");
        let error = store.create(&two, b"value".to_vec()).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable, "a create: {error}");
        let error = store.health().await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable, "a health check: {error}");
    }
    assert!(began.elapsed() < Duration::from_secs(20), "errors come soon: {:?}", began.elapsed());

    proxy.accept(server.port());
    let began = Instant::now();
    while let Err(error) = store.health().await {
        assert!(error.is_passing() && began.elapsed() < Duration::from_secs(20), "no recovery: {error}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(store.get(&one).await.unwrap().map(|stored| stored.revision), Some(revision));
    assert_eq!(store.get(&two).await.unwrap(), None, "what was refused was not done");
    store.create(&two, b"value".to_vec()).await.unwrap();
    let event = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            match watch.next().await {
                Ok(event) => return event,
                Err(error) => {
                    assert!(error.is_passing(), "{error}");
                    watch = store.watch(&Prefix::all(), &watch.cursor()).await.unwrap();
                }
            }
        }
    });
    assert_eq!(event.await.expect("the watch goes on").key, two);
}
