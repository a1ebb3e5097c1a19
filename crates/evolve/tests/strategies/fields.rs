//! Strategies about fields that move, come or go.

use crate::evolution::{Evolution, Through};

#[test]
fn field_rename() {
    let evolution = Evolution::new(
        "qty: {type: integer}, city: {type: string}",
        "quantity: {type: integer}, delivery: {type: object, properties: {city: {type: string}}}",
        "renamed: {spec.qty: spec.quantity, spec.city: spec.delivery.city}",
    );
    evolution.is_both_ways(&[
        ("{qty: 3}", "{quantity: 3}"),
        ("{qty: 0, city: Riga}", "{quantity: 0, delivery: {city: Riga}}"),
    ]);
    evolution.shows(Through::V2, "{delivery: {}}", "{}");
}

#[test]
fn default_value() {
    // A field with a default is added: nothing is declared or acknowledged.
    let evolution = Evolution::new("", "units: {type: integer, default: 1}", "");
    evolution.shows(Through::V1, "{}", "{units: 1}");
    evolution.shows(Through::V2, "{units: 5}", "{}");
    evolution.shows(Through::V2, "{}", "{}");
    // A default that only the changes know.
    let evolution = Evolution::new("", "units: {type: integer}", "default: {spec.units: 1}");
    evolution.shows(Through::V1, "{}", "{units: 1}");
    evolution.shows(Through::V2, "{units: 0}", "{}");
    // A field with a default is removed.
    let evolution = Evolution::new("units: {type: integer, default: 1}", "", "removed: [spec.units]");
    evolution.shows(Through::V1, "{units: 5}", "{}");
    evolution.shows(Through::V2, "{}", "{units: 1}");
}

#[test]
fn constant() {
    let evolution =
        Evolution::new("", "schemaVersion: {type: string}", "derived: {up: {spec.schemaVersion: \"'v2'\"}}");
    evolution.shows(Through::V1, "{}", "{schemaVersion: v2}");
    evolution.shows(Through::V2, "{schemaVersion: v2}", "{}");
    // What a client wrote instead is no constant, and stays; so does that it wrote none.
    evolution.shows(Through::V2, "{schemaVersion: another}", "{}");
    evolution.edited(Through::V2, "{schemaVersion: another}", "{note: x}", "{note: x, schemaVersion: another}");
    evolution.shows(Through::V2, "{}", "{}");
    // On the other side.
    let evolution = Evolution::new(
        "legacy: {type: boolean}",
        "",
        "removed: [spec.legacy]\n  derived: {down: {spec.legacy: \"true\"}}",
    );
    evolution.shows(Through::V2, "{}", "{legacy: true}");
    evolution.shows(Through::V1, "{legacy: false}", "{}");
}

#[test]
fn delete() {
    let evolution = Evolution::new(
        "debug: {type: boolean}, size: {type: integer}",
        "size: {type: integer}",
        "removed: [spec.debug]",
    );
    evolution.shows(Through::V1, "{debug: true, size: 1}", "{size: 1}");
    evolution.shows(Through::V1, "{debug: false}", "{}");
    evolution.edited(Through::V1, "{debug: true, size: 1}", "{size: 2}", "{debug: true, size: 2}");
}

#[test]
fn json_patch() {
    // What patches are written for: moves, copies, added and removed fields, and what depends on others (`test`).
    let evolution = Evolution::new(
        "legacyFlag: {type: boolean}, owner: {type: string}, debug: {type: boolean}",
        "features: {type: object, properties: {flag: {type: boolean}}}, owner: {type: string}, contact: {type: string}, \
         tier: {type: string}",
        "renamed: {spec.legacyFlag: spec.features.flag}\n  removed: [spec.debug]\n  derived:\n    up:\n      \
         spec.contact: self.spec.owner\n      \
         spec.tier: \"has(self.spec.legacyFlag) && self.spec.legacyFlag ? 'old' : 'new'\"",
    );
    evolution.shows(
        Through::V1,
        "{legacyFlag: true, owner: jo, debug: true}",
        "{features: {flag: true}, owner: jo, contact: jo, tier: old}",
    );
    evolution.shows(Through::V1, "{owner: jo}", "{owner: jo, contact: jo, tier: new}");
    evolution.shows(
        Through::V2,
        "{features: {flag: false}, owner: jo, contact: al, tier: other}",
        "{legacyFlag: false, owner: jo}",
    );
    evolution.shows(Through::V2, "{owner: jo}", "{owner: jo}");
}
