//! Lists, maps and objects that hold the same in another arrangement.

use super::*;

const STRINGS: &str = "{type: array, items: {type: string}}";
const ARGUMENTS: &str = "{type: array, items: {type: object, properties: {name: {type: string}, value: {type: string}, note: {type: string}}}}";
const MAP: &str = "{type: object, additionalProperties: {type: string}}";

fn pairs(pairs: &[(&str, &str)]) -> Vec<(Box<str>, Box<str>)> {
    pairs.iter().map(|(old, new)| ((*old).into(), (*new).into())).collect()
}

#[test]
fn a_list_is_joined_with_a_delimiter() {
    let joined = single(STRINGS, "{type: string}", Conversion::Joined(", ".into()));
    joined.is_both_ways(&[("[]", "\"\""), (r#"["a"]"#, "\"a\""), (r#"["ä","","c"]"#, "\"ä, , c\""), ("-", "-")]);
    joined.is_up(&[(r#"[""]"#, "\"\""), (r#"["a, b"]"#, "\"a, b\"")]);
    for delimiter in [",", "→", ", "] {
        let joined = single(STRINGS, "{type: string}", Conversion::Joined(delimiter.into()));
        let text = |items: &[&str]| format!("{:?}", items.join(delimiter));
        let many = ["a", "ä", "", "d", "e", "f", "g", "h", "i", "j", ""];
        let list = format!("{many:?}").replace(", ", ",");
        joined.is_both_ways(&[(&list, &text(&many)), (r#"["",""]"#, &text(&["", ""]))]);
    }
    let ports = single("{type: string}", "{type: array, items: {type: integer}}", Conversion::Joined(":".into()));
    ports.is_both_ways(&[("\"80:443\"", "[80,443]"), ("\"\"", "[]")]);
    ports.is_up(&[("\"80:x\"", "failed: \"x\" is no integer")]);
}

#[test]
fn an_object_is_the_one_item_of_a_list() {
    let disk = "{type: object, properties: {size: {type: integer}}}";
    let disks = format!("{{type: array, items: {disk}}}");
    let one = single(disk, &disks, Conversion::OneItem);
    one.is_both_ways(&[(r#"{"size":1}"#, r#"[{"size":1}]"#), ("{}", "[{}]"), ("-", "-")]);
    one.is_down(&[("[]", "-"), (r#"[{"size":1},{"size":2}]"#, r#"{"size":1}"#)]);
    one.is_up(&[(r#"{"weight":1}"#, "[{}]")]);
    let before = Some((r#"{"size":1}"#, r#"[{"size":1},{"size":2}]"#));
    assert_eq!(one.convert(Direction::Up, r#"{"size":9}"#, before), r#"[{"size":9},{"size":2}]"#);
    assert_eq!(one.convert(Direction::Up, "-", before), r#"[{"size":2}]"#);
    assert_eq!(one.convert(Direction::Up, "-", Some((r#"{"size":1}"#, r#"[{"size":1}]"#))), "-");
    assert_eq!(
        one.convert(Direction::Up, r#"{"size":9}"#, Some(("-", r#"[{"size":2}]"#))),
        r#"[{"size":9},{"size":2}]"#
    );
    assert_eq!(one.convert(Direction::Up, "-", Some(("-", "[]"))), "-", "whoever asks knows that the fact has changed");
    single(&disks, disk, Conversion::OneItem).is_both_ways(&[(r#"[{"size":1}]"#, r#"{"size":1}"#)]);
}

#[test]
fn a_list_of_objects_is_a_map_by_a_key() {
    let keyed = Conversion::KeyedList { key: "name".into(), value: Some("value".into()) };
    let map = single(ARGUMENTS, MAP, keyed.clone());
    map.is_both_ways(&[("[]", "{}"), (r#"[{"name":"a","value":"1"},{"name":"b","value":""}]"#, r#"{"a":"1","b":""}"#)]);
    map.is_up(&[
        (r#"[{"name":"a","value":"1"},{"name":"b","value":"2"},{"name":"a","value":"3"}]"#, r#"{"a":"3","b":"2"}"#),
        (r#"[{"value":"1"},{"name":null,"value":"1"},{"name":"b"}]"#, "{}"),
    ]);
    map.is_down(&[(r#"{"b":"1","a":"2"}"#, r#"[{"name":"a","value":"2"},{"name":"b","value":"1"}]"#)]);
    single(MAP, ARGUMENTS, keyed).is_both_ways(&[(r#"{"a":"1"}"#, r#"[{"name":"a","value":"1"}]"#)]);

    let list = r#"[{"name":"z","value":"1"},{"value":"x"},{"note":"n","value":"2","name":"a"},{"name":"d","value":"3"},{"name":"d","value":"4"},{"name":"h"}]"#;
    let shown = map.up(list);
    assert_eq!(shown, r#"{"z":"1","a":"2","d":"4"}"#);
    let down = |edited: &str| map.convert(Direction::Down, edited, Some((&shown, list)));
    assert_eq!(
        down(r#"{"q":"8","d":"5","b":"9","a":"2","h":"7"}"#),
        r#"[{"value":"x"},{"note":"n","value":"2","name":"a"},{"name":"d","value":"3"},{"name":"d","value":"5"},{"name":"h","value":"7"},{"name":"b","value":"9"},{"name":"q","value":"8"}]"#
    );
    assert_eq!(down(r#"{"a":"9"}"#), r#"[{"value":"x"},{"note":"n","name":"a","value":"9"},{"name":"h"}]"#);
}

#[test]
fn without_a_value_field_the_rest_of_the_item_is_the_value() {
    let of = "{type: object, properties: {size: {type: integer}, tier: {type: string}}}";
    let item = "{type: object, properties: {id: {type: integer}, size: {type: integer}, tier: {type: string}}}";
    let keyed = Conversion::KeyedList { key: "id".into(), value: None };
    let map = single(
        &format!("{{type: array, items: {item}}}"),
        &format!("{{type: object, additionalProperties: {of}}}"),
        keyed,
    );
    map.is_both_ways(&[(r#"[{"id":1,"size":2},{"id":2}]"#, r#"{"1":{"size":2},"2":{}}"#)]);
    map.is_down(&[(r#"{"x":{}}"#, "failed: \"x\" is no integer")]);
    let list = r#"[{"size":1,"id":7},{"id":3,"tier":"a"}]"#;
    let edited = map.convert(Direction::Down, r#"{"3":{"size":4},"7":{"size":1}}"#, Some((&map.up(list), list)));
    assert_eq!(edited, r#"[{"size":1,"id":7},{"id":3,"size":4}]"#);
}

#[test]
fn an_item_of_a_list_in_a_value_is_known_by_its_keys_and_keeps_what_the_map_does_not_show() {
    let map = |ports: &str, item: &str| {
        let of =
            |port: &str| format!("{ports}, items: {{type: object, properties: {{port: {{type: integer}}{port}}}}}");
        let rest = |port: &str| format!("{item}type: object, properties: {{ports: {{{}}}", of(port));
        let list = format!("{{type: array, items: {{{}, id: {{type: string}}}}}}}}", rest(", note: {type: string}"));
        let map = format!("{{type: object, additionalProperties: {{{}}}}}}}", rest(", size: {type: integer}"));
        single(&list, &map, Conversion::KeyedList { key: "id".into(), value: None })
    };
    let keyed = "type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port]";
    let list = r#"[{"id":"a","ports":[{"port":1,"note":"x"},{"port":2,"note":"y"}]}]"#;
    let shown = r#"{"a":{"ports":[{"port":1},{"port":2}]}}"#;
    let edited = r#"{"a":{"ports":[{"port":3},{"port":2}]}}"#;
    // Without keys, the one item that is not as before is known by its place.
    for (ports, note) in [(keyed, ""), ("type: array", r#","note":"x""#)] {
        for item in ["", "x-kubernetes-preserve-unknown-fields: true, "] {
            let map = map(ports, item);
            assert_eq!(map.up(list), shown);
            let expected = format!(r#"[{{"id":"a","ports":[{{"port":3{note}}},{{"port":2,"note":"y"}}]}}]"#);
            assert_eq!(map.convert(Direction::Down, edited, Some((shown, list))), expected);
        }
    }
}

#[test]
fn fields_are_entries_of_a_map_and_what_is_no_field_stays_there() {
    let fields = "cpu: {type: string}, memory: {type: string, nullable: true}";
    let entries = || Conversion::Entries(vec!["cpu".into(), "mem".into()]);
    let map = trial(fields, &format!("limits: {MAP}"), &["cpu", "memory"], &["limits"], entries());
    map.is_both_ways(&[
        ("\"1\" | \"2\"", r#"{"cpu":"1","mem":"2"}"#),
        ("\"1\" | -", r#"{"cpu":"1"}"#),
        ("- | \"\"", r#"{"mem":""}"#),
        ("- | -", "-"),
    ]);
    map.is_up(&[("- | null", "-")]);
    map.is_down(&[("{}", "- | -"), (r#"{"gpu":"1"}"#, "- | -"), ("null", "- | -")]);
    let before = Some(("\"1\" | \"2\"", r#"{"cpu":"1","gpu":"3","mem":"2"}"#));
    let up = |fields: &str| map.convert(Direction::Up, fields, before);
    assert_eq!(up("\"1\" | \"2\""), r#"{"gpu":"3","cpu":"1","mem":"2"}"#);
    assert_eq!(up("\"9\" | -"), r#"{"gpu":"3","cpu":"9"}"#);
    assert_eq!(up("- | -"), r#"{"gpu":"3"}"#);

    let object = "limits: {type: object, properties: {cpu: {type: integer}, mem: {type: string}}}";
    let object = trial(object, fields, &["limits"], &["cpu", "memory"], entries());
    object.is_up(&[(r#"{"cpu":1}"#, "failed: cpu: wrong type: it must be of type string, not a number")]);
    object.is_down(&[("\"1\" | \"2\"", "failed: cpu: wrong type: it must be of type integer, not a string")]);
}

#[test]
fn keys_are_renamed_in_place_and_win() {
    let keys = single(
        MAP,
        MAP,
        Conversion::RenamedKeys(pairs(&[("app", "application"), ("old", "application"), ("x", "y"), ("y", "x")])),
    );
    keys.is_both_ways(&[
        (r#"{"a":"1","app":"2","z":"3"}"#, r#"{"a":"1","application":"2","z":"3"}"#),
        (r#"{"x":"1","y":"2"}"#, r#"{"y":"1","x":"2"}"#),
        ("{}", "{}"),
    ]);
    keys.is_up(&[
        (r#"{"application":"1","app":"2"}"#, r#"{"application":"2"}"#),
        (r#"{"old":"1","app":"2"}"#, r#"{"application":"1"}"#),
    ]);
    let before = Some((r#"{"application":"2"}"#, r#"{"application":"1","app":"2"}"#));
    let down = |map: &str| keys.convert(Direction::Down, map, before);
    assert_eq!(down(r#"{"application":"2","b":"3"}"#), r#"{"app":"2","b":"3","application":"1"}"#);
    assert_eq!(down(r#"{"b":"3"}"#), r#"{"b":"3","application":"1"}"#);
}
