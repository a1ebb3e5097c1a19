//! Bounds, enums, patterns and formats of scalars.

use serde_json::{Value as Json, json};
use wheelwright_evolve::laws::Random;

use super::{SchemaSeed, Seeded, is_set, set, text, trying, type_of, unset};

pub(super) const CLASSES: &[(&str, SchemaSeed)] = &[
    ("maxLength added", |node, _| added_length(node, "maxLength")),
    ("maxLength lowered", max_length_lowered),
    ("maxLength raised", max_length_raised),
    ("minLength added", |node, _| added_length(node, "minLength")),
    ("minLength raised", min_length_raised),
    ("pattern added", pattern_added),
    ("pattern changed", pattern_changed),
    ("pattern dropped", |node, _| dropped(node, "pattern")),
    ("format added", format_added),
    ("format changed", format_changed),
    ("format int32 for int64", int32),
    ("enum added", enum_added),
    ("enum value removed", enum_value_removed),
    ("enum value renamed", enum_value_renamed),
    ("enum value added", enum_value_added),
    ("enum of integers added", enum_of_integers),
    ("maximum added", maximum_added),
    ("maximum lowered", maximum_lowered),
    ("minimum added", minimum_added),
    ("minimum raised", minimum_raised),
    ("minimum made exclusive", minimum_exclusive),
    ("maximum made exclusive", maximum_exclusive),
    ("multipleOf added", multiple_of),
    ("nullable switched off", not_nullable),
    ("nullable switched on", nullable),
];

fn is_text(node: &Json) -> bool {
    type_of(node) == "string" && node.get("enum").is_none() && node.get("format").is_none()
}

fn is_number(node: &Json) -> bool {
    ["integer", "number"].contains(&type_of(node)) && node.get("enum").is_none()
}

fn texts() -> Vec<Json> {
    ["", "a", "A b", "abcdefghij", "example-name-0", "1", "0.0.0.0", "example.com", "/a/b"]
        .into_iter()
        .map(|text| json!(text))
        .chain([json!("a".repeat(64)), json!("z".repeat(300))])
        .collect()
}

fn added_length(node: &mut Json, keyword: &str) -> Option<Seeded> {
    if !is_text(node) || node.get(keyword).is_some() {
        return None;
    }
    set(node, keyword, if keyword == "maxLength" { 8 } else { 3 });
    trying(texts())
}

fn max_length_lowered(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let most = node.get("maxLength")?.as_u64().filter(|most| *most > 1 && is_text(node))?;
    set(node, "maxLength", most - 1);
    let most = usize::try_from(most).ok()?.min(5000);
    trying([json!("a".repeat(most)), json!(format!("/{}", "a".repeat(most - 1)))])
}

fn max_length_raised(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let most = node.get("maxLength")?.as_u64()?;
    set(node, "maxLength", most + 10);
    trying([json!("a".repeat(usize::try_from(most).ok()?.min(5000) + 1))])
}

fn min_length_raised(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let least = node.get("minLength")?.as_u64().filter(|_| is_text(node))?;
    set(node, "minLength", least + 1);
    trying([json!("a".repeat(usize::try_from(least).ok()?.min(5000)))])
}

fn pattern_added(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    if !is_text(node) || node.get("pattern").is_some() {
        return None;
    }
    set(node, "pattern", ["^[a-z]{2,5}$", "^x-", "[0-9]"][random.below(3)]);
    trying(texts())
}

fn pattern_changed(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let pattern = text(node, "pattern").to_owned();
    if pattern.is_empty() || node.get("enum").is_some() {
        return None;
    }
    set(node, "pattern", format!("^(z|zz)?$|^Q({pattern})$"));
    trying(texts())
}

fn dropped(node: &mut Json, keyword: &str) -> Option<Seeded> {
    unset(node, keyword)?;
    trying(texts())
}

fn format_added(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    if !is_text(node) {
        return None;
    }
    set(node, "format", ["date-time", "ipv4", "uuid", "byte", "date", "duration", "hostname"][random.below(7)]);
    trying(texts())
}

fn format_changed(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let format = text(node, "format").to_owned();
    if type_of(node) != "string" || format.is_empty() {
        return None;
    }
    set(node, "format", if format == "ipv4" { "ipv6" } else { "ipv4" });
    trying([json!("2024-01-01T00:00:00Z"), json!("10.0.0.1")])
}

fn int32(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if type_of(node) != "integer" || text(node, "format") == "int32" {
        return None;
    }
    set(node, "format", "int32");
    trying([json!(4_294_967_296_i64), json!(-4_294_967_296_i64)])
}

fn enum_added(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !is_text(node) || node.get("default").is_some() {
        return None;
    }
    set(node, "enum", json!(["Listed", "AlsoListed"]));
    trying(texts())
}

fn enum_of_integers(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if type_of(node) != "integer" || node.get("default").is_some() || node.get("enum").is_some() {
        return None;
    }
    set(node, "enum", json!([1, 2, 3]));
    trying([json!(4), json!(5), json!(1000)])
}

fn members(node: &mut Json) -> Option<&mut Vec<Json>> {
    node.get_mut("enum")?.as_array_mut().filter(|members| members.len() > 1)
}

fn enum_value_removed(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let default = node.get("default").cloned();
    let members = members(node)?;
    let value = members.remove(random.below(members.len()));
    if default.as_ref() == Some(&value) {
        return None;
    }
    trying([value])
}

fn enum_value_renamed(node: &mut Json, random: &mut Random) -> Option<Seeded> {
    let default = node.get("default").cloned();
    let members = members(node)?;
    let at = random.below(members.len());
    let value = members[at].clone();
    if default.as_ref() == Some(&value) {
        return None;
    }
    members[at] = json!(format!("{}Renamed", value.as_str()?));
    trying([value])
}

fn enum_value_added(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    members(node)?.first()?.as_str()?;
    members(node)?.push(json!("AddedLater"));
    trying([json!("AddedLater")])
}

fn numbers() -> Vec<Json> {
    [-1000, -1, 0, 1, 2, 3, 7, 10, 49, 50, 51, 1000, 65_536, 1_000_000].map(|number| json!(number)).to_vec()
}

fn maximum_added(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !is_number(node) || node.get("maximum").is_some() {
        return None;
    }
    set(node, "maximum", 50);
    trying(numbers())
}

fn maximum_lowered(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let most = node.get("maximum")?.as_i64().filter(|_| is_number(node))?;
    set(node, "maximum", most - 1);
    trying([json!(most)])
}

fn minimum_added(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !is_number(node) || node.get("minimum").is_some() {
        return None;
    }
    set(node, "minimum", 2);
    trying(numbers())
}

fn minimum_raised(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let least = node.get("minimum")?.as_i64().filter(|_| is_number(node))?;
    set(node, "minimum", least + 1);
    trying([json!(least)])
}

fn minimum_exclusive(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let least = node.get("minimum")?.clone();
    if is_set(node, "exclusiveMinimum") {
        return None;
    }
    set(node, "exclusiveMinimum", true);
    trying([least])
}

fn maximum_exclusive(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    let most = node.get("maximum")?.clone();
    if is_set(node, "exclusiveMaximum") {
        return None;
    }
    set(node, "exclusiveMaximum", true);
    trying([most])
}

fn multiple_of(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !is_number(node) || node.get("multipleOf").is_some() {
        return None;
    }
    set(node, "multipleOf", 5);
    trying(numbers())
}

fn not_nullable(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if !is_set(node, "nullable") {
        return None;
    }
    unset(node, "nullable");
    trying([Json::Null])
}

fn nullable(node: &mut Json, _: &mut Random) -> Option<Seeded> {
    if is_set(node, "nullable") || node.get("default").is_some() || node.get("enum").is_some() {
        return None;
    }
    set(node, "nullable", true);
    trying([Json::Null])
}
