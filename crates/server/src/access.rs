//! What a request wants to do to what: asked of roles, counted by metrics, written into logs.

use std::{fmt, sync::Arc};

/// What a request does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    /// Removes all that is selected, and tells what it was.
    DeleteCollection,
    /// Finds out what there is: no documents.
    Discover,
}

/// What a request wants to do to what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    pub(crate) verb: Verb,
    /// The kind, with its group, as in `Order.shop.example.com`, or its type as in `Microsoft.Shop/orders`; none if it is about no kind.
    /// A part that is written by itself is a kind of its own, as in `Order.shop.example.com/status`.
    pub(crate) kind: Option<Arc<str>>,
    /// The version that is spoken.
    pub(crate) version: Option<Arc<str>>,
    pub(crate) scope: Scope,
}

/// Where the documents are that a request is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Scope {
    /// All of them, or what has no scope.
    All,
    /// Those of a namespace.
    Namespace(Box<str>),
    /// Those of a subscription, and of one of its groups if it is said which. In lower case: nobody cares for case there.
    Subscription(Box<str>, Option<Box<str>>),
}

impl Access {
    /// Somebody looks around.
    pub(crate) fn discover() -> Self {
        Self { verb: Verb::Discover, kind: None, version: None, scope: Scope::All }
    }
}

impl Verb {
    /// Whether it changes nothing.
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Self::Get | Self::List | Self::Watch | Self::Discover)
    }

    /// The verb in roles, metrics and logs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Discover => "discover",
        }
    }

    /// Whether it changes documents.
    pub(crate) fn is_write(self) -> bool {
        match self {
            Self::Create | Self::Update | Self::Patch | Self::Delete | Self::DeleteCollection => true,
            Self::Get | Self::List | Self::Watch | Self::Discover => false,
        }
    }
}

impl Scope {
    /// The scope as grants in the access file name it.
    pub(crate) fn as_granted(&self) -> String {
        match self {
            Self::All => "*".to_owned(),
            Self::Namespace(name) => format!("namespaces/{name}"),
            Self::Subscription(subscription, None) => format!("subscriptions/{subscription}"),
            Self::Subscription(subscription, Some(group)) => {
                format!("subscriptions/{subscription}/resourceGroups/{group}")
            }
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("everywhere"),
            Self::Namespace(name) => write!(f, "in namespace {name}"),
            Self::Subscription(subscription, None) => write!(f, "in subscription {subscription}"),
            Self::Subscription(subscription, Some(group)) => {
                write!(f, "in resource group {group} of subscription {subscription}")
            }
        }
    }
}
