//! Continuations and cursors that a store never gave, or gave long ago.

use super::client::{Client, Context, Diary, key, prefix};
use crate::{Continuation, Cursor, ErrorKind, PageRequest, Prefix};

/// Texts that no store gives as a token.
fn nonsense() -> Vec<String> {
    let short =
        ["", " ", "\u{0}", "nonsense", "-1", "1.5", "1e3", "0x1", "\u{1f600}", "/", "//", "../kind/1", "' OR 1=1 --"];
    let long = ["9".repeat(40), "x".repeat(100_000), "/".repeat(100_000)];
    short.map(str::to_owned).into_iter().chain(long).collect()
}

async fn filled(client: &Client) -> Diary {
    let mut diary = Diary::new(client.clone());
    for name in ["kind/1", "kind/2", "kind/3", "other/1", "other/2", "other/3"] {
        diary.create(&key(name), b"").await;
    }
    diary
}

pub(super) async fn a_continuation_of_somebody_else_is_refused(context: Context) {
    let client = context.client().await;
    filled(&client).await;
    let kind = prefix("kind");
    let first = client.first_page(&kind, 1).await;
    let good = first.next.expect("a list of three values, one a page, goes on after the first");
    let altered = ["x", "\u{0}"].map(|end| format!("{end}{good}"));
    for text in nonsense().into_iter().chain(altered).chain([first.cursor.as_str().to_owned()]) {
        let request = PageRequest { limit: None, after: Some(Continuation::new(text.clone())) };
        let answer = client.page(&kind, &request).await.map(drop);
        assert_eq!(answer, Err(ErrorKind::BadToken), "a list from the continuation {text:.40?}");
    }
    let request = PageRequest { limit: None, after: Some(good.clone()) };
    let answer = client.page(&prefix("other"), &request).await.map(drop);
    assert_eq!(answer, Err(ErrorKind::BadToken), "a continuation of the prefix \"kind/\" for \"other/\"");
    client.page(&kind, &request).await.expect("the continuation still holds where it belongs");
}

pub(super) async fn a_cursor_of_somebody_else_is_refused(context: Context) {
    let client = context.client().await;
    filled(&client).await;
    let good = client.now().await;
    let altered = ["x", "-", "\u{0}"].map(|begin| format!("{begin}{good}"));
    let next = client.first_page(&prefix("kind"), 1).await.next.expect("the list goes on after the first of three");
    for text in nonsense().into_iter().chain(altered).chain([next.as_str().to_owned()]) {
        let answer = client.try_watch(&Prefix::all(), &Cursor::new(text.clone())).await.map(drop);
        assert_eq!(answer, Err(ErrorKind::BadToken), "a watch from the cursor {text:.40?}");
    }
    client.watch(&Prefix::all(), &good).await;
}

pub(super) async fn tokens_hold_after_closing(context: Context) {
    let client = context.client().await;
    let mut diary = filled(&client).await;
    let (kind, last) = (prefix("kind"), key("kind/9"));
    let first = client.first_page(&kind, 1).await;
    let next = Continuation::new(first.next.expect("the list goes on after the first of three").as_str());
    let (noted, now) = (diary.told.len(), Cursor::new(client.now().await.as_str()));
    diary.create(&key("kind/2-new"), b"").await;
    diary.create(&last, b"").await;
    drop(client);

    diary.client = context.client().await;
    let request = PageRequest { limit: None, after: Some(next) };
    let page = diary.client.page(&kind, &request).await.expect("a continuation of before the store was closed");
    let names: Vec<&str> = page.items.iter().map(|(key, _)| key.as_str()).collect();
    if diary.client.guarantees().consistent_lists {
        assert_eq!(names, ["kind/2", "kind/3"], "the rest of a list that began before the store was closed");
    }
    let events = diary.client.watch(&kind, &now).await.take(2).await;
    diary.assert_told(events, &kind, noted, "a watch from a cursor of before the store was closed");
}
