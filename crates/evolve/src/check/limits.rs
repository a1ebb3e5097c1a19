//! Bounds, lengths and counts of two versions of a schema.

use wheelwright_schema::Schema;

use super::Limit;

/// The bounds, lengths and counts that are not the same in two schemas.
pub(crate) fn limits(before: &Schema, after: &Schema) -> Vec<Limit> {
    let (a, b) = (&before.checks, &after.checks);
    let counts = [
        ("minLength", a.min_length, b.min_length, Side::Least),
        ("maxLength", a.max_length, b.max_length, Side::Most),
        ("minItems", a.min_items, b.min_items, Side::Least),
        ("maxItems", a.max_items, b.max_items, Side::Most),
        ("minProperties", a.min_properties, b.min_properties, Side::Least),
        ("maxProperties", a.max_properties, b.max_properties, Side::Most),
    ];
    let mut changes: Vec<Limit> = counts
        .into_iter()
        .filter(|(_, before, after, _)| before != after)
        .map(|(keyword, before, after, side)| {
            // Nothing is shorter than nothing.
            let least = matches!(side, Side::Least).then_some(0);
            let tightened =
                is_tighter(before.or(least).map(|count| count as f64), after.map(|count| count as f64), side);
            limit(keyword, before, after, tightened)
        })
        .collect();
    let bounds = [
        ("minimum", (a.minimum, a.exclusive_minimum), (b.minimum, b.exclusive_minimum), Side::Least),
        ("maximum", (a.maximum, a.exclusive_maximum), (b.maximum, b.exclusive_maximum), Side::Most),
    ];
    for (keyword, before, after, side) in bounds {
        if before != after && (before.0.is_some() || after.0.is_some()) {
            let excludes_more = before.0 == after.0 && after.1;
            let spelled = |(bound, exclusive): (Option<f64>, bool)| {
                bound.map(|bound| if exclusive { format!("{bound} (exclusive)") } else { bound.to_string() })
            };
            let tightened = excludes_more || is_tighter(before.0, after.0, side);
            changes.push(limit(keyword, spelled(before), spelled(after), tightened));
        }
    }
    if a.multiple_of != b.multiple_of {
        let still_multiples = match (a.multiple_of, b.multiple_of) {
            (Some(before), Some(after)) => before % after == 0.0,
            (_, after) => after.is_none(),
        };
        changes.push(limit("multipleOf", a.multiple_of, b.multiple_of, !still_multiples));
    }
    if a.unique_items != b.unique_items {
        changes.push(limit("uniqueItems", Some(a.unique_items), Some(b.unique_items), b.unique_items));
    }
    changes
}

impl Limit {
    /// Whether it refuses nothing but the empty value, which hardly anybody means.
    pub(crate) fn refuses_only_empty(&self) -> bool {
        matches!(self.keyword, "minLength" | "minItems" | "minProperties")
            && matches!(self.before.as_deref(), None | Some("0"))
            && self.after.as_deref() == Some("1")
    }
}

#[derive(Clone, Copy)]
enum Side {
    Least,
    Most,
}

fn is_tighter(before: Option<f64>, after: Option<f64>, side: Side) -> bool {
    match (before, after, side) {
        (_, None, _) => false,
        (None, Some(_), _) => true,
        (Some(before), Some(after), Side::Least) => after > before,
        (Some(before), Some(after), Side::Most) => after < before,
    }
}

fn limit(keyword: &'static str, before: Option<impl ToString>, after: Option<impl ToString>, tightened: bool) -> Limit {
    let (before, after) = (before.map(|limit| limit.to_string()), after.map(|limit| limit.to_string()));
    Limit { keyword, before, after, tightened }
}
