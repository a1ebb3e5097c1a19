//! Numbers as Go's decoder sees them, and the checks on them.

use wheelwright_document::{Number, Path};

use super::Tally;
use crate::ErrorType;

/// What Kubernetes' decoder makes of a number: an `int64` if it is written as one and fits, else a `float64`. Its
/// validation depends on which of the two it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum GoNumber {
    Integer(i64),
    Float(f64),
}

impl From<Number<'_>> for GoNumber {
    #[inline]
    fn from(number: Number<'_>) -> Self {
        match number.as_i64() {
            Some(value) => Self::Integer(value),
            None => Self::Float(number.as_f64()),
        }
    }
}

impl GoNumber {
    /// Whether it passes for `type: integer`.
    #[inline]
    pub(crate) fn is_integer(self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Float(value) => is_json_integer(value),
        }
    }

    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// The reference takes a double for an integer if it is within 2⁵³ and whole, or so nearly whole that the difference
/// may come from an earlier operation.
fn is_json_integer(value: f64) -> bool {
    const LARGEST: f64 = ((1u64 << 53) - 1) as f64;
    const EPSILON: f64 = 1e-9;
    if !(-LARGEST..=LARGEST).contains(&value) {
        return false;
    }
    let whole = value.round();
    value == whole || (value - whole).abs() < EPSILON * whole.abs()
}

/// `minimum`, `maximum`, `multipleOf` and the range of the type.
#[derive(Debug, Default)]
pub(crate) struct NumberChecks {
    pub(crate) range: Range,
    pub(crate) minimum: Option<Bound>,
    pub(crate) maximum: Option<Bound>,
    pub(crate) multiple_of: Option<Bound>,
}

/// Go's conversion to an integer as amd64 does it: what does not fit becomes the least one.
pub(super) fn truncate(value: f64) -> i64 {
    if value.abs() < i64::MAX as f64 { value as i64 } else { i64::MIN }
}

/// What `type` and `format` let a number be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Range {
    #[default]
    Any,
    Int32,
    Int64,
    Float32,
}

/// What a number is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    value: f64,
    exclusive: bool,
    /// The bound is in the range of the type itself. One that is not fails every number.
    in_range: bool,
}

impl Bound {
    pub(crate) fn new(value: f64, exclusive: bool, range: Range) -> Self {
        Self { value, exclusive, in_range: range.holds(GoNumber::Float(value)) }
    }

    /// The reference cuts the fraction off a bound before it compares it with an integer, unless the bound was out of
    /// range already.
    fn integer_for(self, number: GoNumber) -> Option<(i64, i64)> {
        match number {
            GoNumber::Integer(value) if self.in_range => Some((value, truncate(self.value))),
            _ => None,
        }
    }

    fn admits_above(self, number: GoNumber) -> bool {
        match (self.integer_for(number), self.exclusive) {
            (Some((value, least)), true) => value > least,
            (Some((value, least)), false) => value >= least,
            (None, true) => number.as_f64() > self.value,
            (None, false) => number.as_f64() >= self.value,
        }
    }

    fn admits_below(self, number: GoNumber) -> bool {
        match (self.integer_for(number), self.exclusive) {
            (Some((value, most)), true) => value < most,
            (Some((value, most)), false) => value <= most,
            (None, true) => number.as_f64() < self.value,
            (None, false) => number.as_f64() <= self.value,
        }
    }

    fn admits_multiple(self, number: GoNumber) -> bool {
        match self.integer_for(number) {
            _ if self.value < 0.0 => false,
            // A factor below one has no integer part to divide by: the reference would crash, so the doubles decide.
            Some((value, factor)) if factor != 0 => value % factor == 0,
            _ if self.value < 1.0 => is_json_integer(1.0 / self.value * number.as_f64()),
            _ => is_json_integer(number.as_f64() / self.value),
        }
    }
}

impl Range {
    pub(crate) fn holds(self, number: GoNumber) -> bool {
        match (self, number) {
            (Self::Any | Self::Int64, GoNumber::Integer(_)) | (Self::Any, GoNumber::Float(_)) => true,
            (Self::Int32, GoNumber::Integer(value)) => i32::try_from(value).is_ok(),
            (Self::Int32, GoNumber::Float(value)) => {
                value.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value)
            }
            // ±2⁶³ are doubles, but Go writes them with rounded digits, which are out of range.
            (Self::Int64, GoNumber::Float(value)) => value.fract() == 0.0 && value.abs() < i64::MAX as f64,
            (Self::Float32, number) => (number.as_f64() as f32).is_finite(),
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Any => "a number",
            Self::Int32 => "a 32-bit integer",
            Self::Int64 => "a 64-bit integer",
            Self::Float32 => "a 32-bit float",
        }
    }
}

impl NumberChecks {
    /// Whether there is anything to check.
    pub(crate) fn matter(&self) -> bool {
        self.range != Range::Any || [self.minimum, self.maximum, self.multiple_of].iter().any(Option::is_some)
    }

    pub(crate) fn check(&self, number: GoNumber, path: &Path<'_>, tally: &mut Tally<'_>) {
        if !self.range.holds(number) {
            tally.fail_at_root(path, || format!("must be {}", self.range.describe()));
        }
        for bound in [self.minimum, self.maximum, self.multiple_of].into_iter().flatten() {
            if !bound.in_range {
                tally.fail_at_root(path, || {
                    format!("is checked against {}, which is not {} itself", bound.value, self.range.describe())
                });
            }
        }
        if let Some(bound) = self.minimum
            && !bound.admits_above(number)
        {
            let than = if bound.exclusive { "more than" } else { "at least" };
            tally.fail(ErrorType::Invalid, path, || format!("must be {than} {}", bound.value));
        }
        if let Some(bound) = self.maximum
            && !bound.admits_below(number)
        {
            let than = if bound.exclusive { "less than" } else { "at most" };
            tally.fail(ErrorType::Invalid, path, || format!("must be {than} {}", bound.value));
        }
        if let Some(factor) = self.multiple_of
            && !factor.admits_multiple(number)
        {
            tally.fail(ErrorType::Invalid, path, || format!("must be a multiple of {}", factor.value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_pass_for_integers_as_in_the_reference() {
        for integer in [0.0, 1.0, 1e3, -3.0, 9_007_199_254_740_991.0, 3.000_000_000_4, -2.999_999_999_9] {
            assert!(is_json_integer(integer), "{integer}");
        }
        for other in [0.5, 1e-12, 1.5, -3.000_000_4, 9_007_199_254_740_992.0, f64::INFINITY, f64::NAN] {
            assert!(!is_json_integer(other), "{other}");
        }
    }

    #[test]
    fn ranges_hold_what_fits() {
        assert!(Range::Int32.holds(GoNumber::Integer(2_147_483_647)));
        assert!(!Range::Int32.holds(GoNumber::Integer(2_147_483_648)));
        assert!(Range::Int32.holds(GoNumber::Float(1.0)));
        assert!(!Range::Int64.holds(GoNumber::Float(1.5)));
        assert!(!Range::Int64.holds(GoNumber::Float(9_223_372_036_854_775_808.0)));
        assert!(!Range::Int64.holds(GoNumber::Float(-9_223_372_036_854_775_808.0)));
        assert!(!Range::Float32.holds(GoNumber::Float(1e39)));
    }
}
