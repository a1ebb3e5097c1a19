//! Protection against web pages: which hosts a request may name, and which origins it may come from.
//!
//! A page of any site can make a browser send requests to a server on the same machine: forms, images, `fetch` without CORS. If
//! the site rebinds its own DNS name to the server's address, the page could even read the answers. Browsers report both, in
//! headers that no page can change: `Host` has the name, and `Origin` and `Sec-Fetch-Site` say which page sent the request.
//! Other clients send neither of the last two.

use std::net::IpAddr;

use http::{
    HeaderName, Uri, header,
    request::Parts,
    uri::{Authority, Scheme},
};

use crate::refusal::Refusal;

/// The rules for requests that a browser may send on behalf of a page.
#[derive(Debug)]
pub(crate) struct Browsers {
    scheme: &'static str,
    /// The origin of the public URL.
    public_origin: Option<Box<str>>,
    /// Checked where clients are not authenticated. Elsewhere the page of a rebound name has no credentials to use.
    hosts: Option<Hosts>,
    /// Checked there, and where browsers authenticate by themselves: with client certificates.
    checks_origins: bool,
}

/// The hosts that a request may name.
#[derive(Debug)]
struct Hosts {
    listening: IpAddr,
    allowed: Vec<Box<str>>,
}

/// How clients authenticate, as far as it matters for browsers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Authentication {
    None,
    /// By bearer tokens, which a page does not have.
    Tokens,
    /// By tokens or client certificates. A browser adds its certificate to the requests of any page.
    Certificates,
}

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Why a request is refused as one of a web page: the reason for metrics, and the answer.
pub(crate) type ForeignRequest = (&'static str, Refusal);

impl Browsers {
    /// The rules of a server that listens at an address; `allowed` are names as [`host_name`] returns them.
    pub(crate) fn new(
        authentication: Authentication,
        (scheme, listening): (&'static str, IpAddr),
        mut allowed: Vec<Box<str>>,
        public_url: Option<&str>,
    ) -> Self {
        let public_url: Option<Uri> = public_url.and_then(|url| url.parse().ok());
        allowed.extend(public_url.as_ref().and_then(Uri::host).map(|host| bare(host).into()));
        Self {
            scheme,
            public_origin: public_url.as_ref().and_then(origin),
            hosts: (authentication == Authentication::None)
                .then_some(Hosts { listening: listening.to_canonical(), allowed }),
            checks_origins: authentication != Authentication::Tokens,
        }
    }

    /// The same rules for another address of the server.
    pub(crate) fn at(&self, scheme: &'static str, listening: IpAddr) -> Self {
        let hosts = self.hosts.as_ref();
        let hosts = hosts.map(|hosts| Hosts { listening: listening.to_canonical(), allowed: hosts.allowed.clone() });
        Self { scheme, public_origin: self.public_origin.clone(), hosts, checks_origins: self.checks_origins }
    }

    /// Refuses a request that names a foreign host.
    pub(crate) fn check_host(&self, head: &Parts) -> Result<(), ForeignRequest> {
        let Some(hosts) = &self.hosts else { return Ok(()) };
        if let Some(foreign) = host_header(head).into_iter().chain(authority(head)).find(|host| !hosts.allow(host)) {
            let message = format!(
                "the host {foreign:?} is not allowed, so that web pages cannot reach the server by a name of theirs: use \
                 localhost or the server's address, or start the server with --allow-host NAME"
            );
            return Err(("host", Refusal::Forbidden(message)));
        }
        Ok(())
    }

    /// Refuses a request that a foreign page sent.
    pub(crate) fn check_origin(&self, head: &Parts) -> Result<(), ForeignRequest> {
        if !self.checks_origins {
            return Ok(());
        }
        let is_own = |origin: &str| {
            let host = host_header(head).or(authority(head));
            let sent_to = origin.strip_prefix(self.scheme).and_then(|rest| rest.strip_prefix("://"));
            let is_host = sent_to.zip(host).is_some_and(|(sent_to, host)| sent_to.eq_ignore_ascii_case(host));
            is_host || self.public_origin.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(origin))
        };
        let foreign = head.headers.get_all(header::ORIGIN).iter().find(|origin| !origin.to_str().is_ok_and(is_own));
        let mut sites = head.headers.get_all(&SEC_FETCH_SITE).iter();
        let is_foreign_site = sites.any(|site| site != "same-origin" && site != "none");
        let page = match (foreign, is_foreign_site) {
            (Some(origin), _) => format!("a web page of the origin {origin:?}"),
            (None, true) => "a web page of another origin".to_owned(),
            (None, false) => return Ok(()),
        };
        let message = format!(
            "the browser sent this request for {page}, and only the server's own origin may use it: enter the address into the \
             browser, or let a proxy keep the Host of the page, or give the page's address with --public-url"
        );
        Err(("origin", Refusal::Forbidden(message)))
    }
}

impl Hosts {
    /// Whether an authority, with a port or without, names one of the hosts.
    ///
    /// Ports do not matter: a forwarded port is another one, and a foreign page has a foreign name. An address cannot be rebound,
    /// so a server that listens at all addresses answers to each.
    fn allow(&self, authority: &str) -> bool {
        // No browser leaves it empty.
        if authority.is_empty() {
            return true;
        }
        let Ok(authority) = authority.parse::<Authority>() else { return false };
        let host = bare(authority.host());
        let is_reachable = match host.parse::<IpAddr>() {
            Ok(address) => {
                let address = address.to_canonical();
                address.is_loopback() || address == self.listening || self.listening.is_unspecified()
            }
            Err(_) => host.eq_ignore_ascii_case("localhost"),
        };
        is_reachable || self.allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
    }
}

/// The host that a request names. Requests of HTTP/1.0 may name none, such as the probes of load balancers; a page cannot have sent
/// them, since every browser sends the header.
fn host_header(head: &Parts) -> Option<&str> {
    head.headers.get(header::HOST)?.to_str().ok()
}

fn authority(head: &Parts) -> Option<&str> {
    head.uri.authority().map(Authority::as_str)
}

/// Reads a host name or an IP address, without a port.
pub(crate) fn host_name(text: &str) -> Result<Box<str>, String> {
    let host = bare(text);
    let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    match host.parse::<IpAddr>().is_ok() || !host.is_empty() && is_name(host) {
        true => Ok(host.into()),
        false => Err(format!("{text}: expected a host name or an IP address, without a scheme, port or wildcard")),
    }
}

/// The origin of a URL as browsers write it: without the port that the scheme implies.
fn origin(url: &Uri) -> Option<Box<str>> {
    let (scheme, host) = (url.scheme()?, url.host()?);
    let implied = if *scheme == Scheme::HTTPS { 443 } else { 80 };
    let port = url.port_u16().filter(|port| *port != implied).map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{scheme}://{host}{port}").into())
}

/// A host without the brackets around an IPv6 address.
fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(listening: &str, allowed: &[&str]) -> Hosts {
        let allowed = allowed.iter().map(|name| host_name(name).unwrap()).collect();
        Hosts { listening: listening.parse().unwrap(), allowed }
    }

    #[test]
    fn a_loopback_server_answers_to_loopback_names_and_allowed_ones() {
        let hosts = hosts("127.0.0.1", &["api.example.com", "[2001:db8::1]"]);
        for own in [
            "localhost",
            "LocalHost:8080",
            "127.0.0.1",
            "127.3.2.1:9",
            "[::1]:8080",
            "[::ffff:127.0.0.1]",
            "API.example.com:443",
            "[2001:db8::1]:1",
            "",
        ] {
            assert!(hosts.allow(own), "{own}");
        }
        for foreign in [
            "evil.example",
            "localhost.evil.example",
            "localhost.",
            "evil.localhost",
            "127.0.0.1.evil.example",
            "example.com",
            "x.api.example.com",
            "0.0.0.0:8080",
            "192.0.2.1",
            "[::]:8080",
            "[::2]",
            "localhost@evil.example",
            "local host",
            "2130706433",
            "127.1",
        ] {
            assert!(!hosts.allow(foreign), "{foreign}");
        }
    }

    #[test]
    fn a_server_at_all_addresses_answers_to_every_address_and_to_no_name() {
        for listening in ["0.0.0.0", "::"] {
            let hosts = hosts(listening, &[]);
            for own in ["192.0.2.1:8080", "[2001:db8::7]", "0.0.0.0:8080", "localhost", "127.0.0.1"] {
                assert!(hosts.allow(own), "{listening}: {own}");
            }
            assert!(!hosts.allow("evil.example:8080"), "{listening}");
        }
        let one = hosts("192.0.2.1", &[]);
        assert!(one.allow("192.0.2.1:8080") && one.allow("localhost") && !one.allow("192.0.2.2"));
    }

    #[test]
    fn an_allowed_host_is_a_name_or_an_address() {
        for wrong in ["", "https://a", "a:80", "*", "*.a", "a/b", "a b", "[::1]:80", "ä.example", "a@b"] {
            assert!(host_name(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_origin_of_a_url_has_no_implied_port() {
        for (url, expected) in [
            ("https://api.example.com/v1", "https://api.example.com"),
            ("https://api.example.com:443", "https://api.example.com"),
            ("https://api.example.com:80", "https://api.example.com:80"),
            ("http://[::1]:80/", "http://[::1]"),
        ] {
            assert_eq!(origin(&url.parse().unwrap()).as_deref(), Some(expected), "{url}");
        }
    }
}
