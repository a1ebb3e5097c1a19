//! Time zones, by name or by offset.

use jiff::tz::TimeZone;

/// A time zone of the IANA database, which is compiled in, or a fixed offset from UTC.
#[derive(Clone, Debug)]
pub struct Zone(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Seconds east of UTC.
    Fixed(i64),
    Named(TimeZone),
}

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(Kind::Fixed(0));

    /// Reads a name such as `Europe/Berlin` or an offset such as `+02:00` or `-2:30`. Like the reference, it takes
    /// hours and minutes of any size; `Local` is what it is on an API server, UTC.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            Some((hours, minutes)) => {
                let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
                let minutes = if text.starts_with('-') { minutes.wrapping_neg() } else { minutes };
                let offset = hours.wrapping_mul(60).wrapping_add(minutes);
                // Go has the offset in nanoseconds for a moment, where it wraps.
                Some(Self(Kind::Fixed(offset.wrapping_mul(60_000_000_000) / 1_000_000_000)))
            }
            None if matches!(text, "" | "UTC" | "Local") => Some(Self::UTC),
            None => {
                let zone = TimeZone::get(text).ok()?;
                // The letter case counts, as it does in the files that Go reads.
                (zone.iana_name() == Some(text)).then_some(Self(Kind::Named(zone)))
            }
        }
    }

    /// The offset at a time, in seconds; both times are counted from the start of 1970 in UTC.
    pub(super) fn offset_at(&self, seconds: i64) -> i64 {
        match &self.0 {
            Kind::Fixed(offset) => *offset,
            Kind::Named(zone) => {
                let end = if seconds < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
                zone.to_offset(jiff::Timestamp::from_second(seconds).unwrap_or(end)).seconds().into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets() {
        let cases = [
            ("UTC", 0),
            ("", 0),
            ("Local", 0),
            ("+02:00", 7_200),
            ("02:00", 7_200),
            ("-02:30", -9_000),
            ("-0:30", -1_800),
            ("+99:99", 362_340),
            ("Europe/Berlin", 3_600),
            ("US/Central", -21_600),
            ("Etc/GMT+5", -18_000),
        ];
        for (text, offset) in cases {
            assert_eq!(Zone::parse(text).unwrap().offset_at(1_700_000_000), offset, "{text}");
        }
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        assert_eq!(berlin.offset_at(1_690_000_000), 7_200);
        assert_eq!(berlin.offset_at(i64::MAX), 3_600);
        assert_eq!(berlin.offset_at(-5_000_000_000), 3_208);
    }

    #[test]
    fn unknown_zones() {
        for text in ["europe/berlin", "Nowhere", "+2", ":30", "2:", "2:3:4", "a:b", "Etc/Unknown", "../UTC", "é"] {
            assert!(Zone::parse(text).is_none(), "{text}");
        }
        assert!(Zone::parse("9223372036854775807:9223372036854775807").is_some());
    }
}
