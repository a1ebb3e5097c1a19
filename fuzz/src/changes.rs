//! Changes files and catalogs: reading them ends well whatever is written, and findings name places in the source.

use std::{
    io,
    path::{Path, PathBuf},
};

use wheelwright_catalog::{Catalog, Source, parse_catalog};
use wheelwright_document::{Arena, Decode, Yaml, decode_json_spanned, decode_yaml};
use wheelwright_evolve::parse_changes;
use wheelwright_schema::{NoTree, Problem, Tree};

/// What separates the files of an input.
const SEPARATOR: &str = "\n#####\n";

/// Files that are parts of the input: the first is the catalog, others are named by their numbers.
#[derive(Debug)]
struct Parts<'i>(Vec<&'i str>);

impl Source for Parts<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let name = path.to_string_lossy();
        let number = match &*name {
            "wheelwright.yaml" => 0,
            name => name.bytes().find(u8::is_ascii_digit).map_or(1, |digit| usize::from(digit - b'0')),
        };
        self.0.get(number).map(|part| part.as_bytes().to_vec()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn is_folder(&self, _path: &Path) -> bool {
        false
    }

    fn files(&self, _folder: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }

    fn tree(&self, _file: &Path) -> Box<dyn Tree + '_> {
        Box::new(NoTree)
    }
}

/// Reads every part of the input as changes and as a catalog, and loads the first one with the others as its files.
pub fn changes(input: &[u8]) {
    let Ok(source) = std::str::from_utf8(input) else { return };
    let parts = Parts(source.split(SEPARATOR).collect());
    let limits = Decode { yaml: Yaml::Core, ..Decode::default() };
    for part in &parts.0 {
        let arena = Arena::new();
        let documents = match part.starts_with('{') {
            true => decode_json_spanned(part.as_bytes(), &arena, &limits).ok().into_iter().collect(),
            false => decode_yaml(part.as_bytes(), &arena, &limits).unwrap_or_default(),
        };
        for document in &documents {
            check_problems(part, &parse_changes(document).1);
            check_problems(part, &parse_catalog(document).1);
        }
    }
    for name in ["wheelwright.yaml", "1.yaml"] {
        let Ok(catalog) = Catalog::load_from(&parts, &[name]) else { continue };
        let sources = catalog.sources();
        let unknown = catalog.unknown_versions(|_, _| false);
        for finding in catalog.findings().iter().chain(catalog.schema_findings()).chain(&unknown) {
            assert!(!finding.message.is_empty());
            let related = finding.related.iter().map(|related| &related.place);
            for place in finding.place.iter().chain(related) {
                crate::yaml::check_place(sources.get(&place.file).expect("the file is known"), place.span);
            }
        }
        for kind in catalog.kinds() {
            assert!(catalog.place(kind.span).is_some());
            assert!(kind.declaration.versions.iter().all(|version| catalog.place(version.span).is_some()));
        }
    }
}

fn check_problems(source: &str, problems: &[Problem]) {
    for problem in problems {
        let related = problem.related.iter().map(|(span, _)| *span);
        // That there is more is said of no place.
        for span in related.chain([problem.span]).filter(|span| span.line > 0) {
            crate::yaml::check_place(source, span);
        }
        assert!(!problem.message.is_empty());
    }
}
