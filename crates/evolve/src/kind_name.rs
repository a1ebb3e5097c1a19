//! The names of kinds.

use std::fmt;

use crate::VersionName;

/// The name of a kind, with its group. How it is displayed is how people name it: `Order.shop.example.com`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KindName {
    /// The group; empty if the kind has none.
    pub group: Box<str>,
    /// The name in the group.
    pub kind: Box<str>,
}

impl KindName {
    /// A name in a group.
    pub fn new(group: impl Into<Box<str>>, kind: impl Into<Box<str>>) -> Self {
        Self { group: group.into(), kind: kind.into() }
    }

    /// How the apiVersion of a document names a version of the kind.
    pub fn api_version(&self, version: &VersionName) -> String {
        if self.group.is_empty() { version.to_string() } else { format!("{}/{version}", self.group) }
    }

    /// Whether people mean this kind by a text: its name, with or without its group.
    pub fn is_meant_by(&self, text: &str) -> bool {
        let rest = text.strip_prefix(&*self.kind);
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('.') == Some(&*self.group))
    }
}

impl fmt::Display for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.group {
            "" => f.write_str(&self.kind),
            group => write!(f, "{}.{group}", self.kind),
        }
    }
}

/// Names once each, where they come last.
pub(crate) fn once_each(names: impl IntoIterator<Item = KindName>) -> Vec<KindName> {
    let mut once: Vec<KindName> = Vec::new();
    for name in names {
        once.retain(|known| *known != name);
        once.push(name);
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_meant_by_its_name_with_or_without_its_group() {
        let order = KindName::new("shop.example.com", "Order");
        let is_meant = |text: &str| order.is_meant_by(text);
        assert!(is_meant("Order") && is_meant("Order.shop.example.com") && is_meant(&order.to_string()));
        assert!(!is_meant("Order.") && !is_meant("Order.example.com") && !is_meant("Orders") && !is_meant(""));
    }
}
