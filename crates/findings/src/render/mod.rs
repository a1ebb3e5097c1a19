//! How findings are shown, one module a format.

mod excerpt;
mod json;
mod text;

pub use json::render_json;
pub use text::render_text;
