//! The resources that are served: which kind and version the path of a request means.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeMap, HashMap, hash_map::Entry},
    sync::Arc,
};

use wheelwright_catalog::{KubernetesResource, KubernetesVersion};
use wheelwright_evolve::VersionName;
use wheelwright_repository::{Collection, Repository};

use super::columns::Columns;

/// All resources of a server.
#[derive(Debug)]
pub(crate) struct Resources {
    /// By `group/version/plural`.
    by_path: HashMap<Box<str>, Arc<Resource>>,
    groups: Vec<Group>,
}

/// The resources of a group.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: Box<str>,
    /// Its versions, the preferred one first.
    pub(crate) versions: Vec<GroupVersion>,
}

/// The resources of a version of a group.
#[derive(Debug)]
pub(crate) struct GroupVersion {
    pub(crate) name: Box<str>,
    /// By their plurals.
    pub(crate) resources: Vec<Arc<Resource>>,
}

/// A kind as one version serves it.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) collection: Collection,
    /// The columns of tables of its documents.
    pub(crate) columns: Columns,
    definition: usize,
    version: usize,
}

impl Resources {
    /// The resources of all kinds that have any. Versions that are not served are not there.
    pub(crate) fn of(repository: &Repository) -> Self {
        let mut by_path = HashMap::new();
        let mut sorted: BTreeMap<Box<str>, BTreeMap<Box<str>, BTreeMap<Box<str>, Arc<Resource>>>> = BTreeMap::new();
        for resource in repository.kinds().flat_map(served).map(Arc::new) {
            let KubernetesResource { group, plural, .. } = resource.definition();
            let version = &resource.version().name;
            match by_path.entry(path(group, version, plural)) {
                Entry::Occupied(taken) => {
                    tracing::warn!(path = %taken.key(), "another kind is served under this path, so this one is not");
                }
                Entry::Vacant(free) => {
                    free.insert(resource.clone());
                    let versions = sorted.entry(group.clone()).or_default();
                    versions.entry(version.clone()).or_default().insert(plural.clone(), resource.clone());
                }
            }
        }
        let groups = sorted.into_iter().map(|(name, versions)| {
            let versions = versions
                .into_iter()
                .map(|(name, resources)| GroupVersion { name, resources: resources.into_values().collect() });
            let mut versions: Vec<GroupVersion> = versions.collect();
            versions.sort_by(|a, b| compare_priority(&a.name, &b.name));
            Group { name, versions }
        });
        Self { by_path, groups: groups.collect() }
    }

    /// The resource at `/apis/GROUP/VERSION/PLURAL`.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.by_path.get(&path(group, version, plural))
    }

    /// All groups, by name.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }
}

impl Resource {
    /// What its definition says of all versions.
    pub(crate) fn definition(&self) -> &KubernetesResource {
        &self.collection.kind().kubernetes()[self.definition]
    }

    /// What its definition says of this version.
    pub(crate) fn version(&self) -> &KubernetesVersion {
        &self.definition().versions[self.version]
    }

    /// How documents name group and version: `shop.example.com/v1`.
    pub(crate) fn api_version(&self) -> String {
        format!("{}/{}", self.definition().group, self.version().name)
    }
}

/// The resources of a kind.
fn served(collection: Collection) -> Vec<Resource> {
    let kind = collection.kind();
    let is_known = |version: &KubernetesVersion| version.is_served && kind.kind().version(&version.name).is_some();
    let definitions = kind.kubernetes().iter().enumerate();
    let served = definitions.flat_map(|(definition, resource)| {
        let versions = resource.versions.iter().enumerate().filter(|(_, version)| is_known(version));
        versions.map(move |(version, _)| (definition, version))
    });
    let resource = |(definition, version): (usize, usize)| {
        let columns = Columns::of(&kind.kubernetes()[definition].versions[version]);
        Resource { collection: collection.clone(), columns, definition, version }
    };
    served.map(resource).collect()
}

fn path(group: &str, version: &str, plural: &str) -> Box<str> {
    format!("{group}/{version}/{plural}").into()
}

/// Which of two versions clients should prefer, as Kubernetes orders them: what promises more comes first, then what is
/// newer; names that are no such versions come last, by their letters.
fn compare_priority(a: &str, b: &str) -> Ordering {
    let of = |name: &str| VersionName::new(name);
    let maturity = |name: &str| Reverse(of(name).maturity());
    let by_age = || of(b).compare_age(&of(a)).unwrap_or(Ordering::Equal);
    match (is_numbered(a), is_numbered(b)) {
        (true, true) => maturity(a).cmp(&maturity(b)).then_with(by_age),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => a.cmp(b),
    }
}

/// Whether a name is like `v1` or `v2beta3`.
fn is_numbered(name: &str) -> bool {
    VersionName::new(name).compare_age(&VersionName::new("v1")).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_are_preferred_and_then_newer_ones() {
        let mut names =
            ["foo1", "v1alpha1", "v10", "v11beta2", "v3beta1", "foo10", "v12alpha1", "v1", "v11alpha2", "v2"];
        names.sort_by(|a, b| compare_priority(a, b));
        let ordered = ["v10", "v2", "v1", "v11beta2", "v3beta1", "v12alpha1", "v11alpha2", "v1alpha1", "foo1", "foo10"];
        assert_eq!(names, ordered);
    }
}
