//! The size of stored documents whose lists are maps, texts, objects or single items in another version.

use std::fmt::Write as _;

use wheelwright_document::{Arena, decode};
use wheelwright_evolve::{Kind, Part};

use super::{kind_of, text};

/// From this many items on a record is at most 1.5 × its document. A list of one item has no order, and is not stored again.
const BOUND: f64 = 1.5;

struct Measured {
    document: usize,
    record: usize,
}

impl Measured {
    fn ratio(&self) -> f64 {
        self.record as f64 / self.document as f64
    }
}

/// Creates a document through a version, checks that every version reads it back, and measures what is stored.
fn measure(kind: &Kind, version: &str, document: &str) -> Measured {
    let arena = Arena::new();
    let version = kind.version(version).expect("a version");
    let written = decode(arena.text(document).as_bytes(), &arena).expect("JSON");
    let stored = kind.put(version, written, None, Part::Whole, &arena).expect("nothing is refused");
    assert_eq!(text(kind.get(version, stored, &arena)), document);
    let again = kind.put(version, kind.get(version, stored, &arena), Some(stored), Part::Whole, &arena);
    assert_eq!(text(again.expect("nothing is refused")), text(stored));
    Measured { document: document.len(), record: text(stored).len() }
}

pub(super) const ARGUMENTS: [&str; 2] = [
    r#"{"type":"object","properties":{"note":{"type":"string"},"arguments":{"type":"array","items":{"type":"object","properties":{
        "name":{"type":"string"},"value":{"type":"string"}}}}}}"#,
    r#"{"type":"object","properties":{"note":{"type":"string"},"arguments":{"type":"object","additionalProperties":{"type":"string"}}}}"#,
];
pub(super) const BY_VALUE: &str =
    r#"{"v2":{"reshaped":[{"from":"arguments","to":"arguments","key":"name","value":"value"}]}}"#;

pub(super) const CONTACTS: [&str; 2] = [
    r#"{"type":"object","properties":{"note":{"type":"string"},"contacts":{"type":"array","items":{"type":"object","properties":{
        "name":{"type":"string"},"mail":{"type":"string"},"phone":{"type":"string"},"port":{"type":"integer"}}}}}}"#,
    r#"{"type":"object","properties":{"note":{"type":"string"},"contacts":{"type":"object","additionalProperties":{"type":"object","properties":{
        "mail":{"type":"string"},"phone":{"type":"string"},"port":{"type":"integer"}}}}}}"#,
];
pub(super) const BY_KEY: &str = r#"{"v2":{"reshaped":[{"from":"contacts","to":"contacts","key":"name"}]}}"#;

/// Names of items in an order that is not that of the alphabet.
fn names(count: usize, length: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |item| {
        let number = (item * 7 + 5) % count.max(1);
        let mut name = format!("{number}");
        while name.len() < length {
            name.push_str("-name");
        }
        name.truncate(length.max(format!("{number}").len()));
        name
    })
}

fn arguments(count: usize, key: usize, value: usize) -> String {
    let items = names(count, key).map(|name| format!(r#"{{"name":"{name}","value":"{}"}}"#, "v".repeat(value)));
    format!(r#"{{"arguments":[{}]}}"#, items.collect::<Vec<_>>().join(","))
}

fn contacts(count: usize, key: usize, value: usize) -> String {
    let items = names(count, key).enumerate().map(|(port, name)| {
        let value = "v".repeat(value);
        format!(r#"{{"name":"{name}","mail":"{value}","phone":"{value}","port":{port}}}"#)
    });
    format!(r#"{{"contacts":[{}]}}"#, items.collect::<Vec<_>>().join(","))
}

#[test]
#[expect(clippy::print_stdout, reason = "sizes are for people, too")]
fn a_list_that_is_a_map_in_the_hub_stores_its_order() {
    let arguments_kind = kind_of(&ARGUMENTS, BY_VALUE);
    let contacts_kind = kind_of(&CONTACTS, BY_KEY);
    let mut failures = String::new();
    println!(
        "{:<10} {:>5} {:>4} {:>5} {:>8} {:>8} {:>6}",
        "list", "items", "key", "value", "document", "record", "ratio"
    );
    for count in [1, 2, 3, 10, 100, 1000] {
        for (key, value) in [(1, 1), (8, 1), (8, 12), (40, 4), (8, 400)] {
            for (name, kind, document) in [
                ("arguments", &arguments_kind, arguments(count, key, value)),
                ("contacts", &contacts_kind, contacts(count, key, value)),
            ] {
                let measured = measure(kind, "v1", &document);
                let (ratio, Measured { document, record }) = (measured.ratio(), measured);
                println!("{name:<10} {count:>5} {key:>4} {value:>5} {document:>8} {record:>8} {ratio:>6.2}");
                if ratio > BOUND && document >= 100 {
                    _ = writeln!(failures, "{name}: {count} items, key {key}, value {value}: {ratio:.2}");
                }
            }
        }
    }
    assert!(failures.is_empty(), "records of more than {BOUND} × their documents:\n{failures}");
}

/// What is stored after a second write through the first version, which must be read back.
fn measure_edit(kind: &Kind, old: &str, new: &str) -> Measured {
    let arena = Arena::new();
    let read = |document: &str| decode(arena.text(document).as_bytes(), &arena).expect("JSON");
    let version = kind.version("v1").expect("a version");
    let stored = kind.put(version, read(old), None, Part::Whole, &arena).expect("nothing is refused");
    let stored = kind.put(version, read(new), Some(stored), Part::Whole, &arena).expect("nothing is refused");
    assert_eq!(text(kind.get(version, stored, &arena)), new);
    Measured { document: new.len(), record: text(stored).len() }
}

#[test]
#[expect(clippy::print_stdout, reason = "sizes are for people, too")]
fn edited_lists_store_their_order_and_lose_no_item() {
    let kind = kind_of(&CONTACTS, BY_KEY);
    let document = |items: &[String]| format!(r#"{{"contacts":[{}]}}"#, items.join(","));
    for count in [1, 10, 100] {
        let item = |(port, name): (usize, String)| {
            format!(r#"{{"name":"{name}","mail":"{name}@example.org","phone":"+49 731 {port:05}","port":{port}}}"#)
        };
        let items: Vec<String> = names(count, 8).enumerate().map(item).collect();
        let old = document(&items);
        let mut reversed = items.clone();
        reversed.reverse();
        let mut edited = items.clone();
        edited[count / 2] = edited[count / 2].replace("+49", "+41");
        let mut longer = items.clone();
        longer.insert(count / 2, item((count, "inserted".into())));
        let shorter = &items[1..];
        for (edit, new) in
            [("reversed", &reversed[..]), ("edited", &edited), ("inserted", &longer), ("removed", shorter)]
        {
            let measured = measure_edit(&kind, &old, &document(new));
            println!("{edit:<10} {count:>5} {:>6.2}", measured.ratio());
            assert!(measured.ratio() <= BOUND, "{edit}, {count} items: {:.2}", measured.ratio());
        }
        // A map holds one of two items with one key: the list is stored as well, and both items are read back.
        let mut duplicated = items.clone();
        duplicated.push(items[0].replace("+49", "+43"));
        let measured = measure_edit(&kind, &old, &document(&duplicated));
        println!("{:<10} {count:>5} {:>6.2}", "duplicated", measured.ratio());
    }
}
