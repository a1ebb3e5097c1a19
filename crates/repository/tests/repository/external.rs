//! Fields that another system owns are as it has them, with the same defaults as everywhere, and stay out of writes.

use std::sync::Arc;

use serde_json::{Value, json};
use wheelwright_repository::{
    Collection, ExternalSource, Name, Repository, RepositoryError, SourceAnswer, SourceProblem, View, Write,
};
use wheelwright_store::{Memory, PageRequest, Store};

use crate::{
    clusters::{ALPHA, NEW, OLD, Table, clusters, created, entry, merged, plain, repository, shown},
    support::name,
};

const ALL: &str = "[absent, null, \"\"]";

/// A cluster service that has what another repository has.
#[derive(Debug)]
struct Echo(Collection);

impl ExternalSource for Echo {
    fn get<'a>(&'a self, _kind: &'a str, called: &'a Name) -> SourceAnswer<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let document = self.0.get(called, View::Version(OLD)).await?;
            Ok(document.map(|document| document.json))
        })
    }
}

/// What everybody sees of a cluster.
async fn views(clusters: &Collection, called: &str) -> Vec<(Value, usize, u64)> {
    let mut views = Vec::new();
    for view in [View::Version(OLD), View::Version(NEW), View::Hub, View::Origin] {
        let document = clusters.get(&name(called), view).await.unwrap().unwrap();
        let json = serde_json::from_slice(&document.json).unwrap();
        views.push((json, document.divergence.len(), document.metadata.generation));
    }
    views
}

#[tokio::test]
async fn with_a_source_that_answers_what_is_stored_everything_is_as_without_it() {
    let without = plain(Arc::new(Memory::new()));
    let with = repository(Arc::new(Memory::new()), ALL, Arc::new(Echo(without.clone()))).kind("Cluster").unwrap();
    let documents: [(&str, &[u8]); 4] = [
        (NEW, br#"{"properties":{"owner":"ann","size":{"nodes":5},"timeoutSeconds":5400,"dns":{"labels":{"a":""}}}}"#),
        (OLD, br#"{"properties":{"owner":"bob","timeout":"90m","version":"4.16"}}"#),
        (NEW, br#"{"properties":{}}"#),
        (OLD, br#"{}"#),
    ];
    for (position, (version, json)) in documents.into_iter().enumerate() {
        let called = format!("c{position}");
        created(&without, &called, version, json).await;
        created(&with, &called, version, json).await;
        assert_eq!(views(&with, &called).await, views(&without, &called).await, "{called}");
        for (version, owner) in [(NEW, "cid"), (OLD, "dan"), (OLD, "dan")] {
            let patch = json!({"properties": {"owner": owner}}).to_string();
            let patch = Write::merge_patch(version, patch.as_bytes());
            let expected = without.patch(&name(&called), patch).await.unwrap();
            let patched = with.patch(&name(&called), patch).await.unwrap();
            assert_eq!(patched.is_changed, expected.is_changed);
            assert_eq!(views(&with, &called).await, views(&without, &called).await, "{called}");
        }
        for version in [OLD, NEW] {
            let read = with.get(&name(&called), View::Version(version)).await.unwrap().unwrap();
            let back = Write::document(version, &read.json);
            assert!(!with.update(&name(&called), &read.revision, back).await.unwrap().is_changed, "{called} {version}");
        }
    }
}

#[tokio::test]
async fn what_counts_as_missing_has_the_defaults_of_an_absent_field() {
    let nothing: Arc<dyn Store> = Arc::new(Memory::new());
    created(&plain(nothing.clone()), "a", NEW, br#"{"properties":{"owner":"ann","size":{}}}"#).await;
    let absent = plain(nothing);
    let null = json!({"version": null, "nodes": null, "timeout": null, "dns": null});
    let empty = json!({"version": "", "timeout": "", "dns": {"zone": ""}});
    let deep = json!({"dns": {"zone": null, "seconds": null}});
    for (missing, answer) in [
        ("[absent]", Some(json!({}))),
        ("[absent]", None),
        ("[null]", Some(null.clone())),
        ("[null]", Some(deep.clone())),
        ("[\"\"]", Some(empty.clone())),
        (ALL, Some(null)),
        (ALL, Some(deep)),
        (ALL, Some(empty)),
    ] {
        let (_, table, clusters) = merged(missing);
        // The store knows all of them, and that must not show.
        let known = br#"{"properties":{"owner":"ann","release":"4.1","timeoutSeconds":9,"size":{"nodes":9},
            "dns":{"zone":"old","seconds":9}}}"#;
        created(&clusters, "a", NEW, known).await;
        if let Some(answer) = &answer {
            table.set("a", answer.clone());
        }
        for version in [OLD, NEW] {
            let expected = shown(&absent, "a", version).await;
            assert_eq!(shown(&clusters, "a", version).await, expected, "{missing} {answer:?} {version}");
        }
    }
}

#[tokio::test]
async fn what_does_not_count_as_missing_is_a_value_or_no_answer() {
    let (_, table, clusters) = merged("[absent]");
    created(&clusters, "a", NEW, ALPHA).await;
    table.set("a", json!({"version": "", "dns": {"labels": {"kept": ""}}}));
    assert_eq!(shown(&clusters, "a", NEW).await["properties"]["release"], "");
    table.set("a", json!({"version": null}));
    let error = clusters.get(&name("a"), View::Hub).await.unwrap_err().to_string();
    assert!(error.contains("clusterService") && error.contains("properties.version"), "{error}");

    // An entry of a map is no field: what is there is there, however empty.
    let (_, table, clusters) = merged(ALL);
    created(&clusters, "a", NEW, ALPHA).await;
    table.set("a", json!({"dns": {"labels": {"kept": ""}}}));
    assert_eq!(shown(&clusters, "a", NEW).await["properties"]["dns"]["labels"], json!({"kept": ""}));
}

#[tokio::test]
async fn where_the_source_and_the_store_differ_is_told_and_counted() {
    let (store, table) = (Arc::new(Memory::new()), Arc::new(Table::default()));
    let repository = repository(store.clone(), ALL, table.clone());
    let clusters = repository.kind("Cluster").unwrap();
    created(&clusters, "a", NEW, ALPHA).await;
    let counted = || repository.source_counts().next().unwrap().1.diverged;
    let before = counted();
    // The default where the service has none, and its own value where it has one; what is not its own does not count.
    table.set("a", json!({"version": "4.17", "owner": "eve", "colour": "red"}));
    let document = clusters.get(&name("a"), View::Version(NEW)).await.unwrap().unwrap();
    let told: Vec<_> = document.divergence.iter().map(|found| (&*found.source, found.path.as_str())).collect();
    assert_eq!(told, [("clusterService", "properties.version"), ("clusterService", "properties.nodes")]);
    let text = |value: &Option<wheelwright_document::Owned>| format!("{value:?}");
    assert!(text(&document.divergence[0].stored).contains("4.15"), "{:?}", document.divergence);
    assert!(text(&document.divergence[0].external).contains("4.17"), "{:?}", document.divergence);
    assert!(text(&document.divergence[1].stored).contains('5'), "{:?}", document.divergence);
    assert!(text(&document.divergence[1].external).contains('3'), "{:?}", document.divergence);
    assert_eq!(counted() - before, 2);
    let json: Value = serde_json::from_slice(&document.json).unwrap();
    assert_eq!(json["properties"]["owner"], "ann");
    assert_eq!(json["properties"].get("colour"), None);
    // Reading has written nothing.
    assert_eq!(shown(&plain(store), "a", NEW).await["properties"]["size"]["nodes"], 5);
}

#[tokio::test]
async fn customers_do_not_write_what_the_source_owns_however_a_version_spells_it() {
    let (store, table, clusters) = merged(ALL);
    created(&clusters, "a", OLD, br#"{"properties":{"owner":"ann","nodes":5,"timeout":"90m"}}"#).await;
    let at_first = shown(&plain(store.clone()), "a", OLD).await;
    table.set("a", json!({"version": "4.17", "nodes": 7, "timeout": "1h"}));
    for (version, patch) in [
        (NEW, json!({"owner": "bob", "release": "5.0", "size": {"nodes": 1}, "timeoutSeconds": 1})),
        (OLD, json!({"owner": "cid", "version": "5.0", "nodes": null, "timeout": "1s", "dns": {"zone": "z"}})),
    ] {
        let owner = patch["owner"].clone();
        let patch = json!({"properties": patch}).to_string();
        let written = clusters.patch(&name("a"), Write::merge_patch(version, patch.as_bytes())).await.unwrap();
        let answer: Value = serde_json::from_slice(&written.document.json).unwrap();
        assert_eq!(answer, shown(&clusters, "a", version).await, "the answer is what is read");
        let merged = shown(&clusters, "a", OLD).await;
        assert_eq!((&merged["properties"]["nodes"], &merged["properties"]["timeout"]), (&7.into(), &"1h".into()));
        assert_eq!(merged["properties"]["owner"], owner);
        let mut stored = shown(&plain(store.clone()), "a", OLD).await;
        assert_eq!(stored["properties"]["owner"], owner);
        stored["properties"]["owner"] = "ann".into();
        assert_eq!(stored, at_first, "{version}");
    }
    // A patch is of what is shown, and what it says of owned fields alone changes nothing.
    let test = br#"[{"op":"test","path":"/properties/nodes","value":7},
        {"op":"replace","path":"/properties/nodes","value":1}]"#;
    assert!(!clusters.patch(&name("a"), Write::json_patch(OLD, test)).await.unwrap().is_changed);
    // Customers cannot set them to begin with, either; the service can.
    clusters.create(&name("b"), Write::document(NEW, ALPHA)).await.unwrap();
    assert_eq!(shown(&plain(store.clone()), "b", OLD).await["properties"]["nodes"], 3);
    let spelled = br#"{"properties":{"owner":"ann","timeoutSeconds":60}}"#;
    clusters.create(&name("c"), Write::document(NEW, spelled)).await.unwrap();
    assert_eq!(shown(&plain(store.clone()), "c", OLD).await["properties"].get("timeout"), None);
    let patch = Write::merge_patch(NEW, br#"{"properties":{"size":{"nodes":8}}}"#).by_service();
    clusters.patch(&name("b"), patch).await.unwrap();
    assert_eq!(shown(&plain(store), "b", OLD).await["properties"]["nodes"], 8);
}

#[tokio::test]
async fn a_list_asks_for_a_page_at_once() {
    let (_, table, clusters) = merged(ALL);
    for called in ["a", "b", "c"] {
        created(&clusters, called, NEW, ALPHA).await;
    }
    table.set("b", json!({"nodes": 7}));
    table.calls.lock().unwrap().clear();
    let listed = clusters.list(None, PageRequest::default(), View::Version(OLD)).await.unwrap();
    let nodes = listed.items.iter().map(|item| {
        let json: Value = serde_json::from_slice(&item.as_ref().unwrap().json).unwrap();
        json["properties"]["nodes"].clone()
    });
    assert_eq!(nodes.collect::<Vec<_>>(), [3, 7, 3]);
    assert_eq!(*table.calls.lock().unwrap(), [3]);
}

#[tokio::test]
async fn sources_are_registered_as_they_are_declared() {
    let repository = || Repository::new(Arc::new(Memory::new()), clusters(&entry(ALL)));
    let table = || Arc::new(Table::default()) as Arc<dyn ExternalSource>;
    let missing = repository().with_sources([]).unwrap_err();
    assert!(matches!(missing.problem(), SourceProblem::Unregistered), "{missing}");
    assert_eq!(missing.name(), "clusterService");
    let too_many = repository().with_sources([("clusterService", table()), ("other", table())]).unwrap_err();
    assert!(matches!(too_many.problem(), SourceProblem::Undeclared), "{too_many}");
    // Nobody reads without it.
    let clusters = repository().kind("Cluster").unwrap();
    let unread = clusters.create(&name("a"), Write::document(NEW, ALPHA)).await.unwrap_err();
    assert!(matches!(unread, RepositoryError::Source(_)), "{unread}");
}
