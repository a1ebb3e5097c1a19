//! The file: what makes it a store, and the connections to it.

use std::{
    ffi::{OsStr, OsString},
    fmt, fs,
    hash::{BuildHasher, Hasher, RandomState},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
    time::{Duration, Instant, SystemTime},
};

use rusqlite::{
    Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior,
    backup::{Backup, StepResult},
    config::DbConfig,
    ffi,
};

use super::{
    CACHE_BYTES, SqliteOptions,
    damage::{self, Damage},
    disk::Reserve,
    failure::{Doing, Problem, is_full},
    private,
};
use crate::{ErrorKind, StoreError, log};

/// What is in the header of every store: "WWST".
const APPLICATION: i64 = 0x5757_5354;

/// The format of the tables below. It counts up.
const FORMAT: i64 = 1;

/// A new store. The head is that of [`log::FIRST_HEAD`].
///
/// The value comes late, so that SQLite can tell the rest of a row without reading its pages. Rows of earlier releases have
/// no sum.
const TABLES: &str = "
    CREATE TABLE log (
        revision INTEGER PRIMARY KEY,
        key TEXT NOT NULL,
        action INTEGER NOT NULL,
        at INTEGER NOT NULL,
        value BLOB NOT NULL,
        sum INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX log_by_key ON log (key, revision);
    CREATE TABLE head (revision INTEGER NOT NULL, compacted INTEGER NOT NULL, probes INTEGER NOT NULL) STRICT;
    INSERT INTO head VALUES (1, 1, 0);
";

/// Why there can be no backup.
const TAKEN: &str = "there is such a file; name another for the backup";

/// More readers than this may work at once, but no more are kept.
const KEPT_READERS: usize = 16;

/// A file that is a store.
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) options: SqliteOptions,
    pub(super) reserve: Reserve,
    readers: Mutex<Vec<Connection>>,
    /// Whether the folder cannot be written and nobody had the file open, so that there is no write-ahead log to read.
    is_alone: bool,
    /// Which files it, first, and those beside it were when it was opened.
    identities: Vec<(PathBuf, Identity)>,
    /// Whether the structure was checked when it was opened.
    is_checked: bool,
    /// What a check of the structure found, until the thread that writes has looked at the damage.
    found: Mutex<Option<String>>,
    /// What can be read of it if its structure is damaged.
    damage: OnceLock<Damage>,
    /// Whether rows can have checksums: not in files of earlier releases that cannot be written.
    has_sums: bool,
}

/// What tells a file apart from another at the same path: its device and inode, where there are such.
pub(super) type Identity = (u64, u64);

/// What a file is.
#[derive(PartialEq, Eq)]
enum Content {
    Nothing,
    Store,
}

impl File {
    /// Opens the file, and creates it if need be. The connection is for writing.
    pub(super) fn open(path: &Path, options: SqliteOptions) -> Result<(Self, Connection), StoreError> {
        let told = |problem: Problem| problem.told(path, Doing::Open);
        // Absolute, because SQLite takes a path that begins with `file:` for something else.
        let absolute = std::path::absolute(path).map_err(|error| {
            StoreError::new(ErrorKind::Setup, format!("{} is no path of a file", path.display())).because(error)
        })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // If it fails, then SQLite fails too and reports why.
        let _ = private::create(&absolute);
        let connection = connect(&absolute, flags, options.cache_bytes).map_err(|error| told(error.into()))?;
        let prepared = prepare(&connection, path, &options);
        // SQLite keeps the write-ahead log beside the file itself, not beside a link to it.
        let path = fs::canonicalize(&absolute).unwrap_or(absolute);
        let reserve = Reserve::new(&path, options.reserve_bytes);
        let mut file = Self {
            path,
            options,
            reserve,
            readers: Mutex::default(),
            is_alone: false,
            identities: Vec::new(),
            is_checked: false,
            found: Mutex::default(),
            damage: OnceLock::new(),
            has_sums: true,
        };
        file.has_sums = prepared.is_err() || has_sums(&connection).map_err(|error| told(error.into()))?;
        match prepared {
            Ok(()) => {
                file.sync_folder();
                file.reserve.is_used_up();
                let paths = [file.path.clone(), file.log_path(), file.index_path()].into_iter();
                file.identities =
                    paths.filter_map(|path| identity_of(&path).map(|identity| (path, identity))).collect();
                file.check_structure(&connection);
                Ok((file, connection))
            }
            // Which of the two it is depends on whether the folder or the file cannot be written, and on who asks.
            Err(Problem::Sql(error))
                if matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
                    && !file.has_log() =>
            {
                file.is_alone = true;
                let connection = file.connect().map_err(told)?;
                check_at_once(&connection, &file.path).map_err(told)?;
                file.has_sums = has_sums(&connection).map_err(|error| told(error.into()))?;
                file.check_structure(&connection);
                Ok((file, connection))
            }
            Err(Problem::Sql(error)) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                file.damage_of(error.to_string()).map_err(|_| told(error.into()))?;
                Ok((file, connection))
            }
            Err(problem) => Err(told(problem)),
        }
    }

    /// Checks the structure if the file is small enough.
    fn check_structure(&mut self, connection: &Connection) {
        let bytes_of = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        if bytes_of(&self.path) + bytes_of(&self.log_path()) > self.options.check_at_open_bytes {
            return;
        }
        self.is_checked = true;
        if let Some(what) = self.find_damage(connection) {
            let _ = self.damage_of(what);
        }
    }

    /// Whether the structure was checked when the file was opened.
    pub(super) fn is_checked(&self) -> bool {
        self.is_checked || self.damage.get().is_some()
    }

    /// The first thing that is wrong with the structure.
    pub(super) fn find_damage(&self, connection: &Connection) -> Option<String> {
        match damage::find(connection, self.has_sums) {
            Ok(found) => found,
            Err(Problem::Sql(error)) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                Some(error.to_string())
            }
            Err(Problem::Sql(rusqlite::Error::QueryReturnedNoRows)) => Some("the head has no row".to_owned()),
            // Whatever reads or writes next finds out whether it has passed.
            Err(_) => None,
        }
    }

    /// Records what a check found while the store is in use.
    pub(super) fn report_damage(&self, what: String) {
        *self.found() = Some(what);
    }

    /// Treats the file as damaged if a check found damage. For the thread that writes: nothing is written meanwhile, so what
    /// is read of the damaged file then is current.
    pub(super) fn apply_reported_damage(&self) {
        let found = self.found().take();
        // If it fails, then every read does.
        if let Some(what) = found {
            let _ = self.damage_of(what);
        }
    }

    fn found(&self) -> MutexGuard<'_, Option<String>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what can still be read; fails if that is nothing at all.
    fn damage_of(&self, what: String) -> Result<(), Problem> {
        let connection = self.connect()?;
        read_although_damaged(&connection)?;
        connection
            .query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'log'", [], |row| row.get::<_, i64>(0))?;
        let damage = Damage::of(&connection, what, self.has_sums);
        let mut readers = self.readers();
        let _ = self.damage.set(damage);
        readers.clear();
        Ok(())
    }

    /// Whether rows can have checksums.
    pub(super) fn has_sums(&self) -> bool {
        self.has_sums
    }

    /// What can be read of a file with a damaged structure; none if it is sound.
    pub(super) fn damage(&self) -> Option<&Damage> {
        self.damage.get()
    }

    /// Fails if the structure is damaged.
    pub(super) fn check_sound(&self) -> Result<(), StoreError> {
        self.damage.get().map_or(Ok(()), |damage| Err(damage.refusal(&self.path)))
    }

    /// Reads, on this thread: readers of a write-ahead log wait for nobody, except while somebody mends it after a crash.
    pub(super) fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, Problem>) -> Result<T, StoreError> {
        let told = |problem: Problem| problem.told(&self.path, Doing::Read);
        let (kept, was_damaged) = {
            let mut readers = self.readers();
            (readers.pop(), self.damage.get().is_some())
        };
        let connection = match kept {
            Some(connection) => connection,
            None => self.connect().map_err(told)?,
        };
        let result = read(&connection);
        // Whoever failed is not used again, so that a new connection finds out whether the failure has passed.
        if !self.is_alone && !matches!(result, Err(Problem::Sql(_))) {
            let mut readers = self.readers();
            if readers.len() < KEPT_READERS && was_damaged == self.damage.get().is_some() {
                readers.push(connection);
            }
        }
        result.map_err(told)
    }

    /// Makes sure that the file is still at its path, and so are its log and the index of that: connections go on with what
    /// they have open, and nobody else would ever see what they write, or would write over it.
    pub(super) fn check_in_place(&self) -> Result<(), StoreError> {
        Self::check_identities(&self.identities)
    }

    fn check_identities(identities: &[(PathBuf, Identity)]) -> Result<(), StoreError> {
        let is_gone = |(path, identity): &&(PathBuf, Identity)| identity_of(path) != Some(*identity);
        let Some((path, _)) = identities.iter().find(is_gone) else { return Ok(()) };
        let message = format!(
            "{} was moved, replaced or removed while it was open, and nobody else would see what is written now; stop, and \
             restore it",
            path.display()
        );
        Err(StoreError::new(ErrorKind::Unavailable, message))
    }

    /// Closes the connections that nobody reads with now.
    pub(super) fn close_readers(&self) {
        self.readers().clear();
    }

    /// Copies the file as it is now.
    pub(super) fn backup(&self, to: &Path) -> Result<(), StoreError> {
        let setup = |message: &str| StoreError::new(ErrorKind::Setup, format!("{}: {message}", to.display()));
        if to.exists() {
            return Err(setup(TAKEN));
        }
        let Some(name) = to.file_name() else {
            return Err(setup("a backup needs the name of a file"));
        };
        let mut unfinished = OsString::from(".");
        unfinished.push(name);
        // Nobody else who makes a backup there at the same time may write into it.
        unfinished.push(format!(".{:016x}.unfinished", RandomState::new().build_hasher().finish()));
        let mut unfinished = to.with_file_name(unfinished);
        remove_abandoned(to, name);
        let copied = self.copy(&unfinished).and_then(|()| {
            put(&unfinished, to).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => setup(TAKEN),
                _ => setup("the backup cannot be put there").because(error),
            })
        });
        // It is gone if it was moved. And whatever it was that failed says more than that this does too.
        let _ = fs::remove_file(&unfinished);
        // Where a write fails for a size limit, SQLite leaves its journal.
        unfinished.as_mut_os_string().push("-journal");
        let _ = fs::remove_file(&unfinished);
        copied?;
        sync_folder_of(to);
        Ok(())
    }

    fn copy(&self, to: &Path) -> Result<(), StoreError> {
        let told = |error: rusqlite::Error| Problem::from(error).told(to, Doing::Open);
        // If it fails, then SQLite fails too and reports why.
        let _ = private::create(to);
        let mut copy = Connection::open(to).map_err(told)?;
        // The waiting is done here, since SQLite does not wait for everything that can be in the way.
        copy.busy_timeout(Duration::ZERO).map_err(told)?;
        self.read(|connection| {
            // In one step, which is one moment: in several, every write between two of them would begin it anew. Writers
            // do not wait for it.
            let backup = Backup::new(connection, &mut copy)?;
            waiting(self.options.busy_timeout, || match backup.step(-1) {
                Ok(StepResult::Done) => Ok(()),
                Ok(_) => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None).into()),
                // There is no room where it is written to.
                Err(error) if is_full(to, &error) => Err(told(error).into()),
                Err(error) => Err(error.into()),
            })
        })?;
        // Pages are copied without a look at them, and a damaged copy may be put in the place of a good one.
        let found = copy.query_one("PRAGMA quick_check(1)", (), text).map_err(told)?;
        if found != "ok" {
            let path = self.path.display();
            let message = format!("{path} is damaged, and no backup was made of it; put an older one in its place");
            return Err(StoreError::new(ErrorKind::Corrupt, message).because(found));
        }
        copy.close().map_err(|(_, error)| told(error))
    }

    pub(super) fn connect(&self) -> Result<Connection, Problem> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Whoever reads must not read another file than the others do. Its log goes when the last who writes is done.
        Self::check_identities(self.identities.get(..1).unwrap_or_default())?;
        let connection = if self.is_alone && !self.has_log() {
            // Not kept by anybody who calls this, because somebody else may begin to write.
            connect(unchanging(&self.path).as_ref(), flags | OpenFlags::SQLITE_OPEN_URI, self.options.cache_bytes)?
        } else {
            connect(&self.path, flags, self.options.cache_bytes)?
        };
        connection.busy_timeout(self.options.busy_timeout)?;
        if self.damage.get().is_some() {
            read_although_damaged(&connection)?;
        }
        Ok(connection)
    }

    /// Where SQLite writes first.
    pub(super) fn log_path(&self) -> PathBuf {
        self.beside("-wal")
    }

    /// Where SQLite says how far that is.
    pub(super) fn index_path(&self) -> PathBuf {
        self.beside("-shm")
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(suffix);
        path.into()
    }

    fn has_log(&self) -> bool {
        self.log_path().exists()
    }

    /// Makes the name of the write-ahead log as durable as what will be in it. SQLite does so in the process that creates
    /// it, when that one writes; another could write earlier.
    fn sync_folder(&self) {
        sync_folder_of(&self.path);
    }

    fn readers(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Begins to write, as soon as nobody else does. SQLite's own way to wait sleeps ever longer, up to 100 ms, which is many
/// times what a commit takes.
pub(super) fn begin<'c>(connection: &'c Connection, patience: Duration) -> Result<Transaction<'c>, Problem> {
    waiting(patience, || Ok(Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?))
}

/// Which file is at a path; none if there is none.
pub(super) fn identity_of(path: &Path) -> Option<Identity> {
    let there = fs::metadata(path).ok()?;
    #[cfg(unix)]
    return Some((std::os::unix::fs::MetadataExt::dev(&there), std::os::unix::fs::MetadataExt::ino(&there)));
    #[cfg(not(unix))]
    return there.is_file().then_some((0, 0));
}

fn connect(path: &Path, flags: OpenFlags, cache_bytes: usize) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open_with_flags(path, flags)?;
    // Otherwise SQLite plans a statement anew whenever it is used with other values, which takes longer than a get.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    if cache_bytes != CACHE_BYTES {
        // It reads the schema, which may be damaged: other reads report that.
        let _ = connection.pragma_update(None, "cache_size", -((cache_bytes >> 10) as i64));
    }
    Ok(connection)
}

/// Has SQLite read a file that is shorter than its header says.
fn read_although_damaged(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "writable_schema", true)
}

fn waiting<T>(patience: Duration, mut attempt: impl FnMut() -> Result<T, Problem>) -> Result<T, Problem> {
    let began = Instant::now();
    let mut pause = Duration::from_micros(100);
    loop {
        match attempt() {
            Err(problem) if problem.is_busy() && began.elapsed() < patience => {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(2));
            }
            result => return result,
        }
    }
}

fn prepare(connection: &Connection, path: &Path, options: &SqliteOptions) -> Result<(), Problem> {
    connection.busy_timeout(Duration::ZERO)?;
    let content = waiting(options.busy_timeout, || check_at_once(connection, path))?;
    if connection.is_readonly("main")? && content == Content::Store {
        return Ok(());
    }
    waiting(options.busy_timeout, || match connection.pragma_update_and_check(None, "journal_mode", "wal", text)? {
        mode if mode == "wal" => Ok(()),
        mode => {
            let message = format!("{} has the journal mode {mode} and cannot have wal", path.display());
            Err(StoreError::new(ErrorKind::Setup, message).into())
        }
    })?;
    // A commit is durable when it is acknowledged, also where fsync alone does not do that. And a write-ahead log that was
    // large once does not stay so.
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1;
         PRAGMA journal_size_limit = 67108864",
    )?;
    if content == Content::Nothing {
        let transaction = begin(connection, options.busy_timeout)?;
        if check(&transaction, path)? == Content::Nothing {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
            transaction.commit()?;
        }
    }
    // A store of an earlier release in which nothing has happened yet. If this fails, then lists are still right.
    let _ = connection.query_one("SELECT revision FROM head WHERE revision = 0", (), |_| Ok(())).and_then(|()| {
        connection.execute("UPDATE head SET revision = ?1, compacted = ?1 WHERE revision = 0", [log::FIRST_HEAD as i64])
    });
    // Without it, rows get no checksums, as those of earlier releases.
    if !has_sums(connection)? {
        let _ = begin(connection, options.busy_timeout).and_then(|transaction| {
            if !has_sums(&transaction)? {
                transaction.execute_batch("ALTER TABLE log ADD COLUMN sum INTEGER")?;
            }
            Ok(transaction.commit()?)
        });
    }
    Ok(())
}

fn has_sums(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM pragma_table_info('log') WHERE name = 'sum'";
    connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|count| count > 0)
}

/// Another process may just be creating it.
fn check_at_once(connection: &Connection, path: &Path) -> Result<Content, Problem> {
    check(&*connection.unchecked_transaction()?, path)
}

fn check(connection: &Connection, path: &Path) -> Result<Content, Problem> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id")?;
    let format = number("PRAGMA user_version")?;
    let path = path.display();
    let (kind, message) = match (application, format) {
        (APPLICATION, FORMAT) => return Ok(Content::Store),
        (APPLICATION, FORMAT..) => {
            let message =
                format!("{path} has format {format}, of a newer release; this one knows formats up to {FORMAT}");
            (ErrorKind::Newer, message)
        }
        (APPLICATION, _) => {
            let message = format!("{path} has format {format}, which no release wrote; put a backup in its place");
            (ErrorKind::Corrupt, message)
        }
        (0, 0) if number("SELECT count(*) FROM sqlite_schema")? == 0 => return Ok(Content::Nothing),
        _ => (ErrorKind::Corrupt, format!("{path} is a database of another program; name another file")),
    };
    Err(StoreError::new(kind, message).into())
}

fn text(row: &rusqlite::Row<'_>) -> rusqlite::Result<String> {
    row.get(0)
}

/// The address of a file that nobody writes while it is read.
fn unchanging(path: &Path) -> OsString {
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            _ => address.push_str(&format!("%{byte:02x}")),
        }
    }
    address.push_str("?immutable=1");
    address.into()
}

/// Removes the unfinished backups of a name that killed processes left. One that is written still is newer.
fn remove_abandoned(to: &Path, name: &OsStr) {
    const ABANDONED: Duration = Duration::from_secs(60 * 60);
    let beginning = format!(".{}.", name.display());
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name();
        let Some(rest) = file.to_str().and_then(|file| file.strip_prefix(&beginning)) else { continue };
        let (id, ending) = rest.split_at_checked(16).unwrap_or_default();
        let is_ours = id.bytes().all(|digit| digit.is_ascii_hexdigit()) && ending.starts_with(".unfinished");
        let is_old = |changed: SystemTime| changed.elapsed().is_ok_and(|age| age > ABANDONED);
        if is_ours && entry.metadata().and_then(|file| file.modified()).is_ok_and(is_old) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Gives a file a name that no other file has.
fn put(file: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(file, name) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => put_without_link(file, name),
        result => result,
    }
}

/// The same where a file cannot have two names. Moving it would replace another file, so the name is taken first.
fn put_without_link(file: &Path, name: &Path) -> io::Result<()> {
    fs::File::create_new(name)?;
    fs::rename(file, name).inspect_err(|_| {
        // What is there is empty, and nobody's.
        let _ = fs::remove_file(name);
    })
}

/// Failures are passed over, as SQLite does: there are file systems that cannot do it, and need not.
fn sync_folder_of(path: &Path) {
    let sync = |folder: &Path| -> io::Result<()> { fs::File::open(folder)?.sync_all() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let _ = sync(folder.unwrap_or(Path::new(".")));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(folder: &Path) -> (File, Connection) {
        let options = SqliteOptions { busy_timeout: Duration::from_millis(50), ..SqliteOptions::default() };
        File::open(&folder.join("store"), options).unwrap()
    }

    #[test]
    fn a_copy_that_cannot_be_written_now_is_not_taken_for_one() {
        let folder = tempfile::tempdir().unwrap();
        let ((file, _writer), to) = (store(folder.path()), folder.path().join("copy"));
        let other = Connection::open(&to).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        assert_eq!(file.copy(&to).unwrap_err().kind(), &ErrorKind::Unavailable);
        other.execute_batch("ROLLBACK").unwrap();
        file.copy(&to).unwrap();
        assert!(check(&Connection::open(&to).unwrap(), &to).is_ok_and(|content| content == Content::Store));
    }

    #[test]
    fn a_file_never_takes_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        for put in [put, put_without_link] {
            let [file, taken, free] = ["file", "taken", "free"].map(|name| folder.path().join(name));
            fs::write(&file, "new").unwrap();
            fs::write(&taken, "precious").unwrap();
            assert_eq!(put(&file, &taken).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(&taken).unwrap(), "precious");
            put(&file, &free).unwrap();
            assert_eq!(fs::read_to_string(&free).unwrap(), "new");
            fs::remove_file(&free).unwrap();
        }
    }
}
