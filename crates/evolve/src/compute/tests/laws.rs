//! What holds for all values.

use proptest::prelude::*;

use super::{clamped::clamped, *};
use crate::lens::same;

const STRING: &str = "{type: string}";
const ITEMS: &str = "{type: array, items: {type: object, properties: {k: {type: string}, v: {type: string}}}}";
const MAP: &str = "{type: object, additionalProperties: {type: string}}";

fn keyed() -> Trial {
    single(ITEMS, MAP, Conversion::KeyedList { key: "k".into(), value: Some("v".into()) })
}

/// One of every conversion, with every sort of path.
fn all() -> Vec<Trial> {
    let list = |of: &str| format!("{{type: array, items: {of}}}");
    let (integer, number) = ("{type: integer}", "{type: number}");
    let any = "{x-kubernetes-preserve-unknown-fields: true}";
    let object = "{type: object, properties: {k: {type: string}, v: {type: string}}}";
    let pair = || vec![("a".into(), "b".into()), ("b".into(), "c".into())];
    let expression =
        |up: &str, down: &str| Conversion::Expression { up: located(up.into()), down: located(down.into()) };
    let template = Conversion::Template { template: "{a}:{b}".into(), pattern: None };
    let entries = Conversion::Entries(vec!["a".into(), "b".into()]);
    let expressions = Conversion::Expressions {
        up: vec![located("self.a + self.b".into())],
        down: vec![located("self.t".into()), located("string(size(self.t))".into())],
    };
    let (texts, text) = ("a: {type: string, nullable: true}, b: {type: string}", "t: {type: string}");
    vec![
        single(STRING, integer, Conversion::DurationSeconds),
        single(any, number, Conversion::DurationSeconds),
        single("{x-kubernetes-int-or-string: true}", integer, Conversion::Quantity),
        single(STRING, number, Conversion::Quantity),
        single(number, integer, Conversion::Scale("0.7".into())),
        clamped(integer, "{type: integer, minimum: -2, maximum: 7, nullable: true}", None),
        clamped(number, "{type: number, minimum: 0.5}", None),
        clamped(STRING, "{type: integer, format: int32}", Some(Conversion::DurationSeconds)),
        clamped(STRING, "{type: number, maximum: 3}", Some(Conversion::Quantity)),
        clamped(number, "{type: integer, maximum: 3}", Some(Conversion::Scale("0.5".into()))),
        single(STRING, "{type: boolean, nullable: true}", Conversion::Text),
        single(STRING, "{x-kubernetes-int-or-string: true}", Conversion::Text),
        single(STRING, STRING, Conversion::Values(pair())),
        single(&list(integer), STRING, Conversion::Joined("a".into())),
        single(&list(any), any, Conversion::OneItem),
        single(object, &list(object), Conversion::OneItem),
        single(STRING, object, Conversion::Document(crate::DocumentFormat::Yaml)),
        single(any, STRING, Conversion::Document(crate::DocumentFormat::Json)),
        keyed(),
        single(
            &list(any),
            "{type: object, additionalProperties: true}",
            Conversion::KeyedList { key: "k".into(), value: None },
        ),
        single(MAP, MAP, Conversion::RenamedKeys(pair())),
        single(any, any, expression("self", "[self]")),
        single(STRING, integer, expression("int(self)", "string(self)")),
        single(any, integer, expression("[1][?1].orValue(self)", "self")),
        single(any, STRING, expression("['a'][?1].orValue(self)", "self")),
        trial(&format!("a: {}", list(STRING)), &format!("b: {}", list(integer)), &["a[]"], &["b[]"], Conversion::Text),
        trial(texts, text, &["a", "b"], &["t"], template),
        trial(texts, &format!("m: {MAP}"), &["a", "b"], &["m"], entries),
        trial(texts, text, &["a", "b"], &["t"], expressions),
    ]
}

/// Short texts, so that keys and delimiters meet, and such as spell something.
fn short_text() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[abkv:]{0,3}", 1 => "[0-9]{1,20}", 1 => "-?[0-9.]{1,4}(s|m|Mi|e9)", 1 => any::<String>()]
}

/// Any JSON, but for how deep it is.
fn json() -> impl Strategy<Value = String> {
    let quoted = |text: String| serde_json::to_string(&text).unwrap();
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,20})?(e[+-]?[0-9]{1,12})?",
        short_text().prop_map(quoted),
    ];
    leaf.prop_recursive(3, 12, 4, move |inner| {
        let object = prop::collection::btree_map(short_text(), inner.clone(), 0..4).prop_map(move |entries| {
            let entries: Vec<_> = entries.into_iter().map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
            format!("{{{}}}", entries.join(","))
        });
        prop_oneof![prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))), object]
    })
}

/// The value of a field, or none.
fn field() -> impl Strategy<Value = Option<String>> {
    prop::option::weighted(0.9, json())
}

fn parsed<'a>(fields: &[Option<String>], count: usize, arena: &'a Arena) -> Vec<Option<Value<'a>>> {
    fields[..count].iter().map(|field| field.as_ref().map(|text| document(text, arena))).collect()
}

proptest! {
    #[test]
    fn whatever_comes_in_what_goes_out_fits(
        fields in prop::collection::vec(field(), 2),
        before in prop::collection::vec(field(), 2),
    ) {
        let (trials, arena) = (all(), Arena::new());
        for (trial, direction) in trials.iter().flat_map(|trial| [(trial, Direction::Up), (trial, Direction::Down)]) {
            let (here, there) = match direction {
                Direction::Up => (&trial.fits[0], &trial.fits[1]),
                Direction::Down => (&trial.fits[1], &trial.fits[0]),
            };
            let [sources, old] = [&fields, &before].map(|fields| parsed(fields, here.len(), &arena));
            let old_results = trial.run(direction, &old, None, &arena).ok();
            for was in [None, old_results.as_ref().map(|results| (&old[..], &results[..]))] {
                let Ok(results) = trial.run(direction, &sources, was, &arena) else { continue };
                prop_assert_eq!(results.len(), there.len());
                for (value, fit) in results.iter().zip(there) {
                    prop_assert!(value.is_none_or(|value| fit.check(value).is_ok()), "{:?} {value:?}", trial.converter);
                }
            }
        }
    }

    #[test]
    fn numbers_come_back_from_their_texts(number in any::<i64>(), seconds in -9_223_372_036_i64..9_223_372_036) {
        let integer = "{type: integer}";
        let quantity = single(STRING, integer, Conversion::Quantity);
        prop_assert_eq!(quantity.up(&quantity.down(&number.to_string())), number.to_string());
        let text = single(STRING, integer, Conversion::Text);
        prop_assert_eq!(text.up(&text.down(&number.to_string())), number.to_string());
        let duration = single(STRING, integer, Conversion::DurationSeconds);
        prop_assert_eq!(duration.up(&duration.down(&seconds.to_string())), seconds.to_string());
    }

    #[test]
    fn a_scaled_number_comes_back(mantissa in -1_000_000_000_000_i64..1_000_000_000_000, factor in 1_i64..1_000_000, places in 0..9) {
        let scale = single("{type: number}", "{type: number}", Conversion::Scale(format!("{factor}e-{places}").into()));
        prop_assert_eq!(scale.down(&scale.up(&mantissa.to_string())), mantissa.to_string());
    }

    /// Whole numbers take a way of their own, which those with a point do not.
    #[test]
    fn whole_numbers_scale_as_all_numbers_do(
        number in prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX), -9_i64..9],
        factor in prop_oneof![-99_i64..-1, 1_i64..99, Just(1_000_000_000_000_000)],
        target in prop_oneof![Just("{type: integer}"), Just("{type: number}")],
    ) {
        let number_type = "{type: number}";
        let scale = Conversion::Scale(factor.to_string().into());
        let up = single(number_type, target, scale.clone());
        prop_assert_eq!(up.up(&number.to_string()), up.up(&format!("{number}.0")));
        let down = single(target, number_type, scale);
        prop_assert_eq!(down.down(&number.to_string()), down.down(&format!("{number}.0")));
    }

    #[test]
    fn parts_come_back_from_a_text(host in "[a-zä.]{1,8}", port in prop::option::of(any::<i64>())) {
        let with = Conversion::Template { template: "{host}:{port}".into(), pattern: None };
        let parts = "host: {type: string}, port: {type: integer}";
        let template = trial(parts, "t: {type: string}", &["host", "port"], &["t"], with);
        let parts = format!("\"{host}\" | {}", port.map_or("-".to_owned(), |port| port.to_string()));
        prop_assert_eq!(template.down(&template.up(&parts)), parts);
    }

    /// What a client of the map writes is what it reads, whatever the list was before; and what it does not touch stays.
    #[test]
    fn a_list_shows_the_map_that_was_written(
        items in prop::collection::vec((prop::option::of("[abc]"), prop::option::of("[xyz]")), 0..6),
        entries in prop::collection::btree_map("[abc]", "[xyz]", 0..4),
    ) {
        let field = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("\"{name}\":\"{value}\""));
        let item = |(key, value): &(Option<String>, Option<String>)| {
            let fields: Vec<_> = [field("k", key), field("v", value)].into_iter().flatten().collect();
            format!("{{{}}}", fields.join(","))
        };
        let list = format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(","));
        let entries: Vec<_> = entries.iter().map(|(key, value)| format!("\"{key}\":\"{value}\"")).collect();
        let map = format!("{{{}}}", entries.join(","));
        let keyed = keyed();
        let shown = keyed.up(&list);
        let written = keyed.convert(Direction::Down, &map, Some((&shown, &list)));
        let arena = Arena::new();
        let [read, wanted] = [&keyed.up(&written), &map].map(|text| document(text, &arena));
        prop_assert!(same(read, wanted), "{list} {map} {written}");
        prop_assert_eq!(keyed.convert(Direction::Down, &shown, Some((&shown, &list))), list);
    }
}
