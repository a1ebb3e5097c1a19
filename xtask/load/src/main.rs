//! Load on `wheelwright serve`, in one run with a bare handler that answers with the same bytes: `cargo xtask load`.
//!
//! Absolute figures depend on the machine and are told; what fails the run are ratios within it, each of the best of rounds
//! that take turns, so that both sides suffer the same noise.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it says what it measured")]

mod ceiling;
mod client;
mod drive;
mod process;
mod subject;

use std::{
    env,
    error::Error,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    rc::Rc,
    time::Duration,
};

use client::{Answer, Connection};
use drive::{Load, Measured};
use process::Process;
use subject::{
    GADGET_VERSIONS, WIDGET_VERSIONS, gadget_body, gadgets, get, send, widget, widget_body, write_catalog,
    write_many_kinds,
};

/// As many as the figures of kube-apiserver were taken with.
const CLIENTS: usize = 16;
const OBJECTS: usize = 10_000;
const FEWER_OBJECTS: usize = 1_000;
const ROUNDS: usize = 5;
/// How much of the ceiling's rate a get of another version than the stored one has at least.
const GET_SHARE: f64 = 0.5;
/// How much of the ceiling's bytes a second a list has at least.
const LIST_SHARE: f64 = 0.25;
/// The same of a server that has to make every answer anew: about half of what was measured, so that it shows if that gets
/// much slower.
const UNKEPT_GET_SHARE: f64 = 0.15;
/// As [`UNKEPT_GET_SHARE`].
const UNKEPT_LIST_SHARE: f64 = 0.015;
/// How much more memory a server may take than one that keeps nothing: what it keeps by default, and as much again for what
/// the allocator does not give back.
const KEPT_KIB: u64 = 2 * (16 << 10);
/// How much more memory a list of all objects may take than one of a tenth of them: far less than the bytes of either.
const LIST_GROWTH_KIB: u64 = 4 << 10;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        [] => load(),
        ["ceiling", folder, pieces] => match pieces.parse() {
            Ok(pieces) => ceiling::run(Path::new(folder), pieces).map(|()| Vec::new()).map_err(Into::into),
            Err(_) => Err("ceiling takes a folder and a number of pieces".into()),
        },
        _ => Err("there is nothing to say: what is measured is fixed".into()),
    };
    match outcome {
        Ok(misses) if misses.is_empty() => ExitCode::SUCCESS,
        Ok(misses) => {
            misses.iter().for_each(|miss| eprintln!("missed: {miss}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs all of it; gives what was missed.
fn load() -> Result<Vec<String>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let catalog = folder.path().join("catalog");
    fs::create_dir(&catalog)?;
    write_catalog(&catalog)?;
    let store = folder.path().join("load.db");
    let server = serve(&catalog, &store, &[])?;
    let at_start = server.memory()?.now;
    println!("{CLIENTS} clients, objects of about 1 KB, SQLite; kube-apiserver on two cores in parentheses");
    writes(server.address)?;
    // What a server has to do that has never read what it is asked for.
    let forgetful = serve(&catalog, &store, &["--max-kept", "0"])?;
    let ceiling = start_ceiling(forgetful.address, folder.path())?;
    let mut misses = reads([&ceiling, &server, &forgetful])?;
    misses.extend(lists([&ceiling, &server, &forgetful])?);
    let after = server.memory()?.now;
    drop((server, forgetful, ceiling));
    let many = folder.path().join("many");
    fs::create_dir(&many)?;
    write_many_kinds(&many, 100)?;
    let with_many = serve(&many, &folder.path().join("many.db"), &[])?.memory()?.now;
    println!();
    for (what, kib) in [("2 kinds, at start", at_start), ("2 kinds, after all this", after), ("100 kinds", with_many)] {
        println!("{:<40} {:>7.1} MB (292 MB with one kind)", format!("memory, {what}"), kib as f64 / 1024.0);
    }
    Ok(misses)
}

/// Creates the objects of all lists, and updates some.
fn writes(address: SocketAddr) -> Result<(), Box<dyn Error>> {
    let load = |requests| Load { clients: CLIENTS, requests, time: Duration::from_secs(300) };
    let [hub, _] = GADGET_VERSIONS;
    for (namespace, count) in [("many", OBJECTS), ("few", FEWER_OBJECTS)] {
        let path = gadgets(hub, namespace);
        let created = load(count).run(address, 201, move |number| {
            send("POST", &path, "application/json", &gadget_body(&format!("g{number:05}")))
        })?;
        tell(&format!("creates, Kubernetes, {count}"), &created, " (209/s)");
    }
    let [hub, _] = WIDGET_VERSIONS;
    let put = move |number: usize, owner: usize| {
        let name = format!("w{:05}", number % FEWER_OBJECTS);
        send("PUT", &widget(hub, &name), "application/json", &widget_body(&name, owner))
    };
    tell("creates, ARM", &load(FEWER_OBJECTS).run(address, 201, move |number| put(number, 0))?, " (209/s)");
    tell("updates, ARM (PUT)", &load(FEWER_OBJECTS).run(address, 200, move |number| put(number, 1))?, " (154/s)");
    let path = gadgets(GADGET_VERSIONS[1], "few");
    let patched = load(FEWER_OBJECTS).run(address, 200, move |number| {
        let name = format!("g{:05}", number % FEWER_OBJECTS);
        send("PATCH", &format!("{path}/{name}"), "application/merge-patch+json", r#"{"spec":{"owner":"somebody"}}"#)
    })?;
    tell("updates, Kubernetes, at another version", &patched, " (154/s)");
    Ok(())
}

/// A handler that answers as the server does.
fn start_ceiling(server: SocketAddr, folder: &Path) -> Result<Process, Box<dyn Error>> {
    let path = gadgets(GADGET_VERSIONS[1], "many");
    let object = fetch(server, &get(&format!("{path}/g00007")))?;
    let list = fetch(server, &get(&path))?;
    if object.status != 200 || list.status != 200 {
        return Err(format!("the server answers {} and {}", object.status, list.status).into());
    }
    println!(
        "an object has {} bytes, a list of {OBJECTS} has {} in {} pieces",
        object.length, list.length, list.pieces
    );
    fs::write(folder.join(ceiling::GET_FILE), object.body)?;
    fs::write(folder.join(ceiling::LIST_FILE), list.body)?;
    Process::start(Command::new(env::current_exe()?).arg("ceiling").arg(folder).arg(list.pieces.to_string()))
}

/// Gets, in turns with the ceiling.
fn reads([ceiling, server, forgetful]: [&Process; 3]) -> Result<Vec<String>, Box<dyn Error>> {
    let load = Load { clients: CLIENTS, requests: 200_000, time: Duration::from_secs(1) };
    let objects = |path: &dyn Fn(&str) -> String| -> Vec<Rc<[u8]>> {
        (0..FEWER_OBJECTS).map(|number| get(&path(&format!("{number:05}")))).collect()
    };
    let gadgets_at = |version: &'static str| objects(&|name| format!("{}/g{name}", gadgets(version, "many")));
    let widgets_at = |version: &'static str| objects(&|name| widget(version, &format!("w{name}")));
    let contenders = [
        ("gets, ceiling", ceiling, vec![get("/get")]),
        ("gets, Kubernetes, at another version", server, gadgets_at(GADGET_VERSIONS[1])),
        ("gets, Kubernetes, at the hub", server, gadgets_at(GADGET_VERSIONS[0])),
        ("gets, ARM, at another version", server, widgets_at(WIDGET_VERSIONS[1])),
        ("gets, Kubernetes, nothing kept", forgetful, gadgets_at(GADGET_VERSIONS[1])),
    ];
    let best = in_turns(load, &contenders, Measured::rate)?;
    for ((name, ..), measured) in contenders.iter().zip(&best) {
        tell(name, measured, &share(measured.rate(), best[0].rate(), "721/s"));
    }
    let share = |own: usize| best[own].rate() / best[0].rate();
    let mut misses = held("gets of another version", share(1), GET_SHARE);
    misses.extend(held("gets with nothing kept", share(4), UNKEPT_GET_SHARE));
    Ok(misses)
}

/// Lists, in turns with the ceiling, and the memory that they take by themselves.
fn lists([ceiling, server, forgetful]: [&Process; 3]) -> Result<Vec<String>, Box<dyn Error>> {
    let list = |version: &str, namespace: &str| vec![get(&gadgets(version, namespace))];
    let [hub, other] = GADGET_VERSIONS;
    // The shorter list first, by itself: what the allocator keeps of a longer one must not hide what this one takes.
    let mut peaks = Vec::new();
    for namespace in ["few", "many"] {
        forgetful.forget_peak()?;
        for _ in 0..3 {
            fetch(forgetful.address, &list(other, namespace)[0])?;
        }
        peaks.push(forgetful.memory()?.peak);
    }
    let load = Load { clients: 1, requests: 50, time: Duration::from_secs(2) };
    let contenders = [
        ("lists, ceiling", ceiling, vec![get("/list")]),
        ("lists, Kubernetes, at another version", server, list(other, "many")),
        ("lists, Kubernetes, at the hub", server, list(hub, "many")),
        ("lists, Kubernetes, nothing kept", forgetful, list(other, "many")),
    ];
    let best = in_turns(load, &contenders, Measured::bytes_rate)?;
    for ((name, ..), measured) in contenders.iter().zip(&best) {
        let objects = format!("4000 objects/s; {:.0} objects/s", measured.rate() * OBJECTS as f64);
        tell(name, measured, &share(measured.bytes_rate(), best[0].bytes_rate(), &objects));
    }
    let share = |own: usize| best[own].bytes_rate() / best[0].bytes_rate();
    let mut misses = held("lists of another version", share(1), LIST_SHARE);
    misses.extend(held("lists with nothing kept", share(3), UNKEPT_LIST_SHARE));
    let megabytes = |kib: u64| kib as f64 / 1024.0;
    let [few, many] = peaks[..] else { return Ok(misses) };
    println!(
        "{:<40} {:>7.1} MB, of {FEWER_OBJECTS} {:>7.1} MB",
        format!("peak memory, lists of {OBJECTS}, nothing kept"),
        megabytes(many),
        megabytes(few)
    );
    let keeping = server.memory()?.now;
    if keeping > many + KEPT_KIB {
        misses.push(format!(
            "a server that keeps what was read takes {:.1} MB, and one that does not {:.1} MB; {:.1} more are allowed",
            megabytes(keeping),
            megabytes(many),
            megabytes(KEPT_KIB)
        ));
    }
    if many > few + LIST_GROWTH_KIB {
        misses.push(format!(
            "a list of {OBJECTS} takes {:.1} MB more than one of {FEWER_OBJECTS}; {:.1} are allowed",
            megabytes(many - few),
            megabytes(LIST_GROWTH_KIB)
        ));
    }
    Ok(misses)
}

/// Who is measured: by what name, which process, and with which requests.
type Contender<'c> = (&'c str, &'c Process, Vec<Rc<[u8]>>);

/// The best round of each contender.
fn in_turns(
    load: Load,
    contenders: &[Contender<'_>],
    score: impl Fn(&Measured) -> f64,
) -> Result<Vec<Measured>, Box<dyn Error>> {
    let mut best: Vec<Option<Measured>> = vec![None; contenders.len()];
    for _ in 0..ROUNDS {
        for ((_, process, requests), best) in contenders.iter().zip(&mut best) {
            let requests = requests.clone();
            let measured = load.run(process.address, 200, move |number| requests[number % requests.len()].clone())?;
            if best.as_ref().is_none_or(|best| score(&measured) > score(best)) {
                *best = Some(measured);
            }
        }
    }
    Ok(best.into_iter().flatten().collect())
}

fn held(what: &str, share: f64, least: f64) -> Vec<String> {
    if share >= least {
        return Vec::new();
    }
    vec![format!("{what} have {:.0} % of the ceiling; at least {:.0} % are wanted", share * 100.0, least * 100.0)]
}

fn share(own: f64, ceiling: f64, reference: &str) -> String {
    if own == ceiling { String::new() } else { format!("   {:>3.0} % ({reference})", own / ceiling * 100.0) }
}

fn tell(name: &str, measured: &Measured, beside: &str) {
    println!("{name:<40} {measured}{beside}");
}

fn serve(catalog: &Path, store: &Path, options: &[&str]) -> Result<Process, Box<dyn Error>> {
    let program: PathBuf = env::current_exe()?.with_file_name("wheelwright");
    let store = format!("sqlite:{}", store.display());
    Process::start(
        Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "warn", "--store", &store, "--catalog"])
            .arg(catalog)
            .args(options),
    )
}

fn fetch(address: SocketAddr, request: &[u8]) -> Result<Answer, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(async { Connection::open(address).await?.exchange(request, true).await })?)
}
