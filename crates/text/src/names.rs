//! The names Kubernetes allows: labels, subdomains, qualified names, label values and path segments.

/// A lower-case DNS label as in RFC 1123, up to 63 characters.
pub fn is_dns1123_label(name: &str) -> bool {
    name.len() <= LONGEST_LABEL && is_label(name)
}

/// Lower-case DNS labels joined by dots, up to 253 characters; the labels have no limit of their own.
pub fn is_dns1123_subdomain(name: &str) -> bool {
    name.len() <= LONGEST_SUBDOMAIN && is_subdomain(name)
}

/// A lower-case DNS label as in RFC 1035: it starts with a letter.
pub fn is_dns1035_label(name: &str) -> bool {
    is_dns1123_label(name) && name.as_bytes()[0].is_ascii_lowercase()
}

/// A name such as `replicas` or `example.com/replicas`, as keys of labels and finalizers have.
pub fn is_qualified_name(name: &str) -> bool {
    match name.split_once('/') {
        Some((prefix, name)) => is_dns1123_subdomain(prefix) && is_word(name),
        None => is_word(name),
    }
}

/// The value of a label, which may be empty.
pub fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_word(value)
}

/// A name that can stand as one segment of a URL path.
pub fn is_path_segment_name(name: &str) -> bool {
    name != "." && name != ".." && is_path_segment_prefix(name)
}

/// The start of such a name, to which something will be appended.
pub fn is_path_segment_prefix(name: &str) -> bool {
    !name.contains(['/', '%'])
}

/// The group and version of an `apiVersion`, of which the group may be absent; `None` if it has too many parts.
pub fn group_and_version(api_version: &str) -> Option<(&str, &str)> {
    match api_version.split_once('/') {
        Some((_, version)) if version.contains('/') => None,
        Some(parts) => Some(parts),
        None => Some(("", api_version)),
    }
}

pub(crate) const LONGEST_LABEL: usize = 63;
pub(crate) const LONGEST_SUBDOMAIN: usize = 253;

/// Labels joined by dots, of any length.
pub(crate) fn is_subdomain(name: &str) -> bool {
    name.split('.').all(is_label)
}

/// Lower-case letters and digits, with `-` between them.
pub(crate) fn is_label(label: &str) -> bool {
    let outer = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    is_enclosed(label.as_bytes(), outer, |byte| outer(byte) || *byte == b'-')
}

fn is_word(word: &str) -> bool {
    word.len() <= LONGEST_LABEL && is_word_of_any_length(word)
}

/// Letters and digits, with `-`, `_` and `.` between them.
pub(crate) fn is_word_of_any_length(word: &str) -> bool {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    is_enclosed(word.as_bytes(), u8::is_ascii_alphanumeric, inner)
}

/// Not empty, `outer` at both ends and `inner` throughout.
fn is_enclosed(bytes: &[u8], outer: impl Fn(&u8) -> bool, inner: impl Fn(&u8) -> bool) -> bool {
    bytes.first().is_some_and(&outer) && bytes.last().is_some_and(&outer) && bytes.iter().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
        for name in good {
            assert!(rule(name), "{name:?} should be accepted");
        }
        for name in bad {
            assert!(!rule(name), "{name:?} should be refused");
        }
    }

    #[test]
    fn labels() {
        let longest = "a".repeat(63);
        let too_long = "a".repeat(64);
        let bad = ["", "A", "a.b", "-a", "a-", "a_b", "a b", "é", &too_long];
        check(is_dns1123_label, &["a", "0", "a-b", "a--b", "0a", &longest], &bad);
        check(is_dns1035_label, &["a", "a0", "a-b", &longest], &bad);
        check(is_dns1035_label, &[], &["0", "0a"]);
    }

    #[test]
    fn subdomains() {
        let long_label = "a".repeat(253);
        let too_long = "a".repeat(254);
        let bad = ["", ".", "a.", ".a", "a..b", "a.-b", "a-.b", "A.b", "a/b", &too_long];
        check(is_dns1123_subdomain, &["a", "a.b", "1.2.3", "a-b.c", &long_label], &bad);
    }

    #[test]
    fn qualified_names() {
        let longest = format!("{}/{}", "p".repeat(253), "n".repeat(63));
        let too_long = "n".repeat(64);
        let good = ["a", "A", "a_b.c-d", "example.com/Name", "a/b", &longest];
        let bad = ["", "/", "/a", "a/", "a/b/c", "A/b", "_a", "a_", ".a", "a b", "é", "a.b/-", &too_long];
        check(is_qualified_name, &good, &bad);
    }

    #[test]
    fn label_values() {
        let too_long = "v".repeat(64);
        check(is_label_value, &["", "a", "A.b_c-0"], &["-", "a-", ".a", "a/b", "a b", "é", &too_long]);
    }

    #[test]
    fn path_segments() {
        check(is_path_segment_name, &["", "a", "...", "A b", "é"], &[".", "..", "a/b", "a%", "/"]);
        check(is_path_segment_prefix, &[".", "..", "a"], &["a/", "%a"]);
    }

    #[test]
    fn api_versions() {
        assert_eq!(group_and_version("v1"), Some(("", "v1")));
        assert_eq!(group_and_version("apps/v1"), Some(("apps", "v1")));
        assert_eq!(group_and_version("/v1"), Some(("", "v1")));
        assert_eq!(group_and_version("apps/"), Some(("apps", "")));
        assert_eq!(group_and_version(""), Some(("", "")));
        assert_eq!(group_and_version("a/b/c"), None);
    }
}
