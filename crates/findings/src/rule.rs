//! What a rule is: the part of a finding that is the same wherever it is found.

use std::fmt;

/// Something that can be wrong with a schema or a document.
#[derive(Debug)]
pub struct Rule {
    /// Never changes and is never used again for anything else: `WW005`.
    pub id: &'static str,
    /// The id for people, in kebab-case: `type-required`.
    pub name: &'static str,
    /// What is wrong, in one sentence.
    pub summary: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How it is mended in general; a finding may know better.
    pub mend: &'static str,
    /// How grave it is, unless a finding lowers it.
    pub level: Level,
    /// The page about this rule, in Markdown.
    pub page: &'static str,
}

impl Rule {
    /// Whether a file may let findings of this rule pass: not if they keep it from being read, are about what it lets
    /// pass, are mistakes in a catalog, its changes or its lock, say that the lock or the levels were changed, or say that a server refuses the document, which no
    /// comment changes.
    pub fn may_be_allowed(&self) -> bool {
        let is_mistake_of_ours = ("WW110".."WW150").contains(&self.id) && self.level == Level::Error;
        !is_mistake_of_ours
            && !matches!(self.id, "WW001" | "WW060" | "WW061" | "WW062" | "WW100" | "WW102" | "WW200" | "WW207")
    }
}

/// How grave a finding is, from the least to the most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Worth knowing.
    Note,
    /// Probably not what was meant; nothing is refused for it.
    Warning,
    /// Kubernetes refuses it, or would do something wrong with it.
    Error,
}

impl Level {
    /// The word for it, as shown: `error`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
