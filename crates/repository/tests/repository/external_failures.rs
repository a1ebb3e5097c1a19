//! A system that does not answer, or answers nonsense, fails the read as a whole, by name; and then all goes on.

use std::sync::Arc;

use wheelwright_repository::{Collection, RepositoryError, SourceProblem, View, Write};
use wheelwright_store::{Memory, PageRequest, Store};

use crate::{
    clusters::{ALPHA, Client, Mood, NEW, OLD, Server, created, plain, repository, shown},
    support::name,
};

fn answers(json: &str) -> Mood {
    Mood::Answers(json.as_bytes().to_vec())
}

/// What every way to read fails with.
async fn failures(clusters: &Collection) -> Vec<RepositoryError> {
    let get = clusters.get(&name("a"), View::Version(OLD)).await.unwrap_err();
    let patch = Write::merge_patch(NEW, br#"{"properties":{"owner":"bob"}}"#);
    let write = clusters.patch(&name("a"), patch).await.unwrap_err();
    let list = match clusters.list(None, PageRequest::default(), View::Hub).await {
        Err(error) => error,
        Ok(listed) => listed.items.into_iter().find_map(Result::err).unwrap(),
    };
    vec![get, write, list]
}

#[tokio::test]
async fn a_source_that_fails_fails_the_read_and_nothing_else() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let server = Server::start(answers("{}")).await;
    let closed = {
        let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        gone.local_addr().unwrap().port()
    };
    let repository_at = |port| repository(store.clone(), "[absent, null]", Arc::new(Client { port }));
    let repository = repository_at(server.port);
    let clusters = repository.kind("Cluster").unwrap();
    created(&clusters, "a", NEW, ALPHA).await;
    for mood in [
        Mood::Silent,
        Mood::HangsUp,
        answers("service unavailable"),
        answers("[]"),
        answers(r#"{"properties":{"nodes":"many"}}"#),
        answers(r#"{"properties":{"dns":{"labels":{"a":1}}}}"#),
    ] {
        *server.mood.lock().unwrap() = mood.clone();
        for failure in failures(&clusters).await {
            let RepositoryError::Source(error) = &failure else { panic!("{mood:?}: {failure}") };
            assert_eq!(error.name(), "clusterService");
            let is_unreachable = matches!(error.problem(), SourceProblem::Unreachable(_));
            assert_eq!(is_unreachable, matches!(mood, Mood::Silent | Mood::HangsUp), "{mood:?}: {error}");
        }
    }
    for failure in failures(&repository_at(closed).kind("Cluster").unwrap()).await {
        assert!(failure.to_string().contains("clusterService does not answer"), "{failure}");
    }
    assert!(repository.source_counts().next().unwrap().1.failed >= 12);
    // Nothing was written meanwhile, and who owns nothing elsewhere was never disturbed.
    assert_eq!(shown(&plain(store.clone()), "a", NEW).await["properties"]["owner"], "ann");
    *server.mood.lock().unwrap() = answers(r#"{"properties":{"nodes":6}}"#);
    assert_eq!(shown(&clusters, "a", OLD).await["properties"]["nodes"], 6);
}

#[tokio::test]
async fn a_watch_tells_a_change_once_its_source_answers() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let server = Server::start(answers("{}")).await;
    let client = Arc::new(Client { port: server.port });
    let clusters = repository(store.clone(), "[absent, null]", client).kind("Cluster").unwrap();
    let from = store.now().await.unwrap();
    created(&clusters, "a", NEW, ALPHA).await;
    created(&clusters, "b", NEW, ALPHA).await;
    *server.mood.lock().unwrap() = Mood::Silent;
    let mut watch = clusters.watch(None, &from).await.unwrap();
    for _ in 0..2 {
        assert!(matches!(watch.next(View::Hub).await, Err(RepositoryError::Source(_))));
        assert_eq!(watch.cursor(), from, "nothing is told yet");
    }
    // Dropped while it waits for the source.
    let short = std::time::Duration::from_millis(50);
    assert!(tokio::time::timeout(short, watch.next(View::Hub)).await.is_err());
    *server.mood.lock().unwrap() = answers(r#"{"properties":{"nodes":6}}"#);
    for expected in ["a", "b"] {
        let event = watch.next(View::Version(OLD)).await.unwrap();
        let document = event.document.unwrap();
        assert_eq!(document.name, name(expected));
        let json: serde_json::Value = serde_json::from_slice(&document.json).unwrap();
        assert_eq!(json["properties"]["nodes"], 6);
        assert_eq!(watch.cursor(), event.cursor);
    }
    // What is gone is told as it was stored: its source may have forgotten it.
    let read = clusters.get(&name("a"), View::Hub).await.unwrap().unwrap();
    *server.mood.lock().unwrap() = Mood::Silent;
    clusters.delete(&name("a"), &read.revision).await.unwrap();
    let gone = watch.next(View::Version(OLD)).await.unwrap().document.unwrap();
    let json: serde_json::Value = serde_json::from_slice(&gone.json).unwrap();
    assert_eq!(json["properties"]["nodes"], 5);
}

#[tokio::test]
async fn nothing_is_stored_and_no_change_is_passed_over_for_an_answer_that_makes_no_sense() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let server = Server::start(answers("[]")).await;
    let repository = repository(store.clone(), "[absent, null]", Arc::new(Client { port: server.port }));
    let clusters = repository.kind("Cluster").unwrap();
    let cursor = store.now().await.unwrap();
    let refused = clusters.create(&name("a"), Write::document(NEW, ALPHA)).await;
    assert!(matches!(refused, Err(RepositoryError::Source(_))));
    assert_eq!(store.now().await.unwrap(), cursor);

    created(&plain(store.clone()), "a", NEW, ALPHA).await;
    let mut watch = clusters.watch(None, &cursor).await.unwrap();
    assert!(matches!(watch.next(View::Hub).await, Err(RepositoryError::Source(_))));
    assert_eq!(watch.cursor(), cursor);
    *server.mood.lock().unwrap() = answers("{}");
    assert_eq!(watch.next(View::Hub).await.unwrap().document.unwrap().name, name("a"));
}

#[tokio::test]
async fn what_is_no_object_is_refused_and_not_made_one() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let server = Server::start(answers("{}")).await;
    let repository = repository(store.clone(), "[absent, null]", Arc::new(Client { port: server.port }));
    let clusters = repository.kind("Cluster").unwrap();
    let there = created(&clusters, "a", NEW, ALPHA).await.document.revision;
    let refused = clusters.update(&name("a"), &there, Write::document(NEW, br#"{"properties":"oops"}"#)).await;
    assert!(matches!(refused, Err(RepositoryError::Write(_))), "{refused:?}");
    assert_eq!(shown(&clusters, "a", NEW).await["properties"]["owner"], "ann");
}

#[tokio::test]
async fn what_stands_in_the_place_of_an_object_is_not_taken_for_nothing() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let server = Server::start(answers("{}")).await;
    let repository = repository(store.clone(), "[absent, null]", Arc::new(Client { port: server.port }));
    let clusters = repository.kind("Cluster").unwrap();
    created(&clusters, "a", NEW, ALPHA).await;
    for wrong in [r#"{"properties":"x"}"#, r#"{"properties":7}"#, r#"{"properties":[]}"#, r#"{"properties":false}"#] {
        *server.mood.lock().unwrap() = answers(wrong);
        for failed in failures(&clusters).await {
            assert!(failed.to_string().contains("properties: must be an object"), "{wrong}: {failed}");
        }
    }
    *server.mood.lock().unwrap() = answers(r#"{"properties":null}"#);
    assert_eq!(shown(&clusters, "a", NEW).await["properties"]["owner"], "ann");
}
