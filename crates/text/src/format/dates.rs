//! Dates and times, accepted as leniently as in the reference.

use crate::time::Scanner;

/// A date such as `2006-01-02` that exists.
pub(super) fn is_date(text: &str) -> bool {
    let mut scanner = Scanner(text.as_bytes());
    scanner.date().is_some() && scanner.0.is_empty()
}

/// A date, `T` and a time of day with a zone. As in the reference, whatever follows a second `T` does not count.
pub(super) fn is_date_time(text: &str) -> bool {
    let mut parts = text.split(['t', 'T']);
    match (parts.next(), parts.next()) {
        (Some(date), Some(time)) => is_date(date) && is_time_of_day(time),
        _ => false,
    }
}

/// Such as `10:00:00.5Z` or `10:00:00+02:00`; any character may stand before a fraction.
fn is_time_of_day(text: &str) -> bool {
    let mut scanner = Scanner(text.as_bytes());
    if scanner.clock(Scanner::two_digits).is_none() {
        return false;
    }
    let rest = &text[text.len() - scanner.0.len()..];
    let fraction = match rest.strip_suffix(['z', 'Z']) {
        Some(fraction) => fraction,
        None => match rest.len().checked_sub(6).and_then(|at| rest.split_at_checked(at)) {
            Some((fraction, zone)) if is_zone_offset(zone) => fraction,
            _ => return false,
        },
    };
    let mut characters = fraction.chars();
    match characters.next() {
        None => true,
        Some('\n') => false,
        Some(_) => !characters.as_str().is_empty() && characters.all(|c| c.is_ascii_digit()),
    }
}

/// Such as `+02:00`; the numbers may be out of range.
fn is_zone_offset(zone: &str) -> bool {
    matches!(zone.as_bytes(), [b'+' | b'-', digits @ ..] if matches!(digits, [a, b, b':', c, d]
        if [a, b, c, d].into_iter().all(u8::is_ascii_digit)))
}

#[cfg(test)]
mod tests {
    use super::super::check;

    #[test]
    fn dates() {
        check("date", &["2006-01-02", "2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31"], &[]);
        check("date", &[], &["", "2006-1-2", "2023-02-29", "1900-02-29", "2006-13-01", "2006-00-01", "2006-04-31"]);
        check("date", &[], &["2006-01-00", "06-01-02", "2006-01-02 ", " 2006-01-02", "2006/01/02", "20060102", "é"]);
    }

    #[test]
    fn date_times() {
        let good = ["2026-02-23T10:00:00Z", "2026-02-23t23:59:59z", "2026-02-23T10:00:00.123456789012Z"];
        let lenient = ["2026-02-23T10:00:00+99:99", "2026-02-23T10:00:00x5Z", "2026-02-23T10:00:00é5Z"];
        check("date-time", &good, &["", "a", "abc", "2026-02-23", "2026-02-23T10:00Z", "2026-02-23T10:00:00"]);
        check("date-time", &lenient, &["2026-02-23 10:00:00Z", "2026-02-23T24:00:00Z", "2026-02-23T10:60:00Z"]);
        check("date-time", &["2026-02-23T10:00:00-07:00"], &["2026-02-30T10:00:00Z", "2026-02-23T10:00:60Z"]);
        check("date-time", &["2026-02-23T10:00:00ZT?"], &["2026-02-23T1:00:00Z", "2026-02-23T10:00:00.Z"]);
        check("date-time", &[], &["2026-02-23T10:00:00\n5Z", "2026-02-23T10:00:00+0200", "2026-02-23T10:00:00éZ"]);
        check("date-time", &[], &["T", "t10:00:00Z", "2026-02-23T10:00:00é2:00"]);
    }

    #[test]
    fn durations() {
        let go = ["0", "-0", "+0", "1h30m", "1.5h", ".5s", "1.s", "-2ms", "1us", "1µs", "1μs", "3000000h"];
        let words = ["2 weeks", "45 weekz", "1d", "1 wk", "12 hours", "1hr", "9 Min", "1w 2d 3h 4m", "- 5 days"];
        check("duration", &go, &["", "10", "a", "abc", "with space", "é", ".", "-", "+", "s", "1", ".s"]);
        check("duration", &words, &["45 wekk", "three week", "12 parsecs", "12 y", "12 phours", "1 2", "weeks 3"]);
        check("duration", &["1s invalid", "invalid 1s", "1.5 days", "1s 2 parsecs"], &["99999999999999999999 weeks"]);
        check("duration", &["-9223372036854775808ns"], &["9223372036854775808ns", "1s 99999999999999999999 x"]);
        check("duration", &["9223372036854775807ns"], &["-9223372036854775809ns"]);
    }
}
