//! Amounts of resources such as `1.5Gi`, with the arithmetic and the quirks of Kubernetes' `resource.Quantity`.

use std::cmp::Ordering;

use crate::digits::split_digits;

/// An amount of something. As in Kubernetes, nothing is finer than a billionth: what is, is rounded away from zero.
/// Amounts with a binary suffix end at 2⁶³-1; all others may be as large as they like, of which we keep 38 digits.
///
/// Two amounts are equal if they are the same number, however they were written.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Less than 10³⁸ in magnitude, times ten to the power of `scale`.
    mantissa: i128,
    scale: i32,
    /// Kubernetes keeps the mantissa in 64 bits, and only then sees that it is an integer.
    is_small: bool,
}

/// The finest scale there is.
const NANO: i32 = -9;
/// Mantissas stay below this.
const LIMIT: i128 = 10_i128.pow(MOST_DIGITS);
const MOST_DIGITS: u32 = 38;
/// So many digits fit into 64 bits whatever they are.
const MOST_SMALL_DIGITS: usize = 18;

impl Quantity {
    /// Reads a number with an optional suffix: a power of ten or of 1024, or an exponent.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let is_negative = text.starts_with('-');
        let number = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (whole, rest) = split_digits(number);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        let has_digits = !whole.is_empty() || !fraction.is_empty();
        let whole = whole.trim_start_matches('0');
        let magnitude = match Unit::parse(suffix)? {
            Unit::Decimal(exponent) => decimal(whole, fraction, exponent, has_digits),
            Unit::Binary(exponent) => binary(whole, fraction, exponent, has_digits),
        }?;
        Some(if is_negative { magnitude.negated() } else { magnitude })
    }

    /// Whether Kubernetes sees an integer here: not in `1.0` or `1000m`, nor in numbers that it needs more than 64
    /// bits to read, such as `1Pi`.
    pub fn is_integer(self) -> bool {
        self.as_integer().is_some()
    }

    /// The amount as an integer, if [`is_integer`](Self::is_integer).
    pub fn as_integer(self) -> Option<i64> {
        let value = i64::try_from(self.mantissa).ok().filter(|_| self.is_small && self.scale >= 0)?;
        match u32::try_from(self.scale) {
            _ if value == 0 => Some(0),
            Ok(scale) if scale <= 18 => value.checked_mul(10_i64.pow(scale)),
            _ => None,
        }
    }

    /// The amount as a floating point number, roughly.
    pub fn as_float(self) -> f64 {
        if self.scale == 0 {
            return self.mantissa as f64;
        }
        self.mantissa as f64 * go_power_of_ten(self.scale)
    }

    /// The amount as a mantissa and the power of ten that it is multiplied by.
    pub fn as_decimal(self) -> (i128, i32) {
        (self.mantissa, self.scale)
    }

    /// -1, 0 or 1.
    pub fn sign(self) -> i64 {
        self.mantissa.signum() as i64
    }

    /// The sum of both. Beyond 38 digits, the last are lost.
    #[expect(clippy::should_implement_trait, reason = "it is named after the function in rules")]
    pub fn add(self, other: Self) -> Self {
        if self.is_small && other.is_small {
            if other.mantissa == 0 {
                return self;
            }
            if self.mantissa == 0 {
                return other;
            }
        }
        let (high, low) = if self.scale >= other.scale { (self, other) } else { (other, self) };
        let distance = i64::from(high.scale) - i64::from(low.scale);
        if let Some(sum) = shifted(high.mantissa, distance).and_then(|high| high.checked_add(low.mantissa)) {
            let is_small = self.is_small && other.is_small && distance <= 18 && i64::try_from(sum).is_ok();
            return Self { mantissa: sum, scale: low.scale, is_small }.limited();
        }
        // They are too far apart for one mantissa: the larger gets all the room, the smaller what is left.
        let room = i64::from(MOST_DIGITS - 1) - i64::from(digits(high.mantissa));
        let room = room.clamp(0, distance);
        let high_mantissa = shifted(high.mantissa, room).unwrap_or(high.mantissa);
        let low_mantissa = match u32::try_from(distance - room) {
            Ok(places) if places < MOST_DIGITS => low.mantissa / 10_i128.pow(places),
            _ => 0,
        };
        let scale = i32::try_from(i64::from(high.scale) - room).unwrap_or(high.scale);
        Self { mantissa: high_mantissa.saturating_add(low_mantissa), scale, is_small: false }.limited()
    }

    /// The difference of both. Beyond 38 digits, the last are lost.
    #[expect(clippy::should_implement_trait, reason = "it is named after the function in rules")]
    pub fn sub(self, other: Self) -> Self {
        self.add(other.negated())
    }

    fn negated(self) -> Self {
        Self { mantissa: -self.mantissa, ..self }
    }

    /// The same with less than 38 digits.
    fn limited(self) -> Self {
        if self.mantissa.abs() < LIMIT {
            return self;
        }
        Self { mantissa: self.mantissa / 10, scale: self.scale.saturating_add(1), is_small: false }
    }

    /// With a mantissa of billionths, which is what the reference keeps, if there is room for it.
    fn in_nanos(self) -> Self {
        match shifted(self.mantissa, i64::from(self.scale) - i64::from(NANO)) {
            Some(mantissa) => Self { mantissa, scale: NANO, ..self },
            None => self,
        }
    }
}

impl From<i64> for Quantity {
    fn from(value: i64) -> Self {
        Self { mantissa: value.into(), scale: 0, is_small: true }
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        let signs = self.mantissa.signum().cmp(&other.mantissa.signum());
        if signs.is_ne() || self.mantissa == 0 {
            return signs;
        }
        let order = |quantity: &Self| i64::from(digits(quantity.mantissa)) + i64::from(quantity.scale);
        let magnitudes = order(self).cmp(&order(other)).then_with(|| {
            // As many digits before the point: the one with fewer after it has room for the missing zeros.
            let distance = i64::from(self.scale) - i64::from(other.scale);
            let aligned = |mantissa: i128, places: i64| shifted(mantissa.abs(), places).unwrap_or(LIMIT);
            aligned(self.mantissa, distance.max(0)).cmp(&aligned(other.mantissa, (-distance).max(0)))
        });
        if self.mantissa > 0 { magnitudes } else { magnitudes.reverse() }
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Quantity {}

/// What a suffix stands for.
enum Unit {
    /// A power of ten.
    Decimal(i32),
    /// A power of two.
    Binary(u32),
}

impl Unit {
    fn parse(suffix: &str) -> Option<Self> {
        Some(match suffix {
            "n" => Self::Decimal(-9),
            "u" => Self::Decimal(-6),
            "m" => Self::Decimal(-3),
            "" => Self::Decimal(0),
            "k" => Self::Decimal(3),
            "M" => Self::Decimal(6),
            "G" => Self::Decimal(9),
            "T" => Self::Decimal(12),
            "P" => Self::Decimal(15),
            "E" => Self::Decimal(18),
            "Ki" => Self::Binary(10),
            "Mi" => Self::Binary(20),
            "Gi" => Self::Binary(30),
            "Ti" => Self::Binary(40),
            "Pi" => Self::Binary(50),
            "Ei" => Self::Binary(60),
            _ => {
                let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
                // Like the reference, it wraps at 32 bits.
                Self::Decimal(exponent as i32)
            }
        })
    }
}

/// A missing number counts as zero, but only where the reference needs no arbitrary precision for it.
fn decimal(whole: &str, fraction: &str, exponent: i32, has_digits: bool) -> Option<Quantity> {
    let scale = i64::from(exponent) - fraction.len() as i64;
    let digits = || whole.bytes().chain(fraction.bytes()).map(|digit| i128::from(digit - b'0'));
    if whole.len().max(1) + fraction.len() <= MOST_SMALL_DIGITS && scale >= NANO.into() {
        let mantissa = digits().fold(0, |value, digit| value * 10 + digit);
        return Some(Quantity { mantissa, scale: exponent - fraction.len() as i32, is_small: true });
    }
    if !has_digits {
        return None;
    }
    let leading_zeros = digits().take_while(|digit| *digit == 0).count();
    let significant = whole.len() + fraction.len() - leading_zeros;
    let too_fine = usize::try_from(i64::from(NANO) - scale).unwrap_or(0);
    let kept = significant.saturating_sub(too_fine).min(MOST_DIGITS as usize);
    let mut digits = digits().skip(leading_zeros);
    let mut mantissa = digits.by_ref().take(kept).fold(0, |value, digit| value * 10 + digit);
    if too_fine > 0 && digits.any(|digit| digit != 0) {
        mantissa += 1;
    }
    let dropped = if significant == 0 { 0 } else { significant.max(too_fine) - kept };
    let scale = if significant < too_fine { NANO.into() } else { scale + dropped as i64 };
    let scale = scale.clamp(NANO.into(), i32::MAX.into()) as i32;
    Some(Quantity { mantissa, scale, is_small: false }.limited().in_nanos())
}

fn binary(whole: &str, fraction: &str, exponent: u32, has_digits: bool) -> Option<Quantity> {
    // How the reference estimates whether the product fits into 64 bits.
    let fits = fraction.is_empty() && whole.len().max(1) + (exponent as usize * 3 / 10) < 15;
    if fits {
        let value: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        return Some(Quantity { mantissa: value << exponent, scale: 0, is_small: true });
    }
    if !has_digits {
        return None;
    }
    let largest = Quantity { is_small: false, ..Quantity::from(i64::MAX) };
    if whole.len() > 19 {
        return Some(largest);
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    if whole << exponent > largest.mantissa {
        return Some(largest);
    }
    // The fraction times the unit, from the last digit to the first: exact, and needs no more room than one step.
    let unit = 1_000_000_000_i128 << exponent;
    let mut is_exact = true;
    let scaled = fraction.bytes().rev().fold(0, |below, digit| {
        let value = i128::from(digit - b'0') * unit + below;
        is_exact &= value % 10 == 0;
        value / 10
    });
    let nanos = whole * unit + scaled + i128::from(!is_exact);
    Some(Quantity { mantissa: nanos, scale: NANO, is_small: false }.min(largest))
}

/// The mantissa with zeros appended, if it stays below the limit.
fn shifted(mantissa: i128, places: i64) -> Option<i128> {
    if mantissa == 0 {
        return Some(0);
    }
    let places = u32::try_from(places).ok().filter(|places| *places < MOST_DIGITS)?;
    mantissa.checked_mul(10_i128.pow(places)).filter(|mantissa| mantissa.abs() < LIMIT)
}

fn digits(mantissa: i128) -> u32 {
    mantissa.unsigned_abs().checked_ilog10().map_or(0, |log| log + 1)
}

/// Ten to the power of `exponent`, rounded as Go's `math.Pow10` does.
fn go_power_of_ten(exponent: i32) -> f64 {
    const SMALL: [f64; 32] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31,
    ];
    const LARGE: [f64; 10] = [1e0, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288];
    const TINY: [f64; 11] = [1e-0, 1e-32, 1e-64, 1e-96, 1e-128, 1e-160, 1e-192, 1e-224, 1e-256, 1e-288, 1e-320];
    let index = exponent.unsigned_abs() as usize;
    match exponent {
        0..=308 => LARGE[index / 32] * SMALL[index % 32],
        -323..=-1 => TINY[index / 32] / SMALL[index % 32],
        309.. => f64::INFINITY,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(text: &str) -> Quantity {
        Quantity::parse(text).unwrap_or_else(|| panic!("{text} is a quantity"))
    }

    #[test]
    fn suffixes_are_powers() {
        let same = [
            ("1k", "1000"),
            ("1M", "1000k"),
            ("1G", "1000M"),
            ("1T", "1000G"),
            ("1P", "1000T"),
            ("1E", "1000P"),
            ("1Ki", "1024"),
            ("1Mi", "1024Ki"),
            ("1Gi", "1024Mi"),
            ("1Ti", "1024Gi"),
            ("1Pi", "1024Ti"),
            ("1Ei", "1024Pi"),
            ("1000m", "1"),
            ("1000u", "1m"),
            ("1000n", "1u"),
            ("1e3", "1k"),
            ("1E-3", "1m"),
            ("200M", "0.2G"),
            ("1.5Gi", "1536Mi"),
            ("-.5", "-500m"),
            ("+0", "-0"),
            ("0001.500", "1.5"),
            ("1e40", "10000000000000000000000000000000000000000"),
        ];
        for (one, other) in same {
            assert_eq!(quantity(one), quantity(other), "{one} and {other}");
        }
    }

    #[test]
    fn what_is_too_fine_is_rounded_away_from_zero() {
        let same = [
            ("0.1n", "1n"),
            ("-0.1n", "-1n"),
            ("1e-100", "1n"),
            ("1.0000000001", "1.000000001"),
            ("1.0000000010", "1.000000001"),
            ("0.0000000000", "0"),
            ("0.0000000000000001Ki", "1n"),
            ("9007199254740993.0000000001", "9007199254740993.000000001"),
        ];
        for (one, other) in same {
            assert_eq!(quantity(one), quantity(other), "{one} and {other}");
        }
    }

    #[test]
    fn only_binary_suffixes_have_an_upper_end() {
        assert_eq!(quantity("9Ei"), quantity("9223372036854775807"));
        assert_eq!(quantity("-99999999999999999999999Ki"), quantity("-9223372036854775807"));
        assert!(quantity("10E") > quantity("9Ei"));
        assert!(quantity("1e100") > quantity("1e99"));
        assert!(quantity("-1e1000000") < quantity("-1e999999"));
        assert!(quantity("1e2147483647") > quantity("1e-2147483648"));
    }

    #[test]
    fn comparisons() {
        let ascending = ["-1E", "-1m", "-1n", "0", "1n", "1.5m", "50M", "50Mi", "100M", "99999999999999999999999"];
        for (place, one) in ascending.iter().enumerate() {
            for (other_place, other) in ascending.iter().enumerate() {
                assert_eq!(quantity(one).cmp(&quantity(other)), place.cmp(&other_place), "{one} and {other}");
            }
        }
    }

    #[test]
    fn integers_are_what_kubernetes_reads_as_such() {
        let integers =
            [("50k", 50_000), ("50000000G", 50_000_000_000_000_000), ("12Mi", 12 << 20), ("-3", -3), ("0e99", 0)];
        for (text, value) in integers {
            assert_eq!(quantity(text).as_integer(), Some(value), "{text}");
        }
        // Numbers of more than 18 digits, and large binary ones, take a way that does not come back.
        for text in ["1.0", "1000m", "1.5Ki", "1Pi", "1Ei", "9999999999999999999999G", "1e19", "1000000000000000000"] {
            assert!(!quantity(text).is_integer(), "{text}");
        }
    }

    #[test]
    fn arithmetic() {
        let (fifty, twenty) = (quantity("50k"), quantity("20"));
        assert_eq!(fifty.add(twenty), quantity("50.02k"));
        assert_eq!(fifty.sub(twenty), quantity("49.98k"));
        let chain = fifty.add(20.into()).sub(quantity("100k"));
        assert_eq!(chain.as_integer(), Some(-49_980));
        assert_eq!(chain.sub((-50_000).into()).as_integer(), Some(20));
        assert_eq!(fifty.sub(20_000.into()).as_float(), 30_000.0);
        assert_eq!(quantity("1n").add(quantity("1E")), quantity("1000000000000000000.000000001"));
        assert!(!Quantity::from(i64::MAX).add(1.into()).is_integer());
        assert_eq!(Quantity::from(0).sub(i64::MIN.into()), quantity("9223372036854775808"));
        // Out of sight of each other: the smaller is lost.
        assert_eq!(quantity("1e100").add(quantity("1n")), quantity("1e100"));
        assert_eq!(quantity("1n").sub(quantity("1e100")), quantity("-1e100"));
    }

    #[test]
    fn floats_and_signs() {
        let floats =
            [("50.703k", 50_703.0), ("1Ei", 1_152_921_504_606_846_976.0), ("100m", 0.1), ("1e400", f64::INFINITY)];
        for (text, value) in floats {
            assert_eq!(quantity(text).as_float(), value, "{text}");
        }
        assert_eq!(["-1n", "0", "1n"].map(|text| quantity(text).sign()), [-1, 0, 1]);
    }

    #[test]
    fn long_texts_are_read_in_one_pass() {
        let nines = "9".repeat(1_000_000);
        assert!(quantity(&nines) > quantity("1e999999"));
        assert!(quantity(&format!("0.{nines}")) == quantity("1"));
        assert!(quantity(&format!("0.{nines}Ki")) == quantity("1Ki"));
        assert!(quantity(&format!("{nines}Ki")) == quantity("9Ei"));
    }
}
