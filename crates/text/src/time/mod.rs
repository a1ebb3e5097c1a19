//! Points in time and durations, read, written and added up as Go and CEL do it.

mod calendar;
mod duration;
mod scan;
mod zone;

use std::{cmp::Ordering, fmt};

use calendar::{date_of, days_of};
pub use duration::{GoDuration, LONGEST as LONGEST_DURATION};
pub(crate) use scan::Scanner;
pub use zone::Zone;

/// A point in time and the offset from UTC that it was written with, which only counts when it is written again.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    /// Since 1970 in UTC.
    seconds: i64,
    nanoseconds: u32,
    /// East of UTC, in seconds.
    offset: i32,
}

const DAY: i64 = 86_400;
/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, the ends of time in CEL.
const FIRST_SECOND: i64 = -62_135_596_800;
const LAST_SECOND: i64 = 253_402_300_799;

impl Timestamp {
    /// Reads what Go accepts as RFC 3339: hours may have one digit, and a comma may stand before the fraction, of
    /// which nine digits count.
    pub fn parse(text: &str) -> Option<Self> {
        let mut scanner = Scanner(text.as_bytes());
        let (year, month, day) = scanner.date()?;
        scanner.byte(|byte| byte == b'T')?;
        let (hour, minute, second) = scanner.clock(Scanner::one_or_two_digits)?;
        let nanoseconds = scanner.fraction();
        let offset = scanner.zone()?;
        if !scanner.0.is_empty() {
            return None;
        }
        let seconds = i64::from((hour * 60 + minute) * 60 + second) - i64::from(offset);
        let days = days_of(year.into(), month.into(), day.into());
        Some(Self { seconds: days * DAY + seconds, nanoseconds, offset })
    }

    /// What CEL makes of a text: [`parse`](Self::parse), within the years 1 to 9999.
    pub fn parse_in_range(text: &str) -> Option<Self> {
        Self::parse(text).and_then(Self::in_range)
    }

    /// What Kubernetes makes of a field of format `date-time`: no text is the start of 1970.
    pub fn parse_date_time(text: &str) -> Option<Self> {
        if text.is_empty() { Self::from_unix(0) } else { Self::parse(text) }
    }

    /// What Kubernetes makes of a field of format `date`: midnight in UTC.
    pub fn parse_date(text: &str) -> Option<Self> {
        let mut scanner = Scanner(text.as_bytes());
        let (year, month, day) = scanner.date()?;
        let seconds = days_of(year.into(), month.into(), day.into()) * DAY;
        scanner.0.is_empty().then_some(Self { seconds, nanoseconds: 0, offset: 0 })
    }

    /// So many seconds after the start of 1970 in UTC, within the years 1 to 9999.
    pub fn from_unix(seconds: i64) -> Option<Self> {
        Self { seconds, nanoseconds: 0, offset: 0 }.in_range()
    }

    /// Seconds since the start of 1970 in UTC.
    pub fn unix(self) -> i64 {
        self.seconds
    }

    /// The fraction of its second.
    pub fn nanoseconds(self) -> u32 {
        self.nanoseconds
    }

    /// Later by a duration, within the years 1 to 9999.
    pub fn checked_add(self, duration: GoDuration) -> Option<Self> {
        let nanoseconds = i64::from(self.nanoseconds) + duration.nanoseconds() % 1_000_000_000;
        let seconds = self.seconds + duration.nanoseconds() / 1_000_000_000 + nanoseconds.div_euclid(1_000_000_000);
        let nanoseconds = nanoseconds.rem_euclid(1_000_000_000) as u32;
        Self { seconds, nanoseconds, ..self }.in_range()
    }

    /// Earlier by a duration, within the years 1 to 9999.
    pub fn checked_sub(self, duration: GoDuration) -> Option<Self> {
        self.checked_add(duration.checked_neg()?)
    }

    /// How much later this is than another, if that can be told in 64 bits of nanoseconds. Like the reference, it
    /// gives up where the whole seconds alone do not fit.
    pub fn checked_since(self, other: Self) -> Option<GoDuration> {
        let seconds = (self.seconds - other.seconds).checked_mul(1_000_000_000)?;
        let nanoseconds = i64::from(self.nanoseconds) - i64::from(other.nanoseconds);
        seconds.checked_add(nanoseconds).map(GoDuration::from_nanoseconds)
    }

    /// What calendar and clock show in a time zone.
    pub fn at(self, zone: &Zone) -> Civil {
        self.shifted(zone.offset_at(self.seconds))
    }

    /// Whether this is the instant that Go takes for "no time": the start of the year 1.
    pub fn is_zero(self) -> bool {
        self.seconds == FIRST_SECOND && self.nanoseconds == 0
    }

    /// The time as RFC 3339 in UTC without a fraction.
    pub fn to_utc(self) -> String {
        format!("{}Z", self.shifted(0))
    }

    fn in_range(self) -> Option<Self> {
        (FIRST_SECOND..=LAST_SECOND).contains(&self.seconds).then_some(self)
    }

    fn shifted(self, offset: i64) -> Civil {
        let seconds = self.seconds + offset;
        let days = seconds.div_euclid(DAY);
        let (year, month, day) = date_of(days);
        Civil { year, month, day, days, second_of_day: seconds.rem_euclid(DAY), nanoseconds: self.nanoseconds }
    }
}

/// The point alone counts, not the offset it was written with.
impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.seconds, self.nanoseconds).cmp(&(other.seconds, other.nanoseconds))
    }
}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Timestamp {}

/// As Go's `RFC3339Nano` and CEL's `string(timestamp)` write it: with the offset it was read with, and no zeros at the
/// end of the fraction.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.shifted(self.offset.into()))?;
        if self.nanoseconds > 0 {
            let fraction = format!("{:09}", self.nanoseconds);
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        let minutes = self.offset.abs() / 60;
        match self.offset {
            0 => f.write_str("Z"),
            _ => write!(f, "{}{:02}:{:02}", if self.offset < 0 { '-' } else { '+' }, minutes / 60, minutes % 60),
        }
    }
}

/// What calendar and clock show somewhere, in the numbers that the functions of CEL give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Civil {
    year: i64,
    month: i64,
    day: i64,
    /// Since the first day of 1970.
    days: i64,
    second_of_day: i64,
    nanoseconds: u32,
}

impl Civil {
    /// The year, such as 2024.
    pub fn full_year(self) -> i64 {
        self.year
    }

    /// The month; January is 0.
    pub fn month(self) -> i64 {
        self.month - 1
    }

    /// The day of the year; the first is 0.
    pub fn day_of_year(self) -> i64 {
        self.days - days_of(self.year, 1, 1)
    }

    /// The day of the month; the first is 1.
    pub fn date(self) -> i64 {
        self.day
    }

    /// The day of the month; the first is 0.
    pub fn day_of_month(self) -> i64 {
        self.day - 1
    }

    /// The day of the week; Sunday is 0.
    pub fn day_of_week(self) -> i64 {
        (self.days + 4).rem_euclid(7)
    }

    /// The hour of the day.
    pub fn hours(self) -> i64 {
        self.second_of_day / 3_600
    }

    /// The minute of the hour.
    pub fn minutes(self) -> i64 {
        self.second_of_day / 60 % 60
    }

    /// The second of the minute.
    pub fn seconds(self) -> i64 {
        self.second_of_day % 60
    }

    /// The millisecond of the second.
    pub fn milliseconds(self) -> i64 {
        i64::from(self.nanoseconds / 1_000_000)
    }
}

/// As in RFC 3339, without fraction and offset.
impl fmt::Display for Civil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.year < 0 { "-" } else { "" };
        write!(f, "{sign}{:04}-{:02}-{:02}", self.year.abs(), self.month, self.day)?;
        write!(f, "T{:02}:{:02}:{:02}", self.hours(), self.minutes(), self.seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap_or_else(|| panic!("{text} is a time"))
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
            assert_eq!(time(text).to_utc(), utc, "{text}");
        }
        assert!(time("0001-01-01T02:00:00+02:00").is_zero());
        assert!(!time("0001-01-01T00:00:01Z").is_zero());
        assert!(!time("0001-01-01T00:00:00.5Z").is_zero());
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

    #[test]
    fn time_has_ends() {
        for inside in ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"] {
            assert!(Timestamp::parse_in_range(inside).is_some(), "{inside}");
        }
        for outside in ["0001-01-01T00:00:00+00:01", "0000-12-31T23:59:59Z", "9999-12-31T23:59:59-00:01"] {
            assert_eq!(Timestamp::parse_in_range(outside), None, "{outside}");
        }
        assert_eq!(Timestamp::from_unix(LAST_SECOND).map(Timestamp::unix), Some(LAST_SECOND));
        assert_eq!(Timestamp::from_unix(LAST_SECOND + 1), None);
        assert_eq!(Timestamp::from_unix(i64::MIN), None);
    }

    #[test]
    fn fields_are_read_as_kubernetes_reads_them() {
        assert_eq!(Timestamp::parse_date("2024-02-29"), Some(time("2024-02-29T00:00:00Z")));
        assert_eq!(Timestamp::parse_date("2023-02-29"), None);
        assert_eq!(Timestamp::parse_date("2024-02-29T"), None);
        assert_eq!(Timestamp::parse_date_time(""), Some(time("1970-01-01T00:00:00Z")));
        assert_eq!(Timestamp::parse_date_time("2024-02-29T10:20:30.5Z"), Some(time("2024-02-29T10:20:30.5Z")));
        assert_eq!(Timestamp::parse_date_time("2024-02-29t10:20:30z"), None);
    }

    #[test]
    fn texts_keep_their_offset() {
        let cases = [
            ("2009-02-13T23:31:30Z", "2009-02-13T23:31:30Z"),
            ("2009-02-13T23:31:30+00:00", "2009-02-13T23:31:30Z"),
            ("2009-02-13T3:31:30.1200-07:30", "2009-02-13T03:31:30.12-07:30"),
            ("2009-02-13T23:31:30.1234567899Z", "2009-02-13T23:31:30.123456789Z"),
            ("2009-02-13T23:31:30+24:60", "2009-02-13T23:31:30+25:00"),
        ];
        for (text, written) in cases {
            assert_eq!(time(text).to_string(), written, "{text}");
        }
        assert_eq!(time("2009-02-13T23:31:30Z"), time("2009-02-14T01:31:30+02:00"));
    }

    #[test]
    fn calendar_and_clock() {
        let friday = time("2009-02-13T23:31:30.020Z");
        let utc = friday.at(&Zone::UTC);
        assert_eq!([utc.full_year(), utc.month(), utc.date(), utc.day_of_month()], [2009, 1, 13, 12]);
        assert_eq!([utc.day_of_year(), utc.day_of_week()], [43, 5]);
        assert_eq!([utc.hours(), utc.minutes(), utc.seconds(), utc.milliseconds()], [23, 31, 30, 20]);
        let elsewhere = friday.at(&Zone::parse("Asia/Kathmandu").unwrap());
        assert_eq!([elsewhere.date(), elsewhere.day_of_week(), elsewhere.hours(), elsewhere.minutes()], [14, 6, 5, 16]);
        assert_eq!(time("2024-12-31T00:00:00Z").at(&Zone::UTC).day_of_year(), 365);
        assert_eq!(time("0001-01-01T00:00:00Z").at(&Zone::UTC).day_of_week(), 1);
    }

    #[test]
    fn arithmetic_stays_within_time() {
        let duration = |text| GoDuration::parse(text).unwrap();
        let start = time("2009-02-13T23:31:30.5+01:00");
        assert_eq!(start.checked_add(duration("1h0.6s")), Some(time("2009-02-13T23:31:31.1Z")));
        assert_eq!(start.checked_add(duration("1s")).unwrap().to_string(), "2009-02-13T23:31:31.5+01:00");
        assert_eq!(start.checked_sub(duration("600ms")), Some(time("2009-02-13T22:31:29.9Z")));
        assert_eq!(start.checked_since(time("2009-02-13T22:31:29.9Z")), Some(duration("600ms")));
        assert_eq!(time("9999-12-31T23:59:59Z").checked_add(duration("1s")), None);
        assert_eq!(time("0001-01-01T00:00:00Z").checked_sub(duration("1ns")), None);
        assert_eq!(start.checked_sub(GoDuration::from_nanoseconds(i64::MIN)), None);
        let later = start.checked_add(GoDuration::from_nanoseconds(i64::MAX)).unwrap();
        assert_eq!(later.checked_since(start), None);
        assert_eq!(time("9999-12-31T23:59:59Z").checked_since(time("0001-01-01T00:00:00Z")), None);
    }
}
