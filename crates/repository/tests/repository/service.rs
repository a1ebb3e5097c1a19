//! What the service does beside what customers ask for: it fills fields in, keeps what it knows, and remembers operations.

use serde_json::{Value, json};
use wheelwright_repository::{
    Collection, FieldProblem, Metadata, Name, Operation, Repository, RepositoryError, View, Write, WriteError,
};
use wheelwright_store::Memory;

use crate::support::served_from;

const CATALOG: &str = r#"
kinds:
  - openapi: { 2024-01-01: old.json, 2025-01-01: new.json }
    definition: Pool
    arm: Example.Pools/clusters/pools
    changes: changes.yaml
    computed:
      location: parent.location
      properties.network.subnet: parent.properties.subnets[0]
      properties.url: "'https://' + parent.name"
      properties.size: self.properties.zones * 2
"#;

const CHANGES: &str = "2025-01-01: {renamed: {properties.subnet: properties.network.subnet}}";

fn schema(subnet: &str) -> String {
    format!(
        r#"{{"swagger": "2.0", "info": {{"title": "Pools", "version": "1"}}, "paths": {{}}, "definitions": {{"Pool": {{
            "type": "object", "required": ["location"], "properties": {{
                "etag": {{"type": "string", "readOnly": true}},
                "location": {{"type": "string", "x-ms-mutability": ["read", "create"]}},
                "properties": {{"type": "object", "properties": {{
                    {subnet}, "provisioningState": {{"type": "string", "readOnly": true}},
                    "url": {{"type": "string", "readOnly": true}}, "size": {{"type": "integer"}},
                    "zones": {{"type": "integer"}},
                    "platform": {{"type": "object", "x-ms-mutability": ["read", "create"], "properties": {{
                        "vm": {{"type": "string"}}, "disk": {{"type": "string", "default": "Premium"}}}}}}}}}}}}}}}}}}"#
    )
}

fn pools() -> Collection {
    let old = schema(r#""subnet": {"type": "string"}"#);
    let new = schema(r#""network": {"type": "object", "properties": {"subnet": {"type": "string"}}}"#);
    let files = [("wheelwright.yaml", CATALOG), ("changes.yaml", CHANGES), ("old.json", &*old), ("new.json", &*new)];
    Repository::new(std::sync::Arc::new(Memory::new()), served_from(&files)).kind("Pool").unwrap()
}

fn name() -> Name {
    Name::new("s/g/c/p").unwrap()
}

const PARENT: &[u8] = br#"{"name": "c", "location": "north", "properties": {"subnets": ["one", "two"]}}"#;

fn shown(json: &[u8]) -> Value {
    serde_json::from_slice(json).unwrap()
}

async fn create(pools: &Collection, version: &str, body: Value, parent: &[u8]) -> Result<Value, RepositoryError> {
    let json = body.to_string();
    let write = Write::document(version, json.as_bytes()).below(parent);
    pools.create(&name(), write).await.map(|written| shown(&written.document.json))
}

#[tokio::test]
async fn what_is_left_out_is_computed_in_every_version_that_has_it() {
    for (version, subnet) in [("2024-01-01", "/properties/subnet"), ("2025-01-01", "/properties/network/subnet")] {
        let made = create(&pools(), version, json!({"properties": {"zones": 3}}), PARENT).await.unwrap();
        assert_eq!(made["location"], "north");
        assert_eq!(made.pointer(subnet).unwrap(), "one", "{version}");
        assert_eq!((&made["properties"]["size"], &made["properties"]["url"]), (&json!(6), &json!("https://c")));
    }
}

#[tokio::test]
async fn nothing_that_was_sent_is_replaced_and_what_is_not_there_gives_nothing() {
    let sent = json!({"location": "south", "properties": {"size": 0, "url": "http://mine", "network": {"subnet": ""}}});
    let made = create(&pools(), "2025-01-01", sent, PARENT).await.unwrap();
    assert_eq!((&made["location"], &made["properties"]["size"]), (&json!("south"), &json!(0)));
    assert_eq!(made["properties"]["network"]["subnet"], "");
    assert_eq!(made["properties"]["url"], "https://c", "customers do not write it");
    let made = create(&pools(), "2025-01-01", json!({"location": "south"}), b"{}").await.unwrap();
    assert_eq!(made, json!({"location": "south", "etag": "\"2\""}));
}

#[tokio::test]
async fn a_document_that_is_wrong_is_told_so_and_an_expression_that_is_wrong_is_no_fault_of_its_writer() {
    let wrong = create(&pools(), "2025-01-01", json!({"properties": {"zones": "three"}}), PARENT).await;
    assert!(matches!(wrong, Err(RepositoryError::Write(WriteError::Fields(_)))), "{wrong:?}");
    let broken = create(&pools(), "2025-01-01", json!({"location": "x"}), br#"{"properties": {"subnets": 3}}"#).await;
    let Err(RepositoryError::Write(WriteError::NotComputed(why))) = &broken else { panic!("{broken:?}") };
    assert!(why.starts_with("properties.network.subnet cannot be computed"), "{why}");
}

#[tokio::test]
async fn nothing_is_computed_when_a_document_changes() {
    let pools = pools();
    create(&pools, "2025-01-01", json!({"properties": {"zones": 3}}), PARENT).await.unwrap();
    let revision = pools.get(&name(), View::Hub).await.unwrap().unwrap().revision;
    let write = Write::document("2025-01-01", br#"{"properties": {"zones": 4}}"#).below(PARENT);
    let made = shown(&pools.update(&name(), &revision, write).await.unwrap().document.json);
    assert_eq!(made["properties"], json!({"zones": 4, "url": "https://c"}));
}

#[tokio::test]
async fn what_the_service_keeps_changes_with_the_document_and_only_then() {
    let pools = pools();
    let keep = |metadata: &mut Metadata, now| {
        metadata.id = Some("/x/Pool-1".into());
        metadata.provisioning_state = Some("Accepted".into());
        metadata.operations.push(Operation::new("o", now));
    };
    let made =
        pools.create(&name(), Write::document("2025-01-01", br#"{"location": "a"}"#).keeping(&keep)).await.unwrap();
    assert_eq!(shown(&made.document.json)["properties"], json!({"provisioningState": "Accepted"}));
    assert_eq!(made.document.metadata.operations.len(), 1);
    // What shows the state alone is not stored when it is written back.
    let write = Write::document("2025-01-01", &made.document.json).keeping(&keep);
    let same = pools.update(&name(), &made.document.revision, write).await.unwrap();
    assert!(!same.is_changed && same.document.metadata.operations.len() == 1);
    let write = Write::merge_patch("2025-01-01", br#"{"properties": {"zones": 1}}"#).keeping(&keep);
    let changed = pools.update(&name(), &made.document.revision, write).await.unwrap();
    assert_eq!(changed.document.metadata.operations.len(), 2);
    let read = pools.get(&name(), View::Hub).await.unwrap().unwrap();
    assert_eq!(read.metadata, changed.document.metadata, "operations are stored");
}

#[tokio::test]
async fn what_is_set_once_may_be_said_again_in_part_and_never_otherwise() {
    let pools = pools();
    create(&pools, "2025-01-01", json!({"properties": {"platform": {"vm": "a"}}}), PARENT).await.unwrap();
    let revision = pools.get(&name(), View::Hub).await.unwrap().unwrap().revision;
    for part in [json!({"vm": "a"}), json!({}), json!({"disk": "Premium"}), json!({"vm": "a", "note": null})] {
        let body = json!({"properties": {"platform": part}}).to_string();
        let written =
            pools.update(&name(), &revision, Write::merge_patch("2025-01-01", body.as_bytes())).await.unwrap();
        assert!(!written.is_changed, "{body}");
    }
    let body = br#"{"properties": {"platform": {"vm": "a"}}}"#;
    let written = pools.update(&name(), &revision, Write::document("2025-01-01", body)).await.unwrap();
    assert_eq!(shown(&written.document.json)["properties"]["platform"], json!({"vm": "a", "disk": "Premium"}));
    let body = br#"{"properties": {"platform": {"vm": "b"}}}"#;
    let refused = pools.update(&name(), &written.document.revision, Write::document("2025-01-01", body)).await;
    let Err(RepositoryError::Write(WriteError::Fields(errors))) = refused else { panic!("{refused:?}") };
    assert!(matches!(errors[..], [ref error] if matches!(error.problem, FieldProblem::Fixed)));
}

#[tokio::test]
async fn tags_of_a_version_that_has_none_are_a_field_that_it_does_not_know() {
    let body = json!({"tags": {"a": "b"}}).to_string();
    let write = Write::document("2025-01-01", body.as_bytes()).below(PARENT);
    assert_eq!(pools().create(&name(), write).await.unwrap().notes.unknown[0].to_string(), "tags");
    let refused = pools().create(&name(), write.refusing_unknown()).await;
    assert!(matches!(refused, Err(RepositoryError::Write(WriteError::Fields(_)))), "{refused:?}");
}
