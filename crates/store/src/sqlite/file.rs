//! The file of a store, and the connections to it.

use std::{
    ffi::OsString,
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, config::DbConfig};

use super::{
    CACHE_BYTES, SqliteOptions,
    damage::Damage,
    disk::{Reserve, files_of},
    failure::{self, Doing, Problem},
    format::{Content, DIGEST, SUM, check, check_at_once, has_column, prepare},
    kept, pages, private, structure, wal,
};
use crate::{ErrorKind, StoreError};

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
    /// How many changes were forgotten early.
    forgotten_early: AtomicU64,
    /// Whether rows can have checksums: not in files of earlier releases that cannot be written.
    has_sums: bool,
    /// Whether the head can have a digest, in the same way.
    has_digest: bool,
}

/// What tells a file apart from another at the same path: its device and inode, where there are such.
pub(super) type Identity = (u64, u64);

impl File {
    /// Opens the file, and creates it if need be. The connection is for writing.
    pub(super) fn open(path: &Path, options: SqliteOptions) -> Result<(Self, Connection), StoreError> {
        // Absolute, because SQLite takes a path that begins with `file:` for something else.
        let absolute = std::path::absolute(path).map_err(|error| {
            StoreError::new(ErrorKind::Setup, format!("{} is no path of a file", path.display())).because(error)
        })?;
        let mut file = Self {
            // SQLite keeps the write-ahead log beside the file itself, not beside a link to it.
            path: fs::canonicalize(&absolute).unwrap_or_else(|_| absolute.clone()),
            reserve: Reserve::new(&absolute, 0),
            options,
            readers: Mutex::default(),
            is_alone: false,
            identities: Vec::new(),
            is_checked: false,
            found: Mutex::default(),
            damage: OnceLock::new(),
            forgotten_early: AtomicU64::new(0),
            has_sums: true,
            has_digest: true,
        };
        // SQLite takes an empty file for a new database, and removes the log of it.
        let bytes_of = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        if bytes_of(&file.path) == 0 && bytes_of(&file.log_path()) > 0 {
            let message = format!(
                "{} is empty or missing, but its write-ahead log is not: restore a backup, or remove {} to begin anew",
                file.path.display(),
                file.log_path().display()
            );
            return Err(StoreError::new(ErrorKind::Corrupt, message));
        }
        // Before SQLite opens the file: it would write over what follows the damage.
        if let Some(what) = file.find_damage_of_log() {
            file.damage_of(what, true)?;
            return Ok((file, no_connection()?));
        }
        match file.open_connection(path, &absolute) {
            Ok(connection) => {
                file.check_structure(&connection)?;
                if file.damage.get().is_none() {
                    return Ok((file, connection));
                }
                keep_log_on_close(&connection);
            }
            Err(problem) => {
                let is_store = problem.is_damage();
                let error = problem.told(path, Doing::Open);
                let what = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
                if *error.kind() != ErrorKind::Corrupt || file.damage_of(what, is_store).is_err() {
                    return Err(error);
                }
            }
        }
        Ok((file, no_connection()?))
    }

    fn open_connection(&mut self, path: &Path, absolute: &Path) -> Result<Connection, Problem> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // If it fails, then SQLite fails too and reports why.
        let is_new = private::create(absolute).unwrap_or(false);
        let connection = connect(absolute, flags, self.options.cache_bytes)?;
        let prepared = prepare(&connection, path, &self.options);
        self.path = fs::canonicalize(absolute).unwrap_or_else(|_| absolute.to_owned());
        self.reserve = Reserve::new(&self.path, self.options.reserve_bytes);
        match prepared {
            Ok(()) => {
                self.find_columns(&connection)?;
                self.sync_folder();
                self.reserve.is_used_up();
                let paths = [self.path.clone(), self.log_path(), self.index_path()].into_iter();
                self.identities =
                    paths.filter_map(|path| identity_of(&path).map(|identity| (path, identity))).collect();
                Ok(connection)
            }
            // Which of the two it is depends on whether the folder or the file cannot be written, and on who asks.
            Err(Problem::Sql(error))
                if matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
                    && !self.has_log() =>
            {
                self.is_alone = true;
                let connection = self.connect()?;
                check_at_once(&connection, &self.path)?;
                self.find_columns(&connection)?;
                Ok(connection)
            }
            Err(problem) => {
                keep_log_on_close(&connection);
                if is_new && self.has_nothing(&connection) {
                    drop(connection);
                    // The error reports why there is no store; files that stay are empty.
                    files_of(&self.path).into_iter().for_each(|file| drop(fs::remove_file(file)));
                }
                Err(problem)
            }
        }
    }

    /// Whether a file that was just created did not become a store, as on a full disk.
    fn has_nothing(&self, connection: &Connection) -> bool {
        match check(connection, &self.path) {
            Ok(content) => content == Content::Nothing,
            Err(Problem::Sql(error)) => failure::is_full(&self.path, &error),
            Err(Problem::Store(_)) => false,
        }
    }

    fn find_columns(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.has_sums = has_column(connection, SUM.0, SUM.1)?;
        self.has_digest = has_column(connection, DIGEST.0, DIGEST.1)?;
        Ok(())
    }

    /// Damage of the write-ahead log that SQLite does not notice.
    fn find_damage_of_log(&self) -> Option<String> {
        let path = self.log_path();
        let frame = wal::damage(&path)?;
        let place = if frame == 0 { "in its header".to_owned() } else { format!("at frame {frame}") };
        Some(format!("{} is damaged {place}, and acknowledged writes follow", path.display()))
    }

    /// Checks the structure if the file is small enough.
    fn check_structure(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let bytes_of = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        if bytes_of(&self.path) + bytes_of(&self.log_path()) > self.options.check_at_open_bytes {
            return Ok(());
        }
        // If it fails, it is done again in the background.
        let Ok(found) = self.find_damage(connection) else { return Ok(()) };
        self.is_checked = true;
        match found {
            Some(what) => self.damage_of(what, true),
            None => {
                self.complete_digest(connection);
                Ok(())
            }
        }
    }

    /// Whether the structure was checked when the file was opened.
    pub(super) fn is_checked(&self) -> bool {
        self.is_checked || self.damage.get().is_some()
    }

    /// Computes the digest of a file whose structure was found to be sound, if it has none. A later check tries again.
    pub(super) fn complete_digest(&self, connection: &Connection) {
        if self.has_digest && !self.is_alone {
            let _ = kept::complete(connection, self.options.busy_timeout);
        }
    }

    /// The first thing that is wrong with the structure.
    pub(super) fn find_damage(&self, connection: &Connection) -> Result<Option<String>, Problem> {
        match structure::find(connection, self.has_sums, self.has_digest) {
            Err(Problem::Sql(error)) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                Ok(Some(error.to_string()))
            }
            Err(Problem::Sql(rusqlite::Error::QueryReturnedNoRows)) => Ok(Some("the head has no row".to_owned())),
            found => found,
        }
    }

    /// Records what a check, a read or a write found while the store is in use.
    pub(super) fn report_damage(&self, what: String) {
        if self.damage.get().is_none() {
            self.found().get_or_insert(what);
        }
    }

    /// Whether damage was found that the thread that writes has not looked at.
    pub(super) fn has_reported_damage(&self) -> bool {
        self.found().is_some()
    }

    /// What whoever asked is told of a problem. Damage is recorded.
    pub(super) fn told(&self, problem: Problem, doing: Doing) -> StoreError {
        let error = problem.told(&self.path, doing);
        // Somebody else may write a file that is read without its write-ahead log. Then it looks damaged.
        if *error.kind() == ErrorKind::Corrupt && !self.is_alone {
            let what = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            self.report_damage(what);
        }
        error
    }

    /// Treats the file as damaged if a check found damage. For the thread that writes: nothing is written meanwhile, so what
    /// is read of the damaged file then is current.
    pub(super) fn apply_reported_damage(&self) {
        let found = self.found().take();
        // If it fails, then every read does.
        if let Some(what) = found.filter(|_| self.damage.get().is_none()) {
            let _ = self.damage_of(what, true);
        }
    }

    fn found(&self) -> MutexGuard<'_, Option<String>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds out what of a damaged file is certain. Fails if it cannot be read, or is not a store.
    fn damage_of(&self, what: String, is_store: bool) -> Result<(), StoreError> {
        let damage = Damage::of(&self.path, what, is_store).map_err(|error| {
            let message = format!("{} is damaged, and cannot be read; restore a backup", self.path.display());
            StoreError::new(ErrorKind::Corrupt, message).because(error)
        })?;
        let mut readers = self.readers();
        let _ = self.damage.set(damage);
        readers.clear();
        Ok(())
    }

    /// Counts changes that were forgotten earlier than the history is long, for want of room.
    pub(super) fn count_forgotten_early(&self, changes: u64) {
        self.forgotten_early.fetch_add(changes, Ordering::Relaxed);
    }

    pub(super) fn forgotten_early(&self) -> u64 {
        self.forgotten_early.load(Ordering::Relaxed)
    }

    /// Whether rows can have checksums.
    pub(super) fn has_sums(&self) -> bool {
        self.has_sums
    }

    /// Whether the head can have a digest.
    pub(super) fn has_digest(&self) -> bool {
        self.has_digest
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
        let told = |problem: Problem| self.told(problem, Doing::Read);
        self.check_sound()?;
        let kept = self.readers().pop();
        let connection = match kept {
            Some(connection) => connection,
            None => self.connect().map_err(told)?,
        };
        let result = read(&connection);
        // Whoever failed is not used again, so that a new connection finds out whether the failure has passed.
        if !self.is_alone && !matches!(result, Err(Problem::Sql(_))) {
            let mut readers = self.readers();
            if readers.len() < KEPT_READERS && self.damage.get().is_none() {
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
        Ok(connection)
    }

    /// A connection that writes beside that of the thread that writes.
    pub(super) fn connect_to_write(&self) -> Result<Connection, Problem> {
        self.check_in_place()?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = connect(&self.path, flags, self.options.cache_bytes)?;
        connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1")?;
        Ok(connection)
    }

    /// Where SQLite writes first.
    pub(super) fn log_path(&self) -> PathBuf {
        pages::wal_path(&self.path)
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

/// Has SQLite leave the write-ahead log of a damaged file.
pub(super) fn keep_log_on_close(connection: &Connection) {
    // If it fails, then SQLite moves the log to the file, as ever.
    let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
}

/// In the place of a connection to a damaged file.
fn no_connection() -> Result<Connection, StoreError> {
    Connection::open_in_memory()
        .map_err(|error| StoreError::new(ErrorKind::Unavailable, "SQLite has no memory; try again").because(error))
}

pub(super) fn waiting<T>(patience: Duration, mut attempt: impl FnMut() -> Result<T, Problem>) -> Result<T, Problem> {
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

pub(super) fn text(row: &rusqlite::Row<'_>) -> rusqlite::Result<String> {
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

/// Failures are passed over, as SQLite does: there are file systems that cannot do it, and need not.
pub(super) fn sync_folder_of(path: &Path) {
    let sync = |folder: &Path| -> io::Result<()> { fs::File::open(folder)?.sync_all() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let _ = sync(folder.unwrap_or(Path::new(".")));
}
