//! Where audit lines go: a file or standard output, written by a thread of its own.

use std::{
    error::Error,
    fmt,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use prometheus_client::metrics::counter::Counter;
use tokio::sync::oneshot;

use super::line::START;
use crate::throttle::Throttle;

/// The most bytes of lines that wait for the disk. In strict mode, lines that no request waits for use at most half of them,
/// so that refused requests leave room for the lines of writes.
const MOST_WAITING: usize = 4 << 20;
/// The most lines that are written before they are acknowledged together.
const MOST_AT_ONCE: usize = 256;
/// How long a request waits for its line in strict mode, and the end of the server for all lines.
const PATIENCE: Duration = Duration::from_secs(5);

/// What happens to requests while the audit log cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AuditLoss {
    /// They are served; the lines that are lost are counted.
    Counted,
    /// Writes are refused before anything is stored, and a write is acknowledged only after its line is on the disk.
    Refused,
}

/// A file that cannot be written.
#[derive(Debug)]
pub struct AuditError {
    path: PathBuf,
    error: io::Error,
}

/// A line that is not on record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NotRecorded;

/// A line that is not yet known to be on record.
#[derive(Debug)]
pub(super) struct Recording(Result<oneshot::Receiver<()>, NotRecorded>);

/// An audit log. Clones write to the same one.
#[derive(Clone, Debug)]
pub struct AuditLog {
    messages: Sender<Message>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    loss: AuditLoss,
    is_file: bool,
    /// The file, if it did not exist before.
    created: Option<PathBuf>,
    /// Bytes of lines that wait for the disk.
    waiting: AtomicUsize,
    /// How many lines these are.
    waiting_lines: AtomicU64,
    /// Whether the last line could not be written.
    is_failing: AtomicBool,
    lost: Counter,
    reports: Throttle<()>,
}

#[derive(Debug)]
enum Message {
    Line(Vec<u8>, Option<oneshot::Sender<()>>),
    Reopen,
    Flush(oneshot::Sender<()>),
}

impl AuditLog {
    /// Appends to a file, which is created if it does not exist, for its owner alone.
    ///
    /// # Errors
    /// The file cannot be opened, or contains something else than audit lines.
    pub fn open(path: &Path, loss: AuditLoss) -> Result<Self, AuditError> {
        let failed = |error| AuditError { path: path.into(), error };
        let is_new = !path.exists();
        let file = appending(path).map_err(failed)?;
        Self::start(file, Some(path.into()), is_new, loss).map_err(failed)
    }

    /// Writes to standard output.
    ///
    /// # Errors
    /// Standard output is closed.
    pub fn standard_output(loss: AuditLoss) -> Result<Self, AuditError> {
        let failed = |error| AuditError { path: "standard output".into(), error };
        Self::start(standard_output().map_err(failed)?, None, false, loss).map_err(failed)
    }

    fn start(file: File, path: Option<PathBuf>, is_new: bool, loss: AuditLoss) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            loss,
            is_file: path.is_some(),
            created: path.clone().filter(|_| is_new),
            waiting: AtomicUsize::new(0),
            waiting_lines: AtomicU64::new(0),
            is_failing: AtomicBool::new(false),
            lost: Counter::default(),
            reports: Throttle::default(),
        });
        let (messages, received) = mpsc::channel();
        let is_synced = is_synced(&file, loss);
        let mut writer = Writer { file, path, is_synced, is_torn: false, shared: shared.clone() };
        thread::Builder::new().name("audit".to_owned()).spawn(move || writer.run(&received))?;
        Ok(Self { messages, shared })
    }

    /// Whether it is a file, and not standard output.
    pub fn is_file(&self) -> bool {
        self.shared.is_file
    }

    /// Removes the file if opening the log created it: for a server that does not start.
    pub fn discard(&self) {
        // The server reports why it does not start; an empty file is no reason to report more.
        let _ = self.shared.created.as_ref().map(fs::remove_file);
    }

    /// Opens the file again, after the lines that were made before: it may have been moved away to be kept.
    pub fn reopen(&self) {
        let _ = self.messages.send(Message::Reopen);
    }

    /// Whether a write waits for its lines.
    pub(crate) fn is_strict(&self) -> bool {
        self.shared.loss == AuditLoss::Refused
    }

    /// Whether the last line could not be written.
    pub(crate) fn is_failing(&self) -> bool {
        self.shared.is_failing.load(Ordering::Relaxed)
    }

    /// Logs how many lines were lost in all, once there are more that were not logged.
    pub(crate) fn report_more(&self) {
        if !self.shared.reports.due().is_empty() {
            tracing::error!(lost = self.shared.lost.get(), "lines of the audit log are lost");
        }
    }

    /// Lines that could not be written.
    pub(crate) fn lost(&self) -> &Counter {
        &self.shared.lost
    }

    /// Writes a line as soon as the disk takes it.
    pub(super) fn submit(&self, line: Vec<u8>) {
        // A line that does not fit is counted and logged there.
        let _ = self.send(line, None);
    }

    /// Writes a line, which its sender waits for.
    pub(super) fn record(&self, line: Vec<u8>) -> Recording {
        let (written, is_written) = oneshot::channel();
        Recording(self.send(line, Some(written)).map(|()| is_written))
    }

    /// Waits until all lines are written that were made before, or the disk takes too long. Logs how many lines were lost since
    /// the server started: those that still wait are lost when it ends.
    pub(crate) async fn finish(&self) {
        let (written, is_written) = oneshot::channel();
        let is_sent = self.messages.send(Message::Flush(written)).is_ok();
        if is_sent && tokio::time::timeout(PATIENCE, is_written).await.is_err() {
            self.shared.lost.inc_by(self.shared.waiting_lines.load(Ordering::Relaxed));
        }
        let lost = self.shared.lost.get();
        if lost > 0 {
            tracing::error!(lost, "the server ends, and lines of the audit log are lost");
        }
    }

    fn send(&self, line: Vec<u8>, written: Option<oneshot::Sender<()>>) -> Result<(), NotRecorded> {
        let length = line.len();
        let most = if self.is_strict() && written.is_none() { MOST_WAITING / 2 } else { MOST_WAITING };
        if self.shared.waiting.fetch_add(length, Ordering::Relaxed) + length > most {
            self.shared.waiting.fetch_sub(length, Ordering::Relaxed);
            self.shared.lose(1, &"the disk is too slow for the lines that are made");
            return Err(NotRecorded);
        }
        self.shared.waiting_lines.fetch_add(1, Ordering::Relaxed);
        self.messages.send(Message::Line(line, written)).map_err(|_| NotRecorded)
    }
}

impl Recording {
    #[cfg(test)]
    pub(super) fn is_accepted(&self) -> bool {
        self.0.is_ok()
    }

    /// Waits until the line is on record.
    pub(super) async fn wait(self) -> Result<(), NotRecorded> {
        match tokio::time::timeout(PATIENCE, self.0?).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(NotRecorded),
        }
    }
}

impl Shared {
    /// Counts lines that are lost, and logs that now and then.
    fn lose(&self, count: u64, error: &dyn fmt::Display) {
        let lost = self.lost.inc_by(count) + count;
        if self.reports.admit(()).is_some() {
            tracing::error!(%error, lost, "lines of the audit log are lost");
        }
    }
}

/// The thread that writes.
struct Writer {
    file: File,
    path: Option<PathBuf>,
    /// Whether lines are on the disk before they are acknowledged.
    is_synced: bool,
    /// Whether the file ends in a part of a line.
    is_torn: bool,
    shared: Arc<Shared>,
}

impl Writer {
    fn run(&mut self, messages: &Receiver<Message>) {
        while let Ok(first) = messages.recv() {
            let mut written = Vec::new();
            for message in std::iter::once(first).chain(messages.try_iter().take(MOST_AT_ONCE)) {
                match message {
                    Message::Line(line, acknowledge) => {
                        let outcome = write_line(&mut self.file, &line, &mut self.is_torn);
                        self.shared.waiting.fetch_sub(line.len(), Ordering::Relaxed);
                        self.shared.waiting_lines.fetch_sub(1, Ordering::Relaxed);
                        if self.is_written(outcome) {
                            written.extend(acknowledge);
                        }
                    }
                    Message::Reopen => {
                        self.acknowledge(&mut written);
                        self.reopen();
                    }
                    Message::Flush(acknowledge) => written.push(acknowledge),
                }
            }
            self.acknowledge(&mut written);
        }
    }

    /// Tells those that wait that their lines are on record.
    fn acknowledge(&mut self, written: &mut Vec<oneshot::Sender<()>>) {
        if written.is_empty() {
            return;
        }
        let synced = if self.is_synced { self.file.sync_data() } else { Ok(()) };
        if let Err(error) = synced {
            self.shared.is_failing.store(true, Ordering::Relaxed);
            self.shared.lose(written.len() as u64, &error);
            return written.clear();
        }
        // That nothing is left to write does not show that the log can be written again: the next line does.
        for acknowledge in written.drain(..) {
            // A request that waits no longer was answered without it.
            let _ = acknowledge.send(());
        }
    }

    /// Whether a line was written; else, counts it as lost.
    fn is_written(&self, outcome: io::Result<()>) -> bool {
        let was_failing = self.shared.is_failing.swap(outcome.is_err(), Ordering::Relaxed);
        match outcome {
            Ok(()) if was_failing => {
                tracing::info!(lost = self.shared.lost.get(), "the audit log can be written again");
                true
            }
            Ok(()) => true,
            Err(error) => {
                self.shared.lose(1, &error);
                false
            }
        }
    }

    fn reopen(&mut self) {
        let Some(path) = &self.path else { return };
        let file = path.display();
        match appending(path) {
            Ok(opened) => {
                self.is_synced = is_synced(&opened, self.shared.loss);
                (self.file, self.is_torn) = (opened, false);
                tracing::info!(%file, "the audit log was opened again");
            }
            Err(error) => {
                tracing::error!(%file, %error, "the audit log cannot be opened again; lines go to the file that is open");
            }
        }
    }
}

/// Writes a line at once, so that those of several writers never mix.
fn write_line(out: &mut impl Write, line: &[u8], is_torn: &mut bool) -> io::Result<()> {
    // The part of a line that a full disk left stands on a line of its own.
    let separated = is_torn.then(|| [b"\n", line].concat());
    let mut rest = separated.as_deref().unwrap_or(line);
    while !rest.is_empty() {
        match out.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                rest = &rest[count..];
                *is_torn = !rest.is_empty();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Opens a file that has audit lines or nothing, without waiting: a named pipe without a reader is an error.
fn appending(path: &Path) -> io::Result<File> {
    // Others, such as pipes, have no content. A file that cannot be read may still be written.
    if fs::metadata(path).is_ok_and(|file| file.is_file()) {
        let mut start = Vec::new();
        let length = START.len() as u64;
        let read = File::open(path).and_then(|file| file.take(length).read_to_end(&mut start));
        if read.is_ok() && !START.starts_with(&start) {
            return Err(io::Error::other("it has other content than audit lines; name another file"));
        }
    }
    open_to_append(path)
}

#[cfg(unix)]
fn open_to_append(path: &Path) -> io::Result<File> {
    use rustix::{
        fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open},
        io::Errno,
    };
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = match open(path, flags, Mode::RUSR | Mode::WUSR) {
        Err(Errno::NXIO) => return Err(io::Error::other("a named pipe needs a reader: start the reader first")),
        opened => opened?,
    };
    // The thread that writes waits for slow readers.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file.into())
}

#[cfg(not(unix))]
fn open_to_append(path: &Path) -> io::Result<File> {
    File::options().append(true).create(true).open(path)
}

/// Past the lock on standard output, which the command holds.
#[cfg(unix)]
fn standard_output() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

#[cfg(not(unix))]
fn standard_output() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Only files are on a disk.
fn is_synced(file: &File, loss: AuditLoss) -> bool {
    loss == AuditLoss::Refused && file.metadata().is_ok_and(|metadata| metadata.is_file())
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write the audit log to {}: {}", self.path.display(), self.error)
    }
}

impl Error for AuditError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with so much room.
    struct Disk {
        bytes: Vec<u8>,
        room: usize,
        writes: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.writes += 1;
            let count = bytes.len().min(self.room - self.bytes.len());
            self.bytes.extend_from_slice(&bytes[..count]);
            if count == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(count) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_log_that_cannot_be_written_is_failing_until_a_line_is_written() {
        let log = AuditLog::open(Path::new("/dev/full"), AuditLoss::Counted).unwrap();
        log.submit(b"a line\n".to_vec());
        log.finish().await;
        assert!(log.is_failing(), "a flush of nothing writes no line");
        assert_eq!(log.lost().get(), 1);
    }

    #[test]
    fn a_line_is_one_write_and_one_that_a_full_disk_cut_spoils_no_other() {
        let (mut disk, mut is_torn) = (Disk { bytes: Vec::new(), room: 10, writes: 0 }, false);
        write_line(&mut disk, b"first\n", &mut is_torn).unwrap();
        assert_eq!(disk.writes, 1);
        for _ in 0..2 {
            assert!(write_line(&mut disk, b"second\n", &mut is_torn).is_err());
        }
        disk.room = 100;
        write_line(&mut disk, b"third\n", &mut is_torn).unwrap();
        write_line(&mut disk, b"fourth\n", &mut is_torn).unwrap();
        assert_eq!(disk.bytes, b"first\nseco\nthird\nfourth\n");
    }
}
