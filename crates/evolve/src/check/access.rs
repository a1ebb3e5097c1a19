//! Who may write a field, and whether it is shown: `readOnly`, `x-ms-mutability`, `writeOnly` and `x-ms-secret`.
//!
//! These annotations validate nothing, so that no document is refused for them by a schema; what is served follows them.

use wheelwright_findings::Level;
use wheelwright_schema::Schema;

use super::{
    Change, Difference, Incompatibility, What,
    refusals::Between,
    side::{Side, below},
};
use crate::{NodeIndex, Selector};

/// What clients may do with a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Access {
    /// They can set it when they create a document.
    pub create: bool,
    /// They can change it afterwards.
    pub update: bool,
    /// They can read it.
    pub read: bool,
}

/// What clients cannot do any more with a field, or can read although it was hidden.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum AccessHarm {
    /// What they write is dropped: only the service writes the field.
    Dropped,
    /// They can set it on create, and not change it afterwards.
    Fixed,
    /// They cannot set it on create.
    NotOnCreate,
    /// They cannot read it.
    Hidden,
    /// They can read what was written as a secret.
    Shown,
}

impl Access {
    const ALL: Self = Self { create: true, update: true, read: true };

    /// What clients can do, in the words of `x-ms-mutability`.
    pub fn words(&self) -> Vec<&'static str> {
        let words = [(self.create, "create"), (self.update, "update"), (self.read, "read")];
        words.into_iter().filter(|(is_allowed, _)| *is_allowed).map(|(_, word)| word).collect()
    }

    /// The access to a field, with what is declared of everything around it.
    pub(crate) fn of(side: &Side<'_>, node: NodeIndex) -> Self {
        let around = std::iter::successors(Some(node), |node| side.parent(*node));
        // A document is written and shown whatever its own schema says.
        let around = around.filter(|node| side.parent(*node).is_some());
        around.map(|node| Self::declared_at(side, node)).fold(Self::ALL, Self::and)
    }

    fn declared_at(side: &Side<'_>, node: NodeIndex) -> Self {
        let declared = side.schema(node).map_or(Self::ALL, Self::declared);
        // A field that one of several schemas hides is hidden, whichever of them a document follows.
        let read = schemas_of(side, node).into_iter().all(|schema| Self::declared(schema).read);
        Self { read, ..declared }
    }

    fn declared(schema: &Schema) -> Self {
        let Some(annotations) = schema.annotations.as_deref() else { return Self::ALL };
        let allows = annotations.mutability.map_or(Self::ALL, |mutability| Self {
            create: mutability.create,
            update: mutability.update,
            read: mutability.read,
        });
        let is_written = !annotations.read_only;
        let is_shown = !annotations.write_only && !annotations.secret;
        allows.and(Self { create: is_written, update: is_written, read: is_shown })
    }

    fn and(self, other: Self) -> Self {
        Self { create: self.create && other.create, update: self.update && other.update, read: self.read && other.read }
    }

    /// The same, with what is written or read as in `other` where `around` explains the difference: the access to the
    /// object around the field in both versions.
    fn beyond(self, other: Self, around: Option<(Self, Self)>) -> Self {
        let Some((was, is)) = around else { return self };
        let is_explained = |flag: fn(&Self) -> bool| flag(&self) == flag(&other) || flag(&was) != flag(&is);
        let write =
            if is_explained(|access| access.create) && is_explained(|access| access.update) { other } else { self };
        let read = if is_explained(|access| access.read) { other } else { self };
        Self { create: write.create, update: write.update, read: read.read }
    }

    fn harms_of(self, after: Self) -> Vec<AccessHarm> {
        let (create, update) = (self.create && !after.create, self.update && !after.update);
        let written = match (create, update) {
            (false, false) => None,
            _ if !after.create && !after.update => Some(AccessHarm::Dropped),
            (false, true) => Some(AccessHarm::Fixed),
            (true, _) => Some(AccessHarm::NotOnCreate),
        };
        let read = match (self.read, after.read) {
            (true, false) => Some(AccessHarm::Hidden),
            (false, true) => Some(AccessHarm::Shown),
            _ => None,
        };
        written.into_iter().chain(read).collect()
    }
}

/// The schemas of a node: its own, and what alternatives of the objects around it declare of it.
fn schemas_of<'s>(side: &'s Side<'_>, node: NodeIndex) -> Vec<&'s Schema> {
    let own: Vec<&Schema> = match side.parent(node) {
        None => side.whole().into_iter().collect(),
        Some(parent) => {
            let step = &side.version.structure.node(node).step;
            schemas_of(side, parent).into_iter().filter_map(|schema| below(schema, step)).collect()
        }
    };
    own.into_iter().flat_map(with_alternatives).collect()
}

fn with_alternatives(schema: &Schema) -> Vec<&Schema> {
    let alternatives = schema.all_of.iter().chain(&schema.any_of).chain(&schema.one_of);
    std::iter::once(schema).chain(alternatives.flat_map(with_alternatives)).collect()
}

/// What clients may do with a field in two versions, if it differs, and not only because it does for the object around it.
pub(super) fn changed_access(
    (before, old): (&Side<'_>, NodeIndex),
    (after, new): (&Side<'_>, NodeIndex),
) -> Option<Change> {
    before.schema(old).zip(after.schema(new))?;
    let was = Access::of(before, old);
    let around = before.parent(old).zip(after.parent(new));
    let around = around.map(|(old, new)| (Access::of(before, old), Access::of(after, new)));
    let is = Access::of(after, new).beyond(was, around);
    (was != is).then_some(Change::Access { before: was, after: is })
}

/// Whether two schemas of the same fields declare the same access to all of them. A fingerprint does not cover it.
pub fn has_same_access(before: &Schema, after: &Schema) -> bool {
    let fields = before.properties.iter().filter_map(|old| Some((&old.schema, after.property(&old.name)?)));
    let items = before.items.as_deref().zip(after.items.as_deref());
    let values = before.additional_schema().zip(after.additional_schema());
    let alternatives =
        [(&before.all_of, &after.all_of), (&before.any_of, &after.any_of), (&before.one_of, &after.one_of)];
    let alternatives = alternatives.into_iter().flat_map(|(old, new)| old.iter().zip(new));
    Access::declared(before) == Access::declared(after)
        && fields.chain(items).chain(values).chain(alternatives).all(|(old, new)| has_same_access(old, new))
}

/// Fields that clients could write or read and cannot any more, and secrets that are shown.
pub(crate) fn lost_access(
    before: &Side<'_>,
    after: &Side<'_>,
    between: Between,
    differences: &[Difference],
) -> Vec<Incompatibility> {
    let mut findings = Vec::new();
    for difference in differences {
        let ((Some(old), Some(new)), Some(field)) = (difference.nodes, &difference.after) else { continue };
        let (was, is) = match &difference.change {
            Change::Access { before, after } => (*before, *after),
            Change::Converted { before: from, after: to, .. } => {
                let access = |side: &Side<'_>, fields: &[Selector]| {
                    let nodes = fields.iter().filter_map(|field| side.version.structure.find(field));
                    nodes.map(|node| Access::of(side, node)).fold(Access::ALL, Access::and)
                };
                (access(before, from), access(after, to))
            }
            _ => continue,
        };
        findings.extend(was.harms_of(is).into_iter().map(|harm| {
            let keywords = match harm {
                AccessHarm::Dropped | AccessHarm::Fixed | AccessHarm::NotOnCreate => ["readOnly", "x-ms-mutability"],
                AccessHarm::Hidden | AccessHarm::Shown => ["x-ms-secret", "writeOnly"],
            };
            let place = |side: &Side<'_>, node: NodeIndex| {
                let declared = side.schema(node).and_then(|schema| keywords.into_iter().find(|word| schema.has(word)));
                side.place(node, declared.unwrap_or("x-ms-mutability"))
            };
            let what = What::AccessChanged(harm);
            let found = Incompatibility::new(&after.version.name, Some(&before.version.name), field.clone(), what)
                .at(place(after, new), place(before, old));
            // Marking a secret in a later version first takes nothing from clients of the version before.
            let is_marked_late = harm == AccessHarm::Hidden && between != Between::Edits;
            if is_marked_late { found.with_level(Level::Warning) } else { found }
        }));
    }
    findings
}

#[cfg(test)]
mod tests {
    use wheelwright_findings::Level;
    use wheelwright_schema::{
        Schema,
        model::{Annotations, Mutability},
    };

    use super::*;
    use crate::{
        Declaration, History,
        check::{check, check_edited},
        testing::declaration,
    };

    /// Annotations as OpenAPI writes them: `readOnly`, `secret`, or the words of `x-ms-mutability`.
    fn annotated(schema: &mut Schema, words: &str) {
        let has = |word: &str| words.contains(word);
        let mut annotations = Annotations::default();
        annotations.read_only = has("readOnly");
        annotations.secret = has("secret");
        annotations.mutability = (!words.is_empty() && !has("readOnly") && !has("secret")).then(|| {
            let mut mutability = Mutability::default();
            (mutability.read, mutability.create, mutability.update) = (has("read"), has("create"), has("update"));
            mutability
        });
        schema.annotations = Some(annotations.into());
    }

    /// A kind whose versions annotate an object `o` and the field `f` in it; `changes` may convert `f` into `g`.
    fn kind(versions: [(&str, &str, &str); 2], field_after: &str, changes: &str) -> Declaration {
        let text = |field: &str| {
            format!("{{type: object, properties: {{o: {{type: object, properties: {{{field}: {{type: string}}}}}}}}}}")
        };
        let (before, after) = (text("f"), text(field_after));
        let mut kind = declaration(&[(versions[0].0, &before), (versions[1].0, &after)], changes);
        for (version, (_, object, field)) in kind.versions.iter_mut().zip(versions) {
            let o = version.schema.properties.get_mut("o").unwrap();
            annotated(o, object);
            let name = o.properties.iter().next().unwrap().name.clone();
            annotated(o.properties.get_mut(&name).unwrap(), field);
        }
        kind
    }

    type Findings = Vec<(AccessHarm, Level, String)>;

    fn of(found: Vec<Incompatibility>) -> Findings {
        let harm = |found: Incompatibility| match found.what {
            What::AccessChanged(harm) => Some((harm, found.level, found.field.to_string())),
            _ => None,
        };
        found.into_iter().filter_map(harm).collect()
    }

    fn between(versions: [(&str, &str, &str); 2]) -> Findings {
        let kind = kind(versions, "f", "{}");
        of(check(&kind, &History::derive(&kind, None).0, None))
    }

    #[test]
    fn what_clients_lose_is_found_and_what_they_gain_is_not() {
        let found = |before, after| between([("v1", "", before), ("v2", "", after)]);
        let error = |harm| vec![(harm, Level::Error, "o.f".to_owned())];
        assert_eq!(found("", "readOnly"), error(AccessHarm::Dropped));
        assert_eq!(found("", "read"), error(AccessHarm::Dropped));
        assert_eq!(found("read create", "read"), error(AccessHarm::Dropped));
        assert_eq!(found("", "read create"), error(AccessHarm::Fixed));
        assert_eq!(found("", "read update"), error(AccessHarm::NotOnCreate));
        assert_eq!(found("", "secret"), [(AccessHarm::Hidden, Level::Warning, "o.f".to_owned())]);
        assert_eq!(found("secret", ""), error(AccessHarm::Shown));
        assert_eq!(found("create update", ""), error(AccessHarm::Shown));
        for (before, after) in
            [("readOnly", ""), ("read", "readOnly"), ("read create", ""), ("secret", "create update")]
        {
            assert_eq!(found(before, after), [], "{before} → {after}");
        }
    }

    #[test]
    fn an_edit_of_a_version_that_hides_a_field_is_an_error_and_an_alpha_version_has_none() {
        let versions = [("v1 before", "", ""), ("v1", "", "secret")];
        let kind = kind(versions, "f", "{}");
        let found = of(check_edited(&kind, &History::derive(&kind, None).0));
        assert_eq!(found, [(AccessHarm::Hidden, Level::Error, "o.f".to_owned())]);
        let alpha = between([("v1alpha1", "", ""), ("v1alpha2", "", "readOnly")]);
        assert_eq!(alpha, [(AccessHarm::Dropped, Level::Warning, "o.f".to_owned())]);
    }

    #[test]
    fn what_an_object_is_its_fields_are_and_it_is_reported_once() {
        let found = |before: [&'static str; 2], after: [&'static str; 2]| {
            between([("v1", before[0], before[1]), ("v2", after[0], after[1])])
        };
        assert_eq!(found(["", ""], ["readOnly", ""]), [(AccessHarm::Dropped, Level::Error, "o".to_owned())]);
        assert_eq!(found(["", ""], ["readOnly", "readOnly"]), [(AccessHarm::Dropped, Level::Error, "o".to_owned())]);
        assert_eq!(found(["", "readOnly"], ["readOnly", ""]), [(AccessHarm::Dropped, Level::Error, "o".to_owned())]);
        assert_eq!(found(["readOnly", ""], ["", "readOnly"]), []);
        assert_eq!(
            found(["", ""], ["secret", "readOnly"]),
            [
                (AccessHarm::Hidden, Level::Warning, "o".to_owned()),
                (AccessHarm::Dropped, Level::Error, "o.f".to_owned())
            ]
        );
    }

    #[test]
    fn the_annotations_of_a_document_are_about_nothing() {
        let mut kind = kind([("v1", "", ""), ("v2", "", "")], "f", "{}");
        annotated(&mut kind.versions[1].schema, "readOnly");
        assert_eq!(of(check(&kind, &History::derive(&kind, None).0, None)), []);
    }

    #[test]
    fn a_secret_that_is_renamed_or_converted_stays_one() {
        for changes in ["v2: {renamed: {o.f: o.g}}", "v2: {converted: {o.f: {to: o.g, with: text}}}"] {
            let found = |after| {
                let kind = kind([("v1", "", "secret"), ("v2", "", after)], "g", changes);
                of(check(&kind, &History::derive(&kind, None).0, None))
            };
            assert_eq!(found("secret"), [], "{changes}");
            assert_eq!(found(""), [(AccessHarm::Shown, Level::Error, "o.g".to_owned())], "{changes}");
        }
    }
}
