//! Lists and watches over what is large, old or gone.

use std::time::Duration;

use tokio::time::{sleep, timeout};
use wheelwright_store::{Change, ErrorKind, Page, PageRequest, Postgres, PostgresOptions, Prefix, Store};

use crate::support::{bare, key, store, store_with};

async fn pages(store: &Postgres, limit: usize) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    loop {
        let after = pages.last().and_then(|page| page.next.clone());
        pages.push(store.list(&Prefix::all(), PageRequest { limit: Some(limit), after }).await.unwrap());
        if pages.last().is_some_and(|page| page.next.is_none()) {
            return pages;
        }
    }
}

fn keys(pages: &[Page]) -> Vec<String> {
    pages.iter().flat_map(|page| &page.items).map(|(key, _)| key.to_string()).collect()
}

#[tokio::test]
async fn a_list_steps_over_history_and_over_what_is_gone() {
    let store = store("steps").await;
    for name in ["a", "b", "c", "d"] {
        let mut revision = store.create(&key(name), vec![]).await.unwrap();
        for number in 0..20 {
            revision = store.replace(&key(name), &revision, vec![number]).await.unwrap();
        }
        if name == "b" || name == "d" {
            store.delete(&key(name), &revision).await.unwrap();
        }
    }
    for limit in [1, 2, 3] {
        let pages = pages(&store, limit).await;
        assert_eq!(keys(&pages), ["a", "c"]);
        assert!(pages.iter().flat_map(|page| &page.items).all(|(_, stored)| stored.value == [19]));
    }
}

#[tokio::test]
async fn pages_have_a_bounded_size_and_one_moment() {
    let store = store("large").await;
    let begin = store.now().await.unwrap();
    let mut names = Vec::new();
    for number in 0..12 {
        let name = format!("k/{number:02}");
        let first = store.create(&key(&name), vec![0; 2 << 20]).await.unwrap();
        store.replace(&key(&name), &first, vec![1; 2 << 20]).await.unwrap();
        names.push(name);
    }
    let first = store.list(&Prefix::all(), PageRequest::default()).await.unwrap();
    assert!((1..=4).contains(&first.items.len()), "{}", first.items.len());
    store.create(&key("k/01x"), vec![]).await.unwrap();
    let rest = store.list(&Prefix::all(), PageRequest { limit: None, after: first.next.clone() }).await.unwrap();
    assert_eq!(rest.cursor, first.cursor);
    let all = pages(&store, 500).await;
    names.insert(2, "k/01x".to_owned());
    assert_eq!(keys(&all), names);
    let mut watch = store.watch(&Prefix::all(), &begin).await.unwrap();
    for number in 2..=26 {
        assert_eq!(watch.next().await.unwrap().revision.as_str(), number.to_string());
    }
}

#[tokio::test]
async fn a_watch_passes_over_many_rows_of_others() {
    let store = store("others").await;
    let begin = store.now().await.unwrap();
    let writes: Vec<_> = (0..2500)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.create(&key(format!("other/{number}")), vec![]).await })
        })
        .collect();
    for write in writes {
        write.await.unwrap().unwrap();
    }
    store.create(&key("mine/1"), b"1".to_vec()).await.unwrap();
    let mut watch = store.watch(&Prefix::new("mine").unwrap(), &begin).await.unwrap();
    let event = watch.next().await.unwrap();
    assert_eq!((event.revision.as_str(), event.change), ("2502", Change::Created(b"1".to_vec())));
    assert_eq!(watch.cursor().as_str(), "2502");
}

#[tokio::test]
async fn what_is_forgotten_is_what_nobody_has_any_more() {
    let store = store("forgets").await;
    let begin = store.now().await.unwrap();
    let first = store.create(&key("kept"), b"1".to_vec()).await.unwrap();
    let gone = store.create(&key("gone"), vec![]).await.unwrap();
    store.compact().await.unwrap();
    store.replace(&key("kept"), &first, b"2".to_vec()).await.unwrap();
    store.delete(&key("gone"), &gone).await.unwrap();
    let middle = store.list(&Prefix::all(), PageRequest::first(1)).await.unwrap();
    store.create(&key("gone"), b"again".to_vec()).await.unwrap();
    store.compact().await.unwrap();
    let after = PageRequest { limit: None, after: Some(wheelwright_store::Continuation::new("5/gone")) };
    for error in [
        store.watch(&Prefix::all(), &begin).await.unwrap_err(),
        store.watch(&Prefix::all(), &middle.cursor).await.unwrap_err(),
        store.list(&Prefix::all(), after).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), &ErrorKind::TooOld);
    }
    assert_eq!(keys(&pages(&store, 10).await), ["gone", "kept"]);
    let rows = bare().await.query_one("SELECT count(*) FROM forgets.log", &[]).await.unwrap();
    assert_eq!(rows.get::<_, i64>(0), 2);
}

/// Waits until a log is forgotten up to a revision.
async fn forgotten(schema: &str, revision: i64) {
    let (bare, statement) = (bare().await, format!("SELECT compacted FROM {schema}.head"));
    let waiting = async {
        while bare.query_one(&statement, &[]).await.unwrap().get::<_, i64>(0) < revision {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(60), waiting).await.expect("it is forgotten");
}

/// Says how long ago, in milliseconds, a row was written.
async fn set_age(schema: &str, revision: i64, age: i64) {
    let statement = format!(
        "UPDATE {schema}.log SET at = (extract(epoch FROM clock_timestamp()) * 1000)::int8 - $1 WHERE revision = $2"
    );
    assert_eq!(bare().await.execute(&statement, &[&age, &revision]).await.unwrap(), 1);
}

#[tokio::test]
async fn what_was_deleted_stays_so_although_clocks_went_wrong() {
    let writer = store("clocks").await;
    let first = writer.create(&key("gone"), vec![1]).await.unwrap();
    let second = writer.replace(&key("gone"), &first, vec![2]).await.unwrap();
    writer.create(&key("kept"), vec![]).await.unwrap();
    for (revision, age) in [(2, 3_600_000), (3, -1500), (4, 3_600_000)] {
        set_age("clocks", revision, age).await;
    }
    let options = PostgresOptions { history: Duration::from_secs(2), ..PostgresOptions::default() };
    let _cleaner = store_with("clocks", options).await;
    forgotten("clocks", 2).await;
    writer.delete(&key("gone"), &second).await.unwrap();
    forgotten("clocks", 5).await;
    assert_eq!(writer.get(&key("gone")).await.unwrap(), None);
    let rows = bare().await.query("SELECT revision FROM clocks.log", &[]).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.get::<_, i64>(0)).collect::<Vec<_>>(), [4]);
}

#[tokio::test]
async fn a_row_from_the_far_future_is_forgotten_like_others() {
    let writer = store("future").await;
    let first = writer.create(&key("k"), vec![1]).await.unwrap();
    writer.replace(&key("k"), &first, vec![2]).await.unwrap();
    for revision in [2, 3] {
        set_age("future", revision, -86_400_000).await;
    }
    let options = PostgresOptions { history: Duration::from_secs(1), ..PostgresOptions::default() };
    let _cleaner = store_with("future", options).await;
    forgotten("future", 3).await;
    assert_eq!(writer.get(&key("k")).await.unwrap().unwrap().value, [2]);
}
