//! From the path of a field back to where it was written.

use std::collections::HashMap;

use wheelwright_catalog::{Input, LOCK_FILE};
use wheelwright_document::{Arena, FieldPath, Span, Spanned, SpannedEntry, SpannedNode};
use wheelwright_findings::Finding;

/// Finds the places of paths in one document.
pub(crate) struct Places<'a> {
    document: &'a Spanned<'a>,
    /// The entries of large objects by name, so that many findings in one do not take a search each.
    large: HashMap<*const SpannedEntry<'a>, HashMap<&'a str, &'a SpannedEntry<'a>>>,
}

/// A value that a path leads to, or the nearest one above it that is there.
#[derive(Clone, Copy)]
struct Found<'a> {
    key: Option<Span>,
    value: &'a Spanned<'a>,
    is_exact: bool,
}

impl<'a> Places<'a> {
    pub(crate) fn new(document: &'a Spanned<'a>) -> Self {
        Self { document, large: HashMap::new() }
    }

    /// Where to point to for a value: the value itself if it is a scalar, else its name. For a field that is absent,
    /// its nearest parent that is not.
    pub(crate) fn of_value(&mut self, path: &FieldPath) -> Span {
        let found = self.find(path);
        match found.value.node {
            SpannedNode::Scalar(_) if found.is_exact => found.value.span,
            _ => found.key.unwrap_or(found.value.span),
        }
    }

    /// Where to point to for the name of a field.
    pub(crate) fn of_name(&mut self, path: &FieldPath) -> Span {
        let found = self.find(path);
        found.key.unwrap_or(found.value.span)
    }

    /// Follows a path. Its text does not tell a dot in a name from a dot between names, so the longest name that is
    /// there counts.
    fn find(&mut self, path: &FieldPath) -> Found<'a> {
        let mut found = Found { key: None, value: self.document, is_exact: false };
        let mut rest = if path.is_root() { "" } else { path.as_str() };
        while !rest.is_empty() {
            let step = match found.value.node {
                SpannedNode::Scalar(_) => None,
                SpannedNode::Array(items) => index(items, rest),
                SpannedNode::Object(entries) => self.entry(entries, rest),
            };
            let Some((key, value, after)) = step else { return found };
            found = Found { key, value, is_exact: false };
            rest = after.strip_prefix('.').unwrap_or(after);
        }
        Found { is_exact: true, ..found }
    }

    fn entry<'p>(&mut self, entries: &'a [SpannedEntry<'a>], rest: &'p str) -> Option<Step<'a, 'p>> {
        names(rest).find_map(|(name, after)| {
            let entry = self.named(entries, name)?;
            Some((Some(entry.key_span), &entry.value, after))
        })
    }

    fn named(&mut self, entries: &'a [SpannedEntry<'a>], name: &str) -> Option<&'a SpannedEntry<'a>> {
        const LARGE: usize = 32;
        if entries.len() < LARGE {
            return entries.iter().find(|entry| entry.key == name);
        }
        let by_name = self.large.entry(entries.as_ptr());
        let by_name = by_name.or_insert_with(|| entries.iter().map(|entry| (entry.key, entry)).collect());
        by_name.get(name).copied()
    }
}

/// The names of values that begin on a later line than their names, by where the values are: of a block, its name says
/// more than its first line.
pub(crate) fn names_of_blocks(documents: &[Spanned<'_>]) -> HashMap<Span, Span> {
    fn collect(value: &Spanned<'_>, names: &mut HashMap<Span, Span>) {
        match value.node {
            SpannedNode::Scalar(_) => {}
            SpannedNode::Array(items) => items.iter().for_each(|item| collect(item, names)),
            SpannedNode::Object(entries) => {
                for entry in entries {
                    if entry.value.span.line > entry.key_span.line {
                        names.insert(entry.value.span, entry.key_span);
                    }
                    collect(&entry.value, names);
                }
            }
        }
    }
    let mut names = HashMap::new();
    documents.iter().for_each(|document| collect(document, &mut names));
    names
}

/// Findings at the names of blocks, rather than at what is in them.
pub(crate) fn at_names(input: &Input, mut findings: Vec<Finding>) -> Vec<Finding> {
    let arena = Arena::for_input(input.bytes.len());
    if input.name.ends_with(LOCK_FILE) {
        return findings;
    }
    let Ok((_, documents)) = input.documents(&arena) else { return findings };
    let names = names_of_blocks(&documents);
    for finding in &mut findings {
        let related = finding.related.iter_mut().map(|related| &mut related.place);
        for place in finding.place.iter_mut().chain(related).filter(|place| place.file == input.name) {
            place.span = names.get(&place.span).copied().unwrap_or(place.span);
        }
    }
    findings
}

/// Where the name of the next value is, the value, and the rest of the path.
type Step<'a, 'p> = (Option<Span>, &'a Spanned<'a>, &'p str);

/// The item that a path like `[0].name` begins with, and the rest of the path.
fn index<'a, 'p>(items: &'a [Spanned<'a>], path: &'p str) -> Option<Step<'a, 'p>> {
    let (index, after) = path.strip_prefix('[')?.split_once(']')?;
    Some((None, items.get(index.parse::<usize>().ok()?)?, after))
}

/// Every name that a path may begin with and what follows it, the longest first: for `a.b[c]` these are `a.b[c]`,
/// `a.b` and `a`, for `[a.b].c` only `a.b`. Names with very many dots or brackets are left out, because trying all that
/// a long path may begin with would take the square of its length.
fn names(path: &str) -> impl Iterator<Item = (&str, &str)> {
    const MOST: usize = 64;
    let bracketed = path.strip_prefix('[');
    let inner = bracketed.unwrap_or(path);
    let ends: &[char] = if bracketed.is_some() { &[']'] } else { &['.', '['] };
    let mut names: Vec<_> = inner.match_indices(ends).map(|(end, _)| end).take(MOST).collect();
    if bracketed.is_none() && names.len() < MOST {
        names.push(inner.len());
    }
    names.into_iter().rev().map(move |end| {
        let after = if bracketed.is_some() { end + 1 } else { end };
        (&inner[..end], &inner[after..])
    })
}

#[cfg(test)]
mod tests {
    use wheelwright_document::{Decode, Path, decode_yaml};

    use super::*;

    fn shown(text: &'static str, path: &Path<'_>) -> (String, String) {
        let arena = Arena::new();
        let documents = decode_yaml(text.as_bytes(), &arena, &Decode::default()).unwrap();
        let mut places = Places::new(&documents[0]);
        let cut = |span: Span| text[span.start as usize..span.end as usize].to_owned();
        let path = path.to_field_path();
        (cut(places.of_name(&path)), cut(places.of_value(&path)))
    }

    const TEXT: &str = "spec:\n  a.b: 1\n  a:\n    b: 2\n    c: 3\n  list: [{x: 4}]\n  'x[0]': 5\n";

    #[test]
    fn paths_lead_back_to_names_and_values() {
        let spec = Path::Child(&Path::Root, "spec");
        let is = |path: &Path<'_>, name: &str, value: &str| {
            assert_eq!(shown(TEXT, path), (name.to_owned(), value.to_owned()), "{path}");
        };
        is(&spec, "spec", "spec");
        is(&Path::Child(&spec, "a.b"), "a.b", "1");
        is(&Path::Key(&spec, "a.b"), "a.b", "1");
        is(&Path::Child(&Path::Child(&spec, "a"), "c"), "c", "3");
        is(&Path::Child(&spec, "x[0]"), "'x[0]'", "5");
        let list = Path::Child(&spec, "list");
        is(&Path::Child(&Path::Index(&list, 0), "x"), "x", "4");
        is(&Path::Index(&list, 0), "{x: 4}", "{x: 4}");
    }

    #[test]
    fn blocks_have_names() {
        let arena = Arena::new();
        let text = "a:\n  b: {c: 1}\n  d:\n    - e: 1\n";
        let documents = decode_yaml(text.as_bytes(), &arena, &Decode::default()).unwrap();
        let mut names: Vec<_> = names_of_blocks(&documents).into_iter().collect();
        names.sort();
        let cut = |span: Span| &text[span.start as usize..span.end as usize];
        let names: Vec<_> = names.into_iter().map(|(value, name)| (cut(name), value.line)).collect();
        assert_eq!(names, [("a", 2), ("d", 4)]);
    }

    #[test]
    fn what_is_absent_is_looked_for_in_its_parent() {
        let spec = Path::Child(&Path::Root, "spec");
        let absent = Path::Child(&Path::Child(&spec, "a"), "absent");
        assert_eq!(shown(TEXT, &absent).1, "a");
        assert_eq!(shown(TEXT, &Path::Child(&absent, "deeper")).1, "a");
        assert_eq!(shown(TEXT, &Path::Index(&Path::Child(&spec, "list"), 7)).1, "list");
    }

    #[test]
    fn long_paths_take_no_long_time() {
        let arena = Arena::new();
        let text: String = (0..100).map(|number| format!("k{number}: 0\n")).collect();
        let documents = decode_yaml(text.as_bytes(), &arena, &Decode::default()).unwrap();
        let mut places = Places::new(&documents[0]);
        let long = "a.".repeat(1 << 19);
        assert_eq!(places.of_name(&Path::Child(&Path::Root, &long).to_field_path()), documents[0].span);
        let long = format!("k7.{long}");
        assert_eq!(places.of_name(&Path::Child(&Path::Root, &long).to_field_path()).line, 8);
    }

    #[test]
    fn many_names_are_found_fast() {
        let count = 100_000;
        let text: String = (0..count).map(|number| format!("k{number}: 0\n")).collect();
        let arena = Arena::new();
        let documents = decode_yaml(text.as_bytes(), &arena, &Decode::default()).unwrap();
        let mut places = Places::new(&documents[0]);
        for number in 0..count {
            let name = format!("k{number}");
            assert_eq!(places.of_name(&Path::Child(&Path::Root, &name).to_field_path()).line, number + 1);
        }
    }
}
