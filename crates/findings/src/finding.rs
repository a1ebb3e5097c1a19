//! A rule that is broken at a place.

use wheelwright_document::{FieldPath, Span};

use crate::{Level, Rule, Suppression};

/// A rule that is broken at a place, with everything a person needs to mend it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is wrong in general.
    pub rule: &'static Rule,
    /// How grave it is here.
    pub level: Level,
    /// What is wrong here: a lower-case fragment.
    pub message: String,
    /// Where in the schema or document it is.
    pub field: FieldPath,
    /// What Kubernetes calls this sort of error, if it would report it: `FieldValueRequired`.
    pub error_type: Option<&'static str>,
    /// Where it was written.
    pub place: Option<Place>,
    /// Other places that have to do with it.
    pub related: Vec<Related>,
    /// How to mend it here, such as the line to add.
    pub mend: Option<String>,
    /// What it is about, in words that stay the same when something else is edited; without them, the name of the file
    /// and the field say it. [`Findings::identified`](crate::Findings::identified) makes fingerprints of it.
    pub identity: Option<String>,
    /// The kind that it is about, with its group, if it is about one: `Order.shop.example.com`.
    pub kind: Option<String>,
    /// The version of that kind, if it is about one.
    pub version: Option<String>,
    /// It is rarely news, such as a limit that refuses only empty values: people are shown one line for all of its sort.
    pub is_minor: bool,
    /// Why it is let pass, if it is.
    pub suppressed: Option<Suppression>,
}

/// A piece of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The name of the file, as the user wrote it.
    pub file: String,
    /// Which piece.
    pub span: Span,
}

/// A place that explains a finding at another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Related {
    /// What it has to do with the finding: a short lower-case fragment.
    pub label: String,
    /// Where it is.
    pub place: Place,
}

impl Finding {
    /// A finding at the level of its rule.
    pub fn new(rule: &'static Rule, message: impl Into<String>, field: FieldPath) -> Self {
        Self {
            rule,
            level: rule.level,
            message: message.into(),
            field,
            error_type: None,
            place: None,
            related: Vec::new(),
            mend: None,
            identity: None,
            kind: None,
            version: None,
            is_minor: false,
            suppressed: None,
        }
    }

    /// Says where it was written.
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Says what Kubernetes calls this sort of error.
    pub fn with_error_type(mut self, error_type: &'static str) -> Self {
        self.error_type = Some(error_type);
        self
    }

    /// Points at another place that has to do with it.
    pub fn with_related(mut self, label: impl Into<String>, place: Place) -> Self {
        self.related.push(Related { label: label.into(), place });
        self
    }

    /// Says how to mend it here.
    pub fn with_mend(mut self, mend: impl Into<String>) -> Self {
        self.mend = Some(mend.into());
        self
    }

    /// Says what it is about in words that stay the same when something else is edited.
    pub fn with_identity(mut self, identity: impl Into<String>) -> Self {
        self.identity = Some(identity.into());
        self
    }

    /// Says which version of which kind it is about.
    pub fn about(mut self, kind: impl Into<String>, version: impl Into<String>) -> Self {
        (self.kind, self.version) = (Some(kind.into()), Some(version.into()));
        self
    }

    /// Makes it no graver than `level`, for instance because the stored definition already had this error.
    pub fn lowered_to(mut self, level: Level) -> Self {
        self.level = self.level.min(level);
        self
    }
}

impl Place {
    /// A piece of a file.
    pub fn new(file: impl Into<String>, span: Span) -> Self {
        Self { file: file.into(), span }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    #[test]
    fn a_level_is_lowered_and_never_raised() {
        let finding = Finding::new(&rules::TYPE_REQUIRED, "type is required", FieldPath::root());
        assert_eq!(finding.level, Level::Error);
        let finding = finding.lowered_to(Level::Note);
        assert_eq!(finding.level, Level::Note);
        assert_eq!(finding.lowered_to(Level::Warning).level, Level::Note);
    }
}
