//! Exact arithmetic on decimal numbers of up to 38 digits.

use std::fmt::{self, Write};

use wheelwright_document::{Arena, Number, Value, canonical};

/// A decimal number; its mantissa does not end in a zero unless it is zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decimal {
    mantissa: i128,
    exponent: i32,
}

/// What is further from one than that many powers of ten is not computed with.
const MOST_EXPONENT: i64 = 100_000;
/// So many digits a quotient that does not end has.
const QUOTIENT_DIGITS: u32 = 18;
/// A quotient that has not ended after so many digits never does, for divisors of up to 18 digits that anybody writes.
const MOST_DIGITS: u32 = 36;

impl Decimal {
    /// `mantissa` times ten to the power of `exponent`.
    pub(crate) fn new(mut mantissa: i128, mut exponent: i32) -> Self {
        if mantissa == 0 {
            return Self { mantissa, exponent: 0 };
        }
        // Division of 64 bits is many times faster than of 128, and mostly enough.
        if let Ok(mut small) = i64::try_from(mantissa) {
            while small % 10 == 0 {
                small /= 10;
                exponent += 1;
            }
            return Self { mantissa: small.into(), exponent };
        }
        while mantissa % 10 == 0 {
            mantissa /= 10;
            exponent += 1;
        }
        Self { mantissa, exponent }
    }

    /// The value of a number, unless it has too many digits or is too far from one.
    pub(crate) fn of(number: Number<'_>) -> Option<Self> {
        if let Some(integer) = number.as_i64() {
            return Some(Self::new(integer.into(), 0));
        }
        let text = number.as_str();
        let (digits, exponent) =
            text.split_once(['e', 'E']).map_or((text, "0"), |(digits, exponent)| (digits, exponent));
        let exponent: i64 = exponent.parse().ok()?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = fraction.trim_end_matches('0');
        let is_negative = whole.starts_with('-');
        let mantissa = whole
            .bytes()
            .chain(fraction.bytes())
            .filter(u8::is_ascii_digit)
            .try_fold(0_i128, |sum, digit| sum.checked_mul(10)?.checked_add(i128::from(digit - b'0')))?;
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let exponent = i32::try_from(exponent).ok().filter(|exponent| i64::from(*exponent).abs() <= MOST_EXPONENT)?;
        Some(Self::new(if is_negative { -mantissa } else { mantissa }, exponent))
    }

    /// How many digits it has.
    pub(crate) fn digits(self) -> u32 {
        digits(self.mantissa)
    }

    pub(crate) fn is_negative(self) -> bool {
        self.mantissa < 0
    }

    pub(crate) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// The product, if it has not too many digits.
    pub(crate) fn times(self, other: Self) -> Option<Self> {
        let exponent = self.exponent + other.exponent;
        self.mantissa.checked_mul(other.mantissa).map(|mantissa| Self::new(mantissa, exponent))
    }

    /// The quotient by something of at most 18 digits that is not zero, and whether it is exact: else it has 18 digits.
    pub(crate) fn over(self, divisor: Self) -> (Self, bool) {
        let mut exponent = self.exponent - divisor.exponent;
        let mut quotient = self.mantissa / divisor.mantissa;
        let mut rest = self.mantissa % divisor.mantissa;
        while rest != 0 && digits(quotient) < MOST_DIGITS {
            rest *= 10;
            quotient = quotient * 10 + rest / divisor.mantissa;
            rest %= divisor.mantissa;
            exponent -= 1;
        }
        if rest != 0 {
            let surplus = digits(quotient).saturating_sub(QUOTIENT_DIGITS);
            quotient /= 10_i128.pow(surplus);
            exponent += surplus as i32;
        }
        (Self::new(quotient, exponent), rest == 0)
    }

    /// The number, if it is whole and of 64 bits.
    pub(crate) fn whole(self) -> Option<i64> {
        if self.exponent == 0 {
            return i64::try_from(self.mantissa).ok();
        }
        let power = 10_i64.checked_pow(u32::try_from(self.exponent).ok()?)?;
        i64::try_from(self.mantissa).ok()?.checked_mul(power)
    }

    /// Without what is after the point.
    pub(crate) fn truncated(self) -> Self {
        match self.exponent {
            0.. => self,
            exponent => match 10_i128.checked_pow(exponent.unsigned_abs()) {
                Some(power) => Self::new(self.mantissa / power, 0),
                None => Self::new(0, 0),
            },
        }
    }

    /// The next whole number that is not nearer to zero.
    pub(crate) fn away_from_zero(self) -> Self {
        if self.exponent >= 0 {
            return self;
        }
        // It is not whole: its mantissa does not end in a zero.
        let power = 10_i128.checked_pow(self.exponent.unsigned_abs());
        let truncated = power.map_or(0, |power| self.mantissa / power);
        Self::new(truncated + self.mantissa.signum(), 0)
    }

    /// Its one spelling as a value.
    pub(crate) fn value(self, arena: &Arena) -> Value<'_> {
        number(self.text(arena))
    }

    /// Its one spelling.
    pub(crate) fn text(self, arena: &Arena) -> &str {
        match self.whole() {
            Some(integer) => Number::of_integer(integer, arena).as_str(),
            None => {
                let text = format!("{}e{}", self.mantissa, self.exponent);
                let canonical = Number::new(&text).map(|number| canonical(Value::Number(number))).unwrap_or_default();
                arena.text(str::from_utf8(&canonical).unwrap_or(&text))
            }
        }
    }
}

/// An integer as a value.
#[inline]
pub(crate) fn integer(integer: i64, arena: &Arena) -> Value<'_> {
    Value::Number(Number::of_integer(integer, arena))
}

/// A short text that is written into the arena.
pub(crate) fn written<'a>(text: fmt::Arguments<'_>, arena: &'a Arena) -> &'a str {
    let mut buffer = Buffer { bytes: [0; 64], length: 0 };
    match buffer.write_fmt(text) {
        Ok(()) => arena.text(str::from_utf8(&buffer.bytes[..buffer.length]).unwrap_or_default()),
        Err(_) => arena.text(&text.to_string()),
    }
}

/// What is a number because it was written as one.
fn number(text: &str) -> Value<'_> {
    Number::new(text).map_or(Value::Null, Value::Number)
}

fn digits(mantissa: i128) -> u32 {
    mantissa.unsigned_abs().checked_ilog10().map_or(0, |digits| digits + 1)
}

/// A place for a short text that costs no allocation.
struct Buffer {
    bytes: [u8; 64],
    length: usize,
}

impl Write for Buffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::of(Number::new(text).unwrap()).unwrap()
    }

    fn text(decimal: Decimal) -> String {
        decimal.text(&Arena::new()).to_owned()
    }

    #[test]
    fn numbers_have_one_spelling() {
        for (written, canonical) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("1.50", "1.5"),
            ("-120e-1", "-12"),
            ("1e3", "1000"),
            ("0.000001", "0.000001"),
            ("1E+30", "1e30"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("12345678901234567890.5", "12345678901234567890.5"),
        ] {
            assert_eq!(text(decimal(written)), canonical, "{written}");
        }
        for beyond in ["1e1000000", "1e99999999999999999999", "1234567890123456789012345678901234567890"] {
            assert_eq!(Decimal::of(Number::new(beyond).unwrap()), None, "{beyond}");
        }
    }

    #[test]
    fn products_and_quotients_are_exact_where_they_end() {
        assert_eq!(text(decimal("0.1").times(decimal("0.2")).unwrap()), "0.02");
        assert_eq!(text(decimal("-3").times(decimal("1000")).unwrap()), "-3000");
        assert_eq!(decimal("12345678901234567891").times(decimal("123456789012345678911")), None);
        let quotient = |dividend: &str, divisor: &str| {
            let (quotient, is_exact) = decimal(dividend).over(decimal(divisor));
            (text(quotient), is_exact)
        };
        assert_eq!(quotient("1", "1024"), ("0.0009765625".to_owned(), true));
        assert_eq!(quotient("-7", "0.5"), ("-14".to_owned(), true));
        assert_eq!(quotient("2", "3"), ("0.666666666666666666".to_owned(), false));
        assert_eq!(quotient("-200", "3"), ("-66.6666666666666666".to_owned(), false));
        assert_eq!(quotient("9223372036854775807", "3"), ("3074457345618258600".to_owned(), false));
        assert_eq!(quotient("0", "3"), ("0".to_owned(), true));
    }

    #[test]
    fn whole_parts() {
        for (number, truncated, away) in [
            ("1.5", "1", "2"),
            ("-1.5", "-1", "-2"),
            ("10.5", "10", "11"),
            ("-100.001", "-100", "-101"),
            ("999.5", "999", "1000"),
            ("1e-50", "0", "1"),
            ("-1e-50", "0", "-1"),
            ("7", "7", "7"),
            ("70", "70", "70"),
        ] {
            assert_eq!(decimal(number).truncated(), decimal(truncated));
            assert_eq!(decimal(number).away_from_zero(), decimal(away));
        }
        assert_eq!(decimal("1e18").whole(), Some(1_000_000_000_000_000_000));
        assert_eq!(decimal("1e19").whole(), None);
        assert_eq!(decimal("0.5").whole(), None);
    }
}
