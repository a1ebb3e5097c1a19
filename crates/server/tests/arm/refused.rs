//! What is refused, and what is said of it.

use serde_json::json;

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
