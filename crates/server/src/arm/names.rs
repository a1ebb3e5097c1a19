//! What resources and their groups may be called. Only what is created is asked: what is there keeps its name.

use wheelwright_repository::ArmVersion;
use wheelwright_text::Pattern;

use super::{error::ArmError, target::Place};

/// What goes for the names of all resources.
const RESOURCE: &str =
    "1 to 260 characters, none of < > % & : \\ ? / # or a control character, and no dot or space at the end";

/// What goes for the names of all resource groups.
const GROUP: &str = "1 to 90 letters, digits, underscores, hyphens, dots and parentheses, and no dot at the end";

/// What a version demands of the names of its resources, beside what goes for all.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pattern: Option<Pattern>,
    least: Option<usize>,
    most: Option<usize>,
}

impl Names {
    /// What the document of a version says.
    pub(crate) fn of(version: &ArmVersion, resource_type: &str) -> Self {
        let Some(rule) = &version.operations.names else { return Self::default() };
        let pattern = rule.pattern.as_deref().and_then(|pattern| {
            let compiled = Pattern::from_go(pattern);
            let skipped = |error| tracing::warn!(%error, resource_type, "no name is held against its pattern");
            compiled.map_err(skipped).ok()
        });
        Self { pattern, least: rule.min_length, most: rule.max_length }
    }

    /// Refuses to create what may not be called so.
    pub(crate) fn check(&self, place: &Place) -> Result<(), ArmError> {
        let group = &*place.group;
        let is_of_group = |character: char| character.is_alphanumeric() || "_-.()".contains(character);
        if !(1..=90).contains(&group.chars().count()) || !group.chars().all(is_of_group) || group.ends_with('.') {
            return Err(refused("InvalidResourceGroupName", "resource group", group, GROUP));
        }
        let name = place.names.last().map_or("", |name| &**name);
        let length = name.chars().count();
        let is_forbidden = |character: char| character.is_control() || "<>%&:\\?/#".contains(character);
        if !(1..=260).contains(&length) || name.contains(is_forbidden) || name.ends_with(['.', ' ']) {
            return Err(refused("InvalidResourceName", "resource", name, RESOURCE));
        }
        let is_fit = self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(name))
            && self.least.is_none_or(|least| least <= length)
            && self.most.is_none_or(|most| length <= most);
        match is_fit {
            true => Ok(()),
            false => Err(refused("InvalidResourceName", "resource", name, &self.in_words())),
        }
    }

    fn in_words(&self) -> String {
        let parts = [
            self.least.map(|least| format!("at least {least} characters")),
            self.most.map(|most| format!("at most {most} characters")),
            self.pattern.as_ref().map(|pattern| format!("a match of {}", pattern.as_str())),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

fn refused(code: &'static str, what: &str, name: &str, rule: &str) -> ArmError {
    let shown: String = name.chars().take(300).collect();
    ArmError::bad_request(code, format!("a {what} cannot be called '{shown}'; its name must be {rule}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &Names, group: &str, name: &str) -> bool {
        let place = Place { subscription: "s".into(), group: group.into(), names: vec!["parent.".into(), name.into()] };
        names.check(&place).is_ok()
    }

    #[test]
    fn names_are_those_of_the_resource_manager() {
        let names = Names::default();
        for name in ["a", "My cart", "ünd (2)", "a.b", "-", &"x".repeat(260)] {
            assert!(check(&names, "g", name), "{name}");
        }
        for name in ["", "a.", "a ", "a<b", "a%b", "a#", "a?b", "a:b", "a\u{7}", &"x".repeat(261)] {
            assert!(!check(&names, "g", name), "{name}");
        }
        for group in ["g", "My-group_1.(x)", "größe", &"x".repeat(90)] {
            assert!(check(&names, group, "a"), "{group}");
        }
        for group in ["", "g.", "a b", "a/b", "a!", &"x".repeat(91)] {
            assert!(!check(&names, group, "a"), "{group}");
        }
    }

    #[test]
    fn documents_demand_more() {
        let pattern = Some(Pattern::from_go("^[a-z]+$").unwrap());
        let names = Names { pattern, least: Some(2), most: Some(4) };
        for (name, expected) in [("ab", true), ("abcd", true), ("a", false), ("abcde", false), ("aB", false)] {
            assert_eq!(check(&names, "g", name), expected, "{name}");
        }
        assert_eq!(names.in_words(), "at least 2 characters, at most 4 characters, a match of ^[a-z]+$");
    }
}
