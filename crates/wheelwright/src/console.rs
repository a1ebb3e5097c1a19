//! Where a command writes to, data to one stream and conversation to another, and what it knows of the world around it.

use std::{fmt, io};

use wheelwright_findings::Date;

/// The two streams of a command. Only what a script would read is data; everything else is conversation.
pub struct Console<'w> {
    /// What the command was asked for: standard output.
    pub data: &'w mut dyn io::Write,
    /// What there is to say about it: standard error.
    pub conversation: &'w mut dyn io::Write,
    /// Whether findings on `data` are coloured.
    pub colour_data: bool,
    /// Whether findings on `conversation` are coloured.
    pub colour_conversation: bool,
    /// Whether somebody watches `conversation`, on a terminal where a line can be written over.
    pub is_watched: bool,
    /// How many characters a line of `conversation` has room for; none where that does not matter.
    pub width: Option<usize>,
    /// What day it is; without it, no allowance expires.
    pub today: Option<Date>,
}

/// Goes to the start of the line and clears it.
const CLEAR_LINE: &str = "\r\u{1b}[2K";

impl<'w> Console<'w> {
    /// Two streams without colours, on no day in particular.
    pub fn plain(data: &'w mut dyn io::Write, conversation: &'w mut dyn io::Write) -> Self {
        let (colour_data, colour_conversation, is_watched) = (false, false, false);
        Self { data, conversation, colour_data, colour_conversation, is_watched, width: None, today: None }
    }

    /// Says a line about what is going on.
    pub(crate) fn say(&mut self, line: impl fmt::Display) -> io::Result<()> {
        self.end_progress()?;
        writeln!(self.conversation, "{line}")
    }

    /// Says how far long work is, to somebody who watches, on a line that the next one is written over: only as much as fits
    /// one, since the rest would stay.
    pub(crate) fn progress(&mut self, line: impl fmt::Display) -> io::Result<()> {
        if !self.is_watched {
            return Ok(());
        }
        let line: String = line.to_string().chars().take(self.width.unwrap_or(usize::MAX)).collect();
        write!(self.conversation, "{CLEAR_LINE}{line}")
    }

    /// Takes back what was said about progress.
    pub(crate) fn end_progress(&mut self) -> io::Result<()> {
        self.progress("")
    }

    /// Says what kept the command from doing what it was asked.
    pub(crate) fn complain(&mut self, problem: impl fmt::Display) -> io::Result<()> {
        self.say(format_args!("error: {problem}"))
    }
}

impl fmt::Debug for Console<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Console")
            .field("colour_data", &self.colour_data)
            .field("colour_conversation", &self.colour_conversation)
            .finish_non_exhaustive()
    }
}
