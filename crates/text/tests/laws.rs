//! Laws of the values that texts stand for: writing and reading again changes nothing, and orders are orders.

use std::cmp::Ordering;

use proptest::{collection::vec, prelude::*};
use wheelwright_text::{Cidr, GoDuration, Ip, Quantity, SemanticVersion, Timestamp, Url, Zone, base64};

fn timestamps() -> impl Strategy<Value = Timestamp> {
    (-62_135_596_800_i64..253_402_300_800, 0_i64..1_000_000_000).prop_map(|(seconds, nanoseconds)| {
        let whole = Timestamp::from_unix(seconds).expect("within time");
        whole.checked_add(GoDuration::from_nanoseconds(nanoseconds)).expect("within time")
    })
}

fn addresses() -> impl Strategy<Value = String> {
    let v4 = any::<[u8; 4]>().prop_map(|octets| std::net::Ipv4Addr::from(octets).to_string());
    // Few different groups, so that runs of zeros happen.
    let v6 = vec(prop_oneof![Just(0_u16), Just(1), any::<u16>()], 8)
        .prop_map(|groups| groups.iter().map(|group| format!("{group:x}")).collect::<Vec<_>>().join(":"))
        .prop_filter("IPv4 in disguise", |text| !text.starts_with("0:0:0:0:0:ffff:"));
    prop_oneof![v4, v6]
}

fn networks() -> impl Strategy<Value = String> {
    (addresses(), 0_u32..=128).prop_map(|(address, length)| {
        let most = if address.contains(':') { 128 } else { 32 };
        format!("{address}/{}", length.min(most))
    })
}

fn quantities() -> impl Strategy<Value = Quantity> {
    prop_oneof![
        "[+-]?[0-9]{1,25}(\\.[0-9]{0,25})?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?",
        "[+-]?[0-9]{1,40}e-?[0-9]{1,3}",
        "-?[0-9]{1,3}(m|k|Ki)?",
    ]
    .prop_map(|text| Quantity::parse(&text).expect("a quantity"))
}

/// Whole billionths of up to a million, which are exact however they are added.
fn small_quantities() -> impl Strategy<Value = Quantity> {
    (-1_000_000_000_000_000_i64..1_000_000_000_000_000, "n|u|m|k|M|G|")
        .prop_map(|(number, suffix)| Quantity::parse(&format!("{number}{suffix}")).expect("a quantity"))
}

fn versions() -> impl Strategy<Value = String> {
    "[0-3]\\.[0-3]\\.(0|[1-9][0-9]?)(-(0|[1-9][0-9]?|[a-cA-C-]{1,2})(\\.(0|[1-9]|[a-c]{1,2})){0,2})?(\\+[a-z]{1,3})?"
}

/// Within a second of what fits into 64 bits, the reference does not subtract times.
const MOST_NANOSECONDS: i64 = i64::MAX - 1_000_000_000;

/// Any two are ordered one way, and three never in a circle.
fn check_order<T: Ord>(one: &T, two: &T, three: &T) {
    assert_eq!(one.cmp(two), two.cmp(one).reverse());
    assert_eq!(one == two, one.cmp(two) == Ordering::Equal);
    if one <= two && two <= three {
        assert!(one <= three);
    }
}

proptest! {
    #[test]
    fn timestamps_are_read_as_they_are_written(time in timestamps(), hours in -24_i32..=24, minutes in 0_i32..=59) {
        prop_assert_eq!(Timestamp::parse_in_range(&time.to_string()), Some(time));
        let offset = format!("{}{:02}:{minutes:02}", if hours < 0 { '-' } else { '+' }, hours.abs());
        let text = time.to_string().replace('Z', &offset);
        if let Some(shifted) = Timestamp::parse(&text) {
            prop_assert_eq!(Timestamp::parse(&shifted.to_string()), Some(shifted));
        }
    }

    #[test]
    fn a_clock_and_its_offset_tell_the_time(time in timestamps(), zone in "[+-](0[0-9]|1[0-4]):[0-5][0-9]") {
        let there = time.at(&Zone::parse(&zone).expect("a zone"));
        let utc = Timestamp::parse(&format!("{there}{zone}"));
        prop_assert!((0..10_000).contains(&there.full_year()) == utc.is_some() || there.full_year() >= 10_000);
        if let Some(utc) = utc {
            prop_assert_eq!(utc.unix(), time.unix());
        }
        prop_assert!((0..12).contains(&there.month()) && (0..366).contains(&there.day_of_year()));
        prop_assert_eq!(there.date(), there.day_of_month() + 1);
    }

    #[test]
    fn what_is_added_can_be_taken_away(time in timestamps(), nanoseconds in -MOST_NANOSECONDS..MOST_NANOSECONDS) {
        let duration = GoDuration::from_nanoseconds(nanoseconds);
        if let Some(later) = time.checked_add(duration) {
            prop_assert_eq!(later.checked_since(time), Some(duration));
            if let Some(back) = later.checked_sub(duration) {
                prop_assert_eq!(back, time);
            }
        }
    }

    #[test]
    fn timestamps_are_ordered(one in timestamps(), two in timestamps(), three in timestamps()) {
        check_order(&one, &two, &three);
    }

    #[test]
    fn durations_are_read_as_they_are_written(nanoseconds in -(1_i64 << 50)..1 << 50) {
        let duration = GoDuration::from_nanoseconds(nanoseconds);
        let read = GoDuration::parse(&duration.to_string()).expect("a duration");
        // Written as a floating point number, of which the last digit may be off by one when it is read in parts.
        prop_assert!((read.nanoseconds() - nanoseconds).abs() <= 1);
    }

    #[test]
    fn addresses_have_one_canonical_form(text in addresses()) {
        let address = Ip::parse(&text).expect("an address");
        let canonical = address.to_string();
        prop_assert_eq!(Ip::parse(&canonical), Some(address));
        prop_assert_eq!(Ip::is_canonical(&canonical), Some(true));
    }

    #[test]
    fn networks_are_read_as_they_are_written(text in networks(), other in networks()) {
        let network = Cidr::parse(&text).expect("a network");
        prop_assert_eq!(Cidr::parse(&network.to_string()), Some(network));
        prop_assert_eq!(network.masked().masked(), network.masked());
        prop_assert!(network.contains(network) && network.masked().contains(network));
        prop_assert!(network.contains_ip(network.ip()));
        let other = Cidr::parse(&other).expect("a network");
        if network.contains(other) {
            prop_assert!(network.contains_ip(other.masked().ip()));
        }
    }

    #[test]
    fn quantities_are_ordered(one in quantities(), two in quantities(), three in quantities()) {
        check_order(&one, &two, &three);
        prop_assert_eq!(one.sub(one).sign(), 0);
        prop_assert_eq!(one.cmp(&Quantity::from(0)) as i64, one.sign());
        if let Some(integer) = one.as_integer() {
            prop_assert_eq!(one, Quantity::from(integer));
        }
        // Zero with an exponent of more than 308 is zero times infinity, which is no number in the reference either.
        let has_float = |quantity: &Quantity| !quantity.as_float().is_nan();
        prop_assert!(has_float(&one) || one.sign() == 0);
        if one < two && has_float(&one) && has_float(&two) {
            prop_assert!(one.as_float() <= two.as_float() * (1.0 + 1e-12 * two.as_float().signum()));
        }
    }

    #[test]
    fn sums_of_quantities_are_exact(one in small_quantities(), two in small_quantities()) {
        prop_assert_eq!(one.add(two), two.add(one));
        prop_assert_eq!(one.add(two).sub(two), one);
        prop_assert_eq!(one.cmp(&two) as i64, one.sub(two).sign());
    }

    #[test]
    fn versions_are_ordered(one in versions(), two in versions(), three in versions()) {
        let read = |text| SemanticVersion::parse(text).expect("a version");
        check_order(&read(&one), &read(&two), &read(&three));
        prop_assert_eq!(SemanticVersion::parse_normalized(&one), Some(read(&one)));
    }

    #[test]
    fn urls_are_read_as_they_are_written(text in "(https?://([a-z]{1,3}(:[a-z]?)?@)?[a-z.]{0,5}(:[0-9]{0,3})?)?/[a-z/ %0-9?#&=é+;]{0,12}") {
        // Without scheme and host, nothing is left of two slashes.
        if let Some(url) = Url::parse(&text).filter(|_| !text.starts_with("//")) {
            let written = url.to_string();
            prop_assert_eq!(Url::parse(&written).map(|url| url.to_string()), Some(written));
        }
    }

    #[test]
    fn bytes_come_back(bytes in vec(any::<u8>(), 0..40)) {
        let text = base64::encode(&bytes);
        prop_assert_eq!(base64::decode(text.as_bytes()), Some(bytes.clone()));
        prop_assert_eq!(base64::decode(text.trim_end_matches('=').as_bytes()), Some(bytes));
    }
}
