//! The definitions that changes are seeded into: our own, and real ones where they are there.

use std::fs;

use serde_json::{Value as Json, json};

use super::shared;

/// A definition.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) definition: Json,
}

const OWN: [(&str, &str); 3] = [
    ("orders", include_str!("crds/orders.json")),
    ("couriers", include_str!("crds/couriers.json")),
    ("depots", include_str!("crds/depots.json")),
];

/// Definitions of our own, which together have everything that the classes of change are about.
pub(crate) fn own() -> Vec<Subject> {
    let subject = |(name, text): (&str, &str)| {
        let definition = serde_json::from_str(text).expect("our definitions are JSON");
        Subject { name: name.to_owned(), definition }
    };
    OWN.map(subject).to_vec()
}

/// Real definitions, in the order of their names.
pub(crate) fn real() -> Vec<Subject> {
    let folder = shared::shared().map(|shared| shared.join("conformance/crds"));
    let files = folder.and_then(|folder| fs::read_dir(folder).ok());
    let mut subjects: Vec<Subject> = files
        .into_iter()
        .flat_map(|files| files.flatten())
        .filter_map(|file| {
            let name = file.file_name().to_string_lossy().strip_suffix(".json")?.to_owned();
            let definition: Json = serde_json::from_slice(&fs::read(file.path()).ok()?).ok()?;
            (definition["kind"] == "CustomResourceDefinition").then_some(Subject { name, definition })
        })
        .collect();
    subjects.sort_by(|a, b| a.name.cmp(&b.name));
    subjects
}

impl Subject {
    /// The same with versions that are all stable: `v1`, `v2`, in the order of the names that they had.
    pub(crate) fn stable(&self) -> Self {
        let mut definition = self.definition.clone();
        if let Some(versions) = definition["spec"]["versions"].as_array_mut() {
            versions.sort_by_key(|version| age(version["name"].as_str().unwrap_or_default()));
            for (position, version) in versions.iter_mut().enumerate() {
                version["name"] = json!(format!("v{}", position + 1));
            }
        }
        Self { name: self.name.clone(), definition }
    }

    /// The names of the versions that are served, oldest first.
    pub(crate) fn versions(&self) -> Vec<String> {
        let versions = self.definition["spec"]["versions"].as_array();
        let served = versions.into_iter().flatten().filter(|version| version["served"] == true);
        let mut names: Vec<String> = served.filter_map(|version| Some(version["name"].as_str()?.to_owned())).collect();
        names.sort_by_key(|name| age(name));
        names
    }

    /// The schema of a version.
    pub(crate) fn schema(&self, version: &str) -> Option<&Json> {
        let versions = self.definition["spec"]["versions"].as_array()?;
        versions.iter().find(|there| there["name"] == version)?.get("schema")?.get("openAPIV3Schema")
    }

    /// The same with another schema for a version.
    pub(crate) fn with_schema(&self, version: &str, schema: Json) -> Self {
        let mut changed = self.clone();
        let versions = changed.definition["spec"]["versions"].as_array_mut();
        let version = versions.into_iter().flatten().find(|there| there["name"] == version);
        if let Some(version) = version {
            version["schema"]["openAPIV3Schema"] = schema;
        }
        changed
    }

    /// The same with one more version after a stable one, which has its schema; with the name of the new version.
    pub(crate) fn with_next(&self, version: &str) -> Option<(Self, String)> {
        let number: u32 = version.strip_prefix('v')?.parse().ok()?;
        let next = format!("v{}", number + 1);
        let mut changed = self.clone();
        let versions = changed.definition["spec"]["versions"].as_array_mut()?;
        if versions.iter().any(|there| there["name"] == *next) {
            return None;
        }
        let mut copy = versions.iter().find(|there| there["name"] == version)?.clone();
        copy["name"] = json!(next);
        copy["storage"] = json!(false);
        versions.push(copy);
        Some((changed, next))
    }

    pub(crate) fn api_version(&self, version: &str) -> String {
        format!("{}/{version}", self.definition["spec"]["group"].as_str().unwrap_or_default())
    }

    pub(crate) fn kind(&self) -> &str {
        self.definition["spec"]["names"]["kind"].as_str().unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        serde_json::to_string_pretty(&self.definition).expect("JSON can be written")
    }
}

/// Whether clients rely on a version.
pub(crate) fn is_stable(version: &str) -> bool {
    !version.contains("alpha") && !version.contains("beta")
}

/// Orders names of versions as Kubernetes does, oldest first.
fn age(version: &str) -> (u8, u32, u32) {
    let number = |text: &str| text.parse().unwrap_or(0);
    let rest = version.strip_prefix('v').unwrap_or(version);
    match (rest.split_once("alpha"), rest.split_once("beta")) {
        (Some((major, minor)), _) => (0, number(major), number(minor)),
        (_, Some((major, minor))) => (1, number(major), number(minor)),
        _ => (2, number(rest), 0),
    }
}
