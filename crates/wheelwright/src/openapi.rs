//! OpenAPI and JSON Schema documents among the inputs: what is wrong with them, and the programs of their definitions.

use std::cell::OnceCell;

use wheelwright_catalog::LEADS_OUT;
use wheelwright_document::{Arena, FieldPath, Span, Spanned};
use wheelwright_findings::{Finding, Level, Place, rules};
use wheelwright_schema::{
    Dialect, Lowered, NoTree, Problem, Program, Root, Schema, Specification, Tree, check, closest_of,
};

use crate::{Input, Origin, report::plural, scalar_place::place_of_part};

/// What was found in a document and in the files that it refers to.
pub(crate) struct Checked {
    /// How many definitions were looked at.
    pub(crate) count: usize,
    pub(crate) findings: Vec<Finding>,
    /// The other files that findings point into.
    pub(crate) others: Vec<Input>,
}

/// Checks a document; `None` if it is neither OpenAPI nor JSON Schema.
pub(crate) fn check<'a>(input: &'a Input, document: &'a Spanned<'a>, arena: &'a Arena) -> Option<Checked> {
    let mut specification = Specification::open(&input.name, document, tree(input), arena)?;
    let (count, mut problems) = specification.check();
    problems.extend(rule_problems(input, &mut specification));
    if input.tree.as_ref().is_some_and(|tree| !tree.holds(&input.name)) {
        blame_the_tree(&mut problems, &input.name, &specification);
    }
    let findings: Vec<_> = problems.into_iter().map(|problem| finding(input, &specification, problem)).collect();
    let is_shown = |name: &str| {
        findings.iter().any(|finding| {
            let related = finding.related.iter().map(|related| &related.place);
            finding.place.iter().chain(related).any(|place| place.file == name)
        })
    };
    let others = specification.other_files().filter(|(name, _)| is_shown(name));
    let others = others.map(|(name, bytes)| Input {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
        origin: Origin::Referred,
        tree: None,
    });
    let others = others.collect();
    Some(Checked { count, findings, others })
}

/// What is wrong with the rules of definitions, which are typed with everything that a definition refers to. What
/// Kubernetes alone would refuse them for does not count here.
fn rule_problems(input: &Input, specification: &mut Specification<'_, '_>) -> Vec<Problem> {
    const KEYWORD: &[u8] = b"x-kubernetes-validations";
    if !input.bytes.windows(KEYWORD.len()).any(|window| window == KEYWORD) {
        return Vec::new();
    }
    let folder = match specification.dialect() {
        Dialect::Swagger2 => "definitions",
        Dialect::OpenApi30 | Dialect::OpenApi31 => "components.schemas",
        _ => "$defs",
    };
    let names: Vec<String> = specification.definitions().map(str::to_owned).collect();
    let counts = |problem: &Problem| {
        [&rules::INVALID_RULE, &rules::MALFORMED_RULE].iter().any(|rule| std::ptr::eq(problem.rule, *rule))
    };
    let mut found = Vec::new();
    for name in names {
        let Some(lowered) = specification.lower(&name) else { continue };
        let parent = FieldPath::root().child(folder).child(&name);
        let problems = check::check_rules(&lowered.item, Root::Definition).into_iter().filter(counts);
        found.extend(problems.map(|mut problem| {
            problem.path = problem.path.under(&parent);
            problem
        }));
    }
    found
}

/// A document whose definitions are lowered and compiled when they are asked for.
#[derive(Debug)]
pub(crate) struct Definitions {
    input: Input,
    /// Which of the documents in the input it is.
    position: usize,
    /// `info.version`; JSON Schema has none.
    pub(crate) version: Option<Box<str>>,
    kinds: Vec<(Box<str>, OnceCell<Program>)>,
    /// The document as a schema, if it is one.
    alone: Option<OnceCell<Program>>,
}

impl Definitions {
    /// Looks at the document at a position of an input; `None` if it is neither OpenAPI nor JSON Schema.
    pub(crate) fn of(input: &Input, position: usize, document: &Spanned<'_>) -> Option<Self> {
        let arena = Arena::new();
        let specification = Specification::open(&input.name, document, &NoTree, &arena)?;
        Some(Self {
            input: input.clone(),
            position,
            version: specification.version().map(Box::from),
            kinds: specification.definitions().map(|name| (name.into(), OnceCell::new())).collect(),
            alone: specification.is_schema().then(OnceCell::new),
        })
    }

    /// The names of the definitions.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds.iter().map(|(kind, _)| &**kind)
    }

    /// The names that may be meant by one that is not there.
    pub(crate) fn kinds_like<'s>(&'s self, unknown: &str) -> Vec<&'s str> {
        let lower = unknown.to_lowercase();
        let closest = closest_of(self.kinds(), unknown).into_iter();
        let longer = self.kinds().filter(|kind| kind.to_lowercase().contains(&lower));
        closest.chain(longer).take(5).collect()
    }

    /// The program of a definition; warnings are said of it when it is made.
    pub(crate) fn program(&self, kind: &str, root: Root, warn: &mut dyn FnMut(String)) -> Option<&Program> {
        let (name, program) = self.kinds.iter().find(|(name, _)| **name == *kind)?;
        Some(program.get_or_init(|| self.compile(Some(name), root, warn)))
    }

    /// The program of the document as a schema, if it is one.
    pub(crate) fn program_alone(&self, root: Root, warn: &mut dyn FnMut(String)) -> Option<&Program> {
        let program = self.alone.as_ref()?;
        Some(program.get_or_init(|| self.compile(None, root, warn)))
    }

    /// Compiles a definition, or the document as a schema.
    fn compile(&self, kind: Option<&str>, root: Root, warn: &mut dyn FnMut(String)) -> Program {
        // The document was read before, when this was made of it.
        let arena = Arena::new();
        let documents = self.input.documents(&arena).map(|(_, documents)| documents).unwrap_or_default();
        let document = documents.get(self.position);
        let specification =
            document.and_then(|document| Specification::open(&self.input.name, document, tree(&self.input), &arena));
        let lowered = specification.and_then(|mut specification| match kind {
            Some(kind) => specification.lower(kind),
            None => specification.lower_root(),
        });
        let Lowered { item, problems } =
            lowered.unwrap_or_else(|| Lowered { item: Schema::default(), problems: Vec::new() });
        let errors = problems.iter().filter(|problem| problem.rule.level == Level::Error).count();
        if errors > 0 {
            let (file, errors, name) = (&self.input.name, plural(errors, "error"), kind.unwrap_or("the schema"));
            warn(format!("warning: {file} has {errors} that concern {name}; see wheelwright check {file}"));
        }
        Program::compile(&item, if root == Root::Value { Root::Definition } else { root })
    }

    /// What to call it in messages.
    pub(crate) fn name(&self) -> String {
        match &self.version {
            Some(version) => format!("{} ({version})", self.input.name),
            None => self.input.name.clone(),
        }
    }
}

/// Of a file that is outside of the tree itself, what lies beside it is outside too, which need not be said of each
/// reference.
fn blame_the_tree(problems: &mut Vec<Problem>, name: &str, specification: &Specification<'_, '_>) {
    let is_refused = |problem: &Problem| {
        std::ptr::eq(problem.rule, &rules::REFERENCE_OUTSIDE_TREE)
            && problem.message.ends_with(LEADS_OUT)
            && specification.place(problem.span).0 == name
    };
    let count = problems.iter().filter(|problem| is_refused(problem)).count();
    let mut is_first = true;
    problems.retain(|problem| !is_refused(problem) || std::mem::take(&mut is_first));
    if let Some(problem) = problems.iter_mut().find(|problem| is_refused(problem)) {
        let references = plural(count, "reference");
        problem.message =
            format!("{name} is outside of the tree itself; {references} to other files cannot be followed");
        problem.mend = Some("name a tree that holds the file with --tree".to_owned());
    }
}

fn tree(input: &Input) -> &dyn Tree {
    match &input.tree {
        Some(tree) => tree,
        None => &NoTree,
    }
}

fn finding(input: &Input, specification: &Specification<'_, '_>, problem: Problem) -> Finding {
    let place = |span: Span| {
        let (file, span) = specification.place(span);
        Place::new(file, span)
    };
    let mut at = place(problem.span);
    if let Some(part) = &problem.part {
        let other = specification.other_files().find(|(name, _)| *name == at.file);
        let source = other.map_or(&*input.bytes, |(_, bytes)| bytes);
        at.span = place_of_part(source, at.span, part).unwrap_or(at.span);
    }
    let mut finding = Finding::new(problem.rule, problem.message, problem.path).at(at);
    finding.mend = problem.mend;
    problem.related.into_iter().fold(finding, |finding, (span, label)| finding.with_related(label, place(span)))
}

/// Whether a text that cannot be decoded was probably meant to be such a document.
pub(crate) fn mentions(text: &str) -> bool {
    ["\"swagger\"", "\"openapi\"", "swagger:", "openapi:"].iter().any(|word| text.contains(word))
}
