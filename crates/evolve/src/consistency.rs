//! The check that all ways to a document agree on every default.

use std::collections::{BTreeMap, HashSet};

use wheelwright_document::{Arena, Entry, Owned, Value};
use wheelwright_findings::{Rule, rules};
use wheelwright_schema::{AdmitError, Stages};

use crate::{FieldId, History, Kind, NodeIndex, Part, Shape, Structure, VersionHistory, VersionIndex, check::spelled};

/// A way to a document with defaults.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DefaultedBy {
    /// A new document was constructed.
    Constructing,
    /// A document was decoded as a version, stored and read.
    Decoding,
    /// A document was stored without defaults, by no version, and opened.
    Opening,
    /// Another system's answer was completed.
    Completing,
}

/// Which defaults all ways agree on, and which not.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Consistency {
    /// How many fields have one default, or none, in all versions and by all ways.
    pub agreements: usize,
    /// Fields for which a version changed, added or removed its API default, so that it is not what readers fill in for
    /// old documents, and those that stand in other objects, or in objects that are filled in, in some versions.
    pub on_purpose: Vec<Disagreement>,
    /// Fields for which it cannot be explained. There are none unless something is broken.
    pub broken: Vec<Disagreement>,
}

/// A field that has different defaults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Disagreement {
    /// The field.
    pub id: FieldId,
    /// What it is by each way in each version; `None` is absent.
    pub values: Vec<(VersionIndex, DefaultedBy, Option<Owned>)>,
}

impl Consistency {
    /// The rule that is broken, if one is.
    pub fn rule(&self) -> Option<&'static Rule> {
        (!self.broken.is_empty()).then_some(&rules::DEFAULTS_DISAGREE)
    }

    /// The fields for which versions differ on purpose; not those in an object for which they do, too.
    pub fn differing<'c>(&'c self, history: &'c History) -> impl Iterator<Item = &'c Disagreement> {
        let differing: HashSet<FieldId> =
            self.on_purpose.iter().filter(|one| one.versions_differ()).map(|one| one.id).collect();
        let is_inside = move |id: FieldId, differing: &HashSet<FieldId>| {
            let in_version = |version: &VersionHistory| {
                let parent = |node: &NodeIndex| version.structure.node(*node).parent;
                let above = std::iter::successors(version.node_of(id), parent).skip(1);
                above.filter_map(|node| version.id(node)).any(|above| differing.contains(&above))
            };
            history.versions.iter().any(in_version)
        };
        self.on_purpose.iter().filter(move |one| differing.contains(&one.id) && !is_inside(one.id, &differing))
    }
}

impl Disagreement {
    /// Whether the versions differ, in what new documents have or in what stored ones read as. What is not the same in
    /// both, but in all versions, was declared so.
    pub fn versions_differ(&self) -> bool {
        [DefaultedBy::Constructing, DefaultedBy::Opening].into_iter().any(|way| {
            let values: Vec<_> = self.values.iter().filter(|(_, by, _)| *by == way).collect();
            values.iter().any(|(_, _, value)| !is_same(value, &values[0].2))
        })
    }

    /// What the field is in which version and by which way, where nobody sets it.
    pub fn message(&self, history: &History) -> String {
        let ways = [
            (DefaultedBy::Constructing, "a new document has"),
            (DefaultedBy::Decoding, "a decoded one has"),
            (DefaultedBy::Opening, "a stored one without it reads as"),
            (DefaultedBy::Completing, "one of another system reads as"),
        ];
        let told: Vec<(&str, String)> = ways.into_iter().map(|(way, text)| (text, self.by(way, history))).collect();
        // New documents are decoded, and those of other systems read, unless something is broken.
        let is_news = |index: usize| index.is_multiple_of(2) || told[index].1 != told[index - 1].1;
        let facts = told.iter().enumerate().filter(|(index, (_, values))| !values.is_empty() && is_news(*index));
        let facts: Vec<String> = facts.map(|(_, (text, values))| format!("{text} {values}")).collect();
        format!("where nobody sets {}, {}", history.field(self.id).text, facts.join("; "))
    }

    /// The values by one way, with the versions that have them; nothing if the object of the field is not there.
    fn by(&self, way: DefaultedBy, history: &History) -> String {
        let mut told: Vec<(&Option<Owned>, Vec<&str>)> = Vec::new();
        for (version, _, value) in self.values.iter().filter(|(_, by, _)| *by == way) {
            let name = history.version(*version).name.as_str();
            match told.iter_mut().find(|(known, _)| is_same(known, value)) {
                Some((_, versions)) => versions.push(name),
                None => told.push((value, vec![name])),
            }
        }
        let spell = |value: &Option<Owned>| value.as_ref().map_or_else(|| "nothing".to_owned(), spelled);
        let told = told.into_iter().map(|(value, versions)| format!("{} in {}", spell(value), versions.join(", ")));
        told.collect::<Vec<_>>().join(" and ")
    }
}

impl Kind {
    /// Takes documents in which everything is absent that can be through every version and all ways to a document, and
    /// compares the defaults.
    ///
    /// # Errors
    /// Defaults make a document too large.
    pub fn consistency(&self) -> Result<Consistency, AdmitError> {
        let mut values: BTreeMap<FieldId, Vec<(VersionIndex, DefaultedBy, Option<Owned>)>> = BTreeMap::new();
        for version in self.history().indexes() {
            let arena = Arena::new();
            let history = self.history().version(version);
            let skeleton = Skeleton { kind: self, history, arena: &arena }.object(history.structure.root());
            for (way, document) in self.by_all_ways(version, skeleton, &arena)? {
                let mut seen = |id, value: Option<Value<'_>>| {
                    values.entry(id).or_default().push((version, way, value.map(Owned::from)));
                };
                each_field(history, history.structure.root(), document, &mut seen);
            }
        }
        let mut result = Consistency::default();
        for (id, values) in values {
            let agree = values.iter().all(|(_, _, value)| is_same(value, &values[0].2));
            if !agree && !self.explains(id, &values) {
                result.broken.push(Disagreement { id, values });
            } else if !agree || self.history().indexes().any(|version| self.default_differs(version, id)) {
                result.on_purpose.push(Disagreement { id, values });
            } else {
                result.agreements += 1;
            }
        }
        Ok(result)
    }

    fn by_all_ways<'a>(
        &'a self,
        version: VersionIndex,
        skeleton: Value<'a>,
        arena: &'a Arena,
    ) -> Result<Vec<(DefaultedBy, Value<'a>)>, AdmitError> {
        // Nothing is old, so that no policy can refuse.
        let stored = |document| self.put(version, document, None, Part::Whole, arena).unwrap_or(document);
        let opened = self.get(version, stored(skeleton), arena);
        let mut ways = vec![
            (DefaultedBy::Opening, opened),
            (DefaultedBy::Completing, self.lenses().fill(version, skeleton, arena)),
        ];
        // A version that only the lock remembers decodes nothing.
        if let Some(program) = self.program(version) {
            let decoded = program.run(skeleton, arena, Stages::DEFAULT)?.value;
            ways.push((DefaultedBy::Decoding, self.get(version, stored(decoded), arena)));
            ways.push((DefaultedBy::Constructing, self.normal(version, skeleton, arena)?));
        }
        Ok(ways)
    }

    /// Whether different values come from API defaults that are not the frozen ones, or from the objects that the field is
    /// in, and from nothing else: within a version readers agree, and writers, and readers of versions where it is in the
    /// same objects, none of which is filled in. A frozen default of `{}` is not shown where `{}` is invalid.
    fn explains(&self, id: FieldId, values: &[(VersionIndex, DefaultedBy, Option<Owned>)]) -> bool {
        let find = |version: VersionIndex, ways: [DefaultedBy; 2]| {
            let is_meant =
                move |(at, way, _): &&(VersionIndex, DefaultedBy, Option<Owned>)| *at == version && ways.contains(way);
            values.iter().filter(is_meant).map(|(_, _, value)| value).collect::<Vec<_>>()
        };
        let agree = |values: &[&Option<Owned>]| values.iter().all(|value| is_same(value, values[0]));
        let mut alike: BTreeMap<_, Vec<&Option<Owned>>> = BTreeMap::new();
        let within = self.history().indexes().all(|version| {
            let read = find(version, [DefaultedBy::Opening, DefaultedBy::Completing]);
            let written = find(version, [DefaultedBy::Constructing, DefaultedBy::Decoding]);
            let all = [written.clone(), read.clone()].concat();
            let is_explained = agree(&read) && agree(&written) && (agree(&all) || self.has_own_default(version, id));
            if let Some(objects) = self.objects_of(version, id) {
                alike.entry((self.refuses_empty(version, id), objects)).or_default().extend(read);
            }
            is_explained
        });
        within && alike.values().all(|read| agree(read))
    }

    /// The objects, lists and maps that a field is in; none if one of them is filled in where it is absent, by some
    /// version, so that what is in them is not what it would be by itself.
    fn objects_of(&self, version: VersionIndex, id: FieldId) -> Option<Vec<Option<FieldId>>> {
        let history = self.history().version(version);
        let parent = |node: &NodeIndex| history.structure.node(*node).parent;
        let above = std::iter::successors(parent(&history.node_of(id)?), parent).map(|node| history.id(node));
        above.map(|id| (!id.is_some_and(|id| self.is_filled(id))).then_some(id)).collect()
    }

    /// Whether a field is an object in whose place a version refuses `{}`.
    fn refuses_empty(&self, version: VersionIndex, id: FieldId) -> bool {
        let history = self.history().version(version);
        history.node_of(id).is_some_and(|node| history.refuses_empty(node))
    }

    /// Whether a field is filled in where it is absent, by any version.
    fn is_filled(&self, id: FieldId) -> bool {
        let has_default = |version: &VersionHistory| {
            version.node_of(id).is_some_and(|node| version.structure.node(node).default.is_some())
        };
        self.history().field(id).frozen.is_some() || self.history().versions.iter().any(has_default)
    }

    /// Whether the API default of a field, or of something above it, is not the frozen one.
    fn has_own_default(&self, version: VersionIndex, id: FieldId) -> bool {
        let history = self.history().version(version);
        let mut nodes = std::iter::successors(history.node_of(id), |node| history.structure.node(*node).parent);
        nodes.any(|node| history.id(node).is_some_and(|id| self.default_differs(version, id)))
    }

    /// Whether a version has a field, and its API default is not the frozen one.
    fn default_differs(&self, version: VersionIndex, id: FieldId) -> bool {
        let history = self.history().version(version);
        let node = history.node_of(id).filter(|_| history.declared);
        node.is_some_and(|node| !is_same(&history.structure.node(node).default, &self.history().field(id).frozen))
    }
}

/// Makes documents in which everything is absent that can be: objects are there if no version fills them in, and lists and
/// maps of objects have one.
struct Skeleton<'a> {
    kind: &'a Kind,
    history: &'a VersionHistory,
    arena: &'a Arena,
}

impl<'a> Skeleton<'a> {
    fn object(&self, node: NodeIndex) -> Value<'a> {
        let structure = &self.history.structure;
        let entries = structure.node(node).children.iter().filter_map(|child| {
            let is_filled = self.history.id(*child).is_some_and(|id| self.kind.is_filled(id));
            let value = self.value(*child).filter(|_| !is_filled)?;
            Some(Entry { key: structure.node(*child).name()?, value })
        });
        Value::Object(self.arena.slice(&entries.collect::<Vec<_>>()))
    }

    /// A value, if it leads to an object.
    fn value(&self, node: NodeIndex) -> Option<Value<'a>> {
        let structure = &self.history.structure;
        let element = structure.element(node);
        match structure.node(node).shape {
            Shape::Object => Some(self.object(node)),
            Shape::List => Some(Value::Array(self.arena.slice(&[self.value(element?)?]))),
            Shape::Map => Some(Value::Object(self.arena.slice(&[Entry { key: "key", value: self.value(element?)? }]))),
            Shape::Scalar(_) => None,
        }
    }
}

/// Visits every field whose object is there. Of what has objects in it only their number counts; they are visited
/// themselves, the first of each.
fn each_field<'a>(
    history: &VersionHistory,
    object: NodeIndex,
    document: Value<'a>,
    visit: &mut dyn FnMut(FieldId, Option<Value<'a>>),
) {
    let structure = &history.structure;
    for child in &structure.node(object).children {
        let (Some(id), Some(name)) = (history.id(*child), structure.node(*child).name()) else { continue };
        let value = document.get(name);
        let inside = value.and_then(|value| first_object(structure, *child, value));
        visit(id, if inside.is_some() { Some(Value::Object(&[])) } else { value });
        if let Some((node, inside)) = inside {
            each_field(history, node, inside, visit);
        }
    }
}

/// The first object in a value, through lists and maps.
fn first_object<'a>(structure: &Structure, node: NodeIndex, value: Value<'a>) -> Option<(NodeIndex, Value<'a>)> {
    match (structure.node(node).shape, value) {
        (Shape::Object, Value::Object(_)) => Some((node, value)),
        (Shape::List, Value::Array(items)) => first_object(structure, structure.element(node)?, *items.first()?),
        (Shape::Map, Value::Object(entries)) => {
            first_object(structure, structure.element(node)?, entries.first()?.value)
        }
        _ => None,
    }
}

fn is_same(a: &Option<Owned>, b: &Option<Owned>) -> bool {
    let arena = Arena::new();
    match (a, b) {
        (Some(a), Some(b)) => a.share(&arena).equivalent(b.share(&arena)),
        (a, b) => a.is_none() && b.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::kind;

    fn texts(kind: &Kind, disagreements: &[Disagreement]) -> Vec<String> {
        disagreements.iter().map(|disagreement| kind.history().field(disagreement.id).text.to_string()).collect()
    }

    #[test]
    fn versions_differ_where_a_later_one_changed_added_or_removed_a_default() {
        let v1 = "{type: object, properties: {same: {type: integer, default: 1}, changed: {type: integer, default: 1}, \
            added: {type: string}, removed: {type: string, default: r}, \
            l: {type: array, items: {type: object, properties: {x: {type: string, default: x}, y: {type: string}}}}, \
            o: {type: object, default: {}, properties: {in: {type: integer, default: 1}}}, \
            p: {type: object, properties: {q: {type: object, properties: {deep: {type: integer, default: 1}}}}}}}";
        let v2 = "{type: object, properties: {same: {type: integer, default: 1.0}, changed: {type: integer, default: 2}, \
            added: {type: string, default: a}, removed: {type: string}, \
            l: {type: array, items: {type: object, properties: {x: {type: string, default: x}, y: {type: string, default: y}}}}, \
            o: {type: object, default: {in: 5}, properties: {in: {type: integer, default: 1}}}, \
            p: {type: object, properties: {renamed: {type: object, properties: {deep: {type: integer, default: 1}}}}}, \
            new: {type: object, properties: {field: {type: boolean, default: true}}}}}";
        for hub in ["v1", "v2"] {
            let kind = kind(&[("v1", v1), ("v2", v2)], "v2: {renamed: {p.q: p.renamed}}", hub);
            let consistency = kind.consistency().unwrap();
            assert_eq!(texts(&kind, &consistency.broken), [""; 0], "{:?}", consistency.broken);
            let expected = ["changed", "added", "removed", "l[].y", "o", "o.in"];
            assert_eq!(texts(&kind, &consistency.on_purpose), expected);
            assert_eq!(consistency.agreements + expected.len(), kind.history().fields.len());
        }
    }

    #[test]
    fn nothing_is_broken_by_moves_maps_overlays_storage_defaults_and_defaults_of_any_depth() {
        let object = |fields: &str| format!("{{type: object, properties: {{{fields}}}}}");
        let deep = "a: {type: object, default: {b: {c: [{d: 1}]}}, properties: {b: {type: object, properties: {c: {type: \
            array, items: {type: object, properties: {d: {type: integer}, e: {type: string, default: e}}}}}}}}";
        let kinds = [
            (deep.to_owned(), deep.replace("default: e", "default: f"), ""),
            (deep.to_owned(), deep.replace("d: ", "g: "), r#"v2: {renamed: {"a.b.c[].d": "a.b.c[].g"}}"#),
            (
                "x: {type: object, properties: {f: {type: string}, g: {type: string, default: d}}}".to_owned(),
                "y: {type: object, properties: {f: {type: string}, g: {type: string}}}, x: {type: object, properties: {h: \
                 {type: boolean, default: true}}}"
                    .to_owned(),
                "v2: {renamed: {x.f: y.f, x.g: y.g}}",
            ),
            (
                "m: {type: object, additionalProperties: {type: array, items: {type: object, properties: {k: {type: string}}}}}"
                    .to_owned(),
                "m: {type: object, additionalProperties: {type: array, items: {type: object, properties: {k: {type: string, \
                 default: k}, l: {type: number, nullable: true, default: 0.5}}}}}, n: {type: string}"
                    .to_owned(),
                r#"v2: {default: {n: x}, storageDefault: {"m{}[].l": 2}}"#,
            ),
        ];
        for (v1, v2, changes) in kinds {
            let (v1, v2) = (object(&v1), object(&v2));
            for hub in ["v1", "v2"] {
                let kind = kind(&[("v1", &v1), ("v2", &v2)], changes, hub);
                let consistency = kind.consistency().unwrap();
                assert!(consistency.rule().is_none(), "{v2}: {:?}", consistency.broken);
            }
        }
    }

    #[test]
    fn objects_that_some_versions_fill_in_or_have_elsewhere_differ_on_purpose() {
        let object = |fields: &str| format!("{{type: object, properties: {{{fields}}}}}");
        let late = "o: {type: object, properties: {in: {type: integer, default: 1}, p: {type: object, properties: {q: {type: \
            string}}}}}, l: {type: array, items: {type: object, properties: {x: {type: string, default: x}}}}";
        let strategy = "{type: object, properties: {type: {type: string}, surge: {type: integer, default: 1}}}";
        let kinds = [
            // A later version fills in an object and a list that were published without a default.
            (late.to_owned(), late.to_owned(), "v2: {default: {o: {in: 5, p: {}}, l: [{}]}}", vec!["o", "l"]),
            // What is moved out of an object leaves its default behind.
            (
                format!("s: {{type: object, default: {{type: a}}, {}", &strategy["{type: object, ".len()..]),
                format!("r: {{type: object, properties: {{s: {strategy}}}}}"),
                "v2: {renamed: {s.type: r.s.type, s.surge: r.s.surge}, removed: [s]}",
                vec!["s.type"],
            ),
            // A child of an object that is gone is absent where the object was filled in.
            (
                "outer: {type: object, default: {}, properties: {inner: {type: object, properties: {x: {type: integer, \
                 default: 4}, y: {type: string}}}}}"
                    .to_owned(),
                "x: {type: integer}, inner: {type: object, properties: {y: {type: string}}}".to_owned(),
                "v2: {renamed: {outer.inner: inner, outer.inner.x: x}, removed: [outer]}",
                vec!["outer.inner"],
            ),
        ];
        for (v1, v2, changes, expected) in kinds {
            let (v1, v2) = (object(&v1), object(&v2));
            for hub in ["v1", "v2"] {
                let kind = kind(&[("v1", &v1), ("v2", &v2)], changes, hub);
                let consistency = kind.consistency().unwrap();
                assert_eq!(texts(&kind, &consistency.broken), [""; 0], "{changes}: {:?}", consistency.broken);
                let differ: Vec<Disagreement> = consistency.differing(kind.history()).cloned().collect();
                assert_eq!(texts(&kind, &differ), expected, "{changes}: {differ:?}");
            }
        }
    }

    #[test]
    fn an_empty_object_is_filled_in_only_where_it_is_valid() {
        let v1 = "{type: object, required: [o], properties: {o: {type: object, properties: {f: {type: string}}}}}";
        let v2 = "{type: object, properties: {o: {type: object, minProperties: 1, properties: {f: {type: string}}}}}";
        for hub in ["v1", "v2"] {
            let kind = kind(&[("v1", v1), ("v2", v2)], "v1: {storageDefault: {o: {}}}", hub);
            let consistency = kind.consistency().unwrap();
            assert_eq!(texts(&kind, &consistency.broken), [""; 0], "{:?}", consistency.broken);
            let messages: Vec<String> = consistency.on_purpose.iter().map(|one| one.message(kind.history())).collect();
            let expected = "where nobody sets o, a new document has {} in v1 and nothing in v2; a stored one without it \
                            reads as {} in v1 and nothing in v2";
            assert_eq!(messages, [expected]);
        }
    }

    #[test]
    fn a_disagreement_says_which_way_gives_which_value() {
        let schema = "{type: object, properties: {o: {type: object, properties: {f: {type: string}}}}}";
        let kind = kind(&[("v1", schema), ("v2", schema)], "v2: {default: {o: {}}}", "v2");
        let consistency = kind.consistency().unwrap();
        let messages: Vec<String> = consistency.on_purpose.iter().map(|one| one.message(kind.history())).collect();
        assert_eq!(
            messages,
            [
                "where nobody sets o, a new document has nothing in v1 and {} in v2; a stored one without it reads as nothing in \
              v1, v2"
            ]
        );
    }

    #[test]
    fn a_difference_that_no_default_explains_is_broken() {
        let v1 = "{type: object, properties: {f: {type: integer, default: 1}}}";
        let v2 = "{type: object, properties: {f: {type: integer, default: 2}}}";
        let kind = kind(&[("v1", v1), ("v2", v2)], "", "v2");
        let explains = |way, value: Option<&str>| {
            let mut values = Vec::new();
            for version in kind.history().indexes() {
                for candidate in
                    [DefaultedBy::Constructing, DefaultedBy::Decoding, DefaultedBy::Opening, DefaultedBy::Completing]
                {
                    let number = if candidate == way && version.position() == 0 { value } else { Some("1") };
                    values.push((version, candidate, number.map(|number| Owned::Number(number.into()))));
                }
            }
            kind.explains(FieldId(0), &values)
        };
        assert!(explains(DefaultedBy::Opening, Some("1")));
        for way in [DefaultedBy::Constructing, DefaultedBy::Decoding, DefaultedBy::Opening, DefaultedBy::Completing] {
            assert!(!explains(way, Some("2")), "{way:?}");
            assert!(!explains(way, None), "{way:?}");
        }
    }

    #[test]
    fn all_ways_agree_on_what_is_computed() {
        let v1 = "{type: object, properties: {timeout: {type: string, default: 10m}, size: {type: string}, \
            disk: {type: object, properties: {gb: {type: integer, default: 1}}}, owner: {type: string, default: me}, \
            rules: {type: array, items: {type: object, properties: {port: {type: string, default: '80'}}}}}}";
        let v2 = "{type: object, properties: {seconds: {type: integer, default: 600}, bytes: {type: integer, default: 1}, \
            disks: {type: array, items: {type: object, properties: {gb: {type: integer, default: 1}}}}, \
            contact: {type: string}, kind: {type: string}, \
            rules: {type: array, items: {type: object, properties: {number: {type: integer}}}}}}";
        let changes = "v2: {converted: {timeout: {to: seconds, with: durationSeconds}, size: {to: bytes, with: quantity}, \
            disk: {to: disks, with: oneItem}, 'rules[].port': {to: 'rules[].number', with: text}}, \
            derived: {up: {contact: self.owner, kind: \"'new'\"}, down: {owner: self.contact}}}";
        for hub in ["v1", "v2"] {
            let kind = kind(&[("v1", v1), ("v2", v2)], changes, hub);
            let consistency = kind.consistency().unwrap();
            assert_eq!(texts(&kind, &consistency.broken), [""; 0], "{hub}: {:?}", consistency.broken);
            let frozen = |text: &str| {
                let id = kind.history().ids().find(|id| *kind.history().field(*id).text == *text).unwrap();
                kind.history().field(id).frozen.as_ref().map(spelled)
            };
            let inherited = [frozen("seconds"), frozen("bytes"), frozen("rules[].number")];
            assert_eq!(inherited, [Some("600".to_owned()), None, Some("80".to_owned())]);
        }
    }
}
