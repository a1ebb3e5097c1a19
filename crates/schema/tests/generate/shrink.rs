//! The smallest case that still fails. Strategies that depend on one another shrink badly by themselves.

use serde_json::Value;

use super::Case;

/// Takes away whatever can be taken away while the case still fails, and says why it does.
pub(crate) fn shrink<E>(mut case: Case, fails: impl Fn(&Case) -> Option<E>, failure: E) -> (Case, E) {
    let mut failure = failure;
    'smaller: loop {
        for candidate in smaller(&case) {
            if let Some(found) = fails(&candidate) {
                (case, failure) = (candidate, found);
                continue 'smaller;
            }
        }
        return (case, failure);
    }
}

/// Every case with one part less.
fn smaller(case: &Case) -> Vec<Case> {
    let documents = Value::Array(case.documents.clone());
    let mut candidates = Vec::new();
    without_one(&documents, &mut |documents| {
        let Value::Array(documents) = documents else { return };
        candidates.push(Case { documents, ..case.clone() });
    });
    without_one(&case.schema, &mut |schema| candidates.push(Case { schema, ..case.clone() }));
    if case.root {
        candidates.push(Case { root: false, ..case.clone() });
    }
    candidates
}

/// Every value with one entry or item less, the large ones first.
fn without_one(value: &Value, found: &mut dyn FnMut(Value)) {
    match value {
        Value::Object(entries) => {
            for key in entries.keys() {
                let mut fewer = entries.clone();
                fewer.remove(key);
                found(Value::Object(fewer));
            }
            for (key, below) in entries {
                without_one(below, &mut |below| {
                    let mut changed = entries.clone();
                    changed.insert(key.clone(), below);
                    found(Value::Object(changed));
                });
            }
        }
        Value::Array(items) => {
            for index in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(index);
                found(Value::Array(fewer));
            }
            for (index, below) in items.iter().enumerate() {
                without_one(below, &mut |below| {
                    let mut changed = items.clone();
                    changed[index] = below;
                    found(Value::Array(changed));
                });
            }
        }
        _ => {}
    }
}
