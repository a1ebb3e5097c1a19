//! What an operator hears of systems that own fields.

use std::{net::TcpListener, path::Path, process::Command};

use crate::server::Server;

#[test]
fn what_happens_with_a_source_is_counted_and_the_store_can_be_looked_into_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("fleet.db");
    let catalog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/node-pools/with-cluster-service");
    // An address that nobody listens at.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let source = format!("clusterService=http://{nobody}/");
    let server = Server::serving(&catalog, &store, &["--source", &source]);
    let mut client = server.connect().unwrap();
    let cluster = "/subscriptions/s1/resourceGroups/g1/providers/Example.Fleet/clusters/one";
    let version = "?api-version=2026-09-01-preview";
    let body = r#"{"location":"north","properties":{"subnetId":"subnet"}}"#;
    let (status, answer) = client.request("PUT", &format!("{cluster}{version}"), body).unwrap();
    assert!(status == 201 || status == 200, "{status} {answer}");
    let (status, answer) = client.request("PUT", &format!("{cluster}/nodePools/np{version}"), "{}").unwrap();
    assert_eq!(status, 503, "{answer}");
    let (_, metrics) = client.request("GET", "/metrics", "").unwrap();
    for line in [
        r#"wheelwright_source_documents_total{source="clusterService"} 1"#,
        r#"wheelwright_source_failures_total{source="clusterService"} 1"#,
        r#"wheelwright_source_divergences_total{source="clusterService"} 0"#,
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }

    let stored = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_wheelwright"))
            .args(["store"])
            .args(arguments)
            .args(["--store", &format!("sqlite:{}", store.display()), "--catalog"])
            .arg(&catalog)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, names, said) = stored(&["list"]);
    assert_eq!((code, &*names), (Some(0), "Cluster s1/g1/one 2026-09-01-preview\n"), "{said}");
    let pool = folder.path().join("pool.json");
    std::fs::write(&pool, "{}").unwrap();
    let put =
        ["put", pool.to_str().unwrap(), "--kind", "NodePool", "--from", "2026-09-01-preview", "--name", "s1/g1/one/np"];
    let (code, names, said) = stored(&put);
    assert_eq!((code, &*names), (Some(2), ""), "{said}");
    assert!(said.contains("nobody has said how it is asked") && said.contains("--source NAME=URL"), "{said}");
}
