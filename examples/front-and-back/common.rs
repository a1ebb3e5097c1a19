//! What both programs share: how they are called, and how they open the databases.

use std::{
    env,
    error::Error,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use wheelwright::{
    Console, Kinds,
    catalog::OnDisk,
    repository::{Document, Repository},
    store,
};

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// The folder of the example.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/front-and-back")
}

/// The store that `--store` names, with the kinds of the example.
pub(crate) async fn open() -> Outcome<Repository> {
    let mut arguments = env::args().skip_while(|argument| argument != "--store").skip(1);
    let address = arguments.next().ok_or("say where the databases are: --store sqlite:PATH or postgres://…")?;
    let (mut data, mut conversation) = (io::stdout(), io::stderr());
    let mut console = Console::plain(&mut data, &mut conversation);
    let kinds = Kinds::load(&OnDisk::default(), &[folder()], &mut console)?;
    let kinds = kinds.map_err(|_| "the catalog has errors")?.into_served()?;
    let store: Arc<dyn store::Store> = store::open(&address).await?.into();
    Ok(Repository::new(store, kinds))
}

/// What a program makes of a document: the values that it works with, by their names in one version.
pub(crate) struct Names {
    pub(crate) gib: &'static str,
}

/// Prints which document it is, and the values in it.
pub(crate) fn print(program: &str, document: &Document, names: &Names) -> Outcome<()> {
    let json: serde_json::Value = serde_json::from_slice(&document.json)?;
    let values = ["/spec/replicas", names.gib, "/spec/backups", "/status/replicas", "/status/phase"];
    let values: Vec<String> =
        values.iter().map(|path| json.pointer(path).map_or("-".into(), ToString::to_string)).collect();
    let (name, revision) = (&document.name, document.revision.as_str());
    let line = format!("{name}@{revision} {} {program} {}\n", values.join(" "), document.version);
    io::stdout().write_all(line.as_bytes())?;
    Ok(io::stdout().flush()?)
}
