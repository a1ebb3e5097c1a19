//! The packages that the workspace is built from: `cargo metadata` with what `Cargo.lock` knows of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toml_edit::Document;

use crate::{cargo_command, output, root};

/// A package of one version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The SPDX expression; older ones have a slash for OR.
    pub(crate) license: String,
    /// The registry or repository; none for a package of the workspace.
    pub(crate) source: Option<String>,
    /// The SHA-256 of the package file; none for a package of the workspace.
    pub(crate) checksum: Option<String>,
    /// The packages that it depends on, by name and version.
    pub(crate) dependencies: BTreeSet<Id>,
}

/// The name and version of a package.
pub(crate) type Id = (String, String);

/// The packages for some platforms, tests included.
pub(crate) fn all(platforms: &[String]) -> Result<BTreeMap<Id, Package>, String> {
    let checksums = checksums()?;
    let mut packages: BTreeMap<Id, Package> = BTreeMap::new();
    for platform in platforms {
        let arguments = ["metadata", "--format-version", "1", "--all-features", "--filter-platform", platform];
        let metadata = output(cargo_command(arguments).current_dir(root()))?;
        let metadata: Value = serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
        for package in of_metadata(&metadata, &checksums) {
            let known = packages.entry(package.id()).or_insert_with(|| package.clone());
            known.dependencies.extend(package.dependencies);
        }
    }
    Ok(packages)
}

/// The packages of `wheelwright` alone, as `cargo tree` reports them for some sorts of dependencies.
pub(crate) fn of_program(edges: &str, platform: &str) -> Result<BTreeSet<Id>, String> {
    let arguments = ["tree", "--package", "wheelwright", "--edges", edges, "--target", platform];
    let tree = output(cargo_command(arguments).args(["--prefix", "none", "--format", "{p}"]).current_dir(root()))?;
    let id = |line: &str| {
        let mut words = line.split(' ');
        Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
    };
    tree.lines().map(|line| id(line).ok_or_else(|| format!("cargo tree: {line}"))).collect()
}

fn of_metadata(metadata: &Value, checksums: &BTreeMap<Id, String>) -> Vec<Package> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages = list(&metadata["packages"]);
    let ids: BTreeMap<String, Id> = packages
        .iter()
        .map(|package| (text(&package["id"]), (text(&package["name"]), text(&package["version"]))))
        .collect();
    let nodes = list(&metadata["resolve"]["nodes"]);
    let dependencies: BTreeMap<String, BTreeSet<Id>> = nodes
        .iter()
        .map(|node| {
            let dependencies = list(&node["dependencies"]);
            (text(&node["id"]), dependencies.iter().filter_map(|id| ids.get(id.as_str()?).cloned()).collect())
        })
        .collect();
    let package = |package: &Value| {
        let id = (text(&package["name"]), text(&package["version"]));
        Some(Package {
            license: text(&package["license"]),
            source: package["source"].as_str().map(str::to_owned),
            checksum: checksums.get(&id).cloned(),
            // A package that is not in the graph is for another platform.
            dependencies: dependencies.get(package["id"].as_str()?)?.clone(),
            name: id.0,
            version: id.1,
        })
    };
    packages.iter().filter_map(package).collect()
}

fn checksums() -> Result<BTreeMap<Id, String>, String> {
    let path = root().join("Cargo.lock");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lock = Document::parse(text).map_err(|error| format!("{}: {error}", path.display()))?;
    let packages = lock["package"].as_array_of_tables().into_iter().flatten();
    let text = |package: &toml_edit::Table, key| Some(package.get(key)?.as_str()?.to_owned());
    let checksum = |package| Some(((text(package, "name")?, text(package, "version")?), text(package, "checksum")?));
    Ok(packages.filter_map(checksum).collect())
}

impl Package {
    pub(crate) fn id(&self) -> Id {
        (self.name.clone(), self.version.clone())
    }

    /// The license as an SPDX expression of today.
    pub(crate) fn expression(&self) -> String {
        self.license.replace(" / ", " OR ").replace('/', " OR ")
    }
}
