//! What definitions say besides schemas. Kubernetes documents what these changes do.

use serde_json::{Value as Json, json};
use wheelwright_evolve::laws::Random;

use super::{DefinitionSeed, Fact, set, unset};
use crate::harm::Harm;

pub(super) const CLASSES: &[(&str, DefinitionSeed)] = &[
    ("scope changed", scope),
    ("plural changed", plural),
    ("group changed", group),
    ("kind renamed", kind),
    ("version removed", version_removed),
    ("version not served", not_served),
    ("status subresource removed", status_removed),
    ("status subresource added", status_added),
    ("scale subresource removed", scale_removed),
    ("scale path changed", scale_moved),
    ("selectable field removed", selectable_removed),
    ("short name added", short_name),
    ("printer column added", column),
    ("version deprecated", deprecated),
];

fn harm(because: &'static str) -> Option<Fact> {
    Some(Fact::Harm(Harm::Fact(because)))
}

fn version<'d>(definition: &'d mut Json, name: &str) -> Option<&'d mut Json> {
    definition["spec"]["versions"].as_array_mut()?.iter_mut().find(|version| version["name"] == name)
}

fn scope(definition: &mut Json, _: &str, _: &mut Random) -> Option<Fact> {
    let other = if definition["spec"]["scope"] == "Namespaced" { "Cluster" } else { "Namespaced" };
    set(&mut definition["spec"], "scope", other);
    harm("spec.scope is immutable")
}

fn plural(definition: &mut Json, _: &str, _: &mut Random) -> Option<Fact> {
    let plural = format!("{}es", definition["spec"]["names"]["plural"].as_str()?);
    let group = definition["spec"]["group"].as_str()?.to_owned();
    set(&mut definition["spec"]["names"], "plural", plural.clone());
    set(&mut definition["metadata"], "name", format!("{plural}.{group}"));
    harm("another plural is another definition, without the objects of this one")
}

fn group(definition: &mut Json, _: &str, _: &mut Random) -> Option<Fact> {
    let plural = definition["spec"]["names"]["plural"].as_str()?.to_owned();
    set(&mut definition["spec"], "group", "renamed.example.com");
    set(&mut definition["metadata"], "name", format!("{plural}.renamed.example.com"));
    harm("another group is another definition, without the objects of this one")
}

fn kind(definition: &mut Json, _: &str, _: &mut Random) -> Option<Fact> {
    let kind = format!("{}Item", definition["spec"]["names"]["kind"].as_str()?);
    set(&mut definition["spec"]["names"], "kind", kind.clone());
    set(&mut definition["spec"]["names"], "listKind", format!("{kind}List"));
    set(&mut definition["spec"]["names"], "singular", kind.to_lowercase());
    harm("documents of the former kind are refused")
}

fn version_removed(definition: &mut Json, name: &str, _: &mut Random) -> Option<Fact> {
    let versions = definition["spec"]["versions"].as_array_mut()?;
    if versions.len() < 2 {
        return None;
    }
    versions.retain(|version| version["name"] != name);
    if versions.iter().all(|version| version["storage"] != true) {
        set(versions.last_mut()?, "storage", true);
    }
    harm("clients of the version get 404")
}

fn not_served(definition: &mut Json, name: &str, _: &mut Random) -> Option<Fact> {
    let version = version(definition, name).filter(|version| version["served"] == true)?;
    set(version, "served", false);
    harm("clients of the version get 404")
}

fn status_removed(definition: &mut Json, name: &str, _: &mut Random) -> Option<Fact> {
    let subresources = version(definition, name)?.get_mut("subresources")?;
    unset(subresources, "status")?;
    harm("writes of /status get 404")
}

fn status_added(definition: &mut Json, name: &str, _: &mut Random) -> Option<Fact> {
    let version = version(definition, name)?;
    let has_status = version["schema"]["openAPIV3Schema"]["properties"].get("status").is_some();
    if !has_status || version.get("subresources").is_some_and(|subresources| subresources.get("status").is_some()) {
        return None;
    }
    if version.get("subresources").is_none() {
        set(version, "subresources", json!({}));
    }
    set(&mut version["subresources"], "status", json!({}));
    harm("the status in writes of the main resource is dropped")
}

fn scale_removed(definition: &mut Json, name: &str, _: &mut Random) -> Option<Fact> {
    let subresources = version(definition, name)?.get_mut("subresources")?;
    unset(subresources, "scale")?;
    harm("reads and writes of /scale get 404")
}

fn scale_moved(definition: &mut Json, name: &str, _: &mut Random) -> Option<Fact> {
    let scale = version(definition, name)?.get_mut("subresources")?.get_mut("scale")?;
    set(scale, "specReplicasPath", ".spec.otherReplicas");
    harm("a scale that was written through /scale is not read there any more")
}

fn selectable_removed(definition: &mut Json, name: &str, _: &mut Random) -> Option<Fact> {
    let version = version(definition, name)?;
    let fields = version.get_mut("selectableFields")?.as_array_mut()?;
    fields.pop()?;
    if fields.is_empty() {
        unset(version, "selectableFields");
    }
    harm("lists with that field selector are refused")
}

fn short_name(definition: &mut Json, _: &str, _: &mut Random) -> Option<Fact> {
    set(&mut definition["spec"]["names"], "shortNames", json!(["addedlater"]));
    Some(Fact::Harmless)
}

fn column(definition: &mut Json, name: &str, _: &mut Random) -> Option<Fact> {
    let column = json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"});
    set(version(definition, name)?, "additionalPrinterColumns", json!([column]));
    Some(Fact::Harmless)
}

fn deprecated(definition: &mut Json, name: &str, _: &mut Random) -> Option<Fact> {
    set(version(definition, name)?, "deprecated", true);
    Some(Fact::Harmless)
}
