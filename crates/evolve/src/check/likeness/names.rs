//! Names of fields, compared letter by letter and word by word.

use std::collections::BTreeSet;

use crate::check::Evidence;

/// Longer names are not compared.
const LONGEST: usize = 64;

/// How two different names are alike.
pub(crate) fn names_alike(a: &str, b: &str) -> Option<Evidence> {
    if a.len() > LONGEST || b.len() > LONGEST || a == b || are_opposites(a, b) {
        return None;
    }
    let plain = |name: &str| name.replace(['-', '_'], "").to_lowercase();
    let (a, b) = (plain(a), plain(b));
    let (short, long) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    if a == b {
        Some(Evidence::Case)
    } else if is_plural(short, long) {
        Some(Evidence::Plural)
    } else if wheelwright_schema::closest_of([b.as_str()].into_iter(), &a).is_some() {
        Some(Evidence::Letters)
    } else if short.len() >= 3
        && (long.contains(short.as_str()) && long.len() <= 3 * short.len() || is_short_for(short, long))
    {
        Some(Evidence::Contained)
    } else {
        None
    }
}

/// Words that name opposites.
const OPPOSITES: [(&str, &str); 22] = [
    ("min", "max"),
    ("minimum", "maximum"),
    ("start", "stop"),
    ("start", "end"),
    ("begin", "end"),
    ("before", "after"),
    ("first", "last"),
    ("source", "target"),
    ("source", "destination"),
    ("read", "write"),
    ("reader", "writer"),
    ("lower", "upper"),
    ("allow", "deny"),
    ("allowed", "denied"),
    ("include", "exclude"),
    ("included", "excluded"),
    ("public", "private"),
    ("internal", "external"),
    ("ingress", "egress"),
    ("client", "server"),
    ("request", "limit"),
    ("input", "output"),
];

/// Whether two names say the contrary of each other, such as `available` and `unavailable`, or `minSize` and `maxSize`.
pub(crate) fn are_opposites(a: &str, b: &str) -> bool {
    let plain = |name: &str| name.replace(['-', '_'], "").to_lowercase();
    let (plain_a, plain_b) = (plain(a), plain(b));
    let (short, long) = if plain_a.len() <= plain_b.len() { (&plain_a, &plain_b) } else { (&plain_b, &plain_a) };
    let negated = |prefix: &str| long.strip_prefix(prefix) == Some(short.as_str());
    if ["un", "in", "im", "dis", "de", "non", "not", "no"].iter().any(|prefix| negated(prefix))
        || long.strip_prefix("dis").zip(short.strip_prefix("en")).is_some_and(|(long, short)| long == short)
    {
        return true;
    }
    let (a, b) = (words(a), words(b));
    let (only_a, only_b): (BTreeSet<&String>, BTreeSet<&String>) =
        (a.difference(&b).collect(), b.difference(&a).collect());
    let has = |words: &BTreeSet<&String>, word: &str| words.iter().any(|one| *one == word);
    let differ = |one: &str, other: &str| has(&only_a, one) && has(&only_b, other);
    OPPOSITES.iter().any(|(one, other)| differ(one, other) || differ(other, one))
}

fn is_plural(singular: &str, plural: &str) -> bool {
    let with = |ending: &str| plural.strip_suffix(ending) == Some(singular);
    let ies =
        plural.strip_suffix("ies").zip(singular.strip_suffix('y')).is_some_and(|(plural, singular)| plural == singular);
    with("s") || with("es") || with("list") || ies
}

/// Whether a word is made of letters of a longer one, from its first to its last: `qty` and `quantity`.
fn is_short_for(short: &str, long: &str) -> bool {
    let mut letters = long.chars();
    let in_order = short.chars().all(|letter| letters.any(|candidate| candidate == letter));
    in_order && short.chars().next() == long.chars().next() && short.chars().last() == long.chars().last()
}

/// The words of a name in lower case and singular: `priorityClassRefs` is `priority`, `class` and `ref`.
pub(crate) fn words(name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut word = String::new();
    let letters: Vec<char> = name.chars().take(2 * LONGEST).collect();
    for (position, letter) in letters.iter().enumerate() {
        let before = position.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(position + 1);
        let begins = letter.is_uppercase()
            && (before.is_some_and(|before| !before.is_uppercase()) || after.is_some_and(|after| after.is_lowercase()));
        if begins || !letter.is_alphanumeric() {
            found.extend(singular(std::mem::take(&mut word)));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
    }
    found.extend(singular(word));
    found
}

fn singular(word: String) -> Option<String> {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with(['s', 'u', 'i']) => Some(stem.to_owned()),
        _ => (!word.is_empty()).then_some(word),
    }
}

/// Words that say so little that fields of that name have nothing in common.
const COMMON_WORDS: [&str; 40] = [
    "annotation",
    "api",
    "condition",
    "config",
    "configuration",
    "data",
    "default",
    "enable",
    "enabled",
    "id",
    "key",
    "kind",
    "label",
    "list",
    "max",
    "message",
    "metadata",
    "min",
    "mode",
    "name",
    "namespace",
    "object",
    "of",
    "option",
    "phase",
    "policy",
    "reason",
    "ref",
    "reference",
    "setting",
    "size",
    "spec",
    "state",
    "status",
    "strategy",
    "template",
    "time",
    "type",
    "value",
    "version",
];

/// Whether a word tells fields apart.
pub(crate) fn is_telling(word: &str) -> bool {
    COMMON_WORDS.binary_search(&word).is_err()
}

/// Whether two names have at least half of the words of the shorter one in common, and one that tells fields apart.
pub(crate) fn have_common_words(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let common: Vec<&String> = a.intersection(b).collect();
    2 * common.len() >= a.len().min(b.len()) && common.iter().any(|word| is_telling(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_alike_by_case_number_letters_or_abbreviation() {
        for (a, b, likeness) in [
            ("podCIDR", "podCidr", Evidence::Case),
            ("max_surge", "maxSurge", Evidence::Case),
            ("zone", "zones", Evidence::Plural),
            ("policies", "policy", Evidence::Plural),
            ("recieved", "received", Evidence::Letters),
            ("qty", "quantity", Evidence::Contained),
            ("healthCheck", "machineHealthCheck", Evidence::Contained),
        ] {
            assert_eq!(names_alike(a, b), Some(likeness), "{a} {b}");
            assert_eq!(names_alike(b, a), Some(likeness), "{b} {a}");
        }
        for (a, b) in [
            ("name", "type"),
            ("id", "identity"),
            ("class", "reference"),
            ("a", "b"),
            ("availableReplicas", "unavailableReplicas"),
            ("enabled", "disabled"),
            ("minReplicas", "maxReplicas"),
            ("startTime", "endTime"),
        ] {
            assert_eq!(names_alike(a, b), None, "{a} {b}");
            assert_eq!(names_alike(b, a), None, "{b} {a}");
        }
    }

    #[test]
    fn names_are_split_into_words_in_the_singular() {
        let split = |name| words(name).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(split("priorityClassRefs"), "class priority ref");
        assert_eq!(split("podCIDRBlocks"), "block cidr pod");
        assert_eq!(split("max_surge-percent"), "max percent surge");
        assert_eq!(split("status"), "status");
        assert_eq!(split(""), "");
    }

    #[test]
    fn common_words_are_sorted() {
        assert!(COMMON_WORDS.is_sorted());
        assert!(is_telling("replica") && !is_telling("name"));
    }
}
