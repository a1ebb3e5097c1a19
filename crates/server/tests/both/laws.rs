//! The laws across dialects: what is created through one is the same there after the other has read it, written it back and
//! tagged or labelled it, at every pair of versions.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use wheelwright_catalog::{Catalog, KubernetesResource};
use wheelwright_document::{Arena, encode};
use wheelwright_evolve::{
    Declaration,
    laws::{Generator, Random},
};

use crate::support::{Running, said};

/// So many documents of every version that are taken, through each dialect.
const CASES: usize = 4;

#[tokio::test]
async fn of_orders() {
    hold("examples/orders").await;
}

#[tokio::test]
async fn of_databases() {
    hold("examples/front-and-back").await;
}

#[tokio::test]
async fn of_things_with_every_sort_of_change() {
    hold("crates/repository/tests/catalogs/things").await;
}

#[tokio::test]
async fn of_orders_with_a_status() {
    hold("crates/server/tests/both/shop").await;
}

/// Holds for the one kind of a catalog, which is served by both dialects.
async fn hold(catalog: &str) {
    let (folder, source) = (tempfile::tempdir().unwrap(), repository().join(catalog));
    for entry in fs::read_dir(source).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        let name = entry.file_name().into_string().unwrap();
        let mut text = fs::read_to_string(entry.path()).unwrap();
        if name == "wheelwright.yaml" && !text.contains("arm:") {
            text += "    arm: { type: Example.Test/documents, subscription: s }\n";
        }
        // The lock is of the example as it is, and catalogs of tests have none.
        if name.ends_with(".yaml") {
            fs::write(folder.path().join(name), text).unwrap();
        }
    }
    let server = Running::of(folder.path(), None).await;
    let loaded = Catalog::load(&[folder.path()]).unwrap();
    let kind = &loaded.kinds()[0];
    let paths = Paths {
        resource: kind.kubernetes.last().expect("a resource"),
        of_type: kind.arm.as_deref().expect("a type"),
        subscription: kind.arm_subscription.as_deref().expect("a subscription"),
    };
    let mut random = Random::new(7);
    for version in paths.versions() {
        for is_first_arm in [true, false] {
            let mut taken = 0;
            for case in 0..CASES * 60 {
                let name = format!("{version}-{case}-{}", if is_first_arm { "arm" } else { "kubernetes" });
                let document = generated(&kind.declaration, version, &mut random);
                if create(&server, &paths, version, &name, &document, is_first_arm).await {
                    through_all(&server, &paths, version, &name, is_first_arm).await;
                    taken += 1;
                }
                if taken == CASES {
                    break;
                }
            }
            assert_eq!(taken, CASES, "so many documents of {catalog} at {version} are taken");
        }
    }
}

/// Creates a document; false if it is not valid.
async fn create(
    server: &Running,
    paths: &Paths<'_>,
    version: &str,
    name: &str,
    document: &Value,
    is_arm: bool,
) -> bool {
    let created = match is_arm {
        true => server.send("PUT", &paths.arm(name, version), &said(document)).await,
        false => {
            let mut object = said(document);
            object["apiVersion"] = json!(format!("{}/{version}", paths.resource.group));
            object["kind"] = json!(&*paths.resource.kind);
            object["metadata"] = json!({"name": name, "annotations": {"a": "b"}});
            server.send("POST", &paths.kubernetes("", version), &object).await
        }
    };
    assert!([201, 400, 422].contains(&created.status), "{}", String::from_utf8_lossy(&created.body));
    created.status == 201
}

/// Goes through all versions of the other dialect and back, and removes it there.
async fn through_all(server: &Running, paths: &Paths<'_>, version: &str, name: &str, is_first_arm: bool) {
    let own = |version: &str| if is_first_arm { paths.arm(name, version) } else { paths.kubernetes(name, version) };
    let other = |version: &str| if is_first_arm { paths.kubernetes(name, version) } else { paths.arm(name, version) };
    let first = server.get(&own(version)).await;
    for spoken in paths.versions() {
        let (before, read) = (server.get(&own(version)).await, server.get(&other(spoken)).await);
        assert_eq!(said(&server.get(&own(spoken)).await), said(&read), "both dialects say the same at {spoken}");
        server.send("PUT", &other(spoken), &read).await.with_status(200);
        assert_eq!(server.get(&own(version)).await, before, "after a PUT of what was read at {spoken}");
        let patch = match is_first_arm {
            true => json!({"metadata": {"labels": {"by": spoken}}}),
            false => json!({"tags": {"by": spoken}}),
        };
        server.send("PATCH", &other(spoken), &patch).await.with_status(200);
        let after = server.get(&own(version)).await;
        assert_eq!(said(&after), said(&first), "after a PATCH at {spoken}");
        let tags = if is_first_arm { &after["tags"] } else { &after["metadata"]["labels"] };
        assert_eq!(*tags, json!({"by": spoken}));
        for key in ["uid", "generation", "creationTimestamp", "annotations", "name", "namespace"] {
            assert_eq!(after["metadata"][key], first["metadata"][key], "{key} after a PATCH at {spoken}");
        }
    }
    assert_eq!(server.delete(&other(version)).await.status, 200);
    assert_eq!(server.request("GET", &own(version), &[], b"").await.status, 404);
}

/// Where the documents of a kind are.
struct Paths<'k> {
    resource: &'k KubernetesResource,
    of_type: &'k str,
    subscription: &'k str,
}

impl Paths<'_> {
    fn versions(&self) -> Vec<&str> {
        self.resource.versions.iter().filter(|version| version.is_served).map(|version| &*version.name).collect()
    }

    fn arm(&self, name: &str, version: &str) -> String {
        let Self { subscription, of_type, .. } = self;
        format!("/subscriptions/{subscription}/resourceGroups/here/providers/{of_type}/{name}?api-version={version}")
    }

    fn kubernetes(&self, name: &str, version: &str) -> String {
        let (group, plural) = (&self.resource.group, &self.resource.plural);
        let slash = if name.is_empty() { "" } else { "/" };
        format!("/apis/{group}/{version}/namespaces/here/{plural}{slash}{name}")
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn generated(declaration: &Declaration, version: &str, random: &mut Random) -> Value {
    let version = declaration.version(version).expect("a version");
    let arena = Arena::new();
    let generator = Generator::new(&version.schema, version.root);
    serde_json::from_slice(&encode(generator.generate(random, &arena))).expect("JSON")
}
