//! Computed fields: the input chooses what is converted, reshaped and derived between two versions, and what is written
//! through them. Whatever fits is compiled, and the laws hold for it; what does not is refused.

use wheelwright_document::{Arena, Decode, Span, Value, decode_json_spanned};
use wheelwright_evolve::{Declaration, DeclaredVersion, Kind, Part, VersionIndex, VersionName, parse_changes};
use wheelwright_schema::{Root, lower_schema};

use crate::lens::{reads, told};

/// What every object has, with the version at the end of the names.
const FIELDS: [(&str, &str); 12] = [
    ("text", r#"{"type":"string"}"#),
    ("word", r#"{"type":"string","nullable":true}"#),
    ("count", r#"{"type":"integer"}"#),
    ("small", r#"{"type":"integer","format":"int32","minimum":1}"#),
    ("ratio", r#"{"type":"number"}"#),
    ("flag", r#"{"type":"boolean"}"#),
    ("port", r#"{"x-kubernetes-int-or-string":true}"#),
    ("texts", r#"{"type":"array","items":{"type":"string"}}"#),
    (
        "pairs",
        r#"{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"},"extra":{"type":"integer"}}}}"#,
    ),
    ("map", r#"{"type":"object","additionalProperties":{"type":"string"}}"#),
    (
        "object",
        r#"{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"},"extra":{"type":"integer"}}}"#,
    ),
    ("any", r#"{"x-kubernetes-preserve-unknown-fields":true}"#),
];

/// Where these objects are.
const SCOPES: [&str; 3] = ["spec.", "spec.items[].", "spec.table{}."];

const CONVERTERS: [&str; 19] = [
    r#""with":{"document":"yaml"}"#,
    r#""with":{"document":"json"}"#,
    r#""with":"durationSeconds""#,
    r#""with":"quantity""#,
    r#""with":"text""#,
    r#""with":"oneItem""#,
    r#""with":"clamped""#,
    r#""with":"durationSeconds","clamped":true"#,
    r#""with":{"scale":-0.5},"clamped":true"#,
    r#""with":{"scale":1000}"#,
    r#""with":{"scale":0.3}"#,
    r#""with":{"values":{"a":"b","b":"a","c":"a"}}"#,
    r#""with":{"joined":","}"#,
    r#""with":{"joined":""}"#,
    r#""with":{"key":"name"}"#,
    r#""up":"self","down":"self""#,
    r#""up":"string(self)","down":"int(self)""#,
    r#""up":"size(self)","down":"self == 1 ? null : dyn('x')""#,
    r#""up":"100 / self","down":"self * 4611686018427387904""#,
];

const RESHAPES: [&str; 9] = [
    r#""template":"{A}:{B}""#,
    r#""template":"{A}{B}","pattern":"(?P<A>[a-z]*)(?P<B>.*)""#,
    r#""key":"name""#,
    r#""key":"name","value":"value""#,
    r#""entries":["a","name"]"#,
    r#""folded":"name""#,
    r#""folded":true"#,
    r#""renamedKeys":{"a":"b","b":"c"}"#,
    r#""renamedKeys":{"a":"b","b":"a"}"#,
];

const EXPRESSIONS: [&str; 7] = [
    "'constant'",
    "1 / 0",
    "self.textV",
    "self.textV + self.wordV",
    "self.countV * 4611686018427387904",
    "self.textsV[0]",
    "has(self.flagV) ? dyn(self.ratioV) : dyn(null)",
];

const VALUES: [&str; 36] = [
    "null",
    "true",
    "false",
    "0",
    "1",
    "-0",
    "1.50",
    "1e3",
    "1e400",
    "9223372036854775807",
    "-9223372036854775809",
    "\"\"",
    "\"a\"",
    "\"b\"",
    "\"c\"",
    "\"a,b\"",
    "\"a:1\"",
    "\":\"",
    "\"90m\"",
    "\"1500ms\"",
    "\"100Mi\"",
    "\"0.5\"",
    "\"007\"",
    "\"true\"",
    r#""{\"name\":\"a\",\"extra\":1,\"other\":[1.50]}""#,
    r#""name: a # first\nvalue: 'b'\nother: {x: 1}\n""#,
    r#""- {name: a, extra: 1}\n- &n {name: b}\n- *n\n""#,
    r#""name: a\nname: b\n""#,
    r#""1: a\n2: [\n""#,
    r#""a: 1\n---\nb: 2\n""#,
    "[]",
    "[\"a\",\"b,c\"]",
    "{}",
    r#"{"a":"1","name":"n","extra":3}"#,
    r#"[{"name":"a","value":"x","extra":1},{"name":"b"},{"name":"a"}]"#,
    r#"{"b":"2","c":"3","a":"1"}"#,
];

/// Compiles the changes that the input chooses, and reads and writes documents at every hub.
pub fn computed(input: &[u8]) {
    let mut tape = Tape(input);
    let arena = Arena::new();
    let mut declaration = Declaration::new("", "Fuzzed");
    for number in ["1", "2"] {
        let read = decode_json_spanned(arena.text(&schema(number)).as_bytes(), &arena, &Decode::default());
        let schema = lower_schema(&read.expect("schemas are JSON")).item;
        let name = VersionName::new(format!("v{number}"));
        declaration.versions.push(DeclaredVersion::new(name, schema, Root::Value, Span::default()));
    }
    let changes = arena.text(&tape.changes());
    let read = decode_json_spanned(changes.as_bytes(), &arena, &Decode::default()).expect("changes are JSON");
    let (steps, problems) = parse_changes(&read);
    declaration.steps = steps;
    let (kind, others) = Kind::compile(&declaration, None);
    assert!(problems.iter().chain(&others).all(|problem| !problem.message.is_empty()));
    let kind = kind.expect("there are versions");
    let mut stored = None;
    for _ in 0..1 + tape.below(5) {
        stored = write(&kind, stored, &mut tape, &arena);
    }
}

/// Writes a document and holds the laws against what is stored then.
fn write<'a>(kind: &'a Kind, stored: Option<Value<'a>>, tape: &mut Tape<'_>, arena: &'a Arena) -> Option<Value<'a>> {
    let versions: Vec<VersionIndex> = kind.history().indexes().collect();
    let position = tape.below(versions.len());
    let version = versions[position];
    let text = arena.text(&tape.document(position + 1));
    let document = decode_json_spanned(text.as_bytes(), arena, &Decode::default()).expect("documents are JSON");
    let document = document.to_value(arena);
    let normal = match stored {
        Some(stored) => kind.normal_update(version, document, kind.get(version, stored, arena), arena),
        None => kind.normal(version, document, arena),
    };
    let Ok(normal) = normal else { return stored };
    let written = kind.lenses().put_telling(version, normal, stored, Part::Whole, arena);
    let (stored, troubles) = written.expect("nothing is refused");
    assert_eq!(told(kind.get(version, stored, arena)), told(normal), "what is written is read");
    assert!(troubles.iter().all(|trouble| !trouble.field.is_empty() && !trouble.message.is_empty()));
    reads(kind, stored, arena);
    Some(stored)
}

fn schema(number: &str) -> String {
    let fields = FIELDS.map(|(name, schema)| format!("\"{name}{number}\":{schema}")).join(",");
    let item = format!(r#"{{"type":"object","properties":{{"id":{{"type":"string"}},{fields}}}}}"#);
    let items = format!(
        r#"{{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],"items":{item}}}"#
    );
    let table = format!(r#"{{"type":"object","additionalProperties":{item}}}"#);
    let spec = format!(r#"{{"type":"object","properties":{{"items":{items},"table":{table},{fields}}}}}"#);
    format!(r#"{{"type":"object","properties":{{"spec":{spec}}}}}"#)
}

/// The bytes of the input, from which everything is chosen; zeros when they are used up.
struct Tape<'i>(&'i [u8]);

impl Tape<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        usize::from(*first) % bound
    }

    fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }

    fn field(&mut self) -> &'static str {
        FIELDS[self.below(FIELDS.len())].0
    }

    /// A changes file.
    fn changes(&mut self) -> String {
        let (mut converted, mut reshaped, mut up, mut down) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..1 + self.below(6) {
            let scope = self.pick(&SCOPES);
            match self.below(4) {
                0 | 1 => {
                    let (from, to, with) = (self.field(), self.field(), self.pick(&CONVERTERS));
                    converted.push((format!("{scope}{from}1"), format!(r#"{{"to":"{scope}{to}2",{with}}}"#)));
                }
                2 => reshaped.push(self.reshaped(scope)),
                _ => {
                    let (field, expression, is_up) = (self.field(), self.pick(&EXPRESSIONS), self.below(2) == 0);
                    let (own, other) = if is_up { ("2", "1") } else { ("1", "2") };
                    let root = if scope == "spec." { "self.spec." } else { "self." };
                    let expression = expression.replace("self.", root).replace('V', other);
                    let line = (format!("{scope}{field}{own}"), format!("\"{expression}\""));
                    if is_up { up.push(line) } else { down.push(line) }
                }
            }
        }
        let [converted, up, down] = [converted, up, down].map(object);
        let derived = format!(r#"{{"up":{up},"down":{down}}}"#);
        format!(r#"{{"v2":{{"converted":{converted},"reshaped":[{}],"derived":{derived}}}}}"#, reshaped.join(","))
    }

    fn reshaped(&mut self, scope: &str) -> String {
        let (one, first, second, how) = (self.field(), self.field(), self.field(), self.pick(&RESHAPES));
        let several = ["template", "entries", "folded"].iter().any(|word| how.contains(word));
        let is_split = self.below(2) == 0;
        let (one_side, other_side) = if is_split { ("1", "2") } else { ("2", "1") };
        let how =
            how.replace("A}", &format!("{first}{other_side}}}")).replace("B}", &format!("{second}{other_side}}}"));
        let how =
            how.replace("<A>", &format!("<{first}{other_side}>")).replace("<B>", &format!("<{second}{other_side}>"));
        let one = format!(r#"["{scope}{one}{one_side}"]"#);
        let other = match several {
            true => format!(r#"["{scope}{first}{other_side}","{scope}{second}{other_side}"]"#),
            false => format!(r#"["{scope}{first}{other_side}"]"#),
        };
        let (from, to) = if is_split { (one, other) } else { (other, one) };
        format!(r#"{{"from":{from},"to":{to},{how}}}"#)
    }

    /// A document of a version.
    fn document(&mut self, number: usize) -> String {
        let mut spec = self.fields(number);
        for (name, open, close) in [("items", '[', ']'), ("table", '{', '}')] {
            let parts: Vec<String> = (0..self.below(4))
                .map(|position| {
                    let key = ["a", "b", "c", "a"][(position + self.below(2)) % 4];
                    let mut fields = self.fields(number);
                    fields.push(("id".to_owned(), format!("\"{key}\"")));
                    match open {
                        '[' => object(fields),
                        _ => format!("\"{position}{key}\":{}", object(fields)),
                    }
                })
                .collect();
            if !parts.is_empty() {
                spec.push((name.to_owned(), format!("{open}{}{close}", parts.join(","))));
            }
        }
        format!(r#"{{"spec":{}}}"#, object(spec))
    }

    fn fields(&mut self, number: usize) -> Vec<(String, String)> {
        (0..self.below(6)).map(|_| (format!("{}{number}", self.field()), self.pick(&VALUES).to_owned())).collect()
    }
}

/// An object of fields, of which the first of a name counts.
fn object(fields: Vec<(String, String)>) -> String {
    let mut entries: Vec<String> = Vec::new();
    let mut names = std::collections::HashSet::new();
    for (name, value) in &fields {
        if names.insert(name) {
            entries.push(format!("\"{name}\":{value}"));
        }
    }
    format!("{{{}}}", entries.join(","))
}
