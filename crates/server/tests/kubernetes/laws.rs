//! The laws over HTTP: what is created through one version is the same there after others have read it, written it back and
//! labelled it through theirs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use wheelwright_catalog::Catalog;
use wheelwright_document::{Arena, encode};
use wheelwright_evolve::{
    Declaration,
    laws::{Generator, Random},
};

use crate::{
    client::{Answered, begin},
    support::Running,
};

/// So many documents of every version that are taken.
const CASES: usize = 6;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[tokio::test]
async fn of_orders() {
    hold(&["examples/orders/crd.yaml", "examples/orders/changes.yaml", "examples/orders/wheelwright.yaml"]).await;
}

#[tokio::test]
async fn of_databases() {
    let files = ["crd.yaml", "changes.yaml", "wheelwright.yaml"].map(|name| format!("examples/front-and-back/{name}"));
    hold(&files.each_ref().map(String::as_str)).await;
}

#[tokio::test]
async fn of_a_definition_alone() {
    hold(&["examples/webapp/crd.yaml"]).await;
}

#[tokio::test]
async fn of_things_with_every_sort_of_change() {
    let folder = repository().join("crates/repository/tests/catalogs/things");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files = files.filter(|name| !name.ends_with(".lock"));
    let files: Vec<String> = files.map(|name| format!("crates/repository/tests/catalogs/things/{name}")).collect();
    hold(&files.iter().map(String::as_str).collect::<Vec<_>>()).await;
}

/// Holds for the kinds of some files, which are a catalog together.
async fn hold(files: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let name = Path::new(file).file_name().unwrap();
        fs::copy(repository().join(file), folder.path().join(name)).unwrap();
    }
    let running = Running::of(folder.path()).await;
    let catalog = Catalog::load(&[folder.path()]).unwrap();
    let mut random = Random::new(7);
    for kind in catalog.kinds() {
        let resource = kind.kubernetes.last().expect("a resource");
        let scope = if resource.is_namespaced { "/namespaces/here" } else { "" };
        let served: Vec<&str> =
            resource.versions.iter().filter(|version| version.is_served).map(|version| &*version.name).collect();
        let collection = |version: &str| format!("/apis/{}/{version}{scope}/{}", resource.group, resource.plural);
        for version in &served {
            let mut taken = 0;
            for case in 0..CASES * 60 {
                let name = format!("{version}-{case}");
                let mut document = generated(&kind.declaration, version, &mut random);
                document["apiVersion"] = json!(format!("{}/{version}", resource.group));
                document["kind"] = json!(&*resource.kind);
                document["metadata"] = json!({"name": name});
                let created = send(&running, "POST", &collection(version), &document).await;
                assert!([201, 400, 422].contains(&created.status), "{}", String::from_utf8_lossy(&created.body));
                if created.status == 201 {
                    let paths = served.iter().map(|version| format!("{}/{name}", collection(version)));
                    through_all(&running, &format!("{}/{name}", collection(version)), paths).await;
                    taken += 1;
                }
                if taken == CASES {
                    break;
                }
            }
            assert_eq!(taken, CASES, "so many documents of {} at {version} are taken", resource.kind);
        }
    }
}

/// Goes through all other versions and back.
async fn through_all(running: &Running, own: &str, others: impl Iterator<Item = String>) {
    let first = get(running, own).await;
    for other in others {
        let (before, read) = (get(running, own).await, get(running, &other).await);
        let written = send(running, "PUT", &other, &read).await;
        assert_eq!(written.status, 200, "{other}: {}\n{read}", String::from_utf8_lossy(&written.body));
        assert_eq!(get(running, own).await, before, "after a PUT of what was read at {other}");
        let labels = json!({"metadata": {"labels": {"by": "somebody"}}});
        assert_eq!(send(running, "PATCH", &other, &labels).await.status, 200, "{other}");
        assert_eq!(unlabelled(get(running, own).await), unlabelled(first.clone()), "after a PATCH at {other}");
        assert_eq!(unlabelled(get(running, &other).await), unlabelled(read), "at {other} itself");
    }
}

/// Without labels, and what follows from writing them.
fn unlabelled(mut document: Value) -> Value {
    for key in ["labels", "resourceVersion"] {
        document["metadata"].as_object_mut().unwrap().remove(key);
    }
    document
}

async fn get(running: &Running, path: &str) -> Value {
    let answered = begin(running.address, "GET", path, &[], None).await.whole().await;
    assert_eq!(answered.status, 200, "{path}: {}", String::from_utf8_lossy(&answered.body));
    serde_json::from_slice(&answered.body).expect("JSON")
}

async fn send(running: &Running, method: &str, path: &str, body: &Value) -> Answered {
    let sort = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let headers = [("Content-Type".to_owned(), sort.to_owned())];
    begin(running.address, method, path, &headers, Some(body.to_string().as_bytes())).await.whole().await
}

fn generated(declaration: &Declaration, version: &str, random: &mut Random) -> Value {
    let version = declaration.version(version).expect("a version");
    let arena = Arena::new();
    let generator = Generator::new(&version.schema, version.root);
    let document = generator.generate(random, &arena);
    serde_json::from_slice(&encode(document)).expect("JSON")
}
