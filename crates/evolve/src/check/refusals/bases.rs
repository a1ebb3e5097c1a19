//! Documents that a version accepts, over which small ones are laid: a small document alone may break a rule that has
//! nothing to do with the field that it is about.

use wheelwright_document::{Arena, Owned};

use super::super::diff::spelled;
use crate::laws::{Generator, Random};

/// How many documents are used.
const BASES: usize = 6;
/// How many accepted ones these are chosen from, and how many are generated for that.
const ACCEPTED: usize = 18;
const GENERATED: usize = 200;

/// The shortest of some documents that are accepted.
pub(super) fn bases(generator: &Generator, is_valid: impl Fn(&Owned) -> bool, random: &mut Random) -> Vec<Owned> {
    let generated = (0..GENERATED).map(|_| Owned::from(generator.generate_reaching(&[], random, &Arena::new())));
    let mut found: Vec<Owned> = generated.filter(is_valid).take(ACCEPTED).collect();
    found.sort_by_key(|document| spelled(document).len());
    found.truncate(BASES);
    found
}

/// A document with another one laid over it: fields of both are those of the upper one. Of a list, the first item is laid
/// over the first.
pub(super) fn laid_over(base: &Owned, upper: &Owned) -> Owned {
    match (base, upper) {
        (Owned::Object(base), Owned::Object(upper)) => {
            let below = |name: &str| base.iter().find(|(other, _)| **other == *name).map(|(_, value)| value);
            let laid = |(name, value): &(Box<str>, Owned)| {
                let value = below(name).map_or_else(|| value.clone(), |base| laid_over(base, value));
                (name.clone(), value)
            };
            let is_left = |name: &str| upper.iter().all(|(other, _)| **other != *name);
            let rest = base.iter().filter(|(name, _)| is_left(name)).cloned();
            Owned::Object(upper.iter().map(laid).chain(rest).collect())
        }
        (Owned::Array(base), Owned::Array(upper)) => {
            let first =
                upper.first().map(|upper| base.first().map_or_else(|| upper.clone(), |base| laid_over(base, upper)));
            Owned::Array(first.into_iter().chain(base.iter().skip(1).cloned()).collect())
        }
        (_, upper) => upper.clone(),
    }
}
