//! What of a stored document only one version can show.

use std::cell::RefCell;

use wheelwright_document::Value;

use super::{
    Lenses,
    plan::Scope,
    state::{Slot, Slots},
};
use crate::{FieldId, VersionIndex};

/// The fields that one version shows, and none of some others.
#[derive(Debug)]
pub struct OnlyIn<'l> {
    lenses: &'l Lenses,
    version: VersionIndex,
    others: Box<[VersionIndex]>,
    /// By the position of a field: why the version is needed for it.
    fields: Vec<Option<Only>>,
}

/// What only one version can show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Only {
    /// A fact: no other version shows the field in any spelling.
    Fact(FieldId),
    /// A spelling of a fact that others show in another one.
    Spelling(FieldId),
    /// Fields that no version declares, where no other version keeps such fields.
    Undeclared,
}

impl Lenses {
    /// What a version shows and none of some others does.
    pub fn only_in(&self, version: VersionIndex, others: &[VersionIndex]) -> OnlyIn<'_> {
        let others: Box<[VersionIndex]> = others.iter().copied().filter(|other| *other != version).collect();
        let mut fields = Vec::new();
        for id in self.scopes.iter().flat_map(|scope| &scope.slots).map(|slot| slot.id) {
            fields.resize(fields.len().max(id.position() + 1), None);
            if self.says(version, id) && !others.iter().any(|other| self.says(*other, id)) {
                let is_fact = !others.iter().any(|other| self.says_in_any_spelling(*other, id));
                fields[id.position()] = Some(if is_fact { Only::Fact(id) } else { Only::Spelling(id) });
            }
        }
        OnlyIn { lenses: self, version, others, fields }
    }
}

impl OnlyIn<'_> {
    /// What there is of it in a stored document, each once.
    pub fn found_in(&self, stored: Value<'_>) -> Vec<Only> {
        let found = RefCell::new(Vec::new());
        self.lenses.walk_scopes(stored, &|scope, slots| {
            let is_there = |slot: &usize| matches!(slots.values[*slot], Slot::Value(_) | Slot::Object(_));
            let there = (0..scope.slots.len()).filter(is_there);
            let only = there.filter_map(|slot| self.fields[scope.slots[slot].id.position()]);
            let undeclared = self.shows_undeclared(scope, slots).then_some(Only::Undeclared);
            found.borrow_mut().extend(only.chain(undeclared));
        });
        let mut found = found.into_inner();
        found.sort();
        found.dedup();
        found
    }

    /// Whether a scope has fields that nobody declares and only the version keeps.
    fn shows_undeclared(&self, scope: &Scope, slots: &Slots<'_>) -> bool {
        let objects = (0..scope.slots.len()).map(Some).chain([None]);
        let mut with_unknown = objects.filter(|object| !slots.unknown(*object).is_empty());
        with_unknown.any(|object| {
            let keeps = |version: &VersionIndex| keeps_undeclared(scope, *version, object).unwrap_or(false);
            keeps(&self.version) && !self.others.iter().any(keeps)
        })
    }
}

/// Whether a version keeps fields that it does not declare in the scope's own object (no slot) or in another.
fn keeps_undeclared(scope: &Scope, version: VersionIndex, slot: Option<usize>) -> Option<bool> {
    let view = scope.views[version.position()].as_ref()?;
    let object = match slot {
        None => 0,
        Some(slot) => {
            let mut fields = view.objects.iter().flat_map(|object| &object.fields.list);
            fields.find(|(_, field)| field.slot == slot)?.1.object?
        }
    };
    Some(view.objects[object].keeps_unknown)
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Arena, decode};

    use super::*;
    use crate::{Kind, Part, testing};

    #[test]
    fn what_only_one_version_can_show_is_found_wherever_it_is() {
        let kind: Kind = testing::kind(
            &[
                (
                    "v1",
                    "{type: object, properties: {note: {type: string}, timeout: {type: string}, n: {type: integer}, \
                  items: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}}}, \
                  free: {type: object, x-kubernetes-preserve-unknown-fields: true}}}",
                ),
                (
                    "v2",
                    "{type: object, properties: {seconds: {type: integer}, n: {type: integer}, \
                  items: {type: array, items: {type: object, properties: {a: {type: string}}}}, free: {type: object}}}",
                ),
            ],
            "{v2: {removed: [note, 'items[].b'], converted: {timeout: {to: seconds, with: durationSeconds}}}}",
            "v2",
        );
        let (v1, v2) = (kind.version("v1").unwrap(), kind.version("v2").unwrap());
        let arena = Arena::new();
        let only = kind.lenses().only_in(v1, &[v1, v2]);
        let found = |document: &'static str| {
            let document = decode(document.as_bytes(), &arena).unwrap();
            let stored = kind.put(v1, document, None, Part::Whole, &arena).unwrap();
            let text = |id: FieldId| kind.history().field(id).text.to_string();
            let found = only.found_in(stored).into_iter().map(|only| match only {
                Only::Fact(id) => format!("fact {}", text(id)),
                Only::Spelling(id) => format!("spelling {}", text(id)),
                Only::Undeclared => "undeclared".to_owned(),
            });
            found.collect::<Vec<_>>()
        };
        assert_eq!(found(r#"{"n":1,"timeout":"5s","items":[{"a":"x"}],"free":{}}"#), Vec::<String>::new());
        assert_eq!(found(r#"{"note":"x"}"#), ["fact note"]);
        assert_eq!(found(r#"{"timeout":"90m"}"#), ["spelling timeout"], "it is 1h30m0s otherwise");
        assert_eq!(found(r#"{"items":[{"a":"x"},{"a":"y","b":"z"}]}"#), ["fact items[].b"]);
        assert_eq!(found(r#"{"free":{"x":1}}"#), ["undeclared"]);
        assert!(kind.lenses().only_in(v2, &[v1]).found_in(decode(br#"{"n":1}"#, &arena).unwrap()).is_empty());
    }
}
