//! What the service of ARO-HCP answered: a resource that is created through one version, and read and listed through all.
//! Every scenario that is there is run.

use std::{fs, path::Path};

use serde_json::Value as Json;

use crate::{
    catalogs::{aro_hcp, shared},
    client::Served,
};

#[tokio::test]
#[expect(clippy::print_stdout, reason = "says that they were skipped")]
async fn what_is_created_through_one_version_is_read_and_listed_through_all_as_the_service_did() {
    let Some(folder) = shared().map(|shared| shared.join("real-apis/aro-hcp/version-compliance")) else {
        println!("version compliance: SKIPPED");
        return;
    };
    let mut run = 0;
    for kind in folders(&folder) {
        for scenario in folders(&kind) {
            pass(&scenario).await;
            run += 1;
        }
    }
    assert!(run > 0, "there is a scenario");
}

/// What was recorded goes for any version that takes the same request.
async fn pass(folder: &Path) {
    let scenario = json(&folder.join("scenario.json"));
    let created_with = scenario["createVersion"].as_str().expect("a version");
    pass_through(folder, &scenario, created_with).await;
    for (version, _) in answers(&folder.join("expected/get")) {
        pass_through(folder, &scenario, &version).await;
    }
}

async fn pass_through(folder: &Path, scenario: &Json, created_with: &str) {
    let served = Served::new(aro_hcp().expect("the documents are there").served).await;
    let text = |key: &str| scenario[key].as_str().map(str::to_owned);
    let id = text("resourceID").expect("a resource");
    let versions = answers(&folder.join("expected/get")).into_iter().map(|(version, _)| version);
    if let Some(parent) = text("clusterResourceID").filter(|parent| *parent != id) {
        let cluster = json(&folder.join("cluster.json"));
        // It is told as it was stored, in the shape of some version.
        for version in [created_with.to_owned()].into_iter().chain(versions) {
            let answer = served.put(&format!("{parent}?api-version={version}"), &cluster).await;
            if answer.status == 201 {
                break;
            }
        }
        served.get(&format!("{parent}?api-version={created_with}")).await.with_status(&[200]);
    }
    let request = json(&folder.join("request.json"));
    let created = served.put(&format!("{id}?api-version={created_with}"), &request).await;
    if Some(created_with) != scenario["createVersion"].as_str() && created.status == 400 {
        return;
    }
    created.with_status(&[201]);
    for (version, expected) in answers(&folder.join("expected/get")) {
        let shown = served.get(&format!("{id}?api-version={version}")).await.with_status(&[200]);
        assert_eq!(
            without_caller(shown),
            without_caller(expected),
            "GET at {version} of what was created at {created_with} in {}",
            folder.display()
        );
    }
    for (version, expected) in answers(&folder.join("expected/list")) {
        let (collection, _) = id.rsplit_once('/').expect("a collection");
        let listed = served.get(&format!("{collection}?api-version={version}")).await.with_status(&[200]);
        let items = listed["value"].as_array().expect("a list").clone();
        let expected = match expected.get("value").and_then(Json::as_array) {
            Some(items) => items.clone(),
            None => vec![expected],
        };
        let [items, expected] =
            [items, expected].map(|items| items.into_iter().map(without_caller).collect::<Vec<_>>());
        assert_eq!(items, expected, "LIST at {version} of what was created at {created_with} in {}", folder.display());
    }
}

/// A resource without who wrote it and when.
fn without_caller(mut resource: Json) -> Json {
    if let Some(fields) = resource.as_object_mut() {
        fields.remove("systemData");
    }
    resource
}

/// The answers of each version in a folder.
fn answers(folder: &Path) -> Vec<(String, Json)> {
    let mut files: Vec<_> = fs::read_dir(folder).expect("answers").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let version = |file: &Path| file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    files.iter().map(|file| (version(file), json(file))).collect()
}

fn folders(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn json(file: &Path) -> Json {
    serde_json::from_slice(&fs::read(file).expect("a file")).expect("JSON")
}
