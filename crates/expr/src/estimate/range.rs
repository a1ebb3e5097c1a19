//! Ranges of costs and sizes, and arithmetic on them that stops at the largest number.

/// What an expression costs at least and at most, in Kubernetes' units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CostEstimate {
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
}

/// How large a value is, at least and at most: characters, bytes, items or entries.
pub(super) type Size = CostEstimate;

/// What a character of a text costs to look at.
pub(super) const CHARACTER: f64 = 0.1;
/// What a character of a pattern costs for each of a text.
pub(super) const PATTERN_CHARACTER: f64 = 0.25;

impl CostEstimate {
    /// Nothing is known about the size.
    pub(super) const UNKNOWN: Self = Self { min: 0, max: u64::MAX };

    pub(super) const fn exactly(value: u64) -> Self {
        Self { min: value, max: value }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// Rounded up, in the floating-point arithmetic that Kubernetes uses, so that the largest figures agree as well.
    pub(super) fn scaled(self, factor: f64) -> Self {
        let scale = |value: u64| (value as f64 * factor).ceil() as u64;
        Self { min: scale(self.min), max: scale(self.max) }
    }

    /// The range that covers both.
    pub(super) fn or(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// What comparing two values of such sizes costs.
    pub(super) fn comparison(self, other: Self) -> Self {
        let max = self.max.min(other.max);
        Self { min: max.min(1), max }.scaled(CHARACTER)
    }
}
