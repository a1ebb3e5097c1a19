//! What `check` has to say about the versions of a kind: data, which `describe` puts into words.

use wheelwright_document::{Owned, Span};
use wheelwright_findings::{Level, Rule, rules};

use super::{AccessHarm, Limit, Narrower, Proposal};
use crate::{Direction, Maturity, Selector, Union, VersionName};

/// Something about a version that those who use another one have to know.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Incompatibility {
    /// The version that is different.
    pub version: VersionName,
    /// The version that it differs from, if it is about one.
    pub other: Option<VersionName>,
    /// The field: in the names of `version`, or in those of `other` if `version` does not have it.
    pub field: Selector,
    /// What is wrong.
    pub what: What,
    /// How grave it is here.
    pub level: Level,
    /// How grave it is in stable versions, where that is another level than the rule has.
    pub(crate) in_stable: Option<Level>,
    /// Where in the schema of `version` it was written; of a field that is gone, where it would have to be.
    pub span: Span,
    /// Where in the schema of `other` it was written.
    pub related: Option<Span>,
    /// What to add to the changes, if that mends it.
    pub additions: Vec<Addition>,
    /// A conversion that the field and one that came are probably two spellings of.
    pub proposal: Option<Proposal>,
    /// A small document that shows it.
    pub example: Option<Example>,
}

/// A small document that shows something.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Example {
    /// The version that it is a document of.
    pub version: VersionName,
    /// The document.
    pub document: Owned,
    /// What the other version says about it.
    pub refusal: Option<String>,
}

/// What is wrong.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum What {
    /// A field is gone, and no change says why.
    Removed {
        /// What sort of value it had.
        shape: String,
    },
    /// A field is gone and another came that is probably the same.
    ProbablyRenamed {
        /// The path of the other.
        to: Selector,
        /// Why it probably is.
        likeness: Likeness,
    },
    /// A field of another shape took the path of one that is gone.
    Replaced {
        /// What sort of value the field had.
        before: String,
        /// What sort of value the other one has.
        after: String,
    },
    /// A field is renamed to a path that another field of the version before has.
    NameTaken {
        /// The field that is renamed.
        from: Selector,
    },
    /// A field is removed that an older version requires.
    RequiredRemoved {
        /// A document that the older version refuses as it is shown there.
        document: String,
        /// The error.
        reason: String,
    },
    /// The expressions of a conversion never read one of the fields that it replaces.
    InputNotRead {
        /// The direction of the expressions.
        direction: Direction,
        /// A document whose value is not converted.
        document: Option<String>,
    },
    /// An object does not keep undeclared fields any more.
    UnknownFieldsDropped,
    /// The version before refuses documents of this one.
    OlderRefuses {
        /// The fields that it refuses them for, as this version calls them.
        fields: Vec<Selector>,
    },
    /// Keywords that are compared by documents alone: rules, alternatives and kinds of lists.
    MayRefuseMore {
        /// The keywords that differ.
        keywords: Vec<&'static str>,
    },
    /// An object or value of which a field became a part, or which was converted from it, is refused.
    PartRefused {
        /// The field in the version before.
        from: Selector,
    },
    /// A field takes values in one version that the other one cannot say.
    Widened {
        /// What sort of value it had.
        before: String,
        /// What sort of value it has.
        after: String,
        /// Which version cannot read every value of the other.
        narrower: Narrower,
    },
    /// A field must be there, and documents of the other version lack it.
    NewlyRequired {
        /// The other version has it, as an optional one.
        existed: bool,
        /// It was published without a default, so that readers fill in nothing for good.
        settled: bool,
        /// The expression that computes it, though not from every document of the other version.
        derived: Option<Box<str>>,
    },
    /// A value that is converted, back and again is another one.
    Drifts {
        /// The value of the old spelling.
        value: String,
        /// What it is converted to.
        up: String,
        /// What that is converted back to.
        down: String,
        /// What that is converted to.
        again: String,
    },
    /// A valid value of the other version becomes, once it is converted, nothing or one that is refused.
    Refused {
        /// The fields that have it there.
        from: Vec<Selector>,
        /// The value.
        value: String,
        /// What it is converted to; nothing if it cannot be.
        becomes: Option<String>,
        /// Why that is refused, or why it cannot be converted.
        reason: String,
        /// The nearest number that the field can hold is accepted.
        can_be_clamped: bool,
    },
    /// A change names a value that the field does not take.
    ValueNotListed {
        /// The value.
        value: Box<str>,
        /// Those that it takes.
        listed: Vec<Owned>,
    },
    /// A field is converted into others, and still there.
    SpellingStays {
        /// What it is converted into.
        to: Vec<Selector>,
    },
    /// A field that was there gave its place to one that others are converted into.
    SpellingTaken {
        /// What is converted into it.
        from: Vec<Selector>,
    },
    /// Values are not listed any more.
    ValuesRefused {
        /// Those that were; empty if any value was allowed.
        removed: Vec<Owned>,
        /// Those that are.
        listed: Vec<Owned>,
    },
    /// An open enum does not list values any more.
    ValuesUnlisted {
        /// Those that it did.
        removed: Vec<Owned>,
    },
    /// Bounds, lengths or counts are tighter.
    Tightened(Vec<Limit>),
    /// A pattern or format is another, and whether it is tighter cannot be told.
    TextChanged {
        /// The keyword.
        keyword: &'static str,
        /// What it was.
        before: Option<Box<str>>,
        /// What it is.
        after: Option<Box<str>>,
    },
    /// Null is no value any more.
    NullRefused,
    /// A field that was there before is something else if it is left out.
    DefaultChanged {
        /// What it was.
        before: Option<Owned>,
        /// What it is.
        after: Option<Owned>,
        /// What readers fill in for good.
        frozen: Option<Owned>,
        /// The object that it is in now and was not before, if that may be absent: then nothing is filled in.
        within: Option<Selector>,
    },
    /// A new spelling of a fact has another default than what the fact is filled in with.
    SpelledDefaultChanged {
        /// What it is converted from.
        from: Vec<Selector>,
        /// Its default.
        default: Owned,
        /// What readers fill in for good: the default of the other spelling, converted.
        frozen: Option<Owned>,
    },
    /// What readers fill in is no value of the field in this version.
    DefaultRejected {
        /// What they fill in.
        value: Owned,
        /// Why it is refused.
        reason: String,
    },
    /// Writers leave out a zero value, and readers fill in another.
    ZeroLost {
        /// The value that is left out.
        zero: Owned,
        /// The value that is filled in.
        frozen: Owned,
        /// The versions that lack the field, so that its absence says nothing in their documents.
        lacking: Vec<VersionName>,
    },
    /// The items of a list are told apart by other fields, or by none any more.
    KeysChanged {
        /// Those of the other version.
        before: Vec<Box<str>>,
        /// Those of this one.
        after: Vec<Box<str>>,
    },
    /// The items of a list are told apart by a field that one of the versions lacks.
    KeyUnsaid {
        /// The field, in the names of the version that has it.
        key: Box<str>,
        /// The version that lacks it.
        by: VersionName,
    },
    /// The items of a list hide a field from versions, and nothing identifies them.
    ItemsNotIdentified {
        /// A field that is hidden, as a version that has it calls it.
        hidden: String,
        /// The versions that lack fields of the items.
        from: Vec<VersionName>,
    },
    /// Objects are shown as `{}` where other versions have fields in them.
    EmptyObjectsHide {
        /// Their paths.
        objects: Vec<Selector>,
    },
    /// Members of an object exclude each other in one version only.
    UnionChanged {
        /// Those of the other version.
        before: Option<Union>,
        /// Those of this one.
        after: Option<Union>,
    },
    /// Clients cannot write or read a field any more, or read a secret.
    AccessChanged(AccessHarm),
    /// Documents are stored in the shape of a version that is not the one that is wanted.
    HubMoves {
        /// The version whose shape is stored.
        locked: VersionName,
        /// The catalog pins this version; without a pin it would merely be the natural one.
        pinned: bool,
    },
    /// A field would have no place in stored documents, or two.
    NoSlot {
        /// Why.
        reason: String,
    },
}

/// How alike two fields are: all that they have in common, weighed together.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Likeness {
    /// The common features, weightiest first.
    pub evidence: Vec<Evidence>,
    /// The sum of their weights, less the weights of features that differ.
    pub points: i32,
    /// Another pair of fields is as alike.
    pub is_ambiguous: bool,
}

impl Likeness {
    /// Whether little speaks against a rename.
    pub fn is_likely(&self) -> bool {
        self.points >= 6 && !self.is_ambiguous
    }

    /// Whether a rename is worth proposing.
    pub(crate) fn is_possible(&self) -> bool {
        self.points >= 4
    }
}

/// A feature that two fields have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Evidence {
    /// They have the same name, at different places.
    SameName,
    /// The names differ in letter case or dashes only.
    Case,
    /// One name is the plural of the other.
    Plural,
    /// The names differ in a few letters.
    Letters,
    /// One name is contained in the other, or short for it.
    Contained,
    /// The path of one has all words of the other's name.
    PathWords,
    /// The names have words in common.
    CommonWords,
    /// The description of one names the other as its successor or predecessor.
    Mentioned,
    /// They have the same description.
    Description,
    /// Their descriptions have many words in common.
    SimilarDescription,
    /// They have the same default.
    Default,
    /// They have the same bounds, pattern and format.
    Bounds,
    /// They have the same values, or most of them.
    Enum,
    /// They are objects with the same fields, or with fields in common.
    Fields,
    /// One disappeared and one appeared in the object, and nothing else.
    OnlyPair,
    /// They stand between the same fields.
    Neighbours,
    /// They are fields of the same object.
    SameObject,
}

/// A line of the changes of a version.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Addition {
    /// `renamed`.
    Renamed {
        /// The path in the version before.
        from: Selector,
        /// The path now.
        to: Selector,
    },
    /// `removed`.
    Removed(Selector),
    /// `default`.
    Default(Selector, Owned),
    /// `storageDefault`, in the changes of the version that introduced the field.
    StorageDefault {
        /// That version.
        version: VersionName,
        /// The field, as that version calls it.
        field: Selector,
        /// What readers fill in.
        value: Owned,
    },
    /// `keys`.
    Keys(Selector, Vec<Box<str>>),
    /// `union`.
    Union(Selector, Vec<Box<str>>),
    /// `derived`, for the version before: the field there, and an expression.
    DerivedDown(Selector, Box<str>),
}

impl Incompatibility {
    /// One at the level that the maturity of its version calls for.
    pub(crate) fn new(version: &VersionName, other: Option<&VersionName>, field: Selector, what: What) -> Self {
        Self {
            level: level(what.rule(), version.maturity()),
            in_stable: None,
            version: version.clone(),
            other: other.cloned(),
            field,
            what,
            span: Span::default(),
            related: None,
            additions: Vec::new(),
            proposal: None,
            example: None,
        }
    }

    pub(crate) fn at(self, span: Span, related: Span) -> Self {
        Self { span, related: (related != Span::default()).then_some(related), ..self }
    }

    pub(crate) fn add(mut self, addition: Addition) -> Self {
        self.additions.push(addition);
        self
    }

    /// The same with a document that the version refuses: then it is as grave as its rule is. Without one it is lowered, if
    /// nothing but a document tells whether there is any harm.
    pub(crate) fn proven_by(mut self, example: Option<Example>) -> Self {
        self.example = example;
        self.level = self.gravest().min(self.version.maturity().gravest());
        self
    }

    /// The same at a level of its own: `in_stable` in stable versions, and as in these or less grave in others.
    pub fn with_level(self, in_stable: Level) -> Self {
        Self { level: in_stable.min(self.version.maturity().gravest()), in_stable: Some(in_stable), ..self }
    }

    /// Whether a document that is refused shows it.
    pub fn is_proven(&self) -> bool {
        self.example.as_ref().is_some_and(|example| example.refusal.is_some())
    }

    /// Whether only empty values are refused, such as the text `""` by `minLength: 1`.
    pub fn refuses_only_empty(&self) -> bool {
        matches!(&self.what, What::Tightened(limits) if limits.iter().all(Limit::refuses_only_empty))
    }

    /// Whether a default is another in this version, and what everybody gets is the same all the same: what readers fill
    /// in for good is also what new documents get where a version has no default.
    pub fn is_filled_alike(&self) -> bool {
        match &self.what {
            What::DefaultChanged { before, after, frozen, .. } => {
                before.as_ref().or(frozen.as_ref()) == after.as_ref().or(frozen.as_ref())
            }
            _ => false,
        }
    }

    /// The rule that is broken.
    pub fn rule(&self) -> &'static Rule {
        self.what.rule()
    }

    /// The level that it has in stable versions, unless a reason of its own lowers it.
    pub fn gravest(&self) -> Level {
        if let Some(level) = self.in_stable {
            return level;
        }
        match &self.what {
            // An open enum may have values that it does not list, and a value that cannot be converted is not shown.
            What::ValuesUnlisted { .. } | What::Refused { becomes: None, .. } => self.rule().level.min(Level::Warning),
            // Whether these refuse anything, a document decides.
            What::TextChanged { .. } if !self.is_proven() => Level::Note,
            What::Tightened(_) if !self.is_proven() && self.refuses_only_empty() => Level::Note,
            // Items that nothing told apart are matched better now.
            What::KeysChanged { before, .. } if !self.is_proven() && before.is_empty() => Level::Note,
            What::NewlyRequired { derived: None, .. }
            | What::Tightened(_)
            | What::MayRefuseMore { .. }
            | What::KeysChanged { .. }
            | What::UnionChanged { .. }
                if !self.is_proven() =>
            {
                Level::Warning
            }
            _ => self.rule().level,
        }
    }
}

/// How grave a rule is for a version: only stable ones are relied on.
fn level(rule: &'static Rule, maturity: Maturity) -> Level {
    rule.level.min(maturity.gravest())
}

impl What {
    /// The rule that is broken.
    pub fn rule(&self) -> &'static Rule {
        match self {
            Self::Removed { .. } | Self::NameTaken { .. } => &rules::REMOVAL_NOT_ASSESSED,
            Self::RequiredRemoved { .. } => &rules::REQUIRED_FIELD_REMOVED,
            Self::InputNotRead { .. } => &rules::INPUT_NOT_READ,
            Self::UnknownFieldsDropped => &rules::UNDECLARED_FIELDS_DROPPED,
            Self::MayRefuseMore { .. } | Self::PartRefused { .. } => &rules::DOCUMENTS_REFUSED,
            Self::OlderRefuses { .. } => &rules::OLDER_VERSION_REFUSES,
            Self::ProbablyRenamed { .. } => &rules::PROBABLE_RENAME,
            Self::Replaced { .. } => &rules::SHAPE_CHANGED,
            Self::Widened { .. } => &rules::SHAPE_WIDENED,
            Self::NewlyRequired { .. } => &rules::NEWLY_REQUIRED,
            Self::Drifts { .. } => &rules::CONVERSION_DRIFTS,
            Self::Refused { .. } => &rules::CONVERSION_REFUSED,
            Self::ValueNotListed { .. } => &rules::VALUE_NOT_LISTED,
            Self::SpellingStays { .. } => &rules::SPELLING_STAYS,
            Self::SpellingTaken { .. } => &rules::SPELLING_TAKEN,
            Self::ValuesRefused { .. } | Self::ValuesUnlisted { .. } => &rules::ENUM_MEMBER_REMOVED,
            Self::Tightened(_) => &rules::LIMIT_TIGHTENED,
            Self::TextChanged { .. } => &rules::PATTERN_CHANGED,
            Self::NullRefused => &rules::NULL_TAKEN_AWAY,
            Self::DefaultChanged { .. } | Self::SpelledDefaultChanged { .. } => &rules::DEFAULT_CHANGED,
            Self::DefaultRejected { .. } => &rules::STORAGE_DEFAULT_REJECTED,
            Self::ZeroLost { .. } => &rules::ZERO_VALUE_LOST,
            Self::KeysChanged { .. } => &rules::KEYS_CHANGED,
            Self::KeyUnsaid { .. } => &rules::KEY_NOT_IN_EVERY_VERSION,
            Self::ItemsNotIdentified { .. } => &rules::ITEMS_NOT_IDENTIFIED,
            Self::EmptyObjectsHide { .. } => &rules::EMPTY_OBJECT_HIDES,
            Self::UnionChanged { .. } => &rules::UNION_CHANGED,
            Self::AccessChanged(_) => &rules::ACCESS_CHANGED,
            Self::HubMoves { .. } => &rules::HUB_MOVES,
            Self::NoSlot { .. } => &rules::NO_SLOT,
        }
    }
}
