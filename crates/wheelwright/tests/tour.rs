//! The README's tour of the server works as it is printed.
//!
//! A comment `<!-- tour: COMMAND -->` says which server the blocks after it are for. In what is printed, `[..]` stands for
//! anything.

#![expect(clippy::unwrap_used, reason = "a test that meets a surprise should stop right there")]

#[path = "shared/example.rs"]
mod example;
#[path = "shared/program.rs"]
mod program;

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Command, Stdio},
};

use example::example;
use program::Program;

/// A command, and what it prints.
struct Step {
    command: String,
    printed: Vec<String>,
}

#[test]
fn the_tour_of_the_server_works() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(repository.join("README.md")).unwrap();
    let tours: Vec<&str> = page.split("<!-- tour: ").skip(1).collect();
    assert_eq!(tours.len(), 2, "one with curl, and one with kubectl");
    for tour in tours {
        let (serve, text) = tour.split_once(" -->").unwrap();
        run(serve, &steps(text.split("\n## ").next().unwrap()), &repository);
    }
}

/// The commands of a tour, with what they print.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in text.split("```console ignore\n").skip(1) {
        for line in block.split("\n```").next().unwrap().lines() {
            match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step { command: command.to_owned(), printed: Vec::new() }),
                None => steps.last_mut().unwrap().printed.push(line.to_owned()),
            }
        }
    }
    assert!(steps.len() > 3, "there is something to walk through");
    steps
}

fn run(serve: &str, steps: &[Step], repository: &Path) {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(repository.join("examples"), folder.path().join("examples")).unwrap();
    let arguments: Vec<&str> = serve.strip_prefix("cargo run -- serve ").unwrap().split(' ').collect();
    let (_server, address) = Program::serve(&arguments, folder.path());
    let (mut programs, mut settings) = (Vec::new(), String::new());
    for Step { command, printed } in steps {
        if let Some(rest) = command.strip_prefix("cargo run --example ") {
            let (name, arguments) = rest.trim_end_matches(" &").split_once(" -- ").unwrap();
            let mut program = Command::new(example(name));
            let (program, line) = Program::start(program.args(arguments.split(' ')).current_dir(folder.path()));
            programs.push(program);
            assert!(matches(&line, &printed[0]), "{command}\n{line}");
            continue;
        }
        let command = command.replace("127.0.0.1:8080", &address);
        if command.starts_with("alias ") || command.split_once('=').is_some_and(|(name, _)| name == "ARM") {
            settings.push_str(&format!("{command}\n"));
            continue;
        }
        let mut shell = Command::new("bash");
        let script = format!("shopt -s expand_aliases\n{settings}{command}");
        let mut shell = shell.args(["-c", &script]).current_dir(folder.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = String::new();
        shell.stdout.take().unwrap().read_to_string(&mut output).unwrap();
        assert!(shell.wait().unwrap().success(), "{command}\n{output}");
        let lines: Vec<&str> = output.lines().collect();
        let is_printed =
            lines.len() == printed.len() && lines.iter().zip(printed).all(|(line, pattern)| matches(line, pattern));
        assert!(is_printed, "{command}\nprints\n{output}\nand not\n{}", printed.join("\n"));
    }
}

/// Whether a line is as a pattern says, in which `[..]` stands for anything.
fn matches(line: &str, pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split("[..]").collect();
    let [first, middle @ .., last] = &parts[..] else { return line == pattern };
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
