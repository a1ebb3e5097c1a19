//! The commands that use a store: `migrate`, `retire` and `store`.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use wheelwright::{
    Console, Exit, Kinds, Unlocked,
    catalog::{OnDisk, files},
    command::{self, MigrateOptions, RepairOptions, StoreOptions},
    repository::{Accepted, Repository, ServedKind, SweepOptions},
    store::{Memory, StoreError},
};

use crate::{
    arguments::{Migrate, MigrateRun, Place, Retire, StoreCommand},
    result_format,
};

pub(crate) fn migrate(arguments: Migrate, console: &mut Console<'_>) -> io::Result<Exit> {
    let mut sweep = SweepOptions::default();
    let (what, stored) = match arguments {
        Migrate::Plan(stored) => (command::Migrate::Plan, stored),
        Migrate::Status(stored) => (command::Migrate::Status, stored),
        Migrate::Verify(stored) => (command::Migrate::Verify, stored),
        Migrate::Run(MigrateRun { stored, rate, concurrency, back, dry_run }) => {
            sweep = SweepOptions { rate, concurrency: concurrency.get() as usize, back };
            (if dry_run { command::Migrate::Plan } else { command::Migrate::Run }, stored)
        }
    };
    let access = if what == command::Migrate::Run { Access::Write } else { Access::Read };
    let kinds = match load(&stored.place, access, console)? {
        Ok(kinds) => kinds,
        Err(exit) => return Ok(exit),
    };
    let remembered = kinds.remembered_prefixes();
    let options = MigrateOptions { kind: stored.kind, sweep, format: result_format(stored.format), remembered };
    with_store(kinds, &stored.place, console, async |repository, console| {
        if what != command::Migrate::Run {
            return command::migrate(what, &repository, &options, console).await;
        }
        tokio::select! {
            exit = command::migrate(what, &repository, &options, console) => return exit,
            _ = tokio::signal::ctrl_c() => {}
        }
        command::migrate_interrupted(console)
    })
}

pub(crate) fn retire(arguments: Retire, console: &mut Console<'_>) -> io::Result<Exit> {
    let Retire { version, stored, accept } = arguments;
    let format = result_format(stored.format);
    let accepted: Vec<Accepted> = accept.iter().map(|name| Accepted::named(name)).collect();
    in_store(&stored.place, Access::Read, console, async |repository, console| {
        command::retire(&version, stored.kind.as_deref(), &repository, &accepted, format, console).await
    })
}

pub(crate) fn store(arguments: StoreCommand, console: &mut Console<'_>) -> io::Result<Exit> {
    match arguments {
        StoreCommand::Put { documents, place, kind, from, name } => {
            let kinds = match load(&place, Access::Create, console)? {
                Ok(kinds) => kinds,
                Err(exit) => return Ok(exit),
            };
            let options = StoreOptions { kind, from, name };
            let documents = command::documents_to_store(files::files(documents, None), &kinds, &options, console)?;
            let Some(documents) = documents else { return Ok(Exit::Usage) };
            let is_new = wheelwright::store::files_of(&place.store).first().is_some_and(|file| !file.exists());
            in_runtime(kinds, console, async |kinds, console| {
                let mut repository = Repository::new(Arc::new(Memory::new()), kinds);
                // A store is not created for documents that are all refused.
                if is_new && !command::store_accepts_any(&documents, &repository).await? {
                    return command::store_put(&documents, &repository, console).await;
                }
                match wheelwright::store::open(&place.store).await {
                    Ok(store) => repository = repository.with_store(store.into()),
                    Err(error) => {
                        writeln!(console.conversation, "error: {error}")?;
                        return Ok(Exit::Usage);
                    }
                }
                command::store_put(&documents, &repository, console).await
            })
        }
        StoreCommand::Get { name, place, kind, version, raw } => {
            let (kind, version) = (kind.as_deref(), version.as_deref());
            in_store(&place, Access::Read, console, async |repository, console| match raw {
                true => command::store_get_raw(&name, kind, &repository, console).await,
                false => command::store_get(&name, kind, version, &repository, console).await,
            })
        }
        StoreCommand::List { place, kind } => in_store(&place, Access::Read, console, async |repository, console| {
            command::store_list(kind.as_deref(), &repository, console).await
        }),
        StoreCommand::Delete { name, place, kind, force } => {
            in_store(&place, Access::Write, console, async |repository, console| {
                command::store_delete(&name, kind.as_deref(), force, &repository, console).await
            })
        }
        StoreCommand::Backup { file, store } => match wheelwright::store::backup(&store, &file) {
            Ok(()) => Ok(Exit::Clean),
            Err(error) => {
                writeln!(console.conversation, "error: {error}")?;
                Ok(Exit::Usage)
            }
        },
        StoreCommand::Repair { place, to: Some(to), .. } => command::store_salvage(&place.store, &to, console),
        StoreCommand::Repair { place, from, write, keep, to: None } => {
            repair(&place, from.as_deref(), write, keep, console)
        }
    }
}

fn repair(
    place: &Place,
    from: Option<&str>,
    write: bool,
    keep: Option<PathBuf>,
    console: &mut Console<'_>,
) -> io::Result<Exit> {
    let kinds = match load(place, if write { Access::Write } else { Access::Read }, console)? {
        Ok(kinds) => kinds,
        Err(exit) => return Ok(exit),
    };
    let beside = || place.store.strip_prefix("sqlite:").and_then(|file| Path::new(file).parent()).map(Path::to_owned);
    let options = RepairOptions { write, keep: keep.or_else(beside).unwrap_or_default() };
    in_runtime(kinds, console, async |kinds, console| {
        let opened = async {
            let store = wheelwright::store::open_to_repair(&place.store).await?;
            let backup = match from {
                Some(from) => Some(wheelwright::store::open_to_repair(from).await?),
                None => None,
            };
            Ok::<_, StoreError>((store, backup))
        };
        match opened.await {
            Ok((store, backup)) => {
                let repository = Repository::new(store.into(), kinds);
                command::store_repair(&repository, backup.as_deref(), &options, console).await
            }
            Err(error) => {
                writeln!(console.conversation, "error: {error}")?;
                Ok(Exit::Usage)
            }
        }
    })
}

/// What is done with a store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    /// It is written, and made if it is not there.
    Create,
    /// The same, also with what is not locked: whoever tries something out need not lock it first.
    Serve,
}

/// Does something with the kinds of a catalog in a store.
fn in_store(
    place: &Place,
    access: Access,
    console: &mut Console<'_>,
    act: impl AsyncFnOnce(Repository, &mut Console<'_>) -> io::Result<Exit>,
) -> io::Result<Exit> {
    match load(place, access, console)? {
        Ok(kinds) => with_store(kinds, place, console, act),
        Err(exit) => Ok(exit),
    }
}

/// The kinds of a catalog, which are locked if something is to be written; or how the command ends.
pub(crate) fn load(place: &Place, access: Access, console: &mut Console<'_>) -> io::Result<Result<Kinds, Exit>> {
    let kinds = match Kinds::load(&OnDisk::default(), &place.catalog, console)? {
        Ok(kinds) => kinds,
        Err(exit) => return Ok(Err(exit)),
    };
    if matches!(access, Access::Serve) {
        kinds.warn_of_what_clients_meet(console)?;
    }
    let unlocked = match access {
        Access::Read | Access::Serve => Unlocked::Warn,
        Access::Write | Access::Create => Unlocked::Refuse,
    };
    Ok(kinds.check_locked(unlocked, console)?.map(|()| kinds))
}

/// Does something with kinds in a store.
fn with_store(
    kinds: Kinds,
    place: &Place,
    console: &mut Console<'_>,
    act: impl AsyncFnOnce(Repository, &mut Console<'_>) -> io::Result<Exit>,
) -> io::Result<Exit> {
    in_runtime(kinds, console, async |kinds, console| match wheelwright::store::open_existing(&place.store).await {
        Ok(store) => act(Repository::new(store.into(), kinds), console).await,
        Err(error) => {
            writeln!(console.conversation, "error: {error}")?;
            Ok(Exit::Usage)
        }
    })
}

/// Does something with kinds that can be stored, in a runtime.
pub(crate) fn in_runtime(
    kinds: Kinds,
    console: &mut Console<'_>,
    act: impl AsyncFnOnce(Vec<ServedKind>, &mut Console<'_>) -> io::Result<Exit>,
) -> io::Result<Exit> {
    let kinds = match kinds.into_served() {
        Ok(kinds) => kinds,
        Err(error) => {
            writeln!(console.conversation, "error: the kinds of the catalog cannot be stored: {error}")?;
            return Ok(Exit::Usage);
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(act(kinds, console))
}
