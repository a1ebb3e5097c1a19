//! The units that names of numbers end with: `timeoutSeconds`, `sizeBytes`.

/// A name that ends with a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Measured<'n> {
    /// The name without its unit.
    pub(crate) stem: &'n str,
    /// What is measured.
    pub(crate) quantity: Quantity,
    /// How much the unit is, in the smallest one of its quantity.
    pub(crate) size: u64,
}

/// What a number measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quantity {
    Time,
    Bytes,
}

/// A second, in milliseconds, which are the smallest unit of time that is told.
pub(crate) const SECOND: u64 = 1000;

/// Longer names first, for one may end with another.
const UNITS: [(&str, Quantity, u64); 16] = [
    ("Milliseconds", Quantity::Time, 1),
    ("Millis", Quantity::Time, 1),
    ("Seconds", Quantity::Time, SECOND),
    ("Secs", Quantity::Time, SECOND),
    ("Sec", Quantity::Time, SECOND),
    ("Minutes", Quantity::Time, 60 * SECOND),
    ("Hours", Quantity::Time, 3600 * SECOND),
    ("Days", Quantity::Time, 86400 * SECOND),
    ("Ms", Quantity::Time, 1),
    ("KiB", Quantity::Bytes, 1 << 10),
    ("MiB", Quantity::Bytes, 1 << 20),
    ("GiB", Quantity::Bytes, 1 << 30),
    ("TiB", Quantity::Bytes, 1 << 40),
    ("InBytes", Quantity::Bytes, 1),
    ("Bytes", Quantity::Bytes, 1),
    ("bytes", Quantity::Bytes, 1),
];

/// A name and the unit it ends with, if it does.
pub(crate) fn measured(name: &str) -> Option<Measured<'_>> {
    let (ending, quantity, size) = UNITS.iter().find(|(ending, ..)| name.ends_with(ending))?;
    let stem = name.strip_suffix(ending)?;
    let stem = stem.strip_suffix("In").unwrap_or(stem).trim_end_matches(['_', '-']);
    Some(Measured { stem, quantity: *quantity, size: *size })
}

/// Whether two names are of one thing in two units: a rename would say that a number of one is as many of the other.
pub(crate) fn differ_in_unit(a: &str, b: &str) -> bool {
    measured(a).zip(measured(b)).is_some_and(|(a, b)| a.quantity == b.quantity && a.stem == b.stem && a.size != b.size)
}

/// Whether a name is that of a span of time.
pub(crate) fn is_time(name: &str) -> bool {
    ends_with_one(name, &["timeout", "period", "interval", "duration", "delay", "ttl", "deadline", "expiry", "age"])
}

/// Whether a name is that of an amount, such as Kubernetes writes with `Mi` or `m`.
pub(crate) fn is_amount(name: &str) -> bool {
    ends_with_one(name, &["size", "memory", "storage", "cpu", "capacity", "quota", "bytes"])
}

fn ends_with_one(name: &str, words: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    words.iter().any(|word| name.ends_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_end_with_its_unit() {
        let told = |name| measured(name).map(|found| (found.stem, found.quantity, found.size));
        assert_eq!(told("timeoutSeconds"), Some(("timeout", Quantity::Time, 1000)));
        assert_eq!(told("timeoutInMilliseconds"), Some(("timeout", Quantity::Time, 1)));
        assert_eq!(told("size_bytes"), Some(("size", Quantity::Bytes, 1)));
        assert_eq!(told("diskSizeGiB"), Some(("diskSize", Quantity::Bytes, 1 << 30)));
        assert_eq!(told("timeout"), None);
    }

    #[test]
    fn one_thing_in_two_units_is_no_rename() {
        assert!(differ_in_unit("timeoutSeconds", "timeoutMinutes"));
        assert!(!differ_in_unit("timeoutSeconds", "timeoutSecs"));
        assert!(!differ_in_unit("timeoutSeconds", "periodMinutes"));
        assert!(!differ_in_unit("timeout", "timeoutSeconds"));
    }
}
