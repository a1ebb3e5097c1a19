//! The fuzz targets as plain functions: each takes bytes from outside and panics if a law does not hold for them.
//!
//! `cargo xtask fuzz` feeds them from libFuzzer; the test below feeds them with the seeds alone.

mod admit;
mod carry;
mod cel;
mod changes;
mod comments;
mod computed;
mod decode;
mod lens;
mod lock;
mod locked;
mod mutate;
mod openapi;
mod pages;
mod patch;
mod record;
mod schema;
mod serve;
mod text;
mod update;
mod yaml;

pub use admit::admit;
pub use carry::carry;
pub use cel::cel;
pub use changes::changes;
pub use comments::comments;
pub use computed::computed;
pub use decode::decode;
pub use lens::lens;
pub use lock::lock;
pub use locked::locked;
pub use mutate::mutate;
pub use openapi::openapi;
pub use pages::pages;
pub use patch::patch;
pub use record::record;
pub use schema::schema;
pub use serve::{access, serve};
pub use text::text;
pub use update::update;
pub use yaml::yaml;

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use wheelwright_document::Arena;

    use super::*;

    #[test]
    fn the_laws_hold_for_every_seed() {
        let targets: [(&str, fn(&[u8])); 20] = [
            ("access", access),
            ("admit", admit),
            ("carry", carry),
            ("cel", cel),
            ("changes", changes),
            ("comments", comments),
            ("computed", computed),
            ("decode", decode),
            ("lens", lens),
            ("lock", lock),
            ("locked", locked),
            ("openapi", openapi),
            ("pages", pages),
            ("patch", patch),
            ("record", record),
            ("schema", schema),
            ("serve", serve),
            ("text", text),
            ("update", update),
            ("yaml", yaml),
        ];
        for (name, target) in targets {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
            let mut seeds = 0;
            for entry in fs::read_dir(folder).expect("every target has seeds") {
                target(&fs::read(entry.expect("a seed").path()).expect("a seed can be read"));
                seeds += 1;
            }
            assert!(seeds > 0, "{name} has no seeds");
        }
    }

    #[test]
    fn mutation_stays_within_its_bounds() {
        let source = br#"{"schema":{"type":"object","properties":{"a":{"type":"integer"}}},"object":{"a":[1,{}]}}"#;
        let mut changed = 0;
        for seed in 0..2_000 {
            let mut data = source.to_vec();
            data.resize(200, 0);
            let Some(size) = mutate(&mut data, source.len(), 160, seed) else { continue };
            assert!(size <= 160);
            assert!(wheelwright_document::decode(&data[..size], &Arena::new()).is_ok());
            changed += usize::from(data[..size] != source[..]);
        }
        assert!(changed > 500, "{changed}");
    }
}
