//! What of a stored document only one version can show.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
};

use wheelwright_document::{Arena, Entry, Value};

use crate::{
    FieldId, Kind, Lenses, NodeIndex, Shape, Trouble, VersionHistory, VersionIndex,
    comparison::{Comparison, is_folded, part, parts},
    fact::Facts,
    lens::{
        equal,
        plan::{Content, Scope},
        state::{Slot, Slots},
    },
};

/// The fields that one version shows, and none of some others.
#[derive(Debug)]
pub struct OnlyIn<'k> {
    kind: &'k Kind,
    lenses: &'k Lenses,
    version: VersionIndex,
    others: Box<[Other]>,
    /// The fields that no other version shows.
    facts: HashSet<FieldId>,
    /// The fields that a hook converts which is not registered, with those that it makes of them.
    uncomputable: HashMap<FieldId, Vec<FieldId>>,
    /// The fields that are converted and that no other version has.
    converted: HashSet<FieldId>,
    /// These, and all fields in them.
    in_converted: HashSet<FieldId>,
}

/// Another version.
#[derive(Debug)]
struct Other {
    version: VersionIndex,
    /// The fields that it has in another representation.
    said_otherwise: HashSet<FieldId>,
}

/// What only one version can show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Only {
    /// A value of a field that no other version shows in any representation.
    Fact(FieldId),
    /// The notation of a value that others show in another representation.
    Spelling(FieldId),
    /// The order of the items of a list that others show in another representation.
    Order(FieldId),
    /// Fields that no version declares, where no other version keeps such fields.
    Undeclared,
}

impl Kind {
    /// Finds what a version shows and none of some others does, in documents that are stored as `lenses` have them.
    pub fn only_in<'k>(&'k self, lenses: &'k Lenses, version: VersionIndex, others: &[VersionIndex]) -> OnlyIn<'k> {
        let history = self.history();
        let own = history.version(version);
        let others = others.iter().filter(|other| **other != version).map(|other| Other {
            version: *other,
            said_otherwise: self.facts().said_otherwise(history.version(*other)),
        });
        let others: Box<[Other]> = others.collect();
        let is_shown = |id| others.iter().any(|other| history.version(other.version).node_of(id).is_some());
        let (mut converted, mut in_converted) = (HashSet::new(), HashSet::new());
        for id in history.ids().filter(|id| self.facts().is_converted(*id) && !is_shown(*id)) {
            if let Some(node) = own.node_of(id) {
                converted.insert(id);
                in_converted.extend(ids_below(own, node));
            }
        }
        let slots = lenses.scopes.iter().flat_map(|scope| &scope.slots).map(|slot| slot.id);
        let is_fact = |id: &FieldId| {
            lenses.says(version, *id)
                && !in_converted.contains(id)
                && !others.iter().any(|other| lenses.says(other.version, *id))
        };
        let facts = slots.filter(is_fact).collect();
        let mut uncomputable: HashMap<FieldId, Vec<FieldId>> = HashMap::new();
        for change in &Facts::of(history).changes {
            for (side, other) in [(&change.from, &change.to), (&change.to, &change.from)] {
                for id in side.iter().filter(|id| !self.facts().is_converted(**id)) {
                    uncomputable.entry(*id).or_default().extend(other.iter().filter(|id| is_shown(**id)));
                }
            }
        }
        OnlyIn { kind: self, lenses, version, others, facts, uncomputable, converted, in_converted }
    }
}

impl OnlyIn<'_> {
    /// What there is of it in a stored document, each once.
    pub fn found_in(&self, stored: Value<'_>) -> Vec<Only> {
        let mut found = self.facts_in(stored);
        if !self.converted.is_empty() {
            let arena = Arena::new();
            let shown = self.lenses.get(self.version, stored, &arena);
            let backs: Vec<Back<'_>> = self.others.iter().map(|other| self.back(other, stored, &arena)).collect();
            let values: Vec<Option<Value<'_>>> = backs.iter().map(|back| back.value).collect();
            self.content(self.own().structure.root(), shown, (&values, &values), &backs, &mut found);
        }
        found.sort();
        found.dedup();
        // The object or list says it all.
        let inner: Vec<Only> = found.iter().copied().filter(|only| self.is_in_another(only, &found)).collect();
        found.retain(|only| !inner.contains(only));
        found
    }

    fn own(&self) -> &VersionHistory {
        self.kind.history().version(self.version)
    }

    fn is_in_another(&self, only: &Only, found: &[Only]) -> bool {
        let Only::Fact(id) = only else { return false };
        let parent = |node: &NodeIndex| self.own().structure.node(*node).parent;
        let above = std::iter::successors(self.own().node_of(*id), parent).skip(1);
        above.filter_map(|node| self.own().id(node)).any(|id| found.contains(&Only::Fact(id)))
    }

    /// Stored fields that are not converted.
    fn facts_in(&self, stored: Value<'_>) -> Vec<Only> {
        let found = RefCell::new(Vec::new());
        self.lenses.walk_scopes(stored, &|scope, slots| {
            let is_there = |slot: &usize| matches!(slots.values[*slot], Slot::Value(_) | Slot::Object(_));
            let there = (0..scope.slots.len()).filter(is_there).map(|slot| scope.slots[slot].id);
            let there: Vec<FieldId> = there.collect();
            let facts = there.iter().filter(|id| self.facts.contains(id));
            let only = facts.map(|id| {
                let is_shown = self.uncomputable.get(id).is_some_and(|made| made.iter().any(|id| there.contains(id)));
                if is_shown { Only::Spelling(*id) } else { Only::Fact(*id) }
            });
            let undeclared = self.shows_undeclared(scope, slots).then_some(Only::Undeclared);
            found.borrow_mut().extend(only.chain(undeclared));
        });
        found.into_inner()
    }

    /// Whether a scope has fields that nobody declares and only the version keeps.
    fn shows_undeclared(&self, scope: &Scope, slots: &Slots<'_>) -> bool {
        let objects = (0..scope.slots.len()).map(Some).chain([None]);
        let mut with_unknown = objects.filter(|object| !slots.unknown(*object).is_empty());
        with_unknown.any(|object| {
            let keeps = |version: VersionIndex| keeps_undeclared(scope, version, object).unwrap_or(false);
            keeps(self.version)
                && !self.others.iter().any(|other| keeps(other.version))
                && !self.is_in_converted(scope, object)
        })
    }

    /// Whether the scope's own object (no slot) or another is a part of a converted field.
    fn is_in_converted(&self, scope: &Scope, slot: Option<usize>) -> bool {
        let is_converted = |id: &FieldId| self.in_converted.contains(id);
        let is_here = |content: &Content| {
            content.scope().is_some_and(|inner| std::ptr::eq(&raw const self.lenses.scopes[inner], scope))
        };
        match slot {
            Some(slot) => is_converted(&scope.slots[slot].id),
            None => {
                let slots = self.lenses.scopes.iter().flat_map(|scope| &scope.slots);
                slots.filter(|slot| is_here(&slot.content)).any(|slot| is_converted(&slot.id))
            }
        }
    }

    /// What the version would show of a stored document if all that there is of it were what another version shows.
    fn back<'a>(&'a self, other: &Other, stored: Value<'a>, arena: &'a Arena) -> Back<'a> {
        let (shown, lost) = self.lenses.get_telling(other.version, stored, arena);
        let back = self.lenses.convert_telling(other.version, self.version, shown, arena).ok();
        let (value, troubles) = back.unzip();
        let uncomputed = |troubles: &[Trouble]| self.kind.facts().uncomputed(troubles);
        let lost = uncomputed(&lost);
        let failed = troubles.map_or_else(HashSet::new, |troubles| uncomputed(&troubles));
        Back { value, is_shown: failed.difference(&lost).copied().collect() }
    }

    /// Looks for converted fields in a value of the version, beside the same value from every other version. `own` are those
    /// of the document, item or map value that it is in.
    fn content(
        &self,
        node: NodeIndex,
        value: Value<'_>,
        (values, own): (&[Option<Value<'_>>], &[Option<Value<'_>>]),
        backs: &[Back<'_>],
        found: &mut Vec<Only>,
    ) {
        let structure = &self.own().structure;
        match (structure.node(node).shape, value) {
            (Shape::Object | Shape::Map, Value::Object(entries)) => {
                let known: Vec<Option<Vec<&Entry<'_>>>> = values.iter().map(|value| value.map(parts)).collect();
                let is_map = structure.node(node).shape == Shape::Map;
                for Entry { key, value } in entries {
                    let child = if is_map { structure.element(node) } else { structure.child(node, key) };
                    let Some(child) = child else { continue };
                    let values: Vec<_> = known.iter().map(|known| part(known, key)).collect();
                    match self.own().id(child).filter(|id| self.converted.contains(id)) {
                        Some(id) => self.converted((id, child), *value, (&values, own), backs, found),
                        None => {
                            self.content(child, *value, (&values, if is_map { &values } else { own }), backs, found)
                        }
                    }
                }
            }
            (Shape::List, Value::Array(items)) => {
                let Some(element) = structure.element(node) else { return };
                let lists = values.iter().map(|value| value.and_then(Value::as_array));
                let lists: Vec<_> = lists.map(|list| list.filter(|list| list.len() == items.len())).collect();
                for (index, item) in items.iter().enumerate() {
                    let values: Vec<_> = lists.iter().map(|list| list.map(|list| list[index])).collect();
                    self.content(element, *item, (&values, &values), backs, found);
                }
            }
            _ => {}
        }
    }

    /// What of a converted field no other version shows: what the one leaves out that shows the most of it.
    fn converted(
        &self,
        (id, node): (FieldId, NodeIndex),
        value: Value<'_>,
        (values, own): (&[Option<Value<'_>>], &[Option<Value<'_>>]),
        backs: &[Back<'_>],
        found: &mut Vec<Only>,
    ) {
        let others = self.others.iter().zip(values).zip(own).zip(backs);
        let left_out = others.map(|(((other, value_back), own), back)| {
            let whole = || match self.is_frozen(id, value) {
                true => Vec::new(),
                false => vec![Only::Fact(id)],
            };
            match value_back {
                _ if !other.said_otherwise.contains(&id) => whole(),
                None | Some(Value::Null) if value.is_null() => Vec::new(),
                None | Some(Value::Null) if back.is_shown.contains(&id) => vec![Only::Spelling(id)],
                None | Some(Value::Null) if is_folded(self.kind, self.own(), (id, value), *own) => {
                    vec![Only::Spelling(id)]
                }
                None | Some(Value::Null) => whole(),
                Some(value_back) => Comparison::of(self.kind, self.own(), id).only((id, node), value, *value_back),
            }
        });
        let is_lost = |only: &&Only| matches!(only, Only::Fact(_));
        let least = left_out.min_by_key(|left_out| (left_out.iter().filter(is_lost).count(), left_out.len()));
        found.extend(least.unwrap_or_else(|| vec![Only::Fact(id)]));
    }

    /// Whether a value is what every reader sees where nothing is stored.
    fn is_frozen(&self, id: FieldId, value: Value<'_>) -> bool {
        let arena = Arena::new();
        let frozen = self.kind.history().field(id).frozen.as_ref();
        frozen.is_some_and(|frozen| equal(frozen.share(&arena), value))
    }
}

/// What a version would show if another version's view were all that is stored.
struct Back<'a> {
    /// Nothing if the other version's view cannot be written.
    value: Option<Value<'a>>,
    /// The fields that the other version shows, but that could not be computed from it.
    is_shown: HashSet<FieldId>,
}

/// The fields at a node and below it.
fn ids_below(version: &VersionHistory, node: NodeIndex) -> Vec<FieldId> {
    let mut found: Vec<FieldId> = version.id(node).into_iter().collect();
    let children = &version.structure.node(node).children;
    found.extend(children.iter().flat_map(|child| ids_below(version, *child)));
    found
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
    fn a_shorthand_that_is_folded_is_a_notation() {
        let item = "{type: array, items: {type: object, properties: {name: {type: string}}}}";
        let kind: Kind = testing::kind(
            &[
                (
                    "v1",
                    &format!(
                        "{{type: object, properties: {{short: {{type: array, items: {{type: string}}}}, rich: {item}}}}}"
                    ),
                ),
                ("v2", &format!("{{type: object, properties: {{rich: {item}}}}}")),
            ],
            "{v2: {reshaped: [{from: [short, rich], to: rich, folded: name}]}}",
            "v2",
        );
        let (v1, v2) = (kind.version("v1").unwrap(), kind.version("v2").unwrap());
        let arena = Arena::new();
        let document = decode(br#"{"short":["a","b"]}"#, &arena).unwrap();
        let stored = kind.put(v1, document, None, Part::Whole, &arena).unwrap();
        let found = kind.only_in(kind.lenses(), v1, &[v1, v2]).found_in(stored);
        assert!(
            matches!(&found[..], [Only::Spelling(id)] if &*kind.history().field(*id).text.to_string() == "short"),
            "{found:?}"
        );
    }

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
        let only = kind.only_in(kind.lenses(), v1, &[v1, v2]);
        let found = |document: &'static str| {
            let document = decode(document.as_bytes(), &arena).unwrap();
            let stored = kind.put(v1, document, None, Part::Whole, &arena).unwrap();
            let text = |id: FieldId| kind.history().field(id).text.to_string();
            let found = only.found_in(stored).into_iter().map(|only| match only {
                Only::Fact(id) => format!("fact {}", text(id)),
                Only::Spelling(id) => format!("spelling {}", text(id)),
                Only::Order(id) => format!("order {}", text(id)),
                Only::Undeclared => "undeclared".to_owned(),
            });
            found.collect::<Vec<_>>()
        };
        assert_eq!(found(r#"{"n":1,"timeout":"5s","items":[{"a":"x"}],"free":{}}"#), Vec::<String>::new());
        assert_eq!(found(r#"{"note":"x"}"#), ["fact note"]);
        assert_eq!(found(r#"{"timeout":"90m"}"#), ["spelling timeout"], "it is 1h30m0s otherwise");
        assert_eq!(found(r#"{"items":[{"a":"x"},{"a":"y","b":"z"}]}"#), ["fact items[].b"]);
        assert_eq!(found(r#"{"free":{"x":1}}"#), ["undeclared"]);
        assert!(kind.only_in(kind.lenses(), v2, &[v1]).found_in(decode(br#"{"n":1}"#, &arena).unwrap()).is_empty());
    }

    /// What only v1 can show of documents that were written through it.
    fn found(versions: &[(&str, &str)], changes: &str, documents: &[(&str, &[&str])]) {
        for hub in versions.iter().map(|(name, _)| *name) {
            let kind = testing::kind(versions, changes, hub);
            let v1 = kind.version("v1").unwrap();
            let all: Vec<VersionIndex> = kind.history().indexes().collect();
            let only = kind.only_in(kind.lenses(), v1, &all);
            for (json, expected) in documents {
                let arena = Arena::new();
                let document = testing::document(json, &arena);
                let stored = kind.put(v1, document, None, Part::Whole, &arena).unwrap();
                // As after a sweep to the newest version.
                let newest = kind.lenses_for(*all.last().unwrap());
                let swept = kind.lenses().rehub(stored, &newest, &arena);
                let text = |id: FieldId| kind.history().field(id).text.to_string();
                let named = |found: Vec<Only>| -> Vec<String> {
                    let found = found.into_iter().map(|only| match only {
                        Only::Fact(id) => format!("fact {}", text(id)),
                        Only::Spelling(id) => format!("spelling {}", text(id)),
                        Only::Order(id) => format!("order {}", text(id)),
                        Only::Undeclared => "undeclared".to_owned(),
                    });
                    found.collect()
                };
                assert_eq!(named(kind.only_in(&newest, v1, &all).found_in(swept)), *expected, "{json} swept");
                if hub != "v1" {
                    assert_eq!(named(only.found_in(stored)), *expected, "{json} at {hub}");
                }
            }
        }
    }

    #[test]
    fn of_a_list_that_others_have_as_a_map_only_the_order_is_lost() {
        let v1 = "{type: object, properties: {args: {type: array, items: {type: object, properties: \
                  {name: {type: string}, value: {type: string}, note: {type: string}}}}}}";
        let v2 = "{type: object, properties: {args: {type: object, additionalProperties: {type: string}}}}";
        found(
            &[("v1", v1), ("v2", v2)],
            "v2: {reshaped: [{from: args, to: args, key: name, value: value}]}",
            &[
                (r#"{"args":[{"name":"a","value":"1"},{"name":"b","value":"2"}]}"#, &[]),
                (r#"{"args":[{"name":"b","value":"1"},{"name":"a","value":"2"}]}"#, &["order args"]),
                (
                    r#"{"args":[{"name":"b","value":"1"},{"name":"a","value":"2","note":"n"}]}"#,
                    &["fact args[].note", "order args"],
                ),
                (r#"{"args":[{"name":"a","value":"1"},{"name":"a","value":"2"}]}"#, &["fact args"]),
                (r#"{"args":[]}"#, &[]),
            ],
        );
    }

    #[test]
    fn notations_are_distinguished_from_values() {
        let v1 = "{type: object, properties: {timeout: {type: string}, disks: {type: array, items: {type: object, \
                  properties: {size: {type: integer}, model: {type: string}}}}, mode: {type: string}, \
                  number: {type: integer}, endpoint: {type: string}, gone: {type: object, properties: \
                  {a: {type: string}, l: {type: array, items: {type: object, properties: {b: {type: string}}}}}}}}";
        let v2 = "{type: object, properties: {seconds: {type: integer}, disk: {type: object, properties: \
                  {size: {type: integer}, model: {type: string}}}, way: {type: string}, half: {type: integer}, \
                  host: {type: string}, port: {type: integer}}}";
        let v3 = "{type: object, properties: {seconds: {type: integer}, half: {type: integer}, host: {type: string}}}";
        let changes = "{v2: {converted: {timeout: {to: seconds, with: durationSeconds}, disks: {to: disk, with: oneItem}, \
            mode: {to: way, with: {values: {x: fast, y: fast, z: slow}}}, \
            number: {to: half, up: 'self / 2', down: 'self * 2'}}, removed: [gone], \
            reshaped: [{from: endpoint, to: [host, port], template: '{host}:{port}'}]}, \
            v3: {removed: [disk, way, port]}}";
        let of_two: &[(&str, &[&str])] = &[
            (r#"{"timeout":"5s","mode":"x","number":4,"endpoint":"a:1","disks":[{"size":1}]}"#, &[]),
            (r#"{"timeout":"90m"}"#, &["spelling timeout"]),
            (r#"{"timeout":"soon"}"#, &["fact timeout"]),
            (r#"{"mode":"y"}"#, &["fact mode"]),
            (r#"{"number":5}"#, &["fact number"]),
            (r#"{"disks":[{"size":1,"model":"m"}]}"#, &[]),
            (r#"{"disks":[{"size":1},{"size":2}]}"#, &["fact disks"]),
            (r#"{"gone":{"a":"x","l":[{"b":"y"}]}}"#, &["fact gone"]),
        ];
        found(
            &[("v1", v1), ("v2", v2)],
            &changes.replace(", \n", ",").replace("v3: {removed: [disk, way, port]}", ""),
            of_two,
        );
        // What v2 shows counts, too.
        found(&[("v1", v1), ("v2", v2), ("v3", v3)], changes, of_two);
        let kind = testing::kind(&[("v1", v1), ("v2", v2), ("v3", v3)], changes, "v3");
        let (v1, v3) = (kind.version("v1").unwrap(), kind.version("v3").unwrap());
        let arena = Arena::new();
        let document = testing::document(r#"{"timeout":"5s","endpoint":"a:1","mode":"x"}"#, &arena);
        let stored = kind.put(v1, document, None, Part::Whole, &arena).unwrap();
        let text = |only: &Only| match only {
            Only::Fact(id) => kind.history().field(*id).text.to_string(),
            other => panic!("{other:?}"),
        };
        let found: Vec<String> = kind.only_in(kind.lenses(), v1, &[v3]).found_in(stored).iter().map(text).collect();
        assert_eq!(found, ["mode", "endpoint"], "v3 has only a part of the endpoint");
    }

    #[test]
    fn of_fields_that_a_hook_converts_the_others_are_known_where_it_is_not_registered() {
        let v1 = "{type: object, properties: {name: {type: string}}}";
        let v2 = "{type: object, properties: {first: {type: string}, last: {type: string}}}";
        let changes = "v2: {hook: [{name: names, from: name, to: [first, last]}]}";
        let kind = testing::declaration(&[("v1", v1), ("v2", v2)], changes);
        let kind = Kind::compile(&kind, None).0.unwrap();
        let (v1, v2) = (kind.version("v1").unwrap(), kind.version("v2").unwrap());
        let arena = Arena::new();
        let put = |version, json: &'static str, old| {
            let document = testing::document(json, &arena);
            kind.put(version, document, old, Part::Whole, &arena).unwrap()
        };
        let only = kind.only_in(kind.lenses(), v1, &[v2]);
        let name = kind.history().ids().next().unwrap();
        let stored = put(v1, r#"{"name":"Ada Lovelace"}"#, None);
        assert_eq!(only.found_in(stored), [Only::Fact(name)]);
        let stored = put(v2, r#"{"first":"Ada","last":"Lovelace"}"#, Some(stored));
        assert_eq!(only.found_in(stored), [Only::Spelling(name)]);
    }
}
