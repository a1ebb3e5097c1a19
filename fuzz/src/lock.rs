//! Locks: whatever the text, reading it ends, and what was read is written and read again.

use wheelwright_evolve::Lock;

/// Reads a lock.
pub fn lock(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (lock, problems) = Lock::parse(text);
    let lines = text.split('\n').count() as u32;
    for problem in &problems {
        assert!(problem.span.line <= lines && !problem.message.is_empty());
        assert!(text.get(problem.span.start as usize..problem.span.end as usize).is_some());
    }
    let written = lock.to_string();
    let (again, problems) = Lock::parse(&written);
    assert!(problems.is_empty(), "{problems:?}\n{written}");
    assert_eq!(again, lock);
    for kind in lock.kinds() {
        let history = kind.history();
        assert!(history.find(kind.hub().as_str()).is_some());
        for version in &history.versions {
            for node in version.structure.fields() {
                let id = version.id(node).expect("every field has an id");
                assert_eq!(version.node_of(id), Some(node));
                assert_eq!(version.structure.find(&version.structure.selector(node)), Some(node));
            }
        }
    }
}
