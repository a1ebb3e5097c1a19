//! What somebody may do.

use crate::access::{Access, Scope, Verb};

/// Some rules, in some scopes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Grant {
    pub(crate) rules: Vec<Rule>,
    pub(crate) scopes: Scopes,
}

/// Some verbs on some kinds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    pub(crate) verbs: Vec<Verb>,
    pub(crate) kinds: Kinds,
}

/// Which kinds are meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Kinds {
    All,
    /// These, in any case: `Order.shop.example.com` or `Microsoft.Shop/orders`. A kind does not stand for its parts:
    /// whoever may write orders need not be who may say how they are (`Order.shop.example.com/status`).
    Named(Vec<Box<str>>),
}

/// Which scopes are meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Scopes {
    All,
    Named(Vec<Scope>),
}

impl Grant {
    /// Whether it allows something. Discovery is allowed to everybody who is known.
    pub(crate) fn allows(&self, access: &Access) -> bool {
        self.scopes.include(&access.scope) && self.rules.iter().any(|rule| rule.allows(access))
    }
}

impl Rule {
    fn allows(&self, access: &Access) -> bool {
        let is_named = match &self.kinds {
            Kinds::All => true,
            Kinds::Named(names) => {
                access.kind.as_deref().is_some_and(|kind| names.iter().any(|name| name.eq_ignore_ascii_case(kind)))
            }
        };
        is_named && self.verbs.contains(&access.verb)
    }
}

impl Scopes {
    fn include(&self, scope: &Scope) -> bool {
        match self {
            Self::All => true,
            Self::Named(own) => own.iter().any(|own| own.includes(scope)),
        }
    }
}

impl Scope {
    /// Whether all that is in another scope is in this one.
    fn includes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, _) => true,
            (Self::Subscription(own, None), Self::Subscription(other, _)) => own.eq_ignore_ascii_case(other),
            (Self::Subscription(own, Some(group)), Self::Subscription(other, Some(other_group))) => {
                own.eq_ignore_ascii_case(other) && group.eq_ignore_ascii_case(other_group)
            }
            (own, other) => own == other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(verb: Verb, kind: &str, scope: Scope) -> Access {
        Access { verb, kind: Some(kind.into()), version: None, scope }
    }

    #[test]
    fn a_kind_does_not_stand_for_its_parts() {
        let grant = |kinds| Grant { rules: vec![Rule { verbs: vec![Verb::Patch], kinds }], scopes: Scopes::All };
        let named = |name: &str| grant(Kinds::Named(vec![name.into()]));
        let allows = |grant: &Grant, kind: &str| grant.allows(&access(Verb::Patch, kind, Scope::All));
        let (customer, controller, everything) = (named("Order.shop"), named("Order.shop/status"), grant(Kinds::All));
        for (kind, expected) in [
            ("Order.shop", [true, false, true]),
            ("Order.shop/status", [false, true, true]),
            ("Order.shop/scale", [false, false, true]),
        ] {
            let allowed = [&customer, &controller, &everything].map(|grant| allows(grant, kind));
            assert_eq!(allowed, expected, "{kind}");
        }
    }

    #[test]
    fn what_is_not_granted_is_denied() {
        let rule = Rule { verbs: vec![Verb::Get, Verb::List], kinds: Kinds::Named(vec!["Order.shop".into()]) };
        let subscription = |group: Option<&str>| Scope::Subscription("s1".into(), group.map(Box::from));
        let scopes = Scopes::Named(vec![Scope::Namespace("a".into()), subscription(Some("g1"))]);
        let grant = Grant { rules: vec![rule], scopes };
        let namespace = |name: &str| Scope::Namespace(name.into());
        for (verb, kind, scope, expected) in [
            (Verb::Get, "Order.shop", namespace("a"), true),
            (Verb::List, "order.SHOP", namespace("a"), true),
            (Verb::Watch, "Order.shop", namespace("a"), false),
            (Verb::Get, "Cart.shop", namespace("a"), false),
            (Verb::Get, "Order.shop", namespace("A"), false),
            (Verb::List, "Order.shop", Scope::All, false),
            (Verb::Get, "Order.shop", subscription(Some("G1")), true),
            (Verb::Get, "Order.shop", subscription(Some("g2")), false),
            (Verb::List, "Order.shop", subscription(None), false),
        ] {
            assert_eq!(grant.allows(&access(verb, kind, scope.clone())), expected, "{verb:?} {kind} {scope}");
        }
        let all = Rule { verbs: vec![Verb::Delete], kinds: Kinds::All };
        let whole = Grant { rules: vec![all], scopes: Scopes::Named(vec![subscription(None)]) };
        assert!(whole.allows(&access(Verb::Delete, "Cart.shop", subscription(Some("g9")))));
        assert!(whole.allows(&access(Verb::Delete, "Cart.shop", subscription(None))));
        assert!(!whole.allows(&access(Verb::Delete, "Cart.shop", Scope::Subscription("s2".into(), None))));
        assert!(!whole.allows(&access(Verb::Delete, "Cart.shop", Scope::All)));
        assert!(!whole.allows(&access(Verb::DeleteCollection, "Cart.shop", subscription(None))));
    }
}
