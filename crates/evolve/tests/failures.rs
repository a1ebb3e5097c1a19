//! What cannot be computed: no value is lost by it, no read fails, and somebody is told the field, the change, its place in
//! the file, and why.

mod support;

use wheelwright_document::{Arena, Value};
use wheelwright_evolve::{Hook, HookCall, HookError, Hooks, Kind, Part};

use crate::support::{declaration, document, told};

/// Two versions, and a change between them that may fail.
struct Change {
    old: &'static str,
    new: &'static str,
    changes: &'static str,
}

/// A field that is not shown: its name, what the change says at the place that is told, and why.
type Untold = (&'static str, &'static str, &'static str);

impl Change {
    /// What is written through `v1` and `v2` shows.
    fn up(&self, written: &str, shown: &str, untold: &[Untold]) {
        self.check(["v1", "v2"], written, shown, untold);
    }

    /// What is written through `v2` and `v1` shows.
    fn down(&self, written: &str, shown: &str, untold: &[Untold]) {
        self.check(["v2", "v1"], written, shown, untold);
    }

    /// Writes, reads, moves and edits a document at every hub.
    fn check(&self, versions: [&str; 2], written: &str, shown: &str, untold: &[Untold]) {
        let declaration = declaration(self.old, self.new, self.changes);
        let hooks = Hooks::new().register("stubborn", Stubborn);
        let (kind, problems) = Kind::compile_with(&declaration, None, &hooks);
        assert!(problems.is_empty(), "{problems:?}");
        let kind = kind.expect("there are versions");
        let source = format!("v2:\n  {}", self.changes);
        let [writer, reader] = versions.map(|name| kind.version(name).expect("declared"));
        for hub in kind.history().indexes() {
            let arena = &Arena::new();
            let document = |version, spec: &str| document(&kind, version, "{name: x}", spec, arena);
            let lenses = kind.lenses_for(hub);
            let (first, expected) = (document(writer, written), document(reader, shown));
            let (stored, mut troubles) =
                lenses.put_telling(writer, first, None, Part::Whole, arena).expect("nothing is refused");
            let (read, others) = lenses.get_telling(reader, stored, arena);
            assert_eq!(told(read), told(expected), "of {written}");
            assert_eq!(told(lenses.get(writer, stored, arena)), told(first));
            for other in others {
                if !troubles.contains(&other) {
                    troubles.push(other);
                }
            }
            assert_eq!(troubles.len(), untold.len(), "{troubles:?} of {written}");
            for (trouble, (field, said, message)) in troubles.iter().zip(untold) {
                assert_eq!((&*trouble.field, trouble.version), (*field, reader));
                assert_eq!(Some(trouble.step), kind.version("v2"));
                let (before, place) = source[..trouble.span.end as usize].split_at(trouble.span.start as usize);
                assert!(place.contains(said), "{field} at {place:?}");
                assert_eq!(trouble.span.line as usize, before.lines().count());
                assert!(trouble.message.contains(message), "{} and not {message}", trouble.message);
            }

            // A client that sees none of it edits something else.
            let noted = |spec: &str| format!("{{note: edited, {}", spec.trim_start_matches('{'));
            let edit = document(reader, &noted(shown));
            let edited = lenses.put(reader, edit, Some(stored), Part::Whole, arena).expect("nothing is refused");
            assert_eq!(told(lenses.get(writer, edited, arena)), told(document(writer, &noted(written))));

            for other in kind.history().indexes().map(|hub| kind.lenses_for(hub)) {
                let moved = lenses.rehub(stored, &other, arena);
                assert_eq!(told(other.get(writer, moved, arena)), told(first));
                assert_eq!(told(other.get(reader, moved, arena)), told(expected));
                assert_eq!(told(other.rehub(moved, &lenses, arena)), told(stored));
            }
        }
    }
}

#[test]
fn a_value_that_is_none_of_the_converter_s() {
    let change = Change {
        old: "timeout: {type: string}, steps: {type: array, items: {type: object, properties: {size: {type: string}}}}",
        new: "timeoutSeconds: {type: integer}, \
            steps: {type: array, items: {type: object, properties: {bytes: {type: integer}}}}",
        changes: "converted:\n    spec.timeout: {to: spec.timeoutSeconds, with: durationSeconds}\n    \
            spec.steps[].size: {to: \"spec.steps[].bytes\", with: quantity}",
    };
    change.up("{timeout: soon}", "{}", &[("spec.timeoutSeconds", "durationSeconds", "\"soon\" is no duration")]);
    change.down(
        "{timeoutSeconds: 9223372036854775807}",
        "{}",
        &[("spec.timeout", "durationSeconds", "out of range: 9223372036854775807")],
    );
    change.up(
        "{timeout: never, steps: [{size: 1Ki}, {size: plenty}, {}]}",
        "{steps: [{bytes: 1024}, {}, {}]}",
        &[
            ("spec.steps[].bytes", "quantity", "\"plenty\" is no quantity"),
            ("spec.timeoutSeconds", "durationSeconds", "\"never\" is no duration"),
        ],
    );
    change.up("{timeout: 1s, steps: [{}]}", "{timeoutSeconds: 1, steps: [{}]}", &[]);
}

#[test]
fn expressions_over_a_value() {
    let change = Change {
        old: "share: {type: integer}, any: {x-kubernetes-preserve-unknown-fields: true}, \
            list: {type: array, items: {type: string}}",
        new: "parts: {type: integer}, count: {type: integer}, size: {type: integer}",
        changes: "converted:\n    spec.share: {to: spec.parts, up: 100 / self, down: self * 4611686018427387904}\n    \
            spec.any: {to: spec.count, up: self, down: self}\n    \
            spec.list: {to: spec.size, up: \"self.all(a, self.all(b, self.all(c, a + b + c != ''))) ? 1 : 0\", \
            down: \"[['x']][self]\"}",
    };
    change.up("{share: 0}", "{}", &[("spec.parts", "100 / self", "division by zero")]);
    change.down("{parts: 2}", "{}", &[("spec.share", "self * 4611686018427387904", "overflow")]);
    change.up("{any: [a, 1]}", "{}", &[("spec.count", "self", "wrong type")]);
    change.up("{any: 1.5}", "{}", &[("spec.count", "self", "1.5 is not a whole number")]);
    change.up("{any: 5}", "{count: 5}", &[]);
    change.down("{size: 5}", "{}", &[("spec.list", "[['x']][self]", "index out of range: 5")]);
    let items = vec!["abcdefghij"; 400].join(", ");
    change.up(&format!("{{list: [{items}]}}"), "{}", &[("spec.size", "self.all", "costs more than it may")]);
}

#[test]
fn several_fields_at_once() {
    let change = Change {
        old: "rows: {type: array, items: {type: object, properties: {address: {type: string}, at: {type: integer}}}}",
        new: "rows: {type: array, items: {type: object, properties: {host: {type: string}, port: {type: integer}, \
            page: {type: integer}, line: {type: integer}}}}",
        changes: "reshaped:\n    - {from: \"spec.rows[].address\", to: [\"spec.rows[].host\", \"spec.rows[].port\"], \
            template: \"{host}:{port}\"}\n    - from: [\"spec.rows[].at\"]\n      \
            to: [\"spec.rows[].page\", \"spec.rows[].line\"]\n      \
            up: {\"spec.rows[].page\": 1000 / self.at, \"spec.rows[].line\": self.at % 50}\n      \
            down: {\"spec.rows[].at\": self.page * 9223372036854775807 + self.line}",
    };
    change.up(
        "{rows: [{address: \"a:1\"}, {address: \"a:b\"}, {at: 0}, {address: \"c:2\", at: 10}]}",
        "{rows: [{host: a, port: 1}, {}, {}, {host: c, port: 2, page: 100, line: 10}]}",
        &[
            ("spec.rows[].host, spec.rows[].port", "{host}:{port}", "\"b\" is no integer"),
            ("spec.rows[].page, spec.rows[].line", "1000 / self.at", "division by zero"),
        ],
    );
    change.down(
        "{rows: [{page: 2, line: 3}, {line: 3}]}",
        "{rows: [{}, {}]}",
        &[("spec.rows[].at", "self.page * 9223372036854775807", "overflow")],
    );
}

#[test]
fn what_is_absent_is_no_failure_and_what_is_not_in_a_computed_list_is_one() {
    let change = Change {
        old: "first: {type: string}, last: {type: string}",
        new: "full: {type: string}",
        changes: "reshaped:\n    - from: [spec.first, spec.last]\n      to: spec.full\n      \
            up: {spec.full: self.spec.first + ' ' + self.spec.last}\n      \
            down: {spec.first: \"self.spec.full.split(' ')[0]\", spec.last: \"self.spec.full.split(' ')[1]\"}",
    };
    change.down(
        "{full: A}",
        "{}",
        &[("spec.first, spec.last", "self.spec.full.split(' ')[0]", "index out of range: 1, in a list of length 1")],
    );
    change.up("{first: A}", "{}", &[]);
}

#[test]
fn derived_fields() {
    let change = Change {
        old: "names: {type: array, items: {type: string}}, \
            rows: {type: array, items: {type: object, properties: {price: {type: integer}}}}",
        new: "names: {type: array, items: {type: string}}, first: {type: string}, count: {type: integer}, \
            rows: {type: array, items: {type: object, properties: {price: {type: integer}, half: {type: integer}}}}",
        changes: "derived:\n    up:\n      spec.first: string(int(self.spec.names[0]))\n      \
            spec.count: \"self.spec.names.all(a, self.spec.names.all(b, \
            self.spec.names.all(c, a + b + c != ''))) ? 1 : 0\"\n      \
            spec.rows[].half: self.price * 4611686018427387904",
    };
    change.up("{names: [x]}", "{names: [x], count: 1}", &[("spec.first", "self.spec.names[0]", "int")]);
    // What is read and not there is no failure.
    change.up("{}", "{}", &[]);
    change.up("{names: []}", "{names: [], count: 1}", &[]);
    change.up(
        "{rows: [{price: 1}, {price: 2}, {}]}",
        "{rows: [{price: 1, half: 4611686018427387904}, {price: 2}, {}]}",
        &[("spec.rows[].half", "self.price", "overflow")],
    );
    let names = format!("names: [{}]", vec!["\"1\""; 400].join(", "));
    change.up(
        &format!("{{{names}}}"),
        &format!("{{{names}, first: \"1\"}}"),
        &[("spec.count", "self.spec.names.all", "costs more than it may")],
    );
    // What a client wrote is no matter of expressions.
    change.down("{names: [], first: mine, count: 3}", "{names: []}", &[]);
}

#[test]
fn hooks() {
    let change = Change {
        old: "rows: {type: array, items: {type: object, properties: {code: {type: string}}}}",
        new: "rows: {type: array, items: {type: object, properties: {level: {type: integer}}}}",
        changes: "hook:\n    - {name: stubborn, from: \"spec.rows[].code\", to: \"spec.rows[].level\"}",
    };
    for (code, message) in [
        ("no", "this hook wants none of it"),
        ("text", "spec.rows[].level: wrong type: it must be of type integer, not a string"),
        ("large", "spec.rows[].level: out of range"),
        ("elsewhere", "nowhere is no field that this hook writes"),
    ] {
        let written = format!("{{rows: [{{code: {code}}}, {{code: ok}}, {{}}]}}");
        change.up(&written, "{rows: [{}, {level: 1}, {}]}", &[("spec.rows[].level", "stubborn", message)]);
    }
    change.down(
        "{rows: [{level: 7}, {level: 1}]}",
        "{rows: [{}, {code: ok}]}",
        &[("spec.rows[].code", "stubborn", "there is no code for this level")],
    );
}

/// Fails in every way that a hook can.
struct Stubborn;

impl Hook for Stubborn {
    fn up(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        let arena = call.arena();
        let number = |text| wheelwright_document::decode(text, arena);
        match call.get("spec.rows[].code").and_then(Value::as_str) {
            Some("ok") => call.set("spec.rows[].level", number(b"1")?),
            Some("text") => call.set("spec.rows[].level", Value::string("high")),
            Some("large") => call.set("spec.rows[].level", number(b"9223372036854775808")?),
            Some("elsewhere") => call.set("nowhere", Value::Null),
            _ => Err("this hook wants none of it".into()),
        }
    }

    fn down(&self, call: &mut HookCall<'_, '_>) -> Result<(), HookError> {
        match call.get("spec.rows[].level").and_then(|level| level.as_number()?.as_i64()) {
            Some(1) => call.set("spec.rows[].code", Value::string("ok")),
            _ => Err("there is no code for this level".into()),
        }
    }
}
