//! Documents at the size limit: every version displays them in every form, and one byte more is refused at the write.

mod growth;
mod subject;

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
};

use wheelwright_catalog::Catalog;
use wheelwright_document::{self as document};
use wheelwright_evolve::{Hook, HookCall, HookError, Hooks};

use self::subject::Subject;
use crate::{client::begin, support::Running};

/// The largest form that a version may display.
const LIMIT: usize = (3 << 20) - 4096;
/// The longest body of a request.
const BODY: usize = 3 << 20;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// The documents that are tried for one with a field that can grow.
const BASES: usize = 50;

/// The examples that this repository contains completely; the others refer to definitions of other projects.
const EXAMPLES: [&str; 8] =
    ["crm", "front-and-back", "hooks", "node-pools", "openapi-defaults", "orders", "queues", "webapp"];
const OF_OTHERS: [&str; 2] = ["aro-hcp", "cluster-api"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_example_is_here() {
    let folders = fs::read_dir(repository().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let folders: BTreeSet<String> =
        folders.filter(|path| path.is_dir()).map(|path| path.file_name().unwrap().to_string_lossy().into()).collect();
    let known = [&EXAMPLES[..], &OF_OTHERS].concat();
    assert_eq!(folders, known.into_iter().map(str::to_owned).collect());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_the_examples() {
    for example in EXAMPLES {
        let held = hold(&repository().join("examples").join(example)).await;
        assert_eq!(held.grown, held.kinds, "{example}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_things_with_lists_that_defaults_fill_in() {
    let held = hold(&repository().join("crates/repository/tests/catalogs/things")).await;
    assert_eq!(held, Held { kinds: 1, grown: 1, lists: 1 });
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_thing_that_is_as_deep_as_may_be() {
    let (_copied, catalog) = load(&repository().join("crates/repository/tests/catalogs/things"));
    let running = Running::of_catalog(&catalog).await;
    let subject = Subject { running: &running, catalog: &catalog, kind: &catalog.kinds()[0] };
    let create = async |levels: usize| {
        let free = format!("{}{}", r#"{"a":"#.repeat(levels), "1".to_owned() + &"}".repeat(levels));
        let body = format!(
            r#"{{"apiVersion":"test.example.com/v1","kind":"Thing","metadata":{{"name":"deep"}},"spec":{{"free":{free}}}}}"#
        );
        let headers = [("Content-Type".to_owned(), "application/json".to_owned())];
        begin(running.address, "POST", &subject.objects("v1"), &headers, Some(body.as_bytes())).await.whole().await
    };
    let refused = create(510).await;
    assert_eq!(refused.status, 413, "{}", String::from_utf8_lossy(&refused.body));
    assert!(String::from_utf8_lossy(&refused.body).contains("511"));
    assert_eq!(create(509).await.status, 201);
    for version in subject.versions() {
        let list = subject.objects(&version);
        for accept in ["application/json", "application/yaml", TABLE] {
            for path in ["/deep", "/deep?includeObject=Object", "", "?labelSelector=!none", "?limit=1"] {
                subject.read(&format!("{list}{path}"), accept).await;
            }
        }
        subject.watch(&format!("{list}?watch=1&timeoutSeconds=60&labelSelector=!none"), "application/json", 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_objects_of_both_dialects() {
    let held = hold(&repository().join("crates/server/tests/both/shop")).await;
    assert_eq!((held.kinds, held.grown), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "reports that they were skipped")]
async fn of_the_definitions_of_others() {
    let beside = repository().join("../shared");
    let shared = env::var_os("WHEELWRIGHT_SHARED").map_or(beside, PathBuf::from);
    if !shared.join("real-apis/aro-hcp/api").exists() {
        return println!("cluster-api, aro-hcp: SKIPPED");
    }
    for (example, least) in OF_OTHERS.into_iter().zip([3, 6]) {
        // Every text of some kinds has a limit of its own.
        let held = hold(&repository().join("examples").join(example)).await;
        assert!(held.grown >= least, "{example}: {held:?}");
    }
}

/// The hook of the example `hooks`.
struct Postal;

impl Hook for Postal {
    fn up(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let Some(address) = call.get("spec.address").and_then(document::Value::as_str) else {
            return Ok(());
        };
        let (location, country) = address.rsplit_once(", ").unwrap_or((address, ""));
        call.set("spec.location", document::Value::string(location))?;
        call.set("spec.country", document::Value::string(country))
    }

    fn down(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let text = |path| call.get(path).and_then(document::Value::as_str).unwrap_or_default();
        let address = format!("{}, {}", text("spec.location"), text("spec.country"));
        let address = call.arena().text(&address);
        call.set("spec.address", document::Value::string(address))
    }
}

/// The kinds of a catalog.
#[derive(PartialEq, Eq, Default, Debug)]
struct Held {
    kinds: usize,
    /// Those with a field that can grow to the limit.
    grown: usize,
    /// Those with a list of items that defaults fill in.
    lists: usize,
}

/// Holds for the kinds of a catalog.
async fn hold(folder: &Path) -> Held {
    let (copied, catalog) = load(folder);
    let running = Running::with_hooks(&catalog, &Hooks::new().register("postal", Postal)).await;
    let mut held = Held::default();
    for kind in catalog.kinds() {
        let subject = Subject { running: &running, catalog: &catalog, kind };
        let names = subject.hold().await;
        held.kinds += 1;
        held.grown += usize::from(!names.is_empty());
        held.lists += usize::from(names.contains(&"many-items"));
    }
    drop(copied);
    held
}

/// A catalog, without its lock.
fn load(folder: &Path) -> (tempfile::TempDir, Catalog) {
    let copied = tempfile::tempdir().unwrap();
    copy(folder, copied.path());
    if folder.ends_with("webapp") {
        // The others are what is wrong with it.
        fs::read_dir(copied.path())
            .unwrap()
            .map(Result::unwrap)
            .filter(|entry| entry.file_name() != "crd.yaml")
            .for_each(|entry| fs::remove_file(entry.path()).unwrap());
    }
    let shared = env::var_os("WHEELWRIGHT_SHARED").map_or(repository().join("../shared"), PathBuf::from);
    if folder.ends_with("aro-hcp") {
        copy(&shared.join("real-apis/aro-hcp/api"), &copied.path().join("api"));
    }
    let file = copied.path().join("wheelwright.yaml");
    if let Ok(text) = fs::read_to_string(&file) {
        let text = text.replace("../../../shared", &shared.canonicalize().unwrap_or_default().to_string_lossy());
        let text = match folder.ends_with("openapi-defaults") {
            false => text,
            true => text.replacen(
                "    definition:",
                "    arm: Example.Test/documents\n    longRunning: false\n    definition:",
                1,
            ),
        };
        // No back end completes operations here.
        let text = match folder.ends_with("node-pools") {
            false => text,
            true => text.replace("    definition:", "    longRunning: false\n    definition:"),
        };
        fs::write(&file, text).unwrap();
    }
    let catalog = Catalog::load(&[copied.path()]).unwrap();
    (copied, catalog)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let to = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &to),
            false if path.extension().is_some_and(|extension| extension == "lock") => {}
            false => drop(fs::copy(&path, to).unwrap()),
        }
    }
}
