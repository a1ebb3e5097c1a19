//! Semantic versions.

use std::cmp::Ordering;

/// A version such as `1.2.3-alpha.1+build`. What follows the `+` does not count when versions are compared.
#[derive(Clone, Copy, Debug)]
pub struct SemanticVersion<'t> {
    major: u64,
    minor: u64,
    patch: u64,
    /// Identifiers with dots between them, or nothing.
    prerelease: &'t str,
}

impl<'t> SemanticVersion<'t> {
    /// Reads a version as semver.org writes it.
    pub fn parse(text: &'t str) -> Option<Self> {
        Self::read(text, false)
    }

    /// Reads a version that may start with `v`, lack the patch or the minor number, and have leading zeros.
    pub fn parse_normalized(text: &'t str) -> Option<Self> {
        Self::read(text.strip_prefix('v').unwrap_or(text), true)
    }

    /// The first number, wrapped where it does not fit, as in the reference.
    pub fn major(self) -> i64 {
        self.major as i64
    }

    /// The second number, wrapped where it does not fit, as in the reference.
    pub fn minor(self) -> i64 {
        self.minor as i64
    }

    /// The third number, wrapped where it does not fit, as in the reference.
    pub fn patch(self) -> i64 {
        self.patch as i64
    }

    /// The identifiers that make it come before the release, with dots between them, or nothing.
    pub fn prerelease(self) -> &'t str {
        self.prerelease
    }

    fn read(text: &'t str, normalize: bool) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let missing = normalize.then_some("0");
        let read_number = |digits: &str, part: &str| if normalize { normalized(digits, part) } else { number(digits) };
        let major = parts.next()?;
        let minor = parts.next().or(missing)?;
        let last = parts.next().or(missing)?;
        let (version, build) = last.split_once('+').map_or((last, None), |(version, build)| (version, Some(build)));
        let (patch, prerelease) = version.split_once('-').map_or((version, None), |(patch, rest)| (patch, Some(rest)));
        let (major, minor) = (read_number(major, major)?, read_number(minor, minor)?);
        let patch = read_number(patch, last)?;
        let is_good = prerelease.is_none_or(|text| text.split('.').all(is_prerelease))
            && build.is_none_or(|text| text.split('.').all(is_identifier));
        is_good.then_some(Self { major, minor, patch, prerelease: prerelease.unwrap_or("") })
    }
}

impl Ord for SemanticVersion<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| {
            match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
                (false, false) => {
                    self.prerelease.split('.').map(Identifier::of).cmp(other.prerelease.split('.').map(Identifier::of))
                }
                // A release comes after everything that leads to it.
                (mine, others) => mine.cmp(&others),
            }
        })
    }
}

impl PartialOrd for SemanticVersion<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SemanticVersion<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SemanticVersion<'_> {}

/// Numbers come before words.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identifier<'t> {
    Number(u64),
    Word(&'t str),
}

impl<'t> Identifier<'t> {
    fn of(text: &'t str) -> Self {
        number(text).map_or(Self::Word(text), Self::Number)
    }
}

/// A number without leading zeros.
fn number(digits: &str) -> Option<u64> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
    if is_plain { digits.parse().ok() } else { None }
}

/// A number that may have leading zeros, or be missing where something else is left of the part that it starts.
fn normalized(digits: &str, part: &str) -> Option<u64> {
    let significant = digits.trim_start_matches('0');
    match part.len() {
        0 | 1 => number(digits),
        _ if significant.is_empty() => Some(0),
        _ => number(significant),
    }
}

fn is_prerelease(text: &str) -> bool {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_identifier(text) && (!is_number || number(text).is_some())
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> SemanticVersion<'_> {
        SemanticVersion::parse(text).unwrap_or_else(|| panic!("{text} is a version"))
    }

    #[test]
    fn strict_texts() {
        let good = ["1.0.0", "0.1.0-alpha.1", "1.2.3+build.007", "1.2.3-a-b.0a.--+c", "18446744073709551615.0.0"];
        let bad = ["", "1", "1.0", "v1.0.0", "01.0.0", "1.00.0", "1.0.01", "200K", "1.0.0-", "1.0.0-a..b", "1.0.0-01"];
        let odd = [
            "1.0.0+",
            "1.0.0+a..b",
            "1.0.0-é",
            "1.0.0+a_b",
            "1.0.0.0",
            " 1.0.0",
            "-1.0.0",
            "1.0.0-99999999999999999999",
        ];
        good.iter().for_each(|text| assert!(SemanticVersion::parse(text).is_some(), "{text}"));
        bad.iter().chain(&odd).for_each(|text| assert!(SemanticVersion::parse(text).is_none(), "{text}"));
        let numbers = version("1.2.3-4+5");
        assert_eq!([numbers.major(), numbers.minor(), numbers.patch()], [1, 2, 3]);
    }

    #[test]
    fn normalized_texts() {
        let good = [
            ("v1.0.0", "1.0.0"),
            ("v1.0", "1.0.0"),
            ("1", "1.0.0"),
            ("01.01.01", "1.1.1"),
            ("000.0.00", "0.0.0"),
            ("1.2.03-alpha.1+b", "1.2.3-alpha.1"),
            ("1.2.-a", "1.2.0-a"),
            ("1.2.3", "1.2.3"),
        ];
        for (text, same) in good {
            assert_eq!(SemanticVersion::parse_normalized(text), Some(version(same)), "{text}");
        }
        let bad =
            ["", "v", "vv1", "V1", "1.", "1..3", "1.2.", "1.2-a", "1+b", "1.2.3-01", " 1", "1.x", "1.0x.0", "1.2.3.4"];
        bad.iter().for_each(|text| assert_eq!(SemanticVersion::parse_normalized(text), None, "{text}"));
    }

    #[test]
    fn precedence() {
        let ascending = [
            "0.1.2",
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-11",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-rc.1",
            "1.0.0",
            "1.2.3",
            "1.10.0",
            "2.0.0",
        ];
        for (place, one) in ascending.iter().enumerate() {
            for (other_place, other) in ascending.iter().enumerate() {
                assert_eq!(version(one).cmp(&version(other)), place.cmp(&other_place), "{one} and {other}");
            }
        }
        assert_eq!(version("1.0.0+a"), version("1.0.0+b"));
    }
}
