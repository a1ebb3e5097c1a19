//! Every method at every path that the server knows, in both dialects.

use crate::support::{Running, SUBSCRIPTION, arm, kubernetes, order};

const METHODS: [&str; 10] = ["GET", "HEAD", "POST", "PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "FOO", "DELETE"];

/// Paths with the methods that they take.
fn paths() -> Vec<(String, &'static str)> {
    let pages = ["/", "/api", "/api/v1", "/apis", "/apis/shop.example.com", "/apis/shop.example.com/v2", "/version"];
    let documents = ["/openapi/v2", "/openapi/v3", "/openapi/v3/apis/shop.example.com/v2"];
    let namespaces = ["/api/v1/namespaces", "/api/v1/namespaces/west"];
    let own = ["/livez", "/healthz", "/readyz", "/metrics"];
    let lists =
        [arm("west", "", "v2"), format!("/subscriptions/{SUBSCRIPTION}/providers/Example.Shop/orders?api-version=v2")];
    let fixed = pages.iter().chain(&documents).chain(&namespaces).chain(&own).map(|path| (*path).to_owned());
    let mut paths: Vec<_> = fixed.chain(lists).map(|path| (path, "GET, HEAD")).collect();
    paths.push((kubernetes("west", "", "v2"), "GET, HEAD, POST, DELETE"));
    paths.push((kubernetes("west", "one", "v2"), "GET, HEAD, PUT, PATCH, DELETE"));
    paths.push((format!("{}/status", kubernetes("west", "one", "v2")), "GET, HEAD, PUT, PATCH"));
    paths.push((arm("west", "one", "v2"), "GET, HEAD, PUT, PATCH, DELETE"));
    paths
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_that_a_path_does_not_take_is_a_405_that_lists_those_that_it_takes() {
    let server = Running::shop().await;
    let body = order("one", 1).to_string();
    for (path, allowed) in paths() {
        for method in METHODS {
            // A DELETE may have removed it.
            let there = server.send("POST", &kubernetes("west", "", "v2"), &order("one", 1)).await.status;
            assert!([201, 409].contains(&there), "{there}");
            let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
            let answered = server.request(method, &path, &[("content-type", kind)], body.as_bytes()).await;
            let text = String::from_utf8_lossy(&answered.body).into_owned();
            let is_allowed = allowed.split(", ").any(|allowed| allowed == method);
            // Kubernetes asks for a name there, and takes a POST to an object for one to all of them.
            let is_of_kubernetes = path.ends_with("/orders") && matches!(method, "PUT" | "PATCH")
                || path.ends_with("/one") && method == "POST";
            match is_allowed || is_of_kubernetes {
                true => {
                    let is_answered = answered.status < 500 && ![404, 405].contains(&answered.status);
                    assert!(is_answered, "{method} {path}: {} {text}", answered.status);
                }
                false => {
                    assert_eq!(answered.status, 405, "{method} {path}: {text}");
                    assert_eq!(answered.header("allow"), Some(allowed), "{method} {path}: {text}");
                    let is_named = text.contains("MethodNotAllowed") || text == "only GET is understood here\n";
                    assert!(is_named, "{method} {path}: {text}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_nothing_is_at_is_a_404_whatever_the_method() {
    let server = Running::shop().await;
    let nowhere =
        ["/nothing", "/apis/other.example.com", "/apis/shop.example.com/v9/namespaces/west/orders", "/api/v1/pods"];
    for path in nowhere.map(str::to_owned).into_iter().chain([arm("west", "one", "v2").replace("orders", "carts")]) {
        for method in METHODS {
            let answered = server.request(method, &path, &[("content-type", "application/json")], b"{}").await;
            assert_eq!(answered.status, 404, "{method} {path}: {}", String::from_utf8_lossy(&answered.body));
        }
    }
    // As in Kubernetes: the objects of all namespaces can be listed, and to other methods they are not there.
    for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE"] {
        let path = "/apis/shop.example.com/v2/orders";
        let answered = server.request(method, path, &[("content-type", "application/json")], b"{}").await;
        assert_eq!(answered.status, 404, "{method} {path}");
    }
}
