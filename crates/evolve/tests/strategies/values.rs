//! Strategies that turn one value into another.

use crate::evolution::{Evolution, Through};

#[test]
fn enum_remap() {
    let mode = "mode: {type: string}";
    let modes = "{Gold: Premium, Silver: Standard, Bronze: Standard}";
    let evolution = Evolution::new(mode, mode, &format!("converted: {{spec.mode: {{with: {{values: {modes}}}}}}}"));
    evolution.is_both_ways(&[
        ("{mode: Gold}", "{mode: Premium}"),
        ("{mode: Silver}", "{mode: Standard}"),
        ("{}", "{}"),
    ]);
    // Two values onto one: it stays known which one was meant.
    evolution.shows(Through::V1, "{mode: Bronze}", "{mode: Standard}");
    evolution.edited(Through::V1, "{mode: Bronze}", "{mode: Premium}", "{mode: Gold}");
    // Values that are in no table, on either side, the names of the other side among them.
    evolution.is_both_ways(&[("{mode: Tin}", "{mode: Tin}")]);
    evolution.shows(Through::V1, "{mode: Premium}", "{mode: Premium}");
    evolution.shows(Through::V2, "{mode: Bronze}", "{mode: Bronze}");
}

#[test]
fn type_coerce() {
    for (with, values) in [
        ("integer", &[("\"8080\"", "8080"), ("\"-1\"", "-1")][..]),
        ("number", &[("\"1.7\"", "1.7")]),
        ("boolean", &[("\"true\"", "true"), ("\"false\"", "false")]),
    ] {
        let (text, typed) = ("value: {type: string}".to_owned(), format!("value: {{type: {with}}}"));
        let evolution = Evolution::new(&text, &typed, "converted: {spec.value: {with: text}}");
        let back = Evolution::new(&typed, &text, "converted: {spec.value: {with: text}}");
        for (text, typed) in values {
            let [text, typed] = [text, typed].map(|value| format!("{{value: {value}}}"));
            evolution.is_both_ways(&[(&text, &typed)]);
            back.is_both_ways(&[(&typed, &text)]);
        }
        // What spells none is not shown, and is not lost.
        evolution.shows(Through::V1, "{value: much}", "{}");
        back.shows(Through::V2, "{value: much}", "{}");
    }
    // Other spellings of the same value, and a fraction where only whole numbers are.
    let evolution =
        Evolution::new("value: {type: string}", "value: {type: number}", "converted: {spec.value: {with: text}}");
    evolution.shows(Through::V1, "{value: \"1.50\"}", "{value: 1.5}");
    let evolution =
        Evolution::new("value: {type: string}", "value: {type: integer}", "converted: {spec.value: {with: text}}");
    evolution.shows(Through::V1, "{value: \"8080.0\"}", "{value: 8080}");
    evolution.shows(Through::V1, "{value: \"1.7\"}", "{}");
    let evolution = Evolution::new(
        "value: {type: number}",
        "value: {type: integer}",
        "converted: {spec.value: {up: int(self), down: double(self)}}",
    );
    evolution.shows(Through::V1, "{value: 1.7}", "{value: 1}");
    evolution.edited(Through::V1, "{value: 1.7}", "{value: 2}", "{value: 2}");
}

#[test]
fn numeric_scale() {
    let evolution = Evolution::new(
        "gigabytes: {type: integer}",
        "megabytes: {type: integer}",
        "converted: {spec.gigabytes: {to: spec.megabytes, with: {scale: 1024}}}",
    );
    evolution.is_both_ways(&[("{gigabytes: 4}", "{megabytes: 4096}"), ("{gigabytes: 0}", "{megabytes: 0}")]);
    // No multiple: no integer of the other side says it.
    evolution.shows(Through::V2, "{megabytes: 3000}", "{}");
    evolution.edited(Through::V2, "{megabytes: 3000}", "{gigabytes: 4}", "{megabytes: 4096}");
    // Or rounded for the one, and exact for the other.
    let evolution = Evolution::new(
        "gigabytes: {type: integer}",
        "megabytes: {type: integer}",
        "converted: {spec.gigabytes: {to: spec.megabytes, up: self * 1024, down: (self + 512) / 1024}}",
    );
    evolution.is_both_ways(&[("{gigabytes: 4}", "{megabytes: 4096}")]);
    evolution.shows(Through::V2, "{megabytes: 3000}", "{gigabytes: 3}");
    evolution.edited(Through::V2, "{megabytes: 3000}", "{gigabytes: 4}", "{megabytes: 4096}");
    let evolution = Evolution::new(
        "ratio: {type: number}",
        "percent: {type: number}",
        "converted: {spec.ratio: {to: spec.percent, with: {scale: 100}}}",
    );
    evolution.is_both_ways(&[("{ratio: 0.29}", "{percent: 29}"), ("{ratio: -1.005}", "{percent: -100.5}")]);
}

#[test]
fn quantity() {
    let evolution = Evolution::new(
        "size: {type: string}",
        "bytes: {type: integer}",
        "converted: {spec.size: {to: spec.bytes, with: quantity}}",
    );
    evolution.is_both_ways(&[("{size: \"104857600\"}", "{bytes: 104857600}")]);
    // Other spellings of the same amount, and fractions of it.
    evolution.shows(Through::V1, "{size: 100Mi}", "{bytes: 104857600}");
    evolution.shows(Through::V1, "{size: \"0.5\"}", "{bytes: 1}");
    evolution.edited(Through::V1, "{size: 100Mi}", "{bytes: 5}", "{size: \"5\"}");
    // Thousandths.
    let evolution = Evolution::new(
        "cpu: {type: string}",
        "cpuMillis: {type: integer}",
        "converted:\n    spec.cpu:\n      to: spec.cpuMillis\n      \
         up: int(quantity(self).asApproximateFloat() * 1000.0 + 0.5)\n      down: string(self) + 'm'",
    );
    evolution.is_both_ways(&[("{cpu: 500m}", "{cpuMillis: 500}"), ("{cpu: 1m}", "{cpuMillis: 1}")]);
    evolution.shows(Through::V1, "{cpu: \"0.5\"}", "{cpuMillis: 500}");
    evolution.shows(Through::V1, "{cpu: \"2\"}", "{cpuMillis: 2000}");
    evolution.shows(Through::V1, "{cpu: \"1.001\"}", "{cpuMillis: 1001}");
    evolution.shows(Through::V1, "{cpu: several}", "{}");
}

#[test]
fn duration() {
    let evolution = Evolution::new(
        "timeout: {type: string}",
        "timeoutSeconds: {type: integer}",
        "converted: {spec.timeout: {to: spec.timeoutSeconds, with: durationSeconds}}",
    );
    evolution.is_both_ways(&[("{timeout: 5m0s}", "{timeoutSeconds: 300}"), ("{timeout: 0s}", "{timeoutSeconds: 0}")]);
    // Other spellings, and what is shorter than a second.
    evolution.shows(Through::V1, "{timeout: 5m}", "{timeoutSeconds: 300}");
    evolution.shows(Through::V1, "{timeout: 1500ms}", "{timeoutSeconds: 1}");
    evolution.edited(Through::V1, "{timeout: 1500ms}", "{timeoutSeconds: 2}", "{timeout: 2s}");
    evolution.shows(Through::V1, "{timeout: soon}", "{}");
    evolution.shows(Through::V2, "{timeoutSeconds: 9223372036854775807}", "{}");
}

#[test]
fn cel() {
    let evolution = Evolution::new(
        "packed: {type: integer}",
        "high: {type: integer}, low: {type: integer}",
        "reshaped:\n    - from: spec.packed\n      to: [spec.high, spec.low]\n      \
         up: {spec.high: self.spec.packed / 256, spec.low: self.spec.packed % 256}\n      \
         down: {spec.packed: self.spec.high * 256 + self.spec.low}",
    );
    evolution.is_both_ways(&[("{packed: 1025}", "{high: 4, low: 1}"), ("{packed: 0}", "{high: 0, low: 0}")]);
    // Expressions that are no inverses of each other.
    evolution.shows(Through::V2, "{high: 1, low: 700}", "{packed: 956}");
    evolution.shows(Through::V2, "{high: 9223372036854775807, low: 0}", "{}");
    let evolution = Evolution::new(
        "name: {type: string}",
        "name: {type: string}",
        "converted: {spec.name: {up: self.upperAscii(), down: self.lowerAscii()}}",
    );
    evolution.shows(Through::V1, "{name: aBc}", "{name: ABC}");
    evolution.shows(Through::V2, "{name: aBc}", "{name: abc}");
    evolution.edited(Through::V1, "{name: aBc}", "{name: ABCD}", "{name: abcd}");
}
