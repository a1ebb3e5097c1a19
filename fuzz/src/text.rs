//! Texts: whatever they stand for, writing and reading it again changes nothing, and sums and orders are what they seem.

use wheelwright_text::{
    Cidr, Format, GoDuration, Ip, NamedFormat, Pattern, Quantity, SemanticVersion, Timestamp, Url, Zone, base64, names,
};

/// Reads each line as everything that a text can be, and compares it with the line before.
pub fn text(input: &[u8]) {
    if let Some(bytes) = base64::decode(input) {
        assert_eq!(base64::decode(base64::encode(&bytes).as_bytes()), Some(bytes));
    }
    base64::decode_field(input);
    let Ok(input) = std::str::from_utf8(input) else { return };
    let mut before = "";
    for line in input.lines() {
        names_and_formats(line);
        pattern(before, line);
        times(before, line);
        quantities(before, line);
        addresses(before, line);
        versions(before, line);
        url(line);
        before = line;
    }
}

fn names_and_formats(text: &str) {
    assert!(!names::is_dns1035_label(text) || names::is_dns1123_label(text));
    assert!(!names::is_dns1123_label(text) || names::is_dns1123_subdomain(text));
    names::group_and_version(text);
    if let Some(format) = Format::for_string(text) {
        assert_eq!(Format::for_string(format.name()), Some(format));
    }
    for (_, format) in NamedFormat::all() {
        format.validate(text);
    }
    let is_empty = |format: NamedFormat| format.validate(text).is_empty();
    assert_eq!(is_empty(NamedFormat::Dns1123Label), names::is_dns1123_label(text));
    assert_eq!(is_empty(NamedFormat::QualifiedName), names::is_qualified_name(text));
    assert_eq!(is_empty(NamedFormat::LabelValue), names::is_label_value(text));
}

fn pattern(go: &str, text: &str) {
    // Long patterns take long to compile, and show nothing new.
    let Some(pattern) = Some(go).filter(|go| go.len() < 100).and_then(|go| Pattern::from_go(go).ok()) else { return };
    let found = pattern.find(text);
    assert_eq!(pattern.is_match(text), found.is_some());
    assert_eq!(pattern.find_all(text).next(), found);
}

fn times(before: &str, text: &str) {
    let zone = Zone::parse(before).unwrap_or(Zone::UTC);
    if let Some(time) = Timestamp::parse(text) {
        time.at(&zone);
        assert!(Timestamp::parse(&time.to_utc()).is_none_or(|utc| utc.unix() == time.unix()));
    }
    let date_time = Timestamp::parse_date_time(text);
    assert!(date_time.is_none() || text.is_empty() || Format::DateTime.accepts(text) || text.as_bytes()[12] == b':');
    assert_eq!(Timestamp::parse_date(text).is_some(), Format::Date.accepts(text));
    let Some(time) = Timestamp::parse_in_range(text) else {
        durations(before, text);
        return;
    };
    // Offsets may be longer than a day, and are then written in a way that nobody reads.
    assert!(Timestamp::parse(&time.to_string()).is_none_or(|again| again == time));
    if let Some(later) = GoDuration::parse_words(before).and_then(|duration| time.checked_add(duration)) {
        // Within a second of what fits, the reference gives up, and so do we.
        assert!(later.checked_since(time).is_none_or(|since| Some(since) == GoDuration::parse_words(before)));
    }
}

fn durations(before: &str, text: &str) {
    let (one, other) = (GoDuration::parse_words(before), GoDuration::parse_words(text));
    assert_eq!(other.is_some(), Format::Duration.accepts(text));
    if let (Some(one), Some(other)) = (one, other) {
        let sum = one.checked_add(other);
        assert!(sum.is_none() || sum.and_then(|sum| sum.checked_sub(other)) == Some(one));
        assert!(one.hours().abs() <= one.minutes().abs() && one.minutes().abs() <= one.seconds().abs());
    }
    if let Some(duration) = other {
        GoDuration::parse(&duration.to_string());
        assert!(duration.checked_neg().is_some() || duration.nanoseconds() == i64::MIN);
    }
}

fn quantities(before: &str, text: &str) {
    let (Some(one), Some(other)) = (Quantity::parse(before), Quantity::parse(text)) else { return };
    assert_eq!(one.cmp(&other), other.cmp(&one).reverse());
    assert_eq!(one.add(other), other.add(one));
    assert_eq!(one.sub(one).sign(), 0);
    assert_eq!(one.is_integer(), one.as_integer().is_some_and(|integer| Quantity::from(integer) == one));
    assert!(!one.as_float().is_nan() || one.sign() == 0);
}

fn addresses(before: &str, text: &str) {
    let one = Ip::parse(before);
    if let Some(address) = Ip::parse(text) {
        assert_eq!(Ip::parse(&address.to_string()), Some(address));
        assert_eq!(Ip::is_canonical(text), Some(address.to_string() == text));
    }
    let Some(network) = Cidr::parse(text) else { return };
    assert_eq!(Cidr::parse(&network.to_string()), Some(network));
    assert_eq!(network.masked().masked(), network.masked());
    assert!(network.contains(network) && network.contains_ip(network.ip()));
    assert!(one.is_none_or(|one| network.contains_ip(one) == network.masked().contains_ip(one)));
}

fn versions(before: &str, text: &str) {
    let (one, other) = (SemanticVersion::parse_normalized(before), SemanticVersion::parse_normalized(text));
    if let (Some(one), Some(other)) = (one, other) {
        assert_eq!(one.cmp(&other), other.cmp(&one).reverse());
    }
    assert!(SemanticVersion::parse(text).is_none_or(|strict| Some(strict) == other));
}

fn url(text: &str) {
    assert_eq!(Url::is_url(text), Format::Uri.accepts(text));
    let Some(url) = Url::parse(text) else { return };
    assert!(Url::is_url(text));
    assert!(url.host().contains(url.hostname()) && url.host().ends_with(url.port()));
    assert!(url.query().iter().all(|(_, values)| !values.is_empty()));
    if let Some(again) = Url::parse(&url.to_string()).filter(|_| !text.starts_with("//")) {
        assert_eq!(again, url);
    }
}
