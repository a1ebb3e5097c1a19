//! IP addresses as the rules of Kubernetes know them: no zones, and no IPv4 addresses in disguise.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr},
};

/// An IPv4 address, or an IPv6 address that is none of IPv4.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ip(IpAddr);

impl Ip {
    /// Reads an address. Refused are octets with leading zeros, zones, and IPv4 addresses that are mapped into IPv6.
    pub fn parse(text: &str) -> Option<Self> {
        let address: IpAddr = text.parse().ok()?;
        match address {
            IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => None,
            _ => Some(Self(address)),
        }
    }

    pub(crate) fn from_address(address: IpAddr) -> Self {
        Self(address)
    }

    /// Whether a text is an address and written in the one way that [`Display`](fmt::Display) writes it; `None` if it
    /// is no address.
    pub fn is_canonical(text: &str) -> Option<bool> {
        Self::parse(text).map(|address| address.to_string() == text)
    }

    /// The address itself.
    pub fn address(self) -> IpAddr {
        self.0
    }

    /// 4 or 6.
    pub fn family(self) -> i64 {
        if self.0.is_ipv4() { 4 } else { 6 }
    }

    /// `0.0.0.0` or `::`.
    pub fn is_unspecified(self) -> bool {
        self.0.is_unspecified()
    }

    /// `127.0.0.0/8` or `::1`.
    pub fn is_loopback(self) -> bool {
        self.0.is_loopback()
    }

    /// `224.0.0.0/24`, or IPv6 multicast whose scope is the link.
    pub fn is_link_local_multicast(self) -> bool {
        match self.0 {
            IpAddr::V4(address) => matches!(address.octets(), [224, 0, 0, _]),
            IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
        }
    }

    /// `169.254.0.0/16` or `fe80::/10`.
    pub fn is_link_local_unicast(self) -> bool {
        match self.0 {
            IpAddr::V4(address) => address.is_link_local(),
            IpAddr::V6(address) => address.is_unicast_link_local(),
        }
    }

    /// Any address that is none of the above, no multicast and no broadcast; private networks count too.
    pub fn is_global_unicast(self) -> bool {
        let is_special = self.is_unspecified() || self.is_loopback() || self.is_link_local_unicast();
        !is_special && !self.0.is_multicast() && self.0 != Ipv4Addr::BROADCAST
    }
}

/// The canonical form.
impl fmt::Display for Ip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Ip {
        Ip::parse(text).unwrap_or_else(|| panic!("{text} is an address"))
    }

    #[test]
    fn texts() {
        for (text, family) in [("127.0.0.1", 4), ("::1", 6), ("::", 6), ("2001:DB8::abcd", 6), ("::1.2.3.4", 6)] {
            assert_eq!(ip(text).family(), family, "{text}");
        }
        let bad = ["", "127.0.0.256", "192.168.0.1.0", "127.0.0.01", "1.2.3", ":::1", "2001:db8:::68", " ::1", "[::1]"];
        let disguised = ["::ffff:1.2.3.4", "::ffff:102:304", "fe80::1%eth0", "fe80::1%", "1.2.3.4/8", "1.2.3.4:80"];
        for text in bad.into_iter().chain(disguised) {
            assert_eq!(Ip::parse(text), None, "{text}");
        }
    }

    #[test]
    fn canonical_forms() {
        let cases = [
            ("127.0.0.1", Some(true)),
            ("2001:db8::abcd", Some(true)),
            ("2001:DB8::ABCD", Some(false)),
            ("2001:db8::0:0:0:abcd", Some(false)),
            ("1:0:0:2:0:0:0:3", Some(false)),
            ("1:0:0:2::3", Some(true)),
            ("1:2:3:4:5:6:0:8", Some(true)),
            ("::102:304", Some(true)),
            ("::1.2.3.4", Some(false)),
            ("127.0.0.1.0", None),
        ];
        for (text, canonical) in cases {
            assert_eq!(Ip::is_canonical(text), canonical, "{text}");
        }
    }

    #[test]
    fn kinds() {
        type Kind = fn(Ip) -> bool;
        let cases: [(Kind, &[&str], &[&str]); 5] = [
            (Ip::is_unspecified, &["0.0.0.0", "::"], &["127.0.0.1", "::1"]),
            (Ip::is_loopback, &["127.0.0.1", "127.255.0.1", "::1"], &["192.168.0.1", "2001:db8::abcd"]),
            (Ip::is_link_local_multicast, &["224.0.0.1", "ff02::1", "ff12::1"], &["224.0.1.1", "fd00::1", "ff05::1"]),
            (Ip::is_link_local_unicast, &["169.254.169.254", "fe80::1", "febf::1"], &["192.168.0.1", "fd80::1"]),
            (
                Ip::is_global_unicast,
                &["192.168.0.1", "10.0.0.1", "2001:db8::abcd", "fc00::1"],
                &["255.255.255.255", "ff00::1", "0.0.0.0", "::", "127.0.0.1", "169.254.0.1", "224.0.1.1", "fe80::1"],
            ),
        ];
        for (is_kind, yes, no) in cases {
            yes.iter().for_each(|text| assert!(is_kind(ip(text)), "{text}"));
            no.iter().for_each(|text| assert!(!is_kind(ip(text)), "{text}"));
        }
    }
}
