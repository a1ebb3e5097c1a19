//! What a command says, as records of the log: where the log is JSON, every line is.

use std::{io, mem};

/// A stream whose lines go to the log.
#[derive(Debug, Default)]
pub(crate) struct LogLines(Vec<u8>);

impl io::Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            match byte {
                b'\n' => log(&String::from_utf8_lossy(&mem::take(&mut self.0))),
                byte => self.0.push(*byte),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn log(line: &str) {
    match line.split_once(": ") {
        Some(("error", message)) => tracing::error!("{message}"),
        Some(("warning", message)) => tracing::warn!("{message}"),
        Some(("help", message)) => tracing::info!("{message}"),
        _ => tracing::info!("{}", line.trim()),
    }
}
