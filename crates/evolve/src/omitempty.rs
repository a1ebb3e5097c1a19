//! Records of writers that leave out zero values, read so that false stays false.

use std::collections::HashMap;

use wheelwright_document::{Arena, Entry, Owned, Value};
use wheelwright_findings::{Rule, rules};
use wheelwright_schema::{Program, Root, Schema, Stages, model::Additional};

use crate::{
    Declaration, FieldId, History, Lenses, Scalar, Selector, Shape, Step, VersionIndex, Writers,
    carry::Places,
    lens::{
        computed::SidePlan,
        get::shows,
        metadata_of,
        plan::{Content, Scope, View, ViewObject},
        resolve::{Before, Resolve},
        state::{Slot, Slots, store},
        trouble::Troubles,
    },
    overlaid_schema,
};

/// What the absence of fields means in records of writers that leave out zero values. Only fields count that readers would
/// fill with something else than their zero value.
#[derive(Debug)]
pub struct Zeros {
    /// By version: the fields of which its writers left out the zero value, and whether it is valid there.
    by_version: Vec<HashMap<FieldId, ZeroValidity>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ZeroValidity {
    Valid(Zero),
    /// The zero value cannot have been meant.
    Invalid,
    /// The schema of the version is not there any more.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Zero {
    False,
    Number,
    Text,
}

/// A record in which absent means unset.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Restored<'a> {
    /// What is stored, with zero values where they were left out.
    pub stored: Value<'a>,
    /// The fields that got a zero value.
    pub restored: Vec<FieldId>,
    /// The fields of which it cannot be told whether they are unset or zero; the default must not be filled in.
    pub refused: Vec<RefusedDefault>,
}

/// A field that is absent, and whose default must not be filled in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub struct RefusedDefault {
    /// The field.
    pub field: FieldId,
    /// Why not.
    pub reason: RefusedBecause,
}

/// Why a default must not be filled in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RefusedBecause {
    /// It is not known which version wrote the record, and this one leaves out the field's zero value.
    WriterUnknown {
        /// A version that leaves it out.
        leaves_out: VersionIndex,
    },
    /// The version that wrote the record leaves out zero values, and its schema, which would say whether the zero value is
    /// valid, is gone.
    SchemaGone {
        /// The version that wrote the record.
        writer: VersionIndex,
    },
}

impl RefusedDefault {
    /// The rule that is broken.
    pub fn rule(&self) -> &'static Rule {
        &rules::AMBIGUOUS_ZERO
    }

    /// What it means, in words.
    pub fn message(&self, history: &History) -> String {
        let field = &history.field(self.field).text;
        let name = |version: VersionIndex| &history.version(version).name;
        match self.reason {
            RefusedBecause::WriterUnknown { leaves_out } => format!(
                "{field} is absent, and it is not known which version wrote the record: one written with {} leaves out its \
                 zero value, so that its default cannot be filled in; record the version, or write the field",
                name(leaves_out)
            ),
            RefusedBecause::SchemaGone { writer } => format!(
                "{field} is absent in a record written with {}, which leaves out zero values, and the schema of that \
                 version is gone; declare it again, or write the field",
                name(writer)
            ),
        }
    }
}

impl Zeros {
    /// What absence means in the versions of a kind.
    pub fn new(declaration: &Declaration, history: &History) -> Self {
        let by_version = history.versions.iter().map(|version| {
            let mut zeros = HashMap::new();
            if version.writers != Writers::Omitempty {
                return zeros;
            }
            let declared = declaration.version(version.name.as_str());
            let step = declaration.steps.iter().find(|step| step.version.item == version.name);
            let schema = declared.map(|declared| match step {
                Some(step) => overlaid_schema(&declared.schema, step),
                None => std::borrow::Cow::Borrowed(&declared.schema),
            });
            for node in version.structure.fields() {
                let Some(id) = version.id(node) else { continue };
                let Some(zero) = Zero::of(version.structure.node(node).shape) else { continue };
                let Some(frozen) = &history.field(id).frozen else { continue };
                if zero.is(frozen) {
                    continue;
                }
                let schema = schema.as_ref().and_then(|schema| schema_at(schema, &version.structure.selector(node)));
                zeros.insert(id, schema.map_or(ZeroValidity::Unknown, |schema| zero.validity(schema)));
            }
            zeros
        });
        Self { by_version: by_version.collect() }
    }

    /// A stored record in which absent means unset: where the version that wrote it leaves out zero values and knew a
    /// field, its zero value is put back. Objects that are absent stay absent.
    pub fn restore<'a>(
        &'a self,
        lenses: &'a Lenses,
        stored: Value<'a>,
        written_with: Option<VersionIndex>,
        arena: &'a Arena,
    ) -> Restored<'a> {
        let mut restored = Restored { stored, restored: Vec::new(), refused: Vec::new() };
        let ambiguous: HashMap<FieldId, Absence> = match written_with {
            Some(writer) => {
                let zeros = self.by_version[writer.position()].iter();
                zeros.filter_map(|(id, zero)| Some((*id, Absence::of(*zero, writer)?))).collect()
            }
            None => {
                let mut all = HashMap::new();
                for (position, zeros) in self.by_version.iter().enumerate() {
                    let leaves_out = VersionIndex(position as u32);
                    let reason = RefusedBecause::WriterUnknown { leaves_out };
                    for (id, _) in zeros.iter().filter(|(_, zero)| **zero != ZeroValidity::Invalid) {
                        all.entry(*id).or_insert(Absence::Refused(reason));
                    }
                }
                all
            }
        };
        if let Value::Object(entries) = stored
            && !ambiguous.is_empty()
        {
            let (outside, inside) = lenses.split(entries, arena);
            let metadata = metadata_of(outside);
            let mut walk = Walk { lenses, written_with, ambiguous, metadata, arena, restored: &mut restored };
            let changed = walk.scope(0, inside);
            restored.stored = lenses.joined(lenses.hub(), outside, changed, arena);
        }
        restored.restored.sort_unstable();
        restored.restored.dedup();
        restored.refused.sort_unstable();
        restored.refused.dedup();
        restored
    }
}

/// What it means that a field is absent.
#[derive(Clone, Copy)]
enum Absence {
    Zero(Zero),
    Refused(RefusedBecause),
}

impl Absence {
    fn of(validity: ZeroValidity, writer: VersionIndex) -> Option<Self> {
        match validity {
            ZeroValidity::Valid(zero) => Some(Self::Zero(zero)),
            ZeroValidity::Unknown => Some(Self::Refused(RefusedBecause::SchemaGone { writer })),
            ZeroValidity::Invalid => None,
        }
    }
}

struct Walk<'r, 'a> {
    lenses: &'a Lenses,
    written_with: Option<VersionIndex>,
    ambiguous: HashMap<FieldId, Absence>,
    metadata: Option<Value<'a>>,
    arena: &'a Arena,
    restored: &'r mut Restored<'a>,
}

impl<'a> Walk<'_, 'a> {
    fn scope(&mut self, scope_index: usize, stored: &'a [Entry<'a>]) -> &'a [Entry<'a>] {
        let scope = &self.lenses.scopes[scope_index];
        let mut slots = Slots::default();
        self.lenses.load(scope_index, stored, &mut slots, self.arena);
        for slot in 0..scope.slots.len() {
            if let Slot::Value(value) = slots.values[slot] {
                slots.values[slot] = Slot::Value(self.content(&scope.slots[slot].content, value));
            }
        }
        let is_said = said_otherwise(scope, &slots);
        match self.written_with.map(|writer| (writer, &scope.views[writer.position()])) {
            Some((_, Some(view))) if scope.computed.is_empty() => {
                self.object(scope, view, &view.objects[0], &is_said, &mut slots);
            }
            Some((writer, Some(view))) => self.spelled(scope, (writer, view), &is_said, &mut slots),
            // The writer did not have the list or map.
            Some((_, None)) => {}
            None => {
                let parents = Places::parents_of(scope);
                for (slot, parent) in parents.into_iter().enumerate() {
                    let is_there = parent.is_none_or(|parent| !slots.values[parent].is_absent());
                    if is_there {
                        self.field(scope, slot, &is_said, &mut slots);
                    }
                }
            }
        }
        store(scope, &slots, self.arena)
    }

    /// The fields that the writer had of a scope in which some are computed: other spellings of what is zero are those of
    /// zero.
    fn spelled(
        &mut self,
        scope: &'a Scope,
        (writer, view): (VersionIndex, &'a View),
        is_said: &[bool],
        slots: &mut Slots<'a>,
    ) {
        let (lenses, arena, metadata) = (self.lenses, self.arena, self.metadata);
        let mut resolve = Resolve::new(lenses, scope, metadata, Troubles::default(), arena);
        let mut before = slots.clone();
        resolve.expand(&scope.computed.all, &mut before);
        let mut restored = before.clone();
        let derived = resolve.derive(&scope.computed.all, &mut restored);
        let known = self.restored.restored.len();
        self.object(scope, view, &view.objects[0], is_said, &mut restored);
        if self.restored.restored.len() > known {
            let before = Before { slots: &before, metadata, told: None };
            resolve.settle(writer, view, Some(before), &derived, &mut restored);
            resolve.compress(&mut restored);
            *slots = restored;
        }
    }

    /// The fields of an object that the writer had, and of those inside it that it shows.
    fn object(
        &mut self,
        scope: &'a Scope,
        view: &'a View,
        object: &'a ViewObject,
        is_said: &[bool],
        slots: &mut Slots<'a>,
    ) {
        for (_, field) in &object.fields.list {
            match field.object {
                Some(below) if shows(field, slots) && !matches!(slots.values[field.slot], Slot::Value(_)) => {
                    self.object(scope, view, &view.objects[below], is_said, slots);
                }
                Some(_) => {}
                None => self.field(scope, field.slot, is_said, slots),
            }
        }
    }

    fn field(&mut self, scope: &Scope, slot: usize, is_said: &[bool], slots: &mut Slots<'a>) {
        let id = scope.slots[slot].id;
        let is_absent = slots.values[slot].is_absent() && !is_said[slot];
        let Some(absence) = self.ambiguous.get(&id).filter(|_| is_absent) else { return };
        match absence {
            Absence::Zero(zero) => {
                slots.values[slot] = Slot::Value(zero.value());
                self.restored.restored.push(id);
            }
            Absence::Refused(reason) => self.restored.refused.push(RefusedDefault { field: id, reason: *reason }),
        }
    }

    fn content(&mut self, content: &'a Content, value: Value<'a>) -> Value<'a> {
        match (content, value) {
            (Content::Scope(scope), Value::Object(entries)) => Value::Object(self.scope(*scope, entries)),
            (Content::List(element), Value::Array(items)) => {
                let items: Vec<_> = items.iter().map(|item| self.content(element, *item)).collect();
                Value::Array(self.arena.slice(&items))
            }
            (Content::Map(element), Value::Object(entries)) => {
                let entries = entries.iter().map(|entry| {
                    let value = self.content(element, entry.value);
                    Entry { key: entry.key, value }
                });
                let entries: Vec<_> = entries.collect();
                Value::Object(self.arena.slice(&entries))
            }
            (_, value) => value,
        }
    }
}

/// Which slots are spellings of a fact that is stored in another one, whether or not it can be converted.
fn said_otherwise(scope: &Scope, slots: &Slots<'_>) -> Vec<bool> {
    let mut is_said: Vec<bool> = slots.values.iter().map(|value| !value.is_absent()).collect();
    let links = &scope.computed.links;
    // A fact may be spelled anew as often as there are links.
    for _ in links {
        for link in links {
            let of = |side: &SidePlan| side.fields.iter().flat_map(|field| field.slots.clone()).collect::<Vec<_>>();
            let all = [of(&link.from), of(&link.to)].concat();
            if all.iter().any(|slot| is_said[*slot]) {
                all.into_iter().for_each(|slot| is_said[slot] = true);
            }
        }
    }
    is_said
}

impl Zero {
    /// The zero value that Go would leave out.
    fn of(shape: Shape) -> Option<Self> {
        match shape {
            Shape::Scalar(Scalar::Boolean) => Some(Self::False),
            Shape::Scalar(Scalar::Integer | Scalar::Number) => Some(Self::Number),
            Shape::Scalar(Scalar::String) => Some(Self::Text),
            _ => None,
        }
    }

    fn value(self) -> Value<'static> {
        match self {
            Self::False => Value::Bool(false),
            Self::Number => wheelwright_document::Number::new("0").map_or(Value::Null, Value::Number),
            Self::Text => Value::string(""),
        }
    }

    fn is(self, value: &Owned) -> bool {
        self.value().equivalent(value.share(&Arena::new()))
    }

    fn validity(self, schema: &Schema) -> ZeroValidity {
        if is_unnamed(schema, |value| self.is(value)) {
            return ZeroValidity::Invalid;
        }
        let program = Program::compile(schema, Root::Value);
        let arena = Arena::new();
        match program.run(self.value(), &arena, Stages::VALIDATE) {
            Ok(admitted) if admitted.errors.is_empty() => ZeroValidity::Valid(self),
            _ => ZeroValidity::Invalid,
        }
    }
}

/// Whether an open enum names its values, and not this one. It lets later versions name more, and nobody means one without
/// a name by leaving the field out.
pub(crate) fn is_unnamed(schema: &Schema, is_it: impl Fn(&Owned) -> bool) -> bool {
    let known = schema.annotations.as_ref().map_or(&[][..], |annotations| &annotations.known_values);
    !known.is_empty() && !known.iter().any(is_it)
}

fn schema_at<'s>(schema: &'s Schema, at: &Selector) -> Option<&'s Schema> {
    at.steps().iter().try_fold(schema, |schema, step| match step {
        Step::Field(name) => schema.property(name),
        Step::Items => schema.items.as_deref(),
        Step::Values => match &schema.additional_properties {
            Some(Additional::Schema(values)) => Some(&**values),
            _ => None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Kind,
        lens::same,
        testing::{declaration, document},
    };

    const V1: &str =
        "{type: object, properties: {old: {type: boolean, default: true}, same: {type: integer, default: 0}}}";
    const V2: &str = "{type: object, properties: {old: {type: boolean, default: true}, same: {type: integer, default: 0}, \
        count: {type: integer, default: 3}, ratio: {type: number, default: 0.5}, name: {type: string, default: x}, \
        size: {type: string, enum: [s, l], default: s}, least: {type: integer, minimum: 1, default: 2}, \
        word: {type: string, minLength: 1, default: w}, code: {type: string, pattern: '^[a-z]+$', default: c}, \
        o: {type: object, properties: {on: {type: boolean, default: true}}}, \
        l: {type: array, items: {type: object, properties: {on: {type: boolean, default: true}}}}, \
        m: {type: object, additionalProperties: {type: object, properties: {on: {type: boolean, default: true}}}}}}";
    const V3: &str = "{type: object, properties: {old: {type: boolean, default: true}, late: {type: boolean, default: true}, \
        p: {type: object, properties: {on: {type: boolean, default: true}}}}}";
    const CHANGES: &str = "{v1: {writers: omitempty}, v2: {writers: omitempty}, v3: {renamed: {o.on: p.on}}}";

    fn restore(written_with: Option<&str>, stored: &str, check: impl Fn(&str, Value<'_>, Vec<String>, Vec<String>)) {
        let declaration = declaration(&[("v1", V1), ("v2", V2), ("v3", V3)], CHANGES);
        let kind = Kind::compile(&declaration, None).0.unwrap();
        let zeros = Zeros::new(&declaration, kind.history());
        for hub in kind.history().indexes() {
            let lenses = kind.lenses_for(hub);
            let arena = Arena::new();
            let v2 = kind.version("v2").unwrap();
            let stored = lenses.put(v2, document(stored, &arena), None, crate::Part::Whole, &arena).unwrap();
            let writer = written_with.map(|name| kind.version(name).unwrap());
            let restored = zeros.restore(&lenses, stored, writer, &arena);
            let text = |id: &FieldId| kind.history().field(*id).text.to_string();
            let refused = restored.refused.iter().map(|refused| text(&refused.field)).collect();
            let shown = lenses.get(v2, restored.stored, &arena);
            check(
                kind.history().version(hub).name.as_str(),
                shown,
                restored.restored.iter().map(text).collect(),
                refused,
            );
        }
    }

    #[test]
    fn absent_is_zero_where_the_writer_knew_the_field_and_the_default_where_it_did_not() {
        let arena = Arena::new();
        let defaults = r#""size":"s","least":2,"word":"w","code":"c","same":0"#;
        restore(Some("v2"), r#"{"l":[{},{"on":true}],"m":{"k":{}},"count":7}"#, |hub, shown, restored, refused| {
            let expected = format!(
                r#"{{"old":false,"count":7,"ratio":0,"name":"","l":[{{"on":false}},{{"on":true}}],"m":{{"k":{{"on":false}}}},{defaults}}}"#
            );
            assert!(same(shown, document(&expected, &arena)), "{hub}: {shown:?}");
            assert_eq!(restored, ["old", "ratio", "name", "l[].on", "m{}.on"]);
            assert!(refused.is_empty());
        });
        restore(Some("v1"), "{}", |hub, shown, restored, _| {
            let expected = format!(r#"{{"old":false,"count":3,"ratio":0.5,"name":"x",{defaults}}}"#);
            assert!(same(shown, document(&expected, &arena)), "{hub}: {shown:?}");
            assert_eq!(restored, ["old"]);
        });
        restore(Some("v3"), "{}", |_, _, restored, refused| assert!(restored.is_empty() && refused.is_empty()));
    }

    #[test]
    fn an_object_that_is_there_gets_its_zeros_and_one_that_is_absent_stays_absent() {
        restore(Some("v2"), r#"{"o":{}}"#, |hub, shown, restored, _| {
            assert_eq!(shown.get("o").and_then(|o| o.get("on")), Some(Value::Bool(false)), "{hub}: {shown:?}");
            assert!(restored.contains(&"o.on".to_owned()));
        });
        restore(Some("v2"), "{}", |hub, shown, _, _| assert!(shown.get("o").is_none(), "{hub}: {shown:?}"));
    }

    #[test]
    fn without_a_writer_every_absent_field_that_might_be_zero_is_refused() {
        restore(None, r#"{"l":[{}],"ratio":1}"#, |hub, _, restored, refused| {
            assert!(restored.is_empty());
            assert_eq!(refused, ["old", "count", "name", "l[].on"], "{hub}");
        });
    }

    #[test]
    fn a_writer_whose_schema_is_gone_may_have_meant_zero() {
        let both = declaration(&[("v1", V1), ("v2", V2)], "{v1: {writers: omitempty}}");
        let history = History::derive(&both, None).0;
        let mut gone = both.clone();
        gone.versions.remove(0);
        let (kind, _) = Kind::compile(&gone, Some((&history, &crate::VersionName::new("v2"))));
        let kind = kind.unwrap();
        let arena = Arena::new();
        let zeros = Zeros::new(&gone, kind.history());
        let restored = zeros.restore(kind.lenses(), document("{}", &arena), kind.version("v1"), &arena);
        let [refused] = &restored.refused[..] else { panic!("{restored:?}") };
        assert_eq!(refused.reason, RefusedBecause::SchemaGone { writer: VersionIndex(0) });
        assert!(refused.message(kind.history()).starts_with("old is absent in a record written with v1,"));
    }

    #[test]
    fn zero_is_never_put_over_a_fact_that_is_stored_in_another_spelling() {
        let v1 =
            "{type: object, properties: {seconds: {type: integer, default: 5}, other: {type: integer, default: 5}}}";
        let v2 = "{type: object, properties: {timeout: {type: string}, other: {type: integer, default: 5}}}";
        let changes = "{v1: {writers: omitempty}, v2: {converted: {seconds: {to: timeout, with: durationSeconds}}}}";
        let declaration = declaration(&[("v1", v1), ("v2", v2)], changes);
        let kind = Kind::compile(&declaration, None).0.unwrap();
        let zeros = Zeros::new(&declaration, kind.history());
        let [v1, v2] = ["v1", "v2"].map(|name| kind.version(name).unwrap());
        for hub in [v1, v2] {
            let lenses = kind.lenses_for(hub);
            for (json, seconds, timeout) in [
                (r#"{"timeout":"1m"}"#, Some("60"), r#""1m""#),
                (r#"{"timeout":"soon"}"#, None, r#""soon""#),
                ("{}", Some("0"), r#""0s""#),
            ] {
                let arena = Arena::new();
                let stored = lenses.put(v2, document(json, &arena), None, crate::Part::Whole, &arena).unwrap();
                let restored = zeros.restore(&lenses, stored, Some(v1), &arena).stored;
                let old = lenses.get(v1, restored, &arena);
                let new = lenses.get(v2, restored, &arena);
                // What cannot be converted reads as its default.
                let expected = document(seconds.unwrap_or("5"), &arena);
                assert!(same(old.get("seconds").unwrap(), expected), "{hub:?} {json}: {old:?}");
                assert!(same(new.get("timeout").unwrap(), document(timeout, &arena)), "{hub:?} {json}: {new:?}");
                assert!(same(new.get("other").unwrap(), document("0", &arena)), "{hub:?} {json}: {new:?}");
            }
        }
    }

    #[test]
    fn what_was_in_a_bag_is_read_where_the_hub_has_a_place_for_it_now() {
        let list = "l: {type: array, items: {type: object, properties: {x: {type: string}}}}";
        let newer = format!("{{type: object, properties: {{on: {{type: boolean, default: true}}, {list}}}}}");
        let older = "{type: object, properties: {on: {type: boolean, default: true}}}";
        let changes = "{v1: {writers: omitempty}}";
        let kind_of = |older: &str| {
            let declaration = declaration(&[("v1", older), ("v2", &newer)], changes);
            (Kind::compile(&declaration, None).0.unwrap(), declaration)
        };
        let arena = Arena::new();
        let (before, _) = kind_of(older);
        let [v1, v2] = ["v1", "v2"].map(|name| before.version(name).unwrap());
        let written = document(r#"{"on":true,"l":[{"x":"y"}]}"#, &arena);
        let lenses = before.lenses_for(v1);
        let stored = lenses.put(v2, written, None, crate::Part::Whole, &arena).unwrap();
        let (after, declaration) = kind_of(&newer);
        let (lenses, zeros) = (after.lenses_for(v1), Zeros::new(&declaration, after.history()));
        let restored = zeros.restore(&lenses, stored, Some(v1), &arena).stored;
        assert!(same(lenses.get(v2, restored, &arena), written), "{restored:?}");
    }
}
