//! OpenAPI and JSON Schema: opening, checking, lowering and compiling end well whatever is written, and problems name
//! places in the source.

use wheelwright_document::{Arena, Decode, Yaml, decode_json_spanned, decode_yaml};
use wheelwright_schema::{Problem, Program, Refused, Root, Specification, Tree};

/// The document itself is the only other file there is, so that references to files lead somewhere.
struct Itself<'i>(&'i [u8]);

impl Tree for Itself<'_> {
    fn locate(&self, _from: &str, reference: &str) -> Result<String, Refused> {
        match reference.starts_with('/') {
            true => Err(Refused { message: "it is outside".to_owned(), mend: "move it".to_owned() }),
            false => Ok(reference.to_owned()),
        }
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        if name.starts_with('x') { Err("there is no such file".to_owned()) } else { Ok(self.0.to_vec()) }
    }
}

/// Reads every document, YAML or JSON, as one that declares schemas.
pub fn openapi(input: &[u8]) {
    let arena = Arena::new();
    let limits = Decode { yaml: Yaml::Core, ..Decode::default() };
    let documents = match input.first() {
        Some(b'{') => decode_json_spanned(input, &arena, &limits).ok().into_iter().collect(),
        _ => decode_yaml(input, &arena, &limits).unwrap_or_default(),
    };
    let Ok(source) = std::str::from_utf8(input) else { return };
    let tree = Itself(input);
    for document in &documents {
        let Some(mut specification) = Specification::open("a", document, &tree, &arena) else { continue };
        let (_, problems) = specification.check();
        check_problems(source, &specification, &problems);
        // Checking has no memory.
        assert_eq!(specification.check().1.len(), problems.len());
        let names: Vec<&str> = specification.definitions().take(3).collect();
        let mut lowered: Vec<_> = names.iter().filter_map(|name| specification.lower(name)).collect();
        lowered.extend(specification.lower_root());
        for lowered in lowered {
            check_problems(source, &specification, &lowered.problems);
            Program::compile(&lowered.item, Root::Value);
        }
    }
}

fn check_problems(source: &str, specification: &Specification<'_, '_>, problems: &[Problem]) {
    for problem in problems {
        let related = problem.related.iter().map(|(span, _)| *span);
        for span in related.chain([problem.span]).filter(|span| span.line > 0) {
            crate::yaml::check_place(source, specification.place(span).1);
        }
        assert!(!problem.message.is_empty());
    }
}
