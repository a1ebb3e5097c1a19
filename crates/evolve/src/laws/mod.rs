//! Laws over generated documents: what to hold a lens against, and how to make a failure small.

mod generate;
mod law;
mod project;
mod random;
mod run;
mod schemes;
mod shrink;
mod spelling;
mod text_of_pattern;

pub use generate::Generator;
pub use law::Law;
pub use random::Random;
pub use run::{Column, Covered, Failure, LawReport, Laws, Report};
pub(crate) use shrink::shrink_within_tries;
pub use shrink::{shrink, shrink_all};
pub use text_of_pattern::TextOfPattern;
