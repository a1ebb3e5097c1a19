//! What protocols ask of the repository beside reading and writing: dry runs, a say in writes, removal, earlier moments.

use std::error::Error;

use wheelwright_document::{FieldPath, Value};
use wheelwright_repository::{
    Collection, FieldError, FieldProblem, Judge, Part, Removal, Removed, RepositoryError, View, Write, WriteError,
};
use wheelwright_schema::ErrorType;
use wheelwright_store::{Cursor, ErrorKind, PageRequest};

use crate::support::{collection, name};

const BOOKS: &[u8] =
    br#"{"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{"name":"books"},"spec":{"qty":3}}"#;

async fn quantity(orders: &Collection, view: View<'_>) -> serde_json::Value {
    let books = orders.get(&name("shop/books"), view).await.unwrap().expect("it is there");
    serde_json::from_slice::<serde_json::Value>(&books.json).unwrap()["spec"]["qty"].clone()
}

#[tokio::test]
async fn a_dry_run_tells_all_and_stores_nothing() {
    let (orders, at) = (collection("orders"), name("shop/books"));
    let tried = orders.create(&at, Write::document("v1", BOOKS).dry_run()).await.unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&tried.document.json).unwrap();
    assert_eq!((&shown["spec"]["qty"], shown["metadata"].get("resourceVersion")), (&3.into(), None));
    assert_eq!(orders.get(&at, View::Hub).await.unwrap(), None);

    let created = orders.create(&at, Write::document("v1", BOOKS)).await.unwrap().document;
    let again = orders.create(&at, Write::document("v1", BOOKS).dry_run()).await.unwrap_err();
    assert_eq!(again.store(), Some(&ErrorKind::Exists));
    let patch = Write::merge_patch("v1", br#"{"spec":{"qty":9}}"#).dry_run();
    for tried in [orders.patch(&at, patch).await.unwrap(), orders.update(&at, &created.revision, patch).await.unwrap()]
    {
        assert_eq!((tried.document.metadata.generation, &tried.document.revision), (2, &created.revision));
        assert!(String::from_utf8_lossy(&tried.document.json).contains(r#""qty":9"#));
    }
    let removal = Removal { is_dry_run: true, ..Removal::default() };
    let (removed, _) = orders.remove(&at, &created.revision, &removal, View::Hub).await.unwrap();
    assert_eq!(removed, Removed::Gone);
    assert_eq!(quantity(&orders, View::Version("v1")).await, 3);
}

#[derive(Debug)]
struct NoNines;

impl Judge for NoNines {
    fn object(&self, document: Value<'_>, before: Option<Value<'_>>) -> Result<(), Box<dyn Error + Send + Sync>> {
        let quantity =
            |document: Value<'_>| document.get("spec").and_then(|spec| spec.get("qty")?.as_number()?.as_i64());
        match (quantity(document), before.and_then(quantity)) {
            (Some(9), before) => Err(format!("nine, after {before:?}").into()),
            _ => Ok(()),
        }
    }

    fn wrong_fields(&self, _: Value<'_>, normal: Value<'_>) -> Vec<FieldError> {
        let is_wrong = normal.get("metadata").and_then(|metadata| metadata.get("labels")).is_some();
        let wrong =
            || FieldError::new(FieldPath::root(), FieldProblem::Demanded(ErrorType::Forbidden, "no labels".into()));
        is_wrong.then(wrong).into_iter().collect()
    }
}

#[tokio::test]
async fn whoever_has_a_say_sees_what_is_wanted_and_what_is_there() {
    let (orders, at) = (collection("orders"), name("shop/books"));
    orders.create(&at, Write::document("v1", BOOKS).judged_by(&NoNines)).await.unwrap();
    let patch = |json: &'static [u8]| Write::merge_patch("v1", json).judged_by(&NoNines);
    match orders.patch(&at, patch(br#"{"spec":{"qty":9}}"#)).await {
        Err(RepositoryError::Write(WriteError::Judged(why))) => assert_eq!(why.to_string(), "nine, after Some(3)"),
        other => panic!("{other:?}"),
    }
    match orders.patch(&at, patch(br#"{"metadata":{"labels":{"a":"b"}},"spec":{"qty":"many"}}"#)).await {
        Err(RepositoryError::Write(WriteError::Fields(errors))) => {
            let paths: Vec<&str> = errors.iter().map(|error| error.path.as_str()).collect();
            assert_eq!(paths, ["spec.qty", "<nil>"], "all that is wrong is told at once");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(quantity(&orders, View::Version("v1")).await, 3);
}

#[tokio::test]
async fn a_removal_says_who_has_to_agree() {
    let (orders, at) = (collection("orders"), name("shop/books"));
    let created = orders.create(&at, Write::document("v1", BOOKS)).await.unwrap().document;
    let wait = Removal { add: &["orphan"], ..Removal::default() };
    let (removed, marked) = orders.remove(&at, &created.revision, &wait, View::Version("v1")).await.unwrap();
    assert_eq!(removed, Removed::Marked(marked.revision.clone()));
    assert_eq!((marked.metadata.generation, &*marked.metadata.finalizers), (2, &["orphan".into()][..]));
    let (removed, same) = orders.remove(&at, &marked.revision, &wait, View::Version("v1")).await.unwrap();
    assert_eq!((removed, same.revision), (Removed::Marked(marked.revision.clone()), marked.revision.clone()));
    let at_once = Removal { drop: &["orphan"], ..Removal::default() };
    let (removed, last) = orders.remove(&at, &marked.revision, &at_once, View::Version("v1")).await.unwrap();
    assert_eq!((removed, last.revision), (Removed::Gone, marked.revision));
    assert_eq!(orders.get(&at, View::Hub).await.unwrap(), None);
}

#[tokio::test]
async fn a_new_document_has_no_status_if_only_its_spec_is_written() {
    let things = collection("orders");
    let sent = br#"{"apiVersion":"shop.example.com/v1","kind":"Order","spec":{"qty":3},"status":{"nonsense":[1]}}"#;
    let created = things.create(&name("shop/books"), Write::document("v1", sent).of(Part::Spec)).await.unwrap();
    assert!(!String::from_utf8_lossy(&created.document.json).contains("status"));
}

#[tokio::test]
async fn what_was_can_be_listed_and_looked_up() {
    let orders = collection("orders");
    for text in ["shop/a", "shop/b", "shop/c"] {
        orders.create(&name(text), Write::document("v1", BOOKS)).await.unwrap();
    }
    let shop = name("shop");
    let then: Cursor = orders.list(Some(&shop), PageRequest::default(), View::Hub).await.unwrap().cursor;
    let patch = Write::merge_patch("v1", br#"{"spec":{"qty":9}}"#);
    let patched = orders.patch(&name("shop/b"), patch).await.unwrap().document;
    orders.create(&name("shop/d"), Write::document("v1", BOOKS)).await.unwrap();

    let listed = async |moment: Option<&Cursor>, after: Option<&str>| {
        let after = after.map(name);
        let after = orders.position(Some(&shop), moment, after.as_ref()).await.unwrap();
        let page = orders.list(Some(&shop), PageRequest { limit: None, after }, View::Version("v1")).await.unwrap();
        let names = page.items.iter().map(|item| item.as_ref().unwrap().name.last().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(listed(Some(&then), None).await, ["a", "b", "c"]);
    assert_eq!(listed(Some(&then), Some("shop/a")).await, ["b", "c"]);
    assert_eq!(listed(None, Some("shop/a")).await, ["b", "c", "d"]);

    let before = orders.before(&name("shop/b"), &patched.revision, View::Version("v1")).await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&before.json).contains(r#""qty":3"#));
    assert_eq!(orders.before(&name("shop/b"), &before.revision, View::Hub).await.unwrap(), None);
}

#[tokio::test]
async fn the_order_of_fields_at_the_root_and_in_metadata_is_no_change() {
    let orders = collection("orders");
    let labelled = br#"{"apiVersion":"shop.example.com/v1","kind":"Order",
        "metadata":{"labels":{"a":"b","c":"d"},"name":"books"},"spec":{}}"#;
    let created = orders.create(&name("shop/books"), Write::document("v1", labelled)).await.unwrap().document;
    let other = br#"{"kind":"Order","spec":{},"metadata":{"name":"books","labels":{"c":"d","a":"b"}},
        "apiVersion":"shop.example.com/v1"}"#;
    let back = orders.update(&name("shop/books"), &created.revision, Write::document("v1", other)).await.unwrap();
    assert!(!back.is_changed);
}
