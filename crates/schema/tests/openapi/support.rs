//! What the tests of OpenAPI need: documents spread over files that exist only here.

use wheelwright_document::{Arena, Decode, Spanned, Yaml, decode, decode_yaml, encode};
use wheelwright_schema::{Lowered, Problem, Program, Refused, Root, Schema, Specification, Tree};

/// Files by name, all in one tree; what starts with a slash is outside.
pub(crate) struct Memory<'m>(pub(crate) &'m [(&'m str, &'m str)]);

impl Tree for Memory<'_> {
    fn locate(&self, from: &str, reference: &str) -> Result<String, Refused> {
        if reference.starts_with('/') {
            return Err(Refused { message: "it is an absolute path".into(), mend: "copy it into the tree".into() });
        }
        let mut steps: Vec<&str> = from.split('/').collect();
        steps.pop();
        for step in reference.split('/') {
            match step {
                "." => {}
                ".." => drop(steps.pop()),
                step => steps.push(step),
            }
        }
        Ok(steps.join("/"))
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "there is no such file".to_owned())
    }
}

/// Opens the first file, which is YAML or JSON, and does something with it.
pub(crate) fn with<T>(files: &[(&str, &str)], act: impl FnOnce(&mut Specification<'_, '_>) -> T) -> T {
    let arena = Arena::new();
    let tree = Memory(files);
    let limits = Decode { max_bytes: usize::MAX, yaml: Yaml::Core, ..Decode::default() };
    let documents = decode_yaml(files[0].1.as_bytes(), &arena, &limits).expect("the document is YAML");
    let document: &Spanned<'_> = &documents[0];
    let mut specification = Specification::open(files[0].0, document, &tree, &arena).expect("a specification");
    act(&mut specification)
}

/// A definition of a document that stands alone.
pub(crate) fn lower(text: &str, name: &str) -> Lowered<Schema> {
    with(&[("a.yaml", text)], |specification| specification.lower(name).expect("the definition is there"))
}

/// What is wrong with a document: `WW040 a.yaml:3:4`.
pub(crate) fn findings(files: &[(&str, &str)]) -> Vec<String> {
    with(files, |specification| {
        let (_, problems) = specification.check();
        problems.iter().map(|problem| place(specification, problem)).collect()
    })
}

pub(crate) fn place(specification: &Specification<'_, '_>, problem: &Problem) -> String {
    let (file, span) = specification.place(problem.span);
    format!("{} {file}:{}:{}", problem.rule.id, span.line, span.column)
}

/// What becomes of a document, what is wrong with it, and what is unknown in it.
pub(crate) fn admit(schema: &Schema, document: &str) -> (String, Vec<String>, Vec<String>) {
    let arena = Arena::new();
    let program = Program::compile(schema, Root::Definition);
    let admitted = match program.admit(decode(document.as_bytes(), &arena).expect("JSON"), &arena) {
        Ok(admitted) => admitted,
        Err(refused) => return (refused.to_string(), Vec::new(), Vec::new()),
    };
    let value = String::from_utf8(encode(admitted.value)).expect("UTF-8");
    let errors = admitted.errors.iter().map(|error| error.path().to_string()).collect();
    (value, errors, admitted.unknown.iter().map(ToString::to_string).collect())
}

/// Whether a document is valid and has nothing unknown.
pub(crate) fn accepts(schema: &Schema, document: &str) -> bool {
    let (_, errors, unknown) = admit(schema, document);
    errors.is_empty() && unknown.is_empty()
}
