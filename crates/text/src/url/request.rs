//! URIs, as Go accepts them in the first line of an HTTP request.

use std::net::Ipv6Addr;

use super::escape::escaped;

/// An absolute URI, an absolute path, or `*`.
pub(crate) fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte.is_ascii_control()) {
        return false;
    }
    let Some((has_scheme, rest)) = after_scheme(text) else {
        return false;
    };
    let path = rest.split_once('?').map_or(rest, |(path, _query)| path);
    match path.strip_prefix("//").filter(|_| has_scheme) {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            is_authority(authority) && has_good_escapes(path)
        }
        // Without a leading slash, the rest is opaque and may be anything.
        None if path.starts_with('/') => has_good_escapes(path),
        None => has_scheme || text == "*",
    }
}

/// What follows the scheme, and whether there was one; `None` if it is empty.
pub(super) fn after_scheme(text: &str) -> Option<(bool, &str)> {
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let (scheme, rest) = text.split_at(text.find(|c| !in_scheme(c)).unwrap_or(text.len()));
    match rest.strip_prefix(':') {
        Some(_) if scheme.is_empty() => None,
        Some(rest) if scheme.starts_with(|c: char| c.is_ascii_alphabetic()) => Some((true, rest)),
        _ => Some((false, text)),
    }
}

/// A host with an optional port, and a user before it.
pub(super) fn is_authority(authority: &str) -> bool {
    match authority.rsplit_once('@') {
        Some((user, host)) => is_user(user) && is_host(host),
        None => is_host(authority),
    }
}

fn is_user(user: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    user.bytes().all(allowed) && user.splitn(2, ':').all(has_good_escapes)
}

fn is_host(host: &str) -> bool {
    match host.strip_prefix('[') {
        Some(literal) => literal
            .rsplit_once(']')
            .is_some_and(|(address, port)| is_optional_port(port) && is_address_literal(address)),
        None => {
            let (name, port) = host.split_at(host.find(':').unwrap_or(host.len()));
            is_optional_port(port) && !name.contains('[') && is_host_text(name, false)
        }
    }
}

/// Nothing, or a colon and digits.
fn is_optional_port(port: &str) -> bool {
    port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// An IPv6 address with an optional zone after an escaped `%`.
fn is_address_literal(literal: &str) -> bool {
    let (address, zone) = literal.split_once("%25").map_or((literal, None), |(address, zone)| (address, Some(zone)));
    address.parse::<Ipv6Addr>().is_ok() && zone.is_none_or(|zone| !zone.is_empty() && is_host_text(zone, true))
}

/// Characters that may stand in a host. Of ASCII, names may escape nothing but `%`; zones may escape what could stand
/// unescaped as well, and spaces.
fn is_host_text(text: &str, zone: bool) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte);
    let may_escape = |byte: u8| byte == b'%' || if zone { allowed(byte) || byte == b' ' } else { !byte.is_ascii() };
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let good = match byte {
            b'%' => escaped(&mut bytes).is_some_and(may_escape),
            _ => !byte.is_ascii() || allowed(byte),
        };
        if !good {
            return false;
        }
    }
    true
}

/// Whether every `%` is followed by two hexadecimal digits.
fn has_good_escapes(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' && escaped(&mut bytes).is_none() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::format::check;

    #[test]
    fn uris() {
        let web = ["http://example.com", "https://a.b/c?d=e#f", "http://a:80/", "http://a:/", "http://", "HTTP://x"];
        let users = ["http://u@h/", "http://u:p@h", "http://u:p%20@h", "http://u@v@h", "http://@h"];
        let paths = ["/", "/a", "/a b", "/é", "/%20", "//a", "/a?%zz", "*"];
        let opaque = ["mailto:a@b", "urn:x", "a:", "a+b-c.1:x", "x:%zz", "x:?"];
        check("uri", &web, &["", "example.com", "://a", ":", "a", "?", "#", "a b", "http://a b/", "\u{7f}"]);
        check("uri", &users, &["http://u[@h/", "http://u%@h", "http://u%zz:p@h", "http://é@h"]);
        check("uri", &paths, &["/%", "/%2", "/%zz", "//a%2", "**", "*a", "/a\n"]);
        check("uri", &opaque, &["1a:x", "+:x", "a/b:c", "a\u{0}:"]);
    }

    #[test]
    fn hosts() {
        check("uri", &["http://a.b_c~!", "http://é", "http://%C3%A9", "http://a%25"], &["http://a%20b", "http://%41"]);
        check("uri", &["http://[::ffff:1.2.3.4]"], &["http://[1.2.3.4]", "http://[::1", "http://[::1]x", "http://::1"]);
        check(
            "uri",
            &["http://[::1%25a%20b]"],
            &["http://[::1%25]", "http://[::1%en0]", "http://a[::1]", "http://[a]"],
        );
        check("uri", &["http://a:0123"], &["http://a:b", "http://a:1:2", "http://a|b", "http://a^", "http://a\\b"]);
        check("uri", &["file:///etc", "x://?q", "x://h?%"], &["x://h%", "http://[::1]:a", "http://{a}", "http://`"]);
    }
}
