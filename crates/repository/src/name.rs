//! The names of documents within their kind.

use std::fmt;

use wheelwright_store::{BadKey, Key};

/// What a document is called within its kind: segments with `/` between them, as in `namespace/name` or
/// `subscription/group/cluster/pool`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(pub(crate) Key);

impl Name {
    /// A name of segments with `/` between them.
    ///
    /// # Errors
    /// A segment is empty, or the name is too long or has a control character, `\`, `?` or `#` in it.
    pub fn new(text: &str) -> Result<Self, BadKey> {
        Key::new(text).map(Self)
    }

    /// The name as a text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// What comes before its last segment, as in the namespace of `namespace/name`; none if there is nothing.
    pub fn scope(&self) -> Option<&str> {
        self.as_str().rsplit_once('/').map(|(scope, _)| scope)
    }

    /// Its last segment.
    pub fn last(&self) -> &str {
        self.0.segments().next_back().unwrap_or_default()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
