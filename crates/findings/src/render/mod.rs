//! How findings are shown, one module a format.

mod ends;
mod excerpt;
mod github;
mod json;
mod sarif;
mod text;

pub use github::render_github;
pub use json::render_json;
pub use sarif::render_sarif;
pub use text::render_text;
