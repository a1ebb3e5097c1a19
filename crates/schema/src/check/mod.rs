//! Whether a schema is one that Kubernetes accepts, and whether it says what its author thinks.

mod defaults;
mod definition;
mod keywords;
mod patterns;
mod ratchet;
mod reachable;
mod rules;
mod structural;

pub use defaults::check_defaults;
pub use definition::check_definition;
pub use keywords::check_keywords;
pub use ratchet::{Ratcheted, ratchet};
pub use reachable::check_reachable_defaults;
pub use rules::check_rules;
pub use structural::check_structural;

use crate::{Problem, Program, Root, Schema};

/// Everything that is wrong with a schema on its own: Kubernetes' rules and ours.
pub fn check_schema(schema: &Schema, root: Root) -> Vec<Problem> {
    let mut problems = check_structural(schema);
    let is_refused = |problems: &[Problem]| problems.iter().any(|problem| problem.kind.is_some());
    let is_structural = !is_refused(&problems);
    if !ratchet::demands_structure(schema) {
        problems.iter_mut().filter(|problem| problem.structural).for_each(|problem| problem.ratchets = true);
    }
    problems.extend(check_keywords(schema, root));
    let program = Program::compile_for_defaults(schema, root);
    let of_defaults = defaults::check(schema, &program);
    let reads_rules = is_structural && !is_refused(&of_defaults);
    problems.extend(of_defaults);
    problems.extend(reachable::check(schema, &program));
    problems.extend(rules::check(schema, root, &problems, reads_rules));
    problems
}
