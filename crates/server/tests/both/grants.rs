//! A grant is one of a kind and a namespace, whatever the words are that something is asked in.

use crate::support::{Running, SUBSCRIPTION, arm, kubernetes, order};

/// With the hashes of `token-a`, `token-b` and `token-g`.
const ACCESS: &str = r#"
roles:
  everything:
  - {verbs: ["*"], kinds: [Order.shop.example.com]}
  changes:
  - {verbs: [get, update, patch], kinds: [Order.shop.example.com]}
  all-of-arm:
  - {verbs: ["*"], kinds: ["*"]}
  by-type:
  - {verbs: ["*"], kinds: [Example.Shop/orders]}
users:
- name: tenant
  tokens: ["sha256:a70bf50e531ce1a817561f2f5d5b6645d4e806becf58ccc5e8cf6b8045a090a8"]
  grants:
  - {role: everything, scopes: [namespaces/a]}
- name: changer
  tokens: ["sha256:49e2bb7eab54cf09b409ffafd3fa8a8a955a60eb972faacaefbed3dbd3207132"]
  grants:
  - {role: changes, scopes: [namespaces/a]}
- name: subscriber
  tokens: ["sha256:9fe466a063fe5ef994aad81476326b6eb0c2eacb9e37b6cdb1940b1a2fa6e42a"]
  grants:
  - {role: all-of-arm, scopes: [subscriptions/5a2f-shop]}
  - {role: by-type, scopes: ["*"]}
"#;

const TENANT: &str = "token-a";
const CHANGER: &str = "token-b";
const SUBSCRIBER: &str = "token-g";

/// The status of a request by somebody.
async fn status(server: &Running, token: &str, method: &str, path: &str) -> u16 {
    let authorization = format!("Bearer {token}");
    let sort = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let body = match method {
        "GET" | "DELETE" => String::new(),
        "POST" => order("new", 1).to_string(),
        _ => r#"{"spec": {"note": "x"}}"#.to_owned(),
    };
    let headers = [("authorization", authorization.as_str()), ("content-type", sort)];
    server.request(method, path, &headers, body.as_bytes()).await.status
}

#[tokio::test]
async fn a_tenant_has_their_own_namespace_in_both_dialects_and_no_other() {
    let server = Running::guarded(ACCESS).await;
    let all = format!("/subscriptions/{SUBSCRIPTION}/providers/Example.Shop/orders?api-version=v2");
    assert_eq!(status(&server, TENANT, "PUT", &arm("A", "books", "v2")).await, 201);
    for path in [arm("a", "books", "v1"), arm("a", "", "v1"), kubernetes("a", "books", "v2"), kubernetes("a", "", "v2")]
    {
        assert_eq!(status(&server, TENANT, "GET", &path).await, 200, "{path}");
    }
    for (method, path) in [
        ("GET", arm("b", "books", "v2")),
        ("PUT", arm("b", "books", "v2")),
        ("PATCH", arm("B", "books", "v2")),
        ("DELETE", arm("b", "books", "v2")),
        ("GET", arm("b", "", "v2")),
        ("GET", all.clone()),
        ("GET", kubernetes("b", "books", "v2")),
        ("POST", kubernetes("b", "", "v2")),
        ("GET", "/apis/shop.example.com/v2/orders".to_owned()),
    ] {
        assert_eq!(status(&server, TENANT, method, &path).await, 403, "{method} {path}");
    }
    // A subscription and a type are no names for it: whoever has the one has nothing in the other.
    for (method, path) in [
        ("GET", arm("a", "books", "v2")),
        ("PUT", arm("a", "books", "v2")),
        ("GET", arm("a", "", "v2")),
        ("GET", all),
        ("GET", kubernetes("a", "books", "v2")),
    ] {
        assert_eq!(status(&server, SUBSCRIBER, method, &path).await, 403, "{method} {path}");
    }
}

#[tokio::test]
async fn whoever_may_only_change_creates_nothing() {
    let server = Running::guarded(ACCESS).await;
    assert_eq!(status(&server, CHANGER, "PUT", &arm("a", "books", "v2")).await, 403);
    assert_eq!(status(&server, CHANGER, "POST", &kubernetes("a", "", "v2")).await, 403);
    assert_eq!(status(&server, TENANT, "PUT", &arm("a", "books", "v2")).await, 201);
    for (method, expected) in [("GET", 200), ("PUT", 200), ("PATCH", 200), ("DELETE", 403)] {
        assert_eq!(status(&server, CHANGER, method, &arm("a", "books", "v2")).await, expected, "{method}");
    }
    assert_eq!(status(&server, CHANGER, "GET", &arm("a", "", "v2")).await, 403, "no list was granted");
}
