//! One tenant with the token, the tokens of lists and the operations of another.

use crate::support::{Running, order, orders};

/// Who may do what: those with `token-a`, `token-b` and `token-g`.
pub(crate) fn access_file() -> String {
    let user = |name: &str, hash: &str, scopes: &str| {
        format!(
            "- name: {name}\n  tokens: [\"sha256:{hash}\"]\n  grants:\n  - {{role: everything, scopes: [{scopes}]}}\n"
        )
    };
    format!(
        "roles:\n  everything:\n  - {{verbs: [\"*\"], kinds: [\"*\"]}}\nusers:\n{}{}{}",
        user(
            "ann",
            "a70bf50e531ce1a817561f2f5d5b6645d4e806becf58ccc5e8cf6b8045a090a8",
            "namespaces/a, subscriptions/a"
        ),
        user(
            "bob",
            "49e2bb7eab54cf09b409ffafd3fa8a8a955a60eb972faacaefbed3dbd3207132",
            "namespaces/b, subscriptions/b"
        ),
        user(
            "eve",
            "9fe466a063fe5ef994aad81476326b6eb0c2eacb9e37b6cdb1940b1a2fa6e42a",
            "subscriptions/b/resourceGroups/other"
        ),
    )
}

/// Where a cart of a subscription is.
pub(crate) fn cart(subscription: &str, name: &str) -> String {
    let group = format!("/subscriptions/{subscription}/resourceGroups/g/providers/Example.Shop/carts");
    format!("{group}{}{name}?api-version=2025-01-01", if name.is_empty() { "" } else { "/" })
}

const NOTE: &str = r#"{"properties":{"note":"classified"}}"#;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_one_tenant_does_it_does_nothing_to_another() {
    let running = Running::with_access(&access_file()).await;
    assert_eq!(running.create("b", "o", "token-b", "classified").await.status, 201);
    assert_eq!(running.request("PUT", &cart("b", "c"), "token-b", NOTE).await.status, 201);
    let all = "/apis/shop.example.com/v1/orders".to_owned();
    let of_b = orders("b");
    let attempts = [
        ("GET", format!("{of_b}/o")),
        ("HEAD", format!("{of_b}/o")),
        ("GET", of_b.clone()),
        ("GET", format!("{of_b}?watch=true")),
        ("GET", "/apis/shop.example.com/v1/watch/namespaces/b/orders".to_owned()),
        ("GET", format!("{of_b}?fieldSelector=metadata.namespace%3Da")),
        ("GET", all.clone()),
        ("GET", format!("{all}?watch=true")),
        ("GET", format!("{all}?fieldSelector=metadata.namespace%3Db")),
        ("POST", of_b.clone()),
        ("PUT", format!("{of_b}/o")),
        ("PATCH", format!("{of_b}/o")),
        ("DELETE", format!("{of_b}/o")),
        ("DELETE", of_b.clone()),
        ("GET", format!("{of_b}/o/status")),
        ("PUT", format!("{of_b}/o/status")),
        ("PATCH", format!("{of_b}/o/status")),
        ("GET", cart("b", "c")),
        ("HEAD", cart("B", "C")),
        ("GET", cart("b", "")),
        ("GET", "/subscriptions/b/providers/Example.Shop/carts?api-version=2025-01-01".to_owned()),
        ("PUT", cart("b", "c")),
        ("PUT", cart("b", "new")),
        ("PATCH", cart("b", "c")),
        ("DELETE", cart("b", "c")),
    ];
    for (token, expected) in [("token-a", 403), ("token-g", 403), ("wrong", 401), ("", 401)] {
        for (method, path) in &attempts {
            let body =
                if path.starts_with("/apis") { order("o", "changed") } else { NOTE.replace("classified", "changed") };
            let answer = running.request(method, path, token, &body).await;
            assert_eq!(answer.status, expected, "{method} {path} by {token}: {answer:?}");
            assert!(!answer.body.contains("classified"), "{method} {path}: {answer:?}");
        }
    }
    for path in [format!("{of_b}/o"), cart("b", "c")] {
        let own = running.request("GET", &path, "token-b", "").await;
        assert!(own.status == 200 && own.body.contains("classified"), "{own:?}");
    }
    // Whoever is known may see which kinds there are, and what is their own.
    assert_eq!(running.request("GET", "/apis", "token-a", "").await.status, 200);
    assert_eq!(running.request("GET", &orders("a"), "token-a", "").await.status, 200);
    running.assert_serves_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_in_a_body_is_not_another_one_in_the_path() {
    let running = Running::with_access(&access_file()).await;
    let body = order("o", "mine").replace(r#""name":"o""#, r#""name":"o","namespace":"b""#);
    let answer = running.request("POST", &orders("a"), "token-a", &body).await;
    assert_eq!(answer.status, 400, "{answer:?}");
    let listed = running.request("GET", &orders("b"), "token-b", "").await;
    assert!(listed.body.contains(r#""items":[]"#), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_of_a_list_goes_on_in_no_other_list() {
    let running = Running::with_access(&access_file()).await;
    for name in ["o1", "o2", "o3"] {
        for tenant in ["a", "b"] {
            let token = format!("token-{tenant}");
            assert_eq!(running.create(tenant, name, &token, &format!("note of {tenant}")).await.status, 201);
            let body = NOTE.replace("classified", &format!("note of {tenant}"));
            assert_eq!(running.request("PUT", &cart(tenant, name), &token, &body).await.status, 201);
        }
    }
    let page = running.request("GET", &format!("{}?limit=1", orders("b")), "token-b", "").await;
    let (_, rest) = page.body.split_once(r#""continue":""#).expect("there is more");
    let token = rest.split('"').next().unwrap();
    let page = running.request("GET", &format!("{}&$top=1", cart("b", "")), "token-b", "").await;
    let (_, link) = page.body.split_once("$skiptoken=").expect("there is more");
    let skip = link.split(['"', '&']).next().unwrap();
    let continued =
        [format!("{}?limit=5&continue={token}", orders("b")), format!("{}&$skiptoken={skip}", cart("b", ""))];
    for path in &continued {
        assert_eq!(running.request("GET", path, "token-a", "").await.status, 403, "{path}");
        let own = running.request("GET", path, "token-b", "").await;
        assert!(own.status == 200 && own.body.contains("note of b"), "{own:?}");
    }
    for path in
        continued.map(|path| path.replace("namespaces/b", "namespaces/a").replace("subscriptions/b", "subscriptions/a"))
    {
        let elsewhere = running.request("GET", &path, "token-a", "").await;
        assert!([200, 400, 410].contains(&elsewhere.status), "{elsewhere:?}");
        assert!(!elsewhere.body.contains("note of b"), "{path}: {elsewhere:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_is_told_only_to_whom_its_resource_is() {
    let running = Running::with_access(&access_file()).await;
    let created = running.request("PUT", &cart("b", "c"), "token-b", NOTE).await;
    let followed = created.header("azure-asyncoperation").expect("it takes time").to_owned();
    let (_, path) = followed.split_once("//").and_then(|(_, rest)| rest.split_once('/')).expect("a link");
    let path = format!("/{path}");
    let own = running.request("GET", &path, "token-b", "").await;
    assert_eq!(own.status, 200, "{own:?}");
    assert_eq!(running.request("GET", &path, "token-a", "").await.status, 403);
    assert_eq!(running.request("GET", &path, "token-g", "").await.status, 403);
    let elsewhere =
        running.request("GET", &path.replace("/subscriptions/b/", "/subscriptions/a/"), "token-a", "").await;
    assert_eq!(elsewhere.status, 404, "{elsewhere:?}");
}
