//! What is refused, and what is said of it.

use std::sync::Arc;

use serde_json::json;
use wheelwright_repository::Repository;
use wheelwright_server::{Limits, Server};
use wheelwright_store::{Key, Memory, Store};

use crate::{catalogs::shop, client::Served};

const CARTS: &str = "/subscriptions/s/resourceGroups/g/providers/Example.Shop/carts";
const VERSION: &str = "api-version=2025-01-01";

#[tokio::test]
async fn whoever_says_a_parameter_twice_is_asked_to_say_it_once() {
    let served = Served::new(shop().served).await;
    for (query, about) in [
        (format!("{VERSION}&api-version=2024-06-10"), "api-version"),
        (format!("{VERSION}&API-Version=2025-01-01"), "api-version"),
        (format!("{VERSION}&$top=1&$top=2"), "$top"),
        (format!("{VERSION}&$skiptoken=a&$skipToken=b"), "$skiptoken"),
    ] {
        let answered = served.get(&format!("{CARTS}?{query}")).await;
        let error = &answered.with_status(&[400])["error"];
        assert_eq!((&error["code"], &error["target"]), (&json!("InvalidQueryParameter"), &json!(about)), "{error}");
    }
    let put = served.put(&format!("{CARTS}/c?{VERSION}&{VERSION}"), &json!({})).await;
    assert_eq!(put.with_status(&[400])["error"]["target"], "api-version");
}

#[tokio::test]
async fn nobody_is_answered_as_if_a_parameter_were_not_there() {
    let served = Served::new(shop().served).await;
    let cart = format!("{CARTS}/c");
    served.put(&format!("{cart}?{VERSION}"), &json!({})).await.with_status(&[201]);
    for name in ["$filter", "$orderby", "$select", "%24expand", "$"] {
        for path in [CARTS, &cart] {
            let answered = served.get(&format!("{path}?{VERSION}&{name}=x")).await;
            let error = &answered.with_status(&[400])["error"];
            let about = json!(name.replace("%24", "$"));
            assert_eq!((&error["code"], &error["target"]), (&json!("InvalidQueryParameter"), &about), "{error}");
        }
    }
    for known in ["$Top=1", "other=x"] {
        served.get(&format!("{CARTS}?{VERSION}&{known}")).await.with_status(&[200]);
    }
}

#[tokio::test]
async fn a_path_without_a_type_is_told_so() {
    let served = Served::new(shop().served).await;
    let answered = served.get(&format!("{}?{VERSION}", CARTS.trim_end_matches("/carts"))).await;
    assert_eq!(answered.with_status(&[404])["error"]["message"], "there is no type Example.Shop here");
}

#[test]
fn links_begin_with_an_address_or_there_is_no_server() {
    let with =
        |url: &str| Server::new(Repository::new(Arc::new(Memory::new()), shop().served)).with_public_url(url).map(drop);
    for good in ["https://api.example.com", "http://127.0.0.1:8080/shop/"] {
        assert_eq!(with(good), Ok(()));
    }
    for bad in ["", "api.example.com", "/shop", "ftp://api.example.com", "https://a/?b=c", "https://a/#b", "https://"] {
        assert!(with(bad).is_err_and(|error| error.contains("expected https://HOST/PATH")), "{bad}");
    }
}

#[tokio::test]
async fn nothing_is_created_under_a_name_that_is_none() {
    let served = Served::new(shop().served).await;
    let group = |group: &str| CARTS.replace("/g/", &format!("/{group}/"));
    for (collection, name, code) in [
        (CARTS.to_owned(), "dot.", "InvalidResourceName"),
        (CARTS.to_owned(), "space%20", "InvalidResourceName"),
        (CARTS.to_owned(), "a%3Cb", "InvalidResourceName"),
        (CARTS.to_owned(), "a%23b", "InvalidResourceName"),
        (CARTS.to_owned(), &"x".repeat(261), "InvalidResourceName"),
        (group("g."), "a", "InvalidResourceGroupName"),
        (group("g%20h"), "a", "InvalidResourceGroupName"),
        (group(&"x".repeat(91)), "a", "InvalidResourceGroupName"),
    ] {
        let uri = format!("{collection}/{name}?{VERSION}");
        let answered = served.put(&uri, &json!({})).await;
        assert_eq!(answered.with_status(&[400])["error"]["code"], code, "{uri}");
        assert_ne!(served.get(&uri).await.status, 200);
    }
}

#[tokio::test]
async fn names_are_as_the_document_of_the_version_says() {
    let served = Served::new(shop().served).await;
    served.put(&format!("{CARTS}/c?{VERSION}"), &json!({})).await.with_status(&[201]);
    let line = |name: &str, version: &str| format!("{CARTS}/c/lines/{name}?api-version={version}");
    let body = json!({"properties": {"article": "x"}});
    for name in ["no_underscores", &"x".repeat(25)] {
        let answered = served.put(&line(name, "2025-01-01"), &body).await;
        let error = &answered.with_status(&[400])["error"];
        assert_eq!(error["code"], "InvalidResourceName");
        let rule = "its name must be at least 1 characters, at most 24 characters, a match of ^[a-zA-Z0-9-]+$";
        assert!(error["message"].as_str().unwrap().contains(rule), "{error}");
    }
    // The older document says nothing of names; what is there keeps its name.
    served.put(&line("no_underscores", "2024-06-10"), &body).await.with_status(&[201]);
    served.put(&line("no_underscores", "2025-01-01"), &body).await.with_status(&[200]);
}

#[tokio::test]
async fn a_condition_without_a_tag_is_none() {
    let served = Served::new(shop().served).await;
    let uri = format!("{CARTS}/c?{VERSION}");
    served.put(&uri, &json!({})).await.with_status(&[201]);
    for (name, value) in [("if-match", ""), ("if-match", " , "), ("if-none-match", "")] {
        for method in ["PUT", "DELETE"] {
            let headers = [("content-type", "application/json"), (name, value)];
            let answered = served.send(method, &uri, &headers, b"{}").await;
            assert_eq!(answered.with_status(&[400])["error"]["code"], "InvalidRequestHeader", "{method} {name}");
        }
    }
    served.get(&uri).await.with_status(&[200]);
}

#[tokio::test]
async fn a_record_that_nobody_can_read_is_missing_from_no_list() {
    let store = Arc::new(Memory::new());
    let served = Served::of(Repository::new(store.clone(), shop().served), Limits::default()).await;
    served.put(&format!("{CARTS}/whole?{VERSION}"), &json!({})).await.with_status(&[201]);
    let prefix = served.repository.kind("Cart").unwrap().kind().prefix().clone();
    let broken = Key::new(format!("{prefix}s/g/broken")).unwrap();
    store.create(&broken, b"no record".to_vec()).await.unwrap();
    for uri in [format!("{CARTS}?{VERSION}"), format!("{CARTS}/broken?{VERSION}")] {
        let answered = served.get(&uri).await;
        let error = &answered.with_status(&[500])["error"];
        assert_eq!(error["code"], "InternalServerError");
        assert!(error["message"].as_str().unwrap().contains("s/g/broken"), "{error}");
    }
    served.get(&format!("{CARTS}/whole?{VERSION}")).await.with_status(&[200]);
}

#[tokio::test]
async fn what_is_said_to_be_tried_at_the_start_is_served() {
    let repository = Repository::new(Arc::new(Memory::new()), shop().served);
    let serving = Server::new(repository.clone()).bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let (hints, url) = (serving.hints(), serving.url());
    drop(serving);
    let served = Served::of(repository, Limits::default()).await;
    let tried: Vec<&str> =
        hints.iter().filter_map(|hint| hint.split(&url).nth(1)).map(|path| path.trim_matches('\'')).collect();
    assert!(tried.iter().any(|path| path.contains("/carts?")), "{hints:?}");
    for path in tried.into_iter().filter(|path| path.starts_with('/')) {
        assert_eq!(served.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn a_body_that_is_packed_is_told_so() {
    let served = Served::new(shop().served).await;
    let put = async |encoding: &str| {
        let headers = [("content-type", "application/json"), ("content-encoding", encoding)];
        served.send("PUT", &format!("{CARTS}/c?{VERSION}"), &headers, b"{}").await
    };
    let refused = put("gzip").await;
    assert_eq!(refused.with_status(&[415])["error"]["code"], "UnsupportedMediaType");
    put("identity").await.with_status(&[201]);
}

#[tokio::test]
async fn whoever_wants_to_read_another_state_is_told_so() {
    let served = Served::new(shop().served).await;
    let cart = format!("{CARTS}/c?{VERSION}");
    let created = served.put(&cart, &json!({})).await;
    let tag = created.header("etag").expect("a tag");
    served.send("GET", &cart, &[("if-match", tag)], b"").await.with_status(&[200]);
    let other = served.send("GET", &cart, &[("if-match", "\"other\"")], b"").await;
    assert_eq!(other.with_status(&[412])["error"]["target"], "If-Match");
}
