//! Lists: every resource is on one page, once.

use serde_json::json;
use wheelwright_server::Limits;

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
