//! A day, which is all that an expiry needs to know of time.

use std::fmt;

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Reads a day that is written as `2027-03-01`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let mut part = |width: usize| {
            parts.next().filter(|part| part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let (year, month, day) = (part(4)?.parse().ok()?, part(2)?.parse().ok()?, part(2)?.parse().ok()?);
        let exists = parts.next().is_none() && (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
        exists.then_some(Self { year, month, day })
    }

    /// The day so many days after the first of January 1970; none after the year 9999.
    pub fn from_days_since_1970(mut days: u64) -> Option<Self> {
        let mut year = 1970;
        while days >= days_of_year(year) {
            days -= days_of_year(year);
            year += 1;
            if year > 9999 {
                return None;
            }
        }
        let mut month = 1;
        while days >= u64::from(days_of(year, month)) {
            days -= u64::from(days_of(year, month));
            month += 1;
        }
        Some(Self { year, month, day: days as u8 + 1 })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of_year(year: u16) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn days_of(year: u16, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_that_exist_are_read() {
        for text in ["2027-03-01", "2024-02-29", "2000-02-29", "1999-12-31"] {
            assert_eq!(Date::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "2027", "2027-3-1", "2027-13-01", "2027-02-29", "1900-02-29", "2027-04-31", "2027-01-00"] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
        for text in ["2027-03-01-", "2027-03-01T00", "+027-03-01", "01-03-2027", "2027/03/01"] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn days_are_counted_and_compared() {
        let day = |days| Date::from_days_since_1970(days).map(|date| date.to_string());
        assert_eq!(day(0).as_deref(), Some("1970-01-01"));
        assert_eq!(day(59).as_deref(), Some("1970-03-01"));
        assert_eq!(day(11_016).as_deref(), Some("2000-02-29"));
        assert_eq!(day(20_513).as_deref(), Some("2026-03-01"));
        assert_eq!(day(u64::MAX), None);
        assert!((0..20_000).all(|days| Date::from_days_since_1970(days) < Date::from_days_since_1970(days + 1)));
    }
}
