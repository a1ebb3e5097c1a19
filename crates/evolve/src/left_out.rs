//! What a document says and another version cannot: the fields that it does not have in any spelling, and what its
//! spelling of a fact has no room for.

use std::collections::HashSet;

use wheelwright_document::{Arena, Entry, FieldPath, Path, Value};

use crate::{
    FieldId, Kind, NodeIndex, Shape, Structure, Trouble, VersionHistory, VersionIndex,
    comparison::{counterparts, has_values, is_folded, is_notation, part, parts},
    lens::{by_key, equal, find, trouble::may_be_more},
};

impl Kind {
    /// What a document has and [`convert`](Self::convert) to another version does not give: fields that the version cannot
    /// say, and parts of values that are gone if `shown`, what [`convert_telling`](Self::convert_telling) gave, is all that
    /// there is. Fields that could not be computed are among the `troubles` that it told, and not among these. The list
    /// ends once it has four megabytes: all paths can be as long as the square of the document.
    pub fn left_out<'a>(
        &'a self,
        from: VersionIndex,
        to: VersionIndex,
        document: Value<'a>,
        (shown, troubles): (Value<'a>, &[Trouble]),
        arena: &'a Arena,
    ) -> Vec<FieldPath> {
        let is_pruned = self.program(from).is_some();
        let (before, after) = (self.history().version(from), self.history().version(to));
        let said_otherwise = self.facts().said_otherwise(after);
        let mut search = LeftOut {
            kind: self,
            is_pruned,
            from: before,
            to: after,
            said_otherwise,
            may_come_back: false,
            uncomputed: HashSet::new(),
            found: Vec::new(),
            bytes: 0,
        };
        search.content(before.structure.root(), document, (None, None), &Path::Root);
        if (search.may_come_back || !search.found.is_empty())
            && let Some((back, others)) = self.back(from, to, shown, arena)
        {
            let troubles = [troubles, &others].concat();
            search.uncomputed = match may_be_more(&troubles) {
                true => search.said_otherwise.clone(),
                false => self.facts().uncomputed(&troubles),
            };
            (search.found, search.bytes) = (Vec::new(), 0);
            search.content(before.structure.root(), document, (Some(back), Some(back)), &Path::Root);
        }
        search.found
    }

    /// What a version shows of a document that another one has shown, if that is all that there is, and what could not be
    /// computed; nothing if it cannot be written.
    fn back<'a>(
        &'a self,
        from: VersionIndex,
        to: VersionIndex,
        shown: Value<'a>,
        arena: &'a Arena,
    ) -> Option<(Value<'a>, Vec<Trouble>)> {
        let written = self.normal(to, shown, arena).ok()?;
        self.lenses().convert_telling(to, from, written, arena).ok()
    }
}

/// Looks for what a version cannot say.
struct LeftOut<'k> {
    kind: &'k Kind,
    /// What the version of the document does not know is no part of it, and its schema says so.
    is_pruned: bool,
    from: &'k VersionHistory,
    to: &'k VersionHistory,
    /// The fields that the other version has in another spelling.
    said_otherwise: HashSet<FieldId>,
    /// Whether the document has one of these, or an object in which the other version may see nothing.
    may_come_back: bool,
    /// The fields that are not there in another spelling perhaps only since something failed, which is told.
    uncomputed: HashSet<FieldId>,
    found: Vec<FieldPath>,
    bytes: usize,
}

/// How much text is written down about one document.
const MOST_BYTES: usize = 4 << 20;

impl LeftOut<'_> {
    /// A value of a node that the other version has, or whose parts it may have elsewhere. `back` is what the document
    /// would be once it was converted there and back, if that is known, and `own` the same of the document, item or map value
    /// that the node is in. Returns whether the other version may show a part of it.
    fn content(
        &mut self,
        node: NodeIndex,
        value: Value<'_>,
        (back, own): (Option<Value<'_>>, Option<Value<'_>>),
        path: &Path<'_>,
    ) -> bool {
        let structure = &self.from.structure;
        let mut is_shown = false;
        match (structure.node(node).shape, structure.element(node), value) {
            (Shape::Object, _, Value::Object(entries)) => {
                let is_envelope = |key: &str| {
                    node == structure.root()
                        && self.kind.is_resource()
                        && matches!(key, "apiVersion" | "kind" | "metadata")
                };
                let back = back.map(parts);
                for Entry { key, value } in entries.iter().filter(|entry| !is_envelope(entry.key)) {
                    let path = Path::Child(path, key);
                    match structure.child(node, key) {
                        Some(child) => is_shown |= self.field(child, *value, (part(&back, key), own), &path),
                        None if structure.node(node).keeps_unknown => {
                            let is_kept = self.keeps_unknown(node, key);
                            is_shown |= is_kept;
                            self.may_come_back |= is_kept;
                            match part(&back, key) {
                                Some(Value::Null) | None if is_kept && (back.is_none() || value.is_null()) => {}
                                Some(Value::Null) | None => self.push(&path),
                                Some(found) => self.missing((None, None), *value, found, &path),
                            }
                        }
                        None if !structure.node(node).keeps_unknown && !self.is_pruned => self.push(&path),
                        None => {}
                    }
                }
            }
            (Shape::List, Some(element), Value::Array(items)) => {
                let back = back.and_then(Value::as_array).filter(|back| back.len() == items.len());
                for (index, item) in items.iter().enumerate() {
                    let back = back.map(|back| back[index]);
                    self.content(element, *item, (back, back), &Path::Index(path, index));
                }
                is_shown = true;
            }
            (Shape::Map, Some(element), Value::Object(entries)) => {
                let back = back.map(parts);
                for Entry { key, value } in entries {
                    let back = part(&back, key);
                    self.content(element, *value, (back, back), &Path::Key(path, key));
                }
                is_shown = true;
            }
            _ => is_shown = !value.is_null(),
        }
        is_shown
    }

    /// A field of an object. Returns whether the other version may show it.
    fn field(
        &mut self,
        node: NodeIndex,
        value: Value<'_>,
        (back, own): (Option<Value<'_>>, Option<Value<'_>>),
        path: &Path<'_>,
    ) -> bool {
        let id = self.from.id(node);
        if let Some(id) = id.filter(|id| self.said_otherwise.contains(id)) {
            self.may_come_back = true;
            match back {
                Some(Value::Null) if self.uncomputed.contains(&id) || value.is_null() => {}
                Some(Value::Null) if !is_folded(self.kind, self.from, (id, value), own) => self.push(path),
                Some(Value::Null) | None => {}
                Some(back) => self.missing((Some(node), Some(id)), value, back, path),
            }
            return !value.is_null();
        }
        let counterpart = self.to.counterpart(self.from, node);
        let is_said = counterpart.is_some();
        let is_object = matches!(value, Value::Object(_)) && self.from.structure.node(node).shape == Shape::Object;
        if !is_object && counterpart.is_some_and(|counterpart| self.may_be_in_null(node, counterpart)) {
            self.may_come_back = true;
            if matches!(back, Some(Value::Null)) && !value.is_null() {
                self.push(path);
                return false;
            }
        }
        let has_parts = value.as_object().is_some_and(|entries| !entries.is_empty());
        if is_said || (has_parts && self.from.structure.node(node).shape == Shape::Object) {
            let found = self.found.len();
            let is_shown = self.content(node, value, (back, own), path);
            let is_hidden = !is_shown && counterpart.is_none_or(|object| self.to.refuses_empty(object));
            self.may_come_back |= is_hidden;
            // An object in which the other version sees nothing is not shown there if it has no such object, or refuses `{}`.
            if is_hidden && self.found.len() == found && matches!((value, back), (Value::Object(_), Some(Value::Null)))
            {
                self.push(path);
            }
            !is_hidden && !value.is_null()
        } else if !value.is_null() {
            match back.filter(|back| !back.is_null()) {
                // What readers fill in or derive is the value only by chance.
                Some(back) if equal(value, back) => {}
                Some(Value::Object(_)) if matches!(value, Value::Object([])) => {}
                _ => self.push(path),
            }
            false
        } else {
            false
        }
    }

    /// The parts of a value that did not come back. `converted` is the field in another representation that it is or is in:
    /// another text or number may be another notation of its value.
    fn missing(
        &mut self,
        (node, converted): (Option<NodeIndex>, Option<FieldId>),
        value: Value<'_>,
        back: Value<'_>,
        path: &Path<'_>,
    ) {
        let structure = &self.from.structure;
        let element = node.and_then(|node| structure.element(node));
        match (value, back) {
            (Value::Object(entries), Value::Object(back)) => {
                let fields = node.filter(|node| structure.node(*node).shape == Shape::Object);
                let back = by_key(back);
                for Entry { key, value } in entries.iter().filter(|entry| !entry.value.is_null()) {
                    let child = fields.and_then(|node| structure.child(node, key));
                    let is_known = child.is_some() || fields.is_none_or(|node| structure.node(node).keeps_unknown);
                    if !is_known && self.is_pruned {
                        continue;
                    }
                    let path = if fields.is_some() { Path::Child(path, key) } else { Path::Key(path, key) };
                    match find(&back, key) {
                        Some(back) => self.missing((child.or(element), converted), *value, back, &path),
                        None => self.push(&path),
                    }
                }
            }
            (Value::Array(items), Value::Array(back)) => {
                for (index, position) in counterparts(items, back).into_iter().enumerate() {
                    let path = Path::Index(path, index);
                    match position {
                        Some(position) => self.missing((element, converted), items[index], back[position], &path),
                        None => self.push(&path),
                    }
                }
            }
            (value, back) if equal(value, back) || self.is_same_in(converted, node, value, back) => {}
            _ => self.push(path),
        }
    }

    /// Whether another text or number is another notation of a value, in a field that has another representation: not if it
    /// is merely the frozen default of a part of the field that has none.
    fn is_same_in(
        &self,
        converted: Option<FieldId>,
        node: Option<NodeIndex>,
        value: Value<'_>,
        back: Value<'_>,
    ) -> bool {
        let Some(converted) = converted else { return false };
        let arena = Arena::new();
        let own = node.and_then(|node| self.from.id(node)).filter(|id| !self.said_otherwise.contains(id));
        let frozen = own.and_then(|id| self.kind.history().field(id).frozen.as_ref());
        if frozen.is_some_and(|frozen| equal(frozen.share(&arena), back)) {
            return false;
        }
        is_notation(value, back, || has_values(self.kind, converted))
    }

    fn push(&mut self, path: &Path<'_>) {
        if self.bytes <= MOST_BYTES {
            let path = path.to_field_path();
            self.bytes += path.as_str().len();
            self.found.push(path);
        }
    }

    /// Whether the other version has a field in an object that may be null there, although this version's document says the
    /// field.
    fn may_be_in_null(&self, node: NodeIndex, counterpart: NodeIndex) -> bool {
        let above = |structure: &'_ Structure, node| {
            let parents = std::iter::successors(structure.node(node).parent, |node| structure.node(*node).parent);
            let is_object = |node: &NodeIndex| structure.node(*node).shape == Shape::Object;
            parents.take_while(is_object).collect::<Vec<_>>()
        };
        let own: Vec<_> = above(&self.from.structure, node).into_iter().map(|node| self.from.id(node)).collect();
        above(&self.to.structure, counterpart)
            .into_iter()
            .any(|object| self.to.structure.node(object).nullable && !own.contains(&self.to.id(object)))
    }

    /// Whether the other version keeps an undeclared field of this name, too, and has no field of its own in its place.
    fn keeps_unknown(&self, node: NodeIndex, name: &str) -> bool {
        let structure = &self.to.structure;
        let object = self.to.counterpart(self.from, node);
        object.is_some_and(|object| structure.node(object).keeps_unknown && structure.child(object, name).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{document, kind};

    fn left_out(kind: &Kind, from: &str, to: &str, json: &str) -> Vec<String> {
        let arena = Arena::new();
        let [from, to] = [from, to].map(|name| kind.version(name).unwrap());
        let json = document(json, &arena);
        let (shown, troubles) = kind.convert_telling(from, to, json, &arena).unwrap();
        kind.left_out(from, to, json, (shown, &troubles), &arena).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_version_cannot_say_is_told() {
        let v1 = "{type: object, properties: {gone: {type: object, properties: {moved: {type: string}, lost: {type: string}}}, \
                  any: {type: object, x-kubernetes-preserve-unknown-fields: true}, \
                  list: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}}}}}";
        let v2 = "{type: object, properties: {moved: {type: string}, any: {type: object}, \
                  list: {type: array, items: {type: object, properties: {a: {type: string}}}}}}";
        let changes = "v2: {renamed: {gone.moved: moved}, removed: [gone, 'list[].b']}";
        let kind = kind(&[("v1", v1), ("v2", v2)], changes, "v2");
        let json = r#"{"gone": {"moved": "a", "lost": "b"}, "any": {"x": 1}, "list": [{}, {"a": "c", "b": "d"}], "pruned": 1}"#;
        assert_eq!(left_out(&kind, "v1", "v2", json), ["gone.lost", "any.x", "list[1].b"]);
        assert!(left_out(&kind, "v1", "v1", json).is_empty());
    }

    #[test]
    fn a_shorthand_that_is_folded_is_not_left_out() {
        let version = |fields: &str| {
            format!(
                "{{type: object, properties: {{list: {{type: array, items: {{type: object, properties: {{name: \
                 {{type: string}}, texts: {{type: array, items: {{type: string}}}}, {fields}}}}}}}}}}}"
            )
        };
        let v1 = version("text: {type: string}, short: {type: string}, shorts: {type: array, items: {type: string}}");
        let v2 = version("other: {type: string}");
        let changes = "v2: {reshaped: [{from: ['list[].shorts', 'list[].texts'], to: 'list[].texts', folded: true}, \
                       {from: ['list[].short', 'list[].name'], to: 'list[].name', folded: true}], \
                       removed: ['list[].text']}";
        let kind = kind(&[("v1", &v1), ("v2", &v2)], changes, "v2");
        for (item, expected) in [
            (r#"{"shorts":["a","b"],"texts":["b"],"short":"n"}"#, &[][..]),
            (r#"{"short":"n","name":"n","text":"t"}"#, &["list[0].text"]),
            // The name takes precedence.
            (r#"{"short":"n","name":"m"}"#, &["list[0].short"]),
        ] {
            assert_eq!(left_out(&kind, "v1", "v2", &format!(r#"{{"list": [{item}]}}"#)), expected, "{item}");
        }
    }

    #[test]
    fn what_is_filled_in_instead_is_left_out() {
        let versions = [
            ("v1", "{type: object, properties: {o: {type: object, properties: {a: {type: string}}}}}"),
            (
                "v2",
                "{type: object, properties: {l: {type: array, items: {type: object, properties: {a: {type: string}, \
                 b: {type: string, default: x}}}}}}",
            ),
        ];
        for hub in ["v1", "v2"] {
            let kind = kind(&versions, "v2: {converted: {o: {to: l, with: oneItem}}}", hub);
            assert_eq!(left_out(&kind, "v2", "v1", r#"{"l":[{"a":"1","b":"y"}]}"#), ["l[0].b"]);
            // Whoever reads it back reads the same.
            assert_eq!(left_out(&kind, "v2", "v1", r#"{"l":[{"a":"1","b":"x"}]}"#), [""; 0]);
        }
    }

    #[test]
    fn what_a_version_says_in_another_spelling_is_not_left_out() {
        let v1 = "{type: object, properties: {timeout: {type: string}, endpoint: {type: string}, \
                  disk: {type: object, properties: {size: {type: integer}}}}}";
        let v2 = "{type: object, properties: {timeoutSeconds: {type: integer}, host: {type: string}, \
                  port: {type: integer}, disks: {type: array, items: {type: object, \
                  properties: {size: {type: integer}}}}}}";
        let v3 = "{type: object, properties: {timeoutSeconds: {type: integer}, host: {type: string}}}";
        let changes = "{v2: {converted: {timeout: {to: timeoutSeconds, with: durationSeconds}, \
            disk: {to: disks, with: oneItem}}, \
            reshaped: [{from: endpoint, to: [host, port], template: '{host}:{port}'}]}, \
            v3: {removed: [port, disks]}}";
        let kind = kind(&[("v1", v1), ("v2", v2), ("v3", v3)], changes, "v2");
        let json = r#"{"timeout": "90m", "endpoint": "a:1", "disk": {"size": 1}}"#;
        assert_eq!(left_out(&kind, "v1", "v2", json), [""; 0]);
        let unsaid = left_out(&kind, "v1", "v3", json);
        assert_eq!(unsaid, ["endpoint", "disk.size"], "only a part of the endpoint is there");
        let failing = r#"{"timeout": "soon", "endpoint": "a:1"}"#;
        assert_eq!(left_out(&kind, "v1", "v2", failing), [""; 0], "that it could not be computed is told");
    }

    const PLAIN: &str = "{type: object, properties: {disk: {type: object, properties: {size: {type: integer}}}, \
        cpu: {type: integer}, memory: {type: integer}, \
        args: {type: object, additionalProperties: {type: string}}, \
        labels: {type: object, additionalProperties: {type: string}}, \
        users: {type: object, additionalProperties: {type: object, x-kubernetes-preserve-unknown-fields: true}}, even: {type: integer}, \
        rules: {type: array, items: {type: object, properties: {disk: {type: object, \
        properties: {size: {type: integer}}}}}}}}";
    const RICH: &str = "{type: object, properties: {disks: {type: array, items: {type: object, \
        properties: {size: {type: integer}, model: {type: string}}}}, \
        limits: {type: object, additionalProperties: {type: integer}}, \
        args: {type: array, items: {type: object, \
        properties: {name: {type: string}, value: {type: string}, note: {type: string}}}}, \
        labels: {type: object, additionalProperties: {type: string}}, \
        users: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true, \
        properties: {name: {type: string}}}}, number: {type: integer}, \
        rules: {type: array, items: {type: object, properties: {disks: {type: array, items: {type: object, \
        properties: {size: {type: integer}}}}}}}}}";
    const RICHER: &str = "v2: {converted: {disk: {to: disks, with: oneItem}, \
        even: {to: number, up: self, down: 'self % 2 == 0 ? dyn(self) : dyn(null)'}, \
        'rules[].disk': {to: 'rules[].disks', with: oneItem}}, \
        reshaped: [{from: [cpu, memory], to: limits}, {from: args, to: args, key: name, value: value}, \
        {from: users, to: users, key: name}, {from: labels, to: labels, renamedKeys: {app: application}}]}";

    #[test]
    fn what_a_spelling_has_no_room_for_is_left_out() {
        let kind = kind(&[("v1", PLAIN), ("v2", RICH)], RICHER, "v2");
        for (json, expected) in [
            (r#"{"disks": [{"size": 1}, {"size": 2}]}"#, &["disks[1]"][..]),
            (r#"{"disks": [{"size": 1, "model": "x", "unknown": 1}, {"size": 2}]}"#, &["disks[0].model", "disks[1]"]),
            (r#"{"disks": []}"#, &["disks"]),
            (r#"{"limits": {"cpu": 1, "gpu": 2, "memory": 3}}"#, &["limits[gpu]"]),
            (r#"{"labels": {"app": "a", "application": "b", "tier": "c"}}"#, &["labels[app]"]),
            (r#"{"args": [{"name": "b", "value": "1"}, {"name": "a", "value": "2"}]}"#, &[]),
            (
                r#"{"args": [{"name": "b", "value": "1"}, {"name": "a", "value": "2", "note": "n"},
                    {"name": "b", "value": "3"}, {"value": "4"}]}"#,
                &["args[0]", "args[1].note", "args[3]"],
            ),
            (r#"{"users": [{"name": "b", "x": 1}, {"name": "a", "tags": ["t"]}]}"#, &[]),
            (r#"{"number": 2}"#, &[]),
            (r#"{"number": 3}"#, &["number"]),
            (r#"{"rules": [{}, {"disks": [{"size": 1}, {"size": 2}]}]}"#, &["rules[1].disks[1]"]),
        ] {
            assert_eq!(left_out(&kind, "v2", "v1", json), expected, "{json}");
            assert!(left_out(&kind, "v2", "v2", json).is_empty(), "{json}");
        }
    }

    #[test]
    fn what_could_not_be_computed_hides_nothing_else() {
        let v1 = "{type: object, properties: {disk: {type: object, properties: {size: {type: integer}}}, \
                  seconds: {type: integer}, half: {type: integer}}}";
        let v2 = "{type: object, properties: {disks: {type: array, items: {type: object, \
                  properties: {size: {type: integer}}}}, timeout: {type: string}, whole: {type: integer}}}";
        let v3 = "{type: object, properties: {disks: {type: array, items: {type: object, \
                  properties: {size: {type: integer}}}}, wait: {type: string}, whole: {type: integer}}}";
        let changes = "{v2: {converted: {disk: {to: disks, with: oneItem}, seconds: {to: timeout, with: durationSeconds}, \
            half: {to: whole, up: '10 / self', down: self}}}, \
            v3: {converted: {timeout: {to: wait, up: self, down: self}}}}";
        let kind = kind(&[("v1", v1), ("v2", v2), ("v3", v3)], changes, "v2");
        assert_eq!(left_out(&kind, "v2", "v1", r#"{"disks": [], "timeout": "soon"}"#), ["disks"]);
        assert_eq!(
            left_out(&kind, "v3", "v1", r#"{"disks": [], "wait": "soon"}"#),
            ["disks"],
            "another spelling of it"
        );
        assert_eq!(left_out(&kind, "v2", "v1", r#"{"disks": [], "whole": 0}"#), ["disks"], "failed on the way back");
    }

    #[test]
    fn what_is_in_an_object_that_is_null_is_left_out() {
        let v1 = "{type: object, properties: {o: {type: object, nullable: true, properties: {a: {type: string}, b: {type: string}}}}}";
        let v2 = "{type: object, properties: {a: {type: string}, o: {type: object, nullable: true, properties: {b: {type: string}}}}}";
        for hub in ["v1", "v2"] {
            let kind = kind(&[("v1", v1), ("v2", v2)], "v2: {renamed: {o.a: a}}", hub);
            assert_eq!(left_out(&kind, "v2", "v1", r#"{"a":"x","o":null}"#), ["a"], "v1 shows o as null");
            for json in [r#"{"a":"x","o":{"b":"y"}}"#, r#"{"a":"x","o":{}}"#, r#"{"a":"x"}"#, r#"{"a":null,"o":null}"#]
            {
                assert_eq!(left_out(&kind, "v2", "v1", json), [""; 0], "{json}");
            }
        }
    }
}
