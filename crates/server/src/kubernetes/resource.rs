//! The resources that are served: which kind and version the path of a request means.

use std::{
    cmp::{Ordering, Reverse},
    collections::HashSet,
    sync::Arc,
};

use wheelwright_catalog::{KubernetesResource, KubernetesVersion};
use wheelwright_evolve::VersionName;
use wheelwright_repository::{Collection, Part, Repository};

use super::columns::Columns;
use crate::shelf::Shelf;

/// All resources of a server.
#[derive(Debug)]
pub(crate) struct Resources {
    /// By their names.
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
    /// What was shown of it before.
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) names: Names,
    definition: usize,
    version: usize,
}

/// What a resource is called in grants, metrics and logs.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) kind: Arc<str>,
    /// Of the parts that are written by themselves.
    pub(crate) status: Arc<str>,
    pub(crate) scale: Arc<str>,
    pub(crate) version: Arc<str>,
}

impl Resources {
    /// The resources of all kinds that have any. Versions that are not served are not there.
    pub(crate) fn of(repository: &Repository, shelf: &Arc<Shelf>) -> Self {
        let (mut paths, mut all) = (HashSet::new(), Vec::new());
        for resource in repository.kinds().flat_map(|kind| served(kind, shelf)).map(Arc::new) {
            let definition = resource.definition();
            let path = format!("{}/{}/{}", definition.group, resource.version().name, definition.plural);
            if paths.contains(&path) {
                tracing::warn!(path, "another kind is served under this path, so this one is not");
                continue;
            }
            paths.insert(path);
            all.push(resource);
        }
        all.sort_by(|a, b| {
            let (of_a, of_b) = (a.definition(), b.definition());
            let by_version = || compare_priority(&a.version().name, &b.version().name);
            of_a.group.cmp(&of_b.group).then_with(by_version).then_with(|| of_a.plural.cmp(&of_b.plural))
        });
        let groups = all.chunk_by(|a, b| a.definition().group == b.definition().group).map(|of_group| {
            let versions = of_group.chunk_by(|a, b| a.version().name == b.version().name);
            let versions = versions.map(|resources| GroupVersion {
                name: resources[0].version().name.clone(),
                resources: resources.to_vec(),
            });
            Group { name: of_group[0].definition().group.clone(), versions: versions.collect() }
        });
        Self { groups: groups.collect() }
    }

    /// The resource at `/apis/GROUP/VERSION/PLURAL`.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        let group = self.groups.binary_search_by(|known| (*known.name).cmp(group)).ok()?;
        let version = self.groups[group].versions.iter().find(|known| *known.name == *version)?;
        let by_plural = |known: &Arc<Resource>| (*known.definition().plural).cmp(plural);
        version.resources.binary_search_by(by_plural).ok().map(|found| &version.resources[found])
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

    /// What of an object is written with it: the status is not, where it is written by itself.
    pub(crate) fn part(&self) -> Part {
        match self.version().has_status {
            true => Part::Spec,
            false => Part::Whole,
        }
    }

    /// How documents name group and version: `shop.example.com/v1`.
    pub(crate) fn api_version(&self) -> String {
        format!("{}/{}", self.definition().group, self.version().name)
    }
}

/// The resources of a kind: one for every version that is served, those of today's name last.
pub(crate) fn served(collection: Collection, shelf: &Arc<Shelf>) -> Vec<Resource> {
    let kind = collection.kind();
    let is_known = |version: &KubernetesVersion| version.is_served && kind.kind().version(&version.name).is_some();
    let definitions = kind.kubernetes().iter().enumerate();
    let served = definitions.flat_map(|(definition, resource)| {
        let versions = resource.versions.iter().enumerate().filter(|(_, version)| is_known(version));
        versions.map(move |(version, _)| (definition, version))
    });
    let resource = |(definition, version): (usize, usize)| {
        let of_kind = &kind.kubernetes()[definition];
        let of_version = &of_kind.versions[version];
        let name = |part: &str| format!("{}.{}{part}", of_kind.kind, of_kind.group).into();
        Resource {
            collection: collection.clone(),
            columns: Columns::of(of_version),
            shelf: shelf.clone(),
            names: Names {
                kind: name(""),
                status: name("/status"),
                scale: name("/scale"),
                version: (&*of_version.name).into(),
            },
            definition,
            version,
        }
    };
    served.map(resource).collect()
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
