//! Dates, times and durations, read as leniently as Go reads them.

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

/// What Go's own parser accepts, or any text with a number and a unit of time in it.
pub(super) fn is_duration(text: &str) -> bool {
    is_go_duration(text) || has_duration_words(text)
}

const LARGEST_DURATION: u64 = 1 << 63;

/// A sequence of numbers with units such as `-1h30.5m`, or zero, that fits into 64 bits of nanoseconds.
fn is_go_duration(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut rest = unsigned;
    let mut total: u64 = 0;
    while !rest.is_empty() && unsigned != "0" {
        let Some((nanoseconds, after)) = go_duration_part(rest) else {
            return false;
        };
        total = total.saturating_add(nanoseconds);
        if total > LARGEST_DURATION {
            return false;
        }
        rest = after;
    }
    !unsigned.is_empty() && (total < LARGEST_DURATION || text.starts_with('-'))
}

/// One number with its unit, in nanoseconds, and what follows it.
fn go_duration_part(text: &str) -> Option<(u64, &str)> {
    let (whole, mut rest) = split_digits(text);
    let mut fraction = "";
    if let Some(after_point) = rest.strip_prefix('.') {
        (fraction, rest) = split_digits(after_point);
    }
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (unit, rest) = rest.split_at(rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len()));
    let unit: u64 = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nanoseconds = whole.checked_mul(unit).filter(|nanoseconds| *nanoseconds <= LARGEST_DURATION)?;
    // Rounding of the fraction only matters for durations that are just about too long.
    let fraction: f64 = format!("0.{fraction}0").parse().ok()?;
    Some((nanoseconds + (fraction * unit as f64) as u64, rest))
}

/// Looks for numbers followed by words, such as `2 weeks`; one known unit is enough, but every number must fit.
fn has_duration_words(text: &str) -> bool {
    let mut rest = text;
    let mut found = false;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (digits, after) = split_digits(&rest[at..]);
        rest = after.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
        let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != 'µ').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if !word.is_empty() && digits.parse::<i64>().is_err() {
            return false;
        }
        found |= is_unit_of_time(word);
        rest = after;
    }
    found
}

fn is_unit_of_time(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    matches!(word.as_str(), "ns" | "us" | "µs" | "ms" | "s" | "m" | "h" | "hr" | "d" | "w" | "wk")
        || ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"].iter().any(|unit| word.starts_with(unit))
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// A point in time with a precision of seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timestamp {
    /// Days since the first of March of the year 0.
    days: i64,
    seconds_of_day: i64,
}

impl Timestamp {
    /// Reads what Go accepts as RFC 3339: hours may have one digit, and a comma may stand before the fraction,
    /// which is dropped.
    pub fn parse(text: &str) -> Option<Self> {
        let mut scanner = Scanner(text.as_bytes());
        let (year, month, day) = scanner.date()?;
        scanner.byte(|byte| byte == b'T')?;
        let (hour, minute, second) = scanner.clock(Scanner::one_or_two_digits)?;
        if let [b'.' | b',', b'0'..=b'9', ..] = scanner.0 {
            scanner.0 = &scanner.0[1..];
            while scanner.byte(|byte| byte.is_ascii_digit()).is_some() {}
        }
        let offset = scanner.zone()?;
        if !scanner.0.is_empty() {
            return None;
        }
        let seconds = i64::from((hour * 60 + minute) * 60 + second) - offset;
        let days = days_of(year.into(), month.into(), day.into()) + seconds.div_euclid(86_400);
        Some(Self { days, seconds_of_day: seconds.rem_euclid(86_400) })
    }

    /// Whether this is the instant that Go takes for "no time": the start of the year 1.
    pub fn is_zero(self) -> bool {
        self.seconds_of_day == 0 && self.days == days_of(1, 1, 1)
    }

    /// The time as RFC 3339 in UTC without a fraction.
    pub fn to_utc(self) -> String {
        let (year, month, day) = date_of(self.days);
        let sign = if year < 0 { "-" } else { "" };
        let (year, second) = (year.abs(), self.seconds_of_day);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        format!("{sign}{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// The number of a day, counted in years that start in March, so that the leap day is the last of its year.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + day - 1
}

/// The year, month and day of a number of `days_of`.
fn date_of(days: i64) -> (i64, i64, i64) {
    let (era, days) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (days - days / 1_460 + days / 36_524 - days / 146_096) / 365;
    let days = days - (365 * year + year / 4 - year / 100);
    let month = (5 * days + 2) / 153;
    let day = days - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

/// The rest of a text that is read from its start.
struct Scanner<'t>(&'t [u8]);

impl Scanner<'_> {
    fn byte(&mut self, wanted: impl Fn(u8) -> bool) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        wanted(*first).then(|| {
            self.0 = rest;
            *first
        })
    }

    fn digit(&mut self) -> Option<u32> {
        self.byte(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0'))
    }

    fn two_digits(&mut self) -> Option<u32> {
        Some(self.digit()? * 10 + self.digit()?)
    }

    fn one_or_two_digits(&mut self) -> Option<u32> {
        let first = self.digit()?;
        Some(self.digit().map_or(first, |second| first * 10 + second))
    }

    fn date(&mut self) -> Option<(u32, u32, u32)> {
        let year = self.two_digits()? * 100 + self.two_digits()?;
        self.byte(|byte| byte == b'-')?;
        let month = self.two_digits()?;
        self.byte(|byte| byte == b'-')?;
        let day = self.two_digits()?;
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let length = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        (1..=length).contains(&day).then_some((year, month, day))
    }

    fn clock(&mut self, hour: fn(&mut Self) -> Option<u32>) -> Option<(u32, u32, u32)> {
        let hour = hour(self)?;
        self.byte(|byte| byte == b':')?;
        let minute = self.two_digits()?;
        self.byte(|byte| byte == b':')?;
        let second = self.two_digits()?;
        (hour < 24 && minute < 60 && second < 60).then_some((hour, minute, second))
    }

    /// The offset from UTC in seconds; up to 24 hours and 60 minutes, because Go lets them pass.
    fn zone(&mut self) -> Option<i64> {
        if self.byte(|byte| byte == b'Z').is_some() {
            return Some(0);
        }
        let sign = self.byte(|byte| matches!(byte, b'+' | b'-'))?;
        let hours = self.two_digits()?;
        self.byte(|byte| byte == b':')?;
        let minutes = self.two_digits()?;
        let offset = i64::from((hours * 60 + minutes) * 60);
        (hours <= 24 && minutes <= 60).then_some(if sign == b'-' { -offset } else { offset })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::check, *};

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

    #[test]
    fn timestamps_come_out_in_utc() {
        let cases = [
            ("2024-02-29T10:20:30Z", "2024-02-29T10:20:30Z"),
            ("2024-02-29T1:20:30Z", "2024-02-29T01:20:30Z"),
            ("2024-02-29T10:20:30.999Z", "2024-02-29T10:20:30Z"),
            ("2024-02-29T10:20:30,9Z", "2024-02-29T10:20:30Z"),
            ("2024-03-01T00:30:00+02:00", "2024-02-29T22:30:00Z"),
            ("2023-12-31T23:30:00-24:60", "2024-01-02T00:30:00Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
            ("1900-03-01T00:00:00+00:01", "1900-02-28T23:59:00Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59-01:00", "10000-01-01T00:59:59Z"),
        ];
        for (text, utc) in cases {
            assert_eq!(Timestamp::parse(text).unwrap().to_utc(), utc, "{text}");
        }
        assert!(Timestamp::parse("0001-01-01T02:00:00+02:00").unwrap().is_zero());
        assert!(!Timestamp::parse("0001-01-01T00:00:01Z").unwrap().is_zero());
    }

    #[test]
    fn days_have_consecutive_numbers() {
        let mut expected = days_of(-1, 1, 1);
        for year in -1..2401_i64 {
            for month in 1..=12 {
                let next = if month == 12 { days_of(year + 1, 1, 1) } else { days_of(year, month + 1, 1) };
                let first = days_of(year, month, 1);
                assert_eq!(first, expected, "{year}-{month}");
                for day in first..next {
                    assert_eq!(date_of(day), (year, month, day - first + 1));
                }
                expected = next;
            }
        }
    }

    #[test]
    fn other_texts_are_no_timestamps() {
        let bad = ["", "2024-02-29", "2024-02-29T10:20:30", "2024-02-29t10:20:30Z", "2024-02-29T10:20:30z"];
        let odd = ["2024-02-29T10:20:30Z ", "2024-02-29T24:00:00Z", "2024-02-29T10:20:30.Z", "2024-02-29T10:2:30Z"];
        let zones = ["2024-02-29T10:20:30+0200", "2024-02-29T10:20:30+25:00", "2024-02-29T10:20:30+02:61"];
        for text in bad.into_iter().chain(odd).chain(zones) {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }
}
