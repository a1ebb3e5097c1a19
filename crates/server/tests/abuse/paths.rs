//! Paths that mean one thing to us and another to somebody before us, or so their senders hope.

use crate::{
    support::{Answer, Running, order, orders, short},
    tenants::{access_file, cart},
};

/// What stands between a namespace that one may read and the order in another.
const TRICKS: [&str; 22] = [
    "../b/orders/secret",
    "..%2fb/orders/secret",
    "%2e%2e/b/orders/secret",
    "%2E%2E%2Fb%2Forders%2Fsecret",
    ".%2e/b/orders/secret",
    "..;/b/orders/secret",
    "..\\b\\orders\\secret",
    "..%5cb%5corders%5csecret",
    "%252e%252e/b/orders/secret",
    "%252e%252e%252fb%252forders%252fsecret",
    "a/../../b/orders/secret",
    "a//../b/orders/secret",
    "a/orders/../../b/orders/secret",
    "a/orders/%2e%2e/%2e%2e/b/orders/secret",
    "a%2f..%2fb/orders/secret",
    "a/orders/..%2f..%2fb%2forders%2fsecret",
    "a%00/../b/orders/secret",
    "b%00/orders/secret",
    "%c0%ae%c0%ae/b/orders/secret",
    "a/orders/%c0%af..%c0%afb%c0%aforders%c0%afsecret",
    "a%0d%0aX-Injected:%20yes/orders/secret",
    "./b/./orders/secret",
];

#[tokio::test(flavor = "multi_thread")]
async fn no_path_leads_to_what_one_may_not_see() {
    let running = Running::with_access(&access_file()).await;
    assert_eq!(running.create("b", "secret", "token-b", "classified").await.status, 201);
    assert_eq!(
        running.request("PUT", &cart("b", "secret"), "token-b", r#"{"properties":{"note":"classified"}}"#).await.status,
        201
    );
    for trick in TRICKS {
        let kubernetes = format!("/apis/shop.example.com/v1/namespaces/{trick}");
        let arm = trick.replace("/orders/", "/resourceGroups/g/providers/Example.Shop/carts/");
        let arm = format!("/subscriptions/{arm}?api-version=2025-01-01");
        for path in [kubernetes, arm] {
            for method in ["GET", "HEAD", "PUT", "PATCH", "DELETE", "POST"] {
                let answer = running.request(method, &path, "token-a", "{}").await;
                assert!((400..500).contains(&answer.status), "{method} {path}: {answer:?}");
                assert!(
                    !answer.body.contains("classified") && answer.header("x-injected").is_none(),
                    "{path}: {answer:?}"
                );
            }
        }
    }
    let own = running.request("GET", &format!("{}/secret", orders("b")), "token-b", "").await;
    assert!(own.status == 200 && own.body.contains("classified"), "nobody has changed it: {own:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_path_is_refused() {
    let running = Running::with_limits(short()).await;
    for path in [
        "/apis//shop.example.com/v1",
        "//livez",
        "/apis/shop.example.com/v1/namespaces//orders",
        "/apis/%2e%2e/livez",
        "/subscriptions//resourceGroups/g/providers/Example.Shop/carts/c?api-version=2025-01-01",
        "/apis/shop.example.com/v1/namespaces/a/orders/%ff",
        "/apis/shop.example.com/v1/namespaces/a/orders/%zz",
        "/apis/shop.example.com/v1/namespaces/a/orders/%",
    ] {
        let answer = running.get(path).await;
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
    }
    for line in [
        "GET http://[ HTTP/1.1",
        "GET \u{0} HTTP/1.1",
        "GET /a b HTTP/1.1",
        "GET livez HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "CONNECT localhost:80 HTTP/1.1",
        "\u{0}\u{1}\u{2}",
    ] {
        let answer = Answer::of(&running.say(format!("{line}\r\nHost: localhost\r\n\r\n")).await);
        assert_eq!(answer.status, 400, "{line:?}: {answer:?}");
    }
    running.assert_serves_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_are_paths_are_not_stored() {
    let running = Running::with_limits(short()).await;
    for name in ["../x", "a/b", "..", ".", "", "a\\u0000b", "A B", "a%2fb"] {
        let answer = running.request("POST", &orders("a"), "", &order(name, "")).await;
        assert!([400, 422].contains(&answer.status), "{name}: {answer:?}");
    }
    let listed = running.get("/apis/shop.example.com/v1/orders").await;
    assert!(listed.body.contains(r#""items":[]"#), "{listed:?}");
}
