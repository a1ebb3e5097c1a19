//! A document that is much like another one: what an update might replace.

use serde_json::{Map, Value};

/// Mostly the first document, with some of the second in it, and some lists the other way round.
pub(crate) fn blend(first: &Value, second: &Value) -> Value {
    Blend { state: 7 }.value(first, second)
}

struct Blend {
    state: u64,
}

impl Blend {
    /// Yes, so many times out of ten.
    fn chance(&mut self, times: u64) -> bool {
        // A linear congruential generator is random enough for this.
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % 10 < times
    }

    fn value(&mut self, first: &Value, second: &Value) -> Value {
        if self.chance(4) {
            return first.clone();
        }
        match (first, second) {
            (Value::Object(first), Value::Object(second)) => {
                let mut fields = Map::new();
                for (name, field) in first {
                    match second.get(name) {
                        Some(other) => fields.insert(name.clone(), self.value(field, other)),
                        None if self.chance(8) => fields.insert(name.clone(), field.clone()),
                        None => None,
                    };
                }
                for (name, field) in second.iter().filter(|(name, _)| !first.contains_key(*name)) {
                    if self.chance(3) {
                        fields.insert(name.clone(), field.clone());
                    }
                }
                Value::Object(fields)
            }
            (Value::Array(first), Value::Array(second)) => {
                let others = second.iter().chain(std::iter::repeat(&Value::Null));
                let mut items: Vec<Value> = first.iter().zip(others).map(|(a, b)| self.value(a, b)).collect();
                if self.chance(5) {
                    items.reverse();
                }
                Value::Array(items)
            }
            _ if self.chance(7) => first.clone(),
            _ => second.clone(),
        }
    }
}
