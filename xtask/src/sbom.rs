//! The software bill of materials of the `wheelwright` program: CycloneDX 1.5 in JSON.
//!
//! It is the same for the same `Cargo.lock` and platform: it has no time and no serial number.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{
    output,
    packages::{self, Id, Package},
};

/// The bill of the program for the platform that this runs on.
pub(crate) fn sbom() -> Result<String, String> {
    let platform = output(std::process::Command::new("rustc").args(["--print", "host-tuple"]))?.trim().to_owned();
    let all = packages::all(std::slice::from_ref(&platform))?;
    let used = packages::of_program("normal,build", &platform)?;
    let linked = packages::of_program("normal,no-proc-macro", &platform)?;
    let packages: Vec<&Package> = used
        .iter()
        .map(|id| all.get(id).ok_or_else(|| format!("{id:?} is not in cargo metadata")))
        .collect::<Result<_, _>>()?;
    let bill = bill(&packages, &linked)?;
    serde_json::to_string_pretty(&bill).map(|text| text + "\n").map_err(|error| error.to_string())
}

fn bill(packages: &[&Package], linked: &BTreeSet<Id>) -> Result<Value, String> {
    let program =
        packages.iter().find(|package| package.name == "wheelwright").ok_or("wheelwright is not in the tree")?;
    let refs: BTreeMap<Id, String> = packages.iter().map(|package| (package.id(), purl(package))).collect();
    let components = packages.iter().filter(|package| package.name != "wheelwright");
    let components: Vec<Value> = components.map(|package| component(package, linked.contains(&package.id()))).collect();
    let dependencies = packages.iter().map(|package| {
        let on: Vec<&String> = package.dependencies.iter().filter_map(|id| refs.get(id)).collect();
        json!({"ref": purl(package), "dependsOn": on})
    });
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {
            "type": "application",
            "bom-ref": purl(program),
            "name": program.name,
            "version": program.version,
            "licenses": [{"expression": program.expression()}],
            "purl": purl(program),
        }},
        "components": components,
        "dependencies": dependencies.collect::<Vec<_>>(),
    }))
}

/// A package; one that is only there to build others is not in the program.
fn component(package: &Package, is_linked: bool) -> Value {
    let hashes: Vec<Value> =
        package.checksum.iter().map(|checksum| json!({"alg": "SHA-256", "content": checksum})).collect();
    json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": package.name,
        "version": package.version,
        "scope": if is_linked { "required" } else { "excluded" },
        "hashes": hashes,
        "licenses": [{"expression": package.expression()}],
        "purl": purl(package),
    })
}

fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bill_is_whole_and_the_same_every_time() {
        let text = sbom().unwrap();
        assert_eq!(text, sbom().unwrap());
        let bill: Value = serde_json::from_str(&text).unwrap();
        let list = |value: &Value| value.as_array().unwrap().clone();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let components = list(&bill["components"]);
        let program = &bill["metadata"]["component"];
        assert_eq!((text(&bill["specVersion"]), text(&program["name"])), ("1.5".to_owned(), "wheelwright".to_owned()));
        for component in &components {
            let (name, version) = (text(&component["name"]), text(&component["version"]));
            assert_eq!(text(&component["purl"]), format!("pkg:cargo/{name}@{}", version.replace('+', "%2B")));
            assert!(!text(&component["licenses"][0]["expression"]).is_empty(), "{component}");
            let is_ours = name.starts_with("wheelwright-");
            let hashes = list(&component["hashes"]);
            assert_eq!(hashes.len(), usize::from(!is_ours), "{component}");
            let is_hash = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(hashes.iter().all(|hash| is_hash(&text(&hash["content"]))), "{component}");
        }
        let scope = |name: &str| {
            let found = components.iter().find(|component| component["name"] == name);
            found.map(|component| text(&component["scope"]))
        };
        for (name, expected) in [
            ("ring", Some("required")),
            ("libsqlite3-sys", Some("required")),
            ("wheelwright-server", Some("required")),
            ("syn", Some("excluded")),
            ("cc", Some("excluded")),
            // Tests alone use these.
            ("proptest", None),
            ("rcgen", None),
            ("trycmd", None),
        ] {
            assert_eq!(scope(name).as_deref(), expected, "{name}");
        }
        // Everything is reached from the program.
        let graph: BTreeMap<String, Vec<String>> = list(&bill["dependencies"])
            .iter()
            .map(|entry| (text(&entry["ref"]), list(&entry["dependsOn"]).iter().map(text).collect()))
            .collect();
        let mut reached = BTreeSet::new();
        let mut open = vec![text(&program["bom-ref"])];
        while let Some(next) = open.pop() {
            if reached.insert(next.clone()) {
                open.extend(graph[&next].clone());
            }
        }
        let known: BTreeSet<String> =
            components.iter().chain([program]).map(|component| text(&component["bom-ref"])).collect();
        assert_eq!(known.len(), components.len() + 1, "each has a name of its own");
        assert_eq!(reached, known);
        assert_eq!(graph.keys().cloned().collect::<BTreeSet<_>>(), known);
    }
}
