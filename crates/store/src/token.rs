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
