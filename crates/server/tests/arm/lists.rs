//! Lists: every resource is on one page, once.

use std::sync::Arc;

use serde_json::json;
use wheelwright_repository::Repository;
use wheelwright_server::Limits;
use wheelwright_store::{Key, Memory, Store};

use crate::{catalogs::shop, client::Served};

#[tokio::test]
async fn pages_together_have_every_resource_once_in_every_version() {
    let mut limits = Limits::default();
    limits.page = 4;
    let served = Served::with_limits(shop().served, limits).await;
    let group = "/subscriptions/s/resourceGroups/g/providers/Example.Shop/carts";
    for number in 0..11 {
        let uri = format!("{group}/cart {number}?api-version=2025-01-01").replace(' ', "%20");
        served.put(&uri, &json!({"properties": {"quantity": number}})).await.with_status(&[201]);
    }
    for version in ["2024-06-10", "2025-01-01"] {
        for (top, most) in [(None, 4), (Some(3), 3), (Some(100), 4)] {
            let top = top.map(|top| format!("&$top={top}")).unwrap_or_default();
            let mut next = Some(format!("{group}?api-version={version}{top}"));
            let mut quantities = Vec::new();
            while let Some(uri) = next {
                let page = served.get(&uri).await.with_status(&[200]);
                let items = page["value"].as_array().unwrap().clone();
                assert!(items.len() <= most);
                quantities.extend(items.iter().map(|item| item["properties"]["quantity"].as_u64().unwrap()));
                next = page["nextLink"].as_str().map(|link| {
                    assert!(link.contains(&format!("api-version={version}")), "{link}");
                    link.strip_prefix(&format!("http://{}", served.address)).expect("an absolute link").to_owned()
                });
            }
            quantities.sort_unstable();
            assert_eq!(quantities, (0..11).collect::<Vec<_>>());
        }
    }
}

#[tokio::test]
async fn pages_go_on_behind_a_resource_that_cannot_be_displayed() {
    let store = Arc::new(Memory::new());
    let served = Served::of(Repository::new(store.clone(), shop().served), Limits::default()).await;
    let group = "/subscriptions/s/resourceGroups/g/providers/Example.Shop/carts";
    for name in ["a", "d", "e"] {
        served.put(&format!("{group}/{name}?api-version=2025-01-01"), &json!({})).await.with_status(&[201]);
    }
    let prefix = served.repository.kind("Cart").unwrap().kind().prefix().clone();
    for name in ["b", "c", "f"] {
        store.create(&Key::new(format!("{prefix}s/g/{name}")).unwrap(), b"nonsense".to_vec()).await.unwrap();
    }
    for top in [1, 2, 500] {
        let (mut listed, mut refused) = (Vec::new(), Vec::new());
        let mut next = Some(format!("{group}?api-version=2025-01-01&$top={top}"));
        while let Some(uri) = next {
            let page = served.get(&uri).await;
            let body = page.with_status(&[200, 500]);
            let link = match page.status {
                200 => {
                    let items = body["value"].as_array().unwrap().iter();
                    listed.extend(items.map(|item| item["name"].as_str().unwrap().to_owned()));
                    body["nextLink"].as_str()
                }
                _ => {
                    let message = body["error"]["message"].as_str().unwrap();
                    refused
                        .extend(["b", "c", "f"].into_iter().filter(|name| message.contains(&format!("s/g/{name}: "))));
                    let link = body["error"]["details"][0]["message"].as_str().unwrap();
                    assert_eq!(page.header("link"), Some(&*format!("<{link}>; rel=\"next\"")));
                    Some(link)
                }
            };
            next = link.map(|link| link.strip_prefix(&format!("http://{}", served.address)).unwrap().to_owned());
        }
        assert_eq!(
            (listed.as_slice(), refused.as_slice()),
            (&["a", "d", "e"].map(str::to_owned)[..], &["b", "c", "f"][..])
        );
    }
}
