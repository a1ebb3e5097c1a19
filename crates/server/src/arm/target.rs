//! What the path of a request is about.

use wheelwright_repository::Name;

use super::{
    error::ArmError,
    kinds::{Kind, Kinds},
    operation::{OperationId, Polled},
};
use crate::{access::Scope, path::Segments};

/// What a path is about. The names in it are as the client wrote them.
#[derive(Clone, Debug)]
pub(crate) enum Target<'k> {
    /// A resource.
    Resource(Resource<'k>),
    /// The resources of a type in a subscription.
    InSubscription(&'k Kind, Box<str>),
    /// The resources of a type in a resource group, or of a resource that they belong to.
    InCollection(&'k Kind, Place),
    /// An operation.
    Operation(&'k Kind, OperationId, Polled),
}

/// A resource.
#[derive(Clone, Debug)]
pub(crate) struct Resource<'k> {
    pub(crate) kind: &'k Kind,
    /// Where it is, with its own name last.
    pub(crate) place: Place,
}

/// A subscription, a group in it, and the names of resources in that, each of which belongs to the one before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) subscription: Box<str>,
    pub(crate) group: Box<str>,
    pub(crate) names: Vec<Box<str>>,
}

impl<'k> Target<'k> {
    /// What a path is about.
    pub(crate) fn of(path: &Segments, kinds: &'k Kinds) -> Result<Self, ArmError> {
        let texts = path.texts();
        let is = |text: &str, word: &str| text.eq_ignore_ascii_case(word);
        match texts[..] {
            [s, subscription, g, group, p, provider, ref rest @ ..]
                if is(s, "subscriptions") && is(g, "resourceGroups") && is(p, "providers") =>
            {
                Self::in_group(subscription, group, provider, rest, kinds)
            }
            [s, subscription, p, provider, ref rest @ ..] if is(s, "subscriptions") && is(p, "providers") => {
                Self::in_subscription(subscription, provider, rest, kinds)
            }
            _ => Err(ArmError::not_found(
                "InvalidRequestUri",
                "the path is none of a resource: \
                 /subscriptions/{subscription}/resourceGroups/{group}/providers/{provider}/{type}/{name}",
            )),
        }
    }

    fn in_group(
        subscription: &str,
        group: &str,
        provider: &str,
        rest: &[&str],
        kinds: &'k Kinds,
    ) -> Result<Self, ArmError> {
        let kind = kind_of(subscription, provider, &rest.iter().step_by(2).copied().collect::<Vec<_>>(), kinds)?;
        let names = rest.iter().skip(1).step_by(2).map(|name| Box::from(*name)).collect();
        let place = Place { subscription: subscription.into(), group: group.into(), names };
        Ok(match rest.len() % 2 {
            0 => Self::Resource(Resource { kind, place }),
            _ => Self::InCollection(kind, place),
        })
    }

    fn in_subscription(subscription: &str, provider: &str, rest: &[&str], kinds: &'k Kinds) -> Result<Self, ArmError> {
        let after_location = match rest {
            [locations, _, after @ ..] if locations.eq_ignore_ascii_case("locations") => after,
            rest => rest,
        };
        if let [polled, id] = after_location
            && let Some(polled) = Polled::of(polled)
        {
            let unknown = || ArmError::not_found("OperationNotFound", format!("there is no operation {id}"));
            let id = OperationId::parse(id, subscription).ok_or_else(unknown)?;
            let is_meant = |kind: &&Kind| kind.provider().eq_ignore_ascii_case(provider) && kind.objects.is_none();
            let kind = kinds.find(&id.resource_type).filter(is_meant);
            return Ok(Self::Operation(kind.ok_or_else(unknown)?, id, polled));
        }
        match rest {
            [of_type] => {
                Ok(Self::InSubscription(kind_of(subscription, provider, &[of_type], kinds)?, subscription.into()))
            }
            _ => {
                let types: Vec<&str> = rest.iter().step_by(2).copied().collect();
                let kind = kind_of(subscription, provider, &types, kinds)?;
                let message = format!(
                    "a resource of type {} is in a resource group: \
                     /subscriptions/{subscription}/resourceGroups/{{group}}/providers/…",
                    kind.resource_type()
                );
                Err(ArmError::bad_request("InvalidRequestUri", message))
            }
        }
    }
}

fn kind_of<'k>(subscription: &str, provider: &str, types: &[&str], kinds: &'k Kinds) -> Result<&'k Kind, ArmError> {
    let resource_type = [&[provider][..], types].concat().join("/");
    let kind = kinds.find(&resource_type).ok_or_else(|| match kinds.has_provider(provider) {
        true => ArmError::not_found("InvalidResourceType", format!("there is no type {resource_type} here")),
        false => ArmError::not_found("InvalidResourceNamespace", format!("there is no provider {provider} here")),
    })?;
    match kind.is_in(subscription) {
        true => Ok(kind),
        false => {
            let message = format!("there is nothing of type {resource_type} in subscription {subscription}");
            Err(ArmError::not_found("ResourceNotFound", message))
        }
    }
}

impl Place {
    /// What the record of a kind's resource is called there: ids are the same in any case.
    pub(crate) fn name(&self, kind: &Kind) -> Result<Name, ArmError> {
        // The namespaces of objects do not say in which subscription they are: it is the same for all.
        let subscription = Some(&self.subscription).filter(|_| kind.objects.is_none());
        let segments = subscription.into_iter().chain([&self.group]).chain(&self.names);
        let segments: Vec<String> = segments.map(|text| text.to_lowercase()).collect();
        Name::new(&segments.join("/")).map_err(|bad| ArmError::bad_request("InvalidResourceName", bad.to_string()))
    }

    /// Where its resources are, for grants.
    pub(crate) fn scope(&self) -> Scope {
        Scope::Subscription(self.subscription.to_lowercase().into(), Some(self.group.to_lowercase().into()))
    }

    /// Where the resource is that this one belongs to; none if it is in a group.
    pub(crate) fn parent(&self) -> Option<Self> {
        let (_, above) = self.names.split_last()?;
        (!above.is_empty()).then(|| Self { names: above.to_vec(), ..self.clone() })
    }
}

impl Resource<'_> {
    /// Its id, with the names as they were written and the types as the catalog spells them.
    pub(crate) fn id(&self) -> String {
        let Place { subscription, group, names } = &self.place;
        let mut id = format!("/subscriptions/{subscription}/resourceGroups/{group}/providers/{}", self.kind.provider());
        for (of_type, name) in self.kind.types().zip(names) {
            id.extend(["/", of_type, "/", name]);
        }
        id
    }
}
