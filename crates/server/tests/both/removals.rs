//! A removal among list items that look equal to the client is answered with a warning, in both dialects.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Running, arm, kubernetes};

const DEFINITION: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: orders.shop.example.com }
spec:
  group: shop.example.com
  scope: Namespaced
  names: { kind: Order, plural: orders, singular: order, listKind: OrderList }
  versions:
    - name: v1
      served: true
      storage: false
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: { type: object, properties: { lines: { type: array, items: {
              type: object, properties: { gift: { type: boolean } } } } } }
    - name: v2
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: { type: object, properties: { lines: { type: array, items: {
              type: object, properties: { gift: { type: boolean }, serial: { type: string } } } } } }
"#;
const CATALOG: &str = "kinds: [{ crd: orders.yaml, arm: { type: Example.Shop/orders, subscription: 5a2F-Shop } }]\n";

#[tokio::test]
async fn a_removal_that_the_client_cannot_express_is_answered_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("orders.yaml"), DEFINITION).unwrap();
    fs::write(folder.path().join("wheelwright.yaml"), CATALOG).unwrap();
    let server = Running::of(folder.path(), None).await;
    let lines = |serials: &[&str]| serials.iter().map(|serial| json!({"serial": serial})).collect::<Vec<Value>>();
    let object = json!({"apiVersion": "shop.example.com/v2", "kind": "Order", "metadata": {"name": "books"},
        "spec": {"lines": lines(&["a", "b", "c"])}});
    server.send("POST", &kubernetes("west", "", "v2"), &object).await.with_status(201);

    let (old, new) = (kubernetes("west", "books", "v1"), kubernetes("west", "books", "v2"));
    let warning = |removed: &str| {
        format!(
            "299 - \"spec.lines: {removed} (counted from 0) and what is hidden there were removed; to choose the item, \
             send a JSON patch that names its position, or identify items by `keys` (WW230)\""
        )
    };
    let mut read = server.get(&old).await;
    read["spec"]["lines"][0]["gift"] = json!(true);
    let edited = server.send("PUT", &old, &read).await;
    assert_eq!((edited.status, edited.header("warning")), (200, None), "nothing is removed");
    let mut read = server.get(&old).await;
    read["spec"]["lines"] = json!([{"gift": true}, {}]);
    let removed = server.send("PUT", &old, &read).await;
    let two = "2 items look equal in this version and hide different fields; of them, item 2";
    assert_eq!((removed.status, removed.header("warning")), (200, Some(&*warning(two))));
    let expected = json!([{"gift": true, "serial": "a"}, {"serial": "b"}]);
    assert_eq!(server.get(&new).await["spec"]["lines"], expected);

    let mut read = server.get(&new).await;
    read["spec"]["lines"] = json!(lines(&["a", "b"]));
    server.send("PUT", &new, &read).await.with_status(200);
    let resource = json!({"spec": {"lines": [{}]}});
    let removed = server.send("PUT", &arm("west", "books", "v1"), &resource).await;
    let two = "2 items look equal in this version and hide different fields; of them, item 1";
    assert_eq!((removed.status, removed.header("warning")), (200, Some(&*warning(two))));
}
