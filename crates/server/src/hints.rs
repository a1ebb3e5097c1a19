//! What somebody who has just started a server may want to try.

use wheelwright_repository::{Collection, Repository};

/// So many kinds are named; whoever has more knows what to ask for.
const MOST: usize = 8;

/// What is served, and a request for each kind that works whatever is stored.
pub(crate) fn hints(repository: &Repository, url: &str) -> Vec<String> {
    let kinds: Vec<Collection> = repository.kinds().collect();
    let mut lines = vec![format!("serving {} at {url}; try:", counted(kinds.len()))];
    let tries: Vec<String> = kinds.iter().filter_map(|kind| to_try(kind, url)).collect();
    lines.extend(tries.iter().take(MOST).cloned());
    if tries.len() > MOST {
        lines.push(format!("  … and so on for {} more", tries.len() - MOST));
    }
    lines.push(format!("  curl {url}/metrics"));
    lines
}

fn counted(kinds: usize) -> String {
    if kinds == 1 { "1 kind".to_owned() } else { format!("{kinds} kinds") }
}

/// A request that lists the documents of a kind; none if they belong to others, or the kind is served to nobody.
fn to_try(collection: &Collection, url: &str) -> Option<String> {
    let kind = collection.kind();
    if let Some(resource) = kind.kubernetes().last() {
        let plural = format!("{}.{}", resource.plural, resource.group);
        let everywhere = if resource.is_namespaced { " -A" } else { "" };
        return Some(format!("  kubectl --server {url} get {plural}{everywhere}"));
    }
    let arm = kind.arm()?;
    let (namespace, name) = arm.resource_type.split_once('/').filter(|(_, name)| !name.contains('/'))?;
    let version = arm.versions.last()?;
    let listed = version.operations.listed;
    let group = match (listed.subscription, listed.collection) {
        (true, _) => "",
        (false, true) => "/resourceGroups/g1",
        (false, false) => return None,
    };
    let version = &version.name;
    Some(format!("  curl '{url}/subscriptions/s1{group}/providers/{namespace}/{name}?api-version={version}'"))
}
