//! Sweeps convert every record once or say why not, and lose nothing.

use std::{collections::BTreeMap, sync::Arc};

use wheelwright_repository::{
    Accepted, Collection, Loss, Repository, RepositoryError, SweepError, SweepOptions, SweepProgress, SweepStatus,
    View, Write,
};
use wheelwright_store::{Change, Cursor, Key, Memory, Prefix, Store};

use crate::{
    at_hub::example_at,
    support::{name, served_from},
};

/// The orders of a store, with a version as the hub.
fn orders_at(store: &Memory, hub: &str) -> Collection {
    let repository = Repository::new(Arc::new(store.clone()), example_at("orders", hub));
    repository.kinds().next().unwrap()
}

fn v1(number: usize) -> String {
    format!(
        r#"{{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{{"name":"o{number}"}},
        "spec":{{"city":"Ulm","coupon":"C{number}","qty":{number},"lines":[{{"sku":"B-{number}","gift":true}}]}}}}"#
    )
}

async fn create(orders: &Collection, count: usize) {
    for number in 0..count {
        orders
            .create(&name(&format!("shop/o{number:05}")), Write::document("v1", v1(number).as_bytes()))
            .await
            .unwrap();
    }
}

async fn sweep(orders: &Collection) -> SweepStatus {
    orders.sweep(&SweepOptions::default(), |_| ()).await.unwrap()
}

async fn sweep_back(orders: &Collection) -> SweepStatus {
    orders.sweep(&SweepOptions { back: true, ..SweepOptions::default() }, |_| ()).await.unwrap()
}

/// What every version shows of every document.
async fn shown(orders: &Collection, versions: &[&str]) -> BTreeMap<(String, String), String> {
    let mut shown = BTreeMap::new();
    for version in versions {
        let mut page = Default::default();
        loop {
            let listed = orders.list(None, page, View::Version(version)).await.unwrap();
            for document in listed.items.into_iter().map(Result::unwrap) {
                let mut json: serde_json::Value = serde_json::from_slice(&document.json).unwrap();
                json["metadata"]["resourceVersion"] = "".into();
                let metadata = (document.metadata, document.origin);
                shown.insert((document.name.to_string(), (*version).to_owned()), format!("{json} {metadata:?}"));
            }
            let Some(next) = listed.next else { break };
            page = wheelwright_store::PageRequest { limit: None, after: Some(next) };
        }
    }
    shown
}

/// How often each record was written after a moment.
async fn writes_since(store: &Memory, from: &Cursor) -> BTreeMap<String, usize> {
    let mut watch = store.watch(&Prefix::new("shop.example.com/Order").unwrap(), from).await.unwrap();
    let mut writes = BTreeMap::new();
    let marker = Key::new("shop.example.com/Order/end/end").unwrap();
    store.create(&marker, b"{}".to_vec()).await.unwrap();
    loop {
        let event = watch.next().await.unwrap();
        if event.key == marker {
            let revision = event.revision;
            store.delete(&marker, &revision).await.unwrap();
            return writes;
        }
        assert!(matches!(event.change, Change::Replaced(_) | Change::Created(_)));
        *writes.entry(event.key.to_string()).or_default() += 1;
    }
}

#[tokio::test]
async fn every_record_is_converted_once_and_every_version_reads_what_it_read() {
    let store = Memory::new();
    let old = orders_at(&store, "v1");
    create(&old, 1234).await;
    let new = orders_at(&store, "v3");
    let before = shown(&old, &["v1", "v2", "v3"]).await;
    let plan = new.sweep_plan().await.unwrap();
    assert_eq!((plan.total, plan.at_hub, plan.problems.count), (1234, 0, 0));
    assert_eq!(
        plan.at_others.iter().map(|(version, count)| (version.as_str(), *count)).collect::<Vec<_>>(),
        [("v1", 1234)]
    );
    assert_eq!(new.verify().await.unwrap().problems.count, 1234);

    let moment = store.now().await.unwrap();
    let status = sweep(&new).await;
    assert_eq!((status.counts.done, status.counts.converted, status.counts.unchanged), (1234, 1234, 0));
    assert!(status.finished_at.is_some() && status.open_portions == 0 && status.problems.is_empty());
    assert_eq!(new.sweep_status().await.unwrap(), Some(status));
    assert!(writes_since(&store, &moment).await.values().all(|writes| *writes == 1));
    assert_eq!(shown(&new, &["v1", "v2", "v3"]).await, before);
    assert_eq!(new.verify().await.unwrap().problems, Default::default());

    // Once is enough.
    let moment = store.now().await.unwrap();
    let again = sweep(&new).await;
    assert_eq!((again.run, again.counts.converted, again.counts.unchanged), (2, 0, 1234));
    assert!(writes_since(&store, &moment).await.is_empty());
}

#[tokio::test]
async fn swept_forward_and_written_and_swept_back_old_versions_read_what_they_read() {
    let store = Memory::new();
    let (old, new) = (orders_at(&store, "v1"), orders_at(&store, "v3"));
    create(&old, 20).await;
    let untouched = shown(&old, &["v1", "v2", "v3"]).await;
    sweep(&new).await;
    for number in 0..10 {
        let patch = br#"{"spec":{"delivery":{"country":"DE"},"priority":"high"}}"#;
        new.patch(&name(&format!("shop/o{number:05}")), Write::merge_patch("v3", patch)).await.unwrap();
    }
    let written = shown(&new, &["v1", "v2", "v3"]).await;
    sweep_back(&old).await;
    assert_eq!(shown(&old, &["v1", "v2", "v3"]).await, written);
    assert_eq!(old.verify().await.unwrap().problems, Default::default());
    let first_half = |(name, version): &(String, String)| version == "v1" && **name < *"shop/o00010";
    let spec = |text: &String| text.split(" (Metadata").next().unwrap().split("\"spec\"").nth(1).unwrap().to_owned();
    for (place, text) in &untouched {
        match first_half(place) {
            true => assert_eq!(spec(&written[place]), spec(text), "{place:?}"),
            false if *place.0 >= *"shop/o00010" => assert_eq!(&written[place], text, "{place:?}"),
            false => {}
        }
    }
    // There and back again is what was there.
    let bytes = |store: &Memory| {
        let store = store.clone();
        async move { store.list(&Prefix::new("shop.example.com/Order").unwrap(), Default::default()).await.unwrap() }
    };
    let values =
        |page: wheelwright_store::Page| page.items.into_iter().map(|(_, stored)| stored.value).collect::<Vec<_>>();
    let there = values(bytes(&store).await);
    sweep(&new).await;
    sweep_back(&old).await;
    assert_eq!(values(bytes(&store).await), there);
}

#[tokio::test]
async fn what_cannot_be_converted_is_named_and_everything_else_is_converted() {
    let store = Memory::new();
    let (old, new) = (orders_at(&store, "v1"), orders_at(&store, "v3"));
    create(&old, 3).await;
    let put = |key: &str, value: &str| {
        let (store, key, value) =
            (store.clone(), Key::new(format!("shop.example.com/Order/{key}")).unwrap(), value.as_bytes().to_vec());
        async move { store.create(&key, value).await.unwrap() }
    };
    put("shop/a-damaged", "{").await;
    put("shop/b-newer", r#"{"$wheelwright":9}"#).await;
    put(
        "shop/c-unknown",
        r#"{"$wheelwright":1,"hub":"v9","origin":{"createdWith":"v1","writtenWith":"v1"},"metadata":{},"object":{}}"#,
    )
    .await;
    put("shop/z-adopted", &v1(7)).await;
    let plan = new.sweep_plan().await.unwrap();
    assert_eq!((plan.problems.count, plan.adopted.len()), (3, 1));
    let status = sweep(&new).await;
    assert_eq!((status.counts.done, status.counts.converted, status.problems.count), (7, 4, 3));
    let mut named: Vec<(&str, &str)> =
        status.problems.listed.iter().map(|problem| (&*problem.name, &*problem.why)).collect();
    named.sort();
    assert_eq!(
        named.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["shop/a-damaged", "shop/b-newer", "shop/c-unknown"]
    );
    assert!(named[2].1.contains("shape of v9"), "{}", named[2].1);
    assert_eq!(status.problems, new.sweep_status().await.unwrap().unwrap().problems);
    let adopted = new.get(&name("shop/z-adopted"), View::Version("v1")).await.unwrap().unwrap();
    assert_eq!(adopted.metadata.uid, None, "a sweep shows nothing that was not there");
    assert_eq!(adopted.metadata.modified_at, None);
    assert_eq!(new.verify().await.unwrap().problems.count, 3);
}

#[tokio::test]
async fn all_that_cannot_be_converted_are_listed_and_a_hundred_in_the_ledger() {
    let store = Memory::new();
    for number in 0..700 {
        let key = Key::new(format!("shop.example.com/Order/shop/o{number:05}")).unwrap();
        store.create(&key, b"{".to_vec()).await.unwrap();
    }
    let orders = orders_at(&store, "v3");
    let swept = sweep(&orders).await.problems;
    let in_ledger = orders.sweep_status().await.unwrap().unwrap().problems;
    assert_eq!((in_ledger.count, in_ledger.listed.len()), (700, 100));
    let (planned, verified) = (orders.sweep_plan().await.unwrap().problems, orders.verify().await.unwrap().problems);
    let needed = orders.needs("v1").await.unwrap().records;
    for problems in [swept, planned, verified, needed] {
        assert_eq!((problems.count, problems.listed.len()), (700, 700));
        assert!(problems.listed.is_sorted_by(|one, other| one.name < other.name), "each is listed once");
    }
}

#[tokio::test]
async fn a_sweep_that_was_left_is_gone_on_with_and_several_share_the_work() {
    let store = Memory::new();
    let (old, new) = (orders_at(&store, "v1"), orders_at(&store, "v3"));
    create(&old, 3000).await;
    let moment = store.now().await.unwrap();
    // Each is dropped in the middle of it.
    for _ in 0..5 {
        let mut seen = 0;
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let mut stop = Some(stop);
        let told = |_| {
            seen += 1;
            if seen == 300 {
                stop.take().unwrap().send(()).unwrap();
            }
        };
        let options = SweepOptions { concurrency: 8, ..SweepOptions::default() };
        tokio::select! {
            biased;
            _ = stopped => {}
            _ = new.sweep(&options, told) => panic!("it is not done yet"),
        }
    }
    let left = new.sweep_status().await.unwrap().unwrap();
    assert_eq!((left.run, left.finished_at), (1, None));
    let options = SweepOptions::default();
    let (one, other) = (orders_at(&store, "v3"), orders_at(&store, "v3"));
    let (one, other) = tokio::join!(one.sweep(&options, |_| ()), other.sweep(&options, |_| ()));
    for status in [one.unwrap(), other.unwrap()] {
        assert!(status.finished_at.is_some());
        assert_eq!((status.run, status.counts.done, status.problems.count), (1, 3000, 0));
    }
    let writes = writes_since(&store, &moment).await;
    assert_eq!(writes.len(), 3000);
    assert!(writes.values().all(|writes| *writes == 1));
    assert!(new.verify().await.unwrap().problems.is_empty());
}

/// What a sweep tells its progress to, and what hears of it once a hundred records were looked at.
fn under_way() -> (impl FnMut(SweepProgress) + Send, tokio::sync::oneshot::Receiver<()>) {
    let (start, started) = tokio::sync::oneshot::channel();
    let (mut start, mut seen) = (Some(start), 0);
    let told = move |_| {
        seen += 1;
        if seen == 100 {
            start.take().unwrap().send(()).unwrap();
        }
    };
    (told, started)
}

#[tokio::test]
async fn a_sweep_with_another_hub_takes_the_place_of_the_one_that_runs() {
    let store = Memory::new();
    let (old, new) = (orders_at(&store, "v1"), orders_at(&store, "v3"));
    create(&old, 2000).await;
    let options = SweepOptions { concurrency: 1, back: true, ..SweepOptions::default() };
    let (told, started) = under_way();
    let back = async {
        started.await.unwrap();
        old.sweep(&options, |_| ()).await
    };
    let (forth, back) = tokio::join!(new.sweep(&options, told), back);
    let Err(RepositoryError::Sweep(SweepError::TakenOver(hub))) = forth else { panic!("{forth:?}") };
    assert_eq!(hub.as_str(), "v1");
    assert!(back.unwrap().finished_at.is_some());
}

/// However slowly it writes: what it would have written after it was displaced nobody would convert again.
#[tokio::test]
async fn a_sweep_that_was_displaced_writes_nothing_more() {
    let store = Memory::new();
    let (old, new) = (orders_at(&store, "v1"), orders_at(&store, "v3"));
    create(&old, 2000).await;
    let slowly = SweepOptions { rate: std::num::NonZeroU32::new(300), ..SweepOptions::default() };
    let (told, started) = under_way();
    let back = async {
        started.await.unwrap();
        let options = SweepOptions { back: true, ..SweepOptions::default() };
        let status = old.sweep(&options, |_| ()).await;
        (status, old.verify().await.unwrap())
    };
    let (forth, (back, done)) = tokio::join!(new.sweep(&slowly, told), back);
    assert!(matches!(forth, Err(RepositoryError::Sweep(SweepError::TakenOver(_)))), "{forth:?}");
    assert!(back.unwrap().finished_at.is_some());
    assert!(done.problems.is_empty(), "{done:?}");
    assert!(old.verify().await.unwrap().problems.is_empty(), "nor once the other has ended");
}

#[tokio::test]
async fn an_older_program_brings_nothing_back_unless_that_is_meant() {
    let store = Memory::new();
    let [old, middle, new] = ["v1", "v2", "v3"].map(|hub| orders_at(&store, hub));
    create(&old, 2000).await;
    let goes_back = async |orders: &Collection| match orders.sweep(&SweepOptions::default(), |_| ()).await {
        Err(RepositoryError::Sweep(SweepError::GoesBack { newest, hub })) => format!("{newest} {hub}"),
        other => panic!("{other:?}"),
    };
    let (told, started) = under_way();
    let restarted = async {
        started.await.unwrap();
        goes_back(&middle).await
    };
    let options = SweepOptions { concurrency: 1, ..SweepOptions::default() };
    let (swept, refused) = tokio::join!(new.sweep(&options, told), restarted);
    assert_eq!((swept.unwrap().counts.converted, &*refused), (2000, "v3 v2"));
    // Nor when it is done.
    assert_eq!(goes_back(&old).await, "v3 v1");
    assert_eq!(new.verify().await.unwrap().problems, Default::default());
    assert_eq!(sweep_back(&old).await.counts.converted, 2000);
    assert_eq!(sweep(&middle).await.counts.converted, 2000);
}

#[tokio::test(start_paused = true)]
async fn the_rate_is_not_exceeded() {
    let store = Memory::new();
    let (old, new) = (orders_at(&store, "v1"), orders_at(&store, "v3"));
    create(&old, 100).await;
    let began = tokio::time::Instant::now();
    let options = SweepOptions { concurrency: 16, rate: std::num::NonZeroU32::new(10), back: false };
    let status = new.sweep(&options, |_| ()).await.unwrap();
    assert_eq!(status.counts.converted, 100);
    let took = began.elapsed().as_secs_f64();
    assert!((9.8..10.2).contains(&took), "{took}");
    // What stays as it is does not count.
    let began = tokio::time::Instant::now();
    new.sweep(&options, |_| ()).await.unwrap();
    assert!(began.elapsed().as_secs_f64() < 0.1);
}

#[tokio::test]
async fn a_service_sweeps_in_the_background() {
    let store = Memory::new();
    create(&orders_at(&store, "v1"), 10).await;
    let repository = orders_at(&store, "v3").repository().clone();
    let background = tokio::spawn(async move { repository.sweep(&SweepOptions::default(), |_, _| ()).await });
    assert_eq!(background.await.unwrap().unwrap()[0].counts.converted, 10);
}

#[tokio::test]
async fn progress_ends_where_the_sweep_ends() {
    let store = Memory::new();
    let (old, new) = (orders_at(&store, "v1"), orders_at(&store, "v3"));
    create(&old, 1100).await;
    let mut told = Vec::new();
    new.sweep(&SweepOptions::default(), |progress| told.push((progress.done, progress.of))).await.unwrap();
    assert!(told.is_sorted(), "it never goes back");
    assert_eq!(told.last(), Some(&(1100, 1100)));
}

#[tokio::test]
async fn a_version_is_needed_for_what_only_it_can_do() {
    let store = Memory::new();
    let (old, new) = (orders_at(&store, "v1"), orders_at(&store, "v3"));
    create(&old, 2).await;
    let plain = br#"{"apiVersion":"shop.example.com/v3","kind":"Order","metadata":{"name":"p"},"spec":{"quantity":1}}"#;
    new.create(&name("shop/plain"), Write::document("v3", plain)).await.unwrap();
    let needs = new.needs("v1").await.unwrap();
    assert_eq!((needs.total, needs.stored, needs.origins, needs.hidden, needs.unreadable), (3, 2, 2, 0, 0));
    assert_eq!(
        needs.records.listed[0].why.as_ref(),
        "is stored in the shape of v1; its owner speaks v1, and v1 has no successor"
    );
    sweep(&new).await;
    let needs = new.needs("v1").await.unwrap();
    assert_eq!((needs.stored, needs.origins, needs.hidden), (0, 2, 0), "v2 shows the coupon, too");
    for number in 0..2 {
        let patch = br#"{"spec":{"quantity":99}}"#;
        new.patch(&name(&format!("shop/o{number:05}")), Write::merge_patch("v3", patch)).await.unwrap();
    }
    assert!(new.needs("v1").await.unwrap().is_empty());
    let needs = new.needs("v3").await.unwrap();
    assert!(needs.is_hub && !needs.is_empty());
    assert!(matches!(new.needs("v9").await, Err(RepositoryError::UnknownVersion(_))));
}

#[tokio::test]
async fn a_loss_is_named_with_its_fields_and_can_be_accepted() {
    let crd = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobs.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Job, plural: jobs}
  versions:
  - name: v1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      note: {type: string}, timeout: {type: string},
      args: {type: array, items: {type: object, properties: {name: {type: string}, value: {type: string}}}}}}}}}
  - name: v2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      seconds: {type: integer}, args: {type: object, additionalProperties: {type: string}}}}}}}
"#;
    let changes = "v2: {removed: [spec.note], converted: {spec.timeout: {to: spec.seconds, with: durationSeconds}}, \
        reshaped: [{from: spec.args, to: spec.args, key: name, value: value}]}";
    let catalog = "kinds: [{crd: crd.yaml, changes: changes.yaml, successors: {v1: v2}}]";
    let kinds = served_from(&[("crd.yaml", crd), ("changes.yaml", changes), ("wheelwright.yaml", catalog)]);
    let jobs = Repository::new(Arc::new(Memory::new()), kinds).kinds().next().unwrap();
    for (called, spec) in [
        ("carried", r#"{"timeout":"5s","args":[{"name":"a","value":"x"},{"name":"b","value":"y"}]}"#),
        ("notation", r#"{"timeout":"90m"}"#),
        ("order", r#"{"args":[{"name":"b","value":"x"},{"name":"a","value":"y"}]}"#),
        ("note", r#"{"note":"n","timeout":"90m"}"#),
    ] {
        let document =
            format!(r#"{{"apiVersion":"example.com/v1","kind":"Job","metadata":{{"name":"{called}"}},"spec":{spec}}}"#);
        jobs.create(&name(called), Write::document("v1", document.as_bytes())).await.unwrap();
    }
    let reasons = async |accepted: &[&str]| {
        let accepted: Vec<Accepted> = accepted.iter().map(|name| Accepted::named(name)).collect();
        let needs = jobs.needs_accepting("v1", &accepted).await.unwrap();
        assert_eq!((needs.hidden, needs.spelled, needs.ordered), (1, 2, 1), "accepted losses are counted, too");
        let fields = needs.fields.iter().map(|((loss, field), records)| (*loss, &**field, *records));
        let expected =
            [(Loss::Values, "spec.note", 1), (Loss::Notation, "spec.timeout", 2), (Loss::Order, "spec.args", 1)];
        assert_eq!(fields.collect::<Vec<_>>(), expected);
        assert_eq!(needs.is_empty(), needs.records.is_empty());
        let listed = needs.records.listed.iter().map(|problem| format!("{}: {}", problem.name, problem.why));
        listed.collect::<Vec<_>>()
    };
    let all = [
        "notation: only v1 shows spec.timeout as written",
        "note: only v1 shows spec.note; only v1 shows spec.timeout as written",
        "order: only v1 shows spec.args in this order",
    ];
    assert_eq!(reasons(&[]).await, all);
    assert_eq!(reasons(&["notation", "order"]).await, ["note: only v1 shows spec.note"]);
    assert_eq!(reasons(&["spec.timeout", "spec.note"]).await, [all[2]]);
    assert!(reasons(&["values", "notation", "order"]).await.is_empty());
    for (unknown, meant) in [("spec.nots", Some("spec.note")), ("nothing", None)] {
        let refused = jobs.needs_accepting("v1", &[Accepted::named("order"), Accepted::named(unknown)]).await;
        let Err(RepositoryError::UnknownLoss { name, closest }) = refused else { panic!("{refused:?}") };
        assert_eq!((&*name, closest.as_deref()), (unknown, meant));
    }
}

#[tokio::test]
async fn no_kind_is_had_or_swept_whose_keys_may_be_those_of_another() {
    let kinds = || [example_at("orders", "v1"), example_at("orders", "v3")].into_iter().flatten();
    let is_shared = |error: &RepositoryError| matches!(error, RepositoryError::SharedKeys { .. });
    assert!(Repository::try_new(Arc::new(Memory::new()), kinds()).is_err_and(|error| is_shared(&error)));
    assert!(Repository::try_new(Arc::new(Memory::new()), example_at("orders", "v1")).is_ok());
    let repository = Repository::new(Arc::new(Memory::new()), kinds());
    assert!(repository.kind("Order").is_err_and(|error| is_shared(&error)));
    let refused = repository.sweep(&SweepOptions::default(), |_, _| ()).await;
    assert!(
        matches!(&refused, Err(RepositoryError::Sweep(SweepError::SharedKeys(other))) if **other == *"Order"),
        "{refused:?}"
    );
}

#[test]
fn no_kind_has_keys_where_ledgers_are() {
    let folder = tempfile::tempdir().unwrap();
    let pool = "{swagger: '2.0', info: {title: a, version: v1}, paths: {}, definitions: {Pool: {type: object}}}";
    std::fs::write(folder.path().join("pool.yaml"), pool).unwrap();
    for (name, is_allowed) in [("Pool", true), ("$wheelwright", false)] {
        let kinds = format!("kinds: [{{openapi: {{v1: pool.yaml}}, definition: Pool, kind: {name}}}]");
        std::fs::write(folder.path().join("wheelwright.yaml"), kinds).unwrap();
        let catalog = wheelwright_catalog::Catalog::load(&[folder.path()]).unwrap();
        let declared = &catalog.kinds()[0];
        let kind = wheelwright_evolve::Kind::compile(&declared.declaration, None).0.unwrap();
        assert_eq!(wheelwright_repository::ServedKind::new(kind, declared).is_ok(), is_allowed, "{name}");
    }
}
