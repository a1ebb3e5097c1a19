//! What the tests of this crate share.

use wheelwright_document::{Arena, Decode, Yaml, decode_yaml};
use wheelwright_schema::{Schema, lower_schema};

/// A schema from YAML.
pub(crate) fn schema(text: &str) -> Schema {
    let arena = Arena::new();
    let decode = Decode { yaml: Yaml::Core, ..Decode::default() };
    let documents = decode_yaml(text.as_bytes(), &arena, &decode).expect("schemas of tests are YAML");
    lower_schema(&documents[0]).item
}
