//! What is wrong with locks, and where.

use wheelwright_findings::Rule;

use super::*;

const LOCK: &str = include_str!("../../../tests/golden/person.lock");

/// A lock with these lines below the heading of its kind, and the sum that they have.
fn summed(lines: &str) -> String {
    let text = format!("kind K\n  hub v1\n{lines}");
    let mut sum = Sum::default();
    text.lines().for_each(|line| sum.line(line.trim_end()));
    format!("format 1\n{text}\n  sum {}\n", sum.finish())
}

/// A first version with these edits, then other lines.
fn with(edits: &str, then: &str) -> String {
    let zero = "0".repeat(32);
    let lines =
        format!("  version v1 fingerprint {zero}\n{edits}\n{}", then.replace("ZERO", &format!("fingerprint {zero}")));
    summed(lines.trim_end())
}

#[track_caller]
fn expect(text: &str, rule: &Rule, line: u32, message: &str) {
    let (_, problems) = parse(text);
    let found = problems.first().expect("there is a problem");
    assert_eq!((found.rule.id, found.span.line, &*found.message), (rule.id, line, message), "{text}");
    assert!(found.mend.is_some());
}

#[test]
fn a_lock_can_be_read_whatever_ends_its_lines() {
    let (lock, problems) = parse(LOCK);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(lock.to_string(), LOCK);
    let (again, problems) = parse(&LOCK.replace('\n', "\r\n"));
    assert!(problems.is_empty() && again == lock);
}

#[test]
fn the_lock_in_the_documentation_is_one() {
    let page = include_str!("../../../../../docs/lock.md");
    let example = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let (lock, problems) = parse(example);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(lock.to_string(), example);
}

#[test]
fn every_edit_by_hand_is_found() {
    let kind_line = LOCK.lines().position(|line| line.starts_with("kind")).unwrap();
    for (position, line) in LOCK.lines().enumerate().skip(kind_line + 1) {
        let without: Vec<_> =
            LOCK.lines().enumerate().filter(|(at, _)| *at != position).map(|(_, line)| line).collect();
        assert!(!parse(&without.join("\n")).1.is_empty(), "without {line}");
    }
    let edited = LOCK.replace("replicas integer default 3", "replicas integer default 4");
    let sum_line = LOCK.lines().count() as u32;
    let message = "what is locked of example.com/Person was edited, or merged by hand: its sum is another one";
    expect(&edited, &rules::LOCK_EDITED, sum_line, message);
    let commented = LOCK.replace("  hub v1\n", "  hub v1\n  # do not touch\n");
    assert!(!parse(&commented).1.is_empty());
}

#[test]
fn locks_of_newer_releases_and_unfinished_merges_say_what_to_do() {
    let message = "the lock has format 2, and this release reads format 1";
    expect("# a\nformat 2\nwhatever\n", &rules::LOCK_TOO_NEW, 2, message);
    expect(
        &format!("format 9{}\n", "9".repeat(40)),
        &rules::LOCK_TOO_NEW,
        1,
        &format!("the lock has format 9{}, and this release reads format 1", "9".repeat(40)),
    );
    let merged = LOCK.replace("  hub v1\n", "<<<<<<< HEAD\n  hub v1\n=======\n  hub v2\n>>>>>>> other\n");
    expect(&merged, &rules::LOCK_CONFLICT, 5, "two branches have grown the lock, and their merge was left undone here");
}

#[test]
fn lines_that_cannot_be_read_say_what_was_expected() {
    let unreadable = &rules::LOCK_UNREADABLE;
    expect("", unreadable, 0, "the lock has no line `format 1`");
    expect("kind K\n", unreadable, 1, "expected `format 1`");
    expect("format x\n", unreadable, 1, "expected the number of a format");
    expect("format 1\n  hub v1\n", unreadable, 2, "expected `kind`");
    expect("format 1\nkind K\n  version v1\n", unreadable, 3, "expected `hub`");
    expect("format 1\nkind K group\n", unreadable, 2, "expected a name");
    for (edit, message) in [
        ("+ a strng", "expected a shape instead of `strng`"),
        ("+ a list", "expected `of` after `list`"),
        ("+ a string of string", "expected no `of` after `string`"),
        ("+ a string default {", "expected JSON instead of `{`"),
        ("+ a string nullable and", "expected the end of the line before `and`"),
        ("+ a. string", "expected a path instead of `a.`: expected the name of a field at character 3"),
        ("+ \"a string", "expected a name in quotes instead of `\"a string`"),
        ("+ a list of object keys a,", "expected a name"),
        ("~ a b", "expected `->`"),
        ("writers go", "expected `exact` or `omitempty`"),
        (
            "* a",
            "expected `+`, `-`, `~`, `=`, `order`, `writers`, `converted`, `reshaped`, `hook`, `derived`, `version`, \
             `amend` or `sum` instead of `*`",
        ),
        ("converted a b text", "expected `->`"),
        ("converted , -> b text", "expected a path on either side of `->`"),
        ("converted a -> b", "expected how it is converted instead of ``"),
        ("converted a -> b template \"{b}\"", "expected how it is converted instead of `template`"),
        ("reshaped a -> b template {b}", "expected a text in quotes"),
        ("converted a -> b values \"x\",\"y\"", "expected `=` and a text in quotes"),
        ("converted a -> b up \"x\"", "expected `down`"),
        ("hook a -> b name", "expected a name"),
        ("derived a \"x\"", "expected `up` or `down` instead of `a`"),
        ("derived up a x", "expected a text in quotes"),
    ] {
        expect(&with(edit, ""), unreadable, 5, message);
    }
}

#[test]
fn lines_that_contradict_one_another_are_found() {
    for (edits, then, line, message) in [
        ("+ a.b string", "", 5, "a.b is in no object that is there"),
        ("+ a string\n+ a string", "", 6, "a is there already"),
        ("+ a string\n+ b string id a", "", 6, "a is the id of two fields"),
        ("+ a string\n+ a[] string", "", 6, "a[] is no field"),
        ("= a string", "", 5, "a is not there"),
        ("= . string", "", 5, "the document cannot have another shape"),
        ("order . a", "", 5, "the document has not exactly these fields"),
        ("+ a string", "version v2 from v9 ZERO", 6, "v9 is no version that was locked before"),
        ("+ a string", "version v2 before v9 ZERO", 6, "v9 is no version that was locked before"),
        ("+ a string", "version v1 ZERO", 6, "v1 is locked twice"),
        ("+ a string", "amend v2 ZERO", 6, "v2 is no version that was locked before"),
        ("+ a string", "version v2 from v1 ZERO\n- b", 7, "b is no field of the version before"),
        ("+ a string", "version v2 from v1 ZERO\n- a\n~ a -> b", 8, "a is removed or moved twice"),
        ("+ a string", "version v2 ZERO\n+ a integer", 7, "a has another shape in other versions"),
        ("+ a object", "version v2 from v1 ZERO\n~ a -> a.b", 7, "a.b is in no object that is there"),
        (
            "+ a list of object\n+ a[].b string",
            "version v2 from v1 ZERO\n~ a[].b -> b",
            8,
            "a[].b has left its list or map",
        ),
        ("+ a string", "version v2 from v1 ZERO\nconverted b -> a text", 7, "b is computed, and not there"),
        ("+ a string", "version v2 from v1 ZERO\nconverted a -> b text", 7, "b is computed, and not there"),
        ("+ a string", "version v2 from v1 ZERO\nderived up b \"self.a\"", 7, "b is computed, and not there"),
        ("+ a string\nderived down a \"self.a\"", "", 6, "a is computed, and not there"),
        ("+ a string", "amend v1 ZERO\nderived up a \"self.b\"", 7, "v1 is locked, and what it computes with it"),
    ] {
        expect(&with(edits, then), &rules::LOCK_INCONSISTENT, line, message);
    }
    expect(&summed(""), &rules::LOCK_INCONSISTENT, 2, "the hub of K is no version of it");
    let twice = format!("{LOCK}{}", LOCK.split_once("format 1\n").unwrap().1);
    assert_eq!(parse(&twice).1[0].message, "example.com/Person is locked twice");
    let cut = LOCK.trim_end().rsplit_once('\n').unwrap().0;
    expect(cut, &rules::LOCK_EDITED, 4, "the end of example.com/Person is missing: it has no sum");
}

#[test]
fn what_is_computed_is_written_as_it_is_read() {
    let computed = r#"
    converted a -> a durationSeconds
    converted a -> a quantity
    converted a -> a scale 0.001
    converted l[] -> l[] text
    converted a -> a values "Fast"="Quick","a \"b\", c"="","="=","
    converted a -> a joined " "
    converted a -> a key name
    converted a -> a oneItem
    converted a -> a up "self * 2" down "self\n/ 2"
    reshaped a -> b,"[\"with space\"]" template "{b}:{with space}"
    reshaped b,"[\"with space\"]" -> a template "{b}:{with space}" pattern "^(?P<b>.*):(.*)$"
    reshaped a -> a key name
    reshaped a -> a key name value "the value"
    reshaped b,"[\"with space\"]" -> a entries x,"y z"
    reshaped a -> a renamedKeys "app"="application"
    reshaped b -> a,b up "x","y" down "z"
    hook b,a -> a name legacyAddress
    derived up a "self.b + ','"
    derived down b "'='""#;
    let fields = "    + a string\n    + b string\n    + l list of string\n    + \"[\\\"with space\\\"]\" string";
    let text = with(fields, &format!("  version v2 from v1 ZERO{computed}"));
    let (lock, problems) = parse(&text);
    assert!(problems.is_empty(), "{problems:?}");
    let written = lock.to_string();
    assert!(written.contains(computed), "{written}");
    assert_eq!(parse(&written).0, lock);
    let history = lock.kinds()[0].history();
    assert_eq!((history.versions[1].respelled.len(), history.versions[1].derived.len()), (17, 2));
}

#[test]
fn a_short_text_cannot_be_an_endless_history() {
    let fields: Vec<_> = (0..100).map(|number| format!("+ a{number} string\n")).collect();
    let versions: Vec<_> = (2..100).map(|number| format!("version v{number} from v1 ZERO\n")).collect();
    let text = with(fields.concat().trim_end(), &versions.concat());
    let read_with = |fields_left: usize| {
        let mut reader = Reader { fields_left, ..Reader::default() };
        lines(&text).for_each(|line| reader.read(&line));
        reader.end_kind();
        reader.problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>()
    };
    assert_eq!(read_with(5_000), ["the versions so far have more fields than can be read"]);
    assert!(read_with(10_000).is_empty());
    let deep = format!("+ a {}string", "list of ".repeat(600));
    expect(&with(&deep, ""), &rules::LOCK_INCONSISTENT, 5, "fields nest at most 512 deep");
}

proptest::proptest! {
    #[test]
    fn whatever_is_done_to_its_lines_what_is_read_can_be_written_and_read_again(
        edits in proptest::collection::vec((0..4_u8, 5..60_usize, 5..60_usize, 0..6_usize), 1..6),
    ) {
        let mut lines: Vec<String> = LOCK.lines().map(str::to_owned).collect();
        for (sort, a, b, word) in edits {
            let (a, b) = (a % lines.len(), b % lines.len());
            match sort {
                0 => drop(lines.remove(a)),
                1 => lines.insert(a, lines[b].clone()),
                2 => lines.swap(a, b),
                _ => {
                    let other: Vec<&str> = lines[b].split_whitespace().collect();
                    let mut words: Vec<&str> = lines[a].split_whitespace().collect();
                    let at = word % words.len().max(1);
                    words.splice(at.min(words.len())..(at + 1).min(words.len()), other.get(word).copied());
                    lines[a] = words.join(" ");
                }
            }
        }
        let (lock, problems) = parse(&lines.join("\n"));
        let says = |line: &&str| !line.is_empty() && !line.starts_with('#');
        let is_same = lines.iter().map(String::as_str).filter(says).eq(LOCK.lines().filter(says));
        proptest::prop_assert!(!problems.is_empty() || is_same);
        let (again, problems) = parse(&lock.to_string());
        proptest::prop_assert!(problems.is_empty(), "{:?}", problems);
        proptest::prop_assert_eq!(again, lock);
    }
}

#[test]
fn a_locked_version_loses_and_moves_nothing() {
    // Where p is first, it is in q, and where q is first, it is in p: whoever stores both would look for an end for ever.
    let each_in_the_other = "  version v2 from v1 ZERO\n    + p object\n  version v3 from v1 ZERO\n  amend v1 ZERO\n    \
                             + p object\n    + p.q object\n  amend v2 ZERO\n    + q object id p.q\n    ~ p -> q.p";
    let message = "v2 is locked, and can only gain fields: it neither loses nor moves any";
    expect(&with("    + z string", each_in_the_other), &rules::LOCK_INCONSISTENT, 14, message);
    let message = "v1 is locked, and can only gain fields: it neither loses nor moves any";
    expect(&with("    + z string", "  amend v1 ZERO\n    - z"), &rules::LOCK_INCONSISTENT, 7, message);
}
