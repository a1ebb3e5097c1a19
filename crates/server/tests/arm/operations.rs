//! Operations and removal: what survives a restart, and what goes together.

use std::sync::Arc;

use serde_json::json;
use wheelwright_repository::{Metadata, Name, Repository, View};
use wheelwright_server::Limits;
use wheelwright_store::Memory;

use crate::{
    catalogs::{node_pools, shop},
    client::Served,
};

const STORE: &str = "/subscriptions/s/resourceGroups/g/providers/Example.Shop/stores/one";
const VERSION: &str = "api-version=2025-01-01";

#[tokio::test]
async fn operations_survive_the_server_and_follow_the_back_end() {
    let store = Arc::new(Memory::new());
    let served = Served::of(Repository::new(store.clone(), shop().served), Limits::default()).await;
    let created = served.put(&format!("{STORE}?{VERSION}"), &json!({"location": "north"})).await;
    let link = created.header("azure-asyncoperation").unwrap().to_owned();
    let operation = link.strip_prefix(&format!("http://{}", served.address)).unwrap().to_owned();
    drop(served);
    let served = Served::of(Repository::new(store, shop().served), Limits::default()).await;
    assert_eq!(served.get(&operation).await.with_status(&[200])["status"], "Accepted");
    let stores = served.repository.kind("Store").unwrap();
    let name = Name::new("s/g/one").unwrap();
    let revision = stores.get(&name, View::Hub).await.unwrap().unwrap().revision;
    let done = |metadata: &mut Metadata, _: &mut _| metadata.provisioning_state = Some("Succeeded".into());
    stores.update_metadata(&name, &revision, done).await.unwrap();
    assert_eq!(served.get(&operation).await.with_status(&[200])["status"], "Succeeded");
    assert!(served.get(&operation).await.header("retry-after").is_none());
}

#[tokio::test]
async fn what_belongs_to_a_resource_that_is_to_go_is_to_go_too() {
    let served = Served::new(shop().served).await;
    served.put(&format!("{STORE}?{VERSION}"), &json!({"location": "north"})).await.with_status(&[201]);
    for shelf in 0..3 {
        served.put(&format!("{STORE}/shelves/{shelf}?{VERSION}"), &json!({})).await.with_status(&[201]);
    }
    served.delete(&format!("{STORE}?{VERSION}")).await.with_status(&[202]);
    let shelves = served.get(&format!("{STORE}/shelves?{VERSION}")).await.with_status(&[200]);
    let states: Vec<_> = shelves["value"].as_array().unwrap().iter().map(|shelf| &shelf["properties"]).collect();
    assert!(states.len() == 3 && states.iter().all(|state| state["provisioningState"] == "Deleting"), "{states:?}");
}

#[tokio::test]
async fn what_is_removed_at_once_does_not_take_along_what_a_back_end_has_to_remove() {
    let served = Served::new(node_pools().served).await;
    let version = "api-version=2026-09-01-preview";
    let cluster = "/subscriptions/s/resourceGroups/g/providers/Example.Fleet/clusters/c";
    let body = json!({"location": "north", "properties": {"subnetId": "/subnets/a"}});
    served.put(&format!("{cluster}?{version}"), &body).await.with_status(&[201]);
    let pool = json!({"properties": {"platform": {"vmSize": "small"}}});
    served.put(&format!("{cluster}/nodePools/p?{version}"), &pool).await.with_status(&[201]);
    let before = served.get(&format!("{cluster}?{version}")).await.with_status(&[200]);
    assert_eq!(served.delete(&format!("{cluster}?{version}")).await.code(), "CannotDeleteResource");
    served.put(&format!("{cluster}/nodePools/q?{version}"), &pool).await.with_status(&[201]);
    let refused = served.delete(&format!("{cluster}?{version}")).await.with_status(&[409]);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("/nodePools/p and others belong to it"), "{message}");
    let after = served.get(&format!("{cluster}?{version}")).await.with_status(&[200]);
    assert_eq!(after, before, "it is as it was");
    let pools = served.repository.kind("NodePool").unwrap();
    for name in ["s/g/c/p", "s/g/c/q"] {
        let name = Name::new(name).unwrap();
        let revision = pools.get(&name, View::Hub).await.unwrap().unwrap().revision;
        pools.delete(&name, &revision).await.unwrap();
    }
    served.delete(&format!("{cluster}?{version}")).await.with_status(&[200]);
}

#[tokio::test]
async fn a_resource_waits_for_what_belongs_to_it_until_those_have_agreed_who_were_to_be_asked() {
    let served = Served::new(shop().served).await;
    let cart = format!("/subscriptions/s/resourceGroups/g/providers/Example.Shop/carts/one?{VERSION}");
    let line = cart.replace('?', "/lines/l?");
    served.put(&cart, &json!({})).await.with_status(&[201]);
    served.put(&line, &json!({"properties": {"article": "x"}})).await.with_status(&[201]);
    let lines = served.repository.kind("Line").unwrap();
    let name = Name::new("s/g/one/l").unwrap();
    let revision = async || lines.get(&name, View::Hub).await.unwrap().unwrap().revision;
    let ask = |metadata: &mut Metadata, _: &mut _| metadata.finalizers = vec!["audit".into()];
    lines.update_metadata(&name, &revision().await, ask).await.unwrap();
    for _ in 0..2 {
        served.delete(&cart).await.with_status(&[202]);
        served.get(&cart).await.with_status(&[200]);
        served.get(&line).await.with_status(&[200]);
    }
    let refused = served.put(&cart.replace('?', "/lines/new?"), &json!({"properties": {"article": "x"}})).await;
    refused.with_status(&[409]);
    let agree = |metadata: &mut Metadata, _: &mut _| metadata.finalizers.clear();
    lines.update_metadata(&name, &revision().await, agree).await.unwrap();
    served.get(&line).await.with_status(&[404]);
    served.delete(&cart).await.with_status(&[200]);
    served.get(&cart).await.with_status(&[404]);
}

#[tokio::test]
async fn no_child_outlives_its_parent_however_they_meet() {
    let served = Arc::new(Served::new(shop().served).await);
    let cart = "/subscriptions/s/resourceGroups/g/providers/Example.Shop/carts/one";
    for _ in 0..20 {
        served.put(&format!("{cart}?{VERSION}"), &json!({})).await.with_status(&[201]);
        let creating = (0..4).map(|line| {
            let served = served.clone();
            tokio::spawn(async move {
                let uri = format!("{cart}/lines/{line}?{VERSION}");
                served.put(&uri, &json!({"properties": {"article": "x"}})).await.status
            })
        });
        let creating: Vec<_> = creating.collect();
        served.delete(&format!("{cart}?{VERSION}")).await.with_status(&[200]);
        for created in creating {
            assert!([201, 404, 409].contains(&created.await.unwrap()));
        }
        let lines = served.repository.kind("Line").unwrap();
        let left = lines.list(None, wheelwright_store::PageRequest::first(10), View::Hub).await.unwrap();
        assert!(left.items.is_empty(), "{:?}", left.items);
    }
}

#[tokio::test]
async fn of_many_writers_each_finds_the_work_of_the_others() {
    let served = Arc::new(Served::new(shop().served).await);
    let cart = "/subscriptions/s/resourceGroups/g/providers/Example.Shop/carts/one";
    let writing = (0..8).map(|_| {
        let served = served.clone();
        tokio::spawn(async move { served.put(&format!("{cart}?{VERSION}"), &json!({})).await.status })
    });
    let mut statuses = Vec::new();
    for written in writing.collect::<Vec<_>>() {
        statuses.push(written.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 201]);
}
