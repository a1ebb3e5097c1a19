//! Changes: the facts about the step into a version that no schema can say.

mod clamp;
mod fit;
mod model;
mod parse;
mod settle;

pub use clamp::{Bounds, Clamped};
pub(crate) use clamp::{clamped_by, find_bounds};
pub(crate) use fit::unfit_defaults;
pub use model::{
    Conversion, DeclaredUnion, Derived, Direction, DocumentFormat, FieldValue, Located, OlderWrite, Policies, Renamed,
    Respelled, Steps, VersionStep, Writers,
};
pub use parse::{OLDER_WRITE, parse_changes};
pub(crate) use settle::settled;
