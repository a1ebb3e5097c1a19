//! Durations of 64 bits of nanoseconds.

use std::fmt;

use crate::digits::split_digits;

/// A duration as Go knows it: up to some 292 years in either direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GoDuration(i64);

impl GoDuration {
    /// Reads what Go's `time.ParseDuration` accepts, which is also what CEL makes of a text: numbers with units such
    /// as `-1h30.5m`, or zero.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(seconds) = whole_seconds(text.as_bytes()) {
            return Some(Self(seconds * SECOND));
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        if unsigned.is_empty() {
            return None;
        }
        let mut rest = if unsigned == "0" { "" } else { unsigned };
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let (nanoseconds, after) = part(rest)?;
            total = total.checked_add(nanoseconds).filter(|total| *total <= LARGEST)?;
            rest = after;
        }
        match text.starts_with('-') {
            true => Some(Self((total as i64).wrapping_neg())),
            false => i64::try_from(total).ok().map(Self),
        }
    }

    /// What Kubernetes makes of a field of format `duration`: [`parse`](Self::parse), or else any numbers that are
    /// followed by words, such as `2 weeks`. One known unit is enough, but every number must fit; the sum may wrap.
    pub fn parse_words(text: &str) -> Option<Self> {
        if let Some(duration) = Self::parse(text) {
            return Some(duration);
        }
        let mut rest = text;
        let mut total = None;
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let (digits, after) = split_digits(&rest[at..]);
            rest = after.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
            let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != 'µ').unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = after;
            if word.is_empty() {
                continue;
            }
            let number: i64 = digits.parse().ok()?;
            if let Some(unit) = unit_of_word(word) {
                total = Some(number.wrapping_mul(unit).wrapping_add(total.unwrap_or(0)));
            }
        }
        total.map(Self)
    }

    /// So many nanoseconds.
    pub fn from_nanoseconds(nanoseconds: i64) -> Self {
        Self(nanoseconds)
    }

    /// The whole duration in nanoseconds.
    pub fn nanoseconds(self) -> i64 {
        self.0
    }

    /// The whole duration in hours, rounded as Go does it: to a floating point number, then towards zero.
    pub fn hours(self) -> i64 {
        self.in_units(HOUR) as i64
    }

    /// The whole duration in minutes, rounded as [`hours`](Self::hours) are.
    pub fn minutes(self) -> i64 {
        self.in_units(MINUTE) as i64
    }

    /// The whole duration in seconds, rounded as [`hours`](Self::hours) are.
    pub fn seconds(self) -> i64 {
        self.in_units(SECOND) as i64
    }

    /// The whole duration in milliseconds, rounded towards zero.
    pub fn milliseconds(self) -> i64 {
        self.0 / MILLISECOND
    }

    /// As Go writes it: `1h0m0s`, `1.5s`, `20ms`.
    pub fn as_go(self) -> impl fmt::Display {
        AsGo(self)
    }

    /// The sum, if it fits.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference, if it fits.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// As long in the other direction, if that fits.
    pub fn checked_neg(self) -> Option<Self> {
        self.0.checked_neg().map(Self)
    }

    fn in_units(self, unit: i64) -> f64 {
        (self.0 / unit) as f64 + (self.0 % unit) as f64 / unit as f64
    }
}

/// As CEL's `string(duration)` writes it: seconds as a decimal number, as exact as a floating point number can be.
impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.in_units(SECOND))
    }
}

/// Of a short text of whole hours, minutes and seconds, as most durations are: how many seconds. Of any other, nothing.
fn whole_seconds(text: &[u8]) -> Option<i64> {
    if text.len() > 9 {
        return None;
    }
    let (mut total, mut number, mut has_digits) = (0, 0, false);
    let mut rest = text.iter().peekable();
    while let Some(byte) = rest.next() {
        let unit = match byte {
            b'0'..=b'9' => {
                number = number * 10 + i64::from(byte - b'0');
                has_digits = true;
                continue;
            }
            b'h' => 3600,
            b'm' if rest.peek() != Some(&&b's') => 60,
            b's' => 1,
            _ => return None,
        };
        if !has_digits {
            return None;
        }
        total += number * unit;
        (number, has_digits) = (0, false);
    }
    (!text.is_empty() && !has_digits && total <= i64::MAX / SECOND).then_some(total)
}

struct AsGo(GoDuration);

impl fmt::Display for AsGo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.spell(&mut [0; LONGEST]))
    }
}

/// How many bytes the longest spelling has, `-2562047h47m16.854775808s`, and some.
pub const LONGEST: usize = 32;

/// A text that is written from its end.
struct Backwards<'b> {
    buffer: &'b mut [u8; LONGEST],
    start: usize,
}

impl Backwards<'_> {
    fn text(&mut self, text: &str) {
        self.start -= text.len();
        self.buffer[self.start..self.start + text.len()].copy_from_slice(text.as_bytes());
    }

    fn number(&mut self, mut number: u64) {
        loop {
            self.start -= 1;
            self.buffer[self.start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return;
            }
        }
    }
}

impl GoDuration {
    /// What [`as_go`](Self::as_go) shows, spelled in a buffer.
    pub fn spell(self, buffer: &mut [u8; LONGEST]) -> &str {
        let nanoseconds = self.0.unsigned_abs();
        let mut written = Backwards { buffer, start: LONGEST };
        let (unit, name) = match nanoseconds {
            0 => return "0s",
            1..1_000 => (1, "ns"),
            1_000..1_000_000 => (MICROSECOND.unsigned_abs(), "µs"),
            1_000_000..1_000_000_000 => (MILLISECOND.unsigned_abs(), "ms"),
            _ => (SECOND.unsigned_abs(), "s"),
        };
        written.text(name);
        let (whole, mut fraction) = (nanoseconds / unit, nanoseconds % unit);
        if fraction > 0 {
            let mut places = unit.ilog10();
            while fraction % 10 == 0 {
                fraction /= 10;
                places -= 1;
            }
            for _ in 0..places {
                written.number(fraction % 10);
                fraction /= 10;
            }
            written.text(".");
        }
        match name {
            "s" if whole >= 60 => {
                written.number(whole % 60);
                written.text("m");
                written.number(whole / 60 % 60);
                if whole >= 3600 {
                    written.text("h");
                    written.number(whole / 3600);
                }
            }
            _ => written.number(whole),
        }
        if self.0 < 0 {
            written.text("-");
        }
        let Backwards { buffer, start } = written;
        str::from_utf8(&buffer[start..]).unwrap_or_default()
    }
}

const MICROSECOND: i64 = 1_000;
const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Of either sign; without one, it is too large by one.
const LARGEST: u64 = 1 << 63;

/// One number with its unit, in nanoseconds, and what follows it.
fn part(text: &str) -> Option<(u64, &str)> {
    let (whole, mut rest) = split_digits(text);
    let mut fraction = "";
    if let Some(after_point) = rest.strip_prefix('.') {
        (fraction, rest) = split_digits(after_point);
    }
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (unit, rest) = rest.split_at(rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len()));
    let unit = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => MICROSECOND,
        "ms" => MILLISECOND,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        _ => return None,
    };
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nanoseconds = whole.checked_mul(unit as u64).filter(|nanoseconds| *nanoseconds <= LARGEST)?;
    let (numerator, denominator) = leading_fraction(fraction);
    let below = (numerator as f64 * (unit as f64 / denominator)) as u64;
    nanoseconds.checked_add(below).filter(|nanoseconds| *nanoseconds <= LARGEST).map(|sum| (sum, rest))
}

/// The digits after a point as a number, and what to divide it by. Digits that do not fit do not count.
fn leading_fraction(digits: &str) -> (u64, f64) {
    let (mut numerator, mut denominator) = (0_u64, 1.0);
    for digit in digits.bytes() {
        let larger = numerator.checked_mul(10).and_then(|tenfold| tenfold.checked_add(u64::from(digit - b'0')));
        match larger {
            Some(larger) if larger <= LARGEST => numerator = larger,
            _ => break,
        }
        denominator *= 10.0;
    }
    (numerator, denominator)
}

fn unit_of_word(word: &str) -> Option<i64> {
    let word = word.to_ascii_lowercase();
    let starts = |unit: &str| word.starts_with(unit);
    Some(match word.as_str() {
        "ns" => 1,
        "us" | "µs" => MICROSECOND,
        "ms" => MILLISECOND,
        "s" => SECOND,
        "m" => MINUTE,
        "h" | "hr" => HOUR,
        "d" => DAY,
        "w" | "wk" => 7 * DAY,
        _ if starts("nano") => 1,
        _ if starts("micro") => MICROSECOND,
        _ if starts("milli") => MILLISECOND,
        _ if starts("sec") => SECOND,
        _ if starts("min") => MINUTE,
        _ if starts("hour") => HOUR,
        _ if starts("day") => DAY,
        _ if starts("week") => 7 * DAY,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_texts() {
        let cases = [
            ("0", 0),
            ("-0", 0),
            ("1h30m", 90 * MINUTE),
            ("-1.5h", -90 * MINUTE),
            (".5s", SECOND / 2),
            ("1.s", SECOND),
            ("1us2µs3μs", 6_000),
            ("0.3333333333333333333h", 20 * MINUTE),
            ("0.33333333333333333333333333333333h", 20 * MINUTE),
            ("0.100000000000000000000h", 6 * MINUTE),
            ("9223372036854775807ns", i64::MAX),
            ("9223372036.854775807s", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
        ];
        for (text, nanoseconds) in cases {
            assert_eq!(GoDuration::parse(text), Some(GoDuration(nanoseconds)), "{text}");
        }
        let bad = [
            "",
            "-",
            "+",
            "1",
            ".",
            ".s",
            "1 s",
            "1d",
            "s",
            "1s ",
            "1h-1",
            "9223372036854775808ns",
            "3000000h1",
            "2562048h",
        ];
        for text in bad {
            assert_eq!(GoDuration::parse(text), None, "{text}");
        }
    }

    #[test]
    fn words() {
        let cases = [
            ("2 weeks", 14 * DAY),
            ("1w 2d 3h 4m", 9 * DAY + 3 * HOUR + 4 * MINUTE),
            ("- 5 days", 5 * DAY),
            ("1.5 days", 5 * DAY),
            ("12 parsecs 1 Sec", SECOND),
            ("9 micros", 9 * MICROSECOND),
        ];
        for (text, nanoseconds) in cases {
            assert_eq!(GoDuration::parse_words(text), Some(GoDuration(nanoseconds)), "{text}");
        }
        assert_eq!(GoDuration::parse_words("12 parsecs"), None);
        assert_eq!(GoDuration::parse_words("99999999999999999999 s"), None);
    }

    #[test]
    fn texts_are_seconds() {
        let cases =
            [("1h", "3600s"), ("0", "0s"), ("1ns", "0.000000001s"), ("-1.5s", "-1.5s"), ("2562047h", "9223369200s")];
        for (text, written) in cases {
            assert_eq!(GoDuration::parse(text).unwrap().to_string(), written, "{text}");
        }
    }

    #[test]
    fn texts_of_go() {
        let cases = [
            (0, "0s"),
            (1, "1ns"),
            (-1_100, "-1.1µs"),
            (2_050_000, "2.05ms"),
            (SECOND, "1s"),
            (90 * SECOND + SECOND / 2, "1m30.5s"),
            (10 * MINUTE, "10m0s"),
            (HOUR, "1h0m0s"),
            (-25 * HOUR - SECOND, "-25h0m1s"),
            (i64::MAX, "2562047h47m16.854775807s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ];
        for (nanoseconds, text) in cases {
            assert_eq!(GoDuration(nanoseconds).as_go().to_string(), text);
            assert_eq!(GoDuration::parse(text), Some(GoDuration(nanoseconds)), "{text}");
        }
    }

    #[test]
    fn units_and_sums() {
        let duration = GoDuration::parse("-1h1m1.999s").unwrap();
        assert_eq!([duration.hours(), duration.minutes(), duration.seconds()], [-1, -61, -3661]);
        assert_eq!(duration.milliseconds(), -3_661_999);
        // So close to the next hour that a floating point number cannot tell.
        assert_eq!(GoDuration(2_562_047 * HOUR - 1).hours(), 2_562_047);
        assert_eq!(GoDuration(HOUR - 1).hours(), 0);
        assert_eq!(GoDuration(i64::MAX).checked_add(GoDuration(1)), None);
        assert_eq!(GoDuration(i64::MIN).checked_sub(GoDuration(1)), None);
        assert_eq!(GoDuration(i64::MIN).checked_neg(), None);
        assert_eq!(GoDuration(3).checked_sub(GoDuration(5)), Some(GoDuration(-2)));
    }
}
