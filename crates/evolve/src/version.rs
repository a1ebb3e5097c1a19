//! The names of versions, and the order in which they came.

use std::{cmp::Ordering, fmt};

use wheelwright_findings::Level;

/// The name of a published version, such as `v1beta2` or `2024-06-10-preview`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VersionName(Box<str>);

/// How much its authors promise of a version. Stable ones come last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Maturity {
    /// `v1alpha1`.
    Alpha,
    /// `v1beta1`, or a dated version with `-preview`.
    Preview,
    /// `v1`, `2024-06-10`, and every name that says nothing.
    Stable,
}

impl Maturity {
    /// The gravest level of findings about such versions, unless a catalog sets another one.
    pub fn gravest(self) -> Level {
        match self {
            Self::Alpha | Self::Preview => Level::Warning,
            Self::Stable => Level::Error,
        }
    }
}

impl VersionName {
    /// A name as it is written.
    pub fn new(name: impl Into<Box<str>>) -> Self {
        Self(name.into())
    }

    /// The name as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How much the name promises.
    pub fn maturity(&self) -> Maturity {
        match Age::of(&self.0) {
            Age::Numbered { maturity, .. } => maturity,
            Age::Dated { preview: true, .. } => Maturity::Preview,
            Age::Dated { .. } | Age::Unknown => Maturity::Stable,
        }
    }

    /// Which of two versions came first, as far as their names tell: by major number, maturity and minor number, or by
    /// date. `None` if they are not of one sort.
    pub fn compare_age(&self, other: &Self) -> Option<Ordering> {
        match (Age::of(&self.0), Age::of(&other.0)) {
            (Age::Unknown, _) | (_, Age::Unknown) => (self == other).then_some(Ordering::Equal),
            (a @ Age::Numbered { .. }, b @ Age::Numbered { .. }) => Some(a.cmp(&b)),
            (a @ Age::Dated { .. }, b @ Age::Dated { .. }) => Some(a.cmp(&b)),
            _ => None,
        }
    }
}

impl fmt::Display for VersionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a name says about when a version came. A preview comes before the stable version of the same day.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Age<'n> {
    Numbered { major: u64, maturity: Maturity, minor: u64 },
    Dated { date: &'n str, stable: bool, preview: bool },
    Unknown,
}

impl<'n> Age<'n> {
    fn of(name: &'n str) -> Self {
        Self::numbered(name).or_else(|| Self::dated(name)).unwrap_or(Self::Unknown)
    }

    /// `v1`, `v1alpha1`, `v2beta3`. Dates without dashes, `v20140404`, are numbers as well, and come in the right order.
    fn numbered(name: &str) -> Option<Self> {
        let rest = name.strip_prefix('v')?;
        let (major, rest) = number(rest)?;
        if rest.is_empty() {
            return Some(Self::Numbered { major, maturity: Maturity::Stable, minor: 0 });
        }
        let (maturity, rest) = match (rest.strip_prefix("alpha"), rest.strip_prefix("beta")) {
            (Some(rest), _) => (Maturity::Alpha, rest),
            (_, Some(rest)) => (Maturity::Preview, rest),
            _ => return None,
        };
        let (minor, rest) = if rest.is_empty() { (0, rest) } else { number(rest)? };
        rest.is_empty().then_some(Self::Numbered { major, maturity, minor })
    }

    /// `2024-06-10` or `2024-06-10-preview`; words after the date other than `preview` are previews too.
    fn dated(name: &'n str) -> Option<Self> {
        let date = name.get(..10)?;
        let bytes = date.as_bytes();
        let is_date = bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        let rest = &name[10..];
        let preview = rest.starts_with('-');
        (is_date && (preview || rest.is_empty())).then_some(Self::Dated { date, stable: !preview, preview })
    }
}

/// The digits that a text begins with, and what follows them.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_major_number_maturity_and_minor_number() {
        let names = ["v1alpha1", "v1alpha2", "v1beta1", "v1beta10", "v1", "v2alpha1", "v2", "v20140404"];
        for pair in names.windows(2) {
            let [earlier, later] = [VersionName::new(pair[0]), VersionName::new(pair[1])];
            assert_eq!(earlier.compare_age(&later), Some(Ordering::Less), "{earlier} {later}");
        }
    }

    #[test]
    fn dated_versions_are_ordered_by_date_with_previews_first() {
        let names = ["2024-06-10-preview", "2024-06-10", "2025-12-23-preview", "2026-01-01"];
        for pair in names.windows(2) {
            let [earlier, later] = [VersionName::new(pair[0]), VersionName::new(pair[1])];
            assert_eq!(earlier.compare_age(&later), Some(Ordering::Less), "{earlier} {later}");
        }
        assert_eq!(VersionName::new("2024-06-10-preview").maturity(), Maturity::Preview);
        assert_eq!(VersionName::new("2024-06-10").maturity(), Maturity::Stable);
    }

    #[test]
    fn names_of_different_sorts_say_nothing_about_their_order() {
        assert_eq!(VersionName::new("v1").compare_age(&VersionName::new("2024-06-10")), None);
        assert_eq!(VersionName::new("stable").compare_age(&VersionName::new("latest")), None);
        assert_eq!(VersionName::new("2024-06-1").maturity(), Maturity::Stable);
    }
}
