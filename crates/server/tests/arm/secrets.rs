//! What customers may write and never see, in every answer that could have it.

use std::fs;

use serde_json::{Value as Json, json};

use crate::{catalogs::kinds, client::Served};

const CATALOG: &str = "
kinds:
  - openapi: { 2026-01-01: vaults.json }
    definition: Vault
    arm: Example.Safe/vaults
";

/// Vaults with what is secret in each of the words that there are for it, at the top, in an object, a list and a map.
async fn vaults() -> Served {
    let document = json!({
        "swagger": "2.0",
        "info": {"title": "Vaults", "version": "2026-01-01"},
        "paths": {},
        "definitions": {"Vault": {"type": "object", "properties": {"properties": {"type": "object", "properties": {
            "size": {"type": "integer"},
            "password": {"type": "string", "x-ms-secret": true},
            "admin": {"type": "object", "properties": {
                "name": {"type": "string"},
                "key": {"type": "string", "x-ms-mutability": ["create", "update"]}
            }},
            "guards": {"type": "array", "x-ms-identifiers": ["name"], "items": {"type": "object", "properties": {
                "name": {"type": "string"},
                "pin": {"type": "string", "x-ms-secret": true}
            }}},
            "codes": {"type": "object", "additionalProperties": {"type": "string", "x-ms-secret": true}},
            "lock": {"type": "object", "oneOf": [
                {"properties": {"number": {"type": "string", "x-ms-secret": true}}, "required": ["number"]},
                {"properties": {"shape": {"type": "string"}}, "required": ["shape"]}
            ]}
        }}}}}
    });
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("wheelwright.yaml"), CATALOG).expect("it can be written");
    fs::write(folder.path().join("vaults.json"), document.to_string()).expect("it can be written");
    Served::new(kinds(folder.path()).served).await
}

const VAULT: &str = "/subscriptions/s/resourceGroups/g/providers/Example.Safe/vaults/one?api-version=2026-01-01";
const VAULTS: &str = "/subscriptions/s/resourceGroups/g/providers/Example.Safe/vaults?api-version=2026-01-01";

fn properties() -> Json {
    json!({
        "size": 1,
        "password": "hush-1",
        "admin": {"name": "a", "key": "hush-2"},
        "guards": [{"name": "b", "pin": "hush-3"}, {"name": "c", "pin": "hush-4"}],
        "codes": {"front": "hush-5"},
        "lock": {"number": "hush-6"}
    })
}

#[tokio::test]
async fn no_answer_has_a_secret_and_writing_back_what_is_seen_keeps_them() {
    let served = vaults().await;
    let created = served.put(VAULT, &json!({"properties": properties()})).await;
    let seen = created.with_status(&[201]);
    let expected = json!({"size": 1, "admin": {"name": "a"}, "guards": [{"name": "b"}, {"name": "c"}], "lock": {}});
    assert_eq!(seen["properties"], expected);
    assert_eq!(served.get(VAULT).await.with_status(&[200]), seen);
    assert_eq!(served.get(VAULTS).await.with_status(&[200])["value"], json!([seen]));
    // The same once more, from what the server keeps of what it has shown.
    assert_eq!(served.get(VAULT).await.with_status(&[200]), seen);
    // What is stored is told by its revision.
    let again = served.put(VAULT, &seen).await;
    assert_eq!(again.with_status(&[200]), seen);
    assert_eq!(again.header("etag"), created.header("etag"), "nothing was written");
    let mut larger = seen.clone();
    larger["properties"]["size"] = json!(2);
    served.put(VAULT, &larger).await.with_status(&[200]);
    let patched = served.patch(VAULT, &json!({"properties": {"admin": {"name": "z"}}})).await;
    assert!(!patched.with_status(&[200]).to_string().contains("hush"));
    assert_ne!(patched.header("etag"), created.header("etag"));
    let mut whole = properties();
    whole["size"] = json!(2);
    whole["admin"]["name"] = json!("z");
    let same = served.put(VAULT, &json!({"properties": whole})).await;
    same.with_status(&[200]);
    assert_eq!(same.header("etag"), patched.header("etag"), "all secrets were there");
    whole["guards"][1]["pin"] = json!("hush-7");
    let other = served.put(VAULT, &json!({"properties": whole})).await;
    assert_ne!(other.header("etag"), patched.header("etag"));
}

#[tokio::test]
async fn a_list_that_is_patched_keeps_the_secrets_of_its_items_and_what_is_written_as_a_whole_is_all_of_it() {
    let served = vaults().await;
    served.put(VAULT, &json!({"properties": properties()})).await.with_status(&[201]);
    let guards = json!([{"name": "c"}, {"name": "new"}, {"name": "b"}]);
    let patch = json!({"properties": {"guards": guards, "codes": {"front": null, "back": "hush-8"}}});
    let patched = served.patch(VAULT, &patch).await;
    assert_eq!(patched.with_status(&[200])["properties"]["guards"], guards);
    let mut whole = properties();
    whole["guards"] = json!([{"name": "c", "pin": "hush-4"}, {"name": "new"}, {"name": "b", "pin": "hush-3"}]);
    whole["codes"] = json!({"back": "hush-8"});
    let same = served.put(VAULT, &json!({"properties": whole})).await;
    same.with_status(&[200]);
    assert_eq!(same.header("etag"), patched.header("etag"), "each has its own, and the old code is gone");
}
