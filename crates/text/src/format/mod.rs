//! The formats of strings that Kubernetes checks, with its own idea of each.

mod codes;
mod dates;
mod email;
mod network;

/// A format that is checked; all others are ignored, as Kubernetes ignores them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// An object id of BSON: 24 hexadecimal digits.
    BsonObjectId,
    /// An absolute URI or an absolute path.
    Uri,
    /// A mail address, with or without a display name.
    Email,
    /// A host name, international ones included.
    Hostname,
    /// An IPv4 address, leading zeros included.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
    /// A network such as `10.0.0.0/16`.
    Cidr,
    /// A hardware address.
    Mac,
    /// A UUID, with or without dashes.
    Uuid,
    /// A UUID of version 3.
    Uuid3,
    /// A UUID of version 4.
    Uuid4,
    /// A UUID of version 5.
    Uuid5,
    /// A book number of either length.
    Isbn,
    /// A book number of ten digits.
    Isbn10,
    /// A book number of thirteen digits.
    Isbn13,
    /// The number of a payment card.
    CreditCard,
    /// A social security number of the United States.
    Ssn,
    /// A color such as `#fff`.
    HexColor,
    /// A color such as `rgb(1, 2, 3)`.
    RgbColor,
    /// Base64 with padding.
    Byte,
    /// Anything.
    Password,
    /// A date such as `2006-01-02`.
    Date,
    /// A duration such as `1h30m` or `2 weeks`.
    Duration,
    /// A date and a time with a zone.
    DateTime,
    /// A quantity such as `1.5Gi`.
    Quantity,
    /// A DNS label.
    ShortName,
    /// DNS labels joined by dots.
    LongName,
}

/// Every format under its usual name.
const NAMES: [(&str, Format); 27] = [
    ("bsonobjectid", Format::BsonObjectId),
    ("uri", Format::Uri),
    ("email", Format::Email),
    ("hostname", Format::Hostname),
    ("ipv4", Format::Ipv4),
    ("ipv6", Format::Ipv6),
    ("cidr", Format::Cidr),
    ("mac", Format::Mac),
    ("uuid", Format::Uuid),
    ("uuid3", Format::Uuid3),
    ("uuid4", Format::Uuid4),
    ("uuid5", Format::Uuid5),
    ("isbn", Format::Isbn),
    ("isbn10", Format::Isbn10),
    ("isbn13", Format::Isbn13),
    ("creditcard", Format::CreditCard),
    ("ssn", Format::Ssn),
    ("hexcolor", Format::HexColor),
    ("rgbcolor", Format::RgbColor),
    ("byte", Format::Byte),
    ("password", Format::Password),
    ("date", Format::Date),
    ("duration", Format::Duration),
    ("date-time", Format::DateTime),
    ("quantity", Format::Quantity),
    ("k8s-short-name", Format::ShortName),
    ("k8s-long-name", Format::LongName),
];

impl Format {
    /// The format of this name for strings; dashes in the name do not count.
    pub fn for_string(name: &str) -> Option<Self> {
        let letters = |name: &'static str| name.bytes().filter(|byte| *byte != b'-');
        let name: Vec<u8> = name.bytes().filter(|byte| *byte != b'-').collect();
        NAMES.into_iter().find(|(known, _)| letters(known).eq(name.iter().copied())).map(|(_, format)| format)
    }

    /// The usual name of the format.
    pub fn name(self) -> &'static str {
        NAMES.into_iter().find(|(_, format)| *format == self).map_or("format", |(name, _)| name)
    }

    /// Whether a string is of this format.
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Self::BsonObjectId => codes::is_bson_object_id(text),
            Self::Uri => crate::url::is_request_uri(text),
            Self::Email => email::is_email(text),
            Self::Hostname => network::is_hostname(text),
            Self::Ipv4 => network::is_ipv4(text),
            Self::Ipv6 => network::is_ipv6(text),
            Self::Cidr => network::is_cidr(text),
            Self::Mac => network::is_mac(text),
            Self::Uuid => codes::is_uuid(text, None),
            Self::Uuid3 => codes::is_uuid(text, Some(b'3')),
            Self::Uuid4 => codes::is_uuid(text, Some(b'4')),
            Self::Uuid5 => codes::is_uuid(text, Some(b'5')),
            Self::Isbn => codes::is_isbn10(text) || codes::is_isbn13(text),
            Self::Isbn10 => codes::is_isbn10(text),
            Self::Isbn13 => codes::is_isbn13(text),
            Self::CreditCard => codes::is_credit_card(text),
            Self::Ssn => codes::is_social_security_number(text),
            Self::HexColor => codes::is_hex_color(text),
            Self::RgbColor => codes::is_rgb_color(text),
            Self::Byte => codes::is_base64(text),
            Self::Password => true,
            Self::Date => dates::is_date(text),
            Self::Duration => crate::GoDuration::parse_words(text).is_some(),
            Self::DateTime => dates::is_date_time(text),
            Self::Quantity => crate::Quantity::parse(text).is_some(),
            Self::ShortName => crate::names::is_dns1123_label(text),
            Self::LongName => crate::names::is_dns1123_subdomain(text),
        }
    }
}

/// Checks a table of examples for one format.
#[cfg(test)]
pub(crate) fn check(name: &str, good: &[&str], bad: &[&str]) {
    let format = Format::for_string(name).unwrap();
    for text in good {
        assert!(format.accepts(text), "{text:?} should be of format {name}");
    }
    for text in bad {
        assert!(!format.accepts(text), "{text:?} should not be of format {name}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_with_and_without_dashes() {
        assert_eq!(Format::for_string("date-time"), Some(Format::DateTime));
        assert_eq!(Format::for_string("datetime"), Some(Format::DateTime));
        assert_eq!(Format::for_string("bson-object-id"), Some(Format::BsonObjectId));
        assert_eq!(Format::for_string("k8s-long-name"), Some(Format::LongName));
        for unknown in ["", "int32", "DateTime", "k8s-ip-sloppy", "semver", "made-up", "uri-reference"] {
            assert_eq!(Format::for_string(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn names_and_passwords() {
        check("password", &["", "anything"], &[]);
        check("k8s-short-name", &["a", "a-b", "0"], &["", "a.b", "A", "-a"]);
        check("k8s-long-name", &["a", "a.b", "0.1"], &["", "a..b", "A", "a."]);
    }

    #[test]
    fn no_format_stumbles_over_odd_texts() {
        let odd = ["", "\u{0}", "é", "%", "[", "]", ":", "@", "(", "\"", ".", "-", "+", "\u{10ffff}", "<", "//", "a:b"];
        for (name, format) in NAMES {
            assert_eq!(format.name(), name);
            for one in odd {
                for other in odd {
                    format.accepts(&format!("{one}{other}"));
                    format.accepts(&format!("{one}{other}{one}{other}").repeat(20));
                }
            }
        }
    }
}
