//! The repository's own tasks. `cargo xtask` lists them.

mod deny;
mod packages;
mod python;
mod sbom;

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Instant,
};

const HELP: &str = "\
The repository's own tasks.

  cargo xtask test [--full]        formatting, lints, and every test; --full adds ten thousand cases of the laws
                                   a kind, writes to every list whose items hide something, random kinds with more
                                   than a million writes, harmful changes seeded into every real definition for
                                   check to find, processes that are killed 500 times, a server under load for half
                                   an hour, sweeps of a hundred thousand records, and a short run of every fuzz target
  cargo xtask fuzz [TARGET] [--seconds N]
                                   fuzz one target, or all of them, for N seconds each (60)
  cargo xtask deny                 licenses, bans, duplicate versions and sources of all packages, against deny.toml; a part
                                   of `cargo xtask test`
  cargo xtask sbom                 write the bill of materials of the program to standard output: CycloneDX 1.5, JSON
  cargo xtask bench                the benchmarks, with their ratios
  cargo xtask load                 reads, writes and lists over HTTP beside what a bare handler does; fails if the
                                   shares that docs/serve.md promises are missed

The tests of the PostgreSQL store need PostgreSQL's programs, and those of the server need kubectl and Chromium; on Debian
all are installed where they are missing.
The tests use the conformance cases in the folder that WHEELWRIGHT_SHARED names, or in ../shared, where there is one.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test"] => test(),
        ["test", "--full"] => {
            let counted = test()
                .and_then(|()| laws())
                .and_then(|()| hidden_items())
                .and_then(|()| random_kinds())
                .and_then(|()| gate());
            let counted = counted.and_then(|()| kills()).and_then(|()| soak()).and_then(|()| damage());
            let stored = counted.and_then(|()| sweeps()).and_then(|()| cells());
            stored.and_then(|()| published()).and_then(|()| fuzz(None, "20"))
        }
        ["fuzz"] => fuzz(None, "60"),
        ["fuzz", "--seconds", seconds] => fuzz(None, seconds),
        ["fuzz", target] => fuzz(Some(target), "60"),
        ["fuzz", target, "--seconds", seconds] => fuzz(Some(target), seconds),
        ["bench"] => cargo([
            "bench",
            "--package",
            "wheelwright-schema",
            "--package",
            "wheelwright-evolve",
            "--package",
            "wheelwright-repository",
            "--package",
            "wheelwright",
        ]),
        ["load"] => cargo(["build", "--release", "--package", "wheelwright", "--package", "wheelwright-load"])
            .and_then(|()| cargo(["run", "--release", "--quiet", "--package", "wheelwright-load"])),
        ["deny"] => deny::check(),
        ["sbom"] => sbom::sbom().and_then(|bill| write(&bill)),
        [] | ["help" | "--help" | "-h"] => {
            say(HELP);
            Ok(())
        }
        _ => Err(format!("unknown task\n\n{HELP}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&format!("xtask: {message}"));
            ExitCode::FAILURE
        }
    }
}

/// One profile for all of it and no release build, so that it stays quick. Doc tests come with `cargo test`, and one test
/// that fails does not keep the others from running.
fn test() -> Result<(), String> {
    ensure_component("rustfmt")?;
    ensure_component("clippy")?;
    ensure_postgres()?;
    ensure_program("kubectl", "WHEELWRIGHT_KUBECTL", "kubernetes-client")?;
    ensure_program("chromium", "WHEELWRIGHT_CHROMIUM", "chromium")?;
    ensure_curl()?;
    let python = python::ensure(&[python::KUBERNETES])?.join("python");
    run(Command::new(cargo_program()).args(["fmt", "--all", "--check"]).current_dir(root()))?;
    deny::check()?;
    cargo(["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"])?;
    // Tests switch on features that the command does not have.
    cargo(["check", "--package", "wheelwright", "--quiet"])?;
    let mut tests = cargo_command(["test", "--workspace", "--no-fail-fast", "--quiet"]);
    tests.env("WHEELWRIGHT_PYTHON", python);
    run(tests.current_dir(root()))
}

/// What the server publishes, held against what it does.
fn published() -> Result<(), String> {
    let schemathesis = python::ensure(&[python::SCHEMATHESIS])?.join("schemathesis");
    let arguments = ["test", "--package", "wheelwright", "--test", "clients", "what_is_published_is_true"];
    run(cargo_command(arguments).env("WHEELWRIGHT_SCHEMATHESIS", schemathesis).current_dir(root()))
}

/// The laws of every real kind with several versions, in the numbers that find what is rare.
fn laws() -> Result<(), String> {
    let arguments = ["test", "--release", "--package", "wheelwright-evolve", "--test", "laws"];
    run(cargo_command(arguments).env("WHEELWRIGHT_LAW_CASES", "10000").current_dir(root()))
}

/// Writes to every list of every real kind through a version that hides a part of its items.
fn hidden_items() -> Result<(), String> {
    let arguments = ["test", "--release", "--package", "wheelwright-evolve", "--test", "hidden_items"];
    let mut command = cargo_command(arguments);
    command.args(["--", "--nocapture"]).env("WHEELWRIGHT_LIST_WRITES", "300");
    run(command.current_dir(root()))
}

/// Random kinds with random changes, each with all its hubs, against the laws and against a model of the lens. Every case
/// is several writes, each of which is held against every version and every pair of hubs.
fn random_kinds() -> Result<(), String> {
    let arguments = ["test", "--release", "--package", "wheelwright-evolve", "--test", "lens_reference"];
    let mut command = cargo_command(arguments);
    command.args(["--", "--nocapture"]).env("PROPTEST_CASES", "120000").current_dir(root());
    run(command.env("PROPTEST_MAX_GLOBAL_REJECTS", "1000000"))
}

/// Changes of every class, seeded into every real definition, against what documents show of them.
fn gate() -> Result<(), String> {
    let arguments = ["test", "--release", "--package", "wheelwright", "--test", "gate", "--", "--nocapture"];
    run(cargo_command(arguments).env("WHEELWRIGHT_GATE_SEEDS", "1").current_dir(root()))
}

/// A thousand SQLite files and two hundred PostgreSQL stores with random damage.
fn damage() -> Result<(), String> {
    let arguments = ["test", "--package", "wheelwright-repository", "--test", "damage", "--", "--nocapture"];
    run(cargo_command(arguments).env("WHEELWRIGHT_DAMAGED_STORES", "1000").current_dir(root()))?;
    let arguments = ["test", "--package", "wheelwright-repository", "--test", "damage_postgres", "--", "--nocapture"];
    run(cargo_command(arguments).env("WHEELWRIGHT_DAMAGED_POSTGRES", "200").current_dir(root()))
}

/// Sweeps of a hundred thousand records in each store, by processes that are killed.
fn sweeps() -> Result<(), String> {
    let arguments =
        ["test", "--release", "--package", "wheelwright-repository", "--test", "sweeps", "--", "--nocapture"];
    run(cargo_command(arguments).env("WHEELWRIGHT_SWEEP_RECORDS", "100000").current_dir(root()))
}

/// Every cell of create, write and read, also of the kinds that have half a million of them.
fn cells() -> Result<(), String> {
    let arguments =
        ["test", "--release", "--package", "wheelwright-repository", "--test", "cells", "--", "--nocapture"];
    run(cargo_command(arguments).env("WHEELWRIGHT_ALL_CELLS", "1").current_dir(root()))
}

/// Processes and servers that are killed while they write, ten times as often.
fn kills() -> Result<(), String> {
    let arguments = ["test", "--package", "wheelwright-store", "--test", "processes"];
    run(cargo_command(arguments).env("WHEELWRIGHT_KILLS", "500").current_dir(root()))?;
    let arguments = ["test", "--package", "wheelwright", "--test", "served", "killed"];
    run(cargo_command(arguments).env("WHEELWRIGHT_KILLS", "200").current_dir(root()))?;
    let arguments = ["test", "--package", "wheelwright", "--test", "killed_lock"];
    run(cargo_command(arguments).env("WHEELWRIGHT_KILLS", "500").current_dir(root()))?;
    let arguments = ["test", "--package", "wheelwright", "--test", "served", "full_disk"];
    run(cargo_command(arguments).env("WHEELWRIGHT_KILLS", "300").current_dir(root()))
}

/// A server under mixed load for half an hour, or as long as the environment says: it loses nothing, and does not grow.
fn soak() -> Result<(), String> {
    let minutes = env::var("WHEELWRIGHT_SOAK_MINUTES").unwrap_or_else(|_| "30".to_owned());
    let arguments = ["test", "--package", "wheelwright", "--test", "served", "soak", "--", "--nocapture"];
    run(cargo_command(arguments).env("WHEELWRIGHT_SOAK_MINUTES", minutes).current_dir(root()))
}

/// rustup has these as components, Debian's own toolchain as packages.
fn ensure_component(name: &str) -> Result<(), String> {
    let (subcommand, package) = if name == "rustfmt" { ("fmt", "rustfmt") } else { (name, "rust-clippy") };
    let Err(cause) = output(Command::new(cargo_program()).args([subcommand, "--version"])) else {
        return Ok(());
    };
    run(Command::new("rustup").args(["component", "add", name]))
        .or_else(|_| run(Command::new("apt-get").args(["install", "--yes", package])))
        .map_err(|error| {
            let mend = format!("rustup component add {name}, or apt-get install {package}");
            format!("cargo {subcommand} is needed: {mend}\n{cause}\n{error}")
        })
}

/// The tests of the PostgreSQL store start servers of their own, and need only the programs.
fn ensure_postgres() -> Result<(), String> {
    if has_postgres() {
        return Ok(());
    }
    install_postgres().map_err(|error| {
        let mend = "apt-get install postgresql, or name the folder of initdb and postgres in WHEELWRIGHT_POSTGRES_BIN";
        format!("PostgreSQL is needed for the tests of its store: {mend}\n{error}")
    })
}

fn has_postgres() -> bool {
    let named = env::var_os("WHEELWRIGHT_POSTGRES_BIN").map(PathBuf::from);
    let in_path: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders = named.into_iter().chain(in_path).chain(installed.map(|version| version.path().join("bin")));
    folders.any(|folder| ["initdb", "postgres"].iter().all(|name| folder.join(name).is_file()))
}

/// Tests of the server run kubectl, and web pages in Chromium, against it. A variable may name the program.
fn ensure_program(name: &str, variable: &str, package: &str) -> Result<(), String> {
    let named = env::var_os(variable).map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let mut programs = named.into_iter().chain(env::split_paths(&path).map(|folder| folder.join(name)));
    if programs.any(|program| program.is_file()) {
        return Ok(());
    }
    install(package).map_err(|error| {
        let fix = format!("apt-get install {package}, or name the program in {variable}");
        format!("{name} is needed for the tests of the server: {fix}\n{error}")
    })
}

/// The tour of the README asks the server with curl.
fn ensure_curl() -> Result<(), String> {
    match output(Command::new("curl").arg("--version")) {
        Ok(_) => Ok(()),
        Err(_) => install("curl"),
    }
}

/// Installs a package of Debian, also on a machine that has no list of them yet.
fn install(package: &str) -> Result<(), String> {
    let install = || {
        let mut command = Command::new("apt-get");
        run(command.args(["install", "--yes", package]).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    install().or_else(|_| {
        run(Command::new("apt-get").arg("update"))?;
        install()
    })
}

/// Debian's package would make a server and start it, unless its common part is told not to before.
fn install_postgres() -> Result<(), String> {
    let settings = "/etc/postgresql-common/createcluster.conf";
    install("postgresql-common")?;
    let text = std::fs::read_to_string(settings).unwrap_or_default();
    std::fs::write(settings, format!("{text}\ncreate_main_cluster = false\n"))
        .map_err(|error| format!("{settings}: {error}"))?;
    install("postgresql")
}

/// What cargo-fuzz sets on a stable toolchain: coverage for the fuzzer, and the checks that release builds leave out.
const FUZZ_FLAGS: &str = "--cfg fuzzing -Cdebug-assertions -Coverflow-checks -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

/// The fuzz targets are a workspace of their own, so that nobody pays for libFuzzer who does not fuzz.
fn fuzz(target: Option<&str>, seconds: &str) -> Result<(), String> {
    let folder = root().join("fuzz");
    let known = fuzz_targets(&folder)?;
    let targets = match target {
        Some(target) if known.iter().any(|name| name == target) => vec![target.to_owned()],
        Some(target) => return Err(format!("no fuzz target {target}; there are {}", known.join(", "))),
        None => known,
    };
    // libFuzzer is built from its source.
    let is_there = |program: &str| output(Command::new(program).arg("--version")).is_ok();
    if env::var_os("CXX").is_none() && !["c++", "g++", "clang++"].into_iter().any(is_there) {
        return Err("fuzzing needs a C++ compiler: install g++ or clang, or name one in CXX".to_owned());
    }
    // With a target named, the flags are for that alone: build scripts are not fuzzed, and could not be linked.
    let platform = output(Command::new("rustc").args(["--print", "host-tuple"]))?;
    for target in targets {
        let corpus = folder.join("corpus").join(&target);
        let artifacts = folder.join("artifacts").join(&target);
        for folder in [&corpus, &artifacts] {
            std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        run(cargo_command(["run"])
            .current_dir(&folder)
            .env("RUSTFLAGS", FUZZ_FLAGS)
            .args(["--release", "--quiet", "--target", platform.trim(), "--bin", &target, "--"])
            .arg(&corpus)
            .arg(folder.join("seeds").join(&target))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(format!("-dict={}", folder.join("dictionary.txt").display()))
            .arg(format!("-max_total_time={seconds}"))
            .args(["-max_len=65536", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]))?;
    }
    Ok(())
}

fn fuzz_targets(folder: &Path) -> Result<Vec<String>, String> {
    let targets = std::fs::read_dir(folder.join("targets")).map_err(|error| error.to_string())?;
    let mut names: Vec<String> =
        targets.filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}

fn cargo<const N: usize>(arguments: [&str; N]) -> Result<(), String> {
    run(cargo_command(arguments).current_dir(root()))
}

/// A command of cargo that builds from what `Cargo.lock` lists, and never changes that.
fn cargo_command<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = Command::new(cargo_program());
    let (subcommand, rest) = arguments.split_at(1.min(N));
    command.args(subcommand).arg("--locked").args(rest);
    command
}

/// The cargo that runs this, which need not be the first in the path.
fn cargo_program() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{program}: {error}"))
}

fn run(command: &mut Command) -> Result<(), String> {
    let words: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    let line = format!("{} {}", command.get_program().to_string_lossy(), words.join(" "));
    say(&format!("xtask: {line}"));
    let start = Instant::now();
    let status = command.status().map_err(|error| format!("{line}: {error}"))?;
    say(&format!("xtask: took {:.1} s", start.elapsed().as_secs_f64()));
    if status.success() { Ok(()) } else { Err(format!("{line}: {status}")) }
}

fn root() -> PathBuf {
    // The manifest of this package is in the folder below the root.
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// Data goes to standard output.
fn write(text: &str) -> Result<(), String> {
    io::stdout().write_all(text.as_bytes()).map_err(|error| format!("standard output: {error}"))
}

/// Conversation goes to standard error; the tools' own output goes where they send it.
#[expect(clippy::print_stderr, reason = "a task runner talks to its user")]
fn say(text: &str) {
    eprintln!("{text}");
}
