//! The types of resources that there are, found by the paths of requests in any case.

use std::sync::Arc;

use wheelwright_repository::{ArmResource, ArmVersion, Collection, Repository};

use super::{names::Names, objects::Objects};
use crate::shelf::Shelf;

/// The types of resources of a repository.
#[derive(Debug)]
pub(crate) struct Kinds(Vec<Kind>);

/// A type of resource.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) collection: Collection,
    resource: ArmResource,
    /// What resources may be called, by version.
    names: Vec<Names>,
    /// What they are to Kubernetes, if its resources are objects of that.
    pub(super) objects: Option<Objects>,
}

impl Kinds {
    pub(crate) fn of(repository: &Repository, shelf: &Arc<Shelf>) -> Self {
        let kind = |collection: Collection| {
            let resource = collection.kind().arm()?.clone();
            let names = resource.versions.iter().map(|version| Names::of(version, &resource.resource_type)).collect();
            let objects = resource.subscription.as_deref().map(|own| Objects::of(&collection, own, shelf));
            Some(Kind { collection, resource, names, objects })
        };
        Self(repository.kinds().filter_map(kind).collect())
    }

    /// The type of a name, in any case.
    pub(crate) fn find(&self, resource_type: &str) -> Option<&Kind> {
        self.0.iter().find(|kind| kind.resource_type().eq_ignore_ascii_case(resource_type))
    }

    /// The type whose resources those of another belong to; none if there is none, or it is not served.
    pub(crate) fn parent_of(&self, kind: &Kind) -> Option<&Kind> {
        let (parent, _) = kind.resource_type().rsplit_once('/')?;
        self.find(parent)
    }

    /// The types whose resources belong to those of another, at any depth, the deepest first.
    pub(crate) fn below(&self, kind: &Kind) -> Vec<&Kind> {
        let prefix = format!("{}/", kind.resource_type().to_ascii_lowercase());
        let is_below = |other: &&Kind| other.resource_type().to_ascii_lowercase().starts_with(&prefix);
        let mut below: Vec<&Kind> = self.0.iter().filter(is_below).collect();
        below.sort_by_key(|kind| std::cmp::Reverse(kind.resource_type().matches('/').count()));
        below
    }

    /// Whether there is a type of a provider.
    pub(crate) fn has_provider(&self, provider: &str) -> bool {
        self.0.iter().any(|kind| kind.provider().eq_ignore_ascii_case(provider))
    }
}

impl Kind {
    /// Its type, as the catalog spells it.
    pub(crate) fn resource_type(&self) -> &str {
        &self.resource.resource_type
    }

    /// The provider, as the catalog spells it.
    pub(crate) fn provider(&self) -> &str {
        self.resource_type().split('/').next().unwrap_or_default()
    }

    /// The names of its types after the provider, the outermost first.
    pub(crate) fn types(&self) -> impl Iterator<Item = &str> {
        self.resource_type().split('/').skip(1)
    }

    /// Whether customers see how far the service is.
    pub(crate) fn has_state(&self) -> bool {
        self.resource.has_state
    }

    /// The version of a name, in any case.
    pub(crate) fn version(&self, name: &str) -> Option<&ArmVersion> {
        self.resource.versions.iter().find(|version| version.name.as_str().eq_ignore_ascii_case(name))
    }

    /// What its resources may be called that are created through a version.
    pub(crate) fn names(&self, version: &ArmVersion) -> Option<&Names> {
        let position = self.resource.versions.iter().position(|own| own.name == version.name)?;
        self.names.get(position)
    }

    /// Whether it takes a back end to remove its resources: in a version, or in any if it has no such version.
    pub(crate) fn is_removed_slowly(&self, version: &str) -> bool {
        let is_slow = |version: &ArmVersion| version.operations.long_running.delete;
        self.version(version).map_or_else(|| self.resource.versions.iter().any(is_slow), is_slow)
    }

    /// The names of its versions, oldest first.
    pub(crate) fn versions(&self) -> String {
        let names: Vec<&str> = self.resource.versions.iter().map(|version| version.name.as_str()).collect();
        names.join(", ")
    }
}
