//! `completions`: a script that teaches a shell this command.

use std::io;

use clap_complete::{Shell, generate};

use crate::{Console, Exit};

/// Writes the completion script of a shell for a command.
///
/// # Errors
/// The console cannot be written to.
pub fn completions(shell: Shell, command: &mut clap::Command, console: &mut Console<'_>) -> io::Result<Exit> {
    let name = command.get_name().to_owned();
    // Generating straight to a stream would panic where the stream fails.
    let mut script = Vec::new();
    generate(shell, command, name, &mut script);
    console.data.write_all(&script)?;
    console.data.flush()?;
    Ok(Exit::Clean)
}
