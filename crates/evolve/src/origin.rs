//! Which versions a document was created and last written with, and which one its owners act as.

use std::{error::Error, fmt};

use wheelwright_document::{Arena, Entry, Value};
use wheelwright_findings::{Rule, rules};

use crate::{History, VersionIndex, VersionName, lens::state::BAG};

/// The versions that a document was created and written with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The version that it was created with.
    pub created_with: VersionName,
    /// The version that its spec was last changed with.
    pub written_with: VersionName,
    /// The version to act as, if it is pinned.
    pub act_as: Option<VersionName>,
}

/// The fields at the root of a document that are not part of its spec, beside apiVersion, kind, metadata and status.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutsideSpec {
    /// None, as in Kubernetes.
    Kubernetes,
    /// What Azure's resource manager keeps itself: `id`, `name`, `type`, `systemData` and `tags`.
    Arm,
}

/// A version that nobody can act as.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NoActingVersion {
    /// It is no version of the kind, and has no successor.
    Unknown(VersionName),
    /// Only the lock remembers it, and it has no successor.
    Retired(VersionName),
    /// Its successors lead back to it.
    Cycle(VersionName),
}

/// An origin that cannot be decoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OriginError {
    field: &'static str,
    problem: &'static str,
}

const CREATED_WITH: &str = "createdWith";
const WRITTEN_WITH: &str = "writtenWith";
const ACT_AS: &str = "actAs";

impl Origin {
    /// The origin of a new document.
    pub fn created(version: VersionName) -> Self {
        Self { created_with: version.clone(), written_with: version, act_as: None }
    }

    /// The origin after a write: only a change of the spec makes it one of that version. Both documents are as they are
    /// stored, at one hub.
    #[must_use]
    pub fn written(self, version: &VersionName, old: Value<'_>, new: Value<'_>, outside: OutsideSpec) -> Self {
        match outside.is_same_spec(old, new) {
            true => self,
            false => Self { written_with: version.clone(), ..self },
        }
    }

    /// The version to act as: the pinned one, else the one that was written with.
    pub fn acting(&self) -> &VersionName {
        self.act_as.as_ref().unwrap_or(&self.written_with)
    }

    /// The version to act as; for one that is retired, the one that speaks for it.
    ///
    /// # Errors
    /// There is none: the version is not known, or its successors lead nowhere.
    pub fn resolve(
        &self,
        successors: &[(VersionName, VersionName)],
        history: &History,
    ) -> Result<VersionIndex, NoActingVersion> {
        let mut name = self.acting();
        for _ in 0..=successors.len() {
            let known = history.find(name.as_str());
            if let Some(index) = known.filter(|index| history.version(*index).declared) {
                return Ok(index);
            }
            name = match (successors.iter().find(|(retired, _)| retired == name), known) {
                (Some((_, successor)), _) => successor,
                (None, Some(_)) => return Err(NoActingVersion::Retired(name.clone())),
                (None, None) => return Err(NoActingVersion::Unknown(name.clone())),
            };
        }
        Err(NoActingVersion::Cycle(self.acting().clone()))
    }

    /// The origin as a part of a record.
    pub fn to_value<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        let fields = [
            (CREATED_WITH, Some(&self.created_with)),
            (WRITTEN_WITH, Some(&self.written_with)),
            (ACT_AS, self.act_as.as_ref()),
        ];
        let entries =
            fields.iter().filter_map(|(key, version)| Some(Entry { key, value: Value::string((*version)?.as_str()) }));
        Value::Object(arena.slice(&entries.collect::<Vec<_>>()))
    }

    /// Reads the origin from a record.
    ///
    /// # Errors
    /// A version is missing, or something is no version; fields that are not known are refused, too, since a newer
    /// release would mean something by them.
    pub fn from_value(value: Value<'_>) -> Result<Self, OriginError> {
        let fail = |field, problem| OriginError { field, problem };
        let entries = value.as_object().ok_or(fail("origin", "is no object"))?;
        if entries.iter().any(|entry| ![CREATED_WITH, WRITTEN_WITH, ACT_AS].contains(&entry.key)) {
            return Err(fail("origin", "has a field that this release does not know"));
        }
        let version = |field: &'static str| match value.get(field).map(Value::as_str) {
            None => Ok(None),
            Some(Some(name)) if !name.is_empty() => Ok(Some(VersionName::new(name))),
            Some(_) => Err(fail(field, "is not the name of a version")),
        };
        let needed = |field| version(field)?.ok_or(fail(field, "is missing"));
        Ok(Self { created_with: needed(CREATED_WITH)?, written_with: needed(WRITTEN_WITH)?, act_as: version(ACT_AS)? })
    }
}

impl OutsideSpec {
    /// Whether two stored documents of one hub mean the same, apart from what is not their spec.
    pub fn is_same_spec(self, old: Value<'_>, new: Value<'_>) -> bool {
        let arena = Arena::new();
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => self.spec(old, &arena).equivalent(self.spec(new, &arena)),
            (old, new) => old.equivalent(new),
        }
    }

    fn spec<'a>(self, entries: &[Entry<'a>], arena: &'a Arena) -> Value<'a> {
        let mut kept = Vec::with_capacity(entries.len());
        for entry in entries.iter().filter(|entry| !self.includes(entry.key)) {
            match (entry.key, entry.value) {
                // What is hidden at the root is spec or not by its id, which begins with the name of a field there.
                (BAG, Value::Object(bag)) => {
                    let bag: Vec<_> =
                        bag.iter().filter(|entry| !self.includes(first_step(entry.key))).copied().collect();
                    if !bag.is_empty() {
                        kept.push(Entry { key: BAG, value: Value::Object(arena.slice(&bag)) });
                    }
                }
                _ => kept.push(*entry),
            }
        }
        Value::Object(arena.slice(&kept))
    }

    fn includes(self, field: &str) -> bool {
        matches!(field, "apiVersion" | "kind" | "metadata" | "status")
            || self == Self::Arm && matches!(field, "id" | "name" | "type" | "systemData" | "tags")
    }
}

/// The first name in the text of an id.
fn first_step(id: &str) -> &str {
    id.split(['.', '[', '{', '#']).next().unwrap_or_default()
}

impl NoActingVersion {
    /// The rule that is broken.
    pub fn rule(&self) -> &'static Rule {
        &rules::NO_ACTING_VERSION
    }
}

impl fmt::Display for NoActingVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(
                f,
                "{name} is no version that this catalog knows; bring the catalog and its lock up to date, or declare a successor for it"
            ),
            Self::Retired(name) => write!(f, "{name} is retired; declare a successor for it"),
            Self::Cycle(name) => write!(f, "the successors of {name} lead in a circle; let the last be a version"),
        }
    }
}

impl Error for NoActingVersion {}

impl fmt::Display for OriginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.problem)
    }
}

impl Error for OriginError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{document, history};

    fn version(name: &str) -> VersionName {
        VersionName::new(name)
    }

    #[test]
    fn only_a_change_of_the_spec_moves_the_version_that_was_written_with() {
        let arena = Arena::new();
        let old = r#"{"metadata":{"name":"a"},"spec":{"x":1},"status":{"s":1},"tags":{"t":"1"},"$bag":{"y":1,"status.s#2":2}}"#;
        let moves = |new: &str, outside| {
            let origin = Origin::created(version("v1"));
            let written = origin.written(&version("v2"), document(old, &arena), document(new, &arena), outside);
            assert_eq!(written.created_with, version("v1"));
            written.written_with == version("v2")
        };
        let others = old.replace("\"a\"", "\"b\"").replace("{\"s\":1}", "{}").replace(",\"status.s#2\":2", "");
        let cases = [
            (old.to_owned(), false, false),
            (old.replace("\"x\":1", "\"x\":1.0"), false, false),
            (others, false, false),
            (old.replace("\"t\":\"1\"", "\"t\":\"2\""), true, false),
            (old.replace("\"x\":1", "\"x\":2"), true, true),
            (old.replace("\"y\":1", "\"y\":2"), true, true),
            (old.replace("\"x\":1", ""), true, true),
        ];
        for (new, kubernetes, arm) in cases {
            assert_ne!((kubernetes, arm), (false, true));
            assert_eq!(moves(&new, OutsideSpec::Kubernetes), kubernetes, "{new}");
            assert_eq!(moves(&new, OutsideSpec::Arm), arm, "{new}");
        }
    }

    #[test]
    fn a_retired_version_acts_as_the_last_of_its_successors() {
        let mut history = history(&[("v1", "{type: object}"), ("v2", "{type: object}"), ("v3", "{type: object}")], "");
        history.versions[0].declared = false;
        let successors = [("v0", "v1"), ("v1", "v3"), ("a", "b"), ("b", "a")].map(|(a, b)| (version(a), version(b)));
        let resolved = |name: &str| Origin::created(version(name)).resolve(&successors, &history);
        assert_eq!(resolved("v0"), Ok(VersionIndex(2)));
        assert_eq!(resolved("v1"), Ok(VersionIndex(2)));
        assert_eq!(resolved("v2"), Ok(VersionIndex(1)));
        assert_eq!(resolved("a"), Err(NoActingVersion::Cycle(version("a"))));
        assert_eq!(resolved("v9"), Err(NoActingVersion::Unknown(version("v9"))));
        assert_eq!(Origin::created(version("v1")).resolve(&[], &history), Err(NoActingVersion::Retired(version("v1"))));
        let pinned = Origin { act_as: Some(version("v2")), ..Origin::created(version("v3")) };
        assert_eq!(pinned.resolve(&successors, &history), Ok(VersionIndex(1)));
    }

    #[test]
    fn an_origin_comes_back_from_a_record_and_garbage_does_not() {
        let arena = Arena::new();
        let created = Origin::created(version("v1"));
        for origin in [created.clone(), Origin { act_as: Some(version("v2")), ..created }] {
            assert_eq!(Origin::from_value(origin.to_value(&arena)), Ok(origin.clone()));
        }
        let garbage = [
            "[]",
            "{}",
            r#"{"createdWith":"v1"}"#,
            r#"{"createdWith":"v1","writtenWith":1}"#,
            r#"{"createdWith":"v1","writtenWith":""}"#,
            r#"{"createdWith":"v1","writtenWith":"v1","actAs":null}"#,
            r#"{"createdWith":"v1","writtenWith":"v1","later":1}"#,
        ];
        for text in garbage {
            assert!(Origin::from_value(document(text, &arena)).is_err(), "{text}");
        }
    }
}
