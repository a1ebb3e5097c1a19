//! Addresses of machines and networks.

use std::{net::Ipv6Addr, sync::LazyLock};

use regex::Regex;

/// An IPv4 address, in which octets may have leading zeros, or an IPv6 address that ends in one.
pub(super) fn is_ipv4(text: &str) -> bool {
    // Whichever separator comes first decides how the address is read.
    match text.find(['.', ':']) {
        Some(at) if text.as_bytes()[at] == b'.' => is_lenient_ipv4(text),
        Some(_) => text.contains('.') && is_lenient_ipv6(text),
        None => false,
    }
}

/// An IPv6 address without a zone.
pub(super) fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

/// An address of either kind, a slash, and the length of a prefix that it has room for.
pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let room = if is_lenient_ipv4(address) {
        32
    } else if is_lenient_ipv6(address) {
        128
    } else {
        return false;
    };
    decimal(length).is_some_and(|length| length <= room)
}

/// 6, 8 or 20 bytes: as pairs of digits with `:` or `-` between them, or as groups of four with dots.
pub(super) fn is_mac(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (separator, width) = match (bytes.get(2), bytes.get(4)) {
        (Some(separator @ (b':' | b'-')), _) => (*separator, 2),
        (_, Some(b'.')) => (b'.', 4),
        _ => return false,
    };
    let is_group = |group: &[u8]| group.len() == width && group.iter().all(u8::is_ascii_hexdigit);
    matches!((bytes.len() + 1) / (width + 1) * width / 2, 6 | 8 | 20) && bytes.split(|b| *b == separator).all(is_group)
}

/// A single label with an optional dash as its second character, or labels with dots that end in a word of letters.
/// Letters and symbols of any script may be used.
pub(super) fn is_hostname(text: &str) -> bool {
    if text.len() > 255 || text.split('.').any(|label| label.len() > 63) {
        return false;
    }
    match text.rsplit_once('.') {
        Some((labels, last)) => {
            let is_word = last.chars().all(is_letter) && last.chars().nth(1).is_some();
            is_word && labels.split('.').all(is_host_label)
        }
        None => {
            let mut characters = text.chars();
            let first = characters.next().is_some_and(is_host_character);
            let rest = characters.as_str();
            first && rest.strip_prefix('-').unwrap_or(rest).chars().all(is_host_character)
        }
    }
}

/// Dashes are allowed inside, but not at the ends.
fn is_host_label(label: &str) -> bool {
    let ends = [label.chars().next(), label.chars().next_back()];
    ends.into_iter().all(|end| end.is_some_and(is_host_character))
        && label.chars().all(|c| c == '-' || is_host_character(c))
}

fn is_host_character(c: char) -> bool {
    static SYMBOL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\A\p{S}\z").ok());
    c.is_ascii_digit() || is_letter(c) || is_in(&SYMBOL, c)
}

fn is_letter(c: char) -> bool {
    static LETTER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\A\p{L}\z").ok());
    if c.is_ascii() { c.is_ascii_alphabetic() } else { is_in(&LETTER, c) }
}

fn is_in(class: &Option<Regex>, c: char) -> bool {
    class.as_ref().is_some_and(|class| class.is_match(c.encode_utf8(&mut [0; 4])))
}

/// Four octets, with any number of leading zeros.
fn is_lenient_ipv4(text: &str) -> bool {
    let mut count = 0;
    text.split('.').all(|octet| {
        count += 1;
        count <= 4 && decimal(octet).is_some_and(|octet| octet <= 255)
    }) && count == 4
}

/// An IPv6 address, in which groups and octets may have leading zeros: they are read as if they had none.
fn is_lenient_ipv6(text: &str) -> bool {
    let (groups, ipv4) = match text.rfind(':') {
        Some(at) if text[at..].contains('.') => text.split_at(at + 1),
        _ => (text, ""),
    };
    if !ipv4.is_empty() && !is_lenient_ipv4(ipv4) {
        return false;
    }
    let mut plain = String::with_capacity(text.len());
    for (index, group) in groups.split(':').enumerate() {
        if index > 0 {
            plain.push(':');
        }
        let significant = group.trim_start_matches('0');
        plain.push_str(if significant.is_empty() && !group.is_empty() { "0" } else { significant });
    }
    if !ipv4.is_empty() {
        plain.push_str("0.0.0.0");
    }
    is_ipv6(&plain)
}

/// A number of decimal digits without a sign, if it is not huge.
fn decimal(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::super::check;

    #[test]
    fn ipv4() {
        let good = ["127.0.0.1", "192.168.1.01", "0.0.0.0", "255.255.255.255", "010.000.0000001.1"];
        check("ipv4", &good, &["", "abc", "x-y", "198.168.254.2.2", "1.2.3", "256.1.1.1", "1.2.3.4 ", "1..2.3"]);
        check("ipv4", &["::ffff:1.2.3.4", "::1.2.3.04"], &["::1", "+1.2.3.4", "1.2.3.4/8", ".1.2.3.4", "1.2.3.4:80"]);
        check("ipv4", &[], &["99999999999999.1.1.1", "1.2.3.4::", "1.2.3.é"]);
    }

    #[test]
    fn ipv6() {
        let good = ["::", "::1", "1::", "2001:db8:a0b:12f0::1", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8", "ABCD::"];
        check("ipv6", &good, &["", "127.0.0.1", "::1%eth0", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", ":::", "1::2::3"]);
        check("ipv6", &["1:2:3:4:5:6:7::", "0001::"], &["00001::", "::1.2.3.04", "g::", "[::1]", ":1", "1:"]);
    }

    #[test]
    fn cidr() {
        let good = ["10.0.0.0/16", "192.0.02.1/24", "2001:db8:a0b:12f0::1/32", "::/0", "1.2.3.4/032", "00001::/128"];
        check("cidr", &good, &["", "10", "198.168.254.2", "::1", "10.0.0.0/33", "::/129", "10.0.0.0/", "/8"]);
        check("cidr", &["::1.2.3.04/8"], &["10.0.0.0/-1", "10.0.0.0/+1", "10.0.0.0/8/8", "10.0.0.0/a", "1:/8", ":1/8"]);
    }

    #[test]
    fn mac() {
        let good = ["01:02:03:04:05:06", "01-02-03-04-05-aF", "0123.4567.89ab", "0123.4567.89ab.cdef"];
        check("mac", &good, &["", "01:02:03:04:05", "01:02:03:04:05:06:07", "01:02-03:04:05:06", "0123.4567"]);
        check("mac", &["01:02:03:04:05:06:07:08"], &["010203040506", "g1:02:03:04:05:06", "0123.4567.89ab."]);
        check("mac", &[], &["01:02:03:04:05:6", "001:2:03:04:05:06", "éé:02:03:04:05:06", "0123:4567:89ab"]);
        let twenty = ["00"; 20].join(":");
        check("mac", &[&twenty], &[&twenty[3..]]);
    }

    #[test]
    fn hostnames() {
        let ascii =
            ["somewhere.com", "888.com", "1.2.3.4.com", "xn--bcher-kva.example.com", "localhost", "x", "x-y", "x-"];
        let others =
            ["☁→❄→☃.ws", "www.example.ôlà", "ôlà.ôlà", "ex$ample", "ex=ample.com", "<foo>", "www.詹姆斯.london"];
        let dashes = ["www.example-.org", "www.--example.org", "-www.example.org", "www-.example.org", "www-", "-www"];
        let odd = ["", ".", "x.", ".com", "a..com", "1.1.1.1", "a.b.c.d", "www.詹姆斯.x", "my-host", "a.b-c", "a.c0m"];
        check("hostname", &ascii, &dashes);
        check("hostname", &others, &odd);
        let label = "a".repeat(63);
        let longest = format!("{label}.{label}.{label}.{}", "a".repeat(63));
        let long =
            [format!("{label}a"), format!("{longest}a"), format!("{longest}.{label}"), format!("x.{label}a.com")];
        let long: Vec<&str> = long.iter().map(String::as_str).collect();
        check("hostname", &[&label, &longest], &long);
        check("hostname", &[], &["user@email.domain", "www.ex ample.org", "_www.example.org", "a.b.é;ö", "com!"]);
    }
}
