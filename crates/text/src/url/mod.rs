//! URLs, read as Go reads them and asked what rules ask.

mod escape;
mod request;

use std::{collections::HashMap, fmt};

use escape::{Part, as_written, escape, unescape};
pub(crate) use request::is_request_uri;
use request::{after_scheme, is_authority};

/// An absolute URL or an absolute path.
#[derive(Clone, Debug)]
pub struct Url {
    scheme: String,
    /// What follows the scheme where no slash does.
    opaque: String,
    /// A user with an optional password, escaped.
    user: Option<String>,
    host: String,
    /// There is a scheme and a path, and nothing between them.
    lacks_authority: bool,
    escaped_path: String,
    /// Without the `?`; an empty one was written all the same.
    query: Option<String>,
    /// Escaped.
    fragment: String,
}

impl Url {
    /// Whether rules see a URL in a text. A few texts pass that [`parse`](Self::parse) refuses, because the reference
    /// reads them twice, first as a whole and then with the fragment apart.
    pub fn is_url(text: &str) -> bool {
        is_request_uri(text)
    }

    /// Reads an absolute URL or an absolute path.
    pub fn parse(text: &str) -> Option<Self> {
        if !is_request_uri(text) {
            return None;
        }
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let fragment = as_written(fragment, Part::Fragment)?;
        let (has_scheme, rest) = after_scheme(text)?;
        let scheme = if has_scheme { text[..text.len() - rest.len() - 1].to_ascii_lowercase() } else { String::new() };
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query.to_owned())));
        let mut url = Self {
            scheme,
            opaque: String::new(),
            user: None,
            host: String::new(),
            lacks_authority: false,
            escaped_path: String::new(),
            query,
            fragment,
        };
        if !rest.starts_with('/') {
            if has_scheme {
                url.opaque = rest.to_owned();
            } else {
                url.escaped_path = rest.to_owned();
            }
            return Some(url);
        }
        let mut path = rest;
        let authority = rest.strip_prefix("//").filter(|_| has_scheme || !rest.starts_with("///"));
        if let Some(authority) = authority {
            let authority = authority.split_at(authority.find('/').unwrap_or(authority.len()));
            path = authority.1;
            url.set_authority(authority.0)?;
        } else {
            url.lacks_authority = has_scheme;
        }
        url.escaped_path = as_written(path, Part::Path)?;
        Some(url)
    }

    /// The scheme in lower case, or nothing.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The host with its port, and with brackets around an IPv6 address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The host without port and brackets.
    pub fn hostname(&self) -> &str {
        let host = self.host_and_port().0;
        host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
    }

    /// The digits after the host, or nothing.
    pub fn port(&self) -> &str {
        self.host_and_port().1
    }

    /// The path, with everything escaped that has to be.
    pub fn escaped_path(&self) -> &str {
        &self.escaped_path
    }

    /// The names in the query in order of appearance, each with its values. What cannot be unescaped is left out, as
    /// is what contains a semicolon.
    pub fn query(&self) -> Vec<(String, Vec<String>)> {
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let pairs = self.query.as_deref().unwrap_or("").split('&');
        for pair in pairs.filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let text =
                |text: &str| unescape(text, Part::Query).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let (Some(name), Some(value)) = (text(name), text(value)) else { continue };
            let place = *places.entry(name).or_insert_with_key(|name| {
                found.push((name.clone(), Vec::new()));
                found.len() - 1
            });
            found[place].1.push(value);
        }
        found
    }

    fn host_and_port(&self) -> (&str, &str) {
        match self.host.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
            _ => (&self.host, ""),
        }
    }

    fn set_authority(&mut self, authority: &str) -> Option<()> {
        if !is_authority(authority) {
            return None;
        }
        let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        // The host comes back as it was meant; that of an IPv6 address with an escaped zone too.
        self.host = String::from_utf8_lossy(&unescape(host, Part::Host)?).into_owned();
        if let Some(user) = user {
            let normal = |text: &str| unescape(text, Part::User).map(|bytes| escape(&bytes, Part::User));
            self.user = Some(match user.split_once(':') {
                Some((name, password)) => format!("{}:{}", normal(name)?, normal(password)?),
                None => normal(user)?,
            });
        }
        Some(())
    }
}

/// As Go writes it. Two URLs are equal if this is.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if !self.opaque.is_empty() {
            f.write_str(&self.opaque)?;
        } else {
            let has_authority = !self.host.is_empty() || self.user.is_some();
            let is_rooted = !self.scheme.is_empty() && !self.lacks_authority && !self.escaped_path.is_empty();
            if has_authority || is_rooted {
                f.write_str("//")?;
            }
            if let Some(user) = &self.user {
                write!(f, "{user}@")?;
            }
            f.write_str(&escape(self.host.as_bytes(), Part::Host))?;
            f.write_str(&self.escaped_path)?;
        }
        if let Some(query) = &self.query {
            write!(f, "?{query}")?;
        }
        if !self.fragment.is_empty() {
            write!(f, "#{}", self.fragment)?;
        }
        Ok(())
    }
}

impl PartialEq for Url {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Url {}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap_or_else(|| panic!("{text} is a URL"))
    }

    #[test]
    fn parts() {
        let cases = [
            (
                "https://user:pass@example.com:80/path?query=val#fragment",
                ["https", "example.com:80", "example.com", "80", "/path"],
            ),
            ("https://example.com", ["https", "example.com", "example.com", "", ""]),
            ("HTTPS://[::1]:80/", ["https", "[::1]:80", "::1", "80", "/"]),
            ("https://[::1]/", ["https", "[::1]", "::1", "", "/"]),
            ("https://[fe80::1%25en0]:8080/", ["https", "[fe80::1%en0]:8080", "fe80::1%en0", "8080", "/"]),
            ("https://127.0.0.1:/a", ["https", "127.0.0.1:", "127.0.0.1", "", "/a"]),
            ("/absolute-path", ["", "", "", "", "/absolute-path"]),
            ("//example.com/a", ["", "example.com", "example.com", "", "/a"]),
            ("///a", ["", "", "", "", "///a"]),
            (
                "https://example.com/path with spaces/",
                ["https", "example.com", "example.com", "", "/path%20with%20spaces/"],
            ),
            ("https://example.com/a%2Fb", ["https", "example.com", "example.com", "", "/a%2Fb"]),
            ("https://example.com/a%2fb c", ["https", "example.com", "example.com", "", "/a/b%20c"]),
            ("/a!b'c[d]", ["", "", "", "", "/a!b'c[d]"]),
            ("/é", ["", "", "", "", "/%C3%A9"]),
            ("http://%C3%A9/", ["http", "é", "é", "", "/"]),
            ("mailto:a@b", ["mailto", "", "", "", ""]),
            ("file:/etc", ["file", "", "", "", "/etc"]),
            ("*", ["", "", "", "", "*"]),
        ];
        for (text, parts) in cases {
            let url = url(text);
            assert_eq!([url.scheme(), url.host(), url.hostname(), url.port(), url.escaped_path()], parts, "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_urls() {
        for text in ["", "../relative-path", "https://a:b:c/", "example.com", "https://a b/", "http://[::1", "/%zz"] {
            assert!(!Url::is_url(text), "{text}");
            assert!(Url::parse(text).is_none(), "{text}");
        }
        // The second reading is stricter.
        for text in ["//a b/", "/a?b#%zz", "//[::1"] {
            assert!(Url::is_url(text), "{text}");
            assert!(Url::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn queries() {
        let query = |text: &str| -> Vec<String> {
            url(text).query().into_iter().map(|(name, values)| format!("{name}={}", values.join(","))).collect()
        };
        assert_eq!(query("https://example.com/path?k1=a&k2=b&k2=c&k1=d"), ["k1=a,d", "k2=b,c"]);
        assert_eq!(
            query("https://example.com/?key with spaces=value with spaces"),
            ["key with spaces=value with spaces"]
        );
        assert_eq!(query("/?a+b=c%2Bd&%C3%A9&x=1=2&y=?"), ["a b=c+d", "é=", "x=1=2", "y=?"]);
        assert_eq!(query("/?a=%zz&b;c=d&&=e"), ["=e"]);
        assert_eq!(query("mailto:a@b?subject=c"), ["subject=c"]);
        assert!(query("/path?").is_empty());
        assert!(query("/path").is_empty());
        assert_eq!(query("/path?a#b"), ["a="]);
    }

    #[test]
    fn equal_is_what_is_written_alike() {
        let same = [
            ("HTTP://example.com/", "http://example.com/"),
            ("/a b", "/a%20b"),
            ("http://u%40:p@h/", "http://u%40:p@h/"),
            ("http://h/#", "http://h/"),
            ("//h/", "//h/"),
        ];
        for (one, other) in same {
            assert_eq!(url(one), url(other), "{one} and {other}");
        }
        for (one, other) in [("http://h", "http://h/"), ("/a", "/a?"), ("/a%2F", "/a/"), ("http://H", "http://h")] {
            assert_ne!(url(one), url(other), "{one} and {other}");
        }
        for text in [
            "https://user:pass@example.com:80/path?query=val#fragment",
            "mailto:a@b?c",
            "file:///etc",
            "file:/etc",
            "x:",
            "/a?",
            "//h/",
        ] {
            assert_eq!(url(text).to_string(), text);
        }
    }
}
