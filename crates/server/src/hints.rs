//! What somebody who has just started a server may want to try.

use wheelwright_repository::{ArmResource, Collection, Repository};

/// So many kinds are named; whoever has more knows what to ask for.
const MOST: usize = 8;

/// What is served, and a request for each kind: one that works whatever is stored, if there is such.
pub(crate) fn hints(repository: &Repository, url: &str) -> Vec<String> {
    let kinds: Vec<Collection> = repository.kinds().collect();
    let mut lines = vec![format!("serving {} at {url}; try:", counted(kinds.len()))];
    let tries: Vec<Vec<String>> =
        kinds.iter().map(|kind| to_try(kind, url)).filter(|of_kind| !of_kind.is_empty()).collect();
    lines.extend(tries.iter().take(MOST).flatten().cloned());
    if tries.len() > MOST {
        lines.push(format!("  … and so on for {} more", tries.len() - MOST));
    }
    lines.push(format!("  curl {url}/metrics"));
    lines
}

fn counted(kinds: usize) -> String {
    if kinds == 1 { "1 kind".to_owned() } else { format!("{kinds} kinds") }
}

/// Requests for the documents of a kind, one in each dialect that it is served in.
fn to_try(collection: &Collection, url: &str) -> Vec<String> {
    let kind = collection.kind();
    let in_kubernetes = kind.kubernetes().last().map(|resource| {
        let plural = format!("{}.{}", resource.plural, resource.group);
        let everywhere = if resource.is_namespaced { " -A" } else { "" };
        format!("  kubectl --server {url} get {plural}{everywhere}")
    });
    let in_arm = kind.arm().and_then(|arm| to_try_in_arm(arm, url));
    in_kubernetes.into_iter().chain(in_arm).collect()
}

/// None if the resources belong to others.
fn to_try_in_arm(arm: &ArmResource, url: &str) -> Option<String> {
    let (namespace, name) = arm.resource_type.split_once('/').filter(|(_, name)| !name.contains('/'))?;
    let version = arm.versions.last()?;
    let listed = version.operations.listed;
    let (group, one, remark) = match (listed.subscription, listed.collection) {
        (true, _) => ("", "", ""),
        (false, true) => ("/resourceGroups/g1", "", ""),
        (false, false) => ("/resourceGroups/g1", "/my-first", "    # once it was PUT there"),
    };
    let version = &version.name;
    let subscription = arm.subscription.as_deref().unwrap_or("s1");
    Some(format!(
        "  curl '{url}/subscriptions/{subscription}{group}/providers/{namespace}/{name}{one}?api-version={version}'{remark}"
    ))
}
