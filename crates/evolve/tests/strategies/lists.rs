//! Strategies over lists, at any depth.

use crate::evolution::{Evolution, Through};

const TEXTS: &str = "{type: array, items: {type: string}}";

#[test]
fn list_join() {
    let evolution = Evolution::new(
        &format!("servers: {TEXTS}"),
        "serverLine: {type: string}",
        "converted: {spec.servers: {to: spec.serverLine, with: {joined: \",\"}}}",
    );
    evolution.is_both_ways(&[("{servers: [a, b]}", "{serverLine: \"a,b\"}"), ("{servers: [a]}", "{serverLine: a}")]);
    // Items with the delimiter in them, and lists of nothing.
    evolution.shows(Through::V1, "{servers: [\"a,b\", c]}", "{serverLine: \"a,b,c\"}");
    evolution.shows(Through::V1, "{servers: []}", "{serverLine: \"\"}");
    evolution.shows(Through::V1, "{servers: [\"\"]}", "{serverLine: \"\"}");
    evolution.edited(Through::V1, "{servers: [\"a,b\"]}", "{serverLine: \"a,c\"}", "{servers: [a, c]}");
}

#[test]
fn list_split() {
    let evolution = Evolution::new(
        "ranges: {type: string}",
        &format!("rangeList: {TEXTS}"),
        "converted: {spec.ranges: {to: spec.rangeList, with: {joined: \", \"}}}",
    );
    evolution.is_both_ways(&[("{ranges: \"a, b\"}", "{rangeList: [a, b]}")]);
    evolution.shows(Through::V2, "{rangeList: [\"a, b\", c]}", "{ranges: \"a, b, c\"}");
    evolution.shows(Through::V1, "{ranges: \"a,b\"}", "{rangeList: [\"a,b\"]}");
}

const ENDPOINTS: &str = "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: \
    {type: object, required: [name], properties: {name: {type: string}, url: {type: string}}}}";
const BY_NAME: &str = "{type: object, additionalProperties: {type: object, properties: {url: {type: string}}}}";

#[test]
fn array_to_map_by_key() {
    let evolution = Evolution::new(
        &format!("endpoints: {ENDPOINTS}"),
        &format!("endpoints: {BY_NAME}"),
        "reshaped: [{from: spec.endpoints, to: spec.endpoints, key: name}]",
    );
    evolution.is_both_ways(&[("{endpoints: [{name: a, url: u}]}", "{endpoints: {a: {url: u}}}")]);
    // The order of the list survives, and what happens to the others in the map.
    evolution.shows(Through::V1, "{endpoints: [{name: b, url: 1b}, {name: a}]}", "{endpoints: {b: {url: 1b}, a: {}}}");
    evolution.edited(
        Through::V1,
        "{endpoints: [{name: c}, {name: b}, {name: a}]}",
        "{endpoints: {a: {url: new}, c: {}, d: {}}}",
        "{endpoints: [{name: c}, {name: a, url: new}, {name: d}]}",
    );
    // Two items of one key: none of them is lost.
    evolution.shows(
        Through::V1,
        "{endpoints: [{name: a, url: one}, {name: a, url: two}]}",
        "{endpoints: {a: {url: two}}}",
    );
}

#[test]
fn map_to_array_by_key() {
    let evolution = Evolution::new(
        "limits: {type: object, additionalProperties: {type: object, properties: {limit: {type: string}}}}",
        "tierLimits: {type: array, items: {type: object, properties: {tier: {type: string}, limit: {type: string}}}}",
        "reshaped: [{from: spec.limits, to: spec.tierLimits, key: tier}]",
    );
    evolution.is_both_ways(&[(
        "{limits: {gold: {limit: \"9\"}, silver: {limit: \"5\"}}}",
        "{tierLimits: [{tier: gold, limit: \"9\"}, {tier: silver, limit: \"5\"}]}",
    )]);
    evolution.shows(
        Through::V2,
        "{tierLimits: [{tier: silver, limit: \"5\"}, {tier: gold}]}",
        "{limits: {gold: {}, silver: {limit: \"5\"}}}",
    );
    let evolution = Evolution::new(
        "env: {type: object, additionalProperties: {type: string}}",
        "env: {type: array, items: {type: object, properties: {name: {type: string}, value: {type: string}}}}",
        "reshaped: [{from: spec.env, to: spec.env, key: name, value: value}]",
    );
    evolution.is_both_ways(&[("{env: {A: \"1\"}}", "{env: [{name: A, value: \"1\"}]}")]);
}

#[test]
fn for_each() {
    let old = "volumes: {type: array, items: {type: object, properties: {sizeGB: {type: string}, label: {type: string}, \
        mode: {type: string}}}}";
    let new = "volumes: {type: array, items: {type: object, properties: {size: {type: string}, name: {type: string}}}}";
    let evolution = Evolution::new(
        old,
        new,
        "renamed:\n    spec.volumes[].sizeGB: spec.volumes[].size\n    spec.volumes[].label: spec.volumes[].name\n  \
         removed: [\"spec.volumes[].mode\"]\n  keys: {spec.volumes: [name]}",
    );
    evolution.is_both_ways(&[(
        "{volumes: [{sizeGB: \"1\", label: a}, {sizeGB: \"2\", label: b}]}",
        "{volumes: [{size: \"1\", name: a}, {size: \"2\", name: b}]}",
    )]);
    // Items are matched by their key, whatever their place, and what is hidden goes with the item.
    evolution.edited(
        Through::V1,
        "{volumes: [{label: a, mode: x}, {label: b, mode: y}, {label: c, mode: z}]}",
        "{volumes: [{name: c}, {name: new}, {name: b, size: \"3\"}]}",
        "{volumes: [{label: c, mode: z}, {label: new}, {label: b, sizeGB: \"3\", mode: y}]}",
    );
}

#[test]
fn for_each_three_lists_deep_with_computed_fields() {
    let nest = |leaf: &str| {
        format!(
            "racks: {{type: array, items: {{type: object, properties: {{hosts: {{type: array, items: {{type: object, \
             properties: {{ports: {{type: array, items: {{type: object, properties: {{name: {{type: string}}, {leaf}}}\
             }}}}}}}}}}}}}}}}"
        )
    };
    let at = "spec.racks[].hosts[].ports[]";
    let evolution = Evolution::new(
        &nest("timeout: {type: string}, speed: {type: string}, address: {type: string}"),
        &nest("timeoutSeconds: {type: integer}, speed: {type: string}, host: {type: string}, port: {type: integer}, \
            label: {type: string}"),
        &format!(
            "keys: {{\"{at}\": [name]}}\n  converted:\n    {at}.timeout: {{to: \"{at}.timeoutSeconds\", with: durationSeconds}}\n    \
             {at}.speed: {{with: {{values: {{fast: quick, rapid: quick}}}}}}\n  \
             reshaped: [{{from: \"{at}.address\", to: [\"{at}.host\", \"{at}.port\"], template: \"{{host}}:{{port}}\"}}]\n  \
             derived: {{up: {{\"{at}.label\": \"'port ' + self.name\"}}}}",
            at = at
        )
        .replace(&format!("{{\"{at}\": [name]}}"), "{\"spec.racks[].hosts[].ports\": [name]}"),
    );
    let racks = |ports: &str| format!("{{racks: [{{hosts: [{{ports: []}}, {{ports: [{ports}]}}]}}]}}");
    evolution.shows(
        Through::V1,
        &racks("{name: a, timeout: 1m, speed: rapid, address: \"h:1\"}, {name: b, timeout: soon, address: \"h:x\"}"),
        &racks(
            "{name: a, timeoutSeconds: 60, speed: quick, host: h, port: 1, label: port a}, {name: b, label: port b}",
        ),
    );
    // The items in another order, one of them changed: the others keep their spelling.
    evolution.edited(
        Through::V1,
        &racks("{name: a, timeout: 1m, speed: rapid}, {name: b, timeout: 2m, speed: rapid, address: \"h:x\"}"),
        &racks("{name: b, timeoutSeconds: 120, speed: quick}, {name: a, timeoutSeconds: 61, speed: quick}"),
        &racks("{name: b, timeout: 2m, speed: rapid, address: \"h:x\"}, {name: a, timeout: 1m1s, speed: rapid}"),
    );
}
