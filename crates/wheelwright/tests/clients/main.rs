//! Real clients of others against a real server. `cargo xtask test` sees to them; without it, they are left out.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]
#![expect(clippy::print_stdout, reason = "says what was skipped")]

#[path = "../shared/program.rs"]
mod program;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use program::Program;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn the_python_client_of_kubernetes_finds_nothing_amiss() {
    let Some(python) = env::var_os("WHEELWRIGHT_PYTHON") else {
        println!("the Python client: SKIPPED, for WHEELWRIGHT_PYTHON names no python that has it");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let orders = repository().join("examples/orders");
    let (_server, address) = Program::serve(&["--catalog", orders.to_str().unwrap()], folder.path());
    let script = repository().join("crates/wheelwright/tests/clients/kubernetes_client.py");
    let output = Command::new(python).arg(script).arg(format!("http://{address}")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Whatever the published documents allow is answered as they say, and never by a failure of the server.
#[test]
fn what_is_published_is_true() {
    let Some(schemathesis) = env::var_os("WHEELWRIGHT_SCHEMATHESIS") else {
        println!("schemathesis: SKIPPED, for WHEELWRIGHT_SCHEMATHESIS does not name it");
        return;
    };
    for (catalog, group, versions) in [
        ("examples/orders", "shop.example.com", ["v1", "v3"]),
        ("examples/webapp/crd.yaml", "apps.example.com", ["v1alpha1", "v1"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let catalog = repository().join(catalog);
        let (_server, address) = Program::serve(&["--catalog", catalog.to_str().unwrap()], folder.path());
        for version in versions {
            let url = format!("http://{address}/openapi/v3/apis/{group}/{version}");
            let document = folder.path().join(format!("{version}.json"));
            assert!(Command::new("curl").args(["-sf", "-o"]).arg(&document).arg(url).status().unwrap().success());
            without_waiting(&document);
            let mut run = Command::new(&schemathesis);
            run.arg("run").arg(&document).args(["--url", &format!("http://{address}"), "--no-color"]);
            run.args(["--phases", "coverage,fuzzing,stateful", "--max-examples", "60", "--workers", "1"]);
            run.args(["--request-timeout", "20", "--suppress-health-check", "all"]);
            // Kubernetes is not strict: what it does not know it drops, and what it may refuse its documents do not say.
            run.args(["--exclude-checks", "unsupported_method,positive_data_acceptance,negative_data_rejection"]);
            let output = run.current_dir(folder.path()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
    }
}

/// Watches go on until somebody leaves, which nobody here does; and whoever wants to see what has not happened yet is told in
/// the end that it took too long (504), as Kubernetes does. All else is asked for.
fn without_waiting(document: &Path) {
    let mut published: serde_json::Value = serde_json::from_slice(&fs::read(document).unwrap()).unwrap();
    let paths = published["paths"].as_object_mut().unwrap();
    let reads: Vec<_> = paths.values_mut().filter_map(|path| path["get"]["parameters"].as_array_mut()).collect();
    let mut left_out = Vec::new();
    for parameters in reads {
        left_out
            .extend(parameters.extract_if(.., |parameter| {
                ["watch", "resourceVersion"].iter().any(|name| parameter["name"] == *name)
            }));
    }
    for name in ["watch", "resourceVersion"] {
        assert!(left_out.iter().any(|parameter| parameter["name"] == name), "{name} is published");
    }
    fs::write(document, published.to_string()).unwrap();
}
