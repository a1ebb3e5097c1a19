//! Whatever a client does to a list of which its version hides a part, each item keeps what it hides.
//!
//! Every stored item hides a unique tag from the client. The client edits, removes, inserts, copies and reorders items, by
//! PUT, by merge patch and by JSON patch. What must become of the tags follows from the edit that was made and from
//! `docs/lens.md`; nothing here knows how the lens matches items.
//!
//! The kinds are our own and the real ones with several versions, in the folder that `WHEELWRIGHT_SHARED` names, or in
//! `shared` beside the repository. `WHEELWRIGHT_LIST_WRITES=N` makes N writes to every list instead of a few.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

mod documents;
mod edits;
mod oracle;
mod schemas;
mod subjects;
mod tags;
mod writes;

use std::{collections::BTreeSet, env, thread};

use self::{schemas::selector, subjects::Subject, writes::Counts};

/// Writes to every list, by every subject that has it.
fn writes_to_a_list() -> Option<usize> {
    env::var("WHEELWRIGHT_LIST_WRITES").ok().and_then(|writes| writes.parse().ok())
}

#[test]
fn items_of_our_own_kinds_keep_what_they_hide() {
    let counts = try_all(&subjects::own(), writes_to_a_list().unwrap_or(150));
    report("our own kinds", &counts);
    for (edit, count) in &counts.edits {
        assert!(*count > 20, "hardly any write is {edit}: {count}");
    }
    assert_eq!(counts.edits.len(), 2 * edits::SORTS.len() + edits::OPERATIONS.len(), "not every edit was made");
    assert!(counts.alike * 5 > counts.writes, "hardly any list had items that look equal: {}", counts.alike);
}

#[test]
#[expect(clippy::print_stdout, reason = "counts the lists, or says that real kinds were skipped")]
fn items_of_real_kinds_keep_what_they_hide() {
    let subjects = subjects::real(writes_to_a_list().is_some());
    if subjects.is_empty() {
        return println!("items of real kinds: SKIPPED, as there is no conformance/crds in the shared folder");
    }
    let lists = |is_published: bool| -> BTreeSet<(&str, String)> {
        let subjects = subjects.iter().filter(|subject| subject.is_published == is_published);
        subjects
            .flat_map(|subject| subject.lists.iter().map(|list| (subject.kind.name(), selector(&list.path))))
            .collect()
    };
    let (published, derived) = (lists(true), lists(false));
    let named = subjects::named_by_check();
    println!(
        "lists that hide something between published versions: {}; with a derived version: {}; named by WW230: {}",
        published.len(),
        derived.len(),
        named.len()
    );
    for (kind, list) in &named {
        let list = (kind.as_str(), list.clone());
        assert!(published.contains(&list) || derived.contains(&list), "{list:?} is not tried");
    }
    let counts = try_all(&subjects, writes_to_a_list().unwrap_or(6));
    report("real kinds", &counts);
}

/// Tries every list of every subject.
fn try_all(subjects: &[Subject], writes: usize) -> Counts {
    let threads = thread::available_parallelism().map_or(2, usize::from).min(4);
    thread::scope(|scope| {
        let part = |part: usize| {
            scope.spawn(move || {
                let mut counts = Counts::default();
                for subject in subjects.iter().skip(part).step_by(threads) {
                    for list in 0..subject.lists.len() {
                        writes::try_list(subject, list, writes, &mut counts);
                    }
                }
                counts
            })
        };
        let parts: Vec<_> = (0..threads).map(part).collect();
        parts.into_iter().map(|part| part.join().unwrap()).fold(Counts::default(), Counts::add)
    })
}

#[expect(clippy::print_stdout, reason = "says what was tried")]
fn report(of: &str, counts: &Counts) {
    let Counts { lists, writes, edits, alike, hidden, .. } = counts;
    println!(
        "items of {of}: {lists} lists, {writes} writes with {hidden} hidden values, {alike} of them to items that look \
         equal: {edits:?}"
    );
    let broken = counts.broken.len();
    assert_eq!(broken, 0, "the first of {broken}:\n{}", counts.broken.first().map_or("", String::as_str));
}
