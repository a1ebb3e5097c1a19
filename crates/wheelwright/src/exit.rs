//! How a command ends: the exit codes that scripts rely on.

use std::process::ExitCode;

/// How a command ended, from best to worst. The numbers never change.
///
/// | code | meaning |
/// | ---: | --- |
/// | 0 | clean: the command did what it was asked and found nothing that must be mended |
/// | 1 | findings: something in the user's files must be mended |
/// | 2 | usage or environment: the command could not do what it was asked |
/// | 130 | interrupted: somebody pressed Ctrl-C while it worked |
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Exit {
    /// Nothing that must be mended.
    #[default]
    Clean = 0,
    /// Something in the user's files must be mended.
    Findings = 1,
    /// The command could not do what it was asked: a wrong argument, a file that cannot be read.
    Usage = 2,
    /// Somebody has interrupted it.
    Interrupted = 130,
}

impl Exit {
    /// The number that scripts see.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
