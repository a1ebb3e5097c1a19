//! What a store gives out and takes back, and what nobody else looks into.

use std::fmt;

macro_rules! token {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub struct $name(Box<str>);

        impl $name {
            /// One that a store gave out. Any text is one: the store says whether it is of any use.
            pub fn new(text: impl Into<Box<str>>) -> Self {
                Self(text.into())
            }

            /// The text to give back later.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

token! {
    /// One value of a key, told apart from all that were and will be there. Equal or not, and nothing else.
    Revision
}

token! {
    /// A position in what happened: everything before it is known to whoever has it.
    Cursor
}

token! {
    /// Where a list goes on.
    Continuation
}

/// A mark that every write moves: if it is where it was, nothing was written in between. Equal or not, and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark([u8; Self::BYTES]);

impl Mark {
    /// The most that a store may need to tell two marks apart.
    pub const BYTES: usize = 48;

    /// What the store tells it by.
    pub fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }
}

impl From<u64> for Mark {
    fn from(number: u64) -> Self {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        Self(bytes)
    }
}
