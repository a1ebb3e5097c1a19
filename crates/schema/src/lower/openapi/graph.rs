//! Checking all definitions of a document: each once, whoever refers to it, and what their references add up to.

use std::collections::HashMap;

use wheelwright_document::{FieldPath, Path, Span, Spanned};
use wheelwright_findings::rules;

use super::{
    Said, check_defaults,
    files::Files,
    node::{Extent, Lowering, MOST_NODES, most_nodes, recursive},
    reference::{Resolver, Target},
};
use crate::Problem;

/// As many schemas as are looked at in one document: definitions composed of each other are looked at again and again.
const MOST_NODES_IN_ALL: usize = 2 * MOST_NODES;

/// A definition, and what it refers to by way of fields.
struct Definition<'a> {
    target: Target<'a>,
    /// The schemas that it is made of itself.
    size: usize,
    edges: Vec<(usize, Span, FieldPath)>,
}

/// Checks some definitions and everything that they refer to.
pub(super) fn check<'a>(
    files: &mut Files<'_, 'a>,
    resolver: &mut Resolver<'a>,
    roots: Vec<Target<'a>>,
) -> Vec<Problem> {
    let mut said = Said::default();
    let mut definitions: Vec<Definition<'a>> = Vec::new();
    let mut known: HashMap<*const Spanned<'a>, usize> = HashMap::new();
    let mut add = |definitions: &mut Vec<Definition<'a>>, target: Target<'a>| {
        *known.entry(std::ptr::from_ref(target.source)).or_insert_with(|| {
            definitions.push(Definition { target, size: 0, edges: Vec::new() });
            definitions.len() - 1
        })
    };
    for target in roots {
        add(&mut definitions, target);
    }
    let (mut position, mut nodes) = (0, 0);
    while position < definitions.len() && !said.is_full() {
        let target = definitions[position].target.clone();
        if nodes > MOST_NODES_IN_ALL.max(files.bytes() / 4) {
            let message =
                "the definitions include each other so often that this one and those after it are not checked";
            said.push(Problem::ours(
                &rules::SCHEMA_TOO_LARGE,
                &Path::Child(&Path::Root, &target.path),
                target.source.span,
                message,
            ));
            break;
        }
        let mut lowering = Lowering::new(files, resolver, Extent::Own);
        let schema = lowering.definition(&target);
        definitions[position].size = lowering.nodes;
        nodes += lowering.nodes;
        for edge in std::mem::take(&mut lowering.edges) {
            let to = add(&mut definitions, edge.target);
            definitions[position].edges.push((to, edge.span, edge.path));
        }
        let problems = lowering.finish();
        problems.into_iter().chain(check_defaults(&schema, &target.path)).for_each(|problem| said.push(problem));
        position += 1;
    }
    walk(&definitions, most_nodes(files), &mut said);
    said.into_list()
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    /// How many schemas it is with everything put in.
    Done(usize),
}

/// Finds references that lead back by way of fields, and definitions that are too large with everything put in.
fn walk(definitions: &[Definition<'_>], most: usize, said: &mut Said) {
    let mut states = vec![State::New; definitions.len()];
    for root in 0..definitions.len() {
        if states[root] != State::New {
            continue;
        }
        states[root] = State::Open;
        // Each with the next of its edges to look at.
        let mut ahead = vec![(root, 0)];
        while let Some((at, next)) = ahead.last_mut() {
            let definition = &definitions[*at];
            if let Some((to, span, path)) = definition.edges.get(*next) {
                *next += 1;
                match states[*to] {
                    State::New => {
                        states[*to] = State::Open;
                        ahead.push((*to, 0));
                    }
                    State::Open => {
                        let target = &definitions[*to].target;
                        let mut problem = recursive(&target.path, &Path::Root, *span);
                        problem.path = path.clone();
                        said.push(problem.related(target.source.span, "leads back to here"));
                    }
                    State::Done(_) => {}
                }
                continue;
            }
            let sizes = definition.edges.iter().map(|(to, ..)| match states[*to] {
                State::Done(size) => size,
                _ => 0,
            });
            let size = sizes.clone().fold(definition.size, usize::saturating_add);
            if size > most && sizes.max().unwrap_or(0) <= most && definition.size <= most {
                let message = format!(
                    "with its references put in, the definition is {size} schemas; beyond {most}, nothing is checked"
                );
                let path = Path::Child(&Path::Root, &definition.target.path);
                said.push(Problem::ours(&rules::SCHEMA_TOO_LARGE, &path, definition.target.source.span, message));
            }
            states[*at] = State::Done(size);
            ahead.pop();
        }
    }
}
