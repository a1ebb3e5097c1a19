//! Changes to JSON that leave it JSON, so that the fuzzer spends its time behind the decoder.

use wheelwright_document::{Arena, Decode, Spanned, decode_json_spanned};

/// Changes the first `size` bytes and says how many they are then; `None` if they are no JSON or it is the turn of
/// changes that know nothing of JSON.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> Option<usize> {
    let mut draw = Draw(u64::from(seed) | 1 << 40);
    if draw.below(4) == 0 {
        return None;
    }
    let source = data.get(..size)?.to_vec();
    let arena = Arena::new();
    let document = decode_json_spanned(&source, &arena, &Decode::default()).ok()?;
    let mut places = Vec::new();
    // Most changes to a schema make it one that is refused, so objects get their share of changes by themselves.
    match document.get("object") {
        Some(object) if draw.below(2) == 0 => collect(object, &mut places),
        _ => collect(&document, &mut places),
    }
    let changed = change(&source, &places, &mut draw)?;
    let limit = max_size.min(data.len());
    (changed.len() <= limit).then(|| {
        data[..changed.len()].copy_from_slice(&changed);
        changed.len()
    })
}

fn collect<'a>(node: &Spanned<'a>, places: &mut Vec<Spanned<'a>>) {
    places.push(*node);
    node.as_array().unwrap_or_default().iter().for_each(|item| collect(item, places));
    node.as_object().unwrap_or_default().iter().for_each(|entry| collect(&entry.value, places));
}

fn change(source: &[u8], places: &[Spanned<'_>], draw: &mut Draw) -> Option<Vec<u8>> {
    let place = draw.pick(places)?;
    let (start, end) = (place.span.start as usize, place.span.end as usize);
    let members: Vec<(usize, usize)> = match (place.as_array(), place.as_object()) {
        (Some(items), _) => items.iter().map(|item| (item.span.start as usize, item.span.end as usize)).collect(),
        (_, Some(entries)) => {
            entries.iter().map(|entry| (entry.key_span.start as usize, entry.value.span.end as usize)).collect()
        }
        _ => Vec::new(),
    };
    let comma = if members.is_empty() { "" } else { "," };
    match draw.below(6) {
        0 if !members.is_empty() => {
            let index = draw.below(members.len());
            let (from, to) = match (members.get(index + 1), index) {
                (Some((next, _)), _) => (members[index].0, *next),
                (None, 0) => members[0],
                (None, _) => (members[index - 1].1, members[index].1),
            };
            Some(spliced(source, from, to, b""))
        }
        1 if place.as_object().is_some_and(|entries| !entries.is_empty()) => {
            let entry = draw.pick(place.as_object()?)?;
            let key = format!("\"{}\"", unused_key(place, draw)?);
            Some(spliced(source, entry.key_span.start as usize, entry.key_span.end as usize, key.as_bytes()))
        }
        0..=3 if place.as_object().is_some() => {
            let key = unused_key(place, draw)?;
            let member = format!("\"{key}\":{}{comma}", text(source, places, key, draw)?);
            Some(spliced(source, start + 1, start + 1, member.as_bytes()))
        }
        0..=3 if place.as_array().is_some() => {
            let member = format!("{}{comma}", text(source, places, "", draw)?);
            Some(spliced(source, start + 1, start + 1, member.as_bytes()))
        }
        _ => Some(spliced(source, start, end, text(source, places, "", draw)?.as_bytes())),
    }
}

fn unused_key(place: &Spanned<'_>, draw: &mut Draw) -> Option<&'static str> {
    let key = draw.pick(KEYS)?.0;
    place.get(key).is_none().then_some(key)
}

/// A value that often fits the key, another one of the document, or any.
fn text(source: &[u8], places: &[Spanned<'_>], key: &str, draw: &mut Draw) -> Option<String> {
    let fitting = KEYS.iter().find(|(known, values)| *known == key && !values.is_empty());
    match (draw.below(4), fitting) {
        (0..=2, Some((_, values))) => Some((*draw.pick(values)?).to_owned()),
        (1, _) => {
            let span = draw.pick(places)?.span;
            Some(String::from_utf8_lossy(source.get(span.start as usize..span.end as usize)?).into_owned())
        }
        _ => Some((*draw.pick(VALUES)?).to_owned()),
    }
}

fn spliced(source: &[u8], start: usize, end: usize, text: &[u8]) -> Vec<u8> {
    [&source[..start], text, &source[end..]].concat()
}

/// Numbers that look random and follow from the seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn pick<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        if items.is_empty() { None } else { items.get(self.below(items.len())) }
    }
}

const BOOLEANS: &[&str] = &["true", "false"];
const COUNTS: &[&str] = &["0", "1", "2", "3", "-1", "9223372036854775807"];
const NUMBERS: &[&str] = &["0", "1", "-1", "0.1", "1.5", "1e400", "-0", "1e-7", "9007199254740993", "3.0"];
const SCHEMAS: &[&str] = &[
    r#"{"type":"object"}"#,
    r#"{"type":"string","default":"a"}"#,
    r#"{"type":"integer","default":1}"#,
    r#"{"type":"array","items":{"type":"string"}}"#,
    r#"{"type":"object","properties":{"a":{"type":"string","default":"b"}},"default":{}}"#,
    r#"{"x-kubernetes-int-or-string":true}"#,
    r#"{"type":"object","x-kubernetes-preserve-unknown-fields":true}"#,
    r#"{"type":"object","x-kubernetes-embedded-resource":true}"#,
    r#"{"type":"string","nullable":true}"#,
    r#"{"required":["a"]}"#,
    r#"{"properties":{"a":{"minimum":1}}}"#,
];
const SCHEMA_LISTS: &[&str] =
    &[r#"[{"required":["a"]}]"#, r#"[{"type":"integer"},{"type":"string"}]"#, r#"[{"minimum":1},{"maximum":0}]"#, "[]"];
const POINTERS: &[&str] = &["\"\"", "\"/a\"", "\"/b/0\"", "\"/a/b\"", "\"/-\"", "\"/b/-\"", "\"/a~1b\"", "\"/0\""];

/// Keys, and values that fit them.
const KEYS: &[(&str, &[&str])] = &[
    ("a", &[]),
    ("b", &[]),
    ("c", &[]),
    ("additionalProperties", SCHEMAS),
    ("allOf", SCHEMA_LISTS),
    ("anyOf", SCHEMA_LISTS),
    ("apiVersion", &["\"v1\"", "\"apps/v1\"", "\"a/b/c\""]),
    ("default", &["null", "{}", "[]", "1", "\"a\"", r#"{"a":null}"#, r#"[{"a":"b"}]"#, r#"{"a":{"b":1},"c":2}"#]),
    ("enum", &[r#"["a","b"]"#, "[1,2.0]", "[null]", r#"[{"a":1}]"#, "[]"]),
    ("exclusiveMaximum", BOOLEANS),
    ("exclusiveMinimum", BOOLEANS),
    (
        "format",
        &["\"date-time\"", "\"int32\"", "\"ipv4\"", "\"uuid\"", "\"email\"", "\"byte\"", "\"duration\"", "\"uri\""],
    ),
    ("from", POINTERS),
    ("items", SCHEMAS),
    ("kind", &["\"Example\"", "\"example\""]),
    ("labels", &[r#"{"a":"b"}"#, r#"{"a":1}"#]),
    ("maxItems", COUNTS),
    ("maxLength", COUNTS),
    ("maxProperties", COUNTS),
    ("maximum", NUMBERS),
    ("metadata", &["{}", r#"{"name":"a"}"#, r#"{"labels":{"a":"b"},"generation":1}"#, r#"{"name":1}"#]),
    ("minItems", COUNTS),
    ("minLength", COUNTS),
    ("minProperties", COUNTS),
    ("minimum", NUMBERS),
    ("multipleOf", NUMBERS),
    ("name", &["\"a\"", "\"A b\""]),
    ("not", SCHEMAS),
    ("nullable", BOOLEANS),
    ("oneOf", SCHEMA_LISTS),
    ("op", &["\"add\"", "\"remove\"", "\"replace\"", "\"move\"", "\"copy\"", "\"test\""]),
    ("path", POINTERS),
    ("pattern", &["\"^[a-z]+$\"", "\"(a*)*b\"", r#""\\d{2,}""#, r#""[[:alpha:]]\\b""#, "\"(\""]),
    ("properties", &["{}", r#"{"a":{"type":"string"}}"#, r#"{"metadata":{"type":"object"},"spec":{"type":"object"}}"#]),
    ("required", &[r#"["a"]"#, r#"["a","b"]"#, "[]"]),
    ("type", &["\"object\"", "\"array\"", "\"string\"", "\"integer\"", "\"number\"", "\"boolean\"", "\"null\""]),
    ("uniqueItems", BOOLEANS),
    ("value", &[]),
    ("x-kubernetes-embedded-resource", BOOLEANS),
    ("x-kubernetes-int-or-string", BOOLEANS),
    ("x-kubernetes-list-map-keys", &[r#"["a"]"#, r#"["a","b"]"#, "[]"]),
    ("x-kubernetes-list-type", &["\"atomic\"", "\"set\"", "\"map\""]),
    ("x-kubernetes-map-type", &["\"atomic\"", "\"granular\""]),
    ("x-kubernetes-preserve-unknown-fields", BOOLEANS),
    ("x-kubernetes-validations", &[r#"[{"rule":"true"}]"#]),
];

/// Values of every sort.
const VALUES: &[&str] = &[
    "null",
    "true",
    "0",
    "1",
    "1.0",
    "-1",
    "1e400",
    "99999999999999999999",
    "\"\"",
    "\"a\"",
    "\"é😀\"",
    "\"12\"",
    "\"2024-02-29T12:00:00Z\"",
    "\"10.0.0.1\"",
    "\"1h30m\"",
    "[]",
    "[null]",
    "[1,1.0]",
    r#"["a","a"]"#,
    r#"[{"a":"b"},{"a":"b"}]"#,
    "{}",
    r#"{"a":null}"#,
    r#"{"a":1,"b":"c"}"#,
    r#"{"a":{"b":[{}]}}"#,
    r#"{"op":"add","path":"/a","value":1}"#,
    r#"{"op":"move","from":"/a","path":"/b"}"#,
    r#"{"apiVersion":"v1","kind":"Example","metadata":{"name":"a"}}"#,
    r#"{"type":"object"}"#,
    r#"{"type":"string"}"#,
];
