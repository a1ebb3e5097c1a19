//! The table in the page about expressions lists what expressions can use, with examples that hold.
//!
//! `UPDATE_GOLDEN=1` writes its rows anew; what they mean, and an example, people add.

use std::{collections::BTreeMap, env, fs, path::Path};

use wheelwright_expr::functions;

use crate::result_of;

const START: &str = "<!-- functions: the rows are written by a test -->\n";
const END: &str = "<!-- end of functions -->\n";
const HEAD: &str = "| name | signatures | meaning | example | Kubernetes |\n| --- | --- | --- | --- | --- |\n";

/// A name, and the version that Kubernetes has it from.
type Key = (String, String);

#[test]
fn the_page_lists_everything_with_a_meaning_and_an_example() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cel.md");
    let page = fs::read_to_string(&path).expect("the page can be read");
    let (before, rest) = page.split_once(START).expect("the page has the start of the table");
    let (table, after) = rest.split_once(END).expect("the page has the end of the table");
    let expected = rows(&explanations(table));
    if env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(&path, format!("{before}{START}{expected}{END}{after}")).expect("the page can be written");
    } else {
        assert!(
            table == expected,
            "docs/cel.md does not list what there is; run with UPDATE_GOLDEN=1 and read the changes"
        );
    }
    for line in expected.lines().skip(2) {
        let [name, _, meaning, example, _] = cells(line);
        assert!(!meaning.is_empty(), "{name} has no meaning in docs/cel.md");
        let (expression, result) = example.split_once("` is `").unwrap_or_else(|| panic!("{name}: no example"));
        let (expression, result) = (expression.trim_start_matches('`'), result.trim_end_matches('`'));
        let expression = expression.replace('‵', "`");
        assert_eq!(result_of(&expression), result, "the example of {name}: {expression}");
    }
}

/// What people wrote about each name.
fn explanations(table: &str) -> BTreeMap<Key, (String, String)> {
    let rows = table.lines().skip(2).map(|line| {
        let [name, _, meaning, example, since] = cells(line);
        ((name, since), (meaning, example.replace('|', "\\|")))
    });
    rows.collect()
}

fn rows(explanations: &BTreeMap<Key, (String, String)>) -> String {
    let mut signatures: Vec<(Key, Vec<String>)> = Vec::new();
    for function in functions() {
        let since = function.since.map_or("no".to_owned(), |minor| format!("1.{minor}"));
        let key = (format!("`{}`", function.name.replace('`', "‵")), since);
        let signature = format!("`{}`", function.signature.replace('|', "\\|").replace('`', "‵"));
        match signatures.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => known.push(signature),
            None => signatures.push((key, vec![signature])),
        }
    }
    let mut table = HEAD.to_owned();
    for (key, signatures) in signatures {
        let (meaning, example) = explanations.get(&key).cloned().unwrap_or_default();
        let (name, since) = (key.0.replace('|', "\\|"), key.1);
        table += &format!("| {name} | {} | {meaning} | {example} | {since} |\n", signatures.join("<br>"));
    }
    table
}

/// The cells of a row; a `|` in one is written `\|`.
fn cells(line: &str) -> [String; 5] {
    let line = line.replace("\\|", "\0");
    let cells: Vec<_> = line.trim_matches('|').split('|').map(|cell| cell.trim().replace('\0', "|")).collect();
    cells.try_into().unwrap_or_else(|_| panic!("a row has five cells: {line}"))
}
