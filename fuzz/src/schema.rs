//! Schemas: reading, checking and compiling end well whatever is written, and problems name places in the source.

use wheelwright_document::{Arena, Decode, Spanned, decode_json_spanned, decode_yaml};
use wheelwright_schema::{Problem, Program, Root, check, is_convertible, lower_definition, lower_schema};

/// Reads every document, YAML or JSON, as a schema and as a definition.
pub fn schema(input: &[u8]) {
    let arena = Arena::new();
    let limits = Decode::default();
    let documents = match input.first() {
        Some(b'{') => decode_json_spanned(input, &arena, &limits).ok().into_iter().collect(),
        _ => decode_yaml(input, &arena, &limits).unwrap_or_default(),
    };
    let Ok(source) = std::str::from_utf8(input) else { return };
    documents.iter().for_each(|document| load(source, document));
}

fn load(source: &str, document: &Spanned<'_>) {
    let lowered = lower_schema(document);
    check_problems(source, &lowered.problems);
    for root in [Root::Value, Root::Resource] {
        let problems = check::check_schema(&lowered.item, root);
        check_problems(source, &problems);
        // Checking has no memory, and what was there before is forgiven only in part.
        let again = check::check_schema(&lowered.item, root);
        assert_eq!(problems.len(), again.len());
        let ratcheted = check::ratchet(again, &problems);
        assert_eq!(ratcheted.forgiven.len() + ratcheted.refused.len(), problems.len());
        assert!(ratcheted.refused.iter().all(|problem| !problem.ratchets));
        if is_convertible(&lowered.item) {
            Program::compile(&lowered.item, root);
        }
    }
    match lower_definition(document) {
        Ok(lowered) => {
            check_problems(source, &lowered.problems);
            check_problems(source, &check::check_definition(&lowered.item));
        }
        Err(problem) => check_problems(source, &[*problem]),
    }
}

fn check_problems(source: &str, problems: &[Problem]) {
    for problem in problems {
        crate::yaml::check_place(source, problem.span);
        assert!(!problem.message.is_empty());
    }
}
