//! The laws over HTTP: what is created through one version is the same there after others have read it, written it back and
//! tagged it through theirs.

use serde_json::{Value as Json, json};
use wheelwright_document::{Arena, encode};
use wheelwright_evolve::{
    Declaration,
    laws::{Generator, Random},
};

use crate::{
    catalogs::{Kinds, aro_hcp, node_pools, openapi_defaults, shop},
    client::Served,
};

/// So many documents of every version that are taken.
const CASES: usize = 8;

#[tokio::test]
async fn of_our_own_documents() {
    hold(shop()).await;
}

#[tokio::test]
async fn of_the_node_pools_of_the_examples() {
    hold(openapi_defaults()).await;
}

#[tokio::test]
async fn of_the_clusters_and_node_pools_of_the_examples() {
    hold(node_pools()).await;
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "says that they were skipped")]
async fn of_the_documents_of_aro_hcp() {
    match aro_hcp() {
        Some(kinds) => hold(kinds).await,
        None => println!("ARO-HCP: SKIPPED"),
    }
}

#[tokio::test]
async fn of_our_own_documents_in_sqlite() {
    let Kinds { served, declared } = shop();
    let folder = tempfile::tempdir().expect("a folder");
    hold_in(Served::in_sqlite(served, folder.path()).await, &declared).await;
}

async fn hold(kinds: Kinds) {
    let Kinds { served, declared } = kinds;
    hold_in(Served::new(served).await, &declared).await;
}

async fn hold_in(served: Served, declared: &[(Declaration, String)]) {
    let mut random = Random::new(7);
    for (declaration, resource_type) in declared {
        let place = place(&served, resource_type, declared, &mut random).await;
        for (position, version) in declaration.versions.iter().enumerate() {
            let mut taken = 0;
            for case in 0..CASES * 40 {
                let uri = format!("{place}/r-{position}-{case}");
                let document = generated(declaration, version.name.as_str(), &mut random);
                let created = served.put(&format!("{uri}?api-version={}", version.name), &document).await;
                assert!([201, 400].contains(&created.status), "{}", String::from_utf8_lossy(&created.body));
                if created.status == 201 {
                    through_all(&served, &uri, version.name.as_str(), declaration).await;
                    taken += 1;
                }
                if taken == CASES {
                    break;
                }
            }
            assert_eq!(taken, CASES, "so many documents of {resource_type} at {} are taken", version.name);
        }
    }
}

/// Goes through all other versions and back.
async fn through_all(served: &Served, uri: &str, version: &str, declaration: &Declaration) {
    let own = format!("{uri}?api-version={version}");
    let first = served.get(&own).await.with_status(&[200]);
    for other in &declaration.versions {
        let there = format!("{uri}?api-version={}", other.name);
        let read = served.get(&there).await.with_status(&[200]);
        let before = served.get(&own).await.with_status(&[200]);
        served.put(&there, &read).await.with_status(&[200]);
        let again = served.get(&own).await.with_status(&[200]);
        assert_eq!(again, before, "after a PUT of what was read at {} to {own}", other.name);
        let tags = other.schema.property("tags").map_or(json!({}), |_| json!({"tags": {"by": other.name.as_str()}}));
        served.patch(&there, &tags).await.with_status(&[200]);
        let again = served.get(&own).await.with_status(&[200]);
        assert_eq!(untagged(again), untagged(first.clone()), "after a PATCH at {} of {own}", other.name);
        let read_again = served.get(&there).await.with_status(&[200]);
        assert_eq!(untagged(read_again), untagged(read), "at {} itself, of {own}", other.name);
    }
}

/// Without tags, and what follows from writing them.
fn untagged(mut resource: Json) -> Json {
    for key in ["tags", "systemData", "etag"] {
        if let Some(fields) = resource.as_object_mut() {
            fields.remove(key);
        }
    }
    resource
}

/// Where resources of a type can be created; what they belong to is there.
async fn place(
    served: &Served,
    resource_type: &str,
    declared: &[(Declaration, String)],
    random: &mut Random,
) -> String {
    let (provider, types) = resource_type.split_once('/').expect("a type");
    let mut place = format!("/subscriptions/s/resourceGroups/g/providers/{provider}");
    let types: Vec<&str> = types.split('/').collect();
    for (depth, of_type) in types.iter().enumerate() {
        place = format!("{place}/{of_type}");
        let is_last = depth + 1 == types.len();
        if is_last {
            break;
        }
        let parent_type = format!("{provider}/{}", types[..=depth].join("/"));
        let (parent, _) = declared.iter().find(|(_, of)| *of == parent_type).expect("what it belongs to");
        place = format!("{place}/parent");
        for _ in 0..200 {
            let version = parent.versions[0].name.as_str();
            let document = generated(parent, version, random);
            if served.put(&format!("{place}?api-version={version}"), &document).await.status == 201 {
                break;
            }
        }
    }
    place
}

fn generated(declaration: &Declaration, version: &str, random: &mut Random) -> Json {
    let version = declaration.version(version).expect("a version");
    let arena = Arena::new();
    let generator = Generator::new(&version.schema, version.root);
    let document = generator.generate(random, &arena);
    serde_json::from_slice(&encode(document)).expect("JSON")
}
