//! Numbers, kept as the text they were written in.

use std::{cmp::Ordering, fmt};

use crate::Arena;

/// A number as JSON writes one; arithmetic looks at the text, so no precision is ever lost.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Number<'a>(&'a str);

impl<'a> Number<'a> {
    /// The number that `text` spells, if it is one in JSON's grammar.
    pub fn new(text: &'a str) -> Option<Self> {
        (scan(text.as_bytes()) == Some(text.len())).then_some(Self(text))
    }

    /// An integer, in its one spelling.
    #[inline]
    pub fn of_integer(integer: i64, arena: &'a Arena) -> Self {
        Self(arena.text(itoa::Buffer::new().format(integer)))
    }

    /// A text that the decoder has found to be a number.
    #[inline]
    pub(crate) fn scanned(text: &'a str) -> Self {
        debug_assert!(Self::new(text).is_some());
        Self(text)
    }

    /// The text, exactly as it was written.
    #[inline]
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// The number as a 64-bit integer, if it is written as one (no fraction, no exponent) and fits.
    #[inline]
    pub fn as_i64(self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The nearest double; infinite if the number is too large for one, zero if it is too small.
    pub fn as_f64(self) -> f64 {
        // Every JSON number is in the grammar of `f64`.
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Whether the number is a whole one in value: `3`, `3.0` and `30e-1` are.
    pub fn is_integral(self) -> bool {
        Decimal::of(self.0).is_integral()
    }

    /// Order by value, exact at any size: nothing is rounded, and exponents may have any number of digits.
    pub fn compare(self, other: Number<'_>) -> Ordering {
        match (self.as_i64(), other.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => Decimal::of(self.0).compare(&Decimal::of(other.0)),
        }
    }

    /// Whether this number is `factor` times a whole number; only zero is a multiple of zero.
    ///
    /// Exact for every number, however long and whatever its exponent, as long as the significant digits of `factor`
    /// (`15` in `1.50e9`) fit 64 bits. Beyond those 19 digits both numbers are rounded to doubles first.
    pub fn is_multiple_of(self, factor: Number<'_>) -> bool {
        let (dividend, divisor) = (Decimal::of(self.0), Decimal::of(factor.0));
        if dividend.is_zero() || divisor.is_zero() {
            return dividend.is_zero();
        }
        match divisor.digits_as_u64() {
            Some(digits) => dividend.is_multiple_of(&divisor, digits),
            None => self.as_f64() % factor.as_f64() == 0.0,
        }
    }

    /// Appends the one text that all numbers of this value share.
    ///
    /// Numbers from 0.000001 up to 21 digits before the point are written without an exponent, others as `d.ddde±x`;
    /// no sign on zero or on a positive exponent, and no zero that could be left out. So the text is never much longer
    /// than the shortest way to write the number.
    pub(crate) fn write_canonical(self, out: &mut Vec<u8>) {
        Decimal::of(self.0).write(out);
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// How many bytes at the start of `bytes` are a JSON number.
pub(crate) fn scan(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let start = usize::from(bytes.first() == Some(&b'-'));
    let mut end = match bytes.get(start) {
        Some(b'0') => start + 1,
        Some(b'1'..=b'9') => digits(start),
        _ => return None,
    };
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if fraction == end + 1 {
            return None;
        }
        end = fraction;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent == end + 1 + sign {
            return None;
        }
        end = exponent;
    }
    Some(end)
}

/// A number taken apart without computing anything: `±0.d₁d₂d₃… × 10^(point + exponent)`, where neither the first nor
/// the last digit is zero.
struct Decimal<'a> {
    negative: bool,
    /// The digits that were written before and after the point.
    whole: &'a [u8],
    fraction: &'a [u8],
    /// Where the point is, counted from the first digit and without the exponent.
    point: i64,
    exponent: Exponent<'a>,
}

/// An exponent as it was written, which may be beyond any integer type.
struct Exponent<'a> {
    negative: bool,
    /// Without leading zeros; none at all is zero.
    digits: &'a [u8],
}

/// Differences of exponents stop here, far beyond the length of any text.
const FAR: i64 = 100_000_000_000_000_000;

impl<'a> Decimal<'a> {
    fn of(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let negative = bytes.first() == Some(&b'-');
        let bytes = &bytes[usize::from(negative)..];
        let (mantissa, exponent) = match bytes.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&bytes[..at], &bytes[at + 1..]),
            None => (bytes, &[][..]),
        };
        let (mut whole, mut fraction) = match mantissa.iter().position(|byte| *byte == b'.') {
            Some(at) => (&mantissa[..at], &mantissa[at + 1..]),
            None => (mantissa, &[][..]),
        };
        whole = &whole[zeros(whole.iter())..];
        let mut point = whole.len() as i64;
        if whole.is_empty() {
            let leading = zeros(fraction.iter());
            point -= leading as i64;
            fraction = &fraction[leading..];
        }
        fraction = &fraction[..fraction.len() - zeros(fraction.iter().rev())];
        if fraction.is_empty() {
            whole = &whole[..whole.len() - zeros(whole.iter().rev())];
        }
        Self { negative, whole, fraction, point, exponent: Exponent::of(exponent) }
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.iter().chain(self.fraction).copied()
    }

    fn count(&self) -> usize {
        self.whole.len() + self.fraction.len()
    }

    fn digits_as_u64(&self) -> Option<u64> {
        self.digits().try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
    }

    fn is_zero(&self) -> bool {
        self.count() == 0
    }

    /// The power of ten of the first digit, plus one; beyond [`FAR`] only its sign is right.
    fn magnitude(&self) -> i64 {
        self.point + self.exponent.minus(&Exponent::of(b""))
    }

    fn is_integral(&self) -> bool {
        self.is_zero() || self.magnitude() >= self.count() as i64
    }

    fn compare(&self, other: &Decimal<'_>) -> Ordering {
        let sign = |decimal: &Decimal<'_>| match (decimal.is_zero(), decimal.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        sign(self).cmp(&sign(other)).then_with(|| {
            if self.is_zero() {
                return Ordering::Equal;
            }
            let places = self.point - other.point + self.exponent.minus(&other.exponent);
            let size = places.cmp(&0).then_with(|| self.digits().cmp(other.digits()));
            if self.negative { size.reverse() } else { size }
        })
    }

    /// Neither is zero, and `digits` are those of `divisor`.
    fn is_multiple_of(&self, divisor: &Decimal<'_>, digits: u64) -> bool {
        // With the powers of ten of both last digits taken out, self is `a × 10^shift` and the divisor is `digits`.
        let last = |decimal: &Decimal<'_>| decimal.point - decimal.count() as i64;
        let shift = last(self) - last(divisor) + self.exponent.minus(&divisor.exponent);
        // The last digit of `a` is not zero, so `a` is no multiple of anything times ten.
        let Ok(shift) = usize::try_from(shift) else {
            return false;
        };
        // More tens than there are twos and fives in 64 bits make no difference.
        let tens = std::iter::repeat_n(b'0', shift.min(64));
        let divisor = u128::from(digits);
        self.digits().chain(tens).fold(0, |rest, digit| (rest * 10 + u128::from(digit - b'0')) % divisor) == 0
    }

    fn write(&self, out: &mut Vec<u8>) {
        if self.is_zero() {
            return out.push(b'0');
        }
        if self.negative {
            out.push(b'-');
        }
        let magnitude = self.magnitude();
        match magnitude {
            -5..=0 => {
                out.extend_from_slice(b"0.");
                out.extend(std::iter::repeat_n(b'0', magnitude.unsigned_abs() as usize));
                out.extend(self.digits());
            }
            1..=21 => {
                let before = magnitude as usize;
                out.extend(self.digits().chain(std::iter::repeat(b'0')).take(before));
                if self.count() > before {
                    out.push(b'.');
                    out.extend(self.digits().skip(before));
                }
            }
            _ => {
                out.extend(self.digits().take(1));
                if self.count() > 1 {
                    out.push(b'.');
                    out.extend(self.digits().skip(1));
                }
                out.push(b'e');
                self.exponent.write_plus(self.point - 1, out);
            }
        }
    }
}

impl<'a> Exponent<'a> {
    /// The exponent that is written after the `e`; nothing is zero.
    fn of(text: &'a [u8]) -> Self {
        let (negative, digits) = match text.first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        Self { negative, digits: &digits[zeros(digits.iter())..] }
    }

    /// The difference, exact up to [`FAR`] on either side and that from there on.
    fn minus(&self, other: &Exponent<'_>) -> i64 {
        let length = self.digits.len().max(other.digits.len());
        // A difference that has come this far cannot come back: the digits that follow count too little.
        (0..length).rev().fold(0, |difference: i64, place| {
            (difference * 10 + self.digit(place) - other.digit(place)).clamp(-FAR, FAR)
        })
    }

    /// The digit with the given power of ten, signed.
    fn digit(&self, place: usize) -> i64 {
        let digit = self.digits.iter().rev().nth(place).map_or(0, |digit| i64::from(digit - b'0'));
        if self.negative { -digit } else { digit }
    }

    /// Appends the sum, exact at any size.
    fn write_plus(&self, offset: i64, out: &mut Vec<u8>) {
        let value = self.minus(&Exponent::of(b""));
        if value.abs() < FAR {
            return out.extend_from_slice((value + offset).to_string().as_bytes());
        }
        // The offset is no longer than a text, so it changes neither the sign nor more than a carry at the front.
        let mut carry = if self.negative { -offset } else { offset };
        let mut digits = vec![b'0'; self.digits.len() + 1];
        digits[1..].copy_from_slice(self.digits);
        for digit in digits.iter_mut().rev() {
            let sum = i64::from(*digit - b'0') + carry;
            *digit = b'0' + sum.rem_euclid(10) as u8;
            carry = sum.div_euclid(10);
        }
        if self.negative {
            out.push(b'-');
        }
        out.extend_from_slice(&digits[zeros(digits.iter())..]);
    }
}

/// How many zeros the digits start with.
fn zeros<'a>(digits: impl Iterator<Item = &'a u8>) -> usize {
    digits.take_while(|digit| **digit == b'0').count()
}
