//! What stores return in the place of values that they cannot read.

/// Why a store returns a key without its value. Such a value is not that of any document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreadable {
    /// The newest value is lost, or its checksum does not match.
    Damaged,
    /// The store is damaged, and a newer value of the key may be lost. The last one that is known may be intact.
    Uncertain,
}

impl Unreadable {
    /// Why a value that a store returned is not one; none if it is one.
    pub fn of(value: &[u8]) -> Option<Self> {
        [Self::Damaged, Self::Uncertain].into_iter().find(|one| one.marker() == value)
    }

    /// What is returned in the place of the value.
    pub(crate) fn marker(self) -> &'static [u8] {
        match self {
            Self::Damaged => b"",
            // Not a part of any text.
            Self::Uncertain => b"\xff",
        }
    }
}
