//! Changes: the facts about the step into a version that no schema can say.

mod model;

pub use model::{DeclaredUnion, FieldValue, Located, OlderWrite, Policies, Renamed, Steps, VersionStep, Writers};
