//! Programs that tests start.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

/// A program that is stopped with its value.
pub(crate) struct Program(Child);

impl Program {
    /// Starts a program, and reads the first line that it prints.
    pub(crate) fn start(command: &mut Command) -> (Self, String) {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (Self(child), line.trim_end().to_owned())
    }

    /// Serves a catalog from a store in a folder, at a free port. Says at which address.
    pub(crate) fn serve(arguments: &[&str], folder: &Path) -> (Self, String) {
        let mut server = Command::new(env!("CARGO_BIN_EXE_wheelwright"));
        let (program, line) =
            Self::start(server.arg("serve").args(arguments).args(["--listen", "127.0.0.1:0"]).current_dir(folder));
        let address = line.strip_prefix(r#"{"listening":"http://"#).and_then(|line| line.strip_suffix(r#""}"#));
        (program, address.unwrap().to_owned())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
