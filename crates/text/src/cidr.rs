//! Networks such as `10.0.0.0/8`.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use crate::Ip;

/// An address and how many of its first bits name the network. The other bits may be set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cidr {
    address: Ip,
    length: u8,
}

impl Cidr {
    /// Reads an address that [`Ip::parse`] accepts, a slash, and a length that the address has room for.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.rsplit_once('/')?;
        let is_number = length.bytes().all(|byte| byte.is_ascii_digit()) && (length == "0" || !length.starts_with('0'));
        let address = Ip::parse(address).filter(|_| is_number)?;
        let length: u8 = length.parse().ok()?;
        (length <= room(address)).then_some(Self { address, length })
    }

    /// The address, with the bits after the network.
    pub fn ip(self) -> Ip {
        self.address
    }

    /// How many bits name the network.
    pub fn prefix_length(self) -> i64 {
        self.length.into()
    }

    /// The network with all bits after it cleared.
    pub fn masked(self) -> Self {
        Self { address: masked(self.address, self.length), ..self }
    }

    /// Whether an address is of this network, and of the same family.
    pub fn contains_ip(self, address: Ip) -> bool {
        self.address.family() == address.family() && masked(address, self.length) == self.masked().address
    }

    /// Whether all of another network is in this one.
    pub fn contains(self, other: Self) -> bool {
        self.length <= other.length && self.contains_ip(other.address)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

fn room(address: Ip) -> u8 {
    if address.family() == 4 { 32 } else { 128 }
}

/// The address with all bits after the first `length` cleared.
fn masked(address: Ip, length: u8) -> Ip {
    Ip::from_address(match address.address() {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & mask))
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & mask))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr(text: &str) -> Cidr {
        Cidr::parse(text).unwrap_or_else(|| panic!("{text} is a network"))
    }

    #[test]
    fn texts() {
        let good = [("192.168.0.0/16", 16), ("192.168.0.1/0", 0), ("::1/128", 128), ("2001:db8::/32", 32)];
        for (text, length) in good {
            assert_eq!(cidr(text).prefix_length(), length, "{text}");
            assert_eq!(cidr(text).to_string(), text);
        }
        let bad = ["", "192.168.0.0", "192.168.0.0/", "192.168.0.0/33", "::1/129", "::/256", "/8", "1.2.3.4/08"];
        let odd =
            ["1.2.3.4/00", "1.2.3.4/+8", "1.2.3.4/-8", "1.2.3.4/8/8", "01.2.3.4/8", "::ffff:1.2.3.4/96", "fe80::%a/8"];
        for text in bad.into_iter().chain(odd) {
            assert_eq!(Cidr::parse(text), None, "{text}");
        }
    }

    #[test]
    fn addresses_inside() {
        for (network, inside, outside) in [
            ("192.168.0.0/24", "192.168.0.1", "192.168.1.1"),
            ("192.168.0.7/24", "192.168.0.1", "::c0a8:1"),
            ("2001:db8::/32", "2001:db8::1", "2001:dc8::1"),
        ] {
            assert!(cidr(network).contains_ip(Ip::parse(inside).unwrap()), "{inside}");
            assert!(!cidr(network).contains_ip(Ip::parse(outside).unwrap()), "{outside}");
        }
        assert!(cidr("0.0.0.0/0").contains_ip(Ip::parse("255.1.2.3").unwrap()));
        assert!(!cidr("::/0").contains_ip(Ip::parse("255.1.2.3").unwrap()));
    }

    #[test]
    fn networks_inside() {
        for (network, inside) in [
            ("192.168.0.0/16", "192.168.10.0/24"),
            ("192.168.0.0/16", "192.168.0.1/32"),
            ("192.168.0.0/24", "192.168.0.0/24"),
            ("2001:db8::/32", "2001:db8::/33"),
        ] {
            assert!(cidr(network).contains(cidr(inside)), "{inside}");
        }
        for (network, outside) in [
            ("192.168.0.0/24", "192.168.0.0/23"),
            ("192.168.1.0/24", "192.168.2.0/24"),
            ("2001:db8::/32", "2001:db8::/31"),
            ("::/0", "1.2.3.4/32"),
        ] {
            assert!(!cidr(network).contains(cidr(outside)), "{outside}");
        }
    }

    #[test]
    fn masks() {
        for (text, network) in [
            ("192.168.0.1/24", "192.168.0.0/24"),
            ("192.168.0.1/0", "0.0.0.0/0"),
            ("192.168.0.1/32", "192.168.0.1/32"),
            ("2001:db8:1::/32", "2001:db8::/32"),
        ] {
            assert_eq!(cidr(text).masked(), cidr(network), "{text}");
        }
        assert_ne!(cidr("192.168.0.1/24"), cidr("192.168.0.0/24"));
        assert_eq!(cidr("192.168.0.1/24").ip().to_string(), "192.168.0.1");
    }
}
