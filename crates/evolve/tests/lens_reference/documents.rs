//! Random documents, and random edits of what a version shows, read off tapes of numbers as kinds are.

use serde_json::{Map, Value as Json, json};

use crate::generate::{Field, NAMES, Object, Tape, Type};

/// Names that no version declares. Undeclared names that another version declares are taken from there.
const UNKNOWN: [&str; 2] = ["u", "$bag"];

/// Writes documents of a version.
#[derive(Clone, Copy)]
pub(crate) struct Writer<'v> {
    pub(crate) versions: &'v [Object],
    /// Inside of what the version keeps without declaring it: anything is kept there.
    pub(crate) is_undeclared: bool,
    /// Values are such that conversions have something to do.
    pub(crate) computes: bool,
    /// Items of lists are mostly like others but for one field, which other versions may not see.
    pub(crate) is_alike: bool,
}

/// Durations, quantities, integers, booleans and lists in several spellings, and what is none of them.
/// Some contain a document: as both formats write it, as only YAML does, and in another notation.
const SPELLINGS: [&str; 25] = [
    "a",
    "10m",
    "600s",
    "10m0s",
    "1m30s",
    "b",
    "0s",
    "5",
    "05",
    "1Ki",
    "1024",
    "true",
    "a,b",
    "",
    "a:5",
    "a:b:c",
    "c",
    "-3",
    "{}",
    "{\"a\":1}",
    "{\"b\": [2], \"a\": \"b\"}",
    "{\"a\":\"b\",\"c\":{\"a\":[1]}}",
    "a: b\n",
    "a: # c\n- 1\nc: null\n",
    "[]",
];
const NUMBERS: [i64; 8] = [0, 1, 2, 3, 600, 1024, 90, -5];

impl<'v> Writer<'v> {
    /// A document of a version.
    pub(crate) fn document(self, version: &Object, tape: &mut Tape<'_>) -> Json {
        self.object_value(version, tape)
    }

    /// A document that someone made of one that a version showed.
    pub(crate) fn edited(self, version: &Object, document: &Json, tape: &mut Tape<'_>) -> Json {
        let mut document = document.clone();
        for _ in 0..1 + tape.pick(3) {
            self.edit_object(version, &mut document, tape);
        }
        document
    }

    fn edit_object(self, object: &Object, value: &mut Json, tape: &mut Tape<'_>) {
        let Json::Object(entries) = value else { return *value = self.object_value(object, tape) };
        if self.keeps(object) && tape.chance(40) {
            let undeclared = self.undeclared(object);
            match undeclared.get(tape.pick(undeclared.len() + 1)) {
                Some(field) => self.inside().edit_field(field, entries, tape),
                None => {
                    let name = UNKNOWN[tape.pick(UNKNOWN.len())];
                    if entries.remove(name).is_none() {
                        entries.insert(name.to_owned(), json!(tape.pick(3)));
                    }
                }
            }
        } else if !object.fields.is_empty() {
            let hidden = if self.is_alike && tape.chance(60) { self.hidden(object) } else { Vec::new() };
            let fields = if hidden.is_empty() { object.fields.iter().collect() } else { hidden };
            self.edit_field(fields[tape.pick(fields.len())], entries, tape);
        }
    }

    /// The fields of an object that some other version does not have in it.
    fn hidden(self, object: &Object) -> Vec<&Field> {
        let lacks = |other: &Object, field: &Field| other.fields.iter().all(|known| known.identity != field.identity);
        let others = || self.versions.iter().filter_map(|version| version.find(object.identity));
        object.fields.iter().filter(|field| others().any(|other| lacks(other, field))).collect()
    }

    fn edit_field(self, field: &Field, entries: &mut Map<String, Json>, tape: &mut Tape<'_>) {
        match (tape.pick(if self.is_alike { 18 } else { 6 }), entries.get_mut(&field.name)) {
            (0, Some(_)) => {
                entries.remove(&field.name);
            }
            (1, Some(value)) => *value = self.field_value(field, tape),
            (_, Some(value)) => self.edit_value(&field.shape, value, tape),
            (_, None) => {
                entries.insert(field.name.clone(), self.field_value(field, tape));
            }
        }
    }

    fn edit_value(self, shape: &Type, value: &mut Json, tape: &mut Tape<'_>) {
        match (shape, value) {
            (Type::Nullable(shape), value) if !value.is_null() && !tape.chance(20) => {
                self.edit_value(shape, value, tape);
            }
            (Type::Object(object), value) => self.edit_object(object, value, tape),
            (Type::List(element, _), Json::Array(items)) => {
                let at = tape.pick(items.len());
                match tape.pick(if self.is_alike { 8 } else { 6 }) {
                    6 if items.len() > 1 => {
                        // Two items are edited and swapped.
                        let other = (at + 1) % items.len();
                        [at, other].into_iter().for_each(|at| self.edit_value(element, &mut items[at], tape));
                        items.swap(at, other);
                    }
                    0 if !items.is_empty() => {
                        items.remove(at);
                    }
                    1 => items.insert(at, self.value_of(element, tape)),
                    2 => items.reverse(),
                    3 if !items.is_empty() => items.rotate_left(1),
                    4 if !items.is_empty() => items.push(items[at].clone()),
                    _ if !items.is_empty() => self.edit_value(element, &mut items[at], tape),
                    _ => items.push(self.value_of(element, tape)),
                }
            }
            (Type::Map(element), Json::Object(entries)) => {
                let key = NAMES[tape.pick(3)];
                match (tape.pick(3), entries.get_mut(key)) {
                    (0, Some(_)) => {
                        entries.remove(key);
                    }
                    (_, Some(value)) => self.edit_value(element, value, tape),
                    (_, None) => {
                        entries.insert(key.to_owned(), self.value_of(element, tape));
                    }
                }
            }
            (shape, value) => *value = self.value_of(shape, tape),
        }
    }

    fn field_value(self, field: &Field, tape: &mut Tape<'_>) -> Json {
        let may_be_null = field.nullable || self.is_undeclared;
        if may_be_null && tape.chance(30) { Json::Null } else { self.value_of(&field.shape, tape) }
    }

    fn object_value(self, object: &Object, tape: &mut Tape<'_>) -> Json {
        let mut entries = Map::new();
        let only = (object.union && !object.fields.is_empty()).then(|| tape.pick(object.fields.len()));
        for (position, field) in object.fields.iter().enumerate() {
            let is_told = |only| only == position || Some(field.identity) == object.discriminator;
            if only.map_or_else(|| tape.chance(75), is_told) {
                entries.insert(field.name.clone(), self.field_value(field, tape));
            }
        }
        if self.keeps(object) && tape.chance(60) {
            let undeclared = self.undeclared(object);
            match undeclared.get(tape.pick(undeclared.len() + 1)) {
                Some(field) => {
                    entries.insert(field.name.clone(), self.inside().field_value(field, tape));
                }
                None => {
                    entries.insert(UNKNOWN[tape.pick(UNKNOWN.len())].to_owned(), json!(tape.pick(3)));
                }
            }
        }
        Json::Object(entries)
    }

    fn value_of(self, shape: &Type, tape: &mut Tape<'_>) -> Json {
        if tape.chance(4) {
            return [json!("wrong"), Json::Null, json!(7), json!([]), json!({})][tape.pick(5)].clone();
        }
        match shape {
            Type::String if self.computes => json!(SPELLINGS[tape.pick(SPELLINGS.len())]),
            Type::String => json!(["a", "b", "c"][tape.pick(3)]),
            Type::Within(_) => json!(NUMBERS[tape.pick(NUMBERS.len())]),
            Type::Integer if self.computes => json!(NUMBERS[tape.pick(NUMBERS.len())]),
            Type::Integer => json!(tape.pick(3)),
            Type::Boolean => json!(tape.pick(2) == 1),
            Type::IntOrString => [json!(0), json!("a")][tape.pick(2)].clone(),
            Type::Nullable(_) if tape.chance(30) => Json::Null,
            Type::Nullable(shape) => self.value_of(shape, tape),
            Type::Object(object) => self.object_value(object, tape),
            Type::List(element, _) if self.is_alike => {
                let mut items: Vec<Json> = Vec::new();
                for _ in 0..[0, 2, 3, 3, 4, 5][tape.pick(6)] {
                    let like = items.last().cloned().filter(|_| tape.chance(75));
                    let mut item = like.unwrap_or_else(|| self.value_of(element, tape));
                    if !items.is_empty() && tape.chance(70) {
                        self.edit_value(element, &mut item, tape);
                    }
                    items.push(item);
                }
                Json::Array(items)
            }
            Type::List(element, _) => {
                (0..[0, 1, 2, 2, 3, 3][tape.pick(6)]).map(|_| self.value_of(element, tape)).collect()
            }
            Type::Map(element) => {
                let mut entries = Map::new();
                for _ in 0..tape.pick(3) {
                    entries.insert(NAMES[tape.pick(3)].to_owned(), self.value_of(element, tape));
                }
                Json::Object(entries)
            }
        }
    }

    fn keeps(self, object: &Object) -> bool {
        object.keeps_unknown || self.is_undeclared
    }

    fn inside(self) -> Self {
        Self { is_undeclared: true, ..self }
    }

    /// Fields that other versions have in an object, under names that this one does not have there.
    fn undeclared(self, object: &Object) -> Vec<&'v Field> {
        let same = self.versions.iter().filter_map(|version| version.find(object.identity));
        same.flat_map(|other| &other.fields).filter(|field| object.field(&field.name).is_none()).collect()
    }
}
