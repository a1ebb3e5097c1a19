//! Lists whose items all stayed in their places, which is what most writes leave.
//!
//! Of two lists of one length, every item continues the one in its place if no other reading is possible. That is known
//! without a search
//! - with keys, if every place has the key that it had, and no two places have the same;
//! - without keys, if one item was edited at most; or if no edited item looks like what another edited one was, and none
//!   gained a value that another one lost. Then the places pair the most equal items and leave gaps of one length, and
//!   no evidence speaks for another pair.

use std::cell::Cell;

use wheelwright_document::{Entry, Value};

use super::{
    evidence::{each_value, in_field, in_item},
    looks::fold,
};
use crate::lens::same::{by_key, equal, equal_option, find, quick_hash};

/// Whether every written item is known to continue the stored one in its place. If not, that may still be found.
pub(super) fn all_stay(new: &[Value<'_>], old: &[Value<'_>], keys: &[Box<str>]) -> bool {
    new.len() == old.len()
        && match keys {
            [] => new.len() == 1 || stay_by_likeness(new, old),
            keys => stay_by_keys(new, old, keys),
        }
}

fn stay_by_keys(new: &[Value<'_>], old: &[Value<'_>], keys: &[Box<str>]) -> bool {
    let hash_of_keys = |item: &Value<'_>| {
        keys.iter().fold(23, |sum: u64, key| sum.rotate_left(7) ^ item.get(key).map_or(29, quick_hash))
    };
    new.iter().zip(old).all(|(new, old)| have_equal_keys(*new, *old, keys))
        && are_distinct(old.iter().map(hash_of_keys).collect())
}

fn have_equal_keys(new: Value<'_>, old: Value<'_>, keys: &[Box<str>]) -> bool {
    keys.iter().all(|key| equal_option(new.get(key), old.get(key)))
}

fn are_distinct(mut hashes: Vec<u64>) -> bool {
    hashes.sort_unstable();
    hashes.is_sorted_by(|a, b| a < b)
}

fn stay_by_likeness(new: &[Value<'_>], old: &[Value<'_>]) -> bool {
    let mut edits = Edits::default();
    for (new, old) in new.iter().zip(old) {
        edits.compare_items(*new, *old);
    }
    edits.places.len() <= 1 || !edits.pass_on_values() && !edits.exchange_items(new, old)
}

/// What was edited in the places of two lists.
#[derive(Default)]
struct Edits {
    /// The places of the edited items.
    places: Vec<usize>,
    /// Values that an item has, and that the one in its place had not; with its position in `places`.
    gained: Vec<(u32, usize)>,
    /// Values that the one in its place had.
    lost: Vec<(u32, usize)>,
    /// How many places were compared.
    compared: usize,
}

impl Edits {
    fn compare_items(&mut self, new: Value<'_>, old: Value<'_>) {
        if self.compare(new, old, &Path::root()) {
            self.places.push(self.compared);
        }
        self.compared += 1;
    }

    /// Collects the values in which two items differ; whether they do.
    fn compare(&mut self, new: Value<'_>, old: Value<'_>, path: &Path<'_>) -> bool {
        match (new, old) {
            (Value::Object(new), Value::Object(old)) => self.compare_entries(new, old, path),
            (Value::Array(new), Value::Array(old)) => {
                let path = Path::below(path, Step::Item);
                let rest = new.len().min(old.len());
                let differs = new.iter().zip(old).fold(false, |any, (new, old)| self.compare(*new, *old, &path) | any);
                new[rest..].iter().for_each(|item| self.gain(*item, &path));
                old[rest..].iter().for_each(|item| self.lose(*item, &path));
                differs || new.len() != old.len()
            }
            (new, old) if equal(new, old) => false,
            (new, old) => {
                self.gain(new, path);
                self.lose(old, path);
                true
            }
        }
    }

    fn compare_entries(&mut self, new: &[Entry<'_>], old: &[Entry<'_>], path: &Path<'_>) -> bool {
        // Keys mostly come in one order.
        let in_order = new.iter().zip(old).take_while(|(new, old)| new.key == old.key).count();
        let mut differs = false;
        for (new, old) in new[..in_order].iter().zip(old) {
            differs |= self.compare(new.value, old.value, &Path::below(path, Step::Field(new.key)));
        }
        let (new, old) = (by_key(&new[in_order..]), by_key(&old[in_order..]));
        for entry in &new {
            let path = Path::below(path, Step::Field(entry.key));
            match find(&old, entry.key) {
                Some(old) => differs |= self.compare(entry.value, old, &path),
                None => {
                    self.gain(entry.value, &path);
                    differs = true;
                }
            }
        }
        for entry in old.iter().filter(|entry| find(&new, entry.key).is_none()) {
            self.lose(entry.value, &Path::below(path, Step::Field(entry.key)));
            differs = true;
        }
        differs
    }

    fn gain(&mut self, value: Value<'_>, path: &Path<'_>) {
        each_value(value, path.hash(), &mut |value| self.gained.push((fold(value), self.places.len())));
    }

    fn lose(&mut self, value: Value<'_>, path: &Path<'_>) {
        each_value(value, path.hash(), &mut |value| self.lost.push((fold(value), self.places.len())));
    }

    /// Whether an item gained a value that another one lost.
    fn pass_on_values(&mut self) -> bool {
        self.lost.sort_unstable();
        self.lost.dedup();
        self.gained.iter().any(|(value, item)| {
            let first = self.lost.partition_point(|(lost, _)| lost < value);
            self.lost[first..].iter().take_while(|(lost, _)| lost == value).any(|(_, other)| other != item)
        })
    }

    /// Whether an edited item may look like what another one was.
    fn exchange_items(&self, new: &[Value<'_>], old: &[Value<'_>]) -> bool {
        let hashes = |items: &[Value<'_>]| {
            let mut hashes: Vec<u64> = self.places.iter().map(|place| quick_hash(items[*place])).collect();
            hashes.sort_unstable();
            hashes
        };
        let old = hashes(old);
        hashes(new).iter().any(|hash| old.binary_search(hash).is_ok())
    }
}

/// Where a value is in its item. It is hashed only if something there was edited.
struct Path<'p> {
    above: Option<(&'p Path<'p>, Step<'p>)>,
    hash: Cell<Option<u64>>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Field(&'p str),
    Item,
}

impl<'p> Path<'p> {
    fn root() -> Self {
        Self { above: None, hash: Cell::new(Some(0)) }
    }

    fn below(above: &'p Self, step: Step<'p>) -> Self {
        Self { above: Some((above, step)), hash: Cell::new(None) }
    }

    fn hash(&self) -> u64 {
        let hash = || match self.above {
            None => 0,
            Some((above, Step::Field(name))) => in_field(above.hash(), name),
            Some((above, Step::Item)) => in_item(above.hash()),
        };
        let hash = self.hash.get().unwrap_or_else(hash);
        self.hash.set(Some(hash));
        hash
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::Index};
    use wheelwright_document::{Arena, decode};

    use super::{
        super::{Values, evidence::identifying, match_lists},
        *,
    };

    /// Items of few values, of which many are equal or nearly so.
    fn item() -> impl Strategy<Value = String> {
        let value = proptest::sample::select(vec!["0", "1", "2", "1.0", r#""x""#]);
        let field = prop_oneof![
            3 => value.clone().prop_map(|value| format!(r#""a":{value}"#)),
            3 => value.clone().prop_map(|value| format!(r#""b":{value}"#)),
            1 => vec(value, 0..3).prop_map(|values| format!(r#""c":[{}]"#, values.join(","))),
            1 => any::<bool>().prop_map(|value| format!(r#""d":{{"e":{value}}}"#)),
        ];
        vec(field, 0..4).prop_map(|mut fields| {
            fields.sort_by_key(|field| field.as_bytes()[1]);
            fields.dedup_by_key(|field| field.as_bytes()[1]);
            if fields.len() == 3 {
                fields.reverse();
            }
            format!("{{{}}}", fields.join(","))
        })
    }

    /// A list, and the same with some items replaced and some exchanged.
    fn lists() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
        let edits = vec((any::<Index>(), item()), 0..4);
        let exchanges = vec((any::<Index>(), any::<Index>()), 0..2);
        (vec(item(), 1..7), edits, exchanges).prop_map(|(old, edits, exchanges)| {
            let mut new = old.clone();
            edits.into_iter().for_each(|(at, item)| *at.get_mut(&mut new) = item);
            exchanges.into_iter().for_each(|(a, b)| new.swap(a.index(old.len()), b.index(old.len())));
            (new, old)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn lists_that_stay_are_those_that_the_search_leaves_in_their_places(
            (new, old) in lists(),
            hidden in vec(0..3_u32, 7),
            keys in prop_oneof![Just(vec![]), Just(vec!["a"]), Just(vec!["a", "b"])],
            default in proptest::option::of(item()),
        ) {
            let arena = Arena::new();
            let [new, old] = [new, old].map(|items| {
                let text = arena.text(&format!("[{}]", items.join(",")));
                decode(text.as_bytes(), &arena).unwrap().as_array().unwrap()
            });
            let keys: Vec<Box<str>> = keys.into_iter().map(Into::into).collect();
            let default = default.map(|item| [decode(arena.text(&item).as_bytes(), &arena).unwrap()]);
            let mut defaults = default.map(|items| identifying(&items).concat()).unwrap_or_default();
            defaults.sort_unstable();

            let mut lists = Values { new, old, keys: &keys, hidden: |stored| hidden[stored] };
            let found = match_lists(&mut lists, !keys.is_empty(), &defaults);
            let in_place: Vec<_> = (0..new.len()).map(Some).collect();
            let stay = all_stay(new, old, &keys);
            prop_assert!(!stay || found == in_place, "found {found:?}");
            let edited = new.iter().zip(old).filter(|(new, old)| !equal(**new, **old)).count();
            prop_assert!(stay || edited > 1 || !keys.is_empty(), "no search is needed where one item is edited at most");
        }
    }
}
